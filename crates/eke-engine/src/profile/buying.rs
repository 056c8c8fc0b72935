//! Buying a profile: two purchases, each charged to everybody and on disk before rows are read.
//!
//! A program that is killed in between has lost at most the part that it was at: what was charged
//! for it stays paid, and the next program pays for that part anew, under the next number. A part
//! that is stored is never paid for again.

use eke_budget::{Amount, Charge, PathId, Purchase as _, Receipt, Refusal};
use eke_ledger::patience::Patience;
use eke_ledger::{Claim, Key, Ledger, Spend, Stamp};
use eke_noise::release::{HistogramRelease, release_histograms};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::ask::shown::answer::rho_of;
use crate::error::{EngineError, Refused};
use crate::policy::AccountSpec;
use crate::profile::ProfilePlan;
use crate::profile::pass::UnitCells;
use crate::profile::proposal::Chosen;
use crate::purchase::context::Context;
use crate::purchase::request_key::{ProfilePart, RequestKey};
use crate::purchase::turn::{Turn, turn_path};
use crate::purchase::{self, Again, Bought, Buyer, Drawn, Offer, Order};

/// What costs more than one part in this many of what somebody has left is confirmed first.
const CONFIRM_ABOVE_ONE_IN: u128 = 33;
/// The version of what is stored.
const VERSION: u32 = 1;

/// The histograms as they are stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoredValues {
    version: u32,
    pub(crate) cells: Vec<i64>,
    /// The accounts that paid for it.
    payers: Vec<String>,
}

/// What bounds would cut off, as it is stored, with the bounds.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoredCuts {
    version: u32,
    pub(crate) chosen: Chosen,
    pub(crate) cells: Vec<i64>,
    payers: Vec<String>,
}

/// A profile that is bought.
pub(crate) struct BoughtProfile {
    pub(crate) values: StoredValues,
    pub(crate) cuts: StoredCuts,
    /// Whether all of it was there before.
    pub(crate) free: bool,
}

impl BoughtProfile {
    /// The accounts that have paid for all of it.
    pub(crate) fn payers(&self) -> impl Iterator<Item = &String> {
        self.values.payers.iter().filter(|payer| self.cuts.payers.contains(payer))
    }
}

/// A profile on its way.
pub(crate) struct Profiling<'a> {
    context: Context<'a>,
    plan: ProfilePlan,
    everyone: Vec<AccountSpec>,
    /// What was read, once it is.
    cells: Option<UnitCells>,
}

impl<'a> Buyer<'a> for Profiling<'a> {
    type Error = EngineError;

    fn ledger(&self) -> &Ledger {
        self.context.ledger()
    }

    fn holder(&self) -> &str {
        &self.context.unit().name
    }

    fn stamp(&self) -> Stamp {
        self.context.stamp()
    }

    fn patience(&self) -> Patience<'a> {
        self.context.engine.patience()
    }

    fn wait_for(&self, path: PathId, holder: &Key) -> Result<(), EngineError> {
        self.context.wait_for(path, holder, &|| Ok(false))
    }

    fn unavailable(&self) -> EngineError {
        EngineError::Unavailable
    }
}

impl<'a> Profiling<'a> {
    pub(crate) fn new(context: Context<'a>, plan: ProfilePlan, everyone: Vec<AccountSpec>) -> Self {
        Self { context, plan, everyone, cells: None }
    }

    pub(crate) fn into_plan(self) -> ProfilePlan {
        self.plan
    }

    /// Both parts: what is stored of them, and what has to be bought.
    pub(crate) fn buy_all(&mut self) -> Result<BoughtProfile, EngineError> {
        if let Some(bought) = self.whole()? {
            return Ok(bought);
        }
        self.context.engine.may_read(self.context.prepared, self.context.who)?;
        for account in &self.everyone {
            self.context.engine.open_account(account, &self.context.stamp())?;
        }
        self.check_all()?;
        let engine = self.context.engine;
        let mut patience = engine.patience();
        loop {
            // One at a time: a program that waited finds what was bought.
            let Some(turn) = self.turn()? else {
                if patience.again() {
                    continue;
                }
                return Err(EngineError::Unavailable);
            };
            let bought = self.both();
            engine.end_turn(turn, self.context.stamp())?;
            return bought;
        }
    }

    fn whole(&self) -> Result<Option<BoughtProfile>, EngineError> {
        let values = self.stored::<StoredValues>(ProfilePart::Values)?;
        let cuts = self.stored::<StoredCuts>(ProfilePart::Cuts)?;
        Ok(values.zip(cuts).map(|(values, cuts)| BoughtProfile { values, cuts, free: true }))
    }

