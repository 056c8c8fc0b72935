//! What the conditions of a question say about its own rows: which values a key can have, and
//! between what a number is.
//!
//! Rows for which WHERE is not true take no part, so `WHERE city IN ('Delft', 'Leiden')` lists the
//! keys of `GROUP BY city`, and `WHERE fare BETWEEN 0 AND 50` bounds `SUM(fare)`. A condition is
//! public, and any list and any bounds are safe: rows with other keys are left out and values are
//! clamped, whatever they are. That no row is left out or clamped which takes part is what the
//! tests of this file are about.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::expr::civil::{self, DAY};
use crate::expr::evaluate::{cast, evaluate, float_of_int};
use crate::plan::keys;
use crate::{Binary, Column, Expr, Function, Protection, Table, Type, Value};

/// How many keys a range is listed as, at most: five years of days. Longer ones are no lists.
const LISTED: usize = 2_000;
/// How many places of a range are looked at for what an expression comes to there.
const PLACES: i64 = 50_000;
/// How many times such an expression may go through a text.
const PASSES: usize = 4;

const SECOND: i64 = 1_000_000;

/// Conditions that are all true of every row that takes part.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conditions<'a>(Vec<&'a Expr>);

/// The least and the most of whole numbers, days or microseconds.
type Range = (Option<i64>, Option<i64>);

impl<'a> Conditions<'a> {
    /// Those of a filter.
    pub(crate) fn of(filter: Option<&'a Expr>) -> Self {
        Self(filter.map_or_else(Vec::new, |filter| filter.terms(Binary::And)))
    }

