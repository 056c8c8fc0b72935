//! Rows to bounded sums: a plan, run over a dataset's files.
//!
//! What comes out has touched private rows, and shows itself to nobody: it becomes an `Exact` with
//! the sensitivities of the plan. What goes wrong says the same to an analyst whatever the rows
//! hold.

pub(crate) mod column;
pub(crate) mod contribution;
pub(crate) mod fan_out;
pub(crate) mod groups;
pub(crate) mod held;
pub(crate) mod lookup;
pub(crate) mod pass;
pub(crate) mod per_unit;
pub(crate) mod quiet;
pub(crate) mod scan;
pub(crate) mod spill;
pub(crate) mod steps;
pub(crate) mod threads;

use std::collections::HashMap;
use std::fmt;
use std::num::{NonZero, NonZeroU32};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arrow_array::RecordBatch;
use eke_budget::{Adjacency, L1};
use eke_noise::path::Columns;
use eke_noise::select::{KeyCounts, Touched};
use eke_noise::{Exact, Released};
use eke_sql::{Plan, Sum, Summand, Type, Value};

use crate::data::ids::Ids;
use crate::data::source::Source;
use crate::rows::column::lower::LowerError;
use crate::rows::contribution::Contributions;
use crate::rows::groups::Groups;
pub use crate::rows::held::HeldRows;
pub use crate::rows::lookup::PublicRows;
use crate::rows::pass::bounding::{HashKey, Limits};
use crate::rows::pass::cells::{CellRuns, Searching};
use crate::rows::pass::cuts::{CutCell, CutTally};
use crate::rows::pass::names::TableHash;
use crate::rows::pass::values::Bringing;
use crate::rows::pass::{Counters, Pass};
use crate::rows::per_unit::{Input, Stages};
use crate::rows::scan::Piece;
use crate::rows::spill::Spill;

/// How many steps a unit is in a count of units that were cut: noise is drawn on a grid that fine.
pub(crate) const CUT_STEPS: i64 = 1 << 10;

/// How a plan is run: none of it changes what comes out.
#[derive(Clone, Copy)]
pub struct RowsOptions<'a> {
    /// How much memory is used before it is spilled to disk, in bytes.
    pub memory: usize,
    /// How many parts the work is shared out to.
    pub partitions: usize,
    /// How many rows are worked on at a time.
    pub batch_rows: usize,
    /// How long it may take; for ever if there is none.
    pub time: Option<Duration>,
    /// Gets the number of rows that were read, now and then. For the steward: it depends on rows.
    pub progress: Option<&'a dyn Fn(u64)>,
    /// The folder for rows that do not fit into memory; somewhere if there is none.
    pub spill: Option<&'a Path>,
    /// Where rows stay for the next plan over the same snapshot. Those of several datasets are read
    /// each time.
    pub held: Option<HeldFor<'a>>,
    /// The rows of public tables that a plan looks up, the innermost first.
    pub public: &'a [PublicRows],
    /// Whether units are counted that have a key which is not listed.
    pub unlisted: bool,
}

/// Where rows of a snapshot may stay in memory.
#[derive(Clone, Copy)]
pub struct HeldFor<'a> {
    /// Where.
    pub rows: &'a Arc<HeldRows>,
    /// Whose rows.
    pub dataset: &'a str,
    /// The number of the dataset's snapshot.
    pub snapshot: u32,
    /// Whether the next plan over it is known to come.
    pub expects_more: bool,
}

impl RowsOptions<'_> {
    /// Two gigabytes or half of what there is, all cores, no progress.
    #[must_use]
    pub fn usual() -> Self {
        let partitions = std::thread::available_parallelism().map_or(1, NonZero::get);
        let memory = threads::memory();
        let (time, progress, spill, held) = (None, None, None, None);
        Self {
            memory,
            partitions,
            batch_rows: 8_192,
            time,
            progress,
            spill,
            held,
            public: &[],
            unlisted: false,
        }
    }
}

