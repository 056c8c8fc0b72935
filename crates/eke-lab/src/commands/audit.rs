//! `eke-lab audit`: claims, and what was found when they were tried.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Mutex, mpsc};
use std::time::Instant;

use clap::Args;
use eke_lab::audit::mutants::reach::{Caught, Digests};
use eke_lab::audit::mutants::{self, Tried, Workshop};
use eke_lab::audit::{self, Audit, Finding};
use serde::Serialize;

use super::{print_json, progress};
use crate::Failure;

/// What to audit.
#[derive(Args)]
pub(crate) struct Audits {
    /// One audit, by name; all of them without it.
    name: Option<String>,
    /// List the audits there are.
    #[arg(long)]
    list: bool,
    /// Try whether the audits catch mistakes: build mutants of the source, and audit them
    /// (minutes).
    #[arg(long)]
    mutants: bool,
    /// Build every mutant alone, and not together with mistakes in other mechanisms (an hour).
    #[arg(long, requires = "mutants")]
    alone: bool,
    /// Leave out mutants that were caught when all that their audit can reach was as it is now.
    #[arg(long, requires = "mutants")]
    changed: bool,
    /// Write down which mutants were caught, and at which source.
    #[arg(long, requires = "mutants")]
    record: bool,
    /// Runs on either of two neighbouring inputs, for audits that sample them; each has its own
    /// number without it.
    #[arg(long, value_parser = clap::value_parser!(u32).range(10_000..=1_000_000_000))]
    samples: Option<u32>,
    /// Print one JSON array.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row<'a> {
    audit: &'static str,
    method: audit::Method,
    #[serde(flatten)]
    finding: &'a Finding,
    passes: bool,
}

impl Audits {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let mut audits = audit::all();
        if let Some(name) = &self.name {
            audits.retain(|audit| audit.name == name);
            if audits.is_empty() {
                let sentence = format!("there is no audit `{name}`: see eke-lab audit --list");
                return Err(Failure::Usage(sentence));
            }
        }
        if self.mutants {
            return self.try_mutants(out);
        }
        if self.list {
            for Audit { name, about, method, .. } in &audits {
                writeln!(out, "  {name:<22}{:<13}{about}", method.as_str())?;
            }
            return Ok(());
        }
        let mut findings = Vec::new();
        let mut failed = 0;
        for (index, audit) in audits.iter().enumerate() {
            let done = format!("{}/{} {}", index + 1, audits.len(), audit.name);
            let start = Instant::now();
            progress(&done);
            let found = audit.run(self.samples).map_err(Failure::usage)?;
            progress("");
            failed += found.iter().filter(|finding| !finding.passes()).count();
            if !self.json {
                writeln!(
                    out,
                    "{}: {} ({}, {:.1} s)",
                    audit.name,
                    audit.about,
                    audit.method.as_str(),
                    start.elapsed().as_secs_f64()
                )?;
                for finding in &found {
                    show(out, finding)?;
                }
                out.flush()?;
            }
            findings.push((audit, found));
        }
        if self.json {
            let rows: Vec<Row> = findings
                .iter()
                .flat_map(|(audit, found)| {
                    found.iter().map(|finding| Row {
                        audit: audit.name,
                        method: audit.method,
                        finding,
                        passes: finding.passes(),
                    })
                })
                .collect();
            print_json(out, &rows)?;
        } else if failed == 0 {
            writeln!(out, "no claim was refuted, and no audit was blind")?;
        }
        match failed {
            0 => Ok(()),
            1 => Err(Failure::Found("1 finding does not fit its claim".to_owned())),
            _ => Err(Failure::Found(format!("{failed} findings do not fit their claims"))),
        }
    }
}

