//! One row a person first: subqueries that group by the unit, before anything is bounded.
//!
//! Rows come in as they are read, in any order and from any worker, and each adds to the totals of
//! its unit. Totals are exact and merge, so nothing that comes out depends on how the work was
//! shared out; what does not fit into memory goes to disk by shards of units. Then the rows of each
//! shard go on, through joins and further such subqueries, to where they are bounded like any
//! others.

pub(crate) mod exact_sum;
pub(crate) mod table;
pub(crate) mod total;

use std::hash::BuildHasher as _;
use std::sync::Arc;

use arrow_buffer::BooleanBuffer;
use eke_sql::scalar::Datum;
use eke_sql::{Expr, Lookup, PerUnit, Plan, RowSource, Type};

use crate::data::ids::Ids;
use crate::rows::RowsError;
use crate::rows::column::encoding::{self, Builder};
use crate::rows::column::expr::ColumnExpr;
use crate::rows::column::lower::{self, LowerError};
use crate::rows::column::{Column, arrays};
use crate::rows::lookup::{Join, PublicRows};
use crate::rows::pass::bounding::HashKey;
use crate::rows::pass::names::TableHash;
use crate::rows::pass::order;
use crate::rows::per_unit::table::{Shape, UnitTable};
use crate::rows::per_unit::total::TotalOf;
use crate::rows::scan::Wanted;

type Schema = [(String, Option<Type>)];

/// What happens to rows before they are bounded.
pub(crate) struct Stages {
    /// The subqueries of a plan that group by the unit, the innermost first.
    pub(crate) stages: Vec<Stage>,
    /// Joins of the rows that come out of them, or of those that are read if there are none.
    pub(crate) joins: Vec<Join>,
    /// What is read of rows.
    pub(crate) wanted: Wanted,
    /// The columns of the rows that are bounded.
    pub(crate) columns: Vec<(String, Type)>,
}

/// One of them: what it computes of each row that comes in.
pub(crate) struct Stage {
    /// Joins of the rows that come in.
    pub(crate) joins: Vec<Join>,
    filter: Option<ColumnExpr>,
    keys: Vec<(ColumnExpr, Type)>,
    /// What totals are of; none for rows themselves.
    values: Vec<Option<ColumnExpr>>,
    pub(crate) shape: Arc<Shape>,
    /// The columns of rows that come out: keys, and then totals.
    columns: Vec<(String, Type)>,
    /// The type of the unit.
    unit: Type,
}

/// Adds a row to a unit, with the values that totals are of; none if there are more units than can
/// be numbered.
pub(crate) type AddToUnit<'a> = dyn for<'v> FnMut(UnitEntry<'v>, &mut dyn Iterator<Item = Option<Datum<'v>>>) -> Option<()>
    + 'a;

/// A row on its way into a table.
pub(crate) struct UnitEntry<'a> {
    pub(crate) hash: u64,
    pub(crate) unit: &'a [u8],
    pub(crate) order: u64,
    pub(crate) keys: &'a [u8],
}

