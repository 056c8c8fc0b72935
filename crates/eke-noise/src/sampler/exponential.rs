//! An table: candidates of which one after another is drawn, by weights that are exponential in
//! their scores.
//!
//! A candidate weighs `exp(-rate (best - score))`. Weights are kept in units of 2⁻⁶², rounded, and
//! summed as integers, so that what a sum is off by is what its weights are. The first 64 bits of a
//! uniform number decide wherever they are further from an edge than that; elsewhere, and for
//! candidates whose weight rounds to nothing, as many bits as are needed do.
//!
//! Invariant: what is drawn has exactly its law, whatever the table is off by; what was taken out
//! is not drawn again.

use std::f64::consts::LN_2;
use std::sync::OnceLock;

use dashu_int::UBig;

use crate::number::fixed::Fixed;
use crate::sampler::audit_cells;
use crate::sampler::coin::{Uniform, is_below, uniform_below};
use crate::{Entropy, Ratio};

/// Candidates by score, and what of them is left.
pub(crate) struct WeightTable<'a> {
    scores: &'a [i64],
    rate: &'a Ratio,
    /// What the weights are for: no less than any score that is left.
    best: i64,
    /// In units of 2⁻⁶²; nothing for what was taken out.
    weights: Vec<u64>,
    /// The sums of every [`BLOCK`] weights, and of all.
    blocks: Vec<u128>,
    total: u128,
    taken: Vec<bool>,
    left: usize,
    /// In which flip each was seen last, and how many flips there were; nothing before the first.
    seen: Vec<u32>,
    flips: u32,
}

/// How many weights are summed together.
const BLOCK: usize = 128;
/// The weight of the best.
const ONE: u64 = 1 << 62;
/// From this exponent on a weight is less than a tenth of a unit, and counts as nothing.
const NOTHING: f64 = 46.0;

impl<'a> WeightTable<'a> {
    pub(crate) fn new(scores: &'a [i64], rate: &'a Ratio) -> Self {
        let (weights, taken) = (vec![0; scores.len()], vec![false; scores.len()]);
        let blocks = vec![0; scores.len().div_ceil(BLOCK)];
        let left = scores.len();
        let (best, total, seen, flips) = (0, 0, Vec::new(), 0);
        let mut table =
            Self { scores, rate, best, weights, blocks, total, taken, left, seen, flips };
        table.weigh();
        table
    }

    /// Takes a candidate out.
    pub(crate) fn take(&mut self, item: usize) {
        if std::mem::replace(&mut self.taken[item], true) {
            return;
        }
        self.left -= 1;
        let weight = u128::from(std::mem::take(&mut self.weights[item]));
        self.blocks[item / BLOCK] -= weight;
        self.total -= weight;
        // What is left is so light that it has to be weighed against something lighter.
        if self.total < u128::from(ONE) >> 8 && self.left > 0 {
            self.weigh();
        }
    }

    /// A candidate with probability proportional to its weight among those that are left; none if
    /// none is.
    ///
    /// - Theorem: exponential-table (docs/theorems.md)
    /// - Proves: a uniform number that is further from every edge than sums of weights are off
    ///   falls between the edges that it would fall between if they were exact
    /// - Assumes: independent uniform bits (entropy); sums and products that round to nearest
    ///   (doubles)
    /// - Deviates: nothing
    /// - Checked by: `weights_are_within_their_error`, `a_word_is_decided_as_integers_decide_it`,
    ///   `what_is_too_light_to_be_weighed_is_drawn_as_well`,
    ///   `the_exponential_mechanism_has_its_law`
    pub(crate) fn draw<E: Entropy + ?Sized>(&self, entropy: &mut E) -> Option<usize> {
        if self.left == 0 {
            return None;
        }
        let word = audit_cells::word(entropy, || {
            let sums = self.sums(192);
            let total = sums.last().map_or_else(|| Fixed::one(192), |(_, total)| total.clone());
            let edges: Vec<Fixed> = sums.iter().map(|(_, sum)| sum / &total).collect();
            audit_cells::cut(&edges)
        });
        Some(self.near(word).unwrap_or_else(|| self.decide(word, entropy)))
    }

