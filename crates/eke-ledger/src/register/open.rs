//! Making and opening a register in a file.

use std::path::Path;

use rusqlite::{Connection, OpenFlags, OptionalExtension, TransactionBehavior};

use super::people::People;
use super::{Happened, Register, RegisterError, Terms, entry};
use crate::Stamp;
use crate::patience::LONGEST;
use crate::store::sqlite::{check_version, pragma, sentence, settings};

/// `eker`: what the file says it is.
const APPLICATION: i64 = 0x656b_6572;
/// How the format came to be, a step a version. Steps are added, never changed.
const STEPS: [&str; 1] = [include_str!("1.sql")];
/// The version of the format that this program writes.
const FORMAT: i64 = 1;

impl Register {
    /// Opens the register in a file. It must be there. Its whole journal is read, and its accounts
    /// are compared with it.
    ///
    /// # Errors
    /// It cannot be opened, is not a register, is damaged, or was written by a newer eke.
    pub fn open(path: &Path) -> Result<Self, RegisterError> {
        if !path.is_file() {
            return Err(cannot(path, "there is no such file: look at the path"));
        }
        let mut register = Self::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        register.verify()?;
        Ok(register)
    }

    /// Opens the register in a file, and makes it for these terms if there is none.
    ///
    /// # Errors
    /// It was made for other terms; it cannot be opened, is not a register, is damaged, or was
    /// written by a newer eke.
    pub fn create(path: &Path, terms: &Terms, stamp: &Stamp) -> Result<Self, RegisterError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let mut connection = prepare(path, flags)?;
        make(&mut connection, terms, stamp).map_err(|error| match error {
            Made::Said(why) => cannot(path, &why),
            Made::Failed(error) => error,
        })?;
        let mut register = Self::with(path, connection)?;
        if register.terms != *terms {
            let pinned = register.terms.to_string();
            return Err(RegisterError::OtherTerms { pinned });
        }
        register.verify()?;
        Ok(register)
    }

    fn connect(path: &Path, flags: OpenFlags) -> Result<Self, RegisterError> {
        Self::with(path, prepare(path, flags)?)
    }

    fn with(path: &Path, connection: Connection) -> Result<Self, RegisterError> {
        let format = pragma(&connection, "user_version")?;
        let application = pragma(&connection, "application_id")?;
        if application != APPLICATION {
            return Err(cannot(path, "its file is not a register of people: look at the path"));
        }
        if format != FORMAT {
            return Err(cannot(path, &other_format(format)));
        }
        let sql = "SELECT value FROM meta WHERE name = 'register'";
        let name: Option<String> = connection.query_row(sql, [], |row| row.get(0)).optional()?;
        let name = name.ok_or_else(|| RegisterError::Damaged("it has no name".into()))?;
        let Happened::Made { terms } = entry::read(&connection, 0)?.what else {
            return Err(RegisterError::Damaged("its journal does not say what it is for".into()));
        };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = Some(folder.unwrap_or(Path::new(".")).to_owned());
        Ok(Self { connection, name, terms, stopped: None, folder })
    }
}

fn prepare(path: &Path, flags: OpenFlags) -> Result<Connection, RegisterError> {
    let said = |why: String| cannot(path, &why);
    check_version(rusqlite::version_number(), rusqlite::version()).map_err(said)?;
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if flags.contains(OpenFlags::SQLITE_OPEN_CREATE) {
        // What cannot be made cannot be opened, which SQLite says.
        let _ = crate::store::private::make(path);
    }
    let connection =
        Connection::open_with_flags(path, flags).map_err(|error| said(sentence(&error)))?;
    connection.busy_timeout(LONGEST)?;
    let tables: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(|error| said(not_a_register(&error)))?;
    let application = pragma(&connection, "application_id")?;
    let format = pragma(&connection, "user_version")?;
    if application != APPLICATION && (tables > 0 || application != 0) {
        return Err(cannot(path, "its file is not a register of people: look at the path"));
    }
    if format > FORMAT {
        return Err(cannot(path, &other_format(format)));
    }
    settings(&connection).map_err(said)?;
    connection.set_prepared_statement_cache_capacity(32);
    Ok(connection)
}

enum Made {
    Said(String),
    Failed(RegisterError),
}

impl From<rusqlite::Error> for Made {
    fn from(error: rusqlite::Error) -> Self {
        Self::Failed(error.into())
    }
}

/// Makes the tables and the first line of the journal, unless somebody has.
fn make(connection: &mut Connection, terms: &Terms, stamp: &Stamp) -> Result<(), Made> {
    if pragma(connection, "user_version")? == FORMAT {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Somebody else may have come first.
    let format = pragma(&transaction, "user_version")?;
    if format == FORMAT {
        return Ok(());
    }
    let done = usize::try_from(format).map_err(|_| Made::Said(other_format(format)))?;
    for step in STEPS.iter().skip(done) {
        transaction.execute_batch(step)?;
    }
    if format == 0 {
        let sql =
            "INSERT INTO meta VALUES ('register', lower(hex(randomblob(16)))) RETURNING value";
        let name: String = transaction.query_row(sql, [], |row| row.get(0))?;
        let made = Happened::Made { terms: terms.clone() };
        let nobody = People::none();
        entry::append(&transaction, &name, None, (stamp, made), (0, nobody.seal()))
            .map_err(Made::Failed)?;
        transaction.pragma_update(None, "application_id", APPLICATION)?;
    }
    transaction.pragma_update(None, "user_version", FORMAT)?;
    Ok(transaction.commit()?)
}

fn not_a_register(error: &rusqlite::Error) -> String {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::NotADatabase) => {
            "its file is not a register of people: look at the path".into()
        }
        _ => sentence(error),
    }
}

fn other_format(format: i64) -> String {
    format!(
        "it has format {format}, and this eke knows formats up to {FORMAT}: use the newer eke that wrote it"
    )
}

fn cannot(path: &Path, why: &str) -> RegisterError {
    RegisterError::Open(format!("the register {} cannot be opened: {why}", path.display()))
}
