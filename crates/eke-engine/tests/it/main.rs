//! From rows to bounded sums, and from questions to answers.
//! From rows to bounded sums.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    reason = "numbers of tests are small"
)]

mod asking;
mod expressions;
mod neighbours;
mod plain;
mod random;
mod rows;
mod sources;
