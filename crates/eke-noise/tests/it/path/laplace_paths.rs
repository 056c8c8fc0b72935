//! Laplace paths, from account to answer.

use std::collections::BTreeMap;

use eke_budget::L1;
use eke_noise::evidence::Norms;
use eke_noise::path::MismatchReason;
use eke_noise::{Exact, Laplace, LaplacePath, NoisePath, Ratio};
use eke_testkit::{Fit, Seeded};
use serde_json::Value;

use crate::path::walk::{ORDERS, Walk, at, id, number};

const TRUTH: i64 = 1234;

/// Steps in one: enough that rounding hardly shows.
const STEPS: f64 = 1_048_576.0;

fn l1(steps: f64) -> L1 {
    L1::new(steps).unwrap()
}

fn walk(steps: f64) -> Walk<LaplacePath> {
    Walk::new(LaplacePath::open(id(1), l1(steps)), number(TRUTH, steps), steps)
}

/// The distribution function of Laplace noise.
fn below(rate: f64, x: f64) -> f64 {
    if x < 0.0 { (rate * x).exp() / 2.0 } else { 1.0 - (-rate * x).exp() / 2.0 }
}

/// Laplace noise in cells of a half, the first and the last of which go on for ever.
fn cells(rate: f64) -> impl Iterator<Item = (i64, f64)> {
    (-6..6i64).map(move |cell| {
        let end = |cell: i64| match cell {
            -6 => 0.0,
            6 => 1.0,
            _ => below(rate, cell as f64 / 2.0),
        };
        (cell, end(cell + 1) - end(cell))
    })
}

/// The cell of a difference, in steps; none for no difference.
fn cell(steps: i64) -> Option<i64> {
    (steps != 0).then(|| (2 * steps).div_euclid(1 << 20).clamp(-6, 5))
}

/// What comes between two levels: nothing, or noise of the coarser one.
fn residual(fine: f64, coarse: f64) -> BTreeMap<Option<i64>, f64> {
    let weight = (coarse / fine).powi(2);
    let noise = cells(coarse).map(|(cell, share)| (Some(cell), (1.0 - weight) * share));
    noise.chain([(None, weight)]).collect()
}

/// The joint law of fine noise and of what comes between points at 2, the middle and 0.5.
fn joint(middle: f64) -> BTreeMap<(i64, [Option<i64>; 2]), f64> {
    let (lower, upper) = (residual(2.0, middle), residual(middle, 0.5));
    let mut joint = BTreeMap::new();
    for (fine, p) in cells(2.0) {
        for (&step, q) in &lower {
            for (&last, r) in &upper {
                joint.insert((fine, [step, last]), p * q * r);
            }
        }
    }
    joint
}

/// Points at 2, 1 and 0.5, asked for in every order: always the joint law of one path, with as many
/// equal points as it has, never that of independent answers. Seed 321, 60,000 paths each; the
/// control is a middle level 10 % off.
#[test]
fn laplace_points_revealed_in_any_order_have_one_joint_law() {
    const RUNS: usize = 60_000;
    let mut entropy = Seeded::new(321);
    let e = &mut entropy;
    let apart = |[f, m, c]: [i64; 3]| (cell(f - TRUTH).unwrap_or(0), [cell(m - f), cell(c - m)]);
    for (name, order) in ORDERS {
        let three = |_| walk(STEPS).three(order, ["2", "1", "0.5"], e);
        let draws: Vec<[i64; 3]> = (0..RUNS).map(three).collect();
        let fit = |law| Fit::of(draws.iter().copied().map(apart), &law);
        fit(joint(1.0)).assert(&fit(joint(1.1)), name);
        let mixed = draws.windows(2).map(|pair| apart([pair[0][0], pair[1][1], pair[0][2]]));
        assert!(Fit::of(mixed, &joint(1.0)).is_rejected(), "{name}: independent answers pass");
    }
}

