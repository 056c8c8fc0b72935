//! Days and moments of the proleptic Gregorian calendar, as numbers.
//!
//! A day is the number of days since 1970-01-01, a moment the number of microseconds. `chrono` has
//! the calendar; what is read as a day or a moment is said here, value by value.

use chrono::{DateTime, Datelike, Months, NaiveDate};

use crate::expr::text::trimmed;

/// Microseconds in a day.
pub(crate) const DAY: i64 = 86_400_000_000;

/// The day with this number, if it is of the years -9999 to 9999.
pub(crate) fn day(number: i64) -> Option<NaiveDate> {
    let day = NaiveDate::from_epoch_days(i32::try_from(number).ok()?)?;
    (-9999..=9999).contains(&day.year()).then_some(day)
}

/// A day as `YYYY-MM-DD`, if its year has four digits.
#[must_use]
pub fn date_to_text(days: i64) -> Option<String> {
    day(days).filter(|day| day.year() >= 0).map(|day| day.to_string())
}

/// A moment as `YYYY-MM-DD HH:MM:SS`, with six digits more if there is a fraction.
#[must_use]
pub fn timestamp_to_text(micros: i64) -> Option<String> {
    let moment = DateTime::from_timestamp_micros(micros)?;
    let format = if micros % 1_000_000 == 0 { "%F %T" } else { "%F %T%.6f" };
    (0..=9999).contains(&moment.year()).then(|| moment.format(format).to_string())
}

/// A moment some months and microseconds later. A day that its month has not becomes the last one
/// that it has. None beyond 64 bits, and for months outside the years -9999 to 9999.
#[must_use]
pub fn shift(micros: i64, months: i32, more: i64) -> Option<i64> {
    let start = if months == 0 {
        micros
    } else {
        let (days, rest) = (micros.div_euclid(DAY), micros.rem_euclid(DAY));
        let (from, by) = (day(days)?, Months::new(months.unsigned_abs()));
        let to = if months > 0 { from.checked_add_months(by) } else { from.checked_sub_months(by) };
        i64::from(to?.to_epoch_days()).checked_mul(DAY)?.checked_add(rest)?
    };
    start.checked_add(more)
}

/// A day some days later; none beyond 32 bits.
#[must_use]
pub(crate) fn add_days(days: i32, more: i64) -> Option<i32> {
    i32::try_from(i64::from(days).checked_add(more)?).ok()
}

/// The start of the bin of `stride` microseconds that a moment lies in, where one starts at
/// `origin`; none unless `stride` is positive.
#[must_use]
pub(crate) fn bin(stride: i64, micros: i64, origin: i64) -> Option<i64> {
    if stride < 1 {
        return None;
    }
    let stride = i128::from(stride);
    let bins = (i128::from(micros) - i128::from(origin)).div_euclid(stride);
    i64::try_from(i128::from(origin) + bins * stride).ok()
}

/// The seconds from one moment to another.
#[must_use]
pub(crate) fn seconds(to: i64, from: i64) -> f64 {
    let micros = i128::from(to) - i128::from(from);
    micros as f64 / 1e6
}

/// `YYYY-MM-DD` as a day, if it is one. Blanks at both ends do not matter.
#[must_use]
pub fn date_of_text(text: &str) -> Option<i32> {
    let bytes = trimmed(text).as_bytes();
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return None;
    }
    let year = digits(&bytes[..4])?.cast_signed();
    let day = NaiveDate::from_ymd_opt(year, digits(&bytes[5..7])?, digits(&bytes[8..])?)?;
    Some(day.to_epoch_days())
}

