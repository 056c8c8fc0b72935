//! Noisy maxima and exponential choices: no scores cost more than is said, and some cost as much.

use eke_budget::{Epsilon, L1};
use eke_select::{Change, Exponential, MaxNoise, NoisyMax, NoisyMaxSpec, PermuteAndFlip};
use proptest::prelude::*;

use crate::naive::{laplace_winners, winners};

fn spec() -> NoisyMaxSpec {
    NoisyMaxSpec {
        candidates: 10,
        range: (0.0, 1.0),
        sensitivity: L1::new(0.01).unwrap(),
        change: Change::General,
        noise: MaxNoise::Gaussian(0.2),
    }
}

fn max(spec: NoisyMaxSpec) -> NoisyMax {
    NoisyMax::new(spec).unwrap()
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![Just(Change::General), Just(Change::Monotone)]
}

/// Scores and moves of up to six candidates, often as far out as they go.
fn scores() -> impl Strategy<Value = Vec<(f64, f64)>> {
    let place = prop_oneof![Just(0.0), Just(1.0), 0.0..1.0];
    let by = prop_oneof![Just(-1.0), Just(1.0), -1.0..1.0];
    proptest::collection::vec((place, by), 2..7)
}

fn moved(spec: &NoisyMaxSpec, drawn: &[(f64, f64)]) -> Vec<f64> {
    let one_way = drawn.iter().map(|(_, by)| by).sum::<f64>().signum();
    let moved = |by: f64| match spec.change {
        Change::General => by,
        Change::Monotone => by.abs() * one_way,
    };
    let sensitivity = spec.sensitivity.get();
    drawn.iter().map(|&(place, by)| (place + moved(by) * sensitivity).clamp(0.0, 1.0)).collect()
}

fn largest_loss(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(p, q)| (p.ln() - q.ln()).abs()).fold(0.0, f64::max)
}

