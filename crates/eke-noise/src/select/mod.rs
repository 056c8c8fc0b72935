//! Choosing by noisy scores: maxima, comparisons, thresholds, rankings and keys.

pub(crate) mod choose;
pub(crate) mod compare;
pub(crate) mod noisy;
pub(crate) mod partition;
pub(crate) mod prepaid;
pub(crate) mod ranking;
pub(crate) mod sampler;
pub(crate) mod threshold;
