//! The commands of `eke-lab`.

pub(crate) mod audit;
pub(crate) mod bench;
pub(crate) mod path;
#[cfg(feature = "experiments")]
pub(crate) mod run;
pub(crate) mod sample;
#[cfg(feature = "experiments")]
pub(crate) mod timing;
