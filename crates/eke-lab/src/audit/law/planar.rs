//! Planar Laplace noise, computed exactly, and the release of points, compared with its law.

use std::collections::BTreeMap;
use std::error::Error;

use eke_budget::L2;
use eke_noise::evidence::Norms;
use eke_noise::law::PlanarLaplace;
use eke_noise::release::PointRelease;
use eke_noise::{Exact, Ratio, release_point};
use eke_testkit::oracle::{End, Enumerated, enumerate};
use eke_testkit::{Fit, Seeded};

use crate::audit::{Audit, Finding, Findings, Method, fit_findings, law_finding, loss_finding};
use crate::laws::planar;
use crate::{account, paid};

pub(in crate::audit) fn audits() -> Vec<Audit> {
    vec![
        Audit::once("planar-law", Method::Enumeration, planar_law)
            .about("planar Laplace noise has its law in one, two and three dimensions"),
        Audit::once("planar-loss", Method::Enumeration, planar_loss).about(
            "planar Laplace noise costs its rate times the distance, in every direction, no \
             more and no less",
        ),
        Audit::once("planar-point", Method::Fit, planar_point)
            .about("a point has the noise that its epsilon and its sensitivity pay for"),
    ]
}

fn law_of<const N: usize>(rate: u128, least: f64) -> Result<Finding, Box<dyn Error>> {
    let ratio = Ratio::new(rate, 1).ok_or("a rate of zero")?;
    let noise = PlanarLaplace::<N>::new(&ratio)?;
    let known = planar::<N>(rate as f64);
    Ok(law_finding(
        format!("rate {rate} in {N} dimensions, from a table"),
        least,
        |oracle| noise.draw(oracle),
        |&point| known(point),
    ))
}

fn planar_law() -> Findings {
    Ok(vec![law_of::<1>(1, 1e-9)?, law_of::<2>(4, 1e-6)?, law_of::<3>(6, 1e-6)?])
}

/// The law of noise around the origin, and around where that is moved to: the largest loss between
/// them.
fn planar_loss() -> Findings {
    let noise = PlanarLaplace::<2>::new(&Ratio::new(3, 1).ok_or("a rate of zero")?)?;
    let here = enumerate(End::First, 1e-7, |oracle| noise.draw(oracle));
    let mut findings = Vec::new();
    for (x, y) in [(1i32, 0i32), (0, -1), (1, 1), (-1, 1), (2, 0), (1, 2)] {
        let moved = |[at_x, at_y]: [i64; 2]| [at_x + i64::from(x), at_y + i64::from(y)];
        let outcomes = here.outcomes.iter().map(|(&point, &found)| (moved(point), found)).collect();
        let there = Enumerated { outcomes, lost: here.lost, runs: here.runs };
        let length = f64::from(x * x + y * y).sqrt();
        let what = format!("moved by ({x}, {y})");
        let mut finding = loss_finding(what, 3.0 * length, [here.clone(), there]);
        // What is left out of the law weighs more where it is thin.
        finding.at_least = Some(if length < 1.5 { 0.95 } else { 0.8 } * 3.0 * length);
        findings.push(finding);
    }
    Ok(findings)
}

/// Points bought for an epsilon of 2 that one unit moves by two and a half steps: noise of rate
/// 0.8. The control has a rate 5 % off.
fn planar_point() -> Findings {
    const RUNS: u32 = 60_000;
    let (mut account, mut entropy) = (account(), Seeded::new(132));
    let sensitivity = L2::new(2.5)?;
    let exact = Exact::new(vec![3, -1], Norms::l2(sensitivity, 2)?);
    let mut draws = Vec::new();
    for _ in 0..RUNS {
        let release = PointRelease { epsilon: "2".parse()?, sensitivity };
        let receipt = paid(&mut account, release)?;
        let point = release_point(&exact, receipt, &mut entropy)?.get();
        draws.push([point[0] - 3, point[1] + 1]);
    }
    let law = |rate: f64| -> BTreeMap<[i64; 2], f64> {
        let known = planar::<2>(rate);
        let points = (-30..=30).flat_map(|x| (-30..=30).map(move |y| [x, y]));
        points.map(|point| (point, known(point))).collect()
    };
    let fit = |rate: f64| Fit::of(draws.iter().copied(), &law(rate));
    Ok(fit_findings("a point released at rate 0.8", fit(0.8), fit(0.84)).into())
}
