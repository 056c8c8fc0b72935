//! Tables that a question writes out: VALUES, and series of constants. They are public.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::rc::Rc;

use sqlparser::ast;

use crate::error::{LimitError, Unsupported, short};
use crate::expr::canonical::canonical;
use crate::expr::evaluate::evaluate;
use crate::frontend::bind::{Binder, Bound, one_type, series_step};
use crate::frontend::clauses::no;
use crate::frontend::from::parts::UnitParts;
use crate::frontend::rows::{Field, Relation, Source};
use crate::{Column, Expr, Protection, SqlError, Table, Type, Value};

/// How many values a series has at most.
const MOST: usize = 10_000;
/// What such a table is called in a plan.
const NAME: &str = "VALUES";

impl<'a> Source<'a> {
    /// The rows of VALUES.
    pub(crate) fn values(&self, values: &ast::Values) -> Result<Relation<'a>, SqlError> {
        let width = values.rows.first().map_or(0, |row| row.content.len());
        if values.explicit_row || values.value_keyword || width == 0 {
            return Err(no("VALUES with ROW or without values", "write VALUES (1, 'a'), (2, 'b')"));
        }
        if values.rows.iter().any(|row| row.content.len() != width) {
            return Err(no("VALUES with rows of different lengths", "write as many in each"));
        }
        let mut columns = Vec::with_capacity(width);
        for place in 0..width {
            let cells = values.rows.iter().map(|row| {
                let cell = &row.content[place];
                Ok((self.constant(cell)?, short(cell)))
            });
            let (cells, kind) = one_type(cells.collect::<Result<_, SqlError>>()?)?;
            let cells = cells.into_iter().map(value).collect::<Option<Vec<_>>>();
            let cells = cells.ok_or_else(|| Unsupported::form(values, "write constants"))?;
            columns.push((format!("column{}", place + 1), kind.unwrap_or(Type::Text), cells));
        }
        // The order of rows is no part of the question.
        let mut rows: Vec<usize> = (0..values.rows.len()).collect();
        rows.sort_by_cached_key(|row| {
            columns.iter().map(|(.., cells)| cells[*row].clone()).collect::<Vec<_>>()
        });
        for (.., cells) in &mut columns {
            *cells = rows.iter().map(|row| cells[*row].clone()).collect();
        }
        Ok(inline(columns, None))
    }

    /// The rows of `generate_series` with constants.
    pub(crate) fn series(&self, args: &ast::TableFunctionArgs) -> Result<Relation<'a>, SqlError> {
        let wrong = || {
            no(
                "generate_series of anything else than constants",
                "write generate_series(1, 12), or generate_series(DATE '2024-01-01', DATE \
                 '2024-12-31', INTERVAL '1 day')",
            )
        };
        let arguments = args.args.iter().map(|argument| match argument {
            ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(expr)) => Ok(expr),
            _ => Err(wrong()),
        });
        let arguments = arguments.collect::<Result<Vec<_>, _>>()?;
        let (first, last, step) = match arguments[..] {
            [first, last] if args.settings.is_none() => (first, last, None),
            [first, last, step] if args.settings.is_none() => (first, last, Some(step)),
            _ => return Err(wrong()),
        };
        let ends = [first, last].map(|end| Ok((self.constant(end)?, short(end))));
        let [first, last]: [Result<_, SqlError>; 2] = ends;
        let (ends, kind) = one_type(vec![first?, last?])?;
        let ends: Vec<Value> = ends.into_iter().filter_map(value).collect();
        let interval = step.map(series_step).transpose()?.flatten();
        let step = match (step, interval) {
            (Some(step), None) => value(self.constant(step)?.expr),
            _ => Some(Value::Int(1)),
        };
        let next: Box<dyn Fn(&Value) -> Value> = match (kind, interval, step) {
            (Some(Type::Int), None, Some(Value::Int(step))) if step != 0 => {
                Box::new(move |value| match value {
                    Value::Int(value) => value.checked_add(step).map_or(Value::Null, Value::Int),
                    _ => Value::Null,
                })
            }
            (Some(Type::Date | Type::Timestamp), Some((months, micros)), _) => {
                Box::new(move |value| {
                    let moment = Box::new(Expr::Literal(value.clone()));
                    evaluate(&Expr::Shift { moment, months, micros }, &|_| Value::Null)
                })
            }
            _ => return Err(wrong()),
        };
        // A series of days is one of moments, as in PostgreSQL.
        let moments = |value: Value| match value {
            value @ Value::Date(_) => crate::cast(value, Type::Timestamp),
            value => value,
        };
        let mut ends = ends.into_iter().map(moments);
        let (Some(first), Some(last), None) = (ends.next(), ends.next(), ends.next()) else {
            return Err(wrong());
        };
        let upwards = next(&first) > first;
        let (mut cells, mut here) = (Vec::new(), first);
        while here != Value::Null && if upwards { here <= last } else { here >= last } {
            let following = next(&here);
            if cells.len() == MOST || following == here {
                return Err(LimitError::Series { most: MOST }.into());
            }
            cells.push(std::mem::replace(&mut here, following));
        }
        let kind = cells.first().and_then(Value::kind).unwrap_or(Type::Int);
        cells.sort();
        let name = "generate_series".to_owned();
        Ok(inline(vec![(name.clone(), kind, cells)], Some(&name)))
    }

    fn constant(&self, expr: &ast::Expr) -> Result<Bound, SqlError> {
        let nothing = inline(Vec::new(), None);
        let binder = Binder {
            rows: &nothing,
            aggregates: None,
            totals: None,
            aliases: &[],
            clause: "VALUES",
            usage: self.usage,
            parameters: self.parameters,
        };
        binder.bind(expr)?.canonical()
    }
}

/// The value of a constant.
fn value(expr: Expr) -> Option<Value> {
    match canonical(expr) {
        Expr::Literal(value) => Some(value),
        _ => None,
    }
}

/// A table of columns with these values.
fn inline<'a>(columns: Vec<(String, Type, Vec<Value>)>, of: Option<&str>) -> Relation<'a> {
    let field = |(name, kind, _): &(String, Type, Vec<Value>)| Field {
        of: of.map(str::to_owned),
        ..Field::new(name.clone(), Bound::new(Expr::Column(name.clone()), *kind))
    };
    let fields = columns.iter().map(field).collect();
    let column = |(name, kind, cells): &(String, Type, Vec<Value>)| Column {
        name: name.clone(),
        kind: Some(*kind),
        bounds: None,
        values: Some(cells.iter().cloned().collect::<BTreeSet<_>>().into_iter().collect()),
    };
    let table = Table {
        name: NAME.to_owned(),
        columns: columns.iter().map(column).collect(),
        protection: Protection::Public,
    };
    let cells = columns.into_iter().map(|(.., cells)| cells).collect();
    Relation {
        table: Cow::Owned(table),
        rows: None,
        inline: Some(Rc::new(cells)),
        unique: None,
        passes: 0,
        filter: Vec::new(),
        fields,
        copies: Vec::new(),
        same_unit: Vec::new(),
        parts: UnitParts::default(),
    }
}
