//! The exact trade-off of the continuous Gaussian mechanism, for calculators.
//!
//! Accounts do not use it: discrete Gaussian noise has a little more delta (up to 3.5 % at variance
//! 64), and other zCDP mechanisms are not Gaussian at all. No account takes it as its method.
//!
//! With `mu = sqrt(2 rho)`, `x = epsilon/mu - mu/2` and the Mills ratio `M(x) = Phi(-x)/phi(x)`,
//! delta is `phi(x) (M(x) - M(x + mu))`. The usual form, a difference of two tails, cancels to
//! nothing for small mu; here the difference is an integral of `1 - t M(t)`, which does not.

use super::Curve;
use crate::Epsilon;
use crate::enclosure::largest;
use crate::normal::{ASYMPTOTIC, LN_SQRT_TWO_PI, mills, mills_slope};

/// The exact (epsilon, delta) curve of continuous Gaussian noise with this rho.
///
/// - Theorem: gaussian-curve (docs/theorems.md)
/// - Proves: `delta = Phi(mu/2 - epsilon/mu) - exp(epsilon) Phi(-mu/2 - epsilon/mu)`,
///   `mu = sqrt(2 rho)`
/// - Assumes: continuous Gaussian noise, every release Gaussian (caller)
/// - Deviates: evaluated in floating point and widened by ten times its error
/// - Checked by: `conversions_match_the_golden_values`,
///   `the_gaussian_curve_is_never_below_its_reference`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GaussianCurve;

impl Curve for GaussianCurve {
    fn epsilon_bound(&self, rho: f64, delta: f64) -> f64 {
        let ln_delta = libm::log(delta).next_down().next_down();
        let exceeds = |epsilon: f64| self.ln_delta_bound(rho, epsilon) > ln_delta;
        let last = largest(Epsilon::FLOOR.get(), 1e300, exceeds);
        if exceeds(last) { last.next_up().next_up() } else { last }
    }

    fn ln_delta_bound(&self, rho: f64, epsilon: f64) -> f64 {
        let (x, mu) = standard(rho, epsilon);
        let ln_delta = ln_delta(x, mu);
        // x is off by a few steps of mu, which the density multiplies by x.
        let margin = 1e-11 + ln_delta.abs() * 1e-14 + x.abs() * mu * 1e-15;
        if ln_delta == f64::NEG_INFINITY {
            // Far beyond what a double can hold; a finite logarithm is larger.
            -1e300
        } else if (ln_delta + margin).is_finite() {
            ln_delta + margin
        } else {
            0.0
        }
    }
}

/// The threshold in standard deviations, and the shift mu.
fn standard(rho: f64, epsilon: f64) -> (f64, f64) {
    let mu = (2.0 * rho).sqrt();
    (epsilon / mu - mu / 2.0, mu)
}

fn ln_delta(x: f64, mu: f64) -> f64 {
    let ln_density = -x * x / 2.0 - LN_SQRT_TWO_PI;
    if mu <= 1.0 {
        // x is at least -1/2 here.
        ln_density + libm::log(mills_fall(x, mu))
    } else if x >= 0.0 {
        ln_density + libm::log(mills(x) - mills(x + mu))
    } else {
        // x + mu = epsilon/mu + mu/2 is positive.
        let tail = 0.5 * libm::erfc(x / std::f64::consts::SQRT_2);
        libm::log(tail - libm::exp(ln_density) * mills(x + mu))
    }
}

/// `M(x) - M(x + width)` for widths up to 1, by 16-point Gauss-Legendre on `-M'(t) = 1 - t M(t)`.
fn mills_fall(x: f64, width: f64) -> f64 {
    let (middle, half) = (x + width / 2.0, width / 2.0);
    let slope = |t: f64| if t < ASYMPTOTIC { 1.0 - t * mills(t) } else { mills_slope(t) };
    half * GAUSS_LEGENDRE
        .iter()
        .map(|&(node, weight)| weight * (slope(middle - half * node) + slope(middle + half * node)))
        .sum::<f64>()
}

/// Positive nodes and weights of the 16-point rule on [-1, 1].
const GAUSS_LEGENDRE: [(f64, f64); 8] = [
    (0.9894009349916499, 0.027152459411754096),
    (0.9445750230732326, 0.062253523938647894),
    (0.8656312023878318, 0.09515851168249279),
    (0.755404408355003, 0.12462897125553388),
    (0.6178762444026438, 0.14959598881657674),
    (0.45801677765722737, 0.16915651939500254),
    (0.2816035507792589, 0.18260341504492358),
    (0.09501250983763744, 0.1894506104550685),
];
