//! The disk itself fails, or the process dies, at every single write and sync of a script.
//!
//! The child is this test binary, run again under strace, which makes the n-th call of a kind fail
//! or kills the process at it. Where strace is missing or may not trace, this says so and passes:
//! the other tests of faults do not need it.

use std::process::{Command, Stdio};
use std::str::FromStr;

use eke_ledger::{Address, Ledger, LedgerError};

use crate::Place;
use crate::script::{Told, check, play};

const ADDRESS: &str = "EKE_TEST_SYSCALL_ADDRESS";

#[test]
fn the_child_plays_the_script_until_the_disk_fails() {
    let Ok(address) = std::env::var(ADDRESS) else { return };
    let Ok(address) = Address::from_str(&address);
    let ledger = match Ledger::open(&address) {
        Ok(ledger) => ledger,
        Err(error) => return println!("not opened: {error}"),
    };
    let told = play(&ledger, |line| println!("{line}"));
    if told.settled {
        println!("settled");
    }
    match told.end {
        None => println!("the end"),
        Some(error) => {
            println!("failed: {error}");
            assert!(matches!(error, LedgerError::Stopped(_)), "{error}");
            assert!(ledger.stopped().is_some());
            assert!(crate::charge(&ledger, "late", crate::spend("0.01")).is_err());
        }
    }
}

/// Runs the child with a call made to fail, and says what it told and whether there was such a
/// call. A few may fail unnoticed: those that move what is safe in the log while the ledger is
/// closed, and a sync of the folder that the ledger does once more itself.
fn run(place: &Place, inject: &str) -> Option<(Told, bool)> {
    let trace = place.folder().join("trace");
    let output = Command::new("strace")
        .args(["-f", "-qqq", "-e", "trace=pwrite64,fsync,fdatasync", "-s", "0", "-o"])
        .arg(&trace)
        .args(["-e", &format!("inject={inject}")])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "syscalls::the_child_plays_the_script_until_the_disk_fails"])
        .arg("--nocapture")
        .env(ADDRESS, place.path())
        .env("RUST_BACKTRACE", "0")
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).unwrap();
    if !text.contains("running 1 test") {
        return None;
    }
    assert!(!text.contains("test result: FAILED"), "{inject}: {text}");
    let mut told = Told::default();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["charged", name] => told.charged.push(name.into()),
            ["sent", name] => told.answered.push((name.into(), format!("answer {name}"))),
            ["settled"] => told.settled = true,
            _ => {}
        }
    }
    let trace = std::fs::read_to_string(&trace).unwrap();
    let happened = trace.contains("INJECTED") || !text.contains("the end");
    Some((told, happened))
}

/// Makes every call of a kind fail in turn, or every `step`-th, and says how many there were.
fn every(call: &str, how: &str, step: usize) -> Option<u32> {
    for number in (1..).step_by(step) {
        let place = Place::file();
        drop(crate::riders(&place, "1"));
        let (mut told, happened) = run(&place, &format!("{call}:{how}:when={number}"))?;
        // Rounds are charged without a word.
        if place.store().request(&crate::key("round")).unwrap().is_some() {
            told.charged.push("round".into());
        }
        check(&place, &told);
        if !happened {
            return Some(number);
        }
    }
    None
}

fn fails_everywhere(how: &str, step: usize) {
    let mut counted = Vec::new();
    for (call, least) in [("pwrite64", 50), ("fsync,fdatasync", 15)] {
        let Some(calls) = every(call, how, step) else {
            return println!("skipped: strace is not there or may not trace");
        };
        assert!(calls > least, "{call} was made {calls} times only");
        counted.push(format!("{call}: {}", calls - 1));
    }
    println!("{how} at every call of a script, or every {step}th ({})", counted.join(", "));
}

#[test]
fn a_disk_that_fails_at_any_write_or_sync_stops_the_ledger() {
    fails_everywhere("error=EIO", 1);
}

#[test]
fn a_disk_that_is_full_at_any_write_or_sync_stops_the_ledger() {
    // As above, with another number: every few will do.
    fails_everywhere("error=ENOSPC", 8);
}

#[test]
fn a_process_that_dies_at_any_write_or_sync_loses_nothing_that_it_told() {
    fails_everywhere("signal=KILL", 1);
}
