//! Scans: the rows of a dataset's files, batch by batch, as what they bring to a plan.
//!
//! The files are read by ourselves, in pieces that partitions share out: row groups of Parquet, and
//! shares of CSV files, whose readers take blocks of rows in turn. Only the columns that a plan
//! needs are read, and all their rows: nothing is skipped by what statistics say about it. Texts
//! that a row group lists stay listed ([`AnyColumn`]). A row of
//! a CSV file may have too few cells (NULL), or too many (left out); an empty cell is NULL, and so
//! is one that is not UTF-8 or not of its column's type. The unit that a row belongs to is read
//! exactly ([`Ids`]), beside what expressions see of the same column.

use std::fs::File;
use std::sync::Arc;
use std::time::SystemTime;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::DataType;
use eke_sql::{MAX_TEXT, Type, scalar};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder};

use crate::data::blocks::Block;
use crate::data::footer::{Cells, Footer};
use crate::data::ids::{IdCell, Ids};
use crate::data::lines::SharedCsv;
use crate::data::source::{self, DataFile, Format, Source, SourceError};
use crate::rows::RowsError;
use crate::rows::column::listed::{AnyColumn, LastList};
use crate::rows::column::parse::ColumnBuilder;
use crate::rows::column::{self, Column};
use crate::rows::held::HeldPiece;

/// What is read of rows: columns as expressions see them, and then, if it is asked for, whose they
/// are.
#[derive(Clone)]
pub(crate) struct Wanted {
    pub(crate) columns: Vec<(String, Type)>,
    pub(crate) unit: Option<(String, Ids)>,
}

impl Wanted {
    /// Where each column is among others that were read, and then the unit; none if one is missing.
    pub(crate) fn places_in(&self, others: &Self) -> Option<Vec<usize>> {
        let place = |column| others.columns.iter().position(|other| other == column);
        let mut places = self.columns.iter().map(place).collect::<Option<Vec<_>>>()?;
        match (&self.unit, &others.unit) {
            (None, _) => {}
            (Some(unit), Some(other)) if unit == other => places.push(others.columns.len()),
            (Some(_), _) => return None,
        }
        Some(places)
    }
}

impl Wanted {
    /// The columns that say whose rows are whose.
    fn of_unit(&self) -> impl Iterator<Item = (&str, IdCell<'_>)> {
        self.unit.iter().flat_map(|(name, ids)| ids.cells(name))
    }

    /// What was read, with one column for all that say whose rows are whose.
    fn joined(&self, mut read: Vec<Column>, rows: usize) -> Result<(Vec<Column>, usize)> {
        if let Some((_, ids)) = &self.unit {
            let parts = read.split_off(self.columns.len());
            read.push(ids.joined(parts, rows).ok_or_else(changed)?);
        }
        Ok((read, rows))
    }
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
    /// A share of a CSV file: those of its blocks that its reader takes.
    Csv(Arc<SharedCsv>),
    /// Rows that are in memory.
    Batches(Vec<RecordBatch>),
    /// Rows that were read for another plan.
    Held(HeldPiece),
}

type Result<T, E = RowsError> = std::result::Result<T, E>;

/// A file's length, and when it was last written to.
type Touched = (u64, Option<SystemTime>);

fn touched(file: &DataFile, raw: &File) -> Result<Touched, SourceError> {
    let metadata = raw.metadata();
    let metadata =
        metadata.map_err(|error| SourceError::Unreadable { file: file.name.clone(), error })?;
    Ok((metadata.len(), metadata.modified().ok()))
}

/// The pieces of a source, for the given number of readers. A single reader that opens them in
/// their order gets the rows in theirs.
pub(crate) fn pieces(source: &Source, readers: usize) -> Result<Vec<Piece>, SourceError> {
    match source.format() {
        Format::Csv => {
            let files = source.files().iter().map(|file| SharedCsv::new(file).map(Arc::new));
            let files = files.collect::<Result<Vec<_>, _>>()?;
            // Readers begin with a file each, and then help each other.
            let shares = std::iter::repeat_n(files, readers.max(1)).flatten();
            Ok(shares.map(Piece::Csv).collect())
        }
        Format::Parquet => {
            let mut pieces = Vec::new();
            for file in source.files() {
                let shared = Arc::new(file.clone());
                let footer = Footer::open(file)?;
                let touched = touched(file, &footer.raw)?;
                let groups = footer.row_groups();
                let groups = groups.map_err(|_| SourceError::NotParquet(file.name.clone()))?;
                for (index, metadata) in groups.into_iter().enumerate() {
                    let (file, cells) = (Arc::clone(&shared), Arc::clone(&footer.columns));
                    pieces.push(Piece::RowGroup { file, metadata, cells, touched, index });
                }
            }
            Ok(pieces)
        }
    }
}

