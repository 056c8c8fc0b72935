//! `eke tables`: what may be asked about, from the policy and the schema alone.

use std::io::{self, Write};

use clap::Args;
use eke_budget::Adjacency;
use eke_engine::policy::Policy;
use eke_engine::tables::{ColumnInfo, TableInfo, tables};
use eke_engine::{EngineError, Who};

use crate::Failure;
use crate::commands::ask::Asker;
use crate::commands::budget::promised;
use crate::show::answer::key;
use crate::show::number::{plural, short};
use crate::show::{Table, note, print_json};

/// Which table to describe.
#[derive(Args)]
pub(crate) struct Tables {
    /// The table [default: a line for each]
    #[arg(value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    asker: Asker,
    /// Print JSON: one object for each table.
    #[arg(long)]
    json: bool,
}

impl Tables {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let policy = Policy::read(&self.asker.policy).map_err(EngineError::from)?;
        let name = self.name.as_deref();
        if self.json {
            for table in find(&policy, &self.asker.who(), name)? {
                print_json(out, &table)?;
            }
            return Ok(());
        }
        describe(&policy, &self.asker.who(), name, out)
    }
}

/// The tables of that name, or all of them.
fn find(policy: &Policy, who: &Who, name: Option<&str>) -> Result<Vec<TableInfo>, Failure> {
    let mut all = tables(policy, who)?;
    let Some(name) = name else { return Ok(all) };
    let names: Vec<String> = all.iter().map(|table| table.name.clone()).collect();
    // As SQL finds names: exactly, or in any case.
    match all.iter().position(|table| table.name == name) {
        Some(_) => all.retain(|table| table.name == name),
        None => all.retain(|table| table.name.eq_ignore_ascii_case(name)),
    }
    if all.is_empty() {
        let names = names.join(", ");
        let sentence = format!("there is no table `{name}`: there are {names}");
        return Err(Failure::Failed(sentence.into()));
    }
    Ok(all)
}

/// One table with its columns, or a line for each.
pub(crate) fn describe(
    policy: &Policy,
    who: &Who,
    name: Option<&str>,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let found = find(policy, who, name)?;
    match (&found[..], name) {
        ([table], _) => print(table, out)?,
        (all, Some(_)) => {
            for table in all {
                print(table, out)?;
            }
        }
        (all, None) => list(all, out)?,
    }
    Ok(())
}

fn list(all: &[TableInfo], out: &mut impl Write) -> io::Result<()> {
    let mut table = Table::new(&["table", "about", "columns"]);
    for one in all {
        let about = one.unit.as_ref().map_or("nobody: public", |unit| &unit.name);
        let names: Vec<&str> = one.columns.iter().map(|column| &*column.name).collect();
        table.row([&*one.name, about, &listed(&names, 50)]);
    }
    table.print(out)
}

fn print(table: &TableInfo, out: &mut impl Write) -> io::Result<()> {
    match &table.unit {
        None => writeln!(out, "{}: public, about nobody", table.name)?,
        Some(unit) => {
            let whose = match &unit.column {
                Some(column) => format!("each {} is protected, by {column}", unit.name),
                None => "each row is protected".to_owned(),
            };
            writeln!(out, "{}: {whose}", table.name)?;
            let groups = plural(unit.max_groups.into(), "group");
            let rows = plural(unit.max_rows.into(), "row");
            let name = &unit.name;
            let hidden = match (unit.adjacency, &unit.over_periods) {
                (Adjacency::AddRemove, Some(over)) => {
                    format!("whether somebody has rows in a {} at all is hidden", over.every)
                }
                (Adjacency::AddRemove, None) => {
                    format!("whether a {name} is in the data at all is hidden")
                }
                (Adjacency::Replace, _) => {
                    format!("what the rows of a {name} contain is hidden, and not that it is there")
                }
            };
            let counts = format!("a {name} counts in {groups} of an answer, with {rows} in each");
            note("", &counts, out)?;
            if let Some(rows) = unit.max_rows_in_all {
                let rows = plural(rows.into(), "row");
                note("", &format!("all rows of a {name} together count for {rows}"), out)?;
            }
            if let Some(widest) = &unit.widest {
                note("", &format!("questions may choose bounds up to {widest}"), out)?;
            }
            if let Some(values) = unit.max_values {
                let values = plural(values.into(), "different value");
                note("", &format!("COUNT(DISTINCT) counts {values} of a {name} in each"), out)?;
            }
            note("", &hidden, out)?;
            if let Some(over) = &unit.over_periods {
                note("", &over.sentence(name), out)?;
            }
        }
    }
    let mut columns = Table::new(&["column", "type", "bounds", "keys"]);
    for column in &table.columns {
        let is_unit =
            table.unit.as_ref().is_some_and(|unit| unit.column.as_deref() == Some(&*column.name));
        let kind = column.kind.as_deref().unwrap_or("not supported");
        let keys = if is_unit { "none: COUNT(DISTINCT) only".to_owned() } else { keys(column) };
        columns.row([&*column.name, kind, &bounds(column), &keys]);
    }
    writeln!(out)?;
    columns.print(out)?;
    if !table.budgets.is_empty() {
        writeln!(out)?;
    }
    for budget in &table.budgets {
        let rho = budget.rho.map(|rho| format!("rho {}", short(rho)));
        let pure = budget.pure.map(|pure| format!("pure epsilon {}", short(pure)));
        let purses: Vec<String> = rho.into_iter().chain(pure).collect();
        let promise = budget.promise.map_or(String::new(), |promise| promised(&promise) + ": ");
        writeln!(out, "  budget of {}  {promise}{}", budget.account, purses.join(", "))?;
    }
    if let Some(finest) = table.finest {
        writeln!(out, "  your tier sees no path further than rho {}", short(finest))?;
    }
    Ok(())
}

fn bounds(column: &ColumnInfo) -> String {
    match column.bounds {
        Some([min, max]) => format!("{min} to {max}"),
        None => String::new(),
    }
}

fn keys(column: &ColumnInfo) -> String {
    match (&column.values, &column.kind) {
        (Some(values), _) => listed(&values.iter().map(key).collect::<Vec<_>>(), 30),
        (None, Some(_)) => "selected privately".to_owned(),
        (None, None) => String::new(),
    }
}

/// Names, as many as fit into about that many characters, and how many there are.
fn listed<Name: AsRef<str>>(names: &[Name], most: usize) -> String {
    let mut text = String::new();
    for (index, name) in names.iter().enumerate() {
        let name = name.as_ref();
        if index > 0 && text.chars().count() + name.chars().count() + 2 > most {
            return format!("{text}, … ({} in all)", names.len());
        }
        if index > 0 {
            text.push_str(", ");
        }
        text.push_str(name);
    }
    text
}
