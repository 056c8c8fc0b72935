//! What paths, selections and watches are found by: everything that they depend on, and nothing
//! else.
//!
//! Two questions of one identity share what was drawn and paid for. So whatever changes the truth
//! or its noise is part of it: what is computed, from which snapshot of which rows, read as what,
//! for which unit. Who asks is not. Ledgers outlive code: what is hashed for a kind, and in which
//! order, may never change, and golden digests hold it. What has to change is another version of
//! the kind.

use eke_budget::PathId;
use eke_sql::Plan;
use serde::Serialize;

use crate::engine::{Prepared, PreparedDataset};
use crate::error::EngineError;

/// What has an identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The paths of a question's groups.
    Question,
    /// A ranking of groups.
    Ranking,
    /// The cuts of a search for quantiles.
    Search,
    /// The counts of units that are cut in a question.
    Cuts,
    /// A selection of keys.
    Keys,
    /// A watch.
    Watch,
    /// A profile of a dataset.
    Profile,
    /// What is released about a person's places.
    Places,
    /// A file of places, and the columns that are read of it.
    PlaceFile,
    /// All paths that differ only in their bounds.
    Family,
}

impl Purpose {
    /// The context of its hash, with its version.
    pub(crate) fn context(self) -> &'static str {
        match self {
            Self::Question => "eke question 1",
            Self::Ranking => "eke ranking 1",
            Self::Search => "eke search 1",
            Self::Cuts => "eke cut counts 1",
            Self::Keys => "eke selection of keys 1",
            Self::Watch => "eke watch 1",
            Self::Profile => "eke profile 1",
            Self::Places => "eke places 1",
            Self::PlaceFile => "eke places 1: a file and its columns",
            Self::Family => "eke family of paths 1",
        }
    }
}

/// An identity that is being made.
pub(crate) struct Identity {
    hasher: blake3::Hasher,
    /// What could not be written down: such a thing has no identity.
    unwritten: Option<serde_json::Error>,
}

impl Identity {
    pub(crate) fn new(kind: Purpose) -> Self {
        Self { hasher: blake3::Hasher::new_derive_key(kind.context()), unwritten: None }
    }

    /// What is computed.
    pub(crate) fn plan(self, plan: &Plan) -> Self {
        self.bytes(&plan.digest())
    }

    /// From which rows, read as what, and whose they are.
    pub(crate) fn rows(self, prepared: &Prepared) -> Self {
        let (first, others) = match prepared.datasets.split_first() {
            Some((first, others)) => (Some(first), others),
            None => (None, &[][..]),
        };
        let rows = self.bytes(&first.map_or(0, |dataset| dataset.snapshot).to_le_bytes());
        let rows = rows.bytes(prepared.payers.unit.name.as_bytes());
        let rows = match first {
            Some(dataset) => rows.json(&dataset.read_as()),
            None => rows,
        };
        // What reads no public table is found by what it always was.
        let rows = match prepared.looked_up() {
            Some(digests) => rows.bytes(b"public tables").json(&digests),
            None => rows,
        };
        // And so is what reads one dataset.
        let name = |rows: Self, dataset: &PreparedDataset| {
            let rows = rows.bytes(b"another dataset").json(&(&dataset.name, dataset.snapshot));
            rows.json(&dataset.read_as())
        };
        others.iter().fold(rows, name)
    }

    pub(crate) fn bytes(mut self, bytes: &[u8]) -> Self {
        self.hasher.update(bytes);
        self
    }

    pub(crate) fn json(mut self, value: &impl Serialize) -> Self {
        match serde_json::to_vec(value) {
            Ok(bytes) => self.bytes(&bytes),
            Err(error) => {
                self.unwritten.get_or_insert(error);
                self
            }
        }
    }

    /// The identity, as 32 bytes.
    ///
    /// # Errors
    /// Something that it depends on cannot be written down.
    pub(crate) fn hash(self) -> Result<blake3::Hash, serde_json::Error> {
        match self.unwritten {
            None => Ok(self.hasher.finalize()),
            Some(error) => Err(error),
        }
    }

    /// The same for a question.
    pub(crate) fn named(self) -> Result<blake3::Hash, EngineError> {
        self.hash().map_err(|error| EngineError::Damaged(error.to_string()))
    }

    /// The path of that identity.
    pub(crate) fn path(self) -> Result<PathId, EngineError> {
        Ok(PathId::new(*self.named()?.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// What ledgers know paths by.
    #[test]
    fn identities_are_what_they_were() {
        let named = |kind: Purpose| {
            let identity = Identity::new(kind).bytes(b"a plan").json(&(1u8, "rows", [Some(0.5)]));
            identity.hash().unwrap().to_hex()[..16].to_owned()
        };
        let golden = [
            (Purpose::Question, "b4fc895385409f8b"),
            (Purpose::Ranking, "794c1b46601fab82"),
            (Purpose::Cuts, "e0fd99484488ea85"),
            (Purpose::Keys, "f5cb48b30caafcec"),
            (Purpose::Watch, "3e93f5c5955cb2ce"),
            (Purpose::Places, "f00f3627245d2efa"),
            (Purpose::PlaceFile, "9112b184746a8c88"),
            (Purpose::Family, "26b8b5b67f7ab73e"),
        ];
        for (kind, expected) in golden {
            assert_eq!(named(kind), expected, "{kind:?}");
        }
    }

    /// What cannot be written down is not left out: it would be the identity of something else.
    #[test]
    fn what_cannot_be_written_down_has_no_identity() {
        let unwritten = BTreeMap::from([((1, 2), 3)]);
        assert!(Identity::new(Purpose::Question).json(&unwritten).bytes(b"more").hash().is_err());
    }
}
