//! Rows of few units, which a policy may leave out of answers.
//!
//! Statistical tests (n; false-alarm rate; critical value; control):
//!
//! - `intervals_hold_of_rows_that_are_shown_for_having_enough_units` (about 180 shown rows; 1e-7;
//!   5 % and 5.3 deviations; ordinary intervals of the same rows)

use std::fmt::Write as _;

use eke_engine::ask::{Suppressed, WhyFewer, explain_for};
use eke_engine::error::NotAllowed;
use eke_engine::{Accuracy, Answer, Engine, EngineError, Goal};

use crate::trips::{Folder, goal, policy, price, question, trips};

const UNITS: &str = "SELECT zone, COUNT(DISTINCT rider) AS n FROM trips GROUP BY zone";
const ROWS: &str = "SELECT zone, COUNT(*) AS n FROM trips GROUP BY zone";

fn ask(engine: &Engine, sql: &str, goal: Goal) -> Answer {
    engine.ask(&question("steward", sql, goal), &()).unwrap()
}

/// The policy of trips, with the fewest units of a row; none where that is nothing.
fn with_least(folder: &Folder, rows: u32, zones: u32, least: u32) -> Engine {
    let mut text = policy("add-remove", 1, rows, Some(zones));
    if least > 0 {
        text = text.replace("max_groups", &format!("min_units = {least}\nmax_groups"));
    }
    folder.write("eke.toml", &text);
    folder.engine()
}

fn values(answer: &Answer) -> Vec<(i64, f64)> {
    let value =
        |row: &eke_engine::Row| (row.keys[0].as_i64().unwrap(), row.values[0].value.unwrap());
    answer.rows.iter().map(value).collect()
}

/// All groups have as many units: the noisy count alone says which are shown, and whoever sees all
/// of them sees the same counts. Had the true counts decided, all rows would be shown, or none.
#[test]
fn rows_of_few_units_are_left_out_by_their_noisy_count() {
    const ZONES: u32 = 200;
    let folder = Folder::new();
    folder.write("trips.csv", &trips(&[60; ZONES as usize]));
    for least in [60, 59, 61] {
        let answer = ask(&with_least(&folder, 3, ZONES, least), UNITS, price("0.005"));
        let all = ask(&with_least(&folder, 3, ZONES, 0), UNITS, price("0.005"));
        assert!(all.free && all.suppressed.is_none() && all.rows.len() == ZONES as usize);
        let mut enough = values(&all);
        enough.retain(|(_, count)| *count >= f64::from(least));
        assert_eq!(values(&answer), enough, "{least}");
        assert!((20..180).contains(&enough.len()), "{}", enough.len());
        let rows = ZONES as usize - enough.len();
        assert_eq!(answer.suppressed, Some(Suppressed { rows, min_units: least }));
        let chosen = answer.chosen.unwrap();
        assert_eq!((chosen.rows, chosen.groups), (enough.len(), ZONES as usize));
    }
}

