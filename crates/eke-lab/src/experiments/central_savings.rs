//! What it saves to let every group of a question stop where it is good enough, and what honest
//! intervals cost.
//!
//! Questions of the kind `SELECT carrier, COUNT(*) FROM flights GROUP BY carrier` about flights out
//! of New York, where the privacy unit is an aircraft: counts within a relative error, or an
//! absolute one for groups so small that nothing relative is worth its price. Rows are bounded as
//! eke's SQL bounds them (contribution bounding): an aircraft keeps a limited number of groups, by
//! a hash of both, and counts for a limited number of rows in each. What a question costs is the
//! sum of the dearest groups that one aircraft can be in.
//!
//! Everything goes through one bundle and one account, as in a question; the ways differ in when a
//! group stops.

mod question;
mod reported;

use std::error::Error;
use std::num::NonZeroU32;

use eke_budget::purchase::GroupPrices;
use eke_budget::{Adjacency, Amount, L1, L2, Metric, PathId, Rho};
use eke_noise::path::{Column, Columns};
use eke_noise::stopping::{
    ConfidenceSequence, Ending, Estimate, GaussianRule, Look, Next, Rule, Steps,
};
use eke_noise::{Bundle, Confidence, Entropy, Exact, Goal, Schedule, Tolerance, Within};

use crate::{account, paid_groups};

pub(crate) use question::GroupCounts;
pub(crate) use reported::SAVINGS;

/// When groups stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Somebody who knows the counts pays for one look at each, which is no way at all: the least
    /// there can be.
    Oracle,
    /// Each group by the rule that is calibrated to its confidence.
    Calibrated,
    /// All groups go on until the last of them is good enough.
    Together,
    /// Each group by the rule of the accuracy-first paper.
    Heuristic,
    /// Each group by an interval that holds at all looks at once.
    Anytime,
}

/// What came of a question.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Found {
    /// What it cost.
    pub rho: f64,
    /// What a group cost, on average.
    pub each: f64,
    /// The share of groups whose answers are within the goal.
    pub within: f64,
}

/// Steps of the grid in one.
const GRID: u32 = 64;
/// The highest price of a group.
const MOST: &str = "8";
/// The price of the first look at a group, and how many times as dear each further one is.
const LOOKS: (&str, f64) = ("1e-7", 1.05);

impl Way {
    /// All of them.
    pub(crate) const ALL: [Self; 5] =
        [Self::Oracle, Self::Calibrated, Self::Together, Self::Heuristic, Self::Anytime];

    /// As it is written in tables.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Oracle => "an oracle, one look a group",
            Self::Calibrated => "eke: calibrated rule, group by group",
            Self::Together => "calibrated rule, all groups to the end",
            Self::Heuristic => "the paper's rule, group by group",
            Self::Anytime => "intervals for all looks, group by group",
        }
    }

    /// Answers a question within a tolerance, or its floor, at 95 %.
    ///
    /// # Errors
    /// It could not be paid for.
    pub(crate) fn answer<E: Entropy>(
        self,
        question: &GroupCounts,
        tolerance: f64,
        entropy: &mut E,
    ) -> Result<Found, Box<dyn Error>> {
        let steps = question.most_rows * GRID;
        let (l1, l2) = (L1::new(f64::from(steps))?, L2::new(f64::from(steps))?);
        let groups = u32::try_from(question.counts.len())?;
        let most_groups = NonZeroU32::new(question.most_groups).ok_or("no groups")?;
        let metric = Metric::Hamming(Adjacency::AddRemove);
        let mut prices = GroupPrices::<Rho>::new(groups, most_groups, metric);
        let columns = vec![Column { sensitivity: l1, share: 1 }];
        let mut bundle = Bundle::open(PathId::new([1; 32]), columns, groups)?;
        let counts = question.counts.iter().map(|&count| count * i64::from(GRID)).collect();
        let truth = Exact::new(Columns(vec![counts]), vec![l1]);
        let mut account = account();
        let stopper = self.stopper(question, tolerance, l2)?;
        let mut next: Vec<Option<Amount<Rho>>> = question
            .counts
            .iter()
            .map(|&count| Some(stopper.first(count).max(Amount::from_grains(1))))
            .collect();
        let mut estimates = vec![None; next.len()];
        let mut number = 0;
        while next.iter().any(Option::is_some) {
            if self == Self::Together {
                let furthest = next.iter().flatten().max().copied();
                next.fill(furthest);
            }
            number += 1;
            let points = (0..).zip(&next).filter_map(|(group, &to)| Some((group, to?)));
            let receipt = paid_groups(&mut account, &mut prices, bundle.id(), points)?;
            bundle.refine(&truth, receipt, entropy)?;
            for (group, (to, estimate)) in (0..).zip(next.iter_mut().zip(&mut estimates)) {
                let Some(asked) = *to else { continue };
                let (at, value) = bundle.nearest(group, 0, asked).ok_or("no point")?;
                let look = Look { number, asked, price: bundle.worth(group, 0, at), value };
                *to = match stopper.after(look) {
                    Next::Look(further) => Some(further),
                    Next::Stop(stopped) => {
                        *estimate = Some(stopped);
                        None
                    }
                };
            }
        }
        let close = question.counts.iter().zip(&estimates).filter(|(count, estimate)| {
            let truth = **count as f64;
            let value = estimate.map_or(f64::NAN, |estimate| estimate.value / f64::from(GRID));
            (value - truth).abs() <= (tolerance * truth).max(question.floor)
        });
        let within = close.count() as f64 / estimates.len() as f64;
        let spent = (0..groups).filter_map(|group| prices.group(group));
        let each = spent.map(|price| price.to_f64()).sum::<f64>() / f64::from(groups);
        Ok(Found { rho: prices.price().to_f64(), each, within })
    }

    fn stopper(
        self,
        question: &GroupCounts,
        tolerance: f64,
        sensitivity: L2,
    ) -> Result<Stopper, Box<dyn Error>> {
        let confidence = Confidence::new(0.95)?;
        let most: Amount<Rho> = MOST.parse()?;
        let good = Tolerance::new(tolerance)?;
        let schedule = Schedule::geometric(LOOKS.0.parse()?, LOOKS.1).ok_or("no looks")?;
        let floor = Steps::new(question.floor * f64::from(GRID))?;
        let goal = |within| Goal { within, confidence, floor: Some(floor), most };
        let per_price = 2.0 / (sensitivity.get() * sensitivity.get());
        Ok(match self {
            Self::Oracle => Stopper::Oracle {
                width: confidence.quantile(),
                tolerance,
                floor: floor.get(),
                per_price,
            },
            Self::Calibrated | Self::Together => Stopper::Rule(GaussianRule::new(
                goal(Within::Relative(good)),
                schedule,
                sensitivity,
            )),
            Self::Heuristic => Stopper::Rule(GaussianRule::new(
                goal(Within::Heuristic(good)),
                schedule,
                sensitivity,
            )),
            Self::Anytime => {
                // Tightest where a count in the middle between the smallest and the largest stops.
                let middle = question.middle() * f64::from(GRID);
                let precision = (3.0 / (tolerance * middle).max(floor.get())).powi(2);
                let sequence = ConfidenceSequence::tightest_at(precision, confidence);
                Stopper::Anytime {
                    sequence,
                    schedule,
                    most,
                    tolerance,
                    floor: floor.get(),
                    per_price,
                }
            }
        })
    }
}

