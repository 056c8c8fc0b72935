//! Prices of places as people think of them: how well places within a radius can be distinguished,
//! and how far a released place is off.
//!
//! A price is per metre (epsilon) or per square metre (rho), and says little by itself. A *level*
//! within a radius does: an observer of what is released cannot distinguish two places within the
//! radius of each other better than by the level (geo-indistinguishability). Errors are those of
//! one place on a plane.

use eke_budget::convert::{ConvertError, Curve, Method};
use eke_budget::number::ParameterError;
use eke_budget::{Delta, Epsilon, Metres, Rho};
use serde::{Deserialize, Serialize};

/// How well places that are within a radius of each other can be distinguished, at most.
///
/// - Theorem: cgp-to-gp (docs/theorems.md)
/// - Proves: at `epsilon` per metre places within the radius are distinguished by the level at
///   most, and at `rho` per square metre too, except with probability `delta`
/// - Assumes: the prices bound the loss at every distance up to the radius (the caller, who charges
///   them)
/// - Deviates: prices round down, levels up
/// - Checked by: `levels_match_the_golden_values`, `a_price_never_exceeds_the_level_it_is_for`
///
/// ```
/// use eke_budget::{Delta, Epsilon, Metres};
/// use eke_geo::Level;
/// let level = Level { radius: Metres::new(200.0)?, level: Epsilon::new(1.5)? };
/// assert!((level.epsilon()?.get() - 0.0075).abs() < 1e-12);
/// assert!((level.rho(Delta::new(1e-6)?)?.get() - 1.2951e-6).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "geo-indistinguishability")]
#[doc(alias = "geo-privacy")]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// How far apart two places are.
    pub radius: Metres,
    /// What they are distinguished by, at most.
    pub level: Epsilon,
}

impl Level {
    /// The epsilon per metre that keeps it: the level over the radius.
    ///
    /// # Errors
    /// It is out of range.
    pub fn epsilon(&self) -> Result<Epsilon, ParameterError> {
        Epsilon::new((self.level.get() / self.radius.get()).next_down())
    }

    /// The largest rho per square metre that keeps it, except with probability `delta`.
    ///
    /// # Errors
    /// No rho does.
    pub fn rho(&self, delta: Delta) -> Result<Rho, ConvertError> {
        Method::Tight.rho_within(self.epsilon()?, delta, self.radius)
    }

    /// What an epsilon per metre keeps within a radius.
    ///
    /// # Errors
    /// It is out of range.
    pub fn of_epsilon(epsilon: Epsilon, radius: Metres) -> Result<Self, ParameterError> {
        let level = Epsilon::new((epsilon.get() * radius.get()).next_up())?;
        Ok(Self { radius, level })
    }

    /// What a rho per square metre keeps within a radius, except with probability `delta`.
    ///
    /// # Errors
    /// It is out of range.
    pub fn of_rho(rho: Rho, delta: Delta, radius: Metres) -> Result<Self, ConvertError> {
        let epsilon = Method::Tight.epsilon_within(rho, delta, radius)?;
        Ok(Self::of_epsilon(epsilon, radius)?)
    }
}

/// How far a place with planar Laplace noise is off, on average, in metres: `2/epsilon`.
#[must_use]
pub fn error_of_epsilon(epsilon: Epsilon) -> f64 {
    2.0 / epsilon.get()
}

/// How far a place with Gaussian noise is off, on average, in metres: `sqrt(π)/(2 sqrt(rho))`.
#[must_use]
pub fn error_of_rho(rho: Rho) -> f64 {
    std::f64::consts::PI.sqrt() / (2.0 * rho.get().sqrt())
}

/// The epsilon per metre at which a place is off by this, on average.
///
/// # Errors
/// It is out of range.
pub fn epsilon_for_error(error: Metres) -> Result<Epsilon, ParameterError> {
    Epsilon::new(2.0 / error.get())
}

/// The rho per square metre at which a place is off by this, on average.
///
/// # Errors
/// It is out of range.
pub fn rho_for_error(error: Metres) -> Result<Rho, ParameterError> {
    Rho::new(std::f64::consts::FRAC_PI_4 / error.get() / error.get())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn metres(value: f64) -> Metres {
        Metres::new(value).unwrap()
    }

    /// From mpmath, at forty digits.
    #[test]
    fn levels_match_the_golden_values() {
        for (rho, delta, reach, golden) in [
            (5e-5, 1e-10, 100.0, 0.068_393_294_131_208_48),
            (0.5, 1e-6, 1.0, 5.221_534_444_530_169),
        ] {
            let (rho, delta) = (Rho::new(rho).unwrap(), Delta::new(delta).unwrap());
            let level = Level::of_rho(rho, delta, metres(reach)).unwrap().level.get();
            let excess = level / (golden * reach) - 1.0;
            assert!((0.0..1e-9).contains(&excess), "{level}");
        }
        let level = Level { radius: metres(10.0), level: Epsilon::new(10.0).unwrap() };
        let rho = level.rho(Delta::new(1e-10).unwrap()).unwrap().get();
        let short = 1.0 - rho / 0.009_938_913_988_995_405;
        assert!((0.0..1e-9).contains(&short), "{rho}");
    }

    #[test]
    fn errors_and_prices_belong_together() {
        for error in [0.1, 35.0, 4e3] {
            let (epsilon, rho) =
                (epsilon_for_error(metres(error)).unwrap(), rho_for_error(metres(error)).unwrap());
            assert!((error_of_epsilon(epsilon) / error - 1.0).abs() < 1e-14);
            assert!((error_of_rho(rho) / error - 1.0).abs() < 1e-14);
        }
    }

    proptest! {
        #[test]
        fn a_price_never_exceeds_the_level_it_is_for(
            radius in 0.5f64..5e4,
            level in 0.01f64..20.0,
            log_delta in -40.0f64..-3.0,
        ) {
            let level = Level { radius: metres(radius), level: Epsilon::new(level).unwrap() };
            let delta = Delta::new(log_delta.exp()).unwrap();
            let epsilon = level.epsilon().unwrap();
            prop_assert!(epsilon.get() * radius <= level.level.get());
            prop_assert!(Level::of_epsilon(epsilon, level.radius).unwrap().level.get() >= epsilon.get() * radius);
            let rho = level.rho(delta).unwrap();
            let kept = Level::of_rho(rho, delta, level.radius).unwrap().level.get();
            prop_assert!(kept <= level.level.get() * (1.0 + 1e-14), "{kept}");
            prop_assert!(kept > level.level.get() * 0.999);
        }
    }
}