/// What was asked for has no count of units: there is one beside it, which costs as much as any
/// column, is not shown, and is the same count that others ask for.
#[test]
fn a_count_of_units_is_bought_beside_what_has_none() {
    const ZONES: u32 = 50;
    let folder = Folder::new();
    folder.write("trips.csv", &trips(&[400; ZONES as usize]));
    let error = goal(Accuracy::Absolute(60.0));
    let plain = ask(&with_least(&folder, 3, ZONES, 0), ROWS, error);
    let engine = with_least(&folder, 3, ZONES, 400);
    let explained = explain_for(engine.policy(), &question("steward", ROWS, error)).unwrap();
    let answer = ask(&engine, ROWS, error);
    drop(engine);
    assert!((answer.cost.rho / plain.cost.rho - 2.0).abs() < 0.01, "{answer:?}");
    assert!((explained.totals[0].cost.unwrap().rho / answer.cost.rho - 1.0).abs() < 0.01);
    let says = "rows of fewer than 400 units by measure 2 are not shown";
    assert!(explained.plan.iter().any(|line| line == says), "{explained:?}");
    let suppressed = answer.suppressed.unwrap();
    assert!(suppressed.rows > 0 && suppressed.rows < 50, "{suppressed:?}");
    assert_eq!(answer.rows.len() + suppressed.rows, 50);
    assert_eq!((answer.columns.len(), answer.rows[0].values.len()), (2, 1));
    // Another count decided: the intervals of this one are what they were, and its goal is met.
    assert!(answer.chosen.is_none() && answer.is_met());
    // The count beside it is the one that anybody asks for: the same paths, at the same price.
    let folder = Folder::new();
    folder.write("trips.csv", &trips(&[400; ZONES as usize]));
    let answer = ask(&with_least(&folder, 3, ZONES, 400), ROWS, price("0.01"));
    let both = "SELECT zone, COUNT(*) AS n, COUNT(DISTINCT rider) AS u FROM trips GROUP BY zone";
    let both = ask(&with_least(&folder, 3, ZONES, 0), both, price("0.01"));
    assert!(both.free, "the same paths: {both:?}");
    let shown: Vec<i64> = answer.rows.iter().map(|row| row.keys[0].as_i64().unwrap()).collect();
    assert!(!shown.is_empty() && shown.len() < ZONES as usize);
    for row in &both.rows {
        let is_shown = shown.contains(&row.keys[0].as_i64().unwrap());
        assert_eq!(is_shown, row.values[1].value.unwrap() >= 400.0, "{row:?}");
    }
    // Where one row of a rider counts, rows are riders and nothing is added.
    let folder = Folder::new();
    folder.write("trips.csv", &trips(&[400; ZONES as usize]));
    let answer = ask(&with_least(&folder, 1, ZONES, 400), ROWS, goal(Accuracy::Absolute(20.0)));
    let plain = ask(&with_least(&folder, 1, ZONES, 0), ROWS, goal(Accuracy::Absolute(20.0)));
    assert!(plain.free && answer.chosen.is_some() && answer.rows.len() < 50);
}

/// Groups of 60 riders that are shown for having 75 by their noise.
#[test]
fn intervals_hold_of_rows_that_are_shown_for_having_enough_units() {
    const ZONES: u32 = 1000;
    let folder = Folder::new();
    folder.write("trips.csv", &trips(&[60; ZONES as usize]));
    with_least(&folder, 1, ZONES, 75);
    let (mut cells, mut misses, mut ordinary) = (0.0, 0.0, 0.0);
    let is_missed = |row: &&eke_engine::Row| {
        let cell = &row.values[0];
        !(cell.low.unwrap()..=cell.high.unwrap()).contains(&60.0)
    };
    for _ in 0..3 {
        drop(folder.fresh());
        let answer = ask(&with_least(&folder, 1, ZONES, 75), ROWS, price("0.005"));
        let all = ask(&with_least(&folder, 1, ZONES, 0), ROWS, price("0.005"));
        assert!(all.free);
        let is_shown =
            |row: &&eke_engine::Row| answer.rows.iter().any(|shown| shown.keys == row.keys);
        cells += answer.rows.len() as f64;
        misses += answer.rows.iter().filter(is_missed).count() as f64;
        ordinary += all.rows.iter().filter(is_shown).filter(is_missed).count() as f64;
    }
    let most = 0.05 * cells + 5.3 * (0.05 * 0.95 * cells).sqrt();
    assert!(cells > 60.0 && misses <= most, "{misses} of {cells}");
    assert!(ordinary > most, "the control: {ordinary} of {cells}");
}

