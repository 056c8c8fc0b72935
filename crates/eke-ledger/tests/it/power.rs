//! Power cuts: the files of a ledger as a crash can leave them, opened again.
//!
//! What SQLite has synced is on disk; what it wrote after the last sync may be there in part, torn,
//! or not at all. So the write-ahead log is cut at every place and scrambled behind it, a
//! checkpoint is left half done, and a recovery is cut off itself.

use std::fs;
use std::path::{Path, PathBuf};

use eke_ledger::Ledger;

use crate::script::{Told, check, play};
use crate::{Place, buy, riders, spend};

const PAGE: usize = 4096;
const FRAME: usize = PAGE + 24;
const HEADER: usize = 32;

/// The log beside a file.
fn log_of(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}

/// The files of a ledger at some moment.
#[derive(Clone)]
struct Files {
    file: Vec<u8>,
    log: Vec<u8>,
}

impl Files {
    fn of(place: &Place) -> Self {
        let log = fs::read(log_of(&place.path())).unwrap_or_default();
        Self { file: fs::read(place.path()).unwrap(), log }
    }

    /// A place with these files in it.
    fn put(&self) -> Place {
        let place = Place::file();
        fs::write(place.path(), &self.file).unwrap();
        fs::write(log_of(&place.path()), &self.log).unwrap();
        place
    }

    fn cut(&self, at: usize) -> Self {
        Self { file: self.file.clone(), log: self.log[..at].to_vec() }
    }
}

/// What callers had heard when the log had this length.
struct Step {
    log: usize,
    charged: usize,
    answered: usize,
}

/// Plays the script, and keeps the files from the middle of it: as they were when it ended, how
/// long the log was whenever a caller heard something, and all that callers heard.
fn played() -> (Place, Ledger, Vec<Step>, Told) {
    let place = Place::file();
    let ledger = place.ledger();
    let mut steps = Vec::new();
    let (mut charged, mut answered) = (0, 0);
    let told = play(&ledger, |line| {
        if line.starts_with("charged") {
            charged += 1;
        } else {
            answered += 1;
        }
        let log = usize::try_from(fs::metadata(log_of(&place.path())).unwrap().len()).unwrap();
        steps.push(Step { log, charged, answered });
    });
    assert_eq!(told.end, None);
    (place, ledger, steps, told)
}

/// What must be there when the log is cut at a place: all that callers heard while it was shorter.
/// Charges of rounds are not counted, so only names count.
fn told_until(steps: &[Step], told: &Told, at: usize) -> Told {
    let last = steps.iter().take_while(|step| step.log <= at).last();
    let (charged, answered) = last.map_or((0, 0), |step| (step.charged, step.answered));
    let named = told.charged.iter().filter(|name| *name != "round");
    Told {
        charged: named.take(charged).cloned().collect(),
        answered: told.answered[..answered].to_vec(),
        settled: false,
        end: None,
    }
}

/// Checks the files after a cut; a place that holds no ledger yet holds no answers either.
fn check_cut(place: &Place, expected: &Told) {
    let report = place.verify();
    assert_eq!(report.findings, []);
    let mut lenient = Told {
        charged: expected.charged.clone(),
        answered: expected.answered.clone(),
        settled: false,
        end: None,
    };
    // The round and whatever else was under way may be there as well.
    for extra in ["round", "path-0", "path-1", "path-2", "path-3"] {
        let stored = place.store().request(&crate::key(extra)).unwrap().is_some();
        if stored && !lenient.charged.iter().any(|name| name == extra) {
            lenient.charged.push(extra.into());
        }
    }
    check(place, &lenient);
}

#[test]
fn a_log_that_is_cut_or_torn_anywhere_keeps_all_that_was_told() {
    let (place, ledger, steps, told) = played();
    let files = Files::of(&place);
    drop(ledger);
    // From where the ledger was made on: before that no caller could have heard anything.
    let made = steps[0].log - 10 * FRAME;
    let mut cuts: Vec<usize> = (made..files.log.len()).step_by(512).collect();
    cuts.extend((0..).map(|frame| HEADER + frame * FRAME).take_while(|&at| at <= files.log.len()));
    cuts.retain(|&at| at >= made);
    assert!(cuts.len() > 200, "{}", cuts.len());
    for (number, at) in cuts.into_iter().enumerate() {
        let expected = told_until(&steps, &told, at);
        let mut torn = files.cut(at);
        if number % 2 == 1 {
            // The sector that was being written holds something else, and older bytes follow.
            torn.log.extend((0..1500u32).map(|byte| u8::try_from(byte * 7 % 251).unwrap()));
        }
        check_cut(&torn.put(), &expected);
    }
}

#[test]
fn a_checkpoint_that_is_cut_off_keeps_all_that_was_told() {
    let (place, ledger, _, told) = played();
    let before = Files::of(&place);
    // Closing the ledger moves everything from the log into the file.
    drop(ledger);
    let after = Files::of(&place);
    assert!(after.log.is_empty() && after.file.len() > before.file.len());
    for pages in 0..after.file.len() / PAGE {
        for torn in [0, PAGE / 3] {
            let done = (pages * PAGE + torn).min(after.file.len());
            let mut file = after.file[..done].to_vec();
            if before.file.len() > done {
                file.extend_from_slice(&before.file[done..]);
            }
            let half = Files { file, log: before.log.clone() };
            check(&half.put(), &told);
        }
    }
}

#[test]
fn a_recovery_that_is_cut_off_keeps_all_that_was_told() {
    let (place, ledger, steps, told) = played();
    let files = Files::of(&place);
    drop(ledger);
    for step in &steps {
        // The crash tore the log behind what callers had heard.
        let mut torn = files.cut(step.log);
        torn.log.extend([0x5a; 700]);
        let recovering = torn.put();
        let expected = told_until(&steps, &told, step.log);
        // It is opened, goes on, and power fails again: in the log, or while it is moved.
        let ledger = riders(&recovering, "1");
        buy(&ledger, "after", spend("0.001"));
        let second = Files::of(&recovering);
        drop(ledger);
        let closed = Files::of(&recovering);
        let mut again = vec![second.clone()];
        for cut in [second.log.len().saturating_sub(100), step.log] {
            again.push(second.cut(cut.min(second.log.len())));
        }
        let half = closed.file.len() / PAGE / 2 * PAGE;
        let mut file = closed.file[..half].to_vec();
        file.extend_from_slice(&second.file[half.min(second.file.len())..]);
        again.push(Files { file, log: second.log.clone() });
        for files in again {
            let place = files.put();
            let report = place.verify();
            assert_eq!(report.findings, []);
            let mut store = place.store();
            for name in &expected.charged {
                assert!(store.request(&crate::key(name)).unwrap().is_some(), "{name} is lost");
            }
        }
    }
}
