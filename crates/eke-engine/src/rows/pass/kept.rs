//! What is kept of each unit, in one pass over the rows.
//!
//! A unit has a few groups more than it may keep, at most; when there is no room for another, those
//! with the largest hashes go, and from then on a row whose hash is larger than all that stay is
//! left out at a glance. A group that is kept in the end was never let go on the way, since the
//! largest hash that is kept only ever falls; so one pass is exact, and so is merging what several
//! passes kept.
//!
//! Entries of a unit lie side by side. A few are searched one by one; many are found by their
//! hash, which is as good as random: a unit with many groups takes no more time for each of them.

use std::hash::BuildHasher as _;
use std::mem::size_of;
use std::sync::Arc;

use crate::rows::column::encoding::take;
use crate::rows::pass::bounding::Limits;
use crate::rows::pass::cells::{self, UnitCells};
use crate::rows::pass::cuts::{CutMarks, CutTally};
use crate::rows::pass::names::{Name, NameTable, Names, TableHash};
use crate::rows::pass::order::{self, EMPTY};
use crate::rows::pass::shards::Shard;
use crate::rows::pass::values::{self, HALVES, UnitValue, UnitValues};

/// How many entries are searched one by one at most.
const FEW: usize = 32;

/// What is kept of some units.
pub(crate) struct Kept {
    limits: Arc<Limits>,
    units: NameTable,
    /// The block of each unit.
    blocks: Vec<Block>,
    entries: Entries,
    /// The names of groups.
    names: Names,
    scratch: Vec<usize>,
    bytes: Vec<u8>,
}

/// The entries of a unit.
#[derive(Clone, Copy)]
struct Block {
    /// No group with a larger hash is kept.
    threshold: u64,
    /// Where they begin.
    start: usize,
    /// How many there are.
    count: u32,
    size: Size,
    /// What the unit loses to the bounds.
    marks: CutMarks,
}

/// How large a block of entries is: a power of two, up to the largest.
type Size = u8;

/// Entries in columns, a block for each unit.
struct Entries {
    steps: usize,
    /// An odd number, which decides where in a large block an entry is looked for. Each table has
    /// its own: entries that come in the order of another table would crowd one end of this one.
    salt: u64,
    /// The first half of the hash that groups are kept by.
    hashes: Vec<u64>,
    names: Vec<Name>,
    rows: Vec<u64>,
    /// The sums of every entry, one after the other.
    sums: Vec<i128>,
    /// How many lists of values an entry has: none where no different values are counted.
    lists: usize,
    /// The values of every entry, list after list.
    values: Vec<UnitValues>,
    /// How many bytes of memory the values hold.
    values_held: usize,
    /// How many searches an entry has cells for: none where no quantiles are searched.
    searches: usize,
    /// The cells of every entry, search after search.
    cells: Vec<UnitCells>,
    /// How many bytes of memory these hold.
    cells_held: usize,
    /// Blocks that are no unit's any more, by size.
    free: Vec<Vec<usize>>,
}

impl Limits {
    /// How many entries a unit may have before some must go: where they are few, one goes for each
    /// that comes; of many, some at a time.
    fn most(&self) -> usize {
        let kept = self.max_groups as usize;
        if kept <= FEW { kept } else { kept + kept / 4 }
    }

    /// How many entries a block of this size has room for, and how many of them are used at most.
    fn block(&self, size: Size) -> (usize, usize) {
        let (most, block) = (self.most(), 1usize << size);
        if block <= FEW || most <= FEW {
            (block.min(most), block.min(most))
        } else {
            (block, most.min(block / 4 * 3))
        }
    }

    /// The size of the block that a unit gets when this one is full, and it may have more. All units
    /// of a table may grow at once, and leave blocks that nobody takes: of large ones, few sizes.
    fn larger(&self, size: Size) -> Size {
        let (block, _) = self.block(size);
        let (next, is_enough) = (size + 1, self.block(size + 1).1 >= self.most());
        if block < FEW || is_enough { next } else { next + 1 }
    }
}