pub(crate) type Batches = Box<dyn Iterator<Item = Result<(Vec<AnyColumn>, usize)>> + Send>;

/// The rows of a piece, `batch_rows` at a time, of the wanted columns, row by row.
pub(crate) fn open_plain(
    piece: Piece,
    wanted: &Wanted,
    batch_rows: usize,
) -> Result<impl Iterator<Item = Result<(Vec<Column>, usize)>> + Send> {
    let plain = |(columns, rows): (Vec<AnyColumn>, usize)| {
        (columns.iter().map(AnyColumn::plain).collect(), rows)
    };
    Ok(open(piece, wanted, batch_rows)?.map(move |batch| batch.map(plain)))
}

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
            let names = names.map(String::as_str).chain(wanted.of_unit().map(|(name, _)| name));
            let positions = names.map(position).collect::<Result<Vec<_>>>()?;
            let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(raw, metadata);
            let mask = ProjectionMask::roots(builder.parquet_schema(), positions);
            let reader = builder
                .with_projection(mask)
                .with_row_groups(vec![index])
                .with_batch_size(batch_rows)
                .build()
                .map_err(RowsError::failed)?;
            let mut reading = Reading::new(wanted);
            Ok(Box::new(reader.map(move |batch| {
                reading.canonical(&batch.map_err(RowsError::failed)?, Some(&cells[..]))
            })))
        }
        Piece::Csv(file) => {
            let batches = CsvBatches::new(file, wanted, batch_rows)?;
            let any = |columns: Vec<Column>| columns.into_iter().map(AnyColumn::Plain).collect();
            Ok(Box::new(
                batches.map(move |batch| batch.map(|(columns, rows)| (any(columns), rows))),
            ))
        }
        Piece::Held(piece) => Ok(piece.open(batch_rows)),
        Piece::Batches(batches) => {
            let mut reading = Reading::new(wanted);
            Ok(Box::new(batches.into_iter().map(move |batch| reading.canonical(&batch, None))))
        }
    }
}

/// What a worker reads of batches with the same columns.
pub(crate) struct Reading {
    wanted: Wanted,
    /// The last lists of the columns, and then of the unit.
    lists: Vec<LastList>,
}

impl Reading {
    pub(crate) fn new(wanted: &Wanted) -> Self {
        let lists = (0..=wanted.columns.len()).map(|_| LastList::default()).collect();
        Self { wanted: wanted.clone(), lists }
    }

    /// What is wanted of a batch, whose cells are stored like this or, if they are in memory, as
    /// they say.
    pub(crate) fn canonical(
        &mut self,
        batch: &RecordBatch,
        cells: Option<&[(String, Cells)]>,
    ) -> Result<(Vec<AnyColumn>, usize)> {
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
        let mut read = Vec::with_capacity(self.wanted.columns.len() + 1);
        let mut lists = self.lists.iter_mut();
        for ((name, kind), list) in self.wanted.columns.iter().zip(&mut lists) {
            let (array, cells) = found(name)?;
            let column =
                any(array, list, |array| Some(Column::of_cells(array, &cells, *kind)?.cut()));
            read.push(column.ok_or_else(changed)?);
        }
        match (&self.wanted.unit, lists.next()) {
            (Some((_, ids @ Ids::Parts(_))), _) => {
                let mut parts = Vec::new();
                for (name, cell) in self.wanted.of_unit() {
                    let (array, cells) = found(name)?;
                    let plain = column::arrays::plain(array).unwrap_or_else(|| Arc::clone(array));
                    let part = match cell {
                        IdCell::Exact(ids) => ids.read(&plain, &cells),
                        IdCell::Time(kind) => Column::of_cells(&plain, &cells, kind),
                    };
                    parts.push(part.ok_or_else(changed)?);
                }
                let unit = ids.joined(parts, batch.num_rows()).ok_or_else(changed)?;
                read.push(AnyColumn::Plain(unit));
            }
            (Some((name, ids)), Some(list)) => {
                let (array, cells) = found(name)?;
                let unit = any(array, list, |array| ids.read(array, &cells));
                read.push(unit.ok_or_else(changed)?);
            }
            (Some(_), None) | (None, _) => {}
        }
        Ok((read, batch.num_rows()))
    }
}

/// An array as a column; none if it is something else. One with a list keeps it.
fn any(
    array: &ArrayRef,
    list: &mut LastList,
    read: impl Fn(&ArrayRef) -> Option<Column>,
) -> Option<AnyColumn> {
    if !matches!(array.data_type(), DataType::Dictionary(..)) {
        return read(array).map(AnyColumn::Plain);
    }
    let listed = list.read(array, &read).map(AnyColumn::Listed);
    listed.or_else(|| read(&column::arrays::plain(array)?).map(AnyColumn::Plain))
}

