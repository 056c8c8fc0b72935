//! A round of cut counts: charged, drawn and stored like any other.
//!
//! All counts go to one price. A unit is in several of them, so their prices add up; the price of
//! the groups is charged on its own, before this one.

use eke_budget::purchase::{GroupPrices, GroupRaise, GroupStep, GroupWeights};
use eke_budget::{Adjacency, Amount, Metric, Receipt, Rho};
use eke_ledger::RaiseGroups;

use crate::ask::Asking;
use crate::ask::cut::CutCells;
use crate::ask::family::Family;
use crate::ask::round::{Offers, take_further};
use crate::ask::state::{Added, Paid, State, Written};
use crate::ask::walk::LEAST_STEP_ONE_IN;
use crate::error::EngineError;
use crate::purchase::{Again, Drawn, Offer, Order};

/// How many counts a unit changes is known for either adjacency ([`CutCells::touched`]): nothing
/// is multiplied beyond that.
const PLAIN: Metric = Metric::Hamming(Adjacency::AddRemove);

/// Cut counts that are bought.
pub(crate) struct CutRound<'c> {
    state: State,
    cells: &'c CutCells,
    /// What all of them may have cost the asker in the end.
    price: Amount<Rho>,
    /// What the accounts pay for each count, the unit's first.
    prices: Vec<GroupPrices<Rho>>,
    /// What the asker has seen of them with all bounds, where something limits that.
    family: Option<Family>,
}

impl<'c> CutRound<'c> {
    pub(crate) fn new(state: State, cells: &'c CutCells, price: Amount<Rho>) -> Self {
        Self { state, cells, price, prices: Vec::new(), family: None }
    }

    pub(crate) fn into_state(self) -> State {
        self.state
    }
}

impl<'a> Order<'a, Asking<'a>> for CutRound<'_> {
    type Own = RaiseGroups<Rho>;
    type Others = RaiseGroups<Rho>;
    type Made = ();

    fn offer(
        &mut self,
        asking: &mut Asking<'a>,
        _: Again,
    ) -> Result<Offer<RaiseGroups<Rho>, RaiseGroups<Rho>, ()>, EngineError> {
        let path = self.state.bundle.id();
        // Levels first, and then the points, as for the groups.
        let levels = asking.levels(path)?;
        if let Some(stored) = asking.context.ledger().path(path).wait()? {
            if let Some(holder) = stored.holder {
                return Ok(Offer::Held(path, holder));
            }
            asking.go_on(&mut self.state, stored.state.as_deref())?;
        }
        self.family = None;
        let Some(mut others) = self.offers(asking, &levels)? else { return Ok(Offer::Moved) };
        if others.is_empty() {
            return Ok(Offer::Made(()));
        }
        let (_, own) = others.remove(0);
        let request = asking.context.next_request()?;
        Ok(Offer::Charge { request, own, others, path: Some(path) })
    }

    fn still_holds(&mut self, asking: &mut Asking<'a>) -> Result<bool, EngineError> {
        // Somebody else has seen more of them with other bounds: nothing is drawn.
        if asking.family_holds(self.family.as_ref()).is_err() {
            return Ok(false);
        }
        let stored = asking.context.ledger().path(self.state.bundle.id()).wait()?;
        self.state.is_at(stored.and_then(|path| path.state).as_deref())
    }

    fn draw(
        &mut self,
        asking: &mut Asking<'a>,
        own: Receipt<GroupRaise<Rho>>,
        others: Vec<Receipt<GroupRaise<Rho>>>,
    ) -> Result<Drawn<()>, EngineError> {
        let Self { state, cells, prices, .. } = self;
        let (increment, points) = (own.purchase().increment(), state.bundle.points());
        let receipts = || std::iter::once(&own).chain(&others);
        let paid = asking.context.payers().iter().zip(receipts()).map(|(account, receipt)| {
            let steps = receipt.purchase().steps().iter();
            (account.name.clone(), steps.map(|step| (step.group(), step.to())).collect())
        });
        let paid: Vec<Paid> = paid.collect();
        for (prices, receipt) in prices.iter_mut().zip(receipts()) {
            prices.keep(receipt).map_err(EngineError::damaged)?;
        }
        let seen = others.first().unwrap_or(&own).purchase();
        let cost = seen.to().minus(seen.from()).unwrap_or(Amount::ZERO);
        asking.spent = asking.spent.plus(cost).unwrap_or(Amount::MAX);
        if own.purchase().steps().iter().any(|step| step.to() > step.from()) {
            let truth = asking.read_rows(cost)?.cut_counts(cells.cells());
            let drawn = state.bundle.refine(&truth, own, &mut asking.context.entropy);
            drawn.map_err(|mismatch| EngineError::damaged(mismatch.to_string()))?;
        }
        // The analyst's own points; what its circles paid for is the same or coarser.
        if let Some(receipt) = others.into_iter().next() {
            let drawn = state.bundle.coarsen(receipt, &mut asking.context.entropy);
            drawn.map_err(|mismatch| EngineError::damaged(mismatch.to_string()))?;
        }
        state.pay(paid.iter().map(|(account, steps)| (account, steps)))?;
        let alone = |account: &str| {
            let place = asking.context.payers().iter().position(|payer| payer.name == account)?;
            prices.get(place).map(GroupPrices::price_seen)
        };
        let weights = GroupWeights::touching(cells.touched(), PLAIN);
        let added = Added { increment, points, paid, answer: None };
        let Written { head, round } = state.add_round(added, alone, &weights)?;
        Ok(Drawn { body: Vec::new(), state: Some(head), round: Some(round), made: () })
    }
}

