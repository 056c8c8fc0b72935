//! What can go wrong with places in files, each in one sentence that says what to do.

use std::io;
use std::path::PathBuf;

use eke_budget::budget::BudgetError;
use eke_budget::number::ParameterError;
use eke_budget::{Amount, Metres, Refusal, Rho};
use eke_geo::crowd::{CrowdError, PlanError};
use eke_geo::earth::{LatticeError, PlaceError};
use eke_geo::person::TupleError;
use eke_geo::shape::ShapeError;
use eke_geo::{Region, TupleMetric};
use eke_ledger::LedgerError;
use eke_ledger::register::RegisterError;
use eke_noise::path::MismatchReason;

use super::GeoJsonError;
use crate::data::source::SourceError;
use crate::error::{ErrorKind, ledger_kind};

/// Why nothing was released about places. Nothing in it depends on anybody's places, but for
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
    #[error("`{file}` has no column {tried}: say which one it is")]
    NoColumn {
        /// The file.
        file: String,
        /// What is looked for.
        what: PlaceColumn,
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
    /// There is no lattice for such a region.
    #[error(transparent)]
    Lattice(#[from] LatticeError),
    /// There is no lattice for this number of places in such a region.
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
    /// What was asked cannot be.
    #[error(transparent)]
    Asked(#[from] WrongAsking),
}

/// What a column of a file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceColumn {
    /// Degrees east.
    Longitude,
    /// Degrees north.
    Latitude,
    /// Who it is about.
    Id,
    /// When it was.
    Time,
    /// The number that is asked about.
    Number,
}

/// What is wrong with what was asked about places, or with what is to pay for it. Surfaces that
/// have flags match on the cases.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WrongAsking {
    /// Times of a file that has none.
    #[error("times are read from CSV and Parquet files, and not from GeoJSON: leave them out")]
    GeoJsonTimes,
    /// There is no account, and nothing to open it with.
    #[error(
        "there is no account `{account}` in {address}: open it with a budget, such as rho=1e-4 \
         (per square metre) or epsilon=0.01 (per metre)"
    )]
    NoAccount {
        /// The account.
        account: String,
        /// The ledger.
        address: String,
    },
    /// The account was opened for something else.
    #[error(
        "account `{account}` was opened with the metric {metric} and a least distance of {} m, \
         which are for good: leave them out, or open an account of another name",
        least.get()
    )]
    OpenedWith {
        /// The account.
        account: String,
        /// How far apart two lists of places are for it.
        metric: TupleMetric,
        /// The least distance that it tells apart.
        least: Metres,
    },
    /// The account is of something else than places.
    #[error("the ledger holds something else under this account: give the account another name")]
    OtherAccount,
    /// The places have changed since they were first asked about.
    #[error(
        "`{file}` has changed since it was first asked about: declare that it has changed to ask \
         about it as it is now, which is charged anew"
    )]
    Changed {
        /// The file.
        file: String,
    },
    /// Other places have been asked about under the same name.
    #[error(
        "the places called `{name}` have changed since they were first asked about, or are read \
         from other columns: give them another name"
    )]
    OtherPlaces {
        /// The name.
        name: String,
    },
    /// There are no accounts of people, and nothing to make them for.
    #[error(
        "there are no accounts in {}: make them for a region, with a budget for everybody",
        path.display()
    )]
    NoPeople {
        /// Where they would be.
        path: PathBuf,
    },
    /// The accounts of people were made for something else.
    #[error(
        "the accounts in {} were made for {} m around {}, with a least distance of {} m and a \
         reach of {} m, which are for good: leave them out, or make other accounts",
        path.display(), region.radius().get(), region.centre(), least.get(), reach.get()
    )]
    MadeFor {
        /// Where they are.
        path: PathBuf,
        /// Where people are.
        region: Region,
        /// The least distance: places that are closer count as this far apart.
        least: Metres,
        /// How far a person's place may be from another.
        reach: Metres,
    },
    /// The file is something else.
    #[error("{} does not hold accounts for places: look at the path", path.display())]
    OtherFile {
        /// The file.
        path: PathBuf,
    },
    /// Nobody to ask.
    #[error("`{file}` names nobody, and nobody is enrolled")]
    Nobody {
        /// The file of places.
        file: String,
    },
    /// People without an account, and no budget to open it with.
    #[error(
        "{people} people of `{file}` have no account yet: give them one with a budget, which is \
         for good"
    )]
    NotEnrolled {
        /// How many they are.
        people: usize,
        /// The file of places.
        file: String,
    },
    /// More neighbours than there are people, or none.
    #[error("ask for 1 to {people} neighbours, not {k}")]
    Neighbours {
        /// How many were asked for.
        k: usize,
        /// How many people there are.
        people: usize,
    },
    /// Rows without a budget.
    #[error("there is no budget in {} yet: give these rows one, which is for good", ledger.display())]
    NoBudget {
        /// Where it would be.
        ledger: PathBuf,
    },
    /// A budget that does not pay for the question that it is opened for.
    #[error(
        "a budget of rho {budget} does not pay for a question of rho {price}, and would be for \
         good: nothing was opened"
    )]
    SmallBudget {
        /// The budget.
        budget: Amount<Rho>,
        /// What the question may cost.
        price: Amount<Rho>,
    },
    /// A part of all rows that is none.
    #[error("a share is between 0 and 1")]
    Share {
        /// What was asked for.
        share: f64,
    },
    /// Noise that cannot be drawn.
    #[error("this cannot be drawn, and nothing was told: {0}")]
    Undrawable(MismatchReason),
    /// What was bought once.
    #[error("what was bought once cannot be drawn twice")]
    DrawnTwice,
    /// A look could not be had.
    #[error("{problem}")]
    NoLook {
        /// Why.
        problem: String,
    },
    /// A question about one person's places that cannot be.
    #[error(transparent)]
    Person(#[from] eke_geo::person::PlacesError),
    /// A question to people that cannot be.
    #[error(transparent)]
    Crowd(#[from] CrowdError),
    /// Rounds that there are not.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// An area that is none.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// A corner of an area that is no place.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// No lattice for such a region.
    #[error(transparent)]
    Lattice(#[from] LatticeError),
}

impl PlacesError {
    /// What kind of failure it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Refused(_) | Self::Spent => ErrorKind::Refused,
            Self::Asked(_) => ErrorKind::Usage,
            Self::Missing(_)
            | Self::Source(_)
            | Self::NoColumn { .. }
            | Self::ColumnType { .. }
            | Self::NotDegrees(_)
            | Self::GeoJson { .. }
            | Self::Damaged(_)
            | Self::Lattice(_)
            | Self::Tuple(_)
            | Self::Parameter(_)
            | Self::Budget(_) => ErrorKind::Input,
            Self::Ledger(error) => ledger_kind(error),
            Self::Stored(_) => ErrorKind::Damaged,
            Self::Unwritable { .. } | Self::Register(_) | Self::Entropy(_) => ErrorKind::Failed,
        }
    }
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
            RegisterError::OtherPlaces(name) => {
                WrongAsking::OtherPlaces { name: name.to_string() }.into()
            }
            other => Self::Register(other),
        }
    }
}
