//! Paths, whatever their law.

mod bundles;
mod gaussian_paths;
mod laplace_paths;
mod msdlap;
mod path_laws;
mod paths;
mod skellam;
mod tiers;
mod two_purses;
mod vectors;
pub(crate) mod walk;
