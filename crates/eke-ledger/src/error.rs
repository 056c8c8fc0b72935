//! What can go wrong, each in one sentence that says what to do.

use std::sync::Arc;

use eke_budget::{PathError, PathId, Refusal};

use crate::Key;

/// Why a ledger did not do what was asked. Unless a variant says otherwise nothing was charged by
/// it, and nothing may be drawn or sent.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// A filter said no. The refusal is in the journal.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The step is not one that the path can take.
    #[error(transparent)]
    Path(#[from] PathError),
    /// Another request holds the path while it draws.
    #[error(
        "request `{holder}` is drawing from path {path}: wait until it has answered, or give it up if it never will"
    )]
    UnderWay {
        /// The path.
        path: PathId,
        /// The request that holds it.
        holder: Key,
    },
    /// The path is another account's.
    #[error("path {path} belongs to account `{account}`: a path is drawn for one kind of unit")]
    OtherOwner {
        /// The path.
        path: PathId,
        /// The account that it belongs to.
        account: Arc<str>,
    },
    /// The request was charged before, and no answer is stored for it. It stays charged.
    #[error(
        "request `{0}` is charged and has no stored answer: it is still being drawn, or its answer was lost; a lost one stays paid, so ask again under a new key"
    )]
    Unanswered(Key),
    /// The key was used for another request.
    #[error("key `{0}` was used for another request: give every request a key of its own")]
    OtherRequest(Key),
    /// The claim is not held any more.
    #[error(
        "request `{0}` does not hold its claim any more: its answer is not stored, so do not send it"
    )]
    NotHeld(Key),
    /// An increment was drawn, and what it makes of its path did not come with the answer. The
    /// answer is not stored.
    #[error(
        "the answer from path {0} came without the path's new state or round: store both together, or what was drawn is lost"
    )]
    NoState(PathId),
    /// A round is not running, or its worst case cannot grow like this.
    #[error("{0}")]
    Round(Arc<str>),
    /// There is no such account.
    #[error("there is no account `{0}` in the ledger: open it first")]
    NoAccount(Arc<str>),
    /// An account of this name was opened with another budget.
    #[error(
        "account `{0}` was opened with another budget, and what was promised never changes: put the budget back as it was"
    )]
    OtherBudget(Arc<str>),
    /// One account is named twice in a request.
    #[error("account `{0}` is named twice in one request: name it once")]
    Twice(Arc<str>),
    /// A name or a text is too long or empty.
    #[error("{what} must have 1 to {most} bytes: this one has {length}")]
    Length {
        /// What is too long.
        what: &'static str,
        /// The most bytes that it may have.
        most: usize,
        /// The bytes that it has.
        length: usize,
    },
    /// A sheet was committed by somebody else in between.
    #[error(
        "the sheet of account `{account}` is at version {version}: read it again, and go on from there"
    )]
    SheetMoved {
        /// The account.
        account: Arc<str>,
        /// The version it is at.
        version: u64,
    },
    /// The store was held by another program for as long as is waited. Nothing was written.
    #[error("{0}")]
    Busy(Arc<str>),
    /// Others wrote first, so that what was offered does not stand any more. Nothing was written;
    /// look again and ask again.
    #[error("{0}")]
    Moved(Arc<str>),
    /// The ledger does not answer any more, because it cannot tell what is on its disk.
    #[error(
        "the ledger has stopped: {0}; nothing more is charged or answered until it is opened again"
    )]
    Stopped(Arc<str>),
    /// What is in the ledger contradicts itself. Nothing is charged or answered from it.
    #[error(
        "the ledger is damaged ({0}): look through it with `eke ledger verify`, and restore the newest copy in which nothing is wrong"
    )]
    Damaged(Arc<str>),
    /// The ledger cannot be opened.
    #[error("{0}")]
    Open(Arc<str>),
}

/// How a store fails.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// Somebody else holds it. Nothing was written, and it may be asked again.
    #[error("{0}")]
    Busy(String),
    /// It cannot be relied on any more: whether the last write is on disk is not known.
    #[error("{0}")]
    Broken(String),
}

impl From<StoreError> for LedgerError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Busy(why) => Self::Busy(why.into()),
            StoreError::Broken(why) => Self::Stopped(why.into()),
        }
    }
}
