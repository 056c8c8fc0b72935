//! Columns in canonical form: one Arrow type for each of eke's types, no NaN, no negative zero.
//!
//! Everything that is computed on rows is computed on these. What a file holds is brought into this
//! form when it is read; what cannot be is NULL.

pub(crate) mod arrays;
pub(crate) mod encoding;
pub(crate) mod expr;
pub(crate) mod grid_rounding;
pub(crate) mod listed;
pub(crate) mod lower;
pub(crate) mod parse;
pub(crate) mod parts;

use std::sync::Arc;

use arrow_array::builder::StringViewBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType,
};
use arrow_array::{
    Array, ArrayRef, BinaryViewArray, BooleanArray, Date32Array, Float64Array, Int64Array,
    StringViewArray, TimestampMicrosecondArray,
};
use arrow_buffer::i256;
use arrow_schema::{DataType, TimeUnit};
use eke_sql::scalar::Datum;
use eke_sql::{MAX_TEXT, Type, Value, scalar};

use crate::data::footer::Cells;
use crate::rows::column::parse::ColumnBuilder;

/// A column of one of eke's types.
#[derive(Clone)]
pub(crate) enum Column {
    Bool(BooleanArray),
    Int(Int64Array),
    Float(Float64Array),
    Text(StringViewArray),
    Date(Date32Array),
    Timestamp(TimestampMicrosecondArray),
}

/// The type that an Arrow type is read as; none if eke has no such type.
pub(crate) fn type_of(arrow: &DataType) -> Option<Type> {
    Some(match arrow {
        DataType::Boolean => Type::Bool,
        DataType::Dictionary(_, values) => return type_of(values),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Type::Text,
        DataType::Date32 | DataType::Date64 => Type::Date,
        DataType::Timestamp(..) => Type::Timestamp,
        arrow if arrow.is_integer() => Type::Int,
        arrow if arrow.is_floating() || arrow.is_decimal() => Type::Float,
        _ => return None,
    })
}

impl Column {
    /// An Arrow array as a column; none if it is of another type. A text is read as any type (CSV).
    pub(crate) fn read(array: &ArrayRef, kind: Type) -> Option<Self> {
        let arrow = array.data_type();
        if let DataType::Dictionary(..) = arrow {
            return Self::read(&arrays::plain(array)?, kind);
        }
        if *arrow == DataType::Null {
            return Some(Self::nulls(kind, array.len()));
        }
        if type_of(arrow)? == Type::Text && kind != Type::Text {
            let text = Self::read(array, Type::Text)?;
            return Some(text.cast(kind));
        }
        if type_of(arrow)? != kind {
            return None;
        }
        Some(match kind {
            Type::Bool => Self::Bool(array.as_boolean_opt()?.clone()),
            Type::Int => Self::Int(arrays::ints(array)?),
            Type::Float => {
                let floats = arrays::floats(array)?;
                // Most columns are in order, and stay as they are.
                let in_order = |value: &f64| !value.is_nan() && value.to_bits() != 1 << 63;
                Self::Float(if floats.values().iter().all(in_order) {
                    floats
                } else {
                    floats.iter().map(|value| scalar::float(value?)).collect()
                })
            }
            Type::Text => Self::Text(arrays::texts(array)?),
            Type::Date => Self::Date(match arrow {
                DataType::Date32 => array.as_primitive_opt()?.clone(),
                _ => array
                    .as_primitive_opt::<Date64Type>()?
                    .iter()
                    .map(|millis| i32::try_from(millis?.div_euclid(86_400_000)).ok())
                    .collect(),
            }),
            Type::Timestamp => Self::Timestamp(match arrow {
                DataType::Timestamp(TimeUnit::Second, _) => array
                    .as_primitive_opt::<TimestampSecondType>()?
                    .iter()
                    .map(|seconds| seconds?.checked_mul(1_000_000))
                    .collect(),
                DataType::Timestamp(TimeUnit::Millisecond, _) => array
                    .as_primitive_opt::<TimestampMillisecondType>()?
                    .iter()
                    .map(|millis| millis?.checked_mul(1_000))
                    .collect(),
                DataType::Timestamp(TimeUnit::Microsecond, _) => array
                    .as_primitive_opt::<TimestampMicrosecondType>()?
                    .clone()
                    .with_timezone_opt(None::<Arc<str>>),
                _ => array
                    .as_primitive_opt::<TimestampNanosecondType>()?
                    .iter()
                    .map(|nanos| Some(nanos?.div_euclid(1_000)))
                    .collect(),
            }),
        })
    }

