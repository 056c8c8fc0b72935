//! What a search says in the end.

/// What a search has found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// The answer: a cell.
    pub cell: u64,
    /// The first cell that the quantile may be in, with the confidence.
    pub low: u64,
    /// The last one.
    pub high: u64,
    /// The ranks, as shares of the rows, that the answer has at least one of, with the confidence:
    /// the least. (A cell with many rows has many ranks.)
    pub rank_low: f64,
    /// The largest.
    pub rank_high: f64,
    /// For the least and the largest value: at most this many rows lie beyond the answer, with the
    /// confidence.
    pub beyond: Option<f64>,
    /// Whether the goal is met.
    pub met: bool,
    /// Why it ended.
    pub ending: SearchEnding,
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchEnding {
    /// The goal is met.
    Met,
    /// The interval is as narrow as it gets: it has the one cell, or cells between which there are
    /// too few rows to tell them apart at this price.
    Flat,
    /// The number of rows cannot be told from zero.
    Empty,
    /// There are too few rows for the goal at the highest price.
    OutOfReach,
    /// The highest price is reached.
    HighestPrice,
    /// The next look does not fit the budget.
    Refused,
}
