//! Asking: from a question to an answer, round by round.
//!
//! A round plans where each group is looked at next, charges for it on disk, reads the rows if
//! nobody has yet, draws, and stores what was drawn before it is looked at. What a round has paid
//! for and lost stays paid. Whoever asks sees its own points of the paths, and what its own
//! accounts have spent and have left.

pub(crate) mod answer;
pub(crate) mod explain;
pub(crate) mod keys;
pub(crate) mod picks;
pub(crate) mod post;
pub(crate) mod question;
pub(crate) mod round;
pub(crate) mod slot;
pub(crate) mod state;
pub(crate) mod top;
pub(crate) mod walk;

pub use answer::{Answer, Cell, Chosen, Column, Cost, Kind, Row, Stopped};
pub use explain::{ErrorAt, Explanation, Keys, SizeAt, TierLimit, explain};
pub use question::{Accuracy, Goal, Question, Who};
pub use slot::{Clock, StoppedClock, SystemClock, USUAL_SLOT, slot};
pub use top::Sorting;

use std::borrow::Cow;
use std::num::NonZeroU32;
use std::time::Duration;

use eke_budget::purchase::GroupPrices;
use eke_budget::{Amount, Charge, Delta, Metric, PathId, Refusal, Rho};
use eke_ledger::patience::Patience;
use eke_ledger::{Key, Ledger, Stamp};
use eke_noise::SystemEntropy;
use eke_sql::{Measure, Plan, Summand, Value};

use crate::ask::answer::Found;
use crate::ask::post::Shown;
use crate::ask::round::Round;
use crate::ask::slot::Leaving;
use crate::ask::state::{State, level};
use crate::ask::top::Route;
use crate::ask::walk::{MeasureRule, Walk, at_hand, fixed_price};
use crate::engine::{Engine, Prepared};
use crate::error::{EngineError, Limit, Refused, cut, three_digits_up};
use crate::policy::AccountSpec;
use crate::purchase::Buyer;
use crate::purchase::identity::{Identity, Purpose};
use crate::purchase::payers::Payers;
use crate::purchase::process;
use crate::purchase::reading::request_name;
use crate::rows::{Bounded, RowsError};
use crate::watch::Paid;

/// Whoever watches a question being answered. Nothing that it is told depends on rows, but for the
/// number of rows that were read: that is for the steward alone.
pub trait Observer: Sync {
    /// So many rows have been read, of so many if that is known.
    fn rows(&self, _seen: u64, _of: Option<u64>) {}

    /// What time it is. Answers to analysts leave on slots of it.
    fn clock(&self) -> &dyn Clock {
        &SystemClock
    }

    /// A round of looks has been taken.
    fn look(&self, _number: u32) {}

    /// Whether a count within so little is really what is meant, and not a part of it: 0.05 of a
    /// row, and not 5 %.
    fn confirm_error(&self, _error: f64) -> bool {
        true
    }

    /// Whether to go on with a question that may cost so much of what is left.
    fn confirm(&self, _may_cost: Amount<Rho>, _left: Amount<Rho>) -> bool {
        true
    }

    /// Whether to stop at the next place where nothing that is paid for is lost.
    fn is_over(&self) -> bool {
        false
    }

    /// Whether to go on with a watch that sets aside so much of what is left, and perhaps more at
    /// later steps.
    fn confirm_watch(&self, _sets_aside: Paid, _left: Paid) -> bool {
        true
    }
}

/// Nobody watches, and nothing waits for a slot: for tests, and programs that see to that
/// themselves.
impl Observer for () {
    fn clock(&self) -> &dyn Clock {
        &StoppedClock
    }
}

/// What a question that may cost more than this part of what is left is asked about first.
const CONFIRM_ABOVE_ONE_IN: u128 = 33;

/// What a goal lacks.
struct TooDear {
    /// What it costs at least, picks and first looks together, beside the keys.
    price: Amount<Rho>,
    /// The point of a path that it takes, and how far the tier of whoever asks sees one, where that
    /// is what does not allow it.
    tier: Option<(Amount<Rho>, Amount<Rho>)>,
}

/// What does not allow a goal.
struct Short {
    /// Whose limit it is.
    limit: Limit,
    /// What the goal costs at least, in all.
    asked: Amount<Rho>,
    /// What it may cost, in all.
    fits: Amount<Rho>,
    /// What of that is beside the keys.
    price: Amount<Rho>,
}