    /// Permute and flip among those that are left: in a random order, the first whose coin of
    /// probability `exp(-rate (best - score))` shows heads, the best being that of those that are
    /// left. None if none is.
    ///
    /// The order is drawn as far as it is needed. As long as most are still to be seen, any is
    /// proposed, and again if it is not one of those; the rest is put in order.
    pub(crate) fn flip<E: Entropy + ?Sized>(&mut self, entropy: &mut E) -> Option<usize> {
        let all = self.scores.len();
        let left = (0..all).filter(|&item| !self.taken[item]);
        let top = left.max_by_key(|&item| self.scores[item])?;
        if self.weights[top] < ONE >> 16 {
            self.weigh();
        }
        self.seen.resize(all, 0);
        self.flips += 1;
        let mut unseen = self.left;
        while 2 * unseen > all + 2 {
            let item = below(all, entropy);
            if self.taken[item] || self.seen[item] == self.flips {
                continue;
            }
            if self.shows_heads(item, top, entropy) {
                return Some(item);
            }
            self.seen[item] = self.flips;
            unseen -= 1;
        }
        let is_unseen = |item: &usize| !self.taken[*item] && self.seen[*item] != self.flips;
        let mut order: Vec<usize> = (0..all).filter(is_unseen).collect();
        for place in 0..order.len() {
            let next = place + below(order.len() - place, entropy);
            order.swap(place, next);
            if self.shows_heads(order[place], top, entropy) {
                return Some(order[place]);
            }
        }
        // The best one's coin always shows heads.
        unreachable!("the best is taken when it is seen")
    }

    /// A coin of probability `exp(-rate (score of the top - score))`.
    fn shows_heads<E: Entropy + ?Sized>(&self, item: usize, top: usize, entropy: &mut E) -> bool {
        let gap = self.scores[top].abs_diff(self.scores[item]);
        if gap == 0 {
            return true;
        }
        let exactly = |bits| Fixed::exp_neg(&self.exponent(gap), bits);
        let word = audit_cells::word(entropy, || audit_cells::cut([&exactly(128)]));
        // The number times the weight of the top, against the weight of the item. Both are off by
        // less than 2⁻⁴³ of the larger and four units together, and the number by less than a
        // quarter of one.
        let (weight, of_top) = (u128::from(self.weights[item]), u128::from(self.weights[top]));
        let (at, edge) = (u128::from(word) * of_top, weight << 64);
        let error = ((of_top >> 42) + 8) << 64;
        if at.abs_diff(edge) > error {
            return at < edge;
        }
        is_below(word, exactly, entropy)
    }

    /// Weighs what is left against the best of it.
    ///
    /// With u = 2⁻⁵³: the rate is off by 8u of itself, the gap and the product by u, the
    /// exponential by 16u of itself. Exponents are at most 46, so a weight is off by less than 480u
    /// of itself, which is below 2⁻⁴⁴; and by less than one unit for what is cut off.
    fn weigh(&mut self) {
        let left = self.scores.iter().zip(&self.taken).filter(|(_, taken)| !**taken);
        self.best = left.map(|(&score, _)| score).max().unwrap_or(0);
        let rate = self.rate.approximate();
        let (best, table) = (self.best, powers());
        for (score, weight) in self.scores.iter().zip(&mut self.weights) {
            *weight = units(rate, best.abs_diff(*score), table);
        }
        if self.left < self.scores.len() {
            for (taken, weight) in self.taken.iter().zip(&mut self.weights) {
                *weight = if *taken { 0 } else { *weight };
            }
        }
        for (block, weights) in self.blocks.iter_mut().zip(self.weights.chunks(BLOCK)) {
            *block = weights.iter().map(|&weight| u128::from(weight)).sum();
        }
        self.total = self.blocks.iter().sum();
    }

    /// The candidate that a uniform number falls to, if its first 64 bits are far enough from all
    /// edges.
    ///
    /// All sums are off by less than 2⁻⁴⁴ of themselves and two units a candidate: so is an edge,
    /// and the whole that the number is a part of; and what is not known of the number is less than
    /// two units and one for four candidates.
    fn near(&self, word: u64) -> Option<usize> {
        let error = (self.total >> 42) + 8 * (self.weights.len() as u128) + 8;
        let high = (self.total >> 64) * u128::from(word);
        let low = u128::from(u64::try_from(self.total & u128::from(u64::MAX)).unwrap_or(u64::MAX));
        let at = high + ((low * u128::from(word)) >> 64);
        let mut sum = 0u128;
        let block = self.blocks.iter().position(|&block| {
            sum += block;
            sum > at
        })?;
        sum -= self.blocks[block];
        for item in block * BLOCK..self.weights.len() {
            let before = sum;
            sum += u128::from(self.weights[item]);
            if sum > at {
                // The first begins where nothing ends.
                let is_first = before == 0 && self.taken[..item].iter().all(|&taken| taken);
                return ((is_first || before + error < at) && at + error < sum).then_some(item);
            }
        }
        None
    }

