//! Eke's claims, for anyone to check: experiments, audits and measurements. Nothing depends on it.

pub mod audit;
pub mod calibrate;
pub mod categories;
pub mod context;
pub mod data;
pub mod experiment;
pub mod fit;
pub mod identity;
pub mod laws;
pub mod near;
pub mod oracle;
pub mod peak;
pub mod planar;
pub mod prices;
pub mod reach;
pub mod report;
pub mod savings;
pub mod search;
pub mod seeded;
pub mod stopper;
pub mod summary;
pub mod table;
pub mod tiers;
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
