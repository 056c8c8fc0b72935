//! What one unit loses of the prices of groups, where all its rows are bounded together: by trying
//! every unit.

use std::num::NonZeroU32;

use eke_budget::purchase::{AddedBy, GroupPrices, GroupWeights, RowBounds};
use eke_budget::{Account, Adjacency, Amount, BudgetSpec, Metric, NoHistory, Rho};
use proptest::prelude::*;

use crate::path;

/// Bounds of a unit: groups, rows in a group, rows in all.
#[derive(Clone, Copy, Debug)]
struct Unit {
    groups: u32,
    rows: u32,
    in_all: u32,
}

impl Unit {
    /// Every way in which the rows of a unit can lie in that many groups: how many count in each
    /// before all rows are bounded.
    fn all(self, groups: usize) -> Vec<Vec<u32>> {
        let mut all = vec![Vec::new()];
        for _ in 0..groups {
            all = all
                .into_iter()
                .flat_map(|unit: Vec<u32>| {
                    (0..=self.rows).map(move |rows| [&unit[..], &[rows]].concat())
                })
                .collect();
        }
        let touched = |unit: &Vec<u32>| unit.iter().filter(|rows| **rows > 0).count();
        all.retain(|unit| touched(unit) <= self.groups as usize);
        all
    }

    /// The parts of what it may add that a unit adds to each group, as numerators over one
    /// denominator.
    fn parts(self, unit: &[u32]) -> (Vec<i128>, i128) {
        let sum: u32 = unit.iter().sum();
        let (times, over) = if sum > self.in_all { (self.in_all, sum) } else { (1, 1) };
        let parts = unit.iter().map(|rows| i128::from(rows * times)).collect();
        (parts, i128::from(over * self.rows))
    }

    fn weights(self, replace: bool, columns: &[(u16, AddedBy)]) -> GroupWeights<Rho> {
        let (most, in_group) = (some(self.groups), some(self.rows));
        let bounds = RowBounds { in_group, in_all: self.in_all };
        GroupWeights::with_rows_in_all(most, metric(replace), bounds, columns)
    }
}

fn some(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).unwrap()
}

fn metric(replace: bool) -> Metric {
    Metric::Hamming(if replace { Adjacency::Replace } else { Adjacency::AddRemove })
}

fn price(weights: &GroupWeights<Rho>, prices: &[u128]) -> u128 {
    let mut prices = prices.to_vec();
    prices.sort_unstable_by(|a, b| b.cmp(a));
    weights.of(prices.into_iter().map(Amount::from_grains)).unwrap().grains()
}

/// The most that one unit loses of a column's prices: in grains, rounded up. Neighbours are tried
/// one by one.
fn worst(unit: Unit, added: AddedBy, replace: bool, prices: &[u128]) -> u128 {
    let counted = |rows: &Vec<u32>| match added {
        AddedBy::Rows { .. } => unit.parts(rows),
        AddedBy::Units => (rows.iter().map(|rows| i128::from(*rows > 0)).collect(), 1),
    };
    let loss = |shift: &dyn Fn(usize) -> i128, over: i128| {
        let squares = prices.iter().enumerate().map(|(group, price)| {
            let shift = shift(group);
            i128::try_from(*price).unwrap() * shift * shift
        });
        let (loss, over) = (squares.sum::<i128>(), over * over);
        u128::try_from((loss + over - 1) / over).unwrap()
    };
    let all: Vec<_> = unit.all(prices.len()).iter().map(counted).collect();
    let alone = all.iter().map(|(parts, over)| loss(&|group| parts[group], *over)).max().unwrap();
    if !replace {
        return alone;
    }
    let sign = if added == (AddedBy::Rows { one_way: false }) { 1 } else { -1 };
    let pairs = all.iter().flat_map(|one| all.iter().map(move |other| (one, other)));
    let worst = pairs.map(|((one, over), (other, other_over))| {
        // The farthest apart that sums of both signs can be is the sum of their sizes.
        let shift = |group: usize| one[group] * other_over + sign * other[group] * over;
        loss(&shift, over * other_over)
    });
    worst.max().unwrap()
}

