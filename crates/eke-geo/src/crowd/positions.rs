//! Where everybody is: the one place that holds many people's points.
//!
//! Nothing here shows a point. What is computed of points comes as an [`Exact`] row for each
//! person, with what a metre changes it by, and only `eke-noise` opens that, for a charge to the
//! person's account.

use eke_budget::number::ParameterError;
use eke_noise::Exact;
use eke_noise::release::{RowBound, Rows};

use crate::crowd::CrowdError;
use crate::{Lattice, Shape};

/// Everybody's points, on one lattice.
pub(crate) struct Positions {
    lattice: Lattice,
    /// The coordinates of one person after the other.
    points: Vec<i64>,
}

impl Positions {
    /// Points of as many people, one after the other.
    pub(crate) fn new(
        lattice: Lattice,
        points: Vec<i64>,
        people: usize,
    ) -> Result<Self, CrowdError> {
        let dimensions = lattice.dimensions();
        if points.len() / dimensions != people || !points.len().is_multiple_of(dimensions) {
            return Err(CrowdError::Points { coordinates: points.len(), people, dimensions });
        }
        let bound = lattice.bound();
        if points.iter().any(|steps| !(-bound..=bound).contains(steps)) {
            return Err(CrowdError::Beyond);
        }
        Ok(Self { lattice, points })
    }

    pub(crate) fn lattice(&self) -> &Lattice {
        &self.lattice
    }

    /// Everybody's point.
    pub(crate) fn points(&self) -> Exact<Rows<'_>> {
        let bound = RowBound::new(self.lattice.sensitivity(), self.lattice.dimensions());
        Exact::new(Rows((&self.points).into()), bound)
    }

    /// How far everybody is from a public point, in whole steps, rounded down.
    pub(crate) fn distances(&self, to: &[i64]) -> Result<Exact<Rows<'_>>, ParameterError> {
        let dimensions = self.lattice.dimensions();
        let rows = self.points.chunks_exact(dimensions);
        // Sums of squares of differences are within 63 bits, or they are not.
        let widest = 2 * u128::from(self.lattice.bound().unsigned_abs());
        self.numbers(if widest * widest * dimensions as u128 <= i64::MAX as u128 {
            rows.map(|point| {
                let square = |(&one, &two): (&i64, &i64)| (one - two) * (one - two);
                floor_root(point.iter().zip(to).map(square).sum::<i64>())
            })
            .collect()
        } else {
            rows.map(|point| crate::earth::distance(point, to)).collect()
        })
    }

    /// How far everybody is outside a public shape on the plane, in whole steps, rounded down;
    /// below zero inside.
    pub(crate) fn outside(&self, shape: &Shape) -> Result<Exact<Rows<'_>>, ParameterError> {
        let points = self.points.chunks_exact(2);
        self.numbers(points.map(|point| shape.signed_distance(point)).collect())
    }

    /// One number for everybody that moves by no more steps than the point does, and is rounded.
    fn numbers(&self, numbers: Vec<i64>) -> Result<Exact<Rows<'_>>, ParameterError> {
        let bound = RowBound::new(self.lattice.of_function(1.0)?, 1);
        Ok(Exact::new(Rows(numbers.into()), bound))
    }

    /// The points, for tests to compare answers with.
    #[cfg(test)]
    pub(crate) fn truth(&self) -> &[i64] {
        &self.points
    }
}

/// The square root of a number that is not negative, rounded down: nearly by floating point, and
/// then exactly.
fn floor_root(number: i64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "off by one at most, which is made good")]
    let root = ((number as f64).sqrt() as i64).min(MOST_ROOT);
    if root * root > number {
        root - 1
    } else if root < MOST_ROOT && (root + 1) * (root + 1) <= number {
        root + 1
    } else {
        root
    }
}

/// The largest number whose square is below 2⁶³.
const MOST_ROOT: i64 = 3_037_000_499;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn roots_are_rounded_down(root in 0..=MOST_ROOT, shift in 0u32..40, off in -2i64..=2) {
            let root = root >> shift;
            for number in [(root * root).saturating_add(off), i64::MAX - off.abs(), off] {
                if number >= 0 {
                    prop_assert_eq!(floor_root(number), number.isqrt());
                }
            }
        }
    }
}
