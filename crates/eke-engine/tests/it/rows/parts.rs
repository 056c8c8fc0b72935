//! Units of several columns, of people in a period, and rows that are units.
//!
//! Defects that these tests are meant to see (`scripts/mutants` has most); P stands for
//! `units_of_several_columns_agree_with_a_plain_reading`, R for
//! `removing_or_replacing_a_unit_of_parts_changes_no_more_than_the_plan_says`, U for
//! `rows_that_are_units_have_no_position`.
//!
//! | defect | seen by |
//! |---|---|
//! | parts stand side by side without their lengths | P, and `parts_are_told_apart_whatever_they_hold` |
//! | a part that is NULL is an empty one | P, and the same |
//! | the period is that of UTC, whatever the zone | P, and `periods_end_where_the_calendar_says` |
//! | the person alone is the unit | P |
//! | rows that are units are named by their position in a batch | U |

use std::collections::BTreeSet;

use eke_budget::Adjacency;
use eke_engine::testing::{BatchesOf, Bounded, RowsOptions, bounded_in_memory_of};
use eke_sql::{Column, Plan, Protection, Table, Type, UnitColumns, Value};
use eke_testkit::Dice;

use crate::rows::neighbours::{HASH_KEY, assert_close, groups};
use crate::rows::plain::{self, Groups, Row, Tables};
use crate::rows::random;
use crate::rows::units::assert_replaced;

const DAY: i64 = 86_400_000_000;
const HOUR: i64 = 3_600_000_000;
/// 2024-01-01, a Monday, and 1970-01-01, in days.
const STARTS: [i64; 2] = [19_723, 0];

/// What a unit is.
const UNITS: [&str; 5] = [
    "(a, b)",
    "(month UTC of t, a)",
    "(month +02:00 of t, b)",
    "(week -03:30 of t, a, b)",
    "(day UTC of d, b)",
];

fn schema() -> Vec<(String, Type)> {
    [
        ("a", Type::Text),
        ("b", Type::Int),
        ("t", Type::Timestamp),
        ("d", Type::Date),
        ("city", Type::Text),
        ("fare", Type::Float),
    ]
    .map(|(name, kind)| (name.to_owned(), kind))
    .into()
}

fn cell(dice: &mut Dice, name: &str) -> Value {
    if dice.roll(9) == 0 {
        return Value::Null;
    }
    match name {
        // Which would be the same as others, parted elsewhere.
        "a" => Value::Text((*dice.pick(&["", "1", "11", "1:1", "a"])).to_owned()),
        "b" => Value::Int(*dice.pick(&[1, 11, 111])),
        "t" => {
            // Close to the ends of days, weeks and months by some clock.
            let days = *dice.pick(&STARTS) + *dice.pick(&[-1, 0, 6, 7, 30, 31]);
            let hours = *dice.pick(&[0, 1, 3, 21, 22, 23]);
            Value::Timestamp(days * DAY + hours * HOUR - i64::from(dice.roll(2) == 0))
        }
        "d" => {
            Value::Date(i32::try_from(STARTS[0]).unwrap() + i32::try_from(dice.roll(3)).unwrap())
        }
        "city" => Value::Text((*dice.pick(&["Delft", "Leiden", "Gouda"])).to_owned()),
        _ => Value::Float(f64::from(u32::try_from(dice.roll(300)).unwrap()) * 0.5),
    }
}

fn row(dice: &mut Dice) -> Row {
    let cells = schema().into_iter().map(|(name, _)| {
        let cell = cell(dice, &name);
        (name, cell)
    });
    cells.collect()
}

/// The first day of a month that a day is in, counted as in the middle ages: month by month.
fn month_start(day: i64) -> i64 {
    let is_leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let (mut start, mut year, mut month) = (-3_653, 1960, 0);
    loop {
        let length = match month {
            1 => 28 + i64::from(is_leap(year)),
            3 | 5 | 8 | 10 => 30,
            _ => 31,
        };
        if day < start + length {
            return start;
        }
        start += length;
        (year, month) = if month == 11 { (year + 1, 0) } else { (year, month + 1) };
    }
}

