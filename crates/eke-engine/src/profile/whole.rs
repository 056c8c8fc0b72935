//! What a profile says of the bounds of a question: of the whole dataset, and for nothing.
//!
//! Cut counts cost a small part of a question, and beside a cheap one they are too noisy to tell
//! anything. A profile that the asker has paid for says how many units of the whole dataset have
//! more rows than may count, and more groups. Everything here is made of what was released
//! (post-processing) and of the plan; what the question leaves out by WHERE is in it too.

use eke_noise::release::HistogramPrice;
use eke_sql::{Expr, Plan};
use serde::{Deserialize, Serialize};

use crate::ask::cut::CutShare;
use crate::ask::keys::public_group_count;
use crate::profile::layout::{GROUP_BINS, ROW_BINS};
use crate::profile::shape::SeenProfile;

/// A share of units that is few: below it there is no warning.
const FEW: f64 = 0.03;
/// Two counts hold at 97.5 % each, so both do at 95 %.
const BOTH: f64 = 2.241_402_727_604_947_3;

/// How many units of the whole dataset lose something to the bounds of a question, from a profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WholeDataset {
    /// The dataset.
    pub dataset: String,
    /// Those with more rows than may count in all groups together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<Beyond>,
    /// Those in more groups than count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<Beyond>,
    /// The same as sentences.
    pub notes: Vec<String>,
}

/// Units that have more of something than a bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Beyond {
    /// The bound.
    pub more_than: u64,
    /// What part of all units they are, at 95 %.
    pub share: CutShare,
    /// What the policy's bound could be raised to, where they are more than a few.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raise_to: Option<u64>,
}

impl WholeDataset {
    /// Whether one of the sentences is a warning.
    #[must_use]
    pub fn warns(&self) -> bool {
        [&self.rows, &self.groups].into_iter().flatten().any(Beyond::is_many)
    }

    /// What a profile says of a plan; none if that is nothing, or the plan reads more than the rows
    /// of the one dataset.
    pub(crate) fn of(seen: &SeenProfile, plan: &Plan, unit: &str) -> Option<Self> {
        let SeenProfile { plan: profile, values, cuts, .. } = seen;
        if plan.rows.is_some() || plan.unit_column.is_empty() {
            return None;
        }
        let releases = [profile.values(), profile.cuts(&cuts.chosen)];
        let [noise, cut_noise] =
            releases.map(|it| it.histograms.iter().map(HistogramPrice::deviation).collect());
        let (noise, cut_noise): (Vec<f64>, Vec<f64>) = (noise, cut_noise);
        let units = Noisy { value: *cuts.cells.first()? as f64, deviation: *cut_noise.first()? };
        let listed = public_group_count(plan).map(|all| all as u64);
        let groups = match plan.keys.is_empty() {
            true => 1,
            false => listed.map_or(plan.max_groups.into(), |all| all.min(plan.max_groups.into())),
        };
        let counts = (u64::from(plan.max_rows) * groups.max(1))
            .min(plan.max_rows_in_all.map_or(u64::MAX, u64::from));
        let (cells, deviation) = (values.cells.get(..ROW_BINS)?, *noise.first()?);
        let bins = Bins { cells, deviation, units, proposed: cuts.chosen.row_bin };
        let rows = crate::ask::cut::counts_rows(plan).then(|| bins.beyond(counts)).flatten();
        let rows = rows.map(|beyond| Beyond {
            raise_to: beyond.raise_to.map(|to| {
                to.div_ceil(groups.max(1)).max(u64::from(plan.max_rows).saturating_add(1))
            }),
            ..beyond
        });
        let groups = match &plan.keys[..] {
            [key] if listed.is_none_or(|all| all > plan.max_groups.into()) => {
                let is_key = |name: &String| key.expr == Expr::Column(name.clone());
                profile.layout.keys.iter().position(is_key).and_then(|place| {
                    let start = ROW_BINS + place * GROUP_BINS;
                    let cells = values.cells.get(start..start + GROUP_BINS)?;
                    let (deviation, proposed) =
                        (*noise.get(1 + place)?, *cuts.chosen.group_bins.get(place)?);
                    let bins = Bins { cells, deviation, units, proposed };
                    bins.beyond(plan.max_groups.into())
                })
            }
            _ => None,
        };
        let groups = groups.map(|beyond| {
            let most = listed.unwrap_or(u64::MAX);
            Beyond { raise_to: beyond.raise_to.map(|to| to.min(most)), ..beyond }
        });
        let mut whole = Self { dataset: plan.dataset.clone(), rows, groups, notes: Vec::new() };
        whole.notes = whole.say(plan, unit);
        (!whole.notes.is_empty()).then_some(whole)
    }

    fn say(&self, plan: &Plan, unit: &str) -> Vec<String> {
        let of = |beyond: &Beyond, what: &str, bound: &str, is: u32| {
            let Beyond { more_than, share, raise_to } = beyond;
            let [low, high] = [share.low, share.high].map(crate::ask::cut::shown::percent);
            let of = format!("of all units ({unit}) of {}, whatever WHERE says,", self.dataset);
            if share.high <= FEW {
                return Some(format!("{of} at most {high} have more than {more_than} {what}"));
            }
            let to = raise_to.map_or(String::new(), |to| format!(": raise {bound} ({is}) to {to}"));
            beyond.is_many().then(|| {
                format!(
                    "{of} {low} to {high} have more than {more_than} {what}, which is all that \
                     counts{to}"
                )
            })
        };
        let rows = self.rows.as_ref();
        let rows = rows.and_then(|rows| of(rows, "rows", "max_rows", plan.max_rows));
        let groups = self.groups.as_ref();
        let groups = groups.and_then(|groups| of(groups, "groups", "max_groups", plan.max_groups));
        rows.into_iter().chain(groups).collect()
    }
}

