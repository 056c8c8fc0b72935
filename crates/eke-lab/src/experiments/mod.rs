//! The papers' experiments and ours, each under the name that the command line knows.

pub(crate) mod central_savings;
pub(crate) mod elimination;
pub(crate) mod geo_identity;
pub(crate) mod geo_one_person;
pub(crate) mod gp_vs_cgp;
pub(crate) mod noisy_max;
pub(crate) mod quantiles;
pub(crate) mod selection_prices;
pub(crate) mod threshold_search;
pub(crate) mod tiers_count;
pub(crate) mod tiers_subset;
pub(crate) mod toplist;
