//! What a sum or an average is read from: columns of a question's paths, and what it is between
//! given what was seen of them.

use eke_budget::{Amount, Rho};
use eke_noise::Bundle;
use eke_noise::stopping::{AverageLook, AverageOf, Part, deviations};
use eke_sql::{Measure, Plan, Summand};

use crate::ask::shown::answer::Evidence;

/// What a measure that is not derived is read from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Read {
    /// A column: its step, and what a unit can change it by. There are no fewer than none of what
    /// is counted.
    Sum { column: usize, step: f64, unit: f64, is_count: bool },
    /// The same column of all groups together. At one group it is read as that group's. Evidence of
    /// their sum has their number as its count, below zero where all of them stand at one price.
    Total { column: usize, step: f64, unit: f64, is_count: bool },
    /// Two columns, with their steps.
    Average { sum: (usize, f64), count: (usize, f64), of: AverageOf },
}

impl Read {
    /// What a measure is read from; none if it is derived, or seen only beside others.
    pub(crate) fn of(measure: &Measure, plan: &Plan) -> Option<Self> {
        match *measure {
            Measure::Sum(column) => {
                let sum = &plan.sums[column];
                let (step, is_count) = (sum.step(), counts(sum));
                let unit = steps(sum.sensitivity(plan.max_rows)) * step;
                Some(Self::Sum { column, step, unit, is_count })
            }
            Measure::Total(column) => {
                let Some(Self::Sum { column, step, unit, is_count }) =
                    Self::of(&Measure::Sum(column), plan)
                else {
                    return None;
                };
                Some(Self::Total { column, step, unit, is_count })
            }
            Measure::Average { sum, count } => {
                let of = average_of(plan, sum, count);
                let (sum, count) = ((sum, of.sum.step), (count, of.count.step));
                Some(Self::Average { sum, count, of })
            }
            Measure::Derived { .. } | Measure::Beside(_) | Measure::Quantile { .. } => None,
        }
    }

    /// The absolute error that is good enough whatever the relative one, where none is given: what
    /// a unit can change a sum by, a thousandth of what an average can be.
    pub(crate) fn floor(&self) -> f64 {
        match self {
            Self::Sum { unit, .. } | Self::Total { unit, .. } => *unit,
            Self::Average { of, .. } => (of.high - of.low) / 1000.0,
        }
    }

    /// The same, of one group.
    pub(crate) fn of_group(self) -> Self {
        match self {
            Self::Total { column, step, unit, is_count } => {
                Self::Sum { column, step, unit, is_count }
            }
            other => other,
        }
    }

    /// What is seen of it at a point of a group; none if nothing is.
    pub(crate) fn at(
        &self,
        bundle: &Bundle<Rho>,
        group: u32,
        at: Amount<Rho>,
        gamma: Option<f64>,
    ) -> Option<Evidence> {
        let see = |column: usize, step: f64| {
            let (_, value) = bundle.nearest(group, column, at)?;
            let worth = bundle.worth(group, column, at);
            (!worth.is_zero()).then(|| (worth, double(value.get()) * step))
        };
        match *self {
            Self::Sum { column, step, .. } | Self::Total { column, step, .. } => {
                let (worth, sum) = see(column, step)?;
                Some(Evidence { worth, sum, count: None, gamma })
            }
            Self::Average { sum, count, .. } => {
                let ((price, sum), (other, count)) = (see(sum.0, sum.1)?, see(count.0, count.1)?);
                Some(Evidence { worth: price.min(other), sum, count: Some(count), gamma })
            }
        }
    }

    /// What it is, as far as was seen. A count is what was drawn, also below zero: cut off it would
    /// be too large on average, and shares of a total would not add up to one.
    pub(crate) fn value(&self, evidence: &Evidence, [low, high]: [f64; 2]) -> f64 {
        match (self, evidence.count) {
            (Self::Sum { .. } | Self::Total { .. }, _) => evidence.sum,
            (Self::Average { of, .. }, Some(count)) if count > 0.0 => {
                (of.centre + evidence.sum / count).clamp(low, high)
            }
            (Self::Average { .. }, _) => f64::midpoint(low, high),
        }
    }

    /// What it is between, but for a probability of a miss, given what it was read from. That of a
    /// count reaches below zero too: it is around what was drawn.
    pub(crate) fn interval(&self, evidence: &Evidence, miss: f64) -> Option<[f64; 2]> {
        let Evidence { worth: price, sum, count, gamma } = *evidence;
        let factor = deviations(miss, gamma.map(|gamma| price.to_f64() / gamma));
        let (low, high) = match self {
            Self::Sum { step, unit, .. } => {
                let half = factor * unit / (2.0 * price.to_f64()).sqrt() + 0.5 * step;
                (sum - half, sum + half)
            }
            Self::Total { step, unit, .. } => {
                let half = total_half(evidence, miss, *unit) + 0.5 * step * groups(evidence);
                (sum - half, sum + half)
            }
            Self::Average { of, .. } => {
                of.interval(AverageLook { asked: price, price, sum, count: count? }, factor)
            }
        };
        Some([low, high])
    }
}

