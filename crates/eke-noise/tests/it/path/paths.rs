//! Noise paths, from account to answer.

use std::collections::BTreeMap;

use eke_budget::L1;
use eke_noise::{GeometricPath, NoisePath as _};
use eke_testkit::{Fit, Seeded};

use crate::path::walk::{ORDERS, Walk, at, id, number};

const TRUTH: i64 = 1234;

fn walk(truth: i64, sensitivity: f64) -> Walk<GeometricPath> {
    let path = GeometricPath::open(id(1), L1::new(sensitivity).unwrap());
    Walk::new(path, number(truth, sensitivity), sensitivity)
}

fn law(rate: f64, k: i64) -> f64 {
    (1.0 - (-rate).exp()) / (1.0 + (-rate).exp()) * (-rate * k.abs() as f64).exp()
}

fn residual(fine: f64, coarse: f64, k: i64) -> f64 {
    let part = (1.0 - (-coarse).exp()) / (1.0 - (-fine).exp());
    let weight = (coarse - fine).exp() * part * part;
    (if k == 0 { weight } else { 0.0 }) + (1.0 - weight) * law(coarse, k)
}

/// The joint law of the answers at epsilon 2, 1 and 0.5 of one path.
fn joint(middle: f64) -> BTreeMap<[i64; 3], f64> {
    let mut joint = BTreeMap::new();
    for fine in -5..=5 {
        for step in -5..=5 {
            for last in -7..=7 {
                let probability =
                    law(2.0, fine) * residual(2.0, middle, step) * residual(middle, 0.5, last);
                let fine = TRUTH + fine;
                joint.insert([fine, fine + step, fine + step + last], probability);
            }
        }
    }
    joint
}

/// Points at 2, 1 and 0.5, asked for in every order: always the joint law of one path, never that
/// of independent answers.
#[test]
fn points_revealed_in_any_order_have_one_joint_law() {
    const RUNS: usize = 100_000;
    let mut entropy = Seeded::new(51);
    let e = &mut entropy;
    for (name, order) in ORDERS {
        let three = |_| walk(TRUTH, 1.0).three(order, ["2", "1", "0.5"], e);
        let draws: Vec<[i64; 3]> = (0..RUNS).map(three).collect();
        let fit = |law| Fit::of(draws.iter().copied(), &law);
        fit(joint(1.0)).assert(&fit(joint(1.1)), name);
        let apart = draws.windows(2).map(|pair| [pair[0][0], pair[1][1], pair[0][2]]);
        assert!(Fit::of(apart, &joint(1.0)).is_rejected(), "{name}: independent answers pass");
    }
}

#[test]
fn an_exact_value_shows_nothing_and_maps_with_its_sensitivity() {
    let exact = number(TRUTH, 1.0);
    assert_eq!(format!("{exact:?}"), "Exact(..)");
    let doubled = exact.map(|value| value * 2, 2).unwrap();
    assert!(doubled.sensitivity().get() >= 2.0 && doubled.sensitivity().get() < 2.000_001);
    assert!(doubled.clone().map(|value| value, 0).is_err());
    assert_eq!(doubled.clone().map(|v| v, 1).unwrap().sensitivity(), doubled.sensitivity());
    let mut walk = walk(5, 1.0);
    walk.refine("100", &mut Seeded::new(57));
    let released = walk.path.point(at("100")).unwrap();
    assert_eq!((released.get(), serde_json::to_string(&released).unwrap()), (5, "5".to_owned()));
}

/// With sensitivity 3, a point at epsilon 1.5 has noise of rate one half.
#[test]
fn a_larger_sensitivity_makes_wider_noise() {
    let mut entropy = Seeded::new(55);
    let draws: Vec<i64> = (0..100_000).map(|_| walk(0, 3.0).refine("1.5", &mut entropy)).collect();
    let of = |rate: f64| (-60..=60).map(|k| (k, law(rate, k))).collect::<BTreeMap<_, _>>();
    let fit = |rate| Fit::of(draws.iter().copied(), &of(rate));
    fit(0.5).assert(&fit(0.525), "sensitivity 3");
}
