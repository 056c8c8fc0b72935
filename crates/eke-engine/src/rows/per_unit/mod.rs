//! One row a person first: what happens to rows before anything is bounded.
//!
//! Subqueries that group by the unit, and the sides of joins on the unit, bring the rows of each
//! unit together. Rows come in as they are read, in any order and from any worker, and each adds to
//! the totals of its unit. Totals are exact and merge, so nothing that comes out depends on how the
//! work was shared out; what does not fit into memory goes to disk by shards of units. Then the rows
//! of each shard go on, through joins and further such subqueries, to where they are bounded like
//! any others.

pub(crate) mod exact_sum;
pub(crate) mod meet;
pub(crate) mod table;
pub(crate) mod total;

use std::collections::{BTreeMap, BTreeSet};
use std::hash::BuildHasher as _;
use std::sync::Arc;

use arrow_buffer::BooleanBuffer;
use eke_sql::scalar::Datum;
use eke_sql::{Expr, PerUnit, Plan, RowSource, TotalFunction, Type, UnitKey, UnitRows, UnitTotal};

use crate::data::ids::Ids;
use crate::rows::RowsError;
use crate::rows::column::encoding::{self, Builder};
use crate::rows::column::expr::ColumnExpr;
use crate::rows::column::lower::{self, LowerError};
use crate::rows::column::{Column, arrays};
use crate::rows::fan_out::fan_out;
use crate::rows::lookup::{Join, PublicRows};
use crate::rows::pass::bounding::HashKey;
use crate::rows::pass::names::TableHash;
use crate::rows::pass::order;
use crate::rows::per_unit::meet::MeetStep;
use crate::rows::per_unit::table::{Shape, UnitTable};
use crate::rows::per_unit::total::TotalOf;
use crate::rows::scan::Wanted;
use crate::rows::steps::{RowStep, Select};

type Schema = [(String, Option<Type>)];

/// A dataset that is read.
pub(crate) struct Input<'i> {
    pub(crate) dataset: &'i str,
    pub(crate) schema: &'i Schema,
    /// The column that says whose rows are whose, and what its ids are read as; none if each row is
    /// a unit.
    pub(crate) unit: Option<(&'i str, &'i Ids)>,
}

/// What happens to rows before they are bounded. A tree, whose parts stand after those that their
/// rows come from.
pub(crate) struct Stages {
    /// What is read of each dataset.
    pub(crate) inputs: Vec<Wanted>,
    /// Where the rows of each unit are brought together: subqueries of a plan that group by the
    /// unit, and sides of joins.
    pub(crate) stages: Vec<Stage>,
    /// Where rows of two stages meet.
    pub(crate) meets: Vec<MeetStep>,
    /// The rows that are bounded.
    pub(crate) flows: Vec<Flow>,
    /// Their columns.
    pub(crate) columns: Vec<(String, Type)>,
    /// The column of their unit.
    unit: Option<(String, Type)>,
}

/// Rows on their way.
#[derive(Clone)]
pub(crate) struct Flow {
    pub(crate) from: Origin,
    /// What happens to each of them.
    pub(crate) steps: Vec<Arc<RowStep>>,
}

/// Where rows come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A dataset.
    Input(usize),
    /// A stage.
    Stage(usize),
    /// Two stages whose rows meet.
    Meet(usize),
}

/// Where the rows of each unit are brought together: what is computed of each row that comes in.
pub(crate) struct Stage {
    /// The rows that come in.
    pub(crate) flows: Vec<Flow>,
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

/// Stages on the way to being all of a plan's.
struct Building<'b> {
    inputs: &'b [Input<'b>],
    /// The columns that are read of each dataset.
    read: Vec<Vec<(String, Type)>>,
    public: std::slice::Iter<'b, PublicRows>,
    /// The type of the unit, which all datasets have.
    kind: Type,
    /// How many rows one row becomes in joins with public tables.
    fan_out: usize,
    stages: Vec<Stage>,
    meets: Vec<MeetStep>,
}

/// Rows of a source, and their columns.
type Rows = (Vec<Flow>, Vec<(String, Type)>);

