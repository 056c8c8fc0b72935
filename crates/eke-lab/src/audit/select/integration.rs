//! Selection on small ranges: the probability of every outcome by integrating over the noise, and
//! the loss between every two neighbours, next to what is charged. No formula of the prices is used
//! here, only the laws themselves.

use eke_budget::{Account, Adjacency, Amount, BudgetSpec, Charge, Delta, Epsilon, L1, Metric};
use eke_budget::{NoHistory, Purchase, Rho};
use eke_noise::select::LineLaw;
use eke_select::{
    AboveThreshold, Change, Choice, Direction, GridLine, LineNoise, LineSpec, MaxNoise, NoisyMax,
    NoisyMaxSpec,
};
use statrs::function::erf::erfc;

use crate::audit::{Audit, Finding, Findings, Method};

pub(in crate::audit) fn audits() -> Vec<Audit> {
    vec![
        Audit::once("line-loss", Method::Integration, line_loss)
            .about("a run along a line costs the price of its outcome, for all answers in a range"),
        Audit::once("noisy-max-loss", Method::Integration, noisy_max_loss)
            .about("a noisy maximum costs its price, for all scores in a range"),
        Audit::once("filter-deltas", Method::Enumeration, filter_deltas).about(
            "rounds whose prices hold but for a delta cannot break the promise of an account",
        ),
    ]
}

/// A law on the real line, on the scale of one.
#[derive(Clone, Copy)]
struct OnTheLine {
    name: &'static str,
    density: fn(f64) -> f64,
    below: fn(f64) -> f64,
}

