//! Levels of geometric noise, drawn in different orders.

use std::collections::BTreeMap;

use eke_noise::Ratio;
use eke_noise::law::GeometricLevel;
use eke_testkit::{Fit, Seeded};

const FINE: f64 = 1.5;
const MIDDLE: f64 = 0.9;
const COARSE: f64 = 0.4;

fn level(rate: f64) -> GeometricLevel {
    GeometricLevel::new(&Ratio::from_f64(rate).unwrap())
}

fn law(rate: f64, k: i64) -> f64 {
    (1.0 - (-rate).exp()) / (1.0 + (-rate).exp()) * (-rate * k.abs() as f64).exp()
}

fn residual(fine: f64, coarse: f64, k: i64) -> f64 {
    let part = (1.0 - (-coarse).exp()) / (1.0 - (-fine).exp());
    let weight = (coarse - fine).exp() * part * part;
    let atom = if k == 0 { weight } else { 0.0 };
    atom + (1.0 - weight) * law(coarse, k)
}

/// The joint law of fine, middle and coarse noise of one path.
fn joint(middle: f64) -> BTreeMap<[i64; 3], f64> {
    let mut joint = BTreeMap::new();
    for fine in -6..=6 {
        for step in -6..=6 {
            for last in -8..=8 {
                let probability =
                    law(FINE, fine) * residual(FINE, middle, step) * residual(middle, COARSE, last);
                joint.insert([fine, fine + step, fine + step + last], probability);
            }
        }
    }
    joint
}

/// Fine to coarse, coarse to fine, and the middle last: the same joint law. The control is a path
/// whose middle level is 5 % off, and for each order one whose draws are not of one path at all.
#[test]
fn geometric_levels_drawn_in_any_order_have_one_joint_law() {
    const RUNS: usize = 300_000;
    let (fine, middle, coarse) = (level(FINE), level(MIDDLE), level(COARSE));
    let mut entropy = Seeded::new(41);
    let e = &mut entropy;
    let orders: [(&str, Vec<[i64; 3]>); 3] = [
        (
            "fine to coarse",
            (0..RUNS)
                .map(|_| {
                    let f = fine.draw(e).unwrap();
                    let m = fine.coarser(f, &middle, e).unwrap();
                    [f, m, middle.coarser(m, &coarse, e).unwrap()]
                })
                .collect(),
        ),
        (
            "coarse to fine",
            (0..RUNS)
                .map(|_| {
                    let c = coarse.draw(e).unwrap();
                    let m = coarse.finer(c, &middle, e).unwrap();
                    [middle.finer(m, &fine, e).unwrap(), m, c]
                })
                .collect(),
        ),
        (
            "the middle last",
            (0..RUNS)
                .map(|_| {
                    let c = coarse.draw(e).unwrap();
                    let f = coarse.finer(c, &fine, e).unwrap();
                    [f, middle.between((&fine, f), (&coarse, c), e).unwrap(), c]
                })
                .collect(),
        ),
    ];
    for (order, draws) in orders {
        let fit = |law| Fit::of(draws.iter().copied(), &law);
        fit(joint(MIDDLE)).assert(&fit(joint(MIDDLE * 1.05)), order);
        let apart = draws.windows(2).map(|pair| [pair[0][0], pair[1][1], pair[0][2]]);
        assert!(Fit::of(apart, &joint(MIDDLE)).is_rejected(), "{order}: reused draws pass");
    }
}

/// Far out, and at rates so close or so small that weights are tiny.
#[test]
fn extreme_levels_neither_panic_nor_hang() {
    let mut entropy = Seeded::new(42);
    let rates = [1e-12, 1e-9, 1e-9 * (1.0 + 1e-9), 1e-3, 1.0, 50.0, 1e6];
    for pair in rates.windows(2) {
        let (coarse, fine) = (level(pair[0]), level(pair[1]));
        for noise in [0, 1, -1, 1_000_000_000_000, i64::MAX, i64::MIN] {
            let finer = coarse.finer(noise, &fine, &mut entropy).unwrap();
            let back = fine.coarser(finer, &coarse, &mut entropy).unwrap();
            let middle = level((pair[0] * pair[1]).sqrt());
            if pair[1] > pair[0] * 1.1 {
                middle.between((&fine, finer), (&coarse, back), &mut entropy).unwrap();
            }
        }
    }
    assert!(level(1e-20).draw(&mut entropy).is_err());
}