impl Stages {
    /// What a plan does with rows of these datasets, and with those of public tables, before they
    /// are bounded; none if it is nothing.
    pub(crate) fn new(
        plan: &Plan,
        inputs: &[Input<'_>],
        public: &[PublicRows],
    ) -> Result<Option<Self>, LowerError> {
        let Some(rows) = plan.rows.as_ref().filter(|rows| !matches!(rows, RowSource::Dataset(_)))
        else {
            return Ok(None);
        };
        let Some(ids) = inputs.first().and_then(|input| input.unit).map(|(_, ids)| ids) else {
            return Ok(None);
        };
        let is_same =
            |input: &Input<'_>| input.unit.is_some_and(|(_, other)| other.agree_with(ids));
        if !inputs.iter().all(is_same) {
            return Err(LowerError::Types("ids of units".to_owned()));
        }
        let mut used = BTreeMap::new();
        columns_used(rows, plan.exprs().flat_map(Expr::columns).collect(), &mut used);
        let read = inputs.iter().map(|input| {
            let used = used.get(input.dataset);
            let is_used = |name: &str| used.is_some_and(|used| used.contains(name));
            let columns = input.schema.iter().filter(|(name, _)| is_used(name));
            columns.filter_map(|(name, kind)| Some((name.clone(), (*kind)?))).collect()
        });
        let read: Vec<Vec<(String, Type)>> = read.collect();
        let wanted = inputs.iter().zip(&read).map(|(input, columns)| Wanted {
            columns: columns.clone(),
            unit: input.unit.map(|(column, ids)| (column.to_owned(), ids.clone())),
        });
        let wanted = wanted.collect();
        let fan_out = fan_out(plan, public)?;
        let (kind, public) = (ids.kind(), public.iter());
        let (stages, meets) = (Vec::new(), Vec::new());
        let mut building = Building { inputs, read, public, kind, fan_out, stages, meets };
        let (flows, columns) = building.rows(rows, &plan.unit_column)?;
        let Building { stages, meets, .. } = building;
        let unit = Some((plan.unit_column.clone(), kind));
        Ok(Some(Self { inputs: wanted, stages, meets, flows, columns, unit }))
    }

    /// Nothing happens to rows that are read like this.
    pub(crate) fn nothing(wanted: &Wanted) -> Self {
        let (inputs, columns) = (vec![wanted.clone()], wanted.columns.clone());
        let flows = vec![Flow { from: Origin::Input(0), steps: Vec::new() }];
        let unit = wanted.unit.as_ref().map(|(unit, ids)| (unit.clone(), ids.kind()));
        Self { inputs, stages: Vec::new(), meets: Vec::new(), flows, columns, unit }
    }

    /// The columns of the rows that are bounded, as a dataset has them.
    pub(crate) fn schema(&self) -> Vec<(String, Option<Type>)> {
        let columns = self.columns.iter().map(|(name, kind)| (name.clone(), Some(*kind)));
        let mut schema: Vec<_> = columns.collect();
        if let Some((unit, kind)) = &self.unit
            && !schema.iter().any(|(name, _)| name == unit)
        {
            schema.push((unit.clone(), Some(*kind)));
        }
        schema
    }

    /// How many texts are computed for each row, at most.
    pub(crate) fn texts(&self) -> usize {
        let is_text = |(_, kind): &&(String, Type)| *kind == Type::Text;
        let read = self.inputs.iter().map(|wanted| wanted.columns.iter().filter(is_text).count());
        let flows = self.flows.iter().map(Flow::texts);
        let stages = self.stages.iter().map(Stage::texts).chain(flows);
        read.max().unwrap_or(0)
            + stages.chain(self.meets.iter().map(MeetStep::texts)).max().unwrap_or(0)
    }
}

impl Flow {
    fn of(from: Origin) -> Self {
        Self { from, steps: Vec::new() }
    }

    fn texts(&self) -> usize {
        self.steps.iter().map(|step| step.texts()).sum()
    }
}

/// The columns that are read of each dataset: all that is used until rows are brought together.
fn columns_used<'p>(
    rows: &'p RowSource,
    used: BTreeSet<&'p str>,
    found: &mut BTreeMap<&'p str, BTreeSet<&'p str>>,
) {
    let side = |side: &'p UnitRows| side.exprs().flat_map(Expr::columns).collect();
    match rows {
        RowSource::Dataset(name) => found.entry(name).or_default().extend(used),
        RowSource::PerUnit(level) => {
            columns_used(&level.of, level.exprs().flat_map(Expr::columns).collect(), found);
        }
        RowSource::Lookup(lookup) => {
            let own = lookup.exprs().flat_map(Expr::columns);
            columns_used(&lookup.of, own.chain(used).collect(), found);
        }
        RowSource::Meet(meet) => {
            columns_used(&meet.left.of, side(&meet.left), found);
            columns_used(&meet.right.of, side(&meet.right), found);
        }
        RowSource::Union(union) => {
            for branch in &union.branches {
                columns_used(&branch.of, side(branch), found);
            }
        }
    }
}

