//! Units that are cut: counted in the one pass, and what one unit changes of the counts.
//!
//! Defects that were put in by hand, one after the other, and what saw each; P stands for
//! `cut_counts_are_those_of_a_plain_reading`, J for its twin over several datasets, S for
//! `cut_counts_of_rows_that_went_to_disk`, N for
//! `one_unit_moves_each_cut_count_by_one_and_one_bin_of_rows`.
//!
//! | defect | seen by |
//! |---|---|
//! | rows beyond the bound are counted, and not units | P, J, S, N |
//! | a unit is in a bin for each of its groups | P, J, S, N |
//! | merging forgets what was noted of a unit | P, J, S |
//! | a group with a larger hash than all that are kept is not noted | P, J, S |
//! | a group that takes the place of another is not noted | P, J, S |
//! | rows without a unit are in the question | P, J |
//! | units of which no row is listed are not in the question | P, J |

use eke_engine::testing::{RowsOptions, bounded_in_memory};
use eke_sql::{Key, Plan, Type, Value};
use eke_testkit::Dice;

use crate::rows::neighbours::{self, HASH_KEY};
use crate::rows::plain::{self, Row, Tables};
use crate::rows::{random, units};

const BINS: usize = 12;

fn expected(rows: &[Row], plan: &Plan) -> Vec<u64> {
    let tables = Tables::from([(plan.dataset.clone(), rows.to_vec())]);
    plain::cuts(&tables, plan, &HASH_KEY, BINS)
}

#[test]
fn cut_counts_are_those_of_a_plain_reading() {
    let mut seen = vec![0; 4 + BINS];
    for number in 9_000_000..9_000_300 {
        let (mut dice, unit, mut table, mut plan) = neighbours::case(number, 60, 5);
        plan.max_rows = 1 + plan.max_rows % 2;
        let expected = expected(&table, &plan);
        seen.iter_mut().zip(&expected).for_each(|(all, one)| *all += one);
        for (pieces, partitions) in [(1, 1), (3, 2), (9, 7)] {
            dice.shuffle(&mut table);
            let found = neighbours::engine(&table, &plan, unit, pieces, partitions);
            assert_eq!(found.cuts(), expected, "case {number}: {plan:?}");
        }
    }
    // Each of them occurs, and bins up to sixteen times.
    assert!(seen[..8].iter().all(|&units| units > 0), "{seen:?}");
}

/// Subqueries of one row a person, joins on the unit, EXISTS, UNION ALL.
#[test]
fn cut_counts_over_several_datasets_are_those_of_a_plain_reading() {
    let mut seen = vec![0; 4 + BINS];
    for number in 9_100_000..9_100_300 {
        let (mut dice, unit, mut tables, mut plan) = units::case(number, 40, 5);
        if let Some(key) = plan.keys.first_mut().filter(|_| number % 2 == 0) {
            let texts = ["Delft", "a"].map(|text| Value::Text(text.to_owned())).to_vec();
            key.public = match key.kind {
                Type::Text => Some(texts),
                Type::Int => Some(vec![Value::Null, Value::Int(0), Value::Int(7)]),
                Type::Bool => Some(vec![Value::Bool(true)]),
                _ => None,
            };
        }
        let expected = plain::cuts(&tables, &plan, &HASH_KEY, BINS);
        seen.iter_mut().zip(&expected).for_each(|(all, one)| *all += one);
        for (pieces, parts) in [(1, 1), (3, 2), (9, 7)] {
            units::shuffle(&mut tables, &mut dice);
            let found = units::engine(&tables, &plan, unit, pieces, units::partitions(parts));
            assert_eq!(found.cuts(), expected, "case {number}: {plan:?}");
        }
    }
    assert!(seen[..6].iter().all(|&units| units > 0), "{seen:?}");
}

