//! Neighbouring inputs: what one unit can change, on thousands of random tables and plans.
//!
//! Not falsified is not proven. That these tests would see what is wrong was tried with defects put
//! in by hand, one after the other; R stands for
//! `removing_a_unit_changes_no_more_than_the_plan_says` (and its twin through the engine), P for
//! `the_aggregate_agrees_with_a_plain_reading_of_the_plan` (and its twin), O for
//! `the_order_of_rows_batches_and_partitions_changes_nothing`.
//!
//! | defect | seen by |
//! |---|---|
//! | values are clamped after they were added up | R, P |
//! | values are not clamped | R, P |
//! | the bound on groups is skipped | R, P |
//! | the hash depends on the position of the row | R, P, O |
//! | the hash depends on the number of the unit, by when it was first seen | R, P, O |
//! | groups are ordered by when their keys were first seen, by anyone | R, P, O |
//! | scaling is skipped | R, P |
//! | scaling rounds away from zero | P |
//! | rows are counted instead of units | R, P |
//! | NaN passes the clamp | R, P, and tests of expressions |
//! | keys that are not public are dropped after bounding | P (it is bounded all the same) |
//! | merging forgets which hashes were too large | R, P, O |
//! | merging counts what was kept as one row | R, P, O |
//! | the sums of a group that was let go stay | R, P, O |
//! | rows without a unit take part | P |
//! | a unit brings all its values where different ones are counted | R, P, X, S |
//! | a unit brings the values with the smallest hash of the value alone | P, S, and tests of values |
//! | each value counts once for every unit that has it | P, S |
//! | values of a group are counted in each part, also on disk, and added up | R, P, O, S |
//! | what a group that was let go had of values stays | R, P, O, X, S |
//! | merging forgets the values of units | R, P, O, X, S |
//! | rows beyond the bound on all rows are left out | R, P, A |
//! | the bound on all rows is skipped | R, P, A, C |
//! | the bound on all rows counts rows of groups that are not kept | P |
//! | columns of units are priced by the bound on all rows | C |
//! | replaced units are priced as added ones | C |
//!
//! A stands for `rows_in_all_are_scaled_and_never_left_out`, C for
//! `a_unit_that_comes_goes_or_is_another_costs_no_more_than_is_charged`, X for
//! `replacing_a_unit_changes_counts_of_values_by_no_more_than_one_unit_brings`, S for
//! `values_that_went_to_disk_are_counted_once`.

use std::collections::BTreeMap;

use eke_budget::{Adjacency, Amount, Rho};
use eke_engine::testing::{self, Bounded, RowsOptions, bounded_in_memory};
use eke_sql::{Key, Plan, Sum, Summand, Type, Value};
use eke_testkit::Dice;

use crate::rows::plain::{self, Groups, Row};
use crate::rows::random;

pub(crate) const HASH_KEY: [u8; 32] = [7; 32];
pub(crate) const UNITS: [Type; 3] = [Type::Int, Type::Text, Type::Float];

/// All groups of a result with their sums, those in `others` too.
pub(crate) fn groups(bounded: &Bounded, others: &Groups) -> Groups {
    let mut names: BTreeMap<Vec<Value>, ()> =
        others.keys().map(|keys| (keys.clone(), ())).collect();
    names.extend(bounded.unit_counts().into_iter().map(|(keys, _)| (keys, ())));
    let names: Vec<_> = names.into_keys().collect();
    let columns = bounded.values(&names);
    let sums = |index: usize| columns.iter().map(|column| i128::from(column[index])).collect();
    names.iter().enumerate().map(|(index, keys)| (keys.clone(), sums(index))).collect()
}