impl Kept {
    pub(crate) fn new(limits: Arc<Limits>, hash: TableHash) -> Self {
        let entries = Entries {
            steps: limits.steps,
            salt: TableHash::default().hash_one(0) | 1,
            hashes: Vec::new(),
            names: Vec::new(),
            rows: Vec::new(),
            sums: Vec::new(),
            lists: limits.bringing.most.len(),
            values: Vec::new(),
            values_held: 0,
            searches: limits.searching.ones.len(),
            cells: Vec::new(),
            cells_held: 0,
            free: Vec::new(),
        };
        Self {
            limits,
            names: Names::new(hash.clone()),
            units: NameTable::new(hash),
            blocks: Vec::new(),
            entries,
            scratch: Vec::new(),
            bytes: Vec::new(),
        }
    }

    /// The number of a unit, by the hash that tables are looked up by; none if there are more than
    /// can be numbered.
    #[inline]
    pub(crate) fn unit(&mut self, hash: u64, bytes: &[u8]) -> Option<usize> {
        let unit = self.units.number(hash, bytes)?;
        if unit == self.blocks.len() {
            let start = self.entries.block(&self.limits, 0);
            let marks = CutMarks::default();
            self.blocks.push(Block { threshold: EMPTY, start, count: 0, size: 0, marks });
        }
        Some(unit)
    }

    /// Notes something of a unit.
    pub(crate) fn mark(&mut self, unit: usize, mark: CutMarks) {
        self.blocks[unit].marks.add(mark);
    }

    /// Adds to a group of a unit, if it is kept, and says which entry it is. `hash` is the first
    /// half of its order; none if there are more names than can be numbered.
    #[inline]
    pub(crate) fn add(
        &mut self,
        unit: usize,
        hash: u64,
        group: &[u8],
        rows: u64,
        steps: impl Iterator<Item = i128>,
    ) -> Option<Option<usize>> {
        if hash > self.blocks[unit].threshold {
            // As many groups as are kept have smaller ones.
            self.mark(unit, CutMarks::GROUPS);
            return Some(None);
        }
        let entry = match self.find(&self.blocks[unit], hash, group) {
            Some(entry) => entry,
            None => match self.insert(unit, hash, group)? {
                Some(entry) => entry,
                None => return Some(None),
            },
        };
        let count = &mut self.entries.rows[entry];
        *count = count.saturating_add(rows);
        let from = entry * self.limits.steps;
        for (sum, step) in self.entries.sums[from..].iter_mut().zip(steps) {
            *sum = sum.saturating_add(step);
        }
        Some(Some(entry))
    }

    /// Takes in the values that a row of an entry has, where `name` is that of its group and then
    /// that of its unit.
    pub(crate) fn add_values(&mut self, entry: usize, name: &[u8], digests: &[i64]) {
        for (list, digest) in digests.chunks(HALVES).enumerate() {
            let Some(digest) = values::brought(digest) else { continue };
            let value = self.limits.bringing.value(digest, name, &mut self.bytes);
            self.add_value(entry, list, value);
        }
    }

    fn add_value(&mut self, entry: usize, list: usize, value: UnitValue) {
        let most = self.limits.bringing.most[list];
        let entries = &mut self.entries;
        entries.values_held += entries.values[entry * entries.lists + list].add(value, most);
    }

    /// Takes in the cells that a row of an entry is in, one step for each search.
    pub(crate) fn add_cells(&mut self, entry: usize, steps: &[i64]) {
        let entries = &mut self.entries;
        let from = entry * entries.searches;
        for (cells, &step) in entries.cells[from..from + entries.searches].iter_mut().zip(steps) {
            let Some(cell) = cells::brought(step) else { continue };
            entries.cells_held += cells.add(cell, 1, &self.limits.searching.key);
        }
    }

