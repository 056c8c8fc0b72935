//! Prices of Skellam noise: against golden values, and against its divergence summed directly.

use eke_budget::convert::{Curve, Method, Order, SkellamCurve, SkellamError};
use eke_budget::{Amount, Delta, Epsilon, L1, Rho, Variance};
use proptest::prelude::*;

use crate::golden::golden;

fn curve(lambda: f64, shift: f64) -> SkellamCurve {
    SkellamCurve::new(Variance::new(2.0 * lambda).unwrap(), L1::new(shift).unwrap()).unwrap()
}

fn not_below(what: &str, computed: f64, truth: f64, within: f64) {
    assert!(computed >= truth * (1.0 - 1e-15), "{what}: {computed} is below {truth}");
    assert!(computed <= truth * (1.0 + within), "{what}: {computed} is far above {truth}");
}

#[test]
fn skellam_prices_match_the_golden_values() {
    let mut checked = 0;
    for g in golden() {
        let lambda = || g.input::<f64>("lambda");
        match g.name.as_str() {
            "skellam_delta_exact" => {
                let (shift, epsilon) = (g.input("Delta"), g.input::<Epsilon>("eps"));
                let delta = curve(lambda(), shift).delta(epsilon).unwrap().get();
                not_below(&g.name, delta, g.value().unwrap(), 3e-9);
                // And back: the epsilon of that delta is no larger, and hardly smaller.
                let back = curve(lambda(), shift).epsilon(Delta::new(delta).unwrap()).unwrap();
                assert!((back.get() / epsilon.get() - 1.0).abs() < 1e-7, "{back} {epsilon}");
            }
            "skellam_rdp_exact" => {
                let order = Order::new(g.input("alpha")).unwrap();
                let divergence = curve(lambda(), g.input("Delta")).divergence(order);
                not_below(&g.name, divergence, g.value().unwrap(), 3e-9);
            }
            "skellam_rdp_bound" => {
                let bound = curve(lambda(), g.input("Delta1"));
                let bound = bound.published_divergence(g.input("alpha"));
                not_below(&g.name, bound, g.value().unwrap(), 1e-14);
            }
            _ => continue,
        }
        checked += 1;
    }
    assert_eq!(checked, 13);
}

/// `P(k)`, as a sum over both Poisson numbers.
fn law(lambda: f64) -> Vec<f64> {
    let poisson: Vec<f64> = (0..900u32)
        .map(|n| {
            let n = f64::from(n);
            libm::exp(n * libm::log(lambda) - lambda - libm::lgamma(n + 1.0))
        })
        .collect();
    (0..600)
        .map(|k| poisson.iter().zip(&poisson[k..]).map(|(one, other)| one * other).sum())
        .collect()
}

/// The divergence at an order, summed directly over outcomes whose probabilities are normal
/// doubles.
fn divergence(law: &[f64], shift: i64, order: f64) -> f64 {
    let p = |k: i64| law.get(usize::try_from(k.abs()).unwrap()).copied().unwrap_or(0.0);
    let outcomes = (-500..500i64).filter(|&k| p(k) > 1e-300 && p(k - shift) > 1e-300);
    let exponents: Vec<f64> = outcomes
        .map(|k| order * libm::log(p(k - shift)) + (1.0 - order) * libm::log(p(k)))
        .collect();
    let largest = exponents.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = exponents.iter().map(|exponent| libm::exp(exponent - largest)).sum();
    (largest + libm::log(sum)) / (order - 1.0)
}

/// Orders of every size; the price covers each, and hardly more than the worst.
#[test]
fn a_skellam_rho_covers_every_order() {
    let orders = [1.0001, 1.01, 1.1, 1.3, 1.5, 1.9, 2.0, 2.5, 3.0, 4.0, 5.5, 8.0, 12.0, 20.0, 40.0];
    for lambda in [0.05, 0.3, 0.7, 1.0, 2.0, 5.0, 20.0, 60.0] {
        let law = law(lambda);
        for shift in [1i64, 2, 3, 7] {
            let at = curve(lambda, shift as f64);
            let rho = at.rho().unwrap().to_f64();
            let worst = orders
                .iter()
                .map(|&order| {
                    let found = divergence(&law, shift, order);
                    assert!(found <= order * rho, "{lambda} {shift} {order}: {found} {rho}");
                    let ours = at.divergence(Order::new(order).unwrap());
                    // Near order 1 the direct sum is a small difference of large numbers.
                    let slack = 1e-12 / (order - 1.0);
                    assert!((ours - found).abs() <= 1e-8 * found + slack, "{ours} {found}");
                    found / order
                })
                .fold(0.0, f64::max);
            let gaussian = (shift * shift) as f64 / (4.0 * lambda);
            let excess = rho / worst.max(gaussian) - 1.0;
            assert!(excess < 6e-4, "{lambda} {shift}: {excess}");
        }
    }
}

