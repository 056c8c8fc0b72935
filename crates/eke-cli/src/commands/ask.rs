//! `eke ask`: questions in SQL, answered as exactly as they were asked for.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use eke_engine::ask::{adds_up, price_delta};
use eke_engine::error::NotAnswered;
use eke_engine::policy::Policy;
use eke_engine::{Access, Answer, Engine, EngineError, Question, Who};
use eke_ledger::patience::{Silently, Waiting};

use crate::Failure;
use crate::input::goal::{AdditiveArg, GoalArgs};
use crate::input::statements::{self, Statements};
use crate::show::answer::{self, Style};
use crate::show::print_json;
use crate::terminal::progress::{Progress, is_at_a_terminal};
use crate::terminal::stop::Stop;

/// Where the policy is, and who looks.
#[derive(Args, Clone)]
pub(crate) struct Asker {
    /// The policy file.
    #[arg(long, value_name = "FILE", default_value = "eke.toml")]
    pub(crate) policy: PathBuf,
    /// The analyst who asks, by the name in the policy [default: the steward]
    #[arg(long = "as", value_name = "NAME")]
    pub(crate) analyst: Option<String>,
}

impl Asker {
    pub(crate) fn who(&self) -> Who {
        self.analyst.clone().map_or(Who::Steward, Who::Analyst)
    }

    /// The policy's ledger, which is begun if there is none.
    pub(crate) fn engine(&self) -> Result<Engine, Failure> {
        let engine = self.open(true)?;
        if engine.has_begun() {
            eprintln!("eke: a new ledger was begun: {}", engine.address());
        }
        Ok(engine)
    }

    /// The policy's ledger to look at: none is begun.
    pub(crate) fn look(&self) -> Result<Engine, Failure> {
        self.open(false)
    }

    fn open(&self, begins: bool) -> Result<Engine, Failure> {
        let access = Access { waiting: Arc::new(Aloud::default()), begins };
        let engine = Engine::open_with(&self.policy, access)?;
        if self.who() == Who::Steward {
            for remark in engine.remarks() {
                eprintln!("eke: note: {remark}");
            }
        }
        Ok(engine)
    }
}

/// Waits for another program that holds the ledger, and says so.
#[derive(Default)]
struct Aloud(Silently);

impl Waiting for Aloud {
    fn now(&self) -> Duration {
        self.0.now()
    }

    fn pause(&self, time: Duration) {
        self.0.pause(time);
    }

    fn say(&self, sentence: &str) {
        eprintln!("eke: {sentence}");
    }
}

/// What to ask.
#[derive(Args)]
#[command(after_help = "\
Examples:
  eke ask \"SELECT district, COUNT(*) FROM trips GROUP BY district\" --within 5%
  eke ask \"SELECT AVG(fare) FROM trips\" --within 0.5 --as ana
  eke ask \"SELECT SUM(fare) FROM trips\" --price epsilon=0.1 --json
  eke ask -f questions.sql --within 10%
  eke ask \"SELECT sex, COUNT(*) FROM people GROUP BY ROLLUP (sex)\" --price rho=0.001 --additive
Questions in a file or on standard input (-) are separated by semicolons. They are answered in their
order until one is not.
A price in epsilon is the rho that implies no more than this epsilon at the delta of your budget, if
nothing else were ever asked. Epsilons of several questions do not add up; their rhos do.
Exit codes: 0 answered, 1 failed (also a policy or file that is wrong), 2 wrong usage, 3 refused: by
a budget, a tier or --at-most; until the steward changes something; or because the SQL is mistyped
or cannot be answered privately. 4 declined, 130 interrupted.")]
pub(crate) struct Ask {
    #[command(flatten)]
    sql: SqlArgs,
    #[command(flatten)]
    goal: GoalArgs,
    #[command(flatten)]
    asker: Asker,
    /// Print JSON, one object for each question.
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print CSV.
    #[arg(long)]
    csv: bool,
    /// Make totals (GROUP BY ROLLUP and its kin) the sums of their rows, as post-processing; with
    /// =nonnegative without values below zero.
    #[arg(
        long,
        value_name = "HOW",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "on"
    )]
    additive: Option<AdditiveArg>,
    /// Say also what noise fixed in advance would cost, and which values are good enough by their
    /// absolute error alone.
    #[arg(long, short)]
    verbose: bool,
    /// Do not ask for confirmation.
    #[arg(long)]
    yes: bool,
}

/// Where the questions are.
#[derive(Args)]
pub(crate) struct SqlArgs {
    /// The question, or - to read questions from standard input.
    #[arg(value_name = "SQL", required_unless_present = "file")]
    sql: Option<String>,
    /// Read questions from a file, separated by semicolons.
    #[arg(long, short, value_name = "FILE", conflicts_with = "sql")]
    file: Option<PathBuf>,
}

impl SqlArgs {
    /// The questions, in their order. There is at least one.
    pub(crate) fn questions(&self) -> Result<Vec<String>, Failure> {
        match (&self.sql, &self.file) {
            // What is set before a question may stand beside it; whatever else does is refused.
            (Some(sql), _) if sql != "-" => {
                let all = Statements::all(sql);
                let is_set =
                    |one: &String| one.get(..4).is_some_and(|s| s.eq_ignore_ascii_case("set "));
                match all.split_last() {
                    Some((_, before)) if before.iter().all(is_set) => Ok(all),
                    _ => Ok(vec![sql.clone()]),
                }
            }
            (_, Some(file)) => statements::read(file),
            (_, None) => statements::read("-".as_ref()),
        }
    }
}

