//! What an account pays for steps that somebody else drew.
//!
//! It sees the same run, so it pays the same price: the worst case of a step is set aside before the step is
//! looked at, whatever its verdict, and at the end what the run came to stays. Several programs may show steps of
//! one run to one account, each step paid by one of them: a step adds what the price of the run rose by, so all
//! together pay for the run.

use eke_budget::{Amount, Epsilon, Round, Rounds, Settlement};
use eke_noise::LineLaw;

use super::law::Law;
use super::stored::StoredStep;
use crate::error::EngineError;

/// What an account pays for a run.
pub(super) struct Viewing {
    /// The step that the run began with; none before the first.
    run: Option<u64>,
    /// What is set aside here.
    rounds: Option<Rounds>,
    /// What the steps that are paid for here have come to.
    own: Amount<Epsilon>,
    /// What the steps that were paid for elsewhere have come to at least.
    others: Amount<Epsilon>,
}

impl Viewing {
    pub(super) fn new() -> Self {
        Self { run: None, rounds: None, own: Amount::ZERO, others: Amount::ZERO }
    }

    /// Whether a step belongs to another run than the one that is looked at.
    pub(super) fn is_other_run(&self, step: &StoredStep) -> bool {
        self.run.is_some_and(|run| run != step.run)
    }

    /// What has to be set aside before a step is looked at, beyond what is.
    ///
    /// - Theorem: ex-post-filter (docs/theorems.md)
    /// - Proves: what all programs have set aside or paid for the run is at least the worst that the step can
    ///   come to, and in the end at least what the run came to
    /// - Assumes: whoever paid for a step elsewhere paid what the run's price rose by (this file); prices are those of
    ///   the law (`eke-select`)
    /// - Deviates: a price that falls by a rounding counts as one that does not rise
    /// - Checked by: `whoever_looks_at_stored_steps_pays_what_they_came_to`,
    ///   `members_of_a_circle_pay_for_a_run_together`
    pub(super) fn needed(&self, step: &StoredStep, law: &Law) -> Amount<Epsilon> {
        let worst = law.worst(step.place());
        let all = worst.minus(self.others).unwrap_or(Amount::ZERO);
        let rise = worst.minus(before(step, law)).unwrap_or(Amount::ZERO);
        let needed = all.max(self.own.plus(rise).unwrap_or(Amount::MAX));
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
                rounds.add(round).map_err(|error| EngineError::Damaged(error.to_string()))?;
            }
        }
        self.own = self.own.plus(risen(step, law)).unwrap_or(Amount::MAX);
        Ok(())
    }

    /// Looks at a step that was paid for elsewhere.
    pub(super) fn paid_elsewhere(&mut self, step: &StoredStep, law: &Law) {
        self.run = Some(step.run);
        self.others = self.others.plus(risen(step, law)).unwrap_or(Amount::MAX);
    }

    /// What the steps that are paid for here have come to.
    pub(super) fn price(&self) -> Amount<Epsilon> {
        self.own
    }

    /// Ends the run: what it came to, and the settlements.
    pub(super) fn end(&mut self) -> Result<(Amount<Epsilon>, Vec<Settlement>), EngineError> {
        let Self { rounds, own, .. } = std::mem::replace(self, Self::new());
        let settlements = match rounds {
            None => Vec::new(),
            Some(rounds) => {
                rounds.settle_at(own).map_err(|error| EngineError::Damaged(error.to_string()))?
            }
        };
        Ok((own, settlements))
    }

    /// Leaves all that is set aside where it is: a step was paid for, and is not shown.
    pub(super) fn forfeit(&mut self) {
        *self = Self::new();
    }
}

/// What the run came to before a step.
fn before(step: &StoredStep, law: &Law) -> Amount<Epsilon> {
    match step.place() {
        0 | 1 => Amount::ZERO,
        place => law.stopped(place - 1),
    }
}

/// What the price of the run rose by with a step.
fn risen(step: &StoredStep, law: &Law) -> Amount<Epsilon> {
    let place = step.place();
    let after = if step.hit { law.halted(place) } else { law.stopped(place) };
    after.minus(before(step, law)).unwrap_or(Amount::ZERO)
}
