//! Draws of every law, next to the sampler with doubles that nobody should use, and steps of paths.

use std::num::NonZeroU32;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use eke_budget::purchase::GroupPrices;
use eke_budget::{Adjacency, Amount, L1, L2, Metric, NoHistory, PathId, Price, Rho};
use eke_lab::account;
use eke_noise::law::{Msdlap, PlanarLaplace, Shifts};
use eke_noise::path::{Column, Columns};
use eke_noise::{
    Bundle, DiscreteGaussian, DiscreteLaplace, Exact, GaussianPath, GeometricPath, Laplace,
    LaplacePath, NoisePath, Ratio, Skellam, SkellamPath,
};
use eke_testkit::Seeded;
use rand_distr::{Distribution, Normal};

const SCALES: [f64; 6] = [0.1, 1.0, 10.0, 100.0, 1e6, 1e9];
const PATH: PathId = PathId::new([1; 32]);

/// Many draws at a time, of the same generator for everybody.
fn draws<T: Copy>(bencher: Bencher, zero: T, fill: impl Fn(&mut [T], &mut Seeded)) {
    let (mut entropy, mut values) = (Seeded::new(1), vec![zero; 100_000]);
    bencher.counter(ItemsCount::new(values.len())).bench_local(|| {
        fill(&mut values, &mut entropy);
        black_box(&values);
    });
}

fn ratio(value: f64) -> Ratio {
    Ratio::from_f64(value).unwrap()
}

#[divan::bench]
fn unsafe_gaussian_of_doubles(bencher: Bencher) {
    let law = Normal::new(0.0, 1.0).unwrap();
    draws(bencher, 0.0, |values, entropy| values.fill_with(|| law.sample(&mut entropy.0)));
}

#[divan::bench(args = SCALES)]
fn discrete_gaussian(bencher: Bencher, scale: f64) {
    let law = DiscreteGaussian::new(&ratio(scale * scale)).unwrap();
    draws(bencher, 0, |values, entropy| law.fill(values, entropy));
}

#[divan::bench(args = SCALES)]
fn discrete_laplace(bencher: Bencher, scale: f64) {
    let law = DiscreteLaplace::new(&ratio(scale)).unwrap();
    draws(bencher, 0, |values, entropy| law.fill(values, entropy));
}

#[divan::bench(args = SCALES)]
fn rounded_laplace(bencher: Bencher, scale: f64) {
    let law = Laplace::new(&ratio(scale)).unwrap();
    draws(bencher, 0, |values, entropy| law.fill(values, entropy));
}

/// By sensitivity and scale.
#[divan::bench(args = [(3, 0.25), (3, 1.0), (3, 10.0), (3, 100.0), (8, 0.25), (8, 1.0), (8, 10.0), (8, 100.0)])]
fn msdlap(bencher: Bencher, (most, scale): (u32, f64)) {
    let law = Msdlap::new(&ratio(1.0 / scale), Shifts::new(most).unwrap()).unwrap();
    draws(bencher, 0, |values, entropy| law.fill(values, entropy));
}

/// Points of N coordinates, at scales of one over the rate.
#[divan::bench(args = [1.0, 10.0, 100.0, 1e6], consts = [2, 3])]
fn planar_laplace<const N: usize>(bencher: Bencher, scale: f64) {
    let law = PlanarLaplace::<N>::new(&ratio(1.0 / scale)).unwrap();
    draws(bencher, [0; N], |values, entropy| law.fill(values, entropy));
}

/// By its deviation, as the others.
#[divan::bench(args = [0.1, 1.0, 10.0, 100.0, 1000.0])]
fn skellam(bencher: Bencher, scale: f64) {
    let law = Skellam::new(&ratio(scale * scale / 2.0)).unwrap();
    draws(bencher, 0, |values, entropy| law.fill(values, entropy));
}

