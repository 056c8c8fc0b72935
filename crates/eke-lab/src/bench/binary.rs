//! Our side of a count by group: the program `eke`, asked as anybody asks it.
//!
//! Every turn has a policy and a new ledger: asking again would be free. Opening the ledger,
//! charging it durably and starting the program are counted, writing the policy is not.

use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::clock::{Whose, timed};
use super::work::{CITIES, MAX_GROUPS, MAX_ROWS};
use super::{BenchRow, Data, Done, Task};

/// The program beside this one, if it is there.
#[must_use]
pub fn beside() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?.with_file_name("eke");
    program.is_file().then_some(program)
}

/// The count by group.
///
/// # Errors
/// The program could not be started, or said no.
pub fn row(
    program: &Path,
    task: &Task,
    data: &Data,
    turns: usize,
) -> Result<BenchRow, Box<dyn Error>> {
    let folder = data.folder().join("policy");
    let (times, text) = timed(
        turns,
        Whose::Children,
        || {
            if folder.exists() {
                fs::remove_dir_all(&folder)?;
            }
            fs::create_dir(&folder)?;
            Ok(fs::write(folder.join("eke.toml"), policy()?)?)
        },
        || {
            let output = Command::new(program)
                .current_dir(&folder)
                .args(["ask", "SELECT city, COUNT(*) AS trips FROM trips GROUP BY city"])
                .args([&format!("--price=rho={}", task.number("rho")), "--csv", "--yes"])
                .output()?;
            if output.status.success() {
                Ok(String::from_utf8(output.stdout)?)
            } else {
                Err(super::peer::complaint(&output.stderr).into())
            }
        },
    )?;
    let how = "eke ask: a new process, bounded, durable".to_owned();
    let done = Done { how, items: 1, of: 1, times, result: off(&text, data)? };
    let versions = [("eke".to_owned(), version(program)?)].into();
    Ok(BenchRow::new(task, data, "eke", versions, done))
}

fn policy() -> Result<String, Box<dyn Error>> {
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

/// How far the counts are from the truth, root mean square.
fn off(text: &str, data: &Data) -> Result<f64, Box<dyn Error>> {
    let mut rows = csv::Reader::from_reader(text.as_bytes());
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
