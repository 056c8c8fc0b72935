//! Scans: the rows of a dataset's files, batch by batch, as what they bring to a plan.
//!
//! The files are read by ourselves, in pieces that partitions share out: row groups of Parquet,
//! whole files of CSV. Only the columns that a plan needs are read, and all their rows: nothing is
//! skipped by what statistics say about it. A row of a CSV file may have too few cells (NULL), or
//! too many (left out); an empty cell is NULL, and so is one that is not UTF-8 or not of its
//! column's type. The unit that a row belongs to is read exactly ([`Ids`]), beside what expressions
//! see of the same column.

use std::fs::File;
use std::sync::Arc;
use std::time::SystemTime;

use arrow::array::{Array, RecordBatch, StringViewBuilder};
use eke_sql::{MAX_TEXT, Type, scalar};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder};

use crate::data::footer::{Cells, Footer};
use crate::data::ids::Ids;
use crate::data::lines::CsvRows;
use crate::data::source::{self, DataFile, Format, Source, SourceError};
use crate::rows::RowsError;
use crate::rows::column::{self, Column};

/// What is read of rows: columns as expressions see them, and then, if it is asked for, whose they
/// are.
#[derive(Clone)]
pub(crate) struct Wanted {
    pub(crate) columns: Vec<(String, Type)>,
    pub(crate) unit: Option<(String, Ids)>,
}

/// A part of the rows that is read from start to end.
#[derive(Clone)]
pub(crate) enum Piece {
    /// A row group of a Parquet file.
    RowGroup {
        file: Arc<DataFile>,
        metadata: ArrowReaderMetadata,
        cells: Arc<Vec<(String, Cells)>>,
        touched: Touched,
        index: usize,
    },
    /// A CSV file.
    Csv(Arc<DataFile>),
    /// Rows that are in memory.
    Batches(Vec<RecordBatch>),
}

/// A file's length, and when it was last written to.
type Result<T, E = RowsError> = std::result::Result<T, E>;

type Touched = (u64, Option<SystemTime>);

fn touched(file: &DataFile, raw: &File) -> Result<Touched, SourceError> {
    let metadata = raw.metadata();
    let metadata =
        metadata.map_err(|error| SourceError::Unreadable { file: file.name.clone(), error })?;
    Ok((metadata.len(), metadata.modified().ok()))
}

/// The pieces of a source.
pub(crate) fn pieces(source: &Source) -> Result<Vec<Piece>, SourceError> {
    let mut pieces = Vec::new();
    for file in source.files() {
        let shared = Arc::new(file.clone());
        match source.format() {
            Format::Csv => pieces.push(Piece::Csv(shared)),
            Format::Parquet => {
                let Footer { raw, metadata, columns } = Footer::open(file)?;
                let touched = touched(file, &raw)?;
                for index in 0..metadata.metadata().num_row_groups() {
                    let (file, metadata) = (Arc::clone(&shared), metadata.clone());
                    let cells = Arc::clone(&columns);
                    pieces.push(Piece::RowGroup { file, metadata, cells, touched, index });
                }
            }
        }
    }
    Ok(pieces)
}

pub(crate) type Batches = Box<dyn Iterator<Item = Result<(Vec<Column>, usize)>> + Send>;

/// The rows of a piece, `batch_rows` at a time, of the wanted columns.
pub(crate) fn open(piece: Piece, wanted: &Wanted, batch_rows: usize) -> Result<Batches> {
    match piece {
        Piece::RowGroup { file, metadata, cells, touched: before, index } => {
            let raw = source::raw(&file).map_err(RowsError::failed)?;
            if touched(&file, &raw).map_err(RowsError::failed)? != before {
                return Err(RowsError::failed(SourceError::Changed(file.name.clone())));
            }
            let position = |name: &str| {
                let position = cells.iter().position(|(column, _)| column == name);
                position.ok_or_else(|| no_column(&file, name))
            };
            let names = wanted.columns.iter().map(|(name, _)| name);
            let names = names.chain(wanted.unit.iter().map(|(name, _)| name));
            let positions = names.map(|name| position(name)).collect::<Result<Vec<_>>>()?;
            let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(raw, metadata);
            let mask = ProjectionMask::roots(builder.parquet_schema(), positions);
            let reader = builder
                .with_projection(mask)
                .with_row_groups(vec![index])
                .with_batch_size(batch_rows)
                .build()
                .map_err(RowsError::failed)?;
            let wanted = wanted.clone();
            Ok(Box::new(reader.map(move |batch| {
                let batch = batch.map_err(RowsError::failed)?;
                canonical(&batch, &wanted, Some(&cells[..]))
            })))
        }
        Piece::Csv(file) => Ok(Box::new(CsvBatches::open(&file, wanted, batch_rows)?)),
        Piece::Batches(batches) => {
            let wanted = wanted.clone();
            Ok(Box::new(batches.into_iter().map(move |batch| canonical(&batch, &wanted, None))))
        }
    }
}

