//! Quantiles: PERCENTILE_CONT and its kin, MEDIAN, MIN and MAX.
//!
//! All of them ask where the values of an expression lie, and are answered from the same counts of
//! what is at most a cut: which share is asked for is no part of what is counted. What the answer
//! is: the least place of a public grid at or below which that share of the rows is, as
//! PERCENTILE_DISC has it. PERCENTILE_CONT, which lies between two neighbours, is answered alike.

use sqlparser::ast;

use super::{Binder, Bound};
use crate::error::{TypeError, Unsupported, short};
use crate::expr::canonical::canonical;
use crate::frontend::clauses::{bare, no};
use crate::frontend::limits;
use crate::plan::aggregate::Aggregate;
use crate::plan::ranks::Rank;
use crate::{Expr, SqlError, Type, Value};

/// How many quantiles one array may ask for.
const MOST: usize = 100;

/// What to write for a quantile.
const WRITE: &str = "write PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x), or MEDIAN(x)";
const WHICH: &str =
    "the share of rows is a number from 0 to 1, such as 0.9 for the 90th percentile";

/// Whether a function of this name asks for quantiles of what it is given.
pub(super) fn is_quantile(name: &str) -> bool {
    takes_share(name) || matches!(name, "min" | "max" | "median" | "approx_median")
}

/// Whether it takes which quantile it is.
fn takes_share(name: &str) -> bool {
    matches!(
        name,
        "percentile_cont"
            | "percentile_disc"
            | "approx_percentile_cont"
            | "approx_percentile"
            | "quantile"
            | "quantile_cont"
            | "quantile_disc"
            | "approx_quantile"
            | "percentile"
    )
}

impl Binder<'_> {
    /// A quantile, the least or the largest of all rows.
    pub(super) fn quantile(
        &self,
        name: &str,
        call: &ast::Function,
        list: &ast::FunctionArgumentList,
    ) -> Result<Bound, SqlError> {
        let upper = name.to_uppercase();
        if self.totals.is_some() {
            let instead = "of the rows of one unit there are COUNT, SUM, AVG, MIN and MAX; ask for \
                           quantiles over units outside of the subquery";
            return Err(Unsupported::Function { function: upper, instead }.into());
        }
        let Some(aggregates) = self.aggregates else {
            return Err(Unsupported::AggregateIn { function: upper, clause: self.clause }.into());
        };
        // The least of all values is the least of different ones.
        if list.duplicate_treatment.is_some() && !matches!(name, "min" | "max") {
            return Err(no(
                "DISTINCT in a quantile",
                "what each value counts for is how many rows have it; take DISTINCT out",
            ));
        }
        let arguments = super::call::plain(list, call)?;
        let (argument, share, descending) = match (arguments.as_slice(), &*call.within_group) {
            ([share], [by]) if takes_share(name) => {
                if by.with_fill.is_some() || by.options.nulls_first.is_some() {
                    return Err(Unsupported::form(
                        call,
                        "rows that are NULL are in no quantile; write ORDER BY x or ORDER BY x DESC",
                    ));
                }
                (&by.expr, Some(*share), by.options.asc == Some(false))
            }
            ([x, share], []) if takes_share(name) => (*x, Some(*share), false),
            ([x], []) if !takes_share(name) => (*x, None, false),
            _ => return Err(Unsupported::form(call, WRITE)),
        };
        let rank = match (share, name) {
            (Some(share), _) => self.share(share, descending)?,
            (None, "min") => Rank::Least,
            (None, "max") => Rank::Greatest,
            (None, _) => Rank::Share(0.5),
        };
        let within = Binder { aggregates: None, aliases: &[], clause: "an aggregate", ..*self };
        let filter = call.filter.as_deref().map(|filter| within.condition(filter)).transpose()?;
        let bound = within.bind(argument)?;
        let Some(kind) = bound
            .kind
            .filter(|kind| matches!(kind, Type::Int | Type::Float | Type::Date | Type::Timestamp))
        else {
            let needs = "a number, a date or a timestamp, which has an order that a grid follows";
            return Err(TypeError::needs(argument, bound.kind, &upper, needs));
        };
        let expr = match filter {
            Some(filter) => Expr::Case { branches: vec![(filter, bound.expr)], otherwise: None },
            None => bound.expr,
        };
        let expr = canonical(limits::checked(expr)?);
        if expr == Expr::Literal(Value::Null) {
            return Err(TypeError::CountOfNull.into());
        }
        let (function, written) = (upper, short(argument));
        let quantile = Aggregate::Quantile { expr, kind, rank, function, written };
        Ok(Bound::new(Expr::Measure(aggregates.borrow_mut().index(quantile)), kind))
    }

    /// Which quantile: the share of rows that are at most there.
    fn share(&self, share: &ast::Expr, descending: bool) -> Result<Rank, SqlError> {
        let wrong = || Unsupported::form(share, WHICH);
        let within = Binder { aggregates: None, aliases: &[], clause: "an aggregate", ..*self };
        let share = match canonical(within.bind(share)?.expr) {
            Expr::Literal(Value::Float(share)) => share,
            Expr::Literal(Value::Int(0)) => 0.0,
            Expr::Literal(Value::Int(1)) => 1.0,
            _ => return Err(wrong()),
        };
        if !(0.0..=1.0).contains(&share) {
            return Err(wrong());
        }
        // As it is written: 1 - 0.9 is 0.1.
        let share = if descending { ((1.0 - share) * 1e12).round() / 1e12 } else { share };
        Ok(match share {
            share if share <= 0.0 => Rank::Least,
            share if share >= 1.0 => Rank::Greatest,
            share => Rank::Share(share),
        })
    }
}

/// An item that asks for several quantiles at once, as one for each: what it is now and the share
/// as it is written. None if it is no such item.
pub(crate) fn several(expr: &ast::Expr) -> Result<Option<Vec<(ast::Expr, String)>>, SqlError> {
    use ast::{FunctionArg as A, FunctionArgExpr as E};
    let ast::Expr::Function(call) = bare(expr) else { return Ok(None) };
    let name = crate::frontend::names::simple(&call.name).map(|name| name.value.to_lowercase());
    let (Some(name), ast::FunctionArguments::List(list)) = (name, &call.args) else {
        return Ok(None);
    };
    if !takes_share(&name) {
        return Ok(None);
    }
    let is_array = |arg: &A| matches!(arg, A::Unnamed(E::Expr(ast::Expr::Array(_))));
    let Some(place) = list.args.iter().position(is_array) else { return Ok(None) };
    let A::Unnamed(E::Expr(ast::Expr::Array(array))) = &list.args[place] else { return Ok(None) };
    if array.elem.is_empty() || array.elem.len() > MOST {
        return Err(Unsupported::form(expr, "an array of shares has from 1 to 100 of them"));
    }
    let one = |share: &ast::Expr| {
        let mut call = call.clone();
        if let ast::FunctionArguments::List(list) = &mut call.args {
            list.args[place] = A::Unnamed(E::Expr(share.clone()));
        }
        (ast::Expr::Function(call), share.to_string())
    };
    Ok(Some(array.elem.iter().map(one).collect()))
}
