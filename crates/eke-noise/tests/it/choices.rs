//! Choosing by score, and choosing some of many.

use std::collections::BTreeMap;

use eke_noise::{Ratio, choose_exponentially, permute_and_flip, uniform_subset};

use crate::Seeded;
use crate::fit::Fit;

const SCORES: [i64; 4] = [3, 5, 5, 0];

/// Probabilities proportional to `exp(rate · score)`.
fn exponential(rate: f64) -> BTreeMap<usize, f64> {
    let weights: Vec<f64> = SCORES.iter().map(|&score| (rate * score as f64).exp()).collect();
    let total: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / total).enumerate().collect()
}

/// Permute and flip's law, by going through all orders.
fn flipped(rate: f64) -> BTreeMap<usize, f64> {
    fn walk(left: &[usize], reached: f64, rate: f64, law: &mut BTreeMap<usize, f64>) {
        for &item in left {
            let seen = reached / left.len() as f64;
            let heads = (-rate * (5 - SCORES[item]) as f64).exp();
            *law.entry(item).or_default() += seen * heads;
            let rest: Vec<usize> = left.iter().copied().filter(|&other| other != item).collect();
            walk(&rest, seen * (1.0 - heads), rate, law);
        }
    }
    let mut law = BTreeMap::new();
    walk(&[0, 1, 2, 3], 1.0, rate, &mut law);
    law
}

#[test]
fn the_exponential_mechanism_has_its_law() {
    let mut entropy = Seeded::new(11);
    let rate = Ratio::new(1, 2).unwrap();
    let draws: Vec<usize> =
        (0..400_000).map(|_| choose_exponentially(&SCORES, &rate, &mut entropy).unwrap()).collect();
    let fit = |law| Fit::of(draws.iter().copied(), &law);
    fit(exponential(0.5)).assert(&fit(exponential(0.525)), "exponential");
    assert!(fit(flipped(0.5)).is_rejected(), "the two mechanisms are told apart");
    assert_eq!(choose_exponentially(&[], &rate, &mut entropy), None);
}

#[test]
fn permute_and_flip_has_its_law() {
    let mut entropy = Seeded::new(12);
    let rate = Ratio::new(1, 2).unwrap();
    let draws: Vec<usize> =
        (0..400_000).map(|_| permute_and_flip(&SCORES, &rate, &mut entropy).unwrap()).collect();
    let fit = |law| Fit::of(draws.iter().copied(), &law);
    fit(flipped(0.5)).assert(&fit(flipped(0.525)), "permute and flip");
    assert_eq!(permute_and_flip(&[], &rate, &mut entropy), None);
}

#[test]
fn scores_at_the_ends_of_the_range_do_not_overflow() {
    let mut entropy = Seeded::new(13);
    let rate = Ratio::new(1, 1).unwrap();
    let scores = [i64::MIN, i64::MAX, -1];
    for _ in 0..100 {
        assert_eq!(choose_exponentially(&scores, &rate, &mut entropy), Some(1));
        assert_eq!(permute_and_flip(&scores, &rate, &mut entropy), Some(1));
    }
}

#[test]
fn every_subset_is_equally_likely() {
    let mut entropy = Seeded::new(14);
    let subsets: Vec<Vec<usize>> = (0..200_000)
        .map(|_| {
            let mut subset = uniform_subset(5, 2, &mut entropy);
            subset.sort_unstable();
            subset
        })
        .collect();
    let law = |first: f64| {
        let mut law = BTreeMap::new();
        for low in 0..5 {
            for high in low + 1..5 {
                law.insert(
                    vec![low, high],
                    if law.is_empty() { first } else { (1.0 - first) / 9.0 },
                );
            }
        }
        law
    };
    let fit = |law| Fit::of(subsets.iter().cloned(), &law);
    fit(law(0.1)).assert(&fit(law(0.11)), "subsets");

    let mut all = uniform_subset(4, 9, &mut entropy);
    all.sort_unstable();
    assert_eq!(all, [0, 1, 2, 3]);
    assert_eq!(uniform_subset(0, 3, &mut entropy), Vec::<usize>::new());
    assert_eq!(uniform_subset(1_000_000_000_000, 3, &mut entropy).len(), 3);
}
