//! Our side of counts by group: the program `eke`, asked as anybody asks it.
//!
//! Every turn has a policy and a new ledger: asking again would be free, and is measured as such.
//! Opening the ledger, charging it durably and starting the program are counted, writing the policy
//! is not.

use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::events::{CAP, Events, HIGHEST};
use super::peer::WorkLimits;
use super::program::Runs;
use super::work::{CITIES, MAX_GROUPS, MAX_ROWS};
use super::{BenchRow, Data, Done, Task};

/// How eke is asked for a price, within an error, and again: what [`super::aims`] looks for.
pub(super) const FOR_A_PRICE: &str = "eke ask --price";
pub(super) const WITHIN: &str = "eke ask --within 10%";
pub(super) const AGAIN: &str = "the same again, from its ledger";

/// How many groups are listed at most: more are not answered.
const MOST_LISTED: u32 = 100_000;

/// The program beside this one, if it is there.
#[must_use]
pub fn beside() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?.with_file_name("eke");
    program.is_file().then_some(program)
}

/// The program's ways to do a piece of work; none if it is none for it.
///
/// # Errors
/// The program could not be started, or said no.
pub fn rows(
    program: &Path,
    task: &Task,
    data: &Data,
    limits: WorkLimits,
) -> Result<Vec<BenchRow>, Box<dyn Error>> {
    let folder = data.folder().join("policy");
    let asker = Asker { program, task, data, limits, folder };
    match data.events(task) {
        Some(events) => asker.bounding(events),
        None => Ok(vec![asker.cities()?]),
    }
}

struct Asker<'a> {
    program: &'a Path,
    task: &'a Task,
    data: &'a Data,
    limits: WorkLimits,
    folder: PathBuf,
}

impl Asker<'_> {
    fn cities(&self) -> Result<BenchRow, Box<dyn Error>> {
        let question = "SELECT city, COUNT(*) AS trips FROM trips GROUP BY city";
        let price = format!("--price=rho={}", self.task.number("rho"));
        let policy = cities_policy()?;
        let runs = Runs::new(self.limits, || {
            self.begin(&policy)?;
            Ok(self.ask(question, &price))
        })?;
        let result = off(&runs.printed, self.data)?;
        self.row("eke ask: a new process, bounded, durable", runs, result)
    }

    fn bounding(&self, events: &Events) -> Result<Vec<BenchRow>, Box<dyn Error>> {
        let question = "SELECT g, COUNT(*) AS n, SUM(x) AS s FROM events GROUP BY g";
        let policy = events_policy(events)?;
        let price = format!("--price=rho={}", self.task.number("rho"));
        let mut rows = Vec::new();
        for (how, accuracy) in [(FOR_A_PRICE, &*price), (WITHIN, "--within=10%")] {
            let runs = Runs::new(self.limits, || {
                self.begin(&policy)?;
                Ok(self.ask(question, accuracy))
            })?;
            let result = total(&runs.printed)?;
            rows.push(self.row(how, runs, result)?);
        }
        let runs = Runs::new(self.limits, || Ok(self.ask(question, "--within=10%")))?;
        let result = total(&runs.printed)?;
        rows.push(self.row(AGAIN, runs, result)?);
        Ok(rows)
    }

    /// A folder with a policy and nothing else.
    fn begin(&self, policy: &str) -> Result<(), Box<dyn Error>> {
        if self.folder.exists() {
            fs::remove_dir_all(&self.folder)?;
        }
        fs::create_dir(&self.folder)?;
        Ok(fs::write(self.folder.join("eke.toml"), policy)?)
    }

    fn ask(&self, question: &str, accuracy: &str) -> Command {
        let mut command = Command::new(self.program);
        command.current_dir(&self.folder).args(["ask", question, accuracy, "--csv", "--yes"]);
        command
    }

    fn row(&self, how: &str, runs: Runs, result: f64) -> Result<BenchRow, Box<dyn Error>> {
        let Runs { times, memory, .. } = runs;
        let how = how.to_owned();
        let ledger = Some(ledger_size(&self.folder)?);
        let done = Done { how, items: 1, of: 1, times, result, memory, ledger };
        let versions = [("eke".to_owned(), version(self.program)?)].into();
        Ok(BenchRow::new(self.task, self.data, "eke", versions, done))
    }
}

/// The bytes of a ledger, with the files that lie beside it.
fn ledger_size(folder: &Path) -> Result<u64, Box<dyn Error>> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with("eke.ledger") {
            bytes += entry.metadata()?.len();
        }
    }
    Ok(bytes)
}

