//! Plans of tiers: what they charge, how far off their answers are, and how they hang together.

use std::collections::BTreeMap;

use eke_budget::convert::{Curve, Method};
use eke_budget::{Delta, Epsilon, L1};
use eke_noise::release::{TierError, TierLaw, Tiers};
use eke_noise::{Confidence, TierPlan};
use eke_testkit::{Fit, Seeded};
use proptest::prelude::*;

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

fn plan(law: TierLaw, sensitivity: f64, tiers: &[f64]) -> TierPlan {
    TierPlan {
        law,
        sensitivity: L1::new(sensitivity).unwrap(),
        tiers: tiers.iter().copied().map(epsilon).collect(),
        delta: Delta::new(1e-6).unwrap(),
        confidence: Confidence::new(0.9).unwrap(),
    }
}

/// Every law with a sensitivity that it takes.
const LAWS: [(TierLaw, f64); 7] = [
    (TierLaw::Geometric, 1.0),
    (TierLaw::Geometric, 2.5),
    (TierLaw::Laplace, 1.0),
    (TierLaw::Laplace, 0.3),
    (TierLaw::Gaussian, 1.0),
    (TierLaw::Msdlap, 3.0),
    (TierLaw::Skellam, 2.0),
];

#[test]
fn all_tiers_of_a_plan_are_charged_as_the_finest() {
    let mut entropy = Seeded::new(300);
    for (law, sensitivity) in LAWS {
        let tiers = [0.5, 2.0, 0.1, 2.0, 1.0];
        let Tiers { tiers: told, charged, independent, colluders, .. } =
            plan(law, sensitivity, &tiers).release(1234.0, &mut entropy).unwrap();
        assert_eq!(charged.epsilon, epsilon(2.0));
        assert_eq!(told.iter().map(|t| t.alone.epsilon).collect::<Vec<_>>(), tiers.map(epsilon));
        // The same tier twice is the same answer twice.
        assert_eq!(told[1], told[3]);
        assert_eq!(colluders.len(), 10);
        for pair in &colluders {
            let [one, other] = pair.tiers.map(|tier| tiers[tier]);
            assert_eq!(pair.together.epsilon, epsilon(one.max(other)), "{law:?}");
            assert!(pair.independent.unwrap().epsilon > pair.together.epsilon, "{law:?}");
        }
        let independent = independent.unwrap();
        if law.is_pure() {
            assert_eq!(independent.epsilon, epsilon(5.6));
            assert_eq!(colluders[0].independent.unwrap().epsilon, epsilon(2.5));
            assert_eq!((charged.delta, charged.rho), (None, None));
        } else {
            let delta = Delta::new(1e-6).unwrap();
            let rho = |tier| Method::Tight.rho(epsilon(tier), delta).unwrap().get();
            let sum: f64 = tiers.into_iter().map(rho).sum();
            assert!((independent.rho.unwrap().get() / sum - 1.0).abs() < 1e-12);
            let converted = Method::Tight.epsilon(independent.rho.unwrap(), delta).unwrap();
            assert_eq!(independent.epsilon, converted);
            assert!((charged.rho.unwrap().get() / rho(2.0) - 1.0).abs() < 1e-12);
        }
    }
}

/// Moments of four tiers over many plans: the variance of each is what the plan says, and the
/// covariance of two is the variance of the finer. 5,000 runs: six deviations of a relative error
/// of 3.2 % (Laplace-like tails) are 19 %; and of Gaussian and Skellam noise, which take longer to
/// price and have lighter tails, 2,000 runs and 19 %, 500 runs and 38 %. False alarms below 1e-8
/// for each of the ten moments. The control are answers of two plans, which are independent.
#[test]
fn answers_of_a_plan_have_the_joint_law_of_one_path() {
    let tiers = [0.5, 2.0, 0.1, 1.0];
    for (index, (law, sensitivity)) in LAWS.into_iter().enumerate() {
        let (runs, most) = match law {
            TierLaw::Skellam => (500, 0.38),
            TierLaw::Gaussian => (2_000, 0.19),
            _ => (5_000, 0.19),
        };
        let mut entropy = Seeded::new(310 + index as u64);
        let plan = plan(law, sensitivity, &tiers);
        let (mut moments, mut control) = ([[0.0; 4]; 4], 0.0);
        let mut deviations = [0.0; 4];
        let mut before = 0.0;
        for _ in 0..runs {
            let told = plan.release(-77.0, &mut entropy).unwrap();
            let noise: Vec<f64> = told.tiers.iter().map(|tier| tier.value + 77.0).collect();
            for (one, row) in moments.iter_mut().enumerate() {
                for (other, moment) in row.iter_mut().enumerate() {
                    *moment += noise[one] * noise[other] / f64::from(runs);
                }
                deviations[one] = told.tiers[one].deviation;
            }
            control += before * noise[3] / f64::from(runs);
            before = noise[1];
        }
        for one in 0..4 {
            for other in 0..4 {
                let finer = deviations[one].min(deviations[other]).powi(2);
                let size = deviations[one] * deviations[other];
                let off = (moments[one][other] - finer).abs() / size;
                assert!(off < most, "{law:?}, tiers {one} and {other}: {off}");
            }
        }
        let off = (control - deviations[1].powi(2)).abs() / (deviations[1] * deviations[3]);
        assert!(off > most, "{law:?}: independent answers would pass");
    }
}

