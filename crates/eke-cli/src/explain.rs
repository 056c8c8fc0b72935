//! `eke explain`: what a question would do and cost, without reading a row.

use std::io::{self, Write};

use clap::Args;
use eke_engine::policy::Policy;
use eke_engine::{Explanation, Keys, explain};

use crate::Failure;
use crate::ask::Asker;
use crate::number::{cost, short};
use crate::table::Table;

/// What to explain.
#[derive(Args)]
pub(crate) struct Explain {
    /// The question.
    #[arg(value_name = "SQL")]
    sql: String,
    #[command(flatten)]
    asker: Asker,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Explain {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let policy = Policy::read(&self.asker.policy).map_err(eke_engine::EngineError::from)?;
        let explanation = explain(&policy, &self.sql, &self.asker.who())?;
        if self.json {
            serde_json::to_writer(&mut *out, &explanation).map_err(io::Error::from)?;
            return Ok(writeln!(out)?);
        }
        Ok(print(&explanation, out)?)
    }
}

fn print(explanation: &Explanation, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "What is computed")?;
    for line in &explanation.plan {
        writeln!(out, "  {line}")?;
    }
    let picks = explanation.sorting.as_ref().is_some_and(|sorting| sorting.pick.is_some());
    match &explanation.keys {
        Keys::None => {}
        Keys::Public(count) if picks => writeln!(out, "  {count} groups are public")?,
        Keys::Public(count) => {
            writeln!(
                out,
                "  {count} groups are public, and each is answered, also where it is empty"
            )?;
        }
        Keys::Selected { units, cost: price } => {
            writeln!(
                out,
                "  keys are shown that about {units} units or more have; selecting them costs {}, once",
                cost(price)
            )?;
        }
    }
    if let Some(sorting) = &explanation.sorting {
        writeln!(out, "\nHow it is sorted")?;
        writeln!(out, "  with --within, {}", sorting.within)?;
        writeln!(out, "  with --price, {}", sorting.price)?;
        if let Some(pick) = &sorting.pick {
            writeln!(out, "  a pick costs {}", cost(pick))?;
        }
    }
    writeln!(out, "\nWho pays\n  {}", explanation.accounts.join(", "))?;
    if !explanation.errors.is_empty() {
        writeln!(out, "\nWhat a price gives")?;
        let mut table = Table::new(&["price", "value", "95% interval"]);
        for line in &explanation.errors {
            table.row([cost(&line.cost), line.name.clone(), format!("± {}", short(line.error))]);
        }
        table.print(out)?;
        writeln!(out, "\nWhat 5% costs, by how large the value turns out to be")?;
        let mut table = Table::new(&["value", "if it is about", "price"]);
        for line in &explanation.sizes {
            table.row([line.name.clone(), short(line.size), cost(&line.cost)]);
        }
        table.print(out)?;
    }
    Ok(())
}
