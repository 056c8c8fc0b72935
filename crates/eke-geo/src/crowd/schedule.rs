//! Where everybody's path is, and where the next round takes it.
//!
//! A schedule is what an allowance is cut into. People who have spent the same and may spend the
//! same share a [`Stand`], so what depends on amounts alone is computed once for all of them:
//! prices, variances, how much a report weighs.

use std::collections::HashMap;

use eke_budget::{Amount, L2, Rho};

use crate::crowd::CrowdError;
use crate::crowd::plan::{Allowance, Plan, PlanError};
use crate::crowd::reports::rho;

/// Where a path is: what has been spent on it, and what that is worth.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stand {
    pub(crate) spent: Amount<Rho>,
    /// The variance of the average in every coordinate, in steps squared; infinite before the first
    /// report.
    pub(crate) now: f64,
    /// The root of that.
    pub(crate) deviation: f64,
    /// What the variance will be when the path has been walked to the end.
    pub(crate) end: f64,
    /// What it goes on by; none for people who may spend nothing.
    schedule: Option<u32>,
}

impl Stand {
    /// With half the square of what a metre is, in steps: a price of r is a variance of this by r.
    fn new(unit: f64, spent: Amount<Rho>, end: Amount<Rho>, schedule: Option<u32>) -> Self {
        let (now, end) = (unit / rho(spent), unit / rho(end.max(spent)));
        Self { spent, now, deviation: now.sqrt(), end, schedule }
    }

    /// What the average now is further from that in the end than it will be, as a variance: given
    /// the one in the end, the one now is that and noise of this variance.
    #[inline]
    pub(crate) fn to_come(self) -> f64 {
        (self.now - self.end).max(0.0)
    }
}

/// What a round does to everybody on a stand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Step {
    /// What is due: nothing, where that has been seen already.
    pub(crate) due: Amount<Rho>,
    /// Which stand it leads to.
    pub(crate) to: u32,
    /// The weight of the report in the average.
    pub(crate) part: f64,
}

/// The prices of rounds, for each allowance that there is, and all stands.
pub(crate) struct Schedules {
    /// The price that a path has reached after each round.
    levels: Vec<Vec<Amount<Rho>>>,
    /// The stand after each round of each schedule, and then those that people begin at.
    stands: Vec<Stand>,
    /// Where each person begins.
    starts: Vec<u32>,
}

impl Schedules {
    /// Of people whose paths have been followed to these prices before; of nobody's if there are
    /// none.
    pub(crate) fn new(
        plan: &Plan,
        allowance: &Allowance,
        seen: &[Amount<Rho>],
        people: usize,
        sensitivity: L2,
    ) -> Result<Self, CrowdError> {
        if let Some(given) = allowance.people().filter(|&given| given != people) {
            return Err(CrowdError::Allowances { given, people });
        }
        let unit = sensitivity.get() * sensitivity.get() / 2.0;
        let (mut levels, mut ends) = (Vec::new(), Vec::new());
        let mut cuts: HashMap<Amount<Rho>, Option<u32>> = HashMap::new();
        // Those that people begin at; the others come before them, when their number is known.
        let (mut begins, mut starts) = (Vec::new(), Vec::with_capacity(people));
        let mut known: HashMap<(Amount<Rho>, Amount<Rho>), u32> = HashMap::new();
        let mut last = None;
        for person in 0..people {
            let spent = seen.get(person).copied().unwrap_or(Amount::ZERO);
            let key = (allowance.of(person), spent);
            if let Some(start) = last.filter(|(same, _)| *same == key).map(|(_, start)| start) {
                starts.push(start);
                continue;
            }
            let schedule = match cuts.get(&key.0) {
                Some(schedule) => *schedule,
                None => {
                    let schedule = match cut(plan, key.0) {
                        Ok(cut) => {
                            ends.push(cut.last().copied().unwrap_or(Amount::ZERO));
                            levels.push(cut);
                            u32::try_from(levels.len() - 1).ok()
                        }
                        // What is too small to be cut into rounds is not spent, unless nobody has
                        // more.
                        Err(PlanError::Small(_)) if allowance.people().is_some() => None,
                        Err(error) => return Err(error.into()),
                    };
                    cuts.insert(key.0, schedule);
                    schedule
                }
            };
            let start = *known.entry(key).or_insert_with(|| {
                let end = schedule.map_or(Amount::ZERO, |schedule| ends[schedule as usize]);
                begins.push(Stand::new(unit, spent, end, schedule));
                u32::try_from(begins.len() - 1).unwrap_or(u32::MAX)
            });
            last = Some((key, start));
            starts.push(start);
        }
        let mut stands = Vec::new();
        for ((levels, end), schedule) in levels.iter().zip(&ends).zip(0..) {
            let stand = |&level: &Amount<Rho>| Stand::new(unit, level, *end, Some(schedule));
            stands.extend(levels.iter().map(stand));
        }
        let before = u32::try_from(stands.len()).unwrap_or(u32::MAX);
        starts.iter_mut().for_each(|start| *start += before);
        stands.extend(begins);
        Ok(Self { levels, stands, starts })
    }

