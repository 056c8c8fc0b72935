//! Constants as they are written.

use sqlparser::ast;

use super::{Bound, cast_to, data_type, null};
use crate::error::{TypeError, Unsupported, short};
use crate::expr::evaluate::evaluate;
use crate::expr::text;
use crate::frontend::clauses::none;
use crate::frontend::limits;
use crate::{Expr, MAX_TEXT, SqlError, Type, Value};

/// A constant.
pub(super) fn literal(value: &ast::Value) -> Result<Bound, SqlError> {
    use ast::Value as V;
    let bound = |value: Value| Bound { kind: value.kind(), expr: Expr::Literal(value) };
    match value {
        V::Number(digits, false) => number(digits, false),
        V::SingleQuotedString(text) | V::EscapedStringLiteral(text) => written(text).map(bound),
        V::DollarQuotedString(quoted) => written(&quoted.value).map(bound),
        V::Boolean(truth) => Ok(bound(Value::Bool(*truth))),
        V::Null => Ok(null()),
        other => Err(Unsupported::Constant { written: short(other) }.into()),
    }
}

/// A text that is written out: as long as texts are, or refused rather than cut.
pub(super) fn written(text: &str) -> Result<Value, SqlError> {
    if text.len() > MAX_TEXT {
        return Err(limits::too_long(text));
    }
    Ok(Value::Text(text.to_owned()))
}

/// A number: an int if it is whole and has 64 bits, otherwise a double.
pub(super) fn number(digits: &str, negative: bool) -> Result<Bound, SqlError> {
    let digits = digits.replace('_', "");
    let written = if negative { format!("-{digits}") } else { digits };
    if let Some(int) = text::int(&written) {
        return Ok(Bound::new(Expr::Literal(Value::Int(int)), Type::Int));
    }
    match text::float(&written) {
        Some(float) => Ok(Bound::new(Expr::Literal(Value::float(float)), Type::Float)),
        None => Err(TypeError::NoDouble { written: short(&written) }.into()),
    }
}

/// A constant with its type before it.
pub(super) fn typed(typed: &ast::TypedString) -> Result<Bound, SqlError> {
    let ast::TypedString { data_type: kind, value, uses_odbc_syntax: false } = typed else {
        return Err(none("Braces around constants", "write DATE '…' or TIMESTAMP '…'"));
    };
    let to = data_type(kind)?;
    let bound = cast_to(literal(&value.value)?, to, &short(value))?;
    match evaluate(&bound.expr, &|_| Value::Null) {
        Value::Null => Err(TypeError::Constant { written: short(value), to }.into()),
        value => Ok(Bound::new(Expr::Literal(value), to)),
    }
}

/// A number of rows, for LIMIT and OFFSET.
pub(crate) fn count(clause: &'static str, expr: &ast::Expr) -> Result<u64, SqlError> {
    if let ast::Expr::Value(value) = expr
        && let ast::Value::Number(digits, false) = &value.value
        && let Some(Ok(count)) = text::int(digits).map(u64::try_from)
    {
        return Ok(count);
    }
    Err(Unsupported::RowCount { clause, written: short(expr) }.into())
}
