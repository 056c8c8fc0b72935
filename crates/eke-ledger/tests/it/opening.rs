//! Opening: older formats, newer formats, wrong files, read-only files, locked files.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use eke_ledger::patience::{LONGEST, Waiting};
use eke_ledger::store::Sqlite;
use eke_ledger::{Address, Ledger, LedgerError, Stamp};
use rusqlite::Connection;

use crate::{Place, buy, charge, on_every_store, riders, spend, spent};

fn sentence(place: &Place) -> String {
    Ledger::open(&place.address()).unwrap_err().to_string()
}

#[test]
fn a_ledger_of_an_older_format_is_upgraded() {
    let place = Place::file();
    let old = Connection::open(place.path()).unwrap();
    old.execute_batch(include_str!("../../src/store/sqlite/1.sql")).unwrap();
    old.execute_batch(
        "INSERT INTO meta VALUES ('ledger', 'old'); \
         PRAGMA application_id = 0x656b656c; PRAGMA user_version = 1;",
    )
    .unwrap();
    drop(old);
    let told = Sqlite::read_only(&place.path()).unwrap_err().to_string();
    assert!(
        told.contains("it has format 1") && told.contains("open it once for writing"),
        "{told}"
    );
    let ledger = riders(&place, "1");
    ledger.file_sheet("riders", 0, vec![1], crate::stamp("fleet")).wait().unwrap();
    place.is_sound();
}

#[test]
fn a_ledger_of_an_older_format_in_postgres_is_upgraded() {
    let Some(place) = Place::postgres() else { return };
    let Address::Postgres(url) = place.address() else { panic!("not PostgreSQL") };
    let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
    client.batch_execute(include_str!("../../src/store/postgres/1.sql")).unwrap();
    let old = "INSERT INTO eke_meta VALUES ('ledger', 'old'), ('format', '1')";
    client.batch_execute(old).unwrap();
    let told = place.address().read_only().err().unwrap().to_string();
    assert!(
        told.contains("it has format 1") && told.contains("open it once for writing"),
        "{told}"
    );
    let ledger = riders(&place, "1");
    ledger.file_sheet("riders", 0, vec![1], crate::stamp("fleet")).wait().unwrap();
    place.is_sound();
}

#[test]
fn a_ledger_of_a_newer_format_is_refused() {
    on_every_store(|place| {
        drop(riders(place, "1"));
        if place.is_postgres() {
            let Address::Postgres(url) = place.address() else { panic!("not PostgreSQL") };
            let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
            let sql = "UPDATE eke_meta SET value = '99' WHERE name = 'format'";
            client.batch_execute(sql).unwrap();
        } else {
            place.tamper("PRAGMA user_version = 99");
        }
        let told = sentence(place);
        assert!(told.contains("format 99") && told.contains("use the newer eke"), "{told}");
    });
}

#[test]
fn a_file_that_is_no_ledger_is_left_alone() {
    let place = Place::file();
    std::fs::write(place.path(), "a recipe for soup, not a ledger".repeat(100)).unwrap();
    assert!(sentence(&place).ends_with("its file is not an eke ledger: look at the path"));
    let place = Place::file();
    let other = Connection::open(place.path()).unwrap();
    other.execute_batch("CREATE TABLE soup (recipe TEXT)").unwrap();
    drop(other);
    assert!(sentence(&place).ends_with("its file is not an eke ledger: look at the path"));
    let missing = Address::File(place.folder().join("none")).read_only().err().unwrap();
    assert!(missing.to_string().ends_with("there is no such file: look at the path"), "{missing}");
    let nowhere = Address::File(place.folder().join("no/folder"));
    let told = Ledger::open(&nowhere).unwrap_err().to_string();
    assert!(told.contains("cannot be opened: look at the path"), "{told}");
}

#[test]
fn a_damaged_file_is_said_to_be_damaged_and_nothing_is_answered() {
    let place = Place::file();
    let ledger = riders(&place, "1");
    for number in 0..50 {
        buy(&ledger, &format!("q-{number}"), spend("0.01"));
    }
    drop(ledger);
    let mut bytes = std::fs::read(place.path()).unwrap();
    for byte in &mut bytes[4096..] {
        *byte ^= 0x5a;
    }
    std::fs::write(place.path(), bytes).unwrap();
    let told = match Ledger::open(&place.address()) {
        Err(error) => error.to_string(),
        Ok(ledger) => charge(&ledger, "q", spend("0.01")).unwrap_err().to_string(),
    };
    assert!(told.contains("its file is damaged"), "{told}");
}

#[test]
fn a_full_disk_stops_the_ledger_and_no_charge_is_lost() {
    let place = Place::file();
    drop(riders(&place, "1"));
    // A limit makes SQLite believe that its disk ends soon.
    let store = Sqlite::open(&place.path()).unwrap();
    let limited = store.limited_to(40).unwrap();
    let ledger = Ledger::over(Box::new(limited), place.store()).unwrap();
    let mut charged = 0;
    let error = loop {
        let key = format!("q-{charged}");
        match charge(&ledger, &key, spend("0.001")) {
            Ok(_) => charged += 1,
            Err(error) => break error,
        }
    };
    assert!(error.to_string().contains("the disk is full: make room"), "{error}");
    assert!(matches!(charge(&ledger, "late", spend("0.001")), Err(LedgerError::Stopped(_))));
    assert!(ledger.account("riders").wait().is_err());
    drop(ledger);
    let ledger = place.ledger();
    assert_eq!(spent(&ledger, "riders").grains(), charged * 10_u128.pow(27));
    buy(&ledger, "more", spend("0.001"));
    place.is_sound();
}

