//! Many people with one place each, and an account each, as columns.
//!
//! A crowd holds everybody's points in the clear, in memory, as a fleet does: it plays the devices
//! of all of them, and protects nobody from whoever runs it. What leaves it are reports with noise
//! that was paid for before it was drawn. What has been seen of a person's point is one point on a
//! path: a later question goes on from there.

pub(crate) mod bell;
pub(crate) mod count;
pub(crate) mod density;
pub(crate) mod neighbours;
pub(crate) mod plan;
pub(crate) mod reports;
pub(crate) mod schedule;
pub(crate) mod series;
pub(crate) mod threshold;
pub(crate) mod walk;

use std::fmt;

use eke_budget::{Amount, ParameterError, Rho};
use eke_local::{Sheet, SheetError};
use serde::{Deserialize, Serialize};

use crate::crowd::plan::PlanError;
use crate::crowd::walk::{Laws, Look};
use crate::{Lattice, Shape};

/// Everybody's points and accounts.
pub struct Crowd {
    pub(crate) lattice: Lattice,
    pub(crate) points: Vec<i64>,
    pub(crate) accounts: Sheet<Rho>,
    pub(crate) seen: Seen,
    /// Noise that has been prepared.
    pub(crate) laws: Laws,
    pub(crate) watch: Watch,
}

/// Who wants to know about rounds: somebody who waits.
#[derive(Default)]
pub(crate) struct Watch(Option<Told>);

/// Told how many rounds there were, how many there may be, and how many people go on.
type Told = Box<dyn Fn(usize, usize, usize) + Send + Sync>;

impl Watch {
    pub(crate) fn tell(&self, look: Look, walking: usize) {
        if let Some(told) = &self.0 {
            told(look.round, look.rounds, walking);
        }
    }
}

/// What has been released of everybody's points. It may be shown, and stored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seen {
    /// How far each person's path has been followed; empty if nobody's has.
    pub prices: Vec<Amount<Rho>>,
    /// What was seen there, in steps of the lattice, coordinate by coordinate and person by person.
    pub points: Vec<f64>,
}

/// Why people were not asked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CrowdError {
    /// Coordinates are missing.
    #[error("there are {coordinates} coordinates for {people} people: each has {dimensions}")]
    Points {
        /// How many coordinates were given.
        coordinates: usize,
        /// How many accounts there are.
        people: usize,
        /// How many coordinates a point has.
        dimensions: usize,
    },
    /// A coordinate is not on the lattice.
    #[error("a coordinate is beyond the bound of the lattice: put points on it first")]
    Beyond,
    /// What was seen is another crowd's.
    #[error("what has been seen is not of {people} people with {dimensions} coordinates each")]
    Seen {
        /// How many people there are.
        people: usize,
        /// How many coordinates a point has.
        dimensions: usize,
    },
    /// A point of another space.
    #[error("the point has {given} coordinates, and the lattice {dimensions}")]
    Dimensions {
        /// How many the point has.
        given: usize,
        /// How many the lattice has.
        dimensions: usize,
    },
    /// A shape of another lattice.
    #[error(
        "shapes lie on the plane: make the shape on the lattice of the people, of two dimensions"
    )]
    Shape,
    /// Allowances for another number of people.
    #[error("there are {given} allowances for {people} people")]
    Allowances {
        /// How many there are.
        given: usize,
        /// How many people there are.
        people: usize,
    },
    /// More neighbours than people, or none.
    #[error("ask for 1 to {most} neighbours, not {asked}")]
    Neighbours {
        /// How many were asked for.
        asked: usize,
        /// How many there can be.
        most: usize,
    },
    /// Noise narrower than the lattice.
    #[error(
        "at a price of {0} noise is as narrow as the lattice: take a smaller least distance, or a lower price"
    )]
    Narrow(Amount<Rho>),
    /// Noise wider than can be drawn.
    #[error(
        "at a price of {0} noise is too wide to be drawn: take a larger least distance, or a higher price"
    )]
    Wide(Amount<Rho>),
    /// Rounds that there are not.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Accounts that there are not.
    #[error(transparent)]
    Sheet(#[from] SheetError),
    /// A number out of range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
}

impl Crowd {
    /// People with these points, one after the other, and these accounts, in rho per square metre.
    ///
    /// # Errors
    /// There are not as many points as accounts, or one is beyond the lattice.
    pub fn new(
        lattice: Lattice,
        points: Vec<i64>,
        accounts: Sheet<Rho>,
    ) -> Result<Self, CrowdError> {
        check(&lattice, &points, accounts.len())?;
        Ok(Self {
            lattice,
            points,
            accounts,
            seen: Seen::default(),
            laws: Laws::default(),
            watch: Watch::default(),
        })
    }

