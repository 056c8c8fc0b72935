//! Walking many people's paths side by side: charge, draw, report, and let a rule say who goes on.
//!
//! In every round the prices are fixed first, from public numbers and what has been released; then everybody who is still
//! walking is charged, and whoever cannot pay stays out from there on; then noise is drawn for those who paid. The rule sees
//! [`Reports`] alone. This file is the only one that holds truths beside noise.

use std::collections::HashMap;

use eke_budget::{Amount, L2, Rho};
use eke_local::{Prices, Sheet, Who};
use eke_noise::{DiscreteGaussian, Entropy, Ratio, variance_for};

use crate::plan::{Allowance, Plan};
use crate::reports::{Reports, rho};
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
    /// The mean share of their allowance that people still have: 0 when all was spent, 1 when nothing was.
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
    /// - Proves: what is released of a person costs what the person was charged, which is never more than
    ///   the allowance or what is left of the account, whoever stops when
    /// - Assumes: truths move by at most the sensitivity a metre (callers in this crate); the plan and the
    ///   allowances are public or depend on released values alone (caller)
    /// - Deviates: nothing; amounts are exact
    /// - Checked by: `everybody_pays_for_the_rounds_they_walked_and_no_more`,
    ///   `reports_have_the_law_that_was_paid_for`, `whoever_cannot_pay_stays_out`
    pub(crate) fn run<E: Entropy + ?Sized>(
        &self,
        accounts: &mut Sheet<Rho>,
        seen: Seen,
        entropy: &mut E,
        mut stop: impl FnMut(&Reports, &mut Vec<u32>, Look),
    ) -> Result<(Reports, Vec<u32>, Spending), CrowdError> {
        let people = accounts.len();
        let schedules = Schedules::new(self.plan, self.allowance, people)?;
        let before = accounts.spent().to_vec();
        let mut reports =
            Reports::new(self.width, self.sensitivity, schedules.ends(people), seen);
        let mut laws = Laws::new(self.sensitivity, self.width);
        let mut walking: Vec<u32> = schedules.members(people);
        let mut rounds = Vec::new();
        let count = schedules.rounds();
        let (mut dues, mut noise) = (Vec::new(), Vec::new());
        for round in 0..count {
            if walking.is_empty() {
                break;
            }
            schedules.dues(&reports, &walking, round, &mut dues);
            laws.prepare(&dues)?;
            let refused = charge(accounts, &mut walking, &mut dues)?;
            self.draw(&walking, &dues, &laws, &mut reports, &mut noise, entropy)?;
            let walked = walking.len();
            stop(&reports, &mut walking, Look { round: round + 1, rounds: count });
            let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
            let stopped = number(walked - walking.len());
            rounds.push(Round { walked: number(walked), refused: number(refused), stopped });
        }
        let paid = |(after, before): (&Amount<Rho>, Amount<Rho>)| {
            after.minus(before).unwrap_or(Amount::ZERO)
        };
        let spent = accounts.spent().iter().zip(before).map(paid).collect();
        Ok((reports, walking, Spending { allowed: self.allowance.clone(), spent, rounds }))
    }

    /// Draws what has been paid for.
    fn draw<E: Entropy + ?Sized>(
        &self,
        walking: &[u32],
        dues: &[Amount<Rho>],
        laws: &Laws,
        reports: &mut Reports,
        noise: &mut Vec<i64>,
        entropy: &mut E,
    ) -> Result<(), CrowdError> {
        let truth = |person: u32| {
            let start = person as usize * self.width;
            &self.truths[start..start + self.width]
        };
        // A few people at a time, so that noise stays in the cache.
        let batch = (4096 / self.width).max(1);
        for (people, dues) in walking.chunks(batch).zip(dues.chunks(batch)) {
            noise.resize(people.len() * self.width, 0);
            laws.fill(dues, noise, entropy)?;
            let rows = noise.chunks_exact(self.width);
            for ((&person, &due), row) in people.iter().zip(dues).zip(rows) {
                if !due.is_zero() {
                    let noisy = |(truth, noise): (&i64, &i64)| truth.saturating_add(*noise);
                    reports.add(person, due, truth(person).iter().zip(row).map(noisy));
                }
            }
        }
        Ok(())
    }
}

