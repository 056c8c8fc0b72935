//! Pages: everything that is written to a store together, or not at all.
//!
//! Rust prices and fills a page; a store writes it only if every row still follows what is stored:
//! accounts stand where the page says they stood, keys and increments are new, paths are held by
//! nobody else.

use std::sync::Arc;

use eke_budget::account::Standing;
use eke_budget::{Amount, Charge, PathId};

use crate::journal::LineRow;
use crate::{Digest, Key};

/// Rows to be written together.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// Where accounts go, in the order of their names.
    pub accounts: Vec<AccountRow>,
    /// New lines of their journals.
    pub lines: Vec<LineRow>,
    /// The texts of questions, by their digests.
    pub questions: Vec<(Digest, Arc<str>)>,
    /// Requests that are charged from now on.
    pub requests: Vec<RequestRow>,
    /// Requests that are answered from now on.
    pub answers: Vec<AnswerRow>,
    /// How far paths and bundles are paid for.
    pub levels: Vec<LevelRow>,
    /// Rounds that run from now on, or with another worst case, or no more.
    pub rounds: Vec<RoundRow>,
    /// Paths that are not held any more. They come before those that are held.
    pub releases: Vec<ReleaseRow>,
    /// Paths that are held from now on.
    pub holds: Vec<HoldRow>,
    /// Increments that are claimed from now on.
    pub points: Vec<PointRow>,
    /// Increments that are drawn or lost from now on.
    pub draws: Vec<DrawRow>,
    /// What accounts have been shown.
    pub seen: Vec<SeenRow>,
    /// Sheets of many accounts.
    pub sheets: Vec<SheetRow>,
}

impl Page {
    /// Whether there is nothing to write.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}

/// A place in an account's journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// How many lines there are.
    pub lines: u64,
    /// The digest of the last one.
    pub head: Digest,
}

/// An account goes from one place to another.
#[derive(Clone, Debug)]
pub struct AccountRow {
    /// Where it must stand; none if it must not exist.
    pub before: Option<Position>,
    /// Where it stands afterwards.
    pub after: Position,
    /// Its totals afterwards.
    pub standing: Standing,
}

/// A request was charged.
#[derive(Clone, Debug)]
pub struct RequestRow {
    /// Its key.
    pub key: Key,
    /// What the key stands for.
    pub digest: Digest,
    /// The account that owns its path.
    pub account: Arc<str>,
}

/// A request was answered.
#[derive(Clone, Debug)]
pub struct AnswerRow {
    /// Its key.
    pub key: Key,
    /// The answer.
    pub body: Arc<[u8]>,
}

/// How far a path or bundle is paid for by one account.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelRow {
    /// The account.
    pub account: Arc<str>,
    /// The path or bundle.
    pub path: PathId,
    /// How many increments it had.
    pub from: u32,
    /// How many increments it has.
    pub increments: u32,
    /// The price reached, in its currency.
    pub at: Charge,
    /// The sensitivity of a path; none for a bundle.
    pub sensitivity: Option<f64>,
}

/// An ex-post round.
#[derive(Clone, Debug)]
pub struct RoundRow {
    /// The account.
    pub account: Arc<str>,
    /// The number of the round.
    pub round: u64,
    /// Its worst case; none once it is settled.
    pub worst: Option<Amount<eke_budget::Epsilon>>,
}

/// A path is held by a request while it draws.
#[derive(Clone, Debug)]
pub struct HoldRow {
    /// The path.
    pub path: PathId,
    /// The account that it belongs to.
    pub account: Arc<str>,
    /// The request.
    pub key: Key,
    /// Whether the path must be new.
    pub new: bool,
}

/// A path is not held any more.
#[derive(Clone, Debug)]
pub struct ReleaseRow {
    /// The path.
    pub path: PathId,
    /// The request that held it.
    pub key: Key,
    /// What is stored of the path from now on; none if that does not change.
    pub state: Option<Arc<[u8]>>,
}

/// An increment of a path or bundle is claimed by a request.
#[derive(Clone, Debug)]
pub struct PointRow {
    /// The path or bundle.
    pub path: PathId,
    /// The increment.
    pub increment: u32,
    /// The request.
    pub key: Key,
    /// What is planned, such as which groups go where.
    pub plan: Option<Arc<[u8]>>,
}

/// An increment that was claimed is drawn, or lost.
#[derive(Clone, Debug)]
pub struct DrawRow {
    /// The path or bundle.
    pub path: PathId,
    /// The request that claimed it.
    pub key: Key,
    /// Whether it is lost.
    pub lost: bool,
    /// The values of a bundle's round.
    pub round: Option<Arc<[u8]>>,
}

/// An account was shown a point.
#[derive(Clone, Debug)]
pub struct SeenRow {
    /// The account.
    pub account: Arc<str>,
    /// The path or bundle.
    pub path: PathId,
    /// The line of the account's journal that says so.
    pub line: u64,
    /// The price of the point, in its currency.
    pub at: Charge,
    /// The request that showed it.
    pub key: Key,
}

/// A sheet of many accounts.
#[derive(Clone, Debug)]
pub struct SheetRow {
    /// The account it belongs to.
    pub account: Arc<str>,
    /// Its version afterwards, from 1.
    pub version: u64,
    /// Its bytes.
    pub bytes: Arc<[u8]>,
}
