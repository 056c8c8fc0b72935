//! How far noise lies from zero, for intervals: floats, rounded outwards. Nothing is drawn from these.

use crate::Confidence;

/// How far noise lies from zero, in steps of its grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spread {
    /// Its standard deviation.
    pub(super) deviation: f64,
    /// A whole number of steps that it stays within, with a confidence.
    pub(super) half_width: f64,
}

/// More than what formulas are off by.
const UP: f64 = 1.0 + 1e-12;

impl Spread {
    /// Two-sided geometric noise: more than h in either direction has probability `2 p^(h+1)/(1+p)`,
    /// `p = exp(-rate)`, and the variance is `2p/(1-p)²`.
    pub(super) fn geometric(rate: f64, confidence: Confidence) -> Self {
        let power = libm::exp(-rate);
        let outside = (1.0 + power) * (1.0 - confidence.get()) / 2.0;
        let half_width = (libm::log(outside) / -rate * UP).ceil() - 1.0;
        let deviation = std::f64::consts::FRAC_1_SQRT_2 / libm::sinh(rate / 2.0);
        Self { deviation, half_width: half_width.max(0.0) }
    }

    /// Discrete Gaussian noise, which is within its quantile and half a step; and half a step more, which
    /// the number itself was rounded by.
    pub(super) fn gaussian(deviation: f64, confidence: Confidence) -> Self {
        let half_width = (confidence.quantile() * deviation * UP + 1.0).ceil();
        Self { deviation, half_width }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn confidence(value: f64) -> Confidence {
        Confidence::new(value).unwrap()
    }

    /// Summed directly: what is outside has at most the probability that is left, and one step less would
    /// be outside more often.
    #[test]
    fn half_widths_of_geometric_noise_are_the_least_that_hold() {
        for rate in [0.01, 0.1, 0.5, 1.0, 2.0, 4.0, 12.0] {
            for level in [0.5, 0.9, 0.95, 0.99, 0.999_999] {
                let spread = Spread::geometric(rate, confidence(level));
                let power = f64::exp(-rate);
                let mass = |k: f64| (1.0 - power) / (1.0 + power) * (-rate * k).exp();
                let mut inside = mass(0.0);
                let (mut k, mut variance) = (0.0, 0.0);
                let mut least = if inside >= level { Some(0.0) } else { None };
                while k * rate < 60.0 {
                    k += 1.0;
                    inside += 2.0 * mass(k);
                    variance += 2.0 * mass(k) * k * k;
                    if least.is_none() && inside >= level {
                        least = Some(k);
                    }
                }
                assert_eq!(Some(spread.half_width), least, "rate {rate}, {level}");
                let deviation = variance.sqrt();
                assert!((spread.deviation / deviation - 1.0).abs() < 1e-9, "rate {rate}");
            }
        }
    }

    #[test]
    fn half_widths_of_gaussian_noise_hold_on_the_grid() {
        for deviation in [8.0f64, 9.3, 40.0, 1000.0] {
            for level in [0.5, 0.95, 0.99, 0.9999] {
                let spread = Spread::gaussian(deviation, confidence(level));
                let mass = |k: f64| (-k * k / (2.0 * deviation * deviation)).exp();
                let (mut total, mut inside, mut k) = (mass(0.0), mass(0.0), 0.0);
                while k < 12.0 * deviation {
                    k += 1.0;
                    total += 2.0 * mass(k);
                    // Half a step is for the number that was rounded.
                    inside += if k <= spread.half_width - 0.5 { 2.0 * mass(k) } else { 0.0 };
                }
                assert!(inside / total >= level, "{deviation} {level}");
                let wide = spread.half_width / (deviation * confidence(level).quantile());
                assert!(wide < 1.0 + 2.0 / (0.6 * deviation), "{deviation} {level}: {wide}");
            }
        }
    }
}
