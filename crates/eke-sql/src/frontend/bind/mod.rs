//! From syntax to typed expressions: names become columns, types are checked, coercions are written
//! out.
//!
//! Only what is listed here gets through; every other form is refused. Each node counts, and so
//! does what a column of a subquery stands for, so nothing grows beyond the limits while it is put
//! together.

mod call;
mod coerce;
mod constant;
mod moment;
mod operator;
mod parameter;
pub(crate) mod quantile;
mod spread;
mod unit_total;

use std::cell::{Cell, RefCell};

use sqlparser::ast;

pub(crate) use coerce::{Bound, cast_to, data_type, together as one_type};
pub(crate) use constant::count as constant_count;
pub(crate) use moment::series_step;
pub(crate) use operator::equal;
pub(crate) use parameter::{Given, Parameters};

use crate::error::{NameError, Named, Unsupported, short};
use crate::expr::canonical::canonical;
use crate::frontend::clauses::{no, none};
use crate::frontend::limits;
use crate::frontend::names;
use crate::frontend::per_unit::UnitTotals;
use crate::frontend::rows::Relation;
use crate::plan::aggregate::Aggregates;
use crate::{Expr, SqlError, Syntax, Unary, Value};

/// The function that the dialect makes of BETWEEN SYMMETRIC.
pub(crate) const BETWEEN_SYMMETRIC: &str = "between symmetric";

/// What a question has used up of the limits.
#[derive(Debug, Default)]
pub(crate) struct LimitUsage {
    nodes: Cell<usize>,
    inlined: Cell<usize>,
    depth: Cell<usize>,
}

impl LimitUsage {
    fn node(&self) -> Result<(), SqlError> {
        self.nodes.set(self.nodes.get() + 1);
        if self.nodes.get() > limits::NODES { Err(limits::too_large()) } else { Ok(()) }
    }

    fn inlined(&self, size: usize) -> Result<(), SqlError> {
        self.inlined.set(self.inlined.get() + size);
        if self.inlined.get() > limits::INLINED { Err(limits::too_large()) } else { Ok(()) }
    }

    /// One level down, for as long as `within` runs.
    pub(crate) fn deeper<T>(
        &self,
        within: impl FnOnce() -> Result<T, SqlError>,
    ) -> Result<T, SqlError> {
        if self.depth.get() >= limits::NESTING {
            return Err(limits::too_deep());
        }
        self.depth.set(self.depth.get() + 1);
        let result = within();
        self.depth.set(self.depth.get() - 1);
        result
    }
}

/// Where expressions are bound: what names mean there, and whether aggregates may stand there.
pub(crate) struct Binder<'a> {
    /// The rows, and the names they go by.
    pub(crate) rows: &'a Relation<'a>,
    /// Where aggregates are put down; none where there may be none.
    pub(crate) aggregates: Option<&'a RefCell<Aggregates>>,
    /// Where aggregates of one unit's rows are put down, in a subquery that groups by the unit.
    pub(crate) totals: Option<&'a RefCell<UnitTotals>>,
    /// What else a name may mean, if it is no column: aliases of SELECT.
    pub(crate) aliases: &'a [(ast::Ident, Bound)],
    /// The clause, to name it in refusals.
    pub(crate) clause: &'static str,
    /// The limits.
    pub(crate) usage: &'a LimitUsage,
    /// What stands for parameters.
    pub(crate) parameters: &'a Parameters<'a>,
}

