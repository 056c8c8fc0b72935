//! Ratios of sums, and what they are between (Fieller's theorem).

use eke_noise::stopping::deviations;
use eke_sql::{Binary, Expr, Function, Type, Unary, Value};

use super::{Between, constant_of, linear};
use crate::ask::read::{Read, groups};
use crate::ask::shown::answer::Evidence;

/// What each part is taken times, and what is added.
type Weights = (Vec<f64>, f64);

/// A ratio of two numbers, each of which adds up multiples of sums, of a group or of all groups.
///
/// - Theorem: derived-interval (docs/theorems.md)
/// - Proves: with A over B the true ratio r, the noise of A - rB is that of one Gaussian path, so
///   its confidence sequence holds at all looks at once; every ratio for which what was seen of
///   A - rB is within it is in the interval, and the true one is one of them
/// - Assumes: parts stand at one price and have independent noise; a total is of the group's own
///   column and of the others', which are independent of it
/// - Deviates: ends are computed in doubles, to about 1e-12 of them; half a step of each grid
///   widens the noise; of one price, columns stand at points that differ by what their grids make
///   of it
/// - Checked by: `what_is_made_of_parts_holds_for_every_truth`,
///   `shares_of_groups_that_go_together_hold`, `a_ratio_is_narrower_than_its_parts`
#[derive(Clone, Debug)]
pub(super) struct Ratio {
    above: Weights,
    below: Weights,
}

impl Ratio {
    /// The ratio that an expression is over parts from a first one on; none if it is none.
    pub(super) fn of(expr: &Expr, first: usize, parts: &[Read]) -> Option<Self> {
        let are_sums = parts.iter().all(|part| !matches!(part, Read::Average { .. }));
        let ratio = Self::read(expr, first, parts.len()).filter(|_| are_sums)?;
        // Of every part something must be seen in it.
        let is_used = |(above, below): (&f64, &f64)| above.abs() > 0.0 || below.abs() > 0.0;
        ratio.above.0.iter().zip(&ratio.below.0).all(is_used).then_some(ratio)
    }

    fn read(expr: &Expr, first: usize, parts: usize) -> Option<Self> {
        let ratio = |expr: &Expr| Self::read(expr, first, parts);
        match expr {
            Expr::Binary(Binary::Divide, above, below) => {
                if let Some(by) = constant_of(below) {
                    return ratio(above)?.times(by.recip());
                }
                let below = linear(not_zero(below), first, parts)?;
                Some(Self { above: linear(above, first, parts)?, below })
            }
            Expr::Binary(Binary::Multiply, one, other) => {
                match (constant_of(one), constant_of(other)) {
                    (Some(by), None) => ratio(other)?.times(by),
                    (None, Some(by)) => ratio(one)?.times(by),
                    _ => None,
                }
            }
            Expr::Binary(Binary::Add, one, other) => match (constant_of(one), constant_of(other)) {
                (Some(more), None) => ratio(other)?.plus(more),
                (None, Some(more)) => ratio(one)?.plus(more),
                _ => None,
            },
            Expr::Binary(Binary::Subtract, one, other) => {
                match (constant_of(one), constant_of(other)) {
                    (Some(from), None) => ratio(other)?.times(-1.0)?.plus(from),
                    (None, Some(less)) => ratio(one)?.plus(-less),
                    _ => None,
                }
            }
            Expr::Unary(Unary::Negate, one) => ratio(one)?.times(-1.0),
            Expr::Cast(one, Type::Float) => ratio(one),
            _ => None,
        }
    }

    fn times(mut self, by: f64) -> Option<Self> {
        self.above.0.iter_mut().chain([&mut self.above.1]).for_each(|weight| *weight *= by);
        self.above.0.iter().all(|weight| weight.is_finite()).then_some(self)
    }

    fn plus(mut self, more: f64) -> Option<Self> {
        for (above, below) in self.above.0.iter_mut().zip(&self.below.0) {
            *above += more * below;
        }
        self.above.1 += more * self.below.1;
        self.above.0.iter().all(|weight| weight.is_finite()).then_some(self)
    }

