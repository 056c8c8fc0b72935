//! Everything about `eke-select` that is tested from outside.
#![allow(clippy::unwrap_used, clippy::float_cmp, reason = "a test that cannot go on should stop")]

mod choosing;
mod golden;
mod lines;
mod maxima;
mod naive;
mod refused;
mod searches;
