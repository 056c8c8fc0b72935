//! Lines: no answers cost more than is said, and some cost as much.

use eke_budget::{Amount, Epsilon, L1};
use eke_select::{AboveThreshold, Change, Direction, LineNoise, LineSpec};
use proptest::prelude::*;

use crate::naive::{Law, Line};

fn spec() -> LineSpec {
    LineSpec {
        threshold: 0.5,
        range: (0.0, 1.0),
        sensitivity: L1::new(0.001).unwrap(),
        change: Change::General,
        direction: Direction::Above,
        noise: LineNoise::Gaussian { line: 0.1, query: 0.1 * 3f64.sqrt() },
    }
}

fn line(spec: LineSpec) -> AboveThreshold {
    AboveThreshold::new(spec).unwrap()
}

/// The same line, for the plain way.
fn naive(spec: &LineSpec) -> Line {
    let (law, line, query) = match spec.noise {
        LineNoise::Gaussian { line, query } => (Law::Normal, line, query),
        LineNoise::Laplace { line, query } => (Law::Laplace, line, query),
    };
    let above = spec.direction == Direction::Above;
    Line { law, threshold: spec.threshold, line, query, above }
}

/// Answers, and those of a neighbour: moves are from -1 to 1, of the sensitivity.
fn neighbour(spec: &LineSpec, answers: &[f64], moves: &[f64]) -> Vec<f64> {
    let (low, high) = spec.range;
    let one_way = moves.iter().sum::<f64>().signum();
    let moved = |&by: &f64| match spec.change {
        Change::General => by,
        Change::Monotone => by.abs() * one_way,
    };
    let sensitivity = spec.sensitivity.get();
    answers
        .iter()
        .zip(moves)
        .map(|(a, by)| (a + moved(by) * sensitivity).clamp(low, high))
        .collect()
}

/// The loss of an outcome, whichever of the two it was drawn from.
fn loss(spec: &LineSpec, answers: &[f64], other: &[f64], halts: bool) -> f64 {
    let line = naive(spec);
    (line.probability(answers, halts).ln() - line.probability(other, halts).ln()).abs()
}

fn price(spec: LineSpec, steps: usize, halts: bool) -> f64 {
    let (line, steps) = (line(spec), steps as u64);
    if halts { line.halting_at(steps).epsilon } else { line.without_halt(steps).epsilon }
}

/// Where prices come from: all before the hit at one end of the range, the hit at the other, and
/// moved apart.
fn worst(spec: &LineSpec, steps: usize, halts: bool) -> f64 {
    let (low, high) = spec.range;
    let (far, near, up) = match spec.direction {
        Direction::Above => (low, high, 1.0),
        Direction::Below => (high, low, -1.0),
    };
    let mut answers = vec![near; steps];
    let mut losses = Vec::new();
    if halts {
        answers[steps - 1] = far;
    }
    let moves: &[[f64; 2]] = match (halts, spec.change) {
        (false, _) => &[[-1.0, -1.0]],
        (true, Change::General) => &[[-1.0, 1.0]],
        (true, Change::Monotone) => &[[-1.0, 0.0], [0.0, 1.0]],
    };
    for [others, last] in moves {
        let mut by = vec![others * up; steps];
        by[steps - 1] = last * up;
        let (low, high) = spec.range;
        let sensitivity = spec.sensitivity.get();
        let other: Vec<f64> = answers
            .iter()
            .zip(&by)
            .map(|(a, by)| (a + by * sensitivity).clamp(low, high))
            .collect();
        losses.push(loss(spec, &answers, &other, halts));
    }
    losses.into_iter().fold(0.0, f64::max)
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![Just(Change::General), Just(Change::Monotone)]
}

fn direction() -> impl Strategy<Value = Direction> {
    prop_oneof![Just(Direction::Above), Just(Direction::Below)]
}

