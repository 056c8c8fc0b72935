//! How long decisions take: `cargo bench -p eke-budget`.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on should stop")]

use std::num::NonZeroU32;

use divan::{Bencher, black_box};
use eke_budget::convert::{Curve, Method};
use eke_budget::{
    Account, Adjacency, Amount, BudgetSpec, Charge, GroupPrices, L2, Metric, NoHistory, PathId, Rho,
};

fn main() {
    divan::main();
}

fn account() -> Account {
    let budget = BudgetSpec::zcdp(Rho::new(1e6).unwrap())
        .with_pure("1e6".parse().unwrap())
        .resolve(Metric::Hamming(Adjacency::AddRemove))
        .unwrap();
    Account::open("bench", budget, &mut NoHistory).unwrap()
}

/// A yes: the filter looks, and the totals change.
#[divan::bench]
fn filter_yes(bencher: Bencher) {
    let mut account = account();
    let charge: Charge = "rho=1e-20".parse().unwrap();
    bencher.bench_local(|| account.approve(black_box(charge)).unwrap());
}

/// A yes, a record in no journal, and the receipt used up.
#[divan::bench]
fn filter_yes_and_receipt(bencher: Bencher) {
    let mut account = account();
    let charge: Charge = "rho=1e-20".parse().unwrap();
    bencher.bench_local(|| {
        let approved = account.approve(black_box(charge)).unwrap();
        account.commit(approved, &mut NoHistory).unwrap().redeem()
    });
}

/// A no, with what would fit.
#[divan::bench]
fn filter_no(bencher: Bencher) {
    let mut account = account();
    let charge: Charge = "rho=1e7".parse().unwrap();
    bencher.bench_local(|| account.approve(black_box(charge)).unwrap_err());
}

/// One path taken a step further and recorded, again and again.
#[divan::bench]
fn raise_a_path(bencher: Bencher) {
    let mut account = account();
    let (path, one) = (PathId::new([7; 32]), L2::new(1.0).unwrap());
    let mut grains = 0;
    bencher.bench_local(|| {
        grains += 1;
        let approved = account.raise(path, Amount::<Rho>::from_grains(grains), one).unwrap();
        account.commit(approved, &mut NoHistory).unwrap().redeem()
    });
}

/// An ex-post round from its reservation to its settlement.
#[divan::bench]
fn reserve_and_settle(bencher: Bencher) {
    let mut account = account();
    let worst = "1e-3".parse().unwrap();
    bencher.bench_local(|| {
        let approved = account.reserve(worst, Amount::ZERO).unwrap();
        let round = account.commit(approved, &mut NoHistory).unwrap().redeem();
        let settlement = round.settle_at(Amount::GRAIN).unwrap();
        account.settle(settlement, &mut NoHistory).unwrap();
    });
}

/// A million groups, of which a unit touches at most k, raised one by one in a scrambled order, the
/// price of the whole set read after every one, then bought and kept.
#[divan::bench(args = [3, 1000], sample_count = 20)]
fn raise_a_million_groups(bencher: Bencher, k: u32) {
    const GROUPS: u32 = 1_000_000;
    bencher
        .with_inputs(|| {
            let metric = Metric::Hamming(Adjacency::AddRemove);
            (GroupPrices::<Rho>::new(GROUPS, NonZeroU32::new(k).unwrap(), metric), account())
        })
        .bench_local_values(|(mut prices, mut account)| {
            let mut round = prices.round();
            for step in 0..GROUPS {
                // The factors scatter groups and prices, so that neighbours in time are not in
                // rank.
                let group = (step.wrapping_mul(0x9e37_79b1)) % GROUPS;
                let price = u128::from(step.wrapping_mul(0x85eb_ca6b));
                let raised = round.group(group).unwrap().grains() + price;
                round.raise(group, Amount::from_grains(raised)).unwrap();
                black_box(round.price());
            }
            let approved = account.raise_groups(round.offer(PathId::new([7; 32]))).unwrap();
            let receipt = account.commit(approved, &mut NoHistory).unwrap();
            prices.keep(&receipt).unwrap();
            (prices, account, receipt)
        });
}

/// The tight epsilon of a rho.
#[divan::bench]
fn convert_to_epsilon(bencher: Bencher) {
    let (rho, delta) = ("0.1".parse().unwrap(), "1e-6".parse().unwrap());
    bencher.bench_local(|| Method::Tight.epsilon(black_box(rho), black_box(delta)));
}

/// The rho that keeps an epsilon.
#[divan::bench]
fn convert_to_rho(bencher: Bencher) {
    let (epsilon, delta) = ("1".parse().unwrap(), "1e-6".parse().unwrap());
    bencher.bench_local(|| Method::Tight.rho(black_box(epsilon), black_box(delta)));
}
