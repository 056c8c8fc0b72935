//! Tiers: one number for several audiences, as precise for each as it may know it.
//!
//! All answers are points of one path. An observer who compares some of them learns what the finest
//! of those tells (post-processing), and the people in the data pay for the finest of all, once.
//! [`release_tiers`] reveals tiers of any path. A [`TierPlan`] does the rest for a number that is
//! at hand: it prices the tiers, puts the number on a grid, pays from an account that holds the
//! finest tier's price and no more, draws, and says how far off each answer may be and what
//! independent answers would have cost.

mod loss;
mod spread;

use eke_budget::budget::BudgetError;
use eke_budget::convert::{ConvertError, SkellamCurve, SkellamError};
use eke_budget::number::ParameterError;
use eke_budget::{Account, Amount, Delta, Epsilon, L1, L2, NoHistory, PathId, Price, Rho};
use serde::Serialize;

pub use self::loss::Loss;
use self::loss::Purse;
use self::spread::Spread;
use crate::law::{NotWhole, Shifts};
use crate::path::{MismatchReason, MsdlapPath};
use crate::stopping::follow::{AccountPayer, NoAnswer, Payer, reveal};
use crate::{
    Confidence, Entropy, Exact, GaussianPath, GeometricPath, Grid, LaplacePath, NoisePath,
    Released, SkellamPath,
};

/// Reveals one point of a path per tier, the finest first: one answer per tier, in the order given.
/// An observer of several of them learns what the finest of those tells, and no more.
///
/// - Theorem: path-increments (docs/theorems.md)
/// - Proves: any subset of the answers costs the finest of the subset
/// - Assumes: as for the path
/// - Deviates: a tier too close to another for the grid is a little coarser
///   ([`NoisePath::nearest`])
/// - Checked by: `tiers_cost_the_finest_and_each_has_the_law_of_its_own_price`
///
/// # Errors
/// The finest does not fit, a point could not be paid for, or the truth is not the path's.
#[doc(alias = "post-processing")]
pub fn release_tiers<P, Y, E>(
    path: &mut P,
    truth: &Exact<P::Value>,
    sensitivity: <P::Currency as Price>::Sensitivity,
    tiers: &[Amount<P::Currency>],
    payer: &mut Y,
    entropy: &mut E,
) -> Result<Vec<Released<P::Value>>, NoAnswer<Y::Error>>
where
    P: NoisePath,
    Y: Payer<P::Currency>,
    E: Entropy + ?Sized,
{
    if tiers.iter().any(|tier| tier.is_zero()) {
        return Err(NoAnswer::Mismatch(MismatchReason::OtherStep));
    }
    if let Some(&finest) = tiers.iter().max().filter(|&&finest| finest > path.finest()) {
        reveal(path, truth, sensitivity, finest, payer, entropy)?;
    }
    tiers.iter().map(|&tier| reveal(path, truth, sensitivity, tier, payer, entropy)).collect()
}

/// The laws of noise that a plan knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum TierLaw {
    /// Two-sided geometric noise on integers: pure epsilon.
    Geometric,
    /// Laplace noise on the real line, told on a grid: pure epsilon.
    Laplace,
    /// Gaussian noise on a grid: concentrated privacy, stated as epsilon at a delta.
    Gaussian,
    /// Skellam noise on integers that one unit changes by a whole number: concentrated privacy,
    /// stated as epsilon at a delta.
    Skellam,
    /// `MSDLap` noise on integers that one unit changes by a whole number: pure epsilon.
    Msdlap,
}

/// One number in several tiers.
#[derive(Clone, Debug, PartialEq)]
pub struct TierPlan {
    /// The law of the noise.
    pub law: TierLaw,
    /// What one unit changes the number by, at most.
    pub sensitivity: L1,
    /// What each tier may cost on its own, in any order; the same twice is the same answer twice.
    pub tiers: Vec<Epsilon>,
    /// The delta that goes with each epsilon, where the law needs one.
    pub delta: Delta,
    /// How sure intervals are.
    pub confidence: Confidence,
}

