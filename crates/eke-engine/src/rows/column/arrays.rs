//! Arrow's types, read as the few that eke computes with.
//!
//! Arrow's own kernels for this know every pair of its types, and take longer to compile than all
//! that is left of eke's reading of rows.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    Float16Type, Float32Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, Int64Array, StringViewArray};
use arrow_buffer::{BooleanBuffer, NullBuffer, i256};
use arrow_schema::{DataType, TimeUnit};
use arrow_select::take::take;

use crate::rows::column::close;

/// The values of a dictionary's rows.
pub(crate) fn plain(array: &ArrayRef) -> Option<ArrayRef> {
    let dictionary = array.as_any_dictionary_opt()?;
    take(dictionary.values(), dictionary.keys(), None).ok()
}

/// Whole numbers; what is too large is NULL.
pub(crate) fn ints(array: &ArrayRef) -> Option<Int64Array> {
    Some(match array.data_type() {
        DataType::Int8 => array.as_primitive::<Int8Type>().unary(i64::from),
        DataType::Int16 => array.as_primitive::<Int16Type>().unary(i64::from),
        DataType::Int32 => array.as_primitive::<Int32Type>().unary(i64::from),
        DataType::Int64 => array.as_primitive::<Int64Type>().clone(),
        DataType::UInt8 => array.as_primitive::<UInt8Type>().unary(i64::from),
        DataType::UInt16 => array.as_primitive::<UInt16Type>().unary(i64::from),
        DataType::UInt32 => array.as_primitive::<UInt32Type>().unary(i64::from),
        DataType::UInt64 => {
            array.as_primitive::<UInt64Type>().unary_opt(|value| i64::try_from(value).ok())
        }
        _ => return None,
    })
}

/// The numbers that stand for times.
pub(crate) fn ticks(array: &ArrayRef) -> Option<Int64Array> {
    fn of<T: ArrowPrimitiveType<Native = i64>>(array: &ArrayRef) -> Int64Array {
        array.as_primitive::<T>().reinterpret_cast()
    }
    Some(match array.data_type() {
        DataType::Date64 => of::<Date64Type>(array),
        DataType::Timestamp(TimeUnit::Second, _) => of::<TimestampSecondType>(array),
        DataType::Timestamp(TimeUnit::Millisecond, _) => of::<TimestampMillisecondType>(array),
        DataType::Timestamp(TimeUnit::Microsecond, _) => of::<TimestampMicrosecondType>(array),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => of::<TimestampNanosecondType>(array),
        _ => return None,
    })
}

/// Doubles, not in canonical form yet.
pub(crate) fn floats(array: &ArrayRef) -> Option<Float64Array> {
    if let Some((decimals, scale)) = decimals(array) {
        let one = 10f64.powi(scale.into());
        return Some(decimals.into_iter().map(|decimal| Some(close(decimal?) / one)).collect());
    }
    Some(match array.data_type() {
        DataType::Float16 => array.as_primitive::<Float16Type>().unary(f64::from),
        DataType::Float32 => array.as_primitive::<Float32Type>().unary(f64::from),
        DataType::Float64 => array.as_primitive().clone(),
        _ => return None,
    })
}

/// Decimals as whole numbers, and how many of their digits are behind the point.
pub(crate) fn decimals(array: &ArrayRef) -> Option<(Vec<Option<i256>>, i8)> {
    fn of<T: ArrowPrimitiveType>(
        array: &ArrayRef,
        wide: fn(T::Native) -> i256,
    ) -> Vec<Option<i256>> {
        array.as_primitive::<T>().iter().map(|decimal| decimal.map(wide)).collect()
    }
    Some(match *array.data_type() {
        DataType::Decimal32(_, scale) => (of::<Decimal32Type>(array, i256::from), scale),
        DataType::Decimal64(_, scale) => (of::<Decimal64Type>(array, i256::from), scale),
        DataType::Decimal128(_, scale) => (of::<Decimal128Type>(array, i256::from_i128), scale),
        DataType::Decimal256(_, scale) => (of::<Decimal256Type>(array, |wide| wide), scale),
        _ => return None,
    })
}

/// Texts.
pub(crate) fn texts(array: &ArrayRef) -> Option<StringViewArray> {
    Some(match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().into(),
        DataType::LargeUtf8 => array.as_string::<i64>().into(),
        DataType::Utf8View => array.as_string_view().clone(),
        _ => return None,
    })
}

/// Which rows are true, and which are false; the others are NULL.
fn sides(array: &BooleanArray) -> (BooleanBuffer, BooleanBuffer) {
    let values = array.values();
    match array.nulls() {
        None => (values.clone(), !values),
        Some(known) => (values & known.inner(), &!values & known.inner()),
    }
}

