//! When to stop on a path that is priced in pure epsilon: every look has an interval of its own,
//! and the error is spent over them, `6 alpha/(pi² k²)` for the k-th. The rules of geometric and
//! Laplace paths are one rule, each with the tail of its noise.

use std::fmt;
use std::marker::PhantomData;

use eke_budget::{Amount, Epsilon, L1};

use crate::stopping::follow::{Ending, Estimate, Look, Next, Rule, WIDEST, around, double, within};
use crate::stopping::goal::{Goal, Within};
use crate::stopping::schedule::Schedule;

/// When to stop on a path of noise with this tail.
///
/// - Theorem: spending (docs/theorems.md)
/// - Proves: with the confidence, the truth is in the intervals of all looks at once
/// - Assumes: noise at a look has its law, whenever the look is (path)
/// - Deviates: half-widths are rounded up to whole numbers
/// - Checked by: `geometric_goals_hold_for_every_truth`, `laplace_goals_hold_for_every_truth`,
///   `half_widths_are_the_least_that_hold`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PureRule<N: Tail> {
    goal: Goal<Epsilon>,
    schedule: Schedule<Epsilon>,
    sensitivity: f64,
    last: (Amount<Epsilon>, Ending),
    tail: PhantomData<N>,
}

/// When to stop on a geometric path.
pub type GeometricRule = PureRule<GeometricTail>;

/// When to stop on a Laplace path, whose sensitivity is in steps.
pub type LaplaceRule = PureRule<LaplaceTail>;

/// How far noise goes, in whole numbers.
pub trait Tail: Copy + fmt::Debug + PartialEq + sealed::Sealed {
    /// The least whole number that noise of this rate exceeds with probability alpha at most; below
    /// zero where it hardly goes anywhere.
    fn half_width(rate: f64, alpha: f64) -> f64;

    /// A rate at which noise is within a half-width, but for alpha.
    fn rate(half_width: f64, alpha: f64) -> f64;
}

/// Two-sided geometric noise is beyond h with probability `2 p^(h+1)/(1+p)`, `p = exp(-rate)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GeometricTail {}

/// Laplace noise, to the nearest whole number, is beyond h with probability `exp(-rate (h + 1/2))`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LaplaceTail {}

impl Tail for GeometricTail {
    fn half_width(rate: f64, alpha: f64) -> f64 {
        let power = libm::exp(-rate);
        (libm::log((1.0 + power) * alpha / 2.0) / -rate).ceil() - 1.0
    }

    fn rate(half_width: f64, alpha: f64) -> f64 {
        libm::log(2.0 / alpha) / (half_width.floor() + 1.0)
    }
}

impl Tail for LaplaceTail {
    fn half_width(rate: f64, alpha: f64) -> f64 {
        (libm::log(alpha) / -rate - 0.5).ceil()
    }

    fn rate(half_width: f64, alpha: f64) -> f64 {
        libm::log(1.0 / alpha) / (half_width.floor() + 0.5)
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::GeometricTail {}
    impl Sealed for super::LaplaceTail {}
}

impl<N: Tail> PureRule<N> {
    /// The rule of a goal, for a truth of this sensitivity.
    #[must_use]
    pub fn new(goal: Goal<Epsilon>, schedule: Schedule<Epsilon>, sensitivity: L1) -> Self {
        let mut rule = Self {
            goal,
            schedule,
            sensitivity: sensitivity.get(),
            last: (goal.most, Ending::HighestPrice),
            tail: PhantomData,
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

    /// The least whole number that noise exceeds with probability alpha at most.
    fn half_width(&self, price: Amount<Epsilon>, alpha: f64) -> f64 {
        N::half_width(price.to_f64() / self.sensitivity, alpha).max(0.0)
    }

    /// The price at which noise is within a half-width, but for alpha.
    fn price(&self, half_width: f64, alpha: f64) -> Amount<Epsilon> {
        Amount::ceil(N::rate(half_width, alpha) * self.sensitivity).unwrap_or(Amount::MAX)
    }

    fn look_alpha(&self, look: Look<Epsilon>) -> f64 {
        match self.goal.within {
            Within::Absolute(_) | Within::Price => self.alpha(),
            Within::Relative(_) | Within::Heuristic(_) => self.spend(look.number),
        }
    }
}

impl<N: Tail> Rule for PureRule<N> {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The tail summed, or in closed form: at the half-width it is within alpha, and one below it
    /// is not.
    fn check<N: Tail>(beyond: impl Fn(f64, f64) -> f64) {
        for rate in [1e-6, 0.013, 0.7, 2.0, 30.0] {
            for alpha in [0.5, 0.05, 1e-4] {
                let half = N::half_width(rate, alpha).max(0.0);
                assert!(beyond(rate, half) <= alpha * (1.0 + 1e-9), "{rate}");
                let less = half < 0.5 || beyond(rate, half - 1.0) > alpha;
                assert!(less, "{rate} {alpha}");
                // The rate that is planned for a half-width has it.
                let planned = N::rate(half + 0.4, alpha);
                assert!(N::half_width(planned * (1.0 + 1e-12), alpha) <= half);
            }
        }
    }

    #[test]
    fn half_widths_are_the_least_that_hold() {
        check::<GeometricTail>(|rate, half| {
            let p = libm::exp(-rate);
            2.0 * (1.0 - p) / (1.0 + p) * libm::exp(-rate * (half + 1.0)) / (1.0 - p)
        });
        check::<LaplaceTail>(|rate, half| libm::exp(-rate * (half + 0.5)));
    }
}
