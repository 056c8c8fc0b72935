//! Different values (count distinct), keys alone, and shares of a total, asked as people ask.
//!
//! Statistical tests (n; false-alarm rate; critical value; control):
//!
//! - `shares_hold_where_groups_stopped_by_what_they_saw` (40 runs of 6 shares; 1e-3 if 5 % missed,
//!   and the union bound leaves far fewer; 24 misses of 240; the control is that of
//!   `totals_of_groups_that_stopped_by_what_they_saw_hold`)

use std::fmt::Write as _;

use eke_engine::ask::explain;
use eke_engine::{Accuracy, Answer, Engine, Goal, Who};

use crate::trips::{Folder, ZONES, goal, policy, price, question, relative, spent, trips};

fn ask(engine: &Engine, sql: &str, goal: Goal) -> Answer {
    engine.ask(&question("steward", sql, goal), &()).unwrap()
}

/// Riders with several fares each in one zone: those of rider r are r, r + 1, … up to `each`.
fn many_values(adjacency: &str, riders: u32, each: u32, most: &str) -> Folder {
    let folder = Folder::new();
    let policy = policy(adjacency, 2, 8, Some(2));
    folder.write("eke.toml", &policy.replace("max_rows = 8\n", &format!("max_rows = 8\n{most}\n")));
    let mut text = String::from("rider,zone,fare\n");
    for rider in 0..riders {
        for number in 0..each {
            writeln!(text, "r{rider},{},{}", rider % 2, (rider + number) % 1_000).unwrap();
        }
    }
    folder.write("trips.csv", &text);
    folder
}

#[test]
fn different_values_are_counted_once_whoever_has_them() {
    // A thousand fares, each of twenty riders or more, and half of them in each zone.
    let folder = many_values("add-remove", 10_000, 2, "max_values = 2");
    let engine = folder.engine();
    let within = Goal { at_most: Some("1".parse().unwrap()), ..goal(Accuracy::Absolute(30.0)) };
    let sql = "SELECT COUNT(DISTINCT fare) AS fares, COUNT(*) AS n FROM trips";
    let answer = ask(&engine, sql, within);
    let [fares, rows] = &*answer.rows[0].values else { panic!("{answer:?}") };
    assert!((fares.value.unwrap() - 1_000.0).abs() < 60.0, "{fares:?}");
    assert!((rows.value.unwrap() - 20_000.0).abs() < 60.0, "{rows:?}");
    assert!(fares.low <= fares.value && fares.value <= fares.high && fares.met == Some(true));
    // The same again is the same, and costs nothing.
    let again = ask(&engine, sql, within);
    assert!(again.free && again.rows == answer.rows);
    // By group, with a condition, and in what is made of it. Fares of a zone: 999 at most, as one of
    // every two is of the other's.
    let sql = "SELECT zone, COUNT(DISTINCT fare) FILTER (WHERE fare < 100) AS low, COUNT(*) / \
               COUNT(DISTINCT fare) AS each FROM trips GROUP BY zone";
    let answer = ask(&folder.fresh(), sql, price("0.3"));
    for row in &answer.rows {
        let [low, each] = &*row.values else { panic!("{answer:?}") };
        assert!((low.value.unwrap() - 100.0).abs() < 25.0, "{low:?}");
        let each = each.value.unwrap();
        assert!((9.0..=11.0).contains(&each), "{each}");
    }
}

