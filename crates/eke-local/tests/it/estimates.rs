//! What reports say about how many users hold each category, over many simulated populations.
//!
//! | test | seed | rounds | critical value | false alarms |
//! |---|---|---|---|---|
//! | unbiased | 11 | 4000 | 6 deviations, 12 categories, 7 laws | 2e-7 |
//! | variances | 11 | 4000 | 6 deviations, 7 laws | 2e-8 |
//! | heavy | 12 | 3000 | 6 deviations above the level | 1e-9 |

use eke_local::estimate::Over;
use eke_local::{Law, Tally};
use eke_noise::Confidence;
use eke_noise::local::ReportLaw;

use crate::{Dice, bits, hashes, reports, sets};

/// Tallies of a population, again and again.
struct Rounds {
    law: Law,
    values: Vec<u32>,
    entropy: Dice,
}

impl Rounds {
    fn new(law: Law, holders: &[usize], seed: u64) -> Self {
        let values = (0..).zip(holders).flat_map(|(v, &n)| std::iter::repeat_n(v, n)).collect();
        Self { law, values, entropy: Dice(seed) }
    }

    fn tally(&mut self) -> Tally {
        let mut tally = Tally::new(self.law);
        tally.add(&reports(&self.law, &self.values, &mut self.entropy)).unwrap();
        tally
    }
}

const HOLDERS: [usize; 12] = [60, 0, 40, 1, 0, 0, 20, 3, 0, 30, 0, 46];

/// Means within six of their deviations; the controls, an f that is a fiftieth off and a variance
/// that is a quarter off, are not.
#[test]
fn estimates_are_unbiased_and_vary_as_they_say() {
    let rounds = 4000u32;
    let n: f64 = 200.0;
    for law in [
        sets(12, 1, "1"),
        sets(12, 3, "1"),
        sets(12, 6, "0.3"),
        sets(12, 2, "3"),
        hashes(12, 1, "0.5"),
        hashes(12, 3, "2"),
        bits(12, "1.5"),
    ] {
        let mut many = Rounds::new(law, &HOLDERS, 11);
        let (hit, miss, gap) = (many.law.hit(), many.law.miss(), many.law.gap());
        let (mut sums, mut wrong, mut squares) = ([0.0; 12], [0.0; 12], 0.0);
        for _ in 0..rounds {
            let mut tally = many.tally();
            let estimates = tally.estimates();
            let users = estimates.all_users();
            if matches!(law.report(), ReportLaw::Subset(_)) {
                assert!((users.iter().sum::<f64>() - n).abs() < 1e-6);
            }
            for (v, (&users, &count)) in users.iter().zip(tally.counts()).enumerate() {
                let truth = f64::from(u32::try_from(HOLDERS[v]).unwrap());
                sums[v] += users - truth;
                squares += (users - truth).powi(2);
                let off = miss * 1.02;
                let count = f64::from(u32::try_from(count).unwrap());
                wrong[v] += (count - n * off) / (hit - off) - truth;
            }
        }
        let rounds = f64::from(rounds);
        let mut caught = false;
        for (v, &holders) in HOLDERS.iter().enumerate() {
            let holders = f64::from(u32::try_from(holders).unwrap());
            let variance =
                (holders * hit * (1.0 - hit) + (n - holders) * miss * (1.0 - miss)) / (gap * gap);
            let deviation = (variance / rounds).sqrt();
            let mean = sums[v] / rounds;
            assert!(mean.abs() < 6.0 * deviation, "{law:?} {v}: {mean} {deviation}");
            caught |= (wrong[v] / rounds).abs() > 6.0 * deviation;
        }
        assert!(caught, "blind to a wrong f");
        // The mean of twelve squares a round, which are correlated: as if there were two.
        let expected = n * (hit * (1.0 - hit) + 11.0 * miss * (1.0 - miss)) / (gap * gap);
        let error = (2.0 / (2.0 * rounds)).sqrt();
        let ratio = squares / rounds / expected;
        assert!((ratio - 1.0).abs() < 6.0 * error, "{law:?}: {ratio}");
        assert!((ratio / 1.25 - 1.0).abs() > 6.0 * error, "blind to a wrong variance");
    }
}

/// How often some category that nobody holds is called heavy, with one category held by all; the
/// control does not share the risk among the categories.
#[test]
fn categories_that_nobody_holds_are_hardly_ever_heavy() {
    let confidence = Confidence::new(0.9).unwrap();
    let mut many = Rounds::new(sets(32, 9, "1"), &[300], 12);
    // A tenth on either side, for each category.
    let each = Confidence::new(0.8).unwrap();
    let rounds = 3000u32;
    let (mut wrong, mut careless, mut found) = (0u32, 0u32, 0u32);
    for _ in 0..rounds {
        let estimates = many.tally().estimates();
        let heavy = estimates.heavy(0, confidence);
        wrong += u32::from(heavy.iter().any(|heavy| heavy.category > 0));
        found += u32::from(heavy.first().is_some_and(|heavy| heavy.category == 0));
        // The one that is named most often is the first to be wrong.
        let users = |v: &u32| estimates.users(*v).unwrap();
        let most = (1..32).max_by(|a, b| users(a).total_cmp(&users(b))).unwrap();
        careless += u32::from(estimates.interval(most, each, Over::Each).unwrap().low > 0);
    }
    let rate = |count: u32| f64::from(count) / f64::from(rounds);
    let error = (0.09 / f64::from(rounds)).sqrt();
    assert!(rate(wrong) < 0.1 + 6.0 * error, "{}", rate(wrong));
    assert!(rate(careless) > 0.1 + 6.0 * error, "{}", rate(careless));
    assert_eq!(found, rounds);
}

#[test]
fn heavy_categories_are_those_that_more_users_hold_than_asked() {
    let confidence = Confidence::new(0.95).unwrap();
    let mut many = Rounds::new(sets(12, 2, "3"), &HOLDERS.map(|n| n * 100), 13);
    let estimates = many.tally().estimates();
    let named = |above| -> Vec<u32> {
        estimates.heavy(above, confidence).iter().map(|heavy| heavy.category).collect()
    };
    assert_eq!(named(0)[..5], [0, 11, 2, 9, 6]);
    assert_eq!(named(3500), [0, 11, 2]);
    assert_eq!(named(5500), [0]);
    assert!(named(20_000).is_empty());
    assert!(named(u64::MAX).is_empty());
}

#[test]
fn no_reports_say_nothing_and_break_nothing() {
    let estimates = Tally::new(sets(10, 3, "1")).estimates();
    let confidence = Confidence::new(0.95).unwrap();
    let interval = estimates.interval(0, confidence, Over::All).unwrap();
    assert_eq!((interval.low, interval.high), (0, 0));
    assert_eq!(estimates.all_users(), [0.0; 10]);
    assert_eq!(estimates.consistent(), [0.0; 10]);
    assert!(estimates.heavy(0, confidence).is_empty());
    assert_eq!(estimates.interval(10, confidence, Over::All), None);
    assert_eq!((estimates.users(10), estimates.deviation(10)), (None, None));
}
