//! The templates of hashed values for tiers: ours, planned, and the paper's list.

use eke_budget::{Amount, Epsilon};
use eke_noise::{HashTemplate, MOST_BITS, Share, Weight};

use crate::plan::choices::{self, Choices};
use crate::worth::hash;
use crate::worth::subset;

/// The templates whose largest ratio is smallest, for epsilons that fall.
pub(crate) fn planned(categories: u32, falling: &[Amount<Epsilon>]) -> Vec<HashTemplate> {
    let tiers: Vec<f64> = falling.iter().map(|tier| tier.to_f64()).collect();
    let alone: Vec<f64> =
        tiers.iter().map(|&epsilon| subset::best_variance(categories, epsilon)).collect();
    // Bits are dropped, so the longest come first.
    let bits: Vec<u32> = (1..=MOST_BITS).rev().collect();
    let chosen = choices::best(&Choices {
        tiers: tiers.len(),
        options: bits.len(),
        most: |tier: usize, option: usize| hash::odds_at(bits[option], tiers[tier]),
        ratio: |tier: usize, option: usize, odds: f64| {
            hash::variance(categories, bits[option], odds) / alone[tier]
        },
    });
    let mut templates: Vec<HashTemplate> = Vec::with_capacity(falling.len());
    for (&epsilon, option) in falling.iter().zip(chosen) {
        let own = HashTemplate::new(bits[option], epsilon);
        // The share of a report is the least that any tier so far allows.
        let share = match templates.last() {
            Some(before) if before.share.compare(own.share).is_le() => before.share,
            _ => own.share,
        };
        templates.push(HashTemplate { share, ..own });
    }
    templates
}

/// The paper's list: the largest tier over as many values as are best for it; then, for each number
/// of bits, a template at the epsilon for which it is best, `ln(2^bits - 1)`; one bit as it is left
/// then; the tiers below it.
pub(crate) fn reference(falling: &[Amount<Epsilon>]) -> Vec<HashTemplate> {
    let Some(&largest) = falling.first() else { return Vec::new() };
    let most = (libm::exp(largest.to_f64()) + 1.0).log2().floor();
    let longest = (1..=MOST_BITS).rev().find(|&bits| f64::from(bits) <= most).unwrap_or(1);
    let mut templates = vec![HashTemplate::new(longest, largest)];
    let mut share = templates[0].share;
    for bits in (2..=longest).rev() {
        let best = Share { weight: Weight::Whole((1 << bits) - 2), among: 1 << bits };
        if best.compare(share).is_lt() {
            share = best;
            templates.push(HashTemplate { bits, share });
        }
    }
    if longest > 1 {
        templates.push(HashTemplate { bits: 1, share });
    }
    for &epsilon in falling {
        let own = HashTemplate::new(1, epsilon);
        if own.share.compare(share).is_lt() {
            share = own.share;
            templates.push(own);
        }
    }
    templates
}
