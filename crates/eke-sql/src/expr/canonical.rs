//! One form for expressions that are trivially the same, so that the same question has the same
//! plan.
//!
//! The canonical form has the value of the original for every row. It does what is listed at
//! [`canonical`] and no more: algebra that doubles or overflow would make false (`a + b + c` in
//! another order) is left alone. A change here changes digests, and so needs a new version of the
//! plan.

use crate::expr::civil::{date_to_text, timestamp_to_text};
use crate::expr::evaluate::evaluate;
use crate::{Binary, Expr, Function, Unary, Value};

/// The canonical form of an expression:
///
/// - what has no leaves is computed, unless it cannot be written down or needs a logarithm, `exp`
///   or a power (whose last bit is the library's), and what has a NULL that makes it NULL is NULL;
/// - NOT is pushed down to what it can be merged with, and double ones go;
/// - runs of AND and OR are flat, sorted and without repetition, then balanced;
/// - operands of `=`, `<>`, `+` and `*` are sorted, constants last, and so are those of `<` and its
///   kin, with the operator turned round;
/// - lists of constants are sorted and distinct, and one of a single constant is `=`;
/// - LEAST, GREATEST and COALESCE have no NULL and no repetition, CASE no branch that is never or
///   always taken.
#[must_use]
pub fn canonical(expr: Expr) -> Expr {
    let expr = match expr {
        // Runs first as a whole: their operands one by one would sort each part of a long run
        // again.
        Expr::Binary(operator @ (Binary::And | Binary::Or), ..) => {
            let terms: Vec<Expr> =
                expr.terms(operator).into_iter().cloned().map(canonical).collect();
            return run(operator, terms);
        }
        expr => expr.map_children(canonical),
    };
    let expr = simplified(expr);
    folded(expr)
}

/// A run of AND or OR from operands that are canonical.
pub(crate) fn run(operator: Binary, operands: Vec<Expr>) -> Expr {
    let (neutral, absorbing) = (operator == Binary::And, operator == Binary::Or);
    let mut terms: Vec<(String, Expr)> = Vec::new();
    for operand in operands {
        for term in operand.terms(operator) {
            match term {
                Expr::Literal(Value::Bool(truth)) if *truth == neutral => {}
                Expr::Literal(Value::Bool(_)) => return Expr::Literal(Value::Bool(absorbing)),
                term => terms.push((sort_key(term), term.clone())),
            }
        }
    }
    terms.sort_by(|a, b| a.0.cmp(&b.0));
    terms.dedup_by(|a, b| a.0 == b.0);
    balanced(operator, terms.into_iter().map(|(_, term)| term).collect())
        .unwrap_or(Expr::Literal(Value::Bool(neutral)))
}

/// A run as a tree that is as flat as can be.
pub(crate) fn balanced(operator: Binary, mut terms: Vec<Expr>) -> Option<Expr> {
    match terms.len() {
        0 => None,
        1 => terms.pop(),
        many => {
            let right = terms.split_off(many.div_ceil(2));
            let (left, right) = (balanced(operator, terms)?, balanced(operator, right)?);
            Some(Expr::Binary(operator, Box::new(left), Box::new(right)))
        }
    }
}

/// What expressions are sorted by: constants last, otherwise by their form.
pub(crate) fn sort_key(expr: &Expr) -> String {
    let json = serde_json::to_string(expr).unwrap_or_default();
    format!("{}{json}", u8::from(matches!(expr, Expr::Literal(_))))
}

/// Computed (constant folding), if it has no leaves and the result can be written down.
fn folded(expr: Expr) -> Expr {
    let leaf = |expr: &Expr| {
        matches!(
            expr,
            Expr::Column(_)
                | Expr::Key(_)
                | Expr::Measure(_)
                | Expr::Call(Function::Ln | Function::Log10 | Function::Exp | Function::Power, _)
        )
    };
    if matches!(expr, Expr::Literal(_)) || expr.any(&leaf) {
        return expr;
    }
    match evaluate(&expr, &|_| Value::Null) {
        Value::Float(float) if !float.is_finite() => expr,
        Value::Date(days) if date_to_text(days.into()).is_none() => expr,
        Value::Timestamp(micros) if timestamp_to_text(micros).is_none() => expr,
        value => Expr::Literal(value),
    }
}

/// One step, for an expression whose operands are canonical.
fn simplified(expr: Expr) -> Expr {
    match expr {
        Expr::Unary(Unary::Negate, one)
        | Expr::Cast(one, _)
        | Expr::In(one, _)
        | Expr::Like { text: one, .. }
        | Expr::Regex { text: one, .. }
        | Expr::Shift { moment: one, .. }
            if is_null(&one) =>
        {
            *one
        }
        Expr::Unary(Unary::Not, one) => negated(*one),
        Expr::Binary(operator, left, right) => binary(operator, *left, *right),
        Expr::Case { branches, otherwise } => case(branches, otherwise.map(|one| *one)),
        Expr::In(one, mut values) => {
            values.sort();
            values.dedup();
            match values.as_slice() {
                [value] => binary(Binary::Equal, *one, Expr::Literal(value.clone())),
                _ => Expr::In(one, values),
            }
        }
        Expr::Shift { moment, months: 0, micros: 0 } => *moment,
        Expr::Call(function, arguments) => call(function, arguments),
        other => other,
    }
}

