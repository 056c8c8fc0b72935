//! `eke-lab speed`: how fast something is, next to a baseline in the same run.

pub(crate) mod crowd;
pub(crate) mod fleet;
pub(crate) mod geo;
pub(crate) mod local;
pub(crate) mod noise;
#[cfg(feature = "experiments")]
pub(crate) mod rows;
pub(crate) mod selection;
