//! Different values: which of them each unit brings to a group, and how many there are in the end
//! (count distinct).
//!
//! A value is known by its digest: 128 bits of keyed BLAKE3 of its bytes. Two of n values have the
//! same digest with a probability of n²/2¹²⁹ at most: below 10⁻¹⁸ for ten billion values. What
//! one unit can change a count by does not rest on that.
//!
//! Of the values that a unit has in a group, those with the smallest keyed hash of (digest, group,
//! unit) take part. The unit is part of it: were it the value alone, all units with many values
//! would bring the same ones, and the rest would be in no count. What a unit brings follows from
//! its own rows and the key alone.
//!
//! Values of different units meet once all units are bounded: a table by group and value has each
//! once, in shards by both, so that no group is too large for one.

use std::fmt;
use std::hash::BuildHasher as _;
use std::mem::size_of;

use arrow_array::Int64Array;
use hashbrown::HashTable;

use crate::rows::column::Column;
use crate::rows::column::encoding::{self, take};
use crate::rows::pass::bounding::HashKey;
use crate::rows::pass::kept::{push_name, take_name};
use crate::rows::pass::names::{NameTable, TableHash};
use crate::rows::pass::order;
use crate::rows::pass::shards::Shard;

/// What a value is known by, in two halves; zeros are no value's.
pub(crate) type Digest = [u64; 2];

/// How many columns of steps bring the digests of one list of values.
pub(crate) const HALVES: usize = 2;

/// The key that the digests of values are made with. It may never change: see
/// [`Bringing::new`].
pub(crate) fn digest_key(key: &HashKey) -> HashKey {
    HashKey(blake3::derive_key("eke 2026-11-18 digests of values that are counted once", &key.0))
}

/// The digests of a column of values, in two halves; NULL where the value is.
pub(crate) fn digests(key: &HashKey, values: &Column, rows: usize) -> [Int64Array; HALVES] {
    let mut bytes = Vec::new();
    let mut halves = [Vec::with_capacity(rows), Vec::with_capacity(rows)];
    for row in 0..rows {
        bytes.clear();
        encoding::push(values, row, &mut bytes);
        // For NULL too: the work does not tell.
        let digest = halved(order::order(key, &bytes).max(1));
        for (list, half) in halves.iter_mut().zip(digest) {
            list.push((!values.is_null(row)).then_some(half.cast_signed()));
        }
    }
    halves.map(Int64Array::from)
}

fn halved(digest: u128) -> Digest {
    let half = |bits: u128| u64::try_from(bits & u128::from(u64::MAX)).unwrap_or_default();
    [half(digest >> 64), half(digest)]
}

/// The digest that a row brings in two of its steps; none if the value is NULL.
pub(crate) fn brought(steps: &[i64]) -> Option<Digest> {
    let digest = [steps.first()?.cast_unsigned(), steps.get(1)?.cast_unsigned()];
    (digest != [0, 0]).then_some(digest)
}

/// How many values of each list a unit brings to a group, and by which order.
///
/// - Theorem: distinct-values (docs/theorems.md)
/// - Proves: adding, removing or replacing a unit changes the count of a group by at most `most`
/// - Assumes: the hash key does not depend on rows (the ledger)
/// - Deviates: the order has 64 bits, and equal ones are decided by the digest; both are the unit's
///   own
/// - Checked by: `removing_a_unit_changes_no_more_than_the_plan_says`,
///   `replacing_a_unit_changes_counts_of_values_by_no_more_than_one_unit_brings`,
///   `different_units_bring_different_ones_of_the_same_values`
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Bringing {
    /// For each list, how many.
    pub(crate) most: Vec<u32>,
    key: HashKey,
}

impl fmt::Debug for Bringing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bringing({:?})", self.most)
    }
}

impl Bringing {
    /// With the hash key of the ledger. What is made of it may never change: answers that were paid
    /// for depend on which values take part.
    pub(crate) fn new(most: Vec<u32>, key: &HashKey) -> Self {
        let key = blake3::derive_key("eke 2026-11-18 which values of a unit take part", &key.0);
        Self { most, key: HashKey(key) }
    }

