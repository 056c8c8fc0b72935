//! A dataset's files: which they are, what columns they have, and whether they are still the same.
//!
//! Nothing here reads a row of a Parquet file, nor, but for [`Source::guess_types`], one of a CSV
//! file. A file is looked at before it is opened: what is no ordinary file, such as a pipe, would
//! wait for its writer.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use eke_sql::{Type, UnitColumns, scalar};
use flate2::read::MultiGzDecoder;
use serde::{Deserialize, Serialize};

use crate::data::blocks::Row;
use crate::data::footer::Footer;
use crate::data::ids::{IdParts, Ids};
use crate::data::lines::{CsvRows, Written};

/// The files of a dataset, all of one format, in the order of their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    format: Format,
    files: Vec<DataFile>,
}

/// Columns by name, with their types; none for types that eke has not.
type Columns = Vec<(String, Option<Type>)>;

/// What files are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Parquet,
    Csv,
}

/// One file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DataFile {
    pub(crate) path: PathBuf,
    /// As seen from the policy's folder.
    pub(crate) name: String,
    pub(crate) gzip: bool,
    /// Whether rows of CSV go over several lines; none while nobody has looked or said so.
    pub(crate) is_multiline: Option<bool>,
}

/// Why files cannot be used, for the steward: it names files and columns, and no values.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// It does not exist.
    #[error(
        "there is no file `{0}`: a source is a file, a folder or a pattern, as seen from the policy"
    )]
    Missing(String),
    /// No file is like the pattern.
    #[error("no file is like `{0}`")]
    NoMatch(String),
    /// The pattern is none.
    #[error("`{pattern}` is not a pattern of file names: {reason}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A folder without data.
    #[error("the folder `{0}` has no .parquet, .csv or .csv.gz files")]
    EmptyFolder(String),
    /// Another kind of file.
    #[error("`{0}` is neither Parquet (.parquet) nor CSV (.csv, .csv.gz), by its name")]
    UnknownFormat(String),
    /// Files of two kinds.
    #[error("a dataset has files of one format, but `{parquet}` is Parquet and `{csv}` is CSV")]
    Mixed {
        /// A Parquet file.
        parquet: String,
        /// A CSV file.
        csv: String,
    },
    /// Not what its name says.
    #[error("`{0}` is not a Parquet file, or it is damaged")]
    NotParquet(String),
    /// A CSV file without a first line, or one that is no text.
    #[error("`{0}` has no header: the first line of a CSV file names its columns")]
    NoHeader(String),
    /// Two columns of one name.
    #[error("`{file}` has two columns with the name `{column}`")]
    TwoColumns {
        /// The file.
        file: String,
        /// The name.
        column: String,
    },
    /// Files with different columns.
    #[error(
        "`{one}` and `{other}` do not agree about the column `{column}`, as files of one dataset must"
    )]
    Disagree {
        /// A file.
        one: String,
        /// Another file.
        other: String,
        /// The column that they differ in.
        column: String,
    },
    /// A column of the policy that is not in the files.
    #[error("`{file}` has no column `{column}`")]
    NoColumn {
        /// The file.
        file: String,
        /// The column.
        column: String,
    },
    /// A header that is no header: a name with characters that cannot be seen, or turn what is
    /// shown around.
    #[error(
        "a column of `{0}` has a name with control characters: the first line of a CSV file, and the schema of a \
         Parquet file, name the columns in plain text"
    )]
    ControlCharacters(String),
    /// A unit column that does not tell units apart.
    #[error(
        "the column `{column}` of `{file}` cannot say which unit a row belongs to: floats, and times whose nanoseconds may be cut \
         off, do not tell units apart exactly; write it to the file as text or whole numbers"
    )]
    Inexact {
        /// The file.
        file: String,
        /// The column.
        column: String,
    },
    /// It changed while it was read.
    #[error("`{0}` changed while it was being read")]
    Changed(String),
    /// The system does not let us read it.
    #[error("`{file}` cannot be read: {error}")]
    Unreadable {
        /// The file.
        file: String,
        /// What the system says.
        error: io::Error,
    },
}

