//! Choosing one of several by score, and some of many at random.

use std::collections::HashMap;

use crate::sampler::exponential::{WeightTable, below};
use crate::{Entropy, Ratio};

/// The exponential mechanism: item i with probability proportional to `exp(rate · score_i)`,
/// exactly. None if there are no items.
///
/// - Theorem: exponential-choice (docs/theorems.md)
/// - Proves: a draw by weights `exp(-rate (best - score))` is exactly the exponential mechanism
/// - Assumes: candidates are public; the price is for monotone or for general scores (caller)
/// - Deviates: nothing
/// - Checked by: `the_exponential_mechanism_has_its_law`
#[doc(alias = "exponential mechanism")]
pub fn choose_exponentially<E: Entropy + ?Sized>(
    scores: &[i64],
    rate: &Ratio,
    entropy: &mut E,
) -> Option<usize> {
    WeightTable::new(scores, rate).draw(entropy)
}

/// Permute and flip: items are looked at in a random order, without replacement, and the first one
/// is taken whose coin of probability `exp(-rate (best - score))` shows heads. None if there are no
/// items.
///
/// - Theorem: permute-and-flip (docs/theorems.md)
/// - Proves: epsilon-DP at the rate of the exponential mechanism, with no larger expected gap; not
///   its concentrated price, so it is priced as pure only
/// - Assumes: candidates are public (caller)
/// - Deviates: nothing
/// - Checked by: `permute_and_flip_has_its_law`
pub fn permute_and_flip<E: Entropy + ?Sized>(
    scores: &[i64],
    rate: &Ratio,
    entropy: &mut E,
) -> Option<usize> {
    WeightTable::new(scores, rate).flip(entropy)
}

/// `size` different numbers below `bound`, every set equally likely, in no order of meaning; all of
/// them where there are no more.
pub fn uniform_subset<E: Entropy + ?Sized>(
    bound: usize,
    size: usize,
    entropy: &mut E,
) -> Vec<usize> {
    // The start of a random permutation, of which only what was moved is kept.
    let mut moved: HashMap<usize, usize> = HashMap::new();
    (0..size.min(bound))
        .map(|place| {
            let other = place + below(bound - place, entropy);
            let chosen = moved.get(&other).copied().unwrap_or(other);
            let here = moved.get(&place).copied().unwrap_or(place);
            moved.insert(other, here);
            chosen
        })
        .collect()
}
