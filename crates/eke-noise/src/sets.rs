//! Sets of categories as bits, drawn uniformly.
//!
//! A set is a row of words, category i being bit i % 64 of word i / 64. What is added to a set is uniform
//! among what is not in it, whichever way it is drawn: one by one, or many at once as independent bits of
//! one probability, of which as many are then added or taken away again, one by one, as it takes to have
//! the number asked for. Independent bits treat all categories alike, and so does every correction.

use crate::{Entropy, cells};

/// How many words a set of so many categories takes.
pub(crate) fn words(categories: u32) -> usize {
    (categories as usize).div_ceil(64)
}

#[inline]
pub(crate) fn has(set: &[u64], category: u32) -> bool {
    set[category as usize / 64] >> (category % 64) & 1 == 1
}

#[inline]
pub(crate) fn put(set: &mut [u64], category: u32) {
    set[category as usize / 64] |= 1 << (category % 64);
}

#[inline]
fn take(set: &mut [u64], category: u32) {
    set[category as usize / 64] &= !(1 << (category % 64));
}

pub(crate) fn size(set: &[u64]) -> u32 {
    set.iter().map(|word| word.count_ones()).sum()
}

/// Whether a set holds no category but these.
pub(crate) fn fits(set: &[u64], categories: u32) -> bool {
    let used = categories % 64;
    set.len() == words(categories)
        && (used == 0 || set.last().is_some_and(|last| last >> used == 0))
}

/// Up to so many, categories are added one by one.
const FEW: u32 = 12;

/// What a set is made from: the set it extends, if any, and a category that stays out of it.
#[derive(Clone, Copy)]
pub(crate) struct Base<'a> {
    pub(crate) set: Option<&'a [u64]>,
    pub(crate) without: Option<u32>,
}

impl Base<'_> {
    /// Nothing at all.
    pub(crate) const EMPTY: Self = Base { set: None, without: None };

    /// The categories of a word that may be added.
    #[inline]
    fn free(&self, index: usize) -> u64 {
        let mut free = !self.set.map_or(0, |set| set[index]);
        if let Some(without) = self.without.filter(|without| *without as usize / 64 == index) {
            free &= !(1 << (without % 64));
        }
        free
    }

    fn is_free(&self, category: u32) -> bool {
        self.without != Some(category) && self.set.is_none_or(|set| !has(set, category))
    }
}

/// Writes a set that extends another by so many categories, uniform among those that are free. There are
/// as many, or it never ends.
pub(crate) fn extend<E: Entropy + ?Sized>(
    set: &mut [u64],
    base: Base<'_>,
    categories: u32,
    more: u32,
    entropy: &mut E,
) {
    extend_by(set, base, categories, more, more > FEW, entropy);
}

fn extend_by<E: Entropy + ?Sized>(
    set: &mut [u64],
    base: Base<'_>,
    categories: u32,
    more: u32,
    at_once: bool,
    entropy: &mut E,
) {
    match base.set {
        Some(old) => set.copy_from_slice(old),
        None => set.fill(0),
    }
    let mut added = 0;
    if at_once {
        let taken = base.set.map_or(0, size) + u32::from(base.without.is_some());
        added = scatter(set, base, categories, share(more, categories - taken), entropy);
    }
    while added < more {
        let category = any(categories, entropy);
        if base.is_free(category) && !has(set, category) {
            put(set, category);
            added += 1;
        }
    }
    while added > more {
        let category = any(categories, entropy);
        if base.is_free(category) && has(set, category) {
            take(set, category);
            added -= 1;
        }
    }
}

/// A probability in parts of 256, the nearest to a fraction.
fn share(part: u32, whole: u32) -> u32 {
    let nearest = (u64::from(part) * 512 + u64::from(whole)) / (2 * u64::from(whole));
    u32::try_from(nearest.min(256)).unwrap_or(256)
}

/// Adds every free category with a probability in parts of 256, independently; how many were added.
fn scatter<E: Entropy + ?Sized>(
    set: &mut [u64],
    base: Base<'_>,
    categories: u32,
    share: u32,
    entropy: &mut E,
) -> u32 {
    let mut added = 0;
    for (index, word) in set.iter_mut().enumerate() {
        let left = categories as usize - index * 64;
        let valid = if left >= 64 { u64::MAX } else { (1 << left) - 1 };
        let bits = bits(share, left.min(64), entropy) & valid & base.free(index);
        added += bits.count_ones();
        *word |= bits;
    }
    added
}

