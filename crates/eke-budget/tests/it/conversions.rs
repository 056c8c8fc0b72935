//! Conversions against arithmetic with 200 bits, and against each other.

use eke_budget::convert::{Curve, GaussianCurve, Method, Row, gaussian_release, pure_to_zcdp};
use eke_budget::{
    Amount, Charge, Delta, Epsilon, L2, Metres, Metric, Reach, Rho, Variance, convert,
};
use proptest::prelude::*;

use crate::CENTRAL;
use crate::wide::{
    exact, optimal_s, optimal_s_ln_delta, simple, simple_ln_delta, tight, tight_ln_delta, wide,
    written,
};

fn log_uniform(low: f64, high: f64) -> impl Strategy<Value = f64> {
    (low.ln()..high.ln()).prop_map(f64::exp)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn conversions_never_report_less_than_wide_arithmetic(
        rho in log_uniform(1e-12, 1e3),
        delta in log_uniform(1e-300, 0.9),
    ) {
        let (rho, delta) = (Rho::new(rho).unwrap(), Delta::new(delta).unwrap());
        let (r, d) = (written(rho.get()), written(delta.get()));
        for (method, truth) in [
            (Method::Tight, tight(&r, &d)),
            (Method::Simple, simple(&r, &d)),
            (Method::OptimalS, optimal_s(&r, &d)),
        ] {
            let bound = method.epsilon(rho, delta).unwrap().get();
            prop_assert!(written(bound) >= truth, "{method}: {bound} is below");
            let truth = truth.to_f64().value();
            // A tight epsilon may be negative, where delta alone covers the loss.
            let close = bound <= truth * (1.0 + 1e-9) || bound <= truth + 1e-13 || bound <= 1e-30;
            prop_assert!(close, "{method}: {bound} is far above {truth}");
        }
    }

    #[test]
    fn a_budget_converted_back_keeps_its_promise(
        epsilon in log_uniform(1e-6, 1e3),
        delta in log_uniform(1e-300, 0.1),
        reach in log_uniform(1e-3, 1e6),
    ) {
        let (epsilon, delta) = (Epsilon::new(epsilon).unwrap(), Delta::new(delta).unwrap());
        let reach = Metres::new(reach).unwrap();
        for method in Method::ALL {
            let rho = method.rho(epsilon, delta).unwrap();
            let kept = method.epsilon(rho, delta).unwrap();
            prop_assert!(kept <= epsilon && kept.get() >= epsilon.get() * (1.0 - 1e-9));
            // The decimals that people wrote and that the account lets through keep it as well.
            let (spent, d) = (exact(Amount::at_most(rho)), written(delta.get()));
            let truth = match method {
                Method::Tight => tight(&spent, &d),
                Method::Simple => simple(&spent, &d),
                Method::OptimalS => optimal_s(&spent, &d),
            };
            prop_assert!(truth <= written(epsilon.get()), "{method}");
            let within = method.rho_within(epsilon, delta, reach).unwrap();
            prop_assert!(method.epsilon_within(within, delta, reach).unwrap() <= epsilon);
        }
    }

    #[test]
    fn delta_and_epsilon_are_two_readings_of_one_curve(
        rho in log_uniform(1e-6, 1e2),
        delta in log_uniform(1e-200, 0.05),
    ) {
        let (rho, delta) = (Rho::new(rho).unwrap(), Delta::new(delta).unwrap());
        let curves: [&dyn Curve; 4] =
            [&Method::Tight, &Method::Simple, &Method::OptimalS, &GaussianCurve];
        for curve in curves {
            let epsilon = curve.epsilon(rho, delta).unwrap();
            if epsilon > Epsilon::FLOOR {
                // Larger than asked by the two roundings, no more.
                let back = curve.delta(rho, epsilon).unwrap().get() / delta.get();
                prop_assert!((0.999_999..=1.000_001).contains(&back), "{back}");
            }
        }
    }

    #[test]
    fn deltas_are_never_below_wide_arithmetic(
        rho in log_uniform(1e-9, 1e2),
        deviations in 0.5f64..30.0,
    ) {
        let rho = Rho::new(rho).unwrap();
        let epsilon = Epsilon::new(rho.get() + deviations * (2.0 * rho.get()).sqrt()).unwrap();
        let (r, e) = (written(rho.get()), written(epsilon.get()));
        for (method, truth) in [
            (Method::Tight, tight_ln_delta(&r, &e)),
            (Method::Simple, simple_ln_delta(&r, &e)),
            (Method::OptimalS, optimal_s_ln_delta(&r, &e)),
        ] {
            let bound = method.ln_delta(rho, epsilon);
            prop_assert!(wide(bound) >= truth, "{method}: {bound} is below");
            prop_assert!(bound <= truth.to_f64().value() + 1e-9, "{method}: {bound} is far above");
        }
        // A shift takes epsilon away, a constant adds to the logarithm.
        let row = Row { shift: epsilon.get() / 4.0, rho, constant: 0.25 };
        let left = &e - written(row.shift);
        let truth = tight_ln_delta(&r, &left) + written(row.constant);
        let bound = row.ln_delta(epsilon);
        prop_assert!(wide(bound) >= truth || bound == 0.0);
    }

    #[test]
    fn in_a_metric_delta_belongs_to_the_reach(
        rho in log_uniform(1e-9, 1e-2),
        delta in log_uniform(1e-200, 0.01),
        reach in log_uniform(0.1, 1e3),
    ) {
        let (rho, delta) = (Rho::new(rho).unwrap(), Delta::new(delta).unwrap());
        let reach = Metres::new(reach).unwrap();
        let curves: [&dyn Curve; 4] =
            [&Method::Tight, &Method::Simple, &Method::OptimalS, &GaussianCurve];
        for curve in curves {
            let epsilon = curve.epsilon_within(rho, delta, reach).unwrap();
            // Nothing is to be read off where delta alone covers the loss.
            if epsilon.get() > 1e-20 {
                let back = curve.delta_within(rho, epsilon, reach).unwrap().get() / delta.get();
                prop_assert!((0.999_999..=1.000_001).contains(&back), "{back}");
            }
        }
    }

    #[test]
    fn the_methods_are_in_order_of_tightness(
        rho in log_uniform(1e-9, 1e3),
        delta in log_uniform(1e-300, 0.3),
    ) {
        let (rho, delta) = (Rho::new(rho).unwrap(), Delta::new(delta).unwrap());
        let bounds = Method::ALL.map(|method| method.epsilon(rho, delta).unwrap().get());
        let gaussian = GaussianCurve.epsilon(rho, delta).unwrap().get();
        prop_assert!(gaussian <= bounds[0] * (1.0 + 1e-9));
        prop_assert!(bounds[0] <= bounds[1] * (1.0 + 1e-9) && bounds[1] <= bounds[2] * (1.0 + 1e-9));
    }

    #[test]
    fn epsilon_rises_with_rho_and_falls_with_delta(
        rho in log_uniform(1e-12, 1e3),
        delta in log_uniform(1e-300, 0.1),
        factor in 1.001f64..10.0,
    ) {
        let at = |rho: f64, delta: f64| {
            Method::Tight.epsilon(Rho::new(rho).unwrap(), Delta::new(delta).unwrap()).unwrap()
        };
        prop_assert!(at(rho, delta) <= at(rho * factor, delta));
        prop_assert!(at(rho, delta * factor.min(5.0)) <= at(rho, delta));
    }

    #[test]
    fn a_gaussian_release_costs_half_its_squared_sensitivity_over_variance(
        sensitivity in log_uniform(1e-6, 1e6),
        variance in log_uniform(1e-2, 1e18),
    ) {
        for (sensitivity, variance) in [(sensitivity, variance), (sensitivity.ceil(), variance.ceil())] {
            let truth =
                written(sensitivity) * written(sensitivity) / (wide(2.0) * written(variance));
            prop_assume!(truth < wide(1e8));
            let (l2, noise) = (L2::new(sensitivity).unwrap(), Variance::new(variance).unwrap());
            let price = exact(gaussian_release(l2, noise).unwrap());
            prop_assert!(price >= truth);
            prop_assert!(price <= &truth * wide(1.0 + 1e-14) + wide(1.1e-30));
        }
    }

    #[test]
    fn the_metric_price_of_pure_privacy_covers_small_distances(
        epsilon in log_uniform(1e-6, 10.0),
        distance in log_uniform(1e-9, 1e3),
    ) {
        // At distance r the loss is that of (epsilon r)-DP, which must be within rho r².
        let places = Metric::Euclidean(Reach::Unlimited);
        let rho = pure_to_zcdp(Epsilon::new(epsilon).unwrap(), places).unwrap().get();
        let at_distance = epsilon * distance;
        let needed = at_distance * (at_distance / 2.0).tanh();
        prop_assert!(rho * distance * distance >= needed * (1.0 - 1e-14));
        // The price for neighbours at distance 1 would not do.
        let central = pure_to_zcdp(Epsilon::new(epsilon).unwrap(), CENTRAL).unwrap().get();
        prop_assert!(central <= rho);
        if epsilon > 0.1 {
            prop_assert!(central * 1e-18 < epsilon * 1e-9 * (epsilon * 1e-9 / 2.0).tanh());
        }
    }
}

