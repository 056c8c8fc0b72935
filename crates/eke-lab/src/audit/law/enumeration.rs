//! Laws computed exactly: samplers, choices, and the geometric path in every order.

use std::error::Error;

use eke_budget::{Charge, L1, PathId, Purchase};
use eke_noise::evidence::Scores;
use eke_noise::select::{choose_exponentially, permute_and_flip, uniform_subset};
use eke_noise::{DiscreteGaussian, DiscreteLaplace, Exact, GeometricPath, Ratio, choose};
use eke_select::{Change, Choice};
use eke_testkit::oracle::{End, Enumerated, enumerate};

use crate::audit::{
    Audit, Finding, Findings, Method, law_finding, loss_finding, order_finding, walk,
};
use crate::laws::{gaussian, geometric, path_of_three};
use crate::{account, paid};

pub(in crate::audit) fn audits() -> Vec<Audit> {
    vec![
        Audit::once("laplace-law", Method::Enumeration, laplace_law)
            .about("discrete Laplace noise has its law, drawn once and from tables"),
        Audit::once("gaussian-law", Method::Enumeration, gaussian_law)
            .about("discrete Gaussian noise has its law, drawn once and from tables"),
        Audit::once("laplace-loss", Method::Enumeration, laplace_loss)
            .about("discrete Laplace noise costs its epsilon, no more and no less"),
        Audit::once("choice-law", Method::Enumeration, choice_law)
            .about("exponential choice, permute and flip, and subsets have their laws"),
        Audit::once("choice-loss", Method::Enumeration, choice_loss)
            .about("a choice by score costs its epsilon, no more and no less"),
        Audit::once("geometric-orders", Method::Enumeration, geometric_orders)
            .about("points of a geometric path have one joint law in every order"),
        Audit::once("geometric-path-loss", Method::Enumeration, geometric_path_loss)
            .about("all points of a geometric path together cost the finest one's epsilon"),
    ]
}

fn ratio(numerator: u128, denominator: u128) -> Result<Ratio, Box<dyn Error>> {
    Ratio::new(numerator, denominator).ok_or_else(|| "a ratio of zero".into())
}

fn approximate(numerator: u128, denominator: u128) -> f64 {
    numerator as f64 / denominator as f64
}

fn laplace_law() -> Findings {
    let mut findings = Vec::new();
    for (numerator, denominator) in [(1, 3), (1, 1), (5, 2)] {
        let scale = ratio(numerator, denominator)?;
        let law = geometric(1.0 / approximate(numerator, denominator));
        findings.push(law_finding(
            format!("one draw of scale {numerator}/{denominator}"),
            1e-6,
            |oracle| DiscreteLaplace::once(&scale, oracle).ok(),
            |&k| k.map_or(0.0, &law),
        ));
    }
    for (numerator, denominator) in [(1, 3), (3, 1), (40, 1)] {
        let prepared = DiscreteLaplace::new(&ratio(numerator, denominator)?)?;
        let law = geometric(1.0 / approximate(numerator, denominator));
        findings.push(law_finding(
            format!("a table of scale {numerator}/{denominator}"),
            1e-7,
            |oracle| prepared.draw(oracle),
            |&k| law(k),
        ));
    }
    Ok(findings)
}

fn gaussian_law() -> Findings {
    let mut findings = Vec::new();
    for (numerator, denominator) in [(1, 2), (1, 1)] {
        let variance = ratio(numerator, denominator)?;
        let law = gaussian(0.0, approximate(numerator, denominator));
        findings.push(law_finding(
            format!("one draw of variance {numerator}/{denominator}"),
            1e-6,
            |oracle| DiscreteGaussian::once(&variance, oracle).ok(),
            |&k| k.map_or(0.0, &law),
        ));
    }
    for (numerator, denominator) in [(1, 4), (4, 1), (1100, 1)] {
        let prepared = DiscreteGaussian::new(&ratio(numerator, denominator)?)?;
        let law = gaussian(0.0, approximate(numerator, denominator));
        findings.push(law_finding(
            format!("a table of variance {numerator}/{denominator}"),
            1e-7,
            |oracle| prepared.draw(oracle),
            |&k| law(k),
        ));
    }
    Ok(findings)
}

fn laplace_loss() -> Findings {
    let mut findings = Vec::new();
    for (numerator, denominator) in [(3, 2), (1, 1)] {
        let scale = ratio(numerator, denominator)?;
        let side = |truth: i64| {
            enumerate(End::First, 1e-8, |oracle| {
                DiscreteLaplace::once(&scale, oracle).map(|noise| truth + noise).ok()
            })
        };
        let epsilon = approximate(denominator, numerator);
        findings.push(loss_finding(
            format!("scale {numerator}/{denominator}, truths 7 and 8"),
            epsilon,
            [side(7), side(8)],
        ));
    }
    Ok(findings)
}

fn choice_law() -> Findings {
    let scores = [3, 5, 4, 5];
    let rate = ratio(1, 2)?;
    let weights = scores.map(|score: i32| (f64::from(score) / 2.0).exp());
    let total: f64 = weights.iter().sum();
    let exponential = law_finding(
        "exponential choice of four",
        1e-10,
        |oracle| choose_exponentially(&scores.map(i64::from), &rate, oracle),
        |item| item.map_or(0.0, |item| weights[item] / total),
    );
    let flipped = permute_and_flip_law(&scores.map(|score| (f64::from(score - 5) / 2.0).exp()));
    let permute = law_finding(
        "permute and flip of four",
        1e-10,
        |oracle| permute_and_flip(&scores.map(i64::from), &rate, oracle),
        |item| item.map_or(0.0, |item| flipped[item]),
    );
    let subset = law_finding(
        "two of five",
        1e-10,
        |oracle| {
            let mut set = uniform_subset(5, 2, oracle);
            set.sort_unstable();
            set
        },
        |set| if set.len() == 2 && set[0] < set[1] { 0.1 } else { 0.0 },
    );
    Ok(vec![exponential, permute, subset])
}

