//! `eke ask`: a question in SQL, answered as exactly as it was asked for.

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use eke_budget::{Amount, Charge, Rho};
use eke_engine::ask::Kind;
use eke_engine::watch::Paid;
use eke_engine::{
    Access, Accuracy, Answer, Cell, Engine, EngineError, Goal, Observer, Question, Stopped, Who,
};
use eke_ledger::patience::{Silently, Waiting};
use eke_noise::{Confidence, Tolerance};
use indicatif::ProgressBar;

use crate::Failure;
use crate::show::bar::style;
use crate::show::number::{cost, estimate, grouped, percent, short};
use crate::show::{Table, print_json};
use crate::stop::Stop;
use crate::watch::paid;

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
  eke ask \"SELECT city, COUNT(*) FROM trips GROUP BY city\" --within 5%
  eke ask \"SELECT AVG(fare) FROM trips\" --within 0.5 --as ana
  eke ask \"SELECT SUM(fare) FROM trips\" --price rho=0.001 --json
Exit codes: 0 answered, 1 failed (also a policy or file that is wrong), 2 wrong usage, 3 refused: by
a budget, a tier or --at-most; until the steward changes something; or because the SQL is mistyped
or cannot be answered privately. 130 interrupted.")]
pub(crate) struct Ask {
    /// The question.
    #[arg(value_name = "SQL")]
    sql: String,
    /// The error to stay within: relative, such as 5%, or absolute, such as 100.
    #[arg(long, value_name = "ERROR", conflicts_with = "price")]
    within: Option<Within>,
    /// With a relative error: an absolute error that is also good enough.
    #[arg(long = "or", value_name = "ERROR", requires = "within")]
    floor: Option<f64>,
    /// The highest price, such as rho=0.01 [default for a relative error: a tenth of what is left]
    #[arg(long, value_name = "PRICE", value_parser = price)]
    at_most: Option<Amount<Rho>>,
    /// The confidence of the intervals.
    #[arg(long, value_name = "P", default_value = "95%", value_parser = confidence)]
    confidence: Confidence,
    /// Spend exactly this on the values, such as rho=0.001, whatever accuracy that gives.
    #[arg(long, value_name = "PRICE", value_parser = price)]
    price: Option<Amount<Rho>>,
    #[command(flatten)]
    asker: Asker,
    /// Print JSON.
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print CSV.
    #[arg(long)]
    csv: bool,
    /// Do not ask for confirmation.
    #[arg(long)]
    yes: bool,
}

/// A relative or an absolute error.
#[derive(Clone, Copy)]
pub(crate) enum Within {
    Relative(Tolerance),
    Absolute(f64),
}

impl FromStr for Within {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(percent) = text.trim().strip_suffix('%') {
            let percent: f64 = percent.trim().parse().map_err(|_| not_an_error(text))?;
            return Tolerance::new(percent / 100.0).map(Self::Relative).map_err(|_| {
                format!("`{text}` is out of range: write a relative error from 0.01% to 90%")
            });
        }
        let error: f64 = text.trim().parse().map_err(|_| not_an_error(text))?;
        if error.is_finite() && error > 0.0 {
            Ok(Self::Absolute(error))
        } else {
            Err(format!("`{text}` is out of range: write a positive error, such as 100 or 5%"))
        }
    }
}

fn not_an_error(text: &str) -> String {
    format!("`{text}` is not an error: write 5% of the value, or 100 of its unit")
}

fn price(text: &str) -> Result<Amount<Rho>, String> {
    match text.parse::<Charge>() {
        Ok(Charge::Zcdp { rho, delta }) if delta.is_zero() => Ok(rho),
        _ => Err(format!("`{text}` is not a price in rho: write it like rho=0.001")),
    }
}

pub(crate) fn confidence(text: &str) -> Result<Confidence, String> {
    let wrong = || format!("`{text}` is not a confidence: write it like 95%, from 50% to 99.9999%");
    let number = match text.trim().strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|percent| percent / 100.0),
        None => text.trim().parse(),
    };
    Confidence::new(number.map_err(|_| wrong())?).map_err(|_| wrong())
}

