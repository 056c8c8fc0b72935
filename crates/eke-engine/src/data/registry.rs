//! What a ledger knows about its datasets: where each lies, which unit its rows belong to, and its
//! snapshots.
//!
//! It keeps a ledger from being used with other data than it was opened for, and notices when a
//! file changes under a snapshot. A dataset keeps its unit and unit column for good. Its snapshots
//! are numbered from 1, by the steward's act or schedule alone: whether a file has changed never
//! numbers one, and declaring one that has not changed is no error. All of them compose in the
//! unit's account.
//!
//! The hash key decides which of a unit's groups are kept. It is drawn once, lies here and nowhere
//! else, and is not printed.
//!
//! It is kept as JSON with a version. Ledgers outlive code: what version 1 says may never change.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use eke_budget::{Amount, Rho};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

pub use crate::purchase::reading::Reading;

/// The version of what is written.
const VERSION: u32 = 1;
/// How many notices are kept. Beyond them the oldest are forgotten, and counted.
const MOST_NOTICES: usize = 1000;

/// What a ledger knows about its datasets.
///
/// ```
/// # use eke_engine::registry::{Identity, Registry};
/// # use serde_json::json;
/// let trips = Identity { source: "trips.parquet", unit: "rider", unit_column: "rider_id" };
/// let mut registry = Registry::new([7; 32])?;
/// registry.pin("trips", trips, json!("a fingerprint"), "2026-11-16T08:00:00Z")?;
/// let registry = Registry::read(&registry.write())?;
/// assert_eq!(registry.check("trips", trips)?.latest().number, 1);
/// let error = registry.check_fingerprint("trips", &json!("another one")).unwrap_err();
/// assert!(error.to_string().starts_with("`trips.parquet` has changed since snapshot 1"));
/// # Ok::<(), eke_engine::registry::RegistryError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Registry {
    version: u32,
    hash_key: HashKey,
    datasets: BTreeMap<String, Pinned>,
    notices: Vec<Notice>,
    forgotten: u64,
    #[serde(skip_serializing_if = "Reading::is_empty")]
    reading: Reading,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    published: Vec<Published>,
}

/// What a dataset is: where its rows are, and whose they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity<'a> {
    /// Where its rows are, as the policy has it.
    pub source: &'a str,
    /// The kind of unit.
    pub unit: &'a str,
    /// The column that says which unit a row belongs to.
    pub unit_column: &'a str,
}

/// A dataset as the ledger knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pinned {
    source: String,
    unit: String,
    unit_column: String,
    snapshots: Vec<Snapshot>,
}

/// The rows of a dataset as they were when the steward said so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    /// Its number: 1 is the first.
    pub number: u32,
    /// When it was declared.
    pub declared: String,
    /// Where its rows were.
    pub source: String,
    /// What tells whether the file is still the same. Only the program that makes it interprets it.
    pub fingerprint: Value,
}

/// A profile of a dataset that was bought: whoever sees bounds that follow from it has seen it, so
/// every account of the unit pays for it, also those that are opened later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// The dataset.
    pub dataset: String,
    /// The number of its snapshot.
    pub snapshot: u32,
    /// What it is found by.
    pub name: String,
    /// What it cost in all.
    pub rho: Amount<Rho>,
    /// The columns whose groups were counted.
    pub keys: Vec<String>,
    /// The columns whose values were looked at.
    pub columns: Vec<String>,
    /// The accounts that have paid for it.
    pub payers: BTreeSet<String>,
}

/// Something that the steward is to know, and nobody else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Notice {
    /// When it happened.
    pub at: String,
    /// What happened.
    pub what: String,
}

