//! The normal distribution in logarithms, as far as figures need it: prices that are charged have
//! their own, with error bounds.

use statrs::function::erf::erfc;

/// The distribution function.
pub(super) fn phi(x: f64) -> f64 {
    0.5 * erfc(-x / std::f64::consts::SQRT_2)
}

/// Its logarithm, also far to the left.
pub(super) fn ln_phi(x: f64) -> f64 {
    if x > -30.0 {
        return phi(x).ln();
    }
    // A few terms of the asymptotic series.
    let square = 1.0 / (x * x);
    let series = 1.0 - square * (1.0 - 3.0 * square * (1.0 - 5.0 * square));
    -x * x / 2.0 - (-x).ln() - 0.5 * (2.0 * std::f64::consts::PI).ln() + series.ln()
}

/// The logarithm of the mean of `exp(f)` over a standard normal number, by the trapezoidal rule
/// around where the integrand is largest.
pub(super) fn ln_mean(f: impl Fn(f64) -> f64) -> f64 {
    let whole = |x: f64| f(x) - x * x / 2.0;
    // Concave: a golden section finds the top.
    let (mut low, mut high) = (-60.0f64, 60.0f64);
    let golden = (5f64.sqrt() - 1.0) / 2.0;
    for _ in 0..120 {
        let (left, right) = (high - golden * (high - low), low + golden * (high - low));
        if whole(left) < whole(right) { low = left } else { high = right }
    }
    let (top, step) = (f64::midpoint(low, high), 0.01);
    let largest = whole(top);
    let sum: f64 = (-1200..=1200).map(|k| (whole(top + f64::from(k) * step) - largest).exp()).sum();
    largest + (sum * step / (2.0 * std::f64::consts::PI).sqrt()).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_join_where_they_change_over() {
        assert!((ln_phi(-30.0) - ln_phi(-30.0 + 1e-9)).abs() < 1e-6);
        assert!((ln_phi(0.0) - 0.5f64.ln()).abs() < 1e-12);
        assert!((ln_phi(-40.0) + 804.608_442_013_754).abs() < 1e-6, "{}", ln_phi(-40.0));
    }

    #[test]
    fn means_are_those_in_closed_form() {
        // E exp(a x) is exp(a²/2); E Phi(x + b) is Phi(b/sqrt 2).
        assert!((ln_mean(|x| 3.0 * x) - 4.5).abs() < 1e-9);
        let b = -7.0;
        assert!((ln_mean(|x| ln_phi(x + b)) - ln_phi(b / 2f64.sqrt())).abs() < 1e-6);
    }
}
