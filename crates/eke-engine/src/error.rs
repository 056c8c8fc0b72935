//! What can go wrong with a question, each in one sentence that says what to do.

mod asked;
mod kind;
mod refused;

use std::fmt::Display;

use eke_budget::{Amount, Rho};
use eke_ledger::LedgerError;
use eke_noise::path::MismatchReason;
use eke_sql::SqlError;
use eke_sql::error::{NameError, Named};

pub use asked::{NoKeys, NotAllowed, NotAnswered, NotProfiled, WayToPay, WrongGoal};
pub use kind::ErrorKind;
pub use refused::{Limit, Refused};
pub(crate) use refused::{cut, short, three_digits_up};

use crate::ask::question::Who;
use crate::data::registry::RegistryError;
use crate::data::source::SourceError;
use crate::policy::PolicyError;
use crate::watch::WrongSteps;

pub use crate::rows::RowsError;

/// Why there is no answer. Nothing in it depends on rows, but for what only the steward sees.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The policy cannot be as it is, or does not know somebody.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The files of a dataset are not what the policy says.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The question is not one that can be answered privately.
    #[error(transparent)]
    Sql(#[from] SqlError),
    /// The ledger is of other data, or the data has changed. Only the steward sees this.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The rows could not be read. Only the steward sees this.
    #[error("{}; rho={} is paid for and lost", .0.detail(), .1)]
    Rows(RowsError, Amount<Rho>),
    /// The rows of a step could not be read. Only the steward sees this.
    #[error("{}; the step was charged and not drawn: watch again when the rows can be read", .0.detail())]
    WatchRows(RowsError),
    /// The steps of a watch cannot be what they are.
    #[error(transparent)]
    Steps(#[from] WrongSteps),
    /// The budget does not allow the first look. Nothing was charged.
    #[error(transparent)]
    Refused(Box<Refused>),
    /// The asker did not want to pay that. Nothing was charged.
    #[error("not asked: nothing was charged")]
    Declined,
    /// The asker stopped it.
    #[error(
        "stopped: what was paid for is kept; asking the same again goes on from there, and a \
         highest price counts anew"
    )]
    Stopped,
    /// A number in the goal is out of range.
    #[error(transparent)]
    Goal(#[from] WrongGoal),
    /// A public dataset was declared to have changed.
    #[error("`{dataset}` is public: it has no snapshots, and is read as it is")]
    NoSnapshots {
        /// The dataset.
        dataset: String,
    },
    /// What the asker may see or spend does not allow it. Nothing was charged.
    #[error(transparent)]
    Beyond(#[from] NotAllowed),
    /// The question is not one that can be answered in this way.
    #[error(transparent)]
    Unanswerable(#[from] NotAnswered),
    /// Keys would have to be selected, and cannot be.
    #[error(transparent)]
    Keys(#[from] NoKeys),
    /// A profile is asked for that cannot be. Nothing was charged.
    #[error(transparent)]
    Profile(#[from] NotProfiled),
    /// The ledger did not do what it was asked.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// Another program is working on the same question, on another machine.
    #[error(
        "request `{0}` is drawing for the same question elsewhere: ask again when it has answered, or give it up with `eke ledger give-up`"
    )]
    UnderWay(String),
    /// Another question in sight of the asker is under way.
    #[error(
        "another question of yours, or of somebody in a circle with you, is being answered, and what you see changes when it has been: ask again then"
    )]
    InSight,
    /// Something did not work, and an analyst is not told what: it may be about rows, or about
    /// others. The same for every cause.
    #[error(
        "this is not available just now, and what it may have cost stays paid: ask again later, or ask the steward"
    )]
    Unavailable,
    /// The policy and what the ledger or the files say do not go together, and an analyst is not
    /// told how: that is for the steward to see and to change. The same for every cause, and for
    /// good. Nothing was charged.
    #[error(
        "this dataset is not open for questions until the steward has changed something: nothing was charged, and asking again does not help; ask the steward"
    )]
    NotOpen,
    /// Too many questions could not be answered. Nothing was charged.
    #[error(
        "several questions could not be answered, and the steward must look into it before more are: nothing was charged"
    )]
    StewardMustLook,
    /// The system does not give what it takes to read rows. Nothing was charged. Only the steward
    /// sees this.
    #[error("rows cannot be read now, and nothing was charged: {0}")]
    NotReady(String),
    /// What is stored of the question is damaged.
    #[error(
        "what the ledger holds of this question cannot be read ({0}): verify the ledger with `eke ledger verify`"
    )]
    Damaged(String),
    /// The ledger is not the one that the policy was used with.
    #[error(
        "{anchor} says that there is a ledger of this policy, but {why}: put that ledger back, or restore the newest copy of it; only if nothing that was spent in it counts any more, remove {anchor}"
    )]
    OtherLedger {
        /// The file that remembers.
        anchor: String,
        /// What is not as it remembers.
        why: String,
    },
    /// The noise of the next step cannot be drawn. Nothing was charged.
    #[error("this cannot be drawn ({0}); nothing was charged: ask for another price or accuracy")]
    Undrawable(MismatchReason),
    /// There is no randomness.
    #[error("the system gives no random numbers: {0}")]
    Entropy(String),
}

