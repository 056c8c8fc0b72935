//! Chains against values made with mpmath at forty digits (data/chains.json): the paper's lists
//! with the probabilities of their steps, corrected, and which of them each tier gets.

use eke_budget::{Amount, Epsilon};
use eke_local::worth::hash;
use eke_local::{Method, Plan};
use eke_noise::local::{Chain, HashTemplate, ReportLaw, Share, Template, Weight};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Golden {
    name: String,
    inputs: Value,
    value: Value,
}

fn golden(name: &str) -> Vec<Golden> {
    let all: Vec<Golden> = serde_json::from_str(include_str!("../data/chains.json")).unwrap();
    let found: Vec<_> = all.into_iter().filter(|entry| entry.name == name).collect();
    assert!(!found.is_empty(), "no values of {name}");
    found
}

impl Golden {
    fn number(&self, name: &str) -> u32 {
        self.inputs[name].as_u64().unwrap().try_into().unwrap()
    }

    fn tiers(&self) -> Vec<Amount<Epsilon>> {
        let texts = self.inputs["L"].as_array().unwrap();
        texts.iter().map(|text| Amount::parse_up(text.as_str().unwrap()).unwrap()).collect()
    }

    fn method(&self) -> Method {
        if self.number("variant") == 1 { Method::Reference } else { Method::Improved }
    }
}

/// A decimal, `ln(a decimal)` or infinity, as a double.
fn number(value: &Value) -> f64 {
    let text = value.as_str().unwrap();
    match text.strip_prefix("ln(").and_then(|rest| rest.strip_suffix(')')) {
        Some(inner) => inner.parse::<f64>().unwrap().ln(),
        None => text.parse().unwrap(),
    }
}

fn is_near(found: f64, known: f64) -> bool {
    (found - known).abs() <= 2e-14 * known.abs().max(1.0)
}

fn subset(law: &ReportLaw) -> Template {
    let ReportLaw::Subset(template) = law else { panic!("{law:?}") };
    *template
}

fn hashed(law: &ReportLaw) -> HashTemplate {
    let ReportLaw::Hash(template) = law else { panic!("{law:?}") };
    *template
}

/// Steps have the probability of the ratio of their shares; where nothing is thrown, that is one.
fn assert_steps(known: &Value, found: &[(f64, u32, Share)], size: &str) {
    let known = known.as_array().unwrap();
    assert_eq!(known.len(), found.len());
    let mut before = 1.0;
    for (step, (epsilon, k, share)) in known.iter().zip(found) {
        assert_eq!(step[size].as_u64().unwrap(), u64::from(*k), "{step}");
        assert!(is_near(*epsilon, number(&step["eps"])), "{step} {epsilon}");
        let kept = share.to_f64() / before;
        let beta = match step["op"].as_str().unwrap() {
            "base" => kept,
            "merge" => 1.0,
            _ => number(&step["beta"]),
        };
        assert!(is_near(kept, beta), "{step} {kept}");
        before = share.to_f64();
    }
}

#[test]
fn the_papers_lists_of_subsets_are_the_known_ones() {
    for golden in golden("subset_schedule") {
        let d = golden.number("d");
        let list = golden.method().list(d, &golden.tiers()).unwrap();
        let found: Vec<_> = list
            .iter()
            .map(|law| {
                let template = subset(law);
                let share = Share { weight: template.weight, among: d };
                (law.epsilon().to_f64(), template.size, share)
            })
            .collect();
        assert_steps(&golden.value, &found, "k");
    }
    for golden in golden("subset1_templates") {
        let d = golden.number("d");
        let tiers = [Amount::parse_up("0.0001").unwrap()];
        let list = Method::Reference.list(d, &tiers).unwrap();
        for (law, known) in list.iter().zip(golden.value.as_array().unwrap()) {
            assert!(is_near(law.epsilon().to_f64(), number(known)), "{d}: {law:?}");
        }
    }
    for golden in golden("subset_step3_template") {
        let (d, k) = (golden.number("d"), golden.number("k"));
        let list = Method::Reference.list(d, &[Amount::parse_up("0.0001").unwrap()]).unwrap();
        let last = list[list.len() - 2];
        assert_eq!(subset(&last).size, k);
        assert!(is_near(last.epsilon().to_f64(), number(&golden.value)));
    }
}

#[test]
fn tiers_get_the_known_templates_of_the_papers_lists() {
    for golden in golden("subset_match") {
        let plan = Plan::new(golden.number("d"), &golden.tiers(), golden.method()).unwrap();
        let known = golden.value.as_array().unwrap();
        assert_eq!(plan.tiers().len(), known.len());
        for (tier, known) in plan.tiers().iter().zip(known) {
            assert!(is_near(tier.law.epsilon().to_f64(), number(&known["eps"])), "{tier:?}");
            assert_eq!(u64::from(subset(&tier.law).size), known["k"].as_u64().unwrap());
        }
    }
}

#[test]
fn the_papers_list_of_hashes_is_the_known_one() {
    for golden in golden("local_hash_schedule") {
        let list = Method::HashReference.list(1000, &golden.tiers()).unwrap();
        let found: Vec<_> = list
            .iter()
            .map(|law| (law.epsilon().to_f64(), hashed(law).bits, hashed(law).share))
            .collect();
        assert_steps(&golden.value, &found, "log2g");
    }
}

