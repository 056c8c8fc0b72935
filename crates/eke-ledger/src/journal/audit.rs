//! The audit: everything that can be computed twice is, and has to agree.
//!
//! Chains are hashed again, line by line. Histories are replayed through the filters, and have to
//! end at the totals, rounds and levels that are stored. Answers, states, plans, rounds, sheets,
//! requests and questions have to have the digests that the journal says, paths the holders, and
//! increments and what was shown the requests. Of every table there have to be as many rows as the
//! journals speak of, so a row that was added shows too. An anchor has to lie on the chains.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use eke_budget::account::Standing;
use eke_budget::{Account, Charge, Entry, Event, PathId};

use crate::address::Address;
use crate::error::StoreError;
use crate::journal::LineRow;
use crate::journal::anchor::{Anchor, Anchored, NAMES_AT_A_TIME};
use crate::journal::line::{Line, What};
use crate::store::page::Position;
use crate::store::sqlite::Sqlite;
use crate::store::{Census, Currencies, Draw, Store, StoredLevel, StoredRequest, TABLES};
use crate::writer::task::shown;
use crate::{Digest, Key, LedgerError};

/// How many lines are read at a time.
pub(crate) const LINES_AT_A_TIME: u32 = 1024;
/// The largest file that is looked through whenever it is opened.
const MOST_BYTES: u64 = 16 << 20;
/// After how many findings an account is not looked at any further.
const MOST_FINDINGS: usize = 100;

/// What an audit found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// How many accounts were looked through.
    pub accounts: u64,
    /// How many lines were looked through.
    pub lines: u64,
    /// What is wrong; nothing if the ledger is as it was written.
    pub findings: Vec<Finding>,
}

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The account; empty if it is the ledger as a whole.
    pub account: Arc<str>,
    /// The line of its journal, if it is one line that is wrong.
    pub line: Option<u64>,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.account.is_empty() {
            return f.write_str(&self.what);
        }
        write!(f, "account `{}`", self.account)?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        write!(f, ": {}", self.what)
    }
}

/// Looks through a ledger, and compares it with an anchor if there is one.
///
/// # Errors
/// The store could not be read.
pub fn verify(store: &mut dyn Store, anchor: Option<&Anchor>) -> Result<Report, StoreError> {
    store.snapshot()?;
    let mut report = Report::default();
    let mut spoken = Spoken::default();
    if let Some(anchor) = anchor.filter(|anchor| anchor.ledger != store.ledger()) {
        report.findings.push(Finding {
            account: "".into(),
            line: None,
            what: format!(
                "the anchor is of ledger {}, and this is ledger {}",
                anchor.ledger,
                store.ledger()
            ),
        });
    }
    let mut missing: Vec<Arc<str>> =
        anchor.map_or_else(Vec::new, |anchor| anchor.accounts.keys().cloned().collect());
    let mut names = store.names(None, NAMES_AT_A_TIME)?;
    while let Some(last) = names.last().cloned() {
        for name in names {
            let anchored = anchor.and_then(|anchor| anchor.accounts.get(&name)).copied();
            missing.retain(|anchored| *anchored != name);
            let mut audit = Audit::new(&name, anchored, &mut spoken);
            audit.run(store)?;
            report.accounts += 1;
            report.lines += audit.position.lines;
            report.findings.append(&mut audit.findings);
        }
        names = store.names(Some(&last), NAMES_AT_A_TIME)?;
    }
    for account in missing {
        let what = "the anchor has it, and the ledger does not".into();
        report.findings.push(Finding { account, line: None, what });
    }
    // Where something is wrong already, counts say nothing new.
    if report.findings.is_empty() {
        report.findings = spoken.findings(store.census()?);
    }
    store.unlock()?;
    Ok(report)
}

