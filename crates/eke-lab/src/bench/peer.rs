//! Libraries to compare with, each in a Python environment of its own under a folder
//! (`scripts/bench-peers` makes them).
//!
//! A peer's script (`bench/with_*.py`) reads one piece of work from its standard input and answers
//! in lines of JSON: the versions first, then a line for each way it has of doing it.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::{Attempt, BenchRow, Data, Done, EventSet, Skipped, Task, Versions, Work};

/// A library to compare with.
#[derive(Clone, Copy, Debug)]
pub struct Peer {
    /// Its name, and its folder's.
    pub name: &'static str,
    works: &'static [Work],
}

/// Who does it does it with any rows.
const BOUNDING: Work = Work::Bounding(EventSet::Usual);

/// All of them; what must not be used comes first, for scale.
pub const PEERS: [Peer; 11] = [
    Peer { name: "numpy", works: &[Work::Gaussian, Work::Laplace, Work::Pick, Work::Points] },
    Peer {
        name: "opendp",
        works: &[
            Work::Gaussian,
            Work::Laplace,
            Work::Convert,
            Work::Compose,
            Work::Pick,
            Work::GroupBy,
        ],
    },
    Peer { name: "pipelinedp", works: &[Work::Gaussian, Work::Laplace, Work::GroupBy] },
    Peer { name: "diffprivlib", works: &[Work::Gaussian, Work::Laplace, Work::Pick] },
    Peer { name: "dp-accounting", works: &[Work::Convert, Work::Compose] },
    Peer { name: "autodp", works: &[Work::Convert, Work::Compose] },
    Peer { name: "tumult", works: &[Work::GroupBy] },
    Peer { name: "multi-freq-ldpy", works: &[Work::Local] },
    Peer { name: "datafusion", works: &[BOUNDING] },
    Peer { name: "polars", works: &[BOUNDING, Work::GroupBy] },
    Peer { name: "duckdb", works: &[BOUNDING, Work::GroupBy] },
];

/// How often and for how long somebody may work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorkLimits {
    /// Turns that are measured.
    pub turns: usize,
    /// Seconds that a turn should take: of work that comes in items, fewer are done.
    pub seconds: f64,
    /// A peer is stopped after this.
    pub most: Duration,
}

#[derive(Serialize)]
struct Told<'a> {
    work: &'static str,
    folder: &'a Path,
    /// The rows, where the work has a file of its own.
    file: Option<&'a Path>,
    repetitions: usize,
    seconds: f64,
    numbers: &'a BTreeMap<&'static str, f64>,
}

/// What a script says.
#[derive(Deserialize)]
#[serde(untagged)]
enum Said {
    Versions { versions: Versions },
    Failed { how: String, error: String },
    Done(Done),
}

impl Peer {
    /// Whether it does a piece of work.
    #[must_use]
    pub fn does(&self, work: Work) -> bool {
        self.works.contains(&if work.is_bounding() { BOUNDING } else { work })
    }

    /// The Python it is installed in, if it is.
    #[must_use]
    pub fn python(&self, peers: &Path) -> Option<PathBuf> {
        let python = peers.join(self.name).join("bin").join("python");
        python.is_file().then_some(python)
    }

    /// Does a piece of work, or says why not.
    #[must_use]
    pub fn lines(
        &self,
        python: &Path,
        task: &Task,
        data: &Data,
        patience: WorkLimits,
    ) -> Vec<Attempt> {
        let mut lines = Vec::new();
        if let Err(error) = self.ask(python, task, data, patience, &mut lines) {
            lines.push(self.skipped(task, error.to_string()));
        }
        lines
    }

    fn ask(
        &self,
        python: &Path,
        task: &Task,
        data: &Data,
        patience: WorkLimits,
        lines: &mut Vec<Attempt>,
    ) -> Result<(), Box<dyn Error>> {
        let told = Told {
            work: if task.work.is_bounding() { BOUNDING } else { task.work }.name(),
            folder: data.folder(),
            file: data.events(task).map(|events| events.file.as_path()),
            repetitions: patience.turns,
            seconds: patience.seconds,
            numbers: &task.numbers,
        };
        let script = format!("with_{}.py", self.name.replace('-', "_"));
        let mut child = Command::new(python)
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("bench").join(script))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        // A script that has gone says why on its way; that it no longer listens is no news.
        if let Some(stdin) = child.stdin.take() {
            let _ = serde_json::to_writer(stdin, &told);
        }
        let said = listen(&mut child, patience.most)?;
        let mut versions = Versions::new();
        let mut ways = 0;
        for line in said.lines {
            match serde_json::from_str(&line)? {
                Said::Versions { versions: said } => versions = said,
                Said::Failed { how, error } => {
                    ways += 1;
                    lines.push(self.skipped(task, format!("{how}: {error}")));
                }
                Said::Done(done) => {
                    ways += 1;
                    let row = BenchRow::new(task, data, self.name, versions.clone(), done);
                    lines.push(Attempt::Done(row));
                }
            }
        }
        match said.trouble {
            Some(trouble) => Err(trouble.into()),
            None if ways == 0 => Err("it said nothing".into()),
            None => Ok(()),
        }
    }

    fn skipped(&self, task: &Task, reason: String) -> Attempt {
        let (work, who) = (Some(task.work.name()), self.name.to_owned());
        Attempt::Skipped(Skipped { work, who, reason })
    }
}

/// The line of an error that says what is wrong: the last that is not indented, which is where
/// Python puts it.
#[must_use]
pub fn complaint(error: &[u8]) -> String {
    let text = String::from_utf8_lossy(error);
    let mut lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with(' '));
    lines.next_back().unwrap_or("it failed and did not say why").trim().to_owned()
}

struct Heard {
    lines: Vec<String>,
    trouble: Option<String>,
}

/// Everything that a child says until it ends, or is stopped.
fn listen(child: &mut Child, most: Duration) -> Result<Heard, Box<dyn Error>> {
    let stdout = child.stdout.take().ok_or("no output")?;
    let mut stderr = child.stderr.take().ok_or("no output")?;
    let (sender, receiver) = mpsc::channel();
    // Both end with the child, or with whatever of its children still holds its output.
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    let complaints = thread::spawn(move || {
        let mut text = Vec::new();
        let _ = stderr.read_to_end(&mut text);
        text
    });
    let start = Instant::now();
    let mut lines = Vec::new();
    loop {
        match receiver.recv_timeout(most.saturating_sub(start.elapsed())) {
            Ok(line) => lines.push(line),
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                child.kill()?;
                child.wait()?;
                let trouble = Some(format!("it was stopped after {} s", most.as_secs()));
                return Ok(Heard { lines, trouble });
            }
        }
    }
    let failed = !child.wait()?.success();
    let complaints = complaints.join().unwrap_or_default();
    Ok(Heard { lines, trouble: failed.then(|| complaint(&complaints)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_python_is_its_last_line_that_is_not_indented() {
        let error = b"Traceback (most recent call last):\n  File \"x.py\", line 1\n    import y\nModuleNotFoundError: No module named 'y'\n\n";
        assert_eq!(complaint(error), "ModuleNotFoundError: No module named 'y'");
        assert_eq!(complaint(b""), "it failed and did not say why");
    }

    #[test]
    fn every_peer_has_a_script_and_a_list_of_packages() {
        let bench = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench");
        for peer in PEERS {
            let script = format!("with_{}.py", peer.name.replace('-', "_"));
            assert!(bench.join(&script).is_file(), "{script}");
            let list = format!("requirements-{}.txt", peer.name);
            assert!(bench.join(&list).is_file(), "{list}");
        }
    }
}
