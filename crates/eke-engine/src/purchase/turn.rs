//! Turns: what one program at a time does, while the others wait or look on.
//!
//! A turn is held as a path is, by a request that costs nothing, until it is answered. A turn
//! whose program has ended is given up by the next program that wants it.

use std::num::NonZeroU32;
use std::time::Duration;

use eke_budget::purchase::GroupPrices;
use eke_budget::{Epsilon, PathId, Price, Rho};
use eke_ledger::{Answer as Body, Claim, Key, LedgerError, Outcome, RaiseGroups, Request, Stamp};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::policy::AccountSpec;
use crate::purchase::audience::taken_at;
use crate::purchase::request_key::RequestKey;

/// How long is waited before looking again.
const PAUSE: Duration = Duration::from_millis(50);
/// How often, before it is said that somebody else is at it.
const LOOKS: u32 = 1200;
/// After how long a question that was asked on another machine is taken to be lost, in sight of
/// those who wait for it. If it is not, they may see when it is charged.
const LONGEST_ELSEWHERE_MICROS: i64 = 3_600_000_000;

/// Whose turn it is.
pub(crate) enum Turn {
    /// One's own.
    Own(Claim),
    /// Somebody else's request.
    Others(Key),
    /// Not known: try again.
    Unclear,
}

impl Engine {
    /// Takes a turn, if it is nobody else's. It is held in a currency that the unit's account has.
    pub(crate) fn take_turn(
        &self,
        name: &str,
        unit: &AccountSpec,
        request: Request,
    ) -> Result<Turn, EngineError> {
        match unit.budget.zcdp() {
            Some(_) => self.hold::<Rho>(name, unit, request),
            None => self.hold::<Epsilon>(name, unit, request),
        }
    }

    fn hold<C: Price + Send + Sync>(
        &self,
        name: &str,
        unit: &AccountSpec,
        request: Request,
    ) -> Result<Turn, EngineError> {
        let mut nothing = GroupPrices::<C>::new(1, NonZeroU32::MIN, unit.budget.metric());
        let own = RaiseGroups::new(nothing.round().offer(turn_path(name)));
        let others: Vec<(&str, RaiseGroups<C>)> = Vec::new();
        match self.ledger().charge(request, &unit.name, own, others).wait() {
            Ok(Outcome::Charged(charged)) => Ok(Turn::Own(charged.claim)),
            Err(LedgerError::UnderWay { holder, .. }) => Ok(Turn::Others(holder)),
            Ok(Outcome::Answered(_)) | Err(LedgerError::Moved(_)) => Ok(Turn::Unclear),
            Err(error) => Err(error.into()),
        }
    }

    /// Ends a turn of one's own.
    pub(crate) fn end_turn(&self, turn: Claim, stamp: Stamp) -> Result<(), EngineError> {
        let done = Body::new("").with_state(Vec::new());
        self.ledger().answer(turn, done, stamp).wait()?;
        Ok(())
    }

    /// Waits for a request that holds a path or a turn, and gives it up if its program has ended.
    /// Also ends as soon as there is something else to do.
    pub(crate) fn wait_for_holder(
        &self,
        unit: &str,
        path: PathId,
        holder: &Key,
        stamp: &Stamp,
        enough: &dyn Fn() -> Result<bool, EngineError>,
    ) -> Result<(), EngineError> {
        if self.give_up_lost(unit, path, holder, stamp)? {
            return Ok(());
        }
        for _ in 0..LOOKS {
            std::thread::sleep(PAUSE);
            let now = self.ledger().path(path).wait()?.and_then(|path| path.holder);
            if now.as_ref() != Some(holder) || enough()? {
                return Ok(());
            }
        }
        Err(EngineError::UnderWay(holder.to_string()))
    }

    /// Gives up a request whose program has ended, and says whether it has.
    pub(crate) fn give_up_lost(
        &self,
        unit: &str,
        path: PathId,
        holder: &Key,
        stamp: &Stamp,
    ) -> Result<bool, EngineError> {
        let Ok(request) = holder.as_str().parse::<RequestKey>() else { return Ok(false) };
        let Some(asking) = request.asking() else { return Ok(false) };
        let is_lost = asking.program.has_ended(self.address())
            || taken_at(&request).is_some_and(|taken| {
                let age = stamp.at.micros().saturating_sub(taken);
                asking.program.is_elsewhere() && age > LONGEST_ELSEWHERE_MICROS
            });
        if !is_lost {
            return Ok(false);
        }
        match self.ledger().give_up(unit, path, holder.clone(), stamp.clone()).wait() {
            // Its asker saw that it failed.
            Ok(()) => self.abandoned(unit, &request, stamp)?,
            Err(LedgerError::NotHeld(_)) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(true)
    }
}

/// The path that stands for a turn.
pub(crate) fn turn_path(name: &str) -> PathId {
    PathId::new(*blake3::hash(name.as_bytes()).as_bytes())
}