/// When a group looks again.
enum Stopper {
    Rule(GaussianRule),
    Oracle {
        width: f64,
        tolerance: f64,
        floor: f64,
        per_price: f64,
    },
    Anytime {
        sequence: ConfidenceSequence,
        schedule: Schedule<Rho>,
        most: Amount<Rho>,
        tolerance: f64,
        floor: f64,
        per_price: f64,
    },
}

impl Stopper {
    fn first(&self, count: i64) -> Amount<Rho> {
        match self {
            Self::Rule(rule) => rule.first(),
            Self::Anytime { schedule, .. } => schedule.first(),
            Self::Oracle { width, tolerance, floor, per_price } => {
                let good = (tolerance * count as f64 * f64::from(GRID)).max(*floor);
                Amount::ceil((width / good).powi(2) / per_price).unwrap_or(Amount::MAX)
            }
        }
    }

    fn after(&self, look: Look<Rho>) -> Next<Rho> {
        let value = look.value.get() as f64;
        let stop = |half: f64| {
            let (low, high) = (value - half, value + half);
            Next::Stop(Estimate { value, low, high, ending: Ending::Met })
        };
        match self {
            Self::Rule(rule) => rule.after(look),
            Self::Oracle { floor, .. } => stop(*floor),
            Self::Anytime { sequence, schedule, most, tolerance, floor, per_price } => {
                let half = sequence.half_width(look.price.to_f64() * per_price);
                // The truth is at least this far from zero.
                let good = tolerance * (value.abs() - half);
                if half <= good.max(*floor) || look.asked >= *most {
                    stop(half)
                } else {
                    Next::Look(schedule.after(look.asked, *most))
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eke_testkit::Seeded;

    fn question() -> GroupCounts {
        let counts = vec![40_000, 20_000, 9000, 3000];
        GroupCounts { name: "made-up", counts, most_groups: 2, most_rows: 10, floor: 100.0 }
    }

    /// 100 runs, seed 7. Prices are in the order that they must be in, and the calibrated rule
    /// keeps its word, up to six standard errors.
    #[test]
    fn ways_are_ordered_and_answers_are_within_their_goals() {
        let mut seeded = Seeded::new(7);
        let mut mean = |way: Way| {
            let runs: Vec<Found> =
                (0..100).map(|_| way.answer(&question(), 0.1, &mut seeded).unwrap()).collect();
            let mean = |of: fn(&Found) -> f64| runs.iter().map(of).sum::<f64>() / 100.0;
            (mean(|found| found.rho), mean(|found| found.within))
        };
        let found = Way::ALL.map(&mut mean);
        let [oracle, ours, together, paper, anytime] = found;
        assert!(oracle.0 < ours.0 && ours.0 < paper.0 && 1.5 * paper.0 < anytime.0, "{found:?}");
        assert!(ours.0 < 1.15 * oracle.0 && together.0 > 1.5 * ours.0, "{found:?}");
        let error = 6.0 * (0.05 * 0.95 / 400.0f64).sqrt();
        assert!(ours.1 > 0.95 - error && anytime.1 > 0.98, "{found:?}");
    }
}
