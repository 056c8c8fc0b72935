//! Accounts: budgets, what has been taken from them, and the verbs that take it.
//!
//! Invariants: a verb that says no has changed nothing; what a verb has taken goes back only by
//! `cancel`, before it was recorded, or by `settle`, down to the realised price.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::book::Books;
use crate::evidence::{Approved, Entry, Event, Instance, Journal};
use crate::odometer::Odometer;
use crate::path::{Coarsen, Level, PathError, PathId, Raise};
use crate::round::{ExtendError, Extension, Round, Settlement, Unsettled, UnsettledReason};
use crate::{Amount, Budget, Charge, Delta, Epsilon, Price, Promise, Purchase, Refusal};

static NEXT_INSTANCE: AtomicU64 = AtomicU64::new(0);

/// One or two purses with a name.
///
/// An account belongs to a kind of unit, a circle or a device. Its budget is fixed when it is
/// opened. Every verb that takes money asks the filter first and changes nothing if the answer is
/// no. Approvals are committed in the order they were given: a history in another order does not
/// replay.
///
/// An account is not `Clone`: a copy would spend the same budget twice.
/// ```compile_fail,E0308
/// fn copy(account: &eke_budget::Account) -> eke_budget::Account {
///     account.clone()
/// }
/// ```
#[derive(Debug)]
pub struct Account {
    name: Arc<str>,
    instance: Instance,
    budget: Budget,
    books: Books,
    /// The worst case of every round that has not been settled.
    rounds: HashMap<u64, Amount<Epsilon>>,
    next_round: u64,
}

impl Account {
    /// Opens an account with a full budget.
    #[must_use]
    pub fn open(name: &str, budget: Budget) -> Self {
        Self {
            name: name.into(),
            instance: Instance(NEXT_INSTANCE.fetch_add(1, Ordering::Relaxed)),
            books: Books::open(&budget),
            budget,
            rounds: HashMap::new(),
            next_round: 0,
        }
    }

    /// The account's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The budget the account was opened with.
    #[must_use]
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// What the whole budget promises, however much of it is spent.
    #[must_use]
    pub fn promise(&self) -> Option<Promise> {
        self.budget.promise()
    }

