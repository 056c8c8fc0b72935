//! Chains of bits: one category's reports of one bit for each category, drawn once.
//!
//! A report has a bit for each category: whether it is the true one, but every bit is flipped on
//! its own with probability `1/(exp(epsilon/2) + 1)` (binary randomized response). Another category
//! changes two bits, so the report costs epsilon. A bit that is flipped with probability `(1 -
//! s)/2` is the true one with probability s, its *share*, and else a fair one; a share becomes a
//! smaller one by flipping again with probability `(1 - ratio of the shares)/2`. So every report is
//! made from the one before it, and an observer of several reports learns what the first of those
//! tells.
//!
//! Coins are thrown 64 at a time: each compares its own random bits, one by one, with the binary
//! digits of the probability, until the first that differs.

use dashu_int::UBig;
use eke_budget::{Amount, Epsilon};
use serde::{Deserialize, Serialize};

use crate::Entropy;
use crate::local::chain::{ChainError, ChainLaw, ChainOf, LARGEST};
use crate::local::sets;
use crate::local::share::{Kept, Share, Weight};
use crate::sampler::audit_cells::{self, Cell};

/// The law of one report: what it costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BitTemplate {
    /// What the report costs at most. Each bit has half of it.
    pub epsilon: Amount<Epsilon>,
}

impl BitTemplate {
    /// The report at this epsilon.
    #[must_use]
    pub fn new(epsilon: Amount<Epsilon>) -> Self {
        Self { epsilon }
    }

    /// What one bit tells: a half, rounded down.
    #[must_use]
    pub fn each(&self) -> Amount<Epsilon> {
        Amount::from_grains(self.epsilon.grains() / 2)
    }

    /// What one report of it costs: two bits.
    #[must_use]
    pub fn epsilon(&self) -> Amount<Epsilon> {
        Amount::from_grains(self.epsilon.grains() / 2 * 2)
    }

    /// The probability that a bit is not just fair.
    #[must_use]
    pub fn share(&self) -> Share {
        Share { weight: Weight::Of { epsilon: self.each(), size: 1 }, among: 2 }
    }
}

/// The reports of one category, each made from the one before it.
///
/// - Theorem: bit-chain (docs/theorems.md)
/// - Proves: every report has the law of binary randomized response of its template, and all
///   reports from one on cost what that one costs
/// - Assumes: the value does not change (caller)
/// - Deviates: half of an epsilon of an odd number of grains is rounded down; coins are decided bit
///   by bit
/// - Checked by: `reports_of_bits_have_their_law_and_no_set_of_them_tells_more_than_the_first`,
///   `every_set_of_reports_costs_what_its_first_does`,
///   `coins_thrown_together_have_their_probability`
pub type BitChain = ChainOf<BitTemplate>;

impl ChainLaw for BitTemplate {
    /// None where every bit is kept.
    type Coin = Option<Flips>;

    fn price(&self, _: u32) -> Result<Amount<Epsilon>, ChainError> {
        if self.each().is_zero() {
            return Err(ChainError::Weightless);
        }
        if self.epsilon > LARGEST {
            return Err(ChainError::Epsilon);
        }
        Ok(self.epsilon())
    }

    fn coin(
        &self,
        before: Option<&Self>,
        place: usize,
        _: u32,
    ) -> Result<Option<Flips>, ChainError> {
        if before.is_some_and(|before| self.each() > before.each()) {
            return Err(ChainError::Grows(place));
        }
        Ok(Flips::new(Kept { from: before.map(Self::share), to: self.share() }))
    }

    fn words(categories: u32) -> usize {
        sets::words(categories)
    }

    fn draw_rows<E: Entropy + ?Sized>(
        chain: &BitChain,
        values: &[u32],
        reports: &mut [u64],
        entropy: &mut E,
    ) {
        let words = chain.words();
        for (&category, reports) in values.iter().zip(reports.chunks_exact_mut(chain.row())) {
            for (index, flips) in chain.coins.iter().enumerate() {
                let (done, rest) = reports.split_at_mut(index * words);
                let report = &mut rest[..words];
                if index == 0 {
                    report.fill(0);
                    sets::put(report, category);
                } else {
                    report.copy_from_slice(&done[(index - 1) * words..]);
                }
                if let Some(flips) = flips {
                    chain.flip(report, flips, entropy);
                }
            }
        }
    }
}