    fn both(&mut self) -> Result<BoughtProfile, EngineError> {
        if let Some(bought) = self.whole()? {
            return Ok(bought);
        }
        let values = match self.stored(ProfilePart::Values)? {
            Some(values) => values,
            None => {
                let mut values = Values::new(self);
                self.buy(&mut values)?
            }
        };
        let cuts = match self.stored(ProfilePart::Cuts)? {
            Some(cuts) => cuts,
            None => {
                let deviations: Vec<f64> =
                    self.plan.values().histograms.iter().map(|one| one.deviation()).collect();
                let chosen = Chosen::of(&self.plan.layout, &values.cells, &deviations);
                let release = self.plan.cuts(&chosen);
                self.buy(&mut Cuts { release, chosen, number: 0 })?
            }
        };
        Ok(BoughtProfile { values, cuts, free: false })
    }

    /// All accounts can pay for all that is missing, and the steward agrees; or nothing is charged.
    fn check_all(&self) -> Result<(), EngineError> {
        let is_there = self.stored::<StoredValues>(ProfilePart::Values)?.is_some();
        let whole = self.plan.rho;
        let price = if is_there { Amount::from_grains(whole.grains().div_ceil(2)) } else { whole };
        let charge = Charge::Zcdp { rho: price, delta: Amount::ZERO };
        let mut least: Option<Amount<eke_budget::Rho>> = None;
        for account in std::iter::once(self.context.unit()).chain(&self.everyone) {
            let Some(mut there) = self.ledger().account(&account.name).wait()? else { continue };
            if let Some(purse) = there.odometer().zcdp() {
                least = Some(least.map_or(purse.left(), |least| least.min(purse.left())));
            }
            let approved = there.approve(charge);
            approved.map(drop).map_err(|refusal| refused(&refusal, &account.name))?;
        }
        let left = least.unwrap_or(Amount::ZERO);
        if price.grains() > left.grains() / CONFIRM_ABOVE_ONE_IN
            && !self.context.observer.confirm(price, left)
        {
            return Err(EngineError::Declined);
        }
        Ok(())
    }

    fn turn(&mut self) -> Result<Option<Claim>, EngineError> {
        let name = self.plan.name.to_string();
        let request = self.context.turn_request(&name)?;
        match self.context.engine.take_turn(&name, self.context.unit(), request)? {
            Turn::Own(claim) => Ok(Some(claim)),
            Turn::Others(holder) => {
                self.wait_for(turn_path(&name), &holder)?;
                Ok(None)
            }
            Turn::Unclear => Ok(None),
        }
    }

    fn buy<O: Order<'a, Self>>(&mut self, order: &mut O) -> Result<O::Made, EngineError> {
        match purchase::buy(self, order)? {
            Bought::Made(made) => Ok(made),
            Bought::Refused(refusal) => Err(refused(&refusal, &refusal.account)),
        }
    }

    /// A part that is stored.
    fn stored<T: DeserializeOwned>(&self, part: ProfilePart) -> Result<Option<T>, EngineError> {
        self.context.engine.stored_part(&self.plan.name, part)
    }

    /// What to charge for a part, to everybody.
    fn offer<M>(
        &self,
        part: ProfilePart,
        number: u32,
        release: &HistogramRelease,
    ) -> Result<Offer<Spend<HistogramRelease>, Spend<HistogramRelease>, M>, EngineError> {
        release.can_release().map_err(EngineError::Undrawable)?;
        let key = RequestKey::Profile { name: self.plan.name.clone(), part, number };
        let request = self.context.request(&key)?;
        let own = Spend(release.clone());
        let others = self.everyone.iter().map(|account| (account.name.clone(), own.clone()));
        let others = others.collect();
        Ok(Offer::Charge { request, own, others, path: None })
    }

    /// What is read for receipts that are on disk, once for both parts.
    fn read(&mut self, paid: &HistogramRelease) -> Result<&UnitCells, EngineError> {
        if self.cells.is_none() {
            let (context, observer) = (&self.context, self.context.observer);
            let progress = |seen: u64, all: Option<u64>| observer.rows(seen, all);
            let read = context.engine.unit_cells(context.prepared, &self.plan.layout, &progress);
            let told = |error| EngineError::Rows(error, rho_of(paid.charge()));
            let cells = read.map_err(|error| context.unread(error, told))?;
            let nobodys = [cells.nobodys()];
            context.engine.note_nobodys(context.prepared, &nobodys, &context.stamp())?;
            self.cells = Some(cells);
        }
        self.cells.as_ref().ok_or_else(|| EngineError::damaged("no rows"))
    }

    fn payers(&self) -> Vec<String> {
        let others = self.everyone.iter().map(|account| account.name.clone());
        std::iter::once(self.context.unit().name.clone()).chain(others).collect()
    }
}

