//! What a question would do and cost, from public information alone: no row is read, and no ledger.

use eke_budget::{Amount, Budget, Charge, Delta, Purchase, Rho};
use eke_noise::{Confidence, Tolerance};
use eke_sql::{Measure, Plan, Query, Rank, Shows};
use serde::Serialize;

use crate::ask::cut::{CutPart, Cutting};
use crate::ask::goals::Goals;
use crate::ask::keys;
use crate::ask::question::{Accuracy, ColumnGoals, Goal, Question, Who};
use crate::ask::read::Read;
use crate::ask::shown::answer::{Cost, Evidence, conversion_delta};
use crate::ask::shown::lacking::least_price;
use crate::ask::top::{self, Sorting};
use crate::ask::walk::{self, MeasureRule};
use crate::ask::weights::weights;
use crate::data::ground::{Understood, understand, understand_level};
use crate::error::{EngineError, NoKeys};
use crate::policy::Policy;

/// What a question would do and cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// What would be computed, line by line.
    pub plan: Vec<String>,
    /// How keys come about.
    pub keys: Keys,
    /// The accounts that would pay.
    pub accounts: Vec<String>,
    /// How groups are sorted, where they are by a value.
    pub sorting: Option<Sorting>,
    /// How far the asker sees a path, where the asker's tier has a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<TierLimit>,
    /// What a few prices give, or the price that was asked for: absolute errors.
    pub errors: Vec<ErrorAt>,
    /// What the accuracy that was asked for costs, by how large the value turns out to be.
    pub sizes: Vec<SizeAt>,
    /// What the whole question is expected to cost if nobody has asked it before, by how large its
    /// values turn out to be.
    pub totals: Vec<Total>,
    /// The part of these prices that counts of units which are cut may cost beside them; none where
    /// nothing can be cut, or where the policy wants none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_counts: Option<f64>,
    /// The delta that prices in epsilon are converted at; none if the asker's budget states none.
    pub delta: Option<f64>,
    /// Whose earlier answers to the same question make a goal dearer, in words.
    pub earlier: &'static str,
}

/// How the keys of a question come about: none, public, or selected (partition selection).
#[doc(alias = "partition selection")]
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Keys {
    /// There are none: one row.
    None,
    /// The number of combinations, which are public: all of them are answered.
    Public(usize),
    /// They are selected: those that enough units have.
    Selected {
        /// About how many units a key needs to be shown.
        units: i64,
        /// What that costs, once for all questions with the same rows and keys.
        cost: Cost,
    },
}

/// How far a tier sees.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TierLimit {
    /// The furthest point of any one path.
    pub finest: Cost,
    /// What the question costs there: the most that it can.
    pub cost: Cost,
    /// How many picks of the largest it sees, where groups are picked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub picks: Option<u32>,
}

/// What a price gives.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ErrorAt {
    /// The name of the value.
    pub name: String,
    /// Of how many rows, for an average.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<f64>,
    /// The price of the question.
    pub cost: Cost,
    /// The half-width of its interval, at the confidence that was asked for.
    pub error: f64,
}

/// What an accuracy costs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SizeAt {
    /// The name of the value.
    pub name: String,
    /// How large it is; none if that makes no difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<f64>,
    /// Of how many rows, for an average.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<f64>,
    /// The price of the question, about; none if it is beyond the asker's tier.
    pub cost: Option<Cost>,
    /// The same for a path of which an answer was seen before.
    pub after: Option<Cost>,
}

/// What a whole question is expected to cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Total {
    /// If its values are as large as this many units make them that contribute all they may; none
    /// if that makes no difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub units: Option<f64>,
    /// The price, keys and picks included; none if it is beyond the asker's tier.
    pub cost: Option<Cost>,
}

