//! Rank goals: a value whose rank is near enough.
//!
//! At a cut two things may be surely known: that its share F is above `q - t` (the answer may lie
//! below it) and that F is below `q + t` (the answer may lie above it). One of them is enough to
//! go on to one side; both end the search. A turn is wrong only where F is beyond the tolerance,
//! on the other side: turns at cuts within it are harmless.

use super::answer::{Found, SearchEnding};
use super::evidence::{Line, Lines, Side, with_count};
use super::{Point, Quantile, Search, Seen, Step};

/// What lines tell best, in tolerances of C, and the share of the errors that each may have: for a
/// cut at the quantile itself, for one at the end of the tolerance, and for one far off.
const LINES: [(f64, f64); 3] = [(1.6, 0.45), (3.2, 0.45), (12.0, 0.1)];
/// The part of the probability of an error that lines have at looks that are a quarter of the
/// precision or more apart: evidence is a good deal beyond the line when it is seen to be.
const OVERSHOOT: f64 = 0.5;
/// What a search costs beside N, for its precision: turns at the end of the tolerance, and ends at
/// the quantile itself.
const TURNS: (f64, f64) = (2.0, 1.2);
/// N is known within a tenth (one deviation), or better.
const COUNT: f64 = 100.0;
/// How many precisions of N are tried, each a quarter more than the one before.
const COUNTS: u32 = 64;
/// A cut that was passed is looked at further instead of the next one, if it may end the search for
/// this part of the price of one turn.
const BACK: f64 = 8.0;
/// How far off the quantile is guessed to be, in the rows between the cuts around it.
const SPAN: f64 = 0.35;

/// A rank goal's evidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RankRule {
    pub(super) share: f64,
    pub(super) tolerance: f64,
    /// Nats of the lines, with N's noise; infinite where there is too much of that.
    nats: [f64; 3],
    /// `N² precision of N` is at least this.
    count: f64,
    levels: u8,
    miss: f64,
}

impl RankRule {
    /// The rule of a quantile that may be wrong with this probability.
    ///
    /// - Theorem: quantile-search (docs/theorems.md)
    /// - Proves: the answer has a rank within the tolerance, but for the probability, whatever was
    ///   seen before and whatever the rows are
    /// - Assumes: the quantile and the tolerance do not depend on what was seen (caller)
    /// - Deviates: to first order in the relative error of N
    /// - Checked by: `ranks_are_within_the_tolerance_at_every_edge`
    pub(super) fn new(share: f64, tolerance: f64, levels: u8, miss: f64) -> Self {
        // One cut a level, and errors are a part of what they are where looks are taken without end.
        let base = libm::log(f64::from(levels) * OVERSHOOT / miss);
        let k = (2.0 * share - 1.0).abs() + 2.0 * tolerance;
        let at = |count: f64| {
            LINES.map(|(best, part)| {
                let nats = base - libm::log(part);
                with_count(nats, k, best * tolerance, count).unwrap_or(f64::INFINITY)
            })
        };
        // The price of turns, in the same unit as that of N: precision times N².
        let price = |count: f64| turns(&at(count)) / (tolerance * tolerance) + count;
        let (mut best, mut count) = (COUNT, COUNT);
        for _ in 0..COUNTS {
            if price(count) < price(best) {
                best = count;
            }
            count *= 1.25;
        }
        let nats = at(best);
        Self { share, tolerance, nats, count: best, levels, miss }
    }

    /// The same rule with this part of the probability of an error, where several are tried.
    pub(super) fn with_part(self, parts: f64) -> Self {
        Self::new(self.share, self.tolerance, self.levels, self.miss / parts)
    }

    /// What a search is likely to take in all, if N is about this.
    pub(super) fn likely_precision(&self, count: f64) -> f64 {
        let turns = turns(&self.nats) / (self.tolerance * self.tolerance);
        (turns + self.count) / (count * count)
    }

    /// The precision of N that it wants, if N is about this.
    pub(super) fn count_precision(&self, count: f64) -> f64 {
        self.count / (count * count)
    }

    fn lines(&self, count: f64, step: f64) -> Lines {
        let unit = self.tolerance * count;
        let line = |((best, _), nats): ((f64, f64), f64)| Line { delta: best * unit, nats };
        Lines::new(LINES.into_iter().zip(self.nats).map(line).collect(), step)
    }

