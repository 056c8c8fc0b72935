//! Tasks: what the writer is asked to do, each filling its part of a page.
//!
//! A task may be entered again, if the page was not written because somebody else wrote first. It
//! checks and approves everything before it writes its first row, so that one that does not get on
//! leaves nothing behind but the line of a refusal.

use std::convert::Infallible;
use std::sync::Arc;

use eke_budget::account::{Batch, Entered, Recorded};
use eke_budget::purchase::{ExtendError, Extension, Round, Settlement};
use eke_budget::{
    Account, Amount, Approved, Budget, Entry, Epsilon, Event, NoHistory, PathId, Receipt, Refusal,
};

use crate::error::StoreError;
use crate::item::{Item, No};
use crate::journal::line::What;
use crate::request::{Answer, Answered, Charged, Claim, Outcome, Request, Stamp};
use crate::store::page::{AnswerRow, DrawRow, ReleaseRow, RequestRow, SeenRow, SheetRow};
use crate::ticket::Reply;
use crate::writer::composer::{About, Composer, Halt};
use crate::{Digest, Key, LedgerError};

/// Something for the writer to do.
pub(crate) trait Task: Send {
    /// The accounts it touches.
    fn accounts(&self) -> Vec<Arc<str>>;

    /// Whether it must not be tried before the accounts are locked.
    fn needs_lock(&self) -> bool {
        false
    }

    /// Fills its part of the page.
    fn enter(&mut self, composer: &mut Composer<'_>) -> Result<(), Halt>;

    /// Answers the caller: the page is on disk, or this was not done.
    fn answer(self: Box<Self>, written: Result<&Recorded, LedgerError>);
}

/// Opens an account.
pub(crate) struct Open {
    pub(crate) name: Arc<str>,
    pub(crate) budget: Budget,
    pub(crate) stamp: Stamp,
    pub(crate) reply: Reply<()>,
}

impl Task for Open {
    fn accounts(&self) -> Vec<Arc<str>> {
        vec![Arc::clone(&self.name)]
    }

    fn enter(&mut self, composer: &mut Composer<'_>) -> Result<(), Halt> {
        if let Some(account) = composer.find(&self.name)? {
            let same = *account.budget() == self.budget;
            return if same {
                Ok(())
            } else {
                Err(LedgerError::OtherBudget(Arc::clone(&self.name)).into())
            };
        }
        // No receipt comes of this: the opening is posted like any other entry.
        let Ok(account) = Account::open(&self.name, self.budget.clone(), &mut NoHistory);
        composer.open(&self.name, account);
        let event = Event::Opened(self.budget.clone());
        let entry = Entry { account: Arc::clone(&self.name), sequence: 0, event };
        let about = About { stamp: self.stamp.clone(), key: None, question: None };
        composer.post(&entry, &about, None, None)
    }

    fn answer(self: Box<Self>, written: Result<&Recorded, LedgerError>) {
        self.reply.send(written.map(drop));
    }
}

/// Charges a request to its accounts.
pub(crate) struct Charging<W: Item, V: Item> {
    pub(crate) request: Request,
    /// What the key stands for.
    pub(crate) digest: Digest,
    pub(crate) own: (Arc<str>, W),
    pub(crate) others: Vec<(Arc<str>, V)>,
    pub(crate) entered: Option<AllEntered<W::Bought, V::Bought>>,
    pub(crate) claim: Option<Claim>,
    pub(crate) stored: Option<Answered>,
    pub(crate) reply: Reply<Outcome<W::Bought, V::Bought>>,
}

impl<W: Item, V: Item> Charging<W, V> {
    pub(crate) fn new(
        request: Request,
        own: (Arc<str>, W),
        others: Vec<(Arc<str>, V)>,
        reply: Reply<Outcome<W::Bought, V::Bought>>,
    ) -> Self {
        let mut parts = vec![request.stamp.who.to_string(), request.question.to_string()];
        parts.extend([own.0.to_string(), own.1.describe()]);
        for (name, item) in &others {
            parts.extend([name.to_string(), item.describe()]);
        }
        let digest = Digest::of_parts(parts.iter().map(String::as_str));
        let (entered, claim, stored) = (None, None, None);
        Self { request, digest, own, others, entered, claim, stored, reply }
    }

