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

pub use gaussian::{Centre, DiscreteGaussian};
pub use gaussian_step::variance_for;
pub use geometric_level::{GeometricLevel, LevelError};
pub use laplace::DiscreteLaplace;
pub use lazy::Noise;
pub use msdlap::{Msdlap, NotWhole, Shifts};
pub use planar::PlanarLaplace;
pub use radius::Radius;
pub use rounded_laplace::Laplace;
pub use skellam::Skellam;
pub use skellam_level::SkellamLevel;
