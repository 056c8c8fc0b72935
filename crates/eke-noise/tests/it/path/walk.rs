//! A path of any law, with its truth and the account that pays for it.

use std::fmt::Debug;

use eke_budget::purchase::Coarsen;
use eke_budget::{
    Account, Adjacency, Amount, BudgetSpec, Epsilon, L1, Metric, NoHistory, PathId, Price, Raise,
    Receipt, Rho,
};
use eke_noise::{Entropy, Exact, NoisePath};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A path of any law: it can be compared, and stored and read back.
pub(crate) trait Kept:
    NoisePath<Currency: Debug> + Clone + Debug + PartialEq + Serialize + DeserializeOwned
{
}

impl<P> Kept for P where
    P: NoisePath<Currency: Debug> + Clone + Debug + PartialEq + Serialize + DeserializeOwned
{
}

pub(crate) fn id(number: u8) -> PathId {
    PathId::new([number; 32])
}

pub(crate) fn at<C: Price>(price: &str) -> Amount<C> {
    price.parse().unwrap()
}

pub(crate) fn number(truth: i64, sensitivity: f64) -> Exact<i64> {
    Exact::new(truth, L1::new(sensitivity).unwrap())
}

/// An account with both purses.
pub(crate) fn account(name: &str, metric: Metric) -> Account {
    let budget = BudgetSpec::zcdp(Rho::new(1e6).unwrap())
        .with_pure(Epsilon::new(5e7).unwrap())
        .resolve(metric)
        .unwrap();
    Account::open(name, budget, &mut NoHistory).unwrap()
}

pub(crate) fn riders() -> Account {
    account("riders", Metric::Hamming(Adjacency::AddRemove))
}

/// A receipt for a path, up to a price, at a sensitivity.
pub(crate) fn pay<C: Price + Debug>(
    account: &mut Account,
    path: PathId,
    to: &str,
    sensitivity: f64,
) -> Receipt<Raise<C>> {
    let sensitivity = C::Sensitivity::try_from(sensitivity).unwrap();
    let approved = account.raise(path, at(to), sensitivity).unwrap();
    account.commit(approved, &mut NoHistory).unwrap()
}

/// A receipt for a coarser point of a path.
pub(crate) fn ask<C: Price + Debug>(
    account: &mut Account,
    path: PathId,
    to: &str,
) -> Receipt<Coarsen<C>> {
    let approved = account.coarsen(path, at(to)).unwrap();
    account.commit(approved, &mut NoHistory).unwrap()
}

/// The orders in which three points can be asked for, each by its place from fine to coarse.
pub(crate) const ORDERS: [(&str, [usize; 3]); 6] = [
    ("coarse to fine", [2, 1, 0]),
    ("fine to coarse", [0, 1, 2]),
    ("the middle last", [2, 0, 1]),
    ("the finest last", [1, 2, 0]),
    ("the coarsest in the middle", [0, 2, 1]),
    ("the finest in the middle", [1, 0, 2]),
];

/// A path, its truth, and what pays for it.
pub(crate) struct Walk<P: NoisePath> {
    pub(crate) account: Account,
    pub(crate) path: P,
    pub(crate) truth: Exact<P::Value>,
    pub(crate) sensitivity: f64,
}

impl<P: Kept> Walk<P> {
    pub(crate) fn new(path: P, truth: Exact<P::Value>, sensitivity: f64) -> Self {
        Self { account: riders(), path, truth, sensitivity }
    }

    pub(crate) fn pay(&mut self, to: &str) -> Receipt<Raise<P::Currency>> {
        pay(&mut self.account, self.path.id(), to, self.sensitivity)
    }

    pub(crate) fn refine(&mut self, to: &str, entropy: &mut impl Entropy) -> P::Value {
        let receipt = self.pay(to);
        self.path.refine(&self.truth, receipt, entropy).unwrap().get()
    }

    pub(crate) fn coarsen(&mut self, to: &str, entropy: &mut impl Entropy) -> P::Value {
        let receipt = ask(&mut self.account, self.path.id(), to);
        self.path.coarsen(receipt, entropy).unwrap().get()
    }

    /// Points at three prices, from fine to coarse, asked for in an order.
    pub(crate) fn three(
        &mut self,
        order: [usize; 3],
        prices: [&str; 3],
        entropy: &mut impl Entropy,
    ) -> [P::Value; 3] {
        for place in order {
            let price = prices[place];
            if at(price) > self.path.finest() {
                self.refine(price, entropy);
            } else {
                self.coarsen(price, entropy);
            }
        }
        prices.map(|price| self.path.point(at(price)).unwrap().get())
    }

    /// What has been spent of both purses.
    pub(crate) fn spent(&self) -> (String, String) {
        let odometer = self.account.odometer();
        let (pure, zcdp) = (odometer.pure().unwrap().spent(), odometer.zcdp().unwrap().spent());
        (pure.to_string(), zcdp.to_string())
    }

    /// Stores the path and goes on with what is read, which is the same, and is stored in the same
    /// way.
    pub(crate) fn store_and_read(&mut self) {
        let json = serde_json::to_string(&self.path).unwrap();
        let read = serde_json::from_str(&json).unwrap();
        assert_eq!(self.path, read);
        assert_eq!(serde_json::to_string(&read).unwrap(), json);
        self.path = read;
    }
}
