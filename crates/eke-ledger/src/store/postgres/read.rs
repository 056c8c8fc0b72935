//! Reading rows.

use std::sync::Arc;

use ::postgres::Row;
use eke_budget::PathId;

use super::{Postgres, failed};
use crate::error::StoreError;
use crate::journal::LineRow;
use crate::store::grains::{self, AccountColumns, signed, unsigned};
use crate::store::{
    Census, Currencies, Draw, Held, Reads, Seen, StoredAccount, StoredLevel, StoredPath,
    StoredPoint, StoredRequest, StoredRound, census_sql,
};
use crate::{Digest, Key};

/// A row that does not hold what it should.
fn wrong(table: &str) -> StoreError {
    StoreError::Broken(format!("its table `{table}` does not hold what a ledger holds"))
}

fn digest(row: &Row, column: usize, table: &str) -> Result<Digest, StoreError> {
    Digest::from_slice(row.get(column)).ok_or_else(|| wrong(table))
}

fn path(row: &Row, column: usize, table: &str) -> Result<PathId, StoreError> {
    let bytes: &[u8] = row.get(column);
    Ok(PathId::new(bytes.try_into().map_err(|_| wrong(table))?))
}

fn key(text: &str, table: &str) -> Result<Key, StoreError> {
    Key::new(text).map_err(|_| wrong(table))
}

fn level(row: &Row, first: usize) -> Result<StoredLevel, StoreError> {
    let (currency, increments): (i16, i64) = (row.get(first), row.get(first + 1));
    let (price, sensitivity): (&[u8], Option<&str>) = (row.get(first + 2), row.get(first + 3));
    let wrong = || wrong("eke_level");
    Ok(StoredLevel {
        increments: u32::try_from(increments).map_err(|_| wrong())?,
        at: grains::charge(currency, price).ok_or_else(wrong)?,
        sensitivity: sensitivity.map(|text| text.parse().map_err(|_| wrong())).transpose()?,
    })
}

impl Reads for Postgres {
    fn account(&mut self, name: &str) -> Result<Option<StoredAccount>, StoreError> {
        let sql = "SELECT name, budget, lines, head, next_sequence, next_round, rho_spent, \
                   rho_delta_spent, epsilon_taken, epsilon_spent, epsilon_delta_spent, \
                   (SELECT coalesce(array_agg(round ORDER BY round), '{}') FROM eke_round \
                    WHERE account = name), \
                   (SELECT coalesce(array_agg(worst ORDER BY round), '{}') FROM eke_round \
                    WHERE account = name), \
                   rho_budget, rho_delta_budget, epsilon_budget, epsilon_delta_budget \
                   FROM eke_account WHERE name = $1";
        let rows = self.rows(sql, &[&name])?;
        let Some(row) = rows.first() else { return Ok(None) };
        let columns = AccountColumns {
            name: row.get(0),
            budget: row.get(1),
            lines: row.get(2),
            head: row.get(3),
            next_sequence: row.get(4),
            next_round: row.get(5),
            rho_spent: row.get(6),
            rho_delta_spent: row.get(7),
            epsilon_taken: row.get(8),
            epsilon_spent: row.get(9),
            epsilon_delta_spent: row.get(10),
            budgets: [row.get(13), row.get(14), row.get(15), row.get(16)],
        };
        let (numbers, worst): (Vec<i64>, Vec<Vec<u8>>) = (row.get(11), row.get(12));
        let rounds: Vec<_> = numbers.into_iter().zip(worst).collect();
        columns.read(&rounds).map(Some).ok_or_else(|| wrong("eke_account"))
    }

    fn names(&mut self, after: Option<&str>, most: u32) -> Result<Vec<Arc<str>>, StoreError> {
        let sql = "SELECT name FROM eke_account WHERE name > $1 ORDER BY name LIMIT $2";
        let rows = self.rows(sql, &[&after.unwrap_or(""), &i64::from(most)])?;
        Ok(rows.iter().map(|row| row.get::<_, &str>(0).into()).collect())
    }

    fn lines(&mut self, account: &str, from: u64, most: u32) -> Result<Vec<LineRow>, StoreError> {
        let sql = "SELECT line, body, digest FROM eke_journal WHERE account = $1 AND line >= $2 \
                   ORDER BY line LIMIT $3";
        let rows = self.rows(sql, &[&account, &signed(from), &i64::from(most)])?;
        let name: Arc<str> = account.into();
        let line = |row: &Row| {
            Ok(LineRow {
                account: Arc::clone(&name),
                line: unsigned(row.get(0)),
                body: row.get(1),
                digest: digest(row, 2, "eke_journal")?,
            })
        };
        rows.iter().map(line).collect()
    }

    fn level(
        &mut self,
        account: &str,
        path: PathId,
        currency: Currencies,
    ) -> Result<Option<StoredLevel>, StoreError> {
        let sql = "SELECT currency, increments, price, sensitivity FROM eke_level \
                   WHERE account = $1 AND path = $2 AND currency = $3";
        let currency = grains::currency(currency);
        let rows = self.rows(sql, &[&account, &&path.digest()[..], &currency])?;
        rows.first().map(|row| level(row, 0)).transpose()
    }