fn is_null(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal(Value::Null))
}

fn negated(expr: Expr) -> Expr {
    match expr {
        Expr::Unary(Unary::Not, one) => *one,
        Expr::Binary(operator @ (Binary::And | Binary::Or), ..) => {
            let turned = if operator == Binary::And { Binary::Or } else { Binary::And };
            let terms = expr.terms(operator).into_iter().cloned().map(negated).collect();
            run(turned, terms)
        }
        Expr::Binary(operator, left, right) => match opposite(operator) {
            Some(opposite) => Expr::Binary(opposite, left, right),
            None => Expr::Unary(Unary::Not, Box::new(Expr::Binary(operator, left, right))),
        },
        Expr::Literal(Value::Bool(truth)) => Expr::Literal(Value::Bool(!truth)),
        Expr::Literal(Value::Null) => Expr::Literal(Value::Null),
        other => Expr::Unary(Unary::Not, Box::new(other)),
    }
}

/// What holds exactly where a comparison of two values does not.
fn opposite(operator: Binary) -> Option<Binary> {
    Some(match operator {
        Binary::Equal => Binary::NotEqual,
        Binary::NotEqual => Binary::Equal,
        Binary::Less => Binary::GreaterOrEqual,
        Binary::LessOrEqual => Binary::Greater,
        Binary::Greater => Binary::LessOrEqual,
        Binary::GreaterOrEqual => Binary::Less,
        _ => return None,
    })
}

/// The operator that says the same with its operands the other way round.
fn turned(operator: Binary) -> Option<Binary> {
    Some(match operator {
        Binary::Equal | Binary::NotEqual | Binary::Add | Binary::Multiply => operator,
        Binary::Less => Binary::Greater,
        Binary::LessOrEqual => Binary::GreaterOrEqual,
        Binary::Greater => Binary::Less,
        Binary::GreaterOrEqual => Binary::LessOrEqual,
        _ => return None,
    })
}

/// Any operator but AND and OR.
fn binary(operator: Binary, left: Expr, right: Expr) -> Expr {
    if is_null(&left) || is_null(&right) {
        return Expr::Literal(Value::Null);
    }
    match turned(operator) {
        Some(turned) if sort_key(&left) > sort_key(&right) => {
            Expr::Binary(turned, Box::new(right), Box::new(left))
        }
        _ => Expr::Binary(operator, Box::new(left), Box::new(right)),
    }
}

fn case(branches: Vec<(Expr, Expr)>, mut otherwise: Option<Expr>) -> Expr {
    let mut kept = Vec::new();
    for (condition, result) in branches {
        match condition {
            Expr::Literal(Value::Bool(true)) => {
                otherwise = Some(result);
                break;
            }
            Expr::Literal(_) => {}
            condition => kept.push((condition, result)),
        }
    }
    let otherwise = otherwise.filter(|one| !is_null(one));
    let nothing = kept.iter().all(|(_, result)| is_null(result));
    match otherwise {
        None if nothing => Expr::Literal(Value::Null),
        Some(otherwise) if kept.is_empty() => otherwise,
        otherwise => Expr::Case { branches: kept, otherwise: otherwise.map(Box::new) },
    }
}

fn call(function: Function, mut arguments: Vec<Expr>) -> Expr {
    match function {
        Function::Coalesce | Function::Least | Function::Greatest => {
            arguments.retain(|one| !is_null(one));
            if function == Function::Coalesce {
                let constant = arguments.iter().position(|one| matches!(one, Expr::Literal(_)));
                arguments.truncate(constant.map_or(usize::MAX, |place| place + 1));
            } else {
                arguments.sort_by_cached_key(sort_key);
            }
            arguments.dedup();
            match arguments.len() {
                0 => Expr::Literal(Value::Null),
                1 => arguments.swap_remove(0),
                _ => Expr::Call(function, arguments),
            }
        }
        Function::NullIf => match arguments.as_slice() {
            [one, Expr::Literal(Value::Null)] | [one @ Expr::Literal(Value::Null), _] => {
                one.clone()
            }
            _ => Expr::Call(function, arguments),
        },
        // The others leave NULLs out; without its first there is nothing to put between them.
        Function::ConcatWith => match arguments.first() {
            Some(Expr::Literal(Value::Null)) => Expr::Literal(Value::Null),
            _ => {
                arguments.retain(|one| !is_null(one));
                if arguments.len() == 1 {
                    // It takes two at least.
                    arguments.push(Expr::Literal(Value::Null));
                }
                Expr::Call(function, arguments)
            }
        },
        // All others are NULL if an argument is.
        _ if arguments.iter().any(is_null) => Expr::Literal(Value::Null),
        _ => Expr::Call(function, arguments),
    }
}
