//! When to stop on a Gaussian path.

use eke_budget::{Amount, L2, Rho};

use crate::stopping::boundary::{Boundary, END};
use crate::stopping::follow::{
    Ending, Estimate, Look, Next, Rule, WIDEST, around, double, relative, within,
};
use crate::stopping::goal::{Goal, Within};
use crate::stopping::schedule::{Schedule, times};
use crate::stopping::sequence::ConfidenceSequence;

/// When to stop on a Gaussian path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaussianRule {
    goal: Goal<Rho>,
    schedule: Schedule<Rho>,
    /// Precision for a price of one: `2/sensitivity²`.
    per_price: f64,
    /// The last price, and why.
    last: (Amount<Rho>, Ending),
    /// The price of the one look of an absolute goal.
    planned: Option<Amount<Rho>>,
    quantile: f64,
    boundary: Option<Boundary>,
    sequence: ConfidenceSequence,
    is_thrifty: bool,
    is_by_hand: bool,
}

/// The price at which the confidence sequence is tightest for an analyst who decides by hand.
pub(crate) const BY_HAND: f64 = 1e-5;

/// How many times as dear as the one before a look of a thrifty rule is at most.
const MOST_GROWTH: f64 = 4.0;

/// How far an answer moves from a look on, in its own deviations: more has probability 4e-9.
const MOVES: f64 = 6.0;

/// How far it moves until looks are taken again, where a confidence sequence decides when to stop.
/// A sequence holds at whichever looks are taken, so that a look too many that is skipped costs a
/// little budget, once in a thousand times, and no coverage.
const SKIPPED_MOVES: f64 = 3.0;

impl GaussianRule {
    /// The rule of a goal, for a truth of this sensitivity in steps.
    #[must_use]
    pub fn new(goal: Goal<Rho>, schedule: Schedule<Rho>, sensitivity: L2) -> Self {
        let per_price = 2.0 / (sensitivity.get() * sensitivity.get());
        let quantile = goal.confidence.quantile();
        let price = |half_width: f64, factor: f64| {
            let precision = (factor * quantile / (half_width - 0.5)).powi(2);
            Amount::ceil(precision / per_price).unwrap_or(Amount::MAX)
        };
        let good_enough = match (goal.within, goal.floor) {
            (Within::Absolute(steps), _) => Some((price(steps.get(), 1.0), Ending::Met)),
            (_, Some(floor)) => Some((price(floor.get(), END), Ending::Floor)),
            _ => None,
        };
        let last = good_enough
            .filter(|&(price, _)| price <= goal.most)
            .unwrap_or((goal.most, Ending::HighestPrice));
        let boundary = match (goal.within, schedule.ratio()) {
            (Within::Relative(tolerance), Some(ratio)) => {
                Boundary::new(tolerance.get(), goal.confidence.get(), quantile, ratio)
            }
            _ => None,
        };
        let middle = (schedule.first().to_f64() * last.0.to_f64()).sqrt() * per_price;
        let sequence = ConfidenceSequence::tightest_at(middle, goal.confidence);
        let planned = good_enough.filter(|(_, ending)| *ending == Ending::Met);
        let planned = planned.map(|(price, _)| price);
        let (is_thrifty, is_by_hand) = (false, false);
        Self {
            goal,
            schedule,
            per_price,
            last,
            planned,
            quantile,
            boundary,
            sequence,
            is_thrifty,
            is_by_hand,
        }
    }

    /// The same rule, which stops where it is as soon as a relative goal is out of reach of the
    /// highest price, in place of going on to that price. Its interval is then the one that always
    /// holds.
    #[must_use]
    pub fn thrifty(self) -> Self {
        Self { is_thrifty: true, ..self }
    }

    /// The price of the one look that an absolute goal plans, be it above the highest price or not;
    /// none for other goals.
    #[must_use]
    pub fn planned(&self) -> Option<Amount<Rho>> {
        self.planned
    }

    /// The price of the last look that there may be.
    #[must_use]
    pub fn last(&self) -> Amount<Rho> {
        self.last.0
    }

    /// Where a relative goal stops, K, and what is taken off its answer, b: at the first look of
    /// `|y| sqrt(u) >= K` it answers `y (1 - b)`. None if the goal stops by the confidence
    /// sequence: for looks that are not geometrically spaced, for tolerances so wide that K would
    /// be below 8, and by hand.
    #[must_use]
    pub fn boundary(&self) -> Option<(f64, f64)> {
        self.boundary.map(|Boundary { k, b }| (k, b))
    }

