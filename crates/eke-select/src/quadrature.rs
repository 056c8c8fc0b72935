//! Integrals of [`Integrand`]s and ratios of them, in logarithms, with a bound on everything that can be
//! wrong with them: what the trapezoid rule misses, what is cut off, and what is rounded.

use std::ops::Range;

use eke_budget::normal::{Cdf, ULPS};

use crate::Certified;
use crate::integrand::{Factor, Integrand, MISSED, Node, ROUNDING};

/// The logarithm of an integral, and how far it may be off.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Logarithm {
    pub(crate) value: f64,
    pub(crate) error: f64,
}

/// `ln` of the integral of an integrand, the density counted with its constant.
pub(crate) fn ln_integral(integrand: &Integrand) -> Option<Logarithm> {
    const LN_SQRT_TWO_PI: f64 = 0.918_938_533_204_672_7;
    let mode = integrand.mode();
    let step = integrand.step(mode);
    let sums = Sums::over(integrand, &[], mode, step)?;
    let value = sums.top + libm::log(sums.weights) + libm::log(step) - LN_SQRT_TWO_PI;
    let relative = (sums.weights_error + sums.tails[0]) / sums.weights + 2.0 * MISSED;
    let error = 2.0 * relative + ROUNDING * (8.0 + 4.0 * sums.top.abs() + 4.0 * value.abs());
    (relative < 0.1).then_some(Logarithm { value, error })
}

/// `ln` of the integral with offsets raised by the shifts over the integral without: never below the truth.
///
/// - Theorem: ratio-of-sums (docs/theorems.md)
/// - Proves: with weights from the denominator the ratio less one is the mean of `exp(rise) - 1`, all of
///   it positive, so nothing cancels; the errors of both sums bound the ratio from both sides
/// - Assumes: errors of single nodes are as [`Node`] says
/// - Deviates: where the two integrands hardly overlap, the logarithms are taken apart
/// - Checked by: `prices_match_the_golden_values`, `a_ratio_is_the_same_with_a_finer_step`
pub(crate) fn ln_ratio(integrand: &Integrand, shifts: &[f64]) -> Certified {
    let raised = integrand.raised(shifts);
    let (mode, raised_mode) = (integrand.mode(), raised.mode());
    let apart = integrand.node(raised_mode, shifts).rise;
    if !(apart.is_finite() && mode.is_finite()) {
        return Certified::UNKNOWN;
    }
    if apart > 200.0 {
        let (Some(one), Some(other)) = (ln_integral(&raised), ln_integral(integrand)) else {
            return Certified::UNKNOWN;
        };
        return Certified::around(one.value - other.value, one.error + other.error);
    }
    let step = integrand.step(mode).min(raised.step(raised_mode));
    Sums::over(integrand, shifts, mode, step).map_or(Certified::UNKNOWN, |sums| sums.ratio())
}

/// A single factor has a closed form: the mean of `Phi(slope · x + offset)` is `Phi` of the offset over the deviation
/// of both noises together.
pub(crate) fn ln_ratio_of_one(factor: &Factor, shift: f64) -> Certified {
    let both = libm::hypot(factor.slope, 1.0);
    let (place, shift) = (factor.offset / both, shift / both);
    let price = Cdf::at(place).ln_rise(shift);
    // As in `Integrand::node`.
    let blur = factor.blur + 8.0 * ROUNDING * place.abs();
    let steep = 0.8 + place.max(0.0) + shift;
    let rounding = ROUNDING * (ULPS + 16.0 + 2.0 * place.max(0.0).powi(2));
    Certified::around(price, price * (steep * blur + rounding) + f64::MIN_POSITIVE)
}

/// Sums over the nodes of a grid: of weights, and of weights times what they grow by.
struct Sums {
    /// The logarithm at the node nearest to the mode, which is left out of all weights.
    top: f64,
    weights: f64,
    weights_error: f64,
    growth: f64,
    growth_error: f64,
    /// What is cut off of the integrand and of the raised one.
    tails: [f64; 2],
}

