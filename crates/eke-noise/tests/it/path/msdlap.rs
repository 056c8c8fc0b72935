//! `MSDLap` noise and its paths.

use std::collections::BTreeMap;

use eke_budget::{Amount, L1, NoHistory};
use eke_noise::law::{Msdlap, Shifts};
use eke_noise::path::{MismatchReason, MsdlapPath};
use eke_noise::{AccountPayer, NoisePath, Ratio, release_tiers};
use eke_testkit::{Fit, Seeded};

use crate::path::walk::{ORDERS, Walk, at, id, number, riders};

const TRUTH: i64 = 1234;

fn sensitivity(size: f64) -> L1 {
    L1::new(size).unwrap()
}

fn walk(truth: i64, size: f64) -> Walk<MsdlapPath> {
    let path = MsdlapPath::open(id(1), sensitivity(size)).unwrap();
    Walk::new(path, number(truth, size), size)
}

fn geometric(rate: f64, k: i64) -> f64 {
    (1.0 - (-rate).exp()) / (1.0 + (-rate).exp()) * (-rate * k.abs() as f64).exp()
}

fn residual(fine: f64, coarse: f64, k: i64) -> f64 {
    let part = (1.0 - (-coarse).exp()) / (1.0 - (-fine).exp());
    let weight = (coarse - fine).exp() * part * part;
    (if k == 0 { weight } else { 0.0 }) + (1.0 - weight) * geometric(coarse, k)
}

/// The law of a sum with a weight for every part, by convolution.
fn weighted(weights: &[i64], reach: i64, part: impl Fn(i64) -> f64) -> BTreeMap<i64, f64> {
    let mut law = BTreeMap::from([(0, 1.0)]);
    for weight in weights {
        let mut next = BTreeMap::new();
        for (sum, probability) in law {
            for k in -reach..=reach {
                *next.entry(sum + weight * k).or_insert(0.0) += probability * part(k);
            }
        }
        law = next;
    }
    law
}

/// By convolution. The control has every part added once, and not as often as its shift says.
#[test]
fn msdlap_noise_has_its_law() {
    const DRAWS: usize = 400_000;
    let laws = [(0.7, 3, 43), (2.5, 8, 12), (1.0, 1, 30), (0.3, 2, 100)];
    for (seed, (epsilon, most, reach)) in (301..).zip(laws) {
        let mut entropy = Seeded::new(seed);
        let exact = Ratio::from_f64(epsilon).unwrap();
        let noise = Msdlap::new(&exact, Shifts::new(most).unwrap()).unwrap();
        let mut draws = vec![0; DRAWS];
        noise.fill(&mut draws, &mut entropy);
        let weights: Vec<i64> = (1..=i64::from(most)).collect();
        let law = |epsilon| weighted(&weights, reach, |k| geometric(epsilon, k));
        let fit = |law: &BTreeMap<i64, f64>| Fit::of(draws.iter().copied(), law);
        fit(&law(epsilon)).assert(&fit(&law(epsilon * 1.05)), &format!("{epsilon} {most}"));
        if most > 1 {
            let unweighted = weighted(&vec![1; weights.len()], reach, |k| geometric(epsilon, k));
            assert!(fit(&unweighted).is_rejected(), "{epsilon} {most}: weights do not show");
        }
        // The mean square is within 2 % of the variance: a deviation is below 0.4 %.
        let square = draws.iter().map(|&draw| (draw as f64).powi(2)).sum::<f64>() / DRAWS as f64;
        assert!((square / noise.variance() - 1.0).abs() < 0.02, "{square} {}", noise.variance());
    }
}

/// The largest ratio of the law to itself moved by a shift is `exp(epsilon)` for every shift up to
/// the sensitivity, and more for the next: the noise costs what it says, and no less.
#[test]
fn msdlap_noise_costs_its_epsilon_for_every_shift() {
    for (epsilon, most) in [(0.7, 3), (2.0, 2), (1.2, 4)] {
        let weights: Vec<i64> = (1..=most).collect();
        // Far enough out that what convolution leaves out is nothing where it is looked at.
        let law = weighted(&weights, 60, |k| geometric(epsilon, k));
        let loss = |shift: i64| {
            let ratio = |k: i64| (law[&k] / law[&(k + shift)]).ln().abs();
            (-40..=40).map(ratio).fold(0.0, f64::max)
        };
        for shift in 1..=most {
            assert!(loss(shift) <= epsilon + 1e-9, "{epsilon} {most} {shift}: {}", loss(shift));
        }
        // Far out the widest part decides, so the loss of its shift is all of epsilon.
        assert!(loss(most) >= 0.99 * epsilon, "{epsilon} {most}: {}", loss(most));
        assert!(loss(most + 1) > epsilon, "{epsilon} {most}: {}", loss(most + 1));
    }
}

/// The joint law of the answers at epsilon 3, 2 and 1 of one path of sensitivity two.
fn joint(middle: f64, weights: &[i64]) -> BTreeMap<[i64; 3], f64> {
    let first = weighted(&[1, 2], 12, |k| geometric(3.0, k));
    let second = weighted(weights, 15, |k| residual(3.0, middle, k));
    let third = weighted(weights, 25, |k| residual(middle, 1.0, k));
    let mut joint = BTreeMap::new();
    for fine in -7..=7 {
        for step in -9..=9 {
            for last in -12..=12 {
                let of = |law: &BTreeMap<i64, f64>, k: i64| law.get(&k).copied().unwrap_or(0.0);
                let probability = of(&first, fine) * of(&second, step) * of(&third, last);
                let fine = TRUTH + fine;
                joint.insert([fine, fine + step, fine + step + last], probability);
            }
        }
    }
    joint
}

