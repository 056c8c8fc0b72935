//! Asking: from a question to an answer, round by round.
//!
//! A round plans where each group is looked at next, charges for it on disk, reads the rows if
//! nobody has yet, draws, and stores what was drawn before it is looked at. What a round has paid
//! for and lost stays paid. Askers see their own points of the paths, and what their own
//! accounts have spent and have left.

pub(crate) mod affordable;
pub(crate) mod cut;
pub(crate) mod explain;
pub(crate) mod family;
pub(crate) mod goals;
pub(crate) mod keys;
pub(crate) mod levels;
pub(crate) mod observer;
pub(crate) mod quantile;
pub(crate) mod question;
pub(crate) mod read;
pub(crate) mod round;
pub(crate) mod shown;
pub(crate) mod slot;
pub(crate) mod state;
pub(crate) mod top;
pub(crate) mod walk;
pub(crate) mod weights;

pub use cut::{CutBin, CutCount, CutCounts, CutPart, CutShare, CutVerdict};
pub use explain::{
    ErrorAt, Explanation, Keys, SizeAt, TierLimit, Total, explain, explain_for, price_delta,
};
pub use levels::adds_up;
pub use observer::{Observer, SoFar};
pub use question::{Accuracy, ColumnGoals, Goal, Question, Who};
pub use shown::additive::{Additive, Margins, NotAdditive, TotalsCover};
pub use shown::answer::{
    Answer, Cell, Chosen, Column, Cost, Dated, Fewer, InEpsilon, Kind, Ordered, PickError, RankOf,
    Row, Stopped, Suppressed, Unmet, WhyFewer,
};
pub use shown::covers::{Clamp, Covers};
pub use slot::{Clock, StoppedClock, SystemClock, USUAL_SLOT, slot};
#[doc(hidden)]
pub use state::stored::rewritten;
pub use top::Sorting;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use eke_budget::purchase::GroupWeights;
use eke_budget::{Amount, Charge, Delta, PathId, Rho};
use eke_ledger::patience::Patience;
use eke_ledger::{Key, Ledger, Stamp};
use eke_noise::Exact;
use eke_noise::path::Columns;
use eke_sql::{Measure, Plan, Summand, Value};

use crate::ask::cut::Cutting;
use crate::ask::goals::Goals;
use crate::ask::quantile::Searching;
use crate::ask::round::{KnownPrices, Round};
use crate::ask::shown::answer::{self, Found};
use crate::ask::shown::post::{self, Shown};
use crate::ask::slot::Leaving;
use crate::ask::state::stored::{Given, Head, Json, damaged};
use crate::ask::state::stored_answer::{self, Finished};
use crate::ask::state::{Groups, State, dearest};
use crate::ask::top::Route;
use crate::ask::walk::{MeasureRule, Walk, at_hand, fixed_price};
use crate::engine::{Engine, Prepared};
use crate::error::EngineError;
use crate::purchase::audience::Audience;
use crate::purchase::context::Context;
use crate::purchase::identity::{Identity, Purpose};
use crate::purchase::{self, Bought, Buyer, Order};
use crate::rows::Bounded;

/// A question that may cost more than one part in this many of what is left is confirmed first.
const CONFIRM_ABOVE_ONE_IN: u128 = 33;

/// From this relative error on it is said that sums over groups are too large: at a tenth they are
/// off by less than a per cent.
const LOOSE: f64 = 0.2;