/// A question on its way to an answer.
pub(crate) struct Asking<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) question: &'a Question,
    pub(crate) prepared: &'a Prepared,
    observer: &'a dyn Observer,
    pub(crate) entropy: SystemEntropy,
    /// The groups, where they are known before anything is charged.
    pub(crate) known: Option<Vec<Vec<Value>>>,
    /// What is computed from rows, once it is.
    bounded: Option<Bounded>,
    /// What whoever asks has paid for this answer.
    pub(crate) spent: Amount<Rho>,
    spent_delta: Amount<Delta>,
    /// How the groups of the answer are found.
    pub(crate) route: Route,
    /// What the requests of this question are called.
    pub(crate) name: String,
    pub(crate) rounds: u32,
    /// Since when rows may be read: from then on, how long it takes may depend on them.
    reads: Option<Duration>,
}

impl Engine {
    /// Answers a question.
    ///
    /// # Errors
    /// It is not one that can be answered privately, the budget does not allow it, or something
    /// does not work; the error says what.
    pub fn ask(&self, question: &Question, observer: &dyn Observer) -> Result<Answer, EngineError> {
        let prepared = self.prepare(&question.sql, &question.who)?;
        let entropy =
            SystemEntropy::new().map_err(|error| EngineError::Entropy(error.to_string()))?;
        let mut nonce = [0; 8];
        getrandom::fill(&mut nonce).map_err(|error| EngineError::Entropy(error.to_string()))?;
        let nonce: String = nonce.iter().map(|byte| format!("{byte:02x}")).collect();
        let route = Route::of(&prepared.query, &question.goal, &prepared.payers.unit.budget);
        let mut asking = Asking {
            engine: self,
            question,
            prepared: &prepared,
            observer,
            entropy,
            known: None,
            bounded: None,
            spent: Amount::ZERO,
            spent_delta: Amount::ZERO,
            route,
            name: request_name(&process::name(), &nonce, &question.who),
            rounds: 0,
            reads: None,
        };
        let answer = asking.answer();
        // What was answered is stored: nothing here takes it back.
        let _ = self.remember(&prepared.payers);
        let answer = match asking.reads {
            Some(came) => {
                let leaving = Leaving::since(observer.clock(), came, prepared.answer_time);
                self.on_slot(answer, &leaving, &prepared, &question.who)
            }
            None => answer,
        };
        answer.map_err(|error| self.as_seen_by(&question.who, error))
    }

    /// An error as whoever asked may see it: what the ledger says is about others too. An analyst
    /// without a budget of its own is refused in one sentence, whoever's account it was that said
    /// no. A highest price that was asked for is the analyst's own: that it is too low is said.
    pub(crate) fn as_seen_by(&self, who: &Who, error: EngineError) -> EngineError {
        let Some(analyst) = who.analyst() else { return error };
        match error {
            EngineError::Ledger(_)
            | EngineError::UnderWay(_)
            | EngineError::Damaged(_)
            | EngineError::Registry(_) => EngineError::Unavailable,
            EngineError::Refused(refused)
                if refused.limit != Limit::AtMost && !self.policy().has_own_budget(analyst) =>
            {
                Refused { charged: refused.charged, ..Refused::plainly() }.into()
            }
            error => error,
        }
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
        self.engine.ledger()
    }

    fn holder(&self) -> &str {
        &self.unit().name
    }

    fn stamp(&self) -> Stamp {
        Stamp::now(self.question.who.name())
    }

    fn patience(&self) -> Patience<'a> {
        self.engine.patience()
    }

    /// Waits for another program that draws from the same paths, and gives it up if it has ended.
    fn wait_for(&self, path: PathId, holder: &Key) -> Result<(), EngineError> {
        let unit = &self.unit().name;
        let enough = || self.check_over().map(|()| false);
        self.engine.wait_for_holder(unit, path, holder, &self.stamp(), &enough)
    }

    fn unavailable(&self) -> EngineError {
        EngineError::Unavailable
    }
}

