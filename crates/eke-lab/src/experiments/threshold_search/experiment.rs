//! The experiment: all noises, all mechanisms, many searches of each.

use std::collections::BTreeMap;
use std::error::Error;

use eke_budget::Epsilon;
use eke_select::Change;
use eke_testkit::Seeded;

use super::accounting::{Accounting, Bill};
use super::mechanism::SearchMechanism;
use super::stream::Stream;
use crate::account;
use crate::frame::context::Context;
use crate::frame::summary::Summary;

/// What to try.
#[derive(Clone, Debug)]
pub(crate) struct SearchPlan {
    /// The lines, as shares of the largest answer.
    pub thresholds: Vec<f64>,
    /// The deviations of the line that the paper tries.
    pub printed: Vec<f64>,
    /// Those from which the best is chosen, next to the printed ones.
    pub wide: Vec<f64>,
    /// The budgets.
    pub budgets: Vec<f64>,
    /// Searches of each.
    pub runs: u32,
    /// What decides all draws.
    pub seed: u64,
}

impl SearchPlan {
    /// The bikes' lines and noises; the figures that have other lines than 0.575 do not say which.
    pub(crate) fn bikes(runs: u32) -> Self {
        let printed = vec![0.09, 0.10, 0.11, 0.12, 0.13, 0.14, 0.15];
        Self::around(vec![0.5, 0.575, 0.8], printed, runs)
    }

    /// The households' lines and noises, of which only 0.33 is said.
    pub(crate) fn london(runs: u32) -> Self {
        let printed = vec![0.04, 0.06, 0.08, 0.10, 0.12, 0.14, 0.16];
        Self::around(vec![0.28, 0.33, 0.4], printed, runs)
    }

    fn around(thresholds: Vec<f64>, printed: Vec<f64>, runs: u32) -> Self {
        let wide = (0..37).map(|k| 0.0025 * 2f64.powf(f64::from(k) / 4.0)).collect();
        let budgets = (0..15).map(|k| 0.125 * 2f64.powf(f64::from(k) / 2.0)).collect();
        Self { thresholds, printed, wide, budgets, runs, seed: 1 }
    }

    /// The budgets that a table has room for: every other one.
    pub(crate) fn shown(&self) -> impl Iterator<Item = f64> {
        self.budgets.iter().copied().skip(2).step_by(2)
    }

    fn mechanisms(&self) -> Vec<SearchMechanism> {
        let wide = self.wide.iter().filter(|wide| !self.printed.contains(wide));
        self.printed
            .iter()
            .chain(wide)
            .copied()
            .flat_map(|deviation| {
                let narrow =
                    [1.0, 2.0, 3.0].map(|reach| SearchMechanism::Narrow { deviation, reach });
                let capped = [1, 4, 16].map(|steps| SearchMechanism::Capped { deviation, steps });
                [
                    SearchMechanism::Line { deviation },
                    SearchMechanism::Laplace { deviation },
                    SearchMechanism::Every { deviation },
                ]
                .into_iter()
                .chain(narrow)
                .chain(capped)
            })
            .collect()
    }
}

/// Searches summed up, and what a tenth of them is below and above.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Band {
    /// Their mean, with its interval and the quartiles.
    pub summary: Summary,
    /// A tenth of the searches is below.
    pub low: f64,
    /// A tenth is above.
    pub high: f64,
}

impl Band {
    /// The mean.
    pub(crate) fn mean(&self) -> f64 {
        self.summary.mean
    }

    fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let at = |tenths: usize| {
            let last = values.len().saturating_sub(1);
            values.get(last * tenths / 10).copied().unwrap_or(f64::NAN)
        };
        Self { low: at(1), high: at(9), summary: Summary::of(values) }
    }
}

/// Searches through all days with the paper's noise, by one accounting.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spread {
    /// By which accounting.
    pub accounting: Accounting,
    /// The noise of the line.
    pub deviation: f64,
    /// What all days cost.
    pub epsilon: Band,
    /// How good the verdicts are.
    pub f1: Band,
}

