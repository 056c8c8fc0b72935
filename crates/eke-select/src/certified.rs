//! A price with a bound on how far it is above the truth.

use eke_budget::{Amount, Epsilon};
use serde::Serialize;

/// A pure price that is never below the truth, and at most its bound above it.
///
/// Where rounding leaves nothing to say (noise of a hundred-millionth of the range), both are
/// infinite.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Certified {
    /// The price: never below the truth.
    pub epsilon: f64,
    /// The truth is at most this far below the price.
    pub error_bound: f64,
}

impl Certified {
    /// What costs nothing, exactly.
    pub const NOTHING: Self = Self { epsilon: 0.0, error_bound: 0.0 };
    pub(crate) const UNKNOWN: Self = Self { epsilon: f64::INFINITY, error_bound: f64::INFINITY };

    /// The price as exact money, rounded up. What is more than an amount holds is the largest
    /// amount, which no budget covers.
    #[must_use]
    pub fn amount(self) -> Amount<Epsilon> {
        Amount::ceil(self.epsilon).unwrap_or(Amount::MAX)
    }

    /// The larger of two prices.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        // The larger truth is at least either truth.
        let epsilon = self.epsilon.max(other.epsilon);
        let truth = (self.epsilon - self.error_bound).max(other.epsilon - other.error_bound);
        if truth.is_nan() || epsilon.is_infinite() {
            return Self::UNKNOWN;
        }
        Self { epsilon, error_bound: (epsilon - truth).next_up() }
    }

    /// A truth between two doubles that were computed with one more rounding each.
    pub(crate) fn between(low: f64, high: f64) -> Self {
        let (low, epsilon) = (down(low), up(high));
        if !epsilon.is_finite() {
            return Self::UNKNOWN;
        }
        Self { epsilon, error_bound: (epsilon - low).next_up() }
    }

    pub(crate) fn around(value: f64, error: f64) -> Self {
        Self::between((value - error).max(0.0), value + error)
    }

    /// A value that is off by at most the given number of roundings.
    pub(crate) fn rounded(value: f64, roundings: f64) -> Self {
        Self::around(value, value * roundings * f64::EPSILON)
    }
}

/// Four steps: more than `ln_1p` and a sum or quotient lose.
fn up(value: f64) -> f64 {
    value.next_up().next_up().next_up().next_up()
}

fn down(value: f64) -> f64 {
    value.next_down().next_down().next_down().next_down().max(0.0)
}
