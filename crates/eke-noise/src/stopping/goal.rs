//! What an answer should be like before its path is followed no further.

use eke_budget::{Amount, Price};

/// How sure a statement about an answer must be.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "f64")]
pub struct Confidence(f64);

/// A relative error that is good enough.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "f64")]
pub struct Tolerance(f64);

/// An absolute error that is good enough, in steps of the grid.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "f64")]
pub struct Steps(f64);

/// A number that goals do not have.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GoalError {
    /// Not a confidence.
    #[error("confidence {0} is out of range: write a number from 0.5 to 0.999999, such as 0.95")]
    Confidence(f64),
    /// Not a tolerance.
    #[error("relative error {0} is out of range: write a number from 0.0001 to 0.9, such as 0.05")]
    Tolerance(f64),
    /// Not an absolute error.
    #[error("absolute error {0} is out of range: write a number from 1 to 1e12 steps of the grid")]
    Steps(f64),
    /// Not a quantile.
    #[error("quantile {0} is out of range: write a number above 0 and below 1, such as 0.5")]
    Quantile(f64),
    /// Not an error of a rank.
    #[error("rank error {0} is out of range: write a number from 0.000001 to 0.5, such as 0.01")]
    Rank(f64),
    /// Not an error of a quantile in cells.
    #[error("an error of {0} cells of the grid is out of range: write a number above 0")]
    Cells(f64),
    /// Not the levels of a grid.
    #[error("a grid of {0} levels is out of range: from 1 to 64 are possible")]
    Levels(u8),
    /// Not a sensitivity or step of rows.
    #[error("rows of no finite sensitivity or step cannot be searched")]
    Rows,
    /// A least or largest value within an error of values.
    #[error("the least or largest value has no error in its unit: ask for an error of its rank")]
    Extreme,
}

macro_rules! number {
    ($type:ident, $least:literal, $most:literal) => {
        impl $type {
            /// Checks the number and wraps it.
            ///
            /// # Errors
            /// It is out of range.
            pub fn new(value: f64) -> Result<Self, GoalError> {
                let fits = ($least..=$most).contains(&value);
                fits.then_some(Self(value)).ok_or(GoalError::$type(value))
            }

            /// The number.
            #[must_use]
            pub fn get(self) -> f64 {
                self.0
            }
        }

        impl TryFrom<f64> for $type {
            type Error = GoalError;

            fn try_from(value: f64) -> Result<Self, GoalError> {
                Self::new(value)
            }
        }
    };
}

number!(Confidence, 0.5, 0.999_999);
number!(Tolerance, 1e-4, 0.9);
number!(Steps, 1.0, 1e12);

impl Confidence {
    /// The two-sided normal quantile: with the given confidence, a normal number is within this
    /// many standard deviations.
    #[must_use]
    pub fn quantile(self) -> f64 {
        crate::stopping::sequence::two_sided(1.0 - self.0)
    }
}

/// What to follow a path for, and when to give up.
///
/// A goal always has an end: the highest price, and where a floor is given, the price of that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal<C: Price> {
    /// What is good enough.
    pub within: Within,
    /// How sure that must be.
    pub confidence: Confidence,
    /// An absolute error that is good enough whatever the relative one.
    pub floor: Option<Steps>,
    /// The highest price of the path.
    pub most: Amount<C>,
}

/// What is good enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Within {
    /// A relative error.
    Relative(Tolerance),
    /// An absolute error: one look, planned in advance.
    Absolute(Steps),
    /// A relative error by the rule of the accuracy-first papers, whose coverage is what it happens
    /// to be: stop when the answer is positive and `(2 + tolerance)/tolerance` deviations from
    /// zero.
    Heuristic(Tolerance),
    /// Whatever the highest price gives.
    Price,
}
