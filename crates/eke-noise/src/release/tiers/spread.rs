//! How far noise lies from zero, for intervals: floats, rounded outwards. Nothing is drawn from
//! these.

use eke_budget::Variance;

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
    /// Two-sided geometric noise: more than h in either direction has probability
    /// `2 p^(h+1)/(1+p)`, `p = exp(-rate)`, and the variance is `2p/(1-p)²`.
    pub(super) fn geometric(rate: f64, confidence: Confidence) -> Self {
        let power = libm::exp(-rate);
        let outside = (1.0 + power) * (1.0 - confidence.get()) / 2.0;
        let half_width = (libm::log(outside) / -rate * UP).ceil() - 1.0;
        let deviation = std::f64::consts::FRAC_1_SQRT_2 / libm::sinh(rate / 2.0);
        Self { deviation, half_width: half_width.max(0.0) }
    }

    /// Laplace noise to the nearest step, which is h steps or more with probability
    /// `exp(-rate (h - 1/2))`. The number itself was rounded too: h steps are all that must be left
    /// out.
    pub(super) fn laplace(rate: f64, confidence: Confidence) -> Self {
        let half_width = (libm::log(1.0 - confidence.get()) / -rate * UP + 0.5).ceil();
        let deviation = (2.0 / (rate * rate) + 1.0 / 12.0).sqrt();
        Self { deviation, half_width }
    }

    /// `MSDLap` noise: geometric noises of one rate, one for each shift and times it, added up one
    /// after the other. Where that takes too much room, a bound of Chernoff's, which is wider: two
    /// fifths at 95 %.
    pub(super) fn msdlap(rate: f64, shifts: u32, confidence: Confidence) -> Self {
        if shifts == 1 {
            return Self::geometric(rate, confidence);
        }
        let most = f64::from(shifts);
        let squares = most * (most + 1.0) * (2.0 * most + 1.0) / 6.0;
        let deviation = squares.sqrt() * std::f64::consts::FRAC_1_SQRT_2 / libm::sinh(rate / 2.0);
        let outside = 1.0 - confidence.get();
        // No further than that: each part is beyond it with a share of what may be outside.
        let furthest = chernoff(rate, shifts, outside);
        let half_width = summed(rate, shifts, furthest, outside).unwrap_or(furthest);
        Self { deviation, half_width }
    }

    /// Skellam noise: its law is summed outwards, as far as noise that can be drawn goes; and
    /// beyond it is within Bennett's bound, as a difference of two Poisson numbers.
    pub(super) fn skellam(variance: Variance, confidence: Confidence) -> Self {
        let (variance, outside) = (variance.get(), 1.0 - confidence.get());
        let furthest = bennett(variance, outside);
        let half_width =
            if furthest <= WIDEST { bessel(variance, furthest, outside) } else { None };
        Self { deviation: variance.sqrt(), half_width: half_width.unwrap_or(furthest) }
    }

    /// Discrete Gaussian noise, which is within its quantile and half a step; and half a step more,
    /// which the number itself was rounded by.
    pub(super) fn gaussian(deviation: f64, confidence: Confidence) -> Self {
        let half_width = (confidence.quantile() * deviation * UP + 1.0).ceil();
        Self { deviation, half_width }
    }
}

/// A whole number that Skellam noise exceeds with at most a probability: the logarithm of its
/// moments is `variance (cosh s - 1)`, least over `s h` at `s = asinh(h/variance)`.
fn bennett(variance: f64, outside: f64) -> f64 {
    let beyond = |half: f64| {
        let s = libm::asinh(half / variance);
        // cosh s - 1 = 2 sinh²(s/2), without the digits that a difference would lose.
        let root = libm::sinh(s / 2.0);
        2.0 * variance * root * root - s * half <= libm::log(outside / 2.0)
    };
    let (mut low, mut high) = (0.0, 64.0 + 16.0 * variance);
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if beyond(middle) { high = middle } else { low = middle }
    }
    (high * UP).ceil()
}

/// The least whole number that Skellam noise exceeds with at most a probability. Its weights are
/// Bessel functions `I_k(variance)`, whose ratios follow from one another inwards.
fn bessel(variance: f64, furthest: f64, outside: f64) -> Option<f64> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few millions")]
    let reach = (3.0 * furthest) as usize + 64;
    let mut ratios = vec![0.0; reach];
    let mut next = 0.0;
    for k in (1..=reach).rev() {
        let ratio = 1.0 / (2.0 * k as f64 / variance + next);
        ratios[k - 1] = ratio;
        next = ratio;
    }
    let mut weights = vec![1.0];
    for ratio in ratios {
        let last = weights.last().copied().unwrap_or(0.0);
        weights.push(last * ratio);
    }
    // From the far end inwards, as far as what is outside allows.
    let total = 2.0 * weights.iter().skip(1).sum::<f64>() + 1.0;
    let mut beyond = 0.0;
    for (half, weight) in weights.iter().enumerate().rev() {
        beyond += 2.0 * weight / total;
        if half == 0 || beyond * (1.0 + 1e-11) > outside {
            return Some(half as f64);
        }
    }
    None
}

