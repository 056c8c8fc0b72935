//! Proof that a release was paid for, as values.
//!
//! A filter's yes is an [`Approved`]; once a [`Journal`] has recorded it, it becomes a
//! [`Receipt`], and a mechanism uses the receipt up when it draws. Neither can be made by hand,
//! copied, or used twice:
//!
//! ```compile_fail,E0451
//! use eke_budget::{Charge, Entry, Metric, Receipt};
//! fn forge(purchase: Charge, entry: Entry, metric: Metric) -> Receipt<Charge> {
//!     Receipt { purchase, entry, metric }
//! }
//! ```
//! ```compile_fail,E0308
//! # use eke_budget::{Charge, Receipt};
//! fn copy(receipt: &Receipt<Charge>) -> Receipt<Charge> {
//!     receipt.clone()
//! }
//! ```
//! ```compile_fail,E0382
//! # use eke_budget::{Charge, Receipt};
//! fn draw_twice(receipt: Receipt<Charge>) {
//!     let once = receipt.redeem();
//!     let twice = receipt.redeem();
//! }
//! ```
//! An approval alone does not draw; it has to be recorded first, and once:
//! ```compile_fail,E0308
//! # use eke_budget::{Approved, Charge, Receipt};
//! fn draw(receipt: Receipt<Charge>) {}
//! fn too_early(approved: Approved<Charge>) {
//!     draw(approved);
//! }
//! ```
//! ```compile_fail,E0382
//! # use eke_budget::{Account, Approved, Charge, MemoryJournal};
//! fn twice(account: &mut Account, approved: Approved<Charge>, journal: &mut MemoryJournal) {
//!     let first = account.commit(approved, journal);
//!     let second = account.commit(approved, journal);
//! }
//! ```

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Amount, Budget, Charge, Delta, Epsilon, Metric, PathId};

/// A yes from a filter: the price is taken from the account, but nothing may be drawn yet.
///
/// [`Account::commit`](crate::Account::commit) records it and gives a receipt,
/// [`Account::cancel`](crate::Account::cancel) gives it back. One that is dropped stays paid for,
/// and its path stays under way, for as long as the account lives in memory.
#[must_use = "an approval is paid for: commit it for a receipt, or cancel it"]
#[derive(Debug)]
pub struct Approved<P> {
    pub(crate) purchase: P,
    pub(crate) event: Event,
    pub(crate) account: Instance,
}

impl<P> Approved<P> {
    /// What was bought.
    pub fn purchase(&self) -> &P {
        &self.purchase
    }

    /// What the journal will record.
    pub fn event(&self) -> &Event {
        &self.event
    }

    /// The same approval, its purchase said differently.
    pub(crate) fn map<Q>(self, say: impl FnOnce(P) -> Q) -> Approved<Q> {
        let Self { purchase, event, account } = self;
        Approved { purchase: say(purchase), event, account }
    }
}

/// An approval that was handed to another account than the one that gave it.
#[derive(Debug, thiserror::Error)]
#[error("the approval belongs to another account: take it there")]
pub struct OtherAccount<P> {
    /// The approval, to be taken to its own account.
    pub approved: Approved<P>,
}

/// Why an approval did not become a receipt.
#[derive(Debug, thiserror::Error)]
pub enum CommitError<P, E> {
    /// It belongs to another account, and is still paid for there.
    #[error("{0}")]
    OtherAccount(OtherAccount<P>),
    /// An approval beside it belongs to another account than the one it came with. Nothing was
    /// recorded, and the price is back in the account.
    #[error("an approval came with an account that did not give it, so nothing was recorded")]
    Mismatched,
    /// The journal failed. The price is back in the account.
    #[error("the charge could not be recorded, so nothing was spent or drawn: {0}")]
    Journal(E),
}

/// Proof that a purchase was charged and recorded. Good for one draw.
#[must_use = "a receipt is paid for: hand it to the mechanism that draws"]
#[derive(Debug)]
pub struct Receipt<P> {
    pub(crate) purchase: P,
    pub(crate) entry: Entry,
    pub(crate) metric: Metric,
}

impl<P> Receipt<P> {
    /// What was bought.
    pub fn purchase(&self) -> &P {
        &self.purchase
    }

    /// Which account paid, and how its history says so.
    pub fn entry(&self) -> &Entry {
        &self.entry
    }

    /// What the account that paid protects.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// Uses the receipt up. Called by the mechanism that draws, which may draw this purchase once.
    pub fn redeem(self) -> P {
        self.purchase
    }
}

