//! Walking many people's paths side by side: charge, draw, report, and let a rule say who goes on.
//!
//! In every round the prices are fixed first, from public numbers and what has been released; then
//! everybody who is still walking is charged, and whoever cannot pay stays out from there on; then
//! noise is drawn for those who paid. The rule sees [`Reports`] alone. This file is the only one
//! that holds truths beside noise.

use std::collections::HashMap;

use eke_budget::{Amount, L2, Rho};
use eke_local::{Prices, Sheet, Who};
use eke_noise::{DiscreteGaussian, Entropy, Ratio, variance_for};

use crate::crowd::plan::{Allowance, Plan};
use crate::crowd::reports::{Reports, Run, rho};
use crate::crowd::schedule::Schedules;
use crate::{CrowdError, Seen};

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
        #[expect(clippy::cast_precision_loss, reason = "fewer than 2^32 people")]
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

/// What a rule is told about a round, beside the reports.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// Which round this is, from 1.
    pub(crate) round: usize,
    /// How many there are.
    pub(crate) rounds: usize,
}

/// What people are asked.
pub(crate) struct Walk<'a> {
    /// What noise is added to, person by person.
    pub(crate) truths: &'a [i64],
    /// How many numbers each has.
    pub(crate) width: usize,
    /// How many steps a metre moves it.
    pub(crate) sensitivity: L2,
    pub(crate) allowance: &'a Allowance,
    pub(crate) plan: &'a Plan,
}

