//! What a device stores: its values, its chains and its account, as one piece.
//!
//! A name, a version byte, a digest and JSON. What a version means never changes: devices outlive
//! code. What has been spent is not stored: it is what the chains have cost, those that were
//! forgotten as two sums. So charge and chain cannot come apart. How long it is depends on what was
//! asked and how often it was stored, and on no value and no report.

use std::collections::BTreeMap;

use eke_budget::{
    Account, Amount, Budget, Epsilon, Level, Metric, PathId, Price, Rho, Standing, Totals,
};
use eke_noise::{Categories, CategoryPath, ChainPrice};
use serde::{Deserialize, Serialize};

use crate::device::mechanism::Currency;

const NAME: &[u8] = b"eke device";
const VERSION: u8 = 1;
const DIGEST: usize = 32;

/// Why stored bytes are no device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DamagedDevice {
    /// Something else.
    #[error("what is stored is not a device: nothing was read or written")]
    NoDevice,
    /// A newer format.
    #[error(
        "the device was stored in format {0}, which is newer than this program: use a newer one"
    )]
    Newer(u8),
    /// Cut off or changed.
    #[error(
        "what is stored of the device is damaged: restore the newest copy, since a new device would have a full budget"
    )]
    Damaged,
}

/// Everything that a device must not lose.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct State {
    pub(crate) name: String,
    pub(crate) budget: Budget,
    /// How often it has been stored.
    pub(crate) generation: u64,
    pub(crate) components: BTreeMap<String, Held>,
    pub(crate) chains: Vec<Kept>,
    pub(crate) forgotten: Forgotten,
}

/// A component, and what it is now.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Held {
    pub(crate) categories: Categories,
    /// The step of time.
    pub(crate) step: u64,
    /// What is reported where nothing was recorded.
    pub(crate) otherwise: u32,
    #[serde(with = "digits")]
    pub(crate) value: u32,
}

/// A value as eight hexadecimal digits, whatever it is.
mod digits {
    use serde::{Deserialize, Deserializer, Serializer, de};

    // The shape is serde's.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    pub(super) fn serialize<S: Serializer>(value: &u32, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&format!("{value:08x}"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
        let text = String::deserialize(from)?;
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if text.len() != 8 || !text.bytes().all(is_digit) {
            return Err(de::Error::custom("a value is eight hexadecimal digits"));
        }
        u32::from_str_radix(&text, 16).map_err(de::Error::custom)
    }
}

/// A chain of a question at a step.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Kept {
    pub(crate) question: String,
    pub(crate) component: String,
    pub(crate) step: u64,
    pub(crate) currency: Currency,
    pub(crate) path: CategoryPath,
}

/// What chains have cost that are not kept any more.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Forgotten {
    pub(crate) epsilon: Amount<Epsilon>,
    pub(crate) rho: Amount<Rho>,
}

impl State {
    /// Its bytes.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        // Nothing in it fails to be written to memory.
        let body = serde_json::to_vec(self).unwrap_or_default();
        let mut bytes = NAME.to_vec();
        bytes.push(VERSION);
        bytes.extend(digest(&body));
        bytes.extend(body);
        bytes
    }

    /// Reads it back, and looks whether it hangs together.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, DamagedDevice> {
        let rest = bytes.strip_prefix(NAME).ok_or(DamagedDevice::NoDevice)?;
        let (&version, rest) = rest.split_first().ok_or(DamagedDevice::Damaged)?;
        if version > VERSION {
            return Err(DamagedDevice::Newer(version));
        }
        let (stated, body) = rest.split_at_checked(DIGEST).ok_or(DamagedDevice::Damaged)?;
        if version != VERSION || stated != digest(body) {
            return Err(DamagedDevice::Damaged);
        }
        let state: Self = serde_json::from_slice(body).map_err(|_| DamagedDevice::Damaged)?;
        if state.hangs_together() { Ok(state) } else { Err(DamagedDevice::Damaged) }
    }

    fn hangs_together(&self) -> bool {
        let in_range = |held: &Held| held.value.max(held.otherwise) < held.categories.get();
        let paid = |kept: &Kept| match kept.currency {
            Currency::Pure => !kept.path.paid::<Epsilon>().is_zero(),
            Currency::Zcdp => !kept.path.paid::<Rho>().is_zero(),
        };
        let of_a_component = |kept: &Kept| {
            self.components.get(&kept.component).is_some_and(|held| {
                kept.step <= held.step && kept.path.chain().categories() == held.categories.get()
            })
        };
        let named = |kept: &Kept| kept.path.id() == kept.id(&self.name);
        self.budget.metric() == Metric::Discrete
            && self.components.values().all(in_range)
            && self.chains.iter().all(|kept| paid(kept) && of_a_component(kept) && named(kept))
    }

    /// The account, as what is kept and what was forgotten have left it.
    pub(crate) fn account(&self) -> Result<Account, DamagedDevice> {
        fn spent<C: ChainPrice>(state: &State, before: Amount<C>) -> Option<Totals<C>> {
            let mut paid = state.chains.iter().map(|kept| kept.path.paid::<C>());
            let spent = paid.try_fold(before, Amount::plus)?;
            Some(Totals { spent, ..Totals::ZERO })
        }
        let damaged = DamagedDevice::Damaged;
        let pure = spent::<Epsilon>(self, self.forgotten.epsilon).ok_or(damaged)?;
        let zcdp = spent::<Rho>(self, self.forgotten.rho).ok_or(damaged)?;
        let has = |purse: bool, spent: bool| {
            if purse {
                Ok(true)
            } else if spent {
                Err(damaged)
            } else {
                Ok(false)
            }
        };
        let standing = Standing {
            account: self.name.as_str().into(),
            budget: self.budget.clone(),
            next_sequence: self.generation,
            next_round: 0,
            zcdp: has(self.budget.zcdp().is_some(), !zcdp.spent.is_zero())?.then_some(zcdp),
            pure: has(self.budget.pure().is_some(), !pure.spent.is_zero())?.then_some(pure),
            rounds: Vec::new(),
        };
        let mut account = Account::restore(&standing).map_err(|_| damaged)?;
        for kept in &self.chains {
            let path = &kept.path;
            match kept.currency {
                Currency::Pure => account.learn_level(path.id(), level::<Epsilon>(path)?),
                Currency::Zcdp => account.learn_level(path.id(), level::<Rho>(path)?),
            }
        }
        Ok(account)
    }
}

fn level<C: ChainPrice>(path: &CategoryPath) -> Result<Level<C>, DamagedDevice> {
    let sensitivity = one::<C>().ok_or(DamagedDevice::Damaged)?;
    Ok(Level { increments: 1, at: path.paid::<C>(), sensitivity })
}

/// How far apart any two categories are.
pub(crate) fn one<C: Price>() -> Option<C::Sensitivity> {
    C::Sensitivity::try_from(1.0).ok()
}

impl Kept {
    pub(crate) fn id(&self, device: &str) -> PathId {
        path_id(device, &self.question, &self.component, self.step)
    }
}

/// The path of a question at a step. It never depends on a value.
pub(crate) fn path_id(device: &str, question: &str, component: &str, step: u64) -> PathId {
    let mut hasher = blake3::Hasher::new_derive_key("eke device 1: the chain of a question");
    for part in [device, question, component] {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
    }
    PathId::new(*hasher.update(&step.to_le_bytes()).finalize().as_bytes())
}

fn digest(body: &[u8]) -> [u8; DIGEST] {
    let mut hasher = blake3::Hasher::new_derive_key("eke device 1: what is stored");
    *hasher.update(body).finalize().as_bytes()
}
