//! Noise paths, from account to answer.

use std::collections::BTreeMap;

use eke_budget::{
    Account, Adjacency, Amount, BudgetSpec, Epsilon, L1, Metric, NoHistory, PathId, Receipt,
};
use eke_noise::{Entropy, Exact, GeometricPath, NoisePath, Released};

use crate::Seeded;
use crate::fit::Fit;

const TRUTH: i64 = 1234;

fn one() -> L1 {
    L1::new(1.0).unwrap()
}

fn id(number: u8) -> PathId {
    PathId::new([number; 32])
}

fn at(epsilon: &str) -> Amount<Epsilon> {
    epsilon.parse().unwrap()
}

fn account() -> Account {
    let budget = BudgetSpec::promising(Epsilon::new(1e6).unwrap())
        .resolve(Metric::Hamming(Adjacency::AddRemove))
        .unwrap();
    Account::open("riders", budget, &mut NoHistory).unwrap()
}

fn raise(account: &mut Account, path: PathId, to: &str) -> Receipt<eke_budget::Raise<Epsilon>> {
    let approved = account.raise(path, at(to), one()).unwrap();
    account.commit(approved, &mut NoHistory).unwrap()
}

fn coarsen(account: &mut Account, path: PathId, to: &str) -> Receipt<eke_budget::Coarsen<Epsilon>> {
    let approved = account.coarsen(path, at(to)).unwrap();
    account.commit(approved, &mut NoHistory).unwrap()
}

/// An account and a path of it.
struct Walk {
    account: Account,
    path: GeometricPath,
}

impl Walk {
    fn new() -> Self {
        Self { account: account(), path: GeometricPath::open(id(1), one()) }
    }

    fn refine(&mut self, to: &str, entropy: &mut impl Entropy) -> i64 {
        let receipt = raise(&mut self.account, id(1), to);
        self.path.refine(&Exact::new(TRUTH, one()), receipt, entropy).unwrap().get()
    }

    fn coarsen(&mut self, to: &str, entropy: &mut impl Entropy) -> i64 {
        let receipt = coarsen(&mut self.account, id(1), to);
        self.path.coarsen(receipt, entropy).unwrap().get()
    }
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

/// Points at 2, 1 and 0.5, asked for in five orders, stored and read back in between: always the
/// joint law of one path, never that of independent answers, at the price of the finest.
#[test]
fn points_revealed_in_any_order_have_one_joint_law() {
    const RUNS: usize = 100_000;
    let mut entropy = Seeded::new(51);
    let e = &mut entropy;
    type Order = fn(&mut Walk, &mut Seeded) -> [i64; 3];
    let orders: [(&str, Order); 5] = [
        ("coarse to fine", |walk, e| {
            let c = walk.refine("0.5", e);
            let m = walk.refine("1", e);
            [walk.refine("2", e), m, c]
        }),
        ("fine to coarse", |walk, e| {
            let f = walk.refine("2", e);
            let m = walk.coarsen("1", e);
            [f, m, walk.coarsen("0.5", e)]
        }),
        ("the middle last", |walk, e| {
            let c = walk.refine("0.5", e);
            let f = walk.refine("2", e);
            [f, walk.coarsen("1", e), c]
        }),
        ("the finest last", |walk, e| {
            let m = walk.refine("1", e);
            let c = walk.coarsen("0.5", e);
            [walk.refine("2", e), m, c]
        }),
        ("the coarsest in the middle", |walk, e| {
            let f = walk.refine("2", e);
            let c = walk.coarsen("0.5", e);
            [f, walk.coarsen("1", e), c]
        }),
    ];
    for (name, order) in orders {
        let draws: Vec<[i64; 3]> = (0..RUNS).map(|_| order(&mut Walk::new(), e)).collect();
        let fit = |law| Fit::of(draws.iter().copied(), &law);
        fit(joint(1.0)).assert(&fit(joint(1.1)), name);
        let apart = draws.windows(2).map(|pair| [pair[0][0], pair[1][1], pair[0][2]]);
        assert!(Fit::of(apart, &joint(1.0)).is_rejected(), "{name}: independent answers pass");
    }
    let mut walk = Walk::new();
    let _ = orders[4].1(&mut walk, e);
    assert_eq!(walk.account.odometer().pure().unwrap().spent(), at("2"));
}

#[test]
fn an_exact_value_shows_nothing_and_maps_with_its_sensitivity() {
    let exact = Exact::new(TRUTH, one());
    assert_eq!(format!("{exact:?}"), "Exact(..)");
    let doubled = exact.map(|value| value * 2, 2).unwrap();
    assert!(doubled.sensitivity().get() >= 2.0 && doubled.sensitivity().get() < 2.000_001);
    assert!(doubled.clone().map(|value| value, 0).is_err());
    assert_eq!(doubled.clone().map(|v| v, 1).unwrap().sensitivity(), doubled.sensitivity());
    let released: Released<i64> = serde_json::from_str("5").unwrap();
    assert_eq!((released.get(), serde_json::to_string(&released).unwrap()), (5, "5".to_owned()));
}

/// With sensitivity 3, a point at epsilon 1.5 has noise of rate one half.
#[test]
fn a_larger_sensitivity_makes_wider_noise() {
    let mut entropy = Seeded::new(55);
    let three = L1::new(3.0).unwrap();
    let draws: Vec<i64> = (0..100_000)
        .map(|_| {
            let mut account = account();
            let approved = account.raise(id(1), at("1.5"), three).unwrap();
            let receipt = account.commit(approved, &mut NoHistory).unwrap();
            let mut path = GeometricPath::open(id(1), three);
            path.refine(&Exact::new(0, three), receipt, &mut entropy).unwrap().get()
        })
        .collect();
    let of = |rate: f64| (-60..=60).map(|k| (k, law(rate, k))).collect::<BTreeMap<_, _>>();
    let fit = |rate| Fit::of(draws.iter().copied(), &of(rate));
    fit(0.5).assert(&fit(0.525), "sensitivity 3");
}