    fn find(&self, unit: &Block, hash: u64, group: &[u8]) -> Option<usize> {
        let is_it = |entry: &usize| {
            self.entries.hashes[*entry] == hash
                && self.names.bytes(&self.entries.names[*entry]) == group
        };
        let (block, _) = self.limits.block(unit.size);
        if block <= FEW {
            return (unit.start..unit.start + unit.count as usize).find(is_it);
        }
        let entries = self.entries.places(unit.start, block, hash);
        entries.take_while(|&entry| self.entries.hashes[entry] != EMPTY).find(is_it)
    }

    /// A new entry of a unit; none inside if the group is not kept.
    fn insert(&mut self, unit: usize, hash: u64, group: &[u8]) -> Option<Option<usize>> {
        let Block { size, count, .. } = self.blocks[unit];
        let (_, room) = self.limits.block(size);
        if count as usize == room {
            if room < self.limits.most() {
                let mut entries = std::mem::take(&mut self.scratch);
                entries.clear();
                entries.extend(self.of_unit(&self.blocks[unit]));
                self.relocate(unit, self.limits.larger(size), &entries);
                self.scratch = entries;
            } else if room <= FEW {
                return self.replace(unit, hash, group);
            } else {
                self.let_go(unit);
                if hash > self.blocks[unit].threshold {
                    return Some(None);
                }
            }
        }
        let name = self.names.take(group)?;
        let entry = self.entries.vacant(&self.limits, &self.blocks[unit], hash);
        self.blocks[unit].count += 1;
        self.entries.begin(entry, hash, name);
        if self.blocks[unit].count == self.limits.max_groups && self.limits.most() <= FEW {
            self.blocks[unit].threshold = self.entries.largest(&self.blocks[unit]);
        }
        Some(Some(entry))
    }

    /// Puts a group in the place of that with the largest hash, in a block that is full of few;
    /// none inside if its own is the largest.
    fn replace(&mut self, unit: usize, hash: u64, group: &[u8]) -> Option<Option<usize>> {
        self.mark(unit, CutMarks::GROUPS);
        let block = self.blocks[unit];
        let largest = block.threshold;
        let places = block.start..block.start + block.count as usize;
        let mut last = places.clone().filter(|&entry| self.entries.hashes[entry] == largest);
        let (mut last, others) = (last.next()?, last.count());
        if others > 0 || hash == largest {
            let of = |group: &[u8]| self.full(unit, group);
            for entry in places.filter(|&entry| self.entries.hashes[entry] == largest) {
                if of(self.group(entry)) > of(self.group(last)) {
                    last = entry;
                }
            }
            if hash == largest && of(group) > of(self.group(last)) {
                return Some(None);
            }
        }
        self.names.release(self.entries.names[last]);
        let name = self.names.take(group)?;
        self.entries.begin(last, hash, name);
        self.blocks[unit].threshold = self.entries.largest(&block);
        Some(Some(last))
    }

    /// The name of an entry's group.
    fn group(&self, entry: usize) -> &[u8] {
        self.names.bytes(&self.entries.names[entry])
    }

    /// What the groups of a unit are kept by, where the first halves of their hashes are the same.
    fn full(&self, unit: usize, group: &[u8]) -> (u128, Vec<u8>) {
        let name = [group, self.units.bytes(unit)].concat();
        (order::order(&self.limits.hash_key, &name), group.to_vec())
    }

    /// Moves these entries of a unit to another block. The others go.
    fn relocate(&mut self, unit: usize, size: Size, kept: &[usize]) {
        let old = self.blocks[unit];
        let start = self.entries.block(&self.limits, size);
        self.blocks[unit] = Block { start, size, count: 0, ..old };
        for &from in kept {
            let new = self.blocks[unit];
            let to = self.entries.vacant(&self.limits, &new, self.entries.hashes[from]);
            self.entries.relocate(from, to);
            self.blocks[unit].count += 1;
        }
        self.entries.give_back(old.start, old.size);
    }

