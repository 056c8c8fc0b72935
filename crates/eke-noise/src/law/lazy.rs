//! Real numbers, exact, of which as many bits are drawn as a comparison needs.
//!
//! A number is a sign, a whole part and a fraction of which only the first bits exist until more
//! are asked for. Two laws are drawn so, on the scale of one: the normal law and Laplace's. What is
//! drawn once never changes: more bits only say more of the same number.

use std::fmt;
use std::sync::OnceLock;

use dashu_int::{IBig, UBig};

use crate::number::fixed::Fixed;
use crate::sampler::coin::Uniform;
use crate::sampler::table::{Shape, Table, Weights};
use crate::{Entropy, Ratio};

/// Noise on the real line: a law and how wide it is, in units of what it is added to.
#[derive(Clone, Debug, PartialEq)]
pub struct Noise {
    shape: Shape,
    pub(crate) scale: Ratio,
    /// The scale to within 2⁻⁵⁰ of itself; none where doubles could not say so.
    pub(crate) about: Option<f64>,
}

impl Noise {
    /// Normal noise of this standard deviation.
    #[must_use]
    pub fn gaussian(deviation: Ratio) -> Self {
        Self::new(Shape::Gaussian, deviation)
    }

    /// Laplace noise of this scale: its density at x is proportional to `exp(-|x|/scale)`.
    #[must_use]
    pub fn laplace(scale: Ratio) -> Self {
        Self::new(Shape::Geometric, scale)
    }

    fn new(shape: Shape, scale: Ratio) -> Self {
        // Far from where products and their errors would leave the normal doubles.
        let about = Some(scale.approximate()).filter(|about| (1e-200..1e200).contains(about));
        Self { shape, scale, about }
    }

    pub(crate) fn draw<E: Entropy + ?Sized>(&self, entropy: &mut E) -> Lazy {
        match self.shape {
            Shape::Gaussian => Lazy::normal(entropy),
            Shape::Geometric => Lazy::laplace(entropy),
        }
    }
}

/// A number on the real line, exact, drawn as far as has been needed.
///
/// It is not `Clone`: two copies would draw different bits further on, and not be one number.
pub(crate) struct Lazy {
    negative: bool,
    whole: u64,
    /// The first 63 bits of the fraction, as an integer.
    head: u64,
    /// The bits of the fraction after them, and how many there are.
    tail: UBig,
    tail_bits: usize,
}

/// The first bits of a fraction that are drawn at once.
const HEAD: usize = 63;

impl Lazy {
    /// A standard normal number, of which no more bits are drawn than its law needs.
    ///
    /// - Theorem: lazy-normal (docs/theorems.md)
    /// - Proves: a whole part with weights `exp(-whole²/2)` and a uniform fraction kept with
    ///   `exp(-fraction (2 whole + fraction)/2)` make the half-normal density; the bits of the
    ///   fraction that the coin did not look at are uniform still
    /// - Assumes: independent uniform bits (entropy)
    /// - Deviates: nothing
    /// - Checked by: `noisy_comparisons_have_the_law_of_normal_numbers`,
    ///   `the_noisy_maximum_has_its_law`, `a_coin_on_its_edge_takes_more_bits`
    pub(crate) fn normal<E: Entropy + ?Sized>(entropy: &mut E) -> Self {
        static WHOLE: OnceLock<Table> = OnceLock::new();
        let table = WHOLE.get_or_init(|| whole_parts(Shape::Gaussian, 2));
        Self::draw(table, Shape::Gaussian, entropy)
    }

    /// A Laplace number of scale one, of which no more bits are drawn than its law needs.
    ///
    /// - Theorem: lazy-laplace (docs/theorems.md)
    /// - Proves: a geometric whole part of ratio `exp(-1)` and a uniform fraction kept with
    ///   `exp(-fraction)` make the exponential density; the bits of the fraction that the coin did
    ///   not look at are uniform still
    /// - Assumes: independent uniform bits (entropy)
    /// - Deviates: nothing
    /// - Checked by: `noisy_comparisons_have_the_law_of_laplace_numbers`,
    ///   `the_noisy_maximum_has_its_law`, `a_coin_on_its_edge_takes_more_bits`
    pub(crate) fn laplace<E: Entropy + ?Sized>(entropy: &mut E) -> Self {
        static WHOLE: OnceLock<Table> = OnceLock::new();
        let table = WHOLE.get_or_init(|| whole_parts(Shape::Geometric, 1));
        Self::draw(table, Shape::Geometric, entropy)
    }

