//! Patterns of `to_char`: how a moment is written.
//!
//! The fields are PostgreSQL's usual ones. Letters that are no field are refused rather than copied
//! unless they are in double quotes: what means something to PostgreSQL never stands for itself.

use chrono::{Datelike, NaiveDate};

use crate::expr::civil::{self, DAY};

/// A pattern, ready to be written by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MomentFormat(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Field { field: Field, case: Case, padded: bool },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Case {
    Upper,
    Capital,
    Lower,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Year,
    YearOfCentury,
    IsoYear,
    Quarter,
    Month,
    MonthName,
    MonthAbbreviation,
    IsoWeek,
    WeekOfYear,
    WeekOfMonth,
    DayOfYear,
    Day,
    DayName,
    DayAbbreviation,
    DayOfWeek,
    IsoDayOfWeek,
    Hour,
    HourOfTwelve,
    HalfOfDay,
    Minute,
    Second,
    Millisecond,
    Microsecond,
}

/// Fields, a longer one before those that it begins with.
const FIELDS: [(&str, Field); 25] = [
    ("MONTH", Field::MonthName),
    ("IYYY", Field::IsoYear),
    ("YYYY", Field::Year),
    ("HH24", Field::Hour),
    ("HH12", Field::HourOfTwelve),
    ("MON", Field::MonthAbbreviation),
    ("DAY", Field::DayName),
    ("DDD", Field::DayOfYear),
    ("YY", Field::YearOfCentury),
    ("MM", Field::Month),
    ("MI", Field::Minute),
    ("MS", Field::Millisecond),
    ("DD", Field::Day),
    ("DY", Field::DayAbbreviation),
    ("HH", Field::HourOfTwelve),
    ("SS", Field::Second),
    ("US", Field::Microsecond),
    ("IW", Field::IsoWeek),
    ("ID", Field::IsoDayOfWeek),
    ("WW", Field::WeekOfYear),
    ("AM", Field::HalfOfDay),
    ("PM", Field::HalfOfDay),
    ("Q", Field::Quarter),
    ("W", Field::WeekOfMonth),
    ("D", Field::DayOfWeek),
];

/// Fields of PostgreSQL's that are not written here, but begin as those that are.
const OTHERS: [&str; 7] = ["Y,YYY", "YYY", "IDDD", "IYY", "IY", "SSSS", "SSSSS"];

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

impl MomentFormat {
    /// Reads a pattern.
    ///
    /// # Errors
    ///
    /// The part that is no field of those that there are.
    pub fn new(pattern: &str) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut rest = pattern;
        while let Some(first) = rest.chars().next() {
            if let Some(quoted) = rest.strip_prefix('"') {
                let Some((text, after)) = quoted.split_once('"') else {
                    return Err(rest.to_owned());
                };
                pieces.push(Piece::Text(text.to_owned()));
                rest = after;
                continue;
            }
            if !first.is_ascii_alphanumeric() && first != '\\' {
                pieces.push(Piece::Text(first.to_string()));
                rest = &rest[first.len_utf8()..];
                continue;
            }
            let bare = rest.strip_prefix("FM").or_else(|| rest.strip_prefix("fm"));
            let (at, padded) = (bare.unwrap_or(rest), bare.is_none());
            let begins = |name: &str| {
                at.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
            };
            let found = FIELDS.iter().find(|(name, _)| begins(name));
            let other = OTHERS.iter().filter(|name| begins(name)).map(|name| name.len()).max();
            let word: String = at.chars().take_while(char::is_ascii_alphanumeric).collect();
            let Some((name, field)) =
                found.filter(|(name, _)| other.is_none_or(|o| o < name.len()))
            else {
                return Err(if word.is_empty() { first.to_string() } else { word });
            };
            let after = &at[name.len()..];
            // Ordinals.
            if after.get(..2).is_some_and(|start| start.eq_ignore_ascii_case("TH")) {
                return Err(format!("{name}TH"));
            }
            let mut letters = at.chars();
            let case = match (letters.next(), letters.next()) {
                (Some('a'..='z'), _) => Case::Lower,
                (_, Some('a'..='z')) => Case::Capital,
                _ => Case::Upper,
            };
            pieces.push(Piece::Field { field: *field, case, padded });
            rest = after;
        }
        Ok(Self(pieces))
    }

    /// A moment as the pattern says; none outside the years 1 to 9999.
    #[must_use]
    pub fn write(&self, micros: i64) -> Option<String> {
        let (days, rest) = (micros.div_euclid(DAY), micros.rem_euclid(DAY));
        let day = civil::day(days).filter(|day| day.year() > 0)?;
        let mut written = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => written.push_str(text),
                Piece::Field { field, case, padded } => {
                    written.push_str(&value(*field, day, rest, *case, *padded));
                }
            }
        }
        Some(written)
    }
}

