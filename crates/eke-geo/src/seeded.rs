//! Randomness that can be had again, for tests.

use eke_noise::Entropy;

/// SplitMix64.
pub(crate) struct Seeded(pub(crate) u64);

impl Entropy for Seeded {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }
}

impl Seeded {
    /// A number between 0 and 1.
    pub(crate) fn uniform(&mut self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "53 bits")]
        let uniform = (self.word() >> 11) as f64 / 9_007_199_254_740_992.0;
        uniform
    }
}
