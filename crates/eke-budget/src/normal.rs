//! The standard normal distribution, also far out in its tails.
//!
//! Prices of selection with Gaussian noise are logarithms of probabilities that no double holds,
//! raised to powers of a million, and differences of them that cancel. So everything here is a
//! logarithm or a ratio, and a difference is computed as what it is: the integral of a slope.
//! Values are within a few units in the last place ([`ULPS`]) of the function at the double that
//! was given (`the_normal_distribution_is_within_its_ulps` holds them against wide arithmetic).

/// How far any value here may be from the truth, in units of 2⁻⁵³ of it.
pub const ULPS: f64 = 16.0;

/// The distribution function at one place: its logarithm and what it takes to move on from there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cdf {
    at: f64,
    ln: f64,
    hazard: f64,
}

impl Cdf {
    /// The distribution function at x.
    #[must_use]
    pub fn at(x: f64) -> Self {
        if x < 0.0 {
            let mills = mills(-x);
            let ln = -x * x / 2.0 - LN_SQRT_TWO_PI + libm::log(mills);
            Self { at: x, ln, hazard: 1.0 / mills }
        } else {
            let tail = upper_tail(x);
            Self { at: x, ln: libm::log1p(-tail), hazard: density(x) / (1.0 - tail) }
        }
    }

    /// `ln Phi(x)`.
    #[must_use]
    pub fn ln(self) -> f64 {
        self.ln
    }

    /// The slope of that, `phi(x)/Phi(x)`: falling, convex, and above `-x`.
    #[must_use]
    pub fn hazard(self) -> f64 {
        self.hazard
    }

    /// `ln Phi(x + step) - ln Phi(x)` for a step that is not negative, without cancellation.
    #[must_use]
    pub fn ln_rise(self, step: f64) -> f64 {
        let Self { at, ln, hazard } = self;
        debug_assert!(step >= 0.0);
        if step <= 1.0 && at.abs() * step <= 1.0 {
            return libm::log1p(hazard * fall_integral(at, step));
        }
        let end = at + step;
        if end <= 0.0 {
            // Both are sums of positive terms.
            step * (-at - step / 2.0) + libm::log(mills(-end) * hazard)
        } else if at < 0.0 {
            Self::at(end).ln - ln
        } else {
            let tail = upper_tail(at);
            libm::log1p((tail - upper_tail(end)) / (1.0 - tail))
        }
    }
}

/// The Mills ratio `Phi(-x)/phi(x)`: falling, from infinity far below zero to about `1/x`.
#[must_use]
pub fn mills(x: f64) -> f64 {
    if x >= ASYMPTOTIC {
        return (1.0 - mills_slope(x)) / x;
    }
    // sqrt(pi/2) exp(z²) erfc(z) at z = x/sqrt(2), with the rounding of z² put back.
    let z = x / std::f64::consts::SQRT_2;
    let (square, lost) = squared(z);
    SQRT_HALF_PI * libm::exp(square) * (1.0 + lost) * libm::erfc(z)
}

/// `1 - x M(x) = 1/x² - 3/x⁴ + 15/x⁶ - …`, M being the Mills ratio, from [`ASYMPTOTIC`] on, where
/// the terms fall below rounding before they grow.
pub(crate) fn mills_slope(x: f64) -> f64 {
    let step = 1.0 / (x * x);
    let (mut sum, mut term, mut odd) = (0.0, step, 3.0);
    while term.abs() > f64::EPSILON * step / 8.0 {
        sum += term;
        term *= -odd * step;
        odd += 2.0;
    }
    sum
}

pub(crate) const ASYMPTOTIC: f64 = 30.0;
pub(crate) const LN_SQRT_TWO_PI: f64 = 0.918_938_533_204_672_7;
const SQRT_HALF_PI: f64 = 1.253_314_137_315_500_3;
const INV_SQRT_TWO_PI: f64 = 0.398_942_280_401_432_7;

/// A square in two parts: a double, and what rounding lost.
fn squared(z: f64) -> (f64, f64) {
    let square = z * z;
    // The upper half of the bits of z, whose square is exact.
    let upper = f64::from_bits(z.to_bits() & !0x7ff_ffff);
    let lower = z - upper;
    (square, (upper * upper - square) + 2.0 * upper * lower + lower * lower)
}

fn density(x: f64) -> f64 {
    if x > 40.0 {
        return 0.0;
    }
    let (square, lost) = squared(x);
    INV_SQRT_TWO_PI * libm::exp(-square / 2.0) * (1.0 - lost / 2.0)
}

/// `Phi(-x)` for x of at least zero.
fn upper_tail(x: f64) -> f64 {
    0.5 * libm::erfc(x / std::f64::consts::SQRT_2)
}

