//! When something happened. The caller says when: the ledger has no clock of its own.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use chrono::{DateTime, SecondsFormat, Utc};
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

    /// How many microseconds it is after that.
    #[must_use]
    pub const fn micros(self) -> i64 {
        self.micros
    }

    /// Now, by the clock of the machine.
    #[must_use]
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { micros: i64::try_from(since.as_micros()).unwrap_or(i64::MAX) }
    }
}

/// As RFC 3339 has it: `2026-11-16T08:30:00.000000Z`. The calendar ends in the year 262,142, and so
/// does this.
impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = if self.micros < 0 { DateTime::<Utc>::MIN_UTC } else { DateTime::<Utc>::MAX_UTC };
        let moment = DateTime::from_timestamp_micros(self.micros).unwrap_or(end);
        f.write_str(&moment.to_rfc3339_opts(SecondsFormat::Micros, true))
    }
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