    /// What has been spent so far.
    #[must_use]
    pub fn odometer(&self) -> Odometer<'_> {
        let zcdp = self.books.zcdp.as_ref().map(|book| &book.purse);
        let pure = self.books.pure.as_ref().map(|book| &book.purse);
        Odometer { zcdp, pure, metric: self.budget.metric() }
    }

    /// Buys one release, if it fits.
    ///
    /// # Errors
    /// It does not fit; the account is as it was.
    pub fn approve<P: Purchase>(&mut self, purchase: P) -> Result<Approved<P>, Refusal> {
        let charge = purchase.charge();
        if self.books.spend(charge) {
            Ok(self.approved(purchase, Event::Charged(charge)))
        } else {
            Err(self.refusal(charge))
        }
    }

    /// How far a path has been revealed; none if it has not been.
    #[must_use]
    pub fn level<C: Price>(&self, path: PathId) -> Option<Level<C>> {
        C::book(&self.books)?.paths.get(&path).copied()
    }

    /// Buys the next increment of a path: from where it stands to a finer point, for the
    /// difference of their prices. A path not seen before stands at zero.
    ///
    /// # Errors
    /// The step does not fit, the point is not finer, or the sensitivity is not the path's. The
    /// account is as it was.
    pub fn raise<C: Price>(
        &mut self,
        path: PathId,
        to: Amount<C>,
        sensitivity: C::Sensitivity,
    ) -> Result<Approved<Raise<C>>, PathError> {
        let unopened = Level { increments: 0, at: Amount::ZERO, sensitivity };
        let level = self.level::<C>(path).unwrap_or(unopened);
        if level.sensitivity != sensitivity {
            return Err(PathError::OtherSensitivity { path });
        }
        let raise = Raise::from_level(path, level, to).ok_or_else(|| PathError::NotFiner {
            path,
            at: level.at.to_string(),
            to: to.to_string(),
        })?;
        let price = C::charge(raise.price(), Amount::ZERO);
        if !self.books.spend(price) {
            return Err(self.refusal(price).into());
        }
        self.set_level(path, Some(raise.after()));
        let event = Event::Raised {
            path,
            increment: raise.increment(),
            to: C::charge(to, Amount::ZERO),
            price,
            sensitivity: sensitivity.into(),
        };
        Ok(self.approved(raise, event))
    }

    /// Buys a point of a path no finer than what has been revealed, for nothing.
    ///
    /// # Errors
    /// The path has not been revealed that far.
    pub fn coarsen<C: Price>(
        &mut self,
        path: PathId,
        to: Amount<C>,
    ) -> Result<Approved<Coarsen<C>>, PathError> {
        let coarsen = self
            .level(path)
            .and_then(|level| Coarsen::new(path, level, to))
            .ok_or_else(|| PathError::NotRevealed { path, to: to.to_string() })?;
        let event = Event::Coarsened { path, to: C::charge(to, Amount::ZERO) };
        Ok(self.approved(coarsen, event))
    }

    /// Sets aside the worst case of an ex-post round and spends its delta, if both fit.
    ///
    /// # Errors
    /// They do not fit; the account is as it was.
    pub fn reserve(
        &mut self,
        worst: Amount<Epsilon>,
        delta: Amount<Delta>,
    ) -> Result<Approved<Round>, Refusal> {
        let fits = self.books.pure.as_mut().is_some_and(|book| book.purse.reserve(worst, delta));
        if !fits {
            return Err(self.refusal(Charge::Pure { epsilon: worst, delta }));
        }
        let id = self.next_round;
        self.next_round += 1;
        self.rounds.insert(id, worst);
        let round = Round { account: self.instance, id, worst, delta };
        Ok(self.approved(round, Event::Reserved { round: id, worst, delta }))
    }

    /// Sets aside more for a round that is running, so that it may go on.
    ///
    /// # Errors
    /// The difference does not fit, the worst case is not larger, or the round is not this
    /// account's. The account is as it was.
    pub fn extend(
        &mut self,
        round: &Round,
        to: Amount<Epsilon>,
    ) -> Result<Approved<Extension>, ExtendError> {
        let id = round.id;
        let running = self.running(round).ok_or(ExtendError::NotRunning { round: id })?;
        let more = to
            .minus(running)
            .filter(|more| !more.is_zero())
            .ok_or(ExtendError::NotLarger { round: id, worst: running })?;
        let fits =
            self.books.pure.as_mut().is_some_and(|book| book.purse.reserve(more, Amount::ZERO));
        if !fits {
            return Err(self.refusal(Charge::Pure { epsilon: more, delta: Amount::ZERO }).into());
        }
        self.rounds.insert(id, to);
        let extension = Extension { account: self.instance, round: id, to };
        Ok(self.approved(extension, Event::Extended { round: id, from: running, to }))
    }

    /// Ends a round at its realised price; the rest of its reservation goes back, its delta does
    /// not.
    ///
    /// # Errors
    /// The round is not running in this account, or the journal failed. The round stays reserved.
    pub fn settle<J: Journal>(
        &mut self,
        settlement: Settlement,
        journal: &mut J,
    ) -> Result<(), Unsettled<J::Error>> {
        let Some(worst) = self.running(&settlement.round) else {
            return Err(Unsettled { settlement, reason: UnsettledReason::NotRunning });
        };
        let (round, realised) = (settlement.round.id, settlement.realised);
        if let Err(error) = journal.record(&self.entry(Event::Settled { round, realised })) {
            return Err(Unsettled { settlement, reason: UnsettledReason::Journal(error) });
        }
        self.settle_round(round, worst, realised);
        Ok(())
    }

    /// Gives back what an approval took. It was never recorded, so nothing was drawn for it, and
    /// nothing will be:
    /// ```compile_fail,E0382
    /// # use eke_budget::{Account, Approved, Charge, NoHistory};
    /// fn paid_and_refunded(account: &mut Account, approved: Approved<Charge>) {
    ///     account.cancel(approved).unwrap();
    ///     let receipt = approved.commit(&mut NoHistory);
    /// }
    /// ```
    ///
    /// # Errors
    /// The approval is another account's, or the path or round has moved on since. What it took
    /// stays spent.
    #[expect(clippy::needless_pass_by_value, reason = "an approval that was cancelled is gone")]
    pub fn cancel<P>(&mut self, approved: Approved<P>) -> Result<(), CancelError> {
        if approved.account != self.instance {
            return Err(CancelError::OtherAccount);
        }
        match approved.entry.event {
            Event::Charged(charge) => self.books.unspend(charge),
            Event::Raised { path, increment, to, price, .. } => {
                let undone = match to {
                    Charge::Zcdp { rho, .. } => self.lower(path, increment, rho, price),
                    Charge::Pure { epsilon, .. } => self.lower(path, increment, epsilon, price),
                };
                return if undone { Ok(()) } else { Err(CancelError::MovedOn) };
            }
            Event::Coarsened { .. } | Event::Settled { .. } => {}
            Event::Reserved { round, worst, delta } => {
                if self.rounds.get(&round) != Some(&worst) {
                    return Err(CancelError::MovedOn);
                }
                self.rounds.remove(&round);
                if let Some(book) = self.books.pure.as_mut() {
                    book.purse.unreserve(worst, delta);
                }
            }
            Event::Extended { round, from, to } => {
                if self.rounds.get(&round) != Some(&to) {
                    return Err(CancelError::MovedOn);
                }
                self.rounds.insert(round, from);
                if let (Some(book), Some(more)) = (self.books.pure.as_mut(), to.minus(from)) {
                    book.purse.unreserve(more, Amount::ZERO);
                }
            }
        }
        Ok(())
    }

    /// Rebuilds an account from its budget and its history. Rounds that were not settled stay at
    /// their worst case for good: nobody can tell any more what they came to.
    ///
    /// # Errors
    /// The history does not belong to this account, does not fit its budget, or contradicts itself.
    pub fn replay<'a>(
        name: &str,
        budget: Budget,
        history: impl IntoIterator<Item = &'a Entry>,
    ) -> Result<Self, ReplayError> {
        let mut account = Self::open(name, budget);
        for (index, entry) in history.into_iter().enumerate() {
            if *entry.account != *name {
                return Err(ReplayError::OtherAccount { index, account: entry.account.clone() });
            }
            if !account.apply(&entry.event) {
                return Err(ReplayError::DoesNotFit { index });
            }
        }
        Ok(account)
    }

    /// Applies one recorded event, and says whether it could have happened.
    fn apply(&mut self, event: &Event) -> bool {
        match *event {
            Event::Charged(charge) => self.books.spend(charge),
            Event::Raised { path, increment, to, price, sensitivity } => match to {
                Charge::Zcdp { rho, .. } => {
                    self.apply_raise(path, increment, rho, price, sensitivity)
                }
                Charge::Pure { epsilon, .. } => {
                    self.apply_raise(path, increment, epsilon, price, sensitivity)
                }
            },
            Event::Coarsened { path, to } => match to {
                Charge::Zcdp { rho, .. } => self.coarsen(path, rho).is_ok(),
                Charge::Pure { epsilon, .. } => self.coarsen(path, epsilon).is_ok(),
            },
            Event::Reserved { round, worst, delta } => {
                // Numbers of rounds that were cancelled before they were recorded are left out.
                if round < self.next_round {
                    return false;
                }
                self.next_round = round;
                self.reserve(worst, delta).is_ok()
            }
            Event::Extended { round, from, to } => {
                if self.rounds.get(&round) != Some(&from) {
                    return false;
                }
                let running =
                    Round { account: self.instance, id: round, worst: from, delta: Amount::ZERO };
                self.extend(&running, to).is_ok()
            }
            Event::Settled { round, realised } => match self.rounds.get(&round) {
                Some(&worst) if realised <= worst => {
                    self.settle_round(round, worst, realised);
                    true
                }
                _ => false,
            },
        }
    }

    fn apply_raise<C: Price>(
        &mut self,
        path: PathId,
        increment: u32,
        to: Amount<C>,
        price: Charge,
        sensitivity: f64,
    ) -> bool {
        let Ok(sensitivity) = C::Sensitivity::try_from(sensitivity) else { return false };
        self.raise(path, to, sensitivity).is_ok_and(|approved| {
            let raise = approved.purchase();
            raise.increment() == increment && C::charge(raise.price(), Amount::ZERO) == price
        })
    }

    /// Takes a path back to where it stood before an increment, if that is still its last one.
    fn lower<C: Price>(
        &mut self,
        path: PathId,
        increment: u32,
        to: Amount<C>,
        price: Charge,
    ) -> bool {
        let Some(level) = self.level::<C>(path) else { return false };
        if level.increments != increment + 1 {
            return false;
        }
        let price_in_currency = match price {
            Charge::Zcdp { rho, .. } => rho.grains(),
            Charge::Pure { epsilon, .. } => epsilon.grains(),
        };
        let at = Amount::from_grains(to.grains() - price_in_currency);
        let before = Level { increments: increment, at, ..level };
        self.set_level(path, (increment > 0).then_some(before));
        self.books.unspend(price);
        true
    }

    fn set_level<C: Price>(&mut self, path: PathId, level: Option<Level<C>>) {
        if let Some(book) = C::book_mut(&mut self.books) {
            match level {
                Some(level) => book.paths.insert(path, level),
                None => book.paths.remove(&path),
            };
        }
    }

    fn running(&self, round: &Round) -> Option<Amount<Epsilon>> {
        if round.account == self.instance { self.rounds.get(&round.id).copied() } else { None }
    }

    fn settle_round(&mut self, round: u64, worst: Amount<Epsilon>, realised: Amount<Epsilon>) {
        self.rounds.remove(&round);
        if let Some(book) = self.books.pure.as_mut() {
            book.purse.settle(worst, realised);
        }
    }

    fn entry(&self, event: Event) -> Entry {
        Entry { account: Arc::clone(&self.name), event }
    }

    fn approved<P>(&self, purchase: P, event: Event) -> Approved<P> {
        Approved { purchase, entry: self.entry(event), account: self.instance }
    }

    #[cold]
    fn refusal(&self, asked: Charge) -> Refusal {
        let (budget, fits) = self.books.budget_and_left(asked).unzip();
        Refusal { account: Arc::clone(&self.name), asked, budget, fits }
    }
}

/// Why an approval could not be cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CancelError {
    /// It was approved by another account.
    #[error("the approval belongs to another account: cancel it there")]
    OtherAccount,
    /// Something was built on it since.
    #[error("the path or round has gone on since this was approved, so it stays paid for")]
    MovedOn,
}

/// Why a history does not rebuild an account.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// An entry names another account.
    #[error("entry {index} of the history belongs to account `{account}`")]
    OtherAccount {
        /// The entry's place in the history, from 0.
        index: usize,
        /// The account it names.
        account: Arc<str>,
    },
    /// An entry that this account could not have made.
    #[error("entry {index} of the history does not fit the budget and what came before it")]
    DoesNotFit {
        /// The entry's place in the history, from 0.
        index: usize,
    },
}
