//! How many people are asked about their places: what of, in how many rounds, and who stops when.
//!
//! All of it is public and fixed before anybody is charged. An allowance is how far each person's
//! path may be followed for a question; a split cuts it into rounds, and every person walks the
//! same rounds.

use eke_budget::{Amount, Rho};

use crate::width::Miss;

/// What noise is added to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The point: a later question about the same places goes on from what has been seen of it.
    Point,
    /// One number that the question is about, a distance: less noise in many dimensions, and of no
    /// use afterwards.
    Distance,
}

/// How an allowance is cut into rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Split {
    /// This number of equal rounds.
    Even(u32),
    /// This number of rounds, each twice the one before.
    Doubling(u32),
    /// This number of rounds, after each of which about `ratio` times as much has been spent as
    /// before it. Rounds between two doublings are equal, so that few laws of noise have to be
    /// prepared.
    Geometric {
        /// How many.
        rounds: u32,
        /// More than one, and at most two.
        ratio: f64,
    },
}

/// Who stops when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Nobody: the whole allowance is spent in one round (the paper's baselines).
    Once,
    /// People whose side is decided beyond doubt, with a share of the doubt for every person and
    /// round (the paper's elimination).
    Paper,
    /// People who would hardly change the answer by going on.
    Ours,
}

/// How people are asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// What noise is added to.
    pub way: Way,
    /// How an allowance is cut into rounds.
    pub split: Split,
    /// Who stops when.
    pub rule: Rule,
    /// How probable it may be that eliminating people changes what the answer is about.
    pub beta: Miss,
}

impl Default for Plan {
    /// Our rule on distances, in thirty rounds over ten doublings, and one before.
    fn default() -> Self {
        let split = Split::Geometric { rounds: 31, ratio: 1.26 };
        let beta = Miss::new(0.05).expect("a probability");
        Self { way: Way::Distance, split, rule: Rule::Ours, beta }
    }
}

/// How far each person's path may be followed for a question: the price of the finest point that is
/// looked at.
#[derive(Clone, Debug, PartialEq)]
pub enum Allowance {
    /// The same for everybody.
    Same(Amount<Rho>),
    /// Each their own. They are rounded down to five binary digits, so that few laws of noise have
    /// to be prepared.
    Each(Vec<Amount<Rho>>),
}

/// Why people cannot be asked so.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// None, or too many.
    #[error("a plan has 1 to {most} rounds, not {0}", most = Split::MOST_ROUNDS)]
    Rounds(u32),
    /// Growing by nothing, or by too much.
    #[error("rounds grow by a ratio above 1 and of at most 2, not {0}")]
    Ratio(f64),
    /// An allowance of nothing.
    #[error("an allowance of {0} is too small to be cut into rounds: take more, or fewer rounds")]
    Small(Amount<Rho>),
}

impl Split {
    /// The most rounds there may be.
    pub const MOST_ROUNDS: u32 = 4096;
    /// The most doublings there may be.
    const MOST_DOUBLINGS: u32 = 60;

    /// How many rounds there are.
    #[must_use]
    pub fn rounds(self) -> u32 {
        match self {
            Self::Even(rounds) | Self::Doubling(rounds) | Self::Geometric { rounds, .. } => rounds,
        }
    }

    /// What each round costs, in the order of rounds: together no more than the allowance.
    ///
    /// # Errors
    /// There are no rounds or too many, or the allowance is too small for them.
    pub fn prices(self, allowance: Amount<Rho>) -> Result<Vec<Amount<Rho>>, PlanError> {
        let rounds = self.rounds();
        let doubling = matches!(self, Self::Doubling(_));
        let most = if doubling { Self::MOST_DOUBLINGS } else { Self::MOST_ROUNDS };
        if !(1..=most).contains(&rounds) {
            return Err(PlanError::Rounds(rounds));
        }
        let grains = allowance.grains();
        let prices: Vec<u128> = match self {
            Self::Even(_) => vec![grains / u128::from(rounds); rounds as usize],
            Self::Doubling(_) => {
                let unit = grains / ((1 << rounds) - 1);
                (0..rounds).map(|round| unit << round).collect()
            }
            Self::Geometric { ratio, .. } => {
                if !(ratio > 1.0 && ratio <= 2.0) {
                    return Err(PlanError::Ratio(ratio));
                }
                let each = std::f64::consts::LN_2 / libm::log(ratio);
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "at least one, and saturates"
                )]
                let each = (each.round() as u32).min(rounds);
                let doublings = (rounds - 1) / each;
                if doublings > Self::MOST_DOUBLINGS {
                    return Err(PlanError::Rounds(rounds));
                }
                // What does not fill a doubling is taken to begin with.
                let first = rounds - doublings * each;
                let half = |times: u32| grains >> times;
                let mut prices = vec![half(doublings) / u128::from(first); first as usize];
                for times in (1..=doublings).rev() {
                    prices.extend(vec![half(times) / u128::from(each); each as usize]);
                }
                prices
            }
        };
        if prices.contains(&0) {
            return Err(PlanError::Small(allowance));
        }
        Ok(prices.into_iter().map(Amount::from_grains).collect())
    }
}

