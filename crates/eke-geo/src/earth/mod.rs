//! Places on the earth, laid out flat and put on a lattice.

pub(crate) mod lattice;
pub(crate) mod level;
pub(crate) mod place;
pub(crate) mod region;

pub use lattice::{Lattice, LatticeError, distance};
pub use level::{Level, epsilon_for_error, error_of_epsilon, error_of_rho, rho_for_error};
pub use place::{Place, PlaceError};
pub use region::{Region, RegionError};
