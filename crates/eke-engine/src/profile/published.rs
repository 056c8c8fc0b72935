//! Profiles that were bought: who has paid for them, who still has to, and who may see them.
//!
//! The registry of a unit lists its profiles with the accounts that have paid. It is listed before
//! the steward is shown it, so nobody can have seen anything of it before. An account that is not
//! in the list pays before its next question is charged, so every account starts at what was
//! published, and its promise needs no exception. What members bring into a circle leaves out what
//! they paid for profiles: the circle pays for them itself, once.

use eke_budget::{Amount, Charge};
use eke_ledger::{Answer as Body, LedgerError, Outcome, Request, Spend, Stamp};
use serde::Serialize;

use crate::data::registry::Published;
use crate::engine::{Engine, Prepared};
use crate::error::{EngineError, NotAllowed, Refused};
use crate::policy::{AccountSpec, Dataset};
use crate::profile::buying::{BoughtProfile, StoredCuts, StoredValues};
use crate::profile::layout::Layout;
use crate::profile::{Profile, ProfilePlan};
use crate::purchase::circles::Spent;
use crate::purchase::request_key::{AccountDigest, ProfileName, ProfilePart, RequestKey};

/// A profile that an account pays for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProfilePaid {
    /// The dataset.
    pub dataset: String,
    /// Its snapshot.
    pub snapshot: u32,
    /// What it cost in all.
    pub rho: f64,
    /// Whether the account has paid: if not, it does so before its next question.
    pub paid: bool,
}

impl Engine {
    /// Lists a profile that was bought, before anybody sees it.
    pub(crate) fn file_published(
        &self,
        unit: &str,
        plan: &ProfilePlan,
        (dataset, prepared): (&Dataset, &Prepared),
        bought: &BoughtProfile,
    ) -> Result<(), EngineError> {
        let snapshot = prepared.datasets.first().map_or(0, |dataset| dataset.snapshot);
        let name = plan.name.as_str();
        let known = self.registry(unit)?;
        if known.is_some_and(|known| known.published().iter().any(|known| known.name == name)) {
            return Ok(());
        }
        let published = Published {
            dataset: dataset.name.clone(),
            snapshot,
            name: name.to_owned(),
            rho: plan.rho,
            keys: plan.layout.keys.clone(),
            columns: plan.layout.columns.clone(),
            payers: bought.payers().cloned().collect(),
        };
        let stamp = Stamp::now(crate::ask::question::Who::Steward.name());
        self.change(unit, &stamp, |registry| {
            registry.publish(published.clone());
            Ok(())
        })?;
        Ok(())
    }

    /// Lets accounts pay for profiles that were published before they were opened. They are open.
    ///
    /// - Theorem: zcdp-filter (docs/theorems.md)
    /// - Proves: what an analyst or a circle has seen, published profiles too, stays within its
    ///   budget
    /// - Assumes: the accounts are charged before anything else is drawn for them (caller)
    /// - Deviates: an account that was opened between the two parts of a profile pays for both
    ///   again
    /// - Checked by: `later_accounts_start_at_what_was_published`
    ///
    /// # Errors
    /// A budget does not hold it, or the ledger does not work.
    pub(crate) fn pay_published(
        &self,
        unit: &str,
        accounts: &[AccountSpec],
        stamp: &Stamp,
    ) -> Result<(), EngineError> {
        let Some(registry) = self.registry(unit)? else { return Ok(()) };
        for profile in registry.published() {
            let owing: Vec<&AccountSpec> =
                accounts.iter().filter(|one| !profile.payers.contains(&one.name)).collect();
            let charge = Charge::Zcdp { rho: profile.rho, delta: Amount::ZERO };
            let name = ProfileName::listed(&profile.name);
            // All of them or none.
            for account in &owing {
                let key = RequestKey::ProfileSeen {
                    name: name.clone(),
                    by: AccountDigest::new(&account.name),
                };
                let is_paid = self.ledger().stored_request(key.key()?).wait()?.is_some();
                if let Some(mut there) = self.ledger().account(&account.name).wait()?
                    && !is_paid
                    && there.approve(charge).is_err()
                {
                    return Err(Refused::plainly().into());
                }
            }
            for account in &owing {
                self.pay_one(profile, account, charge, stamp)?;
            }
            if !owing.is_empty() {
                let paid = Published {
                    payers: owing.iter().map(|account| account.name.clone()).collect(),
                    ..profile.clone()
                };
                self.change(unit, stamp, |registry| {
                    registry.publish(paid.clone());
                    Ok(())
                })?;
            }
        }
        Ok(())
    }

