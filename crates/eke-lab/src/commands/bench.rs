//! `eke-lab bench`: our speed beside that of other libraries, same machine, same run, same work.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use eke_lab::bench::aims::{Aim, aims};
use eke_lab::bench::peer::{PEERS, WorkLimits};
use eke_lab::bench::table::{self, About};
use eke_lab::bench::{
    Attempt, BenchRow, Data, EventOptions, Sizes, Skipped, Task, Work, binary, ours,
};
use serde::Serialize;

use super::{print_json, progress};
use crate::Failure;

/// What to measure, beside whom.
#[derive(Args)]
pub(crate) struct Bench {
    /// One peer, by name, may be given again; all of them without it, and `none` for none.
    #[arg(long, value_name = "NAME", value_parser = peer)]
    peer: Vec<String>,
    /// One piece of work, by name, may be given again; without it, all but bounding of special
    /// rows, which takes long.
    #[arg(long, value_name = "NAME", value_parser = work)]
    work: Vec<Work>,
    /// All rows that are bounded, also special ones, and nothing else.
    #[arg(long, conflicts_with = "work")]
    bounding: bool,
    /// Little of everything, once: whether it works, and not how fast it is.
    #[arg(long)]
    quick: bool,
    /// Turns of each, fewer where they take long; their median is shown.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100), conflicts_with = "quick")]
    turns: u32,
    /// The folder with a Python environment for every peer; scripts/bench-peers makes them.
    #[arg(long, value_name = "FOLDER")]
    peers: Option<PathBuf>,
    /// The program eke; the one beside this one unless it is said.
    #[arg(long, value_name = "PROGRAM")]
    eke: Option<PathBuf>,
    /// The folder of the rows that are bounded; they are made there once.
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,
    #[command(flatten)]
    events: EventArgs,
    /// Print one JSON object.
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print a table for a page.
    #[arg(long)]
    markdown: bool,
    /// Print the table of the README: eke, and one other library for each piece of work.
    #[arg(long, conflicts_with_all = ["markdown", "json"])]
    short: bool,
}

/// What is changed of the rows that are bounded.
#[derive(Args)]
#[command(next_help_heading = "Rows that are bounded")]
struct EventArgs {
    /// Rows, such as 1e7.
    #[arg(long, value_name = "N", value_parser = count)]
    rows: Option<u32>,
    /// Units that own them; as many as rows, or more, gives every row its own.
    #[arg(long, value_name = "N", value_parser = count)]
    units: Option<u32>,
    /// Groups that they are in.
    #[arg(long, value_name = "N", value_parser = count)]
    groups: Option<u32>,
    /// Groups that a unit may count in.
    #[arg(long, value_name = "N", value_parser = count)]
    kept: Option<u32>,
    /// Name groups by texts of this many bytes.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(10..=1000))]
    key_bytes: Option<u32>,
    /// Name units by texts.
    #[arg(long)]
    text_units: bool,
}

#[derive(Serialize)]
struct Whole<'a> {
    about: String,
    sizes: Sizes,
    lines: &'a [Attempt],
    aims: Vec<Aim>,
}

fn count(text: &str) -> Result<u32, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.fract() == 0.0);
    let number = number.filter(|number| (1.0..=1e9).contains(number));
    // Whole and in range: nothing is cut off.
    number.and_then(|number| format!("{number}").parse().ok()).ok_or_else(|| {
        format!("`{text}` is not a number of rows, units or groups: write it like 10000000 or 1e7")
    })
}

fn peer(text: &str) -> Result<String, String> {
    if text == "none" || PEERS.iter().any(|peer| peer.name == text) {
        return Ok(text.to_owned());
    }
    let names: Vec<_> = PEERS.iter().map(|peer| peer.name).collect();
    Err(format!("there is no peer `{text}`: write one of {}, or none", names.join(", ")))
}

fn work(text: &str) -> Result<Work, String> {
    let found = Work::all().into_iter().find(|work| work.name() == text);
    found.ok_or_else(|| {
        let names: Vec<_> = Work::all().iter().map(|work| work.name()).collect();
        format!("there is no work `{text}`: write one of {}", names.join(", "))
    })
}