/// Why a plan was not run to its end.
#[non_exhaustive]
pub enum RowsError {
    /// The plan does not fit the dataset's columns. Depends on public information alone.
    Plan(LowerError),
    /// Something went wrong on the way, which may depend on rows: what it says is the same each
    /// time, and [`RowsError::detail`] is for the steward.
    Failed(Detail),
}

/// What went wrong, for the steward.
pub struct Detail(String);

impl RowsError {
    /// What went wrong, for the steward alone: it may quote cells.
    #[must_use]
    pub fn detail(&self) -> String {
        match self {
            Self::Plan(error) => error.to_string(),
            Self::Failed(Detail(detail)) => detail.clone(),
        }
    }

    pub(crate) fn failed(error: impl fmt::Display) -> Self {
        Self::Failed(Detail(error.to_string()))
    }
}

impl fmt::Display for RowsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plan(error) => write!(f, "the plan does not fit the dataset: {error}"),
            Self::Failed(_) => f.write_str("the rows could not be read to the end"),
        }
    }
}

impl fmt::Debug for RowsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plan(error) => write!(f, "Plan({error:?})"),
            Self::Failed(_) => f.write_str("Failed(..)"),
        }
    }
}

impl std::error::Error for RowsError {}

impl From<LowerError> for RowsError {
    fn from(error: LowerError) -> Self {
        Self::Plan(error)
    }
}

/// What is asked of where values lie: at a cut, what lies below it less what does not; or all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Place {
    All,
    /// The lower end of a cell, by its number.
    Cut(u64),
}

/// The bounded sums of a plan, group by group. Exact: they may leave only through noise.
pub struct Bounded {
    sums: Vec<Sum>,
    /// What is searched in.
    searches: Vec<Sum>,
    /// Where values lie.
    cells: CellRuns,
    max_rows: u32,
    /// Whether rows are counted in steps, and not whole.
    has_parts: bool,
    /// The groups that occur.
    groups: Groups,
    /// How many rows of each dataset are nobody's, whatever the plan.
    nobodys: Vec<u64>,
    /// How often memory was spilled to disk.
    spills: usize,
    /// How many units were cut.
    cuts: CutTally,
}

impl fmt::Debug for Bounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Bounded(..)")
    }
}

/// Runs a plan over the rows of a source, whose columns have these types.
///
/// - Theorem: contributions (docs/theorems.md)
/// - Proves: adding or removing a unit changes at most `max_groups` groups, and each sum of a group
///   by at most [`Sum::sensitivity`]; where all rows of a unit are bounded, the parts of these that
///   it changes sums over rows by add up to `max_rows_in_all/max_rows`
/// - Assumes: rows belong to units by the unit column alone (the steward); the hash key does not
///   depend on rows (the ledger)
/// - Deviates: nothing; sums are integers of 128 bits
/// - Checked by: `removing_a_unit_changes_no_more_than_the_plan_says`,
///   `the_engine_agrees_with_a_plain_reading_of_the_plan`
///
/// # Errors
/// The plan does not fit the columns, or the rows could not be read to the end.
pub fn bounded(
    source: &Source,
    schema: &[(String, Option<Type>)],
    plan: &Plan,
    hash_key: &[u8; 32],
    options: RowsOptions<'_>,
) -> Result<Bounded, RowsError> {
    let (dataset, unit_column) = (plan.dataset.as_str(), plan.unit_column.as_str());
    bounded_of(&[DatasetRows { dataset, unit_column, source, schema }], plan, hash_key, options)
}

/// The rows of a dataset, as a plan takes them.
#[derive(Clone, Copy)]
pub struct DatasetRows<'a> {
    /// Its name.
    pub dataset: &'a str,
    /// The column that says which unit a row belongs to; empty where each row is a unit.
    pub unit_column: &'a str,
    /// Where they are.
    pub source: &'a Source,
    /// The types of their columns.
    pub schema: &'a [(String, Option<Type>)],
}

