//! What has been spent and asked: budgets and history, as far as the reader may see them.

use std::collections::BTreeMap;

use eke_budget::account::TimeUniform;
use eke_budget::{Account, Amount, Budget, Charge, Delta, Epsilon, Event, Rho};
use eke_ledger::Key;
use eke_ledger::journal::{Line, What};
use serde::Serialize;

use crate::ask::family::is_family;
use crate::ask::question::Who;
use crate::ask::shown::answer::{Answer, Cost};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::policy::{AccountKind, AccountSpec, OverPeriods, SHOWN_PERIODS};
pub use crate::profile::published::ProfilePaid;
use crate::purchase::request_key::RequestKey;

/// What an account has spent and has left (odometer).
#[doc(alias = "odometer")]
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Standing {
    /// Its name in the ledger.
    pub account: String,
    /// The kind of unit that it protects.
    pub unit: String,
    /// Whose it is: everyone's, an analyst's or a circle's.
    #[serde(rename = "of")]
    pub owner: Owner,
    /// What it promises in all, as the ledger has it; none if the budget is a rho without a delta.
    pub promise: Option<Promised>,
    /// What the policy says instead, if that is something else. The ledger's promise is the one
    /// that is kept.
    pub policy: Option<PolicySays>,
    /// The whole budget.
    pub budget: Cost,
    /// What has been spent.
    pub spent: Cost,
    /// A bound on the loss so far; none where the budget states no delta, where nothing was spent,
    /// and where the bound is no better than the promise. Unlike a total that is converted it holds
    /// at all times at once: looking at it, and stopping because of it, breaks nothing.
    pub bound: Option<Promised>,
    /// What is set aside for rounds that are running.
    pub reserved: Cost,
    /// What is left.
    pub left: Cost,
    /// What part of the budget has been spent, from 0 to 1.
    pub part: f64,
    /// The pure purse, if there is one: budget, spent, reserved and left, in epsilon.
    pub pure: Option<[f64; 4]>,
    /// What members of a circle have spent outside of it, which it is charged with their next
    /// question.
    pub to_bring: Option<Brought>,
    /// What somebody is promised who is in several periods, where a unit is a person in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_periods: Option<OverPeriods>,
    /// Profiles that were bought, which every account of the unit pays for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub profiles: Vec<ProfilePaid>,
}

/// What a policy says of an account that its ledger knows otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PolicySays {
    /// The promise that the policy's budget would make.
    pub promise: Option<Promised>,
    /// The policy's budget.
    pub rho: f64,
}

/// What members bring into a circle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Brought {
    /// Of the zCDP purse.
    pub rho: f64,
    /// Of the pure purse.
    pub epsilon: f64,
    /// Whether it fits into what is left. If it does not, no member can ask.
    pub fits: bool,
}

/// Whose an account is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Owner {
    /// The unit's own: the promise that holds whatever people tell each other.
    Everyone,
    /// An analyst's, which holds against that analyst alone.
    Analyst(String),
    /// A circle's, which holds against its members alone.
    Circle(String),
}

/// A promise as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Promised {
    /// The bound on the privacy loss.
    pub epsilon: f64,
    /// The probability that it fails; none where it never does.
    pub delta: Option<f64>,
}

impl Promised {
    pub(crate) fn by(budget: &Budget) -> Option<Self> {
        let promise = budget.promise()?;
        let delta = promise.delta.map(|delta| delta.get());
        Some(Self { epsilon: promise.epsilon.get(), delta })
    }
}

/// A question that was asked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Asked {
    /// When, as RFC 3339 has it.
    pub at: String,
    /// Who asked.
    pub who: String,
    /// What.
    pub question: String,
    /// The unit whose account it drew on.
    pub unit: String,
    /// What it cost the account that is looked at.
    pub rho: f64,
    /// What it cost of the delta for mechanisms.
    pub delta: f64,
    /// What it cost of the pure purse: what rounds came to, or what is set aside for those that
    /// have not ended.
    pub epsilon: f64,
    /// How many steps were shown, if it was a watch.
    pub steps: Option<u64>,
    /// Whether it selected the keys of questions, and not answers to one.
    pub keys: bool,
    /// How it ended.
    pub outcome: Outcome,
    /// The answer that was given last, if there was one.
    pub answer: Option<Answer>,
}

/// How a question ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// With an answer.
    Answered,
    /// With a refusal.
    Refused,
    /// What it paid for was lost, or is still being drawn.
    Unanswered,
}