/// Why a ledger does not go with a dataset. For the steward: it tells whether a file has changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// The ledger has no such dataset.
    #[error("the ledger does not know `{0}` yet: run `eke snapshot {0}` to declare its snapshot 1")]
    Unknown(String),
    /// The ledger has the dataset already.
    #[error("the ledger has `{0}` already: run `eke snapshot {0}` to declare its next snapshot")]
    Pinned(String),
    /// The ledger has other rows under that name.
    #[error(
        "this ledger was opened for `{dataset}` in `{pinned}`, and the policy has it in `{found}`: if it is newer data about the same {unit}s, run `eke snapshot {dataset}` to declare snapshot {next}, and if not, use the ledger of this dataset"
    )]
    OtherSource {
        /// The dataset.
        dataset: String,
        /// Where the ledger has it.
        pinned: String,
        /// Where the policy has it.
        found: String,
        /// Whose it is.
        unit: String,
        /// The number of its next snapshot.
        next: u32,
    },
    /// The ledger has other units under that name.
    #[error(
        "this ledger was opened for `{dataset}` of unit `{}` by column `{}`, and the policy says unit `{}` by column `{}`: put that back, or use the ledger that belongs to this policy",
        pinned.0, pinned.1, found.0, found.1
    )]
    OtherUnit {
        /// The dataset.
        dataset: String,
        /// The unit and its column in the ledger.
        pinned: (String, String),
        /// The unit and its column in the policy.
        found: (String, String),
    },
    /// The ledger has the unit with another period.
    #[error(
        "this ledger knows unit `{unit}` by `{}` in `{}`, and the policy says `{found}` for `{dataset}`: what a unit is, with its period and its zone, is the same in all its datasets and for good; put that back, or name another unit, which has a budget of its own",
        pinned.1, pinned.0
    )]
    OtherPeriod {
        /// The dataset.
        dataset: String,
        /// The unit.
        unit: String,
        /// A dataset of that unit in the ledger, and what says there which unit a row belongs to.
        pinned: (String, String),
        /// What says so in the policy.
        found: String,
    },
    /// The ledger has the same rows under another unit.
    #[error(
        "`{dataset}` holds the rows of `{}`, which this ledger pays for from the budget of unit `{}`, and the policy says unit `{}` by the same column `{}`: put unit `{}` back; another name for a unit is not another budget",
        pinned.0, pinned.1, found.0, found.1, pinned.1
    )]
    SameRows {
        /// The dataset.
        dataset: String,
        /// The unit and its column in the policy.
        found: (String, String),
        /// The dataset that the ledger knows them as, and its unit.
        pinned: (String, String),
    },
    /// The file is not as it was when the snapshot was declared.
    #[error(
        "`{file}` has changed since snapshot {number} of `{dataset}` was declared: run `eke snapshot {dataset}` to declare snapshot {next}; what was asked before stays paid for"
    )]
    Changed {
        /// The file.
        file: String,
        /// The dataset.
        dataset: String,
        /// The snapshot.
        number: u32,
        /// The number of the next one.
        next: u32,
    },
    /// There are as many snapshots as can be counted.
    #[error("`{0}` has as many snapshots as eke counts: give the dataset another name")]
    TooMany(String),
    /// A text that must say something says nothing.
    #[error("the {0} is empty: give it")]
    Empty(&'static str),
    /// The hash key is all zeros, so nobody drew it.
    #[error("the hash key is all zeros, which nobody draws: draw 32 random bytes")]
    NoKey,
    /// The registry is of another version.
    #[error(
        "the ledger's registry has version {0}, and this eke reads version {VERSION}: use the eke that wrote it, or a newer one"
    )]
    Version(u64),
    /// What is stored is not a registry.
    #[error("the ledger's registry cannot be read ({0}): restore the ledger from a backup")]
    Unreadable(String),
}

impl Registry {
    /// A registry without datasets, with a key of 32 random bytes.
    ///
    /// # Errors
    /// The key is all zeros.
    pub fn new(hash_key: [u8; 32]) -> Result<Self, RegistryError> {
        let (datasets, notices) = (BTreeMap::new(), Vec::new());
        let hash_key = HashKey(hash_key);
        let (forgotten, reading, published) = (0, Reading::default(), Vec::new());
        Self { version: VERSION, hash_key, datasets, notices, forgotten, reading, published }
            .checked()
    }

    /// Reads what [`write`](Self::write) wrote.
    ///
    /// # Errors
    /// It is of another version, or something in it cannot be as it is.
    pub fn read(text: &str) -> Result<Self, RegistryError> {
        let unreadable = |error: serde_json::Error| RegistryError::Unreadable(error.to_string());
        // What another version says besides is not ours to judge.
        let Versioned { version } = serde_json::from_str(text).map_err(unreadable)?;
        if version != u64::from(VERSION) {
            return Err(RegistryError::Version(version));
        }
        let form: Form = serde_json::from_str(text).map_err(unreadable)?;
        let Form { version, hash_key, datasets, notices, forgotten, reading, published } = form;
        Self { version, hash_key, datasets, notices, forgotten, reading, published }.checked()
    }

