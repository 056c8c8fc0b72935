//! `eke`: questions about people's data, answered under a privacy budget.
//!
//! The command line is thin: it reads arguments, calls the library and prints. Exit codes: 0
//! answered, 1 failed, 2 wrong usage, 3 refused, 130 interrupted. The README has them as a table.

mod ask;
mod bar;
mod budget;
mod calc;
mod demo;
mod explain;
mod geo;
mod hint;
mod init;
mod ledger;
mod local;
mod number;
mod stop;
mod table;
mod tiers;
mod usage;
mod watch;

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Questions about people's data, answered under a privacy budget that lasts.
#[derive(Parser)]
#[command(version, arg_required_else_help = true, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Draft a policy for files: whose privacy is protected, and what that may cost.
    Init(init::Init),
    /// Ask a question in SQL, and say how exact the answer must be.
    Ask(ask::Ask),
    /// Ask a question step after step, and say whether its answer is beyond a line.
    Watch(watch::Watch),
    /// Say what a question would do and cost. Reads no rows.
    Explain(explain::Explain),
    /// Show what was spent and what is left.
    Budget(budget::Budget),
    /// List questions, answers and prices.
    History(budget::History),
    /// Declare that a dataset has changed: the next questions are about it as it is now.
    Snapshot(init::Snapshot),
    /// Show what eke does, in a minute, on a city made up for it.
    Demo(demo::Demo),
    /// Tell one number to several audiences, each as precisely as it may be told.
    Tiers(tiers::Tiers),
    /// Work with privacy parameters and noise: convert, add up, price choices, find residuals.
    #[command(subcommand)]
    Calc(calc::Calc),
    /// Work with a ledger: look through it, write it out, pin it down.
    #[command(subcommand)]
    Ledger(ledger::Ledger),
    /// Tell things about places, for a price per metre.
    #[command(subcommand)]
    Geo(Box<geo::Geo>),
    /// Plan what devices report that protect themselves.
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
        Command::Ask(ask) => ask.run(&mut out),
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
        Err(Failure::Usage(sentence)) => {
            eprintln!("eke: {sentence}");
            ExitCode::from(2)
        }
        Err(Failure::Refused(sentence)) => {
            eprintln!("eke: {sentence}");
            ExitCode::from(3)
        }
        Err(Failure::Interrupted(sentence)) => {
            eprintln!("eke: {sentence}");
            ExitCode::from(stop::INTERRUPTED)
        }
        // Whoever read the output has read enough.
        Err(Failure::Failed(error)) if is_broken_pipe(&*error) => ExitCode::SUCCESS,
        Err(Failure::Failed(error)) => {
            eprintln!("eke: {error}");
            ExitCode::FAILURE
        }
    }
}

fn is_broken_pipe(error: &(dyn Error + 'static)) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
}
