//! Coins with exact probabilities, and other draws of which every outcome is equally likely.

use dashu_int::UBig;

use crate::number::fixed::Fixed;
use crate::sampler::audit_cells;
use crate::{Entropy, Ratio};

/// A uniform number below `bound`; zero where the bound is zero or one.
///
/// Words at or above the largest multiple of the bound are drawn again, so every outcome has
/// exactly the same number of words.
pub fn uniform_below<E: Entropy + ?Sized>(bound: u64, entropy: &mut E) -> u64 {
    if bound <= 1 {
        return 0;
    }
    // 2^64 mod bound words are left over.
    let left_over = bound.wrapping_neg() % bound;
    loop {
        let word = audit_cells::word(entropy, || audit_cells::remainders(bound, left_over));
        if word >= left_over {
            return word % bound;
        }
    }
}

/// A coin that is true with probability `numerator / denominator`, exactly; always true where that
/// is one or more.
pub fn bernoulli<E: Entropy + ?Sized>(numerator: u64, denominator: u64, entropy: &mut E) -> bool {
    uniform_below(denominator, entropy) < numerator
}

/// A coin that is true with probability `exp(-x)`, exactly.
///
/// - Theorem: lazy-bits (docs/theorems.md)
/// - Proves: comparing the first bits of a uniform number with bounds on a probability, and drawing
///   more bits and better bounds while they do not decide, is a coin of exactly that probability
/// - Assumes: independent uniform bits (entropy)
/// - Deviates: the first bounds are in floating point, with a margin above its error
/// - Checked by: `coins_of_exponential_probability_have_it`,
///   `a_coin_that_64_bits_do_not_decide_takes_more`, `exponentials_enclose_their_tabulated_values`
pub fn bernoulli_exp_neg<E: Entropy + ?Sized>(x: &Ratio, entropy: &mut E) -> bool {
    let about = x.approximate();
    Coin { about, error: about * 1e-14 }.flip(entropy, || x.clone())
}

/// A coin of probability `exp(-x)`, where x is known about and can be known exactly.
pub(crate) struct Coin {
    /// x, nearly.
    pub(crate) about: f64,
    /// How far x may be from that.
    pub(crate) error: f64,
}

impl Coin {
    pub(crate) fn flip<E: Entropy + ?Sized>(
        &self,
        entropy: &mut E,
        exactly: impl Fn() -> Ratio,
    ) -> bool {
        self.flip_enclosed(entropy, |bits| Fixed::exp_neg(&exactly(), bits))
    }

    /// The same where `exp(-x)` can be enclosed in as many bits as are asked for.
    #[inline]
    pub(crate) fn flip_enclosed<E: Entropy + ?Sized>(
        &self,
        entropy: &mut E,
        exactly: impl Fn(usize) -> Fixed,
    ) -> bool {
        let word = audit_cells::word(entropy, || audit_cells::cut([&exactly(128)]));
        self.flip_word(word, entropy, exactly)
    }

    /// The same with the first 32 bits of the uniform number, which are nearly always enough.
    #[inline]
    pub(crate) fn flip_from<E: Entropy + ?Sized>(
        &self,
        first: u32,
        entropy: &mut E,
        exactly: impl Fn() -> Ratio,
    ) -> bool {
        // The product is off by less than one, and the number is below its first bits plus one.
        let highest = self.about + self.error;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        let surely = ((1.0 - highest) * 4_294_967_296.0) as u64;
        if u64::from(first) + 2 < surely {
            return true;
        }
        let rest = audit_cells::word(entropy, || {
            // Below, equal to or above the next 32 bits of the probability, if the first are equal.
            let power = u64::try_from(Fixed::exp_neg(&exactly(), 128).lo >> 64).unwrap_or(u64::MAX);
            let (start, edge) = (power >> 32, power & u64::from(u32::MAX));
            let edge = if start == u64::from(first) { edge } else { 0 };
            audit_cells::cut_inside(edge, 32, (0, u64::from(u32::MAX)), 1 << 32)
        });
        let word = (u64::from(first) << 32) | (rest >> 32);
        self.flip_word(word, entropy, |bits| Fixed::exp_neg(&exactly(), bits))
    }

