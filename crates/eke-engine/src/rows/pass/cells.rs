//! Where values lie: in which cell of a public grid the rows of each unit are, and how much of each
//! counts; and of all units together, how much lies below a cut.
//!
//! A unit counts in a group for what it counts for in a count of its rows that are not NULL: all of
//! them, or where there are more than `max_rows` for that many. That weight is divided among its
//! cells as its rows are, in whole steps, so that what lies below any cut is no more than its part,
//! cut off towards zero, and all of it together is the count. So adding or removing a unit changes
//! what lies below a cut, and what lies above it, by no more than its weight in all.
//!
//! Weights of different units meet once all units are bounded: a table by group and cell, in shards
//! by both, so that no group is too large for one. In the end they lie in runs that are sorted, in
//! memory or on disk, and what lies below a cut is looked up.

use std::collections::HashMap;
use std::fs::File;
use std::hash::BuildHasher as _;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::mem::size_of;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use hashbrown::HashTable;

use crate::rows::column::encoding::take;
use crate::rows::pass::bounding::HashKey;
use crate::rows::pass::kept::{push_name, take_name};
use crate::rows::pass::names::{NameTable, TableHash};
use crate::rows::pass::order;
use crate::rows::pass::shards::{Shard, nameless};

/// In how many cells one unit may have rows in a group: of more, those with the smallest keyed hash
/// stand for all. Otherwise one unit's rows could fill all memory.
const MOST_CELLS: usize = 1 << 16;
/// How many cells are gathered at least before they are sorted.
const FEW: usize = 8;

/// The cell that a row brings in its step; none if the value is NULL.
pub(crate) fn brought(step: i64) -> Option<u64> {
    step.cast_unsigned().checked_sub(1)
}

/// The step that brings a cell.
pub(crate) fn bringing(cell: i64) -> i64 {
    cell.saturating_add(1)
}

/// What is searched: what a row counts for in each search, in steps, and the key of the order that
/// cells of one unit are kept by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Searching {
    pub(crate) ones: Vec<i64>,
    pub(crate) key: HashKey,
}

impl Searching {
    /// With the hash key of the ledger. What is made of it may never change: answers that were paid
    /// for depend on which cells are kept.
    pub(crate) fn new(ones: Vec<i64>, key: &HashKey) -> Self {
        let key = blake3::derive_key("eke 2026-11-18 which cells of a unit stand for all", &key.0);
        Self { ones, key: HashKey(key) }
    }
}

/// The cells that a unit has rows of a group in, with how many rows each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UnitCells {
    list: Vec<(u64, u64)>,
    /// How many at the start are sorted and different. The others came since.
    sorted: usize,
    /// How many rows there are, also of cells that were let go.
    rows: u64,
}

impl UnitCells {
    /// Takes rows of a cell in; how many bytes of memory that took.
    pub(crate) fn add(&mut self, cell: u64, rows: u64, key: &HashKey) -> usize {
        self.rows = self.rows.saturating_add(rows);
        self.put(cell, rows, key)
    }

    fn put(&mut self, cell: u64, rows: u64, key: &HashKey) -> usize {
        let sorted = &mut self.list[..self.sorted];
        if let Ok(place) = sorted.binary_search_by_key(&cell, |&(cell, _)| cell) {
            sorted[place].1 = sorted[place].1.saturating_add(rows);
            return 0;
        }
        let before = self.held();
        self.list.push((cell, rows));
        if self.list.len() >= (2 * self.sorted).max(FEW) {
            self.settle(key);
        }
        self.held().saturating_sub(before)
    }

    /// Leaves each cell once, in their order, and no more than there may be.
    pub(crate) fn settle(&mut self, key: &HashKey) {
        self.list.sort_unstable();
        self.list.dedup_by(|next, before| {
            let is_same = next.0 == before.0;
            if is_same {
                before.1 = before.1.saturating_add(next.1);
            }
            is_same
        });
        if self.list.len() > MOST_CELLS {
            // Those that stay in the end are among the least of any that have come, so none of
            // them was ever let go on the way, whatever the order.
            let order = |cell: u64| (order::order(key, &cell.to_le_bytes()), cell);
            let mut by_order: Vec<_> =
                self.list.iter().map(|&(cell, rows)| (order(cell), rows)).collect();
            by_order.select_nth_unstable(MOST_CELLS);
            by_order.truncate(MOST_CELLS);
            self.list.clear();
            self.list.extend(by_order.into_iter().map(|((_, cell), rows)| (cell, rows)));
            self.list.sort_unstable();
        }
        self.sorted = self.list.len();
    }

