//! Variances, covariances and correlations: made of averages around public centres.
//!
//! With c the middle of what x may be, the variance is `AVG((x - c)²) - (AVG(x) - c)²`. The centre
//! comes from the policy's bounds and never from the rows: a mean taken from them would move with
//! every unit. Each average is clamped, priced and followed as any other, and shared with a
//! question that asks for it by itself.

use sqlparser::ast;

use super::{Binder, Bound};
use crate::error::{BoundsError, Unsupported, short};
use crate::expr::canonical::{canonical, sort_key};
use crate::frontend::limits;
use crate::plan::aggregate::Aggregate;
use crate::plan::bounds;
use crate::{Binary, Expr, Function, SqlError, Type, Unary, Value};

/// A number that is averaged, NULL for what does not count, and the middle of what it may be.
struct Centred {
    expr: Expr,
    /// What is present where it counts.
    counted: Expr,
    centre: f64,
    written: String,
}

impl Binder<'_> {
    /// VARIANCE, STDDEV, COVAR and CORR.
    pub(super) fn spread(
        &self,
        name: &str,
        call: &ast::Function,
        list: &ast::FunctionArgumentList,
        filter: Option<&ast::Expr>,
    ) -> Result<Bound, SqlError> {
        let upper = name.to_uppercase();
        if self.aggregates.is_none() {
            return Err(Unsupported::AggregateIn { function: upper, clause: self.clause }.into());
        }
        if list.duplicate_treatment.is_some() {
            return Err(Unsupported::form(call, "DISTINCT and ALL stand only in COUNT"));
        }
        let within = Binder { aggregates: None, aliases: &[], clause: "an aggregate", ..*self };
        let filter = filter.map(|filter| within.condition(filter)).transpose()?;
        let arguments = super::call::plain(list, call)?;
        let number = |argument: &ast::Expr| {
            within.number(argument, &upper)?.coerced(Type::Float, &short(argument))
        };
        let is_pair = matches!(name, "covar_pop" | "covar_samp" | "corr");
        let expr = match arguments.as_slice() {
            [x] if !is_pair => {
                let x = self.centred(number(x)?.expr, filter.as_ref(), short(*x), &upper)?;
                let variance = self.covariance(&x, &x)?;
                self.shaped(name, variance, &x)?
            }
            [x, y] if is_pair => {
                let exprs = [number(x)?.expr, number(y)?.expr];
                // A row counts if it has both.
                let has = |expr: &Expr| not_null(expr.clone());
                let both = and(has(&exprs[0]), has(&exprs[1]));
                let both = match filter {
                    Some(filter) => and(filter, both),
                    None => both,
                };
                let [one, other] = exprs;
                let x = self.centred(one, Some(&both), short(*x), &upper)?;
                let y = self.centred(other, Some(&both), short(*y), &upper)?;
                // All are averages of the same rows, which are counted once.
                let counted = if sort_key(&x.expr) < sort_key(&y.expr) { &x } else { &y };
                let counted = counted.counted.clone();
                let [x, y] = [x, y].map(|one| Centred { counted: counted.clone(), ..one });
                let covariance = self.covariance(&x, &y)?;
                if name == "corr" {
                    let (of_x, of_y) = (self.covariance(&x, &x)?, self.covariance(&y, &y)?);
                    let product =
                        binary(Binary::Multiply, not_below_zero(of_x), not_below_zero(of_y));
                    binary(Binary::Divide, covariance, Expr::Call(Function::Sqrt, vec![product]))
                } else {
                    self.shaped(name, covariance, &x)?
                }
            }
            _ => {
                let count = if is_pair { "two arguments" } else { "one argument" };
                return Err(Unsupported::form(call, format!("{upper} takes {count}")));
            }
        };
        Ok(Bound::new(limits::checked(expr)?, Type::Float))
    }

    /// A number where a condition holds, with its public centre.
    fn centred(
        &self,
        expr: Expr,
        filter: Option<&Expr>,
        written: String,
        function: &str,
    ) -> Result<Centred, SqlError> {
        let expr = match filter {
            Some(filter) => Expr::Case { branches: vec![(filter.clone(), expr)], otherwise: None },
            None => expr,
        };
        let expr = canonical(limits::checked(expr)?);
        let bounds = bounds::bounds(&expr, &self.rows.table, self.rows.unit_column());
        let (low, high) = bounds.ok_or_else(|| BoundsError::Unbounded {
            function: function.to_owned(),
            written: written.clone(),
        })?;
        let counted = expr.clone();
        Ok(Centred { expr, counted, centre: f64::midpoint(low, high), written })
    }

    /// `AVG((x - a)(y - b)) - (AVG(x) - a)(AVG(y) - b)`.
    fn covariance(&self, x: &Centred, y: &Centred) -> Result<Expr, SqlError> {
        let off = |of: Expr, centre: f64| binary(Binary::Subtract, of, float(centre));
        let from = |one: &Centred| off(one.expr.clone(), one.centre);
        let (product, written) = if x.expr == y.expr {
            let square = Expr::Call(Function::Power, vec![from(x), float(2.0)]);
            (square, format!("({} - {})^2", x.written, x.centre))
        } else {
            (binary(Binary::Multiply, from(x), from(y)), format!("{} * {}", x.written, y.written))
        };
        let mean = self.average(product, x, written)?;
        let of = |one: &Centred| -> Result<Expr, SqlError> {
            Ok(off(self.average(one.expr.clone(), one, one.written.clone())?, one.centre))
        };
        let means = if x.expr == y.expr {
            Expr::Call(Function::Power, vec![of(x)?, float(2.0)])
        } else {
            binary(Binary::Multiply, of(x)?, of(y)?)
        };
        Ok(binary(Binary::Subtract, mean, means))
    }

    /// A population's variance as that of a sample, or as a deviation.
    fn shaped(&self, name: &str, variance: Expr, x: &Centred) -> Result<Expr, SqlError> {
        let variance = if name.starts_with("covar") { variance } else { not_below_zero(variance) };
        let variance = if name.ends_with("_pop") {
            variance
        } else {
            let expr = x.counted.clone();
            let aggregate = if expr.never_null(self.rows.unit_column()) {
                Aggregate::Rows
            } else {
                Aggregate::Present(expr)
            };
            let count = self.put_down(aggregate)?;
            let less = binary(Binary::Subtract, count.clone(), float(1.0));
            binary(Binary::Multiply, variance, binary(Binary::Divide, count, less))
        };
        Ok(if name.starts_with("stddev") {
            Expr::Call(Function::Sqrt, vec![variance])
        } else {
            variance
        })
    }

    /// An average of what follows from a number.
    fn average(&self, expr: Expr, of: &Centred, written: String) -> Result<Expr, SqlError> {
        let (expr, counted) = (canonical(limits::checked(expr)?), of.counted.clone());
        self.put_down(Aggregate::Average { expr, counted, written })
    }

    /// The measure of an aggregate.
    fn put_down(&self, aggregate: Aggregate) -> Result<Expr, SqlError> {
        let Some(aggregates) = self.aggregates else {
            let (function, clause) = ("AVG".to_owned(), self.clause);
            return Err(Unsupported::AggregateIn { function, clause }.into());
        };
        Ok(Expr::Measure(aggregates.borrow_mut().index(aggregate)))
    }
}

fn binary(operator: Binary, left: Expr, right: Expr) -> Expr {
    Expr::Binary(operator, Box::new(left), Box::new(right))
}

fn float(number: f64) -> Expr {
    Expr::Literal(Value::float(number))
}

fn and(one: Expr, other: Expr) -> Expr {
    binary(Binary::And, one, other)
}

fn not_null(expr: Expr) -> Expr {
    let is_null = Expr::Unary(Unary::IsNull, Box::new(expr));
    Expr::Unary(Unary::Not, Box::new(is_null))
}

/// Noise may take a variance below zero, where there is none.
fn not_below_zero(expr: Expr) -> Expr {
    Expr::Call(Function::Greatest, vec![float(0.0), expr])
}