/// Looks through a ledger in a file before anything in it is relied on, unless it is too large for
/// that: a byte that the disk turned over must not make an answer cheaper or another one. (A
/// database checks its own pages.)
///
/// # Errors
/// Something is wrong, or the file could not be read.
pub fn check(address: &Address) -> Result<(), LedgerError> {
    let Address::File(path) = address else { return Ok(()) };
    if std::fs::metadata(path).is_ok_and(|file| file.len() > MOST_BYTES) {
        return Ok(());
    }
    let mut store = Sqlite::read_only(path)?;
    store.check_pages()?;
    let report = verify(&mut store, None)?;
    match report.findings.first() {
        None => Ok(()),
        Some(finding) => Err(LedgerError::Damaged(finding.to_string().into())),
    }
}

/// What all journals speak of.
#[derive(Default)]
struct Spoken {
    lines: u64,
    levels: u64,
    rounds: u64,
    paths: u64,
    points: u64,
    seen: u64,
    sheets: u64,
    /// Requests, and whether the account that is to own them has paid for them.
    requests: HashMap<Key, bool>,
    answers: HashSet<Key>,
    questions: HashSet<Digest>,
}

impl Spoken {
    /// How many rows there should be.
    fn census(&self) -> Census {
        let Self { lines, levels, rounds, paths, points, seen, sheets, .. } = *self;
        let questions = count(self.questions.len());
        let (requests, answers) = (count(self.requests.len()), count(self.answers.len()));
        [lines, questions, requests, answers, levels, rounds, paths, points, seen, sheets]
    }

    /// What is wrong with the rows that there are.
    fn findings(&self, stored: Census) -> Vec<Finding> {
        let unpaid = self.requests.iter().filter(|(_, paid)| !**paid);
        let unpaid = unpaid.map(|(key, _)| {
            format!("the request `{key}` belongs to an account that has not paid for it")
        });
        let counts = stored.into_iter().zip(self.census()).zip(TABLES);
        let counts = counts.filter(|((stored, spoken), _)| stored != spoken);
        let counts = counts.map(|((stored, spoken), table)| {
            format!("table `{table}` has {stored} rows, and the journals speak of {spoken}")
        });
        let found = |what| Finding { account: "".into(), line: None, what };
        unpaid.chain(counts).take(MOST_FINDINGS).map(found).collect()
    }
}

/// A path that an account owns, as its journal says.
#[derive(Default)]
struct Owned {
    /// The request that holds it.
    holder: Option<Key>,
    /// The digest of the last state that was stored.
    state: Option<Digest>,
}

/// An increment as it is stored, until the journal says what came of it.
struct Claimed {
    draw: Draw,
    round: Option<Digest>,
}

/// A point that was shown: the line that says so, its price and its request.
type Shown = (u64, Charge, Key);

/// What an account's journal says so far.
struct Audit<'a> {
    spoken: &'a mut Spoken,
    name: Arc<str>,
    anchored: Option<Anchored>,
    position: Position,
    findings: Vec<Finding>,
    /// The account, replayed; none before its opening, and after an entry that does not fit.
    account: Option<Account>,
    levels: HashMap<(PathId, Currencies), StoredLevel>,
    paths: HashMap<PathId, Owned>,
    /// Increments that the journal has not said more about.
    claimed: HashMap<Key, Claimed>,
    /// The prices of points that requests are to show.
    prices: HashMap<Key, Charge>,
    shown: HashMap<PathId, Vec<Shown>>,
    sheet: Option<(u64, Digest)>,
    /// The request that was read last, with its answer: the line after a charge is often of it.
    last: Option<(Key, StoredRequest)>,
}

impl<'a> Audit<'a> {
    fn new(name: &Arc<str>, anchored: Option<Anchored>, spoken: &'a mut Spoken) -> Self {
        Self {
            spoken,
            name: Arc::clone(name),
            anchored,
            position: Position { lines: 0, head: Digest::origin("", name) },
            findings: Vec::new(),
            account: None,
            levels: HashMap::new(),
            paths: HashMap::new(),
            claimed: HashMap::new(),
            prices: HashMap::new(),
            shown: HashMap::new(),
            sheet: None,
            last: None,
        }
    }

