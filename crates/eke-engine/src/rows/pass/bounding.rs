//! Bounding: what each privacy unit may add to a question (contribution bounding).
//!
//! Of each unit's groups the `max_groups` with the smallest keyed hash of (unit, group) count, and
//! rows and steps are added up in each. What counts follows from the unit's own rows and the key
//! alone: not from their order, nor from batches, parts or other units.
//!
//! The hash is keyed BLAKE3: a person who can choose the names of groups or units, but does not
//! know the key, cannot choose which groups are kept. It may never change: answers that were paid
//! for depend on which groups are kept.

use std::fmt;

use arrow_array::{Array, Int64Array};
use eke_sql::Type;

use crate::rows::column::listed::Naming;
use crate::rows::pass::cells::Searching;
use crate::rows::pass::values::{Bringing, HALVES};

/// The key of the hash that groups are kept by. Shows itself to nobody.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct HashKey(pub(crate) [u8; 32]);

impl fmt::Debug for HashKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HashKey(..)")
    }
}

/// How much one unit may add, and to what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// The type of the unit; none if each row is one.
    pub(crate) unit: Option<Type>,
    pub(crate) keys: Vec<Type>,
    /// How many columns of steps are added up.
    pub(crate) steps: usize,
    /// Which values are counted once, where different ones are counted.
    pub(crate) bringing: Bringing,
    /// Where values lie, where that is searched.
    pub(crate) searching: Searching,
    /// Whether rows come along whose keys are not listed, for their units to be counted.
    pub(crate) unlisted: bool,
    pub(crate) max_groups: u32,
    pub(crate) max_rows: u32,
    /// How many rows count in all groups together, where that is fewer than groups allow.
    pub(crate) max_rows_in_all: Option<u32>,
    /// What a row that counts is, in steps: parts of rows count where all rows are bounded.
    pub(crate) row: i64,
    pub(crate) hash_key: HashKey,
}

impl Limits {
    /// How many steps a row brings: those that are added up, the digests of values, and whether its
    /// keys are not listed.
    pub(crate) fn brought(&self) -> usize {
        let digests = HALVES * self.bringing.most.len();
        self.steps + digests + self.searching.ones.len() + usize::from(self.unlisted)
    }

    /// What a unit counts for in a search, that has this many rows which are not NULL of all that
    /// it has in a group, where so many of its rows count in all groups together: as much as in a
    /// count of these.
    pub(crate) fn searched(&self, search: usize, present: u64, rows: u64, in_all: u64) -> i128 {
        let one = self.searching.ones.get(search).copied().unwrap_or(0);
        let all = i128::from(present).saturating_mul(i128::from(one));
        self.in_all(self.scaled(all, rows), in_all)
    }

    /// How many totals a group has besides its units and rows.
    pub(crate) fn totals(&self) -> usize {
        self.steps + self.bringing.most.len()
    }

    /// A sum over `rows` rows of a unit in a group, scaled to that over `max_rows` of them: cut off
    /// towards zero, exactly.
    pub(crate) fn scaled(&self, sum: i128, rows: u64) -> i128 {
        part(sum, self.max_rows, rows)
    }

    /// How many rows of a unit count in a group, in steps, of those that there are.
    pub(crate) fn rows(&self, rows: u64) -> i128 {
        i128::from(rows.min(u64::from(self.max_rows))) * i128::from(self.row)
    }

    /// What counts of a unit in a group, where so many of its rows would count in all groups
    /// together: cut off towards zero, exactly. Nothing is left out.
    ///
    /// - Theorem: rows-in-all (docs/theorems.md)
    /// - Proves: with n' rows of a unit in a group that count, and S of them in all, no sum is
    ///   farther from zero than n' min(1, T/S) times what one row adds at most: these numbers of
    ///   rows are at most `max_rows` each and T together
    /// - Assumes: the sum is over at most n' rows, or was scaled to them (`scaled`)
    /// - Deviates: nothing; cutting towards zero twice only brings it nearer
    /// - Checked by: `rows_in_all_are_scaled_and_never_left_out`,
    ///   `removing_a_unit_changes_no_more_than_the_plan_says`
    pub(crate) fn in_all(&self, sum: i128, counted: u64) -> i128 {
        self.max_rows_in_all.map_or(sum, |most| part(sum, most, counted))
    }
}

/// A sum over `rows` rows, scaled to that over `most` of them if these are fewer: cut off towards
/// zero, exactly.
fn part(sum: i128, most: u32, rows: u64) -> i128 {
    if rows <= u64::from(most) {
        return sum;
    }
    // A product of all of `sum` might not fit. Quotient and remainder have the sign of the sum, so
    // cutting off the second part alone cuts off the whole.
    let (rows, most) = (i128::from(rows), i128::from(most));
    sum / rows * most + sum % rows * most / rows
}

/// The rows of a batch that take part, as what they are grouped by and what they add.
pub(crate) struct BatchRows {
    rows: usize,
    unit: Option<Naming>,
    keys: Vec<Naming>,
    steps: Vec<Int64Array>,
}

impl BatchRows {
    /// The unit if there is a column of it, the keys and then the steps of rows, which there are
    /// this many of.
    pub(crate) fn new(
        rows: usize,
        unit: Option<Naming>,
        keys: Vec<Naming>,
        steps: Vec<Int64Array>,
    ) -> Self {
        Self { rows, unit, keys, steps }
    }

    /// How many rows there are.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    /// Names the unit of each row; with nothing, if each row is one.
    pub(crate) fn units(&self, names: &mut RowNames) {
        names.take(self.rows, self.unit.as_slice());
    }

    /// Names the group of each row.
    pub(crate) fn groups(&self, names: &mut RowNames) {
        names.take(self.rows, &self.keys);
    }

    /// What each row adds, and then the digests of the values that it has, row by row.
    pub(crate) fn steps(&self, steps: &mut RowSteps) {
        steps.width = self.steps.len();
        steps.all.clear();
        steps.all.resize(self.rows * steps.width, 0);
        for (place, column) in self.steps.iter().enumerate() {
            let rows = steps.all.iter_mut().skip(place).step_by(steps.width);
            for (row, step) in rows.enumerate() {
                *step = if column.is_null(row) { 0 } else { column.value(row) };
            }
        }
    }
}

/// The names of the rows of a batch, one after the other.
#[derive(Default)]
pub(crate) struct RowNames {
    bytes: Vec<u8>,
    /// Where each ends.
    ends: Vec<usize>,
}

impl RowNames {
    /// Names this many rows by these columns.
    fn take(&mut self, rows: usize, columns: &[Naming]) {
        self.bytes.clear();
        self.ends.clear();
        if let [column] = columns {
            return column.push_all(&mut self.bytes, &mut self.ends);
        }
        for row in 0..rows {
            columns.iter().for_each(|column| column.push(row, &mut self.bytes));
            self.ends.push(self.bytes.len());
        }
    }

    /// The names, row by row.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| &self.bytes[std::mem::replace(&mut start, end)..end])
    }
}

/// What the rows of a batch add, row by row.
#[derive(Default)]
pub(crate) struct RowSteps {
    width: usize,
    all: Vec<i64>,
}

impl RowSteps {
    /// What a row adds.
    pub(crate) fn row(&self, row: usize) -> &[i64] {
        &self.all[row * self.width..(row + 1) * self.width]
    }
}
