//! From rows to bounded sums.

mod neighbours;
mod plain;
mod random;
mod rows;
mod sources;
