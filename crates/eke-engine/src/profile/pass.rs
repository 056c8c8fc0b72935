//! The pass of a profile: all rows of a dataset, each unit's brought together, and each unit put
//! into one cell of every histogram.
//!
//! It reads once, in linear time, as the pass of questions does: several workers read pieces into
//! tables of their own, in shards that go to disk when memory is short, and shards are brought
//! together by whichever worker is free. Counts of cells are added up last, so nothing that comes
//! out depends on how the work was shared out.

use std::collections::VecDeque;
use std::fmt;
use std::hash::BuildHasher as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use eke_noise::Exact;
use eke_noise::release::{Histograms, OneCellEach};
use eke_sql::Type;
use tokio::task::yield_now;

use crate::data::ids::Ids;
use crate::profile::layout::{Layout, ROW_BINS, VALUE_BINS};
use crate::profile::proposal::Chosen;
use crate::profile::unit_rows::{ProfileKeys, UnitRows, bins_of};
use crate::rows::column::{Column, encoding};
use crate::rows::pass::bounding::HashKey;
use crate::rows::pass::names::TableHash;
use crate::rows::pass::shards::{Parts, Shards, shard};
use crate::rows::pass::{next, sound, spawn};
use crate::rows::scan::{self, Piece, Wanted};
use crate::rows::spill::{Spill, SpillRun};
use crate::rows::{RowsError, contribution, threads};

/// What a worker may hold at least.
const LEAST: usize = 1 << 20;

/// How many units are in each cell of a profile's histograms. Exact: it may leave only through
/// noise, and shows itself to nobody.
pub(crate) struct UnitCells {
    layout: Layout,
    counts: Vec<i64>,
    /// How many rows are nobody's. For the steward.
    nobodys: u64,
    /// How often memory was given up to disk.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests look at it"))]
    pub(crate) spills: usize,
}

impl fmt::Debug for UnitCells {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UnitCells(..)")
    }
}

impl UnitCells {
    /// All histograms.
    pub(crate) fn histograms(&self) -> Exact<Histograms> {
        Exact::new(Histograms(self.counts.clone()), OneCellEach(self.layout.cells()))
    }

    /// What bounds would cut: how many units there are; how many have more rows than the bound; for
    /// each key, how many have more groups; for each column and bin of rows up to the bound, how
    /// many have a chosen row whose value is outside. Each adds up cells of one histogram, some of
    /// them into one and others into none, so a unit is in at most one cell of each.
    pub(crate) fn cuts(&self, chosen: &Chosen) -> Exact<Histograms> {
        Exact::new(Histograms(self.cut(chosen)), OneCellEach(chosen.cells()))
    }

    fn cut(&self, chosen: &Chosen) -> Vec<i64> {
        let count = |cells: &[i64]| cells.iter().fold(0i64, |all, cell| all.saturating_add(*cell));
        let (rows, mut rest) = self.counts.split_at(ROW_BINS);
        let mut cuts = vec![count(rows), count(&rows[chosen.row_bin + 1..])];
        for (&cells, &last) in self.layout.cells()[1..].iter().zip(&chosen.group_bins) {
            let (groups, others) = rest.split_at(cells);
            cuts.push(count(&groups[last + 1..]));
            rest = others;
        }
        for (cells, bounds) in rest.chunks(ROW_BINS * VALUE_BINS).zip(&chosen.values) {
            for values in cells.chunks(VALUE_BINS).take(chosen.row_bin + 1) {
                let outside = (0..VALUE_BINS).filter(|&bin| bounds.is_outside(bin));
                cuts.push(outside.fold(0i64, |all, bin| all.saturating_add(values[bin])));
            }
        }
        cuts
    }

    /// How many rows are nobody's. For the steward.
    pub(crate) fn nobodys(&self) -> u64 {
        self.nobodys
    }

    /// The numbers themselves: truths, for tests of this crate alone.
    #[cfg(test)]
    pub(crate) fn truths(&self) -> &[i64] {
        &self.counts
    }

    /// What bounds would cut off: truths, for tests of this crate alone.
    #[cfg(test)]
    pub(crate) fn cut_truths(&self, chosen: &Chosen) -> Vec<i64> {
        self.cut(chosen)
    }

    /// Made up, for tests of this crate alone.
    #[cfg(test)]
    pub(crate) fn made_up(layout: Layout, counts: Vec<i64>) -> Self {
        Self { layout, counts, nobodys: 0, spills: 0 }
    }
}

