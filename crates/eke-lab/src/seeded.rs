//! Randomness that can be had again, for experiments. Releases never use it: it lives here, and
//! nothing depends on the lab.

use eke_noise::Entropy;
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A generator that a seed decides.
pub struct Seeded(pub ChaCha12Rng);

impl Seeded {
    /// The generator of this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(ChaCha12Rng::seed_from_u64(seed))
    }

    /// The generator of a seed, of what it is for, and of a number: another one for every other.
    #[must_use]
    pub fn of(seed: u64, purpose: &[&str], number: u32) -> Self {
        // FNV-1a of the words, each with its end: names that differ are streams that differ.
        let mut name: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
        for byte in purpose.iter().flat_map(|word| word.bytes().chain([0xff])) {
            name =
                (name ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
        let mut key = [0; 32];
        key[..16].copy_from_slice(&name.to_le_bytes());
        key[16..24].copy_from_slice(&seed.to_le_bytes());
        key[24..28].copy_from_slice(&number.to_le_bytes());
        Self(ChaCha12Rng::from_seed(key))
    }

    /// A number from 0 to 1, without 1: 53 bits, for what privacy does not depend on.
    pub fn unit(&mut self) -> f64 {
        let bits = (self.0.next_u64() >> 11) as f64;
        bits / 9_007_199_254_740_992.0
    }

    /// A whole number below another.
    pub fn below(&mut self, end: u32) -> u32 {
        let wide = u64::from(self.0.next_u32()) * u64::from(end);
        u32::try_from(wide >> 32).unwrap_or(0)
    }
}

impl Entropy for Seeded {
    #[inline]
    fn word(&mut self) -> u64 {
        self.0.next_u64()
    }
}
