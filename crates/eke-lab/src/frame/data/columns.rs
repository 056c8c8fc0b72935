//! Columns of a Parquet file, by name: whole numbers, numbers and bytes, with a value or none for
//! each row.

use std::fmt::Display;
use std::fs::File;
use std::path::{Path, PathBuf};

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType, FixedLenByteArray};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::DataError;

/// Columns of one file, all with a value or none for each of its rows.
pub(super) struct FileColumns {
    path: PathBuf,
    reader: SerializedFileReader<File>,
}

/// A column, or a part of it.
type Values<T> = Vec<Option<T>>;

impl FileColumns {
    pub(super) fn open(path: &Path) -> Result<Self, DataError> {
        let file = File::open(path).map_err(|error| DataError::missing(path, &error))?;
        let reader = SerializedFileReader::new(file);
        let reader = reader.map_err(|error| DataError::missing(path, &error))?;
        Ok(Self { path: path.to_owned(), reader })
    }

    /// A column of whole numbers, also of those that are stored with fewer bits, or of yes (1) and
    /// no (0).
    pub(super) fn whole(&self, name: &'static str) -> Result<Values<i64>, DataError> {
        self.column(name, |part, rows| match part {
            ColumnReader::BoolColumnReader(part) => Some(rows.read(part, |&v| i64::from(v))),
            ColumnReader::Int32ColumnReader(part) => Some(rows.read(part, |&v| i64::from(v))),
            ColumnReader::Int64ColumnReader(part) => Some(rows.read(part, |&v| v)),
            _ => None,
        })
    }

    /// A column of numbers, whole ones included.
    pub(super) fn numbers(&self, name: &'static str) -> Result<Values<f64>, DataError> {
        self.column(name, |part, rows| match part {
            ColumnReader::FloatColumnReader(part) => Some(rows.read(part, |&v| f64::from(v))),
            ColumnReader::DoubleColumnReader(part) => Some(rows.read(part, |&v| v)),
            ColumnReader::Int32ColumnReader(part) => Some(rows.read(part, |&v| f64::from(v))),
            ColumnReader::Int64ColumnReader(part) => Some(rows.read(part, |&v| v as f64)),
            _ => None,
        })
    }

    /// A column of bytes or text.
    pub(super) fn bytes(&self, name: &'static str) -> Result<Values<Vec<u8>>, DataError> {
        self.column(name, |part, rows| match part {
            ColumnReader::ByteArrayColumnReader(part) => {
                Some(rows.read(part, |v: &ByteArray| v.data().to_vec()))
            }
            ColumnReader::FixedLenByteArrayColumnReader(part) => {
                Some(rows.read(part, |v: &FixedLenByteArray| v.data().to_vec()))
            }
            _ => None,
        })
    }

    /// A column that is not nested, part by part, each read by `values` if it is of the right kind.
    fn column<T>(
        &self,
        name: &'static str,
        values: impl Fn(ColumnReader, Rows) -> Option<Result<Values<T>, ParquetError>>,
    ) -> Result<Values<T>, DataError> {
        let missing = |error: &dyn Display| DataError::missing(&self.path, error);
        let other = || DataError::other(&self.path, name);
        let schema = self.reader.metadata().file_metadata().schema_descr();
        let place = schema.columns().iter().position(|column| column.path().string() == name);
        let place = place.ok_or_else(other)?;
        let described = schema.column(place);
        if described.max_rep_level() > 0 || described.max_def_level() > 1 {
            return Err(other());
        }
        let nullable = described.max_def_level() == 1;
        let mut column = Vec::new();
        for group in 0..self.reader.num_row_groups() {
            let group = self.reader.get_row_group(group).map_err(|error| missing(&error))?;
            let count = group.metadata().num_rows();
            let count = usize::try_from(count).map_err(|error| missing(&error))?;
            let part = group.get_column_reader(place).map_err(|error| missing(&error))?;
            let part = values(part, Rows { count, nullable }).ok_or_else(other)?;
            column.extend(part.map_err(|error| missing(&error))?);
        }
        Ok(column)
    }
}

/// The rows of a part of a column.
#[derive(Clone, Copy)]
struct Rows {
    count: usize,
    nullable: bool,
}

impl Rows {
    fn read<D: DataType, T>(
        self,
        mut reader: ColumnReaderImpl<D>,
        value: impl Fn(&D::T) -> T,
    ) -> Result<Values<T>, ParquetError> {
        let mut all = Vec::with_capacity(self.count);
        while all.len() < self.count {
            let (mut read, mut levels) = (Vec::new(), Vec::new());
            let wanted = (self.count - all.len()).min(1 << 16);
            let into = self.nullable.then_some(&mut levels);
            let (records, _, _) = reader.read_records(wanted, into, None, &mut read)?;
            if records == 0 {
                break;
            }
            let mut present = read.iter().map(&value);
            if self.nullable {
                all.extend(
                    levels.iter().map(|&level| (level > 0).then(|| present.next()).flatten()),
                );
            } else {
                all.extend(present.map(Some));
            }
        }
        Ok(all)
    }
}