/// A question on its way to an answer.
pub(crate) struct Asking<'a> {
    pub(crate) context: Context<'a>,
    pub(crate) question: &'a Question,
    /// What each of its values must come to.
    pub(crate) goals: Goals,
    /// The groups, where they are known before anything is charged.
    pub(crate) known: Option<Groups>,
    /// What is computed from rows, once it is.
    bounded: Option<Bounded>,
    /// What of that the groups of the question have, once it was looked up.
    truth: Option<Exact<Columns>>,
    /// What accounts pay for the groups, after the last round.
    prices: Option<KnownPrices>,
    /// How many units were cut, once it is bought.
    pub(crate) cuts: Cutting,
    /// What the asker has paid for this answer.
    pub(crate) spent: Amount<Rho>,
    spent_delta: Amount<Delta>,
    /// How the groups of the answer are found.
    pub(crate) route: Route,
    /// The accounts that are held until the answer has left.
    audience: Audience,
    /// Since when rows may be read: from then on, how long it takes may depend on them.
    reads: Option<Duration>,
    /// How far the asker sees the question's paths, where something limits it.
    furthest: Option<Amount<Rho>>,
    /// How far it sees their ranking.
    furthest_picks: Option<Amount<Rho>>,
    /// What searches have found: by measure, and then by group.
    searched: BTreeMap<usize, Vec<Found>>,
    /// How many looks they took at most.
    search_looks: u32,
}

/// Where a walk has come to.
pub(crate) struct Followed {
    pub(crate) state: State,
    /// The answer, where the last round has stored it.
    pub(crate) answer: Option<Box<Answer>>,
}

/// What an answer is of: the groups, what the points that the asker has would cost on their own,
/// and the paths, where they were read.
#[derive(Clone, Copy)]
pub(crate) struct Answered<'s> {
    groups: &'s [Vec<Value>],
    alone: Amount<Rho>,
    state: Option<&'s State>,
}

impl Answered<'_> {
    /// Of no groups.
    pub(crate) const NOTHING: Self = Self { groups: &[], alone: Amount::ZERO, state: None };
}

impl Engine {
    /// Answers a question.
    ///
    /// # Errors
    /// It is not one that can be answered privately, the budget does not allow it, or something
    /// does not work; the error says what.
    pub fn ask(&self, question: &Question, observer: &dyn Observer) -> Result<Answer, EngineError> {
        match eke_sql::levels(&question.sql)? {
            1 => self.ask_level(question, 0, observer),
            levels => self.ask_levels(question, levels, observer),
        }
    }

    /// Answers one of the questions that a question with totals is made of; all of one that has
    /// none.
    pub(crate) fn ask_level(
        &self,
        question: &Question,
        level: usize,
        observer: &dyn Observer,
    ) -> Result<Answer, EngineError> {
        let prepared = self.prepare(&question.sql, level, &question.who)?;
        // What is paid for by itself has its part of a price.
        let parts = Asking::parts(&prepared.query).max(1);
        let shared =
            if parts > 1 { Cow::Owned(question.shared(parts)) } else { Cow::Borrowed(question) };
        let question = &*shared;
        let mut asking = self.asking(&prepared, question, observer)?;
        let mut answer = asking.in_turn();
        if let Ok(answer) = &mut answer {
            self.say_of_whole(&prepared, &question.who, answer);
        }
        // What was answered is stored: nothing here takes it back.
        let _ = self.remember(&prepared.payers);
        let answer = match asking.reads {
            Some(came) => {
                let leaving = Leaving::since(observer.clock(), came, prepared.answer_time);
                self.on_slot(answer, &leaving, &prepared, &question.who)
            }
            None => answer,
        };
        if asking.reads.is_some() && matches!(answer, Err(EngineError::Stopped)) {
            self.stopped(&prepared, &question.who, &asking.context.stamp())?;
        }
        asking.context.leave_audience(std::mem::take(&mut asking.audience));
        answer.map_err(|error| self.as_seen_by(&question.who, error))
    }

