//! The laws, tested as a user would meet them.
#![allow(clippy::unwrap_used, clippy::float_cmp, reason = "a test that cannot go on should stop")]

mod averages;
mod bundles;
mod category_paths;
mod chains;
mod choices;
mod coins;
mod gaussian_paths;
mod keys;
mod laplace_paths;
mod laws;
mod levels;
mod lines;
mod msdlap;
mod path_laws;
mod paths;
mod planar;
mod prepaid;
mod rankings;
mod skellam;
mod stopping;
mod tiers;
mod two_purses;
mod vectors;
mod walk;
