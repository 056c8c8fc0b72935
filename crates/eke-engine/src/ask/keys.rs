//! The groups of a question: all combinations of public keys, or those that enough units have.

use std::num::NonZeroU32;

use eke_budget::{Adjacency, Amount, Budget, Charge, Purchase as _, Receipt, Rho};
use eke_ledger::{Claim, Spend};
use eke_noise::select::{KeySelection, select_keys};
use eke_sql::{Plan, Sum, Summand, Value};
use serde::{Deserialize, Serialize};

use crate::ask::Asking;
use crate::ask::family::Family;
use crate::ask::shown::answer::rho_of;
use crate::ask::state::Groups;
use crate::error::{EngineError, NoKeys};
use crate::purchase::identity::{Identity, Purpose};
use crate::purchase::request_key::{AccountDigest, RequestKey, SelectionName};
use crate::purchase::turn::{Turn, turn_path};
use crate::purchase::{Again, Buyer as _, Drawn, Offer, Order};

/// What one selection costs of the unit's whole budget, and of its delta for mechanisms.
const OF_BUDGET: u128 = 100;
const OF_DELTA: u128 = 20;

/// A selection as it is stored.
#[derive(Serialize, Deserialize)]
struct Selected {
    keys: Vec<Vec<Value>>,
    /// The accounts that paid for it when it was made.
    payers: Vec<String>,
}

/// How many combinations of public keys there are; none if a key is not public.
pub(crate) fn public_group_count(plan: &Plan) -> Option<usize> {
    let mut counts = plan.keys.iter().map(|key| key.public.as_ref().map(Vec::len));
    counts.try_fold(1, |groups: usize, key| Some(groups.saturating_mul(key?)))
}

/// All combinations of public keys in their order; none if a key is not public.
fn public_groups(plan: &Plan) -> Option<Vec<Vec<Value>>> {
    let mut groups = vec![Vec::new()];
    for key in &plan.keys {
        let values = key.public.as_ref()?;
        let with = |group: &Vec<Value>| {
            let group = group.clone();
            values.iter().map(move |value| [&group[..], std::slice::from_ref(value)].concat())
        };
        groups = groups.iter().flat_map(with).collect();
    }
    Some(groups)
}

/// What selecting the keys of a plan costs, out of this budget. The same for every asker, so that
/// a selection is made once.
pub(crate) fn selection(plan: &Plan, budget: &Budget) -> Result<KeySelection, EngineError> {
    let most = NonZeroU32::new(plan.max_groups).unwrap_or(NonZeroU32::MIN);
    let limits = budget.zcdp();
    let (rho, delta) = limits.map_or((0, 0), |limits| {
        let whole = Amount::<Rho>::grains(limits.budget) / OF_BUDGET;
        let factor = u128::from(budget.metric().group_factor::<Rho>());
        let sides = match plan.adjacency {
            Adjacency::AddRemove => 1,
            Adjacency::Replace => 2,
        };
        (whole / factor / u128::from(most.get()), limits.delta.grains() / OF_DELTA / sides)
    });
    let selection = KeySelection {
        rho: Amount::from_grains(rho),
        delta: Amount::from_grains(delta),
        most,
        adjacency: plan.adjacency,
    };
    if selection.threshold().is_none() {
        return Err(NoKeys::NoDelta.into());
    }
    Ok(selection)
}

/// Whether a tier that sees paths so far may see keys that were selected like this.
pub(crate) fn check_tier(
    selection: &KeySelection,
    finest: Option<Amount<Rho>>,
) -> Result<(), EngineError> {
    if finest.is_none_or(|finest| selection.rho <= finest) {
        return Ok(());
    }
    Err(NoKeys::BeyondTier.into())
}

impl<'a> Asking<'a> {
    /// The groups that may be shown, each with its keys, in their order.
    pub(crate) fn groups(&mut self) -> Result<Groups, EngineError> {
        match public_groups(self.plan()) {
            Some(groups) => Ok(groups.into()),
            None => Ok(self.selected()?.into()),
        }
    }

    /// What the keys would cost the asker, if they have to be selected and were not yet.
    pub(crate) fn keys_cost(&self) -> Result<Amount<Rho>, EngineError> {
        if public_group_count(self.plan()).is_some() {
            return Ok(Amount::ZERO);
        }
        let selection = selection(self.plan(), &self.context.unit().budget)?;
        check_tier(&selection, self.context.prepared.finest)?;
        let name = self.selection_name(&selection)?;
        let paid = match self.stored(&name)? {
            Some((_, selected)) => self.has_paid(&name, &selected, &self.context.own().name)?,
            None => false,
        };
        if paid {
            return Ok(Amount::ZERO);
        }
        // What was selected with other bounds counts beside it.
        let family = self.keys_family()?.map(|family| family.furthest(Amount::ZERO));
        check_tier(&selection, family)?;
        Ok(rho_of(selection.charge()))
    }