    fn pay_one(
        &self,
        profile: &Published,
        account: &AccountSpec,
        charge: Charge,
        stamp: &Stamp,
    ) -> Result<(), EngineError> {
        let (name, by) = (ProfileName::listed(&profile.name), AccountDigest::new(&account.name));
        let key = RequestKey::ProfileSeen { name, by };
        let text = format!("profile of {}", profile.dataset);
        let request = Request::new(&key.to_string(), stamp.clone(), &text)?;
        let others: Vec<(&str, Spend<Charge>)> = Vec::new();
        match self.ledger().charge(request, &account.name, Spend(charge), others).wait() {
            Ok(Outcome::Charged(charged)) => {
                let told = Body::new("paid");
                self.ledger().answer(charged.claim, told, stamp.clone()).wait()?;
                Ok(())
            }
            Ok(Outcome::Answered(_)) | Err(LedgerError::Unanswered(_)) => Ok(()),
            Err(LedgerError::Refused(_)) => Err(Refused::plainly().into()),
            Err(error) => Err(error.into()),
        }
    }

    /// What an account has paid for profiles.
    pub(crate) fn paid_for_profiles(
        &self,
        unit: &str,
        account: &str,
    ) -> Result<Spent, EngineError> {
        let Some(registry) = self.registry(unit)? else { return Ok(Spent::default()) };
        let paid = registry.published().iter().filter(|one| one.payers.contains(account));
        let rho = paid.fold(Amount::ZERO, |all, one| all.plus(one.rho).unwrap_or(Amount::MAX));
        Ok(Spent { rho, ..Spent::default() })
    }

    /// The profiles that an account pays for.
    pub(crate) fn profiles_of(
        &self,
        unit: &str,
        account: &str,
    ) -> Result<Vec<ProfilePaid>, EngineError> {
        let Some(registry) = self.registry(unit)? else { return Ok(Vec::new()) };
        let paid = registry.published().iter().map(|one| ProfilePaid {
            dataset: one.dataset.clone(),
            snapshot: one.snapshot,
            rho: one.rho.to_f64(),
            paid: one.payers.contains(account),
        });
        Ok(paid.collect())
    }

    /// A profile that was bought, for an analyst who has paid for it. It is computed from what is
    /// stored, and reads nothing.
    pub(crate) fn published_to(
        &self,
        analyst: &str,
        known: &Published,
        dataset: &Dataset,
        prepared: &Prepared,
    ) -> Result<Profile, EngineError> {
        let layout = Layout { keys: known.keys.clone(), columns: known.columns.clone() };
        let adjacency = prepared.query.plan.adjacency;
        let name = ProfileName::listed(&known.name);
        let plan = ProfilePlan { name, layout, adjacency, rho: known.rho };
        let values = self.stored_part::<StoredValues>(&plan.name, ProfilePart::Values)?;
        let cuts = self.stored_part::<StoredCuts>(&plan.name, ProfilePart::Cuts)?;
        let Some((values, cuts)) = values.zip(cuts) else {
            return Err(EngineError::damaged("a profile that is listed and not stored"));
        };
        self.sees_profile(analyst, &plan, &cuts)?;
        Ok(self.shown_profile(&plan, (dataset, prepared), &values, &cuts, true))
    }

    /// Whether the tier of an analyst lets it see the points of a profile.
    pub(crate) fn sees_profile(
        &self,
        analyst: &str,
        plan: &ProfilePlan,
        cuts: &StoredCuts,
    ) -> Result<(), EngineError> {
        let (first, second) = (plan.values(), plan.cuts(&cuts.chosen));
        let all = first.histograms.iter().chain(&second.histograms);
        let most = all.map(|one| one.price(plan.adjacency)).max().unwrap_or(Amount::ZERO);
        let finest = self.policy().finest(Some(analyst))?;
        if finest.is_some_and(|finest| most > finest) {
            return Err(NotAllowed::ProfileBeyondTier { each: most }.into());
        }
        Ok(())
    }
}
