//! What is done with released values: which groups are shown, in which order, and what of them.
//!
//! Where noisy values decide which rows are shown, those that are shown are flattered by their
//! noise. Their intervals are then made for chosen rows, from what was released and for nothing.

use std::cmp::Ordering;

use eke_sql::{Expr, Leaf, Measure, Query, Shows, Value, evaluate};

use crate::ask::answer::{Cell, Chosen, Column, Found, Kind, Row, Stopped, json};
use crate::ask::question::{Accuracy, Goal};
use crate::ask::walk::{floor, interval};

/// What is shown of an answer.
pub(crate) struct Shown {
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Row>,
    /// How rows were chosen, if their noise decided.
    pub(crate) chosen: Option<Chosen>,
}

/// The columns and rows of an answer, from what was found for each group.
pub(crate) fn table(
    query: &Query,
    groups: &[Vec<Value>],
    found: &[Vec<Found>],
    goal: &Goal,
) -> Shown {
    let columns = query.outputs.iter().map(|output| Column {
        name: output.name.clone(),
        kind: match output.shows {
            Shows::Key(_) => Kind::Key,
            Shows::Measure(_) => Kind::Value,
        },
    });
    // Nothing is known of what was not picked.
    let measured = || groups.iter().zip(found).filter(|(_, values)| !values.is_empty());
    let mut shown: Vec<(&Vec<Value>, &Vec<Found>)> = measured()
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
                (false, false) if order.descending => other.cmp(&one),
                (false, false) => one.cmp(&other),
                (one, other) if order.nulls_first => other.cmp(&one),
                (one, other) => one.cmp(&other),
            }
        });
        by.fold(Ordering::Equal, Ordering::then).then_with(|| one.0.cmp(other.0))
    });
    let skip = usize::try_from(query.offset).unwrap_or(usize::MAX);
    let take = query.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let shown: Vec<_> = shown.into_iter().skip(skip).take(take).collect();
    let of = measured().count();
    let by = chosen_by(query, of);
    let miss = (1.0 - goal.confidence.get()) * ratio(shown.len(), of);
    let cell = |name: &str, index: usize, values: &[Found]| {
        let found = match query.measures.get(index) {
            Some(measure) if by[index] => {
                for_a_chosen_row(measure, query, goal, &values[index], miss)
            }
            _ => values[index],
        };
        Cell {
            name: name.to_owned(),
            value: found.value,
            low: found.low,
            high: found.high,
            confidence: goal.confidence.get(),
            met: goal.is_one().then(|| found.met()),
            ending: found.ending,
        }
    };
    let row = |(keys, values): &(&Vec<Value>, &Vec<Found>)| {
        let mut row = Row { keys: Vec::new(), values: Vec::new() };
        for output in &query.outputs {
            match output.shows {
                Shows::Key(index) => row.keys.push(json(&keys[index])),
                Shows::Measure(index) => row.values.push(cell(&output.name, index, values)),
            }
        }
        row
    };
    let rows: Vec<Row> = shown.iter().map(row).collect();
    let shows_one = query.outputs.iter().any(|output| match output.shows {
        Shows::Measure(index) => by[index],
        Shows::Key(_) => false,
    });
    let chosen = (shows_one && !rows.is_empty()).then_some(Chosen {
        rows: rows.len(),
        groups: of,
        level: 1.0 - miss,
    });
    Shown { columns: columns.collect(), rows, chosen }
}

/// Of the measures of a question, those whose noise decides which of the `measured` groups are
/// shown: what HAVING looks at, what ORDER BY sorts by where LIMIT or OFFSET cut, and what is made
/// of the same columns.
pub(crate) fn chosen_by(query: &Query, measured: usize) -> Vec<bool> {
    let limit =
        query.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let cuts = query.offset > 0 || limit < measured;
    let sorting = query.order.iter().filter(|_| cuts).map(|order| &order.by);
    let mut decides = vec![false; query.measures.len()];
    let mut left: Vec<&Expr> = query.having.iter().chain(sorting).collect();
    while let Some(expr) = left.pop() {
        if let Expr::Measure(index) = expr
            && let Some(decides) = decides.get_mut(*index)
        {
            *decides = true;
        }
        left.extend(expr.children());
    }
    let columns = |measure: &Measure| match *measure {
        Measure::Sum(sum) => [sum, sum],
        Measure::Average { sum, count } => [sum, count],
    };
    let deciding: Vec<usize> = query
        .measures
        .iter()
        .zip(&decides)
        .filter(|(_, decides)| **decides)
        .flat_map(|(measure, _)| columns(measure))
        .collect();
    let is_near = |measure: &Measure| columns(measure).iter().any(|of| deciding.contains(of));
    query.measures.iter().map(is_near).collect()
}

/// What was found, as that of a row which its noise has chosen: an interval at a higher level, and
/// whether it is as good as was asked for with that.
///
/// - Theorem: chosen-rows (docs/theorems.md)
/// - Proves: of the intervals shown for a measure, a part of at most one minus the confidence
///   misses on average
/// - Assumes: `miss` is one minus the confidence, times the rows shown over the groups measured
///   (caller)
/// - Deviates: nothing
/// - Checked by: `intervals_of_chosen_rows_hold_as_often_as_they_say`
fn for_a_chosen_row(
    measure: &Measure,
    query: &Query,
    goal: &Goal,
    found: &Found,
    miss: f64,
) -> Found {
    let ends = found.evidence.and_then(|evidence| interval(measure, &query.plan, &evidence, miss));
    let (Some([low, high]), Some(value)) = (ends, found.value) else {
        return Found { low: None, high: None, ending: worse(found), ..*found };
    };
    let off = (value - low).max(high - value) * (1.0 - 1e-9);
    let is_within = |tolerance: f64| {
        let near = |end: f64| (value - end).abs() * (1.0 - 1e-9) <= tolerance * end.abs();
        low * high > 0.0 && near(low) && near(high)
    };
    let is_met = match goal.accuracy {
        Accuracy::Relative(tolerance) => {
            is_within(tolerance.get()) || off <= floor(measure, &query.plan, goal)
        }
        Accuracy::Absolute(error) => off <= error,
        Accuracy::Price(_) => true,
    };
    let ending = if is_met { found.ending } else { worse(found) };
    Found { low: Some(low), high: Some(high), ending, ..*found }
}

fn worse(found: &Found) -> Stopped {
    if found.met() { Stopped::Chosen } else { found.ending }
}

fn ratio(part: usize, of: usize) -> f64 {
    part as f64 / of.max(1) as f64
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
