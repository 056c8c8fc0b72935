//! The papers' experiments and ours, each under the name that the command line knows.

pub mod central_savings;
pub mod elimination;
pub mod geo_identity;
pub mod geo_one_person;
pub mod gp_vs_cgp;
pub mod noisy_max;
pub mod selection_prices;
pub mod threshold_search;
pub mod tiers_count;
pub mod tiers_subset;
pub mod toplist;
