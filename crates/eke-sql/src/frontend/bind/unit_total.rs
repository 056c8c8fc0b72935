//! Aggregates of the rows of one unit, in a subquery that groups by the unit. They are exact, so
//! they need no bounds.

use std::cell::RefCell;

use sqlparser::ast;

use super::{Binder, Bound};
use crate::error::{TypeError, Unsupported, short};
use crate::expr::canonical::canonical;
use crate::frontend::limits;
use crate::frontend::per_unit::UnitTotals;
use crate::{Expr, SqlError, TotalFunction, Type, Value};

impl Binder<'_> {
    /// An aggregate, as a measure of the subquery.
    pub(super) fn unit_total(
        &self,
        totals: &RefCell<UnitTotals>,
        name: &str,
        call: &ast::Function,
        list: &ast::FunctionArgumentList,
        filter: Option<&ast::Expr>,
    ) -> Result<Bound, SqlError> {
        use ast::{FunctionArg as A, FunctionArgExpr as E};
        let upper = name.to_uppercase();
        let distinct = matches!(list.duplicate_treatment, Some(ast::DuplicateTreatment::Distinct));
        let within = Binder {
            aggregates: None,
            totals: None,
            aliases: &[],
            clause: "an aggregate",
            ..*self
        };
        let filter = filter.map(|filter| within.condition(filter)).transpose()?;
        // What a condition leaves out is NULL, and counts nowhere.
        let kept = |expr: Expr| {
            let expr = match &filter {
                Some(filter) => {
                    Expr::Case { branches: vec![(filter.clone(), expr)], otherwise: None }
                }
                None => expr,
            };
            limits::checked(expr).map(canonical)
        };
        let (argument, bound) = match list.args.as_slice() {
            [A::Unnamed(E::Wildcard)] if name == "count" && !distinct => {
                (None, Bound::new(Expr::Literal(Value::Int(1)), Type::Int))
            }
            [A::Unnamed(E::Expr(argument))] => (Some(argument), within.bind(argument)?),
            _ => {
                let or = if name == "count" { ", or COUNT(*)" } else { "" };
                return Err(Unsupported::form(call, format!("{upper} takes one argument{or}")));
            }
        };
        let expr = kept(bound.expr)?;
        let needs = |needs: &'static str| match argument {
            Some(argument) => TypeError::needs(argument, bound.kind, &upper, needs),
            None => TypeError::CountOfNull.into(),
        };
        let number = matches!(bound.kind, Some(Type::Int | Type::Float));
        let function = match name {
            "count" if expr == Expr::Literal(Value::Null) => {
                return Err(TypeError::CountOfNull.into());
            }
            "count" if distinct => TotalFunction::CountDistinct,
            "count" => TotalFunction::Count,
            "sum" | "avg" if distinct => {
                return Err(Unsupported::form(call, "DISTINCT stands only in COUNT"));
            }
            "sum" | "avg" if !number => return Err(needs("a number")),
            "sum" => TotalFunction::Sum,
            "avg" => TotalFunction::Average,
            "bool_and" | "bool_or" | "every" if bound.kind != Some(Type::Bool) => {
                return Err(needs("a condition"));
            }
            "min" | "max" if bound.kind.is_none() => {
                let written = argument.map_or_else(String::new, short);
                return Err(Unsupported::form(&written, "write a column or an expression of one"));
            }
            "min" | "bool_and" | "every" => TotalFunction::Least,
            _ => TotalFunction::Greatest,
        };
        let counts_rows =
            function == TotalFunction::Count && expr.never_null(self.rows.unit_column());
        let (expr, kind) = if counts_rows { (None, None) } else { (Some(expr), bound.kind) };
        let mut totals = totals.borrow_mut();
        let index = totals.index(function, expr, kind.unwrap_or(Type::Int));
        Ok(Bound::new(Expr::Measure(index), totals.result(index)))
    }
}
