//! How far released places are from where they are: what to tell people beside a release, before
//! and after it.
//!
//! Lengths are in metres on the plane of the region, where no distance is shorter than on the
//! earth. They are for places inside: one that is outside of the region is released as if it were
//! on its rim.

use std::f64::consts::LN_2;

use eke_budget::{Amount, Epsilon, Rho};
use eke_noise::law::Radius;
use eke_noise::release::PointsRelease;

use crate::Tuple;
use crate::earth::region::SLACK;
use crate::width::{Miss, chi_width};

/// How far the points of a released tuple are off, in metres. Floats, which no outcome depends on.
///
/// - Theorem: gaussian-blur (docs/theorems.md), and planar-radius for planar noise
/// - Proves: a point is beyond [`Blur::within`] with probability `beta` at most, and any of them
///   beyond [`Blur::all_within`]
/// - Assumes: the noise has its law (its sampler); places are inside of the region
/// - Deviates: in floating point, and rounded up by 1e-9 of itself; means are those of noise that
///   is not on a lattice
/// - Checked by: `noise_is_within_what_is_stated_of_it`, `blurs_match_the_golden_values`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blur {
    law: Law,
    dimensions: usize,
    points: usize,
    /// The step of the lattice, in metres.
    step: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Law {
    /// The standard deviation in every coordinate, in steps.
    Gaussian(f64),
    Planar(Radius),
}

impl Blur {
    /// Of a tuple with Gaussian noise of this price; none if it costs nothing.
    #[must_use]
    pub fn gaussian(tuple: &Tuple, rho: Amount<Rho>) -> Option<Self> {
        let deviation = tuple.length().get() / (2.0 * rho.to_f64()).sqrt();
        deviation.is_finite().then(|| Self::new(tuple, Law::Gaussian(deviation)))
    }

    /// Of a tuple with planar Laplace noise on each point, of this price in all; none if it cannot
    /// be drawn.
    #[must_use]
    pub fn planar(tuple: &Tuple, epsilon: Amount<Epsilon>) -> Option<Self> {
        let release = PointsRelease { epsilon, sensitivity: tuple.lengths() };
        Some(Self::new(tuple, Law::Planar(release.radius()?)))
    }

    fn new(tuple: &Tuple, law: Law) -> Self {
        let lattice = tuple.lattice();
        let (dimensions, step) = (lattice.dimensions(), lattice.grid().step());
        Self { law, dimensions, points: tuple.points(), step }
    }

    /// How far a point is off, on average.
    #[must_use]
    pub fn mean(&self) -> f64 {
        let steps = match self.law {
            Law::Gaussian(deviation) => deviation * mean_length(self.dimensions),
            Law::Planar(radius) => radius.mean(),
        };
        steps * self.step
    }

    /// What a point is within, except with probability `beta`; none unless that is between zero, or
    /// what is as good as that, and one.
    #[must_use]
    pub fn within(&self, beta: f64) -> Option<f64> {
        if !(beta > 0.0 && beta < 1.0) {
            return None;
        }
        let diagonal = number(self.dimensions).sqrt();
        let steps = match self.law {
            Law::Gaussian(deviation) => {
                let cells = libm::exp(-number(self.dimensions) / (24.0 * deviation * deviation));
                let miss = Miss::new((beta * cells).min(0.5)).ok()?;
                deviation * chi_width(self.dimensions, miss) + diagonal
            }
            Law::Planar(radius) => radius.on_lattice(beta)?,
        };
        // And half a diagonal for where the point was put.
        Some(((steps + diagonal / 2.0) * self.step + SLACK) * (1.0 + 1e-9))
    }

    /// What all points are within, except with probability `beta`; none where one of them has none.
    #[must_use]
    pub fn all_within(&self, beta: f64) -> Option<f64> {
        self.within(-libm::expm1(libm::log1p(-beta) / number(self.points)))
    }
}

/// The mean length of a vector of d standard normals: `sqrt(2) Γ((d + 1)/2)/Γ(d/2)`.
fn mean_length(dimensions: usize) -> f64 {
    let half = number(dimensions) / 2.0;
    libm::exp(libm::lgamma(half + 0.5) - libm::lgamma(half) + LN_2 / 2.0)
}