/// What a profile reads.
pub(crate) struct ProfileInput {
    pub(crate) layout: Layout,
    pub(crate) schema: Vec<(String, Option<Type>)>,
    /// The column that says whose a row is; none if each row is a unit.
    pub(crate) unit: Option<(String, Ids)>,
    pub(crate) pieces: Box<dyn FnOnce() -> Result<Vec<Piece>, RowsError> + Send>,
    pub(crate) hash_key: HashKey,
}

/// How it is read: none of it changes what comes out.
pub(crate) struct ProfileOptions<'a> {
    pub(crate) memory: usize,
    pub(crate) workers: usize,
    pub(crate) batch_rows: usize,
    pub(crate) spill: Option<PathBuf>,
    pub(crate) progress: Option<&'a dyn Fn(u64)>,
}

/// A pass, shared by its workers.
struct ProfilePass {
    layout: Layout,
    keys: ProfileKeys,
    wanted: Wanted,
    /// Where keys and columns are among what is read.
    key_places: Vec<usize>,
    column_places: Vec<usize>,
    memory: usize,
    workers: usize,
    batch_rows: usize,
    hash: TableHash,
    spill: SpillRun,
    read: Arc<AtomicU64>,
    nobodys: AtomicU64,
}

/// Reads a dataset, and puts each of its units into one cell of every histogram.
///
/// # Errors
/// The rows could not be read to the end.
pub(crate) fn unit_cells(
    input: ProfileInput,
    options: &ProfileOptions<'_>,
) -> Result<UnitCells, RowsError> {
    let runtime = threads::threads().map_err(RowsError::failed)?;
    let ProfileInput { layout, schema, unit, pieces, hash_key } = input;
    let is_wanted = |name: &String| layout.keys.contains(name) || layout.columns.contains(name);
    let columns: Vec<(String, Type)> = schema
        .into_iter()
        .filter(|(name, _)| is_wanted(name))
        .filter_map(|(name, kind)| Some((name, kind?)))
        .collect();
    let place = |name: &String| {
        let place = columns.iter().position(|(column, _)| column == name);
        place.ok_or_else(|| RowsError::failed(format!("there is no column `{name}`")))
    };
    let key_places = layout.keys.iter().map(place).collect::<Result<_, _>>()?;
    let column_places = layout.columns.iter().map(place).collect::<Result<_, _>>()?;
    let texts = columns.iter().filter(|(_, kind)| *kind == Type::Text).count();
    let spill = options.spill.as_deref().map_or_else(Spill::anywhere, Spill::at).open();
    let read = Arc::<AtomicU64>::default();
    let pass = ProfilePass {
        keys: ProfileKeys::new(&hash_key),
        wanted: Wanted { columns, unit },
        key_places,
        column_places,
        memory: options.memory,
        workers: options.workers.max(1),
        batch_rows: contribution::rows_at_a_time(texts, options.batch_rows.max(1)),
        hash: TableHash::default(),
        spill: spill.map_err(RowsError::failed)?,
        read: Arc::clone(&read),
        nobodys: AtomicU64::default(),
        layout,
    };
    let (sender, receiver) = mpsc::sync_channel(1);
    runtime.spawn(async move {
        let work = async { pass.run(pieces()?).await };
        // Nobody waits any more: then nobody needs it.
        let _ = sender.send(work.await);
    });
    loop {
        match receiver.recv_timeout(Duration::from_millis(100)) {
            Ok(done) => return done,
            Err(RecvTimeoutError::Timeout) => {
                if let Some(progress) = options.progress {
                    progress(read.load(Ordering::Relaxed));
                }
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(RowsError::failed("a thread broke down"));
            }
        }
    }
}

