//! What paths priced in pure epsilon have in common: a point is drawn around the one before it, at
//! a level that its price pays for.

use std::fmt;
use std::marker::PhantomData;

use eke_budget::{Amount, Epsilon, L1, PathId};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Entropy;
use crate::evidence::exact::Truth;
use crate::path::bundle_law::Taken;
use crate::path::points::{
    Beside, DamagedPath, Path, PathLaw, Points, Priced, StepRule, Stored, sealed,
};
use crate::path::{Integers, MismatchReason};

/// Noise of one rate, and how it is drawn beside noise of other rates.
pub trait PureLevel: Clone + fmt::Debug + PartialEq + sealed::Sealed {
    /// What is kept of a point.
    type Point<T: Integers>: Clone + fmt::Debug + PartialEq + Serialize + DeserializeOwned;

    /// The level that a price pays for: epsilon over the sensitivity, exactly; none for no price.
    fn at(price: Amount<Epsilon>, sensitivity: L1) -> Option<Self>;

    /// Whether noise of this level can be drawn, given a coarser level if there is one.
    fn can_follow(&self, coarser: Option<&Self>) -> Result<(), MismatchReason>;

    /// A point of this level for a truth of n coordinates, given the next coarser one if there is.
    fn around<T: Integers, E: Entropy + ?Sized>(
        &self,
        truth: (&T, usize),
        coarser: Option<(&Self, &Self::Point<T>)>,
        entropy: &mut E,
    ) -> Result<Self::Point<T>, MismatchReason>;

    /// A point of this level, given those revealed next to it: a finer one, and a coarser one if
    /// there is any.
    fn beside<T: Integers, E: Entropy + ?Sized>(
        &self,
        finer: (&Self, &Self::Point<T>),
        coarser: Option<(&Self, &Self::Point<T>)>,
        entropy: &mut E,
    ) -> Result<Self::Point<T>, MismatchReason>;

    /// How many coordinates a point has.
    fn coordinates<T: Integers>(point: &Self::Point<T>) -> usize;

    /// What is released of a point.
    fn value<T: Integers>(point: &Self::Point<T>) -> T;
}

/// The law of a path of such noise, for one sensitivity.
#[derive(Clone, Debug, PartialEq)]
pub struct PurePoints<L, T> {
    sensitivity: L1,
    types: PhantomData<fn() -> (L, T)>,
}

impl<L: PureLevel, T: Integers> Path<PurePoints<L, T>> {
    /// A path of which nothing has been revealed.
    #[must_use]
    pub fn open(id: PathId, sensitivity: L1) -> Self {
        Self::new(id, PurePoints::new(sensitivity))
    }
}

impl<L: PureLevel, T> PurePoints<L, T> {
    fn new(sensitivity: L1) -> Self {
        Self { sensitivity, types: PhantomData }
    }

    fn level(&self, at: Amount<Epsilon>) -> Result<L, MismatchReason> {
        L::at(at, self.sensitivity).ok_or(MismatchReason::OtherStep)
    }
}

impl<L: PureLevel, T: Integers> PathLaw for PurePoints<L, T> {
    type Currency = Epsilon;
    type Value = T;
    type Point = L::Point<T>;
    /// Its level, and that of the point before it.
    type Step = (L, Option<L>);
    type Stored = Stored<Self>;

    const STEPS: StepRule = StepRule::Next;
    const WHOLE_UNITS: bool = false;

    fn sensitivity(&self) -> L1 {
        self.sensitivity
    }

    fn norm(bound: &<T as Truth>::Bound) -> Option<L1> {
        Some(T::l1(bound))
    }

    fn coordinates(point: &L::Point<T>) -> usize {
        L::coordinates(point)
    }

    fn step(&self, step: Taken<Epsilon>) -> Result<Self::Step, MismatchReason> {
        let level = self.level(step.to)?;
        let coarser = (!step.now.is_zero()).then(|| self.level(step.now)).transpose()?;
        level.can_follow(coarser.as_ref())?;
        Ok((level, coarser))
    }

    fn finer<E: Entropy + ?Sized>(
        &self,
        (level, coarser): Self::Step,
        finest: Option<&L::Point<T>>,
        truth: (&T, usize),
        entropy: &mut E,
    ) -> Result<L::Point<T>, MismatchReason> {
        level.around(truth, coarser.as_ref().zip(finest), entropy)
    }

    fn coarser<E: Entropy + ?Sized>(
        &self,
        Beside { to, finer: (at, finer), coarser }: Beside<'_, Self>,
        entropy: &mut E,
    ) -> Result<(Amount<Epsilon>, L::Point<T>), MismatchReason> {
        let coarse = coarser.map(|(at, _)| self.level(at)).transpose()?;
        let coarser = coarse.as_ref().zip(coarser.map(|(_, point)| point));
        let point = self.level(to)?.beside((&self.level(at)?, finer), coarser, entropy)?;
        Ok((to, point))
    }

    fn value(&self, _: &Points<Self>, (_, point): Priced<'_, Self>) -> T {
        L::value(point)
    }

    /// A single number has one coordinate, whatever is asked of it.
    fn could_have_drawn(&self, points: &Points<Self>) -> bool {
        points.values().all(|point| L::value::<T>(point).len() == L::coordinates(point))
    }

    fn read(stored: Stored<Self>) -> Result<Path<Self>, DamagedPath> {
        let sensitivity = stored.sensitivity;
        stored.with(Self::new(sensitivity))
    }
}

impl<L: PureLevel, T: Integers> sealed::Sealed for PurePoints<L, T> {}
