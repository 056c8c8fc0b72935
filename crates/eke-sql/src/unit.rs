//! What says which unit a row belongs to: one column, several, or a person and a period of time.
//!
//! A plan and a ledger know it by one name ([`UnitColumns`] as text), which says all of it: which
//! columns in which order, which period of which column, in which zone. One column goes by its own
//! name; anything else stands in parentheses, as `(serialno, sporder)` or
//! `(month UTC of started_at, rider_id)`, with names as SQL writes them. Ledgers outlive code: what
//! such a name means may never change.

use std::fmt;

use crate::expr::canonical::canonical;
use crate::expr::civil::DAY;
use crate::expr::display::{Part, identifier};
use crate::{Expr, Function, Type};

/// What says which unit a row belongs to (privacy unit).
///
/// ```
/// use eke_sql::{PeriodLength, UnitColumns, UnitPeriod, ZoneOffset};
/// let person = ["serialno", "sporder"].map(str::to_owned);
/// let columns = UnitColumns { columns: person.into(), period: None };
/// assert_eq!(columns.to_string(), "(serialno, sporder)");
/// let period = UnitPeriod {
///     every: PeriodLength::Month,
///     time_column: "Started".to_owned(),
///     zone: ZoneOffset::read("+02:00").unwrap(),
/// };
/// let rider = UnitColumns { columns: vec!["rider".to_owned()], period: Some(period) };
/// assert_eq!(rider.to_string(), "(month +02:00 of \"Started\", rider)");
/// assert_eq!(UnitColumns::read(&rider.to_string()), rider);
/// ```
#[doc(alias = "privacy unit")]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnitColumns {
    /// The columns that together name a person; none where each row is a unit of its own.
    pub columns: Vec<String>,
    /// The period that is a unit of its own for each person, if there is one.
    pub period: Option<UnitPeriod>,
}

/// A period of time that is a unit of its own for each person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitPeriod {
    /// How long it is.
    pub every: PeriodLength,
    /// The column that says when.
    pub time_column: String,
    /// Where days begin.
    pub zone: ZoneOffset,
}

/// How long a period is, by the Gregorian calendar; weeks begin on Mondays (ISO 8601).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PeriodLength {
    /// A day.
    Day,
    /// Seven days from a Monday on.
    Week,
    /// A month.
    Month,
    /// Three months, from January, April, July or October on.
    Quarter,
    /// A year from January on.
    Year,
}

/// How far the clocks of a zone are ahead of UTC, in whole minutes: always the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ZoneOffset {
    minutes: i16,
}

impl PeriodLength {
    /// All of them, the shortest first.
    pub const ALL: [Self; 5] = [Self::Day, Self::Week, Self::Month, Self::Quarter, Self::Year];

    /// The period of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|length| length.name() == name)
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Quarter => "quarter",
            Self::Year => "year",
        }
    }

    /// The most days that one has.
    fn days(self) -> u32 {
        match self {
            Self::Day => 1,
            Self::Week => 7,
            Self::Month => 31,
            Self::Quarter => 92,
            Self::Year => 366,
        }
    }

    /// How many different values a function of moments has at most, over the moments of one period.
    ///
    /// - Theorem: period-groups (docs/theorems.md)
    /// - Proves: D days in a row touch at most D/7 + 2 weeks, rounded down as below, and the given
    ///   number of months, quarters and years
    /// - Assumes: periods and the function read the same clock
    /// - Deviates: nothing
    /// - Checked by: `a_period_touches_no_more_values_than_is_said`
    pub(crate) fn most_values(self, function: Function) -> Option<u32> {
        let days = self.days();
        let weeks = match self {
            Self::Day | Self::Week => 1,
            _ => (days + 5) / 7 + 1,
        };
        // What has months in it, and what lies across their ends.
        let longer = |of_quarter: u32, of_year: u32| match self {
            Self::Day | Self::Month => 1,
            Self::Week => 2,
            Self::Quarter => of_quarter,
            Self::Year => of_year,
        };
        Some(match function {
            Function::StartOfSecond => days * 86_400,
            Function::StartOfMinute => days * 1_440,
            Function::StartOfHour => days * 24,
            Function::StartOfDay => days,
            Function::StartOfWeek => weeks,
            Function::StartOfMonth | Function::Month => longer(3, 12),
            Function::StartOfQuarter | Function::Quarter => longer(1, 4),
            Function::StartOfYear | Function::Year => longer(1, 1),
            Function::IsoYear => match self {
                Self::Day | Self::Week => 1,
                Self::Month | Self::Quarter => 2,
                Self::Year => 3,
            },
            Function::Week => weeks.min(53),
            Function::Day => days.min(31),
            Function::DayOfWeek | Function::IsoDayOfWeek => days.min(7),
            Function::DayOfYear => days,
            Function::Hour => 24,
            Function::Minute | Function::Second => 60,
            _ => return None,
        })
    }

    /// Whether the start of it follows from the start that a function gives.
    pub(crate) fn follows_from(self, finer: Function) -> bool {
        match finer {
            Function::StartOfSecond
            | Function::StartOfMinute
            | Function::StartOfHour
            | Function::StartOfDay => true,
            Function::StartOfWeek => self == Self::Week,
            Function::StartOfMonth => matches!(self, Self::Month | Self::Quarter | Self::Year),
            Function::StartOfQuarter => matches!(self, Self::Quarter | Self::Year),
            Function::StartOfYear => self == Self::Year,
            _ => false,
        }
    }

    /// The period whose start a function gives.
    pub(crate) fn started_by(function: Function) -> Option<Self> {
        match function.part() {
            Some(Part::Start(name)) => Self::named(name),
            _ => None,
        }
    }
}

