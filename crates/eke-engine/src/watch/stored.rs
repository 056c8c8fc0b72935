//! What is stored of a watch: one request a step, under keys that follow from the watch and the step.
//!
//! `watch/ID/STEP/ATTEMPT` charges and answers a step; an attempt whose answer was lost stays paid, and the next
//! one is another draw. `watch/ID/STEP/for/ACCOUNT` is what somebody else's account pays for a step that is
//! stored. It is read back by later versions: fields are added, never changed.

use eke_ledger::{Key, Ledger};
use serde::{Deserialize, Serialize};

use crate::error::EngineError;

/// A step as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StoredStep {
    /// Its number, from 0.
    pub(super) step: u64,
    /// The step that its run began with.
    pub(super) run: u64,
    /// Whether it was a hit.
    pub(super) hit: bool,
    /// The digest of what was computed, parameters included.
    pub(super) plan: String,
    /// The accounts that paid for it when it was drawn.
    pub(super) payers: Vec<String>,
    /// How many steps its run was bought for, where it was paid for before it started.
    pub(super) bought: Option<u64>,
}

impl StoredStep {
    /// Which step of its run it is, from 1.
    pub(super) fn place(&self) -> u64 {
        self.step.saturating_sub(self.run).saturating_add(1)
    }
}

/// What there is of a step.
pub(super) enum Found {
    /// It was drawn.
    Stored(StoredStep),
    /// It was not, and this is the first attempt that nobody has paid for.
    Open(u32),
}

/// The name that all keys of a watch begin with.
#[derive(Clone, Debug)]
pub(super) struct WatchName(String);

impl WatchName {
    /// The name of a watch with this identity.
    pub(super) fn new(identity: &blake3::Hash) -> Self {
        Self(format!("watch/{}", identity.to_hex()))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// The key of a step's attempt.
    pub(super) fn attempt(&self, step: u64, attempt: u32) -> String {
        format!("{}/{step}/{attempt}", self.0)
    }

    /// The key under which an account pays for a step that is stored.
    pub(super) fn payment(&self, step: u64, account: &str) -> String {
        let account = blake3::hash(account.as_bytes()).to_hex();
        format!("{}/{step}/for/{}", self.0, &account[..32])
    }

    /// What there is of a step.
    pub(super) fn find(&self, ledger: &Ledger, step: u64) -> Result<Found, EngineError> {
        for attempt in 0.. {
            let key = Key::new(&self.attempt(step, attempt))?;
            match ledger.stored_request(key).wait()? {
                None => return Ok(Found::Open(attempt)),
                // Paid for and lost, or being drawn by somebody else.
                Some(None) => {}
                Some(Some(answered)) => {
                    let stored: StoredStep = serde_json::from_slice(answered.body())
                        .map_err(|error| EngineError::Damaged(error.to_string()))?;
                    if stored.step != step || stored.run > step {
                        return Err(EngineError::Damaged("it is another step's".into()));
                    }
                    return Ok(Found::Stored(stored));
                }
            }
        }
        Err(EngineError::Damaged("too many attempts at one step".into()))
    }

    /// Whether an account has paid for a step that others drew.
    pub(super) fn has_paid(
        &self,
        ledger: &Ledger,
        step: u64,
        account: &str,
    ) -> Result<bool, EngineError> {
        let key = Key::new(&self.payment(step, account))?;
        Ok(ledger.stored_request(key).wait()?.is_some())
    }
}
