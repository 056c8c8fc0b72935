//! The discrete Laplace law (two-sided geometric): `P(k)` proportional to `exp(-|k| / scale)`.

use dashu_int::UBig;

use crate::number::scale::{power_below, shift, signed};
use crate::sampler::audit_cells;
use crate::sampler::binned::Binned;
use crate::sampler::coin::bernoulli_exp_neg;
use crate::sampler::table::Shape;
use crate::{Entropy, Ratio, ScaleError};

/// Discrete Laplace noise of one scale, prepared for many draws.
///
/// - Theorem: bins (docs/theorems.md)
/// - Proves: a bin with the weight of its lower end and a uniform place in it, kept with the ratio
///   of the weights there and at the lower end, have exactly the law
/// - Assumes: independent uniform bits (entropy)
/// - Deviates: the bin comes from a table of 64 bits, and from integers where they do not decide
/// - Checked by: `the_table_is_the_closed_form_to_the_last_bit`,
///   `laplace_noise_of_every_scale_has_its_law`, `places_within_a_bin_have_their_law`
///
/// Magnitudes are drawn as a bin, from a table, and a place in it, uniform and then kept with
/// probability `exp(-place / scale)`.
#[derive(Clone, Debug)]
pub struct DiscreteLaplace {
    law: Binned,
}

impl DiscreteLaplace {
    /// Prepares the law of a scale.
    ///
    /// # Errors
    /// The scale is too large.
    pub fn new(scale: &Ratio) -> Result<Self, ScaleError> {
        let law = Binned::new(Shape::Geometric, scale.inverse(), scale.approximate())?;
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

    /// One draw of a scale that is not drawn from again, without preparing it.
    ///
    /// # Errors
    /// The scale is too large.
    pub fn once<E: Entropy + ?Sized>(scale: &Ratio, entropy: &mut E) -> Result<i64, ScaleError> {
        shift(scale.approximate())?;
        let rate = scale.inverse();
        loop {
            let magnitude = geometric(&rate, entropy)?;
            let negative = audit_cells::word(entropy, audit_cells::last_bit) & 1 == 1;
            if magnitude != 0 || !negative {
                return Ok(signed(magnitude, negative));
            }
        }
    }
}

/// One draw of the geometric law, `P(k)` proportional to `exp(-rate k)`: a place below the largest
/// power of two within `1/rate`, kept as in a bin, and how many bins of that width go before it.
pub(crate) fn geometric<E: Entropy + ?Sized>(
    rate: &Ratio,
    entropy: &mut E,
) -> Result<u128, ScaleError> {
    let shift = power_below(1.0 / rate.approximate())?;
    let bin_rate = rate.times(&(UBig::ONE << shift as usize));
    let place = loop {
        let place = match shift {
            0 => 0,
            _ => audit_cells::word(entropy, || audit_cells::leading(shift)) >> (64 - shift),
        };
        if place == 0 || bernoulli_exp_neg(&rate.times(&place.into()), entropy) {
            break place;
        }
    };
    let mut bins: u128 = 0;
    while bernoulli_exp_neg(&bin_rate, entropy) {
        bins += 1;
    }
    Ok((bins << shift) + u128::from(place))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::fixed::Fixed;

    /// In closed form, magnitudes up to j have probability `1 - 2 p^(j+1)/(1+p)`, p =
    /// exp(-1/scale).
    #[test]
    fn the_table_is_the_closed_form_to_the_last_bit() {
        for (numerator, denominator) in [(1, 10), (1, 1), (7, 3), (31, 1), (63, 2)] {
            let scale = Ratio::new(numerator, denominator).unwrap();
            let law = DiscreteLaplace::new(&scale).unwrap();
            let rate = scale.inverse();
            let one = UBig::ONE << 256;
            let p = Fixed::exp_neg(&rate, 256);
            for (outcome, &threshold) in (1u64..).zip(law.law.table().thresholds()) {
                let power = Fixed::exp_neg(&rate.times(&outcome.into()), 256);
                let low = (&one << 64) - (&power.hi << 65) * &one / (&one + &p.lo) - UBig::ONE;
                let high = (&one << 64) - (&power.lo << 65) * &one / (&one + &p.hi);
                assert_eq!(UBig::from(threshold), low >> 256, "{scale:?} {outcome}");
                assert_eq!(UBig::from(threshold), (high >> 256).min(u64::MAX.into()));
            }
        }
    }
}
