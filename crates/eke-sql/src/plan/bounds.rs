//! Between what a number can be, from what its leaves are between: what a sum's values are clamped
//! to, from the policy's word about columns, and what is made of released values, from their
//! intervals.
//!
//! Intervals are computed in doubles without care for the last bit. Those of columns only choose
//! the clamp, which is applied to every row whatever it holds; no sensitivity rests on them being
//! right. What has no bounds has infinite ones.

use crate::expr::evaluate::float_of_int;
use crate::expr::number::{sign, to_digits};
use crate::{Binary, Expr, Function, Leaf, MAX_TEXT, Table, Type, Unary, Value};

/// An interval; empty for what is always NULL.
type Interval = Option<(f64, f64)>;

/// Between what an expression can be. None if one end is not finite, or it is always NULL.
pub(crate) fn bounds(expr: &Expr, table: &Table, unit_column: &str) -> Option<(f64, f64)> {
    let leaf = |leaf: Leaf<'_>| match leaf {
        Leaf::Column(name) => table
            .column(name)
            .and_then(|column| column.bounds)
            .filter(|(low, high)| low.is_finite() && high.is_finite() && low <= high),
        Leaf::Key(_) | Leaf::Measure(_) => None,
    };
    let never_null = |expr: &Expr| expr.never_null(unit_column);
    let between = Between { leaf: &leaf, kind: &|name| table.kind(name), never_null: &never_null };
    between.interval(expr).filter(finite)
}

/// Between what an expression over keys and measures can be, where `leaf` says so of them: none for
/// what can be anything. None if one end is not finite, or it is always NULL.
///
/// Whatever the leaves are within their intervals, the value is within this one, or NULL.
#[must_use]
pub fn interval(expr: &Expr, leaf: &dyn Fn(Leaf<'_>) -> Option<(f64, f64)>) -> Option<(f64, f64)> {
    let between = Between { leaf, kind: &|_| None, never_null: &|_| false };
    let never_null = |expr: &Expr| between.is_present(expr);
    Between { never_null: &never_null, ..between }.interval(expr).filter(finite)
}

fn finite((low, high): &(f64, f64)) -> bool {
    low.is_finite() && high.is_finite()
}

struct Between<'a> {
    /// Between what a leaf is; none if it can be anything.
    leaf: &'a dyn Fn(Leaf<'_>) -> Option<(f64, f64)>,
    /// The type of a column.
    kind: &'a dyn Fn(&str) -> Option<Type>,
    /// Whether an expression is never NULL.
    never_null: &'a dyn Fn(&Expr) -> bool,
}

const ANY: Interval = Some((f64::NEG_INFINITY, f64::INFINITY));

