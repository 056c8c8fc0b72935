//! Columns of numbers as bytes: what is stored of many groups.
//!
//! A column has one width, the least that its largest number needs. Prices stand in a table, and
//! their column has the places in it: of many groups, most are at the same few prices. Numbers are
//! written least byte first.
//!
//! Invariants: what is written is read back; there is one way to write something, and bytes that
//! are anything else are not read. What is read is never larger than the bytes it is read from, but
//! for a factor. Stored forms never change: ledgers outlive code.

use std::collections::HashMap;

use crate::{Amount, Price};

/// Bytes that are being written.
#[derive(Clone, Debug, Default)]
pub struct ColumnWriter {
    bytes: Vec<u8>,
}

/// Bytes that are being read, from their beginning.
#[derive(Clone, Debug)]
pub struct ColumnReader<'a> {
    rest: &'a [u8],
}

/// Numbers one by one.
const LISTED: u8 = 0;
/// A bit for every number up to the largest.
const MARKED: u8 = 1;

impl ColumnWriter {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What was written.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Bytes as they are, of a length that is known where they are read.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// One byte.
    pub fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    /// A number, in eight bytes.
    pub fn number(&mut self, number: u64) {
        self.raw(&number.to_le_bytes());
    }

    /// A text, with its length before it.
    pub fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.raw(text.as_bytes());
    }

    /// A column of numbers, of a length that is known where it is read.
    pub fn numbers(&mut self, numbers: impl Iterator<Item = u64> + Clone) {
        let width = width(numbers.clone().max().unwrap_or(0));
        self.byte(u8::try_from(width).unwrap_or(8));
        for number in numbers {
            self.raw(&number.to_le_bytes()[..width]);
        }
    }

    /// A column of numbers that may be negative: small ones either way are short.
    pub fn signed(&mut self, numbers: impl Iterator<Item = i64> + Clone) {
        self.numbers(numbers.map(|number| ((number << 1) ^ (number >> 63)).cast_unsigned()));
    }

    /// A column of large numbers of which few are different.
    pub fn repeated(&mut self, numbers: impl Iterator<Item = u128> + Clone) {
        // Runs are common, and looking a number up costs more than comparing it.
        let (mut places, mut last) = (HashMap::new(), None);
        for number in numbers.clone() {
            if last != Some(number) {
                places.insert(number, 0u64);
                last = Some(number);
            }
        }
        let mut table: Vec<u128> = places.keys().copied().collect();
        table.sort_unstable();
        self.number(table.len() as u64);
        for (place, number) in (0u64..).zip(&table) {
            self.raw(&number.to_le_bytes());
            places.insert(*number, place);
        }
        let mut last = (u128::MAX, u64::MAX);
        let codes: Vec<u64> = numbers
            .map(|number| {
                if last.1 == u64::MAX || last.0 != number {
                    last = (number, places[&number]);
                }
                last.1
            })
            .collect();
        self.numbers(codes.iter().copied());
    }

    /// The numbers of groups, in any order, with how many there are.
    pub fn groups(&mut self, groups: &[u32]) {
        self.number(groups.len() as u64);
        let Some(&last) = groups.last() else { return };
        if is_marked(groups) {
            self.byte(MARKED);
            let mut bits = vec![0; last as usize / 8 + 1];
            for &group in groups {
                bits[group as usize / 8] |= 1 << (group % 8);
            }
            self.number(bits.len() as u64);
            self.raw(&bits);
        } else {
            self.byte(LISTED);
            for group in groups {
                self.raw(&group.to_le_bytes());
            }
        }
    }

    /// Which groups go to which prices, in the order in which they do.
    pub fn raises<C: Price>(&mut self, raises: &[(u32, Amount<C>)]) {
        let groups: Vec<u32> = raises.iter().map(|&(group, _)| group).collect();
        self.groups(&groups);
        self.repeated(raises.iter().map(|(_, to)| to.grains()));
    }

    /// A column of doubles.
    pub fn doubles(&mut self, doubles: impl Iterator<Item = f64>) {
        for double in doubles {
            self.number(double.to_bits());
        }
    }
}

impl<'a> ColumnReader<'a> {
    /// Reads these bytes.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Whether everything was read.
    #[must_use]
    pub fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// What has not been read yet.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Bytes as they are; none if there are not as many.
    pub fn raw(&mut self, length: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(bytes)
    }

