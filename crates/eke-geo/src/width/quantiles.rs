//! How wide noise is: quantiles of normal noise in one dimension and of its length in many.
//!
//! Everything here is about what has been released, in units of the noise's deviation; privacy does
//! not depend on it.

use eke_budget::number::normal::Cdf;

use crate::width::gamma::Tails;

/// The probability of being wrong that somebody accepts.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "f64")]
pub struct Miss(f64);

/// Not such a probability.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{0} is no probability of being wrong: write a number from 1e-100 to 0.5, such as 0.05")]
pub struct MissError(f64);

impl Miss {
    /// Checks the number and wraps it.
    ///
    /// # Errors
    /// It is not between 1e-100 and 0.5.
    pub fn new(value: f64) -> Result<Self, MissError> {
        (1e-100..=0.5).contains(&value).then_some(Self(value)).ok_or(MissError(value))
    }

    /// The number.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }

    /// One of n equal parts, for n things that may all go wrong (union bound); no smaller than can
    /// be counted.
    #[must_use]
    pub fn shared_by(self, parts: usize) -> Self {
        Self((self.0 / parts.max(1) as f64).max(1e-100))
    }
}

impl TryFrom<f64> for Miss {
    type Error = MissError;

    fn try_from(value: f64) -> Result<Self, MissError> {
        Self::new(value)
    }
}

/// What normal noise is above with this probability: for questions with one side.
/// ```
/// use eke_geo::width::{Miss, normal_width};
/// assert!((normal_width(Miss::new(0.05)?) - 1.644_853_626_951_472_7).abs() < 1e-14);
/// # Ok::<(), eke_geo::width::MissError>(())
/// ```
#[must_use]
pub fn normal_width(miss: Miss) -> f64 {
    quantile(libm::log(miss.0))
}

/// What normal noise is further from zero than with this probability.
#[must_use]
pub fn two_sided_width(miss: Miss) -> f64 {
    quantile(libm::log(miss.0 / 2.0))
}

/// What the length of normal noise in n dimensions is above with this probability.
///
/// - Theorem: chi-width (docs/theorems.md)
/// - Proves: a point with noise of deviation one in every coordinate is within it with probability
///   `1 - miss`
/// - Assumes: normal noise (path), which discrete noise is within e^±tau of
/// - Deviates: computed in doubles, to about 1e-12
/// - Checked by: `widths_match_the_golden_values`
///
/// # Panics
/// There are no dimensions.
#[must_use]
pub fn chi_width(dimensions: usize, miss: Miss) -> f64 {
    assert!(dimensions > 0, "a point has coordinates");
    if dimensions == 2 {
        return (-2.0 * libm::log(miss.0)).sqrt();
    }
    let d = dimensions as f64;
    let log = libm::log(miss.0);
    // The logarithm of the tail is concave and falls: from above, steps along its slope stay above.
    let mut width = d.sqrt() + (-2.0 * log).sqrt();
    for _ in 0..100 {
        let tails = Tails::at(d / 2.0, width * width / 2.0);
        // The density of the length, over the tail.
        let slope = d * tails.between / width / tails.upper;
        let step = (log - libm::log(tails.upper)) / slope;
        width -= step;
        if step.abs() <= SMALL_STEP * width {
            break;
        }
    }
    width
}

/// Each step squares what is off: after one as small as this nothing is left of it but rounding.
const SMALL_STEP: f64 = 1e-9;

/// What normal noise is above with a probability of at most a half, by its logarithm.
pub(crate) fn quantile(log: f64) -> f64 {
    // As for the length: concave, falling, and the start is above.
    let mut width = (-2.0 * (log + std::f64::consts::LN_2)).max(0.0).sqrt();
    for _ in 0..100 {
        let tail = Cdf::at(-width);
        let step = (log - tail.ln()) / tail.hazard();
        width -= step;
        if step.abs() <= SMALL_STEP * width {
            break;
        }
    }
    width.max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn miss(value: f64) -> Miss {
        Miss::new(value).unwrap()
    }

    /// From mpmath, at forty digits.
    #[test]
    fn widths_match_the_golden_values() {
        for (beta, one, two) in [
            (0.05, 1.644_853_626_951_472_6, 1.959_963_984_540_054_3),
            (1e-3, 3.090_232_306_167_813_6, 3.290_526_731_491_895),
            (1e-6, 4.753_424_308_822_899, 4.891_638_475_698_59),
            (1e-10, 6.361_340_902_404_057, 6.466_951_087_240_516),
        ] {
            let (found, both) = (normal_width(miss(beta)), two_sided_width(miss(beta)));
            assert!((found / one - 1.0).abs() < 1e-14, "{beta}: {found}");
            assert!((both / two - 1.0).abs() < 1e-14, "{beta}: {both}");
            let length = chi_width(1, miss(beta));
            assert!((length / two - 1.0).abs() < 1e-13, "{beta}: {length}");
        }
        for (dimensions, beta, known) in [
            (3, 0.05, 2.795_483_482_915_107_4),
            (10, 0.05, 4.278_672_463_892_877),
            (2, 1e-3, 3.716_922_188_849_838_3),
            (3, 1e-3, 4.033_142_223_656_157),
            (10, 1e-3, 5.439_512_702_905_879),
            (2, 1e-6, 5.256_521_769_756_932),
            (3, 1e-6, 5.537_585_187_264_716),
            (10, 1e-6, 6.845_658_978_271_149),
            (784, 1e-6, 31.413_698_778_424_298),
            (2, 1e-10, 6.786_140_424_415_112),
            (3, 1e-10, 7.038_618_893_470_769),
            (10, 1e-10, 8.256_368_338_356_637),
            (784, 1e-10, 32.600_201_773_744_32),
        ] {
            let found = chi_width(dimensions, miss(beta));
            assert!((found / known - 1.0).abs() < 1e-13, "{dimensions} {beta}: {found}");
        }
        assert!(normal_width(miss(0.5)).abs() < 1e-15);
    }

    proptest! {
        #[test]
        fn widths_undo_their_tails(log in -230.0f64..-0.6932, dimensions in prop_oneof![1usize..40, 40usize..=1 << 16]) {
            let miss = miss(log.exp());
            let width = chi_width(dimensions, miss);
            let tail = Tails::at(dimensions as f64 / 2.0, width * width / 2.0).upper;
            prop_assert!((tail.ln() / log - 1.0).abs() < 1e-9, "{dimensions} {log}: {tail}");
            let width = normal_width(miss);
            prop_assert!((Cdf::at(-width).ln() / log - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn misses_are_probabilities_and_can_be_shared() {
        assert!(Miss::new(0.0).is_err() && Miss::new(0.6).is_err() && Miss::new(f64::NAN).is_err());
        assert!((miss(0.1).shared_by(4).get() - 0.025).abs() < 1e-16);
        assert!(miss(1e-100).shared_by(10).get() >= 1e-100);
        let error = serde_json::from_str::<Miss>("2").unwrap_err().to_string();
        assert!(error.starts_with("2 is no probability of being wrong"), "{error}");
    }
}
