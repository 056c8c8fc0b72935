//! Everything about `eke-local` that is tested from outside.
#![allow(clippy::unwrap_used, clippy::float_cmp, reason = "a test that cannot go on should stop")]

mod chains;
mod coordinators;
mod devices;
mod fleets;
mod plans;
mod requests;
mod storages;

/// A generator with a seed, so that a test that passes passes again.
struct Words(u64);

impl eke_noise::Entropy for Words {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}