/// Points at 3, 2 and 1, in both orders there are: the joint law of one path. Controls: a middle
/// point that is 10 % off, residuals whose parts are added once each, and a point in between that
/// is drawn on its own.
#[test]
fn msdlap_points_have_one_joint_law_in_every_order() {
    const RUNS: usize = 100_000;
    let mut entropy = Seeded::new(311);
    let e = &mut entropy;
    for (name, order) in ORDERS.into_iter().filter(|(_, order)| order[0] == 0) {
        let three = |_| walk(TRUTH, 2.0).three(order, ["3", "2", "1"], e);
        let draws: Vec<[i64; 3]> = (0..RUNS).map(three).collect();
        let fit = |law: &BTreeMap<[i64; 3], f64>| Fit::of(draws.iter().copied(), law);
        let law = joint(2.0, &[1, 2]);
        fit(&law).assert(&fit(&joint(2.2, &[1, 2])), name);
        assert!(fit(&joint(2.0, &[1, 1])).is_rejected(), "{name}: weights do not show");
        let apart = draws.windows(2).map(|pair| [pair[0][0], pair[1][1], pair[0][2]]);
        assert!(Fit::of(apart, &law).is_rejected(), "{name}: independent answers pass");
    }
}

/// Four tiers, released together and looked at again one by one.
#[test]
fn msdlap_tiers_are_one_path_for_the_price_of_the_finest() {
    let mut entropy = Seeded::new(312);
    let mut account = riders();
    let mut path = MsdlapPath::open(id(1), sensitivity(3.0)).unwrap();
    let truth = number(TRUTH, 3.0);
    let tiers = ["0.5", "4", "0.1", "2"].map(at);
    let payer = &mut AccountPayer { account: &mut account, journal: &mut NoHistory };
    let values =
        release_tiers(&mut path, &truth, sensitivity(3.0), &tiers, payer, &mut entropy).unwrap();
    for (&tier, value) in tiers.iter().zip(&values) {
        assert_eq!(path.point(tier), Some(*value));
        assert_eq!(path.nearest(tier), Some(tier));
    }
    assert_eq!(path.finest(), at("4"));
    assert_eq!(path.nearest(at("9")), Some(at("4")));
    assert_eq!(path.nearest(at("1")), Some(at("0.5")));
    assert_eq!(path.nearest(at("0.05")), None);
    assert_eq!(path.point(at("1")), None);
    let again =
        release_tiers(&mut path, &truth, sensitivity(3.0), &tiers, payer, &mut entropy).unwrap();
    assert_eq!(values, again);
    assert_eq!(account.odometer().pure().unwrap().spent(), at("4"));
}

#[test]
fn a_damaged_msdlap_path_is_not_read() {
    let mut entropy = Seeded::new(315);
    let mut walk = walk(TRUTH, 2.0);
    walk.refine("0.01", &mut entropy);
    walk.coarsen("0.005", &mut entropy);
    let json = serde_json::to_value(&walk.path).unwrap();
    let reads = |json: serde_json::Value| serde_json::from_value::<MsdlapPath>(json).is_ok();
    for (field, value) in [
        ("at", serde_json::json!("0")),
        ("at", serde_json::json!("0.005")),
        ("coarser", serde_json::json!({"0.005": [1]})),
        ("coarser", serde_json::json!({"0.005": [1, 2, 3]})),
        ("coarser", serde_json::json!({"0": [1, 2]})),
        ("coarser", serde_json::json!({"0.02": [1, 2]})),
    ] {
        let mut damaged = json.clone();
        damaged["opened"][field] = value;
        assert!(!reads(damaged.clone()), "{damaged}");
    }
    let mut damaged = json.clone();
    damaged["sensitivity"] = serde_json::json!(2.5);
    assert!(!reads(damaged));
    let mut good = json;
    good["opened"]["coarser"] = serde_json::json!({"0.005": [1, 2]});
    assert!(reads(good));
}

/// Truths are clamped before noise is added, sums beyond the range saturate, and neither end hangs.
#[test]
fn msdlap_noise_at_the_ends_of_the_range_saturates() {
    let mut entropy = Seeded::new(316);
    for (truth, clamped) in [(i64::MAX, 1i64 << 62), (i64::MIN, -(1 << 62))] {
        let (mut above, mut below) = (0, 0);
        for _ in 0..100 {
            let value = walk(truth, 256.0).refine("0.1", &mut entropy);
            above += u32::from(value > clamped);
            below += u32::from(value < clamped);
        }
        assert!(above > 20 && below > 20, "{above} {below}");
    }
    let shifts = Shifts::new(256).unwrap();
    let widest = Msdlap::new(&Ratio::new(1, 1 << 42).unwrap(), shifts).unwrap();
    assert!((0..100).any(|_| widest.draw(&mut entropy).abs() > 1 << 50));
    let narrowest = Msdlap::new(&Ratio::new(1_000_000, 1).unwrap(), shifts).unwrap();
    assert!((0..100).all(|_| narrowest.draw(&mut entropy) == 0));
    assert!(Msdlap::new(&Ratio::new(1, 1 << 43).unwrap(), shifts).is_err());
    // What is too wide is known before it is paid for.
    let path = walk(TRUTH, 256.0).path;
    assert!(matches!(path.can_refine(at("1e-20")), Err(MismatchReason::Level(_))));
    assert_eq!(path.can_refine(Amount::ZERO), Err(MismatchReason::OtherStep));
}
