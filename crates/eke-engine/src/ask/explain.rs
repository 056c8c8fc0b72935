//! What a question would do and cost, from public information alone: no row is read, and no ledger.

use eke_budget::{Amount, Charge, Metric, Purchase, Rho};
use eke_noise::{Confidence, Tolerance};
use eke_sql::{Measure, Plan, Shows};
use serde::Serialize;

use crate::ask::answer::{Cost, Evidence};
use crate::ask::keys;
use crate::ask::question::{Accuracy, Goal, Who};
use crate::ask::top::{self, Sorting};
use crate::ask::walk::{MeasureRule, average_of, interval};
use crate::engine::{Understood, understand};
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
    /// What a few prices give: absolute errors.
    pub errors: Vec<ErrorAt>,
    /// What a relative error of 5 % costs, by how large the value turns out to be.
    pub sizes: Vec<SizeAt>,
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
    /// The half-width of its interval, at 95 %.
    pub error: f64,
}

/// What a relative error of 5 % costs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SizeAt {
    /// The name of the value.
    pub name: String,
    /// How large it is.
    pub size: f64,
    /// Of how many rows, for an average.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<f64>,
    /// The price of the question, about; none if it is beyond the asker's tier.
    pub cost: Option<Cost>,
    /// The same for a path of which an answer was seen before.
    pub after: Option<Cost>,
}

/// The relative error that prices are given for.
const TOLERANCE: f64 = 0.05;
/// How often an interval misses.
const MISS: f64 = 0.05;

/// Explains a question.
///
/// # Errors
/// The question cannot be answered privately, or something in the policy is wrong.
pub fn explain(policy: &Policy, sql: &str, who: &Who) -> Result<Explanation, EngineError> {
    let Understood { query, payers, finest, .. } = understand(policy, sql, who)?;
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
    let prices = Prices { plan, whole: whole.to_f64(), times: price_times(plan), finest };
    let (mut errors, mut sizes) = (Vec::new(), Vec::new());
    for (index, measure) in query.measures.iter().enumerate() {
        let shown = query.outputs.iter().find(|output| output.shows == Shows::Measure(index));
        if let Some(output) = shown {
            errors.extend(prices.errors(measure, &output.name));
            sizes.extend(prices.sizes(measure, &output.name));
        }
    }
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
    let plan = query.describe();
    Ok(Explanation { plan, keys, accounts, sorting, tier, errors, sizes, earlier })
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
}

