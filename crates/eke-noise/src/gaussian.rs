//! The discrete Gaussian law: `P(k)` proportional to `exp(-k² / (2 variance))`.

use dashu_int::ops::UnsignedAbs;
use dashu_int::{IBig, Sign, UBig};

use crate::bernoulli::Coin;
use crate::scale::{apart, power_below, root, shift, signed};
use crate::table::{Shape, Table, Weights};
use crate::{DiscreteLaplace, Entropy, Ratio, ScaleError};

/// Discrete Gaussian noise of one variance, prepared for many draws.
///
/// - Theorem: bins (docs/theorems.md)
/// - Proves: as for [`DiscreteLaplace`]
/// - Assumes: independent uniform bits (entropy)
/// - Deviates: the bin comes from a table of 64 bits, and from integers where they do not decide
/// - Checked by: `gaussian_noise_of_every_scale_has_its_law`,
///   `the_bits_of_a_table_do_not_depend_on_how_many_were_worked_out`,
///   `a_word_on_an_edge_is_decided_by_more_bits`
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

    /// One draw of a variance that is not drawn from again, without preparing it.
    ///
    /// # Errors
    /// The variance is too large.
    pub fn once<E: Entropy + ?Sized>(variance: &Ratio, entropy: &mut E) -> Result<i64, ScaleError> {
        Self::once_around(&Centre::ZERO, variance, entropy)
    }

    /// One draw around a centre that is not an integer: `P(k)` proportional to
    /// `exp(-(k - centre)² / (2 variance))`.
    ///
    /// - Theorem: laplace-proposals (docs/theorems.md)
    /// - Proves: discrete Laplace noise kept with the ratio below has exactly this law
    /// - Assumes: independent uniform bits (entropy)
    /// - Deviates: noise beyond 64-bit integers saturates, whatever the data
    /// - Checked by: `gaussian_noise_around_a_centre_has_its_law`,
    ///   `gaussian_noise_of_every_scale_has_its_law`
    ///
    /// It is discrete Laplace noise around the nearest integer, of nearly the same width t, kept with
    /// the ratio of the two laws. With f what is left of the centre and s the sign of the noise y,
    /// that is `exp(-E)`, `E = (|y| - s f - variance/t)²/(2 variance) + (|f| - s f)/t`.
    ///
    /// # Errors
    /// The variance is too large.
    pub fn once_around<E: Entropy + ?Sized>(
        centre: &Centre,
        variance: &Ratio,
        entropy: &mut E,
    ) -> Result<i64, ScaleError> {
        shift(root(variance))?;
        let width = 1u64 << power_below(root(variance))?;
        let scale = Ratio::new(width.into(), 1).expect("a power of two");
        let (about_variance, about_left) = (variance.approximate(), centre.left.approximate());
        #[expect(clippy::cast_precision_loss, reason = "a power of two is exact")]
        let about_width = width as f64;
        let middle = about_variance / about_width;
        loop {
            let noise = DiscreteLaplace::once(&scale, entropy)?;
            let magnitude = noise.unsigned_abs();
            // Whether the noise leads away from the centre, seen from the integer.
            let away = (noise < 0) != centre.left_is_negative;
            #[expect(clippy::cast_precision_loss, reason = "within the error stated")]
            let size = magnitude as f64;
            let towards = if away { -about_left } else { about_left };
            let apart = size - towards - middle;
            let extra = if away { 2.0 * about_left / about_width } else { 0.0 };
            let about = apart * apart * 0.5 / about_variance + extra;
            let error =
                about * 1e-14 + apart.abs() * (size + 1.0 + middle) * 1e-15 / about_variance;
            let exactly = || ratio_of_laws(magnitude, width, away, centre, variance);
            if (Coin { about, error }).flip(entropy, exactly) {
                return Ok(centre.integer.saturating_add(noise));
            }
        }
    }
}

/// A centre for noise: an integer, and what is left of it, at most one half to either side.
#[derive(Clone, Debug)]
pub struct Centre {
    integer: i64,
    left_is_negative: bool,
    left: Left,
}

/// What is left of a centre: a ratio, or nothing.
#[derive(Clone, Debug)]
struct Left {
    numerator: UBig,
    denominator: UBig,
}

impl Left {
    fn approximate(&self) -> f64 {
        if self.numerator.is_zero() {
            return 0.0;
        }
        let (numerator, denominator) = (self.numerator.clone(), self.denominator.clone());
        Ratio { numerator, denominator }.approximate()
    }
}

impl Centre {
    /// The origin.
    pub const ZERO: Self = Self {
        integer: 0,
        left_is_negative: false,
        left: Left { numerator: UBig::ZERO, denominator: UBig::ONE },
    };

    /// The quotient of two integers, the second positive. Beyond the range of 64-bit integers it
    /// saturates.
    pub(crate) fn from_ratio(numerator: &IBig, denominator: &UBig) -> Self {
        let (sign, magnitude) = (numerator.sign(), numerator.unsigned_abs());
        let (whole, over) = (&magnitude / denominator, &magnitude % denominator);
        // To the nearest integer, which is further out if more than half is over.
        let is_out = over > denominator - &over;
        let (whole, left) =
            if is_out { (whole + UBig::ONE, denominator - &over) } else { (whole, over) };
        let negative = sign == Sign::Negative;
        let size = i64::try_from(whole).unwrap_or(i64::MAX);
        Self {
            integer: if negative { -size } else { size },
            left_is_negative: is_out != negative,
            left: Left { numerator: left, denominator: denominator.clone() },
        }
    }

    /// The quotient of two integers; none if the second is zero, or the quotient beyond the range of
    /// 64-bit integers.
    #[must_use]
    pub fn new(numerator: i128, denominator: u128) -> Option<Self> {
        if denominator == 0 {
            return None;
        }
        let whole = numerator / i128::try_from(denominator).unwrap_or(i128::MAX);
        i64::try_from(whole).ok()?;
        Some(Self::from_ratio(&numerator.into(), &denominator.into()))
    }
}

/// `1/(2 variance)`
fn half_inverse(variance: &Ratio) -> Ratio {
    let Ratio { numerator, denominator } = variance;
    Ratio { numerator: denominator.clone(), denominator: numerator << 1 }
}

/// The exponent of the ratio of the laws (see `once_around`), exactly. With variance n/d, width t
/// and `|f| = p/q`, the square is that of `(|y| t d q ± p t d - n q)/(t d q)`, over `2n/d`.
fn ratio_of_laws(
    magnitude: u64,
    width: u64,
    away: bool,
    centre: &Centre,
    variance: &Ratio,
) -> Ratio {
    let Ratio { numerator: n, denominator: d } = variance;
    let Left { numerator: p, denominator: q } = &centre.left;
    let width = UBig::from(width);
    let (size, left) = (UBig::from(magnitude) * &width * d * q, p * &width * d);
    let (mut more, mut less) = (size, n * q);
    if away {
        more += left;
    } else {
        less += left;
    }
    let apart = if more > less { more - less } else { less - more };
    // apart² / (2 n d t² q²), and 2 p / (q t) where the noise leads away.
    let denominator = ((n * d * &width * &width) * (q * q)) << 1;
    let extra = if away { ((p * n * d * &width) * q) << 2 } else { UBig::ZERO };
    Ratio { numerator: &apart * &apart + extra, denominator }
}
