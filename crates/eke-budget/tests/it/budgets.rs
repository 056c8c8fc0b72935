//! What a budget promises, and what it refuses to promise.

use eke_budget::convert::{Curve, Method};
use eke_budget::metric::Reach;
use eke_budget::{Amount, BudgetSpec, Delta, Epsilon, Metres, Metric};
use proptest::prelude::*;

use crate::wide::{exact, tight, wide, written};
use crate::{CENTRAL, amount};

fn spec(json: &str) -> BudgetSpec {
    serde_json::from_str(json).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// What the purses hold together, converted with what is left of delta, is within the promise.
    #[test]
    fn a_budget_keeps_the_promise_it_was_made_from(
        epsilon in 0.01f64..20.0,
        log_delta in -30.0f64..-2.0,
        pure_share in 0.0f64..0.9,
        zcdp_share in 0.01f64..0.4,
        pure_delta_share in 0.01f64..0.4,
        metres in 1f64..1e5,
    ) {
        let delta = log_delta.exp();
        for metric in [CENTRAL, Metric::Discrete, Metric::Euclidean(Reach::Within(Metres::new(metres).unwrap()))] {
            let mut spec = BudgetSpec::promising(Epsilon::new(epsilon).unwrap())
                .with_delta(Delta::new(delta).unwrap())
                .with_zcdp_delta(Delta::new(delta * zcdp_share).unwrap());
            if pure_share > 0.1 {
                spec = spec
                    .with_pure(Epsilon::new(epsilon * pure_share).unwrap())
                    .with_pure_delta(Delta::new(delta * pure_delta_share).unwrap());
            }
            let budget = spec.resolve(metric).unwrap();
            let zcdp = budget.zcdp().unwrap();
            let pure = budget.pure().map_or(wide(0.0), |limits| exact(limits.budget));
            let pure_delta = budget.pure().map_or(wide(0.0), |limits| exact(limits.delta));
            let left = written(delta) - exact(zcdp.delta) - pure_delta;
            let reach = written(metric.reach().unwrap().get());
            let total = tight(&(exact(zcdp.budget) * &reach * &reach), &left) / reach + pure;
            // To the last digit that people wrote.
            prop_assert!(total <= written(epsilon), "{total} > {epsilon}");
            prop_assert!(total >= wide(epsilon * (1.0 - 1e-9)), "{total} wastes some of {epsilon}");
            let promise = budget.promise().unwrap();
            prop_assert_eq!(promise.epsilon.get(), epsilon);
            prop_assert_eq!(promise.delta.map(Delta::get), Some(delta));
            prop_assert_eq!(promise.reach.is_some(), metric.has_small_distances());
        }
    }
}

