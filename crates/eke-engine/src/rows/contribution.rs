//! Contributions: what each row of a dataset brings to a plan, before anything is bounded.
//!
//! A row that takes part has a unit, the keys of its group, and a number of steps for each sum that
//! depends on its values. All of it is computed from that row alone, and for every row, also for
//! those that take no part: the work that a row takes does not tell whether it takes part. Texts
//! that rows bring in end after [`MAX_TEXT`] bytes, but for the unit's, which is read exactly.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array};
use arrow_buffer::BooleanBuffer;
use arrow_schema::ArrowError;
use arrow_select::filter::filter;
use eke_sql::{Expr, Key, MAX_TEXT, Plan, Sum, Summand, Type, Value};

use crate::data::ids::Ids;
use crate::rows::column::expr::{ColumnExpr, Members};
use crate::rows::column::grid_rounding::GridRounding;
use crate::rows::column::lower::{self, LowerError};
use crate::rows::column::{Column, arrays};
use crate::rows::pass::bounding::HashKey;
use crate::rows::pass::values;
use crate::rows::scan::Wanted;

/// How many bytes of text a batch may have, with all that is computed from it.
const BATCH: usize = 64 << 20;

/// What is computed for each row.
pub(crate) struct Contributions {
    /// What it is computed from: the columns of expressions, and then the unit.
    wanted: Wanted,
    /// Which rows take part, if they are somebody's and their keys do.
    filter: Option<ColumnExpr>,
    /// The type of the unit; none if each row is one.
    unit: Option<Type>,
    keys: Vec<KeyOf>,
    steps: Vec<Steps>,
    /// What different values are counted of.
    values: Vec<ColumnExpr>,
    /// What their digests are made with.
    digest_key: HashKey,
    /// Whether rows whose keys are not listed come along, marked.
    unlisted: bool,
}

/// A key of a row.
struct KeyOf {
    value: ColumnExpr,
    /// Those that take part, if only some do, and whether NULL does.
    listed: Option<(Members, bool)>,
}

/// What a row adds to a sum that depends on its values.
enum Steps {
    Present(ColumnExpr, i64),
    Value(ColumnExpr, GridRounding),
}

impl Contributions {
    /// What a plan takes from rows with these columns. Without ids, each row is a unit.
    pub(crate) fn new(
        plan: &Plan,
        schema: &[(String, Option<Type>)],
        ids: Option<Ids>,
        hash_key: &HashKey,
    ) -> Result<Self, LowerError> {
        let wanted: BTreeSet<&str> = plan.exprs().flat_map(Expr::columns).collect();
        // In the order of the file, and each once.
        let columns: Vec<(String, Type)> = schema
            .iter()
            .filter(|(name, _)| wanted.contains(name.as_str()))
            .filter_map(|(name, kind)| Some((name.clone(), (*kind)?)))
            .collect();
        let is_unit =
            |(name, kind): &(String, Option<Type>)| *name == plan.unit_column && kind.is_some();
        let is_column = ids.as_ref().is_some_and(|ids| !matches!(ids, Ids::Parts(_)));
        if is_column && !schema.iter().any(is_unit) {
            return Err(LowerError::NoColumn(plan.unit_column.clone()));
        }
        let unit = ids.as_ref().map(Ids::kind);
        let keys = plan.keys.iter().map(|key| KeyOf::new(key, &columns));
        let keys = keys.collect::<Result<Vec<_>, _>>()?;
        let steps = plan.sums.iter().filter_map(|sum| steps_of(sum, &columns));
        let steps = steps.collect::<Result<Vec<_>, _>>()?;
        let values = plan.sums.iter().filter_map(|sum| match &sum.summand {
            Summand::Distinct { expr, kind, .. } => Some(lower::typed(expr, *kind, &columns)),
            _ => None,
        });
        let values = values.collect::<Result<Vec<_>, _>>()?;
        let filter = plan.filter.as_ref().map(|filter| lower::condition(filter, &columns));
        let filter = filter.transpose()?;
        let wanted = Wanted { columns, unit: ids.map(|ids| (plan.unit_column.clone(), ids)) };
        let digest_key = values::digest_key(hash_key);
        Ok(Self { wanted, filter, unit, keys, steps, values, digest_key, unlisted: false })
    }

    /// The same, where rows whose keys are not listed come along, marked, if there are units that
    /// they belong to.
    pub(crate) fn with_unlisted(mut self) -> Self {
        self.unlisted = self.unit.is_some() && self.keys.iter().any(|key| key.listed.is_some());
        self
    }

    /// Whether rows whose keys are not listed come along, marked.
    pub(crate) fn brings_unlisted(&self) -> bool {
        self.unlisted
    }

