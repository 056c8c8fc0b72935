//! Planar Laplace noise on a lattice: `P(z)` proportional to `exp(-rate |z|)`, with `|z|` the
//! Euclidean length of an integer point in one, two or three dimensions.
//!
//! A point that moves by a length changes every probability by at most the rate times that length,
//! whichever direction it moves in. Geometric noise in every coordinate does that for the sum of
//! the coordinates' moves, which is longer in all directions but those of the axes.

use dashu_int::UBig;
use dashu_int::ops::SquareRoot;

use crate::number::ScaleError;
use crate::number::fixed::Fixed;
use crate::sampler::coin::Coin;
use crate::{DiscreteLaplace, Entropy, Ratio};

/// Planar Laplace noise of one rate in N dimensions, one to three, prepared for many draws.
///
/// - Theorem: planar-lattice (docs/theorems.md)
/// - Proves: points that are r apart have laws within a factor `exp(rate · r)`, in every direction;
///   and the draws have exactly the law
/// - Assumes: independent uniform bits (entropy)
/// - Deviates: nothing; proposals have a rate that is rational and a little below `rate/sqrt(N)`,
///   and what that changes is in the coin that keeps them
/// - Checked by: `planar_noise_of_every_rate_has_its_law`,
///   `planar_coins_enclose_the_ratio_of_the_laws`,
///   `planar_proposals_are_never_narrower_than_the_law`
///
/// Proposals are geometric in every coordinate. All of them are kept in one dimension, seven in ten
/// or more in two, and half or more in three. There are no others:
/// ```compile_fail,E0080
/// # use eke_noise::Ratio;
/// # use eke_noise::law::PlanarLaplace;
/// let noise = PlanarLaplace::<4>::new(&Ratio::new(1, 2).unwrap());
/// ```
#[derive(Clone, Debug)]
pub struct PlanarLaplace<const N: usize> {
    keeping: Keeping,
    proposal: DiscreteLaplace,
}

impl<const N: usize> PlanarLaplace<N> {
    /// Prepares the law of a rate per step of the lattice.
    ///
    /// # Errors
    /// The rate is too small.
    pub fn new(rate: &Ratio) -> Result<Self, ScaleError> {
        let keeping = Keeping::new(rate, Self::DIMENSIONS)?;
        let proposal = DiscreteLaplace::new(&keeping.proposed.inverse())?;
        Ok(Self { keeping, proposal })
    }

    const DIMENSIONS: u32 = match N {
        1 => 1,
        2 => 2,
        3 => 3,
        _ => panic!("planar noise has one, two or three dimensions"),
    };

    /// One draw.
    #[inline]
    pub fn draw<E: Entropy + ?Sized>(&self, entropy: &mut E) -> [i64; N] {
        loop {
            let point = [(); N].map(|()| self.proposal.draw(entropy));
            if self.keeping.keeps(&point, entropy) {
                return point;
            }
        }
    }

    /// Fills a slice with independent draws.
    pub fn fill<E: Entropy + ?Sized>(&self, draws: &mut [[i64; N]], entropy: &mut E) {
        for draw in draws {
            *draw = self.draw(entropy);
        }
    }

    /// One draw of a rate that is not drawn from again, without preparing it.
    ///
    /// # Errors
    /// The rate is too small.
    pub fn once<E: Entropy + ?Sized>(
        rate: &Ratio,
        entropy: &mut E,
    ) -> Result<[i64; N], ScaleError> {
        let keeping = Keeping::new(rate, Self::DIMENSIONS)?;
        let scale = keeping.proposed.inverse();
        loop {
            let mut point = [0; N];
            for coordinate in &mut point {
                *coordinate = DiscreteLaplace::once(&scale, entropy)?;
            }
            if keeping.keeps(&point, entropy) {
                return Ok(point);
            }
        }
    }
}

