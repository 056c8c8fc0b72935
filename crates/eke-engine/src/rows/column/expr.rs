//! Expressions, ready to be computed on columns.
//!
//! Computing cannot fail: types were checked when the expression was lowered, and what cannot be
//! done for a row is NULL there. The engine underneath sees none of this, so none of its rewriting
//! (folding of constants, common parts, conditions that are not reached) can change what an
//! expression means. Every part is computed for every row, which takes the same steps whatever the
//! rows hold.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use arrow_array::{Array, BooleanArray};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_select::interleave::interleave;
use eke_sql::scalar::{self, Datum, MomentFormat, Pattern, Regex};
use eke_sql::{Binary, Function, Type, Unary, Value};

use crate::rows::column::{Column, arrays, text};
use crate::rows::pass::names::TableHash;

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
    Unary(Unary, Box<ColumnExpr>),
    Binary(Binary, Box<ColumnExpr>, Box<ColumnExpr>),
    /// Conditions with results; the last result has none.
    Case(Vec<(ColumnExpr, ColumnExpr)>, Box<ColumnExpr>),
    Cast(Box<ColumnExpr>, Type),
    In(Box<ColumnExpr>, Members),
    Like(Box<ColumnExpr>, Pattern),
    Regex(Box<ColumnExpr>, Regex),
    /// A moment some months and microseconds later.
    Shift(Box<ColumnExpr>, i32, i64),
    ToChar(Box<ColumnExpr>, MomentFormat),
    /// A function, and the type of its result.
    Call(Function, Type, Vec<ColumnExpr>),
    Coalesce(Vec<ColumnExpr>),
    /// The least (or the greatest) that is not NULL.
    Extreme(Binary, Vec<ColumnExpr>),
    NullIf(Box<ColumnExpr>, Box<ColumnExpr>),
}

/// Constants that a value may be among.
pub(crate) struct Members {
    set: MembersOf,
    null: bool,
}

enum MembersOf {
    /// A few runs of numbers without a gap, in order.
    Runs(Vec<RangeInclusive<i64>>),
    Numbers(HashSet<i64, TableHash>),
    /// By their bits: there is one zero, and no NaN.
    Floats(HashSet<u64, TableHash>),
    Texts(HashSet<String, TableHash>),
}

/// How many runs of numbers are searched one by one at most.
const FEW_RUNS: usize = 4;

/// Numbers as runs without a gap, if these are few.
fn runs(mut numbers: Vec<i64>) -> Option<Vec<RangeInclusive<i64>>> {
    numbers.sort_unstable();
    let mut runs: Vec<RangeInclusive<i64>> = Vec::new();
    for number in numbers {
        if let Some(run) = runs.last_mut()
            && number <= run.end().saturating_add(1)
        {
            *run = *run.start()..=number;
        } else if runs.len() == FEW_RUNS {
            return None;
        } else {
            runs.push(number..=number);
        }
    }
    Some(runs)
}

impl Members {
    /// The constants of a type; others are among them for no value.
    pub(crate) fn new(kind: Type, values: &[Value]) -> Self {
        let null = values.contains(&Value::Null);
        let float = |value: &Value| match value {
            Value::Float(value) => scalar::float(*value).map(f64::to_bits),
            _ => None,
        };
        let text = |value: &Value| match value {
            Value::Text(value) => Some(scalar::cut(value).to_owned()),
            _ => None,
        };
        let number = |value: &Value| match value {
            Value::Bool(value) => Some(i64::from(*value)),
            Value::Int(value) | Value::Timestamp(value) => Some(*value),
            Value::Date(value) => Some(i64::from(*value)),
            _ => None,
        };
        let values = values.iter().filter(|value| value.kind() == Some(kind));
        let set = match kind {
            Type::Float => MembersOf::Floats(values.filter_map(float).collect()),
            Type::Text => MembersOf::Texts(values.filter_map(text).collect()),
            _ => {
                let numbers: Vec<i64> = values.filter_map(number).collect();
                let set = || MembersOf::Numbers(numbers.iter().copied().collect());
                runs(numbers.clone()).map_or_else(set, MembersOf::Runs)
            }
        };
        Self { set, null }
    }

