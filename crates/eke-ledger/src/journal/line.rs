//! Lines of the journal: what happened to one account, in order, chained by digests.
//!
//! A line is stored as text and hashed as it is stored, together with the digest of the line
//! before it, so an edit, a gap or another order shows. Fields and variants are added, never
//! changed: journals outlive code.

use std::sync::Arc;

use eke_budget::{Charge, Event, PathId};
use serde::{Deserialize, Serialize};

use crate::{Digest, Key};

/// One line of an account's journal, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineRow {
    /// The account.
    pub account: Arc<str>,
    /// The number of the line, from 0 and without gaps.
    pub line: u64,
    /// What it says: a [`Line`] as JSON.
    pub body: String,
    /// The head of the chain after it.
    pub digest: Digest,
}

/// What a line says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// The account.
    pub account: Arc<str>,
    /// The number of the line.
    pub line: u64,
    /// When, as RFC 3339 has it.
    pub at: String,
    /// Who asked.
    pub who: Arc<str>,
    /// The key of the request, if it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Key>,
    /// The digest of the question's text, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<Digest>,
    /// What happened.
    pub what: What,
}

/// What can be said of an account.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum What {
    /// An entry of its history: it was opened, charged, reserved from or settled.
    Entry {
        /// The number of the entry.
        sequence: u64,
        /// What happened.
        event: Event,
        /// The digest of the plan that was stored with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        plan: Option<Digest>,
        /// The digest of what the key of the request stands for, in the account that owns it; none
        /// in lines from before this was written.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        asked: Option<Digest>,
    },
    /// Its filter said no.
    Refused {
        /// What was asked.
        asked: Charge,
        /// What would have fitted; none if the account has no such purse.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fits: Option<Charge>,
    },
    /// An answer was stored, to be sent.
    Revealed {
        /// The digest of the answer.
        answer: Digest,
        /// The path it is a point of.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<PathId>,
        /// The digest of what is stored of the path from now on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        state: Option<Digest>,
        /// The digest of the values of a bundle's round.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        round: Option<Digest>,
    },
    /// A request that will never answer was given up: what it paid stays paid.
    GivenUp {
        /// The path it held.
        path: PathId,
    },
    /// A sheet of many accounts was committed.
    Sheet {
        /// Its version.
        version: u64,
        /// The digest of its bytes.
        digest: Digest,
    },
}
