//! The experiment as the lab lists it, and its results as tables.

use std::error::Error;

use super::experiment::{CountPlan, Mean, OnGrid, OnLists, Results, run};
use super::figure::figure;
use super::way::Way;
use crate::frame::context::Context;
use crate::frame::experiment::{Experiment, Paper, Size, Trials};
use crate::frame::report::Report;
use crate::frame::table::{Table, TableCell, TableKey};

/// A count told to several tiers.
pub(crate) const COUNT: Experiment = Experiment {
    name: "tiers-count",
    paper: Paper::Tiers,
    figure: "figures 5 and 6",
    about: "A count told to several tiers: how far off each answer is.",
    data: &[],
    time: "30 s",
    trials: Trials { full: 10_000, quick: 500, smoke: 20 },
    run: reported,
};

/// The numbers of tiers that a table has room for.
const SHOWN: [u32; 6] = [1, 2, 3, 5, 10, 20];

fn reported(context: &Context) -> Result<Report, Box<dyn Error>> {
    let mut plan = CountPlan::paper(context.trials());
    plan.seed = context.seed();
    match context.size() {
        Size::Full => {}
        Size::Quick => plan.lists = 50,
        Size::Smoke => {
            (plan.lists, plan.most) = (5, 3);
            plan.spacings = vec![0.2, 0.8];
        }
    }
    let results = run(&plan, context)?;
    let Results { runs, lists, delta, .. } = &results;
    let shown = || SHOWN.map(TableKey::from);
    let mut drawn = Table::new(
        "evenly spaced tiers, the finest of them",
        ["apart", "way", "tiers"],
        ["mean squared error", "standard error", "worked out"],
    )
    .across_at("tiers", shown());
    for OnGrid { spacing, points } in &results.grids {
        for point in points {
            let keys = [(*spacing).into(), point.way.label().into(), point.tiers.into()];
            let Mean { mean, error } = point.drawn;
            drawn.row(keys, [mean.into(), error.into(), point.exact.into()]);
        }
    }
    let mut random = Table::new(
        format!("{lists} random lists, the worst tier of each"),
        ["lists", "way", "tiers"],
        ["error over that of a single one", "standard error"],
    )
    .across_at("tiers", shown());
    for OnLists { lists, ratios } in &results.random {
        for way in Way::QUICK {
            for ratio in ratios.iter().filter(|ratio| ratio.way == way) {
                let keys = [(*lists).into(), way.label().into(), ratio.tiers.into()];
                random.row(keys, [ratio.ratio.mean, ratio.ratio.error].map(TableCell::from));
            }
        }
    }
    Ok(Report::new(format!("a count of sensitivity 1; {runs} draws of all tiers"))
        .with_table(drawn)
        .with_table(random)
        .with_note(format!("Gaussian and Skellam noise have delta {delta:e}, all other is pure."))
        .with_svg("", figure(&results)))
}