    /// Whether somebody has paid for selecting the keys.
    pub(crate) fn has_selected(&self) -> Result<bool, EngineError> {
        let selection = selection(self.plan(), &self.context.unit().budget)?;
        Ok(self.stored(&self.selection_name(&selection)?)?.is_some())
    }

    fn selected(&mut self) -> Result<Vec<Vec<Value>>, EngineError> {
        let selection = selection(self.plan(), &self.context.unit().budget)?;
        check_tier(&selection, self.context.prepared.finest)?;
        let name = self.selection_name(&selection)?;
        let engine = self.context.engine;
        let mut patience = engine.patience();
        let selected = loop {
            if let Some((_, selected)) = self.stored(&name)? {
                break selected;
            }
            // One at a time: a program that waited finds what was selected.
            let Some(turn) = self.turn(&name)? else {
                if patience.again() {
                    continue;
                }
                return Err(EngineError::Unavailable);
            };
            let selected = match self.stored(&name)? {
                Some((_, selected)) => Ok(selected),
                None => {
                    let family = self.keys_family()?;
                    self.buy(&mut Selecting { name: &name, selection, number: 0, family })
                }
            };
            self.context.engine.end_turn(turn, self.context.stamp())?;
            break selected?;
        };
        let mut owing = Vec::new();
        for account in &self.context.payers().others {
            if !self.has_paid(&name, &selected, &account.name)? {
                owing.push(&account.name);
            }
        }
        // All of them or none.
        for account in &owing {
            if let Some(mut account) = self.context.ledger().account(account).wait()?
                && let Err(refusal) = account.approve(selection.charge())
            {
                return Err(self.refused(&refusal));
            }
        }
        for account in owing {
            let is_own = *account == self.context.own().name;
            let family = if is_own { self.keys_family()? } else { None };
            let family = family.map(|family| (family, selection.rho));
            self.buy(&mut Payment { name: &name, account, charge: selection.charge(), family })?;
        }
        Ok(selected.keys)
    }

    /// The family of the selection; none if nothing limits how far it is seen.
    fn keys_family(&self) -> Result<Option<Family>, EngineError> {
        self.family(Purpose::Keys, &self.unasked_plan_of_units(), "")
    }

    /// A turn at selecting keys, which nobody else has until it is answered; none after waiting for
    /// somebody who had it. It is held as a path is, and costs nothing.
    fn turn(&mut self, name: &SelectionName) -> Result<Option<Claim>, EngineError> {
        let (request, name) = (self.context.next_request()?, name.to_string());
        match self.context.engine.take_turn(&name, self.context.unit(), request)? {
            Turn::Own(claim) => Ok(Some(claim)),
            Turn::Others(holder) => {
                self.wait_for(turn_path(&name), &holder)?;
                Ok(None)
            }
            Turn::Unclear => Ok(None),
        }
    }

    /// What a selection is found by: what its counts depend on, and its price.
    fn selection_name(&self, selection: &KeySelection) -> Result<SelectionName, EngineError> {
        let units = vec![Sum { summand: Summand::Units, exponent: 0 }];
        let plan = Plan { sums: units, max_rows: 1, max_rows_in_all: None, ..self.plan().clone() };
        let price = format!("/{}/{}/{}", selection.rho, selection.delta, selection.most);
        let counts = Identity::new(Purpose::Keys).plan(&plan).rows(self.context.prepared);
        Ok(SelectionName::new(&counts.bytes(price.as_bytes()).named()?))
    }

    /// The selection that was made, and under which number.
    fn stored(&self, name: &SelectionName) -> Result<Option<(u32, Selected)>, EngineError> {
        for number in 0.. {
            let key = RequestKey::Selection { name: name.clone(), number }.key()?;
            match self.context.ledger().stored_request(key).wait()? {
                None => return Ok(None),
                // Paid for and lost, or being drawn by somebody else.
                Some(None) => {}
                Some(Some(answered)) => {
                    let selected =
                        serde_json::from_slice(answered.body()).map_err(EngineError::damaged)?;
                    return Ok(Some((number, selected)));
                }
            }
        }
        Ok(None)
    }

    fn has_paid(
        &self,
        name: &SelectionName,
        selected: &Selected,
        account: &str,
    ) -> Result<bool, EngineError> {
        if selected.payers.iter().any(|payer| payer == account) {
            return Ok(true);
        }
        let key = payment(name, account).key()?;
        Ok(matches!(self.context.ledger().stored_request(key).wait()?, Some(Some(_))))
    }
}

/// A selection of keys that is bought.
struct Selecting<'n> {
    name: &'n SelectionName,
    selection: KeySelection,
    /// How often it was paid for and lost.
    number: u32,
    /// What the asker has seen of all selections that differ only in their bounds.
    family: Option<Family>,
}

impl<'a> Order<'a, Asking<'a>> for Selecting<'_> {
    type Own = Spend<KeySelection>;
    type Others = Spend<KeySelection>;
    type Made = Selected;