/// Which proposals are kept: with the ratio of the law and of the proposals', `exp(-E)`,
/// `E = rate |z| - proposed (|z_1| + … + |z_N|)`, which is never negative.
#[derive(Clone, Debug)]
struct Keeping {
    rate: Ratio,
    about_rate: f64,
    /// The rate of proposals in every coordinate: a double, at most `rate/sqrt(N)`.
    proposed: Ratio,
    about_proposed: f64,
}

impl Keeping {
    fn new(rate: &Ratio, dimensions: u32) -> Result<Self, ScaleError> {
        let about_rate = rate.approximate();
        if dimensions == 1 {
            let (rate, proposed) = (rate.clone(), rate.clone());
            return Ok(Self { rate, about_rate, proposed, about_proposed: about_rate });
        }
        let square = rate.squared();
        let mut about_proposed = (about_rate / f64::from(dimensions).sqrt()).min(f64::MAX);
        // A few steps, for what the approximation, the root and the quotient round.
        for _ in 0..64 {
            let proposed = Ratio::from_f64(about_proposed).ok_or(ScaleError)?;
            if proposed.squared().times(&dimensions.into()).compare(&square).is_le() {
                return Ok(Self { rate: rate.clone(), about_rate, proposed, about_proposed });
            }
            about_proposed = about_proposed.next_down();
        }
        Err(ScaleError)
    }

    #[inline]
    fn keeps<E: Entropy + ?Sized, const N: usize>(
        &self,
        point: &[i64; N],
        entropy: &mut E,
    ) -> bool {
        if N == 1 {
            return true;
        }
        let is_zero = point.iter().all(|&coordinate| coordinate == 0);
        is_zero || self.coin(point).flip_enclosed(entropy, |bits| self.probability(point, bits))
    }

    /// E, nearly. Both of its terms are off by less than 3e-15 of themselves, and the second is not
    /// above the first.
    #[inline]
    fn coin(&self, point: &[i64]) -> Coin {
        let (square, sum) = point.iter().fold((0.0, 0.0), |(square, sum), &coordinate| {
            let size = (coordinate as f64).abs();
            (square + size * size, sum + size)
        });
        let whole = self.about_rate * f64::sqrt(square);
        Coin { about: whole - self.about_proposed * sum, error: whole * 6e-15 }
    }

    /// `exp(-E)`, for a point that is not zero. With a rate of a/b, `rate |z|` is the root of
    /// `a² |z|²` over b.
    fn probability(&self, point: &[i64], bits: usize) -> Fixed {
        let (square, sum) = measures(point);
        let Ratio { numerator, denominator } = &self.rate;
        let places = bits + 16;
        let root = ((numerator * numerator * UBig::from(square)) << (2 * places)).sqrt();
        let denominator = denominator << places;
        let least = Ratio { numerator: root.clone(), denominator: denominator.clone() };
        let most = Ratio { numerator: root + UBig::ONE, denominator };
        let proposed = self.proposed.times(&sum.into());
        Fixed {
            lo: Fixed::exp_neg(&most.minus_or_zero(&proposed), bits).lo,
            hi: Fixed::exp_neg(&least.minus_or_zero(&proposed), bits).hi,
            bits,
        }
    }
}

