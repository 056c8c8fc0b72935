//! What a profile keeps of each unit while rows are read: how many rows it has, the different
//! values of its keys, and the rows that one of them is chosen from.
//!
//! The chosen row is the one with the smallest keyed hash of (unit, row bytes, copy number). A
//! row's bytes are the values of the columns that are profiled; rows with the same bytes are
//! copies of each other and are numbered from zero, so each of a unit's rows is chosen equally
//! often, wherever it stands in the files. Positions are never read.
//!
//! A unit holds at most [`MOST`] different rows, and one value of a key more than that: those with
//! the smallest keyed hashes. What is among the smallest of all was among the smallest all along,
//! so its copies are counted exactly, and what is kept depends on the unit's rows alone: not on
//! their order, nor on batches, parts, or when memory was given up to disk. The hash may never
//! change: profiles that were paid for depend on it.

use std::collections::{BTreeSet, HashMap};

use crate::profile::layout::{self, Layout};
use crate::rows::column::encoding::take;
use crate::rows::pass::bounding::HashKey;
use crate::rows::pass::shards::Shard;

/// How many different rows of a unit are held, and how many values of a key are told apart.
const MOST: usize = 1 << 16;

/// The keys of the hashes: of rows, of values of keys, and of copies.
#[derive(Clone)]
pub(crate) struct ProfileKeys {
    rows: [u8; 32],
    values: [u8; 32],
    copies: [u8; 32],
}

impl ProfileKeys {
    pub(crate) fn new(key: &HashKey) -> Self {
        let derived = |context: &str| blake3::derive_key(context, &key.0);
        Self {
            rows: derived("eke profile 1: rows"),
            values: derived("eke profile 1: values of keys"),
            copies: derived("eke profile 1: copies"),
        }
    }

    /// The digest of a row, by its unit and its bytes.
    pub(crate) fn row(&self, unit: &[u8], row: &[u8]) -> u128 {
        digest(&self.rows, unit, row)
    }

    /// The digest of a value of a key, by the unit and its bytes.
    pub(crate) fn value(&self, unit: &[u8], value: &[u8]) -> u128 {
        digest(&self.values, unit, value)
    }

    /// What one copy of a row is chosen by.
    fn copy(&self, row: u128, copy: u64) -> u128 {
        digest(&self.copies, &row.to_le_bytes(), &copy.to_le_bytes())
    }
}

/// Of two texts of bytes, the length of the first one before it.
fn digest(key: &[u8; 32], one: &[u8], other: &[u8]) -> u128 {
    let mut hasher = blake3::Hasher::new_keyed(key);
    hasher.update(&(one.len() as u64).to_le_bytes()).update(one).update(other);
    let hash = hasher.finalize();
    hash.as_bytes().first_chunk().map_or(0, |first| u128::from_be_bytes(*first))
}

/// What is kept of one unit.
#[derive(Default)]
struct OneUnit {
    rows: u64,
    /// Different rows by their digests: how many copies, and the bins of their values.
    lines: HashMap<u128, (u64, Box<[u8]>)>,
    /// Different values of each key, by their digests.
    keys: Vec<BTreeSet<u128>>,
}

impl OneUnit {
    fn add_line(&mut self, line: u128, copies: u64, bins: &[u8]) -> usize {
        if let Some((known, _)) = self.lines.get_mut(&line) {
            *known = known.saturating_add(copies);
            return 0;
        }
        self.lines.insert(line, (copies, bins.into()));
        if self.lines.len() > 2 * MOST {
            self.forget();
        }
        LINE + bins.len()
    }

    /// Keeps the rows with the smallest digests.
    fn forget(&mut self) {
        if self.lines.len() <= MOST {
            return;
        }
        let mut digests: Vec<u128> = self.lines.keys().copied().collect();
        let (_, &mut last, _) = digests.select_nth_unstable(MOST - 1);
        self.lines.retain(|digest, _| *digest <= last);
    }

    fn add_value(&mut self, key: usize, value: u128) -> usize {
        if self.keys.len() <= key {
            self.keys.resize_with(key + 1, BTreeSet::new);
        }
        let values = &mut self.keys[key];
        let is_new = values.insert(value);
        if values.len() > MOST + 1 {
            values.pop_last();
        }
        if is_new { VALUE } else { 0 }
    }