impl Ask {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let all = self.sql.questions()?;
        let policy = Policy::read(&self.asker.policy).map_err(EngineError::from)?;
        let goal = GoalArgs { additive: self.additive, ..self.goal.clone() };
        let questions = with_goals(&goal, all, &policy, &self.asker.who())?;
        if questions.iter().any(|(_, goal)| goal.within.is_none() && goal.price.is_none()) {
            return Err(Failure::Usage(
                "how good must the answer be? say it with --within 5%, --within 100 or --price rho=0.001".into(),
            ));
        }
        // Of several, none is paid for before all are understood.
        let all = &questions;
        for (number, (sql, _)) in questions.iter().enumerate().filter(|_| all.len() > 1) {
            let understood = price_delta(&policy, sql, &self.asker.who()).map_err(Failure::from);
            understood.map_err(|failure| failure.at_question(number + 1, all.len()))?;
        }
        let engine = self.asker.engine()?;
        let stop = Stop::listen();
        for (number, (sql, goal)) in questions.iter().enumerate() {
            let answered = self.answer(&engine, sql, goal, &stop);
            let answered = if all.len() > 1 {
                answered.map_err(|failure| failure.at_question(number + 1, all.len()))
            } else {
                answered
            };
            // An answer may have many rows: they are not written line by line.
            let mut out = io::BufWriter::with_capacity(1 << 16, &mut *out);
            let answer = answered?;
            if all.len() > 1 && !self.json {
                if number > 0 {
                    writeln!(out)?;
                }
                if !self.csv {
                    writeln!(out, "{}", one_line(sql))?;
                }
            }
            self.show(&answer, goal, &mut out)?;
            out.flush()?;
        }
        Ok(())
    }

    fn answer(
        &self,
        engine: &Engine,
        sql: &str,
        args: &GoalArgs,
        stop: &Stop,
    ) -> Result<Answer, Failure> {
        let who = self.asker.who();
        let Some(question) = args.question(engine.policy(), sql, &who)? else {
            return Err(Failure::Usage("there is no goal".into()));
        };
        let progress = Progress::following(self.yes, stop.clone());
        let progress = progress.of(engine.policy(), &question);
        asked(engine, &question, &progress, args)
    }

    fn show(&self, answer: &Answer, goal: &GoalArgs, out: &mut impl Write) -> Result<(), Failure> {
        if self.json {
            return print_json(out, answer);
        }
        if self.csv {
            return Ok(answer::csv(answer, out)?);
        }
        let style = Style { is_tenth: goal.is_tenth(), is_verbose: self.verbose };
        Ok(answer::print(answer, style, out)?)
    }
}

/// Questions with their goals: what a statement sets holds from there on, and what a question says
/// of itself for that question.
pub(crate) fn with_goals(
    goal: &GoalArgs,
    statements: Vec<String>,
    policy: &Policy,
    who: &Who,
) -> Result<Vec<(String, GoalArgs)>, Failure> {
    let mut goal = goal.clone();
    let mut questions = Vec::new();
    for sql in statements {
        match goal.said(policy, &sql, who)? {
            (own, true) => questions.push((sql, own)),
            (set, false) => goal = set,
        }
    }
    if questions.is_empty() {
        return Err(Failure::Usage("there is no question: write one after what is set".into()));
    }
    Ok(questions)
}

/// Asks, with what a small number may have been meant for where it is declined or refused.
pub(crate) fn asked(
    engine: &Engine,
    question: &Question,
    progress: &Progress,
    goal: &GoalArgs,
) -> Result<Answer, Failure> {
    let additive = goal.additive.filter(|how| *how != AdditiveArg::Off);
    if additive.is_some() {
        // What does not add up is told before it is paid for.
        adds_up(engine.policy(), &question.sql, &question.who)?;
    }
    let answer = engine.ask(question, progress).and_then(|answer| match additive {
        Some(how) => {
            let nonnegative = how == AdditiveArg::Nonnegative;
            answer.additive(nonnegative).map_err(|error| NotAnswered::from(error).into())
        }
        None => Ok(answer),
    });
    progress.bar.finish_and_clear();
    match answer {
        Err(EngineError::Declined) if progress.doubts() => Err(match goal.meant() {
            Some(meant) if !is_at_a_terminal() => Failure::Usage(format!(
                "not asked, and nothing was charged: {meant}; to ask as it is, add --yes"
            )),
            Some(meant) => {
                Failure::Declined(format!("not asked, and nothing was charged: {meant}"))
            }
            None => Failure::Declined("not asked, and nothing was charged".into()),
        }),
        answer => answer.map_err(|error| match (Failure::from(error), goal.meant()) {
            (Failure::Refused(refused), Some(meant)) => {
                Failure::Refused(format!("{refused}; {meant}"))
            }
            (failure, _) => failure,
        }),
    }
}

/// A question on one line.
pub(crate) fn one_line(sql: &str) -> String {
    sql.split_whitespace().collect::<Vec<_>>().join(" ")
}