#[test]
fn the_gaussian_curve_is_never_below_its_reference() {
    let mut lines = include_str!("../data/gaussian_curve.csv").lines();
    assert_eq!(lines.next(), Some("rho,epsilon,ln_delta"));
    let mut checked = 0;
    for line in lines {
        let numbers: Vec<&str> = line.split(',').collect();
        let (rho, epsilon): (Rho, Epsilon) =
            (numbers[0].parse().unwrap(), numbers[1].parse().unwrap());
        let truth: f64 = numbers[2].parse().unwrap();
        let bound = GaussianCurve.ln_delta(rho, epsilon);
        assert!(bound >= truth, "{line}: {bound}");
        assert!(bound <= truth + 1e-9, "{line}: {bound}");
        checked += 1;
    }
    assert_eq!(checked, 400);
}

#[test]
fn a_release_in_whole_numbers_has_an_exact_price() {
    let price = |sensitivity, variance| {
        gaussian_release(L2::new(sensitivity).unwrap(), Variance::new(variance).unwrap()).unwrap()
    };
    assert_eq!(price(1.0, 400.0).to_string(), "0.00125");
    assert_eq!(price(1.0, 1.5e15).to_string(), "3.33333333333334e-16");
    assert_eq!(price(20.0, 1e4).to_string(), "0.02");
}

