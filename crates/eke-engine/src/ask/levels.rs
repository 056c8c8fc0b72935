//! Questions with totals (ROLLUP, CUBE, GROUPING SETS): one question for each set of keys, asked
//! one after the other, and their rows put together.
//!
//! Each of them is a question like any other, with paths, bounds and cut counts of its own, so
//! totals cost what they would cost by themselves: a unit that is in groups of several sets pays
//! for each of them. A price, and a highest price that was written, are divided evenly. What was
//! paid for when one of them is refused stays paid, and is there for nothing when it is asked
//! again.

use std::cmp::Ordering;
use std::sync::Arc;

use eke_budget::{Amount, Rho};
use eke_sql::{Measure, Plan, Query, RowSource, Shows, Summand};
use serde_json::Value as Json;

use crate::ask::observer::Observer;
use crate::ask::question::{Accuracy, Goal, Question, Who};
use crate::ask::shown::additive::{Margins, NotAdditive, TotalsCover};
use crate::ask::shown::answer::{Answer, Chosen, Cost, InEpsilon, Kind, Row, Suppressed, Unmet};
use crate::data::ground::understand_level;
use crate::engine::Engine;
use crate::error::{EngineError, NotAnswered};
use crate::policy::Policy;

impl Engine {
    /// Answers a question with this many sets of keys.
    ///
    /// - Theorem: totals (docs/theorems.md)
    /// - Proves: all sets together cost a unit no more than is charged, however many groups of them
    ///   it is in
    /// - Assumes: each set is bounded and charged as a question of its own (`ask_level`)
    /// - Deviates: nothing
    /// - Checked by: `bounds_hold_for_each_set_of_keys_and_each_is_paid_for`
    pub(crate) fn ask_levels(
        &self,
        question: &Question,
        levels: usize,
        observer: &dyn Observer,
    ) -> Result<Answer, EngineError> {
        // All are understood before one is paid for.
        let (policy, Question { sql, who, .. }) = (self.policy(), question);
        let understood = |level| understand_level(policy, sql, who, level);
        let queries = (0..levels).map(|level| Ok(understood(level)?.query));
        let queries = queries.collect::<Result<Vec<Query>, EngineError>>()?;
        let shared = question.shared(levels);
        let answers = (0..levels).map(|level| self.ask_level(&shared, level, observer));
        let answers = answers.collect::<Result<Vec<Answer>, EngineError>>()?;
        Ok(together(&queries, answers))
    }
}

impl Question {
    /// The same question with what each of several may cost that it is made of.
    pub(crate) fn shared(&self, levels: usize) -> Self {
        let part = |price: Amount<Rho>| Amount::from_grains(price.grains() / levels.max(1) as u128);
        let accuracy = match self.goal.accuracy {
            Accuracy::Price(price) => Accuracy::Price(part(price)),
            accuracy => accuracy,
        };
        let goal = Goal { accuracy, at_most: self.goal.at_most.map(part), ..self.goal };
        Self { goal, ..self.clone() }
    }
}

/// Which columns of a question add up, by public information: known before it is asked.
///
/// # Errors
/// None does, or the question cannot be answered privately.
pub fn adds_up(policy: &Policy, sql: &str, who: &Who) -> Result<Margins, EngineError> {
    let levels = eke_sql::levels(sql)?;
    if levels == 1 {
        return Err(NotAnswered::from(NotAdditive::NoTotals).into());
    }
    let query = |level| Ok(understand_level(policy, sql, who, level)?.query);
    let queries = (0..levels).map(query).collect::<Result<Vec<Query>, EngineError>>()?;
    let totals = Margins::of(&queries);
    match &totals.cannot {
        Some(cannot) => Err(NotAnswered::from(cannot.clone()).into()),
        None => Ok(totals),
    }
}

