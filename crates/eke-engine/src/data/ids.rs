//! Ids of privacy units: which unit a row belongs to, read exactly or not at all.
//!
//! Two ids that are read as one would let two people add what one may, and one that is read as two
//! would be two people. So a unit column is not read as expressions read it (decimals as doubles,
//! times in microseconds): whole numbers, decimals, days and times keep all their digits, and
//! floats are refused.
//!
//! A unit of several columns, or of a person and a period, is one text of all its parts, each with
//! its length before it: `ab` and `c` are another unit than `a` and `bc`. A row that lacks a part
//! is nobody's.

use std::fmt::Write as _;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array as _, ArrayRef};
use arrow_buffer::i256;
use arrow_schema::{DataType, TimeUnit};
use eke_sql::{PeriodLength, Type, UnitColumns, UnitPeriod};
use serde::Serialize;

use crate::data::footer::Cells;
use crate::rows::column::lower;
use crate::rows::column::{Column, arrays, wide};

/// What ids are read as. Files of one dataset must agree about it, and it is part of what paths are
/// found by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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
    /// Those of several columns, and perhaps of a period, as one text.
    Parts(Box<IdParts>),
}

/// What the parts of ids are read as. Serialized they are part of what paths are found by, and what
/// they are serialized as may never change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct IdParts {
    /// The columns, and what each is read as.
    columns: Vec<(String, Ids)>,
    period: Option<PeriodPart>,
}

/// The period that is part of an id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct PeriodPart {
    every: String,
    zone: String,
    time_column: String,
    /// The type of the time column.
    kind: Type,
}

/// What is read of a column for ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum IdCell<'i> {
    /// A part, exactly.
    Exact(&'i Ids),
    /// A time, as expressions see it.
    Time(Type),
}

impl IdParts {
    /// The parts of such a unit, whose columns are read as this; the time column has this type.
    pub(crate) fn new(unit: &UnitColumns, ids: Vec<Ids>, time: Option<Type>) -> Self {
        let columns = unit.columns.iter().cloned().zip(ids).collect();
        let period = unit.period.as_ref().map(|UnitPeriod { every, time_column, zone }| {
            let (every, zone) = (every.to_string(), zone.to_string());
            let kind = time.unwrap_or(Type::Timestamp);
            PeriodPart { every, zone, time_column: time_column.clone(), kind }
        });
        Self { columns, period }
    }

    /// One text for each row; none if a part of it is missing.
    ///
    /// - Theorem: contributions (docs/theorems.md)
    /// - Proves: two rows have the same text exactly where all their parts are the same, since each
    ///   part stands behind its length; a row that lacks a part has none
    /// - Assumes: parts are read exactly ([`Ids::read`])
    /// - Deviates: nothing
    /// - Checked by: `parts_are_told_apart_whatever_they_hold`,
    ///   `units_of_several_columns_agree_with_a_plain_reading`
    fn joined(&self, columns: &[Column], rows: usize) -> Option<Column> {
        let (of_columns, time) = columns.split_at_checked(self.columns.len())?;
        let mut parts: Vec<Column> = of_columns.iter().map(written).collect();
        if let Some(period) = &self.period {
            parts.push(period.starts(time.first()?, rows)?);
        }
        let mut texts = Vec::with_capacity(parts.len());
        for part in &parts {
            let Column::Text(array) = part else { return None };
            texts.push(array);
        }
        let joined = (0..rows).map(|row| {
            let mut id = String::new();
            for text in &texts {
                if text.is_null(row) {
                    return None;
                }
                let part = text.value(row);
                let _ = write!(id, "{}:{part}", part.len());
            }
            Some(id)
        });
        Some(crate::rows::column::text(joined))
    }
}

impl PeriodPart {
    /// The starts of the periods that times lie in, as whole numbers in texts; NULL where there is
    /// no time, or none that has a date.
    fn starts(&self, times: &Column, rows: usize) -> Option<Column> {
        let every = PeriodLength::named(&self.every)?;
        let zone = eke_sql::ZoneOffset::read(&self.zone)?;
        let time_column = self.time_column.clone();
        let start = UnitPeriod { every, time_column, zone }.start(self.kind);
        let schema = [(self.time_column.clone(), self.kind)];
        let lowered = lower::typed(&start, Type::Timestamp, &schema).ok()?;
        match lowered.compute(std::slice::from_ref(times), rows) {
            Column::Timestamp(starts) => {
                let micros = starts.iter().map(|start| start.map(|start| start.to_string()));
                Some(crate::rows::column::text(micros))
            }
            _ => None,
        }
    }
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

