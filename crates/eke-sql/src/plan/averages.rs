//! Ratios that are averages: `COUNT(*) FILTER (WHERE late) / COUNT(*)`.
//!
//! Where every row that the numerator adds up is one that the denominator counts, the ratio is the
//! average of what those rows add, and nothing for the others. As an average it is measured around
//! the middle of what a row may add: with less than half the noise of two counts, and one interval
//! for both instead of two that are put together. It has as many paths, so this is done where the
//! numerator is asked for nothing else.

use std::cell::RefCell;
use std::collections::BTreeSet;

use crate::expr::canonical::canonical;
use crate::expr::evaluate::int_of_float;
use crate::plan::aggregate::{Aggregate, Aggregates};
use crate::plan::bounds;
use crate::{Binary, Expr, Function, Table, Type, Unary, Value};

/// The aggregates of a question, and the rows that they are of.
pub(crate) struct Ratios<'a> {
    pub(crate) aggregates: &'a RefCell<Aggregates>,
    pub(crate) table: &'a Table,
    pub(crate) unit_column: &'a str,
}

/// A ratio that is an average.
struct Ratio {
    /// The aggregate that is divided, and is no longer needed for this.
    numerator: usize,
    average: Aggregate,
    /// What it is taken times.
    times: Option<Value>,
}

impl Ratios<'_> {
    /// Writes all ratios in expressions over aggregates as averages that are some, and says which
    /// aggregates nothing needs any more.
    ///
    /// - Theorem: ratio-as-average (docs/theorems.md)
    /// - Proves: the average is the ratio
    /// - Assumes: a unit's rows count alike in both, also where there are more than count
    ///   (bounding)
    /// - Deviates: of a unit with more rows than count, each sum is cut off by less than a step
    /// - Checked by: `ratios_that_are_averages_come_to_the_same`
    pub(crate) fn averaged(&self, exprs: &mut [&mut Expr]) -> BTreeSet<usize> {
        let (mut needed, mut gone) = (BTreeSet::new(), BTreeSet::new());
        for expr in exprs.iter() {
            self.needed(expr, &mut needed);
        }
        for expr in exprs {
            let was = std::mem::replace(*expr, Expr::Literal(Value::Null));
            **expr = self.rewritten(was, &needed, &mut gone);
        }
        gone
    }

    /// The aggregates that are needed for more than ratios which are averages.
    fn needed(&self, expr: &Expr, needed: &mut BTreeSet<usize>) {
        if let Expr::Measure(aggregate) = expr {
            needed.insert(*aggregate);
        } else if self.ratio(expr).is_none() {
            expr.children().into_iter().for_each(|child| self.needed(child, needed));
        }
    }

    fn rewritten(&self, expr: Expr, needed: &BTreeSet<usize>, gone: &mut BTreeSet<usize>) -> Expr {
        let Some(ratio) = self.ratio(&expr).filter(|ratio| !needed.contains(&ratio.numerator))
        else {
            return expr.map_children(|child| self.rewritten(child, needed, gone));
        };
        gone.insert(ratio.numerator);
        let average = Expr::Measure(self.aggregates.borrow_mut().index(ratio.average));
        match ratio.times {
            None => average,
            Some(times) => {
                let (average, times) = (Box::new(average), Box::new(Expr::Literal(times)));
                Expr::Binary(Binary::Multiply, average, times)
            }
        }
    }

    /// What a sum is of, cut off at its bounds where zero is not within them: zero stands for rows
    /// that add nothing, and would widen them.
    fn clamped(&self, expr: Expr) -> Option<Expr> {
        let (low, high) = bounds::bounds(&expr, self.table, self.unit_column)?;
        if low <= 0.0 && high >= 0.0 {
            return Some(expr);
        }
        let kind = expr.kind(&|name| self.table.kind(name));
        Some(match expr {
            // What FILTER has made stays as it is, for its condition to be found.
            Expr::Case { branches, otherwise } if branches.len() == 1 => {
                let ends = (low, high);
                let branches = branches.into_iter();
                let branches =
                    branches.map(|(condition, result)| (condition, between(result, ends, kind)));
                let otherwise = otherwise.map(|result| match is_zero(&result) {
                    true => result,
                    false => Box::new(between(*result, ends, kind)),
                });
                Expr::Case { branches: branches.collect(), otherwise }
            }
            expr => between(expr, (low, high), kind),
        })
    }

    /// A ratio as an average, if it is one.
    fn ratio(&self, expr: &Expr) -> Option<Ratio> {
        let Expr::Binary(Binary::Divide, above, below) = expr else { return None };
        let (numerator, times) = multiple(above)?;
        let denominator = counted(below)?;
        let aggregates = self.aggregates.borrow();
        let (of, counted) = (aggregates.get(numerator)?, aggregates.get(denominator)?);
        let (expr, written) = match of {
            Aggregate::Present(expr) => (indicator(expr), expr.to_string()),
            Aggregate::Sum { expr, written } => (expr.clone(), written.clone()),
            _ => return None,
        };
        let zero = match expr.kind(&|name| self.table.kind(name)) {
            Some(Type::Int) => Expr::Literal(Value::Int(0)),
            _ => float(0.0),
        };
        let (expr, counted) = match counted {
            // Every row counts: those that add nothing add zero.
            Aggregate::Rows => (or_zero(self.clamped(expr)?, zero), Expr::Literal(Value::Int(1))),
            Aggregate::Present(counted) if *counted == expr => (expr, counted.clone()),
            Aggregate::Present(counted) => {
                (among(&self.clamped(expr)?, counted, zero)?, counted.clone())
            }
            _ => return None,
        };
        let expr = canonical(expr);
        let (low, high) = bounds::bounds(&expr, self.table, self.unit_column)?;
        let average = Aggregate::Average { expr, counted, written };
        (low < high).then_some(Ratio { numerator, average, times })
    }
}

