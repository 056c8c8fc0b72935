//! The one pass over rows: read, bounded by unit, and then added up by group.
//!
//! Several workers read pieces, each into a table of units of its own. (Where a question brings the
//! rows of a unit together first, or those of several datasets, what they become is bounded in their
//! place.) Then every shard of
//! units is brought together, by whichever worker is free, and what it keeps is added up by group.
//! Nothing that comes out depends on how the work was shared out.
//!
//! A worker that holds more than its share of memory puts what it holds on disk and goes on.
//! Nothing here decides whether there is an answer: however many units and groups there are, they
//! find room.

pub(crate) mod added;
pub(crate) mod bounding;
pub(crate) mod cells;
pub(crate) mod cuts;
pub(crate) mod kept;
pub(crate) mod names;
pub(crate) mod order;
pub(crate) mod shards;
pub(crate) mod totals;
pub(crate) mod values;
pub(crate) mod waiting;

use std::collections::VecDeque;
use std::hash::BuildHasher;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::task::{JoinHandle, yield_now};

use crate::rows::RowsError;
use crate::rows::column::Column;
use crate::rows::column::listed::AnyColumn;
use crate::rows::contribution::{Contributions, ListsMade};
use crate::rows::groups::Groups;
use crate::rows::held::Holding;
use crate::rows::pass::added::{AddedParts, AddedUp, OfGroup};
use crate::rows::pass::bounding::{BatchRows, Limits, RowNames, RowSteps};
use crate::rows::pass::cells::{CellRun, CellRuns, CellWeights, brought as cell_brought};
use crate::rows::pass::cuts::{CutMarks, CutTally};
use crate::rows::pass::kept::Kept;
use crate::rows::pass::names::TableHash;
use crate::rows::pass::shards::{Parts, Shard, Shards, shard};
use crate::rows::pass::totals::Totals;
use crate::rows::pass::values::{HALVES, Values, brought};
use crate::rows::pass::waiting::{Waiting, WaitingRow};
use crate::rows::per_unit::meet::TakeRows;
use crate::rows::per_unit::table::UnitTable;
use crate::rows::per_unit::{AddToUnit, Flow, Origin, Stage, Stages};
use crate::rows::quiet::quietly;
use crate::rows::scan::{self, Piece};
use crate::rows::spill::SpillRun;
use crate::rows::steps::{RowStep, through};

/// What a worker may hold at least, whatever it is told: enough to go on at all.
const LEAST: usize = 1 << 20;
/// How many groups are handed on together.
const BATCH_GROUPS: usize = 1 << 16;

/// How large a table is at most that a processor has at hand, in bytes.
const AT_HAND: usize = 1 << 20;

/// How many bytes of rows of one worker wait at most.
const MOST_WAITING: usize = 64 << 20;

/// Rows on their way into a table.
struct Incoming<T> {
    table: Shards<T>,
    /// Those that wait, by shard.
    waiting: Vec<Waiting>,
    /// What the rows of a batch are named by.
    units: RowNames,
    groups: RowNames,
    /// What they are looked up by: their units, or their groups where each row is a unit.
    hashes: Vec<u64>,
    steps: RowSteps,
    orders: Vec<u64>,
    made: ListsMade,
}

/// A pass over the rows of a plan. Shared by its workers.
pub(crate) struct Pass {
    /// What is read, and what happens to it before it is bounded.
    pub(crate) before: Stages,
    pub(crate) contributions: Contributions,
    pub(crate) limits: Arc<Limits>,
    /// How much memory is used before it is given up to disk, in bytes.
    pub(crate) memory: usize,
    pub(crate) workers: usize,
    pub(crate) batch_rows: usize,
    pub(crate) counters: Counters,
    /// How many units were cut, once the pass has ended.
    pub(crate) cuts: Arc<Mutex<CutTally>>,
    /// Where rows are put that do not fit into memory, until the pass ends.
    pub(crate) spill: SpillRun,
    pub(crate) hash: TableHash,
    /// What rows are held in for other plans.
    pub(crate) holding: Option<Arc<Holding>>,
}

