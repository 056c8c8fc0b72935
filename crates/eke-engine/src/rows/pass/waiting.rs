//! Rows that wait until there are many of the same shard.
//!
//! A table of units is larger than what a processor has at hand, and rows come in any order: each
//! would wait for memory. Rows of one shard that are taken in together find it at hand.

use std::mem::size_of;

/// Rows of one shard, one after the other.
#[derive(Default)]
pub(crate) struct Waiting {
    /// What a row is looked up by.
    hashes: Vec<u64>,
    /// Of each row the name of its group, and then that of its unit.
    names: Vec<u8>,
    /// Where the name of each group ends, and where that of each unit.
    ends: Vec<(usize, usize)>,
    /// What each row adds.
    steps: Vec<i64>,
}

/// One of them.
#[derive(Clone, Copy)]
pub(crate) struct WaitingRow<'a> {
    pub(crate) hash: u64,
    /// The name of the group, and then that of the unit.
    pub(crate) name: &'a [u8],
    pub(crate) group: &'a [u8],
    pub(crate) unit: &'a [u8],
    pub(crate) steps: &'a [i64],
}

impl Waiting {
    /// Adds a row.
    #[inline]
    pub(crate) fn push(&mut self, hash: u64, group: &[u8], unit: &[u8], steps: &[i64]) {
        self.hashes.push(hash);
        self.names.extend_from_slice(group);
        let group = self.names.len();
        self.names.extend_from_slice(unit);
        self.ends.push((group, self.names.len()));
        self.steps.extend_from_slice(steps);
    }

    /// The rows, each of which adds this many steps.
    pub(crate) fn rows(&self, steps: usize) -> impl ExactSizeIterator<Item = WaitingRow<'_>> {
        let mut start = 0;
        self.hashes.iter().zip(&self.ends).enumerate().map(move |(row, (&hash, &(group, end)))| {
            let from = std::mem::replace(&mut start, end);
            WaitingRow {
                hash,
                name: &self.names[from..end],
                group: &self.names[from..group],
                unit: &self.names[group..end],
                steps: &self.steps[row * steps..(row + 1) * steps],
            }
        })
    }

    pub(crate) fn clear(&mut self) {
        self.hashes.clear();
        self.names.clear();
        self.ends.clear();
        self.steps.clear();
    }

    /// How many bytes wait.
    #[inline]
    pub(crate) fn held(&self) -> usize {
        let row = size_of::<u64>() + size_of::<(usize, usize)>();
        self.hashes.len() * row + self.names.len() + self.steps.len() * size_of::<i64>()
    }
}