impl Engine {
    /// How accounts stand: all of them for the steward, and an analyst's own.
    ///
    /// # Errors
    /// There is no such analyst, or the ledger cannot be read.
    pub fn budget(&self, who: &Who) -> Result<Vec<Standing>, EngineError> {
        let mut standings = Vec::new();
        for unit in self.policy().units.keys() {
            let seen = self.undisturbed(unit, who, || {
                let visible = self.visible(unit, who)?;
                visible.iter().map(|account| self.standing(unit, account)).collect()
            });
            let mut seen: Vec<Standing> = seen?;
            if who.analyst().is_some() {
                // What others have spent outside of a circle is for the steward.
                seen.iter_mut().for_each(|standing| standing.to_bring = None);
            }
            standings.append(&mut seen);
        }
        Ok(standings)
    }

    /// The accounts of a unit that somebody may look at.
    pub(crate) fn visible(&self, unit: &str, who: &Who) -> Result<Vec<AccountSpec>, EngineError> {
        let policy = self.policy();
        if let Some(analyst) = who.analyst() {
            return Ok(policy.payers(unit, Some(analyst))?.others);
        }
        let mut accounts = vec![policy.payers(unit, None)?.unit];
        for analyst in policy.analysts.keys() {
            for account in policy.payers(unit, Some(analyst))?.others {
                if !accounts.contains(&account) {
                    accounts.push(account);
                }
            }
        }
        accounts.sort_by_key(|account| match account.kind {
            AccountKind::Unit => 0,
            AccountKind::Circle => 1,
            AccountKind::Analyst => 2,
        });
        Ok(accounts)
    }

    fn standing(&self, unit: &str, spec: &AccountSpec) -> Result<Standing, EngineError> {
        let account = self.ledger().account(&spec.name).wait()?;
        let purse = account.as_ref().and_then(|account: &Account| account.odometer().zcdp());
        // What was promised is what the ledger says, whatever the policy says by now.
        let budget = account.as_ref().map_or(&spec.budget, Account::budget);
        let says = |policy: &Budget| PolicySays {
            promise: Promised::by(policy),
            rho: policy.zcdp().map_or(0.0, |limits| limits.budget.to_f64()),
        };
        let policy = (*budget != spec.budget).then(|| says(&spec.budget));
        let limits = budget.zcdp();
        let whole = limits.map_or(Amount::ZERO, |limits| limits.budget);
        let whole_delta = limits.map_or(Amount::ZERO, |limits| limits.delta);
        let (spent, reserved, left) = purse.map_or((Amount::ZERO, Amount::ZERO, whole), |purse| {
            (purse.spent(), purse.reserved(), purse.left())
        });
        let (delta_spent, delta_left) = purse
            .map_or((Amount::ZERO, whole_delta), |purse| (purse.delta_spent(), purse.delta_left()));
        let pure = budget.pure().map(|limits| {
            let purse = account.as_ref().and_then(|account| account.odometer().pure());
            match purse {
                Some(purse) => [purse.budget(), purse.spent(), purse.reserved(), purse.left()]
                    .map(Amount::to_f64),
                None => [limits.budget.to_f64(), 0.0, 0.0, limits.budget.to_f64()],
            }
        });
        let last = spec.name.rsplit('/').next().unwrap_or_default().to_owned();
        let whole_f64 = whole.to_f64();
        let to_bring = match spec.kind {
            AccountKind::Circle => self.brought(unit, &last, account.as_ref(), &spec.budget)?,
            AccountKind::Unit | AccountKind::Analyst => None,
        };
        Ok(Standing {
            account: spec.name.clone(),
            unit: unit.to_owned(),
            owner: match spec.kind {
                AccountKind::Unit => Owner::Everyone,
                AccountKind::Analyst => Owner::Analyst(last),
                AccountKind::Circle => Owner::Circle(last),
            },
            promise: Promised::by(budget),
            policy,
            budget: Cost::new(whole, whole_delta),
            spent: Cost::new(spent, delta_spent),
            bound: account.as_ref().and_then(bound),
            reserved: Cost::new(reserved, Amount::ZERO),
            left: Cost::new(left, delta_left),
            part: if whole_f64 > 0.0 { spent.to_f64() / whole_f64 } else { 0.0 },
            pure,
            to_bring,
            over_periods: self
                .policy()
                .period_of(unit)
                .and_then(|period| OverPeriods::of(budget, period, SHOWN_PERIODS)),
            profiles: self.profiles_of(unit, &spec.name)?,
        })
    }