/// What is known of a pass from outside while it runs.
#[derive(Clone, Default)]
pub(crate) struct Counters {
    /// How many rows were read.
    pub(crate) read: Arc<AtomicU64>,
    /// How many of each dataset's are nobody's.
    pub(crate) nobodys: Arc<Vec<AtomicU64>>,
    /// That nobody waits any more.
    pub(crate) stopped: Arc<AtomicBool>,
}

impl Counters {
    /// For a pass over this many datasets.
    pub(crate) fn of(datasets: usize) -> Self {
        let nobodys = (0..datasets).map(|_| AtomicU64::default()).collect();
        Self { nobodys: Arc::new(nobodys), ..Self::default() }
    }
}

/// A piece of a dataset, by the dataset's place among those that are read.
pub(crate) type PieceOf = (usize, Piece);

/// What a worker has of the rows that it read.
struct Gathered {
    /// What stages bring together of rows that are read.
    tables: Vec<Shards<UnitTable>>,
    /// What is kept of rows that are bounded as they are read.
    kept: Shards<Kept>,
}

/// The same of all workers, for some units.
struct GatheredParts {
    tables: Vec<Parts<UnitTable>>,
    kept: Parts<Kept>,
}

impl Pass {
    /// Goes through all pieces, and adds the groups that there are; how often memory was given up,
    /// and where values lie.
    pub(crate) async fn run(
        self,
        pieces: Vec<PieceOf>,
        groups: &mut Groups,
    ) -> Result<(usize, CellRuns), RowsError> {
        let pass = Arc::new(self);
        let workers = pass.workers.clamp(1, pieces.len().max(1));
        let pieces = Arc::new(Mutex::new(VecDeque::from(pieces)));
        let mut spills = 0;
        let AddedParts { mut totals, values, cells } = if pass.limits.unit.is_none() {
            // Each row is a unit, which is in one group: there is nothing to bound.
            if pass.limits.bringing.most.is_empty() && pass.limits.searching.ones.is_empty() {
                let read = || Arc::clone(&pass).read::<Totals>(Arc::clone(&pieces));
                AddedParts { totals: spawn(workers, read).await?, ..AddedParts::default() }
            } else {
                let read = || Arc::clone(&pass).read_values(Arc::clone(&pieces));
                AddedUp::parts(spawn(workers, read).await?)
            }
        } else if !pass.before.stages.is_empty() {
            let units = spawn(workers, || Arc::clone(&pass).gather(Arc::clone(&pieces))).await?;
            spills += units.iter().map(Gathered::spills).sum::<usize>();
            let shards = Arc::new(Mutex::new(Gathered::by_shard(units)));
            let total = || Arc::clone(&pass).total_of_units(Arc::clone(&shards));
            AddedUp::parts(spawn(pass.workers.max(1), total).await?)
        } else {
            let read = || Arc::clone(&pass).read::<Kept>(Arc::clone(&pieces));
            let units = spawn(workers, read).await?;
            spills += units.iter().map(|units| units.spills).sum::<usize>();
            let shards = Arc::new(Mutex::new(VecDeque::from(Shards::by_shard(units))));
            let total = || Arc::clone(&pass).total(Arc::clone(&shards));
            AddedUp::parts(spawn(pass.workers.max(1), total).await?)
        };
        if !values.is_empty() {
            // The values of all units have met: now they are counted.
            spills += values.iter().map(|values| values.spills).sum::<usize>();
            let shards = Arc::new(Mutex::new(VecDeque::from(Shards::by_shard(values))));
            let count = || Arc::clone(&pass).count_values(Arc::clone(&shards));
            totals.extend(spawn(pass.workers.max(1), count).await?);
        }
        let mut runs = CellRuns::default();
        if !cells.is_empty() {
            spills += cells.iter().map(|cells| cells.spills).sum::<usize>();
            let shards = Arc::new(Mutex::new(VecDeque::from(Shards::by_shard(cells))));
            let held = Arc::new(AtomicU64::new(0));
            let sort = || Arc::clone(&pass).sort_cells(Arc::clone(&shards), Arc::clone(&held));
            let sorted = spawn(pass.workers.max(1), sort).await?;
            runs = CellRuns(sorted.into_iter().flatten().collect());
        }
        spills += totals.iter().map(|totals| totals.spills).sum::<usize>();

        let mut all = Totals::make(&pass);
        for parts in Shards::by_shard(totals) {
            let more = parts.merged(&|| Totals::make(&pass)).map_err(RowsError::failed)?;
            let is_many = all.len() + more.len() > BATCH_GROUPS;
            if is_many || all.held() + more.held() > pass.share() {
                pass.hand_on(&std::mem::replace(&mut all, Totals::make(&pass)), groups)?;
            }
            let mut bytes = Vec::new();
            more.write(&mut bytes);
            all.read(&bytes).ok_or_else(too_many)?;
        }
        pass.hand_on(&all, groups)?;
        groups.close()?;
        Ok((spills, runs))
    }

