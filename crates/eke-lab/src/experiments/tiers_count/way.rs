//! Ways to tell a count to tiers: what each answer is off by, computed and drawn.

use std::error::Error;

use eke_budget::convert::{Curve, Method, SkellamCurve};
use eke_budget::{Amount, Delta, Epsilon, L1, L2, NoHistory, PathId, Price, Rho};
use eke_noise::law::{GeometricLevel, SkellamLevel};
use eke_noise::{
    AccountPayer, Entropy, Exact, GaussianPath, GeometricPath, LaplacePath, NoisePath, Ratio,
    release_tiers,
};

use crate::account;

/// A way to tell a count to tiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Geometric noise, along one path.
    Geometric,
    /// Laplace noise, along one path.
    Laplace,
    /// Gaussian noise, along one path, at a delta.
    Gaussian,
    /// Skellam noise, along one path, at a delta.
    Skellam,
    /// Independent geometric answers for what each tier has more, averaged.
    Gradual,
    /// An independent geometric answer for each tier: the best there is, if nobody compares.
    Single,
}

impl Way {
    /// All of them.
    pub(crate) const ALL: [Self; 6] = [
        Self::Single,
        Self::Geometric,
        Self::Laplace,
        Self::Gradual,
        Self::Gaussian,
        Self::Skellam,
    ];

    /// Those that are quick to price: all but Skellam noise, which is hardly wider than Gaussian
    /// noise.
    pub(crate) const QUICK: [Self; 5] =
        [Self::Single, Self::Geometric, Self::Laplace, Self::Gradual, Self::Gaussian];

    /// For people.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Geometric => "geometric, one path",
            Self::Laplace => "laplace, one path",
            Self::Gaussian => "gaussian, one path",
            Self::Skellam => "skellam, one path",
            Self::Gradual => "geometric, gradual release",
            Self::Single => "geometric, single tier",
        }
    }

    /// Whether it has a delta.
    pub(crate) fn has_delta(self) -> bool {
        matches!(self, Self::Gaussian | Self::Skellam)
    }

    /// The mean squared error of each tier, computed. Tiers are in order, the coarsest first.
    ///
    /// # Errors
    /// A tier has no price.
    pub(crate) fn errors(self, tiers: &[f64], delta: Delta) -> Result<Vec<f64>, Box<dyn Error>> {
        match self {
            Self::Geometric | Self::Single => {
                Ok(tiers.iter().map(|&tier| geometric(tier)).collect())
            }
            Self::Laplace => Ok(tiers.iter().map(|&tier| laplace(tier)).collect()),
            Self::Skellam => variances(tiers, delta),
            Self::Gaussian => {
                let rhos = rhos(tiers, delta)?;
                Ok(rhos.into_iter().map(|rho| 1.0 / (2.0 * rho.get())).collect())
            }
            Self::Gradual => {
                let mut precision = 0.0;
                let parts = slices(tiers).map(|slice| {
                    precision += 1.0 / geometric(slice);
                    1.0 / precision
                });
                Ok(parts.collect())
            }
        }
    }

    /// What is needed to draw all tiers again and again.
    ///
    /// # Errors
    /// A tier has no price or cannot be drawn.
    pub(crate) fn prepare(self, tiers: &[f64], delta: Delta) -> Result<Prepared, Box<dyn Error>> {
        let level = |rate: f64| {
            Ok::<_, Box<dyn Error>>(GeometricLevel::new(&Ratio::from_f64(rate).ok_or("no rate")?))
        };
        Ok(match self {
            Self::Geometric => Prepared::Geometric(epsilons(tiers)?),
            Self::Gaussian => {
                Prepared::Gaussian(rhos(tiers, delta)?.into_iter().map(Amount::at_most).collect())
            }
            Self::Laplace => Prepared::Laplace(epsilons(tiers)?),
            Self::Skellam => {
                let levels = variances(tiers, delta)?.into_iter().map(|variance| {
                    let lambda = Ratio::from_f64(variance / 2.0).ok_or("no variance")?;
                    Ok::<_, Box<dyn Error>>(SkellamLevel::new(&lambda))
                });
                Prepared::Skellam(levels.collect::<Result<_, _>>()?)
            }
            Self::Single => {
                Prepared::Single(tiers.iter().map(|&tier| level(tier)).collect::<Result<_, _>>()?)
            }
            Self::Gradual => {
                let slices = slices(tiers)
                    .map(|slice| Ok::<_, Box<dyn Error>>((level(slice)?, 1.0 / geometric(slice))));
                Prepared::Gradual(slices.collect::<Result<_, _>>()?)
            }
        })
    }
}

/// Tiers that are priced.
pub(crate) enum Prepared {
    /// By epsilon.
    Geometric(Vec<Amount<Epsilon>>),
    /// By epsilon.
    Laplace(Vec<Amount<Epsilon>>),
    /// By rho.
    Gaussian(Vec<Amount<Rho>>),
    /// By levels of noise, which a path would have to price again for every draw.
    Skellam(Vec<SkellamLevel>),
    /// By levels of noise.
    Single(Vec<GeometricLevel>),
    /// By the levels of what each tier has more, with their weights.
    Gradual(Vec<(GeometricLevel, f64)>),
}

/// Steps of the grid in one, for noise that needs a grid.
const GRID: i32 = 1024;