impl BitChain {
    #[inline]
    fn flip<E: Entropy + ?Sized>(&self, report: &mut [u64], flips: &Flips, entropy: &mut E) {
        let mut left = self.categories;
        for word in report {
            let lanes = if left >= 64 { u64::MAX } else { (1 << left) - 1 };
            *word ^= flips.draw(lanes, entropy);
            left = left.saturating_sub(64);
        }
    }
}

/// Coins of one probability below a half, thrown 64 at a time.
#[derive(Clone, Debug)]
pub struct Flips {
    /// The first binary digits of the probability, the first in the highest bit.
    digits: u64,
    /// How many of them are known for sure.
    known: u32,
    /// What the rest of them is computed from.
    kept: Kept,
}

impl Flips {
    /// The coins that flip what is not kept and turns out otherwise; none if all is kept.
    fn new(kept: Kept) -> Option<Self> {
        if kept.is_sure() {
            return None;
        }
        let (digits, known) = digits(kept, 192, 0);
        Some(Self { digits, known, kept })
    }

    /// Heads, in the lanes asked for.
    ///
    /// - Theorem: lazy-bits (docs/theorems.md)
    /// - Proves: comparing a uniform number's bits with the digits of a probability, up to the
    ///   first that differs, is a coin of that probability
    /// - Assumes: independent uniform bits (entropy)
    /// - Deviates: nothing; digits are enclosed, and more of them computed where coins need them
    /// - Checked by: `coins_thrown_together_have_their_probability`,
    ///   `coins_that_the_first_digits_do_not_decide_take_more`
    #[inline]
    fn draw<E: Entropy + ?Sized>(&self, lanes: u64, entropy: &mut E) -> u64 {
        let (mut heads, mut open) = (0, lanes);
        for index in 0..self.known {
            let fair = audit_cells::word(entropy, || lane_cells(open));
            if self.digits >> (63 - index) & 1 == 1 {
                heads |= open & !fair;
                open &= fair;
            } else {
                open &= !fair;
            }
            if open == 0 {
                return heads;
            }
        }
        heads | self.draw_on(open, entropy)
    }

    /// The lanes that the first digits do not decide.
    #[cold]
    fn draw_on<E: Entropy + ?Sized>(&self, mut open: u64, entropy: &mut E) -> u64 {
        let mut heads = 0;
        let mut done = self.known;
        while open != 0 {
            let (digits, known) = more_digits(self.kept, done);
            for index in 0..known {
                let fair = entropy.word();
                if digits >> (63 - index) & 1 == 1 {
                    heads |= open & !fair;
                    open &= fair;
                } else {
                    open &= !fair;
                }
            }
            done += known;
        }
        heads
    }
}

/// At least one more digit after those that are done. There is one: no such probability is a
/// fraction of a power of two, being no fraction at all.
fn more_digits(kept: Kept, done: u32) -> (u64, u32) {
    let mut bits = 256;
    loop {
        let (digits, known) = digits(kept, bits, done);
        if known > 0 {
            return (digits, known);
        }
        bits *= 2;
    }
}

/// The digits after the first `done`, as far as enclosures of the given number of bits agree on
/// them, up to 64.
fn digits(kept: Kept, bits: usize, done: u32) -> (u64, u32) {
    // Half of what is not kept: one digit more.
    let flipped = kept.fixed(bits).complement();
    let bits = bits + 1;
    let Some(shift) = bits.checked_sub(done as usize + 64) else { return (0, 0) };
    // All digits before these have to agree too.
    let (low, high) = (&flipped.lo >> shift, &flipped.hi >> shift);
    let first = |end: &UBig| u64::try_from(end & UBig::from(u64::MAX)).unwrap_or(0);
    if &low >> 64 != &high >> 64 {
        return (0, 0);
    }
    let (low, high) = (first(&low), first(&high));
    (low, (low ^ high).leading_zeros())
}