#[test]
fn a_file_that_may_not_be_written_says_so() {
    let place = Place::file();
    drop(riders(&place, "1"));
    let store = Sqlite::read_only(&place.path()).unwrap();
    let ledger = Ledger::over(Box::new(store), place.store()).unwrap();
    let told = charge(&ledger, "q", spend("0.1")).unwrap_err().to_string();
    assert!(told.contains("its file or its disk is read-only: make it writable"), "{told}");
    drop(ledger);
    place.is_sound();
}

#[test]
fn a_locked_file_is_waited_for_a_minute_and_said_and_the_ledger_goes_on() {
    let place = Place::file();
    drop(riders(&place, "1"));
    let impatient = || Box::new(Sqlite::open(&place.path()).unwrap().impatient().unwrap());
    let clock = Arc::new(Clock::default());
    let waiting: Arc<dyn Waiting> = clock.clone();
    let ledger = Ledger::over_waiting(impatient(), impatient(), waiting).unwrap();
    let other = Connection::open(place.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let budget = ledger.account("riders").wait().unwrap().unwrap().budget().clone();
    let opened = || ledger.open_account("others", budget.clone(), Stamp::now("steward")).wait();
    let sheet = || ledger.file_sheet("riders", 0, "{}", Stamp::now("steward")).wait().map(|_| ());
    let charged = || charge(&ledger, "q", spend("0.1")).map(|_| ());
    let asked: [&dyn Fn() -> Result<(), LedgerError>; 3] = [&opened, &sheet, &charged];
    for (number, ask) in asked.into_iter().enumerate() {
        let busy = ask().unwrap_err();
        assert!(matches!(&busy, LedgerError::Busy(_)), "{busy}");
        assert!(busy.to_string().contains("for a minute"), "{busy}");
        let minutes = u32::try_from(number).unwrap() + 1;
        assert_eq!(clock.now(), LONGEST * minutes);
        assert_eq!(clock.said(), number + 1);
    }
    // A reader does not wait for writers, unless they let nobody read.
    assert!(ledger.account("riders").wait().is_ok());
    other.execute_batch("COMMIT").unwrap();
    buy(&ledger, "q", spend("0.1"));
    assert_eq!(clock.now(), LONGEST * 3);
    place.is_sound();
}

/// A ledger that nobody else may even read is waited for when it is opened.
#[test]
fn a_ledger_that_is_locked_when_it_is_opened_is_waited_for() {
    let place = Place::file();
    drop(riders(&place, "1"));
    let other = Connection::open(place.path()).unwrap();
    other.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").unwrap();
    let clock = Arc::new(Clock { haste: 1_500, ..Clock::default() });
    let said = Ledger::open_waiting(&place.address(), clock.clone()).err().unwrap().to_string();
    assert!(said.contains("another program has held its lock"), "{said}");
    assert_eq!((clock.now(), clock.said()), (LONGEST, 1));
}

/// A clock that stands still while nobody waits.
#[derive(Default)]
struct Clock {
    state: Mutex<(Duration, usize)>,
    /// How many times as long every pause takes, beyond once.
    haste: u32,
}

impl Clock {
    fn said(&self) -> usize {
        self.state.lock().unwrap().1
    }
}

impl Waiting for Clock {
    fn now(&self) -> Duration {
        self.state.lock().unwrap().0
    }

    fn pause(&self, time: Duration) {
        self.state.lock().unwrap().0 += time * self.haste.max(1);
    }

    fn say(&self, sentence: &str) {
        assert!(sentence.contains("waiting for it"), "{sentence}");
        self.state.lock().unwrap().1 += 1;
    }
}

#[cfg(unix)]
#[test]
fn a_new_ledger_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::file();
    let ledger = riders(&place, "1");
    buy(&ledger, "q", spend("0.1"));
    for file in ["eke.ledger", "eke.ledger-wal", "eke.ledger-shm"] {
        let mode = std::fs::metadata(place.folder().join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
    assert_eq!(place.address().exposed(), None);
    let open = std::fs::Permissions::from_mode(0o640);
    std::fs::set_permissions(place.path(), open).unwrap();
    let told = place.address().exposed().unwrap();
    assert!(told.contains("its mode is 640") && told.contains("chmod 600"), "{told}");
}

#[test]
fn a_server_that_is_not_there_is_said_in_one_sentence() {
    let nobody = Address::Postgres("postgres://eke@127.0.0.1:1/none".into());
    let told = Ledger::open(&nobody).unwrap_err().to_string();
    assert!(told.contains("the connection to PostgreSQL was lost or could not be made"), "{told}");
    let nonsense = Address::Postgres("postgres://[nonsense".into());
    let told = Ledger::open(&nonsense).unwrap_err().to_string();
    assert!(told.contains("its address is not one"), "{told}");
}
