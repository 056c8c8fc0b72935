//! Understanding a watch, and what it would do and cost. No row is read, and nothing is charged.

use eke_budget::convert::pure_to_zcdp;
use eke_budget::{Amount, Epsilon, Metric, Purchase, Rho};
use eke_noise::select::LineLaw;
use eke_select::LineNoise;
use eke_sql::{Measure, Plan, Query};
use serde::Serialize;

use super::law::{FURTHEST, Law};
use super::session::{Prospect, whole};
use super::{Charging, Closeness, NoiseLaw, Paid, Side, WatchQuestion, WrongSteps};
use crate::ask::shown::answer::rho_of;
use crate::data::ground::{Ground, Understood};
use crate::engine::Engine;
use crate::error::{EngineError, NotAllowed, NotAnswered, WayToPay, WrongGoal};
use crate::policy::AccountSpec;

/// What a watch would do and cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WatchPlan {
    /// What would be computed at every step, line by line. Parameters stay open.
    pub plan: Vec<String>,
    /// How many steps there are.
    pub steps: u64,
    /// Where the line is, in the unit of the answer.
    pub line: f64,
    /// Which side of it is a hit.
    pub side: Side,
    /// What one unit can change an answer by.
    pub sensitivity: f64,
    /// Whether one unit can only raise all answers, or only lower them.
    pub monotone: bool,
    /// The law of the noise.
    pub noise: NoiseLaw,
    /// How wide the noise of the line and of each answer is: deviations, or scales for Laplace
    /// noise.
    pub widths: [f64; 2],
    /// What answers are clamped to; none where that is no closer than what they can be.
    pub range: [Option<f64>; 2],
    /// The accounts that would pay.
    pub accounts: Vec<String>,
    /// What a run costs.
    pub prices: Vec<PriceAt>,
    /// What the asker has left.
    pub left: Paid,
    /// How many steps without a hit are certain to fit that; none where it is all that there may
    /// be. Where runs are paid for before they start, of how many steps one may be.
    pub fits: Option<u64>,
    /// How many steps fit, whichever of them are hits; where runs are paid for before they start,
    /// how many runs of all steps.
    pub certain: u64,
    /// A distance from the line, in the unit of the answer, with which a run of all steps would
    /// fit; none where it does, or where no distance would.
    pub would_fit: Option<f64>,
}

/// What a run costs that ends after a number of steps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PriceAt {
    /// The number of steps.
    pub steps: u64,
    /// What it costs if the last of them is a hit.
    pub hit: Paid,
    /// What it costs if none is.
    pub quiet: Paid,
}

