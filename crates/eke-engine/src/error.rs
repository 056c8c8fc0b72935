//! What can go wrong with a question, each in one sentence that says what to do.

use eke_budget::number::Currency;
use eke_budget::{Amount, Delta, Rho};
use eke_ledger::LedgerError;
use eke_noise::path::MismatchReason;
use eke_sql::SqlError;

use crate::ask::question::Who;
use crate::data::registry::RegistryError;
use crate::data::source::SourceError;
use crate::policy::PolicyError;
use crate::rows::RowsError;

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
    Refused(Box<Refused>),
    /// Whoever asked did not want to pay that. Nothing was charged.
    #[error("not asked: nothing was charged")]
    Declined,
    /// Whoever asked stopped it.
    #[error("stopped: what was paid for is kept, and asking the same again goes on from there")]
    Stopped,
    /// A number in the goal is out of range.
    #[error("{0}")]
    Goal(String),
    /// What whoever asks may see or spend does not allow it. Nothing was charged.
    #[error("{0}")]
    Beyond(String),
    /// The question is not one that can be answered in this way.
    #[error("{0}")]
    Unanswerable(String),
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
    /// The noise of the next step cannot be drawn. Nothing was charged.
    #[error("this cannot be drawn ({0}); nothing was charged: ask for another price or accuracy")]
    Undrawable(MismatchReason),
    /// There is no randomness.
    #[error("the system gives no random numbers: {0}")]
    Entropy(String),
}

/// What kind of failure an error is: what a program that asks does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// Something that should have worked did not.
    Failed,
    /// Something is asked for in a way that cannot be.
    Usage,
    /// A budget does not allow it, or it cannot be answered privately.
    Refused,
}

impl EngineError {
    /// What kind of failure it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Refused(_)
            | Self::Ledger(LedgerError::Refused(_))
            | Self::Keys(_)
            | Self::Beyond(_)
            | Self::Unanswerable(_)
            | Self::Undrawable(_)
            | Self::NotOpen
            | Self::StewardMustLook => ErrorKind::Refused,
            Self::Goal(_) => ErrorKind::Usage,
            Self::Sql(SqlError::NoThread) => ErrorKind::Failed,
            Self::Sql(_) => ErrorKind::Refused,
            Self::Policy(_)
            | Self::Source(_)
            | Self::Registry(_)
            | Self::Rows(..)
            | Self::WatchRows(_)
            | Self::Steps(_)
            | Self::Declined
            | Self::Stopped
            | Self::Ledger(_)
            | Self::UnderWay(_)
            | Self::Unavailable
            | Self::NotReady(_)
            | Self::Damaged(_)
            | Self::OtherLedger { .. }
            | Self::Entropy(_) => ErrorKind::Failed,
        }
    }
}

impl EngineError {
    /// An error from before anything was charged, as whoever asked may see it. What is wrong with
    /// policy, files and ledger is the steward's to know: an analyst is told whether asking again
    /// can help, and no more.
    #[must_use]
    pub(crate) fn told_to(self, who: &Who) -> Self {
        if *who == Who::Steward {
            return self;
        }
        match self {
            // Who there is, is no secret from whoever asks by a name.
            Self::Policy(PolicyError::UnknownAnalyst { .. }) => self,
            // A file that is being written, or that the system does not give just now.
            Self::Source(SourceError::Changed(_) | SourceError::Unreadable { .. }) => {
                Self::Unavailable
            }
            Self::Policy(_) | Self::Source(_) | Self::Registry(_) => Self::NotOpen,
            Self::Damaged(_)
            | Self::Ledger(LedgerError::OtherBudget(_) | LedgerError::Damaged(_)) => Self::NotOpen,
            Self::Ledger(_) | Self::UnderWay(_) => Self::Unavailable,
            error => error,
        }
    }
}

/// A refusal: what was asked, what fits, and what accuracy that would be.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    /// Whose budget it is, in words.
    pub whose: String,
    /// What does not allow it.
    pub limit: Limit,
    /// What it costs at least, in all; none if it is not known before it is asked for. Where a tier
    /// does not allow it: the price of the point of a path that it takes.
    pub asked: Option<Amount<Rho>>,
    /// What would still fit; none if whoever asked may not know.
    pub fits: Option<Amount<Rho>>,
    /// What is left of the delta for selecting keys, where that is what was missing.
    pub delta: Option<Amount<Delta>>,
    /// An absolute error that would be taken instead, where there is one such number.
    pub error: Option<f64>,
    /// A price that would be taken instead.
    pub price: Option<Amount<Rho>>,
    /// A highest price that would be taken, where the one that was asked for is too low.
    pub at_most: Option<Amount<Rho>>,
    /// What was charged for the question before it was refused, and stays paid.
    pub charged: Amount<Rho>,
}

