//! What an expression comes to, value by value: the meaning that engines must agree with.
//!
//! It is total: there is a value for every expression and every row. What cannot be done is NULL,
//! also where an expression was put together with the wrong types, which none that was planned is.
//! `docs/sql.md` lists the rules.

use std::cmp::Ordering;

use chrono::{Datelike, NaiveDate};

use crate::expr::call::Datum;
use crate::expr::civil::{self, DAY};
use crate::expr::number;
use crate::expr::pattern::Pattern;
use crate::expr::regex::Regex;
use crate::expr::scalar::{day_of, float, midnight};
use crate::expr::text;
use crate::{Binary, Expr, Function, Type, Unary, Value};

/// What an expression takes from outside: a column of a row, or a key or measure of an answer's
/// row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Leaf<'a> {
    /// A column, by its name.
    Column(&'a str),
    /// A key, by its index.
    Key(usize),
    /// A measure, by its index.
    Measure(usize),
}

/// The value of an expression, where `lookup` says what its leaves are. NaN and -0 that it brings
/// in are NULL and 0 like any other, and texts end after [`MAX_TEXT`](crate::MAX_TEXT) bytes.
#[must_use]
pub fn evaluate(expr: &Expr, lookup: &dyn Fn(Leaf<'_>) -> Value) -> Value {
    let value = |expr: &Expr| evaluate(expr, lookup);
    match expr {
        Expr::Literal(literal) => clean(literal.clone()),
        Expr::Column(name) => clean(lookup(Leaf::Column(name))),
        Expr::Key(index) => clean(lookup(Leaf::Key(*index))),
        Expr::Measure(index) => clean(lookup(Leaf::Measure(*index))),
        Expr::Unary(operator, operand) => unary(*operator, value(operand)),
        Expr::Binary(Binary::And, left, right) => match (truth(&value(left)), truth(&value(right)))
        {
            (Some(false), _) | (_, Some(false)) => Value::Bool(false),
            (Some(true), Some(true)) => Value::Bool(true),
            _ => Value::Null,
        },
        Expr::Binary(Binary::Or, left, right) => {
            match (truth(&value(left)), truth(&value(right))) {
                (Some(true), _) | (_, Some(true)) => Value::Bool(true),
                (Some(false), Some(false)) => Value::Bool(false),
                _ => Value::Null,
            }
        }
        Expr::Binary(operator, left, right) => binary(*operator, value(left), value(right)),
        Expr::Case { branches, otherwise } => branches
            .iter()
            .find(|(condition, _)| value(condition) == Value::Bool(true))
            .map(|(_, result)| result)
            .or(otherwise.as_deref())
            .map_or(Value::Null, value),
        Expr::Cast(operand, to) => cast(value(operand), *to),
        Expr::In(operand, values) => among(&value(operand), values),
        Expr::Like { text, pattern, ignore_case } => match value(text) {
            Value::Text(text) => {
                let pattern = Pattern::new(pattern, *ignore_case);
                Value::Bool(pattern.matches(&text, &mut Vec::new()))
            }
            _ => Value::Null,
        },
        Expr::Regex { text, pattern, syntax } => {
            match (value(text), Regex::new(pattern, *syntax)) {
                (Value::Text(text), Ok(regex)) => {
                    Value::Bool(regex.matches(&text, &mut Vec::new()))
                }
                _ => Value::Null,
            }
        }
        Expr::Shift { moment, months, micros } => match value(moment) {
            Value::Timestamp(from) => {
                civil::shift(from, *months, *micros).map_or(Value::Null, Value::Timestamp)
            }
            _ => Value::Null,
        },
        Expr::Call(function, arguments) => {
            call(*function, &arguments.iter().map(value).collect::<Vec<_>>())
        }
    }
}

/// A value as another type; NULL where it has none.
#[must_use]
pub fn cast(value: Value, to: Type) -> Value {
    if value.kind() == Some(to) {
        return clean(value);
    }
    let cast = match (value, to) {
        (Value::Int(int), Type::Float) => Some(Value::Float(float_of_int(int))),
        (Value::Float(float), Type::Int) => int_of_float(float).map(Value::Int),
        (Value::Bool(truth), Type::Int) => Some(Value::Int(i64::from(truth))),
        (Value::Text(text), Type::Int) => text::int(&text).map(Value::Int),
        (Value::Text(text), Type::Float) => text::float(&text).map(Value::float),
        (Value::Text(text), Type::Bool) => text::truth(&text).map(Value::Bool),
        (Value::Text(text), Type::Date) => civil::date_of_text(&text).map(Value::Date),
        (Value::Text(text), Type::Timestamp) => {
            civil::timestamp_of_text(&text).map(Value::Timestamp)
        }
        (Value::Int(int), Type::Text) => Some(Value::Text(int.to_string())),
        (Value::Float(float), Type::Text) => match Value::float(float) {
            Value::Float(float) => Some(Value::Text(float.to_string())),
            _ => None,
        },
        (Value::Bool(truth), Type::Text) => Some(Value::Text(truth.to_string())),
        (Value::Date(days), Type::Text) => civil::date_to_text(i64::from(days)).map(Value::Text),
        (Value::Timestamp(micros), Type::Text) => civil::timestamp_to_text(micros).map(Value::Text),
        (Value::Date(days), Type::Timestamp) => midnight(days).map(Value::Timestamp),
        (Value::Timestamp(micros), Type::Date) => day_of(micros).map(Value::Date),
        _ => None,
    };
    cast.unwrap_or(Value::Null)
}

/// NaN and -0 are no values, and neither is a text that is too long.
fn clean(value: Value) -> Value {
    match value {
        Value::Float(float) => Value::float(float),
        Value::Text(text) => Value::Text(text::owned(text)),
        value => value,
    }
}

fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(truth) => Some(*truth),
        _ => None,
    }
}