    /// What ids in memory are read as, where columns have these types.
    pub(crate) fn in_memory(unit_column: &str, schema: &[(String, Option<Type>)]) -> Option<Self> {
        let kind = |name: &String| schema.iter().find(|(own, _)| own == name)?.1;
        let unit = UnitColumns::read(unit_column);
        if !unit.is_composed() {
            let kind = |column| Self::Value(kind(column).unwrap_or(Type::Text));
            return unit.columns.first().map(kind);
        }
        let ids = unit.columns.iter().map(|name| Some(Self::Value(kind(name)?)));
        let ids = ids.collect::<Option<Vec<_>>>()?;
        let time = unit.period.as_ref().and_then(|period| kind(&period.time_column));
        Some(Self::Parts(Box::new(IdParts::new(&unit, ids, time))))
    }

    /// The type of the column that they become.
    pub(crate) fn kind(&self) -> Type {
        match self {
            Self::Value(kind) => *kind,
            Self::Unsigned | Self::Decimal | Self::Parts(_) => Type::Text,
            Self::Milliseconds | Self::Ticks(_) => Type::Int,
        }
    }

    /// Whether ids of two datasets are read alike, so that the same unit has the same one; columns
    /// may have other names.
    pub(crate) fn agree_with(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Parts(one), Self::Parts(other)) => {
                let ids = |parts: &IdParts| -> Vec<Self> {
                    parts.columns.iter().map(|(_, ids)| ids.clone()).collect()
                };
                let period = |parts: &IdParts| {
                    let period = parts.period.as_ref()?;
                    Some((period.every.clone(), period.zone.clone()))
                };
                ids(one) == ids(other) && period(one) == period(other)
            }
            (one, other) => one == other,
        }
    }

    /// The columns that are read for them, where the column of the unit goes by a name.
    pub(crate) fn cells<'i>(&'i self, name: &'i str) -> Vec<(&'i str, IdCell<'i>)> {
        match self {
            Self::Parts(parts) => {
                let columns = parts.columns.iter();
                let columns = columns.map(|(name, ids)| (name.as_str(), IdCell::Exact(ids)));
                let time = parts.period.iter();
                let time = time.map(|time| (time.time_column.as_str(), IdCell::Time(time.kind)));
                columns.chain(time).collect()
            }
            ids => vec![(name, IdCell::Exact(ids))],
        }
    }

    /// The ids of rows, from the columns that were read for them.
    pub(crate) fn joined(&self, mut columns: Vec<Column>, rows: usize) -> Option<Column> {
        match self {
            Self::Parts(parts) => parts.joined(&columns, rows),
            _ => columns.pop(),
        }
    }

    /// Reads the ids of a Parquet file.
    pub(crate) fn read(&self, array: &ArrayRef, cells: &Cells) -> Option<Column> {
        Some(match self {
            Self::Value(kind) => return Column::of_cells(array, cells, *kind),
            // They are read one by one.
            Self::Parts(_) => return None,
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

/// One text for one value, whatever it is.
fn written(part: &Column) -> Column {
    match part {
        Column::Date(days) => {
            crate::rows::column::text(days.iter().map(|day| day.map(|day| day.to_string())))
        }
        Column::Timestamp(times) => {
            crate::rows::column::text(times.iter().map(|time| time.map(|time| time.to_string())))
        }
        other => other.clone().cast(Type::Text),
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
    use eke_sql::{Value, ZoneOffset};

    fn texts(cells: &[Option<&str>]) -> Column {
        crate::rows::column::text(cells.iter().map(|cell| cell.map(str::to_owned)))
    }

    fn of(columns: &[&str], period: Option<UnitPeriod>, time: Option<Type>) -> Ids {
        let columns: Vec<String> = columns.iter().map(|name| (*name).to_owned()).collect();
        let ids = vec![Ids::Value(Type::Text); columns.len()];
        Ids::Parts(Box::new(IdParts::new(&UnitColumns { columns, period }, ids, time)))
    }

    /// The same bytes, parted elsewhere, are other units, and so are numbers that look like
    /// lengths.
    #[test]
    fn parts_are_told_apart_whatever_they_hold() {
        let ids = of(&["a", "b"], None, None);
        let one =
            texts(&[Some("ab"), Some("a"), Some(""), Some("1:a"), None, Some("x"), Some("ab")]);
        let other =
            texts(&[Some("c"), Some("bc"), Some("abc"), Some(""), Some("c"), None, Some("c")]);
        let Some(Column::Text(joined)) = ids.joined(vec![one, other], 7) else { panic!() };
        let joined: Vec<Option<&str>> = joined.iter().collect();
        assert_eq!(joined[0], joined[6]);
        let different: std::collections::BTreeSet<_> = joined[..4].iter().collect();
        assert_eq!(different.len(), 4, "{joined:?}");
        // NULL in any part is no unit, and an empty text is one.
        assert_eq!((joined[4], joined[5]), (None, None));
        assert_eq!(joined[2], Some("0:3:abc"));
    }

    /// The ends of months and years, weeks across them, days that clocks of a zone begin elsewhere,
    /// and what has no date.
    #[test]
    fn periods_end_where_the_calendar_says() {
        let start = |every, zone: &str, kind, time: Value| {
            let zone = ZoneOffset::read(zone).unwrap();
            let period = UnitPeriod { every, time_column: "t".to_owned(), zone };
            let ids = of(&["who"], Some(period), Some(kind));
            let columns = vec![
                texts(&[Some("u")]),
                Column::constant(&time, 1).unwrap_or_else(|| Column::nulls(kind, 1)),
            ];
            match ids.joined(columns, 1).unwrap().value(0) {
                Value::Text(id) => {
                    let micros = id.strip_prefix("1:u").unwrap().split_once(':').unwrap().1;
                    eke_sql::scalar::timestamp_to_text(micros.parse().unwrap())
                }
                _ => None,
            }
        };
        let moment =
            |text: &str| Value::Timestamp(eke_sql::scalar::timestamp_of_text(text).unwrap());
        let day = |text: &str| Value::Date(eke_sql::scalar::date_of_text(text).unwrap());
        use PeriodLength::{Day, Month, Quarter, Week, Year};
        for (every, zone, time, expected) in [
            (Month, "UTC", "2024-02-29 23:59:59.999999", "2024-02-01"),
            (Month, "UTC", "2024-03-01 00:00:00", "2024-03-01"),
            (Month, "+02:00", "2024-02-29 22:00:00", "2024-03-01"),
            (Month, "+02:00", "2024-02-29 21:59:59.999999", "2024-02-01"),
            (Month, "-03:30", "2024-03-01 03:29:59", "2024-02-01"),
            (Week, "UTC", "2024-12-30 00:00:00", "2024-12-30"),
            (Week, "UTC", "2025-01-05 23:59:59", "2024-12-30"),
            (Week, "UTC", "2025-01-06 00:00:00", "2025-01-06"),
            (Quarter, "UTC", "2024-09-30 23:59:59", "2024-07-01"),
            (Year, "UTC", "1969-12-31 23:59:59.999999", "1969-01-01"),
            (Year, "+14:00", "2024-12-31 10:00:00", "2025-01-01"),
            (Day, "-11:00", "2024-03-31 10:59:59", "2024-03-30"),
        ] {
            let found = start(every, zone, Type::Timestamp, moment(time)).unwrap();
            assert!(found.starts_with(expected), "{every} {zone} of {time}: {found}");
        }
        let found = start(Month, "UTC", Type::Date, day("2024-02-29")).unwrap();
        assert!(found.starts_with("2024-02-01"), "{found}");
        for none in [Value::Null, Value::Timestamp(i64::MAX), Value::Timestamp(i64::MIN)] {
            assert_eq!(start(Month, "UTC", Type::Timestamp, none.clone()), None, "{none:?}");
        }
    }

    /// What names ledgers' paths: columns, what they are read as, period, zone and time column.
    #[test]
    fn parts_are_written_down_as_they_always_were() {
        let zone = ZoneOffset::read("+02:00").unwrap();
        let period = UnitPeriod { every: PeriodLength::Month, time_column: "t".to_owned(), zone };
        let written = serde_json::to_string(&of(&["a", "b"], Some(period), Some(Type::Date)));
        assert_eq!(
            written.unwrap(),
            r#"{"Parts":{"columns":[["a",{"Value":"text"}],["b",{"Value":"text"}]],"period":{"every":"month","zone":"+02:00","time_column":"t","kind":"date"}}}"#
        );
    }

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
