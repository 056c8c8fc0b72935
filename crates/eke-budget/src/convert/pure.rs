//! What pure, approximate and bounded-range guarantees cost in zCDP, and one Gaussian release.

use crate::number::BoundedRange;
use crate::number::enclosure::Enclosure;
use crate::number::parameter::ParameterError;
use crate::{Amount, Charge, Delta, Epsilon, L2, Metric, Rho, Variance};

/// The zCDP price of an epsilon-private mechanism, fixed before it runs.
///
/// - Theorem: pure-to-zcdp (docs/theorems.md)
/// - Proves: epsilon-DP is `epsilon tanh(epsilon/2)`-zCDP; where distances below 1 exist,
///   `epsilon²/2`
/// - Assumes: epsilon is the worst case over outputs, known before the mechanism runs (caller). A
///   realised ex-post price may not be charged this way (docs/theorems.md, ex-post-not-zcdp)
/// - Deviates: rounded up
/// - Checked by: `conversions_match_the_golden_values`,
///   `the_metric_price_of_pure_privacy_covers_small_distances`
///
/// # Errors
/// The answer is larger than a rho can be.
pub fn pure_to_zcdp(epsilon: Epsilon, metric: Metric) -> Result<Rho, ParameterError> {
    let loss = Enclosure::written(epsilon.get());
    let rho = if metric.has_small_distances() {
        loss.square() / Enclosure::exact(2.0)
    } else {
        // tanh(x/2) = -expm1(-x) / (2 + expm1(-x)), which neither overflows nor cancels.
        let fall = (-loss).exp_m1();
        loss * (-fall / (Enclosure::exact(2.0) + fall))
    };
    Rho::new(rho.upper().max(f64::MIN_POSITIVE))
}

/// The zCDP price of an (epsilon, delta)-private mechanism: the pure price, and its delta.
///
/// - Theorem: approximate-to-zcdp (docs/theorems.md)
/// - Proves: (epsilon, delta)-DP is delta-approximate zCDP at the pure price of epsilon
/// - Assumes: epsilon and delta are fixed before the mechanism runs (caller)
/// - Deviates: rounded up
/// - Checked by: `conversions_match_the_golden_values`
///
/// # Errors
/// The answer is larger than a rho can be.
pub fn approximate_to_zcdp(
    epsilon: Epsilon,
    delta: Delta,
    metric: Metric,
) -> Result<Charge, ParameterError> {
    Ok(Charge::zcdp(pure_to_zcdp(epsilon, metric)?).with_delta(delta))
}

/// The zCDP price of a mechanism whose privacy losses lie in a range of known width, such as the
/// exponential mechanism.
///
/// - Theorem: bounded-range-to-zcdp (docs/theorems.md)
/// - Proves: a loss with range eta is `eta²/8`-zCDP (and eta-DP)
/// - Assumes: the range covers every pair of neighbours; the exponential mechanism with Gumbel
///   scale `1/e` has range e for monotone scores only, 2e in general (caller)
/// - Deviates: rounded up
/// - Checked by: `conversions_match_the_golden_values`
///
/// # Errors
/// The answer is larger than a rho can be.
#[doc(alias = "bounded range")]
pub fn bounded_range_to_zcdp(range: BoundedRange) -> Result<Rho, ParameterError> {
    let rho = Enclosure::written(range.get()).square() / Enclosure::exact(8.0);
    Rho::new(rho.upper().max(f64::MIN_POSITIVE))
}

/// The zCDP price of one Gaussian release, discrete or continuous.
///
/// - Theorem: gaussian-release (docs/theorems.md)
/// - Proves: noise of this variance on a query of L2 sensitivity D costs `D²/(2 variance)`
/// - Assumes: D bounds the query over all neighbours; discrete noise is on the query's own grid
///   (caller)
/// - Deviates: rounded up, by less than a grain where both are whole numbers and D is not large
/// - Checked by: `a_gaussian_release_costs_half_its_squared_sensitivity_over_variance`
///
/// # Errors
/// The price is more than an amount holds.
#[doc(alias = "Gaussian mechanism")]
pub fn gaussian_release(
    sensitivity: L2,
    variance: Variance,
) -> Result<Amount<Rho>, ParameterError> {
    if let (Some(sensitivity), Some(variance)) = (whole(sensitivity.get()), whole(variance.get())) {
        let one = Amount::<Rho>::ONE.grains();
        let numerator = sensitivity.checked_mul(sensitivity).and_then(|s| s.checked_mul(one));
        if let Some(numerator) = numerator {
            return Ok(Amount::from_grains(numerator.div_ceil(2 * variance)));
        }
    }
    let rho = Enclosure::written(sensitivity.get()).square()
        / (Enclosure::exact(2.0) * Enclosure::written(variance.get()));
    Amount::ceil(rho.upper())
}

/// A double that is a whole number, as an integer.
fn whole(value: f64) -> Option<u128> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive and small"
    )]
    (value <= 2f64.powi(53) && value.fract() == 0.0).then_some(value as u128)
}
