//! Requests: who asks what, under which key, and what comes of it.

use std::fmt;
use std::sync::Arc;

use eke_budget::{Charge, PathId, Receipt};
use serde::{Deserialize, Serialize};

use crate::{Digest, LedgerError, Moment};

/// The most bytes that a key or a name has.
pub(crate) const LONGEST_NAME: usize = 256;
/// The most bytes that the text of a question has.
pub(crate) const LONGEST_TEXT: usize = 65_536;

/// The name of a request, chosen by the caller. A request that is repeated under the same key is
/// charged once and gets the same answer (idempotency key).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Key(Arc<str>);

impl Key {
    /// A key of 1 to 256 bytes.
    ///
    /// # Errors
    /// It is empty or too long.
    pub fn new(key: &str) -> Result<Self, LedgerError> {
        check_length("a key", key, LONGEST_NAME)?;
        Ok(Self(key.into()))
    }

    /// The key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

pub(crate) fn check_length(what: &'static str, text: &str, most: usize) -> Result<(), LedgerError> {
    let length = text.len();
    // PostgreSQL keeps no zero bytes in texts.
    if length == 0 || length > most || text.contains('\0') {
        return Err(LedgerError::Length { what, most, length });
    }
    Ok(())
}

impl TryFrom<String> for Key {
    type Error = LedgerError;

    fn try_from(key: String) -> Result<Self, LedgerError> {
        Self::new(&key)
    }
}

impl From<Key> for String {
    fn from(key: Key) -> String {
        key.0.as_ref().to_owned()
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({self})")
    }
}

/// Who does something, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Who.
    pub who: Arc<str>,
    /// When.
    pub at: Moment,
}

impl Stamp {
    /// Somebody, at a moment.
    #[must_use]
    pub fn new(who: &str, at: Moment) -> Self {
        Self { who: who.into(), at }
    }

    /// Somebody, now by the clock of the machine.
    #[must_use]
    pub fn now(who: &str) -> Self {
        Self::new(who, Moment::now())
    }
}

/// A question that is to be charged: its key, who asks, and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub(crate) key: Key,
    pub(crate) stamp: Stamp,
    pub(crate) question: Arc<str>,
}

impl Request {
    /// A question under a key.
    ///
    /// # Errors
    /// The key, the name or the text is empty or too long.
    pub fn new(key: &str, stamp: Stamp, question: &str) -> Result<Self, LedgerError> {
        check_length("who asks", &stamp.who, LONGEST_NAME)?;
        check_length("the text of a question", question, LONGEST_TEXT)?;
        Ok(Self { key: Key::new(key)?, stamp, question: question.into() })
    }

    /// Its key.
    #[must_use]
    pub fn key(&self) -> &Key {
        &self.key
    }

    /// The digest of the question's text.
    #[must_use]
    pub fn question(&self) -> Digest {
        Digest::of(self.question.as_bytes())
    }
}

/// What comes of a request that was not refused.
#[derive(Debug)]
#[must_use = "a charged request is paid for: draw, and store its answer"]
pub enum Outcome<P, Q> {
    /// It is charged, durably: draw with the receipts, and store the answer with the claim.
    Charged(Box<Charged<P, Q>>),
    /// It was answered before: send this again.
    Answered(Answered),
}

impl<P, Q> Outcome<P, Q> {
    /// The receipts, if the request is charged now.
    #[must_use]
    pub fn charged(self) -> Option<Charged<P, Q>> {
        match self {
            Self::Charged(charged) => Some(*charged),
            Self::Answered(_) => None,
        }
    }

    /// The stored answer, if the request was answered before.
    #[must_use]
    pub fn answered(self) -> Option<Answered> {
        match self {
            Self::Charged(_) => None,
            Self::Answered(answered) => Some(answered),
        }
    }
}

/// A request that is on disk: the receipts of all accounts, and the claim to its answer.
#[derive(Debug)]
pub struct Charged<P, Q> {
    /// The receipt of the account that owns the path: the unit's.
    pub own: Receipt<P>,
    /// The receipts of the other accounts, in the order they were given: the circles'.
    pub others: Vec<Receipt<Q>>,
    /// The claim to the answer, and the hold on the path: until it is answered or given up nobody
    /// else changes what is stored of it.
    pub claim: Claim,
}

/// The right to store the answer of one request, once.
///
/// ```compile_fail,E0308
/// fn copy(claim: &eke_ledger::Claim) -> eke_ledger::Claim {
///     claim.clone()
/// }
/// ```
#[derive(Debug)]
#[must_use = "what was paid for is lost unless its answer is stored"]
pub struct Claim {
    pub(crate) key: Key,
    pub(crate) question: Digest,
    /// Every account that paid, the owner of the path first, and the point that each bought.
    pub(crate) accounts: Vec<(Arc<str>, Option<Charge>)>,
    pub(crate) path: Option<PathId>,
    /// Whether an increment was bought, and not only a coarser point.
    pub(crate) increment: bool,
}

impl Claim {
    /// The key of the request.
    #[must_use]
    pub fn key(&self) -> &Key {
        &self.key
    }

    /// The path or bundle that the request holds until it is answered.
    #[must_use]
    pub fn path(&self) -> Option<PathId> {
        self.path
    }
}

/// An answer to be stored, and what it makes of the path it was drawn from.
#[derive(Clone, Debug)]
pub struct Answer {
    pub(crate) body: Arc<[u8]>,
    pub(crate) state: Option<Arc<[u8]>>,
    pub(crate) round: Option<Arc<[u8]>>,
}

impl Answer {
    /// The bytes that will be sent, and sent again when the request is retried.
    #[must_use]
    pub fn new(body: impl Into<Vec<u8>>) -> Self {
        Self { body: body.into().into(), state: None, round: None }
    }

    /// What is stored of the path from now on, instead of what was.
    #[must_use]
    pub fn with_state(mut self, state: impl Into<Vec<u8>>) -> Self {
        self.state = Some(state.into().into());
        self
    }

    /// The values of a bundle's round, stored beside those of its other rounds.
    #[must_use]
    pub fn with_round(mut self, values: impl Into<Vec<u8>>) -> Self {
        self.round = Some(values.into().into());
        self
    }
}

/// An answer that is on disk, and may be sent. Only a ledger makes one.
///
/// ```compile_fail,E0451
/// fn forge() -> eke_ledger::Answered {
///     eke_ledger::Answered { body: Vec::new().into() }
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    pub(crate) body: Arc<[u8]>,
}

impl Answered {
    /// What is to be sent.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        &self.body
    }
}
