//! What can go wrong with a question, each in one sentence that says what to do.

use eke_budget::{Amount, Currency, Delta, Rho};
use eke_ledger::LedgerError;
use eke_sql::SqlError;

use crate::policy::PolicyError;
use crate::registry::RegistryError;
use crate::rows::RowsError;
use crate::source::SourceError;

/// Why there is no answer. Nothing in it depends on rows, but for what only the steward is told.
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
    /// The ledger is of other data, or the data has changed. Only the steward is told.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The rows could not be read. Only the steward is told.
    #[error("{}; rho={} is paid for and lost", .0.detail(), .1)]
    Rows(RowsError, Amount<Rho>),
    /// The rows of a step could not be read. Only the steward is told.
    #[error("{}; the step was charged and not drawn: watch again when the rows can be read", .0.detail())]
    WatchRows(RowsError),
    /// The steps of a watch cannot be what they are.
    #[error("{0}")]
    Steps(String),
    /// The budget does not allow the first look. Nothing was charged.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// Whoever asked did not want to pay that. Nothing was charged.
    #[error("not asked: nothing was charged")]
    Declined,
    /// A number in the goal is out of range.
    #[error("{0}")]
    Goal(String),
    /// Keys would have to be selected, and cannot be.
    #[error("{0}")]
    Keys(String),
    /// The ledger did not do what it was asked.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// Another program is working on the same question, on another machine.
    #[error(
        "request `{0}` is drawing for the same question elsewhere: ask again when it has answered, or give it up with `eke ledger give-up`"
    )]
    UnderWay(String),
    /// Something did not work, and an analyst is not told what: it may be about rows, or about
    /// others. The same for every cause.
    #[error(
        "this is not available just now, and what it may have cost stays paid: ask again later, or ask the steward"
    )]
    Unavailable,
    /// Too many questions could not be answered. Nothing was charged.
    #[error(
        "several questions could not be answered, and the steward must look into it before more are: nothing was charged"
    )]
    StewardMustLook,
    /// The system does not give what it takes to read rows. Nothing was charged. Only the steward
    /// is told.
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
    /// There is no randomness.
    #[error("the system gives no random numbers: {0}")]
    Entropy(String),
}

/// A refusal: what was asked, what fits, and what accuracy that would be.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    /// Whose budget it is, in words.
    pub whose: String,
    /// What the first look costs; none if it is not known before it is asked for.
    pub asked: Option<Amount<Rho>>,
    /// What would still fit; none if whoever asked may not know.
    pub fits: Option<Amount<Rho>>,
    /// What is left of the delta for selecting keys, where that is what was missing.
    pub delta: Option<Amount<Delta>>,
    /// The absolute error that would still fit, where there is one such number.
    pub error: Option<f64>,
}

impl Refused {
    /// A refusal that does not say whose budget it was, nor how much is left of it.
    #[must_use]
    pub fn plainly() -> Self {
        Self { whose: "the budget".to_owned(), asked: None, fits: None, delta: None, error: None }
    }
}

impl std::error::Error for Refused {}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { whose, .. } = self;
        let Some(fits) = self.fits else {
            return write!(
                f,
                "refused: {whose} does not allow it any more; nothing was charged: ask for less, or ask the steward"
            );
        };
        match self.asked {
            Some(asked) => write!(
                f,
                "refused: this costs rho={}, and {whose} has rho={} left for it",
                short(asked),
                short(fits)
            )?,
            None => write!(
                f,
                "refused: {whose} has rho={} left, which is not enough for a first look",
                short(fits)
            )?,
        }
        if let Some(delta) = self.delta {
            write!(f, " and delta={:e} for selecting keys", delta.to_f64())?;
        }
        match self.error {
            Some(error) => write!(f, "; nothing was charged: --within {} would fit", number(error)),
            None if self.delta.is_none() && self.asked.is_some() && !fits.is_zero() => {
                write!(f, "; nothing was charged: --price rho={} would fit", short(fits))
            }
            None => write!(f, "; nothing was charged"),
        }
    }
}

/// A price in four digits, rounded down.
pub(crate) fn short<C: Currency>(amount: Amount<C>) -> String {
    let value = amount.to_f64();
    if value == 0.0 {
        return "0".to_owned();
    }
    #[expect(clippy::cast_possible_truncation, reason = "an exponent")]
    let digits = 3 - value.log10().floor() as i32;
    let scale = 10f64.powi(digits);
    let cut = (value * scale).floor() / scale;
    if (1e-4..1e6).contains(&cut) { format!("{cut}") } else { format!("{cut:e}") }
}

/// An error in three digits, rounded up.
fn number(value: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "an exponent")]
    let digits = 2 - value.abs().log10().floor().clamp(-300.0, 300.0) as i32;
    let scale = 10f64.powi(digits);
    format!("{}", (value * scale).ceil() / scale)
}