    /// What members would bring into a circle; none if that is nothing.
    fn brought(
        &self,
        unit: &str,
        circle: &str,
        account: Option<&Account>,
        budget: &Budget,
    ) -> Result<Option<Brought>, EngineError> {
        let brings = self.to_bring(unit, circle)?;
        if brings.is_nothing() {
            return Ok(None);
        }
        let left = |whole: Option<u128>, left: Option<u128>| left.or(whole).unwrap_or(0);
        let odometer = account.map(Account::odometer);
        let rho = left(
            budget.zcdp().map(|limits| limits.budget.grains()),
            odometer.and_then(|odometer| odometer.zcdp()).map(|purse| purse.left().grains()),
        );
        let epsilon = left(
            budget.pure().map(|limits| limits.budget.grains()),
            odometer.and_then(|odometer| odometer.pure()).map(|purse| purse.left().grains()),
        );
        let fits = brings.rho.grains() <= rho && brings.epsilon.grains() <= epsilon;
        let (rho, epsilon) = (brings.rho.to_f64(), brings.epsilon.to_f64());
        Ok(Some(Brought { rho, epsilon, fits }))
    }

    /// Accounts of the ledger that the policy does not name: what was promised to them still
    /// counts.
    pub(crate) fn unnamed(&self) -> Result<Vec<String>, EngineError> {
        const PAGE: u32 = 1000;
        let mut named: Vec<String> = vec![crate::data::pins::ACCOUNT.to_owned()];
        for unit in self.policy().units.keys() {
            named.extend(self.visible(unit, &Who::Steward)?.into_iter().map(|spec| spec.name));
        }
        let mut unnamed = Vec::new();
        let mut after: Option<String> = None;
        loop {
            let names = self.ledger().accounts(after.as_deref(), PAGE).wait()?;
            let Some(last) = names.last() else { return Ok(unnamed) };
            after = Some(last.to_string());
            let others = names.iter().filter(|name| !is_family(name));
            let others = others.filter(|name| !named.iter().any(|one| **one == ***name));
            unnamed.extend(others.map(ToString::to_string));
        }
    }

    /// The questions that were asked, the oldest first: all of them for the steward, and an
    /// analyst's own with what they cost its own account.
    ///
    /// # Errors
    /// There is no such analyst, or the ledger cannot be read.
    pub fn history(&self, who: &Who) -> Result<Vec<Asked>, EngineError> {
        let mut all = Vec::new();
        for unit in self.policy().units.keys() {
            let accounts = self.visible(unit, who)?;
            if let Some(account) = accounts.first() {
                let asked = self.undisturbed(unit, who, || self.questions(unit, &account.name));
                all.extend(asked?);
            }
        }
        // Its own account's refusals would tell an analyst without a budget of its own that others
        // were not its own account's.
        if who.analyst().is_some_and(|analyst| !self.policy().has_own_budget(analyst)) {
            all.retain(|asked| asked.outcome != Outcome::Refused);
        }
        all.sort_by(|one, other| one.at.cmp(&other.at));
        Ok(all)
    }

    fn questions(&self, unit: &str, account: &str) -> Result<Vec<Asked>, EngineError> {
        const PAGE: u32 = 1000;
        let mut asked: Vec<Gathered> = Vec::new();
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        // Rounds that run: whose they are, and what is set aside for them.
        let mut rounds: BTreeMap<u64, (usize, Amount<Epsilon>)> = BTreeMap::new();
        let mut from = 0;
        if self.ledger().account(account).wait()?.is_none() {
            return Ok(Vec::new());
        }
        loop {
            let lines = self.ledger().lines(account, from, PAGE).wait()?;
            let Some(last) = lines.last() else { break };
            from = last.line + 1;
            for row in &lines {
                let line: Line = serde_json::from_str(&row.body).map_err(EngineError::damaged)?;
                if let What::Entry { event: Event::Settled { round, realised }, .. } = &line.what
                    && let Some((place, worst)) = rounds.remove(round)
                {
                    let entry: &mut Gathered = &mut asked[place];
                    let back = worst.minus(*realised).unwrap_or(Amount::ZERO);
                    entry.epsilon = entry.epsilon.minus(back).unwrap_or(Amount::ZERO);
                }
                let (Some(key), Some(question)) = (line.request, line.question) else { continue };
                let Some(name) = question_of(&key, &line.who) else { continue };
                let place = *places.entry(name).or_insert_with(|| {
                    asked.push(Gathered {
                        at: line.at.clone(),
                        who: line.who.to_string(),
                        question,
                        rho: Amount::ZERO,
                        delta: Amount::ZERO,
                        epsilon: Amount::ZERO,
                        steps: 0,
                        outcome: Outcome::Unanswered,
                        last: key.clone(),
                    });
                    asked.len() - 1
                });
                let entry = &mut asked[place];
                match line.what {
                    What::Entry { event: Event::Reserved { round, worst, .. }, .. } => {
                        entry.epsilon = entry.epsilon.plus(worst).unwrap_or(Amount::MAX);
                        rounds.insert(round, (place, worst));
                    }
                    What::Entry { event, .. } => {
                        if let Some(Charge::Zcdp { rho, delta }) = price(&event) {
                            entry.rho = entry.rho.plus(rho).unwrap_or(Amount::MAX);
                            entry.delta = entry.delta.plus(delta).unwrap_or(Amount::MAX);
                        }
                    }
                    What::Refused { .. } if entry.outcome == Outcome::Unanswered => {
                        entry.outcome = Outcome::Refused;
                    }
                    What::Revealed { .. } => {
                        entry.outcome = Outcome::Answered;
                        entry.steps += 1;
                        entry.last = key;
                    }
                    _ => {}
                }
            }
        }
        asked.into_iter().map(|entry| self.shown((unit, account), entry)).collect()
    }

