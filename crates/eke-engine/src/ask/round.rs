//! Rounds: what is charged, read, drawn and stored, in that order.
//!
//! A round takes some groups of a question further. The program that draws holds the paths, so that
//! two do not draw from the same points; what was charged and not stored is lost, and stays paid.

use eke_budget::purchase::{GroupError, GroupPrices, GroupRaise, GroupRound};
use eke_budget::{Amount, Charge, PathId, Receipt, Refusal, Rho};
use eke_ledger::store::Currencies;
use eke_ledger::{Key, RaiseGroups};

use crate::ask::family::Family;
use crate::ask::shown::answer::Answer;
use crate::ask::state::{Added, Paid, State, Written};
use crate::ask::walk::{LEAST_STEP_ONE_IN, Walk};
use crate::ask::{Asking, Followed};
use crate::error::EngineError;
use crate::policy::AccountSpec;
use crate::purchase::{self, Again, Bought, Drawn, Offer, Order};

/// What came of a round.
pub(crate) enum Round {
    /// It was taken, and stored.
    Taken(Followed),
    /// The budget does not allow it; nothing was charged.
    Refused(State, Refusal),
}

/// The most steps of one group that a round draws. A price that takes more is reached in further
/// rounds.
const STEPS: u128 = 64;

/// What accounts are charged, by their names.
pub(crate) type Offers = Vec<(String, RaiseGroups<Rho>)>;

/// The prices of the groups after some rounds, which the next one goes on from.
pub(crate) struct KnownPrices {
    /// The rounds that they are of.
    rounds: Option<(u32, u32)>,
    /// What each account pays for the groups, the unit's first.
    accounts: Vec<GroupPrices<Rho>>,
}

/// A round that is bought: some groups are taken further and looked at, for one charge; or the
/// answer is stored, for nothing.
struct Further<'r> {
    state: State,
    needed: &'r [(u32, Amount<Rho>)],
    walk: &'r mut Walk,
    /// What the accounts pay for each group, the unit's first.
    prices: Vec<GroupPrices<Rho>>,
    /// The request that it is charged to.
    request: Option<Key>,
    /// What the asker has seen of all paths that differ only in their bounds, if that is limited.
    family: Option<Family>,
}

impl<'a> Order<'a, Asking<'a>> for Further<'_> {
    type Own = RaiseGroups<Rho>;
    type Others = RaiseGroups<Rho>;
    type Made = Option<Box<Answer>>;

    fn offer(
        &mut self,
        asking: &mut Asking<'a>,
        _: Again,
    ) -> Result<Offer<RaiseGroups<Rho>, RaiseGroups<Rho>, Self::Made>, EngineError> {
        let path = self.state.bundle.id();
        // Levels first, and then the points: if nobody draws now, these are the prices of those
        // points, or of older ones, which the ledger refuses.
        let levels = asking.levels(path)?;
        if let Some(stored) = asking.context.ledger().path(path).wait()? {
            if let Some(holder) = stored.holder {
                return Ok(Offer::Held(path, holder));
            }
            asking.go_on(&mut self.state, stored.state.as_deref())?;
        }
        let Some(mut others) = self.offers(asking, &levels)? else { return Ok(Offer::Moved) };
        let (_, own) = others.remove(0);
        self.family = None;
        if let Some(family) = asking.question_family()?
            && let Some(seen) = asking.seen_up_to(&family, path, self.seen(asking))?
        {
            others.push(seen);
            self.family = Some(family);
        }
        let request = asking.context.next_request()?;
        self.request = Some(request.key().clone());
        Ok(Offer::Charge { request, own, others, path: Some(path) })
    }

