//! Numbers known to lie between two doubles.
//!
//! Every operation rounds outwards, so the true result of a formula lies inside the enclosure that
//! the same formula computes. Sums, products, quotients and roots are correctly rounded in IEEE 754
//! and move out by one step; `libm`'s logarithms and exponentials are within two steps of the truth
//! (`elementary_functions_stay_within_two_steps` holds them against 200-bit arithmetic) and move
//! out by two.

use std::ops::{Add, Div, Mul, Neg, Sub};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Enclosure {
    lo: f64,
    hi: f64,
}

impl Enclosure {
    pub(crate) const fn exact(value: f64) -> Self {
        Self { lo: value, hi: value }
    }

    /// A number that somebody wrote: the double nearest to it, and the decimal that reads as it.
    pub(crate) fn written(value: f64) -> Self {
        Self { lo: value.next_down(), hi: value.next_up() }
    }

    /// A double that is above the true value, and stays so when it is read as its shortest decimal.
    pub(crate) fn upper(self) -> f64 {
        if self.hi.is_nan() { f64::INFINITY } else { self.hi.next_up() }
    }

    /// A double that is below the true value, and stays so when it is read as its shortest decimal.
    pub(crate) fn lower(self) -> f64 {
        if self.lo.is_nan() { f64::NEG_INFINITY } else { self.lo.next_down() }
    }

    pub(crate) fn max(self, other: Self) -> Self {
        // Not `f64::max`, which would take the number beside a NaN for the answer.
        let larger = |a: f64, b: f64| if a < b { b } else { a };
        Self { lo: larger(self.lo, other.lo), hi: larger(self.hi, other.hi) }
    }

    /// What is left of a value known not to be negative.
    pub(crate) fn not_negative(self) -> Self {
        self.max(Self::exact(0.0))
    }

    pub(crate) fn square(self) -> Self {
        let root = if self.lo >= 0.0 {
            self
        } else if self.hi <= 0.0 {
            -self
        } else {
            Self { lo: 0.0, hi: self.hi.max(-self.lo) }
        };
        let Self { lo, hi } = root * root;
        Self { lo: lo.max(0.0), hi }
    }

    /// Of a value that is not negative.
    pub(crate) fn sqrt(self) -> Self {
        debug_assert!(self.lo >= 0.0);
        Self { lo: self.lo.sqrt().next_down().max(0.0), hi: self.hi.sqrt().next_up() }
    }

    /// Of a positive value.
    pub(crate) fn ln(self) -> Self {
        debug_assert!(self.lo > 0.0);
        self.increasing(libm::log)
    }

    /// `ln(1 + x)` of a value above -1.
    pub(crate) fn ln_1p(self) -> Self {
        debug_assert!(self.lo > -1.0);
        self.increasing(libm::log1p)
    }

    pub(crate) fn exp(self) -> Self {
        let Self { lo, hi } = self.increasing(libm::exp);
        Self { lo: lo.max(0.0), hi }
    }

    pub(crate) fn exp_m1(self) -> Self {
        let Self { lo, hi } = self.increasing(libm::expm1);
        Self { lo: lo.max(-1.0), hi }
    }

    /// `ln(1 + 1/x)` of a positive value, without losing small or large ones.
    pub(crate) fn ln_1p_recip(self) -> Self {
        (Self::exact(1.0) / self).ln_1p()
    }

    fn increasing(self, function: fn(f64) -> f64) -> Self {
        Self { lo: down_two(function(self.lo)), hi: up_two(function(self.hi)) }
    }
}

fn up_two(value: f64) -> f64 {
    value.next_up().next_up()
}

fn down_two(value: f64) -> f64 {
    value.next_down().next_down()
}

impl Add for Enclosure {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { lo: (self.lo + other.lo).next_down(), hi: (self.hi + other.hi).next_up() }
    }
}

impl Neg for Enclosure {
    type Output = Self;

    fn neg(self) -> Self {
        Self { lo: -self.hi, hi: -self.lo }
    }
}

impl Sub for Enclosure {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Enclosure {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        hull([self.lo * other.lo, self.lo * other.hi, self.hi * other.lo, self.hi * other.hi])
    }
}

impl Div for Enclosure {
    type Output = Self;

