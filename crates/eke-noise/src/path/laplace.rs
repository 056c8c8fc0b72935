//! Paths of Laplace noise, priced in pure epsilon.
//!
//! A point of the path is a real number: the truth plus Laplace noise. What is released of it is
//! the nearest whole number of steps, and what is stored is the point. Both are made from the point
//! alone.

use std::convert::Infallible;
use std::marker::PhantomData;

use eke_budget::{Amount, Epsilon, L1, PathId};

use crate::Entropy;
use crate::evidence::exact::{Truth, clamped};
use crate::law::laplace_level::LaplaceLevel;
use crate::number::real::{Origin, Real};
use crate::path::bundle_law::Taken;
use crate::path::points::{
    Beside, DamagedPath, Path, PathLaw, Points, Priced, StepRule, Stored, sealed,
};
use crate::path::{Integers, MismatchReason};

/// A path of Laplace noise on the real line, priced in pure epsilon: a point at epsilon has noise
/// of rate epsilon over the sensitivity, on an integer truth or in every coordinate of a vector of
/// integers. What is released is the nearest integer.
///
/// - Theorem: path-increments (docs/theorems.md)
/// - Proves: everything revealed of the path, and everything stored of it, costs the epsilon of its
///   finest point
/// - Assumes: the truth has the path's sensitivity and is the same at every step (caller); the step
///   was charged (receipt)
/// - Deviates: truths beyond 2⁶² are clamped to it, which changes no sensitivity
/// - Checked by: `laplace_points_revealed_in_any_order_have_one_joint_law`,
///   `rounded_laplace_points_have_their_joint_law`, `a_path_takes_only_its_own_next_receipt`,
///   `what_is_stored_has_one_form_whichever_part_was_drawn`
///
/// Where the noise between two levels is nothing, both have the same point, and not one that was
/// computed anew. Its state is what has been revealed, and can be stored; the truth is not in it.
pub type LaplacePath<T = i64> = Path<LaplacePoints<T>>;

/// The law of a [`LaplacePath`].
#[derive(Clone, Debug, PartialEq)]
pub struct LaplacePoints<T: Integers> {
    sensitivity: L1,
    value: PhantomData<fn() -> T>,
}

impl<T: Integers> LaplacePath<T> {
    /// A path of which nothing has been revealed.
    #[must_use]
    pub fn open(id: PathId, sensitivity: L1) -> Self {
        Self::new(id, LaplacePoints { sensitivity, value: PhantomData })
    }
}

impl<T: Integers> LaplacePoints<T> {
    fn level(&self, at: Amount<Epsilon>) -> Result<LaplaceLevel, MismatchReason> {
        LaplaceLevel::at(at, self.sensitivity).ok_or(MismatchReason::OtherStep)
    }
}

/// What is released of a point.
fn nearest<T: Integers>(point: &[Real]) -> T {
    let nearest = |coordinate: usize| point.get(coordinate).map_or(0, Real::nearest);
    let Ok(value) = T::make(point.len(), |coordinate| Ok::<_, Infallible>(nearest(coordinate)));
    value
}

impl<T: Integers> sealed::Sealed for LaplacePoints<T> {}

impl<T: Integers> PathLaw for LaplacePoints<T> {
    type Currency = Epsilon;
    type Value = T;
    /// A number for every coordinate.
    type Point = Vec<Real>;
    /// Its level, and that of the point before it.
    type Step = (LaplaceLevel, Option<LaplaceLevel>);
    type Stored = Stored<Self>;

    const STEPS: StepRule = StepRule::Next;
    const WHOLE_UNITS: bool = false;

    fn sensitivity(&self) -> L1 {
        self.sensitivity
    }

    fn norm(bound: &<T as Truth>::Bound) -> Option<L1> {
        Some(T::l1(bound))
    }

    fn coordinates(point: &Vec<Real>) -> usize {
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
        finest: Option<&Vec<Real>>,
        (truth, count): (&T, usize),
        entropy: &mut E,
    ) -> Result<Vec<Real>, MismatchReason> {
        let coarser = coarser.as_ref().zip(finest);
        let points = (0..count).map(|coordinate| {
            let truth = clamped(truth.coordinate(coordinate));
            match coarser {
                None => level.draw(truth, entropy),
                Some((coarse, point)) => {
                    coarse.finer(&Origin::Whole(truth), point[coordinate], &level, entropy)
                }
            }
        });
        Ok(points.collect::<Result<_, _>>()?)
    }

    fn coarser<E: Entropy + ?Sized>(
        &self,
        Beside { to, finer: (at, fine), coarser }: Beside<'_, Self>,
        entropy: &mut E,
    ) -> Result<(Amount<Epsilon>, Vec<Real>), MismatchReason> {
        let (level, finer) = (self.level(to)?, self.level(at)?);
        let coarser = match coarser {
            None => None,
            Some((at, point)) => Some((self.level(at)?, point)),
        };
        let points = fine.iter().enumerate().map(|(coordinate, &fine)| match &coarser {
            None => finer.coarser(fine, &level, entropy),
            Some((coarser, point)) => {
                level.between((&finer, fine), (coarser, point[coordinate]), entropy)
            }
        });
        Ok((to, points.collect::<Result<_, _>>()?))
    }

    fn value(&self, _: &Points<Self>, (_, point): Priced<'_, Self>) -> T {
        nearest(point)
    }

    /// A single number has one coordinate, whatever is asked of it.
    fn could_have_drawn(&self, points: &Points<Self>) -> bool {
        points.values().all(|point| nearest::<T>(point).len() == point.len())
    }

    fn read(stored: Stored<Self>) -> Result<Path<Self>, DamagedPath> {
        let sensitivity = stored.sensitivity;
        stored.with(Self { sensitivity, value: PhantomData })
    }
}