/// Where a unit has more values than may take part, the count is of those that do.
#[test]
fn a_unit_brings_no_more_values_than_the_policy_says() {
    const SQL: &str = "SELECT COUNT(DISTINCT fare) FROM trips";
    // 500 riders with eight fares each that nobody else has.
    let mut rides = String::from("rider,zone,fare\n");
    for fare in 0..4_000 {
        writeln!(rides, "r{},0,{fare}", fare / 8).unwrap();
    }
    for (most, counted, spread) in
        [("max_values = 3", 1_500.0, 3.0), ("", 4_000.0, 8.0), ("max_values = 20", 4_000.0, 20.0)]
    {
        let folder = many_values("replace", 0, 0, most);
        folder.write("trips.csv", &rides);
        let answer = ask(&folder.engine(), SQL, price("0.2"));
        let value = answer.rows[0].values[0].value.unwrap();
        // Under replace a group costs four times its price.
        let deviation = spread / (2.0f64 * 0.2 / 4.0).sqrt();
        assert!((value - counted).abs() < 6.0 * deviation, "{most}: {value}");
    }
    let folder = many_values("replace", 1, 8, "max_values = 3");
    let said = explain(folder.engine().policy(), SQL, &Who::Steward).unwrap();
    let line = said.plan.iter().find(|line| line.starts_with("sum 1")).unwrap();
    assert!(line.contains("at most 3 values of each unit and group"), "{line}");
}

/// What a count of values costs follows from how many of them a unit brings.
#[test]
fn prices_follow_from_how_many_values_take_part() {
    let cost = |most: &str| {
        let folder = many_values("add-remove", 3_000, 2, most);
        let goal = goal(Accuracy::Absolute(40.0));
        let goal = Goal { at_most: Some("1".parse().unwrap()), ..goal };
        ask(&folder.engine(), "SELECT COUNT(DISTINCT fare) FROM trips", goal).cost.rho
    };
    let (one, four) = (cost("max_values = 1"), cost("max_values = 4"));
    assert!((four / one - 16.0).abs() < 0.5, "{one} {four}");
}

#[test]
fn the_most_values_are_picked_as_the_largest_are() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 1, 1, Some(200)));
    let mut text = String::from("rider,zone,fare\n");
    // Zone 7 has many fares, and the others many riders with the same one.
    for rider in 0..120_000 {
        let zone = rider % 200;
        let fare = if zone == 7 { rider / 200 } else { 5 };
        writeln!(text, "r{rider},{zone},{fare}").unwrap();
    }
    folder.write("trips.csv", &text);
    let sql = "SELECT zone, COUNT(DISTINCT fare) AS fares FROM trips GROUP BY zone ORDER BY fares \
               DESC LIMIT 1";
    let answer = ask(&folder.engine(), sql, relative(0.3));
    assert!(answer.picked);
    assert_eq!(answer.rows[0].keys[0], 7, "{answer:?}");
}

#[test]
fn public_keys_are_listed_for_nothing_and_no_row_is_read() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 1, 1, Some(3)));
    folder.write("trips.csv", &trips(&[5, 0, 7]));
    let engine = folder.engine();
    for sql in ["SELECT DISTINCT zone FROM trips", "SELECT zone FROM trips GROUP BY zone"] {
        for goal in [price("0.1"), relative(0.05)] {
            let answer = ask(&engine, sql, goal);
            assert!(answer.free && answer.listed && answer.fixed.is_none(), "{answer:?}");
            let keys: Vec<_> = answer.rows.iter().map(|row| row.keys[0].clone()).collect();
            assert_eq!(keys, [0, 1, 2]);
            assert!(answer.rows.iter().all(|row| row.values.is_empty()));
        }
    }
    assert!(spent(&engine) <= 0.0);
    // Rows cannot be read any more, and need not be.
    folder.write("trips.csv", "rider,zone,fare\nnonsense");
    let sql = "SELECT zone FROM trips GROUP BY zone HAVING zone > 0 ORDER BY zone DESC LIMIT 1";
    let answer = ask(&folder.fresh(), sql, price("0.1"));
    assert_eq!(answer.rows[0].keys, [2]);
    let said = explain(folder.fresh().policy(), sql, &Who::Steward).unwrap();
    assert!(said.totals.iter().all(|total| total.cost.is_some_and(|cost| cost.rho <= 0.0)));
}

