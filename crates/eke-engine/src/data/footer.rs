//! What a Parquet file says about itself, and how its cells are read.
//!
//! A cell that is damaged is NULL, and a file that is damaged is refused before anything is
//! charged, as far as its footer tells. So texts are not read as texts: the reader would give up at
//! the first one that is not UTF-8. They are read as bytes, and so are decimals of any length, and
//! each cell is looked at by itself ([`Cells`]).

use std::fs::File;
use std::io::{Read as _, Seek, SeekFrom};
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, TimeUnit};
use eke_sql::Type;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::basic::{Compression, ConvertedType, Encoding, LogicalType, Type as Physical};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{FileMetaData, ParquetMetaData, RowGroupMetaData};
use parquet::schema::types::{SchemaDescriptor, Type as Node};

use crate::data::source::{self, DataFile, SourceError};
use crate::rows::column::type_of;
use crate::rows::quiet::quietly;

/// An open Parquet file.
pub(crate) struct Footer {
    pub(crate) raw: File,
    /// What rows are read by.
    pub(crate) metadata: ArrowReaderMetadata,
    /// The columns of the file, and how their cells are stored.
    pub(crate) columns: Arc<Vec<(String, Cells)>>,
}

/// How the cells of a column are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cells {
    /// As an Arrow type.
    Arrow(DataType),
    /// As bytes that should be UTF-8.
    Text,
    /// As whole numbers of any length, the highest byte first, with the given number of fractional
    /// digits.
    Decimal(i8),
    /// As days and nanoseconds, read as microseconds.
    Int96,
}

impl Cells {
    /// The type that they are read as; none if eke has no such type.
    pub(crate) fn kind(&self) -> Option<Type> {
        match self {
            Self::Arrow(arrow) => type_of(arrow),
            Self::Text => Some(Type::Text),
            Self::Decimal(_) => Some(Type::Float),
            Self::Int96 => Some(Type::Timestamp),
        }
    }

    /// The Arrow type that the reader makes of them.
    fn arrow(&self) -> DataType {
        match self {
            Self::Arrow(arrow) => arrow.clone(),
            Self::Text | Self::Decimal(_) => DataType::BinaryView,
            Self::Int96 => DataType::Timestamp(TimeUnit::Microsecond, None),
        }
    }
}

impl Footer {
    /// Opens a file and reads what it says about itself, and no row.
    pub(crate) fn open(file: &DataFile) -> Result<Self, SourceError> {
        let raw = source::raw(file)?;
        // A damaged footer may break the reader's assumptions.
        let read = quietly(|| read(&raw).ok());
        match read {
            Ok(Some((metadata, columns))) => Ok(Self { raw, metadata, columns: Arc::new(columns) }),
            _ => Err(SourceError::NotParquet(file.name.clone())),
        }
    }
}

type Read = (ArrowReaderMetadata, Vec<(String, Cells)>);

fn read(raw: &File) -> Result<Read> {
    let said = ArrowReaderMetadata::load(raw, ArrowReaderOptions::new())?;
    check(said.metadata(), pages_end(raw)?)?;
    let file = said.metadata().file_metadata();
    let roots = file.schema().get_fields();
    let fields = said.schema().fields();
    if roots.len() != fields.len() {
        return Err(damaged("columns"));
    }
    let columns: Vec<(String, Cells)> = roots
        .iter()
        .zip(fields)
        .map(|(root, field)| (field.name().clone(), cells(root, field.data_type())))
        .collect();
    // The same columns, without what makes the reader look into them.
    let mut plain = Vec::with_capacity(roots.len());
    for (root, (_, cells)) in roots.iter().zip(&columns) {
        plain.push(match cells {
            Cells::Text | Cells::Decimal(_) => {
                let info = root.get_basic_info();
                let node = Node::primitive_type_builder(root.name(), root.get_physical_type())
                    .with_repetition(info.repetition())
                    .with_id(info.has_id().then(|| info.id()));
                Arc::new(node.build()?)
            }
            Cells::Arrow(_) | Cells::Int96 => Arc::clone(root),
        });
    }
    let plain = Node::group_type_builder(file.schema().name()).with_fields(plain).build()?;
    let plain = FileMetaData::new(
        file.version(),
        file.num_rows(),
        file.created_by().map(str::to_owned),
        None,
        Arc::new(SchemaDescriptor::new(Arc::new(plain))),
        None,
    );
    let read_as = fields.iter().zip(&columns).map(|(field, (_, cells))| {
        let plain = Field::new(field.name(), cells.arrow(), field.is_nullable());
        Arc::new(plain.with_metadata(field.metadata().clone()))
    });
    let schema = Schema::new(read_as.collect::<Vec<_>>());
    let plain = ParquetMetaData::new(plain, said.metadata().row_groups().to_vec());
    let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
    Ok((ArrowReaderMetadata::try_new(Arc::new(plain), options)?, columns))
}

