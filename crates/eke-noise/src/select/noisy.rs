//! Scores with exact noise on the real line, compared.
//!
//! Selection with Gaussian or Laplace noise is priced for continuous noise; on a grid it would cost
//! more. So scores are compared with their noise on the real line. Doubles decide a comparison
//! where what is known of both numbers, with a margin for every rounding, is apart; where it is
//! not, integers decide, with as many more bits as they need. The outcome is that of the exact
//! numbers either way.

use std::cmp::Ordering;
use std::fmt;

use dashu_int::{IBig, UBig};

use crate::law::Noise;
use crate::law::lazy::Lazy;
use crate::{Entropy, Ratio};

/// A score on the integers with noise of its own on top, never rounded.
///
/// It is not `Clone`: two copies would draw different bits further on, and not be one number.
/// ```compile_fail,E0308
/// fn copy<'a>(noisy: &eke_noise::select::NoisyScore<'a>) -> eke_noise::select::NoisyScore<'a> {
///     noisy.clone()
/// }
/// ```
pub struct NoisyScore<'a> {
    noise: &'a Noise,
    at: Placed,
}

impl<'a> NoisyScore<'a> {
    /// Adds a draw of this noise to a score.
    pub fn new<E: Entropy + ?Sized>(score: i64, noise: &'a Noise, entropy: &mut E) -> Self {
        Self { noise, at: Placed::new(score, noise, entropy) }
    }

    /// Which of two is larger, drawing more bits until that is known. Two are never equal (except
    /// with probability zero), and what has been decided once stays so.
    ///
    /// - Theorem: near-comparison (docs/theorems.md)
    /// - Proves: doubles that are further apart than their errors are in the order of the numbers
    /// - Assumes: sums and products that round to nearest (doubles)
    /// - Deviates: nothing
    /// - Checked by: `doubles_decide_as_integers_do`, `values_are_within_their_error`,
    ///   `bits_to_come_may_change_the_order_of_small_numbers`, `equal_bits_are_drawn_further`
    pub fn compare<E: Entropy + ?Sized>(
        &mut self,
        other: &mut NoisyScore<'_>,
        entropy: &mut E,
    ) -> Ordering {
        self.at.compare(self.noise, &mut other.at, other.noise, entropy)
    }

    /// Whether it is at least a number, drawing more bits until that is known.
    pub fn is_at_least<E: Entropy + ?Sized>(&mut self, number: i64, entropy: &mut E) -> bool {
        self.at.is_at_least(number, self.noise, entropy)
    }
}

/// The index of the largest score with independent noise added to each, on the real line (report
/// noisy max); none if there are no scores.
#[doc(alias = "report noisy max")]
pub fn noisy_max<E: Entropy + ?Sized>(
    scores: &[i64],
    noise: &Noise,
    entropy: &mut E,
) -> Option<usize> {
    let mut items = scores.iter().enumerate();
    let (mut best, &first) = items.next()?;
    let mut largest = NoisyScore::new(first, noise, entropy);
    for (item, &score) in items {
        let mut noisy = NoisyScore::new(score, noise, entropy);
        if noisy.compare(&mut largest, entropy).is_gt() {
            (best, largest) = (item, noisy);
        }
    }
    Some(best)
}

/// A score and what has been drawn of its noise, whose law is kept elsewhere.
pub(crate) struct Placed {
    score: i64,
    number: Lazy,
    /// The value, nearly.
    about: f64,
    /// How far the value may be from that, whatever bits are still to come.
    error: f64,
}

impl Placed {
    #[inline]
    pub(crate) fn new<E: Entropy + ?Sized>(score: i64, noise: &Noise, entropy: &mut E) -> Self {
        Self::of(score, noise, noise.draw(entropy))
    }

    /// With u = 2⁻⁵³: the score is off by u of itself, the number by less than 4u of itself and
    /// 2⁻⁶³ for bits that are not known, the scale by 8u, product and sum by u each: less than 2u
    /// of the score and 15u of the noise in all, and 2⁻⁶³ scales. The error says 32u and 2⁻⁶²
    /// scales, which leaves room for computing the error itself, and for comparing.
    #[inline]
    fn of(score: i64, noise: &Noise, number: Lazy) -> Self {
        let centre = score as f64;
        // What is not a number decides nothing.
        let scale = noise.about.unwrap_or(f64::NAN);
        let moved = scale * number.about();
        let error = (centre.abs() + moved.abs()) * ROUNDING + scale * UNKNOWN;
        Self { score, number, about: centre + moved, error }
    }

    #[inline]
    pub(crate) fn compare<E: Entropy + ?Sized>(
        &mut self,
        noise: &Noise,
        other: &mut Self,
        other_noise: &Noise,
        entropy: &mut E,
    ) -> Ordering {
        let apart = self.about - other.about;
        if apart.abs() > self.error + other.error {
            return if apart > 0.0 { Ordering::Greater } else { Ordering::Less };
        }
        self.compare_exactly(&noise.scale, other, &other_noise.scale, entropy)
    }

