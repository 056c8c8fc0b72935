//! The aggregates of a question, and the sums of the plan that they come from.

use crate::error::BoundsError;
use crate::expr::canonical;
use crate::plan::bounds;
use crate::plan::grid;
use crate::{Expr, Measure, SqlError, Sum, Summand, Table};

/// What is asked for, over canonical expressions.
#[derive(Clone, Debug)]
pub(crate) enum Aggregate {
    Rows,
    Present(Expr),
    Units,
    Sum {
        expr: Expr,
        written: String,
    },
    /// Of what is present of `counted`, which is so where `expr` is.
    Average {
        expr: Expr,
        counted: Expr,
        written: String,
    },
}

impl Aggregate {
    fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Rows, Self::Rows) | (Self::Units, Self::Units) => true,
            (Self::Present(a), Self::Present(b))
            | (Self::Sum { expr: a, .. }, Self::Sum { expr: b, .. }) => a == b,
            (
                Self::Average { expr: a, counted: c, .. },
                Self::Average { expr: b, counted: d, .. },
            ) => a == b && c == d,
            _ => false,
        }
    }
}

/// Those of one question, without repetition: the index is that of the measure.
#[derive(Debug, Default)]
pub(crate) struct Aggregates(Vec<Aggregate>);

impl Aggregates {
    /// The measure of an aggregate.
    pub(crate) fn index(&mut self, aggregate: Aggregate) -> usize {
        if let Some(index) = self.0.iter().position(|one| one.same(&aggregate)) {
            return index;
        }
        self.0.push(aggregate);
        self.0.len() - 1
    }

    /// The sums of a plan, in their canonical order, and how the measures come from them.
    pub(crate) fn bounded(
        &self,
        table: &Table,
        unit_column: &str,
        max_rows: u32,
    ) -> Result<(Vec<Sum>, Vec<Measure>), SqlError> {
        let counted = |expr: &Expr| {
            let kind = if expr.never_null(unit_column) {
                Summand::Rows
            } else {
                Summand::Present(expr.clone())
            };
            grid::count(kind, max_rows)
        };
        let valued = |expr: &Expr, written: &str, centred: bool| {
            let ends =
                bounds::bounds(expr, table, unit_column).ok_or_else(|| BoundsError::Unbounded {
                    function: if centred { "AVG" } else { "SUM" }.to_owned(),
                    written: written.to_owned(),
                })?;
            grid::value(expr.clone(), ends, max_rows, centred, written)
        };
        // Each measure with its sums first, then the sums sorted and without repetition, then
        // indices.
        let mut needed = Vec::new();
        for aggregate in &self.0 {
            needed.push(match aggregate {
                Aggregate::Rows => (grid::count(Summand::Rows, max_rows), None),
                Aggregate::Units => (grid::count(Summand::Units, max_rows), None),
                Aggregate::Present(expr) => (counted(expr), None),
                Aggregate::Sum { expr, written } => (valued(expr, written, false)?, None),
                Aggregate::Average { expr, counted: of, written } => {
                    (valued(expr, written, true)?, Some(counted(of)))
                }
            });
        }
        let mut sums: Vec<Sum> = Vec::new();
        for sum in needed.iter().flat_map(|(sum, count)| [Some(sum), count.as_ref()]).flatten() {
            if !sums.contains(sum) {
                sums.push(sum.clone());
            }
        }
        sums.sort_by_cached_key(order);
        let place = |sum: &Sum| sums.iter().position(|one| one == sum).unwrap_or(usize::MAX);
        let measures = needed
            .iter()
            .map(|(sum, count)| match count {
                Some(count) => Measure::Average { sum: place(sum), count: place(count) },
                None => Measure::Sum(place(sum)),
            })
            .collect();
        Ok((sums, measures))
    }
}

/// Rows, units, what is present, values; then by their form.
fn order(sum: &Sum) -> (u8, String, i64) {
    match &sum.summand {
        Summand::Rows => (0, String::new(), 0),
        Summand::Units => (1, String::new(), 0),
        Summand::Present(expr) => (2, canonical::sort_key(expr), 0),
        Summand::Value { expr, centre, .. } => (3, canonical::sort_key(expr), *centre),
    }
}