    /// A table of which only rows are looked at that take part: with the values and bounds that
    /// are left of its columns.
    pub(crate) fn table<'t>(&self, table: &'t Table) -> Cow<'t, Table> {
        let unit = match &table.protection {
            Protection::Private { unit_column, .. } => unit_column,
            Protection::Public => "",
        };
        let named: BTreeSet<&str> = self.0.iter().flat_map(|term| term.columns()).collect();
        let mut narrow = Cow::Borrowed(table);
        for (place, column) in table.columns.iter().enumerate() {
            let Some(kind) = column.kind.filter(|_| named.contains(&*column.name)) else {
                continue;
            };
            if column.name == unit {
                continue;
            }
            let expr = Expr::Column(column.name.clone());
            let values = match &column.values {
                Some(values) => Some(self.left_of(&expr, values, |value| cast(value, kind))),
                None => self.listed(&expr, kind),
            };
            let bounds = self.bounds(&expr, kind, column.bounds);
            if values != column.values || bounds != column.bounds {
                narrow.to_mut().columns[place] = Column { values, bounds, ..column.clone() };
            }
        }
        narrow
    }

    /// The values of a key, if they are public, where columns are those of such a table.
    pub(crate) fn keys(&self, expr: &Expr, kind: Type, table: &Table) -> Option<Vec<Value>> {
        let values = keys::public(expr, kind, table)
            .or_else(|| self.listed(expr, kind))
            .or_else(|| self.places(expr, kind, table))?;
        Some(self.left_of(expr, &values, |value| value))
    }

    /// Of the values of an expression those for which all conditions on it alone are true; all of
    /// them if none is: a question about nothing is answered as it was written.
    fn left_of(&self, expr: &Expr, values: &[Value], typed: impl Fn(Value) -> Value) -> Vec<Value> {
        let conditions = self.on(expr);
        let holds = |value: &&Value| {
            let value = typed(Value::clone(value));
            let is_true = |condition| evaluate(condition, &|_| value.clone()) == Value::Bool(true);
            conditions.iter().all(is_true)
        };
        let left: Vec<Value> = values.iter().filter(holds).cloned().collect();
        if left.is_empty() { values.to_vec() } else { left }
    }

    /// The conditions on an expression alone, with one column in its place.
    fn on(&self, expr: &Expr) -> Vec<Expr> {
        let alone = |term: &&Expr| {
            let condition = put_in(Expr::clone(term), expr)?;
            (condition.columns() == [PLACE]).then_some(condition)
        };
        self.0.iter().filter_map(alone).collect()
    }

    /// The values that conditions list for an expression, or a short range of whole values.
    fn listed(&self, expr: &Expr, kind: Type) -> Option<Vec<Value>> {
        let mut lists = self.0.iter().filter_map(|term| list(term, expr));
        let values: BTreeSet<Value> = match lists.next() {
            Some(values) => values,
            None => {
                let whole: fn(i64) -> Option<Value> = match kind {
                    Type::Int => |whole| Some(Value::Int(whole)),
                    Type::Date => |days| i32::try_from(days).ok().map(Value::Date),
                    _ => return None,
                };
                let (low, high) = self.ends(expr, kind)?;
                if high.checked_sub(low)? >= i64::try_from(LISTED).ok()? {
                    return None;
                }
                (low..=high).map(whole).collect::<Option<_>>()?
            }
        };
        let of_kind = |value: &Value| value.kind() == Some(kind);
        let values: Vec<Value> = values.into_iter().filter(of_kind).collect();
        (!values.is_empty()).then(|| self.left_of(expr, &values, |value| value))
    }

    /// What an expression over one column comes to, where that has a range: of whole numbers and
    /// days each is looked at, of moments one for each day, hour or whatever it is constant in.
    fn places(&self, expr: &Expr, of: Type, table: &Table) -> Option<Vec<Value>> {
        let columns = expr.columns();
        let [name] = columns.as_slice() else { return None };
        if expr.passes(&|name| table.kind(name)) > PASSES {
            return None;
        }
        let (column, kind) = (Expr::Column((*name).to_owned()), table.kind(name)?);
        let (low, high) = self.ends(&column, kind)?;
        let (start, step) = match kind {
            Type::Int | Type::Date => (low, 1),
            Type::Timestamp => match constant_in(expr, &column)? {
                Pieces::Of(micros) => (low.div_euclid(micros).checked_mul(micros)?, micros),
                Pieces::From(origin, micros) => (civil::bin(micros, low, origin)?, micros),
            },
            _ => return None,
        };
        if high.checked_sub(start)? / step >= PLACES {
            return None;
        }
        let value = |at: i64| match kind {
            Type::Int => Value::Int(at),
            Type::Date => i32::try_from(at).map_or(Value::Null, Value::Date),
            _ => Value::Timestamp(at),
        };
        let mut values = BTreeSet::new();
        let mut at = start;
        while at <= high {
            let here = value(at);
            let key = evaluate(expr, &|_| here.clone());
            let is_plain = !matches!(key, Value::Float(float) if !float.is_finite());
            if is_plain && key.kind().is_none_or(|own| own == of) {
                values.insert(key);
            }
            if values.len() > LISTED {
                return None;
            }
            at = at.checked_add(step)?;
        }
        // Where nothing is left the range was empty, and nothing is known.
        (!values.is_empty()).then(|| values.into_iter().collect())
    }

    /// Both ends of the range of an expression, if there are; not of an empty range.
    fn ends(&self, expr: &Expr, kind: Type) -> Option<(i64, i64)> {
        let (low, high) = self.range(expr, kind);
        low.zip(high).filter(|(low, high)| low <= high)
    }

    /// Between which whole numbers, days or microseconds an expression is.
    fn range(&self, expr: &Expr, kind: Type) -> Range {
        let as_moment = Expr::Cast(Box::new(expr.clone()), Type::Timestamp);
        let moment = if kind == Type::Timestamp { expr } else { &as_moment };
        let year = Expr::Call(Function::Year, vec![moment.clone()]);
        let mut range: Range = (None, None);
        for term in &self.0 {
            let Expr::Binary(operator, one, other) = term else { continue };
            let Expr::Literal(value) = &**other else { continue };
            let found = match (kind, value) {
                (Type::Int, Value::Int(at)) if **one == *expr => between(*operator, *at, *at),
                (Type::Date, Value::Date(at)) if **one == *expr => {
                    between(*operator, i64::from(*at), i64::from(*at))
                }
                (Type::Timestamp, Value::Timestamp(at)) if **one == *expr => {
                    between(*operator, *at, *at)
                }
                // A moment within a day: the day is on both sides of it.
                (Type::Date, Value::Timestamp(at)) if **one == as_moment => {
                    let (low, high) = between(*operator, *at, *at);
                    (
                        low.map(|low| low.saturating_sub(1).div_euclid(DAY) + 1),
                        high.map(|high| high.div_euclid(DAY)),
                    )
                }
                (Type::Date | Type::Timestamp, Value::Int(at)) if **one == year => {
                    let (low, high) = between(*operator, *at, *at);
                    let start =
                        |year: i64| new_year(year).map(|days| (days, days.checked_mul(DAY)));
                    let unit = |(days, micros): (i64, Option<i64>)| {
                        if kind == Type::Date { Some(days) } else { micros }
                    };
                    let low = low.and_then(start).and_then(unit);
                    let next = high.and_then(|year| year.checked_add(1)).and_then(start);
                    (low, next.and_then(unit).map(|next| next - 1))
                }
                _ => continue,
            };
            range.0 = range.0.max(found.0);
            range.1 = match (range.1, found.1) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            };
        }
        range
    }

    /// Between which days or microseconds an expression is; none if one end is open.
    pub(crate) fn between(&self, expr: &Expr, kind: Type) -> Option<(i64, i64)> {
        self.ends(expr, kind)
    }

    /// Between what an expression is that conditions compare with constants as it stands; none if
    /// one end is open.
    pub(crate) fn bounds_of(&self, expr: &Expr, table: &Table) -> Option<(f64, f64)> {
        self.bounds(expr, expr.kind(&|name| table.kind(name))?, None)
    }

    /// Between what a number is, where the policy has said this.
    fn bounds(&self, expr: &Expr, kind: Type, policy: Option<(f64, f64)>) -> Option<(f64, f64)> {
        if !matches!(kind, Type::Int | Type::Float) {
            return policy;
        }
        let as_float = Expr::Cast(Box::new(expr.clone()), Type::Float);
        let is_it = |one: &Expr| *one == *expr || (kind == Type::Int && *one == as_float);
        let number = |value: &Value| match value {
            Value::Int(int) => Some(float_of_int(*int)),
            Value::Float(float) => Some(*float),
            _ => None,
        };
        let (mut low, mut high) = policy.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
        for term in &self.0 {
            let found = match term {
                Expr::Binary(operator, one, other) if is_it(one) => {
                    let Expr::Literal(value) = &**other else { continue };
                    let Some(at) = number(value) else { continue };
                    let next =
                        if kind == Type::Int && matches!(value, Value::Int(_)) { 1.0 } else { 0.0 };
                    match operator {
                        Binary::Equal => (at, at),
                        Binary::Less => (f64::NEG_INFINITY, at - next),
                        Binary::LessOrEqual => (f64::NEG_INFINITY, at),
                        Binary::Greater => (at + next, f64::INFINITY),
                        Binary::GreaterOrEqual => (at, f64::INFINITY),
                        _ => continue,
                    }
                }
                Expr::In(one, values) if is_it(one) => {
                    let numbers = || values.iter().filter_map(number);
                    let least = numbers().fold(f64::INFINITY, f64::min);
                    (least, numbers().fold(f64::NEG_INFINITY, f64::max))
                }
                _ => continue,
            };
            low = low.max(found.0);
            high = high.min(found.1);
        }
        // What contradicts itself or the policy says nothing about the rows that there are, and one
        // value alone is nothing to measure.
        if low < high && low.is_finite() && high.is_finite() { Some((low, high)) } else { policy }
    }
}

