//! Rounds: what is charged, read, drawn and stored, in that order.
//!
//! A round takes some groups of a question further. Whoever draws holds the paths, so that two do not draw from the
//! same points; what was charged and not stored is lost, and stays paid.

use eke_budget::{Amount, Charge, GroupPrices, PathError, PathId, Receipt, Refusal, Rho};
use eke_ledger::{
    Answer as Body, Charged, Currencies, Key, LedgerError, Outcome, RaiseGroups, Request,
};
use eke_noise::{Columns, Exact};

use crate::ask::Asking;
use crate::error::EngineError;
use crate::policy::AccountSpec;
use crate::state::State;
use crate::walk::{CRUMB, Walk};

/// What came of a round.
pub(crate) enum Round {
    /// It was taken, and stored.
    Taken(State),
    /// The budget does not allow it; nothing was charged.
    Refused(State, Refusal),
}

type Bought = eke_budget::GroupRaise<Rho>;

enum Attempt {
    Charged(Box<Charged<Bought, Bought>>, Vec<GroupPrices<Rho>>),
    Refused(Refusal),
    /// Somebody else was faster: look again.
    Moved,
}

impl Asking<'_> {
    /// Takes some groups further and looks at them, for one charge; or stores the answer, for nothing.
    pub(crate) fn round(
        &mut self,
        mut state: State,
        needed: &[(u32, Amount<Rho>)],
        walk: &mut Walk,
    ) -> Result<Round, EngineError> {
        let engine = self.engine;
        let mut patience = engine.patience();
        let (charged, mut prices) = loop {
            // Levels first, and then the points: if nobody draws now, these are the prices of those points, or of
            // older ones, which the ledger refuses.
            let levels = self.levels(state.bundle.id())?;
            let stored = self.ledger().path(state.bundle.id()).wait()?;
            if let Some(holder) = stored.and_then(|path| path.holder) {
                self.wait_for(state.bundle.id(), &holder)?;
                continue;
            }
            state = self.load(&state.groups)?.unwrap_or(state);
            match self.charge(&state, &levels, needed)? {
                Attempt::Charged(charged, prices) => {
                    // Nobody else changes it from here on. Were it changed since it was read, these would not be
                    // the prices of the points that there are, and what was charged would be lost.
                    let now = self.load(&state.groups)?.unwrap_or_else(|| state.clone());
                    let mut names = self.accounts().iter().map(|account| &account.name);
                    if names.all(|name| now.paid(name) == state.paid(name)) {
                        state = now;
                        break (charged, prices);
                    }
                    self.give_up(&state, charged.claim.key())?;
                }
                Attempt::Refused(refusal) => return Ok(Round::Refused(state, refusal)),
                // Others draw from the same paths all the time.
                Attempt::Moved if patience.again() => {}
                Attempt::Moved => return Err(EngineError::Unavailable),
            }
        };
        let Charged { own, others, claim } = *charged;
        let drawn = self.draw(&mut state, own, others, &mut prices);
        if let Err(error) = drawn {
            // What was paid for is lost; somebody else may go on.
            let _ = self.give_up(&state, claim.key());
            return Err(error);
        }
        for (account, prices) in self.accounts().iter().zip(&prices) {
            let groups = 0..u32::try_from(prices.len()).unwrap_or(u32::MAX);
            let paid = groups.map(|group| prices.group(group).unwrap_or(Amount::ZERO)).collect();
            state.paid.insert(account.name.clone(), paid);
        }
        let paid = state.paid(&self.own().name);
        for &(group, _) in needed {
            walk.look(group, &state.bundle, paid[group as usize]);
        }
        let body = match walk.answer() {
            None => Vec::new(),
            Some(found) => {
                state.answers.insert(self.answer_name(), found.clone());
                let answer = self.finish(Some(&state), &found, walk.looks())?;
                serde_json::to_vec(&answer).unwrap_or_default()
            }
        };
        let bytes =
            serde_json::to_vec(&state).map_err(|error| EngineError::Damaged(error.to_string()))?;
        let body = Body::new(body).with_state(bytes);
        self.ledger().answer(claim, body, self.stamp()).wait()?;
        Ok(Round::Taken(state))
    }

    /// Gives up a round that was charged and is not drawn.
    fn give_up(&self, state: &State, key: &Key) -> Result<(), EngineError> {
        let (unit, path) = (&self.unit().name, state.bundle.id());
        Ok(self.ledger().give_up(unit, path, key.clone(), self.stamp()).wait()?)
    }

    /// Draws what was paid for.
    fn draw(
        &mut self,
        state: &mut State,
        own: Receipt<eke_budget::GroupRaise<Rho>>,
        others: Vec<Receipt<eke_budget::GroupRaise<Rho>>>,
        prices: &mut [GroupPrices<Rho>],
    ) -> Result<(), EngineError> {
        let damaged = |reason: String| EngineError::Damaged(reason);
        for (prices, receipt) in prices.iter_mut().zip(std::iter::once(&own).chain(&others)) {
            prices.keep(receipt).map_err(|error| damaged(error.to_string()))?;
        }
        let price = |raise: &eke_budget::GroupRaise<Rho>| raise.to().minus(raise.from());
        let seen = others.first().map_or(&own, |receipt| receipt);
        let paid = price(seen.purchase()).unwrap_or(Amount::ZERO);
        self.spent = self.spent.plus(paid).unwrap_or(Amount::MAX);
        if own.purchase().steps().iter().any(|step| step.to() > step.from()) {
            let groups = state.groups.clone();
            let truth = self.read_rows(paid)?.columns(&groups);
            let truth: Exact<Columns> = truth.map_err(|error| self.unread(error, paid))?;
            state
                .bundle
                .refine(&truth, own, &mut self.entropy)
                .map_err(|mismatch| damaged(mismatch.to_string()))?;
        }
        // The analyst's own points; what its circles paid for is the same or coarser.
        if let Some(receipt) = others.into_iter().next() {
            state
                .bundle
                .coarsen(receipt, &mut self.entropy)
                .map_err(|mismatch| damaged(mismatch.to_string()))?;
        }
        Ok(())
    }

    /// Charges all accounts for the groups that are needed.
    fn charge(
        &mut self,
        state: &State,
        levels: &[Amount<Rho>],
        needed: &[(u32, Amount<Rho>)],
    ) -> Result<Attempt, EngineError> {
        let bundle = state.bundle.id();
        let (most, metric) = (self.most(), self.metric());
        let mut offers = Vec::new();
        let mut all_prices = Vec::new();
        for (index, (account, &recorded)) in self.accounts().iter().zip(levels).enumerate() {
            let mut prices = state
                .prices(&account.name, recorded, most, metric)
                .map_err(|error| EngineError::Damaged(error.to_string()))?;
            if prices.price() > recorded {
                return Ok(Attempt::Moved);
            }
            let mut round = prices.round();
            for &(group, price) in needed {
                let now = round.group(group).unwrap_or(Amount::ZERO);
                // The unit takes no step that is too small to be drawn.
                let is_crumb = price > now && price.grains() - now.grains() < now.grains() / CRUMB;
                let further = Amount::from_grains(now.grains() / 20 * 21 + 1);
                let price = if index == 0 && is_crumb { further } else { price };
                if price > now {
                    round
                        .raise(group, price)
                        .map_err(|error| EngineError::Damaged(error.to_string()))?;
                }
            }
            offers.push((&*account.name, RaiseGroups::new(round.offer(bundle))));
            all_prices.push(prices);
        }
        let (unit, own) = offers.remove(0);
        let request = self.request()?;
        match self.ledger().charge(request, unit, own, offers).wait() {
            Ok(Outcome::Charged(charged)) => Ok(Attempt::Charged(charged, all_prices)),
            Ok(Outcome::Answered(_)) => Ok(Attempt::Moved),
            Err(LedgerError::Refused(refusal)) => Ok(Attempt::Refused(refusal)),
            Err(LedgerError::UnderWay { path, holder }) => {
                self.wait_for(path, &holder)?;
                Ok(Attempt::Moved)
            }
            Err(LedgerError::Path(PathError::OutOfStep { .. })) => Ok(Attempt::Moved),
            Err(LedgerError::Moved(_)) => Ok(Attempt::Moved),
            Err(error) => Err(error.into()),
        }
    }

    /// What each account has paid for the paths.
    pub(crate) fn levels(&self, bundle: PathId) -> Result<Vec<Amount<Rho>>, EngineError> {
        let level = |account: &AccountSpec| {
            let level = self.ledger().level(&account.name, bundle, Currencies::Rho).wait()?;
            Ok(match level.map(|level| level.at) {
                Some(Charge::Zcdp { rho, .. }) => rho,
                _ => Amount::ZERO,
            })
        };
        self.accounts().iter().map(level).collect()
    }

    /// The next request of this question.
    pub(crate) fn request(&mut self) -> Result<Request, EngineError> {
        self.rounds += 1;
        let key = format!("{}/{}", self.name, self.rounds);
        Ok(Request::new(&key, self.stamp(), self.sql())?)
    }

    /// Waits for another program that draws from the same paths, and gives it up if it has ended.
    pub(crate) fn wait_for(&self, path: PathId, holder: &Key) -> Result<(), EngineError> {
        let unit = &self.unit().name;
        self.engine.wait_for_holder(unit, path, holder, self.stamp(), &|| Ok(false))
    }
}
