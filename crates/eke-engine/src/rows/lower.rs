//! Lowering: an expression of a plan, checked against the columns that there are, ready to be
//! computed.

use eke_sql::scalar::Pattern;
use eke_sql::{Binary, Expr, Function, Type, Unary, Value};

use crate::rows::total::{Arithmetic, Comparison, Members, Number, Total, Word};

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
) -> Result<(Total, Option<Type>), LowerError> {
    let typed = |expr: &Expr, of: Type| fit(lower(expr, columns)?, of);
    Ok(match expr {
        Expr::Literal(Value::Null) => (Total::Null(Type::Text), None),
        Expr::Literal(value) => (Total::Literal(value.clone()), value.kind()),
        Expr::Column(name) => {
            let index = columns.iter().position(|(column, _)| column == name);
            let index = index.ok_or_else(|| LowerError::NoColumn(name.clone()))?;
            (Total::Column(index), Some(columns[index].1))
        }
        Expr::Key(_) | Expr::Measure(_) => return Err(LowerError::NotOfARow),
        Expr::Unary(operator, a) => match operator {
            Unary::Not => (Total::Not(typed(a, Type::Bool)?), Some(Type::Bool)),
            Unary::IsNull => (Total::IsNull(Box::new(lower(a, columns)?.0)), Some(Type::Bool)),
            Unary::IsTrue => (Total::Is(true, typed(a, Type::Bool)?), Some(Type::Bool)),
            Unary::IsFalse => (Total::Is(false, typed(a, Type::Bool)?), Some(Type::Bool)),
            Unary::Negate => {
                let (a, of) = same([&**a], columns, Some(Type::Int))?;
                numeric(of, operator)?;
                (Total::Negate(one(a)), Some(of))
            }
        },
        Expr::Binary(operator, a, b) => binary(*operator, a, b, columns)?,
        Expr::Case { branches, otherwise } => {
            let results = branches.iter().map(|(_, then)| then).chain(otherwise.as_deref());
            let (mut results, of) = same(results, columns, None)?;
            let last = if otherwise.is_some() { results.pop() } else { None };
            let otherwise = last.unwrap_or(Total::Null(of));
            let conditions = branches.iter().map(|(when, _)| typed(when, Type::Bool));
            let branches = conditions
                .zip(results)
                .map(|(when, then)| Ok((*when?, then)))
                .collect::<Result<_, LowerError>>()?;
            (Total::Case(branches, Box::new(otherwise)), Some(of))
        }
        Expr::Cast(a, to) => (Total::Cast(Box::new(lower(a, columns)?.0), *to), Some(*to)),
        Expr::In(a, values) => {
            let (a, own) = lower(a, columns)?;
            let of = own.or_else(|| values.iter().find_map(Value::kind)).unwrap_or(Type::Text);
            let a = if own.is_some() { a } else { Total::Null(of) };
            if values.iter().any(|value| value.kind().is_some_and(|kind| kind != of)) {
                return Err(LowerError::Types("`IN`".to_owned()));
            }
            (Total::In(Box::new(a), Members::new(of, values)), Some(Type::Bool))
        }
        Expr::Like { text, pattern, ignore_case } => {
            let pattern = Pattern::new(pattern, *ignore_case);
            (Total::Like(typed(text, Type::Text)?, pattern), Some(Type::Bool))
        }
        Expr::Call(function, arguments) => call(*function, arguments, columns)?,
    })
}

/// A condition: an expression that is true or false.
pub(crate) fn condition(expr: &Expr, columns: &[(String, Type)]) -> Result<Total, LowerError> {
    fit(lower(expr, columns)?, Type::Bool).map(|total| *total)
}

/// An expression that has this type.
pub(crate) fn typed(
    expr: &Expr,
    of: Type,
    columns: &[(String, Type)],
) -> Result<Total, LowerError> {
    fit(lower(expr, columns)?, of).map(|total| *total)
}

fn binary(
    operator: Binary,
    a: &Expr,
    b: &Expr,
    columns: &[(String, Type)],
) -> Result<(Total, Option<Type>), LowerError> {
    let ((a, of_a), (b, of_b)) = (lower(a, columns)?, lower(b, columns)?);
    let of = of_a.or(of_b);
    if of_a.is_some() && of_b.is_some() && of_a != of_b {
        return Err(types(operator));
    }
    let fitted = |total: Total, own: Option<Type>, of: Type| {
        Box::new(if own.is_some() { total } else { Total::Null(of) })
    };
    let both = |default: Type, allowed: &[Type]| {
        let of = of.unwrap_or(default);
        if !allowed.is_empty() && !allowed.contains(&of) {
            return Err(types(operator));
        }
        Ok(of)
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
        let of = both(Type::Int, &[Type::Int, Type::Float])?;
        let total = Total::Arithmetic(arithmetic, fitted(a, of_a, of), fitted(b, of_b, of));
        return Ok((total, Some(of)));
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
        let of = both(Type::Int, &[])?;
        let total = Total::Comparison(comparison, fitted(a, of_a, of), fitted(b, of_b, of));
        return Ok((total, Some(Type::Bool)));
    }
    if operator == Binary::Concat {
        let of = both(Type::Text, &[Type::Text])?;
        return Ok((Total::Concat(fitted(a, of_a, of), fitted(b, of_b, of)), Some(of)));
    }
    let of = both(Type::Bool, &[Type::Bool])?;
    let (a, b) = (fitted(a, of_a, of), fitted(b, of_b, of));
    let total = if operator == Binary::And { Total::And(a, b) } else { Total::Or(a, b) };
    Ok((total, Some(of)))
}