impl EngineError {
    /// What is stored, or was to be, is not what it should be.
    pub(crate) fn damaged(why: impl Display) -> Self {
        Self::Damaged(why.to_string())
    }

    /// What kind of failure it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Policy(error) => policy_kind(error),
            Self::Sql(error) => sql_kind(error),
            Self::Ledger(error) => ledger_kind(error),
            Self::Goal(_) | Self::Profile(_) | Self::NoSnapshots { .. } => ErrorKind::Usage,
            Self::Steps(_) => ErrorKind::Input,
            Self::Refused(_) => ErrorKind::Refused,
            Self::Beyond(_) => ErrorKind::Forbidden,
            Self::Unanswerable(_) | Self::Keys(_) | Self::Undrawable(_) => ErrorKind::Unanswerable,
            Self::NotOpen | Self::StewardMustLook => ErrorKind::NotOpen,
            Self::Declined => ErrorKind::Declined,
            Self::Stopped => ErrorKind::Stopped,
            Self::UnderWay(_) | Self::InSight => ErrorKind::Busy,
            Self::Unavailable | Self::NotReady(_) => ErrorKind::Unavailable,
            Self::Source(_) | Self::Registry(_) | Self::OtherLedger { .. } => ErrorKind::Setup,
            Self::Damaged(_) => ErrorKind::Damaged,
            Self::Rows(..) | Self::WatchRows(_) | Self::Entropy(_) => ErrorKind::Failed,
        }
    }
}

fn policy_kind(error: &PolicyError) -> ErrorKind {
    match error {
        PolicyError::UnknownAnalyst { .. } => ErrorKind::NobodyKnown,
        PolicyError::UnknownUnit { .. } | PolicyError::UnknownDataset { .. } => ErrorKind::Unknown,
        PolicyError::Missing { .. }
        | PolicyError::Unreadable { .. }
        | PolicyError::Wrong { .. }
        | PolicyError::Several { .. } => ErrorKind::Setup,
    }
}

fn sql_kind(error: &SqlError) -> ErrorKind {
    match error {
        SqlError::Syntax(_) => ErrorKind::Syntax,
        SqlError::Limit(_) => ErrorKind::TooLarge,
        SqlError::Unsupported(_) => ErrorKind::Unanswerable,
        SqlError::Name(NameError::Unknown { what: Named::Table, .. }) => ErrorKind::NoTable,
        SqlError::Name(_) => ErrorKind::Name,
        SqlError::Type(_) => ErrorKind::Type,
        SqlError::Bounds(_) => ErrorKind::Unbounded,
        SqlError::NoThread => ErrorKind::Unavailable,
        // A refusal of a question that this crate does not know yet.
        _ => ErrorKind::Unanswerable,
    }
}

/// What kind of failure the ledger's is, for questions and for places.
pub(crate) fn ledger_kind(error: &LedgerError) -> ErrorKind {
    match error {
        LedgerError::Refused(_) => ErrorKind::Refused,
        LedgerError::UnderWay { .. } | LedgerError::Busy(_) => ErrorKind::Busy,
        LedgerError::Damaged(_) => ErrorKind::Damaged,
        LedgerError::OtherBudget(_) => ErrorKind::Setup,
        _ => ErrorKind::Failed,
    }
}