    fn find(&mut self, line: Option<u64>, what: impl Into<String>) {
        if self.findings.len() < MOST_FINDINGS {
            let account = Arc::clone(&self.name);
            self.findings.push(Finding { account, line, what: what.into() });
        }
    }

    fn run(&mut self, store: &mut dyn Store) -> Result<(), StoreError> {
        self.position.head = Digest::origin(store.ledger(), &self.name);
        loop {
            let rows = store.lines(&self.name, self.position.lines, LINES_AT_A_TIME)?;
            if rows.is_empty() {
                break;
            }
            for row in rows {
                self.line(&row, store)?;
            }
        }
        self.end(store)
    }

    fn line(&mut self, row: &LineRow, store: &mut dyn Store) -> Result<(), StoreError> {
        let number = row.line;
        self.spoken.lines += 1;
        if number != self.position.lines {
            let expected = self.position.lines;
            self.find(Some(number), format!("stands where line {expected} should be"));
        }
        if self.position.head.then(&row.body) != row.digest {
            self.find(Some(number), "was edited, or does not follow the line before it");
        }
        // Go on from what stands there, so that one edit is one finding.
        self.position = Position { lines: number + 1, head: row.digest };
        let anchored = self.anchored.filter(|anchored| anchored.lines == self.position.lines);
        if anchored.is_some_and(|anchored| anchored.head != row.digest) {
            self.find(Some(number), "is not the line that the anchor has");
        }
        let Ok(line) = serde_json::from_str::<Line>(&row.body) else {
            self.find(Some(number), "is not a line of a journal");
            return Ok(());
        };
        if line.account != self.name || line.line != number {
            let (account, other) = (&line.account, line.line);
            self.find(Some(number), format!("is line {other} of account `{account}`"));
        }
        if let Some(question) = line.question {
            let text = store.question(question)?;
            let is_there = text.is_some_and(|text| Digest::of(text.as_bytes()) == question);
            // A refused question is not kept.
            let refused = matches!(line.what, What::Refused { .. });
            if !is_there && !refused {
                self.find(Some(number), "its question is missing or was edited");
            }
        }
        self.what(number, line, store)
    }

    fn what(&mut self, number: u64, line: Line, store: &mut dyn Store) -> Result<(), StoreError> {
        match line.what {
            What::Entry { sequence, event, plan, asked } => {
                let account = Arc::clone(&self.name);
                let entry = Entry { account, sequence, event };
                self.entry(number, &entry);
                self.spoken.questions.extend(line.question);
                if let Some(key) = &line.request {
                    self.request((number, key), &entry, (plan, asked), store)?;
                }
            }
            What::Refused { .. } => {}
            What::GivenUp { path } => {
                self.paths.entry(path).or_default().holder = None;
                if let Some(key) = &line.request {
                    self.ended((number, path), key, Draw::Lost, None);
                }
            }
            What::Revealed { answer, path, state, round } => {
                let request = match (&line.request, self.last.take()) {
                    (Some(key), Some((last, request)))
                        if last == *key && request.answer.is_some() =>
                    {
                        Some(request)
                    }
                    (Some(key), _) => store.request(key)?,
                    (None, _) => None,
                };
                let stored = request.as_ref().and_then(|request| request.answer.as_deref());
                if stored.map(Digest::of) != Some(answer) {
                    self.find(Some(number), "its answer is missing or was edited");
                }
                let owned = request.is_some_and(|request| request.account == self.name);
                let Some(key) = line.request else { return Ok(()) };
                let price = self.prices.remove(&key);
                self.spoken.answers.insert(key.clone());
                let Some(path) = path else { return Ok(()) };
                if let Some(price) = price {
                    self.spoken.seen += 1;
                    let shown = self.shown.entry(path).or_default();
                    shown.push((number, price, key.clone()));
                }
                if owned {
                    let owned = self.paths.entry(path).or_default();
                    owned.holder = None;
                    owned.state = state.or(owned.state);
                    self.ended((number, path), &key, Draw::Drawn, round);
                }
            }
            What::Sheet { version, digest } => self.sheet = Some((version, digest)),
        }
        Ok(())
    }

