//! `eke explain`: what a question would do and cost, without reading a row.

use std::io::{self, Write};

use clap::Args;
use eke_engine::ask::Keys;
use eke_engine::policy::Policy;
use eke_engine::{Cost, Explanation, explain};

use crate::Failure;
use crate::ask::Asker;
use crate::show::number::{cost, short};
use crate::show::{Table, print_json};

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
            return print_json(out, &explanation);
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
    if let Some(tier) = &explanation.tier {
        writeln!(out, "\nWhat your tier sees")?;
        writeln!(
            out,
            "  no path further than {}: this question costs you {} for its values at most, whatever \
             price you allow, and is not answered closer",
            cost(&tier.finest),
            cost(&tier.cost)
        )?;
        match tier.picks {
            Some(0) => writeln!(
                out,
                "  no pick of the largest: with --within it is refused, so ask with --price"
            )?,
            Some(1) => writeln!(out, "  one pick of the largest")?,
            Some(picks) => writeln!(out, "  {picks} picks of the largest at most")?,
            None => {}
        }
    }
    if explanation.errors.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nWhat a price gives")?;
    let mut table = Table::new(&["price", "value", "95% interval", ""]);
    for line in &explanation.errors {
        let of = line.rows.map_or_else(String::new, |rows| format!("of {} rows", short(rows)));
        let error = format!("± {}", short(line.error));
        table.row([cost(&line.cost), line.name.clone(), error, of]);
    }
    table.print(out)?;
    writeln!(out, "\nWhat 5% costs, by how large the value turns out to be")?;
    let mut table = Table::new(&["value", "if it is about", "price", "after an earlier answer"]);
    let price = |price: &Option<Cost>| match price {
        Some(price) => cost(price),
        None => "beyond your tier".to_owned(),
    };
    for line in &explanation.sizes {
        let of = line.rows.map_or_else(String::new, |rows| format!(" in {} rows", short(rows)));
        let size = format!("{}{of}", short(line.size));
        table.row([line.name.clone(), size, price(&line.cost), price(&line.after)]);
    }
    table.print(out)?;
    writeln!(
        out,
        "  An earlier answer is one that {} seen to the same question, at another accuracy or price: \
         intervals must\n  then hold for all looks together, so ask for what you need at once",
        explanation.earlier
    )
}
