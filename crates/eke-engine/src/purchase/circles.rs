//! Circles that are opened late, and members who join late.
//!
//! A circle's promise is about everything that its members have seen together. So an analyst who
//! joins one brings what was spent so far, and a circle whose budget does not hold that is refused.
//! From then on whatever a member is charged its circle is charged too.
//!
//! The sheet of a circle's account says who is in it and how much of what each has spent it knows
//! of. Somebody who has left brings on coming back only what was spent outside. That somebody left
//! is noticed at the first question outside, before anything is charged for it.
//!
//! What is brought is charged once: the sheet says first what is about to be charged and under
//! which key, and the ledger charges a key once. It is kept as JSON with a version; what version 1
//! says may never change.

use std::collections::BTreeMap;

use eke_budget::account::Totals;
use eke_budget::{Account, Amount, Charge, Delta, Epsilon, Rho};
use eke_ledger::{Answer as Body, LedgerError, Outcome, Request, Spend, Stamp};
use serde::{Deserialize, Serialize};

use crate::engine::Engine;
use crate::error::{EngineError, Refused};
use crate::purchase::request_key::RequestKey;

const VERSION: u32 = 1;
/// How many names of accounts are read at a time.
const NAMES: u32 = 1000;

/// Who is in a circle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Members {
    version: u32,
    members: BTreeMap<String, Member>,
}

/// What a circle knows of an analyst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Member {
    /// Whether it is in the circle.
    inside: bool,
    /// What it had spent when it came or left.
    counted: Spent,
    /// How often something was brought.
    brought: u32,
    /// What is being brought, under the number `brought`.
    pending: Option<Spent>,
}

/// What an account has spent. Reserved worst cases count as spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Spent {
    pub(crate) rho: Amount<Rho>,
    pub(crate) rho_delta: Amount<Delta>,
    pub(crate) epsilon: Amount<Epsilon>,
    pub(crate) epsilon_delta: Amount<Delta>,
}

impl Spent {
    fn of(account: Option<&Account>) -> Self {
        let Some(account) = account else { return Self::default() };
        let odometer = account.odometer();
        let zcdp = odometer.zcdp().map_or(Totals::ZERO, eke_budget::account::Purse::totals);
        let pure = odometer.pure().map_or(Totals::ZERO, eke_budget::account::Purse::totals);
        Self {
            rho: zcdp.taken().unwrap_or(Amount::MAX),
            rho_delta: zcdp.delta_spent,
            epsilon: pure.taken().unwrap_or(Amount::MAX),
            epsilon_delta: pure.delta_spent,
        }
    }

    /// What is beyond another. A round that was settled below its worst case gives nothing back.
    fn beyond(self, other: Self) -> Self {
        Self {
            rho: self.rho.minus(other.rho).unwrap_or(Amount::ZERO),
            rho_delta: self.rho_delta.minus(other.rho_delta).unwrap_or(Amount::ZERO),
            epsilon: self.epsilon.minus(other.epsilon).unwrap_or(Amount::ZERO),
            epsilon_delta: self.epsilon_delta.minus(other.epsilon_delta).unwrap_or(Amount::ZERO),
        }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            rho: self.rho.plus(other.rho).unwrap_or(Amount::MAX),
            rho_delta: self.rho_delta.plus(other.rho_delta).unwrap_or(Amount::MAX),
            epsilon: self.epsilon.plus(other.epsilon).unwrap_or(Amount::MAX),
            epsilon_delta: self.epsilon_delta.plus(other.epsilon_delta).unwrap_or(Amount::MAX),
        }
    }

    pub(crate) fn is_nothing(self) -> bool {
        self == Self::default()
    }

    /// The charges that it comes to, one in each currency.
    fn charges(self) -> impl Iterator<Item = (&'static str, Charge)> {
        let zcdp = Charge::Zcdp { rho: self.rho, delta: self.rho_delta };
        let pure = Charge::Pure { epsilon: self.epsilon, delta: self.epsilon_delta };
        let zcdp_is_nothing = self.rho.is_zero() && self.rho_delta.is_zero();
        let pure_is_nothing = self.epsilon.is_zero() && self.epsilon_delta.is_zero();
        let zcdp = (!zcdp_is_nothing).then_some(("rho", zcdp));
        zcdp.into_iter().chain((!pure_is_nothing).then_some(("epsilon", pure)))
    }
}

