//! The discrete Gaussian law: `P(k)` proportional to `exp(-k² / (2 variance))`.

use dashu_int::ops::UnsignedAbs;
use dashu_int::{IBig, Sign, UBig};

use crate::number::ScaleError;
use crate::number::scale::{power_below, root, shift};
use crate::sampler::binned::Binned;
use crate::sampler::coin::Coin;
use crate::sampler::table::Shape;
use crate::{DiscreteLaplace, Entropy, Ratio};

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
/// Magnitudes are drawn as a bin, from a table of the law at the bins' lower ends, and a place in
/// it, uniform and then kept with the probability that is left:
/// `exp(-(2 start place + place²)/(2 variance))`.
#[derive(Clone, Debug)]
pub struct DiscreteGaussian {
    law: Binned,
}

impl DiscreteGaussian {
    /// Prepares the law of a variance (of the continuous law it is cut from, as everywhere).
    ///
    /// # Errors
    /// The variance is too large.
    pub fn new(variance: &Ratio) -> Result<Self, ScaleError> {
        let Ratio { numerator, denominator } = variance;
        let half_inverse = Ratio { numerator: denominator.clone(), denominator: numerator << 1 };
        let law = Binned::new(Shape::Gaussian, half_inverse, root(variance))?;
        Ok(Self { law })
    }

    /// One draw.
    #[inline]
    pub fn draw<E: Entropy + ?Sized>(&self, entropy: &mut E) -> i64 {
        self.law.draw(entropy)
    }

    /// Fills a slice with independent draws.
    pub fn fill<E: Entropy + ?Sized>(&self, draws: &mut [i64], entropy: &mut E) {
        self.law.fill(draws, entropy);
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
    /// It is discrete Laplace noise around the nearest integer, of nearly the same width t, kept
    /// with the ratio of the two laws. With f what is left of the centre and s the sign of the
    /// noise y, that is `exp(-E)`, `E = (|y| - s f - variance/t)²/(2 variance) + (|f| - s f)/t`,
    /// less the smallest E there is where the law is narrow.
    ///
    /// # Errors
    /// The variance is too large.
    pub fn once_around<E: Entropy + ?Sized>(
        centre: &Centre,
        variance: &Ratio,
        entropy: &mut E,
    ) -> Result<i64, ScaleError> {
        shift(root(variance))?;
        let proposals = Proposals::new(centre, variance)?;
        loop {
            let noise = DiscreteLaplace::once(&proposals.scale, entropy)?;
            let coin = proposals.coin(noise);
            if coin.flip(entropy, || proposals.exponent(noise)) {
                return Ok(centre.integer.saturating_add(noise));
            }
        }
    }
}

/// Laplace proposals for Gaussian noise around a centre (see `once_around`).
struct Proposals<'a> {
    centre: &'a Centre,
    variance: &'a Ratio,
    width: u64,
    scale: Ratio,
    /// The proposal that fits best, where the law is so narrow that none need fit well.
    best: Option<i64>,
}

impl<'a> Proposals<'a> {
    fn new(centre: &'a Centre, variance: &'a Ratio) -> Result<Self, ScaleError> {
        let width = 1u64 << power_below(root(variance))?;
        let scale = Ratio::new(width.into(), 1).expect("a power of two");
        let mut proposals = Self { centre, variance, width, scale, best: None };
        if width == 1 {
            // The variance is below 4, and the best proposal within it and a half of the centre.
            proposals.best = (-6i64..=6).min_by(|&one, &other| {
                proposals.whole_exponent(one).compare(&proposals.whole_exponent(other))
            });
        }
        Ok(proposals)
    }

    /// Whether a proposal leads away from the centre, seen from the integer.
    fn leads_away(&self, noise: i64) -> bool {
        (noise < 0) != self.centre.left_is_negative
    }

    /// The coin that keeps a proposal.
    fn coin(&self, noise: i64) -> Coin {
        let coin = self.whole_coin(noise);
        match self.best.map(|best| self.whole_coin(best)) {
            None => coin,
            Some(best) => Coin {
                about: coin.about - best.about,
                error: coin.error + best.error + (coin.about + best.about) * 1e-15,
            },
        }
    }