    #[cold]
    fn compare_exactly<E: Entropy + ?Sized>(
        &mut self,
        scale: &Ratio,
        other: &mut Self,
        other_scale: &Ratio,
        entropy: &mut E,
    ) -> Ordering {
        loop {
            let (low, high) = self.ends(scale, &other_scale.denominator, other.number.bits());
            let (other_low, other_high) =
                other.ends(other_scale, &scale.denominator, self.number.bits());
            if high <= other_low {
                return Ordering::Less;
            }
            if low >= other_high {
                return Ordering::Greater;
            }
            self.number.refine(entropy);
            other.number.refine(entropy);
        }
    }

    #[inline]
    fn is_at_least<E: Entropy + ?Sized>(
        &mut self,
        number: i64,
        noise: &Noise,
        entropy: &mut E,
    ) -> bool {
        let line = number as f64;
        let apart = self.about - line;
        if apart.abs() > self.error + line.abs() * ROUNDING {
            return apart > 0.0;
        }
        self.is_exactly_at_least(number, &noise.scale, entropy)
    }

    #[cold]
    fn is_exactly_at_least<E: Entropy + ?Sized>(
        &mut self,
        number: i64,
        scale: &Ratio,
        entropy: &mut E,
    ) -> bool {
        loop {
            let (low, high) = self.ends(scale, &UBig::ONE, 0);
            let number = IBig::from(number) * IBig::from(scale.denominator.clone());
            let number = number << self.number.bits();
            if low >= number {
                return true;
            }
            if high <= number {
                return false;
            }
            self.number.refine(entropy);
        }
    }

    /// What is known of the value, times its own and another denominator, and two to the power of
    /// its own and another number of bits: then two of them have the same unit.
    fn ends(&self, scale: &Ratio, other_denominator: &UBig, other_bits: usize) -> (IBig, IBig) {
        let Ratio { numerator, denominator } = scale;
        let score = IBig::from(self.score) * IBig::from(denominator.clone());
        let score = score << self.number.bits();
        let end = |noise: IBig| {
            let value = &score + noise * IBig::from(numerator.clone());
            (value * IBig::from(other_denominator.clone())) << other_bits
        };
        let (low, high) = self.number.ends();
        (end(low), end(high))
    }
}

/// 32 · 2⁻⁵³ and 2⁻⁶².
const ROUNDING: f64 = 16.0 * f64::EPSILON;
const UNKNOWN: f64 = 1.0 / 4_611_686_018_427_387_904.0;

