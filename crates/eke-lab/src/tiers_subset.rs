//! `eke-lab run tiers-subset`: reports about categories for several tiers.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use eke_lab::categories::{self, Results, Shown, Way};

use crate::Failure;
use crate::run::{bar, written};

/// How much of it, and where to.
#[derive(Args)]
pub(crate) struct Options {
    /// Random lists that means are over.
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    lists: u32,
    /// A rough look: twenty random lists.
    #[arg(long, conflicts_with = "lists")]
    quick: bool,
    /// What decides the random lists.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(0..65_536))]
    seed: u64,
    /// Numbers of categories.
    #[arg(long, value_delimiter = ',', default_value = "15,128", value_parser = clap::value_parser!(u32).range(3..=4096))]
    categories: Vec<u32>,
    /// The folder for the figures; it is made if it is not there.
    #[arg(long, value_name = "FOLDER", default_value = "lab")]
    out: PathBuf,
    /// Print one JSON array.
    #[arg(long)]
    json: bool,
}

impl Options {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let lists = if self.quick { 20 } else { self.lists };
        let bar = bar("panels");
        let mut all = Vec::new();
        let mut figures = vec![written(&self.out, "tiers-bounds", &categories::heatmap())?];
        for &number in &self.categories {
            let progress = |done: usize, of: usize| {
                bar.set_length(of as u64);
                bar.set_position(done as u64);
            };
            let results = categories::run(number, lists, self.seed, &progress)
                .map_err(|error| Failure::Found(error.to_string()))?;
            for (shown, name) in [(Shown::Total, "total"), (Shown::Worst, "worst")] {
                let text = categories::figure(&results, shown);
                let name = format!("tiers-subset-{number}-{name}");
                figures.push(written(&self.out, &name, &text)?);
            }
            all.push(results);
        }
        bar.finish_and_clear();
        if self.json {
            serde_json::to_writer(&mut *out, &all).map_err(io::Error::from)?;
            writeln!(out)?;
            return Ok(());
        }
        for results in &all {
            show(out, results)?;
        }
        for figure in figures {
            writeln!(out, "a figure is {}", figure.display())?;
        }
        Ok(())
    }
}

fn show(out: &mut impl Write, results: &Results) -> io::Result<()> {
    let Results { categories, lists, panels } = results;
    for panel in panels {
        writeln!(out, "{categories} categories, tiers {}, {lists} lists if random", panel.lists)?;
        for (title, shown) in [
            ("worst tier, in the error of the tier alone", Shown::Worst),
            ("total squared error", Shown::Total),
        ] {
            write!(out, "  {title:<44}")?;
            for tiers in categories::TIERS {
                write!(out, "{tiers:>9}")?;
            }
            writeln!(out)?;
            for way in Way::ALL {
                write!(out, "  {:<44}", way.label())?;
                for point in panel.points.iter().filter(|point| point.way == way) {
                    match shown {
                        Shown::Worst => write!(out, "{:>9.3}", point.worst)?,
                        Shown::Total => write!(out, "{:>9.3e}", point.total)?,
                    }
                }
                writeln!(out)?;
            }
        }
        writeln!(out)?;
    }
    Ok(())
}