fn call(
    function: Function,
    arguments: &[Expr],
    columns: &[(String, Type)],
) -> Result<(Total, Option<Type>), LowerError> {
    let count = |allowed: std::ops::RangeInclusive<usize>| {
        if allowed.contains(&arguments.len()) { Ok(()) } else { Err(types(function)) }
    };
    let typed = |index: usize, of: Type| fit(lower(&arguments[index], columns)?, of);
    let number = |number: Number| {
        count(1..=1)?;
        Ok((Total::Number(number, typed(0, Type::Float)?), Some(Type::Float)))
    };
    let word = |word: Word| {
        count(1..=1)?;
        Ok((Total::Word(word, typed(0, Type::Text)?), Some(Type::Text)))
    };
    match function {
        Function::Abs => {
            count(1..=1)?;
            let (a, of) = same(arguments, columns, Some(Type::Int))?;
            numeric(of, function)?;
            Ok((Total::Number(Number::Abs, one(a)), Some(of)))
        }
        Function::Floor => number(Number::Floor),
        Function::Ceil => number(Number::Ceil),
        Function::Round => number(Number::Round),
        Function::Sqrt => number(Number::Sqrt),
        Function::Ln => number(Number::Ln),
        Function::Exp => number(Number::Exp),
        Function::Least | Function::Greatest | Function::Coalesce => {
            count(1..=usize::MAX)?;
            let (all, of) = same(arguments, columns, None)?;
            let total = match function {
                Function::Least => Total::Extreme(Comparison::Less, all),
                Function::Greatest => Total::Extreme(Comparison::Greater, all),
                _ => Total::Coalesce(all),
            };
            Ok((total, Some(of)))
        }
        Function::NullIf => {
            count(2..=2)?;
            let (mut both, of) = same(arguments, columns, None)?;
            let second = one(both.split_off(1));
            Ok((Total::NullIf(one(both), second), Some(of)))
        }
        Function::Lower => word(Word::Lower),
        Function::Upper => word(Word::Upper),
        Function::Trim => word(Word::Trim),
        Function::Length => {
            count(1..=1)?;
            Ok((Total::Length(typed(0, Type::Text)?), Some(Type::Int)))
        }
        Function::Substring => {
            count(2..=3)?;
            let length = if arguments.len() == 3 { Some(typed(2, Type::Int)?) } else { None };
            let total = Total::Substring(typed(0, Type::Text)?, typed(1, Type::Int)?, length);
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
            let of = if function.is_start() { Type::Timestamp } else { Type::Int };
            Ok((Total::Moment(function, typed(0, Type::Timestamp)?), Some(of)))
        }
    }
}

/// Expressions of one type, where plain NULLs take the type of the others (or the default).
fn same<'a>(
    all: impl IntoIterator<Item = &'a Expr>,
    columns: &[(String, Type)],
    default: Option<Type>,
) -> Result<(Vec<Total>, Type), LowerError> {
    let all = all.into_iter().map(|expr| lower(expr, columns)).collect::<Result<Vec<_>, _>>()?;
    let of = all.iter().find_map(|(_, of)| *of).or(default).unwrap_or(Type::Text);
    let fitted = all.into_iter().map(|(total, own)| match own {
        None => Ok(Total::Null(of)),
        Some(own) if own == of => Ok(total),
        Some(_) => Err(LowerError::Types("a choice between values".to_owned())),
    });
    Ok((fitted.collect::<Result<_, _>>()?, of))
}

fn fit((total, own): (Total, Option<Type>), of: Type) -> Result<Box<Total>, LowerError> {
    match own {
        None => Ok(Box::new(Total::Null(of))),
        Some(own) if own == of => Ok(Box::new(total)),
        Some(own) => Err(LowerError::Types(format!("{own} where {of} is needed"))),
    }
}

fn one(mut totals: Vec<Total>) -> Box<Total> {
    Box::new(totals.pop().unwrap_or(Total::Null(Type::Text)))
}

fn numeric(of: Type, what: impl std::fmt::Debug) -> Result<(), LowerError> {
    if matches!(of, Type::Int | Type::Float) { Ok(()) } else { Err(types(what)) }
}

fn types(what: impl std::fmt::Debug) -> LowerError {
    LowerError::Types(format!("`{what:?}`"))
}
