//! Answers within their goals: how often they are not, in fresh runs.

use eke_budget::{Amount, L1, L2, NoHistory, PathId, Rho};
use eke_noise::stopping::{ConfidenceSequence, Ending, GaussianRule};
use eke_noise::{
    AccountPayer, Confidence, Exact, GaussianPath, Goal, NoisePath, Schedule, Tolerance, Within,
    refine_until,
};
use eke_testkit::Seeded;

use crate::account;
use crate::audit::{Audit, Finding, Findings, Method};

const RUNS: u32 = 10_000;
/// More misses than this in 10,000 runs of probability 0.05 have probability below 1e-6.
const MISSES: f64 = 607.0;
/// Steps of the grid in one.
const GRID: f64 = 1024.0;

pub(in crate::audit) fn audits() -> Vec<Audit> {
    vec![
        Audit::once("coverage", Method::Coverage, coverage)
            .about("answers within 5 % at 95 % are, at hardly more than an oracle's price"),
        Audit::once("sequence", Method::Coverage, sequence)
            .about("the confidence sequence holds at all looks at once, at 95 %"),
    ]
}

fn coverage() -> Findings {
    let mut entropy = Seeded::new(121);
    let (id, sensitivity) = (PathId::new([1; 32]), L2::new(GRID)?);
    let goal: Goal<Rho> = Goal {
        within: Within::Relative(Tolerance::new(0.05)?),
        confidence: Confidence::new(0.95)?,
        floor: None,
        most: "4".parse()?,
    };
    let rule = GaussianRule::new(goal, Schedule::up_to(goal.most), sensitivity);
    let mut findings = Vec::new();
    for truth in [50i32, 1000, 1_000_000] {
        let size = f64::from(truth);
        let exact = Exact::new(i64::from(truth) * 1024, L1::new(GRID)?);
        let (mut misses, mut price) = (0.0, 0.0);
        for _ in 0..RUNS {
            let (mut account, mut path) = (account(), GaussianPath::open(id, sensitivity));
            let mut payer = AccountPayer { account: &mut account, journal: &mut NoHistory };
            let answer =
                refine_until(&mut path, &exact, sensitivity, &rule, &mut payer, &mut entropy)?;
            let off = (answer.estimate.value / GRID / size - 1.0).abs();
            misses += if off > 0.05 || answer.estimate.ending != Ending::Met { 1.0 } else { 0.0 };
            let spent =
                account.odometer().zcdp().map_or(Amount::ZERO, eke_budget::account::Purse::spent);
            price += spent.to_f64() / f64::from(RUNS);
        }
        let oracle = (1.96 / (0.05 * size)).powi(2) / 2.0;
        findings.push(
            Finding::new(format!("truth {truth}"), "misses in 10,000", misses).at_most(MISSES),
        );
        findings.push(
            Finding::new(
                format!("truth {truth}, beside an oracle"),
                "price over its",
                price / oracle,
            )
            .at_most(1.1),
        );
    }
    Ok(findings)
}

/// An adversary who stops at the worst of forty looks.
fn sequence() -> Findings {
    let mut entropy = Seeded::new(122);
    let (id, sensitivity) = (PathId::new([1; 32]), L2::new(GRID)?);
    let precision = |rho: f64| 2.0 * rho / (GRID * GRID);
    let sequence = ConfidenceSequence::tightest_at(precision(0.01), Confidence::new(0.95)?);
    let exact = Exact::new(0, L1::new(GRID)?);
    let mut misses = 0.0;
    for _ in 0..RUNS {
        let (mut account, mut path) = (account(), GaussianPath::open(id, sensitivity));
        let mut missed = false;
        for look in 0..40 {
            let rho = 1e-3 * 1.2f64.powi(look);
            let approved = account.raise(id, Amount::<Rho>::ceil(rho)?, sensitivity)?;
            let receipt = account.commit(approved, &mut NoHistory)?;
            let value = path.refine(&exact, receipt, &mut entropy)?.get();
            let off = value.abs() as f64;
            missed |= off > sequence.half_width(precision(rho));
        }
        misses += if missed { 1.0 } else { 0.0 };
    }
    Ok(vec![
        Finding::new("the worst of forty looks", "misses in 10,000", misses).within(1.0..=MISSES),
    ])
}