    /// How many of its rows are not NULL.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// Divides a weight among its cells as its rows are: what lies in any cells from the first on
    /// is their part, cut off. It must be settled.
    ///
    /// - Theorem: quantile-cells (docs/theorems.md)
    /// - Proves: the parts are not negative and add up to the weight, so that what lies below a cut
    ///   less what lies above it is between minus the weight and the weight
    /// - Assumes: the weight is what the unit may count for (`Limits::scaled`, `Limits::in_all`)
    /// - Deviates: of more cells than are kept those that are kept stand for all
    /// - Checked by: `a_unit_is_divided_among_its_cells`,
    ///   `removing_a_unit_changes_no_more_than_the_plan_says`
    pub(crate) fn weigh(&self, weight: i128, mut each: impl FnMut(u64, i64)) {
        let all: i128 = self.list.iter().map(|&(_, rows)| i128::from(rows)).sum();
        let (mut rows_below, mut below) = (0i128, 0i128);
        for &(cell, rows) in &self.list {
            rows_below += i128::from(rows);
            // A unit has fewer rows than 2^64, and counts for less than 2^63.
            let now = weight.saturating_mul(rows_below) / all.max(1);
            let part = now - below;
            if part != 0 {
                each(cell, i64::try_from(part).unwrap_or(i64::MAX));
            }
            below = now;
        }
    }

    /// How many bytes of memory this holds.
    pub(crate) fn held(&self) -> usize {
        self.list.capacity() * size_of::<(u64, u64)>()
    }

    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.rows.to_le_bytes());
        bytes.extend((self.list.len() as u64).to_le_bytes());
        for (cell, rows) in &self.list {
            bytes.extend(cell.to_le_bytes());
            bytes.extend(rows.to_le_bytes());
        }
    }

    /// Cells that were written: how many rows there are, and each cell.
    pub(crate) fn read(bytes: &mut &[u8], mut each: impl FnMut(u64, u64)) -> Option<u64> {
        let rows = u64::from_le_bytes(take(bytes)?);
        for _ in 0..u64::from_le_bytes(take(bytes)?) {
            each(u64::from_le_bytes(take(bytes)?), u64::from_le_bytes(take(bytes)?));
        }
        Some(rows)
    }

    /// Takes in what another one has written.
    pub(crate) fn take_in(&mut self, bytes: &mut &[u8], key: &HashKey) -> Option<usize> {
        let mut more = 0;
        let rows = Self::read(bytes, |cell, rows| more += self.put(cell, rows, key))?;
        self.rows = self.rows.saturating_add(rows);
        Some(more)
    }
}

/// The weights of the cells of some groups.
pub(crate) struct CellWeights {
    groups: NameTable,
    found: HashTable<(Cell, i64)>,
    hash: TableHash,
}

/// A cell of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Cell {
    /// The number of the group.
    group: u32,
    /// Which search it is of.
    search: u32,
    cell: u64,
}

impl CellWeights {
    pub(crate) fn new(hash: TableHash) -> Self {
        Self { groups: NameTable::new(hash.clone()), found: HashTable::new(), hash }
    }

    /// What the shard of a cell of a group follows from, where tables look the group up by `hash`.
    pub(crate) fn shard_hash(hash: u64, cell: u64) -> u64 {
        hash ^ cell.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    /// Adds to a cell of a group, by the hash that tables are looked up by; none if there are more
    /// groups than can be numbered.
    pub(crate) fn add(
        &mut self,
        hash: u64,
        group: &[u8],
        (search, cell): (u32, u64),
        weight: i64,
    ) -> Option<()> {
        let group = u32::try_from(self.groups.number(hash, group)?).ok()?;
        self.put(Cell { group, search, cell }, weight);
        Some(())
    }

    fn put(&mut self, cell: Cell, weight: i64) {
        let hash_of = |(cell, _): &(Cell, i64)| self.hash.hash_one(cell);
        let hash = self.hash.hash_one(cell);
        match self.found.find_mut(hash, |(other, _)| *other == cell) {
            Some((_, all)) => *all = all.saturating_add(weight),
            None => {
                self.found.insert_unique(hash, (cell, weight), hash_of);
            }
        }
    }

    /// All of it, sorted.
    pub(crate) fn run(self) -> CellRun {
        let mut found: Vec<(Cell, i64)> = self.found.into_iter().collect();
        found.sort_unstable();
        let mut spans = HashMap::new();
        let mut below = Vec::with_capacity(found.len());
        let (mut start, mut sum) = (0, 0i64);
        for (place, &(Cell { group, search, cell }, weight)) in found.iter().enumerate() {
            sum = sum.saturating_add(weight);
            below.push((cell, sum));
            let next = found.get(place + 1).map(|(next, _)| (next.group, next.search));
            if next != Some((group, search)) {
                let name = (self.groups.bytes(group as usize).into(), search);
                spans.insert(name, (start, place + 1));
                (start, sum) = (place + 1, 0);
            }
        }
        CellRun { spans, below: Stored::Memory(below) }
    }
}

impl Shard for CellWeights {
    fn held(&self) -> usize {
        self.groups.held() + self.found.allocation_size()
    }