/// How far Skellam noise that is summed may lie: no noise that can be drawn has a deviation above
/// 46,341.
const WIDEST: f64 = 1e6;

/// How far out laws of `MSDLap` noise are summed: four megabytes.
const REACH: f64 = 262_144.0;

/// A whole number that `MSDLap` noise exceeds with at most a probability: `2 exp(-s h) E[exp(s X)]`
/// for the best s.
fn chernoff(rate: f64, shifts: u32, outside: f64) -> f64 {
    let power = libm::exp(-rate);
    // E[exp(s xi K)] = (1-p)²/((1 - p e^(s xi)) (1 - p e^(-s xi))), with p = exp(-rate).
    let bound = |s: f64| {
        let part = |shift: u32| {
            let s = s * f64::from(shift);
            let sides = libm::expm1(s - rate) * libm::expm1(-s - rate);
            2.0 * libm::log1p(-power) - libm::log(sides)
        };
        let moments: f64 = (1..=shifts).map(part).sum();
        (moments + libm::log(2.0 / outside)) / s
    };
    let largest = rate / f64::from(shifts);
    let tried = (1..400).map(|step| bound(largest * f64::from(step) / 400.0));
    (tried.fold(f64::INFINITY, f64::min) * UP).ceil().max(0.0)
}

/// The least whole number that `MSDLap` noise exceeds with at most a probability, its law summed up
/// to four times a number that is far enough; none where that is too far.
fn summed(rate: f64, shifts: u32, furthest: f64, outside: f64) -> Option<f64> {
    let reach = 4.0 * furthest + 64.0 * f64::from(shifts);
    if reach > REACH {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 2^18")]
    let reach = reach as usize;
    let (power, mut law) = (libm::exp(-rate), vec![0.0; 2 * reach + 1]);
    law[reach] = 1.0;
    let scale = -libm::expm1(-rate);
    for shift in 1..=shifts as usize {
        // Geometric noise to the right and then to the left; what leaves the range is outside.
        for at in 0..law.len() {
            let before = if at >= shift { law[at - shift] } else { 0.0 };
            law[at] = scale * law[at] + power * before;
        }
        for at in (0..law.len()).rev() {
            let after = law.get(at + shift).copied().unwrap_or(0.0);
            law[at] = scale * law[at] + power * after;
        }
    }
    let mut inside = law[reach];
    for half in 0..reach {
        if inside * (1.0 - 1e-11) >= 1.0 - outside {
            return Some(half as f64);
        }
        inside += law[reach + half + 1] + law[reach - half - 1];
    }
    None
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "whole numbers, or the same computation")]
mod tests {
    use super::*;

    fn confidence(value: f64) -> Confidence {
        Confidence::new(value).unwrap()
    }

    /// Summed directly: what is outside has at most the probability that is left, and one step less
    /// would be outside more often.
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

    /// Against products of Poisson probabilities, summed over all pairs.
    #[test]
    fn half_widths_of_skellam_noise_are_the_least_that_hold() {
        for variance in [0.2f64, 1.0, 6.0, 40.0] {
            let mean = variance / 2.0;
            let mut poisson = vec![(-mean).exp()];
            for k in 1..250 {
                poisson.push(poisson[k - 1] * mean / k as f64);
            }
            let mut law = vec![0.0; 501];
            for (more, one) in poisson.iter().enumerate() {
                for (less, other) in poisson.iter().enumerate() {
                    law[250 + more - less] += one * other;
                }
            }
            for level in [0.5, 0.9, 0.95, 0.99, 0.9999] {
                let spread = Spread::skellam(Variance::new(variance).unwrap(), confidence(level));
                let inside = |half: usize| law[250 - half..=250 + half].iter().sum::<f64>();
                let least = (0..250).find(|&half| inside(half) >= level).unwrap();
                assert!((spread.half_width - least as f64).abs() < 0.5, "{variance} {level}");
                assert!((spread.deviation - variance.sqrt()).abs() < 1e-12);
                assert!(bennett(variance, 1.0 - level) >= spread.half_width);
            }
        }
        // Wide noise is nearly normal, and the bound of very wide noise wider by two fifths.
        let wide = Spread::skellam(Variance::new(1e6).unwrap(), confidence(0.95));
        assert!((wide.half_width - 1960.0).abs() <= 1.0, "{wide:?}");
        let widest = Spread::skellam(Variance::new(1e16).unwrap(), confidence(0.95));
        assert!((widest.half_width / 2.716e8 - 1.0).abs() < 1e-3, "{widest:?}");
    }

