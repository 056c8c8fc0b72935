//! Paths of geometric noise, priced in pure epsilon.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use eke_budget::{Amount, Coarsen, Epsilon, L1, PathId, Raise, Receipt};
use serde::{Deserialize, Serialize};

use crate::evidence::exact::clamped;
use crate::law::geometric_level::GeometricLevel;
use crate::path::gaussian::DamagedPath;
use crate::path::{Integers, Mismatch, MismatchReason, NoisePath};
use crate::{Entropy, Exact, Released};

/// A path of two-sided geometric noise, priced in pure epsilon: a point at epsilon has noise of rate
/// epsilon over the sensitivity, on an integer truth or in every coordinate of a vector of integers.
///
/// - Theorem: path-increments (docs/theorems.md)
/// - Proves: everything revealed of the path costs the epsilon of its finest point
/// - Assumes: the truth has the path's sensitivity and is the same at every step (caller); the step
///   was charged (receipt)
/// - Deviates: truths beyond 2⁶² are clamped to it, which changes no sensitivity
/// - Checked by: `points_revealed_in_any_order_have_one_joint_law`,
///   `a_path_takes_only_its_own_next_receipt`
///
/// Its state is what has been revealed, and can be stored; the truth is not in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "", try_from = "Stored<T>", into = "Stored<T>")]
pub struct GeometricPath<T: Integers = i64> {
    id: PathId,
    sensitivity: L1,
    /// Who has paid for it so far.
    payer: Option<Arc<str>>,
    /// Values by the price of their point.
    points: BTreeMap<Amount<Epsilon>, Released<T>>,
}

/// A path as it is stored, before anybody has looked whether it hangs together.
#[derive(Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
struct Stored<T: Integers> {
    id: PathId,
    sensitivity: L1,
    payer: Option<Arc<str>>,
    points: BTreeMap<Amount<Epsilon>, Released<T>>,
}

impl<T: Integers> TryFrom<Stored<T>> for GeometricPath<T> {
    type Error = DamagedPath;

    /// Points have a price and one shape.
    fn try_from(stored: Stored<T>) -> Result<Self, DamagedPath> {
        let Stored { id, sensitivity, payer, points } = stored;
        let shape = points.values().next().map_or(0, |point| point.peek().len());
        let fits = points.iter().all(|(at, point)| !at.is_zero() && point.peek().len() == shape);
        if !fits || payer.is_none() != points.is_empty() {
            return Err(DamagedPath);
        }
        Ok(Self { id, sensitivity, payer, points })
    }
}

impl<T: Integers> From<GeometricPath<T>> for Stored<T> {
    fn from(path: GeometricPath<T>) -> Self {
        let GeometricPath { id, sensitivity, payer, points } = path;
        Self { id, sensitivity, payer, points }
    }
}

impl<T: Integers> GeometricPath<T> {
    /// A path of which nothing has been revealed.
    #[must_use]
    pub fn open(id: PathId, sensitivity: L1) -> Self {
        Self { id, sensitivity, payer: None, points: BTreeMap::new() }
    }

    fn level(&self, at: Amount<Epsilon>) -> Result<GeometricLevel, MismatchReason> {
        GeometricLevel::at(at, self.sensitivity).ok_or(MismatchReason::OtherStep)
    }

    /// A finer point than all revealed ones.
    fn draw_finer<E: Entropy + ?Sized>(
        &self,
        truth: &Exact<T>,
        receipt: &Receipt<Raise<Epsilon>>,
        entropy: &mut E,
    ) -> Result<T, MismatchReason> {
        let raise = receipt.purchase();
        if raise.path() != self.id {
            return Err(MismatchReason::OtherPath);
        }
        if self.payer.as_ref().is_some_and(|payer| *payer != receipt.entry().account) {
            return Err(MismatchReason::OtherAccount);
        }
        if raise.sensitivity() != self.sensitivity || T::l1(truth.sensitivity()) != self.sensitivity
        {
            return Err(MismatchReason::OtherSensitivity);
        }
        // The step is paid for from here on, and from nowhere else: to an older copy of the path, which the
        // same receipt would take to the same point by another draw, it would be worth more.
        match raise.from().cmp(&self.finest()) {
            Ordering::Less => return Err(MismatchReason::OtherStep),
            Ordering::Equal => {}
            Ordering::Greater => return Err(MismatchReason::Gap),
        }
        let count = T::count(truth.sensitivity());
        let coarser = match self.points.last_key_value() {
            None => None,
            Some((&at, point)) => Some((self.level(at)?, point.peek())),
        };
        if coarser.as_ref().is_some_and(|(_, point)| point.len() != count) {
            return Err(MismatchReason::OtherShape);
        }
        let level = self.level(raise.to())?;
        T::make(count, |coordinate| {
            let coarser =
                coarser.as_ref().map(|(level, point)| (level, point.coordinate(coordinate)));
            level.around(clamped(truth.open().coordinate(coordinate)), coarser, entropy)
        })
    }