/// A step from the rows of a dataset to those that are bounded.
enum Step<'p> {
    Join(&'p Lookup),
    PerUnit(&'p PerUnit),
}

impl Stages {
    /// What a plan does with rows of these columns, and with those of public tables, before they
    /// are bounded; none if it is nothing.
    pub(crate) fn new(
        plan: &Plan,
        schema: &Schema,
        ids: Option<Ids>,
        public: &[PublicRows],
    ) -> Result<Option<Self>, LowerError> {
        let (mut steps, mut next) = (Vec::new(), plan.rows.as_ref());
        while let Some(rows) = next {
            next = match rows {
                RowSource::Dataset(_) => None,
                RowSource::PerUnit(level) => {
                    steps.push(Step::PerUnit(level));
                    Some(&level.of)
                }
                RowSource::Lookup(lookup) => {
                    steps.push(Step::Join(lookup));
                    Some(&lookup.of)
                }
            };
        }
        steps.reverse();
        let Some(ids) = ids.filter(|_| !steps.is_empty()) else { return Ok(None) };
        let used = used(&steps, plan);
        let columns = schema.iter().filter(|(name, _)| used.contains(&name.as_str()));
        let mut columns: Vec<(String, Type)> =
            columns.filter_map(|(name, kind)| Some((name.clone(), (*kind)?))).collect();
        let unit = Some((plan.unit_column.clone(), ids));
        let wanted = Wanted { columns: columns.clone(), unit };
        let (mut stages, mut joins, mut public) = (Vec::new(), Vec::new(), public.iter());
        for step in steps {
            match step {
                Step::Join(lookup) => {
                    let table = public.next().filter(|public| public.is_of(lookup));
                    let table = table.ok_or_else(|| LowerError::NoColumn(lookup.table.clone()))?;
                    joins.push(Join::new(lookup, table, &mut columns)?);
                }
                Step::PerUnit(level) => {
                    let joins = std::mem::take(&mut joins);
                    let stage = Stage::new(level, &columns, ids.kind(), joins)?;
                    columns.clone_from(&stage.columns);
                    stages.push(stage);
                }
            }
        }
        Ok(Some(Self { stages, joins, wanted, columns }))
    }

    /// Nothing happens to rows that are read like this.
    pub(crate) fn nothing(wanted: &Wanted) -> Self {
        let (wanted, columns) = (wanted.clone(), wanted.columns.clone());
        Self { stages: Vec::new(), joins: Vec::new(), wanted, columns }
    }

    /// The columns of the rows that are bounded, as a dataset has them.
    pub(crate) fn schema(&self) -> Vec<(String, Option<Type>)> {
        let columns = self.columns.iter().map(|(name, kind)| (name.clone(), Some(*kind)));
        let mut schema: Vec<_> = columns.collect();
        if let Some((unit, ids)) = &self.wanted.unit
            && !schema.iter().any(|(name, _)| name == unit)
        {
            schema.push((unit.clone(), Some(ids.kind())));
        }
        schema
    }

    /// How many texts are computed for each row, at most.
    pub(crate) fn texts(&self) -> usize {
        let read = self.wanted.columns.iter().filter(|(_, kind)| *kind == Type::Text).count();
        let joins = self.joins.iter().map(Join::texts).sum::<usize>();
        read + self.stages.iter().map(Stage::texts).chain([joins]).max().unwrap_or(0)
    }
}

/// The columns that are read of rows: all that is used until rows are brought together.
fn used<'p>(steps: &[Step<'p>], plan: &'p Plan) -> Vec<&'p str> {
    let mut used: Vec<&str> = Vec::new();
    for step in steps {
        match step {
            Step::Join(lookup) => used.extend(lookup.exprs().flat_map(Expr::columns)),
            Step::PerUnit(level) => {
                used.extend(level.exprs().flat_map(Expr::columns));
                return used;
            }
        }
    }
    used.extend(plan.exprs().flat_map(Expr::columns));
    used
}

impl Stage {
    fn new(
        of: &PerUnit,
        columns: &[(String, Type)],
        unit: Type,
        joins: Vec<Join>,
    ) -> Result<Self, LowerError> {
        let filter = of.filter.as_ref().map(|filter| lower::condition(filter, columns));
        let keys = of.keys.iter().map(|key| {
            Ok::<_, LowerError>((lower::typed(&key.expr, key.kind, columns)?, key.kind))
        });
        let value = |expr: &Option<Expr>, kind| match expr {
            Some(expr) => lower::typed(expr, kind, columns).map(Some),
            None => Ok(None),
        };
        let values = of.totals.iter().map(|total| value(&total.expr, total.kind));
        let most_values = of.most_values();
        let totals = of.totals.iter().map(|total| TotalOf {
            function: total.function,
            kind: total.kind,
            most_values,
        });
        let most_rows = if of.keys.is_empty() { 1 } else { PerUnit::MOST_ROWS };
        let shape = Arc::new(Shape { totals: totals.collect(), most_rows });
        let names = of.keys.iter().map(|key| (key.name.clone(), key.kind));
        let names = names.chain(of.totals.iter().map(|total| (total.name.clone(), total.result())));
        Ok(Self {
            joins,
            filter: filter.transpose()?,
            keys: keys.collect::<Result<_, _>>()?,
            values: values.collect::<Result<_, _>>()?,
            shape,
            columns: names.collect(),
            unit,
        })
    }

    fn texts(&self) -> usize {
        let keys = self.keys.iter().map(|(key, _)| key.texts());
        let values = self.values.iter().flatten().map(ColumnExpr::texts);
        let values = values.chain(self.joins.iter().map(Join::texts));
        self.filter.as_ref().map_or(0, ColumnExpr::texts) + keys.chain(values).sum::<usize>()
    }

