//! What reports of binary randomized response are worth.
//!
//! A report has a bit for each category (see [`eke_noise::local::BitChain`]), flipped with
//! probability `f = 1/(exp(h) + 1)` where h is what each bit tells. The true category's is set with
//! probability `t = 1 - f`; `(bit - f)/(t - f)` is an unbiased estimate of whether v is the true
//! one.

/// How likely the true category's bit is set.
#[must_use]
pub fn hit(each: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-each))
}

/// How likely any other's is.
#[must_use]
pub fn miss(each: f64) -> f64 {
    1.0 / (libm::exp(each) + 1.0)
}

/// What the estimates of all categories from one report are off by, squared and summed, on average.
/// For n reports it is this over n. It is the same for every category: `t f/(t - f)²`.
#[must_use]
pub fn variance(categories: u32, each: f64) -> f64 {
    let gap = libm::tanh(each / 2.0);
    f64::from(categories) * hit(each) * miss(each) / (gap * gap)
}
