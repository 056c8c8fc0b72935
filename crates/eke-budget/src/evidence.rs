//! Proof that a release was paid for, as values.
//!
//! A filter's yes is an [`Approved`]; once a [`Journal`] has recorded it, it becomes a
//! [`Receipt`], and a mechanism uses the receipt up when it draws. Neither can be made by hand,
//! copied, or used twice:
//!
//! ```compile_fail,E0451
//! use eke_budget::{Charge, Receipt};
//! let charge: Charge = "rho=0.1".parse().unwrap();
//! let forged = Receipt { purchase: charge };
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
//! An approval alone does not draw; it has to be recorded first:
//! ```compile_fail,E0308
//! # use eke_budget::{Approved, Charge, Receipt};
//! fn draw(receipt: Receipt<Charge>) {}
//! fn too_early(approved: Approved<Charge>) {
//!     draw(approved);
//! }
//! ```
//! ```compile_fail,E0382
//! # use eke_budget::{Approved, Charge, MemoryJournal};
//! fn commit_twice(approved: Approved<Charge>, journal: &mut MemoryJournal) {
//!     let first = approved.commit(journal);
//!     let second = approved.commit(journal);
//! }
//! ```

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Amount, Charge, Delta, Epsilon, PathId};

/// A yes from a filter: the price is taken from the account, but nothing may be drawn yet.
///
/// Dropping it leaves the price spent, which is safe; [`Account::cancel`](crate::Account::cancel) gives it back.
#[must_use = "an approval is paid for: commit it for a receipt, or cancel it"]
#[derive(Debug)]
pub struct Approved<P> {
    pub(crate) purchase: P,
    pub(crate) entry: Entry,
    pub(crate) account: Instance,
}

impl<P> Approved<P> {
    /// What was bought.
    pub fn purchase(&self) -> &P {
        &self.purchase
    }

    /// What the journal will record.
    pub fn entry(&self) -> &Entry {
        &self.entry
    }

    /// Records the purchase; the receipt exists only once that has succeeded.
    ///
    /// # Errors
    /// The journal failed. The approval comes back with the error, to be cancelled or dropped.
    pub fn commit<J: Journal>(
        self,
        journal: &mut J,
    ) -> Result<Receipt<P>, Uncommitted<P, J::Error>> {
        match journal.record(&self.entry) {
            Ok(()) => Ok(Receipt { purchase: self.purchase }),
            Err(error) => Err(Uncommitted { approved: self, error }),
        }
    }
}

/// An approval whose journal failed.
#[derive(Debug)]
pub struct Uncommitted<P, E> {
    /// The approval, still paid for.
    pub approved: Approved<P>,
    /// Why the journal failed.
    pub error: E,
}

impl<P, E: fmt::Display> fmt::Display for Uncommitted<P, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the charge could not be recorded, so nothing was drawn: {}", self.error)
    }
}

impl<P: fmt::Debug, E: std::error::Error> std::error::Error for Uncommitted<P, E> {}

/// Proof that a purchase was charged and recorded. Good for one draw.
#[must_use = "a receipt is paid for: hand it to the mechanism that draws"]
#[derive(Debug)]
pub struct Receipt<P> {
    purchase: P,
}

impl<P> Receipt<P> {
    /// What was bought.
    pub fn purchase(&self) -> &P {
        &self.purchase
    }

    /// Uses the receipt up. Called by the mechanism that draws, which may draw this purchase once.
    pub fn redeem(self) -> P {
        self.purchase
    }
}

/// Where charges are recorded before anything is drawn.
///
/// A journal that answers `Ok` promises that the entry will be found again: in memory for a
/// library that lives as long as its account, on disk for everything else.
pub trait Journal {
    /// How recording fails.
    type Error;

    /// Records one entry, or fails without having recorded it.
    ///
    /// # Errors
    /// The entry is not recorded.
    fn record(&mut self, entry: &Entry) -> Result<(), Self::Error>;
}

/// One line of an account's history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The account.
    pub account: Arc<str>,
    /// What happened to it.
    pub event: Event,
}

/// What can happen to an account. Ledgers outlive code: variants and fields are added, never
/// changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Event {
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
        sensitivity: f64,
    },
    /// A coarser point of a path was bought for nothing.
    Coarsened {
        /// The path.
        path: PathId,
        /// What the point would have cost as the finest.
        to: Charge,
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

/// A history in memory, for accounts that live no longer than the program.
#[derive(Debug, Default)]
pub struct MemoryJournal {
    entries: Vec<Entry>,
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
    type Error = Infallible;

    fn record(&mut self, entry: &Entry) -> Result<(), Infallible> {
        self.entries.push(entry.clone());
        Ok(())
    }
}

/// A journal that keeps no history: the account's running totals are all there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoHistory;

impl Journal for NoHistory {
    type Error = Infallible;

    fn record(&mut self, _: &Entry) -> Result<(), Infallible> {
        Ok(())
    }
}

/// Which account in this process a value belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Instance(pub(crate) u64);