/// The Rényi divergence of an order.
fn divergence(order: f64, one: &[f64], other: &[f64]) -> f64 {
    let sum: f64 = one.iter().zip(other).map(|(p, q)| p.powf(order) * q.powf(1.0 - order)).sum();
    sum.ln() / (order - 1.0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn no_scores_cost_more_than_a_noisy_maximum_says(
        deviation in 0.2f64..2.0,
        sensitivity in prop_oneof![1e-3f64..0.1, 0.1f64..1.5],
        change in change(),
        drawn in scores(),
    ) {
        let candidates = drawn.len() as u64;
        let noise = MaxNoise::Gaussian(deviation);
        let sensitivity = L1::new(sensitivity).unwrap();
        let spec = NoisyMaxSpec { candidates, sensitivity, change, noise, ..spec() };
        let price = max(spec).epsilon().epsilon;
        let scores: Vec<f64> = drawn.iter().map(|(place, _)| *place).collect();
        let (one, other) =
            (winners(&scores, deviation), winners(&moved(&spec, &drawn), deviation));
        let loss = largest_loss(&one, &other);
        prop_assert!(loss <= price + 1e-9, "{spec:?} {drawn:?}: {loss} {price}");
        // The one that is last of all cost as much as any.
        let mut last = vec![(1.0, if change == Change::General { -1.0 } else { 0.0 }); drawn.len()];
        last[0] = (0.0, 1.0);
        let scores: Vec<f64> = last.iter().map(|(place, _)| *place).collect();
        let (one, other) = (winners(&scores, deviation), winners(&moved(&spec, &last), deviation));
        let worst = largest_loss(&one, &other);
        prop_assert!((worst - price).abs() < 1e-7 * price + 1e-9, "{spec:?}: {worst} {price}");
    }

    #[test]
    fn the_concentrated_price_of_a_noisy_maximum_bounds_its_divergence(
        deviation in 0.3f64..2.0,
        sensitivity in 0.05f64..1.0,
        change in change(),
        drawn in scores(),
    ) {
        let candidates = drawn.len() as u64;
        let noise = MaxNoise::Gaussian(deviation);
        let sensitivity = L1::new(sensitivity).unwrap();
        let max = max(NoisyMaxSpec { candidates, sensitivity, change, noise, ..spec() });
        let scores: Vec<f64> = drawn.iter().map(|(place, _)| *place).collect();
        let one = winners(&scores, deviation);
        let other = winners(&moved(max.spec(), &drawn), deviation);
        for order in [1.1, 2.0, 5.0, 20.0] {
            let divergence = divergence(order, &one, &other).max(divergence(order, &other, &one));
            for rho in [max.rho(), max.rho_of_release(), max.rho_of_epsilon()] {
                prop_assert!(divergence <= order * rho.unwrap().get() + 1e-9, "{max:?} {order}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn laplace_maxima_never_cost_more_than_is_said(
        scale in 0.2f64..2.0,
        sensitivity in 0.05f64..1.5,
        change in change(),
        drawn in scores(),
    ) {
        let candidates = drawn.len() as u64;
        let noise = MaxNoise::Laplace(scale);
        let sensitivity = L1::new(sensitivity).unwrap();
        let spec = NoisyMaxSpec { candidates, sensitivity, change, noise, ..spec() };
        let scores: Vec<f64> = drawn.iter().map(|(place, _)| *place).collect();
        let one = laplace_winners(&scores, scale);
        let other = laplace_winners(&moved(&spec, &drawn), scale);
        let (loss, price) = (largest_loss(&one, &other), max(spec).epsilon().epsilon);
        prop_assert!(loss <= price + 1e-4, "{spec:?} {drawn:?}: {loss} {price}");
    }
}

/// A release of scores that all move the same way is seen from the middle of where they may be.
#[test]
fn monotone_scores_cost_a_quarter_of_general_ones_in_rho() {
    let rho = |change| max(NoisyMaxSpec { change, ..spec() }).rho_of_release().unwrap().get();
    // 10 candidates, 0.01 each, deviation 0.2.
    assert!((rho(Change::General) / (10.0 * 1e-4 / 0.08) - 1.0).abs() < 1e-12);
    assert!((rho(Change::Monotone) / (10.0 * 1e-4 / 0.32) - 1.0).abs() < 1e-12);
}

#[test]
fn the_cheaper_price_is_the_one_that_is_given() {
    // Few candidates in a wide range: a release. Many in a narrow one: the pure price.
    for (candidates, deviation, pure) in [(2, 0.05, false), (100_000, 0.5, true)] {
        let noise = MaxNoise::Gaussian(deviation);
        let max = max(NoisyMaxSpec { candidates, noise, ..spec() });
        assert_eq!(max.pure_is_cheaper(), pure, "{max:?}");
        let (one, other) = (max.rho_of_release().unwrap(), max.rho_of_epsilon().unwrap());
        assert_eq!(max.rho().unwrap(), one.min(other));
        assert_eq!(other <= one, pure);
    }
    let laplace = max(NoisyMaxSpec { noise: MaxNoise::Laplace(0.1), ..spec() });
    assert_eq!(laplace.rho_of_release(), None);
    assert_eq!(laplace.rho(), laplace.rho_of_epsilon());
    // One candidate tells nothing.
    let one = max(NoisyMaxSpec { candidates: 1, ..spec() });
    assert_eq!((one.epsilon().epsilon, one.rho()), (0.0, None));
}

#[test]
fn more_candidates_cost_more_and_a_million_of_them_are_priced() {
    let mut last = 0.0;
    for candidates in [2, 3, 10, 100, 10_000, 1_000_000, 1_000_000_000] {
        for noise in [0.005, 0.2] {
            let noise = MaxNoise::Gaussian(noise);
            let price = max(NoisyMaxSpec { candidates, noise, ..spec() }).epsilon();
            assert!(price.error_bound <= 1e-9 * price.epsilon, "{candidates} {price:?}");
        }
        let price = max(NoisyMaxSpec { candidates, ..spec() }).epsilon();
        assert!(price.epsilon > last, "{candidates}");
        last = price.epsilon;
    }
}

#[test]
fn calibrated_maxima_keep_their_price_and_waste_nothing() {
    for candidates in [2, 30, 1_000_000] {
        for (change, epsilon) in [(Change::General, "0.1"), (Change::Monotone, "2")] {
            let spec = NoisyMaxSpec { candidates, change, ..spec() };
            let epsilon: Epsilon = epsilon.parse().unwrap();
            let found = NoisyMax::calibrate(spec, epsilon).unwrap();
            let MaxNoise::Gaussian(deviation) = found.spec().noise else { panic!("not Gaussian") };
            let at = |factor: f64| {
                let noise = MaxNoise::Gaussian(deviation * factor);
                max(NoisyMaxSpec { noise, ..spec }).epsilon().epsilon
            };
            assert!(at(1.0) <= epsilon.get() && at(1.0 - 1e-10) > epsilon.get(), "{candidates}");
        }
    }
}

/// Probabilities of the exponential mechanism and of permute and flip, for all scores on a small
/// grid.
#[test]
fn exponential_choices_cost_their_range_of_losses() {
    let rate = 0.7;
    for change in [Change::Monotone, Change::General] {
        let price = Exponential::new(rate, L1::new(1.0).unwrap(), change).unwrap();
        let flip = PermuteAndFlip::new(rate, L1::new(1.0).unwrap(), change).unwrap();
        let epsilon = price.epsilon().epsilon;
        assert_eq!(flip.epsilon().epsilon, epsilon);
        let (mut losses, mut flips, mut rhos): (f64, f64, f64) = (0.0, 0.0, 0.0);
        for number in 0..27 * 27 {
            let digit = |place: u32| f64::from(number / 3i32.pow(place) % 3);
            let scores: Vec<f64> = (0..3).map(|place| 4.0 * digit(place)).collect();
            let step = |place: u32| match change {
                Change::General => digit(place) - 1.0,
                Change::Monotone => (digit(place) - 1.0).max(0.0),
            };
            let other: Vec<f64> =
                scores.iter().zip(3..).map(|(s, place)| s + step(place)).collect();
            let (p, q) = (exponential(&scores, rate), exponential(&other, rate));
            losses = losses.max(largest_loss(&p, &q));
            for order in [1.1, 2.0, 8.0] {
                rhos = rhos.max(divergence(order, &p, &q) / order);
                rhos = rhos.max(divergence(order, &q, &p) / order);
            }
            let (p, q) = (permute_and_flip(&scores, rate), permute_and_flip(&other, rate));
            flips = flips.max(largest_loss(&p, &q));
        }
        assert!(losses <= epsilon && losses > 0.8 * epsilon, "{change:?} {losses} {epsilon}");
        assert!(flips <= epsilon && flips > 0.8 * epsilon, "{change:?} {flips} {epsilon}");
        let rho = price.rho().get();
        assert!(rhos <= rho && rhos > 0.5 * rho, "{change:?} {rhos} {rho}");
    }
}

fn exponential(scores: &[f64], rate: f64) -> Vec<f64> {
    let weights: Vec<f64> = scores.iter().map(|score| (rate * score).exp()).collect();
    weights.iter().map(|weight| weight / weights.iter().sum::<f64>()).collect()
}

/// Over all orders of three candidates.
fn permute_and_flip(scores: &[f64], rate: f64) -> Vec<f64> {
    let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let taken: Vec<f64> = scores.iter().map(|score| (rate * (score - best)).exp()).collect();
    let mut chances = vec![0.0; 3];
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let mut left = 1.0 / 6.0;
        for item in order {
            chances[item] += left * taken[item];
            left *= 1.0 - taken[item];
        }
    }
    chances
}