impl EngineError {
    /// An error from before anything was charged, as the asker may see it. What is wrong with
    /// policy, files and ledger is the steward's to know: an analyst learns whether asking
    /// again can help, and no more.
    #[must_use]
    pub(crate) fn told_to(self, who: &Who) -> Self {
        if *who == Who::Steward {
            return self;
        }
        match self {
            // Whether a name exists is no secret from the asker who gave it.
            Self::Policy(PolicyError::UnknownAnalyst { .. }) => self,
            // A file that is being written, or that the system does not give just now.
            Self::Source(SourceError::Changed(_) | SourceError::Unreadable { .. }) => {
                Self::Unavailable
            }
            Self::Policy(_) | Self::Source(_) | Self::Registry(_) => Self::NotOpen,
            Self::Damaged(_)
            | Self::OtherLedger { .. }
            | Self::Ledger(LedgerError::OtherBudget(_) | LedgerError::Damaged(_)) => Self::NotOpen,
            Self::Ledger(_)
            | Self::UnderWay(_)
            | Self::Rows(..)
            | Self::WatchRows(_)
            | Self::NotReady(_) => Self::Unavailable,
            // What follows from the question, the policy's word and what the asker has left.
            Self::Sql(_)
            | Self::Steps(_)
            | Self::Goal(_)
            | Self::Profile(_)
            | Self::NoSnapshots { .. }
            | Self::Beyond(_)
            | Self::Unanswerable(_)
            | Self::Keys(_)
            | Self::Refused(_)
            | Self::Undrawable(_)
            | Self::Declined
            | Self::Stopped
            | Self::InSight
            | Self::Unavailable
            | Self::NotOpen
            | Self::StewardMustLook
            | Self::Entropy(_) => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use eke_sql::error::{BoundsError, LimitError, Sought, SyntaxError, TypeError, Unsupported};

    use super::*;

    /// Which variant an error is: one that is added is given a number here, and a line in the table
    /// below.
    fn number(error: &EngineError) -> usize {
        match error {
            EngineError::Policy(_) => 0,
            EngineError::Source(_) => 1,
            EngineError::Sql(_) => 2,
            EngineError::Registry(_) => 3,
            EngineError::Rows(..) => 4,
            EngineError::WatchRows(_) => 5,
            EngineError::Steps(_) => 6,
            EngineError::Refused(_) => 7,
            EngineError::Declined => 8,
            EngineError::Stopped => 9,
            EngineError::Goal(_) => 10,
            EngineError::Beyond(_) => 11,
            EngineError::Unanswerable(_) => 12,
            EngineError::Keys(_) => 13,
            EngineError::Ledger(_) => 14,
            EngineError::UnderWay(_) => 15,
            EngineError::Unavailable => 16,
            EngineError::Damaged(_) => 17,
            EngineError::Undrawable(_) => 18,
            EngineError::Entropy(_) => 19,
            EngineError::OtherLedger { .. } => 20,
            EngineError::StewardMustLook => 21,
            EngineError::NotReady(_) => 22,
            EngineError::NotOpen => 23,
            EngineError::NoSnapshots { .. } => 24,
            EngineError::InSight => 25,
            EngineError::Profile(_) => 26,
        }
    }

    /// One error of each case. What only the steward may know has the marker in it.
    fn one_of_each() -> Vec<(EngineError, ErrorKind)> {
        use ErrorKind as K;
        let marker = || MARKER.to_owned();
        let lowered =
            || RowsError::Plan(crate::rows::column::lower::LowerError::NoColumn(marker()));
        let policy = PolicyError::Unreadable { path: MARKER.into(), problem: marker() };
        let refused = Refused { whose: "your budget".into(), ..Refused::plainly() };
        let public = || "cities".to_owned();
        vec![
            (EngineError::Policy(policy), K::Setup),
            (EngineError::Source(SourceError::Missing(marker())), K::Setup),
            (EngineError::Sql(SyntaxError::Empty.into()), K::Syntax),
            (EngineError::Registry(RegistryError::Unknown(marker())), K::Setup),
            (EngineError::Rows(lowered(), Amount::ZERO), K::Failed),
            (EngineError::WatchRows(lowered()), K::Failed),
            (EngineError::Steps(WrongSteps::Empty), K::Input),
            (EngineError::Refused(Box::new(refused)), K::Refused),
            (EngineError::Declined, K::Declined),
            (EngineError::Stopped, K::Stopped),
            (EngineError::Goal(WrongGoal::NowhereNear), K::Usage),
            (EngineError::Beyond(NotAllowed::RunBeyondTier { steps: 3 }), K::Forbidden),
            (EngineError::Unanswerable(NotAnswered::WatchOfGroups), K::Unanswerable),
            (EngineError::Keys(NoKeys::NoDelta), K::Unanswerable),
            (EngineError::Ledger(LedgerError::Stopped(MARKER.into())), K::Failed),
            (EngineError::UnderWay(marker()), K::Busy),
            (EngineError::Unavailable, K::Unavailable),
            (EngineError::Damaged(marker()), K::Damaged),
            (EngineError::Undrawable(MismatchReason::TooFine), K::Unanswerable),
            (EngineError::Entropy("none".into()), K::Failed),
            (EngineError::OtherLedger { anchor: marker(), why: marker() }, K::Setup),
            (EngineError::StewardMustLook, K::NotOpen),
            (EngineError::NotReady(marker()), K::Unavailable),
            (EngineError::NotOpen, K::NotOpen),
            (EngineError::NoSnapshots { dataset: public() }, K::Usage),
            (EngineError::InSight, K::Busy),
            (EngineError::Profile(NotProfiled::Twice { column: public() }), K::Usage),
        ]
    }

    const MARKER: &str = "for-the-steward";

    #[test]
    fn every_error_has_its_kind() {
        let table = one_of_each();
        for (place, (error, kind)) in table.iter().enumerate() {
            assert_eq!((number(error), error.kind()), (place, *kind), "{error}");
        }
        assert_eq!(table.len(), 27);
    }

    #[test]
    fn kinds_within_a_case_are_told_apart() {
        use ErrorKind as K;
        let unknown = |what| NameError::Unknown {
            what,
            name: "x".into(),
            sought: Sought::Anywhere,
            near: None,
            known: Vec::new(),
        };
        let path = || std::path::PathBuf::from("eke.toml");
        let name = || "ana".to_owned();
        let table = [
            (EngineError::Sql(unknown(Named::Table).into()), K::NoTable),
            (EngineError::Sql(unknown(Named::Column).into()), K::Name),
            (EngineError::Sql(TypeError::CountOfNull.into()), K::Type),
            (EngineError::Sql(LimitError::Depth.into()), K::TooLarge),
            (EngineError::Sql(Unsupported::NoFrom.into()), K::Unanswerable),
            (EngineError::Sql(BoundsError::NoValues { key: name() }.into()), K::Unbounded),
            (EngineError::Sql(SqlError::NoThread), K::Unavailable),
            (PolicyError::Missing { path: path() }.into(), K::Setup),
            (PolicyError::UnknownAnalyst { path: path(), name: name() }.into(), K::NobodyKnown),
            (PolicyError::UnknownDataset { path: path(), name: name() }.into(), K::Unknown),
            (EngineError::Ledger(LedgerError::Busy("x".into())), K::Busy),
            (EngineError::Ledger(LedgerError::Damaged("x".into())), K::Damaged),
        ];
        for (error, kind) in table {
            assert_eq!(error.kind(), kind, "{error}");
        }
    }

    #[test]
    fn an_analyst_is_told_nothing_that_is_for_the_steward() {
        let ana = Who::Analyst("ana".into());
        let told: std::collections::BTreeSet<String> = one_of_each()
            .into_iter()
            .filter(|(error, _)| error.to_string().contains(MARKER))
            .map(|(error, _)| {
                let told = error.told_to(&ana);
                assert!(!format!("{told:?} {told}").contains(MARKER), "{told:?}");
                format!("{:?}", told.kind())
            })
            .collect();
        // Whatever it was, it is one of two.
        assert_eq!(told.into_iter().collect::<Vec<_>>(), ["NotOpen", "Unavailable"]);
        for (error, kind) in one_of_each() {
            let before = error.to_string();
            assert_eq!(error.told_to(&Who::Steward).to_string(), before, "{kind:?}");
        }
    }

    #[test]
    fn no_sentence_names_a_flag() {
        let ways = vec![
            WayToPay::AskSteward,
            WayToPay::PureBudget { policy: "eke.toml".into(), pure: 0.5, steps: 9 },
            WayToPay::PureBudgetWithin { policy: "eke.toml".into(), pure: 0.5, distance: 90.0 },
            WayToPay::BeforeEachRun { distance: None },
            WayToPay::BeforeEachRun { distance: Some(90.0) },
            WayToPay::FewerSteps,
        ];
        let account = || "rider".to_owned();
        let others: [EngineError; 6] = [
            NotAllowed::NoPure { account: account(), ways }.into(),
            NotAllowed::NoRhoForRuns { account: account() }.into(),
            WrongGoal::NoDistance.into(),
            WrongGoal::Range { from: 2.0, to: 1.0 }.into(),
            WrongGoal::NowhereNear.into(),
            PolicyError::Missing { path: "eke.toml".into() }.into(),
        ];
        for error in one_of_each().into_iter().map(|(error, _)| error).chain(others) {
            let told = error.to_string();
            assert!(!told.contains("--"), "{told}");
        }
    }
}