fn value(field: Field, day: NaiveDate, rest: i64, case: Case, padded: bool) -> String {
    let number = |value: i64, width: usize| {
        let width = if padded { width } else { 0 };
        format!("{value:0width$}")
    };
    let name = |name: &str, width: usize| {
        let width = if padded { width } else { 0 };
        let name = match case {
            Case::Upper => name.to_uppercase(),
            Case::Capital => name.to_owned(),
            Case::Lower => name.to_lowercase(),
        };
        format!("{name:width$}")
    };
    let month = MONTHS.get(day.month0() as usize).copied().unwrap_or_default();
    let from_sunday = day.weekday().num_days_from_sunday();
    let of_week = DAYS.get(from_sunday as usize).copied().unwrap_or_default();
    let (second, hour) = (rest / 1_000_000, rest / 3_600_000_000);
    match field {
        Field::Year => number(day.year().into(), 4),
        Field::YearOfCentury => number((day.year() % 100).into(), 2),
        Field::IsoYear => number(day.iso_week().year().into(), 4),
        Field::Quarter => number(day.quarter().into(), 1),
        Field::Month => number(day.month().into(), 2),
        Field::MonthName => name(month, 9),
        Field::MonthAbbreviation => name(month.get(..3).unwrap_or_default(), 3),
        Field::IsoWeek => number(day.iso_week().week().into(), 2),
        Field::WeekOfYear => number(i64::from(day.ordinal0() / 7 + 1), 2),
        Field::WeekOfMonth => number(i64::from(day.day0() / 7 + 1), 1),
        Field::DayOfYear => number(day.ordinal().into(), 3),
        Field::Day => number(day.day().into(), 2),
        Field::DayName => name(of_week, 9),
        Field::DayAbbreviation => name(of_week.get(..3).unwrap_or_default(), 3),
        Field::DayOfWeek => number(i64::from(from_sunday + 1), 1),
        Field::IsoDayOfWeek => number(day.weekday().number_from_monday().into(), 1),
        Field::Hour => number(hour, 2),
        Field::HourOfTwelve => number((hour + 11) % 12 + 1, 2),
        Field::HalfOfDay => {
            let half = if hour < 12 { "am" } else { "pm" };
            if case == Case::Lower { half.to_owned() } else { half.to_uppercase() }
        }
        Field::Minute => number(second / 60 % 60, 2),
        Field::Second => number(second % 60, 2),
        // What stands behind a point keeps its zeros, also with FM.
        Field::Millisecond => format!("{:03}", rest / 1_000 % 1_000),
        Field::Microsecond => format!("{:06}", rest % 1_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(pattern: &str) -> Result<String, String> {
        // 2024-03-05 13:04:09.012345, a Tuesday.
        let micros = civil::timestamp_of_text("2024-03-05 13:04:09.012345").unwrap();
        MomentFormat::new(pattern).map(|format| format.write(micros).unwrap())
    }

    /// As PostgreSQL writes them: `it/postgres.rs` asks it.
    #[test]
    fn fields_are_written_as_postgresql_writes_them() {
        for (pattern, is) in [
            ("YYYY-MM-DD HH24:MI:SS.US", "2024-03-05 13:04:09.012345"),
            ("yyyy/mm yy", "2024/03 24"),
            ("Month|MONTH|month|FMMonth|Mon", "March    |MARCH    |march    |March|Mar"),
            ("Day|FMDAY|dy|D|ID", "Tuesday  |TUESDAY|tue|3|2"),
            ("HH12:MI AM|hh pm|MS", "01:04 PM|01 pm|012"),
            ("IYYY-\"W\"IW|WW|W|DDD|Q", "2024-W10|10|1|065|1"),
            ("FMDD/FMMM", "5/3"),
            ("", ""),
        ] {
            assert_eq!(written(pattern).as_deref(), Ok(is), "{pattern}");
        }
    }

    #[test]
    fn what_is_no_field_is_refused() {
        for (pattern, part) in [
            ("YYYY-MM-DDTHH24", "DDTH"),
            ("FMDDth", "DDTH"),
            ("Y,YYY", "Y"),
            ("SSSS", "SSSS"),
            ("YYYY TZ", "TZ"),
            ("week", "eek"),
            ("\"open", "\"open"),
            ("\\", "\\"),
            ("2", "2"),
            ("FM", ""),
        ] {
            let said = MomentFormat::new(pattern).unwrap_err();
            assert!(said.starts_with(part), "{pattern}: {said}");
        }
    }

    #[test]
    fn moments_of_other_years_are_not_written() {
        let year = MomentFormat::new("YYYY").unwrap();
        for micros in [i64::MIN, i64::MAX, -62_135_596_800_000_001] {
            assert_eq!(year.write(micros), None);
        }
        assert_eq!(year.write(-62_135_596_800_000_000).as_deref(), Some("0001"));
    }
}
