//! From files to bounded sums.

mod cuts;
mod expressions;
mod failing;
mod files;
mod listed;
mod lying;
mod meaning;
mod neighbours;
mod parts;
mod per_unit;
mod plain;
mod postgres;
mod random;
mod sources;
mod texts;
mod units;