    /// A question on its way, of which nothing has been looked up.
    pub(crate) fn asking<'a>(
        &'a self,
        prepared: &'a Prepared,
        question: &'a Question,
        observer: &'a dyn Observer,
    ) -> Result<Asking<'a>, EngineError> {
        let context = Context::new(self, prepared, (&question.who, &question.sql), observer)?;
        let goals = Goals::new(question.goal, &question.columns, &prepared.query)?;
        Searching::check(&prepared.query, &goals)?;
        let route = Route::of(&prepared.query, &goals, &prepared.payers.unit.budget);
        Ok(Asking {
            context,
            question,
            goals,
            known: None,
            bounded: None,
            truth: None,
            prices: None,
            cuts: Cutting::of(&prepared.query.reading(), prepared.cut_part),
            searched: BTreeMap::new(),
            search_looks: 0,
            spent: Amount::ZERO,
            spent_delta: Amount::ZERO,
            route,
            audience: Audience::default(),
            reads: None,
            furthest: prepared.finest,
            furthest_picks: prepared.finest,
        })
    }

    /// Holds something back until its slot, if an analyst waits for it.
    pub(crate) fn on_slot<T>(
        &self,
        what: Result<T, EngineError>,
        leaving: &Leaving<'_>,
        prepared: &Prepared,
        who: &Who,
    ) -> Result<T, EngineError> {
        let late = leaving.late();
        let noted =
            late.map_or(Ok(()), |taken| self.late(prepared, who, taken, &Stamp::now(who.name())));
        if who.analyst().is_some() {
            match late {
                Some(_) => leaving.wait(),
                None => leaving.wait_first(),
            }
        }
        noted.and(what)
    }
}

impl<'a> Buyer<'a> for Asking<'a> {
    type Error = EngineError;

    fn ledger(&self) -> &Ledger {
        self.context.ledger()
    }

    fn holder(&self) -> &str {
        &self.context.unit().name
    }

    fn stamp(&self) -> Stamp {
        self.context.stamp()
    }

    fn patience(&self) -> Patience<'a> {
        self.context.engine.patience()
    }

    fn wait_for(&self, path: PathId, holder: &Key) -> Result<(), EngineError> {
        self.context.wait_for(path, holder, &|| Ok(false))
    }

    fn unavailable(&self) -> EngineError {
        EngineError::Unavailable
    }
}

