//! How wide a law may be, and how it is cut into bins.

use crate::Ratio;

/// A law too wide to be drawn in 64-bit integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the noise is too wide: its scale may be at most 2^55")]
pub struct ScaleError;

/// Scales from which on outcomes are drawn in bins, and the narrowest a law is in bins: wide enough
/// that a bin is nearly flat, narrow enough that its table is small.
const NARROWEST: f64 = 16.0;
const WIDEST_SHIFT: u32 = 55;

/// How many low bits of an outcome are drawn apart from its bin, for a law of about this scale.
pub(crate) fn shift(scale: f64) -> Result<u32, ScaleError> {
    if scale < 2.0 * NARROWEST {
        return Ok(0);
    }
    let shift = (scale / NARROWEST).log2().floor();
    if shift >= f64::from(WIDEST_SHIFT - 3) {
        return Err(ScaleError);
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and 52")]
    Ok(shift as u32)
}

/// The largest power of two that is not above a scale, and 1 below that; its logarithm.
pub(crate) fn power_below(scale: f64) -> Result<u32, ScaleError> {
    let log = scale.log2().floor().max(0.0);
    if log > f64::from(WIDEST_SHIFT) {
        return Err(ScaleError);
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 55")]
    Ok(log as u32)
}

/// A word taken apart: a sign, a place in a bin of so many bits, and where there is room for them, 32
/// bits more.
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
/// it concerns the noise alone, and has a probability below 2^-1000000.
pub(crate) fn signed(magnitude: u128, negative: bool) -> i64 {
    let magnitude = i64::try_from(magnitude).unwrap_or(i64::MAX);
    if negative { -magnitude } else { magnitude }
}