    fn about(&self) -> About {
        About {
            stamp: self.request.stamp.clone(),
            key: Some(self.request.key.clone()),
            question: Some(self.request.question()),
        }
    }

    /// Takes back what an earlier page held that was not written.
    fn take_back(&mut self) {
        self.stored = None;
        self.claim = None;
        if let Some((own, others)) = self.entered.take() {
            self.own.1.take_back(own);
            for ((_, item), entered) in self.others.iter_mut().zip(others) {
                item.take_back(entered);
            }
        }
    }

    /// Approves everything, or nothing.
    fn approve(
        &mut self,
        composer: &mut Composer<'_>,
    ) -> Result<Approvals<W::Bought, V::Bought>, Halt> {
        let own = approve(composer, &mut self.own)?
            .map_err(|no| declined(composer, no, &self.about()))?;
        let mut others = Vec::with_capacity(self.others.len());
        for index in 0..self.others.len() {
            let result = approve(composer, &mut self.others[index]);
            let failure = match result {
                Ok(Ok(approved)) => {
                    others.push(approved);
                    continue;
                }
                Ok(Err(no)) => declined(composer, no, &self.about()),
                Err(halt) => halt,
            };
            cancel(composer, &self.own.0, own);
            for ((name, _), approved) in self.others.iter().zip(others) {
                cancel(composer, name, approved);
            }
            return Err(failure);
        }
        Ok((own, others))
    }
}

type AllEntered<P, Q> = (Entered<P>, Vec<Entered<Q>>);
type Approvals<P, Q> = (Approved<P>, Vec<Approved<Q>>);

fn approve<W: Item>(
    composer: &mut Composer<'_>,
    (name, item): &mut (Arc<str>, W),
) -> Result<Result<Approved<W::Bought>, No>, Halt> {
    let account = composer.account_for(name, item)?;
    Ok(item.approve(account))
}

fn cancel<P>(composer: &mut Composer<'_>, name: &Arc<str>, approved: Approved<P>) {
    if let Ok(account) = composer.account(name) {
        let _ = account.cancel(approved);
    }
}

/// What a no means for the request. A refusal leaves a line in the journal.
fn declined(composer: &mut Composer<'_>, no: No, about: &About) -> Halt {
    match no {
        No::Refused(refusal) => refused(composer, refusal, about),
        No::Path(error) => LedgerError::Path(error).into(),
        No::OfferGone => LedgerError::Moved(
            "the offer was part of a write that somebody else came before: offer it again".into(),
        )
        .into(),
    }
}

fn refused(composer: &mut Composer<'_>, refusal: Refusal, about: &About) -> Halt {
    let what = What::Refused { asked: refusal.asked, fits: refusal.fits };
    let account = Arc::clone(&refusal.account);
    match composer.line(&account, about, what) {
        Ok(_) => LedgerError::Refused(refusal).into(),
        Err(halt) => halt,
    }
}

fn enter<P>(
    composer: &mut Composer<'_>,
    name: &Arc<str>,
    approved: Approved<P>,
) -> Result<Entered<P>, Halt> {
    composer.account(name)?;
    // The account and the batch lie side by side on the composer.
    let mut batch = std::mem::replace(&mut composer.batch, eke_budget::account::Batch::new());
    let entered = composer.account(name).map(|account| account.enter(approved, &mut batch));
    composer.batch = batch;
    entered?.map_err(|_| {
        StoreError::Broken(format!("account `{name}` was replaced while it was charged")).into()
    })
}

/// The point that an event shows, if it shows one.
pub(crate) fn shown(event: &Event) -> Option<eke_budget::Charge> {
    match *event {
        Event::Raised { to, .. } | Event::GroupsRaised { to, .. } | Event::Coarsened { to, .. } => {
            Some(to)
        }
        _ => None,
    }
}

impl<W: Item, V: Item> Task for Charging<W, V> {
    fn accounts(&self) -> Vec<Arc<str>> {
        let others = self.others.iter().map(|(name, _)| Arc::clone(name));
        std::iter::once(Arc::clone(&self.own.0)).chain(others).collect()
    }

