//! What the tests and benchmarks of this crate need of its inside. No part of the interface.

use eke_sql::{Expr, Type, Value};

use crate::column::Column;
use crate::lower::lower;

pub use crate::lower::LowerError;
pub use crate::rows::{Bounded, RowsError, RowsOptions, bounded, bounded_in_memory};
pub use crate::source::{Fingerprint, Source, SourceError};
pub use datafusion;
pub use datafusion::{arrow, parquet};

/// The values of an expression, row by row, and its type.
///
/// # Errors
/// The expression does not fit the columns.
pub fn compute(
    expr: &Expr,
    columns: &[(String, Type)],
    rows: &[Vec<Value>],
) -> Result<(Vec<Value>, Option<Type>), LowerError> {
    let (total, of) = lower(expr, columns)?;
    let arrays: Vec<Column> = columns
        .iter()
        .enumerate()
        .map(|(index, (_, of))| column(*of, rows.iter().map(|row| &row[index])))
        .collect();
    let column = total.compute(&arrays, rows.len());
    Ok(((0..rows.len()).map(|row| column.value(row)).collect(), of))
}

/// Values as an Arrow array; those of another type are NULL.
pub fn column_of<'a>(
    of: Type,
    values: impl IntoIterator<Item = &'a Value>,
) -> arrow::array::ArrayRef {
    column(of, values).into_array()
}

fn column<'a>(of: Type, values: impl IntoIterator<Item = &'a Value>) -> Column {
    let values = values.into_iter();
    match of {
        Type::Bool => Column::Bool(
            values.map(|v| if let Value::Bool(v) = v { Some(*v) } else { None }).collect(),
        ),
        Type::Int => Column::Int(
            values.map(|v| if let Value::Int(v) = v { Some(*v) } else { None }).collect(),
        ),
        Type::Float => Column::Float(
            values.map(|v| if let Value::Float(v) = v { Some(*v) } else { None }).collect(),
        ),
        Type::Text => Column::Text(
            values.map(|v| if let Value::Text(v) = v { Some(v) } else { None }).collect(),
        ),
        Type::Date => Column::Date(
            values.map(|v| if let Value::Date(v) = v { Some(*v) } else { None }).collect(),
        ),
        Type::Timestamp => Column::Timestamp(
            values.map(|v| if let Value::Timestamp(v) = v { Some(*v) } else { None }).collect(),
        ),
    }
}