    /// A value as one of a unit in a group, where `name` is that of the group and then that of the
    /// unit.
    pub(crate) fn value(&self, digest: Digest, name: &[u8], bytes: &mut Vec<u8>) -> UnitValue {
        bytes.clear();
        digest.iter().for_each(|half| bytes.extend(half.to_le_bytes()));
        bytes.extend_from_slice(name);
        UnitValue { order: order::first_half(order::order(&self.key, bytes)), digest }
    }
}

/// A value of a unit in a group. The least take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct UnitValue {
    order: u64,
    /// Decides between equal orders.
    pub(crate) digest: Digest,
}

/// The values that a unit brings to a group: the least so far, and some more.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnitValues {
    list: Vec<UnitValue>,
    /// How many at the start are sorted, different, and no more than may take part. The others came
    /// since.
    sorted: usize,
}

/// How many values are gathered at least before they are sorted.
const FEW: usize = 8;

impl UnitValues {
    /// Takes a value in, of which `most` are kept; how many bytes of memory that took.
    pub(crate) fn add(&mut self, value: UnitValue, most: u32) -> usize {
        let (before, sorted) = (self.held(), &self.list[..self.sorted]);
        let is_full = sorted.len() >= most as usize;
        if (is_full && sorted.last().is_some_and(|last| value > *last))
            || sorted.binary_search(&value).is_ok()
        {
            return 0;
        }
        self.list.push(value);
        if self.list.len() >= (2 * self.sorted).max(FEW) {
            self.settle(most);
        }
        self.held() - before
    }

    /// Leaves the least of them, each once, in their order.
    pub(crate) fn settle(&mut self, most: u32) {
        self.list.sort_unstable();
        self.list.dedup();
        self.list.truncate(most as usize);
        self.sorted = self.list.len();
    }

    pub(crate) fn values(&self) -> &[UnitValue] {
        &self.list
    }

    /// How many bytes of memory this holds.
    pub(crate) fn held(&self) -> usize {
        self.list.capacity() * size_of::<UnitValue>()
    }

    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend((self.list.len() as u64).to_le_bytes());
        for UnitValue { order, digest } in &self.list {
            bytes.extend(order.to_le_bytes());
            digest.iter().for_each(|half| bytes.extend(half.to_le_bytes()));
        }
    }

    /// Values that were written.
    pub(crate) fn read(bytes: &mut &[u8], mut each: impl FnMut(UnitValue)) -> Option<()> {
        for _ in 0..u64::from_le_bytes(take(bytes)?) {
            let order = u64::from_le_bytes(take(bytes)?);
            each(UnitValue { order, digest: take_digest(bytes)? });
        }
        Some(())
    }
}

fn take_digest(bytes: &mut &[u8]) -> Option<Digest> {
    Some([u64::from_le_bytes(take(bytes)?), u64::from_le_bytes(take(bytes)?)])
}

/// The values of some groups, each once.
pub(crate) struct Values {
    groups: NameTable,
    found: HashTable<Found>,
    hash: TableHash,
    /// How many lists of values there are.
    lists: usize,
}

/// A value of a group.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Found {
    /// The number of the group.
    group: u32,
    /// Which list it is on.
    list: u32,
    digest: Digest,
}

impl Values {
    pub(crate) fn new(lists: usize, hash: TableHash) -> Self {
        Self { groups: NameTable::new(hash.clone()), found: HashTable::new(), hash, lists }
    }

    /// What the shard of a value of a group follows from, where tables look the group up by `hash`.
    pub(crate) fn shard_hash(hash: u64, digest: Digest) -> u64 {
        hash ^ digest[0]
    }

    /// Adds a value of a group, by the hash that tables are looked up by; none if there are more
    /// groups than can be numbered.
    pub(crate) fn add(&mut self, hash: u64, group: &[u8], list: u32, digest: Digest) -> Option<()> {
        let group = u32::try_from(self.groups.number(hash, group)?).ok()?;
        self.put(Found { group, list, digest });
        Some(())
    }

    fn put(&mut self, found: Found) {
        let hash_of = |found: &Found| self.hash.hash_one(found);
        let hash = hash_of(&found);
        if self.found.find(hash, |other| *other == found).is_none() {
            self.found.insert_unique(hash, found, hash_of);
        }
    }

