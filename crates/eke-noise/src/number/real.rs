//! Points on the real line, exact, that can be stored, and exponential steps from one to another.
//!
//! A point is a whole part and a fraction. Sixty-four bits of the fraction are drawn with the
//! point; the bits after them are the stream of a generator under a key that is drawn with it too.
//! So all bits of a point are settled when it is drawn, as many as anybody asks for can be looked
//! at, and looking at them changes nothing: what is stored of a point has one form and one length,
//! and says nothing of what it was compared with. Two copies of a point are the same point.
//!
//! No floating point decides anything here but with a margin; what is within the margin is decided
//! by integers, with more bits of the points.

use std::cmp::Ordering;

use dashu_int::UBig;
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

use crate::law::laplace::geometric;
use crate::number::ScaleError;
use crate::number::fixed::Fixed;
use crate::number::scale::power_below;
use crate::sampler::coin::Uniform;
use crate::{Entropy, Ratio};

/// A point on the real line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(i64, u64, u64, u64)", into = "(i64, u64, u64, u64)")]
pub struct Real {
    whole: i64,
    /// The first 64 bits of the fraction, as an integer.
    head: u64,
    /// What the bits after them are drawn from.
    key: [u64; 2],
}

/// What a step starts from. It is not stored and not shown: it may be a truth.
#[derive(Clone, Copy)]
pub(crate) enum Origin {
    /// A whole number.
    Whole(i64),
    /// A point.
    Point(Real),
}

impl Real {
    /// The whole number that is nearest; halves go up.
    pub(crate) fn nearest(&self) -> i64 {
        self.whole.saturating_add(i64::from(self.head >> 63 == 1))
    }

    /// How it compares with an origin. Only a point and itself are equal.
    pub(crate) fn compare(&self, other: &Origin) -> Ordering {
        let first = (self.whole, self.head).cmp(&(other.whole(), other.head()));
        let mut words = 1;
        first.then_with(|| {
            match other {
                // Bits that are not all zero are still to come.
                Origin::Whole(_) => return Ordering::Greater,
                Origin::Point(point) if point.key == self.key => return Ordering::Equal,
                Origin::Point(_) => {}
            }
            loop {
                let order = tail(&self.key, words).cmp(&other.tail(words));
                if order.is_ne() {
                    return order;
                }
                words *= 2;
            }
        })
    }

    /// A point of a cell, uniform: the cell of this index among those of width `2^-level`.
    fn within<E: Entropy + ?Sized>(index: i128, level: u32, entropy: &mut E) -> Self {
        let rest = entropy.word();
        let whole = index >> level;
        // Noise is beyond 64 bits with a probability below 2^-1500000, whatever the truth is. Wider
        // steps are only compared with a point, and what is beyond 64 bits is beyond the point.
        let ends = if whole < 0 { i64::MIN } else { i64::MAX };
        let whole = i64::try_from(whole).unwrap_or(ends);
        let head = match level {
            0 => rest,
            _ => {
                let place = index & ((1 << level) - 1);
                (u64::try_from(place).unwrap_or(0) << (64 - level)) | (rest >> level)
            }
        };
        Self { whole, head, key: [entropy.word(), entropy.word()] }
    }
}

impl From<(i64, u64, u64, u64)> for Real {
    fn from((whole, head, key, more): (i64, u64, u64, u64)) -> Self {
        Self { whole, head, key: [key, more] }
    }
}

impl From<Real> for (i64, u64, u64, u64) {
    fn from(real: Real) -> Self {
        (real.whole, real.head, real.key[0], real.key[1])
    }
}

impl Origin {
    fn whole(&self) -> i64 {
        match self {
            Self::Whole(whole) => *whole,
            Self::Point(point) => point.whole,
        }
    }

    fn head(&self) -> u64 {
        match self {
            Self::Whole(_) => 0,
            Self::Point(point) => point.head,
        }
    }

    fn tail(&self, words: usize) -> UBig {
        match self {
            Self::Whole(_) => UBig::ZERO,
            Self::Point(point) => tail(&point.key, words),
        }
    }

    /// The index of the cell it is in, among those of width `2^-level`.
    fn cell(&self, level: u32) -> i128 {
        let place = if level == 0 { 0 } else { self.head() >> (64 - level) };
        (i128::from(self.whole()) << level) | i128::from(place)
    }
}

