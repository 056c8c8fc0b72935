//! Above threshold (sparse vector): one noisy line, and answer after answer compared with it.
//!
//! A run draws the noise of its line once, compares every answer with fresh noise of its own, and
//! ends at the first hit. What it costs is known only afterwards: one price for a hit at step t,
//! another for having stopped after t steps without one. So the worst that the next step can come
//! to is set aside before it is drawn, and the run is settled at what came of it.
//!
//! Invariants: no step is drawn unless what was set aside covers its worst case; the noise of the
//! line never leaves, and is gone with the hit, so that no second answer can be had from it;
//! answers are clamped to the public range that the prices are for.

use std::cmp::Ordering;
use std::fmt;

use eke_budget::convert::pure_to_zcdp;
use eke_budget::number::ParameterError;
use eke_budget::purchase::{AboveWorstCase, OtherRound, Round, Rounds, Settlement};
use eke_budget::{Amount, Charge, Delta, Epsilon, L1, Metric, Purchase, Receipt};

use crate::law::Noise;
use crate::path::{Mismatch, MismatchReason};
use crate::select::noisy::Placed;
use crate::{Entropy, Exact, Released};

/// The law of a run and its prices. Its implementor vouches that the prices are those of the law:
/// no outcome of a run may have a larger privacy loss than the price it names, for answers that one
/// unit changes by at most the sensitivity, clamped to the range.
pub trait LineLaw {
    /// Where the line lies before its noise, in steps of the answers' grid.
    fn threshold(&self) -> i64;

    /// What answers are clamped to.
    fn range(&self) -> (i64, i64);

    /// What one unit can change every answer by.
    fn sensitivity(&self) -> L1;

    /// Whether a hit is an answer above the line, and not one below it.
    fn is_above(&self) -> bool;

    /// The noise of the line and the noise of each answer.
    fn noise(&self) -> (Noise, Noise);

    /// The largest price that a run can have come to after n steps, however they went: never below
    /// that of a hit or a stop there. It does not fall with the steps, but for what prices are
    /// rounded up by: whatever covers a step covers those before it.
    fn worst(&self, steps: u64) -> Amount<Epsilon>;

    /// The price of a hit at this step, from 1 on.
    fn halted(&self, steps: u64) -> Amount<Epsilon>;

    /// The price of n steps without a hit.
    fn stopped(&self, steps: u64) -> Amount<Epsilon>;

    /// The probability that the prices do not bound the loss; none for most laws.
    fn delta(&self) -> Amount<Delta> {
        Amount::ZERO
    }
}

/// A run of above threshold that is under way.
///
/// It is not `Clone`, since a copy would answer twice from one line, and shows nothing of its
/// noise:
/// ```compile_fail,E0599
/// fn copy<L: eke_noise::select::LineLaw>(line: eke_noise::select::NoisyLine<L>) -> eke_noise::select::NoisyLine<L> {
///     line.clone()
/// }
/// ```
#[doc(alias = "sparse vector")]
#[doc(alias = "AboveThreshold")]
#[must_use = "what was set aside for a run stays so until the run is ended"]
pub struct NoisyLine<L> {
    law: L,
    noise: [Noise; 2],
    /// The line with its noise, until it has been hit.
    line: Option<Placed>,
    paid: Paid,
    steps: u64,
}

/// How a run is paid for.
enum Paid {
    /// By what was set aside so far, to be settled.
    Rounds { rounds: Rounds, known: Known },
    /// For this number of steps, before it started.
    Whole(u64),
}

/// How far the rounds are known to reach, so that few prices are computed.
struct Known {
    /// Steps that are covered.
    covered: u64,
    /// The first that is known not to be.
    beyond: u64,
    /// How far ahead to look when the known steps are used up.
    ahead: u64,
}

impl Known {
    const NOTHING: Self = Self { covered: 0, beyond: u64::MAX, ahead: 0 };

    /// Whether a step is covered, given a way to tell.
    fn covers(&mut self, step: u64, fits: impl Fn(u64) -> bool) -> bool {
        if step <= self.covered || step >= self.beyond {
            return step <= self.covered;
        }
        if !fits(step) {
            self.beyond = step;
            return false;
        }
        self.covered = step;
        // A run that goes on without paying again will go on for a while.
        let further = step.saturating_add(self.ahead);
        if further > step && further < self.beyond {
            if fits(further) {
                self.covered = further;
            } else {
                self.beyond = further;
            }
        }
        let room = (self.beyond - self.covered) / 2;
        self.ahead = self.ahead.saturating_mul(2).max(1).min(room);
        true
    }
}

