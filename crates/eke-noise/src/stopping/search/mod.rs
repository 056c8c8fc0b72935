//! Quantiles: a search for a cut of a public grid below which a share of the rows lies.
//!
//! # The grid and its paths
//!
//! A column's bounds are divided into `2^levels` cells, numbered from 0. Cut t is the lower end of
//! cell t, so cuts 1 to `2^levels - 1` lie inside the bounds; values outside were clamped. A group
//! has one path for every cut that was ever looked at, of
//!
//! ```text
//! C_t = #(rows with a cell below t) - #(rows with cell t or above)
//! ```
//!
//! and one of N, the number of its rows that have a value. Both change by at most `sensitivity`
//! with a unit (the rows that one unit may have in a group, after bounding). There is no q in
//! either: `#(cell < t) - q N = (C_t + (1 - 2q) N)/2`, so all quantiles, goals, histograms and
//! analysts share them. Their prices add up: a group costs the sum over its cuts and N.
//!
//! # The rule
//!
//! [`Search`] is a pure function of public parameters and of what has been released:
//! [`Search::next`] takes the finest released point of every cut and of N that the analyst may see
//! ([`Seen`]) and says which paths must come to which precision ([`Step::Look`]), or the answer
//! ([`Step::Done`]). It keeps nothing. So a caller goes round in a loop
//!
//! 1. `search.next(&seen)`;
//! 2. for a `Look`, brings every path that is named to the precision that is named, or a little
//!    beyond if the grid wants that (one round, one charge), and goes on from 1;
//! 3. for a `Done`, answers; if a look does not fit the budget, [`Search::end`] answers from what
//!    has been seen.
//!
//! Each look asks for more of at least one path than was seen, so the loop ends. Whatever was seen
//! before, by other quantiles or finer goals of the same analyst, is used and not asked for again.
//! Of a search that ends by its rule two things are said, each with the confidence: that the answer
//! has a rank within the tolerance ([`Found::rank_low`] and [`Found::rank_high`]), and that the
//! quantile is in the cells from [`Found::low`] to [`Found::high`]. Both hold at the stop that was
//! chosen, as long as the quantile and the goal were not chosen on seeing points of the same group.
//!
//! The precision of a point is one over the variance of its noise, in rows; a path of this
//! sensitivity at this precision costs [`Search::price`] of it. Cells, not values, are answered:
//! cell c stands for the values from cut c to cut c + 1.

mod answer;
mod cells;
mod evidence;
mod noted;
mod rank;
mod value;

pub use answer::{Found, SearchEnding};

use eke_budget::{Amount, Rho};

use crate::stopping::goal::{Confidence, GoalError};
use cells::Cells;
use evidence::{Lines, Side};
use noted::Noted;
use rank::RankRule;
use value::ValueRule;

/// The share of the rows that lies below a quantile.
#[doc(alias = "percentile")]
#[doc(alias = "median")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quantile {
    /// A share above 0 and below 1.
    Share(f64),
    /// The least value.
    Least,
    /// The largest value.
    Most,
}

/// What is searched. All of it is public.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchOf {
    /// Which quantile.
    pub quantile: Quantile,
    /// The grid has two to the power of this cells; from 1 to 64.
    pub levels: u8,
    /// What one unit can change C of a cut, or N, by, under add-remove: in rows.
    pub sensitivity: f64,
    /// The step of the grid that C and N are on, in rows: 1 for whole rows.
    pub step: f64,
    /// How many times the price under add-remove a path costs: 1, or 4 where a unit is replaced.
    pub factor: u32,
}

/// What is good enough of a quantile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SearchGoal {
    /// A rank error: the answer's rank is within this of the quantile's, as a share of the rows.
    Rank(f64),
    /// An interval of the quantile of at most twice this number of cells.
    Cells(f64),
    /// Whatever the highest price gives: the least rank error that it is likely to be enough for.
    /// Where values are spread, an exponential choice of a cut is about as close at the same price,
    /// and up to twice as close in the middle, but nobody can then say how close it is.
    Price,
}

/// A released point of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Its value, in rows.
    pub value: f64,
    /// One over the variance of its noise, in rows.
    pub precision: f64,
}

/// What an analyst may see of a group's paths: of each the finest point.
pub trait Seen {
    /// A point of C at a cut.
    fn cut(&self, cut: u64) -> Option<Point>;