/// The integral of `exp(-x s - s²/2)` for s from 0 to a step of at most 1 and `1/|x|`, by its
/// Taylor series: the derivative of the integrand is itself times `-(x + s)`.
fn fall_integral(x: f64, step: f64) -> f64 {
    let (mut before, mut term, mut sum, mut count) = (0.0, step, step, 1.0);
    // The term of s^k/k!, times the step: each needs the two before it.
    loop {
        let next = -step * (x * term + step * before) / count;
        (before, term) = (term, next);
        count += 1.0;
        let part = term / count;
        sum += part;
        // Where x is zero every other term is.
        if part.abs().max(before.abs() / count) <= 1e-18 * sum {
            return sum;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dashu_float::{FBig, round::mode::HalfEven};
    use proptest::prelude::*;

    type Wide = FBig<HalfEven, 2>;
    const BITS: usize = 3200;

    fn wide(value: f64) -> Wide {
        Wide::try_from(value).unwrap().with_precision(BITS).value()
    }

    fn wide_density(x: &Wide) -> Wide {
        let two_pi = Wide::pi(BITS) * wide(2.0);
        (-(x * x) / wide(2.0)).exp() / two_pi.sqrt()
    }

    /// `1/2 + phi(x) (x + x³/3 + x⁵/15 + …)` for moderate x, the asymptotic series far out.
    fn wide_cdf(x: &Wide) -> Wide {
        let at = x.to_f64().value();
        let square = x * x;
        if at < -60.0 {
            // Terms fall until there are x²/2 of them, to exp(-x²/2): below exp(-1800).
            let (mut sum, mut term) = (wide(0.0), wide(1.0));
            for k in 0..400 {
                sum += &term;
                term = -term * wide(f64::from(2 * k + 1)) / &square;
            }
            return wide_density(x) * sum / -x;
        }
        let (mut sum, mut term, mut odd) = (x.clone(), x.clone(), 1.0);
        let least = wide(2.0).powi((-3000_i32).into());
        while odd < 1e5 {
            odd += 2.0;
            term = term * &square / wide(odd);
            sum += &term;
            if term < least && -&term < least {
                break;
            }
        }
        wide(0.5) + wide_density(x) * sum
    }

    /// How far a double is from the truth, in units of 2⁻⁵³ of the truth.
    fn ulps(computed: f64, truth: &Wide) -> f64 {
        if truth.to_f64().value() == 0.0 {
            return if computed == 0.0 { 0.0 } else { f64::INFINITY };
        }
        let off = (wide(computed) - truth) / truth;
        (off.to_f64().value() / f64::EPSILON * 2.0).abs()
    }

    fn check(x: f64, step: f64) {
        let cdf = Cdf::at(x);
        let truth = wide_cdf(&wide(x));
        let worst = ulps(cdf.ln(), &truth.ln());
        // What is below the least normal double is as good as nothing.
        let steep =
            if x > 37.0 { 0.0 } else { ulps(cdf.hazard(), &(wide_density(&wide(x)) / &truth)) };
        let rise = (wide_cdf(&(wide(x) + wide(step))) / &truth).ln();
        let rise = if x > 37.0 { 0.0 } else { ulps(cdf.ln_rise(step), &rise) };
        // Tails of large x are as sensitive to rounding inside as x² says.
        let limit = ULPS + 2.0 * x.max(0.0).powi(2);
        assert!(
            worst <= limit && steep <= limit && rise <= limit,
            "{x} {step}: {worst} {steep} {rise}"
        );
    }

    #[test]
    fn the_normal_distribution_is_within_its_ulps() {
        for x in [
            -1e4, -300.0, -61.0, -40.0, -30.1, -29.9, -8.0, -1.0, -0.1, 0.0, 0.3, 1.0, 5.0, 12.0,
            36.0,
        ] {
            for step in [1e-12, 1e-6, 1e-3, 0.02, 0.3, 0.99, 1.01, 3.0, 20.0] {
                check(x, step);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(25))]

        #[test]
        fn the_normal_distribution_is_within_its_ulps_anywhere(
            x in -80.0f64..20.0, near in -4.0f64..4.0, exponent in -9.0f64..1.2,
        ) {
            check(x, 10f64.powf(exponent));
            check(near, 10f64.powf(exponent));
        }
    }

    #[test]
    fn far_beyond_all_doubles_logarithms_still_hold() {
        let far = Cdf::at(-1e8);
        assert!((far.ln() / -5e15 - 1.0).abs() < 1e-13);
        assert!((far.hazard() / 1e8 - 1.0).abs() < 1e-15);
        for x in [50.0, 1e200] {
            let cdf = Cdf::at(x);
            assert_eq!((cdf.ln(), cdf.hazard(), cdf.ln_rise(3.0)), (0.0, 0.0, 0.0));
        }
    }
}
