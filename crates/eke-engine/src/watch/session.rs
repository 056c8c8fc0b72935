//! Going through the steps of a watch: what is stored is shown, what is not is charged, drawn and
//! stored first.
//!
//! One program at a time draws for a watch; the others show what it has stored. A program that ends
//! in the middle leaves what it set aside where it is: budget is lost, and never privacy.

use eke_budget::purchase::Round;
use eke_budget::{Amount, Charge, Epsilon, Metric, PathId, Purchase as _, Receipt, Refusal, Rho};
use eke_ledger::patience::Patience;
use eke_ledger::{Claim, Key, Ledger, Reserve, Spend, Stamp};
use eke_noise::Exact;
use eke_noise::select::{LineLaw, Run as Whole};
use eke_select::GridLine;
use eke_sql::Plan;

use super::law::Law;
use super::plan::check_tier;
use super::run::Run;
use super::stored::{Found, StoredStep, WatchName};
use super::viewing::Viewing;
use super::{Charging, Paid, StepRefused, Verdict, WatchEnd, WatchQuestion, Watched};
use crate::ask::observer::Observer;
use crate::ask::shown::answer::rho_of;
use crate::ask::slot::Leaving;
use crate::engine::{Engine, Prepared};
use crate::error::{EngineError, WrongGoal};
use crate::purchase::audience::Audience;
use crate::purchase::context::{Context, RefusedBy};
use crate::purchase::identity::{Identity, Purpose};
use crate::purchase::turn::{Turn, turn_path};
use crate::purchase::{self, Again, Bought, Buyer, Drawn, Offer, Order};

/// A watch that sets aside more than one part in this many of what is left is confirmed first.
const CONFIRM_ABOVE_ONE_IN: u128 = 33;

/// A watch that is understood.
pub(super) struct Prospect {
    pub(super) prepared: Prepared,
    /// What is computed at every step.
    pub(super) plans: Vec<Plan>,
    pub(super) law: Law,
}

/// A watch on its way through its steps.
pub(super) struct Session<'a> {
    pub(super) context: Context<'a>,
    pub(super) question: &'a WatchQuestion,
    pub(super) prospect: &'a Prospect,
    /// What the keys of this watch begin with.
    pub(super) name: WatchName,
    /// The right to draw, once it is needed.
    turn: Option<Claim>,
    /// What is being drawn here.
    run: Option<Run>,
    /// What each account beside the unit's pays for what others drew.
    pub(super) viewings: Vec<Viewing>,
    /// What the asker has paid for runs that have ended.
    pub(super) spent: Amount<Epsilon>,
    pub(super) spent_rho: Amount<Rho>,
    confirmed: bool,
    /// The accounts that are held while something is looked at or drawn.
    audience: Option<Audience>,
    /// The step before.
    pub(super) last: Option<StoredStep>,
}

/// A step that may be shown, or whose budget does not allow it.
pub(super) type Step = Result<StoredStep, StepRefused>;

/// A step of a watch, and the number under which it is paid for.
#[derive(Clone, Copy)]
struct At {
    index: u64,
    attempt: u32,
}

/// What comes of buying a step.
enum Made {
    Drawn(StoredStep),
    /// Somebody else has drawn it.
    Stored(StoredStep),
}

impl At {
    /// What to charge for the step, under the first number that nobody has paid for.
    fn offer<W, V: Clone>(
        &mut self,
        session: &Session<'_>,
        again: Again,
        (own, other): (W, V),
    ) -> Result<Offer<W, V, Made>, EngineError> {
        if again == Again::Taken {
            match session.name.find(session.ledger(), self.index)? {
                Found::Stored(stored) => return Ok(Offer::Made(Made::Stored(stored))),
                Found::Open(next) => self.attempt = next,
            }
        }
        let key = session.name.attempt(self.index, self.attempt);
        let request = session.context.request(&key)?;
        let others = session.context.payers().others.iter();
        let others = others.map(|account| (account.name.clone(), other.clone())).collect();
        Ok(Offer::Charge { request, own, others, path: None })
    }
}

/// A step for which is set aside what it may cost.
struct SetAside {
    at: At,
    aside: Reserve,
}

