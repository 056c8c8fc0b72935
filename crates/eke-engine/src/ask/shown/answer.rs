//! Answers: what may be shown, with its interval, its price and what is left.

use std::sync::Arc;

use eke_budget::convert::{Curve as _, Method};
use eke_budget::{Amount, Budget, Charge, Delta, Rho};
use eke_noise::stopping::{Ending, Estimate};
use eke_sql::{Measure, Plan, Type, Value, scalar};
use serde::{Deserialize, Serialize};

use crate::ask::read::Read;
use crate::ask::shown::additive::{Additive, Margins};
use crate::ask::shown::covers::Covers;

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The names of the columns, as they were asked for.
    pub columns: Vec<Column>,
    /// One row per group that is shown.
    pub rows: Vec<Row>,
    /// What this answer cost the asker.
    pub cost: Cost,
    /// What the asker has left.
    pub left: Cost,
    /// The asker's whole budget.
    #[serde(default)]
    pub budget: Cost,
    /// Whether it cost nothing.
    pub free: bool,
    /// What noise fixed in advance would have to cost to promise the same for any data; none where
    /// no price promises it.
    pub fixed: Option<Cost>,
    /// What the points that are shown would cost if they were bought on their own, with fresh
    /// noise.
    pub alone: Cost,
    /// How many looks were taken, of those groups that took most.
    pub looks: u32,
    /// How rows were chosen, where their own noise decided which are shown: their intervals are
    /// then wider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen: Option<Chosen>,
    /// Whether adding up its rows gives too much on average: where groups are followed to a loose
    /// relative error, those stop early whose noise makes them seem large. By 2 % at 20 %, and by
    /// up to 19 % at 50 %.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sums_too_large: bool,
    /// Its totals, where there are some (ROLLUP, CUBE, GROUPING SETS).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub totals: Option<Margins>,
    /// How its values were made to add up, where they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub additive: Option<Additive>,
    /// How many rows are about too few units to be shown, where the policy sets a minimum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suppressed: Option<Suppressed>,
    /// Whether some groups were picked as the largest, and others not: picks are noisy.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub picked: bool,
    /// Whether it is a list of keys that are public: no row was read for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub listed: bool,
    /// About how many units a group needs to be shown, where groups were selected by that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub units: Option<i64>,
    /// The furthest point that the asker's tier sees of a path, where a value that is shown
    /// went no further for that, or fewer groups were picked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<Cost>,
    /// The columns with values that missed their goal, why, and what would do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmet: Vec<Unmet>,
    /// Why there are fewer rows than were asked for, where there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fewer: Option<Fewer>,
    /// How far picks may be off, where groups were picked as the largest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picks: Option<PickError>,
    /// The price in epsilon, where it was fixed in advance and the asker's budget states a delta.
    /// What an answer came to that stopped by what it saw has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epsilon: Option<InEpsilon>,
    /// How much of each unit was counted: intervals are about noise, and do not hold what was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub covers: Option<Covers>,
}

/// Values of one column that missed their goal for one reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unmet {
    /// The name of the column.
    pub name: String,
    /// Why they were followed no further.
    pub ending: Stopped,
    /// In how many rows.
    pub rows: usize,
    /// About what more it would cost the asker until the last of them meets its goal, if the values
    /// are what was found; none where nothing can be said.
    pub needs: Option<Cost>,
    /// About the error that all of them can be brought within by what the asker has left, as far as
    /// the asker's tier sees; none where nothing can be said.
    pub reach: Option<f64>,
}

/// Fewer rows than were asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fewer {
    /// How many there are.
    pub rows: usize,
    /// How many were asked for.
    pub wanted: usize,
    /// Why there are not more.
    pub why: WhyFewer,
}

/// Rows that are not shown because they are about too few units, by a noisy count of them (small
/// cell suppression).
#[doc(alias = "small cell suppression")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suppressed {
    /// How many.
    pub rows: usize,
    /// The fewest units that a row is shown for.
    pub min_units: u32,
}

/// Why there are fewer rows than were asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhyFewer {
    /// There are no more groups, or none that can be shown.
    Groups,
    /// HAVING left the others out, by their released values.
    Having,
    /// The others are about too few units, by their released counts.
    Units,
    /// The asker's tier sees no more picks.
    Tier,
    /// One that was picked did not reach its goal, and the next would be smaller still.
    Goal,
    /// The highest price, of which half is for picks, did not allow more.
    Price,
}