impl Ask {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let accuracy = match (self.within, self.price) {
            (_, Some(price)) => Accuracy::Price(price),
            (Some(Within::Relative(tolerance)), None) => Accuracy::Relative(tolerance),
            (Some(Within::Absolute(error)), None) => Accuracy::Absolute(error),
            (None, None) => {
                return Err(Failure::Usage(
                    "how good must the answer be? say it with --within 5%, --within 100 or --price rho=0.001".into(),
                ));
            }
        };
        let goal = Goal {
            accuracy,
            floor: self.floor,
            at_most: self.at_most,
            confidence: self.confidence,
        };
        let question = Question { sql: self.sql.clone(), goal, who: self.asker.who() };
        let engine = self.asker.engine()?;
        let watch = Progress::new(self.yes);
        let answer = engine.ask(&question, &watch);
        watch.bar.finish_and_clear();
        let answer = match answer {
            Err(EngineError::Declined) if watch.doubts.load(Ordering::Relaxed) => {
                return Err(Failure::Usage(match self.meant() {
                    Some(meant) => format!(
                        "not asked, and nothing was charged: {meant}; to ask as it is, add --yes"
                    ),
                    None => "not asked, and nothing was charged".into(),
                }));
            }
            answer => answer.map_err(|error| match (Failure::from(error), self.meant()) {
                (Failure::Refused(refused), Some(meant)) => {
                    Failure::Refused(format!("{refused}; {meant}"))
                }
                (failure, _) => failure,
            })?,
        };
        if self.json {
            return print_json(out, &answer);
        }
        if self.csv {
            return Ok(as_csv(&answer, out)?);
        }
        print(&answer, out)?;
        let is_short = |cell: &Cell| {
            matches!(cell.ending, Stopped::HighestPrice | Stopped::OutOfReach)
                && cell.met == Some(false)
        };
        let is_tenth = matches!(accuracy, Accuracy::Relative(_)) && self.at_most.is_none();
        if is_tenth && answer.rows.iter().flat_map(|row| &row.values).any(is_short) {
            writeln!(
                out,
                "  the highest price was a tenth of what was left: allow more with --at-most"
            )?;
        }
        Ok(())
    }

    /// What a small number without a percent sign may have been meant for.
    fn meant(&self) -> Option<String> {
        let Some(Within::Absolute(error)) = self.within.filter(|_| self.price.is_none()) else {
            return None;
        };
        let part = Tolerance::new(error).ok().filter(|_| error < 1.0)?.get() * 100.0;
        let part = short(part);
        Some(format!(
            "{error} is an error in the unit of the value; if {part}% of it is meant, write --within {part}%"
        ))
    }
}

/// A spinner on a terminal. It turns with rounds of looks. Only the steward sees how many rows were
/// read.
pub(crate) struct Progress {
    pub(crate) bar: ProgressBar,
    yes: bool,
    /// Whether somebody wants to stop.
    stop: Stop,
    /// Whether the user was asked if the error was meant.
    doubts: AtomicBool,
}

const SPINNER: &str = "{spinner} {msg} {elapsed}";

impl Progress {
    pub(crate) fn new(yes: bool) -> Self {
        let bar = ProgressBar::new_spinner();
        style(&bar, SPINNER);
        if io::stderr().is_terminal() {
            bar.enable_steady_tick(Duration::from_millis(100));
        }
        Self { bar, yes, stop: Stop::listen(), doubts: AtomicBool::new(false) }
    }

    /// Asks the user for confirmation. Without a terminal the answer is yes.
    fn ask(&self, text: &str) -> bool {
        if self.yes || !is_at_a_terminal() {
            return true;
        }
        self.bar.suspend(|| {
            eprint!("{text}");
            let mut line = String::new();
            let read = self.stop.idle(|| io::stdin().lock().read_line(&mut line));
            read.is_ok() && matches!(line.trim(), "y" | "Y" | "yes")
        })
    }
}

