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

mod asking;
mod chosen;
mod expressions;
mod failing;
mod identity;
mod meaning;
mod neighbours;
mod people;
mod places;
mod plain;
mod prices;
mod racing;
mod random;
mod rows;
mod sources;
mod steward;
mod texts;
mod top;
mod watching;
