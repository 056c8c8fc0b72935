//! Quantiles: a search for a cut of a public grid below which a share of the rows lies.
//!
//! # The grid and its paths
//!
//! A column's bounds are divided into `2^levels` cells, numbered from 0. Cut t is the lower end of
//! cell t, so cuts 1 to `2^levels - 1` lie inside the bounds; values outside were clamped. A group
//! has one path for every cut that was ever looked at, of
//!
//! ```text
//! C_t = #(rows with a cell below t) - #(rows with cell t or above)
//! ```
//!
//! and one of N, the number of its rows that have a value. Both change by at most `sensitivity`
//! with a unit (the rows that one unit may have in a group, after bounding). There is no q in
//! either: `#(cell < t) - q N = (C_t + (1 - 2q) N)/2`, so all quantiles, goals, histograms and
//! analysts share them. Their prices add up: a group costs the sum over its cuts and N.
//!
//! # The rule
//!
//! [`Search`] is a pure function of public parameters and of what has been released:
//! [`Search::next`] takes the finest released point of every cut and of N that the analyst may see
//! ([`Seen`]) and says which paths must come to which precision ([`Step::Look`]), or the answer
//! ([`Step::Done`]). It keeps nothing. So a caller goes round in a loop
//!
//! 1. `search.next(&seen)`;
//! 2. for a `Look`, brings every path that is named to the precision that is named, or a little
//!    beyond if the grid wants that (one round, one charge), and goes on from 1;
//! 3. for a `Done`, answers; if a look does not fit the budget, [`Search::end`] answers from what
//!    has been seen.
//!
//! Each look asks for more of at least one path than was seen, so the loop ends. Whatever was seen
//! before, by other quantiles or finer goals of the same analyst, is used and not asked for again.
//! The precision of a point is one over the variance of its noise, in rows; a path of this
//! sensitivity at this precision costs [`Search::price`] of it. Cells, not values, are answered:
//! cell c stands for the values from cut c to cut c + 1.

mod answer;

pub use answer::{Found, SearchEnding};

use eke_budget::{Amount, Rho};

use crate::stopping::goal::{Confidence, GoalError};

/// The share of the rows that lies below a quantile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quantile {
    /// A share above 0 and below 1.
    Share(f64),
    /// The least value.
    Least,
    /// The largest value.
    Most,
}

/// What is searched. All of it is public.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchOf {
    /// Which quantile.
    pub quantile: Quantile,
    /// The grid has two to the power of this cells; from 1 to 64.
    pub levels: u8,
    /// What one unit can change C of a cut, or N, by, under add-remove: in rows.
    pub sensitivity: f64,
    /// The step of the grid that C and N are on, in rows: 1 for whole rows.
    pub step: f64,
    /// How many times the price under add-remove a path costs: 1, or 4 where a unit is replaced.
    pub factor: u32,
}

/// What is good enough of a quantile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SearchGoal {
    /// A rank error: the answer's rank is within this of the quantile's, as a share of the rows.
    Rank(f64),
    /// An interval of the quantile of at most twice this number of cells.
    Cells(f64),
    /// Whatever the highest price gives.
    Price,
}

/// A released point of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Its value, in rows.
    pub value: f64,
    /// One over the variance of its noise, in rows.
    pub precision: f64,
}

/// What an analyst may see of a group's paths: of each the finest point.
pub trait Seen {
    /// A point of C at a cut.
    fn cut(&self, cut: u64) -> Option<Point>;

    /// A point of N.
    fn count(&self) -> Option<Point>;
}

/// What comes next.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Paths to be taken further, each to at least this precision.
    Look {
        /// The cuts, and the precision of C at each.
        cuts: Vec<(u64, f64)>,
        /// The precision of N, if it is to be taken further.
        count: Option<f64>,
    },
    /// The answer.
    Done(Found),
}

/// When to look where on the paths of a group for one of its quantiles, and when to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Search {
    of: SearchOf,
    goal: SearchGoal,
    confidence: Confidence,
    most: Amount<Rho>,
}

impl Search {
    /// A search for a quantile of one group, to a goal, for at most this price of all its paths
    /// together (as if nothing had been seen before).
    ///
    /// # Errors
    /// A number is out of range: see [`GoalError`].
    pub fn new(
        of: SearchOf,
        goal: SearchGoal,
        confidence: Confidence,
        most: Amount<Rho>,
    ) -> Result<Self, GoalError> {
        Ok(Self { of, goal, confidence, most })
    }

    /// What comes next, given what has been seen.
    #[must_use]
    pub fn next(&self, seen: &impl Seen) -> Step {
        let _ = (self.of, self.goal, self.confidence, self.most, seen.count());
        todo!()
    }

    /// What to say if the next look cannot be had.
    #[must_use]
    pub fn end(&self, seen: &impl Seen, ending: SearchEnding) -> Found {
        let _ = (seen.count(), ending);
        todo!()
    }

    /// What one path costs at a precision: `factor sensitivity² precision/2`, as rho.
    #[must_use]
    pub fn price(&self, precision: f64) -> f64 {
        f64::from(self.of.factor) * self.of.sensitivity.powi(2) * precision / 2.0
    }
}
