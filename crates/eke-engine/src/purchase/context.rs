//! What questions and watches have in common: who asks what of which rows, who pays, and what may
//! be said when something does not work.
//!
//! Everything that depends on who asks is decided here. An analyst hears nothing of why rows could
//! not be read, which counts as a failure instead (rule 10), and sees no numbers of other accounts.
//! Errors leave through [`Engine::as_seen_by`] alone.

use eke_budget::{PathId, Refusal};
use eke_ledger::{Key, Ledger, Request, Stamp};
use eke_noise::SystemEntropy;
use eke_sql::Plan;

use super::payers::Payers;
use super::request_key::{AskingName, RequestKey};
use crate::ask::observer::Observer;
use crate::ask::question::Who;
use crate::engine::{Engine, Prepared};
use crate::error::{EngineError, Limit, Refused};
use crate::policy::AccountSpec;
use crate::rows::{Bounded, RowsError};

/// A question or a watch, while it is answered.
pub(crate) struct Context<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) prepared: &'a Prepared,
    pub(crate) who: &'a Who,
    pub(crate) sql: &'a str,
    pub(crate) observer: &'a dyn Observer,
    pub(crate) entropy: SystemEntropy,
    /// What its requests are called.
    name: AskingName,
    /// How many there were.
    requests: u32,
    /// Who asks, and when they did.
    stamp: Stamp,
}

/// Whose refusal an asker is shown.
pub(crate) enum RefusedBy {
    /// The unit's account, of whose numbers an analyst sees none.
    Unit,
    /// An account whose numbers the asker may see.
    Own,
}

impl<'a> Context<'a> {
    pub(crate) fn new(
        engine: &'a Engine,
        prepared: &'a Prepared,
        (who, sql): (&'a Who, &'a str),
        observer: &'a dyn Observer,
    ) -> Result<Self, EngineError> {
        let entropy =
            SystemEntropy::new().map_err(|error| EngineError::Entropy(error.to_string()))?;
        let name = AskingName::new(who).map_err(|error| EngineError::Entropy(error.to_string()))?;
        let stamp = Stamp::now(who.name());
        Ok(Self { engine, prepared, who, sql, observer, entropy, name, requests: 0, stamp })
    }

    pub(crate) fn ledger(&self) -> &'a Ledger {
        self.engine.ledger()
    }

    /// Who asks, and when they did. What is written on the way to an answer bears this moment, and
    /// not its own: histories show moments to analysts, and how long rows took is between them.
    pub(crate) fn stamp(&self) -> Stamp {
        self.stamp.clone()
    }

    /// The asker starts anew: nothing has been read since, or an answer has left.
    pub(crate) fn begin(&mut self) {
        self.stamp = Stamp::now(self.who.name());
    }

    /// The accounts that pay.
    pub(crate) fn payers(&self) -> &'a Payers {
        &self.prepared.payers
    }

    pub(crate) fn unit(&self) -> &'a AccountSpec {
        &self.payers().unit
    }

    /// The account whose points are seen: the analyst's own, or the unit's.
    pub(crate) fn own(&self) -> &'a AccountSpec {
        self.payers().own()
    }

    /// The budget that the asker hears of.
    pub(crate) fn budget_name(&self) -> String {
        match self.who {
            Who::Steward => self.unit_budget_name(),
            Who::Analyst(_) => "your budget".to_owned(),
        }
    }

    pub(crate) fn unit_budget_name(&self) -> String {
        format!("the budget of `{}`", self.unit().name)
    }

    /// Whose refusal the asker is shown.
    pub(crate) fn refused_by(&self, refusal: &Refusal) -> RefusedBy {
        RefusedBy::of(&refusal.account, &self.unit().name, self.who)
    }

    /// A request under a name of its own.
    pub(crate) fn request(&self, key: &RequestKey) -> Result<Request, EngineError> {
        Ok(Request::new(&key.to_string(), self.stamp(), self.sql)?)
    }

    /// The next request of this program.
    pub(crate) fn next_request(&mut self) -> Result<Request, EngineError> {
        self.requests += 1;
        self.request(&RequestKey::Round { asking: self.name.clone(), number: self.requests })
    }

    /// The next request for a turn at what is drawn under a name.
    pub(crate) fn turn_request(&mut self, of: &str) -> Result<Request, EngineError> {
        self.requests += 1;
        let (asking, number) = (self.name.clone(), self.requests);
        self.request(&RequestKey::Turn { asking, number, of: of.to_owned() })
    }

    /// An error if the observer wants to stop: what was drawn is stored, and nothing is under way.
    pub(crate) fn check_over(&self) -> Result<(), EngineError> {
        if self.observer.is_over() { Err(EngineError::Stopped) } else { Ok(()) }
    }

    /// Waits for another program that draws from the same path, and gives it up if it has ended.
    /// Also ends as soon as there is something else to do.
    pub(crate) fn wait_for(
        &self,
        path: PathId,
        holder: &Key,
        enough: &dyn Fn() -> Result<bool, EngineError>,
    ) -> Result<(), EngineError> {
        let enough = || self.check_over().and_then(|()| enough());
        let now = Stamp::now(self.who.name());
        self.engine.wait_for_holder(&self.unit().name, path, holder, &now, &enough)
    }

    /// What is computed from the rows: they are read when something is paid for and not before.
    /// `expects_more` says that another plan will read them; `told` says what the steward hears if
    /// they cannot be read.
    pub(crate) fn read(
        &self,
        plan: &Plan,
        expects_more: bool,
        told: impl FnOnce(RowsError) -> EngineError,
    ) -> Result<Bounded, EngineError> {
        let is_steward = self.who.analyst().is_none();
        let read = self.engine.bounded(self.prepared, plan, expects_more, &|seen, all| {
            if is_steward {
                self.observer.rows(seen, all);
            }
        });
        let bounded = read.map_err(|error| self.unread(error, told))?;
        self.engine.note_nobodys(self.prepared, bounded.nobodys(), &self.stamp())?;
        Ok(bounded)
    }

    /// Rows could not be read: the steward sees why, and an analyst that this is not available.
    pub(crate) fn unread(
        &self,
        error: RowsError,
        told: impl FnOnce(RowsError) -> EngineError,
    ) -> EngineError {
        if self.who.analyst().is_none() {
            return told(error);
        }
        match self.engine.failed(self.prepared, self.who, &error, &self.stamp()) {
            Ok(()) => EngineError::Unavailable,
            Err(error) => error,
        }
    }
}

