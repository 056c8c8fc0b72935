//! Operators, and the forms that are written with them.

use sqlparser::ast::{self, BinaryOperator, UnaryOperator};

use super::coerce::together;
use super::{Binder, Bound, moment};
use crate::error::{LimitError, TypeError, Unsupported, short};
use crate::expr::canonical::balanced;
use crate::expr::regex::{Regex, RegexError};
use crate::expr::text;
use crate::frontend::limits;
use crate::{Binary, Expr, SqlError, Syntax, Type, Unary, Value};

pub(super) fn not(expr: Expr) -> Expr {
    Expr::Unary(Unary::Not, Box::new(expr))
}

fn pair(operator: Binary, left: Expr, right: Expr) -> Expr {
    Expr::Binary(operator, Box::new(left), Box::new(right))
}

impl Binder<'_> {
    /// A run of operators. It leans to the left, and may be long: it is taken apart without
    /// recursion.
    pub(super) fn binary(&self, expr: &ast::Expr) -> Result<Bound, SqlError> {
        if let Some((difference, operator, seconds)) = moment::lasting(expr)? {
            let apart = (self.epoch(difference)?, short(difference));
            return apply(&operator, apart, (seconds, short(expr)));
        }
        let mut steps = Vec::new();
        let mut first = expr;
        while let ast::Expr::BinaryOp { left, op, right } = first {
            if moment::lasting(first)?.is_some() {
                break;
            }
            steps.push((op, &**right));
            first = left;
        }
        steps.reverse();
        let mut written = short(first);
        // An interval may come first: then the moment that it is added to is what follows.
        if let (Some(interval), Some((BinaryOperator::Plus, second))) =
            (moment::interval(first)?, steps.first())
        {
            let sum = moment::shifted(
                (self.bind(second)?, short(*second)),
                interval,
                &BinaryOperator::Plus,
            )?;
            return match steps.len() {
                1 => Ok(sum),
                _ => Err(Unsupported::form(expr, "write what the interval is added to before it")),
            };
        }
        let mut bound = match steps.first() {
            Some((BinaryOperator::And | BinaryOperator::Or, _)) | None => self.bind(first)?,
            Some((_, right)) => self.first(first, right)?,
        };
        let mut steps = steps.into_iter().peekable();
        while let Some((operator, right)) = steps.next() {
            if let BinaryOperator::And | BinaryOperator::Or = operator {
                let (own, word) = if *operator == BinaryOperator::And {
                    (Binary::And, "AND")
                } else {
                    (Binary::Or, "OR")
                };
                let mut terms = vec![bound.truth(&written)?, self.condition(right)?];
                while let Some((_, right)) = steps.next_if(|(next, _)| *next == operator) {
                    terms.push(self.condition(right)?);
                }
                bound = Bound::bool(balanced(own, terms).unwrap_or(Expr::Literal(Value::Null)));
                written = format!("… {word} …");
            } else if let Some(interval) = moment::interval(right)? {
                bound = moment::shifted((bound, written), interval, operator)?;
                written = format!("… {operator} …");
            } else {
                let other = self.beside(right, bound.kind)?;
                bound = apply(operator, (bound, written), (other, short(right)))?;
                written = format!("… {operator} …");
            }
            bound.expr = limits::checked(bound.expr)?;
        }
        Ok(bound)
    }

    pub(super) fn unary(
        &self,
        operator: UnaryOperator,
        one: &ast::Expr,
    ) -> Result<Bound, SqlError> {
        match operator {
            UnaryOperator::Not => Ok(Bound::bool(not(self.condition(one)?))),
            UnaryOperator::Minus => {
                if let ast::Expr::Value(value) = one
                    && let ast::Value::Number(digits, false) = &value.value
                {
                    return super::constant::number(digits, true);
                }
                let one = self.number(one, "-")?;
                Ok(Bound { expr: Expr::Unary(Unary::Negate, Box::new(one.expr)), kind: one.kind })
            }
            UnaryOperator::Plus => self.number(one, "+"),
            other => Err(Unsupported::Operator {
                operator: short(&other),
                instead: "write NOT, - or a function",
            }
            .into()),
        }
    }

    /// A number.
    pub(super) fn number(&self, one: &ast::Expr, operator: &str) -> Result<Bound, SqlError> {
        let bound = self.bind(one)?;
        match bound.kind {
            None | Some(Type::Int | Type::Float) => Ok(bound),
            kind => Err(TypeError::needs(one, kind, operator, "a number")),
        }
    }

    pub(super) fn distinct(
        &self,
        left: &ast::Expr,
        right: &ast::Expr,
        negated: bool,
    ) -> Result<Bound, SqlError> {
        // The parser takes all that follows as the right side, also what SQL has bind less tightly.
        if looser_than_is(right) {
            return Err(Unsupported::UnclearDistinct.into());
        }
        let (one, other) = self.meeting(left, right)?;
        let both = vec![(one, short(left)), (other, short(right))];
        let (mut both, _) = together(both)?;
        let (Some(right), Some(left)) = (both.pop(), both.pop()) else {
            return Err(limits::too_large());
        };
        let null = |expr: &Expr| Expr::Unary(Unary::IsNull, Box::new(expr.clone()));
        let neither = pair(Binary::And, null(&left), null(&right));
        let equal = pair(Binary::Equal, left, right);
        // NULL where one is NULL: not true, so they differ unless both are.
        let same = pair(Binary::Or, Expr::Unary(Unary::IsTrue, Box::new(equal)), neither);
        Ok(Bound::bool(if negated { same } else { not(same) }))
    }

    pub(super) fn between(
        &self,
        one: &ast::Expr,
        negated: bool,
        low: &ast::Expr,
        high: &ast::Expr,
    ) -> Result<Bound, SqlError> {
        let lasts = match moment::is_difference(one)? {
            true => moment::interval(low)?.zip(moment::interval(high)?),
            false => None,
        };
        let (value, low, high) = if let Some((least, most)) = lasts {
            let value = (self.epoch(one)?, short(one));
            (value, (least.seconds(), short(low)), (most.seconds(), short(high)))
        } else {
            let value = (self.first(one, low)?, short(one));
            let end =
                |end: &ast::Expr| Ok::<_, SqlError>((self.beside(end, value.0.kind)?, short(end)));
            let (low, high) = (end(low)?, end(high)?);
            (value, low, high)
        };
        let low = apply(&BinaryOperator::GtEq, value.clone(), low)?;
        let high = apply(&BinaryOperator::LtEq, value, high)?;
        let both = pair(Binary::And, low.expr, high.expr);
        Ok(Bound::bool(if negated { not(both) } else { both }))
    }

    pub(super) fn among(
        &self,
        one: &ast::Expr,
        list: &[ast::Expr],
        negated: bool,
    ) -> Result<Bound, SqlError> {
        let needle = match list.first() {
            Some(item) => self.first(one, item)?,
            None => self.bind(one)?,
        };
        let kind = needle.kind;
        let mut all = vec![(needle, short(one))];
        for item in list {
            all.push((self.beside(item, kind)?, short(item)));
        }
        let (mut exprs, kind) = together(all)?;
        let items = exprs.split_off(1);
        let Some(needle) = exprs.pop() else { return Err(limits::too_large()) };
        let constants: Option<Vec<Value>> =
            items.iter().map(|item| Bound { expr: item.clone(), kind }.constant()).collect();
        let is = if let Some(values) = constants {
            Expr::In(Box::new(needle), values)
        } else {
            if (needle.size() + 1).saturating_mul(items.len()) > limits::NODES {
                return Err(limits::too_large());
            }
            let equal = |item| pair(Binary::Equal, needle.clone(), item);
            balanced(Binary::Or, items.into_iter().map(equal).collect())
                .unwrap_or(Expr::Literal(Value::Bool(false)))
        };
        Ok(Bound::bool(if negated { not(is) } else { is }))
    }

    pub(super) fn like(
        &self,
        one: &ast::Expr,
        pattern: &ast::Expr,
        ignore_case: bool,
        negated: bool,
    ) -> Result<Bound, SqlError> {
        let text = self.text(one, "LIKE")?;
        let is = match self.bind(pattern)?.constant() {
            Some(Value::Text(pattern)) if pattern.chars().count() > limits::PATTERN => {
                return Err(LimitError::Pattern { most: limits::PATTERN }.into());
            }
            Some(Value::Text(pattern)) if text::ends_with_escape(&pattern) => {
                return Err(TypeError::Escape.into());
            }
            Some(Value::Text(pattern)) => Expr::Like { text: Box::new(text), pattern, ignore_case },
            Some(Value::Null) => Expr::Literal(Value::Null),
            _ => return Err(Unsupported::Pattern { written: short(pattern) }.into()),
        };
        Ok(Bound::bool(if negated { not(is) } else { is }))
    }

    /// SIMILAR TO and its kin.
    pub(super) fn regex(
        &self,
        one: &ast::Expr,
        pattern: &ast::Expr,
        syntax: Syntax,
        negated: bool,
    ) -> Result<Bound, SqlError> {
        let text = (self.bind(one)?, short(one));
        regex(text, &self.bind(pattern)?, &short(pattern), syntax, negated)
    }

    /// REGEXP_LIKE: the flag `i` takes case away.
    pub(super) fn regexp_like(
        &self,
        name: &str,
        arguments: &[&ast::Expr],
    ) -> Result<Bound, SqlError> {
        let (one, pattern, flags) = match arguments {
            [one, pattern] => (one, pattern, None),
            [one, pattern, flags] => (one, pattern, Some(*flags)),
            _ => {
                let function = name.to_uppercase();
                let (given, instead) = (arguments.len(), format!("{function}(x, 'expression')"));
                return Err(TypeError::Arguments { function, given, instead }.into());
            }
        };
        let syntax = match flags {
            None => Syntax::Posix,
            Some(flags) => match self.bind(flags)?.constant() {
                Some(Value::Text(text)) if text.is_empty() || text == "c" => Syntax::Posix,
                Some(Value::Text(text)) if text == "i" => Syntax::PosixIgnoreCase,
                _ => return Err(Unsupported::form(flags, "there are the flags 'i' and 'c'")),
            },
        };
        self.regex(one, pattern, syntax, false)
    }

    /// MOD.
    pub(super) fn modulo(&self, one: &ast::Expr, by: &ast::Expr) -> Result<Bound, SqlError> {
        let (left, right) = (self.number(one, "MOD")?, self.number(by, "MOD")?);
        apply(&BinaryOperator::Modulo, (left, short(one)), (right, short(by)))
    }

    /// BETWEEN SYMMETRIC: between two ends, whichever is the lower.
    pub(super) fn symmetric(
        &self,
        one: &ast::Expr,
        low: &ast::Expr,
        high: &ast::Expr,
    ) -> Result<Bound, SqlError> {
        let one_way = self.between(one, false, low, high)?.expr;
        let other_way = self.between(one, false, high, low)?.expr;
        Ok(Bound::bool(pair(Binary::Or, one_way, other_way)))
    }

    pub(super) fn case(
        &self,
        operand: Option<&ast::Expr>,
        conditions: &[ast::CaseWhen],
        otherwise: Option<&ast::Expr>,
    ) -> Result<Bound, SqlError> {
        let operand = match operand {
            Some(operand) => Some((self.bind(operand)?, short(operand))),
            None => None,
        };
        let mut tests = Vec::new();
        let mut results = Vec::new();
        for ast::CaseWhen { condition, result } in conditions {
            let test = match &operand {
                Some(operand) => {
                    let other = (self.beside(condition, operand.0.kind)?, short(condition));
                    apply(&BinaryOperator::Eq, operand.clone(), other)?.expr
                }
                None => self.condition(condition)?,
            };
            tests.push(limits::checked(test)?);
            results.push((self.bind(result)?, short(result)));
        }
        if let Some(otherwise) = otherwise {
            results.push((self.bind(otherwise)?, short(otherwise)));
        }
        let (mut results, kind) = together(results)?;
        let last = results.split_off(tests.len()).pop();
        Ok(Bound {
            expr: Expr::Case {
                branches: tests.into_iter().zip(results).collect(),
                otherwise: last.map(Box::new),
            },
            kind,
        })
    }
}

