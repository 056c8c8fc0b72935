//! The law of a watch: where its line lies, what one unit changes an answer by, and how wide its
//! noise is.
//!
//! All of it follows from public information: the plan, and what was asked for. Lengths are in
//! steps of the answer's grid.

use eke_budget::{Adjacency, Amount};
use eke_select::{AboveThreshold, Change, Direction, GridLine, LineNoise, LineSpec};
use eke_sql::{Plan, Sum};

use super::{Closeness, NoiseLaw, Side, WatchQuestion};
use crate::error::{EngineError, WrongGoal};
use crate::rows::swing;

/// How many deviations off the line answers are clamped, where noise is normal and nothing else was
/// asked for; at least at the distance at which verdicts must be right.
///
/// A price grows with the range. Where the range is narrow, noise alone turns clamped answers into
/// hits more often, and each such hit ends a run for nothing. Where 10, 100 and 1,000 quiet steps
/// lie between hits, a run costs in all, in units of sensitivity over deviation: 15.9, 29 and 72 at
/// 3 deviations; 17.8, 29 and 42 at 3.5; 20, 32 and 38 at 4.
const CLAMP: f64 = 3.5;
/// How wide the noise of an answer is, in that of the line's.
///
/// A line that came out too far away stays until it is hit. With less noise on the answers that
/// would be for long: Laplace scales that are equal are the cheapest, and miss without end. So, at
/// 95 %, answers that stay at the distance are missed 0.058 times a hit with normal noise and 0.071
/// times with Laplace noise, where lines drawn afresh would miss 0.053, and Laplace noise costs a
/// ninth more.
const RATIO: f64 = 1.732_050_807_568_877_2;
/// As far as lines and ranges reach, in steps: doubles are exact there.
pub(super) const FURTHEST: f64 = 9_007_199_254_740_992.0;

/// The law of a watch, with its prices. Clones share the prices that were computed.
#[derive(Clone, Debug)]
pub(super) struct Law {
    pub(super) line: GridLine,
    /// The length of a step, in the unit of the answer.
    step: f64,
}

impl Law {
    /// The law of a question about a plan of one sum.
    pub(super) fn new(
        question: &WatchQuestion,
        plan: &Plan,
        sum: &Sum,
    ) -> Result<Self, EngineError> {
        let step = sum.step();
        let line = question.line / step;
        if line.is_nan() || line.abs() >= FURTHEST {
            return Err(WrongGoal::Line { line: question.line }.into());
        }
        let distance = distance(question)? / step;
        let change = change(plan, sum);
        let miss = 1.0 - question.confidence.get();
        if miss >= 0.5 {
            return Err(WrongGoal::Confidence { confidence: question.confidence.get() }.into());
        }
        let noise = match question.noise {
            NoiseLaw::Gaussian => {
                let both = distance / normal_quantile(miss);
                let line = both / RATIO.mul_add(RATIO, 1.0).sqrt();
                LineNoise::Gaussian { line, query: line * RATIO }
            }
            NoiseLaw::Laplace => {
                let line = distance / laplace_quantile(miss);
                LineNoise::Laplace { line, query: line * RATIO }
            }
        };
        let range = range(question, plan, sum, noise, (line, distance))?;
        let direction = match question.side {
            Side::Above => Direction::Above,
            Side::Below => Direction::Below,
        };
        let threshold = line.round();
        let spec = LineSpec {
            threshold,
            range,
            sensitivity: swing(sum, plan.max_rows, plan.adjacency),
            change,
            direction,
            noise,
        };
        let prices = AboveThreshold::new(spec).map_err(WrongGoal::from)?;
        if prices.worst(1).amount() == Amount::MAX {
            return Err(WrongGoal::NowhereNear.into());
        }
        let line = GridLine::new(prices).map_err(WrongGoal::from)?;
        Ok(Self { line, step })
    }

    /// The same law, the same bytes: part of what a watch is found by.
    pub(super) fn describe(&self) -> String {
        let spec = self.spec();
        let (kind, line, query) = match spec.noise {
            LineNoise::Gaussian { line, query } => ("gaussian", line, query),
            LineNoise::Laplace { line, query } => ("laplace", line, query),
        };
        format!(
            "{:?} {} in {}..{} by {} {:?}, {kind} {line} {query}",
            spec.direction,
            spec.threshold,
            spec.range.0,
            spec.range.1,
            spec.sensitivity.get(),
            spec.change
        )
    }

