//! Every experiment, at its smallest: it runs without data, its tables hold numbers, its files can
//! be read, and cores do not change it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use eke_lab::frame::context::Context;
use eke_lab::frame::experiment::{Experiment, Size, experiments};
use eke_lab::frame::report::{Report, Run};
use eke_lab::frame::table::TableCell;
use eke_testkit::well_formed;

fn smoke(experiment: &'static Experiment, threads: usize) -> Report {
    let context = Context::new(experiment, Size::Smoke).with_threads(threads);
    (experiment.run)(&context).unwrap_or_else(|error| panic!("{}: {error}", experiment.name))
}

fn written(
    experiment: &'static Experiment,
    report: &Report,
    to: &str,
) -> BTreeMap<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("experiments").join(to);
    let trials = experiment.trials.smoke;
    let run = Run { experiment, size: Size::Smoke, trials, seed: 1 };
    let paths = report.write(&run, &folder).unwrap();
    let name = |path: &Path| PathBuf::from(path.file_name().unwrap());
    paths.iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
}

fn finite(cell: &TableCell) -> bool {
    match cell {
        TableCell::Number(value) => value.is_finite(),
        TableCell::Summary(summary) => {
            let interval = summary.interval.iter().flatten();
            let mut all = summary.quartiles.iter().chain(interval).chain([&summary.mean]);
            summary.n > 0 && all.all(|value| value.is_finite())
        }
        TableCell::Text(_) | TableCell::None => true,
    }
}

fn looks_right(
    experiment: &'static Experiment,
    report: &Report,
    files: &BTreeMap<PathBuf, String>,
) {
    let name = experiment.name;
    assert!(!report.tables.is_empty() && !report.figures.is_empty(), "{name} shows nothing");
    let mut cells = 0;
    for table in &report.tables {
        assert!(!table.rows.is_empty(), "{name}: {} is empty", table.title);
        for row in &table.rows {
            cells += row.cells.len();
            assert!(row.cells.iter().all(finite), "{name}: {}: {row:?}", table.title);
        }
    }
    for (file, text) in files {
        let file = file.to_str().unwrap();
        if file.ends_with(".csv") {
            let mut reader = csv::Reader::from_reader(text.as_bytes());
            assert_eq!(reader.records().map(Result::unwrap).count(), cells, "{file}");
        } else if file.ends_with(".json") {
            let json: serde_json::Value = serde_json::from_str(text).unwrap();
            assert_eq!(json["experiment"], name);
            assert_eq!(json["tables"].as_array().unwrap().len(), report.tables.len());
        } else if file.ends_with(".svg") {
            assert_eq!(well_formed(text), Ok(()), "{file}");
            assert!(!text.contains("NaN") && !text.contains("inf\""), "{file}");
        } else {
            assert!(text.contains(&format!("eke-lab run {name} --smoke")), "{file}");
        }
    }
    let kinds = ["csv", "json", "md", "svg"];
    let has = |kind: &str| files.keys().any(|file| file.extension().is_some_and(|e| e == kind));
    assert!(kinds.iter().all(|kind| has(kind)), "{name}: {:?}", files.keys());
}

#[test]
fn every_experiment_runs_without_data_and_cores_do_not_change_it() {
    for experiment in experiments() {
        let (two, one) = (smoke(experiment, 2), smoke(experiment, 1));
        let files = written(experiment, &two, "two");
        looks_right(experiment, &two, &files);
        assert_eq!(files, written(experiment, &one, "one"), "{}", experiment.name);
    }
}
