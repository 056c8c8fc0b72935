//! What may be said of bounds, from released counts alone: how many units are beyond them, and what
//! share of the rows of the others they keep.
//!
//! A count has noise of a known width, so an interval around it. A share of rows is that of units
//! in bins of rows, where one chosen row stands for all rows of its unit. A unit of bin j has
//! between 2^(j-1) + 1 and 2^j rows: the interval holds whichever it is.

use serde::Serialize;

/// Two-sided, at 95 %.
const TWO_SIDED: f64 = 1.959_963_984_540_054;
/// One-sided, at 95 %.
const ONE_SIDED: f64 = 1.644_853_626_951_472_2;
/// How many shares are tried between none and all.
const STEPS: u32 = 1_000;

/// A released number with its interval at 95 %.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CountedUnits {
    /// As it was drawn.
    pub value: f64,
    /// The least that it may be.
    pub low: f64,
    /// The most that it may be.
    pub high: f64,
}

impl CountedUnits {
    /// A count of units with its interval, both as they were drawn: also below zero.
    pub(crate) fn units(value: i64, deviation: f64) -> Self {
        let value = value as f64;
        let reach = TWO_SIDED * deviation;
        Self { value, low: (value - reach).floor(), high: (value + reach).ceil() }
    }
}

/// The most units that there are beyond a bound, at 95 %.
///
/// - Theorem: gaussian-release (docs/theorems.md)
/// - Proves: the true count is at most this with probability at least 95 %
/// - Assumes: the noise of the count is fresh: the bound was chosen before it was drawn (profile)
/// - Deviates: rounded up to a unit; discrete noise is m or more with at most the probability that
///   normal noise is m - 1 or more, so one is added
/// - Checked by: `statements_hold_in_nineteen_of_twenty_fresh_profiles`
pub(crate) fn at_most(value: i64, deviation: f64) -> u64 {
    let most = (value as f64 + ONE_SIDED * deviation + 1.0).ceil().max(0.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
    let most = most as u64;
    most
}

/// What share of rows units in some cells have, from 0 to 1, at 95 %: by bins of rows, the units
/// that are in such a cell and all of them, each with its deviation.
///
/// A share s is possible unless the rows of such units, less s times all rows, are surely more than
/// zero, or surely less (Fieller's set). Noise and the choice of one row a unit both count.
pub(crate) fn share(some: &[i64], all: &[i64], deviations: (f64, f64)) -> (f64, f64) {
    let (some_noise, all_noise) = deviations;
    // Rows of such units, less the share of all, as far from zero as it may be.
    let excess = |share: f64, most_of_some: bool| {
        let (mut sum, mut variance) = (0.0, 0.0);
        for (bin, (&some, &all)) in some.iter().zip(all).enumerate() {
            let most = f64::from(u32::try_from(bin).unwrap_or(u32::MAX)).exp2();
            let least = if bin < 2 { most } else { most / 2.0 + 1.0 };
            let (own, others) = if most_of_some { (most, least) } else { (least, most) };
            let (of_some, of_all) = (own * (1.0 - share) + others * share, -others * share);
            let (some, all) = (some as f64, all as f64);
            sum += of_some * some + of_all * all;
            // Which row was chosen: as many as there may be, each by itself.
            let chosen = (some + some_noise).max(0.0);
            variance += of_some.powi(2) * (some_noise.powi(2) + chosen);
            variance += of_all.powi(2) * all_noise.powi(2);
        }
        (sum, TWO_SIDED * variance.sqrt())
    };
    let shares = || (0..=STEPS).map(|step| f64::from(step) / f64::from(STEPS));
    let high = shares().rev().find(|&share| {
        let (sum, reach) = excess(share, true);
        sum + reach >= 0.0
    });
    let low = shares().find(|&share| {
        let (sum, reach) = excess(share, false);
        sum - reach <= 0.0
    });
    let step = 1.0 / f64::from(STEPS);
    let (low, high) = (low.unwrap_or(0.0) - step, high.unwrap_or(0.0) + step);
    if low > high { (0.0, 1.0) } else { (low.max(0.0), high.min(1.0)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_without_noise_are_between_the_ends_of_their_bins() {
        // One row a unit: no ends, and what is left is which row was chosen.
        let (low, high) = share(&[200_000], &[1_000_000], (1e-9, 1e-9));
        assert!(low > 0.19 && low <= 0.2 && (0.2..0.21).contains(&high), "{low} {high}");
        // A tenth of the units of 5 to 8 rows: between 5 and 8 rows each.
        let (low, high) = share(&[0, 0, 0, 100_000], &[0, 0, 0, 1_000_000], (1e-9, 1e-9));
        let ends = (0.5 / (0.5 + 7.2), 0.8 / (0.8 + 4.5));
        assert!((low - ends.0).abs() < 0.01 && (high - ends.1).abs() < 0.01, "{low} {high}");
        assert_eq!(share(&[0], &[0], (100.0, 100.0)), (0.0, 1.0));
    }

    #[test]
    fn counts_have_intervals_of_their_noise() {
        let units = CountedUnits::units(-3, 10.0);
        assert_eq!((units.value, units.low, units.high), (-3.0, -23.0, 17.0));
        assert_eq!((at_most(-100, 10.0), at_most(5, 10.0)), (0, 23));
    }
}