    /// As many bytes as the array has; none if there are not as many.
    pub fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.raw(N)?.try_into().ok()
    }

    /// One byte.
    pub fn byte(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    /// A number that was written in eight bytes.
    pub fn number(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// How many there are of something. What is counted is checked by who reads it.
    pub fn count(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok()
    }

    /// A text.
    pub fn text(&mut self) -> Option<&'a str> {
        let length = self.count()?;
        std::str::from_utf8(self.raw(length)?).ok()
    }

    /// A column of `count` numbers. Where all are zero no bytes stand behind them, so the count
    /// must be that of something which was read before.
    pub fn numbers(&mut self, count: usize) -> Option<Vec<u64>> {
        let wide = usize::from(self.byte()?);
        if wide > 8 {
            return None;
        }
        let bytes = self.raw(count.checked_mul(wide)?)?;
        if wide == 0 {
            return Some(vec![0; count]);
        }
        let number = |bytes: &[u8]| {
            let mut number = [0; 8];
            number[..wide].copy_from_slice(bytes);
            u64::from_le_bytes(number)
        };
        let numbers: Vec<u64> = bytes.chunks_exact(wide).map(number).collect();
        (width(numbers.iter().copied().max()?) == wide).then_some(numbers)
    }

    /// A column of `count` numbers that may be negative.
    pub fn signed(&mut self, count: usize) -> Option<Vec<i64>> {
        let sign = |number: u64| (number >> 1).cast_signed() ^ -(number & 1).cast_signed();
        Some(self.numbers(count)?.into_iter().map(sign).collect())
    }

    /// A column of `count` large numbers of which few are different.
    pub fn repeated(&mut self, count: usize) -> Option<Vec<u128>> {
        let length = self.count()?;
        let table = self.raw(length.checked_mul(16)?)?;
        let table: Vec<u128> =
            table.as_chunks::<16>().0.iter().map(|bytes| u128::from_le_bytes(*bytes)).collect();
        if !table.is_sorted_by(|one, next| one < next) {
            return None;
        }
        let codes = self.numbers(count)?;
        let mut used = vec![false; table.len()];
        let number = |code: u64| {
            let place = usize::try_from(code).ok()?;
            *used.get_mut(place)? = true;
            table.get(place).copied()
        };
        let numbers = codes.into_iter().map(number).collect::<Option<_>>()?;
        used.iter().all(|&used| used).then_some(numbers)
    }

    /// The numbers of groups.
    pub fn groups(&mut self) -> Option<Vec<u32>> {
        let count = self.count()?;
        if count == 0 {
            return Some(Vec::new());
        }
        let form = self.byte()?;
        if form == LISTED {
            let listed = self.raw(count.checked_mul(4)?)?.as_chunks::<4>().0;
            let groups: Vec<u32> = listed.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
            return (!is_marked(&groups)).then_some(groups);
        }
        let length = self.count().filter(|_| form == MARKED)?;
        let bits = self.raw(length)?;
        let marked: u64 = bits.iter().map(|byte| u64::from(byte.count_ones())).sum();
        if marked != count as u64 || bits.last() == Some(&0) {
            return None;
        }
        let mut groups = Vec::with_capacity(count);
        for (place, &byte) in bits.iter().enumerate() {
            let mut left = byte;
            while left != 0 {
                groups.push(u32::try_from(place * 8).ok()?.checked_add(left.trailing_zeros())?);
                left &= left - 1;
            }
        }
        is_marked(&groups).then_some(groups)
    }

    /// Which groups go to which prices.
    pub fn raises<C: Price>(&mut self) -> Option<Vec<(u32, Amount<C>)>> {
        let groups = self.groups()?;
        let prices = self.repeated(groups.len())?;
        Some(groups.into_iter().zip(prices.into_iter().map(Amount::from_grains)).collect())
    }

    /// A column of `count` doubles.
    pub fn doubles(&mut self, count: usize) -> Option<Vec<f64>> {
        let bytes = self.raw(count.checked_mul(8)?)?;
        Some(bytes.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect())
    }
}

/// How many bytes a number needs: none for zero.
fn width(largest: u64) -> usize {
    (64 - largest.leading_zeros()).div_ceil(8) as usize
}

