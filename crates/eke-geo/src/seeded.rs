//! Numbers for tests, the same in every run.

use eke_noise::Entropy;

/// A generator of 64-bit words (SplitMix).
pub(crate) struct Seeded(pub(crate) u64);

impl Seeded {
    /// One of many: seeds in a row are far from each other.
    pub(crate) fn new(seed: u64) -> Self {
        Self(Self(seed).word())
    }

    /// Between zero and one.
    pub(crate) fn uniform(&mut self) -> f64 {
        (self.word() >> 12) as f64 * 2f64.powi(-52) + 2f64.powi(-53)
    }

    /// A normal number.
    pub(crate) fn normal(&mut self) -> f64 {
        let (radius, turn) = ((-2.0 * self.uniform().ln()).sqrt(), self.uniform());
        radius * (std::f64::consts::TAU * turn).cos()
    }
}

impl Entropy for Seeded {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }
}
