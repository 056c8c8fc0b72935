//! What is shown of cut counts: released counts, shares of them, and which bound to raise.
//!
//! Everything here is made of released values and of the plan (post-processing).

use eke_budget::{Amount, Rho};
use eke_noise::stopping::{AverageLook, AverageOf, Part, deviations};
use eke_sql::Plan;
use serde::{Deserialize, Serialize};

use crate::ask::keys::public_group_count;
use crate::rows::pass::cuts::{BINS, CutCell};

/// How often rows that are said to be lost may be too many.
const MISSES_ROWS_LOST: f64 = 0.001;
/// A share of units that is few: below it there is no warning.
const FEW: f64 = 0.03;

/// How many units lose something to the bounds of a question: released counts, with their noise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CutCounts {
    /// Units that lose groups or rows, where these can be lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub units: Option<CutCount>,
    /// Units in the question: those with a row that takes part, whatever its keys.
    pub of: CutCount,
    /// Units that are in more groups than count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_groups: Option<CutCount>,
    /// Units with more rows than count in their fullest group, by how many.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_rows: Vec<CutBin>,
    /// Units with a row whose key is not listed, which is in no group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unlisted: Option<CutCount>,
    /// How sure each interval is.
    pub confidence: f64,
    /// The part of the units that lose groups or rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<CutShare>,
    /// The part of the units that have a key which is not listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unlisted_share: Option<CutShare>,
    /// Whether more than a few lose groups or rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<CutVerdict>,
    /// How many rows do not count at least, in the groups that units keep; none where that cannot
    /// be told from none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_lost: Option<f64>,
    /// What `max_groups` could be raised to, where more than a few units lose groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raise_max_groups: Option<u32>,
    /// What `max_rows` could be raised to, where more than a few units lose rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raise_max_rows: Option<u64>,
    /// The same as sentences.
    pub notes: Vec<String>,
}

/// A count of units with its interval, both as they were drawn: also below zero.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CutCount {
    /// The count.
    pub value: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end of its interval.
    pub high: f64,
}

/// Units by how many rows they have in their fullest group.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CutBin {
    /// More rows than this.
    pub above: u64,
    /// And at most this many; none where there is no end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<u64>,
    /// How many units.
    #[serde(flatten)]
    pub units: CutCount,
}

/// A part of the units of a question.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CutShare {
    /// The part, from 0 to 1; none where the units in the question cannot be told from none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end of its interval.
    pub high: f64,
}

/// Whether more than a few units lose something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CutVerdict {
    /// At most a few.
    Few,
    /// More than a few.
    Many,
    /// The noise is too wide.
    CannotTell,
}

/// What was released of cut counts.
pub(crate) struct Seen {
    /// The counts, as they were drawn.
    pub(crate) values: Vec<(CutCell, f64)>,
    /// What each is as precise as.
    pub(crate) worth: Amount<Rho>,
    /// The step of their grid.
    pub(crate) step: f64,
    /// What the confidence sequence is spread by, where they were looked at before.
    pub(crate) gamma: Option<f64>,
    pub(crate) confidence: f64,
}

