//! Everything about `eke-budget` that is tested from outside.
#![allow(clippy::unwrap_used, clippy::float_cmp, reason = "a test that cannot go on should stop")]

mod accounts;
mod amounts;
mod budgets;
mod conversions;
mod documents;
mod golden;
mod groups;
mod odometer;
mod parameters;
mod paths;
mod rounds;

use eke_budget::{Account, Adjacency, Amount, BudgetSpec, Currency, Metric, PathId};

const CENTRAL: Metric = Metric::Hamming(Adjacency::AddRemove);

fn amount<C: Currency>(decimal: &str) -> Amount<C> {
    decimal.parse().unwrap()
}

fn path(number: u8) -> PathId {
    PathId::new([number; 32])
}

/// An account with rho 1 and delta 1e-6 kept in the zCDP purse, epsilon 1 and delta 1e-6 in the
/// pure one.
fn account() -> Account {
    let budget = BudgetSpec::zcdp("1".parse().unwrap())
        .with_delta("1e-5".parse().unwrap())
        .with_zcdp_delta("1e-6".parse().unwrap())
        .with_pure("1".parse().unwrap())
        .with_pure_delta("1e-6".parse().unwrap())
        .resolve(CENTRAL)
        .unwrap();
    Account::open("riders", budget)
}
