//! What the tests and benchmarks of this crate need of its inside. No part of the interface.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Decimal128Array, Int64Array, RecordBatch};
use arrow::datatypes::{Decimal128Type, Int64Type};
use datafusion::logical_expr::{EmitTo, GroupsAccumulator};
use eke_sql::{Expr, Plan, Type, Value};

use crate::data::ids::Ids;
use crate::rows;
use crate::rows::bounding::{HashKey, Kept};
use crate::rows::column::Column;
use crate::rows::contribution::Contributions;
use crate::rows::encoding;
use crate::rows::lower::lower;
use crate::rows::scan;

pub use crate::data::source::{Fingerprint, Source, SourceError};
pub use crate::rows::lower::LowerError;
pub use crate::rows::{Bounded, RowsError, RowsOptions, bounded, bounded_in_memory};
pub use datafusion;
pub use datafusion::{arrow, parquet};

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
) -> arrow::array::ArrayRef {
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

/// As [`bounded_in_memory`], but without an engine: the aggregate function itself, driven by hand.
/// Each piece is a partition that gives up what it holds in parts, which are merged. `choose` rolls
/// the dice: a number below its argument.
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
    let contributions = Contributions::new(plan, schema, ids).expect("a plan that fits");
    let limits = Arc::new(rows::limits(plan, &contributions, HashKey(*hash_key)));
    let (mut total, mut numbers) = (Kept::new(Arc::clone(&limits)), Numbers::default());
    for piece in pieces {
        let (mut part, mut here) = (Kept::new(Arc::clone(&limits)), Numbers::default());
        for batch in piece {
            let (columns, count) =
                scan::canonical(batch, contributions.wanted(), None).expect("columns that fit");
            let batch = contributions.of(&columns, count).expect("contributions");
            let arrays = batch.columns();
            let unit = Column::read(&arrays[0], limits.unit).expect("a unit");
            let names: Vec<Vec<u8>> = (0..batch.num_rows())
                .map(|row| {
                    let mut name = Vec::new();
                    encoding::push(&unit, row, &mut name);
                    name
                })
                .collect();
            if choose(4) == 0 {
                let state = part.convert_to_state(arrays, None).expect("a state");
                let indices = numbers.of(&names);
                total.merge_batch(&state, &indices, numbers.0.len()).expect("a merge");
            } else {
                let indices = here.of(&names);
                part.update_batch(arrays, &indices, None, here.0.len()).expect("an update");
                assert!(part.size() > 0);
            }
            if choose(3) == 0 {
                let count = choose(here.0.len() + 1);
                give_up(&mut part, &mut here, count, &mut total, &mut numbers);
            }
        }
        while !here.0.is_empty() {
            let count = 1 + choose(here.0.len());
            give_up(&mut part, &mut here, count, &mut total, &mut numbers);
        }
    }
    let mut groups: BTreeMap<Vec<Value>, (i64, i64, Vec<i128>)> = BTreeMap::new();
    let mut left = numbers.0.len();
    while left > 0 {
        let count = 1 + choose(left);
        let emit = if count == left { EmitTo::All } else { EmitTo::First(count) };
        left -= count;
        let lists = total.evaluate(emit).expect("an evaluation");
        assert_eq!(lists.len(), count);
        let entries = lists.as_list::<i32>().values().as_struct();
        let (keys, numbers) = entries.columns().split_at(limits.keys.len());
        let keys = keys.iter().zip(&limits.keys).map(|(array, kind)| Column::read(array, *kind));
        let keys: Vec<Column> = keys.collect::<Option<_>>().expect("keys");
        for row in 0..entries.len() {
            let group = keys.iter().map(|key| key.value(row)).collect();
            let sums = groups.entry(group).or_insert_with(|| (0, 0, vec![0; limits.steps]));
            sums.0 += 1;
            sums.1 += numbers[0].as_primitive::<Int64Type>().value(row);
            for (sum, array) in sums.2.iter_mut().zip(&numbers[1..]) {
                *sum += array.as_primitive::<Decimal128Type>().value(row);
            }
        }
    }
    let keys = limits.keys.iter().enumerate();
    let keys = keys.map(|(index, kind)| column_of(*kind, groups.keys().map(|group| &group[index])));
    let mut arrays: Vec<ArrayRef> = keys.collect();
    arrays.push(Arc::new(groups.values().map(|sums| Some(sums.0)).collect::<Int64Array>()));
    arrays.push(Arc::new(groups.values().map(|sums| Some(sums.1)).collect::<Int64Array>()));
    for index in 0..limits.steps {
        let sums = groups.values().map(|sums| Some(sums.2[index])).collect::<Decimal128Array>();
        arrays.push(Arc::new(sums));
    }
    let named =
        arrays.into_iter().enumerate().map(|(index, array)| (index.to_string(), array, true));
    Bounded::of(plan, RecordBatch::try_from_iter_with_nullable(named).expect("a batch"))
}

/// Units by number, in the order in which they were seen.
#[derive(Default)]
struct Numbers(HashMap<Vec<u8>, usize>);

impl Numbers {
    fn of(&mut self, names: &[Vec<u8>]) -> Vec<usize> {
        let number = |name: &Vec<u8>| {
            let next = self.0.len();
            *self.0.entry(name.clone()).or_insert(next)
        };
        names.iter().map(number).collect()
    }
}

fn give_up(
    part: &mut Kept,
    here: &mut Numbers,
    count: usize,
    total: &mut Kept,
    numbers: &mut Numbers,
) {
    let mut names: Vec<(usize, Vec<u8>)> =
        here.0.drain().map(|(name, number)| (number, name)).collect();
    names.sort();
    let (gone, rest) = names.split_at(count);
    here.0 = rest.iter().map(|(number, name)| (name.clone(), number - count)).collect();
    let emit = if rest.is_empty() { EmitTo::All } else { EmitTo::First(count) };
    let state = part.state(emit).expect("a state");
    let gone: Vec<Vec<u8>> = gone.iter().map(|(_, name)| name.clone()).collect();
    let indices = numbers.of(&gone);
    total.merge_batch(&state, &indices, numbers.0.len()).expect("a merge");
}
