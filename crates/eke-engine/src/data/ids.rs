//! Ids of privacy units: which unit a row belongs to, read exactly or not at all.
//!
//! Two ids that are read as one would let two people add what one may, and one that is read as two
//! would be two people. So a unit column is not read as expressions read it (decimals as doubles,
//! times in microseconds): whole numbers, decimals, days and times keep all their digits, and
//! floats are refused.

use std::fmt::Write as _;

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_buffer::i256;
use arrow_schema::{DataType, TimeUnit};
use eke_sql::Type;
use serde::Serialize;

use crate::data::footer::Cells;
use crate::rows::column::{Column, arrays, wide};

/// What ids are read as. Files of one dataset must agree about it, and it is part of what paths are
/// found by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) enum Ids {
    /// As values of this type.
    Value(Type),
    /// Whole numbers without a sign, as digits.
    Unsigned,
    /// Decimals, as digits, without zeros at their end.
    Decimal,
    /// Days in milliseconds, as whole numbers.
    Milliseconds,
    /// Times as whole numbers, in the given number of parts of a second.
    Ticks(u32),
}

impl Ids {
    /// What the ids of a Parquet file are read as; none if they are not exact.
    pub(crate) fn of_cells(cells: &Cells) -> Option<Self> {
        match cells {
            Cells::Arrow(arrow) => Self::of_arrow(arrow),
            Cells::Text => Some(Self::Value(Type::Text)),
            Cells::Decimal(_) => Some(Self::Decimal),
            Cells::Int96 => None,
        }
    }

    fn of_arrow(arrow: &DataType) -> Option<Self> {
        Some(match arrow {
            DataType::UInt64 => Self::Unsigned,
            DataType::Date64 => Self::Milliseconds,
            DataType::Timestamp(TimeUnit::Second, _) => Self::Ticks(1),
            DataType::Timestamp(TimeUnit::Millisecond, _) => Self::Ticks(1_000),
            DataType::Timestamp(TimeUnit::Microsecond, _) => Self::Ticks(1_000_000),
            DataType::Timestamp(TimeUnit::Nanosecond, _) => Self::Ticks(1_000_000_000),
            arrow if arrow.is_decimal() => Self::Decimal,
            arrow if arrow.is_floating() => return None,
            arrow => Self::Value(crate::rows::column::type_of(arrow)?),
        })
    }

    /// What the ids of a CSV file are read as, by the type that its column is declared to have.
    pub(crate) fn of_text(declared: Type) -> Option<Self> {
        match declared {
            Type::Text | Type::Int | Type::Date | Type::Bool => Some(Self::Value(declared)),
            // Of two times that differ in their nanoseconds one would be left.
            Type::Float | Type::Timestamp => None,
        }
    }

    /// The type of the column that they become.
    pub(crate) fn kind(self) -> Type {
        match self {
            Self::Value(kind) => kind,
            Self::Unsigned | Self::Decimal => Type::Text,
            Self::Milliseconds | Self::Ticks(_) => Type::Int,
        }
    }

    /// Reads the ids of a Parquet file.
    pub(crate) fn read(self, array: &ArrayRef, cells: &Cells) -> Option<Column> {
        Some(match self {
            Self::Value(kind) => return Column::of_cells(array, cells, kind),
            Self::Unsigned => {
                let ids = array.as_primitive_opt::<UInt64Type>()?;
                crate::rows::column::text(ids.iter().map(|id| id.map(|id| id.to_string())))
            }
            Self::Decimal => decimals(array, cells)?,
            // The numbers that the file has.
            Self::Milliseconds | Self::Ticks(_) => Column::Int(arrays::ticks(array)?),
        })
    }
}

fn decimals(array: &ArrayRef, cells: &Cells) -> Option<Column> {
    let (ids, scale) = match cells {
        Cells::Decimal(scale) => {
            (array.as_binary_view_opt()?.iter().map(|id| wide(id?)).collect(), *scale)
        }
        _ => arrays::decimals(array)?,
    };
    Some(crate::rows::column::text(ids.into_iter().map(|id| Some(digits(id?, scale)))))
}

/// A decimal as a whole number and a power of ten: one text for one number, whatever its scale.
fn digits(id: i256, scale: i8) -> String {
    let whole = id.to_string();
    let short = whole.trim_end_matches('0');
    if short.is_empty() || short == "-" {
        return "0".to_owned();
    }
    let mut text = short.to_owned();
    let zeros = i64::try_from(whole.len() - short.len()).unwrap_or_default();
    let exponent = zeros - i64::from(scale);
    if exponent != 0 {
        let _ = write!(text, "e{exponent}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decimal_has_one_text_whatever_its_scale() {
        let text = |number: i128, scale| digits(i256::from_i128(number), scale);
        assert_eq!([text(0, 3), text(7, 0), text(-7, 0)], ["0", "7", "-7"]);
        assert_eq!(text(1250, 2), text(125, 1));
        assert_eq!(text(70, 0), text(7000, 2));
        assert_eq!([text(70, 0), text(125, 1), text(-100, -1)], ["7e1", "125e-1", "-1e3"]);
        let close = 9_007_199_254_740_993i128;
        assert_ne!(text(close, 0), text(close - 1, 0));
    }
}