/// The answers to the questions that one is made of, as one: the one with the most keys first.
fn together(queries: &[Query], answers: Vec<Answer>) -> Answer {
    let levels = answers.len();
    let mut totals = Margins::of(queries);
    let mut all: Option<Answer> = None;
    for (query, mut answer) in queries.iter().zip(answers) {
        let rolled = query.outputs.iter().filter(|output| output.shows == Shows::All);
        let over: Vec<Arc<str>> = rolled.map(|output| (*output.name).into()).collect();
        answer.rows.iter_mut().for_each(|row| row.over.clone_from(&over));
        all = Some(match all {
            None => answer,
            Some(before) => {
                let over = over.iter().map(|name| (**name).to_owned()).collect();
                let covers = answer.covers.take();
                totals.covers.extend(covers.map(|covers| TotalsCover { over, covers }));
                with(before, answer)
            }
        });
    }
    let Some(mut all) = all else { unreachable!("{levels} levels have an answer") };
    let keys = all.columns.iter().filter(|column| column.kind == Kind::Key);
    let keys: Vec<String> = keys.map(|column| column.name.clone()).collect();
    all.rows.sort_by(|one, other| by_keys(&keys, one, other));
    all.totals = Some(totals);
    all
}

/// One answer with the rows of another, and the price of both.
fn with(one: Answer, other: Answer) -> Answer {
    let sum = |one: Cost, other: Cost| Cost {
        rho: one.rho + other.rho,
        mechanism_delta: one.mechanism_delta + other.mechanism_delta,
    };
    let cost = sum(one.cost, other.cost);
    let delta = one.epsilon.or(other.epsilon).map(|epsilon| epsilon.delta);
    let mut unmet = one.unmet;
    for more in other.unmet {
        let is_same =
            |before: &&mut Unmet| before.name == more.name && before.ending == more.ending;
        match unmet.iter_mut().find(is_same) {
            None => unmet.push(more),
            Some(before) => {
                before.rows += more.rows;
                // Each set of keys is paid for by itself.
                before.needs = before.needs.zip(more.needs).map(|(one, more)| sum(one, more));
                let reach = before.reach.zip(more.reach);
                before.reach = reach.map(|(one, more)| one.max(more));
            }
        }
    }
    let both = |one: Option<Chosen>, other: Option<Chosen>| match (one, other) {
        (Some(one), Some(other)) => Some(Chosen {
            rows: one.rows + other.rows,
            groups: one.groups + other.groups,
            level: one.level.min(other.level),
        }),
        (one, other) => one.or(other),
    };
    let suppressed = one.suppressed.zip(other.suppressed).map(|(one, other)| Suppressed {
        rows: one.rows + other.rows,
        min_units: one.min_units.max(other.min_units),
    });
    Answer {
        rows: one.rows.into_iter().chain(other.rows).collect(),
        cost,
        left: other.left,
        free: one.free && other.free,
        fixed: one.fixed.zip(other.fixed).map(|(one, other)| sum(one, other)),
        alone: sum(one.alone, other.alone),
        looks: one.looks.max(other.looks),
        chosen: both(one.chosen, other.chosen),
        suppressed,
        tier: one.tier.or(other.tier),
        unmet,
        fewer: one.fewer.or(other.fewer),
        epsilon: delta.and_then(|delta| InEpsilon::at(cost.rho, delta)),
        sums_too_large: one.sums_too_large || other.sums_too_large,
        ..one
    }
}

/// The order of rows with totals: by their keys, and each total after what it is of.
fn by_keys(names: &[String], one: &Row, other: &Row) -> Ordering {
    let is_total = |row: &Row, name: &str| row.over.iter().any(|over| **over == *name);
    let keys = names.iter().zip(one.keys.iter().zip(&other.keys));
    let keys = keys.map(|(name, (key, than))| match (is_total(one, name), is_total(other, name)) {
        (false, false) => key_order(key, than),
        (one, other) => one.cmp(&other),
    });
    keys.fold(Ordering::Equal, Ordering::then)
}

