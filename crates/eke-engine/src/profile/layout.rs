//! What a profile has histograms of, and which cell of each a unit is in.
//!
//! The layout follows from the schema and the policy alone. A unit is in exactly one cell of each
//! histogram, and which one is a function of its own rows. All powers of two are bins, so nothing
//! need be known beforehand: bin j of a count has those above 2^(j-1) and up to 2^j.
//!
//! | histogram | its cells |
//! |---|---|
//! | rows | 33: 1, 2, up to 4, …, up to 2^31 rows, and more |
//! | a key's groups | 18: 1, 2, up to 4, …, up to 2^16 different values, and more |
//! | a column's values | 33 bins of the unit's rows × 194 of the value of one row of it |
//!
//! The 194 are NULL, zero, and 96 powers of two on either side of zero: up to 2^-31, …, up to 2^63,
//! and beyond. Ledgers outlive code: none of this may ever change under the same identity.

use eke_sql::Type;
use serde::{Deserialize, Serialize};

use crate::rows::column::Column;

/// How many bins rows have.
pub(crate) const ROW_BINS: usize = 33;
/// How many bins groups have.
pub(crate) const GROUP_BINS: usize = 18;
/// How many bins values have.
pub(crate) const VALUE_BINS: usize = 2 + 2 * POWERS;
/// How many powers of two there are on each side of zero.
const POWERS: usize = 96;
/// The exponent of the least of them.
const LEAST: i32 = -31;
/// The exponent that stands for everything beyond.
const BEYOND: i32 = 64;
/// The bin of a row that has no value.
pub(crate) const NULL: u8 = 0;
/// The bin of zero.
const ZERO: u8 = 1;

/// How many keys are looked at if nobody says which.
const MOST_KEYS: usize = 3;
/// How many columns of numbers are looked at if nobody says which: each shares the price with all
/// others.
pub(crate) const MOST_COLUMNS: usize = 3;

/// What a profile has histograms of, besides the rows of each unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Layout {
    /// Columns that people group by.
    pub(crate) keys: Vec<String>,
    /// Columns of numbers that people add up.
    pub(crate) columns: Vec<String>,
}

impl Layout {
    /// How many cells each histogram has, in their order: rows, keys, columns.
    pub(crate) fn cells(&self) -> Vec<usize> {
        let keys = self.keys.iter().map(|_| GROUP_BINS);
        let columns = self.columns.iter().map(|_| ROW_BINS * VALUE_BINS);
        std::iter::once(ROW_BINS).chain(keys).chain(columns).collect()
    }

    /// The cells of one unit, one of each histogram.
    ///
    /// - Theorem: histograms (docs/theorems.md)
    /// - Proves: a unit is in exactly one cell of each histogram
    /// - Assumes: what is said of the unit follows from its own rows ([`super::unit_rows`])
    /// - Deviates: nothing
    /// - Checked by: `removing_or_replacing_a_unit_moves_one_cell_of_each_histogram`
    pub(crate) fn cells_of(&self, rows: u64, groups: &[u64], values: &[u8]) -> Vec<usize> {
        let row_bin = power_bin(rows, ROW_BINS);
        let mut cells = vec![row_bin];
        let mut start = ROW_BINS;
        for &groups in groups {
            cells.push(start + power_bin(groups, GROUP_BINS));
            start += GROUP_BINS;
        }
        for &value in values {
            cells.push(start + row_bin * VALUE_BINS + usize::from(value));
            start += ROW_BINS * VALUE_BINS;
        }
        cells
    }
}

/// The bin of a count: the least j with count <= 2^j, the last one for what is beyond.
pub(crate) fn power_bin(count: u64, bins: usize) -> usize {
    let bits = u64::BITS - count.max(1).saturating_sub(1).leading_zeros();
    usize::try_from(bits).unwrap_or(bins).min(bins - 1)
}

/// The bin of a value of a column of numbers.
pub(crate) fn value_bin(column: &Column, row: usize) -> u8 {
    match column {
        _ if column.is_null(row) => NULL,
        Column::Int(array) => of_int(array.value(row)),
        Column::Float(array) => of_float(array.value(row)),
        _ => NULL,
    }
}

