//! Skellam noise, its levels in different orders, and its path, from account to answer.

use std::collections::BTreeMap;

use eke_budget::convert::{SkellamCurve, SkellamError};
use eke_budget::{L1, L2, NoHistory};
use eke_noise::law::{LevelError, SkellamLevel};
use eke_noise::path::MismatchReason;
use eke_noise::stopping::NoAnswer;
use eke_noise::{AccountPayer, NoisePath, Ratio, Skellam, SkellamPath, release_tiers, reveal};
use eke_testkit::{Fit, Seeded};

use crate::path::walk::{ORDERS, Walk, at, id, number, riders};

const TRUTH: i64 = 1234;

/// The probabilities from zero on, by the ratios of neighbours from far out inwards.
fn law(lambda: f64) -> impl Fn(i64) -> f64 {
    let end = (12.0 * (2.0 * lambda).sqrt()).ceil() + 30.0;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
    let end = end as usize;
    let mut ratios = vec![0.0; end + 1];
    let mut ratio = 0.0;
    for j in (1..=4 * end).rev() {
        ratio = 1.0 / (j as f64 / lambda + ratio);
        if j <= end {
            ratios[j] = ratio;
        }
    }
    let mut weights = vec![1.0];
    for ratio in &ratios[1..] {
        weights.push(weights.last().unwrap() * ratio);
    }
    let total: f64 = 2.0 * weights.iter().sum::<f64>() - 1.0;
    move |k| {
        let at = usize::try_from(k.unsigned_abs()).unwrap();
        weights.get(at).map_or(0.0, |weight| weight / total)
    }
}

/// The law in cells of an eighth of its deviation.
fn cells(lambda: f64) -> (i64, BTreeMap<i64, f64>) {
    let law = law(lambda);
    let deviation = (2.0 * lambda).sqrt();
    #[expect(clippy::cast_possible_truncation, reason = "small")]
    let (width, end) = (((deviation / 8.0) as i64).max(1), (11.0 * deviation) as i64 + 25);
    let mut cells = BTreeMap::new();
    for k in -end..=end {
        *cells.entry(k.div_euclid(width) * width).or_insert(0.0) += law(k);
    }
    (width, cells)
}

fn assert_fits(draws: &[i64], lambda: f64, off: f64, name: &str) {
    let fit = |lambda: f64| {
        let (width, law) = cells(lambda);
        Fit::of(draws.iter().map(|draw| draw.div_euclid(width) * width), &law)
    };
    fit(lambda).assert(&fit(lambda * off), name);
}

/// From tables, from sums of tables, and one by one. The control is a lambda that is off by a
/// tenth, and more where there are fewer draws.
#[test]
fn skellam_noise_of_every_scale_has_its_law() {
    let lambdas = [0.03, 0.5, 1.0, 7.3, 300.0, 40_000.0, 3_000_000.0];
    for (seed, lambda) in (300..).zip(lambdas) {
        let mut entropy = Seeded::new(seed);
        let exact = Ratio::from_f64(lambda).unwrap();
        let law = Skellam::new(&exact).unwrap();
        let mut draws = vec![0; 100_000];
        law.fill(&mut draws, &mut entropy);
        assert_fits(&draws, lambda, 1.1, &format!("skellam {lambda}"));
        let some = if lambda > 1e5 { 5000 } else { 30_000 };
        let draws: Vec<i64> =
            (0..some).map(|_| Skellam::once(&exact, &mut entropy).unwrap()).collect();
        let off = if (1.0..1e5).contains(&lambda) { 1.2 } else { 1.5 };
        assert_fits(&draws, lambda, off, &format!("skellam {lambda}, one by one"));
    }
}

const LAMBDAS: [f64; 3] = [0.4, 1.1, 2.6];

/// The joint law of fine, middle and coarse noise of one path.
fn joint(lambdas: [f64; 3], truth: i64) -> BTreeMap<[i64; 3], f64> {
    let [fine, middle, coarse] = lambdas;
    let (first, second, third) = (law(fine), law(middle - fine), law(coarse - middle));
    let mut joint = BTreeMap::new();
    for f in -6..=6 {
        for step in -7..=7 {
            for last in -9..=9 {
                let probability = first(f) * second(step) * third(last);
                let f = truth + f;
                joint.insert([f, f + step, f + step + last], probability);
            }
        }
    }
    joint
}

