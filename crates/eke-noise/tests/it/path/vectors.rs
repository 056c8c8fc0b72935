//! Vectors on a path: all coordinates together, for one price.

use eke_budget::{L1, L2};
use eke_noise::evidence::Norms;
use eke_noise::path::MismatchReason;
use eke_noise::{Exact, GaussianPath, GeometricPath, NoisePath};
use eke_testkit::Seeded;

use crate::path::walk::{Walk, id};

const TRUTH: [i64; 3] = [5_000, -70_000, 0];
/// The length and the sum that one unit can move the vector by.
const LENGTH: f64 = 1024.0;
const SUM: f64 = 1500.0;

fn exact() -> Exact<Vec<i64>> {
    let norms = Norms::new(L1::new(SUM).unwrap(), L2::new(LENGTH).unwrap(), 3).unwrap();
    Exact::new(TRUTH.to_vec(), norms)
}

fn by_length(truth: Exact<Vec<i64>>) -> Walk<GaussianPath<Vec<i64>>> {
    Walk::new(GaussianPath::open(id(1), L2::new(LENGTH).unwrap()), truth, LENGTH)
}

fn by_sum() -> Walk<GeometricPath<Vec<i64>>> {
    Walk::new(GeometricPath::open(id(1), L1::new(SUM).unwrap()), exact(), SUM)
}

/// The mean of the products of two coordinates' noise, over what it should be.
fn products(draws: &[Vec<i64>], i: usize, j: usize, variance: f64) -> f64 {
    let noise = |draw: &Vec<i64>, i: usize| (draw[i] - TRUTH[i]) as f64;
    draws.iter().map(|draw| noise(draw, i) * noise(draw, j)).sum::<f64>()
        / (draws.len() as f64 * variance)
}

/// Every coordinate has the variance of the whole length's price, and its own noise. With 20,000
/// runs the deviation of an estimate is at most 1 %; eight deviations for twelve estimates. Noise
/// shared between coordinates would show as a product of 1 instead of 0.
#[test]
fn coordinates_have_independent_noise_for_the_price_of_the_length() {
    let mut entropy = Seeded::new(81);
    let (mut fine, mut coarse) = (Vec::new(), Vec::new());
    for _ in 0..20_000 {
        let mut walk = by_length(exact());
        walk.refine("1", &mut entropy);
        fine.push(walk.refine("4", &mut entropy));
        coarse.push(walk.coarsen("2", &mut entropy));
        assert_eq!(walk.spent().1, "4");
    }
    for (draws, rho) in [(&fine, 4.0), (&coarse, 2.0)] {
        let variance = LENGTH * LENGTH / (2.0 * rho);
        for (i, j) in [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)] {
            let expected = if i == j { 1.0 } else { 0.0 };
            let product = products(draws, i, j, variance);
            assert!((product - expected).abs() < 0.08, "{rho} {i} {j}: {product}");
        }
    }
}

/// Geometric noise of rate epsilon over the sum, in every coordinate: variance `2 p/(1-p)²`.
#[test]
fn geometric_coordinates_have_noise_for_the_price_of_the_sum() {
    let mut entropy = Seeded::new(82);
    let draws: Vec<Vec<i64>> = (0..20_000)
        .map(|_| {
            let mut walk = by_sum();
            walk.refine("0.5", &mut entropy);
            walk.refine("2", &mut entropy)
        })
        .collect();
    let p = (-2.0f64 / SUM).exp();
    let variance = 2.0 * p / (1.0 - p).powi(2);
    for (i, j) in [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)] {
        let expected = if i == j { 1.0 } else { 0.0 };
        // A squared Laplace number has a deviation of sqrt(5) of its mean: 1.6 %.
        let product = products(&draws, i, j, variance);
        assert!((product - expected).abs() < 0.13, "{i} {j}: {product}");
    }
}

/// A vector of another length, or priced by the wrong norm, is not taken.
#[test]
fn a_vector_of_another_shape_or_norm_is_not_taken() {
    let mut entropy = Seeded::new(83);
    let e = &mut entropy;
    let length = L2::new(LENGTH).unwrap();
    let mut walk = by_length(exact());
    walk.refine("1", e);
    let before = walk.path.clone();
    let two = Norms::new(L1::new(SUM).unwrap(), length, 2).unwrap();
    let shorter = Exact::new(TRUTH.to_vec(), two);
    let receipt = walk.pay("2");
    let mismatch = walk.path.refine(&shorter, receipt, e).unwrap_err();
    assert_eq!(mismatch.reason, MismatchReason::OtherShape);
    let swapped = Exact::new(TRUTH.to_vec(), Norms::l1(L1::new(SUM).unwrap(), 3).unwrap());
    let mismatch = walk.path.refine(&swapped, *mismatch.receipt, e).unwrap_err();
    assert_eq!(mismatch.reason, MismatchReason::OtherSensitivity);
    assert_eq!(walk.path, before);
}

#[test]
fn norms_bound_each_other() {
    let (l1, l2) = (L1::new(3.0).unwrap(), L2::new(5.0).unwrap());
    let of = |norms: Norms| (norms.sum().get(), norms.length().get());
    assert_eq!(of(Norms::new(l1, l2, 2).unwrap()), (3.0, 3.0));
    assert_eq!(of(Norms::l1(l1, 2).unwrap()), (3.0, 3.0));
    let four = of(Norms::l2(l2, 4).unwrap());
    assert!(four.0 >= 10.0 && four.0 < 10.000_001 && (four.1 - 5.0).abs() < 1e-12);
    let doubled = of(*exact().map(|v| v, 2).unwrap().sensitivity());
    assert!(doubled.0 >= 2.0 * SUM && doubled.1 >= 2.0 * LENGTH && doubled.1 < 2.001 * LENGTH);
}

/// How long a vector turns out to be is not shown: what is missing counts as zero, what is beyond
/// is cut.
#[test]
fn the_length_of_a_vector_is_that_of_its_bound() {
    let mut entropy = Seeded::new(84);
    for odd in [Vec::new(), vec![1; 5]] {
        let odd = Exact::new(odd, *exact().sensitivity());
        assert_eq!(by_length(odd).refine("1", &mut entropy).len(), 3);
    }
    let reals =
        Exact::new(vec![0.5; 77], *exact().sensitivity()).on(eke_noise::Grid::WHOLE).unwrap();
    assert_eq!(reals.sensitivity().coordinates(), 3);
    assert!(reals.sensitivity().sum().get() < SUM + 3.001);
}