    /// The cells of a Parquet file as a column; none if they are of another type. A cell that is
    /// damaged is NULL.
    pub(crate) fn of_cells(array: &ArrayRef, cells: &Cells, kind: Type) -> Option<Self> {
        match cells {
            Cells::Arrow(_) => Self::read(array, kind),
            Cells::Int96 => Self::read(array, kind).filter(|_| kind == Type::Timestamp),
            Cells::Text => {
                let texts = match array.as_binary_opt::<i32>() {
                    Some(list) => texts(&list.into()),
                    None => texts(array.as_binary_view_opt()?),
                };
                Some(Self::Text(texts).cast(kind))
            }
            Cells::Decimal(scale) if kind == Type::Float => {
                let one = 10f64.powi((*scale).into());
                let float = |cell: &[u8]| scalar::float(close(wide(cell)?) / one);
                let cells = array.as_binary_view_opt()?;
                Some(Self::Float(cells.iter().map(|cell| float(cell?)).collect()))
            }
            Cells::Decimal(_) => None,
        }
    }

    /// A column of `rows` NULLs.
    pub(crate) fn nulls(kind: Type, rows: usize) -> Self {
        match kind {
            Type::Bool => Self::Bool(BooleanArray::new_null(rows)),
            Type::Int => Self::Int(Int64Array::new_null(rows)),
            Type::Float => Self::Float(Float64Array::new_null(rows)),
            Type::Text => Self::Text(StringViewArray::new_null(rows)),
            Type::Date => Self::Date(Date32Array::new_null(rows)),
            Type::Timestamp => Self::Timestamp(TimestampMicrosecondArray::new_null(rows)),
        }
    }

    /// A value, `rows` times; none if it is NULL, which has no type.
    pub(crate) fn constant(value: &Value, rows: usize) -> Option<Self> {
        Some(match value {
            Value::Null => return None,
            Value::Bool(value) => Self::Bool(vec![*value; rows].into()),
            Value::Int(value) => Self::Int(Int64Array::from_value(*value, rows)),
            Value::Float(value) => match scalar::float(*value) {
                Some(value) => Self::Float(Float64Array::from_value(value, rows)),
                None => Self::nulls(Type::Float, rows),
            },
            Value::Text(value) => {
                let mut builder = StringViewBuilder::with_capacity(rows).with_deduplicate_strings();
                (0..rows).for_each(|_| builder.append_value(scalar::cut(value)));
                Self::Text(builder.finish())
            }
            Value::Date(value) => Self::Date(Date32Array::from_value(*value, rows)),
            Value::Timestamp(value) => {
                Self::Timestamp(TimestampMicrosecondArray::from_value(*value, rows))
            }
        })
    }

    pub(crate) fn kind(&self) -> Type {
        match self {
            Self::Bool(_) => Type::Bool,
            Self::Int(_) => Type::Int,
            Self::Float(_) => Type::Float,
            Self::Text(_) => Type::Text,
            Self::Date(_) => Type::Date,
            Self::Timestamp(_) => Type::Timestamp,
        }
    }

    pub(crate) fn array(&self) -> &dyn Array {
        match self {
            Self::Bool(array) => array,
            Self::Int(array) => array,
            Self::Float(array) => array,
            Self::Text(array) => array,
            Self::Date(array) => array,
            Self::Timestamp(array) => array,
        }
    }

    /// Some of its rows.
    pub(crate) fn slice(&self, from: usize, count: usize) -> Self {
        match self {
            Self::Bool(array) => Self::Bool(array.slice(from, count)),
            Self::Int(array) => Self::Int(array.slice(from, count)),
            Self::Float(array) => Self::Float(array.slice(from, count)),
            Self::Text(array) => Self::Text(array.slice(from, count)),
            Self::Date(array) => Self::Date(array.slice(from, count)),
            Self::Timestamp(array) => Self::Timestamp(array.slice(from, count)),
        }
    }

    pub(crate) fn into_array(self) -> ArrayRef {
        let array = self.array();
        array.slice(0, array.len())
    }

    /// The same with texts that end where texts end.
    pub(crate) fn cut(&self) -> Self {
        match self {
            Self::Text(array) if longest(array) > MAX_TEXT => {
                Self::Text(array.iter().map(|text| text.map(scalar::cut)).collect())
            }
            other => other.clone(),
        }
    }

    /// The same as what tells units apart: a text that is longer than texts are keeps its start,
    /// and is followed by a digest of all of it. So it is longer than all that are not, and no two
    /// are the same but by a collision of BLAKE3.
    pub(crate) fn identity(&self) -> Self {
        match self {
            Self::Text(array) if longest(array) > MAX_TEXT => {
                text(array.iter().map(|id| id.map(identity)))
            }
            other => other.clone(),
        }
    }

    #[inline]
    pub(crate) fn is_null(&self, row: usize) -> bool {
        match self {
            Self::Bool(array) => array.is_null(row),
            Self::Int(array) => array.is_null(row),
            Self::Float(array) => array.is_null(row),
            Self::Text(array) => array.is_null(row),
            Self::Date(array) => array.is_null(row),
            Self::Timestamp(array) => array.is_null(row),
        }
    }

    /// The value of a row. For few rows: answers' keys, and tests.
    pub(crate) fn value(&self, row: usize) -> Value {
        if self.is_null(row) {
            return Value::Null;
        }
        match self {
            Self::Bool(array) => Value::Bool(array.value(row)),
            Self::Int(array) => Value::Int(array.value(row)),
            Self::Float(array) => Value::float(array.value(row)),
            Self::Text(array) => Value::Text(array.value(row).to_owned()),
            Self::Date(array) => Value::Date(array.value(row)),
            Self::Timestamp(array) => Value::Timestamp(array.value(row)),
        }
    }

