//! From rows to bounded sums, and from questions to answers.

mod asking;
mod expressions;
mod neighbours;
mod plain;
mod random;
mod rows;
mod sources;
