//! Everything about `eke-geo` that is tested from outside.
#![allow(clippy::unwrap_used, clippy::float_cmp, reason = "a test that cannot go on should stop")]

mod hulls;
mod nearest;

use std::fmt::Debug;

use eke_budget::metric::Reach;
use eke_budget::{Account, Amount, BudgetSpec, Epsilon, Metres, Metric, NoHistory, Rho};
use eke_geo::{Lattice, PlacePrice};
use eke_noise::Entropy;
use eke_noise::select::{Allotment, Prepaid};

/// Bits that a seed decides (splitmix64), so that a test that passes passes again.
struct Seeded(u64);

impl Entropy for Seeded {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ (word >> 31)
    }
}

impl Seeded {
    /// A number between 0 and 1.
    fn part(&mut self) -> f64 {
        (self.word() >> 11) as f64 / 9_007_199_254_740_992.0
    }
}

/// Where nothing may be drawn.
struct Nothing;

impl Entropy for Nothing {
    fn word(&mut self) -> u64 {
        panic!("something was drawn");
    }
}

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
    let mut bits = Seeded(seed);
    (0..count)
        .map(|_| {
            let (angle, part) = (std::f64::consts::TAU * bits.part(), bits.part().sqrt());
            [radius * part * angle.cos(), radius * part * angle.sin()]
        })
        .collect()
}