    /// The registry as JSON. The hash key is in it.
    #[must_use]
    pub fn write(&self) -> String {
        // Every key is a text, so this cannot fail; a text that is no registry would not be read.
        serde_json::to_string(self).unwrap_or_default()
    }

    fn checked(self) -> Result<Self, RegistryError> {
        if self.hash_key.0 == [0; 32] {
            return Err(RegistryError::NoKey);
        }
        for (name, pinned) in &self.datasets {
            pinned.identity().check()?;
            not_empty("name of a dataset", name)?;
            let numbers = pinned.snapshots.iter().map(|snapshot| snapshot.number);
            if pinned.snapshots.is_empty() || !numbers.eq((1..).take(pinned.snapshots.len())) {
                let problem = format!("the snapshots of `{name}` are not numbered 1, 2, …");
                return Err(RegistryError::Unreadable(problem));
            }
        }
        Ok(self)
    }

    /// The key of the hash that decides which of a unit's groups are kept.
    #[must_use]
    pub fn hash_key(&self) -> &[u8; 32] {
        &self.hash_key.0
    }

    /// The datasets by name.
    pub fn datasets(&self) -> impl Iterator<Item = (&str, &Pinned)> {
        self.datasets.iter().map(|(name, pinned)| (name.as_str(), pinned))
    }

    /// What the steward is to know, the oldest first.
    #[must_use]
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }

    /// What became of reading rows.
    #[must_use]
    pub fn reading(&self) -> &Reading {
        &self.reading
    }

    /// The profiles that were bought, the oldest first.
    #[must_use]
    pub fn published(&self) -> &[Published] {
        &self.published
    }

    /// Writes down that a profile was bought, or that more accounts have paid for it.
    pub(crate) fn publish(&mut self, profile: Published) {
        match self.published.iter_mut().find(|known| known.name == profile.name) {
            Some(known) => known.payers.extend(profile.payers),
            None => self.published.push(profile),
        }
    }

    pub(crate) fn reading_mut(&mut self) -> &mut Reading {
        &mut self.reading
    }

    /// Takes a dataset in, and declares its snapshot 1.
    ///
    /// # Errors
    /// The dataset is there already, or something is empty.
    pub fn pin(
        &mut self,
        dataset: &str,
        is: Identity<'_>,
        fingerprint: Value,
        at: &str,
    ) -> Result<(), RegistryError> {
        not_empty("name of a dataset", dataset)?;
        not_empty("moment", at)?;
        is.check()?;
        if self.datasets.contains_key(dataset) {
            return Err(RegistryError::Pinned(dataset.to_owned()));
        }
        let (declared, source) = (at.to_owned(), is.source.to_owned());
        let first = Snapshot { number: 1, declared, source, fingerprint };
        let pinned = Pinned {
            source: is.source.to_owned(),
            unit: is.unit.to_owned(),
            unit_column: is.unit_column.to_owned(),
            snapshots: vec![first],
        };
        self.datasets.insert(dataset.to_owned(), pinned);
        Ok(())
    }

    /// Declares the next snapshot of a dataset, which may lie elsewhere than the last one. Its
    /// number is one more, also where nothing has changed.
    ///
    /// # Errors
    /// The dataset is not there, or it has another unit.
    pub fn declare_snapshot(
        &mut self,
        dataset: &str,
        is: Identity<'_>,
        fingerprint: Value,
        at: &str,
    ) -> Result<&Snapshot, RegistryError> {
        not_empty("moment", at)?;
        is.check()?;
        let unknown = || RegistryError::Unknown(dataset.to_owned());
        let pinned = self.datasets.get_mut(dataset).ok_or_else(unknown)?;
        pinned.check_unit(dataset, is)?;
        let many = || RegistryError::TooMany(dataset.to_owned());
        let number = pinned.latest().number.checked_add(1).ok_or_else(many)?;
        let (declared, source) = (at.to_owned(), is.source.to_owned());
        pinned.source.clone_from(&source);
        pinned.snapshots.push(Snapshot { number, declared, source, fingerprint });
        Ok(pinned.latest())
    }

    /// The dataset, if the ledger knows it as the policy does.
    ///
    /// # Errors
    /// The ledger does not know it, or knows another under that name.
    pub fn check(&self, dataset: &str, is: Identity<'_>) -> Result<&Pinned, RegistryError> {
        let pinned = self.pinned(dataset)?;
        pinned.check_unit(dataset, is)?;
        if pinned.source != is.source {
            return Err(RegistryError::OtherSource {
                dataset: dataset.to_owned(),
                pinned: pinned.source.clone(),
                found: is.source.to_owned(),
                unit: pinned.unit.clone(),
                next: pinned.latest().number.saturating_add(1),
            });
        }
        Ok(pinned)
    }

    /// The latest snapshot of a dataset, if its file is still the same. An analyst is not told if
    /// it is not.
    ///
    /// # Errors
    /// The ledger does not know the dataset, or the file has changed.
    pub fn check_fingerprint(
        &self,
        dataset: &str,
        fingerprint: &Value,
    ) -> Result<&Snapshot, RegistryError> {
        let pinned = self.pinned(dataset)?;
        let latest = pinned.latest();
        if latest.fingerprint != *fingerprint {
            return Err(RegistryError::Changed {
                file: pinned.source.clone(),
                dataset: dataset.to_owned(),
                number: latest.number,
                next: latest.number.saturating_add(1),
            });
        }
        Ok(latest)
    }

    /// What is pinned of a dataset.
    pub(crate) fn pinned(&self, dataset: &str) -> Result<&Pinned, RegistryError> {
        self.datasets.get(dataset).ok_or_else(|| RegistryError::Unknown(dataset.to_owned()))
    }

    /// Keeps something for the steward. The oldest notices make room.
    pub fn notify(&mut self, at: &str, what: &str) {
        self.notices.push(Notice { at: at.to_owned(), what: what.to_owned() });
        if self.notices.len() > MOST_NOTICES {
            self.notices.remove(0);
            self.forgotten = self.forgotten.saturating_add(1);
        }
    }
}

