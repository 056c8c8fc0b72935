//! Everything about `eke-budget` that is tested from outside.
#![allow(clippy::unwrap_used, clippy::float_cmp, reason = "a test that cannot go on should stop")]

mod accounts;
mod amounts;
mod batches;
mod budgets;
mod conversions;
mod documents;
mod golden;
mod groups;
mod odometer;
mod parameters;
mod paths;
mod residuals;
mod rounds;
mod sheets;
mod skellam;
mod weights;
mod wide;

use eke_budget::number::Currency;
use eke_budget::{
    Account, Adjacency, Amount, Approved, Budget, BudgetSpec, Journal, MemoryJournal, Metric,
    PathId,
};

const CENTRAL: Metric = Metric::Hamming(Adjacency::AddRemove);

fn amount<C: Currency>(decimal: &str) -> Amount<C> {
    decimal.parse().unwrap()
}

fn path(number: u8) -> PathId {
    PathId::new([number; 32])
}

/// Rho 1 and delta 1e-6 in the zCDP purse, epsilon 1 and delta 1e-6 in the pure one.
fn budget() -> Budget {
    BudgetSpec::zcdp("1".parse().unwrap())
        .with_delta("1e-5".parse().unwrap())
        .with_zcdp_delta("1e-6".parse().unwrap())
        .with_pure("1".parse().unwrap())
        .with_pure_delta("1e-6".parse().unwrap())
        .resolve(CENTRAL)
        .unwrap()
}

/// An account with that budget, and its journal.
fn account() -> (Account, MemoryJournal) {
    let mut journal = MemoryJournal::new();
    (Account::open("riders", budget(), &mut journal).unwrap(), journal)
}

/// Commits an approval and uses its receipt up.
fn buy<P, J: Journal>(account: &mut Account, approved: Approved<P>, journal: &mut J) -> P {
    let Ok(receipt) = account.commit(approved, journal) else { panic!("the journal failed") };
    receipt.redeem()
}
