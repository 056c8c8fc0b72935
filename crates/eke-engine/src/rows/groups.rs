//! The groups that a run found: in memory, and on disk beyond that.
//!
//! How many there are depends on rows, so there is no number of them that is too many. What does
//! not fit into memory lies in a file without a name, which is gone when the program is, and is
//! gone through in order.

use std::fs::File;
use std::io::{BufReader, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Int64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::ArrowError;
use eke_sql::{Type, Value};

use crate::rows::RowsError;
use crate::rows::column::Column;
use crate::rows::column::encoding;
use crate::rows::pass::shards::nameless;

/// Groups: keys, units, rows, and the sums that depend on values.
pub(crate) struct Groups {
    keys: Vec<Type>,
    batches: Vec<RecordBatch>,
    /// What the batches hold, roughly.
    held: usize,
    disk: Disk,
}

enum Disk {
    Unused,
    Writing(Box<StreamWriter<BufWriter<File>>>),
    Written(File),
}

impl Groups {
    pub(crate) fn new(keys: Vec<Type>) -> Self {
        Self { keys, batches: Vec::new(), held: 0, disk: Disk::Unused }
    }

    /// Holds groups in memory.
    pub(crate) fn hold(&mut self, batch: RecordBatch) {
        self.held += held(&batch);
        self.batches.push(batch);
    }

    /// Takes groups in: beyond `memory` bytes, to a file in this folder.
    pub(crate) fn add(
        &mut self,
        batch: RecordBatch,
        memory: usize,
        folder: &Path,
    ) -> Result<(), RowsError> {
        if matches!(self.disk, Disk::Unused) && self.held + held(&batch) <= memory {
            self.hold(batch);
            return Ok(());
        }
        let batch = compact(&batch).map_err(RowsError::failed)?;
        if matches!(self.disk, Disk::Unused) {
            let file = BufWriter::new(nameless(folder).map_err(RowsError::failed)?);
            let writer = StreamWriter::try_new(file, &batch.schema()).map_err(RowsError::failed)?;
            self.disk = Disk::Writing(Box::new(writer));
        }
        match &mut self.disk {
            Disk::Writing(writer) => writer.write(&batch).map_err(RowsError::failed),
            Disk::Unused | Disk::Written(_) => Err(RowsError::failed("groups after the last one")),
        }
    }

    /// There are no more.
    pub(crate) fn close(&mut self) -> Result<(), RowsError> {
        self.disk = match std::mem::replace(&mut self.disk, Disk::Unused) {
            Disk::Writing(mut writer) => {
                writer.finish().map_err(RowsError::failed)?;
                let file = writer.into_inner().map_err(RowsError::failed)?;
                let mut file = file.into_inner().map_err(RowsError::failed)?;
                file.flush().map_err(RowsError::failed)?;
                Disk::Written(file)
            }
            other => other,
        };
        Ok(())
    }

    /// Goes through all of them, always in the same order.
    pub(crate) fn each(&self, mut look: impl FnMut(&GroupBatch)) -> Result<(), RowsError> {
        for batch in &self.batches {
            look(&GroupBatch::new(&self.keys, batch));
        }
        let Disk::Written(file) = &self.disk else { return Ok(()) };
        let mut file = file.try_clone().map_err(RowsError::failed)?;
        file.seek(SeekFrom::Start(0)).map_err(RowsError::failed)?;
        let batches = StreamReader::try_new(BufReader::new(file), None);
        for batch in batches.map_err(RowsError::failed)? {
            look(&GroupBatch::new(&self.keys, &batch.map_err(RowsError::failed)?));
        }
        Ok(())
    }

    pub(crate) fn is_on_disk(&self) -> bool {
        !matches!(self.disk, Disk::Unused)
    }
}

/// What a batch holds, roughly: batches are cut from larger ones, whose memory each of them would
/// count.
fn held(batch: &RecordBatch) -> usize {
    let texts = batch.columns().iter().filter_map(|array| array.as_string_view_opt());
    let text: usize = texts.map(|texts| texts.iter().flatten().map(str::len).sum::<usize>()).sum();
    batch.num_rows() * batch.num_columns() * 16 + text
}

/// A batch without the texts of those that it was cut from.
fn compact(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let columns = batch.columns().iter().map(|array| match array.as_string_view_opt() {
        Some(texts) => Arc::new(texts.gc()) as ArrayRef,
        None => Arc::clone(array),
    });
    RecordBatch::try_new(batch.schema(), columns.collect())
}

/// The groups of a batch.
pub(crate) struct GroupBatch {
    keys: Vec<Column>,
    /// Units, rows, then sums.
    numbers: Vec<ArrayRef>,
    rows: usize,
}

impl GroupBatch {
    fn new(keys: &[Type], batch: &RecordBatch) -> Self {
        let (found, numbers) = batch.columns().split_at(keys.len());
        let keys = found.iter().zip(keys).map(|(array, of)| {
            Column::read(array, *of).unwrap_or_else(|| Column::nulls(*of, array.len()))
        });
        Self { keys: keys.collect(), numbers: numbers.to_vec(), rows: batch.num_rows() }
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn keys(&self, row: usize) -> Vec<Value> {
        self.keys.iter().map(|key| key.value(row)).collect()
    }

    /// Appends what a group is named by.
    pub(crate) fn name(&self, row: usize, bytes: &mut Vec<u8>) {
        self.keys.iter().for_each(|key| encoding::push(key, row, bytes));
    }

    pub(crate) fn units(&self, row: usize) -> i128 {
        self.number(row, 0)
    }

    /// A number, or zero: the sum of nothing is NULL to the engine.
    pub(crate) fn number(&self, row: usize, index: usize) -> i128 {
        let array = &self.numbers[index];
        if array.is_null(row) {
            return 0;
        }
        match array.as_primitive_opt::<Decimal128Type>() {
            Some(wide) => wide.value(row),
            None => {
                array.as_primitive_opt::<Int64Type>().map_or(0, |array| array.value(row).into())
            }
        }
    }
}
