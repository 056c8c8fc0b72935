//! How wide noise is, and what holds around a noisy point.

pub(crate) mod anytime;
pub(crate) mod blur;
pub(crate) mod gamma;
pub(crate) mod quantiles;
pub(crate) mod search_error;

pub use anytime::{AnytimeBall, SignBoundary};
pub use blur::Blur;
pub use quantiles::{Miss, MissError, chi_width, normal_width, two_sided_width};
