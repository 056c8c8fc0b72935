//! Noise reduction with pure noise: Laplace paths, an asker who stops when it pays best, and paths
//! of both kinds side by side in one account.

use std::collections::BTreeMap;
use std::error::Error;

use eke_budget::{
    Account, Adjacency, Amount, BudgetSpec, Delta, Epsilon, L1, L2, Metric, NoHistory, PathId, Rho,
};
use eke_noise::{
    Entropy, Exact, GaussianPath, GeometricPath, Laplace, LaplacePath, NoisePath, Ratio,
};
use eke_testkit::oracle::{End, Oracle, enumerate};
use eke_testkit::{Fit, Seeded};

use crate::audit::bounds::{self, Count};
use crate::audit::{Audit, Finding, Findings, Method, law_finding, loss_finding};
use crate::laws::double;
use crate::stopper::Stopper;
use crate::{account, shown};

pub(in crate::audit) fn audits() -> Vec<Audit> {
    vec![
        Audit::once("rounded-laplace", Method::Enumeration, rounded_laplace)
            .about("Laplace noise to the nearest whole number has its law, and costs its epsilon"),
        Audit::once("laplace-path-law", Method::Fit, laplace_path_law).about(
            "points of a Laplace path have one joint law in every order, equal ones included",
        ),
        Audit::sampled("laplace-path", laplace_path, 80_000)
            .about("all points of a Laplace path together cost the finest one's epsilon"),
        Audit::once("pure-stopping", Method::Enumeration, pure_stopping).about(
            "stopping a geometric path when it looks best costs the epsilon where it stopped",
        ),
        Audit::sampled("two-purses", two_purses, 40_000)
            .about("Gaussian, geometric and Laplace paths side by side keep an account's promise"),
    ]
}

/// The distribution function of Laplace noise.
fn below(rate: f64, x: f64) -> f64 {
    if x < 0.0 { (rate * x).exp() / 2.0 } else { 1.0 - (-rate * x).exp() / 2.0 }
}

fn rounded_laplace() -> Findings {
    let mut findings = Vec::new();
    for (numerator, denominator) in [(1u32, 3u32), (3, 1), (40, 1)] {
        let scale = Ratio::new(numerator.into(), denominator.into()).ok_or("no scale")?;
        let (law, rate) = (Laplace::new(&scale)?, f64::from(denominator) / f64::from(numerator));
        findings.push(law_finding(
            format!("a table of scale {numerator}/{denominator}"),
            1e-7,
            |oracle| law.draw(oracle),
            |&k| below(rate, double(k) + 0.5) - below(rate, double(k) - 0.5),
        ));
    }
    let law = Laplace::new(&Ratio::new(1, 1).ok_or("no scale")?)?;
    let side = |truth: i64| enumerate(End::First, 1e-12, |oracle| truth + law.draw(oracle));
    findings.push(loss_finding("scale 1, truths 7 and 8", 1.0, [side(7), side(8)]));
    Ok(findings)
}

/// Steps in one: enough that rounding hardly shows.
const STEPS: i64 = 1 << 20;
/// A truth that a double does not hold.
const TRUTH: i64 = (1 << 60) + 12_345;

fn sensitivity() -> Result<L1, eke_budget::number::ParameterError> {
    L1::new(1_048_576.0)
}

