//! Reading rows.

use std::sync::Arc;

use eke_budget::PathId;
use rusqlite::types::Type;
use rusqlite::{Error, OptionalExtension, Params, Result, Row, params};

use super::{Sqlite, failed};
use crate::error::StoreError;
use crate::journal::LineRow;
use crate::store::grains::{self, AccountColumns};
use crate::store::{
    Census, Currencies, Draw, Held, Reads, Seen, StoredAccount, StoredLevel, StoredPath,
    StoredPoint, StoredRequest, StoredRound, census_sql,
};
use crate::{Digest, Key};

/// A round and its worst case.
type Round = (i64, Vec<u8>);

/// A column that does not hold what it should.
fn wrong(column: usize) -> Error {
    let why = "not what a ledger holds";
    Error::FromSqlConversionFailure(column, Type::Blob, why.into())
}

fn digest(row: &Row<'_>, column: usize) -> Result<Digest> {
    Digest::from_slice(row.get_ref(column)?.as_blob()?).ok_or_else(|| wrong(column))
}

fn path(row: &Row<'_>, column: usize) -> Result<PathId> {
    let bytes = row.get_ref(column)?.as_blob()?.try_into().map_err(|_| wrong(column))?;
    Ok(PathId::new(bytes))
}

fn key(row: &Row<'_>, column: usize) -> Result<Key> {
    Key::new(row.get_ref(column)?.as_str()?).map_err(|_| wrong(column))
}

fn level(row: &Row<'_>, first: usize) -> Result<StoredLevel> {
    let sensitivity: Option<String> = row.get(first + 3)?;
    let price = row.get_ref(first + 2)?.as_blob()?;
    Ok(StoredLevel {
        increments: row.get(first + 1)?,
        at: grains::charge(row.get(first)?, price).ok_or_else(|| wrong(first))?,
        sensitivity: sensitivity
            .map(|text| text.parse().map_err(|_| wrong(first + 3)))
            .transpose()?,
    })
}

impl Sqlite {
    pub(super) fn account_lines(&self, names: &[Arc<str>]) -> Result<Vec<Option<u64>>> {
        let mut statement =
            self.connection.prepare_cached("SELECT lines FROM account WHERE name = ?1")?;
        let mut lines = Vec::with_capacity(names.len());
        for name in names {
            let found: Option<i64> = statement.query_row([&**name], |row| row.get(0)).optional()?;
            lines.push(found.map(grains::unsigned));
        }
        Ok(lines)
    }

    /// An account and its rounds, in one statement: another program may write between two, and
    /// totals of one moment do not go with rounds of another.
    fn account_columns(&self, name: &str) -> Result<Option<(AccountColumns, Vec<Round>)>> {
        let sql = "SELECT name, budget, lines, head, next_sequence, next_round, rho_spent, \
                   rho_delta_spent, epsilon_taken, epsilon_spent, epsilon_delta_spent, \
                   rho_budget, rho_delta_budget, epsilon_budget, epsilon_delta_budget, \
                   round, worst \
                   FROM account LEFT JOIN round ON round.account = name WHERE name = ?1 ORDER BY round";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query([name])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let columns = AccountColumns {
            name: row.get(0)?,
            budget: row.get(1)?,
            lines: row.get(2)?,
            head: row.get(3)?,
            next_sequence: row.get(4)?,
            next_round: row.get(5)?,
            rho_spent: row.get(6)?,
            rho_delta_spent: row.get(7)?,
            epsilon_taken: row.get(8)?,
            epsilon_spent: row.get(9)?,
            epsilon_delta_spent: row.get(10)?,
            budgets: [row.get(11)?, row.get(12)?, row.get(13)?, row.get(14)?],
        };
        let mut rounds = Vec::new();
        let mut next = Some(row);
        while let Some(row) = next {
            if let Some(round) = row.get(15)? {
                rounds.push((round, row.get(16)?));
            }
            next = rows.next()?;
        }
        Ok(Some((columns, rounds)))
    }

    /// The row that a question finds.
    fn one<T>(
        &self,
        sql: &str,
        parameters: impl Params,
        read: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<Option<T>, StoreError> {
        let statement = self.connection.prepare_cached(sql);
        let row = statement.and_then(|mut asked| asked.query_row(parameters, read).optional());
        row.map_err(|error| failed(&error))
    }

    /// All rows that a question finds.
    fn all<T>(
        &self,
        sql: &str,
        parameters: impl Params,
        read: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let statement = self.connection.prepare_cached(sql);
        let rows = statement.and_then(|mut asked| asked.query_map(parameters, read)?.collect());
        rows.map_err(|error| failed(&error))
    }
}

impl Reads for Sqlite {
    fn account(&mut self, name: &str) -> Result<Option<StoredAccount>, StoreError> {
        let columns = self.account_columns(name).map_err(|error| failed(&error))?;
        let Some((columns, rounds)) = columns else { return Ok(None) };
        columns.read(&rounds).map(Some).ok_or_else(|| failed(&wrong(1)))
    }

    fn names(&mut self, after: Option<&str>, most: u32) -> Result<Vec<Arc<str>>, StoreError> {
        let sql = "SELECT name FROM account WHERE name > ?1 ORDER BY name LIMIT ?2";
        self.all(sql, params![after.unwrap_or(""), most], |row| row.get(0))
    }

