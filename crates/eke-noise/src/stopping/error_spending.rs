//! When to stop on a path whose looks have intervals of their own: the error is spent over them,
//! `6 alpha/(pi² k²)` for the k-th. The rules of geometric and Laplace paths are this one, each with the
//! tail of its noise.

use eke_budget::{Amount, Epsilon, L1};

use crate::stopping::follow::{Ending, Estimate, Look, Next, Rule, WIDEST, around, double, within};
use crate::stopping::goal::{Goal, Within};
use crate::stopping::schedule::Schedule;

/// How far noise goes, in whole numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tail {
    /// Two-sided geometric noise is beyond h with probability `2 p^(h+1)/(1+p)`, `p = exp(-rate)`.
    Geometric,
    /// Laplace noise, to the nearest whole number, is beyond h with probability `exp(-rate (h + 1/2))`.
    Laplace,
}

impl Tail {
    /// The least whole number that noise of this rate exceeds with probability alpha at most.
    fn half_width(self, rate: f64, alpha: f64) -> f64 {
        let half = match self {
            Self::Geometric => {
                let power = libm::exp(-rate);
                (libm::log((1.0 + power) * alpha / 2.0) / -rate).ceil() - 1.0
            }
            Self::Laplace => (libm::log(alpha) / -rate - 0.5).ceil(),
        };
        half.max(0.0)
    }

    /// A rate at which noise is within a half-width, but for alpha.
    fn rate(self, half_width: f64, alpha: f64) -> f64 {
        match self {
            Self::Geometric => libm::log(2.0 / alpha) / (half_width.floor() + 1.0),
            Self::Laplace => libm::log(1.0 / alpha) / (half_width.floor() + 0.5),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spending {
    goal: Goal<Epsilon>,
    schedule: Schedule<Epsilon>,
    sensitivity: f64,
    tail: Tail,
    last: (Amount<Epsilon>, Ending),
}

impl Spending {
    /// The rule of a goal, for a truth of this sensitivity with noise of this tail.
    pub(crate) fn new(
        goal: Goal<Epsilon>,
        schedule: Schedule<Epsilon>,
        sensitivity: L1,
        tail: Tail,
    ) -> Self {
        let mut rule = Self {
            goal,
            schedule,
            sensitivity: sensitivity.get(),
            tail,
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

    /// The least whole number that noise exceeds with probability alpha at most.
    fn half_width(&self, price: Amount<Epsilon>, alpha: f64) -> f64 {
        self.tail.half_width(price.to_f64() / self.sensitivity, alpha)
    }

    /// The price at which noise is within a half-width, but for alpha.
    fn price(&self, half_width: f64, alpha: f64) -> Amount<Epsilon> {
        Amount::ceil(self.tail.rate(half_width, alpha) * self.sensitivity).unwrap_or(Amount::MAX)
    }

    fn look_alpha(&self, look: Look<Epsilon>) -> f64 {
        match self.goal.within {
            Within::Absolute(_) | Within::Price => self.alpha(),
            Within::Relative(_) | Within::Heuristic(_) => self.spend(look.number),
        }
    }
}

impl Rule for Spending {
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

    /// The tail summed, or in closed form: at the half-width it is within alpha, and one below it is not.
    #[test]
    fn half_widths_are_the_least_that_hold() {
        let beyond = |tail: Tail, rate: f64, half: f64| match tail {
            Tail::Geometric => {
                let p = libm::exp(-rate);
                2.0 * (1.0 - p) / (1.0 + p) * libm::exp(-rate * (half + 1.0)) / (1.0 - p)
            }
            Tail::Laplace => libm::exp(-rate * (half + 0.5)),
        };
        for tail in [Tail::Geometric, Tail::Laplace] {
            for rate in [1e-6, 0.013, 0.7, 2.0, 30.0] {
                for alpha in [0.5, 0.05, 1e-4] {
                    let half = tail.half_width(rate, alpha);
                    assert!(beyond(tail, rate, half) <= alpha * (1.0 + 1e-9), "{tail:?} {rate}");
                    let less = half < 0.5 || beyond(tail, rate, half - 1.0) > alpha;
                    assert!(less, "{tail:?} {rate} {alpha}");
                    // The rate that is planned for a half-width has it.
                    let planned = tail.rate(half + 0.4, alpha);
                    assert!(tail.half_width(planned * (1.0 + 1e-12), alpha) <= half);
                }
            }
        }
    }
}
