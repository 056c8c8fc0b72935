//! What the first answer above a line costs, after the fact and before.

use std::error::Error;

use eke_budget::{Delta, L1};
use eke_plot::plot::{Lines, Plot, Scale};
use eke_select::{AboveThreshold, Change, Direction, LineNoise, LineSpec, RenyiLine};
use eke_testkit::Seeded;
use rand_distr::{Distribution, StandardNormal};

use super::normal::{ln_mean, ln_phi, phi};
use crate::frame::context::Context;
use crate::frame::experiment::{Experiment, Paper, Trials};
use crate::frame::report::Report;
use crate::frame::summary::Summary;
use crate::frame::table::Table;

/// Prices of a line.
pub(crate) const ABOVE_THRESHOLD_BOUNDS: Experiment = Experiment {
    name: "above-threshold-bounds",
    paper: Paper::Selection,
    figure: "figures 1 and 2",
    about: "The price of the first answer above a line: after the fact, before, and as printed.",
    data: &[],
    time: "1 s",
    trials: Trials { full: 10_000, quick: 1000, smoke: 50 },
    run: reported,
};

/// What one person changes an answer by, of answers between 0 and 1.
const SENSITIVITY: f64 = 0.001;
const DELTA: f64 = 1e-5;
/// No search is followed further.
const MOST: u64 = 1 << 20;

fn line(threshold: f64, deviation: f64) -> Result<AboveThreshold, Box<dyn Error>> {
    Ok(AboveThreshold::new(LineSpec {
        threshold,
        range: (0.0, 1.0),
        sensitivity: L1::new(SENSITIVITY)?,
        change: Change::General,
        direction: Direction::Above,
        noise: LineNoise::Gaussian { line: deviation, query: 3f64.sqrt() * deviation },
    })?)
}

/// The price of a hit at step t as printed, with the logarithm that is missing there: its last
/// factor grows where it should fall.
fn printed(threshold: f64, deviation: f64, t: u32) -> f64 {
    let query = 3f64.sqrt() * deviation;
    let ln = |moved: f64| {
        ln_mean(|x| {
            let noise = deviation * x;
            f64::from(t - 1) * ln_phi((noise + threshold - 1.0 + moved) / query)
                + ln_phi((noise - threshold + moved) / query)
        })
    };
    ln(SENSITIVITY) - ln(0.0)
}

/// When a search of answers that are all 0 ends: the line's noise, and then answers until one is
/// above it.
fn stop(threshold: f64, deviation: f64, seeded: &mut Seeded) -> f64 {
    let noise: f64 = StandardNormal.sample(&mut seeded.0);
    let hit = phi(-(threshold + deviation * noise) / (3f64.sqrt() * deviation));
    let steps = ((1.0 - seeded.unit()).ln() / (-hit).ln_1p()).floor() + 1.0;
    let most = MOST as f64;
    steps.min(most)
}

fn reported(context: &Context) -> Result<Report, Box<dyn Error>> {
    let (after, by_line) = after_the_fact(context)?;
    let (before, crossing) = before(context)?;
    let title = "the price of the first answer above a line, of answers between 0 and 1 that one person changes by 0.001";
    Ok(Report::new(title)
        .with_table(after)
        .with_table(before)
        .with_note("Answers have sqrt(3) times the noise of the line. After the fact there is no delta; before, it is 1e-5.")
        .with_note("A search that ends before the step in the column is cheaper after the fact; searches are of answers that are all 0, and are followed for a million steps at most.")
        .with_plot(&by_line)
        .with_svg("stopping", crossing.finish()))
}

/// By the line's place and the step of the hit.
fn after_the_fact(context: &Context) -> Result<(Table, Plot), Box<dyn Error>> {
    const DEVIATION: f64 = 0.15;
    let steps: &[u32] =
        context.pick(&[1, 2, 5, 20, 100, 1000], &[1, 2, 5, 20, 100, 1000], &[1, 20]);
    let tenths = context.pick(20u32, 20, 4);
    let names = ["hit, as printed with a logarithm", "hit (mended)", "no hit (not in the paper)"];
    let mut table = Table::new(
        format!("noise of the line {DEVIATION}"),
        ["line", "steps"],
        ["hit, as printed with a logarithm", "hit at the last step", "no hit"],
    )
    .across("steps");
    let mut panels = Vec::new();
    for &t in steps {
        let points = context.each(tenths as usize + 1, |index| {
            let threshold = f64::from(u32::try_from(index)?) / f64::from(tenths);
            let line = line(threshold, DEVIATION)?;
            let (hit, none) = (line.halting_at(t.into()), line.without_halt(t.into()));
            Ok((threshold, [printed(threshold, DEVIATION, t), hit.epsilon, none.epsilon]))
        })?;
        let mut lines = vec![Vec::new(); names.len()];
        for (threshold, prices) in points {
            table.row([threshold.into(), t.into()], prices.map(Into::into));
            for (line, epsilon) in lines.iter_mut().zip(prices) {
                line.push((threshold, epsilon));
            }
        }
        panels.push(Lines { title: format!("at step {t}"), lines });
    }
    let plot = Plot {
        title: format!("the price of a search after the fact, noise of the line {DEVIATION}"),
        across: "line".to_owned(),
        upwards: "epsilon".to_owned(),
        scales: (Scale::Linear, Scale::Linear),
        columns: 3,
        lines: names.map(str::to_owned).into(),
        panels,
    };
    Ok((table, plot))
}