/// The order of keys as they are shown: days and moments are texts that sort as they do.
fn key_order(one: &Json, other: &Json) -> Ordering {
    let rank = |key: &Json| match key {
        Json::Null => 0,
        Json::Bool(_) => 1,
        Json::Number(_) => 2,
        _ => 3,
    };
    match (one, other) {
        (Json::Bool(one), Json::Bool(other)) => one.cmp(other),
        (Json::Number(one), Json::Number(other)) => match (one.as_i64(), other.as_i64()) {
            (Some(one), Some(other)) => one.cmp(&other),
            _ => one.as_f64().unwrap_or(0.0).total_cmp(&other.as_f64().unwrap_or(0.0)),
        },
        (Json::String(one), Json::String(other)) => one.cmp(other),
        _ => rank(one).cmp(&rank(other)),
    }
}

impl Margins {
    /// Which columns of a question add up without noise, by what is public.
    fn of(queries: &[Query]) -> Self {
        let cannot = not_additive(queries);
        let mut margins = Self {
            levels: queries.len(),
            adds_up: Vec::new(),
            one_row_each: false,
            covers: Vec::new(),
            places: Vec::new(),
            cannot,
        };
        let Some(finest) = queries.first().filter(|_| margins.cannot.is_none()) else {
            return margins;
        };
        let values = finest.outputs.iter().filter_map(|o| Some((o, o.shows.measure()?)));
        for (place, (output, measure)) in values.enumerate() {
            if !is_additive(measure, queries) {
                continue;
            }
            margins.places.push(place);
            if matches!(output.shows, Shows::Measure(_)) {
                margins.adds_up.push(output.name.clone());
            }
        }
        margins.cannot = margins.adds_up.is_empty().then_some(NotAdditive::NoSums);
        margins.one_row_each = has_one_row_each(&finest.plan);
        margins
    }
}

/// Why the totals of a question are no sums of its rows, noise aside; none if they are.
fn not_additive(queries: &[Query]) -> Option<NotAdditive> {
    let finest = queries.first()?;
    if let Some(least) = finest.least {
        return Some(NotAdditive::MinUnits { min_units: least.count });
    }
    let most = |of: fn(&Plan) -> u32| queries.iter().map(|q| of(&q.plan)).max().unwrap_or(1);
    let (max_groups, max_rows) = (most(|plan| plan.max_groups), most(|plan| plan.max_rows));
    if max_groups > 1 || max_rows > 1 {
        return Some(NotAdditive::ManyRows { max_groups, max_rows });
    }
    let is_total = |query: &Query| query.outputs.iter().any(|output| output.shows == Shows::All);
    let is_whole = !is_total(finest)
        && queries.iter().flat_map(|q| &q.plan.keys).all(|key| finest.plan.keys.contains(key));
    if !is_whole {
        return Some(NotAdditive::NoCells);
    }
    let is_shown = |key: usize| finest.outputs.iter().any(|o| o.shows == Shows::Key(key));
    if !(0..finest.plan.keys.len()).all(is_shown) || !finest.of_keys.is_empty() {
        return Some(NotAdditive::HiddenKeys);
    }
    None
}

/// Whether a measure of units with one row each is added up over groups: the same sum, with the
/// same clamps and steps, in all sets.
fn is_additive(measure: usize, queries: &[Query]) -> bool {
    let sum = |query: &Query| match query.measures.get(measure) {
        Some(Measure::Sum(sum)) => query.plan.sums.get(*sum).cloned(),
        _ => None,
    };
    let mut sums = queries.iter().map(sum);
    let Some(Some(first)) = sums.next() else { return false };
    !matches!(first.summand, Summand::Distinct { .. })
        && sums.all(|sum| sum.as_ref() == Some(&first))
}

/// Whether a unit has one row by what the plan is, and not by what a policy says of it.
fn has_one_row_each(plan: &Plan) -> bool {
    match &plan.rows {
        None => plan.unit_column.is_empty(),
        Some(RowSource::PerUnit(per_unit)) => per_unit.keys.is_empty(),
        Some(_) => false,
    }
}