/// Where the closed form takes over it is nearly the same, and both are nearly the Gaussian price.
#[test]
fn wide_skellam_noise_costs_nearly_what_gaussian_noise_does() {
    for (lambda, shift) in [
        (8191.0, 1.0),
        (8192.0, 1.0),
        (1e6, 1.0),
        (1e12, 1.0),
        (20_000.0, 3.0),
        (30_000.0, 30.0),
        (1e6, 200.0),
        (1e9, 1000.0),
    ] {
        let rho = curve(lambda, shift).rho().unwrap().to_f64();
        let gaussian = shift * shift / (4.0 * lambda);
        assert!(rho > gaussian && rho < gaussian * 1.0012, "{lambda} {shift} {}", rho / gaussian);
    }
}

/// The two ways to see a price in a metric of its own: a rho promises no more than the noise keeps.
#[test]
fn the_exact_delta_of_skellam_noise_is_below_what_its_rho_promises() {
    for lambda in [0.7, 4.0, 100.0, 5000.0] {
        for epsilon in [0.01, 0.1, 1.0, 3.0] {
            let (at, epsilon) = (curve(lambda, 2.0), Epsilon::new(epsilon).unwrap());
            let rho = Rho::new(at.rho().unwrap().to_f64().next_up()).unwrap();
            assert!(at.ln_delta(epsilon) <= Method::Tight.ln_delta(rho, epsilon));
        }
    }
}

/// What is in print as the scale of a pure epsilon is nothing of the kind.
#[test]
fn the_printed_pure_price_of_skellam_noise_is_false() {
    for (epsilon, shift, least) in [(1.0, 1.0, 0.09), (2.0, 3.0, 0.68)] {
        let lambda = shift / libm::expm1(epsilon);
        let delta = curve(lambda, shift).delta(Epsilon::new(epsilon).unwrap()).unwrap();
        assert!(delta.get() > least, "{delta}");
    }
}

#[test]
fn a_skellam_variance_costs_what_it_was_made_for() {
    for shift in [1.0, 2.0, 5.0, 40.0, 1000.0] {
        for rho in ["1e-9", "3e-7", "1e-5", "2e-4", "0.0123", "0.5", "2", "30"] {
            let (rho, shift): (Amount<Rho>, _) = (rho.parse().unwrap(), L1::new(shift).unwrap());
            let variance = SkellamCurve::variance(rho, shift).unwrap();
            let price = SkellamCurve::new(variance, shift).unwrap().rho().unwrap();
            assert!(price <= rho, "{shift} {rho}");
            assert!(price.to_f64() > 0.999 * rho.to_f64(), "{shift} {rho} {price}");
            // Twenty bits, so that half of it is a ratio that is written down shortly.
            let (mantissa, _) = libm::frexp(variance.get());
            assert_eq!(libm::ldexp(mantissa, 20).fract(), 0.0);
            assert_eq!(SkellamCurve::variance(rho, shift).unwrap(), variance);
        }
    }
    let (epsilon, delta) = (Epsilon::new(1.0).unwrap(), Delta::new(1e-6).unwrap());
    let shift = L1::new(2.0).unwrap();
    let variance = SkellamCurve::variance_for(epsilon, delta, shift).unwrap();
    let at = SkellamCurve::new(variance, shift).unwrap();
    assert!(at.delta(epsilon).unwrap() <= delta);
    let less = Variance::new(variance.get() * 0.9999).unwrap();
    let less = SkellamCurve::new(less, shift).unwrap();
    assert!(less.delta(epsilon).unwrap() > delta);
}

#[test]
fn what_skellam_noise_cannot_do_is_a_sentence() {
    let half = SkellamCurve::variance("1".parse().unwrap(), L1::new(2.5).unwrap());
    assert_eq!(half, Err(SkellamError::NotWhole(2.5)));
    assert!(half.unwrap_err().to_string().ends_with("put the truth on a grid on which it is"));
    let large = SkellamCurve::new(Variance::new(1.0).unwrap(), L1::new(2e6).unwrap());
    assert!(matches!(large, Err(SkellamError::TooSensitive(_))));
    let free = SkellamCurve::variance(Amount::ZERO, L1::new(1.0).unwrap());
    assert_eq!(free, Err(SkellamError::NoPrice));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn skellam_prices_fall_with_the_variance_and_grow_with_the_shift(
        ln_lambda in -2.0f64..8.0,
        more in 1.002f64..3.0,
        shift in 1u32..12,
    ) {
        let lambda = ln_lambda.exp();
        let (at, wider) = (curve(lambda, shift.into()), curve(lambda * more, shift.into()));
        let shifted = curve(lambda, f64::from(shift + 1));
        prop_assert!(wider.rho().unwrap() < at.rho().unwrap());
        prop_assert!(at.rho().unwrap() < shifted.rho().unwrap());
        let (epsilon, order) = (Epsilon::new(0.5).unwrap(), Order::new(3.5).unwrap());
        prop_assert!(wider.ln_delta(epsilon) <= at.ln_delta(epsilon));
        prop_assert!(at.ln_delta(epsilon) <= shifted.ln_delta(epsilon));
        prop_assert!(at.divergence(order) <= shifted.divergence(order));
    }
}
