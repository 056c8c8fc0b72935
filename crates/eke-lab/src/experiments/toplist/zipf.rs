//! Made-up counts of a Zipf law.

use std::error::Error;

use super::reported::{Asked, report, spend_all};
use crate::frame::context::Context;
use crate::frame::experiment::{Experiment, Paper, Trials};
use crate::frame::report::Report;
use eke_testkit::Seeded;

/// Counts of a Zipf law.
pub(crate) const ZIPF: Experiment = Experiment {
    name: "zipf",
    paper: Paper::AccuracyFirst,
    figure: "figure 2",
    about: "Counts of a Zipf law within 10 %: how many a budget tells, by noise that is reduced and by doubling.",
    data: &[],
    time: "5 min",
    trials: Trials { full: 1000, quick: 50, smoke: 3 },
    run: zipf,
};

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

/// How often each value is drawn, of `size` draws with these weights.
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