/// The unit of a row, as a text that no other has; none if something is missing.
fn id(row: &Row, unit: &str) -> Value {
    let is = UnitColumns::read(unit);
    let mut parts = Vec::new();
    for column in &is.columns {
        parts.push(match &row[column] {
            Value::Text(text) => text.clone(),
            Value::Int(int) => int.to_string(),
            _ => return Value::Null,
        });
    }
    if let Some(period) = &is.period {
        let ahead = match period.zone.to_string().as_str() {
            "+02:00" => 2 * HOUR,
            "-03:30" => -7 * HOUR / 2,
            _ => 0,
        };
        let day = match &row[&period.time_column] {
            Value::Timestamp(micros) => (micros + ahead).div_euclid(DAY),
            Value::Date(day) => i64::from(*day),
            _ => return Value::Null,
        };
        let start = match period.every.name() {
            "day" => day,
            "week" => day - (day + 3).rem_euclid(7),
            _ => month_start(day),
        };
        parts.push((start * DAY).to_string());
    }
    Value::Text(parts.iter().map(|part| format!("{}:{part}", part.len())).collect())
}

/// With the unit as a column, for the plain reading.
fn told(tables: &Tables, unit: &str) -> Tables {
    let with_unit = |row: &Row| {
        let mut row = row.clone();
        row.insert(unit.to_owned(), id(&row, unit));
        row
    };
    let all =
        |(name, rows): (&String, &Vec<Row>)| (name.clone(), rows.iter().map(with_unit).collect());
    tables.iter().map(all).collect()
}

fn tables_of_policy(unit: &str, dice: &mut Dice) -> [Table; 2] {
    ["trips", "fines"].map(|name| Table {
        name: name.to_owned(),
        columns: schema()
            .into_iter()
            .map(|(name, kind)| Column {
                bounds: (name == "fare").then_some((0.0, 100.0)),
                values: (name == "city" && dice.roll(2) == 0)
                    .then(|| ["Delft", "Leiden"].map(|c| Value::Text(c.to_owned())).into()),
                name,
                kind: Some(kind),
            })
            .collect(),
        protection: Protection::Private {
            unit: "unit".to_owned(),
            unit_column: unit.to_owned(),
            adjacency: Adjacency::AddRemove,
            max_groups: 1 + u32::try_from(dice.roll(3)).unwrap(),
            max_rows: 1 + u32::try_from(dice.roll(4)).unwrap(),
            max_values: None,
            max_rows_in_all: None,
        },
    })
}

/// Questions about units of these parts.
fn questions(unit: &str) -> Vec<String> {
    let is = UnitColumns::read(unit);
    let mut parts = is.columns.clone();
    if let Some(period) = &is.period {
        let time = match period.zone.to_string().as_str() {
            "+02:00" => format!("{} + INTERVAL '2 hours'", period.time_column),
            "-03:30" => format!("{} - INTERVAL '210 minutes'", period.time_column),
            _ => period.time_column.clone(),
        };
        parts.push(format!("DATE_TRUNC('{}', {time})", period.every));
    }
    let own = parts.join(", ");
    let on = |one: &str, other: &str| {
        let of = |table: &str, part: &str| {
            let mut part = part.to_owned();
            for column in ["a", "b", "t", "d"] {
                for (before, after) in [("", ""), (", ", " "), (", ", ")")] {
                    let found = format!("{before}{column}{after}");
                    if part == found || (!before.is_empty() && part.contains(&found)) {
                        part = part.replace(&found, &format!("{before}{table}.{column}{after}"));
                    }
                }
            }
            part
        };
        let all = parts.iter().map(|part| format!("{} = {}", of(one, part), of(other, part)));
        all.collect::<Vec<_>>().join(" AND ")
    };
    vec![
        "SELECT city, COUNT(*), SUM(fare) FROM trips GROUP BY city".to_owned(),
        format!("SELECT COUNT(*), COUNT(DISTINCT ({own})), COUNT(DISTINCT city) FROM trips"),
        format!("SELECT {}, COUNT(*), AVG(fare) FROM trips GROUP BY 1", parts.last().unwrap()),
        "SELECT DATE_TRUNC('day', t), COUNT(*) FROM trips GROUP BY 1".to_owned(),
        format!(
            "SELECT n, COUNT(*), SUM(paid) FROM (SELECT {own}, COUNT(*) AS n, SUM(fare) AS paid \
             FROM trips GROUP BY {own}) AS x GROUP BY n"
        ),
        format!("SELECT city, COUNT(*) FROM (SELECT DISTINCT city, {own} FROM trips) AS x GROUP BY city"),
        format!("SELECT x.city, COUNT(*), SUM(y.fare) FROM trips x JOIN fines y ON {} GROUP BY x.city", on("x", "y")),
        format!("SELECT COUNT(*), COUNT(y.city) FROM trips x LEFT JOIN fines y ON {} AND x.city = y.city", on("x", "y")),
        format!("SELECT COUNT(*), COUNT(x.city), COUNT(y.city) FROM trips x FULL JOIN fines y ON {}", on("x", "y")),
        format!("SELECT COUNT(*) FROM trips x WHERE NOT EXISTS (SELECT 1 FROM fines y WHERE {} AND y.fare > x.fare)", on("y", "x")),
        format!("SELECT COUNT(*) FROM trips WHERE ({own}) IN (SELECT {own} FROM fines WHERE fare > 20)"),
        "SELECT city, COUNT(*) FROM (SELECT city, fare FROM trips UNION ALL SELECT city, fare FROM \
         fines) AS x GROUP BY city"
            .to_owned(),
    ]
}