fn of_int(value: i64) -> u8 {
    let size = value.unsigned_abs();
    if size == 0 {
        return ZERO;
    }
    let bits = u64::BITS - (size - 1).leading_zeros();
    signed(value < 0, i32::try_from(bits).unwrap_or(BEYOND))
}

fn of_float(value: f64) -> u8 {
    if value == 0.0 {
        return ZERO;
    }
    let bits = value.abs().to_bits();
    // The exponent, and one more where there is anything beside the power itself. What is less
    // than all normal numbers has a small one, too.
    let exponent = i32::try_from(bits >> 52).unwrap_or(BEYOND) - 1023;
    let above = i32::from(bits & ((1 << 52) - 1) != 0);
    signed(value < 0.0, exponent.saturating_add(above))
}

fn signed(is_negative: bool, exponent: i32) -> u8 {
    let power = exponent.clamp(LEAST, BEYOND) - LEAST;
    let power = u8::try_from(power).unwrap_or_default() + 2;
    if is_negative { power + u8::try_from(POWERS).unwrap_or_default() } else { power }
}

/// The exponents on each side of zero, by their places: those above zero, then those below.
pub(crate) fn bin_of_power(is_negative: bool, place: usize) -> usize {
    2 + place + if is_negative { POWERS } else { 0 }
}

/// How many powers there are on each side.
pub(crate) fn powers() -> usize {
    POWERS
}

/// The largest number of the bin at a place; infinite for what is beyond.
pub(crate) fn power_at(place: usize) -> f64 {
    let exponent = LEAST + i32::try_from(place).unwrap_or(BEYOND);
    if exponent >= BEYOND { f64::INFINITY } else { f64::from(exponent).exp2() }
}

/// All bins of values in the order of the values, NULL last: which one it is, and its end that is
/// further from zero.
pub(crate) fn value_ends() -> Vec<(usize, String)> {
    let end = |is_negative: bool, place: usize| {
        let sign = if is_negative { "-" } else { "" };
        let power = power_at(place);
        let end = if power.is_finite() { power.to_string() } else { "beyond".to_owned() };
        (bin_of_power(is_negative, place), format!("{sign}{end}"))
    };
    let below = (0..POWERS).rev().map(|place| end(true, place));
    let above = (0..POWERS).map(|place| end(false, place));
    let (zero, null) =
        ((usize::from(ZERO), "0".to_owned()), (usize::from(NULL), "NULL".to_owned()));
    below.chain([zero]).chain(above).chain([null]).collect()
}

/// The columns that look like something that people group by, by type and name: at most a few, of
/// which those that the policy lists values of come first.
pub(crate) fn likely_keys(
    schema: &[(String, Option<Type>)],
    unit_column: &str,
    listed: &dyn Fn(&str) -> bool,
) -> Vec<String> {
    let is_key = |(name, kind): &&(String, Option<Type>)| {
        name != unit_column && kind.is_some_and(|kind| looks_like_a_key(name, kind))
    };
    let named = schema.iter().filter(|(name, kind)| kind.is_some() && listed(name));
    let others = schema.iter().filter(is_key).filter(|(name, _)| !listed(name));
    named.chain(others).map(|(name, _)| name.clone()).take(MOST_KEYS).collect()
}

/// The columns of numbers that people add up: those that look like no key and no name, of which
/// those that the policy has bounds of come first.
pub(crate) fn likely_columns(
    schema: &[(String, Option<Type>)],
    unit_column: &str,
    bounded: &dyn Fn(&str) -> bool,
) -> Vec<String> {
    let is_number = |(name, kind): &&(String, Option<Type>)| {
        let is_number = matches!(kind, Some(Type::Int | Type::Float));
        let is_name = kind.is_some_and(|kind| looks_like_a_key(name, kind) || is_id(name));
        name != unit_column && is_number && (bounded(name) || !is_name)
    };
    let named = |is_bounded: bool| {
        let numbers = schema.iter().filter(is_number).map(|(name, _)| name);
        numbers.filter(move |name| bounded(name) == is_bounded).cloned()
    };
    named(true).chain(named(false)).collect()
}

/// What names of keys end with.
const KEY_WORDS: [&str; 22] = [
    "zone", "code", "type", "kind", "class", "category", "year", "month", "week", "weekday", "day",
    "hour", "zip", "postcode", "region", "district", "city", "state", "country", "status", "group",
    "level",
];