/// A number cut off at these ends; NULL stays NULL.
fn between(expr: Expr, (low, high): (f64, f64), kind: Option<Type>) -> Expr {
    // Whole numbers have whole bounds.
    let end = |end: f64| match int_of_float(end) {
        Some(int) if kind == Some(Type::Int) => Expr::Literal(Value::Int(int)),
        _ => float(end),
    };
    let beyond = |operator, other: f64| {
        let condition = Expr::Binary(operator, Box::new(expr.clone()), Box::new(end(other)));
        (condition, end(other))
    };
    let branches = vec![beyond(Binary::Less, low), beyond(Binary::Greater, high)];
    Expr::Case { branches, otherwise: Some(Box::new(expr)) }
}

/// The aggregate that something is a multiple of, and how many times.
fn multiple(expr: &Expr) -> Option<(usize, Option<Value>)> {
    match expr {
        Expr::Binary(Binary::Multiply, one, other) => match (&**one, &**other) {
            (one, Expr::Literal(times)) | (Expr::Literal(times), one) => {
                let (aggregate, none) = multiple(one)?;
                none.is_none().then(|| (aggregate, Some(times.clone())))
            }
            _ => None,
        },
        expr => aggregate(expr).map(|aggregate| (aggregate, None)),
    }
}

/// The aggregate that something is but for its type, and for a zero where it is NULL: no sum of an
/// answer is.
fn aggregate(expr: &Expr) -> Option<usize> {
    match expr {
        Expr::Measure(aggregate) => Some(*aggregate),
        Expr::Cast(one, Type::Float) => aggregate(one),
        Expr::Call(Function::Coalesce, arguments) => match arguments.as_slice() {
            [one, zero] if is_zero(zero) => aggregate(one),
            _ => None,
        },
        _ => None,
    }
}

/// The aggregate that something is divided by, also if that is NULL in place of zero.
fn counted(expr: &Expr) -> Option<usize> {
    match expr {
        Expr::Call(Function::NullIf, arguments) => match arguments.as_slice() {
            [one, zero] if is_zero(zero) => aggregate(one),
            _ => None,
        },
        expr => aggregate(expr),
    }
}

fn is_zero(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal(Value::Int(0)))
        || matches!(expr, Expr::Literal(Value::Float(zero)) if zero.abs() <= 0.0)
}

fn float(number: f64) -> Expr {
    Expr::Literal(Value::Float(number))
}

/// One where something is present, and otherwise zero.
fn indicator(expr: &Expr) -> Expr {
    let condition = match counts_where(expr) {
        Some(condition) => condition.clone(),
        None => {
            let is_null = Expr::Unary(Unary::IsNull, Box::new(expr.clone()));
            Expr::Unary(Unary::Not, Box::new(is_null))
        }
    };
    Expr::Case { branches: vec![(condition, float(1.0))], otherwise: Some(Box::new(float(0.0))) }
}

/// The condition under which something is present that FILTER has made.
fn counts_where(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::Case { branches, otherwise: None } => match branches.as_slice() {
            [(condition, Expr::Literal(value))] if *value != Value::Null => Some(condition),
            _ => None,
        },
        _ => None,
    }
}

/// What is added up of the rows that are counted, and zero for those of them that add nothing; none
/// unless only such rows add something.
fn among(expr: &Expr, counted: &Expr, zero: Expr) -> Option<Expr> {
    let rows = counts_where(counted)?;
    let Expr::Case { branches, otherwise } = expr else { return None };
    let [(condition, result)] = branches.as_slice() else { return None };
    if !otherwise.as_deref().is_none_or(is_zero) {
        return None;
    }
    let terms = condition.terms(Binary::And);
    rows.terms(Binary::And).iter().all(|term| terms.contains(term)).then(|| {
        let result = or_zero(result.clone(), zero.clone());
        let branches = vec![(condition.clone(), result), (rows.clone(), zero)];
        Expr::Case { branches, otherwise: None }
    })
}

/// A number, or zero where it is NULL.
fn or_zero(expr: Expr, zero: Expr) -> Expr {
    let is_number = |expr: &Expr| matches!(expr, Expr::Literal(Value::Int(_) | Value::Float(_)));
    match expr {
        expr if is_number(&expr) => expr,
        Expr::Case { branches, otherwise }
            if branches.iter().all(|(_, result)| is_number(result))
                && otherwise.as_deref().is_none_or(is_number) =>
        {
            Expr::Case { branches, otherwise: otherwise.or_else(|| Some(Box::new(zero))) }
        }
        expr => Expr::Call(Function::Coalesce, vec![expr, zero]),
    }
}