/// Runs a plan over rows in the given number of pieces and partitions.
pub(crate) fn engine(
    rows: &[Row],
    plan: &Plan,
    unit: Type,
    pieces: usize,
    partitions: usize,
) -> Bounded {
    let schema = random::schema(unit);
    let size = rows.len().div_ceil(pieces).max(1);
    let pieces = rows
        .chunks(size)
        .map(|rows| {
            rows.chunks(size.div_ceil(2)).map(|rows| random::batch(rows, &schema)).collect()
        })
        .collect();
    let public =
        testing::looked_up(plan, &|_| random::batch(&random::zones(), &random::zone_columns()));
    // Units are counted as well, which changes nothing of the groups.
    let unlisted = true;
    let options = RowsOptions {
        partitions,
        batch_rows: 3,
        public: &public,
        unlisted,
        ..RowsOptions::usual()
    };
    bounded_in_memory(pieces, &random::known(&schema), plan, &HASH_KEY, options)
        .unwrap_or_else(|error| panic!("{}", error.detail()))
}

/// The same without an engine, in pieces and batches as the dice fall.
pub(crate) fn driven(rows: &[Row], plan: &Plan, unit: Type, dice: &mut Dice) -> Bounded {
    let schema = random::schema(unit);
    let size = 1 + dice.roll(rows.len() + 1);
    let pieces: Vec<_> = rows
        .chunks(size)
        .map(|rows| {
            let size = 1 + dice.roll(rows.len());
            rows.chunks(size).map(|rows| random::batch(rows, &schema)).collect()
        })
        .collect();
    testing::driven(&pieces, &random::known(&schema), plan, &HASH_KEY, &mut |sides| {
        dice.roll(sides)
    })
}

/// How far two results are apart is what the plan says at most.
pub(crate) fn assert_close(with: &Groups, without: &Groups, plan: &Plan, case: u64) {
    let nothing = vec![0; plan.sums.len()];
    let mut changed = 0;
    let mut in_all = vec![0; plan.sums.len()];
    let mut names: Vec<_> = with.keys().chain(without.keys()).collect();
    names.sort();
    names.dedup();
    for keys in names {
        let (a, b) = (with.get(keys).unwrap_or(&nothing), without.get(keys).unwrap_or(&nothing));
        changed += u32::from(a != b);
        for ((a, b), sum) in a.iter().zip(b).zip(&plan.sums) {
            let bound = u128::from(sum.sensitivity(plan.max_rows));
            assert!(a.abs_diff(*b) <= bound, "case {case}: {sum:?} of {keys:?}: {a} and {b}");
        }
        for ((in_all, a), b) in in_all.iter_mut().zip(a).zip(b) {
            *in_all += a.abs_diff(*b);
        }
    }
    let most = plan.max_rows_in_all.map_or(u128::MAX, u128::from);
    for (in_all, sum) in in_all.iter().zip(&plan.sums).filter(|(_, sum)| sum.adds_rows()) {
        // A row of a column changes it by this at most.
        let row = u128::from(sum.sensitivity(1));
        assert!(*in_all <= row.saturating_mul(most), "case {case}: {sum:?}: {in_all} in all");
    }
    assert!(changed <= plan.max_groups, "case {case}: {changed} groups changed");
}

/// A random table and a random plan.
pub(crate) fn case(number: u64, rows: usize, units: usize) -> (Dice, Type, Vec<Row>, Plan) {
    let mut dice = Dice(number);
    let unit = *dice.pick(&UNITS);
    let rows = 1 + dice.roll(rows);
    let table = random::table(&mut dice, unit, rows, units);
    let plan = random::plan(&mut dice);
    (dice, unit, table, plan)
}

#[test]
fn removing_a_unit_changes_no_more_than_the_plan_says() {
    let nobody = Groups::new();
    for number in 0..3_000 {
        let (mut dice, unit, table, plan) = case(number, 30, 4);
        let all = groups(&driven(&table, &plan, unit, &mut dice), &nobody);
        for gone in random::units(&table) {
            let mut rest = random::without(&table, &gone);
            dice.shuffle(&mut rest);
            let rest = groups(&driven(&rest, &plan, unit, &mut dice), &nobody);
            assert_close(&all, &rest, &plan, number);
        }
    }
}

