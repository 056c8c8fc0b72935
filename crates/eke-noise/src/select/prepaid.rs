//! Several draws that are bought as one.
//!
//! Some answers take several steps, each of which depends on what those before it released: a
//! centre, then a radius around it, then what is nearest to points on the circle. Their price is
//! known before the first: it is bought whole, or refused whole, and every draw takes its part of
//! what was bought.
//!
//! Invariants: all draws together never cost more than was bought, in exact money; a draw that does
//! not fit takes nothing and draws nothing; what is not drawn is not given back.

use dashu_int::UBig;
use eke_budget::{Amount, Charge, Epsilon, L1, Price, Purchase, Receipt, Rho};

use crate::evidence::exact::clamped;
use crate::evidence::{Norms, Scores};
use crate::law::Noise;
use crate::number::ScaleError;
use crate::path::MismatchReason;
use crate::release::point::{PointRelease, noisy_point};
use crate::select::noisy::Placed;
use crate::select::ranking::{Moves, PickPrice, picks};
use crate::{DiscreteGaussian, DiscreteLaplace, Entropy, Exact, Ratio, Released};

/// An amount to be spent on several draws, to be bought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allotment<C: Price> {
    /// How much.
    pub price: Amount<C>,
}

impl<C: Price> Purchase for Allotment<C> {
    fn charge(&self) -> Charge {
        C::charge(self.price, Amount::ZERO)
    }
}

/// What is left of an amount that was bought for several draws.
///
/// ```
/// use eke_budget::*;
/// use eke_noise::{Exact, SystemEntropy};
/// use eke_noise::evidence::Scores;
/// use eke_noise::select::{Allotment, Prepaid, Moves};
///
/// let budget = BudgetSpec::promising(Epsilon::new(8.0)?)
///     .with_delta(Delta::new(1e-6)?)
///     .resolve(Metric::Hamming(Adjacency::AddRemove))?;
/// let mut account = Account::open("riders", budget, &mut NoHistory)?;
/// let approved = account.approve(Allotment::<Rho> { price: "0.2".parse()? })?;
/// let mut prepaid = Prepaid::open(account.commit(approved, &mut NoHistory)?);
///
/// let votes = Exact::new(Scores(vec![120, 80, 9640]), L1::new(1.0)?);
/// let mut entropy = SystemEntropy::new()?;
/// let winner = prepaid.pick(&votes, Moves::OneWay, 1, "0.15".parse()?, &mut entropy)?;
/// assert_eq!(winner.peek(), &[2]);
/// assert_eq!(prepaid.left().to_string(), "0.05");
/// assert!(prepaid.pick(&votes, Moves::OneWay, 1, "0.15".parse()?, &mut entropy).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
/// It is not `Clone`: two copies would be spent twice.
/// ```compile_fail,E0599
/// fn copy(prepaid: eke_noise::select::Prepaid<eke_budget::Rho>) -> eke_noise::select::Prepaid<eke_budget::Rho> {
///     prepaid.clone()
/// }
/// ```
#[derive(Debug)]
#[must_use = "a prepaid is paid for: draw with it"]
pub struct Prepaid<C: Price> {
    left: Amount<C>,
}

/// Why nothing was drawn. Nothing was taken either.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PrepaidError {
    /// It costs more than is left.
    #[error(
        "the draw costs {wanted}, and of what was bought {left} is left: buy more at the start"
    )]
    Overdrawn {
        /// What it costs.
        wanted: String,
        /// What is left.
        left: String,
    },
    /// The price is nothing, or no noise has it.
    #[error("a draw needs a price, and a truth whose sensitivity is within range")]
    Price,
    /// It cannot be drawn.
    #[error(transparent)]
    Reason(#[from] MismatchReason),
}

/// What draws of a prepaid can be priced in. (Sealed: zCDP and pure epsilon.)
pub trait DrawPrice: PickPrice {
    /// A point with noise at a price.
    #[doc(hidden)]
    fn noisy<E: Entropy + ?Sized>(
        truth: &Exact<Vec<i64>>,
        price: Amount<Self>,
        entropy: &mut E,
    ) -> Result<Vec<i64>, MismatchReason>;

    /// The largest epsilon, per unit, at which one search along a line costs at most the price.
    /// None if there is none.
    #[doc(hidden)]
    fn searching(price: Amount<Self>) -> Option<Ratio>;
}

impl<C: DrawPrice> Prepaid<C> {
    /// Begins to spend what was bought.
    pub fn open(receipt: Receipt<Allotment<C>>) -> Self {
        Self { left: receipt.redeem().price }
    }

    /// What is left.
    #[must_use]
    pub fn left(&self) -> Amount<C> {
        self.left
    }

