//! Why a register did not do what was asked, each in one sentence that says what to do.

use std::sync::Arc;

use rusqlite::ErrorCode;

use crate::sqlite::sentence;

/// Why a register did not do what was asked. Nothing was reserved or settled by it, and nothing may
/// be drawn or shown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// Another question about the same places is being answered.
    #[error(
        "question {number} about the same places is being answered by `{holder}`: wait until it is, or give it up if it never will be"
    )]
    UnderWay {
        /// Its number.
        number: u64,
        /// Who answers it.
        holder: Arc<str>,
    },
    /// The places have changed.
    #[error(
        "the places called `{0}` are not those that were asked about before: give places that have changed another name"
    )]
    OtherPlaces(Arc<str>),
    /// The reservation was settled or given up.
    #[error(
        "question {0} is not being answered any more: its answer is not stored, so do not show it"
    )]
    NotUnderWay(u64),
    /// Somebody is said to have spent more than was reserved. All of it stays reserved.
    #[error(
        "somebody is said to have spent more than was reserved for question {0}: it stays reserved"
    )]
    TooMuch(u64),
    /// People out of order, or not enrolled.
    #[error("people are named by their numbers, rising, each once and below {0}")]
    Who(usize),
    /// Another number of amounts than of people.
    #[error("{people} people take part, but there are {amounts} amounts")]
    Amounts {
        /// How many people.
        people: usize,
        /// How many amounts.
        amounts: usize,
    },
    /// Too many people.
    #[error("a register holds at most 2^32 - 1 people")]
    TooMany,
    /// A name or a text is too long or empty.
    #[error("{what} must have 1 to {most} bytes: this one has {length}")]
    Length {
        /// What is too long.
        what: &'static str,
        /// The most bytes that it may have.
        most: usize,
        /// The bytes that it has.
        length: usize,
    },
    /// The register was made for something else.
    #[error(
        "the register was made for other terms, and terms never change: {pinned}; ask under these, or make another register"
    )]
    OtherTerms {
        /// What it was made for.
        pinned: String,
    },
    /// Another program holds the file. Nothing was written; ask again.
    #[error(
        "another program has held the register's lock for too long: end it, or ask again later"
    )]
    Busy,
    /// What is in the file contradicts itself.
    #[error("the register is damaged: {0}; restore a copy, and compare it with an anchor")]
    Damaged(String),
    /// The register does not answer any more, because it cannot tell what is on its disk.
    #[error(
        "the register has stopped: {0}; nothing is reserved or settled until it is opened again"
    )]
    Stopped(String),
    /// The register cannot be opened.
    #[error("{0}")]
    Open(String),
}

/// An error of the file: somebody else's lock is not the end.
impl From<rusqlite::Error> for RegisterError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Damaged("parts of its file cannot be read".into())
            }
            // A column that is not what it should be.
            None => {
                Self::Damaged(format!("its file does not hold what a register holds ({error})"))
            }
            Some(_) => Self::Stopped(sentence(&error)),
        }
    }
}
