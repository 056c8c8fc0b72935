//! Drawing exactly: coins, tables, bins, and what an auditor sees of them.

pub(crate) mod audit_cells;
pub(crate) mod binned;
pub(crate) mod coin;
pub(crate) mod exponential;
pub(crate) mod ladder;
pub(crate) mod parts;
pub(crate) mod table;

pub use audit_cells::Cell;
pub use coin::{bernoulli, bernoulli_exp_neg, uniform_below};
