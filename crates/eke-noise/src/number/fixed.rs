//! Fixed-point numbers that enclose the truth, in as many bits as are needed.
//!
//! Everything is integer arithmetic: lower ends round down, upper ends up.

use std::ops::{Add, Div, Mul, Sub};

use dashu_int::UBig;

use crate::Ratio;

/// A number between 0 and a few, known to lie between `lo` and `hi` units of 2^-bits.
#[derive(Clone, Debug)]
pub(crate) struct Fixed {
    pub(crate) lo: UBig,
    pub(crate) hi: UBig,
    pub(crate) bits: usize,
}

impl Fixed {
    pub(crate) fn one(bits: usize) -> Self {
        let one = UBig::ONE << bits;
        Self { lo: one.clone(), hi: one, bits }
    }

    pub(crate) fn zero(bits: usize) -> Self {
        Self { lo: UBig::ZERO, hi: UBig::ZERO, bits }
    }

    /// `exp(-x)`, by the alternating series of `exp(-x / 2^k)` and k squarings.
    pub(crate) fn exp_neg(x: &Ratio, bits: usize) -> Self {
        // exp(-x) < 2^-bits for x >= bits, so it is less than one unit.
        if x.numerator >= &x.denominator * UBig::from(bits) {
            return Self { lo: UBig::ZERO, hi: UBig::ONE, bits };
        }
        // x < bits, so this many halvings bring it below one half.
        let halvings = bits.ilog2() as usize + 2;
        // Every squaring may double the error; the rest is for the terms of the series.
        let guarded = bits + halvings + 32;
        let scaled = &x.numerator << (guarded - halvings.min(guarded));
        let y = Self {
            lo: &scaled / &x.denominator,
            hi: &scaled / &x.denominator + UBig::ONE,
            bits: guarded,
        };
        let mut term = Self::one(guarded);
        let (mut positive, mut negative) = (Self::one(guarded), Self::zero(guarded));
        for step in 1u32.. {
            term = (&term * &y).divided_by(step);
            if step % 2 == 0 {
                positive = &positive + &term;
            } else {
                negative = &negative + &term;
            }
            if term.hi <= UBig::ONE {
                break;
            }
        }
        // The terms fall, so what is left out is less than the last one.
        let mut power = Self {
            lo: (&positive.lo - &negative.hi) - UBig::ONE,
            hi: (&positive.hi - &negative.lo) + UBig::ONE,
            bits: guarded,
        };
        for _ in 0..halvings {
            power = &power * &power;
        }
        let cut = guarded - bits;
        Self { lo: &power.lo >> cut, hi: (&power.hi >> cut) + UBig::ONE, bits }
    }

    fn divided_by(self, divisor: u32) -> Self {
        let divisor = UBig::from(divisor);
        Self { lo: &self.lo / &divisor, hi: &self.hi / &divisor + UBig::ONE, bits: self.bits }
    }

    /// What is left of one.
    pub(crate) fn complement(&self) -> Self {
        &Self::one(self.bits) - self
    }

    pub(crate) fn doubled(&self) -> Self {
        Self { lo: &self.lo << 1, hi: &self.hi << 1, bits: self.bits }
    }
}

impl Mul for &Fixed {
    type Output = Fixed;

    fn mul(self, other: Self) -> Fixed {
        debug_assert_eq!(self.bits, other.bits);
        Fixed {
            lo: (&self.lo * &other.lo) >> self.bits,
            hi: ((&self.hi * &other.hi) >> self.bits) + UBig::ONE,
            bits: self.bits,
        }
    }
}

/// By a number that is surely positive; where it is not, nothing is known.
impl Div for &Fixed {
    type Output = Fixed;

    fn div(self, other: Self) -> Fixed {
        debug_assert_eq!(self.bits, other.bits);
        if other.lo.is_zero() {
            // Every quotient that is asked for is at most one.
            return Fixed { lo: UBig::ZERO, hi: UBig::ONE << self.bits, bits: self.bits };
        }
        Fixed {
            lo: (&self.lo << self.bits) / &other.hi,
            hi: (&self.hi << self.bits) / &other.lo + UBig::ONE,
            bits: self.bits,
        }
    }
}

/// A difference that is known not to be negative.
impl Sub for &Fixed {
    type Output = Fixed;

    fn sub(self, other: Self) -> Fixed {
        debug_assert_eq!(self.bits, other.bits);
        let less = |a: &UBig, b: &UBig| if a > b { a - b } else { UBig::ZERO };
        Fixed { lo: less(&self.lo, &other.hi), hi: less(&self.hi, &other.lo), bits: self.bits }
    }
}

impl Add for &Fixed {
    type Output = Fixed;

    fn add(self, other: Self) -> Fixed {
        debug_assert_eq!(self.bits, other.bits);
        Fixed { lo: &self.lo + &other.lo, hi: &self.hi + &other.hi, bits: self.bits }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The first 40 digits of exp(-x), from tables.
    #[test]
    fn exponentials_enclose_their_tabulated_values() {
        for (numerator, denominator, digits) in [
            (1, 1, "0.3678794411714423215955237701614608674458"),
            (1, 3, "0.7165313105737892504256040969253796674531"),
            (10, 1, "0.0000453999297624848515355915155605506102"),
            (1, 1_000_000, "0.9999990000004999998333333749999916666680"),
        ] {
            let fixed = Fixed::exp_neg(&Ratio::new(numerator, denominator).unwrap(), 128);
            let decimals = digits.len() - 2;
            let truth =
                UBig::from_str_radix(digits.replace('.', "").trim_start_matches('0'), 10).unwrap();
            let scale = UBig::from(10u8).pow(decimals);
            // The table is cut off, so the truth is between it and one more in its last place.
            assert!(&fixed.lo * &scale <= (&truth + UBig::ONE) << 128);
            assert!(&fixed.hi * &scale >= truth << 128);
            assert!(&fixed.hi - &fixed.lo <= UBig::from(4u8));
        }
    }

    proptest! {
        #[test]
        fn exponentials_are_narrow_and_agree_at_every_width(
            numerator in 1u128..1_000_000_000,
            denominator in 1u128..1_000_000_000,
            bits in 64usize..400,
        ) {
            let x = Ratio::new(numerator, denominator).unwrap();
            let (short, long) = (Fixed::exp_neg(&x, bits), Fixed::exp_neg(&x, bits + 100));
            prop_assert!(&short.hi - &short.lo <= UBig::from(4u8));
            // The long one is as good as the truth, and lies strictly within the short one.
            prop_assert!(&short.lo << 100 <= long.lo && long.hi <= &short.hi << 100);
            let (square, long_square) = (&short * &short, &long * &long);
            prop_assert!(&square.lo << 100 <= long_square.lo && long_square.hi <= &square.hi << 100);
            let double = libm::exp(-x.approximate());
            let ours = Ratio { numerator: long.hi, denominator: UBig::ONE << (bits + 100) };
            prop_assert!((ours.approximate() - double).abs() <= 1e-14 + double * 1e-12);
        }

        /// exp(-x) exp(-y) = exp(-(x + y)).
        #[test]
        fn exponentials_of_sums_are_products(x in 1u128..5000, y in 1u128..5000) {
            let of = |n| Fixed::exp_neg(&Ratio::new(n, 1000).unwrap(), 200);
            let (product, sum) = (&of(x) * &of(y), of(x + y));
            prop_assert!(product.lo <= sum.hi && sum.lo <= product.hi);
        }
    }
}