    fn levels(
        &mut self,
        account: &str,
        after: Option<(PathId, Currencies)>,
        most: u32,
    ) -> Result<Vec<(PathId, StoredLevel)>, StoreError> {
        let sql = "SELECT path, currency, increments, price, sensitivity FROM eke_level \
                   WHERE account = $1 AND (path, currency) > ($2, $3) \
                   ORDER BY path, currency LIMIT $4";
        let after_currency = after.map_or(-1, |(_, currency)| grains::currency(currency));
        let after = after.map_or([0; 32], |(path, _)| *path.digest());
        let most = i64::from(most);
        let rows = self.rows(sql, &[&account, &&after[..], &after_currency, &most])?;
        rows.iter().map(|row| Ok((path(row, 0, "eke_level")?, level(row, 1)?))).collect()
    }

    fn request(&mut self, key: &Key) -> Result<Option<StoredRequest>, StoreError> {
        let sql = "SELECT digest, account, body FROM eke_request LEFT JOIN eke_answer USING (key) \
                   WHERE key = $1";
        let rows = self.rows(sql, &[&key.as_str()])?;
        let request = |row: &Row| {
            let account: &str = row.get(1);
            let digest = digest(row, 0, "eke_request")?;
            Ok(StoredRequest { digest, account: account.into(), answer: row.get(2) })
        };
        rows.first().map(request).transpose()
    }

    fn path(&mut self, path: PathId) -> Result<Option<StoredPath>, StoreError> {
        let sql = "SELECT account, holder, state FROM eke_path WHERE path = $1";
        let rows = self.rows(sql, &[&&path.digest()[..]])?;
        let stored = |row: &Row| {
            let (account, holder): (&str, Option<&str>) = (row.get(0), row.get(1));
            let holder = holder.map(|holder| key(holder, "eke_path")).transpose()?;
            Ok(StoredPath { account: account.into(), holder, state: row.get(2) })
        };
        rows.first().map(stored).transpose()
    }

    fn point(&mut self, path: PathId, increment: u32) -> Result<Option<StoredPoint>, StoreError> {
        let sql = "SELECT key, draw, plan, round FROM eke_point \
                   WHERE path = $1 AND increment = $2";
        let rows = self.rows(sql, &[&&path.digest()[..], &i64::from(increment)])?;
        let point = |row: &Row| {
            let draw = Draw::stored(row.get(1));
            let key = key(row.get(0), "eke_point")?;
            Ok(StoredPoint { key, draw, plan: row.get(2), round: row.get(3) })
        };
        rows.first().map(point).transpose()
    }

    fn rounds(&mut self, path: PathId, from: u32, to: u32) -> Result<Vec<StoredRound>, StoreError> {
        let sql = "SELECT increment, round FROM eke_point \
                   WHERE path = $1 AND increment >= $2 AND increment < $3 AND round IS NOT NULL \
                   ORDER BY increment";
        let (from, to) = (i64::from(from), i64::from(to));
        let rows = self.rows(sql, &[&&path.digest()[..], &from, &to])?;
        let round = |row: &Row| {
            let increment: i64 = row.get(0);
            Ok((u32::try_from(increment).map_err(|_| wrong("eke_point"))?, row.get(1)))
        };
        rows.iter().map(round).collect()
    }

    fn seen(&mut self, account: &str, path: PathId) -> Result<Vec<Seen>, StoreError> {
        let sql = "SELECT seen.line, seen.currency, seen.price, seen.key, answer.body \
                   FROM eke_seen seen JOIN eke_answer answer ON answer.key = seen.key \
                   WHERE seen.account = $1 AND seen.path = $2 ORDER BY seen.line";
        let rows = self.rows(sql, &[&account, &&path.digest()[..]])?;
        let seen = |row: &Row| {
            let at = grains::charge(row.get(1), row.get(2)).ok_or_else(|| wrong("eke_seen"))?;
            let key = key(row.get(3), "eke_seen")?;
            Ok(Seen { line: unsigned(row.get(0)), at, key, answer: row.get(4) })
        };
        rows.iter().map(seen).collect()
    }

    fn held(&mut self, most: u32) -> Result<Vec<Held>, StoreError> {
        let sql = "SELECT path, account, holder FROM eke_path WHERE holder IS NOT NULL \
                   ORDER BY path LIMIT $1";
        let rows = self.rows(sql, &[&i64::from(most)])?;
        let held = |row: &Row| {
            let account: &str = row.get(1);
            let key = key(row.get(2), "eke_path")?;
            Ok(Held { path: path(row, 0, "eke_path")?, account: account.into(), key })
        };
        rows.iter().map(held).collect()
    }

    fn question(&mut self, digest: Digest) -> Result<Option<String>, StoreError> {
        let sql = "SELECT text FROM eke_question WHERE digest = $1";
        let rows = self.rows(sql, &[&&digest.bytes()[..]])?;
        Ok(rows.first().map(|row| row.get(0)))
    }

    fn sheet_version(&mut self, account: &str) -> Result<u64, StoreError> {
        let sql = "SELECT version FROM eke_sheet WHERE account = $1";
        let rows = self.rows(sql, &[&account])?;
        Ok(rows.first().map_or(0, |row| unsigned(row.get(0))))
    }

    fn sheet(&mut self, account: &str) -> Result<Option<(u64, Vec<u8>)>, StoreError> {
        let sql = "SELECT version, bytes FROM eke_sheet WHERE account = $1";
        let rows = self.rows(sql, &[&account])?;
        Ok(rows.first().map(|row| (unsigned(row.get(0)), row.get(1))))
    }

    fn census(&mut self) -> Result<Census, StoreError> {
        let row = self.client.query_one(&census_sql("eke_"), &[]);
        let row = row.map_err(|error| failed(&error))?;
        Ok(std::array::from_fn(|column| unsigned(row.get(column))))
    }
}