/// More nodes than any price needs.
const MOST_NODES: i64 = 4_000_000;
/// What may be cut off, of a sum.
const CUT: f64 = 1e-25;

impl Sums {
    /// None where so many nodes would be needed that something is wrong with the question.
    fn over(integrand: &Integrand, shifts: &[f64], mode: f64, step: f64) -> Option<Self> {
        #[expect(clippy::cast_possible_truncation, reason = "checked")]
        let middle = (mode / step).round() as i64;
        if middle.abs() > 1 << 31 || !(step > 0.0) {
            return None;
        }
        // Exact: the step has 21 bits, and the number of a node 32.
        #[expect(clippy::cast_precision_loss, reason = "checked above")]
        let node = |number: i64| integrand.node(number as f64 * step, shifts);
        let first = node(middle);
        let mut sums = Self {
            top: first.ln,
            weights: 0.0,
            weights_error: 0.0,
            growth: 0.0,
            growth_error: 0.0,
            tails: [0.0; 2],
        };
        sums.add(&first);
        let mut count = 1.0;
        for (side, numbers) in [(1, 1..MOST_NODES), (-1, 1..MOST_NODES)] {
            count += sums.walk(first, numbers, |number| node(middle + side * number))?;
        }
        // Every addition rounds.
        sums.weights_error += count * ROUNDING * sums.weights;
        sums.growth_error += count * ROUNDING * sums.growth;
        Some(sums)
    }

    fn add(&mut self, node: &Node) {
        let weight = libm::exp(node.ln - self.top);
        self.weights += weight;
        self.weights_error += weight * node.error;
        if node.rise > 0.0 {
            let growth = weight * libm::expm1(node.rise);
            self.growth += growth;
            // exp(r)/(exp(r) - 1) is at most 1 + 1/r.
            let relative = node.rise_error * (1.0 + 1.0 / node.rise) + 8.0 * ROUNDING;
            self.growth_error += growth * (node.error + relative);
        }
    }

    /// Adds nodes outwards until what is left is nothing. By concavity each of them is less than the one
    /// before it by at least the factor of the last two.
    fn walk(
        &mut self,
        first: Node,
        numbers: Range<i64>,
        node: impl Fn(i64) -> Node,
    ) -> Option<f64> {
        let mut last = first;
        let mut count = 0.0;
        for number in numbers {
            let next = node(number);
            self.add(&next);
            count += 1.0;
            let tail = |from: f64, to: f64| {
                let ratio = libm::exp(to - from);
                if ratio < 1.0 {
                    2.0 * libm::exp(to - self.top) * ratio / (1.0 - ratio)
                } else {
                    f64::INFINITY
                }
            };
            let tails = [tail(last.ln, next.ln), tail(last.ln + last.rise, next.ln + next.rise)];
            if tails.iter().all(|&tail| tail < CUT * self.weights) {
                self.tails[0] += tails[0];
                self.tails[1] += tails[1];
                return Some(count);
            }
            last = next;
        }
        None
    }

    /// The logarithm of the raised integral over the other.
    fn ratio(&self) -> Certified {
        let missed = 2.0 * MISSED * (2.0 * self.weights + self.growth);
        // Of the raised integral less the other, and of the other.
        let growth_error = 1.01 * self.growth_error + self.tails[1] + missed;
        let weights_error = 1.01 * self.weights_error + self.tails[0] + missed;
        let weights = self.weights - weights_error;
        if !(weights > 0.5 * self.weights && self.growth.is_finite()) {
            return Certified::UNKNOWN;
        }
        let high = libm::log1p((self.growth + growth_error) / weights);
        let low = (self.growth - growth_error).max(0.0) / (self.weights + weights_error);
        Certified::between(libm::log1p(low), high)
    }
}
