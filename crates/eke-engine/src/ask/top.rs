//! The largest groups: picked one after the other, and measured as far as the budget goes.
//!
//! Sorting what was released costs nothing, but everything has to be released first. Where only the
//! largest are wanted, picking them costs a little each, and what is not picked costs nothing.

pub(crate) mod picks;

use std::sync::Arc;

use eke_budget::purchase::GroupPrices;
use eke_budget::{Amount, Budget, Rho};
use eke_sql::{Query, Shows, Value};
use serde::Serialize;

use crate::ask::goals::Goals;
use crate::ask::keys::public_group_count;
use crate::ask::question::{Accuracy, Goal};
use crate::ask::shown::answer::{Answer, Column, Cost, Found, Kind, Row, json};
use crate::ask::shown::post::of_keys;
use crate::ask::state::{Groups, State};
use crate::ask::top::picks::{By, Picked, pick_price};
use crate::ask::walk::Walk;
use crate::ask::weights::weights;
use crate::ask::{Answered, Asking};
use crate::error::{EngineError, NotAllowed};

/// How many are picked before they are measured, side by side.
const BATCH: u32 = 8;

/// Without LIMIT, all public groups are wanted if there are at most this many.
const FEW: usize = 100;

/// How the groups of an answer are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// All groups are measured, and sorted by what was released.
    Everything,
    /// The largest by a sum are picked and measured: `count`, or as many as the budget allows.
    Top {
        /// The sum.
        sum: usize,
        /// How many are wanted.
        count: Option<u32>,
    },
    /// The largest by a sum are picked, and their keys shown alone.
    Keys {
        /// The sum.
        sum: usize,
        /// How many are wanted.
        count: u32,
    },
}

/// How a question is sorted, in words: what `eke explain` says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sorting {
    /// What happens where the goal is an accuracy.
    pub within: String,
    /// What happens where the goal is a price.
    pub price: String,
    /// What a pick costs, where groups are picked.
    pub pick: Option<Cost>,
}

impl Route {
    /// How the groups of a question are found, from public information alone.
    pub(crate) fn of(query: &Query, goals: &Goals, unit: &Budget) -> Self {
        let count = query.limit.map(|limit| u32::try_from(limit).unwrap_or(u32::MAX));
        // Quantiles are searched in all groups: whose they are is decided by nothing that is picked.
        let sum = query.largest_first().filter(|_| query.searches.is_empty());
        let Some(sum) = sum else { return Self::Everything };
        if !query.shows_values() {
            return Self::Keys { sum, count: count.unwrap_or(u32::MAX) };
        }
        let is_picked = match goals.of_order(query).accuracy {
            Accuracy::Price(_) => false,
            Accuracy::Relative(_) => wants_the_largest(query),
            Accuracy::Absolute(error) => {
                wants_the_largest(query) && picking_is_cheaper(query, goals, error, unit)
            }
        };
        if is_picked { Self::Top { sum, count } } else { Self::Everything }
    }

    /// How many groups are measured at most.
    pub(crate) fn most_groups(self) -> usize {
        match self {
            Self::Everything | Self::Top { count: None, .. } => usize::MAX,
            Self::Top { count: Some(count), .. } | Self::Keys { count, .. } => count as usize,
        }
    }

    /// What a stored answer is found by, beside its goal.
    pub(crate) fn describe(self) -> String {
        match self {
            Self::Everything => String::new(),
            Self::Top { sum, count: None } => format!(" | largest by {sum}"),
            Self::Top { sum, count: Some(count) } | Self::Keys { sum, count } => {
                format!(" | {count} largest by {sum}")
            }
        }
    }
}

/// Whether not all groups are wanted, and the largest come first.
fn wants_the_largest(query: &Query) -> bool {
    let groups = public_group_count(&query.plan);
    let all = match (query.limit, groups) {
        (Some(limit), Some(groups)) => limit >= groups as u64,
        (None, Some(groups)) => groups <= FEW,
        (_, None) => false,
    };
    query.having.is_none() && query.offset == 0 && !all
}

