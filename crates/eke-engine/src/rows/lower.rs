//! Lowering: an expression of a plan, checked against the columns that there are, ready to be
//! computed.

use eke_sql::scalar::Pattern;
use eke_sql::{Binary, Expr, Function, Type, Unary, Value};

use crate::rows::column_expr::{Arithmetic, ColumnExpr, Comparison, Members, Number, Word};

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
        Expr::Unary(operator, a) => match operator {
            Unary::Not => (ColumnExpr::Not(typed(a, Type::Bool)?), Some(Type::Bool)),
            Unary::IsNull => (ColumnExpr::IsNull(Box::new(lower(a, columns)?.0)), Some(Type::Bool)),
            Unary::IsTrue => (ColumnExpr::Is(true, typed(a, Type::Bool)?), Some(Type::Bool)),
            Unary::IsFalse => (ColumnExpr::Is(false, typed(a, Type::Bool)?), Some(Type::Bool)),
            Unary::Negate => {
                let (a, kind) = same([&**a], columns, Some(Type::Int))?;
                numeric(kind, operator)?;
                (ColumnExpr::Negate(one(a)), Some(kind))
            }
        },
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
    let kind = of_a.or(of_b);
    if of_a.is_some() && of_b.is_some() && of_a != of_b {
        return Err(types(operator));
    }
    let fitted = |total: ColumnExpr, own: Option<Type>, kind: Type| {
        Box::new(if own.is_some() { total } else { ColumnExpr::Null(kind) })
    };
    let both = |default: Type, allowed: &[Type]| {
        let kind = kind.unwrap_or(default);
        if !allowed.is_empty() && !allowed.contains(&kind) {
            return Err(types(operator));
        }
        Ok(kind)
    };
    let arithmetic = match operator {
        Binary::Add => Some(Arithmetic::Add),
        Binary::Subtract => Some(Arithmetic::Subtract),
        Binary::Multiply => Some(Arithmetic::Multiply),
        Binary::Divide => Some(Arithmetic::Divide),
        Binary::Remainder => Some(Arithmetic::Remainder),
        _ => None,
    };
    if let Some(arithmetic) = arithmetic {
        let kind = both(Type::Int, &[Type::Int, Type::Float])?;
        let total =
            ColumnExpr::Arithmetic(arithmetic, fitted(a, of_a, kind), fitted(b, of_b, kind));
        return Ok((total, Some(kind)));
    }
    let comparison = match operator {
        Binary::Equal => Some(Comparison::Equal),
        Binary::NotEqual => Some(Comparison::NotEqual),
        Binary::Less => Some(Comparison::Less),
        Binary::LessOrEqual => Some(Comparison::LessOrEqual),
        Binary::Greater => Some(Comparison::Greater),
        Binary::GreaterOrEqual => Some(Comparison::GreaterOrEqual),
        _ => None,
    };
    if let Some(comparison) = comparison {
        let kind = both(Type::Int, &[])?;
        let total =
            ColumnExpr::Comparison(comparison, fitted(a, of_a, kind), fitted(b, of_b, kind));
        return Ok((total, Some(Type::Bool)));
    }
    if operator == Binary::Concat {
        let kind = both(Type::Text, &[Type::Text])?;
        return Ok((ColumnExpr::Concat(fitted(a, of_a, kind), fitted(b, of_b, kind)), Some(kind)));
    }
    let kind = both(Type::Bool, &[Type::Bool])?;
    let (a, b) = (fitted(a, of_a, kind), fitted(b, of_b, kind));
    let total = if operator == Binary::And { ColumnExpr::And(a, b) } else { ColumnExpr::Or(a, b) };
    Ok((total, Some(kind)))
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
    let number = |number: Number| {
        count(1..=1)?;
        Ok((ColumnExpr::Number(number, typed(0, Type::Float)?), Some(Type::Float)))
    };
    let word = |word: Word| {
        count(1..=1)?;
        Ok((ColumnExpr::Word(word, typed(0, Type::Text)?), Some(Type::Text)))
    };
    match function {
        Function::Abs => {
            count(1..=1)?;
            let (a, kind) = same(arguments, columns, Some(Type::Int))?;
            numeric(kind, function)?;
            Ok((ColumnExpr::Number(Number::Abs, one(a)), Some(kind)))
        }
        Function::Floor => number(Number::Floor),
        Function::Ceil => number(Number::Ceil),
        Function::Round => number(Number::Round),
        Function::Sqrt => number(Number::Sqrt),
        Function::Ln => number(Number::Ln),
        Function::Exp => number(Number::Exp),
        Function::Least | Function::Greatest | Function::Coalesce => {
            count(1..=usize::MAX)?;
            let (all, kind) = same(arguments, columns, None)?;
            let total = match function {
                Function::Least => ColumnExpr::Extreme(Comparison::Less, all),
                Function::Greatest => ColumnExpr::Extreme(Comparison::Greater, all),
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
        Function::Lower => word(Word::Lower),
        Function::Upper => word(Word::Upper),
        Function::Trim => word(Word::Trim),
        Function::Length => {
            count(1..=1)?;
            Ok((ColumnExpr::Length(typed(0, Type::Text)?), Some(Type::Int)))
        }
        Function::Substring => {
            count(2..=3)?;
            let length = if arguments.len() == 3 { Some(typed(2, Type::Int)?) } else { None };
            let total = ColumnExpr::Substring(typed(0, Type::Text)?, typed(1, Type::Int)?, length);
            Ok((total, Some(Type::Text)))
        }
        Function::Year
        | Function::Quarter
        | Function::Month
        | Function::Day
        | Function::DayOfWeek
        | Function::Hour
        | Function::Minute
        | Function::Second
        | Function::StartOfYear
        | Function::StartOfQuarter
        | Function::StartOfMonth
        | Function::StartOfWeek
        | Function::StartOfDay
        | Function::StartOfHour
        | Function::StartOfMinute => {
            count(1..=1)?;
            let kind = if function.is_start() { Type::Timestamp } else { Type::Int };
            Ok((ColumnExpr::Moment(function, typed(0, Type::Timestamp)?), Some(kind)))
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
