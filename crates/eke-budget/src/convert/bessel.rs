//! The Skellam law by the ratios of its neighbouring probabilities.
//!
//! Skellam noise of variance m has `P(k) = exp(-m) I_|k|(m)`, with modified Bessel functions I.
//! Their ratios `I_j/I_{j-1} = 1/(2j/m + I_{j+1}/I_j)` are computed from far out inwards, where
//! every step makes earlier errors smaller. Logarithms are kept, so that no tail is too small for a
//! double.

/// The logarithms of Skellam probabilities from zero to some end.
#[derive(Clone, Debug)]
pub(super) struct Probabilities {
    /// `ln(P(j-1)/P(j))`, from j = 1 on; positive and increasing.
    steps: Vec<f64>,
    /// `ln(P(0)/P(j))`, from j = 0 on.
    falls: Vec<f64>,
    /// `ln P(0)`.
    ln_zero: f64,
}

impl Probabilities {
    /// Those up to an end, and as far as there is any mass that a double could tell.
    pub(super) fn new(variance: f64, end: usize) -> Self {
        let deviations = 10.0 * variance.sqrt();
        let end = end.max(whole(deviations) + 40);
        // From here inwards, what the first ratio is off by is gone before the end is reached.
        let start = end + whole(4.0 * deviations) + 100;
        let mut ratio = 0.0;
        let mut steps = vec![0.0; end];
        for j in (1..=start).rev() {
            ratio = 1.0 / (2.0 * double(j) / variance + ratio);
            if j <= end {
                steps[j - 1] = -libm::log(ratio);
            }
        }
        // A compensated sum: its error does not grow with the number of steps.
        let (mut sum, mut lost) = (0.0f64, 0.0f64);
        let mut falls = vec![0.0];
        falls.extend(steps.iter().map(|&step| {
            let add = step - lost;
            let next = sum + add;
            lost = (next - sum) - add;
            sum = next;
            sum
        }));
        let mass: f64 = falls.iter().rev().map(|fall| libm::exp(-fall)).sum();
        Self { steps, falls, ln_zero: -libm::log(2.0 * mass - 1.0) }
    }

    /// The last outcome known.
    pub(super) fn end(&self) -> usize {
        self.steps.len()
    }

    /// `ln P(j)`.
    pub(super) fn ln(&self, j: usize) -> f64 {
        self.ln_zero - self.falls[j]
    }

    /// `ln(P(k - shift)/P(k))`, not negative: for outcomes k that are at least half the shift.
    pub(super) fn loss(&self, k: usize, shift: usize) -> f64 {
        let from = k.abs_diff(shift);
        if k - from <= 16 {
            self.steps[from..k].iter().sum()
        } else {
            self.falls[k] - self.falls[from]
        }
    }
}

pub(super) fn double(count: usize) -> f64 {
    count as f64
}

/// The whole number above a small positive double.
pub(super) fn whole(value: f64) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    let value = value.ceil() as usize;
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the series of both Poisson laws, for variances at which it can be summed.
    #[test]
    fn skellam_probabilities_are_those_of_two_poisson_numbers() {
        for lambda in [0.05, 0.5, 1.0, 4.0, 30.0] {
            let law = Probabilities::new(2.0 * lambda, 0);
            let poisson = |n: usize| {
                let log = double(n) * libm::log(lambda) - lambda - libm::lgamma(double(n) + 1.0);
                libm::exp(log)
            };
            let mut sum = 0.0;
            for k in 0..40usize {
                let direct: f64 = (0..300).map(|n| poisson(n) * poisson(n + k)).sum();
                let ours = libm::exp(law.ln(k));
                assert!((ours / direct - 1.0).abs() < 1e-11, "{lambda} {k}: {ours} {direct}");
                sum += if k == 0 { ours } else { 2.0 * ours };
            }
            assert!((sum - 1.0).abs() < 1e-6, "{lambda}");
        }
    }

    #[test]
    fn losses_are_the_same_by_steps_and_by_falls() {
        let law = Probabilities::new(300.0, 2000);
        for shift in 1..60 {
            for k in shift..500 {
                let direct = law.ln(k - shift) - law.ln(k);
                assert!(
                    (law.loss(k, shift) - direct).abs() < 1e-11 * (1.0 + direct),
                    "{shift} {k}"
                );
            }
            // Between half the shift and the shift, the other side of zero is compared.
            for k in shift.div_ceil(2)..shift {
                let direct = law.ln(shift - k) - law.ln(k);
                assert!((law.loss(k, shift) - direct).abs() < 1e-12, "{shift} {k}");
            }
        }
    }
}
