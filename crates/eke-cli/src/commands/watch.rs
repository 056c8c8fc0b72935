//! `eke watch`: the same question step after step, and whether its answer is beyond a line.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use eke_engine::watch::{
    Charging, Closeness, NoiseLaw, Paid, Side, Steps, Verdict, WatchEnd, WatchPlan,
};
use eke_engine::{WatchQuestion, Watched};
use eke_noise::{Confidence, Tolerance};

use crate::Failure;
use crate::commands::ask::Asker;
use crate::input::goal::{Within, confidence};
use crate::input::usage::usage;
use crate::show::number::{plural, short};
use crate::show::{Table, print_json};
use crate::terminal::progress::Progress;

/// What to watch.
#[derive(Args)]
#[command(after_help = "\
Examples:
  eke watch 'SELECT COUNT(*) FROM rides WHERE day = $1' --over days.csv --above '0.8*7000'
  eke watch 'SELECT SUM(fare) FROM rides WHERE day = $1' --over days.csv --below 20000 --error 500 --as ana
The first line of the file has names, every other line is a step: its first column is $1, its
second $2. The same command shows the same verdicts again, for nothing, and continues after them.
Ctrl-C ends the step under way and settles the run at its price so far.
Exit codes: 0 all steps shown, 1 failed, 2 wrong usage, 3 refused, 130 interrupted.")]
pub(crate) struct Watch {
    /// The question: one COUNT or SUM, with $1, $2 and so on in WHERE.
    #[arg(value_name = "SQL")]
    sql: String,
    /// A CSV file with one line per step and one column per parameter.
    #[arg(long, value_name = "FILE")]
    over: PathBuf,
    /// Report answers above this threshold: a number or a product, such as '0.8*7000'.
    #[arg(long, value_name = "LINE", value_parser = product, allow_hyphen_values = true, conflicts_with = "below")]
    above: Option<f64>,
    /// Report answers below this threshold.
    #[arg(long, value_name = "LINE", value_parser = product, allow_hyphen_values = true)]
    below: Option<f64>,
    /// How far from the threshold an answer must be classified correctly [default: 5% of it]
    #[arg(long, value_name = "DISTANCE", conflicts_with = "error")]
    within: Option<Within>,
    /// The same distance, in the unit of the answer.
    #[arg(long, value_name = "DISTANCE", value_parser = product)]
    error: Option<f64>,
    /// The probability of classifying such an answer correctly.
    #[arg(long, value_name = "P", default_value = "95%", value_parser = confidence)]
    confidence: Confidence,
    /// The range that answers are clamped to.
    #[arg(
        long,
        num_args = 2,
        value_names = ["FROM", "TO"],
        value_parser = product,
        allow_hyphen_values = true
    )]
    range: Option<Vec<f64>>,
    /// The law of the noise.
    #[arg(long, value_enum, default_value_t = NoiseArg::Laplace)]
    noise: NoiseArg,
    /// Pay for each run after it has ended, or before it starts.
    #[arg(long, value_enum, default_value_t = ChargeArg::ExPost)]
    charge: ChargeArg,
    #[command(flatten)]
    asker: Asker,
    /// Show what it would do and cost, and charge nothing.
    #[arg(long)]
    explain: bool,
    /// Print JSON: one line per step, then a summary.
    #[arg(long)]
    json: bool,
    /// Do not ask for confirmation.
    #[arg(long)]
    yes: bool,
}

mirrored!(NoiseArg for NoiseLaw {
    /// The price does not grow with the number of steps
    Laplace,
    /// Rarely far off; the price grows with the range, and slowly with the number of steps
    Gaussian,
});

mirrored!(ChargeArg for Charging {
    /// In epsilon, when the run has ended, at the price of its outcome
    ExPost,
    /// In rho, before the run starts, at its worst case; nothing is returned
    ExAnte,
});

/// A number, or numbers multiplied.
fn product(text: &str) -> Result<f64, String> {
    let wrong =
        || format!("`{text}` is not a number: write one like 5600, or a product like 0.8*7000");
    let mut product = 1.0;
    for factor in text.split('*') {
        product *= factor.trim().parse::<f64>().map_err(|_| wrong())?;
    }
    if product.is_finite() { Ok(product) } else { Err(wrong()) }
}