impl Engine {
    /// Says what a watch would do and cost, without reading a row or charging anything.
    ///
    /// # Errors
    /// It is not a question that can be watched.
    pub fn explain_watch(&self, question: &WatchQuestion) -> Result<WatchPlan, EngineError> {
        let Understanding { understood, plans, law } = understand(self, question)?;
        let spec = *law.spec();
        let (noise, line, query) = match spec.noise {
            LineNoise::Gaussian { line, query } => (NoiseLaw::Gaussian, line, query),
            LineNoise::Laplace { line, query } => (NoiseLaw::Laplace, line, query),
        };
        let (payers, seen) = (&understood.payers, understood.payers.shown());
        let left = self.undisturbed(&payers.unit.name, &question.who, || {
            self.left_for_watch(seen, question.charging)
        })?;
        let steps = plans.len() as u64;
        let shown = std::collections::BTreeSet::from([1, 10, 100, 1000, steps]);
        let prices = shown.into_iter().map(|steps| price(&law, steps, question.charging));
        let prices = prices.collect::<Result<_, _>>()?;
        let each = cost(&law, steps_at_once(question.charging, steps), question.charging)?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a number of steps, and as many as there can be if it is more"
        )]
        let certain = (left.get() / each).floor().max(0.0) as u64;
        let plan = (&understood.query.plan, steps);
        let would_fit = distance_that_fits(question, plan, question.charging, left.get());
        let bound = |end: f64| Some(law.natural(end)).filter(|_| end.abs() < FURTHEST);
        Ok(WatchPlan {
            plan: understood.query.plan.describe(),
            steps: plans.len() as u64,
            line: law.natural(spec.threshold),
            side: question.side,
            sensitivity: law.natural(spec.sensitivity.get()),
            monotone: spec.change == eke_select::Change::Monotone,
            noise,
            widths: [law.natural(line), law.natural(query)],
            range: [bound(spec.range.0), bound(spec.range.1)],
            accounts: payers.names(),
            prices,
            left,
            fits: fits(&law, left)?,
            certain,
            would_fit: would_fit.filter(|_| {
                cost(&law, steps, question.charging).is_ok_and(|cost| cost > left.get())
            }),
        })
    }

    /// A watch that is understood, with its accounts open and its dataset pinned down.
    pub(super) fn prospect(&self, question: &WatchQuestion) -> Result<Prospect, EngineError> {
        let Understanding { understood, plans, law } = understand(self, question)?;
        let prepared = self.pinned(understood, &question.who)?;
        Ok(Prospect { prepared, plans, law })
    }

    /// What the least of some accounts has left for a watch.
    pub(super) fn left_for_watch(
        &self,
        accounts: &[AccountSpec],
        charging: Charging,
    ) -> Result<Paid, EngineError> {
        let mut least: Option<f64> = None;
        for spec in accounts {
            let account = self.ledger().account(&spec.name).wait()?;
            let odometer = account.as_ref().map(|account| account.odometer());
            let left = match charging {
                Charging::ExPost => {
                    let whole = spec.budget.pure().map_or(Amount::ZERO, |limits| limits.budget);
                    let purse = odometer.and_then(|odometer| odometer.pure());
                    purse.map_or(whole, |purse| purse.left()).to_f64()
                }
                Charging::ExAnte => {
                    let whole = spec.budget.zcdp().map_or(Amount::ZERO, |limits| limits.budget);
                    let purse = odometer.and_then(|odometer| odometer.zcdp());
                    purse.map_or(whole, |purse| purse.left()).to_f64()
                }
            };
            least = Some(least.map_or(left, |least| least.min(left)));
        }
        let left = least.unwrap_or(0.0);
        Ok(match charging {
            Charging::ExPost => Paid::Epsilon(left),
            Charging::ExAnte => Paid::Rho(left),
        })
    }
}

/// How many steps are paid for at once.
fn steps_at_once(charging: Charging, steps: u64) -> u64 {
    match charging {
        Charging::ExPost => 1,
        Charging::ExAnte => steps,
    }
}

/// The most that a run of `steps` steps can cost, in the currency that it is paid in.
fn cost(law: &Law, steps: u64, charging: Charging) -> Result<f64, EngineError> {
    Ok(match charging {
        Charging::ExPost => law.line.worst(steps).to_f64(),
        Charging::ExAnte => rho_of(whole(law, steps)?.charge()).to_f64(),
    })
}

/// A distance from the line with which a run of all steps fits what is left, in three digits; none
/// if there is none that is not absurd.
fn distance_that_fits(
    question: &WatchQuestion,
    (plan, steps): (&Plan, u64),
    charging: Charging,
    left: f64,
) -> Option<f64> {
    let priced = |distance: f64| {
        let question = WatchQuestion {
            closeness: Closeness::Absolute(distance),
            charging,
            ..question.clone()
        };
        let law = Law::new(&question, plan, plan.sums.first()?).ok()?;
        cost(&law, steps, charging).ok()
    };
    let mut distance = match question.closeness {
        Closeness::Relative(tolerance) => tolerance.get() * question.line.abs(),
        Closeness::Absolute(distance) => distance,
    };
    // Prices fall with the distance, or with its square, but for how far answers are clamped.
    for _ in 0..TRIES {
        let too_much = priced(distance)? / left;
        if too_much <= 1.0 {
            return Some(distance);
        }
        let further = match charging {
            Charging::ExPost => too_much,
            Charging::ExAnte => too_much.sqrt(),
        };
        distance = in_three_digits(distance * further);
        if !(distance.is_finite() && distance < FURTHEST) {
            return None;
        }
    }
    None
}

