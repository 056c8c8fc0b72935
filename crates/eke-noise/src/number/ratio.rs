//! Positive rational numbers, exact.

use std::cmp::Ordering;
use std::fmt;

use dashu_int::UBig;
use dashu_int::ops::BitTest;

/// A positive rational number: what scales, variances and rates are given in, so that a sampler's
/// law is exactly the one that was priced.
#[derive(Clone, PartialEq, Eq)]
pub struct Ratio {
    pub(crate) numerator: UBig,
    pub(crate) denominator: UBig,
}

impl Ratio {
    /// The quotient of two integers; none if either is zero.
    #[must_use]
    pub fn new(numerator: u128, denominator: u128) -> Option<Self> {
        let ratio = Self { numerator: numerator.into(), denominator: denominator.into() };
        (numerator != 0 && denominator != 0).then_some(ratio)
    }

    /// The exact value of a double; none if it is not a positive number.
    #[must_use]
    pub fn from_f64(value: f64) -> Option<Self> {
        if !(value.is_finite() && value > 0.0) {
            return None;
        }
        let bits = value.to_bits();
        let (biased, fraction) = (bits >> 52, bits & ((1 << 52) - 1));
        let (mantissa, exponent) =
            if biased == 0 { (fraction, -1074) } else { (fraction | (1 << 52), exponent(biased)) };
        let (mut numerator, mut denominator) = (UBig::from(mantissa), UBig::ONE);
        if exponent >= 0 {
            numerator <<= exponent.unsigned_abs() as usize;
        } else {
            denominator <<= exponent.unsigned_abs() as usize;
        }
        Some(Self { numerator, denominator })
    }

    /// A double within a relative error of 2⁻⁵⁰, zero or infinite beyond the range of doubles.
    pub(crate) fn approximate(&self) -> f64 {
        let (numerator, up) = leading(&self.numerator);
        let (denominator, down) = leading(&self.denominator);
        libm::ldexp(numerator / denominator, up - down)
    }

    pub(crate) fn plus(&self, other: &Self) -> Self {
        let [ours, theirs, denominator] = self.with_common_denominator(other);
        Self { numerator: ours + theirs, denominator }
    }

    /// The difference, or zero where it would be negative. (The only ratio that may be zero.)
    pub(crate) fn minus_or_zero(&self, other: &Self) -> Self {
        self.minus(other).unwrap_or(Self { numerator: UBig::ZERO, denominator: UBig::ONE })
    }

    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        let [ours, theirs, _] = self.with_common_denominator(other);
        ours.cmp(&theirs)
    }

    /// The difference; none unless it is positive.
    pub(crate) fn minus(&self, other: &Self) -> Option<Self> {
        let [ours, theirs, denominator] = self.with_common_denominator(other);
        (ours > theirs).then(|| Self { numerator: ours - theirs, denominator })
    }

    fn with_common_denominator(&self, other: &Self) -> [UBig; 3] {
        [
            &self.numerator * &other.denominator,
            &other.numerator * &self.denominator,
            &self.denominator * &other.denominator,
        ]
    }

    pub(crate) fn over(&self, other: &Self) -> Self {
        Self {
            numerator: &self.numerator * &other.denominator,
            denominator: &self.denominator * &other.numerator,
        }
    }

    pub(crate) fn by(&self, other: &Self) -> Self {
        self.over(&other.inverse())
    }

    pub(crate) fn squared(&self) -> Self {
        self.by(self)
    }

    /// A double whose square is not above this, and hardly below it; none where doubles cannot say.
    pub(crate) fn root_below(&self) -> Option<Self> {
        let about = self.approximate();
        let mut root = if about.is_normal() { about.sqrt() } else { return None };
        // Two or three steps, for what the root and the approximation round.
        for _ in 0..16 {
            let ratio = Self::from_f64(root)?;
            if ratio.squared().compare(self).is_le() {
                return Some(ratio);
            }
            root = root.next_down();
        }
        None
    }

    pub(crate) fn plus_whole(&self, whole: u128) -> Self {
        let numerator = &self.numerator + &self.denominator * UBig::from(whole);
        Self { numerator, denominator: self.denominator.clone() }
    }

    /// Whether it is below a whole number.
    pub(crate) fn is_below(&self, whole: u128) -> bool {
        self.numerator < &self.denominator * UBig::from(whole)
    }

    pub(crate) fn inverse(&self) -> Self {
        Self { numerator: self.denominator.clone(), denominator: self.numerator.clone() }
    }

    pub(crate) fn times(&self, factor: &UBig) -> Self {
        Self { numerator: &self.numerator * factor, denominator: self.denominator.clone() }
    }
}

fn exponent(biased: u64) -> i32 {
    i32::try_from(biased).expect("11 bits") - 1075
}

/// The leading 64 bits of an integer as a double, and what power of two they are to be multiplied
/// by.
fn leading(value: &UBig) -> (f64, i32) {
    let shift = value.bit_len().saturating_sub(64);
    let top = u64::try_from(value >> shift).expect("64 bits");
    (top as f64, i32::try_from(shift).unwrap_or(i32::MAX / 4))
}

impl fmt::Debug for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.numerator, self.denominator)
    }
}