/// The keys that are selected are those of every other question over the same rows and keys.
#[test]
fn keys_that_are_not_public_are_selected_once() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 1, 1, None));
    folder.write("trips.csv", &trips(&[4_000, 3, 5_000, 1, 6_000]));
    let engine = folder.engine();
    let answer = ask(&engine, "SELECT DISTINCT zone FROM trips", relative(0.1));
    let keys: Vec<_> = answer.rows.iter().map(|row| row.keys[0].clone()).collect();
    assert_eq!(keys, [0, 2, 4]);
    assert!(!answer.free && !answer.listed && answer.units.is_some());
    let (paid, before) = (answer.cost, spent(&engine));
    assert!(paid.rho > 0.0 && paid.mechanism_delta > 0.0 && (before - paid.rho).abs() < 1e-12);
    // Again, and in another order: nothing.
    let again = ask(&engine, "SELECT zone FROM trips GROUP BY zone ORDER BY 1 DESC", price("0.1"));
    let reversed: Vec<_> = again.rows.iter().map(|row| row.keys[0].clone()).collect();
    assert!(again.free && reversed == [4, 2, 0], "{again:?}");
    // A count over the same keys pays for its values alone.
    let count = ask(&engine, ZONES, price("0.01"));
    assert_eq!(count.rows.len(), 3);
    assert!(count.cost.mechanism_delta <= 0.0, "{:?}", count.cost);
    assert!((spent(&engine) - before - 0.01).abs() < 1e-6);
    // An analyst pays for having seen them, once.
    let ask_ana =
        || engine.ask(&question("ana", "SELECT DISTINCT zone FROM trips", price("1")), &());
    let seen = ask_ana().unwrap();
    assert!(!seen.free && seen.rows == answer.rows);
    assert!(ask_ana().unwrap().free);
    assert!((spent(&engine) - before - 0.01).abs() < 1e-6, "the unit has paid");
}

const SHARES: &str =
    "SELECT zone, 100.0 * COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM trips GROUP BY zone";

#[test]
fn shares_are_of_the_total_of_all_groups() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 1, 1, Some(4)));
    folder.write("trips.csv", &trips(&[8_000, 6_000, 4_000, 2_000]));
    let engine = folder.engine();
    let answer = ask(&engine, SHARES, price("0.05"));
    let mut sum = 0.0;
    for (row, truth) in answer.rows.iter().zip([40.0, 30.0, 20.0, 10.0]) {
        let cell = &row.values[0];
        let (value, low, high) = (cell.value.unwrap(), cell.low.unwrap(), cell.high.unwrap());
        sum += value;
        assert!((value - truth).abs() < 1.0 && low <= value && value <= high, "{cell:?}");
        // The total is much better known than its groups: an interval that added the widths of all
        // groups would be about as wide again.
        assert!(high - low < 0.6, "{cell:?}");
    }
    assert!((sum - 100.0).abs() < 1e-6, "all of one total: {sum}");
    let again = ask(&engine, SHARES, price("0.05"));
    assert!(again.free && again.rows == answer.rows);
    // LIMIT is of what is shown, and the total of all.
    let first = ask(&engine, &format!("{SHARES} ORDER BY share DESC LIMIT 1"), price("0.05"));
    assert_eq!(first.rows.len(), 1);
    assert_eq!(first.rows[0].values[0].value, answer.rows[0].values[0].value);
    let rounded = "SELECT zone, ROUND(SUM(fare) / SUM(SUM(fare)) OVER (), 2) AS share FROM trips \
                   GROUP BY zone";
    let answer = ask(&folder.fresh(), rounded, price("0.2"));
    let shares: Vec<_> = answer.rows.iter().map(|row| row.values[0].value.unwrap()).collect();
    assert_eq!(shares, [0.4, 0.3, 0.2, 0.1]);
}

