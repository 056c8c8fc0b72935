//! The transforms of laws of noise: characteristic functions `E exp(itX)`, exponential moments
//! `E exp(zX)` and variances.
//!
//! All laws are symmetric, so that characteristic functions are real. Values are kept as
//! logarithms, since what is asked for is the ratio of two that may both be tiny, and know their
//! relative error.

use std::f64::consts::PI;

use crate::residual::law::{Kind, NoiseLaw};

/// A value of a characteristic function: its sign, the logarithm of its size, and how far off it
/// may be, in parts of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Value {
    pub(crate) ln: f64,
    pub(crate) sign: f64,
    pub(crate) error: f64,
}

impl Value {
    /// A positive value, from its logarithm. The logarithm has a few roundings.
    fn exp(ln: f64) -> Self {
        Self { ln, sign: 1.0, error: 8.0 * f64::EPSILON * (1.0 + ln.abs()) }
    }

    /// A number of known sign, with an absolute error of a few roundings of one.
    fn near(value: f64) -> Self {
        let size = value.abs();
        let sign = if value < 0.0 { -1.0 } else { 1.0 };
        Self { ln: size.ln(), sign, error: 8.0 * f64::EPSILON / size }
    }

    fn times(self, other: Self) -> Self {
        Self {
            ln: self.ln + other.ln,
            sign: self.sign * other.sign,
            error: self.error + other.error,
        }
    }

    /// The ratio of two values, and its absolute error.
    pub(crate) fn over(self, other: Self) -> (f64, f64) {
        let size = (self.ln - other.ln).exp();
        (self.sign * other.sign * size, size * (self.error + other.error))
    }
}

impl NoiseLaw {
    /// The characteristic function `E exp(itX)`; in several dimensions, along a line.
    ///
    /// ```
    /// use eke_budget::residual::NoiseLaw;
    /// let at_one = NoiseLaw::laplace(2.0)?.characteristic(1.0);
    /// assert!((at_one - 0.2).abs() < 1e-15);
    /// # Ok::<(), eke_budget::residual::NoiseLawError>(())
    /// ```
    #[must_use]
    pub fn characteristic(&self, t: f64) -> f64 {
        let Value { ln, sign, .. } = self.value(t);
        sign * ln.exp()
    }

    /// The variance; in several dimensions, of each coordinate.
    #[must_use]
    pub fn variance(&self) -> f64 {
        match self.0 {
            Kind::Gaussian { sigma } => sigma * sigma,
            Kind::Laplace { scale } => 2.0 * scale * scale,
            Kind::Geometric { rate } => geometric_variance(rate),
            Kind::DiscreteGaussian { sigma } => discrete_gaussian_variance(sigma),
            Kind::Skellam { lambda } => 2.0 * lambda,
            Kind::MsdLap { epsilon, sensitivity } => {
                let squares: f64 = (1..=sensitivity).map(|k| f64::from(k * k)).sum();
                squares * geometric_variance(epsilon)
            }
            Kind::Staircase { epsilon, sensitivity, gamma } => {
                let weight = narrow_weight(epsilon, gamma);
                let narrow = gamma * gamma / 3.0;
                let wide = (1.0 - gamma) * (1.0 - gamma) / 3.0;
                let flat = weight * narrow + (1.0 - weight) * wide;
                sensitivity * sensitivity * (geometric_variance(epsilon) + flat)
            }
            Kind::PlanarLaplace { epsilon, dimension } => {
                f64::from(dimension + 1) / (epsilon * epsilon)
            }
            Kind::Uniform { width } => width * width / 12.0,
        }
    }