/// The best that an accounting can do within a budget.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Best {
    /// By which accounting.
    pub accounting: Accounting,
    /// The budget.
    pub budget: f64,
    /// How good the verdicts are, days that were not answered counting as not above.
    pub f1: Band,
    /// The share of days that were answered, on average.
    pub answered: f64,
}

/// All about one line.
#[derive(Clone, Debug)]
pub(crate) struct AtThreshold {
    /// The line, as a share of the largest answer.
    pub threshold: f64,
    /// Days that are above it.
    pub above: usize,
    /// With the paper's noise.
    pub spreads: Vec<Spread>,
    /// With the best noise for each budget.
    pub best: Vec<Best>,
}

/// All about one stream.
#[derive(Clone, Debug)]
pub(crate) struct Results {
    /// Its name.
    pub stream: &'static str,
    /// What an answer is.
    pub about: &'static str,
    /// Days.
    pub days: usize,
    /// People.
    pub people: u32,
    /// The delta of those that need one.
    pub delta: f64,
    /// Searches of each.
    pub runs: u32,
    /// The budgets.
    pub budgets: Vec<f64>,
    /// By line.
    pub thresholds: Vec<AtThreshold>,
}

/// Does it all, on the cores of a context.
///
/// # Errors
/// A mechanism does not exist on this grid.
pub(crate) fn run(
    stream: &Stream,
    plan: &SearchPlan,
    context: &Context,
) -> Result<Results, Box<dyn Error>> {
    let mechanisms = plan.mechanisms();
    let jobs: Vec<(f64, SearchMechanism)> = plan
        .thresholds
        .iter()
        .flat_map(|&threshold| mechanisms.iter().map(move |&mechanism| (threshold, mechanism)))
        .collect();
    let found = context.each(jobs.len(), |index| {
        let (threshold, mechanism) = jobs[index];
        tried(stream, plan, threshold, mechanism, index)
    })?;
    let thresholds = plan
        .thresholds
        .iter()
        .zip(found.chunks(mechanisms.len()))
        .map(|(&threshold, tried)| {
            let above = stream.truth(threshold).iter().filter(|&&above| above).count();
            let spreads = tried.iter().flat_map(|tried| tried.spreads.clone()).collect();
            let best = best(tried.iter().flat_map(|tried| tried.within.iter().copied()));
            AtThreshold { threshold, above, spreads, best }
        })
        .collect();
    Ok(Results {
        stream: stream.name,
        about: stream.about,
        days: stream.answers.len(),
        people: stream.people,
        delta: stream.delta()?.get(),
        runs: plan.runs,
        budgets: plan.budgets.clone(),
        thresholds,
    })
}

/// What was found about one mechanism.
struct Tried {
    spreads: Vec<Spread>,
    within: Vec<Best>,
}

fn tried(
    stream: &Stream,
    plan: &SearchPlan,
    threshold: f64,
    mechanism: SearchMechanism,
    index: usize,
) -> Result<Tried, Box<dyn Error>> {
    let truth = stream.truth(threshold);
    let law = mechanism.law(stream, threshold, Change::General)?;
    let transcripts = (0..plan.runs)
        .map(|run| {
            let seed = (plan.seed << 48) + ((index as u64) << 24) + u64::from(run);
            let mut entropy = Seeded::new(seed);
            mechanism.draw(stream, threshold, law.as_ref(), &mut account(), &mut entropy)
        })
        .collect::<Result<Vec<_>, _>>()?;
    let deviation = mechanism.deviation();
    let mut tried = Tried { spreads: Vec::new(), within: Vec::new() };
    for &accounting in Accounting::of(&mechanism) {
        let mut bill = Bill::new(accounting, &mechanism, stream, threshold)?;
        let printed = plan.printed.contains(&deviation);
        if printed && matches!(mechanism, SearchMechanism::Line { .. }) {
            let epsilons = transcripts.iter().map(|t| bill.total(t)).collect::<Result<_, _>>()?;
            let f1 = transcripts.iter().map(|t| t.f1(&truth, t.days())).collect();
            let (epsilon, f1) = (Band::of(epsilons), Band::of(f1));
            tried.spreads.push(Spread { accounting, deviation, epsilon, f1 });
        }
        for &budget in &plan.budgets {
            let epsilon = Epsilon::new(budget)?;
            let (mut f1, mut days) = (Vec::new(), 0);
            for transcript in &transcripts {
                let reached = bill.reach(transcript, epsilon);
                days += reached;
                f1.push(transcript.f1(&truth, reached));
            }
            let answered = days as f64 / (transcripts.len() * truth.len()) as f64;
            let f1 = Band::of(f1);
            tried.within.push(Best { accounting, budget, f1, answered });
        }
    }
    Ok(tried)
}

