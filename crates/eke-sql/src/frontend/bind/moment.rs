//! Days and moments: what is added to them, the zones they are in, and their parts.

use sqlparser::ast::{self, BinaryOperator};

use super::{Binder, Bound};
use crate::error::{TypeError, Unsupported, short};
use crate::expr::civil::{DAY, seconds};
use crate::expr::display::Part;
use crate::expr::format::MomentFormat;
use crate::frontend::clauses::{bare, no};
use crate::frontend::limits;
use crate::{Binary, Expr, Function, SqlError, Type, Unary, Value};

/// A constant length of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    months: i32,
    micros: i64,
}

/// The longest, in microseconds: beyond it nothing has a date.
const LONGEST: i64 = 20_000 * 366 * DAY;

/// What DATEDIFF counts, with how many seconds each has, if all have as many: days first.
const COUNTED: [(&str, Option<f64>); 7] = [
    ("day", None),
    ("hour", Some(3_600.0)),
    ("minute", Some(60.0)),
    ("second", Some(1.0)),
    ("month", None),
    ("quarter", None),
    ("year", None),
];

/// Units of time with the months and microseconds that they have; also with an `s`.
const UNITS: [(&[&str], i32, i64); 11] = [
    (&["microsecond", "us", "usec"], 0, 1),
    (&["millisecond", "ms", "msec"], 0, 1_000),
    (&["second", "sec", "s"], 0, 1_000_000),
    (&["minute", "min", "m"], 0, 60_000_000),
    (&["hour", "hr", "h"], 0, 3_600_000_000),
    (&["day", "d"], 0, DAY),
    (&["week", "w"], 0, 7 * DAY),
    (&["month", "mon"], 1, 0),
    (&["quarter"], 3, 0),
    (&["year", "yr", "y"], 12, 0),
    (&["decade"], 120, 0),
];

impl Interval {
    /// What a text says: numbers with units, and `HH:MM` or `HH:MM:SS`.
    fn read(text: &str) -> Option<Self> {
        let mut all = Self { months: 0, micros: 0 };
        let spaced: String = spread(text);
        let mut words = spaced.split_whitespace();
        let mut is_empty = true;
        while let Some(word) = words.next() {
            let own = if word.contains(':') {
                Self { months: 0, micros: clock(word)? }
            } else {
                Self::times(word, words.next()?)?
            };
            all = all.plus(own)?;
            is_empty = false;
        }
        (!is_empty).then_some(all)
    }

    /// A number of a unit.
    fn times(number: &str, unit: &str) -> Option<Self> {
        let unit = unit.to_ascii_lowercase();
        let (_, months, micros) = UNITS.iter().find(|(names, ..)| {
            names.iter().any(|name| unit == *name || unit.strip_suffix('s') == Some(name))
        })?;
        let micros = if *micros == 0 { 0 } else { decimal(number, *micros)? };
        let months = match months {
            0 => 0,
            months => number.parse::<i32>().ok()?.checked_mul(*months)?,
        };
        Self { months: 0, micros: 0 }.plus(Self { months, micros })
    }

    /// Its seconds, as a number to compare with.
    pub(super) fn seconds(self) -> Bound {
        let micros = self.micros.saturating_add(i64::from(self.months) * 30 * DAY);
        Bound::new(Expr::Literal(Value::float(seconds(micros, 0))), Type::Float)
    }

    fn plus(self, other: Self) -> Option<Self> {
        let months = self.months.checked_add(other.months)?;
        let micros = self.micros.checked_add(other.micros)?;
        let fits =
            months.unsigned_abs() <= 240_000 && micros.unsigned_abs() <= LONGEST.unsigned_abs();
        fits.then_some(Self { months, micros })
    }
}

/// With a blank between a number and the letters that follow it.
fn spread(text: &str) -> String {
    let mut spaced = String::new();
    let mut digit = false;
    for character in text.chars() {
        if digit && character.is_ascii_alphabetic() {
            spaced.push(' ');
        }
        spaced.push(character);
        digit = character.is_ascii_digit() || character == '.';
    }
    spaced
}

