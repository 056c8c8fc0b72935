//! From files to bounded sums.

mod expressions;
mod failing;
mod files;
mod meaning;
mod neighbours;
mod plain;
mod random;
mod sources;
mod texts;
