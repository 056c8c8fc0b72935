//! Paths of geometric noise, priced in pure epsilon.

use std::collections::BTreeMap;

use eke_budget::{Amount, Coarsen, Epsilon, L1, PathId, Raise, Receipt};
use serde::{Deserialize, Serialize};

use crate::exact::clamped;
use crate::geometric::GeometricLevel;
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
#[serde(bound = "", deny_unknown_fields)]
pub struct GeometricPath<T: Integers = i64> {
    id: PathId,
    sensitivity: L1,
    /// Values by the price of their point.
    points: BTreeMap<Amount<Epsilon>, Released<T>>,
}

impl<T: Integers> GeometricPath<T> {
    /// A path of which nothing has been revealed.
    #[must_use]
    pub fn open(id: PathId, sensitivity: L1) -> Self {
        Self { id, sensitivity, points: BTreeMap::new() }
    }

    fn level(&self, at: Amount<Epsilon>) -> Result<GeometricLevel, MismatchReason> {
        GeometricLevel::at(at, self.sensitivity).ok_or(MismatchReason::OtherStep)
    }

    /// A finer point than all revealed ones.
    fn draw_finer<E: Entropy + ?Sized>(
        &self,
        truth: &Exact<T>,
        raise: &Raise<Epsilon>,
        entropy: &mut E,
    ) -> Result<T, MismatchReason> {
        if raise.path() != self.id {
            return Err(MismatchReason::OtherPath);
        }
        if raise.sensitivity() != self.sensitivity || T::l1(truth.sensitivity()) != self.sensitivity
        {
            return Err(MismatchReason::OtherSensitivity);
        }
        if raise.from() != self.finest() {
            return Err(MismatchReason::OtherStep);
        }
        let (truth, last) = (truth.open(), self.points.last_key_value());
        let coarser = match last {
            None => None,
            Some((&at, point)) => Some((self.level(at)?, point.peek().coordinates())),
        };
        if coarser.as_ref().is_some_and(|(_, point)| point.len() != truth.coordinates().len()) {
            return Err(MismatchReason::OtherShape);
        }
        let level = self.level(raise.to())?;
        truth.try_map(|coordinate, value| {
            let coarser = coarser.as_ref().map(|(level, point)| (level, point[coordinate]));
            level.around(clamped(value), coarser, entropy)
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
            Some((&at, point)) => Some((self.level(at)?, point.peek().coordinates())),
        };
        finer.peek().try_map(|coordinate, fine| {
            let coarser = coarser
                .as_ref()
                .and_then(|(level, point)| point.get(coordinate).map(|&value| (level, value)));
            Ok(level.beside((&fine_level, fine), coarser, entropy)?)
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

    fn refine<E: Entropy + ?Sized>(
        &mut self,
        truth: &Exact<T>,
        receipt: Receipt<Raise<Epsilon>>,
        entropy: &mut E,
    ) -> Result<Released<T>, Mismatch<Raise<Epsilon>>> {
        let to = receipt.purchase().to();
        match self.draw_finer(truth, receipt.purchase(), entropy) {
            Ok(value) => {
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
