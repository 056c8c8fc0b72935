//! zCDP to (epsilon, delta): the methods that hold for every zCDP mechanism.
//!
//! All three are functions of `y = a - 1`, the Rényi order less one; the optimal `y` of the tight
//! and of the optimal-s method solve the same equation, `rho y² + ln(1 + y) = ln(1/delta)`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Curve;
use crate::number::enclosure::{Enclosure, largest};

/// How zCDP is converted. All are valid; `Tight` promises the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Optimal over the Rényi order.
    ///
    /// - Theorem: zcdp-to-dp-tight (docs/theorems.md)
    /// - Proves: rho-zCDP implies (epsilon, delta) for every order `a > 1`, with
    ///   `epsilon = a rho + (ln(1/delta) - ln a)/(a-1) + ln(1 - 1/a)`
    /// - Assumes: nothing beyond zCDP
    /// - Deviates: the order is found in floating point, the formula enclosed at that order
    /// - Checked by: `conversions_match_the_golden_values`,
    ///   `conversions_never_report_less_than_wide_arithmetic`
    Tight,
    /// The closed form `rho + 2 sqrt(rho ln(1/delta))`.
    ///
    /// - Theorem: zcdp-to-dp-simple (docs/theorems.md)
    /// - Proves: rho-zCDP implies that epsilon at delta
    /// - Assumes: nothing beyond zCDP
    /// - Deviates: rounded to the safe side
    /// - Checked by: `conversions_match_the_golden_values`,
    ///   `conversions_never_report_less_than_wide_arithmetic`
    Simple,
    /// The approximate geo-privacy conversion of adaptive budgeting, at its optimal s.
    ///
    /// - Theorem: cgp-to-gp-optimal-s (docs/theorems.md)
    /// - Proves: with s the root of `rho (s-1)²/4 = ln(2/((s+1) delta))`, epsilon is `s rho`
    /// - Assumes: nothing beyond concentrated geo-privacy within the reach
    /// - Deviates: s is certified to be at or above the root, where epsilon is still a bound
    /// - Checked by: `conversions_match_the_golden_values`,
    ///   `conversions_never_report_less_than_wide_arithmetic`
    OptimalS,
}

impl Method {
    /// All methods, the tightest first.
    pub const ALL: [Self; 3] = [Self::Tight, Self::OptimalS, Self::Simple];

    /// The method's name in files and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Tight => "tight",
            Self::Simple => "simple",
            Self::OptimalS => "optimal-s",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text is not the name of a method.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("method `{0}` is not known: write tight, optimal-s or simple")]
pub struct UnknownMethod(String);

impl FromStr for Method {
    type Err = UnknownMethod;

    fn from_str(text: &str) -> Result<Self, UnknownMethod> {
        Self::ALL
            .into_iter()
            .find(|method| method.name() == text)
            .ok_or_else(|| UnknownMethod(text.to_owned()))
    }
}

impl Curve for Method {
    fn epsilon_bound(&self, rho: f64, delta: f64) -> f64 {
        match self {
            Self::Tight => tight_epsilon(rho, delta),
            Self::Simple => simple_epsilon(rho, delta),
            Self::OptimalS => optimal_s_epsilon(rho, delta),
        }
    }

    fn ln_delta_bound(&self, rho: f64, epsilon: f64) -> f64 {
        match self {
            Self::Tight => tight_ln_delta(rho, epsilon),
            Self::Simple => simple_ln_delta(rho, epsilon),
            Self::OptimalS => optimal_s_ln_delta(rho, epsilon),
        }
    }
}

const ONE: Enclosure = Enclosure::exact(1.0);
const TWO: Enclosure = Enclosure::exact(2.0);

fn ln_inverse(delta: f64) -> Enclosure {
    (-Enclosure::written(delta).ln()).not_negative()
}

/// The root of `rho y² + ln(1 + y) = ln(1/delta)`, nearly.
fn best_order_less_one(rho: f64, delta: f64) -> f64 {
    let ln_inverse = -libm::log(delta);
    largest(f64::MIN_POSITIVE, 1e308, |y| rho * y * y + libm::log1p(y) <= ln_inverse)
}

fn tight_epsilon(rho: f64, delta: f64) -> f64 {
    let y = Enclosure::exact(best_order_less_one(rho, delta));
    let order_term = (ONE + y) * Enclosure::written(rho);
    let delta_term = (ln_inverse(delta) - y.ln_1p()) / y;
    (order_term + delta_term - y.ln_1p_recip()).upper()
}

pub(super) fn tight_ln_delta(rho: f64, epsilon: f64) -> f64 {
    // The derivative over the order vanishes where (1 + 2y) rho - ln(1 + 1/y) = epsilon.
    let slope = |y: f64| (1.0 + 2.0 * y) * rho - libm::log1p(1.0 / y);
    let y = Enclosure::exact(largest(f64::MIN_POSITIVE, 1e150, |y| slope(y) <= epsilon));
    let loss = y * ((ONE + y) * Enclosure::written(rho) - Enclosure::written(epsilon));
    (loss - y * y.ln_1p_recip() - y.ln_1p()).upper()
}

fn simple_epsilon(rho: f64, delta: f64) -> f64 {
    let rho = Enclosure::written(rho);
    (rho + TWO * (rho * ln_inverse(delta)).not_negative().sqrt()).upper()
}

fn simple_ln_delta(rho: f64, epsilon: f64) -> f64 {
    if epsilon <= rho {
        return 0.0;
    }
    let over = (Enclosure::written(epsilon) - Enclosure::written(rho)).not_negative();
    (-(over.square() / (Enclosure::exact(4.0) * Enclosure::written(rho)))).upper()
}

fn optimal_s_epsilon(rho: f64, delta: f64) -> f64 {
    // With s = 1 + 2y the root is the same y as the tight method's. At any y at or above the root,
    // s rho is at or above the optimum, so stepping up until the enclosure proves it is safe.
    let root = best_order_less_one(rho, delta);
    let above = (0..16)
        .map(|power| root * (1.0 + 1e-12 * 10f64.powi(power)))
        .find(|&y| {
            let y = Enclosure::exact(y);
            let left = Enclosure::written(rho) * y * y + y.ln_1p();
            (left - ln_inverse(delta)).lower() >= 0.0
        })
        .unwrap_or(f64::INFINITY);
    ((ONE + TWO * Enclosure::exact(above)) * Enclosure::written(rho)).upper()
}

fn optimal_s_ln_delta(rho: f64, epsilon: f64) -> f64 {
    if epsilon <= rho {
        return 0.0;
    }
    let s = Enclosure::written(epsilon) / Enclosure::written(rho);
    let y = ((s - ONE) / TWO).not_negative();
    (-(Enclosure::written(rho) * y * y + y.ln_1p())).upper()
}
