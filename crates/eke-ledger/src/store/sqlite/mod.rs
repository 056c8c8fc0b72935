//! The embedded store: one SQLite file, written ahead of itself and synced at every commit.
//!
//! Checkpoints are ours: one that fails must stop the ledger, and SQLite's own would be silent
//! about it.

mod open;
mod read;
mod write;

pub(crate) use open::{check_version, pragma, settings};

use std::path::PathBuf;
use std::sync::Arc;

use rusqlite::{Connection, ErrorCode};

use crate::error::StoreError;
use crate::store::{Appended, Page, Store};

/// How many bytes are appended before they are moved from the write-ahead log into the file.
const CHECKPOINT_BYTES: usize = 4 << 20;

/// What is said of a file that is damaged.
const DAMAGED: &str = "its file is damaged: restore a copy, and compare it with an anchor";
/// What is said of a file that another program holds.
pub(crate) const HELD: &str =
    "another program has held its lock for too long: end it, or ask again later";

/// A ledger in one SQLite file, beside which SQLite keeps its write-ahead log.
#[derive(Debug)]
pub struct Sqlite {
    connection: Connection,
    ledger: String,
    /// Bytes appended since the last checkpoint, about.
    appended: usize,
    /// The folder of the file, until it has been synced.
    folder: Option<PathBuf>,
}

impl Sqlite {
    fn rollback(&mut self) -> Result<(), StoreError> {
        if !self.connection.is_autocommit() {
            self.connection.execute_batch("ROLLBACK").map_err(|error| broken(&error))?;
        }
        Ok(())
    }

    /// Has SQLite look through the structure of its file.
    pub(crate) fn check_pages(&self) -> Result<(), StoreError> {
        let check = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
        let told: String = self
            .connection
            .query_row("PRAGMA integrity_check(1)", [], check)
            .map_err(|error| failed(&error))?;
        if told == "ok" { Ok(()) } else { Err(StoreError::Broken(DAMAGED.into())) }
    }

    /// Makes sure that the log is found again: it may be new, and SQLite does not tell when the
    /// folder that names it could not be synced.
    fn sync_folder(&mut self) -> Result<(), StoreError> {
        let Some(folder) = self.folder.take() else { return Ok(()) };
        // Folders cannot be opened or synced everywhere; where they can, it must succeed.
        #[cfg(unix)]
        std::fs::File::open(&folder).and_then(|folder| folder.sync_all()).map_err(|error| {
            StoreError::Broken(format!("the folder of its file could not be synced: {error}"))
        })?;
        Ok(())
    }

    /// Moves what was appended into the file. It does not wait for readers.
    fn checkpoint(&mut self) -> Result<(), StoreError> {
        self.connection
            .query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| row.get::<_, i64>(0))
            .map_err(|error| broken(&error))?;
        self.appended = 0;
        Ok(())
    }
}

impl Store for Sqlite {
    fn ledger(&self) -> &str {
        &self.ledger
    }

    fn is_remote(&self) -> bool {
        false
    }

    fn lock(&mut self, accounts: &[Arc<str>]) -> Result<Vec<Option<u64>>, StoreError> {
        self.connection.execute_batch("BEGIN IMMEDIATE").map_err(|error| failed(&error))?;
        self.account_lines(accounts).map_err(|error| broken(&error))
    }

    fn unlock(&mut self) -> Result<(), StoreError> {
        self.rollback()
    }

    fn append(&mut self, page: &Page) -> Result<Appended, StoreError> {
        if self.connection.is_autocommit() {
            self.connection.execute_batch("BEGIN IMMEDIATE").map_err(|error| failed(&error))?;
        }
        match self.write(page) {
            Ok(None) => {}
            Ok(Some(conflict)) => {
                self.rollback()?;
                return Ok(Appended::Conflict(conflict));
            }
            Err(error) => {
                let conflict = is_conflict(&error);
                self.rollback()?;
                return if conflict {
                    Ok(Appended::Conflict(error.to_string()))
                } else {
                    Err(broken(&error))
                };
            }
        }
        // Whatever goes wrong from here on, the page may be on disk or not.
        self.connection.execute_batch("COMMIT").map_err(|error| broken(&error))?;
        self.sync_folder()?;
        self.appended += size(page);
        if self.appended > CHECKPOINT_BYTES {
            self.checkpoint()?;
        }
        Ok(Appended::Done)
    }

    fn snapshot(&mut self) -> Result<(), StoreError> {
        self.connection.execute_batch("BEGIN").map_err(|error| failed(&error))
    }
}

/// How much a page appends, about.
fn size(page: &Page) -> usize {
    let blob = |bytes: &Option<Arc<[u8]>>| bytes.as_ref().map_or(0, |bytes| bytes.len());
    let lines: usize = page.lines.iter().map(|line| line.body.len() + 64).sum();
    let answers: usize = page.answers.iter().map(|answer| answer.body.len()).sum();
    let plans: usize = page.points.iter().map(|point| blob(&point.plan)).sum();
    let rounds: usize = page.draws.iter().map(|draw| blob(&draw.round)).sum();
    let states: usize = page.releases.iter().map(|release| blob(&release.state)).sum();
    let sheets: usize = page.sheets.iter().map(|sheet| sheet.bytes.len()).sum();
    // Pages of the file that change although little on them does.
    let touched = 4096 * (4 + page.accounts.len());
    lines + answers + plans + rounds + states + sheets + touched
}

/// A key or an increment that is there already. Other constraints are a matter of money.
fn is_conflict(error: &rusqlite::Error) -> bool {
    use rusqlite::ffi::{SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE};
    let code = error.sqlite_error().map(|error| error.extended_code);
    matches!(code, Some(SQLITE_CONSTRAINT_PRIMARYKEY | SQLITE_CONSTRAINT_UNIQUE))
}

/// An error while nothing is half-written: the lock of somebody else is not the end.
fn failed(error: &rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy(
            "another program has held the ledger's lock for a minute: end it, or ask again later"
                .into(),
        ),
        _ => broken(error),
    }
}

/// An error after which nobody knows what is on disk.
fn broken(error: &rusqlite::Error) -> StoreError {
    StoreError::Broken(sentence(error))
}

/// What an error means to the keeper of the ledger.
pub(crate) fn sentence(error: &rusqlite::Error) -> String {
    use rusqlite::ffi::SQLITE_CONSTRAINT_CHECK;
    let Some(inner) = error.sqlite_error() else {
        return format!("its file does not hold what a ledger holds ({error})");
    };
    match inner.code {
        ErrorCode::DiskFull => "the disk is full: make room".into(),
        ErrorCode::ReadOnly => "its file or its disk is read-only: make it writable".into(),
        ErrorCode::CannotOpen => "its file cannot be opened: look at the path and who may read it".into(),
        ErrorCode::PermissionDenied | ErrorCode::AuthorizationForStatementDenied => {
            "its file may not be read or written by this user".into()
        }
        ErrorCode::NotADatabase => "its file is not an eke ledger: look at the path".into(),
        ErrorCode::DatabaseCorrupt => {
            DAMAGED.into()
        }
        ErrorCode::SystemIoFailure => format!(
            "the disk failed to read, write or sync (code {}): look at the disk, then run `eke ledger verify`",
            inner.extended_code
        ),
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
            HELD.into()
        }
        ErrorCode::ConstraintViolation if inner.extended_code == SQLITE_CONSTRAINT_CHECK => {
            "its file refused an amount that eke had approved, so one of them is wrong: run `eke ledger verify`".into()
        }
        _ => format!("its file could not be used ({error})"),
    }
}
