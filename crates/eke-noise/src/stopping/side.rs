//! On which side of a line a count is, in the central model: as few looks at the count as it takes.
//!
//! One path, walked until what has been released says on which side of the line the count is, or
//! the price is spent.

use eke_budget::{Amount, L2, Rho};

use crate::path::MismatchReason;
use crate::stopping::follow::{NoAnswer, Payer, reveal};
use crate::{Entropy, Exact, GaussianPath, NoisePath};

/// On which side of a line a count is.
#[doc(alias = "threshold")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Side {
    /// Whether it seems to be below.
    pub below: bool,
    /// Whether that is clear: the count itself is on this side of the line, but for the question's
    /// probability of being wrong. Looking also stops where this is not clear, but more looks would
    /// not say otherwise.
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

/// A count held against a line. All of it is public, and fixed before the first look.
#[derive(Clone, Debug, PartialEq)]
pub struct SideQuestion {
    /// How many steps a person moves the count.
    pub sensitivity: L2,
    /// The line, in steps.
    pub line: f64,
    /// What each look costs beyond the one before, at least one.
    pub steps: Vec<Amount<Rho>>,
    /// How many deviations normal noise exceeds, either way, in none of the looks but for the
    /// accepted probability.
    pub sure: f64,
    /// When looking stops.
    pub stop: SideStop,
}

/// When looking stops before the price is spent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SideStop {
    /// Never.
    AtTheEnd,
    /// When it is clear on which side the count is.
    WhenSure,
    /// When it is clear what would be said in the end: this number of deviations of what is still
    /// to come is exceeded in none of the looks but for the accepted probability.
    WhenSettled(f64),
}

/// On which side of a line a count is, at most for the price of all looks together.
///
/// - Theorem: curtailment (docs/theorems.md)
/// - Proves: stopped when settled, it says other than it would have said for the whole price with
///   at most the accepted probability; and stopped at any time, it says that a wrong side is clear
///   with at most that probability
/// - Assumes: each look is charged before it is drawn (payer); deviations are those of the accepted
///   probability, shared by the looks (caller)
/// - Deviates: noise is on a grid, and averages are rounded to it
/// - Checked by: `a_threshold_is_answered_as_for_the_whole_price_and_costs_less`,
///   `what_is_clear_is_so`
///
/// Where the budget ends on the way, what is known so far is the answer. What has been revealed of
/// the path before is free.
///
/// # Errors
/// Not even the first look fits, a look could not be paid for or drawn, or the truth is not the
/// path's.
pub fn which_side<Y: Payer<Rho>, E: Entropy + ?Sized>(
    path: &mut GaussianPath,
    truth: &Exact<i64>,
    question: &SideQuestion,
    payer: &mut Y,
    entropy: &mut E,
) -> Result<Side, NoAnswer<Y::Error>> {
    let SideQuestion { sensitivity, line, ref steps, sure, stop } = *question;
    let variance =
        |price: Amount<Rho>| sensitivity.get() * sensitivity.get() / (2.0 * price.to_f64());
    let end = steps
        .iter()
        .fold(Amount::ZERO, |sum: Amount<Rho>, &step| sum.plus(step).unwrap_or(Amount::MAX));
    let (mut level, mut last) = (Amount::ZERO, None);
    for (number, &step) in (1u32..).zip(steps) {
        level = level.plus(step).unwrap_or(Amount::MAX);
        // Nothing is gained from a point that is coarser than what is known.
        if level < path.finest() && level < end {
            continue;
        }
        // A path that an earlier question has left just below this gains nothing from so small a
        // step.
        let short = level.minus(path.finest()).unwrap_or(Amount::ZERO);
        let near = short < step && short.grains() < level.grains() / 1024;
        let at = if near { level.min(path.finest()) } else { level };
        let value = match reveal(path, truth, sensitivity, at, payer, entropy) {
            Ok(value) => value.get(),
            Err(NoAnswer::Refused(refusal)) => {
                return last.ok_or(NoAnswer::Refused(refusal));
            }
            // A step too small to be drawn, from where an earlier question has left the path, is
            // not taken.
            Err(NoAnswer::Mismatch(MismatchReason::TooFine)) if last.is_some() => continue,
            Err(error) => return Err(error),
        };
        let price = path.worth(path.nearest(at).unwrap_or(at));
        let off = value as f64 - line;
        let now = variance(price);
        let sure = sure * now.sqrt();
        let width = match stop {
            SideStop::AtTheEnd => f64::INFINITY,
            SideStop::WhenSure => sure,
            // What the end would say is known in the end; what the truth is may not be.
            SideStop::WhenSettled(deviations) => {
                deviations * (now - variance(end.max(price))).max(0.0).sqrt()
            }
        };
        let looked = Side {
            below: off < 0.0,
            clear: off.abs() > sure,
            value,
            deviation: now.sqrt(),
            price,
            looks: number,
        };
        if off.abs() > width {
            return Ok(looked);
        }
        last = Some(looked);
    }
    last.ok_or(NoAnswer::Mismatch(MismatchReason::TooFine))
}