/// Points at 2, 1 and 0.5, the finest noise in cells of a half and what comes between points as
/// nothing, or in such cells.
fn laplace_path_law() -> Findings {
    const RUNS: usize = 40_000;
    const EDGE: i64 = 5;
    let share = |rate: f64, cell: i64| {
        let end = |cell: i64| match cell {
            cell if cell <= -EDGE => 0.0,
            cell if cell >= EDGE => 1.0,
            cell => below(rate, double(cell) / 2.0),
        };
        end(cell + 1) - end(cell)
    };
    let residual = |fine: f64, coarse: f64, cell: Option<i64>| {
        let weight = (coarse / fine).powi(2);
        cell.map_or(weight, |cell| (1.0 - weight) * share(coarse, cell))
    };
    let steps = || (-EDGE..EDGE).map(Some).chain([None]);
    let law = |middle: f64| {
        let mut law = BTreeMap::new();
        for fine in -EDGE..EDGE {
            for one in steps() {
                for two in steps() {
                    let noise = share(2.0, fine) * residual(2.0, middle, one);
                    law.insert((fine, one, two), noise * residual(middle, 0.5, two));
                }
            }
        }
        law
    };
    let (right, wrong) = (law(1.0), law(1.1));
    let cell = |steps: i64| (2 * steps).div_euclid(STEPS).clamp(-EDGE, EDGE - 1);
    let step = |steps: i64| (steps != 0).then(|| cell(steps));
    let mut findings = Vec::new();
    for (seed, order) in
        (141..).zip([["2", "1", "0.5"], ["0.5", "1", "2"], ["0.5", "2", "1"], ["1", "0.5", "2"]])
    {
        let (mut entropy, truth) = (Seeded::new(seed), Exact::new(TRUTH, sensitivity()?));
        let mut draws = Vec::with_capacity(RUNS);
        for _ in 0..RUNS {
            let mut account = account();
            let mut path = LaplacePath::<i64>::open(PathId::new([1; 32]), sensitivity()?);
            let mut points = BTreeMap::new();
            for to in order {
                let point = shown(&mut account, &mut path, &truth, to.parse()?, &mut entropy)?;
                points.insert(to, point);
            }
            let [fine, middle, coarse] = ["2", "1", "0.5"].map(|at| points[at]);
            draws.push((cell(fine - TRUTH), step(middle - fine), step(coarse - middle)));
        }
        let what = format!("revealed in the order {}", order.join(", "));
        let fit = |law| Fit::of(draws.iter().copied(), law);
        findings.push(Finding::fits(&what, fit(&right)));
        findings.push(Finding::control(&format!("{what}, 10 % off"), fit(&wrong)));
    }
    Ok(findings)
}

/// Points in several orders, and the mean of all of them: whether it is at least the larger truth.
fn laplace_path(runs: u32) -> Findings {
    let mut findings = Vec::new();
    for order in [["0.4", "1", "0.7"], ["1", "0.5", "0.7"]] {
        let (mut entropy, mut charged) = (Seeded::new(151), 0.0);
        // The finest point, and the mean of all.
        let mut count = |truth: i64| -> Result<[Count; 2], Box<dyn Error>> {
            let exact = Exact::new(truth, sensitivity()?);
            let mut hits = [0, 0];
            for _ in 0..runs {
                let mut account = account();
                let mut path = LaplacePath::<i64>::open(PathId::new([1; 32]), sensitivity()?);
                let (mut sum, mut finest) = (0.0, 0);
                for to in order {
                    let point = shown(&mut account, &mut path, &exact, to.parse()?, &mut entropy)?;
                    sum += double(point);
                    finest = if to == "1" { point } else { finest };
                }
                hits[0] += u32::from(finest >= STEPS);
                hits[1] += u32::from(sum / 3.0 >= double(STEPS));
                charged = account.odometer().pure().map_or(0.0, |purse| purse.spent().to_f64());
            }
            Ok(hits.map(|hits| Count { hits, runs }))
        };
        let (likely, unlikely) = (count(STEPS)?, count(0)?);
        let [finest, mean] = [0, 1].map(|index| bounds::epsilon(likely[index], unlikely[index]));
        findings.push(
            Finding::new(format!("points {}", order.join(", ")), "epsilon", finest.max(mean))
                .within(0.93 * charged..=charged),
        );
    }
    Ok(findings)
}

