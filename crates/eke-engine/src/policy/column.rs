//! What a policy says about a column: its type, its bounds and its public values.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use eke_sql::{MAX_TEXT, Type, Value, scalar};

use super::PolicyError;
use super::error::quoted;
use super::section::{Field, Page};
use super::value::{self, EXACT};

const KNOWN: [&str; 4] = ["type", "min", "max", "values"];
const EXAMPLE: &str = "{ min = 0, max = 200 } or { values = [\"Delft\", \"Leiden\"] }";
const TYPES: [Type; 6] =
    [Type::Int, Type::Float, Type::Text, Type::Bool, Type::Date, Type::Timestamp];

/// What a policy says about a column. Bounds are finite and the first is the smaller; values are
/// distinct, of one type, and there is at least one.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnPolicy {
    /// Its type, if the policy says it. Files that know their types do not need it.
    pub kind: Option<Type>,
    /// What its values are clamped to when they are added up.
    pub bounds: Option<(f64, f64)>,
    /// Its public values: all of them are answered, and no others.
    pub values: Option<Vec<Value>>,
    /// The public dataset and its column that these are the values of, in place of a list.
    pub values_from: Option<(String, String)>,
    /// Where the policy says it.
    pub line: usize,
}

impl ColumnPolicy {
    pub(super) fn read(field: Field<'_>) -> Result<Self, PolicyError> {
        let section = field.section(&KNOWN, "a column", EXAMPLE)?;
        let page = field.page();
        let kind = page.keep(section.get("type").map(read_type).transpose());
        let bounds = page.keep(match (section.get("min"), section.get("max")) {
            (None, None) => Ok(None),
            (Some(min), Some(max)) => read_bounds(min, max).map(Some),
            (Some(lone), None) | (None, Some(lone)) => {
                let other = if lone.name() == "min" { "max" } else { "min" };
                Err(lone.wrong(format!(
                    "`{}` needs `{other}` beside it: what is added up is clamped on both sides",
                    lone.name()
                )))
            }
        });
        let listed = section.get("values");
        let from = listed.filter(Field::is_table);
        let values_from = page.keep(from.map(read_values_from).transpose());
        let listed = listed.filter(|field| !field.is_table());
        let values = page.keep(listed.map(read_values).transpose());
        let (Some(kind), Some(bounds), Some(values), Some(values_from)) =
            (kind, bounds, values, values_from)
        else {
            return Err(page.told_elsewhere());
        };
        let column = Self { kind, bounds, values, values_from, line: field.line() };
        match kind {
            None => Ok(column),
            Some(kind) => column.fitted(field.name(), kind, "by its `type`", field.page()),
        }
    }

    /// The same for a column of that type, or what does not fit it. `by` says who knows the type.
    pub(super) fn fitted(
        &self,
        name: &str,
        kind: Type,
        by: &str,
        page: &Page,
    ) -> Result<Self, PolicyError> {
        let shown = quoted(name);
        let wrong = |problem: String| Err(page.wrong(self.line, problem));
        if let Some((min, max)) = self.bounds {
            match kind {
                Type::Float => {}
                Type::Int if min.fract() == 0.0 && max.fract() == 0.0 => {
                    let exact: RangeInclusive<f64> = -LARGEST..=LARGEST;
                    if !exact.contains(&min) || !exact.contains(&max) {
                        return wrong(format!(
                            "the bounds of {shown} are too large for integers to be exact: keep them within {EXACT}"
                        ));
                    }
                }
                Type::Int => {
                    return wrong(format!(
                        "{shown} is int {by}: write its `min` and `max` as whole numbers"
                    ));
                }
                _ => {
                    return wrong(format!(
                        "{shown} is {kind} {by}: leave out `min` and `max`, which are for numbers"
                    ));
                }
            }
        }
        let Some(values) = &self.values else { return Ok(self.clone()) };
        let fitted: Option<Vec<_>> = values.iter().map(|listed| value::fit(listed, kind)).collect();
        let Some(fitted) = fitted else {
            let listed = values.iter().find(|listed| value::fit(listed, kind).is_none());
            return wrong(format!(
                "{shown} is {kind} {by}, and {} is not: write its `values` like {}",
                listed.map_or_else(String::new, show),
                example(kind)
            ));
        };
        Ok(Self { values: Some(fitted), ..self.clone() })
    }
}

/// Two to the 53rd.
const LARGEST: f64 = 9_007_199_254_740_992.0;

fn read_type(field: Field<'_>) -> Result<Type, PolicyError> {
    let text = field.text("\"float\"")?;
    TYPES.into_iter().find(|kind| kind.to_string() == text).ok_or_else(|| {
        let known = TYPES.map(|kind| kind.to_string());
        let known = known.each_ref().map(String::as_str);
        let instead = super::name::suggestion(text, &known, "the types are");
        field.wrong(format!("{} is no type: {instead}", quoted(text)))
    })
}

pub(super) fn read_bounds(min: Field<'_>, max: Field<'_>) -> Result<(f64, f64), PolicyError> {
    let bounds = (min.number("0")?, max.number("200")?);
    if bounds.0 >= bounds.1 {
        return Err(max.wrong(format!(
            "`min` {:?} must be less than `max` {:?}: swap them, or widen them",
            bounds.0, bounds.1
        )));
    }
    if !(bounds.1 - bounds.0).is_finite() {
        return Err(max.wrong("`min` and `max` are too far apart to compute with: narrow them"));
    }
    Ok(bounds)
}

