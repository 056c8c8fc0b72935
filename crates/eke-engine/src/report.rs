//! What has been spent and asked: budgets and history, as whoever looks may see them.

use std::collections::BTreeMap;

use eke_budget::{Account, Amount, Charge, Delta, Epsilon, Event, Rho};
use eke_ledger::{Key, Line, What};
use serde::Serialize;

use crate::answer::{Answer, Cost};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::policy::{AccountKind, AccountSpec};
use crate::question::Who;

/// How an account stands.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Standing {
    /// Its name in the ledger.
    pub account: String,
    /// The kind of unit that it protects.
    pub unit: String,
    /// Whose it is: everyone's, an analyst's or a circle's.
    pub of: Of,
    /// What it promises in all; none if the budget is a rho without a delta.
    pub promise: Option<Promised>,
    /// The whole budget.
    pub budget: Cost,
    /// What has been spent.
    pub spent: Cost,
    /// What is set aside for rounds that are running.
    pub reserved: Cost,
    /// What is left.
    pub left: Cost,
    /// What part of the budget has been spent, from 0 to 1.
    pub part: f64,
    /// The pure purse, if there is one: budget, spent, reserved and left, in epsilon.
    pub pure: Option<[f64; 4]>,
}

/// Whose an account is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Of {
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
    /// What it cost of the pure purse: what rounds came to, or what is set aside for those that have not ended.
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
            for account in self.visible(unit, who)? {
                standings.push(self.standing(unit, &account)?);
            }
        }
        Ok(standings)
    }

    /// The accounts of a unit that somebody may look at.
    fn visible(&self, unit: &str, who: &Who) -> Result<Vec<AccountSpec>, EngineError> {
        let policy = self.policy();
        let mut accounts = Vec::new();
        match who.analyst() {
            Some(analyst) => {
                accounts = policy.accounts(unit, Some(analyst))?;
                accounts.remove(0);
            }
            None => {
                accounts.extend(policy.accounts(unit, None)?);
                for analyst in policy.analysts.keys() {
                    for account in policy.accounts(unit, Some(analyst))? {
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
            }
        }
        Ok(accounts)
    }

    fn standing(&self, unit: &str, spec: &AccountSpec) -> Result<Standing, EngineError> {
        let account = self.ledger().account(&spec.name).wait()?;
        let purse = account.as_ref().and_then(|account: &Account| account.odometer().zcdp());
        let limits = spec.budget.zcdp();
        let whole = limits.map_or(Amount::ZERO, |limits| limits.budget);
        let whole_delta = limits.map_or(Amount::ZERO, |limits| limits.delta);
        let (spent, reserved, left) = purse.map_or((Amount::ZERO, Amount::ZERO, whole), |purse| {
            (purse.spent(), purse.reserved(), purse.left())
        });
        let (delta_spent, delta_left) = purse
            .map_or((Amount::ZERO, whole_delta), |purse| (purse.delta_spent(), purse.delta_left()));
        let cost = |rho: Amount<Rho>, delta: Amount<Delta>| Cost::new(rho, delta, &spec.budget);
        let pure = spec.budget.pure().map(|limits| {
            let purse = account.as_ref().and_then(|account| account.odometer().pure());
            match purse {
                Some(purse) => [purse.budget(), purse.spent(), purse.reserved(), purse.left()]
                    .map(Amount::to_f64),
                None => [limits.budget.to_f64(), 0.0, 0.0, limits.budget.to_f64()],
            }
        });
        let last = spec.name.rsplit('/').next().unwrap_or_default().to_owned();
        let whole_f64 = whole.to_f64();
        Ok(Standing {
            account: spec.name.clone(),
            unit: unit.to_owned(),
            of: match spec.kind {
                AccountKind::Unit => Of::Everyone,
                AccountKind::Analyst => Of::Analyst(last),
                AccountKind::Circle => Of::Circle(last),
            },
            promise: spec.budget.promise().map(|promise| Promised {
                epsilon: promise.epsilon.get(),
                delta: promise.delta.map(|delta| delta.get()),
            }),
            budget: cost(whole, whole_delta),
            spent: cost(spent, delta_spent),
            reserved: cost(reserved, Amount::ZERO),
            left: cost(left, delta_left),
            part: if whole_f64 > 0.0 { spent.to_f64() / whole_f64 } else { 0.0 },
            pure,
        })
    }

    /// The questions that were asked, the oldest first: all of them for the steward, and an analyst's own with
    /// what they cost its own account.
    ///
    /// # Errors
    /// There is no such analyst, or the ledger cannot be read.
    pub fn history(&self, who: &Who) -> Result<Vec<Asked>, EngineError> {
        let mut all = Vec::new();
        for unit in self.policy().units.keys() {
            let accounts = self.visible(unit, who)?;
            if let Some(account) = accounts.first() {
                all.extend(self.questions(unit, &account.name)?);
            }
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
                let line: Line = serde_json::from_str(&row.body)
                    .map_err(|error| EngineError::Damaged(error.to_string()))?;
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
        asked.into_iter().map(|entry| self.shown(unit, entry)).collect()
    }

    fn shown(&self, unit: &str, entry: Gathered) -> Result<Asked, EngineError> {
        let question = self.ledger().question(entry.question).wait()?.unwrap_or_default();
        let keys = entry.last.as_str().starts_with("keys/");
        let watched = entry.last.as_str().starts_with("watch/");
        let stored = self.ledger().stored_answer(entry.last).wait()?;
        let answer = stored.and_then(|answered| serde_json::from_slice(answered.body()).ok());
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
            outcome: entry.outcome,
            answer,
        })
    }
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

/// What the lines of one question have in common: the rounds of one have keys that differ in their last part.
/// None for lines that are nobody's question.
fn question_of(key: &Key, who: &str) -> Option<String> {
    let text = key.as_str();
    // Selections of keys, and payments for them, are one request each.
    if text.starts_with("keys/") {
        return Some(text.to_owned());
    }
    // The steps of a watch are one question of everybody who watches.
    if let Some(rest) = text.strip_prefix("watch/") {
        let watch = rest.split('/').next().unwrap_or_default();
        return Some(format!("watch/{watch} {who}"));
    }
    // A turn at drawing for a watch.
    if text.contains("/watch/") {
        return None;
    }
    Some(text.rsplit_once('/').map_or(text, |(question, _)| question).to_owned())
}

fn price(event: &Event) -> Option<Charge> {
    match event {
        Event::Charged(charge) => Some(*charge),
        Event::Raised { price, .. } | Event::GroupsRaised { price, .. } => Some(*price),
        _ => None,
    }
}