/// How far picks may be off (report noisy max): what is public, and released values held against
/// it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PickError {
    /// A pick is at most this far below the largest group that was left, at the confidence.
    pub within: f64,
    /// How sure that is of each pick.
    pub confidence: f64,
    /// The rows, counted from 0, that cannot be told from noise: were all other groups empty, a
    /// pick of one of them instead would be no surprise.
    pub doubtful: Vec<usize>,
}

/// A price in epsilon: what a question of this price would promise if the price were fixed in
/// advance and nothing else were ever asked. It is no statement about what was spent; see [`Cost`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct InEpsilon {
    /// The epsilon, rounded up.
    pub cost: f64,
    /// The delta that it is converted at: what the asker's budget keeps for that.
    pub delta: f64,
}

impl InEpsilon {
    /// A price in epsilon at a delta; none for what is nothing or too large.
    #[must_use]
    pub fn of(rho: f64, delta: Delta) -> Option<Self> {
        let rho = Rho::new(rho).ok()?;
        let cost = Method::Tight.epsilon(rho, delta).ok()?.get();
        Some(Self { cost, delta: delta.get() })
    }

    /// The same at a delta as it was told.
    #[must_use]
    pub fn at(rho: f64, delta: f64) -> Option<Self> {
        Self::of(rho, Delta::new(delta).ok()?)
    }
}

/// How many rows are shown out of how many groups, where noisy values decided which (selective
/// inference).
///
/// Values that were chosen for being large are large by chance too. So intervals of the values that
/// decided are made at a higher level, at which of those that are shown a part of at most one minus
/// the confidence misses, on average.
#[doc(alias = "selective inference")]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chosen {
    /// How many rows are shown.
    pub rows: usize,
    /// Of how many groups that were measured.
    pub groups: usize,
    /// The level of each interval: one minus `(1 - confidence) rows/groups`.
    pub level: f64,
}

impl Answer {
    /// Whether no value that is shown missed its goal.
    #[must_use]
    pub fn is_met(&self) -> bool {
        self.rows.iter().flat_map(|row| &row.values).all(|value| value.met != Some(false))
    }
}

/// A column of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// What it shows.
    pub kind: Kind,
    /// Whether its values count something, so that they are below zero by noise alone. They and
    /// their intervals are as they were drawn.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub counts: bool,
    /// What its values are, where they are quantiles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantile: Option<Ordered>,
}

/// What the values of a quantile are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ordered {
    /// Numbers.
    Numbers,
    /// Days, counted from 1970-01-01.
    Days,
    /// Moments, in microseconds from 1970-01-01.
    Moments,
}

/// Where the value of a quantile stands among the rows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankOf {
    /// The share of the rows that are below it, at least, at the confidence.
    pub low: f64,
    /// The share of the rows that are at most there, at most.
    pub high: f64,
    /// How many rows lie beyond it at most, where the least or the largest was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beyond: Option<f64>,
}

impl RankOf {
    /// That of what was found for a quantile; none if nothing was.
    pub(crate) fn of(found: &Found) -> Option<Self> {
        let Evidence { sum, count, gamma, .. } = found.evidence?;
        Some(Self { low: sum, high: count?, beyond: gamma })
    }
}

/// A value and its interval as days or moments are written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dated {
    /// The value.
    pub value: Option<String>,
    /// The lower end of its interval.
    pub low: Option<String>,
    /// The upper end.
    pub high: Option<String>,
}

impl Ordered {
    /// What the values of a type are, where they have an order.
    pub(crate) fn of(kind: Type) -> Self {
        match kind {
            Type::Date => Self::Days,
            Type::Timestamp => Self::Moments,
            _ => Self::Numbers,
        }
    }

