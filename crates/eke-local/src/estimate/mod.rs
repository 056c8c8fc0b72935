//! How many users hold each category, estimated from a tally of their reports.
//!
//! Everything here is about the users that have reported, each of whom holds one category: not
//! about a larger population that they might be a sample of. Estimates are unbiased and may be
//! negative; [`Estimates::consistent`] makes them possible and biased. Intervals are exact but for
//! the rounding of doubles: the count of a category is the sum of two binomial numbers, and an
//! interval holds the numbers of users under which the count found is not too unlikely on either
//! side. An interval of one category holds with its confidence for that category; [`Over::All`]
//! makes all of them hold together.

pub(crate) mod counters;
pub(crate) mod simplex;
pub(crate) mod tails;
pub(crate) mod tally;

pub use tally::{Tally, TallyError};

use eke_noise::Confidence;

use crate::estimate::tails::{Count, first};
use crate::worth::law::Law;

/// What a tally says about how many users hold each category.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimates {
    law: Law,
    reports: u64,
    counts: Vec<u64>,
}

/// What a confidence is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// Each category for itself: of a hundred intervals at 95 %, five are expected to be wrong.
    Each,
    /// All categories together: each gets its share of what may go wrong (Bonferroni).
    All,
}

/// An interval for a number of users, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The least number of users.
    pub low: u64,
    /// The largest number of users.
    pub high: u64,
}

/// A category that more users hold than was asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Heavy {
    /// Which.
    pub category: u32,
    /// How many users hold it, estimated.
    pub users: f64,
}

impl Estimates {
    pub(crate) fn new(law: Law, reports: u64, counts: Vec<u64>) -> Self {
        Self { law, reports, counts }
    }

    /// The law of the reports.
    #[must_use]
    pub fn law(&self) -> &Law {
        &self.law
    }

    /// How many users have reported.
    #[must_use]
    pub fn reports(&self) -> u64 {
        self.reports
    }

    /// How many users hold a category, estimated without bias: `(count - n f)/(t - f)`. It may be
    /// below zero or above the number of users. None for a category that there is not.
    ///
    /// - Theorem: report-counts (docs/theorems.md)
    /// - Proves: its mean is the number of users that hold the category
    /// - Assumes: every user reported once, by this law (caller; sizes are checked)
    /// - Deviates: in doubles
    /// - Checked by: `estimates_are_unbiased_and_vary_as_they_say`
    #[must_use]
    pub fn users(&self, category: u32) -> Option<f64> {
        let count = *self.counts.get(category as usize)?;
        Some(self.unbiased(count))
    }

    /// The same for all categories, in their order.
    #[must_use]
    pub fn all_users(&self) -> Vec<f64> {
        self.counts.iter().map(|&count| self.unbiased(count)).collect()
    }

    /// How far the estimate of a category typically is from the truth: its standard deviation, if
    /// as many users hold the category as estimated.
    #[must_use]
    pub fn deviation(&self, category: u32) -> Option<f64> {
        let n = number(self.reports);
        let holders = self.users(category)?.clamp(0.0, n);
        let (hit, miss) = (self.law.hit(), self.law.miss());
        let variance = holders * hit * (1.0 - hit) + (n - holders) * miss * (1.0 - miss);
        Some(variance.sqrt() / self.law.gap())
    }

