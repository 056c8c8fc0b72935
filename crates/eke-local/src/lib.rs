//! The local model: nobody trusts the collector, so every device randomizes its own answer and keeps its own
//! budget.
//!
//! | | |
//! |---|---|
//! | [`subset`], [`hash`], [`bits`] | what reports of the subset mechanism, of local hashing and of binary randomized response are worth |
//! | [`Plan`], [`Method`] | which report each tier gets, from one chain of them |

pub mod bits;
pub mod hash;
pub mod subset;

mod choices;
mod hash_plan;
mod plan;
mod subset_plan;

pub use plan::{MOST_TIERS, Method, Plan, PlanError, Tier, variance};
