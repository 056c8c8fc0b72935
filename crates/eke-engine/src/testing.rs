//! What the tests and benchmarks of this crate need of its inside. No part of the interface.

use std::hash::BuildHasher;
use std::sync::Arc;

use arrow_array::RecordBatch;
use eke_sql::{Expr, Plan, Type, Value};

use crate::data::ids::Ids;
use crate::rows;
use crate::rows::column::Column;
use crate::rows::column::lower::lower;
use crate::rows::contribution::{Contributions, ListsMade};
use crate::rows::pass::bounding::{HashKey, RowNames, RowSteps};
use crate::rows::pass::cells::{CellRuns, CellWeights};
use crate::rows::pass::kept::Kept;
use crate::rows::pass::names::TableHash;
use crate::rows::pass::order;
use crate::rows::pass::shards::Shard;
use crate::rows::pass::totals::Totals;
use crate::rows::pass::values::{HALVES, Values};
use crate::rows::scan;

pub use crate::data::source::{Fingerprint, Source, SourceError};
pub use crate::rows::column::lower::LowerError;
pub use crate::rows::{
    BatchesOf, Bounded, DatasetRows, HeldFor, HeldRows, PublicRows, RowsError, RowsOptions,
    bounded, bounded_in_memory, bounded_in_memory_of, bounded_of,
};
pub use {arrow_array, arrow_schema, parquet};

/// The values of an expression, row by row, and its type.
///
/// # Errors
/// The expression does not fit the columns.
pub fn compute(
    expr: &Expr,
    columns: &[(String, Type)],
    rows: &[Vec<Value>],
) -> Result<(Vec<Value>, Option<Type>), LowerError> {
    let (total, kind) = lower(expr, columns)?;
    let arrays: Vec<Column> = columns
        .iter()
        .enumerate()
        .map(|(index, (_, kind))| {
            let array = column_of(*kind, rows.iter().map(|row| &row[index]));
            Column::read(&array, *kind).expect("a column of this type").cut()
        })
        .collect();
    let column = total.compute(&arrays, rows.len());
    Ok(((0..rows.len()).map(|row| column.value(row)).collect(), kind))
}

/// Values as an Arrow array; those of another type are NULL.
pub fn column_of<'a>(
    kind: Type,
    values: impl IntoIterator<Item = &'a Value>,
) -> arrow_array::ArrayRef {
    column(kind, values).into_array()
}

fn column<'a>(kind: Type, values: impl IntoIterator<Item = &'a Value>) -> Column {
    let values = values.into_iter();
    match kind {
        Type::Bool => Column::Bool(
            values.map(|v| if let Value::Bool(v) = v { Some(*v) } else { None }).collect(),
        ),
        Type::Int => Column::Int(
            values.map(|v| if let Value::Int(v) = v { Some(*v) } else { None }).collect(),
        ),
        Type::Float => Column::Float(
            values.map(|v| if let Value::Float(v) = v { Some(*v) } else { None }).collect(),
        ),
        Type::Text => Column::Text(
            values.map(|v| if let Value::Text(v) = v { Some(v) } else { None }).collect(),
        ),
        Type::Date => Column::Date(
            values.map(|v| if let Value::Date(v) = v { Some(*v) } else { None }).collect(),
        ),
        Type::Timestamp => Column::Timestamp(
            values.map(|v| if let Value::Timestamp(v) = v { Some(*v) } else { None }).collect(),
        ),
    }
}

/// What a plan looks up in public tables whose rows are in memory.
///
/// # Panics
/// The rows are not those of the plan.
#[must_use]
pub fn looked_up(plan: &Plan, rows: &dyn Fn(&str) -> RecordBatch) -> Vec<PublicRows> {
    let lookups = rows::lookup::lookups(plan.rows.as_ref());
    let read = |lookup: &eke_sql::Lookup| {
        if lookup.is_inline() {
            return PublicRows::inline(lookup).expect("values");
        }
        let pieces = vec![scan::Piece::Batches(vec![rows(&lookup.table)])];
        PublicRows::of(&lookup.table, pieces, &PublicRows::wanted(lookup)).expect("public rows")
    };
    lookups.into_iter().map(read).collect()
}