    /// The characteristic function, with its error.
    pub(crate) fn value(&self, t: f64) -> Value {
        match self.0 {
            Kind::Gaussian { sigma } => Value::exp(-(sigma * t) * (sigma * t) / 2.0),
            Kind::Laplace { scale } => Value::exp(-((scale * t) * (scale * t)).ln_1p()),
            Kind::Geometric { rate } => Value::exp(ln_geometric(rate, t)),
            Kind::DiscreteGaussian { sigma } => Value::exp(ln_discrete_gaussian(sigma, t)),
            Kind::Skellam { lambda } => {
                let sine = (t / 2.0).sin();
                Value::exp(-4.0 * lambda * sine * sine)
            }
            Kind::MsdLap { epsilon, sensitivity } => {
                Value::exp((1..=sensitivity).map(|k| ln_geometric(epsilon, f64::from(k) * t)).sum())
            }
            Kind::Staircase { epsilon, sensitivity, gamma } => {
                let (t, weight) = (sensitivity * t, narrow_weight(epsilon, gamma));
                let flat = weight * sinc(gamma * t) + (1.0 - weight) * sinc((1.0 - gamma) * t);
                Value::exp(ln_geometric(epsilon, t)).times(Value::near(flat))
            }
            Kind::PlanarLaplace { epsilon, dimension } => {
                let shape = f64::from(dimension + 1) / 2.0;
                Value::exp(-shape * ((t / epsilon) * (t / epsilon)).ln_1p())
            }
            Kind::Uniform { width } => Value::near(sinc(width * t / 2.0)),
        }
    }

    /// From where on `E exp(zX)` is infinite.
    pub(crate) fn reach_of_moments(&self) -> f64 {
        match self.0 {
            Kind::Laplace { scale } => 1.0 / scale,
            Kind::Geometric { rate } => rate,
            Kind::MsdLap { epsilon, sensitivity } => epsilon / f64::from(sensitivity),
            Kind::Staircase { epsilon, sensitivity, .. } => epsilon / sensitivity,
            Kind::PlanarLaplace { epsilon, .. } => epsilon,
            Kind::Gaussian { .. }
            | Kind::DiscreteGaussian { .. }
            | Kind::Skellam { .. }
            | Kind::Uniform { .. } => f64::INFINITY,
        }
    }

    /// The logarithm of `E exp(zX)`, where it is finite.
    pub(crate) fn ln_moment(&self, z: f64) -> f64 {
        match self.0 {
            Kind::Gaussian { sigma } => (sigma * z) * (sigma * z) / 2.0,
            Kind::Laplace { scale } => -(-(scale * z) * (scale * z)).ln_1p(),
            Kind::Geometric { rate } => ln_geometric_moment(rate, z),
            Kind::DiscreteGaussian { sigma } => {
                // Complete the square: the sum is the same law's around sigma² z.
                let (around, zero) =
                    (shifted_sum(sigma, sigma * sigma * z), shifted_sum(sigma, 0.0));
                (sigma * z) * (sigma * z) / 2.0 + (around / zero).ln()
            }
            Kind::Skellam { lambda } => {
                let sine = (z / 2.0).sinh();
                4.0 * lambda * sine * sine
            }
            Kind::MsdLap { epsilon, sensitivity } => {
                (1..=sensitivity).map(|k| ln_geometric_moment(epsilon, f64::from(k) * z)).sum()
            }
            Kind::Staircase { epsilon, sensitivity, gamma } => {
                let (z, weight) = (sensitivity * z, narrow_weight(epsilon, gamma));
                let flat = weight * sinhc(gamma * z) + (1.0 - weight) * sinhc((1.0 - gamma) * z);
                ln_geometric_moment(epsilon, z) + flat.ln()
            }
            Kind::PlanarLaplace { epsilon, dimension } => {
                -f64::from(dimension + 1) / 2.0 * (-(z / epsilon) * (z / epsilon)).ln_1p()
            }
            Kind::Uniform { width } => {
                let x = width * z / 2.0;
                // Beyond 20 a hyperbolic sine is half an exponential.
                if x > 20.0 { x - (2.0 * x).ln() } else { sinhc(x).ln() }
            }
        }
    }

    /// Where, in t, something happens.
    pub(crate) fn frequency(&self) -> f64 {
        match self.0 {
            Kind::Gaussian { sigma } => 1.0 / sigma,
            Kind::Laplace { scale } => 1.0 / scale,
            Kind::Staircase { sensitivity, .. } => 1.0 / sensitivity,
            Kind::PlanarLaplace { epsilon, .. } => epsilon,
            Kind::Uniform { width } => 1.0 / width,
            Kind::Geometric { .. }
            | Kind::DiscreteGaussian { .. }
            | Kind::Skellam { .. }
            | Kind::MsdLap { .. } => 1.0,
        }
    }
}

