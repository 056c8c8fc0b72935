//! Walking many people's paths side by side: charge, draw, report, and let a rule say who goes on.
//!
//! In every round the prices are fixed first, from public numbers and what has been released; then
//! everybody who is still walking is charged, and people who cannot pay stay out from there on;
//! then noise is drawn for those who paid. Truths are not opened here, and the rule sees
//! [`Reports`] alone.

use eke_budget::account::Sheet;
use eke_budget::{Amount, Rho};
use eke_noise::release::{RowNoise, Rows, release_rows};
use eke_noise::{Entropy, Exact};

use crate::crowd::plan::{Allowance, Plan};
use crate::crowd::reports::{Reports, rho};
use crate::crowd::schedule::Schedules;
use crate::crowd::{CrowdError, Seen};

/// What a question came to, person by person and round by round.
#[derive(Clone, Debug, PartialEq)]
pub struct Spending {
    /// How far each person's path could have been followed.
    pub allowed: Allowance,
    /// What each person has paid for this question.
    pub spent: Vec<Amount<Rho>>,
    /// What happened in each round.
    pub rounds: Vec<Round>,
}

/// One round of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// How many people reported, or had been seen so far already.
    pub walked: u32,
    /// How many could not pay, and stay out.
    pub refused: u32,
    /// How many stopped after it.
    pub stopped: u32,
}

impl Spending {
    /// The mean share of their allowance that people still have: 0 when all was spent, 1 when
    /// nothing was.
    #[must_use]
    pub fn saved(&self) -> f64 {
        let shares = self.shares();
        let people = shares.len().max(1) as f64;
        shares.iter().sum::<f64>() / people
    }

    /// The share of the allowance that each person still has.
    #[must_use]
    pub fn shares(&self) -> Vec<f64> {
        let share = |(person, spent): (usize, &Amount<Rho>)| {
            let allowed = match &self.allowed {
                Allowance::Same(amount) => *amount,
                Allowance::Each(each) => each[person],
            };
            if allowed.is_zero() { 0.0 } else { 1.0 - rho(*spent) / rho(allowed) }
        };
        self.spent.iter().enumerate().map(share).collect()
    }
}

/// What a rule knows of a round, beside the reports.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// Which round this is, from 1.
    pub(crate) round: usize,
    /// How many there are.
    pub(crate) rounds: usize,
}

/// What people are asked.
pub(crate) struct Walk<'a> {
    /// What noise is added to, person by person, with how many steps a metre moves it.
    pub(crate) truths: Exact<Rows<'a>>,
    pub(crate) allowance: &'a Allowance,
    pub(crate) plan: &'a Plan,
}

impl Walk<'_> {
    /// Walks everybody's path, until the rule has stopped them all or the allowance is spent.
    ///
    /// - Theorem: elimination (docs/theorems.md)
    /// - Proves: what is released of a person costs what the person was charged, which is never
    ///   more than the allowance or what is left of the account, whenever people stop
    /// - Assumes: truths move by at most the sensitivity a metre (callers in this crate); the plan
    ///   and the allowances are public or depend on released values alone (caller)
    /// - Deviates: nothing; amounts are exact
    /// - Checked by: `everybody_pays_for_the_rounds_they_walked_and_no_more`,
    ///   `reports_have_the_law_that_was_paid_for`, `people_who_cannot_pay_stay_out`
    pub(crate) fn run<E: Entropy + ?Sized>(
        &self,
        accounts: &mut Sheet<Rho>,
        noise: &mut RowNoise,
        seen: Seen,
        entropy: &mut E,
        mut stop: impl FnMut(&Reports, &mut Vec<u32>, Look),
    ) -> Result<(Reports, Vec<u32>, Spending), CrowdError> {
        let people = accounts.len();
        let (plan, allowance, bound) = (self.plan, self.allowance, *self.truths.sensitivity());
        let schedules = Schedules::new(plan, allowance, seen.prices(), people, bound.length())?;
        noise.begin(bound);
        // Whatever may be due can be drawn, whenever people stop, before anybody is charged.
        for due in schedules.all_dues() {
            noise.can_draw(due)?;
        }
        let mut reports = Reports::new(bound.width(), &schedules, seen);
        let mut walking: Vec<u32> = schedules.members();
        let mut rounds = Vec::new();
        let count = schedules.rounds();
        let (mut steps, mut prices) = (Vec::new(), Vec::new());
        for round in 0..count {
            if walking.is_empty() {
                break;
            }
            let step = |stand| schedules.step(stand, round);
            reports.steps(&walking, step, (&mut steps, &mut prices));
            noise.prepare(&prices)?;
            let asked = walking.len();
            let paid = accounts.charge_column(&mut walking, &mut prices)?;
            release_rows(&self.truths, paid, noise, entropy, |at, people, released| {
                reports.add(people, &steps[at], released);
            })?;
            let refused = asked - walking.len();
            let walked = walking.len();
            stop(&reports, &mut walking, Look { round: round + 1, rounds: count });
            let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
            let stopped = number(walked - walking.len());
            rounds.push(Round { walked: number(walked), refused: number(refused), stopped });
        }
        // A stand's amount is what its path costs, and accounts have been charged for every step
        // between two of them.
        let spent = reports.paid_since(schedules.starts());
        Ok((reports, walking, Spending { allowed: allowance.clone(), spent, rounds }))
    }
}

#[cfg(test)]
mod tests;
