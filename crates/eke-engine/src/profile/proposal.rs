//! Which bounds a profile proposes, from released histograms alone (post-processing).
//!
//! Noise in a cell is as large as in all others, and most cells are empty. So a bin is looked at
//! together with its neighbours: a window of bins that lies side by side holds somebody if its sum
//! is many deviations of its own noise above zero. The bound is the end of the last window that
//! does. What the bound cuts off is not read from the same numbers, which it was chosen by: it is
//! counted anew, with fresh noise.

use serde::{Deserialize, Serialize};

use crate::profile::layout::{
    GROUP_BINS, Layout, ROW_BINS, VALUE_BINS, bin_of_power, power_at, powers,
};

/// How many deviations above zero the sum of a window is before it holds somebody: of some four
/// hundred windows one is so by chance in less than one in ten profiles.
const SURE: f64 = 3.7;
/// The same of values, whose windows are ten times as many: on two sides, by units and by rows.
const SURE_OF_VALUES: f64 = 4.4;
/// How many bins a window has at most.
const WIDEST: usize = 12;
/// What part of all units a window holds at least that a bound follows.
const LEAST_PART: f64 = 0.002;
/// Where noise hides more than these parts of the units, a bound is two and four times as large as
/// what shows.
const BLURRED: f64 = 0.025;
const BLIND: f64 = 0.1;

/// The bounds that a profile proposes, as bins: what is in them and below is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Chosen {
    pub(crate) row_bin: usize,
    pub(crate) group_bins: Vec<usize>,
    pub(crate) values: Vec<ValueBounds>,
}

/// The bounds of a column: the places of its outermost powers of two on each side of zero; none
/// where a side ends at zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ValueBounds {
    pub(crate) below: Option<usize>,
    pub(crate) above: Option<usize>,
}

impl ValueBounds {
    /// Whether anything showed above the noise. If nothing did, no bounds are proposed.
    pub(crate) fn are_told(&self) -> bool {
        self.below.is_some() || self.above.is_some()
    }

    /// Whether a bin of values is outside. NULL is never clamped.
    pub(crate) fn is_outside(&self, bin: usize) -> bool {
        let beyond = |is_negative, last: Option<usize>| {
            let first = bin_of_power(is_negative, 0);
            let place = bin.checked_sub(first).filter(|&place| place < powers());
            place.is_some_and(|place| last.is_none_or(|last| place > last))
        };
        beyond(false, self.above) || beyond(true, self.below)
    }

    /// The bounds as numbers.
    pub(crate) fn numbers(&self) -> (f64, f64) {
        // What is beyond all powers is clamped to the largest.
        let end =
            |place: Option<usize>| place.map_or(0.0, |place| power_at(place.min(powers() - 2)));
        let (min, max) = (-end(self.below), end(self.above));
        // All of nothing: there must be something between.
        if self.are_told() { (min + 0.0, max) } else { (0.0, 1.0) }
    }
}

impl Chosen {
    /// How many cells each histogram of what the bounds cut off has: units, units with more rows,
    /// units with more groups of each key, values of each column by bins of rows.
    pub(crate) fn cells(&self) -> Vec<usize> {
        let columns = self.values.iter().map(|_| self.row_bin + 1);
        let counts = 2 + self.group_bins.len();
        std::iter::repeat_n(1, counts).chain(columns).collect()
    }

    /// Chooses bounds.
    pub(crate) fn of(layout: &Layout, cells: &[i64], deviations: &[f64]) -> Self {
        let numbers: Vec<f64> = cells.iter().map(|&cell| cell as f64).collect();
        let mut deviations = deviations.iter().copied();
        let mut deviation = || deviations.next().unwrap_or(1.0);
        let (rows, mut rest) = numbers.split_at(ROW_BINS.min(numbers.len()));
        let bins = Bins::same(rows, deviation());
        let units = bins.largest();
        // The last bin has no end: a bound within it would be none.
        let row_bin = bins.end(units).min(ROW_BINS - 2);
        let mut group_bins = Vec::new();
        for _ in &layout.keys {
            let (groups, others) = rest.split_at(GROUP_BINS.min(rest.len()));
            group_bins.push(Bins::same(groups, deviation()).end(units).min(GROUP_BINS - 2));
            rest = others;
        }
        let columns = rest.chunks(ROW_BINS * VALUE_BINS);
        let values = columns.map(|cells| bounds(cells, row_bin, deviation(), units)).collect();
        Self { row_bin, group_bins, values }
    }
}

/// The bounds of a column, of units with no more rows than the bound: where units are, and where
/// rows are (a unit stands for as many as it has).
fn bounds(cells: &[f64], row_bin: usize, deviation: f64, units: f64) -> ValueBounds {
    let side = |is_negative: bool| {
        let summed = |weight: &dyn Fn(usize) -> f64| {
            let bins = (0..powers()).map(|place| {
                let bin = bin_of_power(is_negative, place);
                (0..=row_bin).map(|row| weight(row) * cells[row * VALUE_BINS + bin]).sum()
            });
            let noise = (0..=row_bin).map(|row| weight(row).powi(2)).sum::<f64>().sqrt();
            (bins.collect::<Vec<f64>>(), noise * deviation)
        };
        let (by_units, noise) = summed(&|_| 1.0);
        let by_units = Bins { bins: &by_units, deviation: noise, sure: SURE_OF_VALUES };
        // Relative to the bound, so that the parts of all rows are of the size of units.
        let (by_rows, noise) = summed(&|row| (row as f64 - row_bin as f64).exp2());
        let by_rows = Bins { bins: &by_rows, deviation: noise, sure: SURE_OF_VALUES };
        let rows: f64 = units.min(by_rows.largest().max(0.0));
        let last = by_units.last(units).max(by_rows.last(rows));
        last.map(|last| by_units.widened(last, units))
    };
    ValueBounds { below: side(true), above: side(false) }
}