#[test]
fn an_approximate_guarantee_costs_its_pure_price_and_its_delta() {
    let (epsilon, delta): (Epsilon, Delta) = ("1".parse().unwrap(), "1e-9".parse().unwrap());
    let charge = convert::approximate_to_zcdp(epsilon, delta, CENTRAL).unwrap();
    let rho = pure_to_zcdp(epsilon, CENTRAL).unwrap();
    assert_eq!(charge, Charge::zcdp(rho).with_delta(delta));
}

#[test]
fn the_ends_of_the_range_have_answers() {
    let curves: [&dyn Curve; 4] =
        [&Method::Tight, &Method::Simple, &Method::OptimalS, &GaussianCurve];
    for curve in curves {
        for rho in [f64::MIN_POSITIVE, 1e-30, 1e-12, 1.0, 1e3, 9e7] {
            for delta in [f64::MIN_POSITIVE, 1e-300, 1e-6, 0.5, 1.0 - f64::EPSILON] {
                let (rho, delta) = (Rho::new(rho).unwrap(), Delta::new(delta).unwrap());
                match curve.epsilon(rho, delta) {
                    Ok(epsilon) => assert!(epsilon.get().is_finite()),
                    Err(error) => assert!(rho.get() > 1e7, "{rho} {delta}: {error}"),
                }
                let target = Epsilon::new(rho.get()).unwrap();
                if let Ok(kept) = curve.rho(target, delta) {
                    assert!(curve.epsilon(kept, delta).unwrap() <= target, "{rho} {delta}");
                }
            }
        }
    }
}

#[test]
fn the_gaussian_curve_has_answers_at_every_reach() {
    let (epsilon, delta): (Epsilon, Delta) = ("1".parse().unwrap(), "1e-6".parse().unwrap());
    for metres in [1.0, 1e2, 1e4, 1e6, 1e9] {
        let reach = Metres::new(metres).unwrap();
        let rho = GaussianCurve.rho_within(epsilon, delta, reach).unwrap();
        assert!(GaussianCurve.epsilon_within(rho, delta, reach).unwrap() <= epsilon);
        assert!(rho >= Method::Tight.rho_within(epsilon, delta, reach).unwrap());
    }
    // Far out of range nothing is promised, and nothing is not a small delta.
    let (rho, reach) = (Rho::new(1e8).unwrap(), Metres::new(1e150).unwrap());
    let curves: [&dyn Curve; 4] =
        [&Method::Tight, &Method::Simple, &Method::OptimalS, &GaussianCurve];
    for curve in curves {
        assert!(curve.delta_within(rho, epsilon, reach).is_err());
        assert!(curve.epsilon_within(rho, delta, reach).is_err());
    }
}

#[test]
fn a_conversion_without_an_answer_says_so() {
    let (rho, epsilon): (Rho, Epsilon) = ("1000".parse().unwrap(), "0.1".parse().unwrap());
    let error = Method::Simple.delta(rho, epsilon).unwrap_err();
    assert_eq!(
        error.to_string(),
        "rho 1000.0 promises nothing at epsilon 0.1: delta would be 1; ask at a larger epsilon"
    );
    // Nothing so small as a double keeps this one.
    let delta: Delta = "1e-300".parse().unwrap();
    let tiny = Epsilon::new(f64::MIN_POSITIVE).unwrap();
    let error = Method::Simple.rho(tiny, delta).unwrap_err();
    assert!(error.to_string().starts_with("no rho keeps epsilon 2.2250738585072014e-308"));
}

/// What all coarser points of Gaussian paths together may differ by, 1e-240, fits below every delta
/// that a budget is likely to have: converting leaves the unit in its last place free.
#[test]
fn conversions_leave_the_last_place_of_delta_free() {
    for delta in [1e-3, 1e-6, 1e-12, 1e-100] {
        for rho in [1e-4, 0.1, 3.0] {
            let rho = Rho::new(rho).unwrap();
            let lower = Delta::new(f64::next_down(delta)).unwrap();
            assert!(delta - lower.get() > 1e-240);
            // The tight conversion at the next lower delta, in wide arithmetic, is still covered.
            let ours = Method::Tight.epsilon(rho, Delta::new(delta).unwrap());
            let reference = tight(&wide(rho.get()), &wide(lower.get()));
            assert!(wide(ours.unwrap().get()) >= reference, "{rho} {delta}");
        }
    }
}