    /// The bins of the values of the chosen row.
    fn chosen(mut self, keys: &ProfileKeys) -> Box<[u8]> {
        self.forget();
        let first = |(&line, (copies, _)): (&u128, &(u64, Box<[u8]>))| {
            (0..*copies).map(|copy| (keys.copy(line, copy), line)).min()
        };
        let chosen = self.lines.iter().filter_map(first).min();
        let line = chosen.and_then(|(_, line)| self.lines.remove(&line));
        line.map_or_else(Box::default, |(_, bins)| bins)
    }
}

/// What entries take in memory, about.
const UNIT: usize = 160;
const LINE: usize = 64;
const VALUE: usize = 32;

/// What is kept of the units of a shard.
pub(crate) struct UnitRows {
    units: HashMap<Box<[u8]>, OneUnit>,
    /// How many values a row has a bin of, and how many keys there are.
    shape: (usize, usize),
    held: usize,
}

impl UnitRows {
    pub(crate) fn new(layout: &Layout) -> Self {
        let shape = (layout.columns.len(), layout.keys.len());
        Self { units: HashMap::new(), shape, held: 0 }
    }

    fn unit(&mut self, unit: &[u8]) -> &mut OneUnit {
        if !self.units.contains_key(unit) {
            self.held += UNIT + unit.len();
            self.units.insert(unit.into(), OneUnit::default());
        }
        self.units.entry(unit.into()).or_default()
    }

    /// Takes in a row: its digest, the bins of its values, and the digests of its keys.
    pub(crate) fn add(&mut self, unit: &[u8], line: u128, bins: &[u8], keys: &[u128]) {
        let has_values = self.shape.0 > 0;
        let unit = self.unit(unit);
        unit.rows = unit.rows.saturating_add(1);
        let mut more = if has_values { unit.add_line(line, 1, bins) } else { 0 };
        for (key, &value) in keys.iter().enumerate() {
            more += unit.add_value(key, value);
        }
        self.held += more;
    }

    /// Hands on the cells of every unit, one of each histogram.
    pub(crate) fn each(self, layout: &Layout, keys: &ProfileKeys, mut cells: impl FnMut(&[usize])) {
        for (_, unit) in self.units {
            let count = |values: &BTreeSet<u128>| values.len() as u64;
            let groups: Vec<u64> = unit.keys.iter().map(count).collect();
            let rows = unit.rows;
            let values = unit.chosen(keys);
            cells(&layout.cells_of(rows, &groups, &values));
        }
    }
}

impl Shard for UnitRows {
    fn held(&self) -> usize {
        self.held
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        for (name, unit) in &self.units {
            bytes.extend((name.len() as u64).to_le_bytes());
            bytes.extend(&**name);
            bytes.extend(unit.rows.to_le_bytes());
            bytes.extend((unit.lines.len() as u64).to_le_bytes());
            for (line, (copies, bins)) in &unit.lines {
                bytes.extend(line.to_le_bytes());
                bytes.extend(copies.to_le_bytes());
                bytes.extend(&**bins);
            }
            for key in 0..self.shape.1 {
                let values = unit.keys.get(key);
                bytes.extend((values.map_or(0, BTreeSet::len) as u64).to_le_bytes());
                values.into_iter().flatten().for_each(|value| bytes.extend(value.to_le_bytes()));
            }
        }
    }

    fn read(&mut self, mut bytes: &[u8]) -> Option<()> {
        let (values, keys) = self.shape;
        let length = |bytes: &mut &[u8]| usize::try_from(u64::from_le_bytes(take(bytes)?)).ok();
        while !bytes.is_empty() {
            let name_length = length(&mut bytes)?;
            let (name, rest) = bytes.split_at_checked(name_length)?;
            bytes = rest;
            let rows = u64::from_le_bytes(take(&mut bytes)?);
            let lines = length(&mut bytes)?;
            let unit = self.unit(name);
            unit.rows = unit.rows.saturating_add(rows);
            let mut more = 0;
            for _ in 0..lines {
                let line = u128::from_le_bytes(take(&mut bytes)?);
                let copies = u64::from_le_bytes(take(&mut bytes)?);
                let (bins, rest) = bytes.split_at_checked(values)?;
                bytes = rest;
                more += unit.add_line(line, copies, bins);
            }
            for key in 0..keys {
                for _ in 0..length(&mut bytes)? {
                    more += unit.add_value(key, u128::from_le_bytes(take(&mut bytes)?));
                }
            }
            self.held += more;
        }
        Some(())
    }
}

/// The bins of the values of a row, and its bytes for the digest.
pub(crate) fn bins_of(columns: &[crate::rows::column::Column], row: usize, bins: &mut Vec<u8>) {
    bins.clear();
    bins.extend(columns.iter().map(|column| layout::value_bin(column, row)));
}
