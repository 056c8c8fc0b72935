//! What telling the largest of several scores costs.

use std::error::Error;

use eke_budget::convert::{Curve, GaussianCurve, Method};
use eke_budget::{Delta, L1, Rho};
use eke_plot::plot::{Lines, Plot, Scale};
use eke_select::{Change, MaxNoise, NoisyMax, NoisyMaxSpec};
use eke_testkit::Seeded;
use rand_distr::{Distribution, StandardNormal};

use super::normal::phi;
use crate::frame::context::Context;
use crate::frame::experiment::{Experiment, Paper, Trials};
use crate::frame::report::Report;
use crate::frame::summary::Summary;
use crate::frame::table::{Table, TableCell};

/// Prices of a noisy maximum.
pub(crate) const NOISY_MAX_BOUNDS: Experiment = Experiment {
    name: "noisy-max-bounds",
    paper: Paper::Selection,
    figure: "figures 3, 6, 7 and 8",
    about: "The price of a noisy maximum: integrated, estimated by Monte Carlo, and next to that of noise on all scores.",
    data: &[],
    time: "1 min",
    trials: Trials { full: 100, quick: 20, smoke: 3 },
    run: reported,
};

/// The delta of what follows from noise on all scores; the paper does not print its own.
const DELTA: f64 = 1e-5;

fn price(
    scores: u32,
    sensitivity: f64,
    deviation: f64,
    change: Change,
) -> Result<NoisyMax, Box<dyn Error>> {
    Ok(NoisyMax::new(NoisyMaxSpec {
        candidates: u64::from(scores),
        range: (0.0, 1.0),
        sensitivity: L1::new(sensitivity)?,
        change,
        noise: MaxNoise::Gaussian(deviation),
    })?)
}

/// The price by means over drawn normal numbers, as one would estimate it; none if no draw says
/// anything.
fn estimate(
    scores: u32,
    sensitivity: f64,
    deviation: f64,
    samples: u32,
    seeded: &mut Seeded,
) -> Option<f64> {
    let others = f64::from(scores - 1);
    let (mut above, mut below) = (0.0, 0.0);
    for _ in 0..samples {
        let z: f64 = StandardNormal.sample(&mut seeded.0);
        above += phi(z - (1.0 - 2.0 * sensitivity) / deviation).powf(others);
        below += phi(z - 1.0 / deviation).powf(others);
    }
    let epsilon = (above / below).ln();
    epsilon.is_finite().then_some(epsilon)
}

fn reported(context: &Context) -> Result<Report, Box<dyn Error>> {
    let (estimates, spread) = estimates(context)?;
    let (accounts, by_scores) = accounts(context)?;
    Ok(Report::new("the price of the largest of d scores between 0 and 1, with Gaussian noise")
        .with_table(estimates)
        .with_table(accounts)
        .with_note(format!(
            "Noise on all scores is accounted for at delta {DELTA:e}, the other prices are pure. One-way: one person moves all scores up, or all down."
        ))
        .with_plot(&by_scores)
        .with_svg("monte-carlo", spread.finish()))
}

/// Integrals next to means over draws.
fn estimates(context: &Context) -> Result<(Table, Plot), Box<dyn Error>> {
    const SENSITIVITY: f64 = 0.01;
    let samples = context.pick(100_000, 20_000, 1000);
    let scores: &[u32] = context.pick(&[2, 10, 100, 1000], &[10, 1000], &[10]);
    let deviations: &[f64] =
        context.pick(&[0.2, 0.25, 0.3, 0.4, 0.5, 0.7, 1.0], &[0.2, 0.3, 0.5, 1.0], &[0.3, 1.0]);
    let mut table = Table::new(
        format!("sensitivity {SENSITIVITY}, {samples} draws an estimate"),
        ["scores", "noise"],
        ["integrated", "estimated", "deviation of estimates", "estimates that say nothing"],
    );
    let mut panels = Vec::new();
    for &d in scores {
        let mut lines = vec![Vec::new(); 4];
        for &deviation in deviations {
            let integrated = price(d, SENSITIVITY, deviation, Change::General)?.epsilon().epsilon;
            let point = format!("{d} {deviation}");
            let drawn = context.each_trial(&point, context.trials(), |_, seeded| {
                Ok(estimate(d, SENSITIVITY, deviation, samples, seeded))
            })?;
            let said: Vec<f64> = drawn.iter().flatten().copied().collect();
            let silent = drawn.len() - said.len();
            let (summary, spread) = if said.is_empty() {
                (TableCell::None, TableCell::None)
            } else {
                let summary = Summary::of(said.iter().copied());
                lines[1].push((deviation, summary.mean));
                lines[2].push((deviation, summary.quartiles[0]));
                lines[3].push((deviation, summary.quartiles[2]));
                let count = said.len() as f64;
                let squares = said.iter().map(|value| (value - summary.mean).powi(2)).sum::<f64>();
                (summary.into(), (squares / count).sqrt().into())
            };
            lines[0].push((deviation, integrated));
            let keys = [d.into(), deviation.into()];
            table.row(keys, [integrated.into(), summary, spread, silent.into()]);
        }
        panels.push(Lines { title: format!("{d} scores"), lines });
    }
    let plot = Plot {
        title: format!("a noisy maximum: the price integrated, and estimated from {samples} draws"),
        across: "deviation of the noise".to_owned(),
        upwards: "epsilon".to_owned(),
        scales: (Scale::Logarithmic, Scale::Logarithmic),
        columns: 2,
        lines: [
            "integrated",
            "estimates, their mean",
            "a quarter of estimates is below",
            "a quarter is above",
        ]
        .map(str::to_owned)
        .into(),
        panels,
    };
    Ok((table, plot))
}

