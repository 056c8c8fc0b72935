//! Golden files: questions and what becomes of them.
//!
//! A case is SQL, a line `----`, and what is expected: the plan in words, or `refused: ` and a
//! sentence. Cases are parted by an empty line; lines with `#` before a case are remarks. To write
//! the files anew from what the code does now: `EKE_GOLDEN=overwrite cargo test -p eke-sql golden`,
//! and read the difference.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::tables::{tables, tables_as_typed, tables_of_parts, tables_of_units};

#[test]
fn every_golden_question_has_the_plan_or_the_refusal_that_its_file_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    let overwrite = std::env::var("EKE_GOLDEN").is_ok_and(|value| value == "overwrite");
    let mut wrong = String::new();
    let mut refusals = 0;
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let mut now = String::new();
        for block in
            text.split("\n\n").map(|block| block.trim_matches('\n')).filter(|b| !b.is_empty())
        {
            let (case, expected) =
                block.split_once("\n----\n").unwrap_or((block.trim_end_matches("\n----"), ""));
            let (remarks, sql): (Vec<&str>, Vec<&str>) =
                case.lines().partition(|line| line.starts_with('#'));
            if sql.is_empty() {
                let _ = write!(now, "{}\n\n", remarks.join("\n"));
                continue;
            }
            let tables = match file.file_stem().and_then(|name| name.to_str()) {
                Some("units") => tables_of_units(),
                Some("parts") => tables_of_parts(),
                Some("typed") => tables_as_typed(),
                _ => tables(),
            };
            let got = outcome(&sql.join("\n"), &tables);
            refusals += usize::from(got.starts_with("refused: "));
            if got != expected {
                let _ = write!(
                    wrong,
                    "{}\n{case}\n---- expected\n{expected}\n---- got\n{got}\n\n",
                    file.display()
                );
            }
            let _ = write!(now, "{case}\n----\n{got}\n\n");
        }
        if overwrite {
            std::fs::write(&file, format!("{}\n", now.trim_end())).unwrap();
        }
    }
    assert!(overwrite || wrong.is_empty(), "{wrong}");
    assert!(refusals >= 400, "{refusals} refusals are too few");
}

fn outcome(sql: &str, tables: &[eke_sql::Table]) -> String {
    let levels = eke_sql::levels(sql).unwrap_or(1);
    let mut told = Vec::new();
    for level in 0..levels {
        match eke_sql::plan_level(sql, tables, &[], level) {
            Ok(query) if levels == 1 => told = query.describe(),
            Ok(query) => {
                told.extend(query.describe().iter().map(|line| format!("{}: {line}", level + 1)));
            }
            Err(refusal) => return format!("refused: {refusal}"),
        }
    }
    told.join("\n")
}
