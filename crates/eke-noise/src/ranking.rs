//! Rankings: candidates by their scores, the largest first, as far as somebody has paid.
//!
//! Each pick is one draw of the exponential mechanism among those that were not picked before. So a ranking is a
//! path of its own kind: drawn once, from its first pick on; whoever pays for more sees more of the same
//! order; and what was seen is paid for once. It tells the order and no score.

use std::collections::BTreeSet;
use std::sync::Arc;

use eke_budget::{Amount, L2, PathId, Raise, Receipt, Rho};
use serde::{Deserialize, Serialize};

use crate::choice::choose_exponentially;
use crate::exact::clamped;
use crate::path::{Mismatch, MismatchReason};
use crate::{Columns, Entropy, Exact, Ratio, Released, Scores};

/// How one unit moves the scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Moves {
    /// All of them up or all of them down, each by at most the sensitivity: counts, when a unit is added or
    /// removed.
    OneWay,
    /// Some up and some down.
    EitherWay,
}

impl Moves {
    /// How far apart one unit can move two scores, for each step that it can move one.
    #[must_use]
    pub fn spread(self) -> u32 {
        match self {
            Self::OneWay => 1,
            Self::EitherWay => 2,
        }
    }
}

/// The candidates that were picked, in their order.
///
/// ```
/// use eke_budget::*;
/// use eke_noise::{Exact, Moves, Ranking, Scores, SystemEntropy};
///
/// let budget = BudgetSpec::promising(Epsilon::new(8.0)?)
///     .with_delta(Delta::new(1e-6)?)
///     .resolve(Metric::Hamming(Adjacency::AddRemove))?;
/// let mut account = Account::open("authors", budget, &mut NoHistory)?;
///
/// let words = Exact::new(Scores(vec![120, 80, 9640, 11]), L1::new(1.0)?);
/// let each = "0.005".parse()?;
/// let mut ranking = Ranking::open(PathId::new([7; 32]), 4, words.sensitivity(), Moves::OneWay, each)?;
/// let approved = account.raise(ranking.id(), each, ranking.spread())?;
/// let receipt = account.commit(approved, &mut NoHistory)?;
/// let picked = ranking.pick(&words, receipt, &mut SystemEntropy::new()?)?;
/// assert_eq!(picked.peek(), &[2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Ranking {
    stored: Stored,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    id: PathId,
    /// The account that pays for it.
    payer: Option<Arc<str>>,
    candidates: u32,
    moves: Moves,
    spread: L2,
    each: Amount<Rho>,
    picked: Vec<u32>,
}

/// What is stored is not a ranking, or its price cannot be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RankingError {
    /// A pick costs nothing, or so much that no double holds its rate.
    #[error("a pick of a ranking needs a price, and scores whose sensitivity is within range")]
    Price,
    /// What is stored does not hang together.
    #[error(
        "what is stored of the ranking does not hang together: it is not a ranking, or damaged"
    )]
    Damaged,
}

impl Ranking {
    /// A ranking of which nothing has been picked: so many candidates, whose scores one unit changes by at most
    /// the sensitivity each, at a price a pick.
    ///
    /// # Errors
    /// The price is nothing, or out of range for that sensitivity.
    pub fn open(
        id: PathId,
        candidates: u32,
        sensitivity: &eke_budget::L1,
        moves: Moves,
        each: Amount<Rho>,
    ) -> Result<Self, RankingError> {
        let spread = spread(sensitivity.get(), moves).ok_or(RankingError::Price)?;
        rate(each, spread).ok_or(RankingError::Price)?;
        let picked = Vec::new();
        Ok(Self { stored: Stored { id, payer: None, candidates, moves, spread, each, picked } })
    }

    /// Which path it is.
    #[must_use]
    pub fn id(&self) -> PathId {
        self.stored.id
    }

    /// How far one unit can move two scores apart: the sensitivity that it is paid for.
    #[must_use]
    pub fn spread(&self) -> L2 {
        self.stored.spread
    }

    /// What a pick costs.
    #[must_use]
    pub fn each(&self) -> Amount<Rho> {
        self.stored.each
    }

    /// Those that were picked, the first one first.
    #[must_use]
    pub fn picked(&self) -> &[u32] {
        &self.stored.picked
    }

    /// How many are left to be picked.
    #[must_use]
    pub fn left(&self) -> u32 {
        self.stored.candidates - u32::try_from(self.stored.picked.len()).unwrap_or(u32::MAX)
    }

    /// Picks as many more as were paid for, and returns those.
    ///
    /// - Theorem: peeling (docs/theorems.md)
    /// - Proves: picks by the exponential mechanism at rate e, each among those that are left, cost
    ///   `(e spread)²/8` zCDP each
    /// - Assumes: candidates are public or were selected; one unit changes each score by at most its
    ///   sensitivity, in the directions that were said (caller)
    /// - Deviates: the rate is rounded down; scores beyond 2⁶² are clamped to it
    /// - Checked by: `a_ranking_has_its_law`, `a_pick_costs_its_rho_and_no_less`
    ///
    /// # Errors
    /// The receipt is for another path, account, sensitivity or price, or more picks than there are. Nothing is
    /// drawn, and it comes back.
    pub fn pick<E: Entropy + ?Sized>(
        &mut self,
        scores: &Exact<Scores>,
        receipt: Receipt<Raise<Rho>>,
        entropy: &mut E,
    ) -> Result<Released<Vec<u32>>, Mismatch<Raise<Rho>>> {
        let (count, rate) = match self.check(scores, &receipt) {
            Ok(checked) => checked,
            Err(reason) => return Err(Mismatch { receipt: Box::new(receipt), reason }),
        };
        self.stored.payer.get_or_insert_with(|| Arc::clone(&receipt.entry().account));
        receipt.redeem();
        let gone: BTreeSet<u32> = self.stored.picked.iter().copied().collect();
        let mut left: Vec<u32> =
            (0..self.stored.candidates).filter(|item| !gone.contains(item)).collect();
        // What is missing in the truth counts as zero, and nothing shows it.
        let score = |&item: &u32| scores.open().0.get(item as usize).copied().unwrap_or(0);
        let mut values: Vec<i64> = left.iter().map(score).map(clamped).collect();
        let mut picked = Vec::new();
        for _ in 0..count {
            let Some(place) = choose_exponentially(&values, &rate, entropy) else { break };
            values.swap_remove(place);
            picked.push(left.swap_remove(place));
        }
        self.stored.picked.extend(&picked);
        Ok(Released::new(picked))
    }

