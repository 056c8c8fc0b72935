//! Tables that add up: the cells of an answer and its totals, moved as little as their noise allows
//! until every total is the sum of its cells (weighted least squares).
//!
//! All of it is made of released values, so it costs nothing (post-processing). It is about cells
//! and totals whose counted numbers add up before noise: each unit has one row, and all rows have
//! listed keys.

use std::collections::HashMap;

use eke_noise::stopping::deviations;
use serde::{Deserialize, Serialize};

use crate::ask::shown::answer::{Answer, Cell, Kind, Noise, Row};
use crate::ask::shown::covers::Covers;

/// Up to this many cells intervals are as narrow as they may be; of more, as wide as those of the
/// values before.
const DENSE: usize = 512;
/// How often conjugate gradients step at most, and how near they come.
const STEPS: usize = 10_000;
const NEAR: f64 = 1e-13;

/// The totals of an answer (ROLLUP, CUBE, GROUPING SETS).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Margins {
    /// How many sets of keys there are: that of the cells, and those of the totals.
    pub levels: usize,
    /// The columns whose totals are sums of their cells, but for noise.
    pub adds_up: Vec<String>,
    /// Whether that is so by what the question is. Otherwise it is so where each unit has one row,
    /// as the bounds of the policy say.
    pub one_row_each: bool,
    /// What the totals cover, set by set. Each is bounded by itself: a unit that is in several
    /// groups of the table counts for as many rows in a total as in one of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub covers: Vec<TotalsCover>,
    /// The places of all columns that show such values, or the ends of their intervals.
    #[serde(skip)]
    pub(crate) places: Vec<usize>,
    /// Why there are no such columns; none if there are.
    #[serde(skip)]
    pub(crate) cannot: Option<NotAdditive>,
}

/// What the totals over some keys cover.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TotalsCover {
    /// The columns of the keys that they are over, of those that are shown.
    pub over: Vec<String>,
    /// What they count of each unit, and how many units that cuts.
    pub covers: Covers,
}

/// How the values of an answer were made to add up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Additive {
    /// The columns.
    pub columns: Vec<String>,
    /// Whether none of their values is below zero.
    pub nonnegative: bool,
    /// Those of them without intervals: where they were seen depends on what was seen, and what is
    /// made of several such values has no law that is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without_intervals: Vec<String>,
}

/// Why an answer cannot be made to add up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAdditive {
    /// It has no totals.
    #[error("it has no totals; write GROUP BY ROLLUP (…), CUBE (…) or GROUPING SETS (…)")]
    NoTotals,
    /// Its totals count other rows of a unit than its cells do.
    #[error(
        "a unit counts in {max_groups} groups and for {max_rows} rows in each, so that totals are \
         no sums of cells even without noise; ask about one row of each unit: SELECT … FROM \
         (SELECT unit, … GROUP BY unit)"
    )]
    ManyRows {
        /// In how many groups a unit counts.
        max_groups: u32,
        /// For how many rows in each.
        max_rows: u32,
    },
    /// No set of keys has them all.
    #[error("no set of GROUP BY has all keys; add the set that has")]
    NoCells,
    /// Keys are grouped by and not shown.
    #[error("not all keys are shown; add them to SELECT")]
    HiddenKeys,
    /// Nothing in it is a sum of rows.
    #[error("it has no COUNT and no SUM by itself")]
    NoSums,
    /// Cells of few units are not shown.
    #[error("rows of fewer than {min_units} units are not shown, and sums would tell them")]
    MinUnits {
        /// The fewest units that a row is shown for.
        min_units: u32,
    },
    /// It was stored by an eke that did not keep what noise its values have.
    #[error("what noise its values have was not kept; ask for another price or error")]
    OfOldEke,
}