/// The pure price next to what noise on all scores would cost.
fn accounts(context: &Context) -> Result<(Table, Plot), Box<dyn Error>> {
    const SENSITIVITY: f64 = 0.001;
    let scores: &[u32] = context.pick(
        &[2, 5, 10, 30, 100, 300, 1000, 3000, 10_000],
        &[2, 10, 100, 1000, 10_000],
        &[2, 100],
    );
    let deviations: &[f64] = context.pick(&[0.1, 0.2, 0.4, 0.8], &[0.1, 0.2, 0.4, 0.8], &[0.2]);
    let names = [
        "all scores, exact Gaussian curve",
        "pure, one-way (eke)",
        "pure (paper, mended)",
        "all scores, zCDP",
        "all scores, one-way, zCDP (eke)",
    ];
    let mut table = Table::new(
        format!("epsilon at sensitivity {SENSITIVITY}"),
        ["noise", "by", "scores"],
        ["epsilon"],
    )
    .across("scores");
    let mut panels = Vec::new();
    for &deviation in deviations {
        let mut lines = vec![Vec::new(); names.len()];
        for &d in scores {
            let general = price(d, SENSITIVITY, deviation, Change::General)?;
            let one_way = price(d, SENSITIVITY, deviation, Change::Monotone)?;
            let delta = Delta::new(DELTA)?;
            let rho = |max: &NoisyMax| max.rho_of_release().ok_or("no price");
            // The tight conversion holds for all zCDP, the curve for Gaussian noise on the real
            // line.
            let zcdp = |rho: Rho| Method::Tight.epsilon(rho, delta).map(eke_budget::Epsilon::get);
            let curve = GaussianCurve.epsilon(rho(&general)?, delta)?.get();
            let found = [
                curve,
                one_way.epsilon().epsilon,
                general.epsilon().epsilon,
                zcdp(rho(&general)?)?,
                zcdp(rho(&one_way)?)?,
            ];
            for ((line, name), epsilon) in lines.iter_mut().zip(names).zip(found) {
                line.push((f64::from(d), epsilon));
                table.row([deviation.into(), name.into(), d.into()], [epsilon.into()]);
            }
        }
        panels.push(Lines { title: format!("noise {deviation}"), lines });
    }
    let plot = Plot {
        title: format!("the price of a noisy maximum of d scores, sensitivity {SENSITIVITY}"),
        across: "scores".to_owned(),
        upwards: "epsilon".to_owned(),
        scales: (Scale::Logarithmic, Scale::Logarithmic),
        columns: 2,
        lines: names.map(str::to_owned).into(),
        panels,
    };
    Ok((table, plot))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 200,000 draws, seed 5: two scores have a price in closed form, and the estimate is near it.
    #[test]
    fn estimates_are_of_the_price_that_is_integrated() {
        let exact = price(2, 0.01, 0.5, Change::General).unwrap().epsilon().epsilon;
        let drawn = estimate(2, 0.01, 0.5, 200_000, &mut Seeded::new(5)).unwrap();
        assert!((drawn / exact - 1.0).abs() < 0.05, "{drawn} {exact}");
        let other = estimate(2, 0.01, 0.4, 200_000, &mut Seeded::new(5)).unwrap();
        assert!((other / exact - 1.0).abs() > 0.05, "the control passes: {other} {exact}");
    }
}