    fn hand_on(&self, totals: &Totals, groups: &mut Groups) -> Result<(), RowsError> {
        if totals.len() == 0 {
            return Ok(());
        }
        let batch = totals.finish(&self.limits.keys).map_err(RowsError::failed)?;
        groups.add(batch, self.memory, self.spill.path())
    }

    /// How much one worker may hold in a table.
    fn share(&self) -> usize {
        (self.memory / 2 / self.workers.max(1)).max(LEAST)
    }

    fn folder(&self) -> &Path {
        self.spill.path()
    }

    /// Reads pieces until there are no more. Other passes have their turn after every batch.
    async fn read<T: TakesRows>(
        self: Arc<Self>,
        pieces: Arc<Mutex<VecDeque<PieceOf>>>,
    ) -> Result<Shards<T>, RowsError> {
        let make = &|| T::make(&self);
        let mut incoming = Incoming::new(Shards::new(make));
        while let Some((input, piece)) = next(&pieces) {
            let wanted = &self.before.inputs[input];
            let mut batches = sound(|| scan::open(piece, wanted, self.batch_rows))?;
            while let Some(batch) = sound(|| batches.next().transpose())? {
                self.holding.iter().for_each(|holding| holding.add(&batch));
                sound(|| {
                    self.seen(input, &batch)?;
                    self.take_in(input, &batch, &mut incoming)
                })?;
                if incoming.table.held() > self.share() {
                    incoming.table.spill(self.folder(), make).map_err(RowsError::failed)?;
                }
                yield_now().await;
            }
        }
        for shard in 0..incoming.waiting.len() {
            sound(|| incoming.settle(&self, shard).ok_or_else(too_many))?;
        }
        Ok(incoming.table)
    }

    /// Reads pieces until there are no more, where each row is a unit and different values are
    /// counted: a row has one value of each list, and brings it.
    async fn read_values(
        self: Arc<Self>,
        pieces: Arc<Mutex<VecDeque<PieceOf>>>,
    ) -> Result<AddedUp, RowsError> {
        let (mut added, steps) = (AddedUp::new(&self), self.limits.steps);
        let mut made = ListsMade::default();
        let (mut groups, mut all_steps) = (RowNames::default(), RowSteps::default());
        let mut weights = Vec::new();
        let digests = HALVES * self.limits.bringing.most.len();
        let ones = &self.limits.searching.ones;
        while let Some((input, piece)) = next(&pieces) {
            let wanted = &self.before.inputs[input];
            let mut batches = sound(|| scan::open(piece, wanted, self.batch_rows))?;
            while let Some(batch) = sound(|| batches.next().transpose())? {
                self.holding.iter().for_each(|holding| holding.add(&batch));
                sound(|| {
                    self.seen(input, &batch)?;
                    for flow in of_input(&self.before.flows, input) {
                        self.brought(&flow.steps, batch.clone(), &mut made, &mut |rows| {
                            rows.groups(&mut groups);
                            rows.steps(&mut all_steps);
                            for (row, group) in groups.iter().enumerate() {
                                let (numbers, rest) = all_steps.row(row).split_at(steps);
                                let (digests, cells) = rest.split_at(digests);
                                let numbers = numbers.iter().map(|&step| i128::from(step));
                                let digests = (0..).zip(digests.chunks(HALVES));
                                let values =
                                    digests.filter_map(|(list, one)| Some((list, brought(one)?)));
                                let numbers = [1, 1].into_iter().chain(numbers);
                                weights.clear();
                                let one = |(search, &step): (u32, &i64)| {
                                    Some((search, cell_brought(step)?, ones[search as usize]))
                                };
                                weights.extend((0..).zip(cells).filter_map(one));
                                let cells = &weights[..];
                                let unit = OfGroup { group, numbers, values, cells };
                                added.add(&self, unit).ok_or_else(too_many)?;
                            }
                            Ok(())
                        })?;
                    }
                    Ok(())
                })?;
                added.give_way(&self)?;
                yield_now().await;
            }
        }
        Ok(added)
    }

