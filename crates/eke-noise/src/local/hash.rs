//! Chains of hashed values: one category's reports over fewer and fewer bits of one hash, drawn
//! once.
//!
//! A device draws a hash, which is public, and reports its value of b bits of the category: with
//! probability `w/(2^b + w)`, its share, the true one, and else a uniform one, which tells nothing.
//! With `w = exp(epsilon) - 1` the true value is `exp(epsilon)` times as likely as any other. The
//! value of fewer bits is the first of them, so dropping bits keeps the share; throwing a coin and
//! drawing afresh takes of it. So a report of b bits and one share becomes one of any `b' <= b` and
//! any smaller share by one coin.
//!
//! Every report is made from the one before it, and the hash from nothing, so an observer of
//! several reports learns what the first of those tells.

use eke_budget::{Amount, Epsilon};
use serde::{Deserialize, Serialize};

use crate::Entropy;
use crate::local::chain::{ChainError, ChainLaw, ChainOf, LARGEST, MOST_CATEGORIES};
use crate::local::share::{Keep, Share, Weight};
use crate::sampler::audit_cells;

/// The most bits of a hash.
pub const MOST_BITS: u32 = 20;

/// A function from categories to numbers of as many bits as are asked for.
///
/// - Theorem: hash-chain (docs/theorems.md)
/// - Proves: drawn uniformly, the values of two categories in b bits are uniform and independent
/// - Assumes: categories below 2²⁰ and b at most 45 (types: at most 20)
/// - Deviates: nothing
/// - Checked by: `two_categories_have_uniform_and_independent_values`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hash {
    /// What categories are multiplied by.
    pub multiplier: u64,
    /// What is added then.
    pub addend: u64,
}

impl Hash {
    /// A hash, each as likely as another.
    pub fn draw<E: Entropy + ?Sized>(entropy: &mut E) -> Self {
        Self { multiplier: entropy.word(), addend: entropy.word() }
    }

    /// The value of a category in the given number of bits, 1 to 20.
    #[inline]
    #[must_use]
    pub fn of(self, category: u32, bits: u32) -> u64 {
        first_bits::<64>(self.multiplier, self.addend, category, bits)
    }
}

/// The first bits of a product and a sum of numbers of `WIDTH` bits.
#[inline]
fn first_bits<const WIDTH: u32>(multiplier: u64, addend: u64, category: u32, bits: u32) -> u64 {
    let sum = multiplier.wrapping_mul(u64::from(category)).wrapping_add(addend);
    // The sum's lowest bits, as many as it has, moved to the top.
    (sum << (64 - WIDTH)) >> (64 - bits.clamp(1, WIDTH))
}

/// The law of one report: how many bits of the hash it has, and how likely it is the true value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HashTemplate {
    /// How many bits.
    pub bits: u32,
    /// The probability that it is not just uniform. A report of fewer bits made from one of more
    /// keeps this.
    pub share: Share,
}

impl HashTemplate {
    /// The report of n bits at this epsilon.
    #[must_use]
    pub fn new(bits: u32, epsilon: Amount<Epsilon>) -> Self {
        let weight = Weight::Of { epsilon, size: 1 };
        Self { bits, share: Share { weight, among: 1 << bits.min(MOST_BITS) } }
    }

    /// What one report of it costs: `ln(1 + 2^bits weight/among)`, rounded up.
    #[must_use]
    pub fn epsilon(&self) -> Amount<Epsilon> {
        self.share.weight.price(1 << self.bits.min(MOST_BITS), self.share.among)
    }
}

/// The reports of one category, each made from the one before it.
///
/// - Theorem: hash-chain (docs/theorems.md)
/// - Proves: every report has the law of local hashing of its template, and all reports from one
///   on, with the hash, cost what that one costs
/// - Assumes: the value does not change (caller)
/// - Deviates: nothing; coins are decided bit by bit
/// - Checked by: `hashed_reports_have_their_law_and_no_set_of_them_tells_more_than_the_first`,
///   `every_set_of_reports_costs_what_its_first_does`
pub type HashChain = ChainOf<HashTemplate>;

impl ChainLaw for HashTemplate {
    type Coin = Keep;

    fn price(&self, _: u32) -> Result<Amount<Epsilon>, ChainError> {
        let HashTemplate { bits, share: Share { weight, among } } = *self;
        if !(1..=MOST_BITS).contains(&bits) {
            return Err(ChainError::Bits(bits));
        }
        if weight.is_zero() {
            return Err(ChainError::Weightless);
        }
        if !(2..=MOST_CATEGORIES).contains(&among) {
            return Err(ChainError::Categories(among));
        }
        if matches!(weight, Weight::Of { epsilon, .. } if epsilon > LARGEST) {
            return Err(ChainError::Epsilon);
        }
        Some(self.epsilon()).filter(|&price| price <= LARGEST).ok_or(ChainError::Epsilon)
    }

    fn coin(&self, before: Option<&Self>, place: usize, _: u32) -> Result<Keep, ChainError> {
        if before.is_some_and(|before| self.bits > before.bits) {
            return Err(ChainError::Lengthens(place));
        }
        Keep::after(before.map(|before| before.share), self.share, place)
    }

    fn words(_: u32) -> usize {
        HashChain::WORDS
    }