/// As [`bounded`], over the rows of several datasets.
///
/// # Errors
/// As for [`bounded`].
pub fn bounded_of(
    datasets: &[DatasetRows<'_>],
    plan: &Plan,
    hash_key: &[u8; 32],
    options: RowsOptions<'_>,
) -> Result<Bounded, RowsError> {
    let mut inputs = Vec::with_capacity(datasets.len());
    for DatasetRows { dataset, unit_column, source, schema } in datasets {
        let declared =
            schema.iter().filter_map(|(name, kind)| Some((name.clone(), (*kind)?))).collect();
        let ids = match *unit_column {
            "" => None,
            column => Some(source.ids(column, &declared).map_err(RowsError::failed)?),
        };
        let (source, readers) = ((*source).clone(), options.partitions);
        inputs.push(InputRows {
            dataset: (*dataset).to_owned(),
            unit_column: (*unit_column).to_owned(),
            schema: schema.to_vec(),
            ids,
            pieces: Box::new(move || scan::pieces(&source, readers).map_err(RowsError::failed)),
        });
    }
    run(inputs, plan, hash_key, options)
}

/// A dataset that is read.
struct InputRows {
    dataset: String,
    unit_column: String,
    schema: Vec<(String, Option<Type>)>,
    ids: Option<Ids>,
    pieces: Box<dyn FnOnce() -> Result<Vec<Piece>, RowsError> + Send>,
}

/// As [`bounded`], over rows that are in memory: each list of batches is a piece.
///
/// # Errors
/// As for [`bounded`].
#[doc(hidden)]
pub fn bounded_in_memory(
    pieces: Vec<Vec<RecordBatch>>,
    schema: &[(String, Option<Type>)],
    plan: &Plan,
    hash_key: &[u8; 32],
    options: RowsOptions<'_>,
) -> Result<Bounded, RowsError> {
    let (dataset, unit_column) = (plan.dataset.clone(), plan.unit_column.clone());
    let rows = BatchesOf { dataset, unit_column, schema: schema.to_vec(), pieces };
    bounded_in_memory_of(vec![rows], plan, hash_key, options)
}

/// The rows of a dataset that are in memory: each list of batches is a piece.
#[doc(hidden)]
pub struct BatchesOf {
    /// Its name.
    pub dataset: String,
    /// The column that says which unit a row belongs to.
    pub unit_column: String,
    /// The types of its columns.
    pub schema: Vec<(String, Option<Type>)>,
    /// The rows.
    pub pieces: Vec<Vec<RecordBatch>>,
}

/// As [`bounded_of`], over rows that are in memory.
///
/// # Errors
/// As for [`bounded`].
#[doc(hidden)]
pub fn bounded_in_memory_of(
    datasets: Vec<BatchesOf>,
    plan: &Plan,
    hash_key: &[u8; 32],
    options: RowsOptions<'_>,
) -> Result<Bounded, RowsError> {
    let inputs = datasets.into_iter().map(|rows| {
        let BatchesOf { dataset, unit_column, schema, pieces } = rows;
        let ids = Ids::in_memory(&unit_column, &schema);
        let pieces: Vec<Piece> = pieces.into_iter().map(Piece::Batches).collect();
        InputRows { dataset, unit_column, schema, ids, pieces: Box::new(move || Ok(pieces)) }
    });
    run(inputs.collect(), plan, hash_key, options)
}

impl Bounded {
    /// What no rows give.
    #[must_use]
    pub fn empty(plan: &Plan) -> Self {
        let is_search = |sum: &Sum| matches!(sum.summand, Summand::Ranks { .. });
        let (searches, sums) = plan.sums.iter().cloned().partition(is_search);
        Self {
            sums,
            searches,
            cells: CellRuns::default(),
            max_rows: plan.max_rows,
            has_parts: plan.max_rows_in_all.is_some(),
            groups: Groups::new(plan.keys.iter().map(|key| key.kind).collect()),
            nobodys: Vec::new(),
            spills: 0,
            cuts: CutTally::default(),
        }
    }

    /// Groups that were added up elsewhere: keys, units, rows, and sums that depend on values; and
    /// where values lie in them.
    pub(crate) fn of(plan: &Plan, groups: RecordBatch, cells: CellRuns) -> Self {
        let mut bounded = Self { cells, ..Self::empty(plan) };
        bounded.groups.hold(groups);
        bounded
    }

    /// The sums of the given groups, one column for each sum of the plan, with what one unit can
    /// change them by. A group that does not occur has zeros; sums are clamped to ±2⁶², which
    /// changes no sensitivity.
    ///
    /// # Errors
    /// What was put on disk cannot be read back.
    pub fn columns(&self, groups: &[Vec<Value>]) -> Result<Exact<Columns>, RowsError> {
        let sensitivities = self.sums.iter().map(|sum| sensitivity(sum, self.max_rows)).collect();
        Ok(Exact::new(Columns(self.find(groups)?), sensitivities))
    }

    /// Of a search and these groups, what lies below a cut less what lies above it, or all that there
    /// is; zero where nothing is asked for.
    ///
    /// - Theorem: quantile-cells (docs/theorems.md)
    /// - Proves: adding or removing a unit changes each of them by at most [`Sum::sensitivity`], in
    ///   the groups that it touches
    /// - Assumes: as [`bounded`]
    /// - Deviates: nothing
    /// - Checked by: `removing_a_unit_changes_no_more_than_the_plan_says`,
    ///   `where_values_lie_is_what_a_plain_reading_says`
    ///
    /// # Errors
    /// What was put on disk cannot be read back.
    pub(crate) fn places(
        &self,
        search: usize,
        places: &[Option<(&[Value], Place)>],
    ) -> Result<Exact<Columns>, RowsError> {
        let Some(sum) = self.searches.get(search) else {
            return Err(RowsError::failed("there is no such search"));
        };
        let bounds = vec![sensitivity(sum, self.max_rows)];
        Ok(Exact::new(Columns(vec![self.lying(search, places)?]), bounds))
    }

    fn lying(
        &self,
        search: usize,
        places: &[Option<(&[Value], Place)>],
    ) -> Result<Vec<i64>, RowsError> {
        const MOST: i64 = 1 << 62;
        let number = u32::try_from(search).map_err(RowsError::failed)?;
        let (mut name, mut last): (Vec<u8>, Option<&[Value]>) = (Vec::new(), None);
        let mut lying = Vec::with_capacity(places.len());
        for place in places {
            let &Some((group, place)) = place else {
                lying.push(0);
                continue;
            };
            if last != Some(group) {
                name.clear();
                group.iter().for_each(|value| column::encoding::push_value(value, &mut name));
                last = Some(group);
            }
            let cut = match place {
                Place::Cut(cut) => cut,
                Place::All => 0,
            };
            let (below, all) = self.cells.below(&name, number, cut).map_err(RowsError::failed)?;
            let lies = match place {
                Place::Cut(_) => below.saturating_sub(all.saturating_sub(below)),
                Place::All => all,
            };
            lying.push(lies.clamp(-MOST, MOST));
        }
        Ok(lying)
    }

    /// Where values lie: truths, for tests of this crate alone.
    ///
    /// # Panics
    /// What was put on disk cannot be read back.
    #[cfg(feature = "testing")]
    #[must_use]
    pub fn lies(&self, search: usize, group: &[Value], cut: Option<u64>) -> i64 {
        let place = cut.map_or(Place::All, Place::Cut);
        self.lying(search, &[Some((group, place))]).expect("cells that can be read")[0]
    }

    /// Whether cells were put on disk, for tests of this crate.
    #[cfg(feature = "testing")]
    #[must_use]
    pub fn has_cells_on_disk(&self) -> bool {
        self.cells.is_on_disk()
    }

    /// The one sum of a plan without keys, with what one unit can change it by under this
    /// adjacency.
    ///
    /// # Errors
    /// What was put on disk cannot be read back.
    pub fn total(&self, adjacency: Adjacency) -> Result<Exact<i64>, RowsError> {
        let total = self.find(&[Vec::new()])?.first().and_then(|sum| sum.first()).copied();
        let changes = self.sums.first().map(|sum| swing(sum, self.max_rows, adjacency));
        let nothing = || L1::new(1.0).expect("one is a sensitivity");
        Ok(Exact::new(total.unwrap_or(0), changes.unwrap_or_else(nothing)))
    }

    /// How many units are in each group that occurs, by its number, where one unit touches at most
    /// this many: for key selection (partition selection).
    pub(crate) fn key_counts(&self, most: NonZeroU32) -> Result<Exact<KeyCounts<u64>>, RowsError> {
        Ok(Exact::new(KeyCounts(self.numbered_counts()?), Touched(most)))
    }

    /// How many units were cut, count by count, in steps of which a unit is [`CUT_STEPS`].
    ///
    /// - Theorem: cut-counts (docs/theorems.md)
    /// - Proves: one unit changes each count by at most one, by being there or by being another
    ///   one; and of the bins of rows one where it is added or removed, two where it is replaced
    /// - Assumes: rows belong to units by the unit column alone (the steward); the hash key does
    ///   not depend on rows (the ledger)
    /// - Deviates: nothing
    /// - Checked by: `one_unit_moves_each_cut_count_by_one_and_one_bin_of_rows`,
    ///   `cut_counts_are_those_of_a_plain_reading`
    pub(crate) fn cut_counts(&self, cells: &[CutCell]) -> Exact<Columns> {
        let by_rows = cells.contains(&CutCell::Rows(0));
        let steps = |&cell: &CutCell| {
            let units = i64::try_from(self.cuts.get(cell, by_rows)).unwrap_or(i64::MAX);
            units.saturating_mul(CUT_STEPS).min(1 << 62)
        };
        let one = rounded_up(CUT_STEPS.unsigned_abs());
        Exact::new(Columns(vec![cells.iter().map(steps).collect()]), vec![one])
    }

    fn numbered_counts(&self) -> Result<Vec<(u64, i64)>, RowsError> {
        let (mut counts, mut number) = (Vec::new(), 0);
        self.groups.each(|batch| {
            for row in 0..batch.rows() {
                let units = i64::try_from(batch.units(row)).unwrap_or(i64::MAX);
                if units > 0 {
                    counts.push((number, units));
                }
                number += 1;
            }
        })?;
        Ok(counts)
    }

    /// The keys of groups that were selected, by their numbers.
    pub(crate) fn keys(&self, numbers: &Released<Vec<u64>>) -> Result<Vec<Vec<Value>>, RowsError> {
        self.names(numbers.peek())
    }

    /// The keys of groups by their numbers, which must be in order. Private.
    fn names(&self, numbers: &[u64]) -> Result<Vec<Vec<Value>>, RowsError> {
        let (mut keys, mut number) = (Vec::with_capacity(numbers.len()), 0);
        let mut wanted = numbers.iter().copied().peekable();
        self.groups.each(|batch| {
            for row in 0..batch.rows() {
                if wanted.next_if_eq(&number).is_some() {
                    keys.push(batch.keys(row));
                }
                number += 1;
            }
        })?;
        Ok(keys)
    }

    /// How many rows of each dataset are nobody's, before any filter. For the steward.
    pub(crate) fn nobodys(&self) -> &[u64] {
        &self.nobodys
    }

    /// How many units are in each group that occurs: truths, for tests of this crate alone.
    ///
    /// # Panics
    /// What was put on disk cannot be read back.
    #[cfg(feature = "testing")]
    #[must_use]
    pub fn unit_counts(&self) -> Vec<(Vec<Value>, i64)> {
        let counts = self.numbered_counts().expect("groups that can be read");
        let numbers: Vec<u64> = counts.iter().map(|(number, _)| *number).collect();
        let keys = self.names(&numbers).expect("groups that can be read");
        let mut counts: Vec<_> =
            keys.into_iter().zip(counts).map(|(keys, (_, count))| (keys, count)).collect();
        counts.sort();
        counts
    }

    /// How many units were cut: those in the question, by groups or rows, by groups, with a key
    /// that is not listed, and by rows bin by bin. Truths, for tests of this crate alone.
    #[cfg(feature = "testing")]
    #[must_use]
    pub fn cuts(&self) -> Vec<u64> {
        let CutTally { of, either, by_groups, unlisted, by_rows } = self.cuts;
        [of, either, by_groups, unlisted].into_iter().chain(by_rows).collect()
    }

    /// How often memory was spilled to disk on the way, for tests of this crate.
    #[cfg(feature = "testing")]
    #[must_use]
    pub fn spills(&self) -> usize {
        self.spills
    }

    /// Whether groups were put on disk, for tests of this crate.
    #[cfg(feature = "testing")]
    #[must_use]
    pub fn is_on_disk(&self) -> bool {
        self.groups.is_on_disk()
    }

    /// The numbers themselves: truths, for tests of this crate alone.
    ///
    /// # Panics
    /// What was put on disk cannot be read back.
    #[cfg(feature = "testing")]
    #[must_use]
    pub fn values(&self, groups: &[Vec<Value>]) -> Vec<Vec<i64>> {
        self.find(groups).expect("groups that can be read")
    }

    fn find(&self, groups: &[Vec<Value>]) -> Result<Vec<Vec<i64>>, RowsError> {
        const MOST: i128 = 1 << 62;
        let mut places: HashMap<Vec<u8>, Vec<usize>> = HashMap::with_capacity(groups.len());
        for (place, group) in groups.iter().enumerate() {
            let mut bytes = Vec::new();
            group.iter().for_each(|value| column::encoding::push_value(value, &mut bytes));
            places.entry(bytes).or_default().push(place);
        }
        let mut columns = vec![vec![0; groups.len()]; self.sums.len()];
        let mut bytes = Vec::new();
        // Units, rows, sums that depend on values, and then counts of different ones.
        let is_stepped =
            |sum: &&Sum| matches!(sum.summand, Summand::Present(_) | Summand::Value { .. });
        let stepped = self.sums.iter().filter(is_stepped).count();
        self.groups.each(|found| {
            for row in 0..found.rows() {
                bytes.clear();
                found.name(row, &mut bytes);
                for &place in places.get(&bytes).into_iter().flatten() {
                    let (mut with_steps, mut with_values) = (0, 0);
                    for (column, sum) in columns.iter_mut().zip(&self.sums) {
                        let one = i128::from(sum.one());
                        let total = match &sum.summand {
                            Summand::Rows if self.has_parts => found.number(row, 1),
                            Summand::Rows => found.number(row, 1).saturating_mul(one),
                            Summand::Units => found.units(row).saturating_mul(one),
                            Summand::Present(_) | Summand::Value { .. } => {
                                with_steps += 1;
                                found.number(row, 1 + with_steps)
                            }
                            Summand::Distinct { .. } => {
                                with_values += 1;
                                let count = found.number(row, 1 + stepped + with_values);
                                count.saturating_mul(one)
                            }
                            // It is no column.
                            Summand::Ranks { .. } => 0,
                        };
                        let total = total.clamp(-MOST, MOST);
                        column[place] = i64::try_from(total).unwrap_or_default();
                    }
                }
            }
        })?;
        Ok(columns)
    }
}

/// What a unit can change a sum by, as a parameter of the noise: rounded up. A sum that nobody can
/// change counts as one that a unit changes by a step, since noise has a scale.
pub(crate) fn sensitivity(sum: &Sum, max_rows: u32) -> L1 {
    rounded_up(sum.sensitivity(max_rows))
}

/// What one unit can change a sum of one group by: by being there, or by being another one.
///
/// - Theorem: contributions (docs/theorems.md)
/// - Proves: a unit adds something between the least and the most that it can; one that is added or
///   removed changes the sum by that, and one that is replaced by at most the difference of the
///   two. For different values: with the others' values V, one unit's values A make |V ∪ A|, which
///   is |V| and between none and |A| more
/// - Assumes: each unit is bounded as the plan says ([`bounded`])
/// - Deviates: rounded up; a sum that nobody can change counts as one that a unit changes by a step
/// - Checked by: `a_unit_swings_a_sum_by_no_more_than_is_said`
pub(crate) fn swing(sum: &Sum, max_rows: u32, adjacency: Adjacency) -> L1 {
    match adjacency {
        Adjacency::AddRemove => sensitivity(sum, max_rows),
        Adjacency::Replace => {
            let (least, most) = sum.contribution(max_rows);
            rounded_up(most.abs_diff(least))
        }
    }
}

fn rounded_up(steps: u64) -> L1 {
    let exact = steps.max(1);
    let nearest = exact as f64;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole, and positive"
    )]
    let up = if (nearest as u128) < u128::from(exact) { nearest.next_up() } else { nearest };
    L1::new(up).expect("a whole number between 1 and 2^64 is a sensitivity")
}

