//! What requests are called, and what a name says of a request.
//!
//! A ledger charges a key once, so a name decides what is the same request: what everybody who asks
//! the same would ask for is named after that, and what one program asks for is named after the
//! program. Ledgers outlive code: how a name is written may never change, and golden names hold it.

use std::fmt;
use std::str::FromStr;

use eke_budget::PathId;
use eke_ledger::{Key, LedgerError};
use eke_noise::entropy::{NoEntropy, random_bytes};

use super::process::Program;
use crate::ask::question::Who;

/// How long the name of an analyst may be that stands in a key, which may not be long.
const LONGEST_ANALYST: usize = 64;

/// The name of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RequestKey {
    /// What a program asks for itself: a round of a question, picks, a point of a person's path.
    Round { asking: AskingName, number: u32 },
    /// The right to draw for something that others ask for too, held under that name.
    Turn { asking: AskingName, number: u32, of: String },
    /// A selection of keys, and how often it was paid for and lost before.
    Selection { name: SelectionName, number: u32 },
    /// What an account pays for a selection that is stored.
    SelectionSeen { name: SelectionName, by: AccountDigest },
    /// A step of a watch, and how often it was paid for and lost before.
    Step { watch: WatchId, step: StepName, attempt: u32 },
    /// What an account pays for a step that is stored.
    StepSeen { watch: WatchId, step: StepName, attempt: u32, by: AccountDigest },
    /// A part of a dataset's profile, and how often it was paid for and lost before.
    Profile { name: ProfileName, part: ProfilePart, number: u32 },
    /// What an account pays for a profile that was published before the account was opened.
    ProfileSeen { name: ProfileName, by: AccountDigest },
    /// An answer about a person's places, and how often it was paid for and lost before.
    Places { name: String, number: u32 },
    /// What an analyst brings into a circle, by the circle's account, the analyst, a number and a
    /// currency.
    Brought { rest: String },
}

/// What the requests of one question of one program begin with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AskingName {
    /// The program.
    pub(crate) program: Program,
    /// A number that nobody else has.
    nonce: String,
    /// The analyst who asks; none for the steward, and for a name that is too long.
    pub(crate) analyst: Option<String>,
}

/// The digest that a selection of keys is found by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SelectionName(String);

/// The digest that a profile is found by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProfileName(String);

/// What of a profile is bought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProfilePart {
    /// The histograms.
    Values,
    /// What the bounds that follow from them cut off.
    Cuts,
}

/// The digest that a watch is found by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WatchId(String);

/// The number of a step and a digest of everything up to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StepName(String);

/// An account, by half of its digest: names may be longer than keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AccountDigest(String);

impl AskingName {
    /// A name that no other question has.
    ///
    /// # Errors
    /// The system gives no randomness.
    pub(crate) fn new(who: &Who) -> Result<Self, NoEntropy> {
        let nonce: [u8; 8] = random_bytes()?;
        let nonce = nonce.iter().map(|byte| format!("{byte:02x}")).collect();
        let analyst = who.analyst().filter(|analyst| analyst.len() <= LONGEST_ANALYST);
        Ok(Self { program: Program::current(), nonce, analyst: analyst.map(str::to_owned) })
    }
}

impl SelectionName {
    pub(crate) fn new(identity: &blake3::Hash) -> Self {
        Self(identity.to_hex().to_string())
    }
}

impl ProfileName {
    pub(crate) fn new(identity: &blake3::Hash) -> Self {
        Self(identity.to_hex().to_string())
    }

    /// As a registry lists it.
    pub(crate) fn listed(name: &str) -> Self {
        Self(name.to_owned())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl WatchId {
    pub(crate) fn new(identity: &blake3::Hash) -> Self {
        Self(identity.to_hex().to_string())
    }
}

impl StepName {
    pub(crate) fn new(step: u64, digest: &str) -> Self {
        Self(format!("{step}-{digest}"))
    }
}

impl AccountDigest {
    pub(crate) fn new(account: &str) -> Self {
        Self(blake3::hash(account.as_bytes()).to_hex()[..32].to_owned())
    }
}

impl RequestKey {
    /// An answer about a person's places.
    pub(crate) fn places(name: PathId, number: u32) -> Self {
        Self::Places { name: name.to_string(), number }
    }

    /// What an analyst brings into a circle for the given time, in a currency.
    pub(crate) fn brought(account: &str, analyst: &str, number: u32, currency: &str) -> Self {
        Self::Brought { rest: format!("{account}/{analyst}/{number}/{currency}") }
    }

    /// The same as the ledger takes it.
    ///
    /// # Errors
    /// It is too long.
    pub(crate) fn key(&self) -> Result<Key, LedgerError> {
        Key::new(&self.to_string())
    }

    /// The question of a program that made the request; none if everybody who asks the same makes
    /// it.
    pub(crate) fn asking(&self) -> Option<&AskingName> {
        match self {
            Self::Round { asking, .. } | Self::Turn { asking, .. } => Some(asking),
            _ => None,
        }
    }
}

impl fmt::Display for AccountDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for AskingName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.program, self.nonce)?;
        match &self.analyst {
            Some(analyst) => write!(f, "~{analyst}"),
            None => Ok(()),
        }
    }
}