    /// The same for a number of which more bits are needed.
    #[cold]
    fn decide<E: Entropy + ?Sized>(&self, word: u64, entropy: &mut E) -> usize {
        let mut uniform = Uniform::new(word);
        'more: loop {
            uniform.refine(entropy);
            let sums = self.sums(uniform.bits + 64);
            let Some(((last, total), edges)) = sums.split_last() else {
                unreachable!("there is a candidate left")
            };
            let above = uniform.lowest_above() * &total.hi;
            let at_least = &uniform.lowest * &total.lo;
            for (item, sum) in edges {
                if above <= &sum.lo << uniform.bits {
                    return *item;
                }
                if at_least < &sum.hi << uniform.bits {
                    continue 'more;
                }
            }
            return *last;
        }
    }

    /// What is left, with the sums of its weights up to each.
    fn sums(&self, bits: usize) -> Vec<(usize, Fixed)> {
        let mut sum = Fixed::zero(bits);
        let left = (0..self.scores.len()).filter(|&item| !self.taken[item]);
        left.map(|item| {
            sum = &sum + &self.weight(item, bits);
            (item, sum.clone())
        })
        .collect()
    }

    /// A weight, enclosed.
    fn weight(&self, item: usize, bits: usize) -> Fixed {
        match self.best.abs_diff(self.scores[item]) {
            0 => Fixed::one(bits),
            gap => Fixed::exp_neg(&self.exponent(gap), bits),
        }
    }

    fn exponent(&self, gap: u64) -> Ratio {
        self.rate.times(&UBig::from(gap))
    }
}

/// A weight in units of 2⁻⁶², rounded down.
///
/// An exponent is a whole number of parts of `ln 2/64` and a rest r of about half of one at most.
/// The parts times the first 40 bits of that are exact, and so is what they are taken from the
/// exponent by; their later bits and the series up to the fifth power are off by less than 6u, the
/// power of two from the table by 2u, and products by u each: less than 16u in all.
#[inline]
fn units(rate: f64, gap: u64, powers: &[f64; PARTS]) -> u64 {
    let exponent = rate * gap as f64;
    // What is not a number is no less than that either.
    let exponent = if exponent < NOTHING { exponent } else { NOTHING };
    // Adding this rounds to whole numbers, which then are the last bits.
    let shifted = exponent * INVERSE + ROUNDING;
    let (whole, parts) = (shifted - ROUNDING, shifted.to_bits() & 0xffff);
    let r = (exponent - whole * LONG) - whole * SHORT;
    let square = r * r;
    let end = (0.5 - r * (1.0 / 6.0)) + square * (1.0 / 24.0 - r * (1.0 / 120.0));
    let fraction = powers[usize::try_from(parts).unwrap_or(0) % PARTS] * ((1.0 - r) + square * end);
    // Two to the power of 62 less the whole parts, which are at most 66.
    let scale = f64::from_bits((1023 + 62 - parts / 64) << 52);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "up to 2^62")]
    let units = (fraction * scale) as i64 as u64;
    if gap == 0 { ONE } else { units.min(ONE) }
}

/// In how many parts a power of two is cut.
const PARTS: usize = 64;
/// The parts in one, and a part: its first 40 bits, and the rest.
const INVERSE: f64 = 64.0 / LN_2;
const LONG: f64 = 0.010_830_424_696_237_628;
const SHORT: f64 = 1.151_719_150_807_468_6e-14;
/// 3 · 2⁵¹.
const ROUNDING: f64 = 6_755_399_441_055_744.0;

/// The powers of two from 0 to -1, in parts.
fn powers() -> &'static [f64; PARTS] {
    static POWERS: OnceLock<[f64; PARTS]> = OnceLock::new();
    POWERS.get_or_init(|| std::array::from_fn(|part| libm::exp2(-(part as f64) / PARTS as f64)))
}

pub(crate) fn below<E: Entropy + ?Sized>(bound: usize, entropy: &mut E) -> usize {
    usize::try_from(uniform_below(bound as u64, entropy)).expect("below a usize")
}

#[cfg(test)]
mod tests {
    use super::*;
    use eke_testkit::Tape;
    use proptest::prelude::*;

    /// The true weight of an item in units of 2⁻⁶², to 64 bits beyond them.
    fn exact(table: &WeightTable<'_>, item: usize) -> UBig {
        table.weight(item, 126).lo
    }

