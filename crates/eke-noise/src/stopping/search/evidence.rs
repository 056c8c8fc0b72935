//! What a point of a cut and one of N say about the share of the rows below the cut.
//!
//! Whether the share F of the rows below a cut is at least s, or at most s, is a question about
//! `C - k N` with `k = 2 s - 1`: it has the sign of `F - s`. What the points have of it is held
//! against straight lines in precision, as Wald's test does.

use super::Point;

/// How many times the nominal variance of N is reckoned with, since N itself is known with noise
/// only where the lines are scaled by it.
const COUNT_MARGIN: f64 = 1.25;

/// A side of a share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Below,
    Above,
}

/// A straight line that evidence is held against.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Line {
    /// The difference of C that it tells best, in rows.
    pub(super) delta: f64,
    /// How much is wanted: the logarithm of one over its probability of an error.
    pub(super) nats: f64,
}

/// Evidence enough, at one precision of N.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Lines {
    lines: Vec<Line>,
    /// Half a step of the grid that points are rounded to.
    slack: f64,
}

impl Lines {
    /// These, for points on a grid of this step.
    pub(super) fn new(lines: Vec<Line>, step: f64) -> Self {
        Self { lines, slack: step / 2.0 }
    }

    /// Whether the share of the rows below the cut is surely on this side of a share.
    ///
    /// - Theorem: quantile-cut (docs/theorems.md)
    /// - Proves: for a cut whose share is not on this side, the probability that this is ever said,
    ///   at whichever precisions it is looked at, is at most the sum over the lines of
    ///   `exp(-nats)`, less what `with_count` adds for the noise of N
    /// - Assumes: increments of C are independent of N, and sub-Gaussian with their own variance
    ///   (path); the lines do not depend on the noise of C
    /// - Deviates: half a step of both grids is taken off
    /// - Checked by: `a_cut_on_the_line_is_seldom_said_to_be_beside_it`
    pub(super) fn is_surely(&self, side: Side, share: f64, cut: Point, count: Point) -> bool {
        let distance = self.distance(side, share, cut, count);
        let u = cut.precision;
        self.lines
            .iter()
            .any(|line| line.delta * u * distance - line.delta * line.delta * u / 2.0 >= line.nats)
    }

    /// How far on this side of a share the points are, in rows of C.
    pub(super) fn distance(&self, side: Side, share: f64, cut: Point, count: Point) -> f64 {
        let k = 2.0 * share - 1.0;
        let off = cut.value - k * count.value;
        let off = if side == Side::Above { off } else { -off };
        off - self.slack * (1.0 + k.abs())
    }

    /// The least precision of C at which points at this distance would be enough; infinite if there
    /// is none.
    pub(super) fn enough(&self, distance: f64) -> f64 {
        let needed = |line: &Line| {
            let room = line.delta * (distance - line.delta / 2.0);
            if room > 0.0 { line.nats / room } else { f64::INFINITY }
        };
        self.lines.iter().map(needed).fold(f64::INFINITY, f64::min)
    }
}

/// What a line needs beside a noisy N: nats such that, over the noise of N, its probability of an
/// error is `exp(-nats)`; none if N is too noisy for it.
///
/// Given N's noise e, the line is k e nearer than it should be, and the probability of an error is
/// at most `exp(-x (1 - 2 k e/delta))` for x nats. Whichever way it is off, and at every precision
/// of N from `count_precision` on, e is nearly the size Z of a normal number of that precision. So
/// the mean is `exp(-x + c²/2) 2 Phi(c)` with `c = 2 k x/(delta sqrt(count_precision))`, and
/// `ln(2 Phi(c))` is at most the smaller of `ln 2` and `c sqrt(2/pi)`.
pub(super) fn with_count(nats: f64, k: f64, delta: f64, count_precision: f64) -> Option<f64> {
    let slope = 2.0 * k / delta * (COUNT_MARGIN / count_precision).sqrt();
    // The smaller root of x - slope² x²/2 = wanted.
    let root = |wanted: f64, linear: f64| {
        let rest = linear * linear - 2.0 * slope * slope * wanted;
        (rest >= 0.0 && linear > 0.0).then(|| 2.0 * wanted / (linear + rest.sqrt()))
    };
    let linear = root(nats, 1.0 - slope * (2.0 / std::f64::consts::PI).sqrt());
    let constant = root(nats + std::f64::consts::LN_2, 1.0);
    match (linear, constant) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
