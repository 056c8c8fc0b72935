//! The price of many groups is the sum of the dearest few.

use std::num::NonZeroU32;

use eke_budget::metric::Reach;
use eke_budget::purchase::{GroupError, GroupPrices, PathError};
use eke_budget::{Account, Adjacency, Amount, BudgetSpec, Epsilon, Metric, NoHistory, Price, Rho};
use proptest::prelude::*;

use crate::{CENTRAL, account, amount, path};

fn most(k: u32) -> NonZeroU32 {
    NonZeroU32::new(k).unwrap()
}

/// By sorting.
fn price_of<C: Price>(prices: &[u128], k: usize, factor: u128) -> Amount<C> {
    let mut sorted = prices.to_vec();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    Amount::from_grains(factor * sorted.iter().take(k).sum::<u128>())
}

/// What becomes of a round of raises.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Drop,
    Forget,
    Cancel,
    Keep,
}

fn fate() -> impl Strategy<Value = Fate> {
    prop::sample::select(vec![Fate::Drop, Fate::Forget, Fate::Cancel, Fate::Keep, Fate::Keep])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, max_global_rejects: 50_000, ..Default::default() })]

    /// Raised one by one, in rounds of which some are kept and some dropped, the price is always
    /// the one that sorting gives, and a round is charged the difference.
    #[test]
    fn the_price_of_groups_is_the_sum_of_the_largest(
        groups in 1u32..40,
        k in 1u32..20,
        replace: bool,
        rounds in prop::collection::vec(
            (prop::collection::vec((0u32..40, 0u128..50), 1..40), fate()), 1..8),
    ) {
        let (adjacency, factor) =
            if replace { (Adjacency::Replace, 4) } else { (Adjacency::AddRemove, 1) };
        let metric = Metric::Hamming(adjacency);
        let budget = BudgetSpec::zcdp(Rho::new(1.0).unwrap()).resolve(metric).unwrap();
        let mut account = Account::open("riders", budget, &mut NoHistory).unwrap();
        let mut prices = GroupPrices::<Rho>::new(groups, most(k), metric);
        let mut model = vec![0u128; groups as usize];
        for (raises, fate) in rounds {
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
            match fate {
                Fate::Drop => drop(round),
                Fate::Forget => std::mem::forget(round),
                Fate::Cancel => {
                    let approved = account.raise_groups(round.offer(path(1))).unwrap();
                    account.cancel(approved).unwrap();
                }
                Fate::Keep => {
                    let approved = account.raise_groups(round.offer(path(1))).unwrap();
                    let receipt = account.commit(approved, &mut NoHistory).unwrap();
                    prices.keep(&receipt).unwrap();
                    model = tried;
                }
            }
            // Whatever was not kept is undone before the next round.
            drop(prices.round());
            let spent = account.odometer().zcdp().unwrap().spent();
            prop_assert_eq!(prices.price(), spent);
            prop_assert_eq!(prices.price(), price_of(&model, k as usize, factor));
            for (group, &price) in model.iter().enumerate() {
                let group = u32::try_from(group).unwrap();
                prop_assert_eq!(prices.group(group), Some(Amount::from_grains(price)));
            }
        }
    }

    /// What a unit can lose, computed directly: it leaves some groups, enters others, and swings
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

fn in_riders(groups: u32, k: u32, adjacency: Adjacency) -> (GroupPrices<Rho>, Account) {
    let metric = Metric::Hamming(adjacency);
    let budget = BudgetSpec::zcdp(Rho::new(1.0).unwrap()).resolve(metric).unwrap();
    let account = Account::open("riders", budget, &mut NoHistory).unwrap();
    (GroupPrices::new(groups, most(k), metric), account)
}

#[test]
fn a_unit_that_swings_in_its_dearest_groups_needs_the_whole_factor() {
    let (mut prices, mut account) = in_riders(3, 2, Adjacency::Replace);
    let mut round = prices.round();
    round.raise(2, amount("0.05")).unwrap();
    round.raise(2, amount("0.1")).unwrap();
    assert_eq!(round.group(2), Some(amount("0.1")));
    let approved = account.raise_groups(round.offer(path(1))).unwrap();
    assert_eq!((prices.len(), prices.is_empty(), prices.most()), (3, false, most(2)));
    let receipt = account.commit(approved, &mut NoHistory).unwrap();
    prices.keep(&receipt).unwrap();
    assert_eq!(prices.price(), amount("0.4"));
    assert_eq!(account.odometer().zcdp().unwrap().spent(), amount("0.4"));

    // The receipt names the bundle, the step and every group's part in it.
    let raise = receipt.redeem();
    assert_eq!((raise.bundle(), raise.increment()), (path(1), 0));
    assert_eq!((raise.from(), raise.to()), (Amount::ZERO, amount("0.4")));
    let [_, step] = raise.steps() else { panic!("{:?}", raise.steps()) };
    assert_eq!((step.group(), step.from(), step.to()), (2, amount("0.05"), amount("0.1")));
}

#[test]
fn other_metrics_are_priced_like_replacing() {
    for metric in [Metric::Discrete, Metric::Euclidean(Reach::Unlimited)] {
        assert_eq!((metric.group_factor::<Rho>(), metric.group_factor::<Epsilon>()), (4, 2));
    }
    assert_eq!(CENTRAL.group_factor::<Rho>(), 1);
}

