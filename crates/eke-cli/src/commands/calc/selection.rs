//! What choosing costs: `eke calc noisy-max` and `eke calc above-threshold`.

use std::io::Write;

use clap::Args;
use eke_budget::{Epsilon, L1, Rho};
use eke_select::{
    AboveThreshold, Certified, Change, Direction, LineNoise, LineSpec, MaxNoise, NoisyMax,
    NoisyMaxSpec,
};
use serde::Serialize;

use crate::Failure;
use crate::input::usage::usage;
use crate::show::{Table, print_json};

/// A choice among scores.
#[derive(Args)]
pub(crate) struct NoisyMaxArgs {
    /// How many scores there are to choose from.
    #[arg(long, value_name = "D", value_parser = count)]
    queries: u64,
    /// The most that one unit can change each score by (sensitivity).
    #[arg(long, value_name = "S", allow_hyphen_values = true)]
    sensitivity: L1,
    /// The range that scores are clamped to.
    #[arg(long, required = true, num_args = 2, value_names = ["A", "B"], value_parser = number, allow_negative_numbers = true)]
    range: Vec<f64>,
    /// The standard deviation of the noise on every score.
    #[arg(long, value_name = "X", value_parser = number, allow_hyphen_values = true)]
    sigma: Option<f64>,
    /// The price, to find the least noise for it.
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    epsilon: Option<Epsilon>,
    /// One unit moves all scores in the same direction, as it does for counts.
    #[arg(long)]
    monotone: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// What a choice costs, as JSON.
#[derive(Serialize)]
struct PricedMax {
    queries: u64,
    sensitivity: f64,
    range: (f64, f64),
    monotone: bool,
    sigma: f64,
    #[serde(flatten)]
    price: Certified,
    /// The cheaper of the two below.
    #[serde(skip_serializing_if = "Option::is_none")]
    rho: Option<Rho>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rho_of_epsilon: Option<Rho>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rho_of_release: Option<Rho>,
    cheaper: &'static str,
}

impl NoisyMaxArgs {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let spec = NoisyMaxSpec {
            candidates: self.queries,
            range: (self.range[0], self.range[1]),
            sensitivity: self.sensitivity,
            change: change(self.monotone),
            noise: MaxNoise::Gaussian(self.sigma.unwrap_or(1.0)),
        };
        let max = match (self.sigma, self.epsilon) {
            (Some(_), None) => NoisyMax::new(spec),
            (None, Some(epsilon)) => NoisyMax::calibrate(spec, epsilon),
            _ => {
                return Err(usage("give --sigma to see its price, or --epsilon to find the noise"));
            }
        }
        .map_err(usage)?;
        let MaxNoise::Gaussian(sigma) = max.spec().noise else { unreachable!("given above") };
        let price = told(max.epsilon())?;
        let (rho, pure_is_cheaper) = (max.rho(), max.pure_is_cheaper());
        if self.json {
            let priced = PricedMax {
                queries: self.queries,
                sensitivity: self.sensitivity.get(),
                range: spec.range,
                monotone: self.monotone,
                sigma,
                price,
                rho,
                rho_of_epsilon: max.rho_of_epsilon(),
                rho_of_release: max.rho_of_release(),
                cheaper: if pure_is_cheaper { "epsilon" } else { "release" },
            };
            return print_json(out, &priced);
        }
        let mut table = Table::default();
        table.row(["queries", &self.queries.to_string(), ""]);
        table.row(["sensitivity", &self.sensitivity.to_string(), moves(self.monotone)]);
        table.row(["range", &format!("{:?}", self.range[0]), &format!("to {:?}", self.range[1])]);
        let worked_out = if self.epsilon.is_some() { "<-" } else { "" };
        table.row(["sigma", &format!("{sigma:?}"), worked_out]);
        table.row(["epsilon", &format!("{:?}", price.epsilon), &excess(price)]);
        let cheaper = |is: bool| if is { ", the cheaper one" } else { "" };
        for (rho, of, is) in [
            (max.rho_of_epsilon(), "of that epsilon", pure_is_cheaper),
            (max.rho_of_release(), "of a release of all scores", !pure_is_cheaper),
        ] {
            if let Some(rho) = rho {
                table.row(["rho", &rho.to_string(), &format!("<- {of}{}", cheaper(is))]);
            }
        }
        Ok(table.print(out)?)
    }
}

