//! Answers with totals, and tables that add up.
//!
//! Statistical tests (n; false-alarm rate; critical value; control):
//!
//! - `tables_that_add_up_hold_the_truth` (40 tables of 12 rows; 1e-7; 5 % and 5.3 deviations,
//!   tables as units; intervals half as wide)

use eke_engine::ask::{CutVerdict, NotAdditive, adds_up};
use eke_engine::{Accuracy, Answer, Engine, EngineError, Goal, Row};
use std::fmt::Write as _;

use crate::trips::{Folder, goal, policy, price, question, relative, spent};

const CUBE: &str = "SELECT zone, fare > 20 AS dear, COUNT(*) AS n, SUM(fare) AS s FROM trips \
                    GROUP BY CUBE (zone, dear)";

fn ask(engine: &Engine, sql: &str, goal: Goal) -> Answer {
    engine.ask(&question("steward", sql, goal), &()).unwrap()
}

/// Riders of one trip each in three zones that are listed and one that is not: by zone, how many of
/// a fare of 10 and how many of one of 30.
const RIDERS: [[u32; 2]; 4] = [[100, 30], [0, 400], [3, 2], [5000, 5000]];

fn rides() -> String {
    let (mut text, mut rider) = ("rider,zone,fare\n".to_owned(), 0);
    for (zone, fares) in RIDERS.iter().enumerate() {
        for (fare, count) in [10, 30].iter().zip(fares) {
            for _ in 0..*count {
                let _ = writeln!(text, "r{rider},{zone},{fare}");
                rider += 1;
            }
        }
    }
    text
}

fn folder(max_rows: u32) -> Folder {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 1, max_rows, Some(3)));
    folder.write("trips.csv", &rides());
    folder
}

/// What is in the listed zones: the zone and whether a fare is dear, or none for all of them.
fn truth(row: &Row) -> f64 {
    let is_in = |key: &serde_json::Value, own: serde_json::Value| key.is_null() || *key == own;
    let mut count = 0;
    for (zone, fares) in RIDERS.iter().enumerate().take(3) {
        for (dear, of) in [false, true].into_iter().zip(fares) {
            let is_here = is_in(&row.keys[0], zone.into()) && is_in(&row.keys[1], dear.into());
            count += if is_here { *of } else { 0 };
        }
    }
    f64::from(count)
}

/// Every set of keys is a question of its own, about rows whose keys are listed; all of them
/// together cost the price, and each is what anybody finds who asks for it alone.
#[test]
fn totals_are_questions_about_the_same_rows() {
    let folder = folder(1);
    let engine = folder.engine();
    let answer = ask(&engine, CUBE, price("0.1"));
    assert!((answer.cost.rho - 0.1).abs() < 1e-6 && (spent(&engine) - 0.1).abs() < 1e-6);
    assert_eq!(answer.rows.len(), 4 * 3);
    let keys: Vec<String> = answer.rows.iter().map(|row| format!("{:?}", row.over)).collect();
    let all_zones = keys.iter().filter(|over| over.contains("zone")).count();
    let all_fares = keys.iter().filter(|over| over.contains("dear")).count();
    assert_eq!((all_zones, all_fares), (3, 4));
    // In the order of their keys, each total after what it is of.
    let last = answer.rows.last().unwrap();
    assert!(last.over.len() == 2 && answer.rows[2].over.len() == 1, "{:?}", answer.rows);
    for row in &answer.rows {
        let cell = &row.values[0];
        assert!((cell.value.unwrap() - truth(row)).abs() < 40.0, "{row:?}");
    }
    // Again, and for one of them alone: nothing is paid twice.
    let again = ask(&engine, CUBE, price("0.1"));
    assert!(again.free && again.rows == answer.rows);
    let total = "SELECT COUNT(*) AS n, SUM(fare) AS s FROM trips \
                 WHERE zone IN (0, 1, 2) AND (fare > 20) IN (false, true)";
    let total = ask(&engine, total, price("0.025"));
    assert!(total.free);
    assert_eq!(total.rows[0].values[0].value, last.values[0].value);
    // A set without totals has the rows and the price of a question without sets.
    let one = "SELECT zone, COUNT(*) AS n FROM trips GROUP BY GROUPING SETS ((zone))";
    let one = ask(&engine, one, price("0.01"));
    let plain = ask(&engine, "SELECT zone, COUNT(*) AS n FROM trips GROUP BY zone", price("0.01"));
    assert!(plain.free && plain.rows == one.rows);
}