impl RefusedBy {
    fn of(account: &str, unit: &str, who: &Who) -> Self {
        let is_units = account == unit;
        if is_units && who.analyst().is_some() { Self::Unit } else { Self::Own }
    }
}

impl Engine {
    /// An error as the asker may see it.
    pub(crate) fn as_seen_by(&self, who: &Who, error: EngineError) -> EngineError {
        match who.analyst() {
            None => error,
            Some(analyst) => masked(error, self.policy().has_own_budget(analyst)),
        }
    }
}

/// An error as an analyst may see it: what the ledger says is about others too. An analyst without
/// a budget of its own is refused in one sentence, whichever account it was that said no. A highest
/// price that was asked for is the analyst's own: that it is too low is said.
fn masked(error: EngineError, has_own_budget: bool) -> EngineError {
    match error {
        EngineError::Ledger(_)
        | EngineError::UnderWay(_)
        | EngineError::Damaged(_)
        | EngineError::Registry(_) => EngineError::Unavailable,
        EngineError::Refused(refused) if refused.limit != Limit::AtMost && !has_own_budget => {
            Refused { charged: refused.charged, ..Refused::plainly() }.into()
        }
        error => error,
    }
}

#[cfg(test)]
mod tests {
    use eke_budget::Amount;
    use eke_ledger::LedgerError;

    use super::*;

    #[test]
    fn what_the_ledger_says_is_one_sentence_for_analysts() {
        let key = Key::new("program/0123~bob/7").unwrap();
        let errors = [
            EngineError::Ledger(LedgerError::Unanswered(key)),
            EngineError::UnderWay("program/0123~bob/7".to_owned()),
            EngineError::Damaged("alice".to_owned()),
        ];
        for error in errors {
            let own = error.to_string();
            for has_own_budget in [false, true] {
                let error = EngineError::Damaged(own.clone());
                let seen = masked(error, has_own_budget);
                assert!(matches!(seen, EngineError::Unavailable), "{seen}");
            }
            assert!(matches!(masked(error, true), EngineError::Unavailable), "{own}");
        }
    }

    #[test]
    fn numbers_are_for_those_whose_budget_it_is() {
        let asked = Some(Amount::from_grains(7));
        let refused = |limit| Refused { asked, limit, ..Refused::plainly() };
        let seen = |limit, own| match masked(refused(limit).into(), own) {
            EngineError::Refused(refused) => refused.asked,
            other => panic!("{other}"),
        };
        assert_eq!((seen(Limit::Budget, true), seen(Limit::Budget, false)), (asked, None));
        assert_eq!(seen(Limit::AtMost, false), asked);
    }

    #[test]
    fn an_analyst_sees_no_numbers_of_the_units_account() {
        let ana = Who::Analyst("ana".into());
        let by = |account, who| matches!(RefusedBy::of(account, "riders", who), RefusedBy::Unit);
        assert!(by("riders", &ana) && !by("riders/analyst/ana", &ana));
        assert!(!by("riders", &Who::Steward));
    }
}
