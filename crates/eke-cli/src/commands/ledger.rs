//! `eke ledger`: a ledger looked through, written out, and pinned down elsewhere.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use eke_ledger::journal::Report;
use eke_ledger::{Address, Anchor, export, verify};

use crate::Failure;
use crate::show::number::plural;

/// The commands on a ledger. Only the last one writes to it.
#[derive(Subcommand)]
pub(crate) enum Ledger {
    /// Check a ledger for edits, gaps, reorderings and totals that do not add up.
    #[command(after_help = "\
Every chain is hashed again, every history replayed, every stored answer compared with its digest.\n\
A ledger that was rolled back or restored from an old copy is found with --anchor only.\n\
Exit codes: 0 nothing is wrong, 1 something is.")]
    Verify(Verify),
    /// Write every line of the journal as JSON, one object a line.
    Export(At),
    /// Print where every journal ends now. Keep it where no writer of the ledger can change it.
    Anchor(At),
    /// List the requests that hold a path, or give up one whose program has ended. What it paid
    /// stays paid.
    GiveUp(GiveUp),
}

/// What to give up.
#[derive(Args)]
pub(crate) struct GiveUp {
    #[command(flatten)]
    at: At,
    /// The request, as it is listed.
    #[arg(value_name = "REQUEST")]
    request: Option<String>,
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
            Self::GiveUp(give_up) => give_up.run(out),
        }
    }
}

impl GiveUp {
    fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        // A ledger that is not there is not made.
        drop(self.at.address.read_only().map_err(failed)?);
        let ledger = eke_ledger::Ledger::open(&self.at.address).map_err(failed)?;
        let held = ledger.held(1000).wait().map_err(failed)?;
        let Some(request) = &self.request else {
            for held in &held {
                writeln!(
                    out,
                    "{}  draws from path {} of account {}",
                    held.key, held.path, held.account
                )?;
            }
            if held.is_empty() {
                writeln!(out, "no request holds a path")?;
            }
            return Ok(());
        };
        let Some(held) = held.into_iter().find(|held| held.key.as_str() == request) else {
            let none =
                format!("request `{request}` holds no path: leave it out to list those that do");
            return Err(Failure::Failed(none.into()));
        };
        let stamp = eke_ledger::Stamp::now("steward");
        let given = ledger.give_up(&held.account, held.path, held.key, stamp);
        given.wait().map_err(failed)?;
        Ok(writeln!(out, "given up: what it paid stays paid, and the next question goes on")?)
    }
}

impl Verify {
    fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let read = |file: &PathBuf| {
            let name = file.display();
            let text = std::fs::read_to_string(file)
                .map_err(|error| format!("the anchor {name} cannot be read: {error}"))?;
            text.parse::<Anchor>().map_err(|error| format!("{name}: {error}"))
        };
        let anchor = self.anchor.as_ref().map(read).transpose();
        let anchor = anchor.map_err(|sentence| Failure::Failed(sentence.into()))?;
        let mut store = self.at.address.read_only().map_err(failed)?;
        let Report { accounts, lines, findings } =
            verify(&mut *store, anchor.as_ref()).map_err(failed)?;
        for finding in &findings {
            writeln!(out, "{finding}")?;
        }
        let looked = format!("{} and {}", plural(accounts, "account"), plural(lines, "line"));
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

fn things(number: usize) -> String {
    if number == 1 { "1 thing is".into() } else { format!("{number} things are") }
}
