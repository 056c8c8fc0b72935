//! Real data, from the folder that `EKE_DATA` names; or made-up ones of the same shape, for tests.
//!
//! The lab ships no data. What a loader leaves out of a file it says. Made-up data follow from a
//! seed, are small, and say nothing about anybody.

mod bikes;
mod columns;
mod flights;
mod households;
mod images;
mod places;
mod words;

use std::env;
use std::fs::File;
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use columns::FileColumns;
pub use flights::Flights;
pub use images::{PIXELS, Pixels};
pub use places::{Fix, Taxi};

use eke_testkit::Seeded;

/// Where data come from.
#[derive(Clone, Debug)]
pub struct Data {
    source: Source,
}

#[derive(Clone, Debug)]
enum Source {
    /// A folder of files; none if nobody said which.
    Folder(Option<PathBuf>),
    /// A seed.
    MadeUp(u64),
}

impl Data {
    /// The folder that `EKE_DATA` names.
    #[must_use]
    pub fn of_environment() -> Self {
        Self { source: Source::Folder(env::var_os("EKE_DATA").map(PathBuf::from)) }
    }

    /// Data that follow from a seed.
    #[must_use]
    pub fn made_up(seed: u64) -> Self {
        Self { source: Source::MadeUp(seed) }
    }

    /// Whether they are made up.
    #[must_use]
    pub fn is_made_up(&self) -> bool {
        matches!(self.source, Source::MadeUp(_))
    }

    /// Whether a file is there.
    #[must_use]
    pub fn has(&self, file: &str) -> bool {
        match &self.source {
            Source::Folder(folder) => folder.as_ref().is_some_and(|f| f.join(file).is_file()),
            Source::MadeUp(_) => true,
        }
    }

    /// Made-up ones from another seed; real ones stay what they are.
    pub(crate) fn with_seed(self, seed: u64) -> Self {
        match self.source {
            Source::MadeUp(_) => Self::made_up(seed),
            folder @ Source::Folder(_) => Self { source: folder },
        }
    }

    /// The generator that makes a file up; none where it is real.
    fn generator(&self, file: &str) -> Option<Seeded> {
        match self.source {
            Source::MadeUp(seed) => Some(Seeded::of(seed, &["data", file], 0)),
            Source::Folder(_) => None,
        }
    }

    fn path(&self, file: &str) -> Result<PathBuf, DataError> {
        match &self.source {
            Source::Folder(Some(folder)) => Ok(folder.join(file)),
            Source::Folder(None) | Source::MadeUp(_) => Err(DataError::NoFolder(file.to_owned())),
        }
    }

    /// Columns of a Parquet file.
    fn columns(&self, file: &str) -> Result<FileColumns, DataError> {
        FileColumns::open(&self.path(file)?)
    }

    /// Columns of a compressed CSV file, row by row, each read by `row`.
    fn rows<T, const N: usize>(
        &self,
        file: &str,
        names: [&'static str; N],
        row: impl Fn([&str; N]) -> Option<T>,
    ) -> Result<Vec<T>, DataError> {
        let path = self.path(file)?;
        let missing = |error: &dyn std::fmt::Display| DataError::missing(&path, error);
        let opened = File::open(&path).map_err(|error| missing(&error))?;
        let mut reader = csv::Reader::from_reader(MultiGzDecoder::new(opened));
        let headers = reader.headers().map_err(|error| missing(&error))?.clone();
        let mut places = [0; N];
        for (place, name) in places.iter_mut().zip(names) {
            let found = headers.iter().position(|header| header == name);
            *place = found.ok_or_else(|| DataError::other(&path, name))?;
        }
        reader
            .records()
            .map(|record| {
                let record = record.map_err(|error| missing(&error))?;
                let values = places.map(|place| record.get(place).unwrap_or_default());
                row(values).ok_or_else(|| DataError::other(&path, names[N - 1]))
            })
            .collect()
    }
}

/// Why there are no data.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// Nobody said where the data are.
    #[error(
        "EKE_DATA is not set: set it to the folder that has {0} (docs/lab.md says where it comes from)"
    )]
    NoFolder(String),
    /// The file cannot be read.
    #[error("{} could not be read: {error}", .path.display())]
    Missing {
        /// Where it should be.
        path: PathBuf,
        /// What went wrong.
        error: String,
    },
    /// The file is another one.
    #[error("{} has no column `{column}` of the right kind: get the file that docs/lab.md names", .path.display())]
    Other {
        /// Where it is.
        path: PathBuf,
        /// What it should have.
        column: &'static str,
    },
}

impl DataError {
    fn missing(path: &Path, error: &dyn std::fmt::Display) -> Self {
        Self::Missing { path: path.to_owned(), error: error.to_string() }
    }

    fn other(path: &Path, column: &'static str) -> Self {
        Self::Other { path: path.to_owned(), column }
    }
}
