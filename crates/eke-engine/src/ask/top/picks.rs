//! Picks: the ranking of a question's groups as it is stored, and taking it further.
//!
//! A ranking is one path for everybody, as values are. It is charged on disk, then drawn, then
//! stored, then shown, and the program that draws holds it. Each account pays for the picks that it
//! has seen.

use std::collections::BTreeMap;

use eke_budget::purchase::RevealReceipt;
use eke_budget::{Adjacency, Amount, Budget, PathId, Receipt, Refusal, Reveal, Rho};
use eke_ledger::Show;
use eke_noise::select::Moves;
use eke_noise::{Ranking, evidence::Bound as _};
use eke_sql::{Plan, Sum, Value};
use serde::{Deserialize, Serialize};

use crate::ask::Asking;
use crate::ask::family::Family;
use crate::ask::top::Route;
use crate::error::{EngineError, NotAllowed, WrongGoal};
use crate::purchase::identity::{Identity, Purpose};
use crate::purchase::{self, Again, Bought, Drawn, Offer, Order};

/// What one pick costs of the unit's whole budget.
const OF_BUDGET: u128 = 1000;

/// What a pick costs: the same for every asker, so that the picks are the same too.
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
    /// As many groups as were asked for, the largest first.
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

    /// The first of its picks.
    fn first(&self, count: u32) -> Vec<u32> {
        self.ranking.picked().iter().copied().take(count as usize).collect()
    }
}

/// How one unit moves the sums of groups under the plan's adjacency, and how many times what it can
/// add to one it moves it by.
///
/// Under add-remove a sum of one sign goes one way in all groups. Where a unit is replaced, sums of
/// one sign change by no more than what one of the two adds, up or down; those of both signs by
/// twice that.
pub(crate) fn moves(plan: &Plan, sum: &Sum) -> (Moves, u32) {
    match (plan.adjacency, sum.is_one_way()) {
        (Adjacency::AddRemove, true) => (Moves::OneWay, 1),
        (Adjacency::AddRemove, false) | (Adjacency::Replace, true) => (Moves::EitherWay, 1),
        (Adjacency::Replace, false) => (Moves::EitherWay, 2),
    }
}

/// Picks that are bought.
struct Picks<'g> {
    by: By,
    groups: &'g [Vec<Value>],
    count: u32,
    path: PathId,
    /// The ranking that the offer was made for.
    stored: Option<Stored>,
    /// What the asker has seen of all rankings that differ only in their bounds.
    family: Option<Family>,
}

impl<'a> Order<'a, Asking<'a>> for Picks<'_> {
    type Own = Show<Rho>;
    type Others = Show<Rho>;
    type Made = Vec<u32>;

    fn offer(
        &mut self,
        asking: &mut Asking<'a>,
        _: Again,
    ) -> Result<Offer<Show<Rho>, Show<Rho>, Vec<u32>>, EngineError> {
        let &mut Self { by, count, path, .. } = self;
        // Levels first, and then the picks: if nobody draws now, these are the levels of those.
        let levels = asking.levels(path)?;
        let holder = asking.context.ledger().path(path).wait()?.and_then(|path| path.holder);
        if let Some(holder) = holder {
            return Ok(Offer::Held(path, holder));
        }
        let stored = asking.load_picks(by, self.groups)?;
        if asking.context.payers().iter().all(|account| stored.seen(&account.name) >= count) {
            return Ok(Offer::Made(stored.first(count)));
        }
        let sensitivity = stored.ranking.spread();
        let wants = asking.context.payers().iter().zip(levels).map(|(account, level)| {
            // What was paid for and lost stays paid, and is nobody's pick.
            let more = by.each.times(count.saturating_sub(stored.seen(&account.name)));
            let to = more.and_then(|more| level.plus(more)).unwrap_or(Amount::MAX);
            (account.name.clone(), Show { path, to, sensitivity })
        });
        let mut wants: Vec<(String, Show<Rho>)> = wants.collect();
        let (_, own) = wants.remove(0);
        self.family = None;
        if let Some(family) = asking.ranking_family(by)? {
            let seen = asking.seen_of(&family, path)?;
            let to = by.each.times(count).unwrap_or(Amount::MAX);
            let fits = to <= family.furthest(seen);
            if !fits && count > stored.seen(&asking.context.own().name) {
                return Err(NotAllowed::PicksBeyondTier { each: by.each }.into());
            }
            if fits && to > seen {
                wants.push((family.account.clone(), Show { path, to, sensitivity }));
                self.family = Some(family);
            }
        }
        self.stored = Some(stored);
        let request = asking.context.next_request()?;
        Ok(Offer::Charge { request, own, others: wants, path: Some(path) })
    }

    /// Were it changed since it was read, this would not be the price of the picks that there are.
    fn still_holds(&mut self, asking: &mut Asking<'a>) -> Result<bool, EngineError> {
        asking.family_holds(self.family.as_ref())?;
        Ok(self.stored == Some(asking.load_picks(self.by, self.groups)?))
    }