/// By its type and name: whether people would group by it.
fn looks_like_a_key(name: &str, kind: Type) -> bool {
    match kind {
        Type::Bool => true,
        Type::Date | Type::Timestamp | Type::Float => false,
        Type::Text => {
            !is_id(name)
                && !["name", "note", "comment", "text", "email"].contains(&last(name).as_str())
        }
        Type::Int => KEY_WORDS.contains(&last(name).as_str()),
    }
}

/// By its name: whether it tells things apart, one by one.
fn is_id(name: &str) -> bool {
    let last = last(name);
    matches!(last.as_str(), "id" | "uuid" | "key" | "hash" | "number" | "nr" | "no")
        || name.ends_with("Id")
        || name.ends_with("ID")
}

/// The last word of a name, in small letters.
fn last(name: &str) -> String {
    let word = name.rsplit(|c: char| !c.is_ascii_alphanumeric()).find(|word| !word.is_empty());
    word.unwrap_or(name).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_powers_of_two_are_the_ends_of_bins() {
        assert_eq!([1, 2, 3, 4, 5, 8, 9].map(|n| power_bin(n, ROW_BINS)), [0, 1, 2, 2, 3, 3, 4]);
        assert_eq!(power_bin(1 << 31, ROW_BINS), 31);
        assert_eq!(power_bin((1 << 31) + 1, ROW_BINS), 32);
        assert_eq!((power_bin(u64::MAX, ROW_BINS), power_bin(0, ROW_BINS)), (32, 0));
        assert_eq!((power_bin(1 << 16, GROUP_BINS), power_bin(65_537, GROUP_BINS)), (16, 17));
        for exponent in -31..=63 {
            let power = f64::from(exponent).exp2();
            let place = usize::try_from(exponent + 31).unwrap();
            assert!(power_at(place).total_cmp(&power).is_eq());
            let bin = u8::try_from(bin_of_power(false, place)).unwrap();
            assert_eq!((of_float(power), of_float(power.next_up())), (bin, bin + 1), "{exponent}");
            let below = u8::try_from(bin_of_power(true, place)).unwrap();
            assert_eq!((of_float(-power), of_float((-power).next_down())), (below, below + 1));
            if (1..63).contains(&exponent) {
                let whole = 1i64 << exponent;
                assert_eq!(
                    (of_int(whole), of_int(whole + 1), of_int(-whole)),
                    (bin, bin + 1, below)
                );
            }
        }
        assert_eq!(
            (of_int(0), of_float(0.0), of_int(i64::MIN)),
            (ZERO, ZERO, of_float(-(63f64.exp2())))
        );
        assert_eq!((of_float(f64::INFINITY), of_float(f64::MIN_POSITIVE / 4.0)), (97, 2));
        assert_eq!(
            (usize::from(of_float(f64::NEG_INFINITY)), power_at(95)),
            (VALUE_BINS - 1, f64::INFINITY)
        );
    }

    #[test]
    fn likely_keys_and_columns_follow_from_names_and_types() {
        let schema: Vec<(String, Option<Type>)> = [
            ("rider_id", Some(Type::Int)),
            ("zone", Some(Type::Int)),
            ("fare", Some(Type::Float)),
            ("trip_id", Some(Type::Int)),
            ("payment_type", Some(Type::Text)),
            ("driver_name", Some(Type::Text)),
            ("shared", Some(Type::Bool)),
            ("passengers", Some(Type::Int)),
            ("photo", None),
            ("started", Some(Type::Timestamp)),
        ]
        .map(|(name, kind)| (name.to_owned(), kind))
        .into();
        let nobody = |_: &str| false;
        assert_eq!(likely_keys(&schema, "rider_id", &nobody), ["zone", "payment_type", "shared"]);
        assert_eq!(likely_columns(&schema, "rider_id", &nobody), ["fare", "passengers"]);
        let listed = |name: &str| name == "driver_name";
        assert_eq!(
            likely_keys(&schema, "rider_id", &listed),
            ["driver_name", "zone", "payment_type"]
        );
        assert_eq!(
            likely_columns(&schema, "rider_id", &|name| name == "zone"),
            ["zone", "fare", "passengers"]
        );
    }
}
