//! Random bits in parts of sixteen, for draws that are nearly always decided by so few.
//!
//! A word is drawn for four parts. Parts of one uniform word are uniform and independent, so it
//! makes no difference to any law; an auditor's source is asked for every part alone, so that it
//! computes the law of parts.

use crate::Entropy;
use crate::sampler::audit_cells::Cell;

/// A source of bits with a word that is not used up.
pub(crate) struct Parts<'a, E: Entropy + ?Sized> {
    pub(crate) entropy: &'a mut E,
    word: u64,
    left: u32,
}

impl<'a, E: Entropy + ?Sized> Parts<'a, E> {
    pub(crate) fn new(entropy: &'a mut E) -> Self {
        Self { entropy, word: 0, left: 0 }
    }

    /// The next sixteen bits, for a draw that tells apart these cells of words that start with
    /// them.
    #[inline(always)]
    pub(crate) fn next(&mut self, cells: impl Fn() -> Vec<Cell>) -> u16 {
        if self.entropy.audits() {
            return first(self.entropy.word_among(&cells));
        }
        if self.left == 0 {
            self.word = self.entropy.word();
            self.left = 4;
        }
        self.left -= 1;
        let part = first(self.word);
        self.word <<= 16;
        part
    }
}

/// The first sixteen bits of a word.
#[inline]
fn first(word: u64) -> u16 {
    let [high, low, ..] = word.to_be_bytes();
    u16::from_be_bytes([high, low])
}

#[cfg(test)]
mod tests {
    use super::*;
    use eke_testkit::Tape;

    #[test]
    fn every_bit_of_a_word_is_handed_out_once() {
        let mut tape = Tape::new([0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210]);
        let mut parts = Parts::new(&mut tape);
        let all: Vec<u16> = (0..8).map(|_| parts.next(Vec::new)).collect();
        assert_eq!(all, [0x0123, 0x4567, 0x89ab, 0xcdef, 0xfedc, 0xba98, 0x7654, 0x3210]);
    }
}
