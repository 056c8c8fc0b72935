//! One path, whatever its law: the receipts that it takes, and the points that have been revealed.
//!
//! The privacy of a path hangs on one check, and it stands here alone ([`Path::check`]): a receipt
//! is for the next step of this path, from the account that has paid for it so far, at the path's
//! sensitivity, or nothing is drawn. A [`PathLaw`] says how points are drawn, which steps it takes,
//! and what its stored points must look like.
//!
//! Invariants: every point has a price; all have one number of coordinates; there is a payer if and
//! only if there is a point. Stored forms never change: ledgers outlive code.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use eke_budget::purchase::Coarsen;
use eke_budget::{Amount, PathId, Price, Raise, Receipt};
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::evidence::exact::Truth;
use crate::path::bundle_law::Taken;
use crate::path::{Integers, Mismatch, MismatchReason, NoisePath};
use crate::{Entropy, Exact, Released};

/// Which steps a path takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepRule {
    /// The next one: a point is drawn around the one before it. Drawn from an older copy, it would
    /// be worth more than the difference that was paid (docs/theorems.md, path-increments).
    Next,
    /// The next one, or one beyond it: increments are independent. What was paid for and lost
    /// before it was drawn stays a gap, and is never drawn again.
    WithGaps,
    /// One, to the finest point there will ever be: all of it is paid for by one receipt.
    Once,
}

/// The sensitivity that a law's prices refer to.
pub(super) type Sensitivity<L> = <<L as PathLaw>::Currency as Price>::Sensitivity;

/// A price and the point that was revealed for it.
pub(super) type Priced<'a, L> = (Amount<<L as PathLaw>::Currency>, &'a <L as PathLaw>::Point);

/// Points by their price.
pub(super) type Points<L> = BTreeMap<Amount<<L as PathLaw>::Currency>, <L as PathLaw>::Point>;

/// Where a point lies that has not been revealed: its price, and the points next to it.
pub struct Beside<'a, L: PathLaw> {
    pub(super) to: Amount<L::Currency>,
    pub(super) finer: Priced<'a, L>,
    pub(super) coarser: Option<Priced<'a, L>>,
}

/// The law of a path, for one sensitivity.
pub trait PathLaw: Clone + fmt::Debug + PartialEq + sealed::Sealed {
    /// What points are priced in.
    type Currency: Price;
    /// What it is a path of.
    type Value: Integers;
    /// What is kept of a point.
    type Point: Clone + fmt::Debug + PartialEq;
    /// A step, ready to be drawn.
    type Step;
    /// What is stored of a path.
    type Stored: From<Path<Self>> + Serialize + DeserializeOwned;

    /// Which steps it takes.
    const STEPS: StepRule;
    /// Whether its prices are for whole units alone: at a fraction of a unit of distance a truth
    /// may still move by a whole step, which costs more than the price at that distance.
    const WHOLE_UNITS: bool;

    /// What one unit changes a truth by.
    fn sensitivity(&self) -> Sensitivity<Self>;

    /// A truth's bound, in the norm that prices refer to.
    fn norm(bound: &<Self::Value as Truth>::Bound) -> Option<Sensitivity<Self>>;

    /// How many coordinates a point has.
    fn coordinates(_: &Self::Point) -> usize {
        1
    }

    /// A step, ready to be drawn. What cannot be drawn is known here: before it is paid for, and
    /// before the truth is looked at.
    fn step(&self, step: Taken<Self::Currency>) -> Result<Self::Step, MismatchReason>;

    /// The point of a step, given the finest before it, for a truth of n coordinates.
    fn finer<E: Entropy + ?Sized>(
        &self,
        step: Self::Step,
        finest: Option<&Self::Point>,
        truth: (&Self::Value, usize),
        entropy: &mut E,
    ) -> Result<Self::Point, MismatchReason>;

    /// A point that has not been revealed, and the price it is at.
    fn coarser<E: Entropy + ?Sized>(
        &self,
        beside: Beside<'_, Self>,
        entropy: &mut E,
    ) -> Result<(Amount<Self::Currency>, Self::Point), MismatchReason>;

