//! The laws, tested as a user would meet them.
#![allow(clippy::unwrap_used, clippy::float_cmp, reason = "a test that cannot go on should stop")]

mod averages;
mod bundles;
mod category_paths;
mod chains;
mod choices;
mod coins;
#[path = "../../../eke-lab/src/fit.rs"]
#[allow(unreachable_pub, reason = "the lab exports it")]
mod fit;
mod gaussian_paths;
mod keys;
mod laplace_paths;
mod laws;
mod levels;
mod lines;
mod msdlap;
mod path_laws;
mod paths;
mod planar;
mod prepaid;
mod rankings;
mod skellam;
mod stopping;
mod tiers;
mod two_purses;
mod vectors;
mod walk;

use eke_noise::Entropy;
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A generator with a seed, so that a test that passes passes again.
struct Seeded(ChaCha12Rng);

impl Seeded {
    fn new(seed: u64) -> Self {
        Self(ChaCha12Rng::seed_from_u64(seed))
    }
}

impl Entropy for Seeded {
    fn word(&mut self) -> u64 {
        self.0.next_u64()
    }
}
