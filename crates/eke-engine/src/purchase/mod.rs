//! Buying: who pays, whose turn it is, and whether whoever holds a path still runs.

pub(crate) mod circles;
pub(crate) mod process;
pub(crate) mod reading;
pub(crate) mod turn;