/// Staircase noise is the sensitivity times the sum of geometric noise of rate epsilon and uniform
/// noise on `[-gamma, gamma]` with this probability, on `[gamma - 1, 1 - gamma]` else.
pub(crate) fn narrow_weight(epsilon: f64, gamma: f64) -> f64 {
    gamma / (gamma + (1.0 - gamma) * (-epsilon).exp())
}

/// `(1-p)²/(1 - 2p cos t + p²)`, `p = exp(-rate)`, as `1/(1 + sin²(t/2)/sinh²(rate/2))`.
fn ln_geometric(rate: f64, t: f64) -> f64 {
    let ratio = (t / 2.0).sin() / (rate / 2.0).sinh();
    -(ratio * ratio).ln_1p()
}

fn ln_geometric_moment(rate: f64, z: f64) -> f64 {
    let ratio = (z / 2.0).sinh() / (rate / 2.0).sinh();
    -(-ratio * ratio).ln_1p()
}

fn geometric_variance(rate: f64) -> f64 {
    let sine = (rate / 2.0).sinh();
    1.0 / (2.0 * sine * sine)
}

/// Below this sigma the sum over integers is short, from it on the sum over frequencies is.
const NARROW: f64 = 0.4;

/// The sum of `exp(-k²/(2 sigma²)) cos(kt)` over that at `t = 0`. Where the sum does not converge
/// quickly its dual by Poisson's summation does, a sum of `exp(-sigma² (t - 2 pi n)²/2)`; it has no
/// cancellation either.
fn ln_discrete_gaussian(sigma: f64, t: f64) -> f64 {
    let t = t - 2.0 * PI * (t / (2.0 * PI)).round();
    if sigma < NARROW {
        let (mut sum, mut zero) = (0.0, 0.0);
        for k in 1..=8 {
            let k = f64::from(k);
            let weight = (-(k / sigma) * (k / sigma) / 2.0).exp();
            let sine = (k * t / 2.0).sin();
            sum -= 4.0 * weight * sine * sine;
            zero += 2.0 * weight;
        }
        return (sum / (1.0 + zero)).ln_1p();
    }
    let dual = |t: f64| -> f64 {
        let wave = |n: f64| (-2.0 * PI * n * (PI * n - t) * sigma * sigma).exp();
        let pairs = (1..=16).map(f64::from).map(|n| wave(n) + wave(-n));
        pairs.take_while(|pair| *pair > 1e-20).sum()
    };
    -(sigma * t) * (sigma * t) / 2.0 + dual(t).ln_1p() - dual(0.0).ln_1p()
}

/// The sum of `exp(-(k - centre)²/(2 sigma²))` over the integers.
fn shifted_sum(sigma: f64, centre: f64) -> f64 {
    let offset = centre - centre.round();
    if sigma < 1.0 {
        let term = |k: i32| {
            let apart = (f64::from(k) - offset) / sigma;
            (-apart * apart / 2.0).exp()
        };
        return (-12..=12).map(term).sum();
    }
    let waves: f64 = (1..=4)
        .map(f64::from)
        .map(|n| {
            2.0 * (-2.0 * (PI * n * sigma) * (PI * n * sigma)).exp() * (2.0 * PI * n * offset).cos()
        })
        .sum();
    sigma * (2.0 * PI).sqrt() * (1.0 + waves)
}

fn discrete_gaussian_variance(sigma: f64) -> f64 {
    if sigma < 1.0 {
        let weight = |k: f64| (-(k / sigma) * (k / sigma) / 2.0).exp();
        let (mut zero, mut second) = (1.0, 0.0);
        for k in 1..=12 {
            let k = f64::from(k);
            zero += 2.0 * weight(k);
            second += 2.0 * k * k * weight(k);
        }
        return second / zero;
    }
    // Minus the second derivative of the dual sum at zero.
    let square = sigma * sigma;
    let (mut zero, mut second) = (1.0, square);
    for n in 1..=4 {
        let at = 2.0 * PI * f64::from(n);
        let weight = 2.0 * (-square * at * at / 2.0).exp();
        zero += weight;
        second += weight * square * (1.0 - square * at * at);
    }
    second / zero
}