fn is_at_a_terminal() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

impl Observer for Progress {
    fn rows(&self, seen: u64, of: Option<u64>) {
        if self.bar.length().is_none()
            && let Some(all) = of
        {
            self.bar.set_length(all);
            style(&self.bar, "{bar:30} {percent}% of the rows {elapsed}");
        }
        self.bar.set_position(seen);
        self.bar.set_message(format!("{seen} rows read"));
    }

    fn look(&self, number: u32) {
        style(&self.bar, SPINNER);
        self.bar.set_message(format!("look {number}"));
    }

    /// Asks whether the error was meant. Without a terminal the answer is no, unlike for a price:
    /// it is almost surely a mistake.
    fn confirm_error(&self, error: f64) -> bool {
        let is_meant = self.yes
            || is_at_a_terminal()
                && self.ask(&format!(
                    "This asks for a count within {error} rows or units, and not within {}% of it. Ask? [y/N] ",
                    short(error * 100.0)
                ));
        self.doubts.store(!is_meant, Ordering::Relaxed);
        is_meant
    }

    fn is_over(&self) -> bool {
        self.stop.is_asked()
    }

    fn confirm(&self, may_cost: Amount<Rho>, left: Amount<Rho>) -> bool {
        let (cost, left) = (may_cost.to_f64(), left.to_f64());
        self.ask(&format!(
            "This may cost up to rho {}, {} of what is left. Ask? [y/N] ",
            short(cost),
            percent(cost, left)
        ))
    }

    fn confirm_watch(&self, sets_aside: Paid, left: Paid) -> bool {
        self.ask(&format!(
            "A hit may cost up to {}, {} of what is left, and there may be several. Watch? [y/N] ",
            paid(sets_aside),
            percent(sets_aside.get(), left.get())
        ))
    }
}

/// The answer as a table, and below it what it cost.
pub(crate) fn print(answer: &Answer, out: &mut impl Write) -> io::Result<()> {
    table(answer, out)?;
    writeln!(out)?;
    let left = format!("rho {} left", short(answer.left.rho));
    if answer.free {
        writeln!(out, "  cost   nothing; {left}")?;
    } else {
        let part = percent(answer.cost.rho, answer.budget.rho);
        writeln!(out, "  cost   {}, {part} of the budget; {left}", cost(&answer.cost))?;
        if let Some(fixed) = &answer.fixed {
            let note = if fixed.rho > answer.cost.rho + answer.left.rho {
                ", more than there is"
            } else {
                ""
            };
            writeln!(
                out,
                "  noise fixed in advance would cost {} to promise this for any data{note}",
                cost(fixed)
            )?;
        }
    }
    Ok(())
}