/// The dataset and the column of `{ from = "zones.zone" }`.
fn read_values_from(field: Field<'_>) -> Result<(String, String), PolicyError> {
    let example = "values = { from = \"zones.zone\" }, a column of a public dataset";
    let section = field.section(&["from"], "`values`", example)?;
    let from = section.require("from", &format!("`values` has no `from`: write {example}"))?;
    let text = from.text("\"zones.zone\"")?;
    let parts =
        text.split_once('.').filter(|(table, column)| !table.is_empty() && !column.is_empty());
    let parts = parts.map(|(table, column)| (table.to_owned(), column.to_owned()));
    parts
        .ok_or_else(|| from.wrong(format!("`from` {} is no column: write {example}", quoted(text))))
}

/// The most values that a range may have.
const MOST_VALUES: i64 = 100_000;

/// All values from one to another: `17..90`, or days.
fn read_range(field: Field<'_>, text: &str) -> Result<Vec<Value>, PolicyError> {
    let wrong = |problem: &str| {
        Err(field.wrong(format!(
            "`values` {} {problem}: write a range such as values = \"17..90\" or values = \"2026-01-01..2026-12-31\", or a list in brackets",
            quoted(text)
        )))
    };
    let Some((first, last)) = text.split_once("..") else { return wrong("is no range") };
    let ends = |read: fn(&str) -> Option<i64>| Some((read(first.trim())?, read(last.trim())?));
    let days = |text: &str| scalar::date_of_text(text).map(i64::from);
    let (ends, is_days) = match (ends(scalar::int_of_text), ends(days)) {
        (Some(ends), _) => (ends, false),
        (None, Some(ends)) => (ends, true),
        (None, None) => return wrong("has an end that is neither a whole number nor a day"),
    };
    let (first, last) = ends;
    if first > last {
        return wrong("ends before it begins");
    }
    if last.abs_diff(first) >= MOST_VALUES.unsigned_abs() {
        return wrong("has more than 100000 values");
    }
    let day = |day: i64| i32::try_from(day).map_or(Value::Null, Value::Date);
    Ok((first..=last).map(|value| if is_days { day(value) } else { Value::Int(value) }).collect())
}

fn read_values(field: Field<'_>) -> Result<Vec<Value>, PolicyError> {
    if let Some(text) = field.as_text() {
        return read_range(field, text);
    }
    let listed = field.list("values = [\"Delft\", \"Leiden\"]")?;
    if listed.is_empty() {
        return Err(field.wrong(
            "`values` is empty: list every key that may be answered, or leave it out to have keys selected privately",
        ));
    }
    let values = listed.into_iter().map(value::read).collect::<Result<Vec<_>, _>>();
    let mut values = values.map_err(|problem| field.wrong(format!("`values` {problem}")))?;
    // 1 beside 1.5 is 1.0, and a day beside a moment is its midnight.
    for (wide, narrow) in [(Type::Float, Type::Int), (Type::Timestamp, Type::Date)] {
        let is = |value: &Value, kind| value.kind() == Some(kind);
        if values.iter().any(|value| is(value, wide)) {
            for value in values.iter_mut().filter(|value| is(value, narrow)) {
                if let Some(fitted) = value::fit(value, wide) {
                    *value = fitted;
                }
            }
        }
    }
    // Long lists are mostly in order, and nothing in them stands twice then.
    let in_order = values.is_sorted_by(|one, next| one < next);
    let mut seen = BTreeSet::new();
    for value in &values {
        if let Value::Text(text) = value
            && text.len() > MAX_TEXT
        {
            return Err(field.wrong(format!(
                "`values` has a text of {} bytes, and texts end after {MAX_TEXT}: shorten it",
                text.len()
            )));
        }
        if value.kind() != values[0].kind() {
            return Err(field.wrong(format!(
                "`values` has {} beside {}: write values of one type",
                show(value),
                show(&values[0])
            )));
        }
        if !in_order && !seen.insert(value) {
            return Err(field.wrong(format!("`values` has {} twice: write it once", show(value))));
        }
    }
    Ok(values)
}

/// A value of the policy in a message.
fn show(value: &Value) -> String {
    match value {
        Value::Text(text) => quoted(&format!("\"{text}\"")),
        Value::Bool(is) => quoted(&is.to_string()),
        Value::Int(int) => quoted(&int.to_string()),
        Value::Float(float) => quoted(&format!("{float:?}")),
        Value::Date(_) => "a date".into(),
        Value::Timestamp(_) => "a timestamp".into(),
        Value::Null => "NULL".into(),
    }
}

fn example(kind: Type) -> &'static str {
    match kind {
        Type::Bool => "[true, false]",
        Type::Int => "[1, 2]",
        Type::Float => "[1.0, 2.5]",
        Type::Text => "[\"Delft\", \"Leiden\"]",
        Type::Date => "[2026-01-31, 2026-02-28]",
        Type::Timestamp => "[2026-01-31T00:00:00]",
    }
}