impl<'a> Order<'a, Session<'a>> for SetAside {
    type Own = Reserve;
    type Others = Reserve;
    type Made = Made;

    fn offer(
        &mut self,
        session: &mut Session<'a>,
        again: Again,
    ) -> Result<Offer<Self::Own, Self::Others, Made>, EngineError> {
        self.at.offer(session, again, (self.aside, self.aside))
    }

    fn draw(
        &mut self,
        session: &mut Session<'a>,
        own: Receipt<Round>,
        others: Vec<Receipt<Round>>,
    ) -> Result<Drawn<Made>, EngineError> {
        if let Some(run) = &mut session.run {
            run.pay(own, others)?;
        } else {
            let others = session.context.payers().names().into_iter().skip(1).zip(others).collect();
            let law = &session.prospect.law;
            let run = Run::begin(self.at.index, law, own, others, &mut session.context.entropy);
            session.run = Some(run);
        }
        session.next(self.at)
    }
}

/// The first step of a run that is bought before it starts.
struct WholeRun {
    at: At,
    run: Whole<GridLine>,
    steps: u64,
}

impl<'a> Order<'a, Session<'a>> for WholeRun {
    type Own = Spend<Whole<GridLine>>;
    type Others = Spend<Charge>;
    type Made = Made;

    fn offer(
        &mut self,
        session: &mut Session<'a>,
        again: Again,
    ) -> Result<Offer<Self::Own, Self::Others, Made>, EngineError> {
        let charge = self.run.charge();
        self.at.offer(session, again, (Spend(self.run.clone()), Spend(charge)))
    }

    fn draw(
        &mut self,
        session: &mut Session<'a>,
        own: Receipt<Whole<GridLine>>,
        others: Vec<Receipt<Charge>>,
    ) -> Result<Drawn<Made>, EngineError> {
        for receipt in others {
            receipt.redeem();
        }
        let run = Run::bought(self.at.index, self.steps, own, &mut session.context.entropy)?;
        session.run = Some(run);
        let paid = rho_of(self.run.charge());
        session.spent_rho = session.spent_rho.plus(paid).unwrap_or(Amount::MAX);
        session.next(self.at)
    }
}

/// A later step of a run that was bought before it started: it costs nothing more.
struct PaidBefore {
    at: At,
}

impl<'a> Order<'a, Session<'a>> for PaidBefore {
    type Own = Spend<Charge>;
    type Others = Spend<Charge>;
    type Made = Made;

    fn offer(
        &mut self,
        session: &mut Session<'a>,
        again: Again,
    ) -> Result<Offer<Self::Own, Self::Others, Made>, EngineError> {
        let nothing = Spend(Charge::Zcdp { rho: Amount::ZERO, delta: Amount::ZERO });
        self.at.offer(session, again, (nothing.clone(), nothing))
    }

    fn draw(
        &mut self,
        session: &mut Session<'a>,
        own: Receipt<Charge>,
        others: Vec<Receipt<Charge>>,
    ) -> Result<Drawn<Made>, EngineError> {
        for receipt in std::iter::once(own).chain(others) {
            receipt.redeem();
        }
        session.next(self.at)
    }
}

impl<'a> Buyer<'a> for Session<'a> {
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

    /// Steps hold no path: whose turn it is decides who draws.
    fn wait_for(&self, _: PathId, holder: &Key) -> Result<(), EngineError> {
        Err(EngineError::UnderWay(holder.to_string()))
    }

    fn unavailable(&self) -> EngineError {
        EngineError::Unavailable
    }
}

