//! Words of Reddit.

use std::error::Error;

use super::reported::{Asked, report, spend_all};
use crate::frame::context::Context;
use crate::frame::experiment::{Experiment, Paper, Trials};
use crate::frame::report::Report;

/// Words of Reddit.
pub(crate) const REDDIT: Experiment = Experiment {
    name: "reddit",
    paper: Paper::AccuracyFirst,
    figure: "section 7.2",
    about: "Words of Reddit by their authors, within 1 %: how many a small budget tells.",
    data: &["reddit_top2013_titles_hist_top5000.csv.gz"],
    time: "3 min",
    trials: Trials { full: 200, quick: 50, smoke: 3 },
    run: reddit,
};

fn reddit(context: &Context) -> Result<Report, Box<dyn Error>> {
    let asked = Asked { tolerance: 0.01, choosing: 0.01, first: 1e-8 };
    let mut counts = context.data().word_counts()?;
    counts.truncate(1000);
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
