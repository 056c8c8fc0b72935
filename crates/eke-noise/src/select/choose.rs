//! Choosing one of several candidates by score, for a receipt.
//!
//! Candidates are public; their scores are not. A purchase names the rule by which one is drawn and
//! everything that its price depends on, and the verb draws by that rule and no other.

use eke_budget::{L1, Purchase, Receipt};

use crate::evidence::Scores;
use crate::evidence::exact::clamped;
use crate::law::Noise;
use crate::path::{Mismatch, MismatchReason};
use crate::select::noisy_max;
use crate::select::sampler::{choose_exponentially, permute_and_flip};
use crate::{Entropy, Exact, Ratio, Released};

/// A purchase that a candidate can be chosen for. Its implementor vouches that the charge covers
/// the rule, for scores that one unit changes by at most the sensitivity.
pub trait ChoiceLaw: Purchase {
    /// What one unit can change each score by.
    fn sensitivity(&self) -> L1;

    /// How the candidate is drawn.
    fn rule(&self) -> ChoiceRule;
}

/// How a candidate is drawn.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ChoiceRule {
    /// With probability proportional to `exp(rate · score)`.
    Exponential {
        /// The rate.
        rate: Ratio,
    },
    /// In a random order, the first whose coin of probability `exp(-rate (best - score))` shows
    /// heads.
    PermuteAndFlip {
        /// The rate.
        rate: Ratio,
    },
    /// The largest, each with noise of its own on the real line.
    NoisyMax {
        /// The noise.
        noise: Noise,
        /// What scores are clamped to.
        range: (i64, i64),
        /// How many candidates the price is for, at most: scores beyond them are left out.
        candidates: usize,
    },
}

/// The candidate of the largest score, or nearly, by the rule that was paid for. None if there are
/// no candidates.
///
/// - Theorem: exponential-choice (docs/theorems.md)
/// - Proves: the candidate has exactly the law of the rule (exponential-choice, permute-and-flip,
///   lazy-normal, lazy-laplace)
/// - Assumes: candidates are public, and one unit changes each score by at most the sensitivity
///   (caller); the charge covers the rule (implementor of the purchase)
/// - Deviates: scores beyond 2⁶² are clamped to it, which changes no sensitivity
/// - Checked by: `a_choice_costs_its_epsilon_and_no_less`, `choices_have_their_laws_exactly`,
///   `a_choice_draws_what_its_receipt_is_for`
///
/// # Errors
/// The receipt is for another sensitivity, and comes back; nothing is drawn.
pub fn choose<C: ChoiceLaw, E: Entropy + ?Sized>(
    scores: &Exact<Scores>,
    receipt: Receipt<C>,
    entropy: &mut E,
) -> Result<Released<Option<usize>>, Mismatch<C>> {
    if *scores.sensitivity() != receipt.purchase().sensitivity() {
        let reason = MismatchReason::OtherSensitivity;
        return Err(Mismatch { receipt: Box::new(receipt), reason });
    }
    let rule = receipt.redeem().rule();
    let mut scores: Vec<i64> = scores.open().0.iter().map(|&score| clamped(score)).collect();
    let item = match rule {
        ChoiceRule::Exponential { rate } => choose_exponentially(&scores, &rate, entropy),
        ChoiceRule::PermuteAndFlip { rate } => permute_and_flip(&scores, &rate, entropy),
        ChoiceRule::NoisyMax { noise, range: (low, high), candidates } => {
            scores.truncate(candidates);
            for score in &mut scores {
                *score = (*score).max(low).min(high);
            }
            noisy_max(&scores, &noise, entropy)
        }
    };
    Ok(Released::new(item))
}