    /// A point of N.
    fn count(&self) -> Option<Point>;

    /// The precisions of N and all cuts of the group together, as far as they count towards the
    /// highest price. Where this is not known, the rule counts the paths that it still uses, and
    /// leaves out cuts that it has passed by.
    fn spent(&self) -> f64 {
        0.0
    }
}

/// What comes next.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Paths to be taken further, each to at least this precision.
    Look {
        /// The cuts, and the precision of C at each.
        cuts: Vec<(u64, f64)>,
        /// The precision of N, if it is to be taken further.
        count: Option<f64>,
    },
    /// The answer.
    Done(Found),
}

/// When to look where on the paths of a group for one of its quantiles, and when to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Search {
    of: SearchOf,
    goal: SearchGoal,
    confidence: Confidence,
    most: Amount<Rho>,
}

/// The part of a precision that is as good as all of it: paths stand on a grid of prices.
const NEARLY: f64 = 0.99;
/// How little of a precision more is worth a look.
const LEAST_MORE: f64 = 1.3;
/// How much further a look goes at most.
const MOST_MORE: f64 = 8.0;
/// N is clear of zero from this number of deviations on.
const CLEAR: f64 = 6.0;
/// The noise of the first look at N, in the sensitivity: 2^20.
const FIRST: f64 = 1_048_576.0;
/// How much further N is taken until it is clear of zero.
const COUNT_MORE: f64 = 8.0;
/// The part of a tolerance, or of what is beyond a quantile, that the ranks of an answer are from
/// either end: rank 0 is that of the lower bound, whatever the rows are.
const END: f64 = 0.1;
/// Tolerances that ranks are stated with where no goal gave one: powers of two from this one down.
const WIDEST: f64 = 0.5;
/// How many.
const TOLERANCES: i32 = 16;
/// How many times what a search is likely to cost is kept for it where all of a price is spent.
const PRICE_MARGIN: f64 = 2.2;
/// N is not above what was seen of it by this number of deviations.
const ABOVE: f64 = 5.0;
/// Tolerances that a price may be enough for, in steps of an eighth from the widest down.
const PLACES: i32 = 100;

impl Search {
    /// A search for a quantile of one group, to a goal, for at most this price of all its paths
    /// together (as if nothing had been seen before).
    ///
    /// # Errors
    /// A number is out of range, or the least or largest value is wanted within a number of cells:
    /// nothing private bounds how far beyond a rank the last row lies.
    pub fn new(
        of: SearchOf,
        goal: SearchGoal,
        confidence: Confidence,
        most: Amount<Rho>,
    ) -> Result<Self, GoalError> {
        if !(1..=64).contains(&of.levels) {
            return Err(GoalError::Levels(of.levels));
        }
        let is_share = |share: f64| share > 0.0 && share < 1.0;
        match (of.quantile, goal) {
            (Quantile::Share(share), _) if !is_share(share) => {
                return Err(GoalError::Quantile(share));
            }
            (_, SearchGoal::Rank(rank)) if !(1e-6..=0.5).contains(&rank) => {
                return Err(GoalError::Rank(rank));
            }
            (_, SearchGoal::Cells(cells)) if !(cells > 0.0 && cells.is_finite()) => {
                return Err(GoalError::Cells(cells));
            }
            (Quantile::Least | Quantile::Most, SearchGoal::Cells(_)) => {
                return Err(GoalError::Extreme);
            }
            _ => {}
        }
        let is_positive = |value: f64| value.is_finite() && value > 0.0;
        if !(is_positive(of.sensitivity) && is_positive(of.step) && of.factor > 0) {
            return Err(GoalError::Rows);
        }
        Ok(Self { of, goal, confidence, most })
    }