    /// A point, or any vector of whole numbers, with noise: Gaussian at a price in zCDP, planar
    /// Laplace at a pure price (and then of one, two or three coordinates).
    ///
    /// - Theorem: prepaid (docs/theorems.md)
    /// - Proves: draws whose prices add up to at most what was bought cost at most that, however
    ///   each depends on what was released before it; noise costs its price by *gaussian-release*
    ///   and *planar-lattice*
    /// - Assumes: one unit of the metric moves the point by at most its sensitivity, in Euclidean
    ///   length (caller)
    /// - Deviates: coordinates beyond 2⁶² are clamped to it, which moves no two points further
    ///   apart
    /// - Checked by: `a_fund_is_never_spent_twice`, `points_of_a_fund_have_their_noise`
    ///
    /// # Errors
    /// It does not fit what is left, the price is nothing, or the noise is too wide. Nothing is
    /// drawn or taken.
    pub fn release<E: Entropy + ?Sized>(
        &mut self,
        truth: &Exact<Vec<i64>>,
        price: Amount<C>,
        entropy: &mut E,
    ) -> Result<Released<Vec<i64>>, PrepaidError> {
        let left = self.after(price, 1)?;
        let point = C::noisy(truth, price, entropy)?;
        self.left = left;
        Ok(Released::new(point))
    }

    /// The given number of candidates by their scores, the largest first, at a price each: as in a
    /// [`Ranking`](crate::Ranking), at once.
    ///
    /// - Theorem: peeling (docs/theorems.md)
    /// - Proves: picks cost what picks of a ranking cost
    /// - Assumes: candidates are public, and how many there are; one unit changes each score by at
    ///   most its sensitivity, in the directions that were said (caller)
    /// - Deviates: the rate is rounded down; scores beyond 2⁶² are clamped to it
    /// - Checked by: `picks_of_a_fund_have_the_law_of_a_ranking`
    ///
    /// # Errors
    /// It does not fit what is left, the price is nothing or out of range. Nothing is drawn or
    /// taken.
    pub fn pick<E: Entropy + ?Sized>(
        &mut self,
        scores: &Exact<Scores>,
        moves: Moves,
        count: u32,
        each: Amount<C>,
        entropy: &mut E,
    ) -> Result<Released<Vec<u32>>, PrepaidError> {
        let left = self.after(each, count)?;
        let spread = moves.apart::<C>(scores.sensitivity()).ok_or(PrepaidError::Price)?;
        let rate = C::rate(each, spread).ok_or(PrepaidError::Price)?;
        self.left = left;
        let values: Vec<i64> = scores.open().0.iter().map(|&score| clamped(score)).collect();
        Ok(Released::new(picks::<C, E>(&values, &[], &rate, count, entropy)))
    }

    /// The given number of candidates whose scores are about the largest, at a price each, by
    /// searching along noisy lines. A line is laid a margin below the largest score, with noise.
    /// Candidates are compared with it, with noise of their own, in their order and again from the
    /// first, until one is above. The next is searched for among the others, along a line of its
    /// own.
    ///
    /// - Theorem: searching-along-a-line (docs/theorems.md)
    /// - Proves: a search costs epsilon pure and `5 epsilon²/18` zCDP, at scales `3/epsilon` of the
    ///   line, twice, and `6/epsilon` of candidates, times the sensitivity
    /// - Assumes: candidates are public, and how many there are; one unit changes each score by at
    ///   most its sensitivity (caller)
    /// - Deviates: the first noise of the line is on the integers; epsilon is rounded down; scores
    ///   beyond 2⁶² are clamped to it
    /// - Checked by: `searches_have_their_law`, `a_search_among_few_ends_with_each_of_them`
    ///
    /// # Errors
    /// It does not fit what is left, the price is nothing, or the noise is too wide. Nothing is
    /// drawn or taken.
    pub fn search<E: Entropy + ?Sized>(
        &mut self,
        scores: &Exact<Scores>,
        margin: u64,
        count: u32,
        each: Amount<C>,
        entropy: &mut E,
    ) -> Result<Released<Vec<u32>>, PrepaidError> {
        let left = self.after(each, count)?;
        let search = Search::new::<C>(each, *scores.sensitivity(), margin)?;
        self.left = left;
        let values: Vec<i64> = scores.open().0.iter().map(|&score| clamped(score)).collect();
        let mut others: Vec<u32> = (0..).take(values.len()).collect();
        let mut found = Vec::new();
        for _ in 0..count {
            let Some(place) = search.once(&values, &others, entropy)? else { break };
            found.push(others.remove(place));
        }
        Ok(Released::new(found))
    }