fn engine(
    tables: &Tables,
    plan: &Plan,
    unit: &str,
    pieces: usize,
    options: RowsOptions<'_>,
) -> Bounded {
    let datasets = plan.datasets().into_iter().map(|dataset| {
        let rows = &tables[dataset];
        let size = rows.len().div_ceil(pieces).max(1);
        let batches = |rows: &[Row]| {
            rows.chunks(size.div_ceil(2)).map(|rows| random::batch(rows, &schema())).collect()
        };
        BatchesOf {
            dataset: dataset.to_owned(),
            unit_column: unit.to_owned(),
            schema: random::known(&schema()),
            pieces: rows.chunks(size).map(batches).collect(),
        }
    });
    bounded_in_memory_of(datasets.collect(), plan, &HASH_KEY, options)
        .unwrap_or_else(|error| panic!("{}: {plan:?}", error.detail()))
}

fn partitions(partitions: usize) -> RowsOptions<'static> {
    RowsOptions { partitions, batch_rows: 5, ..RowsOptions::usual() }
}

fn case(number: u64, rows: usize) -> (Dice, &'static str, Tables, Vec<(String, Plan)>) {
    let mut dice = Dice(number);
    let unit = *dice.pick(&UNITS);
    let tables = ["trips", "fines"].map(|name| {
        let count = 1 + dice.roll(rows);
        (name.to_owned(), (0..count).map(|_| row(&mut dice)).collect())
    });
    let policy = tables_of_policy(unit, &mut dice);
    let plans = questions(unit).into_iter().map(|sql| {
        let plan = eke_sql::plan(&sql, &policy).unwrap_or_else(|no| panic!("{no}\n{sql}")).plan;
        (sql, plan)
    });
    let plans = plans.collect();
    (dice, unit, Tables::from(tables), plans)
}

fn shuffle(tables: &mut Tables, dice: &mut Dice) {
    tables.values_mut().for_each(|rows| dice.shuffle(rows));
}

#[test]
fn units_of_several_columns_agree_with_a_plain_reading() {
    let mut some = 0;
    for number in 0..60 {
        let (mut dice, unit, mut tables, plans) = case(number, 40);
        for (sql, plan) in plans {
            let expected = plain::bounded_of(&told(&tables, unit), &plan, &HASH_KEY);
            some += usize::from(!expected.is_empty());
            for (pieces, parts) in [(1, 1), (5, 3)] {
                shuffle(&mut tables, &mut dice);
                let bounded = engine(&tables, &plan, unit, pieces, partitions(parts));
                assert_eq!(groups(&bounded, &expected), expected, "case {number} {unit}: {sql}");
            }
        }
    }
    assert!(some > 600, "{some}");
}

