//! `eke budget` and `eke history`: what was spent, and on what.

use std::io::{self, Write};

use clap::Args;
use eke_engine::purchase::Failed;
use eke_engine::report::{Asked, Outcome, Owner, Promised, Standing};
use eke_engine::{Engine, Who};

use crate::Failure;
use crate::commands::ask::Asker;
use crate::show::answer::{Style, table};
use crate::show::number::{cost, percent, short};
use crate::show::print_json;

/// Whose budget to show.
#[derive(Args)]
pub(crate) struct Budget {
    #[command(flatten)]
    asker: Asker,
    /// Confirm, as the steward, that you have looked into the questions that failed: analysts may
    /// ask again.
    #[arg(long, conflicts_with = "analyst")]
    looked: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Whose history to show.
#[derive(Args)]
pub(crate) struct History {
    #[command(flatten)]
    asker: Asker,
    /// Show the last N questions.
    #[arg(long, value_name = "N", default_value_t = 20)]
    last: usize,
    /// Leave out the answers.
    #[arg(long)]
    short: bool,
    /// Print JSON, one question a line.
    #[arg(long)]
    json: bool,
}

impl Budget {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let engine = if self.looked { self.asker.engine()? } else { self.asker.look()? };
        let who = self.asker.who();
        if self.looked {
            engine.looked()?;
        }
        let standings = engine.budget(&who)?;
        let is_steward = who == Who::Steward;
        let notices = if is_steward { engine.notices()? } else { Vec::new() };
        let failures = if is_steward { engine.failures()? } else { Vec::new() };
        if self.json {
            let report = serde_json::json!({
                "accounts": standings, "failures": failures, "notices": notices
            });
            return print_json(out, &report);
        }
        show(&engine, &who, out)?;
        for failed in &failures {
            print_failed(failed, out)?;
        }
        for notice in notices {
            writeln!(out, "\nnote: {notice}")?;
        }
        Ok(())
    }
}

/// The budgets that the asker sees.
pub(crate) fn show(engine: &Engine, who: &Who, out: &mut impl Write) -> Result<(), Failure> {
    for (index, standing) in engine.budget(who)?.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        print(standing, out)?;
    }
    Ok(())
}

/// How many bits failures can have revealed, and which analysts wait for the steward.
fn print_failed(failed: &Failed, out: &mut impl Write) -> io::Result<()> {
    let Failed { unit, failed: count, questions, bits, unseen, blocked, all_blocked } = failed;
    writeln!(
        out,
        "\n{unit}: {count} of {questions} questions failed or were late, which can have told {} bits at most",
        short(*bits)
    )?;
    let whose =
        if *all_blocked { "analysts are".to_owned() } else { format!("{} is", blocked.join(", ")) };
    if *all_blocked || !blocked.is_empty() {
        let look = "look into the notes below, and then say so with `eke budget --looked`";
        writeln!(out, "  {whose} not answered, since {unseen} failed: {look}")?;
    }
    Ok(())
}

fn print(standing: &Standing, out: &mut impl Write) -> io::Result<()> {
    let unit = &standing.unit;
    match &standing.owner {
        Owner::Everyone => {
            writeln!(out, "{unit}: the promise to every {unit}, whatever people tell each other")?;
        }
        Owner::Circle(name) => {
            writeln!(out, "{unit}, circle {name}: holds against its members alone")?;
        }
        Owner::Analyst(name) => {
            writeln!(out, "{unit}, analyst {name}: holds against {name} alone")?;
        }
    }
    let (whole, spent, reserved) = (standing.budget.rho, standing.spent.rho, standing.reserved.rho);
    writeln!(out, "  {}  {} spent", bar(spent, reserved, whole), percent(spent, whole))?;
    if let Some(promise) = standing.promise {
        writeln!(out, "  promised  {} (rho {})", promised(&promise), short(whole))?;
    } else {
        writeln!(out, "  promised  rho {}", short(whole))?;
    }
    if let Some(over) = &standing.over_periods {
        writeln!(out, "  periods   {}", over.sentence(&standing.unit))?;
    }
    if let Some(policy) = standing.policy {
        let promise = policy.promise.map_or(String::new(), |promise| promised(&promise) + " ");
        writeln!(
            out,
            "  policy    says {promise}(rho {}) instead: the ledger keeps what it promised, so put that back",
            short(policy.rho)
        )?;
    }
    writeln!(out, "  spent     {}", cost(&standing.spent))?;
    if let Some(bound) = standing.bound {
        let delta = bound.delta.unwrap_or(0.0);
        writeln!(
            out,
            "  so far    epsilon {} at all times until now, except with probability {}",
            short(bound.epsilon),
            short(delta)
        )?;
    }
    if reserved > 0.0 {
        writeln!(out, "  reserved  {}", cost(&standing.reserved))?;
    }
    if let Some(brought) = standing.to_bring {
        let pure = if brought.epsilon > 0.0 {
            format!(" and epsilon {}", short(brought.epsilon))
        } else {
            String::new()
        };
        let then = if brought.fits {
            "which it is charged with the next question"
        } else {
            "which is more than it has left: no member can ask until it is given up or they leave it"
        };
        writeln!(
            out,
            "  outside   its members have spent rho {}{pure} before they were in it, {then}",
            short(brought.rho)
        )?;
    }
    for profile in &standing.profiles {
        let when =
            if profile.paid { "which is in what is spent" } else { "with the next question" };
        writeln!(
            out,
            "  profile   of `{}`, snapshot {}: rho {}, paid by every account, {when}",
            profile.dataset,
            profile.snapshot,
            short(profile.rho)
        )?;
    }
    writeln!(out, "  left      rho {}", short(standing.left.rho))?;
    if let Some([whole, spent, reserved, left]) = standing.pure {
        writeln!(
            out,
            "  pure      {}  epsilon {} spent, {} reserved, {} left of {}",
            bar(spent, reserved, whole),
            short(spent),
            short(reserved),
            short(left),
            short(whole)
        )?;
    }
    Ok(())
}

