//! Asking: from a question to an answer, round by round.
//!
//! A round plans where each group is looked at next, charges for it on disk, reads the rows if nobody has yet,
//! draws, and stores what was drawn before it is looked at. What a round has paid for and lost stays paid.
//! Whoever asks sees its own points of the paths, and what its own accounts have spent and have left.

use std::borrow::Cow;
use std::num::NonZeroU32;
use std::time::Duration;

use eke_budget::{Amount, Charge, Delta, GroupPrices, Metric, PathId, Refusal, Rho};
use eke_ledger::{Ledger, Stamp};
use eke_noise::SystemEntropy;
use eke_sql::{Plan, Value};

use crate::answer::{Answer, Cost, Found};
use crate::engine::{Engine, Prepared};
use crate::error::{EngineError, Refused};
use crate::policy::AccountSpec;
use crate::post::{self, Shown};
use crate::process;
use crate::question::{Accuracy, Question, Who};
use crate::reading::request_name;
use crate::round::Round;
use crate::rows::{Bounded, RowsError};
use crate::slot::{Clock, Leaving, StoppedClock, SystemClock};
use crate::state::{State, level};
use crate::top::Route;
use crate::walk::{MeasureRule, Walk, at_hand, fixed_price, reaches};
use crate::watch::Paid;

/// Whoever watches a question being answered. Nothing that it is told depends on rows, but for the number of
/// rows that were read: that is for the steward alone.
pub trait Watch: Sync {
    /// So many rows have been read, of so many if that is known.
    fn rows(&self, _seen: u64, _of: Option<u64>) {}

    /// What time it is. Answers to analysts leave on slots of it.
    fn clock(&self) -> &dyn Clock {
        &SystemClock
    }

    /// A round of looks has been taken.
    fn look(&self, _number: u32) {}

    /// Whether to go on with a question that may cost so much of what is left.
    fn confirm(&self, _may_cost: Amount<Rho>, _left: Amount<Rho>) -> bool {
        true
    }

    /// Whether to go on with a watch that sets aside so much of what is left, and perhaps more at later steps.
    fn confirm_watch(&self, _sets_aside: Paid, _left: Paid) -> bool {
        true
    }
}

/// Nobody watches, and nothing waits for a slot: for tests, and programs that see to that
/// themselves.
impl Watch for () {
    fn clock(&self) -> &dyn Clock {
        &StoppedClock
    }
}

/// What a question that may cost more than this part of what is left is asked about first.
const MUCH: u128 = 33;