    /// The same rule, for a path of which something was seen before. An analyst who goes on by hand
    /// stops when it looks right, so intervals are those of one confidence sequence for all goals
    /// of the path: relative goals have no boundary any more, and absolute ones plan their look by
    /// the sequence. All intervals that are shown along a path by hand, at one confidence, hold at
    /// once with that confidence.
    ///
    /// - Theorem: confidence-sequence (docs/theorems.md)
    /// - Proves: with the confidence, the truth is in every interval that rules by hand show of a
    ///   path, whatever their goals and in whatever order they are asked
    /// - Assumes: the sensitivity is the path's own, so that all of them have one sequence (caller)
    /// - Deviates: half a step is added, for answers are rounded to the grid
    /// - Checked by: `all_goals_by_hand_hold_at_once_against_a_greedy_analyst`
    #[must_use]
    pub fn by_hand(self) -> Self {
        let Goal { within, confidence, floor, most } = self.goal;
        let sequence = ConfidenceSequence::tightest_at(BY_HAND * self.per_price, confidence);
        // A boundary is for one pass from a fresh start: at looks that were picked by hand it holds
        // nothing.
        let mut rule = Self { sequence, boundary: None, is_by_hand: true, ..self };
        let good_enough = match (within, floor) {
            (Within::Absolute(steps), _) => Some((steps, Ending::Met)),
            (Within::Relative(_) | Within::Heuristic(_), Some(floor)) => {
                Some((floor, Ending::Floor))
            }
            _ => None,
        };
        let good_enough =
            good_enough.map(|(steps, ending)| (rule.price_by_hand(steps.get()), ending));
        rule.planned = good_enough.filter(|(_, ending)| *ending == Ending::Met).map(|(at, _)| at);
        rule.last =
            good_enough.filter(|&(price, _)| price <= most).unwrap_or((most, Ending::HighestPrice));
        rule
    }

    /// What intervals at another level than the goal's are made with: the gamma of the confidence
    /// sequence, as a price; none where the one look was planned before anything was seen, so that
    /// an ordinary interval holds.
    #[must_use]
    pub fn gamma(&self) -> Option<f64> {
        let is_planned = matches!(self.goal.within, Within::Absolute(_) | Within::Price);
        (self.is_by_hand || !is_planned).then(|| self.sequence.gamma() / self.per_price)
    }

    /// The least price, nearly, at which the sequence is as narrow as this.
    fn price_by_hand(&self, half_width: f64) -> Amount<Rho> {
        let (mut low, mut high) = (-150.0, 150.0);
        for _ in 0..100 {
            let middle = f64::midpoint(low, high);
            let half = self.sequence.half_width(libm::exp(middle) * self.per_price);
            if half > half_width { low = middle } else { high = middle }
        }
        Amount::ceil(libm::exp(high)).unwrap_or(Amount::MAX)
    }

    /// The first look, on a path that has been revealed up to a price before: there, if that is
    /// further.
    #[must_use]
    pub fn first_from(&self, revealed: Amount<Rho>) -> Amount<Rho> {
        self.first().max(revealed)
    }

    fn precision(&self, price: Amount<Rho>) -> f64 {
        price.to_f64() * self.per_price
    }

    /// The estimate, if the goal is met.
    fn met(&self, look: Look<Rho>) -> Option<Estimate> {
        let (value, precision) = (double(look.value.get()), self.precision(look.price));
        let root = precision.sqrt();
        match (self.goal.within, self.boundary) {
            (Within::Relative(tolerance), Some(Boundary { k, b })) => {
                (value.abs() * root >= k).then(|| relative(value * (1.0 - b), tolerance.get()))
            }
            (Within::Relative(tolerance), None) => {
                let half = self.sequence.half_width(precision);
                within(value, half, tolerance.get())
            }
            (Within::Heuristic(tolerance), _) => {
                let k = (2.0 + tolerance.get()) / tolerance.get();
                (value * root >= k)
                    .then(|| around(value, self.sequence.half_width(precision), Ending::Met))
            }
            (Within::Absolute(_) | Within::Price, _) => None,
        }
    }