    /// Each row has a hash of its own.
    fn draw_rows<E: Entropy + ?Sized>(
        chain: &HashChain,
        values: &[u32],
        reports: &mut [u64],
        entropy: &mut E,
    ) {
        for (&category, reports) in values.iter().zip(reports.chunks_exact_mut(chain.row())) {
            chain.draw_row(category, Hash::draw(entropy), reports, entropy);
        }
    }
}

impl HashChain {
    /// How many words a report takes: the hash's two, and the value.
    pub const WORDS: usize = 3;

    /// Draws all reports of a category for a hash that was drawn before.
    ///
    /// # Errors
    /// There is no such category, or no room for the reports. Nothing is drawn.
    pub fn draw_for<E: Entropy + ?Sized>(
        &self,
        hash: Hash,
        category: u32,
        reports: &mut [u64],
        entropy: &mut E,
    ) -> Result<(), ChainError> {
        self.has_room(&[category], reports)?;
        self.draw_row(category, hash, reports, entropy);
        Ok(())
    }

    #[inline]
    fn draw_row<E: Entropy + ?Sized>(
        &self,
        category: u32,
        hash: Hash,
        reports: &mut [u64],
        entropy: &mut E,
    ) {
        let mut before: Option<(u64, u32)> = None;
        let rows = reports.chunks_exact_mut(Self::WORDS);
        for ((template, keep), report) in self.templates.iter().zip(&self.coins).zip(rows) {
            let bits = template.bits;
            let value = if keep.flip(entropy) {
                before.map_or_else(
                    || hash.of(category, bits),
                    |(value, longer)| value >> (longer - bits),
                )
            } else {
                audit_cells::word(entropy, || audit_cells::leading(bits)) >> (64 - bits)
            };
            report.copy_from_slice(&[hash.multiplier, hash.addend, value]);
            before = Some((value, bits));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// All hashes of a small ring, for all pairs of categories: each pair of values is as often as
    /// any other, as long as the bits of categories and values are one more than those of the ring;
    /// with one more, they are not.
    #[test]
    fn two_categories_have_uniform_and_independent_values() {
        const WIDTH: u32 = 6;
        let is_uniform = |categories: u32, bits: u32| {
            (0..categories).all(|one| {
                (0..one).all(|two| {
                    let mut counts: BTreeMap<(u64, u64), u32> = BTreeMap::new();
                    for multiplier in 0..1 << WIDTH {
                        for addend in 0..1 << WIDTH {
                            let [a, b] = [one, two]
                                .map(|x| first_bits::<WIDTH>(multiplier, addend, x, bits));
                            *counts.entry((a, b)).or_default() += 1;
                        }
                    }
                    counts.len() == 1 << (2 * bits)
                        && counts.values().all(|&n| n == 1 << (2 * WIDTH - 2 * bits))
                })
            })
        };
        for (category_bits, bits) in [(3, 4), (4, 3), (5, 2), (6, 1)] {
            assert!(is_uniform(1 << category_bits, bits), "{category_bits} {bits}");
        }
        assert!(!is_uniform(1 << 3, 5), "the control is uniform");
        // Here there are 64 bits for the 20 of a category and the 20 of a value.
        assert!(MOST_CATEGORIES.ilog2() + MOST_BITS <= 65);
    }

    #[test]
    fn fewer_bits_are_the_first_of_more() {
        let hash = Hash { multiplier: 0x9e37_79b9_7f4a_7c15, addend: 0x1234_5678_9abc_def0 };
        for category in [0, 1, 77, MOST_CATEGORIES - 1] {
            for bits in 1..MOST_BITS {
                assert_eq!(hash.of(category, bits), hash.of(category, bits + 1) >> 1);
                assert!(hash.of(category, bits) < 1 << bits);
            }
        }
    }

    fn at(bits: u32, text: &str) -> HashTemplate {
        HashTemplate::new(bits, Amount::parse_up(text).unwrap())
    }

    #[test]
    fn templates_that_tell_more_than_the_one_before_are_no_chain() {
        let of = |templates: &[HashTemplate]| HashChain::new(50, templates.to_vec()).map(|_| ());
        assert_eq!(of(&[at(3, "2"), at(2, "1")]), Ok(()));
        // Dropping one of two bits leaves ln((e + 1)/2) = 0.6201145… of an epsilon of 1.
        assert_eq!(of(&[at(2, "1"), at(1, "0.6201145")]), Ok(()));
        assert_eq!(of(&[at(2, "1"), at(1, "0.6201146")]), Err(ChainError::Grows(1)));
        assert_eq!(of(&[at(1, "1"), at(2, "0.1")]), Err(ChainError::Lengthens(1)));
        let merged = HashTemplate { bits: 1, ..at(2, "1") };
        assert_eq!(of(&[at(2, "1"), merged]), Ok(()));
        assert!((merged.epsilon().to_f64() - 0.620_114_506_958).abs() < 1e-12);
        assert_eq!(of(&[at(0, "1")]), Err(ChainError::Bits(0)));
        assert_eq!(of(&[at(21, "1")]), Err(ChainError::Bits(21)));
        assert_eq!(of(&[at(4, "0")]), Err(ChainError::Weightless));
        assert_eq!(of(&[at(4, "501")]), Err(ChainError::Epsilon));
        let among = |among| HashTemplate {
            bits: 20,
            share: Share { weight: Weight::Of { epsilon: at(1, "499").epsilon(), size: 9 }, among },
        };
        assert_eq!(of(&[among(2)]), Err(ChainError::Epsilon));
        assert_eq!(of(&[among(0)]), Err(ChainError::Categories(0)));
    }
}