    /// What comes next, for a group whose N is known well enough.
    pub(super) fn next(&self, search: &Search, seen: &impl Seen, count: Point) -> Step {
        let lines = self.lines(count.value, search.of.step);
        let turn = told(&self.nats, 4.0) / (self.tolerance * count.value).powi(2);
        let (low, high) = (self.share - self.tolerance, self.share + self.tolerance);
        let mut cells = search.cells();
        // Cuts that were passed, and what more precision may end the search there.
        let mut back: Option<(u64, f64, f64)> = None;
        // Where C is at both ends, as far as is known.
        let mut span = (-count.value, count.value);
        while let Some(cut) = cells.middle() {
            let point = seen.cut(cut);
            let is = |side, share| {
                let is_trivial = !(0.0..=1.0).contains(&share);
                is_trivial || point.is_some_and(|at| lines.is_surely(side, share, at, count))
            };
            let (down, up) = (is(Side::Above, low), is(Side::Below, high));
            if down && up {
                let above = point.is_some_and(|at| {
                    lines.distance(Side::Above, self.share, at, count)
                        > lines.distance(Side::Below, self.share, at, count)
                });
                return Step::Done(self.found(
                    search,
                    seen,
                    count,
                    if above { cut - 1 } else { cut },
                ));
            }
            let Some(point) = point else {
                if let Some((cut, precision, more)) = back
                    && more < BACK * turn
                {
                    return look(cut, precision);
                }
                return look(cut, self.first(&lines, count, span));
            };
            // What is still to be said there, and what it would take.
            let needs = |side, share| lines.enough(lines.distance(side, share, point, count));
            let (to_down, to_up) = (needs(Side::Above, low), needs(Side::Below, high));
            if !down && !up {
                return look(cut, search.further(point.precision, to_down.min(to_up)));
            }
            let needed = if down { to_up } else { to_down };
            let more = needed - point.precision;
            if back.is_none_or(|(_, _, least)| more < least) {
                back = Some((cut, search.further(point.precision, needed), more));
            }
            if down {
                cells.take_lower();
                span.1 = point.value;
            } else {
                cells.take_upper();
                span.0 = point.value;
            }
        }
        Step::Done(self.found(search, seen, count, cells.first()))
    }

    /// The first look at a cut, for C at the cuts around it: what tells it if the quantile is a
    /// good way off.
    fn first(&self, lines: &Lines, count: Point, span: (f64, f64)) -> f64 {
        let far = SPAN * (span.1 - span.0).max(0.0) + 2.0 * self.tolerance * count.value;
        lines.enough(far)
    }

    fn found(&self, search: &Search, seen: &impl Seen, count: Point, cell: u64) -> Found {
        let (low, high) = search.interval(seen);
        let beyond = match search.of.quantile {
            Quantile::Share(_) => None,
            Quantile::Least => Some(self.share + self.tolerance),
            Quantile::Most => Some(1.0 - self.share + self.tolerance),
        };
        Found {
            cell,
            low: low.min(cell),
            high: high.max(cell),
            rank_low: (self.share - self.tolerance).max(0.0),
            rank_high: (self.share + self.tolerance).min(1.0),
            beyond: beyond.map(|share| share * count.value),
            met: true,
            ending: SearchEnding::Met,
        }
    }
}

fn look(cut: u64, precision: f64) -> Step {
    Step::Look { cuts: vec![(cut, precision)], count: None }
}

/// What a search is likely to take of cuts, in one over the square of the tolerance in rows.
fn turns(nats: &[f64; 3]) -> f64 {
    TURNS.0 * told(nats, 4.0) + TURNS.1 * told(nats, 2.0)
}

/// What it takes to tell a cut this many tolerances off, in C.
fn told(nats: &[f64; 3], distance: f64) -> f64 {
    let needed = |((best, _), nats): ((f64, f64), &f64)| {
        let room = best * (distance - best / 2.0);
        if room > 0.0 { nats / room } else { f64::INFINITY }
    };
    LINES.into_iter().zip(nats).map(needed).fold(f64::INFINITY, f64::min)
}