impl Pinned {
    /// What it is.
    #[must_use]
    pub fn identity(&self) -> Identity<'_> {
        Identity { source: &self.source, unit: &self.unit, unit_column: &self.unit_column }
    }

    /// Its snapshots, the first one first. There is at least one.
    #[must_use]
    pub fn snapshots(&self) -> &[Snapshot] {
        &self.snapshots
    }

    /// Its latest snapshot, which questions are about.
    ///
    /// # Panics
    /// Never: there is at least one.
    #[must_use]
    pub fn latest(&self) -> &Snapshot {
        self.snapshots
            .last()
            .expect("a dataset is taken in with a snapshot, and read back with one")
    }

    fn check_unit(&self, dataset: &str, is: Identity<'_>) -> Result<(), RegistryError> {
        if (self.unit.as_str(), self.unit_column.as_str()) == (is.unit, is.unit_column) {
            return Ok(());
        }
        Err(RegistryError::OtherUnit {
            dataset: dataset.to_owned(),
            pinned: (self.unit.clone(), self.unit_column.clone()),
            found: (is.unit.to_owned(), is.unit_column.to_owned()),
        })
    }
}

impl Identity<'_> {
    fn check(self) -> Result<(), RegistryError> {
        not_empty("source of a dataset", self.source)?;
        not_empty("unit of a dataset", self.unit)?;
        // Rows that are units have no column of them.
        if self.unit == crate::policy::ROW {
            Ok(())
        } else {
            not_empty("unit column of a dataset", self.unit_column)
        }
    }
}

fn not_empty(what: &'static str, text: &str) -> Result<(), RegistryError> {
    if text.is_empty() { Err(RegistryError::Empty(what)) } else { Ok(()) }
}

#[derive(Deserialize)]
struct Versioned {
    version: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    version: u32,
    hash_key: HashKey,
    datasets: BTreeMap<String, Pinned>,
    notices: Vec<Notice>,
    forgotten: u64,
    /// Not there where nothing has failed yet.
    #[serde(default)]
    reading: Reading,
    /// Not there where no profile was bought yet.
    #[serde(default)]
    published: Vec<Published>,
}

/// 32 bytes, as 64 hexadecimal digits in JSON and as nothing in messages.
#[derive(Clone, PartialEq, Eq)]
struct HashKey([u8; 32]);

impl fmt::Debug for HashKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HashKey(..)")
    }
}

impl Serialize for HashKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&blake3::Hash::from_bytes(self.0))
    }
}

impl<'de> Deserialize<'de> for HashKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let digits = String::deserialize(deserializer)?;
        // The digits are not repeated in the message.
        let key = blake3::Hash::from_hex(digits);
        key.map(|key| Self(key.into()))
            .map_err(|_| serde::de::Error::custom("the hash key is not 64 hexadecimal digits"))
    }
}
