//! Normal numbers, exact, of which as many bits are drawn as a comparison needs.
//!
//! Selection with Gaussian noise is priced for continuous noise; on a grid it would cost more. So
//! scores are compared with their noise on the real line: a normal number is a sign, a whole part and
//! a fraction of which only the first bits exist until more are asked for.

use std::cmp::Ordering;
use std::fmt;
use std::sync::OnceLock;

use dashu_int::{IBig, UBig};

use crate::coin::Uniform;
use crate::fixed::Fixed;
use crate::table::{Shape, Table, Weights};
use crate::{Entropy, Ratio};

/// A standard normal number, exact, drawn as far as has been needed.
///
/// - Theorem: lazy-normal (docs/theorems.md)
/// - Proves: a whole part with weights `exp(-whole²/2)` and a uniform fraction kept with
///   `exp(-fraction (2 whole + fraction)/2)` make the half-normal density; the bits of the fraction
///   that the coin did not look at are uniform still
/// - Assumes: independent uniform bits (entropy)
/// - Deviates: nothing
/// - Checked by: `noisy_comparisons_have_the_law_of_normal_numbers`, `the_noisy_maximum_has_its_law`,
///   `a_coin_on_its_edge_takes_more_bits`
///
/// It is not `Clone`: two copies would draw different bits further on, and not be one number.
/// ```compile_fail,E0308
/// fn copy(normal: &eke_noise::Normal) -> eke_noise::Normal {
///     normal.clone()
/// }
/// ```
///
/// The density of `whole + fraction` is `exp(-whole²/2)` times `exp(-fraction (2 whole + fraction)/2)`:
/// the whole part is drawn from the first, a uniform fraction is kept with the second. That coin
/// looks at the first bits of the fraction only, so the bits after them are still uniform.
pub struct Normal {
    negative: bool,
    whole: u64,
    /// The first bits of the fraction, as an integer.
    fraction: UBig,
    bits: usize,
}

impl Normal {
    /// Draws one, as far as it takes to know that it is one.
    pub fn draw<E: Entropy + ?Sized>(entropy: &mut E) -> Self {
        static WHOLE: OnceLock<Table> = OnceLock::new();
        let table = WHOLE.get_or_init(|| {
            let rate = Ratio::new(1, 2).expect("not zero");
            Table::new(Weights { rate, shape: Shape::Gaussian, two_sided: false })
        });
        loop {
            let whole = table.draw(entropy);
            let word = entropy.word();
            let mut normal =
                Self { negative: word & 1 == 1, whole, fraction: (word >> 1).into(), bits: 63 };
            if normal.keeps(entropy) {
                return normal;
            }
        }
    }

    /// A coin of probability `exp(-x (2 whole + x)/2)`, x being the fraction.
    fn keeps<E: Entropy + ?Sized>(&mut self, entropy: &mut E) -> bool {
        let word = entropy.word();
        // In floating point, with a margin for the bits that are not known and for rounding.
        #[expect(clippy::cast_precision_loss, reason = "within the margin")]
        let (x, whole) = (libm::ldexp(low_word(&self.fraction), -63), self.whole as f64);
        let power = libm::exp(-x * (2.0 * whole + x) / 2.0);
        #[expect(clippy::cast_precision_loss, reason = "within the margin")]
        let uniform = libm::ldexp(word as f64, -64);
        let margin = 1e-14 * (1.0 + whole);
        if (uniform - power).abs() > margin {
            return uniform < power;
        }
        let mut uniform = Uniform::new(word);
        loop {
            uniform.refine(entropy);
            self.refine(entropy);
            // The exponent at both ends of what is known of the fraction.
            let (low, high) = (&self.fraction, &self.fraction + UBig::ONE);
            let least = Fixed::exp_neg(&self.exponent(&high), uniform.bits);
            let most = Fixed::exp_neg(&self.exponent(low), uniform.bits);
            if uniform.lowest_above() <= least.lo {
                return true;
            }
            if uniform.lowest >= most.hi {
                return false;
            }
        }
    }

    /// `x (2 whole + x)/2` for a fraction of so many units: with unit 2^-b, `n (2 whole 2^b + n)/2^(2b+1)`.
    fn exponent(&self, units: &UBig) -> Ratio {
        let twice = UBig::from(self.whole) << (self.bits + 1);
        Ratio { numerator: units * (twice + units), denominator: UBig::ONE << (2 * self.bits + 1) }
    }

    /// Draws 64 bits more of the fraction.
    fn refine<E: Entropy + ?Sized>(&mut self, entropy: &mut E) {
        self.fraction = (&self.fraction << 64) + UBig::from(entropy.word());
        self.bits += 64;
    }

    /// The lower and upper end of what is known, in units of 2^-bits.
    fn ends(&self) -> (IBig, IBig) {
        let near = IBig::from((UBig::from(self.whole) << self.bits) + &self.fraction);
        let far = &near + IBig::ONE;
        if self.negative { (-far, -near) } else { (near, far) }
    }
}

impl fmt::Debug for Normal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Normal(..)")
    }
}

impl fmt::Debug for NoisyScore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NoisyScore(..)")
    }
}

fn low_word(value: &UBig) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "an approximation")]
    u64::try_from(value).map_or(0.0, |word| word as f64)
}

/// A score on the integers with normal noise of its own on top, never rounded.
pub struct NoisyScore {
    score: i64,
    deviation: Ratio,
    noise: Normal,
}