fn changed() -> RowsError {
    RowsError::failed("a file has no longer the columns that it had")
}

/// What a worker reads of a CSV file.
struct CsvBatches {
    file: Arc<SharedCsv>,
    /// The block that it has, until all rows of it are read.
    block: Option<Block>,
    /// What columns are read as, by their position in a row, and which of the wanted ones it is.
    columns: Vec<(usize, Cell, usize)>,
    batch_rows: usize,
    wanted: Wanted,
}

#[derive(Clone)]
enum Cell {
    Value(Type),
    Unit(Ids),
}

impl CsvBatches {
    fn new(file: Arc<SharedCsv>, wanted: &Wanted, batch_rows: usize) -> Result<Self> {
        let values = wanted.columns.iter().map(|(name, kind)| (name, Cell::Value(*kind)));
        let unit = wanted.of_unit().map(|(name, cell)| match cell {
            IdCell::Exact(ids) => (name, Cell::Unit(ids.clone())),
            IdCell::Time(kind) => (name, Cell::Value(kind)),
        });
        let values = values.map(|(name, cell)| (name.as_str(), cell));
        let columns = values.chain(unit).enumerate().map(|(place, (name, cell))| {
            let position = file.names.iter().position(|column| column == name);
            Ok((position.ok_or_else(|| no_column(&file.file, name))?, cell, place))
        });
        let mut columns = columns.collect::<Result<Vec<_>>>()?;
        columns.sort_by_key(|(position, ..)| *position);
        Ok(Self { file, block: None, columns, batch_rows, wanted: wanted.clone() })
    }

    /// The next rows of the block, none if there are no more.
    fn read(&self, block: &mut Block) -> Option<(Vec<Column>, usize)> {
        let mut builders: Vec<_> = self
            .columns
            .iter()
            .map(|(_, cell, _)| ColumnBuilder::new(cell.kind(), self.batch_rows))
            .collect();
        let mut rows = 0;
        while rows < self.batch_rows && block.advance() {
            let mut cells = block.row().cells().enumerate();
            let mut here = cells.next();
            for ((position, cell, _), builder) in self.columns.iter().zip(&mut builders) {
                while here.as_ref().is_some_and(|(at, _)| at < position) {
                    here = cells.next();
                }
                let text = here.as_ref().and_then(|(_, text)| std::str::from_utf8(text).ok());
                cell.read(text.filter(|text| !text.is_empty()), builder);
            }
            rows += 1;
        }
        let columns = self.columns.iter().zip(builders);
        let mut columns: Vec<_> =
            columns.map(|((_, _, place), builder)| (*place, builder.finish())).collect();
        columns.sort_by_key(|(place, _)| *place);
        (rows > 0).then(|| (columns.into_iter().map(|(_, column)| column).collect(), rows))
    }
}

impl Iterator for CsvBatches {
    type Item = Result<(Vec<Column>, usize)>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(mut block) = self.block.take()
                && let Some((columns, rows)) = self.read(&mut block)
            {
                self.block = Some(block);
                return Some(self.wanted.joined(columns, rows));
            }
            match self.file.next_block() {
                Ok(Some(block)) => self.block = Some(block),
                Ok(None) => return None,
                Err(error) => return Some(Err(RowsError::failed(error))),
            }
        }
    }
}

impl Cell {
    /// The type of the column that it becomes.
    fn kind(&self) -> Type {
        match self {
            Self::Value(kind) => *kind,
            Self::Unit(ids) => ids.kind(),
        }
    }

    /// Reads a cell; one that is empty or not UTF-8 is none.
    fn read(&self, text: Option<&str>, builder: &mut ColumnBuilder) {
        // Long texts are cut here already, so that a batch has room for any. Others that are as
        // long are no values.
        match (self, text.filter(|text| text.len() > MAX_TEXT)) {
            (_, None) => builder.append(text),
            (Self::Value(Type::Text), Some(long)) => builder.append(Some(scalar::cut(long))),
            (Self::Unit(Ids::Value(Type::Text)), Some(long)) => {
                builder.append(Some(&column::identity(long)));
            }
            (Self::Value(_) | Self::Unit(_), Some(_)) => builder.append(None),
        }
    }
}

