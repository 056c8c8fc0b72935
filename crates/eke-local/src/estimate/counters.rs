//! One counter for each bit of a row of words, raised by whole rows.
//!
//! What is still small is kept as bits across: plane p of a word holds bit p of all of its 64
//! counters, so that adding a row to them is a few operations on words and not one for each bit.
//! Sixteen rows are added up among themselves first, which leaves one carry for all of them. Before
//! the planes overflow they are emptied into counters of 64 bits.

/// How many bits a counter has before it is emptied.
const PLANES: usize = 16;
/// The most rows that fit.
const FULL: u32 = (1 << PLANES) - 1;
/// Rows that are added up among themselves.
const BLOCK: u8 = 16;

#[derive(Clone, Debug)]
pub(crate) struct Counters {
    /// All planes of the first word, of the second, ...
    planes: Vec<[u64; PLANES]>,
    /// How many rows the planes hold.
    pending: u32,
    totals: Vec<[u64; 64]>,
}

impl Counters {
    pub(crate) fn new(words: usize) -> Self {
        Self { planes: vec![[0; PLANES]; words], pending: 0, totals: vec![[0; 64]; words] }
    }

    /// Adds rows, one after the other. What is left of an incomplete row is not looked at.
    pub(crate) fn add(&mut self, rows: &[u64]) {
        let words = self.planes.len();
        let mut blocks = rows.chunks_exact(words * usize::from(BLOCK));
        for block in &mut blocks {
            self.make_room(u32::from(BLOCK));
            for (word, planes) in self.planes.iter_mut().enumerate() {
                add_block(planes, |row| block[row * words + word]);
            }
        }
        for row in blocks.remainder().chunks_exact(words) {
            self.make_room(1);
            for (&bits, planes) in row.iter().zip(&mut self.planes) {
                carry(planes, bits);
            }
        }
    }

    /// Adds counts, in the order of the bits.
    pub(crate) fn add_counts(&mut self, counts: &[u64]) {
        for (total, count) in self.totals.as_flattened_mut().iter_mut().zip(counts) {
            *total += count;
        }
    }

    /// What has been counted, in the order of the bits.
    pub(crate) fn totals(&mut self) -> &[u64] {
        self.empty();
        self.totals.as_flattened()
    }

    /// Makes sure that n rows fit.
    #[inline]
    fn make_room(&mut self, rows: u32) {
        if self.pending + rows > FULL {
            self.empty();
        }
        self.pending += rows;
    }

    fn empty(&mut self) {
        for (planes, totals) in self.planes.iter_mut().zip(&mut self.totals) {
            for (bit, total) in totals.iter_mut().enumerate() {
                let count =
                    planes.iter().rev().fold(0, |count, plane| count << 1 | (plane >> bit & 1));
                *total += count;
            }
            *planes = [0; PLANES];
        }
        self.pending = 0;
    }
}

/// The sum of three bits, in each place: its last digit and its first.
#[inline]
fn sum(one: u64, two: u64, three: u64) -> (u64, u64) {
    let odd = one ^ two;
    (odd ^ three, (one & two) | (odd & three))
}

/// Adds bits that count as much as the first of these planes does.
#[inline]
fn carry(planes: &mut [u64], mut bits: u64) {
    for plane in planes {
        if bits == 0 {
            break;
        }
        (*plane, bits) = (*plane ^ bits, *plane & bits);
    }
}

/// Adds sixteen rows of one word: pairs into the ones, their carries into the twos, and so on.
#[inline]
fn add_block(planes: &mut [u64; PLANES], row: impl Fn(usize) -> u64) {
    let [mut ones, mut twos, mut fours, mut eights, ..] = *planes;
    let mut pair = |at: usize| {
        let (last, first) = sum(ones, row(at), row(at + 1));
        ones = last;
        first
    };
    let mut four = |at: usize| {
        let (last, first) = sum(twos, pair(at), pair(at + 2));
        twos = last;
        first
    };
    let mut eight = |at: usize| {
        let (last, first) = sum(fours, four(at), four(at + 4));
        fours = last;
        first
    };
    let (last, sixteens) = sum(eights, eight(0), eight(8));
    eights = last;
    planes[..4].copy_from_slice(&[ones, twos, fours, eights]);
    carry(&mut planes[4..], sixteens);
}
