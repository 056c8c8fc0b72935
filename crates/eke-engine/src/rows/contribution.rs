//! Contributions: what each row of a dataset brings to a plan, before anything is bounded.
//!
//! A row that takes part has a unit, the keys of its group, and a number of steps for each sum that
//! depends on its values. All of it is computed from that row alone, and for every row, also for
//! those that take no part: the work that a row takes does not tell whether it takes part. Texts
//! that rows bring in end after [`MAX_TEXT`] bytes, but for the unit's, which is read exactly.

use std::collections::BTreeSet;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, BooleanArray, Int64Array};
use arrow_buffer::BooleanBuffer;
use arrow_schema::ArrowError;
use arrow_select::filter::filter;
use eke_sql::{Expr, Key, MAX_TEXT, Plan, Sum, Summand, Type, Value};

use crate::data::ids::Ids;
use crate::rows::column::Column;
use crate::rows::column::expr::{ColumnExpr, Members};
use crate::rows::column::grid_rounding::GridRounding;
use crate::rows::column::listed::{AnyColumn, ListNames, Made, Naming};
use crate::rows::column::lower::{self, LowerError};
use crate::rows::column::parts::{Parts, PartsMade};
use crate::rows::pass::bounding::{BatchRows, HashKey};
use crate::rows::pass::cells;
use crate::rows::pass::values;
use crate::rows::scan::Wanted;

/// How many bytes of text a batch may have, with all that is computed from it.
const BATCH: usize = 64 << 20;
/// How many values of a list are computed on at a time at most.
const LIST_ROWS: usize = 8_192;

/// What is computed for each row.
pub(crate) struct Contributions {
    /// What it is computed from: the columns of expressions, and then the unit.
    wanted: Wanted,
    /// Which rows take part, if they are somebody's and their keys do.
    filter: Option<Parts>,
    /// The type of the unit; none if each row is one.
    unit: Option<Type>,
    keys: Vec<KeyOf>,
    steps: Vec<Steps>,
    /// What different values are counted of.
    values: Vec<Parts>,
    /// What is searched in, and the grid of each search.
    cells: Vec<(Parts, GridRounding)>,
    /// What their digests are made with.
    digest_key: HashKey,
    /// Whether rows whose keys are not listed come along, marked.
    unlisted: bool,
    /// How many texts are held for each row while all of it is computed, at most.
    texts: usize,
}

/// What one worker has computed last on lists of values: those of the next batch are the same.
#[derive(Default)]
pub(crate) struct ListsMade {
    filter: PartsMade,
    ids: Made<Column>,
    unit: Made<ListNames>,
    keys: Vec<KeyMade>,
    steps: Vec<PartsMade>,
    values: Vec<PartsMade>,
    cells: Vec<PartsMade>,
}

#[derive(Default)]
struct KeyMade {
    value: PartsMade,
    /// Which take part.
    listed: Made<BooleanBuffer>,
    names: Made<ListNames>,
}

/// A key of a row.
struct KeyOf {
    value: Parts,
    /// Those that take part, if only some do, and whether NULL does.
    listed: Option<(Members, bool)>,
}

