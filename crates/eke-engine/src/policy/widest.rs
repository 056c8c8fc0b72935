//! The widest bounds that questions may choose for themselves.
//!
//! They keep memory and grids within limits, and promise nothing: whatever a question chooses is
//! what it pays for. Without them the bounds of the policy are the widest.

use eke_sql::Widest;

use super::column::read_bounds;
use super::section::{Field, Section};
use super::{ColumnPolicy, PolicyError, PolicyProtection};

const KNOWN: [&str; 5] = ["max_groups", "max_rows", "max_values", "max_rows_in_all", "columns"];
const EXAMPLE: &str = "widest = { max_groups = 12, max_rows = 200 }";
const COLUMN: &str = "{ min = 0, max = 500 }";

/// What a dataset's section says of it.
pub(super) fn read(section: Section<'_>, dataset: &str) -> Result<Widest, PolicyError> {
    let mut widest = Widest { table: dataset.to_owned(), ..Widest::default() };
    let Some(field) = section.get("widest") else { return Ok(widest) };
    let title = format!("[dataset.{dataset}.widest]");
    let section = field.section(&KNOWN, &title, EXAMPLE)?;
    let count = |name: &str| section.get(name).map(|field| field.count("50")).transpose();
    widest.max_groups = count("max_groups")?;
    widest.max_rows = count("max_rows")?;
    widest.max_values = count("max_values")?;
    widest.max_rows_in_all = count("max_rows_in_all")?;
    let Some(columns) = section.get("columns") else { return Ok(widest) };
    for column in columns.table(&format!("columns = {{ fare = {COLUMN} }}"))?.fields() {
        let ends = column.section(&["min", "max"], "a widest clamp", COLUMN)?;
        let missing = format!("the widest clamp of `{}` needs both ends: {COLUMN}", column.name());
        let (min, max) = (ends.require("min", &missing)?, ends.require("max", &missing)?);
        let (low, high) = read_bounds(min, max)?;
        widest.clamps.push((column.name().to_owned(), low, high));
    }
    Ok(widest)
}

/// Whether nothing of it is narrower than what the policy itself says.
pub(super) fn check(
    widest: &Widest,
    field: Field<'_>,
    protection: &PolicyProtection,
    columns: &std::collections::BTreeMap<String, ColumnPolicy>,
) -> Result<(), PolicyError> {
    let PolicyProtection::Private {
        unit_column,
        max_groups,
        max_rows,
        max_values,
        max_rows_in_all,
        ..
    } = protection
    else {
        return Ok(());
    };
    if unit_column.is_empty() {
        return Err(field.wrong("a row is in one group, once: leave out `widest`"));
    }
    let counts = [
        ("max_groups", widest.max_groups, Some(*max_groups)),
        ("max_rows", widest.max_rows, Some(*max_rows)),
        ("max_values", widest.max_values, *max_values),
        ("max_rows_in_all", widest.max_rows_in_all, *max_rows_in_all),
    ];
    for (name, most, own) in counts {
        if let (Some(most), Some(own)) = (most, own)
            && most < own
        {
            return Err(field.wrong(format!(
                "the widest `{name}` is {most}, and the dataset's own is {own}: write {own} or more"
            )));
        }
    }
    for (name, low, high) in &widest.clamps {
        let own = columns.get(name).and_then(|column| column.bounds);
        if let Some((min, max)) = own
            && (*low > min || *high < max)
        {
            return Err(field.wrong(format!(
                "the widest clamp of `{name}` is {low} to {high}, and its own is {min} to {max}: \
                 write ends that hold these"
            )));
        }
    }
    Ok(())
}
