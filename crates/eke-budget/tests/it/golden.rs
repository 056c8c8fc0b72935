//! Conversions and bounds against values made with mpmath at forty digits.

use eke_budget::convert::{
    Curve, GaussianCurve, Method, Order, Row, bounded_range_to_zcdp, fixed_order_budget,
    pure_to_zcdp,
};
use eke_budget::metric::Reach;
use eke_budget::number::BoundedRange;
use eke_budget::{Epsilon, Metres, Metric};
use eke_testkit::Golden;

use crate::CENTRAL;

pub(crate) fn golden() -> Vec<Golden> {
    Golden::read(include_str!("../data/golden.json"))
}

#[test]
fn conversions_match_the_golden_values() {
    let mut checked = 0;
    for g in golden() {
        let epsilon_of =
            |curve: &dyn Curve| curve.epsilon(g.input("rho"), g.input("delta")).unwrap();
        let rho_of = |curve: &dyn Curve| curve.rho(g.input("eps"), g.input("delta")).unwrap();
        let within = |method: Method| {
            method.epsilon_within(g.input("rho"), g.input("delta"), g.input("Lambda")).unwrap()
        };
        match g.name.as_str() {
            "zcdp_to_eps_simple" => g.assert_not_below(epsilon_of(&Method::Simple).get()),
            "zcdp_to_eps_cks" => g.assert_not_below(epsilon_of(&Method::Tight).get()),
            "gaussian_exact_eps" => g.assert_not_below(epsilon_of(&GaussianCurve).get()),
            "eps_to_rho_simple" => g.assert_not_above(rho_of(&Method::Simple).get()),
            "eps_to_rho_cks" => g.assert_not_above(rho_of(&Method::Tight).get()),
            "eps_to_rho_gaussian_exact" => g.assert_not_above(rho_of(&GaussianCurve).get()),
            "cgp_to_gp_simple" => g.assert_not_below(within(Method::Simple).get()),
            "cgp_to_gp_cks" => g.assert_not_below(within(Method::Tight).get()),
            "cgp_to_gp_eq3_opt" => g.assert_not_below(within(Method::OptimalS).get()),
            "gp_filter10_rho_max" => {
                let (epsilon, delta) = (g.input("B"), g.input("delta"));
                let rho = Method::OptimalS.rho_within(epsilon, delta, g.input("Lambda")).unwrap();
                g.assert_not_above(rho.get());
            }
            "cgp_rho_for_gp" => {
                let method =
                    if g.inputs["conversion"] == "cks" { Method::Tight } else { Method::Simple };
                let (epsilon, delta) = (g.input("eps"), g.input("delta"));
                let rho = method.rho_within(epsilon, delta, g.input("Lambda")).unwrap();
                g.assert_not_above(rho.get());
            }
            "zcdp_to_delta_cks" | "gaussian_exact_delta" => {
                let curve: &dyn Curve =
                    if g.name == "zcdp_to_delta_cks" { &Method::Tight } else { &GaussianCurve };
                g.assert_ln_not_below(curve.ln_delta(g.input("rho"), g.input("eps")));
                let delta = curve.delta(g.input("rho"), g.input("eps")).unwrap();
                match g.value() {
                    Some(truth) if truth >= f64::MIN_POSITIVE => g.assert_not_below(delta.get()),
                    _ => assert_eq!(delta, eke_budget::Delta::FLOOR),
                }
            }
            "pure_to_zcdp_tight" => {
                g.assert_not_below(pure_to_zcdp(g.input("eps"), CENTRAL).unwrap().get());
            }
            "em_zcdp_bounded_range" => {
                let doubled = if g.inputs["scores"] == "monotone" { 1.0 } else { 2.0 };
                let range = BoundedRange::new(doubled * g.input::<f64>("eps_EM")).unwrap();
                g.assert_not_below(bounded_range_to_zcdp(range).unwrap().get());
            }
            _ => continue,
        }
        checked += 1;
    }
    assert_eq!(checked, 142);
}

#[test]
fn rows_and_fixed_orders_match_the_golden_values() {
    let mut checked = 0;
    for g in golden() {
        match g.name.as_str() {
            "fixed_alpha_budget" => {
                let order = Order::new(g.input("alpha")).unwrap();
                let budget = fixed_order_budget(order, g.input("eps"), g.input("delta")).unwrap();
                match budget {
                    Some(budget) => g.assert_not_above(budget.get()),
                    None => assert!(g.value().unwrap() <= 0.0, "{:?}", g.inputs),
                }
            }
            "ledger_delta" => {
                let row = Row { shift: g.input("xi"), rho: g.input("rho"), constant: g.input("b") };
                g.assert_ln_not_below(row.ln_delta(g.input("eps")));
            }
            _ => continue,
        }
        checked += 1;
    }
    assert_eq!(checked, 8);
}

#[test]
fn the_time_uniform_bound_matches_the_golden_values() {
    use eke_budget::account::TimeUniform;
    use eke_budget::{Account, BudgetSpec, Charge, NoHistory};
    let mut checked = 0;
    for g in golden() {
        // `psi` is the same bound without V/2, which the loss needs.
        let (variance, without_half) = match g.name.as_str() {
            "bm_expost_bound" => (g.input::<f64>("V"), 0.0),
            "psi" => (g.input::<f64>("t"), 0.5),
            _ => continue,
        };
        let rho = eke_budget::Rho::new(variance / 2.0).unwrap();
        let budget = BudgetSpec::zcdp("1000".parse().unwrap()).resolve(CENTRAL).unwrap();
        let mut account = Account::open("golden", budget, &mut NoHistory).unwrap();
        let _ = account.approve(Charge::zcdp(rho)).unwrap();
        let shape = TimeUniform::with_gamma(g.input("gamma"), g.input("delta")).unwrap();
        let bound = account.odometer().bound(shape).unwrap().unwrap();
        g.assert_not_below(bound.epsilon.get() - without_half * variance);
        checked += 1;
    }
    assert_eq!(checked, 29);
}

/// Goldens for a Gaussian filter in a metric hold through an account as well.
#[test]
fn a_metric_budget_holds_exactly_the_golden_rho() {
    use eke_budget::{BudgetSpec, Delta};
    for g in golden().iter().filter(|g| g.name == "gp_filter10_rho_max") {
        let reach = Metric::Euclidean(Reach::Within(g.input::<Metres>("Lambda")));
        let delta: Delta = g.input("delta");
        // All of delta for the conversion, but for a grain.
        let budget = BudgetSpec::promising(g.input::<Epsilon>("B"))
            .with_delta(delta)
            .with_zcdp_delta("1e-30".parse().unwrap())
            .with_method(Method::OptimalS)
            .resolve(reach)
            .unwrap();
        g.assert_not_above(budget.zcdp().unwrap().budget.to_f64());
    }
}