impl fmt::Display for PeriodLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl ZoneOffset {
    /// That of UTC: none.
    pub const UTC: Self = Self { minutes: 0 };
    /// The furthest, in minutes.
    const MOST: i16 = 18 * 60;

    /// Reads `UTC`, `+02:00` or `-03:30`, up to 18 hours.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        if text == "UTC" {
            return Some(Self::UTC);
        }
        let sign = match text.as_bytes().first()? {
            b'+' => 1,
            b'-' => -1,
            _ => return None,
        };
        let (hours, minutes) = text[1..].split_once(':')?;
        let two = |digits: &str| {
            let is_number = digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| digits.parse::<i16>().ok()).flatten()
        };
        let (hours, minutes) = (two(hours)?, two(minutes)?);
        let all = sign * (hours * 60 + minutes);
        (minutes < 60 && all.abs() <= Self::MOST).then_some(Self { minutes: all })
    }

    fn micros(self) -> i64 {
        i64::from(self.minutes) * 60_000_000
    }
}

impl fmt::Display for ZoneOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.minutes == 0 {
            return f.write_str("UTC");
        }
        let (sign, minutes) = (if self.minutes < 0 { '-' } else { '+' }, self.minutes.abs());
        write!(f, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    }
}

impl UnitPeriod {
    /// The start of the period that a moment of the time column, of this type, lies in.
    #[must_use]
    pub fn start(&self, kind: Type) -> Expr {
        let column = Expr::Column(self.time_column.clone());
        let moment = match kind {
            Type::Date => Expr::Cast(Box::new(column), Type::Timestamp),
            _ => column,
        };
        let moment = match self.zone.micros() {
            0 => moment,
            micros => Expr::Shift { moment: Box::new(moment), months: 0, micros },
        };
        let function = match self.every {
            PeriodLength::Day => Function::StartOfDay,
            PeriodLength::Week => Function::StartOfWeek,
            PeriodLength::Month => Function::StartOfMonth,
            PeriodLength::Quarter => Function::StartOfQuarter,
            PeriodLength::Year => Function::StartOfYear,
        };
        canonical(Expr::Call(function, vec![moment]))
    }
}

impl UnitColumns {
    /// The one that goes by a name.
    #[must_use]
    pub fn read(name: &str) -> Self {
        Self::in_parentheses(name).unwrap_or_else(|| {
            let columns = if name.is_empty() { Vec::new() } else { vec![name.to_owned()] };
            Self { columns, period: None }
        })
    }

    /// Whether it is more than one column by its own name.
    #[must_use]
    pub fn is_composed(&self) -> bool {
        self.columns.len() > 1 || self.period.is_some()
    }

    /// Whether a column of this name could be taken for several.
    #[must_use]
    pub fn is_ambiguous(name: &str) -> bool {
        name.starts_with('(')
    }

    fn in_parentheses(name: &str) -> Option<Self> {
        let mut rest = name.strip_prefix('(')?.strip_suffix(')')?;
        let mut period = None;
        let every = PeriodLength::ALL.into_iter().find_map(|every| {
            let (zone, of) = rest.strip_prefix(every.name())?.strip_prefix(' ')?.split_once(' ')?;
            Some((every, ZoneOffset::read(zone)?, of.strip_prefix("of ")?))
        });
        if let Some((every, zone, of)) = every {
            let (time_column, next) = first_name(of)?;
            rest = next.strip_prefix(", ")?;
            period = Some(UnitPeriod { every, time_column, zone });
        }
        let mut columns = Vec::new();
        loop {
            let (column, next) = first_name(rest)?;
            columns.push(column);
            match next.strip_prefix(", ") {
                Some(next) => rest = next,
                None if next.is_empty() => return Some(Self { columns, period }),
                None => return None,
            }
        }
    }
}

impl fmt::Display for UnitColumns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.is_composed() {
            return f.write_str(self.columns.first().map_or("", String::as_str));
        }
        f.write_str("(")?;
        if let Some(UnitPeriod { every, time_column, zone }) = &self.period {
            write!(f, "{every} {zone} of {}, ", identifier(time_column))?;
        }
        let columns: Vec<String> = self.columns.iter().map(|name| identifier(name)).collect();
        write!(f, "{})", columns.join(", "))
    }
}

/// A name as SQL writes it, and what follows it.
fn first_name(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let (name, rest) = text.split_at(end.unwrap_or(text.len()));
        return (!name.is_empty()).then(|| (name.to_owned(), rest));
    };
    let (mut name, mut rest) = (String::new(), quoted);
    loop {
        let (part, next) = rest.split_once('"')?;
        name.push_str(part);
        match next.strip_prefix('"') {
            Some(more) => {
                name.push('"');
                rest = more;
            }
            None => return Some((name, next)),
        }
    }
}

