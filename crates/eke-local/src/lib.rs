//! The local model: nobody trusts the collector, so every device randomizes its own answer and keeps its own
//! budget.
//!
//! | | |
//! |---|---|
//! | [`subset`] | what reports of the subset mechanism are worth |
//! | [`Plan`], [`Method`] | which report each tier gets, from one chain of them |

pub mod subset;

mod plan;

pub use plan::{MOST_TIERS, Method, Plan, PlanError, Tier};