    /// A point that is not finer than the finest.
    fn draw_coarser<E: Entropy + ?Sized>(
        &self,
        to: Amount<Epsilon>,
        entropy: &mut E,
    ) -> Result<T, MismatchReason> {
        let level = self.level(to)?;
        let (&at, finer) = self.points.range(to..).next().ok_or(MismatchReason::OtherStep)?;
        let fine_level = self.level(at)?;
        let coarser = match self.points.range(..to).next_back() {
            None => None,
            Some((&at, point)) => Some((self.level(at)?, point.peek())),
        };
        let finer = finer.peek();
        T::make(finer.len(), |coordinate| {
            let coarser =
                coarser.as_ref().map(|(level, point)| (level, point.coordinate(coordinate)));
            let fine = (&fine_level, finer.coordinate(coordinate));
            Ok(level.beside(fine, coarser, entropy)?)
        })
    }
}

impl<T: Integers> NoisePath for GeometricPath<T> {
    type Currency = Epsilon;
    type Value = T;

    fn id(&self) -> PathId {
        self.id
    }

    fn finest(&self) -> Amount<Epsilon> {
        self.points.last_key_value().map_or(Amount::ZERO, |(&at, _)| at)
    }

    fn point(&self, at: Amount<Epsilon>) -> Option<Released<T>> {
        self.points.get(&at).cloned()
    }

    fn nearest(&self, to: Amount<Epsilon>) -> Option<Amount<Epsilon>> {
        Some(*self.points.range(..=to).next_back()?.0)
    }

    fn can_refine(&self, to: Amount<Epsilon>) -> Result<(), MismatchReason> {
        if to <= self.finest() {
            return Err(MismatchReason::OtherStep);
        }
        let coarser = GeometricLevel::at(self.finest(), self.sensitivity);
        self.level(to)?.can_follow(coarser.as_ref())
    }

    fn refine<E: Entropy + ?Sized>(
        &mut self,
        truth: &Exact<T>,
        receipt: Receipt<Raise<Epsilon>>,
        entropy: &mut E,
    ) -> Result<Released<T>, Mismatch<Raise<Epsilon>>> {
        let to = receipt.purchase().to();
        match self.draw_finer(truth, &receipt, entropy) {
            Ok(value) => {
                self.payer.get_or_insert_with(|| Arc::clone(&receipt.entry().account));
                receipt.redeem();
                let released = Released::new(value);
                self.points.insert(to, released.clone());
                Ok(released)
            }
            Err(reason) => Err(Mismatch { receipt: Box::new(receipt), reason }),
        }
    }

    fn coarsen<E: Entropy + ?Sized>(
        &mut self,
        receipt: Receipt<Coarsen<Epsilon>>,
        entropy: &mut E,
    ) -> Result<Released<T>, Mismatch<Coarsen<Epsilon>>> {
        let (path, to) = (receipt.purchase().path(), receipt.purchase().to());
        let released = if path != self.id {
            Err(MismatchReason::OtherPath)
        } else if let Some(stored) = self.point(to) {
            Ok(stored)
        } else {
            self.draw_coarser(to, entropy).map(Released::new)
        };
        match released {
            Ok(released) => {
                receipt.redeem();
                self.points.insert(to, released.clone());
                Ok(released)
            }
            Err(reason) => Err(Mismatch { receipt: Box::new(receipt), reason }),
        }
    }
}
