//! Everything about `eke-geo` that is tested from outside.
#![allow(clippy::unwrap_used, clippy::float_cmp, reason = "a test that cannot go on should stop")]

mod hulls;
mod nearest;

use std::fmt::Debug;

use eke_budget::metric::Reach;
use eke_budget::{Account, Amount, BudgetSpec, Epsilon, Metres, Metric, NoHistory, Rho};
use eke_geo::{Lattice, PlacePrice};
use eke_noise::select::{Allotment, Prepaid};
use eke_testkit::{Dice, Nothing};

fn metres(value: f64) -> Metres {
    Metres::new(value).unwrap()
}

fn plane() -> Lattice {
    Lattice::boxed(2, metres(50_000.0), Metres::ONE).unwrap()
}

/// What a price buys from an account that measures in metres.
fn fund<C: PlacePrice + Debug>(price: Amount<C>) -> Prepaid<C> {
    let budget = BudgetSpec::zcdp(Rho::new(1e8).unwrap()).with_pure(Epsilon::new(1e8).unwrap());
    let budget = budget.resolve(Metric::Euclidean(Reach::Within(metres(1000.0)))).unwrap();
    let mut account = Account::open("ana", budget, &mut NoHistory).unwrap();
    let approved = account.approve(Allotment { price }).unwrap();
    Prepaid::open(account.commit(approved, &mut NoHistory).unwrap())
}

fn rho(text: &str) -> Amount<Rho> {
    text.parse().unwrap()
}

fn epsilon(text: &str) -> Amount<Epsilon> {
    text.parse().unwrap()
}

/// Points on a disc, by a seed.
fn disc(count: usize, radius: f64, seed: u64) -> Vec<[f64; 2]> {
    let mut bits = Dice(seed);
    (0..count)
        .map(|_| {
            let (angle, part) = (std::f64::consts::TAU * bits.uniform(), bits.uniform().sqrt());
            [radius * part * angle.cos(), radius * part * angle.sin()]
        })
        .collect()
}