/// `YYYY-MM-DD`, and perhaps a blank or `T` and `HH:MM[:SS[.fff]]` with up to nine digits, of which
/// six count, as a moment, if it is one. `Z` or an offset such as `+02:00` may follow, and is taken
/// off. Blanks at both ends do not matter.
#[must_use]
pub fn timestamp_of_text(text: &str) -> Option<i64> {
    let text = trimmed(text);
    if !text.is_ascii() {
        return None;
    }
    let (date, time) = if text.len() > 10 { text.split_at(10) } else { (text, "") };
    let midnight = i64::from(date_of_text(date)?) * DAY;
    let Some(time) = time.strip_prefix([' ', 'T']) else {
        return time.is_empty().then_some(midnight);
    };
    let (time, offset) = match time.find(['Z', '+', '-']) {
        None => (time, 0),
        Some(at) => (&time[..at], offset(&time[at..])?),
    };
    let (clock, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let mut parts = clock.split(':');
    let mut part = |below: u32| {
        let bytes = parts.next()?.as_bytes();
        digits(bytes).filter(|number| bytes.len() == 2 && *number < below)
    };
    let (hour, minute) = (part(24)?, part(60)?);
    // Without seconds there is no fraction of one.
    let has_seconds = clock.len() > 5;
    let second = if has_seconds { part(60)? } else { 0 };
    if parts.next().is_some() || (!has_seconds && clock.len() != time.len()) {
        return None;
    }
    digits(fraction.as_bytes())?;
    let micros = digits(format!("{fraction:0<6}").get(..6)?.as_bytes())?;
    let seconds = i64::from(hour * 3_600 + minute * 60 + second) - offset;
    Some(midnight + seconds * 1_000_000 + i64::from(micros))
}

/// `Z`, `+HH`, `+HHMM` or `+HH:MM` (or with a minus), in seconds.
fn offset(text: &str) -> Option<i64> {
    if text == "Z" {
        return Some(0);
    }
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let rest = text.get(1..)?.replace(':', "");
    let (hours, minutes) = match rest.len() {
        2 => (rest.get(..2)?, "0"),
        4 => (rest.get(..2)?, rest.get(2..)?),
        _ => return None,
    };
    let hours = digits(hours.as_bytes()).filter(|hours| *hours < 24)?;
    let minutes = digits(minutes.as_bytes()).filter(|minutes| *minutes < 60)?;
    Some(sign * i64::from(hours * 3_600 + minutes * 60))
}

/// Up to nine decimal digits and nothing else.
fn digits(bytes: &[u8]) -> Option<u32> {
    let all = !bytes.is_empty() && bytes.len() <= 9 && bytes.iter().all(u8::is_ascii_digit);
    all.then(|| bytes.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_that_has_a_text_comes_back() {
        let (first, last) = (-719_528, 2_932_896);
        assert_eq!(date_to_text(first).as_deref(), Some("0000-01-01"));
        assert_eq!(date_to_text(last).as_deref(), Some("9999-12-31"));
        for day in first..=last {
            let text = date_to_text(day).unwrap();
            assert_eq!(date_of_text(&text).map(i64::from), Some(day));
        }
        assert_eq!((date_to_text(first - 1), date_to_text(last + 1)), (None, None));
        assert_eq!(date_of_text("2000-03-01"), Some(11_017));
    }

    #[test]
    fn days_outside_twice_ten_thousand_years_are_none() {
        assert_eq!(day(-4_371_587).map(|day| day.year()), Some(-9999));
        assert_eq!(day(-4_371_588), None);
        assert_eq!(day(2_932_897), None);
        for days in [i64::MIN, i64::from(i32::MIN), i64::from(i32::MAX), i64::MAX] {
            assert_eq!(day(days), None);
        }
        for micros in [i64::MIN, i64::MAX] {
            assert_eq!(timestamp_to_text(micros), None);
        }
        let second = 1_000_000;
        assert_eq!(timestamp_to_text(-second).as_deref(), Some("1969-12-31 23:59:59"));
        assert_eq!(timestamp_to_text(-1).as_deref(), Some("1969-12-31 23:59:59.999999"));
        assert_eq!(timestamp_to_text(second / 2).as_deref(), Some("1970-01-01 00:00:00.500000"));
    }

    #[test]
    fn intervals_bins_and_differences_are_postgresqls() {
        let moment = |text: &str| timestamp_of_text(text).unwrap();
        for (from, months, micros, to) in [
            ("2024-01-31 12:00", 1, 0, "2024-02-29 12:00"),
            ("2024-03-31", -1, 0, "2024-02-29"),
            ("2023-12-31 23:59:59", 2, 1_000_000, "2024-03-01"),
            ("1970-01-01", 0, -1, "1969-12-31 23:59:59.999999"),
            ("2024-02-29", 12, DAY, "2025-03-01"),
        ] {
            assert_eq!(shift(moment(from), months, micros), Some(moment(to)), "{from}");
        }
        for (micros, months, more) in
            [(i64::MAX, 0, 1), (i64::MAX, 1, 0), (0, i32::MIN, 0), (0, i32::MAX, 0)]
        {
            assert_eq!(shift(micros, months, more), None);
        }
        let quarter_hour = 900_000_000;
        let (at, origin) = (moment("2020-02-11 15:44:17"), moment("2001-01-01"));
        assert_eq!(bin(quarter_hour, at, origin), Some(moment("2020-02-11 15:30:00")));
        let late = moment("2001-01-01 00:02:30");
        assert_eq!(bin(quarter_hour, at, late), Some(moment("2020-02-11 15:32:30")));
        assert_eq!(bin(quarter_hour, -1, 0), Some(-quarter_hour));
        assert_eq!((bin(0, 1, 1), bin(-1, 1, 1), bin(i64::MAX, i64::MIN, 0)), (None, None, None));
        assert_eq!(add_days(i32::MAX, 1), None);
        assert_eq!(Some(seconds(1_500_000, 0)), Some(1.5));
        assert!(seconds(i64::MAX, i64::MIN) > 1.8e13);
    }

    #[test]
    fn texts_that_are_not_days_are_none() {
        for text in
            ["", "2024-02-30", "2023-02-29", "2024-13-01", "2024-1-01", "24-01-01", "2024-00-10"]
        {
            assert_eq!(date_of_text(text), None, "{text}");
        }
        for text in [
            "2024-01-01 24:00",
            "2024-01-01x10:00",
            "2024-01-01 10:00:00.",
            "2024-01-01 10:00:00.1234567890",
            "2024-01-01 10",
            "2024-01-01 10:0",
            "2024-01-01 10:00.5",
            "2024-01-01 10:00:00:00",
            "2024-01-01 10:00+2",
            "2024-01-01 10:00+25",
            "2024-01-01 10:00ZZ",
            "2024-01-01é10:00",
        ] {
            assert_eq!(timestamp_of_text(text), None, "{text}");
        }
        assert_eq!(timestamp_of_text("1970-01-01 02:00:00.123456789+02:00"), Some(123_456));
        assert_eq!(timestamp_of_text("1969-12-31T22:30-0130"), Some(0));
        assert_eq!(timestamp_of_text(" 1970-01-01T00:00Z "), Some(0));
        assert_eq!(timestamp_of_text("1970-01-02"), Some(DAY));
        assert_eq!(timestamp_of_text("1970-01-01T00:01"), Some(60_000_000));
        assert_eq!(timestamp_of_text("1969-12-31 23:59:59.5"), Some(-500_000));
    }
}
