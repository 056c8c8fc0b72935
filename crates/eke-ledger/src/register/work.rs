//! What happens inside one transaction of a register, and the forms in which things are stored.

use std::sync::Arc;

use eke_budget::{Amount, Rho};
use rusqlite::{Connection, OptionalExtension, params};

use super::entry::{self, Last};
use super::people::People;
use super::{Asking, Happened, RegisterError};
use crate::store::grains::{self, signed, unsigned};
use crate::{Digest, Stamp};

/// What a transaction works on.
pub(super) struct Work<'a> {
    pub(super) connection: &'a Connection,
    pub(super) name: &'a str,
    pub(super) last: Last,
    pub(super) people: People,
}

impl<'a> Work<'a> {
    pub(super) fn begin(connection: &'a Connection, name: &'a str) -> Result<Self, RegisterError> {
        let last = entry::last(connection, name)?;
        let people = People::read(connection, last.entry.people, last.entry.seal)?;
        Ok(Self { connection, name, last, people })
    }

    /// Adds a line to the journal: the last thing of a transaction.
    pub(super) fn append(&mut self, stamp: &Stamp, what: Happened) -> Result<u64, RegisterError> {
        let after = (self.people.count(), self.people.seal());
        entry::append(self.connection, self.name, Some(&self.last), (stamp, what), after)
    }

    /// Of what a person has reserved, the given amount is spent and the rest goes back.
    pub(super) fn take(
        &mut self,
        person: u32,
        held: Amount<Rho>,
        spent: Amount<Rho>,
    ) -> Result<(), RegisterError> {
        let account = self.people.rows.get(person as usize);
        let after = account
            .and_then(|account| Some((account.spent.plus(spent)?, account.reserved.minus(held)?)));
        let after = after.ok_or_else(|| disagree("other amounts than accounts do"))?;
        self.people.update(self.connection, person, after)
    }

    /// The questions under way, by their numbers.
    pub(super) fn under_way(&self) -> Result<Vec<u64>, RegisterError> {
        let sql = "SELECT line FROM reservation ORDER BY line";
        let mut statement = self.connection.prepare_cached(sql)?;
        let lines = statement.query_map([], |row| row.get(0).map(unsigned))?;
        Ok(lines.collect::<Result<_, _>>()?)
    }

    /// What an open question holds, if it is what the journal says.
    pub(super) fn held(&self, number: u64) -> Result<Vec<(u32, Amount<Rho>)>, RegisterError> {
        let sql = "SELECT held FROM reservation WHERE line = ?1";
        let held: Option<Vec<u8>> =
            self.connection.query_row(sql, [signed(number)], |row| row.get(0)).optional()?;
        let held = held.ok_or(RegisterError::NotUnderWay(number))?;
        match entry::read(self.connection, number)?.what {
            Happened::Reserved { amounts, .. } if amounts == Digest::of(&held) => {
                Ok(read_held(&held))
            }
            _ => Err(disagree("other amounts than its journal does")),
        }
    }

    /// An open question is open no more.
    pub(super) fn end(&self, number: u64) -> Result<(), RegisterError> {
        let sql = "DELETE FROM reservation WHERE line = ?1";
        self.connection.execute(sql, [signed(number)])?;
        Ok(())
    }

    /// Which question draws from the places of a dataset, and who answers it.
    pub(super) fn holder(&self, dataset: Digest) -> Result<Option<(u64, Arc<str>)>, RegisterError> {
        let sql = "SELECT line, holder FROM reservation WHERE dataset = ?1";
        let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?));
        let found = self.connection.query_row(sql, [dataset.bytes()], read).optional()?;
        Ok(found.map(|(line, holder)| (unsigned(line), holder.into())))
    }

    /// Pins what the places of a dataset are, or finds that they are others by now.
    pub(super) fn pin(&self, dataset: Digest, asking: &Asking<'_>) -> Result<(), RegisterError> {
        let sql = "INSERT INTO dataset (name, fingerprint) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
        let pin = params![dataset.bytes(), asking.fingerprint];
        self.connection.prepare_cached(sql)?.execute(pin)?;
        if self.pinned(dataset)?.as_deref() == Some(asking.fingerprint) {
            return Ok(());
        }
        Err(RegisterError::OtherPlaces(asking.dataset.into()))
    }

    pub(super) fn pinned(&self, dataset: Digest) -> Result<Option<String>, RegisterError> {
        let sql = "SELECT fingerprint FROM dataset WHERE name = ?1";
        let pinned = self.connection.query_row(sql, [dataset.bytes()], |row| row.get(0));
        Ok(pinned.optional()?)
    }

    /// The answer to a question, if it is the one that its journal speaks of.
    pub(super) fn answer(&self, question: Digest) -> Result<Option<Vec<u8>>, RegisterError> {
        let sql = "SELECT line, body FROM answer WHERE question = ?1";
        let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?));
        let found = self.connection.query_row(sql, [question.bytes()], read).optional()?;
        let Some((line, body)) = found else { return Ok(None) };
        match entry::read(self.connection, unsigned(line))?.what {
            Happened::Settled { answer, .. } if answer == Some(Digest::of(&body)) => Ok(Some(body)),
            _ => Err(RegisterError::Damaged("an answer is not the one that was given".into())),
        }
    }
}

/// Numbers and amounts as they are stored.
pub(super) fn bytes_of(amounts: &[(u32, Amount<Rho>)]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(amounts.len() * 20);
    for (person, amount) in amounts {
        bytes.extend(person.to_le_bytes());
        bytes.extend(grains::bytes(*amount));
    }
    bytes
}

fn read_held(bytes: &[u8]) -> Vec<(u32, Amount<Rho>)> {
    let read = |row: &[u8]| {
        let (person, amount) = row.split_first_chunk::<4>()?;
        Some((u32::from_le_bytes(*person), grains::amount(amount)?))
    };
    bytes.chunks_exact(20).filter_map(read).collect()
}

pub(super) fn seen_digest(dataset: Digest, person: u32, bytes: &[u8]) -> Digest {
    let mut whole = Vec::with_capacity(bytes.len() + 36);
    whole.extend(dataset.bytes());
    whole.extend(person.to_le_bytes());
    whole.extend(bytes);
    Digest::of(&whole)
}

pub(super) fn disagree(what: &str) -> RegisterError {
    RegisterError::Damaged(format!("a reservation names {what}"))
}
