//! Whether few households are poor, in the central model: figure 9.

use std::error::Error;

use eke_budget::{L1, L2, NoHistory, PathId};
use eke_geo::crowd::Way;
use eke_noise::stopping::which_side;
use eke_noise::{AccountPayer, Exact, GaussianPath};
use eke_plot::plot::{Plot, Scale};

use super::{asks, panels, price};
use crate::account;
use crate::frame::context::Context;
use crate::frame::experiment::{Experiment, Paper, Trials};
use crate::frame::report::Report;
use crate::frame::summary::Summary;
use crate::frame::table::Table;

/// Whether few households are poor.
pub(crate) const THRESHOLD: Experiment = Experiment {
    name: "threshold",
    paper: Paper::Budgeting,
    figure: "figure 9",
    about: "Whether fewer than a share of households earn 10,000 dollars or less, in the central model: how often the answer is wrong, and what is saved.",
    data: &["cps_asec_2012_2014_households.parquet"],
    time: "5 s",
    trials: Trials { full: 500, quick: 100, smoke: 5 },
    run,
};

/// Steps of the grid to a household.
const GRID: f64 = 1024.0;

fn run(context: &Context) -> Result<Report, Box<dyn Error>> {
    let poor: Vec<bool> =
        context.data().household_incomes()?.iter().map(|&income| income <= 10_000).collect();
    let drawn = context.pick(10_000, 10_000, 500);
    let shares: &[f64] = context.pick(&[0.06, 0.07, 0.08, 0.1], &[0.07, 0.1], &[0.1]);
    let rhos: &[f64] = context.pick(&[1e-6, 1e-5, 1e-4, 1e-3, 1e-2], &[1e-5, 1e-4, 1e-3], &[1e-3]);
    let asks = asks(Way::Distance)?;
    let mut table = Table::new(
        "whether fewer than a share of households are poor: how often that is wrong, and what is saved",
        ["share", "way", "rho"],
        ["wrong", "saved"],
    )
    .across("rho");
    let mut found = Vec::new();
    for &share in shares {
        let line = share * f64::from(drawn);
        let mut by_way = Vec::new();
        for ask in &asks {
            let mut by_price = Vec::new();
            for &rho in rhos {
                let most = price(rho)?;
                let trials =
                    context.each_trial("households", context.trials(), |trial, seeded| {
                        let poor = (0..drawn).map(|_| u32::from(poor[seeded.roll(poor.len())]));
                        let hit: u32 = poor.sum();
                        let truth = Exact::new(i64::from(hit) * 1024, L1::new(GRID)?);
                        let sensitivity = L2::new(GRID)?;
                        let mut path = GaussianPath::open(PathId::new([9; 32]), sensitivity);
                        let mut account = account();
                        let mut payer =
                            AccountPayer { account: &mut account, journal: &mut NoHistory };
                        let asked = ask.plan.side(sensitivity, line * GRID, most)?;
                        let mut entropy =
                            context.entropy(&format!("{share} {rho} {}", ask.label), trial);
                        let found =
                            which_side(&mut path, &truth, &asked, &mut payer, &mut entropy)?;
                        let wrong = found.below != (f64::from(hit) < line);
                        Ok((wrong, 1.0 - found.price.to_f64() / most.to_f64()))
                    })?;
                let wrong = trials.iter().filter(|trial| trial.0).count();
                let wrong = Summary::of_share(wrong, trials.len());
                let saved = Summary::of(trials.iter().map(|trial| trial.1));
                let keys = [share.into(), ask.label.into(), rho.into()];
                table.row(keys, [wrong.into(), saved.into()]);
                by_price.push((rho, [wrong, saved]));
            }
            by_way.push(by_price);
        }
        found.push((format!("share {share}"), by_way));
    }
    let title =
        format!("whether few of {drawn} households are poor; means of {} draws", context.trials());
    let plot = |upwards: &str, which: usize| Plot {
        title: title.clone(),
        across: "highest price, rho".to_owned(),
        upwards: upwards.to_owned(),
        scales: (Scale::Logarithmic, Scale::Linear),
        columns: 2,
        lines: asks.iter().map(|ask| ask.label.to_owned()).collect(),
        panels: panels(&found, which, Scale::Linear),
    };
    let (wrongs, saves) = (plot("how often wrong", 0), plot("share of the price saved", 1));
    Ok(Report::new(title.clone())
        .with_table(table)
        .with_plot(&wrongs)
        .with_svg("saved", saves.finish())
        .with_note("Households are drawn with replacement from those of 2012 to 2014; the paper has those of 2023. Whether the count is below the line, as its text says, and not the reverse, as its algorithm is printed."))
}
