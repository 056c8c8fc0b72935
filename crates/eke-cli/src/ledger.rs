//! `eke ledger`: a ledger looked through, written out, and pinned down elsewhere.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use eke_ledger::{Address, Anchor, Report, export, verify};

use crate::Failure;

/// The commands on a ledger. None of them writes to it.
#[derive(Subcommand)]
pub(crate) enum Ledger {
    /// Look for edits, gaps and reorderings in a ledger, and for totals that do not follow.
    #[command(after_help = "\
Every chain is hashed again, every history replayed, every stored answer compared with its digest.\n\
A ledger that was rolled back or restored from an old copy is found with --anchor only.\n\
Exit codes: 0 nothing is wrong, 1 something is.")]
    Verify(Verify),
    /// Write every line of the journal as JSON, one object a line.
    Export(At),
    /// Print where every journal ends now: keep it where nobody who writes the ledger can.
    Anchor(At),
}

/// Which ledger.
#[derive(Args)]
pub(crate) struct At {
    /// The ledger's file, or postgres://user:password@host:port/database
    #[arg(value_name = "LEDGER")]
    address: Address,
}

/// What to look through.
#[derive(Args)]
pub(crate) struct Verify {
    #[command(flatten)]
    at: At,
    /// A file with what `eke ledger anchor` printed before.
    #[arg(long, value_name = "FILE")]
    anchor: Option<PathBuf>,
}

impl Ledger {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        match self {
            Self::Verify(verify) => verify.run(out),
            Self::Export(at) => {
                let mut store = at.address.read_only().map_err(failed)?;
                // What a pipe says is passed on as it is.
                export(&mut *store, out).map_err(Failure::from)
            }
            Self::Anchor(at) => {
                let mut store = at.address.read_only().map_err(failed)?;
                let anchor = Anchor::of(&mut *store).map_err(failed)?;
                Ok(writeln!(out, "{anchor}")?)
            }
        }
    }
}

impl Verify {
    fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let anchor = match &self.anchor {
            None => None,
            Some(file) => {
                let name = file.display();
                let text = std::fs::read_to_string(file).map_err(|error| {
                    Failure::Failed(format!("the anchor {name} cannot be read: {error}").into())
                })?;
                let anchor: Anchor = text
                    .parse()
                    .map_err(|error| Failure::Failed(format!("{name}: {error}").into()))?;
                Some(anchor)
            }
        };
        let mut store = self.at.address.read_only().map_err(failed)?;
        let Report { accounts, lines, findings } =
            verify(&mut *store, anchor.as_ref()).map_err(failed)?;
        for finding in &findings {
            writeln!(out, "{finding}")?;
        }
        let looked = format!("{} and {}", count(accounts, "account"), count(lines, "line"));
        match findings.len() {
            0 => Ok(writeln!(out, "{looked}: nothing is wrong")?),
            found => {
                out.flush()?;
                Err(Failure::Failed(format!("{looked}: {} wrong", things(found)).into()))
            }
        }
    }
}

fn failed(error: impl std::error::Error + 'static) -> Failure {
    Failure::Failed(error.into())
}

fn count(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}

fn things(number: usize) -> String {
    if number == 1 { "1 thing is".into() } else { format!("{number} things are") }
}