#[test]
fn a_tenth_of_delta_is_kept_for_mechanisms_and_costs_little() {
    let kept = spec(r#"{"epsilon": 1, "delta": 1e-6}"#).resolve(CENTRAL).unwrap();
    let purse = kept.zcdp().unwrap();
    assert_eq!(purse.delta, amount("1e-7"));
    let all = Method::Tight.rho("1".parse().unwrap(), "1e-6".parse().unwrap()).unwrap();
    let cost = 1.0 - purse.budget.to_f64() / all.get();
    assert!((0.0..0.01).contains(&cost), "{cost}");
}

#[test]
fn a_rho_budget_promises_the_epsilon_it_comes_to() {
    let budget = spec(r#"{"rho": 0.5, "delta": 1e-6, "pure": 0.25}"#).resolve(CENTRAL).unwrap();
    let promise = budget.promise().unwrap();
    let conversion = Delta::new(0.9e-6).unwrap();
    let expected = Method::Tight.epsilon("0.5".parse().unwrap(), conversion).unwrap().get() + 0.25;
    assert!((promise.epsilon.get() - expected).abs() < 1e-12);
    assert_eq!(budget.zcdp().unwrap().budget, amount("0.5"));
    assert_eq!(budget.pure().unwrap().budget, amount("0.25"));
    assert_eq!(spec(r#"{"rho": 0.5}"#).resolve(CENTRAL).unwrap().promise(), None);
}

#[test]
fn a_pure_budget_holds_at_any_distance() {
    let budget = spec(r#"{"epsilon": 0.01}"#).resolve(Metric::Euclidean(Reach::Unlimited)).unwrap();
    assert_eq!(budget.promise().unwrap().to_string(), "epsilon 0.01");
    assert!(budget.zcdp().is_none());
    assert_eq!(budget.pure().unwrap().delta, Amount::ZERO);
}

#[test]
fn the_method_can_be_chosen() {
    let budget = |method: &str| {
        let json = format!(
            r#"{{"epsilon": 1, "delta": 1e-10, "zcdp_delta": 1e-30, "method": "{method}"}}"#
        );
        let reach = Metric::Euclidean(Reach::Within(Metres::new(10.0).unwrap()));
        spec(&json).resolve(reach).unwrap().zcdp().unwrap().budget.to_f64()
    };
    for (method, rho) in [
        ("tight", 0.009_938_913_988_995_405),
        ("optimal-s", 0.009_599_188_929_737_239),
        ("simple", 0.008_992_469_608_559_975),
    ] {
        let relative = budget(method) / rho - 1.0;
        assert!(relative <= 0.0 && relative > -1e-9, "{method}: {relative}");
    }
}

#[test]
fn budgets_that_cannot_be_kept_have_a_sentence_each() {
    let places = Metric::Euclidean(Reach::Unlimited);
    for (json, metric, sentence) in [
        ("{}", CENTRAL, "the budget is empty: give it an epsilon and a delta, or a rho"),
        (
            r#"{"epsilon": 1, "rho": 1, "delta": 1e-6}"#,
            CENTRAL,
            "the budget has an epsilon and a rho: give it one of them; the other follows",
        ),
        (
            r#"{"epsilon": 1, "pure": 0.5}"#,
            CENTRAL,
            "without a delta all of epsilon is pure: add a delta, or leave out `pure`",
        ),
        (
            r#"{"epsilon": 1, "zcdp_delta": 1e-7}"#,
            CENTRAL,
            "without a delta all of epsilon is pure: add a delta, or leave out `zcdp_delta`",
        ),
        (
            r#"{"rho": 1, "zcdp_delta": 1e-7}"#,
            CENTRAL,
            "without a delta all of epsilon is pure: add a delta, or leave out `zcdp_delta`",
        ),
        (
            r#"{"epsilon": 1, "delta": 1e-6, "pure": 1}"#,
            CENTRAL,
            "pure 1.0 must be less than epsilon 1.0: lower it, or leave out the delta",
        ),
        (
            r#"{"epsilon": 1, "delta": 1e-6, "zcdp_delta": 1e-6}"#,
            CENTRAL,
            "the deltas kept for mechanisms must add up to less than delta 1e-6: lower them",
        ),
        (
            r#"{"epsilon": 1, "delta": 1e-6, "pure_delta": 1e-7}"#,
            CENTRAL,
            "`pure_delta` needs a `pure` budget beside it",
        ),
        (
            r#"{"epsilon": 1e-40}"#,
            CENTRAL,
            "epsilon is less than the 1e-30 that eke counts in: give a larger budget",
        ),
        (
            r#"{"rho": 1e-40}"#,
            CENTRAL,
            "rho is less than the 1e-30 that eke counts in: give a larger budget",
        ),
        (
            r#"{"epsilon": 1, "delta": 1e-6}"#,
            places,
            "at unlimited reach only a pure budget keeps an epsilon: leave out the delta, or set a reach",
        ),
    ] {
        let error = spec(json).resolve(metric).unwrap_err();
        assert_eq!(error.to_string(), sentence, "{json}");
    }
}

#[test]
fn unknown_fields_and_bad_values_are_named() {
    for (json, sentence) in [
        (r#"{"epsilon": 1, "sigma": 2}"#, "unknown field `sigma`, expected one of `epsilon`"),
        (r#"{"epsilon": 0}"#, "epsilon is zero, which means nothing here"),
        (r#"{"epsilon": 1, "delta": 1.5}"#, "delta 1.5 is too large"),
        (r#"{"epsilon": 1, "epsilon": 2}"#, "duplicate field `epsilon`"),
        (r#"{"epsilon": 1, "delta": 1e-6, "method": "best"}"#, "unknown variant `best`"),
    ] {
        let said = serde_json::from_str::<BudgetSpec>(json).unwrap_err().to_string();
        assert!(said.starts_with(sentence), "{said}");
    }
    let error = "best".parse::<Method>().unwrap_err().to_string();
    assert_eq!(error, "method `best` is not known: write tight, optimal-s or simple");
    let both = BudgetSpec::promising("1".parse().unwrap()).with_delta("1e-6".parse().unwrap());
    assert_eq!(serde_json::to_string(&both).unwrap(), r#"{"epsilon":1.0,"delta":1e-6}"#);
}