impl Members {
    fn read(bytes: &[u8]) -> Result<Self, EngineError> {
        let members: Self = serde_json::from_slice(bytes)
            .map_err(|error| EngineError::Damaged(error.to_string()))?;
        if members.version == VERSION {
            Ok(members)
        } else {
            let why = format!("the members of a circle are of version {}", members.version);
            Err(EngineError::Damaged(why))
        }
    }

    fn write(&self) -> Vec<u8> {
        // Keys are texts, so this cannot fail; what is no JSON would not be read.
        serde_json::to_vec(self).unwrap_or_default()
    }
}

pub(super) fn own_account(unit: &str, analyst: &str) -> String {
    format!("{unit}/analyst/{analyst}")
}

impl Engine {
    /// Lets an analyst's circles know what their members have spent outside, before the analyst is
    /// charged. The accounts of the circles are open.
    ///
    /// - Theorem: zcdp-filter (docs/theorems.md)
    /// - Proves: what members have seen together, in the circle and before, stays within its budget
    /// - Assumes: an analyst has seen nothing but what its own account was charged for (engine)
    /// - Deviates: members' totals are added, so a path that two have seen counts twice; reserved
    ///   worst cases count as spent
    /// - Checked by: `a_late_circle_and_a_late_member_bring_what_was_spent`,
    ///   `a_circle_is_refused_whose_members_have_spent_more_than_it_has`
    ///
    /// # Errors
    /// What a member brings does not fit into a circle's budget, or the ledger does not work.
    pub(crate) fn come_and_go(
        &self,
        unit: &str,
        analyst: &str,
        stamp: &Stamp,
    ) -> Result<(), EngineError> {
        self.leave(unit, analyst, stamp)?;
        for circle in self.policy().circles.values() {
            if circle.analysts.contains(analyst) {
                let account = format!("{unit}/circle/{}", circle.name);
                for member in &circle.analysts {
                    self.bring(unit, &account, member, stamp)?;
                }
            }
        }
        Ok(())
    }

    /// What the members of a circle would bring with the next question.
    pub(crate) fn to_bring(&self, unit: &str, circle: &str) -> Result<Spent, EngineError> {
        let account = format!("{unit}/circle/{circle}");
        let (_, members) = self.members(&account)?;
        let analysts = self.policy().circles.get(circle).map(|circle| &circle.analysts);
        let mut all = Spent::default();
        for name in analysts.into_iter().flatten() {
            let member = members.members.get(name).copied().unwrap_or_default();
            if !member.inside {
                all = all.plus(self.spent_by(unit, name)?.beyond(member.counted));
            }
        }
        Ok(all)
    }

    fn spent_by(&self, unit: &str, analyst: &str) -> Result<Spent, EngineError> {
        let account = own_account(unit, analyst);
        // What was published the circle pays for itself. It is listed after it was charged, so it
        // is looked for first: what comes in between is counted twice, and never not at all.
        let published = self.paid_for_profiles(unit, &account)?;
        let spent = Spent::of(self.ledger().account(&account).wait()?.as_ref());
        Ok(spent.beyond(published))
    }

    fn members(&self, account: &str) -> Result<(u64, Members), EngineError> {
        match self.ledger().sheet(account).wait()? {
            Some((version, bytes)) => Ok((version, Members::read(&bytes)?)),
            None => Ok((0, Members { version: VERSION, members: BTreeMap::new() })),
        }
    }

