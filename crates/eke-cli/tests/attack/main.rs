//! The attack: random and hostile questions to the program itself, on neighbouring tables.
//!
//! An analyst sees a released number, and whatever else there is: the exit code, every word of an
//! error, how many rows there are, keys, prices. All of that must be the same with and without one
//! person, whatever her rows hold; and at a price at which noise is small, the numbers themselves
//! may be no further apart than the plan says. EKE_TEST_QUESTIONS sets how many questions are tried
//! (nightly 4,000).
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod hostile;
mod questions;
mod tables;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::questions::Question;
use crate::tables::{CANARY, Neighbours};

/// How many questions are put to one pair of tables: some select keys, and delta is for twenty of
/// them.
const EACH: u64 = 20;

/// What a run of the program shows.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs the program in a folder, with at most eight gigabytes of addresses and two minutes.
pub(crate) fn run(folder: &Path, arguments: &[&str]) -> Shown {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -v 8000000; exec timeout 120 \"$@\"", "sh"]);
    command.arg(env!("CARGO_BIN_EXE_eke")).args(arguments);
    let output = command.current_dir(folder).stdin(Stdio::null()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Shown { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// A folder of its own for a test, removed when it ends well.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        self.0.disable_cleanup(std::thread::panicking());
    }
}

/// How often what happened.
#[derive(Debug, Default)]
struct Tally {
    asked: u32,
    answered: u32,
    selected: u32,
    /// Values that were held against what one unit can change them by.
    measured: u32,
    /// Of those, how many she did change.
    moved: u32,
}

#[test]
fn one_person_changes_nothing_but_released_numbers() {
    let wanted = std::env::var("EKE_TEST_QUESTIONS").ok().and_then(|many| many.parse().ok());
    let wanted: u64 = wanted.unwrap_or(140);
    let folder = Folder::new();
    let tables = wanted.div_ceil(EACH);
    let half = |first: u64| {
        let mut tally = Tally::default();
        for number in (first..tables).step_by(2) {
            let neighbours = Neighbours::new(folder.path(), usize::try_from(number).unwrap());
            for question in number * EACH..(number + 1) * EACH {
                let case = format!("table {number}, question {question}");
                compare(&neighbours, &Question::random(question), &case, &mut tally);
            }
        }
        tally
    };
    let (one, other) = std::thread::scope(|scope| {
        let one = scope.spawn(|| half(0));
        let other = half(1);
        (one.join().unwrap(), other)
    });
    let tally = Tally {
        asked: one.asked + other.asked,
        answered: one.answered + other.answered,
        selected: one.selected + other.selected,
        measured: one.measured + other.measured,
        moved: one.moved + other.moved,
    };
    println!("{tally:?}");
    // A tester that is refused everything, or that never sees her, has no power.
    assert!(tally.answered * 2 > tally.asked, "{tally:?}");
    assert!(tally.selected * 40 > tally.asked, "{tally:?}");
    assert!(tally.measured > tally.asked && tally.moved * 40 > tally.measured, "{tally:?}");
}

/// Asks both folders, and holds what they show against each other.
fn compare(neighbours: &Neighbours, question: &Question, case: &str, tally: &mut Tally) {
    let [goal, how] = question.goal;
    let arguments = ["ask", &question.sql, goal, how, "--as", "ana", "--json", "--yes"];
    let [with, without] =
        [&neighbours.with, &neighbours.without].map(|folder| run(folder, &arguments));
    let case = format!("{case}: {} {goal} {how}", question.sql);
    for shown in [&with, &without] {
        assert!(!format!("{}{}", shown.out, shown.err).contains(CANARY), "{case}: {shown:?}");
        assert!(matches!(shown.code, Some(0 | 1 | 3)), "{case}: {shown:?}");
    }
    tally.asked += 1;
    assert_eq!((with.code, &with.err), (without.code, &without.err), "{case}");
    let explained = ["explain", &question.sql, "--as", "ana", "--json"];
    let [plan, other] =
        [&neighbours.with, &neighbours.without].map(|folder| run(folder, &explained));
    assert_eq!(plan, other, "{case}");
    if with.code != Some(0) {
        assert_eq!(with.out, without.out, "{case}");
        return;
    }
    tally.answered += 1;
    let plan: Value = serde_json::from_str(&plan.out).unwrap();
    let [mut with, mut without] =
        [with, without].map(|shown| serde_json::from_str::<Value>(&shown.out).unwrap());
    let [rows, others] = [&mut with, &mut without].map(|answer| {
        // What earlier goals cost depends on their noise.
        answer["left"].take();
        values(&mut answer["rows"])
    });
    let [cut, other_cut] = [&mut with, &mut without].map(|answer| answer["covers"]["cut"].take());
    cut_counts_are_close(&cut, &other_cut, &case);
    let [names, other_names] =
        [&rows, &others].map(|rows| rows.keys().cloned().collect::<BTreeSet<_>>());
    if plan["keys"]["public"].is_u64() {
        assert_eq!(names, other_names, "{case}");
        if question.is_priced() {
            assert_eq!(with, without, "{case}");
        }
    } else {
        tally.selected += 1;
        let apart = names.symmetric_difference(&other_names).count();
        let fair = apart <= neighbours.max_groups as usize;
        // Keys that are picked along the way differ with the noise.
        assert!(fair || !question.is_priced(), "{case}: {names:?} and {other_names:?}");
        assert_eq!(with["columns"], without["columns"], "{case}");
    }
    if question.is_priced() {
        distances(&sensitivities(&plan), &rows, &others, neighbours.max_groups, &case, tally);
    }
}