/// Runs a plan on threads of our own.
fn run(
    inputs: Vec<InputRows>,
    plan: &Plan,
    hash_key: &[u8; 32],
    options: RowsOptions<'_>,
) -> Result<Bounded, RowsError> {
    let runtime = threads::threads().map_err(RowsError::failed)?;
    let (plan, hash_key) = (plan.clone(), HashKey(*hash_key));
    let RowsOptions {
        memory,
        partitions,
        batch_rows,
        time,
        progress,
        spill,
        held,
        public,
        unlisted,
    } = options;
    let public = public.to_vec();
    let held = held.filter(|_| inputs.len() == 1).map(|held| {
        let of = (held.dataset.to_owned(), held.snapshot);
        (Arc::clone(held.rows), of, held.expects_more)
    });
    let spill = spill.map_or_else(Spill::anywhere, Spill::at).open();
    let spill = spill.map_err(RowsError::failed)?;
    let (sender, receiver) = mpsc::sync_channel(1);
    let counters = Counters::of(inputs.len());
    let ours = counters.clone();
    let (start, wait) = (Instant::now(), Duration::from_millis(100));
    runtime.spawn(async move {
        let work = async {
            let stages = {
                let read = inputs.iter().map(|input| Input {
                    dataset: &input.dataset,
                    schema: &input.schema,
                    unit: input.ids.as_ref().map(|ids| (input.unit_column.as_str(), ids)),
                });
                Stages::new(&plan, &read.collect::<Vec<_>>(), &public)?
            };
            let (ids, own) = match inputs.first() {
                Some(input) => (input.ids.clone(), input.schema.clone()),
                None => (None, Vec::new()),
            };
            let schema = stages.as_ref().map_or(own, Stages::schema);
            let contributions = Contributions::new(&plan, &schema, ids, &hash_key)?;
            let contributions =
                if unlisted { contributions.with_unlisted() } else { contributions };
            let cuts = Arc::<Mutex<CutTally>>::default();
            let limits = Arc::new(limits(&plan, &contributions, hash_key));
            let batch_rows = contributions.rows_at_a_time(batch_rows.max(1));
            let (workers, hash) = (partitions.max(1), TableHash::default());
            let nobodys = Arc::clone(&ours.nobodys);
            let counters = ours;
            let texts = stages.as_ref().map_or(0, Stages::texts);
            let batch_rows = contribution::rows_at_a_time(texts, batch_rows);
            let before = stages.unwrap_or_else(|| Stages::nothing(contributions.wanted()));
            let wanted = before.inputs.first().cloned();
            let found = held.as_ref().zip(wanted.as_ref());
            let found = found.and_then(|((rows, of, _), wanted)| rows.pieces(of, wanted, workers));
            let holding = held.as_ref().filter(|_| found.is_none());
            let holding = holding.and_then(|(rows, of, more)| rows.hold(of, *more, memory / 4));
            let holding = holding.map(Arc::new);
            let pass = Pass {
                before,
                contributions,
                limits,
                memory,
                workers,
                batch_rows,
                counters,
                cuts: Arc::clone(&cuts),
                spill,
                hash,
                holding: holding.clone(),
            };
            let pieces = match found {
                Some(pieces) => pieces.into_iter().map(|piece| (0, piece)).collect(),
                None => {
                    let mut all = Vec::new();
                    for (place, input) in inputs.into_iter().enumerate() {
                        all.extend((input.pieces)()?.into_iter().map(|piece| (place, piece)));
                    }
                    all
                }
            };
            let mut bounded = Bounded::empty(&plan);
            (bounded.spills, bounded.cells) = pass.run(pieces, &mut bounded.groups).await?;
            bounded.cuts = *cuts.lock().unwrap_or_else(PoisonError::into_inner);
            // All workers have ended, and the pass with them.
            let holding = holding.and_then(Arc::into_inner);
            if let (Some(holding), Some((rows, ..)), Some(wanted)) = (holding, &held, &wanted) {
                rows.keep(holding, wanted);
            }
            bounded.nobodys = nobodys.iter().map(|rows| rows.load(Ordering::Relaxed)).collect();
            Ok(bounded)
        };
        // Nobody waits any more: then nobody needs it.
        let _ = sender.send(work.await);
    });
    loop {
        let left = time.map_or(wait, |time| time.saturating_sub(start.elapsed()).min(wait));
        match receiver.recv_timeout(left) {
            Ok(result) => {
                if let (Ok(_), Some(progress)) = (&result, progress) {
                    progress(counters.read.load(Ordering::Relaxed));
                }
                return result;
            }
            Err(RecvTimeoutError::Timeout) => {
                if time.is_some_and(|time| start.elapsed() >= time) {
                    counters.stopped.store(true, Ordering::Relaxed);
                    return Err(RowsError::failed("it took longer than it may"));
                }
                if let Some(progress) = progress {
                    progress(counters.read.load(Ordering::Relaxed));
                }
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(RowsError::failed("a thread broke down"));
            }
        }
    }
}

