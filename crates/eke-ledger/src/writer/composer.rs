//! The composer: where the writer keeps accounts, and fills a page from the requests of a batch.
//!
//! Accounts are kept between batches, but never trusted to be current: a page is written only if
//! the store finds each account where the composer thinks it stands, and one that stands elsewhere
//! is read again.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use eke_budget::account::Batch;
use eke_budget::{Account, Entry, Event, PathId};

use crate::error::StoreError;
use crate::item::Item;
use crate::journal::LineRow;
use crate::journal::line::{Line, What};
use crate::request::Stamp;
use crate::store::page::{AccountRow, HoldRow, LevelRow, Page, PointRow, Position, RoundRow};
use crate::store::{Store, StoredRequest};
use crate::{Digest, Key, LedgerError};

/// How many accounts, and how many paths of one, are kept in memory.
const MOST_ACCOUNTS: usize = 65_536;
const MOST_PATHS: usize = 262_144;

/// Why a request does not get on.
#[derive(Debug)]
pub(crate) enum Halt {
    /// This request does not, and the error says why.
    Request(LedgerError),
    /// No request does: the store failed.
    Store(StoreError),
}

impl From<LedgerError> for Halt {
    fn from(error: LedgerError) -> Self {
        Self::Request(error)
    }
}

impl From<StoreError> for Halt {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// An account in memory.
struct Kept {
    account: Account,
    /// Where it stands in the store; none if it is not there yet.
    stored: Option<Position>,
    /// Where it stands with the lines of the page.
    position: Position,
    /// Whether it has to be read again before it is used.
    stale: bool,
    /// About how many paths it has read or has raised.
    paths: usize,
}

/// All accounts in memory.
#[derive(Default)]
pub(crate) struct Cache {
    accounts: HashMap<Arc<str>, Kept>,
}

impl Cache {
    /// Says how many lines each account has, while they are locked.
    pub(crate) fn compare(&mut self, names: &[Arc<str>], lines: &[Option<u64>]) {
        for (name, &lines) in names.iter().zip(lines) {
            if let Some(kept) = self.accounts.get_mut(name) {
                kept.stale |= kept.stored.map(|position| position.lines) != lines;
            }
        }
    }

    /// The page was written: accounts stand where it put them.
    pub(crate) fn written(&mut self, page: &Page) {
        for row in &page.accounts {
            if let Some(kept) = self.accounts.get_mut(&row.standing.account) {
                kept.stored = Some(row.after);
            }
        }
    }

    /// The page was not written: accounts that it touched are read again.
    pub(crate) fn not_written(&mut self, touched: &BTreeSet<Arc<str>>) {
        for name in touched {
            if let Some(kept) = self.accounts.get_mut(name) {
                kept.stale = true;
            }
        }
        self.accounts.retain(|_, kept| kept.stored.is_some());
    }

    /// Forgets what can be read again, if there is much of it. Accounts with running rounds stay:
    /// the holder of a round can settle it only with the account that gave it.
    pub(crate) fn trim(&mut self, page: &Page) {
        if self.accounts.len() > MOST_ACCOUNTS {
            self.accounts.retain(|_, kept| !kept.account.standing().rounds.is_empty());
        }
        for row in &page.accounts {
            if let Some(kept) = self.accounts.get_mut(&row.standing.account) {
                kept.stale |= kept.paths > MOST_PATHS;
            }
        }
    }
}

/// A page being filled.
pub(crate) struct Composer<'a> {
    pub(crate) store: &'a mut dyn Store,
    pub(crate) cache: &'a mut Cache,
    /// Whether the accounts are locked, so that what is read stays true until the page is written.
    pub(crate) locked: bool,
    pub(crate) page: Page,
    pub(crate) batch: Batch,
    /// The entries that have their line on the page.
    pub(crate) posted: Vec<(Arc<str>, u64)>,
    /// Accounts that the page moves.
    pub(crate) touched: BTreeSet<Arc<str>>,
}

/// What a line is about.
#[derive(Clone, Debug)]
pub(crate) struct About {
    pub(crate) stamp: Stamp,
    pub(crate) key: Option<Key>,
    pub(crate) question: Option<Digest>,
}

