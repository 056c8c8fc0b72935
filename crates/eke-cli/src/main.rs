//! `eke`: questions about people's data, answered under a privacy budget.
//!
//! The command line is thin: it reads arguments, calls the library and prints. Exit codes: 0
//! answered, 1 failed, 2 wrong usage, 3 refused, 4 declined, 130 interrupted. `docs/commands.md`
//! has the table.

#[macro_use]
mod input;

mod commands;
mod show;
mod terminal;

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::commands::{
    ask, budget, calc, demo, explain, geo, init, ledger, local, profile, rehearse, shell, tables,
    tiers, watch,
};
use crate::input::usage;
use crate::terminal::stop;

/// Questions about people's data, answered under a privacy budget that lasts.
#[derive(Parser)]
#[command(version, arg_required_else_help = true, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Draft a policy for data files: whose privacy is protected, and their budget.
    Init(init::Init),
    /// Look at rows, groups and values of the units in a dataset, once, and propose bounds.
    Profile(profile::ProfileArgs),
    /// Ask a question in SQL, with the accuracy that the answer must have.
    Ask(ask::Ask),
    /// Ask at a prompt, with history and completion.
    Shell(shell::Shell),
    /// List what may be asked about: tables, columns, bounds and budgets.
    Tables(tables::Tables),
    /// Try a question on made-up rows: nothing is read and nothing is charged.
    Rehearse(rehearse::Rehearse),
    /// Compare one question's answer with a threshold, step by step (sparse vector).
    Watch(watch::Watch),
    /// Show the plan and the price of a question, without reading a row.
    Explain(explain::Explain),
    /// Show what was spent and what is left (the odometer).
    Budget(budget::Budget),
    /// List questions, answers and prices.
    History(budget::History),
    /// Declare that a dataset has changed: later questions are about its new state.
    Snapshot(init::Snapshot),
    /// Ask questions about a synthetic city, and show what they cost.
    Demo(demo::Demo),
    /// Release one number to several audiences, each with its own accuracy.
    Tiers(tiers::Tiers),
    /// Calculate with privacy parameters: convert, compose, price selections, compare noise.
    #[command(subcommand)]
    Calc(calc::Calc),
    /// Verify, export or anchor a ledger.
    #[command(subcommand)]
    Ledger(ledger::Ledger),
    /// Answer questions about places, at a price per metre (geo-indistinguishability).
    #[command(subcommand)]
    Geo(Box<geo::Geo>),
    /// Plan and simulate reports of devices that randomize their own answers (local model).
    #[command(subcommand)]
    Local(local::Local),
}

/// How a command ends when it does not end well.
enum Failure {
    /// The arguments do not say something that can be done.
    Usage(String),
    /// Something that should have worked did not.
    Failed(Box<dyn Error>),
    /// Somebody stopped it, and it is in order.
    Interrupted(String),
    /// The budget does not allow it, or it cannot be answered privately.
    Refused(String),
    /// The asker was asked whether to go on, and said no.
    Declined(String),
    /// What went wrong was said already; the exit code is what is left to say.
    Told(u8),
}

impl Failure {
    /// The exit code, and what is printed.
    fn told(self) -> (u8, String) {
        match self {
            Self::Failed(error) => (1, error.to_string()),
            Self::Usage(sentence) => (2, sentence),
            Self::Refused(sentence) => (3, sentence),
            Self::Declined(sentence) => (4, sentence),
            Self::Told(code) => (code, String::new()),
            Self::Interrupted(sentence) => (stop::INTERRUPTED, sentence),
        }
    }
}

impl Failure {
    /// The same, of one question among several.
    fn at_question(self, number: usize, of: usize) -> Self {
        let say = |sentence: String| format!("question {number} of {of}: {sentence}");
        match self {
            // The reader of the output has closed it.
            Self::Failed(error) if is_broken_pipe(&*error) => Self::Failed(error),
            Self::Failed(error) => Self::Failed(say(error.to_string()).into()),
            Self::Usage(sentence) => Self::Usage(say(sentence)),
            Self::Refused(sentence) => Self::Refused(say(sentence)),
            Self::Declined(sentence) => Self::Declined(say(sentence)),
            Self::Interrupted(sentence) => Self::Interrupted(say(sentence)),
            Self::Told(code) => Self::Told(code),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Failed(error.into())
    }
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage::report(&error),
    };
    let mut out = io::stdout().lock();
    let result = match cli.command {
        Command::Init(init) => init.run(&mut out),
        Command::Profile(profile) => profile.run(&mut out),
        Command::Ask(ask) => ask.run(&mut out),
        Command::Shell(shell) => shell.run(&mut out),
        Command::Tables(tables) => tables.run(&mut out),
        Command::Rehearse(rehearse) => rehearse.run(&mut out),
        Command::Watch(watch) => watch.run(&mut out),
        Command::Explain(explain) => explain.run(&mut out),
        Command::Budget(budget) => budget.run(&mut out),
        Command::History(history) => history.run(&mut out),
        Command::Snapshot(snapshot) => snapshot.run(&mut out),
        Command::Demo(demo) => demo.run(&mut out),
        Command::Tiers(tiers) => tiers.run(&mut out),
        Command::Calc(calc) => calc.run(&mut out),
        Command::Ledger(ledger) => ledger.run(&mut out),
        Command::Geo(geo) => geo.run(&mut out),
        Command::Local(local) => local.run(&mut out),
    };
    match result.and_then(|()| Ok(out.flush()?)) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of the output has closed it.
        Err(Failure::Failed(error)) if is_broken_pipe(&*error) => ExitCode::SUCCESS,
        Err(failure) => {
            let (code, sentence) = failure.told();
            if !sentence.is_empty() {
                // Where a terminal was closed there is nobody to tell.
                let _ = writeln!(io::stderr(), "eke: {sentence}");
            }
            ExitCode::from(code)
        }
    }
}

fn is_broken_pipe(error: &(dyn Error + 'static)) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
}
