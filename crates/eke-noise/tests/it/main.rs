//! The laws, tested as a user would meet them.
#![allow(clippy::unwrap_used, clippy::float_cmp, reason = "a test that cannot go on should stop")]

mod histograms;
mod law;
mod local;
mod path;
mod select;
mod stopping;
