//! Exact numbers, and how wide a law may be.

pub(crate) mod fixed;
pub(crate) mod ratio;
pub(crate) mod real;
pub(crate) mod scale;

pub use ratio::Ratio;
pub use scale::ScaleError;