/// What the change of a unit costs, by what it really changes: prices of groups at random, each
/// divided evenly among the columns.
fn assert_paid(with: &Groups, without: &Groups, plan: &Plan, dice: &mut Dice, case: u64) {
    let nothing = vec![0; plan.sums.len()];
    let mut names: Vec<_> = with.keys().chain(without.keys()).collect();
    names.sort();
    names.dedup();
    let (mut lost, mut prices) = (0.0, Vec::new());
    for keys in names {
        let (a, b) = (with.get(keys).unwrap_or(&nothing), without.get(keys).unwrap_or(&nothing));
        let price = 1 + dice.roll(1_000_000) as u64;
        prices.push(Amount::<Rho>::from_grains(price.into()));
        for ((a, b), sum) in a.iter().zip(b).zip(&plan.sums) {
            let part = a.abs_diff(*b) as f64 / sum.sensitivity(plan.max_rows).max(1) as f64;
            lost += part * part * price as f64 / plan.sums.len() as f64;
        }
    }
    prices.sort_unstable_by(|a, b| b.cmp(a));
    let paid = testing::weights(plan).of(prices).unwrap().grains() as f64;
    assert!(lost <= paid * (1.0 + 1e-9), "case {case}: {lost} is lost, {paid} paid: {plan:?}");
}

/// Rows of all units count in all together; units, and what is replaced, are priced by themselves.
#[test]
fn a_unit_that_comes_goes_or_is_another_costs_no_more_than_is_charged() {
    let nobody = Groups::new();
    for number in 7_000_000..7_002_000 {
        let (mut dice, unit, table, plan) = case(number, 30, 4);
        let plan = random::in_all(&mut dice, Plan { max_groups: 3, ..plan });
        let all = groups(&driven(&table, &plan, unit, &mut dice), &nobody);
        let units = random::units(&table);
        for gone in &units {
            let rest = random::without(&table, gone);
            let without = groups(&driven(&rest, &plan, unit, &mut dice), &nobody);
            assert_paid(&all, &without, &plan, &mut dice, number);
            // Another one in its place: the rows of some other unit, under its name.
            let plan = Plan { adjacency: Adjacency::Replace, ..plan.clone() };
            let mut other: Vec<Row> = random::table(&mut dice, unit, 12, 1);
            other.iter_mut().for_each(|row| drop(row.insert("who".to_owned(), gone.clone())));
            let replaced = [rest, other].concat();
            let replaced = groups(&driven(&replaced, &plan, unit, &mut dice), &nobody);
            assert_paid(&all, &replaced, &plan, &mut dice, number);
        }
    }
}

/// A unit in more groups than its rows count in all: each of them counts, for less.
#[test]
fn rows_in_all_are_scaled_and_never_left_out() {
    let key = Key { expr: random::column("age"), kind: Type::Int, public: None };
    let sum = |summand| Sum { summand, exponent: -10 };
    let fare = Summand::Value { expr: random::column("fare"), low: 0, high: 10_240, centre: 0 };
    let (_, _, _, plan) = case(1, 1, 1);
    let plan = |max_rows: u32, in_all: u32| Plan {
        filter: None,
        keys: vec![key.clone()],
        sums: vec![sum(Summand::Rows), sum(Summand::Units), sum(fare.clone())],
        max_groups: 40,
        max_rows,
        max_rows_in_all: Some(in_all),
        ..plan.clone()
    };
    let row = |age: i64| {
        let cells = [("who", 7), ("age", age)].map(|(name, value)| (name, Value::Int(value)));
        let cells = cells.into_iter().chain([("fare", Value::Float(2.0))]);
        let mut row: Row = cells.map(|(name, value)| (name.to_owned(), value)).collect();
        for (name, _) in random::schema(Type::Int) {
            row.entry(name).or_insert(Value::Null);
        }
        row
    };
    let rows = |groups: i64, each: usize| -> Vec<Row> {
        (0..groups).flat_map(|age| std::iter::repeat_n(row(age), each)).collect()
    };
    // Groups, rows in each, max_rows, rows in all; and what counts in each group, in 1024ths.
    for (groups, each, max_rows, in_all, counted) in [
        (16, 40, 40, 80, 5 * 1024),
        (16, 50, 40, 80, 5 * 1024),
        (40, 1, 1, 20, 512),
        (40, 1, 5, 20, 512),
        (3, 2, 5, 20, 2 * 1024),
        (7, 3, 3, 10, 10 * 3 * 1024 / 21),
    ] {
        let plan = plan(max_rows, in_all);
        let bounded = engine(&rows(groups, each), &plan, Type::Int, 3, 2);
        let found = self::groups(&bounded, &Groups::new());
        assert_eq!(found.len(), usize::try_from(groups).unwrap());
        for sums in found.values() {
            // Fares of 2 are the same twice over, but for what is cut off last.
            assert_eq!(sums[..2], [counted, 1024], "{groups} {each} {max_rows} {in_all}");
            assert!((2 * counted..2 * counted + 2).contains(&sums[2]), "{sums:?} {counted}");
        }
    }
}