/// Three looks at most, and what was charged for them.
fn stopped(truth: i64, oracle: &mut Oracle) -> Option<(Vec<i64>, Amount<Epsilon>)> {
    let (mut account, one) = (account(), L1::new(1.0).ok()?);
    let mut path = GeometricPath::<i64>::open(PathId::new([1; 32]), one);
    let exact = Exact::new(truth, one);
    let mut values = Vec::new();
    for to in ["2", "3", "4"] {
        values.push(shown(&mut account, &mut path, &exact, to.parse().ok()?, oracle).ok()?);
        // It stops where an answer says the most about which truth it is, and goes on elsewhere.
        if values.last().is_some_and(|&value| value < 0 || value == 1) {
            break;
        }
    }
    Some((values, account.odometer().pure()?.spent()))
}

/// The loss of everything that was seen, against what was charged in the end; and what the best
/// rule for stopping makes of other charges, by going backwards.
fn pure_stopping() -> Findings {
    let [zero, one] =
        [0, 1].map(|truth| enumerate(End::First, 1e-8, |oracle| stopped(truth, oracle)));
    let mut beyond = f64::NEG_INFINITY;
    for (from, to) in [(&zero, &one), (&one, &zero)] {
        for (outcome, probability) in &from.outcomes {
            let (_, charged) = outcome.as_ref().ok_or("a look failed")?;
            let loss = (probability / (to.of(outcome) + to.lost)).ln();
            beyond = beyond.max(loss - charged.to_f64());
        }
    }
    let mut findings = vec![
        Finding::new("three looks at most, truths 0 and 1", "loss less charge", beyond)
            .within(-0.05..=1e-9),
    ];
    let levels = (0..20).map(|i| 0.1 * 10f64.powf(f64::from(i) / 19.0)).collect();
    let stopper = Stopper { levels, steps: 64 };
    findings.push(
        Finding::new(
            "twenty looks, charged beforehand as zCDP",
            "e-value",
            stopper.worth(3.0, |_| 0.5f64.tanh()),
        )
        .at_most(1.0),
    );
    findings.push(
        Finding::new(
            "control: charged as zCDP where it stopped",
            "e-value",
            stopper.worth(3.0, |epsilon| epsilon * epsilon / 2.0),
        )
        .at_least(1.05),
    );
    Ok(findings)
}

/// What one unit changes each of three truths by.
const SIDE: i64 = 1024;

/// Three paths of one unit and one account. A look at one decides which comes next; purses that are
/// used up refuse.
struct Three {
    account: Account,
    gaussian: GaussianPath,
    geometric: GeometricPath,
    laplace: LaplacePath,
    /// What each of them has come to.
    paid: (f64, f64),
}

impl Three {
    fn new() -> Result<Self, Box<dyn Error>> {
        let budget = BudgetSpec::zcdp(Rho::new(0.5)?)
            .with_pure(Epsilon::new(1.0)?)
            .with_delta(Delta::new(0.1)?)
            .resolve(Metric::Hamming(Adjacency::AddRemove))?;
        let Ok(account) = Account::open("lab", budget, &mut NoHistory);
        let (l1, l2) = (L1::new(1024.0)?, L2::new(1024.0)?);
        Ok(Self {
            account,
            gaussian: GaussianPath::open(PathId::new([1; 32]), l2),
            geometric: GeometricPath::open(PathId::new([2; 32]), l1),
            laplace: LaplacePath::open(PathId::new([3; 32]), l1),
            paid: (0.0, 0.0),
        })
    }

