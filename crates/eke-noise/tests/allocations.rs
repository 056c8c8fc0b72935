//! How often a bundle's round allocates: in a process of its own, which counts.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::num::NonZeroU32;

use eke_budget::{Account, Adjacency, BudgetSpec, GroupPrices, L1, Metric, NoHistory, PathId, Rho};
use eke_noise::{Bundle, Column, Columns, Exact, SystemEntropy};

#[global_allocator]
static COUNTING: dhat::Alloc = dhat::Alloc;

const GROUPS: u32 = 1_000_000;

/// A million groups, two columns, two rounds: one receipt each, and a few thousand allocations for
/// laws and columns, not one per group.
#[test]
fn a_million_groups_refine_in_one_round_without_an_allocation_each() {
    let metric = Metric::Hamming(Adjacency::AddRemove);
    let budget = BudgetSpec::zcdp(Rho::new(10.0).unwrap()).resolve(metric).unwrap();
    let mut account = Account::open("riders", budget, &mut NoHistory).unwrap();
    let mut prices = GroupPrices::<Rho>::new(GROUPS, NonZeroU32::new(3).unwrap(), metric);
    let bound = L1::new(1024.0).unwrap();
    let columns = vec![Column { sensitivity: bound, share: 1 }; 2];
    let mut bundle = Bundle::<Rho>::open(PathId::new([1; 32]), columns, GROUPS).unwrap();
    let column: Vec<i64> = (0..i64::from(GROUPS)).collect();
    let truth = Exact::new(Columns(vec![column.clone(), column]), vec![bound; 2]);
    let mut entropy = SystemEntropy::new().unwrap();
    let profiler = dhat::Profiler::builder().testing().build();
    for to in ["0.5", "1"] {
        let mut round = prices.round();
        for group in 0..GROUPS {
            round.raise(group, to.parse().unwrap()).unwrap();
        }
        let approved = account.raise_groups(round.offer(bundle.id())).unwrap();
        let receipt = account.commit(approved, &mut NoHistory).unwrap();
        prices.keep(&receipt).unwrap();
        let before = dhat::HeapStats::get().total_blocks;
        bundle.refine(&truth, receipt, &mut entropy).unwrap();
        let blocks = dhat::HeapStats::get().total_blocks - before;
        assert!(blocks < 20_000, "{blocks} allocations");
    }
    drop(profiler);
    assert_eq!(account.odometer().zcdp().unwrap().spent(), "3".parse().unwrap());
    assert_eq!(bundle.finest(999_999), "1".parse().unwrap());
}