    /// With one shift it is geometric noise. With more, the law is convolved in another way: all
    /// pairs.
    #[test]
    fn half_widths_of_msdlap_noise_are_the_least_that_hold() {
        for level in [0.5, 0.95, 0.999] {
            let (rate, level) = (0.4, confidence(level));
            let one = Spread::msdlap(rate, 1, level);
            let geometric = Spread::geometric(rate, level);
            assert!((one.half_width - geometric.half_width).abs() < 0.5);
            assert!((one.deviation / geometric.deviation - 1.0).abs() < 1e-12);
        }
        let (rate, reach) = (0.9, 120i32);
        let mass = |k: i32| {
            let power = f64::exp(-rate);
            (1.0 - power) / (1.0 + power) * power.powi(k.abs())
        };
        let mut law = vec![0.0; 1001];
        for k in -reach..=reach {
            for l in -reach..=reach {
                for m in -60..=60 {
                    let index = usize::try_from(k + 2 * l + 3 * m + 500);
                    if let Some(place) = index.ok().and_then(|index| law.get_mut(index)) {
                        *place += mass(k) * mass(l) * mass(m);
                    }
                }
            }
        }
        for level in [0.5, 0.9, 0.95, 0.99, 0.9999] {
            let spread = Spread::msdlap(rate, 3, confidence(level));
            let inside = |half: usize| law[500 - half..=500 + half].iter().sum::<f64>();
            let least = (0..500).find(|&half| inside(half) >= level).unwrap();
            assert!((spread.half_width - least as f64).abs() < 0.5, "{level}");
            let square = |at: usize| law[at] * (at as f64 - 500.0).powi(2);
            let deviation = (0..law.len()).map(square).sum::<f64>().sqrt();
            assert!((spread.deviation / deviation - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn chernoffs_bound_is_wider_but_not_much() {
        for (rate, shifts) in [(0.05, 4), (1.0, 16), (4.0, 8)] {
            for level in [0.5, 0.95, 0.9999] {
                let exact = Spread::msdlap(rate, shifts, confidence(level)).half_width;
                let bound = chernoff(rate, shifts, 1.0 - level);
                assert!(
                    exact <= bound && bound < 3.2 * exact + 40.0,
                    "{rate} {level}: {exact} {bound}"
                );
            }
        }
        // Too wide to be summed, it is the bound.
        let wide = Spread::msdlap(1e-5, 256, confidence(0.95));
        assert!((wide.half_width - chernoff(1e-5, 256, 1.0 - 0.95)).abs() < 0.5);
        assert!(wide.half_width < 3.0 * wide.deviation);
    }

    /// What is too far out to be summed in a few megabytes takes none: one shift is in closed form,
    /// however wide, and more are within the bound.
    #[test]
    fn half_widths_of_wide_msdlap_noise_take_no_room() {
        for rate in [1e-3, 1e-6, 1e-12] {
            let one = Spread::msdlap(rate, 1, confidence(0.95));
            assert_eq!(one, Spread::geometric(rate, confidence(0.95)));
            assert!((one.half_width * rate / 20f64.ln() - 1.0).abs() < 1e-3);
        }
        for (rate, shifts) in [(1e-6, 2), (1e-3, 256), (1e-12, 256)] {
            let furthest = chernoff(rate, shifts, 0.05);
            assert!(4.0 * furthest > REACH && summed(rate, shifts, furthest, 0.05).is_none());
        }
        // As far as laws are summed, they are.
        let furthest = chernoff(2e-4, 2, 0.05);
        assert!(4.0 * furthest > 0.5 * REACH, "{furthest}");
        assert!(summed(2e-4, 2, furthest, 0.05).is_some_and(|half| half < furthest));
    }

    #[test]
    fn half_widths_of_laplace_noise_hold_on_the_grid() {
        for rate in [1e-6f64, 1e-3, 0.05, 3.0] {
            for level in [0.5, 0.95, 0.9999] {
                let Spread { half_width, deviation } = Spread::laplace(rate, confidence(level));
                // On a number that was rounded up: h steps up are too far, and h + 1 steps down.
                let outside = |half: f64| (-rate * half).exp() * (rate / 2.0).cosh();
                assert!(outside(half_width) <= (1.0 - level) * (1.0 + 1e-9), "{rate} {level}");
                assert!(outside(half_width - 2.0) >= 1.0 - level, "{rate} {level}");
                assert!((deviation - 2f64.sqrt() / rate).abs() < 0.3);
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
