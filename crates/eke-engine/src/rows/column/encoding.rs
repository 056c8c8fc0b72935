//! The bytes of values: what groups are named by where they are hashed and stored.
//!
//! The encoding of a value says where it ends, so that one after another is never read as something
//! else: lists of as many values are equal if and only if their bytes are. It may never change:
//! which groups a unit keeps follows from it, and answers that were paid for depend on that.
//!
//! | value | bytes |
//! |---|---|
//! | NULL | 0 |
//! | bool | 1, then 0 or 1 |
//! | int, timestamp | 2 or 6, then 8, the least first |
//! | float | 3, then the 8 of its IEEE form, the least first |
//! | text | 4, its length, its bytes |
//! | date | 5, then 4, the least first |
//!
//! A length is written in groups of seven bits, the least first; the eighth bit is set if more
//! follow.

use arrow_array::builder::{
    BooleanBuilder, Date32Builder, Float64Builder, Int64Builder, StringViewBuilder,
    TimestampMicrosecondBuilder,
};
use arrow_array::{Array, ArrayRef};
use eke_sql::{Type, Value};
use std::sync::Arc;

use crate::rows::column::Column;

/// Appends the value of a row.
pub(crate) fn push(column: &Column, row: usize, bytes: &mut Vec<u8>) {
    if column.is_null(row) {
        bytes.push(0);
        return;
    }
    match column {
        Column::Bool(array) => bytes.extend([1, u8::from(array.value(row))]),
        Column::Int(array) => push_eight(2, array.value(row).to_le_bytes(), bytes),
        Column::Float(array) => push_eight(3, (array.value(row) + 0.0).to_le_bytes(), bytes),
        Column::Text(array) => push_text(array.value(row), bytes),
        Column::Date(array) => {
            bytes.push(5);
            bytes.extend(array.value(row).to_le_bytes());
        }
        Column::Timestamp(array) => push_eight(6, array.value(row).to_le_bytes(), bytes),
    }
}

/// Appends a value.
pub(crate) fn push_value(value: &Value, bytes: &mut Vec<u8>) {
    match value {
        Value::Null => bytes.push(0),
        Value::Bool(value) => bytes.extend([1, u8::from(*value)]),
        Value::Int(value) => push_eight(2, value.to_le_bytes(), bytes),
        Value::Float(value) => push_eight(3, (value + 0.0).to_le_bytes(), bytes),
        Value::Text(value) => push_text(value, bytes),
        Value::Date(value) => {
            bytes.push(5);
            bytes.extend(value.to_le_bytes());
        }
        Value::Timestamp(value) => push_eight(6, value.to_le_bytes(), bytes),
    }
}

/// Appends the values of all rows, and where each ends: what [`push`] appends row by row.
pub(crate) fn push_all(column: &Column, bytes: &mut Vec<u8>, ends: &mut Vec<usize>) {
    let rows = column.array().len();
    ends.reserve(rows);
    let mut eights = |tag, values: &mut dyn Iterator<Item = [u8; 8]>| {
        bytes.reserve(rows * 9);
        for value in values {
            push_eight(tag, value, bytes);
            ends.push(bytes.len());
        }
    };
    match column {
        Column::Int(array) if array.null_count() == 0 => {
            eights(2, &mut array.values().iter().map(|value| value.to_le_bytes()));
        }
        Column::Timestamp(array) if array.null_count() == 0 => {
            eights(6, &mut array.values().iter().map(|value| value.to_le_bytes()));
        }
        _ => {
            for row in 0..rows {
                push(column, row, bytes);
                ends.push(bytes.len());
            }
        }
    }
}

#[inline]
fn push_eight(tag: u8, value: [u8; 8], bytes: &mut Vec<u8>) {
    let mut name = [tag; 9];
    name[1..].copy_from_slice(&value);
    bytes.extend_from_slice(&name);
}

fn push_text(text: &str, bytes: &mut Vec<u8>) {
    bytes.push(4);
    let mut length = text.len();
    while length >= 0x80 {
        #[expect(clippy::cast_possible_truncation, reason = "seven bits")]
        bytes.push((length & 0x7f) as u8 | 0x80);
        length >>= 7;
    }
    #[expect(clippy::cast_possible_truncation, reason = "less than 128")]
    bytes.push(length as u8);
    bytes.extend_from_slice(text.as_bytes());
}

/// Columns that are built from bytes.
pub(crate) enum Builder {
    Bool(BooleanBuilder),
    Int(Int64Builder),
    Float(Float64Builder),
    Text(StringViewBuilder),
    Date(Date32Builder),
    Timestamp(TimestampMicrosecondBuilder),
}