impl Answer {
    /// The same answer with totals that are the sums of their cells, and without values below zero
    /// if that is asked for and what is added up is never negative.
    ///
    /// # Errors
    /// It has no totals, or they are no sums of its cells even without noise.
    pub fn additive(mut self, nonnegative: bool) -> Result<Self, NotAdditive> {
        let totals = self.totals.as_ref().ok_or(NotAdditive::NoTotals)?;
        if let Some(cannot) = &totals.cannot {
            return Err(cannot.clone());
        }
        let (adds_up, places) = (totals.adds_up.clone(), totals.places.clone());
        let keys = self.columns.iter().filter(|column| column.kind == Kind::Key);
        let keys: Vec<String> = keys.map(|column| column.name.clone()).collect();
        let table = TableOfSums::new(&keys, &self.rows).ok_or(NotAdditive::NoCells)?;
        let values = self.columns.iter().filter(|column| column.kind != Kind::Key);
        let values = values.map(|column| (column.name.clone(), column.kind)).enumerate();
        let mut without_intervals = Vec::new();
        for (place, (name, kind)) in values.filter(|(place, _)| places.contains(place)) {
            let cells: Vec<&Cell> = self.rows.iter().map(|row| &row.values[place]).collect();
            let noises: Option<Vec<Noise>> = cells.iter().map(|cell| cell.noise).collect();
            let noises = noises.ok_or(NotAdditive::OfOldEke)?;
            let drawn: Option<Vec<f64>> = cells.iter().map(|cell| cell.value).collect();
            let drawn = drawn.ok_or(NotAdditive::OfOldEke)?;
            let adjusted = table.adjusted(&drawn, &noises, nonnegative);
            if kind == Kind::Value && !noises.iter().all(|noise| noise.is_planned) {
                without_intervals.push(name);
            }
            for ((row, noise), value) in self.rows.iter_mut().zip(&noises).zip(adjusted) {
                row.values[place] = value.shown(&row.values[place], noise, nonnegative);
            }
        }
        self.additive = Some(Additive { columns: adds_up, nonnegative, without_intervals });
        Ok(self)
    }
}

/// A value that adds up with others.
#[derive(Clone, Copy, Debug)]
struct Adjusted {
    value: f64,
    /// What it would be if it might be below zero: what its interval is around.
    free: f64,
    /// The variance of that; none where it has no law that is known.
    variance: Option<f64>,
}

impl Adjusted {
    fn shown(self, cell: &Cell, noise: &Noise, nonnegative: bool) -> Cell {
        let ends = self.variance.map(|variance| {
            let half = deviations(1.0 - cell.confidence, None) * variance.sqrt() + 0.5 * noise.step;
            // As it was drawn, unless a table without values below zero was asked for.
            let least = if nonnegative && noise.from_zero { 0.0 } else { f64::NEG_INFINITY };
            let ends = [self.free - half, self.free + half].map(|end| end.max(least));
            // What is moved for others to be at zero is in its interval too.
            let reach = if nonnegative { self.value } else { ends[0] };
            [ends[0].min(reach), ends[1].max(reach)]
        });
        let [low, high] = ends.map_or([None, None], |ends| ends.map(Some));
        let met = cell.met.filter(|_| ends.is_some());
        Cell { value: Some(self.value), low, high, met, noise: None, ..cell.clone() }
    }
}

/// The rows of one set of keys, by what of their keys is not summed over.
type Places = HashMap<Vec<String>, usize>;

/// Which cells each row of a table is the sum of.
struct TableOfSums {
    /// The rows that are cells.
    cells: Vec<usize>,
    /// For each set of keys, the row that each cell is in.
    sets: Vec<Vec<usize>>,
    rows: usize,
}

impl TableOfSums {
    /// That of rows with these keys; none if a total has no cell, or a cell no total.
    fn new(keys: &[String], rows: &[Row]) -> Option<Self> {
        let is_over = |row: &Row, name: &String| row.over.iter().any(|over| **over == **name);
        let mask = |row: &Row| keys.iter().map(|name| is_over(row, name)).collect::<Vec<bool>>();
        let part = |row: &Row, mask: &[bool]| {
            let kept = row.keys.iter().zip(mask).filter(|(_, is_over)| !**is_over);
            kept.map(|(key, _)| key.to_string()).collect::<Vec<String>>()
        };
        let mut by_set: Vec<(Vec<bool>, Places)> = Vec::new();
        for (place, row) in rows.iter().enumerate() {
            let mask = mask(row);
            let key = part(row, &mask);
            match by_set.iter_mut().find(|(set, _)| *set == mask) {
                Some((_, places)) => {
                    places.insert(key, place);
                }
                None => by_set.push((mask, HashMap::from([(key, place)]))),
            }
        }
        let all = vec![false; keys.len()];
        let cells = rows.iter().enumerate().filter(|(_, row)| mask(row) == all);
        let cells: Vec<usize> = cells.map(|(place, _)| place).collect();
        let of = |(set, places): &(Vec<bool>, Places)| {
            let place = |&cell: &usize| places.get(&part(&rows[cell], set)).copied();
            cells.iter().map(place).collect::<Option<Vec<usize>>>()
        };
        let sets = by_set.iter().map(of).collect::<Option<Vec<_>>>()?;
        let table = Self { cells, sets, rows: rows.len() };
        // Every row is the sum of some cells.
        let mut has_cells = vec![false; table.rows];
        table.sets.iter().flatten().for_each(|&row| has_cells[row] = true);
        (!table.cells.is_empty() && has_cells.iter().all(|has| *has)).then_some(table)
    }