    /// Takes in rows of a dataset that are bounded as they are read, with all that they bring.
    fn take_in<T: TakesRows>(
        &self,
        input: usize,
        batch: &(Vec<AnyColumn>, usize),
        incoming: &mut Incoming<T>,
    ) -> Result<(), RowsError> {
        let mut made = std::mem::take(&mut incoming.made);
        for flow in of_input(&self.before.flows, input) {
            let take_in = &mut |rows: &BatchRows| incoming.add(self, rows).ok_or_else(too_many);
            self.brought(&flow.steps, batch.clone(), &mut made, take_in)?;
        }
        incoming.made = made;
        Ok(())
    }

    /// Shows what rows bring that nothing else happens to any more but these steps.
    fn brought(
        &self,
        steps: &[Arc<RowStep>],
        (columns, rows): (Vec<AnyColumn>, usize),
        made: &mut ListsMade,
        take_in: &mut dyn FnMut(&BatchRows) -> Result<(), RowsError>,
    ) -> Result<(), RowsError> {
        let mut bring = |columns: Vec<AnyColumn>, rows| {
            let columns = self.wanted_of(columns).ok_or_else(not_ours)?;
            take_in(&self.contributions.of(&columns, rows, made).map_err(RowsError::failed)?)
        };
        if steps.is_empty() {
            return bring(columns, rows);
        }
        through(steps, (plain(&columns), rows), self.batch_rows, &mut |columns, rows| {
            bring(columns.into_iter().map(AnyColumn::Plain).collect(), rows)
        })
    }

    /// What contributions are computed from, of rows that are joined: their columns, and then the
    /// unit.
    fn wanted_of(&self, columns: Vec<AnyColumn>) -> Option<Vec<AnyColumn>> {
        let (own, wanted) = (&self.before.columns, &self.contributions.wanted().columns);
        if own == wanted {
            return Some(columns);
        }
        let place = |column| own.iter().position(|other| other == column);
        let picked = wanted.iter().map(|column| columns.get(place(column)?).cloned());
        picked.chain([columns.last().cloned()]).collect()
    }

