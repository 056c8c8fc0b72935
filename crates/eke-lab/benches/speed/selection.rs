//! Comparisons, and a long search along lines with everything it pays.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use eke_budget::{L1, NoHistory};
use eke_noise::law::Noise;
use eke_noise::select::NoisyScore;
use eke_noise::{Exact, Ratio};
use eke_select::{
    AboveThreshold, Change, Direction, Filter, GridLine, LineNoise, LineSpec, SparseVector,
};
use eke_testkit::Seeded;

/// Fresh noise on a score, compared with one other.
fn compare(bencher: Bencher, noise: &Noise) {
    let mut entropy = Seeded::new(5);
    let mut line = NoisyScore::new(1000, noise, &mut entropy);
    let mut score = 0;
    bencher.bench_local(|| {
        score = (score + 1) & 1023;
        let mut noisy = NoisyScore::new(score, noise, &mut entropy);
        black_box(noisy.compare(&mut line, &mut entropy));
    });
}

#[divan::bench]
fn draw_and_compare_gaussian(bencher: Bencher) {
    compare(bencher, &Noise::gaussian(Ratio::new(173, 2).unwrap()));
}

#[divan::bench]
fn draw_and_compare_laplace(bencher: Bencher) {
    compare(bencher, &Noise::laplace(Ratio::new(173, 2).unwrap()));
}

/// Counts that stay about two deviations below the line, so that one in about a thousand is a hit;
/// no price is known beforehand.
fn search(bencher: Bencher, filter: Filter) {
    const STEPS: u32 = 1_000_000;
    let one = L1::new(1.0).unwrap();
    let line = || {
        AboveThreshold::new(LineSpec {
            threshold: 1000.0,
            range: (0.0, 2000.0),
            sensitivity: one,
            change: Change::Monotone,
            direction: Direction::Above,
            noise: LineNoise::Gaussian { line: 50.0, query: 86.5 },
        })
        .unwrap()
    };
    bencher.counter(ItemsCount::new(STEPS)).bench_local(|| {
        let (mut account, mut entropy) = (eke_lab::account(), Seeded::new(6));
        let mut search = SparseVector::new(GridLine::new(line()).unwrap(), filter).unwrap();
        for step in 0..i64::from(STEPS) {
            let truth = Exact::new(760 + step % 64, one);
            black_box(search.next(&truth, &mut account, &mut NoHistory, &mut entropy).unwrap());
        }
        search.stop(&mut account, &mut NoHistory).unwrap();
        search.hits()
    });
}

#[divan::bench(sample_count = 5)]
fn search_charged_afterwards(bencher: Bencher) {
    search(bencher, Filter::ExPost);
}

#[divan::bench(sample_count = 5)]
fn search_charged_before(bencher: Bencher) {
    search(bencher, Filter::ExAnte { steps: 4096 });
}