impl Total {
    /// What two questions cost together, by how large their values turn out to be.
    fn added(one: &[Self], other: &[Self]) -> Vec<Self> {
        let at = |of: &[Self], units: Option<f64>| {
            of.iter().find(|total| total.units.is_none() || total.units == units).copied()
        };
        let sizes = if one.iter().any(|total| total.units.is_some()) { one } else { other };
        let add = |size: &Self| {
            let (one, other) = (at(one, size.units)?, at(other, size.units)?);
            let cost = one.cost.zip(other.cost).map(|(one, other)| Cost {
                rho: one.rho + other.rho,
                mechanism_delta: one.mechanism_delta + other.mechanism_delta,
            });
            Some(Self { units: size.units, cost })
        };
        sizes.iter().filter_map(add).collect()
    }
}

/// How many units make up the values that prices are given for.
const UNITS: [f64; 3] = [100.0, 1_000.0, 10_000.0];

/// Explains a question, with what 5 % cost at a confidence of 95 %.
///
/// # Errors
/// The question cannot be answered privately, or something in the policy is wrong.
pub fn explain(policy: &Policy, sql: &str, who: &Who) -> Result<Explanation, EngineError> {
    let tolerance = Tolerance::new(0.05).expect("in range");
    let confidence = Confidence::new(0.95).expect("in range");
    let accuracy = Accuracy::Relative(tolerance);
    let goal = Goal { accuracy, floor: None, at_most: None, confidence };
    let (sql, who, columns) = (sql.to_owned(), who.clone(), ColumnGoals::default());
    explain_for(policy, &Question { sql, goal, columns, who })
}

/// Explains a question, with what its goal costs.
///
/// # Errors
/// The question cannot be answered privately, or something in the policy is wrong.
pub fn explain_for(policy: &Policy, question: &Question) -> Result<Explanation, EngineError> {
    let levels = eke_sql::levels(&question.sql)?;
    let shared = question.shared(levels);
    let mut all = explain_level(policy, &shared, 0)?;
    for level in 1..levels {
        // Each set of keys is a question of its own, and is paid for by itself.
        let other = explain_level(policy, &shared, level)?;
        all.plan.extend(other.plan.iter().map(|line| format!("set {}: {line}", level + 1)));
        all.totals = Total::added(&all.totals, &other.totals);
        all.cut_counts = all.cut_counts.or(other.cut_counts);
        all.tier = all.tier.zip(other.tier).map(|(one, other)| TierLimit {
            cost: Cost {
                rho: one.cost.rho + other.cost.rho,
                mechanism_delta: one.cost.mechanism_delta + other.cost.mechanism_delta,
            },
            ..one
        });
    }
    Ok(all)
}