impl Walk<'_> {
    /// Walks everybody's path, until the rule has stopped them all or the allowance is spent.
    ///
    /// - Theorem: elimination (docs/theorems.md)
    /// - Proves: what is released of a person costs what the person was charged, which is never
    ///   more than the allowance or what is left of the account, whoever stops when
    /// - Assumes: truths move by at most the sensitivity a metre (callers in this crate); the plan
    ///   and the allowances are public or depend on released values alone (caller)
    /// - Deviates: nothing; amounts are exact
    /// - Checked by: `everybody_pays_for_the_rounds_they_walked_and_no_more`,
    ///   `reports_have_the_law_that_was_paid_for`, `whoever_cannot_pay_stays_out`
    pub(crate) fn run<E: Entropy + ?Sized>(
        &self,
        accounts: &mut Sheet<Rho>,
        laws: &mut Laws,
        seen: Seen,
        entropy: &mut E,
        mut stop: impl FnMut(&Reports, &mut Vec<u32>, Look),
    ) -> Result<(Reports, Vec<u32>, Spending), CrowdError> {
        let people = accounts.len();
        let (plan, allowance, sensitivity) = (self.plan, self.allowance, self.sensitivity);
        let schedules = Schedules::new(plan, allowance, &seen.prices, people, sensitivity)?;
        laws.begin(sensitivity, self.width);
        // Whatever may be due can be drawn, whoever stops when, before anybody is charged.
        for due in schedules.all_dues() {
            laws.variance(due)?;
        }
        let mut reports = Reports::new(self.width, &schedules, seen);
        let mut walking: Vec<u32> = schedules.members();
        let mut rounds = Vec::new();
        let count = schedules.rounds();
        let (mut runs, mut noise) = (Vec::new(), Vec::new());
        for round in 0..count {
            if walking.is_empty() {
                break;
            }
            reports.runs(&walking, |stand| schedules.step(stand, round), &mut runs);
            laws.prepare(&runs)?;
            let refused = charge(accounts, &mut walking, &runs)?;
            if refused > 0 {
                reports.runs(&walking, |stand| schedules.step(stand, round), &mut runs);
            }
            self.draw(&walking, &runs, laws, &mut reports, &mut noise, entropy)?;
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

    /// Draws what has been paid for.
    fn draw<E: Entropy + ?Sized>(
        &self,
        walking: &[u32],
        runs: &[Run],
        laws: &Laws,
        reports: &mut Reports,
        noise: &mut Vec<i64>,
        entropy: &mut E,
    ) -> Result<(), CrowdError> {
        // A few people at a time, so that noise stays in the cache.
        let batch = (4096 / self.width).max(1);
        let mut rest = walking;
        for Run { step, people } in runs {
            let (these, after) = rest.split_at(*people);
            rest = after;
            if step.due.is_zero() {
                continue;
            }
            for people in these.chunks(batch) {
                noise.resize(people.len() * self.width, 0);
                laws.fill(step.due, noise, entropy)?;
                reports.add(people, step, self.truths, noise);
            }
        }
        Ok(())
    }
}

/// Charges everybody who walks, and leaves out those who cannot pay: how many they are.
fn charge(
    accounts: &mut Sheet<Rho>,
    walking: &mut Vec<u32>,
    runs: &[Run],
) -> Result<usize, CrowdError> {
    let (mut refused, mut rest) = (Vec::new(), &walking[..]);
    for Run { step, people } in runs {
        let (these, after) = rest.split_at(*people);
        rest = after;
        refused.extend(accounts.charge(Who::These(these), Prices::Same(step.due))?);
    }
    if !refused.is_empty() {
        let mut out = refused.iter().peekable();
        walking.retain(|person| out.next_if_eq(&person).is_none());
    }
    Ok(refused.len())
}

/// Laws of noise by price: prepared where many people need one, and drawn from once otherwise. They
/// are kept from question to question.
#[derive(Default)]
pub(crate) struct Laws {
    sensitivity: Option<L2>,
    width: usize,
    laws: HashMap<Amount<Rho>, Law>,
}

enum Law {
    Prepared(DiscreteGaussian),
    /// With how often it has been drawn from.
    Once(Ratio, usize),
}

impl Laws {
    /// From so many draws of a law on it is prepared, which takes as long.
    const MANY: usize = 256;
    /// The narrowest noise there is, in steps: as for paths.
    const NARROWEST: f64 = 8.0;
    /// The most laws that are kept.
    const MOST: usize = 1024;

    /// Begins a question about numbers of this sensitivity.
    fn begin(&mut self, sensitivity: L2, width: usize) {
        if self.sensitivity != Some(sensitivity) || self.laws.len() > Self::MOST {
            self.laws.clear();
        }
        (self.sensitivity, self.width) = (Some(sensitivity), width);
    }

    /// Makes sure that all these can be drawn, before anybody is charged.
    fn prepare(&mut self, runs: &[Run]) -> Result<(), CrowdError> {
        let mut counts: Vec<(Amount<Rho>, usize)> = Vec::new();
        for Run { step, people } in runs.iter().filter(|run| !run.step.due.is_zero()) {
            match counts.iter_mut().rev().take(8).find(|(price, _)| *price == step.due) {
                Some((_, count)) => *count += people,
                None => counts.push((step.due, *people)),
            }
        }
        counts.sort_unstable();
        for group in counts.chunk_by(|one, two| one.0 == two.0) {
            let draws = group.iter().map(|(_, count)| count).sum::<usize>() * self.width;
            self.learn(group[0].0, draws)?;
        }
        Ok(())
    }

    /// The variance of noise of a price, if that can be drawn.
    fn variance(&self, price: Amount<Rho>) -> Result<Ratio, CrowdError> {
        let sensitivity = self.sensitivity.ok_or(CrowdError::Wide(price))?;
        let variance = variance_for(sensitivity, price).ok_or(CrowdError::Wide(price))?;
        let scale = sensitivity.get() / (2.0 * rho(price)).sqrt();
        if scale < Self::NARROWEST {
            return Err(CrowdError::Narrow(price));
        }
        // What can be prepared can be drawn once, too.
        if scale >= 4_398_046_511_104.0 {
            return Err(CrowdError::Wide(price));
        }
        Ok(variance)
    }

    fn learn(&mut self, price: Amount<Rho>, draws: usize) -> Result<(), CrowdError> {
        let drawn = match self.laws.get(&price) {
            Some(Law::Prepared(_)) => return Ok(()),
            Some(Law::Once(_, drawn)) => drawn.saturating_add(draws),
            None => draws,
        };
        let variance = self.variance(price)?;
        let law = if drawn >= Self::MANY {
            Law::Prepared(DiscreteGaussian::new(&variance).map_err(|_| CrowdError::Wide(price))?)
        } else {
            Law::Once(variance, drawn)
        };
        self.laws.insert(price, law);
        Ok(())
    }

    /// Noise of a price.
    fn fill<E: Entropy + ?Sized>(
        &self,
        price: Amount<Rho>,
        noise: &mut [i64],
        entropy: &mut E,
    ) -> Result<(), CrowdError> {
        match self.laws.get(&price).ok_or(CrowdError::Wide(price))? {
            Law::Prepared(law) => law.fill(noise, entropy),
            Law::Once(variance, _) => {
                for noise in noise {
                    *noise = DiscreteGaussian::once(variance, entropy)
                        .map_err(|_| CrowdError::Wide(price))?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