    fn needs_lock(&self) -> bool {
        self.own.1.needs_lock() || self.others.iter().any(|(_, item)| item.needs_lock())
    }

    fn enter(&mut self, composer: &mut Composer<'_>) -> Result<(), Halt> {
        self.take_back();
        let key = self.request.key.clone();
        if let Some(stored) = composer.request(&key)? {
            if stored.digest != self.digest {
                return Err(LedgerError::OtherRequest(key).into());
            }
            let Some(answer) = stored.answer else {
                return Err(LedgerError::Unanswered(key).into());
            };
            self.stored = Some(Answered { body: answer.into() });
            return Ok(());
        }
        let path = self.own.1.path().map(|(path, _)| path);
        if let Some(path) = path {
            composer.check_free(path, &self.own.0)?;
        }
        let (own, others) = self.approve(composer)?;
        let about = self.about();

        let own = enter(composer, &self.own.0, own)?;
        composer.post(own.entry(), &about, Some(self.digest), self.own.1.plan())?;
        let increment = !matches!(own.entry().event, Event::Coarsened { .. });
        let mut accounts = vec![(Arc::clone(&self.own.0), shown(&own.entry().event))];
        let mut entered = Vec::with_capacity(others.len());
        for ((name, item), approved) in self.others.iter().zip(others) {
            let other = enter(composer, name, approved)?;
            composer.post(other.entry(), &about, None, item.plan())?;
            accounts.push((Arc::clone(name), shown(&other.entry().event)));
            entered.push(other);
        }
        let question = self.request.question();
        composer.page.questions.push((question, Arc::clone(&self.request.question)));
        let account = Arc::clone(&self.own.0);
        composer.page.requests.push(RequestRow { key: key.clone(), digest: self.digest, account });
        self.entered = Some((own, entered));
        self.claim = Some(Claim { key, question, accounts, path, increment });
        Ok(())
    }

    fn answer(self: Box<Self>, written: Result<&Recorded, LedgerError>) {
        let Self { entered, claim, stored, reply, .. } = *self;
        let outcome = written.and_then(|recorded| {
            if let Some(answered) = stored {
                return Ok(Outcome::Answered(answered));
            }
            let charged = entered.zip(claim).and_then(|((own, others), claim)| {
                let own = own.receipt(recorded).ok()?;
                let others: Option<Vec<Receipt<V::Bought>>> =
                    others.into_iter().map(|other| other.receipt(recorded).ok()).collect();
                Some(Charged { own, others: others?, claim })
            });
            let lost = || LedgerError::Stopped("a charge was written with another batch".into());
            charged.map(Box::new).map(Outcome::Charged).ok_or_else(lost)
        });
        reply.send(outcome);
    }
}

/// Stores the answer of a request.
pub(crate) struct Answering {
    pub(crate) claim: Claim,
    pub(crate) answer: Answer,
    pub(crate) stamp: Stamp,
    pub(crate) reply: Reply<Answered>,
}

impl Task for Answering {
    fn accounts(&self) -> Vec<Arc<str>> {
        self.claim.accounts.iter().map(|(name, _)| Arc::clone(name)).collect()
    }

