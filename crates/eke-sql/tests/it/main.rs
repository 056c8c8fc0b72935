//! Everything about `eke-sql` that is tested from outside.
#![allow(clippy::unwrap_used, clippy::float_cmp, reason = "a test that cannot go on should stop")]

mod averages;
mod bombs;
mod bounds;
mod canonical;
mod evaluation;
mod golden;
mod narrow;
mod parameters;
mod policies;
mod postgres;
mod properties;
mod refusals;
mod tables;
