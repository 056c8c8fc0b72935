//! The sparse vector technique: hit after hit, for as long as an account pays.
//!
//! Questions come one after another, and nobody says beforehand how many there will be or how many
//! of them will be hits. A run ends with its hit, and the next question starts another with a line
//! of its own, which may be a line of another kind. The account decides: money for a block of steps
//! is set aside before they are drawn, in blocks that double, and a run is settled at what came of
//! it.
//!
//! Invariants: no step is drawn that the account has not set aside the worst case for; the delta of
//! a run is spent when it starts and stays spent; a run that was charged before it started gives
//! nothing back.

use eke_budget::account::Purse;
use eke_budget::evidence::CommitError;
use eke_budget::number::ParameterError;
use eke_budget::purchase::{AboveWorstCase, OtherRound, Settlement, UnsettledReason};
use eke_budget::{Account, Amount, Delta, Epsilon, Journal, Refusal};
use eke_noise::select::{LineError, LineLaw, NoisyLine, Run};
use eke_noise::{Entropy, Exact, Released};

use crate::{GridLine, SelectError};

/// How runs are charged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Filter {
    /// After the fact, at the pure price of what came of a run. No delta is needed.
    ExPost,
    /// After the fact as well, but never more than the price that a run of any length stays below
    /// but for this delta. Every run that is started spends the delta.
    Renyi {
        /// The delta of one run.
        delta: Delta,
    },
    /// Before it starts, as zCDP at the worst case of a run of at most this number of steps. After
    /// as many steps without a hit a new run begins.
    ExAnte {
        /// The most steps of one run.
        steps: u64,
    },
}

/// Run after run against lines, paid by one account.
///
/// ```
/// use eke_budget::*;
/// use eke_noise::{Exact, SystemEntropy};
/// use eke_select::*;
///
/// let budget = BudgetSpec::promising(Epsilon::new(1.0)?).resolve(Metric::Hamming(Adjacency::AddRemove))?;
/// let mut account = Account::open("riders", budget, &mut NoHistory)?;
///
/// let one = L1::new(1.0)?;
/// let line = GridLine::new(AboveThreshold::new(LineSpec {
///     threshold: 500.0,
///     range: (300.0, 700.0),
///     sensitivity: one,
///     change: Change::General,
///     direction: Direction::Above,
///     noise: LineNoise::Gaussian { line: 15.0, query: 26.0 },
/// })?)?;
/// let mut search = SparseVector::new(line, Filter::ExPost)?;
/// let mut entropy = SystemEntropy::new()?;
/// for count in [12, 40, 990] {
///     let hit = search.next(&Exact::new(count, one), &mut account, &mut NoHistory, &mut entropy)?;
///     assert_eq!(hit.get(), count == 990);
/// }
/// assert_eq!(search.hits(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "a run that is not stopped stays at its worst case"]
#[doc(alias = "sparse vector technique")]
#[doc(alias = "SVT")]
pub struct SparseVector {
    law: GridLine,
    filter: Filter,
    run: Option<NoisyLine<GridLine>>,
    /// How many steps the present run is paid for, and what was set aside for it.
    paid: u64,
    reserved: Amount<Epsilon>,
    /// What has ended, and could not be handed to the account yet.
    ended: Vec<Settlement>,
    steps: u64,
    hits: u64,
}

/// The first block of steps that is set aside.
const BLOCK: u64 = 64;

impl SparseVector {
    /// A search along a line.
    ///
    /// # Errors
    /// The filter has no price for this line.
    pub fn new(law: GridLine, filter: Filter) -> Result<Self, SelectError> {
        let law = priced(law, filter)?;
        let (paid, reserved, ended) = (0, Amount::ZERO, Vec::new());
        Ok(Self { law, filter, run: None, paid, reserved, ended, steps: 0, hits: 0 })
    }

    /// How many steps there have been.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// How many of them were hits.
    #[must_use]
    pub fn hits(&self) -> u64 {
        self.hits
    }