/// What a row adds to a sum that depends on its values.
enum Steps {
    Present(Parts, i64),
    Value(Parts, GridRounding),
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
        let filter = plan.filter.as_ref().map(|filter| lower::condition(filter, &columns));
        let filter = filter.transpose()?;
        let keys = plan.keys.iter().map(|key| lower::typed(&key.expr, key.kind, &columns));
        let keys = keys.collect::<Result<Vec<_>, _>>()?;
        let steps = plan.sums.iter().filter_map(|sum| steps_of(sum, &columns));
        let steps = steps.collect::<Result<Vec<_>, _>>()?;
        let values = plan.sums.iter().filter_map(|sum| match &sum.summand {
            Summand::Distinct { expr, kind, .. } => Some(lower::typed(expr, *kind, &columns)),
            _ => None,
        });
        let values = values.collect::<Result<Vec<_>, _>>()?;
        let cells = plan.sums.iter().filter_map(|sum| cells_of(sum, &columns));
        let cells = cells.collect::<Result<Vec<_>, _>>()?;
        let computed = filter.iter().chain(&keys).chain(steps.iter().map(|(expr, _)| expr));
        let texts = columns.iter().filter(|(_, kind)| *kind == Type::Text).count()
            + computed
                .chain(&values)
                .chain(cells.iter().map(|(expr, _)| expr))
                .map(ColumnExpr::texts)
                .sum::<usize>();
        let parts = |expr| Parts::new(expr, &columns, rows_at_a_time(texts, LIST_ROWS));
        let filter = filter.map(parts);
        let keys = plan.keys.iter().zip(keys).map(|(key, expr)| KeyOf::new(key, parts(expr)));
        let keys = keys.collect();
        let steps = steps.into_iter().map(|(expr, step)| step(parts(expr))).collect();
        let values = values.into_iter().map(parts).collect();
        let cells = cells.into_iter().map(|(expr, grid)| (parts(expr), grid)).collect();
        let digest_key = values::digest_key(hash_key);
        let wanted = Wanted { columns, unit: ids.map(|ids| (plan.unit_column.clone(), ids)) };
        let unlisted = false;
        Ok(Self { wanted, filter, unit, keys, steps, values, cells, digest_key, unlisted, texts })
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
        rows_at_a_time(self.texts, most)
    }

    /// What these rows bring: a mark for those whose keys are not listed comes last among the steps,
    /// if these come along. Rows that take no part are gone.
    pub(crate) fn of(
        &self,
        columns: &[AnyColumn],
        rows: usize,
        made: &mut ListsMade,
    ) -> Result<BatchRows, ArrowError> {
        made.keys.resize_with(self.keys.len(), KeyMade::default);
        made.steps.resize_with(self.steps.len(), PartsMade::default);
        made.values.resize_with(self.values.len(), PartsMade::default);
        made.cells.resize_with(self.cells.len(), PartsMade::default);
        let (mut unit, mut columns) = (None, columns);
        let mut takes_part = BooleanBuffer::new_set(rows);
        if self.unit.is_some() {
            let Some((ids, others)) = columns.split_last() else {
                return Err(ArrowError::ComputeError("a row without a unit column".to_owned()));
            };
            // What is nobody's has no part in anything.
            takes_part = ids.is_not_null();
            unit = Some(ids.identity(&mut made.ids));
            columns = others;
        }
        let columns: Vec<AnyColumn> = columns.iter().map(AnyColumn::cut).collect();
        if let Some(filter) = &self.filter {
            takes_part = &takes_part & &filter.holds(&columns, rows, &mut made.filter);
        }
        let mut all_listed = BooleanBuffer::new_set(rows);
        let mut keys = Vec::with_capacity(self.keys.len());
        for (key, made) in self.keys.iter().zip(&mut made.keys) {
            let value = key.value.compute(&columns, rows, &mut made.value);
            if let Some(listed) = key.is_listed(&value, &mut made.listed) {
                all_listed = &all_listed & &listed;
            }
            keys.push(value);
        }
        let all = self.steps.iter().zip(&mut made.steps);
        let mut steps: Vec<Int64Array> =
            all.map(|(steps, made)| steps.compute(&columns, rows, made)).collect();
        for (values, made) in self.values.iter().zip(&mut made.values) {
            let values = values.compute(&columns, rows, made).plain();
            steps.extend(values::digests(&self.digest_key, &values, rows));
        }
        for ((values, grid), made) in self.cells.iter().zip(&mut made.cells) {
            steps.push(cells_in(&values.compute(&columns, rows, made).plain(), *grid, rows));
        }
        if self.unlisted {
            let mark = |row| i64::from(!all_listed.value(row));
            steps.push(Int64Array::from_iter_values((0..rows).map(mark)));
        } else {
            takes_part = &takes_part & &all_listed;
        }
        let kept = takes_part.count_set_bits();
        if kept < rows {
            let takes_part = BooleanArray::new(takes_part, None);
            for column in unit.iter_mut().chain(&mut keys) {
                *column = column.filtered(&takes_part)?;
            }
            for steps in &mut steps {
                *steps = filter(steps, &takes_part)?.as_primitive::<Int64Type>().clone();
            }
        }
        let unit = unit.map(|unit| Naming::new(unit, &mut made.unit));
        let keys = keys.into_iter().zip(&mut made.keys);
        let keys = keys.map(|(key, made)| Naming::new(key, &mut made.names)).collect();
        Ok(BatchRows::new(kept, unit, keys, steps))
    }
}