/// As turns at selecting are held under it.
impl fmt::Display for SelectionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "keys/{}", self.0)
    }
}

/// As turns at profiling are held under it.
impl fmt::Display for ProfileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "profile/{}", self.0)
    }
}

impl fmt::Display for ProfilePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Values => "values",
            Self::Cuts => "cuts",
        })
    }
}

/// As turns at drawing are held under it.
impl fmt::Display for WatchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "watch/{}", self.0)
    }
}

impl fmt::Display for RequestKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Round { asking, number } => write!(f, "{asking}/{number}"),
            Self::Turn { asking, number, of } => write!(f, "{asking}/{number}/{of}"),
            Self::Selection { name, number } => write!(f, "{name}/{number}"),
            Self::SelectionSeen { name, by } => write!(f, "{name}/for/{by}"),
            Self::Step { watch, step, attempt } => write!(f, "{watch}/{}/{attempt}", step.0),
            Self::StepSeen { watch, step, attempt, by } => {
                write!(f, "{watch}/{}/{attempt}/for/{by}", step.0)
            }
            Self::Profile { name, part, number } => write!(f, "{name}/{part}/{number}"),
            Self::ProfileSeen { name, by } => write!(f, "{name}/for/{by}"),
            Self::Places { name, number } => write!(f, "places/{name}/{number}"),
            Self::Brought { rest } => write!(f, "circle/{rest}"),
        }
    }
}

/// A key that is no request's of this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotARequest;

impl FromStr for RequestKey {
    type Err = NotARequest;

