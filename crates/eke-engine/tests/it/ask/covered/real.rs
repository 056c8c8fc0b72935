//! Cut shares on real files with many rows a unit, from the folder that `EKE_DATA` names; without
//! it these tests say so and end.
//!
//! Flights by aircraft and two files of taxis have rows by unit. Bikes and words on Reddit, which
//! are data of many rows a unit too, are public without their riders and writers: what is cut of
//! a unit cannot be known there. In their place are made-up units with as many rows as writers
//! have: most a few, and every power of two more a third as often, without an end.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use eke_engine::ask::{CutCount, CutCounts, CutVerdict};
use eke_engine::profile::WholeDataset;
use eke_engine::testing::parquet::file::reader::{FileReader, SerializedFileReader};
use eke_engine::testing::parquet::schema::types::Type as Node;
use eke_engine::{Profile, ProfileRequest, Who};

use crate::trips::{Folder, price, question, relative};

/// How often each question is asked, with a new ledger each time.
const RUNS: u32 = 40;

/// A question about a file, with bounds as a steward might choose who has not looked; or with those
/// that a profile proposes, where `max_rows` is none.
struct Case {
    file: &'static str,
    unit: &'static str,
    /// A key, and its values as the policy has them.
    key: Option<(&'static str, &'static str)>,
    max_groups: u64,
    max_rows: Option<u64>,
    /// What is said of it.
    verdicts: &'static [CutVerdict],
}

const MANY: &[CutVerdict] = &[CutVerdict::Many];
const FLIGHTS: &str = "nycflights13_flights.parquet";