#[test]
fn the_aggregate_agrees_with_a_plain_reading_of_the_plan() {
    for number in 1_000_000..1_005_000 {
        let (mut dice, unit, table, plan) = case(number, 40, 5);
        let expected = plain::bounded(&table, &plan, &HASH_KEY);
        let bounded = driven(&table, &plan, unit, &mut dice);
        assert_eq!(bounded.unit_counts().len(), expected.len(), "case {number}: {plan:?}");
        assert_eq!(groups(&bounded, &expected), expected, "case {number}: {plan:?}");
    }
}

#[test]
fn units_in_many_groups_keep_the_right_ones() {
    for number in 6_000_000..6_000_060 {
        let (mut dice, unit, _, plan) = case(number, 1, 2);
        let table = random::table(&mut dice, unit, 300, 2);
        let key = |name: &str, kind| Key { expr: random::column(name), kind, public: None };
        let keys = vec![key("fare", Type::Float), key("age", Type::Int), key("city", Type::Text)];
        let max_groups = 22 + u32::try_from(dice.roll(8)).unwrap();
        let plan = Plan { keys, max_groups, filter: None, ..plan };
        let expected = plain::bounded(&table, &plan, &HASH_KEY);
        let bounded = driven(&table, &plan, unit, &mut dice);
        assert_eq!(bounded.unit_counts().len(), expected.len(), "case {number}");
        assert_eq!(groups(&bounded, &expected), expected, "case {number}");
    }
}

#[test]
fn the_engine_agrees_with_a_plain_reading_of_the_plan() {
    for number in 2_000_000..2_000_250 {
        let (mut dice, unit, table, plan) = case(number, 40, 5);
        let expected = plain::bounded(&table, &plan, &HASH_KEY);
        let (pieces, partitions) = (1 + dice.roll(4), *dice.pick(&[1, 2, 4]));
        let bounded = engine(&table, &plan, unit, pieces, partitions);
        assert_eq!(bounded.unit_counts().len(), expected.len(), "case {number}: {plan:?}");
        assert_eq!(groups(&bounded, &expected), expected, "case {number}: {plan:?}");
    }
}

#[test]
fn removing_a_unit_changes_no_more_of_what_the_engine_gives() {
    let nobody = Groups::new();
    for number in 3_000_000..3_000_040 {
        let (mut dice, unit, table, plan) = case(number, 30, 4);
        let all = groups(&engine(&table, &plan, unit, 2, 2), &nobody);
        for gone in random::units(&table) {
            let mut rest = random::without(&table, &gone);
            dice.shuffle(&mut rest);
            let rest = groups(&engine(&rest, &plan, unit, 1, 2), &nobody);
            assert_close(&all, &rest, &plan, number);
        }
    }
}

