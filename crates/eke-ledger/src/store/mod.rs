//! What a ledger asks of a store.
//!
//! A store keeps rows and writes pages: all of a page, durably, or nothing of it. It decides
//! nothing about privacy, but it checks again what Rust has decided: money never exceeds a budget,
//! accounts stand where the writer thought they stood, keys and increments occur once. It is a
//! seam: tests put stores here that fail on command.

pub(crate) mod grains;
pub(crate) mod page;
pub(crate) mod postgres;
pub(crate) mod private;
pub(crate) mod sqlite;
pub(crate) mod unbegun;

pub use page::{
    AccountRow, AnswerRow, DrawRow, HoldRow, LevelRow, Page, PointRow, Position, ReleaseRow,
    RequestRow, RoundRow, SeenRow, SheetRow,
};
pub use postgres::Postgres;
pub use private::write_private;
pub use sqlite::Sqlite;

use std::sync::Arc;

use eke_budget::account::Standing;
use eke_budget::{Charge, PathId};

use crate::error::StoreError;
use crate::journal::LineRow;
use crate::{Digest, Key};

/// Where accounts, journals, paths and answers lie.
pub trait Store: Reads + Send {
    /// The name that the ledger was given when it was made: nobody else's chain starts with it.
    fn ledger(&self) -> &str;

    /// Whether a page is best tried before anything is locked, because every question to the store
    /// takes a round trip.
    fn is_remote(&self) -> bool;

    /// Begins to write: until the next `append` or `unlock` nobody else writes to these accounts,
    /// which come in the order of their names. Says how many lines each has; none if there is no
    /// such account.
    ///
    /// # Errors
    /// Somebody else holds the store, or it cannot be relied on any more.
    fn lock(&mut self, accounts: &[Arc<str>]) -> Result<Vec<Option<u64>>, StoreError>;

    /// Ends what `lock` began, and writes nothing.
    ///
    /// # Errors
    /// The store cannot be relied on any more.
    fn unlock(&mut self) -> Result<(), StoreError>;

    /// Writes a page, and returns when it is on disk. Ends what `lock` began.
    ///
    /// # Errors
    /// Somebody else holds the store, and nothing was written; or it cannot be relied on any more.
    fn append(&mut self, page: &Page) -> Result<Appended, StoreError>;

    /// Begins to read: until `unlock` everything is as it is now.
    ///
    /// # Errors
    /// As for `lock`.
    fn snapshot(&mut self) -> Result<(), StoreError>;
}

/// What a store has in it.
pub trait Reads {
    /// An account and where it stands.
    ///
    /// # Errors
    /// As for [`Store::lock`].
    fn account(&mut self, name: &str) -> Result<Option<StoredAccount>, StoreError>;

    /// Names of accounts in order, after the given one, at most `most`.
    ///
    /// # Errors
    /// As for [`Store::lock`].
    fn names(&mut self, after: Option<&str>, most: u32) -> Result<Vec<Arc<str>>, StoreError>;

    /// Lines of an account's journal from the given one on, at most `most`.
    ///
    /// # Errors
    /// As for [`Store::lock`].
    fn lines(&mut self, account: &str, from: u64, most: u32) -> Result<Vec<LineRow>, StoreError>;

    /// How far an account has paid for a path or bundle, in the currency of a charge.
    ///
    /// # Errors
    /// As for [`Store::lock`].
    fn level(
        &mut self,
        account: &str,
        path: PathId,
        currency: Currencies,
    ) -> Result<Option<StoredLevel>, StoreError>;

    /// How far an account has paid for every path and bundle, after the given one, at most `most`.
    ///
    /// # Errors
    /// As for [`Store::lock`].
    fn levels(
        &mut self,
        account: &str,
        after: Option<(PathId, Currencies)>,
        most: u32,
    ) -> Result<Vec<(PathId, StoredLevel)>, StoreError>;

    /// A request.
    ///
    /// # Errors
    /// As for [`Store::lock`].
    fn request(&mut self, key: &Key) -> Result<Option<StoredRequest>, StoreError>;

    /// A path or bundle.
    ///
    /// # Errors
    /// As for [`Store::lock`].
    fn path(&mut self, path: PathId) -> Result<Option<StoredPath>, StoreError>;

    /// An increment of a path or bundle.
    ///
    /// # Errors
    /// As for [`Store::lock`].
    fn point(&mut self, path: PathId, increment: u32) -> Result<Option<StoredPoint>, StoreError>;

    /// The values of a bundle's rounds that were drawn, from one increment on and before another,
    /// in their order.
    ///
    /// # Errors
    /// As for [`Store::lock`].
    fn rounds(&mut self, path: PathId, from: u32, to: u32) -> Result<Vec<StoredRound>, StoreError>;

