//! The accounts of a register in memory, for as long as one transaction takes, and what they come
//! to.
//!
//! The seal of accounts is a sum of digests, a row each, so that a change of some rows updates it
//! without the others. It finds what a disk or a program has spoilt by mistake. Somebody who means
//! to can make a file say anything: that is what anchors are for.

use std::sync::LazyLock;

use eke_budget::{Amount, Rho};
use rusqlite::{Connection, params};

use super::RegisterError;
use crate::Digest;
use crate::store::grains::{self, amount};

/// Somebody's account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// What they are called.
    pub id: String,
    /// What they may spend, for good.
    pub budget: Amount<Rho>,
    /// What they have spent.
    pub spent: Amount<Rho>,
    /// What is reserved for questions that are being answered.
    pub reserved: Amount<Rho>,
}

impl Person {
    /// What is neither spent nor reserved.
    #[must_use]
    pub fn left(&self) -> Amount<Rho> {
        let taken = self.taken();
        self.budget.minus(taken).unwrap_or(Amount::ZERO)
    }

    pub(super) fn taken(&self) -> Amount<Rho> {
        self.spent.plus(self.reserved).unwrap_or(Amount::MAX)
    }
}

/// All accounts, by number, and their seal.
pub(super) struct People {
    pub(super) rows: Vec<Person>,
    seal: Seal,
}

/// A sum of digests, in two lanes.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Seal([u128; 2]);

impl People {
    /// Everybody, if they come to what the journal says.
    pub(super) fn read(
        connection: &Connection,
        people: u64,
        seal: Digest,
    ) -> Result<Self, RegisterError> {
        let sql = "SELECT number, id, budget, spent, taken FROM person ORDER BY number";
        let mut statement = connection.prepare_cached(sql)?;
        let mut found = statement.query([])?;
        let mut read = Self { rows: Vec::new(), seal: Seal([0; 2]) };
        while let Some(row) = found.next()? {
            let number: i64 = row.get(0)?;
            let person = person(
                row.get(1)?,
                row.get_ref(2)?.as_bytes().unwrap_or_default(),
                row.get_ref(3)?.as_bytes().unwrap_or_default(),
                row.get_ref(4)?.as_bytes().unwrap_or_default(),
            );
            let person = person
                .filter(|_| usize::try_from(number) == Ok(read.rows.len()))
                .ok_or_else(|| RegisterError::Damaged("an account cannot be read".into()))?;
            read.seal.add(&row_digest(read.rows.len(), &person));
            read.rows.push(person);
        }
        if read.rows.len() as u64 != people || read.seal() != seal {
            return Err(RegisterError::Damaged(
                "its accounts are not what its journal says they come to".into(),
            ));
        }
        Ok(read)
    }

    /// Nobody.
    pub(super) fn none() -> Self {
        Self { rows: Vec::new(), seal: Seal([0; 2]) }
    }

    pub(super) fn seal(&self) -> Digest {
        self.seal.digest()
    }

    pub(super) fn count(&self) -> u64 {
        self.rows.len() as u64
    }

    /// Adds somebody.
    pub(super) fn add(
        &mut self,
        connection: &Connection,
        id: &str,
        budget: Amount<Rho>,
    ) -> Result<(), RegisterError> {
        let number = self.rows.len();
        let row = u32::try_from(number).ok().filter(|row| *row < u32::MAX);
        let row = row.ok_or(RegisterError::TooMany)?;
        let person =
            Person { id: id.to_owned(), budget, spent: Amount::ZERO, reserved: Amount::ZERO };
        let sql =
            "INSERT INTO person (number, id, budget, spent, taken) VALUES (?1, ?2, ?3, ?4, ?4)";
        let nothing = grains::bytes(Amount::<Rho>::ZERO);
        connection.prepare_cached(sql)?.execute(params![
            row,
            id,
            grains::bytes(budget),
            nothing
        ])?;
        self.seal.add(&row_digest(number, &person));
        self.rows.push(person);
        Ok(())
    }

    /// Writes what somebody has spent and reserved from now on.
    pub(super) fn update(
        &mut self,
        connection: &Connection,
        number: u32,
        (spent, reserved): (Amount<Rho>, Amount<Rho>),
    ) -> Result<(), RegisterError> {
        let person = &mut self.rows[number as usize];
        if (person.spent, person.reserved) == (spent, reserved) {
            return Ok(());
        }
        self.seal.subtract(&row_digest(number as usize, person));
        (person.spent, person.reserved) = (spent, reserved);
        self.seal.add(&row_digest(number as usize, person));
        connection
            .prepare_cached("UPDATE person SET spent = ?2, taken = ?3 WHERE number = ?1")?
            .execute(params![number, grains::bytes(spent), grains::bytes(person.taken())])?;
        Ok(())
    }
}

fn person(id: String, budget: &[u8], spent: &[u8], taken: &[u8]) -> Option<Person> {
    let (budget, spent, taken) = (amount(budget)?, amount(spent)?, amount::<Rho>(taken)?);
    let reserved = taken.minus(spent)?;
    (taken <= budget).then_some(Person { id, budget, spent, reserved })
}

fn row_digest(number: usize, person: &Person) -> [u8; 32] {
    static START: LazyLock<blake3::Hasher> =
        LazyLock::new(|| blake3::Hasher::new_derive_key("eke register 1: a person"));
    let mut hasher = START.clone();
    hasher.update(&(number as u64).to_le_bytes());
    for money in [person.budget, person.spent, person.taken()] {
        hasher.update(&grains::bytes(money));
    }
    hasher.update(person.id.as_bytes());
    *hasher.finalize().as_bytes()
}

impl Seal {
    fn add(&mut self, digest: &[u8; 32]) {
        for (lane, part) in self.0.iter_mut().zip(lanes(digest)) {
            *lane = lane.wrapping_add(part);
        }
    }

    fn subtract(&mut self, digest: &[u8; 32]) {
        for (lane, part) in self.0.iter_mut().zip(lanes(digest)) {
            *lane = lane.wrapping_sub(part);
        }
    }

    fn digest(self) -> Digest {
        let bytes: Vec<u8> = self.0.iter().flat_map(|lane| lane.to_le_bytes()).collect();
        Digest::of(&bytes)
    }
}

fn lanes(digest: &[u8; 32]) -> [u128; 2] {
    let lane = |from: usize| {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest[from..from + 16]);
        u128::from_le_bytes(bytes)
    };
    [lane(0), lane(16)]
}
