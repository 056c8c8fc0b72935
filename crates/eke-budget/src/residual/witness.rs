//! Matrices that show that a function is not a characteristic function.
//!
//! A characteristic function R is positive definite: for any points, the matrix of `R(t_i - t_j)`
//! has no negative eigenvalue. One that has is a witness. Eigenvalues come with an error that
//! covers the rounding of the entries and of the rotations, so that a witness is one for certain.

use std::f64::consts::PI;

use serde::Serialize;

use crate::residual::eigen::eigenvalues;
use crate::residual::law::{Kind, NoiseLaw};

/// The matrix of `R(t_i - t_j)` for some points, R being what the characteristic function of a
/// coarser law is of a finer one's, and its eigenvalues.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BochnerMatrix {
    /// The points.
    pub points: Vec<f64>,
    /// The matrix.
    pub matrix: Vec<Vec<f64>>,
    /// Its eigenvalues, smallest first.
    pub eigenvalues: Vec<f64>,
    /// How far off an eigenvalue may be.
    pub error: f64,
}

impl BochnerMatrix {
    /// The matrix of two laws at these points.
    ///
    /// - Theorem: residual-exists (docs/theorems.md)
    /// - Proves: no independent residual takes `from` to `to` if an eigenvalue is negative beyond
    ///   the error
    /// - Assumes: nothing
    /// - Deviates: entries and eigenvalues are doubles, whose errors are bounded (Weyl's
    ///   inequality)
    /// - Checked by: `the_counterexamples_in_print_match_the_golden_values`,
    ///   `witnesses_have_a_negative_form_when_it_is_worked_out_again`
    #[must_use]
    pub fn new(from: &NoiseLaw, to: &NoiseLaw, points: &[f64]) -> Self {
        let (mut worst, size): (f64, usize) = (0.0, points.len());
        let mut matrix = vec![vec![0.0; size]; size];
        for row in 0..size {
            for column in row..size {
                let (value, error) = ratio(from, to, points[column] - points[row]);
                worst = worst.max(error);
                (matrix[row][column], matrix[column][row]) = (value, value);
            }
        }
        let size = multiple(1.0, size);
        let norm: f64 = matrix.iter().flatten().map(|entry| entry * entry).sum::<f64>().sqrt();
        let error = size * (worst + 16.0 * f64::EPSILON * norm);
        Self { points: points.to_vec(), eigenvalues: eigenvalues(&matrix), matrix, error }
    }

    /// The smallest eigenvalue.
    #[must_use]
    pub fn smallest(&self) -> f64 {
        self.eigenvalues.first().copied().unwrap_or(0.0)
    }

    /// Whether it shows that there is no residual.
    #[must_use]
    pub fn is_witness(&self) -> bool {
        self.smallest() < -4.0 * self.error
    }
}

/// What the characteristic function of one law is of another's, and its absolute error.
pub(crate) fn ratio(from: &NoiseLaw, to: &NoiseLaw, t: f64) -> (f64, f64) {
    if t == 0.0 { (1.0, 0.0) } else { to.value(t).over(from.value(t)) }
}

/// The most points of a witness.
pub(crate) const MOST_POINTS: usize = 32;
/// The most steps that are tried at every size.
const MOST_STEPS: usize = 48;
/// Values that are plainly more than one, and still easy to read.
const PLAIN: std::ops::RangeInclusive<f64> = 1.05..=1e3;

/// The smallest matrix that shows that there is no residual, among those of points `0, h, 2h, …`,
/// for steps h that are fractions of pi and some others; of several the one that shows it most.
pub(crate) fn witness(from: &NoiseLaw, to: &NoiseLaw) -> Option<BochnerMatrix> {
    let steps = steps(from, to);
    if let Some(pair) = pair(from, to, &steps) {
        return Some(pair);
    }
    // The size at which each step may show it; the first ones will do.
    let mut sized: Vec<(f64, usize)> = steps
        .into_iter()
        .filter_map(|step| {
            let sequence: Vec<f64> =
                (0..MOST_POINTS).map(|index| ratio(from, to, multiple(step, index)).0).collect();
            first_indefinite(&sequence).map(|size| (step, size))
        })
        .collect();
    sized.sort_by_key(|&(_, size)| size);
    sized.truncate(MOST_STEPS);
    (3..=MOST_POINTS).find_map(|size| {
        let able = sized.iter().filter(|&&(_, least)| least <= size);
        let matrices = able.map(|&(step, _)| {
            let points: Vec<f64> = (0..size).map(|index| multiple(step, index)).collect();
            BochnerMatrix::new(from, to, &points)
        });
        let clear = matrices.filter(BochnerMatrix::is_witness);
        clear.min_by(|a, b| a.smallest().total_cmp(&b.smallest()))
    })
}

