//! What cut counts cost, and how often what they say holds.

use eke_budget::{Adjacency, Amount};
use eke_noise::Confidence;
use eke_noise::stopping::ConfidenceSequence;
use eke_sql::{Expr, Key, Plan, Sum, Summand, Type, Value};
use eke_testkit::Dice;

use super::shown::Seen;
use super::*;
use crate::rows::pass::cuts::{CutMarks, CutTally};

fn plan(keys: Option<Option<u32>>, sums: Vec<Summand>, max_groups: u32) -> Plan {
    let key = |listed: Option<u32>| {
        let values = |count: u32| (0..i64::from(count)).map(Value::Int).collect();
        Key { expr: Expr::Column("zone".into()), kind: Type::Int, public: listed.map(values) }
    };
    Plan {
        version: eke_sql::VERSION,
        dataset: "trips".into(),
        unit_column: "rider".into(),
        adjacency: Adjacency::AddRemove,
        rows: None,
        filter: None,
        keys: keys.map(key).into_iter().collect(),
        sums: sums.into_iter().map(|summand| Sum { summand, exponent: 0 }).collect(),
        max_groups,
        max_rows: 4,
        max_rows_in_all: None,
    }
}

fn all_plans() -> Vec<Plan> {
    let mut plans = Vec::new();
    for keys in [None, Some(None), Some(Some(2)), Some(Some(9))] {
        for sums in [vec![Summand::Rows], vec![Summand::Units], vec![Summand::Units, Summand::Rows]]
        {
            plans.push(plan(keys, sums, 3));
        }
    }
    plans
}

#[test]
fn what_can_be_cut_is_counted() {
    let names = |plan: &Plan| {
        let cells = CutCells::of(plan).map_or(Vec::new(), |cells| cells.0);
        let is_bin = |cell: &&CutCell| matches!(cell, CutCell::Rows(_));
        let bins = cells.iter().filter(is_bin).count();
        let others: Vec<String> =
            cells.iter().filter(|cell| !is_bin(cell)).map(|c| c.name()).collect();
        (others.join(" "), bins)
    };
    let of = |keys, summand, groups| names(&plan(keys, vec![summand], groups));
    assert_eq!(of(None, Summand::Rows, 3), ("of units".into(), 12));
    assert_eq!(of(None, Summand::Units, 3), (String::new(), 0));
    assert_eq!(of(Some(None), Summand::Units, 3), ("of units".into(), 0));
    assert_eq!(of(Some(None), Summand::Rows, 3), ("of units by-groups".into(), 12));
    assert_eq!(of(Some(Some(9)), Summand::Rows, 3), ("of units by-groups unlisted".into(), 12));
    // As many groups count as are listed.
    assert_eq!(of(Some(Some(3)), Summand::Rows, 3), ("of units unlisted".into(), 12));
    assert_eq!(of(Some(Some(3)), Summand::Units, 3), ("of unlisted".into(), 0));
    let rows = Plan { unit_column: String::new(), ..plan(None, vec![Summand::Rows], 1) };
    assert_eq!(CutCells::of(&rows), None);
}

/// The most that a unit changes, by being there or by being another one, is what is charged for: no
/// less and no more.
#[test]
fn cut_counts_cost_what_they_move_by() {
    for plan in all_plans() {
        let Some(cells) = CutCells::of(&plan) else { continue };
        let by_rows = cells.cells().contains(&CutCell::Rows(0));
        let by_groups =
            public_group_count(&plan).is_none_or(|all| all > 3) && !plan.keys.is_empty();
        let lists = cells.cells().contains(&CutCell::Unlisted);
        // All that a unit can be: not there, or there with marks and rows.
        let mut units = vec![CutTally::default()];
        for groups in [false, true] {
            for unlisted in [false, true] {
                for rows in [0, 4, 5, 9, 100, 1 << 40] {
                    let mut marks = CutMarks::default();
                    if groups && by_groups {
                        marks.add(CutMarks::GROUPS);
                    }
                    if unlisted && lists {
                        marks.add(CutMarks::UNLISTED);
                    }
                    let mut tally = CutTally::default();
                    tally.unit(marks, rows, plan.max_rows);
                    units.push(tally);
                }
            }
        }
        let apart = |one: &CutTally, other: &CutTally| -> u64 {
            let counts = cells.cells().iter();
            let change =
                |&cell: &CutCell| one.get(cell, by_rows).abs_diff(other.get(cell, by_rows));
            counts.map(change).map(|change| change * change).sum()
        };
        let nobody = units[0];
        let added = units.iter().map(|unit| apart(unit, &nobody)).max().unwrap();
        let pairs = units.iter().flat_map(|one| units.iter().map(move |other| (one, other)));
        let replaced = pairs.map(|(one, other)| apart(one, other)).max().unwrap();
        let charged = u64::from(cells.touched().get());
        assert_eq!((added, replaced), (charged, charged), "{cells:?}");
    }
}