impl Footer {
    /// What each row group is read by: texts that all its pages list stay listed.
    pub(crate) fn row_groups(&self) -> Result<Vec<ArrowReaderMetadata>> {
        let file = self.metadata.metadata();
        // Those of most row groups are the same.
        let mut last: Option<(Vec<bool>, ArrowReaderMetadata)> = None;
        let groups = file.row_groups().iter().map(|group| {
            let listed: Vec<bool> = self.listed(group);
            if let Some((before, metadata)) = &last
                && *before == listed
            {
                return Ok(metadata.clone());
            }
            let fields = self.metadata.schema().fields().iter().zip(&listed);
            let fields = fields.map(|(field, is_listed)| match is_listed {
                false => Arc::clone(field),
                true => {
                    let kind =
                        DataType::Dictionary(DataType::Int32.into(), DataType::Binary.into());
                    Arc::new(field.as_ref().clone().with_data_type(kind))
                }
            });
            let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
            let options = ArrowReaderOptions::new().with_schema(schema);
            let metadata = ArrowReaderMetadata::try_new(Arc::clone(file), options)?;
            last = Some((listed, metadata.clone()));
            Ok(metadata)
        });
        groups.collect()
    }

    /// Which columns are texts that a row group lists.
    fn listed(&self, group: &RowGroupMetaData) -> Vec<bool> {
        let schema = group.schema_descr();
        let mut listed = vec![false; self.columns.len()];
        for (place, column) in group.columns().iter().enumerate() {
            let root = schema.get_column_root_idx(place);
            let is_text = matches!(self.columns.get(root), Some((_, Cells::Text)));
            let is_listed = column.dictionary_page_offset().is_some()
                && column.page_encoding_stats_mask().is_some_and(|pages| {
                    pages.is_only(Encoding::PLAIN_DICTIONARY)
                        || pages.is_only(Encoding::RLE_DICTIONARY)
                });
            if let Some(listed) = listed.get_mut(root) {
                *listed = is_text && is_listed;
            }
        }
        listed
    }
}

fn cells(root: &Node, arrow: &DataType) -> Cells {
    if !root.is_primitive() {
        return Cells::Arrow(arrow.clone());
    }
    // Whether rows were in a dictionary when they were written says nothing, and too many values of
    // it would fail the reader. Whether pages have one is seen later.
    let arrow = if let DataType::Dictionary(_, values) = arrow { values.as_ref() } else { arrow };
    let info = root.get_basic_info();
    let scaled = |scale: i32| {
        i8::try_from(scale).map_or_else(|_| Cells::Arrow(DataType::Null), Cells::Decimal)
    };
    match (root.get_physical_type(), info.logical_type_ref(), info.converted_type()) {
        (Physical::INT96, ..) => Cells::Int96,
        (Physical::BYTE_ARRAY, Some(LogicalType::Decimal(decimal)), _) => scaled(decimal.scale),
        (Physical::BYTE_ARRAY, None, ConvertedType::DECIMAL) => scaled(root.get_scale()),
        (Physical::BYTE_ARRAY, ..) if type_of(arrow) == Some(Type::Text) => Cells::Text,
        _ => Cells::Arrow(arrow.clone()),
    }
}

/// Where the footer begins: pages end before it. The last eight bytes of a file are its length and
/// a mark.
fn pages_end(mut raw: &File) -> Result<u64> {
    let end = raw.seek(SeekFrom::End(-8))?;
    let mut length = [0; 4];
    raw.read_exact(&mut length)?;
    end.checked_sub(u32::from_le_bytes(length).into()).ok_or_else(|| damaged("footer"))
}

/// Whether what the footer says can be so in a file whose pages end there.
fn check(metadata: &ParquetMetaData, length: u64) -> Result<()> {
    let mut rows = 0i64;
    for group in metadata.row_groups() {
        check_group(group, metadata.file_metadata().schema_descr().num_columns(), length)?;
        rows = rows.checked_add(group.num_rows()).ok_or_else(|| damaged("rows"))?;
    }
    if rows != metadata.file_metadata().num_rows() {
        return Err(damaged("rows"));
    }
    Ok(())
}

fn check_group(group: &RowGroupMetaData, columns: usize, length: u64) -> Result<()> {
    if group.num_rows() < 0 || group.num_columns() != columns {
        return Err(damaged("row group"));
    }
    for column in group.columns() {
        let start = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
        let end = u64::try_from(start)
            .ok()
            .zip(u64::try_from(column.compressed_size()).ok())
            .and_then(|(start, size)| start.checked_add(size));
        let is_here =
            end.is_some_and(|end| end <= length) && column.file_path().is_none_or(str::is_empty);
        // A nested column may have more values than rows, and others have exactly as many.
        let is_flat = column.column_descr().max_rep_level() == 0;
        let is_whole = !is_flat || column.num_values() == group.num_rows();
        if !is_here || !is_whole || column.num_values() < 0 {
            return Err(damaged("column"));
        }
        if let Compression::LZO = column.compression() {
            return Err(damaged("compression"));
        }
    }
    Ok(())
}

fn damaged(what: &str) -> ParquetError {
    ParquetError::General(what.to_owned())
}
