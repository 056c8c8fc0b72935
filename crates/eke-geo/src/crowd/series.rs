//! Many questions to the same people: how much of what is left each question may use.
//!
//! Allowances depend on accounts, and what accounts have spent depends on released values alone.

use eke_budget::account::Sheet;
use eke_budget::{Amount, Rho};

use crate::crowd::plan::Allowance;
use crate::crowd::reports::rho;
use crate::crowd::walk::Spending;

/// How what was saved is carried over to later questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carry {
    /// An equal share, and of what was saved so far three quarters at once, more and more towards
    /// the end (the paper's).
    Linear,
    /// What is left, divided by how many questions are left.
    Even,
    /// What is left, divided by how many questions it would pay for if later ones saved as much as
    /// those before: people who hardly ever matter may be asked in more detail at once.
    Ours,
}

/// A number of questions, known beforehand, that share everybody's accounts.
#[derive(Clone, Debug)]
pub struct Series {
    carry: Carry,
    questions: u32,
    asked: u32,
    /// What each person had to begin with.
    budgets: Vec<Amount<Rho>>,
    /// What part of its allowances each person has spent: sums of parts.
    parts: Vec<f64>,
}

impl Series {
    /// A number of questions, at least one, with what is left of everybody's account.
    #[must_use]
    pub fn new(carry: Carry, questions: u32, accounts: &Sheet<Rho>) -> Self {
        let left = |person| accounts.left(person).unwrap_or(Amount::ZERO);
        let budgets: Vec<Amount<Rho>> = (0..accounts.len()).map(left).collect();
        let parts = vec![0.0; budgets.len()];
        Self { carry, questions: questions.max(1), asked: 0, budgets, parts }
    }

    /// The allowances of the next question; none when all have been asked.
    ///
    /// - Theorem: carried-allowances (docs/theorems.md)
    /// - Proves: no allowance is more than what the account has left, so all of a series stay
    ///   within the accounts
    /// - Assumes: what the accounts have spent since is what the series has spent (caller)
    /// - Deviates: rounded down
    /// - Checked by: `allowances_stay_within_what_is_left`
    pub fn next(&mut self, accounts: &Sheet<Rho>) -> Option<Allowance> {
        if self.asked >= self.questions {
            return None;
        }
        self.asked += 1;
        let to_come = self.questions - self.asked;
        let allowance = |(person, &budget): (usize, &Amount<Rho>)| {
            let left = accounts.left(person).unwrap_or(Amount::ZERO);
            let wanted = match self.carry {
                Carry::Linear => self.linear(rho(budget), rho(left)),
                Carry::Even => rho(left) / f64::from(to_come + 1),
                Carry::Ours => rho(left) / (1.0 + f64::from(to_come) * self.part(person)),
            };
            Amount::floor(wanted * (1.0 - 1e-12)).map_or(Amount::ZERO, |wanted| wanted.min(left))
        };
        let each = self.budgets.iter().enumerate().map(allowance).collect();
        Some(Allowance::Each(each))
    }

    /// Remembers what a question came to.
    pub fn settle(&mut self, spending: &Spending) {
        for (part, share) in self.parts.iter_mut().zip(spending.shares()) {
            *part += 1.0 - share;
        }
    }

    fn linear(&self, budget: f64, left: f64) -> f64 {
        let (questions, asked) = (f64::from(self.questions), f64::from(self.asked));
        let grows = if self.questions == 1 { 1.0 } else { (asked - 1.0) / (questions - 1.0) };
        let share = 0.75 + 0.25 * grows;
        let saved = left - (questions - asked + 1.0) * budget / questions;
        (share * saved).max(0.0) + budget / questions
    }

    /// What part of an allowance a person is expected to spend: as before, with two questions'
    /// worth of doubt.
    fn part(&self, person: usize) -> f64 {
        let before = f64::from(self.asked - 1);
        ((self.parts[person] + 2.0) / (before + 2.0)).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eke_budget::account::{Prices, Who};
    use proptest::prelude::*;

    fn spending(allowed: &Allowance, spent: Vec<Amount<Rho>>) -> Spending {
        Spending { allowed: allowed.clone(), spent, rounds: Vec::new() }
    }

    proptest! {
        /// Whatever part of its allowance each person spends of each question: all of them can be
        /// paid, and people who spend everything have an equal share each time.
        #[test]
        fn allowances_stay_within_what_is_left(
            budgets in prop::collection::vec(1u128..1_000_000, 1..20),
            questions in 1u32..12,
            parts in prop::collection::vec(0.0f64..=1.0, 240),
            all in any::<bool>(),
        ) {
            let budgets: Vec<Amount<Rho>> =
                budgets.into_iter().map(|each| Amount::from_grains(each * 10u128.pow(20))).collect();
            for carry in [Carry::Linear, Carry::Even, Carry::Ours] {
                let mut accounts = Sheet::each(budgets.clone()).unwrap();
                let mut series = Series::new(carry, questions, &accounts);
                let mut parts = parts.iter();
                for _ in 0..questions {
                    let allowance = series.next(&accounts).unwrap();
                    let Allowance::Each(each) = &allowance else { panic!("each their own") };
                    for (person, allowed) in each.iter().enumerate() {
                        prop_assert!(*allowed <= accounts.left(person).unwrap());
                        let share = budgets[person].to_f64() / f64::from(questions);
                        prop_assert!(!all || (allowed.to_f64() / share - 1.0).abs() < 1e-9);
                    }
                    let part = |allowed: &Amount<Rho>| {
                        let part = if all { 1.0 } else { *parts.next().unwrap() };
                        Amount::floor(allowed.to_f64() * part).unwrap().min(*allowed)
                    };
                    let spent: Vec<Amount<Rho>> =
                        if all { each.clone() } else { each.iter().map(part).collect() };
                    let refused = accounts.charge(Who::Everyone, Prices::Each(&spent)).unwrap();
                    prop_assert!(refused.is_empty());
                    series.settle(&spending(&allowance, spent));
                }
                prop_assert_eq!(series.next(&accounts), None);
            }
        }
    }

    /// Computed by hand: four questions of a budget of 1, nothing spent of the first.
    #[test]
    fn savings_are_carried_over_by_their_rule() {
        let accounts = Sheet::same(Amount::ONE, 1).unwrap();
        for (carry, second) in [
            // A share of 0.25, and 0.75 + 0.25/3 of the 0.25 that was saved.
            (Carry::Linear, 0.25 + (0.75 + 0.25 / 3.0) * 0.25),
            (Carry::Even, 1.0 / 3.0),
            // Two of three questions' worth of doubt: a part of 2/3 for each of the two to come.
            (Carry::Ours, 1.0 / (1.0 + 2.0 * 2.0 / 3.0)),
        ] {
            let mut series = Series::new(carry, 4, &accounts);
            let first = series.next(&accounts).unwrap();
            assert!((first.of(0).to_f64() - 0.25).abs() < 0.01);
            series.settle(&spending(&first, vec![Amount::ZERO]));
            let Some(Allowance::Each(each)) = series.next(&accounts) else { panic!("a second") };
            assert!((each[0].to_f64() - second).abs() < 1e-9, "{carry:?} {}", each[0]);
        }
    }
}
