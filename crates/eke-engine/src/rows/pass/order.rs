//! The order that the groups of a unit are kept in: keyed BLAKE3 of names, several at a time.
//!
//! A name of up to 64 bytes is one block, and one block is one compression; names of up to 1,024
//! bytes are blocks one after the other. Four of them side by side take hardly longer than one
//! alone. What comes out is what the crate `blake3` gives, which longer names are left to.

use wide::u32x4;

use crate::rows::pass::bounding::HashKey;

/// How many names are hashed at a time.
const LANES: usize = 4;
/// A word of each of them.
type Lanes = [u32; LANES];

/// How many bytes a block has.
const BLOCK: usize = 64;
/// How many bytes are hashed in one row of blocks.
const CHUNK: usize = 1024;
const IV: [u32; 4] = [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a];
/// What a block is: the first, the last, the last of all, one of a keyed hash.
const CHUNK_START: u32 = 1;
const CHUNK_END: u32 = 2;
const ROOT: u32 = 8;
const KEYED: u32 = 16;
/// Which words of a block the rounds take, in pairs.
const SCHEDULE: [[usize; 16]; 7] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8],
    [3, 4, 10, 12, 13, 2, 7, 14, 6, 5, 9, 0, 11, 15, 8, 1],
    [10, 7, 12, 9, 14, 3, 13, 15, 4, 0, 11, 2, 5, 8, 1, 6],
    [12, 13, 9, 11, 15, 10, 14, 8, 7, 2, 5, 3, 0, 1, 6, 4],
    [9, 14, 11, 5, 8, 12, 15, 1, 13, 3, 0, 10, 2, 6, 4, 7],
    [11, 15, 5, 0, 1, 9, 8, 6, 14, 10, 2, 12, 3, 4, 7, 13],
];
/// The first half of the order of a name, as a number: no name has the largest.
pub(crate) const EMPTY: u64 = u64::MAX;

/// What the groups of a unit are kept by, where `name` is that of the group and then that of the
/// unit: the smallest are kept.
pub(crate) fn order(key: &HashKey, name: &[u8]) -> u128 {
    let hash = blake3::keyed_hash(&key.0, name);
    hash.as_bytes().first_chunk().map_or(0, |first| u128::from_be_bytes(*first))
}

/// The half of an order that is compared first.
pub(crate) fn first_half(order: u128) -> u64 {
    u64::try_from(order >> 64).unwrap_or(EMPTY).min(EMPTY - 1)
}

/// The first halves of the orders of names.
pub(crate) fn first_halves<'a>(
    key: &HashKey,
    names: impl ExactSizeIterator<Item = &'a [u8]>,
    orders: &mut Vec<u64>,
) {
    orders.clear();
    orders.resize(names.len(), 0);
    let key_words: [u32x4; 8] = words(key.0).map(u32x4::splat);
    // Names side by side have as many blocks.
    let mut waiting: [Side<'a>; CHUNK / BLOCK] = std::array::from_fn(|_| Side::default());
    for (place, name) in names.enumerate() {
        let blocks = name.len().div_ceil(BLOCK).max(1);
        match waiting.get_mut(blocks - 1) {
            None => orders[place] = first_half(order(key, name)),
            Some(side) => {
                (side.names[side.filled], side.places[side.filled]) = (name, place);
                side.filled += 1;
                if side.filled == LANES {
                    side.hash(&key_words, blocks, orders);
                }
            }
        }
    }
    for (last, side) in waiting.iter_mut().enumerate().filter(|(_, side)| side.filled > 0) {
        side.hash(&key_words, last + 1, orders);
    }
}

/// Names that are hashed side by side, and where their orders go.
#[derive(Default)]
struct Side<'a> {
    names: [&'a [u8]; LANES],
    places: [usize; LANES],
    filled: usize,
}

impl Side<'_> {
    /// Hashes names of this many blocks, after which there are none.
    #[inline]
    fn hash(&mut self, key: &[u32x4; 8], blocks: usize, orders: &mut [u64]) {
        let mut chain = *key;
        for block in 0..blocks {
            let is_last = block + 1 == blocks;
            let ends = if is_last { CHUNK_END | ROOT } else { 0 };
            let flags = KEYED | ends | if block == 0 { CHUNK_START } else { 0 };
            let (mut bytes, mut lengths) = ([[0; BLOCK]; LANES], [0; LANES]);
            for (lane, name) in self.names.iter().enumerate() {
                let name = &name[(block * BLOCK).min(name.len())..];
                let name = &name[..name.len().min(BLOCK)];
                bytes[lane][..name.len()].copy_from_slice(name);
                #[expect(clippy::cast_possible_truncation, reason = "at most a block")]
                let length = name.len() as u32;
                lengths[lane] = length;
            }
            // From one lane after the other: words that were just written apart are slow to read
            // together.
            let lanes: [[u32; 16]; LANES] = bytes.map(words);
            let words: [u32x4; 16] = std::array::from_fn(|word| {
                u32x4::new([lanes[0][word], lanes[1][word], lanes[2][word], lanes[3][word]])
            });
            chain = compressed(&chain, &words, lengths, flags);
        }
        let (first, second) = (chain[0].to_array(), chain[1].to_array());
        for (lane, &place) in self.places[..self.filled].iter().enumerate() {
            let (first, second) = (first[lane].swap_bytes(), second[lane].swap_bytes());
            orders[place] = (u64::from(first) << 32 | u64::from(second)).min(EMPTY - 1);
        }
        self.filled = 0;
    }
}

