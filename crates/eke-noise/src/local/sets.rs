//! Sets of categories as bits, drawn uniformly.
//!
//! A set is a row of words, category i being bit i % 64 of word i / 64. What is added to a set is
//! uniform among what is not in it, whichever way it is drawn: one by one, or many at once as
//! independent bits of one probability, with categories then added or taken away again, one by one,
//! until the set has the number asked for. Independent bits treat all categories alike, and so does
//! every correction; the probability does not matter to the law, so it is a simple one, and rather
//! too small than too large, since adding a category is faster than finding one to remove.

use crate::Entropy;
use crate::sampler::audit_cells;
use crate::sampler::parts::Parts;

/// How many words a set of n categories takes.
pub(crate) fn words(categories: u32) -> usize {
    (categories as usize).div_ceil(64)
}

#[inline]
fn has(set: &[u64], category: u32) -> bool {
    set[category as usize / 64] >> (category % 64) & 1 == 1
}

#[inline]
pub(crate) fn put(set: &mut [u64], category: u32) {
    set[category as usize / 64] |= 1 << (category % 64);
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

/// Up to this number, categories are added one by one.
const FEW: u32 = 20;

/// What a set is made from.
#[derive(Clone, Copy)]
pub(crate) enum Base<'a> {
    /// Nothing at all.
    Empty,
    /// This category.
    One(u32),
    /// These.
    Set(&'a [u64]),
}

impl Base<'_> {
    /// The categories of a word that are in it.
    #[inline(always)]
    fn word(&self, index: usize) -> u64 {
        match *self {
            Self::Empty => 0,
            Self::One(one) if one as usize / 64 == index => 1 << (one % 64),
            Self::One(_) => 0,
            Self::Set(set) => set[index],
        }
    }

    #[inline(always)]
    fn size(&self) -> u32 {
        match *self {
            Self::Empty => 0,
            Self::One(_) => 1,
            Self::Set(set) => size(set),
        }
    }
}

/// The number of categories, and how to draw one of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Among {
    categories: u32,
    /// How many of the numbers that one is drawn by are left over.
    left_over: u64,
}

/// Up to this number of categories, one is drawn with 16 bits, of whose values at most one in
/// sixteen is left over.
const NARROW: u32 = 1 << 12;

impl Among {
    pub(crate) fn new(categories: u32) -> Self {
        let bound = u64::from(categories.max(1));
        let left_over =
            if categories <= NARROW { (1 << 16) % bound } else { bound.wrapping_neg() % bound };
        Self { categories, left_over }
    }

    /// A category, each as likely as another: the whole part of a uniform number times their
    /// number, but for the first numbers of each part that would make some of them one number
    /// longer than others.
    #[inline(always)]
    fn any<E: Entropy + ?Sized>(&self, parts: &mut Parts<'_, E>) -> u32 {
        if self.categories <= NARROW {
            loop {
                let part =
                    parts.next(|| audit_cells::parts::<16>(self.categories.into(), self.left_over));
                let product = u32::from(part) * self.categories;
                if u64::from(product & 0xffff) >= self.left_over {
                    return product >> 16;
                }
            }
        }
        let bound = u64::from(self.categories);
        loop {
            let word = audit_cells::word(parts.entropy, || {
                audit_cells::parts::<64>(bound, self.left_over)
            });
            let product = u128::from(word) * u128::from(bound);
            #[expect(
                clippy::cast_possible_truncation,
                reason = "the lower half, and one below the bound"
            )]
            let (rest, category) = (product as u64, (product >> 64) as u32);
            if rest >= self.left_over {
                return category;
            }
        }
    }
}

/// Writes a set that extends another by the given number of categories, uniform among those that
/// are not in it. If there are fewer, it never ends.
#[inline(always)]
pub(crate) fn extend<E: Entropy + ?Sized>(
    set: &mut [u64],
    base: Base<'_>,
    among: Among,
    more: u32,
    parts: &mut Parts<'_, E>,
) {
    extend_by(set, base, among, more, more > FEW, parts);
}

#[inline(always)]
fn extend_by<E: Entropy + ?Sized>(
    set: &mut [u64],
    base: Base<'_>,
    among: Among,
    more: u32,
    at_once: bool,
    parts: &mut Parts<'_, E>,
) {
    for (index, word) in set.iter_mut().enumerate() {
        *word = base.word(index);
    }
    let mut added = 0;
    if at_once {
        let share = share(more, among.categories - base.size());
        added = scatter(set, base, among.categories, share, parts.entropy);
    }
    while added < more {
        let category = among.any(parts);
        added += u32::from(!has(set, category));
        put(set, category);
    }
    while added > more {
        let category = among.any(parts);
        let word = &mut set[category as usize / 64];
        let less = *word & (!(1 << (category % 64)) | base.word(category as usize / 64));
        added -= u32::from(less != *word);
        *word = less;
    }
}

/// A probability in parts of sixteen, not above a fraction.
#[inline(always)]
fn share(part: u32, whole: u32) -> u32 {
    (part * 16 / whole.max(1)).min(16)
}

