//! Selection on neighbouring inputs: how often an outcome comes on each, next to what the account
//! was charged for it.
//!
//! Inputs are those whose loss is largest, so that what is found comes near the price, and others
//! that only a mistake would tell apart.

use std::error::Error;

use eke_budget::{Account, Amount, L1, NoHistory};
use eke_noise::evidence::Scores;
use eke_noise::select::{LineLaw, NoisyLine};
use eke_noise::{Exact, choose};
use eke_select::{
    AboveThreshold, Change, Choice, Direction, Filter, GridLine, LineNoise, LineSpec, MaxNoise,
    NoisyMax, NoisyMaxSpec, SparseVector,
};
use eke_testkit::Seeded;

use crate::audit::bounds::{self, Count};
use crate::audit::{Audit, Finding, Findings};
use crate::{account, paid};

pub(in crate::audit) fn audits() -> Vec<Audit> {
    vec![
        Audit::sampled("above-threshold", above_threshold, RUNS)
            .about("a run along a line costs what the account was charged for its outcome"),
        Audit::sampled("noisy-max", noisy_max, RUNS)
            .about("the largest of noisy scores costs what the account was charged"),
        Audit::sampled("sparse-vector", sparse_vector, RUNS)
            .about("runs one after another cost what the account was charged for them together"),
    ]
}

/// Runs on either input, unless said.
const RUNS: u32 = 200_000;
/// The width of the range, and what one unit changes an answer by.
const WIDTH: i64 = 1024;

fn one() -> Result<L1, eke_budget::number::ParameterError> {
    L1::new(1024.0)
}

fn spent(account: &Account) -> f64 {
    account.odometer().pure().map_or(0.0, |purse| purse.spent().to_f64())
}

/// Counts an event on two inputs, whose claim is what was spent when it happened.
fn told_apart<T: Copy>(
    runs: u32,
    what: &str,
    share: Option<f64>,
    inputs: [T; 2],
    mut run: impl FnMut(T) -> Result<Option<f64>, Box<dyn Error>>,
) -> Result<Finding, Box<dyn Error>> {
    let mut claim = 0.0f64;
    let mut count = |input: T| -> Result<Count, Box<dyn Error>> {
        let mut hits = 0;
        for _ in 0..runs {
            if let Some(charged) = run(input)? {
                hits += 1;
                claim = claim.max(charged);
            }
        }
        Ok(Count { hits, runs })
    };
    let [likely, unlikely] = inputs;
    let found = bounds::epsilon(count(likely)?, count(unlikely)?);
    let at_least = share.map(|share| share * claim);
    Ok(Finding { at_least, ..Finding::new(what, "epsilon", found).at_most(claim) })
}

fn line(noise: LineNoise, direction: Direction) -> Result<GridLine, Box<dyn Error>> {
    let prices = AboveThreshold::new(LineSpec {
        threshold: 512.0,
        range: (0.0, 1024.0),
        sensitivity: one()?,
        change: Change::General,
        direction,
        noise,
    })?;
    Ok(GridLine::new(prices)?)
}

/// What an account is charged for a run along these answers, if its outcome is the one that is
/// looked for: a hit at the last of them, or none at all.
fn charged(
    law: &GridLine,
    answers: &[i64],
    hit: bool,
    entropy: &mut Seeded,
) -> Result<Option<f64>, Box<dyn Error>> {
    let mut account = account();
    let steps = answers.len() as u64;
    let approved = account.reserve(law.worst(steps), Amount::ZERO)?;
    let round = account.commit(approved, &mut NoHistory)?.redeem();
    let mut line = NoisyLine::draw(law.clone(), round, entropy);
    for &answer in answers {
        if line.is_over() {
            break;
        }
        line.next(&Exact::new(answer, one()?), entropy)?;
    }
    if line.steps() < steps || line.is_over() != hit {
        return Ok(None);
    }
    for settlement in line.end()?.settlements {
        account.settle(settlement, &mut NoHistory).map_err(|_| "not settled")?;
    }
    Ok(Some(spent(&account)))
}