    fn shown(&self, (unit, account): (&str, &str), entry: Gathered) -> Result<Asked, EngineError> {
        let question = self.ledger().question(entry.question).wait()?.unwrap_or_default();
        let request = entry.last.as_str().parse();
        // When the rows of a profile were read is for the steward: others see that it was paid.
        let is_profile =
            matches!(request, Ok(RequestKey::Profile { .. } | RequestKey::ProfileSeen { .. }));
        let outcome = if is_profile && account != unit { Outcome::Answered } else { entry.outcome };
        let keys =
            matches!(request, Ok(RequestKey::Selection { .. } | RequestKey::SelectionSeen { .. }));
        let watched = matches!(request, Ok(RequestKey::Step { .. } | RequestKey::StepSeen { .. }));
        let stored = self.ledger().stored_answer(entry.last).wait()?;
        let answer = stored.and_then(|answered| Answer::stored(answered.body()));
        Ok(Asked {
            at: entry.at,
            who: entry.who,
            question,
            unit: unit.to_owned(),
            rho: entry.rho.to_f64(),
            delta: entry.delta.to_f64(),
            epsilon: entry.epsilon.to_f64(),
            steps: watched.then_some(entry.steps),
            keys,
            outcome,
            answer,
        })
    }
}

/// A bound on what an account has lost so far, of a shape that its budget fixed before the first
/// charge.
fn bound(account: &Account) -> Option<Promised> {
    let budget = account.budget();
    let odometer = account.odometer();
    let purse = odometer.zcdp().filter(|purse| !purse.spent().is_zero())?;
    let delta = crate::ask::shown::answer::conversion_delta(budget)?;
    let quarter = Amount::<Rho>::from_grains(purse.budget().grains() / 4);
    let shape = TimeUniform::tightest_at(quarter.to_parameter().ok()?, delta);
    let bound = odometer.bound(shape).ok()??;
    let epsilon = bound.epsilon.get();
    let is_better = Promised::by(budget).is_none_or(|promise| epsilon < promise.epsilon);
    is_better.then_some(Promised { epsilon, delta: Some(bound.delta.get()) })
}

struct Gathered {
    at: String,
    who: String,
    question: eke_ledger::Digest,
    rho: Amount<Rho>,
    delta: Amount<Delta>,
    epsilon: Amount<Epsilon>,
    steps: u64,
    outcome: Outcome,
    last: Key,
}

/// What the lines of one question have in common: the rounds of one have keys that differ in their
/// last part. None for lines that are nobody's question.
fn question_of(key: &Key, who: &str) -> Option<String> {
    let text = key.as_str();
    match text.parse() {
        // Selections of keys, and payments for them, are one request each.
        Ok(RequestKey::Selection { .. } | RequestKey::SelectionSeen { .. }) => {
            Some(text.to_owned())
        }
        // Both parts of a profile are one, and so is what somebody pays for it later.
        Ok(RequestKey::Profile { name, .. } | RequestKey::ProfileSeen { name, .. }) => {
            Some(name.to_string())
        }
        // The steps of a watch are one question of everybody who watches.
        Ok(RequestKey::Step { watch, .. } | RequestKey::StepSeen { watch, .. }) => {
            Some(format!("{watch} {who}"))
        }
        Ok(RequestKey::Turn { .. }) => None,
        Ok(RequestKey::Round { .. } | RequestKey::Places { .. } | RequestKey::Brought { .. })
        | Err(_) => Some(text.rsplit_once('/').map_or(text, |(question, _)| question).to_owned()),
    }
}

fn price(event: &Event) -> Option<Charge> {
    match event {
        Event::Charged(charge) => Some(*charge),
        Event::Raised { price, .. } | Event::GroupsRaised { price, .. } => Some(*price),
        _ => None,
    }
}