/// A decimal number of a unit, in microseconds; none if it is not whole in them.
fn decimal(number: &str, unit: i64) -> Option<i64> {
    let (negative, digits) = match number.strip_prefix(['+', '-']) {
        Some(digits) => (number.starts_with('-'), digits),
        None => (false, number),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = !digits.is_empty() && whole.len() + fraction.len() > 0;
    if !is_number || !plain(whole) || !plain(fraction) || whole.len() > 18 || fraction.len() > 12 {
        return None;
    }
    let part = |text: &str| if text.is_empty() { Some(0) } else { text.parse::<i128>().ok() };
    let scale = 10i128.pow(u32::try_from(fraction.len()).ok()?);
    let scaled = (part(whole)? * scale + part(fraction)?) * i128::from(unit);
    let micros = if scaled % scale == 0 { scaled / scale } else { return None };
    i64::try_from(if negative { -micros } else { micros }).ok()
}

/// `HH:MM` or `HH:MM:SS`, perhaps with a sign and a fraction, in microseconds.
fn clock(word: &str) -> Option<i64> {
    let (negative, word) = match word.strip_prefix(['+', '-']) {
        Some(rest) => (word.starts_with('-'), rest),
        None => (false, word),
    };
    let mut parts = word.split(':');
    let mut micros = 0i64;
    for (unit, below) in [(3_600_000_000, None), (60_000_000, Some(2)), (1_000_000, Some(2))] {
        let Some(part) = parts.next() else { break };
        let whole = part.split('.').next()?;
        if !part.starts_with(|c: char| c.is_ascii_digit())
            || below.is_some_and(|digits| whole.len() != digits || whole >= "60")
        {
            return None;
        }
        micros = micros.checked_add(decimal(part, unit)?)?;
    }
    parts.next().is_none().then_some(if negative { -micros } else { micros })
}

/// The months and microseconds of an interval that is written out; none if it is none.
pub(crate) fn series_step(expr: &ast::Expr) -> Result<Option<(i32, i64)>, SqlError> {
    Ok(interval(expr)?.map(|step| (step.months, step.micros)))
}

/// An interval that is written out; none if it is none.
pub(super) fn interval(expr: &ast::Expr) -> Result<Option<Interval>, SqlError> {
    let (value, unit) = match bare(expr) {
        ast::Expr::Interval(ast::Interval {
            value,
            leading_field,
            leading_precision: None,
            last_field: None,
            fractional_seconds_precision: None,
        }) => (value, leading_field.as_ref()),
        ast::Expr::Cast { expr: value, data_type: ast::DataType::Interval { .. }, .. } => {
            (value, None)
        }
        ast::Expr::Interval(_) => return Err(no_interval(expr)),
        _ => return Ok(None),
    };
    let (is_negative, value) = match bare(value) {
        ast::Expr::UnaryOp { op: ast::UnaryOperator::Minus, expr } => (true, bare(expr)),
        value => (false, value),
    };
    let ast::Expr::Value(value) = value else { return Err(no_interval(expr)) };
    let text = match (&value.value, is_negative) {
        (ast::Value::Number(digits, false), false) => digits.clone(),
        (ast::Value::Number(digits, false), true) => format!("-{digits}"),
        (ast::Value::SingleQuotedString(text), false) => text.clone(),
        _ => return Err(no_interval(expr)),
    };
    let read = match unit {
        Some(unit) if text.trim().bytes().all(|byte| b"+-.0123456789".contains(&byte)) => {
            Interval::times(text.trim(), &unit.to_string())
        }
        Some(_) => None,
        None => Interval::read(&text),
    };
    read.map(Some).ok_or_else(|| no_interval(expr))
}

fn no_interval(expr: &ast::Expr) -> SqlError {
    Unsupported::form(
        expr,
        "write a constant such as INTERVAL '3 days', '2 hours 30 minutes' or '1 year 6 months'",
    )
}

/// A difference of moments that is compared with an interval: what is compared, how, and with how
/// many seconds. A month has 30 days there, as in PostgreSQL.
pub(super) fn lasting(
    expr: &ast::Expr,
) -> Result<Option<(&ast::Expr, BinaryOperator, Bound)>, SqlError> {
    use BinaryOperator as B;
    let ast::Expr::BinaryOp { left, op, right } = expr else { return Ok(None) };
    let turned = match op {
        B::Gt => B::Lt,
        B::GtEq => B::LtEq,
        B::Lt => B::Gt,
        B::LtEq => B::GtEq,
        B::Eq | B::NotEq => op.clone(),
        _ => return Ok(None),
    };
    if is_difference(left)?
        && let Some(interval) = interval(right)?
    {
        return Ok(Some((left, op.clone(), interval.seconds())));
    }
    if is_difference(right)?
        && let Some(interval) = interval(left)?
    {
        return Ok(Some((right, turned, interval.seconds())));
    }
    Ok(None)
}

/// Whether it is one thing less another, which is no interval.
pub(super) fn is_difference(expr: &ast::Expr) -> Result<bool, SqlError> {
    match bare(expr) {
        ast::Expr::BinaryOp { left, op: BinaryOperator::Minus, right } => {
            Ok(interval(left)?.is_none() && interval(right)?.is_none())
        }
        _ => Ok(false),
    }
}

/// A moment with an interval added, or taken away.
pub(super) fn shifted(
    (bound, written): (Bound, String),
    interval: Interval,
    operator: &BinaryOperator,
) -> Result<Bound, SqlError> {
    let Interval { months, micros } = match operator {
        BinaryOperator::Plus => interval,
        BinaryOperator::Minus => Interval { months: -interval.months, micros: -interval.micros },
        _ => {
            return Err(no(
                "INTERVAL with another operator than + and -",
                "add it to a date or a timestamp, or take it away from one",
            ));
        }
    };
    let bound = match bound.kind {
        None | Some(Type::Date | Type::Timestamp) => bound.coerced(Type::Timestamp, &written)?,
        kind => {
            return Err(TypeError::needs(&written, kind, "INTERVAL", "a date or a timestamp"));
        }
    };
    let moment = Box::new(bound.expr);
    Ok(Bound::new(Expr::Shift { moment, months, micros }, Type::Timestamp))
}

/// Days with days added, taken away, or counted between; none for other operands.
pub(super) fn days(
    operator: &BinaryOperator,
    left: &(Bound, String),
    right: &(Bound, String),
) -> Result<Option<Bound>, SqlError> {
    use BinaryOperator as B;
    let call =
        |function, arguments, kind| Ok(Some(Bound::new(Expr::Call(function, arguments), kind)));
    let text = |bound: &Bound| matches!(bound.expr, Expr::Literal(Value::Text(_)));
    let (a, b) = (left.0.expr.clone(), right.0.expr.clone());
    match (operator, left.0.kind, right.0.kind) {
        (B::Plus, Some(Type::Date), Some(Type::Int)) => {
            call(Function::AddDays, vec![a, b], Type::Date)
        }
        (B::Plus, Some(Type::Int), Some(Type::Date)) => {
            call(Function::AddDays, vec![b, a], Type::Date)
        }
        (B::Minus, Some(Type::Date), Some(Type::Int)) => {
            let less = Expr::Unary(Unary::Negate, Box::new(b));
            call(Function::AddDays, vec![a, less], Type::Date)
        }
        (B::Minus, Some(Type::Date), Some(Type::Date)) => {
            call(Function::DaysBetween, vec![a, b], Type::Int)
        }
        (B::Minus, Some(Type::Date), Some(Type::Text)) if text(&right.0) => {
            let b = right.0.clone().coerced(Type::Date, &right.1)?;
            call(Function::DaysBetween, vec![a, b.expr], Type::Int)
        }
        (B::Minus, Some(Type::Text), Some(Type::Date)) if text(&left.0) => {
            let a = left.0.clone().coerced(Type::Date, &left.1)?;
            call(Function::DaysBetween, vec![a.expr, b], Type::Int)
        }
        (
            B::Minus,
            Some(Type::Date | Type::Timestamp),
            Some(Type::Date | Type::Timestamp | Type::Text),
        ) => Err(Unsupported::Difference { left: left.1.clone(), right: right.1.clone() }.into()),
        _ => Ok(None),
    }
}

impl Binder<'_> {
    /// A moment, from a zone that is written out to another.
    pub(super) fn in_zone(&self, moment: &ast::Expr, zone: &ast::Expr) -> Result<Bound, SqlError> {
        let to = self.offset(zone)?;
        if let ast::Expr::AtTimeZone { timestamp, time_zone } = bare(moment) {
            let from = self.offset(time_zone)?;
            let moment = self.moment(timestamp, "AT TIME ZONE")?;
            let micros = to - from;
            let shift = Expr::Shift { moment: Box::new(moment), months: 0, micros };
            return Ok(Bound::new(shift, Type::Timestamp));
        }
        if to != 0 {
            return Err(Unsupported::OneZone { written: short(moment), zone: short(zone) }.into());
        }
        Ok(Bound::new(self.moment(moment, "AT TIME ZONE")?, Type::Timestamp))
    }

    /// How far a zone is ahead of UTC, in microseconds.
    fn offset(&self, zone: &ast::Expr) -> Result<i64, SqlError> {
        if let Some(Interval { months: 0, micros }) = interval(zone)? {
            return Ok(micros);
        }
        match self.bind(zone)?.constant() {
            Some(Value::Text(name))
                if ["utc", "gmt", "z", "zulu", "etc/utc", "utc+0", "utc+00:00"]
                    .contains(&name.to_lowercase().as_str()) =>
            {
                Ok(0)
            }
            _ => Err(Unsupported::Zone { written: short(zone) }.into()),
        }
    }

    /// DATE_ADD and DATE_SUB.
    pub(super) fn date_add(&self, name: &str, arguments: &[&ast::Expr]) -> Result<Bound, SqlError> {
        let function = name.to_uppercase();
        let [one, by] = arguments else {
            let (given, instead) = (arguments.len(), format!("{function}(x, INTERVAL '3 days')"));
            return Err(TypeError::Arguments { function, given, instead }.into());
        };
        let Some(by) = interval(by)? else { return Err(no_interval(by)) };
        let operator =
            if name == "date_add" { BinaryOperator::Plus } else { BinaryOperator::Minus };
        shifted((self.bind(one)?, short(one)), by, &operator)
    }

    /// DATE_BIN.
    pub(super) fn date_bin(&self, arguments: &[&ast::Expr]) -> Result<Bound, SqlError> {
        let (stride, one, origin) = match arguments {
            [stride, one] => (stride, one, None),
            [stride, one, origin] => (stride, one, Some(origin)),
            _ => {
                let (function, given) = ("DATE_BIN".to_owned(), arguments.len());
                let instead = "DATE_BIN(INTERVAL '15 minutes', x)".to_owned();
                return Err(TypeError::Arguments { function, given, instead }.into());
            }
        };
        // Here a text alone is an interval too.
        let read = match bare(stride) {
            ast::Expr::Value(ast::ValueWithSpan {
                value: ast::Value::SingleQuotedString(text),
                ..
            }) => Interval::read(text),
            _ => interval(stride)?,
        };
        let Some(Interval { months: 0, micros: stride @ 1.. }) = read else {
            return Err(Unsupported::form(
                stride,
                "DATE_BIN takes an INTERVAL of days, hours, minutes or seconds first; \
                 DATE_TRUNC has months and years",
            ));
        };
        let moment = self.moment(one, "DATE_BIN")?;
        let origin = match origin {
            Some(origin) => {
                let bound = self.bind(origin)?.coerced(Type::Timestamp, &short(*origin))?;
                bound.expr
            }
            None => Expr::Literal(Value::Timestamp(0)),
        };
        let arguments = vec![Expr::Literal(Value::Int(stride)), moment, origin];
        Ok(Bound::new(Expr::Call(Function::DateBin, arguments), Type::Timestamp))
    }

    /// TO_CHAR.
    pub(super) fn to_char(&self, arguments: &[&ast::Expr]) -> Result<Bound, SqlError> {
        let [one, pattern] = arguments else {
            return Err(TypeError::TwoArguments { function: "TO_CHAR".to_owned() }.into());
        };
        let bound = self.bind(one)?;
        if matches!(bound.kind, Some(Type::Int | Type::Float)) {
            return Err(Unsupported::form(
                *one,
                "TO_CHAR writes dates and timestamps; write CAST(x AS TEXT) for a number",
            ));
        }
        let moment = self.moment(one, "TO_CHAR")?;
        let pattern = match self.bind(pattern)?.constant() {
            Some(Value::Text(text)) if text.chars().count() <= limits::PATTERN => text,
            _ => {
                return Err(Unsupported::form(
                    *pattern,
                    "the pattern of TO_CHAR is a constant such as 'YYYY-MM', of 250 characters at \
                     most",
                ));
            }
        };
        if let Err(part) = MomentFormat::new(&pattern) {
            return Err(Unsupported::Format { part: short(&part) }.into());
        }
        let arguments = vec![moment, Expr::Literal(Value::Text(pattern))];
        Ok(Bound::new(Expr::Call(Function::ToChar, arguments), Type::Text))
    }

    /// DATE_PART and DATE_TRUNC.
    pub(super) fn dated(&self, name: &str, arguments: &[&ast::Expr]) -> Result<Bound, SqlError> {
        let [field, one] = arguments else {
            return Err(TypeError::TwoArguments { function: name.to_uppercase() }.into());
        };
        // Elsewhere the part is a word, and comes last: DATE_TRUNC(x, MONTH).
        if name == "date_trunc"
            && !matches!(bare(field), ast::Expr::Value(_))
            && let Some(function) = word(one).and_then(|part| Function::of_part(Part::Start(&part)))
        {
            let moment = self.moment(field, "DATE_TRUNC")?;
            return Ok(Bound::new(Expr::Call(function, vec![moment]), Type::Timestamp));
        }
        let Some(Value::Text(field)) = self.bind(field)?.constant() else {
            return Err(Unsupported::OpenPart { function: name.to_uppercase() }.into());
        };
        if name == "date_part" {
            return self.part(&field, one);
        }
        let function = Function::of_part(Part::Start(&field.to_lowercase()))
            .ok_or_else(|| Unsupported::Truncated { part: short(&field) })?;
        let moment = self.moment(one, "DATE_TRUNC")?;
        Ok(Bound::new(Expr::Call(function, vec![moment]), Type::Timestamp))
    }

    /// DATE_DIFF(a, b, DAY), DATEDIFF('day', b, a) and DATEDIFF(a, b): how many days, hours and so
    /// on begin after one moment and not after the other.
    pub(super) fn date_diff(
        &self,
        name: &str,
        arguments: &[&ast::Expr],
    ) -> Result<Bound, SqlError> {
        let part = |one: &ast::Expr| {
            let word = word(one)?;
            let part = word.strip_suffix('s').unwrap_or(&word);
            COUNTED.iter().find(|(name, _)| *name == part)
        };
        // A column may be called as a part is.
        let begins = |first: &ast::Expr| {
            let is_text = matches!(bare(first), ast::Expr::Value(_));
            part(first).is_some() && (is_text || name == "datediff")
        };
        let between = match arguments {
            [to, from, last] if part(last).is_some() && !begins(to) => {
                part(last).map(|part| (part, to, from))
            }
            [first, from, to] => part(first).map(|part| (part, to, from)),
            [to, from] => Some((&COUNTED[0], to, from)),
            _ => None,
        };
        let Some(((part, seconds), to, from)) = between else {
            return Err(Unsupported::Function {
                function: name.to_uppercase(),
                instead: "write DATEDIFF(minute, a, b) for how many minutes begin after a and not \
                          after b; so do second, hour, day, month, quarter and year",
            }
            .into());
        };
        let call = |function, of| Expr::Call(function, of);
        let pair = |operator, one, other| Expr::Binary(operator, Box::new(one), Box::new(other));
        let int = |number: i64| Expr::Literal(Value::Int(number));
        if *part == "day" {
            let day = |one: &ast::Expr| {
                let bound = self.bind(one)?;
                if bound.kind == Some(Type::Date) {
                    return Ok(bound.expr);
                }
                let moment = self.moment(one, name)?;
                Ok::<_, SqlError>(Expr::Cast(Box::new(moment), Type::Date))
            };
            let days = call(Function::DaysBetween, vec![day(to)?, day(from)?]);
            return Ok(Bound::new(days, Type::Int));
        }
        let upper = name.to_uppercase();
        let (to, from) = (self.moment(to, &upper)?, self.moment(from, &upper)?);
        let Some(seconds) = seconds else {
            // What is counted by the calendar.
            let count = |moment: Expr| {
                let year = call(Function::Year, vec![moment.clone()]);
                let (each, own) = match *part {
                    "month" => (12, Some(Function::Month)),
                    "quarter" => (4, Some(Function::Quarter)),
                    _ => return year,
                };
                let years = pair(Binary::Multiply, year, int(each));
                own.map_or(years.clone(), |own| pair(Binary::Add, years, call(own, vec![moment])))
            };
            let count = pair(Binary::Subtract, count(to), count(from));
            return Ok(Bound::new(count, Type::Int));
        };
        let start = |moment: Expr| {
            let start = Function::of_part(Part::Start(part));
            start.map_or(moment.clone(), |start| call(start, vec![moment]))
        };
        let apart = call(Function::Seconds, vec![start(to), start(from)]);
        let each = Expr::Literal(Value::float(*seconds));
        let count = Expr::Cast(Box::new(pair(Binary::Divide, apart, each)), Type::Int);
        Ok(Bound::new(count, Type::Int))
    }

    /// A part of a moment.
    pub(super) fn part(&self, field: &str, one: &ast::Expr) -> Result<Bound, SqlError> {
        let part = match field.to_lowercase().as_str() {
            "epoch" => return self.epoch(one),
            "dayofweek" | "weekday" => "DOW".to_owned(),
            "dayofyear" => "DOY".to_owned(),
            "isoweek" | "weekofyear" => "WEEK".to_owned(),
            part => part.to_ascii_uppercase(),
        };
        let function = Function::of_part(Part::Extract(&part))
            .ok_or_else(|| Unsupported::Part { part: short(&field) })?;
        let moment = self.moment(one, "EXTRACT")?;
        Ok(Bound::new(Expr::Call(function, vec![moment]), Type::Int))
    }

    /// The seconds from 1970 to a moment, or between two that are taken from each other.
    pub(super) fn epoch(&self, one: &ast::Expr) -> Result<Bound, SqlError> {
        let mut moments = vec![one];
        if let ast::Expr::BinaryOp { left, op: BinaryOperator::Minus, right } = bare(one)
            && interval(right)?.is_none()
            && !matches!(self.bind(right)?.kind, Some(Type::Int))
        {
            moments = vec![left, right];
        }
        let moments =
            moments.into_iter().map(|one| self.moment(one, "EXTRACT")).collect::<Result<_, _>>()?;
        Ok(Bound::new(Expr::Call(Function::Seconds, moments), Type::Float))
    }

    pub(super) fn moment(&self, one: &ast::Expr, operator: &str) -> Result<Expr, SqlError> {
        let bound = self.bind(one)?;
        match bound.kind {
            None | Some(Type::Date | Type::Timestamp) => {
                bound.coerced(Type::Timestamp, &short(one)).map(|bound| bound.expr)
            }
            kind => Err(TypeError::needs(one, kind, operator, "a date or a timestamp")),
        }
    }
}

