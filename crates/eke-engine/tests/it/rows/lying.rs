//! Where values lie, for quantiles: as a plain reading says, and moved by one unit no more than the
//! plan says.
//!
//! Defects put in by hand, one after the other; L stands for
//! `where_values_lie_is_what_a_plain_reading_says`, M for
//! `one_unit_moves_what_lies_at_a_cut_no_more_than_the_plan_says`, D for
//! `cells_that_went_to_disk_are_where_they_were`.
//!
//! | defect | seen by |
//! |---|---|
//! | the weight of a unit is not bounded | L, M |
//! | a unit weighs as much as it has rows that are not NULL, of more than count | L |
//! | cells of a group that was let go stay | L, M |
//! | merging forgets the cells of units | L, D |
//! | a cut counts its own cell as below | L, D |
//! | weights are cut off cell by cell, and not from the first on | L |

use std::collections::BTreeMap;

use eke_engine::testing::{Bounded, RowsOptions, bounded_in_memory};
use eke_sql::{Key, Plan, Sum, Summand, Type, Value};
use eke_testkit::Dice;

use crate::rows::neighbours::{HASH_KEY, case, driven, engine};
use crate::rows::plain::{self, Row};
use crate::rows::random;

/// A search among what random tables have.
fn search(dice: &mut Dice) -> Sum {
    let (name, kind, low, high, grid) = *dice.pick(&[
        ("fare", Type::Float, 0, 160, -3),
        ("fare", Type::Float, -3, 5, 1),
        ("age", Type::Int, -5, 90, 0),
        ("age", Type::Int, 1, 2, 3),
    ]);
    let expr = random::column(name);
    Sum {
        summand: Summand::Ranks { expr, kind, low, high, grid },
        exponent: -i32::try_from(dice.roll(11)).unwrap(),
    }
}

fn with_searches(dice: &mut Dice, mut plan: Plan) -> (Plan, Vec<Sum>) {
    let mut searches = vec![search(dice)];
    if dice.roll(2) == 0 {
        let other = search(dice);
        if other.summand != searches[0].summand {
            searches.push(other);
        }
    }
    plan.sums.extend(searches.iter().cloned());
    (plan, searches)
}

/// The places of a search.
fn ends(search: &Sum) -> (i64, i64) {
    match search.summand {
        Summand::Ranks { low, high, .. } => (low, high),
        _ => panic!("{search:?} searches nothing"),
    }
}

/// Holds what lies at cuts against a plain reading.
fn assert_lies(
    bounded: &Bounded,
    number: usize,
    search: &Sum,
    plain: &BTreeMap<Vec<Value>, BTreeMap<i64, i128>>,
    case: u64,
) {
    let (low, high) = ends(search);
    for (group, places) in plain {
        let all: i128 = places.values().sum();
        assert_eq!(i128::from(bounded.lies(number, group, None)), all, "case {case}");
        for cut in low..=high + 1 {
            let below: i128 = places.range(..cut).map(|(_, weight)| weight).sum();
            let cell = cut.abs_diff(low);
            let found = i128::from(bounded.lies(number, group, Some(cell)));
            assert_eq!(found, 2 * below - all, "case {case}: {search:?} at {cut}");
        }
    }
    assert_eq!(bounded.lies(number, &[Value::Text("nowhere".to_owned())], None), 0);
}

#[test]
fn where_values_lie_is_what_a_plain_reading_says() {
    for number in 0..1_500 {
        let (mut dice, unit, mut table, plan) = case(number, 40, 5);
        let (plan, searches) = with_searches(&mut dice, plan);
        let plain: Vec<_> =
            searches.iter().map(|one| plain::lying(&table, &plan, one, &HASH_KEY)).collect();
        let check = |bounded: &Bounded| {
            for (place, (search, plain)) in searches.iter().zip(&plain).enumerate() {
                assert_lies(bounded, place, search, plain, number);
            }
        };
        check(&driven(&table, &plan, unit, &mut dice));
        if number < 120 {
            for (pieces, partitions) in [(1, 1), (4, 2), (9, 7)] {
                dice.shuffle(&mut table);
                check(&engine(&table, &plan, unit, pieces, partitions));
            }
        }
    }
}

#[test]
fn rows_that_are_units_lie_where_a_plain_reading_says() {
    for number in 100_000..100_100 {
        let (mut dice, unit, mut table, plan) = case(number, 40, 5);
        let plan = crate::rows::neighbours::of_rows(plan);
        let (plan, searches) = with_searches(&mut dice, plan);
        for (pieces, partitions) in [(1, 1), (3, 2)] {
            dice.shuffle(&mut table);
            let bounded = engine(&table, &plan, unit, pieces, partitions);
            for (place, search) in searches.iter().enumerate() {
                let plain = plain::lying(&table, &plan, search, &HASH_KEY);
                assert_lies(&bounded, place, search, &plain, number);
            }
        }
    }
}

