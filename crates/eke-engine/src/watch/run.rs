//! A run that is being drawn: its line, and what the accounts that see it have set aside.

use eke_budget::purchase::{Round, Rounds, Settlement};
use eke_budget::{Amount, Epsilon, Receipt};
use eke_ledger::{Ledger, Stamp};
use eke_noise::select::{LineLaw, NoisyLine, Run as Whole};
use eke_noise::{Exact, SystemEntropy};
use eke_select::GridLine;

use super::law::Law;
use crate::error::EngineError;

/// A run under way.
pub(super) struct Run {
    /// The step that it began with.
    pub(super) first: u64,
    /// How many steps it was bought for, if it was paid for before it started.
    pub(super) bought: Option<u64>,
    line: NoisyLine<GridLine>,
    /// What the asker's accounts have set aside, beside the unit's.
    others: Vec<(String, Rounds)>,
}

impl Run {
    /// A run that sets aside as it goes.
    pub(super) fn begin(
        first: u64,
        law: &Law,
        own: Receipt<Round>,
        others: Vec<(String, Receipt<Round>)>,
        entropy: &mut SystemEntropy,
    ) -> Self {
        let line = NoisyLine::draw(law.line.clone(), own.redeem(), entropy);
        let others =
            others.into_iter().map(|(name, receipt)| (name, Rounds::new(receipt.redeem())));
        Self { first, bought: None, line, others: others.collect() }
    }

    /// A run that was bought whole.
    pub(super) fn bought(
        first: u64,
        steps: u64,
        receipt: Receipt<Whole<GridLine>>,
        entropy: &mut SystemEntropy,
    ) -> Result<Self, EngineError> {
        let line = NoisyLine::bought(receipt, entropy).map_err(EngineError::damaged)?;
        Ok(Self { first, bought: Some(steps), line, others: Vec::new() })
    }

    /// Adds what was set aside for the next step.
    pub(super) fn pay(
        &mut self,
        own: Receipt<Round>,
        others: Vec<Receipt<Round>>,
    ) -> Result<(), EngineError> {
        self.line.pay(own.redeem()).map_err(EngineError::damaged)?;
        for ((_, rounds), receipt) in self.others.iter_mut().zip(others) {
            rounds.add(receipt.redeem()).map_err(EngineError::damaged)?;
        }
        Ok(())
    }

    /// How many steps there have been.
    pub(super) fn steps(&self) -> u64 {
        self.line.steps()
    }

    /// What must be set aside for the next step beyond what is.
    pub(super) fn next_worst(&self) -> Amount<Epsilon> {
        let law = self.line.law();
        let before = (1..=self.steps()).next_back().map_or(Amount::ZERO, |steps| law.worst(steps));
        law.worst(self.steps() + 1).minus(before).unwrap_or(Amount::ZERO)
    }

    /// Whether the next answer is on the far side of the line.
    pub(super) fn next(
        &mut self,
        truth: &Exact<i64>,
        entropy: &mut SystemEntropy,
    ) -> Result<bool, EngineError> {
        Ok(self.line.next(truth, entropy).map_err(EngineError::damaged)?.get())
    }

    /// What it comes to if it ends now.
    pub(super) fn price(&self) -> Amount<Epsilon> {
        self.line.price()
    }

    /// Ends it at what it came to, in all accounts.
    pub(super) fn end(self, unit: &str, ledger: &Ledger, stamp: &Stamp) -> Result<(), EngineError> {
        let is_whole = self.bought.is_some();
        let ended = self.line.end().map_err(EngineError::damaged)?;
        if is_whole {
            return Ok(());
        }
        let mut all = vec![(unit.to_owned(), ended.settlements)];
        for (name, rounds) in self.others {
            all.push((name, rounds.settle_at(ended.realised).map_err(EngineError::damaged)?));
        }
        settle(all, ledger, stamp)
    }
}

/// Hands rounds to their accounts. A ledger takes one of an account at a time, and writes those
/// that wait together.
pub(super) fn settle(
    mut all: Vec<(String, Vec<Settlement>)>,
    ledger: &Ledger,
    stamp: &Stamp,
) -> Result<(), EngineError> {
    let mut tickets = Vec::new();
    loop {
        let next: Vec<(&str, Settlement)> = all
            .iter_mut()
            .filter_map(|(name, settlements)| Some((&**name, settlements.pop()?)))
            .collect();
        if next.is_empty() {
            break;
        }
        tickets.push(ledger.settle(next, stamp.clone()));
    }
    for ticket in tickets {
        ticket.wait()?;
    }
    Ok(())
}
