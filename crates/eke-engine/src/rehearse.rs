//! Rehearsing a question: the same policy over made-up rows, in a folder of their own.
//!
//! The rows follow from the policy, from the names and types of columns, and from published profiles
//! that the asker has paid for, so that an answer to them tells nothing new. No row of a private
//! table is read, and nothing is charged but to a new ledger beside the made-up rows.

use std::collections::{BTreeMap, BTreeSet};
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
use crate::profile::DatasetShape;
use crate::profile::shape::ValueRange;

/// How many units are made up unless the policy says how many there are.
pub const USUAL_UNITS: u32 = 10_000;
/// How many units are made up at most.
pub const MOST_UNITS: u32 = 100_000;
/// How many rows of a unit are made up at most where no profile says how many they have.
const MOST_ROWS: u64 = 12;
/// How many rows of all units are made up at most, about.
const MOST_IN_ALL: u64 = 1_000_000;
/// Rehearsals wait for no slot: nothing in them depends on anybody's rows.
const AT_ONCE: Duration = Duration::from_millis(1);

/// An engine that answers a question from made-up rows of that many units, which are written into
/// an empty folder; without a number as many as the policy says there are, or
/// [`USUAL_UNITS`]. Datasets that have a shape get rows like it, with as many units. Public tables
/// are read as they are.
///
/// # Errors
/// The question cannot be answered privately, something in the policy is wrong, or a file cannot be
/// written.
pub fn rehearse(
    policy: &Policy,
    sql: &str,
    who: &Who,
    units: Option<u32>,
    shapes: &BTreeMap<String, DatasetShape>,
    folder: &Path,
) -> Result<Engine, EngineError> {
    understand(policy, sql, who)?;
    let named = eke_sql::relations(sql, policy.datasets.keys().map(String::as_str))?;
    let mut made = policy.clone();
    // Those that list values of columns are read too.
    let used = policy.datasets.iter().filter(|(name, _)| named.contains(name.as_str()));
    let columns = used.flat_map(|(_, dataset)| dataset.columns.values());
    let listing = columns.filter_map(|column| Some(column.values_from.as_ref()?.0.as_str()));
    let listing: BTreeSet<&str> = listing.collect();
    let is_used = |name: &str| named.contains(name) || listing.contains(name);
    made.datasets.retain(|name, _| is_used(name));
    made.ledger = Address::File(folder.join("eke.ledger"));
    for dataset in made.datasets.values_mut() {
        if matches!(dataset.protection, PolicyProtection::Private { .. }) {
            let shape = shapes.get(&dataset.name);
            let people = policy.unit(unit_of(dataset))?.people;
            let counted = shape.map(|shape| u32::try_from(shape.units).unwrap_or(u32::MAX));
            let units = units.or(counted).or(people).unwrap_or(USUAL_UNITS).clamp(1, MOST_UNITS);
            make_up(dataset, &policy.folder, folder, (units, shape))?;
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
    (units, shape): (u32, Option<&DatasetShape>),
) -> Result<(), EngineError> {
    let (table, _) = read_schema(base, dataset)?;
    let columns = Made::all(&table, dataset, shape);
    let path = folder.join(format!("{}.csv", dataset.name));
    let rows = match &dataset.protection {
        PolicyProtection::Private { unit_column, .. } if unit_column.is_empty() => 1,
        PolicyProtection::Private { max_rows, .. } => u64::from(*max_rows).min(MOST_ROWS),
        PolicyProtection::Public => 1,
    };
    let rows = match shape.map(|shape| Bins::new(&shape.rows)) {
        Some(bins) if rows > 1 && bins.all > 0 => Rows::Shaped(bins),
        _ => Rows::UpTo(rows),
    };
    write_rows(&path, &columns, units, &rows)
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

/// How many rows units have.
enum Rows<'s> {
    UpTo(u64),
    Shaped(Bins<'s>),
}

/// Counts of units by powers of two.
struct Bins<'s> {
    counts: &'s [u64],
    all: u64,
}

impl<'s> Bins<'s> {
    fn new(counts: &'s [u64]) -> Self {
        Self { counts, all: counts.iter().sum() }
    }

    /// A number from a bin that is drawn as often as it counts units.
    fn draw(&self, dice: &mut Dice) -> u64 {
        let mut place = dice.below(self.all.max(1));
        for (bin, &count) in self.counts.iter().enumerate() {
            if place < count {
                let end = 1u64 << bin.min(32);
                return end - dice.below((end / 2).max(1));
            }
            place -= count;
        }
        1
    }
}

/// A column of made-up cells.
struct Made<'s> {
    name: String,
    kind: Type,
    is_unit: bool,
    bounds: Option<(f64, f64)>,
    values: Option<Vec<Value>>,
    /// How many different values units have, where a profile says so.
    groups: Option<Bins<'s>>,
    /// The ranges that values are in, where a profile says so.
    ranges: Option<&'s [ValueRange]>,
}

impl<'s> Made<'s> {
    /// The columns that can be asked about, and the one that says whose a row is.
    fn all(table: &Table, dataset: &Dataset, shape: Option<&'s DatasetShape>) -> Vec<Self> {
        let unit = dataset.unit_columns();
        let made = |column: &Column| {
            let is_alone = unit.columns.len() == 1 || column.values.is_none();
            let is_unit = is_alone && unit.columns.contains(&column.name);
            let kind = match column.kind {
                // Ids are exact.
                Some(Type::Float | Type::Timestamp | Type::Bool) | None if is_unit => Type::Text,
                kind => kind?,
            };
            let groups = shape.and_then(|shape| shape.keys.get(&column.name));
            let ranges = shape.and_then(|shape| shape.values.get(&column.name));
            Some(Self {
                name: column.name.clone(),
                kind,
                is_unit,
                bounds: column.bounds,
                values: column.values.clone(),
                groups: groups.map(|groups| Bins::new(groups)).filter(|bins| bins.all > 0),
                ranges: ranges.map(|ranges| &ranges[..]),
            })
        };
        table.columns.iter().filter_map(made).collect()
    }

    /// Whether a text in it goes over several lines.
    fn has_lines(&self) -> bool {
        let has = |value: &Value| matches!(value, Value::Text(text) if text.contains(['\n', '\r']));
        self.values.iter().flatten().any(has) || self.name.contains(['\n', '\r'])
    }

    /// What a unit's values of a key are drawn from: as many places as it has groups; none where
    /// that is not known.
    fn places(&self, dice: &mut Dice) -> Vec<f64> {
        let groups = self.groups.as_ref().map_or(0, |groups| groups.draw(dice).min(1 << 10));
        (0..groups).map(|_| dice.part() * dice.part()).collect()
    }

    /// A value from a range that is drawn as often as it counts units.
    fn ranged(&self, dice: &mut Dice) -> Option<Option<f64>> {
        let ranges = self.ranges?;
        let all: u64 = ranges.iter().map(|(_, units)| units).sum();
        let mut place = if all == 0 { return None } else { dice.below(all) };
        for (range, units) in ranges {
            if place < *units {
                return Some(range.map(|(near, far)| near + (far - near) * dice.part()));
            }
            place -= units;
        }
        None
    }

    /// A cell in a row of a unit. Small numbers and first values are more frequent than others.
    fn cell(&self, unit: u32, places: &[f64], dice: &mut Dice) -> String {
        let skewed = match places {
            [] => dice.part() * dice.part(),
            #[expect(clippy::cast_possible_truncation, reason = "one of a few")]
            places => places[dice.below(places.len() as u64) as usize],
        };
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
        let number = match self.ranged(dice) {
            Some(None) => return String::new(),
            Some(Some(number)) => number,
            None => low + (high - low) * skewed,
        };
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

fn write_rows(path: &Path, columns: &[Made<'_>], units: u32, rows: &Rows<'_>) -> io::Result<()> {
    let mut dice = Dice(0x7e_4ea5_e001);
    let mut out = BufWriter::new(File::create_new(path)?);
    let names: Vec<String> = columns.iter().map(|column| quoted(&column.name)).collect();
    writeln!(out, "{}", names.join(","))?;
    let most = (MOST_IN_ALL / u64::from(units)).max(1) * 16;
    let mut left = MOST_IN_ALL + u64::from(units);
    for unit in 1..=units {
        let count = match rows {
            Rows::UpTo(rows) => 1 + dice.below(*rows),
            // Every unit has a row, whatever the others have.
            Rows::Shaped(bins) => {
                bins.draw(&mut dice).min(most).min(left - u64::from(units - unit)).max(1)
            }
        };
        left = left.saturating_sub(count);
        let places: Vec<Vec<f64>> = columns.iter().map(|one| one.places(&mut dice)).collect();
        for _ in 0..count {
            let cells = columns.iter().zip(&places);
            let cells = cells.map(|(column, places)| column.cell(unit, places, &mut dice));
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