impl<'a> Composer<'a> {
    pub(crate) fn new(store: &'a mut dyn Store, cache: &'a mut Cache, locked: bool) -> Self {
        let (page, batch) = (Page::default(), Batch::new());
        let (posted, touched) = (Vec::new(), BTreeSet::new());
        Self { store, cache, locked, page, batch, posted, touched }
    }

    /// An account, read if it is not in memory or no longer current; none if there is none.
    pub(crate) fn find(&mut self, name: &Arc<str>) -> Result<Option<&mut Account>, Halt> {
        if self.cache.accounts.get(name).is_none_or(|kept| kept.stale) {
            let Some(stored) = self.store.account(name)? else {
                self.cache.accounts.remove(name);
                return Ok(None);
            };
            let wrong =
                |error: eke_budget::account::StandingError| StoreError::Broken(error.to_string());
            let (position, stored_at) = (stored.position, Some(stored.position));
            match self.cache.accounts.get_mut(name) {
                Some(kept) => {
                    kept.account.restore_to(&stored.standing).map_err(wrong)?;
                    (kept.stored, kept.position) = (stored_at, position);
                    (kept.stale, kept.paths) = (false, 0);
                }
                None => {
                    let account = Account::restore(&stored.standing).map_err(wrong)?;
                    let kept =
                        Kept { account, stored: stored_at, position, stale: false, paths: 0 };
                    self.cache.accounts.insert(Arc::clone(name), kept);
                }
            }
        }
        Ok(self.cache.accounts.get_mut(name).map(|kept| &mut kept.account))
    }

    /// An account that must be there.
    pub(crate) fn account(&mut self, name: &Arc<str>) -> Result<&mut Account, Halt> {
        let missing = LedgerError::NoAccount(Arc::clone(name));
        self.find(name)?.ok_or(Halt::Request(missing))
    }

    /// Lets an account enter something into the batch.
    pub(crate) fn enter<T>(
        &mut self,
        name: &Arc<str>,
        act: impl FnOnce(&mut Account, &mut Batch) -> T,
    ) -> Result<T, Halt> {
        let mut batch = std::mem::replace(&mut self.batch, Batch::new());
        let entered = self.account(name).map(|account| act(account, &mut batch));
        self.batch = batch;
        entered
    }

    /// Puts a new account into memory, without lines yet.
    pub(crate) fn open(&mut self, name: &Arc<str>, account: Account) {
        let position = Position { lines: 0, head: Digest::origin(self.store.ledger(), name) };
        let kept = Kept { account, stored: None, position, stale: false, paths: 0 };
        self.cache.accounts.insert(Arc::clone(name), kept);
    }

    /// An account that knows how far it has paid for what is wanted. Before anything is locked a
    /// path that is not in memory is taken to be new: if it is not, the page is not written.
    pub(crate) fn account_for<W: Item>(
        &mut self,
        name: &Arc<str>,
        item: &W,
    ) -> Result<&mut Account, Halt> {
        let known = item.knows(self.account(name)?);
        if let Some((path, currency)) = item.path().filter(|_| self.locked && !known)
            && let Some(level) = self.store.level(name, path, currency)?
        {
            item.learn(self.account(name)?, &level);
        }
        self.account(name)
    }

    /// The request of a key, also one of this page.
    pub(crate) fn request(&mut self, key: &Key) -> Result<Option<StoredRequest>, Halt> {
        if let Some(row) = self.page.requests.iter().find(|row| row.key == *key) {
            let account = Arc::clone(&row.account);
            return Ok(Some(StoredRequest { digest: row.digest, account, answer: None }));
        }
        Ok(if self.locked { self.store.request(key)? } else { None })
    }

    /// Checks that nobody holds a path, and that it is this account's.
    pub(crate) fn check_free(&mut self, path: PathId, account: &Arc<str>) -> Result<(), Halt> {
        let under_way = |holder| Halt::Request(LedgerError::UnderWay { path, holder });
        if let Some(row) = self.page.holds.iter().find(|row| row.path == path) {
            return Err(under_way(row.key.clone()));
        }
        if !self.locked {
            return Ok(());
        }
        let Some(stored) = self.store.path(path)? else { return Ok(()) };
        if stored.account != *account {
            return Err(LedgerError::OtherOwner { path, account: stored.account }.into());
        }
        let released =
            |key: &Key| self.page.releases.iter().any(|row| row.path == path && row.key == *key);
        match stored.holder {
            Some(holder) if !released(&holder) => Err(under_way(holder)),
            _ => Ok(()),
        }
    }