/// The joint law of two rounded points of noise of these rates, by Simpson's rule over the finer
/// one: whole numbers are where the noise is within a half of them.
fn rounded(fine: f64, coarse: f64) -> BTreeMap<[i64; 2], f64> {
    let weight = (coarse / fine).powi(2);
    let share = |rate: f64, centre: f64| below(rate, centre + 0.5) - below(rate, centre - 0.5);
    let mut joint = BTreeMap::new();
    for f in -9..=9i64 {
        for c in -25..=25i64 {
            const PARTS: u32 = 200;
            let sum: f64 = (0..=PARTS)
                .map(|part| {
                    let x = f as f64 - 0.5 + f64::from(part) / f64::from(PARTS);
                    let factor = match part {
                        0 | PARTS => 1.0,
                        _ if part % 2 == 1 => 4.0,
                        _ => 2.0,
                    };
                    factor * fine / 2.0 * (-fine * x.abs()).exp() * share(coarse, c as f64 - x)
                })
                .sum();
            let atom = if f == c { weight * share(fine, f as f64) } else { 0.0 };
            let both = atom + (1.0 - weight) * sum / (3.0 * f64::from(PARTS));
            joint.insert([TRUTH + f, TRUTH + c], both);
        }
    }
    joint
}

/// On a grid as wide as the sensitivity, where rounding is most of what is seen. Seed 322, 100,000
/// paths each; the control is a coarser level 5 % off.
#[test]
fn rounded_laplace_points_have_their_joint_law() {
    let mut entropy = Seeded::new(322);
    let e = &mut entropy;
    let draws: [Vec<[i64; 2]>; 2] = [
        (0..100_000)
            .map(|_| {
                let mut walk = walk(1.0);
                let fine = walk.refine("1.5", e);
                [fine, walk.coarsen("0.6", e)]
            })
            .collect(),
        (0..100_000)
            .map(|_| {
                let mut walk = walk(1.0);
                let coarse = walk.refine("0.6", e);
                [walk.refine("1.5", e), coarse]
            })
            .collect(),
    ];
    for draws in draws {
        let fit = |coarse| Fit::of(draws.iter().copied(), &rounded(1.5, coarse));
        fit(0.6).assert(&fit(0.63), "rounded");
    }
}

/// A first point is the truth plus a draw of the law that is prepared for many. Seed 330, 100,000
/// of either; the control is a scale 5 % off.
#[test]
fn rounded_laplace_noise_is_that_of_a_path() {
    let mut entropy = Seeded::new(330);
    let share = |rate: f64, k: i64| below(rate, k as f64 + 0.5) - below(rate, k as f64 - 0.5);
    let law = |rate: f64| (-60..=60).map(|k| (k, share(rate, k))).collect::<BTreeMap<_, _>>();
    let prepared = Laplace::new(&Ratio::new(5, 2).unwrap()).unwrap();
    let mut batch = vec![0; 100_000];
    prepared.fill(&mut batch, &mut entropy);
    let first = (0..100_000).map(|_| walk(1.0).refine("0.4", &mut entropy) - TRUTH).collect();
    for draws in [batch, first] {
        let fit = |rate| Fit::of(draws.iter().copied(), &law(rate));
        fit(0.4).assert(&fit(0.42), "first points");
    }
}

/// What is stored of a path is that of every other with points at the same prices, but for the
/// digits: a point says neither which part of a mixture it came from nor how often its bits were
/// looked at.
#[test]
fn what_is_stored_has_one_form_whichever_part_was_drawn() {
    fn form(value: &Value) -> String {
        match value {
            Value::Number(_) => "number".to_owned(),
            Value::Array(items) => format!("{:?}", items.iter().map(form).collect::<Vec<_>>()),
            Value::Object(fields) => {
                let forms = fields.iter().map(|(name, value)| format!("{name}: {}", form(value)));
                forms.collect::<Vec<_>>().join(", ")
            }
            other => other.to_string(),
        }
    }
    let mut entropy = Seeded::new(324);
    let mut forms = BTreeMap::new();
    let (mut equal, mut below, mut above) = (0, 0, 0);
    for _ in 0..500 {
        let mut walk = walk(STEPS);
        let coarse = walk.refine("1", &mut entropy);
        let fine = walk.refine("2", &mut entropy);
        let (low, high) = (coarse.min(TRUTH), coarse.max(TRUTH));
        equal += u32::from(fine == coarse);
        below += u32::from(fine < low);
        above += u32::from(fine > high);
        let stored = serde_json::to_value(&walk.path).unwrap();
        *forms.entry(form(&stored)).or_insert(0) += 1;
        assert!(!stored["points"].to_string().contains(&format!("[{TRUTH},")), "{stored}");
    }
    assert!(equal > 50 && below > 50 && above > 50, "{equal} {below} {above}");
    assert_eq!(forms.len(), 1, "{forms:?}");
}

