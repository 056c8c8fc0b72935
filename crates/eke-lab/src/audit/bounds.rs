//! Confidence bounds on probabilities, and what they say about privacy.

use statrs::function::beta::beta_reg;
use statrs::function::erf::erfc_inv;

/// The false-alarm rate of one audit on neighbouring inputs.
pub(super) const ALPHA: f64 = 1e-6;

/// How often something happened in independent runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Count {
    pub(super) hits: u32,
    pub(super) runs: u32,
}

impl Count {
    /// Clopper and Pearson's lower bound: below it, this number of hits or more has a probability
    /// under alpha.
    pub(super) fn lowest(self, alpha: f64) -> f64 {
        if self.hits == 0 {
            return 0.0;
        }
        let (hits, misses) = (f64::from(self.hits), f64::from(self.runs - self.hits) + 1.0);
        solve(|p| beta_reg(hits, misses, p) - alpha)
    }

    /// And the upper bound.
    pub(super) fn highest(self, alpha: f64) -> f64 {
        1.0 - Self { hits: self.runs - self.hits, runs: self.runs }.lowest(alpha)
    }
}

/// Where an increasing function on (0, 1) crosses zero.
fn solve(function: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if function(middle) < 0.0 { low = middle } else { high = middle }
    }
    low
}

/// The least epsilon that an event's frequencies on two neighbouring inputs allow.
pub(super) fn epsilon(likely: Count, unlikely: Count) -> f64 {
    (likely.lowest(ALPHA / 2.0) / unlikely.highest(ALPHA / 2.0)).ln().max(0.0)
}

/// The least rho of a Gaussian mechanism that they allow: its two laws are `sqrt(2 rho)` deviations
/// apart.
pub(super) fn rho(likely: Count, unlikely: Count) -> f64 {
    let apart = quantile(likely.lowest(ALPHA / 2.0)) - quantile(unlikely.highest(ALPHA / 2.0));
    apart.max(0.0).powi(2) / 2.0
}

/// The normal quantile.
fn quantile(probability: f64) -> f64 {
    -std::f64::consts::SQRT_2 * erfc_inv(2.0 * probability.clamp(1e-300, 1.0 - 1e-16))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The probability of the given number of hits or more, summed.
    fn tail(hits: u32, runs: u32, p: f64) -> f64 {
        let mut sum = 0.0;
        for k in hits..=runs {
            let choose: f64 = (0..k).map(|i| (f64::from(runs - i) / f64::from(i + 1)).ln()).sum();
            sum += (choose + f64::from(k) * p.ln() + f64::from(runs - k) * (1.0 - p).ln()).exp();
        }
        sum
    }

    #[test]
    fn bounds_have_the_tails_they_claim() {
        for (hits, runs) in [(1, 10), (5, 10), (30, 300), (299, 300), (300, 300)] {
            for alpha in [0.05, 1e-6] {
                let low = Count { hits, runs }.lowest(alpha);
                assert!((tail(hits, runs, low) / alpha - 1.0).abs() < 1e-6, "{hits} {runs} {low}");
            }
        }
        assert!(Count { hits: 0, runs: 10 }.lowest(0.05).abs() < 1e-300);
        assert!((Count { hits: 10, runs: 10 }.highest(0.05) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn quantiles_are_those_of_the_normal_law() {
        for (p, z) in [(0.5, 0.0), (0.975, 1.959_963_984_540_054), (1e-6, -4.753_424_308_822_899)] {
            assert!((quantile(p) - z).abs() < 1e-9, "{p} {}", quantile(p));
        }
    }
}