    /// The value of a row, where it is; none for NULL.
    pub(crate) fn datum(&self, row: usize) -> Option<Datum<'_>> {
        if self.is_null(row) {
            return None;
        }
        Some(match self {
            Self::Bool(array) => Datum::Bool(array.value(row)),
            Self::Int(array) => Datum::Int(array.value(row)),
            Self::Float(array) => Datum::Float(array.value(row)),
            Self::Text(array) => Datum::Text(array.value(row)),
            Self::Date(array) => Datum::Date(array.value(row)),
            Self::Timestamp(array) => Datum::Timestamp(array.value(row)),
        })
    }

    /// The column as another type, as `cast` says.
    pub(crate) fn cast(self, to: Type) -> Self {
        let rows = self.array().len();
        match (self, to) {
            (column, to) if column.kind() == to => column,
            (Self::Bool(a), Type::Int) => Self::Int(a.iter().map(|v| v.map(i64::from)).collect()),
            (Self::Bool(a), Type::Float) => {
                Self::Float(a.iter().map(|v| v.map(|v| f64::from(u8::from(v)))).collect())
            }
            (Self::Bool(a), Type::Text) => {
                Self::Text(a.iter().map(|v| v.map(|v| if v { "true" } else { "false" })).collect())
            }
            (Self::Int(a), Type::Bool) => Self::Bool(a.iter().map(|v| v.map(|v| v != 0)).collect()),
            (Self::Int(a), Type::Float) => {
                Self::Float(a.iter().map(|v| v.map(scalar::float_of_int)).collect())
            }
            (Self::Int(a), Type::Text) => text(a.iter().map(|v| v.map(|v| v.to_string()))),
            (Self::Float(a), Type::Int) => {
                Self::Int(a.iter().map(|v| scalar::int_of_float(v?)).collect())
            }
            (Self::Float(a), Type::Bool) => {
                Self::Bool(a.iter().map(|v| v.map(|v| v.abs() > 0.0)).collect())
            }
            (Self::Float(a), Type::Text) => text(a.iter().map(|v| v.map(|v| v.to_string()))),
            (Self::Text(a), to) => {
                let mut builder = ColumnBuilder::new(to, rows);
                a.iter().for_each(|text| builder.append(text));
                builder.finish()
            }
            (Self::Date(a), Type::Text) => text(a.iter().map(|v| scalar::date_to_text(v?.into()))),
            (Self::Date(a), Type::Timestamp) => {
                Self::Timestamp(a.iter().map(|v| scalar::midnight(v?)).collect())
            }
            (Self::Timestamp(a), Type::Text) => {
                text(a.iter().map(|v| scalar::timestamp_to_text(v?)))
            }
            (Self::Timestamp(a), Type::Date) => {
                Self::Date(a.iter().map(|v| scalar::day_of(v?)).collect())
            }
            // What has no meaning has no value: a day as a number, a number as a day.
            (_, to) => Self::nulls(to, rows),
        }
    }
}

/// How many bytes the longest text has.
fn longest(array: &StringViewArray) -> usize {
    array.lengths().max().map_or(0, |length| length as usize)
}

pub(crate) fn identity(id: &str) -> String {
    if id.len() <= MAX_TEXT {
        return id.to_owned();
    }
    // The start may be a few bytes short of the most, which the digest makes up for.
    format!("{}{}", scalar::cut(id), blake3::hash(id.as_bytes()).to_hex())
}

/// Texts, or NULLs, as a column.
pub(crate) fn text(values: impl Iterator<Item = Option<String>>) -> Column {
    let mut builder = StringViewBuilder::new();
    values.for_each(|value| builder.append_option(value));
    Column::Text(builder.finish())
}

/// Bytes as texts; those that are not UTF-8 are NULL.
fn texts(cells: &BinaryViewArray) -> StringViewArray {
    cells.clone().to_string_view().unwrap_or_else(|_| {
        let mut builder = StringViewBuilder::with_capacity(cells.len());
        for cell in cells {
            builder.append_option(cell.and_then(|cell| std::str::from_utf8(cell).ok()));
        }
        builder.finish()
    })
}

/// A whole number, the highest byte first; none if it is too long.
pub(crate) fn wide(bytes: &[u8]) -> Option<i256> {
    let sign = if bytes.first()? & 0x80 == 0 { 0 } else { 0xff };
    let mut all = [sign; 32];
    let from = all.len().checked_sub(bytes.len())?;
    all[from..].copy_from_slice(bytes);
    Some(i256::from_be_bytes(all))
}

/// The nearest double, or one beside it.
fn close(number: i256) -> f64 {
    let narrow = number.as_i128();
    if i256::from_i128(narrow) == number {
        return narrow as f64;
    }
    let (low, high) = number.to_parts();
    high as f64 * 2f64.powi(128) + low as f64
}
