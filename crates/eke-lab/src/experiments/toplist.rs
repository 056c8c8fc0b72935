//! The largest counts, each within a relative error, for as long as a budget lasts.
//!
//! The experiment of Rogers, Samorodnitsky, Wu and Ramdas (section 7). Again and again the
//! exponential mechanism chooses the largest count that was not chosen before, and the count is
//! released with as much noise as its size allows. What a count costs is known only when it is good
//! enough; a count that is not good enough when the budget ends is not released. The question is
//! how many counts are released, and how many of them are as close as they should be.
//!
//! Every way here draws exact noise through eke's own paths and is charged to an account. The
//! paper's two ways keep its stopping rule, its looks and its conversion; ours have the rule whose
//! coverage is calibrated, and the second of them the tight conversion.

mod reddit;
mod reported;
mod zipf;

use std::error::Error;

use eke_budget::account::Purse;
use eke_budget::{Account, Amount, Budget, L1, L2, NoHistory, PathId, Rho};
use eke_noise::evidence::Scores;
use eke_noise::select::Moves;
use eke_noise::stopping::{Answer, Ending, GaussianRule, NoAnswer};
use eke_noise::{
    AccountPayer, Confidence, Entropy, Exact, GaussianPath, Goal, Ranking, Schedule, Tolerance,
    Within, refine_until, reveal,
};

pub(crate) use reddit::REDDIT;
pub(crate) use zipf::ZIPF;

/// What is asked.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    /// The relative error that is good enough.
    pub tolerance: f64,
    /// The zCDP price of choosing one count.
    pub choosing: Amount<Rho>,
    /// The zCDP price of the first look at a count.
    pub first: Amount<Rho>,
    /// The budget.
    pub budget: Budget,
}

/// A way to tell counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// One path a count, a thousand looks, and the paper's rule.
    Brownian,
    /// A fresh answer of twice the price until one is good enough by the paper's rule; all are paid
    /// for.
    Doubling,
    /// One path a count, looks 5 % apart, and the rule that is calibrated to 95 %.
    Calibrated,
}

/// What came of a budget.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Told {
    /// Counts that were released.
    pub results: usize,
    /// The share of them within the tolerance; 1 if there are none.
    pub precision: f64,
}

/// Steps of the grid in one: what counts are rounded to must not matter.
const GRID: i32 = 256;

impl Way {
    /// Spends a budget on counts.
    ///
    /// # Errors
    /// The task cannot be paid for in this way.
    pub(crate) fn spend<E: Entropy>(
        self,
        task: &Task,
        counts: &[u32],
        entropy: &mut E,
    ) -> Result<Told, Box<dyn Error>> {
        let Ok(mut account) = Account::open("lab", task.budget.clone(), &mut NoHistory);
        let scores = Scores(counts.iter().map(|&count| i64::from(count)).collect());
        let scores = Exact::new(scores, L1::new(1.0)?);
        let candidates = u32::try_from(counts.len())?;
        let mut ranking = Ranking::open(
            path_id(0),
            candidates,
            scores.sensitivity(),
            Moves::OneWay,
            task.choosing,
        )?;
        let (mut results, mut close) = (0usize, 0usize);
        for turn in 1..=candidates {
            let Some(to) = task.choosing.times(turn) else { break };
            let Ok(approved) = account.raise(ranking.id(), to, ranking.spread()) else { break };
            let receipt = account.commit(approved, &mut NoHistory)?;
            let picked = ranking.pick(&scores, receipt, entropy)?;
            let Some(&item) = picked.peek().first() else { break };
            let count = counts[usize::try_from(item)?];
            let Some(value) = self.tell(task, turn, count, &mut account, entropy)? else {
                continue;
            };
            results += 1;
            let off = (value / f64::from(count) - 1.0).abs();
            close += usize::from(off < task.tolerance);
        }
        let precision = if results == 0 { 1.0 } else { close as f64 / results as f64 };
        Ok(Told { results, precision })
    }