/// Adds every category that is not in the base with a probability in parts of sixteen,
/// independently; how many were added.
#[inline(always)]
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
        let bits = bits(share, left.min(64), entropy) & valid & !base.word(index);
        added += bits.count_ones();
        *word |= bits;
    }
    added
}

/// Bits that are set with a probability in parts of sixteen, independently: from the last binary
/// digit of the probability to the first, a one lets a fair bit set what is not set, a zero lets it
/// take away what is.
#[inline(always)]
fn bits<E: Entropy + ?Sized>(share: u32, width: usize, entropy: &mut E) -> u64 {
    if share >= 16 {
        return u64::MAX;
    }
    let mut bits = 0;
    for digit in share.trailing_zeros().min(4)..4 {
        // The highest bits of the word, as many as there are categories, are what is looked at.
        let word =
            audit_cells::word(entropy, || audit_cells::leading(u32::try_from(width).unwrap_or(64)));
        let fair = if width >= 64 { word } else { word >> (64 - width) };
        bits = if share >> digit & 1 == 1 { bits | fair } else { bits & fair };
    }
    bits
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use eke_testkit::{Dice, Tape};

    use super::*;

    const DRAWS: u32 = 120_000;

    /// The largest deviation of any set's count from what its weight expects, in standard
    /// deviations.
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

    /// Every set that extends the base, by both ways. Six deviations is one in 5e8 for each of
    /// fifty sets; the control, a law in which one category is a quarter likelier, is far beyond
    /// it.
    #[test]
    fn sets_are_uniform_whichever_way_they_are_drawn() {
        let mut entropy = Dice(7);
        let mut parts = Parts::new(&mut entropy);
        for (categories, base, more) in [
            (6, Base::Empty, 3),
            (6, Base::Set(&[0b10_0000]), 2),
            (7, Base::One(2), 3),
            (8, Base::Set(&[0b10_0011]), 4),
            // A probability of nearly one, so that there is often too much.
            (6, Base::One(0), 4),
        ] {
            for at_once in [false, true] {
                let mut counts = BTreeMap::new();
                for _ in 0..DRAWS {
                    let mut set = [u64::MAX];
                    let among = Among::new(categories);
                    extend_by(&mut set, base, among, more, at_once, &mut parts);
                    *counts.entry(set[0]).or_default() += 1;
                }
                let base = base.word(0);
                let law = |unfair: f64| -> BTreeMap<u64, f64> {
                    (0..1u64 << categories)
                        .filter(|set| set & base == base)
                        .filter(|set| (set & !base).count_ones() == more)
                        .map(|set| (set, if set >> 4 & 1 == 1 { unfair } else { 1.0 }))
                        .collect()
                };
                assert!(worst(&counts, &law(1.0)) < 6.0, "{categories} {base:b} {at_once}");
                assert!(worst(&counts, &law(1.25)) > 6.0, "{categories} {base:b}: blind");
            }
        }
    }

    /// Of all words that can be drawn for three categories, each set of them comes from as many as
    /// independent bits of the probability have.
    #[test]
    fn bits_have_their_probability_and_are_independent() {
        for share in 0..=16u32 {
            let mut counts = [0u32; 8];
            for all in 0..1u64 << 12 {
                let words: Vec<u64> = (0..4).map(|at| (all >> (3 * at)) << 61).collect();
                let mut tape = Tape::new(words);
                counts[usize::try_from(bits(share, 3, &mut tape) & 7).unwrap()] += 1;
            }
            for (set, count) in (0u32..).zip(counts) {
                let ones = set.count_ones();
                assert_eq!(count, share.pow(ones) * (16 - share).pow(3 - ones), "{share} {set}");
            }
        }
    }

    /// Over more words than one: the size is right, the set that was extended is kept, and all
    /// other categories are equally often in it.
    #[test]
    fn large_sets_have_their_size_and_treat_all_alike() {
        let mut entropy = Dice(8);
        let mut parts = Parts::new(&mut entropy);
        for (categories, more) in [(128, 34), (130, 64), (200, 150), (65, 13), (5000, 40)] {
            let rounds = 20_000u32;
            let mut counts = vec![0u32; categories as usize];
            let mut set = vec![0; words(categories)];
            for _ in 0..rounds {
                extend(&mut set, Base::One(3), Among::new(categories), more, &mut parts);
                assert_eq!(size(&set), more + 1);
                assert_eq!(set.last().unwrap() >> ((categories - 1) % 64) >> 1, 0);
                for (index, &word) in set.iter().enumerate() {
                    let mut left = word;
                    while left != 0 {
                        counts[index * 64 + left.trailing_zeros() as usize] += 1;
                        left &= left - 1;
                    }
                }
            }
            assert_eq!(counts.remove(3), rounds);
            let p = f64::from(more) / f64::from(categories - 1);
            let deviation = (f64::from(rounds) * p * (1.0 - p)).sqrt();
            for count in counts {
                let off = (f64::from(count) - f64::from(rounds) * p).abs();
                assert!(off < 6.5 * deviation, "{categories} {more}: {count}");
            }
        }
    }

    /// Words of which those that one set is scattered by can be repeated, as a sampler would that
    /// draws once for all words of a set.
    struct Repeating {
        words: Dice,
        /// What the first word of a set was scattered by.
        first: Vec<u64>,
        /// How many there are of these, and how many words that they are repeated for.
        shape: (usize, usize),
        drawn: usize,
    }

    impl Entropy for Repeating {
        fn word(&mut self) -> u64 {
            let (digits, words) = self.shape;
            let at = self.drawn;
            self.drawn += 1;
            if at >= digits * words {
                return self.words.word();
            }
            if at < digits {
                self.first[at] = self.words.word();
            }
            self.first[at % digits]
        }
    }

    /// How far the count of any pair is from what it should be, in standard deviations: of
    /// neighbours, of the same bits of two words, and of any two.
    fn worst_pair(base: Base<'_>, categories: u32, more: u32, seed: u64, repeated: bool) -> f64 {
        let free: Vec<u32> = (0..categories)
            .filter(|at| base.word(*at as usize / 64) >> (at % 64) & 1 == 0)
            .collect();
        let mut words_of_pairs = Dice(!seed);
        let mut any = || free[usize::try_from(words_of_pairs.word() % free.len() as u64).unwrap()];
        let mut pairs: Vec<(u32, u32)> = (0..200).map(|_| (any(), any())).collect();
        for apart in [1, 64, 128] {
            pairs.extend(free.iter().map(|&at| (at, at + apart)));
        }
        pairs.retain(|(one, two)| one != two && free.contains(two));

        let share = share(more, categories - base.size());
        let digits = 4 - share.trailing_zeros() as usize;
        let shape = (digits, if repeated { words(categories) } else { 1 });
        let mut entropy = Repeating { words: Dice(seed), first: vec![0; digits], shape, drawn: 0 };
        let mut parts = Parts::new(&mut entropy);
        let mut counts = vec![0u32; pairs.len()];
        let mut set = vec![0; words(categories)];
        for _ in 0..ROUNDS {
            parts.entropy.drawn = 0;
            extend(&mut set, base, Among::new(categories), more, &mut parts);
            assert_eq!(size(&set), base.size() + more);
            assert!((0..set.len()).all(|index| base.word(index) & !set[index] == 0));
            for (count, &(one, two)) in counts.iter_mut().zip(&pairs) {
                *count += u32::from(has(&set, one) && has(&set, two));
            }
        }
        let (more, free) = (f64::from(more), free.len() as f64);
        let p = more * (more - 1.0) / (free * (free - 1.0));
        let deviation = (f64::from(ROUNDS) * p * (1.0 - p)).sqrt();
        counts
            .iter()
            .map(|count| (f64::from(*count) - f64::from(ROUNDS) * p).abs() / deviation)
            .fold(0.0, f64::max)
    }

    const ROUNDS: u32 = 10_000;

    /// Two categories are both in a set as often as in a uniform one, within words and across them.
    /// Six and a half deviations is one in 1e10 for each of some four thousand pairs; the control,
    /// one draw for all words, is far beyond it.
    #[test]
    fn pairs_of_categories_are_as_likely_across_words_as_within_one() {
        let fifths: Vec<u64> = {
            let mut set = vec![0; words(200)];
            (0..200).step_by(5).for_each(|category| put(&mut set, category));
            set
        };
        let few = [1 << 9 | 1 << 40, 1 << 63];
        for (seed, (categories, base, more)) in (31..).zip([
            (128, Base::Empty, 40),
            (128, Base::One(70), 60),
            (128, Base::Set(&few), 25),
            (200, Base::Empty, 90),
            (200, Base::One(199), 25),
            (200, Base::Set(&fifths), 110),
        ]) {
            let honest = worst_pair(base, categories, more, seed, false);
            assert!(honest < 6.5, "{categories} {more}: {honest}");
            let repeated = worst_pair(base, categories, more, seed, true);
            assert!(repeated > 13.0, "{categories} {more}: blind, {repeated}");
        }
    }

    /// Of all numbers of sixteen bits, as many draw one category as another: nothing else is left
    /// to chance.
    #[test]
    fn as_many_numbers_draw_one_category_as_another() {
        // Each number once, four to a word.
        let word = |first: u64| (first..first + 4).fold(0, |word, number| word << 16 | number);
        let all: Vec<u64> = (0..1 << 16).step_by(4).map(word).collect();
        for categories in [2, 3, 5, 7, 100, 128, 1000, 4095, 4096] {
            let among = Among::new(categories);
            let mut all = Tape::new(&all);
            let mut parts = Parts::new(&mut all);
            let mut counts = vec![0u32; categories as usize];
            let each = (1 << 16) / categories;
            for _ in 0..each * categories {
                counts[among.any(&mut parts) as usize] += 1;
            }
            assert!(counts.iter().all(|count| *count == each), "{categories}");
        }
    }
}