/// Bins that lie side by side, with noise of one width.
struct Bins<'a> {
    bins: &'a [f64],
    deviation: f64,
    /// How many deviations above zero a window is that holds somebody.
    sure: f64,
}

impl<'a> Bins<'a> {
    fn same(bins: &'a [f64], deviation: f64) -> Self {
        Self { bins, deviation, sure: SURE }
    }

    /// All windows: where they start, how many bins they have, and their sums.
    fn windows(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        (0..self.bins.len()).flat_map(move |start| {
            let mut sum = 0.0;
            self.bins[start..].iter().take(WIDEST).enumerate().map(move |(more, bin)| {
                sum += bin;
                (start, more + 1, sum)
            })
        })
    }

    fn score(&self, (_, bins, sum): (usize, usize, f64)) -> f64 {
        sum / (self.deviation * (bins as f64).sqrt())
    }

    /// The sum of the window that is the furthest above zero: about how many there are.
    fn largest(&self) -> f64 {
        let best = self.windows().max_by(|one, two| self.score(*one).total_cmp(&self.score(*two)));
        best.map_or(0.0, |(_, _, sum)| sum.max(0.0))
    }

    /// The window that is the furthest above zero: how far, and its last bin.
    fn best(&self) -> (f64, usize) {
        let scored = self.windows().map(|window| (self.score(window), window.0 + window.1 - 1));
        scored.max_by(|one, two| one.0.total_cmp(&two.0)).unwrap_or((0.0, 0))
    }

    /// The last bin of the last window that holds somebody.
    fn last(&self, units: f64) -> Option<usize> {
        let holds = |window: &(usize, usize, f64)| {
            self.score(*window) >= self.sure && window.2 >= LEAST_PART * units
        };
        let start = self.windows().filter(holds).map(|(start, ..)| start).max()?;
        let there = self.windows().filter(holds).filter(|window| window.0 == start);
        let best = there.max_by(|one, two| self.score(*one).total_cmp(&self.score(*two)));
        best.map(|(start, bins, _)| start + bins - 1)
    }

    /// A bound a little beyond what shows, where noise hides some of it.
    fn widened(&self, last: usize, units: f64) -> usize {
        let hidden = SURE * self.deviation * std::f64::consts::SQRT_2 / units.max(1.0);
        let more = usize::from(hidden > BLURRED) + usize::from(hidden > BLIND);
        (last + more).min(self.bins.len() - 1)
    }

    /// The bound: where the last window ends, or where the likeliest does if none is sure.
    fn end(&self, units: f64) -> usize {
        let last = self.last(units).unwrap_or_else(|| self.best().1);
        self.widened(last, units)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout() -> Layout {
        Layout { keys: vec!["zone".into()], columns: vec!["fare".into()] }
    }

    /// Without noise to speak of, bounds are where the data ends, or all but a five hundredth of
    /// it.
    #[test]
    fn bounds_are_where_the_units_are() {
        let layout = layout();
        let mut cells = vec![0i64; layout.cells().iter().sum()];
        let mut put = |rows: u64, groups: u64, value: u8, units: i64| {
            for cell in layout.cells_of(rows, &[groups], &[value]) {
                cells[cell] += units;
            }
        };
        let bin = |is_negative, place| u8::try_from(bin_of_power(is_negative, place)).unwrap();
        put(1, 1, bin(false, 36), 5_000);
        put(20, 3, bin(false, 37), 5_000);
        put(100, 3, bin(true, 33), 100);
        // A single unit, far away in everything.
        put(1 << 30, 1 << 12, bin(false, 90), 1);
        let chosen = Chosen::of(&layout, &cells, &[0.2, 0.2, 0.2]);
        let values = ValueBounds { below: Some(33), above: Some(37) };
        assert_eq!(chosen, Chosen { row_bin: 7, group_bins: vec![2], values: vec![values] });
        assert_eq!(values.numbers(), (-4.0, 64.0));
        assert_eq!(chosen.cells(), [1, 1, 1, 8]);
        let outside = |bin: u8| values.is_outside(usize::from(bin));
        assert!(outside(bin(false, 38)) && outside(bin(true, 34)) && outside(bin(false, 95)));
        assert!(!outside(0) && !outside(1) && !outside(bin(false, 37)) && !outside(bin(true, 0)));
        let none = ValueBounds { below: None, above: None };
        assert_eq!(none.numbers(), (0.0, 1.0));
        assert!(none.is_outside(usize::from(bin(true, 0))) && none.is_outside(2));
        let all = ValueBounds { below: Some(95), above: None };
        assert_eq!(all.numbers(), (-(63f64.exp2()), 0.0));
    }
}
