//! Writing a page, row by row, inside one transaction. Every row is conditional on what the page
//! says was there before; the first that is not is a conflict.

use rusqlite::{Result, params};

use super::Sqlite;
use crate::store::grains::{self, Money, signed};
use crate::store::page::{AccountRow, HoldRow, LevelRow, Page};

impl Sqlite {
    /// Writes the rows, or says what is not as the page says.
    pub(super) fn write(&self, page: &Page) -> Result<Option<String>> {
        for row in &page.accounts {
            if self.write_account(row)? != 1 {
                let name = &row.standing.account;
                return Ok(Some(format!("account `{name}` stands elsewhere")));
            }
        }
        self.write_journal(page)?;
        for row in &page.levels {
            if self.write_level(row)? != 1 {
                return Ok(Some(format!("path {} is paid for up to elsewhere", row.path)));
            }
        }
        self.write_rounds(page)?;
        if let Some(conflict) = self.write_answers(page)? {
            return Ok(Some(conflict));
        }
        for row in &page.holds {
            if self.write_hold(row)? != 1 {
                return Ok(Some(format!("path {} is held by another request", row.path)));
            }
        }
        let sql = "INSERT INTO point (path, increment, key, plan) VALUES (?1, ?2, ?3, ?4)";
        let mut statement = self.connection.prepare_cached(sql)?;
        for row in &page.points {
            let (path, key) = (row.path.digest(), row.key.as_str());
            statement.execute(params![path, row.increment, key, row.plan.as_deref()])?;
        }
        let sql = "INSERT INTO seen VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let mut statement = self.connection.prepare_cached(sql)?;
        for row in &page.seen {
            let (currency, price) = grains::price(row.at);
            let (path, line) = (row.path.digest(), signed(row.line));
            statement.execute(params![
                &*row.account,
                path,
                line,
                currency,
                price,
                row.key.as_str()
            ])?;
        }
        for row in &page.sheets {
            let sql = if row.version == 1 {
                "INSERT INTO sheet (account, version, bytes) VALUES (?1, ?2, ?3)"
            } else {
                "UPDATE sheet SET version = ?2, bytes = ?3 WHERE account = ?1 AND version = ?2 - 1"
            };
            let mut statement = self.connection.prepare_cached(sql)?;
            if statement.execute(params![&*row.account, signed(row.version), &*row.bytes])? != 1 {
                return Ok(Some(format!("the sheet of account `{}` has moved", row.account)));
            }
        }
        Ok(None)
    }

    fn write_account(&self, row: &AccountRow) -> Result<usize> {
        let standing = &row.standing;
        let Some(money) = Money::of(standing) else { return Ok(0) };
        let name = &*standing.account;
        let (lines, head) = (signed(row.after.lines), row.after.head.bytes());
        let (sequence, round) = (signed(standing.next_sequence), signed(standing.next_round));
        let Some(before) = row.before else {
            let budget = serde_json::to_string(&standing.budget)
                .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
            let sql = "INSERT INTO account (name, budget, lines, head, next_sequence, next_round, \
                       rho_budget, rho_spent, rho_delta_budget, rho_delta_spent, epsilon_budget, \
                       epsilon_taken, epsilon_spent, epsilon_delta_budget, epsilon_delta_spent) \
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)";
            return self.connection.prepare_cached(sql)?.execute(params![
                name,
                budget,
                lines,
                head,
                sequence,
                round,
                money.rho_budget,
                money.rho_spent,
                money.rho_delta_budget,
                money.rho_delta_spent,
                money.epsilon_budget,
                money.epsilon_taken,
                money.epsilon_spent,
                money.epsilon_delta_budget,
                money.epsilon_delta_spent,
            ]);
        };
        let sql = "UPDATE account SET lines = ?2, head = ?3, next_sequence = ?4, next_round = ?5, \
                   rho_spent = ?6, rho_delta_spent = ?7, epsilon_taken = ?8, epsilon_spent = ?9, \
                   epsilon_delta_spent = ?10 \
                   WHERE name = ?1 AND lines = ?11 AND head = ?12";
        self.connection.prepare_cached(sql)?.execute(params![
            name,
            lines,
            head,
            sequence,
            round,
            money.rho_spent,
            money.rho_delta_spent,
            money.epsilon_taken,
            money.epsilon_spent,
            money.epsilon_delta_spent,
            signed(before.lines),
            before.head.bytes(),
        ])
    }