    /// The same with the first 64 bits.
    fn flip_word<E: Entropy + ?Sized>(
        &self,
        word: u64,
        entropy: &mut E,
        exactly: impl Fn(usize) -> Fixed,
    ) -> bool {
        // exp(-x) >= 1 - x, and 1 - x is quickly had. The product is off by less than 2^12.
        let highest = self.about + self.error;
        if word < words(1.0 - highest).saturating_sub(1 << 12) {
            return true;
        }
        let power = libm::exp(-self.about);
        // Relative: the error of x, of the exponential, and of the products here.
        let slack = power * (2.0 * self.error + 1e-15);
        if word < words(power - slack).saturating_sub(1 << 12) {
            return true;
        }
        if self.error < 1e-3 && word > words(power + slack).saturating_add(1 << 12) {
            return false;
        }
        is_below(word, exactly, entropy)
    }
}

/// A probability as a number of words out of 2^64, nearly.
fn words(probability: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    let words = (probability * 18_446_744_073_709_551_616.0) as u64;
    words
}

/// Whether a uniform number whose first 64 bits are `word` is below a probability.
#[cold]
pub(crate) fn is_below<E: Entropy + ?Sized>(
    word: u64,
    probability: impl Fn(usize) -> Fixed,
    entropy: &mut E,
) -> bool {
    let mut uniform = Uniform::new(word);
    loop {
        uniform.refine(entropy);
        let power = probability(uniform.bits);
        if uniform.lowest_above() <= power.lo {
            return true;
        }
        if uniform.lowest >= power.hi {
            return false;
        }
    }
}

/// One of several outcomes, by their probabilities: nearly, and enclosed in as many bits as are
/// asked for. What is not covered by the probabilities is the last outcome.
pub(crate) fn choose<const N: usize, E: Entropy + ?Sized>(
    about: [f64; N],
    exactly: impl Fn(usize) -> [Fixed; N],
    entropy: &mut E,
) -> usize {
    /// Above the error of the probabilities, of their sums and of the uniform number as a double.
    const MARGIN: f64 = 1e-12;
    let word = audit_cells::word(entropy, || {
        let mut sum = Fixed::zero(128);
        let sums = exactly(128).map(|probability| {
            sum = &sum + &probability;
            sum.clone()
        });
        audit_cells::cut(&sums)
    });
    let uniform = libm::ldexp(word as f64, -64);
    let mut sum = 0.0;
    let mut undecided = false;
    for (outcome, probability) in about.into_iter().enumerate() {
        sum += probability;
        undecided |= (uniform - sum).abs() <= MARGIN || sum.is_nan();
        if uniform < sum && !undecided {
            return outcome;
        }
    }
    if !undecided {
        return N;
    }
    let mut uniform = Uniform::new(word);
    'more: loop {
        uniform.refine(entropy);
        let mut sum = Fixed::zero(uniform.bits);
        for (outcome, probability) in exactly(uniform.bits).into_iter().enumerate() {
            sum = &sum + &probability;
            if uniform.lowest_above() <= sum.lo {
                return outcome;
            }
            if uniform.lowest < sum.hi {
                continue 'more;
            }
        }
        return N;
    }
}

/// A uniform number between 0 and 1, of which the first bits are known.
pub(crate) struct Uniform {
    pub(crate) lowest: UBig,
    pub(crate) bits: usize,
}

impl Uniform {
    pub(crate) fn new(word: u64) -> Self {
        Self { lowest: word.into(), bits: 64 }
    }

    /// Draws as many bits again as are known.
    pub(crate) fn refine<E: Entropy + ?Sized>(&mut self, entropy: &mut E) {
        for _ in 0..self.bits / 64 {
            self.lowest = (&self.lowest << 64) + UBig::from(entropy.word());
        }
        self.bits *= 2;
    }