    pub(super) fn spec(&self) -> &LineSpec {
        self.line.prices().spec()
    }

    /// A number of steps, in the unit of the answer.
    pub(super) fn natural(&self, steps: f64) -> f64 {
        steps * self.step
    }
}

/// How far off the line an answer must be for its verdict to be right, in its unit.
fn distance(question: &WatchQuestion) -> Result<f64, EngineError> {
    let distance = match question.closeness {
        Closeness::Relative(tolerance) => tolerance.get() * question.line.abs(),
        Closeness::Absolute(distance) => distance,
    };
    if distance.is_finite() && distance > 0.0 {
        return Ok(distance);
    }
    Err(match question.closeness {
        Closeness::Relative(_) => WrongGoal::NoDistance,
        Closeness::Absolute(distance) => WrongGoal::Distance { distance },
    }
    .into())
}

/// Whether one unit can move all answers only up, or only down.
fn change(plan: &Plan, sum: &Sum) -> Change {
    let (least, most) = sum.contribution(plan.max_rows);
    match plan.adjacency {
        Adjacency::AddRemove if least == 0 || most == 0 => Change::Monotone,
        // One that is replaced may add more at some steps and less at others.
        Adjacency::AddRemove | Adjacency::Replace => Change::General,
    }
}

/// What answers are clamped to, in steps.
fn range(
    question: &WatchQuestion,
    plan: &Plan,
    sum: &Sum,
    noise: LineNoise,
    (line, distance): (f64, f64),
) -> Result<(f64, f64), EngineError> {
    // What everybody adds on one side of zero stays there.
    let (least, most) = sum.contribution(plan.max_rows);
    let low = if least == 0 { 0.0 } else { -FURTHEST };
    let high = if most == 0 { 0.0 } else { FURTHEST };
    let (from, to) = match (question.range, noise) {
        (Some(asked), _) => {
            let (from, to) = (asked.0 / sum.step(), asked.1 / sum.step());
            if !(from < to && from.abs() < FURTHEST && to.abs() < FURTHEST) {
                return Err(WrongGoal::Range { from: asked.0, to: asked.1 }.into());
            }
            (from.round(), to.round())
        }
        (None, LineNoise::Gaussian { line: one, query }) => {
            // Answers at the distance at which verdicts must be right are not clamped.
            let wide = (CLAMP * one.hypot(query)).max(distance);
            ((line - wide).floor(), (line + wide).ceil())
        }
        (None, LineNoise::Laplace { .. }) => (-FURTHEST, FURTHEST),
    };
    let (from, to) = (from.max(low), to.min(high));
    if from < to {
        return Ok((from, to));
    }
    Err(WrongGoal::NowhereNear.into())
}

/// How many deviations a normal number is above with this probability, below a half.
fn normal_quantile(miss: f64) -> f64 {
    largest(40.0, |x| libm::erfc(x / std::f64::consts::SQRT_2) / 2.0 > miss)
}

/// How many scales of the line its noise less an answer's is above with this probability, below a
/// half.
fn laplace_quantile(miss: f64) -> f64 {
    let square = RATIO * RATIO;
    let above = |x: f64| (square * (-x / RATIO).exp() - (-x).exp()) / (2.0 * (square - 1.0));
    largest(100.0, |x| above(x) > miss)
}

/// The largest number up to a bound for which something is true, which is true of all smaller ones.
fn largest(bound: f64, is_true: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, bound);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if is_true(middle) { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_their_laws() {
        assert!((normal_quantile(0.05) - 1.644_853_626_951_472).abs() < 1e-12);
        assert!((normal_quantile(0.000_001) - 4.753_424_308_822_899).abs() < 1e-9);
        // The difference of two Laplace numbers, added up directly.
        for miss in [0.3, 0.05, 1e-4] {
            let x = laplace_quantile(miss);
            let density = |z: f64| (-z.abs()).exp() / 2.0;
            let tail = |z: f64| {
                let half = (-z.abs() / RATIO).exp() / 2.0;
                if z >= 0.0 { half } else { 1.0 - half }
            };
            let step = 1e-3;
            let sum: f64 = (-60_000..60_000)
                .map(|i| (f64::from(i) + 0.5) * step)
                .map(|z| density(z) * tail(x - z) * step)
                .sum();
            assert!((sum / miss - 1.0).abs() < 1e-5, "{miss} {x} {sum}");
        }
    }
}
