//! The experiments as the lab lists them: made-up counts of a Zipf law, and words of Reddit.

use std::error::Error;

use eke_budget::convert::Method;
use eke_budget::{Adjacency, Amount, BudgetSpec, Delta, Epsilon, Metric};
use eke_plot::plot::{Lines, Plot, Scale};
use eke_testkit::Seeded;

use super::{Task, Told, Way};
use crate::frame::context::Context;
use crate::frame::experiment::{Experiment, Paper, Trials};
use crate::frame::report::Report;
use crate::frame::summary::Summary;
use crate::frame::table::Table;

/// Counts of a Zipf law.
pub const ZIPF: Experiment = Experiment {
    name: "zipf",
    paper: Paper::AccuracyFirst,
    figure: "figure 2",
    about: "Counts of a Zipf law within 10 %: how many a budget tells, by noise that is reduced and by doubling.",
    data: &[],
    time: "5 min",
    trials: Trials { full: 1000, quick: 50, smoke: 3 },
    run: zipf,
};

/// Words of Reddit.
pub const REDDIT: Experiment = Experiment {
    name: "reddit",
    paper: Paper::AccuracyFirst,
    figure: "section 7.2",
    about: "Words of Reddit by their authors, within 1 %: how many a small budget tells.",
    data: &["reddit_top2013_titles_hist_top5000.csv.gz"],
    time: "3 min",
    trials: Trials { full: 200, quick: 50, smoke: 3 },
    run: reddit,
};

/// Ways and conversions side by side.
const WAYS: [(&str, Way, Method); 4] = [
    ("doubling (paper)", Way::Doubling, Method::Simple),
    ("eke", Way::Calibrated, Method::Tight),
    ("eke, the paper's conversion", Way::Calibrated, Method::Simple),
    ("Brownian (paper)", Way::Brownian, Method::Simple),
];

fn zipf(context: &Context) -> Result<Report, Box<dyn Error>> {
    const VALUES: u32 = 300;
    let asked = Asked { tolerance: 0.1, choosing: 0.1, first: 0.0001 };
    let tasks = asked.tasks(10.0)?;
    let sizes: &[u32] = context.pick(
        &[8_000, 16_000, 32_000, 64_000, 128_000],
        &[8_000, 32_000, 128_000],
        &[2_000, 4_000],
    );
    let weights: Vec<f64> = (1..=VALUES).map(|k| f64::from(k).powf(-0.75)).collect();
    let mut found = Vec::new();
    for &size in sizes {
        let told = context.each_trial(&size.to_string(), context.trials(), |_, entropy| {
            let counts = sample(&weights, size, entropy);
            spend_all(&tasks, &counts, entropy)
        })?;
        found.push((f64::from(size), told));
    }
    let title = "300 counts of a Zipf law with exponent 0.75, each within 10 %, at epsilon 10 and delta 1e-6";
    Ok(report(title, "people", &found))
}

fn reddit(context: &Context) -> Result<Report, Box<dyn Error>> {
    let asked = Asked { tolerance: 0.01, choosing: 0.01, first: 1e-8 };
    let words = context.data().words()?;
    let counts: Vec<u32> = words.iter().take(1000).map(|word| word.people).collect();
    let epsilons: &[f64] = context.pick(&[0.5, 1.0, 2.0], &[0.5, 1.0, 2.0], &[1.0]);
    let mut found = Vec::new();
    for &epsilon in epsilons {
        let tasks = asked.tasks(epsilon)?;
        let told = context.each_trial(&epsilon.to_string(), context.trials(), |_, entropy| {
            spend_all(&tasks, &counts, entropy)
        })?;
        found.push((epsilon, told));
    }
    let title = format!(
        "the commonest of {} words by their authors, each within 1 %, at delta 1e-6",
        counts.len()
    );
    Ok(report(title, "epsilon", &found)
        .with_note("That these words are the candidates is taken for public, as in the paper."))
}

/// What both experiments ask, as the paper writes it.
struct Asked {
    tolerance: f64,
    /// The parameter of the exponential mechanism.
    choosing: f64,
    /// The square of the parameter of the first look.
    first: f64,
}