impl Seen {
    /// What is shown of them, for a plan about units of this name; none if nothing was released.
    pub(crate) fn counts(&self, plan: &Plan, unit: &str) -> Option<CutCounts> {
        if self.worth.is_zero() {
            return None;
        }
        let miss = 1.0 - self.confidence;
        let count = |cell: CutCell| Some(self.count(self.get(cell)?, miss));
        let of = count(CutCell::Of)?;
        let rows = self.bins();
        let by_rows = (0..).zip(&rows).map(|(bin, &value)| {
            let (above, to) = ends(bin, plan.max_rows);
            CutBin { above, to, units: self.count(value, miss) }
        });
        let by_rows: Vec<CutBin> = by_rows.collect();
        let units = count(CutCell::Units);
        // Where no rows can be lost, all that lose something lose groups.
        let groups = if rows.is_empty() { units } else { count(CutCell::Groups) };
        let unlisted = count(CutCell::Unlisted);
        let share = |part: CutCount| self.share(part.value, 1.0, miss);
        let mut counts = CutCounts {
            units,
            of,
            by_groups: groups,
            by_rows,
            unlisted,
            confidence: self.confidence,
            share: units.map(share),
            unlisted_share: unlisted.map(share),
            verdict: units.map(|part| CutVerdict::of(&share(part))),
            rows_lost: self.rows_lost(plan.max_rows),
            raise_max_groups: None,
            raise_max_rows: None,
            notes: Vec::new(),
        };
        if counts.verdict == Some(CutVerdict::Many) {
            let by_groups = groups.map_or(0.0, |part| share(part).low);
            let by_rows = self.by_rows_at_least(miss);
            // Where neither is clear by itself, both may be.
            let (many_groups, many_rows) = (by_groups > FEW, by_rows > FEW);
            let neither = !many_groups && !many_rows;
            if groups.is_some() && (many_groups || neither) {
                let listed = public_group_count(plan).and_then(|all| u32::try_from(all).ok());
                let twice = plan.max_groups.saturating_mul(2);
                counts.raise_max_groups = Some(listed.map_or(twice, |all| all.min(twice)));
            }
            if !rows.is_empty() && (many_rows || neither) {
                counts.raise_max_rows = Some(self.enough_rows(plan.max_rows, miss));
            }
        }
        counts.notes = counts.say(plan, unit);
        Some(counts)
    }

    fn get(&self, cell: CutCell) -> Option<f64> {
        self.values.iter().find(|(of, _)| *of == cell).map(|(_, value)| *value)
    }

    /// The bins of rows; nothing where no rows can be lost.
    fn bins(&self) -> Vec<f64> {
        (0..BINS).map_while(|bin| self.get(CutCell::Rows(bin))).collect()
    }

    /// How many deviations a count is off at most, but for a probability of a miss.
    fn factor(&self, miss: f64) -> f64 {
        deviations(miss, self.gamma.map(|gamma| self.worth.to_f64() / gamma))
    }

    fn count(&self, value: f64, miss: f64) -> CutCount {
        let half = self.half(miss);
        CutCount { value, low: value - half, high: value + half }
    }

    fn half(&self, miss: f64) -> f64 {
        self.factor(miss) / (2.0 * self.worth.to_f64()).sqrt() + 0.5 * self.step
    }

    /// The part of the units that some counts make up together, whose noise has this variance
    /// beside that of one count (Fieller).
    ///
    /// - Theorem: cut-counts (docs/theorems.md)
    /// - Proves: the interval holds the quotient of two counts, but for the miss
    /// - Assumes: the noise of counts is independent, and that of each has the variance of its
    ///   worth (bundle)
    /// - Deviates: cut off at 0 and at 1; all of that where the units cannot be told from none
    /// - Checked by: `shares_of_cut_units_hold_as_often_as_they_say`
    fn share(&self, part: f64, variance: f64, miss: f64) -> CutShare {
        let of = self.get(CutCell::Of).unwrap_or(0.0);
        let one = Part { sensitivity: 1.0, step: self.step };
        let sum = Part { sensitivity: variance.sqrt(), step: self.step };
        let quotient = AverageOf { sum, count: one, centre: 0.0, low: 0.0, high: 1.0 };
        let price = self.worth;
        let look = AverageLook { asked: price, price, sum: part, count: of };
        let (low, high) = quotient.interval(look, self.factor(miss));
        let value = (of > self.half(miss)).then(|| (part / of).clamp(low, high));
        CutShare { value, low, high }
    }

    /// The part of the units that lose rows, at least: those in a bin, or those that lose something
    /// and no groups.
    fn by_rows_at_least(&self, miss: f64) -> f64 {
        if self.bins().is_empty() {
            return 0.0;
        }
        let units = self.get(CutCell::Units).unwrap_or(0.0);
        let others = match self.get(CutCell::Groups) {
            Some(groups) => self.share(units - groups, 2.0, miss / 2.0).low,
            None => self.share(units, 1.0, miss / 2.0).low,
        };
        self.beyond(0, miss / 2.0).max(others)
    }

    /// The part of the units that are in a bin from this one on, as far as bins are told from
    /// noise, all of them at once.
    fn beyond(&self, from: usize, miss: f64) -> f64 {
        let (bins, of) = (self.bins(), self.get(CutCell::Of).unwrap_or(0.0));
        let miss = miss / (1 + bins.len()) as f64;
        let seen =
            bins.iter().skip(from).map(|&value| self.count(value, miss).low.max(0.0)).sum::<f64>();
        seen / self.count(of, miss).high.max(1.0)
    }