/// Whether groups are marked with a bit each, and not listed: where they are in order, and that is
/// shorter.
fn is_marked(groups: &[u32]) -> bool {
    let Some(&last) = groups.last() else { return false };
    groups.is_sorted_by(|one, next| one < next) && last as usize / 8 < groups.len() * 4
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(write: impl FnOnce(&mut ColumnWriter)) -> Vec<u8> {
        let mut writer = ColumnWriter::new();
        write(&mut writer);
        writer.into_bytes()
    }

    proptest! {
        #[test]
        fn columns_are_read_as_they_were_written(
            numbers in prop::collection::vec(prop_oneof![0u64..300, any::<u64>()], 0..40),
            signed in prop::collection::vec(prop_oneof![-300i64..300, any::<i64>()], 0..40),
            repeated in prop::collection::vec(prop_oneof![0u128..4, any::<u128>()], 0..40),
            groups in prop::collection::vec(prop_oneof![0u32..64, any::<u32>()], 0..40),
            in_order in any::<bool>(),
            text in ".{0,8}",
        ) {
            let mut groups = groups;
            if in_order {
                groups.sort_unstable();
                groups.dedup();
            }
            let bytes = written(|to| {
                to.numbers(numbers.iter().copied());
                to.signed(signed.iter().copied());
                to.repeated(repeated.iter().copied());
                to.groups(&groups);
                to.text(&text);
                to.doubles([0.5, f64::INFINITY].into_iter());
            });
            let mut from = ColumnReader::new(&bytes);
            prop_assert_eq!(from.numbers(numbers.len()), Some(numbers));
            prop_assert_eq!(from.signed(signed.len()), Some(signed));
            prop_assert_eq!(from.repeated(repeated.len()), Some(repeated));
            prop_assert_eq!(from.groups(), Some(groups));
            prop_assert_eq!(from.text(), Some(&*text));
            prop_assert_eq!(from.doubles(2), Some(vec![0.5, f64::INFINITY]));
            prop_assert!(from.is_at_end());
        }

        /// Bytes that are read are the bytes that would be written: nothing has two forms.
        #[test]
        fn there_is_one_way_to_write_something(
            bytes in prop::collection::vec(prop_oneof![0u8..4, any::<u8>()], 0..64),
            count in 0usize..6,
        ) {
            let end = |from: &ColumnReader<'_>| bytes.len() - from.rest().len();
            let mut from = ColumnReader::new(&bytes);
            if let Some(numbers) = from.numbers(count) {
                let again = written(|to| to.numbers(numbers.into_iter()));
                prop_assert_eq!(&again[..], &bytes[..end(&from)]);
            }
            let mut from = ColumnReader::new(&bytes);
            if let Some(groups) = from.groups() {
                let again = written(|to| to.groups(&groups));
                prop_assert_eq!(&again[..], &bytes[..end(&from)]);
            }
            let mut from = ColumnReader::new(&bytes);
            if let Some(numbers) = from.repeated(count) {
                let again = written(|to| to.repeated(numbers.into_iter()));
                prop_assert_eq!(&again[..], &bytes[..end(&from)]);
            }
        }
    }

    /// What many groups cost: a bit for each that is there, and a byte for its price.
    #[test]
    fn columns_are_as_wide_as_their_largest_number() {
        let length = |write: fn(&mut ColumnWriter)| written(write).len();
        assert_eq!(length(|to| to.numbers([0, 0].into_iter())), 1);
        assert_eq!(length(|to| to.numbers([255, 0].into_iter())), 3);
        assert_eq!(length(|to| to.numbers([256, 0].into_iter())), 5);
        assert_eq!(length(|to| to.signed([-128, 127].into_iter())), 3);
        let groups: Vec<u32> = (0..8000).collect();
        assert_eq!(written(|to| to.groups(&groups)).len(), 8 + 1 + 8 + 1000);
        let prices = (0..8000).map(|group| u128::MAX - group % 3);
        assert_eq!(written(|to| to.repeated(prices.clone())).len(), 8 + 48 + 1 + 8000);
    }

    /// Lengths that no bytes stand behind are not believed.
    #[test]
    fn a_column_that_says_it_is_long_is_not_read() {
        let bytes = written(|to| to.numbers([1].into_iter()));
        assert_eq!(ColumnReader::new(&bytes).numbers(2), None);
        assert_eq!(ColumnReader::new(&bytes).numbers(usize::MAX), None);
        let bytes = written(|to| to.number(u64::MAX));
        assert_eq!(ColumnReader::new(&bytes).text(), None);
        assert_eq!(ColumnReader::new(&bytes).groups(), None);
        assert_eq!(ColumnReader::new(&bytes).repeated(1), None);
    }
}
