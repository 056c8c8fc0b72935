//! Bytes that are nearly those of a corpus: a seed, changed in a few places. The same seed of the
//! generator gives the same bytes.

/// Numbers and words on which readers break.
const WORDS: &[&[u8]] = &[
    b"",
    b"0",
    b"-1",
    b"1e309",
    b"-0.0",
    b"18446744073709551615",
    b"9223372036854775808",
    b"NaN",
    b"null",
    b"\"",
    b"'",
    b"\\",
    b"\n",
    b"\r",
    b"\0",
    b"{",
    b"}",
    b"[",
    b"]",
    b"(",
    b")",
    b",",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xf0\x9f\x9a\xb2",
    b"1970-01-01",
];

/// A stream of mutants.
pub(crate) struct Mutations {
    seeds: Vec<Vec<u8>>,
    state: u64,
}

impl Mutations {
    pub(crate) fn new(seeds: Vec<Vec<u8>>, state: u64) -> Self {
        Self { seeds, state }
    }

    /// The next mutant: one to four changes of a seed.
    pub(crate) fn next(&mut self) -> Vec<u8> {
        let which = self.below(self.seeds.len());
        let mut bytes = self.seeds[which].clone();
        for _ in 0..=self.below(4) {
            self.change(&mut bytes);
        }
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>) {
        let at = self.below(bytes.len() + 1);
        let end = (at + 1 + self.below(16)).min(bytes.len());
        match self.below(6) {
            0 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            3 => {
                let word = WORDS[self.below(WORDS.len())];
                bytes.splice(at..at, word.iter().copied());
            }
            4 => {
                let word = WORDS[self.below(WORDS.len())];
                bytes.splice(at..end, word.iter().copied());
            }
            _ => {
                // A piece of another seed.
                let which = self.below(self.seeds.len());
                let other = self.seeds[which].clone();
                let from = self.below(other.len() + 1);
                let to = (from + self.below(64)).min(other.len());
                bytes.splice(at..end, other[from..to].iter().copied());
            }
        }
    }

    /// A number below another one, by SplitMix64.
    fn below(&mut self, end: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let word = mixed ^ (mixed >> 31);
        usize::try_from(word % end.max(1) as u64).unwrap_or(0)
    }
}