fn sinc(x: f64) -> f64 {
    if x.abs() < 1e-4 { 1.0 - x * x / 6.0 } else { x.sin() / x }
}

fn sinhc(x: f64) -> f64 {
    if x.abs() < 1e-4 { 1.0 + x * x / 6.0 } else { x.sinh() / x }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law(text: &str) -> NoiseLaw {
        text.parse().unwrap()
    }

    /// From mpmath.
    #[test]
    fn characteristic_functions_match_the_golden_values() {
        let close = |found: f64, golden: f64| assert!((found / golden - 1.0).abs() < 1e-14);
        close(law("staircase:1").characteristic(3.0), 0.148_148_542_438_826_22);
        close(law("staircase:2.8").characteristic(3.0), 0.636_423_610_211_841_7);
        close(law("msdlap:1:3").variance(), 25.778_860_637_818_184);
        close(law("msdlap:2:4").variance(), 10.860_924_914_494_657);
    }

    /// Probabilities of laws on the integers, up to a constant.
    fn weight(law: &NoiseLaw, k: f64) -> f64 {
        match law.0 {
            Kind::Geometric { rate } => (-rate * k.abs()).exp(),
            Kind::DiscreteGaussian { sigma } => (-(k / sigma) * (k / sigma) / 2.0).exp(),
            _ => unreachable!("not in this test"),
        }
    }

    #[test]
    fn transforms_are_the_sums_that_they_stand_for() {
        for text in [
            "geometric:0.7",
            "geometric:3",
            "discrete-gaussian:0.2",
            "discrete-gaussian:0.39",
            "discrete-gaussian:0.41",
            "discrete-gaussian:0.99",
            "discrete-gaussian:1",
            "discrete-gaussian:2.5",
        ] {
            let law = law(text);
            let sum = |term: &dyn Fn(f64) -> f64| -> f64 {
                (-200..=200).map(|k| weight(&law, f64::from(k)) * term(f64::from(k))).sum()
            };
            let total = sum(&|_| 1.0);
            for t in [0.1, 1.0, 2.0, PI, 4.0, 30.0] {
                let direct = sum(&|k| (k * t).cos()) / total;
                assert!((law.characteristic(t) - direct).abs() < 1e-13, "{text} at {t}");
            }
            for z in [0.01, 0.2, 0.4] {
                let direct = (sum(&|k| (k * z).exp()) / total).ln();
                assert!((law.ln_moment(z) - direct).abs() < 1e-11, "{text} at {z}: {direct}");
            }
            let variance = sum(&|k| k * k) / total;
            assert!((law.variance() / variance - 1.0).abs() < 1e-11, "{text}");
        }
    }

    #[test]
    fn tiny_values_keep_their_digits() {
        // Twice the normal value, since the two nearest waves are as far.
        let narrow = law("discrete-gaussian:20").value(PI).ln;
        let expected = 2f64.ln() - 200.0 * PI * PI;
        assert!((narrow / expected - 1.0).abs() < 1e-14, "{narrow}");
        assert!((law("skellam:1000").value(PI).ln + 4000.0).abs() < 1e-10);
    }

    /// The second derivative at zero, from both sides.
    #[test]
    fn variances_are_the_curvature_of_both_transforms() {
        for text in [
            "gaussian:1.5",
            "laplace:2",
            "geometric:0.5",
            "discrete-gaussian:1.1",
            "skellam:10",
            "msdlap:1:3",
            "staircase:2.8",
            "staircase:1:2:0.7",
            "planar-laplace:0.5:2",
            "uniform:3",
        ] {
            let (law, step) = (law(text), 1e-3);
            let variance = law.variance();
            let real = -2.0 * law.value(step).ln / (step * step);
            let other = 2.0 * law.ln_moment(step) / (step * step);
            assert!((real / variance - 1.0).abs() < 1e-3, "{text}: {real} {variance}");
            assert!((other / variance - 1.0).abs() < 1e-3, "{text}: {other} {variance}");
        }
    }
}
