//! Rows that stay in memory between plans over one snapshot, so that the files are read once: the
//! steps of a watch, and questions one after the other.
//!
//! Columns are held as they were read, and only what one snapshot of one dataset holds. Nothing
//! that comes out depends on it: a plan takes the same rows from memory as from files.

use std::mem::size_of;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use crate::rows::column::listed::AnyColumn;
use crate::rows::scan::{Batches, Piece, Wanted};

/// Which rows they are: a dataset, and the number of its snapshot.
pub(crate) type Snapshot = (String, u32);

/// The rows of one snapshot, if they are held.
#[derive(Default)]
pub struct HeldRows(Mutex<State>);

#[derive(Default)]
struct State {
    /// What was read last. What is read twice may be read a third time, and is held.
    last: Option<Snapshot>,
    held: Option<Arc<Held>>,
}

struct Held {
    of: Snapshot,
    wanted: Wanted,
    batches: Vec<(Vec<AnyColumn>, usize)>,
}

/// Some of the rows that are held.
#[derive(Clone)]
pub(crate) struct HeldPiece {
    held: Arc<Held>,
    batches: Range<usize>,
    /// Where the columns that are wanted are among those that are held.
    places: Vec<usize>,
}

/// Rows that will be held once all of them are read, unless they are too many.
pub(crate) struct Holding {
    of: Snapshot,
    most: usize,
    taken: Mutex<Taken>,
}

#[derive(Default)]
struct Taken {
    batches: Vec<(Vec<AnyColumn>, usize)>,
    bytes: usize,
}

impl HeldRows {
    /// The pieces of a snapshot, if all that is wanted of it is held, for this many readers.
    pub(crate) fn pieces(
        &self,
        of: &Snapshot,
        wanted: &Wanted,
        readers: usize,
    ) -> Option<Vec<Piece>> {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let held = state.held.as_ref().filter(|held| held.of == *of)?;
        let places = wanted.places_in(&held.wanted)?;
        let (count, readers) = (held.batches.len(), readers.max(1));
        let piece = |reader: usize| {
            let batches = count * reader / readers..count * (reader + 1) / readers;
            Piece::Held(HeldPiece { held: Arc::clone(held), batches, places: places.clone() })
        };
        Some((0..readers).map(piece).collect())
    }

    /// What rows that are read now will be held in, at most so many bytes of them: if more reads
    /// are expected, or they were read last time, too.
    pub(crate) fn hold(&self, of: &Snapshot, expects_more: bool, most: usize) -> Option<Holding> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_worth_it = expects_more || state.last.as_ref() == Some(of);
        state.last = Some(of.clone());
        // Rows of other snapshots, or other columns, make room.
        if is_worth_it {
            state.held = None;
        }
        is_worth_it.then(|| Holding { of: of.clone(), most, taken: Mutex::default() })
    }

    /// Holds rows, all of which were read.
    pub(crate) fn keep(&self, holding: Holding, wanted: &Wanted) {
        let taken = holding.taken.into_inner().unwrap_or_else(PoisonError::into_inner);
        if taken.bytes > holding.most {
            return;
        }
        let (of, wanted, batches) = (holding.of, wanted.clone(), taken.batches);
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.held = Some(Arc::new(Held { of, wanted, batches }));
    }
}

impl Holding {
    /// Takes in rows that were read.
    pub(crate) fn add(&self, (columns, rows): &(Vec<AnyColumn>, usize)) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let Taken { batches, bytes } = &mut *taken;
        for (place, column) in columns.iter().enumerate() {
            // Another reader's list may come between two of one: then it counts again.
            let before = batches.last().and_then(|(before, _)| before.get(place));
            *bytes = bytes.saturating_add(column.held(before));
        }
        *bytes = bytes.saturating_add(size_of::<AnyColumn>());
        if taken.bytes > self.most {
            taken.batches = Vec::new();
        } else {
            taken.batches.push((columns.clone(), *rows));
        }
    }
}

impl HeldPiece {
    /// The rows, `batch_rows` at a time.
    pub(crate) fn open(self, batch_rows: usize) -> Batches {
        let Self { held, batches, places } = self;
        Box::new(batches.flat_map(move |batch| {
            let (columns, rows) = &held.batches[batch];
            let columns: Vec<AnyColumn> =
                places.iter().map(|&place| columns[place].clone()).collect();
            let rows = *rows;
            (0..rows).step_by(batch_rows.max(1)).map(move |from| {
                let count = batch_rows.max(1).min(rows - from);
                Ok((columns.iter().map(|column| column.slice(from, count)).collect(), count))
            })
        }))
    }
}
