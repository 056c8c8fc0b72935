//! What a draw tells apart in the bits it is given.
//!
//! A sampler looks at 64 random bits at a time, and does the same for whole stretches of them. It
//! says which, whenever it asks for bits, to a source that wants to know. Sources of randomness do
//! not want to; an auditor's source does. With it the auditor computes the law of a mechanism
//! exactly, by trying every cell in turn, with the share of words in it as its probability. From a
//! cell the auditor may take any word; that the first and the last of each lead to the same law is
//! the check that what the sampler says of itself is true.

use dashu_int::UBig;

use crate::Entropy;
use crate::number::fixed::Fixed;

/// Words that a draw does not tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// How many of the 2⁶⁴ words there are in it.
    pub words: u128,
    /// The smallest of them.
    pub first: u64,
    /// The largest of them.
    pub last: u64,
}

/// The next 64 bits, for a draw that tells apart these cells of them.
#[inline]
pub(crate) fn word<E: Entropy + ?Sized>(entropy: &mut E, cells: impl Fn() -> Vec<Cell>) -> u64 {
    if entropy.audits() { entropy.word_among(&cells) } else { entropy.word() }
}

/// The words from one to another, both included.
fn interval(first: u64, last: u64) -> Cell {
    Cell { words: u128::from(last - first) + 1, first, last }
}

/// Cells cut at cumulative probabilities, of each of which 128 bits are enclosed: words below the
/// first bits, and above them. Words that 64 bits do not decide are cells of their own.
pub(crate) fn cut<'a>(sums: impl IntoIterator<Item = &'a Fixed>) -> Vec<Cell> {
    let mut cells = Vec::new();
    let mut next = Some(0u64);
    for sum in sums {
        let shift = sum.bits - 64;
        let word = |end: &UBig| u64::try_from(end >> shift).unwrap_or(u64::MAX);
        let (low, high) = (word(&sum.lo), word(&sum.hi));
        let Some(start) = next else { break };
        if low > start {
            cells.push(interval(start, low - 1));
        }
        if high >= start {
            cells.push(interval(low.max(start), high));
            next = high.checked_add(1);
        }
    }
    cells.extend(next.map(|start| interval(start, u64::MAX)));
    cells
}

/// Cells of words cut at thresholds, in order: below each, equal to it, and above the last.
pub(crate) fn cut_at(thresholds: &[u64]) -> Vec<Cell> {
    let mut cells = Vec::new();
    let mut next = Some(0u64);
    for &threshold in thresholds {
        let Some(start) = next else { break };
        if threshold > start {
            cells.push(interval(start, threshold - 1));
        }
        if threshold >= start {
            cells.push(interval(threshold, threshold));
            next = threshold.checked_add(1);
        }
    }
    cells.extend(next.map(|start| interval(start, u64::MAX)));
    cells
}

/// Cells by the remainder of division by a bound, with the smallest `left_over` words left over.
pub(crate) fn remainders(bound: u64, left_over: u64) -> Vec<Cell> {
    let words = ((1u128 << 64) - u128::from(left_over)) / u128::from(bound);
    let mut cells: Vec<Cell> = (0..bound)
        .map(|remainder| {
            let least = left_over + (remainder + bound - left_over % bound) % bound;
            let last = least + u64::try_from((words - 1) * u128::from(bound)).unwrap_or(u64::MAX);
            Cell { words, first: least, last }
        })
        .collect();
    if left_over > 0 {
        cells.push(interval(0, left_over - 1));
    }
    cells
}

/// Cells by the whole part of the first `BITS` bits of a word, as a fraction, times a bound; those
/// whose product has a fraction below `left_over` are left over.
pub(crate) fn parts<const BITS: u32>(bound: u64, left_over: u64) -> Vec<Cell> {
    let rest = 64 - BITS;
    let cell = |first: u128, last: u128| {
        let word = |number: u128| u64::try_from(number).unwrap_or(u64::MAX);
        interval(word(first << rest), word(((last + 1) << rest) - 1))
    };
    let bound = u128::from(bound);
    let left_over = u128::from(left_over);
    let mut cells: Vec<Cell> = (0..bound)
        .map(|part| {
            let first = ((part << BITS) + left_over).div_ceil(bound);
            cell(first, ((part + 1) << BITS).div_ceil(bound) - 1)
        })
        .collect();
    if left_over > 0 {
        // One at the start of some of the parts; the first and the last of them.
        let last = (0..bound)
            .rev()
            .map(|part| (part << BITS).div_ceil(bound))
            .find(|start| (start * bound) & ((1 << BITS) - 1) < left_over)
            .unwrap_or(0);
        let last = cell(last, last).last;
        cells.push(Cell { words: left_over << rest, first: 0, last });
    }
    cells
}

