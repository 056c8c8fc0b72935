//! `eke-lab`: eke's claims, for anyone to check.

mod commands;

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use commands::{audit, path, sample};
#[cfg(feature = "experiments")]
use commands::{bench, run, timing};

/// Experiments and measurements around eke's noise.
#[derive(Parser)]
#[command(name = "eke-lab", version, arg_required_else_help = true, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Print raw draws of a law, one a line, to test with your own tools.
    Sample(sample::Sample),
    /// Print points of noise paths, a fresh path a line, to test with your own tools.
    Path(path::Path),
    /// Try what the mechanisms claim: laws, losses on neighbouring inputs.
    Audit(audit::Audits),
    /// Measure our speed beside that of other libraries, those that scripts/bench-peers has
    /// installed.
    #[cfg(feature = "experiments")]
    Bench(bench::Bench),
    /// Compute the constants at which a relative goal stops, as they stand in the code (minutes).
    Calibrate,
    /// List the experiments: paper, figure, data there or not, how long it takes.
    #[cfg(feature = "experiments")]
    List(run::List),
    /// Run an experiment; those on data read them from the folder that EKE_DATA names.
    #[cfg(feature = "experiments")]
    Run(run::Run),
    /// Try whether how long rows take tells what they hold: Welch's t, beside a control that must
    /// be caught.
    #[cfg(feature = "experiments")]
    Timing(timing::Timing),
}

/// One sentence about what is wrong.
enum Failure {
    Usage(String),
    Found(String),
    Output(io::Error),
}

impl Failure {
    /// What was asked for cannot be done.
    fn usage(error: impl Display) -> Self {
        Self::Usage(error.to_string())
    }

    /// Something went wrong.
    fn found(error: impl Display) -> Self {
        Self::Found(error.to_string())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

fn main() -> ExitCode {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let result = match Cli::parse().command {
        Command::Sample(sample) => sample.run(&mut out),
        Command::Path(path) => path.run(&mut out),
        Command::Audit(audits) => audits.run(&mut out),
        #[cfg(feature = "experiments")]
        Command::Bench(bench) => bench.run(&mut out),
        Command::Calibrate => eke_lab::calibrate::print_table(&mut out).map_err(Failure::from),
        #[cfg(feature = "experiments")]
        Command::List(list) => list.run(&mut out),
        #[cfg(feature = "experiments")]
        Command::Run(run) => run.run(&mut out),
        #[cfg(feature = "experiments")]
        Command::Timing(timing) => timing.run(&mut out),
    };
    match result.and_then(|()| Ok(out.flush()?)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Usage(sentence)) => {
            eprintln!("eke-lab: {sentence}");
            ExitCode::from(2)
        }
        Err(Failure::Found(sentence)) => {
            let _ = out.flush();
            eprintln!("eke-lab: {sentence}");
            ExitCode::FAILURE
        }
        // The reader of the output has closed it.
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(Failure::Output(error)) => {
            eprintln!("eke-lab: the output could not be written: {error}");
            ExitCode::FAILURE
        }
    }
}