    #[inline]
    fn draw<E: Entropy + ?Sized>(table: &Table, shape: Shape, entropy: &mut E) -> Self {
        loop {
            let whole = table.draw(entropy);
            let word = entropy.word();
            let (negative, head) = (word & 1 == 1, word >> 1);
            let mut number = Self { negative, whole, head, tail: UBig::ZERO, tail_bits: 0 };
            if number.keeps(shape, entropy) {
                return number;
            }
        }
    }

    /// A coin of probability `exp(-x (2 whole + x)/2)` for a normal number, `exp(-x)` for a Laplace
    /// number, x being the fraction.
    #[inline]
    fn keeps<E: Entropy + ?Sized>(&mut self, shape: Shape, entropy: &mut E) -> bool {
        let word = entropy.word();
        // In floating point, with a margin for the bits that are not known and for rounding.
        let (x, whole) = (self.head as f64 * HEAD_UNIT, self.whole as f64);
        let exponent = match shape {
            Shape::Gaussian => x * (2.0 * whole + x) / 2.0,
            Shape::Geometric => x,
        };
        let uniform = word as f64 * WORD_UNIT;
        let margin = 1e-14 * (1.0 + whole);
        // exp(-y) >= 1 - y, which is quickly had.
        if uniform < 1.0 - exponent - margin {
            return true;
        }
        let power = libm::exp(-exponent);
        if (uniform - power).abs() > margin {
            return uniform < power;
        }
        self.keeps_exactly(shape, word, entropy)
    }

    /// The same for a word that doubles do not decide.
    #[cold]
    fn keeps_exactly<E: Entropy + ?Sized>(
        &mut self,
        shape: Shape,
        word: u64,
        entropy: &mut E,
    ) -> bool {
        let mut uniform = Uniform::new(word);
        loop {
            uniform.refine(entropy);
            self.refine(entropy);
            // The exponent at both ends of what is known of the fraction.
            let low = self.fraction();
            let high = &low + UBig::ONE;
            let least = Fixed::exp_neg(&self.exponent(shape, &high), uniform.bits);
            let most = Fixed::exp_neg(&self.exponent(shape, &low), uniform.bits);
            if uniform.lowest_above() <= least.lo {
                return true;
            }
            if uniform.lowest >= most.hi {
                return false;
            }
        }
    }

    /// The exponent of that coin for a fraction of n units. With unit 2^-b, the normal one is
    /// `n (2 whole 2^b + n)/2^(2b+1)`.
    fn exponent(&self, shape: Shape, units: &UBig) -> Ratio {
        let bits = self.bits();
        match shape {
            Shape::Gaussian => {
                let twice = UBig::from(self.whole) << (bits + 1);
                let numerator = units * (twice + units);
                Ratio { numerator, denominator: UBig::ONE << (2 * bits + 1) }
            }
            Shape::Geometric => Ratio { numerator: units.clone(), denominator: UBig::ONE << bits },
        }
    }

    /// How many bits of the fraction are known.
    pub(crate) fn bits(&self) -> usize {
        HEAD + self.tail_bits
    }

    /// What is known of the fraction, in units of 2^-bits.
    fn fraction(&self) -> UBig {
        (UBig::from(self.head) << self.tail_bits) + &self.tail
    }

    /// Draws 64 bits more of the fraction.
    pub(crate) fn refine<E: Entropy + ?Sized>(&mut self, entropy: &mut E) {
        self.tail = (&self.tail << 64) + UBig::from(entropy.word());
        self.tail_bits += 64;
    }

