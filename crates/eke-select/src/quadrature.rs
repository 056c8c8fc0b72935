//! Integrals of [`Integrand`]s and ratios of them, in logarithms, with a bound on everything that
//! can be wrong with them: what the trapezoid rule misses, what is cut off, and what is rounded.

use std::ops::Range;

use eke_budget::number::normal::{Cdf, ULPS};

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

/// `ln` of the integral with offsets raised by the shifts over the integral without: never below
/// the truth.
///
/// - Theorem: ratio-of-sums (docs/theorems.md)
/// - Proves: with weights from the denominator the ratio less one is the mean of `exp(rise) - 1`,
///   all of it positive, so nothing cancels; the errors of both sums bound the ratio from both
///   sides
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
    if apart < 200.0 {
        let step = integrand.step(mode).min(raised.step(raised_mode));
        let sums = Sums::over(integrand, shifts, mode, step);
        if let Some(ratio) = sums.and_then(|sums| sums.ratio()) {
            return ratio;
        }
    }
    let (Some(one), Some(other)) = (ln_integral(&raised), ln_integral(integrand)) else {
        return Certified::UNKNOWN;
    };
    Certified::around(one.value - other.value, one.error + other.error)
}

/// A single factor has a closed form: the mean of `Phi(slope · x + offset)` is `Phi` of the offset
/// over the deviation of both noises together.
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
    /// The largest error of a logarithm at a node.
    largest_error: f64,
}

/// More nodes than any price needs.
const MOST_NODES: i64 = 4_000_000;
/// What may be cut off, of a sum.
const CUT: f64 = 1e-25;

impl Sums {
    /// None where more than [`MOST_NODES`] would be needed: something is wrong with the question.
    fn over(integrand: &Integrand, shifts: &[f64], mode: f64, step: f64) -> Option<Self> {
        #[expect(clippy::cast_possible_truncation, reason = "checked")]
        let middle = (mode / step).round() as i64;
        if middle.abs() > 1 << 31 || step.is_nan() || step <= 0.0 {
            return None;
        }
        // Exact: the step has 21 bits, and the number of a node 32.
        let node = |number: i64| integrand.node(number as f64 * step, shifts);
        let first = node(middle);
        let mut sums = Self {
            top: first.ln,
            weights: 0.0,
            weights_error: 0.0,
            growth: 0.0,
            growth_error: 0.0,
            tails: [0.0; 2],
            largest_error: 0.0,
        };
        sums.add(&first);
        let mut count = 1.0;
        for (side, numbers) in [(1, 1..MOST_NODES), (-1, 1..MOST_NODES)] {
            count += sums.walk(first, numbers, |number| node(middle + side * number))?;
        }
        if sums.largest_error.is_nan() || sums.largest_error > 0.1 {
            return None;
        }
        // Every addition rounds; and exp(e) - 1 is at most 1.1 e.
        sums.weights_error = 1.1 * sums.weights_error + count * ROUNDING * sums.weights;
        sums.growth_error = 1.1 * sums.growth_error + count * ROUNDING * sums.growth;
        Some(sums)
    }

    fn add(&mut self, node: &Node) {
        let weight = libm::exp(node.ln - self.top);
        self.weights += weight;
        self.weights_error += weight * node.error;
        self.largest_error = self.largest_error.max(node.error).max(node.rise_error);
        if node.rise > 0.0 {
            // The weight may be nothing where the rise is more than all doubles.
            let growth = if node.rise < 1.0 {
                weight * libm::expm1(node.rise)
            } else {
                libm::exp(node.ln - self.top + node.rise) - weight
            };
            self.growth += growth;
            let relative = node.error + 8.0 * ROUNDING;
            self.growth_error += growth * relative + (weight + growth) * node.rise_error;
        }
    }

