//! What units keep, added up by group: sums, and different values where these are counted.

use std::hash::BuildHasher as _;

use crate::rows::RowsError;
use crate::rows::pass::cells::CellWeights;
use crate::rows::pass::shards::{Shards, shard};
use crate::rows::pass::totals::Totals;
use crate::rows::pass::values::{Digest, Values};
use crate::rows::pass::{Pass, TakesRows as _};

/// What one worker has added up.
pub(crate) struct AddedUp {
    totals: Shards<Totals>,
    /// Where different values are counted.
    values: Option<Shards<Values>>,
    /// Where quantiles are searched.
    cells: Option<Shards<CellWeights>>,
}

/// What a unit has in a group.
pub(crate) struct OfGroup<'a, N, V> {
    /// The name of the group.
    pub(crate) group: &'a [u8],
    /// Numbers that are added up.
    pub(crate) numbers: N,
    /// Values, with the list that each is on.
    pub(crate) values: V,
    /// Weights of cells, with the search that each is of.
    pub(crate) cells: &'a [(u32, u64, i64)],
}

impl AddedUp {
    pub(crate) fn new(pass: &Pass) -> Self {
        let values = &|| pass.values();
        let counts_values = !pass.limits.bringing.most.is_empty();
        let searches = !pass.limits.searching.ones.is_empty();
        let cells = &|| pass.cells();
        Self {
            totals: Shards::new(&|| Totals::make(pass)),
            values: counts_values.then(|| Shards::new(values)),
            cells: searches.then(|| Shards::new(cells)),
        }
    }

    /// Adds what a unit has in a group; none if there are more names than can be numbered.
    pub(crate) fn add(
        &mut self,
        pass: &Pass,
        unit: OfGroup<'_, impl Iterator<Item = i128>, impl Iterator<Item = (u32, Digest)>>,
    ) -> Option<()> {
        let OfGroup { group, numbers, values: brought, cells: weights } = unit;
        let hash = pass.hash.hash_one(group);
        self.totals.in_memory[shard(hash)].add(hash, group, numbers)?;
        if let Some(values) = &mut self.values {
            for (list, digest) in brought {
                let place = shard(Values::shard_hash(hash, digest));
                values.in_memory[place].add(hash, group, list, digest)?;
            }
        }
        if let Some(cells) = &mut self.cells {
            for &(search, cell, weight) in weights {
                let place = shard(CellWeights::shard_hash(hash, cell));
                cells.in_memory[place].add(hash, group, (search, cell), weight)?;
            }
        }
        Some(())
    }

    /// Puts it on disk if it holds more than a worker may.
    pub(crate) fn give_way(&mut self, pass: &Pass) -> Result<(), RowsError> {
        let values = self.values.as_ref().map_or(0, Shards::held);
        let cells = self.cells.as_ref().map_or(0, Shards::held);
        if self.totals.held() + values + cells > pass.share() {
            let make = &|| Totals::make(pass);
            self.totals.spill(pass.folder(), make).map_err(RowsError::failed)?;
            if let Some(values) = &mut self.values {
                values.spill(pass.folder(), &|| pass.values()).map_err(RowsError::failed)?;
            }
            if let Some(cells) = &mut self.cells {
                cells.spill(pass.folder(), &|| pass.cells()).map_err(RowsError::failed)?;
            }
        }
        Ok(())
    }

    /// What several workers have added up.
    pub(crate) fn parts(all: Vec<Self>) -> AddedParts {
        let mut parts = AddedParts::default();
        for added in all {
            parts.totals.push(added.totals);
            parts.values.extend(added.values);
            parts.cells.extend(added.cells);
        }
        parts
    }
}

/// What several workers have added up.
#[derive(Default)]
pub(crate) struct AddedParts {
    pub(crate) totals: Vec<Shards<Totals>>,
    pub(crate) values: Vec<Shards<Values>>,
    pub(crate) cells: Vec<Shards<CellWeights>>,
}