    /// What is left after `count` draws at a price.
    fn after(&self, each: Amount<C>, count: u32) -> Result<Amount<C>, PrepaidError> {
        if each.is_zero() {
            return Err(PrepaidError::Price);
        }
        let wanted = each.times(count);
        wanted.and_then(|wanted| self.left.minus(wanted)).ok_or_else(|| PrepaidError::Overdrawn {
            wanted: wanted.unwrap_or(Amount::MAX).to_string(),
            left: self.left.to_string(),
        })
    }
}

impl DrawPrice for Rho {
    fn noisy<E: Entropy + ?Sized>(
        truth: &Exact<Vec<i64>>,
        price: Amount<Self>,
        entropy: &mut E,
    ) -> Result<Vec<i64>, MismatchReason> {
        let variance = variance(price, truth.sensitivity()).ok_or(too_wide(ScaleError))?;
        let count = truth.sensitivity().coordinates();
        let mut noise = vec![0; count];
        if count > 16 {
            DiscreteGaussian::new(&variance).map_err(too_wide)?.fill(&mut noise, entropy);
        } else {
            for noise in &mut noise {
                *noise = DiscreteGaussian::once(&variance, entropy).map_err(too_wide)?;
            }
        }
        let coordinate = |at: usize| clamped(truth.open().get(at).copied().unwrap_or(0));
        Ok(noise.iter().enumerate().map(|(at, n)| coordinate(at).saturating_add(*n)).collect())
    }

    /// The root of `18 rho/5`.
    fn searching(price: Amount<Self>) -> Option<Ratio> {
        let rho = Ratio::new(price.grains(), Amount::<Self>::ONE.grains())?;
        rho.by(&Ratio::new(18, 5)?).root_below()
    }
}

impl DrawPrice for Epsilon {
    fn noisy<E: Entropy + ?Sized>(
        truth: &Exact<Vec<i64>>,
        price: Amount<Self>,
        entropy: &mut E,
    ) -> Result<Vec<i64>, MismatchReason> {
        let sensitivity = truth.sensitivity().length();
        noisy_point(truth, PointRelease { epsilon: price, sensitivity }, entropy)
    }

    fn searching(price: Amount<Self>) -> Option<Ratio> {
        Ratio::new(price.grains(), Amount::<Self>::ONE.grains())
    }
}

/// The variance of Gaussian noise at a price: `length²/(2 rho)`, exactly.
fn variance(price: Amount<Rho>, sensitivity: &Norms) -> Option<Ratio> {
    let twice = Ratio::new(price.grains(), Amount::<Rho>::ONE.grains())?.times(&2u8.into());
    Some(Ratio::from_f64(sensitivity.length().get())?.squared().over(&twice))
}

fn too_wide(error: ScaleError) -> MismatchReason {
    MismatchReason::Level(error.into())
}

/// The noise of a search along a line.
struct Search {
    scale: Ratio,
    margin: u64,
    line: Noise,
    candidate: Noise,
}

impl Search {
    fn new<C: DrawPrice>(
        each: Amount<C>,
        sensitivity: L1,
        margin: u64,
    ) -> Result<Self, PrepaidError> {
        let sensitivity = Ratio::from_f64(sensitivity.get()).ok_or(PrepaidError::Price)?;
        let epsilon = C::searching(each).ok_or(PrepaidError::Price)?;
        let scale = sensitivity.times(&UBig::from(3u8)).over(&epsilon);
        crate::number::scale::shift(scale.approximate()).map_err(too_wide)?;
        let line = Noise::laplace(scale.clone());
        let candidate = Noise::laplace(scale.times(&UBig::from(2u8)));
        Ok(Self { scale, margin, line, candidate })
    }

    /// The place among these candidates of the first that is above a new line; none if there are
    /// none.
    fn once<E: Entropy + ?Sized>(
        &self,
        scores: &[i64],
        among: &[u32],
        entropy: &mut E,
    ) -> Result<Option<usize>, MismatchReason> {
        let Some(best) = among.iter().map(|&item| scores[item as usize]).max() else {
            return Ok(None);
        };
        let laid = DiscreteLaplace::once(&self.scale, entropy).map_err(too_wide)?;
        let at = best.saturating_add(laid).saturating_sub_unsigned(self.margin);
        let mut line = Placed::new(at, &self.line, entropy);
        loop {
            for (place, &item) in among.iter().enumerate() {
                let mut noisy = Placed::new(scores[item as usize], &self.candidate, entropy);
                if noisy.compare(&self.candidate, &mut line, &self.line, entropy).is_gt() {
                    return Ok(Some(place));
                }
            }
        }
    }
}