/// The bits of a fraction after the first 64: the given number of words.
fn tail(key: &[u64; 2], words: usize) -> UBig {
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&key[0].to_le_bytes());
    seed[8..16].copy_from_slice(&key[1].to_le_bytes());
    let mut stream = ChaCha12Rng::from_seed(seed);
    (0..words).fold(UBig::ZERO, |bits, _| (bits << 64) + UBig::from(stream.next_u64()))
}

/// Which way a step goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Up,
    Down,
}

impl Way {
    pub(crate) fn other(self) -> Self {
        match self {
            Self::Up => Self::Down,
            Self::Down => Self::Up,
        }
    }
}

/// Cells are at least this wide, as a power of two below one.
const NARROWEST: u32 = 40;

/// Exponential steps of one rate.
#[derive(Clone, Debug)]
pub(crate) struct Exponential {
    rate: Ratio,
    about: f64,
    /// Cells are of width `2^-level`: one, or half to a quarter of what the step is wide.
    level: u32,
    /// The rate times that width.
    per_cell: Ratio,
}

impl Exponential {
    /// # Errors
    /// The steps are too wide.
    pub(crate) fn new(rate: &Ratio) -> Result<Self, ScaleError> {
        let about = rate.approximate();
        power_below(1.0 / about)?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 40")]
        let level = (about.log2().floor() + 2.0).clamp(0.0, f64::from(NARROWEST)) as u32;
        let denominator = &rate.denominator << level as usize;
        let per_cell = Ratio { numerator: rate.numerator.clone(), denominator };
        Ok(Self { rate: rate.clone(), about, level, per_cell })
    }

    /// A point that is an exponential step away from an origin.
    ///
    /// - Theorem: lazy-steps (docs/theorems.md)
    /// - Proves: a cell at a geometric number of cells from the origin's own and a uniform place in
    ///   it, kept on the right side of the origin with `exp(-rate place)`, has density
    ///   `exp(-rate distance)`; the place is measured from the side of its cell that the step comes
    ///   from
    /// - Assumes: independent uniform bits (entropy, and the stream of a point's key)
    /// - Deviates: nothing; the coin is decided bit by bit
    /// - Checked by: `steps_from_points_and_whole_numbers_are_exponential`,
    ///   `coins_of_steps_are_decided_right_around_their_edge`,
    ///   `a_coin_of_a_step_on_its_edge_takes_more_bits`
    ///
    /// # Errors
    /// Never for a step that exists.
    pub(crate) fn step<E: Entropy + ?Sized>(
        &self,
        from: &Origin,
        way: Way,
        entropy: &mut E,
    ) -> Result<Real, ScaleError> {
        let cell = from.cell(self.level);
        let (sign, side) = match way {
            Way::Up => (1, Ordering::Greater),
            Way::Down => (-1, Ordering::Less),
        };
        loop {
            let cells = geometric(&self.per_cell, entropy)?;
            let cells = i128::try_from(cells).unwrap_or(i128::MAX).min(i128::MAX / 4);
            let point = Real::within(cell + sign * cells, self.level, entropy);
            let is_beyond = cells > 0 || point.compare(from) == side;
            if is_beyond && self.keeps(&point, way, entropy) {
                return Ok(point);
            }
        }
    }

    /// The coin that keeps a place.
    fn keeps<E: Entropy + ?Sized>(&self, point: &Real, way: Way, entropy: &mut E) -> bool {
        let word = entropy.word();
        let (place, uniform) = (self.place(point, way) as f64, word as f64);
        let exponent = self.about * libm::ldexp(place, -64);
        // For rounding, and for the bits that come after the first 64: less than a unit of them.
        let margin = 1e-14 * (1.0 + exponent) + self.about * libm::ldexp(1.0, -62);
        let off = libm::ldexp(uniform, -64) - libm::exp(-exponent);
        if off.abs() > margin {
            return off < 0.0;
        }
        self.keeps_exactly(point, way, word, entropy)
    }