/// Charges everybody who walks, and leaves out those who cannot pay: how many they are.
fn charge(
    accounts: &mut Sheet<Rho>,
    walking: &mut Vec<u32>,
    dues: &mut Vec<Amount<Rho>>,
) -> Result<usize, CrowdError> {
    let refused = accounts.charge(Who::These(walking), Prices::Each(dues))?;
    if !refused.is_empty() {
        let mut out = refused.iter().copied().peekable();
        let stays: Vec<bool> =
            walking.iter().map(|person| out.next_if_eq(person).is_none()).collect();
        let mut stay = stays.iter();
        walking.retain(|_| *stay.next().unwrap_or(&false));
        let mut stay = stays.iter();
        dues.retain(|_| *stay.next().unwrap_or(&false));
    }
    Ok(refused.len())
}

/// The prices of rounds, for each allowance that there is.
struct Schedules {
    /// The price that a path has reached after each round.
    levels: Vec<Vec<Amount<Rho>>>,
    /// Which of them is a person's; the only one where there are none. No schedule for an allowance of nothing.
    of: Vec<Option<u32>>,
}

impl Schedules {
    fn new(plan: &Plan, allowance: &Allowance, people: usize) -> Result<Self, CrowdError> {
        let levels = |amount: Amount<Rho>| -> Result<Vec<Amount<Rho>>, CrowdError> {
            let mut level = Amount::ZERO;
            let prices = plan.prices(amount)?;
            let add = |price: Amount<Rho>| {
                level = level.plus(price).unwrap_or(Amount::MAX);
                level
            };
            Ok(prices.into_iter().map(add).collect())
        };
        match allowance {
            Allowance::Same(amount) => Ok(Self { levels: vec![levels(*amount)?], of: Vec::new() }),
            Allowance::Each(each) if each.len() != people => {
                Err(CrowdError::Allowances { given: each.len(), people })
            }
            Allowance::Each(_) => {
                let mut schedules = Self { levels: Vec::new(), of: Vec::with_capacity(people) };
                let mut known: HashMap<Amount<Rho>, Option<u32>> = HashMap::new();
                for person in 0..people {
                    let amount = allowance.of(person);
                    let schedule = match known.get(&amount) {
                        Some(schedule) => *schedule,
                        None => {
                            // What is too small to be cut into rounds is not spent.
                            let schedule = match levels(amount) {
                                Ok(levels) => {
                                    schedules.levels.push(levels);
                                    u32::try_from(schedules.levels.len() - 1).ok()
                                }
                                Err(CrowdError::Plan(crate::PlanError::Small(_))) => None,
                                Err(error) => return Err(error),
                            };
                            known.insert(amount, schedule);
                            schedule
                        }
                    };
                    schedules.of.push(schedule);
                }
                Ok(schedules)
            }
        }
    }

    fn schedule(&self, person: u32) -> Option<&[Amount<Rho>]> {
        let schedule = match self.of.get(person as usize) {
            Some(schedule) => (*schedule)?,
            None => 0,
        };
        self.levels.get(schedule as usize).map(Vec::as_slice)
    }

    fn rounds(&self) -> usize {
        self.levels.first().map_or(0, Vec::len)
    }

    /// Everybody who may spend something.
    fn members(&self, people: usize) -> Vec<u32> {
        (0u32..).take(people).filter(|&person| self.schedule(person).is_some()).collect()
    }

    /// What each person will have spent in the end.
    fn ends(&self, people: usize) -> Vec<Amount<Rho>> {
        let end = |person: u32| self.schedule(person).and_then(|levels| levels.last().copied());
        (0u32..).take(people).map(|person| end(person).unwrap_or(Amount::ZERO)).collect()
    }

