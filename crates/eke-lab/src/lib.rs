//! Eke's claims, for anyone to check: experiments, audits and measurements. Nothing depends on it.
//!
//! Experiments, and what only they need, are behind a feature that is on: mutants, which are built
//! again and again to be audited, do without them.

pub mod audit;
pub mod bench;
pub mod calibrate;
#[cfg(feature = "experiments")]
pub mod experiments;
#[cfg(feature = "experiments")]
pub mod frame;
pub mod laws;
pub mod planar;
pub mod stopper;

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
