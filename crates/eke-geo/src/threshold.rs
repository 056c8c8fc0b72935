//! Whether a count is below a line, in the central model: as few looks at the count as it takes.
//!
//! One path, walked until what has been released says on which side of the line the count is, or the price is spent.

use eke_budget::{Amount, L2, Rho};
use eke_noise::{
    Entropy, Exact, GaussianPath, MismatchReason, NoAnswer, NoisePath, Payer, reveal,
};

use crate::plan::{Plan, PlanError, Rule};
use crate::reports::rho;
use crate::{normal_width, two_sided_width};

/// Whether a count is below a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    /// Whether it seems to be.
    pub below: bool,
    /// Whether looking stopped because that was clear, and not because the price was spent.
    pub clear: bool,
    /// What was released of the count last, in steps.
    pub value: i64,
    /// The standard deviation of its noise, in steps.
    pub deviation: f64,
    /// The price of the path where looking stopped.
    pub price: Amount<Rho>,
    /// How many looks it took.
    pub looks: u32,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ThresholdError<E> {
    /// Rounds that there are not.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A look could not be had.
    #[error(transparent)]
    Look(#[from] NoAnswer<E>),
}

/// A count held against a line.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// How many steps a person moves the count.
    pub sensitivity: L2,
    /// The line, in steps.
    pub at: f64,
    /// The highest price.
    pub price: Amount<Rho>,
}

/// Whether a count is below a line, at most for a price.
///
/// - Theorem: curtailment (docs/theorems.md)
/// - Proves: with our rule, it says other than it would have said for the whole price with a probability of at most beta
/// - Assumes: each look is charged before it is drawn (payer)
/// - Deviates: noise is on a grid, and averages are rounded to it
/// - Checked by: `a_threshold_is_answered_as_for_the_whole_price_and_costs_less`
///
/// Where the budget ends on the way, what is known so far is the answer. What has been revealed of the path before is free.
///
/// # Errors
/// Not even the first look fits, a look could not be paid for, the truth is not the path's, or there are no such rounds.
pub fn threshold<Y: Payer<Rho>, E: Entropy + ?Sized>(
    path: &mut GaussianPath,
    truth: &Exact<i64>,
    line: &Line,
    plan: &Plan,
    payer: &mut Y,
    entropy: &mut E,
) -> Result<Threshold, ThresholdError<Y::Error>> {
    let prices = plan.prices(line.price)?;
    let rounds = prices.len();
    let variance = |price: Amount<Rho>| {
        let sensitivity = line.sensitivity.get();
        sensitivity * sensitivity / (2.0 * rho(price))
    };
    let end: Amount<Rho> =
        prices.iter().try_fold(Amount::ZERO, |sum: Amount<Rho>, &price| sum.plus(price)).unwrap_or(line.price);
    let miss = plan.beta.shared_by(rounds);
    let (mut level, mut last) = (Amount::ZERO, None);
    for (round, price) in (1u32..).zip(prices) {
        level = level.plus(price).unwrap_or(Amount::MAX);
        // Nothing is gained from a point that is coarser than what is known.
        if level < path.finest() && level < end {
            continue;
        }
        let value = match reveal(path, truth, line.sensitivity, level, payer, entropy) {
            Ok(value) => value.get(),
            Err(NoAnswer::Refused(refusal)) => {
                return last.ok_or(ThresholdError::Look(NoAnswer::Refused(refusal)));
            }
            // A step too small to be drawn, from where an earlier question has left the path, is not taken.
            Err(NoAnswer::Mismatch(MismatchReason::TooFine)) if last.is_some() => continue,
            Err(error) => return Err(error.into()),
        };
        let price = path.worth(path.nearest(level).unwrap_or(level));
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let off = value as f64 - line.at;
        let now = variance(price);
        let width = match plan.rule {
            Rule::Once => f64::INFINITY,
            Rule::Paper => two_sided_width(miss) * now.sqrt(),
            Rule::Ours => normal_width(miss) * (now - variance(end.max(price))).max(0.0).sqrt(),
        };
        let clear = off.abs() > width;
        let looked = Threshold {
            below: off < 0.0,
            clear,
            value,
            deviation: now.sqrt(),
            price,
            looks: round,
        };
        if clear {
            return Ok(looked);
        }
        last = Some(looked);
    }
    last.ok_or(ThresholdError::Plan(PlanError::Small(line.price)))
}