/// Two tiers of a count, against the law of the finer one and the residual. 100,000 runs; false
/// alarms 1e-9 (`fit.rs`); the control has a residual of another weight.
#[test]
fn two_tiers_of_a_count_have_the_law_of_noise_and_residual() {
    const RUNS: usize = 100_000;
    let (fine, coarse) = (1.5f64, 0.7f64);
    let law = |rate: f64, k: i32| {
        let power = (-rate).exp();
        (1.0 - power) / (1.0 + power) * power.powi(k.abs())
    };
    let part = (1.0 - (-coarse).exp()) / (1.0 - (-fine).exp());
    let weight = (coarse - fine).exp() * part * part;
    let joint = |weight: f64| {
        let mut joint = BTreeMap::new();
        for noise in -8..=8 {
            for residual in -12..=12 {
                let atom = if residual == 0 { weight } else { 0.0 };
                let probability =
                    law(fine, noise) * (atom + (1.0 - weight) * law(coarse, residual));
                joint.insert([noise, noise + residual], probability);
            }
        }
        joint
    };
    let plan = plan(TierLaw::Geometric, 1.0, &[coarse, fine]);
    let mut entropy = Seeded::new(320);
    let draws: Vec<[i32; 2]> = (0..RUNS)
        .map(|_| {
            let told = plan.release(40.0, &mut entropy).unwrap().tiers;
            #[expect(clippy::cast_possible_truncation, reason = "a count")]
            [told[1].value as i32 - 40, told[0].value as i32 - 40]
        })
        .collect();
    let fit = Fit::of(draws.iter().copied(), &joint(weight));
    fit.assert(&Fit::of(draws, &joint(weight.sqrt())), "two tiers");
}