impl Beyond {
    fn is_many(&self) -> bool {
        self.share.low > FEW
    }
}

#[derive(Clone, Copy)]
struct Noisy {
    value: f64,
    deviation: f64,
}

/// Units by how many they have of something: bin j has those above 2^(j-1) and up to 2^j.
struct Bins<'a> {
    cells: &'a [i64],
    deviation: f64,
    units: Noisy,
    /// The bin whose end the profile proposes as a bound.
    proposed: usize,
}

impl Bins<'_> {
    /// The units beyond a bound; none if nothing can be said.
    ///
    /// - Theorem: gaussian-release (docs/theorems.md)
    /// - Proves: the interval holds the share but for 5 %: it is made of the ends of intervals of
    ///   two counts at 97.5 % each
    /// - Assumes: the bound does not depend on the noise of the bins: it is in the policy or the
    ///   question before that is seen
    /// - Deviates: a policy whose bounds were chosen by this profile depends on its noise; the bound
    ///   to raise to is one that was seen, and nothing is said of it
    /// - Checked by: `a_profile_tells_what_is_beyond_bounds`
    fn beyond(&self, bound: u64) -> Option<Beyond> {
        let least = self.units.value - BOTH * self.units.deviation;
        let most = self.units.value + BOTH * self.units.deviation;
        if least <= 0.0 {
            return None;
        }
        // Bins that lie beyond it, and those that may.
        let end = |bin: usize| 1u64 << bin.min(62);
        let surely = (1..self.cells.len()).find(|&bin| end(bin - 1) >= bound);
        let maybe = (0..self.cells.len()).find(|&bin| end(bin) > bound);
        let low = surely.map_or(0.0, |bin| self.from(bin).at_least() / most);
        let high = maybe.map_or(1.0, |bin| self.from(bin).at_most() / least);
        let [low, high] = [low, high].map(|share| share.clamp(0.0, 1.0));
        let share = CutShare { value: None, low, high: high.max(low) };
        let seen = |bin: usize| self.from(bin).value / self.units.value <= FEW;
        // Beyond what is proposed, nobody shows above the noise.
        let enough = (0..=self.proposed).find(|&bin| end(bin) > bound && seen(bin + 1));
        let enough = end(enough.unwrap_or(self.proposed));
        let raise_to = Some(enough).filter(|&to| low > FEW && to > bound);
        Some(Beyond { more_than: bound, share, raise_to })
    }

    /// The units in this bin and beyond: added up, or all units but those before, whichever has the
    /// smaller noise.
    fn from(&self, bin: usize) -> Noisy {
        let (before, rest) = self.cells.split_at(bin.min(self.cells.len()));
        let sum = |cells: &[i64]| cells.iter().sum::<i64>() as f64;
        let variance = |cells: &[i64]| cells.len() as f64 * self.deviation.powi(2);
        let others = variance(before) + self.units.deviation.powi(2);
        if others < variance(rest) {
            return Noisy { value: self.units.value - sum(before), deviation: others.sqrt() };
        }
        Noisy { value: sum(rest), deviation: variance(rest).sqrt() }
    }
}

impl Noisy {
    fn at_least(self) -> f64 {
        (self.value - BOTH * self.deviation - 1.0).max(0.0)
    }

    fn at_most(self) -> f64 {
        (self.value + BOTH * self.deviation + 1.0).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 700 units of 40 rows and 300 of 200, with noise of a deviation of 5.
    #[test]
    fn a_profile_tells_what_is_beyond_bounds() {
        let mut cells = [3, -4, 5, -2, 1, -3, 700, 2, 300, 0, -5, 4].to_vec();
        cells.resize(ROW_BINS, 0);
        let units = Noisy { value: 1_002.0, deviation: 4.0 };
        let bins = Bins { cells: &cells, deviation: 5.0, units, proposed: 10 };
        let beyond = |bound: u64| bins.beyond(bound).unwrap();
        let rows = beyond(50);
        // Those of 33 to 64 rows may be beyond 50, and those of more are for certain.
        assert!(rows.share.low > 0.24 && rows.share.low < 0.3, "{rows:?}");
        assert!((0.99..=1.0).contains(&rows.share.high) && rows.is_many(), "{rows:?}");
        assert_eq!((rows.more_than, rows.raise_to), (50, Some(256)));
        let fits = beyond(64).share;
        assert!(fits.low < 0.3 && fits.high > 0.3 && fits.high < 0.36, "{fits:?}");
        let none = beyond(1 << 12);
        assert!(!none.is_many() && none.raise_to.is_none() && none.share.low < 0.01, "{none:?}");
        // Where there may be no units nothing is said.
        let nobody = Bins { units: Noisy { value: 5.0, deviation: 4.0 }, ..bins };
        assert_eq!(nobody.beyond(50), None);
    }
}
