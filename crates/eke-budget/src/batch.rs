//! Approvals of many requests, recorded together.
//!
//! A journal on disk is quickest when many requests share one write. So an approval can be
//! *entered* into a [`Batch`]: its account goes on at once, as if it were recorded, and the receipt
//! follows when the whole batch is. If recording fails there is no receipt for anything in it, and
//! its accounts have run ahead of their journal: they are dropped, or put back with
//! [`Account::restore_to`](crate::Account::restore_to). A journal refuses what they would write
//! otherwise, because it would not follow the last entry.
//!
//! An entered approval is no receipt, and a record of another batch does not make it one:
//! ```compile_fail,E0308
//! # use eke_budget::{Charge, Entered, Receipt};
//! fn draw(receipt: Receipt<Charge>) {}
//! fn too_early(entered: Entered<Charge>) {
//!     draw(entered);
//! }
//! ```
//! ```compile_fail,E0451
//! # use eke_budget::Recorded;
//! fn forge() -> Recorded {
//!     Recorded { batch: 0 }
//! }
//! ```

use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::round::Extension;
use crate::{
    Account, Amount, Approved, Entry, Epsilon, Event, ExtendError, GroupOffer, GroupRaise, Journal,
    Metric, OtherAccount, Price, Receipt, Round, Settlement, UnsettledReason,
};

static NEXT_BATCH: AtomicU64 = AtomicU64::new(0);

/// Entries of any accounts, to be recorded together or not at all.
#[derive(Debug)]
pub struct Batch {
    id: u64,
    entries: Vec<Entry>,
}

impl Batch {
    /// An empty batch.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "no two batches are alike")]
    pub fn new() -> Self {
        Self { id: NEXT_BATCH.fetch_add(1, Ordering::Relaxed), entries: Vec::new() }
    }

    /// What has been entered, oldest first.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Records everything that was entered.
    ///
    /// # Errors
    /// The journal failed: nothing is recorded, and nothing in the batch will get a receipt.
    pub fn record<J: Journal>(self, journal: &mut J) -> Result<Recorded, J::Error> {
        journal.record(&self.entries)?;
        Ok(Recorded { batch: self.id })
    }

    pub(crate) fn enter<P>(&mut self, purchase: P, entry: Entry, metric: Metric) -> Entered<P> {
        self.entries.push(entry.clone());
        Entered { purchase, entry, metric, batch: self.id }
    }
}

impl Account {
    /// Enters an approval into a batch. The account goes on as if it were recorded; the receipt
    /// follows when the batch is.
    ///
    /// # Errors
    /// The approval is another account's, and comes back.
    pub fn enter<P>(
        &mut self,
        approved: Approved<P>,
        batch: &mut Batch,
    ) -> Result<Entered<P>, OtherAccount<P>> {
        if approved.account != self.instance {
            return Err(OtherAccount { approved });
        }
        let entry = self.entry(approved.event);
        self.confirm(&entry.event);
        Ok(batch.enter(approved.purchase, entry, self.budget.metric()))
    }

    /// Sets aside more for a round that is running, and enters that into a batch. The round goes on
    /// with the receipt ([`Round::extended`]).
    ///
    /// # Errors
    /// The difference does not fit, the worst case is not larger, or the round is not running in
    /// this account, which is as it was.
    pub fn enter_extension(
        &mut self,
        round: &Round,
        to: Amount<Epsilon>,
        batch: &mut Batch,
    ) -> Result<Entered<Extension>, ExtendError<Infallible>> {
        let event = self.extension(round, to)?;
        let entry = self.entry(event);
        self.confirm(&entry.event);
        let extension = Extension { account: self.instance, round: round.id, to };
        Ok(batch.enter(extension, entry, self.budget.metric()))
    }

    /// Whether a settlement is of a round that is running in this account, at a price that it has
    /// reserved: what is recorded counts, not what the round says of itself.
    #[must_use]
    pub fn can_settle(&self, settlement: &Settlement) -> bool {
        let worst = self.running(&settlement.round);
        worst.is_some_and(|worst| settlement.realised <= worst)
    }

    /// Ends a round at its realised price, and enters that into a batch.
    ///
    /// # Errors
    /// The round is not running in this account, which is as it was.
    pub fn enter_settlement(
        &mut self,
        settlement: &Settlement,
        batch: &mut Batch,
    ) -> Result<(), UnsettledReason<Infallible>> {
        if !self.can_settle(settlement) {
            return Err(UnsettledReason::NotRunning);
        }
        let Settlement { round, realised } = settlement;
        let entry = self.entry(Event::Settled { round: round.id, realised: *realised });
        self.confirm(&entry.event);
        let _ = batch.enter((), entry, self.budget.metric());
        Ok(())
    }
}

/// An approval that waits for its batch to be recorded. Nothing may be drawn yet.
#[must_use = "what was entered is paid for: record its batch for a receipt"]
#[derive(Debug)]
pub struct Entered<P> {
    purchase: P,
    entry: Entry,
    metric: Metric,
    batch: u64,
}

impl<P> Entered<P> {
    /// What was bought.
    pub fn purchase(&self) -> &P {
        &self.purchase
    }

    /// What the journal will record, or has.
    pub fn entry(&self) -> &Entry {
        &self.entry
    }

    /// The receipt, now that the batch is recorded.
    ///
    /// # Errors
    /// The record is of another batch.
    pub fn receipt(self, recorded: &Recorded) -> Result<Receipt<P>, Box<Self>> {
        if recorded.batch == self.batch {
            let Self { purchase, entry, metric, .. } = self;
            Ok(Receipt { purchase, entry, metric })
        } else {
            Err(Box::new(self))
        }
    }
}

/// The offer of raises whose batch was not recorded, to be made again. There is no receipt for it
/// any more.
impl<C: Price> From<Entered<GroupRaise<C>>> for GroupOffer<C> {
    fn from(entered: Entered<GroupRaise<C>>) -> Self {
        let GroupRaise { bundle, from, to, steps, .. } = entered.purchase;
        Self { bundle, from, to, steps }
    }
}

/// Proof that a journal has recorded a batch. Only [`Batch::record`] makes one.
#[derive(Debug)]
pub struct Recorded {
    batch: u64,
}
