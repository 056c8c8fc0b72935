//! `eke init` and `eke snapshot`: the steward's acts.

use std::collections::BTreeSet;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use eke_budget::{Adjacency, Delta, Epsilon};
use eke_engine::policy::{
    DraftAnswers, Drafted, Policy, PolicyProtection, draft, suggest_name, suggest_unit_columns,
};
use eke_engine::{EngineError, Source};
use eke_sql::{PeriodLength, Type, UnitPeriod, ZoneOffset};

use crate::Failure;
use crate::commands::ask::Asker;
use crate::show::print_json;

/// What to draft a policy for.
#[derive(Args)]
pub(crate) struct Init {
    /// The data: Parquet or CSV files (also .gz), folders or patterns. Each becomes a dataset.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
    /// The policy file to write.
    #[arg(long, value_name = "FILE", default_value = "eke.toml")]
    policy: PathBuf,
    /// The name of the privacy unit, such as rider: the person whom the budget protects; `row`
    /// makes each row one.
    #[arg(long, value_name = "NAME")]
    unit: Option<String>,
    /// The column with the id of the unit that a row belongs to; several columns, with commas
    /// between them or repeated, name it together.
    #[arg(long = "unit-column", value_name = "COLUMN", value_delimiter = ',')]
    unit_columns: Vec<String>,
    /// Make each period of a person a unit of its own: day, week, month, quarter or year.
    #[arg(long, value_name = "PERIOD", value_parser = period, requires = "time_column")]
    unit_period: Option<PeriodLength>,
    /// The column that says in which period a row is.
    #[arg(long, value_name = "COLUMN", requires = "unit_period")]
    time_column: Option<String>,
    /// Where the days of periods begin: how far clocks there are ahead of UTC, such as +02:00.
    #[arg(
        long,
        value_name = "OFFSET",
        value_parser = zone,
        requires = "unit_period",
        allow_hyphen_values = true
    )]
    unit_zone: Option<ZoneOffset>,
    /// What is hidden (adjacency): that a unit is in the data at all, or only what its rows
    /// contain.
    #[arg(long, value_enum, default_value = "add-remove")]
    adjacency: Neighbours,
    /// The epsilon promised to every unit, over all questions.
    #[arg(long, value_name = "E")]
    epsilon: Option<Epsilon>,
    /// The delta promised with it: far below 1 divided by the number of units.
    #[arg(long, value_name = "D")]
    delta: Option<Delta>,
    /// How many groups of an answer one unit may contribute to (contribution bound).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_groups: Option<u32>,
    /// How many rows one unit may contribute to a group (contribution bound).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_rows: Option<u32>,
    /// Bounds that values of a column are clamped to in sums, such as fare=0:200. May be repeated.
    #[arg(long, value_name = "COLUMN=MIN:MAX", value_parser = bounds)]
    bounds: Vec<(String, f64, f64)>,
    /// A dataset that needs no protection. May be repeated.
    #[arg(long, value_name = "NAME")]
    public: Vec<String>,
    /// Look at the first 1,000 rows of CSV files for the types of their columns. The policy says
    /// that you did.
    #[arg(long)]
    types: bool,
    /// Overwrite an existing policy.
    #[arg(long)]
    force: bool,
}

mirrored!(Neighbours for Adjacency {
    /// Add or remove one unit
    AddRemove,
    /// Replace one unit's rows by others
    Replace,
});

fn period(text: &str) -> Result<PeriodLength, String> {
    let all = PeriodLength::ALL.map(PeriodLength::name).join(", ");
    PeriodLength::named(text).ok_or_else(|| format!("`{text}` is no period: there are {all}"))
}

fn zone(text: &str) -> Result<ZoneOffset, String> {
    let wrong = || format!("`{text}` is no offset: write UTC, or one such as +02:00");
    ZoneOffset::read(text).ok_or_else(wrong)
}

fn bounds(text: &str) -> Result<(String, f64, f64), String> {
    let wrong = || format!("`{text}` is not a bound: write it like fare=0:200");
    let (column, ends) = text.split_once('=').ok_or_else(wrong)?;
    let (low, high) = ends.split_once(':').ok_or_else(wrong)?;
    let number = |text: &str| text.trim().parse::<f64>().map_err(|_| wrong());
    let (low, high) = (number(low)?, number(high)?);
    if low.is_finite() && high.is_finite() && low < high {
        Ok((column.trim().to_owned(), low, high))
    } else {
        Err(format!(
            "`{text}` has bounds that are not one below the other: write it like fare=0:200"
        ))
    }
}

struct Found {
    name: String,
    source: String,
    columns: Vec<(String, Option<Type>)>,
    csv: bool,
}

