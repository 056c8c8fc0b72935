//! Paths of Gaussian noise, priced in zCDP.
//!
//! The truth is an integer on a grid. A path is a list of *increments*: independent discrete Gaussian
//! releases of the truth, each as precise as its price. A point at price r is the average, weighted by
//! price, of the increments up to r. Where r lies inside an increment, a coarser version of that
//! increment takes its place: the increment plus residual noise, drawn once and stored, so that every
//! increment carries a chain of its own from fine to coarse. A version between two stored ones is drawn
//! from the bridge between them; independent residuals would average to more than was paid for.
//!
//! Noise is never narrower than 64 steps squared, residuals included. Above that, sums of discrete
//! Gaussians are discrete Gaussians up to a factor within 1e-270 of one.

use std::collections::BTreeMap;

use dashu_int::IBig;
use eke_budget::{Amount, Coarsen, Delta, L2, PathId, Raise, Receipt, Rho};
use serde::{Deserialize, Serialize};

use crate::path::{Mismatch, MismatchReason, NoisePath};
use crate::{Centre, DiscreteGaussian, Entropy, Exact, Ratio, Released, ScaleError};

/// The narrowest noise on the grid, as a variance in steps squared.
const NARROWEST: u128 = 64;

/// A path of Gaussian noise on an integer truth, priced in rho: a point at rho has variance
/// `sensitivity²/(2 rho)`.
///
/// - Theorem: path-increments (docs/theorems.md)
/// - Proves: everything revealed of the path costs the rho of its finest point
/// - Assumes: the truth has the path's sensitivity and is the same at every step (caller); the step
///   was charged (receipt)
/// - Deviates: truths beyond 2⁶² are clamped to it, which changes no sensitivity; averages are
///   rounded to the grid, which is post-processing
/// - Checked by: `gaussian_points_in_any_order_have_the_covariance_of_one_path`,
///   `a_gaussian_point_has_the_variance_it_was_paid_for`
///
/// Somebody who sees only coarser points sees a law that is a discrete Gaussian up to
/// [`GaussianPath::slack`]:
///
/// - Theorem: gaussian-residuals (docs/theorems.md)
/// - Proves: a coarser version costs its own rho and a delta below the slack
/// - Assumes: no noise is narrower than 64 steps squared (this type)
/// - Deviates: versions closer than that to a finer one are moved to the next coarser that is not
/// - Checked by: `points_too_close_to_another_are_moved_to_a_coarser_one`,
///   `gaussian_points_in_any_order_have_the_covariance_of_one_path`
///
/// Its state is what has been revealed, and can be stored; the truth is not in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GaussianPath {
    id: PathId,
    sensitivity: L2,
    increments: Vec<Increment>,
}

/// One independent release, and its coarser versions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Increment {
    /// The price of the path before it.
    from: Amount<Rho>,
    /// Values by the price of the path they reach; the last one is the release itself.
    versions: BTreeMap<Amount<Rho>, i64>,
}

impl GaussianPath {
    /// What a circle that sees coarser points is charged beside their rho, as a delta: far above the
    /// most that they can differ from discrete Gaussians.
    ///
    /// # Panics
    /// Never: it is a constant.
    #[must_use]
    pub fn slack() -> Delta {
        Delta::new(1e-30).expect("a delta")
    }

    /// A path of which nothing has been revealed. The sensitivity is in steps of the grid.
    #[must_use]
    pub fn open(id: PathId, sensitivity: L2) -> Self {
        Self { id, sensitivity, increments: Vec::new() }
    }

    /// The variance that a price pays for: `sensitivity²/(2 price)`.
    fn variance(&self, price: Amount<Rho>) -> Option<Ratio> {
        let sensitivity = Ratio::from_f64(self.sensitivity.get())?;
        let twice = Ratio::new(price.grains(), Amount::<Rho>::ONE.grains())?.times(&2u8.into());
        Some(sensitivity.squared().over(&twice))
    }

    fn check_raise(&self, truth: &Exact<i64>, raise: &Raise<Rho>) -> Result<Ratio, MismatchReason> {
        if raise.path() != self.id {
            return Err(MismatchReason::OtherPath);
        }
        let ours = self.sensitivity;
        #[expect(clippy::float_cmp, reason = "the same bound, or another path")]
        if raise.sensitivity() != ours || truth.sensitivity().get() != ours.get() {
            return Err(MismatchReason::OtherSensitivity);
        }
        if raise.from() != self.finest() {
            return Err(MismatchReason::OtherStep);
        }
        let variance = self.variance(raise.price()).ok_or(MismatchReason::OtherStep)?;
        if variance.is_below(NARROWEST) {
            return Err(MismatchReason::TooFine);
        }
        Ok(variance)
    }

    /// The increment that a price ends in.
    fn increment(&self, at: Amount<Rho>) -> Option<usize> {
        let index = self.increments.partition_point(|increment| increment.to() < at);
        (index < self.increments.len() && !at.is_zero()).then_some(index)
    }

    /// The average of the increments before one, and of a version of it.
    fn average(&self, index: usize, at: Amount<Rho>, version: i64) -> i64 {
        let mut sum = IBig::ZERO;
        for increment in &self.increments[..index] {
            sum += IBig::from(increment.to().grains() - increment.from.grains())
                * IBig::from(increment.release());
        }
        sum += IBig::from(at.grains() - self.increments[index].from.grains()) * IBig::from(version);
        // To the nearest integer.
        let total = IBig::from(at.grains());
        let twice: IBig = (sum << 1) + &total;
        let rounded = floor_div(&twice, &(total << 1));
        i64::try_from(rounded).unwrap_or(if version < 0 { i64::MIN } else { i64::MAX })
    }

