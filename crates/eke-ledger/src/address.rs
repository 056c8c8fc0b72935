//! Where a ledger lies.

use std::convert::Infallible;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::postgres::Postgres;
use crate::sqlite::Sqlite;
use crate::{LedgerError, Store};

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
    pub(crate) fn open(&self) -> Result<Box<dyn Store>, LedgerError> {
        Ok(match self {
            Self::File(path) => Box::new(Sqlite::open(path)?),
            Self::Postgres(url) => Box::new(Postgres::open(url)?),
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