#[test]
fn the_order_of_rows_batches_and_partitions_changes_nothing() {
    let nobody = Groups::new();
    for number in 4_000_000..4_000_040 {
        let (mut dice, unit, mut table, plan) = case(number, 60, 6);
        let first = engine(&table, &plan, unit, 1, 1);
        let counts = first.unit_counts();
        let first = groups(&first, &nobody);
        for (pieces, partitions) in [(1, 2), (4, 2), (7, 4), (60, 1)] {
            dice.shuffle(&mut table);
            let again = engine(&table, &plan, unit, pieces, partitions);
            assert_eq!(again.unit_counts(), counts, "case {number}");
            assert_eq!(groups(&again, &nobody), first, "case {number}");
        }
        for _ in 0..20 {
            dice.shuffle(&mut table);
            let again = driven(&table, &plan, unit, &mut dice);
            assert_eq!(groups(&again, &nobody), first, "case {number}");
        }
    }
}

#[test]
fn a_plain_reading_changes_by_no_more_than_the_plan_says_either() {
    // Were it not for this, engine and plain reading could agree on what is wrong.
    for number in 5_000_000..5_005_000 {
        let (_, _, table, plan) = case(number, 30, 4);
        let all = plain::bounded(&table, &plan, &HASH_KEY);
        for gone in random::units(&table) {
            let rest = plain::bounded(&random::without(&table, &gone), &plan, &HASH_KEY);
            assert_close(&all, &rest, &plan, number);
        }
    }
}

/// A plan for rows that are units of their own: each has one value.
pub(crate) fn of_rows(mut plan: Plan) -> Plan {
    for sum in &mut plan.sums {
        if let Summand::Distinct { most, .. } = &mut sum.summand {
            *most = 1;
        }
    }
    let (max_groups, max_rows, max_rows_in_all) = (1, 1, None);
    Plan { unit_column: String::new(), max_groups, max_rows, max_rows_in_all, ..plan }
}

/// A plan that counts different values, and nothing else but units.
fn of_values(dice: &mut Dice, plan: Plan) -> Plan {
    let columns = random::schema(Type::Int);
    let sum = |summand| Sum { summand, exponent: 0 };
    let mut sums = vec![sum(Summand::Units)];
    for _ in 0..2 {
        let values = sum(random::distinct(dice, &columns[1..]));
        if !sums.contains(&values) {
            sums.push(values);
        }
    }
    Plan { sums, ..plan }
}

/// The original beside the one with other rows of a unit in place of its own, directly: a value that
/// goes and one that comes are not two.
#[test]
fn replacing_a_unit_changes_counts_of_values_by_no_more_than_one_unit_brings() {
    let nobody = Groups::new();
    let mut largest = 0;
    for number in 9_000_000..9_001_000 {
        let (mut dice, unit, table, plan) = case(number, 30, 4);
        let plan = of_values(&mut dice, plan);
        let all = groups(&driven(&table, &plan, unit, &mut dice), &nobody);
        for gone in random::units(&table) {
            let mut other = random::without(&table, &gone);
            for mut row in random::table(&mut dice, unit, 8, 4) {
                row.insert("who".to_owned(), gone.clone());
                other.push(row);
            }
            dice.shuffle(&mut other);
            let other = groups(&driven(&other, &plan, unit, &mut dice), &nobody);
            // Those that the unit has left, and those that it came to.
            let twice = Plan { max_groups: 2 * plan.max_groups, ..plan.clone() };
            assert_close(&all, &other, &twice, number);
            for (keys, sums) in &all {
                let nothing = vec![0; sums.len()];
                let others = other.get(keys).unwrap_or(&nothing);
                for ((a, b), sum) in sums.iter().zip(others).zip(&plan.sums) {
                    let (least, most) = sum.contribution(plan.max_rows);
                    assert!(a.abs_diff(*b) <= u128::from(most.abs_diff(least)), "case {number}");
                    if let Summand::Distinct { .. } = sum.summand {
                        largest = largest.max(a.abs_diff(*b));
                    }
                }
            }
        }
    }
    assert_eq!(largest, 3, "some unit changed a count by all that it may");
}