    /// What was found, as days or moments are written; none for numbers.
    pub(crate) fn dated(self, found: &Found) -> Option<Dated> {
        let whole = |value: f64| {
            #[expect(clippy::cast_possible_truncation, reason = "places of a grid are whole")]
            let whole = value.round() as i64;
            whole
        };
        let written = |value: f64| match self {
            Self::Numbers => None,
            Self::Days => {
                json(&Value::Date(i32::try_from(whole(value)).ok()?)).as_str().map(str::to_owned)
            }
            Self::Moments => json(&Value::Timestamp(whole(value))).as_str().map(str::to_owned),
        };
        let [value, low, high] =
            [found.value, found.low, found.high].map(|value| value.and_then(written));
        (self != Self::Numbers).then_some(Dated { value, low, high })
    }
}

/// What a column shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A key.
    Key,
    /// A noisy value.
    Value,
    /// The lower end of a value's interval.
    Low,
    /// The upper end of a value's interval.
    High,
    /// Whether a value is as good as was asked for.
    Met,
}

/// A row of an answer: the keys that are shown and the values that are, each in their order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The keys.
    pub keys: Vec<serde_json::Value>,
    /// The values.
    pub values: Vec<Cell>,
    /// The columns whose keys it is a total over, where totals were asked for (ROLLUP): these keys
    /// are null.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub over: Vec<Arc<str>>,
}

/// A noisy value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The name of its column.
    pub name: Arc<str>,
    /// The value; none if nothing can be said.
    pub value: Option<f64>,
    /// The lower end of its interval; none if it has none.
    pub low: Option<f64>,
    /// The upper end of its interval; none if it has none.
    pub high: Option<f64>,
    /// How sure the interval is.
    pub confidence: f64,
    /// Whether it is as good as was asked for; none where a price was asked for, and no accuracy.
    pub met: Option<bool>,
    /// Why it ended.
    pub ending: Stopped,
    /// Where it stands among the rows, where it is a quantile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<RankOf>,
    /// The same as days or moments are written, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dated: Option<Dated>,
    /// What noise it has, where it is a sum or count and that is known.
    #[serde(skip)]
    pub(crate) noise: Option<Noise>,
}

/// The noise of a sum or count that is shown: what it takes to make a table add up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Noise {
    /// Its variance, in the unit of the value.
    pub(crate) variance: f64,
    /// The step of its grid.
    pub(crate) step: f64,
    /// Whether what it counts or adds up is nowhere below zero.
    pub(crate) from_zero: bool,
    /// Whether it was seen at one look that was planned in advance: otherwise where it was seen
    /// depends on it, and it has no law that is known.
    pub(crate) is_planned: bool,
}

impl Noise {
    /// That of what was found for a measure; none if it is no sum or count.
    pub(crate) fn of(measure: &Measure, plan: &Plan, found: &Found) -> Option<Self> {
        let Some(Read::Sum { column, step, unit, .. }) = Read::of(measure, plan) else {
            return None;
        };
        let Evidence { worth, gamma, .. } = found.evidence?;
        let variance = unit * unit / (2.0 * worth.to_f64());
        let from_zero = plan.sums[column].contribution(plan.max_rows).0 >= 0;
        Some(Self { variance, step, from_zero, is_planned: gamma.is_none() })
    }
}

/// Why a value was followed no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stopped {
    /// It is as good as was asked for.
    Met,
    /// It is within the absolute error that is good enough.
    Floor,
    /// The highest price was reached.
    HighestPrice,
    /// The highest price would not have been enough.
    OutOfReach,
    /// The budget did not allow more.
    Refused,
    /// The grid did not allow more.
    Grid,
    /// It would be as good as was asked for, had it not been chosen by its own noise.
    Chosen,
    /// The asker's tier sees no path further.
    Tier,
}

impl From<Ending> for Stopped {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::Met => Self::Met,
            Ending::Floor => Self::Floor,
            Ending::HighestPrice => Self::HighestPrice,
            Ending::OutOfReach => Self::OutOfReach,
            Ending::Refused => Self::Refused,
            Ending::Grid => Self::Grid,
        }
    }
}

/// An estimate as it is stored and shown, in the unit of the value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Found {
    pub(crate) value: Option<f64>,
    pub(crate) low: Option<f64>,
    pub(crate) high: Option<f64>,
    pub(crate) ending: Stopped,
    /// What it was read from; none where nothing was, or where it was stored before this was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) evidence: Option<Evidence>,
}

