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
use std::sync::Arc;

use eke_budget::{Amount, Coarsen, Delta, L2, PathId, Raise, Receipt, Rho};
use serde::{Deserialize, Serialize};

use crate::evidence::exact::clamped;
use crate::law::gaussian_step::{GaussianLaw, average, too_wide};
use crate::number::scale::{root, shift};
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
/// - Proves: a coarser version costs its own rho, but for the slack
/// - Assumes: no noise is narrower than 64 steps squared (this type)
/// - Deviates: versions closer than that to a finer one are moved to the next coarser that is not
/// - Checked by: `points_too_close_to_another_are_moved_to_a_coarser_one`,
///   `gaussian_points_in_any_order_have_the_covariance_of_one_path`
///
/// Its state is what has been revealed, and can be stored; the truth is not in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "", try_from = "Stored<T>", into = "Stored<T>")]
pub struct GaussianPath<T: Integers = i64> {
    id: PathId,
    sensitivity: L2,
    /// Who has paid for it so far.
    payer: Option<Arc<str>>,
    increments: Vec<Increment<T>>,
}

/// A path as it is stored, before anybody has looked whether it hangs together.
#[derive(Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
struct Stored<T: Integers> {
    id: PathId,
    sensitivity: L2,
    payer: Option<Arc<str>>,
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
    /// What coarser points can differ from discrete Gaussians by, as a delta, at most, all those that could
    /// ever be stored together. It is below the unit in the last place of any delta down to 1e-200, which
    /// the conversion of a budget leaves free (docs/theorems.md), so nobody is charged for it.
    ///
    /// # Panics
    /// Never: it is a constant.
    #[must_use]
    pub fn slack() -> Delta {
        Delta::new(1e-240).expect("a delta")
    }
}

impl<T: Integers> GaussianPath<T> {
    /// A path of which nothing has been revealed. The sensitivity is in steps of the grid.
    #[must_use]
    pub fn open(id: PathId, sensitivity: L2) -> Self {
        Self { id, sensitivity, payer: None, increments: Vec::new() }
    }

    fn law(&self) -> GaussianLaw {
        GaussianLaw { sensitivity: self.sensitivity }
    }

    /// A new increment: the truth with noise of its own.
    fn draw_increment<E: Entropy + ?Sized>(
        &self,
        truth: &Exact<T>,
        receipt: &Receipt<Raise<Rho>>,
        entropy: &mut E,
    ) -> Result<T, MismatchReason> {
        let raise = receipt.purchase();
        if raise.path() != self.id {
            return Err(MismatchReason::OtherPath);
        }
        if self.payer.as_ref().is_some_and(|payer| *payer != receipt.entry().account) {
            return Err(MismatchReason::OtherAccount);
        }
        if raise.sensitivity() != self.sensitivity
            || T::l2(truth.sensitivity()) != Ok(self.sensitivity)
        {
            return Err(MismatchReason::OtherSensitivity);
        }
        // What was paid for and lost before it was drawn stays a gap: it is never drawn again.
        if raise.from() < self.finest() {
            return Err(MismatchReason::OtherStep);
        }
        let count = T::count(truth.sensitivity());
        if self.increments.last().and_then(Increment::release).is_some_and(|r| r.len() != count) {
            return Err(MismatchReason::OtherShape);
        }
        let variance = self.law().increment(raise.price())?;
        T::make(count, |coordinate| {
            let noise = DiscreteGaussian::once(&variance, entropy).map_err(too_wide)?;
            Ok(clamped(truth.open().coordinate(coordinate)).saturating_add(noise))
        })
    }

    /// The increment that a price ends in, and the price; in a gap, those of what is before it.
    fn increment(&self, at: Amount<Rho>) -> Option<(usize, Amount<Rho>)> {
        let index = self.increments.partition_point(|increment| increment.to() < at);
        if self.increments.get(index)?.from < at {
            return Some((index, at));
        }
        let before = index.checked_sub(1)?;
        Some((before, self.increments[before].to()))
    }