/// The step up to which a hit is cheaper after the fact than before, and when searches end.
fn before(context: &Context) -> Result<(Table, Plot), Box<dyn Error>> {
    let deviations: &[f64] =
        context.pick(&[0.05, 0.1, 0.15, 0.3], &[0.05, 0.1, 0.15, 0.3], &[0.15]);
    let tenths = context.pick(10u32, 10, 2);
    let mut table = Table::new(
        "before and after",
        ["noise", "line"],
        ["before", "hit at step 1", "cheaper up to step", "search ends at", "80 % end by"],
    );
    let mut panels = Vec::new();
    for &deviation in deviations {
        let mut lines = vec![Vec::new(); 3];
        let prices = context.each(tenths as usize + 1, |index| {
            let threshold = f64::from(u32::try_from(index)?) / f64::from(tenths);
            let (after, sensitivity) = (line(threshold, deviation)?, L1::new(SENSITIVITY)?);
            let query = 3f64.sqrt() * deviation * (1.0 + 1e-12);
            let renyi = RenyiLine::new(threshold, sensitivity, deviation, query)?;
            let before = renyi.reserve(Delta::new(DELTA)?).epsilon;
            let cheaper = |step: u64| after.halting_at(step).epsilon <= before;
            let (mut low, mut high) = (0, MOST);
            while low < high {
                let middle = (low + high).div_ceil(2);
                if cheaper(middle) { low = middle } else { high = middle - 1 }
            }
            Ok((threshold, before, after.halting_at(1).epsilon, low))
        })?;
        for (threshold, before, first, last) in prices {
            let point = format!("{deviation} {threshold}");
            let mut stops = context.each_trial(&point, context.trials(), |_, seeded| {
                Ok(stop(threshold, deviation, seeded))
            })?;
            let summary = Summary::of(stops.iter().copied());
            stops.sort_by(f64::total_cmp);
            let most = stops[stops.len() * 4 / 5];
            let last = last as f64;
            for (line, value) in lines.iter_mut().zip([last.max(0.5), summary.quartiles[1], most]) {
                line.push((threshold, value));
            }
            let cells = [before.into(), first.into(), last.into(), summary.into(), most.into()];
            table.row([deviation.into(), threshold.into()], cells);
        }
        panels.push(Lines { title: format!("noise of the line {deviation}"), lines });
    }
    let plot = Plot {
        title: format!(
            "how long a search is cheaper after the fact, and how long it lasts; delta {DELTA:e} before"
        ),
        across: "line".to_owned(),
        upwards: "steps".to_owned(),
        scales: (Scale::Linear, Scale::Logarithmic),
        columns: 2,
        lines: ["cheaper after the fact up to here", "half of all searches end by", "80 % end by"]
            .map(str::to_owned)
            .into(),
        panels,
    };
    Ok((table, plot))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the errata: with a line at 0.575 the printed price of twenty steps is about half of the
    /// one that holds.
    #[test]
    fn what_is_printed_is_too_little() {
        let (threshold, deviation) = (0.575, 0.15);
        let holds = line(threshold, deviation).unwrap().halting_at(20).epsilon;
        let told = printed(threshold, deviation, 20);
        assert!(told > 0.0 && told < 0.8 * holds, "{told} {holds}");
    }

    /// 4,000 searches, seed 6: with a line at 0 and no noise to speak of, a step hits with
    /// probability a half.
    #[test]
    fn searches_end_as_they_should() {
        let mut seeded = Seeded::new(6);
        let mean = |threshold: f64, seeded: &mut Seeded| {
            (0..4000).map(|_| stop(threshold, 0.2, seeded)).sum::<f64>() / 4000.0
        };
        let (low, high) = (mean(0.0, &mut seeded), mean(0.5, &mut seeded));
        assert!(low > 2.0 && low < 4.0, "{low}");
        assert!(high > 2.0 * low, "{low} {high}");
    }
}
