//! Laws of noise, and how those of several levels hang together.

pub(crate) mod convolution;
pub(crate) mod gaussian;
pub(crate) mod gaussian_step;
pub(crate) mod geometric_level;
pub(crate) mod laplace;
pub(crate) mod laplace_level;
pub(crate) mod lazy;
pub(crate) mod msdlap;
pub(crate) mod planar;
pub(crate) mod radius;
pub(crate) mod rounded_laplace;
pub(crate) mod skellam;
pub(crate) mod skellam_level;
