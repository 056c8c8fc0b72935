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
}

impl Entropy for Seeded {
    fn word(&mut self) -> u64 {
        self.0.next_u64()
    }
}
