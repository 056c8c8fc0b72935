//! Everything about `eke-sql` that is tested from outside.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod golden;
mod tables;
