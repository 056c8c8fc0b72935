//! Going through the steps of a watch: what is stored is shown, what is not is charged, drawn and stored first.
//!
//! One program at a time draws for a watch; the others show what it has stored. A program that ends in the
//! middle leaves what it set aside where it is: budget is lost, and never privacy.

use eke_budget::{Amount, Charge, Epsilon, Metric, Purchase, Refusal, Rho};
use eke_ledger::{
    Answer as Body, Charged, Claim, Ledger, LedgerError, Outcome, Request, Reserve, Spend, Stamp,
    Want,
};
use eke_noise::{Exact, LineLaw, Run as Whole, SystemEntropy};
use eke_sql::Plan;

use super::law::Law;
use super::plan::check_tier;
use super::run::Run;
use super::stored::{Found, StoredStep, WatchName};
use super::viewing::Viewing;
use super::{Charging, Paid, Verdict, WatchEnd, WatchQuestion, Watched};
use crate::ask::Watch;
use crate::ask::question::Who;
use crate::ask::slot::Leaving;
use crate::engine::{Engine, Prepared};
use crate::error::{EngineError, short};
use crate::policy::AccountSpec;
use crate::purchase::process;
use crate::purchase::reading::request_name;
use crate::purchase::turn::{Turn, turn_path};
use crate::rows::RowsError;

/// A watch that sets aside more than this part of what is left is asked about first.
const MUCH: u128 = 33;

/// A watch that is understood.
pub(super) struct Prospect {
    pub(super) prepared: Prepared,
    /// What is computed at every step.
    pub(super) plans: Vec<Plan>,
    pub(super) law: Law,
}

/// A watch on its way through its steps.
pub(super) struct Session<'a> {
    pub(super) engine: &'a Engine,
    pub(super) question: &'a WatchQuestion,
    pub(super) prospect: &'a Prospect,
    observer: &'a dyn Watch,
    entropy: SystemEntropy,
    /// What the keys of this watch begin with.
    pub(super) name: WatchName,
    /// What requests of this program begin with.
    program: String,
    turns: u32,
    /// The right to draw, once it is needed.
    turn: Option<Claim>,
    /// What is being drawn here.
    run: Option<Run>,
    /// What each account beside the unit's pays for what others drew.
    pub(super) viewings: Vec<Viewing>,
    /// What whoever watches has paid for runs that have ended.
    pub(super) spent: Amount<Epsilon>,
    pub(super) spent_rho: Amount<Rho>,
    confirmed: bool,
    /// The step before.
    pub(super) last: Option<StoredStep>,
}

/// A step that may be shown, or a sentence that says whose budget does not allow it.
pub(super) type Step = Result<StoredStep, String>;

/// What comes of charging a step.
enum Attempt<T> {
    Charged(T),
    /// Somebody else has drawn it.
    Stored(StoredStep),
    Refused(Refusal),
}

/// What comes of charging a step for wants of the unit's account and of the others.
type Bought<W, V> = Attempt<Box<Charged<<W as Want>::Bought, <V as Want>::Bought>>>;

impl Engine {
    /// Watches a question, step by step: each verdict is shown as soon as it is stored, until there are no more
    /// steps, a budget is gone, or `show` says that it is enough.
    ///
    /// The same watch has the same verdicts. Asked for again it shows them again, for nothing to accounts that
    /// paid; and it goes on where it was if there are more steps now.
    ///
    /// # Errors
    /// It is not a question that can be watched, or something does not work; the error says what. What was shown
    /// is stored and paid for.
    pub fn watch(
        &self,
        question: &WatchQuestion,
        observer: &dyn Watch,
        show: &mut dyn FnMut(&Verdict) -> bool,
    ) -> Result<Watched, EngineError> {
        let prospect = self.prospect(question)?;
        let entropy =
            SystemEntropy::new().map_err(|error| EngineError::Entropy(error.to_string()))?;
        let mut nonce = [0; 8];
        getrandom::fill(&mut nonce).map_err(|error| EngineError::Entropy(error.to_string()))?;
        let nonce: String = nonce.iter().map(|byte| format!("{byte:02x}")).collect();
        let viewings = prospect.prepared.accounts[1..].iter().map(|_| Viewing::new()).collect();
        let mut session = Session {
            engine: self,
            question,
            prospect: &prospect,
            observer,
            entropy,
            name: prospect.name(question),
            program: request_name(&process::name(), &nonce, &question.who),
            turns: 0,
            turn: None,
            run: None,
            viewings,
            spent: Amount::ZERO,
            spent_rho: Amount::ZERO,
            confirmed: false,
            last: None,
        };
        let gone = session.go(show);
        let ended = session.end();
        let watched = gone.and_then(|watched| ended.map(|()| watched));
        let watched = watched.and_then(|(steps, hits, ended)| {
            let (cost, left) = (session.cost(), session.left()?);
            Ok(Watched { steps, hits, cost, left, free: cost.get() == 0.0, ended })
        });
        // What was shown is stored: nothing here takes it back.
        let _ = self.remember(session.accounts());
        watched.map_err(|error| self.as_seen_by(&question.who, error))
    }
}