    /// How many users may hold a category: the numbers under which neither a count as small nor one
    /// as large as that found is less likely than half of what the confidence leaves.
    ///
    /// - Theorem: report-counts (docs/theorems.md)
    /// - Proves: it holds the number of users with at least the confidence, whatever the number is
    /// - Assumes: every user reported once, by this law (caller)
    /// - Deviates: tails are doubles, off by a billionth of themselves
    /// - Checked by: `intervals_hold_as_often_as_they_say_for_every_number_of_users`
    #[must_use]
    pub fn interval(&self, category: u32, confidence: Confidence, over: Over) -> Option<Interval> {
        let count = *self.counts.get(category as usize)?;
        let side = self.risk(confidence, over) / 2.0;
        // Where the ends would be if the count were normal is where they are looked for.
        let (users, away) = (self.unbiased(count), deviations(side) * self.deviation(category)?);
        let low = first(nearest(users - away), self.reports, |users| {
            self.given(users).at_least(count) > side
        });
        // The most users under which the count is not too small: one below the first under which it
        // is.
        let above = first(nearest(users + away), self.reports + 1, |users| {
            users > self.reports || self.given(users).at_most(count) <= side
        });
        Some(Interval { low, high: above.saturating_sub(1).max(low) })
    }

    /// Numbers of users that could be: none below zero, and all together the users that reported.
    /// They are the possible numbers nearest to the estimates (in squared distance).
    ///
    /// They are better than the unbiased ones together, and biased: those of rare categories are
    /// too large, and those of common ones too small, so sums over many rare categories should not
    /// be taken from them.
    ///
    /// - Theorem: simplex-projection (docs/theorems.md)
    /// - Proves: they are no further from the true numbers than the estimates are, whatever came in
    /// - Assumes: nothing
    /// - Deviates: in doubles
    /// - Checked by: `consistent_numbers_are_possible_and_nearest`
    #[must_use]
    pub fn consistent(&self) -> Vec<f64> {
        simplex::nearest(self.all_users(), number(self.reports))
    }

    /// The categories that more than `above` users hold (heavy hitters), as far as the reports show
    /// it: with this confidence none of them is held by fewer. Those that most users hold come
    /// first.
    ///
    /// - Theorem: report-counts (docs/theorems.md)
    /// - Proves: with the confidence, all categories named are held by more than `above` users
    /// - Assumes: every user reported once, by this law (caller)
    /// - Deviates: tails are doubles, off by a billionth of themselves
    /// - Checked by: `categories_that_nobody_holds_are_hardly_ever_heavy`
    #[must_use]
    pub fn heavy(&self, above: u64, confidence: Confidence) -> Vec<Heavy> {
        if above >= self.reports {
            return Vec::new();
        }
        // The same count for all: the first that is too unlikely if no more users than that hold a
        // category.
        let risk = self.risk(confidence, Over::All);
        let given = self.given(above);
        let about = number(above) * given.hit + number(given.others) * given.miss;
        let enough = first(nearest(about), self.reports + 1, |count| given.at_least(count) <= risk);
        let mut heavy: Vec<Heavy> = (0..)
            .zip(&self.counts)
            .filter(|&(_, &count)| count >= enough)
            .map(|(category, &count)| Heavy { category, users: self.unbiased(count) })
            .collect();
        heavy.sort_by(|a, b| b.users.total_cmp(&a.users));
        heavy
    }

    fn unbiased(&self, count: u64) -> f64 {
        (number(count) - number(self.reports) * self.law.miss()) / self.law.gap()
    }

    /// The law of a category's count if n users hold it.
    fn given(&self, users: u64) -> Count {
        let others = self.reports.saturating_sub(users);
        Count { holders: users, hit: self.law.hit(), others, miss: self.law.miss() }
    }

    /// What may go wrong for one category.
    fn risk(&self, confidence: Confidence, over: Over) -> f64 {
        let risk = 1.0 - confidence.get();
        match over {
            Over::Each => risk,
            Over::All => risk / f64::from(self.law.categories()),
        }
    }
}

fn number(count: u64) -> f64 {
    count as f64
}

/// How many standard deviations above its mean a normal number is with this chance, to a thousandth
/// or so (Abramowitz and Stegun 26.2.23).
fn deviations(chance: f64) -> f64 {
    let t = (-2.0 * chance.ln()).sqrt();
    let above = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    t - above / (1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308)))
}