    /// A version of an increment at a price inside it, drawn if need be: the price it is really at,
    /// which is not above the one asked for, and its value.
    fn version<E: Entropy + ?Sized>(
        &self,
        index: usize,
        at: Amount<Rho>,
        entropy: &mut E,
    ) -> Result<(Amount<Rho>, i64), MismatchReason> {
        let increment = &self.increments[index];
        if let Some(&value) = increment.versions.get(&at) {
            return Ok((at, value));
        }
        let (&finer, &fine) =
            increment.versions.range(at..).next().ok_or(MismatchReason::OtherStep)?;
        let coarser = increment.versions.range(..at).next_back().map(|(&at, &value)| (at, value));
        let variance = |at: Amount<Rho>| {
            let price = at.minus(increment.from).ok_or(MismatchReason::OtherStep)?;
            self.variance(price).ok_or(MismatchReason::OtherStep)
        };
        let fine_variance = variance(finer)?;
        // No closer to the finer version than the narrowest noise.
        let limit = self.price_of(&fine_variance.plus_whole(NARROWEST));
        let at =
            limit.and_then(|price| increment.from.plus(price)).map_or(at, |limit| at.min(limit));
        if at <= increment.from {
            return Err(MismatchReason::OtherStep);
        }
        let residual = variance(at)?.minus(&fine_variance).ok_or(MismatchReason::OtherStep)?;
        let Some((coarse_at, coarse)) = coarser else {
            let noise = DiscreteGaussian::once(&residual, entropy).map_err(too_wide)?;
            return Ok((at, fine.saturating_add(noise)));
        };
        // Nor to the coarser one: then that is the answer.
        let beyond = variance(coarse_at)?.minus(&variance(at)?);
        let Some(beyond) = beyond.filter(|beyond| !beyond.is_below(NARROWEST)) else {
            return Ok((coarse_at, coarse));
        };
        // The bridge: around the part of the way that the residual is of both, with their harmonic sum.
        let both = residual.plus(&beyond);
        let way = IBig::from(coarse) - IBig::from(fine);
        let part = residual.over(&both);
        let centre = Centre::from_ratio(&(way * IBig::from(part.numerator)), &part.denominator);
        let narrow = residual.over(&both).by(&beyond);
        let noise = DiscreteGaussian::once_around(&centre, &narrow, entropy).map_err(too_wide)?;
        Ok((at, fine.saturating_add(noise)))
    }

    /// The largest price whose variance is not below this one.
    fn price_of(&self, variance: &Ratio) -> Option<Amount<Rho>> {
        let sensitivity = Ratio::from_f64(self.sensitivity.get())?;
        let price = sensitivity.squared().over(&variance.times(&2u8.into()));
        let grains = price.times(&Amount::<Rho>::ONE.grains().into());
        u128::try_from(&grains.numerator / &grains.denominator).ok().map(Amount::from_grains)
    }
}

impl Increment {
    fn to(&self) -> Amount<Rho> {
        self.versions.last_key_value().map_or(self.from, |(&at, _)| at)
    }

    fn release(&self) -> i64 {
        self.versions.last_key_value().map_or(0, |(_, &value)| value)
    }
}

fn too_wide(error: ScaleError) -> MismatchReason {
    MismatchReason::Level(error.into())
}

/// Rounded down, also below zero.
fn floor_div(numerator: &IBig, denominator: &IBig) -> IBig {
    let quotient = numerator / denominator;
    if &quotient * denominator > *numerator { quotient - IBig::ONE } else { quotient }
}

impl NoisePath for GaussianPath {
    type Currency = Rho;

    fn id(&self) -> PathId {
        self.id
    }

    fn finest(&self) -> Amount<Rho> {
        self.increments.last().map_or(Amount::ZERO, Increment::to)
    }

    fn point(&self, at: Amount<Rho>) -> Option<Released<i64>> {
        let index = self.increment(at)?;
        let version = *self.increments[index].versions.get(&at)?;
        Some(Released::new(self.average(index, at, version)))
    }

    fn refine<E: Entropy + ?Sized>(
        &mut self,
        truth: &Exact<i64>,
        receipt: Receipt<Raise<Rho>>,
        entropy: &mut E,
    ) -> Result<Released<i64>, Mismatch<Raise<Rho>>> {
        let (from, to) = (receipt.purchase().from(), receipt.purchase().to());
        let noise = self
            .check_raise(truth, receipt.purchase())
            .and_then(|variance| DiscreteGaussian::once(&variance, entropy).map_err(too_wide));
        match noise {
            Ok(noise) => {
                receipt.redeem();
                let release = truth.clamped().saturating_add(noise);
                self.increments.push(Increment { from, versions: BTreeMap::from([(to, release)]) });
                Ok(Released::new(self.average(self.increments.len() - 1, to, release)))
            }
            Err(reason) => Err(Mismatch { receipt: Box::new(receipt), reason }),
        }
    }

    fn coarsen<E: Entropy + ?Sized>(
        &mut self,
        receipt: Receipt<Coarsen<Rho>>,
        entropy: &mut E,
    ) -> Result<Released<i64>, Mismatch<Coarsen<Rho>>> {
        let (path, to) = (receipt.purchase().path(), receipt.purchase().to());
        let found = if path == self.id {
            self.increment(to).ok_or(MismatchReason::OtherStep)
        } else {
            Err(MismatchReason::OtherPath)
        };
        let version = found.and_then(|index| Ok((index, self.version(index, to, entropy)?)));
        match version {
            Ok((index, (at, value))) => {
                receipt.redeem();
                self.increments[index].versions.insert(at, value);
                Ok(Released::new(self.average(index, at, value)))
            }
            Err(reason) => Err(Mismatch { receipt: Box::new(receipt), reason }),
        }
    }
}
