//! Totals of rows of one unit: exact, and the same whatever the order of the rows and however they
//! were parted.

use std::mem::size_of;

use eke_sql::scalar::{self, Datum};
use eke_sql::{TotalFunction, Type, Value};

use crate::rows::column::encoding::{self, push_value, take};
use crate::rows::pass::kept::{push_name, take_name};
use crate::rows::per_unit::exact_sum::ExactSum;

/// What is computed, and of which type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TotalOf {
    pub(crate) function: TotalFunction,
    /// The type of what it is of.
    pub(crate) kind: Type,
    /// How many different values are told apart at most.
    pub(crate) most_values: usize,
}

/// A total that is being computed.
#[derive(Clone, Debug)]
pub(crate) enum Total {
    Count(u64),
    Distinct(Distinct),
    Ints(i128, u64),
    Floats(ExactSum, u64),
    Extreme(Option<Value>),
}

/// The smallest hashes of values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Distinct {
    hashes: Vec<u128>,
    /// How many of them are sorted and distinct; those behind may be repetitions.
    sorted: usize,
}

impl TotalOf {
    /// Of nothing.
    pub(crate) fn nothing(self) -> Total {
        match (self.function, self.kind) {
            (TotalFunction::Count, _) => Total::Count(0),
            (TotalFunction::CountDistinct, _) => Total::Distinct(Distinct::default()),
            (TotalFunction::Sum | TotalFunction::Average, Type::Int) => Total::Ints(0, 0),
            (TotalFunction::Sum | TotalFunction::Average, _) => {
                Total::Floats(ExactSum::default(), 0)
            }
            (TotalFunction::Least | TotalFunction::Greatest, _) => Total::Extreme(None),
        }
    }

    /// Adds a value that is not NULL; a count of rows looks at none.
    pub(crate) fn add(self, total: &mut Total, value: Datum<'_>) {
        match (total, value) {
            (Total::Count(count), _) => *count = count.saturating_add(1),
            (Total::Distinct(distinct), value) => {
                distinct.add(hash(&value), self.most_values);
            }
            (Total::Ints(sum, count), Datum::Int(value)) => {
                *sum = sum.saturating_add(i128::from(value));
                *count = count.saturating_add(1);
            }
            (Total::Floats(sum, count), Datum::Float(value)) => {
                sum.add(value);
                *count = count.saturating_add(1);
            }
            (Total::Extreme(extreme), value) => {
                if extreme.as_ref().is_none_or(|extreme| self.is_further(&value, extreme)) {
                    *extreme = Some(owned(&value));
                }
            }
            // Columns have the types that they were planned with.
            (Total::Ints(..) | Total::Floats(..), _) => {}
        }
    }

    /// Adds another total of the same kind.
    fn merge(self, total: &mut Total, other: Total) {
        match (total, other) {
            (Total::Count(count), Total::Count(more)) => *count = count.saturating_add(more),
            (Total::Distinct(distinct), Total::Distinct(more)) => {
                more.hashes.into_iter().for_each(|hash| distinct.add(hash, self.most_values));
            }
            (Total::Ints(sum, count), Total::Ints(more, others)) => {
                *sum = sum.saturating_add(more);
                *count = count.saturating_add(others);
            }
            (Total::Floats(sum, count), Total::Floats(more, others)) => {
                sum.merge(&more);
                *count = count.saturating_add(others);
            }
            (Total::Extreme(extreme), Total::Extreme(Some(value)))
                if extreme.as_ref().is_none_or(|extreme| self.is_beyond(&value, extreme)) =>
            {
                *extreme = Some(value);
            }
            _ => {}
        }
    }

    fn is_further(self, value: &Datum<'_>, extreme: &Value) -> bool {
        match (value, extreme) {
            // Without a copy of each text.
            (Datum::Text(text), Value::Text(extreme)) => match self.function {
                TotalFunction::Least => *text < extreme.as_str(),
                _ => *text > extreme.as_str(),
            },
            _ => self.is_beyond(&owned(value), extreme),
        }
    }

    fn is_beyond(self, value: &Value, extreme: &Value) -> bool {
        match self.function {
            TotalFunction::Least => value < extreme,
            _ => value > extreme,
        }
    }

    /// The value of a total.
    pub(crate) fn value(self, total: &Total) -> Value {
        let int = |count: u64| i64::try_from(count).map_or(Value::Null, Value::Int);
        match total {
            Total::Count(count) => int(*count),
            Total::Distinct(distinct) => int(distinct.count(self.most_values) as u64),
            Total::Ints(_, 0) | Total::Floats(_, 0) | Total::Extreme(None) => Value::Null,
            Total::Ints(sum, count) if self.function == TotalFunction::Average => {
                Value::float(*sum as f64 / *count as f64)
            }
            Total::Ints(sum, _) => i64::try_from(*sum).map_or(Value::Null, Value::Int),
            Total::Floats(sum, count) => match sum.rounded() {
                None => Value::Null,
                Some(sum) if self.function == TotalFunction::Average => {
                    Value::float(sum / *count as f64)
                }
                Some(sum) => Value::float(sum),
            },
            Total::Extreme(Some(value)) => value.clone(),
        }
    }