/// Whether an expression without parentheses around it begins with something that `IS` binds more
/// tightly to.
fn looser_than_is(expr: &ast::Expr) -> bool {
    use ast::Expr as E;
    let condition = matches!(
        expr,
        E::BinaryOp { op: BinaryOperator::And | BinaryOperator::Or | BinaryOperator::Xor, .. }
            | E::UnaryOp { op: UnaryOperator::Not, .. }
    );
    let is = matches!(
        expr,
        E::IsNull(_)
            | E::IsNotNull(_)
            | E::IsTrue(_)
            | E::IsNotTrue(_)
            | E::IsFalse(_)
            | E::IsNotFalse(_)
            | E::IsUnknown(_)
            | E::IsNotUnknown(_)
            | E::IsDistinctFrom(..)
            | E::IsNotDistinctFrom(..)
            | E::IsNormalized { .. }
    );
    condition || is
}

/// That two are equal, with the casts that it needs.
pub(crate) fn equal([left, right]: [(Bound, String); 2]) -> Result<Expr, SqlError> {
    Ok(apply(&BinaryOperator::Eq, left, right)?.expr)
}

/// An operator between two, with the casts that it needs.
fn apply(
    operator: &BinaryOperator,
    left: (Bound, String),
    right: (Bound, String),
) -> Result<Bound, SqlError> {
    use BinaryOperator as B;
    if let Some(days) = moment::days(operator, &left, &right)? {
        return Ok(days);
    }
    let operator = match operator {
        B::PGRegexMatch => return regex(left, &right.0, &right.1, Syntax::Posix, false),
        B::PGRegexNotMatch => return regex(left, &right.0, &right.1, Syntax::Posix, true),
        B::PGRegexIMatch => {
            return regex(left, &right.0, &right.1, Syntax::PosixIgnoreCase, false);
        }
        B::PGRegexNotIMatch => {
            return regex(left, &right.0, &right.1, Syntax::PosixIgnoreCase, true);
        }
        B::Plus => Binary::Add,
        B::Minus => Binary::Subtract,
        B::Multiply => Binary::Multiply,
        B::Divide => Binary::Divide,
        B::Modulo => Binary::Remainder,
        B::Eq => Binary::Equal,
        B::NotEq => Binary::NotEqual,
        B::Lt => Binary::Less,
        B::LtEq => Binary::LessOrEqual,
        B::Gt => Binary::Greater,
        B::GtEq => Binary::GreaterOrEqual,
        B::StringConcat => return concat(left, right),
        other => {
            return Err(Unsupported::Operator {
                operator: short(other),
                instead: "there are + - * / % || = <> < <= > >= ~ ~* AND OR NOT, LIKE, BETWEEN and \
                          IN; POWER(x, y) and MOD(x, y) are functions",
            }
            .into());
        }
    };
    if operator.is_arithmetic() {
        for (bound, written) in [&left, &right] {
            match bound.kind {
                None | Some(Type::Int | Type::Float) => {}
                Some(kind) => {
                    let is_moment = matches!(kind, Type::Date | Type::Timestamp);
                    let instead = is_moment.then(|| {
                        format!(
                            "compare it with a {kind}, add INTERVAL '3 days', or take a part of it \
                             with EXTRACT"
                        )
                    });
                    let (written, taker) = (written.clone(), operator.to_string());
                    let (kind, needs) = (Some(kind), "numbers");
                    return Err(TypeError::Needs { written, kind, taker, needs, instead }.into());
                }
            }
        }
    }
    let (mut both, kind) = together(vec![left, right])?;
    let (Some(right), Some(left)) = (both.pop(), both.pop()) else {
        return Err(limits::too_large());
    };
    let expr = pair(operator, left, right);
    Ok(if operator.is_arithmetic() { Bound { expr, kind } } else { Bound::bool(expr) })
}