/// Where to begin to look.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
fn nearest(users: f64) -> u64 {
    users as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use eke_noise::local::{ReportLaw, Template};

    fn law(categories: u32, size: u32, epsilon: &str) -> Law {
        let template = Template::new(size, epsilon.parse().unwrap());
        Law::new(categories, ReportLaw::Subset(template)).unwrap()
    }

    /// Exactly, over all counts, for every number of users that may hold the category. The usual
    /// two deviations to either side, as a control, do not hold as often as they say.
    #[test]
    fn intervals_hold_as_often_as_they_say_for_every_number_of_users() {
        let n = 60u64;
        let mut control: f64 = 1.0;
        for (categories, size, epsilon) in
            [(10, 1, "4"), (10, 3, "1"), (3, 1, "0.5"), (100, 1, "6")]
        {
            let law = law(categories, size, epsilon);
            // What each count of the first category would say.
            let estimates: Vec<Estimates> =
                (0..=n).map(|count| Estimates::new(law, n, vec![count])).collect();
            for (confidence, over) in [(0.9, Over::Each), (0.95, Over::Each), (0.5, Over::All)] {
                let level = Confidence::new(confidence).unwrap();
                let promised = match over {
                    Over::Each => confidence,
                    Over::All => 1.0 - (1.0 - confidence) / f64::from(categories),
                };
                let intervals: Vec<Interval> =
                    estimates.iter().map(|e| e.interval(0, level, over).unwrap()).collect();
                for users in 0..=n {
                    let count = estimates[0].given(users);
                    let chance = |c: usize| count.at_least(c as u64) - count.at_least(c as u64 + 1);
                    let holds: f64 = (0..intervals.len())
                        .filter(|&c| (intervals[c].low..=intervals[c].high).contains(&users))
                        .map(chance)
                        .sum();
                    assert!(holds >= promised - 1e-12, "{law:?} {confidence} {users}: {holds}");
                    if over == Over::Each && confidence > 0.9 {
                        let usual: f64 = (0..estimates.len())
                            .filter(|&c| {
                                let deviation = 1.96 * estimates[c].deviation(0).unwrap();
                                (estimates[c].users(0).unwrap() - number(users)).abs() <= deviation
                            })
                            .map(chance)
                            .sum();
                        control = control.min(usual);
                    }
                }
            }
        }
        assert!(control < 0.9, "{control}");
    }

    /// Intervals that are not wider than they must be: about two deviations to either side.
    #[test]
    fn intervals_are_about_as_wide_as_deviations_say() {
        let estimates = Estimates::new(law(128, 34, "1"), 1_000_000, vec![270_000; 128]);
        let level = Confidence::new(0.95).unwrap();
        let interval = estimates.interval(0, level, Over::Each).unwrap();
        let deviation = estimates.deviation(0).unwrap();
        let width = number(interval.high - interval.low);
        assert!((width / (2.0 * 1.959_964 * deviation) - 1.0).abs() < 1e-3, "{width} {deviation}");
        let middle = f64::midpoint(number(interval.low), number(interval.high));
        assert!((middle - estimates.users(0).unwrap()).abs() < 0.01 * deviation);
        let all = estimates.interval(0, level, Over::All).unwrap();
        assert!(all.low < interval.low && all.high > interval.high);
    }

    /// The count from which on a category is heavy: unlikely enough if no more than the given
    /// number hold it, and no larger than it has to be.
    #[test]
    fn heavy_counts_are_the_first_that_are_unlikely_enough() {
        let law = law(10, 3, "1");
        let level = Confidence::new(0.95).unwrap();
        for above in [0, 1, 20, 59] {
            let is_heavy = |count| {
                let heavy = Estimates::new(law, 60, vec![count; 10]).heavy(above, level);
                assert!(heavy.is_empty() || heavy.len() == 10);
                !heavy.is_empty()
            };
            let given = Estimates::new(law, 60, vec![0; 10]).given(above);
            for count in 0..=60 {
                assert_eq!(is_heavy(count), given.at_least(count) <= 0.05 / 10.0 + 1e-15);
            }
        }
    }
}
