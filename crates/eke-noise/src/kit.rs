//! The test kit's sources of bits, for the unit tests of this crate.
//!
//! The kit implements the trait of the `eke-noise` that it was built with, which is not the one
//! that unit tests are part of (`eke-testkit`'s docs say why); here is the same for this one.

use eke_testkit::{Dice, Seeded, Tape};

use crate::Entropy;

impl Entropy for Dice {
    fn word(&mut self) -> u64 {
        self.word()
    }
}

impl Entropy for Seeded {
    fn word(&mut self) -> u64 {
        self.word()
    }
}

impl Entropy for Tape {
    fn word(&mut self) -> u64 {
        self.word()
    }
}
