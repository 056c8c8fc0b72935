//! Picks: the ranking of a question's groups as it is stored, and taking it further.
//!
//! A ranking is one path for everybody, as values are. It is charged on disk, then drawn, then stored, then shown, and
//! whoever draws holds it. Each account pays for the picks that it has seen.

use std::collections::BTreeMap;

use eke_budget::{Adjacency, Amount, Budget, PathId, Receipt, Refusal, Reveal, RevealReceipt, Rho};
use eke_ledger::{Answer as Body, LedgerError, Outcome, Show};
use eke_noise::{Bound as _, Moves, Ranking};
use eke_sql::{Plan, Sum, Value};
use serde::{Deserialize, Serialize};

use crate::ask::Asking;
use crate::ask::top::Route;
use crate::error::EngineError;

/// What one pick costs of the unit's whole budget.
const OF_BUDGET: u128 = 1000;

/// What a pick costs: the same for whoever asks, so that the picks are the same too.
pub(crate) fn pick_price(unit: &Budget) -> Amount<Rho> {
    let whole = unit.zcdp().map_or(0, |limits| limits.budget.grains());
    Amount::from_grains(whole / OF_BUDGET)
}

/// What groups are ranked by, and for how much a pick.
#[derive(Clone, Copy, Debug)]
pub(crate) struct By {
    /// A sum of the plan.
    pub(crate) sum: usize,
    /// What a pick costs.
    pub(crate) each: Amount<Rho>,
}

/// What came of asking for picks.
pub(crate) enum Picked {
    /// So many groups as were asked for, the largest first.
    Groups(Vec<u32>),
    /// The budget does not allow them; nothing was charged.
    Refused(Refusal),
}

/// A ranking as it is stored. It is read back by later versions: fields are added, never changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    ranking: Ranking,
    /// How many picks each account has seen.
    seen: BTreeMap<String, u32>,
}

impl Stored {
    fn seen(&self, account: &str) -> u32 {
        self.seen.get(account).copied().unwrap_or(0)
    }
}

/// How one unit moves the sums of groups under the plan's adjacency, and how many times what it can add to one it
/// moves it by.
///
/// Under add-remove a sum of one sign goes one way in all groups. Where a unit is replaced, sums of one sign
/// change by no more than what one of the two adds, up or down; those of both signs by twice that.
fn moves(plan: &Plan, sum: &Sum) -> (Moves, u32) {
    match (plan.adjacency, sum.is_one_way()) {
        (Adjacency::AddRemove, true) => (Moves::OneWay, 1),
        (Adjacency::AddRemove, false) | (Adjacency::Replace, true) => (Moves::EitherWay, 1),
        (Adjacency::Replace, false) => (Moves::EitherWay, 2),
    }
}