impl Engine {
    /// Watches a question, step by step: each verdict is shown as soon as it is stored, until there
    /// are no more steps, a budget is gone, or `show` says that it is enough.
    ///
    /// The same watch has the same verdicts. Asked for again it shows them again, for nothing to
    /// accounts that paid; and it goes on where it was if there are more steps now.
    ///
    /// # Errors
    /// It is not a question that can be watched, or something does not work; the error says what.
    /// What was shown is stored and paid for.
    pub fn watch(
        &self,
        question: &WatchQuestion,
        observer: &dyn Observer,
        show: &mut dyn FnMut(&Verdict) -> bool,
    ) -> Result<Watched, EngineError> {
        let prospect = self.prospect(question)?;
        let (prepared, asked) = (&prospect.prepared, (&question.who, question.sql.as_str()));
        let context = Context::new(self, prepared, asked, observer)?;
        let viewings = prospect.prepared.payers.others.iter().map(|_| Viewing::default()).collect();
        let mut session = Session {
            context,
            question,
            prospect: &prospect,
            name: prospect.name(question)?,
            turn: None,
            run: None,
            viewings,
            spent: Amount::ZERO,
            spent_rho: Amount::ZERO,
            confirmed: false,
            audience: None,
            last: None,
        };
        let gone = session.go(show);
        let ended = session.end();
        let watched = gone.and_then(|watched| ended.map(|()| watched));
        let unit = &session.context.unit().name;
        let watched = watched.and_then(|(steps, hits, ended)| {
            let left = self.undisturbed(unit, &question.who, || session.left())?;
            let cost = session.cost();
            Ok(Watched { steps, hits, cost, left, free: cost.get() == 0.0, ended })
        });
        // What was shown is stored: nothing here takes it back.
        let _ = self.remember(session.context.payers());
        watched.map_err(|error| self.as_seen_by(&question.who, error))
    }
}

impl Prospect {
    /// What a watch is found by: what is computed from which rows at the first step, what stays
    /// open in it, and the law that its answers are held against. The asker is no part of it.
    fn name(&self, question: &WatchQuestion) -> Result<WatchName, EngineError> {
        let plans =
            Identity::new(Purpose::Watch).plan(&self.prepared.query.plan).plan(&self.plans[0]);
        let name = plans.rows(&self.prepared).bytes(self.law.describe().as_bytes());
        let name = name.bytes(match question.charging {
            Charging::ExPost => b"ex post",
            Charging::ExAnte => b"ex ante",
        });
        Ok(WatchName::new(&name.named()?, &self.plans))
    }

    /// Whether a run of `steps` steps tells no more than the asker's tier may see of a path.
    pub(super) fn check_tier(&self, steps: u64) -> Result<(), EngineError> {
        let metric = Metric::Hamming(self.prepared.query.plan.adjacency);
        check_tier(&self.law, steps, self.prepared.finest, metric)
    }
}

impl<'a> Session<'a> {
    fn go(
        &mut self,
        show: &mut dyn FnMut(&Verdict) -> bool,
    ) -> Result<(u64, u64, WatchEnd), EngineError> {
        let (mut steps, mut hits) = (0, 0);
        for index in 0..self.prospect.plans.len() as u64 {
            if self.context.observer.is_over() {
                return Ok((steps, hits, WatchEnd::Enough));
            }
            self.look()?;
            let step = match self.find(index) {
                Err(EngineError::Stopped) => return Ok((steps, hits, WatchEnd::Enough)),
                found => found?,
            };
            let step = match step {
                Found::Stored(stored) => self.view(stored)?,
                Found::Open(attempt) => {
                    let Context { engine, prepared, who, observer, .. } = self.context;
                    let clock = observer.clock();
                    engine.may_read(prepared, who)?;
                    let leaving = Leaving::since(clock, clock.now(), prepared.answer_time);
                    let drawn = self.draw(index, attempt);
                    let drawn = engine.on_slot(drawn, &leaving, prepared, who);
                    self.look_away();
                    drawn?
                }
            };
            let stored = match step {
                Ok(stored) => stored,
                Err(why) => return Ok((steps, hits, WatchEnd::Refused(why))),
            };
            steps += 1;
            hits += u64::from(stored.hit);
            let verdict = Verdict {
                step: index + 1,
                values: self.question.steps.lines[place(index)].clone(),
                hit: stored.hit,
                place: stored.place(),
                cost: self.cost(),
            };
            self.last = Some(stored);
            if !show(&verdict) {
                return Ok((steps, hits, WatchEnd::Enough));
            }
        }
        Ok((steps, hits, WatchEnd::Over))
    }

    /// Ends whatever is under way, also after an error: what was not drawn goes back, and others
    /// may draw.
    fn end(&mut self) -> Result<(), EngineError> {
        let run = self.end_run();
        let viewings = self.end_viewings(|_| true);
        self.look_away();
        let turn = match self.turn.take() {
            Some(turn) => self.context.engine.end_turn(turn, self.stamp()),
            None => Ok(()),
        };
        run.and(viewings).and(turn)
    }