    /// What was seen of each part, and how far its noise alone is off at the level of the ratio.
    pub(super) fn legs(&self, parts: &[Read], looks: &[Evidence], miss: f64) -> Vec<Between> {
        let factor =
            |look: &Evidence| deviations(miss, look.gamma.map(|gamma| look.worth.to_f64() / gamma));
        let factor = looks.iter().map(factor).fold(0.0, f64::max);
        let deviation = |(part, look): (&Read, &Evidence)| match part {
            Read::Sum { unit, step, .. } => (*unit, 0.5 * step, 1.0, look.worth.to_f64()),
            Read::Total { unit, step, .. } => {
                (*unit, 0.5 * step, groups(look), look.worth.to_f64())
            }
            Read::Average { .. } => (f64::INFINITY, 0.0, 1.0, 1.0),
        };
        let parts: Vec<(f64, f64)> = parts
            .iter()
            .zip(looks)
            .map(deviation)
            .map(|(unit, half, groups, price)| {
                (unit * (groups / (2.0 * price)).sqrt(), half * groups)
            })
            .collect();
        // Half steps add up, and are at most so many times the deviation of the parts together.
        let steps = parts.iter().map(|(deviation, half)| half / deviation).fold(0.0, f64::max);
        let factor = factor + steps * (parts.len() as f64).sqrt();
        let leg = |((deviation, _), look): (&(f64, f64), &Evidence)| {
            let half = factor * deviation;
            (look.sum, [look.sum - half, look.sum + half])
        };
        parts.iter().zip(looks).map(leg).collect()
    }

    /// What it is between, given legs; none where the denominator may be zero.
    pub(super) fn interval(&self, parts: &[Read], legs: &[Between]) -> Option<[f64; 2]> {
        let at = |(weights, offset): &Weights| {
            let seen = weights.iter().zip(legs).map(|(weight, leg)| weight * leg.0);
            offset + seen.sum::<f64>()
        };
        let (above, below) = (at(&self.above), at(&self.below));
        // (above - r below)² is at most the sum of (a - r b)² h² over independent noises.
        let (mut a, mut b, mut c) = (below * below, above * below, above * above);
        for (weight_above, weight_below, variance) in self.noises(parts, legs) {
            a -= weight_below * weight_below * variance;
            b -= weight_above * weight_below * variance;
            c -= weight_above * weight_above * variance;
        }
        // Unless the denominator is clear of zero, the quotient may be anything.
        if a.is_nan() || a <= 0.0 {
            return None;
        }
        let root = (b * b - a * c).max(0.0).sqrt();
        let ends = [(b - root) / a, (b + root) / a];
        ends.iter().all(|end| end.is_finite()).then_some(ends)
    }

    /// The independent noises: what each is taken times above and below, and the square of how far
    /// it is off. That of a total has the noise of the group in it, where the group is another
    /// part.
    fn noises(&self, parts: &[Read], legs: &[Between]) -> Vec<(f64, f64, f64)> {
        let square = |leg: &Between| ((leg.1[1] - leg.1[0]) / 2.0).powi(2);
        let mut noises: Vec<(f64, f64, f64)> = (self.above.0.iter().zip(&self.below.0))
            .zip(legs)
            .map(|((above, below), leg)| (*above, *below, square(leg)))
            .collect();
        for (place, part) in parts.iter().enumerate() {
            let Read::Total { column, .. } = part else { continue };
            let own = |one: &Read| matches!(one, Read::Sum { column: own, .. } if own == column);
            if let Some(own) = parts.iter().position(own) {
                let (above, below, all) = noises[place];
                let (own_above, own_below, one) = noises[own];
                noises[own] = (own_above + above, own_below + below, one);
                noises[place] = (above, below, (all - one).max(0.0));
            }
        }
        noises
    }
}

/// What is divided by, also if it is NULL in place of zero.
fn not_zero(expr: &Expr) -> &Expr {
    match expr {
        Expr::Call(Function::NullIf, arguments) => match arguments.as_slice() {
            [one, Expr::Literal(Value::Int(0))] => one,
            [one, Expr::Literal(Value::Float(zero))] if zero.abs() <= 0.0 => one,
            _ => expr,
        },
        expr => expr,
    }
}
