//! Moments of the privacy loss of Skellam noise, and the certificate that a rho covers all of them.
//!
//! With p the law and D the shift, the loss is `L(k) = ln p(k-D)/p(k)`, odd around D/2, and the
//! moment `f(a) = ln E exp((a-1) L) = (a-1) D_a` is
//! `ln sum_k sqrt(p(k-D) p(k)) cosh((a-1/2) L(k))`.
//!
//! Invariant: everything here is evaluated in floating point whose relative error is below 1e-10,
//! and is widened by [`MARGIN`].

use super::bessel::{Probabilities, double, whole};

/// What results are widened by, relatively: above the error of every sum here.
pub(super) const MARGIN: f64 = 1e-9;
/// What a certified price may be above the larger of the mean loss and `D²/(2 variance)`.
pub(super) const EXCESS: f64 = 2e-4;
/// Terms smaller than the largest by this power of e are left out; there are less than 2⁴⁰ of them.
const NEGLIGIBLE: f64 = 60.0;
/// The most outcomes that are looked at.
pub(super) const MOST: usize = 1 << 22;

/// The losses of a shift, for outcomes above half of it, and their weights.
#[derive(Clone, Debug)]
pub(super) struct Losses {
    variance: f64,
    shift: usize,
    law: Probabilities,
    /// From the first k above D/2 on.
    outcomes: Vec<Outcome>,
    /// `ln p(D/2)`, for even shifts.
    centre: Option<f64>,
}

#[derive(Clone, Copy, Debug)]
struct Outcome {
    /// `L(k)`.
    loss: f64,
    /// `sqrt(p(k-D) p(k))`, and its logarithm.
    root: f64,
    ln_root: f64,
}

impl Losses {
    /// Those of noise of a variance and a shift, with outcomes enough for moments up to an order.
    pub(super) fn new(variance: f64, shift: usize, order: f64) -> Option<Self> {
        let peak = peak(variance, order * double(shift));
        let end = double(shift) / 2.0 + peak + 16.0 * (peak + variance).sqrt() + 200.0;
        Self::up_to(variance, shift, if end < double(MOST) { whole(end) } else { return None })
    }

    /// Those up to an outcome.
    pub(super) fn up_to(variance: f64, shift: usize, end: usize) -> Option<Self> {
        let law = Probabilities::new(variance, end.max(shift + 1));
        if law.end() > 2 * MOST {
            return None;
        }
        let first = shift / 2 + 1;
        let outcomes = (first..=law.end()).map(|k| {
            let loss = law.loss(k, shift);
            let ln_root = f64::midpoint(law.ln(k.abs_diff(shift)), law.ln(k));
            Outcome { loss, root: libm::exp(ln_root), ln_root }
        });
        let outcomes = outcomes.collect();
        let centre = shift.is_multiple_of(2).then(|| law.ln(shift / 2));
        Some(Self { variance, shift, law, outcomes, centre })
    }

    /// The mean loss: the limit of the divergence at order 1.
    pub(super) fn mean(&self) -> f64 {
        let heavy = self.outcomes.iter().filter(|outcome| outcome.ln_root > -600.0);
        // p(k-D) - p(k) is 2 sqrt(p(k-D) p(k)) sinh(L/2).
        heavy
            .map(|outcome| 2.0 * outcome.root * outcome.loss * libm::sinh(outcome.loss / 2.0))
            .sum()
    }

