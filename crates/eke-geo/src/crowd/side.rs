//! A plan for a crowd, asked of one count instead: on which side of a line it is, in the central
//! model. The looks are walked by [`eke_noise::stopping::which_side`].

use eke_budget::{Amount, L2, Rho};
use eke_noise::stopping::{SideQuestion, SideStop};

use crate::crowd::plan::{Plan, PlanError, Rule};
use crate::width::{normal_width, two_sided_width};

impl Plan {
    /// The question on which side of a line a count is, in steps, with the looks and the doubt of
    /// this plan.
    ///
    /// - Theorem: curtailment (docs/theorems.md)
    /// - Proves: all looks together exceed the deviations with a probability of at most beta
    /// - Assumes: noise is normal (path)
    /// - Deviates: nothing
    /// - Checked by: `a_threshold_is_answered_as_for_the_whole_price_and_costs_less`,
    ///   `what_is_clear_is_so`
    ///
    /// # Errors
    /// There are no such rounds, or the price is too small for them.
    pub fn side(
        &self,
        sensitivity: L2,
        line: f64,
        price: Amount<Rho>,
    ) -> Result<SideQuestion, PlanError> {
        let steps = self.prices(price)?;
        let miss = self.beta.shared_by(steps.len());
        let stop = match self.rule {
            Rule::Once => SideStop::AtTheEnd,
            Rule::Paper => SideStop::WhenSure,
            Rule::Ours => SideStop::WhenSettled(normal_width(miss)),
        };
        Ok(SideQuestion { sensitivity, line, steps, sure: two_sided_width(miss), stop })
    }
}

#[cfg(test)]
mod tests {
    use eke_budget::{
        Account, Adjacency, BudgetSpec, L1, Metric, NoHistory, PathId, Rho as Parameter,
    };
    use eke_noise::stopping::{NoAnswer, which_side};
    use eke_noise::{AccountPayer, Exact, GaussianPath};

    use super::*;
    use crate::crowd::Split;
    use crate::width::Miss;
    use eke_testkit::Dice;

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

    /// Whether a count is below zero, for a price of 0.5.
    fn side(plan: &Plan, sensitivity: L2) -> SideQuestion {
        plan.side(sensitivity, 0.0, "0.5".parse().unwrap()).unwrap()
    }

    /// How often the answer is another than after the whole price of the same path, and the mean
    /// price; 1,000 counts that are one deviation of the end below the line, or three.
    fn changed(plan: &Plan, off: i64) -> (u32, f64) {
        let sensitivity = L2::new(1024.0).unwrap();
        let truth = Exact::new(-off * 1024, L1::new(1024.0).unwrap());
        // One deviation in the end is one household.
        let asked = side(plan, sensitivity);
        let (mut changed, mut sum) = (0, 0.0);
        for seed in 0..1000 {
            let (mut account, mut entropy) = (account(1.0), Dice(seed));
            let mut path = GaussianPath::open(PathId::new([1; 32]), sensitivity);
            let mut till = AccountPayer { account: &mut account, journal: &mut NoHistory };
            let said = which_side(&mut path, &truth, &asked, &mut till, &mut entropy).unwrap();
            sum += said.price.to_f64() / 1000.0;
            let once = side(&Plan { rule: Rule::Once, ..*plan }, sensitivity);
            let end = which_side(&mut path, &truth, &once, &mut till, &mut entropy).unwrap();
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
    /// where it is; of 1,000 counts, each `off` households below the line. On the line, neither
    /// side is right.
    fn said_clear(plan: &Plan, off: i64) -> (u32, u32) {
        let sensitivity = L2::new(1024.0).unwrap();
        let truth = Exact::new(-off * 1024, L1::new(1024.0).unwrap());
        let asked = side(plan, sensitivity);
        let (mut wrong, mut right) = (0, 0);
        for seed in 0..1000 {
            let (mut account, mut entropy) = (account(1.0), Dice(seed));
            let mut path = GaussianPath::open(PathId::new([1; 32]), sensitivity);
            let mut till = AccountPayer { account: &mut account, journal: &mut NoHistory };
            let said = which_side(&mut path, &truth, &asked, &mut till, &mut entropy).unwrap();
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
        let ours = side(&plan(Rule::Paper, 1e-9), sensitivity);
        let mut path = GaussianPath::open(PathId::new([1; 32]), sensitivity);
        let mut account = account(0.1);
        let mut till = AccountPayer { account: &mut account, journal: &mut NoHistory };
        let said = which_side(&mut path, &truth, &ours, &mut till, &mut Dice(1)).unwrap();
        assert!(!said.clear && said.price.to_f64() <= 0.1 && said.looks == 12, "{said:?}");
        // Then there is nothing left for another path.
        let mut other = GaussianPath::open(PathId::new([2; 32]), sensitivity);
        let refused = which_side(&mut other, &truth, &ours, &mut till, &mut Dice(2));
        assert!(matches!(refused, Err(NoAnswer::Refused(_))));
    }
}
