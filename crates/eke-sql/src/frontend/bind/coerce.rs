//! Types: what goes together, and the casts that make it so.

use sqlparser::ast::{DataType, ExactNumberInfo, TimezoneInfo};

use crate::error::{TypeError, short};
use crate::expr::canonical::canonical;
use crate::expr::evaluate::evaluate;
use crate::frontend::limits;
use crate::{Expr, SqlError, Type, Value};

/// An expression and its type; none for NULL that could be of any.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bound {
    pub(crate) expr: Expr,
    pub(crate) kind: Option<Type>,
}

impl Bound {
    pub(crate) fn new(expr: Expr, kind: Type) -> Self {
        Self { expr, kind: Some(kind) }
    }

    pub(crate) fn bool(expr: Expr) -> Self {
        Self::new(expr, Type::Bool)
    }

    /// As a condition.
    pub(crate) fn truth(self, written: &str) -> Result<Expr, SqlError> {
        match self.kind {
            None | Some(Type::Bool) => Ok(self.expr),
            Some(kind) => Err(TypeError::Condition { written: written.to_owned(), kind }.into()),
        }
    }

    /// Its value, if it has no columns in it and can be written down.
    pub(crate) fn constant(&self) -> Option<Value> {
        match canonical(self.expr.clone()) {
            Expr::Literal(value) => Some(value),
            _ => None,
        }
    }

    /// As a type that its own goes over into without being asked: int into float, date into
    /// timestamp, and text that is written out into date and timestamp.
    pub(crate) fn coerced(self, to: Type, written: &str) -> Result<Self, SqlError> {
        let Some(kind) = self.kind else { return Ok(self) };
        match (kind, to) {
            _ if kind == to => Ok(self),
            (Type::Int, Type::Float) | (Type::Date, Type::Timestamp) => {
                Ok(Self::new(Expr::Cast(Box::new(self.expr), to), to))
            }
            (Type::Text, Type::Date | Type::Timestamp) if self.is_literal() => {
                read(&self.expr, to).map(|value| Self::new(Expr::Literal(value), to))
            }
            _ => Err(TypeError::Uncast { written: written.to_owned(), kind, to }.into()),
        }
    }

    /// The same in its canonical form, within limits.
    pub(crate) fn canonical(self) -> Result<Self, SqlError> {
        Ok(Self { expr: limits::checked(canonical(self.expr))?, ..self })
    }

    fn is_literal(&self) -> bool {
        matches!(self.expr, Expr::Literal(_))
    }
}

/// The type that all can be taken as: texts that are written out follow the others.
pub(crate) fn common(all: &[(&Bound, String)]) -> Result<Option<Type>, SqlError> {
    let mut common: Option<(Type, &str)> = None;
    let firm = |bound: &Bound| !(bound.is_literal() && bound.kind == Some(Type::Text));
    let order = all.iter().filter(|(b, _)| firm(b)).chain(all.iter().filter(|(b, _)| !firm(b)));
    for (bound, written) in order {
        let Some(kind) = bound.kind else { continue };
        let Some((so_far, first)) = common else {
            common = Some((kind, written));
            continue;
        };
        let both = match (so_far, kind) {
            (a, b) if a == b => a,
            (Type::Int, Type::Float) | (Type::Float, Type::Int) => Type::Float,
            (Type::Date, Type::Timestamp) | (Type::Timestamp, Type::Date) => Type::Timestamp,
            (Type::Date, Type::Text) if !firm(bound) => {
                // A date compared with a moment that is written out is a moment too.
                let moment = read(&bound.expr, Type::Date).is_err()
                    && read(&bound.expr, Type::Timestamp).is_ok();
                if moment { Type::Timestamp } else { Type::Date }
            }
            (Type::Timestamp, Type::Text) if !firm(bound) => Type::Timestamp,
            (Type::Int | Type::Float, Type::Text) if !firm(bound) => {
                let (first, written) = (first.to_owned(), written.clone());
                return Err(TypeError::Quoted { first, kind: so_far, written }.into());
            }
            _ => {
                let (first, second) = (first.to_owned(), written.clone());
                return Err(TypeError::Apart { first, kind: so_far, second, other: kind }.into());
            }
        };
        common = Some((both, first));
    }
    Ok(common.map(|(kind, _)| kind))
}

/// All as the one type that they can be taken as.
pub(crate) fn together(all: Vec<(Bound, String)>) -> Result<(Vec<Expr>, Option<Type>), SqlError> {
    let seen: Vec<(&Bound, String)> = all.iter().map(|(b, text)| (b, text.clone())).collect();
    let kind = common(&seen)?;
    let exprs = all
        .into_iter()
        .map(|(bound, written)| match kind {
            Some(kind) => bound.coerced(kind, &written).map(|bound| bound.expr),
            None => Ok(bound.expr),
        })
        .collect::<Result<_, _>>()?;
    Ok((exprs, kind))
}

/// A text that is written out, as a date or a timestamp.
fn read(literal: &Expr, to: Type) -> Result<Value, SqlError> {
    match evaluate(&Expr::Cast(Box::new(literal.clone()), to), &|_| Value::Null) {
        Value::Null => Err(TypeError::NoDate { written: short(literal), to }.into()),
        value => Ok(value),
    }
}

/// A cast that was asked for.
pub(crate) fn cast_to(bound: Bound, to: Type, written: &str) -> Result<Bound, SqlError> {
    let Some(kind) = bound.kind else { return Ok(Bound { kind: Some(to), ..bound }) };
    let allowed = match (kind, to) {
        _ if kind == to => return Ok(bound),
        (_, Type::Text) | (Type::Text, _) => true,
        (Type::Int, Type::Float)
        | (Type::Float | Type::Bool, Type::Int)
        | (Type::Date, Type::Timestamp)
        | (Type::Timestamp, Type::Date) => true,
        _ => false,
    };
    if allowed {
        return Ok(Bound::new(Expr::Cast(Box::new(bound.expr), to), to));
    }
    Err(TypeError::NoCast { written: written.to_owned(), kind, to }.into())
}

/// The type that SQL names.
pub(crate) fn data_type(data_type: &DataType) -> Result<Type, SqlError> {
    use DataType as D;
    Ok(match data_type {
        D::Bool | D::Boolean => Type::Bool,
        D::SmallInt(None)
        | D::Int(None)
        | D::Integer(None)
        | D::BigInt(None)
        | D::Int2(None)
        | D::Int4(None)
        | D::Int8(None)
        | D::Int64 => Type::Int,
        D::Real
        | D::Float4
        | D::Float8
        | D::Float64
        | D::DoublePrecision
        | D::Float(ExactNumberInfo::None)
        | D::Double(ExactNumberInfo::None)
        | D::Numeric(ExactNumberInfo::None)
        | D::Decimal(ExactNumberInfo::None) => Type::Float,
        D::Text | D::String(None) | D::Varchar(None) | D::CharacterVarying(None) => Type::Text,
        D::Date => Type::Date,
        D::Datetime(None)
        | D::Timestamp(None, TimezoneInfo::None | TimezoneInfo::WithoutTimeZone) => Type::Timestamp,
        other => return Err(TypeError::NoType { written: short(other) }.into()),
    })
}