/// What an estimate was read from: enough to state an interval at another level. There is one for
/// every value of every answer that is kept, so it is stored as a list.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Listed", into = "Listed")]
pub(crate) struct Evidence {
    /// The price of one column that the point is worth.
    pub(crate) worth: Amount<Rho>,
    /// The sum or count, in its unit.
    pub(crate) sum: f64,
    /// The count beside it, for an average.
    pub(crate) count: Option<f64>,
    /// The gamma of the confidence sequence, as a price; none for one look that was planned in
    /// advance.
    pub(crate) gamma: Option<f64>,
}

type Listed = (Amount<Rho>, f64, Option<f64>, Option<f64>);

impl From<Listed> for Evidence {
    fn from((worth, sum, count, gamma): Listed) -> Self {
        Self { worth, sum, count, gamma }
    }
}

impl From<Evidence> for Listed {
    fn from(Evidence { worth, sum, count, gamma }: Evidence) -> Self {
        (worth, sum, count, gamma)
    }
}

impl Found {
    /// An estimate in steps of a length.
    pub(crate) fn new(estimate: Estimate, step: f64) -> Self {
        let finite = |steps: f64| Some(steps * step).filter(|value| value.is_finite());
        Self {
            value: finite(estimate.value),
            low: finite(estimate.low),
            high: finite(estimate.high),
            ending: estimate.ending.into(),
            evidence: None,
        }
    }

    /// Nothing is known.
    pub(crate) fn nothing(ending: Stopped) -> Self {
        Self { value: None, low: None, high: None, ending, evidence: None }
    }

    pub(crate) fn met(&self) -> bool {
        matches!(self.ending, Stopped::Met | Stopped::Floor)
    }
}

/// A price. What was spent up to some moment is no (epsilon, delta): when to look may depend on
/// what was seen, and a total that was stopped somewhere and then converted promises less than it
/// says. The promise is the whole budget's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// The concentrated price.
    pub rho: f64,
    /// What was taken of the delta that the budget keeps for mechanisms, such as selecting keys.
    #[serde(default)]
    pub mechanism_delta: f64,
}

impl Cost {
    pub(crate) fn new(rho: Amount<Rho>, delta: Amount<Delta>) -> Self {
        Self { rho: rho.to_f64(), mechanism_delta: delta.to_f64() }
    }
}

/// What a charge takes in rho.
pub(crate) fn rho_of(charge: Charge) -> Amount<Rho> {
    match charge {
        Charge::Zcdp { rho, .. } => rho,
        Charge::Pure { .. } => Amount::ZERO,
    }
}

/// The part of a budget's delta that its rho is converted at.
pub(crate) fn conversion_delta(budget: &Budget) -> Option<Delta> {
    let promised = budget.promise()?.delta?;
    let kept = budget.zcdp().map_or(0.0, |limits| limits.delta.to_f64())
        + budget.pure().map_or(0.0, |limits| limits.delta.to_f64());
    Delta::new(promised.get() - kept).ok()
}

/// A key as JSON has it: days and moments as ISO 8601 writes them.
pub(crate) fn json(value: &Value) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(value) => (*value).into(),
        Value::Int(value) => (*value).into(),
        Value::Float(value) if value.is_finite() => (*value).into(),
        Value::Text(value) => value.clone().into(),
        Value::Date(days) => {
            scalar::date_to_text((*days).into()).unwrap_or_else(|| value.to_string()).into()
        }
        Value::Timestamp(micros) => scalar::timestamp_to_text(*micros)
            .map_or_else(|| value.to_string(), |text| text.replacen(' ', "T", 1))
            .into(),
        // JSON has no infinite numbers.
        Value::Float(_) => value.to_string().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_moments_are_keys_as_iso_writes_them() {
        let micros = 1_743_244_200_000_000;
        for (value, expected) in [
            (Value::Date(20_176), "2025-03-29"),
            (Value::Timestamp(micros), "2025-03-29T10:30:00"),
            (Value::Timestamp(micros + 1), "2025-03-29T10:30:00.000001"),
            // What has no such form is said as what it is.
            (Value::Date(i32::MAX), "DATE 'day 2147483647'"),
            (Value::Float(f64::INFINITY), "inf"),
        ] {
            assert_eq!(json(&value), expected);
        }
    }
}