    /// Replays an entry, and keeps the level it raises.
    fn entry(&mut self, number: u64, entry: &Entry) {
        let followed = match (&mut self.account, &entry.event) {
            (None, Event::Opened(_)) => Account::replay([entry]).map(|account| {
                self.account = Some(account);
            }),
            (Some(account), _) => account.follow(entry),
            (None, _) => return,
        };
        if let Err(error) = followed {
            self.account = None;
            self.find(Some(number), error.to_string());
        }
        let (path, increment, at, sensitivity) = match entry.event {
            Event::Raised { path, increment, to, sensitivity, .. } => {
                (path, increment, to, Some(sensitivity))
            }
            Event::GroupsRaised { bundle, increment, to, .. } => (bundle, increment, to, None),
            _ => return,
        };
        let level = StoredLevel { increments: increment + 1, at, sensitivity };
        self.levels.insert((path, Currencies::of(at)), level);
    }

    /// The request of a charge has to be there, and its increment and plan with it.
    fn request(
        &mut self,
        (number, key): (u64, &Key),
        entry: &Entry,
        (plan, asked): (Option<Digest>, Option<Digest>),
        store: &mut dyn Store,
    ) -> Result<(), StoreError> {
        let Some(request) = store.request(key)? else {
            self.find(Some(number), format!("its request `{key}` is missing"));
            return Ok(());
        };
        let owned = request.account == self.name;
        *self.spoken.requests.entry(key.clone()).or_default() |= owned;
        if asked.is_some_and(|asked| !owned || request.digest != asked) {
            self.find(Some(number), format!("its request `{key}` was edited"));
        }
        self.last = Some((key.clone(), request));
        if let Some(price) = shown(&entry.event) {
            self.prices.insert(key.clone(), price);
        }
        let (path, increment) = match entry.event {
            Event::Raised { path, increment, .. } => (path, Some(increment)),
            Event::GroupsRaised { bundle, increment, .. } => (bundle, Some(increment)),
            Event::Coarsened { path, .. } => (path, None),
            _ => return Ok(()),
        };
        if !owned {
            return Ok(());
        }
        self.paths.entry(path).or_default().holder = Some(key.clone());
        let Some(increment) = increment else { return Ok(()) };
        self.spoken.points += 1;
        let point = store.point(path, increment)?;
        let Some(point) = point.filter(|point| point.key == *key) else {
            self.find(Some(number), format!("increment {increment} of path {path} is missing"));
            return Ok(());
        };
        if point.plan.as_deref().map(Digest::of) != plan {
            self.find(Some(number), format!("the plan of path {path} is missing or was edited"));
        }
        let round = point.round.as_deref().map(Digest::of);
        self.claimed.insert(key.clone(), Claimed { draw: point.draw, round });
        Ok(())
    }

    /// What came of an increment has to be what is stored of it, with the values of a bundle's
    /// round.
    fn ended(
        &mut self,
        (number, path): (u64, PathId),
        key: &Key,
        draw: Draw,
        round: Option<Digest>,
    ) {
        let stored = self.claimed.remove(key);
        if stored.as_ref().and_then(|stored| stored.round) != round {
            self.find(Some(number), format!("the round of bundle {path} is missing or was edited"));
        }
        if stored.is_some_and(|stored| stored.draw != draw) {
            self.find(Some(number), format!("what came of an increment of path {path} was edited"));
        }
    }

