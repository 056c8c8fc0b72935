//! The ledger: a handle that any number of threads may ask, and the threads behind it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

use eke_budget::purchase::{Round, Settlement};
use eke_budget::{Account, Amount, Budget, Epsilon, PathId};

use crate::address::Address;
use crate::error::StoreError;
use crate::item::Item;
use crate::journal::LineRow;
use crate::journal::anchor::{Anchor, Anchored};
use crate::patience::{Patience, Silently, Waiting};
use crate::request::{
    Answer, Answered, Claim, LONGEST_NAME, Outcome, Request, Stamp, check_length,
};
use crate::store::page::Position;
use crate::store::unbegun::Unbegun;
use crate::store::{
    Currencies, Held, Seen, Store, StoredLevel, StoredPath, StoredPoint, StoredRound,
};
use crate::ticket::{Ticket, ticket};
use crate::writer::composer::Cache;
use crate::writer::task::{Answering, Charging, Extending, Filing, GivingUp, Open, Settling, Task};
use crate::writer::{Stop, Writer};
use crate::{Digest, Key, LedgerError};

/// What the reading thread is asked to do.
type Reading = Box<dyn FnOnce(&mut dyn Store) + Send>;

/// A ledger that is open. Clones are the same ledger.
///
/// Everything that is asked is answered with a [`Ticket`]. One thread writes, so that requests
/// that wait at the same time share one commit; another reads. Any number of ledgers, in any
/// number of programs, may be open on the same store.
#[derive(Clone)]
pub struct Ledger {
    threads: Arc<Threads>,
}

struct Threads {
    tasks: Option<Sender<Box<dyn Task>>>,
    reads: Option<Sender<Reading>>,
    writer: Option<JoinHandle<()>>,
    reader: Option<JoinHandle<()>>,
    stop: Stop,
    waiting: Arc<dyn Waiting>,
}

/// A round whose worst case was to grow, and whether it did.
pub type Extended = (Round, Result<(), LedgerError>);

impl Ledger {
    /// Opens the ledger at an address, and makes it if there is none.
    ///
    /// # Errors
    /// It cannot be opened, is not a ledger, or was written by a newer eke.
    pub fn open(address: &Address) -> Result<Self, LedgerError> {
        Self::open_waiting(address, Arc::new(Silently::default()))
    }

    /// The same, and other programs are waited for like this.
    ///
    /// # Errors
    /// It cannot be opened, is not a ledger, or was written by a newer eke.
    pub fn open_waiting(address: &Address, waiting: Arc<dyn Waiting>) -> Result<Self, LedgerError> {
        let write = address.open(&*waiting)?;
        let read = address.open(&*waiting)?;
        Self::over_waiting(write, read, waiting)
    }

    /// What is looked at where no ledger was begun: nothing is in it, and nothing can be written to
    /// it.
    ///
    /// # Errors
    /// The system has no threads left.
    pub fn unbegun() -> Result<Self, LedgerError> {
        Self::over(Box::new(Unbegun), Box::new(Unbegun))
    }

    /// A ledger over two connections to the same store, one to write and one to read.
    ///
    /// # Errors
    /// The system has no threads left.
    pub fn over(write: Box<dyn Store>, read: Box<dyn Store>) -> Result<Self, LedgerError> {
        Self::over_waiting(write, read, Arc::new(Silently::default()))
    }