    /// What the number is below, in the same unit.
    pub(crate) fn lowest_above(&self) -> UBig {
        &self.lowest + UBig::ONE
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use eke_testkit::Tape;

    /// The distance of what a coin is about from its exponent is within its stated error.
    pub(crate) fn is_within_its_error(coin: &Coin, exact: &Ratio) -> bool {
        let Some(about) = Ratio::from_f64(coin.about.abs()) else {
            return exact.approximate() <= coin.error;
        };
        let off = about.minus(exact).or_else(|| exact.minus(&about));
        let error = Ratio::from_f64(coin.error);
        off.is_none_or(|off| error.is_some_and(|error| off.compare(&error).is_le()))
    }

    /// On and around the edge between heads and tails, in its first 32 and its first 64 bits, with
    /// zeros and with ones to follow: heads exactly where the whole number is below exp(-x).
    #[test]
    fn coins_are_decided_right_on_either_side_of_their_edge() {
        for (numerator, denominator) in [
            (1, 1_000_000),
            (1, 100_000),
            (1, 1000),
            (1, 50),
            (1, 7),
            (1, 3),
            (1, 1),
            (9, 4),
            (30, 1),
        ] {
            let x = Ratio::new(numerator, denominator).unwrap();
            let about = x.approximate();
            let coin = Coin { about, error: about * 1e-14 };
            let power = Fixed::exp_neg(&x, 512);
            // Whether a number of `width` bits, then zeros or ones, is below exp(-x).
            let is_below = |bits: u64, width: usize, ones: bool| {
                let number = UBig::from(bits) + UBig::from(u8::from(ones));
                if ones {
                    number << (512 - width) <= power.lo
                } else {
                    number << (512 - width) < power.lo
                }
            };
            for ones in [false, true] {
                let follow = if ones { u64::MAX } else { 0 };
                let edge = u64::try_from(&power.lo >> 480usize).unwrap();
                for first in edge.saturating_sub(3)..=(edge + 3).min(u64::from(u32::MAX)) {
                    let mut tape = Tape::always(follow);
                    let heads =
                        coin.flip_from(u32::try_from(first).unwrap(), &mut tape, || x.clone());
                    assert_eq!(heads, is_below(first, 32, ones), "{x:?} {first:x} {ones}");
                }
                let edge = u64::try_from(&power.lo >> 448usize).unwrap();
                for off in [0, 1, 2, 1 << 8, 1 << 12, 1 << 13, 1 << 14, 1 << 20, 1 << 30] {
                    for word in [edge.saturating_sub(off), edge.saturating_add(off)] {
                        let mut tape = Tape::new([word]).then(follow);
                        let heads = coin.flip(&mut tape, || x.clone());
                        assert_eq!(heads, is_below(word, 64, ones), "{x:?} {word:x} {ones}");
                    }
                }
            }
        }
    }

    /// An exponent known only roughly is decided by the exact one.
    #[test]
    fn a_rough_exponent_does_not_decide() {
        let x = Ratio::new(1, 1).unwrap();
        let edge = u64::try_from(Fixed::exp_neg(&x, 64).lo).unwrap();
        for (about, error) in
            [(1.2, 0.25), (0.8, 0.25), (f64::INFINITY, f64::INFINITY), (5.0, 10.0)]
        {
            let coin = Coin { about, error };
            for (word, heads) in [(edge - (1 << 58), true), (edge + (1 << 58), false)] {
                assert_eq!(
                    coin.flip(&mut Tape::new([word]).then(0), || x.clone()),
                    heads,
                    "{about}"
                );
            }
        }
    }

    /// The parts of a choice, each with its edges.
    #[test]
    fn choices_are_decided_right_on_either_side_of_their_edges() {
        let thirds = |bits: usize| {
            let third = (UBig::ONE << bits) / UBig::from(3u8);
            [0, 1].map(|_| Fixed { lo: third.clone(), hi: &third + UBig::ONE, bits })
        };
        let third = u64::MAX / 3;
        for (word, follow, outcome) in [
            (0, 0, 0),
            (third - 1, 0, 0),
            // One third is 0101… in binary: zeros after it are below, ones above.
            (third, 0, 0),
            (third, u64::MAX, 1),
            (third + 1, 0, 1),
            (2 * third, 0, 1),
            (2 * third, u64::MAX, 2),
            (2 * third + 1, 0, 2),
            (u64::MAX, u64::MAX, 2),
        ] {
            let about = [1.0 / 3.0, 1.0 / 3.0];
            assert_eq!(
                choose(about, thirds, &mut Tape::new([word]).then(follow)),
                outcome,
                "{word:x}"
            );
        }
        // Doubles that are off by less than the margin do not decide near an edge.
        let near = 1 << 22;
        for off in [4e-13, -4e-13] {
            let about = [1.0 / 3.0 + off, 1.0 / 3.0];
            for (word, outcome) in
                [(third - near, 0), (third + near, 1), (2 * third - near, 1), (2 * third + near, 2)]
            {
                assert_eq!(
                    choose(about, thirds, &mut Tape::new([word]).then(0)),
                    outcome,
                    "{off:e}"
                );
            }
        }
    }
}