/// The law of permute and flip, by going through all orders.
fn permute_and_flip_law(coins: &[f64]) -> Vec<f64> {
    fn go(coins: &[f64], left: &[usize], weight: f64, law: &mut [f64]) {
        let each = weight / left.len() as f64;
        for &item in left {
            law[item] += each * coins[item];
            let others: Vec<usize> = left.iter().copied().filter(|&other| other != item).collect();
            if coins[item] < 1.0 {
                go(coins, &others, each * (1.0 - coins[item]), law);
            }
        }
    }
    let mut law = vec![0.0; coins.len()];
    let all: Vec<usize> = (0..coins.len()).collect();
    go(coins, &all, 1.0, &mut law);
    law
}

/// Choices with exact laws on neighbouring scores, each against what its purchase is charged; and
/// for every pair of neighbours within a small range, so that none is worse than the one that is.
fn choice_loss() -> Findings {
    let one = L1::new(1.0)?;
    let side = |choice: &Choice, scores: &[i64]| {
        enumerate(End::First, 1e-10, |oracle| {
            let receipt = paid(&mut account(), choice.clone()).ok()?;
            let scores = Exact::new(Scores(scores.to_vec()), one);
            choose(&scores, receipt, oracle).ok().map(eke_noise::Released::get)
        })
    };
    let mut findings = Vec::new();
    for (name, by) in [
        ("permute and flip", Choice::permute_and_flip as fn(_, _, _) -> Result<_, _>),
        ("exponential", Choice::exponential),
    ] {
        // One score up, the others down; far below the others a candidate's probability moves the
        // most.
        for (moved, change, scores, neighbours) in [
            ("one up, two down", Change::General, [10, 21, 21], [11, 20, 20]),
            ("two up", Change::Monotone, [10, 20, 20], [10, 21, 21]),
        ] {
            let choice = by(0.75, one, change)?;
            let Charge::Pure { epsilon, .. } = choice.charge() else {
                return Err("not pure".into());
            };
            let laws = [side(&choice, &scores), side(&choice, &neighbours)];
            findings.push(loss_finding(format!("{name}: {moved}"), epsilon.to_f64(), laws));
        }
    }
    // The exponential mechanism proposes again and again, so trying everything would take too long.
    for change in [Change::General, Change::Monotone] {
        let choice = Choice::permute_and_flip(0.75, one, change)?;
        findings.push(largest_loss("permute and flip", &choice, change, &side)?);
    }
    Ok(findings)
}

/// The law of what a receipt chooses, if it does.
type Chosen = Enumerated<Option<Option<usize>>>;

/// The largest loss between any two neighbours among three scores from 0 to 2.
fn largest_loss(
    name: &str,
    choice: &Choice,
    change: Change,
    side: &impl Fn(&Choice, &[i64]) -> Chosen,
) -> Result<Finding, Box<dyn Error>> {
    let Charge::Pure { epsilon, .. } = choice.charge() else { return Err("not pure".into()) };
    let all: Vec<[i64; 3]> = (0..27).map(|code| [code / 9, code / 3 % 3, code % 3]).collect();
    let laws: Vec<Chosen> = all.iter().map(|scores| side(choice, scores)).collect();
    let mut found = 0.0f64;
    for (one, law) in all.iter().zip(&laws) {
        for (other, other_law) in all.iter().zip(&laws) {
            let moves = [0, 1, 2].map(|i| other[i] - one[i]);
            let near = match change {
                Change::General => moves.iter().all(|by| by.abs() <= 1),
                Change::Monotone => moves.iter().all(|by| (0..=1).contains(by)),
            };
            if near {
                found = found.max(law.loss(other_law)).max(other_law.loss(law));
            }
        }
    }
    let what = format!("{name}: all neighbours, {}", change_name(change));
    Ok(Finding::new(what, "epsilon", found).at_most(epsilon.to_f64() + 1e-9))
}

fn change_name(change: Change) -> &'static str {
    match change {
        Change::General => "general",
        Change::Monotone => "monotone",
    }
}

fn open() -> Option<GeometricPath<i64>> {
    Some(GeometricPath::open(PathId::new([1; 32]), L1::new(1.0).ok()?))
}

/// Points at epsilon 3, 2 and 1.5: all six orders, each against the law of one path.
fn geometric_orders() -> Findings {
    let known = path_of_three([3.0, 2.0, 1.5]);
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let finding =
        |order| order_finding("revealed in the order", ["3", "2", "1.5"], order, open, &known);
    Ok(orders.map(finding).into())
}

/// Everything revealed of a path, on neighbouring truths.
fn geometric_path_loss() -> Findings {
    let mut findings = Vec::new();
    for order in [["3", "4", "3.5"], ["4", "3", "3.5"]] {
        let side =
            |truth| enumerate(End::First, 1e-7, |oracle| walk(open()?, truth, &order, oracle));
        let laws = [side(0), side(1)];
        findings.push(loss_finding(
            format!("points {}, truths 0 and 1", order.join(", ")),
            4.0,
            laws,
        ));
    }
    Ok(findings)
}