impl Building<'_> {
    /// The rows of a source, whose unit is this column.
    fn rows(&mut self, source: &RowSource, unit: &str) -> Result<Rows, LowerError> {
        match source {
            RowSource::Dataset(name) => {
                let place = self.inputs.iter().position(|input| input.dataset == name);
                let place = place.ok_or_else(|| LowerError::NoColumn(name.clone()))?;
                if self.inputs[place].unit.is_none_or(|(column, _)| column != unit) {
                    return Err(LowerError::NoColumn(unit.to_owned()));
                }
                Ok((vec![Flow::of(Origin::Input(place))], self.read[place].clone()))
            }
            RowSource::Lookup(lookup) => {
                let (mut flows, mut columns) = self.rows(&lookup.of, unit)?;
                let table = self.public.next().filter(|public| public.is_of(lookup));
                let table = table.ok_or_else(|| LowerError::NoColumn(lookup.table.clone()))?;
                let join = Arc::new(RowStep::Join(Join::new(lookup, table, &mut columns)?));
                flows.iter_mut().for_each(|flow| flow.steps.push(Arc::clone(&join)));
                Ok((flows, columns))
            }
            RowSource::PerUnit(level) => {
                let (flows, columns) = self.rows(&level.of, unit)?;
                let together = Together {
                    filter: level.filter.as_ref(),
                    keys: &level.keys,
                    totals: &level.totals,
                    most_values: level.most_values(),
                };
                let (place, columns) = self.stage(&together, flows, &columns)?;
                Ok((vec![Flow::of(Origin::Stage(place))], columns))
            }
            RowSource::Meet(meet) => {
                let sides = [self.side(&meet.left)?, self.side(&meet.right)?];
                let (step, columns) = MeetStep::new(meet, sides, self.kind, self.fan_out)?;
                self.meets.push(step);
                Ok((vec![Flow::of(Origin::Meet(self.meets.len() - 1))], columns))
            }
            RowSource::Union(union) => {
                let (mut all, mut columns) = (Vec::new(), Vec::new());
                for branch in &union.branches {
                    let (mut flows, of_branch) = self.rows(&branch.of, &branch.unit)?;
                    let select = Arc::new(RowStep::Select(Select::new(branch, &of_branch)?));
                    flows.iter_mut().for_each(|flow| flow.steps.push(Arc::clone(&select)));
                    all.extend(flows);
                    let own =
                        branch.columns.iter().map(|column| (column.name.clone(), column.kind));
                    columns = own.collect();
                }
                Ok((all, columns))
            }
        }
    }

    /// The stage that brings together the rows of a side: all that is used of them, and how often
    /// each is there.
    fn side(&mut self, side: &UnitRows) -> Result<usize, LowerError> {
        let (flows, columns) = self.rows(&side.of, &side.unit)?;
        let (function, kind) = (TotalFunction::Count, Type::Int);
        let totals = [UnitTotal { name: String::new(), function, expr: None, kind }];
        let together = Together {
            filter: side.filter.as_ref(),
            keys: &side.columns,
            totals: &totals,
            most_values: 1,
        };
        Ok(self.stage(&together, flows, &columns)?.0)
    }

    fn stage(
        &mut self,
        together: &Together<'_>,
        flows: Vec<Flow>,
        columns: &[(String, Type)],
    ) -> Result<(usize, Vec<(String, Type)>), LowerError> {
        let stage = Stage::new(together, columns, self.kind, flows)?;
        let columns = stage.columns.clone();
        self.stages.push(stage);
        Ok((self.stages.len() - 1, columns))
    }
}

/// What rows of a unit are brought together by, and to what.
struct Together<'t> {
    filter: Option<&'t Expr>,
    keys: &'t [UnitKey],
    totals: &'t [UnitTotal],
    most_values: usize,
}

impl Stage {
    fn new(
        of: &Together<'_>,
        columns: &[(String, Type)],
        unit: Type,
        flows: Vec<Flow>,
    ) -> Result<Self, LowerError> {
        let filter = of.filter.map(|filter| lower::condition(filter, columns));
        let keys = of.keys.iter().map(|key| {
            Ok::<_, LowerError>((lower::typed(&key.expr, key.kind, columns)?, key.kind))
        });
        let value = |expr: &Option<Expr>, kind| match expr {
            Some(expr) => lower::typed(expr, kind, columns).map(Some),
            None => Ok(None),
        };
        let values = of.totals.iter().map(|total| value(&total.expr, total.kind));
        let most_values = of.most_values;
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
            flows,
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
        let values = values.chain(self.flows.iter().map(Flow::texts));
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