    proptest! {
        #[test]
        fn weights_are_within_their_error(
            gaps in prop::collection::vec(0u64..1 << 62, 1..40),
            shift in 0u32..62,
            farthest in prop_oneof![0.0f64..50.0, -300.0f64..300.0],
            any in (1u128..1 << 100, 1u128..1 << 100, prop::bool::weighted(0.2)),
        ) {
            let scores: Vec<i64> = gaps.iter().map(|&gap| -(gap >> shift).cast_signed()).collect();
            // Exponents up to where weights are nothing, and some of any size.
            let farthest = if farthest < 0.0 { farthest.exp2() } else { farthest + 1e-9 };
            let even = Ratio::from_f64(farthest / libm::exp2(f64::from(62 - shift))).unwrap();
            let rate = if any.2 { Ratio::new(any.0, any.1).unwrap() } else { even };
            let table = WeightTable::new(&scores, &rate);
            for item in 0..scores.len() {
                let (weight, truth) = (UBig::from(table.weights[item]) << 64, exact(&table, item));
                let error = (&truth >> 44usize) + (UBig::ONE << 64);
                prop_assert!(weight <= &truth + &error && truth <= weight + error);
            }
            let sum: u128 = table.weights.iter().map(|&weight| u128::from(weight)).sum();
            prop_assert!(table.total == sum && table.blocks.iter().sum::<u128>() == sum);
        }

        /// Words on the edges, around them, and as far off as the error is: the table decides as
        /// the integers do, or not at all. Some candidates have been taken out.
        #[test]
        fn a_word_is_decided_as_integers_decide_it(
            scores in prop::collection::vec(-60i64..60, 2..12),
            rate in (1u128..50, 1u128..50),
            taken in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
            off in (0u32..64, any::<bool>()),
            follow in any::<u64>(),
        ) {
            let rate = Ratio::new(rate.0, rate.1).unwrap();
            let mut table = WeightTable::new(&scores, &rate);
            for item in taken {
                if table.left > 1 {
                    table.take(item.index(scores.len()));
                }
            }
            let sums = table.sums(192);
            let total = &sums.last().unwrap().1;
            for (_, sum) in &sums {
                let edge = u64::try_from((sum / total).lo >> 128usize).unwrap_or(u64::MAX);
                let little = 1u64 << off.0;
                let word = if off.1 { edge.saturating_sub(little) } else { edge.saturating_add(little) };
                for word in [edge, word] {
                    let slow = table.decide(word, &mut Tape::new([follow, 1, 2, 3]).then(0));
                    prop_assert!(!table.taken[slow]);
                    if let Some(quick) = table.near(word) {
                        prop_assert_eq!(quick, slow);
                    }
                }
            }
        }

        /// Coins around their edges are decided as the exact ones are.
        #[test]
        fn coins_of_an_urn_are_decided_as_integers_decide_them(
            gap in 1i64..4000,
            lead in 0i64..12,
            off in (0u32..64, any::<bool>()),
            follow in any::<u64>(),
        ) {
            let (scores, rate) = ([lead, 0, -gap], Ratio::new(1, 37).unwrap());
            let mut table = WeightTable::new(&scores, &rate);
            table.take(0);
            let power = Fixed::exp_neg(&table.exponent(gap.cast_unsigned()), 64);
            let edge = u64::try_from(power.lo).unwrap_or(u64::MAX);
            let little = 1u64 << off.0;
            let word = if off.1 { edge.saturating_sub(little) } else { edge.saturating_add(little) };
            for word in [edge, word] {
                let heads = table.shows_heads(2, 1, &mut Tape::new([word, follow, 1, 2, 3]).then(0));
                let exactly = |bits| Fixed::exp_neg(&table.exponent(gap.cast_unsigned()), bits);
                prop_assert_eq!(heads, is_below(word, exactly, &mut Tape::new([follow, 1, 2, 3]).then(0)));
            }
        }
    }

    /// A candidate of weight `exp(-50)`, which is less than a hundredth of a unit, ends where the
    /// first 72 bits of a number are zeros, and the best begins there.
    #[test]
    fn what_is_too_light_to_be_weighed_is_drawn_as_well() {
        let rate = Ratio::new(1, 1).unwrap();
        let table = WeightTable::new(&[-50, 0], &rate);
        assert_eq!(table.weights, [0, ONE]);
        let draw = |words: &[u64]| table.draw(&mut Tape::new(words).then(0)).unwrap();
        // exp(-50) = 2⁻⁷² · 0.91, nearly.
        assert_eq!(draw(&[0, 1 << 55]), 0);
        assert_eq!(draw(&[0, 1 << 56]), 1);
        assert_eq!(draw(&[1, 0]), 1);
        assert_eq!(draw(&[u64::MAX, u64::MAX]), 1);
    }

    /// Most words are decided by the table alone, also where all that weighed much was taken out.
    #[test]
    fn words_are_decided_at_once_after_the_heaviest_are_gone() {
        let scores: Vec<i64> = (0..2000).map(|item| -item * item).collect();
        let rate = Ratio::new(1, 100).unwrap();
        let mut table = WeightTable::new(&scores, &rate);
        for item in 0..300 {
            assert_eq!(table.left, 2000 - item);
            let words = (0..64u64).map(|word| (word << 58) + (1 << 57));
            let drawn: Vec<usize> = words.map(|word| table.near(word).unwrap()).collect();
            assert!(drawn.is_sorted() && drawn[0] >= item, "{item} {drawn:?}");
            table.take(item);
            table.take(item);
        }
        for item in 0..2000 {
            table.take(item);
        }
        assert_eq!(table.draw(&mut Tape::always(0)), None);
        assert_eq!(table.flip(&mut Tape::always(0)), None);
    }
}
