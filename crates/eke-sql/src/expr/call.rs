//! What functions come to, value by value: [`evaluate`](crate::evaluate()) and engines that work on
//! columns call the same.

use crate::expr::civil;
use crate::expr::evaluate::{float_function, moment};
use crate::expr::format::MomentFormat;
use crate::expr::number;
use crate::expr::text;
use crate::{Function, Value};

/// A value that somebody else holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Datum<'a> {
    /// True or false.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A double: neither NaN nor -0.
    Float(f64),
    /// Text, of [`MAX_TEXT`](crate::MAX_TEXT) bytes at most.
    Text(&'a str),
    /// Days since 1970-01-01.
    Date(i32),
    /// Microseconds since 1970-01-01 00:00.
    Timestamp(i64),
}

impl<'a> Datum<'a> {
    /// What a value holds; none for NULL.
    #[must_use]
    pub fn of(value: &'a Value) -> Option<Self> {
        Some(match value {
            Value::Null => return None,
            Value::Bool(truth) => Self::Bool(*truth),
            Value::Int(int) => Self::Int(*int),
            Value::Float(float) => Self::Float(*float),
            Value::Text(text) => Self::Text(text),
            Value::Date(days) => Self::Date(*days),
            Value::Timestamp(micros) => Self::Timestamp(*micros),
        })
    }
}

/// What a function comes to whose arguments have types of their own
/// ([`takes`](Function::takes)), and `concat_ws`. NULL for other functions and types, and where an
/// argument is NULL, but for those that `concat_ws` leaves out.
#[must_use]
pub fn call(function: Function, arguments: &[Option<Datum<'_>>]) -> Value {
    if function == Function::ConcatWith {
        let texts = arguments.iter().map(|one| match one {
            Some(Datum::Text(text)) => Some(*text),
            _ => None,
        });
        return text::concat_with(texts).map_or(Value::Null, Value::Text);
    }
    let Some(present) = arguments.iter().copied().collect::<Option<Vec<_>>>() else {
        return Value::Null;
    };
    of_present(function, &present).unwrap_or(Value::Null)
}

fn of_present(function: Function, arguments: &[Datum<'_>]) -> Option<Value> {
    use Datum as D;
    use Function as F;
    let own = |text: &str| Some(Value::Text(text.to_owned()));
    match (function, arguments) {
        (F::Abs, [D::Int(int)]) => int.checked_abs().map(Value::Int),
        (function, [D::Float(value)]) => float_function(function, *value).map(Value::Float),
        (F::Round, [D::Float(value), D::Int(digits)]) => {
            Some(Value::float(number::to_digits(*value, *digits, true)))
        }
        (F::Trunc, [D::Float(value), D::Int(digits)]) => {
            Some(Value::float(number::to_digits(*value, *digits, false)))
        }
        (F::Power, [D::Float(base), D::Float(exponent)]) => {
            number::power(*base, *exponent).map(Value::Float)
        }
        (F::WidthBucket, [D::Float(value), D::Float(low), D::Float(high), D::Int(count)]) => {
            number::width_bucket(*value, *low, *high, *count).map(Value::Int)
        }
        (F::Lower, [D::Text(one)]) => Some(Value::Text(text::lower(one))),
        (F::Upper, [D::Text(one)]) => Some(Value::Text(text::upper(one))),
        (F::Initcap, [D::Text(one)]) => Some(Value::Text(text::initcap(one))),
        (F::Reverse, [D::Text(one)]) => Some(Value::Text(one.chars().rev().collect())),
        (F::Length, [D::Text(one)]) => i64::try_from(one.chars().count()).ok().map(Value::Int),
        (F::Trim | F::LeftTrim | F::RightTrim, [D::Text(one)]) => {
            own(text::trim(function, one, " "))
        }
        (F::Trim | F::LeftTrim | F::RightTrim, [D::Text(one), D::Text(characters)]) => {
            own(text::trim(function, one, characters))
        }
        (F::Substring, [D::Text(one), D::Int(from)]) => {
            text::substring(one, *from, None).map(Value::Text)
        }
        (F::Substring, [D::Text(one), D::Int(from), D::Int(count)]) => {
            text::substring(one, *from, Some(*count)).map(Value::Text)
        }
        (F::Left, [D::Text(one), D::Int(count)]) => own(text::left(one, *count)),
        (F::Right, [D::Text(one), D::Int(count)]) => own(text::right(one, *count)),
        (F::Repeat, [D::Text(one), D::Int(times)]) => Some(Value::Text(text::repeat(one, *times))),
        (F::Replace, [D::Text(one), D::Text(from), D::Text(to)]) => {
            Some(Value::Text(text::replace(one, from, to)))
        }
        (F::SplitPart, [D::Text(one), D::Text(by), D::Int(place)]) => {
            text::split_part(one, by, *place).and_then(own)
        }
        (F::Position, [D::Text(one), D::Text(sought)]) => {
            Some(Value::Int(text::position(one, sought)))
        }
        (F::StartsWith, [D::Text(one), D::Text(start)]) => {
            Some(Value::Bool(one.starts_with(start)))
        }
        (F::LeftPad | F::RightPad, [D::Text(one), D::Int(length)]) => {
            Some(Value::Text(text::pad(one, *length, " ", function == F::LeftPad)))
        }
        (F::LeftPad | F::RightPad, [D::Text(one), D::Int(length), D::Text(fill)]) => {
            Some(Value::Text(text::pad(one, *length, fill, function == F::LeftPad)))
        }
        (F::ToChar, [D::Timestamp(micros), D::Text(pattern)]) => {
            MomentFormat::new(pattern).ok()?.write(*micros).map(Value::Text)
        }
        (F::DateBin, [D::Int(stride), D::Timestamp(micros), D::Timestamp(origin)]) => {
            civil::bin(*stride, *micros, *origin).map(Value::Timestamp)
        }
        (F::AddDays, [D::Date(days), D::Int(more)]) => {
            civil::add_days(*days, *more).map(Value::Date)
        }
        (F::DaysBetween, [D::Date(days), D::Date(from)]) => {
            Some(Value::Int(i64::from(*days) - i64::from(*from)))
        }
        (F::Seconds, [D::Timestamp(micros)]) => Some(Value::Float(civil::seconds(*micros, 0))),
        (F::Seconds, [D::Timestamp(micros), D::Timestamp(from)]) => {
            Some(Value::Float(civil::seconds(*micros, *from)))
        }
        (function, [D::Timestamp(micros)]) => {
            let found = moment(function, *micros)?;
            Some(if function.is_start() { Value::Timestamp(found) } else { Value::Int(found) })
        }
        _ => None,
    }
}
