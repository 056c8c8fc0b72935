//! Residuals in closed form: independent parts whose sum is the residual.

use std::fmt;

use serde::Serialize;

use crate::residual::law::{Kind, NoiseLaw};
use crate::residual::transform::narrow_weight;
use crate::residual::{Probabilities, digits};

/// One of the independent parts that a residual is the sum of.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "part", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ResidualPart {
    /// Noise of a law.
    Noise {
        /// The law.
        law: NoiseLaw,
    },
    /// A multiple of a law's noise, or with a probability nothing.
    Maybe {
        /// The probability of nothing.
        nothing: f64,
        /// What the noise is multiplied by.
        times: u32,
        /// The law.
        law: NoiseLaw,
    },
    /// A planar residual: with N negative binomial (`shape` successes of probability `chance`) and
    /// G gamma of shape N and this rate, normal noise of variance 2G in each coordinate.
    PlanarJumps {
        /// How many successes, not always a whole number.
        shape: f64,
        /// The probability of each, which to the power of the shape is that of no residual.
        chance: f64,
        /// The rate of the gamma law.
        rate: f64,
    },
    /// The sum of differences of two coins that show one with probability `q^m/(1 + q^m)`,
    /// `q = exp(-1/(2 sigma²))`, for all odd m that are not multiples of `skip`.
    Coins {
        /// The sigma of the coarser law.
        sigma: f64,
        /// The ratio of the variances, an odd number.
        skip: u32,
    },
    /// One of `count` points of a line, each as likely as the others, `step` apart and around zero.
    Steps {
        /// How many points.
        count: u32,
        /// How far apart.
        step: f64,
    },
    /// A whole number of these probabilities, computed in doubles.
    Whole {
        /// Them.
        probabilities: Probabilities,
    },
    /// Density proportional to `sinh((1 - |x|)/scale)` between -1 and 1.
    Tent {
        /// The scale of the Laplace noise that it completes.
        scale: f64,
    },
    /// Uniform on one of two intervals around zero.
    TwoUniforms {
        /// The probability of the first.
        first: f64,
        /// The width of each.
        widths: (f64, f64),
    },
}

impl fmt::Display for ResidualPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Noise { law } => write!(f, "noise of {law}"),
            Self::Maybe { nothing, times, law } => {
                if *nothing > 0.0 {
                    write!(f, "0 with probability {}, else ", digits(*nothing))?;
                }
                match times {
                    1 => write!(f, "noise of {law}"),
                    _ => write!(f, "{times} times noise of {law}"),
                }
            }
            Self::PlanarJumps { shape, chance, rate } => write!(
                f,
                "normal noise of variance 2G per coordinate, G gamma of shape N and rate {}, N negative binomial \
                 ({shape} successes of probability {}; 0 with probability {})",
                digits(*rate),
                digits(*chance),
                digits(chance.powf(*shape))
            ),
            Self::Coins { sigma, skip } => write!(
                f,
                "for each odd m that is no multiple of {skip}, the difference of two coins that show 1 with \
                 probability q^m/(1 + q^m), q = {}",
                digits((-0.5 / (sigma * sigma)).exp())
            ),
            Self::Steps { count, step } => {
                write!(f, "one of {count} points around 0, {} apart, each as likely", digits(*step))
            }
            Self::Whole { probabilities } => write!(
                f,
                "a whole number, 0 with probability {}, worked out with an error of at most {}",
                digits(probabilities.values.first().copied().unwrap_or(0.0)),
                digits(probabilities.error)
            ),
            Self::Tent { scale } => {
                let scale = digits(*scale);
                write!(
                    f,
                    "a number with density proportional to sinh((1 - |x|)/{scale}) between -1 and 1"
                )
            }
            Self::TwoUniforms { first, widths } => write!(
                f,
                "noise of uniform:{} with probability {}, else of uniform:{}",
                digits(widths.0),
                digits(*first),
                digits(widths.1)
            ),
        }
    }
}

/// Ratios this close to a whole number are one: parameters such as the root of 3 have no double.
const WHOLE: f64 = 1e-14;