    /// The least price at which the goal might be met, given a look at which it was not; above the
    /// last price if it might not be met there either. Where a confidence sequence decides, an
    /// answer moves by this many deviations at most.
    fn reachable(&self, look: Look<Rho>, moves: f64) -> Amount<Rho> {
        let deviation = 1.0 / self.precision(look.price).sqrt();
        let furthest = |moves: f64| double(look.value.get()).abs() + moves * deviation;
        match (self.boundary, self.goal.within) {
            (Some(Boundary { k, .. }), _) => {
                let root = k / furthest(MOVES);
                Amount::floor(root.powi(2) / self.per_price).unwrap_or(Amount::MAX)
            }
            (None, Within::Relative(tolerance)) if self.is_thrifty => {
                let half_width = tolerance.get() * furthest(moves);
                self.as_narrow_as(half_width, look.price).unwrap_or(Amount::MAX)
            }
            _ => Amount::ZERO,
        }
    }

    /// A price from one on, and not above the last, below which the sequence is wider than this;
    /// none if it is wider at the last price too.
    fn as_narrow_as(&self, half_width: f64, from: Amount<Rho>) -> Option<Amount<Rho>> {
        let is_wider = |price: f64| self.sequence.half_width(price * self.per_price) > half_width;
        let (from, last) = (from.to_f64(), self.last.0.to_f64());
        if is_wider(last) {
            return None;
        }
        // To a thousandth, upwards from below.
        let (mut low, mut high) = (from, last.max(from));
        while high > low * 1.001 {
            let middle = (low * high).sqrt();
            if is_wider(middle) { low = middle } else { high = middle }
        }
        Amount::floor(low).ok()
    }
}

impl Rule for GaussianRule {
    type Currency = Rho;

    fn first(&self) -> Amount<Rho> {
        match self.goal.within {
            Within::Absolute(_) | Within::Price => self.last.0,
            Within::Relative(_) | Within::Heuristic(_) => {
                let widest = Amount::ceil(1.0 / (WIDEST * WIDEST * self.per_price));
                let first = self.schedule.first().max(widest.unwrap_or(self.last.0));
                first.min(self.last.0)
            }
        }
    }

    fn after(&self, look: Look<Rho>) -> Next<Rho> {
        if let Some(met) = self.met(look) {
            return Next::Stop(met);
        }
        if look.asked >= self.last.0 {
            return Next::Stop(self.end(look, self.last.1));
        }
        let is_hopeless =
            || self.last.1 == Ending::HighestPrice && self.reachable(look, MOVES) > self.last.0;
        if self.is_thrifty && is_hopeless() {
            return Next::Stop(self.end(look, Ending::OutOfReach));
        }
        let mut next = self.schedule.after(look.asked, self.last.0);
        if let Some(ratio) = self.schedule.ratio() {
            // On along the schedule, as far as the goal cannot be met.
            let mut reachable = self.reachable(look, SKIPPED_MOVES).min(self.last.0);
            if self.is_thrifty {
                // In leaps that leave room for giving up.
                reachable = reachable.min(times(look.asked, MOST_GROWTH));
            }
            let steps = (reachable.to_f64() / next.to_f64()).ln() / ratio.ln();
            if steps >= 1.0 {
                next = times(next, ratio.powf(steps.floor())).min(self.last.0);
            }
            // The last look is a whole step from the one before it, or more: two looks close to
            // each other would be two chances to stop at a flattering one.
            if self.boundary.is_some() && times(next, ratio) > self.last.0 {
                next = self.last.0;
            }
        }
        Next::Look(next)
    }

    fn end(&self, look: Look<Rho>, ending: Ending) -> Estimate {
        let precision = self.precision(look.price);
        let plain = self.quantile / precision.sqrt() + 0.5;
        let half = match (self.goal.within, self.boundary) {
            _ if ending == Ending::OutOfReach || self.is_by_hand => {
                self.sequence.half_width(precision)
            }
            // One look, wherever it was planned.
            (Within::Absolute(_) | Within::Price, _) => plain,
            (Within::Relative(_), Some(_)) => END * self.quantile / precision.sqrt() + 0.5,
            _ => self.sequence.half_width(precision),
        };
        // A point that was moved for the grid's sake says less than was planned.
        let promised = match (ending, self.goal.within, self.goal.floor) {
            (Ending::Met, Within::Absolute(steps), _) | (Ending::Floor, _, Some(steps)) => {
                steps.get()
            }
            _ => f64::INFINITY,
        };
        let ending = if half > promised * (1.0 + 1e-9) { Ending::Grid } else { ending };
        around(double(look.value.get()), half, ending)
    }
}
