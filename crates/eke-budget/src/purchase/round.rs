//! Ex-post rounds: mechanisms whose price is known only afterwards.
//!
//! The worst case is reserved before the round starts and counts as spent until the round is
//! settled at its realised price, which goes to the pure purse. It never becomes zCDP: charging a
//! realised price as epsilon squared over two is false (docs/theorems.md, ex-post-not-zcdp), and no
//! verb here does it.

use crate::evidence::Instance;
use crate::{Amount, Delta, Epsilon, Receipt, Refusal};

/// A round that may run: what a redeemed receipt of a reservation gives. Only an account makes one,
/// and it ends by being settled. One that is dropped stays at its worst case for good.
#[derive(Debug)]
#[must_use = "a round stays at its worst case until it is settled"]
#[doc(alias = "ex-post privacy")]
pub struct Round {
    pub(crate) account: Instance,
    pub(crate) id: u64,
    pub(crate) worst: Amount<Epsilon>,
    pub(crate) delta: Amount<Delta>,
}

impl Round {
    /// The number of the round in its account.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The largest price the round may come to.
    #[must_use]
    pub fn worst(&self) -> Amount<Epsilon> {
        self.worst
    }

    /// The probability that its price does not bound its loss.
    #[must_use]
    pub fn delta(&self) -> Amount<Delta> {
        self.delta
    }

    /// Lets the round go on to a larger worst case, now that it is recorded.
    ///
    /// # Errors
    /// The receipt is another round's, and comes back.
    pub fn extended(&mut self, receipt: Receipt<Extension>) -> Result<(), Box<Receipt<Extension>>> {
        let Extension { account, round, to } = *receipt.purchase();
        if account != self.account || round != self.id {
            return Err(Box::new(receipt));
        }
        receipt.redeem();
        self.worst = to;
        Ok(())
    }

    /// Ends the round at the price that its output came to.
    ///
    /// # Errors
    /// The price is above the reserved worst case: the mechanism was wrong about itself. The round
    /// is over, and stays reserved at its worst case for good.
    pub fn settle_at(self, realised: Amount<Epsilon>) -> Result<Settlement, AboveWorstCase> {
        if realised <= self.worst {
            Ok(Settlement { round: self, realised })
        } else {
            Err(AboveWorstCase { round: self.id, worst: self.worst, realised })
        }
    }
}

/// The rounds that were set aside one after another for one run of a mechanism, all by one account.
///
/// A run that cannot know how far it will go reserves as it goes. What it may come to in the end is
/// what its rounds have reserved together, and what is left of that goes back from the last one on.
#[derive(Debug)]
#[must_use = "rounds stay at their worst case until they are settled"]
pub struct Rounds {
    rounds: Vec<Round>,
    worst: Amount<Epsilon>,
    delta: Amount<Delta>,
}

impl Rounds {
    /// A run that starts with this round.
    pub fn new(first: Round) -> Self {
        let (worst, delta) = (first.worst, first.delta);
        Self { rounds: vec![first], worst, delta }
    }

    /// Adds what was set aside for going on.
    ///
    /// # Errors
    /// The round is another account's, or all of them together are more than an amount holds. It
    /// comes back, and the others are as they were.
    pub fn add(&mut self, round: Round) -> Result<(), OtherRound> {
        let same = self.rounds.iter().all(|ours| ours.account == round.account);
        let sums = self.worst.plus(round.worst).zip(self.delta.plus(round.delta));
        let Some((worst, delta)) = sums.filter(|_| same) else { return Err(OtherRound { round }) };
        (self.worst, self.delta) = (worst, delta);
        self.rounds.push(round);
        Ok(())
    }

    /// The largest price the run may come to.
    #[must_use]
    pub fn worst(&self) -> Amount<Epsilon> {
        self.worst
    }

    /// The deltas of all rounds.
    #[must_use]
    pub fn delta(&self) -> Amount<Delta> {
        self.delta
    }