#[test]
fn a_damaged_laplace_path_is_not_read() {
    let mut entropy = Seeded::new(326);
    let mut walk = walk(1.0);
    walk.refine("0.5", &mut entropy);
    let json = serde_json::to_value(&walk.path).unwrap();
    let reads = |json: Value| serde_json::from_value::<LaplacePath>(json).is_ok();
    assert!(reads(json.clone()));
    for (field, value) in [
        ("payer", Value::Null),
        ("points", serde_json::json!({"0": [[5, 1, 2, 3]]})),
        ("points", serde_json::json!({"0.5": [[5, 1, 2]]})),
        ("points", serde_json::json!({"0.5": []})),
        ("points", serde_json::json!({"0.5": [[5, 1, 2, 3], [5, 1, 2, 3]]})),
        ("points", serde_json::json!({"0.5": [[5, 1, 2, 3]], "1": []})),
        ("points", serde_json::json!({})),
        ("truth", serde_json::json!(5)),
    ] {
        let mut damaged = json.clone();
        damaged[field] = value.clone();
        assert!(!reads(damaged), "{field} {value}");
    }
}

/// Noise that is hardly any and noise that is as wide as it may be are drawn; what is narrower or
/// wider is not, and that is known before it is paid for.
#[test]
fn laplace_noise_is_drawn_from_narrow_to_wide_and_refused_beyond() {
    const NARROW: f64 = 1.0 / 4096.0;
    const FINE: &str =
        "the step is too fine for the grid its truth is on: put the truth on a finer grid";
    const WIDE: &str = "the noise is too wide: its scale must be below 2^43";
    let mut entropy = Seeded::new(328);
    let path = LaplacePath::<i64>::open(id(1), l1(NARROW));
    for (to, reason) in [("1048576", FINE), ("0.00000000000000002", WIDE)] {
        assert_eq!(path.can_refine(at(to)).unwrap_err().to_string(), reason);
        let mut walk = walk(NARROW);
        let receipt = walk.pay(to);
        let mismatch = walk.path.refine(&walk.truth, receipt, &mut entropy).unwrap_err();
        assert_eq!(mismatch.to_string(), reason);
    }
    let mut walk = walk(NARROW);
    let wide = walk.refine("0.00000000000000004", &mut entropy);
    assert!(wide.abs() > 1 << 30, "{wide}");
    // Levels next to each other: the steps between them are wider than 2^60, and beyond all points.
    let next = walk.refine("0.0000000000000000400001", &mut entropy);
    assert_eq!(next, wide);
    assert_eq!(walk.path.can_refine(walk.path.finest()), Err(MismatchReason::OtherStep));
    let closest = walk.path.can_refine(at("0.000000000000000040000100001"));
    assert_eq!(closest.unwrap_err().to_string(), WIDE);
    for to in ["1", "1000", "1000000"] {
        walk.refine(to, &mut entropy);
    }
    assert_eq!(walk.refine("1048575.5", &mut entropy), TRUTH);
    assert!(walk.path.can_refine(at("1048575.500001")).is_ok());
}

/// Coordinates have noise of their own, and one price.
#[test]
fn the_coordinates_of_a_laplace_path_go_along_it_together() {
    let mut entropy = Seeded::new(329);
    let norms = Norms::l1(l1(STEPS), 3).unwrap();
    let truth = Exact::new(vec![5, -5, 0], norms);
    let mut walk = Walk::new(LaplacePath::open(id(1), l1(STEPS)), truth, STEPS);
    let fine = walk.refine("1", &mut entropy);
    assert_eq!(fine.len(), 3);
    assert!(fine[0] != fine[1] && fine[1] != fine[2], "{fine:?}");
    let coarse = walk.coarsen("0.9", &mut entropy);
    assert!(coarse.iter().zip(&fine).any(|(coarse, fine)| coarse == fine));
    walk.store_and_read();
    // A truth of another number of values.
    let receipt = walk.pay("2");
    let shorter = Exact::new(vec![5, -5], Norms::l1(l1(STEPS), 2).unwrap());
    let mismatch = walk.path.refine(&shorter, receipt, &mut entropy).unwrap_err();
    assert_eq!(mismatch.reason, MismatchReason::OtherShape);
    assert_eq!(walk.spent().0, "2");
}
