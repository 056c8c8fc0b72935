//! Totals: what all units together add to each group.

use std::mem::size_of;
use std::sync::Arc;

use arrow_array::{ArrayRef, Decimal128Array, Int64Array, RecordBatch};
use arrow_schema::ArrowError;
use eke_sql::Type;

use crate::rows::column::encoding::{Builder, take};
use crate::rows::pass::kept::{push_name, take_name};
use crate::rows::pass::names::{NameTable, TableHash};
use crate::rows::pass::shards::Shard;

/// The totals of some groups.
pub(crate) struct Totals {
    groups: NameTable,
    /// For each group how many units and rows count in it, and then its sums.
    totals: Vec<i128>,
    width: usize,
}

impl Totals {
    /// For this many sums.
    pub(crate) fn new(sums: usize, hash: TableHash) -> Self {
        Self { groups: NameTable::new(hash), totals: Vec::new(), width: 2 + sums }
    }

    /// Adds to a group, by the hash that tables are looked up by; none if there are more than can
    /// be numbered.
    pub(crate) fn add(
        &mut self,
        hash: u64,
        group: &[u8],
        more: impl Iterator<Item = i128>,
    ) -> Option<()> {
        let from = self.groups.number(hash, group)? * self.width;
        if from == self.totals.len() {
            self.totals.resize(from + self.width, 0);
        }
        for (total, more) in self.totals[from..].iter_mut().zip(more) {
            *total = total.saturating_add(more);
        }
        Some(())
    }

    /// How many groups there are.
    pub(crate) fn len(&self) -> usize {
        self.groups.len()
    }

    /// Keys of these types, then the totals, in columns.
    pub(crate) fn finish(&self, keys: &[Type]) -> Result<RecordBatch, ArrowError> {
        let mut builders: Vec<_> =
            keys.iter().map(|kind| Builder::new(*kind, self.groups.len())).collect();
        for group in 0..self.groups.len() {
            let mut bytes = self.groups.bytes(group);
            for builder in &mut builders {
                let damaged = || ArrowError::ComputeError("a group without its keys".to_owned());
                builder.take(&mut bytes).ok_or_else(damaged)?;
            }
        }
        let mut columns: Vec<ArrayRef> = builders.into_iter().map(Builder::finish).collect();
        for index in 0..self.width {
            let column = self.totals.iter().skip(index).step_by(self.width).copied();
            columns.push(match index {
                0 | 1 => Arc::new(Int64Array::from_iter_values(
                    column.map(|count| i64::try_from(count).unwrap_or(i64::MAX)),
                )),
                _ => Arc::new(Decimal128Array::from_iter_values(column)),
            });
        }
        let named = columns.into_iter().enumerate();
        let named = named.map(|(index, column)| (index.to_string(), column, true));
        RecordBatch::try_from_iter_with_nullable(named)
    }
}

impl Shard for Totals {
    fn held(&self) -> usize {
        self.groups.held() + self.totals.capacity() * size_of::<i128>()
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        for (group, totals) in self.totals.chunks(self.width).enumerate() {
            push_name(self.groups.bytes(group), bytes);
            totals.iter().for_each(|total| bytes.extend(total.to_le_bytes()));
        }
    }

    fn read(&mut self, mut bytes: &[u8]) -> Option<()> {
        let bytes = &mut bytes;
        let mut more = vec![0; self.width];
        while !bytes.is_empty() {
            let group = take_name(bytes)?;
            for more in &mut more {
                *more = i128::from_le_bytes(take(bytes)?);
            }
            self.add(self.groups.hash(group), group, more.iter().copied())?;
        }
        Some(())
    }
}
