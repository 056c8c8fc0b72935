//! How nearest places and hulls are released, and what is drawn for it.

use std::error::Error;

use eke_budget::{Amount, Epsilon, Rho};
use eke_geo::person::{HullPlan, NearestMethod};
use eke_geo::shape::Convex;
use eke_geo::{Lattice, Nearest, PlacePrice, Places, hull, nearest};
use eke_noise::law::PlanarLaplace;
use eke_noise::select::{Allotment, Prepaid};
use eke_noise::{DiscreteGaussian, Ratio};
use eke_testkit::Seeded;

use super::trace::apart;
use crate::experiments::geo_identity::advantaged;
use crate::{account, paid};

/// A way to tell something of places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Noise on every place, in epsilon.
    NoiseEpsilon,
    /// Noise on every place, in rho.
    NoiseRho,
    /// As published, in epsilon.
    PaperEpsilon,
    /// As published, in rho.
    PaperRho,
    /// By picks, in epsilon.
    EkeEpsilon,
    /// By picks, in rho.
    EkeRho,
}

impl Way {
    pub(super) const ALL: [Self; 6] = [
        Self::NoiseEpsilon,
        Self::NoiseRho,
        Self::PaperEpsilon,
        Self::PaperRho,
        Self::EkeEpsilon,
        Self::EkeRho,
    ];

    pub(super) fn label(self) -> &'static str {
        match self {
            Self::NoiseEpsilon => "noise on every place, GP",
            Self::NoiseRho => "noise on every place, CGP",
            Self::PaperEpsilon => "paper, GP",
            Self::PaperRho => "paper, CGP",
            Self::EkeEpsilon => "eke, GP",
            Self::EkeRho => "eke, CGP",
        }
    }

    /// The distances from a point to the places released as nearest, summed, over those to the
    /// nearest ones; and how many metres further each is, on average.
    pub(super) fn ratio(
        self,
        lattice: Lattice,
        points: &[[f64; 2]],
        to: [f64; 2],
        (count, rho): (usize, f64),
        seeded: &mut Seeded,
    ) -> Result<[f64; 2], Box<dyn Error>> {
        let count = count.min(points.len());
        let mut distances: Vec<f64> = points.iter().map(|&point| apart(point, to)).collect();
        let found: Vec<usize> = match self {
            Self::NoiseEpsilon | Self::NoiseRho => {
                let noisy = self.noisy(lattice, points, rho, seeded)?;
                let noisy: Vec<f64> = noisy.into_iter().map(|point| apart(point, to)).collect();
                let mut order: Vec<usize> = (0..points.len()).collect();
                order.select_nth_unstable_by(count - 1, |a, b| noisy[*a].total_cmp(&noisy[*b]));
                order.truncate(count);
                order
            }
            Self::PaperEpsilon | Self::PaperRho | Self::EkeEpsilon | Self::EkeRho => {
                let places = Places::new(lattice, points);
                let method = match self {
                    Self::PaperEpsilon | Self::PaperRho => NearestMethod::Paper { margin: None },
                    _ => NearestMethod::Ranked,
                };
                let question =
                    Nearest { to: lattice.put(&to), count: u32::try_from(count)?, method };
                let told = match self {
                    Self::PaperRho | Self::EkeRho => {
                        nearest(&places, &question, bought::<Rho>(rho)?, seeded)?
                    }
                    _ => nearest(&places, &question, bought::<Epsilon>(epsilon(rho))?, seeded)?,
                };
                told.get().into_iter().map(|item| item as usize).collect()
            }
        };
        let told: f64 = found.iter().map(|&item| distances[item]).sum();
        distances.select_nth_unstable_by(count - 1, f64::total_cmp);
        let least: f64 = distances[..count].iter().sum();
        // A place on the very spot counts as half a metre away, as its square metre reaches.
        let count = f64::from(u32::try_from(count)?);
        let floor = 0.5 * count;
        Ok([told.max(floor) / least.max(floor), (told - least) / count])
    }

    /// What the released hull and the true one share, as a part of both together.
    pub(super) fn shared(
        self,
        lattice: Lattice,
        points: &[[f64; 2]],
        rho: f64,
        seeded: &mut Seeded,
    ) -> Result<f64, Box<dyn Error>> {
        let put = |point: &[f64; 2]| -> [i64; 2] { point.map(|at| lattice.grid().steps(at)) };
        let truth = Convex::around(points.iter().map(put));
        let told = match self {
            Self::NoiseEpsilon | Self::NoiseRho => {
                let noisy = self.noisy(lattice, points, rho, seeded)?;
                Some(Convex::around(noisy.iter().map(put)))
            }
            Self::PaperEpsilon | Self::PaperRho | Self::EkeEpsilon | Self::EkeRho => {
                let places = Places::new(lattice, points);
                let plan = match self {
                    Self::PaperEpsilon | Self::PaperRho => HullPlan::published(),
                    _ => HullPlan::default(),
                };
                match self {
                    Self::PaperRho | Self::EkeRho => {
                        hull(&places, &plan, bought::<Rho>(rho)?, seeded)?.outline
                    }
                    _ => hull(&places, &plan, bought::<Epsilon>(epsilon(rho))?, seeded)?.outline,
                }
            }
        };
        Ok(told.ok_or("a hull on the plane has an outline")?.jaccard(&truth))
    }

    /// All places with noise of their own, a part of the price each.
    fn noisy(
        self,
        lattice: Lattice,
        points: &[[f64; 2]],
        rho: f64,
        seeded: &mut Seeded,
    ) -> Result<Vec<[f64; 2]>, Box<dyn Error>> {
        let (step, metre) = (lattice.grid().step(), lattice.sensitivity().get());
        let there = f64::from(u32::try_from(points.len())?);
        let mut noise = vec![[0i64; 2]; points.len()];
        if self == Self::NoiseRho {
            let variance =
                Ratio::from_f64(metre * metre * there / (2.0 * rho)).ok_or("no noise")?;
            DiscreteGaussian::new(&variance)?.fill(noise.as_flattened_mut(), seeded);
        } else {
            let rate = Ratio::from_f64(epsilon(rho) / there / metre).ok_or("no noise")?;
            PlanarLaplace::<2>::new(&rate)?.fill(&mut noise, seeded);
        }
        let moved = |(point, noise): (&[f64; 2], &[i64; 2])| {
            [0, 1].map(|axis| point[axis] + noise[axis] as f64 * step)
        };
        Ok(points.iter().zip(&noise).map(moved).collect())
    }
}

/// The epsilon per metre that the paper takes for as good as a rho per square metre.
fn epsilon(rho: f64) -> f64 {
    advantaged(rho, 1e-10)
}

fn bought<C: PlacePrice>(price: f64) -> Result<Prepaid<C>, Box<dyn Error>> {
    let price = Amount::<C>::floor(price)?;
    Ok(Prepaid::open(paid(&mut account(), Allotment { price })?))
}