    /// The same for a word that doubles do not decide.
    #[cold]
    fn keeps_exactly<E: Entropy + ?Sized>(
        &self,
        point: &Real,
        way: Way,
        word: u64,
        entropy: &mut E,
    ) -> bool {
        let mut uniform = Uniform::new(word);
        loop {
            uniform.refine(entropy);
            let bits = uniform.bits - 64;
            let start = UBig::from(self.place(point, way)) << bits;
            let rest = tail(&point.key, bits / 64);
            // The bits after those make the one a unit more at most, and the other a unit less.
            let (nearest, furthest) = match way {
                Way::Up => (&start + &rest, start + rest + UBig::ONE),
                Way::Down => (&start - &rest - UBig::ONE, start - rest),
            };
            let power = |place: UBig| {
                let denominator = &self.rate.denominator << uniform.bits;
                let exponent = Ratio { numerator: &self.rate.numerator * place, denominator };
                Fixed::exp_neg(&exponent, uniform.bits)
            };
            if uniform.lowest_above() <= power(furthest).lo {
                return true;
            }
            if uniform.lowest >= power(nearest).hi {
                return false;
            }
        }
    }

    /// How far a point is into its cell, from the side that a step comes from, as far as its first
    /// 64 bits say: in units of 2⁻⁶⁴.
    fn place(&self, point: &Real, way: Way) -> u128 {
        let into = u128::from(point.head & (u64::MAX >> self.level));
        match way {
            Way::Up => into,
            Way::Down => (1 << (64 - self.level)) - into,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use eke_testkit::{Fit, Seeded, Tape};

    impl Real {
        /// A point with these first bits.
        pub(crate) fn known(whole: i64, head: u64) -> Self {
            Self { whole, head, key: [1, 2] }
        }

        /// A point near a double.
        pub(crate) fn near(value: f64) -> Self {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a test")]
            let head = libm::ldexp(value - value.floor(), 64) as u64;
            #[expect(clippy::cast_possible_truncation, reason = "a test")]
            Self::known(value.floor() as i64, head)
        }

        /// A double near the point.
        pub(crate) fn about(&self) -> f64 {
            self.whole as f64 + libm::ldexp(self.head as f64, -64)
        }
    }

    /// Steps of rates from wide to narrow, from whole numbers and from points, up and down: in
    /// sixteen cells of equal probability. Seed 311, 100,000 draws each; the control is a rate 5 %
    /// off.
    #[test]
    fn steps_from_points_and_whole_numbers_are_exponential() {
        let mut entropy = Seeded::new(311);
        let law = |off: f64| -> BTreeMap<i32, f64> {
            // The cell of u is where 1 - exp(-rate distance) is u of the way.
            let end = |cell: i32| libm::pow(1.0 - f64::from(cell) / 16.0, off);
            (0..16).map(|cell| (cell, end(cell) - end(cell + 1))).collect()
        };
        for rate in [1e-6, 0.03, 0.4, 0.5, 0.51, 1.0, 3.3, 1000.0, 1e6] {
            let step = Exponential::new(&Ratio::from_f64(rate).unwrap()).unwrap();
            for from in [Origin::Whole(0), Origin::Point(Real::near(0.703))] {
                for way in [Way::Up, Way::Down] {
                    let start = from.whole() as f64 + libm::ldexp(from.head() as f64, -64);
                    let draws: Vec<i32> = (0..100_000)
                        .map(|_| {
                            let point = step.step(&from, way, &mut entropy).unwrap();
                            let moved =
                                (point.about() - start) * if way == Way::Up { 1.0 } else { -1.0 };
                            assert!(moved >= 0.0);
                            #[expect(clippy::cast_possible_truncation, reason = "0 to 15")]
                            let cell = (-16.0 * libm::expm1(-rate * moved)).floor() as i32;
                            cell.min(15)
                        })
                        .collect();
                    let fit = |off| Fit::of(draws.iter().copied(), &law(off));
                    fit(1.0).assert(&fit(1.05), &format!("{rate} {way:?} from {start}"));
                }
            }
        }
    }

    /// Around its edge, and as far off as the margin of the doubles, a coin is decided as the exact
    /// one is.
    #[test]
    fn coins_of_steps_are_decided_right_around_their_edge() {
        for rate in [1e-9, 0.3, 0.5, 7.0, 1e9] {
            let step = Exponential::new(&Ratio::from_f64(rate).unwrap()).unwrap();
            for head in [0, 99, 1 << 40, 0x1234_5678_9ABC_DEF0, 1 << 63, u64::MAX] {
                for way in [Way::Up, Way::Down] {
                    let point = Real { whole: 4, head, key: [5, 6] };
                    let exponent = step.about * libm::ldexp(step.place(&point, way) as f64, -64);
                    #[expect(
                        clippy::cast_possible_truncation,
                        clippy::cast_sign_loss,
                        reason = "saturates"
                    )]
                    let edge = libm::ldexp(libm::exp(-exponent), 64) as u64;
                    for off in (0..62).map(|bit| 1u64 << bit).chain([0]) {
                        for word in [edge.saturating_sub(off), edge.saturating_add(off)] {
                            let words = [word, 1 << 40, 1 << 41, 1 << 42];
                            let quick = step.keeps(&point, way, &mut Tape::new(words).then(0));
                            let exact = step.keeps_exactly(
                                &point,
                                way,
                                word,
                                &mut Tape::new(&words[1..]).then(0),
                            );
                            assert_eq!(quick, exact, "{rate} {way:?} {head:x} {off:x}");
                        }
                    }
                }
            }
        }
    }