/// Fine to coarse, coarse to fine, and the middle last: the same joint law. The control is a path
/// whose middle level is 15 % off, and for each order one whose draws are not of one path at all.
#[test]
fn skellam_levels_drawn_in_any_order_have_one_joint_law() {
    const RUNS: usize = 100_000;
    let level = |lambda| SkellamLevel::new(&Ratio::from_f64(lambda).unwrap());
    let [fine, middle, coarse] = LAMBDAS.map(level);
    let mut entropy = Seeded::new(311);
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
    let off = [LAMBDAS[0], LAMBDAS[1] * 1.15, LAMBDAS[2]];
    for (order, draws) in orders {
        let fit = |law| Fit::of(draws.iter().copied(), &law);
        fit(joint(LAMBDAS, 0)).assert(&fit(joint(off, 0)), order);
        let apart = draws.windows(2).map(|pair| [pair[0][0], pair[1][1], pair[0][2]]);
        assert!(Fit::of(apart, &joint(LAMBDAS, 0)).is_rejected(), "{order}: reused draws pass");
    }
}

/// At wide levels too: the finer noise and what is left are Skellam noise of their own. The control
/// for each is a tenth off.
#[test]
fn wide_skellam_levels_have_their_laws() {
    let (fine, coarse) = (9000.0, 12_000.0);
    let level = |lambda| SkellamLevel::new(&Ratio::from_f64(lambda).unwrap());
    let mut entropy = Seeded::new(312);
    let (mut finer, mut left) = (Vec::new(), Vec::new());
    for _ in 0..20_000 {
        let c = level(coarse).draw(&mut entropy).unwrap();
        let f = level(coarse).finer(c, &level(fine), &mut entropy).unwrap();
        finer.push(f);
        left.push(c - f);
    }
    assert_fits(&finer, fine, 1.2, "the finer noise");
    assert_fits(&left, coarse - fine, 1.2, "what is left");
}

#[test]
fn extreme_skellam_levels_neither_panic_nor_hang() {
    let mut entropy = Seeded::new(313);
    let level = |lambda| SkellamLevel::new(&Ratio::from_f64(lambda).unwrap());
    let lambdas = [1e-12, 1e-6, 1e-6 * (1.0 + 1e-9), 1.0, 1e5, 1e5 + 1e-9, 1e8];
    for pair in lambdas.windows(2) {
        let (fine, coarse) = (level(pair[0]), level(pair[1]));
        for noise in [0, 1, -1, 100_000, 1 << 32] {
            let finer = coarse.finer(noise, &fine, &mut entropy).unwrap();
            let back = fine.coarser(finer, &coarse, &mut entropy).unwrap();
            let middle = level(f64::midpoint(pair[0], pair[1]));
            let between = middle.between((&fine, finer), (&coarse, back), &mut entropy);
            assert!(between.is_ok() || pair[1] < pair[0] * 1.1);
        }
    }
    assert_eq!(level(1e12).draw(&mut entropy), Err(LevelError::SkellamTooWide));
}

fn two() -> (L1, L2) {
    (L1::new(2.0).unwrap(), L2::new(2.0).unwrap())
}

fn opened(number: u8) -> SkellamPath {
    SkellamPath::open(id(number), two().1).unwrap()
}

fn walk() -> Walk<SkellamPath> {
    Walk::new(opened(1), number(TRUTH, 2.0), 2.0)
}

/// Points at rho 2, 1 and 0.5 with the coarser ones in either order: the joint law of one path.
#[test]
fn skellam_points_revealed_in_any_order_have_one_joint_law() {
    const RUNS: usize = 40_000;
    let mut entropy = Seeded::new(321);
    let e = &mut entropy;
    let lambdas =
        ["2", "1", "0.5"].map(|rho| SkellamCurve::variance(at(rho), two().0).unwrap().get() / 2.0);
    // Nearly what Gaussian noise needs.
    for (lambda, rho) in lambdas.into_iter().zip([2.0, 1.0, 0.5]) {
        assert!((lambda * rho - 1.0).abs() < 0.01, "{lambda} {rho}");
    }
    let off = [lambdas[0], lambdas[1] * 1.2, lambdas[2]];
    for (name, order) in ORDERS.into_iter().filter(|(_, order)| order[0] == 0) {
        let three = |_| walk().three(order, ["2", "1", "0.5"], e);
        let draws: Vec<[i64; 3]> = (0..RUNS).map(three).collect();
        let fit = |law| Fit::of(draws.iter().copied(), &law);
        fit(joint(lambdas, TRUTH)).assert(&fit(joint(off, TRUTH)), name);
        let apart = draws.windows(2).map(|pair| [pair[0][0], pair[1][1], pair[0][2]]);
        assert!(Fit::of(apart, &joint(lambdas, TRUTH)).is_rejected(), "{name}: independent pass");
    }
}