/// One person changes each count of people who are cut by at most one, but for noise: six
/// deviations of each.
fn cut_counts_are_close(one: &Value, other: &Value, case: &str) {
    for name in ["units", "of", "by_groups", "unlisted"] {
        let read = |cut: &Value| {
            let value = cut[name]["value"].as_f64()?;
            Some((value, 3.0 * (cut[name]["high"].as_f64()? - value).abs()))
        };
        if let (Some((one, width)), Some((other, other_width))) = (read(one), read(other)) {
            let most = 1.0 + width + other_width;
            assert!((one - other).abs() <= most, "{case}: {name} {one} and {other}");
        }
    }
}

/// The values of an answer by their keys, taken out of it: value and half the width of its
/// interval.
fn values(rows: &mut Value) -> BTreeMap<String, Vec<(f64, f64)>> {
    let Some(all) = rows.as_array_mut() else { return BTreeMap::new() };
    let mut found = BTreeMap::new();
    for row in std::mem::take(all) {
        let cells = row["values"].as_array().unwrap();
        let number = |cell: &Value, name: &str| cell[name].as_f64().unwrap_or(f64::NAN);
        let read = |cell: &Value| {
            let (value, high) = (number(cell, "value"), number(cell, "high"));
            (value, high - value)
        };
        found.insert(row["keys"].to_string(), cells.iter().map(read).collect());
    }
    found
}

/// What one unit changes each measure by, at most, where that is one number.
fn sensitivities(plan: &Value) -> Vec<Option<f64>> {
    let lines: Vec<&str> =
        plan["plan"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let number = |text: &str, start: &str, end: &str| {
        let rest = text.split_once(start)?.1;
        rest.split_once(end)?.0.trim().parse::<f64>().ok()
    };
    let sums: BTreeMap<&str, f64> = lines
        .iter()
        .filter(|line| line.starts_with("sum "))
        .filter_map(|line| {
            let (name, rest) = line.split_once(':')?;
            Some((name, number(rest, "a unit changes a group's by", " at most")?))
        })
        .collect();
    let shown = lines.iter().filter_map(|line| line.strip_prefix("shows ")?.rsplit_once(": "));
    let measure = |name: &str| {
        let start = format!("{name}: ");
        let of = lines.iter().find_map(|line| line.strip_prefix(start.as_str()))?;
        sums.get(of).copied()
    };
    shown.filter(|(_, of)| of.starts_with("measure")).map(|(_, of)| measure(of)).collect()
}

/// No value is further apart than one unit can change it by, and no more groups differ than she can
/// be in. Noise is within four times the halves of the intervals: a false alarm has probability
/// 1e-14.
fn distances(
    sensitivities: &[Option<f64>],
    rows: &BTreeMap<String, Vec<(f64, f64)>>,
    others: &BTreeMap<String, Vec<(f64, f64)>>,
    max_groups: u32,
    case: &str,
    tally: &mut Tally,
) {
    let mut changed = BTreeSet::new();
    for (keys, cells) in rows {
        let Some(there) = others.get(keys) else { continue };
        assert_eq!(cells.len(), there.len(), "{case}");
        for ((one, other), most) in cells.iter().zip(there).zip(sensitivities) {
            let Some(most) = most else { continue };
            let (apart, noise) = ((one.0 - other.0).abs(), 4.0 * (one.1 + other.1));
            if !apart.is_finite() || !noise.is_finite() {
                continue;
            }
            tally.measured += 1;
            assert!(apart <= most + noise, "{case}: {keys}: {one:?} and {other:?}, {most} at most");
            if apart > noise {
                tally.moved += 1;
                changed.insert(keys);
            }
        }
    }
    assert!(changed.len() <= max_groups as usize, "{case}: {changed:?} changed");
}