/// A line, and how many steps were taken.
#[derive(Args)]
pub(crate) struct AboveThresholdArgs {
    /// The step of the hit, or the number of steps without one.
    #[arg(long, value_name = "T", value_parser = count)]
    steps: u64,
    /// The threshold that answers are compared with.
    #[arg(long, value_name = "R", value_parser = number, allow_hyphen_values = true)]
    threshold: f64,
    /// The range that answers are clamped to.
    #[arg(long, required = true, num_args = 2, value_names = ["A", "B"], value_parser = number, allow_negative_numbers = true)]
    range: Vec<f64>,
    /// The most that one unit can change each answer by (sensitivity).
    #[arg(long, value_name = "S", allow_hyphen_values = true)]
    sensitivity: L1,
    /// The standard deviation of the noise on the threshold.
    #[arg(long, value_name = "X", value_parser = number, allow_hyphen_values = true)]
    sigma_threshold: Option<f64>,
    /// The standard deviation of the noise on every answer.
    #[arg(long, value_name = "Z", value_parser = number, allow_hyphen_values = true)]
    sigma_query: Option<f64>,
    /// The price, to find the least noise for it.
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    epsilon: Option<Epsilon>,
    /// With --epsilon: the noise of answers divided by that of the threshold [default: the root of
    /// 3]
    #[arg(long, value_name = "K", value_parser = number, allow_hyphen_values = true)]
    ratio: Option<f64>,
    /// None of these steps was above the threshold.
    #[arg(long)]
    no_halt: bool,
    /// One unit moves all answers in the same direction, as it does for counts.
    #[arg(long)]
    monotone: bool,
    /// A hit is an answer below the threshold.
    #[arg(long)]
    below: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// What a run costs, as JSON.
#[derive(Serialize)]
struct PricedLine {
    steps: u64,
    threshold: f64,
    range: (f64, f64),
    sensitivity: f64,
    monotone: bool,
    below: bool,
    halted: bool,
    sigma_threshold: f64,
    sigma_query: f64,
    #[serde(flatten)]
    price: Certified,
}

impl AboveThresholdArgs {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let steps = self.steps;
        if steps > AboveThreshold::LONGEST {
            let most = AboveThreshold::LONGEST;
            return Err(usage(format!("{steps} steps are too many: write at most {most}")));
        }
        let line = self.line()?;
        let LineNoise::Gaussian { line: sigma_threshold, query: sigma_query } = line.spec().noise
        else {
            unreachable!("given below")
        };
        let price = if self.no_halt { line.without_halt(steps) } else { line.halting_at(steps) };
        let price = told(price)?;
        if self.json {
            let priced = PricedLine {
                steps,
                threshold: self.threshold,
                range: line.spec().range,
                sensitivity: self.sensitivity.get(),
                monotone: self.monotone,
                below: self.below,
                halted: !self.no_halt,
                sigma_threshold,
                sigma_query,
                price,
            };
            return print_json(out, &priced);
        }
        let side = if self.below { "below" } else { "above" };
        let ended = if self.no_halt { "none of them " } else { "the last one " };
        let mut table = Table::default();
        table.row(["steps", &self.steps.to_string(), &format!("{ended}{side} the line")]);
        table.row(["threshold", &format!("{:?}", self.threshold), ""]);
        table.row(["range", &format!("{:?}", self.range[0]), &format!("to {:?}", self.range[1])]);
        table.row(["sensitivity", &self.sensitivity.to_string(), moves(self.monotone)]);
        let worked_out = if self.epsilon.is_some() { "<-" } else { "" };
        table.row(["sigma of the line", &format!("{sigma_threshold:?}"), worked_out]);
        table.row(["sigma of answers", &format!("{sigma_query:?}"), worked_out]);
        table.row(["epsilon", &format!("{:?}", price.epsilon), &excess(price)]);
        Ok(table.print(out)?)
    }

    fn line(&self) -> Result<AboveThreshold, Failure> {
        let spec = |line, query| LineSpec {
            threshold: self.threshold,
            range: (self.range[0], self.range[1]),
            sensitivity: self.sensitivity,
            change: change(self.monotone),
            direction: if self.below { Direction::Below } else { Direction::Above },
            noise: LineNoise::Gaussian { line, query },
        };
        let line = match (self.sigma_threshold, self.sigma_query, self.epsilon, self.ratio) {
            (Some(line), Some(query), None, None) => AboveThreshold::new(spec(line, query)),
            (None, None, Some(epsilon), ratio) => {
                let ratio = ratio.unwrap_or_else(|| 3f64.sqrt());
                AboveThreshold::calibrate(spec(1.0, 1.0), ratio, self.steps, self.no_halt, epsilon)
            }
            (_, _, None, Some(_)) => {
                return Err(usage("--ratio goes with --epsilon: leave it out"));
            }
            _ => {
                let both = "give --sigma-threshold and --sigma-query to see their price, or --epsilon to find the noise";
                return Err(usage(both));
            }
        };
        line.map_err(usage)
    }
}

fn change(monotone: bool) -> Change {
    if monotone { Change::Monotone } else { Change::General }
}

fn moves(monotone: bool) -> &'static str {
    if monotone { "all one way" } else { "any way" }
}

/// A price that there is.
fn told(price: Certified) -> Result<Certified, Failure> {
    if price.epsilon.is_finite() {
        Ok(price)
    } else {
        Err(usage("the noise is so little beside the range that no price can be told: give more"))
    }
}

fn excess(price: Certified) -> String {
    format!("<- at most {:.1e} too much", price.error_bound)
}

/// Any finite number.
fn number(text: &str) -> Result<f64, String> {
    match text.trim().parse() {
        Ok(number) if f64::is_finite(number) => Ok(number),
        _ => Err(format!("`{text}` is not a finite number: write it like 0.5 or 1e-3")),
    }
}

/// A whole number from one on.
fn count(text: &str) -> Result<u64, String> {
    match text.trim().parse() {
        Ok(count) if count > 0 => Ok(count),
        _ => Err(format!("`{text}` is not a whole number from 1 on: write one such as 20")),
    }
}
