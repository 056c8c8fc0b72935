//! `eke-lab speed noise`: draws a second and core, next to the unsafe sampler in the same run.

use std::error::Error;
use std::hint::black_box;
use std::io::Write;
use std::num::NonZeroU32;
use std::time::Instant;

use clap::Args;
use eke_budget::purchase::GroupPrices;
use eke_budget::{Adjacency, Amount, L1, L2, Metric, NoHistory, PathId, Rho};
use eke_noise::law::{Msdlap, PlanarLaplace, Shifts};
use eke_noise::path::{Column, Columns};
use eke_noise::{
    Bundle, DiscreteGaussian, DiscreteLaplace, Exact, GaussianPath, GeometricPath, Laplace,
    LaplacePath, NoisePath, Ratio, Skellam, SkellamPath,
};
use eke_testkit::Seeded;
use rand_distr::{Distribution, Normal};
use serde::Serialize;

use crate::Failure;

/// How to show it.
#[derive(Args)]
pub(crate) struct Noise {
    /// Print one JSON array.
    #[arg(long)]
    json: bool,
    /// Draws in a batch.
    #[arg(long, default_value_t = 1_000_000)]
    batch: usize,
}

#[derive(Serialize)]
struct Row {
    law: &'static str,
    scale: f64,
    draws_per_second: f64,
    /// How many times as fast as the unsafe sampler; none where the two do not compare.
    #[serde(skip_serializing_if = "Option::is_none")]
    ratio: Option<f64>,
}

const SCALES: [f64; 6] = [0.1, 1.0, 10.0, 100.0, 1e6, 1e9];
/// Batches of each law; the fastest counts, which is the one least disturbed.
const ROUNDS: usize = 9;