    /// Lets go of the entries of a unit that are beyond what it may keep.
    fn let_go(&mut self, unit: usize) {
        let kept = self.limits.max_groups as usize;
        let mut entries = std::mem::take(&mut self.scratch);
        entries.clear();
        entries.extend(self.of_unit(&self.blocks[unit]));
        if entries.len() > kept {
            self.mark(unit, CutMarks::GROUPS);
            let full = |entry: usize| self.full(unit, self.group(entry));
            entries.select_nth_unstable_by(kept, |&a, &b| {
                let halves = self.entries.hashes[a].cmp(&self.entries.hashes[b]);
                halves.then_with(|| full(a).cmp(&full(b)))
            });
            for &entry in &entries[kept..] {
                self.names.release(self.entries.names[entry]);
                self.entries.forget(entry);
            }
            let largest = entries[..kept].iter().map(|&entry| self.entries.hashes[entry]).max();
            self.blocks[unit].threshold = largest.unwrap_or(EMPTY);
            self.relocate(unit, self.blocks[unit].size, &entries[..kept]);
        }
        self.scratch = entries;
    }

    /// The entries of a unit.
    fn of_unit(&self, unit: &Block) -> impl Iterator<Item = usize> + '_ {
        let (block, _) = self.limits.block(unit.size);
        let extent = if block <= FEW { unit.count as usize } else { block };
        let all = unit.start..unit.start + extent;
        all.filter(|&entry| self.entries.hashes[entry] != EMPTY)
    }

    /// Shows the groups of all units that are kept in the end, with the rows and the sums that
    /// count in each, the values that take part, and the weights of cells by their search; and says
    /// how many units were cut.
    pub(crate) fn each(
        mut self,
        mut look: impl FnMut(&[u8], &[i128], &[UnitValues], &[(u32, u64, i64)]) -> Option<()>,
    ) -> Option<CutTally> {
        let key = &self.limits.searching.key;
        self.entries.cells.iter_mut().for_each(|cells| cells.settle(key));
        let mut weights = Vec::new();
        let mut cuts = CutTally::default();
        let most = &self.limits.bringing.most;
        let lists = self.entries.values.iter_mut().zip(most.iter().cycle());
        lists.for_each(|(values, most)| values.settle(*most));
        let mut counted = vec![0; 1 + self.limits.steps];
        for unit in 0..self.blocks.len() {
            self.let_go(unit);
            let limits = &self.limits;
            let most = u64::from(limits.max_rows);
            let in_groups = self.of_unit(&self.blocks[unit]);
            let in_groups = in_groups.map(|entry| self.entries.rows[entry].min(most));
            let in_all = limits.max_rows_in_all.map_or(0, |_| in_groups.sum());
            let mut most_rows = 0;
            for entry in self.of_unit(&self.blocks[unit]) {
                let rows = self.entries.rows[entry];
                most_rows = rows.max(most_rows);
                counted[0] = limits.in_all(limits.rows(rows), in_all);
                let from = entry * self.limits.steps;
                let sums = &self.entries.sums[from..from + self.limits.steps];
                for (counted, &sum) in counted[1..].iter_mut().zip(sums) {
                    *counted = limits.in_all(limits.scaled(sum, rows), in_all);
                }
                let values = self.entries.values_of(entry);
                weights.clear();
                for (search, cells) in self.entries.cells_of(entry).iter().enumerate() {
                    let number = u32::try_from(search).ok()?;
                    let weight = limits.searched(search, cells.rows(), rows, in_all);
                    cells.weigh(weight, |cell, part| weights.push((number, cell, part)));
                }
                look(self.names.bytes(&self.entries.names[entry]), &counted, values, &weights)?;
            }
            cuts.unit(self.blocks[unit].marks, most_rows, self.limits.max_rows);
        }
        Some(cuts)
    }
}

impl Shard for Kept {
    fn held(&self) -> usize {
        self.units.held()
            + self.blocks.capacity() * size_of::<Block>()
            + self.entries.held()
            + self.names.held()
    }

