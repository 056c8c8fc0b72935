//! The experiment as the lab lists it, and its results as tables.

use std::error::Error;

use super::figure::{Shown, figure, heatmap};
use super::{Results, TIERS, Way, run};
use crate::frame::context::Context;
use crate::frame::experiment::{Experiment, Paper, Trials};
use crate::frame::report::Report;
use crate::frame::table::Table;

/// Reports about categories for several tiers.
pub(crate) const SUBSET: Experiment = Experiment {
    name: "tiers-subset",
    paper: Paper::Tiers,
    figure: "figures 4 and 7 to 14",
    about: "Reports about categories for several tiers: errors of planned chains, next to the paper's and others.",
    data: &[],
    time: "2 min",
    trials: Trials { full: 500, quick: 20, smoke: 2 },
    run: reported,
};

fn reported(context: &Context) -> Result<Report, Box<dyn Error>> {
    let numbers: &[u32] = context.pick(&[15, 128], &[15, 128], &[15]);
    let tried: &[u32] = context.pick(&TIERS, &TIERS, &[1, 4]);
    let lists = context.trials();
    let mut table = Table::new(
        "errors by the number of tiers",
        ["categories", "lists", "way", "tiers"],
        ["worst tier, in the error of the tier alone", "its standard error", "total squared error"],
    )
    .across("tiers");
    let title =
        format!("tiers of one of some categories; means of {lists} lists where they are random");
    let mut report = Report::new(title).with_svg("bounds", heatmap());
    for &categories in numbers {
        let results = run(categories, lists, tried, context)?;
        rows(&mut table, &results);
        for (shown, name) in [(Shown::Total, "total"), (Shown::Worst, "worst")] {
            report = report.with_svg(&format!("{categories}-{name}"), figure(&results, shown));
        }
    }
    Ok(report.with_table(table))
}

fn rows(table: &mut Table, results: &Results) {
    for panel in &results.panels {
        for way in Way::ALL {
            for point in panel.points.iter().filter(|point| point.way == way) {
                let keys = [
                    results.categories.into(),
                    panel.lists.to_string().into(),
                    way.label().into(),
                    point.tiers.into(),
                ];
                let deviation = (point.deviation > 0.0).then_some(point.deviation);
                table.row(keys, [point.worst.into(), deviation.into(), point.total.into()]);
            }
        }
    }
}