    pub(crate) fn rounds(&self) -> usize {
        self.levels.first().map_or(0, Vec::len)
    }

    pub(crate) fn stands(&self) -> &[Stand] {
        &self.stands
    }

    pub(crate) fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// Everybody who may spend something.
    pub(crate) fn members(&self) -> Vec<u32> {
        let may = |start: u32| self.stands[start as usize].schedule.is_some();
        (0..)
            .zip(&self.starts)
            .filter(|&(_, &start)| may(start))
            .map(|(person, _)| person)
            .collect()
    }

    /// What a round does to the people on a stand.
    pub(crate) fn step(&self, from: u32, round: usize) -> Step {
        let stand = &self.stands[from as usize];
        let stay = Step { due: Amount::ZERO, to: from, part: 0.0 };
        let Some(schedule) = stand.schedule else { return stay };
        let due = due(&self.levels[schedule as usize], round, stand.spent);
        if due.is_zero() {
            return stay;
        }
        let to = schedule as usize * self.rounds() + round;
        let part = rho(due) / rho(self.stands[to].spent);
        Step { due, to: u32::try_from(to).unwrap_or(u32::MAX), part }
    }

    /// Everything that may be due to somebody who begins, whenever people stop.
    pub(crate) fn all_dues(&self) -> impl Iterator<Item = Amount<Rho>> {
        let (first, last) = (self.levels.len() * self.rounds(), self.stands.len());
        (first..last).flat_map(move |start| {
            let mut at = u32::try_from(start).unwrap_or(u32::MAX);
            (0..self.rounds()).filter_map(move |round| {
                let step = self.step(at, round);
                at = step.to;
                (!step.due.is_zero()).then_some(step.due)
            })
        })
    }
}

/// The price that a path has reached after each round of an allowance.
fn cut(plan: &Plan, allowance: Amount<Rho>) -> Result<Vec<Amount<Rho>>, PlanError> {
    let mut level = Amount::ZERO;
    let add = |price: Amount<Rho>| {
        level = level.plus(price).unwrap_or(Amount::MAX);
        level
    };
    Ok(plan.prices(allowance)?.into_iter().map(add).collect())
}

/// What a path that has been followed to a price has to pay in a round. A path that an earlier
/// question has left just below the round's level gains nothing from so small a step, which could
/// hardly be drawn: it is not taken.
fn due(levels: &[Amount<Rho>], round: usize, spent: Amount<Rho>) -> Amount<Rho> {
    let level = levels[round];
    let before = if round == 0 { Amount::ZERO } else { levels[round - 1] };
    let due = level.minus(spent).unwrap_or(Amount::ZERO);
    // A round of the plan itself is taken, however small it is.
    let whole = level.minus(before).is_some_and(|step| due >= step);
    if whole || due.grains() >= level.grains() / LEAST_PART { due } else { Amount::ZERO }
}

/// The least part of what a path has been followed to that is worth a step.
const LEAST_PART: u128 = 1024;