    /// Shows what rows bring: whose they are, their keys and the values that totals are of. All of
    /// it is computed for every row, also for those that take no part.
    pub(crate) fn take_in(
        &self,
        (columns, rows): (&[Column], usize),
        hash_key: &HashKey,
        hash: &TableHash,
        add: &mut AddToUnit<'_>,
    ) -> Result<(), RowsError> {
        let Some((unit, columns)) = columns.split_last() else {
            return Err(RowsError::failed("a row without a unit column"));
        };
        let mut takes_part: BooleanBuffer = arrays::is_not_null(unit.array());
        let unit = unit.identity();
        let columns: Vec<Column> = columns.iter().map(Column::cut).collect();
        if let Some(filter) = &self.filter {
            takes_part = &takes_part & &filter.holds(&columns, rows);
        }
        let keys: Vec<Column> =
            self.keys.iter().map(|(key, _)| key.compute(&columns, rows)).collect();
        let values: Vec<Option<Column>> = self
            .values
            .iter()
            .map(|value| value.as_ref().map(|value| value.compute(&columns, rows)))
            .collect();
        // Of each row that takes part its keys and then its unit, one after the other.
        let (mut names, mut ends) = (Vec::new(), Vec::new());
        for row in takes_part.set_indices() {
            keys.iter().for_each(|key| encoding::push(key, row, &mut names));
            let middle = names.len();
            encoding::push(&unit, row, &mut names);
            ends.push((row, middle, names.len()));
        }
        let slices = || {
            let mut start = 0;
            ends.iter().map(move |&(row, middle, end)| {
                let from = std::mem::replace(&mut start, end);
                (row, from, middle, end)
            })
        };
        let mut orders = Vec::new();
        if !self.keys.is_empty() {
            let whole = slices().map(|(_, from, _, end)| &names[from..end]);
            order::first_halves(hash_key, whole, &mut orders);
        }
        for (place, (row, from, middle, end)) in slices().enumerate() {
            let (keys, unit) = (&names[from..middle], &names[middle..end]);
            let order = orders.get(place).copied().unwrap_or(0);
            let entry = UnitEntry { hash: hash.hash_one(unit), unit, order, keys };
            let mut of_row = values.iter().map(|value| match value {
                Some(column) => column.datum(row),
                None => Some(Datum::Bool(true)),
            });
            let added = add(entry, &mut of_row);
            added.ok_or_else(|| RowsError::failed("more units than can be numbered"))?;
        }
        Ok(())
    }

    /// Hands on the rows that come out, some at a time: their columns, and then the unit.
    pub(crate) fn hand_on(
        &self,
        table: &UnitTable,
        batch_rows: usize,
        mut take: impl FnMut((Vec<Column>, usize)) -> Result<(), RowsError>,
    ) -> Result<(), RowsError> {
        let damaged = || RowsError::failed("rows of a unit are not as they were");
        let mut batch = Outgoing::new(self, batch_rows);
        let mut bytes = Vec::new();
        table.each(|unit, keys, totals| {
            bytes.clear();
            bytes.extend_from_slice(keys);
            for (of, total) in self.shape.totals.iter().zip(totals) {
                encoding::push_value(&of.value(total), &mut bytes);
            }
            batch.add(&bytes, unit).ok_or_else(damaged)?;
            if batch.rows == batch_rows {
                let full = std::mem::replace(&mut batch, Outgoing::new(self, batch_rows));
                take(full.finish().ok_or_else(damaged)?)?;
            }
            Ok::<_, RowsError>(())
        })?;
        if batch.rows > 0 {
            take(batch.finish().ok_or_else(damaged)?)?;
        }
        Ok(())
    }
}

/// Rows that come out of a stage.
struct Outgoing {
    /// All columns, and then the unit.
    builders: Vec<(Builder, Type)>,
    rows: usize,
}

impl Outgoing {
    fn new(stage: &Stage, rows: usize) -> Self {
        let kinds = stage.columns.iter().map(|(_, kind)| *kind).chain([stage.unit]);
        Self { builders: kinds.map(|kind| (Builder::new(kind, rows), kind)).collect(), rows: 0 }
    }

    fn add(&mut self, mut values: &[u8], mut unit: &[u8]) -> Option<()> {
        let (last, others) = self.builders.split_last_mut()?;
        others.iter_mut().try_for_each(|(builder, _)| builder.take(&mut values))?;
        last.0.take(&mut unit)?;
        self.rows += 1;
        Some(())
    }

    fn finish(self) -> Option<(Vec<Column>, usize)> {
        let columns = self.builders.into_iter();
        let columns = columns.map(|(builder, kind)| Column::read(&builder.finish(), kind));
        Some((columns.collect::<Option<_>>()?, self.rows))
    }
}
