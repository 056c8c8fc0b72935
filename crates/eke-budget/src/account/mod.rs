//! Accounts: budgets, what has been taken from them, and the verbs that take it.
//!
//! Invariants: a verb that says no has changed nothing; what a verb has taken goes back only
//! before it was recorded, or by `settle`, down to the realised price; levels of paths and running
//! rounds are those of recorded steps; the history is numbered without gaps.

pub(crate) mod batch;
pub(crate) mod book;
pub(crate) mod odometer;
pub(crate) mod purse;
pub(crate) mod sheet;
pub(crate) mod standing;

pub use batch::{Batch, Entered, Recorded};
pub use odometer::{Odometer, RunningBound, TimeUniform};
pub use purse::{Limits, Purse};
pub use sheet::{PaidColumn, Prices, SamePrice, Sheet, SheetError, Who};
pub use standing::{Standing, StandingError, Totals};

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::account::book::Books;
use crate::evidence::{
    Approved, CommitError, Entry, Event, Instance, Journal, OtherAccount, Receipt, Receipts,
};
use crate::purchase::charge::in_currency;
use crate::purchase::group::{GroupOffer, GroupRaise};
use crate::purchase::path::{Coarsen, Level, PathError, PathId, Raise, Reveal};
use crate::purchase::round::{ExtendError, Round, Settlement, Unsettled, UnsettledReason};
use crate::{Amount, Budget, Charge, Delta, Epsilon, Price, Promise, Purchase, Refusal};

static NEXT_INSTANCE: AtomicU64 = AtomicU64::new(0);

/// One or two purses with a name.
///
/// An account belongs to a kind of unit, a circle or a device. Its budget is fixed when it is
/// opened. Every verb that takes money asks the filter first and changes nothing if the answer is
/// no. What was approved is drawn only after [`Account::commit`] has recorded it.
///
/// An account is not `Clone`: a copy would spend the same budget twice.
/// ```compile_fail,E0308
/// fn copy(account: &eke_budget::Account) -> eke_budget::Account {
///     account.clone()
/// }
/// ```
#[derive(Debug)]
#[doc(alias = "accountant")]
#[doc(alias = "composition")]
pub struct Account {
    pub(crate) name: Arc<str>,
    pub(crate) instance: Instance,
    pub(crate) budget: Budget,
    pub(crate) books: Books,
    /// The worst case of every round that has started and has not been settled.
    pub(crate) rounds: HashMap<u64, Amount<Epsilon>>,
    pub(crate) next_round: u64,
    /// The number of the next entry in the history.
    pub(crate) next_sequence: u64,
}

impl Account {
    /// Opens an account with a full budget, and records that.
    ///
    /// # Errors
    /// The journal failed; there is no account.
    pub fn open<J: Journal>(name: &str, budget: Budget, journal: &mut J) -> Result<Self, J::Error> {
        let mut account = Self::full(name.into(), budget);
        let opened = account.entry(Event::Opened(account.budget.clone()));
        journal.record(std::slice::from_ref(&opened))?;
        account.next_sequence += 1;
        Ok(account)
    }