impl<L: LineLaw> NoisyLine<L> {
    /// Draws the noise of a line, for a run that pays with what was set aside.
    pub fn draw<E: Entropy + ?Sized>(law: L, round: Round, entropy: &mut E) -> Self {
        let paid = Paid::Rounds { rounds: Rounds::new(round), known: Known::NOTHING };
        Self::paid(law, paid, entropy)
    }

    /// Draws the noise of a line, for a run that was bought whole.
    ///
    /// # Errors
    /// The account that paid protects something else than whole units; the receipt comes back.
    pub fn bought<E: Entropy + ?Sized>(
        receipt: Receipt<Run<L>>,
        entropy: &mut E,
    ) -> Result<Self, Mismatch<Run<L>>> {
        if !matches!(receipt.metric(), Metric::Hamming(_)) {
            let reason = MismatchReason::OtherMetric;
            return Err(Mismatch { receipt: Box::new(receipt), reason });
        }
        let Run { law, steps, .. } = receipt.redeem();
        Ok(Self::paid(law, Paid::Whole(steps), entropy))
    }

    fn paid<E: Entropy + ?Sized>(law: L, paid: Paid, entropy: &mut E) -> Self {
        let (line, query) = law.noise();
        let at = Placed::new(law.threshold(), &line, entropy);
        Self { law, noise: [line, query], line: Some(at), paid, steps: 0 }
    }

    /// Adds what was set aside for going on.
    ///
    /// # Errors
    /// The round is another account's, or the run was bought whole; the round comes back.
    pub fn pay(&mut self, round: Round) -> Result<(), OtherRound> {
        match &mut self.paid {
            Paid::Rounds { rounds, known } => {
                rounds.add(round)?;
                (known.beyond, known.ahead) = (u64::MAX, 0);
                Ok(())
            }
            Paid::Whole(_) => Err(OtherRound { round }),
        }
    }

    /// Whether the next answer is on the far side of the line. The run is over if it is.
    ///
    /// - Theorem: above-threshold (docs/theorems.md)
    /// - Proves: the outcomes so far have a privacy loss of at most the price that the law names
    ///   for them
    /// - Assumes: the prices are those of the law (its implementor); one unit changes the truth by
    ///   at most the sensitivity (caller)
    /// - Deviates: nothing; noise is on the real line, and answers are clamped to the range
    /// - Checked by: `hits_come_as_often_as_the_law_says`,
    ///   `above_threshold_costs_its_price_and_no_less`, `a_line_is_not_used_again_after_a_hit`,
    ///   `a_step_that_is_not_paid_for_draws_nothing`
    ///
    /// # Errors
    /// The run is over, what was set aside does not cover the step, or the truth has another
    /// sensitivity. Nothing is drawn, and the run is as it was.
    pub fn next<E: Entropy + ?Sized>(
        &mut self,
        truth: &Exact<i64>,
        entropy: &mut E,
    ) -> Result<Released<bool>, LineError> {
        let Some(line) = &mut self.line else { return Err(LineError::Over) };
        if *truth.sensitivity() != self.law.sensitivity() {
            return Err(LineError::OtherSensitivity);
        }
        let step = self.steps.saturating_add(1);
        match &mut self.paid {
            Paid::Whole(steps) if step > *steps => return Err(LineError::Whole { steps: *steps }),
            Paid::Whole(_) => {}
            Paid::Rounds { rounds, known } => {
                let fits = |steps| self.law.worst(steps) <= rounds.worst();
                if rounds.delta() < self.law.delta() || !known.covers(step, fits) {
                    let (epsilon, delta) = (self.law.worst(step), self.law.delta());
                    let needed = Charge::Pure { epsilon, delta };
                    let paid = Charge::Pure { epsilon: rounds.worst(), delta: rounds.delta() };
                    return Err(LineError::Unpaid { step, needed, paid });
                }
            }
        }
        self.steps = step;
        let (low, high) = self.law.range();
        let [of_line, of_query] = &self.noise;
        let mut answer = Placed::new((*truth.open()).max(low).min(high), of_query, entropy);
        let order = answer.compare(of_query, line, of_line, entropy);
        let far = if self.law.is_above() { Ordering::Greater } else { Ordering::Less };
        if order == far {
            self.line = None;
        }
        Ok(Released::new(order == far))
    }