    pub(crate) fn among(&self, column: &Column) -> BooleanArray {
        let numbers = |value: i64| match &self.set {
            MembersOf::Runs(runs) => runs.iter().any(|run| run.contains(&value)),
            MembersOf::Numbers(set) => set.contains(&value),
            MembersOf::Floats(_) | MembersOf::Texts(_) => false,
        };
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
            Self::Unary(operator, a) => unary(*operator, on(a), rows),
            Self::Binary(operator, a, b) => binary(*operator, on(a), on(b), rows),
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
            Self::Regex(a, regex) => {
                let mut scratch = Vec::new();
                let Column::Text(a) = on(a) else { return Column::nulls(Type::Bool, rows) };
                Column::Bool(a.iter().map(|v| Some(regex.matches(v?, &mut scratch))).collect())
            }
            Self::Shift(a, months, micros) => match on(a) {
                Column::Timestamp(a) => Column::Timestamp(
                    a.iter().map(|v| scalar::shift(v?, *months, *micros)).collect(),
                ),
                _ => Column::nulls(Type::Timestamp, rows),
            },
            Self::ToChar(a, format) => match on(a) {
                Column::Timestamp(a) => text(a.iter().map(|v| format.write(v?))),
                _ => Column::nulls(Type::Text, rows),
            },
            Self::Call(function, kind, arguments) => {
                let mut arguments: Vec<_> = arguments.iter().map(on).collect();
                match arguments.len() {
                    1 => call(*function, *kind, arguments.swap_remove(0)),
                    _ => row_by_row(*function, *kind, &arguments, rows),
                }
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
                            let better = compare(*operator, &next, &best, rows);
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
                let equal = compare(Binary::Equal, &a, &on(b), rows);
                choose(std::slice::from_ref(&a), rows, |row| {
                    (!(equal.is_valid(row) && equal.value(row))).then_some(0)
                })
            }
        }
    }

    /// Shows what it is made of, in an order that is always the same.
    pub(crate) fn each_operand(&mut self, show: &mut dyn FnMut(&mut Self)) {
        match self {
            Self::Null(_) | Self::Literal(_) | Self::Column(_) => {}
            Self::Unary(_, a)
            | Self::Cast(a, _)
            | Self::In(a, _)
            | Self::Like(a, _)
            | Self::Regex(a, _)
            | Self::Shift(a, ..)
            | Self::ToChar(a, _) => show(a),
            Self::Binary(_, a, b) | Self::NullIf(a, b) => {
                show(a);
                show(b);
            }
            Self::Case(branches, otherwise) => {
                for (when, then) in branches {
                    show(when);
                    show(then);
                }
                show(otherwise);
            }
            Self::Call(_, _, all) | Self::Coalesce(all) | Self::Extreme(_, all) => {
                all.iter_mut().for_each(show);
            }
        }
    }

    /// How many of its parts hold a text for every row of a batch while it is computed, at most.
    pub(crate) fn texts(&self) -> usize {
        let below = |all: &[&Self]| all.iter().map(|one| one.texts()).sum::<usize>();
        let (own, below) = match self {
            Self::Null(_) | Self::Literal(_) | Self::Column(_) => (0, 0),
            Self::Unary(_, a)
            | Self::In(a, _)
            | Self::Like(a, _)
            | Self::Regex(a, _)
            | Self::Shift(a, ..) => (0, below(&[a])),
            Self::ToChar(a, _) => (1, below(&[a])),
            Self::Call(_, kind, arguments) => {
                (usize::from(*kind == Type::Text), arguments.iter().map(Self::texts).sum())
            }
            Self::Binary(operator, a, b) => {
                (usize::from(*operator == Binary::Concat), below(&[a, b]))
            }
            Self::NullIf(a, b) => (0, below(&[a, b])),
            Self::Case(branches, otherwise) => {
                let branches = branches.iter().map(|(when, then)| below(&[when, then]));
                (0, branches.sum::<usize>() + otherwise.texts())
            }
            Self::Cast(a, to) => (usize::from(*to == Type::Text), below(&[a])),
            Self::Coalesce(all) | Self::Extreme(_, all) => (0, all.iter().map(Self::texts).sum()),
        };
        own + below
    }

    /// For every row, whether it is true.
    pub(crate) fn holds(&self, columns: &[Column], rows: usize) -> BooleanBuffer {
        arrays::is_true(&truth(self.compute(columns, rows)))
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

fn unary(operator: Unary, a: Column, rows: usize) -> Column {
    let is = |wanted: Option<bool>, a: Column| {
        Column::Bool(truth(a).iter().map(|v| Some(v == wanted)).collect())
    };
    match (operator, a) {
        (Unary::Not, a) => Column::Bool(arrays::not(&truth(a))),
        (Unary::IsNull, a) => Column::Bool((0..rows).map(|row| Some(a.is_null(row))).collect()),
        (Unary::IsTrue, a) => is(Some(true), a),
        (Unary::IsFalse, a) => is(Some(false), a),
        (Unary::Negate, Column::Int(a)) => {
            Column::Int(a.iter().map(|v| v?.checked_neg()).collect())
        }
        (Unary::Negate, Column::Float(a)) => {
            Column::Float(a.iter().map(|v| scalar::float(-v?)).collect())
        }
        (Unary::Negate, a) => Column::nulls(a.kind(), rows),
    }
}

fn binary(operator: Binary, a: Column, b: Column, rows: usize) -> Column {
    match (operator, a, b) {
        (Binary::And, a, b) => Column::Bool(arrays::and(&truth(a), &truth(b))),
        (Binary::Or, a, b) => Column::Bool(arrays::or(&truth(a), &truth(b))),
        (Binary::Concat, Column::Text(a), Column::Text(b)) => {
            text(a.iter().zip(b.iter()).map(|(a, b)| Some(scalar::concat(a?, b?))))
        }
        (Binary::Concat, ..) => Column::nulls(Type::Text, rows),
        (operator, Column::Int(a), Column::Int(b)) if operator.is_arithmetic() => Column::Int(
            a.iter().zip(b.iter()).map(|(a, b)| scalar::int_arithmetic(operator, a?, b?)).collect(),
        ),
        (operator, Column::Float(a), Column::Float(b)) if operator.is_arithmetic() => {
            let pairs = a.iter().zip(b.iter());
            Column::Float(pairs.map(|(a, b)| scalar::float_arithmetic(operator, a?, b?)).collect())
        }
        (operator, a, _) if operator.is_arithmetic() => Column::nulls(a.kind(), rows),
        (operator, a, b) => Column::Bool(compare(operator, &a, &b, rows)),
    }
}

/// A function of one argument: those of numbers and moments need no detour.
fn call(function: Function, kind: Type, a: Column) -> Column {
    match (function, a) {
        (Function::Abs, Column::Int(a)) => {
            Column::Int(a.iter().map(|v| v?.checked_abs()).collect())
        }
        (function, Column::Float(a)) if kind == Type::Float => {
            Column::Float(a.iter().map(|v| scalar::float_function(function, v?)).collect())
        }
        (function, Column::Timestamp(a)) if function.is_start() => {
            Column::Timestamp(a.iter().map(|v| scalar::moment(function, v?)).collect())
        }
        (function, Column::Timestamp(a)) if kind == Type::Int => {
            Column::Int(a.iter().map(|v| scalar::moment(function, v?)).collect())
        }
        (function, a) => {
            let rows = a.array().len();
            row_by_row(function, kind, std::slice::from_ref(&a), rows)
        }
    }
}

/// A function of any arguments, as its meaning has it.
fn row_by_row(function: Function, kind: Type, arguments: &[Column], rows: usize) -> Column {
    let mut data: Vec<Option<Datum<'_>>> = Vec::with_capacity(arguments.len());
    let values = (0..rows).map(|row| {
        data.clear();
        data.extend(arguments.iter().map(|column| column.datum(row)));
        scalar::call(function, &data)
    });
    macro_rules! collected {
        ($kind:ident) => {
            Column::$kind(
                values
                    .map(|value| if let Value::$kind(value) = value { Some(value) } else { None })
                    .collect(),
            )
        };
    }
    match kind {
        Type::Bool => collected!(Bool),
        Type::Int => collected!(Int),
        Type::Float => collected!(Float),
        Type::Date => collected!(Date),
        Type::Timestamp => collected!(Timestamp),
        Type::Text => text(
            values.map(|value| if let Value::Text(value) = value { Some(value) } else { None }),
        ),
    }
}

/// Two columns of one type, row by row. Doubles have their usual order: there is no NaN and no -0.
fn compare(operator: Binary, a: &Column, b: &Column, rows: usize) -> BooleanArray {
    let found = match (a, b) {
        (Column::Bool(a), Column::Bool(b)) => {
            ordered(operator, rows, |row| (a.value(row), b.value(row)))
        }
        (Column::Int(a), Column::Int(b)) => numbers(operator, a.values(), b.values()),
        (Column::Float(a), Column::Float(b)) => numbers(operator, a.values(), b.values()),
        (Column::Text(a), Column::Text(b)) => {
            ordered(operator, rows, |row| (a.value(row), b.value(row)))
        }
        (Column::Date(a), Column::Date(b)) => numbers(operator, a.values(), b.values()),
        (Column::Timestamp(a), Column::Timestamp(b)) => numbers(operator, a.values(), b.values()),
        _ => None,
    };
    let nulls = || NullBuffer::union(a.array().nulls(), b.array().nulls());
    found.map_or_else(|| unknown(rows), |found| BooleanArray::new(found, nulls()))
}

fn numbers<T: Copy + PartialOrd>(operator: Binary, a: &[T], b: &[T]) -> Option<BooleanBuffer> {
    ordered(operator, a.len().min(b.len()), |row| (a[row], b[row]))
}

/// In which rows a comparison holds; none if the operator is none.
fn ordered<T: PartialOrd>(
    operator: Binary,
    rows: usize,
    at: impl Fn(usize) -> (T, T),
) -> Option<BooleanBuffer> {
    Some(match operator {
        Binary::Equal => where_holds(rows, at, T::eq),
        Binary::NotEqual => where_holds(rows, at, T::ne),
        Binary::Less => where_holds(rows, at, T::lt),
        Binary::LessOrEqual => where_holds(rows, at, T::le),
        Binary::Greater => where_holds(rows, at, T::gt),
        Binary::GreaterOrEqual => where_holds(rows, at, T::ge),
        _ => return None,
    })
}

fn where_holds<T>(
    rows: usize,
    at: impl Fn(usize) -> (T, T),
    holds: impl Fn(&T, &T) -> bool,
) -> BooleanBuffer {
    BooleanBuffer::collect_bool(rows, |row| {
        let (a, b) = at(row);
        holds(&a, &b)
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::Int64Array;

    #[test]
    fn numbers_are_among_others_in_runs_and_apart() {
        let lists: [&[i64]; 6] = [
            &[],
            &[5],
            &[3, 1, 2, 2, 9, i64::MAX, i64::MAX - 1],
            &[i64::MIN, i64::MIN + 1, 0],
            &[0, 2, 4, 6],
            &[0, 2, 4, 6, 8, 10],
        ];
        let asked: Vec<i64> = (-3..14)
            .chain([i64::MIN, i64::MIN + 1, i64::MIN + 2])
            .chain(i64::MAX - 3..=i64::MAX)
            .collect();
        for list in lists {
            let values: Vec<Value> = list.iter().map(|number| Value::Int(*number)).collect();
            let members = Members::new(Type::Int, &values);
            let is_run = matches!(members.set, MembersOf::Runs(_));
            assert_eq!(is_run, list.len() < 6 || list[0] == 3, "{list:?}");
            let found = members.among(&Column::Int(Int64Array::from(asked.clone())));
            for (place, number) in asked.iter().enumerate() {
                assert_eq!(found.value(place), list.contains(number), "{number} in {list:?}");
            }
        }
    }
}
