//! Cut counts: how many units lose something to the bounds of a plan.
//!
//! A unit is in a question if one of its rows takes part, whatever the keys of that row. Of such a
//! unit four things are noted: whether it has more groups than it keeps, whether a row of it has a
//! key that is not listed, and how many times `max_rows` it has rows in the fullest group that it
//! keeps. Each follows from the unit's own rows and the key of the hash alone, and each unit is in
//! at most one bin of rows.

use crate::rows::column::encoding::take;

/// How many bins of rows there are: up to twice, four times, eight times `max_rows`, and so on; the
/// last one has no end. Stored paths depend on it.
pub(crate) const BINS: usize = 12;

/// What has been noted of a unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CutMarks(u8);

impl CutMarks {
    /// It has more groups than it keeps.
    pub(crate) const GROUPS: Self = Self(1);
    /// A row of it has a key that is not listed.
    pub(crate) const UNLISTED: Self = Self(2);

    /// Notes something more.
    #[inline]
    pub(crate) fn add(&mut self, more: Self) {
        self.0 |= more.0;
    }

    fn has(self, mark: Self) -> bool {
        self.0 & mark.0 != 0
    }

    pub(crate) fn write(self, bytes: &mut Vec<u8>) {
        bytes.push(self.0);
    }

    pub(crate) fn read(bytes: &mut &[u8]) -> Option<Self> {
        let [marks] = take(bytes)?;
        Some(Self(marks))
    }
}

/// One of the counts of units that are released beside an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CutCell {
    /// Those of which a row takes part.
    Of,
    /// Those that lose groups or rows to the bounds, whichever can.
    Units,
    /// Those that have more groups than they keep, where rows can be lost too.
    Groups,
    /// Those with a key that is not listed.
    Unlisted,
    /// Those in a bin of rows.
    Rows(usize),
}

impl CutCell {
    /// What it is called where it is stored: never another thing.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Of => "of".to_owned(),
            Self::Units => "units".to_owned(),
            Self::Groups => "by-groups".to_owned(),
            Self::Unlisted => "unlisted".to_owned(),
            Self::Rows(bin) => format!("by-rows-{}", bin + 1),
        }
    }
}

/// How many units were cut, and by what. Private: it becomes an `Exact`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CutTally {
    /// Units of which a row takes part, whatever its keys.
    pub(crate) of: u64,
    /// Units that are cut by groups, by rows, or by both.
    pub(crate) either: u64,
    /// Units with more groups than they keep.
    pub(crate) by_groups: u64,
    /// Units with a row whose key is not listed.
    pub(crate) unlisted: u64,
    /// Units with more rows than count in the fullest group that they keep, by how many times as
    /// many: each in one bin.
    pub(crate) by_rows: [u64; BINS],
}

impl CutTally {
    /// Counts a unit that has `rows` rows in the fullest group that it keeps.
    pub(crate) fn unit(&mut self, marks: CutMarks, rows: u64, max_rows: u32) {
        let (bin, by_groups) = (bin(rows, max_rows), marks.has(CutMarks::GROUPS));
        self.of += 1;
        self.either += u64::from(by_groups || bin.is_some());
        self.by_groups += u64::from(by_groups);
        self.unlisted += u64::from(marks.has(CutMarks::UNLISTED));
        if let Some(bin) = bin {
            self.by_rows[bin] += 1;
        }
    }

    /// One of the counts, where units lose rows or do not.
    pub(crate) fn get(&self, cell: CutCell, by_rows: bool) -> u64 {
        match cell {
            CutCell::Of => self.of,
            CutCell::Units if by_rows => self.either,
            CutCell::Units | CutCell::Groups => self.by_groups,
            CutCell::Unlisted => self.unlisted,
            CutCell::Rows(bin) => self.by_rows.get(bin).copied().unwrap_or(0),
        }
    }

    /// Adds other units.
    pub(crate) fn add(&mut self, other: &Self) {
        let Self { of, either, by_groups, unlisted, by_rows } = other;
        self.of += of;
        self.either += either;
        self.by_groups += by_groups;
        self.unlisted += unlisted;
        self.by_rows.iter_mut().zip(by_rows).for_each(|(all, more)| *all += more);
    }
}

/// The bin of a unit with this many rows in a group, of which `max_rows` count: the number `j`,
/// from 0, for which it has more than `2^j` times as many and at most `2^(j+1)` times; none where
/// all count.
pub(crate) fn bin(rows: u64, max_rows: u32) -> Option<usize> {
    let most = u64::from(max_rows);
    if rows <= most {
        return None;
    }
    let fits = |bin: &usize| u128::from(rows) <= u128::from(most) << (bin + 1);
    Some((0..BINS - 1).find(fits).unwrap_or(BINS - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_in_the_bin_of_its_rows() {
        let bins = |rows: &[u64]| rows.iter().map(|&rows| bin(rows, 20)).collect::<Vec<_>>();
        assert_eq!(bins(&[0, 1, 20]), [None; 3]);
        assert_eq!(bins(&[21, 39, 40]), [Some(0); 3]);
        assert_eq!(bins(&[41, 80]), [Some(1); 2]);
        assert_eq!(bins(&[81, 160, 161]), [Some(2), Some(2), Some(3)]);
        // Rows lost are more than `max_rows (2^j - 1)`, also in the last bin.
        for rows in (21..200_000).step_by(7).chain([u64::MAX]) {
            let bin = bin(rows, 20).unwrap();
            assert!(rows - 20 > 20 * ((1 << bin) - 1), "{rows} {bin}");
            assert!(bin == BINS - 1 || rows <= 20 << (bin + 1), "{rows} {bin}");
        }
        assert_eq!((bin(u64::MAX, u32::MAX), bin(2, 1)), (Some(BINS - 1), Some(0)));
    }

    #[test]
    fn a_unit_is_counted_once() {
        let mut tally = CutTally::default();
        let mut both = CutMarks::GROUPS;
        both.add(CutMarks::UNLISTED);
        tally.unit(both, 500, 20);
        tally.unit(CutMarks::default(), 20, 20);
        tally.unit(CutMarks::GROUPS, 1, 20);
        let CutTally { of, either, by_groups, unlisted, by_rows } = tally;
        assert_eq!((of, either, by_groups, unlisted), (3, 2, 2, 1));
        assert_eq!((by_rows[4], by_rows.iter().sum::<u64>()), (1, 1));
    }
}