    /// Counts rows of a dataset that were read.
    fn seen(
        &self,
        input: usize,
        (columns, rows): &(Vec<AnyColumn>, usize),
    ) -> Result<(), RowsError> {
        self.check()?;
        self.counters.read.fetch_add(*rows as u64, Ordering::Relaxed);
        // Before any filter: one number for a dataset, whatever is asked of it.
        let unit = self.limits.unit.and(columns.last());
        let without = unit.map_or(0, AnyColumn::null_count);
        if let Some(nobodys) = self.counters.nobodys.get(input) {
            nobodys.fetch_add(without as u64, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Reads pieces until there are no more, and brings the rows of each unit together.
    async fn gather(
        self: Arc<Self>,
        pieces: Arc<Mutex<VecDeque<PieceOf>>>,
    ) -> Result<Gathered, RowsError> {
        let stages = &self.before.stages;
        let tables = stages.iter().map(|stage| Shards::new(&|| self.unit_table(stage)));
        let mut tables: Vec<Shards<UnitTable>> = tables.collect();
        let mut incoming = Incoming::new(Shards::new(&|| Kept::make(&self)));
        while let Some((input, piece)) = next(&pieces) {
            let wanted = &self.before.inputs[input];
            let mut batches = sound(|| scan::open(piece, wanted, self.batch_rows))?;
            while let Some(batch) = sound(|| batches.next().transpose())? {
                self.holding.iter().for_each(|holding| holding.add(&batch));
                sound(|| {
                    self.seen(input, &batch)?;
                    let plain = (plain(&batch.0), batch.1);
                    for (stage, table) in stages.iter().zip(&mut tables) {
                        for flow in of_input(&stage.flows, input) {
                            self.gathered(stage, flow, plain.clone(), &mut |entry, values| {
                                table.in_memory[shard(entry.hash)].add(entry, values)
                            })?;
                        }
                    }
                    self.take_in(input, &batch, &mut incoming)
                })?;
                let held = tables.iter().map(Shards::held).sum::<usize>();
                if held + incoming.table.held() > self.share() {
                    for (stage, table) in stages.iter().zip(&mut tables) {
                        let make = &|| self.unit_table(stage);
                        table.spill(self.folder(), make).map_err(RowsError::failed)?;
                    }
                    if of_inputs(&self.before.flows) {
                        let make = &|| Kept::make(&self);
                        incoming.table.spill(self.folder(), make).map_err(RowsError::failed)?;
                    }
                }
                yield_now().await;
            }
        }
        for shard in 0..incoming.waiting.len() {
            sound(|| incoming.settle(&self, shard).ok_or_else(too_many))?;
        }
        Ok(Gathered { tables, kept: incoming.table })
    }

    /// Brings shards of units together until there are no more, and adds up what is kept of the
    /// rows that they become.
    async fn total_of_units(
        self: Arc<Self>,
        shards: Arc<Mutex<VecDeque<GatheredParts>>>,
    ) -> Result<AddedUp, RowsError> {
        let mut added = AddedUp::new(&self);
        while let Some(parts) = next(&shards) {
            self.check()?;
            sound(|| {
                let stages = self.before.stages.iter().zip(parts.tables);
                let tables = stages.map(|(stage, parts)| {
                    parts.merged(&|| self.unit_table(stage)).map(Some).map_err(RowsError::failed)
                });
                let tables = tables.collect::<Result<Vec<_>, _>>()?;
                let kept = parts.kept.merged(&|| Kept::make(&self)).map_err(RowsError::failed)?;
                self.add_up(self.bounded(tables, kept)?, &mut added)
            })?;
            added.give_way(&self)?;
            yield_now().await;
        }
        Ok(added)
    }

    /// Shows what rows bring to a stage.
    fn gathered(
        &self,
        stage: &Stage,
        flow: &Flow,
        batch: (Vec<Column>, usize),
        add: &mut AddToUnit<'_>,
    ) -> Result<(), RowsError> {
        through(&flow.steps, batch, self.batch_rows, &mut |columns, rows| {
            stage.take_in((&columns, rows), &self.limits.hash_key, &self.hash, add)
        })
    }

    /// What is kept of some units, once their rows have gone through all stages. Each stage has
    /// what was read of them, and so has what is kept.
    fn bounded(
        &self,
        mut tables: Vec<Option<UnitTable>>,
        mut kept: Kept,
    ) -> Result<Kept, RowsError> {
        for (place, stage) in self.before.stages.iter().enumerate() {
            let mut table = tables[place].take().unwrap_or_else(|| self.unit_table(stage));
            for flow in &stage.flows {
                self.flowing(flow, &mut tables, &mut |batch| {
                    self.gathered(stage, flow, batch, &mut |entry, values| table.add(entry, values))
                })?;
            }
            tables[place] = Some(table);
        }
        let (mut waiting, mut orders) = (Waiting::default(), Vec::new());
        let (mut groups, mut units) = (RowNames::default(), RowNames::default());
        let mut steps = RowSteps::default();
        let mut made = ListsMade::default();
        for flow in &self.before.flows {
            self.flowing(flow, &mut tables, &mut |(columns, rows)| {
                let columns = columns.into_iter().map(AnyColumn::Plain).collect();
                self.brought(&flow.steps, (columns, rows), &mut made, &mut |rows| {
                    waiting.clear();
                    rows.groups(&mut groups);
                    rows.units(&mut units);
                    rows.steps(&mut steps);
                    for (row, (group, unit)) in groups.iter().zip(units.iter()).enumerate() {
                        waiting.push(self.hash.hash_one(unit), group, unit, steps.row(row));
                    }
                    kept.take_in(self, &waiting, &mut orders).ok_or_else(too_many)
                })
            })?;
        }
        Ok(kept)
    }

    /// Hands on rows that come from stages, which are needed once; those that are read have come
    /// before.
    fn flowing(
        &self,
        flow: &Flow,
        tables: &mut [Option<UnitTable>],
        take: &mut TakeRows<'_>,
    ) -> Result<(), RowsError> {
        let mut table = |place: usize| tables[place].take().ok_or_else(too_many);
        match flow.from {
            Origin::Input(_) => Ok(()),
            Origin::Stage(place) => {
                let stage = &self.before.stages[place];
                stage.hand_on(&table(place)?, self.batch_rows, take)
            }
            Origin::Meet(place) => {
                let meet = &self.before.meets[place];
                let (left, right) = (table(meet.left)?, table(meet.right)?);
                meet.hand_on([&left, &right], self.batch_rows, take)
            }
        }
    }

    fn unit_table(&self, stage: &Stage) -> UnitTable {
        UnitTable::new(Arc::clone(&stage.shape), self.hash.clone())
    }

    /// Adds up what units keep.
    fn add_up(&self, kept: Kept, added: &mut AddedUp) -> Result<(), RowsError> {
        let all = kept.each(|group, counted, values, cells| {
            let numbers = std::iter::once(1).chain(counted.iter().copied());
            let lists = (0..).zip(values);
            let values = lists.flat_map(|(list, values)| {
                values.values().iter().map(move |value| (list, value.digest))
            });
            added.add(self, OfGroup { group, numbers, values, cells })
        });
        let cuts = all.ok_or_else(too_many)?;
        self.cuts.lock().unwrap_or_else(PoisonError::into_inner).add(&cuts);
        Ok(())
    }

    /// Brings shards of units together until there are no more, and adds up what they keep.
    async fn total(
        self: Arc<Self>,
        shards: Arc<Mutex<VecDeque<Parts<Kept>>>>,
    ) -> Result<AddedUp, RowsError> {
        let mut added = AddedUp::new(&self);
        while let Some(parts) = next(&shards) {
            self.check()?;
            sound(|| {
                let kept = parts.merged(&|| Kept::make(&self)).map_err(RowsError::failed)?;
                self.add_up(kept, &mut added)
            })?;
            added.give_way(&self)?;
            yield_now().await;
        }
        Ok(added)
    }

    /// Brings shards of values together until there are no more, and counts those of each group.
    async fn count_values(
        self: Arc<Self>,
        shards: Arc<Mutex<VecDeque<Parts<Values>>>>,
    ) -> Result<Shards<Totals>, RowsError> {
        let make = &|| Totals::make(&self);
        let mut totals = Shards::new(make);
        // Units, rows and steps were added up before.
        let before = 2 + self.limits.steps;
        while let Some(parts) = next(&shards) {
            self.check()?;
            sound(|| {
                let values = parts.merged(&|| self.values()).map_err(RowsError::failed)?;
                let all = values.each(|group, counts| {
                    let hash = self.hash.hash_one(group);
                    let counts = std::iter::repeat_n(0, before).chain(counts.iter().copied());
                    totals.in_memory[shard(hash)].add(hash, group, counts)
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

    /// Brings shards of cells together until there are no more, and sorts them. What is more than
    /// there is memory for goes on disk.
    async fn sort_cells(
        self: Arc<Self>,
        shards: Arc<Mutex<VecDeque<Parts<CellWeights>>>>,
        held: Arc<AtomicU64>,
    ) -> Result<Vec<CellRun>, RowsError> {
        let mut runs = Vec::new();
        while let Some(parts) = next(&shards) {
            self.check()?;
            runs.push(sound(|| {
                let cells = parts.merged(&|| self.cells()).map_err(RowsError::failed)?;
                let mut run = cells.run();
                let more = run.held() as u64;
                if held.fetch_add(more, Ordering::Relaxed) + more > self.memory as u64 / 4 {
                    run.spill(self.folder()).map_err(RowsError::failed)?;
                }
                Ok(run)
            })?);
            yield_now().await;
        }
        Ok(runs)
    }

    /// A table of the cells of groups.
    fn cells(&self) -> CellWeights {
        CellWeights::new(self.hash.clone())
    }

    /// A table of the values of groups.
    fn values(&self) -> Values {
        Values::new(self.limits.bringing.most.len(), self.hash.clone())
    }

    fn check(&self) -> Result<(), RowsError> {
        if self.counters.stopped.load(Ordering::Relaxed) {
            return Err(RowsError::failed("nobody waits for it any more"));
        }
        Ok(())
    }
}

impl Gathered {
    fn spills(&self) -> usize {
        self.tables.iter().map(|table| table.spills).sum::<usize>() + self.kept.spills
    }

    /// What several workers have, by shard.
    fn by_shard(all: Vec<Self>) -> VecDeque<GatheredParts> {
        let mut tables: Vec<Vec<Shards<UnitTable>>> = Vec::new();
        let mut kept = Vec::new();
        for one in all {
            tables.resize_with(one.tables.len(), Vec::new);
            tables.iter_mut().zip(one.tables).for_each(|(all, table)| all.push(table));
            kept.push(one.kept);
        }
        let kept = Shards::by_shard(kept).into_iter();
        let mut shards: VecDeque<GatheredParts> =
            kept.map(|kept| GatheredParts { tables: Vec::new(), kept }).collect();
        for table in tables {
            let parts = Shards::by_shard(table);
            shards.iter_mut().zip(parts).for_each(|(shard, parts)| shard.tables.push(parts));
        }
        shards
    }
}

/// Columns row by row.
fn plain(columns: &[AnyColumn]) -> Vec<Column> {
    columns.iter().map(AnyColumn::plain).collect()
}

/// The flows of rows that are read of a dataset.
fn of_input(flows: &[Flow], input: usize) -> impl Iterator<Item = &Flow> {
    flows.iter().filter(move |flow| flow.from == Origin::Input(input))
}

/// Whether rows flow as they are read.
fn of_inputs(flows: &[Flow]) -> bool {
    flows.iter().any(|flow| matches!(flow.from, Origin::Input(_)))
}

impl<T: TakesRows> Incoming<T> {
    fn new(table: Shards<T>) -> Self {
        let waiting = table.in_memory.iter().map(|_| Waiting::default()).collect();
        let (units, groups) = (RowNames::default(), RowNames::default());
        let (hashes, steps, orders) = (Vec::new(), RowSteps::default(), Vec::new());
        Self { table, waiting, units, groups, hashes, steps, orders, made: ListsMade::default() }
    }

    /// Lets rows wait for others of their shard; none if there are more names than can be numbered.
    ///
    /// Rows are named, then hashed, then put in their places, each for the whole batch and column by
    /// column: a name that is read right after it was written waits for all that was written before
    /// it, and the places of rows are far apart.
    fn add(&mut self, pass: &Pass, rows: &BatchRows) -> Option<()> {
        let most = (pass.share() / 4).min(MOST_WAITING) / self.waiting.len();
        let by_unit = pass.limits.unit.is_some();
        rows.groups(&mut self.groups);
        rows.units(&mut self.units);
        rows.steps(&mut self.steps);
        self.hashes.clear();
        if by_unit {
            self.hashes.extend(self.units.iter().map(|name| pass.hash.hash_one(name)));
        } else {
            self.hashes.extend(self.groups.iter().map(|name| pass.hash.hash_one(name)));
        }
        // Totals of few groups are at hand: their rows need not wait.
        let is_at_hand = !by_unit && self.table.held() <= AT_HAND;
        let names = self.groups.iter().zip(self.units.iter());
        for (row, (&hash, (group, unit))) in self.hashes.iter().zip(names).enumerate() {
            let (shard, steps) = (shard(hash), self.steps.row(row));
            if is_at_hand {
                let row = WaitingRow { hash, name: group, group, unit, steps };
                self.table.in_memory[shard].take_in_row(pass, row, 0)?;
                continue;
            }
            let waiting = &mut self.waiting[shard];
            waiting.push(hash, group, unit, steps);
            if waiting.held() >= most {
                self.table.in_memory[shard].take_in(pass, waiting, &mut self.orders)?;
                waiting.clear();
            }
        }
        Some(())
    }

    /// Takes in the rows of a shard that wait.
    fn settle(&mut self, pass: &Pass, shard: usize) -> Option<()> {
        let waiting = &mut self.waiting[shard];
        self.table.in_memory[shard].take_in(pass, waiting, &mut self.orders)?;
        waiting.clear();
        Some(())
    }
}

/// A table that rows are taken into.
trait TakesRows: Shard + Sized + Send + 'static {
    /// An empty one.
    fn make(pass: &Pass) -> Self;

    /// Takes in rows of its shard; none if there are more names than can be numbered.
    fn take_in(&mut self, pass: &Pass, rows: &Waiting, orders: &mut Vec<u64>) -> Option<()>;

    /// Takes in a row of its shard, whose group is kept by `order` if units are bounded.
    fn take_in_row(&mut self, pass: &Pass, row: WaitingRow<'_>, order: u64) -> Option<()>;
}

impl TakesRows for Kept {
    fn make(pass: &Pass) -> Self {
        Self::new(Arc::clone(&pass.limits), pass.hash.clone())
    }

    fn take_in(&mut self, pass: &Pass, rows: &Waiting, orders: &mut Vec<u64>) -> Option<()> {
        let rows = || rows.rows(pass.limits.brought());
        order::first_halves(&pass.limits.hash_key, rows().map(|row| row.name), orders);
        rows().zip(&*orders).try_for_each(|(row, &order)| self.take_in_row(pass, row, order))
    }

    #[inline]
    fn take_in_row(&mut self, pass: &Pass, row: WaitingRow<'_>, order: u64) -> Option<()> {
        let unit = self.unit(row.hash, row.unit)?;
        let (steps, rest) = row.steps.split_at(pass.limits.steps);
        let (digests, rest) = rest.split_at(HALVES * pass.limits.bringing.most.len());
        let (cells, unlisted) = rest.split_at(pass.limits.searching.ones.len());
        if unlisted.first() == Some(&1) {
            // It is in no group, and its unit in the question.
            self.mark(unit, CutMarks::UNLISTED);
            return Some(());
        }
        let steps = steps.iter().map(|&step| i128::from(step));
        let entry = self.add(unit, order, row.group, 1, steps)?;
        if let (Some(entry), false) = (entry, digests.is_empty()) {
            self.add_values(entry, row.name, digests);
        }
        if let (Some(entry), false) = (entry, cells.is_empty()) {
            self.add_cells(entry, cells);
        }
        Some(())
    }
}

impl TakesRows for Totals {
    fn make(pass: &Pass) -> Self {
        Self::new(pass.limits.totals(), pass.hash.clone())
    }

    fn take_in(&mut self, pass: &Pass, rows: &Waiting, _: &mut Vec<u64>) -> Option<()> {
        let mut rows = rows.rows(pass.limits.brought());
        rows.try_for_each(|row| self.take_in_row(pass, row, 0))
    }

    #[inline]
    fn take_in_row(&mut self, _: &Pass, row: WaitingRow<'_>, _: u64) -> Option<()> {
        // One unit, and one row.
        let one = [1, 1].into_iter().chain(row.steps.iter().map(|&step| i128::from(step)));
        self.add(row.hash, row.group, one)
    }
}

/// Lets workers do something on threads of ours, and waits for all of them.
pub(crate) async fn spawn<
    T: Send + 'static,
    W: Future<Output = Result<T, RowsError>> + Send + 'static,
>(
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
pub(crate) fn sound<T>(work: impl FnOnce() -> Result<T, RowsError>) -> Result<T, RowsError> {
    let broken = |said: String| Err(RowsError::failed(format!("a reader broke down: {said}")));
    quietly(work).unwrap_or_else(broken)
}

pub(crate) fn next<T>(queue: &Mutex<VecDeque<T>>) -> Option<T> {
    queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
}

fn not_ours() -> RowsError {
    RowsError::failed("columns that are not those of the plan")
}

fn too_many() -> RowsError {
    RowsError::failed("more units or groups than can be numbered")
}