    /// The values of all rows that add up and are nearest to those drawn, each by its variance.
    ///
    /// - Theorem: additive-table (docs/theorems.md)
    /// - Proves: where every value was seen at a look that was planned in advance, each value that
    ///   adds up is unbiased and normal with the variance that is stated, which is no larger than
    ///   before; where one was not, no law is stated
    /// - Assumes: the counted numbers add up before noise (`Margins`); noise is independent from
    ///   row to row (bundle) and near enough to normal
    /// - Deviates: of more than 512 cells the variance before stands for that after, which is
    ///   smaller; half a step of the grid is added to each end; an interval around a value that may
    ///   not be below zero is that of the value which might, and reaches as far as it
    /// - Checked by: `intervals_of_tables_that_add_up_hold`, `tables_add_up`
    fn adjusted(&self, drawn: &[f64], noises: &[Noise], nonnegative: bool) -> Vec<Adjusted> {
        let least = noises.iter().map(|noise| noise.variance).fold(f64::INFINITY, f64::min);
        // Relative to the largest: what is added up is of one size.
        let weights: Vec<f64> = noises.iter().map(|noise| least / noise.variance).collect();
        let open = vec![true; self.cells.len()];
        let weighted: Vec<f64> = drawn.iter().zip(&weights).map(|(y, w)| y * w).collect();
        let target = self.over_cells(&weighted);
        let free = self.solved(&weights, &target, &open);
        let from_zero = noises.iter().all(|noise| noise.from_zero);
        let cells = if nonnegative && from_zero {
            self.not_below_zero(&weights, &target, &free)
        } else {
            free.clone()
        };
        let is_planned = noises.iter().all(|noise| noise.is_planned);
        let variances = is_planned.then(|| match self.cells.len() <= DENSE {
            true => self.variances(&weights).map_or_else(
                || noises.iter().map(|noise| noise.variance).collect::<Vec<f64>>(),
                |found| found.into_iter().map(|variance| variance * least).collect(),
            ),
            false => noises.iter().map(|noise| noise.variance).collect(),
        });
        let (values, frees) = (self.sums(&cells), self.sums(&free));
        let places = 0..self.rows;
        let adjusted = |row: usize| Adjusted {
            value: values[row],
            free: frees[row],
            variance: variances.as_ref().map(|of| of[row]),
        };
        places.map(adjusted).collect()
    }

    /// What the rows come to, given the cells.
    fn sums(&self, cells: &[f64]) -> Vec<f64> {
        let mut rows = vec![0.0; self.rows];
        for set in &self.sets {
            set.iter().zip(cells).for_each(|(&row, cell)| rows[row] += cell);
        }
        rows
    }

    /// What comes together for each cell from the rows that it is in.
    fn over_cells(&self, rows: &[f64]) -> Vec<f64> {
        let mut cells = vec![0.0; self.cells.len()];
        for set in &self.sets {
            cells.iter_mut().zip(set).for_each(|(cell, &row)| *cell += rows[row]);
        }
        cells
    }

    /// The matrix of the normal equations times a vector.
    fn normal(&self, weights: &[f64], cells: &[f64]) -> Vec<f64> {
        let mut rows = self.sums(cells);
        rows.iter_mut().zip(weights).for_each(|(row, weight)| *row *= weight);
        self.over_cells(&rows)
    }

    /// The normal equations solved for the open cells, all others at zero: by conjugate gradients,
    /// scaled by the diagonal.
    fn solved(&self, weights: &[f64], target: &[f64], open: &[bool]) -> Vec<f64> {
        let diagonal = self.over_cells(weights);
        let held = |cells: &mut Vec<f64>| {
            cells.iter_mut().zip(open).filter(|(_, is)| !**is).for_each(|(cell, _)| *cell = 0.0);
        };
        let dot = |one: &[f64], other: &[f64]| -> f64 {
            one.iter().zip(other).map(|(one, other)| one * other).sum()
        };
        let scaled = |of: &[f64]| -> Vec<f64> {
            of.iter().zip(&diagonal).map(|(value, by)| value / by).collect()
        };
        let (mut cells, mut left) = (vec![0.0; target.len()], target.to_vec());
        held(&mut left);
        let mut ahead = scaled(&left);
        let mut way = ahead.clone();
        let mut size = dot(&left, &ahead);
        let end = size * NEAR * NEAR;
        for _ in 0..STEPS {
            if size <= end || !size.is_normal() {
                break;
            }
            let mut moved = self.normal(weights, &way);
            held(&mut moved);
            let far = size / dot(&way, &moved);
            cells.iter_mut().zip(&way).for_each(|(cell, way)| *cell += far * way);
            left.iter_mut().zip(&moved).for_each(|(left, moved)| *left -= far * moved);
            ahead = scaled(&left);
            let next = dot(&left, &ahead);
            let keep = next / size;
            way.iter_mut().zip(&ahead).for_each(|(way, ahead)| *way = ahead + keep * *way);
            size = next;
        }
        cells
    }