#[test]
fn tables_are_made_to_add_up() {
    let folder = folder(1);
    let engine = folder.engine();
    // Little is paid, so much of what is empty is drawn below zero.
    let drawn = ask(&engine, CUBE, price("0.002"));
    let totals = drawn.totals.clone().unwrap();
    assert_eq!((totals.levels, totals.adds_up.len(), totals.one_row_each), (4, 2, false));
    let sums = |answer: &Answer, place: usize| {
        let mut off = 0.0f64;
        for total in &answer.rows {
            let is_of = |row: &&Row| {
                let keys = total.keys.iter().zip(&row.keys);
                row.over.is_empty() && keys.into_iter().all(|(of, key)| of.is_null() || of == key)
            };
            let cells = answer.rows.iter().filter(is_of);
            let sum: f64 = cells.map(|row| row.values[place].value.unwrap()).sum();
            off = off.max((sum - total.values[place].value.unwrap()).abs());
        }
        off
    };
    assert!(sums(&drawn, 0) > 1.0 && sums(&drawn, 1) > 1.0, "noise does not add up");
    for nonnegative in [false, true] {
        let answer = drawn.clone().additive(nonnegative).unwrap();
        assert!(sums(&answer, 0) < 1e-6 && sums(&answer, 1) < 1e-5);
        let told = answer.additive.as_ref().unwrap();
        assert_eq!(
            (&*told.columns, told.nonnegative),
            (&["n".to_owned(), "s".to_owned()][..], nonnegative)
        );
        assert!(told.without_intervals.is_empty());
        let cells = || answer.rows.iter().flat_map(|row| &row.values);
        assert!(cells().all(|cell| cell.low.is_some() && cell.high.is_some()));
        assert!(!nonnegative || cells().all(|cell| cell.value.unwrap() >= 0.0));
    }
    // What stopped by what it saw has no interval, and is not said to be met.
    let stopped = ask(&engine, CUBE, relative(0.4));
    assert!(stopped.sums_too_large && !drawn.sums_too_large);
    let answer = stopped.additive(false).unwrap();
    assert_eq!(answer.additive.as_ref().unwrap().without_intervals.len(), 2);
    let cells = answer.rows.iter().flat_map(|row| &row.values);
    assert!(cells.into_iter().all(|cell| cell.low.is_none() && cell.met.is_none()));
}

/// Before anything is paid for.
#[test]
fn what_does_not_add_up_without_noise_is_refused() {
    let why = |folder: &Folder, sql: &str| {
        let engine = folder.engine();
        match adds_up(engine.policy(), sql, &question("steward", sql, price("0.1")).who) {
            Err(EngineError::Unanswerable(eke_engine::error::NotAnswered::NotAdditive(why))) => why,
            other => panic!("{other:?}"),
        }
    };
    let one = folder(1);
    let (no, all) = ("SELECT zone, COUNT(*) FROM trips GROUP BY zone", CUBE);
    assert_eq!(why(&one, no), NotAdditive::NoTotals);
    let many = NotAdditive::ManyRows { max_groups: 1, max_rows: 5 };
    assert_eq!(why(&folder(5), all), many);
    let apart = CUBE.replace("CUBE (zone, dear)", "GROUPING SETS ((zone), (dear))");
    assert_eq!(why(&one, &apart), NotAdditive::NoCells);
    let hidden = "SELECT zone, COUNT(*) FROM trips GROUP BY ROLLUP (zone, fare > 20)";
    assert_eq!(why(&one, hidden), NotAdditive::HiddenKeys);
    let average = "SELECT zone, AVG(fare) FROM trips GROUP BY ROLLUP (zone)";
    assert_eq!(why(&one, average), NotAdditive::NoSums);
    let text = policy("add-remove", 1, 1, Some(3)).replace("max_rows", "min_units = 5\nmax_rows");
    one.write("eke.toml", &text);
    assert_eq!(why(&one, all), NotAdditive::MinUnits { min_units: 5 });
}

