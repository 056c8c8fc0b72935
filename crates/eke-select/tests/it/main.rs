//! Everything about `eke-select` that is tested from outside.
#![allow(clippy::unwrap_used, clippy::float_cmp, reason = "a test that cannot go on should stop")]

mod choosing;
mod golden;
mod lines;
mod maxima;
mod naive;
mod refused;
mod searches;

/// Bits that a seed decides (splitmix64), so that a test that passes passes again.
struct Seeded(u64);

impl Seeded {
    fn new(seed: u64) -> Self {
        Self(seed)
    }
}

impl eke_noise::Entropy for Seeded {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ (word >> 31)
    }
}