fn number(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TupleMetric;
    use eke_budget::Metres;

    fn tuple(dimensions: usize, points: usize) -> Tuple {
        let bound = Metres::new(1000.0).unwrap();
        Tuple::boxed(dimensions, bound, Metres::ONE, points, TupleMetric::Sum).unwrap()
    }

    /// In closed form, and from mpmath at forty digits.
    #[test]
    fn blurs_match_the_golden_values() {
        // Means: sqrt(2/π), sqrt(π/2), 2 sqrt(2/π).
        let line = (2.0 / std::f64::consts::PI).sqrt();
        for (dimensions, golden) in
            [(1, line), (2, std::f64::consts::FRAC_PI_2.sqrt()), (3, 2.0 * line)]
        {
            assert!((mean_length(dimensions) / golden - 1.0).abs() < 1e-13, "{dimensions}");
        }
        // On the plane of places: sqrt(π)/(2 sqrt(rho)) metres, and 2/epsilon, but for the lattice.
        let gaussian = Blur::gaussian(&tuple(2, 1), "0.0001".parse().unwrap()).unwrap();
        let planar = Blur::planar(&tuple(2, 1), "0.01".parse().unwrap()).unwrap();
        for (found, golden) in [
            (gaussian.mean(), std::f64::consts::PI.sqrt() / 0.02),
            (planar.mean(), 200.0),
            (gaussian.within(0.05).unwrap(), 100.0 * 20f64.ln().sqrt()),
            (planar.within(0.05).unwrap(), 474.386_451_839_057_9),
        ] {
            assert!((1.0..1.002).contains(&(found / golden)), "{found} {golden}");
        }
    }

    /// Summed over the lattice, for noise of a few steps: no more than beta is beyond, and not much
    /// less; of several points no more than beta for any of them.
    #[test]
    fn noise_is_within_what_is_stated_of_it() {
        for (deviation, reach) in [(0.7, 8i64), (2.5, 25), (8.0, 70)] {
            for points in [1, 7] {
                let blur = Blur { law: Law::Gaussian(deviation), dimensions: 2, points, step: 1.0 };
                let beyond = |radius: f64| {
                    let (mut all, mut out) = (0.0, 0.0);
                    for (x, y) in
                        (-reach..=reach).flat_map(|x| (-reach..=reach).map(move |y| (x, y)))
                    {
                        let square = (x * x + y * y) as f64;
                        let weight = (-square / (2.0 * deviation * deviation)).exp();
                        all += weight;
                        out += if square.sqrt() > radius { weight } else { 0.0 };
                    }
                    out / all
                };
                for beta in [0.3, 0.05, 1e-3] {
                    let found = beyond(blur.within(beta).unwrap());
                    assert!(found <= beta, "{deviation} {beta}: {found}");
                    assert!(deviation < 5.0 || found > beta / 4.0, "{deviation} {beta}: {found}");
                    let all = 1.0
                        - (1.0 - beyond(blur.all_within(beta).unwrap()))
                            .powi(points.try_into().unwrap());
                    assert!(all <= beta, "{deviation} {points} {beta}: {all}");
                }
            }
        }
    }

    #[test]
    fn blurs_of_nothing_are_none() {
        assert_eq!(Blur::gaussian(&tuple(2, 3), Amount::ZERO), None);
        assert_eq!(Blur::planar(&tuple(2, 3), Amount::ZERO), None);
        assert_eq!(Blur::planar(&tuple(4, 3), "1".parse().unwrap()), None);
        let blur = Blur::gaussian(&tuple(5, 3), "1".parse().unwrap()).unwrap();
        for beta in [0.0, 1.0, -1.0, f64::NAN] {
            assert_eq!((blur.within(beta), blur.all_within(beta)), (None, None));
        }
        assert!(blur.all_within(1e-90).unwrap() > blur.within(1e-90).unwrap());
        assert!(blur.within(0.999).unwrap() <= blur.within(0.5).unwrap());
    }
}
