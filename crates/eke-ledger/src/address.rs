//! Where a ledger lies.

use std::convert::Infallible;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::LedgerError;
use crate::patience::Waiting;
use crate::store::Store;
use crate::store::postgres::Postgres;
use crate::store::private;
use crate::store::sqlite::Sqlite;

/// Where a ledger lies: a file, or a PostgreSQL database.
///
/// As text a database starts with `postgres://` or `postgresql://`, and all else is a path.
#[derive(Clone, PartialEq, Eq)]
pub enum Address {
    /// A SQLite file.
    File(PathBuf),
    /// A PostgreSQL database, by its connection string.
    Postgres(String),
}

impl Address {
    pub(crate) fn open(&self, waiting: &dyn Waiting) -> Result<Box<dyn Store>, LedgerError> {
        Ok(match self {
            Self::File(path) => Box::new(Sqlite::open_waiting(path, waiting)?),
            Self::Postgres(url) => Box::new(Postgres::open(url)?),
        })
    }

    /// Whether there is a ledger: a file that holds something. A database is taken to have one.
    #[must_use]
    pub fn is_begun(&self) -> bool {
        match self {
            Self::File(path) => std::fs::metadata(path).is_ok_and(|file| file.len() > 0),
            Self::Postgres(_) => true,
        }
    }

    /// What is wrong with who may read the files of a ledger; none if only their owner may, or the
    /// system does not say.
    #[must_use]
    pub fn exposed(&self) -> Option<String> {
        let Self::File(path) = self else { return None };
        private::exposed(path).map(|mode| {
            let path = path.display();
            format!(
                "{path} may be read by others (its mode is {mode:o}), and it holds every answer and the key of the hash: chmod 600 {path}"
            )
        })
    }

    /// Opens the store to read it: it must be there, and of this version.
    ///
    /// # Errors
    /// It cannot be opened, is not a ledger, or is of another version.
    pub fn read_only(&self) -> Result<Box<dyn Store>, LedgerError> {
        Ok(match self {
            Self::File(path) => Box::new(Sqlite::read_only(path)?),
            Self::Postgres(url) => Box::new(Postgres::read_only(url)?),
        })
    }
}

impl FromStr for Address {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let is_url = text.starts_with("postgres://") || text.starts_with("postgresql://");
        Ok(if is_url { Self::Postgres(text.to_owned()) } else { Self::File(text.into()) })
    }
}

/// A connection string may hold a password, so it is not printed.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Postgres(_) => f.write_str("in PostgreSQL"),
        }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}
