//! What both experiments ask, and what came of it as a table and a figure.

use std::error::Error;

use eke_budget::convert::Method;
use eke_budget::{Adjacency, Amount, BudgetSpec, Delta, Epsilon, Metric};
use eke_plot::plot::{Lines, Plot, Scale};
use eke_testkit::Seeded;

use super::{Task, Told, Way};
use crate::frame::report::Report;
use crate::frame::summary::Summary;
use crate::frame::table::Table;

/// Ways and conversions side by side.
const WAYS: [(&str, Way, Method); 4] = [
    ("doubling (paper)", Way::Doubling, Method::Simple),
    ("eke", Way::Calibrated, Method::Tight),
    ("eke, the paper's conversion", Way::Calibrated, Method::Simple),
    ("Brownian (paper)", Way::Brownian, Method::Simple),
];

/// What both experiments ask, as the paper writes it.
pub(super) struct Asked {
    pub(super) tolerance: f64,
    /// The parameter of the exponential mechanism.
    pub(super) choosing: f64,
    /// The square of the parameter of the first look.
    pub(super) first: f64,
}

impl Asked {
    /// The task of each way, within epsilon at delta 1e-6.
    pub(super) fn tasks(&self, epsilon: f64) -> Result<Vec<Task>, Box<dyn Error>> {
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

pub(super) fn spend_all(
    tasks: &[Task],
    counts: &[u32],
    entropy: &mut Seeded,
) -> Result<Vec<Told>, Box<dyn Error>> {
    WAYS.iter().zip(tasks).map(|((_, way, _), task)| way.spend(task, counts, entropy)).collect()
}

pub(super) fn report(
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