#[test]
fn one_unit_moves_what_lies_at_a_cut_no_more_than_the_plan_says() {
    let mut largest = 0.0f64;
    for number in 200_000..200_800 {
        let (mut dice, unit, table, plan) = case(number, 30, 4);
        let (plan, searches) = with_searches(&mut dice, plan);
        let with = driven(&table, &plan, unit, &mut dice);
        let groups: Vec<Vec<Value>> =
            with.unit_counts().into_iter().map(|(keys, _)| keys).collect();
        for gone in random::units(&table) {
            let mut rest = random::without(&table, &gone);
            dice.shuffle(&mut rest);
            let without = driven(&rest, &plan, unit, &mut dice);
            for (place, search) in searches.iter().enumerate() {
                let (low, high) = ends(search);
                let bound = search.sensitivity(plan.max_rows);
                let mut changed = 0;
                for group in &groups {
                    let cuts = (0..=high.abs_diff(low) + 1).map(Some).chain([None]);
                    let moved = cuts.map(|cut| {
                        let (a, b) =
                            (with.lies(place, group, cut), without.lies(place, group, cut));
                        a.abs_diff(b)
                    });
                    let moved = moved.max().unwrap_or(0);
                    assert!(moved <= bound, "case {number}: {moved} of {bound}: {search:?}");
                    largest = largest.max(moved as f64 / bound as f64);
                    changed += u32::from(moved > 0);
                }
                assert!(changed <= plan.max_groups, "case {number}");
            }
        }
    }
    assert!(largest >= 1.0, "some unit moved a cut by all that it may: {largest}");
}

/// Many values in few groups, with so little memory that all of it goes to disk, and stays there.
#[test]
fn cells_that_went_to_disk_are_where_they_were() {
    let mut dice = Dice(78);
    let mut table: Vec<Row> = (0..60_000i64)
        .map(|number| {
            let mut row = random::table(&mut dice, Type::Int, 1, 1).remove(0);
            row.insert("who".to_owned(), Value::Int(number % 9_000));
            row.insert("age".to_owned(), Value::Int(number * 7919 % 50_000));
            row
        })
        .collect();
    let schema = random::schema(Type::Int);
    let key = Key { expr: random::column("paid"), kind: Type::Bool, public: None };
    let (expr, kind) = (random::column("age"), Type::Int);
    let summand = Summand::Ranks { expr, kind, low: 10, high: 49_000, grid: 0 };
    let search = Sum { summand, exponent: -10 };
    let (_, _, _, plan) = case(1, 1, 1);
    let sums = vec![Sum { summand: Summand::Rows, exponent: -10 }, search.clone()];
    let plan = Plan { keys: vec![key], sums, filter: None, max_groups: 2, max_rows: 4, ..plan };
    let first = {
        let known = random::known(&schema);
        let pieces = vec![vec![random::batch(&table, &schema)]];
        bounded_in_memory(pieces, &known, &plan, &HASH_KEY, RowsOptions::usual()).unwrap()
    };
    let groups: Vec<Vec<Value>> = first.unit_counts().into_iter().map(|(keys, _)| keys).collect();
    assert!(groups.len() >= 2);
    let cuts = || (0..49_000).step_by(257).chain([1, 2, 48_990, 48_991]);
    for (memory, partitions) in [(2 << 20, 1), (2 << 20, 3), (1 << 20, 7)] {
        dice.shuffle(&mut table);
        let size = table.len().div_ceil(partitions * 3);
        let pieces = table.chunks(size).map(|rows| vec![random::batch(rows, &schema)]).collect();
        let options = RowsOptions { memory, partitions, ..RowsOptions::usual() };
        let known = random::known(&schema);
        let found = bounded_in_memory(pieces, &known, &plan, &HASH_KEY, options).unwrap();
        assert!(found.spills() > 0 && found.has_cells_on_disk());
        for group in &groups {
            assert_eq!(found.lies(0, group, None), first.lies(0, group, None));
            for cut in cuts() {
                let (a, b) = (found.lies(0, group, Some(cut)), first.lies(0, group, Some(cut)));
                assert_eq!(a, b, "{group:?} {cut}");
            }
        }
    }
    let [paid, other] = [0, 1].map(|at| first.lies(0, &groups[at], Some(25_000)));
    assert!(paid != other || paid != 0, "there is something to see");
}