    fn draw(
        &mut self,
        asking: &mut Asking<'a>,
        own: Receipt<Reveal<Rho>>,
        others: Vec<Receipt<Reveal<Rho>>>,
    ) -> Result<Drawn<Vec<u32>>, EngineError> {
        let Some(mut stored) = self.stored.take() else {
            return Err(EngineError::damaged("picks were charged without an offer"));
        };
        asking.draw_picks(&mut stored, self.by, self.groups, own)?;
        for receipt in others {
            let _ = receipt.redeem();
        }
        let more = self.count.saturating_sub(stored.seen(&asking.context.own().name));
        let paid = self.by.each.times(more).unwrap_or(Amount::MAX);
        asking.spent = asking.spent.plus(paid).unwrap_or(Amount::MAX);
        for account in asking.context.payers().iter() {
            let seen = stored.seen(&account.name).max(self.count);
            stored.seen.insert(account.name.clone(), seen);
        }
        let made = stored.first(self.count);
        let body = match asking.route {
            Route::Keys { .. } => serde_json::to_vec(&asking.shown_keys(self.groups, &made)?),
            Route::Everything | Route::Top { .. } => Ok(Vec::new()),
        };
        let state = serde_json::to_vec(&stored).map_err(EngineError::damaged)?;
        Ok(Drawn {
            body: body.map_err(EngineError::damaged)?,
            state: Some(state),
            round: None,
            made,
        })
    }
}

impl Asking<'_> {
    /// What `count` picks would cost the asker, who pays nothing for picks seen before.
    pub(crate) fn picks_cost(
        &self,
        by: By,
        groups: &[Vec<Value>],
        count: u32,
    ) -> Result<Amount<Rho>, EngineError> {
        let stored = self.load_picks(by, groups)?;
        let more = count.saturating_sub(stored.seen(&self.context.own().name));
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
        let mut picks = Picks { by, groups, count, path, stored: None, family: None };
        Ok(match purchase::buy(self, &mut picks)? {
            Bought::Made(picked) => Picked::Groups(picked),
            Bought::Refused(refusal) => Picked::Refused(refusal),
        })
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
        let (_, factor) = moves(self.plan(), &self.plan().sums[by.sum]);
        let price = receipt.purchase().price();
        let columns = self.read_rows(price)?.columns(groups);
        let columns = columns
            .map_err(|error| self.context.unread(error, |error| EngineError::Rows(error, price)))?;
        let scores = columns.scores(by.sum, factor).map_err(EngineError::damaged)?;
        let picked = stored.ranking.pick(&scores, receipt, &mut self.context.entropy);
        picked.map_err(EngineError::damaged)?;
        Ok(())
    }

    /// A ranking of which nothing has been picked.
    fn new_ranking(&self, by: By, groups: &[Vec<Value>]) -> Result<Ranking, EngineError> {
        let plan = self.plan();
        let sum = &plan.sums[by.sum];
        let (moves, factor) = moves(plan, sum);
        let sensitivity =
            crate::rows::sensitivity(sum, plan.max_rows).times(factor).map_err(WrongGoal::from)?;
        let count = u32::try_from(groups.len()).unwrap_or(u32::MAX);
        Ranking::open(self.ranking_path(by, groups)?, count, &sensitivity, moves, by.each)
            .map_err(|error| WrongGoal::from(error).into())
    }

    /// The family of a ranking; none if nothing limits how far it is seen.
    fn ranking_family(&self, by: By) -> Result<Option<Family>, EngineError> {
        self.family(Purpose::Ranking, &self.unasked_plan_of(by.sum), &by.each.to_string())
    }

    /// Looks up how far the asker may see the ranking of the question, if it has one, of groups
    /// that are known or not.
    pub(crate) fn look_up_picks(
        &mut self,
        groups: Option<&[Vec<Value>]>,
    ) -> Result<(), EngineError> {
        let (Route::Top { sum, .. } | Route::Keys { sum, .. }) = self.route else { return Ok(()) };
        let by = self.ranked_by((&self.question.goal, self.route), sum);
        let Some(family) = self.ranking_family(by)? else { return Ok(()) };
        let (before, paid) = match groups.filter(|groups| !groups.is_empty()) {
            Some(groups) => {
                let stored = self.load_picks(by, groups)?;
                let paid = by.each.times(stored.seen(&self.context.own().name));
                (self.seen_of(&family, stored.ranking.id())?, paid.unwrap_or(Amount::MAX))
            }
            None => (Amount::ZERO, Amount::ZERO),
        };
        self.furthest_picks = Some(family.furthest(before).max(paid));
        Ok(())
    }

    /// What a ranking is found by: what its scores depend on, and the price of a pick.
    fn ranking_path(&self, by: By, groups: &[Vec<Value>]) -> Result<PathId, EngineError> {
        let sums = vec![self.plan().sums[by.sum].clone()];
        let plan = Plan { sums, ..self.plan().clone() };
        let scores =
            Identity::new(Purpose::Ranking).plan(&plan).rows(self.context.prepared).json(&groups);
        scores.bytes(by.each.to_string().as_bytes()).path()
    }

    fn load_picks(&self, by: By, groups: &[Vec<Value>]) -> Result<Stored, EngineError> {
        let empty = self.new_ranking(by, groups)?;
        let stored = self.context.ledger().path(empty.id()).wait()?.and_then(|path| path.state);
        let Some(bytes) = stored else {
            return Ok(Stored { ranking: empty, seen: BTreeMap::new() });
        };
        let stored: Stored = serde_json::from_slice(&bytes).map_err(EngineError::damaged)?;
        if stored.ranking.id() != empty.id() || stored.ranking.spread() != empty.spread() {
            return Err(EngineError::damaged("it is another question's"));
        }
        Ok(stored)
    }
}