    /// The exponent of that coin, exactly.
    fn exponent(&self, noise: i64) -> Ratio {
        let whole = self.whole_exponent(noise);
        self.best
            .map_or_else(|| whole.clone(), |best| whole.minus_or_zero(&self.whole_exponent(best)))
    }

    /// `E`, nearly.
    fn whole_coin(&self, noise: i64) -> Coin {
        let (variance, left) = (self.variance.approximate(), self.centre.left.approximate());
        let (size, width) = (noise.unsigned_abs() as f64, self.width as f64);
        let middle = variance / width;
        let away = self.leads_away(noise);
        let apart = size - (if away { -left } else { left }) - middle;
        let extra = if away { 2.0 * left / width } else { 0.0 };
        let about = apart * apart * 0.5 / variance + extra;
        let error = about * 1e-14 + apart.abs() * (size + 1.0 + middle) * 1e-15 / variance;
        Coin { about, error }
    }

    /// `E`, exactly. With variance n/d, width t and `|f| = p/q`, the square is that of
    /// `(|y| t d q ± p t d - n q)/(t d q)`, over `2n/d`; and `2 p/(q t)` is added where the
    /// proposal leads away.
    fn whole_exponent(&self, noise: i64) -> Ratio {
        let Ratio { numerator: n, denominator: d } = self.variance;
        let Left { numerator: p, denominator: q } = &self.centre.left;
        let (width, away) = (UBig::from(self.width), self.leads_away(noise));
        let size = UBig::from(noise.unsigned_abs()) * &width * d * q;
        let left = p * &width * d;
        let (mut more, mut less) = (size, n * q);
        if away {
            more += left;
        } else {
            less += left;
        }
        let apart = if more > less { more - less } else { less - more };
        let denominator = ((n * d * &width * &width) * (q * q)) << 1;
        let extra = if away { ((p * n * d * &width) * q) << 2 } else { UBig::ZERO };
        Ratio { numerator: &apart * &apart + extra, denominator }
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

    /// The quotient of two integers; none if the second is zero, or the quotient beyond the range
    /// of 64-bit integers.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampler::coin::tests::is_within_its_error;
    use proptest::prelude::*;

    proptest! {
        /// E(y) - E(z) = ((y-f)² - (z-f)²)/(2v) - (|y| - |z|)/t, for any two proposals.
        #[test]
        fn proposals_are_kept_by_the_ratio_of_the_laws(
            log in -20.0f64..40.0,
            numerator in -1000i128..1000,
            denominator in 1u128..500,
            one in -40i64..40,
            other in -40i64..40,
        ) {
            let variance = Ratio::from_f64(log.exp()).unwrap();
            let centre = Centre::new(numerator, denominator).unwrap();
            let proposals = Proposals::new(&centre, &variance).unwrap();
            for noise in [one, other] {
                prop_assert!(is_within_its_error(&proposals.whole_coin(noise), &proposals.whole_exponent(noise)));
                prop_assert!(is_within_its_error(&proposals.coin(noise), &proposals.exponent(noise)));
            }
            // In whole numbers: with f = left/denominator (signed) and variance n/d, times 2 n q²
            // t.
            let left = numerator - i128::from(centre.integer) * i128::try_from(denominator).unwrap();
            let q = IBig::from(denominator);
            let square = |y: i64| {
                let apart = IBig::from(y) * &q - IBig::from(left);
                &apart * &apart
            };
            let (n, d) = (IBig::from(variance.numerator.clone()), IBig::from(variance.denominator.clone()));
            let t = IBig::from(proposals.width);
            let law = (square(one) - square(other)) * &d * &t
                - (IBig::from(one.unsigned_abs()) - IBig::from(other.unsigned_abs())) * IBig::from(2) * &n * &q * &q;
            // Ours, times the same.
            let times = |ratio: Ratio| {
                let scaled = IBig::from(ratio.numerator) * IBig::from(2) * &n * &q * &q * &t;
                (scaled, IBig::from(ratio.denominator))
            };
            let (first, first_below) = times(proposals.exponent(one));
            let (second, second_below) = times(proposals.exponent(other));
            prop_assert_eq!(
                first * &second_below - second * &first_below,
                law * first_below * second_below
            );
        }
    }
}