/// As [`bounded_in_memory`], but without workers: tables of units, driven by hand. Each piece is a
/// part that gives up what it holds now and then, which is merged. `choose` rolls the dice: a
/// number below its argument.
///
/// # Panics
/// The plan does not fit, or something is broken.
#[must_use]
pub fn driven(
    pieces: &[Vec<RecordBatch>],
    schema: &[(String, Option<Type>)],
    plan: &Plan,
    hash_key: &[u8; 32],
    choose: &mut dyn FnMut(usize) -> usize,
) -> Bounded {
    let unit =
        schema.iter().find(|(name, _)| *name == plan.unit_column).and_then(|(_, kind)| *kind);
    let ids = Ids::Value(unit.expect("a unit column"));
    let key = HashKey(*hash_key);
    let contributions =
        Contributions::new(plan, schema, Some(ids), &key).expect("a plan that fits");
    let limits = Arc::new(rows::limits(plan, &contributions, HashKey(*hash_key)));
    let hash = TableHash::default();
    let new = || Kept::new(Arc::clone(&limits), hash.clone());
    let merge = |part: &mut Kept, into: &mut Kept| {
        let mut bytes = Vec::new();
        std::mem::replace(part, new()).write(&mut bytes);
        into.read(&bytes).expect("a merge");
    };
    let mut total = new();
    for piece in pieces {
        let mut part = new();
        let mut reading = scan::Reading::new(contributions.wanted());
        let mut made = ListsMade::default();
        for batch in piece {
            let (columns, count) = reading.canonical(batch, None).expect("columns that fit");
            let rows = contributions.of(&columns, count, &mut made).expect("contributions");
            let (mut groups, mut units) = (RowNames::default(), RowNames::default());
            let (mut row_steps, mut one) = (RowSteps::default(), new());
            rows.groups(&mut groups);
            rows.units(&mut units);
            rows.steps(&mut row_steps);
            for (row, (group, unit)) in groups.iter().zip(units.iter()).enumerate() {
                let name = [group, unit].concat();
                let is_alone = choose(8) == 0;
                let kept = if is_alone { &mut one } else { &mut part };
                let number = kept.unit(hash.hash_one(unit), unit).expect("a number");
                let order = order::first_half(order::order(&limits.hash_key, &name));
                let (steps, rest) = row_steps.row(row).split_at(limits.steps);
                let (digests, cells) = rest.split_at(HALVES * limits.bringing.most.len());
                let steps = steps.iter().map(|&step| i128::from(step));
                if let Some(entry) = kept.add(number, order, group, 1, steps).expect("room") {
                    kept.add_values(entry, &name, digests);
                    kept.add_cells(entry, cells);
                }
                if is_alone {
                    merge(&mut one, &mut total);
                }
            }
            if choose(3) == 0 {
                merge(&mut part, &mut total);
            }
        }
        merge(&mut part, &mut total);
    }
    let mut totals = Totals::new(limits.totals(), hash.clone());
    let mut found = Values::new(limits.bringing.most.len(), hash.clone());
    let mut weights = CellWeights::new(hash.clone());
    let added = total.each(|group, counted, values, cells| {
        let hash = hash.hash_one(group);
        for &(search, cell, weight) in cells {
            weights.add(hash, group, (search, cell), weight)?;
        }
        for (list, values) in (0..).zip(values) {
            for value in values.values() {
                found.add(hash, group, list, value.digest)?;
            }
        }
        totals.add(hash, group, std::iter::once(1).chain(counted.iter().copied()))
    });
    added.expect("room");
    let counted = found.each(|group, counts| {
        let before = std::iter::repeat_n(0, 2 + limits.steps);
        totals.add(hash.hash_one(group), group, before.chain(counts.iter().copied()))
    });
    counted.expect("room");
    let totals = totals.finish(&limits.keys).expect("a batch");
    Bounded::of(plan, totals, CellRuns(vec![weights.run()]))
}

/// What of the prices of a plan's groups one unit pays.
#[must_use]
pub fn weights(plan: &Plan) -> eke_budget::purchase::GroupWeights<eke_budget::Rho> {
    crate::ask::weights::weights(plan)
}