impl ProfilePass {
    async fn run(self, pieces: Vec<Piece>) -> Result<UnitCells, RowsError> {
        let pass = Arc::new(self);
        let workers = pass.workers.clamp(1, pieces.len().max(1));
        let pieces = Arc::new(Mutex::new(VecDeque::from(pieces)));
        let read = || Arc::clone(&pass).read(Arc::clone(&pieces));
        let read = spawn(workers, read).await?;
        let (tables, counted): (Vec<_>, Vec<_>) = read.into_iter().unzip();
        let spills = tables.iter().map(|table: &Shards<UnitRows>| table.spills).sum();
        let shards = Arc::new(Mutex::new(VecDeque::from(Shards::by_shard(tables))));
        let place = || Arc::clone(&pass).place(Arc::clone(&shards));
        let placed = spawn(pass.workers, place).await?;
        let mut counts = vec![0i64; pass.layout.cells().iter().sum()];
        for other in counted.into_iter().chain(placed) {
            counts.iter_mut().zip(other).for_each(|(one, other)| *one = one.saturating_add(other));
        }
        let nobodys = pass.nobodys.load(Ordering::Relaxed);
        Ok(UnitCells { layout: pass.layout.clone(), counts, nobodys, spills })
    }

    fn no_counts(&self) -> Vec<i64> {
        vec![0; self.layout.cells().iter().sum()]
    }

    /// Reads pieces until there are no more. Where each row is a unit, it is in its cells at once.
    async fn read(
        self: Arc<Self>,
        pieces: Arc<Mutex<VecDeque<Piece>>>,
    ) -> Result<(Shards<UnitRows>, Vec<i64>), RowsError> {
        let make = &|| UnitRows::new(&self.layout);
        let (mut table, mut counts) = (Shards::new(make), self.no_counts());
        let share = (self.memory / 2 / self.workers).max(LEAST);
        while let Some(piece) = next(&pieces) {
            let mut batches = sound(|| scan::open_plain(piece, &self.wanted, self.batch_rows))?;
            while let Some(batch) = sound(|| batches.next().transpose())? {
                sound(|| {
                    self.take_in(batch, &mut table, &mut counts);
                    Ok(())
                })?;
                if table.held() > share {
                    table.spill(self.spill.path(), make).map_err(RowsError::failed)?;
                }
                yield_now().await;
            }
        }
        Ok((table, counts))
    }

    fn take_in(
        &self,
        (mut columns, rows): (Vec<Column>, usize),
        table: &mut Shards<UnitRows>,
        counts: &mut [i64],
    ) {
        self.read.fetch_add(rows as u64, Ordering::Relaxed);
        let unit = match self.wanted.unit {
            Some(_) => columns.pop().map(|unit| unit.identity()),
            None => None,
        };
        let columns: Vec<Column> = columns.iter().map(Column::cut).collect();
        let picked = |places: &[usize]| -> Vec<Column> {
            places.iter().filter_map(|&place| columns.get(place).cloned()).collect()
        };
        let (keys, values) = (picked(&self.key_places), picked(&self.column_places));
        let (mut name, mut bytes, mut bins) = (Vec::new(), Vec::new(), Vec::new());
        let mut digests = Vec::with_capacity(keys.len());
        for row in 0..rows {
            bins_of(&values, row, &mut bins);
            let Some(unit) = &unit else {
                let groups = vec![1; keys.len()];
                for cell in self.layout.cells_of(1, &groups, &bins) {
                    counts[cell] = counts[cell].saturating_add(1);
                }
                continue;
            };
            // What is nobody's has no part in anything.
            if unit.is_null(row) {
                self.nobodys.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            name.clear();
            encoding::push(unit, row, &mut name);
            digests.clear();
            for key in &keys {
                bytes.clear();
                encoding::push(key, row, &mut bytes);
                digests.push(self.keys.value(&name, &bytes));
            }
            bytes.clear();
            values.iter().for_each(|value| encoding::push(value, row, &mut bytes));
            let line = self.keys.row(&name, &bytes);
            let shard = shard(self.hash.hash_one(&name[..]));
            table.in_memory[shard].add(&name, line, &bins, &digests);
        }
    }

    /// Brings shards of units together until there are no more, and counts their cells.
    async fn place(
        self: Arc<Self>,
        shards: Arc<Mutex<VecDeque<Parts<UnitRows>>>>,
    ) -> Result<Vec<i64>, RowsError> {
        let mut counts = self.no_counts();
        while let Some(parts) = next(&shards) {
            sound(|| {
                let units = parts.merged(&|| UnitRows::new(&self.layout));
                let units = units.map_err(RowsError::failed)?;
                units.each(&self.layout, &self.keys, |cells| {
                    cells.iter().for_each(|&cell| counts[cell] = counts[cell].saturating_add(1));
                });
                Ok(())
            })?;
            yield_now().await;
        }
        Ok(counts)
    }
}