/// All groups go together and stop together, so shares are of one look at all of them.
#[test]
fn shares_within_an_error_hold_and_stop_together() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 1, 1, Some(4)));
    folder.write("trips.csv", &trips(&[8_000, 6_000, 4_000, 2_000]));
    let at_most = Some("0.5".parse().unwrap());
    let both = "SELECT zone, COUNT(*) AS n, 100.0 * COUNT(*) / SUM(COUNT(*)) OVER () AS share \
                FROM trips GROUP BY zone ORDER BY share DESC";
    for (sql, accuracy) in
        [(SHARES, relative(0.05)), (SHARES, goal(Accuracy::Absolute(1.0))), (both, relative(0.05))]
    {
        let engine = folder.fresh();
        let answer = ask(&engine, sql, Goal { at_most, ..accuracy });
        for (row, truth) in answer.rows.iter().zip([40.0, 30.0, 20.0, 10.0]) {
            let cell = row.values.last().unwrap();
            assert_eq!(cell.met, Some(true), "{sql}: {cell:?}");
            let (value, low, high) = (cell.value.unwrap(), cell.low.unwrap(), cell.high.unwrap());
            assert!(low <= value && value <= high, "{cell:?}");
            // A miss has a probability of 5 %; one that is twice as far off, of less than 1e-4.
            let off = (value - truth).abs() / 2.0;
            assert!(off <= (value - low).max(high - value), "{sql}: {cell:?}");
        }
        let shares = answer.rows.iter().map(|row| row.values.last().unwrap().value.unwrap());
        assert!((shares.sum::<f64>() - 100.0).abs() < 1e-6, "all of one total");
        let again = ask(&engine, sql, Goal { at_most, ..accuracy });
        assert!(again.free && again.rows == answer.rows, "{again:?}");
        // Further on from there, all together, and met again.
        let finer = ask(&engine, sql, Goal { at_most, ..relative(0.02) });
        let is_met = |row: &eke_engine::Row| row.values.iter().all(|cell| cell.met == Some(true));
        assert!(!finer.free && finer.rows.iter().all(is_met), "{finer:?}");
    }
    // What is not reached says so, and costs no more than is allowed.
    let little = Some("1e-5".parse().unwrap());
    let answer = ask(&folder.fresh(), SHARES, Goal { at_most: little, ..relative(0.01) });
    assert!(answer.cost.rho <= 1e-5, "{:?}", answer.cost);
    assert!(answer.rows.iter().all(|row| row.values[0].met == Some(false)), "{answer:?}");
    // A group that is far from its goal, and another that has reached it long before.
    folder.write("trips.csv", &trips(&[30_000, 20, 0, 0]));
    let answer = ask(&folder.fresh(), SHARES, Goal { at_most, ..relative(0.1) });
    assert_eq!(answer.rows[0].values[0].met, Some(true), "{answer:?}");
}

/// Groups that were followed to an accuracy stand where their noise made them stop.
#[test]
fn shares_hold_where_groups_stopped_by_what_they_saw() {
    let folder = Folder::new();
    let sizes = [400, 800, 1_500, 3_000, 5_000, 9_300];
    folder.write("eke.toml", &policy("add-remove", 1, 1, Some(6)));
    folder.write("trips.csv", &trips(&sizes));
    let mut misses = 0;
    for _ in 0..40 {
        let engine = folder.fresh();
        ask(&engine, ZONES, relative(0.3));
        let answer = ask(&engine, SHARES, price("1e-6"));
        for (row, size) in answer.rows.iter().zip(sizes) {
            let cell = &row.values[0];
            let truth = 100.0 * f64::from(size) / 20_000.0;
            let holds = cell.low.is_none_or(|low| low <= truth + 1e-9)
                && cell.high.is_none_or(|high| truth <= high + 1e-9);
            misses += usize::from(!holds);
        }
    }
    println!("{misses} of 240 shares are out of their intervals");
    assert!(misses <= 24, "{misses}");
}