    /// One count, if it is good enough before the budget ends.
    fn tell<E: Entropy>(
        self,
        task: &Task,
        turn: u32,
        count: u32,
        account: &mut Account,
        entropy: &mut E,
    ) -> Result<Option<f64>, Box<dyn Error>> {
        let left = account.odometer().zcdp().map_or(Amount::ZERO, Purse::left);
        if left < task.first {
            return Ok(None);
        }
        let sensitivity = L2::new(f64::from(GRID))?;
        let truth = Exact::new(i64::from(count) * i64::from(GRID), L1::new(f64::from(GRID))?);
        let tolerance = Tolerance::new(task.tolerance)?;
        let within = match self {
            Self::Brownian | Self::Doubling => Within::Heuristic(tolerance),
            Self::Calibrated => Within::Relative(tolerance),
        };
        let goal = Goal { within, confidence: Confidence::new(0.95)?, floor: None, most: left };
        let mut payer = AccountPayer { account, journal: &mut NoHistory };
        let looks = match self {
            Self::Brownian => Schedule::paper(task.first),
            Self::Doubling => {
                return doubling(task, turn, &truth, sensitivity, &mut payer, entropy);
            }
            Self::Calibrated => Some(Schedule::up_to(left)),
        };
        let rule =
            GaussianRule::new(goal, looks.ok_or("the first look costs nothing")?, sensitivity);
        let rule = if self == Self::Calibrated { rule.thrifty() } else { rule };
        let mut path = GaussianPath::open(path_id(turn), sensitivity);
        match refine_until(&mut path, &truth, sensitivity, &rule, &mut payer, entropy) {
            Ok(Answer { estimate, .. }) if estimate.ending == Ending::Met => {
                Ok(Some(estimate.value / f64::from(GRID)))
            }
            Ok(_) | Err(NoAnswer::Refused(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// A fresh answer of twice the price until one is good enough.
fn doubling<E: Entropy>(
    task: &Task,
    turn: u32,
    truth: &Exact<i64>,
    sensitivity: L2,
    payer: &mut AccountPayer<'_, NoHistory>,
    entropy: &mut E,
) -> Result<Option<f64>, Box<dyn Error>> {
    let needed = (2.0 + task.tolerance) / task.tolerance;
    let mut price = task.first;
    for attempt in 0..64u32 {
        let mut path = GaussianPath::open(path_id(turn + (attempt << 20)), sensitivity);
        let value = match reveal(&mut path, truth, sensitivity, price, payer, entropy) {
            Ok(value) => value.get(),
            Err(NoAnswer::Refused(_)) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let value = value as f64 / f64::from(GRID);
        // The deviation of the answer is one over this.
        if value * (2.0 * price.to_f64()).sqrt() >= needed {
            return Ok(Some(value));
        }
        price = price.times(2).ok_or("a price beyond all budgets")?;
    }
    Ok(None)
}

fn path_id(number: u32) -> PathId {
    let mut bytes = [0; 32];
    bytes[..4].copy_from_slice(&number.to_le_bytes());
    PathId::new(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use eke_budget::{Adjacency, BudgetSpec, Metric};
    use eke_testkit::Seeded;

    fn task(rho: f64) -> Task {
        let metric = Metric::Hamming(Adjacency::AddRemove);
        Task {
            tolerance: 0.1,
            choosing: "0.00125".parse().unwrap(),
            first: "0.00005".parse().unwrap(),
            budget: BudgetSpec::zcdp(Rho::new(rho).unwrap()).resolve(metric).unwrap(),
        }
    }

    /// Counts so large that the first look is good enough: only choosing and first looks are paid
    /// for.
    #[test]
    fn large_counts_cost_a_choice_and_a_look_each() {
        let counts: Vec<u32> = (0..300).map(|n| 10_000_000 - 30_000 * n).collect();
        for way in [Way::Brownian, Way::Doubling] {
            let told = way.spend(&task(0.5), &counts, &mut Seeded::new(1)).unwrap();
            assert_eq!(told.results, 300, "{way:?}");
            assert!((told.precision - 1.0).abs() < 1e-12);
        }
        // 0.5 over 0.0013 is 384: 0.13 is good for a hundred.
        let less = task(0.13);
        assert_eq!(Way::Doubling.spend(&less, &counts, &mut Seeded::new(1)).unwrap().results, 100);
        let told = Way::Calibrated.spend(&less, &counts, &mut Seeded::new(1)).unwrap();
        assert!((100..=104).contains(&told.results), "{told:?}");
    }

    #[test]
    fn counts_too_small_for_the_budget_are_not_told() {
        for way in [Way::Brownian, Way::Doubling, Way::Calibrated] {
            let told = way.spend(&task(0.01), &[3, 2, 1], &mut Seeded::new(2)).unwrap();
            assert_eq!(told, Told { results: 0, precision: 1.0 }, "{way:?}");
        }
    }
}
