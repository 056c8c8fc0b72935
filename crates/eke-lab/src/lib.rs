//! Eke's claims, for anyone to check: experiments, audits and measurements. Nothing depends on it.
//!
//! Experiments, comparisons with others, and what only they need are behind a feature that is on:
//! mutants, which are built again and again to be audited, do without them.

pub mod audit;
#[cfg(feature = "experiments")]
pub mod bench;
pub mod calibrate;
#[cfg(feature = "experiments")]
mod experiments;
#[cfg(feature = "experiments")]
pub mod frame;
mod laws;
mod stopper;

use std::error::Error;

use eke_budget::purchase::{GroupPrices, GroupRaise};
use eke_budget::{
    Account, Adjacency, Amount, BudgetSpec, Epsilon, Metric, NoHistory, PathId, Price, Purchase,
    Receipt, Rho,
};
use eke_noise::{AccountPayer, Entropy, Exact, NoisePath, reveal};

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

/// A receipt for a purchase, once an account has paid.
///
/// # Errors
/// The account refused.
pub fn paid<P: Purchase>(account: &mut Account, purchase: P) -> Result<Receipt<P>, Box<dyn Error>> {
    let approved = account.approve(purchase)?;
    Ok(account.commit(approved, &mut NoHistory).map_err(|_| "not recorded")?)
}

/// A receipt for the next points of groups of a bundle, once an account has paid.
///
/// # Errors
/// The account refused, or a point is not finer than what there is of its group.
pub fn paid_groups<C: Price>(
    account: &mut Account,
    prices: &mut GroupPrices<C>,
    bundle: PathId,
    points: impl IntoIterator<Item = (u32, Amount<C>)>,
) -> Result<Receipt<GroupRaise<C>>, Box<dyn Error>> {
    let mut round = prices.round();
    for (group, to) in points {
        round.raise(group, to)?;
    }
    let approved = account.raise_groups(round.offer(bundle))?;
    let receipt = account.commit(approved, &mut NoHistory).map_err(|_| "not recorded")?;
    prices.keep(&receipt)?;
    Ok(receipt)
}

/// What a path shows at a price, finer or coarser than what there is, once an account has paid.
///
/// # Errors
/// It was not paid for, or the path did not take what was.
pub fn shown<P: NoisePath<Value = i64>, E: Entropy>(
    account: &mut Account,
    path: &mut P,
    truth: &Exact<i64>,
    to: Amount<P::Currency>,
    entropy: &mut E,
) -> Result<i64, Box<dyn Error>> {
    let sensitivity = truth.sensitivity().get().try_into()?;
    let mut payer = AccountPayer { account, journal: &mut NoHistory };
    Ok(reveal(path, truth, sensitivity, to, &mut payer, entropy)?.get())
}
