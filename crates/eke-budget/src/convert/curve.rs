//! What zCDP means in (epsilon, delta), whatever the method, also in a metric.

use crate::number::enclosure::{Enclosure, largest};
use crate::number::parameter::ParameterError;
use crate::{Delta, Epsilon, Metres, Rho};

/// Why a conversion has no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// A rho so large that at this epsilon nothing is promised.
    #[error(
        "rho {rho} promises nothing at epsilon {epsilon}: delta would be 1; ask at a larger epsilon"
    )]
    NothingPromised {
        /// The rho that was to be converted.
        rho: Rho,
        /// The epsilon at which delta was asked for.
        epsilon: Epsilon,
    },
    /// No rho keeps the promise.
    #[error("no rho keeps epsilon {epsilon} at delta {delta}: ask for a larger one of the two")]
    NothingFits {
        /// The epsilon to be kept.
        epsilon: Epsilon,
        /// The delta to be kept.
        delta: Delta,
    },
    /// The answer is outside the range of the parameter it would be.
    #[error("the answer is out of range: {0}")]
    OutOfRange(#[from] ParameterError),
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::super::Method {}
    impl Sealed for super::super::GaussianCurve {}
}

/// A bound on the trade-off between epsilon and delta that a rho implies.
///
/// The methods ending in `within` are for a metric: rho is per unit of distance squared, epsilon
/// per unit of distance, and the promise covers inputs at most `reach` apart.
///
/// - Theorem: cgp-to-gp (docs/theorems.md)
/// - Proves: the worst pair is the one at distance `reach`, so epsilon per unit of distance is the
///   epsilon of `rho · reach²` divided by `reach`
/// - Assumes: rho bounds the loss at every distance up to `reach` (caller)
/// - Deviates: products and quotients with the reach are rounded to the safe side
/// - Checked by: `conversions_match_the_golden_values`
pub trait Curve: sealed::Sealed {
    #[doc(hidden)]
    fn epsilon_bound(&self, rho: f64, delta: f64) -> f64;

    #[doc(hidden)]
    fn ln_delta_bound(&self, rho: f64, epsilon: f64) -> f64;

    /// The epsilon promised at this delta.
    ///
    /// # Errors
    /// The answer is larger than an epsilon can be.
    fn epsilon(&self, rho: Rho, delta: Delta) -> Result<Epsilon, ConvertError> {
        self.epsilon_within(rho, delta, Metres::ONE)
    }

    /// The delta promised at this epsilon.
    ///
    /// # Errors
    /// Nothing is promised at this epsilon.
    fn delta(&self, rho: Rho, epsilon: Epsilon) -> Result<Delta, ConvertError> {
        self.delta_within(rho, epsilon, Metres::ONE)
    }

    /// The largest rho that keeps this promise: the budget that belongs to a target.
    ///
    /// # Errors
    /// No rho keeps the promise.
    fn rho(&self, epsilon: Epsilon, delta: Delta) -> Result<Rho, ConvertError> {
        self.rho_within(epsilon, delta, Metres::ONE)
    }

    /// The natural logarithm of the delta promised at this epsilon, for deltas too small to write.
    /// It is never positive.
    fn ln_delta(&self, rho: Rho, epsilon: Epsilon) -> f64 {
        self.ln_delta_bound(rho.get(), epsilon.get()).min(0.0)
    }

    /// The epsilon per unit of distance promised at this delta for inputs within reach.
    ///
    /// # Errors
    /// The answer is larger than an epsilon can be.
    fn epsilon_within(
        &self,
        rho: Rho,
        delta: Delta,
        reach: Metres,
    ) -> Result<Epsilon, ConvertError> {
        Ok(Epsilon::new(epsilon_at(self, rho.get(), delta, reach))?)
    }

    /// The delta promised at this epsilon per unit of distance for inputs within reach.
    ///
    /// # Errors
    /// Nothing is promised at this epsilon.
    fn delta_within(
        &self,
        rho: Rho,
        epsilon: Epsilon,
        reach: Metres,
    ) -> Result<Delta, ConvertError> {
        let at_reach = Enclosure::written(epsilon.get()) * Enclosure::written(reach.get());
        let ln_delta =
            self.ln_delta_bound(times_square(rho.get(), reach).upper(), at_reach.lower());
        let bound = Enclosure::exact(ln_delta).exp().upper();
        if bound < 1.0 {
            Ok(Delta::new(bound.max(Delta::FLOOR.get()))?)
        } else {
            Err(ConvertError::NothingPromised { rho, epsilon })
        }
    }

    /// The largest rho per unit of distance squared that keeps this promise for inputs within
    /// reach.
    ///
    /// # Errors
    /// No rho keeps the promise.
    fn rho_within(
        &self,
        epsilon: Epsilon,
        delta: Delta,
        reach: Metres,
    ) -> Result<Rho, ConvertError> {
        let keeps = |rho: f64| epsilon_at(self, rho, delta, reach) <= epsilon.get();
        // No rho is larger than the largest parameter.
        let rho = largest(f64::MIN_POSITIVE, Rho::LARGEST.get(), keeps);
        if keeps(rho) {
            Ok(Rho::new(rho)?)
        } else {
            Err(ConvertError::NothingFits { epsilon, delta })
        }
    }
}

/// The epsilon of this rho per unit of distance, and at least the smallest there is.
fn epsilon_at<T: Curve + ?Sized>(curve: &T, rho: f64, delta: Delta, reach: Metres) -> f64 {
    let at_reach = curve.epsilon_bound(times_square(rho, reach).upper(), delta.get());
    let bound = if reach == Metres::ONE {
        at_reach
    } else {
        (Enclosure::exact(at_reach) / Enclosure::written(reach.get())).upper()
    };
    if bound < Epsilon::FLOOR.get() { Epsilon::FLOOR.get() } else { bound }
}

fn times_square(rho: f64, reach: Metres) -> Enclosure {
    if reach == Metres::ONE {
        return Enclosure::exact(rho);
    }
    Enclosure::written(rho) * Enclosure::written(reach.get()).square()
}
