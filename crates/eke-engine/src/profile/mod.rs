//! Profiles: how many rows, groups and values the units of a dataset have, bought once by the
//! steward, and the bounds that follow for the policy.
//!
//! A profile is bought in two parts. The first is histograms in which a unit is in one cell each
//! (`layout.rs`); bounds are chosen from them (`proposal.rs`). The second counts with fresh noise
//! what those bounds would cut off, so that what is said of them holds though they were chosen by
//! noise (`statement.rs`). Both are charged on disk before rows are read, by `purchase::buy`, and
//! stored; from then on the profile is free and the same.
//!
//! Bounds that go into the policy are seen by everybody. So a profile is charged to the unit and to
//! every analyst and circle, and to later ones before their first question (`published.rs`).
//!
//! Mutants that tests must catch: a unit in two cells of a histogram, rows that are read before the
//! charge, a row's position in its hash, an account that does not pay.

pub(crate) mod buying;
pub(crate) mod layout;
pub(crate) mod pass;
pub(crate) mod proposal;
pub(crate) mod published;
pub(crate) mod shape;
pub(crate) mod statement;
pub(crate) mod unit_rows;
mod whole;

pub use shape::DatasetShape;
pub use statement::CountedUnits;
pub use whole::{Beyond, WholeDataset};

use eke_budget::{Adjacency, Amount, Metric, Rho};
use eke_noise::release::{HistogramPrice, HistogramRelease};
use serde::Serialize;

use crate::ask::observer::Observer;
use crate::ask::question::Who;
use crate::data::registry::Published;
use crate::engine::{Engine, Prepared};
use crate::error::{EngineError, NotAllowed, NotAnswered, NotProfiled};
use crate::policy::{AccountSpec, Dataset, PolicyProtection};
use crate::profile::buying::{Profiling, StoredCuts, StoredValues};
use crate::profile::layout::{GROUP_BINS, Layout, NULL, ROW_BINS, VALUE_BINS};
use crate::profile::proposal::Chosen;
use crate::profile::statement::{at_most, share};
use crate::purchase::context::Context;
use crate::purchase::identity::{Identity, Purpose};
use crate::purchase::request_key::ProfileName;

/// What a profile costs if nobody says what it may cost: a hundredth of the unit's budget, and at
/// most a twentieth of the smallest of the others.
const OF_BUDGET: u128 = 100;
const OF_OTHERS: u128 = 20;
/// The largest bound of whole numbers, which are exact up to it.
const MOST_WHOLE: f64 = 9_007_199_254_740_992.0;
/// At 95 %, two-sided.
const Z: f64 = 1.959_963_984_540_054;

/// Which profile is wanted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProfileRequest {
    /// The dataset.
    pub dataset: String,
    /// What it may cost in all; if there is none, what was paid for one before, or a hundredth of
    /// the unit's budget and at most a twentieth of anybody else's.
    pub price: Option<Amount<Rho>>,
    /// The columns whose groups are counted; if there is none, those that look like keys.
    pub keys: Option<Vec<String>>,
    /// The columns whose values are looked at; if there is none, those that look like measures.
    pub columns: Option<Vec<String>>,
}

/// A profile of a dataset. All of it was released, or follows from what was.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Profile {
    /// The dataset.
    pub dataset: String,
    /// The number of its snapshot.
    pub snapshot: u32,
    /// The kind of unit.
    pub unit: String,
    /// What it cost in all, every account of the unit.
    pub rho: f64,
    /// Whether it was bought before, and costs nothing now.
    pub free: bool,
    /// How many units there are.
    pub units: CountedUnits,
    /// The rows of each unit.
    pub rows: BinnedCounts,
    /// The groups of each unit, by key.
    pub keys: Vec<KeyProfile>,
    /// The values, by column.
    pub columns: Vec<ColumnProfile>,
    /// Columns of numbers that were not looked at.
    pub left_out: Vec<String>,
    /// The bounds for the policy.
    pub proposal: Proposal,
}

/// How many units have how many of something: bin j has those above 2^(j-1) and up to 2^j, and the
/// last bin those beyond.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BinnedCounts {
    /// The counts, as they were drawn.
    pub bins: Vec<i64>,
    /// The standard deviation of the noise of each.
    pub deviation: f64,
    /// The bound that is proposed.
    pub bound: u32,
    /// The most units that have more than that, at 95 %.
    pub at_most_beyond: u64,
}