impl CutRound<'_> {
    /// What every account is charged, the unit's first; nothing if no account is charged anything;
    /// none if somebody else was faster.
    fn offers(
        &mut self,
        asking: &Asking<'_>,
        levels: &[Amount<Rho>],
    ) -> Result<Option<Offers>, EngineError> {
        let family = asking.cut_family()?;
        let Self { state, cells, .. } = self;
        let touched = cells.touched();
        let weights = GroupWeights::touching(touched, PLAIN);
        let own = &asking.context.own().name;
        let mut all_prices = Vec::new();
        for (account, &recorded) in asking.context.payers().iter().zip(levels) {
            let prices = state.prices(&account.name, recorded, &weights);
            let prices = prices.map_err(EngineError::damaged)?;
            if prices.price() > recorded {
                return Ok(None);
            }
            all_prices.push(prices);
        }
        // Nobody sees more than its own account allows, and what was lost stays paid.
        let place = asking.context.payers().iter().position(|account| account.name == *own);
        let Some(prices) = place.and_then(|place| all_prices.get(place)) else { return Ok(None) };
        let paid = prices.price();
        let most = paid.plus(asking.cut_room()?).unwrap_or(Amount::MAX).min(self.price);
        let lost = paid.minus(prices.price_seen()).unwrap_or(Amount::ZERO);
        let each = most.minus(lost).unwrap_or(Amount::ZERO).grains() / u128::from(touched.get());
        let before = prices.group(0).unwrap_or(Amount::ZERO);
        let each = match &family {
            Some(family) => {
                let seen = asking.seen_of(family, state.bundle.id())?;
                each.min(family.furthest(seen).max(before).grains())
            }
            None => each,
        };
        let (bundle, steps) = (state.bundle.id(), state.bundle.step_prices());
        let count = u32::try_from(cells.cells().len()).unwrap_or(u32::MAX);
        let mut offers = Vec::new();
        let (mut reached, mut is_raised) = (Amount::ZERO, false);
        for (index, (account, prices)) in
            asking.context.payers().iter().zip(&mut all_prices).enumerate()
        {
            let now = prices.group(0).unwrap_or(Amount::ZERO);
            let more = each.saturating_sub(now.grains());
            let is_crumb = more == 0 || more < now.grains() / LEAST_STEP_ONE_IN;
            let mut round = prices.round();
            for cell in 0..count {
                let raised = if index > 0 {
                    let to = Amount::from_grains(each).min(reached);
                    if to > now && !is_crumb { round.raise(cell, to) } else { Ok(()) }
                } else if is_crumb || more < steps.0.grains() {
                    Ok(())
                } else {
                    take_further(&mut round, cell, Amount::from_grains(each), steps)
                };
                raised.map_err(EngineError::damaged)?;
            }
            let to = round.group(0).unwrap_or(Amount::ZERO);
            is_raised |= to > now;
            if index == 0 {
                reached = to;
            }
            offers.push((account.name.clone(), round.offer(bundle)));
        }
        if !is_raised {
            return Ok(Some(Vec::new()));
        }
        // Nothing is charged that cannot be drawn.
        let own = offers.first().map_or(&[][..], |(_, offer)| offer.steps());
        let seen = offers.get(1).map_or(&[][..], |(_, offer)| offer.steps());
        state.bundle.prepare(own, seen).map_err(EngineError::Undrawable)?;
        let steps = place.and_then(|place| offers.get(place)).map(|(_, offer)| offer.steps());
        let to = steps.and_then(|steps| steps.iter().map(GroupStep::to).max()).unwrap_or(before);
        let offers = offers.into_iter().map(|(name, offer)| (name, RaiseGroups::new(offer)));
        let mut offers: Offers = offers.collect();
        if let Some(family) = family {
            match asking.seen_up_to(&family, bundle, (before, to)) {
                Ok(None) => {}
                Ok(Some(seen)) => {
                    offers.push(seen);
                    self.family = Some(family);
                }
                // Somebody else has just seen more of them with other bounds.
                Err(EngineError::Beyond(_)) => return Ok(Some(Vec::new())),
                Err(error) => return Err(error),
            }
        }
        self.prices = all_prices;
        Ok(Some(offers))
    }
}