fn above_threshold(runs: u32) -> Findings {
    let gaussian = LineNoise::Gaussian { line: 900.0, query: 1600.0 };
    let laplace = LineNoise::Laplace { line: 1024.0, query: 2048.0 };
    let mut findings = Vec::new();
    let mut entropy = Seeded::new(121);
    // The price of Laplace noise holds for all steps at once, and few come near it.
    for (name, noise, share) in [("Gaussian", gaussian, Some(0.9)), ("Laplace", laplace, Some(0.3))]
    {
        for (direction, low, high) in [(Direction::Above, 0, WIDTH), (Direction::Below, WIDTH, 0)] {
            let law = line(noise, direction)?;
            let mut told = |what: &str, inputs: [&[i64]; 2], hit: bool, share| {
                let what = format!("{name} {direction:?}: {what}");
                told_apart(runs, &what, share, inputs, |answers| {
                    charged(&law, answers, hit, &mut entropy)
                })
            };
            let hits: [&[i64]; 2] = [&[low, low, high], &[high, high, low]];
            findings.push(told("a hit at step 3", hits, true, share)?);
            let misses: [&[i64]; 2] = [&[low; 3], &[high; 3]];
            findings.push(told("no hit in 3 steps", misses, false, share)?);
            // Far beyond the end of the range there is nothing to tell apart.
            let beyond = low - 3 * (high - low);
            let outside: [&[i64]; 2] = [&[beyond + (high - low)], &[beyond]];
            findings.push(told("answers beyond the range", outside, true, None)?);
        }
    }
    Ok(findings)
}

fn noisy_max(runs: u32) -> Findings {
    let mut findings = Vec::new();
    let mut entropy = Seeded::new(122);
    for (name, noise, share) in [
        ("Gaussian", MaxNoise::Gaussian(1500.0), Some(0.9)),
        ("Laplace", MaxNoise::Laplace(1500.0), Some(0.5)),
    ] {
        let choice = Choice::noisy_max(&NoisyMax::new(NoisyMaxSpec {
            candidates: 3,
            range: (0.0, 1024.0),
            sensitivity: one()?,
            change: Change::General,
            noise,
        })?)?;
        let mut told = |what: &str, share, inputs: [[i64; 3]; 2]| {
            told_apart(runs, &format!("{name}: {what}"), share, inputs, |scores| {
                let mut account = account();
                let receipt = paid(&mut account, choice.clone())?;
                let scores = Exact::new(Scores(scores.to_vec()), one()?);
                let winner = choose(&scores, receipt, &mut entropy)?.get();
                Ok((winner == Some(0)).then(|| spent(&account)))
            })
        };
        let ends = [[WIDTH, 0, 0], [0, WIDTH, WIDTH]];
        findings.push(told("the last overtakes the others", share, ends)?);
        let beyond = [[-WIDTH, 2 * WIDTH, 2 * WIDTH], [-2 * WIDTH, 3 * WIDTH, 3 * WIDTH]];
        findings.push(told("scores beyond the range", None, beyond)?);
    }
    Ok(findings)
}

/// A hit at the first step, and then a miss at the first step of the next run, after which the
/// analyst walks away. With much noise on the line and little on the answers it costs little,
/// unless the second line is the first again.
fn sparse_vector(runs: u32) -> Findings {
    let mut entropy = Seeded::new(123);
    let law = line(LineNoise::Gaussian { line: 2048.0, query: 512.0 }, Direction::Above)?;
    let finding = told_apart(
        runs,
        "a hit, and a miss along the next line",
        Some(0.9),
        [[WIDTH, 0], [0, WIDTH]],
        |answers| {
            let mut account = account();
            let mut search = SparseVector::new(law.clone(), Filter::ExPost)?;
            for (answer, hit) in answers.into_iter().zip([true, false]) {
                let truth = Exact::new(answer, one()?);
                let found = search.next(&truth, &mut account, &mut NoHistory, &mut entropy)?;
                if found.get() != hit {
                    return Ok(None);
                }
            }
            search.stop(&mut account, &mut NoHistory)?;
            Ok(Some(spent(&account)))
        },
    )?;
    Ok(vec![finding])
}