impl Asked {
    /// The task of each way, within epsilon at delta 1e-6.
    fn tasks(&self, epsilon: f64) -> Result<Vec<Task>, Box<dyn Error>> {
        let promised = BudgetSpec::promising(Epsilon::new(epsilon)?).with_delta(Delta::new(1e-6)?);
        let task = |method: Method| -> Result<Task, Box<dyn Error>> {
            let metric = Metric::Hamming(Adjacency::AddRemove);
            Ok(Task {
                tolerance: self.tolerance,
                choosing: Amount::ceil(self.choosing.powi(2) / 8.0)?,
                first: Amount::ceil(self.first / 2.0)?,
                budget: promised.with_method(method).resolve(metric)?,
            })
        };
        WAYS.iter().map(|&(_, _, method)| task(method)).collect()
    }
}

fn spend_all(
    tasks: &[Task],
    counts: &[u32],
    entropy: &mut Seeded,
) -> Result<Vec<Told>, Box<dyn Error>> {
    WAYS.iter().zip(tasks).map(|((_, way, _), task)| way.spend(task, counts, entropy)).collect()
}

/// How often each value is drawn, of so many draws with these weights.
fn sample(weights: &[f64], size: u32, seeded: &mut Seeded) -> Vec<u32> {
    let mut sums: Vec<f64> = Vec::with_capacity(weights.len());
    for weight in weights {
        sums.push(sums.last().copied().unwrap_or(0.0) + weight);
    }
    let total = sums.last().copied().unwrap_or(0.0);
    let mut counts = vec![0; weights.len()];
    for _ in 0..size {
        let at = seeded.unit() * total;
        counts[sums.partition_point(|sum| *sum <= at).min(weights.len() - 1)] += 1;
    }
    counts
}

fn report(
    title: impl Into<String>,
    across: &'static str,
    found: &[(f64, Vec<Vec<Told>>)],
) -> Report {
    let mut table = Table::new(
        "told within the budget",
        ["way", across],
        ["results", "share within the tolerance"],
    );
    let mut panels = [("results", Vec::new()), ("share within the tolerance", Vec::new())];
    for (index, (label, _, _)) in WAYS.iter().enumerate() {
        let mut lines = [Vec::new(), Vec::new()];
        for (x, trials) in found {
            let told = || trials.iter().map(|told| told[index]);
            #[expect(clippy::cast_precision_loss, reason = "a few hundred")]
            let results = Summary::of(told().map(|told| told.results as f64));
            let precision = Summary::of(told().map(|told| told.precision));
            lines[0].push((*x, results.mean));
            lines[1].push((*x, precision.mean));
            table.row([(*label).into(), (*x).into()], [results.into(), precision.into()]);
        }
        for (panel, line) in panels.iter_mut().zip(lines) {
            panel.1.push(line);
        }
    }
    let title = title.into();
    let plot = Plot {
        title: title.clone(),
        across: across.to_owned(),
        upwards: "mean over trials".to_owned(),
        scales: (Scale::Logarithmic, Scale::Linear),
        columns: 2,
        lines: WAYS.iter().map(|(label, _, _)| (*label).to_owned()).collect(),
        panels: panels.map(|(title, lines)| Lines { title: title.to_owned(), lines }).into(),
    };
    Report::new(title).with_table(table).with_plot(&plot)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 20,000 draws, seed 4: every count is within six deviations of its mean, which 300 of them
    /// are but for once in 1e6. The control is weighed by another exponent.
    #[test]
    fn samples_have_their_weights() {
        let weights =
            |power: f64| (1..=300u32).map(|k| f64::from(k).powf(-power)).collect::<Vec<_>>();
        let counts = sample(&weights(0.75), 20_000, &mut Seeded::new(4));
        assert_eq!(counts.iter().sum::<u32>(), 20_000);
        let furthest = |weights: &[f64]| {
            let total: f64 = weights.iter().sum();
            let off = |(&count, weight): (&u32, &f64)| {
                let mean = 20_000.0 * weight / total;
                (f64::from(count) - mean).abs() / mean.sqrt()
            };
            counts.iter().zip(weights).map(off).fold(0.0, f64::max)
        };
        assert!(furthest(&weights(0.75)) < 6.0);
        assert!(furthest(&weights(0.85)) > 6.0);
    }
}
