//! What is done with released values: which groups are shown, in which order, and what of them.

use std::cmp::Ordering;

use eke_sql::{Expr, Leaf, Query, Shows, Value, evaluate};

use crate::answer::{Cell, Column, Found, Kind, Row, json};

/// The columns and rows of an answer, from what was found for each group.
pub(crate) fn table(
    query: &Query,
    groups: &[Vec<Value>],
    found: &[Vec<Found>],
    confidence: f64,
) -> (Vec<Column>, Vec<Row>) {
    let columns = query.outputs.iter().map(|output| Column {
        name: output.name.clone(),
        kind: match output.shows {
            Shows::Key(_) => Kind::Key,
            Shows::Measure(_) => Kind::Value,
        },
    });
    let mut shown: Vec<(&Vec<Value>, &Vec<Found>)> = groups
        .iter()
        .zip(found)
        // Nothing is known of what was not picked.
        .filter(|(_, values)| !values.is_empty())
        .filter(|(keys, values)| {
            query
                .having
                .as_ref()
                .is_none_or(|having| matches!(value(having, keys, values), Value::Bool(true)))
        })
        .collect();
    shown.sort_by(|one, other| {
        let by = query.order.iter().map(|order| {
            let (one, other) = (value(&order.by, one.0, one.1), value(&order.by, other.0, other.1));
            let nulls = |value: &Value| matches!(value, Value::Null);
            match (nulls(&one), nulls(&other)) {
                (true, true) => Ordering::Equal,
                (true, false) if order.nulls_first => Ordering::Less,
                (true, false) => Ordering::Greater,
                (false, true) if order.nulls_first => Ordering::Greater,
                (false, true) => Ordering::Less,
                (false, false) if order.descending => other.cmp(&one),
                (false, false) => one.cmp(&other),
            }
        });
        by.fold(Ordering::Equal, Ordering::then).then_with(|| one.0.cmp(other.0))
    });
    let skip = usize::try_from(query.offset).unwrap_or(usize::MAX);
    let take = query.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let rows = shown.into_iter().skip(skip).take(take).map(|(keys, values)| {
        let mut row = Row { keys: Vec::new(), values: Vec::new() };
        for output in &query.outputs {
            match output.shows {
                Shows::Key(index) => row.keys.push(json(&keys[index])),
                Shows::Measure(index) => {
                    let found = values[index];
                    row.values.push(Cell {
                        name: output.name.clone(),
                        value: found.value,
                        low: found.low,
                        high: found.high,
                        confidence,
                        met: found.met(),
                        ending: found.ending,
                    });
                }
            }
        }
        row
    });
    (columns.collect(), rows.collect())
}

/// What an expression over keys and measures comes to for one group.
fn value(expr: &Expr, keys: &[Value], values: &[Found]) -> Value {
    evaluate(expr, &|leaf| match leaf {
        Leaf::Key(index) => keys.get(index).cloned().unwrap_or(Value::Null),
        Leaf::Measure(index) => {
            let found = values.get(index).and_then(|found| found.value);
            found.map_or(Value::Null, Value::float)
        }
        Leaf::Column(_) => Value::Null,
    })
}