    /// `f(a)`, nearly.
    pub(super) fn moment(&self, order: f64) -> f64 {
        let (less, middle) = (order - 1.0, order - 0.5);
        let exponent = |outcome: &Outcome| outcome.ln_root + middle * outcome.loss;
        let gaussian = order * less * self.per_square();
        if gaussian < 0.01 {
            // The growth over order 1, of terms that are all positive:
            // cosh((a-1/2) L) - cosh(L/2) is twice a product of sines.
            let least = libm::log(gaussian) - NEGLIGIBLE;
            let heavy = self.outcomes.iter().filter(|outcome| exponent(outcome) > least);
            let growth: f64 = heavy
                .map(|outcome| {
                    let sines = libm::sinh(order * outcome.loss / 2.0)
                        * libm::sinh(less * outcome.loss / 2.0);
                    4.0 * outcome.root * sines
                })
                .sum();
            return libm::log1p(growth);
        }
        let largest = self.outcomes.iter().map(exponent).fold(f64::NEG_INFINITY, f64::max);
        if self.outcomes.last().is_none_or(|last| exponent(last) > largest - NEGLIGIBLE) {
            // There may be more beyond the end.
            return f64::INFINITY;
        }
        let mut sum = self.centre.map_or(0.0, |ln| libm::exp(ln - largest));
        for outcome in &self.outcomes {
            let at = exponent(outcome) - largest;
            if at > -NEGLIGIBLE {
                sum += libm::exp(at);
                let mirrored = at - 2.0 * middle * outcome.loss;
                if mirrored > -NEGLIGIBLE {
                    sum += libm::exp(mirrored);
                }
            }
        }
        largest + libm::log(sum)
    }

    /// `D²/(2 variance)`: what a Gaussian of the same variance costs.
    pub(super) fn per_square(&self) -> f64 {
        double(self.shift) * double(self.shift) / (2.0 * self.variance)
    }

    /// Whether `f(a) <= a (a-1) rho` for every real order a above 1.
    ///
    /// f is convex, and zero at 1. So up to the first order it is below the chord from 1, and
    /// between two orders below their chord: a straight line, held against a parabola in closed
    /// form. From some order on the published bound of whole orders does, with its chords.
    pub(super) fn are_within(&self, rho: f64) -> bool {
        let rho = rho * (1.0 - MARGIN);
        let mut order = 1.0 + EXCESS / 4.0;
        let mut at = self.moment(order);
        if at > (order - 1.0) * rho {
            return false;
        }
        // A bound on the steps, so that it ends whatever comes.
        for _ in 0..20_000 {
            if self.published_is_within(order, rho) {
                return true;
            }
            // The chord of a parabola is above it by a quarter of the step squared.
            let room = order * (order - 1.0) - at / rho;
            if room <= 0.0 {
                return false;
            }
            let mut step = 1.95 * room.sqrt();
            loop {
                let next = order + step;
                let there = self.moment(next);
                if chord_is_within((order, at), (next, there), rho) {
                    (order, at) = (next, there);
                    break;
                }
                step *= 0.7;
                if step < 1e-9 * order {
                    return false;
                }
            }
        }
        false
    }

    /// Whether the published bound of whole orders, with its chords in between, keeps all orders
    /// from this one on within a rho: `b (a-1) + c/4 <= a (a-1) (rho - c)` for a moment of
    /// `c a (a-1) + b (a-1)`, which holds for all larger orders as well.
    fn published_is_within(&self, order: f64, rho: f64) -> bool {
        let (gaussian, variance, shift) = (self.per_square(), self.variance, double(self.shift));
        let forms = [
            (gaussian, 1.5 * shift / variance),
            (
                gaussian * (1.0 + 1.0 / variance),
                (6.0 * shift - shift * shift).max(0.0) / (4.0 * variance * variance),
            ),
        ];
        order >= 3.0
            && forms.into_iter().any(|(square, linear)| {
                linear / order + square / (4.0 * order * (order - 1.0)) <= rho - square
            })
    }

    /// The logarithm of `sum_k [p(k-D) - exp(epsilon) p(k)]_+`, nearly; none where its outcomes are
    /// beyond those known.
    pub(super) fn ln_delta(&self, epsilon: f64) -> Option<f64> {
        let first = self.shift / 2 + 1;
        // The loss grows with the outcome.
        let from = self.outcomes.partition_point(|outcome| outcome.loss <= epsilon);
        let terms = self.outcomes[from..].iter().zip(first + from..).map(|(outcome, k)| {
            let kept = libm::log(-libm::expm1(epsilon - outcome.loss));
            self.law.ln(k.abs_diff(self.shift)) + kept
        });
        let terms: Vec<f64> = terms.collect();
        let largest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // What is beyond falls faster than it does at the end.
        let is_whole = terms.last().is_some_and(|last| *last < largest - NEGLIGIBLE);
        is_whole.then(|| {
            let sum: f64 = terms.iter().map(|term| libm::exp(term - largest)).sum();
            largest + libm::log(sum)
        })
    }
}

