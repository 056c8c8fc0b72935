//! Many people, asked round by round: what is seen of them is worth what they were charged, and who
//! stops depends on what was seen alone.
//!
//! One crowd is as many runs as it has people: all of them are at one place, or all of them a few
//! metres further.

use std::error::Error;

use eke_budget::account::Sheet;
use eke_budget::{Amount, Metres, Rho};
use eke_geo::crowd::{Rule, Split, Way};
use eke_geo::width::Miss;
use eke_geo::{Allowance, Crowd, Lattice, Plan, Shape, count, density};
use eke_testkit::Seeded;

use crate::audit::bounds::{self, Count};
use crate::audit::{Audit, Finding, Findings, Method};

pub(in crate::audit) fn audits() -> Vec<Audit> {
    vec![
        Audit::once("elimination-loss", Method::Neighbours, loss).about(
            "points of many people, and when each of them stopped, cost what each \
             was charged",
        ),
        Audit::once("elimination-noise", Method::Coverage, noise)
            .about("what is seen of many people's points is as precise as they paid for"),
    ]
}

/// What a person paid, and how far east it seems to be, in metres.
type Sight = (f64, f64);
type Event = fn(&Sight) -> bool;

const PEOPLE: usize = 100_000;
/// What a person may spend on the question, in rho per square metre.
const ALLOWED: &str = "0.02";

fn lattice() -> Result<Lattice, Box<dyn Error>> {
    Ok(Lattice::boxed(2, Metres::new(1000.0)?, Metres::ONE)?)
}

/// Everybody at one place, the given number of metres to the east.
fn crowd(east: f64) -> Result<Crowd, Box<dyn Error>> {
    let lattice = lattice()?;
    let point = lattice.put(&[east, 0.0]);
    let points = std::iter::repeat_n(point, PEOPLE).flatten().collect();
    Ok(Crowd::new(lattice, points, Sheet::same(Amount::ONE, PEOPLE)?)?)
}

fn plan(rule: Rule) -> Result<Plan, Box<dyn Error>> {
    Ok(Plan { way: Way::Point, split: Split::Even(4), rule, beta: Miss::new(0.05)? })
}

/// What is seen of everybody.
fn seen(east: f64, rule: Rule, seed: u64) -> Result<Vec<Sight>, Box<dyn Error>> {
    let (mut crowd, mut entropy) = (crowd(east)?, Seeded::new(seed));
    let lattice = *crowd.lattice();
    let allowance = Allowance::Same(ALLOWED.parse::<Amount<Rho>>()?);
    let line = Shape::half_plane(&lattice, [6.0, -900.0], [6.0, 900.0])?;
    count(&mut crowd, &line, &allowance, &plan(rule)?, &mut entropy)?;
    let (seen, step) = (crowd.seen(), lattice.grid().step());
    let spent = crowd.accounts().spent().iter();
    Ok(spent
        .zip(seen.points().chunks_exact(2))
        .map(|(spent, at)| (spent.to_f64(), at[0] * step))
        .collect())
}

/// Places eight metres apart: everything that can be seen distinguishes them by no more than the
/// whole allowance.
fn loss() -> Findings {
    const APART: f64 = 8.0;
    let mut findings = Vec::new();
    for (what, rule, seed) in
        [("the paper's rule", Rule::Paper, 131), ("our rule", Rule::Ours, 133)]
    {
        let (near, far) = (seen(0.0, rule, seed)?, seen(APART, rule, seed + 1)?);
        // How far east they seem to be, who stopped in the first round, who walked to the end.
        let events: [Event; 3] =
            [|seen| seen.1 > APART / 2.0, |seen| seen.0 < 0.006, |seen| seen.0 > 0.019];
        let mut most = 0f64;
        for event in events {
            let counted = |seen: &[Sight]| -> Result<Count, Box<dyn Error>> {
                let hits = u32::try_from(seen.iter().filter(|seen| event(seen)).count())?;
                Ok(Count { hits, runs: u32::try_from(PEOPLE)? })
            };
            let (one, two) = (counted(&near)?, counted(&far)?);
            most = most.max(bounds::rho(one, two)).max(bounds::rho(two, one));
        }
        let spent = near.iter().chain(&far).map(|seen| seen.0).fold(0.0, f64::max);
        let allowed = ALLOWED.parse::<f64>()?;
        // A metre is a thousandth more than one, for the lattice.
        let claim = allowed * APART * APART;
        findings.push(Finding::new(what, "rho", most).within(0.6 * claim..=claim));
        findings.push(
            Finding::new(
                format!("{what}: the most that anybody paid"),
                "rho a square metre",
                spent,
            )
            .within(0.99 * allowed..=allowed),
        );
    }
    Ok(findings)
}

/// Mean squares of what is seen, in units of what was paid for, for a rule that stops nobody, and
/// for people who could pay for half of the rounds. A chi-square of 200,000 is more than 1.6 % off
/// its mean with a probability below 1e-6.
fn noise() -> Findings {
    let mut findings = Vec::new();
    for (what, budget) in
        [("four rounds", "1"), ("two rounds of four, for want of money", "0.0101")]
    {
        let lattice = lattice()?;
        let point = lattice.put(&[0.0, 0.0]);
        let points = std::iter::repeat_n(point.clone(), PEOPLE).flatten().collect();
        let accounts = Sheet::same(budget.parse()?, PEOPLE)?;
        let mut crowd = Crowd::new(lattice, points, accounts)?;
        let allowance = Allowance::Same(ALLOWED.parse::<Amount<Rho>>()?);
        let (plan, reach) = (plan(Rule::Paper)?, Metres::new(500.0)?);
        density(&mut crowd, &point, reach, &allowance, &plan, &mut Seeded::new(135))?;
        let unit = lattice.sensitivity().get().powi(2) / 2.0;
        let spent = crowd.accounts().spent().iter();
        let square = |(spent, at): (&Amount<Rho>, &[f64])| {
            at.iter().map(|steps| steps * steps).sum::<f64>() * spent.to_f64() / unit
        };
        let sum: f64 = spent.zip(crowd.seen().points().chunks_exact(2)).map(square).sum();
        let mean = sum / (2.0 * PEOPLE as f64);
        findings.push(
            Finding::new(what, "variance over what was paid for", mean).within(0.984..=1.016),
        );
    }
    Ok(findings)
}
