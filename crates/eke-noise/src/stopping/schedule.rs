//! When to look at a path on the way.

use eke_budget::{Amount, Price};

/// The prices of the points at which to look, from a first one up to a highest that the goal gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule<C: Price> {
    first: Amount<C>,
    kind: Kind<C>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind<C: Price> {
    Geometric { ratio: f64 },
    Linear { step: Amount<C> },
    Points { count: u32 },
}

/// How many times as dear as the one before a look is, if nothing else is asked for.
const RATIO: f64 = 1.05;
/// How many points the accuracy-first experiments have between their lowest and their highest
/// price.
const PAPER: u32 = 1000;

impl<C: Price> Schedule<C> {
    /// Looks that are 5 % dearer each than the one before, from a price so low that it does not
    /// matter. What a goal cannot be met at is skipped, so few of them are taken.
    #[must_use]
    pub fn up_to(most: Amount<C>) -> Self {
        let first = Amount::from_grains((most.grains() >> 40).max(1));
        Self { first, kind: Kind::Geometric { ratio: RATIO } }
    }

    /// Each look costs `ratio` times as much as the one before; none unless the ratio is from 1.001
    /// to 1000 and the first price is not zero.
    #[must_use]
    pub fn geometric(first: Amount<C>, ratio: f64) -> Option<Self> {
        let fits = (1.001..=1000.0).contains(&ratio) && !first.is_zero();
        fits.then_some(Self { first, kind: Kind::Geometric { ratio } })
    }

    /// Each look twice as dear as the one before; none if the first price is zero.
    #[must_use]
    pub fn doubling(first: Amount<C>) -> Option<Self> {
        Self::geometric(first, 2.0)
    }

    /// Each look dearer than the one before by the same amount; none if it is zero.
    #[must_use]
    pub fn linear(step: Amount<C>) -> Option<Self> {
        (!step.is_zero()).then_some(Self { first: step, kind: Kind::Linear { step } })
    }

    /// The grid of the accuracy-first experiments (004, section 7): a thousand equally spaced
    /// prices from the first to the highest; none if the first is zero.
    #[must_use]
    pub fn paper(first: Amount<C>) -> Option<Self> {
        (!first.is_zero()).then_some(Self { first, kind: Kind::Points { count: PAPER } })
    }

    /// The first price.
    #[must_use]
    pub fn first(&self) -> Amount<C> {
        self.first
    }

    /// The next price after one, not above the highest; the highest again if there is none.
    #[must_use]
    pub fn after(&self, price: Amount<C>, most: Amount<C>) -> Amount<C> {
        let next = match self.kind {
            Kind::Geometric { ratio } => times(price, ratio),
            Kind::Linear { step } => price.plus(step).unwrap_or(most),
            Kind::Points { count } => {
                let apart =
                    most.grains().saturating_sub(self.first.grains()) / u128::from(count - 1);
                Amount::from_grains(price.grains().saturating_add(apart.max(1)))
            }
        };
        // Never less than a grain further, and to the end if what is left is a crumb: a step of its
        // own would need noise too wide to draw.
        let next = next.grains().max(price.grains().saturating_add(1));
        let crumb = (next - price.grains()) / 1000;
        if next.saturating_add(crumb) >= most.grains() { most } else { Amount::from_grains(next) }
    }

    /// The ratio of the looks' prices, if it is always the same.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        match self.kind {
            Kind::Geometric { ratio } => Some(ratio),
            Kind::Linear { .. } | Kind::Points { .. } => None,
        }
    }
}

/// A price times a ratio, rounded up.
pub(crate) fn times<C: Price>(price: Amount<C>, ratio: f64) -> Amount<C> {
    let grains = price.grains() as f64 * ratio;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    Amount::from_grains(grains.ceil() as u128)
}

#[cfg(test)]
mod tests {
    use super::*;
    use eke_budget::Rho;

    fn prices(schedule: Option<Schedule<Rho>>, most: &str) -> Vec<f64> {
        let (schedule, most) = (schedule.unwrap(), most.parse().unwrap());
        let mut prices = vec![schedule.first()];
        while *prices.last().unwrap() < most {
            prices.push(schedule.after(*prices.last().unwrap(), most));
        }
        prices.iter().map(|price| price.to_f64()).collect()
    }

    #[test]
    fn schedules_go_from_their_first_price_to_the_highest() {
        let at = |text: &str| text.parse::<Amount<Rho>>().unwrap();
        assert_eq!(prices(Schedule::doubling(at("1")), "10"), [1.0, 2.0, 4.0, 8.0, 10.0]);
        assert_eq!(prices(Schedule::linear(at("3")), "10"), [3.0, 6.0, 9.0, 10.0]);
        let paper = prices(Schedule::paper(at("0.0001")), "1");
        assert_eq!((paper.len(), paper[0], *paper.last().unwrap()), (1000, 1e-4, 1.0));
        assert!((paper[500] - paper[499] - 0.9999 / 999.0).abs() < 1e-12);
        let fine = prices(Some(Schedule::up_to(at("1"))), "1");
        assert!(fine[0] < 1e-11 && (fine[7] / fine[6] - 1.05).abs() < 1e-6 && fine.len() < 600);
        assert!(
            Schedule::geometric(at("1"), 1.0).is_none()
                && Schedule::<Rho>::paper(Amount::ZERO).is_none()
        );
        assert!(Schedule::<Rho>::linear(Amount::ZERO).is_none());
        // Where a ratio would not move a price by a grain, it moves by one.
        assert_eq!(
            Schedule::doubling(Amount::<Rho>::GRAIN).unwrap().after(Amount::ZERO, at("1")),
            Amount::GRAIN
        );
    }
}