    /// Ends the run at the price that its output came to. The first rounds keep as much of it as
    /// they reserved; what is left over goes back from the last one on.
    ///
    /// # Errors
    /// The price is above what was reserved: the mechanism was wrong about itself. The run is over,
    /// and all its rounds stay reserved at their worst cases for good.
    pub fn settle_at(self, realised: Amount<Epsilon>) -> Result<Vec<Settlement>, AboveWorstCase> {
        if realised > self.worst {
            let round = self.rounds.first().map_or(0, Round::id);
            return Err(AboveWorstCase { round, worst: self.worst, realised });
        }
        let mut left = realised;
        let settlements = self.rounds.into_iter().map(|round| {
            let realised = left.min(round.worst);
            left = left.minus(realised).unwrap_or(Amount::ZERO);
            Settlement { round, realised }
        });
        Ok(settlements.collect())
    }
}

/// A round that was not added to a run.
#[derive(Debug, thiserror::Error)]
#[error("round {} belongs to another account than the run: reserve it where the run started", round.id)]
pub struct OtherRound {
    /// The round, still reserved.
    pub round: Round,
}

/// A larger worst case of a running round, bought. Only an account makes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extension {
    pub(crate) account: Instance,
    pub(crate) round: u64,
    pub(crate) to: Amount<Epsilon>,
}

impl Extension {
    /// The round.
    #[must_use]
    pub fn round(&self) -> u64 {
        self.round
    }

    /// Its worst case from now on.
    #[must_use]
    pub fn to(&self) -> Amount<Epsilon> {
        self.to
    }
}

/// A round that has ended, to be handed to its account.
///
/// There is no way to a zCDP charge from here:
/// ```compile_fail,E0277
/// use eke_budget::Account;
/// use eke_budget::purchase::Settlement;
/// fn as_zcdp(account: &mut Account, settlement: Settlement) {
///     let _ = account.approve(settlement);
/// }
/// ```
#[derive(Debug)]
#[must_use = "a round stays at its worst case until its account has the settlement"]
pub struct Settlement {
    pub(crate) round: Round,
    pub(crate) realised: Amount<Epsilon>,
}

impl Settlement {
    /// The number of the round in its account.
    #[must_use]
    pub fn round(&self) -> u64 {
        self.round.id
    }

    /// What the round came to.
    #[must_use]
    pub fn realised(&self) -> Amount<Epsilon> {
        self.realised
    }
}

/// A realised price above the reserved worst case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "round {round} came to epsilon {realised}, above its reserved worst case {worst}: its mechanism is wrong, and the round stays reserved"
)]
pub struct AboveWorstCase {
    /// The round.
    pub round: u64,
    /// What was reserved.
    pub worst: Amount<Epsilon>,
    /// The price it claims to have come to.
    pub realised: Amount<Epsilon>,
}

/// Why a round's worst case could not grow. It is as it was.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ExtendError<E> {
    /// The difference does not fit what is left.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The worst case asked for is not larger.
    #[error("round {round} already has a worst case of {worst}: ask for a larger one")]
    NotLarger {
        /// The round.
        round: u64,
        /// Its worst case.
        worst: Amount<Epsilon>,
    },
    /// The round is not running in this account.
    #[error("round {round} is not running in this account")]
    NotRunning {
        /// The round.
        round: u64,
    },
    /// The journal failed.
    #[error("the larger worst case could not be recorded, so the round may not go on: {0}")]
    Journal(E),
}

/// A settlement that could not be taken. The round stays reserved.
#[derive(Debug)]
pub struct Unsettled<E> {
    /// The settlement, to be tried again.
    pub settlement: Settlement,
    /// Why it was not taken.
    pub reason: UnsettledReason<E>,
}

/// Why a settlement was not taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UnsettledReason<E> {
    /// The round is not running in this account.
    #[error("the round is not running in this account")]
    NotRunning,
    /// The journal failed.
    #[error("the settlement could not be recorded, so the round stays reserved: {0}")]
    Journal(E),
}
