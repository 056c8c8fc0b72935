//! When something happened. The caller says when: the ledger has no clock of its own.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;

/// A moment in UTC, to the microsecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment {
    micros: i64,
}

impl Moment {
    /// That many microseconds after the beginning of 1970.
    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        Self { micros }
    }

    /// Now, by the clock of the machine.
    #[must_use]
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { micros: i64::try_from(since.as_micros()).unwrap_or(i64::MAX) }
    }
}

/// As RFC 3339 has it: `2026-11-16T08:30:00.000000Z`.
impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, micros) =
            (self.micros.div_euclid(1_000_000), self.micros.rem_euclid(1_000_000));
        let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        let (year, month, day) = civil(days);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z")
    }
}

/// The date of a day counted from the beginning of 1970. Years start in March here, so that the
/// day a leap year adds is the last one; 400 years are 146,097 days.
fn civil(days: i64) -> (i64, i64, i64) {
    let since = days + 719_468;
    let (era, day_of_era) = (since.div_euclid(146_097), since.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

impl Serialize for Moment {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_people_and_programs_read_them() {
        let cases = [
            (0, "1970-01-01T00:00:00.000000Z"),
            (951_782_400_000_000, "2000-02-29T00:00:00.000000Z"),
            (1_794_818_842_000_001, "2026-11-16T08:47:22.000001Z"),
            (-1, "1969-12-31T23:59:59.999999Z"),
            (4_107_542_399_999_999, "2100-02-28T23:59:59.999999Z"),
            (4_107_542_400_000_000, "2100-03-01T00:00:00.000000Z"),
        ];
        for (micros, text) in cases {
            assert_eq!(Moment::from_micros(micros).to_string(), text);
        }
    }
}