fn unary(operator: Unary, value: Value) -> Value {
    match (operator, value) {
        (Unary::IsNull, value) => Value::Bool(value == Value::Null),
        (Unary::IsTrue, value) => Value::Bool(value == Value::Bool(true)),
        (Unary::IsFalse, value) => Value::Bool(value == Value::Bool(false)),
        (Unary::Not, Value::Bool(truth)) => Value::Bool(!truth),
        (Unary::Negate, Value::Int(int)) => int.checked_neg().map_or(Value::Null, Value::Int),
        (Unary::Negate, Value::Float(float)) => Value::float(-float),
        _ => Value::Null,
    }
}

/// Everything but AND and OR.
fn binary(operator: Binary, left: Value, right: Value) -> Value {
    if left == Value::Null || right == Value::Null || left.kind() != right.kind() {
        return Value::Null;
    }
    let truth = |test: fn(Ordering) -> bool| Value::Bool(test(left.cmp(&right)));
    match operator {
        Binary::Equal => truth(Ordering::is_eq),
        Binary::NotEqual => truth(Ordering::is_ne),
        Binary::Less => truth(Ordering::is_lt),
        Binary::LessOrEqual => truth(Ordering::is_le),
        Binary::Greater => truth(Ordering::is_gt),
        Binary::GreaterOrEqual => truth(Ordering::is_ge),
        Binary::Concat => match (left, right) {
            (Value::Text(left), Value::Text(right)) => Value::Text(text::concat(&left, &right)),
            _ => Value::Null,
        },
        Binary::Add | Binary::Subtract | Binary::Multiply | Binary::Divide | Binary::Remainder => {
            match (left, right) {
                (Value::Int(left), Value::Int(right)) => {
                    int_arithmetic(operator, left, right).map_or(Value::Null, Value::Int)
                }
                (Value::Float(left), Value::Float(right)) => {
                    float_arithmetic(operator, left, right).map_or(Value::Null, Value::Float)
                }
                _ => Value::Null,
            }
        }
        Binary::And | Binary::Or => Value::Null,
    }
}

/// Arithmetic on whole numbers; none where there is no result, or one of more than 64 bits.
#[must_use]
pub fn int_arithmetic(operator: Binary, left: i64, right: i64) -> Option<i64> {
    match operator {
        Binary::Add => left.checked_add(right),
        Binary::Subtract => left.checked_sub(right),
        Binary::Multiply => left.checked_mul(right),
        Binary::Divide => left.checked_div(right),
        // The least integer leaves nothing when divided by -1, though the quotient has 65 bits.
        Binary::Remainder if right != 0 => Some(left.wrapping_rem(right)),
        _ => None,
    }
}

