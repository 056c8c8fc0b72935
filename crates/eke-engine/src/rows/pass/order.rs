//! The order that the groups of a unit are kept in: keyed BLAKE3 of names, several at a time.
//!
//! A name of up to 64 bytes is one block, and one block is one compression. Four of them side by
//! side take hardly longer than one alone. What comes out is what the crate `blake3` gives, which
//! longer names are left to.

use wide::u32x4;

use crate::rows::pass::bounding::HashKey;

/// How many names are hashed at a time.
const LANES: usize = 4;
/// A word of each of them.
type Lanes = [u32; LANES];

/// How many bytes a block has.
const BLOCK: usize = 64;
const IV: [u32; 4] = [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a];
/// A keyed hash of one block, which is the first, the last and the root.
const FLAGS: u32 = 1 | 2 | 8 | 16;
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
    let words = key_words(key);
    let (mut blocks, mut lengths, mut places) = ([[0; LANES]; 16], [0; LANES], [0; LANES]);
    let mut filled = 0;
    for (place, name) in names.enumerate() {
        if name.len() > BLOCK {
            orders[place] = first_half(order(key, name));
            continue;
        }
        let mut block = [0; BLOCK];
        block[..name.len()].copy_from_slice(name);
        for (word, bytes) in blocks.iter_mut().zip(block.as_chunks().0) {
            word[filled] = u32::from_le_bytes(*bytes);
        }
        #[expect(clippy::cast_possible_truncation, reason = "at most a block")]
        let length = name.len() as u32;
        (lengths[filled], places[filled]) = (length, place);
        filled += 1;
        if filled == LANES {
            let halves = compressed(&words, &blocks, lengths);
            places.iter().zip(halves).for_each(|(&place, half)| orders[place] = half);
            filled = 0;
        }
    }
    if filled > 0 {
        let halves = compressed(&words, &blocks, lengths);
        places[..filled].iter().zip(halves).for_each(|(&place, half)| orders[place] = half);
    }
}

fn key_words(HashKey(key): &HashKey) -> [u32; 8] {
    let mut words = [0; 8];
    for (word, bytes) in words.iter_mut().zip(key.as_chunks().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    words
}

/// The first halves of the orders of blocks, whose words lie side by side.
fn compressed(key: &[u32; 8], blocks: &[Lanes; 16], lengths: Lanes) -> [u64; LANES] {
    let blocks = blocks.map(u32x4::new);
    let mut state: [u32x4; 16] = std::array::from_fn(|word| match word {
        0..8 => u32x4::splat(key[word]),
        8..12 => u32x4::splat(IV[word - 8]),
        14 => u32x4::new(lengths),
        15 => u32x4::splat(FLAGS),
        _ => u32x4::ZERO,
    });
    round::<0>(&mut state, &blocks);
    round::<1>(&mut state, &blocks);
    round::<2>(&mut state, &blocks);
    round::<3>(&mut state, &blocks);
    round::<4>(&mut state, &blocks);
    round::<5>(&mut state, &blocks);
    round::<6>(&mut state, &blocks);
    let (first, second) = ((state[0] ^ state[8]).to_array(), (state[1] ^ state[9]).to_array());
    std::array::from_fn(|lane| {
        let (first, second) = (first[lane].swap_bytes(), second[lane].swap_bytes());
        (u64::from(first) << 32 | u64::from(second)).min(EMPTY - 1)
    })
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
        let bytes: Vec<u8> = (0..200u8).map(|at| at.wrapping_mul(83)).collect();
        // Of every length around a block, in an order in which long ones come in between.
        let names: Vec<&[u8]> =
            (0..2_000).map(|at| &bytes[at % 90..at % 90 + at * 31 % 101]).collect();
        for count in [0, 1, 3, 4, 5, names.len()] {
            let mut orders = vec![1; 7];
            first_halves(&key, names[..count].iter().copied(), &mut orders);
            let alone = names[..count].iter().map(|name| first_half(order(&key, name)));
            assert_eq!(orders, alone.collect::<Vec<_>>());
        }
    }
}