    /// What it is computed from: columns of expressions, and then the unit.
    pub(crate) fn wanted(&self) -> &Wanted {
        &self.wanted
    }

    /// The type of the unit; none if each row is one.
    pub(crate) fn unit(&self) -> Option<Type> {
        self.unit
    }

    /// How many sums depend on values of rows.
    pub(crate) fn steps(&self) -> usize {
        self.steps.len()
    }

    /// How many rows are computed on at a time, at most `most`: as many as have room for their
    /// texts, however long those are. It follows from the plan alone.
    pub(crate) fn rows_at_a_time(&self, most: usize) -> usize {
        let columns = self.wanted.columns.iter().filter(|(_, kind)| *kind == Type::Text).count();
        let keys = self.keys.iter().map(|key| key.value.texts());
        let steps = self.steps.iter().map(|steps| match steps {
            Steps::Present(total, _) | Steps::Value(total, _) => total.texts(),
        });
        let values = self.values.iter().map(ColumnExpr::texts);
        let filter = self.filter.as_ref().map_or(0, ColumnExpr::texts);
        rows_at_a_time(columns + filter + keys.chain(steps).chain(values).sum::<usize>(), most)
    }

    /// What these rows bring: the unit if there is a column of it, the keys, the steps, the digests
    /// of values in two halves each, a mark for those whose keys are not listed if these come
    /// along; and how many of them take part. The others are gone.
    pub(crate) fn of(
        &self,
        columns: &[Column],
        rows: usize,
    ) -> Result<(Vec<ArrayRef>, usize), ArrowError> {
        let (mut arrays, mut columns) = (Vec::<ArrayRef>::new(), columns);
        let mut takes_part = BooleanBuffer::new_set(rows);
        if self.unit.is_some() {
            let Some((unit, others)) = columns.split_last() else {
                return Err(ArrowError::ComputeError("a row without a unit column".to_owned()));
            };
            // What is nobody's has no part in anything.
            takes_part = arrays::is_not_null(unit.array());
            arrays.push(unit.identity().into_array());
            columns = others;
        }
        let columns: Vec<Column> = columns.iter().map(Column::cut).collect();
        if let Some(filter) = &self.filter {
            takes_part = &takes_part & &filter.holds(&columns, rows);
        }
        let mut all_listed = BooleanBuffer::new_set(rows);
        for key in &self.keys {
            let value = key.value.compute(&columns, rows);
            if let Some(listed) = key.is_listed(&value, rows) {
                all_listed = &all_listed & &listed;
            }
            arrays.push(value.into_array());
        }
        for steps in &self.steps {
            arrays.push(Arc::new(steps.compute(&columns, rows)));
        }
        for values in &self.values {
            let values = values.compute(&columns, rows);
            let halves = values::digests(&self.digest_key, &values, rows);
            arrays.extend(halves.map(|half| Arc::new(half) as ArrayRef));
        }
        if self.unlisted {
            let mark = |row| i64::from(!all_listed.value(row));
            arrays.push(Arc::new(Int64Array::from_iter_values((0..rows).map(mark))));
        } else {
            takes_part = &takes_part & &all_listed;
        }
        let kept = takes_part.count_set_bits();
        if kept < rows {
            let takes_part = BooleanArray::new(takes_part, None);
            for array in &mut arrays {
                *array = filter(&**array, &takes_part)?;
            }
        }
        Ok((arrays, kept))
    }
}

impl KeyOf {
    fn new(key: &Key, columns: &[(String, Type)]) -> Result<Self, LowerError> {
        let listed = key.public.as_ref().map(|values| {
            let (nulls, values): (Vec<_>, Vec<_>) =
                values.iter().cloned().partition(|value| *value == Value::Null);
            (Members::new(key.kind, &values), !nulls.is_empty())
        });
        Ok(Self { value: lower::typed(&key.expr, key.kind, columns)?, listed })
    }

    /// For each row whether its key is one of those that take part; none if all do.
    fn is_listed(&self, value: &Column, rows: usize) -> Option<BooleanBuffer> {
        let (members, null) = self.listed.as_ref()?;
        let among = members.among(value);
        let listed = |row| if among.is_null(row) { *null } else { among.value(row) };
        Some(BooleanBuffer::collect_bool(rows, listed))
    }
}

impl Steps {
    fn compute(&self, columns: &[Column], rows: usize) -> Int64Array {
        match self {
            Self::Present(total, one) => {
                let column = total.compute(columns, rows);
                (0..rows).map(|row| (!column.is_null(row)).then_some(*one)).collect()
            }
            Self::Value(total, step) => match total.compute(columns, rows) {
                Column::Int(array) => array.unary(|value| step.of_int(value)),
                Column::Float(array) => array.unary(|value| step.of_float(value)),
                _ => Int64Array::new_null(rows),
            },
        }
    }
}