    /// By a value whose enclosure does not contain zero.
    fn div(self, other: Self) -> Self {
        debug_assert!(other.lo > 0.0 || other.hi < 0.0);
        hull([self.lo / other.lo, self.lo / other.hi, self.hi / other.lo, self.hi / other.hi])
    }
}

/// Everything between four corners; everything at all where one of them is not a number.
fn hull(corners: [f64; 4]) -> Enclosure {
    if corners.iter().any(|corner| corner.is_nan()) {
        return Enclosure { lo: f64::NEG_INFINITY, hi: f64::INFINITY };
    }
    Enclosure {
        lo: corners.into_iter().fold(f64::INFINITY, f64::min).next_down(),
        hi: corners.into_iter().fold(f64::NEG_INFINITY, f64::max).next_up(),
    }
}

/// The largest positive double at which `holds` is true, by bisection over all doubles between the
/// two bounds. `holds` must be true up to some point and false after it; the result is a double at
/// which it was seen to be true, or `low` where it was never.
pub(crate) fn largest(low: f64, high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    debug_assert!(0.0 < low && low <= high);
    if holds(high) {
        return high;
    }
    // Positive doubles are ordered like their bits.
    let (mut low, mut high) = (low.to_bits(), high.to_bits());
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(f64::from_bits(middle)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::from_bits(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dashu_float::{FBig, round::mode::HalfEven};
    use proptest::prelude::*;

    type Wide = FBig<HalfEven, 2>;

    fn wide(value: f64) -> Wide {
        Wide::try_from(value).unwrap().with_precision(200).value()
    }

    /// The distance between a computed double and the truth, in steps of the double.
    fn steps(computed: f64, truth: &Wide) -> f64 {
        let step = computed.abs().next_up() - computed.abs();
        let off = (wide(computed) - truth) / wide(step);
        off.to_f64().value().abs()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2500))]

        #[test]
        fn elementary_functions_stay_within_two_steps(
            mantissa in 1.0f64..10.0,
            exponent in -300i32..300,
            power in -700.0f64..700.0,
            small in -16i32..2,
        ) {
            let positive = mantissa * 10f64.powi(exponent);
            prop_assert!(steps(libm::log(positive), &wide(positive).ln()) < 2.0);
            prop_assert!(steps(libm::log1p(positive), &wide(positive).ln_1p()) < 2.0);
            prop_assert!(steps(libm::exp(power), &wide(power).exp()) < 2.0);
            let near = mantissa * 10f64.powi(small);
            for value in [near, -near] {
                prop_assert!(steps(libm::expm1(value), &wide(value).exp_m1()) < 2.0);
            }
            if near < 1.0 {
                prop_assert!(steps(libm::log1p(-near), &wide(-near).ln_1p()) < 2.0);
            }
        }

        #[test]
        fn arithmetic_encloses_the_truth(a in -1e6f64..1e6, b in -1e6f64..1e6) {
            let (x, y) = (Enclosure::exact(a), Enclosure::exact(b));
            let holds = |e: Enclosure, truth: Wide| wide(e.lo) < truth && truth < wide(e.hi);
            prop_assert!(holds(x + y, wide(a) + wide(b)));
            prop_assert!(holds(x - y, wide(a) - wide(b)));
            prop_assert!(holds(x * y, wide(a) * wide(b)));
            prop_assert!(b == 0.0 || holds(x / y, wide(a) / wide(b)));
            prop_assert!(holds(x.square(), wide(a) * wide(a)));
        }
    }

    #[test]
    fn what_is_not_a_number_is_enclosed_by_everything() {
        let infinite = Enclosure::exact(f64::INFINITY);
        let nothing = infinite * Enclosure::exact(0.0);
        assert_eq!((nothing.lower(), nothing.upper()), (f64::NEG_INFINITY, f64::INFINITY));
        let difference = infinite - infinite;
        assert_eq!((difference.lower(), difference.upper()), (f64::NEG_INFINITY, f64::INFINITY));
        assert!(difference.not_negative().upper().is_infinite());
    }

    #[test]
    fn the_largest_is_the_last_at_which_it_holds() {
        let half_of_two = largest(1e-300, 1e300, |x| x * x <= 2.0);
        assert!(half_of_two * half_of_two <= 2.0);
        assert!(half_of_two.next_up() * half_of_two.next_up() > 2.0);
    }
}
