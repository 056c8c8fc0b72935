//! Paths of Laplace noise, priced in pure epsilon.
//!
//! A point of the path is a real number: the truth plus Laplace noise. What is released of it is the
//! nearest whole number of steps, and what is stored is the point. Both are made from the point alone.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::Arc;

use eke_budget::{Amount, Coarsen, Epsilon, L1, PathId, Raise, Receipt};
use serde::{Deserialize, Serialize};

use crate::evidence::exact::clamped;
use crate::law::laplace_level::LaplaceLevel;
use crate::number::real::{Origin, Real};
use crate::path::gaussian::DamagedPath;
use crate::path::{Integers, Mismatch, MismatchReason, NoisePath};
use crate::{Entropy, Exact, Released};

/// A path of Laplace noise on the real line, priced in pure epsilon: a point at epsilon has noise of rate
/// epsilon over the sensitivity, on an integer truth or in every coordinate of a vector of integers. What
/// is released is the nearest integer.
///
/// - Theorem: path-increments (docs/theorems.md)
/// - Proves: everything revealed of the path, and everything stored of it, costs the epsilon of its finest
///   point
/// - Assumes: the truth has the path's sensitivity and is the same at every step (caller); the step
///   was charged (receipt)
/// - Deviates: truths beyond 2⁶² are clamped to it, which changes no sensitivity
/// - Checked by: `laplace_points_revealed_in_any_order_have_one_joint_law`,
///   `rounded_laplace_points_have_their_joint_law`, `a_laplace_path_takes_only_its_own_next_receipt`,
///   `what_is_stored_has_one_form_whichever_part_was_drawn`
///
/// Where the noise between two levels is nothing, both have the same point, and not one that was
/// computed anew. Its state is what has been revealed, and can be stored; the truth is not in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "", try_from = "Stored", into = "Stored")]
pub struct LaplacePath<T: Integers = i64> {
    id: PathId,
    sensitivity: L1,
    /// Who has paid for it so far.
    payer: Option<Arc<str>>,
    /// Points by their price, a number for every coordinate.
    points: BTreeMap<Amount<Epsilon>, Vec<Real>>,
    value: PhantomData<fn() -> T>,
}

/// A path as it is stored, before anybody has looked whether it hangs together.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    id: PathId,
    sensitivity: L1,
    payer: Option<Arc<str>>,
    points: BTreeMap<Amount<Epsilon>, Vec<Real>>,
}

impl<T: Integers> TryFrom<Stored> for LaplacePath<T> {
    type Error = DamagedPath;

    /// Points have a price and one shape.
    fn try_from(stored: Stored) -> Result<Self, DamagedPath> {
        let Stored { id, sensitivity, payer, points } = stored;
        let shape = points.values().next().map_or(0, Vec::len);
        let fits = points.iter().all(|(at, point)| {
            // A single number has one coordinate, whatever is asked of it.
            !at.is_zero() && point.len() == shape && released::<T>(point).peek().len() == shape
        });
        if !fits || payer.is_none() != points.is_empty() {
            return Err(DamagedPath);
        }
        Ok(Self { id, sensitivity, payer, points, value: PhantomData })
    }
}

impl<T: Integers> From<LaplacePath<T>> for Stored {
    fn from(path: LaplacePath<T>) -> Self {
        let LaplacePath { id, sensitivity, payer, points, value: PhantomData } = path;
        Self { id, sensitivity, payer, points }
    }
}

impl<T: Integers> LaplacePath<T> {
    /// A path of which nothing has been revealed.
    #[must_use]
    pub fn open(id: PathId, sensitivity: L1) -> Self {
        Self { id, sensitivity, payer: None, points: BTreeMap::new(), value: PhantomData }
    }

    fn level(&self, at: Amount<Epsilon>) -> Result<LaplaceLevel, MismatchReason> {
        LaplaceLevel::at(at, self.sensitivity).ok_or(MismatchReason::OtherStep)
    }