impl Binder<'_> {
    /// A typed expression.
    pub(crate) fn bind(&self, expr: &ast::Expr) -> Result<Bound, SqlError> {
        self.usage.node()?;
        let bound = self.usage.deeper(|| self.form(expr))?;
        let expr = limits::checked(bound.expr)?;
        let is_unit = !self.rows.same_unit.is_empty()
            && matches!(expr, Expr::Call(..))
            && self.rows.same_unit.contains(&canonical(expr.clone()));
        let unit = || Expr::Column(self.rows.unit_column().to_owned());
        Ok(Bound { expr: if is_unit { unit() } else { expr }, kind: bound.kind })
    }

    /// A condition.
    pub(crate) fn condition(&self, expr: &ast::Expr) -> Result<Expr, SqlError> {
        self.bind(expr)?.truth(&short(expr))
    }

    fn form(&self, expr: &ast::Expr) -> Result<Bound, SqlError> {
        use ast::Expr as E;
        let is = |operator: Unary, one: Expr, negated: bool| {
            let is = Expr::Unary(operator, Box::new(one));
            Ok(Bound::bool(if negated { operator::not(is) } else { is }))
        };
        match expr {
            E::Nested(one) => self.bind(one),
            E::Identifier(name) => self.column(name),
            E::CompoundIdentifier(parts) => match parts.as_slice() {
                [relation, name] => {
                    self.rows.qualified(relation, name).and_then(|b| self.put_in(&b))
                }
                _ => Err(NameError::TooManyDots {
                    name: short(expr),
                    instead: "the column, or table.column",
                }
                .into()),
            },
            E::Value(value) => match &value.value {
                ast::Value::Placeholder(_) => self.beside(expr, None),
                value => constant::literal(value),
            },
            E::TypedString(typed) => constant::typed(typed),
            E::IsNull(one) | E::IsUnknown(one) => is(Unary::IsNull, self.bind(one)?.expr, false),
            E::IsNotNull(one) | E::IsNotUnknown(one) => {
                is(Unary::IsNull, self.bind(one)?.expr, true)
            }
            E::IsTrue(one) => is(Unary::IsTrue, self.condition(one)?, false),
            E::IsNotTrue(one) => is(Unary::IsTrue, self.condition(one)?, true),
            E::IsFalse(one) => is(Unary::IsFalse, self.condition(one)?, false),
            E::IsNotFalse(one) => is(Unary::IsFalse, self.condition(one)?, true),
            E::IsDistinctFrom(left, right) => self.distinct(left, right, false),
            E::IsNotDistinctFrom(left, right) => self.distinct(left, right, true),
            E::InList { expr, list, negated } => self.among(expr, list, *negated),
            E::Between { expr, negated, low, high } => self.between(expr, *negated, low, high),
            E::BinaryOp { .. } => self.binary(expr),
            E::UnaryOp { op, expr: one } => self.unary(*op, one),
            E::Like { negated, any: false, expr, pattern, escape_char: None } => {
                self.like(expr, pattern, false, *negated)
            }
            E::ILike { negated, any: false, expr, pattern, escape_char: None } => {
                self.like(expr, pattern, true, *negated)
            }
            E::SimilarTo { negated, expr, pattern, escape_char: None } => {
                self.regex(expr, pattern, Syntax::Similar, *negated)
            }
            E::RLike { negated, expr, pattern, regexp: _ } => {
                self.regex(expr, pattern, Syntax::Posix, *negated)
            }
            E::Like { .. } | E::ILike { .. } | E::SimilarTo { .. } => Err(no(
                "LIKE with ANY or ESCAPE",
                "the escape is always \\, and several patterns go with OR",
            )),
            E::Case { operand, conditions, else_result, .. } => {
                self.case(operand.as_deref(), conditions, else_result.as_deref())
            }
            E::Cast { kind: _, expr: one, data_type: to, array: false, format: None } => {
                let to = data_type(to)?;
                cast_to(self.beside(one, Some(to))?, to, &short(&**one))
            }
            E::AtTimeZone { timestamp, time_zone } => self.in_zone(timestamp, time_zone),
            E::Position { expr: sought, r#in: one } => {
                self.typed(crate::Function::Position, "position", &[&**one, &**sought])
            }
            E::Extract { field, expr: one, syntax: _ } => self.part(&field.to_string(), one),
            E::Floor { expr: one, field } => self.rounded(crate::Function::Floor, one, field),
            E::Ceil { expr: one, field } => self.rounded(crate::Function::Ceil, one, field),
            E::Substring { expr: one, substring_from, substring_for, .. } => {
                self.substring(one, substring_from.as_deref(), substring_for.as_deref())
            }
            E::Trim { trim_where, trim_what, expr: one, trim_characters } => {
                let function = match trim_where {
                    None | Some(ast::TrimWhereField::Both) => crate::Function::Trim,
                    Some(ast::TrimWhereField::Leading) => crate::Function::LeftTrim,
                    Some(ast::TrimWhereField::Trailing) => crate::Function::RightTrim,
                };
                let mut arguments: Vec<&ast::Expr> = vec![&**one];
                arguments.extend(trim_what.as_deref());
                arguments.extend(trim_characters.iter().flatten());
                self.typed(function, "trim", &arguments)
            }
            E::Function(function) => self.function(function),
            other => Err(refused(other)),
        }
    }

    /// What a name stands for.
    fn column(&self, name: &ast::Ident) -> Result<Bound, SqlError> {
        if let Some(bound) = self.rows.find(name)? {
            return self.put_in(&bound);
        }
        let alias =
            names::find(Named::Alias, name, self.aliases.iter().map(|(a, _)| a.value.as_str()))?;
        match alias {
            Some(place) => {
                let (_, bound) = &self.aliases[place];
                self.put_in(bound)
            }
            None => Err(self.rows.unknown(name)),
        }
    }

    /// A copy of what a column of a subquery stands for; it counts.
    fn put_in(&self, bound: &Bound) -> Result<Bound, SqlError> {
        self.usage.inlined(bound.expr.size())?;
        Ok(bound.clone())
    }
}

/// A form that is not taken.
fn refused(expr: &ast::Expr) -> SqlError {
    use ast::Expr as E;
    match expr {
        E::Subquery(_) | E::Exists { .. } | E::InSubquery { .. } | E::InUnnest { .. } => {
            no_subquery()
        }
        E::AnyOp { .. } | E::AllOp { .. } => {
            none("ANY and ALL", "write IN (…), or comparisons with AND and OR")
        }
        E::Interval(_) => no(
            "INTERVAL by itself",
            "add it to a date or a timestamp, take it away from one, or compare a - b with it",
        ),
        E::Collate { .. } => no("COLLATE", "text is compared byte by byte"),
        E::GroupingSets(_) | E::Cube(_) | E::Rollup(_) => none(
            "GROUPING SETS, CUBE and ROLLUP inside other questions",
            "ask one GROUP BY at a time",
        ),
        E::Tuple(_) => none("Rows in parentheses", "compare columns one by one"),
        E::Wildcard(_) | E::QualifiedWildcard(..) => Unsupported::Star.into(),
        other => Unsupported::form(
            other,
            "write it with columns, constants, operators, CASE, CAST and the functions of \
             docs/sql.md",
        ),
    }
}

fn no_subquery() -> SqlError {
    none(
        "Subqueries inside expressions",
        "EXISTS (SELECT …) and IN (SELECT …) stand in WHERE, by themselves or with AND; the total \
         of a share is SUM(COUNT(*)) OVER (), and the whole of a part COUNT(*) beside COUNT(*) \
         FILTER (WHERE …); otherwise write constants, or a subquery in FROM",
    )
}

/// NULL without a type.
pub(crate) fn null() -> Bound {
    Bound { expr: Expr::Literal(Value::Null), kind: None }
}
