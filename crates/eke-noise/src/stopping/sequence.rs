//! Intervals that hold at every look at once, for an analyst who decides by hand when to stop
//! (confidence sequences).

use crate::stopping::goal::Confidence;

/// A confidence sequence for a Gaussian path: with the confidence, the truth is within the
/// half-width of the answer at every precision at once, however it was decided when to stop.
///
/// - Theorem: confidence-sequence (docs/theorems.md)
/// - Proves: `|y - truth| < sqrt((u + g) ln((u + g)/(alpha² g)))/u` for all precisions u at once,
///   with probability 1 - alpha, for any g fixed in advance
/// - Assumes: increments are independent and sub-Gaussian with their own variance (path)
/// - Deviates: half a step is added, for answers are rounded to the grid
/// - Checked by: `the_confidence_sequence_survives_a_greedy_adversary`
///
/// At 95 % it is 1.55 times as wide as the interval of one planned look, where it is tightest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConfidenceSequence {
    gamma: f64,
    log: f64,
}

impl ConfidenceSequence {
    /// One that is tightest at about this precision (one over a variance, in steps of the grid).
    #[must_use]
    pub fn tightest_at(precision: f64, confidence: Confidence) -> Self {
        let log = -2.0 * libm::log(1.0 - confidence.get());
        let gamma = precision / (log + libm::log1p(log) + 1.0);
        Self { gamma: if gamma.is_normal() { gamma.clamp(1e-150, 1e150) } else { 1.0 }, log }
    }

    /// The half-width at a precision, in steps.
    #[must_use]
    pub fn half_width(&self, precision: f64) -> f64 {
        let total = precision + self.gamma;
        let log = libm::log(total / self.gamma) + self.log;
        (total * log).sqrt() / precision + 0.5
    }

    /// The precision that its mixture is spread by, fixed in advance. Intervals of other levels
    /// with the same gamma come from the same mixture.
    #[must_use]
    pub fn gamma(&self) -> f64 {
        self.gamma
    }
}

/// How many deviations off an answer may be, but for a probability of a miss: at one look that was
/// planned before anything was seen, or, with the precision of the answer over the gamma of a
/// confidence sequence, at every look at once.
///
/// - Theorem: chosen-rows (docs/theorems.md)
/// - Proves: of R intervals shown out of m, each at a miss of `alpha R/m`, a part of at most alpha
///   misses on average, although rows were chosen by their noise
/// - Assumes: at planned looks, noise is independent from group to group; gamma was fixed in
///   advance
/// - Deviates: nothing; half a step is added by who has the grid
/// - Checked by: `intervals_of_chosen_rows_hold_as_often_as_they_say`,
///   `deviations_match_the_golden_values`
#[must_use]
pub fn deviations(miss: f64, over_gamma: Option<f64>) -> f64 {
    let miss = miss.clamp(1e-300, 1.0);
    match over_gamma {
        None => two_sided(miss),
        Some(over) => {
            let over = over.clamp(1e-150, 1e150);
            ((1.0 + over.recip()) * (libm::log1p(over) - 2.0 * libm::log(miss))).sqrt()
        }
    }
}

/// The two-sided normal quantile of a miss.
pub(crate) fn two_sided(miss: f64) -> f64 {
    let (mut low, mut high) = (0.0, 38.0);
    for _ in 0..80 {
        let middle = f64::midpoint(low, high);
        let outside = libm::erfc(middle / std::f64::consts::SQRT_2);
        if outside > miss { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From mpmath, at forty digits: precision, gamma, alpha, and the half-width times the
    /// precision.
    #[test]
    fn half_widths_match_the_golden_values() {
        for (precision, gamma, alpha, golden) in [
            (0.5, 1.0, 1e-6f64, 6.484_961_783_700_43),
            (0.5, 0.5, 1e-2, 3.146_980_704_188_719),
            (2.706, 0.5, 1e-2, 5.956_983_146_791_294),
            (10.0, 1.0, 1e-2, 11.300_026_198_753_704),
            (100.0, 0.5, 1e-6, 57.531_728_336_725_26),
        ] {
            let sequence = ConfidenceSequence { gamma, log: -2.0 * alpha.ln() };
            let width = (sequence.half_width(precision) - 0.5) * precision;
            assert!((width / golden - 1.0).abs() < 1e-12, "{width} {golden}");
        }
    }

    /// From mpmath: two-sided normal quantiles; and what a sequence has at a precision over its
    /// gamma.
    #[test]
    fn deviations_match_the_golden_values() {
        for (miss, golden) in [
            (0.05f64, 1.959_963_984_540_054),
            (5e-4, 3.480_756_404_136_99),
            (1e-9, 6.109_410_204_869_1),
        ] {
            assert!((deviations(miss, None) / golden - 1.0).abs() < 1e-9, "{miss}");
        }
        for (precision, gamma, miss) in [(0.5, 1.0, 1e-6f64), (10.0, 0.3, 0.05), (1e-3, 2.0, 5e-4)]
        {
            let sequence = ConfidenceSequence { gamma, log: -2.0 * miss.ln() };
            let half = (sequence.half_width(precision) - 0.5) * f64::sqrt(precision);
            let found = deviations(miss, Some(precision / gamma));
            assert!((found / half - 1.0).abs() < 1e-12, "{found} {half}");
        }
        assert!(deviations(1e-290, None).is_finite() && deviations(0.0, Some(1.0)).is_finite());
    }
}
