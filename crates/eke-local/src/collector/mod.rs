//! The collector's side.

pub(crate) mod coordinator;