/// Two points, of which R is more than one in size.
fn pair(from: &NoiseLaw, to: &NoiseLaw, steps: &[f64]) -> Option<BochnerMatrix> {
    let sizes = || steps.iter().map(|&step| (step, ratio(from, to, step).0.abs()));
    let plain = sizes().find(|(_, size)| PLAIN.contains(size));
    let step = plain.or_else(|| {
        let finite = sizes().filter(|(_, size)| *size > 1.0 && *size < 1e150);
        let (large, small): (Vec<_>, Vec<_>) = finite.partition(|(_, size)| size > PLAIN.end());
        let most = small.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        most.or_else(|| large.into_iter().min_by(|a, b| a.1.total_cmp(&b.1)))
    })?;
    Some(BochnerMatrix::new(from, to, &[0.0, step.0])).filter(BochnerMatrix::is_witness)
}

/// Fractions of pi, simple ones first, then steps of all sizes.
fn steps(from: &NoiseLaw, to: &NoiseLaw) -> Vec<f64> {
    let unit = from.frequency();
    // The circle ends at pi; the line does not.
    let is_circle = from.is_on_integers() && to.is_on_integers();
    let turns = if is_circle { 1 } else { 8 };
    let mut steps = Vec::new();
    for denominator in 1..=16u32 {
        for numerator in 1..=turns * denominator {
            let step = PI * unit * f64::from(numerator) / f64::from(denominator);
            if !steps.iter().any(|known: &f64| (known / step - 1.0).abs() < 1e-12) {
                steps.push(step);
            }
        }
    }
    let whole_turns = (17..=MOST_POINTS).filter_map(|size| u32::try_from(size).ok());
    steps.extend(whole_turns.map(|size| 2.0 * PI * unit / f64::from(size)));
    let powers = (-64..=48).map(|power| 10f64.powf(f64::from(power) / 16.0));
    // Beside a zero of the finer law's the ratio is large.
    for zero in zeros(from) {
        let near = (1..=24).map(|power| 0.5f64.powi(power));
        steps.extend(near.flat_map(|part| [zero * (1.0 - part), zero * (1.0 + part)]));
    }
    if is_circle {
        steps.extend(powers.filter(|step| *step < PI));
    } else {
        steps.extend(powers.flat_map(|power| [from, to].map(|law| law.frequency() * power)));
    }
    steps
}

/// The first few places where a characteristic function changes its sign, from which on it is zero
/// somewhere.
pub(crate) fn zeros(law: &NoiseLaw) -> Vec<f64> {
    let is_negative = |t: f64| law.value(t).sign < 0.0;
    // A staircase of many epsilons is all but two narrow steps.
    let wide = match law.0 {
        Kind::Staircase { gamma, .. } => 1.0 / gamma.max(1e-9),
        _ => 1.0,
    };
    let found = |step: f64| {
        let changes = (1..512usize).filter(move |&at| {
            is_negative(multiple(step, at)) != is_negative(multiple(step, at + 1))
        });
        changes.take(4).map(move |at| {
            let (mut low, mut high) = (multiple(step, at), multiple(step, at + 1));
            for _ in 0..60 {
                let middle = f64::midpoint(low, high);
                if is_negative(middle) == is_negative(low) { low = middle } else { high = middle }
            }
            low
        })
    };
    let step = PI * law.frequency() / 16.0;
    found(step).chain(found(step * wide)).collect()
}

fn multiple(step: f64, index: usize) -> f64 {
    step * f64::from(u32::try_from(index).unwrap_or(u32::MAX))
}

/// The smallest size at which the matrix of `r(|i - j|)` may have a negative eigenvalue, by
/// Levinson's recursion: its determinants are positive as long as the reflections are below one in
/// size.
fn first_indefinite(sequence: &[f64]) -> Option<usize> {
    let mut weights: Vec<f64> = Vec::new();
    let mut left = 1.0;
    for size in 1..sequence.len() {
        let predicted: f64 =
            weights.iter().enumerate().map(|(i, weight)| weight * sequence[size - 1 - i]).sum();
        let reflection = (sequence[size] - predicted) / left;
        // Entries are off by some roundings, and reflections by that over what is left.
        let slack = 1e-14 * multiple(1.0, size) / left;
        if reflection.is_nan() || reflection.abs() > 1.0 + slack {
            return Some(size + 1);
        }
        if slack > 0.1 || reflection.abs() >= 1.0 {
            return None;
        }
        let mirrored: Vec<f64> = weights.iter().rev().copied().collect();
        for (weight, mirror) in weights.iter_mut().zip(mirrored) {
            *weight -= reflection * mirror;
        }
        weights.push(reflection);
        left *= 1.0 - reflection * reflection;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recursion_finds_the_first_size_that_is_not_positive() {
        assert_eq!(first_indefinite(&[1.0, 0.5, 0.25, 0.125]), None);
        assert_eq!(first_indefinite(&[1.0, 1.1]), Some(2));
        // Points 0, h, 2h: positive as long as r(2h) >= 2 r(h)² - 1.
        assert_eq!(first_indefinite(&[1.0, 0.8, 0.29]), None);
        assert_eq!(first_indefinite(&[1.0, 0.8, 0.27]), Some(3));
        assert_eq!(first_indefinite(&[1.0, f64::INFINITY]), Some(2));
    }
}
