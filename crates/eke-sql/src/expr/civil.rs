//! Days and moments of the proleptic Gregorian calendar, as numbers.
//!
//! A day is the number of days since 1970-01-01, a moment the number of microseconds. The
//! conversions are Hinnant's (`days_from_civil`, `civil_from_days`), in 64 bits, so nothing
//! overflows for any day that fits 32 bits or moment that fits 64.

use crate::expr::text::trimmed;

/// Microseconds in a day.
pub(crate) const DAY: i64 = 86_400_000_000;

/// A day of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Civil {
    pub(crate) year: i64,
    /// 1 to 12.
    pub(crate) month: i64,
    /// 1 to 31.
    pub(crate) day: i64,
}

impl Civil {
    /// The day with this number.
    pub(crate) fn of_days(days: i64) -> Self {
        let z = days + 719_468;
        let era = z.div_euclid(146_097);
        let day_of_era = z.rem_euclid(146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * shifted + 2) / 5 + 1;
        let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        Self { year, month, day }
    }

    /// Its number.
    pub(crate) fn days(self) -> i64 {
        let year = if self.month <= 2 { self.year - 1 } else { self.year };
        let era = year.div_euclid(400);
        let year_of_era = year.rem_euclid(400);
        let shifted = (self.month + 9) % 12;
        let day_of_year = (153 * shifted + 2) / 5 + self.day - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        era * 146_097 + day_of_era - 719_468
    }

    /// The day, if the calendar has it.
    pub(crate) fn checked(year: i64, month: i64, day: i64) -> Option<Self> {
        let candidate = Self { year, month, day };
        let plausible = (1..=12).contains(&month) && (1..=31).contains(&day);
        (plausible && Self::of_days(candidate.days()) == candidate).then_some(candidate)
    }
}

/// The day of the week, 0 (Sunday) to 6.
pub(crate) fn day_of_week(days: i64) -> i64 {
    (days + 4).rem_euclid(7)
}

/// A day as `YYYY-MM-DD`, if its year has four digits.
#[must_use]
pub fn date_to_text(days: i64) -> Option<String> {
    let Civil { year, month, day } = Civil::of_days(days);
    (0..=9999).contains(&year).then(|| format!("{year:04}-{month:02}-{day:02}"))
}

/// A moment as `YYYY-MM-DD HH:MM:SS`, with six digits more if there is a fraction.
#[must_use]
pub fn timestamp_to_text(micros: i64) -> Option<String> {
    let date = date_to_text(micros.div_euclid(DAY))?;
    let rest = micros.rem_euclid(DAY);
    let (second, fraction) = (rest / 1_000_000, rest % 1_000_000);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    let time = format!("{hour:02}:{minute:02}:{second:02}");
    Some(if fraction == 0 {
        format!("{date} {time}")
    } else {
        format!("{date} {time}.{fraction:06}")
    })
}

/// `YYYY-MM-DD` as a day, if it is one. Blanks at both ends do not matter.
#[must_use]
pub fn date_of_text(text: &str) -> Option<i32> {
    let bytes = trimmed(text).as_bytes();
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return None;
    }
    let civil = Civil::checked(digits(&bytes[..4])?, digits(&bytes[5..7])?, digits(&bytes[8..])?)?;
    i32::try_from(civil.days()).ok()
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
    let mut part = |below: i64| {
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
    let seconds = hour * 3_600 + minute * 60 + second - offset;
    Some(midnight + seconds * 1_000_000 + micros)
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
    Some(sign * (hours * 3_600 + minutes * 60))
}

/// Up to nine decimal digits and nothing else.
fn digits(bytes: &[u8]) -> Option<i64> {
    let all = !bytes.is_empty() && bytes.len() <= 9 && bytes.iter().all(u8::is_ascii_digit);
    all.then(|| bytes.iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_four_centuries_comes_back() {
        let mut day = Civil { year: 1799, month: 12, day: 31 }.days();
        let end = Civil { year: 2200, month: 1, day: 1 }.days();
        while day <= end {
            assert_eq!(Civil::of_days(day).days(), day);
            let text = date_to_text(day).unwrap();
            assert_eq!(date_of_text(&text).map(i64::from), Some(day));
            day += 1;
        }
        assert_eq!(Civil { year: 1970, month: 1, day: 1 }.days(), 0);
        assert_eq!(Civil { year: 2000, month: 3, day: 1 }.days(), 11_017);
    }

    #[test]
    fn the_ends_of_the_numbers_do_not_overflow() {
        for days in [i64::from(i32::MIN), i64::from(i32::MAX)] {
            assert_eq!(Civil::of_days(days).days(), days);
        }
        for micros in [i64::MIN, i64::MAX] {
            assert_eq!(timestamp_to_text(micros), None);
        }
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