impl Prospect {
    /// What a watch is found by: what is computed from which rows at the first step, what stays open in it, and
    /// the law that its answers are held against. Not who watches.
    fn name(&self, question: &WatchQuestion) -> WatchName {
        let mut name = blake3::Hasher::new_derive_key("eke watch 1");
        name.update(&self.prepared.query.plan.digest());
        name.update(&self.plans[0].digest());
        name.update(&self.prepared.snapshot.to_le_bytes());
        name.update(self.prepared.accounts[0].name.as_bytes());
        name.update(&self.prepared.types());
        name.update(self.law.describe().as_bytes());
        name.update(match question.charging {
            Charging::ExPost => b"ex post",
            Charging::ExAnte => b"ex ante",
        });
        WatchName::new(&name.finalize(), &self.plans)
    }

    /// Whether a run of so many steps tells no more than the tier of whoever watches may see of a path.
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
            if self.observer.is_over() {
                return Ok((steps, hits, WatchEnd::Enough));
            }
            let step = match self.find(index) {
                Err(EngineError::Stopped) => return Ok((steps, hits, WatchEnd::Enough)),
                found => found?,
            };
            let step = match step {
                Found::Stored(stored) => self.view(stored)?,
                Found::Open(attempt) => {
                    let (engine, who) = (self.engine, &self.question.who);
                    let (clock, prepared) = (self.observer.clock(), &self.prospect.prepared);
                    engine.may_read(prepared, who)?;
                    let leaving = Leaving::since(clock, clock.now(), prepared.answer_time);
                    let drawn = self.draw(index, attempt);
                    engine.on_slot(drawn, &leaving, prepared, who)?
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

    /// Ends whatever is under way, also after an error: what was not drawn goes back, and others may draw.
    fn end(&mut self) -> Result<(), EngineError> {
        let run = self.end_run();
        let viewings = self.end_viewings(|_| true);
        let turn = match self.turn.take() {
            Some(turn) => self.engine.end_turn(turn, self.stamp()),
            None => Ok(()),
        };
        run.and(viewings).and(turn)
    }

    pub(super) fn ledger(&self) -> &'a Ledger {
        self.engine.ledger()
    }

    pub(super) fn stamp(&self) -> Stamp {
        Stamp::now(self.question.who.name())
    }

    /// The unit's account, and then those of whoever watches.
    pub(super) fn accounts(&self) -> &'a [AccountSpec] {
        &self.prospect.prepared.accounts
    }