const CASES: [Case; 9] = [
    Case {
        file: FLIGHTS,
        unit: "tailnum",
        key: None,
        max_groups: 1,
        max_rows: Some(100),
        verdicts: MANY,
    },
    Case {
        file: FLIGHTS,
        unit: "tailnum",
        key: Some(("origin", r#"["EWR", "JFK", "LGA"]"#)),
        max_groups: 2,
        max_rows: Some(50),
        verdicts: MANY,
    },
    Case {
        file: "cabspotting_part1.parquet",
        unit: "taxi",
        key: Some(("occupied", "[true, false]")),
        max_groups: 2,
        max_rows: Some(2_048),
        // There are a few hundred.
        verdicts: &[CutVerdict::Many, CutVerdict::CannotTell],
    },
    Case {
        file: "tdrive_1h_20080202.parquet",
        unit: "taxi",
        key: None,
        max_groups: 1,
        max_rows: Some(16),
        verdicts: MANY,
    },
    // As a profile proposes: few are cut.
    proposed(FLIGHTS, "tailnum", None),
    proposed(FLIGHTS, "tailnum", Some(("origin", r#"["EWR", "JFK", "LGA"]"#))),
    proposed("cabspotting_part1.parquet", "taxi", Some(("occupied", "[true, false]"))),
    proposed("tdrive_1h_20080202.parquet", "taxi", None),
    proposed(WRITERS, "writer", None),
];

/// Made up: see above.
const WRITERS: &str = "writers.csv";

const fn proposed(
    file: &'static str,
    unit: &'static str,
    key: Option<(&'static str, &'static str)>,
) -> Case {
    let verdicts = &[CutVerdict::Few, CutVerdict::CannotTell];
    Case { file, unit, key, max_groups: 1, max_rows: None, verdicts }
}

/// How many words each writer has.
fn writers() -> impl Iterator<Item = u64> {
    let some = |power: u32| 6_561 / 3u64.pow(power);
    (0..9).flat_map(move |power| (0..some(power)).map(move |one| (1 << power) + one % (1 << power)))
}

/// For each unit how many groups it is in, and how many rows it has in the fullest.
fn fullest(path: &Path, case: &Case) -> Vec<(u64, u64)> {
    if case.file == WRITERS {
        return writers().map(|words| (1, words)).collect();
    }
    let file = std::fs::File::open(path).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let all = reader.metadata().file_metadata().schema();
    let names = [Some(case.unit), case.key.map(|(key, _)| key)];
    let fields = names.iter().flatten().map(|name| {
        let field = all.get_fields().iter().find(|field| field.name() == *name);
        field.unwrap_or_else(|| panic!("{} has no {name}", case.file)).clone()
    });
    let wanted = Node::group_type_builder(all.name()).with_fields(fields.collect());
    let mut units: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    for row in reader.get_row_iter(Some(wanted.build().unwrap())).unwrap() {
        let row = row.unwrap();
        let cell = |name: &str| {
            let cell = row.get_column_iter().find(|(column, _)| *column == name);
            cell.map_or_else(String::new, |(_, cell)| cell.to_string())
        };
        let unit = cell(case.unit);
        if unit == "null" {
            continue;
        }
        let key = case.key.map_or_else(String::new, |(key, _)| cell(key));
        *units.entry(unit).or_default().entry(key).or_default() += 1;
    }
    let of_unit = |groups: &BTreeMap<String, u64>| {
        (groups.len() as u64, groups.values().copied().max().unwrap_or(0))
    };
    units.values().map(of_unit).collect()
}

/// Intervals that hold what is true, of how many; and how many would at half of their width.
#[derive(Debug, Default)]
struct Held {
    held: u32,
    narrow: u32,
    all: u32,
}

impl Held {
    fn see(&mut self, truth: f64, low: f64, value: f64, high: f64) {
        self.all += 1;
        self.held += u32::from(low <= truth && truth <= high);
        let is_near = value - (value - low) / 2.0 <= truth && truth <= value + (high - value) / 2.0;
        self.narrow += u32::from(is_near);
    }

    fn count(&mut self, truth: u64, seen: &CutCount) {
        self.see(truth as f64, seen.low, seen.value, seen.high);
    }
}

fn look(
    cut: &CutCounts,
    (case, max_groups, max_rows): (&Case, u64, u64),
    units: &[(u64, u64)],
    held: &mut Held,
) {
    let count = |holds: &dyn Fn(u64, u64) -> bool| {
        units.iter().filter(|(groups, rows)| holds(*groups, *rows)).count() as u64
    };
    held.count(units.len() as u64, &cut.of);
    let lost = count(&|groups, rows| groups > max_groups || rows > max_rows);
    if lost > 0 {
        held.count(lost, cut.units.as_ref().unwrap());
        if let Some((share, value)) = cut.share.and_then(|share| Some((share, share.value?))) {
            held.see(lost as f64 / units.len() as f64, share.low, value, share.high);
        }
    }
    if let Some(by_groups) = &cut.by_groups {
        let lost = count(&|groups, _| groups > max_groups);
        // An interval that ends at zero holds zero more often.
        if lost > 0 {
            held.count(lost, by_groups);
        }
    }
    for bin in &cut.by_rows {
        let there = count(&|_, rows| rows > bin.above && bin.to.is_none_or(|to| rows <= to));
        if there > 0 {
            held.count(there, &bin.units);
        }
    }
    let verdict = cut.verdict.unwrap();
    assert!(case.verdicts.contains(&verdict), "{}: {:?}", case.file, cut.notes);
    assert_eq!(cut.warns(), verdict == CutVerdict::Many, "{:?}", cut.notes);
}

fn policy(path: &Path, case: &Case, max_groups: u64, max_rows: u64) -> String {
    let columns = case.key.map_or_else(String::new, |(key, values)| {
        format!("[dataset.t.columns]\n{key} = {{ values = {values} }}\n")
    });
    format!(
        "[unit.it]\nadjacency = \"add-remove\"\nbudget = {{ epsilon = 1, delta = 1e-6 }}\n\
         [dataset.t]\nsource = {path:?}\nunit = \"it\"\nunit_column = {:?}\n\
         max_groups = {max_groups}\nmax_rows = {max_rows}\ncut_counts = 0.02\n\
         answer_time = 0.001\n{columns}",
        case.unit
    )
}

fn profile(folder: &Folder, case: &Case) -> Profile {
    let request = ProfileRequest {
        dataset: "t".into(),
        price: Some("0.005".parse().unwrap()),
        keys: Some(case.key.iter().map(|(key, _)| (*key).to_owned()).collect()),
        columns: Some(Vec::new()),
    };
    folder.engine().profile(&request, &Who::Steward, &()).unwrap()
}

/// The files, if there are some.
fn files() -> Option<PathBuf> {
    let data = std::env::var_os("EKE_DATA").map(PathBuf::from);
    if data.is_none() {
        println!("EKE_DATA is not set: no real files are read");
    }
    data
}

/// The stated counts and shares hold the true ones in 95 % of fresh runs, and the answer warns.
///
/// Statistical: nine questions of 40 runs each, each with a ledger, noise and, where bounds are a
/// profile's, a profile of its own for every eighth. Were 95 % of some 2,000 intervals to hold,
/// more than five deviations too few would hold once in 3e6 times; counts of one run share nothing
/// but the count of units in shares. Control: of intervals half as wide far fewer hold.
#[test]
fn stated_shares_hold_on_real_files() {
    let Some(data) = files() else { return };
    let mut held = Held::default();
    for case in &CASES {
        let folder = Folder::new();
        let mut path = data.join(case.file);
        if case.file == WRITERS {
            path = folder.path().join(WRITERS);
            let mut text = String::from("writer\n");
            for (writer, words) in writers().enumerate() {
                for _ in 0..words {
                    let _ = writeln!(text, "w{writer}");
                }
            }
            folder.write(WRITERS, &text);
        }
        let units = fullest(&path, case);
        let sql = match case.key {
            None => "SELECT COUNT(*) FROM t".to_owned(),
            Some((key, _)) => format!("SELECT {key}, COUNT(*) FROM t GROUP BY {key}"),
        };
        let (mut max_groups, mut max_rows) = (case.max_groups, case.max_rows.unwrap_or(1));
        for run in 0..RUNS {
            if case.max_rows.is_none() && run % 8 == 0 {
                folder.write("eke.toml", &policy(&path, case, 1, 1));
                drop(folder.fresh());
                let proposal = profile(&folder, case).proposal;
                max_rows = proposal.max_rows.into();
                max_groups = proposal.max_groups.unwrap_or(1).into();
            }
            folder.write("eke.toml", &policy(&path, case, max_groups, max_rows));
            let asked = question("steward", &sql, price("0.01"));
            let answer = folder.fresh().ask(&asked, &()).unwrap();
            let Some(cut) = answer.covers.unwrap().cut else { continue };
            look(&cut, (case, max_groups, max_rows), &units, &mut held);
        }
    }
    let (wrong, all) = (f64::from(held.all - held.held), f64::from(held.all));
    println!("{held:?}");
    assert!(wrong <= 0.05 * all + 5.0 * (0.05 * 0.95 * all).sqrt(), "{held:?}");
    assert!((held.all - held.narrow) * 5 > held.all, "{held:?}");
}

/// The questions whose answers were up to twelve times too small, within 10 % and with a profile:
/// each warns, by its cut counts or by the profile.
///
/// Statistical: 3 runs of each; a warning is missed where a sum of bins is off by more than four
/// deviations (1e-4).
#[test]
fn cheap_answers_about_real_files_warn() {
    let Some(data) = files() else { return };
    let origins = Some(("origin", r#"["EWR", "JFK", "LGA"]"#));
    let case = |file, unit, key, max_groups, rows| Case {
        file,
        unit,
        key,
        max_groups,
        max_rows: Some(rows),
        verdicts: MANY,
    };
    let cases = [
        case(FLIGHTS, "tailnum", None, 1, 50),
        case(FLIGHTS, "tailnum", origins, 3, 20),
        case("cabspotting_part1.parquet", "taxi", Some(("occupied", "[true, false]")), 2, 500),
        case("tdrive_1h_20080202.parquet", "taxi", None, 1, 16),
    ];
    for case in &cases {
        let folder = Folder::new();
        let rows = case.max_rows.unwrap();
        folder.write("eke.toml", &policy(&data.join(case.file), case, case.max_groups, rows));
        let sql = match case.key {
            None => "SELECT COUNT(*) FROM t".to_owned(),
            Some((key, _)) => format!("SELECT {key}, COUNT(*) FROM t GROUP BY {key}"),
        };
        for _ in 0..3 {
            drop(folder.fresh());
            profile(&folder, case);
            let answer = folder.engine().ask(&question("steward", &sql, relative(0.1)), &());
            let covers = answer.unwrap().covers.unwrap();
            let by_counts = covers.cut.as_ref().is_some_and(CutCounts::warns);
            let by_profile = covers.whole.as_ref().is_some_and(WholeDataset::warns);
            println!("{}: {by_counts} {:?}", case.file, covers.whole);
            assert!(by_counts || by_profile, "{}: {covers:?}", case.file);
        }
    }
}