impl Watch {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let question = self.question()?;
        let engine = if self.explain { self.asker.look()? } else { self.asker.engine()? };
        if self.explain {
            let plan = engine.explain_watch(&question)?;
            if self.json {
                return print_json(out, &plan);
            }
            return Ok(explain(&plan, out)?);
        }
        let widths = widths(&question.steps);
        let observer = Progress::new(self.yes);
        let mut written = Ok(());
        let watched = engine.watch(&question, &observer, &mut |verdict| {
            if written.is_ok() {
                written = observer.bar.suspend(|| {
                    if self.json {
                        return line_of_json(&question.steps, verdict, out);
                    }
                    if verdict.step == 1 {
                        let names = padded(&question.steps.names, &widths);
                        writeln!(out, "  {names}verdict    price so far")?;
                    }
                    line(&question, &widths, verdict, out)
                });
            }
            written.is_ok()
        });
        observer.bar.finish_and_clear();
        let watched = watched?;
        written?;
        if self.json {
            print_json(out, &watched)?;
        } else {
            summary(&watched, out)?;
        }
        match watched.ended {
            WatchEnd::Over => Ok(()),
            WatchEnd::Enough => Err(Failure::Interrupted(
                "stopped, and settled at what it came to; the same command goes on from there"
                    .into(),
            )),
            WatchEnd::Refused(why) if watched.steps > 0 => Err(Failure::Refused(format!(
                "refused: {why}; what was shown stays, and the same command shows it again for nothing"
            ))),
            WatchEnd::Refused(why) => {
                let distance = engine.explain_watch(&question)?.would_fit;
                let fits = distance
                    .map_or_else(String::new, |distance| format!(": --error {distance} would fit"));
                Err(Failure::Refused(format!("refused: {why}; nothing was charged{fits}")))
            }
        }
    }

    fn question(&self) -> Result<WatchQuestion, Failure> {
        let (line, side) = match (self.above, self.below) {
            (Some(line), _) => (line, Side::Above),
            (None, Some(line)) => (line, Side::Below),
            (None, None) => {
                return Err(Failure::Usage(
                    "where is the line? say it with --above 5600 or --below 5600".into(),
                ));
            }
        };
        let closeness = match (self.within, self.error) {
            (_, Some(error)) => Closeness::Absolute(error),
            (Some(Within::Absolute(error)), None) => Closeness::Absolute(error),
            (Some(Within::Relative(tolerance)), None) => Closeness::Relative(tolerance),
            (None, None) => Closeness::Relative(Tolerance::new(0.05).map_err(usage)?),
        };
        Ok(WatchQuestion {
            sql: self.sql.clone(),
            steps: Steps::read(&self.over)?,
            line,
            side,
            closeness,
            confidence: self.confidence,
            noise: self.noise.into(),
            range: self.range.as_deref().and_then(|ends| match ends {
                [from, to] => Some((*from, *to)),
                _ => None,
            }),
            charging: self.charge.into(),
            who: self.asker.who(),
        })
    }
}

/// The widths of the columns of values.
fn widths(steps: &Steps) -> Vec<usize> {
    let width = |cell: &String| cell.chars().count().min(40);
    let mut widths: Vec<usize> = steps.names.iter().map(width).collect();
    for line in &steps.lines {
        for (widest, cell) in widths.iter_mut().zip(line) {
            *widest = width(cell).max(*widest);
        }
    }
    widths
}

fn padded(cells: &[String], widths: &[usize]) -> String {
    let pad = |(cell, width): (&String, &usize)| format!("{cell:width$}  ", width = *width);
    cells.iter().zip(widths).map(pad).collect()
}

fn verdict_word(side: Side, hit: bool) -> &'static str {
    match (side, hit) {
        (Side::Above, true) => "above",
        (Side::Above, false) => "not above",
        (Side::Below, true) => "below",
        (Side::Below, false) => "not below",
    }
}

/// A verdict, with a mark before it if it is a hit.
fn line(
    question: &WatchQuestion,
    widths: &[usize],
    verdict: &Verdict,
    out: &mut impl Write,
) -> io::Result<()> {
    let mark = if verdict.hit { '*' } else { ' ' };
    let (values, word) =
        (padded(&verdict.values, widths), verdict_word(question.side, verdict.hit));
    writeln!(out, "{mark} {values}{word:9}  {}", paid(verdict.cost))
}