/// Whether some groups and their picks cost less than all groups, where each group has its price in
/// advance.
fn picking_is_cheaper(query: &Query, goals: &Goals, error: f64, unit: &Budget) -> bool {
    let Some(count) = query.limit.filter(|_| error > 0.0) else { return false };
    let Some(group) = crate::ask::walk::fixed_price(&query.measures, &query.plan, goals) else {
        return false;
    };
    let weights = weights(&query.plan);
    let group_price = |groups: usize| weights.times(groups) * group.to_f64();
    let all = public_group_count(&query.plan).unwrap_or(usize::MAX);
    let few = usize::try_from(count).unwrap_or(usize::MAX);
    count as f64 * pick_price(unit).to_f64() + group_price(few) < group_price(all)
}

/// How a question is sorted; none if it is not by a value.
pub(crate) fn explain(query: &Query, unit: &Budget) -> Option<Sorting> {
    query.largest_first()?;
    let pick = Cost::new(pick_price(unit), Amount::ZERO);
    let sorted =
        "all groups are measured, and sorted by what was released, which costs nothing more";
    if !query.shows_values() {
        return Some(Sorting {
            within: "the keys of the largest are picked, for a price each, and no value is shown".into(),
            price: "the keys of the largest are picked, the price divided among them, and no value is shown"
                .into(),
            pick: Some(pick),
        });
    }
    let (within, picks) = if query.having.is_some() || query.offset > 0 {
        (format!("{sorted}: HAVING and OFFSET need them all"), false)
    } else if wants_the_largest(query) {
        let many = query.limit.map_or_else(
            || "as far as the budget goes".to_owned(),
            |limit| format!("{limit} of them at most"),
        );
        (
            format!(
                "the largest are picked and measured, {many}, and what is not picked costs nothing (for an absolute \
                 error, where that is cheaper than to measure all)"
            ),
            true,
        )
    } else {
        (format!("{sorted}: all of them are wanted"), false)
    };
    Some(Sorting { within, price: sorted.into(), pick: picks.then_some(pick) })
}

/// What the picks of a question cost with a goal, all that are wanted, in rho.
pub(crate) fn picks_cost(query: &Query, goals: &Goals, unit: &Budget) -> f64 {
    let each = pick_price(unit).to_f64();
    match (Route::of(query, goals, unit), goals.all().accuracy) {
        (Route::Everything, _) => 0.0,
        (Route::Keys { .. }, Accuracy::Price(price)) => price.to_f64(),
        (route @ (Route::Keys { .. } | Route::Top { .. }), _) => {
            let groups = public_group_count(&query.plan).unwrap_or(usize::MAX);
            match groups.min(route.most_groups()) {
                // As many as can be paid for.
                usize::MAX => 0.0,
                count => each * count as f64,
            }
        }
    }
}