impl Noise {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let mut entropy = Seeded::new(1);
        let mut floats = vec![0.0; self.batch];
        let mut integers = vec![0; self.batch];
        // The same generator for everybody.
        let normal = Normal::new(0.0, 1.0).map_err(|error| Failure::Usage(error.to_string()))?;
        let baseline = self.fastest(|| {
            for float in &mut floats {
                *float = normal.sample(&mut entropy.0);
            }
            black_box(&floats);
        });
        let mut rows = vec![Row {
            law: "unsafe float gaussian (rand_distr)",
            scale: 1.0,
            draws_per_second: baseline,
            ratio: Some(1.0),
        }];
        for scale in SCALES {
            let variance = positive(scale * scale)?;
            let gaussian =
                DiscreteGaussian::new(&variance).map_err(|e| Failure::Usage(e.to_string()))?;
            let rate = self.fastest(|| {
                gaussian.fill(&mut integers, &mut entropy);
                black_box(&integers);
            });
            let ratio = Some(rate / baseline);
            rows.push(Row { law: "discrete gaussian", scale, draws_per_second: rate, ratio });
        }
        for scale in SCALES {
            let laplace = DiscreteLaplace::new(&positive(scale)?)
                .map_err(|e| Failure::Usage(e.to_string()))?;
            let rate = self.fastest(|| {
                laplace.fill(&mut integers, &mut entropy);
                black_box(&integers);
            });
            let ratio = Some(rate / baseline);
            rows.push(Row { law: "discrete laplace", scale, draws_per_second: rate, ratio });
        }
        for scale in SCALES {
            let laplace =
                Laplace::new(&positive(scale)?).map_err(|e| Failure::Usage(e.to_string()))?;
            let rate = self.fastest(|| {
                laplace.fill(&mut integers, &mut entropy);
                black_box(&integers);
            });
            let ratio = Some(rate / baseline);
            rows.push(Row { law: "rounded laplace", scale, draws_per_second: rate, ratio });
        }
        for (law, most) in [("msdlap, sensitivity 3", 3), ("msdlap, sensitivity 8", 8)] {
            for scale in [0.25, 1.0, 10.0, 100.0] {
                let wrong = |error: &dyn Error| Failure::Usage(error.to_string());
                let shifts = Shifts::new(most).map_err(|e| wrong(&e))?;
                let noise = Msdlap::new(&positive(1.0 / scale)?, shifts).map_err(|e| wrong(&e))?;
                let rate = self.fastest(|| {
                    noise.fill(&mut integers, &mut entropy);
                    black_box(&integers);
                });
                let ratio = Some(rate / baseline);
                rows.push(Row { law, scale, draws_per_second: rate, ratio });
            }
        }
        rows.extend(self.planar::<2>("planar laplace, points of 2", baseline, &mut entropy)?);
        rows.extend(self.planar::<3>("planar laplace, points of 3", baseline, &mut entropy)?);
        // By its deviation, as the others.
        for scale in [0.1, 1.0, 10.0, 100.0, 1000.0] {
            let skellam = Skellam::new(&positive(scale * scale / 2.0)?)
                .map_err(|e| Failure::Usage(e.to_string()))?;
            let rate = self.fastest(|| {
                skellam.fill(&mut integers, &mut entropy);
                black_box(&integers);
            });
            let ratio = Some(rate / baseline);
            rows.push(Row { law: "skellam", scale, draws_per_second: rate, ratio });
        }
        rows.push(steps("gaussian path, one refine", gaussian_step)?);
        rows.push(steps("geometric path, one refine", geometric_step)?);
        rows.push(steps("laplace path, one refine", laplace_step)?);
        rows.push(steps("skellam path, opened or coarsened", skellam_step)?);
        rows.push(bundle_round().map_err(|error| Failure::Usage(error.to_string()))?);
        if self.json {
            serde_json::to_writer(&mut *out, &rows).map_err(std::io::Error::from)?;
            writeln!(out)?;
            return Ok(());
        }
        writeln!(out, "  {:<36}{:>6}{:>16}{:>8}", "law", "scale", "draws a second", "ratio")?;
        for Row { law, scale, draws_per_second, ratio } in rows {
            let scale = if scale < 1000.0 { scale.to_string() } else { format!("{scale:e}") };
            let ratio = ratio.map_or(String::new(), |ratio| format!("{ratio:.2}"));
            writeln!(out, "  {law:<36}{scale:>6}{:>15.2}M{ratio:>8}", draws_per_second / 1e6)?;
        }
        Ok(())
    }

    /// Points a second, at scales of one over the rate.
    fn planar<const N: usize>(
        &self,
        law: &'static str,
        baseline: f64,
        entropy: &mut Seeded,
    ) -> Result<Vec<Row>, Failure> {
        let mut points = vec![[0; N]; self.batch];
        let mut rows = Vec::new();
        for scale in [1.0, 10.0, 100.0, 1e6] {
            let noise = PlanarLaplace::<N>::new(&positive(1.0 / scale)?)
                .map_err(|e| Failure::Usage(e.to_string()))?;
            let rate = self.fastest(|| {
                noise.fill(&mut points, entropy);
                black_box(&points);
            });
            rows.push(Row { law, scale, draws_per_second: rate, ratio: Some(rate / baseline) });
        }
        Ok(rows)
    }

    /// Draws a second in the fastest of some batches.
    fn fastest(&self, mut batch: impl FnMut()) -> f64 {
        let seconds = (0..ROUNDS)
            .map(|_| {
                let start = Instant::now();
                batch();
                start.elapsed().as_secs_f64()
            })
            .fold(f64::INFINITY, f64::min);
        #[expect(clippy::cast_precision_loss, reason = "a measurement")]
        let draws = self.batch as f64;
        draws / seconds
    }
}

fn positive(value: f64) -> Result<Ratio, Failure> {
    Ratio::from_f64(value).ok_or_else(|| Failure::Usage(format!("{value} is not positive")))
}

/// Steps a second of one path going further and further: approve, commit, draw.
fn steps(law: &'static str, step: fn(u32) -> Result<(), Box<dyn Error>>) -> Result<Row, Failure> {
    const STEPS: u32 = 2_000;
    let mut fastest = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        step(STEPS).map_err(|error| Failure::Usage(error.to_string()))?;
        fastest = fastest.min(start.elapsed().as_secs_f64());
    }
    let rate = f64::from(STEPS) / fastest;
    Ok(Row { law, scale: 1.0, draws_per_second: rate, ratio: None })
}