/// The square of a point's length, and the sum of the sizes of its coordinates.
fn measures(point: &[i64]) -> (u128, u128) {
    point.iter().fold((0, 0), |(square, sum), &coordinate| {
        let size = u128::from(coordinate.unsigned_abs());
        (square + size * size, sum + size)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn approximate(end: &UBig, bits: usize) -> f64 {
        Ratio { numerator: end.clone(), denominator: UBig::ONE << bits }.approximate()
    }

    proptest! {
        #[test]
        fn planar_proposals_are_never_narrower_than_the_law(
            numerator in 1u128..1_000_000_000_000,
            denominator in 1u128..1_000_000_000_000,
            dimensions in 1u32..=3,
        ) {
            let rate = Ratio::new(numerator, denominator).unwrap();
            let keeping = Keeping::new(&rate, dimensions).unwrap();
            let whole = keeping.proposed.squared().times(&dimensions.into());
            prop_assert!(whole.compare(&rate.squared()).is_le());
            prop_assert!(whole.approximate() / rate.squared().approximate() > 1.0 - 1e-14);
        }

        /// E from its terms in 300 bits more, whose roots are squared to see that they are roots.
        #[test]
        fn planar_coins_enclose_the_ratio_of_the_laws(
            log in -21.0f64..4.0,
            reach in 0.0f64..60.0,
            shares in [-1.0f64..1.0, -1.0f64..1.0, -1.0f64..1.0],
            dimensions in 2usize..=3,
        ) {
            let rate = Ratio::from_f64(log.exp()).unwrap();
            let keeping = Keeping::new(&rate, if dimensions == 2 { 2 } else { 3 }).unwrap();
            #[expect(clippy::cast_possible_truncation, reason = "saturates")]
            let mut point: Vec<i64> =
                shares[..dimensions].iter().map(|share| (share * reach / log.exp()) as i64).collect();
            if point.iter().all(|&coordinate| coordinate == 0) {
                point[0] = 1;
            }
            let [short, long] = [128, 428].map(|bits| keeping.probability(&point, bits));
            // The long one is as good as the truth.
            prop_assert!(&short.lo << 300 <= long.lo && long.hi <= &short.hi << 300);
            prop_assert!(&short.hi - &short.lo <= UBig::from(8u8), "{short:?}");
            let exact = approximate(&long.lo, 428);
            // What the coin is about is within its error, but for the error of a logarithm here.
            let coin = keeping.coin(&point);
            let off = (coin.about + exact.ln()).abs();
            prop_assert!(off <= coin.error + 1e-15 * (1.0 + coin.about), "{off} {}", coin.error);
            prop_assert!(coin.error < 1e-12);
            // In doubles, from the definition.
            let length: f64 = point.iter().map(|&z| (z as f64).powi(2)).sum::<f64>().sqrt();
            let size: f64 = point.iter().map(|&z| (z as f64).abs()).sum();
            let plain = (-log.exp() * (length - size / (dimensions as f64).sqrt())).exp();
            prop_assert!((plain - exact).abs() < 1e-9, "{plain} {exact}");
            prop_assert!(exact <= 1.0);
        }
    }

    /// Along a diagonal the terms of E nearly cancel, and far out floating point cannot tell:
    /// integers do.
    #[test]
    fn far_out_on_a_diagonal_integers_decide() {
        let keeping = Keeping::new(&Ratio::new(1, 1).unwrap(), 2).unwrap();
        let far = [1 << 50, 1 << 50];
        assert!(keeping.coin(&far).error > 1.0);
        let kept = keeping.probability(&far, 128);
        // E is the length times what the rate of proposals is below rate/sqrt(2): less than one
        // here.
        assert!(approximate(&kept.lo, 128) > 0.3 && kept.hi <= UBig::ONE << 128, "{kept:?}");
        let end = [i64::MAX, i64::MIN, i64::MAX];
        assert_eq!(measures(&end).1, 3 * (1 << 63) - 2);
        let keeping = Keeping::new(&Ratio::new(1, 1 << 42).unwrap(), 3).unwrap();
        assert!(keeping.probability(&end, 128).hi > UBig::ZERO);
    }

    /// The roots that the big-integer library gives are roots.
    #[test]
    fn roots_are_rounded_down() {
        let mut number = UBig::from(7u8);
        for _ in 0..200 {
            number = &number * UBig::from(6_364_136_223_846_793_005u64) + UBig::ONE;
            for square in [number.clone(), &number * &number, &number * &number - UBig::ONE] {
                let root = square.sqrt();
                let next = &root + UBig::ONE;
                assert!(&root * &root <= square && square < &next * &next, "{square}");
            }
        }
    }
}