    /// A word that is the first 64 bits of the probability is decided by those after them: bits of
    /// the word, and of the point. At 4.5 the coin is about `exp(-(1/4)(1/2))`, a little less on
    /// the way up and a little more on the way down.
    #[test]
    fn a_coin_of_a_step_on_its_edge_takes_more_bits() {
        let step = Exponential::new(&Ratio::new(1, 4).unwrap()).unwrap();
        let point = Real::known(4, 1 << 63);
        let (half, rest) = (UBig::ONE << 255, tail(&point.key, 3));
        for (way, place) in [(Way::Up, &half + &rest), (Way::Down, &half - &rest)] {
            let exponent = Ratio { numerator: place, denominator: UBig::ONE << 258 };
            let power = Fixed::exp_neg(&exponent, 256);
            let edge = u64::try_from(&power.lo >> 192usize).unwrap();
            let next = u64::try_from((&power.lo >> 128usize) & UBig::from(u64::MAX)).unwrap();
            for (second, kept) in
                [(0, true), (next - 2, true), (next + 2, false), (u64::MAX, false)]
            {
                let words = [edge, second, 0, 0];
                assert_eq!(step.keeps(&point, way, &mut Tape::new(words).then(0)), kept, "{way:?}");
            }
        }
    }

    #[test]
    fn points_are_in_order_to_the_last_bit() {
        let at = |whole, head, key| Real { whole, head, key };
        let order = |one: Real, other: Real| one.compare(&Origin::Point(other));
        let (low, high) = (at(1, 9, [0, 0]), at(1, 9, [0, 1]));
        assert_eq!(order(low, low), Ordering::Equal);
        assert_eq!(order(low, high), order(high, low).reverse());
        assert_eq!(order(low, high), tail(&low.key, 1).cmp(&tail(&high.key, 1)));
        assert_eq!(order(at(0, u64::MAX, [0, 0]), at(1, 0, [0, 0])), Ordering::Less);
        assert_eq!(order(at(-1, 5, [0, 0]), at(-1, 4, [0, 0])), Ordering::Greater);
        assert_eq!(at(1, 0, [0, 0]).compare(&Origin::Whole(1)), Ordering::Greater);
        assert_eq!(at(0, u64::MAX, [0, 0]).compare(&Origin::Whole(1)), Ordering::Less);
        // More bits go on from fewer.
        assert_eq!(tail(&low.key, 4) >> 64usize, tail(&low.key, 3));
    }

    #[test]
    fn the_nearest_whole_number_is_on_either_side() {
        let nearest = |whole, head| Real::known(whole, head).nearest();
        assert_eq!([nearest(2, 0), nearest(2, (1 << 63) - 1), nearest(2, 1 << 63)], [2, 2, 3]);
        assert_eq!(
            [nearest(-2, 0), nearest(-2, (1 << 63) - 1), nearest(-2, u64::MAX)],
            [-2, -2, -1]
        );
        assert_eq!(nearest(i64::MAX, u64::MAX), i64::MAX);
    }

    #[test]
    fn a_point_is_stored_to_the_bit() {
        let point = Real { whole: i64::MIN, head: u64::MAX, key: [u64::MAX - 1, 7] };
        let json = serde_json::to_string(&point).unwrap();
        assert_eq!(serde_json::from_str::<Real>(&json).unwrap(), point);
    }
}
