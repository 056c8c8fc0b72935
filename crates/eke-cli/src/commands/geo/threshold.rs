//! `eke geo threshold`: whether the share of rows with small values in a column is below a given
//! share.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use eke_budget::{Amount, Rho};
use eke_engine::geo::{ShareAsking, ShareOf};

use super::crowd::{Walking, rho};
use crate::Failure;
use crate::show::number::{grouped, percent, short};
use crate::show::print_json;

/// Which rows, and how few.
#[derive(Args)]
pub(crate) struct Threshold {
    /// A file with a row for each household, person or whatever is protected: CSV or Parquet.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The column to look at.
    #[arg(long, value_name = "COLUMN")]
    column: String,
    /// The largest value that counts as small; cells that are not numbers do not count.
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true)]
    at_most: f64,
    /// The share, from 0 to 1: is the share of rows with small values below it?
    #[arg(long, value_name = "PART")]
    share: f64,
    /// The file with the account that pays for these rows.
    #[arg(long, value_name = "FILE", default_value = "rows.ledger")]
    ledger: PathBuf,
    /// The whole budget for these rows, in rho. Needed for the first question.
    #[arg(long, value_name = "RHO", value_parser = rho)]
    budget: Option<Rho>,
    /// The most that the question may cost, in rho.
    #[arg(long, value_name = "RHO", value_parser = rho)]
    rho: Rho,
    #[command(flatten)]
    walking: Walking,
    /// The name of this version of the rows: rows that have changed need another name [default:
    /// that of the file]
    #[arg(long, value_name = "NAME")]
    snapshot: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Threshold {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let plan = self.walking.plan()?;
        let mut of = ShareOf::open(&self.file, &self.column, &self.ledger)?;
        let answered = of.ask(&ShareAsking {
            at_most: self.at_most,
            share: self.share,
            price: Amount::at_most(self.rho),
            plan,
            snapshot: self.snapshot.clone(),
            budget: self.budget.map(Amount::at_most),
        })?;
        if self.json {
            return print_json(out, &answered);
        }
        let answer = &answered.answer;
        let rows = grouped(answer.rows as f64, 0);
        let (yes, fewer) = if answer.below { ("Yes", "fewer") } else { ("No", "no fewer") };
        writeln!(
            out,
            "  {yes}: {fewer} than {} of {rows} rows have `{}` of at most {}{}",
            percent(self.share, 1.0),
            self.column,
            short(self.at_most),
            if answer.clear { "" } else { ", as far as can be told" }
        )?;
        let cost = match answered.free {
            true => "nothing: it was answered before".to_owned(),
            false => format!("rho {} of {}", short(answer.cost), short(answer.price)),
        };
        writeln!(out, "  cost   {cost}; rho {} left", short(answered.left))?;
        Ok(())
    }
}