/// The name that stands for an expression. No column of a file has it.
const PLACE: &str = "\0it";

/// A condition with one column in the place of an expression; none if it is not in it.
fn put_in(condition: Expr, expr: &Expr) -> Option<Expr> {
    fn replaced(condition: Expr, expr: &Expr, found: &mut bool) -> Expr {
        if condition == *expr {
            *found = true;
            return Expr::Column(PLACE.to_owned());
        }
        condition.map_children(|child| replaced(child, expr, found))
    }
    let mut found = false;
    let condition = replaced(condition, expr, &mut found);
    found.then_some(condition)
}

/// The values that a condition lists for an expression: by `=`, by IN, or by OR of such.
fn list(condition: &Expr, expr: &Expr) -> Option<BTreeSet<Value>> {
    match condition {
        Expr::Binary(Binary::Equal, one, other) if **one == *expr => match &**other {
            Expr::Literal(value) => Some(BTreeSet::from([value.clone()])),
            _ => None,
        },
        Expr::In(one, values) if **one == *expr => Some(values.iter().cloned().collect()),
        Expr::Binary(Binary::Or, ..) => {
            let terms = condition.terms(Binary::Or).into_iter();
            let lists: Option<Vec<_>> = terms.map(|term| list(term, expr)).collect();
            Some(lists?.into_iter().flatten().collect())
        }
        _ => None,
    }
}

