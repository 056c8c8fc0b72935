//! How long prices take: `cargo bench -p eke-select`.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on should stop")]

use divan::Bencher;
use eke_budget::{Epsilon, L1};
use eke_select::{
    AboveThreshold, Change, Direction, LineNoise, LineSpec, MaxNoise, NoisyMax, NoisyMaxSpec,
};

fn main() {
    divan::main();
}

fn line(deviation: f64, sensitivity: f64) -> AboveThreshold {
    AboveThreshold::new(LineSpec {
        threshold: 0.5,
        range: (0.0, 1.0),
        sensitivity: L1::new(sensitivity).unwrap(),
        change: Change::General,
        direction: Direction::Above,
        noise: LineNoise::Gaussian { line: deviation, query: 3f64.sqrt() * deviation },
    })
    .unwrap()
}

/// One price of halting, nothing remembered: by deviation and step.
#[divan::bench(args = [(0.1, 20), (0.1, 1_000_000), (0.005, 20), (0.005, 1_000_000), (1.0, 1_000), (1e-3, 1_000_000)])]
fn halting(bencher: Bencher, (deviation, step): (f64, u64)) {
    bencher.with_inputs(|| line(deviation, 1e-3)).bench_values(|line| line.halting_at(step));
}

/// One price of having stopped, nothing remembered.
#[divan::bench(args = [(0.1, 20), (0.1, 1_000_000), (0.005, 1_000_000)])]
fn without_halt(bencher: Bencher, (deviation, step): (f64, u64)) {
    bencher.with_inputs(|| line(deviation, 1e-3)).bench_values(|line| line.without_halt(step));
}

/// The price of a step that is known already.
#[divan::bench]
fn remembered(bencher: Bencher) {
    let line = line(0.1, 1e-3);
    bencher.bench_local(|| line.worst(1000));
}

/// How many steps fit: nothing remembered.
#[divan::bench]
fn horizon(bencher: Bencher) {
    let left = "0.2".parse().unwrap();
    bencher.with_inputs(|| line(0.1, 1e-3)).bench_values(|line| line.horizon(left));
}

fn candidates(candidates: u64, deviation: f64) -> NoisyMaxSpec {
    NoisyMaxSpec {
        candidates,
        range: (0.0, 1.0),
        sensitivity: L1::new(1e-3).unwrap(),
        change: Change::General,
        noise: MaxNoise::Gaussian(deviation),
    }
}

/// A noisy maximum, by candidates and deviation.
#[divan::bench(args = [(365, 0.1), (1_000_000, 0.1), (365, 0.005), (1_000_000, 0.005)])]
fn noisy_max(bencher: Bencher, (number, deviation): (u64, f64)) {
    let max = NoisyMax::new(candidates(number, deviation)).unwrap();
    bencher.bench_local(|| max.epsilon());
}

/// The least noise for a price.
#[divan::bench]
fn calibrate_noisy_max(bencher: Bencher) {
    let epsilon = Epsilon::new(0.1).unwrap();
    bencher.bench_local(|| NoisyMax::calibrate(candidates(365, 0.1), epsilon).unwrap());
}