impl KeyOf {
    fn new(key: &Key, value: Parts) -> Self {
        let listed = key.public.as_ref().map(|values| {
            let (nulls, values): (Vec<_>, Vec<_>) =
                values.iter().cloned().partition(|value| *value == Value::Null);
            (Members::new(key.kind, &values), !nulls.is_empty())
        });
        Self { value, listed }
    }

    /// For each row whether its key is one of those that take part; none if all do.
    fn is_listed(
        &self,
        value: &AnyColumn,
        made: &mut Made<BooleanBuffer>,
    ) -> Option<BooleanBuffer> {
        let (members, null) = self.listed.as_ref()?;
        let among = |values: &Column| {
            let among = members.among(values);
            let listed = |row| if among.is_null(row) { *null } else { among.value(row) };
            BooleanBuffer::collect_bool(among.len(), listed)
        };
        Some(match value {
            AnyColumn::Plain(values) => among(values),
            AnyColumn::Listed(values) => values.holds(&made.of(values.list(), among)),
        })
    }
}

impl Steps {
    fn compute(&self, columns: &[AnyColumn], rows: usize, made: &mut PartsMade) -> Int64Array {
        match self {
            Self::Present(total, one) => {
                let present = total.compute(columns, rows, made).is_not_null();
                (0..rows).map(|row| present.value(row).then_some(*one)).collect()
            }
            Self::Value(total, step) => match total.compute(columns, rows, made).plain() {
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

/// What makes steps of an expression.
type MakeSteps = Box<dyn FnOnce(Parts) -> Steps>;

/// What rows add to a sum, if they bring a column of it. Rows themselves, units and different values
/// are counted when they are bounded.
fn steps_of(
    sum: &Sum,
    columns: &[(String, Type)],
) -> Option<Result<(ColumnExpr, MakeSteps), LowerError>> {
    let lowered = |expr: &Expr| lower::lower(expr, columns);
    match &sum.summand {
        Summand::Rows | Summand::Units | Summand::Distinct { .. } | Summand::Ranks { .. } => None,
        Summand::Present(expr) => {
            let one = sum.one();
            let present = move |total| Steps::Present(total, one);
            Some(lowered(expr).map(|(total, _)| (total, Box::new(present) as MakeSteps)))
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
                Ok((total, Box::new(move |total| Steps::Value(total, step)) as MakeSteps))
            }))
        }
    }
}

/// What a sum searches in, and its grid, if it searches.
fn cells_of(
    sum: &Sum,
    columns: &[(String, Type)],
) -> Option<Result<(ColumnExpr, GridRounding), LowerError>> {
    let Summand::Ranks { expr, kind, low, high, grid } = &sum.summand else { return None };
    let grid = GridRounding { exponent: *grid, low: *low, high: *high, centre: *low };
    Some(lower::typed(expr, *kind, columns).map(|expr| (expr, grid)))
}

/// The cells that values are in, as the steps that bring them.
fn cells_in(values: &Column, grid: GridRounding, rows: usize) -> Int64Array {
    let whole = |value: i64| cells::bringing(grid.of_int(value));
    match values {
        Column::Int(array) => array.unary(whole),
        Column::Float(array) => array.unary(|value| cells::bringing(grid.of_float(value))),
        Column::Date(array) => array.unary(|days| whole(i64::from(days))),
        Column::Timestamp(array) => array.unary(whole),
        Column::Bool(_) | Column::Text(_) => Int64Array::new_null(rows),
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
        let constant = |value: Value| {
            AnyColumn::Plain(crate::rows::column::Column::constant(&value, ROWS).unwrap())
        };
        let matched = |stops: i64, text: &str| {
            let columns: Vec<_> =
                [Value::Text(text.into()), Value::Int(stops), Value::Int(7)].map(constant).into();
            let before = crate::rows::column::expr::MATCHED.get();
            let rows = contributions.of(&columns, ROWS, &mut ListsMade::default()).unwrap();
            assert_eq!(rows.len(), if stops == 1 { ROWS } else { 0 });
            crate::rows::column::expr::MATCHED.get() - before
        };
        for (stops, text) in [(1, "abc"), (1, "xyz"), (0, "abc"), (0, "")] {
            assert_eq!(matched(stops, text), 2 * ROWS, "{stops} {text}");
        }
    }
}