    /// What each has to pay in a round, from where its path is: nothing, where that has been seen already.
    fn dues(
        &self,
        reports: &Reports,
        walking: &[u32],
        round: usize,
        dues: &mut Vec<Amount<Rho>>,
    ) {
        dues.clear();
        dues.extend(walking.iter().map(|&person| {
            let level = self.schedule(person).map_or(Amount::ZERO, |levels| levels[round]);
            level.minus(reports.spent(person)).unwrap_or(Amount::ZERO)
        }));
    }
}

/// Laws of noise by price: prepared where many people need one, and drawn from once otherwise.
struct Laws {
    sensitivity: L2,
    width: usize,
    laws: HashMap<Amount<Rho>, Law>,
}

enum Law {
    Prepared(DiscreteGaussian),
    Once(Ratio),
}

impl Laws {
    /// From so many draws of a law on it is prepared.
    const MANY: usize = 256;
    /// The narrowest noise there is, in steps: as for paths.
    const NARROWEST: f64 = 8.0;

    fn new(sensitivity: L2, width: usize) -> Self {
        Self { sensitivity, width, laws: HashMap::new() }
    }

    /// Makes sure that all these can be drawn, before anybody is charged.
    fn prepare(&mut self, dues: &[Amount<Rho>]) -> Result<(), CrowdError> {
        let mut counts: Vec<(Amount<Rho>, usize)> = Vec::new();
        for run in dues.chunk_by(|one, two| one == two) {
            let due = run[0];
            if due.is_zero() {
                continue;
            }
            match counts.iter_mut().rev().take(8).find(|(price, _)| *price == due) {
                Some((_, count)) => *count += run.len(),
                None => counts.push((due, run.len())),
            }
        }
        counts.sort_unstable();
        for group in counts.chunk_by(|one, two| one.0 == two.0) {
            let draws = group.iter().map(|(_, count)| count).sum::<usize>() * self.width;
            self.learn(group[0].0, draws >= Self::MANY)?;
        }
        Ok(())
    }

    fn learn(&mut self, price: Amount<Rho>, many: bool) -> Result<(), CrowdError> {
        match self.laws.get(&price) {
            Some(Law::Prepared(_)) => return Ok(()),
            Some(Law::Once(_)) if !many => return Ok(()),
            _ => {}
        }
        let variance = variance_for(self.sensitivity, price).ok_or(CrowdError::Wide(price))?;
        let scale = self.sensitivity.get() / (2.0 * rho(price)).sqrt();
        if scale < Self::NARROWEST {
            return Err(CrowdError::Narrow(price));
        }
        // What can be prepared can be drawn once, too.
        if scale >= 4_398_046_511_104.0 {
            return Err(CrowdError::Wide(price));
        }
        let law = if many {
            Law::Prepared(DiscreteGaussian::new(&variance).map_err(|_| CrowdError::Wide(price))?)
        } else {
            Law::Once(variance)
        };
        self.laws.insert(price, law);
        Ok(())
    }

    /// Noise for people in a row, each of their own price; none for those who have nothing to pay.
    fn fill<E: Entropy + ?Sized>(
        &self,
        dues: &[Amount<Rho>],
        noise: &mut [i64],
        entropy: &mut E,
    ) -> Result<(), CrowdError> {
        let mut rest = noise;
        for run in dues.chunk_by(|one, two| one == two) {
            let (these, after) = rest.split_at_mut(run.len() * self.width);
            rest = after;
            let price = run[0];
            if price.is_zero() {
                continue;
            }
            match self.laws.get(&price).ok_or(CrowdError::Wide(price))? {
                Law::Prepared(law) => law.fill(these, entropy),
                Law::Once(variance) => {
                    for noise in these {
                        *noise = DiscreteGaussian::once(variance, entropy)
                            .map_err(|_| CrowdError::Wide(price))?;
                    }
                }
            }
        }
        Ok(())
    }
}