/// The answers of a plan, and what they tell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tiers {
    /// The law of the noise.
    pub law: TierLaw,
    /// What one unit changes the number by, at most.
    pub sensitivity: f64,
    /// How sure each interval is.
    pub confidence: f64,
    /// The answers, in the order of the plan.
    pub tiers: Vec<Tier>,
    /// What was charged: what all of them tell together.
    pub charged: Loss,
    /// What independent answers would have cost together; none where that is more than epsilons go
    /// to.
    pub independent: Option<Loss>,
    /// Any two of them.
    pub colluders: Vec<Colluders>,
}

/// The answer of one tier.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Tier {
    /// What it costs on its own.
    #[serde(flatten)]
    pub alone: Loss,
    /// The answer.
    pub value: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end of its interval.
    pub high: f64,
    /// The standard deviation of its noise.
    pub deviation: f64,
}

/// Two tiers that compare their answers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Colluders {
    /// Which two, by their place in the plan from 0.
    pub tiers: [usize; 2],
    /// What they know: what the finer of the two tells.
    pub together: Loss,
    /// What they would know of independent answers; none where that is more than epsilons go to.
    pub independent: Option<Loss>,
}

/// Why a plan has no answers.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TierError {
    /// There is nobody to answer.
    #[error("there are no tiers: write what each may cost, such as 2,1,0.5")]
    NoTiers,
    /// There are too many.
    #[error("{0} tiers are too many: write at most {MOST}")]
    TooMany(usize),
    /// Not a number, or infinite.
    #[error("the value is not a finite number: write one such as 1234")]
    NotFinite,
    /// The law is one of integers.
    #[error(
        "{0} noise is for integers, and the value is not one: round it, or take laplace or gaussian"
    )]
    NotAnInteger(&'static str),
    /// Doubles do not hold all integers that large, or those that noise makes of it.
    #[error(
        "{0} noise is for integers below 2^52 in size, and the value is not: state it in larger units, or \
         take laplace or gaussian"
    )]
    TooLong(&'static str),
    /// The number has too many steps of a grid for its sensitivity.
    #[error(
        "the value is too large beside its sensitivity, by a thousandth of which it is counted: subtract a \
         number that everybody knows, or state a larger sensitivity"
    )]
    TooLarge,
    /// The number has too many steps of a grid for the noise.
    #[error(
        "the value is too large for noise this narrow: take coarser tiers or tiers further apart"
    )]
    TooLargeForNoise,
    /// The sensitivity has no grid.
    #[error(
        "a sensitivity of {0:e} is too small for a grid: state it and the value in smaller units"
    )]
    TooSmallForGrid(f64),
    /// No grid is fine enough for what comes between tiers.
    #[error("the tiers are too close to each other for a grid: leave some of them out")]
    NoGrid,
    /// No grid is fine enough for the only tier.
    #[error(
        "the noise would be too narrow for a grid: take a smaller epsilon, or state the value in smaller units"
    )]
    TooNarrow,
    /// Noise of a tier cannot be drawn that wide.
    #[error(
        "the noise of a tier would be too wide to draw: take a larger epsilon for the coarsest one or leave \
         it out, and leave out one that is nearly another"
    )]
    TooWide,
    /// Noise of the only tier cannot be drawn that wide.
    #[error(
        "the noise would be too wide to draw: take a larger epsilon, or state the value in larger units"
    )]
    AloneTooWide,
    /// A tier is worth nothing.
    #[error("epsilon {0:e} is too small to be paid for: take a larger one")]
    TooSmall(f64),
    /// The law is one of integers, and its sensitivity is not.
    #[error(
        "Skellam noise is for whole sensitivities, and {0} is not one: round it up to one, or take gaussian"
    )]
    NotWholeForSkellam(f64),
    /// The sensitivity is too large for the law.
    #[error(
        "a sensitivity of {0} is too large for Skellam noise, which takes up to 2^20: state the value in \
         larger units, or take gaussian"
    )]
    TooSensitiveForSkellam(f64),
    /// A tier has no price.
    #[error(transparent)]
    Convert(#[from] ConvertError),
    /// A number is out of range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// The law is not for this sensitivity.
    #[error(transparent)]
    NotWhole(#[from] NotWhole),
    /// Skellam noise is not for this price.
    #[error(transparent)]
    Skellam(SkellamError),
    /// The finest tier is no budget.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// The answers could not be drawn or paid for.
    #[error("the answers could not be drawn: {0}")]
    Draw(String),
}

impl From<SkellamError> for TierError {
    /// The number of a plan cannot be put on another grid.
    fn from(error: SkellamError) -> Self {
        match error {
            SkellamError::NotWhole(sensitivity) => Self::NotWholeForSkellam(sensitivity),
            SkellamError::TooSensitive(sensitivity) => Self::TooSensitiveForSkellam(sensitivity),
            error => Self::Skellam(error),
        }
    }
}

/// The most tiers a plan has.
const MOST: usize = 64;

/// Integers are below this in size, half of the 2^53 up to which doubles hold all of them: what is
/// read as one was written as it, but for decimals that were lost, and noise has room.
const LONGEST: f64 = 4_503_599_627_370_496.0;

/// How many steps of a grid one unit changes a number by, at least: rounding adds less than a step
/// to that, so noise is wider by less than a thousandth.
const STEPS: f64 = 1024.0;

/// How far from zero a number on a grid may lie, in steps, so that noise has room: 2^60.
const FURTHEST: f64 = 1_152_921_504_606_846_976.0;

impl TierPlan {
    /// Draws the answers for a number that the caller knows, so errors may speak of it. It is paid
    /// for from an account of its own, which holds the finest tier's price.
    ///
    /// - Theorem: path-increments (docs/theorems.md)
    /// - Proves: any of the answers together cost the finest of them
    /// - Assumes: one unit changes the number by at most the sensitivity (caller)
    /// - Deviates: numbers on a grid are rounded to it, and the sensitivity in steps is rounded up
    /// - Checked by: `all_tiers_of_a_plan_are_charged_as_the_finest`,
    ///   `answers_of_a_plan_have_the_joint_law_of_one_path`
    ///
    /// # Errors
    /// The plan or the number cannot be used; the error says why.
    pub fn release<E: Entropy + ?Sized>(
        &self,
        value: f64,
        entropy: &mut E,
    ) -> Result<Tiers, TierError> {
        match self.tiers.len() {
            0 => return Err(TierError::NoTiers),
            count if count > MOST => return Err(TierError::TooMany(count)),
            _ if !value.is_finite() => return Err(TierError::NotFinite),
            _ => {}
        }
        let (sensitivity, confidence) = (self.sensitivity, self.confidence);
        match self.law {
            TierLaw::Geometric => {
                let line = NoisyLine { truth: self.whole(value)?, grid: Grid::WHOLE, sensitivity };
                let rate = move |price: Amount<Epsilon>| price.to_f64() / sensitivity.get();
                let spread = |_: &_, price| Spread::geometric(rate(price), confidence);
                self.draw(GeometricPath::open(ID, sensitivity), &line, &spread, entropy)
            }
            TierLaw::Laplace => {
                let grid = fine(sensitivity)?;
                let truth = on(value, sensitivity, grid)?;
                let sensitivity = *truth.sensitivity();
                let line = NoisyLine { truth, grid, sensitivity };
                let rate = move |price: Amount<Epsilon>| price.to_f64() / sensitivity.get();
                let spread = |_: &_, price| Spread::laplace(rate(price), confidence);
                self.draw(LaplacePath::open(ID, sensitivity), &line, &spread, entropy)
            }
            TierLaw::Msdlap => {
                let (truth, shifts) = (self.whole(value)?, Shifts::of(sensitivity)?);
                let line = NoisyLine { truth, grid: Grid::WHOLE, sensitivity };
                let spread = |_: &_, price: Amount<Epsilon>| {
                    Spread::msdlap(price.to_f64(), shifts.most(), confidence)
                };
                self.draw(MsdlapPath::open(ID, sensitivity)?, &line, &spread, entropy)
            }
            TierLaw::Skellam => {
                let truth = self.whole(value)?;
                let length = L2::new(sensitivity.get())?;
                let path = SkellamPath::open(ID, length)?;
                let line = NoisyLine { truth, grid: Grid::WHOLE, sensitivity: length };
                let mut widest = None;
                for price in self.prices()? {
                    widest = widest.max(Some(SkellamCurve::variance(price, sensitivity)?));
                }
                // A point may have its neighbour's noise: the path knows which it has.
                let widest = widest.ok_or(TierError::NoTiers)?;
                let spread = |path: &SkellamPath, price| {
                    Spread::skellam(path.noise(price).unwrap_or(widest), confidence)
                };
                self.draw(path, &line, &spread, entropy)
            }
            TierLaw::Gaussian => {
                let grid = self.gaussian_grid(&self.prices()?)?;
                let truth = on(value, self.sensitivity, grid)?;
                let sensitivity = L2::new(truth.sensitivity().get())?;
                let line = NoisyLine { truth, grid, sensitivity };
                let deviation =
                    move |price: Amount<Rho>| sensitivity.get() / (2.0 * price.to_f64()).sqrt();
                let spread = |_: &_, price| Spread::gaussian(deviation(price), confidence);
                self.draw(GaussianPath::open(ID, sensitivity), &line, &spread, entropy)
            }
        }
    }

    /// What the tiers cost, in the order of the plan.
    fn prices<C: Purse>(&self) -> Result<Vec<Amount<C>>, TierError> {
        let price = |&tier| {
            let price = C::price(tier, self.delta)?;
            if price.is_zero() { Err(TierError::TooSmall(tier.get())) } else { Ok(price) }
        };
        self.tiers.iter().map(price).collect()
    }

    /// Draws all tiers along a path, whatever its law.
    fn draw<P, E>(
        &self,
        mut path: P,
        line: &NoisyLine<P::Currency>,
        spread: &dyn Fn(&P, Amount<P::Currency>) -> Spread,
        entropy: &mut E,
    ) -> Result<Tiers, TierError>
    where
        P: NoisePath<Value = i64>,
        P::Currency: Purse,
        E: Entropy + ?Sized,
    {
        // All that can be said without an answer comes first: nothing is drawn in vain.
        let prices: Vec<Amount<P::Currency>> = self.prices()?;
        let finest = prices.iter().copied().max().ok_or(TierError::NoTiers)?;
        let is_alone = prices.iter().all(|&price| price == finest);
        let independent = self.sum(&prices, &prices);
        let mut colluders = Vec::new();
        for (one, &first) in prices.iter().enumerate() {
            for (other, &second) in prices.iter().enumerate().skip(one + 1) {
                colluders.push(Colluders {
                    tiers: [one, other],
                    together: self.loss(&prices, first.max(second))?,
                    independent: self.sum(&prices, &[first, second]),
                });
            }
        }
        let budget = P::Currency::budget(finest)?;
        let Ok(mut account) = Account::open("tiers", budget, &mut NoHistory);
        let mut payer = AccountPayer { account: &mut account, journal: &mut NoHistory };
        let NoisyLine { truth, grid, sensitivity } = line;
        let values = release_tiers(&mut path, truth, *sensitivity, &prices, &mut payer, entropy)
            .map_err(|error| match error {
                NoAnswer::Mismatch(MismatchReason::TooFine) if is_alone => TierError::TooNarrow,
                NoAnswer::Mismatch(MismatchReason::TooFine) => TierError::NoGrid,
                NoAnswer::Mismatch(MismatchReason::Level(_)) if is_alone => TierError::AloneTooWide,
                NoAnswer::Mismatch(MismatchReason::Level(_)) => TierError::TooWide,
                other => TierError::Draw(other.to_string()),
            })?;
        let mut tiers = Vec::with_capacity(prices.len());
        for (&price, answer) in prices.iter().zip(values) {
            // What the grid did not allow beside the others is a little coarser.
            let price = path.worth(path.nearest(price).unwrap_or(price));
            let Spread { deviation, half_width } = spread(&path, price);
            let (value, half) = (grid.value(answer), half_width * grid.step());
            let (low, high) = ends(value, half, *grid);
            let deviation = deviation * grid.step();
            tiers.push(Tier { alone: self.loss(&prices, price)?, value, low, high, deviation });
        }
        Ok(Tiers {
            law: self.law,
            sensitivity: self.sensitivity.get(),
            confidence: self.confidence.get(),
            tiers,
            charged: self.loss(&prices, P::Currency::spent(&account))?,
            independent,
            colluders,
        })
    }

    /// What a price tells. A tier's own price promises the epsilon that it was computed from.
    fn loss<C: Purse>(&self, prices: &[Amount<C>], price: Amount<C>) -> Result<Loss, TierError> {
        match prices.iter().zip(&self.tiers).find(|&(&own, _)| own == price) {
            Some((_, &tier)) => C::promised(tier, price, self.delta),
            None => C::loss(price, self.delta),
        }
    }

    /// What several prices tell together, where that is an epsilon.
    fn sum<C: Purse>(&self, prices: &[Amount<C>], parts: &[Amount<C>]) -> Option<Loss> {
        let sum = parts.iter().try_fold(Amount::ZERO, |sum, &price| sum.plus(price))?;
        self.loss(prices, sum).ok()
    }

    /// The number as an integer.
    fn whole(&self, value: f64) -> Result<Exact<i64>, TierError> {
        if value.abs() >= LONGEST {
            return Err(TierError::TooLong(self.law.name()));
        }
        if value.fract() != 0.0 {
            return Err(TierError::NotAnInteger(self.law.name()));
        }
        #[expect(clippy::cast_possible_truncation, reason = "within 2^52")]
        Ok(Exact::new(value as i64, self.sensitivity))
    }

    /// A grid on which the noise of the finest tier is wide enough, and so is what comes between it
    /// and the next: half as wide again, in case prices are rounded.
    fn gaussian_grid(&self, prices: &[Amount<Rho>]) -> Result<Grid, TierError> {
        let mut prices: Vec<f64> = prices.iter().map(|price| price.to_f64()).collect();
        prices.sort_by(f64::total_cmp);
        prices.dedup();
        let finest = prices.last().map_or(f64::INFINITY, |finest| 1.0 / finest);
        let between = prices.windows(2).map(|pair| 1.0 / pair[0] - 1.0 / pair[1]);
        let narrowest = between.fold(finest, f64::min) / 1.5;
        let fine = fine(self.sensitivity)?;
        // Wide noise needs no grid of its own: a deviation of eight steps is enough, and this is
        // sixteen.
        if self.sensitivity.get() * (narrowest / 2.0).sqrt() >= 16.0 * fine.step() {
            return Ok(fine);
        }
        Amount::ceil(1.0 / narrowest)
            .ok()
            .and_then(|price| Grid::for_noise(self.sensitivity, price).ok())
            .map(|noise| if noise.step() < fine.step() { noise } else { fine })
            .ok_or(if prices.len() == 1 { TierError::TooNarrow } else { TierError::NoGrid })
    }
}

impl TierLaw {
    /// What it is called.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Geometric => "geometric",
            Self::Laplace => "laplace",
            Self::Gaussian => "gaussian",
            Self::Skellam => "skellam",
            Self::Msdlap => "msdlap",
        }
    }

    /// Whether its promise has no delta.
    #[must_use]
    pub fn is_pure(self) -> bool {
        match self {
            Self::Geometric | Self::Laplace | Self::Msdlap => true,
            Self::Gaussian | Self::Skellam => false,
        }
    }
}