fn cities_policy() -> Result<String, Box<dyn Error>> {
    let mut text = format!(
        "[unit.person]\nadjacency = \"add-remove\"\nbudget = {{ epsilon = 10.0, delta = 1e-6 }}\n\n\
         [dataset.trips]\nsource = \"../trips.csv\"\nunit = \"person\"\nunit_column = \"who\"\n\
         max_groups = {MAX_GROUPS}\nmax_rows = {MAX_ROWS}\n\n\
         [dataset.trips.columns]\nwho = {{ type = \"int\" }}\ncity = {{ type = \"text\", values = ["
    );
    for city in 0..CITIES {
        let comma = if city == 0 { "" } else { ", " };
        write!(text, "{comma}\"{}\"", Data::city(city))?;
    }
    text.push_str("] }\n");
    Ok(text)
}

/// All groups are listed, so that all are answered, as the others do; more than a policy lists are
/// selected, and all of them are large enough. The budget is no obstacle.
fn events_policy(events: &Events) -> Result<String, Box<dyn Error>> {
    let sizes = &events.sizes;
    let source = serde_json::to_string(&events.file)?;
    // Where nobody has a second row, there is nothing to bound; units that are named by texts are
    // there to be named.
    let (unit, bounds) = if sizes.is_row_by_row() && !sizes.text_units {
        ("row", String::new())
    } else {
        let bounds =
            format!("unit_column = \"u\"\nmax_groups = {}\nmax_rows = {CAP}\n", sizes.kept);
        ("person", bounds)
    };
    let is_listed = sizes.groups <= MOST_LISTED;
    let budget = if is_listed { "rho = 1e6" } else { "epsilon = 400.0, delta = 1e-6" };
    let mut text = format!(
        "[unit.{unit}]\nadjacency = \"add-remove\"\nbudget = {{ {budget} }}\n\n\
         [dataset.events]\nsource = {source}\nunit = \"{unit}\"\n{bounds}\n\
         [dataset.events.columns]\nx = {{ min = 0, max = {HIGHEST} }}\n",
    );
    if is_listed {
        text.push_str("g = { values = [");
        for group in 0..sizes.groups {
            let comma = if group == 0 { "" } else { ", " };
            write!(text, "{comma}{}", sizes.quoted_key(group))?;
        }
        text.push_str("] }\n");
    }
    Ok(text)
}

/// An answer in CSV, whose first line says what it covers.
fn answered(text: &str) -> csv::Reader<&[u8]> {
    csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes())
}

/// The sum of all groups' sums.
fn total(text: &str) -> Result<f64, Box<dyn Error>> {
    let mut rows = answered(text);
    let column = rows.headers()?.iter().position(|name| name == "s").ok_or("no sums")?;
    let mut total = 0.0;
    for row in rows.records() {
        total += row?.get(column).ok_or("no sum")?.parse::<f64>()?;
    }
    Ok(total)
}

/// How far the counts are from the truth, root mean square.
fn off(text: &str, data: &Data) -> Result<f64, Box<dyn Error>> {
    let mut rows = answered(text);
    let (mut sum, mut many) = (0.0, 0);
    for row in rows.records() {
        let row = row?;
        let city = (0..CITIES).find(|&city| row.get(0) == Some(&Data::city(city)));
        let city = city.ok_or("a city that is not there")?;
        let count: f64 = row.get(1).ok_or("no count")?.parse()?;
        let truth = data.trips[city as usize] as f64;
        sum += (count - truth).powi(2);
        many += 1;
    }
    if many == CITIES {
        Ok((sum / f64::from(many)).sqrt())
    } else {
        Err(format!("{many} of {CITIES} cities were answered").into())
    }
}

fn version(program: &Path) -> Result<String, Box<dyn Error>> {
    let output = Command::new(program).arg("--version").output()?;
    let text = String::from_utf8(output.stdout)?;
    Ok(text.split_whitespace().last().unwrap_or("unknown").to_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
mod tests {
    use super::*;

    #[test]
    fn sums_are_found_below_what_an_answer_covers() {
        let text = "# each person counts in at most 10 groups\ng,n,s\n1,5,2.5\n2,7,-1\n";
        assert!((total(text).unwrap() - 1.5).abs() < 1e-12);
        assert_eq!(total("g,n\n1,5\n").unwrap_err().to_string(), "no sums");
    }
}