    /// A finer point than all revealed ones.
    fn draw_finer<E: Entropy + ?Sized>(
        &self,
        truth: &Exact<T>,
        receipt: &Receipt<Raise<Epsilon>>,
        entropy: &mut E,
    ) -> Result<Vec<Real>, MismatchReason> {
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
            Some((&at, point)) => Some((self.level(at)?, point)),
        };
        if coarser.as_ref().is_some_and(|(_, point)| point.len() != count) {
            return Err(MismatchReason::OtherShape);
        }
        let level = self.level(raise.to())?;
        // Whatever cannot be drawn is known before the truth is looked at.
        level.can_follow(coarser.as_ref().map(|(level, _)| level))?;
        (0..count)
            .map(|coordinate| {
                let truth = clamped(truth.open().coordinate(coordinate));
                match &coarser {
                    None => Ok(level.draw(truth, entropy)?),
                    Some((coarse, point)) => {
                        let origin = Origin::Whole(truth);
                        Ok(coarse.finer(&origin, point[coordinate], &level, entropy)?)
                    }
                }
            })
            .collect()
    }

    /// A point that is not finer than the finest.
    fn draw_coarser<E: Entropy + ?Sized>(
        &self,
        to: Amount<Epsilon>,
        entropy: &mut E,
    ) -> Result<Vec<Real>, MismatchReason> {
        let level = self.level(to)?;
        let (&at, fine) = self.points.range(to..).next().ok_or(MismatchReason::OtherStep)?;
        let finer = self.level(at)?;
        let coarser = match self.points.range(..to).next_back() {
            None => None,
            Some((&at, point)) => Some((self.level(at)?, point)),
        };
        let points = fine.iter().enumerate().map(|(coordinate, &fine)| match &coarser {
            None => finer.coarser(fine, &level, entropy),
            Some((coarser, point)) => {
                level.between((&finer, fine), (coarser, point[coordinate]), entropy)
            }
        });
        Ok(points.collect::<Result<_, _>>()?)
    }
}

/// What is released of a point.
fn released<T: Integers>(point: &[Real]) -> Released<T> {
    let nearest = |coordinate: usize| point.get(coordinate).map_or(0, Real::nearest);
    let Ok(value) =
        T::make(point.len(), |coordinate| Ok::<_, std::convert::Infallible>(nearest(coordinate)));
    Released::new(value)
}

impl<T: Integers> NoisePath for LaplacePath<T> {
    type Currency = Epsilon;
    type Value = T;

    fn id(&self) -> PathId {
        self.id
    }

    fn finest(&self) -> Amount<Epsilon> {
        self.points.last_key_value().map_or(Amount::ZERO, |(&at, _)| at)
    }

    fn point(&self, at: Amount<Epsilon>) -> Option<Released<T>> {
        self.points.get(&at).map(|point| released(point))
    }

    fn nearest(&self, to: Amount<Epsilon>) -> Option<Amount<Epsilon>> {
        Some(*self.points.range(..=to).next_back()?.0)
    }

    fn can_refine(&self, to: Amount<Epsilon>) -> Result<(), MismatchReason> {
        if to <= self.finest() {
            return Err(MismatchReason::OtherStep);
        }
        let coarser = LaplaceLevel::at(self.finest(), self.sensitivity);
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
            Ok(point) => {
                self.payer.get_or_insert_with(|| Arc::clone(&receipt.entry().account));
                receipt.redeem();
                let value = released(&point);
                self.points.insert(to, point);
                Ok(value)
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
        let point = if path != self.id {
            Err(MismatchReason::OtherPath)
        } else if let Some(stored) = self.points.get(&to) {
            Ok(stored.clone())
        } else {
            self.draw_coarser(to, entropy)
        };
        match point {
            Ok(point) => {
                receipt.redeem();
                let value = released(&point);
                self.points.insert(to, point);
                Ok(value)
            }
            Err(reason) => Err(Mismatch { receipt: Box::new(receipt), reason }),
        }
    }
}