impl Between<'_> {
    fn kind(&self, expr: &Expr) -> Option<Type> {
        expr.kind(self.kind)
    }

    fn interval(&self, expr: &Expr) -> Interval {
        match expr {
            Expr::Literal(Value::Null) => None,
            Expr::Literal(Value::Int(int)) => Some((float_of_int(*int), float_of_int(*int))),
            Expr::Literal(Value::Float(float)) => Some((*float, *float)),
            Expr::Column(name) => (self.leaf)(Leaf::Column(name)).or(ANY),
            Expr::Key(index) => (self.leaf)(Leaf::Key(*index)).or(ANY),
            Expr::Measure(index) => (self.leaf)(Leaf::Measure(*index)).or(ANY),
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

    /// Whether a number that is made of measures is never NULL: they are there, and what is done
    /// with them has a value wherever they are in their intervals.
    fn is_present(&self, expr: &Expr) -> bool {
        let ends = |expr: &Expr| self.interval(expr).filter(finite);
        let are = |all: &[Expr]| all.iter().all(|one| self.is_present(one));
        match expr {
            Expr::Literal(value) => value.kind().is_some(),
            Expr::Measure(_) => ends(expr).is_some(),
            Expr::Unary(Unary::Negate, one) => self.is_present(one),
            // A quotient by what may be zero has no ends.
            Expr::Binary(operator, one, other) => {
                operator.is_arithmetic()
                    && *operator != Binary::Remainder
                    && self.is_present(one)
                    && self.is_present(other)
                    && ends(expr).is_some()
            }
            Expr::Call(Function::Greatest | Function::Least | Function::Coalesce, all) => {
                all.iter().any(|one| self.is_present(one))
            }
            Expr::Call(Function::Abs, all) => are(all),
            Expr::Call(Function::Sqrt, all) => {
                are(all) && all.first().and_then(ends).is_some_and(|(low, _)| low >= 0.0)
            }
            Expr::Call(Function::Power, all) => {
                let above_zero = |(low, _): (f64, f64)| low > 0.0;
                let is_square = all.get(1) == Some(&Expr::Literal(Value::Float(2.0)));
                are(all) && (is_square || all.first().and_then(ends).is_some_and(above_zero))
            }
            _ => false,
        }
    }

    fn call(&self, function: Function, arguments: &[Expr]) -> Interval {
        let first = || arguments.first().and_then(|one| self.interval(one));
        if let Some((low, high)) = function.range() {
            return Some((float_of_int(low), float_of_int(high)));
        }
        match function {
            Function::WidthBucket => {
                let count = match arguments.last() {
                    Some(Expr::Literal(Value::Int(count))) if *count > 0 => *count,
                    _ => return ANY,
                };
                Some((0.0, float_of_int(count) + 1.0))
            }
            Function::Abs => first().map(|(low, high)| {
                let least = if low <= 0.0 && high >= 0.0 { 0.0 } else { low.abs().min(high.abs()) };
                (least, low.abs().max(high.abs()))
            }),
            Function::Floor => monotone(first(), f64::floor),
            Function::Ceil => monotone(first(), f64::ceil),
            Function::Round | Function::Trunc => match (arguments.get(1), function) {
                (None, Function::Round) => monotone(first(), f64::round),
                (None, _) => monotone(first(), f64::trunc),
                (Some(Expr::Literal(Value::Int(digits))), _) => {
                    let rounds = function == Function::Round;
                    first().map(|(low, high)| {
                        let end = |end| to_digits(end, *digits, rounds) + 0.0;
                        (end(low), end(high))
                    })
                }
                (Some(_), _) => ANY,
            },
            Function::Sign => monotone(first(), sign),
            Function::Power => match arguments {
                [base, exponent] => power(self.interval(base)?, self.interval(exponent)?),
                _ => ANY,
            },
            Function::Ln => first().and_then(|(low, high)| positive(low, high, libm::log)),
            Function::Log10 => first().and_then(|(low, high)| positive(low, high, libm::log10)),
            Function::Exp => monotone(first(), libm::exp),
            Function::Sqrt => monotone(first(), |x| x.max(0.0).sqrt()),
            // A character has a byte at least.
            Function::Length | Function::Position => Some((0.0, MAX_TEXT as f64)),
            Function::NullIf => first(),
            Function::Coalesce => arguments.iter().map(|one| self.interval(one)).fold(None, hull),
            Function::Least | Function::Greatest => {
                let (mut low, mut high) =
                    arguments.iter().map(|one| self.interval(one)).fold(None, hull)?;
                // A NULL does not count, so only what is never NULL bounds the result for sure.
                for one in arguments.iter().filter(|one| (self.never_null)(one)) {
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

/// A logarithm: of what is not positive it is NULL.
fn positive(low: f64, high: f64, log: fn(f64) -> f64) -> Interval {
    if high <= 0.0 {
        return None;
    }
    Some((if low > 0.0 { log(low) } else { f64::NEG_INFINITY }, log(high)))
}

/// A power grows or falls with its base, where that is not negative, and with its exponent.
fn power((a, b): (f64, f64), (c, d): (f64, f64)) -> Interval {
    let is_whole = (c - d).abs() <= 0.0 && c >= 0.0 && (c - c.round()).abs() <= 0.0;
    if a >= 0.0 {
        spanned(&[libm::pow(a, c), libm::pow(a, d), libm::pow(b, c), libm::pow(b, d)])
    } else if is_whole {
        let turns = if b >= 0.0 { 0.0 } else { libm::pow(b, c) };
        spanned(&[libm::pow(a, c), libm::pow(b, c), turns])
    } else {
        ANY
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate;
    use proptest::prelude::*;

    /// Numbers that people make of measures.
    fn made() -> impl Strategy<Value = Expr> {
        let leaf = prop_oneof![
            (0usize..3).prop_map(Expr::Measure),
            (-3i32..4).prop_map(|number| Expr::Literal(Value::Float(f64::from(number)))),
        ];
        leaf.prop_recursive(4, 24, 2, |inner| {
            let operator = prop_oneof![
                Just(Binary::Add),
                Just(Binary::Subtract),
                Just(Binary::Multiply),
                Just(Binary::Divide)
            ];
            let binary = (operator, inner.clone(), inner.clone())
                .prop_map(|(operator, a, b)| Expr::Binary(operator, Box::new(a), Box::new(b)));
            let two = prop_oneof![
                Just(Function::Least),
                Just(Function::Greatest),
                Just(Function::Coalesce),
                Just(Function::NullIf)
            ];
            let two = (two, inner.clone(), inner.clone())
                .prop_map(|(function, a, b)| Expr::Call(function, vec![a, b]));
            let one = prop_oneof![
                Just(Function::Abs),
                Just(Function::Sqrt),
                Just(Function::Ln),
                Just(Function::Round),
                Just(Function::Floor),
                Just(Function::Sign)
            ];
            let one = (one, inner.clone()).prop_map(|(function, a)| Expr::Call(function, vec![a]));
            let square = inner.clone().prop_map(|a| {
                Expr::Call(Function::Power, vec![a, Expr::Literal(Value::Float(2.0))])
            });
            let case = (inner.clone(), inner.clone(), inner).prop_map(|(a, b, c)| Expr::Case {
                branches: vec![(Expr::Binary(Binary::Less, Box::new(a), Box::new(b.clone())), b)],
                otherwise: Some(Box::new(c)),
            });
            prop_oneof![4 => binary, 2 => two, 2 => one, 1 => square, 1 => case]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4_000, ..ProptestConfig::default() })]

        /// Wherever measures are in their intervals, what is made of them is in its own, or NULL.
        #[test]
        fn what_is_made_of_measures_is_within_its_interval(
            expr in made(),
            ends in prop::array::uniform3((-4.0f64..4.0, 0.0f64..3.0)),
            at in prop::collection::vec(prop::array::uniform3(0.0f64..=1.0), 8),
        ) {
            let leaf = |leaf: Leaf<'_>| match leaf {
                Leaf::Measure(index) => Some((ends[index].0, ends[index].0 + ends[index].1)),
                _ => None,
            };
            if let Some((low, high)) = interval(&expr, &leaf) {
                for at in at {
                    let value = evaluate(&expr, &|leaf| match leaf {
                        Leaf::Measure(index) => {
                            Value::float(ends[index].0 + at[index] * ends[index].1)
                        }
                        _ => Value::Null,
                    });
                    if let Value::Float(value) = value {
                        let slack = 1e-9 * (1.0 + low.abs().max(high.abs()));
                        prop_assert!(
                            low - slack <= value && value <= high + slack,
                            "{expr}: {value} is not in {low} .. {high}"
                        );
                    }
                }
            }
        }
    }
}