/// Whether a text matches a regular expression.
fn regex(
    text: (Bound, String),
    pattern: &Bound,
    written: &str,
    syntax: Syntax,
    negated: bool,
) -> Result<Bound, SqlError> {
    if !matches!(text.0.kind, None | Some(Type::Text)) {
        let instead = Some(format!("write CAST({} AS TEXT)", text.1));
        let (kind, taker, needs) = (text.0.kind, syntax.to_string(), "text");
        return Err(TypeError::Needs { written: text.1, kind, taker, needs, instead }.into());
    }
    let pattern = match pattern.constant() {
        Some(Value::Text(pattern)) => pattern,
        Some(Value::Null) => return Ok(Bound::bool(Expr::Literal(Value::Null))),
        _ => return Err(Unsupported::Pattern { written: written.to_owned() }.into()),
    };
    let long = || LimitError::Pattern { most: limits::PATTERN };
    if pattern.chars().count() > 4 * limits::PATTERN {
        return Err(long().into());
    }
    match Regex::read(&pattern, syntax) {
        Ok(_) => {}
        Err(RegexError::Long) => return Err(long().into()),
        Err(RegexError::Part(part)) => {
            return Err(Unsupported::Regex { written: written.to_owned(), part }.into());
        }
    }
    let is = Expr::Regex { text: Box::new(text.0.expr), pattern, syntax };
    Ok(Bound::bool(if negated { not(is) } else { is }))
}

/// Texts one after the other; what is no text is written out if the other is one.
fn concat(left: (Bound, String), right: (Bound, String)) -> Result<Bound, SqlError> {
    let text = |bound: &Bound| matches!(bound.kind, None | Some(Type::Text));
    if !text(&left.0) && !text(&right.0) {
        return Err(TypeError::NoText { left: left.1, right: right.1 }.into());
    }
    let left = super::cast_to(left.0, Type::Text, &left.1)?;
    let right = super::cast_to(right.0, Type::Text, &right.1)?;
    Ok(Bound::new(pair(Binary::Concat, left.expr, right.expr), Type::Text))
}
