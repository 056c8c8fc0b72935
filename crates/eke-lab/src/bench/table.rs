//! The table of a run, for people and for the README.

use std::io::{self, Write};

use super::aims::aims;
use super::work::PeerRow;
use super::{Attempt, BenchRow, Skipped, Task};

/// Where and how a run was made.
pub struct About {
    /// Of this program.
    pub profile: &'static str,
    /// Processors.
    pub cores: usize,
    /// What else the machine did: processes that wanted a processor, before and after, if it is
    /// known.
    pub load: Option<(f64, f64)>,
    /// Turns of each.
    pub turns: usize,
    /// The program that answered SQL was built in this profile, as far as its folder tells.
    pub program: Option<&'static str>,
}

impl About {
    /// In a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let (system, machine) = (std::env::consts::OS, std::env::consts::ARCH);
        let load = self.load.map_or(String::new(), |(before, after)| {
            format!(", load {before:.1} before and {after:.1} after")
        });
        let program = match self.program {
            Some(program) if program != self.profile => format!(" (eke ask: {program})"),
            _ => String::new(),
        };
        format!(
            "eke {} in the {} profile{program}, {system} on {machine}, {} cores{load}; medians of turns, at most {}",
            env!("CARGO_PKG_VERSION"),
            self.profile,
            self.cores,
            self.turns
        )
    }
}

/// The rows of one piece of work, with how many times as long as our first each took.
fn compared<'a>(task: &Task, lines: &'a [Attempt]) -> Vec<(&'a BenchRow, Option<f64>)> {
    let rows: Vec<&BenchRow> = lines
        .iter()
        .filter_map(|line| match line {
            Attempt::Done(row) if row.work == task.work.name() => Some(row),
            _ => None,
        })
        .collect();
    let time =
        |row: &BenchRow| if task.work.compares_cpu() { row.cpu() } else { Some(row.seconds()) };
    let ours = rows.iter().find(|row| row.who == "eke").and_then(|row| time(row));
    rows.iter()
        .map(|&row| (row, ours.and_then(|ours| time(row).map(|seconds| seconds / ours))))
        .collect()
}

/// For people.
///
/// # Errors
/// The output could not be written.
pub fn text(
    out: &mut impl Write,
    about: &About,
    tasks: &[Task],
    lines: &[Attempt],
) -> io::Result<()> {
    writeln!(out, "{}", about.sentence())?;
    for task in tasks {
        writeln!(out, "\n{}: {}", task.work.name(), task.about())?;
        let rows = compared(task, lines);
        if !rows.is_empty() {
            writeln!(
                out,
                "  {:<24}{:<42}{:>10}{:>10}{:>10}{}  {}",
                "library",
                "how",
                "seconds",
                "CPU",
                "times eke",
                if task.work.is_bounding() {
                    format!("{:>10}{:>10}", "memory", "ledger")
                } else {
                    String::new()
                },
                task.work.result()
            )?;
        }
        for (row, ratio) in rows {
            let ratio = ratio.map_or("-".to_owned(), times);
            let cpu = row.cpu().map_or("-".to_owned(), seconds);
            let room = if task.work.is_bounding() {
                let [memory, ledger] =
                    [row.memory, row.ledger].map(|size| size.map_or("-".to_owned(), bytes));
                format!("{memory:>10}{ledger:>10}")
            } else {
                String::new()
            };
            writeln!(
                out,
                "  {:<24}{:<42}{:>10}{cpu:>10}{ratio:>10}{room}  {}{}{}",
                library(row),
                row.how,
                seconds(row.seconds()),
                figure(row.result),
                if row.plausible { "" } else { "  NOT WHAT WAS ASKED FOR" },
                some(row)
            )?;
        }
        for Skipped { who, reason, .. } in skipped(lines, Some(task.work.name())) {
            writeln!(out, "  skipped: {who}: {reason}")?;
        }
        for aim in aims(task, lines) {
            writeln!(out, "  {}", aim.sentence())?;
        }
        writeln!(out, "  {}", task.work.note())?;
    }
    let missing = skipped(lines, None);
    if !missing.is_empty() {
        writeln!(out)?;
    }
    for Skipped { who, reason, .. } in missing {
        writeln!(out, "skipped: {who} {reason}")?;
    }
    Ok(())
}