impl Plan {
    /// What each round costs.
    pub(crate) fn prices(&self, allowance: Amount<Rho>) -> Result<Vec<Amount<Rho>>, PlanError> {
        match self.rule {
            Rule::Once if allowance.is_zero() => Err(PlanError::Small(allowance)),
            Rule::Once => Ok(vec![allowance]),
            Rule::Paper | Rule::Ours => self.split.prices(allowance),
        }
    }
}

impl Allowance {
    /// How many people it is for; none if for any number.
    #[must_use]
    pub fn people(&self) -> Option<usize> {
        match self {
            Self::Same(_) => None,
            Self::Each(each) => Some(each.len()),
        }
    }

    /// That of a person, as it is used.
    #[must_use]
    pub fn of(&self, person: usize) -> Amount<Rho> {
        match self {
            Self::Same(amount) => *amount,
            Self::Each(each) => each.get(person).copied().map_or(Amount::ZERO, on_ladder),
        }
    }
}

/// An amount rounded down to five binary digits.
fn on_ladder(amount: Amount<Rho>) -> Amount<Rho> {
    let grains = amount.grains();
    let drop = (u128::BITS - grains.leading_zeros()).saturating_sub(5);
    Amount::from_grains(grains >> drop << drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sum(prices: &[Amount<Rho>]) -> u128 {
        prices.iter().map(|price| price.grains()).sum()
    }

    #[test]
    fn rounds_are_cut_as_they_are_named() {
        let one = Amount::ONE;
        let even = Split::Even(4).prices(one).unwrap();
        assert_eq!(even, vec![Amount::parse_up("0.25").unwrap(); 4]);
        let doubling = Split::Doubling(10).prices(one).unwrap();
        assert!(doubling.windows(2).all(|pair| pair[1].grains() == 2 * pair[0].grains()));
        let geometric = Split::Geometric { rounds: 61, ratio: 1.1225 }.prices(one).unwrap();
        assert_eq!(geometric.len(), 61);
        assert_eq!(geometric[0].grains(), Amount::<Rho>::ONE.grains() >> 10);
        let laws: std::collections::BTreeSet<u128> = geometric.iter().map(|p| p.grains()).collect();
        assert!(laws.len() <= 11);
    }

    #[test]
    fn what_cannot_be_cut_is_refused() {
        assert_eq!(Split::Even(0).prices(Amount::ONE), Err(PlanError::Rounds(0)));
        assert_eq!(Split::Doubling(61).prices(Amount::ONE), Err(PlanError::Rounds(61)));
        let flat = Split::Geometric { rounds: 9, ratio: 1.0 };
        assert_eq!(flat.prices(Amount::ONE), Err(PlanError::Ratio(1.0)));
        assert_eq!(Split::Even(2).prices(Amount::GRAIN), Err(PlanError::Small(Amount::GRAIN)));
    }

    proptest! {
        #[test]
        fn rounds_never_cost_more_than_the_allowance_and_hardly_less(
            grains in 1u128 << 80..1 << 100,
            rounds in 1u32..60,
            ratio in 1.001f64..=2.0,
        ) {
            let allowance = Amount::from_grains(grains);
            for split in [Split::Even(rounds), Split::Doubling(rounds), Split::Geometric { rounds, ratio }] {
                let prices = split.prices(allowance).unwrap();
                prop_assert_eq!(prices.len(), rounds as usize);
                let total = sum(&prices);
                prop_assert!(total <= grains && total >= grains - (grains >> 18), "{split:?} {total} {grains}");
            }
            let on = on_ladder(allowance).grains();
            prop_assert!(on <= grains && on >= grains - (grains >> 4));
        }
    }
}