/// Explains one of the questions that a question with totals is made of.
fn explain_level(
    policy: &Policy,
    question: &Question,
    level: usize,
) -> Result<Explanation, EngineError> {
    let Question { sql, goal, columns, who } = question;
    let understood = understand_level(policy, sql, who, level)?;
    let Understood { query, payers, finest, datasets, .. } = understood;
    // What is paid for by itself has its part of a price.
    let shared = question.shared(crate::ask::Asking::parts(&query).max(1)).goal;
    let goals = &Goals::new(shared, columns, &query)?;
    let (plan, own) = (&query.plan, payers.own());
    let keys = match keys::public_group_count(plan) {
        _ if plan.keys.is_empty() => Keys::None,
        Some(groups) => Keys::Public(groups),
        None => {
            let selection = keys::selection(plan, &payers.unit.budget)?;
            keys::check_tier(&selection, finest)?;
            let Charge::Zcdp { rho, delta } = selection.charge() else {
                return Err(NoKeys::NotInRho.into());
            };
            let units = selection.threshold().unwrap_or(i64::MAX);
            Keys::Selected { units, cost: Cost::new(rho, delta) }
        }
    };
    let whole = own.budget.zcdp().map_or(Amount::ZERO, |limits| limits.budget);
    let times = price_times(plan);
    let prices = Prices { plan, whole: whole.to_f64(), times, finest, goals, asked: goal };
    let (mut errors, mut sizes) = (Vec::new(), Vec::new());
    for (index, measure) in query.measures.iter().enumerate() {
        let shown = query.outputs.iter().find(|output| output.shows == Shows::Measure(index));
        if let (Some(output), Measure::Quantile { search, rank }) = (shown, measure) {
            let of = OfRank { query: &query, search: *search, rank: *rank, goal: goals.of(index) };
            sizes.extend(prices.ranks(of, &output.name));
        }
        if let Some((output, read)) = shown.zip(Read::of(measure, plan)) {
            let of = Of { read, goal: goals.of(index) };
            errors.extend(prices.errors(of, &output.name));
            sizes.extend(prices.sizes(of, &output.name));
        }
    }
    let totals = prices.totals(&query, &payers.unit.budget, &keys);
    let delta = conversion_delta(&own.budget).map(|delta| delta.get());
    let sorting = top::explain(&query, &payers.unit.budget);
    let tier = finest.map(|finest| {
        let each = sorting.as_ref().and_then(|sorting| sorting.pick).map(|pick| pick.rho);
        let picks = each.filter(|each| *each > 0.0).map(|each| {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
            let picks = (finest.to_f64() / each * (1.0 + 1e-12)).min(1e9) as u32;
            picks
        });
        let cost = prices.cost(finest.to_f64()).unwrap_or_default();
        TierLimit { finest: Cost::new(finest, Amount::ZERO), cost, picks }
    });
    let earlier = match who {
        Who::Steward => "anybody has",
        Who::Analyst(_) => "you have",
    };
    let accounts = payers.names();
    let parts = datasets.iter().filter_map(|(name, _)| policy.dataset(name).ok());
    let part = parts.map(|dataset| dataset.cut_counts).min().unwrap_or(CutPart::NOTHING);
    let cut_counts = Cutting::of(&query.reading(), part).is_wanted().then(|| part.get());
    let plan = query.describe();
    Ok(Explanation {
        plan,
        keys,
        accounts,
        sorting,
        tier,
        errors,
        sizes,
        totals,
        cut_counts,
        delta,
        earlier,
    })
}

/// The delta at which a price in epsilon for a question becomes one in rho: the part of the delta
/// of the asker's budget that is not kept for mechanisms. None if the budget states no delta.
///
/// # Errors
/// As for [`explain`].
pub fn price_delta(policy: &Policy, sql: &str, who: &Who) -> Result<Option<Delta>, EngineError> {
    Ok(conversion_delta(&understand(policy, sql, who)?.payers.own().budget))
}

/// What a question's values cost, if all groups are taken equally far.
struct Prices<'a> {
    plan: &'a Plan,
    /// The asker's whole budget.
    whole: f64,
    /// How many times the price of one column the question costs.
    times: f64,
    /// How far the asker sees a path.
    finest: Option<Amount<Rho>>,
    /// The accuracies or the price that are asked for, of what is paid for by itself.
    goals: &'a Goals,
    /// That of the whole question.
    asked: &'a Goal,
}

/// A quantile, and what it must come to.
#[derive(Clone, Copy)]
struct OfRank<'a> {
    query: &'a Query,
    search: usize,
    rank: Rank,
    goal: Goal,
}

/// How many times the price of one look at the right cut a search costs, about: what Wald's boundary
/// costs with the goal as its gap, in simulations from 2.1 to 3.8.
const OF_ONE_LOOK: f64 = 3.0;

/// A measure, and what it must come to.
#[derive(Clone, Copy)]
struct Of {
    read: Read,
    goal: Goal,
}