    /// The same, and other programs are waited for like this.
    ///
    /// # Errors
    /// The system has no threads left.
    pub fn over_waiting(
        write: Box<dyn Store>,
        mut read: Box<dyn Store>,
        waiting: Arc<dyn Waiting>,
    ) -> Result<Self, LedgerError> {
        let stop: Stop = Arc::new(OnceLock::new());
        let (tasks, asked) = channel::<Box<dyn Task>>();
        let (reads, wanted) = channel::<Reading>();
        let no_thread = |error: std::io::Error| {
            LedgerError::Open(
                format!("a thread for the ledger could not be started: {error}").into(),
            )
        };
        let writer = Writer {
            store: write,
            stop: Arc::clone(&stop),
            cache: Cache::default(),
            crowded: 0,
            waiting: Arc::clone(&waiting),
        };
        let writer = std::thread::Builder::new()
            .name("eke-ledger-write".into())
            .spawn(move || writer.run(&asked))
            .map_err(no_thread)?;
        let reader = std::thread::Builder::new()
            .name("eke-ledger-read".into())
            .spawn(move || {
                while let Ok(reading) = wanted.recv() {
                    reading(&mut *read);
                }
            })
            .map_err(no_thread)?;
        let (tasks, reads) = (Some(tasks), Some(reads));
        let (writer, reader) = (Some(writer), Some(reader));
        let threads = Threads { tasks, reads, writer, reader, stop, waiting };
        Ok(Self { threads: Arc::new(threads) })
    }

    /// Opens an account with a full budget. One that is there with the same budget is left as it
    /// is.
    pub fn open_account(&self, name: &str, budget: Budget, stamp: Stamp) -> Ticket<()> {
        let (reply, ticket) = ticket();
        match name_of_account(name) {
            Err(error) => reply.send(Err(error)),
            Ok(name) => self.submit(Open { name, budget, stamp, reply }),
        }
        ticket
    }

    /// Charges a request: what is wanted of the account that owns the path (the unit's), and of any
    /// others (the asker's circles), all of it or nothing.
    ///
    /// The receipts come when the charge is on disk. A request whose key was charged before is not
    /// charged again: it gets the answer that was stored.
    pub fn charge<W: Item, V: Item>(
        &self,
        request: Request,
        account: &str,
        item: W,
        others: Vec<(&str, V)>,
    ) -> Ticket<Outcome<W::Bought, V::Bought>> {
        let (reply, ticket) = ticket();
        let others: Vec<(Arc<str>, V)> =
            others.into_iter().map(|(name, item)| (name.into(), item)).collect();
        let names: Vec<&str> =
            std::iter::once(account).chain(others.iter().map(|(name, _)| &**name)).collect();
        match each_once(&names) {
            Err(error) => reply.send(Err(error)),
            Ok(()) => self.submit(Charging::new(request, (account.into(), item), others, reply)),
        }
        ticket
    }

    /// Stores the answer of a charged request, and with it what an increment makes of its path.
    /// When the ticket says so, and not before, it may be sent.
    pub fn answer(&self, claim: Claim, answer: Answer, stamp: Stamp) -> Ticket<Answered> {
        let (reply, ticket) = ticket();
        let forgotten = claim.increment && answer.state.is_none() && answer.round.is_none();
        match claim.path.filter(|_| forgotten) {
            Some(path) => reply.send(Err(LedgerError::NoState(path))),
            None => self.submit(Answering { claim, answer, stamp, reply }),
        }
        ticket
    }

    /// Settles rounds, one of an account each, all of them or none.
    pub fn settle(&self, settlements: Vec<(&str, Settlement)>, stamp: Stamp) -> Ticket<()> {
        let (reply, ticket) = ticket();
        let names: Vec<&str> = settlements.iter().map(|(name, _)| *name).collect();
        if let Err(error) = each_once(&names) {
            reply.send(Err(error));
            return ticket;
        }
        let settlements =
            settlements.into_iter().map(|(name, settlement)| (name.into(), settlement)).collect();
        self.submit(Settling { settlements, stamp, reply });
        ticket
    }

    /// Sets aside more for a round that is running. The round comes back in any case.
    pub fn extend(
        &self,
        account: &str,
        round: Round,
        to: Amount<Epsilon>,
        stamp: Stamp,
    ) -> Ticket<Extended> {
        let (reply, ticket) = ticket();
        let account = account.into();
        self.submit(Extending { account, round, to, stamp, entered: None, reply });
        ticket
    }

    /// Gives up a request that holds a path and will never answer, because its program ended. What
    /// it paid stays paid, its increment is lost, and an answer that comes after all is refused.
    pub fn give_up(&self, account: &str, path: PathId, key: Key, stamp: Stamp) -> Ticket<()> {
        let (reply, ticket) = ticket();
        self.submit(GivingUp { account: account.into(), path, key, stamp, reply });
        ticket
    }