    /// What the asker has paid so far, if the watch stops now.
    fn cost(&self) -> Paid {
        match self.question.charging {
            Charging::ExAnte => Paid::Rho(self.spent_rho.to_f64()),
            Charging::ExPost => {
                let running = self.run.as_ref().map_or(Amount::ZERO, Run::price);
                let viewed = self.viewings.first().map_or(Amount::ZERO, Viewing::price);
                let parts = [self.spent, running, viewed];
                let sum = parts.into_iter().try_fold(Amount::ZERO, Amount::plus);
                Paid::Epsilon(sum.unwrap_or(Amount::MAX).to_f64())
            }
        }
    }

    /// What the asker's accounts have left: the least of them.
    fn left(&self) -> Result<Paid, EngineError> {
        self.context.engine.left_for_watch(self.context.payers().shown(), self.question.charging)
    }

    /// Holds the accounts that the asker sees, once nobody in sight of it is under way.
    fn look(&mut self) -> Result<(), EngineError> {
        if self.audience.is_none() {
            self.context.begin();
            self.audience = Some(self.context.hold_audience()?);
        }
        Ok(())
    }

    /// Lets others look.
    fn look_away(&mut self) {
        if let Some(held) = self.audience.take() {
            self.context.leave_audience(held);
        }
    }

    /// What there is of a step. A step that is not stored is open to the one program that may draw.
    fn find(&mut self, index: u64) -> Result<Found, EngineError> {
        let engine = self.context.engine;
        let mut patience = engine.patience();
        loop {
            let found = self.name.find(self.ledger(), index)?;
            if matches!(found, Found::Stored(_)) || self.turn.is_some() {
                return Ok(found);
            }
            // Nobody waits for somebody who has not decided yet.
            self.confirm(self.prospect.plans.len() as u64 - index)?;
            let name = self.name.to_string();
            let request = self.context.turn_request(&name)?;
            match engine.take_turn(&name, self.context.unit(), request)? {
                // The program that had it may have drawn in the meantime: look again.
                Turn::Own(turn) => self.turn = Some(turn),
                Turn::Others(holder) => {
                    // Who draws may have to look as well.
                    self.look_away();
                    let drawn = || {
                        let found = self.name.find(self.ledger(), index)?;
                        Ok(matches!(found, Found::Stored(_)))
                    };
                    self.context.wait_for(turn_path(&name), &holder, &drawn)?;
                    self.look()?;
                }
                Turn::Unclear if patience.again() => {}
                Turn::Unclear => return Err(EngineError::Unavailable),
            }
        }
    }

    /// Asks the asker for consent, once, before something is set aside.
    pub(super) fn confirm(&mut self, left_steps: u64) -> Result<(), EngineError> {
        if self.confirmed {
            return Ok(());
        }
        self.confirmed = true;
        let law = &self.prospect.law;
        let aside = match self.question.charging {
            Charging::ExPost => Paid::Epsilon(law.line.worst(left_steps).to_f64()),
            Charging::ExAnte => Paid::Rho(rho_of(whole(law, left_steps)?.charge()).to_f64()),
        };
        let left = self.left()?;
        if aside.get() <= left.get() / CONFIRM_ABOVE_ONE_IN as f64 {
            return Ok(());
        }
        // The asker may take long.
        self.look_away();
        if !self.context.observer.confirm_watch(aside, left) {
            return Err(EngineError::Declined);
        }
        self.look()
    }

    /// Buys a step, and ends the run if it was a hit.
    fn draw(&mut self, index: u64, attempt: u32) -> Result<Step, EngineError> {
        let left_steps = self.prospect.plans.len() as u64 - index;
        self.confirm(left_steps)?;
        self.end_viewings(|_| true)?;
        let at = At { index, attempt };
        let bought = match (self.question.charging, &self.run) {
            (Charging::ExPost, run) => {
                let law = &self.prospect.law;
                let worst = run.as_ref().map_or_else(|| law.line.worst(1), Run::next_worst);
                let aside = Reserve { worst, delta: Amount::ZERO };
                purchase::buy(self, &mut SetAside { at, aside })?
            }
            (Charging::ExAnte, Some(_)) => purchase::buy(self, &mut PaidBefore { at })?,
            (Charging::ExAnte, None) => {
                let run = whole(&self.prospect.law, left_steps)?;
                purchase::buy(self, &mut WholeRun { at, run, steps: left_steps })?
            }
        };
        match bought {
            Bought::Made(Made::Stored(stored)) => {
                // Somebody else has drawn it.
                self.end_run()?;
                self.view(stored)
            }
            Bought::Made(Made::Drawn(stored)) => {
                if stored.hit {
                    self.end_run()?;
                }
                Ok(Ok(stored))
            }
            Bought::Refused(refusal) => Ok(Err(self.refused(&refusal))),
        }
    }