/// Between what something is that compares so with a constant, which itself is between two.
fn between(operator: Binary, low: i64, high: i64) -> Range {
    match operator {
        Binary::Equal => (Some(low), Some(high)),
        Binary::Less => (None, high.checked_sub(1)),
        Binary::LessOrEqual => (None, Some(high)),
        Binary::Greater => (low.checked_add(1), None),
        Binary::GreaterOrEqual => (Some(low), None),
        _ => (None, None),
    }
}

/// The first day of a year.
fn new_year(year: i64) -> Option<i64> {
    let text = (0..=9999).contains(&year).then(|| format!("{year:04}-01-01"))?;
    civil::date_of_text(&text).map(i64::from)
}

/// What moments are parted into, so that an expression is constant in each part.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Pieces {
    /// Days, hours, minutes or seconds.
    Of(i64),
    /// Bins of so many microseconds, one of which starts at a moment.
    From(i64, i64),
}

/// What an expression over one column of moments is constant in; none if that is not seen.
fn constant_in(expr: &Expr, column: &Expr) -> Option<Pieces> {
    if let Expr::Call(Function::DateBin, arguments) = expr
        && let [Expr::Literal(Value::Int(stride)), moment, Expr::Literal(Value::Timestamp(origin))] =
            arguments.as_slice()
        && moment == column
        && *stride > 0
    {
        return Some(Pieces::From(*origin, *stride));
    }
    let own = match expr {
        Expr::Cast(one, Type::Date) if **one == *column => Some(DAY),
        Expr::Call(function, arguments) => match arguments.as_slice() {
            [one] if one == column => piece(*function),
            [one, Expr::Literal(Value::Text(pattern))]
                if one == column && *function == Function::ToChar && is_of_days(pattern) =>
            {
                Some(DAY)
            }
            _ => None,
        },
        _ => None,
    };
    if let Some(own) = own {
        return Some(Pieces::Of(own));
    }
    if expr == column {
        return None;
    }
    // The finest of what it is made of; each is a whole number of all finer ones.
    let mut finest = DAY;
    for child in expr.children() {
        if child.columns().is_empty() {
            continue;
        }
        let Pieces::Of(micros) = constant_in(child, column)? else { return None };
        finest = finest.min(micros);
    }
    Some(Pieces::Of(finest))
}

/// How long a function of a moment is the same, at least.
fn piece(function: Function) -> Option<i64> {
    use Function as F;
    Some(match function {
        F::Year | F::IsoYear | F::Quarter | F::Month | F::Week | F::Day | F::DayOfWeek => DAY,
        F::IsoDayOfWeek | F::DayOfYear => DAY,
        F::StartOfYear | F::StartOfQuarter | F::StartOfMonth | F::StartOfWeek => DAY,
        F::StartOfDay => DAY,
        F::Hour | F::StartOfHour => 3_600 * SECOND,
        F::Minute | F::StartOfMinute => 60 * SECOND,
        F::Second | F::StartOfSecond => SECOND,
        _ => return None,
    })
}

/// Whether a pattern of `to_char` writes nothing that changes within a day.
fn is_of_days(pattern: &str) -> bool {
    let days = ["YYYY", "IYYY", "Month", "MONTH", "month", "Mon", "MON", "mon", "MM", "DDD", "DD"];
    let more = ["Day", "DAY", "day", "Dy", "DY", "dy", "IW", "WW", "Q"];
    let mut rest = pattern.to_owned();
    for part in days.iter().chain(&more) {
        rest = rest.replace(part, "");
    }
    !rest.chars().any(char::is_alphabetic)
}