    /// Commits a sheet: the balances of many small accounts, such as a fleet's, as one blob under
    /// the account whose budget each of them has. Its digest goes to the journal. The version it
    /// goes on from is that of the sheet that was read, and zero for the first.
    pub fn file_sheet(
        &self,
        account: &str,
        from_version: u64,
        bytes: impl Into<Vec<u8>>,
        stamp: Stamp,
    ) -> Ticket<u64> {
        let (reply, ticket) = ticket();
        let (version, bytes) = (from_version.saturating_add(1), bytes.into().into());
        self.submit(Filing { account: account.into(), version, bytes, stamp, reply });
        ticket
    }

    /// How an account stands: an account of its own, to be looked at. What it approves is worth
    /// nothing, because no journal takes it.
    pub fn account(&self, name: &str) -> Ticket<Option<Account>> {
        let name = name.to_owned();
        self.read(move |store| {
            let Some(stored) = store.account(&name)? else { return Ok(None) };
            let broken =
                |error: eke_budget::account::StandingError| StoreError::Broken(error.to_string());
            Ok(Some(Account::restore(&stored.standing).map_err(broken)?))
        })
    }

    /// The answer that is stored for a key; none if there is none.
    pub fn stored_answer(&self, key: Key) -> Ticket<Option<Answered>> {
        self.read(move |store| {
            let request = store.request(&key)?;
            Ok(request
                .and_then(|request| request.answer)
                .map(|body| Answered { body: body.into() }))
        })
    }

    /// Whether a request was charged under a key, and the answer that is stored for it: none if it
    /// was not charged, and one without an answer if that is lost or still being drawn.
    pub fn stored_request(&self, key: Key) -> Ticket<Option<Option<Answered>>> {
        self.read(move |store| {
            let request = store.request(&key)?;
            let answered = |body: Vec<u8>| Answered { body: body.into() };
            Ok(request.map(|request| request.answer.map(answered)))
        })
    }

    /// How far an account has paid for a path or bundle; none if it has not.
    pub fn level(
        &self,
        account: &str,
        path: PathId,
        currency: Currencies,
    ) -> Ticket<Option<StoredLevel>> {
        let account = account.to_owned();
        self.read(move |store| Ok(store.level(&account, path, currency)?))
    }

    /// Names of accounts in order, after the given one, at most `most`.
    pub fn accounts(&self, after: Option<&str>, most: u32) -> Ticket<Vec<Arc<str>>> {
        let after = after.map(str::to_owned);
        self.read(move |store| Ok(store.names(after.as_deref(), most)?))
    }

    /// Lines of an account's journal from the given one on, at most `most`.
    pub fn lines(&self, account: &str, from: u64, most: u32) -> Ticket<Vec<LineRow>> {
        let account = account.to_owned();
        self.read(move |store| Ok(store.lines(&account, from, most)?))
    }

    /// The text of a question.
    pub fn question(&self, digest: Digest) -> Ticket<Option<String>> {
        self.read(move |store| Ok(store.question(digest)?))
    }

    /// What is stored of a path or bundle.
    pub fn path(&self, path: PathId) -> Ticket<Option<StoredPath>> {
        self.read(move |store| Ok(store.path(path)?))
    }

    /// An increment of a path or bundle, with the plan and the values of its round.
    pub fn point(&self, path: PathId, increment: u32) -> Ticket<Option<StoredPoint>> {
        self.read(move |store| Ok(store.point(path, increment)?))
    }

    /// The values of a bundle's rounds that were drawn, from one increment on and before another,
    /// in their order. What was read once stays as it is: rounds are only added.
    pub fn rounds(&self, path: PathId, from: u32, to: u32) -> Ticket<Vec<StoredRound>> {
        self.read(move |store| Ok(store.rounds(path, from, to)?))
    }

    /// What an account, the unit's or a circle's, has been shown of a path, oldest first.
    pub fn seen(&self, account: &str, path: PathId) -> Ticket<Vec<Seen>> {
        let account = account.to_owned();
        self.read(move |store| Ok(store.seen(&account, path)?))
    }

