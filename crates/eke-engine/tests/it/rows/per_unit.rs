//! One row a person first: rows of a unit brought together before anything is bounded.
//!
//! Defects that were put in by hand, one after the other, and what saw each; P stands for
//! `rows_brought_together_agree_with_a_plain_reading`, R for
//! `removing_or_replacing_a_unit_changes_no_more_than_the_plan_says`, S for
//! `spilling_and_sharing_out_change_nothing`.
//!
//! | defect | seen by |
//! |---|---|
//! | a join's NULLs match | P |
//! | rows that match are kept without a match as well | P |
//! | a left join is inner, and an inner one left | P |
//! | rows of several units are brought together to one | P, R, S |
//! | each row of a join or a subquery is bounded as a unit of its own (unbounded fan-out) | P, R |
//! | sums of floats are rounded at each step | P |
//! | different values are counted in each part and added up | P, R |
//! | rows of a unit are told apart by their position | P, R, S |
//! | what was on disk takes the place of what is in memory | P, R, S |

use eke_budget::Adjacency;
use eke_engine::testing::{Bounded, RowsOptions, bounded_in_memory};
use eke_sql::{Column, Plan, Protection, Table, Type, Value};
use eke_testkit::Dice;

use crate::rows::neighbours::{HASH_KEY, UNITS, assert_close, engine, groups};
use crate::rows::plain::{self, Groups, Row};
use crate::rows::random;

/// A random table and a random plan that brings rows of units together.
fn case(number: u64, rows: usize, units: usize) -> (Dice, Type, Vec<Row>, Plan) {
    let mut dice = Dice(number);
    let unit = *dice.pick(&UNITS);
    let rows = 1 + dice.roll(rows);
    let table = random::table(&mut dice, unit, rows, units);
    let plan = random::plan_per_unit(&mut dice, unit);
    (dice, unit, table, plan)
}

#[test]
fn rows_brought_together_agree_with_a_plain_reading() {
    for number in 0..600 {
        let (mut dice, unit, mut table, plan) = case(number, 40, 5);
        let expected = plain::bounded(&table, &plan, &HASH_KEY);
        for (pieces, partitions) in [(1, 1), (3, 2), (9, 7)] {
            dice.shuffle(&mut table);
            let bounded = engine(&table, &plan, unit, pieces, partitions);
            assert_eq!(bounded.unit_counts().len(), expected.len(), "case {number}: {plan:?}");
            assert_eq!(groups(&bounded, &expected), expected, "case {number}: {plan:?}");
        }
    }
}

#[test]
fn removing_or_replacing_a_unit_changes_no_more_than_the_plan_says() {
    let nobody = Groups::new();
    for number in 1_000_000..1_000_150 {
        let (mut dice, unit, table, plan) = case(number, 30, 4);
        let all = groups(&engine(&table, &plan, unit, 2, 2), &nobody);
        for gone in random::units(&table) {
            let mut rest = random::without(&table, &gone);
            dice.shuffle(&mut rest);
            let without = groups(&engine(&rest, &plan, unit, 1, 2), &nobody);
            assert_close(&all, &without, &plan, number);
            // Other rows in their place: of both groups that are touched, twice as many.
            let others = random::table(&mut dice, unit, 8, 4);
            rest.extend(others.into_iter().filter_map(|mut row| {
                let is_somebody = row["who"] != Value::Null;
                row.insert("who".to_owned(), gone.clone());
                is_somebody.then_some(row)
            }));
            let replaced = groups(&engine(&rest, &plan, unit, 3, 2), &nobody);
            assert_close(&replaced, &without, &plan, number);
        }
    }
}

/// Many units, whose rows come in pieces and in any order.
fn many(rows: i64, dice: &mut Dice) -> Vec<Row> {
    let mut table: Vec<Row> = (0..rows)
        .map(|number| {
            let mut row = random::table(dice, Type::Int, 1, 1).remove(0);
            row.insert("who".to_owned(), Value::Int(number % (rows / 4)));
            row.insert(
                "city".to_owned(),
                Value::Text(format!("a town with a name {}", number % 97)),
            );
            row.insert("fare".to_owned(), Value::Float((number * 7919 % 1_000) as f64 * 0.1));
            row
        })
        .collect();
    dice.shuffle(&mut table);
    table
}

#[test]
fn spilling_and_sharing_out_change_nothing() {
    let mut dice = Dice(7);
    let mut table = many(60_000, &mut dice);
    let schema = random::schema(Type::Int);
    for sql in [
        "SELECT COUNT(*), SUM(total), AVG(n) FROM (SELECT who, SUM(fare) AS total, COUNT(*) AS n, \
         MIN(city) AS town FROM trips GROUP BY who) WHERE total > 100 OR town < 'a town with a name 3'",
        "SELECT COUNT(*), SUM(d) FROM (SELECT who, city, COUNT(DISTINCT fare) AS d FROM trips \
         GROUP BY who, city)",
        "SELECT COUNT(*), SUM(m) FROM (SELECT who, MAX(t) AS m FROM (SELECT who, city, SUM(fare) AS \
         t FROM trips GROUP BY 1, 2) GROUP BY who)",
    ] {
        let plan = eke_sql::plan(sql, &[trips()]).unwrap().plan;
        let expected = plain::bounded(&table, &plan, &HASH_KEY);
        for (memory, partitions) in [(2 << 30, 2), (16 << 20, 1), (16 << 20, 7), (1 << 20, 2)] {
            dice.shuffle(&mut table);
            let found = run(&table, &schema, &plan, memory, partitions);
            assert_eq!(groups(&found, &expected), expected, "{sql}");
            println!("{memory} bytes, {partitions} partitions: {} spills", found.spills());
            assert!(memory > 16 << 20 || partitions == 1 || found.spills() > 0);
        }
    }
}

fn run(
    rows: &[Row],
    schema: &[(String, Type)],
    plan: &Plan,
    memory: usize,
    partitions: usize,
) -> Bounded {
    let size = rows.len().div_ceil(partitions * 3).max(1);
    let pieces = rows.chunks(size).map(|rows| vec![random::batch(rows, schema)]).collect();
    let options = RowsOptions { memory, partitions, ..RowsOptions::usual() };
    bounded_in_memory(pieces, &random::known(schema), plan, &HASH_KEY, options)
        .unwrap_or_else(|error| panic!("{}", error.detail()))
}

/// The random tables, as a policy has them.
fn trips() -> Table {
    let column = |(name, kind): (String, Type)| Column {
        bounds: (name == "fare").then_some((0.0, 100.0)),
        name,
        kind: Some(kind),
        values: None,
    };
    Table {
        name: "trips".to_owned(),
        columns: random::schema(Type::Int).into_iter().map(column).collect(),
        protection: Protection::Private {
            unit: "rider".to_owned(),
            unit_column: "who".to_owned(),
            adjacency: Adjacency::AddRemove,
            max_groups: 3,
            max_rows: 20,
            max_values: None,
            max_rows_in_all: None,
        },
    }
}