impl Builder {
    pub(crate) fn new(kind: Type, rows: usize) -> Self {
        match kind {
            Type::Bool => Self::Bool(BooleanBuilder::with_capacity(rows)),
            Type::Int => Self::Int(Int64Builder::with_capacity(rows)),
            Type::Float => Self::Float(Float64Builder::with_capacity(rows)),
            // Keys occur again and again: their text is stored once.
            Type::Text => {
                Self::Text(StringViewBuilder::with_capacity(rows).with_deduplicate_strings())
            }
            Type::Date => Self::Date(Date32Builder::with_capacity(rows)),
            Type::Timestamp => Self::Timestamp(TimestampMicrosecondBuilder::with_capacity(rows)),
        }
    }

    /// Takes a value off the start of the bytes and appends it; none if there is no such value.
    pub(crate) fn take(&mut self, bytes: &mut &[u8]) -> Option<()> {
        let tag = take::<1>(bytes)?[0];
        match (self, tag) {
            (Self::Bool(builder), 0) => builder.append_null(),
            (Self::Int(builder), 0) => builder.append_null(),
            (Self::Float(builder), 0) => builder.append_null(),
            (Self::Text(builder), 0) => builder.append_null(),
            (Self::Date(builder), 0) => builder.append_null(),
            (Self::Timestamp(builder), 0) => builder.append_null(),
            (Self::Bool(builder), 1) => builder.append_value(take::<1>(bytes)?[0] == 1),
            (Self::Int(builder), 2) => builder.append_value(i64::from_le_bytes(take(bytes)?)),
            (Self::Float(builder), 3) => builder.append_value(f64::from_le_bytes(take(bytes)?)),
            (Self::Text(builder), 4) => {
                let (mut length, mut shift) = (0usize, 0);
                loop {
                    let byte = take::<1>(bytes)?[0];
                    length |= usize::from(byte & 0x7f).checked_shl(shift)?;
                    shift += 7;
                    if byte & 0x80 == 0 {
                        break;
                    }
                }
                let (text, rest) = bytes.split_at_checked(length)?;
                *bytes = rest;
                builder.append_value(std::str::from_utf8(text).ok()?);
            }
            (Self::Date(builder), 5) => builder.append_value(i32::from_le_bytes(take(bytes)?)),
            (Self::Timestamp(builder), 6) => builder.append_value(i64::from_le_bytes(take(bytes)?)),
            _ => return None,
        }
        Some(())
    }

    pub(crate) fn finish(self) -> ArrayRef {
        match self {
            Self::Bool(mut builder) => Arc::new(builder.finish()),
            Self::Int(mut builder) => Arc::new(builder.finish()),
            Self::Float(mut builder) => Arc::new(builder.finish()),
            Self::Text(mut builder) => Arc::new(builder.finish()),
            Self::Date(mut builder) => Arc::new(builder.finish()),
            Self::Timestamp(mut builder) => Arc::new(builder.finish()),
        }
    }
}

/// Takes `N` bytes off the start.
pub(crate) fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_from_their_bytes_and_stop_where_they_end() {
        let texts = ["", "a", &"x".repeat(127), &"y".repeat(128), &"é".repeat(9_000)];
        let mut values = vec![
            Value::Null,
            Value::Bool(false),
            Value::Bool(true),
            Value::Int(i64::MIN),
            Value::Int(0),
            Value::Float(f64::NEG_INFINITY),
            Value::Float(1.5),
            Value::Date(-1),
            Value::Timestamp(i64::MAX),
        ];
        values.extend(texts.iter().map(|text| Value::Text((*text).to_owned())));
        let mut all = std::collections::BTreeSet::new();
        for value in &values {
            let mut bytes = Vec::new();
            push_value(value, &mut bytes);
            assert!(all.insert(bytes.clone()), "{value:?}");
            for kind in
                [Type::Bool, Type::Int, Type::Float, Type::Text, Type::Date, Type::Timestamp]
            {
                if value.kind().is_some_and(|other| other != kind) {
                    continue;
                }
                let mut more = [&bytes[..], &[9, 9]].concat();
                let mut rest = &more[..];
                let mut builder = Builder::new(kind, 1);
                builder.take(&mut rest).unwrap();
                assert_eq!(rest, [9, 9]);
                let column = Column::read(&builder.finish(), kind).unwrap();
                assert_eq!(column.value(0), *value);
                let mut again = Vec::new();
                push(&column, 0, &mut again);
                assert_eq!(again, bytes);
                // Cut short, it is no value.
                more.truncate(bytes.len() - 1);
                assert!(Builder::new(kind, 1).take(&mut &more[..]).is_none());
            }
        }
    }
}