/// Many units with many values, in groups that are large and small, with so little memory that all
/// of it goes to disk.
#[test]
fn values_that_went_to_disk_are_counted_once() {
    let mut dice = Dice(77);
    let mut table: Vec<Row> = (0..60_000i64)
        .map(|number| {
            let mut row = random::table(&mut dice, Type::Int, 1, 1).remove(0);
            row.insert("who".to_owned(), Value::Int(number % 9_000));
            row.insert("age".to_owned(), Value::Int(number * 7919 % 40_000));
            row.insert("city".to_owned(), Value::Text(format!("town {}", number % 3)));
            row
        })
        .collect();
    let schema = random::schema(Type::Int);
    let key = Key { expr: random::column("paid"), kind: Type::Bool, public: None };
    let (expr, kind) = (random::column("age"), Type::Int);
    let sum = |summand| Sum { summand, exponent: -2 };
    let city = Summand::Distinct { expr: random::column("city"), kind: Type::Text, most: 1 };
    let sums = vec![
        sum(Summand::Rows),
        sum(Summand::Distinct { expr: expr.clone(), kind, most: 2 }),
        sum(Summand::Present(random::column("fare"))),
        sum(city),
    ];
    let (_, _, _, plan) = case(1, 1, 1);
    let plan = Plan { keys: vec![key], sums, filter: None, max_groups: 2, max_rows: 4, ..plan };
    for plan in [plan.clone(), Plan { keys: Vec::new(), ..plan.clone() }, of_rows(plan)] {
        let expected = plain::bounded(&table, &plan, &HASH_KEY);
        for (memory, partitions) in [(2 << 30, 2), (2 << 20, 1), (2 << 20, 3), (1 << 20, 7)] {
            dice.shuffle(&mut table);
            let size = table.len().div_ceil(partitions * 3);
            let pieces = table.chunks(size).map(|rows| vec![random::batch(rows, &schema)]);
            let options = RowsOptions { memory, partitions, ..RowsOptions::usual() };
            let known = random::known(&schema);
            let found =
                bounded_in_memory(pieces.collect(), &known, &plan, &HASH_KEY, options).unwrap();
            assert_eq!(groups(&found, &expected), expected);
            assert!(partitions != 1 || found.spills() > 0);
        }
    }
}

#[test]
fn rows_that_are_units_agree_with_a_plain_reading() {
    for number in 7_000_000..7_000_250 {
        let (mut dice, unit, mut table, plan) = case(number, 40, 5);
        let plan = of_rows(plan);
        let expected = plain::bounded(&table, &plan, &HASH_KEY);
        for (pieces, partitions) in [(1, 1), (2, 2), (5, 7)] {
            dice.shuffle(&mut table);
            let bounded = engine(&table, &plan, unit, pieces, partitions);
            assert_eq!(bounded.unit_counts().len(), expected.len(), "case {number}: {plan:?}");
            assert_eq!(groups(&bounded, &expected), expected, "case {number}: {plan:?}");
        }
    }
}

#[test]
fn removing_a_row_that_is_a_unit_changes_no_more_than_the_plan_says() {
    let nobody = Groups::new();
    for number in 8_000_000..8_000_100 {
        let (mut dice, unit, table, plan) = case(number, 20, 4);
        let plan = of_rows(plan);
        let all = groups(&engine(&table, &plan, unit, 2, 2), &nobody);
        for gone in 0..table.len() {
            let mut rest = table.clone();
            rest.remove(gone);
            dice.shuffle(&mut rest);
            let rest = groups(&engine(&rest, &plan, unit, 1, 2), &nobody);
            assert_close(&all, &rest, &plan, number);
        }
    }
}
