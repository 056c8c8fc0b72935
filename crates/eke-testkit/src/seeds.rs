//! Bits that a seed decides, so that a test that passes passes again and an experiment can be run
//! again. Releases never use them: nothing that ships depends on this crate.

use eke_noise::Entropy;
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A cryptographic generator that a seed decides: ChaCha with twelve rounds, as releases use it.
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

    /// The next 64 bits.
    #[inline]
    pub fn word(&mut self) -> u64 {
        self.0.next_u64()
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

    /// The same for indices.
    pub fn roll(&mut self, sides: usize) -> usize {
        self.below(u32::try_from(sides).unwrap_or(u32::MAX)) as usize
    }
}

impl Entropy for Seeded {
    #[inline]
    fn word(&mut self) -> u64 {
        self.word()
    }
}

/// A small, fast generator (SplitMix64) whose state is its seed.
#[derive(Clone, Debug)]
pub struct Dice(pub u64);

impl Dice {
    /// One of many: generators of seeds in a row are far from each other.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Self(seed).word())
    }

    /// The next 64 bits.
    #[inline]
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// A whole number below another, fair for bounds far below 2⁶⁴.
    pub fn below(&mut self, end: u64) -> u64 {
        self.word() % end
    }

    /// The same for indices.
    pub fn roll(&mut self, sides: usize) -> usize {
        #[expect(clippy::cast_possible_truncation, reason = "below a usize")]
        let side = self.below(sides as u64) as usize;
        side
    }

    /// One of these.
    ///
    /// # Panics
    /// There are none.
    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.roll(all.len())]
    }

    /// Puts these into an order of its own.
    pub fn shuffle<T>(&mut self, all: &mut [T]) {
        for index in (1..all.len()).rev() {
            all.swap(index, self.roll(index + 1));
        }
    }

    /// A number between 0 and 1, without both: 52 bits and a half.
    pub fn uniform(&mut self) -> f64 {
        let bits = (self.word() >> 12) as f64;
        bits * 2f64.powi(-52) + 2f64.powi(-53)
    }

    /// A number of the standard normal law (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let (radius, turn) = ((-2.0 * self.uniform().ln()).sqrt(), self.uniform());
        radius * (std::f64::consts::TAU * turn).cos()
    }
}

impl Entropy for Dice {
    #[inline]
    fn word(&mut self) -> u64 {
        self.word()
    }
}
