//! `MSDLap` noise, computed exactly, and its tiers, compared with draws.

use std::collections::BTreeMap;
use std::error::Error;

use eke_budget::{Account, L1, PathId};
use eke_noise::law::{Msdlap, Shifts};
use eke_noise::path::MsdlapPath;
use eke_noise::{Entropy, Exact, Ratio};
use eke_testkit::Fit;
use eke_testkit::Seeded;
use eke_testkit::oracle::{End, enumerate};

use crate::audit::{Audit, Findings, Method, fit_findings, law_finding, loss_finding};
use crate::laws::{geometric, residual};
use crate::{account, shown};

pub(in crate::audit) fn audits() -> Vec<Audit> {
    vec![
        Audit::once("msdlap-law", Method::Enumeration, msdlap_law)
            .about("MSDLap noise has its law"),
        Audit::once("msdlap-loss", Method::Enumeration, msdlap_loss)
            .about("MSDLap noise costs its epsilon for every shift, no more and no less"),
        Audit::once("msdlap-tiers", Method::Fit, msdlap_tiers)
            .about("points of an MSDLap path fit the joint law of one path, in both orders"),
    ]
}

/// The law of a sum over shifts from 1 to `most`, each part times its shift.
fn weighted(most: i64, reach: i64, part: impl Fn(i64) -> f64) -> impl Fn(i64) -> f64 {
    let mut law = BTreeMap::from([(0, 1.0)]);
    for shift in 1..=most {
        let mut next = BTreeMap::new();
        for (sum, probability) in law {
            for k in -reach..=reach {
                *next.entry(sum + shift * k).or_insert(0.0) += probability * part(k);
            }
        }
        law = next;
    }
    move |sum| law.get(&sum).copied().unwrap_or(0.0)
}

fn prepared(epsilon: f64, most: u32) -> Result<Msdlap, Box<dyn Error>> {
    let epsilon = Ratio::from_f64(epsilon).ok_or("not a rate")?;
    Ok(Msdlap::new(&epsilon, Shifts::new(most)?)?)
}

/// What is revealed of a path of sensitivity two, finest first. Every path is another one of the
/// account.
fn walk<E: Entropy>(
    account: &mut Account,
    id: PathId,
    points: &[&str],
    entropy: &mut E,
) -> Result<Vec<i64>, Box<dyn Error>> {
    let two = L1::new(2.0)?;
    let mut path = MsdlapPath::open(id, two)?;
    let truth = Exact::new(TRUTH, two);
    points.iter().map(|to| shown(account, &mut path, &truth, to.parse()?, entropy)).collect()
}

const TRUTH: i64 = 5;

fn msdlap_law() -> Findings {
    let mut findings = Vec::new();
    for (epsilon, most) in [(1.0, 2), (1.5, 3), (4.0, 8)] {
        let (noise, law) = (prepared(epsilon, most)?, geometric(epsilon));
        let known = weighted(most.into(), 40, law);
        findings.push(law_finding(
            format!("a table of epsilon {epsilon}, sensitivity {most}"),
            1e-9,
            |oracle| noise.draw(oracle),
            |&k| known(k),
        ));
    }
    Ok(findings)
}

/// Truths at every distance that one unit can move them by: at most epsilon, and all of it for the
/// furthest.
fn msdlap_loss() -> Findings {
    let mut findings = Vec::new();
    for (epsilon, most) in [(1.5, 3), (3.0, 2)] {
        let noise = prepared(epsilon, most)?;
        let side = |truth: i64| enumerate(End::First, 1e-13, |oracle| truth + noise.draw(oracle));
        let truth = side(7);
        for shift in 1..=most {
            let what = format!("epsilon {epsilon}, truths 7 and {}", 7 + shift);
            let laws = [truth.clone(), side(7 + i64::from(shift))];
            let mut finding = loss_finding(what, epsilon, laws);
            if shift < most {
                finding.at_least = Some(0.5 * epsilon);
            }
            findings.push(finding);
        }
    }
    Ok(findings)
}

/// The joint law of points at epsilon 3, some other and 1, of sensitivity two.
fn joint(middle: f64) -> BTreeMap<[i64; 3], f64> {
    let first = weighted(2, 10, geometric(3.0));
    let second = weighted(2, 15, residual(3.0, middle));
    let third = weighted(2, 20, residual(middle, 1.0));
    let mut law = BTreeMap::new();
    for fine in -6..=6 {
        for step in -8..=8 {
            for last in -10..=10 {
                let point = [TRUTH + fine, TRUTH + fine + step, TRUTH + fine + step + last];
                law.insert(point, first(fine) * second(step) * third(last));
            }
        }
    }
    law
}

/// Points at epsilon 3, 2 and 1 in both orders. The control's middle point is 10 % finer.
fn msdlap_tiers() -> Findings {
    const RUNS: u32 = 60_000;
    let (law, off) = (joint(2.0), joint(2.2));
    let (mut account, mut entropy) = (account(), Seeded::new(131));
    let mut findings = Vec::new();
    for (order, places) in [(["3", "2", "1"], [0, 1, 2]), (["3", "1", "2"], [0, 2, 1])] {
        let mut draws = Vec::new();
        for run in 0..RUNS {
            let mut id = [u8::try_from(places[1])?; 32];
            id[..4].copy_from_slice(&run.to_le_bytes());
            let values = walk(&mut account, PathId::new(id), &order, &mut entropy)?;
            draws.push(places.map(|place| values[place]));
        }
        let what = format!("revealed in the order {}", order.join(", "));
        let fit = |law| Fit::of(draws.iter().copied(), law);
        findings.extend(fit_findings(&what, fit(&law), fit(&off)));
    }
    Ok(findings)
}
