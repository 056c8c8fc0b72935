//! Sessions at the command line, kept true: what stands in these files is what is printed.
//! `TRYCMD=overwrite cargo test -p eke` writes what is printed now; read the difference.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::path::{Path, PathBuf};
use std::process::Command;

use eke_budget::{Adjacency, BudgetSpec, Charge, Metric, Rho};
use eke_ledger::{Address, Answer, Ledger, Moment, Request, Spend, Stamp};

#[test]
fn sessions_at_the_command_line_are_as_written() {
    trycmd::TestCases::new().case("tests/cmd/*.md").case("../../README.md");
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