impl Init {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        if self.policy.exists() && !self.force {
            return Err(Failure::Failed(
                format!(
                    "{} is there already: edit it, or write over it with --force",
                    self.policy.display()
                )
                .into(),
            ));
        }
        let folder = self.policy.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let mut found: Vec<Found> = Vec::new();
        for file in &self.files {
            let source = relative(file, folder);
            let data = Source::find(folder, &source).map_err(EngineError::from)?;
            let csv = data.needs_types();
            let columns = if csv && self.types {
                let guessed = data.guess_types().map_err(EngineError::from)?;
                guessed.into_iter().map(|(name, kind)| (name, Some(kind))).collect()
            } else if csv {
                // Whatever they hold, until somebody has looked or said so.
                let schema = data.schema(&std::collections::BTreeMap::new());
                let names = schema.map_err(EngineError::from)?.into_iter().map(|(name, _)| name);
                names.map(|name| (name, None)).collect()
            } else {
                data.schema(&std::collections::BTreeMap::new()).map_err(EngineError::from)?
            };
            let mut name = suggest_name(&source);
            let taken = |name: &str| found.iter().any(|found| found.name == name);
            let base = name.clone();
            for number in 2.. {
                if !taken(&name) {
                    break;
                }
                name = format!("{base}_{number}");
            }
            found.push(Found { name, source, columns, csv });
        }
        let answers = self.answers(&found)?;
        let drafted: Vec<Drafted<'_>> = found
            .iter()
            .map(|found| Drafted {
                name: &found.name,
                source: &found.source,
                columns: &found.columns,
                csv: found.csv,
            })
            .collect();
        for found in found.iter().filter(|found| !answers.public.contains(&found.name)) {
            for warning in answers.odd_columns(&found.columns) {
                eprintln!("eke: note: {warning}");
            }
        }
        let text = draft(&drafted, &answers);
        std::fs::write(&self.policy, &text).map_err(|error| {
            Failure::Failed(format!("{} cannot be written: {error}", self.policy.display()).into())
        })?;
        writeln!(out, "wrote {}", self.policy.display())?;
        for found in &found {
            writeln!(out, "  {}: {} columns of {}", found.name, found.columns.len(), found.source)?;
        }
        // What is still to be decided is what the policy's reader asks for first.
        match Policy::parse(&text, &self.policy) {
            Err(error) => {
                if let Some(warning) = answers.warning() {
                    eprintln!("eke: note: {warning}");
                }
                writeln!(out, "next: decide what is left open\n{error}")?;
            }
            Ok(policy) => {
                for warning in policy.warnings() {
                    eprintln!("eke: note: {warning}");
                }
                let private = policy.datasets.values();
                let private =
                    private.into_iter().find(|one| one.protection != PolicyProtection::Public);
                let dataset = private.map_or("data", |dataset| dataset.name.as_str());
                for unit in policy.units.values() {
                    let period = policy.period_of(&unit.name);
                    let over = period.and_then(|period| unit.over_periods(period));
                    if let Some(over) = over {
                        writeln!(out, "note: {}", over.sentence(&unit.name))?;
                    }
                }
                let columns = private.map(|dataset| dataset.unit_columns()).unwrap_or_default();
                let counted = match columns.columns.as_slice() {
                    [column] if columns.period.is_none() => format!("DISTINCT {column}"),
                    [_, _, ..] if columns.period.is_none() => {
                        format!("DISTINCT ({})", columns.columns.join(", "))
                    }
                    _ => "*".to_owned(),
                };
                writeln!(
                    out,
                    "next: look through it (bounds of columns for SUM and AVG, public values for GROUP BY), then\n  eke ask \"SELECT COUNT({counted}) FROM {dataset}\" --within 5%"
                )?;
            }
        }
        Ok(())
    }

    /// What was given on the command line; on a terminal, what is missing is asked for.
    fn answers(&self, found: &[Found]) -> Result<DraftAnswers, Failure> {
        let mut answers = DraftAnswers {
            unit: self.unit.clone(),
            unit_columns: self.unit_columns.clone(),
            period: self.unit_period.map(|every| UnitPeriod {
                every,
                time_column: self.time_column.clone().unwrap_or_default(),
                zone: self.unit_zone.unwrap_or(ZoneOffset::UTC),
            }),
            looked: self.types.then(today),
            adjacency: Some(self.adjacency.into()),
            epsilon: self.epsilon,
            delta: self.delta,
            max_groups: self.max_groups,
            max_rows: self.max_rows,
            bounds: self.bounds.clone(),
            public: self.public.iter().cloned().collect::<BTreeSet<_>>(),
        };
        let unknown = |name: &String| !found.iter().any(|found| found.name == *name);
        if let Some(name) = self.public.iter().find(|name| unknown(name)) {
            return Err(Failure::Usage(format!(
                "--public {name}: there is no such dataset here; there are {}",
                found.iter().map(|found| found.name.as_str()).collect::<Vec<_>>().join(", ")
            )));
        }
        let columns =
            || found.iter().flat_map(|found| &found.columns).map(|(name, _)| name.as_str());
        let named = self.unit_columns.iter().map(|name| ("--unit-column", name));
        let named = named.chain(self.time_column.iter().map(|name| ("--time-column", name)));
        let named = named.chain(self.bounds.iter().map(|(name, ..)| ("--bounds", name)));
        for (option, column) in named {
            if !columns().any(|name| name == column) {
                return Err(Failure::Usage(format!(
                    "{option} {column}: there is no such column; there are {}",
                    columns().collect::<Vec<_>>().join(", ")
                )));
            }
        }
        let rows = answers.rows_are_units();
        if rows && !(self.unit_columns.is_empty() && self.unit_period.is_none()) {
            return Err(Failure::Usage(
                "with --unit row each row is a unit of its own, which no column names: leave out \
                 --unit-column and --unit-period, or call the unit something else"
                    .to_owned(),
            ));
        }
        if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
            return Ok(answers);
        }
        let private = found.iter().find(|found| !answers.public.contains(&found.name));
        let suggested = private.map_or_else(Vec::new, |found| suggest_unit_columns(&found.columns));
        let first = suggested.first().copied().unwrap_or_default();
        if answers.unit_columns.is_empty() && !rows {
            let all = columns().collect::<Vec<_>>().join(", ");
            let column = asked(&format!("Which column has the id of the unit ({all})?"), first)?;
            answers.unit_columns.extend(column);
        }
        if answers.epsilon.is_none() {
            answers.epsilon = asked("Which epsilon is promised, for good?", "")?;
        }
        if answers.delta.is_none() {
            answers.delta =
                asked("At which delta (well below one over the number of people)?", "")?;
        }
        if answers.max_rows.is_none() && !rows {
            answers.max_rows = asked("How many rows of one of them may count in a group?", "")?;
        }
        if answers.max_groups.is_none() && !rows {
            answers.max_groups = asked("How many groups may one of them touch?", "1")?;
        }
        Ok(answers)
    }
}