#[test]
fn raises_are_kept_only_for_their_own_receipt() {
    let (mut prices, mut account) = in_riders(3, 2, Adjacency::AddRemove);
    let offer = |prices: &mut GroupPrices<Rho>, to: &str| {
        let mut round = prices.round();
        round.raise(0, amount(to)).unwrap();
        round.offer(path(1))
    };
    let first = offer(&mut prices, "0.1");
    let first = account.raise_groups(first).unwrap();
    // A second offer replaces the first, and is not what was paid for.
    let second = offer(&mut prices, "0.3");
    let error = account.raise_groups(second).unwrap_err();
    assert_eq!(error, PathError::UnderWay { path: path(1) });
    let receipt = account.commit(first, &mut NoHistory).unwrap();
    assert_eq!(prices.keep(&receipt), Err(GroupError::NotOffered));
    // Prices that do not start from what was paid for are noticed.
    let third = offer(&mut prices, "0.2");
    let error = account.raise_groups(third).unwrap_err();
    assert!(matches!(error, PathError::OutOfStep { .. }), "{error}");
    assert_eq!(account.odometer().zcdp().unwrap().spent(), amount("0.1"));
}

#[test]
fn a_refused_round_leaves_everything_as_it_was() {
    let (mut prices, mut account) = in_riders(3, 2, Adjacency::AddRemove);
    let mut round = prices.round();
    round.raise(0, amount("2")).unwrap();
    let error = account.raise_groups(round.offer(path(1))).unwrap_err();
    assert!(matches!(error, PathError::Refused(_)), "{error}");
    assert!(prices.price().is_zero() && account.odometer().zcdp().unwrap().spent().is_zero());
    drop(prices.round());
    assert_eq!(prices.group(0), Some(Amount::ZERO));
}

#[test]
fn groups_below_the_dearest_cost_nothing_more_and_are_counted() {
    let (mut account, mut journal) = account();
    let mut prices = GroupPrices::<Rho>::new(3, most(1), CENTRAL);
    for (increment, (group, to)) in [(0, "0.2"), (1, "0.1"), (2, "0.3")].into_iter().enumerate() {
        let mut round = prices.round();
        round.raise(group, amount(to)).unwrap();
        let approved = account.raise_groups(round.offer(path(1))).unwrap();
        let receipt = account.commit(approved, &mut journal).unwrap();
        assert_eq!(receipt.purchase().increment() as usize, increment);
        prices.keep(&receipt).unwrap();
    }
    assert_eq!(account.odometer().zcdp().unwrap().spent(), amount("0.3"));

    // After a restart the bundle goes on where it was, and nowhere else.
    let mut after = Account::replay(journal.entries()).unwrap();
    assert_eq!(after.odometer().zcdp(), account.odometer().zcdp());
    let mut anew = GroupPrices::<Rho>::new(3, most(1), CENTRAL);
    let mut round = anew.round();
    round.raise(0, amount("0.4")).unwrap();
    let error = after.raise_groups(round.offer(path(1))).unwrap_err();
    assert!(matches!(error, PathError::OutOfStep { .. }), "{error}");
    let mut round = prices.round();
    round.raise(0, amount("0.4")).unwrap();
    let next = after.raise_groups(round.offer(path(1))).unwrap();
    assert_eq!((next.purchase().increment(), next.purchase().from()), (3, amount("0.3")));
}

#[test]
fn prices_do_not_fall_and_unknown_groups_are_errors() {
    let (mut prices, _) = in_riders(2, 1, Adjacency::AddRemove);
    let mut round = prices.round();
    round.raise(0, amount("0.2")).unwrap();
    assert_eq!(round.raise(0, amount("0.1")), Err(GroupError::WouldFall { group: 0 }));
    assert_eq!(round.raise(2, amount("0.1")), Err(GroupError::NoSuchGroup { group: 2, groups: 2 }));
    assert_eq!(round.price(), amount("0.2"));
    drop(round);
    assert_eq!((prices.group(0), prices.group(2)), (Some(Amount::ZERO), None));
}

#[test]
fn sums_beyond_the_largest_amount_are_errors_that_change_nothing() {
    let half = Amount::<Rho>::from_grains(u128::MAX / 2);
    let (mut prices, _) = in_riders(4, 2, Adjacency::AddRemove);
    let mut round = prices.round();
    round.raise(0, half).unwrap();
    round.raise(1, half).unwrap();
    assert_eq!(round.raise(2, Amount::MAX), Err(GroupError::TooLarge));
    assert_eq!(round.raise(1, Amount::MAX), Err(GroupError::TooLarge));
    assert_eq!(round.group(2), Some(Amount::ZERO));
    assert_eq!(round.price(), half.times(2).unwrap());
    drop(round);

    let (mut replaced, _) = in_riders(4, 2, Adjacency::Replace);
    assert_eq!(replaced.round().raise(0, half), Err(GroupError::TooLarge));
}

#[test]
fn no_groups_cost_nothing() {
    let (mut prices, _) = in_riders(0, 3, Adjacency::AddRemove);
    let error = prices.round().raise(0, amount("0.1"));
    assert_eq!(error, Err(GroupError::NoSuchGroup { group: 0, groups: 0 }));
    assert!(prices.price().is_zero() && prices.is_empty());
}