/// What files were at some time: their content by one digest, and what tells cheaply that they have
/// not been touched since.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fingerprint {
    /// BLAKE3 over names, lengths and contents, in hexadecimal digits.
    pub digest: String,
    files: Vec<Stamp>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stamp {
    name: String,
    length: u64,
    /// Nanoseconds since 1970; none where the system does not say.
    modified: Option<u64>,
    /// Whether its rows go over several lines.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_multiline: bool,
    /// From which row on it is not as CSV programs write, where that matters.
    #[serde(skip)]
    odd_row: Option<u64>,
}

impl Stamp {
    /// Whether a file seems to be as it was.
    fn is_untouched(&self, before: &Self, file: &DataFile) -> bool {
        let is_there = |stamp: &Self| (stamp.name.clone(), stamp.length, stamp.modified);
        self.modified.is_some()
            && is_there(self) == is_there(before)
            && file.is_multiline.is_none_or(|said| said == before.is_multiline)
    }
}

impl Fingerprint {
    /// What the steward is to know of how files were written.
    pub(crate) fn remarks(&self) -> impl Iterator<Item = String> {
        self.files.iter().filter_map(|file| {
            let (name, row) = (&file.name, file.odd_row?);
            Some(format!(
                "`{name}` has quotes that are left open at the end of a line, but is not as CSV \
                 programs write it (row {row} is the first that shows it): every line of it is \
                 read as a row, and a cell with the end of a line in it as several, which may be \
                 those of others. Write it anew with such a program or as Parquet, or say \
                 multiline = true or false in the policy; then run `eke snapshot`"
            ))
        })
    }
}

