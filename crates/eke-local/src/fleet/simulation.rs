//! A collection from beginning to end, on made-up people: a plan, a fleet that answers, tallies,
//! estimates.
//!
//! It shows what reports are worth before anybody is asked. How many hold what is made up and
//! public, so nobody is protected here; the reports are drawn as devices draw them.

use eke_budget::account::{Sheet, SheetError, Who};
use eke_budget::{Amount, Epsilon};
use eke_noise::local::Categories;
use eke_noise::{Confidence, Entropy};

use crate::device::{Currency, RequestError};
use crate::estimate::{Over, TallyError};
use crate::fleet::FleetError;
use crate::plan::PlanError;
use crate::{Component, Estimates, Fleet, Law, Mechanism, Method, Plan, Request, Tally};

/// What to simulate.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulation {
    /// How many categories there are.
    pub categories: u32,
    /// What each tier may see.
    pub tiers: Vec<Amount<Epsilon>>,
    /// How reports are chosen.
    pub method: Method,
    /// How many people there are.
    pub users: u32,
    /// How uneven categories are: category i has a share proportional to `1/(i + 1)^skew`.
    pub skew: f64,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Simulated {
    /// How many people hold each category.
    pub truth: Vec<u64>,
    /// What each tier found, in the order they were given.
    pub tiers: Vec<SimulatedTier>,
    /// What everybody has spent.
    pub spent: Amount<Epsilon>,
}

/// What a tier found.
#[derive(Clone, Debug)]
pub struct SimulatedTier {
    /// What it may see.
    pub epsilon: Amount<Epsilon>,
    /// What its reports cost.
    pub level: Amount<Epsilon>,
    /// Its estimates.
    pub estimates: Estimates,
    /// How far they are off, as the root of the mean square over categories.
    pub error: f64,
    /// How far they were expected to be off.
    pub expected: f64,
    /// For how many categories the interval of that category alone holds the truth.
    pub held: u32,
}

