//! Choices whose probabilities are exponential in scores.

use eke_budget::convert::bounded_range_to_zcdp;
use eke_budget::number::BoundedRange;
use eke_budget::{L1, Rho};

use crate::error::positive;
use crate::{Certified, Change, SelectError};

/// The exponential mechanism: a candidate with probability proportional to `exp(rate · score)`.
///
/// ```
/// use eke_budget::L1;
/// use eke_select::{Change, Exponential};
///
/// let votes = Exponential::new(0.5, L1::new(1.0)?, Change::Monotone)?;
/// assert!((votes.epsilon().epsilon - 0.5).abs() < 1e-12);
/// assert!((votes.rho().get() - 0.5 * 0.5 / 8.0).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[doc(alias = "exponential mechanism")]
pub struct Exponential {
    range: BoundedRange,
}

impl Exponential {
    /// By its rate, what one unit can change each score by, and how.
    ///
    /// # Errors
    /// The rate is not positive, or so large that there is no price.
    pub fn new(rate: f64, sensitivity: L1, change: Change) -> Result<Self, SelectError> {
        let range = losses(rate, sensitivity, change)?;
        Ok(Self { range })
    }

    /// The pure price.
    ///
    /// - Theorem: bounded-range-to-zcdp (docs/theorems.md)
    /// - Proves: the largest loss less the smallest is at most the rate times the sensitivity for
    ///   monotone scores, and twice that in general
    /// - Assumes: candidates are public; one unit changes each score by at most the sensitivity
    ///   (caller)
    /// - Deviates: rounded up
    /// - Checked by: `exponential_choices_cost_their_range_of_losses`
    #[must_use]
    pub fn epsilon(&self) -> Certified {
        Certified::rounded(self.range.get(), 4.0)
    }

    /// The concentrated price.
    #[must_use]
    pub fn rho(&self) -> Rho {
        let range = BoundedRange::new(self.epsilon().epsilon).unwrap_or(self.range);
        // A range is at most 1e4 here, and its square over eight a rho.
        bounded_range_to_zcdp(range).unwrap_or_else(|_| unreachable!("within the range of rhos"))
    }
}

/// Permute and flip: never worse in expectation than the exponential mechanism of the same rate,
/// and of the same pure price. It has no concentrated price of its own: its losses are not bounded
/// in range.
#[derive(Clone, Copy, Debug, PartialEq)]
#[doc(alias = "permute and flip")]
pub struct PermuteAndFlip {
    range: BoundedRange,
}

impl PermuteAndFlip {
    /// By its rate, what one unit can change each score by, and how.
    ///
    /// # Errors
    /// The rate is not positive, or so large that there is no price.
    pub fn new(rate: f64, sensitivity: L1, change: Change) -> Result<Self, SelectError> {
        let range = losses(rate, sensitivity, change)?;
        Ok(Self { range })
    }

    /// The pure price.
    ///
    /// - Theorem: permute-and-flip (docs/theorems.md)
    /// - Proves: it is as private as the exponential mechanism of the same rate
    /// - Assumes: candidates are public; one unit changes each score by at most the sensitivity
    ///   (caller)
    /// - Deviates: rounded up
    /// - Checked by: `exponential_choices_cost_their_range_of_losses`
    #[must_use]
    pub fn epsilon(&self) -> Certified {
        Certified::rounded(self.range.get(), 4.0)
    }
}

/// The range of losses: the rate times how far two scores can move apart.
fn losses(rate: f64, sensitivity: L1, change: Change) -> Result<BoundedRange, SelectError> {
    let rate = positive("rate", rate, "0.5")?;
    let spread = match change {
        Change::Monotone => sensitivity.get(),
        Change::General => 2.0 * sensitivity.get(),
    };
    let range = rate * spread;
    let not_a_price = SelectError::NotPositive { name: "price", value: range, example: "0.5" };
    if range > LARGEST {
        Err(not_a_price)
    } else {
        BoundedRange::new(range).map_err(|_| not_a_price)
    }
}

/// The largest range of losses that there is a price for.
const LARGEST: f64 = 1e4;