    /// Whether a run is under way, so that the line cannot be changed.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.run.is_some()
    }

    /// Goes on along another line: after a hit, or after the run has been stopped. The line that
    /// there was comes back.
    ///
    /// # Errors
    /// A run is under way, or the filter has no price for this line. Everything is as it was.
    pub fn aim(&mut self, law: GridLine) -> Result<GridLine, SelectError> {
        if self.is_running() {
            return Err(SelectError::Running);
        }
        let law = priced(law, self.filter)?;
        Ok(std::mem::replace(&mut self.law, law))
    }

    /// Whether the next answer is on the far side of the line.
    ///
    /// - Theorem: sparse-vector (docs/theorems.md)
    /// - Proves: everything that was released is within the account's budget, however questions,
    ///   lines and noise were chosen after hits
    /// - Assumes: one unit changes every truth by at most the sensitivity (caller)
    /// - Deviates: nothing
    /// - Checked by: `what_a_search_cost_is_the_sum_of_its_runs`, `a_search_ends_with_the_purse`,
    ///   `the_published_filter_breaks_its_promise_and_ours_does_not`
    ///
    /// # Errors
    /// The account does not have enough left for the step, its journal failed, or the truth has
    /// another sensitivity. No answer is drawn, and a run that is under way can be stopped or tried
    /// again.
    pub fn next<J: Journal, E: Entropy + ?Sized>(
        &mut self,
        truth: &Exact<i64>,
        account: &mut Account,
        journal: &mut J,
        entropy: &mut E,
    ) -> Result<Released<bool>, SparseError<J::Error>> {
        if *truth.sensitivity() != self.law.sensitivity() {
            return Err(SparseError::NoisyLine(LineError::OtherSensitivity));
        }
        self.settle(account, journal)?;
        if self.run.as_ref().is_none_or(|run| run.steps() >= self.paid) {
            self.pay(account, journal, entropy)?;
        }
        let run = self.run.as_mut().ok_or(SparseError::NoisyLine(LineError::Over))?;
        let hit = run.next(truth, entropy).map_err(SparseError::NoisyLine)?;
        self.steps += 1;
        if *hit.peek() {
            self.hits += 1;
            self.finish()?;
            // What cannot be recorded now is tried again before the next step.
            let _ = self.settle(account, journal);
        }
        Ok(hit)
    }

    /// Stops the run under way, if there is one, and settles it at the price of its steps without a
    /// hit.
    ///
    /// # Errors
    /// The journal failed: the run is over, and stays reserved until stopping succeeds.
    pub fn stop<J: Journal>(
        &mut self,
        account: &mut Account,
        journal: &mut J,
    ) -> Result<(), SparseError<J::Error>> {
        self.finish()?;
        self.settle(account, journal)
    }

    /// Ends the run under way.
    fn finish<E>(&mut self) -> Result<(), SparseError<E>> {
        (self.paid, self.reserved) = (0, Amount::ZERO);
        if let Some(run) = self.run.take() {
            self.ended.extend(run.end().map_err(SparseError::Worst)?.settlements);
        }
        Ok(())
    }

    fn settle<J: Journal>(
        &mut self,
        account: &mut Account,
        journal: &mut J,
    ) -> Result<(), SparseError<J::Error>> {
        while let Some(settlement) = self.ended.pop() {
            if let Err(unsettled) = account.settle(settlement, journal) {
                self.ended.push(unsettled.settlement);
                return Err(SparseError::Unsettled(unsettled.reason));
            }
        }
        Ok(())
    }

    /// Sets aside the next block of steps, or buys a whole run.
    fn pay<J: Journal, E: Entropy + ?Sized>(
        &mut self,
        account: &mut Account,
        journal: &mut J,
        entropy: &mut E,
    ) -> Result<(), SparseError<J::Error>> {
        if let Filter::ExAnte { steps } = self.filter {
            self.finish()?;
            let run = Run::new(self.law.clone(), steps).map_err(SparseError::Price)?;
            let approved = account.approve(run)?;
            let receipt = account.commit(approved, journal).map_err(not_recorded)?;
            let bought =
                NoisyLine::bought(receipt, entropy).map_err(|_| SparseError::OtherAccount)?;
            self.run = Some(bought);
            self.paid = steps;
            return Ok(());
        }
        let (to, worst) = self.block(account);
        let more = worst.minus(self.reserved).unwrap_or(Amount::ZERO);
        let delta = if self.run.is_none() { self.law.delta() } else { Amount::ZERO };
        let approved = account.reserve(more, delta)?;
        let round = account.commit(approved, journal).map_err(not_recorded)?.redeem();
        match &mut self.run {
            None => self.run = Some(NoisyLine::draw(self.law.clone(), round, entropy)),
            Some(run) => {
                if let Err(OtherRound { round }) = run.pay(round) {
                    // Nothing was drawn for it.
                    if let Ok(settlement) = round.settle_at(Amount::ZERO) {
                        self.ended.push(settlement);
                        self.settle(account, journal)?;
                    }
                    return Err(SparseError::OtherAccount);
                }
            }
        }
        (self.paid, self.reserved) = (to, worst.max(self.reserved));
        Ok(())
    }

    /// How far the next block goes, and the worst case up to there: twice as far as the last one,
    /// or as far as what is left of the account reaches, or one step, so that a refusal is about a
    /// step.
    fn block(&self, account: &Account) -> (u64, Amount<Epsilon>) {
        let left = account.odometer().pure().map_or(Amount::ZERO, Purse::left);
        let within = self.reserved.plus(left).unwrap_or(left);
        let twice = self.paid.saturating_mul(2).max(BLOCK);
        let worst = self.law.worst(twice);
        if worst <= within {
            return (twice, worst);
        }
        let to = self.law.horizon(within).max(self.paid.saturating_add(1));
        (to, self.law.worst(to))
    }
}

/// The line as the filter prices it.
fn priced(law: GridLine, filter: Filter) -> Result<GridLine, SelectError> {
    match filter {
        Filter::Renyi { delta } => law.capped(delta),
        Filter::ExPost | Filter::ExAnte { .. } => Ok(law.uncapped()),
    }
}

fn not_recorded<P, E>(error: CommitError<P, E>) -> SparseError<E> {
    match error {
        CommitError::Journal(error) => SparseError::Journal(error),
        CommitError::OtherAccount(_) | CommitError::Mismatched => SparseError::OtherAccount,
    }
}

/// Why there was no step. No answer was drawn.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SparseError<E> {
    /// The account does not have enough left.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The journal failed.
    #[error("what the next steps need could not be recorded, so nothing was drawn: {0}")]
    Journal(E),
    /// A run that has ended could not be settled, and stays reserved.
    #[error("the last run could not be settled, and stays reserved: try again ({0})")]
    Unsettled(UnsettledReason<E>),
    /// A whole run has no price.
    #[error(transparent)]
    Price(ParameterError),
    /// The account that paid for the run so far is another one, or protects something else than
    /// whole units.
    #[error(
        "another account pays for this run, or this one cannot: stop the run where it was started"
    )]
    OtherAccount,
    /// The truth is not for this line.
    #[error(transparent)]
    NoisyLine(LineError),
    /// The prices of the line contradict each other.
    #[error(transparent)]
    Worst(AboveWorstCase),
}
