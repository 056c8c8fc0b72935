//! Paths of geometric noise, priced in pure epsilon.

use eke_budget::{Amount, Epsilon, L1};

use crate::Entropy;
use crate::evidence::exact::clamped;
use crate::law::geometric_level::GeometricLevel;
use crate::path::points::{Path, sealed};
use crate::path::pure::{PureLevel, PurePoints};
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
pub type GeometricPath<T = i64> = Path<PurePoints<GeometricLevel, T>>;

impl sealed::Sealed for GeometricLevel {}

impl PureLevel for GeometricLevel {
    type Point<T: Integers> = T;

    fn at(price: Amount<Epsilon>, sensitivity: L1) -> Option<Self> {
        Self::at(price, sensitivity)
    }

    fn can_follow(&self, coarser: Option<&Self>) -> Result<(), MismatchReason> {
        self.can_follow(coarser)
    }

    fn around<T: Integers, E: Entropy + ?Sized>(
        &self,
        (truth, count): (&T, usize),
        coarser: Option<(&Self, &T)>,
        entropy: &mut E,
    ) -> Result<T, MismatchReason> {
        T::make(count, |coordinate| {
            let coarser = coarser.map(|(level, point)| (level, point.coordinate(coordinate)));
            self.around(clamped(truth.coordinate(coordinate)), coarser, entropy)
        })
    }

    fn beside<T: Integers, E: Entropy + ?Sized>(
        &self,
        (finer, fine): (&Self, &T),
        coarser: Option<(&Self, &T)>,
        entropy: &mut E,
    ) -> Result<T, MismatchReason> {
        Ok(T::make(fine.len(), |coordinate| {
            let coarser = coarser.map(|(level, point)| (level, point.coordinate(coordinate)));
            self.beside((finer, fine.coordinate(coordinate)), coarser, entropy)
        })?)
    }

    fn coordinates<T: Integers>(point: &T) -> usize {
        point.len()
    }

    fn value<T: Integers>(point: &T) -> T {
        point.clone()
    }
}