impl Prepared {
    /// How far off each tier's answer is, in one draw of all of them.
    ///
    /// # Errors
    /// The noise is too wide.
    pub(crate) fn draw<E: Entropy>(&self, entropy: &mut E) -> Result<Vec<f64>, Box<dyn Error>> {
        let id = PathId::new([3; 32]);
        match self {
            Self::Geometric(prices) => {
                let sensitivity = L1::new(1.0)?;
                along(GeometricPath::open(id, sensitivity), sensitivity, 1, prices, entropy)
            }
            Self::Laplace(prices) => {
                let sensitivity = L1::new(f64::from(GRID))?;
                along(LaplacePath::open(id, sensitivity), sensitivity, GRID, prices, entropy)
            }
            Self::Skellam(levels) => {
                let mut draws = Vec::with_capacity(levels.len());
                let mut finer: Option<(&SkellamLevel, i64)> = None;
                for level in levels.iter().rev() {
                    let noise = match finer {
                        None => level.draw(entropy)?,
                        Some((finer, noise)) => finer.coarser(noise, level, entropy)?,
                    };
                    finer = Some((level, noise));
                    draws.push(noise as f64);
                }
                draws.reverse();
                Ok(draws)
            }
            Self::Gaussian(prices) => {
                let sensitivity = L2::new(f64::from(GRID))?;
                along(GaussianPath::open(id, sensitivity), sensitivity, GRID, prices, entropy)
            }
            Self::Single(levels) => levels.iter().map(|level| noise(level, entropy)).collect(),
            Self::Gradual(slices) => {
                let (mut sum, mut weights) = (0.0, 0.0);
                let draw = slices.iter().map(|(level, weight)| {
                    sum += weight * noise(level, entropy)?;
                    weights += weight;
                    Ok(sum / weights)
                });
                draw.collect()
            }
        }
    }
}

/// A count, told along a path by eke's own verb, and how far off each answer is.
fn along<P, E>(
    mut path: P,
    sensitivity: <P::Currency as Price>::Sensitivity,
    grid: i32,
    prices: &[Amount<P::Currency>],
    entropy: &mut E,
) -> Result<Vec<f64>, Box<dyn Error>>
where
    P: NoisePath<Value = i64>,
    E: Entropy,
{
    let truth = i64::from(grid) * 1000;
    let exact = Exact::new(truth, L1::new(f64::from(grid))?);
    let mut account = account();
    let mut payer = AccountPayer { account: &mut account, journal: &mut NoHistory };
    let answers = release_tiers(&mut path, &exact, sensitivity, prices, &mut payer, entropy)?;
    let off = |answer: i64| (answer - truth) as f64 / f64::from(grid);
    Ok(answers.into_iter().map(|answer| off(answer.get())).collect())
}

fn noise<E: Entropy>(level: &GeometricLevel, entropy: &mut E) -> Result<f64, Box<dyn Error>> {
    Ok(level.draw(entropy)? as f64)
}

/// The variance of geometric noise: `2p/(1-p)²`, `p = exp(-epsilon)`.
fn geometric(epsilon: f64) -> f64 {
    0.5 / (epsilon / 2.0).sinh().powi(2)
}

/// The variance of Laplace noise.
fn laplace(epsilon: f64) -> f64 {
    2.0 / (epsilon * epsilon)
}

/// The variances of Skellam noise.
fn variances(tiers: &[f64], delta: Delta) -> Result<Vec<f64>, Box<dyn Error>> {
    let one = L1::new(1.0)?;
    let variance = |rho: Rho| Ok(SkellamCurve::variance(Amount::at_most(rho), one)?.get());
    rhos(tiers, delta)?.into_iter().map(variance).collect()
}

/// What each tier has beyond the next coarser one.
fn slices(tiers: &[f64]) -> impl Iterator<Item = f64> {
    let before = std::iter::once(0.0).chain(tiers.iter().copied());
    tiers.iter().zip(before).map(|(tier, before)| tier - before)
}

fn epsilons(tiers: &[f64]) -> Result<Vec<Amount<Epsilon>>, Box<dyn Error>> {
    tiers.iter().map(|&tier| Ok(Amount::at_most(Epsilon::new(tier)?))).collect()
}

fn rhos(tiers: &[f64], delta: Delta) -> Result<Vec<Rho>, Box<dyn Error>> {
    tiers.iter().map(|&tier| Ok(Method::Tight.rho(Epsilon::new(tier)?, delta)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delta() -> Delta {
        Delta::new(1e-6).unwrap()
    }

    #[test]
    fn gradual_release_of_even_slices_averages_them() {
        let errors = Way::Gradual.errors(&[0.5, 1.0, 1.5, 2.0], delta()).unwrap();
        for (index, error) in errors.iter().enumerate() {
            let expected = geometric(0.5) / (index as f64 + 1.0);
            assert!((error / expected - 1.0).abs() < 1e-12);
        }
        // The paper's example, which is about Laplace noise: m slices of epsilon/m have m times the
        // variance.
        let fine = Way::Gradual.errors(&[0.001, 0.002, 0.003, 0.004], delta()).unwrap();
        assert!((fine[3] / geometric(0.004) - 4.0).abs() < 1e-4);
    }

    #[test]
    fn a_path_is_as_good_as_a_single_tier_and_gradual_release_is_worse() {
        let tiers = [0.2, 0.9, 1.0, 3.0];
        let [single, path, gradual] = [Way::Single, Way::Geometric, Way::Gradual]
            .map(|way| way.errors(&tiers, delta()).unwrap());
        assert_eq!(single, path);
        assert!((gradual[0] / single[0] - 1.0).abs() < 1e-12);
        assert!(
            gradual.iter().zip(&single).skip(1).all(|(gradual, single)| *gradual > 1.05 * single)
        );
    }
}