/// Arithmetic on floats; none where there is no result.
#[must_use]
pub fn float_arithmetic(operator: Binary, left: f64, right: f64) -> Option<f64> {
    float(match operator {
        Binary::Add => left + right,
        Binary::Subtract => left - right,
        Binary::Multiply => left * right,
        Binary::Divide if right != 0.0 => left / right,
        Binary::Remainder if right != 0.0 => left % right,
        _ => return None,
    })
}

/// As SQL has it: true if it is there, otherwise NULL if NULL is there, otherwise false.
fn among(value: &Value, values: &[Value]) -> Value {
    if *value == Value::Null {
        return Value::Null;
    }
    if values.iter().any(|one| clean(one.clone()) == *value) {
        return Value::Bool(true);
    }
    if values.contains(&Value::Null) { Value::Null } else { Value::Bool(false) }
}

fn call(function: Function, arguments: &[Value]) -> Value {
    let present = || arguments.iter().filter(|value| **value != Value::Null).cloned();
    match (function, arguments) {
        (Function::Least, _) => present().min().unwrap_or(Value::Null),
        (Function::Greatest, _) => present().max().unwrap_or(Value::Null),
        (Function::Coalesce, _) => present().next().unwrap_or(Value::Null),
        (Function::NullIf, [value, other]) if value == other => Value::Null,
        (Function::NullIf, [value, _]) => value.clone(),
        _ => {
            let data: Vec<_> = arguments.iter().map(Datum::of).collect();
            crate::expr::call::call(function, &data)
        }
    }
}

/// A function of one float; none where it has no result.
#[must_use]
pub fn float_function(function: Function, value: f64) -> Option<f64> {
    float(match function {
        Function::Abs => value.abs(),
        Function::Floor => value.floor(),
        Function::Ceil => value.ceil(),
        Function::Round => value.round(),
        Function::Trunc => value.trunc(),
        Function::Sign => number::sign(value),
        Function::Sqrt => value.sqrt(),
        // Not the machine's own: the same on all of them.
        Function::Ln if value > 0.0 => libm::log(value),
        Function::Log10 if value > 0.0 => libm::log10(value),
        Function::Exp => libm::exp(value),
        _ => return None,
    })
}

/// A part of a moment, or the start of what it lies in, in microseconds; none outside the years
/// -9999 to 9999, and for functions of other things.
#[must_use]
pub fn moment(function: Function, micros: i64) -> Option<i64> {
    let (days, rest) = (micros.div_euclid(DAY), micros.rem_euclid(DAY));
    let day = civil::day(days)?;
    let second = rest / 1_000_000;
    let since_monday = i64::from(day.weekday().num_days_from_monday());
    // The first day of the month that lies `months` before.
    let first = |months: u32| {
        let day = NaiveDate::from_ymd_opt(day.year(), day.month() - months, 1)?;
        Some(i64::from(day.to_epoch_days()) * DAY)
    };
    Some(match function {
        Function::Year => i64::from(day.year()),
        Function::Quarter => i64::from(day.quarter()),
        Function::Month => i64::from(day.month()),
        Function::Day => i64::from(day.day()),
        Function::DayOfWeek => i64::from(day.weekday().num_days_from_sunday()),
        Function::IsoDayOfWeek => since_monday + 1,
        Function::DayOfYear => i64::from(day.ordinal()),
        Function::Week => i64::from(day.iso_week().week()),
        Function::IsoYear => i64::from(day.iso_week().year()),
        Function::Hour => second / 3_600,
        Function::Minute => second / 60 % 60,
        Function::Second => second % 60,
        Function::StartOfYear => first(day.month0())?,
        Function::StartOfQuarter => first(day.month0() % 3)?,
        Function::StartOfMonth => first(0)?,
        Function::StartOfWeek => (days - since_monday) * DAY,
        Function::StartOfDay => days * DAY,
        Function::StartOfHour => micros - rest % 3_600_000_000,
        Function::StartOfMinute => micros - rest % 60_000_000,
        Function::StartOfSecond => micros - rest % 1_000_000,
        _ => return None,
    })
}

/// The nearest double, halves to even.
#[must_use]
pub fn float_of_int(int: i64) -> f64 {
    int as f64
}

/// The nearest int, halves away from zero, if there is one.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "a whole number in range")]
pub fn int_of_float(float: f64) -> Option<i64> {
    const END: f64 = 9_223_372_036_854_775_808.0;
    let whole = float.round();
    (-END..END).contains(&whole).then_some(whole as i64)
}