    /// The average of the increments before one, and of a version of it.
    fn average(&self, index: usize, at: Amount<Rho>, version: &T) -> T {
        let weight = at.grains() - self.increments[index].from.grains();
        let average = T::make(version.len(), |coordinate| {
            let before = self.increments[..index].iter().filter_map(|increment| {
                let release = increment.release()?.coordinate(coordinate);
                Some((increment.to().grains() - increment.from.grains(), release))
            });
            Ok::<_, Infallible>(average((weight, version.coordinate(coordinate)), before))
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
        let value = T::make(fine.len(), |coordinate| {
            let fine = fine.coordinate(coordinate);
            version.draw(fine, coarse.map_or(fine, |c| c.coordinate(coordinate)), entropy)
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
}

/// What is stored is not a path, or damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("what is stored of the path does not hang together: it is not a path, or damaged")]
pub struct DamagedPath;

impl<T: Integers> TryFrom<Stored<T>> for GaussianPath<T> {
    type Error = DamagedPath;

    /// Increments come after each other, have versions of one shape, and each ends beyond its start.
    fn try_from(stored: Stored<T>) -> Result<Self, DamagedPath> {
        let Stored { id, sensitivity, payer, increments } = stored;
        let mut at = Amount::ZERO;
        let shape = increments.first().and_then(Increment::release).map_or(0, Integers::len);
        for increment in &increments {
            let inside = increment.versions.keys().all(|&version| version > increment.from);
            let shapes = increment.versions.values().all(|version| version.len() == shape);
            if increment.from < at || increment.versions.is_empty() || !inside || !shapes {
                return Err(DamagedPath);
            }
            at = increment.to();
        }
        if payer.is_none() != increments.is_empty() {
            return Err(DamagedPath);
        }
        Ok(Self { id, sensitivity, payer, increments })
    }
}

impl<T: Integers> From<GaussianPath<T>> for Stored<T> {
    fn from(path: GaussianPath<T>) -> Self {
        let GaussianPath { id, sensitivity, payer, increments } = path;
        Self { id, sensitivity, payer, increments }
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
        let (index, inside) = self.increment(at)?;
        let version = self.increments[index].versions.get(&at).filter(|_| inside == at)?;
        Some(Released::new(self.average(index, at, version)))
    }

    fn nearest(&self, to: Amount<Rho>) -> Option<Amount<Rho>> {
        let versions =
            |increment: &Increment<T>| Some(*increment.versions.range(..=to).next_back()?.0);
        self.increments.iter().rev().find_map(versions)
    }

    fn worth(&self, at: Amount<Rho>) -> Amount<Rho> {
        let drawn = self.increments.iter().map(|increment| {
            let to = increment.to().min(at).grains();
            to.saturating_sub(increment.from.grains())
        });
        Amount::from_grains(drawn.sum())
    }

    fn can_refine(&self, to: Amount<Rho>) -> Result<(), MismatchReason> {
        let price = to.minus(self.finest()).ok_or(MismatchReason::OtherStep)?;
        let variance = self.law().increment(price)?;
        shift(root(&variance)).map(|_| ()).map_err(too_wide)
    }

    fn refine<E: Entropy + ?Sized>(
        &mut self,
        truth: &Exact<T>,
        receipt: Receipt<Raise<Rho>>,
        entropy: &mut E,
    ) -> Result<Released<T>, Mismatch<Raise<Rho>>> {
        let (from, to) = (receipt.purchase().from(), receipt.purchase().to());
        match self.draw_increment(truth, &receipt, entropy) {
            Ok(release) => {
                self.payer.get_or_insert_with(|| Arc::clone(&receipt.entry().account));
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
        let version = found.and_then(|(index, to)| Ok((index, self.version(index, to, entropy)?)));
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
