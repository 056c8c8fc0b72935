//! Paths of Laplace noise, priced in pure epsilon.
//!
//! A point of the path is a real number: the truth plus Laplace noise. What is released of it is
//! the nearest whole number of steps, and what is stored is the point. Both are made from the point
//! alone.

use std::convert::Infallible;

use eke_budget::{Amount, Epsilon, L1};

use crate::Entropy;
use crate::evidence::exact::clamped;
use crate::law::laplace_level::LaplaceLevel;
use crate::number::real::{Origin, Real};
use crate::path::points::{Path, sealed};
use crate::path::pure::{PureLevel, PurePoints};
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
pub type LaplacePath<T = i64> = Path<PurePoints<LaplaceLevel, T>>;

impl sealed::Sealed for LaplaceLevel {}

impl PureLevel for LaplaceLevel {
    /// A number for every coordinate.
    type Point<T: Integers> = Vec<Real>;

    fn at(price: Amount<Epsilon>, sensitivity: L1) -> Option<Self> {
        Self::at(price, sensitivity)
    }

    fn can_follow(&self, coarser: Option<&Self>) -> Result<(), MismatchReason> {
        self.can_follow(coarser)
    }

    fn around<T: Integers, E: Entropy + ?Sized>(
        &self,
        (truth, count): (&T, usize),
        coarser: Option<(&Self, &Vec<Real>)>,
        entropy: &mut E,
    ) -> Result<Vec<Real>, MismatchReason> {
        let points = (0..count).map(|coordinate| {
            let truth = clamped(truth.coordinate(coordinate));
            match coarser {
                None => self.draw(truth, entropy),
                Some((coarse, point)) => {
                    coarse.finer(&Origin::Whole(truth), point[coordinate], self, entropy)
                }
            }
        });
        Ok(points.collect::<Result<_, _>>()?)
    }

    fn beside<T: Integers, E: Entropy + ?Sized>(
        &self,
        (finer, fine): (&Self, &Vec<Real>),
        coarser: Option<(&Self, &Vec<Real>)>,
        entropy: &mut E,
    ) -> Result<Vec<Real>, MismatchReason> {
        let points = fine.iter().enumerate().map(|(coordinate, &fine)| match coarser {
            None => finer.coarser(fine, self, entropy),
            Some((coarser, point)) => {
                self.between((finer, fine), (coarser, point[coordinate]), entropy)
            }
        });
        Ok(points.collect::<Result<_, _>>()?)
    }

    fn coordinates<T: Integers>(point: &Vec<Real>) -> usize {
        point.len()
    }

    fn value<T: Integers>(point: &Vec<Real>) -> T {
        let nearest = |coordinate: usize| point.get(coordinate).map_or(0, Real::nearest);
        let Ok(value) = T::make(point.len(), |coordinate| Ok::<_, Infallible>(nearest(coordinate)));
        value
    }
}