    /// Goes along all three, each further where another looks large, and returns the sum of how far
    /// each is above the middle, in what it knows.
    fn walk<E: Entropy>(&mut self, truth: i64, entropy: &mut E) -> Result<f64, Box<dyn Error>> {
        let exact = Exact::new(truth, L1::new(1024.0)?);
        let account = &mut self.account;
        let mut last = [0, 0, 0];
        for (rho, epsilon, other) in [("0.1", "0.2", "0.3"), ("0.3", "0.4", "0.5")] {
            last[0] = shown(account, &mut self.gaussian, &exact, rho.parse()?, entropy)?;
            // Which of the two pure ones is looked at first depends on the Gaussian one.
            if last[0] > SIDE / 2 {
                last[1] = shown(account, &mut self.geometric, &exact, epsilon.parse()?, entropy)?;
                last[2] = shown(account, &mut self.laplace, &exact, other.parse()?, entropy)?;
            } else {
                last[2] = shown(account, &mut self.laplace, &exact, epsilon.parse()?, entropy)?;
                last[1] = shown(account, &mut self.geometric, &exact, other.parse()?, entropy)?;
            }
        }
        // No more fits the pure purse, and the other goes on; then no more fits that.
        let more = shown(account, &mut self.laplace, &exact, "0.9".parse()?, entropy);
        last[0] = shown(account, &mut self.gaussian, &exact, "0.5".parse()?, entropy)?;
        let again = shown(account, &mut self.gaussian, &exact, "0.51".parse()?, entropy);
        if more.is_ok() || again.is_ok() {
            return Err("a purse went on beyond its budget".into());
        }
        self.paid = (
            self.gaussian.finest().to_f64(),
            self.geometric.finest().to_f64() + self.laplace.finest().to_f64(),
        );
        let unit = double(SIDE);
        let above = |index: usize| double(last[index]) / unit - 0.5;
        // A Gaussian point of rho weighs 2 rho, and a pure one its epsilon, up to where it says no
        // more.
        let pure = |index: usize, at: f64| at * 2.0 * above(index).clamp(-0.5, 0.5);
        let (geometric, laplace) = (self.geometric.finest(), self.laplace.finest());
        Ok(above(0) + pure(1, geometric.to_f64()) + pure(2, laplace.to_f64()))
    }
}

/// What was charged against what was drawn, and the least epsilon that tells neighbours apart
/// against the promise.
fn two_purses(runs: u32) -> Findings {
    let mut entropy = Seeded::new(161);
    let (mut off, mut promised, mut delta) = (0.0f64, 0.0, 0.0);
    let mut scores = |truth: i64| -> Result<Vec<f64>, Box<dyn Error>> {
        let mut scores = Vec::with_capacity(runs as usize);
        for _ in 0..runs {
            let mut three = Three::new()?;
            scores.push(three.walk(truth, &mut entropy)?);
            let odometer = three.account.odometer();
            let rho = odometer.zcdp().ok_or("no purse")?.spent().to_f64();
            let epsilon = odometer.pure().ok_or("no purse")?.spent().to_f64();
            off = off.max((rho - three.paid.0).abs()).max((epsilon - three.paid.1).abs());
            let promise = three.account.promise().ok_or("no promise")?;
            promised = promise.epsilon.get();
            delta = promise.delta.ok_or("no delta")?.get();
        }
        Ok(scores)
    };
    let (with, without) = (scores(SIDE)?, scores(0)?);
    // Thresholds are fixed, and the false-alarm rate is for each of a few.
    let found = [0.0, 0.4, 0.8, 1.2]
        .map(|threshold| {
            let count = |scores: &[f64]| Count {
                hits: u32::try_from(scores.iter().filter(|&&s| s >= threshold).count())
                    .unwrap_or(0),
                runs,
            };
            let (likely, unlikely) = (count(&with), count(&without));
            let likely = likely.lowest(bounds::ALPHA / 8.0) - delta;
            (likely.max(1e-300) / unlikely.highest(bounds::ALPHA / 8.0)).ln()
        })
        .into_iter()
        .fold(0.0, f64::max);
    Ok(vec![
        Finding::new("charges of both purses, beside the finest points", "off by", off)
            .at_most(1e-12),
        Finding::new(format!("all three, but for delta {delta}"), "epsilon", found)
            .within(0.4 * promised..=promised),
    ])
}
