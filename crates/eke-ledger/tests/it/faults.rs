//! Stores that fail: at every write and every read of a script, before it is done and after.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use eke_budget::PathId;
use eke_ledger::error::StoreError;
use eke_ledger::journal::LineRow;
use eke_ledger::store::{
    Appended, Census, Currencies, Held, Page, Reads, Seen, Store, StoredAccount, StoredLevel,
    StoredPath, StoredPoint, StoredRequest, StoredRound,
};
use eke_ledger::{Digest, Key, Ledger, LedgerError};

use crate::script::{check, check_retries, play};
use crate::{Place, riders, spend};

/// When the store fails.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// A page fails, and nothing of it is written.
    BeforeWriting,
    /// A page is written, and the store says that it failed.
    AfterWriting,
    /// A question to the store fails.
    Reading,
}

/// A store that fails once, at the n-th occasion, and is gone from then on.
struct Faulty {
    inner: Box<dyn Store>,
    fault: Fault,
    left: Arc<AtomicU32>,
    gone: bool,
}

impl Faulty {
    /// Counts an occasion, and says whether it is the one.
    fn is_now(&mut self, fault: Fault) -> bool {
        assert!(!self.gone, "a store that failed was asked again");
        let now = fault == self.fault && self.left.fetch_sub(1, Ordering::SeqCst) == 1;
        self.gone |= now;
        now
    }

    fn read(&mut self) -> Result<&mut dyn Store, StoreError> {
        if self.is_now(Fault::Reading) { Err(fault()) } else { Ok(&mut *self.inner) }
    }
}

fn fault() -> StoreError {
    StoreError::Broken("the disk failed in a test".into())
}

impl Store for Faulty {
    fn ledger(&self) -> &str {
        self.inner.ledger()
    }

    fn is_remote(&self) -> bool {
        self.inner.is_remote()
    }

    fn lock(&mut self, accounts: &[Arc<str>]) -> Result<Vec<Option<u64>>, StoreError> {
        self.read()?.lock(accounts)
    }

    fn unlock(&mut self) -> Result<(), StoreError> {
        self.read()?.unlock()
    }

    fn append(&mut self, page: &Page) -> Result<Appended, StoreError> {
        if self.is_now(Fault::BeforeWriting) {
            return Err(fault());
        }
        let appended = self.inner.append(page)?;
        if self.is_now(Fault::AfterWriting) { Err(fault()) } else { Ok(appended) }
    }

    fn snapshot(&mut self) -> Result<(), StoreError> {
        self.read()?.snapshot()
    }
}

impl Reads for Faulty {
    fn account(&mut self, name: &str) -> Result<Option<StoredAccount>, StoreError> {
        self.read()?.account(name)
    }

    fn names(&mut self, after: Option<&str>, most: u32) -> Result<Vec<Arc<str>>, StoreError> {
        self.read()?.names(after, most)
    }

    fn lines(&mut self, account: &str, from: u64, most: u32) -> Result<Vec<LineRow>, StoreError> {
        self.read()?.lines(account, from, most)
    }

    fn level(
        &mut self,
        account: &str,
        path: PathId,
        currency: Currencies,
    ) -> Result<Option<StoredLevel>, StoreError> {
        self.read()?.level(account, path, currency)
    }

    fn levels(
        &mut self,
        account: &str,
        after: Option<(PathId, Currencies)>,
        most: u32,
    ) -> Result<Vec<(PathId, StoredLevel)>, StoreError> {
        self.read()?.levels(account, after, most)
    }

    fn request(&mut self, key: &Key) -> Result<Option<StoredRequest>, StoreError> {
        self.read()?.request(key)
    }

    fn path(&mut self, path: PathId) -> Result<Option<StoredPath>, StoreError> {
        self.read()?.path(path)
    }

    fn point(&mut self, path: PathId, increment: u32) -> Result<Option<StoredPoint>, StoreError> {
        self.read()?.point(path, increment)
    }

    fn rounds(&mut self, path: PathId, from: u32, to: u32) -> Result<Vec<StoredRound>, StoreError> {
        self.read()?.rounds(path, from, to)
    }

    fn seen(&mut self, account: &str, path: PathId) -> Result<Vec<Seen>, StoreError> {
        self.read()?.seen(account, path)
    }

    fn held(&mut self, most: u32) -> Result<Vec<Held>, StoreError> {
        self.read()?.held(most)
    }

    fn question(&mut self, digest: Digest) -> Result<Option<String>, StoreError> {
        self.read()?.question(digest)
    }

    fn sheet_version(&mut self, account: &str) -> Result<u64, StoreError> {
        self.read()?.sheet_version(account)
    }

    fn sheet(&mut self, account: &str) -> Result<Option<(u64, Vec<u8>)>, StoreError> {
        self.read()?.sheet(account)
    }

    fn census(&mut self) -> Result<Census, StoreError> {
        self.read()?.census()
    }
}

/// Plays the script on a store that fails at the n-th occasion, and says whether it did.
fn fails_at(place: &Place, fault: Fault, occasion: u32) -> bool {
    let left = Arc::new(AtomicU32::new(occasion));
    let faulty = Faulty { inner: place.store(), fault, left, gone: false };
    let ledger = Ledger::over(Box::new(faulty), place.store()).unwrap();
    let told = play(&ledger, |_| {});
    let failed = told.end.is_some();
    if let Some(end) = &told.end {
        // It has stopped, says why, and answers nobody any more.
        assert!(matches!(end, LedgerError::Stopped(_)), "{end}");
        assert!(end.to_string().contains("the disk failed in a test"), "{end}");
        assert_eq!(ledger.stopped().as_ref(), Some(end));
        assert!(ledger.account("riders").wait().is_err());
        assert!(crate::charge(&ledger, "late", spend("0.01")).is_err());
    }
    drop(ledger);
    check(place, &told);
    check_retries(&riders(place, "1"), &told);
    failed
}

#[test]
fn a_fault_at_any_write_or_read_loses_no_charge_and_gives_no_answer() {
    for fault in [Fault::BeforeWriting, Fault::AfterWriting, Fault::Reading] {
        for store in [true, false] {
            let mut occasions = 0;
            loop {
                let place = if store { Some(Place::file()) } else { Place::postgres() };
                let Some(place) = place else { break };
                occasions += 1;
                if !fails_at(&place, fault, occasions) {
                    // On PostgreSQL little is read: a page is tried before anything is asked.
                    let least = if fault == Fault::Reading { 5 } else { 15 };
                    assert!(occasions > least, "{fault:?} was tried {occasions} times only");
                    break;
                }
            }
        }
    }
}