    /// What an account has been shown of a path, oldest first.
    ///
    /// # Errors
    /// As for [`Store::lock`].
    fn seen(&mut self, account: &str, path: PathId) -> Result<Vec<Seen>, StoreError>;

    /// Paths that requests hold, at most `most`.
    ///
    /// # Errors
    /// As for [`Store::lock`].
    fn held(&mut self, most: u32) -> Result<Vec<Held>, StoreError>;

    /// The text of a question.
    ///
    /// # Errors
    /// As for [`Store::lock`].
    fn question(&mut self, digest: Digest) -> Result<Option<String>, StoreError>;

    /// The version of the sheet of an account; zero if there is none.
    ///
    /// # Errors
    /// As for [`Store::lock`].
    fn sheet_version(&mut self, account: &str) -> Result<u64, StoreError>;

    /// The sheet of an account, with its version.
    ///
    /// # Errors
    /// As for [`Store::lock`].
    fn sheet(&mut self, account: &str) -> Result<Option<(u64, Vec<u8>)>, StoreError>;

    /// How many rows there are of everything.
    ///
    /// # Errors
    /// As for [`Store::lock`].
    fn census(&mut self) -> Result<Census, StoreError>;
}

/// The tables that are counted.
pub(crate) const TABLES: [&str; 10] = [
    "journal", "question", "request", "answer", "level", "round", "path", "point", "seen", "sheet",
];

/// How many rows there are of everything: lines of journals, questions, requests, answers, levels,
/// rounds, paths, points, what accounts have been shown of them, and sheets.
pub type Census = [u64; TABLES.len()];

/// Counts the rows of every table, by the prefix of the tables' names.
fn census_sql(prefix: &str) -> String {
    let counts = TABLES.map(|table| format!("(SELECT count(*) FROM {prefix}{table})"));
    format!("SELECT {}", counts.join(", "))
}

/// How a page was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Appended {
    /// It is on disk.
    Done,
    /// Something is not as the page says, and nothing was written: read again.
    Conflict(String),
}

/// The currency of a purse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Currencies {
    /// Concentrated privacy.
    Rho,
    /// Pure privacy.
    Epsilon,
}

impl Draw {
    /// By the number that both stores keep for it.
    pub(crate) fn stored(number: i16) -> Self {
        match number {
            0 => Self::Claimed,
            1 => Self::Drawn,
            _ => Self::Lost,
        }
    }
}

impl Currencies {
    /// The currency of a charge.
    #[must_use]
    pub fn of(charge: Charge) -> Self {
        match charge {
            Charge::Zcdp { .. } => Self::Rho,
            Charge::Pure { .. } => Self::Epsilon,
        }
    }
}

/// An account as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredAccount {
    /// Its totals.
    pub standing: Standing,
    /// Where its journal ends.
    pub position: Position,
}

/// How far a path or bundle is paid for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StoredLevel {
    /// How many increments there are.
    pub increments: u32,
    /// The price reached, in its currency.
    pub at: Charge,
    /// The sensitivity of a path; none for a bundle.
    pub sensitivity: Option<f64>,
}

/// A request that was charged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRequest {
    /// What the key stands for.
    pub digest: Digest,
    /// The account that owns its path.
    pub account: Arc<str>,
    /// The answer; none while there is none.
    pub answer: Option<Vec<u8>>,
}

/// A path or bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredPath {
    /// The account that it belongs to.
    pub account: Arc<str>,
    /// The request that holds it.
    pub holder: Option<Key>,
    /// What is stored of it, as its noise path wrote it.
    pub state: Option<Vec<u8>>,
}

/// How an increment stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draw {
    /// It is paid for, and being drawn or lost.
    Claimed,
    /// Its answer is stored.
    Drawn,
    /// It was given up: paid for, and never to be drawn.
    Lost,
}

/// An increment of a path or bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredPoint {
    /// The request that paid for it.
    pub key: Key,
    /// How it stands.
    pub draw: Draw,
    /// What was planned.
    pub plan: Option<Vec<u8>>,
    /// The values of a bundle's round.
    pub round: Option<Vec<u8>>,
}

/// An increment of a bundle, and the values of its round.
pub type StoredRound = (u32, Vec<u8>);

/// A point that an account has been shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The line of the account's journal that says so.
    pub line: u64,
    /// The price of the point, in its currency.
    pub at: Charge,
    /// The request that showed it.
    pub key: Key,
    /// The answer that was sent.
    pub answer: Vec<u8>,
}

/// A path that is held by a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The path.
    pub path: PathId,
    /// The account that it belongs to.
    pub account: Arc<str>,
    /// The request.
    pub key: Key,
}