#[test]
fn units_of_several_columns_that_go_to_disk_are_the_same() {
    let mut dice = Dice(5);
    for unit in ["(a, b)", "(week -03:30 of t, a, b)"] {
        let rows = |dice: &mut Dice| {
            let many = (0..6_000).map(|number| {
                let mut row = row(dice);
                let text = format!("somebody with a long name {}", number % 2_000);
                row.insert("a".to_owned(), Value::Text(text));
                row
            });
            many.collect::<Vec<Row>>()
        };
        let mut tables =
            Tables::from(["trips", "fines"].map(|name| (name.to_owned(), rows(&mut dice))));
        let policy = tables_of_policy(unit, &mut dice);
        let mut spills = 0;
        for sql in &questions(unit)[4..7] {
            let plan = eke_sql::plan(sql, &policy).unwrap().plan;
            let expected = plain::bounded_of(&told(&tables, unit), &plan, &HASH_KEY);
            for (memory, parts) in [(2 << 30, 2), (1 << 18, 1), (1 << 18, 3)] {
                shuffle(&mut tables, &mut dice);
                let options = RowsOptions { memory, partitions: parts, ..RowsOptions::usual() };
                let found = engine(&tables, &plan, unit, parts * 2, options);
                assert_eq!(groups(&found, &expected), expected, "{unit}: {sql}");
                spills += found.spills();
            }
        }
        assert!(spills > 0, "{unit}");
    }
}

#[test]
fn removing_or_replacing_a_unit_of_parts_changes_no_more_than_the_plan_says() {
    let nobody = Groups::new();
    for number in 1_000..1_008 {
        let (mut dice, unit, tables, plans) = case(number, 14);
        let ids: BTreeSet<Value> = tables.values().flatten().map(|row| id(row, unit)).collect();
        for (_, plan) in &plans {
            let run = |tables: &Tables, pieces| {
                groups(&engine(tables, plan, unit, pieces, partitions(2)), &nobody)
            };
            let all = run(&tables, 2);
            for gone in ids.iter().filter(|id| **id != Value::Null) {
                let (mut rest, mut replaced) = (tables.clone(), tables.clone());
                rest.values_mut().for_each(|rows| rows.retain(|row| id(row, unit) != *gone));
                shuffle(&mut rest, &mut dice);
                let fewer = run(&rest, 1);
                assert_close(&all, &fewer, plan, number);
                // Other rows of the same unit in their place.
                for rows in replaced.values_mut() {
                    let own = rows.iter().find(|row| id(row, unit) == *gone).cloned();
                    rows.retain(|row| id(row, unit) != *gone);
                    for _ in 0..dice.roll(6) {
                        let Some(mut row) = own.clone() else { break };
                        row.insert("city".to_owned(), cell(&mut dice, "city"));
                        row.insert("fare".to_owned(), cell(&mut dice, "fare"));
                        rows.push(row);
                    }
                }
                let replaced = run(&replaced, 3);
                assert_close(&replaced, &fewer, plan, number);
                assert_replaced(&all, &replaced, plan, number);
            }
        }
    }
}

/// Rows that are units: the same rows in other batches give the same, and one row less changes one
/// group by that row.
#[test]
fn rows_that_are_units_have_no_position() {
    let nobody = Groups::new();
    for number in 0..40 {
        let mut dice = Dice(number);
        let [mut trips, _] = tables_of_policy("", &mut dice);
        if let Protection::Private { max_groups, max_rows, .. } = &mut trips.protection {
            (*max_groups, *max_rows) = (1, 1);
        }
        let count = 2 + dice.roll(60);
        let mut rows: Vec<Row> = (0..count).map(|_| row(&mut dice)).collect();
        for sql in [
            "SELECT city, COUNT(*), SUM(fare), COUNT(DISTINCT b) FROM trips GROUP BY city",
            "SELECT a, d, COUNT(fare) FROM trips GROUP BY a, d",
        ] {
            let plan = eke_sql::plan(sql, std::slice::from_ref(&trips)).unwrap().plan;
            let run = |rows: &[Row], pieces, parts| {
                let tables = Tables::from([("trips".to_owned(), rows.to_vec())]);
                groups(&engine(&tables, &plan, "", pieces, partitions(parts)), &nobody)
            };
            let expected = plain::bounded(&rows, &plan, &HASH_KEY);
            for (pieces, parts) in [(1, 1), (7, 3)] {
                dice.shuffle(&mut rows);
                assert_eq!(run(&rows, pieces, parts), expected, "{sql}");
            }
            let fewer = run(&rows[1..], 3, 2);
            assert_close(&expected, &fewer, &plan, number);
        }
    }
}
