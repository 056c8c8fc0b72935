//! How wide noise is, and what holds around a noisy point.

pub(crate) mod anytime;
pub(crate) mod blur;
pub(crate) mod gamma;
pub(crate) mod interval;
pub(crate) mod quantiles;
pub(crate) mod search_error;