/// The groups of each unit by a key.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KeyProfile {
    /// The column.
    pub column: String,
    /// How many units have how many different values of it.
    pub groups: BinnedCounts,
}

/// The values of a column, of one row of each unit with no more rows than the bound.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ColumnProfile {
    /// The column.
    pub column: String,
    /// The sums over bins of rows up to the bound, one for each bin of values.
    pub bins: Vec<ValueCount>,
    /// The standard deviation of the noise of each of these.
    pub deviation: f64,
    /// The two-way histogram: for each bin of rows, all bins of values (NULL, 0, powers of two
    /// above zero from 2^-31 on, those below). As it was drawn.
    #[serde(skip)]
    pub cells: Vec<i64>,
    /// The standard deviation of the noise of each of those.
    #[serde(skip)]
    pub cell_deviation: f64,
    /// The share of rows that are NULL, at 95 %.
    pub nulls: ShareBetween,
    /// Whether values show above the noise. If not, no bounds are proposed.
    pub told: bool,
    /// The lower bound that is proposed.
    pub min: f64,
    /// The upper bound that is proposed.
    pub max: f64,
    /// The share of rows that the bounds leave as they are, at 95 %.
    pub kept: ShareBetween,
}

/// How many units have a chosen row with a value in a range.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ValueCount {
    /// The end of the range that is further from zero, such as "4", "-0.5", "0" or "NULL".
    pub up_to: String,
    /// As it was drawn, summed over bins of rows up to the bound.
    pub units: i64,
}

/// A share from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ShareBetween {
    /// The least that it may be.
    pub low: f64,
    /// The most that it may be.
    pub high: f64,
}

/// The bounds that a profile proposes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Proposal {
    /// How many rows of a unit count in a group.
    pub max_rows: u32,
    /// How many groups of a unit count; none if no key was looked at.
    pub max_groups: Option<u32>,
    /// The bounds of columns: name, least, most.
    pub bounds: Vec<(String, f64, f64)>,
    /// What these bounds make of the noise, at all of the unit's budget for one question.
    pub noise: Vec<NoiseAt>,
}

/// The error of a total that follows from bounds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NoiseAt {
    /// What is computed: `COUNT(*)`, or `SUM` of a column.
    pub total: String,
    /// Half of the width of its interval at 95 %, for all of the unit's budget.
    pub error: f64,
}

/// What a profile is made of, before anything is bought.
pub(crate) struct ProfilePlan {
    pub(crate) name: ProfileName,
    pub(crate) layout: Layout,
    pub(crate) adjacency: Adjacency,
    /// What it costs in all.
    pub(crate) rho: Amount<Rho>,
}

impl ProfilePlan {
    /// The histograms, and what they cost: half of the price.
    pub(crate) fn values(&self) -> HistogramRelease {
        // Of the rows everything else follows, so they are counted more exactly.
        let cells = self.layout.cells();
        let weights = [2].into_iter().chain(cells[1..].iter().map(|_| 1));
        let weights = weights.collect();
        self.release(&cells, weights)
    }

    /// What bounds would cut off, and what counting it costs: the other half.
    pub(crate) fn cuts(&self, chosen: &Chosen) -> HistogramRelease {
        let cells = chosen.cells();
        let weights = [1, 2].into_iter().chain(cells[2..].iter().map(|_| 1));
        let weights = weights.collect();
        self.release(&cells, weights)
    }

    fn release(&self, cells: &[usize], weights: Vec<u128>) -> HistogramRelease {
        let (half, all) = (self.rho.grains() / 2, weights.iter().sum::<u128>());
        let histograms = cells.iter().zip(weights).map(|(&cells, weight)| {
            // What a unit of the histogram's price pays for in a cell.
            let one = HistogramPrice { cells, rho: Amount::GRAIN }.price(self.adjacency);
            let rho = half / all * weight / one.grains().max(1);
            HistogramPrice { cells, rho: Amount::from_grains(rho) }
        });
        HistogramRelease { histograms: histograms.collect(), adjacency: self.adjacency }
    }
}

impl Engine {
    /// A profile of a dataset: bought if it was not yet, and otherwise shown again, for nothing.
    /// Analysts buy none, and see one if the policy publishes it.
    ///
    /// # Errors
    /// There is no such dataset or column, the budget of somebody does not allow it, or something
    /// does not work; the error says what.
    pub fn profile(
        &self,
        request: &ProfileRequest,
        who: &Who,
        observer: &dyn Observer,
    ) -> Result<Profile, EngineError> {
        let profile = self.profiled(request, who, observer);
        profile.map_err(|error| self.as_seen_by(who, error))
    }