    /// The law.
    pub fn law(&self) -> &L {
        &self.law
    }

    /// How many steps there have been.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Whether the line has been hit.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.line.is_none()
    }

    /// What the run comes to if it ends now.
    #[must_use]
    pub fn price(&self) -> Amount<Epsilon> {
        match self.steps {
            0 => Amount::ZERO,
            steps if self.is_over() => self.law.halted(steps),
            steps => self.law.stopped(steps),
        }
    }

    /// Ends the run at what it came to. Of a run that was bought whole nothing goes back.
    ///
    /// # Errors
    /// It came to more than the worst case that the law named for it: the law was wrong about
    /// itself, and everything stays reserved.
    pub fn end(self) -> Result<Ended, AboveWorstCase> {
        let (price, steps, hit) = (self.price(), self.steps, self.is_over());
        let (realised, settlements) = match self.paid {
            Paid::Whole(_) => (price, Vec::new()),
            Paid::Rounds { rounds, .. } => {
                // What was set aside covers a step that is no earlier, so it covers this one,
                // though its own price may have been rounded up a little further.
                let rounded = price > rounds.worst() && price <= self.law.worst(steps);
                let realised = if rounded { rounds.worst() } else { price };
                (realised, rounds.settle_at(realised)?)
            }
        };
        Ok(Ended { realised, steps, hit, settlements })
    }
}

impl<L> fmt::Debug for NoisyLine<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NoisyLine(..)")
    }
}

/// A run that has ended.
#[derive(Debug)]
#[must_use = "rounds stay at their worst case until their account has the settlements"]
pub struct Ended {
    /// What its outcomes came to.
    pub realised: Amount<Epsilon>,
    /// How many steps there were.
    pub steps: u64,
    /// Whether the last was a hit.
    pub hit: bool,
    /// Its rounds, to be handed to their account.
    pub settlements: Vec<Settlement>,
}

/// A run of n steps at most, to be bought as zCDP before it starts.
#[derive(Clone, Debug)]
pub struct Run<L> {
    law: L,
    steps: u64,
    charge: Charge,
}

impl<L: LineLaw> Run<L> {
    /// A run of n steps at most, at the price of its worst outcome.
    ///
    /// - Theorem: pure-to-zcdp (docs/theorems.md)
    /// - Proves: what cannot lose more than epsilon is `epsilon tanh(epsilon/2)`-zCDP; nothing of
    ///   it goes back, since a realised price may not be charged as zCDP
    /// - Assumes: the prices are those of the law (its implementor)
    /// - Deviates: rounded up
    /// - Checked by: `a_run_bought_whole_costs_its_worst_case_and_gives_nothing_back`
    ///
    /// # Errors
    /// The price is more than a rho can be.
    pub fn new(law: L, steps: u64) -> Result<Self, ParameterError> {
        let metric = Metric::Hamming(eke_budget::Adjacency::AddRemove);
        let rho = pure_to_zcdp(law.worst(steps).to_parameter()?, metric)?;
        let charge = Charge::Zcdp { rho: Amount::at_least(rho), delta: law.delta() };
        Ok(Self { law, steps, charge })
    }
}

impl<L> Purchase for Run<L> {
    fn charge(&self) -> Charge {
        self.charge
    }
}

/// Why a step was not drawn. The run is as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LineError {
    /// The line has been hit.
    #[error("the line was hit, and the run is over: end it, and start another")]
    Over,
    /// What was set aside does not cover the step.
    #[error("step {step} needs {needed} set aside, and {paid} is: set aside more, or end the run")]
    Unpaid {
        /// The step, from 1.
        step: u64,
        /// What it needs to have been set aside for the run.
        needed: Charge,
        /// What was.
        paid: Charge,
    },
    /// The run was bought whole, and has had all its steps.
    #[error("the run was bought for {steps} steps, and has had them: end it, and start another")]
    Whole {
        /// How many.
        steps: u64,
    },
    /// The truth has another sensitivity than the one that is priced.
    #[error("the truth is for another sensitivity than the line's prices")]
    OtherSensitivity,
}