/// What a moment is computed from by adding a constant time: what it is, and how much.
pub(crate) fn moment_of(expr: &Expr) -> (&Expr, i64) {
    match expr {
        Expr::Shift { moment, months: 0, micros } => {
            let (of, more) = moment_of(moment);
            (of, more.saturating_add(*micros))
        }
        Expr::Cast(one, Type::Timestamp) => moment_of(one),
        expr => (expr, 0),
    }
}

/// Whether clocks that differ by this much show the same date at most times: by less than a day.
pub(crate) fn is_close(micros: i64) -> bool {
    micros.unsigned_abs() < DAY.unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Leaf, Value, evaluate};
    use std::collections::BTreeSet;

    #[test]
    fn a_name_says_all_of_it() {
        let names = ["a", "b c", "B\"x\"", "(a, b)", "month UTC of t", ", ", "", "UTC"];
        let mut seen = BTreeSet::new();
        for one in names {
            for other in names {
                for zone in ["UTC", "+02:00", "-03:30"] {
                    for every in PeriodLength::ALL.map(Some).into_iter().chain([None]) {
                        let period = every.map(|every| UnitPeriod {
                            every,
                            time_column: one.to_owned(),
                            zone: ZoneOffset::read(zone).unwrap(),
                        });
                        let columns = vec![one.to_owned(), other.to_owned()];
                        let is = UnitColumns { columns, period };
                        assert_eq!(UnitColumns::read(&is.to_string()), is, "{is}");
                        let is_new = seen.insert(is.to_string());
                        assert!(is_new || is.period.is_none(), "{is}");
                    }
                }
            }
        }
        for plain in ["rider", "Rider Id", "(odd", "(a b)", "()", "(a,b)", "(month of t, a)"] {
            let read = UnitColumns::read(plain);
            assert_eq!(read, UnitColumns { columns: vec![plain.to_owned()], period: None });
            assert_eq!(read.to_string(), plain);
        }
        assert_eq!(UnitColumns::read(""), UnitColumns::default());
    }

    #[test]
    fn zones_are_whole_minutes_up_to_eighteen_hours() {
        for text in ["UTC", "+00:30", "+02:00", "-03:30", "+18:00", "-18:00"] {
            assert_eq!(ZoneOffset::read(text).unwrap().to_string(), text);
        }
        assert_eq!(ZoneOffset::read("-00:00"), Some(ZoneOffset::UTC));
        for text in ["", "utc", "2:00", "+2:00", "+02:60", "+18:01", "+02", "+é:00", "Europe/Rome"]
        {
            assert_eq!(ZoneOffset::read(text), None, "{text}");
        }
    }

    /// Every moment of the hours around it, over twenty-eight years with all starts of weeks in
    /// leap years: what is said is reached, and nothing more.
    #[test]
    fn a_period_touches_no_more_values_than_is_said() {
        use Function as F;
        const HOUR: i64 = 3_600_000_000;
        let functions = [
            F::StartOfDay,
            F::StartOfWeek,
            F::StartOfMonth,
            F::StartOfQuarter,
            F::StartOfYear,
            F::Year,
            F::Quarter,
            F::Month,
            F::Week,
            F::IsoYear,
            F::Day,
            F::DayOfWeek,
            F::DayOfYear,
        ];
        let start = i64::from(crate::scalar::date_of_text("1999-12-27").unwrap()) * DAY;
        let value = |function: Function, moment: i64| {
            let literal = Expr::Literal(Value::Timestamp(moment));
            evaluate(&Expr::Call(function, vec![literal]), &|_: Leaf<'_>| Value::Null)
        };
        for every in PeriodLength::ALL {
            let period = UnitPeriod { every, time_column: "t".to_owned(), zone: ZoneOffset::UTC };
            let Expr::Call(of, _) = period.start(Type::Timestamp) else { panic!("no start") };
            let mut most = vec![0; functions.len()];
            let mut seen: Vec<BTreeSet<Value>> = vec![BTreeSet::new(); functions.len()];
            let mut now = None;
            for day in 0..28 * 366 {
                let moment = start + day * DAY + 23 * HOUR;
                let own = value(of, moment);
                if now.replace(own.clone()) != Some(own) {
                    seen.iter_mut().for_each(BTreeSet::clear);
                }
                for ((function, seen), most) in functions.iter().zip(&mut seen).zip(&mut most) {
                    seen.insert(value(*function, moment));
                    *most = seen.len().max(*most);
                }
            }
            for (function, most) in functions.iter().zip(most) {
                let said = every.most_values(*function).unwrap() as usize;
                assert_eq!(most, said, "{function} in a {every}");
            }
        }
        assert_eq!(PeriodLength::Month.most_values(F::StartOfWeek), Some(6));
        assert_eq!(PeriodLength::Day.most_values(F::StartOfHour), Some(24));
        assert_eq!(PeriodLength::Month.most_values(F::Seconds), None);
    }
}
