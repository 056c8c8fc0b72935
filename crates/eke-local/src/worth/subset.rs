//! What reports of the subset mechanism are worth.
//!
//! A report names k of d categories and weighs `w = k (exp(epsilon) - 1)` (see
//! [`eke_noise::local::SubsetChain`]). It holds the true category with probability t and any other
//! with probability f; `(1{v in report} - f)/(t - f)` is an unbiased estimate of whether v is the
//! true one.

/// How likely a report of this size and weight holds the true category.
#[must_use]
pub fn hit(categories: u32, size: u32, weight: f64) -> f64 {
    let (d, k) = (f64::from(categories), f64::from(size));
    (k + weight) / (d + weight)
}

/// How likely it holds any one other category.
#[must_use]
pub fn miss(categories: u32, size: u32, weight: f64) -> f64 {
    let (d, k) = (f64::from(categories), f64::from(size));
    // The rest of its categories, spread over the others: (k - hit)/(d - 1), without a difference.
    (k + weight * (k - 1.0) / (d - 1.0)) / (d + weight)
}

/// How much likelier it holds the true category than another: hit less miss, also where that is
/// tiny.
#[must_use]
pub fn gap(categories: u32, size: u32, weight: f64) -> f64 {
    let (d, k) = (f64::from(categories), f64::from(size));
    weight / (d + weight) * ((d - k) / (d - 1.0))
}

/// What the estimates of all categories from one report are off by, squared and summed, on average:
/// the variance to be compared between sizes. For n reports it is this over n.
#[must_use]
pub fn variance(categories: u32, size: u32, weight: f64) -> f64 {
    let (d, k) = (f64::from(categories), f64::from(size));
    // (d-1) [(d-k)(d-k-1) + 2 e (d-k) k + e² k (k-1)] / ((e-1)² k (d-k)) with e = 1 + w/k, times
    // k²/w² above and below, so that neither a large nor a small epsilon leaves the doubles.
    let power = (k + weight) / weight;
    let rest = k / weight;
    let part = (d - k) * (d - k - 1.0) * rest * rest
        + 2.0 * power * rest * (d - k) * k
        + power * power * k * (k - 1.0);
    (d - 1.0) * part / (k * (d - k))
}

/// What a report of this size weighs at an epsilon.
#[must_use]
pub fn weight(size: u32, epsilon: f64) -> f64 {
    f64::from(size) * libm::expm1(epsilon)
}

/// The size that makes the variance smallest at an epsilon: the least k with
/// `exp(2 epsilon) k (k+1) >= (d-k)(d-k-1)`, and at most half of the categories.
#[must_use]
pub fn best_size(categories: u32, epsilon: f64) -> u32 {
    let d = f64::from(categories);
    let is_enough = |size: u32| {
        let k = f64::from(size);
        2.0 * epsilon + (k * (k + 1.0)).ln() >= ((d - k) * (d - k - 1.0)).ln()
    };
    let (mut low, mut high) = (0, (categories / 2).max(1));
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if is_enough(middle) { high = middle } else { low = middle }
    }
    high
}

/// The smallest variance of one report at an epsilon.
#[must_use]
pub fn best_variance(categories: u32, epsilon: f64) -> f64 {
    let size = best_size(categories, epsilon);
    variance(categories, size, weight(size, epsilon))
}
