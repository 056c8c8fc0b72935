//! Many groups: what is stored of them, answers that are given again, and groups that wait for
//! others that go ahead.
//!
//! Statistical tests (n; false-alarm rate; critical value; control):
//!
//! - `many_groups_start_where_others_have_got_to_for_nothing` (6,000; 1e-7; 5 % and 5.3 deviations;
//!   what is within a quarter of the tolerance)

use std::fs;

use eke_engine::report::Outcome;
use eke_engine::{Answer, Engine, Goal, Who};

use crate::trips::{Folder, policy, question, relative, spent, trips};

const SQL: &str = "SELECT zone, COUNT(*) AS n, SUM(fare) AS s FROM trips GROUP BY zone";

const ZONES: u32 = 3000;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 1, 1, Some(ZONES)));
    let sizes: Vec<u32> = (0..ZONES).map(|zone| zone % 7).collect();
    folder.write("trips.csv", &trips(&sizes));
    folder
}

fn ask(engine: &Engine, who: &str, sql: &str) -> Answer {
    engine.ask(&question(who, sql, relative(0.1)), &()).unwrap()
}

/// The bytes of the ledger, closed.
fn ledger_bytes(folder: &Folder) -> u64 {
    let length = |end: &str| fs::metadata(folder.path().join(format!("eke.ledger{end}")));
    ["", "-wal"].into_iter().filter_map(|end| length(end).ok()).map(|file| file.len()).sum()
}

/// A round stores what it adds, and an answer is stored once.
#[test]
fn a_ledger_of_many_groups_is_small() {
    let folder = folder();
    let answer = ask(&folder.fresh(), "steward", SQL);
    assert_eq!(answer.rows.len(), ZONES as usize);
    assert!(answer.looks > 5, "{}", answer.looks);
    let bytes = ledger_bytes(&folder);
    assert!(bytes < 500 * u64::from(ZONES), "{bytes}");
}

/// Also by another program, sorted and cut in other ways, and in the history.
#[test]
fn an_answer_of_many_groups_is_given_again() {
    let folder = folder();
    let first = ask(&folder.fresh(), "steward", SQL);
    let engine = folder.engine();
    let before = spent(&engine);
    let again = ask(&engine, "steward", SQL);
    assert!(again.free && again.rows == first.rows && again.alone == first.alone);
    let sorted = ask(&engine, "steward", &format!("{SQL} ORDER BY n, zone DESC"));
    let mut rows = first.rows.clone();
    rows.sort_by(|one, other| {
        let n = |row: &eke_engine::ask::Row| row.values[0].value.unwrap_or(f64::INFINITY);
        let zone = |row: &eke_engine::ask::Row| row.keys[0].as_i64();
        n(one).total_cmp(&n(other)).then_with(|| zone(other).cmp(&zone(one)))
    });
    let values = |row: &eke_engine::ask::Row| (row.keys.clone(), row.values[0].value);
    assert!(sorted.free);
    let all = |rows: &[eke_engine::ask::Row]| rows.iter().map(values).collect::<Vec<_>>();
    assert_eq!(all(&sorted.rows), all(&rows));
    let some = ask(&engine, "steward", &format!("{SQL} HAVING COUNT(*) > 5"));
    assert!(some.free && some.rows.len() < first.rows.len() && some.chosen.is_some());
    assert!((spent(&engine) - before).abs() < 1e-15);
    let history = engine.history(&Who::Steward).unwrap();
    let asked = history.iter().find(|asked| asked.outcome == Outcome::Answered).unwrap();
    // As it is written out: what noise its values have is not kept.
    let written = |answer: &Answer| serde_json::to_value(answer).unwrap();
    assert_eq!(asked.answer.as_ref().map(written), Some(written(&first)));
}

/// An analyst goes on from where the steward has got, and sees coarser points of the same paths.
#[test]
fn others_go_on_from_what_is_stored() {
    let folder = folder();
    ask(&folder.fresh(), "steward", SQL);
    for who in ["bob", "eve", "ana", "bob"] {
        let engine = folder.engine();
        let answer = ask(&engine, who, SQL);
        assert_eq!(answer.rows.len(), ZONES as usize);
        let again = ask(&folder.engine(), who, SQL);
        assert!(again.free && again.rows == answer.rows && again.alone == answer.alone);
    }
}

/// Of many groups some go ahead, and the others start where these have got to: it takes one or two
/// points of each, costs about what the few that go ahead cost alone, and holds as often.
#[test]
fn many_groups_start_where_others_have_got_to_for_nothing() {
    const MANY: u32 = 6000;
    const SIZE: u32 = 60;
    const SQL: &str = "SELECT zone, COUNT(*) AS n FROM trips GROUP BY zone";
    let within = |engine: &Engine, who: &str, tolerance: f64| {
        let goal = Goal { at_most: Some("0.12".parse().unwrap()), ..relative(tolerance) };
        engine.ask(&question(who, SQL, goal), &()).unwrap()
    };
    let asked = |zones: u32| {
        let folder = Folder::new();
        folder.write("eke.toml", &policy("add-remove", 2, 1, Some(zones)));
        folder.write("trips.csv", &trips(&vec![SIZE; zones as usize]));
        let engine = folder.fresh();
        let answer = within(&engine, "steward", 0.2);
        assert!(answer.is_met());
        assert!((spent(&engine) - answer.alone.rho).abs() < 1e-12);
        let again = within(&folder.engine(), "steward", 0.2);
        assert!(again.free && again.rows == answer.rows);
        drop(engine);
        let bytes = ledger_bytes(&folder);
        // An analyst walks the same paths, and goes hardly further.
        let engine = folder.engine();
        let before = spent(&engine);
        let other = within(&engine, "ana", 0.2);
        assert!(other.is_met() && other.rows.len() == zones as usize);
        assert!(spent(&engine) - before < 0.5 * before);
        (answer, bytes)
    };
    let ((few, _), (many, bytes)) = (asked(600), asked(MANY));
    // The dearest of ten times as many are a little dearer.
    let ratio = many.cost.rho / few.cost.rho;
    assert!((0.6..1.6).contains(&ratio), "{ratio}");
    assert!(bytes < 400 * u64::from(MANY), "{bytes}");
    let off = |row: &eke_engine::ask::Row, within: f64| {
        let size = f64::from(SIZE);
        (row.values[0].value.unwrap() - size).abs() > within * size
    };
    let misses = |within: f64| many.rows.iter().filter(|row| off(row, within)).count();
    // 300 and 5.3 deviations of 16.9.
    assert!(misses(0.2) <= 389, "{}", misses(0.2));
    assert!(misses(0.05) > 389, "the control: {}", misses(0.05));
}
