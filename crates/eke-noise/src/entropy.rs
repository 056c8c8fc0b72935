//! Where randomness comes from.
//!
//! Samplers take any [`Entropy`]. The one that releases are drawn with is [`SystemEntropy`]: ChaCha
//! with twelve rounds, keyed by the operating system, and no caller can give this crate a key of
//! its own. (The test kit has seeded ones, and nothing that ships depends on it.)

use std::fmt;

use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::sampler::audit_cells::Cell;

/// A source of uniform, independent bits.
pub trait Entropy {
    /// The next 64 bits.
    fn word(&mut self) -> u64;

    /// Whether it is an auditor's, and wants to know what a draw tells apart. A source of
    /// randomness leaves this and the next as they are.
    #[inline]
    fn audits(&self) -> bool {
        false
    }

    /// The next 64 bits, for a draw that tells apart these cells of them and no more; asked of
    /// auditors alone.
    fn word_among(&mut self, cells: &dyn Fn() -> Vec<Cell>) -> u64 {
        let _ = cells;
        self.word()
    }
}

impl<E: Entropy + ?Sized> Entropy for &mut E {
    #[inline]
    fn word(&mut self) -> u64 {
        (**self).word()
    }

    #[inline]
    fn audits(&self) -> bool {
        (**self).audits()
    }

    fn word_among(&mut self, cells: &dyn Fn() -> Vec<Cell>) -> u64 {
        (**self).word_among(cells)
    }
}

/// A cryptographic generator keyed by the operating system.
///
/// It is not `Clone`: two copies would draw the same noise.
/// ```compile_fail,E0308
/// fn copy(entropy: &eke_noise::SystemEntropy) -> eke_noise::SystemEntropy {
///     entropy.clone()
/// }
/// ```
pub struct SystemEntropy {
    generator: ChaCha12Rng,
}

/// The operating system gave no randomness, so nothing may be drawn.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the operating system gave no randomness, so nothing can be drawn: {0}")]
pub struct NoEntropy(String);

impl SystemEntropy {
    /// A new generator with a key of its own.
    ///
    /// # Errors
    /// The operating system gave no key.
    pub fn new() -> Result<Self, NoEntropy> {
        Ok(Self { generator: ChaCha12Rng::from_seed(random_bytes()?) })
    }
}

/// Bytes from the operating system, for keys and for names that nobody guesses or meets twice.
///
/// # Errors
/// The operating system gave none.
pub fn random_bytes<const N: usize>() -> Result<[u8; N], NoEntropy> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| NoEntropy(error.to_string()))?;
    Ok(bytes)
}

impl Entropy for SystemEntropy {
    #[inline]
    fn word(&mut self) -> u64 {
        self.generator.next_u64()
    }
}

impl fmt::Debug for SystemEntropy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SystemEntropy(..)")
    }
}