    /// Writes a line of an account's journal, and says its number.
    pub(crate) fn line(&mut self, name: &Arc<str>, about: &About, what: What) -> Result<u64, Halt> {
        self.account(name)?;
        let Some(kept) = self.cache.accounts.get_mut(name) else {
            return Err(LedgerError::NoAccount(Arc::clone(name)).into());
        };
        let number = kept.position.lines;
        let line = Line {
            account: Arc::clone(name),
            line: number,
            at: about.stamp.at.to_string(),
            who: Arc::clone(&about.stamp.who),
            request: about.key.clone(),
            question: about.question,
            what,
        };
        let body = serde_json::to_string(&line)
            .map_err(|error| StoreError::Broken(format!("a line cannot be written: {error}")))?;
        let digest = kept.position.head.then(&body);
        kept.position = Position { lines: number + 1, head: digest };
        self.page.lines.push(LineRow { account: Arc::clone(name), line: number, body, digest });
        self.touched.insert(Arc::clone(name));
        Ok(number)
    }

    /// Writes an entry of an account's history, and the rows that follow from it. A path that is
    /// raised or coarsened by the account that owns it is held by the request, whose digest comes
    /// with it then.
    pub(crate) fn post(
        &mut self,
        entry: &Entry,
        about: &About,
        asked: Option<Digest>,
        plan: Option<Vec<u8>>,
    ) -> Result<(), Halt> {
        let (account, owner) = (&entry.account, asked.is_some());
        let what = What::Entry {
            sequence: entry.sequence,
            event: entry.event.clone(),
            plan: plan.as_deref().map(Digest::of),
            asked,
        };
        self.line(account, about, what)?;
        self.posted.push((Arc::clone(account), entry.sequence));
        match entry.event {
            Event::Raised { path, increment, to, sensitivity, .. } => {
                self.level(account, path, increment, to, Some(sensitivity));
                self.point(account, path, increment, about, owner, plan);
            }
            Event::GroupsRaised { bundle, increment, to, .. } => {
                self.level(account, bundle, increment, to, None);
                self.point(account, bundle, increment, about, owner, plan);
            }
            Event::Coarsened { path, .. } if owner => self.hold(account, path, about, false),
            Event::Reserved { round, worst, .. } | Event::Extended { round, to: worst, .. } => {
                let account = Arc::clone(account);
                self.page.rounds.push(RoundRow { account, round, worst: Some(worst) });
            }
            Event::Settled { round, .. } => {
                let account = Arc::clone(account);
                self.page.rounds.push(RoundRow { account, round, worst: None });
            }
            _ => {}
        }
        Ok(())
    }

    fn level(
        &mut self,
        account: &Arc<str>,
        path: PathId,
        increment: u32,
        at: eke_budget::Charge,
        sensitivity: Option<f64>,
    ) {
        if let Some(kept) = self.cache.accounts.get_mut(account) {
            kept.paths += 1;
        }
        let row = LevelRow {
            account: Arc::clone(account),
            path,
            from: increment,
            increments: increment + 1,
            at,
            sensitivity,
        };
        self.page.levels.push(row);
    }

    fn point(
        &mut self,
        account: &Arc<str>,
        path: PathId,
        increment: u32,
        about: &About,
        owner: bool,
        plan: Option<Vec<u8>>,
    ) {
        let Some(key) = about.key.clone().filter(|_| owner) else { return };
        self.page.points.push(PointRow { path, increment, key, plan: plan.map(Arc::from) });
        self.hold(account, path, about, increment == 0);
    }

    fn hold(&mut self, account: &Arc<str>, path: PathId, about: &About, new: bool) {
        if let Some(key) = about.key.clone() {
            self.page.holds.push(HoldRow { path, account: Arc::clone(account), key, new });
        }
    }

    /// Ends the page: where every account that it touches comes from and goes to.
    pub(crate) fn close(&mut self) {
        for name in &self.touched {
            if let Some(kept) = self.cache.accounts.get(name) {
                let standing = kept.account.standing();
                let row = AccountRow { before: kept.stored, after: kept.position, standing };
                self.page.accounts.push(row);
            }
        }
    }
}
