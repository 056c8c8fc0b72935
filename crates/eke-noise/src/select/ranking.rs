//! Rankings: candidates by their scores, the largest first, as far as somebody has paid.
//!
//! Each pick is one choice among those that were not picked before: by the exponential mechanism
//! where it is priced in zCDP, by permute and flip where it is priced in pure epsilon. So a ranking
//! is a path of its own kind: it is drawn once, from its first pick on; an asker who pays for more
//! sees more of the same order; and what was seen is paid for once. It tells the order and no
//! score.

use std::collections::BTreeSet;
use std::sync::Arc;

use eke_budget::{Amount, Epsilon, L1, L2, PathId, Price, Raise, Receipt, Rho};
use serde::{Deserialize, Serialize};

use crate::evidence::Scores;
use crate::evidence::exact::clamped;
use crate::path::Columns;
use crate::path::points::is_own;
use crate::path::{Mismatch, MismatchReason};
use crate::sampler::exponential::WeightTable;
use crate::{Entropy, Exact, Ratio, Released};

/// How one unit moves the scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Moves {
    /// All of them up or all of them down, each by at most the sensitivity: counts, when a unit is
    /// added or removed.
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

    /// How far apart one unit can move two scores that it can move by the sensitivity each.
    /// Doubling is exact.
    pub(crate) fn apart<C: Price>(self, sensitivity: &L1) -> Option<C::Sensitivity> {
        C::Sensitivity::try_from(sensitivity.get() * f64::from(self.spread())).ok()
    }
}

/// What picks can be priced in. (Sealed: zCDP and pure epsilon.)
pub trait PickPrice: Price + sealed::Sealed {
    /// The largest rate that a pick at a price may be drawn with, where one unit moves two scores
    /// apart by at most the spread. None if there is none.
    #[doc(hidden)]
    fn rate(each: Amount<Self>, spread: Self::Sensitivity) -> Option<Ratio>;

    /// One of those that are left.
    #[doc(hidden)]
    fn draw<E: Entropy + ?Sized>(table: &mut Picking<'_>, entropy: &mut E) -> Option<usize>;
}

/// Candidates that picks are drawn from.
#[doc(hidden)]
pub struct Picking<'a>(WeightTable<'a>);

/// By the exponential mechanism.
impl PickPrice for Rho {
    /// The double next below `sqrt(8 rho)/spread` whose square is not above what was paid for.
    fn rate(each: Amount<Self>, spread: L2) -> Option<Ratio> {
        let paid = Ratio::new(each.grains(), Amount::<Self>::ONE.grains())?.times(&8u8.into());
        paid.over(&Ratio::from_f64(spread.get())?.squared()).root_below()
    }

    fn draw<E: Entropy + ?Sized>(table: &mut Picking<'_>, entropy: &mut E) -> Option<usize> {
        table.0.draw(entropy)
    }
}

/// By permute and flip.
impl PickPrice for Epsilon {
    /// Epsilon over the spread, exactly.
    fn rate(each: Amount<Self>, spread: L1) -> Option<Ratio> {
        let paid = Ratio::new(each.grains(), Amount::<Self>::ONE.grains())?;
        Some(paid.over(&Ratio::from_f64(spread.get())?))
    }

    fn draw<E: Entropy + ?Sized>(table: &mut Picking<'_>, entropy: &mut E) -> Option<usize> {
        table.0.flip(entropy)
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for eke_budget::Rho {}
    impl Sealed for eke_budget::Epsilon {}
}

/// The given number of picks one after the other at a rate, each among those that are left; those
/// that are gone are not picked.
pub(crate) fn picks<C: PickPrice, E: Entropy + ?Sized>(
    scores: &[i64],
    gone: &[u32],
    rate: &Ratio,
    count: u32,
    entropy: &mut E,
) -> Vec<u32> {
    let mut table = Picking(WeightTable::new(scores, rate));
    for &item in gone {
        table.0.take(item as usize);
    }
    let mut picked = Vec::new();
    for _ in 0..count {
        let Some(item) = C::draw(&mut table, entropy) else { break };
        table.0.take(item);
        picked.push(u32::try_from(item).expect("no more candidates than that"));
    }
    picked
}

/// The candidates that were picked, in their order.
///
/// ```
/// use eke_budget::*;
/// use eke_noise::{Exact, Ranking, SystemEntropy};
/// use eke_noise::evidence::Scores;
/// use eke_noise::select::Moves;
///
/// let budget = BudgetSpec::promising(Epsilon::new(8.0)?)
///     .with_delta(Delta::new(1e-6)?)
///     .resolve(Metric::Hamming(Adjacency::AddRemove))?;
/// let mut account = Account::open("authors", budget, &mut NoHistory)?;
///
/// let words = Exact::new(Scores(vec![120, 80, 9640, 11]), L1::new(1.0)?);
/// let each: Amount<Rho> = "0.005".parse()?;
/// let mut ranking = Ranking::open(PathId::new([7; 32]), 4, words.sensitivity(), Moves::OneWay, each)?;
/// let approved = account.raise(ranking.id(), each, ranking.spread())?;
/// let receipt = account.commit(approved, &mut NoHistory)?;
/// let picked = ranking.pick(&words, receipt, &mut SystemEntropy::new()?)?;
/// assert_eq!(picked.peek(), &[2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "", try_from = "Stored<C>", into = "Stored<C>")]
pub struct Ranking<C: PickPrice = Rho> {
    stored: Stored<C>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
struct Stored<C: PickPrice> {
    id: PathId,
    /// The account that pays for it.
    payer: Option<Arc<str>>,
    candidates: u32,
    moves: Moves,
    spread: C::Sensitivity,
    each: Amount<C>,
    picked: Vec<u32>,
}

/// What is stored is not a ranking, or its price cannot be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RankingError {
    /// A pick costs nothing, or more than a rate in doubles can hold.
    #[error("a pick of a ranking needs a price, and scores whose sensitivity is within range")]
    Price,
    /// What is stored does not hang together.
    #[error(
        "what is stored of the ranking does not hang together: it is not a ranking, or damaged"
    )]
    Damaged,
}