    /// How many picks a receipt pays for, and at which rate.
    fn check(
        &self,
        scores: &Exact<Scores>,
        receipt: &Receipt<Raise<Rho>>,
    ) -> Result<(u32, Ratio), MismatchReason> {
        let (stored, raise) = (&self.stored, receipt.purchase());
        if raise.path() != stored.id {
            return Err(MismatchReason::OtherPath);
        }
        if stored.payer.as_ref().is_some_and(|payer| *payer != receipt.entry().account) {
            return Err(MismatchReason::OtherAccount);
        }
        let bound = spread(scores.sensitivity().get(), stored.moves);
        if raise.sensitivity() != stored.spread || bound != Some(stored.spread) {
            return Err(MismatchReason::OtherSensitivity);
        }
        // What was paid for and lost before it was drawn stays a gap.
        let known = stored.each.times(u32::try_from(stored.picked.len()).unwrap_or(u32::MAX));
        let (price, each) = (raise.price().grains(), stored.each.grains());
        let count = u32::try_from(price / each).ok().filter(|&count| count <= self.left());
        let whole = price % each == 0 && known.is_some_and(|known| known <= raise.from());
        let count = count.filter(|_| whole).ok_or(MismatchReason::OtherStep)?;
        let rate = rate(stored.each, stored.spread).ok_or(MismatchReason::OtherSensitivity)?;
        Ok((count, rate))
    }
}

fn spread(sensitivity: f64, moves: Moves) -> Option<L2> {
    // Doubling is exact.
    L2::new(sensitivity * f64::from(moves.spread())).ok()
}

/// The rate of the exponential mechanism at a price a pick: the double next below `sqrt(8 rho)/spread` whose
/// square is not above what was paid for.
fn rate(each: Amount<Rho>, spread: L2) -> Option<Ratio> {
    let paid = Ratio::new(each.grains(), Amount::<Rho>::ONE.grains())?.times(&8u8.into());
    let square = paid.over(&Ratio::from_f64(spread.get())?.squared());
    let about = square.approximate();
    let mut rate = if about.is_normal() { about.sqrt() } else { return None };
    // Two or three steps, for what the root and the approximation round.
    for _ in 0..16 {
        let ratio = Ratio::from_f64(rate)?;
        if ratio.squared().compare(&square).is_le() {
            return Some(ratio);
        }
        rate = rate.next_down();
    }
    None
}

impl TryFrom<Stored> for Ranking {
    type Error = RankingError;

    fn try_from(stored: Stored) -> Result<Self, RankingError> {
        rate(stored.each, stored.spread).ok_or(RankingError::Price)?;
        let distinct: BTreeSet<&u32> = stored.picked.iter().collect();
        let sound = distinct.len() == stored.picked.len()
            && stored.picked.iter().all(|&item| item < stored.candidates);
        if sound { Ok(Self { stored }) } else { Err(RankingError::Damaged) }
    }
}

impl From<Ranking> for Stored {
    fn from(ranking: Ranking) -> Self {
        ranking.stored
    }
}

impl Exact<Columns> {
    /// One column as scores of its groups, to choose by. The bounds of columns are for a unit that is added or
    /// removed; the factor makes them those of the account's adjacency.
    ///
    /// # Errors
    /// There is no such column, or the sensitivity would be out of range.
    pub fn scores(
        &self,
        column: usize,
        factor: u32,
    ) -> Result<Exact<Scores>, eke_budget::ParameterError> {
        use crate::bound::Bound as _;
        let none = || eke_budget::L1::new(0.0).expect_err("zero is no sensitivity");
        let sensitivity = self.sensitivity().get(column).ok_or_else(none)?.times(factor)?;
        let values = self.open().0.get(column).cloned().ok_or_else(none)?;
        Ok(Exact::new(Scores(values), sensitivity))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rates_are_rounded_down_and_hardly(grains in 1u128..10u128.pow(36), log in -30.0f64..30.0) {
            let (each, spread) = (Amount::from_grains(grains), L2::new(log.exp()).unwrap());
            let rate = rate(each, spread).unwrap();
            let paid = Ratio::new(8 * grains, Amount::<Rho>::ONE.grains()).unwrap();
            let cost = rate.by(&Ratio::from_f64(spread.get()).unwrap()).squared();
            prop_assert!(cost.compare(&paid).is_le());
            let off = cost.approximate() / paid.approximate() - 1.0;
            prop_assert!(off > -1e-14, "{off}");
        }
    }
}