fn line_of_json(steps: &Steps, verdict: &Verdict, out: &mut impl Write) -> io::Result<()> {
    let values: serde_json::Map<String, serde_json::Value> = steps
        .names
        .iter()
        .zip(&verdict.values)
        .map(|(name, value)| (name.clone(), value.clone().into()))
        .collect();
    let Verdict { step, hit, place, cost, .. } = verdict;
    let object = serde_json::json!({
        "step": step, "values": values, "hit": hit, "place": place, "cost": cost,
    });
    writeln!(out, "{object}")
}

fn summary(watched: &Watched, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "\n  {}, {}", plural(watched.steps, "step"), plural(watched.hits, "hit"))?;
    let cost = if watched.free { "nothing".to_owned() } else { paid(watched.cost) };
    writeln!(out, "  cost   {cost}; {} left", paid(watched.left))
}

pub(crate) fn paid(amount: Paid) -> String {
    match amount {
        Paid::Epsilon(epsilon) => format!("epsilon {}", short(epsilon)),
        Paid::Rho(rho) => format!("rho {}", short(rho)),
    }
}

fn explain(plan: &WatchPlan, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "What is computed at every step")?;
    for line in &plan.plan {
        writeln!(out, "  {line}")?;
    }
    let side = verdict_word(plan.side, true);
    writeln!(out, "\nThe line\n  {side} {} is a hit", short(plan.line))?;
    let ways = if plan.monotone { "all one way" } else { "either way" };
    writeln!(out, "  a unit changes every answer by {} at most, {ways}", short(plan.sensitivity))?;
    let [line, query] = plan.widths.map(short);
    match plan.noise {
        NoiseLaw::Laplace => {
            writeln!(out, "  Laplace noise: scale {line} on the line, {query} on each answer")?;
        }
        NoiseLaw::Gaussian => {
            writeln!(out, "  normal noise: deviation {line} on the line, {query} on each answer")?;
        }
    }
    match plan.range {
        [Some(from), Some(to)] => {
            writeln!(out, "  answers are clamped to {} .. {}", short(from), short(to))?;
        }
        [Some(from), None] => writeln!(out, "  answers are {} or more", short(from))?,
        [None, Some(to)] => writeln!(out, "  answers are {} or less", short(to))?,
        [None, None] => {}
    }
    writeln!(out, "\nWho pays\n  {}", plan.accounts.join(", "))?;
    writeln!(out, "\nWhat a run costs")?;
    let mut table = Table::new(&["steps", "if the last is a hit", "if none is"]).with_numbers([0]);
    for price in &plan.prices {
        table.row([price.steps.to_string(), paid(price.hit), paid(price.quiet)]);
    }
    table.print(out)?;
    writeln!(out, "  {} left: {}", paid(plan.left), fits(plan))?;
    match plan.would_fit {
        Some(distance) => writeln!(out, "  with --error {distance} a run of all of them would fit"),
        None => Ok(()),
    }
}

/// How far what is left reaches, in words.
fn fits(plan: &WatchPlan) -> String {
    let steps = |count: u64| plural(count, "step");
    let there = steps(plan.steps);
    let is_are = if plan.steps == 1 { "is" } else { "are" };
    let at_once = matches!(plan.left, Paid::Rho(_));
    match (at_once, plan.fits, plan.certain) {
        (true, _, 1) => format!("it pays for 1 run of the {there} in the file"),
        (true, _, runs @ 2..) => format!("it pays for {runs} runs of the {there} in the file"),
        (true, Some(most @ 1..), 0) => {
            format!("a run of the {there} in the file does not fit, one of {} would", steps(most))
        }
        (_, Some(0), _) | (true, None, 0) => {
            format!("no step fits; there {is_are} {there} in the file")
        }
        (false, None, sure) => format!(
            "any number of steps without a hit fits, {} if all are hits; there {is_are} {there} in the file",
            steps(sure)
        ),
        (false, Some(most), sure) => format!(
            "{} without a hit fit, {} if all are hits; there {is_are} {there} in the file",
            steps(most),
            steps(sure)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_may_be_products() {
        assert_eq!(product("0.8*7000"), Ok(0.8 * 7000.0));
        assert_eq!(product(" 2 * 3 * -4 "), Ok(-24.0));
        assert_eq!(product("5600"), Ok(5600.0));
        for text in ["", "*", "2*", "0.8x7", "nan", "inf", "1e308*10"] {
            assert!(product(text).is_err(), "{text}");
        }
    }
}