    fn enter(&mut self, composer: &mut Composer<'_>) -> Result<(), Halt> {
        let Claim { key, question, accounts, path, increment } = &self.claim;
        let not_held = || Halt::Request(LedgerError::NotHeld(key.clone()));
        if composer.locked {
            let stored = composer.store.request(key)?.ok_or_else(not_held)?;
            if stored.answer.is_some() {
                return Err(not_held());
            }
            if let Some(path) = *path {
                let given_up = composer.page.releases.iter().any(|row| row.key == *key);
                let holder = composer.store.path(path)?.and_then(|stored| stored.holder);
                if given_up || holder.as_ref() != Some(key) {
                    return Err(not_held());
                }
            }
        }
        let about =
            About { stamp: self.stamp.clone(), key: Some(key.clone()), question: Some(*question) };
        let Answer { body, state, round } = &self.answer;
        for (name, at) in accounts {
            let what = What::Revealed {
                answer: Digest::of(body),
                path: *path,
                state: state.as_deref().map(Digest::of),
                round: round.as_deref().map(Digest::of),
            };
            let line = composer.line(name, &about, what)?;
            if let (Some(path), Some(at)) = (*path, *at) {
                let (account, key) = (Arc::clone(name), key.clone());
                composer.page.seen.push(SeenRow { account, path, line, at, key });
            }
        }
        composer.page.answers.push(AnswerRow { key: key.clone(), body: Arc::clone(body) });
        if let Some(path) = *path {
            let (key, state) = (key.clone(), state.clone());
            composer.page.releases.push(ReleaseRow { path, key: key.clone(), state });
            if *increment {
                composer.page.draws.push(DrawRow { path, key, lost: false, round: round.clone() });
            }
        }
        Ok(())
    }

    fn answer(self: Box<Self>, written: Result<&Recorded, LedgerError>) {
        let Self { answer, reply, .. } = *self;
        reply.send(written.map(|_| Answered { body: answer.body }));
    }
}

/// Settles rounds of several accounts, all or none.
pub(crate) struct Settling {
    pub(crate) settlements: Vec<(Arc<str>, Settlement)>,
    pub(crate) stamp: Stamp,
    pub(crate) reply: Reply<()>,
}

impl Task for Settling {
    fn accounts(&self) -> Vec<Arc<str>> {
        self.settlements.iter().map(|(name, _)| Arc::clone(name)).collect()
    }

    fn enter(&mut self, composer: &mut Composer<'_>) -> Result<(), Halt> {
        for (name, settlement) in &self.settlements {
            if !composer.account(name)?.can_settle(settlement) {
                let (round, realised) = (settlement.round(), settlement.realised());
                let why = format!(
                    "round {round} of account `{name}` cannot be settled at epsilon {realised}: it is not running here, or it reserved less"
                );
                return Err(LedgerError::Round(why.into()).into());
            }
        }
        let about = About { stamp: self.stamp.clone(), key: None, question: None };
        for (name, settlement) in &self.settlements {
            let settle = |account: &mut Account, batch: &mut Batch| {
                account.enter_settlement(settlement, batch).is_ok()
            };
            let settled = composer.enter(name, settle)?;
            match (settled, composer.batch.entries().last().cloned()) {
                (true, Some(entry)) => composer.post(&entry, &about, None, None)?,
                _ => return Err(StoreError::Broken(format!("account `{name}` changed")).into()),
            }
        }
        Ok(())
    }

    fn answer(self: Box<Self>, written: Result<&Recorded, LedgerError>) {
        self.reply.send(written.map(drop));
    }
}

/// Sets aside more for a round.
pub(crate) struct Extending {
    pub(crate) account: Arc<str>,
    pub(crate) round: Round,
    pub(crate) to: Amount<Epsilon>,
    pub(crate) stamp: Stamp,
    pub(crate) entered: Option<Entered<Extension>>,
    pub(crate) reply: Reply<Grown>,
}

/// A round, and why it did not grow if it did not.
pub(crate) type Grown = (Round, Result<(), LedgerError>);

impl Task for Extending {
    fn accounts(&self) -> Vec<Arc<str>> {
        vec![Arc::clone(&self.account)]
    }