    /// What is released of a point.
    fn value(&self, points: &Points<Self>, point: Priced<'_, Self>) -> Self::Value;

    /// What a revealed point is as precise as.
    fn worth(_: &Points<Self>, at: Amount<Self::Currency>) -> Amount<Self::Currency> {
        at
    }

    /// Whether stored points, of one shape and each with a price, could have come about.
    fn could_have_drawn(&self, _: &Points<Self>) -> bool {
        true
    }

    /// The path that was stored.
    fn read(stored: Self::Stored) -> Result<Path<Self>, DamagedPath>;
}

pub(super) mod sealed {
    pub trait Sealed {}
}

/// What is stored is not a path, or damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("what is stored of the path does not hang together: it is not a path, or damaged")]
pub struct DamagedPath;

/// One question's answers along a law of noise. Its state is what has been revealed, and can be
/// stored; the truth is not in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Path<L: PathLaw> {
    pub(super) id: PathId,
    pub(super) law: L,
    /// Who has paid for it so far.
    pub(super) payer: Option<Arc<str>>,
    pub(super) points: Points<L>,
}

impl<L: PathLaw> Path<L> {
    /// A path of which nothing has been revealed.
    pub(super) fn new(id: PathId, law: L) -> Self {
        Self { id, law, payer: None, points: BTreeMap::new() }
    }

    /// A path that was stored.
    pub(super) fn stored(
        id: PathId,
        law: L,
        payer: Option<Arc<str>>,
        points: Points<L>,
    ) -> Result<Self, DamagedPath> {
        let shape = points.values().next().map_or(0, L::coordinates);
        let fits = |(at, point): (&Amount<_>, _)| !at.is_zero() && L::coordinates(point) == shape;
        let paid = payer.is_none() == points.is_empty();
        if paid && points.iter().all(fits) && law.could_have_drawn(&points) {
            Ok(Self { id, law, payer, points })
        } else {
            Err(DamagedPath)
        }
    }

    fn last(&self) -> Option<Priced<'_, L>> {
        self.points.last_key_value().map(|(&at, point)| (at, point))
    }

    fn released(&self, point: Priced<'_, L>) -> Released<L::Value> {
        Released::new(self.law.value(&self.points, point))
    }

    /// The step that a receipt pays for, if it and the truth are for the next step of this path.
    /// Who comes past here draws; nobody else does.
    ///
    /// The step is paid for from where the path stands, and from nowhere else: to an older copy of
    /// the path, which the same receipt would take to the same point by another draw, it would be
    /// worth more.
    fn check(
        &self,
        truth: &Exact<L::Value>,
        receipt: &Receipt<Raise<L::Currency>>,
    ) -> Result<L::Step, MismatchReason> {
        let raise = receipt.purchase();
        is_own(self.id, self.payer.as_ref(), raise.path(), receipt)?;
        let sensitivity = self.law.sensitivity();
        if raise.sensitivity() != sensitivity || L::norm(truth.sensitivity()) != Some(sensitivity) {
            return Err(MismatchReason::OtherSensitivity);
        }
        if L::WHOLE_UNITS && receipt.metric().has_small_distances() {
            return Err(MismatchReason::OtherMetric);
        }
        let step = self.step(raise.from(), raise.to())?;
        let count = L::Value::count(truth.sensitivity());
        if self.last().is_some_and(|(_, point)| L::coordinates(point) != count) {
            return Err(MismatchReason::OtherShape);
        }
        Ok(step)
    }

    /// A step between two prices, if it is one that the path takes from where it stands.
    fn step(
        &self,
        from: Amount<L::Currency>,
        to: Amount<L::Currency>,
    ) -> Result<L::Step, MismatchReason> {
        if to <= self.finest() {
            return Err(MismatchReason::OtherStep);
        }
        if L::STEPS == StepRule::Once && !self.points.is_empty() {
            return Err(MismatchReason::AtItsFinest);
        }
        is_next(from, self.finest(), L::STEPS == StepRule::WithGaps)?;
        self.law.step(Taken { now: self.finest(), from, to })
    }

    /// The point at a price, drawn if need be, and the price that it is really at.
    fn beside<E: Entropy + ?Sized>(
        &self,
        to: Amount<L::Currency>,
        entropy: &mut E,
    ) -> Result<(Amount<L::Currency>, L::Point), MismatchReason> {
        let (&at, finer) = self.points.range(to..).next().ok_or(MismatchReason::OtherStep)?;
        if at == to {
            return Ok((at, finer.clone()));
        }
        let coarser = self.points.range(..to).next_back().map(|(&at, point)| (at, point));
        self.law.coarser(Beside { to, finer: (at, finer), coarser }, entropy)
    }
}

/// Whether a receipt for a path is for this one, from the account that has paid for it so far.
pub(crate) fn is_own<P>(
    own: PathId,
    payer: Option<&Arc<str>>,
    path: PathId,
    receipt: &Receipt<P>,
) -> Result<(), MismatchReason> {
    if path != own {
        return Err(MismatchReason::OtherPath);
    }
    if payer.is_some_and(|payer| *payer != receipt.entry().account) {
        return Err(MismatchReason::OtherAccount);
    }
    Ok(())
}