    fn profiled(
        &self,
        request: &ProfileRequest,
        who: &Who,
        observer: &dyn Observer,
    ) -> Result<Profile, EngineError> {
        if let Some(analyst) = who.analyst() {
            self.policy().analyst(analyst)?;
            let dataset = self
                .policy()
                .dataset(&request.dataset)
                .map_err(|error| EngineError::from(error).told_to(who))?;
            if !dataset.publishes_profile {
                return Err(NotAllowed::ProfileUnpublished { dataset: dataset.name.clone() }.into());
            }
        }
        let dataset = self.policy().dataset(&request.dataset)?;
        let PolicyProtection::Private { unit, .. } = &dataset.protection else {
            return Err(NotAnswered::Public { dataset: dataset.name.clone() }.into());
        };
        // A question that reads all rows: it pins the dataset, and opens the accounts that pay.
        let sql = format!("SELECT COUNT(*) FROM \"{}\"", dataset.name.replace('"', "\"\""));
        let prepared = self.prepare(&sql, 0, who)?;
        let known = self.known_profile(request, &prepared, unit)?;
        if let Some(analyst) = who.analyst() {
            let not_yet = || NotAllowed::NoProfile { dataset: dataset.name.clone() };
            let known = known.ok_or_else(not_yet)?;
            return self.published_to(analyst, &known, dataset, &prepared);
        }
        let everyone = self.everyone(unit)?;
        let plan = self.profile_plan(request, known.as_ref(), (dataset, &prepared), &everyone)?;
        if let Some(account) = everyone.iter().find(|one| one.budget.zcdp().is_none()) {
            let (account, policy) = (account.name.clone(), self.policy().path().to_owned());
            return Err(NotAllowed::NoRho { account, policy }.into());
        }
        let text = format!("profile of {}", dataset.name);
        let context = Context::new(self, &prepared, (who, &text), observer)?;
        let mut profiling = Profiling::new(context, plan, everyone);
        let bought = profiling.buy_all()?;
        let plan = profiling.into_plan();
        self.file_published(unit, &plan, (dataset, &prepared), &bought)?;
        let _ = self.remember(&prepared.payers);
        Ok(self.shown_profile(
            &plan,
            (dataset, &prepared),
            &bought.values,
            &bought.cuts,
            bought.free,
        ))
    }

    /// All accounts of a unit that pay for a profile, but for the unit's own.
    pub(crate) fn everyone(&self, unit: &str) -> Result<Vec<AccountSpec>, EngineError> {
        Ok(self.visible(unit, &Who::Steward)?.into_iter().skip(1).collect())
    }

    /// The profile that was bought last of those that fit the request.
    fn known_profile(
        &self,
        request: &ProfileRequest,
        prepared: &Prepared,
        unit: &str,
    ) -> Result<Option<Published>, EngineError> {
        let Some(registry) = self.registry(unit)? else { return Ok(None) };
        let snapshot = prepared.datasets.first().map_or(0, |dataset| dataset.snapshot);
        let fits = |known: &&Published| {
            known.dataset == request.dataset
                && known.snapshot == snapshot
                && request.price.is_none_or(|price| price == known.rho)
                && request.keys.as_ref().is_none_or(|keys| *keys == known.keys)
                && request.columns.as_ref().is_none_or(|columns| *columns == known.columns)
        };
        Ok(registry.published().iter().rev().find(fits).cloned())
    }

    /// What a profile has histograms of, what it costs, and what it is found by.
    fn profile_plan(
        &self,
        request: &ProfileRequest,
        known: Option<&Published>,
        (dataset, prepared): (&Dataset, &Prepared),
        everyone: &[AccountSpec],
    ) -> Result<ProfilePlan, EngineError> {
        let layout = match known {
            Some(known) => Layout { keys: known.keys.clone(), columns: known.columns.clone() },
            None => layout_of(request, dataset, prepared)?,
        };
        let rho = match known.map(|known| known.rho).or(request.price) {
            Some(rho) => rho,
            None => {
                let budget = |one: &AccountSpec| Some(one.budget.zcdp()?.budget.grains());
                let others = everyone.iter().filter_map(budget).map(|all| all / OF_OTHERS);
                let own = budget(&prepared.payers.unit).map(|all| all / OF_BUDGET);
                Amount::from_grains(others.chain(own).min().unwrap_or(0))
            }
        };
        let adjacency = prepared.query.plan.adjacency;
        let name = profile_name(prepared, &layout, rho, adjacency)?;
        let plan = ProfilePlan { name, layout, adjacency, rho };
        plan.values().can_release().map_err(EngineError::Undrawable)?;
        Ok(plan)
    }

