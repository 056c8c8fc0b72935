//! Days and moments: the calendar, as whole numbers.
//!
//! The calendar is Gregorian for all years, before 1582 too, and knows no time zones and no leap seconds.
//! Nothing here fails: what lies outside the years -9999 to 9999 has no parts and no text.

const DAY: i64 = 86_400_000_000;
const HOUR: i64 = 3_600_000_000;
const MINUTE: i64 = 60_000_000;
const SECOND: i64 = 1_000_000;

/// A part of a moment, as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Year,
    Quarter,
    Month,
    Day,
    DayOfWeek,
    Hour,
    Minute,
    Second,
}

/// A stretch of time that a moment lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Span {
    Year,
    Quarter,
    Month,
    Week,
    Day,
    Hour,
    Minute,
}

/// A part of a moment (in microseconds since 1970).
pub(crate) fn part(of: Part, moment: i64) -> Option<i64> {
    let (day, time) = (moment.div_euclid(DAY), moment.rem_euclid(DAY));
    let (year, month, date) = civil(day)?;
    Some(match of {
        Part::Year => year,
        Part::Quarter => (month + 2) / 3,
        Part::Month => month,
        Part::Day => date,
        // 1970-01-01 was a Thursday.
        Part::DayOfWeek => (day + 4).rem_euclid(7),
        Part::Hour => time / HOUR,
        Part::Minute => time / MINUTE % 60,
        Part::Second => time / SECOND % 60,
    })
}

/// When the stretch that a moment lies in starts.
pub(crate) fn start(of: Span, moment: i64) -> Option<i64> {
    let day = moment.div_euclid(DAY);
    let (year, month, _) = civil(day)?;
    let start = match of {
        Span::Year => days(year, 1, 1) * DAY,
        Span::Quarter => days(year, (month - 1) / 3 * 3 + 1, 1) * DAY,
        Span::Month => days(year, month, 1) * DAY,
        Span::Week => (day - (day + 3).rem_euclid(7)) * DAY,
        Span::Day => day * DAY,
        Span::Hour => moment.div_euclid(HOUR) * HOUR,
        Span::Minute => moment.div_euclid(MINUTE) * MINUTE,
    };
    // The week of the first day of the year -9999 starts in the year before.
    civil(start.div_euclid(DAY)).map(|_| start)
}

/// The midnight that a day starts with; nothing beyond 64 bits of microseconds.
pub(crate) fn midnight(day: i32) -> Option<i64> {
    i64::from(day).checked_mul(DAY)
}

/// The day that a moment lies on.
pub(crate) fn day_of(moment: i64) -> Option<i32> {
    i32::try_from(moment.div_euclid(DAY)).ok()
}

/// A day as text.
pub(crate) fn day_text(day: i32) -> Option<String> {
    let (year, month, date) = civil(i64::from(day))?;
    let sign = if year < 0 { "-" } else { "" };
    Some(format!("{sign}{:04}-{month:02}-{date:02}", year.abs()))
}

/// A moment as text.
pub(crate) fn moment_text(moment: i64) -> Option<String> {
    let (day, time) = (day_of(moment)?, moment.rem_euclid(DAY));
    let (hour, minute, second) = (time / HOUR, time / MINUTE % 60, time / SECOND % 60);
    let mut text = format!("{}T{hour:02}:{minute:02}:{second:02}", day_text(day)?);
    if time % SECOND != 0 {
        let fraction = format!(".{:06}", time % SECOND);
        text.push_str(fraction.trim_end_matches('0'));
    }
    Some(text)
}

/// A text as a day: `2024-02-29`. A text that is a moment is none.
pub(crate) fn parse_day(text: &str) -> Option<i32> {
    let (day, rest) = take_day(text.trim_ascii().as_bytes())?;
    rest.is_empty().then_some(day)
}

/// A text as a moment: a day, or `2024-02-29 12:34`, with a `T` for the space, with seconds and up to nine
/// digits of a fraction (cut off at six), and with `Z` or an offset, which is taken off.
pub(crate) fn parse_moment(text: &str) -> Option<i64> {
    let (day, rest) = take_day(text.trim_ascii().as_bytes())?;
    let midnight = i64::from(day) * DAY;
    let Some((b' ' | b'T' | b't', rest)) = rest.split_first() else {
        return rest.is_empty().then_some(midnight);
    };
    let (hour, rest) = take_two(rest, 23)?;
    let (minute, mut rest) = take_two(rest.strip_prefix(b":")?, 59)?;
    let mut moment = midnight + hour * HOUR + minute * MINUTE;
    if let Some(seconds) = rest.strip_prefix(b":") {
        let (second, after) = take_two(seconds, 59)?;
        (moment, rest) = (moment + second * SECOND, after);
        if let Some(fraction) = rest.strip_prefix(b".") {
            let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if digits == 0 || digits > 9 {
                return None;
            }
            let micros = fraction[..digits].iter().chain([b'0'; 6].iter()).take(6);
            moment += micros.fold(0, |total, byte| total * 10 + i64::from(byte - b'0'));
            rest = &fraction[digits..];
        }
    }
    match rest {
        [] | [b'Z' | b'z'] => Some(moment),
        [sign @ (b'+' | b'-'), rest @ ..] => {
            let (hours, rest) = take_two(rest, 23)?;
            let (minutes, rest) = if rest.is_empty() {
                (0, rest)
            } else {
                take_two(rest.strip_prefix(b":").unwrap_or(rest), 59)?
            };
            let offset = hours * HOUR + minutes * MINUTE;
            rest.is_empty().then_some(if *sign == b'+' { moment - offset } else { moment + offset })
        }
        _ => None,
    }
}