impl Source {
    /// The files that a policy's `source` names: a file, a folder, or a pattern with `*`, `?`,
    /// `[…]`, as seen from the policy's folder.
    ///
    /// # Errors
    /// There are none, or they are of several formats, or of one that cannot be read.
    pub fn find(base: &Path, source: &str) -> Result<Self, SourceError> {
        let path = base.join(source);
        let mut paths = match fs::metadata(&path) {
            Ok(metadata) if metadata.is_dir() => {
                let files = folder(&path, source)?;
                if files.is_empty() {
                    return Err(SourceError::EmptyFolder(source.to_owned()));
                }
                files
            }
            Ok(_) => vec![path],
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if !source.contains(['*', '?', '[']) {
                    return Err(SourceError::Missing(source.to_owned()));
                }
                matching(base, source)?
            }
            Err(error) => return Err(unreadable(source, error)),
        };
        paths.sort();
        let mut files = Vec::with_capacity(paths.len());
        let mut formats: BTreeMap<bool, String> = BTreeMap::new();
        for path in paths {
            let name = path.strip_prefix(base).unwrap_or(&path).display().to_string();
            let (format, gzip) =
                format_of(&path).ok_or_else(|| SourceError::UnknownFormat(name.clone()))?;
            formats.entry(format == Format::Parquet).or_insert_with(|| name.clone());
            files.push(DataFile { path, name, gzip, is_multiline: None });
        }
        match (formats.remove(&true), formats.remove(&false)) {
            (Some(parquet), Some(csv)) => Err(SourceError::Mixed { parquet, csv }),
            (Some(_), None) => Ok(Self { format: Format::Parquet, files }),
            _ => Ok(Self { format: Format::Csv, files }),
        }
    }

    /// One file of a format that is read elsewhere, for its fingerprint and its bytes. (Nothing
    /// scans it for rows.)
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn one(path: &Path) -> Result<Self, SourceError> {
        let name = path.display().to_string();
        let gzip = name.to_lowercase().ends_with(".gz");
        let file = DataFile { path: path.to_owned(), name, gzip, is_multiline: None };
        drop(raw(&file)?);
        Ok(Self { format: Format::Csv, files: vec![file] })
    }

    /// The same files, with what a policy says of whether rows of CSV go over several lines.
    #[must_use]
    pub fn multiline(mut self, said: Option<bool>) -> Self {
        for file in &mut self.files {
            file.is_multiline = said.filter(|_| self.format == Format::Csv);
        }
        self
    }

    /// The same files, to be read as when they were looked through.
    pub(crate) fn read_as(mut self, snapshot: &Fingerprint) -> Self {
        for file in &mut self.files {
            let known = snapshot.files.iter().find(|stamp| stamp.name == file.name);
            file.is_multiline = Some(known.is_some_and(|stamp| stamp.is_multiline));
        }
        self
    }

    pub(crate) fn format(&self) -> Format {
        self.format
    }

    pub(crate) fn files(&self) -> &[DataFile] {
        &self.files
    }

    /// How many rows there are, where the files say so themselves. For the steward.
    pub(crate) fn rows(&self) -> Option<u64> {
        if self.format != Format::Parquet {
            return None;
        }
        let rows = |file| {
            let footer = Footer::open(file).ok()?;
            u64::try_from(footer.metadata.metadata().file_metadata().num_rows()).ok()
        };
        self.files.iter().map(rows).sum()
    }

    /// Whether types of columns are the policy's to declare, as the files do not say them.
    #[must_use]
    pub fn needs_types(&self) -> bool {
        self.format == Format::Csv
    }

    /// The columns, in the order of the first file, and their types; none for types that eke has
    /// not. Those of CSV files are text unless they are declared; those of Parquet files say what
    /// they are themselves.
    ///
    /// # Errors
    /// A file cannot be read, or the files do not agree, or a name occurs twice or is declared in
    /// vain.
    pub fn schema(&self, declared: &BTreeMap<String, Type>) -> Result<Columns, SourceError> {
        let mut first: Option<(&DataFile, Columns)> = None;
        for file in &self.files {
            let columns = match self.format {
                Format::Parquet => parquet_columns(file)?,
                Format::Csv => header(file)?
                    .into_iter()
                    .map(|name| {
                        let kind = declared.get(&name).copied().unwrap_or(Type::Text);
                        (name, Some(kind))
                    })
                    .collect(),
            };
            let mut names = BTreeSet::new();
            if let Some((column, _)) = columns.iter().find(|(name, _)| !names.insert(name.as_str()))
            {
                let (file, column) = (file.name.clone(), column.clone());
                return Err(SourceError::TwoColumns { file, column });
            }
            if let Some(column) = declared.keys().find(|name| !names.contains(name.as_str())) {
                let (file, column) = (file.name.clone(), column.clone());
                return Err(SourceError::NoColumn { file, column });
            }
            let Some((one, agreed)) = &first else {
                first = Some((file, columns));
                continue;
            };
            let here: BTreeMap<_, _> = columns.iter().map(|(name, kind)| (name, kind)).collect();
            let there: BTreeMap<_, _> = agreed.iter().map(|(name, kind)| (name, kind)).collect();
            let mut all = there.keys().chain(here.keys());
            if let Some(column) = all.find(|name| here.get(**name) != there.get(**name)) {
                return Err(SourceError::Disagree {
                    one: one.name.clone(),
                    other: file.name.clone(),
                    column: (*column).clone(),
                });
            }
        }
        Ok(first.map(|(_, columns)| columns).unwrap_or_default())
    }

    /// What the ids of units are read as, if they are exact: those in a column, or in several that
    /// go by one name ([`UnitColumns`]).
    ///
    /// # Errors
    /// A file cannot be read, has no such column or one that is not exact, or the files do not
    /// agree.
    pub(crate) fn ids(
        &self,
        column: &str,
        declared: &BTreeMap<String, Type>,
    ) -> Result<Ids, SourceError> {
        let unit = UnitColumns::read(column);
        if !unit.is_composed() {
            return self.ids_in(column, declared);
        }
        let ids = unit.columns.iter().map(|column| self.ids_in(column, declared));
        let ids = ids.collect::<Result<Vec<_>, _>>()?;
        let schema = self.schema(declared)?;
        let time = unit.period.as_ref().and_then(|period| {
            schema.iter().find(|(name, _)| *name == period.time_column).and_then(|(_, kind)| *kind)
        });
        Ok(Ids::Parts(Box::new(IdParts::new(&unit, ids, time))))
    }

    fn ids_in(&self, column: &str, declared: &BTreeMap<String, Type>) -> Result<Ids, SourceError> {
        let mut agreed: Option<(&DataFile, Ids)> = None;
        for file in &self.files {
            let inexact =
                || SourceError::Inexact { file: file.name.clone(), column: column.to_owned() };
            let here = match self.format {
                Format::Csv => Ids::of_text(declared.get(column).copied().unwrap_or(Type::Text))
                    .ok_or_else(inexact)?,
                Format::Parquet => {
                    let columns = Footer::open(file)?.columns;
                    let found = columns.iter().find(|(name, _)| name == column);
                    let (_, cells) = found.ok_or_else(|| SourceError::NoColumn {
                        file: file.name.clone(),
                        column: column.to_owned(),
                    })?;
                    Ids::of_cells(cells).ok_or_else(inexact)?
                }
            };
            match agreed {
                Some((one, ref ids)) if *ids != here => {
                    return Err(SourceError::Disagree {
                        one: one.name.clone(),
                        other: file.name.clone(),
                        column: column.to_owned(),
                    });
                }
                _ => agreed = Some((file, here)),
            }
        }
        Ok(agreed.map_or(Ids::Value(Type::Text), |(_, ids)| ids))
    }

    /// What types the columns of CSV files look like, by their first thousand rows: for the
    /// steward, who may see them, when a policy is drafted. What they look like is a guess; no
    /// value is returned.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn guess_types(&self) -> Result<Vec<(String, Type)>, SourceError> {
        let Some(file) = self.files.first() else { return Ok(Vec::new()) };
        if self.format == Format::Parquet {
            let columns = parquet_columns(file)?.into_iter();
            return Ok(columns.filter_map(|(name, kind)| Some((name, kind?))).collect());
        }
        let names = header(file)?;
        let mut guesses = vec![Guess::default(); names.len()];
        let mut rows = CsvRows::open(file)?;
        // The header, and then the rows.
        for row in 0..=1_000 {
            let read = rows.next_row().map_err(|error| unreadable(&file.name, error))?;
            let Some(cells) = read.map(Row::cells) else { break };
            if row > 0 {
                for (guess, cell) in guesses.iter_mut().zip(cells) {
                    guess.look(&String::from_utf8_lossy(&cell));
                }
            }
        }
        Ok(names.into_iter().zip(guesses.iter().map(Guess::kind)).collect())
    }

    /// What the files are now, by their content.
    ///
    /// # Errors
    /// A file cannot be read, or changes meanwhile.
    pub fn fingerprint(&self) -> Result<Fingerprint, SourceError> {
        let mut files = self.stamps()?;
        let before = files.clone();
        let mut all = blake3::Hasher::new_derive_key("eke 2026 fingerprint of a dataset's files");
        for (file, stamp) in self.files.iter().zip(&mut files) {
            let mut content = blake3::Hasher::new();
            content.update_reader(raw(file)?).map_err(|error| unreadable(&file.name, error))?;
            if content.count() != stamp.length {
                return Err(SourceError::Changed(file.name.clone()));
            }
            all.update(&(stamp.name.len() as u64).to_le_bytes());
            all.update(stamp.name.as_bytes());
            all.update(&stamp.length.to_le_bytes());
            all.update(content.finalize().as_bytes());
            if self.format == Format::Csv {
                let written = match file.is_multiline {
                    None => Written::look(file)?,
                    Some(true) => Written::OverLines,
                    Some(false) => Written::InLines,
                };
                stamp.is_multiline = written == Written::OverLines;
                if let Written::Otherwise { row } = written {
                    stamp.odd_row = Some(row);
                }
                // Read otherwise, it is another content.
                if stamp.is_multiline {
                    all.update(b"multiline");
                }
            }
        }
        if self.stamps()? != before {
            let name = self.files.first().map(|file| file.name.clone());
            return Err(SourceError::Changed(name.unwrap_or_default()));
        }
        Ok(Fingerprint { digest: all.finalize().to_hex().to_string(), files })
    }

    /// As [`Source::fingerprint`], but without reading content if names, lengths and times are
    /// those of an earlier one.
    ///
    /// # Errors
    /// A file cannot be read, or changes meanwhile.
    pub fn fingerprint_since(&self, earlier: &Fingerprint) -> Result<Fingerprint, SourceError> {
        let now = self.stamps()?;
        let untouched = now.len() == earlier.files.len()
            && now
                .iter()
                .zip(&earlier.files)
                .zip(&self.files)
                .all(|((now, before), file)| now.is_untouched(before, file));
        if untouched { Ok(earlier.clone()) } else { self.fingerprint() }
    }

    fn stamps(&self) -> Result<Vec<Stamp>, SourceError> {
        let stamp = |file: &DataFile| {
            let metadata = fs::metadata(&file.path).map_err(|error| missing_or(file, error))?;
            let modified = metadata.modified().ok();
            let since = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            let modified = since.and_then(|since| u64::try_from(since.as_nanos()).ok());
            let (name, length) = (file.name.clone(), metadata.len());
            Ok(Stamp { name, length, modified, is_multiline: false, odd_row: None })
        };
        self.files.iter().map(stamp).collect()
    }
}

