//! Making, opening and upgrading a ledger in a file.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::{HELD, Sqlite, sentence};
use crate::LedgerError;
use crate::patience::{Patience, Silently, Waiting};

/// `ekel`: what the file says it is.
const APPLICATION: i64 = 0x656b_656c;
/// The oldest SQLite without the defect that could lose a reset write-ahead log.
const OLDEST_SQLITE: i32 = 3_051_003;
/// How the format came to be, a step a version. Steps are added, never changed.
const STEPS: [&str; 2] = [include_str!("1.sql"), include_str!("2.sql")];
/// The version of the format that this program writes.
const FORMAT: i64 = 2;
/// How long SQLite waits for another program's lock before it is asked again.
const TURN: Duration = Duration::from_secs(1);

impl Sqlite {
    /// Opens the ledger in a file, and makes it if there is none.
    ///
    /// # Errors
    /// It cannot be opened, is not a ledger, or was written by a newer eke.
    pub fn open(path: &Path) -> Result<Self, LedgerError> {
        Self::open_waiting(path, &Silently::default())
    }

    pub(crate) fn open_waiting(path: &Path, waiting: &dyn Waiting) -> Result<Self, LedgerError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let mut patience = Patience::new(waiting);
        loop {
            match Self::open_with(path, flags) {
                Err(why) if why == HELD && patience.again() => {}
                opened => return opened.map_err(|why| cannot(path, &why)),
            }
        }
    }

    /// Opens the ledger in a file to read it. It must be there, and of this version.
    ///
    /// # Errors
    /// It cannot be opened, is not a ledger, or is of another version.
    pub fn read_only(path: &Path) -> Result<Self, LedgerError> {
        let opened = if path.is_file() {
            // Readers of a write-ahead log lock it, so the file is opened for writing; that
            // nothing is written is asked of SQLite below.
            Self::open_with(path, OpenFlags::SQLITE_OPEN_READ_WRITE).or_else(|error| {
                Self::open_with(path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(|_| error)
            })
        } else {
            Err("there is no such file: look at the path".into())
        };
        let opened = opened.and_then(|store| {
            store.connection.pragma_update(None, "query_only", true).map_err(|e| sentence(&e))?;
            Ok(store)
        });
        opened.map_err(|why| cannot(path, &why))
    }

    /// The same store on a disk that ends after n pages of 4 kB, for tests.
    ///
    /// # Errors
    /// The store failed.
    #[doc(hidden)]
    pub fn limited_to(self, pages: u32) -> Result<Self, LedgerError> {
        let set = format!("PRAGMA max_page_count = {pages}");
        let limited = self.connection.query_row(&set, [], |row| row.get::<_, i64>(0));
        limited.map_err(|error| LedgerError::Open(sentence(&error).into()))?;
        Ok(self)
    }

    /// The same store, that waits for nobody else's lock, for tests.
    ///
    /// # Errors
    /// The store failed.
    #[doc(hidden)]
    pub fn impatient(self) -> Result<Self, LedgerError> {
        let set = self.connection.busy_timeout(Duration::ZERO);
        set.map_err(|error| LedgerError::Open(sentence(&error).into()))?;
        Ok(self)
    }

    fn open_with(path: &Path, flags: OpenFlags) -> Result<Self, String> {
        check_version(rusqlite::version_number(), rusqlite::version())?;
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        if flags.contains(OpenFlags::SQLITE_OPEN_CREATE) {
            // What cannot be made cannot be opened, which SQLite says.
            let _ = crate::store::private::make(path);
        }
        let mut connection =
            Connection::open_with_flags(path, flags).map_err(|error| sentence(&error))?;
        connection.busy_timeout(TURN).map_err(|error| sentence(&error))?;
        let writes = flags.contains(OpenFlags::SQLITE_OPEN_READ_WRITE);
        let makes = flags.contains(OpenFlags::SQLITE_OPEN_CREATE);
        check(&connection, makes)?;
        if writes {
            settings(&connection)?;
            upgrade(&mut connection, makes)?;
        }
        let format = pragma(&connection, "user_version").map_err(|error| sentence(&error))?;
        if format != FORMAT {
            return Err(older(format));
        }
        let ledger = connection
            .query_row("SELECT value FROM meta WHERE name = 'ledger'", [], |row| row.get(0))
            .map_err(|error| sentence(&error))?;
        connection.set_prepared_statement_cache_capacity(64);
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = Some(folder.unwrap_or(Path::new(".")).to_owned());
        Ok(Self { connection, ledger, appended: 0, folder })
    }
}