    /// Adds nodes outwards until what is left is nothing. By concavity each of them is less than
    /// the one before it by at least the factor of the last two.
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
            let enough = CUT * self.weights;
            if tails[0] < enough && tails[1] < enough + CUT * self.growth {
                self.tails[0] += tails[0];
                self.tails[1] += tails[1];
                return Some(count);
            }
            last = next;
        }
        None
    }

    /// The logarithm of the raised integral over the other.
    fn ratio(&self) -> Option<Certified> {
        let missed = 2.0 * MISSED * self.weights;
        // Of the raised integral less the other, and of the other.
        let growth_error =
            self.growth_error + self.tails[1] + 2.0 * missed + 2.0 * MISSED * self.growth;
        let weights_error = self.weights_error + self.tails[0] + missed;
        let weights = self.weights - weights_error;
        if !(weights > 0.5 * self.weights && self.growth.is_finite()) {
            return None;
        }
        let high = libm::log1p((self.growth + growth_error) / weights);
        let low = (self.growth - growth_error).max(0.0) / (self.weights + weights_error);
        Some(Certified::between(libm::log1p(low), high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines and maxima, easy and hard.
    fn integrands() -> Vec<Integrand> {
        let mut found = Vec::new();
        for power in [1.0, 3.0, 50.0, 1e3, 1e6] {
            for unit in [0.01, 0.1, 0.5, 3.0] {
                let others = Factor::new(0.577, [0.5, 1.0], unit, power);
                let hit = Factor::new(-0.577, [0.0, 0.5], unit, 1.0);
                found.push(Integrand::new(vec![others]));
                found.push(Integrand::new(vec![others, hit]));
                found.push(Integrand::new(vec![Factor::new(1.0, [0.0, 1.0], unit, power)]));
            }
        }
        found
    }

    fn ln_sum(integrand: &Integrand, mode: f64, step: f64) -> f64 {
        let sums = Sums::over(integrand, &[], mode, step).unwrap();
        sums.top + libm::log(sums.weights) + libm::log(step)
    }

    #[test]
    fn the_step_misses_nothing_that_a_finer_one_finds() {
        let mut coarse: f64 = 0.0;
        for integrand in integrands() {
            let mode = integrand.mode();
            let step = integrand.step(mode);
            let (sum, finer) =
                (ln_sum(&integrand, mode, step), ln_sum(&integrand, mode, step / 4.0));
            let rounding = 1e-13 + 1e-14 * integrand.ln(mode).abs();
            assert!((sum - finer).abs() < rounding, "{integrand:?}: {sum} {finer}");
            coarse = coarse.max((ln_sum(&integrand, mode, step * 4.0) - finer).abs());
        }
        // A coarser step does miss something.
        assert!(coarse > 1e-3, "{coarse}");
    }

    #[test]
    fn a_ratio_is_the_same_with_a_finer_step() {
        let mut compared = 0;
        for integrand in integrands() {
            for shift in [1e-9, 1e-3, 0.3, 2.0] {
                let shifts = [shift, shift];
                let computed = ln_ratio(&integrand, &shifts);
                let step = integrand.step(integrand.mode()) / 4.0;
                // None where the two hardly overlap.
                let sums = Sums::over(&integrand, &shifts, integrand.mode(), step);
                let Some(finer) = sums.and_then(|sums| sums.ratio()) else { continue };
                compared += 1;
                assert!(computed.epsilon >= finer.epsilon - finer.error_bound, "{integrand:?}");
                assert!(computed.epsilon - computed.error_bound <= finer.epsilon, "{integrand:?}");
                assert!(computed.error_bound <= 1e-9 * computed.epsilon, "{computed:?}");
            }
        }
        assert!(compared > 200, "{compared}");
    }

    /// With power one there is a closed form, also for integrals whose value no double holds.
    #[test]
    fn integrals_of_one_factor_have_their_closed_form() {
        for offset in [-300.0, -40.0, -3.0, 0.0, 2.0, 30.0] {
            for slope in [0.01, 0.577, -1.0, 4.0] {
                let factor = Factor::new(slope, [offset, 0.0], 1.0, 1.0);
                let found = ln_integral(&Integrand::new(vec![factor])).unwrap();
                let truth = Cdf::at(offset / libm::hypot(slope, 1.0)).ln();
                let off = (found.value - truth).abs();
                assert!(off <= found.error + 1e-13 * truth.abs(), "{offset} {slope}: {off}");
                assert!(
                    found.error < 1e-12 + 1e-13 * truth.abs(),
                    "{offset} {slope}: {}",
                    found.error
                );
                let (one, sum) = (
                    ln_ratio_of_one(&factor, 0.01),
                    ln_ratio(&Integrand::new(vec![factor]), &[0.01]),
                );
                let apart = (one.epsilon - sum.epsilon).abs();
                assert!(apart <= one.error_bound + sum.error_bound, "{offset} {slope}: {apart}");
            }
        }
    }

    /// Where the raised integral hardly overlaps the other, or is cut off too early, the price
    /// would be too low.
    #[test]
    fn what_is_cut_off_is_counted() {
        let factor = Factor::new(1.0, [0.0, 1.0], 0.1, 9.0);
        let integrand = Integrand::new(vec![factor]);
        let mode = integrand.mode();
        let sums = Sums::over(&integrand, &[2.0], mode, integrand.step(mode)).unwrap();
        let whole = sums.ratio().unwrap();
        let cut = Sums { tails: [sums.tails[0], 0.5 * sums.growth], ..sums };
        assert!(cut.ratio().unwrap().error_bound > 0.4, "{whole:?}");
    }
}