/// Whether the chord between two orders of which the moments are known is below `a (a-1) rho`.
fn chord_is_within((low, at_low): (f64, f64), (high, at_high): (f64, f64), rho: f64) -> bool {
    let slope = (at_high - at_low) / (high - low);
    // Where the chord is furthest above the parabola.
    let worst = (0.5 + slope / (2.0 * rho)).clamp(low, high);
    at_low + slope * (worst - low) <= worst * (worst - 1.0) * rho
}

/// About where the moment of an order times the shift has its mass: the root of
/// `asinh(k/m) sqrt(k² + m²) = a D`, or above.
fn peak(variance: f64, pull: f64) -> f64 {
    let (mut low, mut high) = (0.0, pull.max(1.0));
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if libm::asinh(middle / variance) * libm::hypot(middle, variance) < pull {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chord of the parabola itself is above it by a quarter of its length squared, in the
    /// middle.
    #[test]
    fn chords_are_held_against_the_parabola_where_they_are_furthest_above_it() {
        let parabola = |order: f64| order * (order - 1.0);
        for (low, high) in [(1.0, 1.1), (1.5, 3.0), (10.0, 10.5), (100.0, 130.0)] {
            let (one, two) = ((low, parabola(low)), (high, parabola(high)));
            assert!(!chord_is_within(one, two, 1.0 + 1e-6), "{low} {high}");
            // What the middle needs, and hardly less.
            let middle = f64::midpoint(low, high);
            let needed = f64::midpoint(one.1, two.1) / parabola(middle);
            assert!(chord_is_within(one, two, needed * 1.2), "{low} {high}");
            assert!(!chord_is_within(one, two, needed * (1.0 - 1e-9)), "{low} {high}");
        }
        // Below it everywhere, and above it at one end only.
        assert!(chord_is_within((2.0, 1.0), (3.0, 3.0), 1.0));
        assert!(!chord_is_within((2.0, 1.0), (3.0, 6.5), 1.0));
        assert!(!chord_is_within((2.0, 2.5), (3.0, 3.0), 1.0));
    }

    /// A rho that some order refutes is not certified, wherever that order is.
    #[test]
    fn a_rho_that_is_too_small_is_not_certified() {
        for (variance, shift) in [(0.3, 1), (2.0, 1), (40.0, 1), (40.0, 3), (1000.0, 2)] {
            let losses = Losses::new(variance, shift, 2e4).unwrap();
            let least = losses.mean();
            assert!(!losses.are_within(least * (1.0 - 1e-6)), "{variance} {shift}");
            assert!(!losses.are_within(losses.moment(2.0) / 2.0 * (1.0 - 1e-6)));
            let enough = least.max(losses.per_square()) * (1.0 + EXCESS);
            assert!(losses.are_within(enough), "{variance} {shift}");
        }
    }

    /// The published bound, where it takes over, is above the moments and below what it is taken
    /// for.
    #[test]
    fn the_published_bound_takes_over_only_where_it_holds() {
        let losses = Losses::new(40.0, 1, 500.0).unwrap();
        let gaussian = losses.per_square();
        assert!(!losses.published_is_within(1e12, gaussian));
        assert!(!losses.published_is_within(2.5, gaussian * 10.0));
        for excess in [0.02, 0.1, 0.5] {
            let rho = gaussian * (1.0 + excess);
            let from = (3..500u32).find(|&order| losses.published_is_within(order.into(), rho));
            let from = f64::from(from.unwrap());
            // 3 D/(2m) over the order, and a quarter of a step, fit into the excess.
            assert!(3.0 / from <= excess * 1.01 || 1.0 / 40.0 <= excess, "{excess} {from}");
            for order in [from, from + 0.5, from * 2.0] {
                if order < 400.0 {
                    assert!(losses.moment(order) <= order * (order - 1.0) * rho);
                }
            }
        }
    }
}
