//! Lowering: an expression of a plan, checked against the columns that there are, ready to be
//! computed.

use eke_sql::scalar::{MomentFormat, Pattern, Regex};
use eke_sql::{Binary, Expr, Function, Type, Unary, Value};

use crate::rows::column::expr::{ColumnExpr, Members};

/// Why an expression cannot be computed on these columns. Names the plan's fault, and nothing of a
/// row.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LowerError {
    /// There is no such column, or eke has not its type.
    #[error("there is no column `{0}` that can be computed with")]
    NoColumn(String),
    /// An operator or function has operands that it has no meaning for.
    #[error("the plan has operands of types that have no meaning together: {0}")]
    Types(String),
    /// It is about an answer, and not about a row.
    #[error("a row has no keys and no measures")]
    NotOfARow,
}

/// An expression, ready to be computed on these columns, and its type; none if it is a plain NULL.
pub(crate) fn lower(
    expr: &Expr,
    columns: &[(String, Type)],
) -> Result<(ColumnExpr, Option<Type>), LowerError> {
    let typed = |expr: &Expr, kind: Type| fit(lower(expr, columns)?, kind);
    Ok(match expr {
        Expr::Literal(Value::Null) => (ColumnExpr::Null(Type::Text), None),
        Expr::Literal(value) => (ColumnExpr::Literal(value.clone()), value.kind()),
        Expr::Column(name) => {
            let index = columns.iter().position(|(column, _)| column == name);
            let index = index.ok_or_else(|| LowerError::NoColumn(name.clone()))?;
            (ColumnExpr::Column(index), Some(columns[index].1))
        }
        Expr::Key(_) | Expr::Measure(_) => return Err(LowerError::NotOfARow),
        Expr::Unary(operator, a) => {
            let (a, kind) = match operator {
                Unary::Not | Unary::IsTrue | Unary::IsFalse => (typed(a, Type::Bool)?, Type::Bool),
                Unary::IsNull => (Box::new(lower(a, columns)?.0), Type::Bool),
                Unary::Negate => {
                    let (a, kind) = same([&**a], columns, Some(Type::Int))?;
                    numeric(kind, operator)?;
                    (one(a), kind)
                }
            };
            (ColumnExpr::Unary(*operator, a), Some(kind))
        }
        Expr::Binary(operator, a, b) => binary(*operator, a, b, columns)?,
        Expr::Case { branches, otherwise } => {
            let results = branches.iter().map(|(_, then)| then).chain(otherwise.as_deref());
            let (mut results, kind) = same(results, columns, None)?;
            let last = if otherwise.is_some() { results.pop() } else { None };
            let otherwise = last.unwrap_or(ColumnExpr::Null(kind));
            let conditions = branches.iter().map(|(when, _)| typed(when, Type::Bool));
            let branches = conditions
                .zip(results)
                .map(|(when, then)| Ok((*when?, then)))
                .collect::<Result<_, LowerError>>()?;
            (ColumnExpr::Case(branches, Box::new(otherwise)), Some(kind))
        }
        Expr::Cast(a, to) => (ColumnExpr::Cast(Box::new(lower(a, columns)?.0), *to), Some(*to)),
        Expr::In(a, values) => {
            let (a, own) = lower(a, columns)?;
            let kind = own.or_else(|| values.iter().find_map(Value::kind)).unwrap_or(Type::Text);
            let a = if own.is_some() { a } else { ColumnExpr::Null(kind) };
            if values.iter().any(|value| value.kind().is_some_and(|other| other != kind)) {
                return Err(LowerError::Types("`IN`".to_owned()));
            }
            (ColumnExpr::In(Box::new(a), Members::new(kind, values)), Some(Type::Bool))
        }
        Expr::Like { text, pattern, ignore_case } => {
            let pattern = Pattern::new(pattern, *ignore_case);
            (ColumnExpr::Like(typed(text, Type::Text)?, pattern), Some(Type::Bool))
        }
        Expr::Regex { text, pattern, syntax } => {
            let regex = Regex::new(pattern, *syntax).map_err(|()| types(syntax))?;
            (ColumnExpr::Regex(typed(text, Type::Text)?, regex), Some(Type::Bool))
        }
        Expr::Shift { moment, months, micros } => {
            let moment = typed(moment, Type::Timestamp)?;
            (ColumnExpr::Shift(moment, *months, *micros), Some(Type::Timestamp))
        }
        Expr::Call(function, arguments) => call(*function, arguments, columns)?,
    })
}

/// A condition: an expression that is true or false.
pub(crate) fn condition(expr: &Expr, columns: &[(String, Type)]) -> Result<ColumnExpr, LowerError> {
    fit(lower(expr, columns)?, Type::Bool).map(|total| *total)
}

/// An expression that has this type.
pub(crate) fn typed(
    expr: &Expr,
    kind: Type,
    columns: &[(String, Type)],
) -> Result<ColumnExpr, LowerError> {
    fit(lower(expr, columns)?, kind).map(|total| *total)
}

