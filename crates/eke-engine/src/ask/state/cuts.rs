//! What the paths of a search are of: a group, and a cut of the grid or all of its rows.
//!
//! A path is added when its cut is looked at for the first time, and stored with that round: from
//! then on, and for good, a number of the bundle stands for it. There is no quantile in it.

use std::collections::HashMap;

use eke_budget::columns::{ColumnReader, ColumnWriter};

use crate::rows::Place;

/// The paths of a search, in the order of their numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Cuts {
    paths: Vec<(u32, Place)>,
    numbers: HashMap<(u32, Place), u32>,
    /// How many of them are stored.
    stored: usize,
}

impl Cuts {
    /// The path of a group at a place.
    pub(crate) fn path(&self, group: u32, place: Place) -> Option<u32> {
        self.numbers.get(&(group, place)).copied()
    }

    /// All of them, each with its group.
    pub(crate) fn all(&self) -> &[(u32, Place)] {
        &self.paths
    }

    /// Adds a path; none if there is one, or there are more than can be numbered.
    pub(crate) fn add(&mut self, group: u32, place: Place) -> Option<u32> {
        let path = u32::try_from(self.paths.len()).ok()?;
        if self.numbers.contains_key(&(group, place)) {
            return None;
        }
        self.paths.push((group, place));
        self.numbers.insert((group, place), path);
        Some(path)
    }

    /// Those that are stored nowhere.
    pub(crate) fn unstored(&self) -> &[(u32, Place)] {
        &self.paths[self.stored..]
    }

    pub(crate) fn has_unstored(&self) -> bool {
        self.stored < self.paths.len()
    }

    /// From now on all of them are stored.
    pub(crate) fn store(&mut self) {
        self.stored = self.paths.len();
    }

    /// Adds what was stored, and says how many these are; none if it is damaged.
    pub(crate) fn read(&mut self, from: &mut ColumnReader<'_>) -> Option<u32> {
        let count = from.count()?;
        let (groups, places) = (from.numbers(count)?, from.numbers(count)?);
        for (group, place) in groups.into_iter().zip(places) {
            let place = if place == ALL { Place::All } else { Place::Cut(place) };
            self.add(u32::try_from(group).ok()?, place)?;
        }
        self.store();
        u32::try_from(count).ok()
    }
}

/// What stands for all rows: no cut is there.
const ALL: u64 = 0;

/// Writes the paths that a round has added.
pub(crate) fn write(cuts: &[(u32, Place)], to: &mut ColumnWriter) {
    to.number(cuts.len() as u64);
    to.numbers(cuts.iter().map(|&(group, _)| u64::from(group)).collect::<Vec<_>>().into_iter());
    let place = |&(_, place): &(u32, Place)| match place {
        Place::All => ALL,
        Place::Cut(cut) => cut,
    };
    to.numbers(cuts.iter().map(place).collect::<Vec<_>>().into_iter());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_are_read_as_they_were_added() {
        let mut cuts = Cuts::default();
        let rounds = [
            vec![(3, Place::All), (3, Place::Cut(1)), (0, Place::Cut(u64::MAX - 1))],
            vec![(0, Place::All), (3, Place::Cut(2))],
            Vec::new(),
        ];
        let mut read = Cuts::default();
        for round in rounds {
            let count = round.len();
            for (group, place) in round {
                assert!(cuts.add(group, place).is_some() && cuts.add(group, place).is_none());
            }
            assert_eq!(cuts.has_unstored(), count > 0);
            let mut to = ColumnWriter::new();
            write(cuts.unstored(), &mut to);
            cuts.store();
            let bytes = to.into_bytes();
            assert_eq!(read.read(&mut ColumnReader::new(&bytes)), u32::try_from(count).ok());
            assert_eq!(read, cuts);
            // What is there already is not added again, and what is cut off is not read.
            assert!(count == 0 || read.clone().read(&mut ColumnReader::new(&bytes)).is_none());
            let cut = &bytes[..bytes.len().saturating_sub(1)];
            assert!(count == 0 || Cuts::default().read(&mut ColumnReader::new(cut)).is_none());
        }
        assert_eq!(cuts.path(3, Place::Cut(2)), Some(4));
        assert_eq!(cuts.path(1, Place::All), None);
    }
}