#[test]
fn a_part_is_no_more_than_it_says() {
    let part = CutPart::new(0.02).unwrap();
    assert_eq!((part, part.get()), (CutPart::USUAL, 0.02));
    for grains in [0, 1, 49, 50, 999_999, 1_000_001, 123_456_789_012, u128::MAX / 2] {
        let of = part.of(Amount::from_grains(grains)).grains();
        assert!(of <= grains / 50 && of + 1 >= grains / 50, "{grains} {of}");
    }
    for wrong in [-0.1, 0.51, f64::NAN, f64::INFINITY] {
        assert_eq!(CutPart::new(wrong), None);
    }
    assert!(CutPart::new(0.0).unwrap().is_nothing() && CutPart::NOTHING.is_nothing());
}

/// Normal deviates, by dice.
fn deviate(dice: &mut Dice) -> f64 {
    let uniform = |dice: &mut Dice| (dice.below(1 << 52) as f64 + 0.5) / 2f64.powi(52);
    let (one, other) = (uniform(dice), uniform(dice));
    (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * other).cos()
}

const STEP: f64 = 1.0 / 1024.0;

fn seen(values: Vec<(CutCell, f64)>, worth: f64, gamma: Option<f64>) -> Seen {
    let worth = Amount::ceil(worth).unwrap();
    Seen { values, worth, step: STEP, gamma, confidence: 0.95 }
}

/// Statistical (2,000 runs of each; 1e-7; 5 % and 5.3 deviations; two controls that must be
/// rejected: noise taken for half as wide, and looks that were chosen taken for planned ones).
#[test]
fn shares_of_cut_units_hold_as_often_as_they_say() {
    const RUNS: u32 = 2_000;
    let most = f64::from(RUNS) * 0.05 + 5.3 * (f64::from(RUNS) * 0.05 * 0.95).sqrt();
    let is_rejected = |misses: u32| f64::from(misses) > most;
    let mut dice = Dice::new(94);
    let plan = plan(Some(Some(9)), vec![Summand::Rows], 3);
    let worth = 1e-3f64;
    let deviation = 1.0 / (2.0 * worth).sqrt();
    for (of, share) in [(2_000.0, 0.0), (2_000.0, 0.03), (500.0, 0.4), (40.0, 0.5), (900.0, 1.0)] {
        let (mut misses, mut narrow, mut lost) = (0, 0, 0);
        for _ in 0..RUNS {
            let mut cells = vec![(CutCell::Of, of), (CutCell::Units, of * share)];
            cells.extend([(CutCell::Groups, 0.0), (CutCell::Unlisted, of * share)]);
            // All that are cut have five times as many rows as count.
            let bin = |bin: usize| (CutCell::Rows(bin), if bin == 2 { of * share } else { 0.0 });
            cells.extend((0..BINS).map(bin));
            let noisy = |(cell, value)| (cell, value + deviation * deviate(&mut dice));
            let cells: Vec<_> = cells.into_iter().map(noisy).collect();
            let holds = |worth: f64| {
                let counts = seen(cells.clone(), worth, None).counts(&plan, "rider").unwrap();
                let found = counts.share.unwrap();
                (found.low <= share && share <= found.high, counts)
            };
            let (holds_now, counts) = holds(worth);
            misses += u32::from(!holds_now);
            narrow += u32::from(!holds(4.0 * worth).0);
            // Each of them has 20 rows of which 4 count.
            lost += u32::from(counts.rows_lost.is_some_and(|rows| rows > of * share * 16.0));
        }
        assert!(!is_rejected(misses) && !is_rejected(lost), "{of} {share}: {misses} {lost}");
        let is_clear = share > 0.0 && share < 1.0 && of > 100.0;
        assert!(!is_clear || is_rejected(narrow), "{narrow}");
    }
    // Looked at again and again, for more each time, until the share is missed.
    let gamma = ConfidenceSequence::tightest_at(worth, Confidence::new(0.95).unwrap()).gamma();
    let (mut planned, mut by_hand) = (0, 0);
    for _ in 0..RUNS {
        let (mut sums, mut before) = ([0.0; 2], 0.0f64);
        let (mut once, mut ever) = (false, false);
        let mut price = worth / 8.0;
        for _ in 0..20 {
            let more: f64 = price - before;
            sums.iter_mut().for_each(|sum| *sum += more.sqrt() * deviate(&mut dice));
            before = price;
            let [of, units] = sums.map(|sum| sum / (price * 2f64.sqrt()));
            let values = vec![(CutCell::Of, 2_000.0 + of), (CutCell::Units, 600.0 + units)];
            let misses = |gamma| {
                let counts = seen(values.clone(), price, gamma).counts(&plan, "rider").unwrap();
                let found = counts.share.unwrap();
                !(found.low <= 0.3 && 0.3 <= found.high)
            };
            once |= misses(None);
            ever |= misses(Some(gamma));
            price *= 1.3;
        }
        planned += u32::from(once);
        by_hand += u32::from(ever);
    }
    assert!(!is_rejected(by_hand) && is_rejected(planned), "{by_hand} {planned}");
}