impl Audits {
    fn try_mutants(&self, out: &mut impl Write) -> Result<(), Failure> {
        let wanted = |audit: &str| self.name.as_ref().is_none_or(|name| name == audit);
        let mut mutants: Vec<_> = mutants::all().iter().filter(|m| wanted(m.audit)).collect();
        let mut caught = Caught::read().map_err(Failure::found)?;
        let digests = digests(&mutants).map_err(Failure::found)?;
        if self.changed {
            let all = mutants.len();
            mutants.retain(|mutant| !caught.has(mutant, &digests[mutant.name]));
            if !self.json {
                let before = all - mutants.len();
                writeln!(out, "{before} of {all} mutants were caught at this source before")?;
            }
            if mutants.is_empty() {
                return Ok(());
            }
        }
        let batches = if self.alone {
            mutants.iter().map(|&mutant| vec![mutant]).collect()
        } else {
            mutants::batches(&mutants)
        };
        let workers = std::thread::available_parallelism().map_or(1, usize::from).min(2);
        let queue = Mutex::new(batches.into_iter());
        let (tell, told) = mpsc::channel();
        let mut outcomes: Vec<Tried> = Vec::new();
        std::thread::scope(|scope| {
            for number in 0..workers {
                let (queue, tell) = (&queue, tell.clone());
                scope.spawn(move || work(number, queue, &tell));
            }
            drop(tell);
            for done in told {
                let (batch, found) = done.map_err(Failure::found)?;
                progress("");
                for (outcome, mutant) in found.iter().zip(&batch).filter(|_| !self.json) {
                    let mark = if outcome.caught { "caught" } else { "MISSED" };
                    let (name, audit, about) = (mutant.name, mutant.audit, mutant.about);
                    writeln!(out, "  {mark}  {name:<22} by {audit:<20} {about}")?;
                }
                out.flush()?;
                outcomes.extend(found);
                progress(&format!("{}/{}", outcomes.len(), mutants.len()));
            }
            progress("");
            Ok::<(), Failure>(())
        })?;
        if self.record {
            // What was changed meanwhile is not what was tried.
            let now = self::digests(&mutants).map_err(Failure::found)?;
            for outcome in outcomes.iter().filter(|outcome| outcome.caught) {
                let name = outcome.mutant;
                if now[name] == digests[name] {
                    caught.insert(name, now[name].clone());
                }
            }
            caught.write().map_err(Failure::found)?;
        }
        let missed = outcomes.iter().filter(|outcome| !outcome.caught).count();
        if self.json {
            print_json(out, &outcomes)?;
        } else {
            writeln!(out, "{} of {} mutants were caught", mutants.len() - missed, mutants.len())?;
        }
        if missed == 0 {
            Ok(())
        } else {
            Err(Failure::Found(format!("{missed} mutants were missed")))
        }
    }
}

/// The source that each mutant depends on, by name.
fn digests(mutants: &[&mutants::Mutant]) -> std::io::Result<BTreeMap<&'static str, String>> {
    let reach = Digests::new()?;
    mutants.iter().map(|mutant| Ok((mutant.name, reach.digest(mutant)?))).collect()
}

/// A batch, and what came of each mutant in it.
type Done = std::io::Result<(Vec<&'static mutants::Mutant>, Vec<Tried>)>;

/// Takes batches until none is left, in a workshop of its own: builds and audits leave cores idle,
/// which another one uses.
fn work(
    number: usize,
    queue: &Mutex<impl Iterator<Item = Vec<&'static mutants::Mutant>>>,
    tell: &mpsc::Sender<Done>,
) {
    let next = || queue.lock().ok().and_then(|mut batches| batches.next());
    let workshop = Workshop::new(number);
    while let Some(batch) = next() {
        let done = match &workshop {
            Ok(workshop) => workshop.try_mutants(&batch).map(|found| (batch, found)),
            Err(error) => Err(std::io::Error::other(error.to_string())),
        };
        // Nobody listens any more after an error.
        if tell.send(done).is_err() {
            break;
        }
    }
}

fn show(out: &mut impl Write, finding: &Finding) -> std::io::Result<()> {
    let Finding { what, measure, claim, at_least, found } = finding;
    let mark = if finding.passes() { "not falsified" } else { "FAILED" };
    let range = match at_least {
        Some(least) if claim.is_infinite() => format!("at least {least:.4}"),
        Some(least) => format!("{least:.4} to {claim:.4}"),
        None => format!("at most {}", number(*claim)),
    };
    writeln!(out, "  {mark:<13}  {what:<48} {measure} {} ({range})", number(*found))
}

fn number(value: f64) -> String {
    if value != 0.0 && value.abs() < 1e-3 { format!("{value:.1e}") } else { format!("{value:.4}") }
}