    /// What comes next, given what has been seen.
    #[must_use]
    pub fn next(&self, seen: &impl Seen) -> Step {
        let seen = Noted::new(seen);
        let step = self.wanted(&seen);
        let Step::Look { cuts, count } = step else { return step };
        // What there is, and what it would be after the look.
        let now = seen.total().max(seen.spent());
        let more: f64 = cuts.iter().map(|&(cut, to)| to - seen.precision(Some(cut))).sum::<f64>()
            + count.map_or(0.0, |to| to - seen.precision(None));
        let left = self.most.to_f64() - self.price(now);
        if self.price(more) <= left {
            return Step::Look { cuts, count };
        }
        // What is left is spent too, unless it is a crumb.
        let part = left / self.price(more);
        let short = |path: Option<u64>, to: f64| {
            let from = seen.precision(path);
            from + part * (to - from)
        };
        let is_crumb = |path: Option<u64>, to: f64| short(path, to) < 1.05 * seen.precision(path);
        let is_end = part.is_nan()
            || part <= 0.0
            || cuts.iter().any(|&(cut, to)| is_crumb(Some(cut), to))
            || count.is_some_and(|to| is_crumb(None, to))
            || now <= 0.0 && part < 1e-9;
        if is_end {
            return Step::Done(self.end(&seen, SearchEnding::HighestPrice));
        }
        let cuts = cuts.into_iter().map(|(cut, to)| (cut, short(Some(cut), to))).collect();
        Step::Look { cuts, count: count.map(|to| short(None, to)) }
    }

    /// What comes next, whatever it costs.
    fn wanted(&self, seen: &impl Seen) -> Step {
        let least = 1.0 / (FIRST * self.of.sensitivity).powi(2);
        let Some(count) = seen.count() else {
            return Step::Look { cuts: Vec::new(), count: Some(least) };
        };
        let more = |to: f64| {
            (count.precision < NEARLY * to).then(|| Step::Look {
                cuts: Vec::new(),
                count: Some(self.further(count.precision, to)),
            })
        };
        if !self.is_clear(count) {
            if let SearchGoal::Rank(tolerance) = self.goal {
                // N alone would cost more than there is, whatever it may be.
                let largest = count.value.max(0.0) + ABOVE / count.precision.sqrt();
                let needed = self.rank_rule(tolerance).count_precision(largest);
                if self.price(needed) > self.most.to_f64() {
                    return Step::Done(self.end(seen, SearchEnding::OutOfReach));
                }
            }
            let far = count.value.abs() * count.precision.sqrt() < CLEAR / 4.0;
            let next = if far { COUNT_MORE * COUNT_MORE } else { COUNT_MORE } * count.precision;
            return Step::Look { cuts: Vec::new(), count: Some(next) };
        }
        match self.goal {
            SearchGoal::Cells(width) => {
                let rule = self.value_rule(count);
                rule.next(self, seen, count, 2.0 * width)
                    .unwrap_or_else(|| Step::Done(self.of_values(seen, SearchEnding::Met)))
            }
            SearchGoal::Rank(_) | SearchGoal::Price => {
                let rule = self.rank_rule(self.tolerance(count));
                let look = more(rule.count_precision(count.value));
                look.unwrap_or_else(|| rule.next(self, seen, count))
            }
        }
    }

    /// What to say if the next look cannot be had.
    #[must_use]
    pub fn end(&self, seen: &impl Seen, ending: SearchEnding) -> Found {
        let is_clear = seen.count().is_some_and(|count| self.is_clear(count));
        let ending = if is_clear || ending != SearchEnding::HighestPrice {
            ending
        } else {
            SearchEnding::Empty
        };
        self.of_values(seen, ending)
    }

    /// What is said of values, and of ranks as far as they are known.
    fn of_values(&self, seen: &impl Seen, ending: SearchEnding) -> Found {
        let last = Cells::all(self.of.levels).last();
        let mut found = Found {
            cell: last / 2,
            low: 0,
            high: last,
            rank_low: 0.0,
            rank_high: 1.0,
            beyond: None,
            met: ending == SearchEnding::Met,
            ending,
        };
        let Some(count) = seen.count().filter(|&count| self.is_clear(count)) else { return found };
        (found.low, found.high) = self.interval(seen);
        found.cell = self.guess(seen, count).clamp(found.low, found.high);
        if found.low == found.high && ending == SearchEnding::HighestPrice {
            found.ending = SearchEnding::Flat;
        }
        // The least tolerance at which the points are enough. There are so many of them, each with
        // its part of the probability.
        let mut tolerance = WIDEST;
        for _ in 0..TOLERANCES {
            let rule = self.rank_rule(tolerance).with_part(f64::from(TOLERANCES));
            let is_enough = rule.count_precision(count.value) <= count.precision;
            let Step::Done(next) = rule.next(self, seen, count) else { break };
            if !is_enough {
                break;
            }
            (found.cell, found.rank_low, found.rank_high) =
                (next.cell, next.rank_low, next.rank_high);
            found.beyond = next.beyond;
            tolerance /= 2.0;
        }
        if let SearchGoal::Cells(_) = self.goal {
            found.cell = found.cell.clamp(found.low, found.high);
        }
        (found.low, found.high) = (found.low.min(found.cell), found.high.max(found.cell));
        found
    }