    /// The lower and upper end of what is known, in units of 2^-bits.
    pub(crate) fn ends(&self) -> (IBig, IBig) {
        let near = IBig::from((UBig::from(self.whole) << self.bits()) + self.fraction());
        let far = &near + IBig::ONE;
        if self.negative { (-far, -near) } else { (near, far) }
    }

    /// A double near the number: within 2⁻⁶³ of it, and 2⁻⁵¹ times its size.
    #[inline]
    pub(crate) fn about(&self) -> f64 {
        let size = self.whole as f64 + self.head as f64 * HEAD_UNIT;
        if self.negative { -size } else { size }
    }

    /// A number of which 64 bits of the fraction are known.
    #[cfg(test)]
    pub(crate) fn known(negative: bool, whole: u64, fraction: u64) -> Self {
        let tail = UBig::from(fraction & 1);
        Self { negative, whole, head: fraction >> 1, tail, tail_bits: 1 }
    }
}

/// 2⁻⁶³ and 2⁻⁶⁴.
const HEAD_UNIT: f64 = 1.0 / 9_223_372_036_854_775_808.0;
const WORD_UNIT: f64 = HEAD_UNIT / 2.0;

/// The table of whole parts: `exp(-k²/half)` or `exp(-k/half)`.
fn whole_parts(shape: Shape, inverse_rate: u128) -> Table {
    let rate = Ratio::new(1, inverse_rate).expect("not zero");
    Table::new(Weights { rate, shape, two_sided: false })
}

impl fmt::Debug for Lazy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lazy(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eke_testkit::Tape;

    /// The coin of fraction 1/2 is exp(-1/8) = 0x.E1EB51276C110C3C 3EB1... for a normal number of
    /// whole part 0, and exp(-1/2) = 0x.9B4597E37CB04FF3 D675... for a Laplace number.
    #[test]
    fn a_coin_on_its_edge_takes_more_bits() {
        for (shape, edge) in
            [(Shape::Gaussian, 0xE1EB_5127_6C11_0C3C), (Shape::Geometric, 0x9B45_97E3_7CB0_4FF3)]
        {
            for (second, kept) in [(0, true), (u64::MAX, false)] {
                let (head, tail) = (1 << 62, UBig::ZERO);
                let mut number = Lazy { negative: false, whole: 0, head, tail, tail_bits: 0 };
                // The word, its next bits, and zeros for the fraction's.
                let words = [edge, second, 0];
                let mut tape = Tape::new(words).then(0);
                assert_eq!(number.keeps(shape, &mut tape), kept, "{shape:?} {second:x}");
                assert!(tape.used() >= 3 && number.bits() > 63, "decided too early");
            }
        }
    }

    /// On either side of their edges, and as far off as the margin of the doubles, coins are
    /// decided as the exact ones are.
    #[test]
    fn coins_of_fractions_are_decided_right_around_their_edge() {
        for shape in [Shape::Gaussian, Shape::Geometric] {
            for whole in [0, 1, 3, 9] {
                for head in [1u64, 1 << 20, 1 << 55, (1 << 62) + 12_345, (1 << 63) - 1] {
                    let number =
                        || Lazy { negative: false, whole, head, tail: UBig::ZERO, tail_bits: 0 };
                    let exponent = number().exponent(shape, &UBig::from(head));
                    let power = Fixed::exp_neg(&exponent, 64);
                    let edge = u64::try_from(&power.lo).unwrap_or(u64::MAX);
                    for off in (0..60).map(|bit| 1u64 << bit).chain([0]) {
                        for word in [edge.saturating_sub(off), edge.saturating_add(off)] {
                            let (mut quick, mut slow) = (number(), number());
                            let words = [word, 1 << 40, 1 << 41, 1 << 42];
                            let kept = quick.keeps(shape, &mut Tape::new(words).then(0));
                            let exact = slow.keeps_exactly(
                                shape,
                                word,
                                &mut Tape::new(&words[1..]).then(0),
                            );
                            assert_eq!(kept, exact, "{shape:?} {whole} {head:x} {off:x}");
                        }
                    }
                }
            }
        }
    }
}