/// Cells by the first n bits of a word.
pub(crate) fn leading(bits: u32) -> Vec<Cell> {
    let width = 64 - bits;
    let rest = if width == 64 { u64::MAX } else { (1 << width) - 1 };
    (0..1u64 << bits)
        .map(|start| {
            interval(
                start.checked_shl(width).unwrap_or(0),
                start.checked_shl(width).unwrap_or(0) | rest,
            )
        })
        .collect()
}

/// Cells by the first `BITS` bits of a word: below two numbers, from the one to the other, and
/// above them.
pub(crate) fn cut_leading<const BITS: u32>(from: u64, to: u64) -> Vec<Cell> {
    let rest = 64 - BITS;
    let end = to + 1;
    [(0, from), (from, end), (end, 1 << BITS)]
        .into_iter()
        .filter(|(from, to)| from < to)
        .map(|(from, to)| interval(from << rest, (to - 1) << rest | (u64::MAX >> BITS)))
        .collect()
}

/// Cells by the last bit of a word.
pub(crate) fn last_bit() -> Vec<Cell> {
    let half = 1u128 << 63;
    vec![
        Cell { words: half, first: 0, last: u64::MAX - 1 },
        Cell { words: half, first: 1, last: u64::MAX },
    ]
}

/// Cells of words that a number of 32 bits is part of, cut where it is below, equal to or above an
/// edge; the others are in the two words given, smallest and largest, and the given number of words
/// share each number.
pub(crate) fn cut_inside(edge: u64, shift: u32, around: (u64, u64), words: u128) -> Vec<Cell> {
    const NUMBERS: u64 = 1 << 32;
    let edge = edge.min(NUMBERS - 1);
    [(0, edge), (edge, edge + 1), (edge + 1, NUMBERS)]
        .into_iter()
        .filter(|(from, to)| from < to)
        .map(|(from, to)| Cell {
            words: u128::from(to - from) * words,
            first: around.0 | (from << shift),
            last: around.1 | ((to - 1) << shift),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(cells: &[Cell]) -> u128 {
        cells.iter().map(|cell| cell.words).sum()
    }

    fn parts_are_equal<const BITS: u32>(bound: u64) {
        let left_over = u64::try_from((1u128 << BITS) % u128::from(bound)).unwrap();
        let cells = parts::<BITS>(bound, left_over);
        assert_eq!(total(&cells), 1 << 64, "{bound}");
        let each = (((1u128 << BITS) - u128::from(left_over)) / u128::from(bound)) << (64 - BITS);
        let product = |word: u64| u128::from(word >> (64 - BITS)) * u128::from(bound);
        let fraction = |word| product(word) & ((1 << BITS) - 1);
        for (part, cell) in (0u128..).zip(&cells[..usize::try_from(bound).unwrap()]) {
            assert_eq!(cell.words, each, "{bound}");
            for word in [cell.first, cell.last] {
                assert_eq!(product(word) >> BITS, part);
                assert!(fraction(word) >= u128::from(left_over));
            }
        }
        for cell in &cells[usize::try_from(bound).unwrap()..] {
            for word in [cell.first, cell.last] {
                assert!(fraction(word) < u128::from(left_over));
            }
        }
    }

    #[test]
    fn parts_cover_all_words_and_are_equal() {
        for bound in [2u64, 3, 5, 7, 8, 100, 128, 1000, 4095] {
            parts_are_equal::<64>(bound);
            parts_are_equal::<16>(bound);
        }
    }

    #[test]
    fn cells_cover_every_word_once() {
        let third = (UBig::ONE << 128) / UBig::from(3u8);
        let fixed = Fixed { lo: third.clone(), hi: third + UBig::ONE, bits: 128 };
        let cells = cut([&fixed]);
        assert_eq!((total(&cells), cells.len()), (1 << 64, 3));
        assert_eq!(cells[1], interval(u64::MAX / 3, u64::MAX / 3));
        for cells in [
            cut_at(&[0, 5, 5, 9, u64::MAX]),
            cut_at(&[]),
            remainders(7, 7u64.wrapping_neg() % 7),
            remainders(1 << 40 >> 38, 0),
            leading(0),
            leading(3),
            last_bit(),
            cut_leading::<16>(0, 0),
            cut_leading::<16>(5, 7),
            cut_leading::<48>((1 << 48) - 1, (1 << 48) - 1),
        ] {
            assert_eq!(total(&cells), 1 << 64, "{cells:?}");
        }
        for cell in remainders(7, 7u64.wrapping_neg() % 7).iter().take(7).zip(0..) {
            assert_eq!((cell.0.first % 7, cell.0.last % 7), (cell.1, cell.1));
        }
        let inside = cut_inside(10, 31, (0, (1 << 31) - 1), 1 << 31);
        assert_eq!((total(&inside), inside.len()), (1 << 63, 3));
        assert_eq!(cut_inside(u64::MAX, 31, (0, 0), 1).len(), 2);
    }
}
