//! A coordinator: the collector's side, and what it can know of the devices' budgets.
//!
//! It sees requests and replies, never a value. It computes what a device has left from what is
//! public: the budget, what it has asked for, and what was halted. Replies get lost, so it takes
//! the worst: everything that was asked for and not halted may have been paid for. What it says is
//! left is therefore never more than what is left, if nobody else asks: a collection that is
//! planned by it is not halted. (Saying more would plan for answers that do not come; it would not
//! harm anybody, since devices look after themselves.) When every request has had its reply it is
//! exact.

use std::collections::{BTreeMap, BTreeSet};

use eke_budget::{Amount, Budget, Epsilon, Rho};
use eke_noise::local::Chain;

use crate::device::mechanism::{Currency, Mechanism};
use crate::device::request::{Reply, Request, RequestError};
use crate::worth::law::{Law, ReportError};

/// What is asked, apart from when, how finely and of whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Its name.
    pub name: String,
    /// What it is about.
    pub component: String,
    /// What the reports are drawn from.
    pub mechanism: Mechanism,
    /// Which purse pays.
    pub currency: Currency,
}

/// Requests to users and their replies, and what each user has left at least.
///
/// - Theorem: device-filter (docs/theorems.md)
/// - Proves: what is said to be left is at most what the device has left, and as much if all
///   replies have come
/// - Assumes: the device has the budget that is said, answers as devices do (device), and is asked
///   by nobody else: what another collector has it pay for is not known here, and would have to be
///   taken off the budget first
/// - Deviates: users are registered when they are first asked
/// - Checked by: `a_coordinator_never_says_that_more_is_left_than_is`
#[derive(Debug)]
pub struct Coordinator<U> {
    budget: Budget,
    /// What every question at a step is, and its chain.
    questions: BTreeMap<(String, u64), (Question, Chain)>,
    users: BTreeMap<U, User>,
}

/// What a user has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// In the pure purse; none if there is none.
    pub pure: Option<Amount<Epsilon>>,
    /// In the zCDP purse; none if there is none.
    pub zcdp: Option<Amount<Rho>>,
}

/// Why a reply was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplyError {
    /// To nothing that was asked.
    #[error("the user was not asked for this")]
    NotAsked,
    /// Against what it said before.
    #[error(
        "the user has halted at this report and shown it too: no device does both, so its storage was put back, or it lies"
    )]
    Contradiction,
    /// No report of the law that was asked for.
    #[error("the reply is not the report that was asked for: {0}")]
    NoReport(ReportError),
    /// Not the report that it showed before.
    #[error(
        "the user has shown another report for this request before: a device draws it once, so its storage was put back, or it lies"
    )]
    OtherReport,
}

/// What is known of one user.
#[derive(Debug, Default)]
struct User {
    chains: BTreeMap<(String, u64), Asked>,
}

/// What was asked of one chain, in grains of its currency.
#[derive(Debug)]
struct Asked {
    currency: Currency,
    prices: BTreeSet<u128>,
    /// The dearest that was shown.
    shown: u128,
    /// The digests of the reports that were shown.
    reports: BTreeMap<usize, blake3::Hash>,
    /// The cheapest that was halted. It stays so: what a device has left and what it has paid for a
    /// chain never grow together.
    halted: Option<u128>,
}

impl Asked {
    /// The most that may have been paid.
    fn worst(&self) -> u128 {
        let prices = self.prices.range(..self.halted.unwrap_or(u128::MAX));
        prices.max().copied().unwrap_or(0)
    }
}

impl User {
    /// The most that may have been paid in a currency, and of it for one chain.
    fn worst(&self, currency: Currency, chain: &(String, u64)) -> (u128, u128) {
        let mut all = self.chains.iter().filter(|(_, asked)| asked.currency == currency);
        let sum = all.try_fold(0u128, |sum, (_, asked)| sum.checked_add(asked.worst()));
        let own = self.chains.get(chain).filter(|asked| asked.currency == currency);
        (sum.unwrap_or(u128::MAX), own.map_or(0, Asked::worst))
    }
}

impl<U: Ord + Clone> Coordinator<U> {
    /// Nobody asked yet. All have the same budget, which is public.
    #[must_use]
    pub fn new(budget: Budget) -> Self {
        Self { budget, questions: BTreeMap::new(), users: BTreeMap::new() }
    }

    /// A report that is asked of some users: the request to be sent to each of them. It counts as
    /// paid for from now on. Asking again for what got lost costs nothing more.
    ///
    /// # Errors
    /// The question is not one that devices answer, or was another one at this step. Nothing has
    /// changed.
    pub fn ask(
        &mut self,
        question: &Question,
        step: u64,
        report: usize,
        users: impl IntoIterator<Item = U>,
    ) -> Result<Request, RequestError> {
        let key = (question.name.clone(), step);
        let request = self.request(question, step, report)?;
        if !self.questions.contains_key(&key) {
            let chain = question.mechanism.chain()?;
            self.questions.insert(key.clone(), (question.clone(), chain));
        }
        for user in users {
            let asked = self.users.entry(user).or_default().chains.entry(key.clone());
            let currency = question.currency;
            let new = || Asked {
                currency,
                prices: BTreeSet::new(),
                shown: 0,
                reports: BTreeMap::new(),
                halted: None,
            };
            asked.or_insert_with(new).prices.insert(request.price.grains());
        }
        Ok(request)
    }

