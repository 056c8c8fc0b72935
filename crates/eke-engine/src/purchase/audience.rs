//! Audiences: those who see what an account has spent, and one question of theirs at a time.
//!
//! How long rows took must not show, so an answer to an analyst leaves on a slot. What it was
//! charged, and what was stored of it, would show before: to another program of the analyst, to
//! members of its circles, in budgets and histories. So a question of an analyst holds the accounts
//! that the analyst sees, from before it looks at them until its answer has left, and everybody
//! else who sees one of them waits for that. Nothing is held while the analyst is asked for a yes.
//!
//! A question whose program has ended is given up by the next one that wants to look. It counts as
//! a failure, because its asker saw that there was no answer by then.
//!
//! Mutants that tests must catch: accounts that are free once the answer is stored, a history or a
//! budget that does not wait, a circle that is not held, a lost question that is not counted.

use eke_ledger::store::Currencies;
use eke_ledger::{Claim, Stamp};

use super::circles::own_account;
use super::context::Context;
use super::request_key::{AccountDigest, RequestKey};
use super::turn::{Turn, turn_path};
use crate::ask::question::Who;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::policy::AccountSpec;

/// The accounts that a question of an analyst holds; none of the steward's.
#[derive(Default)]
#[must_use]
pub(crate) struct Audience {
    turns: Vec<Claim>,
}

/// What the turn of those who see an account is held under.
fn sight(account: &str) -> String {
    format!("seen/{}", AccountDigest::new(account))
}

impl Context<'_> {
    /// Holds the accounts that the analyst sees, once nobody else does.
    pub(crate) fn hold_audience(&mut self) -> Result<Audience, EngineError> {
        let mut held = Audience::default();
        // In one order, so that nobody waits for somebody who waits for them.
        let mut names: Vec<&str> = self.payers().others.iter().map(|one| &*one.name).collect();
        names.sort_unstable();
        for name in names {
            match self.hold_account(name) {
                Ok(turn) => held.turns.push(turn),
                Err(error) => {
                    self.leave_audience(held);
                    return Err(error);
                }
            }
        }
        Ok(held)
    }

    fn hold_account(&mut self, account: &str) -> Result<Claim, EngineError> {
        let name = sight(account);
        let mut patience = self.engine.patience();
        loop {
            // When it was taken is for machines that cannot tell whether its program still runs.
            let now = Stamp::now(self.who.name()).at.micros();
            let request = self.turn_request(&format!("{name}/{now}"))?;
            match self.engine.take_turn(&name, self.unit(), request)? {
                Turn::Own(turn) => return Ok(turn),
                Turn::Others(holder) => {
                    let waited = self.wait_for(turn_path(&name), &holder, &|| Ok(false));
                    waited.map_err(in_sight)?;
                }
                Turn::Unclear if patience.again() => {}
                Turn::Unclear => return Err(EngineError::Unavailable),
            }
        }
    }

    /// Lets others look. A turn that cannot be ended is given up when this program has ended.
    pub(crate) fn leave_audience(&self, held: Audience) {
        for turn in held.turns {
            let _ = self.engine.end_turn(turn, self.stamp());
        }
    }
}

impl Engine {
    /// Looks at what somebody may see of a unit's accounts, while no question is under way that
    /// they would see the moments of.
    pub(crate) fn undisturbed<T>(
        &self,
        unit: &str,
        who: &Who,
        mut look: impl FnMut() -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        if who.analyst().is_none() {
            return look();
        }
        let payers = self.policy().payers(unit, who.analyst())?;
        let mut patience = self.patience();
        loop {
            let before = self.takes(&payers.unit, &payers.others)?;
            for account in &payers.others {
                self.wait_in_sight(&payers.unit, account, who)?;
            }
            let found = look();
            // Whoever took a turn since may have been charged while this looked.
            if self.takes(&payers.unit, &payers.others)? == before {
                return found;
            }
            if !patience.again() {
                return Err(EngineError::InSight);
            }
        }
    }

    /// How often the turn of each account was taken.
    fn takes(&self, unit: &AccountSpec, seen: &[AccountSpec]) -> Result<Vec<u32>, EngineError> {
        let currency = match unit.budget.zcdp() {
            Some(_) => Currencies::Rho,
            None => Currencies::Epsilon,
        };
        let takes = |account: &AccountSpec| {
            let path = turn_path(&sight(&account.name));
            let level = self.ledger().level(&unit.name, path, currency).wait()?;
            Ok(level.map_or(0, |level| level.increments))
        };
        seen.iter().map(takes).collect()
    }

    fn wait_in_sight(
        &self,
        unit: &AccountSpec,
        account: &AccountSpec,
        who: &Who,
    ) -> Result<(), EngineError> {
        let path = turn_path(&sight(&account.name));
        while let Some(holder) = self.ledger().path(path).wait()?.and_then(|path| path.holder) {
            let stamp = Stamp::now(who.name());
            let waited = self.wait_for_holder(&unit.name, path, &holder, &stamp, &|| Ok(false));
            waited.map_err(in_sight)?;
        }
        Ok(())
    }

    /// Counts questions of analysts that were lost with their programs: for the steward, who may
    /// look before the analysts do.
    pub(crate) fn count_lost(&self, unit: &str) -> Result<(), EngineError> {
        let stamp = Stamp::now(Who::Steward.name());
        for analyst in self.policy().analysts.keys() {
            let path = turn_path(&sight(&own_account(unit, analyst)));
            let stored = self.ledger().path(path).wait()?;
            if let Some(holder) = stored.and_then(|path| path.holder) {
                self.give_up_lost(unit, path, &holder, &stamp)?;
            }
        }
        Ok(())
    }
}

/// The analyst whose own account a turn was held for, by the name of its request.
pub(crate) fn lost_question(unit: &str, request: &RequestKey) -> Option<String> {
    let RequestKey::Turn { asking, of, .. } = request else { return None };
    let analyst = asking.analyst.clone()?;
    // Turns of circles were taken beside it.
    let own = sight(&own_account(unit, &analyst));
    of.strip_prefix(&own).is_some_and(|rest| rest.starts_with('/')).then_some(analyst)
}

/// When a turn was taken, in microseconds, if it is one of an audience.
pub(crate) fn taken_at(request: &RequestKey) -> Option<i64> {
    let RequestKey::Turn { of, .. } = request else { return None };
    of.strip_prefix("seen/")?.rsplit_once('/')?.1.parse().ok()
}

/// An error while waiting for somebody in sight.
fn in_sight(error: EngineError) -> EngineError {
    match error {
        EngineError::UnderWay(_) => EngineError::InSight,
        error => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_question_counts_once_for_its_own_analyst() {
        let at = |account: &str, analyst: &str| {
            let of = sight(account);
            format!("b.1.2/0123~{analyst}/1/{of}/1794818842000000").parse::<RequestKey>().unwrap()
        };
        let own = at("riders/analyst/ana", "ana");
        assert_eq!(lost_question("riders", &own).as_deref(), Some("ana"));
        assert_eq!(lost_question("riders", &at("riders/circle/both", "ana")), None);
        assert_eq!(lost_question("riders", &at("riders/analyst/bob", "ana")), None);
        assert_eq!(lost_question("riders", &"b.1.2/0123~ana/7".parse().unwrap()), None);
        assert_eq!(taken_at(&own), Some(1_794_818_842_000_000));
        assert_eq!(taken_at(&"b.1.2/0123~ana/7/watch/99".parse().unwrap()), None);
    }
}
