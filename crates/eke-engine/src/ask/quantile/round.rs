//! A round of a search: charged, drawn and stored like any other.
//!
//! It takes some paths further, each at a cut of a group or at the number of its rows, for one
//! charge: the price of a group is the sum of its paths, and a unit pays for the groups that it
//! touches. Or it stores the answer, for nothing.

use std::sync::Arc;

use eke_budget::purchase::{GroupError, GroupRaise, PathPrices};
use eke_budget::{Amount, Receipt, Rho};
use eke_ledger::{Key, RaiseGroups};
use eke_sql::Value;

use crate::ask::Asking;
use crate::ask::family::Family;
use crate::ask::quantile::Wanted;
use crate::ask::round::Offers;
use crate::ask::shown::answer::Answer;
use crate::ask::state::{Added, Paid, State, Written};
use crate::ask::walk::LEAST_STEP_ONE_IN;
use crate::error::EngineError;
use crate::purchase::identity::Purpose;
use crate::purchase::{Again, Drawn, Offer, Order};
use crate::rows::Place;

/// The most steps of one path that a round draws. A price that takes more is reached in further
/// rounds.
const STEPS: u128 = 64;

/// Paths that are bought.
pub(crate) struct SearchRound {
    state: State,
    search: usize,
    wanted: Vec<Wanted>,
    /// What the accounts pay for each path, the unit's first.
    prices: Vec<PathPrices<Rho>>,
    /// The request that it is charged to.
    request: Option<Key>,
    /// What the asker has seen of all paths that differ only in their bounds, if that is limited.
    family: Option<Family>,
    /// Whether the answer is stored, which took so many looks.
    stores: Option<u32>,
}

impl SearchRound {
    pub(crate) fn new(state: State, search: usize, wanted: Vec<Wanted>) -> Self {
        let (prices, request, family, stores) = (Vec::new(), None, None, None);
        Self { state, search, wanted, prices, request, family, stores }
    }

    /// The same round, which stores the answer.
    pub(crate) fn storing(mut self, looks: u32) -> Self {
        self.stores = Some(looks);
        self
    }

    pub(crate) fn into_state(self) -> State {
        self.state
    }
}

impl<'a> Order<'a, Asking<'a>> for SearchRound {
    type Own = RaiseGroups<Rho>;
    type Others = RaiseGroups<Rho>;
    type Made = Option<Box<Answer>>;

    fn offer(
        &mut self,
        asking: &mut Asking<'a>,
        _: Again,
    ) -> Result<Offer<RaiseGroups<Rho>, RaiseGroups<Rho>, Self::Made>, EngineError> {
        let path = self.state.bundle.id();
        // Levels first, and then the points, as for the groups.
        let levels = asking.levels(path)?;
        if let Some(stored) = asking.context.ledger().path(path).wait()? {
            if let Some(holder) = stored.holder {
                return Ok(Offer::Held(path, holder));
            }
            asking.go_on(&mut self.state, stored.state.as_deref())?;
        } else {
            asking.go_on(&mut self.state, None)?;
        }
        let Some(mut others) = self.offers(asking, &levels)? else { return Ok(Offer::Moved) };
        let (_, own) = others.remove(0);
        self.family = None;
        if let Some(family) = asking.search_family(self.search)?
            && let Some(seen) = asking.seen_up_to(&family, path, self.seen(asking))?
        {
            others.push(seen);
            self.family = Some(family);
        }
        let request = asking.context.next_request()?;
        self.request = Some(request.key().clone());
        Ok(Offer::Charge { request, own, others, path: Some(path) })
    }

    fn still_holds(&mut self, asking: &mut Asking<'a>) -> Result<bool, EngineError> {
        asking.family_holds(self.family.as_ref())?;
        let stored = asking.context.ledger().path(self.state.bundle.id()).wait()?;
        self.state.is_at(stored.and_then(|path| path.state).as_deref())
    }

    fn draw(
        &mut self,
        asking: &mut Asking<'a>,
        own: Receipt<GroupRaise<Rho>>,
        others: Vec<Receipt<GroupRaise<Rho>>>,
    ) -> Result<Drawn<Self::Made>, EngineError> {
        let Self { state, search, prices, request, stores, .. } = self;
        let key = request.take().ok_or_else(|| EngineError::damaged("drawn without an offer"))?;
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
            let mut drawn = vec![false; state.bundle.groups()];
            for step in own.purchase().steps().iter().filter(|step| step.to() > step.from()) {
                drawn.iter_mut().skip(step.group() as usize).take(1).for_each(|is| *is = true);
            }
            let groups = Arc::clone(&state.groups);
            let cuts = state.cuts().map_or(&[][..], |cuts| cuts.all());
            let places = cuts.iter().zip(&drawn).map(|(&(group, place), &is_drawn)| {
                let group = groups.get(group as usize).filter(|_| is_drawn)?;
                Some((group.as_slice(), place))
            });
            let places: Vec<Option<(&[Value], Place)>> = places.collect();
            let truth = asking.read_rows(cost)?.places(*search, &places);
            let truth = truth.map_err(|error| {
                asking.context.unread(error, |error| EngineError::Rows(error, cost))
            })?;
            let refined = state.bundle.refine(&truth, own, &mut asking.context.entropy);
            refined.map_err(|mismatch| EngineError::damaged(mismatch.to_string()))?;
        }
        // The analyst's own points; what its circles paid for is the same or coarser.
        if let Some(receipt) = others.into_iter().next() {
            let drawn = state.bundle.coarsen(receipt, &mut asking.context.entropy);
            drawn.map_err(|mismatch| EngineError::damaged(mismatch.to_string()))?;
        }
        state.pay(paid.iter().map(|(account, steps)| (account, steps)))?;
        let alone = |account: &str| {
            let place = asking.context.payers().iter().position(|payer| payer.name == account)?;
            prices.get(place).map(PathPrices::price_seen)
        };
        let (answer, body, name) = match *stores {
            None => (None, Vec::new(), None),
            Some(looks) => {
                let found = asking.with_searched(&[]);
                let of = asking.of(state, alone(&asking.context.own().name));
                let mut finished = asking.finish(of, &found, looks)?;
                let body = finished.write(state.bundle.id(), &found)?;
                (Some(Box::new(finished.answer)), body, Some((asking.answer_name(), key)))
            }
        };
        let weights = asking.search_weights(*search);
        let added = Added { increment, points, paid, answer: name };
        let Written { head, round } = state.add_round(added, alone, &weights)?;
        Ok(Drawn { body, state: Some(head), round: Some(round), made: answer })
    }
}