/// How often a distance is tried that may fit.
const TRIES: usize = 12;

/// A number of three digits that is a little more than this.
fn in_three_digits(number: f64) -> f64 {
    format!("{:.2e}", number * 1.01).parse().unwrap_or(number)
}

/// What a run costs that ends after `steps` steps.
fn price(law: &Law, steps: u64, charging: Charging) -> Result<PriceAt, EngineError> {
    let (hit, quiet) = match charging {
        Charging::ExPost => {
            let price = |price: Amount<Epsilon>| Paid::Epsilon(price.to_f64());
            (price(law.line.halted(steps)), price(law.line.stopped(steps)))
        }
        Charging::ExAnte => {
            let price = Paid::Rho(cost(law, steps, charging)?);
            (price, price)
        }
    };
    Ok(PriceAt { steps, hit, quiet })
}

/// How many steps without a hit are certain to fit what is left.
fn fits(law: &Law, left: Paid) -> Result<Option<u64>, EngineError> {
    let steps = match left {
        Paid::Epsilon(left) => law.line.horizon(Amount::floor(left).map_err(WrongGoal::from)?),
        Paid::Rho(left) => {
            // The largest epsilon whose zCDP price fits.
            let (mut low, mut high) = (0.0, left.max(2.0 * left.sqrt()) + 1.0);
            let metric = Metric::Hamming(eke_budget::Adjacency::AddRemove);
            for _ in 0..100 {
                let middle = f64::midpoint(low, high);
                let rho = Epsilon::new(middle).and_then(|e| pure_to_zcdp(e, metric));
                if rho.is_ok_and(|rho| rho.get() <= left) { low = middle } else { high = middle }
            }
            law.line.horizon(Amount::floor(low).map_err(WrongGoal::from)?)
        }
    };
    Ok(Some(steps).filter(|&steps| steps < eke_select::AboveThreshold::LONGEST))
}

/// A watch that is understood, before anything is written to a ledger.
struct Understanding {
    understood: Understood,
    plans: Vec<Plan>,
    law: Law,
}

fn understand(engine: &Engine, question: &WatchQuestion) -> Result<Understanding, EngineError> {
    let (policy, who, sql) = (engine.policy(), &question.who, &question.sql);
    let lines = &question.steps.lines;
    let Some(first) = lines.first() else {
        return Err(WrongSteps::Empty.into());
    };
    let ground = Ground::new(policy, sql, who)?;
    let open = eke_sql::plan_open(sql, &ground.tables, first)?;
    check_question(&open)?;
    let mut plans = Vec::with_capacity(lines.len());
    for (index, line) in lines.iter().enumerate() {
        let query = eke_sql::plan_with(sql, &ground.tables, line)
            .map_err(|error| WrongSteps::Question { step: index + 1, error })?;
        // They choose rows, and nothing else.
        let same = Plan { filter: open.plan.filter.clone(), ..query.plan.clone() } == open.plan;
        if !same || query.measures != open.measures {
            return Err(WrongSteps::OtherQuestion { step: index + 1 }.into());
        }
        plans.push(query.plan);
    }
    let law = Law::new(question, &open.plan, &open.plan.sums[0])?;
    let understood = ground.understood(policy, open, who)?;
    check_purses(engine, question, &understood, (&law, plans.len() as u64))?;
    // The longest run that there can be.
    let metric = Metric::Hamming(understood.query.plan.adjacency);
    check_tier(&law, plans.len() as u64, understood.finest, metric)?;
    Ok(Understanding { understood, plans, law })
}