    fn unit(&self) -> &'a AccountSpec {
        &self.accounts()[0]
    }

    /// What whoever watches has paid so far, if it stops now.
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

    /// What the accounts of whoever watches have left: the least of them.
    fn left(&self) -> Result<Paid, EngineError> {
        let seen = if self.accounts().len() > 1 { &self.accounts()[1..] } else { self.accounts() };
        self.engine.left_for_watch(seen, self.question.charging)
    }

    /// What there is of a step. A step that is not stored is open to the one program that may draw.
    fn find(&mut self, index: u64) -> Result<Found, EngineError> {
        let engine = self.engine;
        let mut patience = engine.patience();
        loop {
            let found = self.name.find(self.ledger(), index)?;
            if matches!(found, Found::Stored(_)) || self.turn.is_some() {
                return Ok(found);
            }
            // Nobody waits for somebody who has not decided yet.
            self.confirm(self.prospect.plans.len() as u64 - index)?;
            self.turns += 1;
            let key = format!("{}/{}/{}", self.program, self.turns, self.name.as_str());
            let request = Request::new(&key, self.stamp(), &self.question.sql)?;
            let (name, unit) = (self.name.as_str(), &self.unit().name);
            match self.engine.take_turn(name, self.unit(), request)? {
                // Whoever had it may have drawn in the meantime: look again.
                Turn::Own(turn) => self.turn = Some(turn),
                Turn::Others(holder) => {
                    let drawn = || {
                        if self.observer.is_over() {
                            return Err(EngineError::Stopped);
                        }
                        let found = self.name.find(self.ledger(), index)?;
                        Ok(matches!(found, Found::Stored(_)))
                    };
                    let path = turn_path(name);
                    self.engine.wait_for_holder(unit, path, &holder, &self.stamp(), &drawn)?;
                }
                Turn::Unclear if patience.again() => {}
                Turn::Unclear => return Err(EngineError::Unavailable),
            }
        }
    }

    /// Asks whoever watches, once, before something is set aside.
    pub(super) fn confirm(&mut self, left_steps: u64) -> Result<(), EngineError> {
        if self.confirmed {
            return Ok(());
        }
        self.confirmed = true;
        let law = &self.prospect.law;
        let aside = match self.question.charging {
            Charging::ExPost => Paid::Epsilon(law.worst(left_steps).to_f64()),
            Charging::ExAnte => Paid::Rho(rho(whole(law, left_steps)?.charge()).to_f64()),
        };
        let left = self.left()?;
        #[expect(clippy::cast_precision_loss, reason = "a small number")]
        let much = aside.get() > left.get() / MUCH as f64;
        if much && !self.observer.confirm_watch(aside, left) {
            return Err(EngineError::Declined);
        }
        Ok(())
    }

    /// Draws a step, once it is charged.
    fn draw(&mut self, index: u64, attempt: u32) -> Result<Step, EngineError> {
        let left_steps = self.prospect.plans.len() as u64 - index;
        self.confirm(left_steps)?;
        self.end_viewings(|_| true)?;
        let claim = match self.question.charging {
            Charging::ExPost => self.charge_step(index, attempt)?,
            Charging::ExAnte => self.charge_run(index, attempt, left_steps)?,
        };
        let claim = match claim {
            Attempt::Charged(claim) => claim,
            Attempt::Stored(stored) => {
                self.end_run()?;
                return self.view(stored);
            }
            Attempt::Refused(refusal) => return Ok(Err(self.refused(&refusal))),
        };
        let (truth, plan) = (self.truth(index)?, self.digest(index));
        let payers = self.accounts().iter().map(|account| account.name.clone()).collect();
        let Some(run) = &mut self.run else {
            return Err(EngineError::Damaged("a step was charged without a run".into()));
        };
        let hit = run.next(&truth, &mut self.entropy)?;
        let stored = StoredStep {
            step: index,
            run: run.first,
            hit,
            plan,
            payers,
            bought: run.bought,
            attempt,
        };
        self.check_turn()?;
        let body =
            serde_json::to_vec(&stored).map_err(|error| EngineError::Damaged(error.to_string()))?;
        self.ledger().answer(claim, Body::new(body), self.stamp()).wait()?;
        if hit {
            self.end_run()?;
        }
        Ok(Ok(stored))
    }

    /// Sets aside what the next step of a run may cost.
    fn charge_step(&mut self, index: u64, attempt: u32) -> Result<Attempt<Claim>, EngineError> {
        let law = &self.prospect.law;
        let worst = self.run.as_ref().map_or_else(|| law.worst(1), Run::next_worst);
        let want = Reserve { worst, delta: Amount::ZERO };
        let charged = match self.charge(index, attempt, &want, &want)? {
            Attempt::Charged(charged) => charged,
            Attempt::Stored(stored) => return Ok(Attempt::Stored(stored)),
            Attempt::Refused(refusal) => return Ok(Attempt::Refused(refusal)),
        };
        let Charged { own, others, claim } = *charged;
        if let Some(run) = &mut self.run {
            run.pay(own, others)?;
        } else {
            let names = self.accounts()[1..].iter().map(|account| account.name.clone());
            let others = names.zip(others).collect();
            self.run = Some(Run::begin(index, law, own, others, &mut self.entropy));
        }
        Ok(Attempt::Charged(claim))
    }

    /// Buys a run before its first step; the others cost nothing more.
    fn charge_run(
        &mut self,
        index: u64,
        attempt: u32,
        left_steps: u64,
    ) -> Result<Attempt<Claim>, EngineError> {
        let law = &self.prospect.law;
        if self.run.is_some() {
            let nothing = Spend(Charge::Zcdp { rho: Amount::ZERO, delta: Amount::ZERO });
            return Ok(match self.charge(index, attempt, &nothing, &nothing)? {
                Attempt::Charged(charged) => {
                    let Charged { own, others, claim } = *charged;
                    own.redeem();
                    for receipt in others {
                        receipt.redeem();
                    }
                    Attempt::Charged(claim)
                }
                Attempt::Stored(stored) => Attempt::Stored(stored),
                Attempt::Refused(refusal) => Attempt::Refused(refusal),
            });
        }
        let run = whole(law, left_steps)?;
        let charge = run.charge();
        let charged = match self.charge(index, attempt, &Spend(run), &Spend(charge))? {
            Attempt::Charged(charged) => charged,
            Attempt::Stored(stored) => return Ok(Attempt::Stored(stored)),
            Attempt::Refused(refusal) => return Ok(Attempt::Refused(refusal)),
        };
        let Charged { own, others, claim } = *charged;
        for receipt in others {
            receipt.redeem();
        }
        self.run = Some(Run::bought(index, left_steps, own, &mut self.entropy)?);
        self.spent_rho = self.spent_rho.plus(rho(charge)).unwrap_or(Amount::MAX);
        Ok(Attempt::Charged(claim))
    }

    /// Charges a step to all accounts, under the first attempt that nobody has paid for.
    fn charge<W: Want + Clone, V: Want + Clone>(
        &self,
        index: u64,
        mut attempt: u32,
        own: &W,
        other: &V,
    ) -> Result<Bought<W, V>, EngineError> {
        let mut patience = self.engine.patience();
        loop {
            let key = self.name.attempt(index, attempt);
            let request = Request::new(&key, self.stamp(), &self.question.sql)?;
            let (unit, others) = (&self.unit().name, &self.accounts()[1..]);
            let others = others.iter().map(|account| (&*account.name, other.clone())).collect();
            match self.ledger().charge(request, unit, own.clone(), others).wait() {
                Ok(Outcome::Charged(charged)) => return Ok(Attempt::Charged(charged)),
                Err(LedgerError::Refused(refusal)) => return Ok(Attempt::Refused(refusal)),
                Err(LedgerError::Moved(_)) if patience.again() => {}
                Ok(Outcome::Answered(_))
                | Err(LedgerError::Unanswered(_) | LedgerError::OtherRequest(_)) => {
                    match self.name.find(self.ledger(), index)? {
                        Found::Stored(stored) => return Ok(Attempt::Stored(stored)),
                        Found::Open(next) => attempt = next,
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// What a step's answer truly is: rows are read when the step is paid for and not before.
    fn truth(&self, index: u64) -> Result<Exact<i64>, EngineError> {
        let Prospect { prepared, plans, .. } = self.prospect;
        let plan = &plans[place(index)];
        let watch = self.observer;
        let read = self.engine.bounded(prepared, plan, &|seen, of| watch.rows(seen, of));
        let bounded = read.map_err(|error| self.unread(error))?;
        self.engine.note_nobodys(prepared, bounded.nobodys(), &self.stamp())?;
        bounded.total(plan.adjacency).map_err(|error| self.unread(error))
    }

    /// Rows could not be read: the steward is told why, and an analyst that this is not available.
    fn unread(&self, error: RowsError) -> EngineError {
        match &self.question.who {
            Who::Steward => EngineError::WatchRows(error),
            who => match self.engine.failed(&self.prospect.prepared, who, &error, &self.stamp()) {
                Ok(()) => EngineError::Unavailable,
                Err(error) => error,
            },
        }
    }

    /// The digest of what is computed at a step.
    pub(super) fn digest(&self, index: u64) -> String {
        let digest = self.prospect.plans[place(index)].digest();
        blake3::Hash::from_bytes(digest).to_hex().to_string()
    }

    /// Whether this program may still draw. Somebody may have given it up in the belief that it had ended.
    fn check_turn(&self) -> Result<(), EngineError> {
        let path = turn_path(self.name.as_str());
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
        run.end(&self.unit().name, self.ledger(), &self.stamp())
    }

    /// A refusal as whoever watches may see it: another account's numbers are not shown.
    pub(super) fn refused(&self, refusal: &Refusal) -> String {
        let unit = &self.unit().name;
        let is_units = *refusal.account == **unit;
        let policy = self.engine.policy();
        if self.question.who.analyst().is_some_and(|analyst| !policy.has_own_budget(analyst)) {
            return "the budget does not allow the next step any more: ask the steward".to_owned();
        }
        if is_units && self.question.who.analyst().is_some() {
            return format!(
                "the budget of `{unit}` does not allow the next step any more: ask the steward"
            );
        }
        let whose = match &self.question.who {
            Who::Steward => format!("the budget of `{unit}`"),
            Who::Analyst(_) => "your budget".to_owned(),
        };
        let text = |charge: Charge| match charge {
            Charge::Zcdp { rho, .. } => format!("rho={}", short(rho)),
            Charge::Pure { epsilon, .. } => format!("epsilon={}", short(epsilon)),
        };
        let fits = refusal.fits.map_or_else(|| "nothing".to_owned(), text);
        format!(
            "the next step may cost {}, and {whose} has {fits} left for it",
            text(refusal.asked)
        )
    }
}

/// A run that is bought before it starts.
pub(super) fn whole(law: &Law, steps: u64) -> Result<Whole<Law>, EngineError> {
    Whole::new(law.clone(), steps).map_err(|error| EngineError::Goal(error.to_string()))
}

pub(super) fn rho(charge: Charge) -> Amount<Rho> {
    match charge {
        Charge::Zcdp { rho, .. } => rho,
        Charge::Pure { .. } => Amount::ZERO,
    }
}

fn place(index: u64) -> usize {
    usize::try_from(index).unwrap_or(usize::MAX)
}
