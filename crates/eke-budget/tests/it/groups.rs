//! The price of many groups is the sum of the dearest few.

use std::num::NonZeroU32;

use eke_budget::{Adjacency, Amount, Epsilon, GroupError, GroupPrices, Price, Rho};
use proptest::prelude::*;

use crate::amount;

fn most(k: u32) -> NonZeroU32 {
    NonZeroU32::new(k).unwrap()
}

/// By sorting.
fn price_of<C: Price>(prices: &[u128], k: usize, factor: u128) -> Amount<C> {
    let mut sorted = prices.to_vec();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    Amount::from_grains(factor * sorted.iter().take(k).sum::<u128>())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, max_global_rejects: 50_000, ..Default::default() })]

    /// Raised one by one, in rounds of which some are kept and some dropped, the price is always
    /// the one that sorting gives, and a round is charged the difference.
    #[test]
    fn the_price_of_groups_is_the_sum_of_the_largest(
        groups in 1u32..12,
        k in 1u32..15,
        replace: bool,
        rounds in prop::collection::vec(
            (prop::collection::vec((0u32..12, 0u128..50), 1..10), any::<bool>()), 1..8),
    ) {
        let (adjacency, factor) =
            if replace { (Adjacency::Replace, 4) } else { (Adjacency::AddRemove, 1) };
        let mut prices = GroupPrices::<Rho>::new(groups, most(k), adjacency);
        let mut model = vec![0u128; groups as usize];
        for (raises, keep) in rounds {
            let before = prices.price();
            let mut tried = model.clone();
            let mut round = prices.round();
            for (group, more) in raises {
                let group = group % groups;
                tried[group as usize] += more;
                round.raise(group, Amount::from_grains(tried[group as usize])).unwrap();
                let now = price_of::<Rho>(&tried, k as usize, factor);
                prop_assert_eq!(round.price(), now.minus(before).unwrap());
            }
            if keep {
                round.keep();
                model = tried;
            } else {
                drop(round);
            }
            prop_assert_eq!(prices.price(), price_of(&model, k as usize, factor));
            for (group, &price) in model.iter().enumerate() {
                let group = u32::try_from(group).unwrap();
                prop_assert_eq!(prices.group(group), Some(Amount::from_grains(price)));
            }
        }
    }

    /// What a unit can lose, worked out directly: it leaves some groups, enters others, and swings
    /// in the rest. No choice costs more than the factor allows, in either currency.
    #[test]
    fn replace_covers_leaving_entering_and_swinging(
        prices in prop::collection::vec(1u128..1000, 1..9),
        k in 1usize..5,
        choice in prop::collection::vec(0u8..4, 9),
    ) {
        let role = |wanted: u8| {
            let with_role = prices.iter().zip(&choice).filter(move |(_, c)| **c == wanted);
            with_role.map(|(price, _)| *price).collect::<Vec<_>>()
        };
        let (leaves, enters, swings) = (role(1), role(2), role(3));
        prop_assume!(leaves.len() + swings.len() <= k && enters.len() + swings.len() <= k);
        let moved = leaves.iter().chain(&enters).sum::<u128>();
        // Twice the shift is four times the rho and twice the epsilon.
        let swung: u128 = swings.iter().sum();
        let largest = |factor: u32| price_of::<Rho>(&prices, k, u128::from(factor)).grains();
        prop_assert!(moved + 4 * swung <= largest(Rho::REPLACE_FACTOR));
        prop_assert!(moved + 2 * swung <= largest(Epsilon::REPLACE_FACTOR));
    }
}

#[test]
fn a_unit_that_swings_in_its_dearest_groups_needs_the_whole_factor() {
    let mut prices = GroupPrices::<Rho>::new(3, most(1), Adjacency::Replace);
    let mut round = prices.round();
    round.raise(1, amount("0.1")).unwrap();
    round.keep();
    assert_eq!(prices.price(), amount("0.4"));
    assert_eq!((prices.len(), prices.is_empty(), prices.most()), (3, false, most(1)));
}

#[test]
fn prices_do_not_fall_and_unknown_groups_are_errors() {
    let mut prices = GroupPrices::<Rho>::new(2, most(1), Adjacency::AddRemove);
    let mut round = prices.round();
    round.raise(0, amount("0.2")).unwrap();
    assert_eq!(round.raise(0, amount("0.1")), Err(GroupError::WouldFall { group: 0 }));
    assert_eq!(round.raise(2, amount("0.1")), Err(GroupError::NoSuchGroup { group: 2, groups: 2 }));
    round.keep();
    assert_eq!(prices.price(), amount("0.2"));
    assert_eq!(prices.group(2), None);
}

#[test]
fn sums_beyond_the_largest_amount_are_errors_that_change_nothing() {
    let half = Amount::<Rho>::from_grains(u128::MAX / 2);
    let mut prices = GroupPrices::<Rho>::new(4, most(2), Adjacency::AddRemove);
    let mut round = prices.round();
    round.raise(0, half).unwrap();
    round.raise(1, half).unwrap();
    assert_eq!(round.raise(2, Amount::MAX), Err(GroupError::TooLarge));
    assert_eq!(round.raise(1, Amount::MAX), Err(GroupError::TooLarge));
    round.keep();
    assert_eq!(prices.group(2), Some(Amount::ZERO));
    assert_eq!(prices.price(), half.times(2).unwrap());

    let mut replaced = GroupPrices::<Rho>::new(4, most(2), Adjacency::Replace);
    assert_eq!(replaced.round().raise(0, half), Err(GroupError::TooLarge));
}

#[test]
fn no_groups_cost_nothing() {
    let mut prices = GroupPrices::<Rho>::new(0, most(3), Adjacency::AddRemove);
    assert_eq!(
        prices.round().raise(0, amount("0.1")),
        Err(GroupError::NoSuchGroup { group: 0, groups: 0 })
    );
    assert!(prices.price().is_zero() && prices.is_empty());
}
