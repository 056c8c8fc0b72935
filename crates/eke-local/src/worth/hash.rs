//! What reports of local hashing are worth.
//!
//! A report is a hash and a value of b bits (see [`eke_noise::local::HashChain`]), with probability
//! s, its share, that of the true category, and else uniform. It *supports* the categories with
//! that value. Values of different categories are independent, so it supports the true one with
//! probability `t = s + (1 - s)/2^b` and any other with probability `f = 1/2^b`;
//! `(1{v is supported} - f)/(t - f)` is an unbiased estimate of whether v is the true one. All that
//! is by the draw of the hash too, which has to be each report's own.

use eke_noise::local::{MOST_BITS, Share};

/// What a share is to the rest: `s/(1 - s)`, which is `(exp(epsilon) - 1)/2^b` for a report of b
/// bits.
#[must_use]
pub fn odds(share: &Share) -> f64 {
    share.weight.to_f64() / f64::from(share.among)
}

/// The same for a report of n bits at an epsilon.
#[must_use]
pub fn odds_at(bits: u32, epsilon: f64) -> f64 {
    libm::ldexp(libm::expm1(epsilon), -i32::try_from(bits).unwrap_or(0))
}

/// How likely a report of n bits supports the true category.
#[must_use]
pub fn hit(bits: u32, odds: f64) -> f64 {
    (odds + miss(bits)) / (odds + 1.0)
}

/// How likely it supports any one other category.
#[must_use]
pub fn miss(bits: u32) -> f64 {
    libm::ldexp(1.0, -i32::try_from(bits).unwrap_or(0))
}

/// What the estimates of all categories from one report are off by, squared and summed, on average.
/// For n reports it is this over n.
///
/// For a category that is not the true one that is `f (1 - f)/(t - f)²`, in print (Wang and others
/// 2017) `(exp(epsilon) - 1 + g)²/((exp(epsilon) - 1)² (g - 1))` for `g = 2^b` values.
#[must_use]
pub fn variance(categories: u32, bits: u32, odds: f64) -> f64 {
    let (hit, miss) = (hit(bits, odds), miss(bits));
    let gap = odds / (odds + 1.0) * (1.0 - miss);
    // 1 - t = (1 - s)(1 - f)
    let missed = (1.0 - miss) / (odds + 1.0);
    (hit * missed + (f64::from(categories) - 1.0) * miss * (1.0 - miss)) / (gap * gap)
}

/// The number of bits that makes the variance smallest at an epsilon.
#[must_use]
pub fn best_bits(categories: u32, epsilon: f64) -> u32 {
    let of = |bits| variance(categories, bits, odds_at(bits, epsilon));
    (1..=MOST_BITS).min_by(|&a, &b| of(a).total_cmp(&of(b))).unwrap_or(1)
}

/// The smallest variance of one report at an epsilon.
#[must_use]
pub fn best_variance(categories: u32, epsilon: f64) -> f64 {
    let bits = best_bits(categories, epsilon);
    variance(categories, bits, odds_at(bits, epsilon))
}
