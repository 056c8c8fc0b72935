//! What somebody is promised who is in several periods, where a person in one period is a unit.

use eke_budget::{Budget, BudgetSpec, Delta, Epsilon, Rho};
use eke_sql::{PeriodLength, ZoneOffset};
use serde::Serialize;

use crate::report::Promised;

/// For how many periods the promise is worked out where it is shown.
pub const SHOWN_PERIODS: u32 = 12;

/// What somebody is promised who is in several periods.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OverPeriods {
    /// How long a period is.
    pub every: String,
    /// Where its days begin.
    pub zone: String,
    /// In how many periods they are.
    pub periods: u32,
    /// What all answers together tell about them at most: the unit's rho times the square of that
    /// number.
    pub rho: f64,
    /// The same as an epsilon, at the delta that the unit's own conversion has; none if the budget
    /// states no delta. Keys that are selected privately are hidden for one period at a time, and
    /// are not in it.
    pub promise: Option<Promised>,
}

impl OverPeriods {
    /// What a budget for a person in one period promises a person in several.
    ///
    /// - Theorem: group-privacy (docs/theorems.md)
    /// - Proves: rho-zCDP for one unit more or less is M² rho-zCDP for M of them; epsilon is M
    ///   epsilon
    /// - Assumes: no delta of mechanisms is used (what they use is said to be left out)
    /// - Deviates: rounded up
    /// - Checked by: `somebody_in_several_periods_is_promised_the_square`
    pub(crate) fn of(
        budget: &Budget,
        (every, zone): (PeriodLength, ZoneOffset),
        periods: u32,
    ) -> Option<Self> {
        let limits = budget.zcdp()?;
        let times = f64::from(periods);
        let rho = (limits.budget.to_f64() * times * times).next_up();
        let promise = Self::promise(budget, rho, times);
        let (every, zone) = (every.to_string(), zone.to_string());
        Some(Self { every, zone, periods, rho, promise })
    }

    fn promise(budget: &Budget, rho: f64, times: f64) -> Option<Promised> {
        let delta = budget.promise()?.delta?;
        let kept = [budget.zcdp().map(|limits| limits.delta), budget.pure().map(|pure| pure.delta)];
        let kept: f64 = kept.into_iter().flatten().map(|delta| delta.to_f64()).sum();
        // The part of delta that rho is converted with, and no delta besides.
        let left = Delta::new((delta.get() - kept).next_down()).ok()?;
        let least = Delta::new(left.get() * 1e-6).ok()?;
        let spec = BudgetSpec::zcdp(Rho::new(rho).ok()?).with_delta(left).with_zcdp_delta(least);
        let spec = match budget.pure() {
            None => spec,
            Some(pure) => {
                spec.with_pure(Epsilon::new((pure.budget.to_f64() * times).next_up()).ok()?)
            }
        };
        Promised::by(&spec.resolve(budget.metric()).ok()?)
    }

    /// In words, for people.
    #[must_use]
    pub fn sentence(&self, unit: &str) -> String {
        let Self { every, zone, periods, rho, promise } = self;
        let worth = |value: f64| format!("{value:.3}");
        let promise = promise.map_or_else(String::new, |promise| {
            let delta = promise.delta.unwrap_or_default();
            format!("epsilon {} at delta {delta:.1e}, ", worth(promise.epsilon))
        });
        format!(
            "a {unit} is one person in one {every} ({zone}): of somebody in M {every}s, M x M times the rho may be told; in {periods} {every}s {promise}rho {}, and keys that are selected privately are hidden for one {every} at a time",
            worth(*rho)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eke_budget::{Adjacency, Metric};

    #[test]
    fn somebody_in_several_periods_is_promised_the_square() {
        let metric = Metric::Hamming(Adjacency::AddRemove);
        let [epsilon, delta] = [1.0, 1e-7];
        let spec = BudgetSpec::promising(Epsilon::new(epsilon).unwrap());
        let budget = spec.with_delta(Delta::new(delta).unwrap()).resolve(metric).unwrap();
        let month = (PeriodLength::Month, ZoneOffset::UTC);
        let one = OverPeriods::of(&budget, month, 1).unwrap();
        let rho = budget.zcdp().unwrap().budget.to_f64();
        assert!((one.rho / rho - 1.0).abs() < 1e-12);
        let promise = one.promise.unwrap();
        assert!((promise.epsilon - epsilon).abs() < 1e-4, "{promise:?}");
        assert!(promise.delta.unwrap() < 0.91 * delta);
        for periods in [2, 12, 365] {
            let many = OverPeriods::of(&budget, month, periods).unwrap();
            let square = f64::from(periods * periods);
            assert!((many.rho / rho / square - 1.0).abs() < 1e-12);
            // As a budget of that rho would be converted.
            let own = BudgetSpec::zcdp(Rho::new(rho * square).unwrap());
            let own = own.with_delta(Delta::new(0.9 * delta).unwrap());
            let own = own.with_zcdp_delta(Delta::new(1e-13).unwrap()).resolve(metric).unwrap();
            let expected = own.promise().unwrap().epsilon.get();
            let found = many.promise.unwrap().epsilon;
            assert!((found / expected - 1.0).abs() < 1e-4, "{periods}: {found} {expected}");
        }
        // A part that is pure grows with the number alone.
        let spec = spec.with_delta(Delta::new(delta).unwrap());
        let pure = spec.with_pure(Epsilon::new(0.25).unwrap()).resolve(metric).unwrap();
        let twelve = |budget: &Budget| OverPeriods::of(budget, month, 12).unwrap();
        let without = twelve(
            &BudgetSpec::zcdp(Rho::new(pure.zcdp().unwrap().budget.to_f64()).unwrap())
                .with_delta(Delta::new(delta).unwrap())
                .resolve(metric)
                .unwrap(),
        );
        let [with, without] = [twelve(&pure), without].map(|one| one.promise.unwrap().epsilon);
        assert!((with - without - 12.0 * 0.25).abs() < 1e-3, "{with} {without}");
    }
}