    /// A profile as it is shown, from what was released.
    pub(crate) fn shown_profile(
        &self,
        plan: &ProfilePlan,
        (dataset, prepared): (&Dataset, &Prepared),
        values: &StoredValues,
        cuts: &StoredCuts,
        free: bool,
    ) -> Profile {
        let chosen = &cuts.chosen;
        let deviations = |release: &HistogramRelease| -> Vec<f64> {
            release.histograms.iter().map(HistogramPrice::deviation).collect()
        };
        let (noise, cut_noise) = (deviations(&plan.values()), deviations(&plan.cuts(chosen)));
        let (rows, mut rest) = values.cells.split_at(ROW_BINS.min(values.cells.len()));
        let cut = |at: usize| cuts.cells.get(at).copied().unwrap_or(0);
        let power = |bin: usize| 1u32 << bin.min(31);
        let binned = |bins: &[i64], at: usize, bin: usize, counted: usize| BinnedCounts {
            bins: bins.to_vec(),
            deviation: noise[at],
            bound: power(bin),
            at_most_beyond: at_most(cut(counted), cut_noise[counted]),
        };
        let rows_profile = binned(rows, 0, chosen.row_bin, 1);
        let mut keys = Vec::new();
        for (at, (column, &bin)) in plan.layout.keys.iter().zip(&chosen.group_bins).enumerate() {
            let (bins, others) = rest.split_at(GROUP_BINS.min(rest.len()));
            let groups = binned(bins, 1 + at, bin, 2 + at);
            keys.push(KeyProfile { column: column.clone(), groups });
            rest = others;
        }
        let (mut columns, first) = (Vec::new(), 2 + keys.len());
        let by_rows = chosen.row_bin + 1;
        let cells = rest.chunks(ROW_BINS * VALUE_BINS).zip(&chosen.values);
        for (at, (column, (cells, bounds))) in plan.layout.columns.iter().zip(cells).enumerate() {
            let cell_deviation = noise[1 + keys.len() + at];
            let bin = |bin: usize| (0..by_rows).map(move |row| cells[row * VALUE_BINS + bin]);
            let bins = layout::value_ends()
                .into_iter()
                .map(|(place, up_to)| ValueCount { up_to, units: bin(place).sum() });
            let bins = bins.collect();
            let all = &rows[..by_rows];
            let nulls: Vec<i64> = bin(usize::from(NULL)).collect();
            let nulls = between(share(&nulls, all, (cell_deviation, noise[0])));
            let outside = &cuts.cells[first + at * by_rows..][..by_rows];
            let (low, high) = share(outside, all, (cut_noise[first + at], noise[0]));
            let is_whole = |(name, kind): &(String, Option<eke_sql::Type>)| {
                name == column && *kind == Some(eke_sql::Type::Int)
            };
            let read = prepared.datasets.first();
            let (mut min, mut max) = bounds.numbers();
            if read.is_some_and(|read| read.schema().iter().any(is_whole)) {
                (min, max) = whole_bounds(min, max);
            }
            columns.push(ColumnProfile {
                column: column.clone(),
                bins,
                deviation: cell_deviation * (by_rows as f64).sqrt(),
                cells: cells.to_vec(),
                cell_deviation,
                nulls,
                told: bounds.are_told(),
                min,
                max,
                kept: between((1.0 - high, 1.0 - low)),
            });
        }
        // Nobody counts in more groups than there are public keys.
        let listed = |column: &String| {
            let values = dataset.columns.get(column)?.values.as_ref()?;
            u32::try_from(values.len()).ok()
        };
        let groups_of =
            |key: &KeyProfile| key.groups.bound.min(listed(&key.column).unwrap_or(u32::MAX)).max(1);
        let max_groups = keys.iter().map(groups_of).max();
        let told = || columns.iter().filter(|column| column.told);
        let bounds = told().map(|one| (one.column.clone(), one.min, one.max)).collect();
        let budget = prepared.payers.unit.budget.zcdp().map_or(0.0, |one| one.budget.to_f64());
        let factor = Metric::Hamming(plan.adjacency).group_factor::<Rho>();
        let groups = f64::from(max_groups.unwrap_or(1)) * f64::from(factor);
        let one = Z * f64::from(rows_profile.bound) * (groups / (2.0 * budget)).sqrt();
        let count = NoiseAt { total: "COUNT(*)".to_owned(), error: one };
        let sums = told().map(|column| NoiseAt {
            total: format!("SUM({})", column.column),
            error: one * column.min.abs().max(column.max.abs()),
        });
        let noise = std::iter::once(count).chain(sums).collect();
        Profile {
            dataset: dataset.name.clone(),
            snapshot: prepared.datasets.first().map_or(0, |dataset| dataset.snapshot),
            unit: prepared.payers.unit.name.clone(),
            rho: plan.rho.to_f64(),
            free,
            units: CountedUnits::units(cut(0), cut_noise[0]),
            proposal: Proposal { max_rows: rows_profile.bound, max_groups, bounds, noise },
            rows: rows_profile,
            keys,
            columns,
            left_out: left_out(&plan.layout, dataset, prepared),
        }
    }
}

