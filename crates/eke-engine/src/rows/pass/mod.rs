//! The one pass over rows: read, bounded by unit, and then added up by group.
//!
//! Several workers read pieces, each into a table of units of its own. Then every shard of units is
//! brought together, by whichever worker is free, and what it keeps is added up by group. Nothing
//! that comes out depends on how the work was shared out.
//!
//! A worker that holds more than its share of memory puts what it holds on disk and goes on.
//! Nothing here decides whether there is an answer: however many units and groups there are, they
//! find room.

pub(crate) mod bounding;
pub(crate) mod kept;
pub(crate) mod names;
pub(crate) mod shards;
pub(crate) mod totals;

use std::collections::VecDeque;
use std::hash::BuildHasher;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::Array as _;
use tokio::task::{JoinHandle, yield_now};

use crate::rows::RowsError;
use crate::rows::column::Column;
use crate::rows::contribution::Contributions;
use crate::rows::groups::Groups;
use crate::rows::pass::bounding::{BatchRows, Limits};
use crate::rows::pass::kept::{Kept, first_half};
use crate::rows::pass::names::TableHash;
use crate::rows::pass::shards::{Parts, Shard as _, Shards, shard};
use crate::rows::pass::totals::Totals;
use crate::rows::quiet::quietly;
use crate::rows::scan::{self, Piece};
use crate::rows::spill::SpillRun;

/// What a worker may hold at least, whatever it is told: enough to go on at all.
const LEAST: usize = 1 << 20;
/// How many groups are handed on together.
const BATCH_GROUPS: usize = 1 << 16;

/// A pass over the rows of a plan. Shared by its workers.
pub(crate) struct Pass {
    pub(crate) contributions: Contributions,
    pub(crate) limits: Arc<Limits>,
    /// How much memory is used before it is given up to disk, in bytes.
    pub(crate) memory: usize,
    pub(crate) workers: usize,
    pub(crate) batch_rows: usize,
    pub(crate) counters: Counters,
    /// Where rows are put that do not fit into memory, until the pass ends.
    pub(crate) spill: SpillRun,
    pub(crate) hash: TableHash,
}

/// What is known of a pass from outside while it runs.
#[derive(Clone, Default)]
pub(crate) struct Counters {
    /// How many rows were read.
    pub(crate) read: Arc<AtomicU64>,
    /// How many of them are nobody's.
    pub(crate) nobodys: Arc<AtomicU64>,
    /// That nobody waits any more.
    pub(crate) stopped: Arc<AtomicBool>,
}

impl Pass {
    /// Goes through all pieces, and adds the groups that there are; how often memory was given up.
    pub(crate) async fn run(
        self,
        pieces: Vec<Piece>,
        groups: &mut Groups,
    ) -> Result<usize, RowsError> {
        let pass = Arc::new(self);
        let workers = pass.workers.clamp(1, pieces.len().max(1));
        let pieces = Arc::new(Mutex::new(VecDeque::from(pieces)));
        let read = || Arc::clone(&pass).read(Arc::clone(&pieces));
        let units = spawn(workers, read).await?;
        let mut spills: usize = units.iter().map(|units| units.spills).sum();

        let shards = Arc::new(Mutex::new(VecDeque::from(Shards::by_shard(units))));
        let total = || Arc::clone(&pass).total(Arc::clone(&shards));
        let totals = spawn(pass.workers.max(1), total).await?;
        spills += totals.iter().map(|totals| totals.spills).sum::<usize>();

        let mut all = pass.new_totals();
        for parts in Shards::by_shard(totals) {
            let more = parts.merged(&|| pass.new_totals()).map_err(RowsError::failed)?;
            let is_many = all.len() + more.len() > BATCH_GROUPS;
            if is_many || all.held() + more.held() > pass.share() {
                pass.hand_on(&std::mem::replace(&mut all, pass.new_totals()), groups)?;
            }
            let mut bytes = Vec::new();
            more.write(&mut bytes);
            all.read(&bytes).ok_or_else(too_many)?;
        }
        pass.hand_on(&all, groups)?;
        groups.close()?;
        Ok(spills)
    }

    fn hand_on(&self, totals: &Totals, groups: &mut Groups) -> Result<(), RowsError> {
        if totals.len() == 0 {
            return Ok(());
        }
        let batch = totals.finish(&self.limits.keys).map_err(RowsError::failed)?;
        groups.add(batch, self.memory, self.spill.path())
    }

    fn new_kept(&self) -> Kept {
        Kept::new(Arc::clone(&self.limits), self.hash.clone())
    }

    fn new_totals(&self) -> Totals {
        Totals::new(self.limits.steps, self.hash.clone())
    }

