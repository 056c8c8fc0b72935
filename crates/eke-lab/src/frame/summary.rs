//! What many trials came to: the mean, the quartiles, and where the mean lies with confidence 95 %.

use serde::Serialize;
use statrs::distribution::{Beta, ContinuousCDF, StudentsT};

/// How sure an interval of a mean is.
pub const CONFIDENCE: f64 = 0.95;

/// Trials, summed up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The mean.
    pub mean: f64,
    /// What a quarter, a half and three quarters of the trials are at or below.
    pub quartiles: [f64; 3],
    /// Where the mean of infinitely many trials lies, with [`CONFIDENCE`]; none of a single trial.
    pub interval: Option<[f64; 2]>,
    /// How many trials.
    pub n: usize,
}

impl Summary {
    /// Of numbers: the interval is Student's, which takes means for normal.
    ///
    /// # Panics
    /// There are no numbers.
    #[must_use]
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.into_iter().collect();
        assert!(!values.is_empty(), "there is nothing to sum up");
        values.sort_by(f64::total_cmp);
        let count = count(values.len());
        let mean = values.iter().sum::<f64>() / count;
        let quartiles = [0.25, 0.5, 0.75].map(|share| quantile(&values, share));
        let interval = (values.len() > 1).then(|| {
            let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
            let error = (squares / (count - 1.0) / count).sqrt();
            let reach = StudentsT::new(0.0, 1.0, count - 1.0)
                .map_or(f64::NAN, |law| law.inverse_cdf(f64::midpoint(1.0, CONFIDENCE)));
            [mean - reach * error, mean + reach * error]
        });
        Self { mean, quartiles, interval, n: values.len() }
    }

    /// Of how often something happened: the interval is that of Clopper and Pearson, which holds
    /// for every share.
    ///
    /// # Panics
    /// There are no trials.
    #[must_use]
    pub fn of_share(happened: usize, n: usize) -> Self {
        assert!(n > 0 && happened <= n, "{happened} of {n} is no share");
        let (k, total) = (count(happened), count(n));
        let beta = |a: f64, b: f64, p: f64| Beta::new(a, b).map_or(f64::NAN, |l| l.inverse_cdf(p));
        let tail = (1.0 - CONFIDENCE) / 2.0;
        let low = if happened == 0 { 0.0 } else { beta(k, total - k + 1.0, tail) };
        let high = if happened == n { 1.0 } else { beta(k + 1.0, total - k, 1.0 - tail) };
        let quartile = |share: f64| if (total - k) / total > share { 0.0 } else { 1.0 };
        let quartiles = [0.25, 0.5, 0.75].map(quartile);
        Self { mean: k / total, quartiles, interval: Some([low, high]), n }
    }
}

/// A quantile of sorted values, between neighbours by straight lines.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * count(sorted.len() - 1);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
    let below = place.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * (place - place.floor())
}

fn count(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use eke_testkit::Seeded;

    #[test]
    fn a_summary_has_what_the_textbook_has() {
        let summary = Summary::of([3.0, 1.0, 2.0, 5.0, 4.0]);
        assert!((summary.mean - 3.0).abs() < 1e-12);
        assert_eq!(
            summary.quartiles.map(|q| format!("{q:.9}")),
            ["2", "3", "4"].map(|q| q.to_owned() + ".000000000")
        );
        // 2.776445 standard errors of sqrt(2.5/5).
        let [low, high] = summary.interval.unwrap();
        assert!((high - 3.0 - 2.776_445_105 * 0.5f64.sqrt()).abs() < 1e-6, "{high}");
        assert!((low + high - 6.0).abs() < 1e-12);
        assert_eq!(Summary::of([7.0]).interval, None);
    }

    #[test]
    fn shares_have_the_interval_of_clopper_and_pearson() {
        let [low, high] = Summary::of_share(3, 20).interval.unwrap();
        assert!((low - 0.032_070_94).abs() < 1e-6 && (high - 0.378_926_83).abs() < 1e-6);
        let [low, high] = Summary::of_share(0, 10).interval.unwrap();
        assert!(low.abs() < 1e-12 && (high - 0.308_497_1).abs() < 1e-6);
        let all = Summary::of_share(4, 4);
        assert!((all.interval.unwrap()[1] - 1.0).abs() < 1e-12);
        assert_eq!(all.quartiles.map(|q| q > 0.5), [true; 3]);
    }

    /// 2,000 means of 20 uniform numbers, seed 3: the interval has the true mean in 95 % of them,
    /// up to five standard errors (once in two million). One of two thirds the width, the control,
    /// does not.
    #[test]
    fn intervals_cover_as_often_as_they_say() {
        let mut seeded = Seeded::new(3);
        let (mut covered, mut narrow) = (0u32, 0u32);
        for _ in 0..2000 {
            let summary = Summary::of((0..20).map(|_| seeded.unit()));
            let [low, high] = summary.interval.unwrap();
            let off = (summary.mean - 0.5).abs();
            covered += u32::from(off <= (high - low) / 2.0);
            narrow += u32::from(off <= (high - low) / 3.0);
        }
        let error = 5.0 * (0.95 * 0.05 / 2000.0f64).sqrt();
        assert!((f64::from(covered) / 2000.0 - 0.95).abs() < error, "{covered}");
        assert!((f64::from(narrow) / 2000.0 - 0.95).abs() > error, "{narrow}");
    }
}
