//! Sessions at the command line, kept true: what stands in these files is what is printed.
//! `TRYCMD=overwrite cargo test -p eke` writes what is printed now; read the difference.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::path::{Path, PathBuf};
use std::process::Command;

use eke_budget::{Adjacency, BudgetSpec, Charge, Metric, Rho};
use eke_ledger::{Address, Answer, Ledger, Moment, Request, Spend, Stamp};

#[test]
fn sessions_at_the_command_line_are_as_written() {
    trycmd::TestCases::new()
        .case("tests/cmd/*.md")
        .case("../../README.md")
        .case("../../docs/local.md");
}

/// The quick start of the README, run on a city of its own. Noise differs from run to run, so numbers are
/// compared as numbers, and words as they are.
#[test]
fn the_quick_start_of_the_readme_is_what_happens() {
    let folder = std::env::temp_dir().join(format!("eke-readme-{}", std::process::id()));
    let run = |arguments: &[String]| {
        let output = Command::new(env!("CARGO_BIN_EXE_eke"))
            .args(arguments)
            .current_dir(&folder)
            .output()
            .unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    std::fs::create_dir_all(&folder).unwrap();
    let story = run(&["demo", "--riders", "100000", "--folder", "."].map(str::to_owned));
    assert!(story.contains("9. Bob asks for more") && story.contains("times as much."), "{story}");
    let files = ["eke.toml", "eke.toml.anchor", "eke.ledger", "eke.ledger-wal", "eke.ledger-shm"];
    for file in files {
        let _ = std::fs::remove_file(folder.join(file));
    }
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    let (_, start) = readme.split_once("## Quick start").unwrap();
    let (start, _) = start.split_once("\n## ").unwrap();
    let mut commands = 0;
    for session in start.split("```text\n").skip(1).map(|rest| rest.split("```").next().unwrap()) {
        for step in session.split("$ eke ").skip(1) {
            let (command, expected) = step.split_once('\n').unwrap();
            let found = run(&words(command));
            assert_eq!(without_numbers(&found), without_numbers(expected), "{command}\n{found}");
            commands += 1;
        }
    }
    assert_eq!(commands, 5);
    std::fs::remove_dir_all(&folder).unwrap();
}

/// The examples of `docs/tiers.md`, in the same way.
#[test]
fn the_examples_about_tiers_are_what_happens() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tiers.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mut commands = 0;
    for session in page.split("```text\n").skip(1).map(|rest| rest.split("```").next().unwrap()) {
        for step in session.split("$ eke ").skip(1) {
            let (command, expected) = step.split_once('\n').unwrap();
            let output =
                Command::new(env!("CARGO_BIN_EXE_eke")).args(words(command)).output().unwrap();
            let found = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
            assert_eq!(without_numbers(&found), without_numbers(expected), "{command}\n{found}");
            commands += 1;
        }
    }
    assert!(commands >= 2);
}

/// The words of a command; those in double quotes are one.
fn words(command: &str) -> Vec<String> {
    let parts = command.split('"').enumerate().flat_map(|(index, part)| {
        if index % 2 == 1 {
            vec![part.to_owned()]
        } else {
            part.split_whitespace().map(str::to_owned).collect()
        }
    });
    parts.collect()
}

/// Every number as `#`, and no more than one space between words.
fn without_numbers(text: &str) -> String {
    let mut out = String::new();
    for word in text.split_whitespace() {
        let is_number = |c: char| c.is_ascii_digit() || matches!(c, ',' | '.' | '-' | 'e' | '%');
        let core = word.trim_matches(|c: char| !c.is_ascii_digit());
        let number = !core.is_empty() && core.chars().all(is_number);
        let plain = if number { word.replace(core, "#") } else { word.to_owned() };
        out.push_str(&plain.replace("#;", "# ;"));
        out.push(' ');
    }
    out
}

/// The lines that are the same whatever noise is: who is asked, prices and budgets, and where nobody stops early also what
/// it cost and who saved what.
fn without_noise(text: &str, once: bool) -> Vec<&str> {
    let starts = |line: &str, all: &[&str]| all.iter().any(|start| line.starts_with(start));
    let is_sure = |line: &&str| {
        starts(line, &["  asked", "  price", "  budget"])
            || (once
                && (starts(line, &["  cost"]) || line.contains(" to ") && line.contains(" %  ")))
    };
    text.lines().filter(is_sure).collect()
}