    fn from_str(text: &str) -> Result<Self, NotARequest> {
        let parts: Vec<&str> = text.split('/').collect();
        let number = |text: &str| text.parse().map_err(|_| NotARequest);
        let account = |text: &str| AccountDigest(text.to_owned());
        let selection = |text: &str| SelectionName(text.to_owned());
        let (watch_id, step_name) =
            (|text: &str| WatchId(text.to_owned()), |text: &str| StepName(text.to_owned()));
        Ok(match parts.as_slice() {
            ["keys", name, "for", by] => {
                Self::SelectionSeen { name: selection(name), by: account(by) }
            }
            ["keys", name, count] => {
                Self::Selection { name: selection(name), number: number(count)? }
            }
            ["watch", watch, step, attempt] => {
                let (watch, step) = (watch_id(watch), step_name(step));
                Self::Step { watch, step, attempt: number(attempt)? }
            }
            ["watch", watch, step, attempt, "for", by] => {
                let (watch, step) = (watch_id(watch), step_name(step));
                Self::StepSeen { watch, step, attempt: number(attempt)?, by: account(by) }
            }
            ["profile", name, "for", by] => {
                Self::ProfileSeen { name: ProfileName::listed(name), by: account(by) }
            }
            ["profile", name, part, count] => {
                let part = match *part {
                    "values" => ProfilePart::Values,
                    "cuts" => ProfilePart::Cuts,
                    _ => return Err(NotARequest),
                };
                let name = ProfileName::listed(name);
                Self::Profile { name, part, number: number(count)? }
            }
            ["places", name, count] => {
                Self::Places { name: (*name).to_owned(), number: number(count)? }
            }
            ["circle", rest @ ..] => Self::Brought { rest: rest.join("/") },
            ["keys" | "watch" | "places" | "profile", ..] => return Err(NotARequest),
            [program, nonce, count, of @ ..] => {
                let (nonce, analyst) = match nonce.split_once('~') {
                    Some((nonce, analyst)) => (nonce, Some(analyst.to_owned())),
                    None => (*nonce, None),
                };
                let asking = AskingName {
                    program: Program::of_holder(program),
                    nonce: nonce.to_owned(),
                    analyst,
                };
                let number = number(count)?;
                match of {
                    [] => Self::Round { asking, number },
                    _ => Self::Turn { asking, number, of: of.join("/") },
                }
            }
            _ => return Err(NotARequest),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asking(analyst: Option<&str>) -> AskingName {
        let program = Program::of_holder("b.1.2");
        AskingName { program, nonce: "0123".to_owned(), analyst: analyst.map(str::to_owned) }
    }

    /// What ledgers know requests by.
    #[test]
    fn names_are_written_as_they_were_and_read_back() {
        let identity = blake3::Hash::from_bytes([7; 32]);
        let hex = "07".repeat(32);
        let ana = "89ca1c2abb1557e0ad0b94e5ee4a2f37";
        let by = AccountDigest(ana.to_owned());
        let (name, watch) = (SelectionName::new(&identity), WatchId::new(&identity));
        let (step, profile) = (StepName::new(3, "abc"), ProfileName::new(&identity));
        let of = watch.to_string();
        let golden = [
            (RequestKey::Round { asking: asking(None), number: 7 }, "b.1.2/0123/7".to_owned()),
            (
                RequestKey::Round { asking: asking(Some("ana")), number: 7 },
                "b.1.2/0123~ana/7".to_owned(),
            ),
            (
                RequestKey::Turn { asking: asking(Some("ana")), number: 1, of },
                format!("b.1.2/0123~ana/1/watch/{hex}"),
            ),
            (RequestKey::Selection { name: name.clone(), number: 2 }, format!("keys/{hex}/2")),
            (RequestKey::SelectionSeen { name, by: by.clone() }, format!("keys/{hex}/for/{ana}")),
            (
                RequestKey::Step { watch: watch.clone(), step: step.clone(), attempt: 1 },
                format!("watch/{hex}/3-abc/1"),
            ),
            (
                RequestKey::StepSeen { watch, step, attempt: 1, by: by.clone() },
                format!("watch/{hex}/3-abc/1/for/{ana}"),
            ),
            (
                RequestKey::Profile { name: profile.clone(), part: ProfilePart::Values, number: 0 },
                format!("profile/{hex}/values/0"),
            ),
            (
                RequestKey::Profile { name: profile.clone(), part: ProfilePart::Cuts, number: 3 },
                format!("profile/{hex}/cuts/3"),
            ),
            (
                RequestKey::ProfileSeen { name: profile, by: by.clone() },
                format!("profile/{hex}/for/{ana}"),
            ),
            (RequestKey::places(PathId::new([7; 32]), 0), format!("places/{hex}/0")),
            (
                RequestKey::brought("riders/circle/both", "ana", 1, "rho"),
                "circle/riders/circle/both/ana/1/rho".to_owned(),
            ),
        ];
        for (key, text) in golden {
            assert_eq!(key.to_string(), text);
            assert_eq!(text.parse(), Ok(key), "{text}");
        }
    }

    #[test]
    fn an_account_is_half_of_its_digest() {
        let whole = blake3::hash(b"riders/analyst/ana").to_hex();
        assert_eq!(AccountDigest::new("riders/analyst/ana").0, whole[..32]);
    }

    #[test]
    fn a_request_says_for_whom_it_is() {
        let analyst = |text: &str| {
            let key: RequestKey = text.parse().unwrap();
            key.asking().and_then(|asking| asking.analyst.clone())
        };
        assert_eq!(analyst("b.1.2/0123~ana/7").as_deref(), Some("ana"));
        assert_eq!(analyst("b.1.2/0123~ana/7/watch/99").as_deref(), Some("ana"));
        assert_eq!((analyst("b.1.2/0123/7"), analyst("keys/12/0")), (None, None));
        let long = Who::Analyst("a".repeat(LONGEST_ANALYST + 1));
        assert_eq!(AskingName::new(&long).unwrap().analyst, None);
        let ana = AskingName::new(&Who::Analyst("ana".into())).unwrap();
        assert_eq!(ana.analyst.as_deref(), Some("ana"));
        assert_ne!(ana, AskingName::new(&Who::Analyst("ana".into())).unwrap());
    }

    #[test]
    fn what_nobody_here_named_is_no_request() {
        for text in [
            "",
            "x",
            "x/y",
            "x/y/z",
            "keys/12",
            "keys/12/z",
            "watch/1/2",
            "places/1",
            "profile/1/2",
        ] {
            assert_eq!(text.parse::<RequestKey>(), Err(NotARequest), "{text}");
        }
    }
}
