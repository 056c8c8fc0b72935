//! From rows to bounded sums, and from questions to answers.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    clippy::type_complexity,
    clippy::unwrap_used,
    reason = "numbers of tests are small, and a test that cannot go on should stop"
)]

mod ask;
mod people;
mod places;
mod rows;
mod trips;
mod watch;