/// The words of bytes, of which there are four times as many.
#[inline]
fn words<const BYTES: usize, const WORDS: usize>(bytes: [u8; BYTES]) -> [u32; WORDS] {
    let mut words = [0; WORDS];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    words
}

/// One compression of blocks, whose words lie side by side: what the next one goes on from.
#[inline(always)]
fn compressed(chain: &[u32x4; 8], blocks: &[u32x4; 16], lengths: Lanes, flags: u32) -> [u32x4; 8] {
    let mut state: [u32x4; 16] = std::array::from_fn(|word| match word {
        0..8 => chain[word],
        8..12 => u32x4::splat(IV[word - 8]),
        14 => u32x4::new(lengths),
        15 => u32x4::splat(flags),
        _ => u32x4::ZERO,
    });
    round::<0>(&mut state, blocks);
    round::<1>(&mut state, blocks);
    round::<2>(&mut state, blocks);
    round::<3>(&mut state, blocks);
    round::<4>(&mut state, blocks);
    round::<5>(&mut state, blocks);
    round::<6>(&mut state, blocks);
    std::array::from_fn(|word| state[word] ^ state[word + 8])
}

/// Mixes the columns of the state, and then its diagonals.
#[inline(always)]
fn round<const ROUND: usize>(state: &mut [u32x4; 16], blocks: &[u32x4; 16]) {
    let words = const { SCHEDULE[ROUND] };
    mix::<0, 4, 8, 12>(state, blocks[words[0]], blocks[words[1]]);
    mix::<1, 5, 9, 13>(state, blocks[words[2]], blocks[words[3]]);
    mix::<2, 6, 10, 14>(state, blocks[words[4]], blocks[words[5]]);
    mix::<3, 7, 11, 15>(state, blocks[words[6]], blocks[words[7]]);
    mix::<0, 5, 10, 15>(state, blocks[words[8]], blocks[words[9]]);
    mix::<1, 6, 11, 12>(state, blocks[words[10]], blocks[words[11]]);
    mix::<2, 7, 8, 13>(state, blocks[words[12]], blocks[words[13]]);
    mix::<3, 4, 9, 14>(state, blocks[words[14]], blocks[words[15]]);
}

#[inline(always)]
fn mix<const A: usize, const B: usize, const C: usize, const D: usize>(
    state: &mut [u32x4; 16],
    x: u32x4,
    y: u32x4,
) {
    state[A] = state[A] + state[B] + x;
    state[D] = turned::<16>(state[D], state[A]);
    state[C] += state[D];
    state[B] = turned::<12>(state[B], state[C]);
    state[A] = state[A] + state[B] + y;
    state[D] = turned::<8>(state[D], state[A]);
    state[C] += state[D];
    state[B] = turned::<7>(state[B], state[C]);
}

#[inline(always)]
fn turned<const BITS: u32>(one: u32x4, other: u32x4) -> u32x4 {
    let both = one ^ other;
    both >> BITS | both << (32 - BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_side_by_side_have_the_orders_that_they_have_alone() {
        let key = HashKey(std::array::from_fn(|at| u8::try_from(at * 7 % 256).unwrap()));
        let bytes: Vec<u8> = (0..1_500u32).map(|at| at.wrapping_mul(83).to_le_bytes()[0]).collect();
        // Of every length around one block and two, and some around all that fit side by side.
        let short = (0..2_000).map(|at| &bytes[at % 90..at % 90 + at * 31 % 167]);
        let long = (0..400).map(|at| &bytes[at % 7..at % 7 + 900 + at * 13 % 180]);
        let names: Vec<&[u8]> = short.chain(long).collect();
        for count in [0, 1, 3, 4, 5, names.len()] {
            let mut orders = vec![1; 7];
            first_halves(&key, names[..count].iter().copied(), &mut orders);
            let alone = names[..count].iter().map(|name| first_half(order(&key, name)));
            assert_eq!(orders, alone.collect::<Vec<_>>());
        }
    }
}
