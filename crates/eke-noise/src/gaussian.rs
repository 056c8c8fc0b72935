//! The discrete Gaussian law: `P(k)` proportional to `exp(-k² / (2 variance))`.

use dashu_int::UBig;

use crate::bernoulli::Coin;
use crate::scale::{apart, power_below, root, shift, signed};
use crate::table::{Shape, Table, Weights};
use crate::{DiscreteLaplace, Entropy, Ratio, ScaleError};

/// Discrete Gaussian noise of one variance, prepared for many draws.
///
/// Magnitudes are drawn as a bin, from a table of the law at the bins' lower ends, and a place in it,
/// uniform and then kept with the probability that is left: `exp(-(2 start place + place²)/(2 variance))`.
#[derive(Clone, Debug)]
pub struct DiscreteGaussian {
    variance: Ratio,
    half_inverse: f64,
    shift: u32,
    table: Table,
}

impl DiscreteGaussian {
    /// Prepares the law of a variance (of the continuous law it is cut from, as everywhere).
    ///
    /// # Errors
    /// The variance is too large.
    pub fn new(variance: &Ratio) -> Result<Self, ScaleError> {
        let shift = shift(root(variance))?;
        let bin_square = UBig::ONE << (2 * shift as usize);
        let rate = half_inverse(variance).times(&bin_square);
        let weights = Weights { rate, shape: Shape::Gaussian, two_sided: shift == 0 };
        let table = Table::new(weights);
        let half_inverse = 0.5 / variance.approximate();
        Ok(Self { variance: variance.clone(), half_inverse, shift, table })
    }

    /// One draw.
    #[inline]
    pub fn draw<E: Entropy + ?Sized>(&self, entropy: &mut E) -> i64 {
        loop {
            let bin = u128::from(self.table.draw(entropy));
            if self.shift == 0 {
                return signed(bin, bin != 0 && entropy.word() & 1 == 1);
            }
            let (negative, place, rest) = apart(entropy.word(), self.shift);
            let (start, place) = (bin << self.shift, u128::from(place));
            if self.keeps(place * (2 * start + place), rest, entropy) {
                let magnitude = start + place;
                // There is one zero, not two.
                if magnitude != 0 || !negative {
                    return signed(magnitude, negative);
                }
            }
        }
    }

    /// Fills a slice with independent draws.
    pub fn fill<E: Entropy + ?Sized>(&self, draws: &mut [i64], entropy: &mut E) {
        for draw in draws {
            *draw = self.draw(entropy);
        }
    }

    /// Keeps a place whose square is so much above that of its bin.
    #[inline]
    fn keeps<E: Entropy + ?Sized>(&self, excess: u128, rest: Option<u32>, entropy: &mut E) -> bool {
        #[expect(clippy::cast_precision_loss, reason = "within the error stated")]
        let about = excess as f64 * self.half_inverse;
        let exactly = || half_inverse(&self.variance).times(&excess.into());
        let coin = Coin { about, error: about * 1e-14 };
        match rest {
            _ if excess == 0 => true,
            Some(rest) => coin.flip_from(rest, entropy, exactly),
            None => coin.flip(entropy, exactly),
        }
    }

    /// One draw of a variance that is not drawn from again, without preparing it: discrete Laplace
    /// noise of nearly the same width, kept with the ratio of the two laws.
    ///
    /// # Errors
    /// The variance is too large.
    pub fn once<E: Entropy + ?Sized>(variance: &Ratio, entropy: &mut E) -> Result<i64, ScaleError> {
        let shift = power_below(root(variance))?;
        let width = 1u128 << shift;
        let scale = Ratio::new(width, 1).expect("a power of two");
        let about_variance = variance.approximate();
        #[expect(clippy::cast_precision_loss, reason = "a power of two is exact")]
        let middle = about_variance / width as f64;
        loop {
            let draw = DiscreteLaplace::once(&scale, entropy)?;
            let magnitude = draw.unsigned_abs();
            // The laws' ratio is exp(-(|k| - variance/width)²/(2 variance)), up to a factor.
            #[expect(clippy::cast_precision_loss, reason = "within the error stated")]
            let size = magnitude as f64;
            let apart = size - middle;
            let about = apart * apart * 0.5 / about_variance;
            let error = about * 1e-14 + apart.abs() * (size + middle) * 1e-15 / about_variance;
            let exactly = || ratio_of_laws(magnitude, width, variance);
            if (Coin { about, error }).flip(entropy, exactly) {
                return Ok(draw);
            }
        }
    }
}

/// `1/(2 variance)`
fn half_inverse(variance: &Ratio) -> Ratio {
    let Ratio { numerator, denominator } = variance;
    Ratio { numerator: denominator.clone(), denominator: numerator << 1 }
}

/// `(|k| - variance/width)²/(2 variance)`, which with variance n/d is `(|k| width d - n)²/(2 n d width²)`.
fn ratio_of_laws(magnitude: u64, width: u128, variance: &Ratio) -> Ratio {
    let Ratio { numerator: n, denominator: d } = variance;
    let scaled = UBig::from(magnitude) * UBig::from(width) * d;
    let apart = if scaled > *n { scaled - n } else { n - scaled };
    let width = UBig::from(width);
    Ratio { numerator: &apart * &apart, denominator: ((n * d * &width) * &width) << 1 }
}
