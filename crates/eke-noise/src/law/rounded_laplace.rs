//! Laplace noise on the real line, rounded to whole numbers: many draws of one scale.

use dashu_int::UBig;

use crate::number::scale::signed;
use crate::sampler::binned::Binned;
use crate::{Entropy, Ratio, ScaleError};

/// Laplace noise of one scale, to the nearest whole number, prepared for many draws: what an
/// integer with Laplace noise is rounded to, less the integer.
///
/// - Theorem: laplace-rounded (docs/theorems.md)
/// - Proves: the number of whole halves in an exponential number is geometric, and half of it,
///   rounded up, with a sign, is Laplace noise to the nearest whole number
/// - Assumes: independent uniform bits (entropy)
/// - Deviates: halves are drawn as in *bins*, from a table of 64 bits, and from integers where they
///   do not decide
/// - Checked by: `rounded_laplace_noise_of_every_scale_has_its_law`,
///   `rounded_laplace_noise_is_that_of_a_path`
#[derive(Clone, Debug)]
pub struct Laplace {
    halves: Binned,
}

impl Laplace {
    /// Prepares the law of a scale.
    ///
    /// # Errors
    /// The scale is too large.
    pub fn new(scale: &Ratio) -> Result<Self, ScaleError> {
        let rate = scale.times(&UBig::from(2u8)).inverse();
        Ok(Self { halves: Binned::halves(rate, scale.approximate())? })
    }

    /// One draw.
    #[inline]
    pub fn draw<E: Entropy + ?Sized>(&self, entropy: &mut E) -> i64 {
        let (halves, negative) = self.halves.magnitude(entropy);
        signed(halves.div_ceil(2), negative)
    }

    /// Fills a slice with independent draws.
    pub fn fill<E: Entropy + ?Sized>(&self, draws: &mut [i64], entropy: &mut E) {
        for draw in draws {
            *draw = self.draw(entropy);
        }
    }
}
