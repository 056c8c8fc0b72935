//! The experiment as the lab lists it, and its results as tables.

use std::error::Error;

use eke_plot::plot::{Lines, Plot, Scale};

use super::{Found, GroupCounts, Way};
use crate::frame::context::Context;
use crate::frame::experiment::{Experiment, Paper, Trials};
use crate::frame::report::Report;
use crate::frame::summary::Summary;
use crate::frame::table::Table;

/// What stopping group by group saves.
pub(crate) const SAVINGS: Experiment = Experiment {
    name: "central-savings",
    paper: Paper::AccuracyFirst,
    figure: "its rule, on SQL questions",
    about: "Counts by group within a relative error: what stopping group by group saves, and what honest intervals cost.",
    data: &["nycflights13_flights.parquet"],
    time: "4 min",
    trials: Trials { full: 100, quick: 10, smoke: 2 },
    run: reported,
};

fn reported(context: &Context) -> Result<Report, Box<dyn Error>> {
    let flights = context.data().flights()?;
    let questions = GroupCounts::all(&flights);
    let tolerances: &[f64] = context.pick(&[0.05, 0.1, 0.2], &[0.05, 0.1], &[0.1]);
    let mut asked = Table::new(
        "the questions",
        ["by"],
        ["groups", "groups of an aircraft", "rows in each", "good enough", "smallest", "largest"],
    );
    let mut table = Table::new(
        "what a question costs",
        ["by", "tolerance", "way"],
        ["rho", "in an oracle's", "rho of a group", "share of groups within the goal"],
    );
    let mut panels = Vec::new();
    for question in &questions {
        let (least, largest) = (question.counts.iter().min(), question.counts.iter().max());
        let double = |count: Option<&i64>| count.copied().unwrap_or(0) as f64;
        asked.row(
            [question.name.into()],
            [
                question.counts.len().into(),
                question.most_groups.into(),
                question.most_rows.into(),
                question.floor.into(),
                double(least).into(),
                double(largest).into(),
            ],
        );
        let mut lines = vec![Vec::new(); Way::ALL.len()];
        for &tolerance in tolerances {
            let mut oracle = f64::NAN;
            for (line, way) in lines.iter_mut().zip(Way::ALL) {
                let point = format!("{} {tolerance} {}", question.name, way.label());
                let found = context.each_trial(&point, context.trials(), |_, seeded| {
                    way.answer(question, tolerance, seeded)
                })?;
                let of = |part: fn(&Found) -> f64| Summary::of(found.iter().map(part));
                let (rho, within) = (of(|found| found.rho), of(|found| found.within));
                let each = of(|found| found.each).mean;
                if way == Way::Oracle {
                    oracle = rho.mean;
                }
                line.push((tolerance, rho.mean));
                let keys = [question.name.into(), tolerance.into(), way.label().into()];
                table.row(
                    keys,
                    [rho.into(), (rho.mean / oracle).into(), each.into(), within.into()],
                );
            }
        }
        panels.push(Lines { title: format!("by {}", question.name), lines });
    }
    let plot = Plot {
        title: format!(
            "counts of {} flights by group, at 95 %; means of {} runs",
            flights.len(),
            context.trials()
        ),
        across: "relative error".to_owned(),
        upwards: "rho".to_owned(),
        scales: (Scale::Logarithmic, Scale::Logarithmic),
        columns: 2,
        lines: Way::ALL.iter().map(|way| way.label().to_owned()).collect(),
        panels,
    };
    Ok(Report::new(plot.title.clone())
        .with_table(asked)
        .with_table(table)
        .with_note("A group is within its goal if its count is off by at most the tolerance, or by what is good enough whatever the count.")
        .with_plot(&plot))
}
