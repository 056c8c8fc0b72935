//! What a sum or an average is read from: columns of a question's paths, and what it is between
//! given what was seen of them.

use eke_budget::{Amount, Rho};
use eke_noise::Bundle;
use eke_noise::stopping::{AverageLook, AverageOf, Part, deviations};
use eke_sql::{Measure, Plan, Summand};

use crate::ask::answer::Evidence;

/// What a measure that is not derived is read from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Read {
    /// A column: its step, and what a unit can change it by. There are no fewer than none of what
    /// is counted.
    Sum { column: usize, step: f64, unit: f64, is_count: bool },
    /// Two columns, with their steps.
    Average { sum: (usize, f64), count: (usize, f64), of: AverageOf },
}

impl Read {
    /// What a measure is read from; none if it is derived.
    pub(crate) fn of(measure: &Measure, plan: &Plan) -> Option<Self> {
        match *measure {
            Measure::Sum(column) => {
                let sum = &plan.sums[column];
                let (step, is_count) = (sum.step(), counts(sum));
                let unit = steps(sum.sensitivity(plan.max_rows)) * step;
                Some(Self::Sum { column, step, unit, is_count })
            }
            Measure::Average { sum, count } => {
                let of = average_of(plan, sum, count);
                let (sum, count) = ((sum, of.sum.step), (count, of.count.step));
                Some(Self::Average { sum, count, of })
            }
            Measure::Derived { .. } => None,
        }
    }

    /// The absolute error that is good enough whatever the relative one, where none is given: what
    /// a unit can change a sum by, a thousandth of what an average can be.
    pub(crate) fn floor(&self) -> f64 {
        match self {
            Self::Sum { unit, .. } => *unit,
            Self::Average { of, .. } => (of.high - of.low) / 1000.0,
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
            Self::Sum { column, step, .. } => {
                let (worth, sum) = see(column, step)?;
                Some(Evidence { worth, sum, count: None, gamma })
            }
            Self::Average { sum, count, .. } => {
                let ((price, sum), (other, count)) = (see(sum.0, sum.1)?, see(count.0, count.1)?);
                Some(Evidence { worth: price.min(other), sum, count: Some(count), gamma })
            }
        }
    }

    /// What it is, as far as was seen.
    pub(crate) fn value(&self, evidence: &Evidence, [low, high]: [f64; 2]) -> f64 {
        match (self, evidence.count) {
            (Self::Sum { is_count: true, .. }, _) => evidence.sum.max(0.0),
            (Self::Sum { .. }, _) => evidence.sum,
            (Self::Average { of, .. }, Some(count)) if count > 0.0 => {
                (of.centre + evidence.sum / count).clamp(low, high)
            }
            (Self::Average { .. }, _) => f64::midpoint(low, high),
        }
    }

    /// What it is between, but for a probability of a miss, given what it was read from.
    pub(crate) fn interval(&self, evidence: &Evidence, miss: f64) -> Option<[f64; 2]> {
        let Evidence { worth: price, sum, count, gamma } = *evidence;
        let factor = deviations(miss, gamma.map(|gamma| price.to_f64() / gamma));
        let (low, high) = match self {
            Self::Sum { step, unit, is_count, .. } => {
                let half = factor * unit / (2.0 * price.to_f64()).sqrt() + 0.5 * step;
                let least = if *is_count { 0.0 } else { f64::NEG_INFINITY };
                ((sum - half).max(least), (sum + half).max(least))
            }
            Self::Average { of, .. } => {
                of.interval(AverageLook { asked: price, price, sum, count: count? }, factor)
            }
        };
        Some([low, high])
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
        Summand::Rows | Summand::Present(_) | Summand::Units => (0, 1, 0),
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
}