impl fmt::Debug for NoisyScore<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NoisyScore(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eke_testkit::Tape;
    use proptest::prelude::*;

    fn noise(numerator: u128, denominator: u128) -> Noise {
        Noise::gaussian(Ratio::new(numerator, denominator).unwrap())
    }

    fn known(negative: bool, whole: u64, fraction: u64) -> Lazy {
        Lazy::known(negative, whole, fraction)
    }

    #[test]
    fn what_is_known_decides_a_comparison_where_it_can() {
        let noise = noise(3, 2);
        let score = |score, number| Placed::of(score, &noise, number);
        let mut nothing = Tape::always(0);
        for (one, other, order) in [
            (score(0, known(false, 1, 5)), score(0, known(false, 1, 7)), Ordering::Less),
            (score(0, known(true, 1, 5)), score(0, known(true, 1, 7)), Ordering::Greater),
            (score(0, known(true, 0, 0)), score(0, known(false, 0, 0)), Ordering::Less),
            // Noise of 1.5 · 2 makes up for a score of 2, but not for one of 4.
            (score(0, known(false, 2, 0)), score(2, known(false, 0, 0)), Ordering::Greater),
            (score(0, known(false, 2, 0)), score(4, known(false, 0, 0)), Ordering::Less),
        ] {
            let (mut one, mut other) = (one, other);
            assert_eq!(one.compare(&noise, &mut other, &noise, &mut nothing), order);
            assert_eq!(other.compare(&noise, &mut one, &noise, &mut nothing), order.reverse());
        }
        assert_eq!(nothing.used(), 0);
    }

    #[test]
    fn equal_bits_are_drawn_further() {
        let noise = noise(3, 2);
        let [mut one, mut other] = [0, 0].map(|_| Placed::of(0, &noise, known(false, 1, 9)));
        let mut tape = Tape::new([4, 4, 1, 2]).then(0);
        assert_eq!(one.compare(&noise, &mut other, &noise, &mut tape), Ordering::Less);
        assert_eq!(tape.used(), 4);
        // And it stays decided.
        assert_eq!(one.compare(&noise, &mut other, &noise, &mut tape), Ordering::Less);
        assert_eq!(tape.used(), 4);
    }

    /// Of numbers so small that most of them is still to come, what is known says little.
    #[test]
    fn bits_to_come_may_change_the_order_of_small_numbers() {
        let (narrow, wide) = (noise(1000, 1), noise(1001, 1));
        for (words, order) in [([u64::MAX, 0], Ordering::Greater), ([0, u64::MAX], Ordering::Less)]
        {
            let mut one = Placed::of(0, &narrow, known(false, 0, 2));
            let mut other = Placed::of(0, &wide, known(false, 0, 2));
            let mut tape = Tape::new(words).then(0);
            assert_eq!(one.compare(&narrow, &mut other, &wide, &mut tape), order);
            assert_eq!(tape.used(), 2);
        }
    }

    /// A number that is exactly on the line as far as it is known is decided by the bits that
    /// follow.
    #[test]
    fn a_number_on_the_line_is_decided_by_more_bits() {
        let noise = noise(2, 1);
        for (negative, words, at_least) in
            [(false, [0, 0], true), (true, [0, 1], false), (true, [u64::MAX, 0], false)]
        {
            // ±2 · 3.0 on top of ∓6.
            let mut on = Placed::of(if negative { 6 } else { -6 }, &noise, known(negative, 3, 0));
            assert_eq!(on.is_at_least(0, &noise, &mut Tape::new(words).then(0)), at_least);
        }
    }

    /// Scales that doubles cannot hold are left to the integers.
    #[test]
    fn scales_beyond_doubles_are_compared_exactly() {
        let tiny = Ratio { numerator: UBig::ONE, denominator: UBig::ONE << 1080 };
        let huge = Ratio { numerator: UBig::ONE << 1080, denominator: UBig::ONE };
        for scale in [tiny, huge] {
            for law in [Noise::gaussian, Noise::laplace] {
                let noise = law(scale.clone());
                let mut near = Placed::of(7, &noise, known(false, 1, 1 << 40));
                let mut far = Placed::of(7, &noise, known(false, 1, 1 << 41));
                let mut nothing = Tape::always(0);
                let order = near.compare(&noise, &mut far, &noise, &mut nothing);
                assert_eq!((order, nothing.used()), (Ordering::Less, 0));
            }
        }
    }

    proptest! {
        /// Numbers that are nearly equal, some as far apart as the margin is: what doubles decide
        /// is what integers decide, whatever bits follow.
        #[test]
        fn doubles_decide_as_integers_do(
            scores in (-1_000_000i64..1_000_000, 0u32..40),
            whole in 0u64..6,
            head in any::<u64>(),
            negative in any::<bool>(),
            scale in (1u128..1_000_000_000, 1u128..1_000_000_000),
            off in (0u32..63, any::<bool>(), -2i64..=2),
            words in prop::collection::vec(any::<u64>(), 8),
        ) {
            let (score, shift) = scores;
            let score = score << shift;
            let law = noise(scale.0, scale.1);
            // The other number is the same up to a little, which is around the margin somewhere.
            let little = off.2 << off.0;
            let other_head = if off.1 { head.wrapping_add_signed(little) } else { head };
            let other_score = if off.1 { score } else { score + off.2 };
            let make = || (
                Placed::of(score, &law, known(negative, whole, head)),
                Placed::of(other_score, &law, known(negative, whole, other_head)),
            );
            let ((mut one, mut other), (mut first, mut second)) = (make(), make());
            let quick = one.compare(&law, &mut other, &law, &mut Tape::new(&words).then(0));
            let scale = &law.scale;
            let slow = first.compare_exactly(scale, &mut second, scale, &mut Tape::new(&words).then(0));
            prop_assert_eq!(quick, slow);

            // Against whole numbers around the value.
            let value = one.about.round();
            prop_assume!(value.abs() < 9e18);
            #[expect(clippy::cast_possible_truncation, reason = "within the integers")]
            let line = (value as i64).saturating_add(off.2);
            let (mut quick, mut slow) = (make().0, make().0);
            prop_assert_eq!(
                quick.is_at_least(line, &law, &mut Tape::new(&words).then(0)),
                slow.is_exactly_at_least(line, scale, &mut Tape::new(&words).then(0))
            );
        }

        /// The value is within the stated error of what it is about, whatever bits follow.
        #[test]
        fn values_are_within_their_error(
            score in -(1i64 << 62)..(1i64 << 62),
            shift in 0u32..62,
            whole in 0u64..60,
            head in any::<u64>(),
            negative in any::<bool>(),
            scale in (1u128..u128::MAX, 1u128..u128::MAX),
        ) {
            let law = Noise::laplace(Ratio::new(scale.0, scale.1).unwrap());
            let placed = Placed::of(score >> shift, &law, known(negative, whole, head));
            let (low, high) = placed.ends(&law.scale, &UBig::ONE, 0);
            // In units of 2^-bits over the denominator.
            let exactly = |double: f64| -> IBig {
                let ratio = Ratio::from_f64(double.abs());
                let (n, d) = ratio.map_or((UBig::ZERO, UBig::ONE), |r| (r.numerator, r.denominator));
                let unit = &law.scale.denominator << placed.number.bits();
                let value = IBig::from(n * unit / d);
                if double < 0.0 { -value } else { value }
            };
            let slack = IBig::from(2);
            prop_assert!(exactly(placed.about - placed.error) <= low + &slack);
            prop_assert!(exactly(placed.about + placed.error) + slack >= high);
        }
    }
}
