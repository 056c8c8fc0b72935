//! Where a short question spends its time: `cargo bench -p eke-lab --bench ask` prints a table.
//!
//! New questions, one after the other, about 10,000 rows in 50 groups, through the library: marks
//! are set by an [`Observer`] and by the stamps of the ledger's journal, which are of the same
//! clock. What no mark separates is measured by itself and stands indented: the parts of opening,
//! and a charge in a ledger of its own. Then the program `eke` is asked as often, if it lies beside
//! the folder of this one (`cargo build --release -p eke`).
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on should stop")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use eke_budget::{BudgetSpec, Charge, Metric, Rho};
use eke_engine::ask::Clock;
use eke_engine::policy::Policy;
use eke_engine::{Accuracy, ColumnGoals, Engine, Goal, Observer, Question, Who, explain};
use eke_lab::bench::{EventOptions, EventSet, EventSizes, Events};
use eke_ledger::journal::{Line, What};
use eke_ledger::{Address, Answer, Ledger, Request, Spend, Stamp};
use eke_noise::Confidence;

const ROWS: u32 = 10_000;
const GROUPS: u32 = 50;
const UNIT: &str = "person";

fn main() {
    // Without it, as tests have it: whether it works.
    let turns = if std::env::args().any(|argument| argument == "--bench") { 100 } else { 2 };
    let folder = tempfile::tempdir().unwrap();
    let options = EventOptions {
        rows: Some(ROWS),
        units: Some(ROWS / 10),
        groups: Some(GROUPS),
        ..EventOptions::FULL
    };
    let events = Events::find(EventSizes::new(EventSet::Usual, &options), folder.path()).unwrap();
    let policy = folder.path().join("eke.toml");
    fs::write(&policy, policy_of(&events)).unwrap();

    let mut table = Table::default();
    for turn in 0..turns {
        opened(&policy, turn, &mut table);
    }
    for turn in 0..turns {
        asked(&policy, turn, &mut table);
    }
    charged(&folder.path().join("other.ledger"), turns, &mut table);
    match program() {
        Some(program) => {
            for turn in 0..turns {
                started(&program, folder.path(), turn, &mut table);
            }
        }
        None => println!("there is no program eke beside this one: it is left out"),
    }
    table.print(turns);
}

/// A step of the way, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Whole,
    Start,
    Open,
    OpenPolicy,
    OpenLedger,
    OpenCheck,
    Ask,
    Understand,
    Explain,
    Paths,
    Laws,
    ChargeAndScan,
    Charge,
    Draw,
    Store,
    Remember,
    Rest,
}

impl Step {
    const ALL: [Self; 17] = [
        Self::Whole,
        Self::Start,
        Self::Open,
        Self::OpenPolicy,
        Self::OpenLedger,
        Self::OpenCheck,
        Self::Ask,
        Self::Understand,
        Self::Explain,
        Self::Paths,
        Self::Laws,
        Self::ChargeAndScan,
        Self::Charge,
        Self::Draw,
        Self::Store,
        Self::Remember,
        Self::Rest,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Whole => "eke ask, the whole program",
            Self::Start => "  start: eke --version",
            Self::Open => "  open: policy, ledger, its checks",
            Self::OpenPolicy => "      the policy read, by itself",
            Self::OpenLedger => "      a ledger opened, by itself",
            Self::OpenCheck => "      its journal checked, by itself",
            Self::Ask => "  ask",
            Self::Understand => "    plan: understood, rows pinned down, priced",
            Self::Explain => "      understood and explained, by itself",
            Self::Paths => "    paths: groups, stored states",
            Self::Laws => "    offer: levels, laws of the noise",
            Self::ChargeAndScan => "    charge (durable) and scan",
            Self::Charge => "      a charge (durable), by itself",
            Self::Draw => "    draw, and the answer's bytes",
            Self::Store => "    store (durable)",
            Self::Remember => "    remember: the anchor beside the policy",
            Self::Rest => "  the rest: print, end",
        }
    }
}

/// What every step took, turn by turn, in seconds.
#[derive(Default)]
struct Table(std::collections::BTreeMap<Step, Vec<f64>>);