/// How many values of one unit take part in a group, for each list of them that is counted.
fn most_values(plan: &Plan) -> Vec<u32> {
    let most = |sum: &Sum| match sum.summand {
        Summand::Distinct { most, .. } => Some(most),
        _ => None,
    };
    plan.sums.iter().filter_map(most).collect()
}

/// What a row counts for in each search.
fn ones_of_searches(plan: &Plan) -> Vec<i64> {
    let searches = plan.sums.iter().filter(|sum| matches!(sum.summand, Summand::Ranks { .. }));
    searches.map(Sum::one).collect()
}

/// What a plan lets each unit add.
pub(crate) fn limits(plan: &Plan, contributions: &Contributions, hash_key: HashKey) -> Limits {
    Limits {
        unit: contributions.unit(),
        keys: plan.keys.iter().map(|key| key.kind).collect(),
        steps: contributions.steps(),
        bringing: Bringing::new(most_values(plan), &hash_key),
        searching: Searching::new(ones_of_searches(plan), &hash_key),
        unlisted: contributions.brings_unlisted(),
        max_groups: plan.max_groups,
        max_rows: plan.max_rows,
        max_rows_in_all: plan.max_rows_in_all,
        row: row_steps(plan),
        hash_key,
    }
}

/// What a row that counts is, in steps: one, but where parts of rows count.
fn row_steps(plan: &Plan) -> i64 {
    let rows = plan.sums.iter().find(|sum| sum.summand == Summand::Rows);
    rows.filter(|_| plan.max_rows_in_all.is_some()).map_or(1, Sum::one)
}