/// The date, as RFC 3339 has it.
fn today() -> String {
    eke_ledger::Moment::now().to_string().chars().take(10).collect()
}

/// Asks on the terminal; none if nothing is answered.
fn asked<T: FromStr>(question: &str, usual: &str) -> Result<Option<T>, Failure> {
    if usual.is_empty() {
        eprint!("{question} [decide later] ");
    } else {
        eprint!("{question} [{usual}] ");
    }
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    let text = if line.trim().is_empty() { usual } else { line.trim() };
    Ok(Some(text).filter(|text| !text.is_empty()).and_then(|text| text.parse().ok()))
}

/// A path as seen from the policy's folder, where it is below that.
fn relative(file: &str, folder: &Path) -> String {
    let inside = Path::new(file).strip_prefix(folder).ok().filter(|_| folder != Path::new("."));
    if let Some(inside) = inside {
        return inside.display().to_string();
    }
    if folder == Path::new(".") || Path::new(file).is_absolute() {
        return file.to_owned();
    }
    // The policy lies elsewhere: the file is named from the root.
    std::path::absolute(file).map_or_else(|_| file.to_owned(), |path| path.display().to_string())
}

/// Which dataset has a new snapshot.
#[derive(Args)]
pub(crate) struct Snapshot {
    /// The dataset, by its name in the policy.
    #[arg(value_name = "DATASET")]
    dataset: String,
    /// The policy file.
    #[arg(long, value_name = "FILE", default_value = "eke.toml")]
    policy: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Snapshot {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let asker = Asker { policy: self.policy.clone(), analyst: None };
        let declared = asker.engine()?.snapshot(&self.dataset)?;
        if self.json {
            return print_json(out, &declared);
        }
        writeln!(out, "snapshot {} of {} is declared", declared.number, declared.dataset)?;
        if declared.unchanged {
            writeln!(
                out,
                "its files are the same as before, and questions about it are paid for anew all the same"
            )?;
        } else if declared.number > 1 {
            writeln!(out, "what was asked of snapshot {} stays paid for", declared.number - 1)?;
        }
        for remark in &declared.remarks {
            writeln!(out, "note: {remark}")?;
        }
        Ok(())
    }
}