impl Table {
    fn add(&mut self, step: Step, seconds: f64) {
        self.0.entry(step).or_default().push(seconds);
    }

    fn timed<T>(&mut self, step: Step, run: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let made = run();
        self.add(step, start.elapsed().as_secs_f64());
        made
    }

    /// The median of a step.
    fn median(&self, step: Step) -> Option<f64> {
        let mut seconds = self.0.get(&step)?.clone();
        seconds.sort_by(f64::total_cmp);
        seconds.get(seconds.len() / 2).copied()
    }

    fn print(&mut self, turns: u32) {
        let median = |step| self.median(step);
        let rest = || {
            let parts = median(Step::Start)? + median(Step::Open)? + median(Step::Ask)?;
            Some(median(Step::Whole)? - parts)
        };
        if let Some(rest) = rest() {
            self.add(Step::Rest, rest);
        }
        println!("{ROWS} rows, {GROUPS} groups, for a price; medians of {turns} turns");
        for step in Step::ALL {
            if let Some(seconds) = self.median(step) {
                println!("{:<48}{:>9.3} ms", step.name(), seconds * 1e3);
            }
        }
    }
}

fn policy_of(events: &Events) -> String {
    let groups: Vec<String> = (0..GROUPS).map(|group| group.to_string()).collect();
    format!(
        "[unit.{UNIT}]\nadjacency = \"add-remove\"\nbudget = {{ rho = 1e6 }}\n\n\
         [dataset.events]\nsource = {:?}\nunit = \"{UNIT}\"\nunit_column = \"u\"\n\
         max_groups = 10\nmax_rows = 10\n\n\
         [dataset.events.columns]\ng = {{ values = [{}] }}\n",
        events.file,
        groups.join(", ")
    )
}

/// A question that was not asked before.
fn question(number: u32) -> String {
    format!("SELECT g, COUNT(*) AS n FROM events WHERE x > 0.{number:06} GROUP BY g")
}

/// Opening, whole and in parts, once there is a ledger.
fn opened(policy: &Path, turn: u32, table: &mut Table) {
    if turn == 0 {
        Engine::open(policy).unwrap();
    }
    let engine = table.timed(Step::Open, || Engine::open(policy).unwrap());
    let address = engine.address().clone();
    drop(engine);
    let read = table.timed(Step::OpenPolicy, || Policy::read(policy).unwrap());
    table.timed(Step::OpenLedger, || Ledger::open(&address).unwrap());
    table.timed(Step::OpenCheck, || eke_ledger::journal::check(&address).unwrap());
    table.timed(Step::Explain, || explain(&read, &question(turn), &Who::Steward).unwrap());
}

/// Moments at which the engine passed by, in seconds since midnight, as journals can be compared.
#[derive(Default)]
struct Marks {
    planned: Mutex<Option<f64>>,
    offers: Mutex<Option<f64>>,
    scanned: Mutex<Option<f64>>,
    stored: Mutex<Option<f64>>,
}

const DAY: f64 = 86_400.0;

fn now() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let day = Duration::from_secs(86_400);
    Duration::from_nanos(u64::try_from(since.as_nanos() % day.as_nanos()).unwrap()).as_secs_f64()
}

/// The time of day of a moment as journals write it.
fn time_of_day(at: &str) -> f64 {
    let (_, time) = at.trim_end_matches('Z').split_once('T').unwrap();
    time.split(':').fold(0.0, |sum, part| sum * 60.0 + part.parse::<f64>().unwrap())
}

fn first(mark: &Mutex<Option<f64>>) {
    mark.lock().unwrap().get_or_insert_with(now);
}

fn last(mark: &Mutex<Option<f64>>) {
    *mark.lock().unwrap() = Some(now());
}

impl Clock for Marks {
    fn now(&self) -> Duration {
        // The engine looks at the clock when nothing but reading and buying is left.
        first(&self.planned);
        Duration::ZERO
    }

    fn wait_until(&self, _: Duration) {}
}

impl Observer for Marks {
    fn clock(&self) -> &dyn Clock {
        self
    }