/// The best of each accounting within each budget, which need not be spent.
fn best(tried: impl Iterator<Item = Best>) -> Vec<Best> {
    let mut best = BTreeMap::<(usize, u64), Best>::new();
    for one in tried {
        let order = Accounting::ALL.iter().position(|&other| other == one.accounting);
        // Positive doubles are in the order of their bits.
        let key = (order.unwrap_or(usize::MAX), one.budget.to_bits());
        let kept = best.entry(key).or_insert(one);
        if one.f1.mean() > kept.f1.mean() {
            *kept = one;
        }
    }
    let mut best: Vec<Best> = best.into_values().collect();
    for index in 1..best.len() {
        let (last, one) = (best[index - 1], &mut best[index]);
        if last.accounting == one.accounting && last.f1.mean() > one.f1.mean() {
            *one = Best { budget: one.budget, ..last };
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::threshold_search::BIKES;
    use crate::experiments::threshold_search::stream::made_up;
    use crate::frame::experiment::Size;

    fn context() -> Context {
        Context::new(&BIKES, Size::Smoke)
    }

    fn plan() -> SearchPlan {
        SearchPlan {
            thresholds: vec![0.6],
            printed: vec![0.1],
            wide: vec![0.02, 0.1, 0.3],
            budgets: vec![0.25, 1.0, 4.0],
            runs: 6,
            seed: 1,
        }
    }

    #[test]
    fn results_are_the_same_with_the_same_seed() {
        let found = |plan: &SearchPlan| {
            let results = run(&made_up(), plan, &context()).unwrap();
            format!("{results:?}")
        };
        assert_eq!(found(&plan()), found(&plan()));
        assert_ne!(found(&plan()), found(&SearchPlan { seed: 2, ..plan() }));
    }

    #[test]
    fn a_larger_budget_does_no_worse_and_every_accounting_is_there() {
        let results = run(&made_up(), &plan(), &context()).unwrap();
        let best = &results.thresholds[0].best;
        assert_eq!(best.len(), Accounting::ALL.len() * 3);
        for pair in best.windows(2) {
            if pair[0].accounting == pair[1].accounting {
                assert!(pair[0].budget < pair[1].budget);
                assert!(pair[0].f1.mean() <= pair[1].f1.mean());
            }
        }
        // The four that account for plain lines, with the one noise that is printed, and that once.
        assert_eq!(results.thresholds[0].spreads.len(), 4);
    }

    #[test]
    fn the_best_noise_is_chosen_for_each_budget() {
        let one = |budget, mean, answered| Best {
            accounting: Accounting::ExPost,
            budget,
            f1: Band { summary: Summary::of([mean]), low: mean, high: mean },
            answered,
        };
        let tried =
            [one(1.0, 0.5, 0.1), one(2.0, 0.6, 0.1), one(1.0, 0.7, 0.2), one(2.0, 0.4, 0.2)];
        let chosen = best(tried.into_iter());
        // A budget that is not spent is no worse.
        let found: Vec<_> = chosen.iter().map(|best| (best.budget, best.answered)).collect();
        assert_eq!(found, [(1.0, 0.2), (2.0, 0.2)]);
    }

    #[test]
    fn a_band_leaves_out_a_tenth_on_either_side() {
        let band = Band::of((0..=10).rev().map(f64::from).collect());
        assert_eq!(format!("{} {} {}", band.low, band.mean(), band.high), "1 5 9");
    }
}
