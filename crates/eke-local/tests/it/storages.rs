//! Devices in files: two programs, lost and torn files, and a child that is killed while it
//! answers.
//!
//! The child is this test binary, run again. What it wrote to its pipe before it died was sent: it
//! must be found again, the same, and paid for once.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use eke_local::device::{Currency, StorageError};
use eke_local::{Device, DeviceError, FileStorage, Reply, Request, Storage};
use tempfile::TempDir;

use crate::devices::{ask, components, mechanism, of, pure, spent, words};
use crate::{Dice, epsilon};

const FOLDER: &str = "EKE_TEST_DEVICE_FOLDER";
const START: &str = "EKE_TEST_DEVICE_START";
const KILLS: u64 = 30;

/// A folder of its own, gone with the test.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Where the device is: a folder that its storage makes.
    fn path(&self) -> PathBuf {
        self.0.path().join("device")
    }

    fn open(&self) -> FileStorage {
        FileStorage::open(self.path()).unwrap()
    }
}

#[test]
fn a_device_in_a_file_is_the_same_after_it_was_closed() {
    let (folder, mut entropy) = (Folder::new(), Dice(1));
    let mut device = Device::create("device", pure(1.0), components(), folder.open()).unwrap();
    let shown = words(device.answer(&ask("a", 1), &mut entropy).unwrap());
    drop(device);
    let mut device = Device::open(folder.open()).unwrap();
    assert_eq!(words(device.answer(&ask("a", 1), &mut entropy).unwrap()), shown);
    assert_eq!(spent(&device).0, epsilon("0.5"));
}

#[test]
fn a_device_runs_once_at_a_time() {
    let folder = Folder::new();
    let device = Device::create("device", pure(1.0), components(), folder.open()).unwrap();
    let second = FileStorage::open(folder.path()).unwrap_err();
    assert!(matches!(second, StorageError::Busy));
    assert_eq!(
        second.to_string(),
        "another program has the device's storage open: a device runs once"
    );
    drop(device);
    assert!(Device::open(folder.open()).is_ok());
}

#[test]
fn a_lost_file_does_not_become_a_full_account() {
    let folder = Folder::new();
    drop(Device::create("device", pure(1.0), components(), folder.open()).unwrap());
    std::fs::remove_file(folder.path().join("device.state")).unwrap();
    let lost = |error| matches!(error, DeviceError::Storage(StorageError::Lost));
    assert!(lost(Device::open(folder.open()).map(|_| ()).unwrap_err()));
    let create = Device::create("device", pure(1.0), components(), folder.open());
    assert!(lost(create.map(|_| ()).unwrap_err()));
}

/// What a crash can leave behind at each step of replacing the file: a new one cut off anywhere
/// beside the old one, and a file that is in place while the lock does not say yet that there is
/// one.
#[test]
fn a_replacement_that_was_cut_off_leaves_the_old_device() {
    let (folder, mut entropy) = (Folder::new(), Dice(2));
    let mut device = Device::create("device", pure(1.0), components(), folder.open()).unwrap();
    let shown = words(device.answer(&ask("a", 1), &mut entropy).unwrap());
    drop(device);
    let bytes = std::fs::read(folder.path().join("device.state")).unwrap();
    for length in [0, 1, 40, bytes.len() - 1] {
        std::fs::write(folder.path().join("device.next"), &bytes[..length]).unwrap();
        let mut device = Device::open(folder.open()).unwrap();
        assert_eq!(words(device.answer(&ask("a", 1), &mut entropy).unwrap()), shown);
    }
    std::fs::write(folder.path().join("device.lock"), b"").unwrap();
    drop(Device::open(folder.open()).unwrap());
    std::fs::remove_file(folder.path().join("device.state")).unwrap();
    assert!(matches!(folder.open().load(), Err(StorageError::Lost)));
    // A first device that was never stored may be made again.
    let fresh = Folder::new();
    drop(fresh.open());
    std::fs::write(fresh.path().join("device.next"), &bytes[..40]).unwrap();
    assert!(Device::create("device", pure(1.0), components(), fresh.open()).is_ok());
}

/// The n-th request of the play: three reports of each question, the finest in the middle.
fn play(number: usize) -> Request {
    let report = [1, 0, 2][number % 3];
    let question = format!("{}", number / 3);
    of(&question, "colour", 0, mechanism(8), report, Currency::Pure)
}

/// Asked of a child: answers requests for ever, and tells each answer on a line of its own.
#[test]
fn the_child_answers_until_it_is_killed() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let mut entropy = eke_noise::SystemEntropy::new().unwrap();
    let mut device = Device::open(FileStorage::open(folder).unwrap()).unwrap();
    let start: usize = std::env::var(START).unwrap().parse().unwrap();
    for number in (0..3 * 60).cycle().skip(start) {
        let line = match device.answer(&play(number), &mut entropy).unwrap() {
            Reply::Report(report) => format!("sent {number} {}\n", report.words()[0]),
            Reply::Halted => format!("halted {number}\n"),
        };
        // One write, so that a line is sent or not.
        std::io::stdout().lock().write_all(line.as_bytes()).unwrap();
    }
}

fn child(folder: &Folder, start: usize) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "storages::the_child_answers_until_it_is_killed", "--nocapture"])
        .env(FOLDER, folder.path())
        .env(START, start.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Killed after it has sent some answers, again and again: what was sent stays, and is paid for
/// once.
#[test]
fn a_device_that_is_killed_has_stored_what_it_sent() {
    let folder = Folder::new();
    drop(Device::create("device", pure(55.5), components(), folder.open()).unwrap());
    let mut sent: BTreeMap<usize, u64> = BTreeMap::new();
    for kill in 0..KILLS {
        // Now and then from the beginning, else from where the last one was killed.
        let start = if kill % 5 == 4 { 0 } else { sent.len() };
        let mut child = child(&folder, start);
        let out = BufReader::new(child.stdout.take().unwrap());
        let mut lines = 0;
        for line in out.lines().map_while(Result::ok) {
            let parts: Vec<&str> = line.split(' ').collect();
            if let ["sent", number, set] = parts[..] {
                let (number, set) = (number.parse().unwrap(), set.parse().unwrap());
                assert_eq!(*sent.entry(number).or_insert(set), set, "another report");
            } else if parts[0] != "halted" {
                continue;
            }
            lines += 1;
            if lines == 1 + kill * 7 % 16 {
                child.kill().unwrap();
            }
        }
        child.wait().unwrap();
        assert!(lines > 0);
        let device = Device::open(folder.open()).unwrap();
        // Each question whose finest report was sent has cost 1, one whose middle was sent 0.5; one
        // more may be paid for that was not sent any more.
        let halves = |number: usize| u32::from(number % 3 < 2);
        let due: u32 = sent.keys().map(|&number| halves(number)).sum();
        let half = epsilon("0.5");
        let (paid, due) = (spent(&device).0, half.times(due).unwrap());
        assert!(paid >= due && paid <= due.plus(half).unwrap(), "{paid} for {due}");
    }
    assert!(sent.len() > 100, "{}", sent.len());
}