/// Why a simulation could not be run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SimulationError {
    /// Nobody to ask, or too many.
    #[error("a simulation has 1 to {MOST_USERS} users, not {0}")]
    Users(u32),
    /// An unevenness that there is not.
    #[error("the skew is from 0 (all categories alike) to 10, not {0}")]
    Skew(f64),
    /// More than memory is likely to hold.
    #[error(
        "the reports of so many users over so many categories and tiers do not fit into a gigabyte: \
         simulate fewer users, categories or tiers"
    )]
    TooLarge,
    /// The tiers cannot be planned for.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// No device would answer.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// The fleet did not answer.
    #[error(transparent)]
    Fleet(#[from] FleetError),
    /// The accounts could not be made.
    #[error(transparent)]
    Sheet(#[from] SheetError),
    /// A report was not one.
    #[error(transparent)]
    Tally(#[from] TallyError),
}

/// The most users of a simulation.
pub const MOST_USERS: u32 = 10_000_000;

/// The most words that all reports together may take: a gigabyte.
const MOST: u64 = 1 << 27;

impl Simulation {
    /// Runs it. Intervals have this confidence. `progress` gets the number of tiers that are done,
    /// and of all tiers.
    ///
    /// # Errors
    /// Something of it is out of range.
    pub fn run<E: Entropy + ?Sized>(
        &self,
        confidence: Confidence,
        progress: &dyn Fn(usize, usize),
        entropy: &mut E,
    ) -> Result<Simulated, SimulationError> {
        if !(1..=MOST_USERS).contains(&self.users) {
            return Err(SimulationError::Users(self.users));
        }
        if !(0.0..=10.0).contains(&self.skew) {
            return Err(SimulationError::Skew(self.skew));
        }
        let plan = Plan::new(self.categories, &self.tiers, self.method)?;
        let mechanism = Mechanism::from(&plan);
        let chain = mechanism.chain().map_err(RequestError::from)?;
        let row = u64::try_from(chain.words() * (chain.reports() + 1)).unwrap_or(u64::MAX);
        if row.saturating_mul(u64::from(self.users)) > MOST {
            return Err(SimulationError::TooLarge);
        }
        let truth = shares(self.categories, self.users, self.skew);
        let values = (0..).zip(&truth).flat_map(|(category, &users)| {
            std::iter::repeat_n(category, usize::try_from(users).unwrap_or(0))
        });
        let users = usize::try_from(self.users).unwrap_or(usize::MAX);
        let mut fleet = Fleet::<Epsilon>::new(Sheet::same(chain.price(), users)?);
        let categories = Categories::new(self.categories).map_err(PlanError::from)?;
        let component = Component { name: "answer".to_owned(), categories, otherwise: 0 };
        fleet.hold(component, values.collect())?;
        let mut tiers = Vec::with_capacity(self.tiers.len());
        for (index, tier) in plan.tiers().iter().enumerate() {
            let report = plan.place(index).unwrap_or(0);
            let price = Currency::Pure.price(&chain, report).map_err(RequestError::from)?;
            let request = Request {
                question: "simulated".to_owned(),
                component: "answer".to_owned(),
                step: 0,
                mechanism: mechanism.clone(),
                report,
                price,
            };
            let replies = fleet.answer(&request, Who::Everyone, entropy)?;
            let law = Law::new(self.categories, tier.law).map_err(PlanError::from)?;
            let mut tally = Tally::new(law);
            tally.add(&replies.reports)?;
            let estimates = tally.estimates();
            tiers.push(found(tier, estimates, &truth, self.users, confidence));
            progress(index + 1, self.tiers.len());
        }
        let spent = fleet.sheet().spent().iter().copied().max().unwrap_or(Amount::ZERO);
        Ok(Simulated { truth, tiers, spent })
    }
}

fn found(
    tier: &crate::Tier,
    estimates: Estimates,
    truth: &[u64],
    users: u32,
    confidence: Confidence,
) -> SimulatedTier {
    let off = |(estimate, &truth): (f64, &u64)| (estimate - truth as f64).powi(2);
    let squares: f64 = estimates.all_users().into_iter().zip(truth).map(off).sum();
    let held = (0u32..).zip(truth).filter(|&(category, users)| {
        let interval = estimates.interval(category, confidence, Over::Each);
        interval.is_some_and(|interval| (interval.low..=interval.high).contains(users))
    });
    let categories = truth.len() as f64;
    let held = u32::try_from(held.count()).unwrap_or(u32::MAX);
    SimulatedTier {
        epsilon: tier.epsilon,
        level: tier.law.epsilon(),
        error: (squares / categories).sqrt(),
        expected: (tier.variance * f64::from(users) / categories).sqrt(),
        held,
        estimates,
    }
}

/// The given number of users over categories, in proportion to `1/(i + 1)^skew`, rounded so that
/// they add up.
fn shares(categories: u32, users: u32, skew: f64) -> Vec<u64> {
    let weights: Vec<f64> =
        (1..=categories).map(|rank| libm::pow(f64::from(rank), -skew)).collect();
    let total: f64 = weights.iter().sum();
    let (mut sum, mut before) = (0.0, 0u64);
    weights
        .iter()
        .map(|weight| {
            sum += weight;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "users")]
            let upto = ((sum / total * f64::from(users)).round() as u64).min(u64::from(users));
            let own = upto.saturating_sub(before);
            before = before.max(upto);
            own
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_holds_one_category() {
        for (categories, users, skew) in
            [(3, 1, 1.0), (128, 100_000, 1.1), (10, 7, 0.0), (5, 99, 10.0)]
        {
            let shares = shares(categories, users, skew);
            assert_eq!(shares.len(), categories as usize);
            assert_eq!(shares.iter().sum::<u64>(), u64::from(users), "{categories} {users} {skew}");
        }
    }
}
