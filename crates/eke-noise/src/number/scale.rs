//! How wide a law may be, and how it is cut into bins.

use crate::Ratio;

/// A law too wide to be drawn in 64-bit integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the noise is too wide: its scale must be below 2^43")]
pub struct ScaleError;

/// Scales from which on outcomes are drawn in bins, and the narrowest a law is in bins: wide enough
/// that a bin is nearly flat, narrow enough that its table is small.
const NARROWEST: f64 = 16.0;
/// Noise of this scale is beyond 64-bit integers with probability `exp(-2^63/2^43)`, below
/// 2^-1500000.
const WIDEST: f64 = 8_796_093_022_208.0;

/// How many low bits of an outcome are drawn apart from its bin, for a law of about this scale.
pub(crate) fn shift(scale: f64) -> Result<u32, ScaleError> {
    if scale < 2.0 * NARROWEST {
        return Ok(0);
    }
    if scale.is_nan() || scale >= WIDEST {
        return Err(ScaleError);
    }
    let shift = (scale / NARROWEST).log2().floor();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and 39")]
    Ok(shift as u32)
}

/// The largest power of two that is not above a scale, and 1 below that; its logarithm. It is at
/// most 63, so that a place below it fits a word.
pub(crate) fn power_below(scale: f64) -> Result<u32, ScaleError> {
    let log = scale.log2().floor().max(0.0);
    if log > 63.0 || log.is_nan() {
        return Err(ScaleError);
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 63")]
    Ok(log as u32)
}

/// A word taken apart: a sign, a place in a bin of `shift` bits, and, where there is room for them,
/// 32 bits more.
#[inline]
pub(crate) fn apart(word: u64, shift: u32) -> (bool, u64, Option<u32>) {
    let rest = u32::try_from((word >> 31) & u64::from(u32::MAX)).unwrap_or(0);
    (word >> 63 == 1, word & ((1 << shift) - 1), (shift <= 31).then_some(rest))
}

/// The square root of a ratio, nearly.
pub(crate) fn root(variance: &Ratio) -> f64 {
    variance.approximate().sqrt()
}

/// A magnitude with a sign. Magnitudes beyond the range saturate, which depends on nothing private:
/// it concerns the noise alone, and has a probability below 2^-1500000 (see `WIDEST`).
#[inline]
pub(crate) fn signed(magnitude: u128, negative: bool) -> i64 {
    let magnitude = i64::try_from(magnitude).unwrap_or(i64::MAX);
    if negative { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every bit of a word goes to one part at most, and every part has all its bits.
    #[test]
    fn the_parts_of_a_word_do_not_overlap() {
        for shift in 1..=39 {
            let (mut places, mut rests, mut signs) = (0, 0, 0);
            let whole = apart(0, shift);
            for bit in 0..64 {
                let parts = apart(1 << bit, shift);
                let (sign, place, rest) =
                    (parts.0 != whole.0, parts.1 != whole.1, parts.2 != whole.2);
                assert!(u8::from(sign) + u8::from(place) + u8::from(rest) <= 1, "{shift} {bit}");
                signs += u32::from(sign);
                places += u32::from(place);
                rests += u32::from(rest);
            }
            assert_eq!((signs, places, rests), (1, shift, if shift <= 31 { 32 } else { 0 }));
        }
    }
}
