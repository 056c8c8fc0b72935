//! What an account pays for steps that somebody else drew.
//!
//! It sees the same run, so it pays the same price: the worst case of a step is set aside before
//! the step is looked at, whatever its verdict, and at the end what the run came to stays. Several
//! programs may show steps of one run to one account, each step paid by one of them: a step adds
//! what the price of the run rose by, so all together pay for the run.

use eke_budget::purchase::{Round, Rounds, Settlement};
use eke_budget::{Amount, Epsilon, Purchase as _, Receipt, Refusal};
use eke_ledger::{Item, Reserve, Spend};
use eke_noise::select::LineLaw;

use super::Charging;
use super::law::Law;
use super::run::settle;
use super::session::{Session, Step, whole};
use super::stored::StoredStep;
use crate::ask::shown::answer::rho_of;
use crate::error::EngineError;
use crate::purchase::{self, Again, Bought, Buyer as _, Drawn, Offer, Order};

/// What an account pays for a run.
#[derive(Default)]
pub(super) struct Viewing {
    /// The step that the run began with; none before the first.
    run: Option<u64>,
    /// What is set aside here.
    rounds: Option<Rounds>,
    /// What the steps that are paid for here have come to.
    own: Amount<Epsilon>,
}

impl Viewing {
    /// Whether a step belongs to another run than the one that is looked at.
    pub(super) fn is_other_run(&self, step: &StoredStep) -> bool {
        self.run.is_some_and(|run| run != step.run)
    }

    /// What has to be set aside before a step is looked at, beyond what is.
    ///
    /// - Theorem: ex-post-filter (docs/theorems.md)
    /// - Proves: what all programs have set aside or paid for the run is at least the worst that
    ///   the step can come to, and in the end at least what the run came to
    /// - Assumes: accounts that paid for a step elsewhere paid what the run's price rose by (this
    ///   file); prices are those of the law (`eke-select`)
    /// - Deviates: a price that falls by a rounding counts as one that does not rise
    /// - Checked by: `a_viewer_of_stored_steps_pays_what_they_came_to`,
    ///   `members_of_a_circle_pay_for_a_run_together`
    pub(super) fn needed(&self, step: &StoredStep, law: &Law) -> Amount<Epsilon> {
        let worst = law.line.worst(step.place());
        // What came before is paid for, here or elsewhere.
        let rise = worst.minus(before(step, law)).unwrap_or(Amount::ZERO);
        let needed = self.own.plus(rise).unwrap_or(Amount::MAX);
        let here = self.rounds.as_ref().map_or(Amount::ZERO, Rounds::worst);
        needed.minus(here).unwrap_or(Amount::ZERO)
    }

    /// Looks at a step that was set aside for here.
    pub(super) fn paid_here(
        &mut self,
        step: &StoredStep,
        law: &Law,
        round: Round,
    ) -> Result<(), EngineError> {
        self.run = Some(step.run);
        match &mut self.rounds {
            None => self.rounds = Some(Rounds::new(round)),
            Some(rounds) => {
                rounds.add(round).map_err(EngineError::damaged)?;
            }
        }
        self.own = self.own.plus(risen(step, law)).unwrap_or(Amount::MAX);
        Ok(())
    }

    /// Looks at a step that was paid for elsewhere.
    pub(super) fn paid_elsewhere(&mut self, step: &StoredStep) {
        self.run = Some(step.run);
    }

    /// What the steps that are paid for here have come to.
    pub(super) fn price(&self) -> Amount<Epsilon> {
        self.own
    }

    /// Ends the run: what it came to, and the settlements.
    pub(super) fn end(&mut self) -> Result<(Amount<Epsilon>, Vec<Settlement>), EngineError> {
        let Self { rounds, own, .. } = std::mem::take(self);
        let settlements = match rounds {
            None => Vec::new(),
            Some(rounds) => rounds.settle_at(own).map_err(EngineError::damaged)?,
        };
        Ok((own, settlements))
    }
}