    /// The cells that are nearest and not below zero (block principal pivoting): those that would
    /// be are held at zero, and let go where that pulls them up, until neither is so.
    fn not_below_zero(&self, weights: &[f64], target: &[f64], free: &[f64]) -> Vec<f64> {
        let mut open: Vec<bool> = free.iter().map(|cell| *cell > 0.0).collect();
        let (mut fewest, mut patience) = (usize::MAX, 3i32);
        let mut cells = free.to_vec();
        let size = target.iter().fold(0.0f64, |most, one| most.max(one.abs()));
        for _ in 0..STEPS {
            cells = self.solved(weights, target, &open);
            let pull = self.normal(weights, &cells);
            let pulls = target.iter().zip(&pull).map(|(target, now)| target - now);
            let wrong: Vec<usize> = (cells.iter().zip(&open).zip(pulls))
                .enumerate()
                .filter(|(_, ((cell, open), pull))| match **open {
                    true => **cell < 0.0,
                    false => *pull > size * 1e-10,
                })
                .map(|(place, _)| place)
                .collect();
            if wrong.is_empty() {
                break;
            }
            if wrong.len() < fewest {
                (fewest, patience) = (wrong.len(), 3);
            } else {
                patience -= 1;
            }
            // All at once as long as that helps, and then the last of them alone, which ends.
            if patience > 0 {
                wrong.iter().for_each(|&place| open[place] = !open[place]);
            } else if let Some(&last) = wrong.last() {
                open[last] = !open[last];
            }
        }
        cells.iter_mut().for_each(|cell| *cell = cell.max(0.0));
        cells
    }

    /// The variance of every row once it adds up, for weights of one over the variances before;
    /// none if that cannot be computed.
    fn variances(&self, weights: &[f64]) -> Option<Vec<f64>> {
        let count = self.cells.len();
        let mut matrix = vec![vec![0.0; count]; count];
        for set in &self.sets {
            let mut of_row: HashMap<usize, Vec<usize>> = HashMap::new();
            set.iter()
                .enumerate()
                .for_each(|(cell, &row)| of_row.entry(row).or_default().push(cell));
            for (row, cells) in of_row {
                for &one in &cells {
                    cells.iter().for_each(|&other| matrix[one][other] += weights[row]);
                }
            }
        }
        let inverse = inverse(matrix)?;
        let mut variances = vec![0.0; self.rows];
        for set in &self.sets {
            for (one, &row) in set.iter().enumerate() {
                let with = set.iter().zip(&inverse[one]).filter(|(other, _)| **other == row);
                variances[row] += with.map(|(_, both)| both).sum::<f64>();
            }
        }
        Some(variances).filter(|all| all.iter().all(|one| one.is_finite() && *one > 0.0))
    }
}

/// The inverse of a matrix that is symmetric and positive (Cholesky); none if it is not.
fn inverse(mut matrix: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    let count = matrix.len();
    let dot = |one: &[f64], other: &[f64]| -> f64 {
        one.iter().zip(other).map(|(one, other)| one * other).sum()
    };
    for row in 0..count {
        for column in 0..=row {
            let (above, here) = matrix.split_at(row);
            let of = if column == row { &here[0] } else { &above[column] };
            let rest = here[0][column] - dot(&here[0][..column], &of[..column]);
            let value = if column == row { rest.sqrt() } else { rest / of[column] };
            matrix[row][column] = value;
            if !(value.is_finite() && (column < row || value > 0.0)) {
                return None;
            }
        }
    }
    // The inverse of the lower half, by its columns, and then its square.
    let mut halves = vec![vec![0.0; count]; count];
    for column in 0..count {
        for row in column..count {
            let own = if row == column { 1.0 } else { 0.0 };
            let before = dot(&matrix[row][column..row], &halves[column][column..row]);
            halves[column][row] = (own - before) / matrix[row][row];
        }
    }
    let entry = |one: usize, other: usize| {
        let from = one.max(other);
        dot(&halves[one][from..], &halves[other][from..])
    };
    Some((0..count).map(|one| (0..count).map(|other| entry(one, other)).collect()).collect())
}

#[cfg(test)]
mod tests;