/// What does not allow a question.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// What is left of a budget.
    Budget,
    /// The highest price that was asked for with it.
    AtMost,
    /// A tenth of what is left of a budget: a relative error without a highest price goes no
    /// further.
    Tenth,
    /// How far the tier of whoever asks sees any one path.
    Tier(Amount<Rho>),
}

impl Refused {
    /// A refusal that does not say whose budget it was, nor how much is left of it.
    #[must_use]
    pub fn plainly() -> Self {
        let (whose, limit) = ("the budget".to_owned(), Limit::Budget);
        let (asked, fits, delta) = (None, None, None);
        let (error, price, at_most) = (None, None, None);
        let charged = Amount::ZERO;
        Self { whose, limit, asked, fits, delta, error, price, at_most, charged }
    }
}

impl From<Refused> for EngineError {
    fn from(refused: Refused) -> Self {
        Self::Refused(Box::new(refused))
    }
}

impl std::error::Error for Refused {}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}; {}", self.reason(), self.stays_paid())?;
        let error = self.error.map(|error| format!("an error of {error}"));
        let price = self.price.map(|price| format!("a price of rho={price}"));
        let at_most = self.at_most.map(|most| format!("a highest price of rho={most}"));
        f.write_str(&self.advice(error.or(price), at_most))
    }
}

impl Refused {
    /// What to do, given what would fit in the words of whoever tells it.
    #[must_use]
    pub fn advice(&self, instead: Option<String>, at_most: Option<String>) -> String {
        match (instead, at_most) {
            (Some(one), Some(other)) => format!(": {one} would fit, or {other}"),
            (Some(one), None) | (None, Some(one)) => format!(": {one} would fit"),
            (None, None) if self.fits.is_none() => ": ask for less, or ask the steward".to_owned(),
            (None, None) => match self.limit {
                Limit::AtMost => ": ask for less".to_owned(),
                Limit::Tenth => ": set a highest price".to_owned(),
                Limit::Budget | Limit::Tier(_) => String::new(),
            },
        }
    }

    /// What became of the budget.
    #[must_use]
    pub fn stays_paid(&self) -> String {
        if self.charged.is_zero() {
            return "nothing was charged".to_owned();
        }
        format!("rho={} was charged before that, and stays paid", short_up(self.charged))
    }

    /// What was asked for and what does not allow it, without what would fit.
    #[must_use]
    pub fn reason(&self) -> String {
        let Self { whose, .. } = self;
        let Some(fits) = self.fits.map(short) else {
            return format!("refused: {whose} does not allow it any more");
        };
        let mut text = match (self.asked.map(short_up), self.limit) {
            (Some(asked), Limit::Budget) => {
                format!("refused: this costs rho={asked}, and {whose} has rho={fits} left for it")
            }
            (Some(asked), Limit::AtMost) => format!(
                "refused: this costs at least rho={asked}, and it may cost rho={fits} at most"
            ),
            (Some(asked), Limit::Tenth) => format!(
                "refused: this costs at least rho={asked}, and a relative error without a highest \
                 price may cost rho={fits}, a tenth of what {whose} has left"
            ),
            (Some(asked), Limit::Tier(finest)) => format!(
                "refused: this takes a point of its path at rho={asked}, and your tier sees no \
                 path further than rho={}",
                short(finest)
            ),
            (None, _) => format!(
                "refused: {whose} has rho={fits} left, which is not enough for a first look"
            ),
        };
        if let Some(delta) = self.delta {
            text.push_str(&format!(" and delta={:e} for selecting keys", delta.to_f64()));
        }
        text
    }

    /// The price that would be taken instead, as it is told; none if there is no such price.
    #[must_use]
    pub fn price_told(&self) -> Option<String> {
        self.price.map(|price| price.to_string())
    }
}

/// A price in four digits, rounded down: what there is.
pub(crate) fn short<C: Currency>(amount: Amount<C>) -> String {
    four_digits(amount.to_f64(), f64::floor)
}

