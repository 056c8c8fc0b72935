//! Why there is no price, and what is checked before there is one.

use eke_budget::L1;

use crate::Certified;

/// A question that has no price. The text says what is wrong with it and what to write instead.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectError {
    /// A number that must be finite is not.
    #[error("the {name} is not a finite number: write a number such as {example}")]
    NotFinite {
        /// What the number is called.
        name: &'static str,
        /// A number that would do.
        example: &'static str,
    },
    /// A range without anything in it.
    #[error("the range {low} to {high} is empty: write its smaller end first")]
    EmptyRange {
        /// What was given as the smaller end.
        low: f64,
        /// What was given as the larger end.
        high: f64,
    },
    /// A deviation, scale or rate that is not positive.
    #[error("the {name} {value} is not a positive number: write one such as {example}")]
    NotPositive {
        /// What the number is called.
        name: &'static str,
        /// What was given.
        value: f64,
        /// A number that would do.
        example: &'static str,
    },
    /// The line has far more noise than the answers, and its prices cannot be computed.
    #[error(
        "the noise of the line is more than {most} times that of the answers: give the answers more"
    )]
    NoiseOutOfProportion {
        /// The largest proportion there is a price for.
        most: f64,
    },
    /// A number that must be a whole one is not.
    #[error("the {name} {value} is not a whole number of steps: put it on the grid of the answers")]
    NotWhole {
        /// What the number is called.
        name: &'static str,
        /// What was given.
        value: f64,
    },
    /// A bound that there is for Gaussian noise only.
    #[error("only Gaussian lines have a price for runs of any length: leave out the cap")]
    NotGaussian,
    /// The line of a run that is under way.
    #[error("a run is under way: stop it before you go on along another line")]
    Running,
    /// No candidates.
    #[error("there are no candidates to choose from: give at least one")]
    NoCandidates,
    /// No steps, or too many.
    #[error("{steps} steps cannot be priced: write a number from 1 to {most}")]
    Steps {
        /// What was given.
        steps: u64,
        /// The largest number there is a price for.
        most: u64,
    },
    /// A price that no noise brings the mechanism down to.
    #[error("no noise has a price of {epsilon} here: write a larger epsilon")]
    OutOfReach {
        /// What was asked for.
        epsilon: f64,
    },
    /// A price that the least of noise keeps.
    #[error(
        "however little noise there is, it costs less than {epsilon} here: write a smaller epsilon"
    )]
    NoLeastNoise {
        /// What was asked for.
        epsilon: f64,
    },
}

/// The number, if it is positive, finite and not subnormal.
pub(crate) fn positive(
    name: &'static str,
    value: f64,
    example: &'static str,
) -> Result<f64, SelectError> {
    if !value.is_finite() {
        return Err(SelectError::NotFinite { name, example });
    }
    if value.is_normal() && value > 0.0 {
        Ok(value)
    } else {
        Err(SelectError::NotPositive { name, value, example })
    }
}

/// A range that has two finite ends, in order.
pub(crate) fn range((low, high): (f64, f64)) -> Result<(f64, f64), SelectError> {
    if !(low.is_finite() && high.is_finite() && (high - low).is_finite()) {
        return Err(SelectError::NotFinite { name: "range", example: "0 to 1000" });
    }
    if low < high { Ok((low, high)) } else { Err(SelectError::EmptyRange { low, high }) }
}

/// How far an answer can move: by the sensitivity, and no further than its range is wide. Two
/// doubles that the truth is between, since the width of a range is not always one.
pub(crate) fn furthest(sensitivity: L1, (low, high): (f64, f64)) -> [f64; 2] {
    let (width, rounded) = (high - low, f64::EPSILON * (low.abs() + high.abs()));
    let least = (width - rounded).next_down();
    if sensitivity.get() <= least {
        return [sensitivity.get(); 2];
    }
    [least.max(0.0), sensitivity.get().min((width + rounded).next_up())]
}

/// The price of moving so far, between two doubles: what it is at the second, off by no less than
/// what lies between.
pub(crate) fn priced([least, most]: [f64; 2], price: impl Fn(f64) -> Certified) -> Certified {
    let above = price(most);
    // The same doubles, or the same price.
    if least.to_bits() == most.to_bits() {
        return above;
    }
    let below = if least > 0.0 { price(least) } else { Certified::NOTHING };
    Certified::between(below.epsilon - below.error_bound, above.epsilon)
}