/// A question on its way to an answer.
pub(crate) struct Asking<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) question: &'a Question,
    pub(crate) prepared: &'a Prepared,
    watch: &'a dyn Watch,
    pub(crate) entropy: SystemEntropy,
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
    /// It is not one that can be answered privately, the budget does not allow it, or something does not work;
    /// the error says what.
    pub fn ask(&self, question: &Question, watch: &dyn Watch) -> Result<Answer, EngineError> {
        let prepared = self.prepare(&question.sql, &question.who)?;
        let entropy =
            SystemEntropy::new().map_err(|error| EngineError::Entropy(error.to_string()))?;
        let mut nonce = [0; 8];
        getrandom::fill(&mut nonce).map_err(|error| EngineError::Entropy(error.to_string()))?;
        let nonce: String = nonce.iter().map(|byte| format!("{byte:02x}")).collect();
        let route = Route::of(&prepared.query, &question.goal, &prepared.accounts[0].budget);
        let mut asking = Asking {
            engine: self,
            question,
            prepared: &prepared,
            watch,
            entropy,
            bounded: None,
            spent: Amount::ZERO,
            spent_delta: Amount::ZERO,
            route,
            name: request_name(&process::name(), &nonce, &question.who),
            rounds: 0,
            reads: None,
        };
        let answer = asking.answer();
        let answer = match asking.reads {
            Some(came) => {
                let leaving = Leaving::since(watch.clock(), came, prepared.answer_time);
                self.leave(answer, &leaving, &prepared, &question.who)
            }
            None => answer,
        };
        let answer = answer.map_err(|error| self.as_seen_by(&question.who, error));
        // What was answered is stored: nothing here takes it back.
        let _ = self.remember(&prepared.accounts);
        answer
    }

    /// An error as whoever asked may see it: what the ledger says is about others too. An analyst without
    /// a budget of its own is refused in one sentence, whoever's account it was that said no.
    pub(crate) fn as_seen_by(&self, who: &Who, error: EngineError) -> EngineError {
        let Some(analyst) = who.analyst() else { return error };
        match error {
            EngineError::Ledger(_) | EngineError::UnderWay(_) | EngineError::Damaged(_) => {
                EngineError::Unavailable
            }
            EngineError::Refused(_) if !self.policy().has_own_budget(analyst) => {
                Refused::plainly().into()
            }
            error => error,
        }
    }

    /// Holds something back until its slot, if an analyst waits for it.
    pub(crate) fn leave<T>(
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

impl<'a> Asking<'a> {
    pub(crate) fn plan(&self) -> &'a Plan {
        &self.prepared.query.plan
    }

    pub(crate) fn engine(&self) -> &'a Engine {
        self.engine
    }

    pub(crate) fn ledger(&self) -> &'a Ledger {
        self.engine.ledger()
    }

    pub(crate) fn sql(&self) -> &'a str {
        &self.question.sql
    }

    pub(crate) fn types(&self) -> Vec<u8> {
        self.prepared.types()
    }

    pub(crate) fn snapshot(&self) -> u32 {
        self.prepared.snapshot
    }

    pub(crate) fn stamp(&self) -> Stamp {
        Stamp::now(self.question.who.name())
    }

    pub(crate) fn entropy(&mut self) -> &mut SystemEntropy {
        &mut self.entropy
    }

    /// The unit's account, and then those of whoever asks.
    pub(crate) fn accounts(&self) -> &'a [AccountSpec] {
        &self.prepared.accounts
    }

    pub(crate) fn unit(&self) -> &'a AccountSpec {
        &self.prepared.accounts[0]
    }

    /// The account whose points are seen: the analyst's own, or the unit's.
    pub(crate) fn own(&self) -> &'a AccountSpec {
        self.accounts().get(1).unwrap_or(self.unit())
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
        let seen = if self.accounts().len() > 1 { &self.accounts()[1..] } else { self.accounts() };
        let mut left = None;
        for account in seen {
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
        let known = if keys.is_zero() { Some(self.groups()?) } else { None };
        let stored = match &known {
            Some(groups) => self.load(groups)?,
            None => None,
        };
        if let Some(found) =
            stored.as_ref().and_then(|state| state.answers.get(&self.answer_name()))
        {
            return self.finish(stored.as_ref(), found, 0);
        }
        self.engine.may_read(self.prepared, &self.question.who)?;
        let more = self.highest(stored.as_ref(), left, keys)?;
        self.check_planned(stored.as_ref(), more)?;
        let may_cost = more.plus(keys).unwrap_or(Amount::MAX).min(left);
        if may_cost.grains() > left.grains() / MUCH && !self.watch.confirm(may_cost, left) {
            return Err(EngineError::Declined);
        }
        self.reads = Some(self.watch.clock().now());
        let groups = match known {
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
        let most = self.column_most(Some(&state), more);
        let columns = u32::try_from(query.plan.sums.len()).unwrap_or(u32::MAX);
        let mut walk = Walk::new(self.rules(most)?, columns, most, &state.paid(&self.own().name));
        let state = self.follow(state, &mut walk)?;
        self.finish(Some(&state), &walk.found(), walk.looks())
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
                .partition(|&(group, price)| reaches(paid[group as usize], price));
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
            self.watch.look(walk.looks());
            if walk.has_ended() {
                return Ok(state);
            }
        }
    }

    /// The most that this question may cost whoever asks, beside the keys.
    fn highest(
        &self,
        state: Option<&State>,
        left: Amount<Rho>,
        keys: Amount<Rho>,
    ) -> Result<Amount<Rho>, EngineError> {
        let goal = &self.question.goal;
        let Some(fits) = left.minus(keys) else {
            return Err(self.refusal(Some(keys), Some(left)).into());
        };
        let too_little = || {
            EngineError::Goal(format!(
                "selecting the keys of this question costs rho={} alone: allow more than that",
                crate::error::short(keys)
            ))
        };
        let asked = match (goal.accuracy, goal.at_most) {
            (Accuracy::Price(price), _) if matches!(self.route, Route::Keys { .. }) => price,
            (Accuracy::Price(price), _) => {
                // What was paid for these points before is part of the price. Keys are not.
                let paid = state.map_or_else(Vec::new, |state| state.paid(&self.own().name));
                let paid = GroupPrices::at(&paid, self.most(), self.metric());
                let paid = paid.map_or(Amount::MAX, |prices| prices.price());
                let more = price.minus(paid).unwrap_or(Amount::ZERO);
                if more > fits {
                    let all = more.plus(keys).unwrap_or(Amount::MAX);
                    return Err(self.refusal(Some(all), Some(left)).into());
                }
                more
            }
            // The price of keys is part of what was asked for.
            (_, Some(most)) => {
                most.minus(keys).filter(|most| !most.is_zero()).ok_or_else(too_little)?
            }
            (Accuracy::Relative(_), None) if matches!(self.route, Route::Keys { .. }) => left,
            (Accuracy::Relative(_), None) => Amount::from_grains(left.grains() / 10),
            (Accuracy::Absolute(_), None) => left,
        };
        Ok(asked.min(fits))
    }

    /// The price of one column of each group, at most.
    fn column_most(&self, state: Option<&State>, more: Amount<Rho>) -> Amount<Rho> {
        let columns = self.plan().sums.len().max(1) as u128;
        let known = state.map(|state| state.groups.len());
        let count = known.or_else(|| crate::keys::public_groups(self.plan()).map(|all| all.len()));
        let count = count.unwrap_or(usize::MAX).min(self.route.most_groups());
        let touched = (count as u128).clamp(1, self.most().get().into());
        let factor = u128::from(self.metric().group_factor::<Rho>());
        let evenly = |price: Amount<Rho>| Amount::from_grains(price.grains() / factor / touched);
        let group = match (self.question.goal.accuracy, state) {
            (Accuracy::Price(price), _) => evenly(price),
            (_, Some(state)) if !matches!(self.route, Route::Top { .. }) => {
                level(&state.paid(&self.own().name), self.most(), self.metric(), more)
            }
            (_, _) => evenly(more),
        };
        let column = Amount::from_grains(group.grains() / columns);
        self.finest().map_or(column, |finest| column.min(finest))
    }

    pub(crate) fn rules(&self, most: Amount<Rho>) -> Result<Vec<MeasureRule>, EngineError> {
        let rule = |measure| {
            MeasureRule::new(measure, self.plan(), &self.question.goal, most)
                .map_err(|error| EngineError::Goal(error.to_string()))
        };
        self.prepared.query.measures.iter().map(rule).collect()
    }

    /// Refuses an absolute goal whose one look does not fit, before anything is charged.
    fn check_planned(&self, state: Option<&State>, more: Amount<Rho>) -> Result<(), EngineError> {
        if matches!(self.route, Route::Keys { .. }) {
            return Ok(());
        }
        let more = more.minus(self.route.picks(&self.unit().budget)).unwrap_or(Amount::ZERO);
        let most = self.column_most(state, more);
        let plan = self.plan();
        // How far whoever asks has got in every group.
        let paid = state.map_or_else(Vec::new, |state| state.paid(&self.own().name));
        let least = paid.iter().min().copied().unwrap_or(Amount::ZERO);
        let least = Amount::from_grains(least.grains() / plan.sums.len().max(1) as u128);
        let seen = paid.iter().any(|price| !price.is_zero());
        for measure in &self.prepared.query.measures {
            let rule = MeasureRule::new(measure, plan, &self.question.goal, most)
                .map_err(|error| EngineError::Goal(error.to_string()))?;
            let rule = if seen { rule.by_hand() } else { rule };
            let beyond = |planned: &Amount<Rho>| *planned > most && *planned > least;
            let Some(planned) = rule.planned().filter(beyond) else { continue };
            let Accuracy::Absolute(error) = self.question.goal.accuracy else { continue };
            let columns = u32::try_from(plan.sums.len()).unwrap_or(u32::MAX);
            let groups = u32::try_from(self.route.most_groups()).unwrap_or(u32::MAX);
            let touched = self.most().get().min(groups);
            let factor = self.metric().group_factor::<Rho>();
            let price = planned.times(columns).and_then(|price| price.times(touched));
            let price = price.and_then(|price| price.times(factor)).unwrap_or(Amount::MAX);
            let fits = if most.is_zero() {
                None
            } else {
                Some(error * (planned.to_f64() / most.to_f64()).sqrt())
            };
            return Err(Refused { error: fits, ..self.refusal(Some(price), Some(more)) }.into());
        }
        if most.is_zero() && !seen {
            return Err(self.refusal(None, Some(more)).into());
        }
        Ok(())
    }

    pub(crate) fn refusal(&self, asked: Option<Amount<Rho>>, fits: Option<Amount<Rho>>) -> Refused {
        let whose = match &self.question.who {
            Who::Steward => format!("the budget of `{}`", self.unit().name),
            Who::Analyst(_) => "your budget".to_owned(),
        };
        Refused { whose, asked, fits, delta: None, error: None }
    }

    /// A refusal as whoever asked may see it: another account's numbers are not shown.
    pub(crate) fn refused(&self, refusal: &Refusal) -> EngineError {
        let rho = |charge: Charge| match charge {
            Charge::Zcdp { rho, .. } => rho,
            Charge::Pure { .. } => Amount::ZERO,
        };
        let is_units = *refusal.account == *self.unit().name;
        let whose = format!("the budget of `{}`", self.unit().name);
        if is_units && self.question.who.analyst().is_some() {
            return Refused { whose, ..self.refusal(None, None) }.into();
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
    fn path(&self, groups: &[Vec<Value>]) -> PathId {
        let mut name = blake3::Hasher::new_derive_key("eke question 1");
        name.update(&self.plan().digest());
        name.update(&self.snapshot().to_le_bytes());
        name.update(self.unit().name.as_bytes());
        name.update(&self.types());
        name.update(&serde_json::to_vec(groups).unwrap_or_default());
        PathId::new(*name.finalize().as_bytes())
    }

    fn new_state(&self, groups: &[Vec<Value>]) -> Result<State, EngineError> {
        let damaged = |error: String| EngineError::Damaged(error);
        let column = |sum: &eke_sql::Sum| {
            let sensitivity = crate::rows::sensitivity(sum, self.plan().max_rows);
            eke_noise::Column { sensitivity, share: 1 }
        };
        let columns = self.plan().sums.iter().map(column).collect();
        State::new(self.path(groups), groups.to_vec(), columns)
            .map_err(|error| damaged(error.to_string()))
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
            let watch = self.watch;
            let read =
                self.engine.bounded(self.prepared, self.plan(), &|seen, of| watch.rows(seen, of));
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
        Ok(Answer {
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
