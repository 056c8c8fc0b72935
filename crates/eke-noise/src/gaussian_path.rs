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
use std::convert::Infallible;

use eke_budget::{Amount, Coarsen, Delta, L2, PathId, Raise, Receipt, Rho};
use serde::{Deserialize, Serialize};

use crate::exact::clamped;
use crate::gaussian_law::{GaussianLaw, average, too_wide};
use crate::path::{Integers, Mismatch, MismatchReason, NoisePath};
use crate::{DiscreteGaussian, Entropy, Exact, Released};

/// A path of Gaussian noise on an integer truth, or on a vector of integers, priced in rho: a point at
/// rho has variance `sensitivity²/(2 rho)` in every coordinate.
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
#[serde(bound = "", deny_unknown_fields)]
pub struct GaussianPath<T: Integers = i64> {
    id: PathId,
    sensitivity: L2,
    increments: Vec<Increment<T>>,
}

/// One independent release, and its coarser versions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
struct Increment<T: Integers> {
    /// The price of the path before it.
    from: Amount<Rho>,
    /// Values by the price of the path they reach; the last one is the release itself.
    versions: BTreeMap<Amount<Rho>, T>,
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
}

impl<T: Integers> GaussianPath<T> {
    /// A path of which nothing has been revealed. The sensitivity is in steps of the grid.
    #[must_use]
    pub fn open(id: PathId, sensitivity: L2) -> Self {
        Self { id, sensitivity, increments: Vec::new() }
    }

    fn law(&self) -> GaussianLaw {
        GaussianLaw { sensitivity: self.sensitivity }
    }

    /// A new increment: the truth with noise of its own.
    fn draw_increment<E: Entropy + ?Sized>(
        &self,
        truth: &Exact<T>,
        raise: &Raise<Rho>,
        entropy: &mut E,
    ) -> Result<T, MismatchReason> {
        if raise.path() != self.id {
            return Err(MismatchReason::OtherPath);
        }
        if raise.sensitivity() != self.sensitivity
            || T::l2(truth.sensitivity()) != Ok(self.sensitivity)
        {
            return Err(MismatchReason::OtherSensitivity);
        }
        if raise.from() != self.finest() {
            return Err(MismatchReason::OtherStep);
        }
        let truth = truth.open();
        if self.increments.last().is_some_and(|last| !last.has_the_shape_of(truth)) {
            return Err(MismatchReason::OtherShape);
        }
        let variance = self.law().increment(raise.price())?;
        truth.try_map(|_, value| {
            let noise = DiscreteGaussian::once(&variance, entropy).map_err(too_wide)?;
            Ok(clamped(value).saturating_add(noise))
        })
    }

    /// The increment that a price ends in.
    fn increment(&self, at: Amount<Rho>) -> Option<usize> {
        let index = self.increments.partition_point(|increment| increment.to() < at);
        (index < self.increments.len() && !at.is_zero()).then_some(index)
    }

    /// The average of the increments before one, and of a version of it.
    fn average(&self, index: usize, at: Amount<Rho>, version: &T) -> T {
        let weight = at.grains() - self.increments[index].from.grains();
        let average = version.try_map(|coordinate, value| {
            let before = self.increments[..index].iter().filter_map(|increment| {
                let release = increment.release()?.coordinates().get(coordinate)?;
                Some((increment.to().grains() - increment.from.grains(), *release))
            });
            Ok::<_, Infallible>(average((weight, value), before))
        });
        match average {
            Ok(average) => average,
        }
    }

    /// A version of an increment at a price inside it, drawn if need be: the price it is really at,
    /// which is not above the one asked for, and its value.
    fn version<E: Entropy + ?Sized>(
        &self,
        index: usize,
        at: Amount<Rho>,
        entropy: &mut E,
    ) -> Result<(Amount<Rho>, T), MismatchReason> {
        let increment = &self.increments[index];
        if let Some(value) = increment.versions.get(&at) {
            return Ok((at, value.clone()));
        }
        let (&finer, fine) =
            increment.versions.range(at..).next().ok_or(MismatchReason::OtherStep)?;
        let coarser = increment.versions.range(..at).next_back();
        let version =
            self.law().version(increment.from, at, finer, coarser.map(|(&price, _)| price))?;
        let coarse = coarser.map(|(_, value)| value);
        let value = fine.try_map(|coordinate, fine| {
            let coarse = coarse.and_then(|c| c.coordinates().get(coordinate)).unwrap_or(&fine);
            version.draw(fine, *coarse, entropy)
        })?;
        let at = version.at().or(coarser.map(|(&price, _)| price)).unwrap_or(finer);
        Ok((at, value))
    }
}

impl<T: Integers> Increment<T> {
    fn to(&self) -> Amount<Rho> {
        self.versions.last_key_value().map_or(self.from, |(&at, _)| at)
    }

    fn release(&self) -> Option<&T> {
        self.versions.last_key_value().map(|(_, value)| value)
    }

    fn has_the_shape_of(&self, truth: &T) -> bool {
        self.release().is_some_and(|r| r.coordinates().len() == truth.coordinates().len())
    }
}

impl<T: Integers> NoisePath for GaussianPath<T> {
    type Currency = Rho;
    type Value = T;

    fn id(&self) -> PathId {
        self.id
    }

    fn finest(&self) -> Amount<Rho> {
        self.increments.last().map_or(Amount::ZERO, Increment::to)
    }

    fn point(&self, at: Amount<Rho>) -> Option<Released<T>> {
        let index = self.increment(at)?;
        let version = self.increments[index].versions.get(&at)?;
        Some(Released::new(self.average(index, at, version)))
    }

    fn nearest(&self, to: Amount<Rho>) -> Option<Amount<Rho>> {
        let versions =
            |increment: &Increment<T>| Some(*increment.versions.range(..=to).next_back()?.0);
        self.increments.iter().rev().find_map(versions)
    }

    fn refine<E: Entropy + ?Sized>(
        &mut self,
        truth: &Exact<T>,
        receipt: Receipt<Raise<Rho>>,
        entropy: &mut E,
    ) -> Result<Released<T>, Mismatch<Raise<Rho>>> {
        let (from, to) = (receipt.purchase().from(), receipt.purchase().to());
        match self.draw_increment(truth, receipt.purchase(), entropy) {
            Ok(release) => {
                receipt.redeem();
                let versions = BTreeMap::from([(to, release.clone())]);
                self.increments.push(Increment { from, versions });
                Ok(Released::new(self.average(self.increments.len() - 1, to, &release)))
            }
            Err(reason) => Err(Mismatch { receipt: Box::new(receipt), reason }),
        }
    }

    fn coarsen<E: Entropy + ?Sized>(
        &mut self,
        receipt: Receipt<Coarsen<Rho>>,
        entropy: &mut E,
    ) -> Result<Released<T>, Mismatch<Coarsen<Rho>>> {
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
                let average = self.average(index, at, &value);
                self.increments[index].versions.insert(at, value);
                Ok(Released::new(average))
            }
            Err(reason) => Err(Mismatch { receipt: Box::new(receipt), reason }),
        }
    }
}