/// Nothing is paid for a second step, and a receipt for one is not taken.
#[test]
fn a_skellam_path_is_opened_once_at_its_finest_point() {
    let mut entropy = Seeded::new(322);
    let e = &mut entropy;
    let truth = number(TRUTH, 2.0);
    let mut walk = walk();
    walk.refine("0.5", e);
    let before = walk.path.clone();
    assert_eq!(walk.path.can_refine(at("1")), Err(MismatchReason::AtItsFinest));
    assert_eq!(walk.path.can_refine(at("0.5")), Err(MismatchReason::OtherStep));
    let mut payer = AccountPayer { account: &mut walk.account, journal: &mut NoHistory };
    let again = reveal(&mut walk.path, &truth, two().1, at("1"), &mut payer, e);
    assert!(matches!(again, Err(NoAnswer::Mismatch(MismatchReason::AtItsFinest))));
    assert_eq!(walk.account.odometer().zcdp().unwrap().spent(), at("0.5"));
    let receipt = walk.pay("1");
    let mismatch = walk.path.refine(&truth, receipt, e).unwrap_err();
    assert_eq!(
        mismatch.to_string(),
        "the path was opened at its finest point: open another for a finer one"
    );
    assert_eq!(walk.path, before);
    // Nor is it for a path of which nothing is left: half of the point was paid for by another
    // receipt.
    let mismatch = opened(1).refine(&truth, *mismatch.receipt, e).unwrap_err();
    assert_eq!(mismatch.reason, MismatchReason::Gap);
}

/// Noise too wide to be drawn is known before it is paid for, and a sensitivity that is not whole
/// before there is a path.
#[test]
fn a_skellam_path_is_for_noise_that_can_be_drawn() {
    let too_wide = MismatchReason::Level(LevelError::SkellamTooWide);
    assert_eq!(opened(4).can_refine(at("1e-20")), Err(too_wide));
    let half = SkellamPath::open(id(1), L2::new(2.5).unwrap());
    assert_eq!(half, Err(SkellamError::NotWhole(2.5)));
}

/// One answer per tier, whatever order the tiers are in.
#[test]
fn skellam_tiers_cost_the_finest() {
    let mut entropy = Seeded::new(323);
    let (mut account, mut path) = (riders(), opened(1));
    let truth = number(TRUTH, 2.0);
    let tiers = ["0.1", "0.4", "0.02", "0.4"].map(at);
    let mut payer = AccountPayer { account: &mut account, journal: &mut NoHistory };
    let answers = release_tiers(&mut path, &truth, two().1, &tiers, &mut payer, &mut entropy);
    let answers = answers.unwrap();
    assert_eq!((answers.len(), answers[1]), (4, answers[3]));
    assert_eq!(account.odometer().zcdp().unwrap().spent(), at("0.4"));
    assert_eq!(path.nearest(at("0.39")), Some(at("0.1")));
}

#[test]
fn a_damaged_skellam_path_is_not_read_and_a_good_one_does_not_hold_the_truth() {
    let mut entropy = Seeded::new(325);
    let mut walk = walk();
    walk.refine("0.001", &mut entropy);
    walk.coarsen("0.0001", &mut entropy);
    let json = serde_json::to_value(&walk.path).unwrap();
    assert!(!json.to_string().contains(&TRUTH.to_string()), "{json}");
    let reads = |json: &serde_json::Value| {
        serde_json::from_value::<SkellamPath>(json.clone()).is_ok_and(|path| path == walk.path)
    };
    assert!(reads(&json));
    let coarse = json["points"]["0.0001"]["variance"].clone();
    for (pointer, value) in [
        ("/payer", serde_json::Value::Null),
        ("/points", serde_json::json!({})),
        ("/sensitivity", serde_json::json!(2.5)),
        // Less noise than was paid for; points out of order; one level with two values.
        ("/points/0.001/variance", serde_json::json!(3.0)),
        ("/points/0.001/variance", serde_json::json!(1e9)),
        ("/points/0.001/variance", coarse),
    ] {
        let mut damaged = json.clone();
        *damaged.pointer_mut(pointer).unwrap() = value;
        assert!(!reads(&damaged), "{pointer} {damaged}");
    }
}
