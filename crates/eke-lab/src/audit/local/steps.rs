//! Chains computed as on paper, one small step after the other, with nothing of the code that draws
//! them.
//!
//! A report is made from the one before it by the steps that the literature has: a subset gets one
//! more category at a time, a hashed value loses one bit at a time, and what is left above the
//! level asked for is kept with a probability or drawn afresh. Reports are numbers: masks of
//! categories, or values. Every step is a matrix over all of them, so laws are sums and products of
//! doubles.

use eke_noise::local::{Hash, ReportLaw};

type Matrix = Vec<Vec<f64>>;

/// A chain's reports, and how each is made.
pub(super) struct Steps {
    /// What each report can be.
    pub(super) values: Vec<Vec<u64>>,
    /// Where each category starts, in the rows of the first matrix.
    starts: Vec<usize>,
    /// From each report to the next, and to the first from the start.
    matrices: Vec<Matrix>,
}

/// Which probability keeps a report.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rescale {
    /// The right one.
    Right,
    /// As it is printed: its odds, and one where they are more.
    Printed,
}

impl Rescale {
    /// For odds of the true value against another, `e` before and `below` after, where the true
    /// value stands for `k` of `g`. There is none if the odds would rise.
    fn probability(self, k: f64, g: f64, e: f64, below: f64) -> Option<f64> {
        if below > e * (1.0 + 1e-9) {
            return None;
        }
        // (k e + g - k)(e' - 1) against g (e - e'), both over e, which may be infinite.
        let (kept, fresh) = if e.is_infinite() {
            (k * (below - 1.0), g)
        } else {
            ((k + (g - k) / e) * (below - 1.0), g * (1.0 - below / e).max(0.0))
        };
        Some(match self {
            Self::Right => kept / (kept + fresh),
            Self::Printed => (kept / fresh).min(1.0),
        })
    }
}

impl Steps {
    /// Computes a chain of reports of one kind; there is none if one tells more than the one before
    /// leaves.
    pub(super) fn new(
        categories: u32,
        laws: &[ReportLaw],
        hash: Hash,
        rescale: Rescale,
    ) -> Option<Self> {
        let values: Vec<Vec<u64>> = laws.iter().map(|law| values(categories, law)).collect();
        let (mut before, starts) = match laws.first()? {
            ReportLaw::Hash(template) => {
                let start = |x| usize::try_from(hash.of(x, template.bits)).ok();
                (values[0].clone(), (0..categories).map(start).collect::<Option<_>>()?)
            }
            _ => ((0..categories).map(|x| 1 << x).collect(), (0..categories as usize).collect()),
        };
        // The size of a set, or the bits of a value; and the odds, which are infinite for the
        // truth.
        let (mut size, mut odds) = (None, f64::INFINITY);
        let mut matrices = Vec::new();
        for (law, values) in laws.iter().zip(&values) {
            let level = law.epsilon().to_f64().exp();
            let matrix = match law {
                ReportLaw::Subset(template) => {
                    for k in size.unwrap_or(1)..template.size {
                        odds = 1.0 + (odds - 1.0) * f64::from(k) / f64::from(k + 1);
                    }
                    size = Some(template.size);
                    let (k, d) = (f64::from(template.size), f64::from(categories));
                    let keep = rescale.probability(k, d, odds, level)?;
                    kept_or_fresh(&before, values, keep, |from, to| from & to == from)
                }
                ReportLaw::Hash(template) => {
                    let dropped = size.unwrap_or(template.bits) - template.bits;
                    for _ in 0..dropped {
                        odds = f64::midpoint(odds, 1.0);
                    }
                    size = Some(template.bits);
                    let g = f64::from(1u32 << template.bits);
                    let keep = rescale.probability(1.0, g, odds, level)?;
                    kept_or_fresh(&before, values, keep, |from, to| from >> dropped == to)
                }
                ReportLaw::Bits(_) => {
                    // Each bit is a value of one bit, at half of the epsilon.
                    let level = (law.epsilon().to_f64() / 2.0).exp();
                    let keep = rescale.probability(1.0, 2.0, odds, level)?;
                    odds = level;
                    flipped(&before, values, categories, (1.0 - keep) / 2.0)
                }
            };
            if !matches!(law, ReportLaw::Bits(_)) {
                odds = level;
            }
            before.clone_from(values);
            matrices.push(matrix);
        }
        Some(Self { values, starts, matrices })
    }

