//! `eke-lab run`: the papers' experiments, on their data where they have any.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use eke_lab::search::{self, Accounting, AtThreshold, Plan, Results, Stream, StreamError};
use indicatif::{ProgressBar, ProgressStyle};

use crate::tiers_count::TiersCount;
use crate::{Failure, tiers_subset};

/// Which one.
#[derive(Subcommand)]
pub(crate) enum Run {
    /// Days on which many bikes are rented: F1 of a search, against what it costs.
    Bikes(Options),
    /// Days on which London households use much electricity: the same.
    London(Options),
    /// A count told to several tiers: how far off each answer is. Needs no data.
    TiersCount(TiersCount),
    /// Reports about categories for several tiers: errors of planned chains, next to the paper's and others.
    TiersSubset(tiers_subset::Options),
}

/// How much of it, and where to.
#[derive(Args)]
pub(crate) struct Options {
    /// Searches with every noise.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    runs: u32,
    /// A rough look: twenty searches, and only the paper's line.
    #[arg(long, conflicts_with = "runs")]
    quick: bool,
    /// What decides all draws.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(0..65_536))]
    seed: u64,
    /// The folder for the figure; it is made if it is not there.
    #[arg(long, value_name = "FOLDER", default_value = "lab")]
    out: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Run {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let (options, stream, plan, line): (_, _, fn(u32) -> Plan, _) = match self {
            Self::Bikes(options) => (options, Stream::bikes(), Plan::bikes, 0.575),
            Self::London(options) => (options, Stream::london(), Plan::london, 0.33),
            Self::TiersCount(tiers) => return tiers.run(out),
            Self::TiersSubset(options) => return options.run(out),
        };
        let stream = stream.map_err(|error| match error {
            error @ StreamError::NoFolder(_) => Failure::Usage(error.to_string()),
            error => Failure::Found(error.to_string()),
        })?;
        let mut plan = plan(if options.quick { 20 } else { options.runs });
        plan.seed = options.seed;
        if options.quick {
            plan.thresholds = vec![line];
        }
        let bar = bar("noises");
        let progress = |done: usize, of: usize| {
            bar.set_length(of as u64);
            bar.set_position(done as u64);
        };
        let results = search::run(&stream, &plan, &progress);
        bar.finish_and_clear();
        let results = results.map_err(|error| Failure::Found(error.to_string()))?;
        let figure = written(&options.out, stream.name, &search::figure(&results))?;
        if options.json {
            serde_json::to_writer(&mut *out, &results).map_err(io::Error::from)?;
            writeln!(out)?;
            return Ok(());
        }
        let shown: Vec<f64> = plan.shown().collect();
        show(out, &results, &shown)?;
        writeln!(out, "the figure is {}", figure.display())?;
        Ok(())
    }
}

/// Writes a figure, and says where.
pub(crate) fn written(folder: &Path, name: &str, svg: &str) -> Result<PathBuf, Failure> {
    let figure = folder.join(format!("{name}.svg"));
    fs::create_dir_all(folder).and_then(|()| fs::write(&figure, svg)).map_err(|error| {
        Failure::Found(format!("{} could not be written: {error}", figure.display()))
    })?;
    Ok(figure)
}

/// How many of these are done, for whoever looks on.
pub(crate) fn bar(what: &str) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(0);
    let template = format!("{{bar:40}} {{pos}}/{{len}} {what} {{elapsed}}");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style);
    }
    bar
}

fn show(out: &mut impl Write, results: &Results, shown: &[f64]) -> io::Result<()> {
    let Results { stream, about, days, people, delta, runs, .. } = results;
    writeln!(out, "{stream}: {days} days of {people} people ({about}); {runs} searches of each")?;
    writeln!(
        out,
        "ex-post accounting has no delta; ex-ante accounting and zCDP have delta {delta:.2e}, one over the people"
    )?;
    for line in &results.thresholds {
        let AtThreshold { threshold, above, .. } = line;
        writeln!(out)?;
        writeln!(out, "line {threshold}: {above} days are above")?;
        write!(out, "  {:<42}", "F1 within a budget of epsilon")?;
        for budget in shown {
            write!(out, "{budget:>7}")?;
        }
        writeln!(out)?;
        for accounting in Accounting::ALL {
            write!(out, "  {:<42}", accounting.label())?;
            for &budget in shown {
                #[expect(clippy::float_cmp, reason = "copies of one number")]
                let best = line
                    .best
                    .iter()
                    .find(|best| best.accounting == accounting && best.budget == budget);
                write!(out, "{:>7.3}", best.map_or(f64::NAN, |best| best.f1.mean))?;
            }
            writeln!(out)?;
        }
        spreads(out, line)?;
    }
    Ok(())
}

/// What all days cost with the paper's noise.
fn spreads(out: &mut impl Write, line: &AtThreshold) -> io::Result<()> {
    let of = |accounting: Accounting| {
        line.spreads.iter().filter(move |spread| spread.accounting == accounting)
    };
    writeln!(out)?;
    write!(out, "  {:<42}", "noise of the line, as in the paper")?;
    for spread in of(Accounting::ExPost) {
        write!(out, "{:>7}", spread.deviation)?;
    }
    write!(out, "\n  {:<42}", "F1 of all days")?;
    for spread in of(Accounting::ExPost) {
        write!(out, "{:>7.3}", spread.f1.mean)?;
    }
    writeln!(out)?;
    for accounting in Accounting::ALL {
        if of(accounting).next().is_none() {
            continue;
        }
        write!(out, "  {:<42}", format!("epsilon, {}", accounting.label()))?;
        for spread in of(accounting) {
            write!(out, "{:>7.2}", spread.epsilon.mean)?;
        }
        writeln!(out)?;
    }
    Ok(())
}