    /// Were it changed since it was read, these would not be the prices of the points that there
    /// are, and what was charged would be lost.
    fn still_holds(&mut self, asking: &mut Asking<'a>) -> Result<bool, EngineError> {
        asking.family_holds(self.family.as_ref())?;
        let stored = asking.context.ledger().path(self.state.bundle.id()).wait()?;
        let stored = stored.and_then(|path| path.state);
        if self.state.is_at(stored.as_deref())? {
            return Ok(true);
        }
        let names = || asking.context.payers().iter().map(|account| &*account.name);
        let before: Vec<_> = names().map(|name| self.state.paid(name).to_vec()).collect();
        asking.go_on(&mut self.state, stored.as_deref())?;
        Ok(names().map(|name| self.state.paid(name)).eq(before.iter().map(Vec::as_slice)))
    }

    fn draw(
        &mut self,
        asking: &mut Asking<'a>,
        own: Receipt<GroupRaise<Rho>>,
        others: Vec<Receipt<GroupRaise<Rho>>>,
    ) -> Result<Drawn<Self::Made>, EngineError> {
        let Self { state, needed, walk, prices, request, .. } = self;
        let key = request.take().ok_or_else(|| EngineError::damaged("drawn without an offer"))?;
        let (increment, points) = (own.purchase().increment(), state.bundle.points());
        let receipts = std::iter::once(&own).chain(&others);
        let paid = asking.context.payers().iter().zip(receipts).map(|(account, receipt)| {
            let steps = receipt.purchase().steps().iter();
            (account.name.clone(), steps.map(|step| (step.group(), step.to())).collect())
        });
        let paid: Vec<Paid> = paid.collect();
        asking.draw(state, own, others, prices)?;
        state.pay(paid.iter().map(|(account, steps)| (account, steps)))?;
        let own = &asking.context.own().name;
        let seen = state.paid(own);
        walk.look_at(needed.iter().map(|&(group, _)| (group, seen[group as usize])), &state.bundle);
        let alone = |account: &str| {
            let place = asking.context.payers().iter().position(|payer| payer.name == account)?;
            prices.get(place).map(GroupPrices::price_seen)
        };
        // It is stored once it is known how many units were cut.
        let answer = walk.answer().filter(|_| !asking.cuts.is_wanted());
        let (answer, body, name) = match answer {
            None => (None, Vec::new(), None),
            Some(found) => {
                let found = asking.with_searched(&found);
                let of = asking.of(state, alone(own));
                let mut finished = asking.finish(of, &found, walk.looks())?;
                let body = finished.write(state.bundle.id(), &found)?;
                (Some(Box::new(finished.answer)), body, Some((asking.answer_name(), key)))
            }
        };
        let weights = asking.weights();
        let added = Added { increment, points, paid, answer: name };
        let Written { head, round } = state.add_round(added, alone, &weights)?;
        Ok(Drawn { body, state: Some(head), round: Some(round), made: answer })
    }
}