/// What the sum of the same column of several groups is read from; none if one of them was not read.
pub(crate) fn total(groups: impl Iterator<Item = Option<Evidence>>) -> Option<Evidence> {
    let mut all: Option<Evidence> = None;
    let (mut count, mut is_one_price) = (0.0, true);
    for one in groups {
        let one = one?;
        count += 1.0;
        all = Some(all.map_or(one, |all| {
            is_one_price &= all.worth == one.worth;
            Evidence {
                worth: all.worth.min(one.worth),
                sum: all.sum + one.sum,
                count: None,
                gamma: all.gamma.or(one.gamma),
            }
        }));
    }
    let count = Some(if is_one_price { -count } else { count });
    all.map(|all| Evidence { count, ..all })
}

/// How many groups a total is of.
pub(crate) fn groups(total: &Evidence) -> f64 {
    total.count.unwrap_or(1.0).abs().max(1.0)
}

/// Whether the noise of a total is that of one Gaussian path: all groups stand at one price, or
/// each was looked at once, as planned in advance.
pub(crate) fn is_one_path(total: &Evidence) -> bool {
    total.gamma.is_none() || total.count.is_none_or(|count| count < 0.0)
}

/// How far the noise of a total is off at most, but for a probability of a miss.
///
/// - Theorem: total-of-groups (docs/theorems.md)
/// - Proves: where each of n groups has one look, planned in advance, at this worth or a higher one,
///   the noise of their sum is Gaussian with at most n times the variance of one. Where all of them
///   stand at one worth, whenever that is, their sum is a Gaussian path of its own, and the
///   confidence sequence of that path holds. Where groups have stopped by what was seen, each at
///   its own clock, the sum of their noise at those clocks has no law that is known: then every one
///   of n confidence sequences holds at once with a miss of a part in n each, and the sum of their
///   widths bounds the sum of their noise
/// - Assumes: the noise of groups is independent (bundle); `worth` is the least of them; a group that
///   was followed by a rule has a gamma, and then so has the total
/// - Deviates: of several worths the least stands for all, which is wider
/// - Checked by: `totals_of_groups_that_stopped_by_what_they_saw_hold`,
///   `shares_of_groups_that_go_together_hold`
fn total_half(evidence: &Evidence, miss: f64, unit: f64) -> f64 {
    let (groups, price) = (groups(evidence), evidence.worth.to_f64());
    let one = unit / (2.0 * price).sqrt();
    let over = evidence.gamma.map(|gamma| price / gamma);
    if is_one_path(evidence) {
        deviations(miss, over) * groups.sqrt() * one
    } else {
        deviations(miss / groups, over) * groups * one
    }
}

/// Whether a sum counts something, so that there are no fewer than none.
pub(crate) fn counts(sum: &eke_sql::Sum) -> bool {
    !matches!(sum.summand, Summand::Value { .. })
}

/// What an average is made of.
pub(crate) fn average_of(plan: &Plan, sum: usize, count: usize) -> AverageOf {
    let part = |index: usize| {
        let sum = &plan.sums[index];
        Part { sensitivity: steps(sum.sensitivity(plan.max_rows)) * sum.step(), step: sum.step() }
    };
    let step = plan.sums[sum].step();
    let (low, high, centre) = match plan.sums[sum].summand {
        Summand::Value { low, high, centre, .. } => (low, high, centre),
        Summand::Rows
        | Summand::Present(_)
        | Summand::Units
        | Summand::Distinct { .. }
        | Summand::Ranks { .. } => (0, 1, 0),
    };
    let length = |steps: i64| double(steps) * step;
    let (low, high, centre) = (length(low), length(high), length(centre));
    AverageOf { sum: part(sum), count: part(count), centre, low, high }
}

pub(crate) fn steps(sensitivity: u64) -> f64 {
    sensitivity as f64
}

