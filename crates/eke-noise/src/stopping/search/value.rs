//! Value goals, and the interval of values that every search shows.
//!
//! A cut is surely below the quantile, surely above it, or open. Beyond an open cut the search goes
//! on at both sides: downwards for a cut that is surely below, upwards for one that is surely
//! above. The cuts at which a false statement is possible all lie on the way to the quantile's own
//! cell, one a level, whatever the noise is: a cut is only looked at for being below the quantile
//! while all cuts that are said to be so are, and its cells, with those above it that are still
//! open, contain the quantile.

use super::cells::Cells;
use super::evidence::{Line, Lines, Side, with_count};
use super::{NEARLY, Point, Search, Seen, Step};

/// Differences of C from N down to a millionth of it are told, one line for each power of two, and
/// two more lines because N is not known better than by a factor of two.
const LINES: u32 = 20;
/// How much more than without the noise of N a line wants, at most.
const COUNT_EXCESS: f64 = 1.35;
/// N's precision, in that of the most precise cut, for a quantile at the end.
const COUNT_PRECISION: f64 = 4.0;
/// A part of the interval between two cuts that is worth a look of its own.
const OPEN: u128 = 4;

/// A quantile's evidence at cuts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ValueRule {
    share: f64,
    nats: f64,
}

/// What is known of where a quantile is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Known {
    /// From a cut that is surely below it to one that is surely above it.
    pub(super) low: u128,
    pub(super) high: u128,
    /// The lowest open cut, and the cells from the one below it on.
    lowest: Option<u64>,
    /// The highest open cut.
    highest: Option<u64>,
}

impl ValueRule {
    /// The rule of a quantile that may be wrong with this probability.
    pub(super) fn new(share: f64, levels: u8, miss: f64) -> Self {
        let lines = f64::from(LINES + 3);
        Self { share, nats: libm::log(f64::from(levels) * lines / miss) }
    }

    fn k(&self) -> f64 {
        (2.0 * self.share - 1.0).abs()
    }

    /// The lines that N is precise enough for.
    ///
    /// - Theorem: quantile-interval (docs/theorems.md)
    /// - Proves: with the confidence the quantile is between the cuts that are surely below and
    ///   above it, at every stop
    /// - Assumes: the quantile does not depend on what was seen (caller)
    /// - Deviates: nothing
    /// - Checked by: `intervals_of_quantiles_hold_at_every_edge`
    pub(super) fn lines(&self, count: Point, step: f64) -> Lines {
        let k = self.k();
        let largest = libm::ceil(libm::log2(count.value.max(1.0)));
        let lines = (0..=LINES).filter_map(|place| {
            let delta = libm::exp2(largest - f64::from(place));
            // What the line wants is fixed: at the least precision of N that it is used from.
            let wants = COUNT_EXCESS * self.nats;
            if k < 1e-9 {
                return Some(Line { delta, nats: self.nats });
            }
            let is_enough = with_count(self.nats, k, delta, count.precision)? <= wants;
            is_enough.then_some(Line { delta, nats: wants })
        });
        Lines::new(lines.collect(), step)
    }

    /// The precision of N that is wanted beside cuts of this precision.
    fn count_precision(&self, cut: f64) -> f64 {
        COUNT_PRECISION * self.k().powi(2) * cut
    }

    /// Where the quantile is, as far as has been seen.
    pub(super) fn known(&self, search: &Search, seen: &impl Seen, count: Point) -> Known {
        let lines = self.lines(count, search.of.step);
        let side = |cut: u64| {
            let point = seen.cut(cut)?;
            let is = |side| lines.is_surely(side, self.share, point, count);
            Some((is(Side::Below), is(Side::Above)))
        };
        let mut known = Known { low: 0, high: 1 << search.of.levels, lowest: None, highest: None };
        // Downwards at open cuts, and then upwards.
        for downwards in [true, false] {
            let mut cells = Cells::all(search.of.levels);
            while let Some(cut) = cells.middle() {
                let Some((below, above)) = side(cut) else { break };
                if below && !above {
                    known.low = known.low.max(cut.into());
                    cells.take_upper();
                } else if above && !below {
                    known.high = known.high.min(cut.into());
                    cells.take_lower();
                } else if downwards {
                    known.lowest = Some(cut);
                    cells.take_lower();
                } else {
                    known.highest = Some(cut);
                    cells.take_upper();
                }
            }
        }
        known
    }

    /// What comes next, until the interval has at most this many cells; nothing if it has.
    pub(super) fn next(
        &self,
        search: &Search,
        seen: &impl Seen,
        count: Point,
        width: f64,
    ) -> Option<Step> {
        let known = self.known(search, seen, count);
        let (low, high) = (known.low, known.high);
        if low < high && (high - low) as f64 <= width.max(1.0) {
            return None;
        }
        let lines = self.lines(count, search.of.step);
        let first = lines.enough(count.value);
        let mut cuts: Vec<(u64, f64)> = Vec::new();
        for (side, open) in [(Side::Below, known.lowest), (Side::Above, known.highest)] {
            let Some(open) = open else { continue };
            let Some(point) = seen.cut(open) else { continue };
            let (from, to) = match side {
                Side::Below => (low, u128::from(open)),
                Side::Above => (u128::from(open), high),
            };
            // A cut further out is easier to tell, if it is worth it and was not looked at yet.
            let is_wide = to > from + 1 && (to - from) * OPEN > high - low;
            let next = u64::try_from(from.midpoint(to)).ok().filter(|_| is_wide);
            let outer = (point.precision / 2.0).max(first);
            let is_known =
                |cut: u64| seen.cut(cut).is_some_and(|at| at.precision >= NEARLY * outer);
            let look = match next.filter(|&cut| !is_known(cut)) {
                Some(cut) => (cut, outer),
                None => {
                    let distance = lines.distance(side, self.share, point, count);
                    (open, search.further(point.precision, lines.enough(distance)))
                }
            };
            match cuts.iter_mut().find(|known| known.0 == look.0) {
                Some(known) => known.1 = known.1.max(look.1),
                None => cuts.push(look),
            }
        }
        if cuts.is_empty() {
            let cut = u64::try_from(low.midpoint(high)).unwrap_or(u64::MAX);
            let next = match seen.cut(cut) {
                None => first,
                Some(point) => search.further(point.precision, 0.0),
            };
            cuts.push((cut, next));
        }
        let wanted = cuts.iter().map(|&(_, at)| self.count_precision(at)).fold(0.0, f64::max);
        let more =
            (count.precision < NEARLY * wanted).then(|| search.further(count.precision, wanted));
        // N first: what is seen of the cuts may be enough with it.
        Some(match more {
            Some(precision) => Step::Look { cuts: Vec::new(), count: Some(precision) },
            None => Step::Look { cuts, count: None },
        })
    }
}