/// A file's bytes, unpacked if it is packed.
pub(crate) fn open(file: &DataFile) -> Result<Box<dyn Read + Send>, SourceError> {
    let raw = BufReader::with_capacity(1 << 16, raw(file)?);
    Ok(if file.gzip { Box::new(MultiGzDecoder::new(raw)) } else { Box::new(raw) })
}

/// The names in the first line.
pub(crate) fn header(file: &DataFile) -> Result<Vec<String>, SourceError> {
    let mut rows = CsvRows::header(file)?;
    let header = rows.next_row().map_err(|error| unreadable(&file.name, error))?;
    let cells = header.into_iter().flat_map(Row::cells);
    let names: Option<Vec<String>> =
        cells.map(|name| String::from_utf8(name.into_owned()).ok()).collect();
    match names {
        Some(names) if !names.is_empty() => {
            check_names(names.iter().map(String::as_str), file)?;
            Ok(names)
        }
        _ => Err(SourceError::NoHeader(file.name.clone())),
    }
}

fn parquet_columns(file: &DataFile) -> Result<Columns, SourceError> {
    let footer = Footer::open(file)?;
    let columns = footer.columns.iter().map(|(name, cells)| (name.clone(), cells.kind()));
    let columns: Columns = columns.collect();
    check_names(columns.iter().map(|(name, _)| name.as_str()), file)?;
    Ok(columns)
}

