//! Goodness of fit: a chi-square statistic against a critical value that fitting draws exceed with
//! probability 1e-9, and a control that must be rejected.
//!
//! With some two hundred fits the false alarms of one run of everything have a probability of about
//! 2e-7; and since seeds are fixed, what has passed passes again.

use std::collections::BTreeMap;

/// Six standard deviations: a normal tail of 1e-9.
const DEVIATIONS: f64 = 6.0;

/// How draws fall into cells, against what a law expects (chi-square goodness of fit).
#[doc(alias = "goodness of fit")]
#[doc(alias = "chi-square")]
#[derive(Clone, Copy, Debug)]
pub struct Fit {
    /// How far the draws are from the law, in chi-square.
    pub statistic: f64,
    /// What draws of the law exceed with probability 1e-9.
    pub critical: f64,
}

impl Fit {
    /// Counts draws in cells of known probability. Cells are those that expect ten draws or more;
    /// all other outcomes are one cell together.
    ///
    /// # Panics
    /// The law has a single cell, which says nothing.
    pub fn of<K: Ord>(draws: impl IntoIterator<Item = K>, law: &BTreeMap<K, f64>) -> Self {
        let mut counts: BTreeMap<K, f64> = BTreeMap::new();
        let mut total = 0.0;
        for draw in draws {
            *counts.entry(draw).or_default() += 1.0;
            total += 1.0;
        }
        let (mut statistic, mut cells) = (0.0, 0.0);
        let (mut rest, mut rest_expected) = (total, total);
        let mut add = |count: f64, expected: f64| {
            statistic += (count - expected) * (count - expected) / expected;
            cells += 1.0;
        };
        for (outcome, probability) in law {
            let expected = probability * total;
            if expected >= 10.0 {
                let count = counts.get(outcome).copied().unwrap_or(0.0);
                add(count, expected);
                rest -= count;
                rest_expected -= expected;
            }
        }
        if rest_expected >= 10.0 {
            add(rest, rest_expected);
        } else if rest > 10.0 + rest_expected.max(0.0) + 6.0 * rest_expected.max(0.0).sqrt() {
            // More than a Poisson number of that mean is but once in 1e10: reject.
            add(1e9, 1.0);
        }
        // Wilson and Hilferty's approximation of the chi-square quantile.
        let freedom: f64 = cells - 1.0;
        let part = 2.0 / (9.0 * freedom);
        let critical = freedom * (1.0 - part + DEVIATIONS * part.sqrt()).powi(3);
        assert!(freedom >= 1.0, "one cell says nothing");
        Self { statistic, critical }
    }

    /// Whether the draws do not fit.
    #[must_use]
    pub fn is_rejected(&self) -> bool {
        self.statistic > self.critical
    }

    /// The draws fit the law, and do not fit the control.
    ///
    /// # Panics
    /// Either is not so.
    pub fn assert(&self, control: &Self, what: &str) {
        assert!(!self.is_rejected(), "{what}: {} > {}", self.statistic, self.critical);
        assert!(control.is_rejected(), "{what}: the control passes, so the test is blind");
    }
}