impl SearchRound {
    /// The prices up to which the asker sees a path, before this is bought and after it.
    fn seen(&self, asking: &Asking<'_>) -> (Amount<Rho>, Amount<Rho>) {
        let own = self.prices.get(1).or(self.prices.first());
        let paths = 0..u32::try_from(self.state.bundle.groups()).unwrap_or(u32::MAX);
        let after = own.and_then(|prices| paths.filter_map(|path| prices.path(path)).max());
        let before = self.state.paid(&asking.context.own().name).iter().copied().max();
        let zero = Amount::ZERO;
        (before.unwrap_or(zero), after.max(before).unwrap_or(zero))
    }

    /// What every account is charged for the paths that are wanted, the unit's first, once it is
    /// known that all of it can be drawn; none if somebody else was faster.
    fn offers(
        &mut self,
        asking: &Asking<'_>,
        levels: &[Amount<Rho>],
    ) -> Result<Option<Offers>, EngineError> {
        let Self { state, search, wanted, .. } = self;
        let mut paths = Vec::with_capacity(wanted.len());
        for &(group, place, price) in wanted.iter() {
            paths.push((state.cut(group, place)?, price));
        }
        let weights = asking.search_weights(*search);
        let (bundle, steps) = (state.bundle.id(), state.bundle.step_prices());
        let (mut offers, mut all_prices) = (Vec::new(), Vec::new());
        // How far the unit's account takes each path.
        let mut reached: Vec<Amount<Rho>> = Vec::with_capacity(paths.len());
        for (index, (account, &recorded)) in asking.context.payers().iter().zip(levels).enumerate()
        {
            let prices = state.path_prices(&account.name, recorded, &weights);
            let mut prices = prices.map_err(EngineError::damaged)?;
            if prices.price() > recorded {
                return Ok(None);
            }
            prices.begin();
            for (at, &(path, price)) in paths.iter().enumerate() {
                let raised = if index == 0 {
                    let raised = take_further(&mut prices, path, price, steps);
                    reached.push(prices.path(path).unwrap_or(Amount::ZERO));
                    raised
                } else {
                    // Nobody sees more than there is.
                    let price = price.min(reached[at]);
                    let now = prices.path(path).unwrap_or(Amount::ZERO);
                    if price > now { prices.raise(path, price) } else { Ok(()) }
                };
                raised.map_err(EngineError::damaged)?;
            }
            offers.push((account.name.clone(), prices.offer(bundle)));
            all_prices.push(prices);
        }
        // Nothing is charged that cannot be drawn: all laws are made first. The analyst's own
        // points are drawn, and those of its circles are not.
        let own = offers.first().map_or(&[][..], |(_, offer)| offer.steps());
        let seen = offers.get(1).map_or(&[][..], |(_, offer)| offer.steps());
        state.bundle.prepare(own, seen).map_err(EngineError::Undrawable)?;
        self.prices = all_prices;
        let offers = offers.into_iter().map(|(name, offer)| (name, RaiseGroups::new(offer)));
        Ok(Some(offers.collect()))
    }
}

impl Asking<'_> {
    /// The family of a search's paths; none if nothing limits how far they are seen.
    pub(crate) fn search_family(&self, search: usize) -> Result<Option<Family>, EngineError> {
        let plan = self.context.prepared.query.searching(search);
        self.family(Purpose::Search, &plan, "")
    }
}

/// Takes a path further for the unit's account: by no step that is too small to be drawn, and by
/// several where one would be too fine.
fn take_further(
    prices: &mut PathPrices<Rho>,
    path: u32,
    price: Amount<Rho>,
    (least, most): (Amount<Rho>, Amount<Rho>),
) -> Result<(), GroupError> {
    let now = prices.path(path).unwrap_or(Amount::ZERO).grains();
    let Some(more) = price.grains().checked_sub(now).filter(|&more| more > 0) else {
        return Ok(());
    };
    let is_crumb = more < now / LEAST_STEP_ONE_IN;
    let more = if is_crumb { now / LEAST_STEP_ONE_IN + 1 } else { more }.max(least.grains());
    let most = most.grains().max(1);
    let count = more.div_ceil(most).min(STEPS);
    let more = more.min(most.saturating_mul(count));
    for step in 1..=count {
        // Divided evenly, and the last one where it ends.
        let to = if step == count { more } else { more / count * step };
        prices.raise(path, Amount::from_grains(now.saturating_add(to)))?;
    }
    Ok(())
}