    /// What is stored beside the journal has to be what the journal comes to.
    fn end(&mut self, store: &mut dyn Store) -> Result<(), StoreError> {
        let Some(stored) = store.account(&self.name)? else { return Ok(()) };
        let (there, said) = (self.position, stored.position);
        if there.lines != said.lines {
            let (lines, said) = (there.lines, said.lines);
            self.find(None, format!("its journal has {lines} lines and should have {said}"));
        } else if there.head != said.head {
            self.find(None, "its journal does not end with the line it should end with");
        }
        if let Some(Anchored { lines, .. }) = self.anchored.filter(|a| a.lines > there.lines) {
            let what = format!(
                "the anchor has {lines} lines and the ledger {}: it was rolled back or restored from an old copy",
                there.lines
            );
            self.find(None, what);
        }
        if let Some(account) = &self.account {
            self.spoken.rounds += count(account.standing().rounds.len());
        }
        match self.account.take() {
            None => self.find(None, "its history does not replay"),
            Some(account) if !same(&account.standing(), &stored.standing) => {
                self.find(None, "its totals are not those of its history");
            }
            Some(_) => {}
        }
        self.end_levels(store)?;
        self.end_paths(store)?;
        let sheet = store.sheet(&self.name)?;
        let sheet = sheet.map(|(version, bytes)| (version, Digest::of(&bytes)));
        self.spoken.sheets += u64::from(self.sheet.is_some());
        if sheet != self.sheet {
            self.find(None, "its sheet is missing or was edited");
        }
        Ok(())
    }

    /// Paths, and what was shown of them, have to be as the journal left them.
    fn end_paths(&mut self, store: &mut dyn Store) -> Result<(), StoreError> {
        if self
            .claimed
            .values()
            .any(|stored| stored.draw != Draw::Claimed || stored.round.is_some())
        {
            self.find(None, "an increment was drawn or lost of which its journal says nothing");
        }
        self.spoken.paths += count(self.paths.len());
        for (path, owned) in std::mem::take(&mut self.paths) {
            let Some(stored) = store.path(path)? else {
                self.find(None, format!("what is stored of path {path} is missing or was edited"));
                continue;
            };
            if stored.account != self.name {
                self.find(None, format!("path {path} is said to be another account's"));
            }
            if stored.state.as_deref().map(Digest::of) != owned.state {
                self.find(None, format!("what is stored of path {path} is missing or was edited"));
            }
            if stored.holder != owned.holder {
                self.find(None, format!("who holds path {path} was edited"));
            }
        }
        for (path, shown) in std::mem::take(&mut self.shown) {
            let seen = store.seen(&self.name, path)?;
            let seen: Vec<Shown> = seen.into_iter().map(|at| (at.line, at.at, at.key)).collect();
            if seen != shown {
                self.find(None, format!("what it was shown of path {path} was edited"));
            }
        }
        Ok(())
    }

    fn end_levels(&mut self, store: &mut dyn Store) -> Result<(), StoreError> {
        self.spoken.levels += count(self.levels.len());
        let mut after = None;
        loop {
            let stored = store.levels(&self.name, after, LINES_AT_A_TIME)?;
            let Some((path, level)) = stored.last() else { break };
            after = Some((*path, Currencies::of(level.at)));
            for (path, level) in stored {
                let said = self.levels.remove(&(path, Currencies::of(level.at)));
                if said != Some(level) {
                    self.find(None, format!("path {path} is not paid for up to where it says"));
                }
            }
        }
        for (path, _) in std::mem::take(&mut self.levels).into_keys() {
            self.find(None, format!("how far path {path} is paid for is missing"));
        }
        Ok(())
    }
}

fn count(rows: usize) -> u64 {
    u64::try_from(rows).unwrap_or(u64::MAX)
}

/// Whether two standings are the same. Numbers of rounds that were cancelled before they were
/// recorded are left out in the history.
fn same(replayed: &Standing, stored: &Standing) -> bool {
    let next_round = stored.next_round.max(replayed.next_round);
    let replayed = Standing { next_round, ..replayed.clone() };
    replayed == *stored
}
