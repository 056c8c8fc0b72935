//! What a policy says about a column: its type, its bounds and its public values.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use eke_sql::{MAX_TEXT, Type, Value};

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
        let values = page.keep(section.get("values").map(read_values).transpose());
        let (Some(kind), Some(bounds), Some(values)) = (kind, bounds, values) else {
            return Err(page.told_elsewhere());
        };
        let column = Self { kind, bounds, values, line: field.line() };
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

fn read_bounds(min: Field<'_>, max: Field<'_>) -> Result<(f64, f64), PolicyError> {
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

fn read_values(field: Field<'_>) -> Result<Vec<Value>, PolicyError> {
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
        if !seen.insert(value) {
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
