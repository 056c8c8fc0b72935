//! Anchors: where every journal ended at some time, to be kept elsewhere.
//!
//! A journal that was cut, or a ledger restored from an old copy, is still a valid chain. Compared
//! with an anchor, it fails.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::Digest;
use crate::error::StoreError;
use crate::store::Store;

/// How many names are read at a time.
pub(crate) const NAMES_AT_A_TIME: u32 = 1024;

/// Where every journal of a ledger ended. As text it is one line of JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Anchor {
    /// The name that the ledger was given when it was made.
    pub ledger: String,
    /// Where the journal of every account ended.
    pub accounts: BTreeMap<Arc<str>, Anchored>,
}

/// Where a journal ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Anchored {
    /// How many lines it had.
    pub lines: u64,
    /// The digest of the last one.
    pub head: Digest,
}

impl Anchor {
    /// The anchor of a ledger as it is now.
    ///
    /// # Errors
    /// The store could not be read.
    pub fn of(store: &mut dyn Store) -> Result<Self, StoreError> {
        store.snapshot()?;
        let mut accounts = BTreeMap::new();
        let mut names = store.names(None, NAMES_AT_A_TIME)?;
        while let Some(last) = names.last().cloned() {
            for name in names {
                if let Some(stored) = store.account(&name)? {
                    let position = stored.position;
                    let anchored = Anchored { lines: position.lines, head: position.head };
                    accounts.insert(name, anchored);
                }
            }
            names = store.names(Some(&last), NAMES_AT_A_TIME)?;
        }
        store.unlock()?;
        Ok(Self { ledger: store.ledger().to_owned(), accounts })
    }
}

impl Anchor {
    /// What of a ledger is not as the anchor has it; none if nothing is.
    pub(crate) fn differs(&self, store: &mut dyn Store) -> Result<Option<String>, StoreError> {
        if self.ledger != store.ledger() {
            let (anchored, found) = (&self.ledger, store.ledger());
            return Ok(Some(format!("it is ledger {found}, and ledger {anchored} is expected")));
        }
        for (name, anchored) in &self.accounts {
            let lines = store.account(name)?.map_or(0, |stored| stored.position.lines);
            if lines < anchored.lines {
                let expected = anchored.lines;
                return Ok(Some(format!(
                    "its account `{name}` has {lines} lines, and has had {expected}: it was rolled back or restored from an old copy"
                )));
            }
            let Some(last) = anchored.lines.checked_sub(1) else { continue };
            let line = store.lines(name, last, 1)?.into_iter().next();
            if line.is_none_or(|line| line.line != last || line.digest != anchored.head) {
                return Ok(Some(format!(
                    "line {last} of its account `{name}` is not what it was: it was edited, or goes back to an old copy"
                )));
            }
        }
        Ok(None)
    }

    /// Both anchors of one ledger: for every account the one that is further on.
    #[must_use]
    pub fn merged(mut self, other: &Self) -> Self {
        if self.ledger == other.ledger {
            for (name, anchored) in &other.accounts {
                let mine = self.accounts.entry(Arc::clone(name)).or_insert(*anchored);
                if anchored.lines > mine.lines {
                    *mine = *anchored;
                }
            }
        }
        self
    }
}

impl fmt::Display for Anchor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

/// The text is not an anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not an anchor: give the line that `eke ledger anchor` printed")]
pub struct NotAnAnchor;

impl FromStr for Anchor {
    type Err = NotAnAnchor;

    fn from_str(text: &str) -> Result<Self, NotAnAnchor> {
        serde_json::from_str(text).map_err(|_| NotAnAnchor)
    }
}
