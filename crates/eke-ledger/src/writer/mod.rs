//! The one thread that writes.
//!
//! It takes everything that is waiting, fills one page from it, and writes that: requests that
//! wait together share one commit. Callers are answered only after the page is on disk. On a
//! remote store it tries the page at once, with the accounts as it remembers them, and only a yes
//! counts then; if anything has changed or anybody is refused, it locks the accounts, reads what
//! it does not know, and fills the page again.

pub(crate) mod composer;
pub(crate) mod task;

use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::sync::{Arc, OnceLock};

use eke_budget::account::{Batch, Recorded};
use eke_budget::{Entry, Journal};

use crate::LedgerError;
use crate::error::StoreError;
use crate::patience::{Patience, Waiting};
use crate::store::page::Page;
use crate::store::{Appended, Store};
use crate::writer::composer::{Cache, Composer, Halt};
use crate::writer::task::Task;

/// The most requests that share a page.
const MOST_TASKS: usize = 256;
/// How often others get a turn before a page is smaller than the one before it.
const TURNS: u32 = 64;
/// How many pages are locked first after one that was not written.
const CROWDED: u32 = 16;
/// How often a page is filled again because somebody else wrote first.
const MOST_TRIES: u32 = 64;

/// Why the ledger has stopped, once it has.
pub(crate) type Stop = Arc<OnceLock<Arc<str>>>;

pub(crate) struct Writer {
    pub(crate) store: Box<dyn Store>,
    pub(crate) stop: Stop,
    pub(crate) cache: Cache,
    /// How many more pages are locked first, because somebody else wrote in between.
    pub(crate) crowded: u32,
    /// How another program's lock is waited for.
    pub(crate) waiting: Arc<dyn Waiting>,
}

impl Writer {
    /// Works until nobody can ask any more.
    pub(crate) fn run(mut self, tasks: &Receiver<Box<dyn Task>>) {
        let mut last = 1;
        while let Ok(first) = tasks.recv() {
            let mut batch = vec![first];
            let mut turns = TURNS;
            while batch.len() < MOST_TASKS {
                match tasks.try_recv() {
                    Ok(task) => batch.push(task),
                    // Those who were answered a moment ago are about to ask again: a commit for
                    // each of them would take longer than to let them.
                    Err(TryRecvError::Empty) if batch.len() < last && turns > 0 => {
                        turns -= 1;
                        std::thread::yield_now();
                    }
                    Err(_) => break,
                }
            }
            last = batch.len();
            self.work(batch);
        }
    }

    fn work(&mut self, mut tasks: Vec<Box<dyn Task>>) {
        if let Some(why) = self.stop.get() {
            return fail(tasks, &LedgerError::Stopped(Arc::clone(why)));
        }
        let mut locked = !self.store.is_remote()
            || self.crowded > 0
            || tasks.iter().any(|task| task.needs_lock());
        self.crowded = self.crowded.saturating_sub(1);
        let waiting = Arc::clone(&self.waiting);
        let mut patience = Patience::new(&*waiting);
        let mut tries = 0;
        while tries < MOST_TRIES {
            match self.attempt(&mut tasks, locked) {
                Ok(Written { recorded, declined }) => {
                    for (task, declined) in tasks.into_iter().zip(declined) {
                        task.answer(declined.map_or(Ok(&recorded), Err));
                    }
                    return;
                }
                Err(Unwritten::Again) => {
                    tries += 1;
                    locked = true;
                    self.crowded = CROWDED;
                }
                // Nothing was written: it is tried again for a minute.
                Err(Unwritten::Store(StoreError::Busy(_))) if patience.again() => locked = true,
                Err(Unwritten::Store(error)) => {
                    if let StoreError::Broken(why) = &error {
                        let _ = self.stop.set(why.as_str().into());
                    }
                    return fail(tasks, &error.into());
                }
            }
        }
        let why =
            "others write to the same accounts all the time, so this was not written: ask again";
        fail(tasks, &LedgerError::Moved(why.into()));
    }