impl<'a> Asking<'a> {
    pub(crate) fn plan(&self) -> &'a Plan {
        &self.prepared.query.plan
    }

    pub(crate) fn engine(&self) -> &'a Engine {
        self.engine
    }

    pub(crate) fn sql(&self) -> &'a str {
        &self.question.sql
    }

    pub(crate) fn entropy(&mut self) -> &mut SystemEntropy {
        &mut self.entropy
    }

    /// The accounts that pay.
    pub(crate) fn payers(&self) -> &'a Payers {
        &self.prepared.payers
    }

    pub(crate) fn unit(&self) -> &'a AccountSpec {
        &self.payers().unit
    }

    /// The account whose points are seen: the analyst's own, or the unit's.
    pub(crate) fn own(&self) -> &'a AccountSpec {
        self.payers().own()
    }

    pub(crate) fn finest(&self) -> Option<Amount<Rho>> {
        self.prepared.finest
    }

    pub(crate) fn count_keys(&mut self, account: &str, charge: Charge) {
        if let Charge::Zcdp { rho, delta } = charge
            && account == self.own().name
        {
            self.spent = self.spent.plus(rho).unwrap_or(Amount::MAX);
            self.spent_delta = self.spent_delta.plus(delta).unwrap_or(Amount::MAX);
        }
    }

    pub(crate) fn metric(&self) -> Metric {
        Metric::Hamming(self.plan().adjacency)
    }

    pub(crate) fn most(&self) -> NonZeroU32 {
        NonZeroU32::new(self.plan().max_groups).unwrap_or(NonZeroU32::MIN)
    }

    /// What is left of the accounts of whoever asks: the least of them.
    fn left(&self) -> Result<(Amount<Rho>, Amount<Delta>), EngineError> {
        let mut left = None;
        for account in self.payers().shown() {
            let account = self.ledger().account(&account.name).wait()?;
            let purse = account.as_ref().and_then(|account| account.odometer().zcdp());
            let found = purse
                .map_or((Amount::ZERO, Amount::ZERO), |purse| (purse.left(), purse.delta_left()));
            left = Some(left.map_or(found, |left: (Amount<Rho>, Amount<Delta>)| {
                (left.0.min(found.0), left.1.min(found.1))
            }));
        }
        Ok(left.unwrap_or((Amount::ZERO, Amount::ZERO)))
    }

    fn answer(&mut self) -> Result<Answer, EngineError> {
        let query = &self.prepared.query;
        // What it may cost at most is known before anything is spent on it.
        let (left, _) = self.left()?;
        let keys = self.keys_cost()?;
        self.known = if keys.is_zero() { Some(self.groups()?) } else { None };
        let stored = match &self.known {
            Some(groups) => self.load(groups)?,
            None => None,
        };
        if let Some(found) =
            stored.as_ref().and_then(|state| state.answers.get(&self.answer_name()))
        {
            return self.finish(stored.as_ref(), found, 0);
        }
        self.engine.may_read(self.prepared, &self.question.who)?;
        if let Accuracy::Absolute(error) = self.question.goal.accuracy
            && error < 1.0
            && self.shows_a_count()
            && !self.observer.confirm_error(error)
        {
            return Err(EngineError::Declined);
        }
        let more = self.allowed(&self.question.goal, stored.as_ref(), left, keys)?;
        self.check_unit(stored.as_ref(), keys)?;
        let may_cost = more.plus(keys).unwrap_or(Amount::MAX).min(left);
        if may_cost.grains() > left.grains() / CONFIRM_ABOVE_ONE_IN
            && !self.observer.confirm(may_cost, left)
        {
            return Err(EngineError::Declined);
        }
        self.reads = Some(self.observer.clock().now());
        let groups = match self.known.take() {
            Some(groups) => groups,
            None => self.groups()?,
        };
        if groups.is_empty() {
            return self.finish(None, &[], 0);
        }
        if let Route::Keys { sum, count } = self.route {
            return self.largest_keys(&groups, sum, count, more);
        }
        let state = match self.load(&groups)? {
            Some(state) => state,
            None => self.new_state(&groups)?,
        };
        // Somebody else may have asked the same while keys were selected.
        if let Some(found) = state.answers.get(&self.answer_name()) {
            return self.finish(Some(&state), found, 0);
        }
        if let Route::Top { sum, count } = self.route {
            return self.top(state, sum, count, more);
        }
        let (most, tier) = self.column_most((&self.question.goal, self.route), Some(&state), more);
        let columns = u32::try_from(query.plan.sums.len()).unwrap_or(u32::MAX);
        let least = state.bundle.step_prices().0;
        let paid = state.paid(&self.own().name);
        let mut walk = Walk::new(self.rules(most)?, columns, most, least, &paid);
        if tier.is_some() {
            walk = walk.capped();
        }
        let state = self.follow(state, &mut walk)?;
        self.finish(Some(&state), &walk.found(), walk.looks())
    }

    /// An error if whoever watches wants to stop: what was drawn is stored, and nothing is under
    /// way.
    pub(crate) fn check_over(&self) -> Result<(), EngineError> {
        if self.observer.is_over() { Err(EngineError::Stopped) } else { Ok(()) }
    }

    /// Whether a number of rows or units is among what is asked for.
    fn shows_a_count(&self) -> bool {
        let is_count = |sum: &eke_sql::Sum| !matches!(sum.of, Summand::Value { .. });
        self.prepared.query.measures.iter().any(
            |measure| matches!(measure, Measure::Sum(sum) if is_count(&self.plan().sums[*sum])),
        )
    }

    /// Follows a walk to its end, round by round.
    pub(crate) fn follow(
        &mut self,
        mut state: State,
        walk: &mut Walk,
    ) -> Result<State, EngineError> {
        loop {
            let wanted = walk.wanted();
            let paid = state.paid(&self.own().name);
            let (seen, needed): (Vec<_>, Vec<_>) = wanted
                .into_iter()
                .partition(|&(group, price)| walk.reaches(paid[group as usize], price));
            // What whoever asks has seen before is looked at again, for nothing.
            for (group, _) in &seen {
                walk.look(*group, &state.bundle, paid[*group as usize]);
            }
            if !seen.is_empty() && !walk.has_ended() {
                continue;
            }
            if walk.is_part() && walk.has_ended() {
                return Ok(state);
            }
            self.check_over()?;
            match self.round(state, &needed, walk)? {
                Round::Taken(next) => state = next,
                Round::Refused(next, refusal) => {
                    state = next;
                    walk.refuse().ok_or_else(|| self.refused(&refusal))?;
                    if walk.is_part() {
                        return Ok(state);
                    }
                    match self.round(state, &[], walk)? {
                        Round::Taken(next) => state = next,
                        Round::Refused(_, refusal) => return Err(self.refused(&refusal)),
                    }
                }
            }
            self.observer.look(walk.looks());
            if walk.has_ended() {
                return Ok(state);
            }
        }
    }

    /// The most that a goal may cost whoever asks, beside the keys.
    ///
    /// A highest price that was asked for is held against what the goal costs whatever is left:
    /// both are known to whoever asks, and a refusal for that tells nothing of what was spent.
    ///
    /// # Errors
    /// The goal does not fit: the refusal says what it costs at least, and what would fit.
    fn allowed(
        &self,
        goal: &Goal,
        state: Option<&State>,
        left: Amount<Rho>,
        keys: Amount<Rho>,
    ) -> Result<Amount<Rho>, EngineError> {
        let within = |left| match self.within(goal, state, left, keys)? {
            Ok(more) => Ok(more),
            Err(short) => Err(EngineError::from(self.refusal_for(&short, state, keys)?)),
        };
        if goal.at_most.is_some() {
            within(None)?;
        }
        within(Some(left))
    }

    /// A refusal of the goal, with what would be taken instead.
    fn refusal_for(
        &self,
        short: &Short,
        state: Option<&State>,
        keys: Amount<Rho>,
    ) -> Result<Refused, EngineError> {
        let Short { limit, asked, fits, .. } = *short;
        let (left, _) = self.left()?;
        let (error, price) = self.what_fits(short, state, left, keys);
        let goal = &self.question.goal;
        // A little more than it costs, for what is cut off.
        let more = Amount::from_grains(asked.grains().saturating_add(asked.grains() / 1000));
        let at_most = cut(more).filter(|&most| {
            let at_most = Some(most);
            limit == Limit::AtMost && self.accepts(&Goal { at_most, ..*goal }, state, left, keys)
        });
        let refused = self.refusal(Some(asked), Some(fits));
        Ok(Refused { limit, error, price, at_most, ..refused })
    }

    /// The most that a goal may cost whoever asks, beside the keys, or what it lacks. Where what is
    /// left does not count, a highest price that was asked for is all that can be short.
    fn within(
        &self,
        goal: &Goal,
        state: Option<&State>,
        left: Option<Amount<Rho>>,
        keys: Amount<Rho>,
    ) -> Result<Result<Amount<Rho>, Short>, EngineError> {
        let route = Route::of(&self.prepared.query, goal, &self.unit().budget);
        let (more, limit, fits) = match self.highest((goal, route), state, left, keys) {
            Ok(found) => found,
            Err(short) => return Ok(Err(short)),
        };
        Ok(match self.too_dear((goal, route), state, more)? {
            None => Ok(more),
            Some(TooDear { price, tier: None }) => {
                let asked = price.plus(keys).unwrap_or(Amount::MAX);
                Err(Short { limit, asked, fits, price })
            }
            Some(TooDear { price, tier: Some((point, finest)) }) => {
                Err(Short { limit: Limit::Tier(finest), asked: point, fits: finest, price })
            }
        })
    }

    /// The most that a goal may cost whoever asks, beside the keys, what says so, and how much that
    /// leaves for all of it.
    fn highest(
        &self,
        (goal, route): (&Goal, Route),
        state: Option<&State>,
        left: Option<Amount<Rho>>,
        keys: Amount<Rho>,
    ) -> Result<(Amount<Rho>, Limit, Amount<Rho>), Short> {
        let (asked, needed) = match goal.accuracy {
            // Picks that were seen before cost nothing.
            Accuracy::Price(price) if matches!(route, Route::Keys { .. }) => (price, Amount::ZERO),
            // What was paid for these points before is part of the price. Keys are not.
            Accuracy::Price(price) => {
                let more = price.minus(self.paid(state)).unwrap_or(Amount::ZERO);
                (more, more)
            }
            Accuracy::Relative(_) | Accuracy::Absolute(_) => (Amount::MAX, Amount::ZERO),
        };
        // What there is for all of it, the price of keys included.
        let (fits, limit) = match (left, goal.at_most) {
            (None, at_most) => (at_most.unwrap_or(Amount::MAX), Limit::AtMost),
            (Some(left), Some(most)) => (left.min(most), Limit::Budget),
            (Some(left), None) => match goal.accuracy {
                Accuracy::Relative(_) if !matches!(route, Route::Keys { .. }) => {
                    let tenth = Amount::from_grains(left.grains() / 10);
                    let fits = tenth.plus(keys).unwrap_or(left).min(left);
                    (fits, if fits < left { Limit::Tenth } else { Limit::Budget })
                }
                _ => (left, Limit::Budget),
            },
        };
        let all = needed.plus(keys).unwrap_or(Amount::MAX);
        match fits.minus(keys) {
            Some(more) if more >= needed => Ok((asked.min(more), limit, fits)),
            _ => Err(Short { limit, asked: all, fits, price: needed }),
        }
    }

    /// What whoever asks has paid for the points of a question.
    fn paid(&self, state: Option<&State>) -> Amount<Rho> {
        let paid = state.map_or_else(Vec::new, |state| state.paid(&self.own().name));
        let paid = GroupPrices::at(&paid, self.most(), self.metric());
        paid.map_or(Amount::MAX, |prices| prices.price())
    }

    /// The price of one column of each group, at most; and how far the tier of whoever asks sees a
    /// path, where it is that.
    fn column_most(
        &self,
        (goal, route): (&Goal, Route),
        state: Option<&State>,
        more: Amount<Rho>,
    ) -> (Amount<Rho>, Option<Amount<Rho>>) {
        let columns = self.plan().sums.len().max(1) as u128;
        let known = state.map(|state| state.groups.len());
        let count =
            known.or_else(|| crate::ask::keys::public_groups(self.plan()).map(|all| all.len()));
        let count = count.unwrap_or(usize::MAX).min(route.most_groups());
        let touched = (count as u128).clamp(1, self.most().get().into());
        let factor = u128::from(self.metric().group_factor::<Rho>());
        let evenly = |price: Amount<Rho>| Amount::from_grains(price.grains() / factor / touched);
        let group = match (goal.accuracy, state) {
            (Accuracy::Price(price), _) => evenly(price),
            (_, Some(state)) if !matches!(route, Route::Top { .. }) => {
                level(&state.paid(&self.own().name), self.most(), self.metric(), more)
            }
            (_, _) => evenly(more),
        };
        let column = Amount::from_grains(group.grains() / columns);
        let finest = self.finest().filter(|&finest| finest < column);
        (finest.unwrap_or(column), finest)
    }

    pub(crate) fn rules(&self, most: Amount<Rho>) -> Result<Vec<MeasureRule>, EngineError> {
        let rule = |measure| {
            MeasureRule::new(measure, self.plan(), &self.question.goal, most)
                .map_err(EngineError::from)
        };
        self.prepared.query.measures.iter().map(rule).collect()
    }

    /// What a goal lacks that does not fit so much more: an absolute one whose one look is dearer,
    /// or any whose picks do not fit or whose first look would have noise too wide to draw. Nothing
    /// if it fits. Known before anything is charged.
    fn too_dear(
        &self,
        asked: (&Goal, Route),
        state: Option<&State>,
        more: Amount<Rho>,
    ) -> Result<Option<TooDear>, EngineError> {
        let (goal, route) = asked;
        let (picks, half) = self.picks_least(asked)?;
        if matches!(route, Route::Keys { .. }) {
            let short = TooDear { price: picks, tier: None };
            return Ok((picks > more).then_some(short));
        }
        let all = more;
        let more = more.minus(picks).unwrap_or(Amount::ZERO);
        let (most, tier) = self.column_most(asked, state, more);
        let plan = self.plan();
        let columns = u32::try_from(plan.sums.len().max(1)).unwrap_or(u32::MAX);
        // How far whoever asks has got in every group.
        let paid = state.map_or_else(Vec::new, |state| state.paid(&self.own().name));
        let least = paid.iter().min().copied().unwrap_or(Amount::ZERO);
        let least = Amount::from_grains(least.grains() / u128::from(columns));
        let seen = paid.iter().any(|price| !price.is_zero());
        let groups = u32::try_from(route.most_groups()).unwrap_or(u32::MAX);
        let touched = self.most().get().min(groups);
        let factor = self.metric().group_factor::<Rho>();
        let is_top = matches!(route, Route::Top { .. });
        // What it costs to see every group that far, beside what was paid for before.
        let of_all = |group: Amount<Rho>| {
            let price = if paid.is_empty() || is_top {
                group.times(touched).and_then(|price| price.times(factor))
            } else {
                let raised: Vec<_> = paid.iter().map(|&paid| paid.max(group)).collect();
                let raised = GroupPrices::at(&raised, self.most(), self.metric());
                raised.ok().and_then(|raised| raised.price().minus(self.paid(state)))
            };
            price.and_then(|price| price.plus(picks)).unwrap_or(Amount::MAX).max(half)
        };
        let too_dear = |column: Amount<Rho>| TooDear {
            price: of_all(column.times(columns).unwrap_or(Amount::MAX)),
            tier: tier.map(|finest| (column, finest)),
        };
        for measure in &self.prepared.query.measures {
            let rule = MeasureRule::new(measure, plan, goal, most)?;
            let rule = if seen { rule.by_hand() } else { rule };
            let beyond = |planned: &Amount<Rho>| *planned > most && *planned > least;
            if let Some(planned) = rule.planned().filter(beyond) {
                return Ok(Some(too_dear(planned)));
            }
        }
        // A group of which nothing was seen begins with a step that can be drawn.
        let (first, _) = eke_noise::path::step_prices(&self.columns());
        let group = most.times(columns).unwrap_or(Amount::MAX);
        let unseen = paid.is_empty() || paid.iter().any(|price| price.is_zero());
        if unseen && group < first {
            let column = first.grains().div_ceil(u128::from(columns));
            return Ok(Some(too_dear(Amount::from_grains(column))));
        }
        Ok((all < half).then(|| TooDear { price: of_all(first), tier: None }))
    }

    /// What the picks of a question cost at least, beyond those that were seen; and what it must be
    /// allowed to cost for the first of them, since no more than half of it goes to picks.
    fn picks_least(
        &self,
        (goal, route): (&Goal, Route),
    ) -> Result<(Amount<Rho>, Amount<Rho>), EngineError> {
        let (sum, count) = match route {
            Route::Everything => return Ok((Amount::ZERO, Amount::ZERO)),
            Route::Top { sum, count } => (sum, count),
            Route::Keys { sum, count } => (sum, Some(count)),
        };
        let by = self.ranked_by((goal, route), sum);
        let all = self.known.as_ref().map(|groups| u32::try_from(groups.len()).unwrap_or(u32::MAX));
        let cost = |count: u32| match &self.known {
            Some(groups) => self.picks_cost(by, groups, count),
            None => Ok(by.each.times(count).unwrap_or(Amount::MAX)),
        };
        let visible = |count: u32| self.visible(by, count.min(all.unwrap_or(u32::MAX)));
        // Without LIMIT they are as many as can be paid for.
        let picks = count.map_or(Ok(Amount::ZERO), |count| cost(visible(count)?))?;
        let one = cost(visible(1)?)?;
        let half = match route {
            Route::Top { .. } => one.times(2).unwrap_or(Amount::MAX),
            Route::Everything | Route::Keys { .. } => Amount::ZERO,
        };
        Ok((picks, half))
    }

    /// Whether a goal would be taken, were it asked for instead.
    fn accepts(
        &self,
        goal: &Goal,
        state: Option<&State>,
        left: Amount<Rho>,
        keys: Amount<Rho>,
    ) -> bool {
        self.within(goal, state, Some(left), keys).is_ok_and(|fits| fits.is_ok())
    }

    /// An absolute error and a price that would be taken instead of the goal, where there are such.
    /// Each is tried as it is told.
    fn what_fits(
        &self,
        short: &Short,
        state: Option<&State>,
        left: Amount<Rho>,
        keys: Amount<Rho>,
    ) -> (Option<f64>, Option<Amount<Rho>>) {
        let goal = &self.question.goal;
        let takes =
            |accuracy: Accuracy| self.accepts(&Goal { accuracy, ..*goal }, state, left, keys);
        let error = match goal.accuracy {
            Accuracy::Absolute(error) => error,
            // All that there is; or the least that can be drawn, a little more than it for what is
            // cut off.
            Accuracy::Price(_) => {
                let most = short.fits.minus(keys).and_then(|fits| fits.plus(self.paid(state)));
                let least = short.price.grains().saturating_add(short.price.grains() / 100);
                let mut prices = [most, Some(Amount::from_grains(least))].into_iter().flatten();
                let taken = |price| cut(price).filter(|&price| takes(Accuracy::Price(price)));
                return (None, prices.find_map(taken));
            }
            Accuracy::Relative(_) => return (None, None),
        };
        // Out in leaps until it is taken, and then closer.
        let leap = f64::from(u32::MAX);
        let mut further = (1..64).map(|leaps| error * leap.powi(leaps));
        let Some(mut high) = further.find(|&error| takes(Accuracy::Absolute(error))) else {
            return (None, None);
        };
        let mut low = high / leap;
        for _ in 0..16 {
            let middle = low.sqrt() * high.sqrt();
            if takes(Accuracy::Absolute(middle)) { high = middle } else { low = middle }
        }
        let told = [high, high * 1.01].map(three_digits_up);
        (told.into_iter().find(|&error| takes(Accuracy::Absolute(error))), None)
    }

    pub(crate) fn refusal(&self, asked: Option<Amount<Rho>>, fits: Option<Amount<Rho>>) -> Refused {
        let whose = match &self.question.who {
            Who::Steward => format!("the budget of `{}`", self.unit().name),
            Who::Analyst(_) => "your budget".to_owned(),
        };
        let limit = Limit::Budget;
        let charged = self.spent;
        Refused { whose, limit, asked, fits, charged, ..Refused::plainly() }
    }

    /// A refusal by the unit's account, whose numbers an analyst does not see.
    fn refused_by_unit(&self) -> EngineError {
        let whose = format!("the budget of `{}`", self.unit().name);
        Refused { whose, ..self.refusal(None, None) }.into()
    }

    /// Refuses a question that nobody has asked before, and that the unit's account cannot pay for,
    /// before its keys or its first looks are charged.
    fn check_unit(&self, state: Option<&State>, keys: Amount<Rho>) -> Result<(), EngineError> {
        // What others have paid for costs the unit less, or nothing: then its account says so.
        let is_new = if keys.is_zero() {
            state.is_none() && matches!(self.route, Route::Everything)
        } else {
            !self.has_selected()?
        };
        if self.payers().others.is_empty() || !is_new {
            return Ok(());
        }
        let account = self.ledger().account(&self.unit().name).wait()?;
        let purse = account.as_ref().and_then(|account| account.odometer().zcdp());
        let left = purse.map_or(Amount::ZERO, |purse| purse.left());
        let goal = &self.question.goal;
        let at_most = Some(goal.at_most.map_or(left, |most| most.min(left)));
        match self.within(&Goal { at_most, ..*goal }, state, None, keys)? {
            Ok(_) => Ok(()),
            Err(_) => Err(self.refused_by_unit()),
        }
    }

    /// A refusal as whoever asked may see it: another account's numbers are not shown.
    pub(crate) fn refused(&self, refusal: &Refusal) -> EngineError {
        let rho = |charge: Charge| match charge {
            Charge::Zcdp { rho, .. } => rho,
            Charge::Pure { .. } => Amount::ZERO,
        };
        let is_units = *refusal.account == *self.unit().name;
        if is_units && self.question.who.analyst().is_some() {
            return self.refused_by_unit();
        }
        let delta = refusal.fits.map(Charge::delta);
        let short_of_delta = delta.filter(|&delta| refusal.asked.delta() > delta);
        let refused = self.refusal(Some(rho(refusal.asked)), refusal.fits.map(rho));
        Refused { delta: short_of_delta, ..refused }.into()
    }

    /// What an answer is found by: whose points it is of, its measures and its goal.
    pub(crate) fn answer_name(&self) -> String {
        let measures = serde_json::to_string(&self.prepared.query.measures).unwrap_or_default();
        let route = self.route.describe();
        format!("{} | {} | {measures}{route}", self.own().name, self.question.goal.describe())
    }

    /// The digest of the question: what is computed from which rows, for which groups.
    fn path(&self, groups: &[Vec<Value>]) -> Result<PathId, EngineError> {
        let identity = Identity::new(Purpose::Question).plan(self.plan()).rows(self.prepared);
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

    fn new_state(&self, groups: &[Vec<Value>]) -> Result<State, EngineError> {
        State::new(self.path(groups)?, groups.to_vec(), self.columns())
            .map_err(|error| EngineError::Damaged(error.to_string()))
    }

    /// What is stored of the question's paths; none if nothing is.
    pub(crate) fn load(&self, groups: &[Vec<Value>]) -> Result<Option<State>, EngineError> {
        if groups.is_empty() {
            return Ok(None);
        }
        let empty = self.new_state(groups)?;
        let stored = self.ledger().path(empty.bundle.id()).wait()?;
        let Some(bytes) = stored.and_then(|path| path.state) else { return Ok(None) };
        let state: State = serde_json::from_slice(&bytes)
            .map_err(|error| EngineError::Damaged(error.to_string()))?;
        if state.bundle.id() != empty.bundle.id() || state.groups != empty.groups {
            return Err(EngineError::Damaged("it is another question's".into()));
        }
        Ok(Some(state))
    }

    /// What is computed from the rows, which are read when something is paid for and not before.
    pub(crate) fn read_rows(&mut self, paid: Amount<Rho>) -> Result<&Bounded, EngineError> {
        if self.bounded.is_none() {
            let observer = self.observer;
            let read = self
                .engine
                .bounded(self.prepared, self.plan(), &|seen, of| observer.rows(seen, of));
            let bounded = read.map_err(|error| self.unread(error, paid))?;
            self.engine.note_nobodys(self.prepared, bounded.nobodys(), &self.stamp())?;
            self.bounded = Some(bounded);
        }
        Ok(self.bounded.as_ref().expect("just computed"))
    }

    /// Rows could not be read: the steward is told why, and an analyst that this is not available.
    pub(crate) fn unread(&self, error: RowsError, paid: Amount<Rho>) -> EngineError {
        match &self.question.who {
            Who::Steward => EngineError::Rows(error, paid),
            who => match self.engine.failed(self.prepared, who, &error, &self.stamp()) {
                Ok(()) => EngineError::Unavailable,
                Err(error) => error,
            },
        }
    }

    /// The answer as it is shown.
    pub(crate) fn finish(
        &self,
        state: Option<&State>,
        found: &[Vec<Found>],
        looks: u32,
    ) -> Result<Answer, EngineError> {
        let groups = state.map_or(&[][..], |state| &state.groups);
        let paid = state.map_or_else(Vec::new, |state| state.paid(&self.own().name));
        let alone = GroupPrices::at(&paid, self.most(), self.metric());
        let alone = alone.map_or(Amount::MAX, |prices| prices.price());
        let query = &self.prepared.query;
        let goal = &self.question.goal;
        let found = self.with_evidence(state, found)?;
        let Shown { columns, rows, chosen } = post::table(query, groups, &found, goal);
        let (left, left_delta) = self.left()?;
        let budget = &self.own().budget;
        let fixed = fixed_price(&query.measures, self.plan(), goal)
            .and_then(|group| group.times(self.most().get()))
            .and_then(|price| price.times(self.metric().group_factor::<Rho>()));
        let is_capped = rows.iter().flat_map(|row| &row.values).any(|v| v.ending == Stopped::Tier);
        let tier = self.finest().filter(|_| is_capped || self.sees_fewer(groups.len()));
        let units = match crate::ask::keys::public_groups(self.plan()) {
            Some(_) => None,
            None => crate::ask::keys::selection(self.plan(), &self.unit().budget)?.threshold(),
        };
        Ok(Answer {
            picked: !matches!(self.route, Route::Everything) && rows.len() < groups.len(),
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
            looks,
            chosen,
        })
    }

    /// What was found, with what it was read from. Answers that were stored before that was kept
    /// are read again at hand where rows are chosen by them: from what was paid for, for nothing.
    fn with_evidence<'f>(
        &self,
        state: Option<&State>,
        found: &'f [Vec<Found>],
    ) -> Result<Cow<'f, [Vec<Found>]>, EngineError> {
        let measured = found.iter().filter(|values| !values.is_empty()).count();
        let by = post::chosen_by(&self.prepared.query, measured);
        let is_old = |found: &Found| found.evidence.is_none() && found.value.is_some();
        let (Some(state), true) = (state, found.iter().flatten().any(is_old)) else {
            return Ok(found.into());
        };
        if !by.contains(&true) {
            return Ok(found.into());
        }
        let (rules, paid) = (self.rules(Amount::GRAIN)?, state.paid(&self.own().name));
        let mut found = found.to_vec();
        for ((group, values), paid) in (0u32..).zip(&mut found).zip(paid) {
            for (found, rule) in values.iter_mut().zip(&rules).filter(|(found, _)| is_old(found)) {
                found.evidence = at_hand(rule, &state.bundle, group, paid);
            }
        }
        Ok(found.into())
    }
}