fn binary(
    operator: Binary,
    a: &Expr,
    b: &Expr,
    columns: &[(String, Type)],
) -> Result<(ColumnExpr, Option<Type>), LowerError> {
    let ((a, of_a), (b, of_b)) = (lower(a, columns)?, lower(b, columns)?);
    let kind = of_a.or(of_b).unwrap_or(match operator {
        Binary::Concat => Type::Text,
        Binary::And | Binary::Or => Type::Bool,
        _ => Type::Int,
    });
    let fits = match operator {
        Binary::Concat => kind == Type::Text,
        Binary::And | Binary::Or => kind == Type::Bool,
        _ => !operator.is_arithmetic() || matches!(kind, Type::Int | Type::Float),
    };
    if !fits || [of_a, of_b].iter().flatten().any(|own| *own != kind) {
        return Err(types(operator));
    }
    let fitted = |total: ColumnExpr, own: Option<Type>| {
        Box::new(if own.is_some() { total } else { ColumnExpr::Null(kind) })
    };
    let total = ColumnExpr::Binary(operator, fitted(a, of_a), fitted(b, of_b));
    let is_value = operator.is_arithmetic() || operator == Binary::Concat;
    Ok((total, Some(if is_value { kind } else { Type::Bool })))
}

fn call(
    function: Function,
    arguments: &[Expr],
    columns: &[(String, Type)],
) -> Result<(ColumnExpr, Option<Type>), LowerError> {
    let count = |allowed: std::ops::RangeInclusive<usize>| {
        if allowed.contains(&arguments.len()) { Ok(()) } else { Err(types(function)) }
    };
    let typed = |index: usize, kind: Type| fit(lower(&arguments[index], columns)?, kind);
    match function {
        Function::Abs => {
            count(1..=1)?;
            let (a, kind) = same(arguments, columns, Some(Type::Int))?;
            numeric(kind, function)?;
            Ok((ColumnExpr::Call(function, kind, a), Some(kind)))
        }
        Function::Least | Function::Greatest | Function::Coalesce => {
            count(1..=usize::MAX)?;
            let (all, kind) = same(arguments, columns, None)?;
            let total = match function {
                Function::Least => ColumnExpr::Extreme(Binary::Less, all),
                Function::Greatest => ColumnExpr::Extreme(Binary::Greater, all),
                _ => ColumnExpr::Coalesce(all),
            };
            Ok((total, Some(kind)))
        }
        Function::NullIf => {
            count(2..=2)?;
            let (mut both, kind) = same(arguments, columns, None)?;
            let second = one(both.split_off(1));
            Ok((ColumnExpr::NullIf(one(both), second), Some(kind)))
        }
        Function::ConcatWith => {
            count(2..=usize::MAX)?;
            let all = (0..arguments.len())
                .map(|index| typed(index, Type::Text).map(|total| *total))
                .collect::<Result<_, _>>()?;
            Ok((ColumnExpr::Call(function, Type::Text, all), Some(Type::Text)))
        }
        Function::ToChar => {
            count(2..=2)?;
            let Expr::Literal(Value::Text(pattern)) = &arguments[1] else {
                return Err(types(function));
            };
            let format = MomentFormat::new(pattern).map_err(|_| types(function))?;
            let total = ColumnExpr::ToChar(typed(0, Type::Timestamp)?, format);
            Ok((total, Some(Type::Text)))
        }
        function => {
            let (kinds, least) = function.takes().ok_or_else(|| types(function))?;
            count(least..=kinds.len())?;
            let all = (0..arguments.len())
                .map(|index| typed(index, kinds[index]).map(|total| *total))
                .collect::<Result<_, _>>()?;
            let kind = function.result().ok_or_else(|| types(function))?;
            Ok((ColumnExpr::Call(function, kind, all), Some(kind)))
        }
    }
}

/// Expressions of one type, where plain NULLs take the type of the others (or the default).
fn same<'a>(
    all: impl IntoIterator<Item = &'a Expr>,
    columns: &[(String, Type)],
    default: Option<Type>,
) -> Result<(Vec<ColumnExpr>, Type), LowerError> {
    let all = all.into_iter().map(|expr| lower(expr, columns)).collect::<Result<Vec<_>, _>>()?;
    let kind = all.iter().find_map(|(_, kind)| *kind).or(default).unwrap_or(Type::Text);
    let fitted = all.into_iter().map(|(total, own)| match own {
        None => Ok(ColumnExpr::Null(kind)),
        Some(own) if own == kind => Ok(total),
        Some(_) => Err(LowerError::Types("a choice between values".to_owned())),
    });
    Ok((fitted.collect::<Result<_, _>>()?, kind))
}

fn fit(
    (total, own): (ColumnExpr, Option<Type>),
    kind: Type,
) -> Result<Box<ColumnExpr>, LowerError> {
    match own {
        None => Ok(Box::new(ColumnExpr::Null(kind))),
        Some(own) if own == kind => Ok(Box::new(total)),
        Some(own) => Err(LowerError::Types(format!("{own} where {kind} is needed"))),
    }
}

fn one(mut totals: Vec<ColumnExpr>) -> Box<ColumnExpr> {
    Box::new(totals.pop().unwrap_or(ColumnExpr::Null(Type::Text)))
}

fn numeric(kind: Type, what: impl std::fmt::Debug) -> Result<(), LowerError> {
    if matches!(kind, Type::Int | Type::Float) { Ok(()) } else { Err(types(what)) }
}

fn types(what: impl std::fmt::Debug) -> LowerError {
    LowerError::Types(format!("`{what:?}`"))
}