    /// The request for a report, which nobody is asked yet.
    ///
    /// # Errors
    /// As for [`Coordinator::ask`].
    pub fn request(
        &self,
        question: &Question,
        step: u64,
        report: usize,
    ) -> Result<Request, RequestError> {
        let price = match self.questions.get(&(question.name.clone(), step)) {
            Some((known, _)) if known != question => {
                return Err(RequestError::OtherQuestion { question: question.name.clone(), step });
            }
            Some((_, chain)) => question.currency.price(chain, report)?,
            None => question.currency.price(&question.mechanism.chain()?, report)?,
        };
        if !self.has_purse(question.currency) {
            return Err(RequestError::NoPurse(price));
        }
        let Question { name, component, mechanism, .. } = question.clone();
        let request = Request { question: name, component, step, mechanism, report, price };
        request.check_names()?;
        Ok(request)
    }

    /// Takes a reply. One that never comes leaves everything as it is: it may have been paid for. A
    /// reply that comes again is taken again: the collector counts the report of a user once, with
    /// [`Tally::add_one`](crate::Tally::add_one).
    ///
    /// # Errors
    /// It is a reply to nothing that was asked, is no report of the law that was, or says something
    /// else than one before it. Nothing has changed.
    pub fn take(&mut self, user: &U, request: &Request, reply: &Reply) -> Result<(), ReplyError> {
        let key = (request.question.clone(), request.step);
        let known = self.users.get_mut(user).and_then(|user| user.chains.get_mut(&key));
        let asked = known.ok_or(ReplyError::NotAsked)?;
        let price = request.price.grains();
        if asked.currency != request.currency() || !asked.prices.contains(&price) {
            return Err(ReplyError::NotAsked);
        }
        let (question, chain) = self.questions.get(&key).ok_or(ReplyError::NotAsked)?;
        if question.mechanism != request.mechanism || question.component != request.component {
            return Err(ReplyError::NotAsked);
        }
        let law = Law::of(chain, request.report).ok_or(ReplyError::NotAsked)?;
        match reply {
            Reply::Report(_) if asked.halted.is_some_and(|halted| halted <= price) => {
                Err(ReplyError::Contradiction)
            }
            Reply::Report(report) => {
                let words = report.words();
                law.check(words).map_err(ReplyError::NoReport)?;
                let digest = digest(words);
                if *asked.reports.entry(request.report).or_insert(digest) != digest {
                    return Err(ReplyError::OtherReport);
                }
                asked.shown = asked.shown.max(price);
                Ok(())
            }
            Reply::Halted if price <= asked.shown => Err(ReplyError::Contradiction),
            Reply::Halted => {
                asked.halted = Some(asked.halted.map_or(price, |halted| halted.min(price)));
                Ok(())
            }
        }
    }

    /// What a user has left at least. A user who has not been asked has everything.
    #[must_use]
    pub fn left(&self, user: &U) -> Left {
        let left = |budget: u128, currency| budget.saturating_sub(self.taken(user, currency));
        let (pure, zcdp) = (self.budget.pure(), self.budget.zcdp());
        Left {
            pure: pure.map(|all| Amount::from_grains(left(all.budget.grains(), Currency::Pure))),
            zcdp: zcdp.map(|all| Amount::from_grains(left(all.budget.grains(), Currency::Zcdp))),
        }
    }

    /// Whether a user can surely pay for a request: if it is asked now, it is not halted.
    #[must_use]
    pub fn can_pay(&self, user: &U, request: &Request) -> bool {
        let key = (request.question.clone(), request.step);
        let currency = request.currency();
        let budget = match currency {
            Currency::Pure => self.budget.pure().map(|all| all.budget.grains()),
            Currency::Zcdp => self.budget.zcdp().map(|all| all.budget.grains()),
        };
        let (sum, own) = self.users.get(user).map_or((0, 0), |known| known.worst(currency, &key));
        // What else may have been paid for, and this.
        let after = (sum - own).checked_add(request.price.grains().max(own));
        after.zip(budget).is_some_and(|(after, budget)| after <= budget)
    }

    /// The users who have been asked for something.
    pub fn users(&self) -> impl Iterator<Item = &U> {
        self.users.keys()
    }

    fn taken(&self, user: &U, currency: Currency) -> u128 {
        let nothing = (String::new(), 0);
        self.users.get(user).map_or(0, |known| known.worst(currency, &nothing).0)
    }

    fn has_purse(&self, currency: Currency) -> bool {
        match currency {
            Currency::Pure => self.budget.pure().is_some(),
            Currency::Zcdp => self.budget.zcdp().is_some(),
        }
    }
}

fn digest(words: &[u64]) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    for word in words {
        hasher.update(&word.to_le_bytes());
    }
    hasher.finalize()
}