    /// How much one worker may hold in a table.
    fn share(&self) -> usize {
        (self.memory / 2 / self.workers.max(1)).max(LEAST)
    }

    fn folder(&self) -> &Path {
        self.spill.path()
    }

    /// Reads pieces until there are no more. Other passes have their turn after every batch.
    async fn read(
        self: Arc<Self>,
        pieces: Arc<Mutex<VecDeque<Piece>>>,
    ) -> Result<Shards<Kept>, RowsError> {
        let make = &|| self.new_kept();
        let mut kept = Shards::new(make);
        let mut name = Vec::new();
        while let Some(piece) = next(&pieces) {
            let wanted = self.contributions.wanted();
            let mut batches = sound(|| scan::open(piece, wanted, self.batch_rows))?;
            while let Some(batch) = sound(|| batches.next().transpose())? {
                sound(|| self.take_in(batch, &mut kept, &mut name))?;
                if kept.held() > self.share() {
                    kept.spill(self.folder(), make).map_err(RowsError::failed)?;
                }
                yield_now().await;
            }
        }
        Ok(kept)
    }

    /// Takes rows in, with all that they bring.
    fn take_in(
        &self,
        (columns, rows): (Vec<Column>, usize),
        kept: &mut Shards<Kept>,
        name: &mut Vec<u8>,
    ) -> Result<(), RowsError> {
        self.check()?;
        self.counters.read.fetch_add(rows as u64, Ordering::Relaxed);
        // Before any filter: one number for a dataset, whatever is asked of it.
        let without = columns.last().map_or(0, |unit| unit.array().null_count());
        self.counters.nobodys.fetch_add(without as u64, Ordering::Relaxed);
        let brought = self.contributions.of(&columns, rows).map_err(RowsError::failed)?;
        let rows = BatchRows::new(&self.limits, &brought)
            .ok_or_else(|| RowsError::failed("columns that are not those of the plan"))?;
        for row in 0..brought.first().map_or(0, |units| units.len()) {
            let from = rows.name(row, name);
            let (group, unit) = name.split_at(from);
            let hash = self.hash.hash_one(unit);
            let kept = &mut kept.in_memory[shard(hash)];
            let number = kept.unit(hash, unit).ok_or_else(too_many)?;
            let order = first_half(self.limits.order(name));
            kept.add(number, order, group, 1, rows.steps(row)).ok_or_else(too_many)?;
        }
        Ok(())
    }

    /// Brings shards of units together until there are no more, and adds up what they keep.
    async fn total(
        self: Arc<Self>,
        shards: Arc<Mutex<VecDeque<Parts<Kept>>>>,
    ) -> Result<Shards<Totals>, RowsError> {
        let make = &|| self.new_totals();
        let mut totals = Shards::new(make);
        while let Some(parts) = next(&shards) {
            self.check()?;
            sound(|| {
                let kept = parts.merged(&|| self.new_kept()).map_err(RowsError::failed)?;
                let all = kept.each(|group, counted| {
                    let hash = self.hash.hash_one(group);
                    let one = std::iter::once(1).chain(counted.iter().copied());
                    totals.in_memory[shard(hash)].add(hash, group, one)
                });
                all.ok_or_else(too_many)
            })?;
            if totals.held() > self.share() {
                totals.spill(self.folder(), make).map_err(RowsError::failed)?;
            }
            yield_now().await;
        }
        Ok(totals)
    }

    fn check(&self) -> Result<(), RowsError> {
        if self.counters.stopped.load(Ordering::Relaxed) {
            return Err(RowsError::failed("nobody waits for it any more"));
        }
        Ok(())
    }
}

/// Lets workers do something on threads of ours, and waits for all of them.
async fn spawn<T: Send + 'static, W: Future<Output = Result<T, RowsError>> + Send + 'static>(
    workers: usize,
    work: impl Fn() -> W,
) -> Result<Vec<T>, RowsError> {
    let started: Vec<JoinHandle<_>> = (0..workers).map(|_| tokio::spawn(work())).collect();
    let mut done = Vec::with_capacity(workers);
    for worker in started {
        done.push(worker.await.map_err(RowsError::failed)?);
    }
    done.into_iter().collect()
}

/// Does something that a damaged file may break: that is an error like others.
fn sound<T>(work: impl FnOnce() -> Result<T, RowsError>) -> Result<T, RowsError> {
    let broken = |said: String| Err(RowsError::failed(format!("a reader broke down: {said}")));
    quietly(work).unwrap_or_else(broken)
}

fn next<T>(queue: &Mutex<VecDeque<T>>) -> Option<T> {
    queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
}

fn too_many() -> RowsError {
    RowsError::failed("more units or groups than can be numbered")
}