/// How many rows with this many texts are computed on at a time, at most `most`.
pub(crate) fn rows_at_a_time(texts: usize, most: usize) -> usize {
    most.min(BATCH / MAX_TEXT / texts.max(1)).max(1)
}

/// What rows add to a sum, if they bring a column of it. Rows themselves, units and different
/// values are counted when they are bounded.
fn steps_of(sum: &Sum, columns: &[(String, Type)]) -> Option<Result<Steps, LowerError>> {
    let lowered = |expr: &Expr| lower::lower(expr, columns);
    match &sum.summand {
        Summand::Rows | Summand::Units | Summand::Distinct { .. } => None,
        Summand::Present(expr) => {
            Some(lowered(expr).map(|(total, _)| Steps::Present(total, sum.one())))
        }
        Summand::Value { expr, low, high, centre } => {
            Some(lowered(expr).and_then(|(total, kind)| {
                if !matches!(kind, None | Some(Type::Int | Type::Float)) {
                    return Err(LowerError::Types("a sum of what is no number".to_owned()));
                }
                let step = GridRounding {
                    exponent: sum.exponent,
                    low: *low,
                    high: *high,
                    centre: *centre,
                };
                Ok(Steps::Value(total, step))
            }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eke_budget::Adjacency;
    use eke_sql::{Column, Protection, Table, plan};

    fn contributions(sql: &str) -> Contributions {
        let column = |name: &str, kind| Column {
            name: name.to_owned(),
            kind: Some(kind),
            bounds: None,
            values: None,
        };
        let table = Table {
            name: "t".to_owned(),
            columns: vec![
                column("who", Type::Int),
                column("note", Type::Text),
                column("zone", Type::Text),
                column("stops", Type::Int),
            ],
            protection: Protection::Private {
                unit: "person".to_owned(),
                unit_column: "who".to_owned(),
                adjacency: Adjacency::AddRemove,
                max_groups: 1,
                max_rows: 1,
                max_values: None,
                max_rows_in_all: None,
            },
        };
        let schema: Vec<_> = table.columns.iter().map(|c| (c.name.clone(), c.kind)).collect();
        let query = plan(sql, &[table]).unwrap();
        let ids = Some(Ids::Value(Type::Int));
        Contributions::new(&query.plan, &schema, ids, &HashKey([7; 32])).unwrap()
    }

    #[test]
    fn rows_at_a_time_have_room_for_their_texts_and_follow_from_the_plan() {
        let rows = |sql: &str| contributions(sql).rows_at_a_time(8_192);
        assert_eq!(rows("SELECT COUNT(*) FROM t WHERE stops > 3"), 8_192);
        assert_eq!(rows("SELECT COUNT(*) FROM t GROUP BY note"), 8_192);
        assert_eq!(rows("SELECT COUNT(*) FROM t GROUP BY note || zone"), 16_384 / 3);
        assert_eq!(rows("SELECT COUNT(DISTINCT note || zone) FROM t"), 16_384 / 3);
        let many = (0..60).map(|i| format!("WHEN stops = {i} THEN trim(note) || zone"));
        let many = many.collect::<Vec<_>>().join(" ");
        let sql = format!("SELECT COUNT(*) FROM t GROUP BY CASE {many} END");
        assert_eq!(rows(&sql), 16_384 / 122);
        assert_eq!(contributions(&sql).rows_at_a_time(1), 1);
    }

    /// How many texts are gone through does not depend on which rows take part.
    #[test]
    fn all_parts_are_computed_for_all_rows() {
        const ROWS: usize = 200;
        let long = "upper(note) LIKE '%a%b%c' OR lower(note) LIKE '%x%y%z'";
        let sql = format!("SELECT COUNT(*) FROM t WHERE stops = 1 GROUP BY {long}");
        let contributions = contributions(&sql);
        let constant = |value: Value| crate::rows::column::Column::constant(&value, ROWS).unwrap();
        let matched = |stops: i64, text: &str| {
            let columns: Vec<_> =
                [Value::Text(text.into()), Value::Int(stops), Value::Int(7)].map(constant).into();
            let before = crate::rows::column::expr::MATCHED.get();
            let (_, kept) = contributions.of(&columns, ROWS).unwrap();
            assert_eq!(kept, if stops == 1 { ROWS } else { 0 });
            crate::rows::column::expr::MATCHED.get() - before
        };
        for (stops, text) in [(1, "abc"), (1, "xyz"), (0, "abc"), (0, "")] {
            assert_eq!(matched(stops, text), 2 * ROWS, "{stops} {text}");
        }
    }
}