#[test]
fn rescaling_keeps_with_the_known_probability_and_growing_costs_the_known_price() {
    let at = |epsilon: f64, size| Weight::Of { epsilon: Amount::ceil(epsilon).unwrap(), size };
    for golden in golden("subset_rescale_beta") {
        let (d, k) = (golden.number("d"), golden.number("k"));
        let share = |epsilon: f64| {
            if epsilon.is_infinite() {
                return 1.0;
            }
            Share { weight: at(epsilon, k), among: d }.to_f64()
        };
        let (from, to) = (number(&golden.inputs["eps"]), number(&golden.inputs["eps_prime"]));
        let found = share(to) / share(from);
        assert!(is_near(found, number(&golden.value)), "{} {found}", golden.inputs);
    }
    for golden in golden("subset_expansion_eps") {
        let k = golden.number("k");
        let grown = Template { size: k + 1, weight: at(number(&golden.inputs["eps"]), k) };
        let found = grown.epsilon().to_f64();
        assert!(is_near(found, number(&golden.value)), "{} {found}", golden.inputs);
    }
}

/// A tier at exactly a level that another tier leaves it gets that level, and one below it does
/// not.
#[test]
fn a_template_one_too_coarse_is_allowed_and_one_too_fine_is_not() {
    // 0.3364722366212129305046… is the level of five of ten categories in the paper's list.
    let tiers = |text: &str| [Amount::parse_up("4").unwrap(), Amount::parse_up(text).unwrap()];
    let of = |text: &str| {
        let plan = Plan::new(10, &tiers(text), Method::Reference).unwrap();
        (subset(&plan.tiers()[1].law).weight, plan.tiers()[1].law.epsilon())
    };
    let (weight, price) = of("0.336472236621212930504593410218");
    assert_eq!(weight, Weight::Whole(2));
    assert!(price <= Amount::parse_up("0.336472236621212930504593410218").unwrap());
    let (weight, _) = of("0.336472236621212930504593410216");
    assert!(matches!(weight, Weight::Of { size: 5, .. }), "{weight:?}");
    // Next to the template that a tier gets, the coarser one would do, and the finer one would not.
    let list = Method::Reference.list(10, &tiers("1.6")).unwrap();
    let plan = Plan::new(10, &tiers("1.6"), Method::Reference).unwrap();
    let place = list.iter().position(|law| *law == plan.tiers()[1].law).unwrap();
    for (law, may) in [(list[place + 1], true), (list[place], true), (list[place - 1], false)] {
        assert_eq!(law.epsilon() <= plan.tiers()[1].epsilon, may, "{law:?}");
        assert!(Chain::new(10, &[list[0], law]).is_ok());
    }
}

/// All functions from four categories to values, each as likely as another: how often a report
/// supports a category, and how far estimates are off, is what the formulas say.
#[test]
fn hashed_reports_support_categories_as_often_as_they_say() {
    let d = 4u32;
    for bits in [1, 2] {
        let g = 1usize << bits;
        for epsilon in [0.3, 1.0, 2.5] {
            let odds = hash::odds_at(bits, epsilon);
            let share = odds / (1.0 + odds);
            let (t, f) = (hash::hit(bits, odds), hash::miss(bits));
            let functions = g.pow(d);
            let (mut supported, mut off) = (vec![0.0; d as usize], 0.0);
            for function in 0..functions {
                let value = |category: u32| function / g.pow(category) % g;
                for report in 0..g {
                    // The true category is the first.
                    let true_one = if value(0) == report { share } else { 0.0 };
                    let probability = (true_one + (1.0 - share) / g as f64) / functions as f64;
                    for category in 0..d {
                        let support = f64::from(u8::from(value(category) == report));
                        supported[category as usize] += probability * support;
                        let error = (support - f) / (t - f) - f64::from(u8::from(category == 0));
                        off += probability * error * error;
                    }
                }
            }
            assert!((supported[0] - t).abs() < 1e-14);
            assert!(supported[1..].iter().all(|found| (found - f).abs() < 1e-14));
            let variance = hash::variance(d, bits, odds);
            assert!((off / variance - 1.0).abs() < 1e-12, "{bits} {epsilon}: {off} {variance}");
        }
    }
}

/// The variance of categories that are not the true one, as it is in print.
#[test]
fn the_variance_of_hashed_reports_is_the_one_in_print() {
    for bits in 1..=10 {
        for epsilon in [0.01f64, 0.5, 1.0, 3.0, 8.0] {
            let (e, g) = (epsilon.exp(), f64::from(1u32 << bits));
            let known = (e - 1.0 + g).powi(2) / ((e - 1.0).powi(2) * (g - 1.0));
            let of = |d| hash::variance(d, bits, hash::odds_at(bits, epsilon));
            let found = of(1001) - of(1000);
            assert!((found / known - 1.0).abs() < 1e-9, "{bits} {epsilon}");
        }
    }
    // The best number of values is near exp(epsilon) + 1.
    assert_eq!([0.5, 2.0, 3.4, 6.0].map(|e| hash::best_bits(100_000, e)), [1, 3, 5, 9]);
}

/// Planned hashes are at least as good as the paper's, and what each tier has alone is not far.
#[test]
fn planned_hashes_are_better_than_the_papers() {
    let list: Vec<_> =
        (1..=20).map(|n| Amount::parse_up(&format!("{}e-1", 4 * n)).unwrap()).collect();
    let worst = |method| {
        let plan = Plan::new(4096, &list, method).unwrap();
        let ratios = plan
            .tiers()
            .iter()
            .map(|tier| tier.variance / hash::best_variance(4096, tier.epsilon.to_f64()));
        (plan.worst(), ratios.fold(0.0, f64::max))
    };
    let (planned, reference) = (worst(Method::Hash), worst(Method::HashReference));
    assert!(planned.0 < 0.7 * reference.0 && planned.1 < 1.5, "{planned:?} {reference:?}");
}
