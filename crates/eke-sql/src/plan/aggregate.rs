//! The aggregates of a question, and the sums of the plan that they come from.

use std::collections::BTreeSet;

use crate::error::BoundsError;
use crate::expr::canonical;
use crate::frontend::from::parts::UnitParts;
use crate::plan::bounds;
use crate::plan::grid;
use crate::plan::keys;
use crate::plan::narrow::Conditions;
use crate::plan::ranks;
use crate::{Expr, Measure, Rank, SqlError, Sum, Summand, Table, Type, Value};

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
    /// Different values.
    Distinct {
        expr: Expr,
        kind: Type,
    },
    /// Another one, by its index, over all groups together.
    Total(usize),
    /// One of the values, in their order.
    Quantile {
        expr: Expr,
        kind: Type,
        rank: Rank,
        /// As it is written, for refusals.
        function: String,
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
            (Self::Distinct { expr: a, kind: c }, Self::Distinct { expr: b, kind: d }) => {
                a == b && c == d
            }
            (Self::Total(a), Self::Total(b)) => a == b,
            (Self::Quantile { expr: a, rank: c, .. }, Self::Quantile { expr: b, rank: d, .. }) => {
                a == b && c == d
            }
            _ => false,
        }
    }
}

/// How much of one unit counts in a group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OfUnit<'a> {
    /// The column that says which unit a row belongs to.
    pub(crate) column: &'a str,
    /// The parts of the unit, where it is not a column.
    pub(crate) parts: &'a UnitParts,
    /// How many rows count.
    pub(crate) rows: u32,
    /// How many different values count.
    pub(crate) values: u32,
}

impl OfUnit<'_> {
    /// How many different values of an expression count: no more than it has, where that is public.
    /// Any number is safe, as it does not depend on rows and no more are kept.
    fn distinct(&self, expr: &Expr, kind: Type, table: &Table) -> u32 {
        let is_part =
            |expr: &Expr| self.parts.all().contains(expr) || self.parts.has_one_value(expr);
        if has_one_value(expr, self.column) || is_part(expr) {
            return 1;
        }
        let listed = keys::public(expr, kind, table).map(|values| {
            let present = values.iter().filter(|value| **value != Value::Null);
            u32::try_from(present.count()).unwrap_or(u32::MAX)
        });
        listed.unwrap_or(u32::MAX).min(self.values).clamp(1, grid::MAX_ROWS)
    }
}

/// Whether an expression has one value at most for all rows of a unit, besides NULL.
fn has_one_value(expr: &Expr, unit: &str) -> bool {
    if let Expr::Case { branches, otherwise } = expr {
        let results = branches.iter().map(|(_, result)| result).chain(otherwise.as_deref());
        let mut results = results.filter(|result| **result != Expr::Literal(Value::Null));
        let Some(first) = results.next() else { return true };
        return results.all(|result| result == first) && has_one_value(first, unit);
    }
    expr.columns().iter().all(|column| !unit.is_empty() && *column == unit)
}

/// Those of one question, without repetition: the index is that of the measure.
#[derive(Debug, Default)]
pub(crate) struct Aggregates {
    all: Vec<Aggregate>,
    /// Whether a total is of all rows, whatever their keys.
    takes_all: bool,
}

impl Aggregates {
    /// The measure of an aggregate.
    pub(crate) fn index(&mut self, aggregate: Aggregate) -> usize {
        if let Some(index) = self.all.iter().position(|one| one.same(&aggregate)) {
            return index;
        }
        self.all.push(aggregate);
        self.all.len() - 1
    }

    /// Takes down that a total is of all rows.
    pub(crate) fn take_all(&mut self) {
        self.takes_all = true;
    }

    /// Whether a total is of all rows, whatever their keys.
    pub(crate) fn takes_all(&self) -> bool {
        self.takes_all
    }