    /// Paths that requests hold, at most `most`. After a crash those of the program that crashed
    /// are among them, and can be given up.
    pub fn held(&self, most: u32) -> Ticket<Vec<Held>> {
        self.read(move |store| Ok(store.held(most)?))
    }

    /// The sheet of an account with its version; none if there is none.
    pub fn sheet(&self, account: &str) -> Ticket<Option<(u64, Vec<u8>)>> {
        let account = account.to_owned();
        self.read(move |store| Ok(store.sheet(&account)?))
    }

    /// Where the journals of some accounts end now. Those that are not there are left out.
    pub fn anchor(&self, accounts: Vec<String>) -> Ticket<Anchor> {
        self.read(move |store| {
            let mut anchor =
                Anchor { ledger: store.ledger().to_owned(), accounts: BTreeMap::new() };
            for name in &accounts {
                if let Some(stored) = store.account(name)? {
                    let Position { lines, head } = stored.position;
                    anchor.accounts.insert(name.as_str().into(), Anchored { lines, head });
                }
            }
            Ok(anchor)
        })
    }

    /// Compares the ledger with an anchor without reading all of it: each journal must be at least
    /// as long, and have the anchor's line where the anchor has it. Says what is wrong; none if
    /// nothing.
    pub fn differs_from(&self, anchor: Anchor) -> Ticket<Option<String>> {
        self.read(move |store| Ok(anchor.differs(store)?))
    }

    /// Why the ledger has stopped; none while it works.
    #[must_use]
    pub fn stopped(&self) -> Option<LedgerError> {
        self.threads.stop.get().map(|why| LedgerError::Stopped(Arc::clone(why)))
    }

    fn submit(&self, task: impl Task + 'static) {
        // A task that cannot be sent is dropped, and its ticket says that the ledger has stopped.
        if let Some(tasks) = &self.threads.tasks {
            let _ = tasks.send(Box::new(task));
        }
    }

    fn read<T: Send + 'static>(
        &self,
        mut look: impl FnMut(&mut dyn Store) -> Result<T, LedgerError> + Send + 'static,
    ) -> Ticket<T> {
        let (reply, ticket) = ticket();
        let stop = Arc::clone(&self.threads.stop);
        let waiting = Arc::clone(&self.threads.waiting);
        let reading: Reading = Box::new(move |store| {
            let mut patience = Patience::new(&*waiting);
            let result = loop {
                if let Some(why) = stop.get() {
                    break Err(LedgerError::Stopped(Arc::clone(why)));
                }
                match look(store) {
                    Err(LedgerError::Busy(_)) if patience.again() => {}
                    result => break result,
                }
            };
            if let Err(LedgerError::Stopped(why)) = &result {
                let _ = stop.set(Arc::clone(why));
            }
            reply.send(result);
        });
        if let Some(reads) = &self.threads.reads {
            let _ = reads.send(reading);
        }
        ticket
    }
}

/// Whether no account is named twice.
fn each_once(names: &[&str]) -> Result<(), LedgerError> {
    match (1..names.len()).find(|&at| names[..at].contains(&names[at])) {
        Some(at) => Err(LedgerError::Twice(names[at].into())),
        None => Ok(()),
    }
}

fn name_of_account(name: &str) -> Result<Arc<str>, LedgerError> {
    check_length("the name of an account", name, LONGEST_NAME)?;
    Ok(name.into())
}

impl fmt::Debug for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ledger").field("stopped", &self.threads.stop.get()).finish()
    }
}

/// The last handle waits until everything that was asked is done, and the store is closed: the
/// writer last, so that a ledger in a file moves all of its log into the file.
impl Drop for Threads {
    fn drop(&mut self) {
        // A thread that panicked has dropped its replies, which tells the callers that waited.
        self.reads = None;
        let _ = self.reader.take().map(JoinHandle::join);
        self.tasks = None;
        let _ = self.writer.take().map(JoinHandle::join);
    }
}