    fn lines(&mut self, account: &str, from: u64, most: u32) -> Result<Vec<LineRow>, StoreError> {
        let sql = "SELECT line, body, digest FROM journal WHERE account = ?1 AND line >= ?2 \
                   ORDER BY line LIMIT ?3";
        let name: Arc<str> = account.into();
        self.all(sql, params![account, grains::signed(from), most], |row| {
            Ok(LineRow {
                account: Arc::clone(&name),
                line: grains::unsigned(row.get(0)?),
                body: row.get(1)?,
                digest: digest(row, 2)?,
            })
        })
    }

    fn level(
        &mut self,
        account: &str,
        path: PathId,
        currency: Currencies,
    ) -> Result<Option<StoredLevel>, StoreError> {
        let sql = "SELECT currency, increments, price, sensitivity FROM level \
                   WHERE account = ?1 AND path = ?2 AND currency = ?3";
        let currency = grains::currency(currency);
        self.one(sql, params![account, path.digest(), currency], |row| level(row, 0))
    }

    fn levels(
        &mut self,
        account: &str,
        after: Option<(PathId, Currencies)>,
        most: u32,
    ) -> Result<Vec<(PathId, StoredLevel)>, StoreError> {
        let sql = "SELECT path, currency, increments, price, sensitivity FROM level \
                   WHERE account = ?1 AND (path, currency) > (?2, ?3) \
                   ORDER BY path, currency LIMIT ?4";
        let after_currency = after.map_or(-1, |(_, currency)| grains::currency(currency));
        let after = after.map_or([0; 32], |(path, _)| *path.digest());
        self.all(sql, params![account, after, after_currency, most], |row| {
            Ok((path(row, 0)?, level(row, 1)?))
        })
    }

    fn request(&mut self, key: &Key) -> Result<Option<StoredRequest>, StoreError> {
        let sql = "SELECT digest, account, (SELECT body FROM answer WHERE answer.key = request.key) \
                   FROM request WHERE key = ?1";
        self.one(sql, [key.as_str()], |row| {
            let (account, answer) = (row.get(1)?, row.get(2)?);
            Ok(StoredRequest { digest: digest(row, 0)?, account, answer })
        })
    }

    fn path(&mut self, path: PathId) -> Result<Option<StoredPath>, StoreError> {
        let sql = "SELECT account, holder, state FROM path WHERE path = ?1";
        self.one(sql, [path.digest()], |row| {
            let holder: Option<String> = row.get(1)?;
            let holder = holder.map(|key| Key::new(&key).map_err(|_| wrong(1))).transpose()?;
            Ok(StoredPath { account: row.get(0)?, holder, state: row.get(2)? })
        })
    }

    fn point(&mut self, path: PathId, increment: u32) -> Result<Option<StoredPoint>, StoreError> {
        let sql = "SELECT key, draw, plan, round FROM point WHERE path = ?1 AND increment = ?2";
        self.one(sql, params![path.digest(), increment], |row| {
            let draw = Draw::stored(row.get(1)?);
            Ok(StoredPoint { key: key(row, 0)?, draw, plan: row.get(2)?, round: row.get(3)? })
        })
    }

    fn rounds(&mut self, path: PathId, from: u32, to: u32) -> Result<Vec<StoredRound>, StoreError> {
        let sql = "SELECT increment, round FROM point \
                   WHERE path = ?1 AND increment >= ?2 AND increment < ?3 AND round IS NOT NULL \
                   ORDER BY increment";
        self.all(sql, params![path.digest(), from, to], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    fn seen(&mut self, account: &str, path: PathId) -> Result<Vec<Seen>, StoreError> {
        let sql = "SELECT seen.line, seen.currency, seen.price, seen.key, answer.body \
                   FROM seen JOIN answer ON answer.key = seen.key \
                   WHERE seen.account = ?1 AND seen.path = ?2 ORDER BY seen.line";
        self.all(sql, params![account, path.digest()], |row| {
            let price = row.get_ref(2)?.as_blob()?;
            Ok(Seen {
                line: grains::unsigned(row.get(0)?),
                at: grains::charge(row.get(1)?, price).ok_or_else(|| wrong(1))?,
                key: key(row, 3)?,
                answer: row.get(4)?,
            })
        })
    }

    fn held(&mut self, most: u32) -> Result<Vec<Held>, StoreError> {
        let sql = "SELECT path, account, holder FROM path WHERE holder IS NOT NULL \
                   ORDER BY path LIMIT ?1";
        self.all(sql, [most], |row| {
            Ok(Held { path: path(row, 0)?, account: row.get(1)?, key: key(row, 2)? })
        })
    }

    fn question(&mut self, digest: Digest) -> Result<Option<String>, StoreError> {
        let sql = "SELECT text FROM question WHERE digest = ?1";
        self.one(sql, [digest.bytes()], |row| row.get(0))
    }

    fn sheet_version(&mut self, account: &str) -> Result<u64, StoreError> {
        let sql = "SELECT version FROM sheet WHERE account = ?1";
        let version = self.one(sql, [account], |row| row.get(0))?;
        Ok(version.map_or(0, grains::unsigned))
    }

    fn sheet(&mut self, account: &str) -> Result<Option<(u64, Vec<u8>)>, StoreError> {
        let sql = "SELECT version, bytes FROM sheet WHERE account = ?1";
        self.one(sql, [account], |row| Ok((grains::unsigned(row.get(0)?), row.get(1)?)))
    }

    fn census(&mut self) -> Result<Census, StoreError> {
        let counted = self.connection.query_row(&census_sql(""), [], |row| {
            let mut counts = Census::default();
            for (column, count) in counts.iter_mut().enumerate() {
                *count = grains::unsigned(row.get(column)?);
            }
            Ok(counts)
        });
        counted.map_err(|error| failed(&error))
    }
}