fn known(is_true: BooleanBuffer, is_false: &BooleanBuffer) -> BooleanArray {
    let known = &is_true | is_false;
    BooleanArray::new(is_true, Some(NullBuffer::new(known)))
}

/// `a AND b`: false if one is, whatever the other is.
pub(crate) fn and(a: &BooleanArray, b: &BooleanArray) -> BooleanArray {
    let ((a, not_a), (b, not_b)) = (sides(a), sides(b));
    known(&a & &b, &(&not_a | &not_b))
}

/// `a OR b`: true if one is, whatever the other is.
pub(crate) fn or(a: &BooleanArray, b: &BooleanArray) -> BooleanArray {
    let ((a, not_a), (b, not_b)) = (sides(a), sides(b));
    known(&a | &b, &(&not_a & &not_b))
}

/// `NOT a`.
pub(crate) fn not(a: &BooleanArray) -> BooleanArray {
    BooleanArray::new(!a.values(), a.nulls().cloned())
}

/// Where it is true.
pub(crate) fn is_true(a: &BooleanArray) -> BooleanBuffer {
    sides(a).0
}

/// Where there is a value.
pub(crate) fn is_not_null(array: &dyn Array) -> BooleanBuffer {
    let nulls = array.logical_nulls();
    nulls.map_or_else(|| BooleanBuffer::new_set(array.len()), |nulls| nulls.inner().clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{
        Decimal128Array, DictionaryArray, Float32Array, Int8Array, LargeStringArray, StringArray,
        UInt64Array,
    };

    #[test]
    fn three_valued_logic_is_that_of_sql() {
        let all = [Some(true), Some(false), None];
        let (a, b): (Vec<_>, Vec<_>) =
            all.iter().flat_map(|a| all.iter().map(move |b| (*a, *b))).unzip();
        let columns = (BooleanArray::from(a.clone()), BooleanArray::from(b.clone()));
        let rows = || a.iter().copied().zip(b.iter().copied());
        let both = rows().map(|(a, b)| match (a, b) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        });
        let either = rows().map(|(a, b)| match (a, b) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        });
        assert_eq!(and(&columns.0, &columns.1), both.collect::<BooleanArray>());
        assert_eq!(or(&columns.0, &columns.1), either.collect::<BooleanArray>());
        let none = a.iter().map(|a| a.map(|a| !a));
        assert_eq!(not(&columns.0), none.collect::<BooleanArray>());
        // Of a part of a column, and where nothing is NULL.
        let part = columns.0.slice(2, 5);
        assert_eq!(and(&part, &columns.1.slice(2, 5)), and(&columns.0, &columns.1).slice(2, 5));
        let full = BooleanArray::from(vec![true, false]);
        assert_eq!(or(&full, &not(&full)), BooleanArray::from(vec![true, true]));
        assert_eq!(is_true(&columns.0).count_set_bits(), 3);
        assert_eq!(is_not_null(&columns.0).count_set_bits(), 6);
    }

    #[test]
    fn values_are_read_or_are_null() {
        let array = |array: &dyn Array| arrow_array::make_array(array.to_data());
        let small = Int8Array::from(vec![Some(-5), None]);
        assert_eq!(ints(&array(&small)), Some(Int64Array::from(vec![Some(-5), None])));
        let large = UInt64Array::from(vec![7, u64::MAX]);
        assert_eq!(ints(&array(&large)), Some(Int64Array::from(vec![Some(7), None])));
        assert_eq!(ints(&array(&StringArray::from(vec!["1"]))), None);
        let narrow = Float32Array::from(vec![Some(0.5), None]);
        assert_eq!(floats(&array(&narrow)), Some(Float64Array::from(vec![Some(0.5), None])));
        let decimals = Decimal128Array::from(vec![Some(-1250), None]);
        let decimals = decimals.with_precision_and_scale(9, 2).unwrap();
        assert_eq!(floats(&array(&decimals)), Some(Float64Array::from(vec![Some(-12.5), None])));
        let long = LargeStringArray::from(vec![Some("a text of more than twelve bytes"), None]);
        let views = StringViewArray::from(vec![Some("a text of more than twelve bytes"), None]);
        assert_eq!(texts(&array(&long)), Some(views));
        let words: DictionaryArray<Int8Type> =
            [Some("a"), None, Some("b"), Some("a")].into_iter().collect();
        let words = plain(&array(&words)).unwrap();
        let expected = StringViewArray::from(vec![Some("a"), None, Some("b"), Some("a")]);
        assert_eq!(texts(&words), Some(expected));
    }
}