    /// The names of groups, and then the cells by the numbers of these.
    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend((self.groups.len() as u64).to_le_bytes());
        (0..self.groups.len()).for_each(|group| push_name(self.groups.bytes(group), bytes));
        for (Cell { group, search, cell }, weight) in &self.found {
            bytes.extend(group.to_le_bytes());
            bytes.extend(search.to_le_bytes());
            bytes.extend(cell.to_le_bytes());
            bytes.extend(weight.to_le_bytes());
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
            let search = u32::from_le_bytes(take(bytes)?);
            let cell = u64::from_le_bytes(take(bytes)?);
            self.put(Cell { group, search, cell }, i64::from_le_bytes(take(bytes)?));
        }
        Some(())
    }
}

/// The name of a group, and the number of a search in it.
type SearchIn = (Box<[u8]>, u32);

/// Cells of some groups in their order, each with the weight of all up to it.
pub(crate) struct CellRun {
    /// Where those of a group and a search are.
    spans: HashMap<SearchIn, (usize, usize)>,
    below: Stored,
}

/// Where the cells of a run lie.
enum Stored {
    Memory(Vec<(u64, i64)>),
    Disk(Mutex<File>),
}

/// How many bytes a cell takes on disk.
const CELL_BYTES: usize = 16;

impl CellRun {
    /// How many bytes of memory it holds.
    pub(crate) fn held(&self) -> usize {
        match &self.below {
            Stored::Memory(below) => below.capacity() * size_of::<(u64, i64)>(),
            Stored::Disk(_) => 0,
        }
    }

    /// Puts its cells into a file that nobody else can open.
    pub(crate) fn spill(&mut self, folder: &Path) -> io::Result<()> {
        let Stored::Memory(below) = &self.below else { return Ok(()) };
        let mut file = BufWriter::new(nameless(folder)?);
        for (cell, weight) in below {
            file.write_all(&cell.to_le_bytes())?;
            file.write_all(&weight.to_le_bytes())?;
        }
        let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        self.below = Stored::Disk(Mutex::new(file));
        Ok(())
    }

    fn at(&self, place: usize) -> io::Result<(u64, i64)> {
        match &self.below {
            Stored::Memory(below) => Ok(below.get(place).copied().unwrap_or_default()),
            Stored::Disk(file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                file.seek(SeekFrom::Start((place * CELL_BYTES) as u64))?;
                let (mut cell, mut weight) = ([0; 8], [0; 8]);
                file.read_exact(&mut cell)?;
                file.read_exact(&mut weight)?;
                Ok((u64::from_le_bytes(cell), i64::from_le_bytes(weight)))
            }
        }
    }

    /// The weight of all cells of a group below a cut, and of all of them.
    fn below(&self, (from, to): (usize, usize), cut: u64) -> io::Result<(i64, i64)> {
        let (mut low, mut high) = (from, to);
        while low < high {
            let middle = low.midpoint(high);
            if self.at(middle)?.0 < cut { low = middle + 1 } else { high = middle }
        }
        let up_to = |place: usize| if place > from { Ok(self.at(place - 1)?.1) } else { Ok(0) };
        let both: io::Result<(i64, i64)> = up_to(low).and_then(|below| Ok((below, up_to(to)?)));
        both
    }
}

/// Where the values of all groups lie.
#[derive(Default)]
pub(crate) struct CellRuns(pub(crate) Vec<CellRun>);

impl CellRuns {
    /// What lies below a cut of a search in a group of this name, and all that there is.
    pub(crate) fn below(&self, group: &[u8], search: u32, cut: u64) -> io::Result<(i64, i64)> {
        let name = (group.into(), search);
        let (mut below, mut all) = (0i64, 0i64);
        for run in &self.0 {
            let Some(&span) = run.spans.get(&name) else { continue };
            let (more_below, more) = run.below(span, cut)?;
            (below, all) = (below.saturating_add(more_below), all.saturating_add(more));
        }
        Ok((below, all))
    }