/// Groups a second of a bundle of a million, in a round that takes all of them further.
fn bundle_round() -> Result<Row, Box<dyn Error>> {
    const GROUPS: u32 = 1_000_000;
    let mut entropy = Seeded::new(4);
    let bound = L1::new(1024.0)?;
    let columns = vec![Column { sensitivity: bound, share: 1 }];
    let truth = Exact::new(Columns(vec![vec![12_345; GROUPS as usize]]), vec![bound]);
    let mut fastest = f64::INFINITY;
    for _ in 0..3 {
        let mut account = eke_lab::account();
        let most = NonZeroU32::new(3).ok_or("zero")?;
        let metric = Metric::Hamming(Adjacency::AddRemove);
        let mut prices = GroupPrices::<Rho>::new(GROUPS, most, metric);
        let mut bundle = Bundle::open(PathId::new([1; 32]), columns.clone(), GROUPS)?;
        let start = Instant::now();
        let mut round = prices.round();
        for group in 0..GROUPS {
            round.raise(group, Amount::from_grains(10u128.pow(27)))?;
        }
        let approved = account.raise_groups(round.offer(bundle.id()))?;
        let receipt = account.commit(approved, &mut NoHistory)?;
        prices.keep(&receipt)?;
        bundle.refine(&truth, receipt, &mut entropy)?;
        fastest = fastest.min(start.elapsed().as_secs_f64());
        black_box(&bundle);
    }
    let rate = f64::from(GROUPS) / fastest;
    Ok(Row {
        law: "gaussian bundle, one group's refine",
        scale: 1.0,
        draws_per_second: rate,
        ratio: None,
    })
}

/// Paths of ten steps each, from rho 0.001 on.
fn gaussian_step(count: u32) -> Result<(), Box<dyn Error>> {
    let mut entropy = Seeded::new(2);
    let steps = L2::new(1024.0)?;
    let truth = Exact::new(1_000_000, L1::new(1024.0)?);
    for _ in 0..count / 10 {
        let mut account = eke_lab::account();
        let mut path = GaussianPath::<i64>::open(PathId::new([1; 32]), steps);
        for step in 1..=10u128 {
            let to = Amount::from_grains(step * 10u128.pow(27));
            let approved = account.raise(path.id(), to, steps)?;
            let receipt = account.commit(approved, &mut NoHistory)?;
            black_box(path.refine(&truth, receipt, &mut entropy)?);
        }
    }
    Ok(())
}

/// Paths of ten steps each, from epsilon 0.01 on.
fn geometric_step(count: u32) -> Result<(), Box<dyn Error>> {
    let mut entropy = Seeded::new(3);
    let one = L1::new(1.0)?;
    let truth = Exact::new(1_000_000, one);
    for _ in 0..count / 10 {
        let mut account = eke_lab::account();
        let mut path = GeometricPath::<i64>::open(PathId::new([1; 32]), one);
        for step in 1..=10u128 {
            let to = Amount::from_grains(step * 10u128.pow(28));
            let approved = account.raise(path.id(), to, one)?;
            let receipt = account.commit(approved, &mut NoHistory)?;
            black_box(path.refine(&truth, receipt, &mut entropy)?);
        }
    }
    Ok(())
}

/// Paths of ten steps each, from epsilon 0.01 on.
fn laplace_step(count: u32) -> Result<(), Box<dyn Error>> {
    let mut entropy = Seeded::new(3);
    let one = L1::new(1.0)?;
    let truth = Exact::new(1_000_000, one);
    for _ in 0..count / 10 {
        let mut account = eke_lab::account();
        let mut path = LaplacePath::<i64>::open(PathId::new([1; 32]), one);
        for step in 1..=10u128 {
            let to = Amount::from_grains(step * 10u128.pow(28));
            let approved = account.raise(path.id(), to, one)?;
            let receipt = account.commit(approved, &mut NoHistory)?;
            black_box(path.refine(&truth, receipt, &mut entropy)?);
        }
    }
    Ok(())
}

/// Paths that are opened at rho 0.001 and have nine coarser points, with noise of about a hundred
/// and more.
fn skellam_step(count: u32) -> Result<(), Box<dyn Error>> {
    let mut entropy = Seeded::new(5);
    let steps = L2::new(4.0)?;
    let truth = Exact::new(1_000_000, L1::new(4.0)?);
    for _ in 0..count / 10 {
        let mut account = eke_lab::account();
        let mut path = SkellamPath::open(PathId::new([1; 32]), steps)?;
        let to = Amount::from_grains(10u128.pow(27));
        let approved = account.raise(path.id(), to, steps)?;
        let receipt = account.commit(approved, &mut NoHistory)?;
        black_box(path.refine(&truth, receipt, &mut entropy)?);
        for step in 1..=9u128 {
            let to = Amount::from_grains(step * 10u128.pow(26));
            let approved = account.coarsen::<Rho>(path.id(), to)?;
            let receipt = account.commit(approved, &mut NoHistory)?;
            black_box(path.coarsen(receipt, &mut entropy)?);
        }
    }
    Ok(())
}