impl<'a> Asking<'a> {
    pub(crate) fn plan(&self) -> &'a Plan {
        &self.context.prepared.query.plan
    }

    /// How far the asker sees a path of the question, beside what it has seen of others that differ
    /// only in their bounds; none if nothing limits it.
    pub(crate) fn finest(&self) -> Option<Amount<Rho>> {
        self.furthest
    }

    /// Looks up how far the asker may see the question's paths. While they are followed it does not
    /// change: what they are seen further by, they have less to go.
    fn look_up_finest(&mut self, state: Option<&State>) -> Result<(), EngineError> {
        let Some(family) = self.question_family()? else { return Ok(()) };
        let (before, paid) = match state {
            Some(state) => {
                let paid = state.paid(&self.context.own().name).iter().max();
                let columns = self.plan().sums.len().max(1) as u128;
                let paid = paid.map_or(0, |paid| paid.grains().div_ceil(columns));
                (self.seen_of(&family, state.bundle.id())?, Amount::from_grains(paid))
            }
            None => (Amount::ZERO, Amount::ZERO),
        };
        let furthest = family.furthest(before).max(paid);
        self.furthest = Some(furthest);
        if furthest.is_zero() && !matches!(self.route, Route::Keys { .. }) {
            return Err(family.beyond());
        }
        Ok(())
    }

    /// Buys for the question, or says who refuses.
    pub(crate) fn buy<O: Order<'a, Self>>(
        &mut self,
        order: &mut O,
    ) -> Result<O::Made, EngineError> {
        match purchase::buy(self, order)? {
            Bought::Made(made) => Ok(made),
            Bought::Refused(refusal) => Err(self.refused(&refusal)),
        }
    }

    pub(crate) fn count_keys(&mut self, account: &str, charge: Charge) {
        if let Charge::Zcdp { rho, delta } = charge
            && account == self.context.own().name
        {
            self.spent = self.spent.plus(rho).unwrap_or(Amount::MAX);
            self.spent_delta = self.spent_delta.plus(delta).unwrap_or(Amount::MAX);
        }
    }

    /// What of the groups' prices one unit pays.
    pub(crate) fn weights(&self) -> GroupWeights<Rho> {
        match self.plan().sums.is_empty() {
            // Nothing but quantiles.
            true => weights::weights(&self.context.prepared.query.reading()),
            false => weights::weights(self.plan()),
        }
    }

    /// What the asker's accounts have left: the least of them.
    pub(crate) fn left(&self) -> Result<(Amount<Rho>, Amount<Delta>), EngineError> {
        let mut left = None;
        for account in self.context.payers().shown() {
            let account = self.context.ledger().account(&account.name).wait()?;
            let purse = account.as_ref().and_then(|account| account.odometer().zcdp());
            let found = purse
                .map_or((Amount::ZERO, Amount::ZERO), |purse| (purse.left(), purse.delta_left()));
            left = Some(left.map_or(found, |left: (Amount<Rho>, Amount<Delta>)| {
                (left.0.min(found.0), left.1.min(found.1))
            }));
        }
        Ok(left.unwrap_or((Amount::ZERO, Amount::ZERO)))
    }

    /// The answer, once nobody in sight of the asker is under way.
    fn in_turn(&mut self) -> Result<Answer, EngineError> {
        self.audience = self.context.hold_audience()?;
        self.answer()
    }

    /// Asks the asker for a yes, who may take long: others may look in the meantime.
    fn consult(&mut self, yes: impl FnOnce(&dyn Observer) -> bool) -> Result<(), EngineError> {
        self.context.leave_audience(std::mem::take(&mut self.audience));
        if !yes(self.context.observer) {
            return Err(EngineError::Declined);
        }
        self.context.begin();
        self.audience = self.context.hold_audience()?;
        Ok(())
    }

    fn answer(&mut self) -> Result<Answer, EngineError> {
        let query = &self.context.prepared.query;
        // What it may cost at most is known before anything is spent on it.
        let (left, _) = self.left()?;
        let keys = self.keys_cost()?;
        self.known = if keys.is_zero() { Some(self.groups()?) } else { None };
        if query.measures.is_empty() {
            return self.keys_alone(left, keys);
        }
        if query.plan.sums.is_empty() {
            return self.quantiles_alone(left, keys);
        }
        let mut stored = None;
        if let Some(groups) = self.known.as_ref().filter(|groups| !groups.is_empty()) {
            let state = self.new_state(groups)?;
            if let Some(answer) = self.given(&state)? {
                return Ok(answer);
            }
            stored = Some(self.current(state)?).filter(State::is_stored);
        }
        self.look_up_finest(stored.as_ref())?;
        self.look_up_picks(self.known.clone().as_deref())?;
        self.context.engine.may_read(self.context.prepared, self.context.who)?;
        if let Some(error) = self.error_of_a_count()
            && error < 1.0
        {
            self.consult(|observer| observer.confirm_error(error))?;
        }
        let more = self.allowed(&self.question.goal, stored.as_ref(), left, keys)?;
        self.check_unit(stored.as_ref(), keys)?;
        let parts = u32::try_from(Self::parts(query)).unwrap_or(u32::MAX);
        let all = more.times(parts).unwrap_or(Amount::MAX);
        let beside = self.cuts_cost(all);
        let may_cost = all.plus(keys).and_then(|cost| cost.plus(beside));
        let may_cost = may_cost.unwrap_or(Amount::MAX).min(left);
        self.confirm(may_cost, left)?;
        self.reads = Some(self.context.observer.clock().now());
        let groups = match self.known.take() {
            Some(groups) => groups,
            None => self.groups()?,
        };
        if groups.is_empty() {
            return Ok(self.finish(Answered::NOTHING, &[], 0)?.answer);
        }
        if let Route::Keys { sum, count } = self.route {
            return self.largest_keys(&groups, sum, count, more);
        }
        let state = match stored {
            Some(state) => state,
            None => self.new_state(&groups)?,
        };
        let state = self.current(state)?;
        // Somebody else may have asked the same meanwhile. This is looked up after the paths: were
        // it before, theirs could be found with points and without the answer that came with them,
        // as paths that were seen before, whose next goal is dearer.
        if let Some(answer) = self.given(&state)? {
            return Ok(answer);
        }
        self.look_up_finest(Some(&state))?;
        if let Route::Top { sum, count } = self.route {
            return self.top(state, sum, count, more);
        }
        self.search_all(&groups, more)?;
        let (most, tier) = self.column_most((&self.question.goal, self.route), Some(&state), more);
        let columns = u32::try_from(query.plan.sums.len()).unwrap_or(u32::MAX);
        let least = state.bundle.step_prices().0;
        let paid = state.paid(&self.context.own().name);
        let mut walk = Walk::new(self.rules(most)?, columns, most, least, paid);
        if tier.is_some() {
            walk = walk.capped();
        }
        let followed = self.follow(state, &mut walk)?;
        self.answered(followed, &walk)
    }

    /// Asks for a yes to what may cost more than a small part of what is left.
    fn confirm(&mut self, may_cost: Amount<Rho>, left: Amount<Rho>) -> Result<(), EngineError> {
        if may_cost.grains() > left.grains() / CONFIRM_ABOVE_ONE_IN {
            self.consult(|observer| observer.confirm(may_cost, left))?;
        }
        Ok(())
    }

    /// The keys, where nothing is computed for them: those that are public, for which no row is
    /// read, or those that are selected, as for any other question over the same rows and keys.
    fn keys_alone(&mut self, left: Amount<Rho>, keys: Amount<Rho>) -> Result<Answer, EngineError> {
        let groups = match self.known.take() {
            Some(groups) => groups,
            None => {
                self.context.engine.may_read(self.context.prepared, self.context.who)?;
                self.confirm(keys.min(left), left)?;
                self.reads = Some(self.context.observer.clock().now());
                self.groups()?
            }
        };
        let (alone, nothing) = (Amount::ZERO, vec![Vec::new(); groups.len()]);
        let of = Answered { groups: &groups, alone, state: None };
        Ok(self.finish(of, &nothing, 0)?.answer)
    }

    /// The least absolute error that is asked for of a count of rows or units.
    fn error_of_a_count(&self) -> Option<f64> {
        let is_count = |sum: &eke_sql::Sum| !matches!(sum.summand, Summand::Value { .. });
        let query = &self.context.prepared.query;
        let of_a_count = |measure: usize| match (&query.measures[measure], self.goals.of(measure)) {
            (Measure::Sum(sum), Goal { accuracy: Accuracy::Absolute(error), .. }) => {
                Some(error).filter(|_| is_count(&self.plan().sums[*sum]))
            }
            _ => None,
        };
        let shown = query.outputs.iter().filter_map(|output| output.shows.measure());
        shown.filter_map(of_a_count).min_by(f64::total_cmp)
    }

    /// Follows a walk to its end, round by round.
    pub(crate) fn follow(
        &mut self,
        mut state: State,
        walk: &mut Walk,
    ) -> Result<Followed, EngineError> {
        loop {
            let paid = state.paid(&self.context.own().name);
            if walk.may_catch_up() {
                walk.catch_up(dearest(paid, self.weights().groups()));
            }
            let (seen, mut needed): (Vec<_>, Vec<_>) = walk
                .wanted()
                .into_iter()
                .partition(|&(group, price)| walk.reaches(paid[group as usize], price));
            // What the asker has seen before is looked at again, for nothing.
            let seen: Vec<_> =
                seen.iter().map(|&(group, _)| (group, paid[group as usize])).collect();
            walk.look_at(seen.iter().copied(), &state.bundle);
            if !seen.is_empty() && !walk.has_ended() {
                continue;
            }
            if walk.is_part() && walk.has_ended() {
                return Ok(Followed { state, answer: None });
            }
            walk.send_ahead(&mut needed, self.weights().groups());
            self.context.check_over()?;
            if walk.has_ended() {
                self.settle_cuts(&state)?;
            }
            let taken = match self.round(state, &needed, walk)? {
                Round::Taken(taken) => taken,
                Round::Refused(left, refusal) => {
                    walk.refuse().ok_or_else(|| self.refused(&refusal))?;
                    if walk.is_part() {
                        return Ok(Followed { state: left, answer: None });
                    }
                    if walk.may_catch_up() {
                        state = left;
                        continue;
                    }
                    self.last_round(left, walk)?
                }
            };
            // When rows were read is for the steward alone.
            if self.context.who.analyst().is_none() {
                self.context.observer.look(walk.looks());
            }
            self.show_so_far(&taken.state, walk);
            if walk.has_ended() {
                let is_stored = taken.answer.is_some() || walk.is_part();
                return if is_stored { Ok(taken) } else { self.last_round(taken.state, walk) };
            }
            state = taken.state;
        }
    }

    /// Stores the answer that a walk has ended with, once it is known how many units were cut.
    pub(crate) fn last_round(
        &mut self,
        state: State,
        walk: &mut Walk,
    ) -> Result<Followed, EngineError> {
        self.settle_cuts(&state)?;
        match self.round(state, &[], walk)? {
            Round::Taken(taken) => Ok(taken),
            Round::Refused(_, refusal) => Err(self.refused(&refusal)),
        }
    }

    /// Shows the steward what was found so far, if somebody follows.
    fn show_so_far(&self, state: &State, walk: &Walk) {
        const FEW: usize = 3;
        let observer = self.context.observer;
        if !observer.follows() || self.context.who.analyst().is_some() {
            return;
        }
        let (ended, all, first) = walk.so_far(FEW);
        let keys = |group: u32| state.groups[group as usize].iter().map(answer::json).collect();
        let first = first.into_iter().map(|(group, value)| (keys(group), value)).collect();
        observer.so_far(&SoFar { ended, all, first });
    }

    pub(crate) fn rules(&self, most: Amount<Rho>) -> Result<Vec<MeasureRule>, EngineError> {
        let measures = &self.context.prepared.query.measures;
        Ok(walk::rules(measures, self.plan(), &self.goals, most)?)
    }

    /// What an answer is found by: whose points it is of, its measures and its goal.
    pub(crate) fn answer_name(&self) -> String {
        let measures =
            serde_json::to_string(&self.context.prepared.query.measures).unwrap_or_default();
        let route = self.route.describe();
        format!("{} | {} | {measures}{route}", self.context.own().name, self.goals.describe())
    }

    /// The digest of the question: what is computed from which rows, for which groups.
    fn path(&self, groups: &[Vec<Value>]) -> Result<PathId, EngineError> {
        let identity =
            Identity::new(Purpose::Question).plan(self.plan()).rows(self.context.prepared);
        identity.json(&groups).path()
    }

    /// The columns of the question's paths.
    fn columns(&self) -> Vec<eke_noise::path::Column> {
        let column = |sum: &eke_sql::Sum| {
            let sensitivity = crate::rows::sensitivity(sum, self.plan().max_rows);
            eke_noise::path::Column { sensitivity, share: 1 }
        };
        self.plan().sums.iter().map(column).collect()
    }

    fn new_state(&self, groups: &Groups) -> Result<State, EngineError> {
        State::new(self.path(groups)?, Arc::clone(groups), self.columns())
            .map_err(EngineError::damaged)
    }

    /// What is stored of the question's paths; none if nothing is.
    pub(crate) fn load(&self, groups: &Groups) -> Result<Option<State>, EngineError> {
        if groups.is_empty() {
            return Ok(None);
        }
        Ok(Some(self.current(self.new_state(groups)?)?).filter(State::is_stored))
    }

    /// The paths as they are stored now.
    pub(crate) fn current(&self, mut state: State) -> Result<State, EngineError> {
        let stored = self.context.ledger().path(state.bundle.id()).wait()?;
        self.go_on(&mut state, stored.and_then(|path| path.state).as_deref())?;
        Ok(state)
    }

    /// Goes on with what is stored of the paths, and says whether anything has changed.
    pub(crate) fn go_on(
        &self,
        state: &mut State,
        stored: Option<&[u8]>,
    ) -> Result<bool, EngineError> {
        let path = state.bundle.id();
        state.go_on(stored, |from, to| Ok(self.context.ledger().rounds(path, from, to).wait()?))
    }

    /// The answer that was given to the same question before; none if there is none. Its paths are
    /// not read, unless an older eke gave it.
    fn given(&self, state: &State) -> Result<Option<Answer>, EngineError> {
        let (path, name) = (state.bundle.id(), self.answer_name());
        let stored = self.context.ledger().path(path).wait()?.and_then(|path| path.state);
        let Some(bytes) = stored else { return Ok(None) };
        if !Json::is(&bytes) {
            let head = Head::read(&bytes, path)?;
            match head.answers.get(&name) {
                None => return Ok(None),
                Some(Given::Request(key)) => {
                    let body = self.context.ledger().stored_answer(key.clone()).wait()?;
                    let body = body.ok_or_else(damaged)?;
                    let found = stored_answer::found(body.body(), path, state.groups.len())?;
                    let own = head.alone.get(&self.context.own().name);
                    let alone = own.copied().unwrap_or(Amount::ZERO);
                    let of = Answered { groups: &state.groups, alone, state: None };
                    let mut answer = self.finish(of, &found, 0)?.answer;
                    if let Some(covers) = &mut answer.covers {
                        covers.cut = stored_answer::cut(body.body());
                    }
                    return Ok(Some(answer));
                }
                Some(Given::First) => {}
            }
        }
        let mut state = state.clone();
        self.go_on(&mut state, Some(&bytes))?;
        let Some(found) = state.old_answer(&name) else { return Ok(None) };
        Ok(Some(self.finish(self.of(&state, None), found, 0)?.answer))
    }

    /// What an answer is of, where the asker's points would cost this on their own, if it is known.
    pub(crate) fn of<'s>(&self, state: &'s State, alone: Option<Amount<Rho>>) -> Answered<'s> {
        let compute = || state.alone(&self.context.own().name, &self.weights());
        let alone = alone.unwrap_or_else(compute);
        Answered { groups: &state.groups, alone, state: Some(state) }
    }

    /// What is computed from the rows, which are read when something is paid for and not before.
    pub(crate) fn read_rows(&mut self, paid: Amount<Rho>) -> Result<&Bounded, EngineError> {
        if self.bounded.is_none() {
            let read =
                self.context.read(&self.context.prepared.query.reading(), false, |error| {
                    EngineError::Rows(error, paid)
                })?;
            self.bounded = Some(read);
        }
        Ok(self.bounded.as_ref().expect("just computed"))
    }

    /// The answer that a walk has ended with.
    fn answered(&self, followed: Followed, walk: &Walk) -> Result<Answer, EngineError> {
        match followed.answer {
            Some(answer) => Ok(*answer),
            None => {
                let of = self.of(&followed.state, None);
                Ok(self.finish(of, &walk.found(), walk.looks())?.answer)
            }
        }
    }

    /// The answer as it is shown.
    pub(crate) fn finish(
        &self,
        Answered { groups, alone, state }: Answered<'_>,
        found: &[Vec<Found>],
        looks: u32,
    ) -> Result<Finished, EngineError> {
        let query = &self.context.prepared.query;
        let goal = &self.question.goal;
        let found = self.with_searched(found);
        let found = self.with_evidence(state, &found)?;
        let Shown { columns, rows, groups: shown, chosen, suppressed } =
            post::table(query, groups, &post::known(query, &found), &self.goals);
        let (left, left_delta) = self.left()?;
        let budget = &self.context.own().budget;
        let fixed = fixed_price(&query.measures, self.plan(), &self.goals)
            .filter(|_| !query.measures.is_empty())
            .and_then(|group| self.weights().of_equal(usize::MAX, group));
        let is_capped = rows.iter().flat_map(|row| &row.values).any(|v| v.ending == Stopped::Tier);
        let tier = self.finest().filter(|_| is_capped || self.sees_fewer(groups.len()));
        let units = match keys::public_group_count(self.plan()) {
            Some(_) => None,
            None => keys::selection(self.plan(), &self.context.unit().budget)?.threshold(),
        };
        let measures = query.outputs.iter().filter_map(|output| output.shows.measure());
        let answer = Answer {
            picked: !matches!(self.route, Route::Everything) && rows.len() < groups.len(),
            listed: query.measures.is_empty() && units.is_none(),
            units,
            tier: tier.map(|finest| Cost::new(finest, Amount::ZERO)),
            columns,
            rows,
            cost: Cost::new(self.spent, self.spent_delta),
            left: Cost::new(left, left_delta),
            budget: budget
                .zcdp()
                .map_or_else(Cost::default, |whole| Cost::new(whole.budget, whole.delta)),
            free: self.spent.is_zero() && self.spent_delta.is_zero(),
            fixed: fixed.map(|rho| Cost::new(rho, Amount::ZERO)),
            alone: Cost::new(alone, Amount::ZERO),
            looks: looks.max(self.search_looks),
            chosen,
            suppressed,
            sums_too_large: self.adds_up_too_large(groups.len()),
            totals: None,
            additive: None,
            unmet: Vec::new(),
            fewer: None,
            picks: None,
            epsilon: self.in_epsilon(self.spent).filter(|_| !goal.is_one()),
            covers: Some(Covers {
                cut: self.cuts.counts().cloned(),
                ..Covers::of(&query.reading(), &self.context.unit().name)
            }),
        };
        let answer = self.with_what_lacks(answer, (groups.len(), &shown), &found, left);
        Ok(Finished { answer, shown, measures: measures.collect() })
    }

    /// Whether what is shown adds up to too much: of groups that stop by what they see, those stop
    /// early that seem large.
    fn adds_up_too_large(&self, groups: usize) -> bool {
        let query = &self.context.prepared.query;
        let is_loose = |measure: usize| match (&query.measures[measure], self.goals.of(measure)) {
            (Measure::Sum(_), Goal { accuracy: Accuracy::Relative(tolerance), .. }) => {
                tolerance.get() >= LOOSE
            }
            _ => false,
        };
        let mut shown = query.outputs.iter().filter_map(|output| output.shows.measure());
        groups > 1 && shown.any(is_loose)
    }

    /// What was found, with what it was read from. Answers that were stored before that was kept
    /// are read again at hand where rows are chosen by them: from what was paid for, for nothing.
    fn with_evidence<'f>(
        &self,
        state: Option<&State>,
        found: &'f [Vec<Found>],
    ) -> Result<Cow<'f, [Vec<Found>]>, EngineError> {
        let is_old = |found: &Found| found.evidence.is_none() && found.value.is_some();
        let (Some(state), true) = (state, found.iter().flatten().any(is_old)) else {
            return Ok(found.into());
        };
        if !post::may_choose(&self.context.prepared.query, found) {
            return Ok(found.into());
        }
        let (rules, paid) = (self.rules(Amount::GRAIN)?, state.paid(&self.context.own().name));
        let mut found = found.to_vec();
        for ((group, values), &paid) in (0u32..).zip(&mut found).zip(paid) {
            for (found, rule) in values.iter_mut().zip(&rules).filter(|(found, _)| is_old(found)) {
                found.evidence = at_hand(rule, &state.bundle, group, paid);
            }
        }
        Ok(found.into())
    }
}