/// A word that stands for a part of a moment, or a text: MONTH or 'month'.
fn word(expr: &ast::Expr) -> Option<String> {
    match bare(expr) {
        ast::Expr::Identifier(name) if name.quote_style.is_none() => {
            Some(name.value.to_lowercase())
        }
        ast::Expr::Value(value) => match &value.value {
            ast::Value::SingleQuotedString(text) => Some(text.to_lowercase()),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_read_as_postgresql_reads_them() {
        let is = |months, micros| Some(Interval { months, micros });
        for (text, read) in [
            ("3 days", is(0, 3 * DAY)),
            ("1 week", is(0, 7 * DAY)),
            ("-1 month", is(-1, 0)),
            ("1 year 6 mons", is(18, 0)),
            ("2 hours 30 minutes", is(0, 9_000_000_000)),
            ("1.5 hours", is(0, 5_400_000_000)),
            ("1 day 02:30", is(0, DAY + 9_000_000_000)),
            ("-00:00:01.5", is(0, -1_500_000)),
            ("10s", is(0, 10_000_000)),
            ("1 Decade", is(120, 0)),
            ("", None),
            ("3", None),
            ("days", None),
            ("1.5 months", None),
            ("1e3 days", None),
            ("1 fortnight", None),
            ("1 day ago", None),
            ("00:60", None),
            ("1:2:3:4", None),
            (".  days", None),
            ("99999999999999 days", None),
            ("-9223372036854775808 us", None),
        ] {
            assert_eq!(Interval::read(text), read, "{text}");
        }
    }
}
