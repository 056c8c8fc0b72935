//! `eke-lab bench`: our speed beside that of other libraries, same machine, same run, same work.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use eke_lab::bench::peer::{PEERS, PeerLimits};
use eke_lab::bench::table::{self, About};
use eke_lab::bench::{Attempt, BenchRow, Data, Sizes, Skipped, Task, Work, binary, ours};
use serde::Serialize;

use super::{print_json, progress};
use crate::Failure;

/// What to measure, beside whom.
#[derive(Args)]
pub(crate) struct Bench {
    /// One peer, by name, may be given again; all of them without it, and `none` for none.
    #[arg(long, value_name = "NAME", value_parser = peer)]
    peer: Vec<String>,
    /// One piece of work, by name, may be given again; all of it without it.
    #[arg(long, value_name = "NAME", value_parser = work)]
    work: Vec<Work>,
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
    /// Print one JSON object.
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print a table for a page.
    #[arg(long)]
    markdown: bool,
}

#[derive(Serialize)]
struct Whole<'a> {
    about: String,
    sizes: Sizes,
    lines: &'a [Attempt],
}

fn peer(text: &str) -> Result<String, String> {
    if text == "none" || PEERS.iter().any(|peer| peer.name == text) {
        return Ok(text.to_owned());
    }
    let names: Vec<_> = PEERS.iter().map(|peer| peer.name).collect();
    Err(format!("there is no peer `{text}`: write one of {}, or none", names.join(", ")))
}

fn work(text: &str) -> Result<Work, String> {
    let found = Work::ALL.into_iter().find(|work| work.name() == text);
    found.ok_or_else(|| {
        let names: Vec<_> = Work::ALL.iter().map(|work| work.name()).collect();
        format!("there is no work `{text}`: write one of {}", names.join(", "))
    })
}

impl Bench {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let sizes = if self.quick { Sizes::QUICK } else { Sizes::FULL };
        let turns = if self.quick { 1 } else { self.turns };
        let works: Vec<Work> = Work::ALL
            .into_iter()
            .filter(|work| self.work.is_empty() || self.work.contains(work))
            .collect();
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
            let whole = Whole { about: about.sentence(), sizes, lines: &lines };
            print_json(out, &whole)?;
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
        let data = Data::new(sizes).map_err(Failure::found)?;
        let folder = self
            .peers
            .clone()
            .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/peers"));
        let patience = PeerLimits {
            turns,
            seconds: if self.quick { 1.0 } else { 5.0 },
            most: Duration::from_secs(if self.quick { 300 } else { 900 }),
        };
        let wanted: Vec<_> = PEERS
            .iter()
            .filter(|peer| self.peer.is_empty() || self.peer.iter().any(|name| name == peer.name))
            .filter(|peer| tasks.iter().any(|task| peer.works.contains(&task.work)))
            .collect();
        let mut lines = Vec::new();
        let mut profile = None;
        for task in tasks {
            let name = task.work.name();
            progress(&format!("{name}: eke"));
            if task.work == Work::GroupBy {
                match self.eke.clone().or_else(binary::beside) {
                    Some(program) => {
                        profile = profile_of(&program);
                        lines.push(match binary::row(&program, task, &data, turns) {
                            Ok(row) => Attempt::Done(row),
                            Err(error) => skipped(Some(name), "eke", error.to_string()),
                        });
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
            for peer in wanted.iter().filter(|peer| peer.works.contains(&task.work)) {
                if let Some(python) = peer.python(&folder) {
                    progress(&format!("{name}: {}", peer.name));
                    lines.extend(peer.lines(&python, task, &data, patience));
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
