//! Whether a count is below a line, in the central model: as few looks at the count as it takes.
//!
//! One path, walked until what has been released says on which side of the line the count is, or
//! the price is spent.

use eke_budget::{Amount, L2, Rho};
use eke_noise::path::MismatchReason;
use eke_noise::stopping::{NoAnswer, Payer};
use eke_noise::{Entropy, Exact, GaussianPath, NoisePath, reveal};

use crate::crowd::plan::{Plan, PlanError, Rule};
use crate::crowd::reports::rho;
use crate::width::{normal_width, two_sided_width};

/// Whether a count is below a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    /// Whether it seems to be.
    pub below: bool,
    /// Whether that is clear: the count itself is on this side of the line, but for the plan's
    /// probability of being wrong. Our rule also stops where this is not clear, but more looks
    /// would not say otherwise.
    pub clear: bool,
    /// What was released of the count last, in steps.
    pub value: i64,
    /// The standard deviation of its noise, in steps.
    pub deviation: f64,
    /// The price of the path where looking stopped.
    pub price: Amount<Rho>,
    /// How many looks it took.
    pub looks: u32,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ThresholdError<E> {
    /// Rounds that there are not.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A look could not be had.
    #[error(transparent)]
    Look(#[from] NoAnswer<E>),
}

/// A count held against a line.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// How many steps a person moves the count.
    pub sensitivity: L2,
    /// The line, in steps.
    pub at: f64,
    /// The highest price.
    pub price: Amount<Rho>,
}

/// Whether a count is below a line, at most for a price.
///
/// - Theorem: curtailment (docs/theorems.md)
/// - Proves: with our rule, it says other than it would have said for the whole price with a
///   probability of at most beta; and with any rule, it says that a wrong side is clear with a
///   probability of at most beta
/// - Assumes: each look is charged before it is drawn (payer)
/// - Deviates: noise is on a grid, and averages are rounded to it
/// - Checked by: `a_threshold_is_answered_as_for_the_whole_price_and_costs_less`,
///   `what_is_clear_is_so`
///
/// Where the budget ends on the way, what is known so far is the answer. What has been revealed of
/// the path before is free.
///
/// # Errors
/// Not even the first look fits, a look could not be paid for, the truth is not the path's, or
/// there are no such rounds.
pub fn threshold<Y: Payer<Rho>, E: Entropy + ?Sized>(
    path: &mut GaussianPath,
    truth: &Exact<i64>,
    line: &Line,
    plan: &Plan,
    payer: &mut Y,
    entropy: &mut E,
) -> Result<Threshold, ThresholdError<Y::Error>> {
    let prices = plan.prices(line.price)?;
    let rounds = prices.len();
    let variance = |price: Amount<Rho>| {
        let sensitivity = line.sensitivity.get();
        sensitivity * sensitivity / (2.0 * rho(price))
    };
    let end: Amount<Rho> = prices
        .iter()
        .try_fold(Amount::ZERO, |sum: Amount<Rho>, &price| sum.plus(price))
        .unwrap_or(line.price);
    let miss = plan.beta.shared_by(rounds);
    let (mut level, mut last) = (Amount::ZERO, None);
    for (round, price) in (1u32..).zip(prices) {
        level = level.plus(price).unwrap_or(Amount::MAX);
        // Nothing is gained from a point that is coarser than what is known.
        if level < path.finest() && level < end {
            continue;
        }
        // A path that an earlier question has left just below this gains nothing from so small a
        // step.
        let short = level.minus(path.finest()).unwrap_or(Amount::ZERO);
        let near = short < price && short.grains() < level.grains() / 1024;
        let at = if near { level.min(path.finest()) } else { level };
        let value = match reveal(path, truth, line.sensitivity, at, payer, entropy) {
            Ok(value) => value.get(),
            Err(NoAnswer::Refused(refusal)) => {
                return last.ok_or(ThresholdError::Look(NoAnswer::Refused(refusal)));
            }
            // A step too small to be drawn, from where an earlier question has left the path, is
            // not taken.
            Err(NoAnswer::Mismatch(MismatchReason::TooFine)) if last.is_some() => continue,
            Err(error) => return Err(error.into()),
        };
        let price = path.worth(path.nearest(at).unwrap_or(at));
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let off = value as f64 - line.at;
        let now = variance(price);
        let sure = two_sided_width(miss) * now.sqrt();
        // Ours asks what the end would say, which is known in the end; what the truth is may not
        // be.
        let width = match plan.rule {
            Rule::Once => f64::INFINITY,
            Rule::Paper => sure,
            Rule::Ours => normal_width(miss) * (now - variance(end.max(price))).max(0.0).sqrt(),
        };
        let looked = Threshold {
            below: off < 0.0,
            clear: off.abs() > sure,
            value,
            deviation: now.sqrt(),
            price,
            looks: round,
        };
        if off.abs() > width {
            return Ok(looked);
        }
        last = Some(looked);
    }
    last.ok_or(ThresholdError::Plan(PlanError::Small(line.price)))
}

#[cfg(test)]
mod tests {
    use eke_budget::{
        Account, Adjacency, BudgetSpec, L1, Metric, NoHistory, PathId, Rho as Parameter,
    };
    use eke_noise::AccountPayer;

    use super::*;
    use crate::crowd::Split;
    use crate::width::Miss;
    use eke_testkit::Dice as Seeded;

    fn account(rho: f64) -> Account {
        let budget = BudgetSpec::zcdp(Parameter::new(rho).unwrap())
            .resolve(Metric::Hamming(Adjacency::AddRemove))
            .unwrap();
        let Ok(account) = Account::open("people", budget, &mut NoHistory);
        account
    }

