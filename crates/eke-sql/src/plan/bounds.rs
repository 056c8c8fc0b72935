//! Between what a number can be, from the policy's word about columns: what a sum's values are
//! clamped to.
//!
//! Intervals are computed in doubles without care for the last bit. They only choose the clamp,
//! which is applied to every row whatever it holds; no sensitivity rests on them being right. What
//! has no bounds has infinite ones.

use crate::expr::evaluate::float_of_int;
use crate::{Binary, Expr, Function, Table, Type, Unary, Value};

/// An interval; empty for what is always NULL.
type Interval = Option<(f64, f64)>;

/// Between what an expression can be. None if one end is not finite, or it is always NULL.
pub(crate) fn bounds(expr: &Expr, table: &Table, unit_column: &str) -> Option<(f64, f64)> {
    let policy = Policy { table, unit_column };
    policy.interval(expr).filter(|(low, high)| low.is_finite() && high.is_finite())
}

struct Policy<'a> {
    table: &'a Table,
    unit_column: &'a str,
}

const ANY: Interval = Some((f64::NEG_INFINITY, f64::INFINITY));

impl Policy<'_> {
    fn kind(&self, expr: &Expr) -> Option<Type> {
        expr.kind(&|name| self.table.kind(name))
    }

    fn interval(&self, expr: &Expr) -> Interval {
        match expr {
            Expr::Literal(Value::Null) => None,
            Expr::Literal(Value::Int(int)) => Some((float_of_int(*int), float_of_int(*int))),
            Expr::Literal(Value::Float(float)) => Some((*float, *float)),
            Expr::Column(name) => self
                .table
                .column(name)
                .and_then(|column| column.bounds)
                .filter(|(low, high)| low.is_finite() && high.is_finite() && low <= high)
                .or(ANY),
            Expr::Unary(Unary::Negate, one) => {
                self.interval(one).map(|(low, high)| (0.0 - high, 0.0 - low))
            }
            Expr::Binary(operator, left, right) => {
                let whole = self.kind(expr) == Some(Type::Int);
                arithmetic(*operator, self.interval(left)?, self.interval(right)?, whole)
            }
            Expr::Case { branches, otherwise } => branches
                .iter()
                .map(|(_, result)| result)
                .chain(otherwise.as_deref())
                .map(|result| self.interval(result))
                .fold(None, hull),
            Expr::Cast(one, to) => match (self.kind(one), to) {
                (Some(Type::Int), Type::Float) => self.interval(one),
                (Some(Type::Float), Type::Int) => monotone(self.interval(one), f64::round),
                (Some(Type::Bool), Type::Int) => Some((0.0, 1.0)),
                _ => ANY,
            },
            Expr::Call(function, arguments) => self.call(*function, arguments),
            _ => ANY,
        }
    }

    fn call(&self, function: Function, arguments: &[Expr]) -> Interval {
        let first = || arguments.first().and_then(|one| self.interval(one));
        if let Some((low, high)) = function.range() {
            return Some((float_of_int(low), float_of_int(high)));
        }
        match function {
            Function::Abs => first().map(|(low, high)| {
                let least = if low <= 0.0 && high >= 0.0 { 0.0 } else { low.abs().min(high.abs()) };
                (least, low.abs().max(high.abs()))
            }),
            Function::Floor => monotone(first(), f64::floor),
            Function::Ceil => monotone(first(), f64::ceil),
            Function::Round => monotone(first(), f64::round),
            Function::Sqrt => monotone(first(), |x| x.max(0.0).sqrt()),
            Function::Length => Some((0.0, f64::INFINITY)),
            Function::NullIf => first(),
            Function::Coalesce => arguments.iter().map(|one| self.interval(one)).fold(None, hull),
            Function::Least | Function::Greatest => {
                let (mut low, mut high) =
                    arguments.iter().map(|one| self.interval(one)).fold(None, hull)?;
                // A NULL does not count, so only what is never NULL bounds the result for sure.
                for one in arguments.iter().filter(|one| one.never_null(self.unit_column)) {
                    let Some((own_low, own_high)) = self.interval(one) else { continue };
                    if function == Function::Least {
                        high = high.min(own_high);
                    } else {
                        low = low.max(own_low);
                    }
                }
                Some((low, high))
            }
            _ => ANY,
        }
    }
}

fn hull(one: Interval, other: Interval) -> Interval {
    match (one, other) {
        (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
        (one, other) => one.or(other),
    }
}

fn monotone(interval: Interval, function: fn(f64) -> f64) -> Interval {
    interval.map(|(low, high)| (function(low) + 0.0, function(high) + 0.0))
}

/// What is not a number could be anything.
fn spanned(ends: &[f64]) -> Interval {
    if ends.iter().any(|end| end.is_nan()) {
        return ANY;
    }
    let low = ends.iter().copied().fold(f64::INFINITY, f64::min);
    let high = ends.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Some((low + 0.0, high + 0.0))
}

fn arithmetic(operator: Binary, (a, b): (f64, f64), (c, d): (f64, f64), whole: bool) -> Interval {
    match operator {
        Binary::Add => spanned(&[a + c, b + d]),
        Binary::Subtract => spanned(&[a - d, b - c]),
        Binary::Multiply => spanned(&[a * c, a * d, b * c, b * d]),
        // Only by what keeps away from zero.
        Binary::Divide if c > 0.0 || d < 0.0 => {
            let ends = spanned(&[a / c, a / d, b / c, b / d]);
            if whole { monotone(ends, f64::trunc) } else { ends }
        }
        Binary::Remainder if c.is_finite() && d.is_finite() => {
            let most = c.abs().max(d.abs());
            let most = if whole { (most - 1.0).max(0.0) } else { most };
            let low = if a >= 0.0 { 0.0 } else { -most };
            let high = if b <= 0.0 { 0.0 } else { most };
            Some((low, high))
        }
        _ => ANY,
    }
}
