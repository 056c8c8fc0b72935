//! Columns of a Parquet file, by name: whole numbers, numbers and bytes. A row with a null in it
//! has none of them there, and says so.

use std::path::{Path, PathBuf};

use super::DataError;

/// A column, a value or none for each row.
#[derive(Clone, Debug, PartialEq)]
pub enum FileColumn {
    /// Whole numbers, also those that are stored with fewer bits, and yes (1) or no (0).
    Whole(Vec<Option<i64>>),
    /// Numbers.
    Number(Vec<Option<f64>>),
    /// Bytes, or text in UTF-8.
    Bytes(Vec<Option<Vec<u8>>>),
}

/// Columns of one file, all with a value or none for each of its rows.
#[derive(Debug)]
pub struct FileColumns {
    path: PathBuf,
    columns: Vec<(&'static str, FileColumn)>,
}

impl FileColumns {
    /// Reads these columns of a file.
    ///
    /// # Errors
    /// The file cannot be read, or a column is missing or nested.
    pub fn read(path: &Path, names: &[&'static str]) -> Result<Self, DataError> {
        let columns = file::read(path, names)?;
        Ok(Self { path: path.to_owned(), columns })
    }

    /// A column of whole numbers, which is taken out.
    ///
    /// # Errors
    /// It is missing, or of another kind.
    pub fn whole(&mut self, name: &'static str) -> Result<Vec<Option<i64>>, DataError> {
        match self.take(name) {
            Some(FileColumn::Whole(values)) => Ok(values),
            _ => Err(DataError::other(&self.path, name)),
        }
    }

    /// A column of numbers, whole ones included, which is taken out.
    ///
    /// # Errors
    /// It is missing, or of another kind.
    pub fn numbers(&mut self, name: &'static str) -> Result<Vec<Option<f64>>, DataError> {
        let number = |value: i64| value as f64;
        match self.take(name) {
            Some(FileColumn::Number(values)) => Ok(values),
            Some(FileColumn::Whole(values)) => {
                Ok(values.into_iter().map(|v| v.map(number)).collect())
            }
            _ => Err(DataError::other(&self.path, name)),
        }
    }

    /// A column of bytes or text, which is taken out.
    ///
    /// # Errors
    /// It is missing, or of another kind.
    pub fn bytes(&mut self, name: &'static str) -> Result<Vec<Option<Vec<u8>>>, DataError> {
        match self.take(name) {
            Some(FileColumn::Bytes(values)) => Ok(values),
            _ => Err(DataError::other(&self.path, name)),
        }
    }

    fn take(&mut self, name: &str) -> Option<FileColumn> {
        let place = self.columns.iter().position(|(other, _)| *other == name)?;
        Some(self.columns.swap_remove(place).1)
    }
}

mod file {
    use std::fs::File;
    use std::path::Path;

    use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
    use parquet::data_type::DataType;
    use parquet::errors::ParquetError;
    use parquet::file::reader::{FileReader, SerializedFileReader};

    use super::{DataError, FileColumn};

    pub(super) fn read(
        path: &Path,
        names: &[&'static str],
    ) -> Result<Vec<(&'static str, FileColumn)>, DataError> {
        let missing = |error: &dyn std::fmt::Display| DataError::missing(path, error);
        let opened = File::open(path).map_err(|error| missing(&error))?;
        let reader = SerializedFileReader::new(opened).map_err(|error| missing(&error))?;
        let schema = reader.metadata().file_metadata().schema_descr_ptr();
        let mut columns = Vec::new();
        for &name in names {
            let other = || DataError::other(path, name);
            let place = schema.columns().iter().position(|column| column.path().string() == name);
            let place = place.ok_or_else(other)?;
            let described = schema.column(place);
            if described.max_rep_level() > 0 || described.max_def_level() > 1 {
                return Err(other());
            }
            let nullable = described.max_def_level() == 1;
            let mut column: Option<FileColumn> = None;
            for group in 0..reader.num_row_groups() {
                let group = reader.get_row_group(group).map_err(|error| missing(&error))?;
                let rows = group.metadata().num_rows();
                let rows = usize::try_from(rows).map_err(|error| missing(&error))?;
                let part = group.get_column_reader(place).map_err(|error| missing(&error))?;
                let part = values(part, rows, nullable).map_err(|error| missing(&error))?;
                let part = part.ok_or_else(other)?;
                column = match (column, part) {
                    (None, part) => Some(part),
                    (Some(FileColumn::Whole(mut all)), FileColumn::Whole(part)) => {
                        all.extend(part);
                        Some(FileColumn::Whole(all))
                    }
                    (Some(FileColumn::Number(mut all)), FileColumn::Number(part)) => {
                        all.extend(part);
                        Some(FileColumn::Number(all))
                    }
                    (Some(FileColumn::Bytes(mut all)), FileColumn::Bytes(part)) => {
                        all.extend(part);
                        Some(FileColumn::Bytes(all))
                    }
                    _ => return Err(other()),
                };
            }
            columns.push((name, column.ok_or_else(other)?));
        }
        Ok(columns)
    }

    /// The values of a part of a column; none if they are of a kind that the lab does not read.
    fn values(
        reader: ColumnReader,
        rows: usize,
        nullable: bool,
    ) -> Result<Option<FileColumn>, ParquetError> {
        Ok(Some(match reader {
            ColumnReader::BoolColumnReader(reader) => {
                FileColumn::Whole(all(reader, rows, nullable, |v: &bool| i64::from(*v))?)
            }
            ColumnReader::Int32ColumnReader(reader) => {
                FileColumn::Whole(all(reader, rows, nullable, |v: &i32| i64::from(*v))?)
            }
            ColumnReader::Int64ColumnReader(reader) => {
                FileColumn::Whole(all(reader, rows, nullable, |v: &i64| *v)?)
            }
            ColumnReader::FloatColumnReader(reader) => {
                FileColumn::Number(all(reader, rows, nullable, |v: &f32| f64::from(*v))?)
            }
            ColumnReader::DoubleColumnReader(reader) => {
                FileColumn::Number(all(reader, rows, nullable, |v: &f64| *v)?)
            }
            ColumnReader::ByteArrayColumnReader(reader) => FileColumn::Bytes(all(
                reader,
                rows,
                nullable,
                |v: &parquet::data_type::ByteArray| v.data().to_vec(),
            )?),
            ColumnReader::FixedLenByteArrayColumnReader(reader) => FileColumn::Bytes(all(
                reader,
                rows,
                nullable,
                |v: &parquet::data_type::FixedLenByteArray| v.data().to_vec(),
            )?),
            ColumnReader::Int96ColumnReader(_) => return Ok(None),
        }))
    }

    fn all<D: DataType, T>(
        mut reader: ColumnReaderImpl<D>,
        rows: usize,
        nullable: bool,
        value: impl Fn(&D::T) -> T,
    ) -> Result<Vec<Option<T>>, ParquetError> {
        let mut all = Vec::with_capacity(rows);
        while all.len() < rows {
            let (mut read, mut levels) = (Vec::new(), Vec::new());
            let wanted = (rows - all.len()).min(1 << 16);
            let into = nullable.then_some(&mut levels);
            let (records, _, _) = reader.read_records(wanted, into, None, &mut read)?;
            if records == 0 {
                break;
            }
            let mut present = read.iter().map(&value);
            if nullable {
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
