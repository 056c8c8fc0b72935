//! Averages: a noisy centred sum over a noisy count, followed until the quotient is good enough.
//!
//! For the true average r the combination `sum - (r - centre) count` is zero, so its noise is all
//! there is of it: a Gaussian path of its own. An r for which it is further from zero than a
//! confidence sequence allows is not the average. What is left is an interval (Fieller's, made to
//! hold at every look).

use eke_budget::{Amount, Rho};

use crate::stopping::follow::{Ending, Estimate, Next, WIDEST};
use crate::stopping::gaussian_rule::BY_HAND;
use crate::stopping::goal::{Confidence, Tolerance};
use crate::stopping::schedule::{Schedule, times};
use crate::stopping::sequence::ConfidenceSequence;

/// What an average is made of, in the units of the values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AverageOf {
    /// The sum of the values less the centre.
    pub sum: Part,
    /// The count of the values.
    pub count: Part,
    /// What was taken off every value.
    pub centre: f64,
    /// The least a value can be.
    pub low: f64,
    /// The most a value can be.
    pub high: f64,
}

impl AverageOf {
    /// What the average can be after a look, if its combination of sum and count is off by no more
    /// than this many deviations. Always within the bounds of the values.
    #[must_use]
    pub fn interval(&self, look: AverageLook, factor: f64) -> (f64, f64) {
        let AverageOf { sum, count, centre, low, high } = *self;
        let all = (low, high);
        if look.price.is_zero() {
            return all;
        }
        let (of_sum, of_count) = (sum.deviation(look.price), count.deviation(look.price));
        // How far off `sum - r count` may be for an r that is the average less the centre.
        let off = |r: f64| {
            factor * libm::hypot(of_sum, r * of_count) + 0.5 * (sum.step + r.abs() * count.step)
        };
        let allowed = |r: f64| (look.sum - r * look.count).abs() <= off(r);
        // Unless the count is clear of zero, its quotient may be anything.
        if look.count <= factor * of_count + 0.5 * count.step {
            return all;
        }
        // From the quotient on, the left side rises faster than the right: what is allowed is an
        // interval.
        let middle = look.sum / look.count;
        let edge = |outside: f64| {
            if !(outside - middle).is_finite() || allowed(outside) {
                return outside;
            }
            let (mut inside, mut outside) = (middle, outside);
            for _ in 0..200 {
                let between = f64::midpoint(inside, outside);
                if allowed(between) { inside = between } else { outside = between }
            }
            outside
        };
        let (bottom, top) = (low - centre, high - centre);
        let ends = (edge(bottom.min(middle)) + centre, edge(top.max(middle)) + centre);
        let ends = (ends.0.clamp(low, high), ends.1.clamp(low, high));
        // If nothing between the bounds is allowed, the noise was beyond what is expected of it.
        if ends.0 < ends.1 { ends } else { all }
    }
}

/// One of the two paths of an average.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// What one unit can change it by.
    pub sensitivity: f64,
    /// The step of its grid.
    pub step: f64,
}

impl Part {
    /// The deviation of the noise at a price, of this path alone.
    fn deviation(self, price: Amount<Rho>) -> f64 {
        self.sensitivity / (2.0 * price.to_f64()).sqrt()
    }
}

/// What is good enough of an average, and when to give up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AverageGoal {
    /// A relative error that is.
    pub relative: Option<Tolerance>,
    /// An absolute error that is, whatever the relative one.
    pub absolute: Option<f64>,
    /// How sure that must be.
    pub confidence: Confidence,
    /// The highest price of either path. With neither error this is where the one look is.
    pub most: Amount<Rho>,
}

/// One look at an average.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AverageLook {
    /// The price that was asked for, of either path.
    pub asked: Amount<Rho>,
    /// The price that both points are worth.
    pub price: Amount<Rho>,
    /// The sum, in the unit of the values.
    pub sum: f64,
    /// The count.
    pub count: f64,
}

/// When to stop on the two paths of an average.
///
/// - Theorem: average-interval (docs/theorems.md)
/// - Proves: with the confidence, the average is in the intervals of all looks at once; with
///   neither error, in that of the one look
/// - Assumes: both paths stand at one price, with independent noise (bundle); values are within
///   their bounds
/// - Deviates: half a step of each grid is added
/// - Checked by: `averages_hold_for_every_truth`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AverageRule {
    goal: AverageGoal,
    of: AverageOf,
    schedule: Schedule<Rho>,
    /// In the unit of prices, which is that of precision but for a factor.
    sequence: ConfidenceSequence,
    /// Where it is tightest.
    tightest: Amount<Rho>,
    is_thrifty: bool,
    is_by_hand: bool,
}

/// How many times as dear as the one before a look is at most.
const LEAP: f64 = 4.0;

impl AverageRule {
    /// The rule of a goal.
    #[must_use]
    pub fn new(goal: AverageGoal, schedule: Schedule<Rho>, of: AverageOf) -> Self {
        let tightest = Amount::from_grains(goal.most.grains() / 30);
        let sequence = ConfidenceSequence::tightest_at(tightest.to_f64(), goal.confidence);
        let (is_thrifty, is_by_hand) = (false, false);
        Self { goal, of, schedule, sequence, tightest, is_thrifty, is_by_hand }
    }