pub(crate) fn promised(promise: &Promised) -> String {
    let delta = promise.delta.map_or(String::new(), |delta| format!(", delta {}", short(delta)));
    format!("epsilon {}{delta}", short(promise.epsilon))
}

/// A bar of thirty marks: `#` spent, `~` reserved, `.` left. What was spent at all shows.
pub(crate) fn bar(spent: f64, reserved: f64, whole: f64) -> String {
    const WIDTH: f64 = 30.0;
    let marks = |part: f64| {
        let marks = if whole > 0.0 { (part / whole * WIDTH).round() } else { 0.0 };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 30")]
        let marks = marks.clamp(if part > 0.0 { 1.0 } else { 0.0 }, WIDTH) as usize;
        marks
    };
    let spent = marks(spent);
    let reserved = marks(reserved).min(30 - spent);
    let left = 30 - spent - reserved;
    format!("[{}{}{}]", "#".repeat(spent), "~".repeat(reserved), ".".repeat(left))
}

impl History {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let (engine, who) = (self.asker.look()?, self.asker.who());
        if !self.json {
            return list(&engine, &who, (self.last, self.short), out);
        }
        let history = engine.history(&who)?;
        for asked in &history[history.len().saturating_sub(self.last)..] {
            print_json(out, asked)?;
        }
        Ok(())
    }
}

/// The last questions and their answers.
pub(crate) fn history(
    engine: &Engine,
    who: &Who,
    last: usize,
    out: &mut impl Write,
) -> Result<(), Failure> {
    list(engine, who, (last, false), out)
}

/// The last questions, without their answers if it is to be short.
fn list(
    engine: &Engine,
    who: &Who,
    (last, is_short): (usize, bool),
    out: &mut impl Write,
) -> Result<(), Failure> {
    let history = engine.history(who)?;
    let shown = &history[history.len().saturating_sub(last)..];
    for (index, asked) in shown.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        print_asked(asked, is_short, out)?;
    }
    if shown.is_empty() {
        writeln!(out, "nothing has been asked yet")?;
    }
    Ok(())
}

fn print_asked(asked: &Asked, is_short: bool, out: &mut impl Write) -> io::Result<()> {
    let price = match asked.outcome {
        Outcome::Refused => "refused, for nothing".to_owned(),
        _ => match (asked.rho > 0.0, asked.epsilon > 0.0) {
            (false, false) => "for nothing".to_owned(),
            (true, false) => format!("for rho {}", short(asked.rho)),
            (false, true) => format!("for epsilon {}", short(asked.epsilon)),
            (true, true) => {
                format!("for rho {} and epsilon {}", short(asked.rho), short(asked.epsilon))
            }
        },
    };
    let price = match asked.steps {
        Some(1) => format!("{price}, 1 step watched"),
        Some(steps) => format!("{price}, {steps} steps watched"),
        None => price,
    };
    let price = if asked.keys { format!("{price}, to select keys") } else { price };
    let lost = if asked.outcome == Outcome::Unanswered { ", without an answer" } else { "" };
    let at = asked.at.get(..19).unwrap_or(&asked.at).replace('T', " ");
    writeln!(out, "{at}  {} ({}), {price}{lost}", asked.who, asked.unit)?;
    writeln!(out, "  {}", asked.question.split_whitespace().collect::<Vec<_>>().join(" "))?;
    if let Some(answer) = asked.answer.as_ref().filter(|_| !is_short) {
        table(answer, Style::default(), out)?;
    }
    Ok(())
}
