//! The least noise that keeps a price.

use eke_budget::{Amount, Epsilon};

use crate::{Certified, SelectError};

/// The least noise, to twelve digits, whose price is at most epsilon, starting to look at `start`.
/// The price of what is returned was seen to be that.
///
/// # Errors
/// The least noise is too far above or below the start to be found.
pub(crate) fn smallest(
    start: f64,
    epsilon: Epsilon,
    price: impl Fn(f64) -> Certified,
) -> Result<f64, SelectError> {
    let most = Amount::at_most(epsilon);
    let epsilon = epsilon.get();
    let keeps = |noise: f64| price(noise).amount() <= most;
    let (mut low, mut high) = (start, start);
    while !keeps(high) {
        (low, high) = (high, high * 2.0);
        if high > start * FARTHEST || !high.is_finite() {
            return Err(SelectError::OutOfReach { epsilon });
        }
    }
    while keeps(low) {
        (high, low) = (low, low / 2.0);
        if low < start / FARTHEST || !low.is_normal() {
            return Err(SelectError::NoLeastNoise { epsilon });
        }
    }
    while high - low > 1e-12 * high {
        let middle = low + (high - low) / 2.0;
        if keeps(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(high)
}

/// How far from the start noise is looked for, as a factor.
const FARTHEST: f64 = 1e60;