    /// An aggregate, by its index.
    pub(crate) fn get(&self, index: usize) -> Option<&Aggregate> {
        self.all.get(index)
    }

    /// Whether one of them is over all groups together.
    pub(crate) fn has_totals(&self) -> bool {
        self.all.iter().any(|one| matches!(one, Aggregate::Total(_)))
    }

    /// Whether an aggregate is one sum, and not a quotient or a total.
    pub(crate) fn is_sum(&self, index: usize) -> bool {
        let other = |one: &Aggregate| {
            matches!(
                one,
                Aggregate::Average { .. } | Aggregate::Total(_) | Aggregate::Quantile { .. }
            )
        };
        self.all.get(index).is_some_and(|one| !other(one))
    }

    /// Whether an aggregate is one of the values, in their order.
    pub(crate) fn is_quantile(&self, index: usize) -> bool {
        matches!(self.all.get(index), Some(Aggregate::Quantile { .. }))
    }

    /// Whether one of them is.
    pub(crate) fn has_quantiles(&self) -> bool {
        self.all.iter().any(|one| matches!(one, Aggregate::Quantile { .. }))
    }

    /// The sums of a plan, in their canonical order, and how the measures come from them, where
    /// this is known of the rows that take part and of all rows. Those of aggregates that are gone
    /// are in it only if another aggregate needs them.
    pub(crate) fn bounded(
        &self,
        (table, policy, conditions): (&Table, &Table, &Conditions<'_>),
        unit: OfUnit<'_>,
        gone: &BTreeSet<usize>,
    ) -> Result<Bounded, SqlError> {
        let (unit_column, max_rows) = (unit.column, unit.rows);
        let counted = |expr: &Expr| {
            let kind = if expr.never_null(unit_column) {
                Summand::Rows
            } else {
                Summand::Present(expr.clone())
            };
            grid::count(kind, max_rows)
        };
        let valued = |expr: &Expr, written: &str, centred: bool| {
            let known = bounds::bounds(expr, table, unit_column);
            let known = known.or_else(|| conditions.bounds_of(expr, table));
            let narrow = known.ok_or_else(|| BoundsError::Unbounded {
                function: if centred { "AVG" } else { "SUM" }.to_owned(),
                written: written.to_owned(),
            })?;
            // Where a unit changes as much with the policy's own, those stay: the same paths.
            let reach = |(low, high): (f64, f64)| {
                if centred { high - low } else { low.abs().max(high.abs()) }
            };
            let wide = bounds::bounds(expr, policy, unit_column);
            let ends = wide.filter(|wide| reach(*wide) <= reach(narrow)).unwrap_or(narrow);
            grid::value(expr.clone(), ends, max_rows, centred, written)
        };
        let searched = |of: (&Expr, Type), function: &str, written: &str| {
            let (expr, kind) = of;
            let own = (expr.clone(), kind);
            if let Type::Date | Type::Timestamp = kind {
                let ends = conditions.between(plain(expr), kind);
                let name = if kind == Type::Date { "DATE" } else { "TIMESTAMP" };
                let unbounded = || BoundsError::UnboundedMoments {
                    function: function.to_owned(),
                    written: written.to_owned(),
                    kind: name,
                };
                return ranks::moments(own, ends.ok_or_else(unbounded)?, max_rows, written);
            }
            let known = bounds::bounds(expr, table, unit_column);
            let known = known.or_else(|| conditions.bounds_of(expr, table));
            let ends = known.ok_or_else(|| BoundsError::Unbounded {
                function: function.to_owned(),
                written: written.to_owned(),
            })?;
            ranks::numbers(own, ends, max_rows, written)
        };
        // Each measure with its sums first, then the sums sorted and without repetition, then
        // indices.
        let mut needed: Vec<(Sum, Option<Sum>)> = Vec::new();
        let mut searches: Vec<Sum> = Vec::new();
        for aggregate in &self.all {
            needed.push(match aggregate {
                Aggregate::Rows => (grid::count(Summand::Rows, max_rows), None),
                Aggregate::Units => (grid::count(Summand::Units, max_rows), None),
                Aggregate::Present(expr) => (counted(expr), None),
                // It was asked for before its total.
                Aggregate::Total(of) => needed[*of].clone(),
                Aggregate::Distinct { expr, kind } => {
                    let (most, kind) = (unit.distinct(expr, *kind, table), *kind);
                    let of = Summand::Distinct { expr: expr.clone(), kind, most };
                    (grid::count(of, max_rows), None)
                }
                Aggregate::Sum { expr, written } => (valued(expr, written, false)?, None),
                Aggregate::Average { expr, counted: of, written } => {
                    (valued(expr, written, true)?, Some(counted(of)))
                }
                Aggregate::Quantile { expr, kind, function, written, .. } => {
                    let sum = searched((expr, *kind), function, written)?;
                    if !searches.contains(&sum) {
                        searches.push(sum.clone());
                    }
                    (sum, None)
                }
            });
        }
        let mut sums: Vec<Sum> = Vec::new();
        let kept = (0..)
            .zip(&needed)
            .filter(|(index, _)| !gone.contains(index) && !self.is_quantile(*index));
        for sum in kept.flat_map(|(_, (sum, count))| [Some(sum), count.as_ref()]).flatten() {
            if !sums.contains(sum) {
                sums.push(sum.clone());
            }
        }
        sums.sort_by_cached_key(order);
        searches.sort_by_cached_key(order);
        let place_in = |sum: &Sum| searches.iter().position(|one| one == sum).unwrap_or(usize::MAX);
        let place = |sum: &Sum| sums.iter().position(|one| one == sum).unwrap_or(usize::MAX);
        let measures = needed
            .iter()
            .zip(&self.all)
            .map(|((sum, count), aggregate)| match (count, aggregate) {
                (Some(count), _) => Measure::Average { sum: place(sum), count: place(count) },
                (None, Aggregate::Total(_)) => Measure::Total(place(sum)),
                (None, Aggregate::Quantile { rank, .. }) => {
                    Measure::Quantile { search: place_in(sum), rank: *rank }
                }
                (None, _) => Measure::Sum(place(sum)),
            })
            .collect();
        Ok(Bounded { sums, searches, measures })
    }
}

/// What aggregates come from.
pub(crate) struct Bounded {
    /// What is added up, in its canonical order.
    pub(crate) sums: Vec<Sum>,
    /// What quantiles are searched in, in the same order.
    pub(crate) searches: Vec<Sum>,
    /// How each aggregate comes from these.
    pub(crate) measures: Vec<Measure>,
}

/// What an expression is where it is not NULL by a condition of FILTER.
fn plain(expr: &Expr) -> &Expr {
    match expr {
        Expr::Case { branches, otherwise: None } => match branches.as_slice() {
            [(_, one)] => one,
            _ => expr,
        },
        expr => expr,
    }
}

/// Puts a sum among others, in their canonical order, and says where it is.
pub(crate) fn placed(sums: &mut Vec<Sum>, sum: Sum) -> usize {
    let own = order(&sum);
    let place = sums.iter().position(|one| order(one) > own).unwrap_or(sums.len());
    sums.insert(place, sum);
    place
}

/// Rows, units, what is present, values, different values; then by their form.
fn order(sum: &Sum) -> (u8, String, i64) {
    match &sum.summand {
        Summand::Rows => (0, String::new(), 0),
        Summand::Units => (1, String::new(), 0),
        Summand::Present(expr) => (2, canonical::sort_key(expr), 0),
        Summand::Value { expr, centre, .. } => (3, canonical::sort_key(expr), *centre),
        Summand::Distinct { expr, .. } => (4, canonical::sort_key(expr), 0),
        Summand::Ranks { expr, .. } => (5, canonical::sort_key(expr), 0),
    }
}