/// The next number under which a part is paid for, after one that was lost.
fn next(number: u32) -> Result<u32, EngineError> {
    number.checked_add(1).ok_or_else(|| EngineError::damaged("too many profiles of the same rows"))
}

/// The histograms, bought.
pub(crate) struct Values {
    release: HistogramRelease,
    /// How often they were paid for and lost.
    number: u32,
}

impl Values {
    pub(crate) fn new(profiling: &Profiling<'_>) -> Self {
        Self { release: profiling.plan.values(), number: 0 }
    }
}

impl<'a> Order<'a, Profiling<'a>> for Values {
    type Own = Spend<HistogramRelease>;
    type Others = Spend<HistogramRelease>;
    type Made = StoredValues;

    fn offer(
        &mut self,
        profiling: &mut Profiling<'a>,
        again: Again,
    ) -> Result<Offer<Self::Own, Self::Others, StoredValues>, EngineError> {
        if again != Again::First
            && let Some(stored) = profiling.stored(ProfilePart::Values)?
        {
            return Ok(Offer::Made(stored));
        }
        if again == Again::Taken {
            self.number = next(self.number)?;
        }
        profiling.offer(ProfilePart::Values, self.number, &self.release)
    }

    fn draw(
        &mut self,
        profiling: &mut Profiling<'a>,
        own: Receipt<HistogramRelease>,
        others: Vec<Receipt<HistogramRelease>>,
    ) -> Result<Drawn<StoredValues>, EngineError> {
        for receipt in others {
            let _ = receipt.redeem();
        }
        let truth = profiling.read(&self.release)?.histograms();
        let released = release_histograms(&truth, own, &mut profiling.context.entropy);
        let cells = released.map_err(EngineError::damaged)?.get();
        let made = StoredValues { version: VERSION, cells, payers: profiling.payers() };
        let body = serde_json::to_vec(&made).map_err(EngineError::damaged)?;
        Ok(Drawn { body, state: None, round: None, made })
    }
}

/// What bounds would cut off, bought.
struct Cuts {
    release: HistogramRelease,
    chosen: Chosen,
    number: u32,
}

impl<'a> Order<'a, Profiling<'a>> for Cuts {
    type Own = Spend<HistogramRelease>;
    type Others = Spend<HistogramRelease>;
    type Made = StoredCuts;

    fn offer(
        &mut self,
        profiling: &mut Profiling<'a>,
        again: Again,
    ) -> Result<Offer<Self::Own, Self::Others, StoredCuts>, EngineError> {
        if again != Again::First
            && let Some(stored) = profiling.stored(ProfilePart::Cuts)?
        {
            return Ok(Offer::Made(stored));
        }
        if again == Again::Taken {
            self.number = next(self.number)?;
        }
        profiling.offer(ProfilePart::Cuts, self.number, &self.release)
    }

    fn draw(
        &mut self,
        profiling: &mut Profiling<'a>,
        own: Receipt<HistogramRelease>,
        others: Vec<Receipt<HistogramRelease>>,
    ) -> Result<Drawn<StoredCuts>, EngineError> {
        for receipt in others {
            let _ = receipt.redeem();
        }
        let truth = profiling.read(&self.release)?.cuts(&self.chosen);
        let released = release_histograms(&truth, own, &mut profiling.context.entropy);
        let cells = released.map_err(EngineError::damaged)?.get();
        let (chosen, payers) = (self.chosen.clone(), profiling.payers());
        let made = StoredCuts { version: VERSION, chosen, cells, payers };
        let body = serde_json::to_vec(&made).map_err(EngineError::damaged)?;
        Ok(Drawn { body, state: None, round: None, made })
    }
}

/// A refusal, for the steward.
fn refused(refusal: &Refusal, account: &str) -> EngineError {
    let (asked, fits) = (Some(rho_of(refusal.asked)), refusal.fits.map(rho_of));
    let whose = format!("the budget of `{account}`");
    Refused { whose, asked, fits, price: fits, ..Refused::plainly() }.into()
}

impl crate::engine::Engine {
    /// A part of a profile that is stored.
    pub(crate) fn stored_part<T: DeserializeOwned>(
        &self,
        name: &crate::purchase::request_key::ProfileName,
        part: ProfilePart,
    ) -> Result<Option<T>, EngineError> {
        for number in 0.. {
            let key = RequestKey::Profile { name: name.clone(), part, number }.key()?;
            match self.ledger().stored_request(key).wait()? {
                None => return Ok(None),
                // Paid for and lost, or being drawn by somebody else.
                Some(None) => {}
                Some(Some(answered)) => {
                    let stored = serde_json::from_slice(answered.body());
                    return stored.map(Some).map_err(EngineError::damaged);
                }
            }
        }
        Ok(None)
    }
}
