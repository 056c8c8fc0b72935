//! Eke's claims, for anyone to check: experiments, audits and measurements. Nothing depends on it.

pub mod audit;
pub mod bench;
pub mod calibrate;
pub mod categories;
pub mod fit;
pub mod laws;
pub mod oracle;
pub mod planar;
pub mod search;
pub mod seeded;
pub mod stopper;
pub mod tiers;

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