/// The rows of an answer, with their intervals.
pub(crate) fn table(answer: &Answer, out: &mut impl Write) -> io::Result<()> {
    let values = || answer.rows.iter().flat_map(|row| &row.values);
    let confidence = values().map(|value| value.confidence).next().unwrap_or(0.95);
    let interval = format!("{} interval", format_percent(confidence));
    let mut head = Vec::new();
    let mut numbers = Vec::new();
    for column in &answer.columns {
        match column.kind {
            Kind::Key => head.push(column.name.clone()),
            Kind::Value => {
                numbers.push(head.len());
                head.push(column.name.clone());
                head.push(interval.clone());
            }
        }
    }
    let unmet = values().any(|value| !why(value).is_empty());
    if unmet {
        head.push(String::new());
    }
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let mut table = Table::new(&head).with_numbers(numbers);
    for row in &answer.rows {
        let (mut keys, mut values) = (row.keys.iter(), row.values.iter());
        let mut cells = Vec::new();
        for column in &answer.columns {
            match column.kind {
                Kind::Key => cells.push(keys.next().map_or_else(String::new, key)),
                Kind::Value => cells.extend(values.next().map_or_else(Default::default, shown)),
            }
        }
        let worst = row.values.iter().map(why).find(|why| !why.is_empty());
        cells.extend(worst.map(str::to_owned));
        table.row(cells);
    }
    table.print(out)?;
    match (answer.rows.is_empty(), answer.units) {
        (true, Some(units)) => {
            let units = grouped(units as f64, 0);
            writeln!(
                out,
                "  (no rows: a group is shown if about {units} units or more are in it)"
            )?;
        }
        (true, None) => writeln!(out, "  (no rows)")?,
        (false, _) => {}
    }
    if answer.picked {
        writeln!(
            out,
            "  picked as the largest by noisy values: groups that are not shown may be larger"
        )?;
    }
    if let Some(finest) = &answer.tier {
        writeln!(out, "  your tier sees no path further than {}", cost(finest))?;
    }
    if let Some(chosen) = answer.chosen.filter(|chosen| chosen.rows < chosen.groups) {
        writeln!(
            out,
            "  {} of {} groups, chosen by their noisy values: each interval misses 1 in {}, so that \
             of those shown {} hold on average",
            grouped(chosen.rows as f64, 0),
            grouped(chosen.groups as f64, 0),
            grouped((1.0 / (1.0 - chosen.level)).round(), 0),
            format_percent(confidence),
        )?;
    }
    Ok(())
}

fn shown(cell: &Cell) -> [String; 2] {
    match (cell.value, cell.low, cell.high) {
        (Some(value), Some(low), Some(high)) => {
            let (value, interval) = estimate(value, low, high);
            [value, interval]
        }
        _ => ["unknown".to_owned(), "any".to_owned()],
    }
}

/// Why a value misses its goal. Empty where it is met, or where a price was asked for.
pub(crate) fn why(cell: &Cell) -> &'static str {
    if cell.met.is_none() && matches!(cell.ending, Stopped::HighestPrice | Stopped::Tier) {
        return "";
    }
    match cell.ending {
        Stopped::Met | Stopped::Floor => "",
        Stopped::HighestPrice => "not met: the highest price was reached",
        Stopped::OutOfReach => "not met: out of reach of the highest price",
        Stopped::Refused => "not met: the budget does not allow more",
        Stopped::Grid => "not met: the grid does not allow more",
        Stopped::Chosen => "not met: its noise is part of why it is shown",
        Stopped::Tier => "not met: your tier sees no further",
    }
}

pub(crate) fn key(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Null => "NULL".to_owned(),
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn format_percent(confidence: f64) -> String {
    format!("{}%", short(confidence * 100.0))
}

fn as_csv(answer: &Answer, out: &mut impl Write) -> io::Result<()> {
    let mut head = Vec::new();
    for column in &answer.columns {
        head.push(quoted(&column.name));
        if column.kind == Kind::Value {
            for end in ["low", "high", "met"] {
                head.push(quoted(&format!("{} {end}", column.name)));
            }
        }
    }
    writeln!(out, "{}", head.join(","))?;
    for row in &answer.rows {
        let (mut keys, mut values) = (row.keys.iter(), row.values.iter());
        let mut cells = Vec::new();
        for column in &answer.columns {
            match column.kind {
                Kind::Key => {
                    cells.push(keys.next().map_or_else(String::new, |value| match value {
                        serde_json::Value::Null => String::new(),
                        other => quoted(&key(other)),
                    }));
                }
                Kind::Value => {
                    let Some(cell) = values.next() else { continue };
                    let number =
                        |value: Option<f64>| value.map_or_else(String::new, |v| v.to_string());
                    cells.extend([number(cell.value), number(cell.low), number(cell.high)]);
                    cells.push(cell.met.map_or_else(String::new, |met| met.to_string()));
                }
            }
        }
        writeln!(out, "{}", cells.join(","))?;
    }
    Ok(())
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) || text.is_empty() {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