/// Riders of two trips in each of three zones lose nothing by zone, and most of their trips in the
/// total, which is one group. Each set is bounded, counted and charged by itself.
#[test]
fn bounds_hold_for_each_set_of_keys_and_each_is_paid_for() {
    const RIDERS: u32 = 6_000;
    let folder = Folder::new();
    let text = policy("add-remove", 3, 2, Some(3));
    folder.write("eke.toml", &text.replace("cut_counts = false", "cut_counts = 0.02"));
    let mut rides = String::from("rider,zone,fare\n");
    for ride in 0..RIDERS * 6 {
        let _ = writeln!(rides, "r{},{},20", ride / 6, ride % 3);
    }
    folder.write("trips.csv", &rides);
    let engine = folder.engine();
    let sql = "SELECT zone, COUNT(*) AS n FROM trips GROUP BY ROLLUP (zone)";
    let answer = ask(&engine, sql, price("0.1"));
    let values = answer.rows.iter().map(|row| row.values[0].value.unwrap());
    let values: Vec<f64> = values.collect();
    for (value, truth) in values.iter().zip([2.0, 2.0, 2.0, 2.0]) {
        assert!((value / f64::from(RIDERS) - truth).abs() < 0.1, "{values:?}");
    }
    // By zone nobody is cut, and in all everybody is.
    let covers = answer.covers.as_ref().unwrap();
    assert_eq!((covers.max_groups, covers.max_rows), (Some(3), Some(2)));
    let verdict = covers.cut.as_ref().unwrap().verdict;
    assert!(verdict.is_some_and(|verdict| verdict != CutVerdict::Many), "{covers:?}");
    let [total] = &*answer.totals.as_ref().unwrap().covers else { panic!("{answer:?}") };
    assert_eq!((&*total.over, total.covers.max_groups), (&["zone".to_owned()][..], None));
    assert!(total.covers.is_less_than(covers) && !covers.is_less_than(&total.covers));
    let cut = total.covers.cut.as_ref().unwrap();
    assert_eq!(cut.verdict, Some(CutVerdict::Many), "{cut:?}");
    assert!((cut.units.unwrap().value / f64::from(RIDERS) - 1.0).abs() < 0.1, "{cut:?}");
    // Both sets and both of their cut counts are paid for, and are what anybody finds who asks for
    // one of them.
    assert!((answer.cost.rho / 0.102 - 1.0).abs() < 1e-3, "{:?}", answer.cost);
    assert!((spent(&engine) / 0.102 - 1.0).abs() < 1e-3);
    let zones = "SELECT zone, COUNT(*) AS n FROM trips GROUP BY zone";
    let total = "SELECT COUNT(*) AS n FROM trips WHERE zone IN (0, 1, 2)";
    assert!(ask(&engine, zones, price("0.05")).free && ask(&engine, total, price("0.05")).free);
    let alone = folder.fresh();
    let [zones, total] = [zones, total].map(|sql| ask(&alone, sql, price("0.05")).cost.rho);
    assert!((answer.cost.rho - zones - total).abs() < 1e-6, "{zones} {total}");
}

/// What is shown of a value that was moved is moved with it, and a sum that is not the same in all
/// sets is none of them.
#[test]
fn all_that_is_shown_of_a_value_adds_up() {
    let folder = folder(1);
    let engine = folder.engine();
    let sql = "SELECT zone, COUNT(*) AS n, DP_INTERVAL_LOW(n) AS low, AVG(fare) AS a FROM trips \
               GROUP BY ROLLUP (zone)";
    let drawn = ask(&engine, sql, price("0.02"));
    assert_eq!(drawn.totals.as_ref().unwrap().adds_up, ["n"]);
    let answer = drawn.clone().additive(false).unwrap();
    for (row, before) in answer.rows.iter().zip(&drawn.rows) {
        let [n, low, average] = &*row.values else { panic!("{row:?}") };
        assert_eq!((n.low, n.high), (low.low, low.high));
        assert!(low.value == n.value && n.value != before.values[0].value, "{row:?}");
        assert!(n.high != before.values[0].high && *average == before.values[2], "{row:?}");
    }
    // By zone the values of zones are what the policy lists, and in the total too: the same clamps.
    let sum = "SELECT zone, SUM(zone) AS s FROM trips WHERE fare > 0 AND zone BETWEEN 0 AND 2 \
               GROUP BY ROLLUP (zone)";
    let sum = ask(&engine, sum, price("0.02")).additive(true).unwrap();
    assert_eq!(sum.additive.unwrap().columns, ["s"]);
}

/// Of the intervals of a table that adds up 5 % miss on average.
#[test]
fn tables_that_add_up_hold_the_truth() {
    const TABLES: u32 = 40;
    let folder = folder(1);
    let sql = "SELECT zone, fare > 20 AS dear, COUNT(*) AS n FROM trips GROUP BY CUBE (zone, dear)";
    let (mut missed, mut narrow, mut all) = (0.0, 0.0, 0.0);
    for _ in 0..TABLES {
        let engine = folder.fresh();
        let answer = ask(&engine, sql, goal(Accuracy::Absolute(30.0)));
        let answer = answer.additive(false).unwrap();
        assert!(answer.is_met());
        for row in &answer.rows {
            let (cell, truth) = (&row.values[0], truth(row));
            let (value, high) = (cell.value.unwrap(), cell.high.unwrap());
            missed += f64::from(u8::from(!(cell.low.unwrap()..=high).contains(&truth)));
            narrow += f64::from(u8::from((value - truth).abs() > (high - value) / 2.0));
            all += 1.0;
        }
    }
    let most = all * (0.05 + 5.3 * (0.05 * 0.95 / f64::from(TABLES)).sqrt());
    assert!(missed <= most, "{missed} of {all}");
    assert!(narrow > most, "the control: {narrow} of {all}");
}