    /// The law of some of the reports together, for each category: for every outcome, its reports
    /// and its probabilities.
    pub(super) fn joint(&self, places: &[usize]) -> Vec<(Vec<u64>, Vec<f64>)> {
        let Some((&first, rest)) = places.split_first() else { return Vec::new() };
        let start = self.between(None, first);
        let mut outcomes: Vec<(usize, Vec<u64>, Vec<f64>)> = (0..self.values[first].len())
            .map(|value| {
                let of = self.starts.iter().map(|&row| start[row][value]).collect();
                (value, vec![self.values[first][value]], of)
            })
            .collect();
        let mut place = first;
        for &next in rest {
            let step = self.between(Some(place), next);
            outcomes = outcomes
                .iter()
                .flat_map(|(value, reports, of)| {
                    step[*value].iter().enumerate().map(|(to, &probability)| {
                        let reports = [&reports[..], &[self.values[next][to]]].concat();
                        (to, reports, of.iter().map(|before| before * probability).collect())
                    })
                })
                .collect();
            place = next;
        }
        outcomes.into_iter().map(|(_, reports, of)| (reports, of)).collect()
    }

    /// How many outcomes some of the reports have together.
    pub(super) fn outcomes(&self, places: &[usize]) -> usize {
        places.iter().map(|&place| self.values[place].len()).product()
    }

    /// From one report, or the start, to a later one.
    fn between(&self, from: Option<usize>, to: usize) -> Matrix {
        let first = from.map_or(0, |place| place + 1);
        self.matrices[first + 1..=to]
            .iter()
            .fold(self.matrices[first].clone(), |product, matrix| times(&product, matrix))
    }
}

/// The largest loss between any two categories.
pub(super) fn loss(outcomes: &[(Vec<u64>, Vec<f64>)]) -> f64 {
    let one = |(_, of): &(Vec<u64>, Vec<f64>)| {
        let most = of.iter().copied().fold(0.0, f64::max);
        let least = of.iter().copied().fold(f64::INFINITY, f64::min);
        if most > 0.0 { (most / least).ln() } else { 0.0 }
    };
    outcomes.iter().map(one).fold(0.0, f64::max)
}

/// The law of one report of a category whose value (a mask of it, or its hash) is this, from
/// textbooks.
pub(super) fn alone(categories: u32, law: &ReportLaw, true_one: u64, value: u64) -> f64 {
    let e = law.epsilon().to_f64().exp();
    let d = f64::from(categories);
    match law {
        ReportLaw::Subset(template) => {
            let k = f64::from(template.size);
            let hit = k * e / (k * e + d - k);
            if value & true_one == 0 {
                (1.0 - hit) / sets(categories - 1, template.size)
            } else {
                hit / sets(categories - 1, template.size - 1)
            }
        }
        ReportLaw::Hash(template) => {
            let g = f64::from(1u32 << template.bits);
            if value == true_one { e / (e + g - 1.0) } else { 1.0 / (e + g - 1.0) }
        }
        ReportLaw::Bits(_) => {
            let right = e.sqrt() / (e.sqrt() + 1.0);
            let wrong = (value ^ true_one).count_ones();
            (1.0 - right).powi(wrong.cast_signed()) * right.powi((categories - wrong).cast_signed())
        }
    }
}

/// All that a report can be.
fn values(categories: u32, law: &ReportLaw) -> Vec<u64> {
    match law {
        ReportLaw::Subset(template) => {
            (0..1u64 << categories).filter(|set| set.count_ones() == template.size).collect()
        }
        ReportLaw::Hash(template) => (0..1 << template.bits).collect(),
        ReportLaw::Bits(_) => (0..1 << categories).collect(),
    }
}

/// How many subsets of one size there are.
fn sets(n: u32, k: u32) -> f64 {
    (0..k).fold(1.0, |count, i| count * f64::from(n - i) / f64::from(i + 1))
}

/// Kept, as any of the values that it can become, or any of all.
fn kept_or_fresh(
    from: &[u64],
    to: &[u64],
    keep: f64,
    becomes: impl Fn(u64, u64) -> bool,
) -> Matrix {
    let each = |count: usize| 1.0 / count as f64;
    let row = |&old: &u64| {
        let kept = keep * each(to.iter().filter(|&&new| becomes(old, new)).count());
        let fresh = (1.0 - keep) * each(to.len());
        to.iter().map(|&new| if becomes(old, new) { kept + fresh } else { fresh }).collect()
    };
    from.iter().map(row).collect()
}

/// Every bit flipped on its own.
fn flipped(from: &[u64], to: &[u64], bits: u32, flip: f64) -> Matrix {
    let row = |&old: &u64| {
        let one = |&new: &u64| {
            let count = (old ^ new).count_ones();
            flip.powi(count.cast_signed()) * (1.0 - flip).powi((bits - count).cast_signed())
        };
        to.iter().map(one).collect()
    };
    from.iter().map(row).collect()
}

fn times(one: &Matrix, two: &Matrix) -> Matrix {
    let columns = two.first().map_or(0, Vec::len);
    let row = |row: &Vec<f64>| {
        let mut sums = vec![0.0; columns];
        for (weight, row) in row.iter().zip(two) {
            for (sum, value) in sums.iter_mut().zip(row) {
                *sum += weight * value;
            }
        }
        sums
    };
    one.iter().map(row).collect()
}