/// Whether names of columns can be shown: analysts see them.
fn check_names<'a>(
    mut names: impl Iterator<Item = &'a str>,
    file: &DataFile,
) -> Result<(), SourceError> {
    let is_hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}')
            || matches!(c, '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    if names.any(|name| name.contains(is_hidden)) {
        return Err(SourceError::ControlCharacters(file.name.clone()));
    }
    Ok(())
}

/// A file, as it lies there.
pub(crate) fn raw(file: &DataFile) -> Result<File, SourceError> {
    open_file(&file.path).map_err(|error| missing_or(file, error))
}

/// Reads an ordinary file as a whole.
pub(crate) fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    if fs::metadata(path)?.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let mut bytes = Vec::new();
    open_file(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens an ordinary file. Anything else is refused before it is opened: a pipe would wait for its
/// other end, and a folder would fail later with a stranger sentence.
pub(crate) fn open_file(path: &Path) -> io::Result<File> {
    let other = || io::Error::other("it is not an ordinary file");
    if !fs::metadata(path)?.is_file() {
        return Err(other());
    }
    let raw = File::open(path)?;
    if raw.metadata()?.is_file() { Ok(raw) } else { Err(other()) }
}

fn missing_or(file: &DataFile, error: io::Error) -> SourceError {
    if error.kind() == io::ErrorKind::NotFound {
        SourceError::Missing(file.name.clone())
    } else {
        unreadable(&file.name, error)
    }
}

fn unreadable(file: &str, error: io::Error) -> SourceError {
    SourceError::Unreadable { file: file.to_owned(), error }
}

fn format_of(path: &Path) -> Option<(Format, bool)> {
    let name = path.file_name()?.to_string_lossy().to_lowercase();
    let endings = [
        (".parquet", (Format::Parquet, false)),
        (".csv", (Format::Csv, false)),
        (".csv.gz", (Format::Csv, true)),
    ];
    endings.into_iter().find(|(end, _)| name.ends_with(end)).map(|(_, format)| format)
}

/// The data files of a folder; other files, and hidden ones, are none.
fn folder(path: &Path, source: &str) -> Result<Vec<PathBuf>, SourceError> {
    let mut files = Vec::new();
    for entry in fs::read_dir(path).map_err(|error| unreadable(source, error))? {
        let path = entry.map_err(|error| unreadable(source, error))?.path();
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if !hidden && path.is_file() && format_of(&path).is_some() {
            files.push(path);
        }
    }
    Ok(files)
}

fn matching(base: &Path, source: &str) -> Result<Vec<PathBuf>, SourceError> {
    let wrong = |reason: String| SourceError::Pattern { pattern: source.to_owned(), reason };
    // The folder of the policy is a name, whatever characters it has; an absolute pattern stands
    // alone.
    let base = glob::Pattern::escape(&base.to_string_lossy());
    let pattern = Path::new(&base).join(source);
    let paths =
        glob::glob(&pattern.to_string_lossy()).map_err(|error| wrong(error.msg.to_owned()))?;
    let mut files = Vec::new();
    for path in paths {
        let path = path.map_err(|error| unreadable(source, error.into()))?;
        if path.is_file() {
            files.push(path);
        }
    }
    if files.is_empty() { Err(SourceError::NoMatch(source.to_owned())) } else { Ok(files) }
}

/// What the cells of a column could all be.
#[derive(Clone)]
struct Guess {
    any: bool,
    /// What all cells can be read as so far, the likeliest first.
    left: Vec<Reads>,
}

/// A type, and whether a cell can be read as one of its values.
type Reads = (Type, fn(&str) -> bool);

impl Default for Guess {
    fn default() -> Self {
        let left: [Reads; 5] = [
            (Type::Int, |cell| !is_code(cell) && scalar::int_of_text(cell).is_some()),
            (Type::Float, |cell| !is_code(cell) && scalar::float_of_text(cell).is_some()),
            (Type::Bool, |cell| scalar::truth_of_text(cell).is_some()),
            (Type::Date, |cell| scalar::date_of_text(cell).is_some()),
            (Type::Timestamp, |cell| scalar::timestamp_of_text(cell).is_some()),
        ];
        Self { any: false, left: left.into() }
    }
}

impl Guess {
    fn look(&mut self, cell: &str) {
        let cell = cell.trim_ascii();
        if !cell.is_empty() {
            self.any = true;
            self.left.retain(|(_, reads)| reads(cell));
        }
    }

    fn kind(&self) -> Type {
        self.left.first().filter(|_| self.any).map_or(Type::Text, |(kind, _)| *kind)
    }
}

/// Whether it is a code rather than a number: its first zero would be lost.
fn is_code(cell: &str) -> bool {
    let digits = cell.trim_start_matches(['-', '+']).as_bytes();
    digits.len() > 1 && digits[0] == b'0' && digits[1].is_ascii_digit()
}
