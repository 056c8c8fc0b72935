//! `eke-lab run` and `eke-lab list`: the papers' experiments, on their data where they have any.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use eke_lab::frame::context::Context;
use eke_lab::frame::data::{Data, DataError};
use eke_lab::frame::experiment::{self, Experiment, Paper, Size, experiments};
use eke_lab::frame::report::Run as Made;
use eke_lab::frame::table::Table;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::print_json;
use crate::Failure;

/// Which one, how much of it, and where to.
#[derive(Args)]
pub(crate) struct Run {
    /// The experiment, by name; `eke-lab list` has them.
    #[arg(required_unless_present = "all", conflicts_with = "all", value_parser = names())]
    name: Option<String>,
    /// Run every experiment whose data are there.
    #[arg(long)]
    all: bool,
    /// Trials of each point, in place of the experiment's own number.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    trials: Option<u32>,
    /// What decides all draws.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(0..65_536))]
    seed: u64,
    /// The folder for tables and figures; it is made if it is not there.
    #[arg(long, value_name = "FOLDER", default_value = "lab")]
    out: PathBuf,
    /// A rough look: fewer trials, and fewer points.
    #[arg(long)]
    quick: bool,
    /// Only see that it works: a few trials, on data that are made up.
    #[arg(long, conflicts_with = "quick")]
    smoke: bool,
    /// Threads to use, in place of one for each core; results are the same.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Print one JSON object a line, an experiment each.
    #[arg(long)]
    json: bool,
}

/// How to list them.
#[derive(Args)]
pub(crate) struct List {
    /// Print one JSON array.
    #[arg(long)]
    json: bool,
}

fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(experiments().iter().map(|experiment| experiment.name))
}

impl Run {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        if let Some(experiment) = self.name.as_deref().and_then(experiment::find) {
            return self.one(experiment, out);
        }
        let data = Data::of_environment();
        for experiment in experiments() {
            let missing = experiment.data.iter().find(|file| !self.smoke && !data.has(file));
            if let Some(file) = missing {
                let folder = "in the folder that EKE_DATA names";
                eprintln!("eke-lab: {} is left out: there is no {file} {folder}", experiment.name);
                continue;
            }
            self.one(experiment, out)?;
            out.flush()?;
        }
        Ok(())
    }

    fn one(&self, experiment: &'static Experiment, out: &mut impl Write) -> Result<(), Failure> {
        let size = match (self.quick, self.smoke) {
            (_, true) => Size::Smoke,
            (true, _) => Size::Quick,
            _ => Size::Full,
        };
        let bar = bar(experiment.name);
        let mut context = Context::new(experiment, size).with_seed(self.seed).with_bar(bar.clone());
        if let Some(trials) = self.trials {
            context = context.with_trials(trials);
        }
        if let Some(threads) = self.threads {
            context = context.with_threads(threads.into());
        }
        let made = Made { experiment, size, trials: context.trials(), seed: self.seed };
        let report = (experiment.run)(&context);
        bar.finish_and_clear();
        let report = report.map_err(|error| match error.downcast_ref::<DataError>() {
            Some(DataError::NoFolder(_)) => Failure::usage(error),
            _ => Failure::found(error),
        })?;
        let written = report.write(&made, &self.out).map_err(|error| {
            let folder = self.out.display();
            Failure::Found(format!("{folder} could not be written to: {error}"))
        })?;
        if self.json {
            writeln!(out, "{}", report.json(&made).map_err(io::Error::from)?)?;
            return Ok(());
        }
        writeln!(out, "{}", report.text())?;
        let files: Vec<String> = written.iter().map(|file| file.display().to_string()).collect();
        writeln!(out, "written: {}", files.join(" "))?;
        Ok(())
    }
}

#[derive(Serialize)]
struct Listed {
    name: &'static str,
    paper: Paper,
    figure: &'static str,
    about: &'static str,
    data: &'static [&'static str],
    present: bool,
    time: &'static str,
    trials: u32,
}

impl List {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let data = Data::of_environment();
        let listed = experiments().iter().map(|experiment| {
            let Experiment { name, paper, figure, about, data: files, time, trials, .. } =
                *experiment;
            let present = files.iter().all(|file| data.has(file));
            Listed { name, paper, figure, about, data: files, present, time, trials: trials.full }
        });
        if self.json {
            return Ok(print_json(out, &listed.collect::<Vec<_>>())?);
        }
        let keys = ["name", "paper", "figure", "takes", "data", "what it shows"];
        let mut table = Table::new("Experiments (eke-lab run NAME)", keys, []);
        for Listed { name, paper, figure, about, data: files, present, time, .. } in listed {
            let state = match (files.is_empty(), present) {
                (true, _) => "needs none",
                (false, true) => "there",
                (false, false) => "missing",
            };
            let about = about.trim_end_matches('.');
            table.row([name, paper.key(), figure, time, state, about].map(Into::into), []);
        }
        write!(out, "{}", table.text())?;
        Ok(())
    }
}

/// How far an experiment is, for the person at the terminal.
fn bar(name: &str) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(0);
    let template = format!("{name} {{bar:40}} {{pos}}/{{len}} {{elapsed}}, {{eta}} left");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style);
    }
    bar
}