const NORMAL: OnTheLine = OnTheLine {
    name: "Gaussian",
    density: |z| (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt(),
    below: |z| erfc(-z / std::f64::consts::SQRT_2) / 2.0,
};

const LAPLACE: OnTheLine = OnTheLine {
    name: "Laplace",
    density: |z| (-z.abs()).exp() / 2.0,
    below: |z| if z < 0.0 { z.exp() / 2.0 } else { 1.0 - (-z).exp() / 2.0 },
};

impl OnTheLine {
    /// The mean of a function of the noise, by the midpoint rule.
    fn mean<const N: usize>(self, function: impl Fn(f64) -> [f64; N]) -> [f64; N] {
        const STEP: f64 = 1.0 / 128.0;
        let mut sums = [0.0; N];
        for index in -5120..5120 {
            let z = (f64::from(index) + 0.5) * STEP;
            let weight = (self.density)(z) * STEP;
            for (sum, value) in sums.iter_mut().zip(function(z)) {
                *sum += weight * value;
            }
        }
        sums
    }
}

/// What integrating can be off by, relatively.
const SLACK: f64 = 1e-4;
const STEPS: usize = 3;
/// Answers and scores are from 0 to here, and a unit changes them by one.
const HIGHEST: u8 = 2;

/// All triples of answers in the range.
fn triples() -> Vec<[f64; STEPS]> {
    let values = || (0..=HIGHEST).map(f64::from);
    let mut all = Vec::new();
    for a in values() {
        for b in values() {
            all.extend(values().map(|c| [a, b, c]));
        }
    }
    all
}

fn are_neighbours(one: &[f64], other: &[f64], change: Change) -> bool {
    let mut moves = one.iter().zip(other).map(|(one, other)| other - one);
    match change {
        Change::General => moves.all(|by| by.abs() <= 1.0),
        Change::Monotone => moves.all(|by| (0.0..=1.0).contains(&by)),
    }
}

/// For every outcome, the largest loss between neighbours.
fn losses<const N: usize>(
    outcomes: impl Fn(&[f64; STEPS]) -> [f64; N],
    change: Change,
) -> [f64; N] {
    let all = triples();
    let laws: Vec<[f64; N]> = all.iter().map(outcomes).collect();
    let mut largest = [0.0f64; N];
    for (one, law) in all.iter().zip(&laws) {
        for (other, other_law) in all.iter().zip(&laws) {
            if are_neighbours(one, other, change) {
                for (largest, (p, q)) in largest.iter_mut().zip(law.iter().zip(other_law)) {
                    *largest = largest.max((p / q).ln().abs());
                }
            }
        }
    }
    largest
}

/// The largest and the smallest share of its price that an outcome's loss comes to.
fn shares(what: &str, losses: &[f64], prices: &[f64], tight: Option<f64>) -> Vec<Finding> {
    let shares: Vec<f64> = losses.iter().zip(prices).map(|(loss, price)| loss / price).collect();
    let largest = shares.iter().copied().fold(0.0, f64::max);
    let finding =
        |what: String, found| Finding::new(what, "loss over price", found).at_most(1.0 + SLACK);
    let mut findings = vec![finding(format!("{what}: worst outcome"), largest)];
    if let Some(tight) = tight {
        let smallest = shares.iter().copied().fold(f64::INFINITY, f64::min);
        findings.push(finding(format!("{what}: least outcome"), smallest).at_least(tight));
    }
    findings
}

fn line_loss() -> Findings {
    let mut findings = Vec::new();
    for (law, noise) in [
        (NORMAL, LineNoise::Gaussian { line: 1.5, query: 2.5 }),
        (LAPLACE, LineNoise::Laplace { line: 1.5, query: 3.5 }),
    ] {
        for direction in [Direction::Above, Direction::Below] {
            for change in [Change::General, Change::Monotone] {
                let spec = LineSpec {
                    threshold: 1.0,
                    range: (0.0, f64::from(HIGHEST)),
                    sensitivity: L1::new(1.0)?,
                    change,
                    direction,
                    noise,
                };
                let line = GridLine::new(AboveThreshold::new(spec)?)?;
                // Hits at each step, then misses up to each step.
                let prices: Vec<f64> = (1..=3)
                    .map(|step| line.halted(step))
                    .chain((1..=3).map(|step| line.stopped(step)))
                    .map(Amount::to_f64)
                    .collect();
                let found = losses(|answers| outcomes(law, &spec, answers), change);
                let what = format!("{} {direction:?} {change:?}", law.name);
                // Prices of Gaussian lines are those of the worst answers; of Laplace lines,
                // bounds.
                let tight = matches!(noise, LineNoise::Gaussian { .. }).then_some(1.0 - SLACK);
                findings.extend(shares(&what, &found, &prices, tight));
            }
        }
    }
    Ok(findings)
}

/// The probabilities of a hit at each step, and of misses up to each.
fn outcomes(law: OnTheLine, spec: &LineSpec, answers: &[f64; STEPS]) -> [f64; 2 * STEPS] {
    let (LineNoise::Gaussian { line, query } | LineNoise::Laplace { line, query }) = spec.noise;
    law.mean(|z| {
        let at = spec.threshold + line * z;
        let (mut missed, mut outcomes) = (1.0, [0.0; 2 * STEPS]);
        for (step, answer) in answers.iter().enumerate() {
            let under = (law.below)((at - answer) / query);
            let hit = if spec.direction == Direction::Above { 1.0 - under } else { under };
            outcomes[step] = missed * hit;
            missed *= 1.0 - hit;
            outcomes[STEPS + step] = missed;
        }
        outcomes
    })
}

fn noisy_max_loss() -> Findings {
    let mut findings = Vec::new();
    for (law, noise, scale) in
        [(NORMAL, MaxNoise::Gaussian(1.5), 1.5), (LAPLACE, MaxNoise::Laplace(1.5), 1.5)]
    {
        for change in [Change::General, Change::Monotone] {
            let prices = NoisyMax::new(NoisyMaxSpec {
                candidates: 3,
                range: (0.0, f64::from(HIGHEST)),
                sensitivity: L1::new(1.0)?,
                change,
                noise,
            })?;
            let Charge::Pure { epsilon, .. } = Choice::noisy_max(&prices)?.charge() else {
                return Err("not pure".into());
            };
            let found = losses(
                |scores| {
                    law.mean(|z| {
                        [0, 1, 2].map(|winner| {
                            let at = scores[winner] + scale * z;
                            let others = (0..3).filter(|&other| other != winner);
                            others.map(|other| (law.below)((at - scores[other]) / scale)).product()
                        })
                    })
                },
                change,
            );
            let what = format!("{} {change:?}", law.name);
            let tight = matches!(noise, MaxNoise::Gaussian(_)).then_some(1.0 - SLACK);
            findings.extend(shares(&what, &found, &[epsilon.to_f64(); 3], tight));
        }
    }
    Ok(findings)
}

/// Rounds that reveal everything with probability delta, and nothing and for no price otherwise: as
/// many as an account lets start, up to a thousand, and how probable it is that one of them
/// reveals.
fn filter_deltas() -> Findings {
    let mut findings = Vec::new();
    for rounds_within in [1u32, 10] {
        let delta = 1e-3;
        let promised = Delta::new(delta * f64::from(rounds_within))?;
        let budget = BudgetSpec::zcdp(Rho::new(1.0)?)
            .with_delta(Delta::new(0.1)?)
            .with_pure(Epsilon::new(1.0)?)
            .with_pure_delta(promised)
            .resolve(Metric::Hamming(Adjacency::AddRemove))?;
        let mut account = Account::open("lab", budget, &mut NoHistory)?;
        let mut started = 0;
        while started < 1000 {
            let delta = Amount::at_least(Delta::new(delta)?);
            let Ok(approved) = account.reserve("0.5".parse()?, delta) else { break };
            let round = account.commit(approved, &mut NoHistory)?.redeem();
            let settlement = round.settle_at(Amount::ZERO)?;
            account.settle(settlement, &mut NoHistory).map_err(|_| "not settled")?;
            started += 1;
        }
        let found = 1.0 - (1.0 - delta).powi(started);
        let what = format!("a promise of {}", promised.get());
        let range = 0.95 * promised.get()..=promised.get() + 1e-12;
        findings.push(Finding::new(what, "probability", found).within(range));
    }
    Ok(findings)
}