/// Bits that are set with a probability in parts of 256, independently: from the last binary digit of the
/// probability to the first, a one lets a fair bit set what is not set, a zero lets it take away what is.
fn bits<E: Entropy + ?Sized>(share: u32, width: usize, entropy: &mut E) -> u64 {
    if share >= 256 {
        return u64::MAX;
    }
    let mut bits = 0;
    for digit in share.trailing_zeros().min(8)..8 {
        // The lowest bits of the word, as many as there are categories, are what is looked at.
        let word = cells::word(entropy, || cells::leading(u32::try_from(width).unwrap_or(64)));
        let fair = if width >= 64 { word } else { word >> (64 - width) };
        bits = if share >> digit & 1 == 1 { bits | fair } else { bits & fair };
    }
    bits
}

/// A category, each as likely as another: the whole part of a uniform number times their number, but for
/// the first words of each part that would make some of them one word longer than others.
#[inline]
fn any<E: Entropy + ?Sized>(categories: u32, entropy: &mut E) -> u32 {
    let bound = u64::from(categories);
    let left_over = bound.wrapping_neg() % bound;
    loop {
        let word = cells::word(entropy, || cells::parts(bound, left_over));
        let product = u128::from(word) * u128::from(bound);
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the lower half, and one below the bound"
        )]
        let (rest, category) = (product as u64, (product >> 64) as u32);
        if rest >= left_over {
            return category;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    struct Words(u64);

    impl Entropy for Words {
        fn word(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        }
    }

    const DRAWS: u32 = 120_000;

    /// The largest deviation of any set's count from what its weight expects, in standard deviations.
    fn worst(counts: &BTreeMap<u64, u32>, weights: &BTreeMap<u64, f64>) -> f64 {
        let total: f64 = weights.values().sum();
        assert!(counts.keys().all(|set| weights.contains_key(set)), "a set that cannot be");
        weights
            .iter()
            .map(|(set, weight)| {
                let expected = f64::from(DRAWS) * weight / total;
                (f64::from(counts.get(set).copied().unwrap_or(0)) - expected).abs()
                    / expected.sqrt()
            })
            .fold(0.0, f64::max)
    }

    /// Every set that extends the base, by both ways. Six deviations is one in 5e8 for each of fifty sets;
    /// the control, a law in which one category is a quarter likelier, is far beyond it.
    #[test]
    fn sets_are_uniform_whichever_way_they_are_drawn() {
        let mut entropy = Words(7);
        for (categories, base, without, more) in
            [(6, 0u64, None, 3), (6, 0b10_0000, None, 2), (7, 0, Some(2), 3), (8, 0b11, Some(5), 4)]
        {
            let old = [base];
            let base_of = Base { set: (base != 0).then_some(&old[..]), without };
            for at_once in [false, true] {
                let mut counts = BTreeMap::new();
                for _ in 0..DRAWS {
                    let mut set = [u64::MAX];
                    extend_by(&mut set, base_of, categories, more, at_once, &mut entropy);
                    *counts.entry(set[0]).or_default() += 1;
                }
                let law = |unfair: f64| -> BTreeMap<u64, f64> {
                    (0..1u64 << categories)
                        .filter(|set| set & base == base)
                        .filter(|set| without.is_none_or(|w| set >> w & 1 == 0))
                        .filter(|set| (set & !base).count_ones() == more)
                        .map(|set| (set, if set >> 4 & 1 == 1 { unfair } else { 1.0 }))
                        .collect()
                };
                assert!(worst(&counts, &law(1.0)) < 6.0, "{categories} {base:b} {at_once}");
                assert!(worst(&counts, &law(1.25)) > 6.0, "{categories} {base:b}: blind");
            }
        }
    }

    /// Over more words than one: the size is right, what must stay out is out, and all are as often in it.
    #[test]
    fn large_sets_have_their_size_and_treat_all_alike() {
        let mut entropy = Words(8);
        for (categories, more) in [(128, 34), (130, 64), (200, 150), (65, 13)] {
            let rounds = 20_000u32;
            let mut counts = vec![0u32; categories as usize];
            let mut set = vec![0; words(categories)];
            for _ in 0..rounds {
                let base = Base { set: None, without: Some(3) };
                extend(&mut set, base, categories, more, &mut entropy);
                assert_eq!(size(&set), more);
                assert_eq!(set.last().unwrap() >> ((categories - 1) % 64) >> 1, 0);
                for (category, count) in (0..categories).zip(&mut counts) {
                    *count += u32::from(has(&set, category));
                }
            }
            assert_eq!(counts.remove(3), 0);
            let p = f64::from(more) / f64::from(categories - 1);
            let deviation = (f64::from(rounds) * p * (1.0 - p)).sqrt();
            for count in counts {
                let off = (f64::from(count) - f64::from(rounds) * p).abs();
                assert!(off < 6.5 * deviation, "{categories} {more}: {count}");
            }
        }
    }
}
