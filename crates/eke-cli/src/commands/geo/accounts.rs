//! `eke geo accounts`: how the accounts of many people stand, and what was asked of them.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use eke_budget::{Amount, Rho};
use eke_ledger::Register;
use eke_ledger::register::{Happened, RegisterAnchor, RegisterError, RegisterLine};
use serde::Serialize;

use crate::Failure;
use crate::show::number::short;
use crate::show::{Table, print_json};

/// Which accounts.
#[derive(Args)]
pub(crate) struct Accounts {
    /// The file with the accounts of all people (the register). All of it is verified.
    #[arg(long, value_name = "FILE", default_value = "people.ledger")]
    ledger: PathBuf,
    /// Compare them with an anchor that this command printed earlier.
    #[arg(long, value_name = "ANCHOR")]
    against: Option<String>,
    /// List what was asked, and when.
    #[arg(long)]
    history: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Shown<'a> {
    terms: &'a eke_ledger::Terms,
    people: usize,
    /// What people have left: the least, the quartiles, and the most.
    left: [f64; 5],
    /// The numbers of questions that are being answered, or whose program has died.
    open: Vec<u64>,
    anchor: &'a RegisterAnchor,
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<&'a [RegisterLine]>,
}

impl From<RegisterError> for Failure {
    fn from(error: RegisterError) -> Self {
        Self::Failed(error.into())
    }
}

impl Accounts {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let mut register = Register::open(&self.ledger)?;
        if let Some(text) = &self.against {
            let anchor: RegisterAnchor = serde_json::from_str(text).map_err(|_| {
                Failure::Usage(
                    "this is not an anchor: give what this command printed as one".into(),
                )
            })?;
            register.check_anchor(&anchor)?;
        }
        let mut left: Vec<Amount<Rho>> =
            register.people()?.iter().map(eke_ledger::Person::left).collect();
        left.sort_unstable();
        let people = left.len();
        let at = |quarter: usize| match people {
            0 => 0.0,
            _ => left[(people - 1) * quarter / 4].to_f64(),
        };
        let left = [0, 1, 2, 3, 4].map(at);
        let open = register.under_way()?;
        let (lines, anchor) = (register.journal()?, register.anchor()?);
        if self.json {
            let shown = Shown {
                terms: register.terms(),
                people,
                left,
                open: open.iter().map(|open| open.number).collect(),
                anchor: &anchor,
                history: self.history.then_some(&lines),
            };
            return print_json(out, &shown);
        }
        writeln!(out, "  people  {people}")?;
        let [least, quarter, half, three_quarters, most] = left.map(short);
        writeln!(
            out,
            "  left    rho {least} to {most}; a quarter have {quarter} or less, half {half}, three quarters {three_quarters}"
        )?;
        let asked =
            lines.iter().filter(|line| matches!(line.what, Happened::Reserved { .. })).count();
        writeln!(out, "  asked   {asked} questions, {} of them not ended", open.len())?;
        writeln!(out, "  anchor  {}", serde_json::to_string(&anchor).map_err(io::Error::from)?)?;
        if self.history {
            writeln!(out)?;
            print(&lines, out)?;
        }
        Ok(())
    }
}

fn print(lines: &[RegisterLine], out: &mut impl Write) -> io::Result<()> {
    let mut table = Table::new(&["line", "when", "what"]).with_numbers([0]);
    for line in lines {
        let what = match &line.what {
            Happened::Made { .. } => "made".to_owned(),
            Happened::Enrolled { people, budget } => {
                format!("{people} people enrolled, rho {} each", short(budget.to_f64()))
            }
            Happened::Reserved { question, dataset, people, .. } => {
                format!("{people} people asked about `{dataset}`: {question}")
            }
            Happened::Settled { question, answer: Some(_), .. } => {
                format!("question {question} answered")
            }
            Happened::Settled { question, .. } => format!("question {question} came to nothing"),
            Happened::GivenUp { question } => format!("question {question} given up, and paid"),
            _ => "something that a newer eke knows".to_owned(),
        };
        table.row([line.line.to_string(), line.at.clone(), what]);
    }
    table.print(out)
}