/// The sessions of `docs/places.md`, on people and households made up for it.
#[test]
fn the_sessions_about_places_are_what_happens() {
    let folder = std::env::temp_dir().join(format!("eke-places-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut rows = String::from("id,longitude,latitude\n");
    for person in 0..300u32 {
        let (out, turn) = (0.11 * (f64::from(person) / 300.0).sqrt(), f64::from(person) * 2.4);
        let (longitude, latitude) = (116.4 + 1.3 * out * turn.cos(), 39.9 + out * turn.sin());
        rows.push_str(&format!("taxi-{person},{longitude:.4},{latitude:.4}\n"));
    }
    std::fs::write(folder.join("people.csv"), rows).unwrap();
    let incomes: String = (0..2_000).map(|row| format!("{row},{}\n", 37 * row)).collect();
    std::fs::write(folder.join("households.csv"), format!("id,income\n{incomes}")).unwrap();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/places.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mut commands = 0;
    for session in page.split("```text\n").skip(1).map(|rest| rest.split("```").next().unwrap()) {
        for step in session.split("$ eke ").skip(1) {
            let (command, expected) = step.split_once('\n').unwrap();
            let output = Command::new(env!("CARGO_BIN_EXE_eke"))
                .args(words(command))
                .current_dir(&folder)
                .output()
                .unwrap();
            let found = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
            // Noise decides how long bars are, and whether a line is told from a count beyond doubt.
            let same = |text: &str| text.replace('█', "").replace(", as far as can be told", "");
            let plain = |text: &str| without_numbers(&same(text));
            assert_eq!(plain(&found), plain(expected), "{command}\n{found}");
            let once = command.contains("--rule once");
            assert_eq!(without_noise(&found, once), without_noise(expected, once), "{command}");
            commands += 1;
        }
    }
    assert_eq!(commands, 6);
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Runs `eke ledger`, and says its exit code, its output and its errors.
fn eke(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_eke")).arg("ledger").args(arguments).output();
    let output = output.unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// Asks a question of a ledger, which it makes if there is none.
fn ask(file: &Path, key: &str) {
    let stamp = Stamp::new("ana", Moment::from_micros(0));
    let budget = BudgetSpec::zcdp(Rho::new(1.0).unwrap())
        .resolve(Metric::Hamming(Adjacency::AddRemove))
        .unwrap();
    let ledger = Ledger::open(&Address::File(file.into())).unwrap();
    ledger.open_account("riders", budget, stamp.clone()).wait().unwrap();
    let request = Request::new(key, stamp.clone(), "SELECT count(*) FROM trips").unwrap();
    let price = Spend(Charge::zcdp(Rho::new(0.125).unwrap()));
    let alone: Vec<(&str, Spend<Charge>)> = Vec::new();
    let charged = ledger.charge(request, "riders", price, alone).wait().unwrap();
    let claim = charged.charged().unwrap().claim;
    ledger.answer(claim, Answer::new("1234"), stamp).wait().unwrap();
}

#[test]
fn a_ledger_is_verified_exported_and_anchored() {
    let folder: PathBuf = std::env::temp_dir().join(format!("eke-cli-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (file, old, kept) =
        (folder.join("eke.ledger"), folder.join("old"), folder.join("anchor.json"));
    let name = file.to_str().unwrap();
    ask(&file, "q-1");
    std::fs::copy(&file, &old).unwrap();
    ask(&file, "q-2");

    let whole = (0, "1 account and 5 lines: nothing is wrong\n".to_owned(), String::new());
    assert_eq!(eke(&["verify", name]), whole);
    let (code, anchor, _) = eke(&["anchor", name]);
    assert!(code == 0 && anchor.contains(r#""riders":{"lines":5,"head":""#), "{anchor}");
    std::fs::write(&kept, &anchor).unwrap();
    let anchored = ["verify", name, "--anchor", kept.to_str().unwrap()];
    assert_eq!(eke(&anchored), whole);
    let (code, lines, _) = eke(&["export", name]);
    assert_eq!((code, lines.lines().count()), (0, 5));
    assert!(lines.lines().nth(1).unwrap().contains(r#""text":"SELECT count(*) FROM trips""#));

    let (code, told, _) = eke(&["give-up", name]);
    assert_eq!((code, &*told), (0, "no request holds a path\n"));
    let (code, _, error) = eke(&["give-up", name, "q-9"]);
    assert!(code == 1 && error.contains("request `q-9` holds no path"), "{error}");

    std::fs::copy(&old, &file).unwrap();
    assert_eq!(eke(&["verify", name]).0, 0);
    let (code, told, error) = eke(&anchored);
    assert_eq!(code, 1);
    assert!(told.contains("it was rolled back or restored from an old copy"), "{told}");
    assert_eq!(error, "eke: 1 account and 3 lines: 1 thing is wrong\n");

    let (code, _, error) = eke(&["verify", folder.join("none").to_str().unwrap()]);
    assert!(code == 1 && error.contains("there is no such file: look at the path"), "{error}");
    let (code, _, error) = eke(&["verify", name, "--anchor", name]);
    assert!(code == 1 && error.contains("anchor"), "{error}");
    std::fs::remove_dir_all(&folder).unwrap();
}

/// What `eke ask --json` prints has the law of its price: 25 ledgers of 80 groups each, on a tiny table. The variance
/// of 2,000 normal numbers is off by 0.17 with probability below 1e-7; noise 20 % wider or narrower is rejected.
#[test]
fn what_is_printed_has_the_law_of_its_price() {
    const GROUPS: usize = 80;
    let folder = std::env::temp_dir().join(format!("eke-law-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let keys: Vec<String> = (0..GROUPS).map(|group| group.to_string()).collect();
    let policy = format!(
        "[unit.rider]\nadjacency = \"add-remove\"\nbudget = {{ epsilon = 4.0, delta = 1e-5 }}\n\
         [dataset.trips]\nsource = \"trips.csv\"\nunit = \"rider\"\nunit_column = \"rider\"\nmax_rows = 1\n\
         [dataset.trips.columns]\nzone = {{ type = \"int\", values = [{}] }}\n\
         fare = {{ type = \"float\", min = -50, max = 50 }}\n",
        keys.join(", ")
    );
    std::fs::write(folder.join("eke.toml"), policy).unwrap();
    let rows: String =
        (0..GROUPS).map(|group| format!("r{group},{group},{}\n", group % 50)).collect();
    std::fs::write(folder.join("trips.csv"), format!("rider,zone,fare\n{rows}")).unwrap();
    let deviation = 50.0 / (2.0f64 * 0.002).sqrt();
    let mut scores = Vec::new();
    for _ in 0..25 {
        for end in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(folder.join(format!("eke.ledger{end}")));
        }
        let _ = std::fs::remove_file(folder.join("eke.toml.anchor"));
        let output = Command::new(env!("CARGO_BIN_EXE_eke"))
            .args([
                "ask",
                "SELECT zone, SUM(fare) FROM trips GROUP BY zone",
                "--price",
                "rho=0.002",
                "--json",
            ])
            .current_dir(&folder)
            .output()
            .unwrap();
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        for row in answer["rows"].as_array().unwrap() {
            let truth = f64::from(u32::try_from(row["keys"][0].as_u64().unwrap() % 50).unwrap());
            scores.push((row["values"][0]["value"].as_f64().unwrap() - truth) / deviation);
        }
    }
    assert_eq!(scores.len(), 25 * GROUPS);
    let variance = |scale: f64| {
        let count = u32::try_from(scores.len()).unwrap();
        scores.iter().map(|score| (score / scale).powi(2)).sum::<f64>() / f64::from(count)
    };
    assert!((variance(1.0) - 1.0).abs() < 0.17, "{}", variance(1.0));
    assert!(variance(1.2) < 0.83 && variance(0.8) > 1.17, "the controls pass: {}", variance(1.0));
    let beyond = scores.iter().filter(|score| score.abs() > 1.96).count();
    assert!((60..=145).contains(&beyond), "{beyond} of 2,000 beyond 1.96 deviations");
    std::fs::remove_dir_all(&folder).unwrap();
}
