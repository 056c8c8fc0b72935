//! What is stored of a watch: one request a step, under keys that follow from the watch and the
//! step.
//!
//! `watch/ID/STEP/ATTEMPT` charges and answers a step; an attempt whose answer was lost stays paid,
//! and the next one is another draw. `watch/ID/STEP/ATTEMPT/for/ACCOUNT` is what somebody else's
//! account pays for a step that is stored. STEP is its number and a digest of everything up to it,
//! so that two lists of steps which go apart are one watch up to there and two from there on, and
//! neither shows what the other was given. It is read back by later versions: fields are added,
//! never changed.

use std::fmt;

use eke_ledger::Ledger;
use eke_sql::Plan;
use serde::{Deserialize, Serialize};

use crate::error::EngineError;
use crate::purchase::request_key::{AccountDigest, RequestKey, StepName, WatchId};

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
    /// Which attempt it is, which its key says.
    #[serde(skip)]
    pub(super) attempt: u32,
}

impl StoredStep {
    /// Which step of its run it is, from 1.
    pub(super) fn place(&self) -> u64 {
        self.step.saturating_sub(self.run).saturating_add(1)
    }

    /// Whether it can come after the step before it: it begins a run, or goes on with that step's.
    /// A step that goes on is paid for by what its run rises, so what does not hang together must
    /// not be shown.
    pub(super) fn follows(&self, last: Option<&Self>) -> bool {
        let goes_on = |last: &Self| last.step + 1 == self.step && last.run == self.run && !last.hit;
        self.run == self.step || last.is_some_and(goes_on)
    }
}

/// What there is of a step.
pub(super) enum Found {
    /// It was drawn.
    Stored(StoredStep),
    /// It was not, and this is the first attempt that nobody has paid for.
    Open(u32),
}

/// Turns at drawing are held under this.
impl fmt::Display for WatchName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.watch.fmt(f)
    }
}

/// What the keys of a watch are made of.
#[derive(Clone, Debug)]
pub(super) struct WatchName {
    watch: WatchId,
    /// For every step a digest of all that is computed up to it.
    steps: Vec<String>,
}

impl WatchName {
    /// The name of a watch with this identity, that computes these plans one after the other.
    pub(super) fn new<'p>(
        identity: &blake3::Hash,
        plans: impl IntoIterator<Item = &'p Plan>,
    ) -> Self {
        let mut so_far = *identity.as_bytes();
        let step = |plan: &Plan| {
            let mut digest = blake3::Hasher::new_keyed(&so_far);
            digest.update(&plan.digest());
            so_far = *digest.finalize().as_bytes();
            blake3::Hash::from_bytes(so_far).to_hex()[..32].to_owned()
        };
        let steps = plans.into_iter().map(step).collect();
        Self { watch: WatchId::new(identity), steps }
    }

    fn step(&self, step: u64) -> StepName {
        let place = usize::try_from(step).unwrap_or(usize::MAX);
        StepName::new(step, self.steps.get(place).map_or("", String::as_str))
    }

    /// The key of a step's attempt.
    pub(super) fn attempt(&self, step: u64, attempt: u32) -> RequestKey {
        RequestKey::Step { watch: self.watch.clone(), step: self.step(step), attempt }
    }

    /// The key under which an account pays for a step that is stored.
    pub(super) fn payment(&self, stored: &StoredStep, account: &str) -> RequestKey {
        let (watch, step) = (self.watch.clone(), self.step(stored.step));
        let by = AccountDigest::new(account);
        RequestKey::StepSeen { watch, step, attempt: stored.attempt, by }
    }

    /// What there is of a step.
    pub(super) fn find(&self, ledger: &Ledger, step: u64) -> Result<Found, EngineError> {
        for attempt in 0.. {
            let key = self.attempt(step, attempt).key()?;
            match ledger.stored_request(key).wait()? {
                None => return Ok(Found::Open(attempt)),
                // Paid for and lost, or being drawn by somebody else.
                Some(None) => {}
                Some(Some(answered)) => {
                    let mut stored: StoredStep =
                        serde_json::from_slice(answered.body()).map_err(EngineError::damaged)?;
                    if stored.step != step || stored.run > step {
                        return Err(EngineError::damaged("it is another step's"));
                    }
                    stored.attempt = attempt;
                    return Ok(Found::Stored(stored));
                }
            }
        }
        Err(EngineError::damaged("too many attempts at one step"))
    }

    /// Whether an account has paid for a step that others drew.
    pub(super) fn has_paid(
        &self,
        ledger: &Ledger,
        stored: &StoredStep,
        account: &str,
    ) -> Result<bool, EngineError> {
        let key = self.payment(stored, account).key()?;
        Ok(ledger.stored_request(key).wait()?.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(step: u64, run: u64, hit: bool) -> StoredStep {
        StoredStep { step, run, hit, plan: String::new(), payers: vec![], bought: None, attempt: 0 }
    }

    #[test]
    fn a_run_goes_on_from_the_step_before_it_or_begins() {
        assert!(step(0, 0, false).follows(None));
        assert!(step(5, 5, false).follows(Some(&step(4, 2, true))));
        assert!(step(5, 5, true).follows(Some(&step(4, 2, false))));
        assert!(step(5, 2, false).follows(Some(&step(4, 2, false))));
        // The run of another program, one that was hit, one whose steps before were not seen.
        assert!(!step(5, 4, false).follows(Some(&step(4, 2, false))));
        assert!(!step(5, 2, false).follows(Some(&step(4, 2, true))));
        assert!(!step(5, 2, false).follows(Some(&step(3, 2, false))));
        assert!(!step(5, 2, false).follows(None));
    }

    #[test]
    fn steps_and_payments_are_named_by_all_that_came_before_and_by_their_attempt() {
        let query = |filter: i64| Plan {
            version: eke_sql::VERSION,
            dataset: "rides".into(),
            unit_column: "rider".into(),
            adjacency: eke_budget::Adjacency::AddRemove,
            rows: None,
            filter: Some(eke_sql::Expr::Literal(eke_sql::Value::Int(filter))),
            keys: vec![],
            sums: vec![],
            max_groups: 1,
            max_rows: 1,
            max_rows_in_all: None,
        };
        let name = |plans: [i64; 3]| {
            let plans = plans.map(query);
            WatchName::new(&blake3::hash(b"watch"), &plans)
        };
        let (one, other) = (name([1, 2, 3]), name([1, 9, 3]));
        assert_eq!(one.attempt(0, 0), other.attempt(0, 0));
        assert_ne!(one.attempt(1, 0), other.attempt(1, 0));
        assert_ne!(one.attempt(2, 0), other.attempt(2, 0));
        let again = StoredStep { attempt: 1, ..step(0, 0, false) };
        assert_ne!(one.payment(&step(0, 0, false), "ana"), one.payment(&again, "ana"));
        assert_ne!(one.payment(&again, "bob"), one.payment(&again, "ana"));
    }
}