    /// The same rule, which stops where it is as soon as its goal is out of reach of the highest
    /// price.
    #[must_use]
    pub fn thrifty(self) -> Self {
        Self { is_thrifty: true, ..self }
    }

    /// The same rule, for paths of which something was seen before: its intervals are those of one
    /// confidence sequence for all goals.
    #[must_use]
    pub fn by_hand(self) -> Self {
        let tightest = Amount::ceil(BY_HAND).unwrap_or(self.tightest);
        let sequence = ConfidenceSequence::tightest_at(BY_HAND, self.goal.confidence);
        Self { sequence, tightest, is_by_hand: true, ..self }
    }

    /// What intervals at another level than the goal's are made with: the gamma of the confidence
    /// sequence, as a price; none where the one look was planned before anything was seen.
    #[must_use]
    pub fn gamma(&self) -> Option<f64> {
        (self.is_by_hand || !self.is_one_look()).then(|| self.sequence.gamma())
    }

    fn is_one_look(&self) -> bool {
        self.goal.relative.is_none() && self.goal.absolute.is_none()
    }

    /// The first look.
    #[must_use]
    pub fn first(&self) -> Amount<Rho> {
        if self.is_one_look() {
            return self.goal.most;
        }
        // The widest noise that a first look has.
        let widest = [self.of.sum, self.of.count].map(|part| {
            let price = (part.sensitivity / part.step / WIDEST).powi(2) / 2.0;
            Amount::ceil(price).unwrap_or(self.goal.most)
        });
        self.schedule.first().max(widest[0]).max(widest[1]).min(self.goal.most)
    }

    /// The first look, on paths that have been revealed up to a price before: there, if that is
    /// further.
    #[must_use]
    pub fn first_from(&self, revealed: Amount<Rho>) -> Amount<Rho> {
        self.first().max(revealed)
    }

    /// What to do after a look.
    #[must_use]
    pub fn after(&self, look: AverageLook) -> Next<Rho> {
        let (low, high) = self.interval(look);
        if let Some(met) = self.met(low, high) {
            return Next::Stop(met);
        }
        if look.asked >= self.goal.most {
            return Next::Stop(self.end(look, Ending::HighestPrice));
        }
        let reachable = self.reachable(look, low, high);
        if self.is_thrifty && reachable > self.goal.most {
            return Next::Stop(self.end(look, Ending::OutOfReach));
        }
        let next = self.schedule.after(look.asked, self.goal.most);
        let leap = reachable.min(times(look.asked, LEAP));
        Next::Look(next.max(leap).min(self.goal.most))
    }

    /// What to say after a look that has to be the last.
    #[must_use]
    pub fn end(&self, look: AverageLook, ending: Ending) -> Estimate {
        let (low, high) = self.interval(look);
        let quotient = look.sum / look.count;
        let value = if look.count > 0.0 && quotient.is_finite() {
            (self.of.centre + quotient).clamp(low, high)
        } else {
            f64::midpoint(low, high)
        };
        Estimate { value, low, high, ending }
    }

    /// An answer for which all of the interval is good enough.
    fn met(&self, low: f64, high: f64) -> Option<Estimate> {
        let estimate = |value, ending| Some(Estimate { value, low, high, ending });
        if let Some(tolerance) = self.goal.relative {
            let (least, most) = (low.abs().min(high.abs()), low.abs().max(high.abs()));
            let one_sign = low * high > 0.0;
            if one_sign && most - least <= tolerance.get() * (most + least) {
                // As far from both ends, relatively.
                return estimate(2.0 * low * high / (low + high), Ending::Met);
            }
        }
        let ending = if self.goal.relative.is_some() { Ending::Floor } else { Ending::Met };
        let is_close = self.goal.absolute.is_some_and(|error| (high - low) / 2.0 <= error);
        if is_close { estimate(f64::midpoint(low, high), ending) } else { None }
    }

    /// How many deviations off the combination may be.
    fn deviations(&self, price: Amount<Rho>) -> f64 {
        if self.is_one_look() && !self.is_by_hand {
            return self.goal.confidence.quantile();
        }
        let price = price.to_f64();
        (self.sequence.half_width(price) - 0.5) * price.sqrt()
    }

    /// What the average can be after a look. Always within the bounds of the values.
    fn interval(&self, look: AverageLook) -> (f64, f64) {
        self.of.interval(look, self.deviations(look.price))
    }

    /// The least price at which the goal might be met, given a look at which it was not.
    fn reachable(&self, look: AverageLook, low: f64, high: f64) -> Amount<Rho> {
        const MOVES: f64 = 6.0;
        let AverageOf { sum, count, centre, .. } = self.of;
        let largest = look.count.abs() + MOVES * count.deviation(look.price);
        let relative = self.goal.relative.map_or(0.0, |t| t.get() * low.abs().max(high.abs()));
        let error = relative.max(self.goal.absolute.unwrap_or(0.0));
        // The least noise that the combination has for an average in the interval.
        let (bottom, top) = (low - centre, high - centre);
        let least = if bottom <= 0.0 && top >= 0.0 { 0.0 } else { bottom.abs().min(top.abs()) };
        let unit = libm::hypot(sum.sensitivity, least * count.sensitivity);
        let factor =
            self.deviations(self.tightest.clamp(look.price, self.goal.most.max(look.price)));
        let price = (factor * unit / (error * largest)).powi(2) / 2.0;
        Amount::floor(price).unwrap_or(Amount::MAX)
    }
}
