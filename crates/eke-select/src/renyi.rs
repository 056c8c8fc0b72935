//! The price of a line without a horizon, with a delta: an alternative to setting aside the worst
//! case step by step.
//!
//! Zhu and Wang bound the Rényi divergence of a Gaussian line by a moment of the number of steps it
//! takes; what is printed of that moment elsewhere is too small for thresholds near the lower end
//! of the range. The moment here is the integral itself.

use eke_budget::convert::Row;
use eke_budget::{Delta, L1, ParameterError, Rho};

use crate::error::positive;
use crate::integrand::{Factor, Integrand, ROUNDING};
use crate::quadrature::ln_integral;
use crate::{Certified, SelectError};

/// A Gaussian line whose answers are never below the lower end of their range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RenyiLine {
    /// The sensitivity over the two deviations, squared.
    line: f64,
    query: f64,
    /// The logarithm of the moment, never below the truth, and how far above it may be.
    ln_moment: f64,
    moment_error: f64,
}

impl RenyiLine {
    /// For answers that are at least `lowest` below (or, reflected, at most that much above) the
    /// threshold: `distance` is the threshold less the lower end of the range.
    ///
    /// - Theorem: renyi-line (docs/theorems.md)
    /// - Proves: order a costs at most `(a - 1/2) D²/sX² + 2a D²/sZ² + ln m/(2 (a - 1))`, m the
    ///   mean of `Phi(-(distance + sX x)/sZ)^-2`
    /// - Assumes: answers are clamped to the range; `sZ² >= 3 sX²`; the distance is not negative
    /// - Deviates: the moment is rounded up
    /// - Checked by: `moments_match_the_golden_values`,
    ///   `the_printed_moment_is_below_the_truth_near_zero`
    ///
    /// # Errors
    /// The deviations are not positive, the answers' is less than sqrt(3) times the line's, or the
    /// distance is negative.
    pub fn new(distance: f64, sensitivity: L1, line: f64, query: f64) -> Result<Self, SelectError> {
        positive("deviation of the line", line, "10")?;
        positive("deviation of the answers", query, "17.33")?;
        if !distance.is_finite() {
            return Err(SelectError::NotFinite { name: "distance to the line", example: "500" });
        }
        if distance < 0.0 {
            let (name, example) = ("distance to the line", "500");
            return Err(SelectError::NotPositive { name, value: distance, example });
        }
        // A hair below the root, which no double is.
        if query / line < 3f64.sqrt() * (1.0 - 1e-12) {
            return Err(SelectError::NoiseOutOfProportion { most: 0.577 });
        }
        let factor = Factor::new(-line / query, [0.0, distance], query, -2.0);
        let moment = ln_integral(&Integrand::new(vec![factor]));
        let Some(moment) = moment else {
            return Err(SelectError::NotFinite { name: "moment", example: "500" });
        };
        let (line, query) = (sensitivity.get() / line, sensitivity.get() / query);
        Ok(Self {
            line: line * line,
            query: query * query,
            ln_moment: moment.value + moment.error,
            moment_error: 2.0 * moment.error,
        })
    }

    /// The logarithm of the moment, never below the truth.
    #[must_use]
    pub fn ln_moment(&self) -> f64 {
        self.ln_moment
    }

    /// A bound on that logarithm without an integral, for `distance` in deviations of the line.
    ///
    /// - Theorem: renyi-line (docs/theorems.md)
    /// - Proves: the moment is at most `4 + 6 sqrt(3) pi (1 + r²) exp(r²)`
    /// - Assumes: as for the integral
    /// - Deviates: rounded up
    /// - Checked by: `moments_match_the_golden_values`
    #[must_use]
    pub fn ln_moment_bound(distance: f64) -> f64 {
        let square = distance * distance;
        // ln(4 + c (1 + r²) e^{r²}) without overflow.
        let factor = 6.0 * 3f64.sqrt() * std::f64::consts::PI * (1.0 + square);
        let bound = square + libm::log(factor + 4.0 * libm::exp(-square));
        bound * (1.0 + 16.0 * ROUNDING)
    }

    /// What must be set aside for a run of any length: its loss is above that with probability at
    /// most delta.
    ///
    /// - Theorem: renyi-line-tail (docs/theorems.md)
    /// - Proves: by Markov's inequality at the best order, `A - D²/(2 sX²) + 2 sqrt(A B)`,
    ///   `A = D²/sX² + 2 D²/sZ²`, `B = ln(m)/2 + ln(1/delta)`
    /// - Assumes: deltas of all started runs add up (filter)
    /// - Deviates: rounded up
    /// - Checked by: `moments_match_the_golden_values`
    #[must_use]
    pub fn reserve(&self, delta: Delta) -> Certified {
        let rate = self.line + 2.0 * self.query;
        let tail = self.ln_moment / 2.0 - libm::log(delta.get());
        let price = self.line / 2.0 + 2.0 * self.query + 2.0 * libm::sqrt(rate * tail);
        // The error of the moment is halved, and the root is at most as steep as at its value.
        let moment = libm::sqrt(rate / tail) * self.moment_error;
        let error = price * 16.0 * ROUNDING;
        Certified::between(price - error - moment, price + error)
    }

    /// The same line as a row of moments, to be added up with others.
    ///
    /// # Errors
    /// Its rho is more than a rho can be.
    pub fn row(&self) -> Result<Row, ParameterError> {
        let up = 1.0 + 16.0 * ROUNDING;
        Ok(Row {
            shift: -self.line / 2.0 * (1.0 - 16.0 * ROUNDING),
            rho: Rho::new((self.line + 2.0 * self.query) * up)?,
            constant: self.ln_moment / 2.0 * up,
        })
    }
}