    /// A cell that the quantile may be in, as likely as any.
    fn guess(&self, seen: &impl Seen, count: Point) -> u64 {
        let lines = Lines::new(Vec::new(), self.of.step);
        let mut cells = self.cells();
        while let Some(cut) = cells.middle() {
            let Some(point) = seen.cut(cut) else { return cut };
            let share = self.share(count);
            let above = lines.distance(Side::Above, share, point, count);
            if above > lines.distance(Side::Below, share, point, count) {
                cells.take_lower();
            } else {
                cells.take_upper();
            }
        }
        cells.first()
    }

    /// The cells that the quantile may be in, as far as has been seen.
    fn interval(&self, seen: &impl Seen) -> (u64, u64) {
        let all = Cells::all(self.of.levels);
        let Some(count) = seen.count().filter(|&count| self.is_clear(count)) else {
            return (all.first(), all.last());
        };
        let known = self.value_rule(count).known(self, seen, count);
        if known.low >= known.high {
            return (all.first(), all.last());
        }
        let cell = |cell: u128| u64::try_from(cell).unwrap_or(u64::MAX);
        (cell(known.low), cell(known.high - 1))
    }

    fn is_clear(&self, count: Point) -> bool {
        count.value * count.precision.sqrt() >= CLEAR && count.value > self.of.step
    }

    /// The rank error that is looked for.
    fn tolerance(&self, count: Point) -> f64 {
        match self.goal {
            SearchGoal::Rank(tolerance) => tolerance,
            SearchGoal::Cells(_) | SearchGoal::Price => self.affordable(count),
        }
    }

    /// The least tolerance, to an eighth, that the highest price is likely to be enough for.
    fn affordable(&self, count: Point) -> f64 {
        let most = self.most.to_f64();
        let at = |place: i32| WIDEST * libm::exp(-f64::from(place) / 8.0);
        let fits = |place| {
            let rule = self.rank_rule(at(place));
            PRICE_MARGIN * self.price(rule.likely_precision(count.value)) <= most
        };
        let (mut fit, mut not) = (0, PLACES);
        while not > fit + 1 {
            let middle = i32::midpoint(fit, not);
            if fits(middle) { fit = middle } else { not = middle }
        }
        at(fit)
    }

    /// The quantile's share of the rows, which for the least and the largest value depends on N.
    fn share(&self, count: Point) -> f64 {
        match self.of.quantile {
            Quantile::Share(share) => share,
            Quantile::Least | Quantile::Most => self.rank_rule(self.tolerance(count)).share,
        }
    }

    /// The rule for the ranks within a tolerance of the quantile, but for those next to the ends,
    /// at which there need be no rows.
    fn rank_rule(&self, tolerance: f64) -> RankRule {
        let (low, high) = match self.of.quantile {
            Quantile::Share(share) => (
                (share - tolerance).max(END * share),
                (share + tolerance).min(1.0 - END * (1.0 - share)),
            ),
            Quantile::Least => (END * tolerance, tolerance),
            Quantile::Most => (1.0 - tolerance, 1.0 - END * tolerance),
        };
        let (share, tolerance) = (f64::midpoint(low, high), (high - low) / 2.0);
        RankRule::new(share, tolerance, self.of.levels, 1.0 - self.confidence.get())
    }

    fn value_rule(&self, count: Point) -> ValueRule {
        ValueRule::new(self.share(count), self.of.levels, 1.0 - self.confidence.get())
    }

    fn cells(&self) -> Cells {
        Cells::all(self.of.levels)
    }

    /// The precision of the next look, on from one precision, where another may be enough.
    fn further(&self, from: f64, enough: f64) -> f64 {
        enough.clamp(LEAST_MORE * from, MOST_MORE * from)
    }

    /// What one path costs at a precision: `factor sensitivity² precision/2`, as rho.
    #[must_use]
    pub fn price(&self, precision: f64) -> f64 {
        f64::from(self.of.factor) * self.of.sensitivity.powi(2) * precision / 2.0
    }
}
