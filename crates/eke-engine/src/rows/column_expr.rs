//! Expressions, ready to be computed on columns.
//!
//! Computing cannot fail: types were checked when the expression was lowered, and what cannot be
//! done for a row is NULL there. The engine underneath sees none of this, so none of its rewriting
//! (folding of constants, common parts, conditions that are not reached) can change what an
//! expression means. Every part is computed for every row, which takes the same steps whatever the
//! rows hold.

use std::collections::HashSet;

use arrow::array::{Array, BooleanArray, Float64Array, Int64Array};
use arrow::compute::kernels::cmp;
use arrow::compute::{and_kleene, interleave, not, or_kleene};
use eke_sql::scalar::{self, Pattern};
use eke_sql::{Function, Type, Value};

use crate::rows::column::{Column, text};

#[cfg(test)]
thread_local! {
    /// How many texts were compared with patterns.
    pub(crate) static MATCHED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// An expression over the columns of a batch. Parts have the types that `lower` gave them.
pub(crate) enum ColumnExpr {
    Null(Type),
    Literal(Value),
    Column(usize),
    Not(Box<ColumnExpr>),
    Negate(Box<ColumnExpr>),
    IsNull(Box<ColumnExpr>),
    /// Whether it is this, and not NULL.
    Is(bool, Box<ColumnExpr>),
    Arithmetic(Arithmetic, Box<ColumnExpr>, Box<ColumnExpr>),
    Comparison(Comparison, Box<ColumnExpr>, Box<ColumnExpr>),
    And(Box<ColumnExpr>, Box<ColumnExpr>),
    Or(Box<ColumnExpr>, Box<ColumnExpr>),
    Concat(Box<ColumnExpr>, Box<ColumnExpr>),
    /// Conditions with results; the last result has none.
    Case(Vec<(ColumnExpr, ColumnExpr)>, Box<ColumnExpr>),
    Cast(Box<ColumnExpr>, Type),
    In(Box<ColumnExpr>, Members),
    Like(Box<ColumnExpr>, Pattern),
    /// A function of one number.
    Number(Number, Box<ColumnExpr>),
    /// A function of one text.
    Word(Word, Box<ColumnExpr>),
    Length(Box<ColumnExpr>),
    Substring(Box<ColumnExpr>, Box<ColumnExpr>, Option<Box<ColumnExpr>>),
    Coalesce(Vec<ColumnExpr>),
    /// The least (or the greatest) that is not NULL.
    Extreme(Comparison, Vec<ColumnExpr>),
    NullIf(Box<ColumnExpr>, Box<ColumnExpr>),
    /// A part of a moment, or the start of what it lies in.
    Moment(Function, Box<ColumnExpr>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    Abs,
    Floor,
    Ceil,
    Round,
    Sqrt,
    Ln,
    Exp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    Lower,
    Upper,
    Trim,
}

/// Constants that a value may be among.
pub(crate) struct Members {
    set: MembersOf,
    null: bool,
}

enum MembersOf {
    Numbers(HashSet<i64>),
    /// By their bits: there is one zero, and no NaN.
    Floats(HashSet<u64>),
    Texts(HashSet<String>),
}

impl Members {
    /// The constants of a type; others are among them for no value.
    pub(crate) fn new(kind: Type, values: &[Value]) -> Self {
        let null = values.contains(&Value::Null);
        let set = match kind {
            Type::Float => MembersOf::Floats(
                values
                    .iter()
                    .filter_map(|value| match value {
                        Value::Float(value) => scalar::float(*value).map(f64::to_bits),
                        _ => None,
                    })
                    .collect(),
            ),
            Type::Text => MembersOf::Texts(
                values
                    .iter()
                    .filter_map(|value| match value {
                        Value::Text(value) => Some(scalar::cut(value).to_owned()),
                        _ => None,
                    })
                    .collect(),
            ),
            kind => MembersOf::Numbers(
                values
                    .iter()
                    .filter(|value| value.kind() == Some(kind))
                    .filter_map(|value| match value {
                        Value::Bool(value) => Some(i64::from(*value)),
                        Value::Int(value) | Value::Timestamp(value) => Some(*value),
                        Value::Date(value) => Some(i64::from(*value)),
                        _ => None,
                    })
                    .collect(),
            ),
        };
        Self { set, null }
    }

    pub(crate) fn among(&self, column: &Column) -> BooleanArray {
        let numbers =
            |value: i64| matches!(&self.set, MembersOf::Numbers(set) if set.contains(&value));
        let answer = |found: bool| if found || !self.null { Some(found) } else { None };
        match column {
            Column::Bool(a) => a.iter().map(|v| answer(numbers(v?.into()))).collect(),
            Column::Int(a) => a.iter().map(|v| answer(numbers(v?))).collect(),
            Column::Date(a) => a.iter().map(|v| answer(numbers(v?.into()))).collect(),
            Column::Timestamp(a) => a.iter().map(|v| answer(numbers(v?))).collect(),
            Column::Float(a) => {
                let floats = |v: f64| matches!(&self.set, MembersOf::Floats(set) if set.contains(&v.to_bits()));
                a.iter().map(|v| answer(floats(v?))).collect()
            }
            Column::Text(a) => {
                let texts = |v: &str| matches!(&self.set, MembersOf::Texts(set) if set.contains(v));
                a.iter().map(|v| answer(texts(v?))).collect()
            }
        }
    }
}

impl ColumnExpr {
    /// Its value for every row of a batch.
    pub(crate) fn compute(&self, columns: &[Column], rows: usize) -> Column {
        let on = |total: &Self| total.compute(columns, rows);
        match self {
            Self::Null(kind) => Column::nulls(*kind, rows),
            Self::Literal(value) => {
                Column::constant(value, rows).unwrap_or_else(|| Column::nulls(Type::Text, rows))
            }
            Self::Column(index) => columns[*index].clone(),
            Self::Not(a) => Column::Bool(not(&truth(on(a))).unwrap_or_else(|_| unknown(rows))),
            Self::Negate(a) => match on(a) {
                Column::Int(a) => Column::Int(a.iter().map(|v| v?.checked_neg()).collect()),
                Column::Float(a) => floats(&a, |v| -v),
                other => Column::nulls(other.kind(), rows),
            },
            Self::IsNull(a) => {
                let a = on(a);
                Column::Bool((0..rows).map(|row| Some(a.is_null(row))).collect())
            }
            Self::Is(wanted, a) => {
                Column::Bool(truth(on(a)).iter().map(|v| Some(v == Some(*wanted))).collect())
            }
            Self::Arithmetic(operator, a, b) => arithmetic(*operator, on(a), on(b)),
            Self::Comparison(operator, a, b) => Column::Bool(compare(*operator, &on(a), &on(b))),
            Self::And(a, b) => Column::Bool(
                and_kleene(&truth(on(a)), &truth(on(b))).unwrap_or_else(|_| unknown(rows)),
            ),
            Self::Or(a, b) => Column::Bool(
                or_kleene(&truth(on(a)), &truth(on(b))).unwrap_or_else(|_| unknown(rows)),
            ),
            Self::Concat(a, b) => match (on(a), on(b)) {
                (Column::Text(a), Column::Text(b)) => {
                    text(a.iter().zip(b.iter()).map(|(a, b)| Some(scalar::concat(a?, b?))))
                }
                _ => Column::nulls(Type::Text, rows),
            },
            Self::Case(branches, otherwise) => {
                let conditions: Vec<_> = branches.iter().map(|(when, _)| truth(on(when))).collect();
                let mut results: Vec<_> = branches.iter().map(|(_, then)| on(then)).collect();
                results.push(on(otherwise));
                choose(&results, rows, |row| {
                    let holds = |a: &BooleanArray| a.is_valid(row) && a.value(row);
                    Some(conditions.iter().position(holds).unwrap_or(conditions.len()))
                })
            }
            Self::Cast(a, to) => on(a).cast(*to),
            Self::In(a, members) => Column::Bool(members.among(&on(a))),
            Self::Like(a, pattern) => {
                let mut scratch = Vec::new();
                let Column::Text(a) = on(a) else { return Column::nulls(Type::Bool, rows) };
                let like = |text: Option<&str>| {
                    #[cfg(test)]
                    MATCHED.set(MATCHED.get() + 1);
                    Some(pattern.matches(text?, &mut scratch))
                };
                Column::Bool(a.iter().map(like).collect())
            }
            Self::Number(function, a) => number(*function, on(a)),
            Self::Word(function, a) => {
                let Column::Text(a) = on(a) else { return Column::nulls(Type::Text, rows) };
                text(a.iter().map(|v| {
                    v.map(|v| match function {
                        Word::Lower => scalar::lower(v),
                        Word::Upper => scalar::upper(v),
                        Word::Trim => v.trim_matches(' ').to_owned(),
                    })
                }))
            }
            Self::Length(a) => {
                let Column::Text(a) = on(a) else { return Column::nulls(Type::Int, rows) };
                let length = |text: &str| i64::try_from(text.chars().count()).ok();
                Column::Int(a.iter().map(|v| length(v?)).collect())
            }
            Self::Substring(a, from, length) => {
                let length = length.as_ref().map(|length| on(length));
                let (Column::Text(a), Column::Int(from)) = (on(a), on(from)) else {
                    return Column::nulls(Type::Text, rows);
                };
                text((0..rows).map(|row| {
                    if a.is_null(row) || from.is_null(row) {
                        return None;
                    }
                    let length = match &length {
                        Some(Column::Int(length)) if length.is_valid(row) => {
                            Some(length.value(row))
                        }
                        Some(_) => return None,
                        None => None,
                    };
                    scalar::substring(a.value(row), from.value(row), length)
                }))
            }
            Self::Coalesce(all) => {
                let all: Vec<_> = all.iter().map(on).collect();
                choose(&all, rows, |row| all.iter().position(|column| !column.is_null(row)))
            }
            Self::Extreme(operator, all) => {
                let mut best: Option<Column> = None;
                for next in all.iter().map(on) {
                    best = Some(match best {
                        None => next,
                        Some(best) => {
                            let better = compare(*operator, &next, &best);
                            choose(&[best.clone(), next.clone()], rows, |row| {
                                let wins = better.is_valid(row) && better.value(row);
                                Some(usize::from(wins || best.is_null(row)))
                            })
                        }
                    });
                }
                best.unwrap_or_else(|| Column::nulls(Type::Text, rows))
            }
            Self::NullIf(a, b) => {
                let a = on(a);
                let equal = compare(Comparison::Equal, &a, &on(b));
                choose(std::slice::from_ref(&a), rows, |row| {
                    (!(equal.is_valid(row) && equal.value(row))).then_some(0)
                })
            }
            Self::Moment(function, a) => {
                let kind = if function.is_start() { Type::Timestamp } else { Type::Int };
                let Column::Timestamp(a) = on(a) else { return Column::nulls(kind, rows) };
                let found = a.iter().map(|v| scalar::moment(*function, v?));
                if function.is_start() {
                    Column::Timestamp(found.collect())
                } else {
                    Column::Int(found.collect())
                }
            }
        }
    }

    /// How many of its parts hold a text for every row of a batch while it is computed, at most.
    pub(crate) fn texts(&self) -> usize {
        let below = |all: &[&Self]| all.iter().map(|one| one.texts()).sum::<usize>();
        let (own, below) = match self {
            Self::Null(_) | Self::Literal(_) | Self::Column(_) => (0, 0),
            Self::Not(a)
            | Self::Negate(a)
            | Self::IsNull(a)
            | Self::Is(_, a)
            | Self::In(a, _)
            | Self::Like(a, _)
            | Self::Number(_, a)
            | Self::Length(a)
            | Self::Moment(_, a) => (0, below(&[a])),
            Self::Arithmetic(_, a, b)
            | Self::Comparison(_, a, b)
            | Self::And(a, b)
            | Self::Or(a, b)
            | Self::NullIf(a, b) => (0, below(&[a, b])),
            Self::Concat(a, b) => (1, below(&[a, b])),
            Self::Case(branches, otherwise) => {
                let branches = branches.iter().map(|(when, then)| below(&[when, then]));
                (0, branches.sum::<usize>() + otherwise.texts())
            }
            Self::Cast(a, to) => (usize::from(*to == Type::Text), below(&[a])),
            Self::Word(_, a) => (1, below(&[a])),
            Self::Substring(a, from, length) => {
                (1, below(&[a, from]) + length.as_ref().map_or(0, |length| length.texts()))
            }
            Self::Coalesce(all) | Self::Extreme(_, all) => (0, all.iter().map(Self::texts).sum()),
        };
        own + below
    }

    /// For every row, whether it is true.
    pub(crate) fn holds(&self, columns: &[Column], rows: usize) -> BooleanArray {
        truth(self.compute(columns, rows)).iter().map(|v| Some(v == Some(true))).collect()
    }
}

fn unknown(rows: usize) -> BooleanArray {
    BooleanArray::new_null(rows)
}

fn truth(column: Column) -> BooleanArray {
    match column {
        Column::Bool(array) => array,
        other => unknown(other.array().len()),
    }
}

fn floats(a: &Float64Array, function: impl Fn(f64) -> f64) -> Column {
    Column::Float(a.iter().map(|v| scalar::float(function(v?))).collect())
}

fn arithmetic(operator: Arithmetic, a: Column, b: Column) -> Column {
    match (a, b) {
        (Column::Int(a), Column::Int(b)) => Column::Int(match operator {
            Arithmetic::Add => ints(&a, &b, i64::checked_add),
            Arithmetic::Subtract => ints(&a, &b, i64::checked_sub),
            Arithmetic::Multiply => ints(&a, &b, i64::checked_mul),
            Arithmetic::Divide => ints(&a, &b, i64::checked_div),
            // The least integer leaves nothing when divided by -1, though the quotient has 65 bits.
            Arithmetic::Remainder => ints(&a, &b, |a, b| (b != 0).then(|| a.wrapping_rem(b))),
        }),
        (Column::Float(a), Column::Float(b)) => {
            let pairs = a.iter().zip(b.iter());
            Column::Float(
                pairs
                    .map(|(a, b)| {
                        let (a, b) = (a?, b?);
                        scalar::float(match operator {
                            Arithmetic::Add => a + b,
                            Arithmetic::Subtract => a - b,
                            Arithmetic::Multiply => a * b,
                            Arithmetic::Divide | Arithmetic::Remainder if b.abs() <= 0.0 => {
                                return None;
                            }
                            Arithmetic::Divide => a / b,
                            Arithmetic::Remainder => a % b,
                        })
                    })
                    .collect(),
            )
        }
        (a, _) => Column::nulls(a.kind(), a.array().len()),
    }
}

fn ints(a: &Int64Array, b: &Int64Array, function: fn(i64, i64) -> Option<i64>) -> Int64Array {
    a.iter().zip(b.iter()).map(|(a, b)| function(a?, b?)).collect()
}

fn number(function: Number, a: Column) -> Column {
    match (function, a) {
        (Number::Abs, Column::Int(a)) => Column::Int(a.iter().map(|v| v?.checked_abs()).collect()),
        (Number::Abs, Column::Float(a)) => floats(&a, f64::abs),
        (Number::Floor, Column::Float(a)) => floats(&a, f64::floor),
        (Number::Ceil, Column::Float(a)) => floats(&a, f64::ceil),
        (Number::Round, Column::Float(a)) => floats(&a, f64::round),
        (Number::Sqrt, Column::Float(a)) => floats(&a, f64::sqrt),
        (Number::Ln, Column::Float(a)) => {
            Column::Float(a.iter().map(|v| v.filter(|v| *v > 0.0).map(libm::log)).collect())
        }
        // Not the machine's own: the same on all of them.
        (Number::Exp, Column::Float(a)) => floats(&a, libm::exp),
        (_, a) => Column::nulls(a.kind(), a.array().len()),
    }
}

fn compare(operator: Comparison, a: &Column, b: &Column) -> BooleanArray {
    let (a, b) = (a.array(), b.array());
    // They have one type, for which Arrow compares; doubles by their total order, which is the
    // usual one as there is neither NaN nor -0.
    let result = match operator {
        Comparison::Equal => cmp::eq(&a, &b),
        Comparison::NotEqual => cmp::neq(&a, &b),
        Comparison::Less => cmp::lt(&a, &b),
        Comparison::LessOrEqual => cmp::lt_eq(&a, &b),
        Comparison::Greater => cmp::gt(&a, &b),
        Comparison::GreaterOrEqual => cmp::gt_eq(&a, &b),
    };
    result.unwrap_or_else(|_| unknown(a.len()))
}

/// For every row the value of one of the columns, all of one type, or NULL.
fn choose(columns: &[Column], rows: usize, which: impl Fn(usize) -> Option<usize>) -> Column {
    let kind = columns.first().map_or(Type::Text, Column::kind);
    let nulls = Column::nulls(kind, 1);
    let mut arrays: Vec<&dyn Array> = columns.iter().map(Column::array).collect();
    arrays.push(nulls.array());
    let indices: Vec<_> = (0..rows)
        .map(|row| which(row).map_or((columns.len(), 0), |column| (column, row)))
        .collect();
    interleave(&arrays, &indices)
        .ok()
        .and_then(|array| Column::read(&array, kind))
        .unwrap_or_else(|| Column::nulls(kind, rows))
}