pub(crate) fn check_version(number: i32, version: &str) -> Result<(), String> {
    if number < OLDEST_SQLITE {
        return Err(format!(
            "SQLite {version} can lose what it wrote: build eke with 3.51.3 or later"
        ));
    }
    Ok(())
}

fn cannot(path: &Path, why: &str) -> LedgerError {
    LedgerError::Open(format!("the ledger {} cannot be opened: {why}", path.display()).into())
}

fn older(format: i64) -> String {
    format!(
        "it has format {format}, and this eke reads format {FORMAT}: open it once for writing, which upgrades it"
    )
}

pub(crate) fn pragma(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0))
}

/// Checks that the file is ours, or empty where it may be made.
fn check(connection: &Connection, makes: bool) -> Result<(), String> {
    let read = |name| pragma(connection, name).map_err(|error| sentence(&error));
    let tables: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(|error| sentence(&error))?;
    let (application, format) = (read("application_id")?, read("user_version")?);
    if application != APPLICATION && (tables > 0 || application != 0 || !makes) {
        return Err("its file is not an eke ledger: look at the path".into());
    }
    if format > FORMAT {
        return Err(format!(
            "it has format {format}, and this eke knows formats up to {FORMAT}: use the newer eke that wrote it"
        ));
    }
    Ok(())
}

/// How the file is written: ahead of itself, and synced at every commit.
pub(crate) fn settings(connection: &Connection) -> Result<(), String> {
    let mode: String = connection
        .query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))
        .map_err(|error| sentence(&error))?;
    if mode != "wal" {
        return Err(format!(
            "its disk keeps no write-ahead log (mode `{mode}`): put it on another"
        ));
    }
    let wanted = [
        ("synchronous", 2),
        ("fullfsync", 1),
        ("checkpoint_fullfsync", 1),
        ("wal_autocheckpoint", 0),
        ("trusted_schema", 0),
        ("cell_size_check", 1),
    ];
    for (name, value) in wanted {
        let set = format!("PRAGMA {name} = {value}");
        // Some answer with their value, some with nothing.
        let mut statement = connection.prepare(&set).map_err(|error| sentence(&error))?;
        let mut rows = statement.query([]).map_err(|error| sentence(&error))?;
        while rows.next().map_err(|error| sentence(&error))?.is_some() {}
    }
    let synchronous = pragma(connection, "synchronous").map_err(|error| sentence(&error))?;
    if synchronous != 2 {
        return Err("SQLite does not sync every commit: build eke with SQLite as it comes".into());
    }
    Ok(())
}

/// Makes the tables, or those that are missing.
fn upgrade(connection: &mut Connection, makes: bool) -> Result<(), String> {
    let said = |error: rusqlite::Error| sentence(&error);
    if pragma(connection, "user_version").map_err(said)? == FORMAT {
        return Ok(());
    }
    if !makes {
        return Ok(());
    }
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(said)?;
    // Somebody else may have come first.
    let format = pragma(&transaction, "user_version").map_err(said)?;
    let done = usize::try_from(format).map_err(|_| older(format))?;
    for step in STEPS.iter().skip(done) {
        transaction.execute_batch(step).map_err(said)?;
    }
    if format == 0 {
        transaction
            .execute("INSERT INTO meta VALUES ('ledger', lower(hex(randomblob(16))))", [])
            .map_err(said)?;
        transaction.pragma_update(None, "application_id", APPLICATION).map_err(said)?;
    }
    transaction.pragma_update(None, "user_version", FORMAT).map_err(said)?;
    transaction.commit().map_err(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sqlite_that_can_lose_what_it_wrote_is_refused() {
        assert!(check_version(3_040_001, "3.40.1").is_err());
        assert!(check_version(3_051_002, "3.51.2").is_err());
        assert!(check_version(3_051_003, "3.51.3").is_ok());
        assert!(check_version(rusqlite::version_number(), rusqlite::version()).is_ok());
    }
}