impl Further<'_> {
    /// The prices up to which the asker sees a column of some group, before this is bought and
    /// after it.
    fn seen(&self, asking: &Asking<'_>) -> (Amount<Rho>, Amount<Rho>) {
        let columns = self.state.bundle.columns().len().max(1) as u128;
        let own = self.prices.get(1).or(self.prices.first());
        let groups = 0..u32::try_from(self.state.groups.len()).unwrap_or(u32::MAX);
        let after = own.and_then(|prices| groups.filter_map(|one| prices.group(one)).max());
        let before = self.state.paid(&asking.context.own().name).iter().copied().max();
        let column = |group: Option<Amount<Rho>>| {
            let grains = group.map_or(0, |group| group.grains().div_ceil(columns));
            Amount::from_grains(grains)
        };
        (column(before), column(after.max(before)))
    }

    /// What every account is charged for the groups that are needed, the unit's first, once it is
    /// known that all of it can be drawn; none if somebody else was faster.
    fn offers(
        &mut self,
        asking: &mut Asking<'_>,
        levels: &[Amount<Rho>],
    ) -> Result<Option<Offers>, EngineError> {
        let Self { state, needed, .. } = self;
        let is_known =
            |known: &KnownPrices| known.rounds.is_some() && known.rounds == state.rounds();
        let known = asking.prices.take().filter(is_known);
        let mut known = known.map(|known| known.accounts.into_iter());
        let bundle = state.bundle.id();
        let weights = asking.weights();
        let steps = state.bundle.step_prices();
        let mut offers = Vec::new();
        let mut all_prices = Vec::new();
        // How far the unit's account takes each group.
        let mut reached: Vec<Amount<Rho>> = Vec::with_capacity(needed.len());
        for (index, (account, &recorded)) in asking.context.payers().iter().zip(levels).enumerate()
        {
            let known = known.as_mut().and_then(Iterator::next);
            let mut prices = match known.filter(|prices| prices.price() == recorded) {
                Some(prices) => prices,
                None => state
                    .prices(&account.name, recorded, &weights)
                    .map_err(|error| EngineError::Damaged(error.to_string()))?,
            };
            if prices.price() > recorded {
                return Ok(None);
            }
            let mut round = prices.round();
            for (place, &(group, price)) in needed.iter().enumerate() {
                let raised = if index == 0 {
                    let raised = take_further(&mut round, group, price, steps);
                    reached.push(round.group(group).unwrap_or(Amount::ZERO));
                    raised
                } else {
                    // Nobody sees more than there is.
                    let price = price.min(reached[place]);
                    let now = round.group(group).unwrap_or(Amount::ZERO);
                    if price > now { round.raise(group, price) } else { Ok(()) }
                };
                raised.map_err(|error| EngineError::Damaged(error.to_string()))?;
            }
            offers.push((account.name.clone(), round.offer(bundle)));
            all_prices.push(prices);
        }
        // Nothing is charged that cannot be drawn: all laws are made first.
        // The analyst's own points are drawn, and those of its circles are not.
        let own = offers.first().map_or(&[][..], |(_, offer)| offer.steps());
        let seen = offers.get(1).map_or(&[][..], |(_, offer)| offer.steps());
        state.bundle.prepare(own, seen).map_err(EngineError::Undrawable)?;
        self.prices = all_prices;
        let offers = offers.into_iter().map(|(name, offer)| (name, RaiseGroups::new(offer)));
        Ok(Some(offers.collect()))
    }
}

impl Asking<'_> {
    /// Takes some groups further and looks at them, for one charge; or stores the answer, for
    /// nothing.
    pub(crate) fn round(
        &mut self,
        state: State,
        needed: &[(u32, Amount<Rho>)],
        walk: &mut Walk,
    ) -> Result<Round, EngineError> {
        let (prices, request, family) = (Vec::new(), None, None);
        let mut further = Further { state, needed, walk, prices, request, family };
        let bought = purchase::buy(self, &mut further)?;
        let Further { state, prices: accounts, .. } = further;
        self.prices = Some(KnownPrices { rounds: state.rounds(), accounts });
        Ok(match bought {
            Bought::Made(answer) => Round::Taken(Followed { state, answer }),
            Bought::Refused(refusal) => Round::Refused(state, refusal),
        })
    }

    /// Draws what was paid for.
    fn draw(
        &mut self,
        state: &mut State,
        own: Receipt<GroupRaise<Rho>>,
        others: Vec<Receipt<GroupRaise<Rho>>>,
        prices: &mut [GroupPrices<Rho>],
    ) -> Result<(), EngineError> {
        let damaged = |reason: String| EngineError::Damaged(reason);
        for (prices, receipt) in prices.iter_mut().zip(std::iter::once(&own).chain(&others)) {
            prices.keep(receipt).map_err(|error| damaged(error.to_string()))?;
        }
        let price = |raise: &GroupRaise<Rho>| raise.to().minus(raise.from());
        let seen = others.first().map_or(&own, |receipt| receipt);
        let paid = price(seen.purchase()).unwrap_or(Amount::ZERO);
        self.spent = self.spent.plus(paid).unwrap_or(Amount::MAX);
        if own.purchase().steps().iter().any(|step| step.to() > step.from()) {
            let truth = match self.truth.take() {
                Some(truth) => truth,
                None => {
                    let truth = self.read_rows(paid)?.columns(&state.groups);
                    truth.map_err(|error| {
                        self.context.unread(error, |error| EngineError::Rows(error, paid))
                    })?
                }
            };
            state
                .bundle
                .refine(&truth, own, &mut self.context.entropy)
                .map_err(|mismatch| damaged(mismatch.to_string()))?;
            self.truth = Some(truth);
        }
        // The analyst's own points; what its circles paid for is the same or coarser.
        if let Some(receipt) = others.into_iter().next() {
            state
                .bundle
                .coarsen(receipt, &mut self.context.entropy)
                .map_err(|mismatch| damaged(mismatch.to_string()))?;
        }
        Ok(())
    }

    /// What each account has paid for the paths.
    pub(crate) fn levels(&self, bundle: PathId) -> Result<Vec<Amount<Rho>>, EngineError> {
        let level = |account: &AccountSpec| {
            let level =
                self.context.ledger().level(&account.name, bundle, Currencies::Rho).wait()?;
            Ok(match level.map(|level| level.at) {
                Some(Charge::Zcdp { rho, .. }) => rho,
                _ => Amount::ZERO,
            })
        };
        self.context.payers().iter().map(level).collect()
    }
}

