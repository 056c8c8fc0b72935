//! Paths of geometric noise, priced in pure epsilon.

use std::marker::PhantomData;

use eke_budget::{Amount, Epsilon, L1, PathId};

use crate::Entropy;
use crate::evidence::exact::{Truth, clamped};
use crate::law::geometric_level::GeometricLevel;
use crate::path::bundle_law::Taken;
use crate::path::points::{
    Beside, DamagedPath, Path, PathLaw, Points, Priced, StepRule, Stored, sealed,
};
use crate::path::{Integers, MismatchReason};

/// A path of two-sided geometric noise, priced in pure epsilon: a point at epsilon has noise of
/// rate epsilon over the sensitivity, on an integer truth or in every coordinate of a vector of
/// integers.
///
/// - Theorem: path-increments (docs/theorems.md)
/// - Proves: everything revealed of the path costs the epsilon of its finest point
/// - Assumes: the truth has the path's sensitivity and is the same at every step (caller); the step
///   was charged (receipt)
/// - Deviates: truths beyond 2⁶² are clamped to it, which changes no sensitivity
/// - Checked by: `points_revealed_in_any_order_have_one_joint_law`,
///   `a_path_takes_only_its_own_next_receipt`, `an_older_copy_of_a_path_takes_no_later_step`
///
/// Its state is what has been revealed, and can be stored; the truth is not in it.
pub type GeometricPath<T = i64> = Path<GeometricPoints<T>>;

/// The law of a [`GeometricPath`].
#[derive(Clone, Debug, PartialEq)]
pub struct GeometricPoints<T: Integers> {
    sensitivity: L1,
    value: PhantomData<fn() -> T>,
}

impl<T: Integers> GeometricPath<T> {
    /// A path of which nothing has been revealed.
    #[must_use]
    pub fn open(id: PathId, sensitivity: L1) -> Self {
        Self::new(id, GeometricPoints { sensitivity, value: PhantomData })
    }
}

impl<T: Integers> GeometricPoints<T> {
    fn level(&self, at: Amount<Epsilon>) -> Result<GeometricLevel, MismatchReason> {
        GeometricLevel::at(at, self.sensitivity).ok_or(MismatchReason::OtherStep)
    }
}

impl<T: Integers> sealed::Sealed for GeometricPoints<T> {}

impl<T: Integers> PathLaw for GeometricPoints<T> {
    type Currency = Epsilon;
    type Value = T;
    type Point = T;
    /// Its level, and that of the point before it.
    type Step = (GeometricLevel, Option<GeometricLevel>);
    type Stored = Stored<Self>;

    const STEPS: StepRule = StepRule::Next;
    const WHOLE_UNITS: bool = false;

    fn sensitivity(&self) -> L1 {
        self.sensitivity
    }

    fn norm(bound: &<T as Truth>::Bound) -> Option<L1> {
        Some(T::l1(bound))
    }

    fn coordinates(point: &T) -> usize {
        point.len()
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
        finest: Option<&T>,
        (truth, count): (&T, usize),
        entropy: &mut E,
    ) -> Result<T, MismatchReason> {
        let coarser = coarser.as_ref().zip(finest);
        T::make(count, |coordinate| {
            let coarser = coarser.map(|(level, point)| (level, point.coordinate(coordinate)));
            level.around(clamped(truth.coordinate(coordinate)), coarser, entropy)
        })
    }

    fn coarser<E: Entropy + ?Sized>(
        &self,
        Beside { to, finer: (at, finer), coarser }: Beside<'_, Self>,
        entropy: &mut E,
    ) -> Result<(Amount<Epsilon>, T), MismatchReason> {
        let (level, fine_level) = (self.level(to)?, self.level(at)?);
        let coarser = match coarser {
            None => None,
            Some((at, point)) => Some((self.level(at)?, point)),
        };
        let value = T::make(finer.len(), |coordinate| {
            let coarser =
                coarser.as_ref().map(|(level, point)| (level, point.coordinate(coordinate)));
            level.beside((&fine_level, finer.coordinate(coordinate)), coarser, entropy)
        })?;
        Ok((to, value))
    }

    fn value(&self, _: &Points<Self>, (_, point): Priced<'_, Self>) -> T {
        point.clone()
    }

    fn read(stored: Stored<Self>) -> Result<Path<Self>, DamagedPath> {
        let sensitivity = stored.sensitivity;
        stored.with(Self { sensitivity, value: PhantomData })
    }
}