/// The receipts of approvals that were recorded together.
#[must_use = "receipts are paid for: hand them to the mechanism that draws"]
#[derive(Debug)]
pub struct Receipts<P, Q> {
    /// The account's own.
    pub own: Receipt<P>,
    /// The other accounts', in the order they were given.
    pub others: Vec<Receipt<Q>>,
}

/// Where charges are recorded before anything is drawn.
///
/// A journal that answers `Ok` promises that the entries will be found again: in memory for a
/// library that lives as long as its account, on disk for everything else. One that answers `Err`
/// promises that they will not; a journal that cannot tell must not answer any more.
pub trait Journal {
    /// How recording fails.
    type Error;

    /// Records all entries or none.
    ///
    /// # Errors
    /// None of them is recorded.
    fn record(&mut self, entries: &[Entry]) -> Result<(), Self::Error>;
}

/// One line of an account's history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The account.
    pub account: Arc<str>,
    /// The number of the entry in the account's history, from 0 and without gaps.
    pub sequence: u64,
    /// What happened.
    pub event: Event,
}

/// What can happen to an account. Ledgers outlive code: variants and fields are added, never
/// changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Event {
    /// The account was opened with this budget, for good.
    Opened(Budget),
    /// A release was paid for.
    Charged(Charge),
    /// A path was taken further.
    Raised {
        /// The path.
        path: PathId,
        /// Which increment this is, from 0.
        increment: u32,
        /// The price of the point reached.
        to: Charge,
        /// What the step cost.
        price: Charge,
        /// What one unit can change the truth by.
        #[serde(with = "decimal")]
        sensitivity: f64,
    },
    /// A coarser point of a path was bought for nothing.
    Coarsened {
        /// The path.
        path: PathId,
        /// What the point would have cost as the finest.
        to: Charge,
    },
    /// Groups of a bundle were taken further together.
    GroupsRaised {
        /// The bundle.
        bundle: PathId,
        /// Which increment this is, from 0.
        increment: u32,
        /// The price of all its groups together from now on.
        to: Charge,
        /// What the step cost.
        price: Charge,
    },
    /// The worst case of an ex-post round was set aside.
    Reserved {
        /// The round.
        round: u64,
        /// Its worst case.
        worst: Amount<Epsilon>,
        /// The probability that its price does not bound its loss.
        delta: Amount<Delta>,
    },
    /// A round's worst case grew.
    Extended {
        /// The round.
        round: u64,
        /// Its worst case before.
        from: Amount<Epsilon>,
        /// Its worst case from now on.
        to: Amount<Epsilon>,
    },
    /// A round ended at its realised price.
    Settled {
        /// The round.
        round: u64,
        /// What it came to.
        realised: Amount<Epsilon>,
    },
}

/// A double as its decimal in a string: some readers of JSON do not get every double back.
mod decimal {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
    pub(super) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// A history in memory, for accounts that live no longer than the program.
///
/// It takes every account's entries in sequence only, so that two accounts of one name, such as one
/// and its replay, cannot both go on.
#[derive(Debug, Default)]
pub struct MemoryJournal {
    entries: Vec<Entry>,
    next: HashMap<Arc<str>, u64>,
}

/// An entry that does not follow its account's last one: somebody else has written in between.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "account `{account}` has {expected} entries, so entry {found} cannot be next: it is written from two places"
)]
pub struct OutOfSequence {
    /// The account.
    pub account: Arc<str>,
    /// The number of the entry that would be next.
    pub expected: u64,
    /// The number of the entry that came.
    pub found: u64,
}

impl MemoryJournal {
    /// An empty history.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Everything recorded, oldest first.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }
}

impl Journal for MemoryJournal {
    type Error = OutOfSequence;

    fn record(&mut self, entries: &[Entry]) -> Result<(), OutOfSequence> {
        for (index, entry) in entries.iter().enumerate() {
            let recorded = self.next.get(&entry.account).copied().unwrap_or(0);
            let before = entries[..index].iter().filter(|e| e.account == entry.account).count();
            let expected = recorded + before as u64;
            if entry.sequence != expected {
                let (account, found) = (Arc::clone(&entry.account), entry.sequence);
                return Err(OutOfSequence { account, expected, found });
            }
        }
        for entry in entries {
            *self.next.entry(Arc::clone(&entry.account)).or_insert(0) += 1;
        }
        self.entries.extend_from_slice(entries);
        Ok(())
    }
}

/// A journal that keeps no history: the account's running totals are all there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoHistory;

impl Journal for NoHistory {
    type Error = Infallible;

    fn record(&mut self, _: &[Entry]) -> Result<(), Infallible> {
        Ok(())
    }
}

/// Which account in this process a value belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Instance(pub(crate) u64);
