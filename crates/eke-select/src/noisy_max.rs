//! The largest of several scores, with noise on each: the price of telling which one it is.
//!
//! With Gaussian noise there are two prices, and either may be charged: a pure one, which needs
//! scores clamped to a range, and a concentrated one, which grows with the number of candidates and
//! needs no range. Which is cheaper depends on both ([`NoisyMax::pure_is_cheaper`]).

use eke_budget::convert::pure_to_zcdp;
use eke_budget::{Adjacency, Epsilon, L1, Metric, Rho};

use crate::calibrate::smallest;
use crate::error::{furthest, positive, priced, range};
use crate::integrand::{Factor, Integrand, ROUNDING};
use crate::quadrature::{ln_ratio, ln_ratio_of_one};
use crate::{Certified, Change, SelectError};

/// What is added to every score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MaxNoise {
    /// Normal noise, by its standard deviation.
    Gaussian(f64),
    /// Laplace noise, by its scale.
    Laplace(f64),
}

/// A choice among candidates, in the unit of their scores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoisyMaxSpec {
    /// How many there are to choose from; public.
    pub candidates: u64,
    /// What scores are clamped to.
    pub range: (f64, f64),
    /// What one unit can change each score by.
    pub sensitivity: L1,
    /// How it can change them.
    pub change: Change,
    /// What is added to every score.
    pub noise: MaxNoise,
}

/// The prices of telling which candidate has the largest noisy score.
#[derive(Clone, Copy, Debug, PartialEq)]
#[doc(alias = "report noisy max")]
pub struct NoisyMax {
    spec: NoisyMaxSpec,
}

impl NoisyMax {
    /// The prices of a choice.
    ///
    /// # Errors
    /// There are no candidates, the range is empty, or the noise is not positive.
    pub fn new(spec: NoisyMaxSpec) -> Result<Self, SelectError> {
        range(spec.range)?;
        match spec.noise {
            MaxNoise::Gaussian(deviation) => positive("deviation", deviation, "10")?,
            MaxNoise::Laplace(scale) => positive("scale", scale, "10")?,
        };
        if spec.candidates == 0 {
            return Err(SelectError::NoCandidates);
        }
        Ok(Self { spec })
    }

    /// The choice with the least Gaussian noise whose pure price is at most epsilon; `spec`'s own
    /// noise does not matter.
    ///
    /// # Errors
    /// As [`NoisyMax::new`], or no noise has that price.
    pub fn calibrate(spec: NoisyMaxSpec, epsilon: Epsilon) -> Result<Self, SelectError> {
        let at =
            |deviation| Self::new(NoisyMaxSpec { noise: MaxNoise::Gaussian(deviation), ..spec });
        let start = spec.range.1 - spec.range.0;
        at(start)?;
        let price = |deviation| at(deviation).map_or(Certified::UNKNOWN, |max| max.epsilon());
        at(smallest(start, epsilon, price)?)
    }

    /// What was priced.
    #[must_use]
    pub fn spec(&self) -> &NoisyMaxSpec {
        &self.spec
    }

    /// The pure price.
    ///
    /// - Theorem: gaussian-noisy-max (docs/theorems.md)
    /// - Proves: the loss is largest where the winner is at the lower end of the range and all
    ///   others at the upper, and there it is the logarithm of a ratio of two expectations
    /// - Assumes: scores are clamped to the range; noise is continuous; candidates are public
    ///   (caller, `eke-noise`)
    /// - Deviates: rounded up by its error bound; Laplace noise by *laplace-noisy-max*
    /// - Checked by: `prices_match_the_golden_values`,
    ///   `no_scores_cost_more_than_a_noisy_maximum_says`
    #[must_use]
    pub fn epsilon(&self) -> Certified {
        if self.spec.candidates == 1 {
            return Certified::NOTHING;
        }
        priced(furthest(self.spec.sensitivity, self.spec.range), |moved| self.price(moved))
    }

    /// The pure price for scores that move so far.
    fn price(&self, moved: f64) -> Certified {
        let (low, high) = self.spec.range;
        let swing = self.swing(moved);
        match self.spec.noise {
            MaxNoise::Laplace(scale) => Certified::rounded(swing / scale, 8.0),
            MaxNoise::Gaussian(deviation) => {
                let shift = swing / deviation;
                let factor = |others| Factor::new(1.0, [low, high], deviation, others);
                if self.spec.candidates == 2 {
                    return ln_ratio_of_one(&factor(1.0), shift);
                }
                let others = (self.spec.candidates - 1) as f64;
                let others = if others > LARGEST_EXACT { others.next_up() } else { others };
                ln_ratio(&Integrand::new(vec![factor(others)]), &[shift])
            }
        }
    }

    /// The concentrated price: the cheaper of the two there are. None where there is nothing to
    /// tell (one candidate), or the price is more than a rho can be.
    ///
    /// - Theorem: gaussian-noisy-max-zcdp (docs/theorems.md)
    /// - Proves: d noisy scores are a Gaussian release of length `sqrt(d)` times the sensitivity,
    ///   and half of that for monotone scores, since moving all of them alike changes no maximum
    /// - Assumes: candidates are public (caller)
    /// - Deviates: rounded up; the smaller of this and `e tanh(e/2)`, e being the pure price
    /// - Checked by: `the_concentrated_price_of_a_noisy_maximum_bounds_its_divergence`
    #[must_use]
    pub fn rho(&self) -> Option<Rho> {
        self.rho_of_release().into_iter().chain(self.rho_of_epsilon()).min()
    }

    /// The concentrated price of a Gaussian release of all scores. None where it is more than a rho
    /// can be, nothing at all, or noise is not Gaussian.
    #[must_use]
    pub fn rho_of_release(&self) -> Option<Rho> {
        let MaxNoise::Gaussian(deviation) = self.spec.noise else { return None };
        if self.spec.candidates == 1 {
            return None;
        }
        let candidates = self.spec.candidates as f64;
        // A general change is twice a monotone one, seen from its middle.
        let [_, moved] = furthest(self.spec.sensitivity, self.spec.range);
        let half = self.swing(moved) / 2.0 / deviation;
        Rho::new(candidates * half * half / 2.0 * (1.0 + 16.0 * ROUNDING)).ok()
    }

    /// The concentrated price that follows from the pure one. None where there is none.
    #[must_use]
    pub fn rho_of_epsilon(&self) -> Option<Rho> {
        let epsilon = self.epsilon().amount().to_parameter().ok()?;
        pure_to_zcdp(epsilon, Metric::Hamming(Adjacency::AddRemove)).ok()
    }

    /// Whether charging the pure price as concentrated costs no more than the Gaussian release of
    /// all scores.
    #[must_use]
    pub fn pure_is_cheaper(&self) -> bool {
        match (self.rho_of_epsilon(), self.rho_of_release()) {
            (Some(pure), Some(release)) => pure <= release,
            (pure, _) => pure.is_some(),
        }
    }

    /// How far the gap between two scores can move: as far as one of them where all move alike,
    /// else twice as far.
    fn swing(&self, moved: f64) -> f64 {
        match self.spec.change {
            Change::Monotone => moved,
            Change::General => 2.0 * moved,
        }
    }
}

/// Whole numbers up to here are doubles.
const LARGEST_EXACT: f64 = 9_007_199_254_740_992.0;
