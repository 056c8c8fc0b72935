//! Columns that are built from texts, cell by cell.
//!
//! A text is read as `cast` says, by the same functions.

use arrow_array::builder::{
    BooleanBuilder, Date32Builder, Float64Builder, Int64Builder, StringViewBuilder,
    TimestampMicrosecondBuilder,
};
use eke_sql::{Type, scalar};

use crate::rows::column::Column;

/// A column that is being built from texts.
pub(crate) enum ColumnBuilder {
    Bool(BooleanBuilder),
    Int(Int64Builder),
    Float(Float64Builder),
    Text(StringViewBuilder),
    Date(Date32Builder),
    Timestamp(TimestampMicrosecondBuilder),
}

impl ColumnBuilder {
    pub(crate) fn new(kind: Type, rows: usize) -> Self {
        match kind {
            Type::Bool => Self::Bool(BooleanBuilder::with_capacity(rows)),
            Type::Int => Self::Int(Int64Builder::with_capacity(rows)),
            Type::Float => Self::Float(Float64Builder::with_capacity(rows)),
            Type::Text => Self::Text(StringViewBuilder::with_capacity(rows)),
            Type::Date => Self::Date(Date32Builder::with_capacity(rows)),
            Type::Timestamp => Self::Timestamp(TimestampMicrosecondBuilder::with_capacity(rows)),
        }
    }

    /// Appends what a text is read as; NULL if it is no value of the column's type.
    pub(crate) fn append(&mut self, text: Option<&str>) {
        match self {
            Self::Bool(builder) => builder.append_option(text.and_then(scalar::truth_of_text)),
            Self::Int(builder) => builder.append_option(text.and_then(scalar::int_of_text)),
            Self::Float(builder) => {
                let float = text.and_then(scalar::float_of_text).and_then(scalar::float);
                builder.append_option(float);
            }
            Self::Text(builder) => builder.append_option(text),
            Self::Date(builder) => builder.append_option(text.and_then(scalar::date_of_text)),
            Self::Timestamp(builder) => {
                builder.append_option(text.and_then(scalar::timestamp_of_text));
            }
        }
    }

    pub(crate) fn finish(mut self) -> Column {
        match &mut self {
            Self::Bool(builder) => Column::Bool(builder.finish()),
            Self::Int(builder) => Column::Int(builder.finish()),
            Self::Float(builder) => Column::Float(builder.finish()),
            Self::Text(builder) => Column::Text(builder.finish()),
            Self::Date(builder) => Column::Date(builder.finish()),
            Self::Timestamp(builder) => Column::Timestamp(builder.finish()),
        }
    }
}