    fn write_journal(&self, page: &Page) -> Result<()> {
        let sql = "INSERT INTO journal (account, line, body, digest) VALUES (?1, ?2, ?3, ?4)";
        let mut statement = self.connection.prepare_cached(sql)?;
        for row in &page.lines {
            let (line, digest) = (signed(row.line), row.digest.bytes());
            statement.execute(params![&*row.account, line, row.body, digest])?;
        }
        let sql = "INSERT INTO question (digest, text) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
        let mut statement = self.connection.prepare_cached(sql)?;
        for (digest, text) in &page.questions {
            statement.execute(params![digest.bytes(), &**text])?;
        }
        let sql = "INSERT INTO request (key, digest, account) VALUES (?1, ?2, ?3)";
        let mut statement = self.connection.prepare_cached(sql)?;
        for row in &page.requests {
            statement.execute(params![row.key.as_str(), row.digest.bytes(), &*row.account])?;
        }
        Ok(())
    }

    fn write_level(&self, row: &LevelRow) -> Result<usize> {
        let (currency, price) = grains::price(row.at);
        let (account, path) = (&*row.account, row.path.digest());
        let sensitivity = row.sensitivity.map(|sensitivity| sensitivity.to_string());
        if row.from == 0 {
            let sql = "INSERT INTO level (account, path, currency, increments, price, sensitivity) \
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
            return self.connection.prepare_cached(sql)?.execute(params![
                account,
                path,
                currency,
                row.increments,
                price,
                sensitivity
            ]);
        }
        let sql = "UPDATE level SET increments = ?4, price = ?5 \
                   WHERE account = ?1 AND path = ?2 AND currency = ?3 AND increments = ?6 \
                   AND price <= ?5 AND sensitivity IS ?7";
        self.connection.prepare_cached(sql)?.execute(params![
            account,
            path,
            currency,
            row.increments,
            price,
            row.from,
            sensitivity
        ])
    }

    fn write_rounds(&self, page: &Page) -> Result<()> {
        for row in &page.rounds {
            let (account, round) = (&*row.account, signed(row.round));
            match row.worst {
                Some(worst) => {
                    let sql = "INSERT INTO round (account, round, worst) VALUES (?1, ?2, ?3) \
                               ON CONFLICT (account, round) DO UPDATE SET worst = excluded.worst";
                    let mut statement = self.connection.prepare_cached(sql)?;
                    statement.execute(params![account, round, grains::bytes(worst)])?;
                }
                None => {
                    let sql = "DELETE FROM round WHERE account = ?1 AND round = ?2";
                    self.connection.prepare_cached(sql)?.execute(params![account, round])?;
                }
            }
        }
        Ok(())
    }

    fn write_answers(&self, page: &Page) -> Result<Option<String>> {
        let sql = "INSERT INTO answer (key, body) VALUES (?1, ?2)";
        let mut statement = self.connection.prepare_cached(sql)?;
        for row in &page.answers {
            statement.execute(params![row.key.as_str(), &*row.body])?;
        }
        let sql = "UPDATE path SET holder = NULL, state = coalesce(?3, state) \
                   WHERE path = ?1 AND holder = ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        for row in &page.releases {
            let (path, key) = (row.path.digest(), row.key.as_str());
            if statement.execute(params![path, key, row.state.as_deref()])? != 1 {
                return Ok(Some(format!("request `{}` does not hold its path", row.key)));
            }
        }
        let sql =
            "UPDATE point SET draw = ?3, round = ?4 WHERE path = ?1 AND key = ?2 AND draw = 0";
        let mut statement = self.connection.prepare_cached(sql)?;
        for row in &page.draws {
            let (path, key) = (row.path.digest(), row.key.as_str());
            let draw = if row.lost { 2 } else { 1 };
            // A request that is given up may have bought no increment.
            if statement.execute(params![path, key, draw, row.round.as_deref()])? != 1 && !row.lost
            {
                return Ok(Some(format!("request `{}` has no increment to draw", row.key)));
            }
        }
        Ok(None)
    }

    fn write_hold(&self, row: &HoldRow) -> Result<usize> {
        let (path, account, key) = (row.path.digest(), &*row.account, row.key.as_str());
        let sql = if row.new {
            "INSERT INTO path (path, account, holder) VALUES (?1, ?2, ?3)"
        } else {
            "UPDATE path SET holder = ?3 WHERE path = ?1 AND account = ?2 AND holder IS NULL"
        };
        self.connection.prepare_cached(sql)?.execute(params![path, account, key])
    }
}