/// Whether a step that was paid for from a price on is the next of a path that has come so far, or,
/// where there are gaps, one beyond it.
pub(crate) fn is_next<C: Price>(
    from: Amount<C>,
    finest: Amount<C>,
    has_gaps: bool,
) -> Result<(), MismatchReason> {
    match from.cmp(&finest) {
        Ordering::Less => Err(MismatchReason::OtherStep),
        Ordering::Greater if !has_gaps => Err(MismatchReason::Gap),
        Ordering::Greater | Ordering::Equal => Ok(()),
    }
}

impl<L: PathLaw> NoisePath for Path<L> {
    type Currency = L::Currency;
    type Value = L::Value;

    fn id(&self) -> PathId {
        self.id
    }

    fn finest(&self) -> Amount<L::Currency> {
        self.last().map_or(Amount::ZERO, |(at, _)| at)
    }

    fn point(&self, at: Amount<L::Currency>) -> Option<Released<L::Value>> {
        self.points.get(&at).map(|point| self.released((at, point)))
    }

    fn nearest(&self, to: Amount<L::Currency>) -> Option<Amount<L::Currency>> {
        Some(*self.points.range(..=to).next_back()?.0)
    }

    fn worth(&self, at: Amount<L::Currency>) -> Amount<L::Currency> {
        L::worth(&self.points, at)
    }

    fn can_refine(&self, to: Amount<L::Currency>) -> Result<(), MismatchReason> {
        self.step(self.finest(), to).map(drop)
    }

    fn refine<E: Entropy + ?Sized>(
        &mut self,
        truth: &Exact<L::Value>,
        receipt: Receipt<Raise<L::Currency>>,
        entropy: &mut E,
    ) -> Result<Released<L::Value>, Mismatch<Raise<L::Currency>>> {
        let drawn = self.check(truth, &receipt).and_then(|step| {
            let count = L::Value::count(truth.sensitivity());
            let finest = self.last().map(|(_, point)| point);
            self.law.finer(step, finest, (truth.open(), count), entropy)
        });
        match drawn {
            Ok(point) => {
                self.payer.get_or_insert_with(|| Arc::clone(&receipt.entry().account));
                let at = receipt.redeem().to();
                let released = self.released((at, &point));
                self.points.insert(at, point);
                Ok(released)
            }
            Err(reason) => Err(Mismatch { receipt: Box::new(receipt), reason }),
        }
    }

    fn coarsen<E: Entropy + ?Sized>(
        &mut self,
        receipt: Receipt<Coarsen<L::Currency>>,
        entropy: &mut E,
    ) -> Result<Released<L::Value>, Mismatch<Coarsen<L::Currency>>> {
        let (path, to) = (receipt.purchase().path(), receipt.purchase().to());
        let point =
            if path == self.id { self.beside(to, entropy) } else { Err(MismatchReason::OtherPath) };
        match point {
            Ok((at, point)) => {
                receipt.redeem();
                let released = self.released((at, &point));
                self.points.insert(at, point);
                Ok(released)
            }
            Err(reason) => Err(Mismatch { receipt: Box::new(receipt), reason }),
        }
    }
}

/// What most laws store of a path, before anybody has looked whether it hangs together.
#[derive(Serialize, Deserialize)]
#[serde(
    bound(serialize = "L::Point: Serialize", deserialize = "L::Point: Deserialize<'de>"),
    deny_unknown_fields
)]
pub struct Stored<L: PathLaw> {
    id: PathId,
    pub(super) sensitivity: Sensitivity<L>,
    payer: Option<Arc<str>>,
    points: Points<L>,
}

impl<L: PathLaw> From<Path<L>> for Stored<L> {
    fn from(path: Path<L>) -> Self {
        let Path { id, law, payer, points } = path;
        Self { id, sensitivity: law.sensitivity(), payer, points }
    }
}

impl<L: PathLaw> Stored<L> {
    /// The path of the law of its sensitivity.
    pub(super) fn with(self, law: L) -> Result<Path<L>, DamagedPath> {
        Path::stored(self.id, law, self.payer, self.points)
    }
}

impl<L: PathLaw> Serialize for Path<L> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        L::Stored::from(self.clone()).serialize(to)
    }
}

impl<'de, L: PathLaw> Deserialize<'de> for Path<L> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        L::read(L::Stored::deserialize(from)?).map_err(D::Error::custom)
    }
}