impl NoisyScore {
    /// Adds noise of this standard deviation, in units of the score.
    pub fn new<E: Entropy + ?Sized>(score: i64, deviation: &Ratio, entropy: &mut E) -> Self {
        Self { score, deviation: deviation.clone(), noise: Normal::draw(entropy) }
    }

    /// Which of two is larger, drawing as many bits more as it takes. Two are never equal (but with
    /// probability zero), and what has been decided once stays so.
    pub fn compare<E: Entropy + ?Sized>(&mut self, other: &mut Self, entropy: &mut E) -> Ordering {
        loop {
            let (low, high) = self.ends(&other.deviation.denominator, other.noise.bits);
            let (other_low, other_high) = other.ends(&self.deviation.denominator, self.noise.bits);
            if high <= other_low {
                return Ordering::Less;
            }
            if low >= other_high {
                return Ordering::Greater;
            }
            self.noise.refine(entropy);
            other.noise.refine(entropy);
        }
    }

    /// Whether it is at least a number, drawing as many bits more as it takes.
    pub fn is_at_least<E: Entropy + ?Sized>(&mut self, number: i64, entropy: &mut E) -> bool {
        loop {
            let (low, high) = self.ends(&UBig::ONE, 0);
            let number = IBig::from(number) * IBig::from(self.deviation.denominator.clone());
            let number = number << self.noise.bits;
            if low >= number {
                return true;
            }
            if high <= number {
                return false;
            }
            self.noise.refine(entropy);
        }
    }

    /// What is known of the value, times its own and another denominator, and two to the power of
    /// its own and another number of bits: then two of them have the same unit.
    fn ends(&self, other_denominator: &UBig, other_bits: usize) -> (IBig, IBig) {
        let Ratio { numerator, denominator } = &self.deviation;
        let score = IBig::from(self.score) * IBig::from(denominator.clone());
        let score = score << self.noise.bits;
        let end = |noise: IBig| {
            let value = &score + noise * IBig::from(numerator.clone());
            (value * IBig::from(other_denominator.clone())) << other_bits
        };
        let (low, high) = self.noise.ends();
        (end(low), end(high))
    }
}

/// The index of the largest score with independent normal noise of this standard deviation added to
/// each, on the real line; none if there are no scores.
pub fn noisy_max<E: Entropy + ?Sized>(
    scores: &[i64],
    deviation: &Ratio,
    entropy: &mut E,
) -> Option<usize> {
    let mut items = scores.iter().enumerate();
    let (mut best, &first) = items.next()?;
    let mut largest = NoisyScore::new(first, deviation, entropy);
    for (item, &score) in items {
        let mut noisy = NoisyScore::new(score, deviation, entropy);
        if noisy.compare(&mut largest, entropy).is_gt() {
            (best, largest) = (item, noisy);
        }
    }
    Some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Tape<'a>(&'a [u64], usize);

    impl Entropy for Tape<'_> {
        fn word(&mut self) -> u64 {
            self.1 += 1;
            self.0.get(self.1 - 1).copied().unwrap_or(0)
        }
    }

    fn known(negative: bool, whole: u64, fraction: u64) -> Normal {
        Normal { negative, whole, fraction: fraction.into(), bits: 64 }
    }

    fn score(score: i64, noise: Normal) -> NoisyScore {
        NoisyScore { score, deviation: Ratio::new(3, 2).unwrap(), noise }
    }

    #[test]
    fn what_is_known_decides_a_comparison_where_it_can() {
        let mut nothing = Tape(&[], 0);
        for (one, other, order) in [
            (score(0, known(false, 1, 5)), score(0, known(false, 1, 7)), Ordering::Less),
            (score(0, known(true, 1, 5)), score(0, known(true, 1, 7)), Ordering::Greater),
            (score(0, known(true, 0, 0)), score(0, known(false, 0, 0)), Ordering::Less),
            // Noise of 1.5 · 2 makes up for a score of 2, but not for one of 4.
            (score(0, known(false, 2, 0)), score(2, known(false, 0, 0)), Ordering::Greater),
            (score(0, known(false, 2, 0)), score(4, known(false, 0, 0)), Ordering::Less),
        ] {
            let (mut one, mut other) = (one, other);
            assert_eq!(one.compare(&mut other, &mut nothing), order);
            assert_eq!(other.compare(&mut one, &mut nothing), order.reverse());
        }
        assert_eq!(nothing.1, 0);
    }

    #[test]
    fn equal_bits_are_drawn_further() {
        let (mut one, mut other) = (score(0, known(false, 1, 9)), score(0, known(false, 1, 9)));
        let mut tape = Tape(&[4, 4, 1, 2], 0);
        assert_eq!(one.compare(&mut other, &mut tape), Ordering::Less);
        assert_eq!(tape.1, 4);
        // And it stays decided.
        assert_eq!(one.compare(&mut other, &mut tape), Ordering::Less);
        assert_eq!(tape.1, 4);
    }

    /// The coin of whole 0 and fraction 1/2 is exp(-1/8) = 0x.E1EB51276C110C3C 3EB1...
    #[test]
    fn a_coin_on_its_edge_takes_more_bits() {
        let edge = 0xE1EB_5127_6C11_0C3C;
        for (second, kept) in [(0, true), (u64::MAX, false)] {
            let mut normal =
                Normal { negative: false, whole: 0, fraction: UBig::ONE << 62, bits: 63 };
            // The word, its next bits, and zeros for the fraction's.
            let words = [edge, second, 0];
            let mut tape = Tape(&words, 0);
            assert_eq!(normal.keeps(&mut tape), kept, "{second:x}");
            assert!(tape.1 >= 3 && normal.bits > 63, "decided too early");
        }
    }
}