    /// For each unit its name, what was noted of it, how many entries it has, and these.
    fn write(&self, bytes: &mut Vec<u8>) {
        for (unit, block) in self.blocks.iter().enumerate() {
            push_name(self.units.bytes(unit), bytes);
            block.marks.write(bytes);
            bytes.extend(block.count.to_le_bytes());
            for entry in self.of_unit(block) {
                push_name(self.names.bytes(&self.entries.names[entry]), bytes);
                bytes.extend(self.entries.hashes[entry].to_le_bytes());
                bytes.extend(self.entries.rows[entry].to_le_bytes());
                let from = entry * self.limits.steps;
                for sum in &self.entries.sums[from..from + self.limits.steps] {
                    bytes.extend(sum.to_le_bytes());
                }
                self.entries.values_of(entry).iter().for_each(|values| values.write(bytes));
                self.entries.cells_of(entry).iter().for_each(|cells| cells.write(bytes));
            }
        }
    }

    fn read(&mut self, mut bytes: &[u8]) -> Option<()> {
        let bytes = &mut bytes;
        let mut sums = vec![0; self.limits.steps];
        while !bytes.is_empty() {
            let name = take_name(bytes)?;
            let unit = self.unit(self.units.hash(name), name)?;
            self.mark(unit, CutMarks::read(bytes)?);
            for _ in 0..u32::from_le_bytes(take(bytes)?) {
                let group = take_name(bytes)?;
                let (hash, rows) =
                    (u64::from_le_bytes(take(bytes)?), u64::from_le_bytes(take(bytes)?));
                for sum in &mut sums {
                    *sum = i128::from_le_bytes(take(bytes)?);
                }
                let entry = self.add(unit, hash, group, rows, sums.iter().copied())?;
                for list in 0..self.entries.lists {
                    UnitValues::read(bytes, |value| {
                        entry.iter().for_each(|&entry| self.add_value(entry, list, value));
                    })?;
                }
                for search in 0..self.entries.searches {
                    match entry {
                        Some(entry) => {
                            let place = entry * self.entries.searches + search;
                            let cells = &mut self.entries.cells[place];
                            let held = cells.take_in(bytes, &self.limits.searching.key)?;
                            self.entries.cells_held += held;
                        }
                        None => {
                            UnitCells::read(bytes, |_, _| {})?;
                        }
                    }
                }
            }
        }
        Some(())
    }
}

impl Entries {
    /// The start of a block that is no unit's.
    fn block(&mut self, limits: &Limits, size: Size) -> usize {
        let (block, _) = limits.block(size);
        if let Some(start) = self.free.get_mut(usize::from(size)).and_then(Vec::pop) {
            self.hashes[start..start + block].fill(EMPTY);
            return start;
        }
        let start = self.hashes.len();
        let end = start + block;
        self.hashes.resize(end, EMPTY);
        self.names.resize(end, Name::default());
        self.rows.resize(end, 0);
        self.sums.resize(end * self.steps, 0);
        self.values.resize_with(end * self.lists, UnitValues::default);
        self.cells.resize_with(end * self.searches, UnitCells::default);
        start
    }

    fn give_back(&mut self, start: usize, size: Size) {
        let size = usize::from(size);
        if self.free.len() <= size {
            self.free.resize_with(size + 1, Vec::new);
        }
        self.free[size].push(start);
    }

    /// Where an entry with this hash has room in the block of a unit.
    fn vacant(&self, limits: &Limits, unit: &Block, hash: u64) -> usize {
        let (block, _) = limits.block(unit.size);
        if block <= FEW {
            return unit.start + unit.count as usize;
        }
        let mut places = self.places(unit.start, block, hash);
        // A block always has room left.
        places.find(|&entry| self.hashes[entry] == EMPTY).unwrap_or(unit.start)
    }

    /// Where in a large block an entry with this hash may be, the likeliest place first.
    fn places(&self, start: usize, block: usize, hash: u64) -> impl Iterator<Item = usize> {
        let first = usize::try_from(hash.wrapping_mul(self.salt) >> 32).unwrap_or_default();
        (0..block).map(move |step| start + (first + step) % block)
    }

    /// An entry to which nothing has been added.
    fn begin(&mut self, entry: usize, hash: u64, name: Name) {
        self.hashes[entry] = hash;
        self.names[entry] = name;
        self.rows[entry] = 0;
        let from = entry * self.steps;
        self.sums[from..from + self.steps].fill(0);
        self.forget(entry);
    }

