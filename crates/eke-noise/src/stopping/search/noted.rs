//! What a search has looked at, for what it has cost.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::{Point, Seen};

/// What is seen, and the precisions of what was asked for.
pub(super) struct Noted<'a, S: Seen> {
    seen: &'a S,
    cuts: RefCell<BTreeMap<u64, f64>>,
}

impl<'a, S: Seen> Noted<'a, S> {
    pub(super) fn new(seen: &'a S) -> Self {
        Self { seen, cuts: RefCell::new(BTreeMap::new()) }
    }

    /// The precision of a cut, or of N; 0 if nothing was seen of it.
    pub(super) fn precision(&self, cut: Option<u64>) -> f64 {
        let point = match cut {
            Some(cut) => self.seen.cut(cut),
            None => self.seen.count(),
        };
        point.map_or(0.0, |point| point.precision)
    }

    /// The precisions of N and all cuts that were asked for, together.
    pub(super) fn total(&self) -> f64 {
        self.precision(None) + self.cuts.borrow().values().sum::<f64>()
    }
}

impl<S: Seen> Seen for Noted<'_, S> {
    fn cut(&self, cut: u64) -> Option<Point> {
        let point = self.seen.cut(cut)?;
        self.cuts.borrow_mut().insert(cut, point.precision);
        Some(point)
    }

    fn count(&self) -> Option<Point> {
        self.seen.count()
    }

    fn spent(&self) -> f64 {
        self.seen.spent()
    }
}