impl Asking<'_> {
    /// Picks the largest groups and measures them, as many as are wanted or as far as it goes.
    pub(crate) fn top(
        &mut self,
        mut state: State,
        sum: usize,
        count: Option<u32>,
        more: Amount<Rho>,
    ) -> Result<Answer, EngineError> {
        let groups = Arc::clone(&state.groups);
        self.look_up_picks(Some(&groups))?;
        let by = self.ranked_by((&self.question.goal, self.route), sum);
        let all = u32::try_from(groups.len()).unwrap_or(u32::MAX);
        let wanted = self.visible(by, count.unwrap_or(all).min(all))?;
        let before = self.spent;
        let spent = |asking: &Self| asking.spent.minus(before).unwrap_or(Amount::ZERO);
        let mut found = vec![Vec::new(); groups.len()];
        let (mut done, mut looks) = (0, 0);
        while done < wanted {
            let left = more.minus(spent(self)).unwrap_or(Amount::ZERO);
            let next = self.affordable(by, &groups, done, (done + BATCH).min(wanted), left)?;
            if next == done && done == 0 {
                return Err(self.refusal(by.each.times(2), Some(left)).into());
            }
            if next == done {
                break;
            }
            let picked = match self.picks(by, &groups, next)? {
                Picked::Groups(picked) => picked,
                Picked::Refused(refusal) if done == 0 => return Err(self.refused(&refusal)),
                Picked::Refused(_) => break,
            };
            let batch = &picked[done as usize..];
            let left = more.minus(spent(self)).unwrap_or(Amount::ZERO);
            let paid = state.paid(&self.context.own().name);
            let (most, is_capped) = self.batch_most(paid, batch, left);
            let columns = u32::try_from(self.plan().sums.len()).unwrap_or(u32::MAX);
            // What is left may be too little for noise that can be drawn.
            let least = state.bundle.step_prices().0;
            let is_short = most.times(columns).is_some_and(|group| group < least)
                && batch.iter().any(|&group| paid[group as usize].is_zero());
            if is_short && done > 0 {
                break;
            }
            if is_short {
                return Err(self.refusal(None, Some(left)).into());
            }
            let mut walk = Walk::new(self.rules(most)?, columns, most, least, paid).of(batch);
            if is_capped {
                walk = walk.capped();
            }
            state = match self.follow(state, &mut walk) {
                Ok(followed) => followed.state,
                // What was measured before is an answer.
                Err(EngineError::Refused(_)) if done > 0 => {
                    let gone = || EngineError::damaged("it is gone");
                    state = self.load(&groups)?.ok_or_else(gone)?;
                    break;
                }
                Err(error) => return Err(error),
            };
            looks = looks.max(walk.looks());
            let ended = walk.found();
            for &group in batch {
                found[group as usize].clone_from(&ended[group as usize]);
            }
            done = next;
            // What comes next is smaller, and would be further out of reach.
            if !batch.iter().all(|&group| found[group as usize].iter().all(Found::met)) {
                break;
            }
        }
        let mut walk = Walk::ended(found, looks);
        let taken = self.last_round(state, &mut walk)?;
        self.answered(taken, &walk)
    }

    /// The keys of the largest groups, and nothing else of them.
    pub(crate) fn largest_keys(
        &mut self,
        groups: &Groups,
        sum: usize,
        count: u32,
        more: Amount<Rho>,
    ) -> Result<Answer, EngineError> {
        let all = u32::try_from(groups.len()).unwrap_or(u32::MAX);
        self.known = Some(Arc::clone(groups));
        self.look_up_picks(Some(groups))?;
        let by = self.ranked_by((&self.question.goal, self.route), sum);
        let count = self.visible(by, count.min(all))?;
        let price = self.picks_cost(by, groups, count)?;
        if price > more {
            return Err(self.refusal(Some(price), Some(more)).into());
        }
        let picked = match self.picks(by, groups, count)? {
            Picked::Groups(picked) => picked,
            Picked::Refused(refusal) => return Err(self.refused(&refusal)),
        };
        self.shown_keys(groups, &picked)
    }

    /// What groups are ranked by. Of keys alone a price is divided among those that are picked.
    pub(crate) fn ranked_by(&self, (goal, route): (&Goal, Route), sum: usize) -> By {
        let all = self.known.as_ref().map_or(usize::MAX, |groups| groups.len());
        let each = match (route, goal.accuracy) {
            (Route::Keys { count, .. }, Accuracy::Price(price)) => {
                let count = (count as usize).min(all).max(1) as u128;
                Amount::from_grains(price.grains() / count)
            }
            _ => pick_price(&self.context.unit().budget),
        };
        By { sum, each }
    }

    /// An answer of keys alone, in the order in which they were picked.
    pub(crate) fn shown_keys(
        &self,
        groups: &[Vec<Value>],
        picked: &[u32],
    ) -> Result<Answer, EngineError> {
        let query = &self.context.prepared.query;
        let outputs = &query.outputs;
        let columns = outputs.iter().map(|output| Column {
            name: output.name.clone(),
            kind: Kind::Key,
            counts: false,
            quantile: None,
        });
        let row = |&group: &u32| {
            let keys = outputs.iter().filter_map(|output| match output.shows {
                Shows::Key(index) => Some(json(&groups[group as usize][index])),
                Shows::OfKeys(index) => Some(json(&of_keys(query, index, &groups[group as usize]))),
                _ => None,
            });
            Row { keys: keys.collect(), values: Vec::new(), over: Vec::new() }
        };
        let rows: Vec<Row> = picked.iter().map(row).collect();
        let answer = self.finish(Answered::NOTHING, &[], 0)?.answer;
        let picked = rows.len() < groups.len();
        let finest = self.finest().filter(|_| self.sees_fewer(groups.len()));
        let tier = finest.map(|finest| Cost::new(finest, Amount::ZERO));
        let fewer = self.fewer_keys(rows.len(), groups.len());
        let columns = columns.collect();
        let answer = Answer { columns, rows, fixed: None, picked, tier, fewer, ..answer };
        let picks = self.pick_error(&answer, groups.len());
        Ok(Answer { picks, ..answer })
    }

    /// How many picks may be had, from those that there are up to those that are wanted, with half
    /// of what is left to measure them.
    fn affordable(
        &self,
        by: By,
        groups: &[Vec<Value>],
        from: u32,
        to: u32,
        left: Amount<Rho>,
    ) -> Result<u32, EngineError> {
        let mut next = to;
        let half = Amount::from_grains(left.grains() / 2);
        while next > from && self.picks_cost(by, groups, next)? > half {
            next -= 1;
        }
        Ok(next)
    }

    /// Whether the asker's tier sees fewer picks than are wanted, where there are `groups` groups.
    pub(crate) fn sees_fewer(&self, groups: usize) -> bool {
        let (sum, count) = match self.route {
            Route::Everything => return false,
            Route::Top { sum, count } => (sum, count),
            Route::Keys { sum, count } => (sum, Some(count)),
        };
        let by = self.ranked_by((&self.question.goal, self.route), sum);
        let wanted = count.map_or(groups, |count| groups.min(count as usize));
        self.furthest_picks
            .is_some_and(|finest| finest.grains() / by.each.grains().max(1) < wanted as u128)
    }

    /// How many picks the asker may see: a tier sees a ranking no further than any other path.
    pub(crate) fn visible(&self, by: By, count: u32) -> Result<u32, EngineError> {
        let Some(finest) = self.furthest_picks else { return Ok(count) };
        let most = finest.grains() / by.each.grains().max(1);
        match u32::try_from(most).unwrap_or(u32::MAX).min(count) {
            0 if count > 0 => Err(NotAllowed::PicksBeyondTier { each: by.each }.into()),
            visible => Ok(visible),
        }
    }

    /// The price of one column of each group of a batch, at most, and whether it is a tier's.
    fn batch_most(
        &self,
        paid: &[Amount<Rho>],
        batch: &[u32],
        more: Amount<Rho>,
    ) -> (Amount<Rho>, bool) {
        let weights = self.weights();
        let price = |paid: &[Amount<Rho>]| {
            let prices = GroupPrices::weighing_at(paid, weights.clone());
            prices.map_or(Amount::MAX, |prices| prices.price())
        };
        let before = price(paid);
        let fits = |level: u128| {
            let mut paid = paid.to_vec();
            for &group in batch {
                let now = &mut paid[group as usize];
                *now = (*now).max(Amount::from_grains(level));
            }
            price(&paid).minus(before).is_some_and(|cost| cost <= more)
        };
        let dearest = paid.iter().max().copied().unwrap_or(Amount::ZERO);
        let (mut low, mut high) = (0, dearest.grains() + more.grains() + 1);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if fits(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        let columns = self.plan().sums.len().max(1) as u128;
        let column = Amount::from_grains(low / columns);
        let finest = self.finest().filter(|&finest| finest < column);
        (finest.unwrap_or(column), finest.is_some())
    }
}
