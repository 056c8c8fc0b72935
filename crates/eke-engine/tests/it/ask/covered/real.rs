//! Cut shares on real files with many rows a unit, from the folder that `EKE_DATA` names; without
//! it these tests say so and end.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use eke_engine::ask::{CutCount, CutCounts, CutVerdict};
use eke_engine::testing::parquet::file::reader::{FileReader, SerializedFileReader};
use eke_engine::testing::parquet::schema::types::Type as Node;

use crate::trips::{Folder, price, question};

/// How often each question is asked, with a new ledger each time.
const RUNS: u32 = 20;

/// A question about a file, with bounds as a steward might choose who has not looked.
struct Case {
    file: &'static str,
    unit: &'static str,
    /// A key, and its values as the policy has them.
    key: Option<(&'static str, &'static str)>,
    max_groups: u64,
    max_rows: u64,
    /// What is said of it.
    verdicts: &'static [CutVerdict],
}

const MANY: &[CutVerdict] = &[CutVerdict::Many];
const FLIGHTS: &str = "nycflights13_flights.parquet";

const CASES: [Case; 5] = [
    Case {
        file: FLIGHTS,
        unit: "tailnum",
        key: None,
        max_groups: 1,
        max_rows: 100,
        verdicts: MANY,
    },
    Case {
        file: FLIGHTS,
        unit: "tailnum",
        key: Some(("origin", r#"["EWR", "JFK", "LGA"]"#)),
        max_groups: 2,
        max_rows: 50,
        verdicts: MANY,
    },
    // As a profile proposes: nobody is cut.
    Case {
        file: FLIGHTS,
        unit: "tailnum",
        key: Some(("month", r#""1..12""#)),
        max_groups: 12,
        max_rows: 128,
        verdicts: &[CutVerdict::Few, CutVerdict::CannotTell],
    },
    Case {
        file: "cabspotting_part1.parquet",
        unit: "taxi",
        key: Some(("occupied", "[true, false]")),
        max_groups: 2,
        max_rows: 2_048,
        // There are a few hundred.
        verdicts: &[CutVerdict::Many, CutVerdict::CannotTell],
    },
    Case {
        file: "tdrive_1h_20080202.parquet",
        unit: "taxi",
        key: None,
        max_groups: 1,
        max_rows: 16,
        verdicts: MANY,
    },
];

/// For each unit how many groups it is in, and how many rows it has in the fullest.
fn fullest(path: &Path, case: &Case) -> Vec<(u64, u64)> {
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

fn look(cut: &CutCounts, case: &Case, units: &[(u64, u64)], held: &mut Held) {
    let count = |holds: &dyn Fn(u64, u64) -> bool| {
        units.iter().filter(|(groups, rows)| holds(*groups, *rows)).count() as u64
    };
    held.count(units.len() as u64, &cut.of);
    let lost = count(&|groups, rows| groups > case.max_groups || rows > case.max_rows);
    if lost > 0 {
        held.count(lost, cut.units.as_ref().unwrap());
        if let Some((share, value)) = cut.share.and_then(|share| Some((share, share.value?))) {
            held.see(lost as f64 / units.len() as f64, share.low, value, share.high);
        }
    }
    if let Some(by_groups) = &cut.by_groups {
        let lost = count(&|groups, _| groups > case.max_groups);
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

/// The stated counts and shares hold the true ones in 95 % of fresh runs, and the answer warns.
///
/// Statistical: of some 600 intervals at 95 % all but 60 hold (more are wrong once in 1e6 times;
/// those of one run depend on each other, so twice as many as five deviations are allowed). Control:
/// of intervals half as wide a third does not hold.
#[test]
fn stated_shares_hold_on_real_files() {
    let Some(data) = std::env::var_os("EKE_DATA").map(PathBuf::from) else {
        println!("EKE_DATA is not set: no real files are read");
        return;
    };
    let mut held = Held::default();
    for case in &CASES {
        let path = data.join(case.file);
        let units = fullest(&path, case);
        let columns = case.key.map_or_else(String::new, |(key, values)| {
            format!("[dataset.t.columns]\n{key} = {{ values = {values} }}\n")
        });
        let folder = Folder::new();
        folder.write(
            "eke.toml",
            &format!(
                "[unit.it]\nadjacency = \"add-remove\"\nbudget = {{ epsilon = 1, delta = 1e-6 }}\n\
                 [dataset.t]\nsource = {path:?}\nunit = \"it\"\nunit_column = {:?}\n\
                 max_groups = {}\nmax_rows = {}\ncut_counts = 0.02\nanswer_time = 0.001\n{columns}",
                case.unit, case.max_groups, case.max_rows
            ),
        );
        let sql = match case.key {
            None => "SELECT COUNT(*) FROM t".to_owned(),
            Some((key, _)) => format!("SELECT {key}, COUNT(*) FROM t GROUP BY {key}"),
        };
        for _ in 0..RUNS {
            let asked = question("steward", &sql, price("0.01"));
            let answer = folder.fresh().ask(&asked, &()).unwrap();
            let cut = answer.covers.unwrap().cut.unwrap();
            look(&cut, case, &units, &mut held);
        }
    }
    let wrong = held.all - held.held;
    println!("{held:?}");
    assert!(wrong * 10 < held.all, "{held:?}");
    assert!((held.all - held.narrow) * 5 > held.all, "{held:?}");
}