    fn enter(&mut self, composer: &mut Composer<'_>) -> Result<(), Halt> {
        self.entered = None;
        let about = About { stamp: self.stamp.clone(), key: None, question: None };
        let (round, to) = (&self.round, self.to);
        let entered = composer
            .enter(&self.account, |account, batch| account.enter_extension(round, to, batch))?;
        match entered {
            Ok(entered) => {
                let entry = entered.entry().clone();
                self.entered = Some(entered);
                composer.post(&entry, &about, None, None)
            }
            Err(ExtendError::Refused(refusal)) => Err(refused(composer, refusal, &about)),
            Err(other) => Err(not_extended(&other)),
        }
    }

    fn answer(self: Box<Self>, written: Result<&Recorded, LedgerError>) {
        let Self { mut round, entered, reply, .. } = *self;
        let extended = written.and_then(|recorded| {
            let receipt = entered.and_then(|entered| entered.receipt(recorded).ok());
            let grown = receipt.is_some_and(|receipt| round.extended(receipt).is_ok());
            let lost = "a reservation was written with another batch";
            grown.then_some(()).ok_or_else(|| LedgerError::Stopped(lost.into()))
        });
        reply.send(Ok((round, extended)));
    }
}

fn not_extended(error: &ExtendError<Infallible>) -> Halt {
    LedgerError::Round(error.to_string().into()).into()
}

/// Gives up a request that will never answer.
pub(crate) struct GivingUp {
    pub(crate) account: Arc<str>,
    pub(crate) path: PathId,
    pub(crate) key: Key,
    pub(crate) stamp: Stamp,
    pub(crate) reply: Reply<()>,
}

impl Task for GivingUp {
    fn accounts(&self) -> Vec<Arc<str>> {
        vec![Arc::clone(&self.account)]
    }

    fn enter(&mut self, composer: &mut Composer<'_>) -> Result<(), Halt> {
        let (path, key) = (self.path, self.key.clone());
        if composer.locked {
            let released = composer.page.releases.iter().any(|row| row.path == path);
            let stored = composer.store.path(path)?.filter(|stored| stored.account == self.account);
            let holder = stored.and_then(|stored| stored.holder);
            if released || holder.as_ref() != Some(&key) {
                return Err(LedgerError::NotHeld(key).into());
            }
        }
        let about = About { stamp: self.stamp.clone(), key: Some(key.clone()), question: None };
        composer.line(&self.account, &about, What::GivenUp { path })?;
        composer.page.releases.push(ReleaseRow { path, key: key.clone(), state: None });
        composer.page.draws.push(DrawRow { path, key, lost: true, round: None });
        Ok(())
    }

    fn answer(self: Box<Self>, written: Result<&Recorded, LedgerError>) {
        self.reply.send(written.map(drop));
    }
}

/// Commits a sheet of many accounts.
pub(crate) struct Filing {
    pub(crate) account: Arc<str>,
    pub(crate) version: u64,
    pub(crate) bytes: Arc<[u8]>,
    pub(crate) stamp: Stamp,
    pub(crate) reply: Reply<u64>,
}

impl Task for Filing {
    fn accounts(&self) -> Vec<Arc<str>> {
        vec![Arc::clone(&self.account)]
    }

    fn enter(&mut self, composer: &mut Composer<'_>) -> Result<(), Halt> {
        let moved = |version| {
            Halt::Request(LedgerError::SheetMoved { account: Arc::clone(&self.account), version })
        };
        if let Some(row) = composer.page.sheets.iter().find(|row| row.account == self.account) {
            return Err(moved(row.version));
        }
        if composer.locked {
            let version = composer.store.sheet_version(&self.account)?;
            if version + 1 != self.version {
                return Err(moved(version));
            }
        }
        let about = About { stamp: self.stamp.clone(), key: None, question: None };
        let what = What::Sheet { version: self.version, digest: Digest::of(&self.bytes) };
        composer.line(&self.account, &about, what)?;
        let (account, bytes) = (Arc::clone(&self.account), Arc::clone(&self.bytes));
        composer.page.sheets.push(SheetRow { account, version: self.version, bytes });
        Ok(())
    }

    fn answer(self: Box<Self>, written: Result<&Recorded, LedgerError>) {
        self.reply.send(written.map(|_| self.version));
    }
}
