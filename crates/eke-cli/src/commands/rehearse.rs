//! `eke rehearse`: a question on made-up rows. Nothing is read of the data, of the ledger what was
//! published of it in a profile, and nothing is charged.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use eke_engine::policy::Policy;
use eke_engine::profile::DatasetShape;
use eke_engine::rehearse::{MOST_UNITS, rehearse};
use eke_engine::{Answer, EngineError, Who};

use crate::Failure;
use crate::commands::ask::{Asker, SqlArgs, asked, one_line};
use crate::input::goal::GoalArgs;
use crate::show::answer::{self, Style};
use crate::show::number::{cost_in_both, percent};
use crate::show::print_json;
use crate::terminal::progress::Progress;
use crate::terminal::stop::Stop;

/// What to rehearse.
#[derive(Args)]
#[command(after_help = "\
Examples:
  eke rehearse \"SELECT district, AVG(fare) FROM trips GROUP BY district\" --within 5%
The rows are made up from the schema, from what the policy says is public (bounds, listed values, and
how many people there are), and from a profile that was bought: how many units there are, and how
many rows, groups and which values they have. Numbers of the answer mean nothing; its form, its price
and how wide its intervals are resemble those of an answer to a table of that size.")]
pub(crate) struct Rehearse {
    #[command(flatten)]
    sql: SqlArgs,
    #[command(flatten)]
    goal: GoalArgs,
    #[command(flatten)]
    asker: Asker,
    /// How many units are made up [default: as many as the policy says there are, or 10000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_UNITS)))]
    units: Option<u32>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

const SAYS: &str = "a rehearsal on made-up rows: no data is read, nothing is charged";

impl Rehearse {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let questions = self.sql.questions()?;
        let policy = Policy::read(&self.asker.policy).map_err(EngineError::from)?;
        let who = self.asker.who();
        if !self.json {
            writeln!(out, "{SAYS}")?;
        }
        // Without a ledger there are no profiles, and what is wrong with it is told when one asks.
        let shapes = self.asker.look().ok().and_then(|engine| engine.published_shapes(&who).ok());
        let shapes = shapes.unwrap_or_default();
        for sql in &questions {
            let asked =
                Rehearsed { policy: &policy, who: &who, units: self.units, shapes: &shapes };
            let answer = asked.answer(sql, &self.goal)?;
            if self.json {
                let mut json = serde_json::json!({ "rehearsal": true });
                let told = serde_json::to_value(&answer).map_err(std::io::Error::from)?;
                if let (Some(json), serde_json::Value::Object(told)) = (json.as_object_mut(), told)
                {
                    json.extend(told);
                }
                print_json(out, &json)?;
                continue;
            }
            writeln!(out)?;
            if questions.len() > 1 {
                writeln!(out, "{}", one_line(sql))?;
            }
            print(&answer, Style { is_tenth: self.goal.is_tenth(), is_verbose: false }, out)?;
        }
        Ok(())
    }
}

/// A rehearsal as the shell shows it.
pub(crate) fn show(
    policy: &Policy,
    shapes: &BTreeMap<String, DatasetShape>,
    sql: &str,
    who: &Who,
    goal: &GoalArgs,
    out: &mut impl Write,
) -> Result<(), Failure> {
    writeln!(out, "{SAYS}\n")?;
    let answer = Rehearsed { policy, who, units: None, shapes }.answer(sql, goal)?;
    print(&answer, Style { is_tenth: goal.is_tenth(), is_verbose: false }, out)
}

fn print(answer: &Answer, style: Style, out: &mut impl Write) -> Result<(), Failure> {
    answer::table(answer, style, out)?;
    let price = cost_in_both(&answer.cost, answer.epsilon);
    let part = percent(answer.cost.rho, answer.budget.rho);
    Ok(writeln!(out, "\n  would cost {price}, {part} of the whole budget")?)
}

/// What rehearsals of one asker have in common.
struct Rehearsed<'a> {
    policy: &'a Policy,
    who: &'a Who,
    units: Option<u32>,
    shapes: &'a BTreeMap<String, DatasetShape>,
}

impl Rehearsed<'_> {
    fn answer(&self, sql: &str, goal: &GoalArgs) -> Result<Answer, Failure> {
        let Self { policy, who, units, shapes } = *self;
        let (goal, _) = &goal.said(policy, sql, who)?;
        let Some(question) = goal.question(policy, sql, who)? else {
            return Err(Failure::Usage(
                "how good must the answer be? say it with --within 5%, --within 100 or --price rho=0.001"
                    .into(),
            ));
        };
        let folder = Scratch::new()?;
        let engine = rehearse(policy, sql, who, units, shapes, folder.path())?;
        // Nothing is spent, so nothing is confirmed; and Ctrl-C may end it at once.
        let progress = Progress::following(true, Stop::default());
        asked(&engine, &question, &progress, goal)
    }
}

/// A folder that is gone after the rehearsal.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self, Failure> {
        let wrong = |error: std::io::Error| {
            let sentence = format!("there is no place for made-up rows: {error}");
            Failure::Failed(sentence.into())
        };
        let base = std::env::temp_dir();
        for attempt in 0..1000u32 {
            let name = format!("eke-rehearsal-{}-{attempt}", std::process::id());
            let folder = base.join(name);
            match make_private(&folder) {
                Ok(()) => return Ok(Self(folder)),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(wrong(error)),
            }
        }
        Err(wrong(std::io::ErrorKind::AlreadyExists.into()))
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left there is made up.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Makes a folder that only its owner may look into.
pub(crate) fn make_private(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