    fn cells_of(&self, entry: usize) -> &[UnitCells] {
        &self.cells[entry * self.searches..(entry + 1) * self.searches]
    }

    fn values_of(&self, entry: usize) -> &[UnitValues] {
        &self.values[entry * self.lists..(entry + 1) * self.lists]
    }

    /// Lets go of the values and the cells of an entry.
    fn forget(&mut self, entry: usize) {
        for cells in &mut self.cells[entry * self.searches..(entry + 1) * self.searches] {
            self.cells_held = self.cells_held.saturating_sub(std::mem::take(cells).held());
        }
        for values in &mut self.values[entry * self.lists..(entry + 1) * self.lists] {
            self.values_held -= std::mem::take(values).held();
        }
    }

    /// The largest hash in a block of few.
    fn largest(&self, unit: &Block) -> u64 {
        let entries = unit.start..unit.start + unit.count as usize;
        self.hashes[entries].iter().copied().max().unwrap_or(EMPTY)
    }

    /// Moves an entry to a place that is free.
    fn relocate(&mut self, from: usize, to: usize) {
        self.hashes[to] = self.hashes[from];
        self.names[to] = self.names[from];
        self.rows[to] = self.rows[from];
        let sums = from * self.steps..(from + 1) * self.steps;
        self.sums.copy_within(sums, to * self.steps);
        for list in 0..self.lists {
            // Nothing is at a place that is free.
            self.values.swap(from * self.lists + list, to * self.lists + list);
        }
        for search in 0..self.searches {
            self.cells.swap(from * self.searches + search, to * self.searches + search);
        }
    }

    fn held(&self) -> usize {
        let entry = size_of::<u64>() * 2 + size_of::<Name>() + size_of::<i128>() * self.steps;
        let free: usize = self.free.iter().map(Vec::capacity).sum();
        let values = self.values.capacity() * size_of::<UnitValues>() + self.values_held;
        let cells = self.cells.capacity() * size_of::<UnitCells>() + self.cells_held;
        self.hashes.capacity() * entry + free * size_of::<usize>() + values + cells
    }
}

/// Appends a name and its length.
pub(crate) fn push_name(name: &[u8], bytes: &mut Vec<u8>) {
    bytes.extend((name.len() as u64).to_le_bytes());
    bytes.extend_from_slice(name);
}

