//! Numbers that privacy depends on: amounts of money, parameters, and bounds on floats.

pub(crate) mod amount;
pub(crate) mod enclosure;
pub mod normal;
pub(crate) mod parameter;

pub use amount::{Amount, Currency, Price};
pub use parameter::{
    BoundedRange, Delta, Epsilon, L1, L2, LInf, Metres, ParameterError, Rho, Variance,
};
