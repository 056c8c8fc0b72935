//! Contributions: what each row of a dataset brings to a plan, before anything is bounded.
//!
//! A row that takes part has a unit, the keys of its group, and so many steps for each sum that depends on
//! its values. All of it is computed from that row alone.

use std::collections::BTreeSet;
use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BooleanArray, Int64Array, RecordBatch, RecordBatchOptions,
};
use datafusion::arrow::compute::filter;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::arrow::error::ArrowError;
use eke_sql::{Binary, Expr, Plan, Sum, Summand, Type, Unary, Value};

use crate::bounding::key_name;
use crate::column::{Column, canonical};
use crate::ids::Ids;
use crate::lower::{self, LowerError};
use crate::scan::Wanted;
use crate::step::Step;
use crate::total::Total;

/// The name of the unit in what rows bring.
pub(crate) const UNIT: &str = "unit";

/// The name of steps in what rows bring.
pub(crate) fn step_name(index: usize) -> String {
    format!("step{index}")
}

/// What is computed for each row.
pub(crate) struct Contributions {
    /// What it is computed from: the columns of expressions, and then the unit.
    wanted: Wanted,
    /// Which rows take part, if they are somebody's.
    takes_part: Total,
    unit: Type,
    keys: Vec<Total>,
    steps: Vec<Steps>,
    schema: SchemaRef,
}

/// What a row adds to a sum that depends on its values.
enum Steps {
    Present(Total, i64),
    Value(Total, Step),
}

impl Contributions {
    /// What a plan takes from rows with these columns.
    pub(crate) fn new(
        plan: &Plan,
        schema: &[(String, Option<Type>)],
        ids: Ids,
    ) -> Result<Self, LowerError> {
        let mut wanted = BTreeSet::new();
        let exprs = plan.filter.iter().chain(plan.keys.iter().map(|key| &key.expr));
        exprs.chain(plan.sums.iter().filter_map(of_sum)).for_each(|expr| names(expr, &mut wanted));
        // In the order of the file, and each once.
        let columns: Vec<(String, Type)> = schema
            .iter()
            .filter(|(name, _)| wanted.contains(name.as_str()))
            .filter_map(|(name, of)| Some((name.clone(), (*of)?)))
            .collect();
        if !schema.iter().any(|(name, of)| *name == plan.unit_column && of.is_some()) {
            return Err(LowerError::NoColumn(plan.unit_column.clone()));
        }
        let unit = ids.of();
        let keys = plan.keys.iter().map(|key| lower::typed(&key.expr, key.of, &columns));
        let keys = keys.collect::<Result<Vec<_>, _>>()?;
        let steps = plan.sums.iter().filter_map(|sum| steps_of(sum, &columns));
        let steps = steps.collect::<Result<Vec<_>, _>>()?;
        let mut fields = vec![Field::new(UNIT, canonical(unit), true)];
        for (index, key) in plan.keys.iter().enumerate() {
            fields.push(Field::new(key_name(index), canonical(key.of), true));
        }
        for index in 0..steps.len() {
            fields.push(Field::new(step_name(index), DataType::Int64, true));
        }
        let takes_part = lower::condition(&condition(plan), &columns)?;
        let schema = Arc::new(Schema::new(fields));
        let wanted = Wanted { columns, unit: Some((plan.unit_column.clone(), ids)) };
        Ok(Self { wanted, takes_part, unit, keys, steps, schema })
    }

    /// What it is computed from: columns of expressions, and then the unit.
    pub(crate) fn wanted(&self) -> &Wanted {
        &self.wanted
    }

    /// The columns that come out: the unit, the keys, the steps.
    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The type of the unit.
    pub(crate) fn unit(&self) -> Type {
        self.unit
    }

    /// How many sums depend on values of rows.
    pub(crate) fn steps(&self) -> usize {
        self.steps.len()
    }