/// Takes a name off the start of bytes.
pub(crate) fn take_name<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(u64::from_le_bytes(take(bytes)?)).ok()?;
    let (name, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::pass::bounding::HashKey;
    use crate::rows::pass::cells::Searching;
    use crate::rows::pass::values::Bringing;
    use eke_sql::Type;

    fn limits(max_groups: u32) -> Arc<Limits> {
        let hash_key = HashKey([7; 32]);
        let keys = vec![Type::Int];
        let unit = Some(Type::Int);
        let bringing = Bringing::new(Vec::new(), &hash_key);
        let (max_rows_in_all, row) = (None, 1);
        let unlisted = false;
        let max_rows = 9;
        let steps = 1;
        Arc::new(Limits {
            unit,
            keys,
            steps,
            bringing,
            searching: Searching::new(Vec::new(), &HashKey([7; 32])),
            unlisted,
            max_groups,
            max_rows,
            max_rows_in_all,
            row,
            hash_key,
        })
    }

    /// A unit in these groups, a row in each.
    fn kept(limits: &Arc<Limits>, groups: impl Iterator<Item = u32>) -> Kept {
        let mut kept = Kept::new(Arc::clone(limits), TableHash::default());
        let unit = kept.unit(kept.units.hash(b"who"), b"who").unwrap();
        for group in groups {
            let name = [&group.to_le_bytes()[..], b"who"].concat();
            let order = order::first_half(order::order(&limits.hash_key, &name));
            kept.add(unit, order, &name[..4], 1, [1].into_iter()).unwrap();
        }
        kept
    }

    /// How far entries are from where they are looked for first, at most.
    fn furthest(kept: &Kept) -> usize {
        let block = kept.blocks[0];
        let (size, _) = kept.limits.block(block.size);
        let far = |entry: usize| {
            let hash = kept.entries.hashes[entry];
            kept.entries.places(block.start, size, hash).position(|place| place == entry)
        };
        kept.of_unit(&block).filter_map(far).max().unwrap_or(0)
    }

    #[test]
    fn a_table_that_takes_another_in_stays_evenly_filled() {
        // Just below three quarters of a power of two: the fullest that blocks become.
        let limits = limits(19_600);
        let furthest_after = |same_salt: bool| {
            let other = kept(&limits, 24_000..48_000);
            let mut one = Kept::new(Arc::clone(&limits), TableHash::default());
            if same_salt {
                one.entries.salt = other.entries.salt;
            }
            let mut bytes = Vec::new();
            kept(&limits, 0..24_000).write(&mut bytes);
            one.read(&bytes).unwrap();
            bytes.clear();
            other.write(&mut bytes);
            // The unit's name, marks and number of entries, and then a part of these.
            let _ = one.read(&bytes[..8 + 3 + 1 + 4 + 4_800 * (8 + 4 + 8 + 8 + 16)]);
            furthest(&one)
        };
        let (own, control) = (furthest_after(false), furthest_after(true));
        assert!(own < 500 && control > 1_000, "{own} {control}");
    }

    #[test]
    fn a_unit_keeps_its_smallest_hashes_in_blocks_of_every_size() {
        for max_groups in [1, 2, 3, 4, 25, 26, 27, 31, 32, 33, 40, 48, 100, 1000] {
            let limits = limits(max_groups);
            let mut orders: Vec<(u128, u32)> = (0..3_000)
                .map(|group: u32| {
                    let name = [&group.to_le_bytes()[..], b"who"].concat();
                    (order::order(&limits.hash_key, &name), group)
                })
                .collect();
            orders.sort_unstable();
            let mut expected: Vec<u32> =
                orders[..max_groups as usize].iter().map(|(_, group)| *group).collect();
            expected.sort_unstable();
            // Twice each, in another order.
            let rows = (0..3_000).chain((0..3_000).rev());
            let mut found = Vec::new();
            kept(&limits, rows).each(|group, counted, _, _| {
                assert_eq!(counted, [2, 2], "all its rows");
                found.push(u32::from_le_bytes(group.try_into().unwrap()));
                Some(())
            });
            found.sort_unstable();
            assert_eq!(found, expected, "{max_groups}");
        }
    }

    /// First halves never collide in practice: here all are one of two.
    #[test]
    fn groups_whose_hashes_begin_alike_are_kept_by_the_rest() {
        for max_groups in [1, 2, 3, 7, 31, 32, 33, 40] {
            let limits = limits(max_groups);
            let half = |group: u32| u64::from(group % 2);
            let mut orders: Vec<_> = (0..120u32)
                .map(|group| {
                    let name = [&group.to_le_bytes()[..], b"who"].concat();
                    (half(group), order::order(&limits.hash_key, &name), group)
                })
                .collect();
            orders.sort_unstable();
            let expected = orders[..max_groups as usize].iter().map(|(.., group)| *group);
            let expected: std::collections::BTreeSet<u32> = expected.collect();
            for shift in [0, 17, 60] {
                let mut kept = Kept::new(Arc::clone(&limits), TableHash::default());
                let unit = kept.unit(kept.units.hash(b"who"), b"who").unwrap();
                for group in (0..240u32).map(|group| (group + shift) % 120) {
                    let name = group.to_le_bytes();
                    kept.add(unit, half(group), &name, 1, [1].into_iter()).unwrap();
                }
                let mut found = std::collections::BTreeSet::new();
                kept.each(|group, counted, _, _| {
                    assert_eq!(counted, [2, 2], "{max_groups} {shift}");
                    found.insert(u32::from_le_bytes(group.try_into().unwrap()));
                    Some(())
                });
                assert_eq!(found, expected, "{max_groups} {shift}");
            }
        }
    }
}
