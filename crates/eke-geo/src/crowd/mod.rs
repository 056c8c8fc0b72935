//! Many people with one place each, and an account each, as columns.
//!
//! A crowd holds everybody's points in memory: it plays the devices of all of them, and protects
//! nobody from the program that runs it. What is computed of points is `Exact`, and what leaves are
//! reports with noise that was paid for before it was drawn: each round charges a column of
//! accounts, and the proof of that ([`PaidColumn`](eke_budget::account::PaidColumn)) is what noise
//! is drawn for. What has been seen of a person's point is one point on a path: a later question
//! goes on from there.

pub(crate) mod bell;
pub(crate) mod count;
pub(crate) mod density;
pub(crate) mod neighbours;
pub(crate) mod plan;
pub(crate) mod positions;
pub(crate) mod reports;
pub(crate) mod schedule;
pub(crate) mod seen;
pub(crate) mod series;
mod side;
pub(crate) mod walk;

pub use count::{Count, count};
pub use density::{Density, density};
pub use neighbours::{Neighbours, neighbours};
pub use plan::{Allowance, Plan, PlanError, Rule, Split, Way};
pub use seen::{Seen, SeenError};
pub use series::{Carry, Series};
pub use walk::{Round, Spending};

use std::fmt;

use eke_budget::account::{Sheet, SheetError};
use eke_budget::number::ParameterError;
use eke_budget::{Amount, Rho};
use eke_noise::release::{RowError, RowNoise};

use crate::crowd::positions::Positions;
use crate::crowd::walk::Look;
use crate::{Lattice, Shape};

/// Everybody's points and accounts. Points cannot be looked at:
/// ```compile_fail,E0616
/// fn look(crowd: eke_geo::Crowd) {
///     crowd.positions;
/// }
/// ```
pub struct Crowd {
    positions: Positions,
    accounts: Sheet<Rho>,
    seen: Seen,
    /// Noise that has been prepared.
    noise: RowNoise,
    observer: Observer,
}

/// Who wants to know about rounds: somebody who waits.
#[derive(Default)]
struct Observer(Option<Told>);

/// Told how many rounds there were, how many there may be, and how many people go on.
type Told = Box<dyn Fn(usize, usize, usize) + Send + Sync>;

impl Observer {
    fn tell(&self, look: Look, walking: usize) {
        if let Some(told) = &self.0 {
            told(look.round, look.rounds, walking);
        }
    }
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
    /// Noise that was not prepared for these people.
    #[error(transparent)]
    Rows(RowError),
}

impl From<RowError> for CrowdError {
    fn from(error: RowError) -> Self {
        match error {
            RowError::Narrow(price) => Self::Narrow(price),
            RowError::Wide(price) => Self::Wide(price),
            error => Self::Rows(error),
        }
    }
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
        Ok(Self {
            positions: Positions::new(lattice, points, accounts.len())?,
            accounts,
            seen: Seen::default(),
            noise: RowNoise::default(),
            observer: Observer::default(),
        })
    }

    /// The same people at other points, with the accounts that they have: nothing has been seen of
    /// these points.
    ///
    /// # Errors
    /// There are not as many points as accounts, or one is beyond the lattice. Nobody has moved.
    pub fn move_to(&mut self, points: Vec<i64>) -> Result<(), CrowdError> {
        self.positions = Positions::new(*self.lattice(), points, self.accounts.len())?;
        self.seen = Seen::default();
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
        self.positions.lattice()
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
    pub fn observe(&mut self, told: impl Fn(usize, usize, usize) + Send + Sync + 'static) {
        self.observer = Observer(Some(Box::new(told)));
    }

    /// Goes on from what was released of everybody's points before.
    ///
    /// # Errors
    /// It is not of as many people and coordinates.
    pub fn restore(&mut self, seen: Seen) -> Result<(), CrowdError> {
        let (people, dimensions) = (self.people(), self.lattice().dimensions());
        if !seen.fits(people, dimensions) {
            return Err(CrowdError::Seen { people, dimensions });
        }
        self.seen = seen;
        Ok(())
    }

    fn check_shape(&self, shape: &Shape) -> Result<(), CrowdError> {
        let fits = self.lattice().dimensions() == 2 && shape.grid() == self.lattice().grid();
        fits.then_some(()).ok_or(CrowdError::Shape)
    }

    fn check_point(&self, point: &[i64]) -> Result<(), CrowdError> {
        let (given, dimensions) = (point.len(), self.lattice().dimensions());
        if given != dimensions {
            return Err(CrowdError::Dimensions { given, dimensions });
        }
        let bound = self.lattice().bound();
        let inside = point.iter().all(|steps| (-bound..=bound).contains(steps));
        inside.then_some(()).ok_or(CrowdError::Beyond)
    }
}

impl fmt::Debug for Crowd {
    /// Points are not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Crowd").field("people", &self.people()).finish_non_exhaustive()
    }
}
