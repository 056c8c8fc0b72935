//! What units keep, added up by group: sums, and different values where these are counted.

use std::hash::BuildHasher as _;

use crate::rows::RowsError;
use crate::rows::pass::shards::{Shards, shard};
use crate::rows::pass::totals::Totals;
use crate::rows::pass::values::{Digest, Values};
use crate::rows::pass::{Pass, TakesRows as _};

/// What one worker has added up.
pub(crate) struct AddedUp {
    totals: Shards<Totals>,
    /// Where different values are counted.
    values: Option<Shards<Values>>,
}

impl AddedUp {
    pub(crate) fn new(pass: &Pass) -> Self {
        let values = &|| pass.values();
        let counts_values = !pass.limits.bringing.most.is_empty();
        Self {
            totals: Shards::new(&|| Totals::make(pass)),
            values: counts_values.then(|| Shards::new(values)),
        }
    }

    /// Adds what a unit has in a group: numbers, and values with the list that each is on; none if
    /// there are more names than can be numbered.
    pub(crate) fn add(
        &mut self,
        pass: &Pass,
        group: &[u8],
        numbers: impl Iterator<Item = i128>,
        brought: impl Iterator<Item = (u32, Digest)>,
    ) -> Option<()> {
        let hash = pass.hash.hash_one(group);
        self.totals.in_memory[shard(hash)].add(hash, group, numbers)?;
        let Some(values) = &mut self.values else { return Some(()) };
        for (list, digest) in brought {
            let place = shard(Values::shard_hash(hash, digest));
            values.in_memory[place].add(hash, group, list, digest)?;
        }
        Some(())
    }

    /// Puts it on disk if it holds more than a worker may.
    pub(crate) fn give_way(&mut self, pass: &Pass) -> Result<(), RowsError> {
        let values = self.values.as_ref().map_or(0, Shards::held);
        if self.totals.held() + values > pass.share() {
            let make = &|| Totals::make(pass);
            self.totals.spill(pass.folder(), make).map_err(RowsError::failed)?;
            if let Some(values) = &mut self.values {
                values.spill(pass.folder(), &|| pass.values()).map_err(RowsError::failed)?;
            }
        }
        Ok(())
    }

    /// What several workers have added up.
    pub(crate) fn parts(all: Vec<Self>) -> (Vec<Shards<Totals>>, Vec<Shards<Values>>) {
        let (totals, values): (_, Vec<_>) =
            all.into_iter().map(|added| (added.totals, added.values)).unzip();
        (totals, values.into_iter().flatten().collect())
    }
}
