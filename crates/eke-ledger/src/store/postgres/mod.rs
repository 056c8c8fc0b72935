//! The shared store: a PostgreSQL database, for several programs on one budget.
//!
//! A page is written by one function in the database, in one round trip. Row locks are all that is
//! relied on: every row is compared with what the page says was there before, and accounts are
//! locked in the order of their names.

mod open;
mod page;
mod read;

use std::collections::HashMap;
use std::sync::Arc;

use ::postgres::error::SqlState;
use ::postgres::types::ToSql;
use ::postgres::{Client, Error, Row, Statement};

use crate::error::StoreError;
use crate::store::grains::unsigned;
use crate::store::{Appended, Page, Store};

/// A ledger in a PostgreSQL database.
pub struct Postgres {
    client: Client,
    ledger: String,
    statements: HashMap<&'static str, Statement>,
    in_transaction: bool,
}

impl std::fmt::Debug for Postgres {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Postgres").field("ledger", &self.ledger).finish_non_exhaustive()
    }
}

impl Postgres {
    fn statement(&mut self, sql: &'static str) -> Result<Statement, Error> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(sql)?;
        self.statements.insert(sql, statement.clone());
        Ok(statement)
    }

    fn rows(
        &mut self,
        sql: &'static str,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, StoreError> {
        let statement = self.statement(sql).map_err(|error| failed(&error))?;
        self.client.query(&statement, parameters).map_err(|error| failed(&error))
    }

    fn begin(&mut self, how: &str) -> Result<(), StoreError> {
        self.client.batch_execute(how).map_err(|error| failed(&error))?;
        self.in_transaction = true;
        Ok(())
    }

    fn rollback(&mut self) -> Result<(), StoreError> {
        if std::mem::take(&mut self.in_transaction) {
            self.client.batch_execute("ROLLBACK").map_err(|error| broken(&error))?;
        }
        Ok(())
    }

    fn call(&mut self, page: &Page) -> Result<(), Wrong> {
        let (object, blobs) = page::json(page).ok_or(Wrong::Money)?;
        let statement = self.statement("SELECT eke_append($1::text::jsonb, $2::bytea[])")?;
        self.client.query(&statement, &[&object, &blobs.all])?;
        Ok(())
    }
}

/// Why a page was not taken.
enum Wrong {
    Money,
    Database(Error),
}

impl From<Error> for Wrong {
    fn from(error: Error) -> Self {
        Self::Database(error)
    }
}

impl Store for Postgres {
    fn ledger(&self) -> &str {
        &self.ledger
    }

    fn is_remote(&self) -> bool {
        true
    }

    fn lock(&mut self, accounts: &[Arc<str>]) -> Result<Vec<Option<u64>>, StoreError> {
        self.begin("BEGIN ISOLATION LEVEL READ COMMITTED")?;
        let names: Vec<&str> = accounts.iter().map(|name| &**name).collect();
        let sql = "SELECT name, lines FROM eke_account WHERE name = ANY($1) \
                   ORDER BY name FOR UPDATE";
        let rows = match self.rows(sql, &[&names]) {
            Ok(rows) => rows,
            Err(error) => {
                if matches!(error, StoreError::Busy(_)) {
                    self.rollback()?;
                }
                return Err(error);
            }
        };
        let lines: HashMap<String, i64> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
        Ok(names.iter().map(|&name| lines.get(name).copied().map(unsigned)).collect())
    }

    fn unlock(&mut self) -> Result<(), StoreError> {
        self.rollback()
    }

    fn append(&mut self, page: &Page) -> Result<Appended, StoreError> {
        match self.call(page) {
            Ok(()) => {
                if std::mem::take(&mut self.in_transaction) {
                    // Whatever goes wrong here, the page may be on disk or not.
                    self.client.batch_execute("COMMIT").map_err(|error| broken(&error))?;
                }
                Ok(Appended::Done)
            }
            Err(Wrong::Money) => {
                Err(StoreError::Broken("an account holds more than eke counts".into()))
            }
            Err(Wrong::Database(error)) if is_conflict(&error) => {
                self.rollback()?;
                Ok(Appended::Conflict(sentence(&error)))
            }
            Err(Wrong::Database(error)) => {
                let error = failed(&error);
                if matches!(error, StoreError::Busy(_)) {
                    self.rollback()?;
                }
                Err(error)
            }
        }
    }

    fn snapshot(&mut self) -> Result<(), StoreError> {
        self.begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    }
}

/// Something that is not as the page says, or a deadlock that the database ended.
fn is_conflict(error: &Error) -> bool {
    let Some(code) = error.code() else { return false };
    let codes = [
        SqlState::UNIQUE_VIOLATION,
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
    ];
    code.code() == "EK001" || codes.contains(code)
}

/// An error while nothing is half-written: the lock of somebody else is not the end.
fn failed(error: &Error) -> StoreError {
    if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) {
        return StoreError::Busy(
            "another program has held an account's lock for a minute: end it, or ask again later"
                .into(),
        );
    }
    broken(error)
}

/// An error after which nobody knows what is on disk.
fn broken(error: &Error) -> StoreError {
    StoreError::Broken(sentence(error))
}

/// What an error means to the keeper of the ledger. It never holds the connection string.
fn sentence(error: &Error) -> String {
    let Some(inner) = error.as_db_error() else {
        return "the connection to PostgreSQL was lost or could not be made: look at the server and the address".into();
    };
    let code = inner.code();
    if *code == SqlState::CHECK_VIOLATION {
        return "PostgreSQL refused an amount that eke had approved, so one of them is wrong: run `eke ledger verify`".into();
    }
    if *code == SqlState::DISK_FULL {
        return "the disk of PostgreSQL is full: make room".into();
    }
    if *code == SqlState::READ_ONLY_SQL_TRANSACTION {
        return "PostgreSQL is read-only: connect to the server that takes writes".into();
    }
    format!("PostgreSQL could not be used: {} ({})", inner.message(), code.code())
}