/// The one path of an account of its own.
const ID: PathId = PathId::new([0; 32]);

/// A number as noise is drawn on it.
struct NoisyLine<C: Price> {
    truth: Exact<i64>,
    grid: Grid,
    sensitivity: C::Sensitivity,
}

/// A grid on which rounding hardly adds to a sensitivity.
fn fine(sensitivity: L1) -> Result<Grid, TierError> {
    let exponent = (sensitivity.get() / STEPS).log2().floor();
    #[expect(clippy::cast_possible_truncation, reason = "saturates")]
    Grid::new(exponent as i32).map_err(|_| TierError::TooSmallForGrid(sensitivity.get()))
}

/// A number on a grid.
fn on(value: f64, sensitivity: L1, grid: Grid) -> Result<Exact<i64>, TierError> {
    if value.abs() / grid.step() > FURTHEST {
        let is_fine = fine(sensitivity)? == grid;
        return Err(if is_fine { TierError::TooLarge } else { TierError::TooLargeForNoise });
    }
    Ok(Exact::new(value, sensitivity).on(grid)?)
}

/// The ends of an interval around an answer. Where doubles do not hold every step of the grid, the
/// answer and the ends were rounded, by half a last digit each: two are added.
fn ends(value: f64, half: f64, grid: Grid) -> (f64, f64) {
    let furthest = value.abs() + half;
    let is_exact = furthest <= 2.0 * LONGEST * grid.step();
    let half = if is_exact { half } else { half + 2.0 * f64::EPSILON * furthest };
    (value - half, value + half)
}