/// Takes a group further for the unit's account: by no step that is too small to be drawn, and by
/// several where one would be too fine.
pub(crate) fn take_further(
    round: &mut GroupRound<'_, Rho>,
    group: u32,
    price: Amount<Rho>,
    (least, most): (Amount<Rho>, Amount<Rho>),
) -> Result<(), GroupError> {
    let now = round.group(group).unwrap_or(Amount::ZERO).grains();
    let Some(more) = price.grains().checked_sub(now).filter(|&more| more > 0) else {
        return Ok(());
    };
    let is_crumb = more < now / LEAST_STEP_ONE_IN;
    let more = if is_crumb { now / 20 + 1 } else { more }.max(least.grains());
    let most = most.grains().max(1);
    let count = more.div_ceil(most).min(STEPS);
    let more = more.min(most.saturating_mul(count));
    for step in 1..=count {
        // Divided evenly, and the last one where it ends.
        let to = if step == count { more } else { more / count * step };
        round.raise(group, Amount::from_grains(now.saturating_add(to)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use eke_budget::{Adjacency, L1, Metric};
    use eke_noise::Bundle;
    use eke_noise::path::{Column, step_prices};
    use proptest::prelude::*;
    use std::num::NonZeroU32;

    proptest! {
        /// Whatever a group is taken from and to, every step of every column can be drawn, and the
        /// group gets as far as was asked for, or as far as a round takes it.
        #[test]
        fn a_group_is_taken_further_by_steps_that_can_be_drawn(
            sensitivities in prop::collection::vec(0u32..24, 1..4),
            from in prop::option::of(-30.0f64..3.0),
            to in -30.0f64..3.0,
        ) {
            let columns: Vec<Column> = sensitivities
                .iter()
                .map(|&bits| Column { sensitivity: L1::new(f64::from(1u32 << bits)).unwrap(), share: 1 })
                .collect();
            let range = step_prices(&columns);
            let bundle = Bundle::<Rho>::open(PathId::new([1; 32]), columns, 1).unwrap();
            let price = |log: f64| Amount::<Rho>::ceil(10f64.powf(log)).unwrap();
            let from = from.map_or(Amount::ZERO, price);
            let metric = Metric::Hamming(Adjacency::AddRemove);
            let mut prices = GroupPrices::at(&[from], NonZeroU32::MIN, metric).unwrap();
            let mut round = prices.round();
            take_further(&mut round, 0, price(to), range).unwrap();
            let reached = round.group(0).unwrap();
            let offer = round.offer(bundle.id());
            prop_assert_eq!(bundle.prepare(offer.steps(), &[]), Ok(()));
            let furthest = range.1.grains().saturating_mul(STEPS).saturating_add(from.grains());
            prop_assert!(reached >= price(to).min(Amount::from_grains(furthest)).max(from));
        }
    }
}