/// A price in four digits, rounded up: what something costs.
pub(crate) fn short_up<C: Currency>(amount: Amount<C>) -> String {
    four_digits(amount.to_f64(), f64::ceil)
}

fn four_digits(value: f64, round: fn(f64) -> f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    #[expect(clippy::cast_possible_truncation, reason = "an exponent")]
    let digits = 3 - value.log10().floor() as i32;
    let scale = 10f64.powi(digits);
    // What is a hair above four digits is those.
    let scaled = value * scale;
    let near = scaled.round();
    let whole = if (scaled - near).abs() < 1e-6 { near } else { round(scaled) };
    let cut = whole / scale;
    if (1e-4..1e6).contains(&cut) { format!("{cut}") } else { format!("{cut:e}") }
}

/// A price in four digits, rounded down: as it is told. None if it is nothing.
pub(crate) fn cut(amount: Amount<Rho>) -> Option<Amount<Rho>> {
    let last = amount.grains().checked_ilog10()?.saturating_sub(3);
    let last = 10u128.checked_pow(last)?;
    Some(Amount::from_grains(amount.grains() / last * last))
}

/// An error in three digits, rounded up.
pub(crate) fn three_digits_up(value: f64) -> f64 {
    #[expect(clippy::cast_possible_truncation, reason = "an exponent")]
    let digits = 2 - value.abs().log10().floor().clamp(-300.0, 300.0) as i32;
    let scale = 10f64.powi(digits);
    (value * scale).ceil() / scale
}

#[cfg(test)]
mod tests {
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
        }
    }

    #[test]
    fn every_error_has_its_kind() {
        use ErrorKind::{Failed, Refused as No, Usage};
        let word = || "a sentence".to_owned();
        let missing = || SourceError::Missing("trips.csv".to_owned());
        let lowered = || RowsError::Plan(crate::rows::lower::LowerError::NoColumn(word()));
        let policy =
            PolicyError::Unreadable { path: "eke.toml".into(), problem: "it is not there".into() };
        let refused = Refused { whose: "your budget".into(), ..Refused::plainly() };
        let table = [
            (EngineError::Policy(policy), Failed),
            (EngineError::Source(missing()), Failed),
            (EngineError::Sql(eke_sql::error::SyntaxError::Empty.into()), No),
            (EngineError::Registry(RegistryError::Unknown(word())), Failed),
            (EngineError::Rows(lowered(), Amount::ZERO), Failed),
            (EngineError::WatchRows(lowered()), Failed),
            (EngineError::Steps(word()), Failed),
            (EngineError::Refused(Box::new(refused)), No),
            (EngineError::Declined, Failed),
            (EngineError::Stopped, Failed),
            (EngineError::Goal(word()), Usage),
            (EngineError::Beyond(word()), No),
            (EngineError::Unanswerable(word()), No),
            (EngineError::Keys(word()), No),
            (EngineError::Ledger(LedgerError::Stopped("it ended".into())), Failed),
            (EngineError::UnderWay(word()), Failed),
            (EngineError::Unavailable, Failed),
            (EngineError::Damaged(word()), Failed),
            (EngineError::Undrawable(MismatchReason::TooFine), No),
            (EngineError::Entropy(word()), Failed),
            (EngineError::OtherLedger { anchor: word(), why: word() }, Failed),
            (EngineError::StewardMustLook, No),
            (EngineError::NotReady(word()), Failed),
            (EngineError::NotOpen, No),
        ];
        for (place, (error, kind)) in table.iter().enumerate() {
            assert_eq!((number(error), error.kind()), (place, *kind), "{error}");
        }
        assert_eq!(table.len(), 24);
    }

    #[test]
    fn prices_are_told_in_four_digits_and_never_more_than_they_are() {
        for text in ["0.0857123", "1", "2.5e-9", "123.456", "1e-27", "9.9999e-5", "4e-21"] {
            let amount: Amount<Rho> = text.parse().unwrap();
            let told = cut(amount).unwrap();
            assert!(told <= amount && told.to_f64() > amount.to_f64() * 0.999, "{text} {told}");
            assert_eq!(told.to_string().parse::<Amount<Rho>>().unwrap(), told, "{text}");
            assert!(told.to_string().len() <= 9, "{told}");
        }
        assert_eq!(cut(Amount::ZERO), None);
    }
}