    /// Whether some of it is on disk.
    #[cfg(feature = "testing")]
    pub(crate) fn is_on_disk(&self) -> bool {
        self.0.iter().any(|run| matches!(run.below, Stored::Disk(_)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    const KEY: HashKey = HashKey([7; 32]);

    #[test]
    fn a_unit_is_divided_among_its_cells() {
        let rows: Vec<u64> = (0..300).map(|at| at * at % 17).collect();
        for weight in [0i128, 1, 2, 5, 299, 300, 1024, 20_480, 1 << 40] {
            let (mut one, mut other) = (UnitCells::default(), UnitCells::default());
            rows.iter().for_each(|&cell| {
                one.add(cell, 1, &KEY);
            });
            rows.iter().rev().for_each(|&cell| {
                other.add(cell, 1, &KEY);
            });
            one.settle(&KEY);
            other.settle(&KEY);
            assert_eq!(one, other);
            assert_eq!(one.rows(), 300);
            let (mut rows_below, mut below) = (0i128, 0i128);
            let mut parts = BTreeMap::new();
            one.weigh(weight, |cell, part| {
                assert!(part > 0);
                parts.insert(cell, part);
            });
            for cell in 0..17 {
                let own = rows.iter().filter(|&&own| own == cell).count();
                rows_below += i128::try_from(own).unwrap();
                below += i128::from(parts.get(&cell).copied().unwrap_or(0));
                assert_eq!(below, weight * rows_below / 300, "{cell}");
            }
            assert_eq!(below, weight);
        }
    }

    /// However its rows come, the same cells stand for all of them, and the weight is all of it.
    #[test]
    fn a_unit_has_no_more_cells_than_there_is_room_for() {
        let count = 3 * MOST_CELLS as u64;
        let settled = |cells: &mut dyn Iterator<Item = u64>| {
            let mut unit = UnitCells::default();
            for cell in cells {
                unit.add(cell, 1, &KEY);
                assert!(unit.list.len() <= 2 * MOST_CELLS);
            }
            unit.settle(&KEY);
            unit
        };
        let one = settled(&mut (0..count).chain(0..count));
        let other = settled(&mut (0..count).flat_map(|cell| [cell, cell]).rev());
        let mut parts = [UnitCells::default(), UnitCells::default()];
        for cell in (0..count).chain((0..count).rev()) {
            parts[usize::from(cell % 3 == 0)].add(cell, 1, &KEY);
        }
        let (mut bytes, mut merged) = (Vec::new(), UnitCells::default());
        parts.iter().for_each(|part| part.write(&mut bytes));
        let mut left = &bytes[..];
        while !left.is_empty() {
            merged.take_in(&mut left, &KEY).unwrap();
        }
        merged.settle(&KEY);
        assert_eq!((one.list.len(), one.rows()), (MOST_CELLS, 2 * count));
        assert_eq!((&one.list, one.rows), (&other.list, other.rows));
        assert_eq!((&one.list, one.rows), (&merged.list, merged.rows));
        let mut all = 0;
        one.weigh(20_480, |_, part| all += part);
        assert_eq!(all, 20_480);
    }

    #[test]
    fn what_lies_below_a_cut_is_looked_up_in_memory_and_on_disk() {
        let hash = TableHash::default();
        let mut truth = BTreeMap::<_, Vec<(u64, i64)>>::new();
        let mut shards: Vec<CellWeights> = (0..3).map(|_| CellWeights::new(hash.clone())).collect();
        for at in 0..900u64 {
            let place = usize::try_from(at % 3).unwrap();
            let group: &[u8] = [&b"a"[..], b"a name that is a long one", b""][place];
            let search = u32::try_from(at % 2).unwrap();
            let (cell, weight) = (at * 7 % 100, i64::try_from(at % 5).unwrap());
            let own = hash.hash_one(group);
            let place = usize::try_from(CellWeights::shard_hash(own, cell) % 3).unwrap();
            shards[place].add(own, group, (search, cell), weight).unwrap();
            truth.entry((group, search)).or_default().push((cell, weight));
        }
        let folder = tempfile::tempdir().unwrap();
        for on_disk in [false, true] {
            let mut runs = CellRuns::default();
            for shard in &shards {
                let (mut bytes, mut again) = (Vec::new(), CellWeights::new(hash.clone()));
                shard.write(&mut bytes);
                again.read(&bytes).unwrap();
                let mut run = again.run();
                if on_disk {
                    run.spill(folder.path()).unwrap();
                    assert_eq!(run.held(), 0);
                }
                runs.0.push(run);
            }
            for (&(group, search), cells) in &truth {
                for cut in [0, 1, 2, 50, 51, 99, 100, u64::MAX] {
                    let below = cells.iter().filter(|(cell, _)| *cell < cut);
                    let below: i64 = below.map(|(_, weight)| weight).sum();
                    let all: i64 = cells.iter().map(|(_, weight)| weight).sum();
                    assert_eq!(runs.below(group, search, cut).unwrap(), (below, all));
                }
            }
            assert_eq!(runs.below(b"nobody", 0, 50).unwrap(), (0, 0));
        }
    }
}