    fn offer(
        &mut self,
        asking: &mut Asking<'a>,
        again: Again,
    ) -> Result<Offer<Self::Own, Self::Others, Selected>, EngineError> {
        if again != Again::First
            && let Some((_, selected)) = asking.stored(self.name)?
        {
            return Ok(Offer::Made(selected));
        }
        if again == Again::Taken {
            // Somebody else's, or lost: under the next number it is paid for anew.
            let next = self.number.checked_add(1);
            let many = || EngineError::damaged("too many selections of the same keys");
            self.number = next.ok_or_else(many)?;
        }
        let key = RequestKey::Selection { name: self.name.clone(), number: self.number };
        let request = asking.context.request(&key)?;
        let own = Spend(self.selection);
        let others = asking.context.payers().others.iter();
        let others = others.map(|account| (account.name.clone(), own.clone()));
        // In a family what one key shows is summed.
        let family = self.family.as_ref().map(|family| {
            let (most, delta) = (NonZeroU32::MIN, Amount::ZERO);
            let adjacency = Adjacency::AddRemove;
            let seen = KeySelection { most, delta, adjacency, ..self.selection };
            (family.account.clone(), Spend(seen))
        });
        let others = others.chain(family).collect();
        Ok(Offer::Charge { request, own, others, path: None })
    }

    fn still_holds(&mut self, asking: &mut Asking<'a>) -> Result<bool, EngineError> {
        asking.family_holds(self.family.as_ref())?;
        Ok(true)
    }

    fn draw(
        &mut self,
        asking: &mut Asking<'a>,
        own: Receipt<KeySelection>,
        others: Vec<Receipt<KeySelection>>,
    ) -> Result<Drawn<Selected>, EngineError> {
        for receipt in others {
            let _ = receipt.redeem();
        }
        // Groups by their numbers: their names are looked up once it is known which may be shown.
        let paid = rho_of(self.selection.charge());
        let counts = asking.read_rows(paid)?.key_counts(self.selection.most);
        let counts = counts.map_err(|error| {
            asking.context.unread(error, |error| EngineError::Rows(error, paid))
        })?;
        let numbers =
            select_keys(&counts, own, &mut asking.context.entropy).map_err(EngineError::damaged)?;
        let keys = asking.read_rows(paid)?.keys(&numbers);
        let mut keys = keys.map_err(|error| {
            asking.context.unread(error, |error| EngineError::Rows(error, paid))
        })?;
        keys.sort();
        let selected = Selected { keys, payers: asking.context.payers().names() };
        let body = serde_json::to_vec(&selected).map_err(EngineError::damaged)?;
        let own = asking.context.own().name.clone();
        asking.count_keys(&own, self.selection.charge());
        Ok(Drawn { body, state: None, round: None, made: selected })
    }
}

/// What an account pays for keys that were selected before.
struct Payment<'n> {
    name: &'n SelectionName,
    account: &'n str,
    charge: Charge,
    /// What the asker has seen of all selections that differ only in their bounds, and what it sees
    /// of this one.
    family: Option<(Family, Amount<Rho>)>,
}

impl<'a> Order<'a, Asking<'a>> for Payment<'_> {
    type Own = Spend<Charge>;
    type Others = Spend<Charge>;
    type Made = ();

    fn offer(
        &mut self,
        asking: &mut Asking<'a>,
        again: Again,
    ) -> Result<Offer<Spend<Charge>, Spend<Charge>, ()>, EngineError> {
        // It was charged for this or another question of this account, and the program ended before
        // it said so or has not said so yet.
        if again == Again::Taken {
            return Ok(Offer::Made(()));
        }
        let request = asking.context.request(&payment(self.name, self.account))?;
        let nothing = Charge::Zcdp { rho: Amount::ZERO, delta: Amount::ZERO };
        let mut others = vec![(self.account.to_owned(), Spend(self.charge))];
        if let Some((family, rho)) = &self.family {
            let seen = Charge::Zcdp { rho: *rho, delta: Amount::ZERO };
            others.push((family.account.clone(), Spend(seen)));
        }
        Ok(Offer::Charge { request, own: Spend(nothing), others, path: None })
    }

    fn still_holds(&mut self, asking: &mut Asking<'a>) -> Result<bool, EngineError> {
        asking.family_holds(self.family.as_ref().map(|(family, _)| family))?;
        Ok(true)
    }

    fn draw(
        &mut self,
        asking: &mut Asking<'a>,
        own: Receipt<Charge>,
        others: Vec<Receipt<Charge>>,
    ) -> Result<Drawn<()>, EngineError> {
        for receipt in std::iter::once(own).chain(others) {
            let _ = receipt.redeem();
        }
        asking.count_keys(self.account, self.charge);
        Ok(Drawn { body: b"paid".to_vec(), state: None, round: None, made: () })
    }
}

/// The key under which an account pays for a selection.
fn payment(name: &SelectionName, account: &str) -> RequestKey {
    RequestKey::SelectionSeen { name: name.clone(), by: AccountDigest::new(account) }
}