/// What is wanted of a batch, whose cells are stored like this or, if they are in memory, as they
/// say.
pub(crate) fn canonical(
    batch: &RecordBatch,
    wanted: &Wanted,
    cells: Option<&[(String, Cells)]>,
) -> Result<(Vec<Column>, usize)> {
    let found = |name: &str| {
        let array = batch.column_by_name(name).ok_or_else(changed)?;
        let stored = match cells {
            Some(cells) => {
                cells.iter().find(|(column, _)| column == name).map(|(_, kind)| kind.clone())
            }
            None => Some(Cells::Arrow(array.data_type().clone())),
        };
        Ok::<_, RowsError>((array, stored.ok_or_else(changed)?))
    };
    let mut read = Vec::with_capacity(wanted.columns.len() + 1);
    for (name, kind) in &wanted.columns {
        let (array, cells) = found(name)?;
        read.push(Column::of_cells(array, &cells, *kind).ok_or_else(changed)?);
    }
    if let Some((name, ids)) = &wanted.unit {
        let (array, cells) = found(name)?;
        read.push(ids.read(array, &cells).ok_or_else(changed)?);
    }
    Ok((read, batch.num_rows()))
}

fn changed() -> RowsError {
    RowsError::failed("a file has no longer the columns that it had")
}

struct CsvBatches {
    rows: CsvRows,
    record: csv::ByteRecord,
    /// Where in a row the columns are, and what they are read as.
    columns: Vec<(usize, Cell)>,
    batch_rows: usize,
}

#[derive(Clone, Copy)]
enum Cell {
    Value(Type),
    Unit(Ids),
}

impl CsvBatches {
    fn open(file: &DataFile, wanted: &Wanted, batch_rows: usize) -> Result<Self> {
        let header = source::header(file).map_err(RowsError::failed)?;
        let position = |name: &str| {
            let position = header.iter().position(|column| column == name);
            position.ok_or_else(|| no_column(file, name))
        };
        let values =
            wanted.columns.iter().map(|(name, kind)| Ok((position(name)?, Cell::Value(*kind))));
        let unit = wanted.unit.iter().map(|(name, ids)| Ok((position(name)?, Cell::Unit(*ids))));
        let columns = values.chain(unit).collect::<Result<_>>()?;
        let (mut rows, mut record) =
            (CsvRows::open(file).map_err(RowsError::failed)?, csv::ByteRecord::new());
        // The header.
        rows.read(&mut record).map_err(RowsError::failed)?;
        Ok(Self { rows, record, columns, batch_rows })
    }
}

impl Iterator for CsvBatches {
    type Item = Result<(Vec<Column>, usize)>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut builders: Vec<_> = self
            .columns
            .iter()
            .map(|_| StringViewBuilder::with_capacity(self.batch_rows))
            .collect();
        let mut rows = 0;
        while rows < self.batch_rows {
            match self.rows.read(&mut self.record) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => return Some(Err(RowsError::failed(error))),
            }
            for (builder, (position, read_as)) in builders.iter_mut().zip(&self.columns) {
                let cell = self.record.get(*position);
                let cell = cell.and_then(|cell| std::str::from_utf8(cell).ok());
                let cell = cell.filter(|cell| !cell.is_empty());
                // Long texts are cut here already, so that a batch has room for any. Others that
                // are as long are no values.
                match (read_as, cell.filter(|cell| cell.len() > MAX_TEXT)) {
                    (_, None) => builder.append_option(cell),
                    (Cell::Value(Type::Text), Some(long)) => {
                        builder.append_value(scalar::cut(long));
                    }
                    (Cell::Unit(Ids::Value(Type::Text)), Some(long)) => {
                        builder.append_value(column::identity(long));
                    }
                    (Cell::Value(_) | Cell::Unit(_), Some(_)) => builder.append_null(),
                }
            }
            rows += 1;
        }
        let columns = builders.iter_mut().zip(&self.columns);
        let columns = columns.map(|(builder, (_, cell))| {
            let texts = Column::Text(builder.finish());
            match cell {
                Cell::Value(kind) => texts.cast(*kind),
                Cell::Unit(ids) => ids.of_texts(texts),
            }
        });
        (rows > 0).then(|| Ok((columns.collect(), rows)))
    }
}

fn no_column(file: &DataFile, name: &str) -> RowsError {
    RowsError::failed(SourceError::NoColumn { file: file.name.clone(), column: name.to_owned() })
}