pub(crate) fn double(value: i64) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use eke_budget::Adjacency;
    use eke_sql::{Protection, Table, plan};

    /// At looks that depended on what was seen, it is the confidence sequence that holds for a
    /// chosen row, and not an ordinary interval.
    #[test]
    fn intervals_of_chosen_rows_know_how_their_looks_were_planned() {
        let protection = Protection::Private {
            unit: "person".to_owned(),
            unit_column: "who".to_owned(),
            adjacency: Adjacency::AddRemove,
            max_groups: 1,
            max_rows: 1,
            max_values: None,
            max_rows_in_all: None,
        };
        let table = Table { name: "t".to_owned(), columns: Vec::new(), protection };
        let query = plan("SELECT COUNT(*) FROM t", &[table]).unwrap();
        let (worth, miss) = (0.01f64, 0.005);
        for gamma in [None, Some(1e-4), Some(0.3)] {
            let evidence =
                Evidence { worth: Amount::ceil(worth).unwrap(), sum: 1000.0, count: None, gamma };
            let read = Read::of(&query.measures[0], &query.plan).unwrap();
            let [low, high] = read.interval(&evidence, miss).unwrap();
            let off = match gamma {
                None => deviations(miss, None),
                Some(gamma) => {
                    let over = worth / gamma;
                    ((1.0 + 1.0 / over) * (over.ln_1p() - 2.0 * miss.ln())).sqrt()
                }
            };
            let expected = 2.0 * off / (2.0 * worth).sqrt() + query.plan.sums[0].step();
            assert!((high - low - expected).abs() < 1e-6, "{gamma:?}: {low} {high} {expected}");
        }
    }
    /// Normal deviates, by dice.
    fn deviate(dice: &mut eke_testkit::Dice) -> f64 {
        let uniform =
            |dice: &mut eke_testkit::Dice| (dice.below(1 << 52) as f64 + 0.5) / 2f64.powi(52);
        let (one, other) = (uniform(dice), uniform(dice));
        (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * other).cos()
    }

    /// Statistical (3,000 runs; 1e-7; 5 % and 5.3 deviations; two controls that must be rejected:
    /// the noise of the sum taken for Gaussian at stops that depend on it, and the noise of one
    /// group in place of that of all).
    #[test]
    fn totals_of_groups_that_stopped_by_what_they_saw_hold() {
        const RUNS: u32 = 3_000;
        const GROUPS: usize = 9;
        let miss = 0.05;
        let confidence = eke_noise::Confidence::new(1.0 - miss).unwrap();
        let gamma =
            Some(eke_noise::stopping::ConfidenceSequence::tightest_at(1e-3, confidence).gamma());
        let mut dice = eke_testkit::Dice::new(93);
        let (mut stopped, mut naive, mut planned, mut one) = (0u32, 0u32, 0u32, 0u32);
        let evidence = |worth: f64, sum: f64, gamma: Option<f64>| {
            Some(Evidence { worth: Amount::ceil(worth).unwrap(), sum, count: None, gamma })
        };
        for _ in 0..RUNS {
            let (mut at_stops, mut variance, mut at_one_look) = (Vec::new(), 0.0, Vec::new());
            for _ in 0..GROUPS {
                // The noise of a group by its price, at looks that grow; it stops where its noise
                // is high, or at the end.
                let (mut price, mut walk, mut is_open) = (1e-3, 0.0, true);
                let mut before = 0.0f64;
                for look in 0..40 {
                    walk += (price - before).sqrt() * deviate(&mut dice);
                    before = price;
                    let noise = walk / (price * 2f64.sqrt());
                    if look == 20 {
                        at_one_look.push(evidence(price, noise, None));
                    }
                    if is_open && (walk / price.sqrt() > 1.5 || look == 39) {
                        at_stops.push(evidence(price, noise, gamma));
                        variance += 0.5 / price;
                        is_open = false;
                    }
                    price *= 1.2;
                }
            }
            let all = total(at_stops.into_iter()).unwrap();
            stopped += u32::from(all.sum.abs() > total_half(&all, miss, 1.0));
            naive += u32::from(all.sum.abs() > deviations(miss, None) * variance.sqrt());
            let all = total(at_one_look.into_iter()).unwrap();
            assert!((groups(&all) - GROUPS as f64).abs() < 1e-9);
            planned += u32::from(all.sum.abs() > total_half(&all, miss, 1.0));
            let alone = Evidence { count: Some(1.0), ..all };
            one += u32::from(all.sum.abs() > total_half(&alone, miss, 1.0));
        }
        let most = f64::from(RUNS) * miss + 5.3 * (f64::from(RUNS) * miss * (1.0 - miss)).sqrt();
        let is_rejected = |misses: u32| f64::from(misses) > most;
        assert!(!is_rejected(stopped) && !is_rejected(planned), "{stopped} {planned}");
        assert!(is_rejected(naive) && is_rejected(one), "{naive} {one}");
        // One look that was planned is as wide as it must be and no wider.
        assert!(planned > RUNS / 33, "{planned}");
        // Groups at one price are one path; at different prices their widths add up.
        let half = |one: f64, other: f64| {
            let both = [evidence(one, 0.0, gamma), evidence(other, 0.0, gamma)];
            total_half(&total(both.into_iter()).unwrap(), miss, 1.0) * (2.0 * one).sqrt()
        };
        let over = gamma.map(|gamma| 1e-3 / gamma);
        assert!((half(1e-3, 1e-3) - deviations(miss, over) * 2f64.sqrt()).abs() < 1e-6);
        assert!((half(1e-3, 2e-3) - deviations(miss / 2.0, over) * 2.0).abs() < 1e-6);
    }
}