    /// Fills a page and writes it.
    fn attempt(&mut self, tasks: &mut [Box<dyn Task>], locked: bool) -> Result<Written, Unwritten> {
        if locked {
            let names: BTreeSet<Arc<str>> = tasks.iter().flat_map(|task| task.accounts()).collect();
            let names: Vec<Arc<str>> = names.into_iter().collect();
            let lines = self.store.lock(&names).map_err(Unwritten::Store)?;
            self.cache.compare(&names, &lines);
        }
        let mut composer = Composer::new(&mut *self.store, &mut self.cache, locked);
        let filled = fill(&mut composer, tasks);
        composer.close();
        let Composer { page, batch, touched, posted, .. } = composer;
        let result = match filled {
            Err(unwritten) => Err(unwritten),
            Ok(declined) => self
                .write(batch, &page, &posted, locked)
                .map(|recorded| Written { recorded, declined }),
        };
        match &result {
            Ok(_) => {
                self.cache.written(&page);
                self.cache.trim(&page);
            }
            Err(unwritten) => {
                self.cache.not_written(&touched);
                // A store that failed is not asked again.
                let broken = matches!(unwritten, Unwritten::Store(StoreError::Broken(_)));
                if locked && !broken {
                    self.store.unlock().map_err(Unwritten::Store)?;
                }
            }
        }
        result
    }

    fn write(
        &mut self,
        batch: Batch,
        page: &Page,
        posted: &[(Arc<str>, u64)],
        locked: bool,
    ) -> Result<Recorded, Unwritten> {
        let mut appending = Appending { store: &mut *self.store, page, posted, locked };
        batch.record(&mut appending)
    }
}

fn fail(tasks: Vec<Box<dyn Task>>, error: &LedgerError) {
    for task in tasks {
        task.answer(Err(error.clone()));
    }
}

/// Enters every task, and says which were declined and why.
fn fill(
    composer: &mut Composer<'_>,
    tasks: &mut [Box<dyn Task>],
) -> Result<Vec<Option<LedgerError>>, Unwritten> {
    let mut declined = Vec::with_capacity(tasks.len());
    for task in tasks {
        match task.enter(composer) {
            Ok(()) => declined.push(None),
            Err(Halt::Store(error)) => return Err(Unwritten::Store(error)),
            // Before anything is locked only a yes counts.
            Err(Halt::Request(_)) if !composer.locked => return Err(Unwritten::Again),
            Err(Halt::Request(error)) => declined.push(Some(error)),
        }
    }
    Ok(declined)
}

struct Written {
    recorded: Recorded,
    /// Why each task was declined; none if it was not.
    declined: Vec<Option<LedgerError>>,
}

enum Unwritten {
    /// Something is not as it was remembered: lock, read and fill the page again.
    Again,
    Store(StoreError),
}

/// The journal of a batch: recording it writes its page.
struct Appending<'a> {
    store: &'a mut dyn Store,
    page: &'a Page,
    posted: &'a [(Arc<str>, u64)],
    locked: bool,
}

impl Journal for Appending<'_> {
    type Error = Unwritten;

    fn record(&mut self, entries: &[Entry]) -> Result<(), Unwritten> {
        // Every charge has its line on the page. Openings have theirs beside them.
        let mut posted = self.posted.iter();
        let has_line = |entry: &Entry| {
            posted.any(|(account, number)| (account, *number) == (&entry.account, entry.sequence))
        };
        if !entries.iter().all(has_line) {
            let why = "a charge has no line in the journal, which is a defect of eke's";
            return Err(Unwritten::Store(StoreError::Broken(why.into())));
        }
        if self.page.is_empty() {
            return if self.locked {
                self.store.unlock().map_err(Unwritten::Store)
            } else {
                Ok(())
            };
        }
        match self.store.append(self.page) {
            Ok(Appended::Done) => Ok(()),
            Ok(Appended::Conflict(_)) => Err(Unwritten::Again),
            Err(error) => Err(Unwritten::Store(error)),
        }
    }
}