impl Prices<'_> {
    /// The price of the question, of which a column costs this.
    fn cost(&self, column: f64) -> Option<Cost> {
        let rho: Amount<Rho> = Amount::ceil(column * self.times).ok()?;
        Some(Cost::new(rho, Amount::ZERO))
    }

    /// What a unit can change a sum by.
    fn unit(&self, column: usize) -> f64 {
        let sum = &self.plan.sums[column];
        let steps = sum.sensitivity(self.plan.max_rows) as f64;
        steps * sum.step()
    }

    /// What a measure may turn out to be: its size, and what it is read from.
    fn sample(&self, measure: &Measure, factor: f64) -> Sample {
        match *measure {
            Measure::Sum(column) => {
                let size = factor * self.unit(column);
                Sample { size, sum: size, rows: None }
            }
            Measure::Average { sum, count } => {
                // In the middle of its bounds, or halfway up where that is zero.
                let of = average_of(self.plan, sum, count);
                let size = if of.centre == 0.0 { of.high / 2.0 } else { of.centre };
                let rows = factor * self.unit(count);
                Sample { size, sum: (size - of.centre) * rows, rows: Some(rows) }
            }
        }
    }

    /// The half-width of an interval at a price of one column.
    fn error(&self, measure: &Measure, of: Sample, column: f64, gamma: Option<f64>) -> Option<f64> {
        let worth = Amount::ceil(column).ok()?;
        let evidence = Evidence { worth, sum: of.sum, count: of.rows, gamma };
        let [low, high] = interval(measure, self.plan, &evidence, MISS)?;
        Some((of.size - low).max(high - of.size))
    }

    /// What a thousandth, a hundredth and a tenth of the budget give, as far as the tier goes.
    fn errors(&self, measure: &Measure, name: &str) -> Vec<ErrorAt> {
        let mut errors: Vec<ErrorAt> = Vec::new();
        let z = Confidence::new(1.0 - MISS).map_or(1.96, Confidence::quantile);
        for part in [0.001, 0.01, 0.1] {
            let wanted = self.whole * part / self.times;
            let column = self.finest.map_or(wanted, |finest| wanted.min(finest.to_f64()));
            let of = self.sample(measure, 1_000.0);
            let error = match *measure {
                Measure::Sum(sum) => Some(z * self.unit(sum) / (2.0 * column).sqrt()),
                Measure::Average { .. } => self.error(measure, of, column, None),
            };
            let Some((error, cost)) = error.zip(self.cost(column)) else { continue };
            let line = ErrorAt { name: name.to_owned(), rows: of.rows, cost, error };
            if errors.last() != Some(&line) {
                errors.push(line);
            }
        }
        errors
    }

    /// What 5 % cost, by what the value turns out to be.
    fn sizes(&self, measure: &Measure, name: &str) -> Vec<SizeAt> {
        let z = Confidence::new(1.0 - MISS).map_or(1.96, Confidence::quantile);
        let [fresh, by_hand] = self.gammas(measure);
        let line = |factor: f64| {
            let of = self.sample(measure, factor);
            let fresh = match *measure {
                Measure::Sum(sum) => (z * self.unit(sum) / (TOLERANCE * of.size)).powi(2) / 2.0,
                Measure::Average { .. } => self.price(measure, of, fresh),
            };
            let after = self.price(measure, of, by_hand).max(fresh);
            let cost = |column: f64| {
                let is_seen = self.finest.is_none_or(|finest| column <= finest.to_f64());
                self.cost(column).filter(|_| is_seen)
            };
            let (cost, after) = (cost(fresh), cost(after));
            SizeAt { name: name.to_owned(), size: of.size, rows: of.rows, cost, after }
        };
        [100.0, 1_000.0, 10_000.0].map(line).into()
    }

    /// The price of one column at which 5 % are met, by a confidence sequence.
    fn price(&self, measure: &Measure, of: Sample, gamma: Option<f64>) -> f64 {
        let wanted = TOLERANCE * of.size.abs();
        let (mut low, mut high) = (-60.0f64, 20.0f64);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            let error = self.error(measure, of, middle.exp(), gamma);
            if error.is_some_and(|error| error <= wanted) { high = middle } else { low = middle }
        }
        high.exp()
    }

    /// The gammas of the confidence sequence of a relative goal: on a path that is fresh, and on
    /// one that was seen before.
    fn gammas(&self, measure: &Measure) -> [Option<f64>; 2] {
        let (Ok(tolerance), Ok(confidence)) =
            (Tolerance::new(TOLERANCE), Confidence::new(1.0 - MISS))
        else {
            return [None, None];
        };
        let accuracy = Accuracy::Relative(tolerance);
        let goal = Goal { accuracy, floor: None, at_most: None, confidence };
        // Without a highest price a relative goal goes up to a tenth.
        let most = Amount::ceil(self.whole / 10.0 / self.times).unwrap_or(Amount::GRAIN);
        let most = self.finest.map_or(most, |finest| most.min(finest));
        match MeasureRule::new(measure, self.plan, &goal, most) {
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
    let groups = u32::try_from(groups).unwrap_or(u32::MAX).min(plan.max_groups);
    let factor = Metric::Hamming(plan.adjacency).group_factor::<Rho>();
    let columns = u32::try_from(plan.sums.len()).unwrap_or(u32::MAX);
    f64::from(groups) * f64::from(factor) * f64::from(columns)
}