/// The same bounds for whole numbers, which a policy writes as such.
pub(crate) fn whole_bounds(min: f64, max: f64) -> (f64, f64) {
    (min.floor().max(-MOST_WHOLE), max.ceil().min(MOST_WHOLE))
}

fn between((low, high): (f64, f64)) -> ShareBetween {
    ShareBetween { low, high }
}

/// What a profile is found by: everything that it depends on.
pub(crate) fn profile_name(
    prepared: &Prepared,
    layout: &Layout,
    rho: Amount<Rho>,
    adjacency: Adjacency,
) -> Result<ProfileName, EngineError> {
    let dataset = prepared.datasets.first().map(|dataset| &dataset.name);
    let is = Identity::new(Purpose::Profile).json(&(dataset, layout, rho, adjacency));
    Ok(ProfileName::new(&is.rows(prepared).named()?))
}

/// The columns of numbers that people would add up and that a profile has not looked at.
fn left_out(layout: &Layout, dataset: &Dataset, prepared: &Prepared) -> Vec<String> {
    let Some(read) = prepared.datasets.first() else { return Vec::new() };
    let bounded = |name: &str| dataset.columns.get(name).is_some_and(|said| said.bounds.is_some());
    let all = layout::likely_columns(read.schema(), read.unit_column(), &bounded);
    let is_left = |name: &String| !layout.columns.contains(name) && !layout.keys.contains(name);
    all.into_iter().filter(is_left).collect()
}

/// What a profile has histograms of, if all columns that are named are there.
fn layout_of(
    request: &ProfileRequest,
    dataset: &Dataset,
    prepared: &Prepared,
) -> Result<Layout, EngineError> {
    let Some(read) = prepared.datasets.first() else {
        return Err(EngineError::damaged("a profile of no dataset"));
    };
    let (schema, unit_column) = (read.schema(), read.unit_column());
    let said = |name: &str| dataset.columns.get(name);
    let listed = |name: &str| {
        said(name).is_some_and(|said| said.values.is_some() || said.values_from.is_some())
    };
    let bounded = |name: &str| said(name).is_some_and(|said| said.bounds.is_some());
    let kind = |name: &String| {
        let found = schema.iter().find(|(column, _)| column == name);
        let kind = found.and_then(|(_, kind)| *kind).filter(|_| name != unit_column);
        let column = || NotProfiled::NoColumn { column: name.clone(), dataset: read.name.clone() };
        kind.ok_or_else(column)
    };
    let keys = match &request.keys {
        Some(keys) => keys.clone(),
        None => layout::likely_keys(schema, unit_column, &listed),
    };
    for key in &keys {
        kind(key)?;
    }
    let columns = match &request.columns {
        Some(columns) => columns.clone(),
        None => {
            let columns = layout::likely_columns(schema, unit_column, &bounded);
            let others = columns.into_iter().filter(|column| !keys.contains(column));
            others.take(layout::MOST_COLUMNS).collect()
        }
    };
    for column in &columns {
        if !matches!(kind(column)?, eke_sql::Type::Int | eke_sql::Type::Float) {
            return Err(NotProfiled::NoNumber { column: column.clone() }.into());
        }
    }
    for names in [&keys, &columns] {
        let mut seen = names.iter().enumerate();
        if let Some((_, twice)) = seen.find(|(at, name)| names[..*at].contains(name)) {
            return Err(NotProfiled::Twice { column: twice.clone() }.into());
        }
    }
    Ok(Layout { keys, columns })
}

#[cfg(test)]
mod tests;