/// The residual between two laws that have one in closed form. None says nothing.
///
/// - Theorem: residual-closed (docs/theorems.md)
/// - Proves: `from` plus the independent parts has the law `to`
/// - Assumes: the laws are called by their plainest names (caller)
/// - Deviates: probabilities are doubles; ratios within 1e-14 of an odd or whole number count as
///   one
/// - Checked by: `closed_forms_are_what_the_coefficients_say`,
///   `closed_forms_have_the_transform_of_the_residual`, `residual_weights_match_the_golden_values`
pub(crate) fn closed(from: NoiseLaw, to: NoiseLaw) -> Option<Vec<ResidualPart>> {
    let one = |kind: Kind| vec![ResidualPart::Noise { law: NoiseLaw(kind) }];
    match (from.0, to.0) {
        (Kind::Gaussian { sigma: fine }, Kind::Gaussian { sigma: coarse }) if fine < coarse => {
            Some(one(Kind::Gaussian { sigma: ((coarse - fine) * (coarse + fine)).sqrt() }))
        }
        (Kind::Laplace { scale: fine }, Kind::Laplace { scale: coarse }) if fine < coarse => {
            let nothing = (fine / coarse) * (fine / coarse);
            Some(vec![ResidualPart::Maybe { nothing, times: 1, law: to }])
        }
        (Kind::Skellam { lambda: fine }, Kind::Skellam { lambda: coarse }) if fine < coarse => {
            Some(one(Kind::Skellam { lambda: coarse - fine }))
        }
        (
            Kind::Geometric { .. } | Kind::MsdLap { .. },
            Kind::Geometric { .. } | Kind::MsdLap { .. },
        ) => weighted(geometric(from)?, geometric(to)?),
        (Kind::DiscreteGaussian { sigma: fine }, Kind::DiscreteGaussian { sigma: coarse }) => {
            let skip = odd((coarse / fine) * (coarse / fine))?;
            Some(vec![ResidualPart::Coins { sigma: coarse, skip }])
        }
        (
            Kind::PlanarLaplace { epsilon: fine, dimension },
            Kind::PlanarLaplace { epsilon: coarse, dimension: other },
        ) if dimension == other && coarse < fine => Some(vec![ResidualPart::PlanarJumps {
            shape: f64::from(dimension + 1) / 2.0,
            chance: (coarse / fine) * (coarse / fine),
            rate: fine * fine,
        }]),
        (Kind::Geometric { rate }, Kind::Laplace { .. } | Kind::Staircase { .. }) => {
            let (middle, last) = geometric_part(to)?;
            let mut parts = weighted((rate, 1), geometric(middle)?)?;
            parts.push(last);
            Some(parts)
        }
        (Kind::Uniform { width: fine }, Kind::Uniform { width: coarse }) => {
            let count = whole(coarse / fine).filter(|&count| count > 1)?;
            Some(vec![ResidualPart::Steps { count, step: fine }])
        }
        _ => None,
    }
}

/// The geometric noise that a continuous law is made of, and what is added to it.
pub(crate) fn geometric_part(law: NoiseLaw) -> Option<(NoiseLaw, ResidualPart)> {
    match law.0 {
        Kind::Laplace { scale } => {
            let middle = NoiseLaw::geometric(1.0 / scale).ok()?;
            Some((middle, ResidualPart::Tent { scale }))
        }
        Kind::Staircase { epsilon, sensitivity, gamma } if (sensitivity - 1.0).abs() <= WHOLE => {
            let widths = (2.0 * gamma, 2.0 * (1.0 - gamma));
            let first = narrow_weight(epsilon, gamma);
            let middle = NoiseLaw(Kind::Geometric { rate: epsilon });
            Some((middle, ResidualPart::TwoUniforms { first, widths }))
        }
        _ => None,
    }
}

/// The rate and the sensitivity of geometric noise, or a weighted sum of it.
fn geometric(law: NoiseLaw) -> Option<(f64, u32)> {
    match law.0 {
        Kind::Geometric { rate } => Some((rate, 1)),
        Kind::MsdLap { epsilon, sensitivity } => Some((epsilon, sensitivity)),
        _ => None,
    }
}

/// Each multiple has its own residual, and those that were not there are added.
fn weighted((fine, from): (f64, u32), (coarse, to): (f64, u32)) -> Option<Vec<ResidualPart>> {
    if coarse > fine || from > to {
        return None;
    }
    let law = NoiseLaw(Kind::Geometric { rate: coarse });
    let ratio = (-coarse).exp_m1() / (-fine).exp_m1();
    let weight = (coarse - fine).exp() * ratio * ratio;
    let part = |times: u32| {
        let nothing = if times <= from { weight } else { 0.0 };
        ResidualPart::Maybe { nothing, times, law }
    };
    let first = if coarse < fine { 1 } else { from + 1 };
    Some((first..=to).map(part).collect())
}

fn whole(ratio: f64) -> Option<u32> {
    let nearest = ratio.round();
    if !(1.0..=1e9).contains(&nearest) || (ratio / nearest - 1.0).abs() > WHOLE {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
    Some(nearest as u32)
}

fn odd(ratio: f64) -> Option<u32> {
    whole(ratio).filter(|&ratio| ratio > 1 && ratio % 2 == 1)
}