fn take_day(text: &[u8]) -> Option<(i32, &[u8])> {
    let (negative, text) = match text.strip_prefix(b"-") {
        Some(text) => (true, text),
        None => (false, text),
    };
    let (century, rest) = take_two(text, 99)?;
    let (year, rest) = take_two(rest, 99)?;
    let year = (century * 100 + year) * if negative { -1 } else { 1 };
    let (month, rest) = take_two(rest.strip_prefix(b"-")?, 12)?;
    let (date, rest) = take_two(rest.strip_prefix(b"-")?, 31)?;
    let day = days(year, month, date);
    // A day that there is not (the 30th of February) comes back as another one.
    (civil(day)? == (year, month, date)).then_some(())?;
    Some((i32::try_from(day).ok()?, rest))
}

fn take_two(text: &[u8], most: i64) -> Option<(i64, &[u8])> {
    match text {
        [a @ b'0'..=b'9', b @ b'0'..=b'9', rest @ ..] => {
            let number = i64::from(a - b'0') * 10 + i64::from(b - b'0');
            (number <= most).then_some((number, rest))
        }
        _ => None,
    }
}

/// The days since 1970 of a date. Years start in March here, so that the leap day is the last one.
fn days(year: i64, month: i64, date: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + date - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The year, month and date of a day since 1970, between the years -9999 and 9999.
fn civil(day: i64) -> Option<(i64, i64, i64)> {
    const FIRST: i64 = -4_371_587; // -9999-01-01
    const LAST: i64 = 2_932_896; // 9999-12-31
    if !(FIRST..=LAST).contains(&day) {
        return None;
    }
    let shifted = day + 719_468;
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let date = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + shifted.div_euclid(146_097) * 400 + i64::from(month <= 2);
    Some((year, month, date))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_has_one_date_and_its_text_comes_back() {
        let mut before = None;
        for day in -4_371_587..=2_932_896 {
            let date = civil(day).unwrap();
            assert_eq!(days(date.0, date.1, date.2), day);
            assert!(before < Some(date));
            before = Some(date);
            if day % 97 == 0 {
                let day = i32::try_from(day).unwrap();
                assert_eq!(parse_day(&day_text(day).unwrap()), Some(day));
                let moment = midnight(day).unwrap() + 43_210_987_654;
                assert_eq!(parse_moment(&moment_text(moment).unwrap()), Some(moment));
            }
        }
        assert_eq!(civil(-4_371_587), Some((-9999, 1, 1)));
        assert_eq!(civil(2_932_896), Some((9999, 12, 31)));
        assert_eq!((civil(-4_371_588), civil(2_932_897)), (None, None));
    }

    #[test]
    fn the_ends_of_time_have_no_parts_and_break_nothing() {
        for moment in [i64::MIN, i64::MAX] {
            assert_eq!(part(Part::Year, moment), None);
            assert_eq!(start(Span::Week, moment), None);
            assert_eq!(moment_text(moment), None);
        }
        assert_eq!((midnight(i32::MIN), midnight(i32::MAX)), (None, None));
    }

    #[test]
    fn parts_and_starts_are_those_of_the_calendar() {
        let moment = parse_moment("2024-02-29 13:45:59.25").unwrap();
        let parts = [
            (Part::Year, 2024),
            (Part::Quarter, 1),
            (Part::Month, 2),
            (Part::Day, 29),
            (Part::DayOfWeek, 4),
            (Part::Hour, 13),
            (Part::Minute, 45),
            (Part::Second, 59),
        ];
        for (of, expected) in parts {
            assert_eq!(part(of, moment), Some(expected), "{of:?}");
        }
        let starts = [
            (Span::Year, "2024-01-01T00:00:00"),
            (Span::Quarter, "2024-01-01T00:00:00"),
            (Span::Month, "2024-02-01T00:00:00"),
            (Span::Week, "2024-02-26T00:00:00"),
            (Span::Day, "2024-02-29T00:00:00"),
            (Span::Hour, "2024-02-29T13:00:00"),
            (Span::Minute, "2024-02-29T13:45:00"),
        ];
        for (of, expected) in starts {
            assert_eq!(moment_text(start(of, moment).unwrap()).unwrap(), expected, "{of:?}");
        }
        assert_eq!(part(Part::Second, -1), Some(59));
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "",
            "2024",
            "2024-2-1",
            "2023-02-29",
            "2024-13-01",
            "2024-01-01x",
            "20240101",
            "+2024-01-01",
        ] {
            assert_eq!((parse_day(text), parse_moment(text)), (None, None), "{text}");
        }
        for text in ["2024-01-01T", "2024-01-01 24:00", "2024-01-01 1:00", "2024-01-01 10:00:00."] {
            assert_eq!(parse_moment(text), None, "{text}");
        }
        assert_eq!(parse_moment("2024-01-01 10:00+02:00"), parse_moment("2024-01-01T08:00:00Z"));
        assert_eq!(parse_day(" 1970-01-02 "), Some(1));
    }
}
