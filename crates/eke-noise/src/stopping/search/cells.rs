//! Halving a range of cells.

/// The cells from one cut to another: whole after some halvings of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cells {
    low: u128,
    high: u128,
}

impl Cells {
    /// All cells of a grid.
    pub(super) fn all(levels: u8) -> Self {
        Self { low: 0, high: 1 << levels }
    }

    /// The cut in the middle; none of one cell.
    pub(super) fn middle(self) -> Option<u64> {
        (self.count() > 1).then(|| cell(self.low.midpoint(self.high)))
    }

    /// How many there are.
    pub(super) fn count(self) -> u128 {
        self.high - self.low
    }

    /// The first.
    pub(super) fn first(self) -> u64 {
        cell(self.low)
    }

    /// The last.
    pub(super) fn last(self) -> u64 {
        cell(self.high - 1)
    }

    pub(super) fn take_lower(&mut self) {
        self.high = self.low.midpoint(self.high);
    }

    pub(super) fn take_upper(&mut self) {
        self.low = self.low.midpoint(self.high);
    }
}

fn cell(number: u128) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