/// Answers all over the range and often at its ends, moves all over and often as far as they go.
fn answers() -> impl Strategy<Value = Vec<(f64, f64)>> {
    let place = prop_oneof![Just(0.0), Just(1.0), 0.0..1.0];
    let by = prop_oneof![Just(-1.0), Just(1.0), -1.0..1.0];
    proptest::collection::vec((place, by), 1..7)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn no_answers_cost_more_than_a_line_says(
        (threshold, low, width) in (-0.3f64..1.3, -5.0f64..5.0, 0.5f64..3.0),
        (deviation, ratio) in (0.15f64..2.0, 0.5f64..4.0),
        sensitivity in prop_oneof![1e-3f64..0.1, 0.1f64..1.5],
        (change, direction) in (change(), direction()),
        drawn in answers(),
        halts: bool,
    ) {
        let spec = LineSpec {
            threshold: low + threshold * width,
            range: (low, low + width),
            sensitivity: L1::new(sensitivity * width).unwrap(),
            change,
            direction,
            noise: LineNoise::Gaussian { line: deviation * width, query: deviation * ratio * width },
        };
        let (places, moves): (Vec<f64>, Vec<f64>) = drawn.into_iter().unzip();
        let answers: Vec<f64> = places.iter().map(|place| low + place * width).collect();
        let other = neighbour(&spec, &answers, &moves);
        let (price, steps) = (price(spec, answers.len(), halts), answers.len());
        let loss = loss(&spec, &answers, &other, halts);
        prop_assert!(loss <= price + 1e-9, "{spec:?} {answers:?} {other:?}: {loss} {price}");
        // And somebody's answers do cost as much.
        let worst = worst(&spec, steps, halts);
        prop_assert!((worst - price).abs() < 1e-7 * price + 1e-9, "{spec:?} {steps}: {worst} {price}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn laplace_lines_never_cost_more_than_is_said(
        threshold in -0.3f64..1.3,
        (scale, ratio) in (0.2f64..3.0, 0.3f64..4.0),
        sensitivity in 0.05f64..1.5,
        (change, direction) in (change(), direction()),
        drawn in answers(),
        halts: bool,
    ) {
        let spec = LineSpec {
            threshold,
            change,
            direction,
            sensitivity: L1::new(sensitivity).unwrap(),
            noise: LineNoise::Laplace { line: scale, query: scale * ratio },
            ..spec()
        };
        let (answers, moves): (Vec<f64>, Vec<f64>) = drawn.into_iter().unzip();
        let other = neighbour(&spec, &answers, &moves);
        let (loss, price) = (loss(&spec, &answers, &other, halts), price(spec, answers.len(), halts));
        prop_assert!(loss <= price + 1e-4, "{spec:?} {answers:?} {other:?}: {loss} {price}");
    }
}

/// What would be paid if answers moved less than they do is less than what the worst of them cost.
#[test]
fn half_a_price_does_not_cover_a_laplace_line() {
    let noise = LineNoise::Laplace { line: 0.05, query: 0.1 };
    for change in [Change::General, Change::Monotone] {
        let sensitivity = L1::new(0.05).unwrap();
        let spec = LineSpec { noise, change, sensitivity, ..spec() };
        for halts in [true, false] {
            let (worst, price) = (worst(&spec, 8, halts), price(spec, 8, halts));
            assert!(worst <= price + 1e-4 && worst > 0.5 * price, "{change:?} {worst} {price}");
        }
    }
}

#[test]
fn laplace_prices_are_the_usual_ones() {
    let sensitivity = L1::new(2.0).unwrap();
    let laplace = |change| {
        // Scales D/e1 and 2D/e2 for e1 = 0.3, e2 = 0.8.
        let noise = LineNoise::Laplace { line: 2.0 / 0.3, query: 4.0 / 0.8 };
        line(LineSpec { noise, change, sensitivity, range: (0.0, 1e6), threshold: 10.0, ..spec() })
    };
    let general = laplace(Change::General);
    assert!((general.halting_at(1000).epsilon - 1.1).abs() < 1e-12);
    assert!((general.without_halt(1000).epsilon - 0.3).abs() < 1e-12);
    // Monotone answers pay for half as much.
    let monotone = laplace(Change::Monotone);
    assert!((monotone.halting_at(1000).epsilon - 0.7).abs() < 1e-12);
    // And a single answer pays for its own noise only.
    assert!((general.halting_at(1).epsilon - 0.3).abs() < 1e-12);
    assert_eq!(general.horizon("2".parse().unwrap()), AboveThreshold::LONGEST);
    assert_eq!(general.horizon("0.2".parse().unwrap()), 0);
}

#[test]
fn prices_rise_with_every_step() {
    let noise = |line, query| LineNoise::Gaussian { line, query };
    for (threshold, noise, change) in [
        (0.5, noise(0.1, 0.1732), Change::General),
        (0.5, noise(0.1, 0.1732), Change::Monotone),
        (0.9, noise(0.01, 0.05), Change::General),
        (-0.2, noise(0.3, 0.1), Change::Monotone),
        (1.5, noise(0.3, 0.3), Change::General),
        (0.5, LineNoise::Laplace { line: 0.1, query: 0.2 }, Change::General),
        (0.5, LineNoise::Laplace { line: 0.1, query: 0.02 }, Change::Monotone),
    ] {
        let line = line(LineSpec { threshold, noise, change, ..spec() });
        let steps = (1..60).chain([100, 101, 1_000, 1_001, 100_000, 1_000_000]);
        let (mut last, mut last_worst) = ([0.0; 2], Amount::ZERO);
        let mut before = 0;
        for t in steps {
            let prices = [line.halting_at(t), line.without_halt(t)];
            for (price, last) in prices.iter().zip(last) {
                assert!(price.epsilon >= last - price.error_bound, "{threshold} {t}");
            }
            // Not having halted before costs no more than halting now.
            let stopped = line.without_halt(t - 1);
            assert!(stopped.epsilon - stopped.error_bound <= prices[0].epsilon, "{threshold} {t}");
            let worst = line.worst(t);
            assert!(worst.epsilon >= prices[0].epsilon && worst.epsilon >= prices[1].epsilon);
            assert!(worst.amount() >= last_worst || t == before, "{threshold} {t}");
            (last, last_worst, before) =
                ([prices[0].epsilon, prices[1].epsilon], worst.amount(), t);
        }
    }
}

/// Walking away can cost more than a hit would have.
#[test]
fn having_stopped_can_cost_more_than_a_hit() {
    let noise = LineNoise::Gaussian { line: 0.04, query: 0.04 * 3f64.sqrt() };
    let line = line(LineSpec { threshold: 0.33, noise, ..spec() });
    assert!((line.halting_at(1).epsilon - 0.054).abs() < 1e-3);
    assert!((line.without_halt(1).epsilon - 0.106).abs() < 1e-3);
    assert_eq!(line.worst(1).epsilon, line.without_halt(1).epsilon);
    assert_eq!(line.worst(0).epsilon, 0.0);
}

#[test]
fn the_horizon_is_the_last_step_that_fits() {
    for (deviation, left) in [(0.1, "0.1"), (0.2, "0.05"), (0.5, "0.017"), (1.0, "0.01")] {
        let noise = LineNoise::Gaussian { line: deviation, query: deviation * 3f64.sqrt() };
        let line = line(LineSpec { noise, ..spec() });
        let left: Amount<Epsilon> = left.parse().unwrap();
        let horizon = line.horizon(left);
        assert!(horizon > 1, "{deviation}");
        assert!(line.worst(horizon).amount() <= left);
        assert!(line.worst(horizon + 1).amount() > left);
        assert_eq!(line.horizon(line.worst(1).amount()), 1);
        assert_eq!(line.horizon(Amount::GRAIN), 0);
    }
}

#[test]
fn below_is_above_in_a_mirror() {
    let above = LineSpec { threshold: 0.7, range: (-1.0, 2.0), ..spec() };
    let below =
        LineSpec { threshold: -0.7, range: (-2.0, 1.0), direction: Direction::Below, ..above };
    for t in [1, 7, 1000] {
        assert_eq!(line(above).halting_at(t), line(below).halting_at(t));
        assert_eq!(line(above).without_halt(t), line(below).without_halt(t));
        let other = LineSpec { direction: Direction::Below, ..above };
        assert_ne!(line(above).halting_at(t), line(other).halting_at(t));
    }
}

/// No answer moves further than the range is wide.
#[test]
fn a_sensitivity_beyond_the_range_costs_as_much_as_the_range() {
    for (noise, halts) in [
        (LineNoise::Gaussian { line: 0.3, query: 0.5 }, true),
        (LineNoise::Gaussian { line: 0.3, query: 0.5 }, false),
        (LineNoise::Laplace { line: 0.3, query: 0.5 }, true),
    ] {
        let at = |sensitivity| {
            let sensitivity = L1::new(sensitivity).unwrap();
            price(LineSpec { noise, sensitivity, ..spec() }, 5, halts)
        };
        assert_eq!(at(7.0), at(1e9));
        assert!(at(1.0) <= at(7.0) && at(7.0) < at(1.0) * (1.0 + 1e-12));
        assert!(at(0.5) < at(1.0));
    }
}

#[test]
fn slopes_bound_prices_per_distance() {
    for change in [Change::General, Change::Monotone] {
        for t in [1, 2, 20, 500] {
            let slope = line(LineSpec { change, ..spec() }).slope(t).unwrap();
            for distance in [1e-9, 1e-4, 0.01, 0.3, 1.0] {
                let sensitivity = L1::new(distance).unwrap();
                let line = line(LineSpec { change, sensitivity, ..spec() });
                for (price, slope) in [
                    (line.halting_at(t), slope.halting),
                    (line.without_halt(t), slope.without_halt),
                ] {
                    let least = price.epsilon - price.error_bound;
                    assert!(least <= slope.epsilon * distance, "{change:?} {t} {distance}");
                }
            }
        }
    }
    let noise = LineNoise::Laplace { line: 0.1, query: 0.2 };
    assert_eq!(line(LineSpec { noise, ..spec() }).slope(3), None);
}

#[test]
fn calibrated_lines_keep_their_price_and_waste_nothing() {
    for (steps, no_halt) in [(1, false), (20, false), (20, true), (100_000, false)] {
        for epsilon in ["0.01", "0.5", "3"] {
            let epsilon: Epsilon = epsilon.parse().unwrap();
            let found =
                AboveThreshold::calibrate(spec(), 3f64.sqrt(), steps, no_halt, epsilon).unwrap();
            let LineNoise::Gaussian { line: deviation, query } = found.spec().noise else {
                panic!("not Gaussian");
            };
            assert!((query / deviation / 3f64.sqrt() - 1.0).abs() < 1e-12);
            let at = |factor: f64| {
                let (line_noise, query) = (deviation * factor, query * factor);
                let noise = LineNoise::Gaussian { line: line_noise, query };
                price(LineSpec { noise, ..spec() }, usize::try_from(steps).unwrap(), !no_halt)
            };
            assert!(at(1.0) <= epsilon.get() && at(1.0 - 1e-10) > epsilon.get(), "{steps}");
        }
    }
}

#[test]
fn what_is_far_too_little_noise_has_no_finite_price_rather_than_a_wrong_one() {
    let noise = LineNoise::Gaussian { line: 1e-12, query: 1e-12 };
    let price = line(LineSpec { noise, ..spec() }).halting_at(10);
    assert!(price.epsilon > 1e8, "{price:?}");
    assert!(price.amount() > "1e8".parse().unwrap());
    let beyond = line(spec()).worst(AboveThreshold::LONGEST + 1);
    assert_eq!(beyond.amount(), Amount::MAX);
}

/// A range far from zero, whose width is no double, and answers that may move further than that.
#[test]
fn what_the_width_of_a_range_is_rounded_by_is_in_the_error() {
    let line = AboveThreshold::new(LineSpec {
        threshold: -978_089.972_438_016_6,
        range: (-978_089.972_438_016_6, -977_484.451_630_969_2),
        sensitivity: L1::new(6_792.027_108_198_135_5).unwrap(),
        change: Change::General,
        direction: Direction::Above,
        noise: LineNoise::Gaussian { line: 4_263.232_890_935_332, query: 7_383.919_367_099_995 },
    })
    .unwrap();
    let price = line.without_halt(1);
    let truth = 0.058_282_629_232_510_34;
    assert!(price.epsilon >= truth && price.epsilon - price.error_bound <= truth, "{price:?}");
    assert!(price.error_bound < 1e-9 * price.epsilon);
}