impl Session<'_> {
    /// Looks at a step that is stored, once the asker's accounts have paid for it.
    pub(super) fn view(&mut self, stored: StoredStep) -> Result<Step, EngineError> {
        // Otherwise something was stored that was not drawn in turn.
        let follows = stored.follows(self.last.as_ref());
        if stored.plan != self.digest(stored.step) || !follows {
            return Err(EngineError::damaged("its steps contradict each other"));
        }
        if let Some(bought) = stored.bought {
            self.prospect.check_tier(bought)?;
        }
        self.end_viewings(|viewing| viewing.is_other_run(&stored))?;
        let mut owing = Vec::new();
        for (index, account) in self.context.payers().others.iter().enumerate() {
            let drew = stored.payers.contains(&account.name);
            if !drew && !self.name.has_paid(self.ledger(), &stored, &account.name)? {
                owing.push(index);
            } else {
                self.viewings[index].paid_elsewhere(&stored);
            }
        }
        let refusal = match self.question.charging {
            Charging::ExPost => self.pay_step(&stored, &owing)?,
            Charging::ExAnte if stored.place() == 1 => self.pay_run(&stored, &owing)?,
            Charging::ExAnte => None,
        };
        Ok(match refusal {
            Some(refusal) => Err(self.refused(&refusal)),
            None => Ok(stored),
        })
    }

    /// Sets aside what a stored step may cost, in accounts that did not pay when it was drawn. Its
    /// verdict has no part in it.
    fn pay_step(
        &mut self,
        stored: &StoredStep,
        owing: &[usize],
    ) -> Result<Option<Refusal>, EngineError> {
        let law = &self.prospect.law;
        let wants: Vec<Reserve> = owing
            .iter()
            .map(|&index| self.viewings[index].needed(stored, law))
            .map(|worst| Reserve { worst, delta: Amount::ZERO })
            .collect();
        // All of them or none.
        for (&index, want) in owing.iter().zip(&wants) {
            let account =
                self.ledger().account(&self.context.payers().others[index].name).wait()?;
            if let Some(mut account) = account
                && let Err(refusal) = account.reserve(want.worst, want.delta)
            {
                return Ok(Some(refusal));
            }
        }
        if !owing.is_empty() {
            self.confirm(self.prospect.plans.len() as u64 - stored.step)?;
        }
        for (done, (&index, want)) in owing.iter().zip(wants).enumerate() {
            let account = &self.context.payers().others[index].name;
            match self.pay(stored, account, &want)? {
                Ok(Some(round)) => self.viewings[index].paid_here(stored, law, round)?,
                Ok(None) => self.viewings[index].paid_elsewhere(stored),
                Err(refusal) => {
                    // Somebody was faster. The accounts that have paid for this step will not see
                    // it now, and it stays paid.
                    for &index in &owing[..done] {
                        self.viewings[index] = Viewing::default();
                    }
                    return Ok(Some(refusal));
                }
            }
        }
        Ok(None)
    }

    /// Charges a run that is stored to accounts that did not pay when it was drawn, before its
    /// first step is looked at.
    fn pay_run(
        &mut self,
        stored: &StoredStep,
        owing: &[usize],
    ) -> Result<Option<Refusal>, EngineError> {
        let law = &self.prospect.law;
        let charge = whole(law, stored.bought.unwrap_or(1))?.charge();
        for &index in owing {
            let account =
                self.ledger().account(&self.context.payers().others[index].name).wait()?;
            if let Some(mut account) = account
                && let Err(refusal) = account.approve(charge)
            {
                return Ok(Some(refusal));
            }
        }
        if !owing.is_empty() {
            self.confirm(stored.bought.unwrap_or(1))?;
        }
        for &index in owing {
            let account = &self.context.payers().others[index].name;
            match self.pay(stored, account, &Spend(charge))? {
                Ok(Some(_)) if index == 0 => {
                    self.spent_rho = self.spent_rho.plus(rho_of(charge)).unwrap_or(Amount::MAX);
                }
                Ok(_) => {}
                Err(refusal) => return Ok(Some(refusal)),
            }
        }
        Ok(None)
    }

    /// Charges one account for a step that is stored; nothing if another program of it just did.
    fn pay<W: Item + Clone>(
        &mut self,
        stored: &StoredStep,
        account: &str,
        want: &W,
    ) -> Result<Result<Option<W::Bought>, Refusal>, EngineError> {
        let viewed = &mut Viewed { stored, account, want };
        Ok(match purchase::buy(self, viewed)? {
            Bought::Made(bought) => Ok(bought),
            Bought::Refused(refusal) => Err(refusal),
        })
    }

    /// Ends what accounts pay for runs of others, at what these came to.
    pub(super) fn end_viewings(
        &mut self,
        which: impl Fn(&Viewing) -> bool,
    ) -> Result<(), EngineError> {
        let mut all = Vec::new();
        for index in 0..self.viewings.len() {
            if !which(&self.viewings[index]) {
                continue;
            }
            let (price, settlements) = self.viewings[index].end()?;
            if index == 0 {
                self.spent = self.spent.plus(price).unwrap_or(Amount::MAX);
            }
            all.push((self.context.payers().others[index].name.clone(), settlements));
        }
        settle(all, self.ledger(), &self.stamp())
    }
}

/// What the run came to before a step.
fn before(step: &StoredStep, law: &Law) -> Amount<Epsilon> {
    match step.place() {
        0 | 1 => Amount::ZERO,
        place => law.line.stopped(place - 1),
    }
}

/// What the price of the run rose by with a step.
fn risen(step: &StoredStep, law: &Law) -> Amount<Epsilon> {
    let place = step.place();
    let after = if step.hit { law.line.halted(place) } else { law.line.stopped(place) };
    after.minus(before(step, law)).unwrap_or(Amount::ZERO)
}

/// A stored step that one account pays for.
struct Viewed<'v, W> {
    stored: &'v StoredStep,
    account: &'v str,
    want: &'v W,
}

impl<'a, W: Item + Clone> Order<'a, Session<'a>> for Viewed<'_, W> {
    type Own = W;
    type Others = W;
    type Made = Option<W::Bought>;

    fn offer(
        &mut self,
        session: &mut Session<'a>,
        again: Again,
    ) -> Result<Offer<W, W, Option<W::Bought>>, EngineError> {
        // Another program of the same account just paid.
        if again == Again::Taken {
            return Ok(Offer::Made(None));
        }
        let request = session.context.request(&session.name.payment(self.stored, self.account))?;
        let (account, own) = (self.account.to_owned(), self.want.clone());
        Ok(Offer::ChargeOne { request, account, own })
    }

    fn draw(
        &mut self,
        _: &mut Session<'a>,
        own: Receipt<W::Bought>,
        _: Vec<Receipt<W::Bought>>,
    ) -> Result<Drawn<Option<W::Bought>>, EngineError> {
        let body = format!("{{\"hit\":{}}}", self.stored.hit).into_bytes();
        Ok(Drawn { body, state: None, round: None, made: Some(own.redeem()) })
    }
}
