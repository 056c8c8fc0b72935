//! When to stop on a geometric path.

use eke_budget::{Amount, Epsilon, L1};

use crate::goal::{Goal, Within};
use crate::schedule::Schedule;
use crate::stopping::{Ending, Estimate, Look, Next, Rule, WIDEST, around, double, within};

/// When to stop on a geometric path: every look has an interval of its own, and the error is spent over
/// them, `6 alpha/(pi² k²)` for the k-th.
///
/// - Theorem: spending (docs/theorems.md)
/// - Proves: with the confidence, the truth is in the intervals of all looks at once
/// - Assumes: noise at a look has its law, whenever the look is (path)
/// - Deviates: half-widths are rounded up to whole numbers
/// - Checked by: `geometric_goals_hold_for_every_truth`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeometricRule {
    goal: Goal<Epsilon>,
    schedule: Schedule<Epsilon>,
    sensitivity: f64,
    last: (Amount<Epsilon>, Ending),
}

impl GeometricRule {
    /// The rule of a goal, for a truth of this sensitivity.
    #[must_use]
    pub fn new(goal: Goal<Epsilon>, schedule: Schedule<Epsilon>, sensitivity: L1) -> Self {
        let mut rule = Self {
            goal,
            schedule,
            sensitivity: sensitivity.get(),
            last: (goal.most, Ending::HighestPrice),
        };
        let good_enough = match (goal.within, goal.floor) {
            (Within::Absolute(steps), _) => {
                Some((rule.price(steps.get(), rule.alpha()), Ending::Met))
            }
            // As if it were the hundredth look, which it hardly ever is.
            (_, Some(floor)) => Some((rule.price(floor.get(), rule.spend(100)), Ending::Floor)),
            _ => None,
        };
        if let Some(good_enough) = good_enough.filter(|&(price, _)| price <= goal.most) {
            rule.last = good_enough;
        }
        rule
    }

    fn alpha(&self) -> f64 {
        1.0 - self.goal.confidence.get()
    }

    /// What the k-th look may spend.
    fn spend(&self, number: u32) -> f64 {
        let pi = std::f64::consts::PI;
        6.0 * self.alpha() / (pi * pi * f64::from(number.max(1)).powi(2))
    }

    /// The least whole number that noise exceeds with probability alpha at most: `2 p^(h+1)/(1+p)`.
    fn half_width(&self, price: Amount<Epsilon>, alpha: f64) -> f64 {
        let rate = price.to_f64() / self.sensitivity;
        let power = libm::exp(-rate);
        ((libm::log((1.0 + power) * alpha / 2.0) / -rate).ceil() - 1.0).max(0.0)
    }

    /// The price at which noise is within a half-width, but for alpha.
    fn price(&self, half_width: f64, alpha: f64) -> Amount<Epsilon> {
        let rate = libm::log(2.0 / alpha) / (half_width.floor() + 1.0);
        Amount::ceil(rate * self.sensitivity).unwrap_or(Amount::MAX)
    }

    fn look_alpha(&self, look: Look<Epsilon>) -> f64 {
        match self.goal.within {
            Within::Absolute(_) | Within::Price => self.alpha(),
            Within::Relative(_) | Within::Heuristic(_) => self.spend(look.number),
        }
    }
}

impl Rule for GeometricRule {
    type Currency = Epsilon;

    fn first(&self) -> Amount<Epsilon> {
        match self.goal.within {
            Within::Absolute(_) | Within::Price => self.last.0,
            Within::Relative(_) | Within::Heuristic(_) => {
                let widest = Amount::ceil(self.sensitivity / WIDEST);
                let first = self.schedule.first().max(widest.unwrap_or(self.last.0));
                first.min(self.last.0)
            }
        }
    }

    fn after(&self, look: Look<Epsilon>) -> Next<Epsilon> {
        let value = double(look.value.get());
        let half = self.half_width(look.price, self.look_alpha(look));
        let tolerance = match self.goal.within {
            Within::Relative(tolerance) | Within::Heuristic(tolerance) => Some(tolerance.get()),
            Within::Absolute(_) | Within::Price => None,
        };
        if let Some(met) = tolerance.and_then(|tolerance| within(value, half, tolerance)) {
            return Next::Stop(met);
        }
        if look.asked >= self.last.0 {
            return Next::Stop(self.end(look, self.last.1));
        }
        // Where the goal would be met if the truth were as large as it can be, or the next look.
        let next = self.schedule.after(look.asked, self.last.0);
        let reachable = tolerance.map_or(next, |tolerance| {
            let largest = value.abs() + half;
            self.price(tolerance * largest, self.spend(look.number + 1))
        });
        Next::Look(next.max(reachable).min(self.last.0))
    }

    fn end(&self, look: Look<Epsilon>, ending: Ending) -> Estimate {
        let half = self.half_width(look.price, self.look_alpha(look));
        around(double(look.value.get()), half, ending)
    }
}