    /// The least `max_rows`, of those that are bounds of bins, beyond which no more than a few
    /// units are seen to have rows.
    fn enough_rows(&self, max_rows: u32, miss: f64) -> u64 {
        let is_enough = |bin: &usize| self.beyond(bin + 1, miss) <= FEW;
        let bin = (0..BINS - 1).find(is_enough).unwrap_or(BINS - 1);
        u64::from(max_rows) << (bin + 1)
    }

    /// How many rows do not count at least, all bins at once. A bin of units with very many rows
    /// that is noise alone would tell of as many rows, so this is surer than intervals are.
    fn rows_lost(&self, max_rows: u32) -> Option<f64> {
        let bins = self.bins();
        let miss = (1.0 - self.confidence).min(MISSES_ROWS_LOST) / bins.len().max(1) as f64;
        let lost = (0..).zip(&bins).map(|(bin, &value)| {
            let each = f64::from(max_rows) * (2f64.powi(bin) - 1.0);
            self.count(value, miss).low.max(0.0).floor() * each
        });
        Some(lost.sum::<f64>()).filter(|&lost| lost > 0.0)
    }
}

impl CutVerdict {
    fn of(share: &CutShare) -> Self {
        if share.high <= FEW {
            Self::Few
        } else if share.low > FEW {
            Self::Many
        } else {
            Self::CannotTell
        }
    }
}

/// Between how many rows the units of a bin have.
fn ends(bin: usize, max_rows: u32) -> (u64, Option<u64>) {
    let above = u64::from(max_rows) << bin;
    (above, (bin + 1 < BINS).then(|| above * 2))
}

impl CutCounts {
    /// Whether one of the sentences is a warning.
    #[must_use]
    pub fn warns(&self) -> bool {
        let many = |share: &CutShare| share.low > FEW;
        self.verdict == Some(CutVerdict::Many) || self.unlisted_share.as_ref().is_some_and(many)
    }

    fn say(&self, plan: &Plan, unit: &str) -> Vec<String> {
        let mut notes = Vec::new();
        let between = |share: &CutShare| {
            let ends = format!("{} to {}", percent(share.low), percent(share.high));
            match share.value {
                Some(value) => format!("{} ({ends})", percent(value)),
                None => ends,
            }
        };
        let what = match (self.by_groups.is_some(), self.by_rows.is_empty()) {
            (true, false) => "groups or rows",
            (true, true) => "groups",
            (false, _) => "rows",
        };
        if let (Some(share), Some(verdict)) = (&self.share, self.verdict) {
            notes.push(match verdict {
                CutVerdict::Few => {
                    format!("at most {} of the units ({unit}) lose {what}", percent(share.high))
                }
                CutVerdict::CannotTell => format!(
                    "cannot tell how many of the units ({unit}) lose {what}: {} to {}",
                    percent(share.low),
                    percent(share.high)
                ),
                CutVerdict::Many => {
                    let mut said = format!(
                        "{} of the units ({unit}) lose {what}, which no interval holds",
                        between(share)
                    );
                    if let Some(rows) = self.rows_lost {
                        said += &format!("; at least {rows} rows do not count");
                    }
                    let mut raise = Vec::new();
                    if let Some(to) = self.raise_max_groups {
                        raise.push(format!("max_groups ({}) to {to}", plan.max_groups));
                    }
                    if let Some(to) = self.raise_max_rows {
                        raise.push(format!("max_rows ({}) to {to}", plan.max_rows));
                    }
                    format!("{said}: raise {}", raise.join(" and "))
                }
            });
        }
        if let Some(share) = self.unlisted_share.as_ref().filter(|share| share.low > FEW) {
            notes.push(format!(
                "{} of the units ({unit}) have a key that is not listed, whose rows are in no group",
                between(share)
            ));
        }
        notes
    }
}

/// A part as a percentage of two digits.
pub(crate) fn percent(part: f64) -> String {
    let (hundred, digits) = (part * 100.0, if part < 0.1 { 1 } else { 0 });
    let text = format!("{hundred:.digits$}");
    format!("{} %", text.strip_suffix(".0").unwrap_or(&text))
}