    /// The same people at other points, with the accounts that they have: nothing has been seen of
    /// these points.
    ///
    /// # Errors
    /// There are not as many points as accounts, or one is beyond the lattice. Nobody has moved.
    pub fn move_to(&mut self, points: Vec<i64>) -> Result<(), CrowdError> {
        check(&self.lattice, &points, self.accounts.len())?;
        (self.points, self.seen) = (points, Seen::default());
        Ok(())
    }

    /// How many people there are.
    #[must_use]
    pub fn people(&self) -> usize {
        self.accounts.len()
    }

    /// What points are on.
    #[must_use]
    pub fn lattice(&self) -> &Lattice {
        &self.lattice
    }

    /// Everybody's accounts.
    #[must_use]
    pub fn accounts(&self) -> &Sheet<Rho> {
        &self.accounts
    }

    /// What has been released of everybody's points.
    #[must_use]
    pub fn seen(&self) -> &Seen {
        &self.seen
    }

    /// Calls this after every round of every question: how many rounds there were, how many there
    /// may be, and how many people go on. All of it may be shown.
    pub fn watch(&mut self, told: impl Fn(usize, usize, usize) + Send + Sync + 'static) {
        self.watch = Watch(Some(Box::new(told)));
    }

    /// Goes on from what was released of everybody's points before.
    ///
    /// # Errors
    /// It is not of as many people and coordinates, or a number is not one.
    pub fn restore(&mut self, seen: Seen) -> Result<(), CrowdError> {
        let (people, dimensions) = (self.people(), self.lattice.dimensions());
        let nobody = seen.prices.is_empty() && seen.points.is_empty();
        let fits = seen.prices.len() == people && seen.points.len() == people * dimensions;
        if !(nobody || fits) || seen.points.iter().any(|steps| !steps.is_finite()) {
            return Err(CrowdError::Seen { people, dimensions });
        }
        self.seen = seen;
        Ok(())
    }

    pub(crate) fn check_shape(&self, shape: &Shape) -> Result<(), CrowdError> {
        let fits = self.lattice.dimensions() == 2 && shape.grid() == self.lattice.grid();
        fits.then_some(()).ok_or(CrowdError::Shape)
    }

    pub(crate) fn check_point(&self, point: &[i64]) -> Result<(), CrowdError> {
        let (given, dimensions) = (point.len(), self.lattice.dimensions());
        if given != dimensions {
            return Err(CrowdError::Dimensions { given, dimensions });
        }
        let bound = self.lattice.bound();
        let inside = point.iter().all(|steps| (-bound..=bound).contains(steps));
        inside.then_some(()).ok_or(CrowdError::Beyond)
    }

    /// How far everybody is from a point, in whole steps, rounded down.
    pub(crate) fn distances(&self, to: &[i64]) -> Vec<i64> {
        let dimensions = self.lattice.dimensions();
        let rows = self.points.chunks_exact(dimensions);
        // Sums of squares of differences are within 63 bits, or they are not.
        let widest = 2 * u128::from(self.lattice.bound().unsigned_abs());
        if widest * widest * dimensions as u128 <= i64::MAX as u128 {
            rows.map(|point| {
                let square = |(&one, &two): (&i64, &i64)| (one - two) * (one - two);
                floor_root(point.iter().zip(to).map(square).sum::<i64>())
            })
            .collect()
        } else {
            rows.map(|point| crate::distance(point, to)).collect()
        }
    }
}

/// Whether there is a point of the lattice for everybody.
fn check(lattice: &Lattice, points: &[i64], people: usize) -> Result<(), CrowdError> {
    let dimensions = lattice.dimensions();
    if points.len() / dimensions != people || !points.len().is_multiple_of(dimensions) {
        return Err(CrowdError::Points { coordinates: points.len(), people, dimensions });
    }
    let bound = lattice.bound();
    if points.iter().any(|steps| !(-bound..=bound).contains(steps)) {
        return Err(CrowdError::Beyond);
    }
    Ok(())
}

/// The square root of a number that is not negative, rounded down: nearly by floating point, and
/// then exactly.
fn floor_root(number: i64) -> i64 {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "off by one at most, which is made good"
    )]
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

impl fmt::Debug for Crowd {
    /// Points are not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Crowd").field("people", &self.people()).finish_non_exhaustive()
    }
}

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