/// Intervals at 90 % miss the number at most as often as they may: 4,000 runs, more than 400 + 4.9
/// deviations of 19 are 1e-6 each; of Skellam noise 500 runs, and 50 + 4.9 deviations of 6.7. And
/// they are not so wide that they hardly ever miss, but for integers with narrow noise.
#[test]
fn intervals_of_tiers_hold_the_number() {
    let tiers = [2.0, 0.5, 0.1];
    for (index, (law, sensitivity)) in LAWS.into_iter().enumerate() {
        let (runs, few, many) =
            if law == TierLaw::Skellam { (500, 20, 83) } else { (4_000, 300, 493) };
        let mut entropy = Seeded::new(330 + index as u64);
        let plan = plan(law, sensitivity, &tiers);
        let is_real = matches!(law, TierLaw::Gaussian | TierLaw::Laplace);
        let truth = if is_real { 12.345_67 } else { 12.0 };
        let mut misses = [0; 3];
        for _ in 0..runs {
            let told = plan.release(truth, &mut entropy).unwrap();
            for (tier, misses) in told.tiers.iter().zip(&mut misses) {
                *misses += u32::from(truth < tier.low || truth > tier.high);
            }
        }
        assert!(misses.iter().all(|&misses| misses < many), "{law:?}: {misses:?}");
        assert!(misses[2] > few, "{law:?}: {misses:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Each tier has the noise of its own price, however close others are: the grid is fine enough
    /// for all of them, and adds less than a thousandth.
    #[test]
    fn gaussian_tiers_have_the_noise_of_their_own_price(
        tiers in prop::collection::vec(0.01f64..8.0, 1..8),
        sensitivity in 1e-6f64..1e6,
        close in 1e-6f64..0.1,
        seed in 0u64..1000,
    ) {
        let mut tiers = tiers;
        tiers.push(tiers[0] * (1.0 - close));
        let told = plan(TierLaw::Gaussian, sensitivity, &tiers).release(0.0, &mut Seeded::new(seed));
        let told = told.unwrap();
        let delta = Delta::new(1e-6).unwrap();
        for (tier, told) in tiers.iter().zip(&told.tiers) {
            let rho = Method::Tight.rho(epsilon(*tier), delta).unwrap();
            let ratio = told.deviation / (sensitivity / (2.0 * rho.get()).sqrt());
            prop_assert!((1.0 - 1e-9..1.001).contains(&ratio), "{ratio}");
            prop_assert!(told.low < told.value && told.value < told.high);
        }
    }
}

#[test]
fn what_a_plan_cannot_do_it_says() {
    let told = |plan: &TierPlan, value: f64| {
        plan.release(value, &mut Seeded::new(1)).map(|_| ()).unwrap_err().to_string()
    };
    let counts = plan(TierLaw::Geometric, 1.0, &[1.0]);
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(told(&counts, value).contains("not a finite number"));
    }
    assert!(told(&counts, 0.5).starts_with("geometric noise is for integers, and"));
    assert!(
        told(&plan(TierLaw::Msdlap, 1.0, &[1.0]), 0.5).starts_with("msdlap noise is for integers")
    );
    for sensitivity in [0.5, 2.5, 257.0] {
        let refused = told(&plan(TierLaw::Msdlap, sensitivity, &[1.0]), 1.0);
        assert!(refused.contains("whole sensitivities from 1 to 256"), "{refused}");
    }
    assert!(
        told(&plan(TierLaw::Skellam, 1.0, &[1.0]), 0.5)
            .starts_with("skellam noise is for integers")
    );
    let refused = told(&plan(TierLaw::Skellam, 2.5, &[1.0]), 1.0);
    assert!(refused.contains("2.5 is not one: round it up"), "{refused}");
    let refused = told(&plan(TierLaw::Skellam, 2e6, &[1.0]), 1.0);
    assert!(refused.contains("up to 2^20: state the value in larger units"), "{refused}");
    assert!(told(&plan(TierLaw::Laplace, 1.0, &[1.0, 1e-15]), 1.0).contains("too wide"));
    assert!(told(&plan(TierLaw::Laplace, 1e-3, &[1.0]), 1e30).contains("beside its sensitivity"));
    assert!(told(&plan(TierLaw::Laplace, 1.0, &[1.0]), 9e18).contains("beside its sensitivity"));
    assert!(told(&plan(TierLaw::Geometric, 1.0, &[]), 1.0).contains("no tiers"));
    assert!(told(&plan(TierLaw::Geometric, 1.0, &[1.0; 65]), 1.0).contains("at most 64"));
    let many = plan(TierLaw::Geometric, 1.0, &[1.0; 64]).release(1.0, &mut Seeded::new(1)).unwrap();
    assert!(many.tiers.iter().all(|tier| *tier == many.tiers[0]));
    assert!(told(&plan(TierLaw::Geometric, 1.0, &[1.0, 1e-15]), 1.0).contains("too wide"));
    let narrow = plan(TierLaw::Gaussian, 1.0, &[1.0, 0.5]);
    assert!(told(&narrow, 1e30).contains("beside its sensitivity"));
    let narrow = plan(TierLaw::Gaussian, 1.0, &[1.0, 0.999_999_99]);
    assert!(told(&narrow, 1e30).contains("for noise this narrow"));
    let close = plan(TierLaw::Gaussian, 1.0, &[1.0, 1.0f64.next_down()]);
    let close = close.release(1.0, &mut Seeded::new(1));
    assert!(matches!(close, Err(TierError::NoGrid | TierError::TooWide)), "{close:?}");
}

/// A plan of one tier has no others to leave out.
#[test]
fn what_one_tier_cannot_do_has_nothing_to_do_with_others() {
    let told = |law, sensitivity: f64, tiers: &[f64]| {
        plan(law, sensitivity, tiers).release(1.0, &mut Seeded::new(1)).unwrap_err()
    };
    for law in [TierLaw::Geometric, TierLaw::Laplace, TierLaw::Skellam, TierLaw::Msdlap] {
        let refused = told(law, 1.0, &[1e-15]);
        assert!(matches!(refused, TierError::AloneTooWide), "{law:?}: {refused}");
        let refused = told(law, 1.0, &[1e-15, 1e-15]);
        assert!(matches!(refused, TierError::AloneTooWide), "{law:?}: {refused}");
    }
    for (law, sensitivity) in LAWS {
        for tiers in [&[1e-300][..], &[1.0, 1e-300]] {
            let refused = told(law, sensitivity, tiers);
            let says_so = matches!(refused, TierError::TooSmall(_) | TierError::Convert(_));
            assert!(says_so, "{law:?}: {refused}");
        }
    }
    for law in [TierLaw::Laplace, TierLaw::Gaussian] {
        let refused = told(law, 1e-200, &[1.0]);
        assert!(matches!(refused, TierError::TooSmallForGrid(_)), "{law:?}: {refused}");
    }
    // Noise that is wider than any grid's steps has the grid of its sensitivity.
    let wide = plan(TierLaw::Gaussian, 1e150, &[1e-4]).release(0.0, &mut Seeded::new(1)).unwrap();
    assert!(wide.tiers[0].deviation > 1e150);
}

/// Doubles hold every integer up to 2^53; a decimal beyond may have been read as another, and an
/// answer shown as another. Up to half of that neither happens.
#[test]
fn integers_that_doubles_do_not_all_hold_are_refused() {
    let half = 2f64.powi(52);
    for law in [TierLaw::Geometric, TierLaw::Msdlap, TierLaw::Skellam] {
        let plan = plan(law, 1.0, &[1.0]);
        let read: f64 = "9007199254740993".parse().unwrap();
        for value in [half, -half, read, 1e16, -1e300] {
            let refused = plan.release(value, &mut Seeded::new(2)).unwrap_err();
            assert!(matches!(refused, TierError::TooLong(_)), "{law:?}: {refused}");
        }
        for value in [half - 1.0, 1.0 - half] {
            let told = plan.release(value, &mut Seeded::new(2)).unwrap().tiers[0];
            assert!((told.value - value).abs() < 100.0 && told.value.fract() == 0.0);
            assert_eq!(told.high - told.value, told.value - told.low);
        }
    }
}

/// Beyond 2^53 steps answers are rounded, by more than noise at a large epsilon: intervals hold
/// that too.
#[test]
fn intervals_of_answers_that_were_rounded_are_wider() {
    let plan = plan(TierLaw::Laplace, 1.0, &[400.0]);
    let truth = 2f64.powi(48) + 0.0625;
    for seed in 0..20 {
        let told = plan.release(truth, &mut Seeded::new(seed)).unwrap().tiers[0];
        assert!(told.low < told.value && told.value < told.high, "{told:?}");
        assert!(told.high - told.low >= 0.25, "{told:?}");
    }
}

/// Variances that prices pay for are computed nearly, and a tier that is close to another may have
/// its noise: then the release says so.
#[test]
fn skellam_tiers_say_what_noise_they_have() {
    for (sensitivity, finest) in [(1.0, 0.5), (1.0, 2.0), (2.0, 8.0), (3.0, 4.0)] {
        let tiers: Vec<f64> = (0..24).map(|k| finest * (1.0 - 4e-6 * f64::from(k))).collect();
        let told = plan(TierLaw::Skellam, sensitivity, &tiers).release(9.0, &mut Seeded::new(4));
        let told = told.unwrap().tiers;
        for (pair, prices) in told.windows(2).zip(tiers.windows(2)) {
            assert!(pair[1].deviation >= pair[0].deviation, "{sensitivity}, {prices:?}");
            if pair[1].deviation == pair[0].deviation {
                assert_eq!(pair[1].value, pair[0].value, "{sensitivity}, {prices:?}");
            }
        }
    }
}

/// What cannot be summed up is left out, and is no reason not to answer.
#[test]
fn sums_of_large_tiers_are_left_out() {
    for law in [TierLaw::Geometric, TierLaw::Laplace] {
        for tiers in [[1e8, 1e8], [1e8, 1e7]] {
            let told = plan(law, 1.0, &tiers).release(7.0, &mut Seeded::new(3)).unwrap();
            assert_eq!(told.charged.epsilon, epsilon(1e8));
            assert_eq!((told.independent, told.colluders[0].independent), (None, None));
            assert_eq!(told.colluders[0].together.epsilon, epsilon(1e8));
        }
        let told = plan(law, 1.0, &[9e7, 1e7]).release(7.0, &mut Seeded::new(3)).unwrap();
        assert_eq!(told.independent.unwrap().epsilon, epsilon(1e8));
    }
    // More than an amount holds.
    let told = plan(TierLaw::Geometric, 1.0, &[1e8; 64]).release(7.0, &mut Seeded::new(3)).unwrap();
    assert_eq!(told.independent, None);
    let told = plan(TierLaw::Gaussian, 1.0, &[9e7, 2e7]).release(7.0, &mut Seeded::new(3)).unwrap();
    assert_eq!((told.charged.epsilon, told.independent), (epsilon(9e7), None));
}
