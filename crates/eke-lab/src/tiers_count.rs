//! `eke-lab run tiers-count`: a count told to several tiers, as tables and a figure.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use eke_lab::tiers::{self, OnGrid, OnLists, Plan, Results, Way};

use crate::Failure;
use crate::run::{bar, written};

/// How much of it, and where to.
#[derive(Args)]
pub(crate) struct TiersCount {
    /// Draws of all tiers.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    runs: u32,
    /// A rough look: five hundred draws, and fifty random lists of each kind.
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

/// The numbers of tiers that a table has room for.
const SHOWN: [usize; 6] = [1, 2, 3, 5, 10, 20];

impl TiersCount {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let mut plan = Plan::paper(if self.quick { 500 } else { self.runs });
        plan.seed = self.seed;
        if self.quick {
            plan.lists = 50;
        }
        let bar = bar("parts");
        let progress = |done: usize, of: usize| {
            bar.set_length(of as u64);
            bar.set_position(done as u64);
        };
        let results = tiers::run(&plan, &progress);
        bar.finish_and_clear();
        let results = results.map_err(|error| Failure::Found(error.to_string()))?;
        let figure = written(&self.out, "tiers-count", &tiers::figure(&results))?;
        if self.json {
            serde_json::to_writer(&mut *out, &results).map_err(io::Error::from)?;
            return Ok(writeln!(out)?);
        }
        show(out, &results)?;
        writeln!(out, "the figure is {}", figure.display())?;
        Ok(())
    }
}

fn show(out: &mut impl Write, results: &Results) -> io::Result<()> {
    let Results { runs, lists, delta, .. } = results;
    writeln!(
        out,
        "a count of sensitivity 1; {runs} draws of all tiers, standard errors in brackets"
    )?;
    writeln!(out, "Gaussian and Skellam noise have delta {delta:e}, all other is pure")?;
    for OnGrid { spacing, points } in &results.grids {
        writeln!(out)?;
        writeln!(
            out,
            "tiers {spacing} apart: mean squared error of the finest, by the number of tiers"
        )?;
        head(out)?;
        for way in Way::ALL {
            write!(out, "  {:<30}", way.label())?;
            let own = points.iter().filter(|point| point.way == way);
            for point in own.filter(|point| SHOWN.contains(&point.tiers)) {
                let cell = if point.drawn.mean > 0.0 {
                    bracketed(point.drawn.mean, point.drawn.error)
                } else {
                    format!("{:.1e} (none off)", point.exact)
                };
                write!(out, "{cell:>20}")?;
            }
            writeln!(out)?;
        }
    }
    for OnLists { lists: kind, ratios } in &results.random {
        writeln!(out)?;
        writeln!(out, "{kind}, {lists} lists: error of the worst tier over that of a single one")?;
        head(out)?;
        for way in Way::QUICK {
            write!(out, "  {:<30}", way.label())?;
            let own = ratios.iter().filter(|ratio| ratio.way == way);
            for ratio in own.filter(|ratio| SHOWN.contains(&ratio.tiers)) {
                write!(out, "{:>20}", bracketed(ratio.ratio.mean, ratio.ratio.error))?;
            }
            writeln!(out)?;
        }
    }
    Ok(())
}

fn head(out: &mut impl Write) -> io::Result<()> {
    write!(out, "  {:<30}", "tiers")?;
    for tiers in SHOWN {
        write!(out, "{tiers:>20}")?;
    }
    writeln!(out)
}

/// A mean in three digits, and its standard error to the same place.
fn bracketed(mean: f64, error: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "an exponent")]
    let digits = mean.log10().floor() as i32;
    let places = usize::try_from(2 - digits).unwrap_or(0);
    format!("{mean:.places$} ({error:.places$})")
}
