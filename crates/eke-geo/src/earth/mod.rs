//! Places on the earth, laid out flat and put on a lattice.

pub(crate) mod lattice;
pub(crate) mod level;
pub(crate) mod place;
pub(crate) mod region;
