//! Parameters: `$1`, `$2`, … in WHERE, and the texts that are given for them.
//!
//! A text is taken as what it meets: as a number beside a number, as a day beside a day. Where
//! nothing says what it is, it is an int, a double or a text, whichever it looks like first. It
//! never becomes part of the question's text, so there is nothing to escape.

use std::cell::RefCell;
use std::collections::BTreeSet;

use sqlparser::ast;

use super::{Binder, Bound};
use crate::error::{NameError, SyntaxError, TypeError, Unsupported, line, short};
use crate::expr::text;
use crate::frontend::clauses::bare;
use crate::{Expr, SqlError, Type, Value};

/// What is given for the parameters of a question.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Given<'a> {
    /// Nothing: there may be none.
    Nothing,
    /// A text for each.
    Texts(&'a [String]),
    /// They stay open, as columns that no table has; the texts are one example, for types that
    /// nothing else says.
    Open(&'a [String]),
}

/// The parameters of a question, and which of them were used.
#[derive(Debug)]
pub(crate) struct Parameters<'a> {
    given: Given<'a>,
    used: RefCell<BTreeSet<usize>>,
}

impl<'a> Parameters<'a> {
    pub(crate) fn new(given: Given<'a>) -> Self {
        Self { given, used: RefCell::default() }
    }

    /// Whether the question may have some.
    pub(crate) fn may_be(&self) -> bool {
        !matches!(self.given, Given::Nothing)
    }

    /// Whether each that is given was used.
    pub(crate) fn check(&self) -> Result<(), SqlError> {
        let (Given::Texts(texts) | Given::Open(texts)) = self.given else { return Ok(()) };
        let used = self.used.borrow();
        match (1..=texts.len()).find(|number| !used.contains(number)) {
            None => Ok(()),
            Some(number) => Err(NameError::Unused { number, given: texts.len() }.into()),
        }
    }

    /// What a parameter stands for, beside something of a type.
    fn bound(
        &self,
        name: &str,
        beside: Option<Type>,
        clause: &'static str,
    ) -> Result<Bound, SqlError> {
        let (texts, open) = match self.given {
            Given::Nothing => return Err(Unsupported::Parameter { name: short(&name) }.into()),
            Given::Texts(texts) => (texts, false),
            Given::Open(texts) => (texts, true),
        };
        if clause != "WHERE" {
            return Err(Unsupported::ParameterIn { name: short(&name), clause }.into());
        }
        let number = name.strip_prefix('$').and_then(|digits| digits.parse::<usize>().ok());
        let Some(number) = number.filter(|number| *number > 0) else {
            return Err(SyntaxError::NotAParameter { name: short(&name) }.into());
        };
        let Some(text) = texts.get(number - 1) else {
            return Err(NameError::NoValue { number, given: texts.len() }.into());
        };
        self.used.borrow_mut().insert(number);
        let value = value(number, text, beside)?;
        let kind = value.kind();
        if open {
            // No column of a file has such a name.
            let column = Expr::Column(format!("\0${number}"));
            return Ok(Bound { expr: column, kind: beside.or(kind) });
        }
        Ok(Bound { expr: Expr::Literal(value), kind })
    }
}

/// A text as what it meets. Texts beside days and moments stay texts: what they meet reads them.
fn value(number: usize, text: &str, beside: Option<Type>) -> Result<Value, SqlError> {
    let as_text = super::constant::written(text)?;
    let numeric =
        || text::int(text).map(Value::Int).or_else(|| text::float(text).map(Value::float));
    let Some(kind) = beside else { return Ok(numeric().unwrap_or(as_text)) };
    let found = match kind {
        Type::Int | Type::Float => numeric(),
        Type::Bool => text::truth(text).map(Value::Bool),
        Type::Text | Type::Date | Type::Timestamp => Some(as_text),
    };
    found.ok_or_else(|| TypeError::Parameter { number, text: line(text, 40), kind }.into())
}

/// The name of a parameter, if an expression is nothing else.
fn name(expr: &ast::Expr) -> Option<&str> {
    let ast::Expr::Value(value) = bare(expr) else { return None };
    match &value.value {
        ast::Value::Placeholder(name) => Some(name),
        _ => None,
    }
}

impl Binder<'_> {
    /// A typed expression that meets something of a type: a parameter is taken as that.
    pub(super) fn beside(&self, expr: &ast::Expr, kind: Option<Type>) -> Result<Bound, SqlError> {
        match name(expr) {
            Some(name) => {
                self.usage.node()?;
                self.parameters.bound(name, kind, self.clause)
            }
            None => self.bind(expr),
        }
    }

    /// Two that meet: a parameter on either side is taken as what the other is.
    pub(super) fn meeting(
        &self,
        left: &ast::Expr,
        right: &ast::Expr,
    ) -> Result<(Bound, Bound), SqlError> {
        let left = self.first(left, right)?;
        let right = self.beside(right, left.kind)?;
        Ok((left, right))
    }

    /// The first of two that meet.
    pub(super) fn first(&self, left: &ast::Expr, right: &ast::Expr) -> Result<Bound, SqlError> {
        match name(left) {
            Some(_) if name(right).is_none() => self.beside(left, self.bind(right)?.kind),
            _ => self.bind(left),
        }
    }
}