/// Whether a run of `steps` steps tells no more than a tier may see of any one path.
pub(super) fn check_tier(
    law: &Law,
    steps: u64,
    finest: Option<Amount<Rho>>,
    metric: Metric,
) -> Result<(), EngineError> {
    let Some(finest) = finest else { return Ok(()) };
    let run = law.line.worst(steps).to_parameter().and_then(|run| pure_to_zcdp(run, metric));
    if run.is_ok_and(|run| Amount::at_least(run) <= finest) {
        return Ok(());
    }
    Err(NotAllowed::RunBeyondTier { steps }.into())
}

/// One number, which is one sum.
fn check_question(query: &Query) -> Result<(), EngineError> {
    if !query.plan.keys.is_empty() {
        return Err(NotAnswered::WatchOfGroups.into());
    }
    if query.having.is_some()
        || !query.order.is_empty()
        || query.limit.is_some()
        || query.offset > 0
    {
        return Err(NotAnswered::WatchOfSomeRows.into());
    }
    match query.measures.as_slice() {
        [Measure::Sum(_)] if query.plan.sums.len() == 1 && query.outputs.len() == 1 => Ok(()),
        [Measure::Average { .. }] => Err(NotAnswered::WatchOfAverage.into()),
        _ => Err(NotAnswered::WatchOfSeveral.into()),
    }
}

/// Every account has the purse that a watch is paid from. If not, what is said to do instead works.
fn check_purses(
    engine: &Engine,
    question: &WatchQuestion,
    understood: &Understood,
    (law, steps): (&Law, u64),
) -> Result<(), EngineError> {
    let payers = &understood.payers;
    let missing = payers.iter().find(|account| match question.charging {
        Charging::ExPost => account.budget.pure().is_none(),
        Charging::ExAnte => account.budget.zcdp().is_none(),
    });
    let Some(account) = missing else { return Ok(()) };
    let name = &account.name;
    if question.charging == Charging::ExAnte {
        return Err(NotAllowed::NoRhoForRuns { account: name.clone() }.into());
    }
    let mut ways = Vec::new();
    let is_steward = question.who.analyst().is_none();
    if !is_steward {
        ways.push(WayToPay::AskSteward);
    } else if engine.ledger().account(name).wait()?.is_some() {
        // What an account was opened with is for good.
    } else if let Some(way) =
        pure_part(engine, question, (account, &understood.query.plan), (law, steps))?
    {
        ways.push(way);
    }
    let seen = payers.shown();
    let left = engine.left_for_watch(seen, Charging::ExAnte)?.get();
    let plan = (&understood.query.plan, steps);
    if cost(law, steps, Charging::ExAnte)? <= left {
        ways.push(WayToPay::BeforeEachRun { distance: None });
    } else if let Some(distance) = distance_that_fits(question, plan, Charging::ExAnte, left) {
        ways.push(WayToPay::BeforeEachRun { distance: Some(distance) });
    }
    if ways.is_empty() {
        ways.push(WayToPay::FewerSteps);
    }
    Err(NotAllowed::NoPure { account: name.clone(), ways }.into())
}

/// What to write into the policy so that the account, which is not open, pays for a run of all
/// steps out of half its epsilon at most, and what to ask if that is not enough.
fn pure_part(
    engine: &Engine,
    question: &WatchQuestion,
    (account, plan): (&AccountSpec, &Plan),
    (law, steps): (&Law, u64),
) -> Result<Option<WayToPay>, EngineError> {
    let Some(promise) = account.budget.promise() else { return Ok(None) };
    let policy = engine.policy().path().to_owned();
    let (half, wanted) = (promise.epsilon.get() / 2.0, cost(law, steps, Charging::ExPost)?);
    if in_three_digits(wanted) <= half {
        let pure = in_three_digits(wanted);
        return Ok(Some(WayToPay::PureBudget { policy, pure, steps }));
    }
    let distance = distance_that_fits(question, (plan, steps), Charging::ExPost, half);
    Ok(distance.map(|distance| WayToPay::PureBudgetWithin { policy, pure: half, distance }))
}