/// For a page.
///
/// # Errors
/// The output could not be written.
pub fn markdown(
    out: &mut impl Write,
    about: &About,
    tasks: &[Task],
    lines: &[Attempt],
) -> io::Result<()> {
    writeln!(out, "{}.", about.sentence())?;
    let (bounding, others): (Vec<&Task>, Vec<&Task>) =
        tasks.iter().partition(|task| task.work.is_bounding());
    if !others.is_empty() {
        writeln!(out, "\n| work | library | how | seconds | of the processor | times eke |")?;
        writeln!(out, "|---|---|---|---|---|---|")?;
    }
    for task in others {
        let mut about = task.about();
        for (row, ratio) in compared(task, lines) {
            let [library, how, clock, cpu, ratio] = cells(row, ratio);
            writeln!(out, "| {about} | {library} | {how} | {clock} | {cpu} | {ratio} |")?;
            about = "";
        }
    }
    if !bounding.is_empty() {
        writeln!(
            out,
            "\n| work | library | how | of the processor | seconds | memory | ledger | times eke |"
        )?;
        writeln!(out, "|---|---|---|--:|--:|--:|--:|--:|")?;
    }
    for task in &bounding {
        let mut about = task.about();
        for (row, ratio) in compared(task, lines) {
            let [library, how, clock, cpu, ratio] = cells(row, ratio);
            let [memory, ledger] =
                [row.memory, row.ledger].map(|size| size.map_or(String::new(), bytes));
            writeln!(
                out,
                "| {about} | {library} | {how} | {cpu} | {clock} | {memory} | {ledger} | {ratio} |"
            )?;
            about = "";
        }
    }
    writeln!(out)?;
    for task in &bounding {
        for aim in aims(task, lines) {
            writeln!(out, "- *{}*: {}.", task.work.name(), aim.sentence())?;
        }
    }
    let mut noted = Vec::new();
    for task in tasks {
        // Works on other rows have one note.
        if !noted.contains(&task.work.note()) || !task.work.is_bounding() {
            writeln!(out, "- *{}*: {}", task.work.name(), task.work.note())?;
        }
        noted.push(task.work.note());
    }
    let all = lines.iter().filter_map(|line| match line {
        Attempt::Skipped(skipped) => Some(skipped),
        Attempt::Done(_) => None,
    });
    for Skipped { work, who, reason } in all {
        let work = work.map_or(String::new(), |work| format!(" at {work}"));
        writeln!(out, "- skipped: {who}{work}: {reason}")?;
    }
    Ok(())
}

/// For the README: eke and one other library for each piece of work. Bounding is compared in
/// seconds of the processor, all else in those of the clock.
///
/// # Errors
/// The output could not be written.
pub fn short(out: &mut impl Write, tasks: &[Task], lines: &[Attempt]) -> io::Result<()> {
    writeln!(out, "| work | eke | another library |\n|---|--:|---|")?;
    for task in tasks {
        let Some(PeerRow { who, how, lacks }) = task.work.beside() else { continue };
        let rows = compared(task, lines);
        let find = |who: &str, how: &str| {
            let is_it = |row: &BenchRow| row.who == who && row.how.starts_with(how);
            rows.iter().map(|(row, _)| *row).find(|row| is_it(row) && row.plausible)
        };
        let time = |row: &BenchRow| match row.cpu() {
            Some(cpu) if task.work.is_bounding() => format!("{} of the processor", seconds(cpu)),
            _ => seconds(row.seconds()),
        };
        let Some(ours) = find("eke", "") else { continue };
        let other = find(who, how).map_or(String::new(), |row| {
            let extrapolated = if row.items < row.of { "extrapolated" } else { "" };
            let remarks: Vec<&str> =
                [lacks, extrapolated].into_iter().filter(|remark| !remark.is_empty()).collect();
            let remarks = if remarks.is_empty() {
                String::new()
            } else {
                format!(" ({})", remarks.join(", "))
            };
            format!("{}, {}{remarks}", time(row), library(row))
        });
        writeln!(out, "| {} | {} | {other} |", task.about(), time(ours))?;
    }
    Ok(())
}

/// What a page shows of a row: library, how, seconds, those of the processor, times eke.
fn cells(row: &BenchRow, ratio: Option<f64>) -> [String; 5] {
    let bold = if row.who == "eke" { "**" } else { "" };
    let odd = if row.plausible { "" } else { " (not what was asked for)" };
    [
        format!("{bold}{}{bold}", library(row)),
        format!("{}{}{odd}", row.how, some(row)),
        seconds(row.seconds()),
        row.cpu().map_or(String::new(), seconds),
        ratio.map_or(String::new(), times),
    ]
}

fn skipped<'a>(lines: &'a [Attempt], of: Option<&'static str>) -> Vec<&'a Skipped> {
    let skipped = |line: &'a Attempt| match line {
        Attempt::Skipped(skipped) if skipped.work == of => Some(skipped),
        _ => None,
    };
    lines.iter().filter_map(skipped).collect()
}

/// A library with the version of its first package.
fn library(row: &BenchRow) -> String {
    let of = |package: &str| row.versions.get(package);
    let version = match row.who.as_str() {
        "tumult" => of("tmlt.analytics"),
        "pipelinedp" => of("pipeline-dp"),
        name => of(name),
    };
    version.map_or(row.who.clone(), |version| format!("{} {version}", row.who))
}

/// How many items were done, where it was not all.
fn some(row: &BenchRow) -> String {
    if row.items == row.of { String::new() } else { format!("  (from {} of them)", row.items) }
}

fn seconds(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 1e-3 => format!("{:.0} µs", seconds * 1e6),
        seconds if seconds < 1.0 => format!("{:.1} ms", seconds * 1e3),
        seconds if seconds < 100.0 => format!("{seconds:.2} s"),
        seconds => format!("{seconds:.0} s"),
    }
}

fn bytes(bytes: u64) -> String {
    match bytes as f64 {
        bytes if bytes < 1e8 => format!("{:.1} MB", bytes / 1e6),
        bytes => format!("{:.2} GB", bytes / 1e9),
    }
}

fn times(ratio: f64) -> String {
    if ratio < 10.0 { format!("{ratio:.2}") } else { format!("{ratio:.0}") }
}

fn figure(value: f64) -> String {
    if value.abs() < 100.0 { format!("{value:.3}") } else { format!("{value:.0}") }
}