    /// What these rows bring; those that do not take part are gone.
    pub(crate) fn of(&self, columns: &[Column], rows: usize) -> Result<RecordBatch, ArrowError> {
        let Some((unit, _)) = columns.split_last() else {
            return Err(ArrowError::ComputeError("a row without a unit column".to_owned()));
        };
        let takes_part = self.takes_part.holds(columns, rows);
        // What is nobody's has no part in anything.
        let takes_part = match unit.array().nulls() {
            Some(somebodys) => BooleanArray::from(takes_part.values() & somebodys.inner()),
            None => takes_part,
        };
        let kept = takes_part.true_count();
        let columns = if kept == rows {
            columns.to_vec()
        } else {
            columns.iter().map(|column| only(column, &takes_part)).collect::<Result<_, _>>()?
        };
        let unit = columns.last().map(|unit| unit.clone().into_array());
        let mut arrays: Vec<ArrayRef> = unit.into_iter().collect();
        arrays.extend(self.keys.iter().map(|key| key.compute(&columns, kept).into_array()));
        for steps in &self.steps {
            arrays.push(Arc::new(steps.compute(&columns, kept)));
        }
        let options = RecordBatchOptions::new().with_row_count(Some(kept));
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), arrays, &options)
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
                Column::Int(array) => array.iter().map(|v| v.map(|v| step.of_int(v))).collect(),
                Column::Float(array) => array.iter().map(|v| v.map(|v| step.of_float(v))).collect(),
                _ => Int64Array::new_null(rows),
            },
        }
    }
}

/// What a sum is of, if rows bring a column of it. Rows themselves, and units, are counted when they are
/// bounded.
fn of_sum(sum: &Sum) -> Option<&Expr> {
    match &sum.of {
        Summand::Rows | Summand::Units => None,
        Summand::Present(expr) | Summand::Value { expr, .. } => Some(expr),
    }
}

fn steps_of(sum: &Sum, columns: &[(String, Type)]) -> Option<Result<Steps, LowerError>> {
    let lowered = |expr: &Expr| lower::lower(expr, columns);
    match &sum.of {
        Summand::Rows | Summand::Units => None,
        Summand::Present(expr) => {
            Some(lowered(expr).map(|(total, _)| Steps::Present(total, sum.one())))
        }
        Summand::Value { expr, low, high, centre } => {
            Some(lowered(expr).and_then(|(total, of)| {
                if !matches!(of, None | Some(Type::Int | Type::Float)) {
                    return Err(LowerError::Types("a sum of what is no number".to_owned()));
                }
                let step = Step { exponent: sum.exponent, low: *low, high: *high, centre: *centre };
                Ok(Steps::Value(total, step))
            }))
        }
    }
}

/// A row that is somebody's takes part if the filter is true, and each key that has public values
/// has one of them.
fn condition(plan: &Plan) -> Expr {
    let mut all = Expr::Literal(Value::Bool(true));
    if let Some(filter) = &plan.filter {
        let filter = Expr::Unary(Unary::IsTrue, Box::new(filter.clone()));
        all = Expr::Binary(Binary::And, Box::new(all), Box::new(filter));
    }
    for key in &plan.keys {
        let Some(public) = &key.public else { continue };
        let (nulls, values): (Vec<_>, Vec<_>) =
            public.iter().cloned().partition(|value| *value == Value::Null);
        let listed = Expr::In(Box::new(key.expr.clone()), values);
        let mut listed = Expr::Unary(Unary::IsTrue, Box::new(listed));
        if !nulls.is_empty() {
            let null = Expr::Unary(Unary::IsNull, Box::new(key.expr.clone()));
            listed = Expr::Binary(Binary::Or, Box::new(listed), Box::new(null));
        }
        all = Expr::Binary(Binary::And, Box::new(all), Box::new(listed));
    }
    all
}

fn only(column: &Column, rows: &BooleanArray) -> Result<Column, ArrowError> {
    let array = filter(column.array(), rows)?;
    Column::read(&array, column.of())
        .ok_or_else(|| ArrowError::ComputeError("a column changed its type".to_owned()))
}

fn names<'a>(expr: &'a Expr, names_of: &mut BTreeSet<&'a str>) {
    // A list rather than recursion: an expression may be deep.
    let mut left = vec![expr];
    while let Some(expr) = left.pop() {
        match expr {
            Expr::Column(name) => {
                names_of.insert(name);
            }
            Expr::Literal(_) | Expr::Key(_) | Expr::Measure(_) => {}
            Expr::Unary(_, a) | Expr::Cast(a, _) | Expr::In(a, _) | Expr::Like { text: a, .. } => {
                left.push(a);
            }
            Expr::Binary(_, a, b) => left.extend([&**a, &**b]),
            Expr::Case { branches, otherwise } => {
                left.extend(branches.iter().flat_map(|(when, then)| [when, then]));
                left.extend(otherwise.as_deref());
            }
            Expr::Call(_, arguments) => left.extend(arguments),
        }
    }
}
