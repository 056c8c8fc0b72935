//! The least noise that keeps a price.

use eke_budget::{Amount, Epsilon};

use crate::Certified;

/// The least noise, to twelve digits, whose price is at most epsilon, starting to look at `start`. The price of what is
/// returned was seen to be that. None if it is beyond 2²⁰⁰ times the start.
pub(crate) fn smallest(
    start: f64,
    epsilon: Epsilon,
    price: impl Fn(f64) -> Certified,
) -> Option<f64> {
    let most = Amount::at_most(epsilon);
    let keeps = |noise: f64| price(noise).amount() <= most;
    let (mut low, mut high) = (start, start);
    let mut doublings = 0;
    while !keeps(high) {
        (low, high) = (high, high * 2.0);
        doublings += 1;
        if doublings > 200 || !high.is_finite() {
            return None;
        }
    }
    while keeps(low) {
        (high, low) = (low, low / 2.0);
        doublings += 1;
        if doublings > 200 || low < f64::MIN_POSITIVE {
            return None;
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
    Some(high)
}
