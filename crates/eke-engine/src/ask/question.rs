//! Questions: SQL, how good the answer must be, and who asks.

use eke_budget::{Amount, Rho};
use eke_noise::{Confidence, Tolerance};

use crate::error::WrongGoal;

/// A question.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// What is asked, in SQL.
    pub sql: String,
    /// How good the answer must be, and what it may cost.
    pub goal: Goal,
    /// Columns that have an accuracy of their own.
    pub columns: ColumnGoals,
    /// Who asks.
    pub who: Who,
}

/// Columns of an answer that have an accuracy of their own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColumnGoals {
    /// The columns by their names, each with what is good enough for it.
    pub own: Vec<(String, Accuracy)>,
    /// Whether every column must be among them: there is no goal for the rest.
    pub all_named: bool,
}

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Who {
    /// The data steward, who sees what has been spent in all.
    Steward,
    /// An analyst of the policy, who sees what was spent on its own questions.
    Analyst(String),
}

impl Who {
    /// The name in the ledger.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Steward => "steward",
            Self::Analyst(name) => name,
        }
    }

    /// The analyst; none for the steward.
    #[must_use]
    pub fn analyst(&self) -> Option<&str> {
        match self {
            Self::Steward => None,
            Self::Analyst(name) => Some(name),
        }
    }
}

/// How exact an answer must be, and what it may cost (accuracy-first privacy).
#[doc(alias = "accuracy-first")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// What is good enough.
    pub accuracy: Accuracy,
    /// An absolute error that is good enough whatever the relative one, in the unit of each value;
    /// without it, what one unit can change a value by.
    pub floor: Option<f64>,
    /// The highest price. Without it a relative goal spends at most a tenth of what is left.
    pub at_most: Option<Amount<Rho>>,
    /// How sure an interval must be.
    pub confidence: Confidence,
}

/// What is good enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Accuracy {
    /// A relative error.
    Relative(Tolerance),
    /// An absolute error, in the unit of each value.
    Absolute(f64),
    /// Whatever this price gives; keys that have to be selected cost extra, once.
    Price(Amount<Rho>),
}

impl Accuracy {
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Relative(tolerance) => format!("relative {}", tolerance.get()),
            Self::Absolute(error) => format!("absolute {error}"),
            Self::Price(price) => format!("price {price}"),
        }
    }
}

impl Goal {
    /// Whether it says how good an answer must be. A price alone does not, so nothing is met or
    /// missed.
    pub(crate) fn is_one(&self) -> bool {
        !matches!(self.accuracy, Accuracy::Price(_))
    }

    /// Whether a value with this interval is as good as is asked for, or within an absolute error
    /// that is good enough.
    pub(crate) fn is_met_by(&self, value: f64, [low, high]: [f64; 2], floor: f64) -> bool {
        // Ends that were computed from an error are that far off, but for their last bits.
        let off = (value - low).max(high - value) * (1.0 - 1e-9);
        let is_within = |tolerance: f64| {
            let near = |end: f64| (value - end).abs() * (1.0 - 1e-9) <= tolerance * end.abs();
            low * high > 0.0 && near(low) && near(high)
        };
        match self.accuracy {
            Accuracy::Relative(tolerance) => is_within(tolerance.get()) || off <= floor,
            Accuracy::Absolute(error) => off <= error,
            Accuracy::Price(_) => true,
        }
    }

    /// The goal of a value that a goal's value is so many times as large as.
    pub(crate) fn divided(&self, times: f64) -> Self {
        let accuracy = match self.accuracy {
            Accuracy::Absolute(error) => Accuracy::Absolute(error / times),
            accuracy => accuracy,
        };
        Self { accuracy, floor: self.floor.map(|floor| floor / times), ..*self }
    }

    /// A goal that is walked to, look by look, whatever this one is.
    pub(crate) fn walked(&self) -> Result<Self, WrongGoal> {
        let accuracy = match self.accuracy {
            Accuracy::Relative(tolerance) => tolerance,
            Accuracy::Absolute(_) | Accuracy::Price(_) => {
                Tolerance::new(0.1).map_err(|_| WrongGoal::Error { error: 0.1 })?
            }
        };
        Ok(Self { accuracy: Accuracy::Relative(accuracy), floor: None, ..*self })
    }

    /// The same goal, the same text: what a stored answer is found by.
    pub(crate) fn describe(&self) -> String {
        let accuracy = self.accuracy.describe();
        let floor = self.floor.map_or(String::new(), |floor| format!(" or {floor}"));
        let most = self.at_most.map_or(String::new(), |most| format!(" at most {most}"));
        format!("{accuracy}{floor}{most} at {}", self.confidence.get())
    }
}