/// Many units, some of which have very many rows or groups, with so little memory that all of it
/// goes to disk. Blocks of few groups and of many.
#[test]
fn cut_counts_of_rows_that_went_to_disk() {
    let mut dice = Dice(78);
    let mut table: Vec<Row> = (0..60_000i64)
        .map(|number| {
            let mut row = random::table(&mut dice, Type::Int, 1, 1).remove(0);
            // A tenth of the rows is that of nine people who are everywhere, another one that of
            // people who are in one place, and the rest of nine thousand.
            let (who, age) = match number % 10 {
                0 => (number / 10 % 9, number / 90 % 120),
                1 => (20_000 + number % 500, 3),
                _ => (10 + number % 9_000, number / 7 % 120),
            };
            row.insert("who".to_owned(), Value::Int(who));
            row.insert("age".to_owned(), Value::Int(age));
            row
        })
        .collect();
    let (_, _, _, plan) = neighbours::case(1, 1, 1);
    let (schema, mut spills) = (random::schema(Type::Int), 0);
    let listed = (0..100).map(Value::Int).collect();
    let key = |public| Key { expr: random::column("age"), kind: Type::Int, public };
    for (public, max_groups) in [(Some(listed), 4), (None, 2), (None, 40)] {
        let keys = vec![key(public)];
        let plan = Plan { keys, filter: None, max_groups, max_rows: 1, ..plan.clone() };
        let expected = expected(&table, &plan);
        let bins = expected[4..].iter().filter(|&&units| units > 0).count();
        assert!(expected[2] > 0 && bins > 1, "{expected:?}");
        for (memory, partitions) in [(2 << 30, 2), (2 << 20, 1), (1 << 20, 7)] {
            dice.shuffle(&mut table);
            let size = table.len().div_ceil(partitions * 3);
            let pieces = table.chunks(size).map(|rows| vec![random::batch(rows, &schema)]);
            let options =
                RowsOptions { memory, partitions, unlisted: true, ..RowsOptions::usual() };
            let known = random::known(&schema);
            let found =
                bounded_in_memory(pieces.collect(), &known, &plan, &HASH_KEY, options).unwrap();
            assert_eq!(found.cuts(), expected, "{memory} {partitions}");
            spills += found.spills();
        }
    }
    assert!(spills > 0);
}

/// What a unit changes: each count by at most one, and of the bins of rows one where it is added or
/// removed, two where it is replaced; and no more of them than are charged for.
#[test]
fn one_unit_moves_each_cut_count_by_one_and_one_bin_of_rows() {
    let moved = |one: &[u64], other: &[u64], most: u64| {
        let changes: Vec<u64> = one.iter().zip(other).map(|(a, b)| a.abs_diff(*b)).collect();
        assert!(changes.iter().all(|&change| change <= 1), "{one:?} {other:?}");
        let bins = changes[4..].iter().sum::<u64>();
        // What is charged for all of them at one price.
        assert!(changes.iter().sum::<u64>() <= 5, "{one:?} {other:?}");
        assert!(bins <= most, "{one:?} {other:?}");
        bins
    };
    let (mut removed, mut replaced) = (0, 0);
    for number in 9_200_000..9_200_080 {
        let (mut dice, unit, table, mut plan) = neighbours::case(number, 40, 4);
        plan.max_rows = 1;
        let all = neighbours::engine(&table, &plan, unit, 2, 2).cuts();
        for gone in random::units(&table) {
            let mut rest = random::without(&table, &gone);
            dice.shuffle(&mut rest);
            let without = neighbours::engine(&rest, &plan, unit, 1, 2).cuts();
            removed = moved(&all, &without, 1).max(removed);
            // Somebody else in its place, with rows of their own.
            let mut other = random::table(&mut dice, unit, 12, 2);
            other.iter_mut().for_each(|row| {
                row.insert("who".to_owned(), gone.clone());
            });
            rest.extend(other);
            let replacing = neighbours::engine(&rest, &plan, unit, 3, 2).cuts();
            replaced = moved(&all, &replacing, 2).max(replaced);
        }
    }
    // What may be reached is reached.
    assert_eq!((removed, replaced), (1, 2));
}