    pub(crate) fn full(name: Arc<str>, budget: Budget) -> Self {
        Self {
            name,
            instance: Instance(NEXT_INSTANCE.fetch_add(1, Ordering::Relaxed)),
            books: Books::open(&budget),
            budget,
            rounds: HashMap::new(),
            next_round: 0,
            next_sequence: 0,
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
    /// difference of their prices. A path not seen before stands at zero. The sensitivity is that
    /// under the account's own adjacency.
    ///
    /// # Errors
    /// The step does not fit, the point is not finer, the sensitivity is not the path's, or another
    /// step of the path is under way. The account is as it was.
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
        self.take_step::<C>(path, price)?;
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

    /// Buys a point of a path whichever way it lies: the next increment if it is finer than what
    /// has been revealed, and otherwise a coarser point, for nothing.
    ///
    /// # Errors
    /// As for [`Account::raise`] and [`Account::coarsen`]. The account is as it was.
    pub fn reveal<C: Price>(
        &mut self,
        path: PathId,
        to: Amount<C>,
        sensitivity: C::Sensitivity,
    ) -> Result<Approved<Reveal<C>>, PathError> {
        match self.level::<C>(path) {
            Some(level) if level.sensitivity != sensitivity => {
                Err(PathError::OtherSensitivity { path })
            }
            Some(level) if to <= level.at => Ok(self.coarsen(path, to)?.map(Reveal::Coarser)),
            _ => Ok(self.raise(path, to, sensitivity)?.map(Reveal::Finer)),
        }
    }

    /// Buys the raises of a bundle's groups that were offered, for what they add to the price of
    /// the whole set. That may be nothing.
    ///
    /// # Errors
    /// They do not fit, do not start from what is recorded, or another step of the bundle is under
    /// way. The account is as it was.
    pub fn raise_groups<C: Price>(
        &mut self,
        offer: GroupOffer<C>,
    ) -> Result<Approved<GroupRaise<C>>, PathError> {
        let GroupOffer { bundle, from, to, steps } = offer;
        let recorded = C::book(&self.books).and_then(|book| book.bundles.get(&bundle).copied());
        let (increment, at) = recorded.unwrap_or((0, Amount::ZERO));
        let more = to.minus(from).filter(|_| from == at).ok_or_else(|| PathError::OutOfStep {
            path: bundle,
            at: at.to_string(),
            from: from.to_string(),
        })?;
        let price = C::charge(more, Amount::ZERO);
        self.take_step::<C>(bundle, price)?;
        let to_charge = C::charge(to, Amount::ZERO);
        let event = Event::GroupsRaised { bundle, increment, to: to_charge, price };
        Ok(self.approved(GroupRaise { bundle, increment, from, to, steps }, event))
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
        let round = Round { account: self.instance, id, worst, delta };
        Ok(self.approved(round, Event::Reserved { round: id, worst, delta }))
    }

    /// Sets aside more for a round that is running, records that, and lets the round go on.
    ///
    /// # Errors
    /// The difference does not fit, the worst case is not larger, the round is not running in this
    /// account, or the journal failed. Account and round are as they were.
    pub fn extend<J: Journal>(
        &mut self,
        round: &mut Round,
        to: Amount<Epsilon>,
        journal: &mut J,
    ) -> Result<(), ExtendError<J::Error>> {
        let event = self.extension(round, to)?;
        let entry = self.entry(event);
        if let Err(error) = journal.record(std::slice::from_ref(&entry)) {
            self.undo(&entry.event);
            return Err(ExtendError::Journal(error));
        }
        self.confirm(&entry.event);
        round.worst = to;
        Ok(())
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
        if self.running(&settlement.round).is_none() {
            return Err(Unsettled { settlement, reason: UnsettledReason::NotRunning });
        }
        let (round, realised) = (settlement.round.id, settlement.realised);
        let entry = self.entry(Event::Settled { round, realised });
        if let Err(error) = journal.record(std::slice::from_ref(&entry)) {
            return Err(Unsettled { settlement, reason: UnsettledReason::Journal(error) });
        }
        self.confirm(&entry.event);
        Ok(())
    }

    /// Records an approval. The receipt exists only once that has succeeded.
    ///
    /// # Errors
    /// The journal failed, and the price is back in the account; or the approval is another
    /// account's, and comes back.
    pub fn commit<P, J: Journal>(
        &mut self,
        approved: Approved<P>,
        journal: &mut J,
    ) -> Result<Receipt<P>, CommitError<P, J::Error>> {
        Ok(self.commit_with::<P, P, J>(approved, Vec::new(), journal)?.own)
    }

    /// Records an approval together with those of other accounts, such as the circles of the
    /// analyst who asks: all of them or none.
    ///
    /// # Errors
    /// The journal failed, or an approval of `others` is not that account's; or the approval is
    /// another account's, and comes back. All other prices are back in their accounts.
    pub fn commit_with<P, Q, J: Journal>(
        &mut self,
        approved: Approved<P>,
        others: Vec<(&mut Self, Approved<Q>)>,
        journal: &mut J,
    ) -> Result<Receipts<P, Q>, CommitError<P, J::Error>> {
        if approved.account != self.instance {
            cancel_all(others);
            return Err(CommitError::OtherAccount(OtherAccount { approved }));
        }
        if !others.iter().all(|(account, other)| other.account == account.instance) {
            self.undo(&approved.event);
            cancel_all(others);
            return Err(CommitError::Mismatched);
        }
        let mut entries = vec![self.entry(approved.event.clone())];
        entries.extend(others.iter().map(|(account, other)| account.entry(other.event.clone())));
        if let Err(error) = journal.record(&entries) {
            self.undo(&approved.event);
            cancel_all(others);
            return Err(CommitError::Journal(error));
        }
        let mut entries = entries.into_iter();
        let own = self.receipt(approved.purchase, entries.next());
        let others = others
            .into_iter()
            .map(|(account, other)| account.receipt(other.purchase, entries.next()))
            .collect();
        Ok(Receipts { own, others })
    }

    /// Gives back what an approval took. It was never recorded, so nothing was drawn for it, and
    /// nothing will be:
    /// ```compile_fail,E0382
    /// # use eke_budget::{Account, Approved, Charge, NoHistory};
    /// fn paid_and_refunded(account: &mut Account, approved: Approved<Charge>) {
    ///     account.cancel(approved).unwrap();
    ///     let receipt = account.commit(approved, &mut NoHistory);
    /// }
    /// ```
    ///
    /// # Errors
    /// The approval is another account's, and comes back.
    pub fn cancel<P>(&mut self, approved: Approved<P>) -> Result<(), OtherAccount<P>> {
        if approved.account != self.instance {
            return Err(OtherAccount { approved });
        }
        self.undo(&approved.event);
        Ok(())
    }

    /// Rebuilds an account from its history, which names it and its budget. Rounds that were not
    /// settled stay at their worst case for good: nobody can tell any more what they came to.
    ///
    /// # Errors
    /// The history does not start with an opening, has a gap, names another account, or contradicts
    /// itself.
    pub fn replay<'a>(history: impl IntoIterator<Item = &'a Entry>) -> Result<Self, ReplayError> {
        let mut entries = history.into_iter();
        let Some(Entry { account: name, sequence: 0, event: Event::Opened(budget) }) =
            entries.next()
        else {
            return Err(ReplayError::NotOpened);
        };
        let mut account = Self::full(Arc::clone(name), budget.clone());
        account.next_sequence = 1;
        for entry in entries {
            account.follow(entry)?;
        }
        Ok(account)
    }

    /// Goes on by one recorded entry of the account's history.
    ///
    /// # Errors
    /// The entry is not the next one, names another account, or contradicts what came before it.
    pub fn follow(&mut self, entry: &Entry) -> Result<(), ReplayError> {
        let sequence = entry.sequence;
        if entry.account != self.name {
            return Err(ReplayError::OtherAccount { sequence, account: entry.account.clone() });
        }
        if sequence != self.next_sequence {
            return Err(ReplayError::Gap { expected: self.next_sequence, found: sequence });
        }
        if !self.apply(&entry.event) {
            return Err(ReplayError::DoesNotFit { sequence });
        }
        Ok(())
    }

    /// Takes the price of the next step of a path or bundle, and marks it as under way.
    fn take_step<C: Price>(&mut self, path: PathId, price: Charge) -> Result<(), PathError> {
        if C::book(&self.books).is_some_and(|book| book.under_way.contains(&path)) {
            return Err(PathError::UnderWay { path });
        }
        if !self.books.spend(price) {
            return Err(self.refusal(price).into());
        }
        self.books.set_under_way(path, price, true);
        Ok(())
    }

    /// Gives back what an event took that was never recorded.
    fn undo(&mut self, event: &Event) {
        match *event {
            Event::Charged(charge) => self.books.unspend(charge),
            Event::Raised { path, price, .. } | Event::GroupsRaised { bundle: path, price, .. } => {
                self.books.unspend(price);
                self.books.set_under_way(path, price, false);
            }
            Event::Reserved { worst, delta, .. } => self.unreserve(worst, delta),
            Event::Extended { from, to, .. } => {
                self.unreserve(to.minus(from).unwrap_or(Amount::ZERO), Amount::ZERO);
            }
            // These take nothing before they are recorded.
            Event::Opened(_) | Event::Coarsened { .. } | Event::Settled { .. } => {}
        }
    }

    /// Brings levels and rounds up to date with an event that has been recorded.
    pub(crate) fn confirm(&mut self, event: &Event) {
        self.next_sequence += 1;
        match *event {
            Event::Raised { path, increment, to, sensitivity, .. } => {
                in_currency!(to, at => self.set_level(path, increment, at, sensitivity));
            }
            Event::GroupsRaised { bundle, increment, to, .. } => {
                in_currency!(to, at => self.set_bundle(bundle, increment, at));
            }
            Event::Reserved { round, worst, .. } | Event::Extended { round, to: worst, .. } => {
                self.rounds.insert(round, worst);
            }
            Event::Settled { round, realised } => {
                let worst = self.rounds.remove(&round);
                if let (Some(book), Some(worst)) = (self.books.pure.as_mut(), worst) {
                    book.purse.settle(worst, realised);
                }
            }
            Event::Opened(_) | Event::Charged(_) | Event::Coarsened { .. } => {}
        }
    }

    /// Applies one recorded event, and says whether it could have happened.
    fn apply(&mut self, event: &Event) -> bool {
        let possible = match *event {
            Event::Opened(_) => false,
            Event::Charged(charge) => self.books.spend(charge),
            Event::Raised { path, to, sensitivity, .. } => {
                let approved = in_currency!(to, to => self.raise_as(path, to, sensitivity));
                approved.as_ref() == Some(event)
            }
            Event::GroupsRaised { bundle, to, .. } => {
                let approved = in_currency!(to, to => self.raise_groups_as(bundle, to));
                approved.as_ref() == Some(event)
            }
            Event::Coarsened { path, to } => in_currency!(to, to => self.coarsen(path, to).is_ok()),
            Event::Reserved { round, worst, delta } => {
                // The last number is left free, so that the next one can always be counted.
                let next = round.checked_add(2).map(|_| (round + 1).max(self.next_round));
                let possible = !self.rounds.contains_key(&round) && next.is_some();
                possible && self.reserve(worst, delta).is_ok() && {
                    self.next_round = next.unwrap_or(round);
                    true
                }
            }
            Event::Extended { round, from, to } => {
                let more = to.minus(from).filter(|more| !more.is_zero());
                self.rounds.get(&round) == Some(&from)
                    && more.is_some_and(|more| self.reserve_more(more))
            }
            Event::Settled { round, realised } => {
                self.rounds.get(&round).is_some_and(|&worst| realised <= worst)
            }
        };
        if possible {
            self.confirm(event);
        }
        possible
    }

    /// Approves the step that a recorded event names, and says what it would record.
    fn raise_as<C: Price>(
        &mut self,
        path: PathId,
        to: Amount<C>,
        sensitivity: f64,
    ) -> Option<Event> {
        let sensitivity = C::Sensitivity::try_from(sensitivity).ok()?;
        Some(self.raise(path, to, sensitivity).ok()?.event)
    }

    fn raise_groups_as<C: Price>(&mut self, bundle: PathId, to: Amount<C>) -> Option<Event> {
        let from = C::book(&self.books)?.bundles.get(&bundle).map_or(Amount::ZERO, |&(_, at)| at);
        let offer = GroupOffer { bundle, from, to, steps: Arc::default() };
        Some(self.raise_groups(offer).ok()?.event)
    }

    fn set_level<C: Price>(
        &mut self,
        path: PathId,
        increment: u32,
        at: Amount<C>,
        sensitivity: f64,
    ) {
        let sensitivity = C::Sensitivity::try_from(sensitivity);
        if let (Some(book), Ok(sensitivity)) = (C::book_mut(&mut self.books), sensitivity) {
            book.paths.insert(path, Level { increments: increment + 1, at, sensitivity });
            book.under_way.remove(&path);
        }
    }

    fn set_bundle<C: Price>(&mut self, bundle: PathId, increment: u32, at: Amount<C>) {
        if let Some(book) = C::book_mut(&mut self.books) {
            book.bundles.insert(bundle, (increment + 1, at));
            book.under_way.remove(&bundle);
        }
    }

    /// Takes what a larger worst case adds, and says what there is to record.
    pub(crate) fn extension<E>(
        &mut self,
        round: &Round,
        to: Amount<Epsilon>,
    ) -> Result<Event, ExtendError<E>> {
        let id = round.id;
        let from = self.running(round).ok_or(ExtendError::NotRunning { round: id })?;
        let more = to
            .minus(from)
            .filter(|more| !more.is_zero())
            .ok_or(ExtendError::NotLarger { round: id, worst: from })?;
        if !self.reserve_more(more) {
            return Err(self.refusal(Charge::Pure { epsilon: more, delta: Amount::ZERO }).into());
        }
        Ok(Event::Extended { round: id, from, to })
    }

    pub(crate) fn running(&self, round: &Round) -> Option<Amount<Epsilon>> {
        if round.account == self.instance { self.rounds.get(&round.id).copied() } else { None }
    }

    fn reserve_more(&mut self, more: Amount<Epsilon>) -> bool {
        self.books.pure.as_mut().is_some_and(|book| book.purse.reserve(more, Amount::ZERO))
    }

    fn unreserve(&mut self, worst: Amount<Epsilon>, delta: Amount<Delta>) {
        if let Some(book) = self.books.pure.as_mut() {
            book.purse.unreserve(worst, delta);
        }
    }

    pub(crate) fn entry(&self, event: Event) -> Entry {
        Entry { account: Arc::clone(&self.name), sequence: self.next_sequence, event }
    }

    fn approved<P>(&self, purchase: P, event: Event) -> Approved<P> {
        Approved { purchase, event, account: self.instance }
    }

    /// The receipt for an entry that has been recorded.
    fn receipt<P>(&mut self, purchase: P, entry: Option<Entry>) -> Receipt<P> {
        let entry = entry.expect("an entry for every approval");
        self.confirm(&entry.event);
        Receipt { purchase, entry, metric: self.budget.metric() }
    }

    #[cold]
    fn refusal(&self, asked: Charge) -> Refusal {
        let (budget, fits) = self.books.budget_and_left(asked).unzip();
        Refusal { account: Arc::clone(&self.name), asked, budget, fits }
    }
}

/// Cancels every approval that is its account's. One that belongs elsewhere stays paid for there.
fn cancel_all<Q>(others: Vec<(&mut Account, Approved<Q>)>) {
    for (account, other) in others {
        let _ = account.cancel(other);
    }
}

/// Why a history does not rebuild an account.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The first entry is not the opening of an account.
    #[error("the history does not start with the opening of its account")]
    NotOpened,
    /// An entry is missing, or stands twice.
    #[error("entry {found} of the history stands where entry {expected} should be")]
    Gap {
        /// The number that should come.
        expected: u64,
        /// The number that came.
        found: u64,
    },
    /// An entry names another account.
    #[error("entry {sequence} of the history belongs to account `{account}`")]
    OtherAccount {
        /// The entry's number.
        sequence: u64,
        /// The account it names.
        account: Arc<str>,
    },
    /// An entry that this account could not have made.
    #[error("entry {sequence} of the history does not fit the budget and what came before it")]
    DoesNotFit {
        /// The entry's number.
        sequence: u64,
    },
}
