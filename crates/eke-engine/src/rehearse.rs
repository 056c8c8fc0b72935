//! Rehearsing a question: the same policy over made-up rows, in a folder of their own.
//!
//! The rows follow from the policy and from the names and types of columns alone, so that an answer
//! to them tells nothing. No row of a private table is read, the ledger is not opened, and nothing
//! is charged but to a new ledger beside the made-up rows.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Duration;

use eke_ledger::Address;
use eke_sql::{Column, Table, Type, Value, scalar};

use crate::ask::question::Who;
use crate::data::anchored::Anchored;
use crate::data::city::Dice;
use crate::data::ground::{read_schema, understand};
use crate::engine::{Access, Engine};
use crate::error::EngineError;
use crate::policy::{ColumnPolicy, Dataset, Policy, PolicyProtection};

/// How many units are made up unless the policy says how many there are.
pub const USUAL_UNITS: u32 = 10_000;
/// How many units are made up at most.
pub const MOST_UNITS: u32 = 100_000;
/// How many rows of a unit are made up at most.
const MOST_ROWS: u64 = 12;
/// Rehearsals wait for no slot: nothing in them depends on anybody's rows.
const AT_ONCE: Duration = Duration::from_millis(1);

/// An engine that answers a question from made-up rows of that many units, which are written into
/// an empty folder; without a number as many as the policy says there are, or
/// [`USUAL_UNITS`]. Public tables are read as they are.
///
/// # Errors
/// The question cannot be answered privately, something in the policy is wrong, or a file cannot be
/// written.
pub fn rehearse(
    policy: &Policy,
    sql: &str,
    who: &Who,
    units: Option<u32>,
    folder: &Path,
) -> Result<Engine, EngineError> {
    understand(policy, sql, who)?;
    let named = eke_sql::relations(sql, policy.datasets.keys().map(String::as_str))?;
    let mut made = policy.clone();
    made.datasets.retain(|name, _| named.contains(name.as_str()));
    made.ledger = Address::File(folder.join("eke.ledger"));
    for dataset in made.datasets.values_mut() {
        if matches!(dataset.protection, PolicyProtection::Private { .. }) {
            let people = policy.unit(unit_of(dataset))?.people;
            let units = units.or(people).unwrap_or(USUAL_UNITS).clamp(1, MOST_UNITS);
            make_up(dataset, &policy.folder, folder, units)?;
        }
    }
    Engine::over(made, Anchored::of(&folder.join("eke.toml")), Access::default())
}

fn unit_of(dataset: &Dataset) -> &str {
    match &dataset.protection {
        PolicyProtection::Private { unit, .. } => unit,
        PolicyProtection::Public => "",
    }
}

/// Writes made-up rows of a dataset, and lets it have them.
fn make_up(
    dataset: &mut Dataset,
    base: &Path,
    folder: &Path,
    units: u32,
) -> Result<(), EngineError> {
    let (table, _) = read_schema(base, dataset)?;
    let columns = Made::all(&table, dataset);
    let path = folder.join(format!("{}.csv", dataset.name));
    let rows = match &dataset.protection {
        PolicyProtection::Private { unit_column, .. } if unit_column.is_empty() => 1,
        PolicyProtection::Private { max_rows, .. } => u64::from(*max_rows).min(MOST_ROWS),
        PolicyProtection::Public => 1,
    };
    write_rows(&path, &columns, units, rows)
        .map_err(|error| EngineError::NotReady(format!("cannot write made-up rows: {error}")))?;
    dataset.source = path.display().to_string();
    dataset.multiline = Some(columns.iter().any(Made::has_lines));
    dataset.answer_time = AT_ONCE;
    let line = dataset.line;
    dataset.columns.retain(|name, _| columns.iter().any(|made| made.name == *name));
    for made in columns {
        let said = dataset.columns.entry(made.name);
        let said = said.or_insert(ColumnPolicy {
            kind: None,
            bounds: None,
            values: None,
            values_from: None,
            line,
        });
        said.kind = Some(made.kind);
    }
    Ok(())
}

/// A column of made-up cells.
struct Made {
    name: String,
    kind: Type,
    is_unit: bool,
    bounds: Option<(f64, f64)>,
    values: Option<Vec<Value>>,
}

impl Made {
    /// The columns that can be asked about, and the one that says whose a row is.
    fn all(table: &Table, dataset: &Dataset) -> Vec<Self> {
        let unit = dataset.unit_columns();
        let made = |column: &Column| {
            let is_alone = unit.columns.len() == 1 || column.values.is_none();
            let is_unit = is_alone && unit.columns.contains(&column.name);
            let kind = match column.kind {
                // Ids are exact.
                Some(Type::Float | Type::Timestamp | Type::Bool) | None if is_unit => Type::Text,
                kind => kind?,
            };
            let (bounds, values) = (column.bounds, column.values.clone());
            Some(Self { name: column.name.clone(), kind, is_unit, bounds, values })
        };
        table.columns.iter().filter_map(made).collect()
    }

    /// Whether a text in it goes over several lines.
    fn has_lines(&self) -> bool {
        let has = |value: &Value| matches!(value, Value::Text(text) if text.contains(['\n', '\r']));
        self.values.iter().flatten().any(has) || self.name.contains(['\n', '\r'])
    }

    /// A cell in a row of a unit. Small numbers and first values are more frequent than others.
    fn cell(&self, unit: u32, dice: &mut Dice) -> String {
        let skewed = dice.part() * dice.part();
        if self.is_unit {
            return match self.kind {
                Type::Int => unit.to_string(),
                Type::Date => day(i64::from(unit)),
                _ => format!("unit {unit}"),
            };
        }
        if let Some(values) = &self.values {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
            let index = (skewed * values.len() as f64) as usize;
            return values.get(index).map_or_else(String::new, written);
        }
        let (low, high) = self.bounds.unwrap_or((0.0, 100.0));
        let number = low + (high - low) * skewed;
        match self.kind {
            Type::Int => number.round().to_string(),
            Type::Float => format!("{number:.3}"),
            Type::Bool => (skewed < 0.3).to_string(),
            Type::Text => quoted(&format!("text {}", (skewed * 8.0).floor() + 1.0)),
            // In 2025.
            Type::Date => day(20_089 + dice.below(365).cast_signed()),
            Type::Timestamp => moment(20_089 * 86_400 + dice.below(31_536_000).cast_signed()),
        }
    }
}

fn write_rows(path: &Path, columns: &[Made], units: u32, most: u64) -> io::Result<()> {
    let mut dice = Dice(0x7e_4ea5_e001);
    let mut out = BufWriter::new(File::create_new(path)?);
    let names: Vec<String> = columns.iter().map(|column| quoted(&column.name)).collect();
    writeln!(out, "{}", names.join(","))?;
    for unit in 1..=units {
        for _ in 0..=dice.below(most) {
            let cells = columns.iter().map(|column| column.cell(unit, &mut dice));
            writeln!(out, "{}", cells.collect::<Vec<_>>().join(","))?;
        }
    }
    out.flush()
}

/// A value as a cell of CSV.
fn written(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Text(text) => quoted(text),
        Value::Bool(is) => is.to_string(),
        Value::Int(int) => int.to_string(),
        Value::Float(float) => float.to_string(),
        Value::Date(days) => day((*days).into()),
        Value::Timestamp(micros) => scalar::timestamp_to_text(*micros).unwrap_or_default(),
    }
}

fn day(days: i64) -> String {
    scalar::date_to_text(days).unwrap_or_default()
}

fn moment(seconds: i64) -> String {
    scalar::timestamp_to_text(seconds * 1_000_000).unwrap_or_default()
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}