    /// Draws a step of the run that was paid for.
    fn next(&mut self, at: At) -> Result<Drawn<Made>, EngineError> {
        let (truth, plan) = (self.truth(at.index)?, self.digest(at.index));
        let payers = self.context.payers().names();
        let Some(run) = &mut self.run else {
            return Err(EngineError::damaged("a step was charged without a run"));
        };
        let hit = run.next(&truth, &mut self.context.entropy)?;
        let stored = StoredStep {
            step: at.index,
            run: run.first,
            hit,
            plan,
            payers,
            bought: run.bought,
            attempt: at.attempt,
        };
        self.check_turn()?;
        let body = serde_json::to_vec(&stored).map_err(EngineError::damaged)?;
        Ok(Drawn { body, state: None, round: None, made: Made::Drawn(stored) })
    }

    /// What a step's answer truly is: rows are read when the step is paid for and not before.
    fn truth(&self, index: u64) -> Result<Exact<i64>, EngineError> {
        let plan = &self.prospect.plans[place(index)];
        let bounded =
            self.context.read(plan, self.prospect.plans.len() > 1, EngineError::WatchRows)?;
        let total = bounded.total(plan.adjacency);
        total.map_err(|error| self.context.unread(error, EngineError::WatchRows))
    }

    /// The digest of what is computed at a step.
    pub(super) fn digest(&self, index: u64) -> String {
        let digest = self.prospect.plans[place(index)].digest();
        blake3::Hash::from_bytes(digest).to_hex().to_string()
    }

    /// Whether this program may still draw. Somebody may have given it up in the belief that it had
    /// ended.
    fn check_turn(&self) -> Result<(), EngineError> {
        let path = turn_path(&self.name.to_string());
        let holder = self.ledger().path(path).wait()?.and_then(|path| path.holder);
        match (&self.turn, holder) {
            (Some(turn), Some(holder)) if *turn.key() == holder => Ok(()),
            (_, holder) => {
                let whose = holder.map_or_else(|| "nobody".to_owned(), |key| key.to_string());
                Err(EngineError::UnderWay(whose))
            }
        }
    }

    /// Ends the run that is being drawn at what it came to.
    fn end_run(&mut self) -> Result<(), EngineError> {
        let Some(run) = self.run.take() else { return Ok(()) };
        if self.question.charging == Charging::ExPost {
            self.spent = self.spent.plus(run.price()).unwrap_or(Amount::MAX);
        }
        run.end(&self.context.unit().name, self.ledger(), &self.stamp())
    }

    /// A refusal as the asker may see it: another account's numbers are not shown.
    pub(super) fn refused(&self, refusal: &Refusal) -> StepRefused {
        let policy = self.context.engine.policy();
        if self.context.who.analyst().is_some_and(|own| !policy.has_own_budget(own)) {
            return StepRefused { whose: "the budget".to_owned(), charges: None };
        }
        match self.context.refused_by(refusal) {
            RefusedBy::Unit => {
                StepRefused { whose: self.context.unit_budget_name(), charges: None }
            }
            RefusedBy::Own => StepRefused {
                whose: self.context.budget_name(),
                charges: Some((refusal.asked, refusal.fits)),
            },
        }
    }
}

/// A run that is bought before it starts.
pub(super) fn whole(law: &Law, steps: u64) -> Result<Whole<GridLine>, EngineError> {
    Ok(Whole::new(law.line.clone(), steps).map_err(WrongGoal::from)?)
}

fn place(index: u64) -> usize {
    usize::try_from(index).unwrap_or(usize::MAX)
}