impl Bench {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let mut sizes = if self.quick { Sizes::QUICK } else { Sizes::FULL };
        let EventArgs { rows, units, groups, kept, key_bytes, text_units } = self.events;
        sizes.events =
            EventOptions { rows, units, groups, kept, key_bytes, text_units, ..sizes.events };
        let turns = if self.quick { 1 } else { self.turns };
        let is_wanted = |work: &Work| match self.work.as_slice() {
            [] if self.bounding => work.is_bounding(),
            [] => work.is_usual(),
            named => named.contains(work),
        };
        let works: Vec<Work> = Work::all().into_iter().filter(is_wanted).collect();
        let tasks = works
            .iter()
            .map(|&work| Task::new(work, &sizes))
            .collect::<Result<Vec<_>, _>>()
            .map_err(Failure::found)?;
        let before = load();
        let (lines, program) = self.measure(&tasks, &sizes, turns as usize)?;
        let about = About {
            profile: if cfg!(debug_assertions) { "dev" } else { "release" },
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            load: before.zip(load()),
            turns: turns as usize,
            program,
        };
        if self.json {
            let aims = tasks.iter().flat_map(|task| aims(task, &lines)).collect();
            let whole = Whole { about: about.sentence(), sizes, lines: &lines, aims };
            print_json(out, &whole)?;
        } else if self.short {
            table::short(out, &tasks, &lines)?;
        } else if self.markdown {
            table::markdown(out, &about, &tasks, &lines)?;
        } else {
            table::text(out, &about, &tasks, &lines)?;
        }
        Ok(())
    }

    /// Every piece of work, ours first; and the profile of the program that answered SQL.
    fn measure(
        &self,
        tasks: &[Task],
        sizes: &Sizes,
        turns: usize,
    ) -> Result<(Vec<Attempt>, Option<&'static str>), Failure> {
        progress("making data");
        let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target");
        let mut data = Data::new(sizes).map_err(Failure::found)?;
        let events = self.data.clone().unwrap_or_else(|| built.join("bench"));
        for task in tasks {
            data.find_events(task, &events).map_err(Failure::found)?;
        }
        let folder = self.peers.clone().unwrap_or_else(|| built.join("peers"));
        let limits = WorkLimits {
            turns,
            seconds: match (self.quick, self.bounding) {
                (true, _) => 1.0,
                // Ten sets of rows, done by several in several ways.
                (false, true) => 2.0,
                (false, false) => 5.0,
            },
            most: Duration::from_secs(if self.quick { 300 } else { 900 }),
        };
        let wanted: Vec<_> = PEERS
            .iter()
            .filter(|peer| self.peer.is_empty() || self.peer.iter().any(|name| name == peer.name))
            .filter(|peer| tasks.iter().any(|task| peer.does(task.work)))
            .collect();
        let mut lines = Vec::new();
        let mut profile = None;
        for task in tasks {
            let name = task.work.name();
            progress(&format!("{name}: eke"));
            if task.work == Work::GroupBy || task.work.is_bounding() {
                match self.eke.clone().or_else(binary::beside) {
                    Some(program) => {
                        profile = profile_of(&program);
                        match binary::rows(&program, task, &data, limits) {
                            Ok(rows) => lines.extend(rows.into_iter().map(Attempt::Done)),
                            Err(error) => {
                                lines.push(skipped(Some(name), "eke", error.to_string()));
                            }
                        }
                    }
                    None => lines.push(skipped(
                        Some(name),
                        "eke",
                        "the program is not beside this one: build it, or say where it is with --eke".to_owned(),
                    )),
                }
            }
            let rows: Vec<BenchRow> = ours::rows(task, &data, turns).map_err(Failure::found)?;
            lines.extend(rows.into_iter().map(Attempt::Done));
            for peer in wanted.iter().filter(|peer| peer.does(task.work)) {
                if let Some(python) = peer.python(&folder) {
                    progress(&format!("{name}: {}", peer.name));
                    lines.extend(peer.lines(&python, task, &data, limits));
                }
            }
        }
        progress("");
        for peer in wanted {
            if peer.python(&folder).is_none() {
                let reason = format!("is not installed: scripts/bench-peers {}", peer.name);
                lines.push(skipped(None, peer.name, reason));
            }
        }
        Ok((lines, profile))
    }
}

fn skipped(work: Option<&'static str>, who: &str, reason: String) -> Attempt {
    Attempt::Skipped(Skipped { work, who: who.to_owned(), reason })
}

/// By the folder it was built in.
fn profile_of(program: &Path) -> Option<&'static str> {
    let folder = program.parent()?.file_name()?.to_str()?;
    match folder {
        "debug" => Some("dev"),
        "release" => Some("release"),
        _ => None,
    }
}

/// Processes that want a processor, over the last minute.
fn load() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}