/// Cells of words by the bits in the lanes that are still open.
fn lane_cells(open: u64) -> Vec<Cell> {
    let count = open.count_ones();
    (0..1u64 << count.min(63))
        .map(|choice| {
            let (mut first, mut lanes) = (0, open);
            for bit in 0..count {
                let lane = lanes & lanes.wrapping_neg();
                lanes ^= lane;
                if choice >> bit & 1 == 1 {
                    first |= lane;
                }
            }
            Cell { words: 1 << (64 - count), first, last: first | !open }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use eke_testkit::{Dice, Tape};

    fn at(text: &str) -> BitTemplate {
        BitTemplate::new(Amount::parse_up(text).unwrap())
    }

    /// Coins of several steps: first reports, later ones, rare ones and nearly fair ones.
    fn coins() -> Vec<Flips> {
        let kept = |from: Option<&str>, to: &str| Kept {
            from: from.map(|text| at(text).share()),
            to: at(to).share(),
        };
        [
            kept(None, "1"),
            kept(None, "12"),
            kept(None, "0.001"),
            kept(Some("4"), "3.9"),
            kept(Some("4"), "0.5"),
            kept(Some("1"), "0.999999999999999999"),
            kept(None, "500"),
        ]
        .into_iter()
        .map(|kept| Flips::new(kept).unwrap())
        .collect()
    }

    /// Of all numbers of twelve bits, as many are heads as are below the probability's first
    /// twelve, in every lane, whatever the other lanes do.
    #[test]
    fn coins_thrown_together_have_their_probability() {
        for coin in coins() {
            let Kept { from, to } = coin.kept;
            let kept = to.to_f64() / from.map_or(1.0, Share::to_f64);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
            let below = ((1.0 - kept) / 2.0 * 4096.0) as usize;
            for lane in [0, 17, 63] {
                let heads = (0..4096u32)
                    .filter(|number| {
                        let bits: Vec<u64> = (0..12)
                            .map(|index| u64::from(number >> (11 - index) & 1) << lane)
                            // The thirteenth and all others: ones, so that the number is not below.
                            .chain(std::iter::repeat_n(1 << lane, 1000))
                            .map(|bit| bit | (!(1 << lane) & 0x5555_5555_5555_5555))
                            .collect();
                        coin.draw(1 << lane, &mut Tape::new(bits)) != 0
                    })
                    .count();
                assert_eq!(heads, below, "{:?} {lane}", coin.kept);
            }
        }
    }

    /// Numbers that are the probability's own digits up to one that is not: heads exactly if that
    /// one is less.
    #[test]
    fn coins_that_the_first_digits_do_not_decide_take_more() {
        const BITS: usize = 2048;
        for coin in coins() {
            let flipped = coin.kept.fixed(BITS).complement();
            let digit = |index: usize| {
                index > 0 && (&flipped.lo >> (BITS - index)) & UBig::ONE == UBig::ONE
            };
            for differs in (0..70).chain([127, 128, 129, 255, 256, 300, 500]) {
                let words: Vec<u64> = (0..1100)
                    .map(|index| {
                        // The lane in the middle; the ones beside it are decided at once.
                        let bit = digit(index) != (index == differs);
                        (u64::from(bit) << 5) | (u64::from(!digit(index)) * 0b101_0000)
                    })
                    .collect();
                let heads = coin.draw(0b111_0000, &mut Tape::new(words));
                assert_eq!(heads >> 5 & 1 == 1, digit(differs), "{:?} {differs}", coin.kept);
                // The first digit is zero, so the others, which begin with a one, are tails.
                assert_eq!(heads & 0b101_0000, 0);
            }
        }
    }

    #[test]
    fn epsilons_that_rise_are_no_chain_and_odd_ones_round_down() {
        let of = |templates: &[BitTemplate]| BitChain::new(70, templates.to_vec()).map(|_| ());
        assert_eq!(of(&[at("2"), at("2"), at("1")]), Ok(()));
        assert_eq!(of(&[at("1"), at("1.0000001")]), Err(ChainError::Grows(1)));
        assert_eq!(of(&[at("0")]), Err(ChainError::Weightless));
        assert_eq!(of(&[at("500.1")]), Err(ChainError::Epsilon));
        let odd = BitTemplate::new(Amount::from_grains(7));
        assert_eq!((odd.each().grains(), odd.epsilon().grains()), (3, 6));
    }

    /// Over two words: no bits beyond the categories, and a second report at the same price is the
    /// first.
    #[test]
    fn reports_stay_within_their_categories() {
        let chain = BitChain::new(70, vec![at("3"), at("3"), at("0.1")]).unwrap();
        let mut reports = vec![u64::MAX; 6];
        for category in 0..70 {
            chain.draw(category, &mut reports, &mut Dice(u64::from(category))).unwrap();
            assert!(reports.chunks(2).all(|report| report[1] >> 6 == 0));
            assert_eq!(reports[..2], reports[2..4]);
        }
        let outside = chain.draw(70, &mut reports, &mut Dice(0));
        assert_eq!(outside, Err(ChainError::Outside(70)));
        assert_eq!(chain.draw(0, &mut [0; 5], &mut Dice(0)), Err(ChainError::Room(6)));
    }
}