/// A path of ten steps: approve, commit, draw.
fn ten_steps<P: NoisePath<Value = i64, Currency: std::fmt::Debug>>(
    bencher: Bencher,
    open: impl Fn() -> P,
    sensitivity: <P::Currency as Price>::Sensitivity,
    first: u128,
) {
    let mut entropy = Seeded::new(2);
    let truth = Exact::new(1_000_000, L1::new(sensitivity.into()).unwrap());
    bencher.counter(ItemsCount::new(10usize)).bench_local(|| {
        let (mut account, mut path) = (account(), open());
        for step in 1..=10 {
            let to = Amount::from_grains(step * first);
            let approved = account.raise(path.id(), to, sensitivity).unwrap();
            let receipt = account.commit(approved, &mut NoHistory).unwrap();
            black_box(path.refine(&truth, receipt, &mut entropy).unwrap());
        }
    });
}

/// From rho 0.001 on.
#[divan::bench]
fn gaussian_path(bencher: Bencher) {
    let steps = L2::new(1024.0).unwrap();
    ten_steps(bencher, || GaussianPath::<i64>::open(PATH, steps), steps, 10u128.pow(27));
}

/// From epsilon 0.01 on.
#[divan::bench]
fn geometric_path(bencher: Bencher) {
    let one = L1::new(1.0).unwrap();
    ten_steps(bencher, || GeometricPath::<i64>::open(PATH, one), one, 10u128.pow(28));
}

/// From epsilon 0.01 on.
#[divan::bench]
fn laplace_path(bencher: Bencher) {
    let one = L1::new(1.0).unwrap();
    ten_steps(bencher, || LaplacePath::<i64>::open(PATH, one), one, 10u128.pow(28));
}

/// Opened at rho 0.001, and nine coarser points, with noise of about a hundred and more.
#[divan::bench]
fn skellam_path(bencher: Bencher) {
    let mut entropy = Seeded::new(5);
    let steps = L2::new(4.0).unwrap();
    let truth = Exact::new(1_000_000, L1::new(4.0).unwrap());
    bencher.counter(ItemsCount::new(10usize)).bench_local(|| {
        let (mut account, mut path) = (account(), SkellamPath::open(PATH, steps).unwrap());
        let approved = account.raise(PATH, Amount::from_grains(10u128.pow(27)), steps).unwrap();
        let receipt = account.commit(approved, &mut NoHistory).unwrap();
        black_box(path.refine(&truth, receipt, &mut entropy).unwrap());
        for step in 1..=9 {
            let to = Amount::from_grains(step * 10u128.pow(26));
            let approved = account.coarsen::<Rho>(PATH, to).unwrap();
            let receipt = account.commit(approved, &mut NoHistory).unwrap();
            black_box(path.coarsen(receipt, &mut entropy).unwrap());
        }
    });
}

/// A round that takes all of a million groups further.
#[divan::bench(sample_count = 3)]
fn gaussian_bundle(bencher: Bencher) {
    const GROUPS: u32 = 1_000_000;
    let mut entropy = Seeded::new(4);
    let bound = L1::new(1024.0).unwrap();
    let columns = vec![Column { sensitivity: bound, share: 1 }];
    let truth = Exact::new(Columns(vec![vec![12_345; GROUPS as usize]]), vec![bound]);
    let metric = Metric::Hamming(Adjacency::AddRemove);
    bencher
        .counter(ItemsCount::new(GROUPS))
        .with_inputs(|| {
            let prices = GroupPrices::<Rho>::new(GROUPS, NonZeroU32::new(3).unwrap(), metric);
            (account(), prices, Bundle::open(PATH, columns.clone(), GROUPS).unwrap())
        })
        .bench_local_values(|(mut account, mut prices, mut bundle)| {
            let mut round = prices.round();
            for group in 0..GROUPS {
                round.raise(group, Amount::from_grains(10u128.pow(27))).unwrap();
            }
            let approved = account.raise_groups(round.offer(bundle.id())).unwrap();
            let receipt = account.commit(approved, &mut NoHistory).unwrap();
            prices.keep(&receipt).unwrap();
            bundle.refine(&truth, receipt, &mut entropy).unwrap();
            (account, prices, bundle)
        });
}