    /// Shows each group, with how many values it has of each list.
    pub(crate) fn each(&self, mut look: impl FnMut(&[u8], &[i128]) -> Option<()>) -> Option<()> {
        let mut counts = vec![0; self.groups.len() * self.lists];
        for found in &self.found {
            *counts.get_mut(found.group as usize * self.lists + found.list as usize)? += 1;
        }
        for (group, counts) in counts.chunks(self.lists.max(1)).enumerate() {
            look(self.groups.bytes(group), counts)?;
        }
        Some(())
    }
}

impl Shard for Values {
    fn held(&self) -> usize {
        self.groups.held() + self.found.allocation_size()
    }

    /// The names of groups, and then the values by the numbers of these.
    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend((self.groups.len() as u64).to_le_bytes());
        (0..self.groups.len()).for_each(|group| push_name(self.groups.bytes(group), bytes));
        for Found { group, list, digest } in &self.found {
            bytes.extend(group.to_le_bytes());
            bytes.extend(list.to_le_bytes());
            digest.iter().for_each(|half| bytes.extend(half.to_le_bytes()));
        }
    }

    fn read(&mut self, mut bytes: &[u8]) -> Option<()> {
        let bytes = &mut bytes;
        let mut groups = Vec::new();
        for _ in 0..u64::from_le_bytes(take(bytes)?) {
            let name = take_name(bytes)?;
            groups.push(u32::try_from(self.groups.number(self.groups.hash(name), name)?).ok()?);
        }
        while !bytes.is_empty() {
            let group = *groups.get(u32::from_le_bytes(take(bytes)?) as usize)?;
            let list = u32::from_le_bytes(take(bytes)?);
            self.put(Found { group, list, digest: take_digest(bytes)? });
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const KEY: HashKey = HashKey([7; 32]);

    fn digest(value: u32) -> Digest {
        halved(order::order(&digest_key(&KEY), &value.to_le_bytes()))
    }

    fn of_unit(values: impl Iterator<Item = u32>, most: u32, unit: &[u8]) -> UnitValues {
        let bringing = Bringing::new(vec![most], &KEY);
        let (mut found, mut bytes) = (UnitValues::default(), Vec::new());
        for value in values {
            found.add(bringing.value(digest(value), unit, &mut bytes), most);
            assert!(found.list.len() <= (2 * most as usize).max(FEW));
        }
        found.settle(most);
        found
    }

    #[test]
    fn a_unit_brings_its_least_values_once_each_in_any_order() {
        for most in [1, 2, 7, 8, 9, 100] {
            let bringing = Bringing::new(vec![most], &KEY);
            let mut bytes = Vec::new();
            let mut all: Vec<_> =
                (0..300).map(|value| bringing.value(digest(value), b"ada", &mut bytes)).collect();
            all.sort();
            let rows = (0..900).map(|at| at * 7 % 300);
            let found = of_unit(rows.clone(), most, b"ada");
            assert_eq!(found.values(), &all[..most as usize]);
            let again = of_unit(rows.rev(), most, b"ada");
            assert_eq!(again.values(), found.values());
        }
    }

    /// By the hash of the value alone they would all bring the same.
    #[test]
    fn different_units_bring_different_ones_of_the_same_values() {
        let mut found = BTreeSet::new();
        for unit in 0..200u32 {
            let of = of_unit(0..20, 2, &unit.to_le_bytes());
            found.extend(of.values().iter().map(|value| value.digest));
        }
        assert_eq!(found.len(), 20);
    }

    #[test]
    fn values_of_a_group_are_counted_once_and_come_back_from_disk() {
        let hash = TableHash::default();
        let mut all = Values::new(2, hash.clone());
        for part in 0..5 {
            let mut values = Values::new(2, hash.clone());
            for value in part * 10..part * 10 + 30 {
                for group in [&b"a"[..], b"a name that is a long one", b""] {
                    values.add(hash.hash_one(group), group, value % 2, digest(value)).unwrap();
                }
            }
            let mut bytes = Vec::new();
            values.write(&mut bytes);
            all.read(&bytes).unwrap();
            assert!(all.read(&bytes[..bytes.len() - 1]).is_none(), "damaged");
        }
        let mut groups = 0;
        all.each(|_, counts| {
            groups += 1;
            assert_eq!(counts, [35, 35]);
            Some(())
        });
        assert_eq!(groups, 3);
    }
}