    /// Takes in what another one has written; none if these are no such bytes.
    pub(crate) fn read(self, total: &mut Total, bytes: &mut &[u8]) -> Option<()> {
        let mut number = || Some(u64::from_le_bytes(take(bytes)?));
        let other = match self.nothing() {
            Total::Count(_) => Total::Count(number()?),
            Total::Distinct(_) => {
                let count = number()?;
                let hashes = (0..count).map(|_| Some(u128::from_le_bytes(take(bytes)?)));
                let hashes = hashes.collect::<Option<_>>()?;
                Total::Distinct(Distinct { hashes, sorted: 0 })
            }
            Total::Ints(..) => {
                let count = number()?;
                Total::Ints(i128::from_le_bytes(take(bytes)?), count)
            }
            Total::Floats(..) => {
                let count = number()?;
                Total::Floats(ExactSum::read(bytes)?, count)
            }
            Total::Extreme(_) => {
                let mut name = take_name(bytes)?;
                let mut builder = encoding::Builder::new(self.kind, 1);
                builder.take(&mut name)?;
                let column =
                    crate::rows::column::Column::read(&builder.finish(), self.kind)?.value(0);
                Total::Extreme(Some(column).filter(|value| *value != Value::Null))
            }
        };
        self.merge(total, other);
        Some(())
    }
}

impl Total {
    /// How many bytes of memory it holds beside itself.
    pub(crate) fn held(&self) -> usize {
        match self {
            Self::Count(_) | Self::Ints(..) => 0,
            Self::Distinct(distinct) => distinct.hashes.capacity() * size_of::<u128>(),
            Self::Floats(sum, _) => sum.held(),
            Self::Extreme(Some(Value::Text(text))) => text.capacity(),
            Self::Extreme(_) => 0,
        }
    }

    /// Appends it as bytes that [`TotalOf::read`] takes in.
    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Count(count) => bytes.extend(count.to_le_bytes()),
            Self::Distinct(Distinct { hashes, .. }) => {
                bytes.extend((hashes.len() as u64).to_le_bytes());
                hashes.iter().for_each(|hash| bytes.extend(hash.to_le_bytes()));
            }
            Self::Ints(sum, count) => {
                bytes.extend(count.to_le_bytes());
                bytes.extend(sum.to_le_bytes());
            }
            Self::Floats(sum, count) => {
                bytes.extend(count.to_le_bytes());
                sum.write(bytes);
            }
            Self::Extreme(extreme) => {
                let mut value = Vec::new();
                push_value(extreme.as_ref().unwrap_or(&Value::Null), &mut value);
                push_name(&value, bytes);
            }
        }
    }
}

impl Distinct {
    /// The smallest are kept: when there are as many as may be, more are not told apart.
    fn add(&mut self, hash: u128, most: usize) {
        /// How many hashes wait at least before they are sorted.
        const WAITING: usize = 16;
        let known = &self.hashes[..self.sorted];
        let is_full = self.sorted == most;
        if known.binary_search(&hash).is_ok() || is_full && known.last() < Some(&hash) {
            return;
        }
        self.hashes.push(hash);
        if self.hashes.len() - self.sorted >= self.sorted.max(WAITING) {
            self.settle(most);
        }
    }

    fn settle(&mut self, most: usize) {
        self.hashes.sort_unstable();
        self.hashes.dedup();
        self.hashes.truncate(most);
        self.sorted = self.hashes.len();
    }

    fn count(&self, most: usize) -> usize {
        let mut all = self.clone();
        all.settle(most);
        all.sorted
    }
}

fn owned(value: &Datum<'_>) -> Value {
    match value {
        Datum::Bool(value) => Value::Bool(*value),
        Datum::Int(value) => Value::Int(*value),
        Datum::Float(value) => Value::float(*value),
        Datum::Text(value) => Value::Text(scalar::cut(value).to_owned()),
        Datum::Date(value) => Value::Date(*value),
        Datum::Timestamp(value) => Value::Timestamp(*value),
    }
}

/// What tells values of one column apart, but by a collision of BLAKE3.
fn hash(value: &Datum<'_>) -> u128 {
    let mut bytes = Vec::with_capacity(16);
    push_value(&owned(value), &mut bytes);
    let hash = blake3::hash(&bytes);
    hash.as_bytes().first_chunk().map_or(0, |first| u128::from_le_bytes(*first))
}