fn no_column(file: &DataFile, name: &str) -> RowsError {
    RowsError::failed(SourceError::NoColumn { file: file.name.clone(), column: name.to_owned() })
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use arrow_array::StringArray;
    use eke_sql::Value;
    use parquet::arrow::ArrowWriter;
    use parquet::file::properties::WriterProperties;

    use super::*;

    fn wanted(columns: &[(&str, Type)], unit: &str, ids: Ids) -> Wanted {
        let columns = columns.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect();
        Wanted { columns, unit: Some((unit.to_owned(), ids)) }
    }

    /// The rows of a CSV file as readers get them, in the order of the file if there is one.
    fn read(csv: &str, wanted: &Wanted, batch_rows: usize, readers: usize) -> Vec<Vec<Value>> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("rows.csv"), csv).unwrap();
        let source = Source::find(folder.path(), "rows.csv").unwrap();
        let mut rows = Vec::new();
        for piece in pieces(&source, readers).unwrap() {
            for batch in open_plain(piece, wanted, batch_rows).unwrap() {
                let (columns, count) = batch.unwrap();
                assert!((1..=batch_rows).contains(&count));
                let row = |row| columns.iter().map(|column| column.value(row)).collect();
                rows.extend((0..count).map(row));
            }
        }
        rows
    }

    #[test]
    fn cells_are_found_by_name_whatever_their_order() {
        let csv = "b,who,a,c\n1,u,x,2.5\n2\n,v,\"y, z\",7,8\nx, w ,,\n";
        let text = |text: &str| Value::Text(text.to_owned());
        let columns = [("a", Type::Text), ("b", Type::Int), ("who", Type::Text)];
        let wanted = wanted(&columns, "who", Ids::Value(Type::Text));
        let expected = [
            [text("x"), Value::Int(1), text("u"), text("u")],
            [Value::Null, Value::Int(2), Value::Null, Value::Null],
            [text("y, z"), Value::Null, text("v"), text("v")],
            [Value::Null, Value::Null, text(" w "), text(" w ")],
        ];
        for (batch_rows, readers) in [(1, 1), (3, 1), (100, 1), (2, 3)] {
            assert_eq!(read(csv, &wanted, batch_rows, readers), expected);
        }
    }

    /// A text that is longer than texts are is cut, but for a unit's, of which all counts; a number
    /// that is as long is none.
    #[test]
    fn long_cells_are_cut_and_units_are_told_apart() {
        let long = "7".repeat(MAX_TEXT + 1);
        let mut csv = "who,n\n".to_owned();
        for end in ["a", "b"] {
            writeln!(csv, "{long}{end},{}1", " ".repeat(MAX_TEXT)).unwrap();
        }
        let columns = [("n", Type::Int), ("who", Type::Text)];
        let rows = read(&csv, &wanted(&columns, "who", Ids::Value(Type::Text)), 10, 1);
        assert_eq!(rows[0][..2], [Value::Null, Value::Text(long[..MAX_TEXT].to_owned())]);
        assert_eq!(rows[0][..2], rows[1][..2]);
        assert_ne!(rows[0][2], rows[1][2]);
    }

    /// The batches of a row group whose pages list their texts share one list.
    #[test]
    fn texts_that_pages_list_are_read_as_lists() {
        let folder = tempfile::tempdir().unwrap();
        let texts = |names: &[&str]| -> ArrayRef {
            Arc::new((0..40).map(|row| Some(names[row % names.len()])).collect::<StringArray>())
        };
        let columns = [("a", texts(&["x", "y", "z"])), ("who", texts(&["ann", "bob"]))];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        for is_listed in [true, false] {
            let path = folder.path().join("rows.parquet");
            let properties = WriterProperties::builder().set_dictionary_enabled(is_listed).build();
            let file = File::create(&path).unwrap();
            let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
            writer.write(&batch).unwrap();
            writer.close().unwrap();
            let source = Source::find(folder.path(), "rows.parquet").unwrap();
            let wanted = wanted(&[("a", Type::Text)], "who", Ids::Value(Type::Text));
            let mut found = pieces(&source, 1).unwrap();
            let batches: Vec<_> = open(found.remove(0), &wanted, 16).unwrap().collect();
            let lists = batches.into_iter().flat_map(|batch| batch.unwrap().0);
            let mut lists = lists.map(|column| match column {
                AnyColumn::Listed(listed) => Some(Arc::clone(listed.list())),
                AnyColumn::Plain(_) => None,
            });
            let (first, unit) = (lists.next().unwrap(), lists.next().unwrap());
            assert_eq!((first.is_some(), unit.is_some()), (is_listed, is_listed));
            let again = lists.next().unwrap();
            if let (Some(first), Some(again)) = (first, again) {
                assert!(Arc::ptr_eq(&first, &again));
                assert_eq!(first.array().len(), 3 + 1, "and NULL");
            }
        }
    }
}