/// A list that is short says so.
#[test]
fn lists_say_that_rows_of_few_units_are_missing() {
    let folder = Folder::new();
    folder.write("trips.csv", &trips(&[500, 500, 2, 2, 2]));
    let engine = with_least(&folder, 1, 5, 100);
    let largest = format!("{ROWS} ORDER BY n DESC LIMIT 4");
    let answer = ask(&engine, &largest, price("0.05"));
    assert_eq!(answer.suppressed, Some(Suppressed { rows: 3, min_units: 100 }));
    let fewer = answer.fewer.unwrap();
    assert_eq!((fewer.rows, fewer.wanted, fewer.why), (2, 4, WhyFewer::Units));
    // Keys that no value decides about are public, and are not counted.
    let keys = ask(&engine, "SELECT DISTINCT zone FROM trips", price("0.05"));
    assert!(keys.rows.len() == 5 && keys.suppressed.is_none() && keys.free);
}

/// With a bound on all rows, those of somebody in many groups count for less than one row each: they
/// are no units. Units count once in each group, and are paid for in each.
#[test]
fn units_count_once_where_their_rows_count_for_less() {
    const RIDERS: u32 = 400;
    let mut rides = String::from("rider,zone,fare\n");
    for ride in 0..RIDERS * 4 {
        let _ = writeln!(rides, "r{},{},20", ride / 4, ride % 4);
    }
    let asked = |more: &str| {
        let folder = Folder::new();
        let more = format!("max_rows_in_all = 1\n{more}max_groups");
        let text = policy("add-remove", 4, 1, Some(4)).replace("max_groups", &more);
        folder.write("eke.toml", &text);
        folder.write("trips.csv", &rides);
        ask(&folder.engine(), ROWS, goal(Accuracy::Absolute(20.0)))
    };
    let (plain, answer) = (asked(""), asked("min_units = 300\n"));
    assert_eq!(answer.suppressed, Some(Suppressed { rows: 0, min_units: 300 }));
    for (_, rows) in values(&answer) {
        assert!((rows - 100.0).abs() < 80.0, "{rows}");
    }
    // All rows of somebody cost what those of one group do, and each of four counts of units by
    // itself.
    assert!((answer.cost.rho / plain.cost.rho - 5.0).abs() < 1e-6, "{answer:?}");
}

/// Whether a count of units is added depends on the bounds: what a tier sees of a question does
/// not.
#[test]
fn a_tier_sees_no_more_where_a_count_of_units_is_added() {
    let folder = Folder::new();
    folder.write("trips.csv", &trips(&[300; 3]));
    let more = "min_units = 5\nanswer_time = 0.05\nmax_groups";
    folder.write("eke.toml", &policy("add-remove", 1, 3, Some(3)).replace("max_groups", more));
    let engine = folder.engine();
    let ask = |rows: u32, sql: &str, rho: &str| {
        let sql = format!("SET eke.bounds = 'rows={rows}'; {sql}");
        engine.ask(&question("bob", &sql, price(rho)), &()).map(|answer| answer.cost.rho)
    };
    let of = |what: &str| format!("SELECT zone, {what} AS v FROM trips GROUP BY zone");
    // One row of a rider is a rider, and three are not. The tier sees a column up to rho 0.001:
    // those that one row of each rider is asked with, and the count that is added to it.
    let columns = [
        ("COUNT(*)", 1.0),
        ("SUM(fare)", 2.0),
        ("AVG(fare)", 3.0),
        ("AVG(CASE WHEN fare > 20 THEN 1.0 ELSE 0.0 END)", 2.0),
    ];
    for (what, columns) in columns {
        let (sql, most) = (&*of(what), 0.001 * columns);
        let cost = ask(1, sql, &most.to_string()).unwrap();
        assert!((cost / most - 1.0).abs() < 1e-3, "{what}: {cost}");
        for rows in [2, 3] {
            let beyond = ask(rows, sql, "0.0005").unwrap_err();
            let is_family = |error: &EngineError| {
                matches!(error, EngineError::Beyond(NotAllowed::FamilyBeyondTier { .. }))
            };
            assert!(is_family(&beyond), "{sql}: {beyond:?}");
        }
    }
}