    fn is_over(&self) -> bool {
        first(&self.offers);
        false
    }

    fn rows(&self, _: u64, _: Option<u64>) {
        last(&self.scanned);
    }

    fn look(&self, _: u32) {
        last(&self.stored);
    }
}

/// A question through the library, step by step.
fn asked(policy: &Path, turn: u32, table: &mut Table) {
    let engine = Engine::open(policy).unwrap();
    let lines_before = lines(&engine).len();
    let goal = Goal {
        accuracy: Accuracy::Price("1".parse().unwrap()),
        floor: None,
        at_most: None,
        confidence: Confidence::new(0.95).unwrap(),
    };
    let question =
        Question { sql: question(turn), goal, columns: ColumnGoals::default(), who: Who::Steward };
    let marks = Marks::default();
    let begun = now();
    let answer = table.timed(Step::Ask, || engine.ask(&question, &marks).unwrap());
    let ended = now();
    assert_eq!(answer.rows.len(), GROUPS as usize);
    assert!(!answer.free);

    let journal = lines(&engine).split_off(lines_before);
    let at = |is_it: fn(&What) -> bool| {
        let line = journal.iter().find(|line| line.request.is_some() && is_it(&line.what));
        time_of_day(&line.unwrap().at)
    };
    let charging = at(|what| matches!(what, What::Entry { .. }));
    let storing = at(|what| matches!(what, What::Revealed { .. }));
    let mark = |mark: &Mutex<Option<f64>>| mark.lock().unwrap().unwrap();
    let mut before = begun;
    for (step, moment) in [
        (Step::Understand, mark(&marks.planned)),
        (Step::Paths, mark(&marks.offers)),
        (Step::Laws, charging),
        (Step::ChargeAndScan, mark(&marks.scanned)),
        (Step::Draw, storing),
        (Step::Store, mark(&marks.stored)),
        (Step::Remember, ended),
    ] {
        // Midnight may come between, and a journal cuts at microseconds.
        let seconds = (moment - before).rem_euclid(DAY);
        table.add(step, if seconds > DAY / 2.0 { 0.0 } else { seconds });
        before = moment;
    }
}

fn lines(engine: &Engine) -> Vec<Line> {
    let rows = engine.ledger().lines(UNIT, 0, u32::MAX).wait().unwrap();
    rows.iter().map(|row| serde_json::from_str(&row.body).unwrap()).collect()
}

/// Charges alone, in a ledger of their own.
fn charged(file: &Path, turns: u32, table: &mut Table) {
    let ledger = Ledger::open(&Address::File(file.to_owned())).unwrap();
    let metric = Metric::Hamming(eke_budget::Adjacency::AddRemove);
    let budget = BudgetSpec::zcdp(Rho::new(1e6).unwrap()).resolve(metric).unwrap();
    ledger.open_account(UNIT, budget, Stamp::now("bench")).wait().unwrap();
    for turn in 0..turns {
        let stamp = Stamp::now("bench");
        let request = Request::new(&format!("turn {turn}"), stamp, &question(turn)).unwrap();
        let price = Spend(Charge::zcdp(Rho::new(1e-3).unwrap()));
        let none = Vec::<(&str, Spend<Charge>)>::new();
        let outcome =
            table.timed(Step::Charge, || ledger.charge(request, UNIT, price, none).wait().unwrap());
        let claim = outcome.charged().unwrap().claim;
        ledger.answer(claim, Answer::new("answered"), Stamp::now("bench")).wait().unwrap();
    }
}

/// The program, which lies where this one's folder `deps` does.
fn program() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?.parent()?.with_file_name("eke");
    program.is_file().then_some(program)
}

/// The program's start, and a whole question.
fn started(program: &Path, folder: &Path, turn: u32, table: &mut Table) {
    let run = |arguments: &[&str]| {
        let mut command = Command::new(program);
        command.current_dir(folder).args(arguments).stdin(Stdio::null());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    table.timed(Step::Start, || run(&["--version"]));
    let question = question(900_000 + turn);
    table.timed(Step::Whole, || run(&["ask", &question, "--price=rho=1", "--csv", "--yes"]));
}