const KINDS: [AddedBy; 3] =
    [AddedBy::Rows { one_way: true }, AddedBy::Rows { one_way: false }, AddedBy::Units];

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..Default::default() })]

    /// No unit loses more than the weights say, and some unit loses just that.
    #[test]
    fn weights_cover_every_unit_and_no_more(
        prices in prop::collection::vec(0u128..100_000, 1..5),
        groups in 1u32..4,
        rows in 1u32..4,
        more in 0u32..9,
        replace: bool,
        kind in 0usize..3,
    ) {
        let unit = Unit { groups, rows, in_all: rows + more };
        let added = KINDS[kind];
        let weights = unit.weights(replace, &[(1, added)]);
        let charged = price(&weights, &prices);
        let worst = worst(unit, added, replace, &prices);
        prop_assert!(worst <= charged, "{unit:?} {worst} {charged}");
        // Rounding up once or group by group is a grain.
        prop_assert!(charged <= worst + 1, "{unit:?} {worst} {charged}");
        // And it is never more than without the bound.
        let plain = GroupWeights::touching(some(groups), metric(replace));
        prop_assert!(charged <= price(&plain, &prices));
    }

    /// Columns of all kinds in one group: what each of them can lose adds up.
    #[test]
    fn columns_that_add_rows_and_columns_that_count_units_have_prices_of_their_own(
        prices in prop::collection::vec(0u128..1_000_000, 1..4),
        groups in 1u32..4,
        rows in 1u32..4,
        more in 0u32..9,
        replace: bool,
        kinds in prop::collection::vec(0usize..3, 1..4),
    ) {
        let unit = Unit { groups, rows, in_all: rows + more };
        let columns: Vec<(u16, AddedBy)> = kinds.iter().map(|&kind| (1, KINDS[kind])).collect();
        let charged = price(&unit.weights(replace, &columns), &prices);
        let shares = columns.len() as u128;
        // Column by column, as a bundle divides a group's price: rounded down.
        let parts: Vec<u128> = prices.iter().map(|price| price / shares).collect();
        let lost: u128 =
            columns.iter().map(|&(_, added)| worst(unit, added, replace, &parts)).sum();
        prop_assert!(lost <= charged + shares, "{unit:?} {columns:?} {lost} {charged}");
        let plain = GroupWeights::touching(some(groups), metric(replace));
        prop_assert!(charged <= price(&plain, &prices));
    }

    /// Raised in rounds, of which some are kept, the price is that of the worst unit, and a round
    /// is charged the difference.
    #[test]
    fn the_price_of_groups_with_a_bound_on_all_rows_is_that_of_its_worst_unit(
        groups in 1u32..30,
        touched in 1u32..12,
        rows in 1u32..40,
        more in 0u32..400,
        replace: bool,
        kinds in prop::collection::vec(0usize..3, 1..4),
        rounds in prop::collection::vec(
            (prop::collection::vec((0u32..30, 0u128..50_000), 1..30), any::<bool>()), 1..6),
    ) {
        let unit = Unit { groups: touched, rows, in_all: rows + more };
        let columns: Vec<(u16, AddedBy)> = kinds.iter().map(|&kind| (1, KINDS[kind])).collect();
        let weights = unit.weights(replace, &columns);
        let metric = metric(replace);
        let budget = BudgetSpec::zcdp(Rho::new(1.0).unwrap()).resolve(metric).unwrap();
        let mut account = Account::open("riders", budget, &mut NoHistory).unwrap();
        let mut prices = GroupPrices::weighing(groups, weights.clone());
        let mut model = vec![0u128; groups as usize];
        for (raises, is_kept) in rounds {
            let before = prices.price();
            let mut tried = model.clone();
            let mut round = prices.round();
            for (group, more) in raises {
                let group = group % groups;
                tried[group as usize] += more;
                round.raise(group, Amount::from_grains(tried[group as usize])).unwrap();
            }
            let now = Amount::from_grains(price(&weights, &tried));
            prop_assert_eq!(round.price(), now.minus(before).unwrap());
            if is_kept {
                let approved = account.raise_groups(round.offer(path(1))).unwrap();
                let receipt = account.commit(approved, &mut NoHistory).unwrap();
                prices.keep(&receipt).unwrap();
                model = tried;
            } else {
                drop(round);
            }
            let spent = account.odometer().zcdp().unwrap().spent();
            prop_assert_eq!((prices.price(), prices.price().grains()), (spent, price(&weights, &model)));
            let paid: Vec<_> = model.iter().map(|&price| Amount::from_grains(price)).collect();
            let again = GroupPrices::weighing_at(&paid, weights.clone()).unwrap();
            prop_assert_eq!(again.price(), spent);
        }
    }

    /// Filling all groups up to the level costs at most what was allowed, and hardly less; and so
    /// does a price that is divided evenly.
    #[test]
    fn a_level_costs_what_is_allowed(
        paid in prop::collection::vec(0u128..1000, 1..8),
        touched in 1u32..5,
        rows in 1u32..5,
        more_rows in prop::option::of(0u32..9),
        more in 0u128..5000,
        replace: bool,
    ) {
        let unit = |more| Unit { groups: touched, rows, in_all: rows + more };
        let plain = || GroupWeights::touching(some(touched), metric(replace));
        let bounded = |more| unit(more).weights(replace, &[(1, KINDS[0]), (1, KINDS[2])]);
        let weights = more_rows.map_or_else(plain, bounded);
        let before: Vec<Amount<Rho>> = paid.iter().map(|&paid| Amount::from_grains(paid)).collect();
        let price = |prices: &[u128]| price(&weights, prices);
        let cost = |to: u128| {
            price(&paid.iter().map(|&paid| paid.max(to)).collect::<Vec<_>>()) - price(&paid)
        };
        let to = weights.level(&before, Amount::from_grains(more)).grains();
        prop_assert!(cost(to) <= more, "{} {more}", cost(to));
        prop_assert!(cost(to + 1) > more || cost(to + 1) == cost(to), "{to} {}", cost(to + 1));
        let all = |each: u128| {
            weights.of_equal(paid.len(), Amount::from_grains(each)).unwrap().grains()
        };
        let each = weights.each_of(paid.len(), Amount::from_grains(more)).grains();
        prop_assert!(all(each) <= more && all(each + 1) > more, "{each}");
        prop_assert_eq!(all(each), price(&vec![each; paid.len()]));
    }
}

/// Sixteen groups of 600 rows cost what 600 rows in all cost.
#[test]
fn sixteen_groups_cost_what_all_rows_cost_and_units_what_sixteen_do() {
    let unit = Unit { groups: 16, rows: 600, in_all: 600 };
    let cost =
        |replace, columns: &[(u16, AddedBy)]| price(&unit.weights(replace, columns), &[1_000; 40]);
    let (rows, both_ways, units) = ((1, KINDS[0]), (1, KINDS[1]), (1, KINDS[2]));
    assert_eq!([cost(false, &[rows]), cost(false, &[units])], [1_000, 16_000]);
    assert_eq!([cost(true, &[rows]), cost(true, &[both_ways])], [2_000, 4_000]);
    assert_eq!(cost(false, &[rows, units]), (1_000 + 16_000) / 2);
    // Two and a half times as many rows: two groups, and a quarter of a third.
    let unit = Unit { in_all: 1_500, ..unit };
    assert_eq!(price(&unit.weights(false, &[rows]), &[1_000; 40]), 2_250);
}