impl Asking<'_> {
    /// What so many picks would cost whoever asks, beyond those that it has seen.
    pub(crate) fn picks_cost(
        &self,
        by: By,
        groups: &[Vec<Value>],
        count: u32,
    ) -> Result<Amount<Rho>, EngineError> {
        let stored = self.load_picks(by, groups)?;
        let more = count.saturating_sub(stored.seen(&self.own().name));
        Ok(by.each.times(more).unwrap_or(Amount::MAX))
    }

    /// The first picks of the ranking, the largest first.
    pub(crate) fn picks(
        &mut self,
        by: By,
        groups: &[Vec<Value>],
        count: u32,
    ) -> Result<Picked, EngineError> {
        let path = self.new_ranking(by, groups)?.id();
        let engine = self.engine;
        let mut patience = engine.patience();
        loop {
            // Levels first, and then the picks: if nobody draws now, these are the levels of those.
            let levels = self.levels(path)?;
            let holder = self.ledger().path(path).wait()?.and_then(|path| path.holder);
            if let Some(holder) = holder {
                self.wait_for(path, &holder)?;
                continue;
            }
            let mut stored = self.load_picks(by, groups)?;
            let names: Vec<&str> =
                self.accounts().iter().map(|account| account.name.as_str()).collect();
            if names.iter().all(|name| stored.seen(name) >= count) {
                let picked = stored.ranking.picked().iter().copied();
                return Ok(Picked::Groups(picked.take(count as usize).collect()));
            }
            let sensitivity = stored.ranking.spread();
            let wants = names.iter().zip(levels).map(|(&name, level)| {
                // What was paid for and lost stays paid, and is nobody's pick.
                let more = by.each.times(count.saturating_sub(stored.seen(name)));
                let to = more.and_then(|more| level.plus(more)).unwrap_or(Amount::MAX);
                (name, Show { path, to, sensitivity })
            });
            let mut wants: Vec<(&str, Show<Rho>)> = wants.collect();
            let (unit, own) = wants.remove(0);
            let request = self.request()?;
            let charged = match self.ledger().charge(request, unit, own, wants).wait() {
                Ok(Outcome::Charged(charged)) => *charged,
                Ok(Outcome::Answered(_)) => continue,
                Err(LedgerError::Refused(refusal)) => return Ok(Picked::Refused(refusal)),
                Err(LedgerError::UnderWay { path, holder }) => {
                    self.wait_for(path, &holder)?;
                    continue;
                }
                Err(LedgerError::Moved(_)) if patience.again() => continue,
                Err(error) => return Err(error.into()),
            };
            let key = charged.claim.key().clone();
            let give_up = |asking: &Self| {
                asking.ledger().give_up(&asking.unit().name, path, key, asking.stamp()).wait()
            };
            // Nobody else changes it from here on. Were it changed since it was read, this would not be the price of
            // the picks that there are, and what was charged would be lost.
            if self.load_picks(by, groups)? != stored {
                give_up(self)?;
                continue;
            }
            if let Err(error) = self.draw_picks(&mut stored, by, groups, charged.own) {
                // What was paid for is lost; somebody else may go on.
                let _ = give_up(self);
                return Err(error);
            }
            let paid = count.saturating_sub(stored.seen(&self.own().name));
            for receipt in charged.others {
                let _ = receipt.redeem();
            }
            for account in self.accounts() {
                let seen = stored.seen(&account.name).max(count);
                stored.seen.insert(account.name.clone(), seen);
            }
            let paid = by.each.times(paid).unwrap_or(Amount::MAX);
            self.spent = self.spent.plus(paid).unwrap_or(Amount::MAX);
            let picked = &stored.ranking.picked()[..count as usize];
            let body = match self.route {
                Route::Keys { .. } => serde_json::to_vec(&self.shown_keys(groups, picked)?),
                Route::Everything | Route::Top { .. } => Ok(Vec::new()),
            };
            let damaged = |error: serde_json::Error| EngineError::Damaged(error.to_string());
            let state = serde_json::to_vec(&stored).map_err(damaged)?;
            let body = Body::new(body.map_err(damaged)?).with_state(state);
            self.ledger().answer(charged.claim, body, self.stamp()).wait()?;
        }
    }

    /// Draws what the unit's account has paid for.
    fn draw_picks(
        &mut self,
        stored: &mut Stored,
        by: By,
        groups: &[Vec<Value>],
        own: Receipt<Reveal<Rho>>,
    ) -> Result<(), EngineError> {
        let receipt = match own.sorted() {
            RevealReceipt::Finer(receipt) => receipt,
            RevealReceipt::Coarser(receipt) => {
                let _ = receipt.redeem();
                return Ok(());
            }
        };
        let damaged = |reason: String| EngineError::Damaged(reason);
        let (_, factor) = moves(self.plan(), &self.plan().sums[by.sum]);
        let price = receipt.purchase().price();
        let columns = self.read_rows(price)?.columns(groups);
        let columns = columns.map_err(|error| self.unread(error, price))?;
        let scores = columns.scores(by.sum, factor).map_err(|error| damaged(error.to_string()))?;
        stored
            .ranking
            .pick(&scores, receipt, &mut self.entropy)
            .map_err(|mismatch| damaged(mismatch.to_string()))?;
        Ok(())
    }

    /// A ranking of which nothing has been picked.
    fn new_ranking(&self, by: By, groups: &[Vec<Value>]) -> Result<Ranking, EngineError> {
        let plan = self.plan();
        let sum = &plan.sums[by.sum];
        let (moves, factor) = moves(plan, sum);
        let out_of_range = |error: String| EngineError::Goal(error);
        let sensitivity = crate::rows::sensitivity(sum, plan.max_rows)
            .times(factor)
            .map_err(|error| out_of_range(error.to_string()))?;
        let count = u32::try_from(groups.len()).unwrap_or(u32::MAX);
        Ranking::open(self.ranking_path(by, groups), count, &sensitivity, moves, by.each)
            .map_err(|error| out_of_range(error.to_string()))
    }

    /// What a ranking is found by: what its scores depend on, and the price of a pick.
    fn ranking_path(&self, by: By, groups: &[Vec<Value>]) -> PathId {
        let sums = vec![self.plan().sums[by.sum].clone()];
        let plan = Plan { sums, ..self.plan().clone() };
        let mut name = blake3::Hasher::new_derive_key("eke ranking 1");
        name.update(&plan.digest());
        name.update(&self.snapshot().to_le_bytes());
        name.update(self.unit().name.as_bytes());
        name.update(&self.types());
        name.update(&serde_json::to_vec(groups).unwrap_or_default());
        name.update(by.each.to_string().as_bytes());
        PathId::new(*name.finalize().as_bytes())
    }

    fn load_picks(&self, by: By, groups: &[Vec<Value>]) -> Result<Stored, EngineError> {
        let empty = self.new_ranking(by, groups)?;
        let stored = self.ledger().path(empty.id()).wait()?.and_then(|path| path.state);
        let Some(bytes) = stored else {
            return Ok(Stored { ranking: empty, seen: BTreeMap::new() });
        };
        let stored: Stored = serde_json::from_slice(&bytes)
            .map_err(|error| EngineError::Damaged(error.to_string()))?;
        if stored.ranking.id() != empty.id() || stored.ranking.spread() != empty.spread() {
            return Err(EngineError::Damaged("it is another question's".into()));
        }
        Ok(stored)
    }
}