    /// Files the members of a circle; false if somebody else came first.
    fn file_members(
        &self,
        account: &str,
        version: u64,
        members: &Members,
        stamp: &Stamp,
    ) -> Result<bool, EngineError> {
        match self.ledger().file_sheet(account, version, members.write(), stamp.clone()).wait() {
            Ok(_) => Ok(true),
            Err(LedgerError::SheetMoved { .. } | LedgerError::Moved(_)) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes down what an analyst had spent when it left circles that it is not in any more.
    fn leave(&self, unit: &str, analyst: &str, stamp: &Stamp) -> Result<(), EngineError> {
        let prefix = format!("{unit}/circle/");
        let mut after = prefix.clone();
        loop {
            let names = self.ledger().accounts(Some(&after), NAMES).wait()?;
            let Some(last) = names.last() else { return Ok(()) };
            after = last.to_string();
            for account in &names {
                let Some(circle) = account.strip_prefix(&prefix) else { return Ok(()) };
                let circle = self.policy().circles.get(circle);
                if circle.is_none_or(|circle| !circle.analysts.contains(analyst)) {
                    self.leave_one(unit, account, analyst, stamp)?;
                }
            }
        }
    }

    fn leave_one(
        &self,
        unit: &str,
        account: &str,
        analyst: &str,
        stamp: &Stamp,
    ) -> Result<(), EngineError> {
        let mut patience = self.patience();
        loop {
            let (version, mut members) = self.members(account)?;
            let Some(member) = members.members.get_mut(analyst) else { return Ok(()) };
            if !member.inside {
                return Ok(());
            }
            (member.inside, member.counted) = (false, self.spent_by(unit, analyst)?);
            if self.file_members(account, version, &members, stamp)? {
                return Ok(());
            }
            if !patience.again() {
                return Err(EngineError::Unavailable);
            }
        }
    }

    /// Charges a circle what a member has spent outside, and lets the member in.
    fn bring(
        &self,
        unit: &str,
        account: &str,
        analyst: &str,
        stamp: &Stamp,
    ) -> Result<(), EngineError> {
        let mut patience = self.patience();
        loop {
            let (version, mut members) = self.members(account)?;
            let member = members.members.entry(analyst.to_owned()).or_default();
            if member.inside {
                return Ok(());
            }
            let Some(brings) = member.pending else {
                let brings = self.spent_by(unit, analyst)?.beyond(member.counted);
                if brings.is_nothing() {
                    member.inside = true;
                } else {
                    (member.pending, member.brought) = (Some(brings), member.brought + 1);
                }
                if !self.file_members(account, version, &members, stamp)? && !patience.again() {
                    return Err(EngineError::Unavailable);
                }
                continue;
            };
            let number = member.brought;
            let key = |currency: &str| RequestKey::brought(account, analyst, number, currency);
            let charged = self.charge_brought((account, analyst), key, brings, stamp);
            member.pending = None;
            if charged.is_ok() {
                member.counted = member.counted.plus(brings);
            }
            if !self.file_members(account, version, &members, stamp)? && !patience.again() {
                return Err(EngineError::Unavailable);
            }
            charged?;
        }
    }

    fn charge_brought(
        &self,
        (account, analyst): (&str, &str),
        key: impl Fn(&str) -> RequestKey,
        brings: Spent,
        stamp: &Stamp,
    ) -> Result<(), EngineError> {
        let text = format!("what {analyst} had spent before it was in this circle");
        // All of it fits or none is charged.
        if let Some(mut there) = self.ledger().account(account).wait()?
            && !self.is_brought(&key)?
            && brings.charges().any(|(_, charge)| there.approve(charge).is_err())
        {
            return Err(Refused::plainly().into());
        }
        for (currency, charge) in brings.charges() {
            let request = Request::new(&key(currency).to_string(), stamp.clone(), &text)?;
            let others: Vec<(&str, Spend<Charge>)> = Vec::new();
            match self.ledger().charge(request, account, Spend(charge), others).wait() {
                Ok(Outcome::Charged(charged)) => {
                    let told = Body::new("brought");
                    self.ledger().answer(charged.claim, told, stamp.clone()).wait()?;
                }
                Ok(Outcome::Answered(_)) | Err(LedgerError::Unanswered(_)) => {}
                Err(LedgerError::Refused(_)) => return Err(Refused::plainly().into()),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Whether something was charged under a key, in either currency.
    fn is_brought(&self, key: impl Fn(&str) -> RequestKey) -> Result<bool, EngineError> {
        for currency in ["rho", "epsilon"] {
            if self.ledger().stored_request(key(currency).key()?).wait()?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