impl<C: PickPrice> Ranking<C> {
    /// A ranking of which nothing has been picked: n candidates, whose scores one unit changes by
    /// at most the sensitivity each, at a price a pick.
    ///
    /// # Errors
    /// The price is nothing, or out of range for that sensitivity.
    pub fn open(
        id: PathId,
        candidates: u32,
        sensitivity: &L1,
        moves: Moves,
        each: Amount<C>,
    ) -> Result<Self, RankingError> {
        let spread = moves.apart::<C>(sensitivity).ok_or(RankingError::Price)?;
        C::rate(each, spread).ok_or(RankingError::Price)?;
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
    pub fn spread(&self) -> C::Sensitivity {
        self.stored.spread
    }

    /// What a pick costs.
    #[must_use]
    pub fn each(&self) -> Amount<C> {
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
    ///   `(e spread)²/8` zCDP each; by permute and flip `e spread` pure
    /// - Assumes: candidates are public or were selected; one unit changes each score by at most
    ///   its sensitivity, in the directions that were said (caller)
    /// - Deviates: the rate is rounded down; scores beyond 2⁶² are clamped to it
    /// - Checked by: `a_ranking_has_its_law`, `a_pure_ranking_has_its_law`,
    ///   `a_pick_costs_its_rho_and_no_less`
    ///
    /// # Errors
    /// The receipt is for another path, account, sensitivity or price, or more picks than there
    /// are. Nothing is drawn, and it comes back.
    pub fn pick<E: Entropy + ?Sized>(
        &mut self,
        scores: &Exact<Scores>,
        receipt: Receipt<Raise<C>>,
        entropy: &mut E,
    ) -> Result<Released<Vec<u32>>, Mismatch<Raise<C>>> {
        let (count, rate) = match self.check(scores, &receipt) {
            Ok(checked) => checked,
            Err(reason) => return Err(Mismatch { receipt: Box::new(receipt), reason }),
        };
        self.stored.payer.get_or_insert_with(|| Arc::clone(&receipt.entry().account));
        receipt.redeem();
        // What is missing in the truth counts as zero, and nothing shows it.
        let score = |item: u32| scores.open().0.get(item as usize).copied().unwrap_or(0);
        let values: Vec<i64> = (0..self.stored.candidates).map(score).map(clamped).collect();
        let picked = picks::<C, E>(&values, &self.stored.picked, &rate, count, entropy);
        self.stored.picked.extend(&picked);
        Ok(Released::new(picked))
    }

    /// How many picks a receipt pays for, and at which rate.
    fn check(
        &self,
        scores: &Exact<Scores>,
        receipt: &Receipt<Raise<C>>,
    ) -> Result<(u32, Ratio), MismatchReason> {
        let (stored, raise) = (&self.stored, receipt.purchase());
        is_own(stored.id, stored.payer.as_ref(), raise.path(), receipt)?;
        let bound = stored.moves.apart::<C>(scores.sensitivity());
        if raise.sensitivity() != stored.spread || bound != Some(stored.spread) {
            return Err(MismatchReason::OtherSensitivity);
        }
        // What was paid for and lost before it was drawn stays a gap.
        let known = stored.each.times(u32::try_from(stored.picked.len()).unwrap_or(u32::MAX));
        let (price, each) = (raise.price().grains(), stored.each.grains());
        let count = u32::try_from(price / each).ok().filter(|&count| count <= self.left());
        let whole = price % each == 0 && known.is_some_and(|known| known <= raise.from());
        let count = count.filter(|_| whole).ok_or(MismatchReason::OtherStep)?;
        let rate = C::rate(stored.each, stored.spread).ok_or(MismatchReason::OtherSensitivity)?;
        Ok((count, rate))
    }
}

impl<C: PickPrice> TryFrom<Stored<C>> for Ranking<C> {
    type Error = RankingError;

    fn try_from(stored: Stored<C>) -> Result<Self, RankingError> {
        C::rate(stored.each, stored.spread).ok_or(RankingError::Price)?;
        let distinct: BTreeSet<&u32> = stored.picked.iter().collect();
        let sound = distinct.len() == stored.picked.len()
            && stored.picked.iter().all(|&item| item < stored.candidates);
        if sound { Ok(Self { stored }) } else { Err(RankingError::Damaged) }
    }
}

impl<C: PickPrice> From<Ranking<C>> for Stored<C> {
    fn from(ranking: Ranking<C>) -> Self {
        ranking.stored
    }
}

impl Exact<Columns> {
    /// One column as scores of its groups, to choose by. The bounds of columns are for a unit that
    /// is added or removed; the factor makes them those of the account's adjacency.
    ///
    /// # Errors
    /// There is no such column, or the sensitivity would be out of range.
    pub fn scores(
        &self,
        column: usize,
        factor: u32,
    ) -> Result<Exact<Scores>, eke_budget::number::ParameterError> {
        use crate::evidence::bound::Bound as _;
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
            let rate = Rho::rate(each, spread).unwrap();
            let paid = Ratio::new(8 * grains, Amount::<Rho>::ONE.grains()).unwrap();
            let cost = rate.by(&Ratio::from_f64(spread.get()).unwrap()).squared();
            prop_assert!(cost.compare(&paid).is_le());
            let off = cost.approximate() / paid.approximate() - 1.0;
            prop_assert!(off > -1e-14, "{off}");
        }
    }
}
