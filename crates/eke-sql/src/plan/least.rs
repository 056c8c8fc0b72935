//! How many units a row of an answer must be about (minimum frequency): a count of units beside
//! what was asked for, on a path of its own, which decides whether a row is shown.
//!
//! The count that decides is a released one, so leaving rows out is post-processing: nothing
//! depends on the true count of a group but through its noisy one.

use serde::{Deserialize, Serialize};

use crate::plan::aggregate::placed;
use crate::plan::grid;
use crate::{Measure, Plan, Query, Summand};

/// The fewest units that a row is shown for, by a released count of them.
#[doc(alias = "minimum frequency")]
#[doc(alias = "small cell suppression")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeastUnits {
    /// How many.
    pub count: u32,
    /// The measure that counts units, by its index.
    pub measure: usize,
}

impl Query {
    /// The same question, whose rows are shown where they are about this many units at least. A
    /// count of units that it has already decides; otherwise one is added to the plan, and to the
    /// price. Keys without values are not counted, and stay.
    #[must_use]
    pub fn with_least_units(mut self, count: u32) -> Self {
        if count == 0 || !self.shows_values() {
            return self;
        }
        let column = self.plan.counts_units().unwrap_or_else(|| self.add_units());
        let is_it = |measure: &Measure| matches!(measure, Measure::Sum(sum) if *sum == column);
        let measure = self.measures.iter().position(is_it).unwrap_or_else(|| {
            self.measures.push(Measure::Beside(column));
            self.measures.len() - 1
        });
        self.least = Some(LeastUnits { count, measure });
        self
    }

    /// The sum that was added to count units, and that nothing else is made of; none if there is
    /// none.
    #[must_use]
    pub fn added_units(&self) -> Option<usize> {
        let beside = |measure: &Measure| match measure {
            Measure::Beside(sum) => Some(*sum),
            _ => None,
        };
        let added = self.measures.iter().find_map(beside)?;
        let is_made_of = |measure: &Measure| match measure {
            Measure::Sum(sum) | Measure::Total(sum) => *sum == added,
            Measure::Average { sum, count } => *sum == added || *count == added,
            // Its parts are measures of their own.
            Measure::Derived { .. } | Measure::Beside(_) | Measure::Quantile { .. } => false,
        };
        (!self.measures.iter().any(is_made_of)).then_some(added)
    }

    /// Adds a count of units to the plan, and says which sum it is.
    fn add_units(&mut self) -> usize {
        let Plan { sums, max_rows, unit_column, .. } = &mut self.plan;
        // Whatever the bounds are, a unit counts once in a group. Rows that are units have no name.
        let of = if unit_column.is_empty() { Summand::Rows } else { Summand::Units };
        let place = placed(sums, grid::count(of, *max_rows));
        let moved = |sum: &mut usize| *sum += usize::from(*sum >= place);
        for measure in &mut self.measures {
            match measure {
                Measure::Sum(sum) | Measure::Total(sum) | Measure::Beside(sum) => moved(sum),
                Measure::Average { sum, count } => {
                    moved(sum);
                    moved(count);
                }
                // It is over measures, which stay where they are; or in no sum.
                Measure::Derived { .. } | Measure::Quantile { .. } => {}
            }
        }
        place
    }
}

impl Plan {
    /// The sum that counts the units of each group, if there is one.
    #[must_use]
    pub fn counts_units(&self) -> Option<usize> {
        self.sums.iter().position(|sum| match sum.summand {
            Summand::Units => true,
            // With a bound on all rows, a row of a unit in many groups counts for less than one.
            Summand::Rows => self.max_rows == 1 && self.max_rows_in_all.is_none(),
            Summand::Present(_)
            | Summand::Value { .. }
            | Summand::Distinct { .. }
            | Summand::Ranks { .. } => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Column, Protection, Table, Type, Value};

    /// What counts units, and what is added, for a table whose units have these bounds.
    fn asked(sql: &str, unit: &str, (rows, in_all): (u32, Option<u32>)) -> Query {
        let column = |name: &str, kind, bounds, values| Column {
            name: name.to_owned(),
            kind: Some(kind),
            bounds,
            values,
        };
        let zones = Some((0..4).map(Value::Int).collect());
        let columns = vec![
            column("rider", Type::Text, None, None),
            column("zone", Type::Int, None, zones),
            column("fare", Type::Float, Some((0.0, 50.0)), None),
        ];
        let protection = Protection::Private {
            unit: "rider".to_owned(),
            unit_column: unit.to_owned(),
            adjacency: eke_budget::Adjacency::AddRemove,
            max_groups: if unit.is_empty() { 1 } else { 4 },
            max_rows: rows,
            max_values: None,
            max_rows_in_all: in_all,
        };
        let table = Table { name: "trips".to_owned(), columns, protection };
        let sql = format!("SELECT zone, {sql} FROM trips GROUP BY zone");
        crate::plan(&sql, &[table]).unwrap().with_least_units(10)
    }

    #[test]
    fn rows_are_units_where_each_counts_for_one() {
        let units = |query: &Query| {
            let least = query.least.unwrap();
            let (Measure::Sum(sum) | Measure::Beside(sum)) = query.measures[least.measure] else {
                panic!("{query:?}")
            };
            query.plan.sums[sum].summand.clone()
        };
        for (sql, unit, bounds, counts, added) in [
            ("COUNT(*)", "rider", (1, None), Summand::Rows, None),
            ("COUNT(*)", "rider", (2, None), Summand::Units, Some(1)),
            // One row of each rider in all, so a quarter of one in each of four zones.
            ("COUNT(*)", "rider", (1, Some(1)), Summand::Units, Some(1)),
            ("COUNT(DISTINCT rider)", "rider", (1, Some(1)), Summand::Units, None),
            ("SUM(fare)", "rider", (1, None), Summand::Units, Some(0)),
            ("COUNT(DISTINCT zone)", "rider", (1, None), Summand::Units, Some(0)),
            // An average is made of the count that decides.
            (
                "AVG(CASE WHEN fare > 3 THEN 1.0 ELSE 0.0 END)",
                "rider",
                (1, None),
                Summand::Rows,
                None,
            ),
            ("SUM(fare)", "", (1, None), Summand::Rows, Some(0)),
        ] {
            let query = asked(sql, unit, bounds);
            assert_eq!((units(&query), query.added_units()), (counts, added), "{sql} {bounds:?}");
        }
    }
}
