//! How an account stands: its totals and its running rounds, without its history.
//!
//! A ledger keeps this beside the history, so that an account need not be replayed from its first
//! day. Levels of paths are told to the account when they are needed ([`Account::learn_level`]).
//! Whether totals and history agree is for an audit to find; that totals stay within the budget is
//! checked here.
//!
//! [`Account::learn_level`]: crate::Account::learn_level

use std::sync::Arc;

use crate::account::book::Books;
use crate::account::{Limits, Purse};
use crate::number::Currency;
use crate::purchase::path::{Level, PathId};
use crate::{Account, Amount, Budget, Delta, Epsilon, Price, Rho};

/// What has been taken from a purse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Totals<C: Currency> {
    /// What has been paid for good.
    pub spent: Amount<C>,
    /// The worst case of rounds that have not been settled.
    pub reserved: Amount<C>,
    /// The delta that mechanisms have used.
    pub delta_spent: Amount<Delta>,
}

impl<C: Currency> Totals<C> {
    /// Nothing taken.
    pub const ZERO: Self =
        Self { spent: Amount::ZERO, reserved: Amount::ZERO, delta_spent: Amount::ZERO };

    /// What cannot be charged any more: spent and reserved. None where it is more than an amount
    /// holds.
    #[must_use]
    pub fn taken(&self) -> Option<Amount<C>> {
        self.spent.plus(self.reserved)
    }
}

/// An account without its history and its paths.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// The account.
    pub account: Arc<str>,
    /// The budget it was opened with.
    pub budget: Budget,
    /// The number of the next entry in its history.
    pub next_sequence: u64,
    /// The number of the next ex-post round.
    pub next_round: u64,
    /// What has been taken from the zCDP purse; none where there is none.
    pub zcdp: Option<Totals<Rho>>,
    /// What has been taken from the pure purse; none where there is none.
    pub pure: Option<Totals<Epsilon>>,
    /// The rounds that have not been settled, and the worst case of each.
    pub rounds: Vec<(u64, Amount<Epsilon>)>,
}

/// Why a standing is not one an account can have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StandingError {
    /// More is taken than was budgeted.
    #[error("account `{0}` stands at more than its budget: what was stored is wrong")]
    AboveBudget(Arc<str>),
    /// The totals are not those of the account's purses.
    #[error(
        "account `{0}` stands in other purses than it was opened with: what was stored is wrong"
    )]
    OtherPurses(Arc<str>),
    /// The rounds do not add up to what is reserved.
    #[error(
        "the rounds of account `{0}` do not add up to what it reserves: what was stored is wrong"
    )]
    Rounds(Arc<str>),
    /// The standing is another account's.
    #[error("account `{0}` cannot be put back to where another account, or another budget, stands")]
    OtherAccount(Arc<str>),
}

impl Standing {
    /// The two purses, if they are ones that the budget allows.
    pub(crate) fn purses(&self) -> Result<Purses, StandingError> {
        let reserved = self
            .rounds
            .iter()
            .try_fold(Amount::ZERO, |sum: Amount<Epsilon>, round| sum.plus(round.1));
        let in_pure = self.pure.map_or(Amount::ZERO, |totals| totals.reserved);
        let numbers_fit = self.rounds.iter().all(|&(round, _)| round < self.next_round);
        if reserved != Some(in_pure) || !numbers_fit {
            return Err(StandingError::Rounds(Arc::clone(&self.account)));
        }
        Ok(Purses {
            zcdp: self.purse(self.budget.zcdp(), self.zcdp)?,
            pure: self.purse(self.budget.pure(), self.pure)?,
        })
    }

    fn purse<C: Currency>(
        &self,
        limits: Option<Limits<C>>,
        totals: Option<Totals<C>>,
    ) -> Result<Option<Purse<C>>, StandingError> {
        match (limits, totals) {
            (None, None) => Ok(None),
            (Some(limits), Some(totals)) => Purse::standing(limits, totals)
                .map(Some)
                .ok_or_else(|| StandingError::AboveBudget(Arc::clone(&self.account))),
            _ => Err(StandingError::OtherPurses(Arc::clone(&self.account))),
        }
    }
}

/// The purses of a standing.
pub(crate) struct Purses {
    pub(crate) zcdp: Option<Purse<Rho>>,
    pub(crate) pure: Option<Purse<Epsilon>>,
}

impl Account {
    /// How the account stands.
    #[must_use]
    pub fn standing(&self) -> Standing {
        let odometer = self.odometer();
        let mut rounds: Vec<_> = self.rounds.iter().map(|(&id, &worst)| (id, worst)).collect();
        rounds.sort_unstable();
        Standing {
            account: Arc::clone(&self.name),
            budget: self.budget.clone(),
            next_sequence: self.next_sequence,
            next_round: self.next_round,
            zcdp: odometer.zcdp().map(Purse::totals),
            pure: odometer.pure().map(Purse::totals),
            rounds,
        }
    }

    /// Rebuilds an account from how it stands. It knows no paths yet: every level that a request
    /// touches has to be told to it first ([`Account::learn_level`], [`Account::learn_bundle`]).
    ///
    /// # Errors
    /// No account can stand like this.
    pub fn restore(standing: &Standing) -> Result<Self, StandingError> {
        let mut account = Self::full(Arc::clone(&standing.account), standing.budget.clone());
        account.restore_to(standing)?;
        Ok(account)
    }

    /// Puts the account where its ledger says it stands, because a batch was not recorded or
    /// somebody else has written. Rounds that are recorded go on; it knows no paths any more.
    ///
    /// # Errors
    /// No account can stand like this, or it is another one. The account is as it was.
    pub fn restore_to(&mut self, standing: &Standing) -> Result<(), StandingError> {
        if standing.account != self.name || standing.budget != self.budget {
            return Err(StandingError::OtherAccount(Arc::clone(&self.name)));
        }
        let purses = standing.purses()?;
        let mut books = Books::open(&self.budget);
        if let (Some(book), Some(purse)) = (books.zcdp.as_mut(), purses.zcdp) {
            book.purse = purse;
        }
        if let (Some(book), Some(purse)) = (books.pure.as_mut(), purses.pure) {
            book.purse = purse;
        }
        self.books = books;
        self.rounds = standing.rounds.iter().copied().collect();
        self.next_round = standing.next_round;
        self.next_sequence = standing.next_sequence;
        Ok(())
    }

    /// Tells the account how far a path is recorded. What it knows already stays.
    pub fn learn_level<C: Price>(&mut self, path: PathId, level: Level<C>) {
        if let Some(book) = C::book_mut(&mut self.books) {
            book.paths.entry(path).or_insert(level);
        }
    }

    /// Tells the account how many increments of a bundle are recorded, and the price of all its
    /// groups together. What it knows already stays.
    pub fn learn_bundle<C: Price>(&mut self, bundle: PathId, increments: u32, at: Amount<C>) {
        if let Some(book) = C::book_mut(&mut self.books) {
            book.bundles.entry(bundle).or_insert((increments, at));
        }
    }

    /// How many increments of a bundle were bought, and the price of all its groups together; none
    /// if it has not been revealed.
    #[must_use]
    pub fn bundle<C: Price>(&self, bundle: PathId) -> Option<(u32, Amount<C>)> {
        C::book(&self.books)?.bundles.get(&bundle).copied()
    }
}
