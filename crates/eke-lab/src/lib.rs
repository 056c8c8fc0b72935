//! Eke's claims, for anyone to check: experiments, audits and measurements. Nothing depends on it.
//!
//! Experiments, and what only they need, are behind a feature that is on: mutants, which are built again and again to be audited, do
//! without them.

pub mod audit;
pub mod calibrate;
#[cfg(feature = "experiments")]
pub mod categories;
#[cfg(feature = "experiments")]
pub mod context;
#[cfg(feature = "experiments")]
pub mod data;
#[cfg(feature = "experiments")]
pub mod experiment;
pub mod fit;
#[cfg(feature = "experiments")]
pub mod identity;
pub mod laws;
#[cfg(feature = "experiments")]
pub mod near;
pub mod oracle;
#[cfg(feature = "experiments")]
pub mod peak;
pub mod planar;
#[cfg(feature = "experiments")]
pub mod prices;
#[cfg(feature = "experiments")]
pub mod reach;
#[cfg(feature = "experiments")]
pub mod report;
#[cfg(feature = "experiments")]
pub mod savings;
#[cfg(feature = "experiments")]
pub mod search;
pub mod seeded;
pub mod stopper;
#[cfg(feature = "experiments")]
pub mod summary;
#[cfg(feature = "experiments")]
pub mod table;
#[cfg(feature = "experiments")]
pub mod tiers;
#[cfg(feature = "experiments")]
pub mod toplist;

use eke_budget::{Account, Adjacency, BudgetSpec, Epsilon, Metric, NoHistory, Rho};

/// An account that can pay for anything.
///
/// # Panics
/// Never: its budget is a constant.
#[must_use]
pub fn account() -> Account {
    let budget = BudgetSpec::zcdp(Rho::new(1e8).expect("a rho"))
        .with_pure(Epsilon::new(1e8).expect("an epsilon"))
        .resolve(Metric::Hamming(Adjacency::AddRemove))
        .expect("a budget");
    match Account::open("lab", budget, &mut NoHistory) {
        Ok(account) => account,
    }
}