    fn plan(rule: Rule, beta: f64) -> Plan {
        let split = if rule == Rule::Ours { Plan::default().split } else { Split::Even(64) };
        Plan { rule, split, beta: Miss::new(beta).unwrap(), ..Plan::default() }
    }

    /// How often the answer is another than after the whole price of the same path, and the mean
    /// price; 1,000 counts that are one deviation of the end below the line, or three.
    fn changed(plan: &Plan, off: i64) -> (u32, f64) {
        let sensitivity = L2::new(1024.0).unwrap();
        let truth = Exact::new(-off * 1024, L1::new(1024.0).unwrap());
        // One deviation in the end is one household.
        let line = Line { sensitivity, at: 0.0, price: "0.5".parse().unwrap() };
        let (mut changed, mut sum) = (0, 0.0);
        for seed in 0..1000 {
            let (mut account, mut entropy) = (account(1.0), Seeded(seed));
            let mut path = GaussianPath::open(PathId::new([1; 32]), sensitivity);
            let mut till = AccountPayer { account: &mut account, journal: &mut NoHistory };
            let said = threshold(&mut path, &truth, &line, plan, &mut till, &mut entropy).unwrap();
            sum += said.price.to_f64() / 1000.0;
            let once = Plan { rule: Rule::Once, ..*plan };
            let end = threshold(&mut path, &truth, &line, &once, &mut till, &mut entropy).unwrap();
            assert!(end.price.to_f64() > 0.4999, "{}", end.price);
            changed += u32::from(said.below != end.below);
        }
        (changed, sum)
    }

    /// At most one in twenty is claimed, 50 of 1,000: above 90 has a probability below 1e-7. Asked
    /// for one in two, more than that are.
    #[test]
    fn a_threshold_is_answered_as_for_the_whole_price_and_costs_less() {
        for off in [1, 3] {
            let (few, ours) = changed(&plan(Rule::Ours, 0.05), off);
            let (_, paper) = changed(&plan(Rule::Paper, 0.05), off);
            assert!(few <= 90, "{few}");
            assert!(ours < 0.9 * paper, "{ours} {paper}");
        }
        // Ten rounds share the doubt, so that the bound is nearly met.
        let wrong = Plan { split: Split::Doubling(10), ..plan(Rule::Ours, 0.5) };
        let (many, _) = changed(&wrong, 1);
        assert!(many > 90, "the control: {many}");
    }

    /// How often it is said to be clear that a count is on a side where it is not, and that it is
    /// where it is; of 1,000 counts so many households below the line. On the line, neither side is
    /// right.
    fn said_clear(plan: &Plan, off: i64) -> (u32, u32) {
        let sensitivity = L2::new(1024.0).unwrap();
        let truth = Exact::new(-off * 1024, L1::new(1024.0).unwrap());
        let line = Line { sensitivity, at: 0.0, price: "0.5".parse().unwrap() };
        let (mut wrong, mut right) = (0, 0);
        for seed in 0..1000 {
            let (mut account, mut entropy) = (account(1.0), Seeded(seed));
            let mut path = GaussianPath::open(PathId::new([1; 32]), sensitivity);
            let mut till = AccountPayer { account: &mut account, journal: &mut NoHistory };
            let said = threshold(&mut path, &truth, &line, plan, &mut till, &mut entropy).unwrap();
            wrong += u32::from(said.clear && (off == 0 || !said.below));
            right += u32::from(said.clear && off > 0 && said.below);
        }
        (wrong, right)
    }

    /// At and near the line, a wrong side is clear in at most 50 of 1,000: above 90 has a
    /// probability below 1e-7. Far from it, the right side is always clear. The control is to take
    /// every end of looking for clear, where all 1,000 on the line are wrong.
    #[test]
    fn what_is_clear_is_so() {
        for rule in [Rule::Ours, Rule::Paper, Rule::Once] {
            for off in [0, 1, 2] {
                let (wrong, _) = said_clear(&plan(rule, 0.05), off);
                assert!(wrong <= 90, "{rule:?} {off}: {wrong}");
            }
            let (wrong, right) = said_clear(&plan(rule, 0.05), 1000);
            assert!(wrong == 0 && right == 1000, "{rule:?}: {wrong} {right}");
        }
    }

    #[test]
    fn a_budget_that_ends_on_the_way_ends_the_looks() {
        let sensitivity = L2::new(1024.0).unwrap();
        let truth = Exact::new(0, L1::new(1024.0).unwrap());
        let line = Line { sensitivity, at: 0.0, price: "0.5".parse().unwrap() };
        let ours = plan(Rule::Paper, 1e-9);
        let mut path = GaussianPath::open(PathId::new([1; 32]), sensitivity);
        let mut account = account(0.1);
        let mut till = AccountPayer { account: &mut account, journal: &mut NoHistory };
        let said = threshold(&mut path, &truth, &line, &ours, &mut till, &mut Seeded(1)).unwrap();
        assert!(!said.clear && said.price.to_f64() <= 0.1 && said.looks == 12, "{said:?}");
        // Then there is nothing left for another path.
        let mut other = GaussianPath::open(PathId::new([2; 32]), sensitivity);
        let refused = threshold(&mut other, &truth, &line, &ours, &mut till, &mut Seeded(2));
        assert!(matches!(refused, Err(ThresholdError::Look(NoAnswer::Refused(_)))));
    }
}
