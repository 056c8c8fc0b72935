//! The local model: nobody trusts the collector, so every device randomizes its own answer and keeps its own
//! budget.
//!
//! | | |
//! |---|---|
//! | [`subset`], [`hash`], [`bits`] | what reports of the subset mechanism, of local hashing and of binary randomized response are worth |
//! | [`Plan`], [`Method`] | which report each tier gets, from one chain of them |
//! | [`Law`], [`Tally`], [`Estimates`] | counting reports, and what the counts say |
//! | [`Wire`] | reports as bytes |

pub mod bits;
pub mod hash;
pub mod subset;

mod choices;
mod counters;
mod estimate;
mod hash_plan;
mod law;
mod plan;
mod simplex;
mod subset_plan;
mod tails;
mod tally;
mod wire;

pub use estimate::{Estimates, Heavy, Interval, Over};
pub use law::{Law, ReportError};
pub use plan::{MOST_TIERS, Method, Plan, PlanError, Tier, variance};
pub use tally::{Tally, TallyError};
pub use wire::{VERSION, Wire, WireError};
