//! Somebody who follows a question while it is answered.

use eke_budget::{Amount, Rho};

use crate::ask::slot::{Clock, StoppedClock, SystemClock};
use crate::watch::Paid;

/// Follows a question while it is answered, and may stop it. An analyst's hears nothing from when
/// rows are read until the answer leaves: when something is heard depends on rows.
pub trait Observer: Sync {
    /// Some rows have been read, of `all` if that is known: for the steward alone.
    fn rows(&self, _seen: u64, _all: Option<u64>) {}

    /// What time it is. Answers to analysts leave on slots of it.
    fn clock(&self) -> &dyn Clock {
        &SystemClock
    }

    /// A round of looks has been taken: for the steward alone.
    fn look(&self, _number: u32) {}

    /// Whether it wants to see values while they are refined.
    fn follows(&self) -> bool {
        false
    }

    /// What was found so far, after a round of looks that is paid for and stored. Answers to
    /// analysts leave on slots of time, so this is for the steward alone.
    fn so_far(&self, _found: &SoFar) {}

    /// Whether a count within this error is really what is meant, and not a part of it: 0.05 of a
    /// row, and not 5 %.
    fn confirm_error(&self, _error: f64) -> bool {
        true
    }

    /// Whether to go on with a question that may cost this much of what is left.
    fn confirm(&self, _may_cost: Amount<Rho>, _left: Amount<Rho>) -> bool {
        true
    }

    /// Whether to stop at the next place where nothing that is paid for is lost.
    fn is_over(&self) -> bool {
        false
    }

    /// Whether to go on with a watch that sets aside this much of what is left, and perhaps more at
    /// later steps.
    fn confirm_watch(&self, _sets_aside: Paid, _left: Paid) -> bool {
        true
    }
}

/// What was found so far.
#[derive(Clone, Debug, PartialEq)]
pub struct SoFar {
    /// How many values are followed no further.
    pub ended: usize,
    /// Of how many.
    pub all: usize,
    /// The first value of the first few groups, as it was released: the keys of the group and the
    /// value. They have no intervals, which hold where a walk ends.
    pub first: Vec<(Vec<serde_json::Value>, f64)>,
}

/// Nobody follows, and nothing waits for a slot: for tests, and programs that see to that
/// themselves.
impl Observer for () {
    fn clock(&self) -> &dyn Clock {
        &StoppedClock
    }
}