impl Prices<'_> {
    /// The price of the question, of which a column costs this.
    fn cost(&self, column: f64) -> Option<Cost> {
        let rho: Amount<Rho> = Amount::ceil(column * self.times).ok()?;
        Some(Cost::new(rho, Amount::ZERO))
    }

    /// The price that was asked for, as a whole; none if none was.
    fn whole_price(&self) -> Option<Cost> {
        match self.asked.accuracy {
            Accuracy::Price(price) => Some(Cost::new(price, Amount::ZERO)),
            Accuracy::Relative(_) | Accuracy::Absolute(_) => None,
        }
    }

    /// Whether the asker sees a path that far.
    fn is_seen(&self, column: f64) -> bool {
        self.finest.is_none_or(|finest| column <= finest.to_f64())
    }

    /// How often an interval misses.
    fn miss(&self) -> f64 {
        1.0 - self.goals.all().confidence.get()
    }

    /// The error that a value of a size must be within; none where a price is asked for.
    fn wanted(Of { read, goal }: Of, size: f64) -> Option<f64> {
        match goal.accuracy {
            Accuracy::Relative(tolerance) => {
                let floor = goal.floor.unwrap_or_else(|| read.floor());
                Some((tolerance.get() * size.abs()).max(floor))
            }
            Accuracy::Absolute(error) => Some(error),
            Accuracy::Price(_) => None,
        }
    }

    /// What a measure may turn out to be: its size, and what it is read from.
    fn sample(read: Read, factor: f64) -> Sample {
        match read {
            Read::Sum { unit, .. } | Read::Total { unit, .. } => {
                let size = factor * unit;
                Sample { size, sum: size, rows: None }
            }
            Read::Average { of, .. } => {
                // In the middle of its bounds, or halfway up where that is zero.
                let size = if of.centre == 0.0 { of.high / 2.0 } else { of.centre };
                let rows = factor * of.count.sensitivity;
                Sample { size, sum: (size - of.centre) * rows, rows: Some(rows) }
            }
        }
    }

    /// The half-width of an interval at a price of one column.
    fn error(&self, read: Read, of: Sample, column: f64, gamma: Option<f64>) -> Option<f64> {
        let worth = Amount::ceil(column).ok()?;
        let evidence = Evidence { worth, sum: of.sum, count: of.rows, gamma };
        let [low, high] = read.interval(&evidence, self.miss())?;
        Some((of.size - low).max(high - of.size))
    }

    /// What the price that was asked for gives; or a thousandth, a hundredth and a tenth of the
    /// budget, as far as the tier goes.
    fn errors(&self, Of { read, goal }: Of, name: &str) -> Vec<ErrorAt> {
        let mut errors: Vec<ErrorAt> = Vec::new();
        let z = goal.confidence.quantile();
        let prices = match goal.accuracy {
            Accuracy::Price(price) => vec![price.to_f64()],
            _ => [0.001, 0.01, 0.1].map(|part| self.whole * part).into(),
        };
        for price in prices {
            let wanted = price / self.times;
            let column = self.finest.map_or(wanted, |finest| wanted.min(finest.to_f64()));
            let of = Self::sample(read, 1_000.0);
            let error = match read {
                Read::Sum { unit, .. } | Read::Total { unit, .. } => {
                    Some(z * unit / (2.0 * column).sqrt())
                }
                Read::Average { .. } => self.error(read, of, column, None),
            };
            let Some((error, cost)) = error.zip(self.cost(column)) else { continue };
            let line = ErrorAt { name: name.to_owned(), rows: of.rows, cost, error };
            if errors.last() != Some(&line) {
                errors.push(line);
            }
        }
        errors
    }

    /// What the accuracy that was asked for costs, by what the value turns out to be.
    fn sizes(&self, measure: Of, name: &str) -> Vec<SizeAt> {
        let [fresh, by_hand] = self.gammas(measure);
        let is_absolute = matches!(measure.goal.accuracy, Accuracy::Absolute(_));
        let line = |units: f64| {
            let of = Self::sample(measure.read, units);
            let fresh = self.column(measure, of, fresh)?;
            let after = self.price(measure, of, by_hand)?.max(fresh);
            let cost = |column: f64| self.cost(column).filter(|_| self.is_seen(column));
            let (cost, after) = (cost(fresh), cost(after));
            // One error costs the same, however large a sum or count is.
            let size = Some(of.size).filter(|_| !is_absolute || of.rows.is_some());
            Some(SizeAt { name: name.to_owned(), size, rows: of.rows, cost, after })
        };
        let mut lines: Vec<SizeAt> = UNITS.into_iter().filter_map(line).collect();
        lines.dedup();
        lines
    }

    /// The price of a question of which a group's paths of a search cost this together.
    fn search_cost(&self, query: &Query, search: usize, group: f64) -> Option<Cost> {
        let groups = keys::public_group_count(self.plan).unwrap_or(usize::MAX);
        let times = weights(&query.searching(search)).times(groups);
        let rho: Amount<Rho> = Amount::ceil(group * times).ok()?;
        Some(Cost::new(rho, Amount::ZERO))
    }

    /// What a rank error costs in a group of this many rows, about: those of all its cuts and of the
    /// number of its rows. None where no rank error is asked for.
    ///
    /// The rank is read off (C + (1 - 2q) N)/2, whose variance at the best split of a price is
    /// `m² (1/2 + |1/2 - q|)²/(2 rho)`.
    fn rank_price(&self, of: OfRank<'_>, rows: f64) -> Option<f64> {
        let Accuracy::Relative(tolerance) = of.goal.accuracy else { return None };
        let share = of.rank.share();
        let unit = f64::from(self.plan.max_rows);
        let deviation = tolerance.get() * rows / of.goal.confidence.quantile();
        let split = 0.5 + (0.5 - share).abs();
        Some(OF_ONE_LOOK * (unit * split / deviation).powi(2) / 2.0)
    }

    /// What the rank error that was asked for costs, by how many rows a group turns out to have.
    fn ranks(&self, of: OfRank<'_>, name: &str) -> Vec<SizeAt> {
        let line = |units: f64| {
            let rows = units * f64::from(self.plan.max_rows);
            let cost = self.search_cost(of.query, of.search, self.rank_price(of, rows)?)?;
            let (rows, name) = (Some(rows), name.to_owned());
            Some(SizeAt { name, size: None, rows, cost: Some(cost), after: Some(cost) })
        };
        UNITS.into_iter().filter_map(line).collect()
    }

    /// What all searches of a question cost, where groups have this many rows; none if that cannot
    /// be told.
    fn searches(&self, query: &Query, rows: f64) -> Option<f64> {
        let mut group = vec![0.0f64; query.searches.len()];
        for (index, measure) in query.measures.iter().enumerate() {
            let &Measure::Quantile { search, rank } = measure else { continue };
            let of = OfRank { query, search, rank, goal: self.goals.of(index) };
            // Quantiles of one search have the number of rows in common, and some of its cuts.
            *group.get_mut(search)? += self.rank_price(of, rows)?;
        }
        let costs = group.iter().enumerate();
        let costs = costs.map(|(search, group)| Some(self.search_cost(query, search, *group)?.rho));
        costs.sum()
    }

    /// The price of one column of a fresh path at which the goal is met.
    fn column(&self, measure: Of, of: Sample, gamma: Option<f64>) -> Option<f64> {
        match measure.read {
            Read::Sum { unit, .. } | Read::Total { unit, .. } => {
                let error = Self::wanted(measure, of.size)?;
                Some((measure.goal.confidence.quantile() * unit / error).powi(2) / 2.0)
            }
            Read::Average { .. } => self.price(measure, of, gamma),
        }
    }

    /// What the whole question costs, by how many units make up its values.
    fn totals(&self, query: &Query, unit: &Budget, keys: &Keys) -> Vec<Total> {
        let keys = match keys {
            Keys::Selected { cost, .. } => *cost,
            Keys::None | Keys::Public(_) => Cost::default(),
        };
        let picks = top::picks_cost(query, self.goals, unit);
        let beside = |cost: Cost| Cost { rho: cost.rho + keys.rho + picks, ..keys };
        let price = match (self.goals.all().accuracy, query.shows_values()) {
            (Accuracy::Price(price), true) => {
                let price = price.to_f64() / self.times;
                let seen = self.finest.map_or(price, |finest| price.min(finest.to_f64()));
                // A search goes as far as the price, whatever one path shows.
                if query.searches.is_empty() { self.cost(seen) } else { self.whole_price() }
            }
            // Picks alone: their price is all of it.
            (_, false) => Some(Cost::default()),
            (_, true) => None,
        };
        if let Some(price) = price {
            return vec![Total { units: None, cost: Some(beside(price)) }];
        }
        let total = |units: f64| {
            let (mut column, mut index) = (0.0f64, 0);
            while let Some(measure) = query.measures.get(index) {
                let (goal, place) = (self.goals.of(index), index);
                index += 1;
                if let (Measure::Derived { parts, .. }, Accuracy::Absolute(_)) =
                    (measure, goal.accuracy)
                {
                    // One look, where the noise does not depend on what is seen.
                    column = column.max(self.planned(query, place)?);
                    index += parts;
                    continue;
                }
                // To a relative error, what is made of several values is taken for as dear as the
                // dearest of them. A group is taken as far as the dearest of its values needs.
                let Some(read) = Read::of(measure, self.plan) else { continue };
                let of = Of { read, goal };
                let needs = self.column(of, Self::sample(read, units), self.gammas(of)[0])?;
                column = column.max(needs);
            }
            let searches = self.searches(query, units * f64::from(self.plan.max_rows))?;
            let with = |cost: Cost| Cost { rho: cost.rho + searches, ..cost };
            let cost = self.cost(column).filter(|_| self.is_seen(column)).map(beside).map(with);
            Some(Total { units: Some(units), cost })
        };
        let mut totals: Vec<Total> = UNITS.into_iter().filter_map(total).collect();
        if let [one, rest @ ..] = &totals[..]
            && rest.iter().all(|other| other.cost == one.cost)
        {
            totals = vec![Total { units: None, ..*one }];
        }
        totals
    }

    /// The price of one column at which a number that is made of several is within an absolute
    /// error; none if that depends on what they turn out to be.
    fn planned(&self, query: &Query, place: usize) -> Option<f64> {
        let most = Amount::ceil(self.whole / self.times).ok()?;
        let rules = walk::rules(&query.measures, self.plan, self.goals, most).ok()?;
        let planned = |place: usize| rules.get(place)?.planned();
        // A multiple of one value is followed as that value is.
        planned(place).or_else(|| planned(place + 1)).map(|price| price.to_f64())
    }

    /// The price of one column at which the goal is met, by a confidence sequence.
    fn price(&self, measure: Of, of: Sample, gamma: Option<f64>) -> Option<f64> {
        let wanted = Self::wanted(measure, of.size)?;
        let is_met = |column: f64| {
            self.error(measure.read, of, column, gamma).is_some_and(|error| error <= wanted)
        };
        least_price(is_met)
    }

    /// The gammas of the confidence sequence of a goal: on a path that is fresh, and on one that
    /// was seen before.
    fn gammas(&self, Of { read, goal }: Of) -> [Option<f64>; 2] {
        // Without a highest price a relative goal goes up to a tenth.
        let most = goal.at_most.map_or(self.whole / 10.0, |most| most.to_f64());
        let most = Amount::ceil(most / self.times).unwrap_or(Amount::GRAIN);
        let most = self.finest.map_or(most, |finest| most.min(finest));
        match MeasureRule::new(read, &goal, most) {
            Ok(rule) => [rule.gamma(), rule.by_hand().gamma()],
            Err(_) => [None, None],
        }
    }
}

/// What a value may turn out to be.
#[derive(Clone, Copy)]
struct Sample {
    size: f64,
    /// The sum or count; for an average the sum of what is beyond the centre.
    sum: f64,
    /// The rows of an average.
    rows: Option<f64>,
}

/// How many times the price of one column a question costs that takes all groups equally far.
fn price_times(plan: &Plan) -> f64 {
    let groups = keys::public_group_count(plan).unwrap_or(usize::MAX);
    let columns = u32::try_from(plan.sums.len()).unwrap_or(u32::MAX);
    weights(plan).times(groups) * f64::from(columns)
}
