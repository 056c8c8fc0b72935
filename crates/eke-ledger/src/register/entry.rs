//! Lines of a register's journal: what happened, in order, chained by digests.
//!
//! A line is stored as text and hashed as it is stored, together with the digest of the line before
//! it; it says what all accounts came to after it. Fields and variants are added, never changed:
//! registers outlive code.

use std::sync::Arc;

use eke_budget::{Amount, Rho};
use rusqlite::{Connection, OptionalExtension, params};
use serde::{Deserialize, Serialize};

use super::{RegisterError, Terms};
use crate::grains::{signed, unsigned};
use crate::{Digest, Stamp};

/// A line of a register's journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegisterLine {
    /// The number of the line, from 0 and without gaps.
    pub line: u64,
    /// When, as RFC 3339 has it.
    pub at: String,
    /// Who did it.
    pub who: Arc<str>,
    /// What happened.
    pub what: Happened,
    /// How many people there are after it.
    pub people: u64,
    /// What their accounts come to after it, all together.
    pub seal: Digest,
}

/// What can happen to a register.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Happened {
    /// It was made.
    Made {
        /// For what.
        terms: Terms,
    },
    /// People were enrolled.
    Enrolled {
        /// How many.
        people: u64,
        /// The budget of each.
        budget: Amount<Rho>,
    },
    /// Amounts were reserved for a question. The line's number is the question's.
    Reserved {
        /// Its text.
        question: Arc<str>,
        /// What the places are called.
        dataset: Arc<str>,
        /// Who answers it.
        holder: Arc<str>,
        /// How many people take part.
        people: u64,
        /// The digest of what each of them has reserved.
        amounts: Digest,
    },
    /// A question has ended: what was not spent went back.
    Settled {
        /// Its number.
        question: u64,
        /// The digest of what each has spent.
        amounts: Digest,
        /// The digest of the answer, if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<Digest>,
    },
    /// A question that will never be answered was given up: what was reserved for it is spent.
    GivenUp {
        /// Its number.
        question: u64,
    },
}

/// The last line, and the head of the chain after it.
pub(super) struct Last {
    pub(super) entry: RegisterLine,
    pub(super) head: Digest,
}

/// The last line, if it follows from the line before it.
pub(super) fn last(connection: &Connection, register: &str) -> Result<Last, RegisterError> {
    let sql = "SELECT line FROM journal ORDER BY line DESC LIMIT 1";
    let line: Option<i64> = connection.query_row(sql, [], |row| row.get(0)).optional()?;
    let line = line.ok_or_else(|| damaged("its journal is empty"))?;
    let mut last = None;
    let mut before = None;
    each(connection, unsigned(line).saturating_sub(1), |entry, body, head| {
        match before {
            None if entry.line == 0 => follows(origin(register), body, head)?,
            None => {}
            Some(before) => follows(before, body, head)?,
        }
        before = Some(head);
        last = Some(Last { entry, head });
        Ok(())
    })?;
    last.ok_or_else(|| damaged("its journal is empty"))
}

/// Looks at all lines, from the first on.
pub(super) fn walk(
    connection: &Connection,
    register: &str,
    mut look: impl FnMut(RegisterLine),
) -> Result<Digest, RegisterError> {
    let mut head = origin(register);
    each(connection, 0, |entry, body, digest| {
        follows(head, body, digest)?;
        head = digest;
        look(entry);
        Ok(())
    })?;
    Ok(head)
}

/// One line, as it was written.
pub(super) fn read(connection: &Connection, line: u64) -> Result<RegisterLine, RegisterError> {
    let sql = "SELECT body FROM journal WHERE line = ?1";
    let body: Option<String> =
        connection.query_row(sql, [signed(line)], |row| row.get(0)).optional()?;
    body.and_then(|body| serde_json::from_str(&body).ok())
        .ok_or_else(|| damaged("a line of its journal is missing or cannot be read"))
}

/// Adds a line, and says its number.
pub(super) fn append(
    connection: &Connection,
    register: &str,
    last: Option<&Last>,
    (stamp, what): (&Stamp, Happened),
    (people, seal): (u64, Digest),
) -> Result<u64, RegisterError> {
    let line = last.map_or(0, |last| last.entry.line + 1);
    let at = stamp.at.to_string();
    let entry = RegisterLine { line, at, who: stamp.who.clone(), what, people, seal };
    let body = serde_json::to_string(&entry).map_err(|error| {
        RegisterError::Stopped(format!("a line could not be written ({error})"))
    })?;
    let digest = last.map_or_else(|| origin(register), |last| last.head).then(&body);
    connection
        .prepare_cached("INSERT INTO journal (line, body, digest) VALUES (?1, ?2, ?3)")?
        .execute(params![signed(line), body, digest.bytes()])?;
    Ok(line)
}

fn each(
    connection: &Connection,
    from: u64,
    mut look: impl FnMut(RegisterLine, &str, Digest) -> Result<(), RegisterError>,
) -> Result<(), RegisterError> {
    let sql = "SELECT line, body, digest FROM journal WHERE line >= ?1 ORDER BY line";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([signed(from)])?;
    let mut expected = from;
    while let Some(row) = rows.next()? {
        let (line, body): (i64, String) = (row.get(0)?, row.get(1)?);
        let digest: Vec<u8> = row.get(2)?;
        let read =
            serde_json::from_str::<RegisterLine>(&body).ok().zip(Digest::from_slice(&digest));
        let Some((entry, digest)) =
            read.filter(|(entry, _)| entry.line == expected && unsigned(line) == expected)
        else {
            return Err(damaged("a line of its journal is missing or cannot be read"));
        };
        expected += 1;
        look(entry, &body, digest)?;
    }
    Ok(())
}

fn origin(register: &str) -> Digest {
    Digest::origin(register, "people")
}

fn follows(before: Digest, body: &str, digest: Digest) -> Result<(), RegisterError> {
    if before.then(body) == digest {
        return Ok(());
    }
    Err(damaged("a line of its journal does not follow from the line before it"))
}

fn damaged(why: &str) -> RegisterError {
    RegisterError::Damaged(why.into())
}
