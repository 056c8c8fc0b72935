//! What people type: goals, statements, words, and what is said when they cannot be read.

#[macro_use]
mod mirrored;

pub(crate) mod goal;
pub(crate) mod statements;
pub(crate) mod usage;
