//! What can go wrong with places in files, each in one sentence that says what to do.

use std::io;

use eke_budget::Refusal;
use eke_budget::budget::BudgetError;
use eke_budget::number::ParameterError;
use eke_geo::earth::{LatticeError, RegionError};
use eke_geo::person::TupleError;
use eke_ledger::LedgerError;
use eke_ledger::register::RegisterError;

use super::GeoJsonError;
use crate::data::source::SourceError;

/// Why nothing was told about places. Nothing in it depends on anybody's places, but for
/// `NotDegrees`, which is before there are accounts.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlacesError {
    /// The file is not there.
    #[error("there is no file `{0}`")]
    Missing(String),
    /// The file is not what its name says.
    #[error(transparent)]
    Source(SourceError),
    /// A file without a column that is needed.
    #[error("`{file}` has no column {tried}: say which one it is with --{what}")]
    NoColumn {
        /// The file.
        file: String,
        /// What is looked for: longitude, latitude, id, …
        what: &'static str,
        /// The names that were tried, in words.
        tried: String,
    },
    /// A column of a type that cannot be what it is taken for.
    #[error("the column `{column}` of `{file}` cannot be read as {wanted}")]
    ColumnType {
        /// The file.
        file: String,
        /// The column.
        column: String,
        /// What it should be, in words.
        wanted: &'static str,
    },
    /// Most of the numbers cannot be degrees. Told to the steward before accounts are opened, and
    /// never after.
    #[error(
        "most coordinates of `{0}` cannot be degrees, so no account was opened: write longitudes \
         from -180 to 180 and latitudes from -90 to 90, in degrees"
    )]
    NotDegrees(String),
    /// A file that is not GeoJSON.
    #[error("`{file}` cannot be used: {error}")]
    GeoJson {
        /// The file.
        file: String,
        /// What is wrong with it.
        error: GeoJsonError,
    },
    /// The file ends before its end, or is damaged.
    #[error("`{0}` cannot be read to its end: it is damaged, or changed meanwhile")]
    Damaged(String),
    /// A file cannot be written.
    #[error("`{file}` cannot be written: {error}")]
    Unwritable {
        /// The file.
        file: String,
        /// What the system says.
        error: io::Error,
    },
    /// The region is none.
    #[error(transparent)]
    Region(#[from] RegionError),
    /// There is no lattice for such a region.
    #[error(transparent)]
    Lattice(#[from] LatticeError),
    /// There is no lattice for so many places in such a region.
    #[error(transparent)]
    Tuple(#[from] TupleError),
    /// A number is out of range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// The budget cannot be what it says.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// The account does not allow it. Nothing was charged.
    #[error("{0}; nothing was charged")]
    Refused(Refusal),
    /// Nobody has anything left. Nothing was drawn.
    #[error("nobody has enough left for this; nothing was charged")]
    Spent,
    /// The ledger did not do what it was asked.
    #[error(transparent)]
    Ledger(LedgerError),
    /// The accounts of many people did not do what they were asked.
    #[error(transparent)]
    Register(RegisterError),
    /// What is stored is damaged.
    #[error(
        "what the ledger holds of this cannot be read ({0}): verify the ledger with `eke ledger verify`"
    )]
    Stored(String),
    /// There is no randomness.
    #[error("the system gives no random numbers: {0}")]
    Entropy(String),
    /// What was asked cannot be; the sentence says why.
    #[error("{0}")]
    Asked(String),
}

impl From<SourceError> for PlacesError {
    fn from(error: SourceError) -> Self {
        match error {
            SourceError::Missing(file) => Self::Missing(file),
            other => Self::Source(other),
        }
    }
}

impl From<LedgerError> for PlacesError {
    fn from(error: LedgerError) -> Self {
        match error {
            LedgerError::Refused(refusal) => Self::Refused(refusal),
            other => Self::Ledger(other),
        }
    }
}

impl From<RegisterError> for PlacesError {
    fn from(error: RegisterError) -> Self {
        match error {
            RegisterError::OtherPlaces(name) => Self::Asked(format!(
                "the places called `{name}` have changed since they were first asked about, or are read from other columns: give them another name with --snapshot"
            )),
            other => Self::Register(other),
        }
    }
}
