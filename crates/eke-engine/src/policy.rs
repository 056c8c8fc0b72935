//! The policy file: the whole promise, as the data steward writes it.
//!
//! ```
//! use std::path::Path;
//! # use eke_engine::policy::Policy;
//! let text = r#"
//!     [unit.rider]
//!     adjacency = "add-remove"
//!     budget = { epsilon = 2.0, delta = 1e-7 }
//!
//!     [dataset.trips]
//!     source = "trips.parquet"
//!     unit = "rider"
//!     unit_column = "rider_id"
//!     max_rows = 20
//!
//!     [analyst.ana]
//! "#;
//! let policy = Policy::parse(text, Path::new("eke.toml"))?;
//! let payers = policy.payers("rider", Some("ana"))?;
//! assert_eq!(payers.names(), ["rider", "rider/analyst/ana"]);
//!
//! let mistyped = text.replace("max_rows", "max_row");
//! let error = Policy::parse(&mistyped, Path::new("eke.toml")).unwrap_err();
//! assert_eq!(error.to_string(), "eke.toml:10: unknown key `max_row`: did you mean `max_rows`?");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A policy that exists holds together: every name that it refers to is there, every number is in
//! range, every budget resolves, and there is no key that was not understood. Nothing here reads
//! a row; [`Dataset::table`] is given the names and types of a file's columns.
//!
//! Account names are written to ledgers, which outlive code: they may never change.

mod account;
mod analyst;
mod budget;
mod column;
mod dataset;
mod error;
mod name;
mod section;
mod unit;
mod value;
mod warning;
mod widest;
mod writing;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use eke_budget::{Amount, Rho};
use eke_ledger::Address;
use toml::de::DeTable;

pub use account::{AccountKind, AccountSpec};
pub use analyst::{Analyst, Circle, Tier};
pub use column::ColumnPolicy;
pub(crate) use dataset::ROW;
pub use dataset::{Dataset, PolicyProtection};
pub use error::PolicyError;
pub use unit::Unit;
pub use unit::periods::{OverPeriods, SHOWN_PERIODS};
pub use writing::draft::{DraftAnswers, Drafted, draft};
pub use writing::edit::lines as lines_of_bounds;
pub use writing::suggest::{suggest_name, suggest_unit_columns};

use section::{Field, Page, Section};

/// What a policy has.
const KNOWN: [&str; 6] = ["unit", "dataset", "tier", "analyst", "circle", "ledger"];
/// Where the ledger lies unless the policy says otherwise.
const LEDGER: &str = "eke.ledger";

/// A policy file, understood.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// Whose privacy is protected. There is at least one kind.
    pub units: BTreeMap<String, Unit>,
    /// What may be asked about. There is at least one.
    pub datasets: BTreeMap<String, Dataset>,
    /// How far analysts may see.
    pub tiers: BTreeMap<String, Tier>,
    /// Who may ask, beside the steward.
    pub analysts: BTreeMap<String, Analyst>,
    /// Which of them might collude.
    pub circles: BTreeMap<String, Circle>,
    /// Where the ledger lies.
    pub ledger: Address,
    /// The folder of the policy, where relative paths start.
    pub folder: PathBuf,
    path: PathBuf,
    warnings: Vec<String>,
}

/// What a policy has under a kind of table.
struct Named<T> {
    /// Those that could be read.
    read: BTreeMap<String, T>,
    /// Those that could not be read, which has been reported.
    broken: BTreeSet<String>,
    /// Whether there are no others.
    are_whole: bool,
}

impl<T> Named<T> {
    fn are_none(&self) -> bool {
        self.are_whole && self.read.is_empty() && self.broken.is_empty()
    }

    /// All names, also of those that could not be read.
    fn names(&self) -> Vec<&str> {
        let names: BTreeSet<&str> =
            self.read.keys().chain(&self.broken).map(String::as_str).collect();
        names.into_iter().collect()
    }

    /// Whether something of this name is unknown because of a mistake that was reported elsewhere.
    fn is_told(&self, name: &str) -> bool {
        // One whose name cannot be may be the one that is meant.
        let unnamed = self.broken.iter().any(|name| name::check("", name).is_err());
        !self.are_whole || unnamed || self.broken.contains(name)
    }
}

impl Policy {
    /// Reads a policy file.
    ///
    /// # Errors
    /// The file cannot be read, or something in it cannot be as it is; the error names the line.
    pub fn read(path: &Path) -> Result<Self, PolicyError> {
        let unreadable =
            |problem: String| PolicyError::Unreadable { path: path.to_owned(), problem };
        let bytes = crate::data::source::read_file(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => PolicyError::Missing { path: path.to_owned() },
            std::io::ErrorKind::IsADirectory => unreadable(format!(
                "this is a folder: name the file in it, such as {}",
                path.join("eke.toml").display()
            )),
            _ => unreadable(format!("cannot be read ({error}): check that you may read it")),
        })?;
        match std::str::from_utf8(&bytes) {
            Ok(text) => {
                let (policy, datasets) = Self::understand(text, path);
                policy.map_err(|error| {
                    // What is wrong with the files of datasets comes with it.
                    let files = datasets.iter().filter_map(|dataset| {
                        let folder = path.parent().unwrap_or(Path::new(""));
                        crate::data::ground::read_schema(folder, dataset).err()
                    });
                    let all = std::iter::once(error.clone()).chain(files).collect();
                    PolicyError::all(all).err().unwrap_or(error)
                })
            }
            Err(error) => {
                let before = &bytes[..error.valid_up_to()];
                let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
                Err(Page::new("", path)
                    .wrong(line, "this is not UTF-8 text: save the file as UTF-8"))
            }
        }
    }

    /// Understands the text of a policy file. The path is for messages, and for where relative
    /// paths start; nothing is read from it.
    ///
    /// # Errors
    /// Something in the text cannot be as it is; the error names the line.
    pub fn parse(text: &str, path: &Path) -> Result<Self, PolicyError> {
        Self::understand(text, path).0
    }

    /// The policy or what is wrong with it, and in that case its datasets as far as they could be
    /// read.
    fn understand(text: &str, path: &Path) -> (Result<Self, PolicyError>, Vec<Dataset>) {
        let page = Page::new(text, path);
        let (document, errors) = DeTable::parse_recoverable(text);
        if let Err(error) = check_toml(&page, text, &errors) {
            return (Err(error), Vec::new());
        }
        let whole = Section::all(&page, document.get_ref());
        // Under a key that is not known there may be anything: what is missing is not missed then.
        let is_whole = page.keep(whole.with_only(&KNOWN, "a policy")).is_some();

        let units = collect(whole, "unit", is_whole, Unit::read);
        let datasets = collect(whole, "dataset", is_whole, |field| Dataset::read(field, &units));
        let tiers = collect(whole, "tier", is_whole, Tier::read);
        let analysts = collect(whole, "analyst", is_whole, |field| Analyst::read(field, &tiers));
        let circles = collect(whole, "circle", is_whole, |field| Circle::read(field, &analysts));
        if units.are_none() {
            page.keep::<()>(Err(whole.wrong(
                "nobody's privacy is protected here: add a [unit.NAME] with an adjacency and a budget",
            )));
        }
        if datasets.are_none() {
            page.keep::<()>(Err(
                whole.wrong("there is nothing to ask about: add a [dataset.NAME] with a source")
            ));
        }
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let ledger = page.keep(read_ledger(whole, &folder));
        page.keep(check_case(&page, &datasets.read));
        page.keep(unit::columns::check_periods(&page, &datasets.read));
        if datasets.broken.is_empty() {
            page.keep(check_values(&page, &datasets.read));
        }
        if units.are_whole && units.broken.is_empty() {
            page.keep(check_purses(&page, &units.read, &tiers.read, &circles.read));
        }
        if let Err(error) = page.all_wrong() {
            let fields = whole.named("dataset").unwrap_or_default().into_iter();
            let broken = fields.filter(|field| datasets.broken.contains(field.name()));
            let mut all: Vec<Dataset> = broken.filter_map(Dataset::sketch).collect();
            all.extend(datasets.read.into_values());
            return (Err(error), all);
        }
        let (units, datasets, tiers) = (units.read, datasets.read, tiers.read);
        let (analysts, circles) = (analysts.read, circles.read);
        let ledger = ledger.unwrap_or_else(|| Address::File(folder.join(LEDGER)));
        let path = path.to_owned();
        let warnings = warning::of(&units, &tiers, &circles);
        let policy =
            Self { units, datasets, tiers, analysts, circles, ledger, folder, path, warnings };
        (Ok(policy), Vec::new())
    }

    /// What the steward should think about, though nothing is wrong with it. It depends on the
    /// policy alone.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The file that it was read from.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The kind of unit of that name.
    ///
    /// # Errors
    /// There is none.
    pub fn unit(&self, name: &str) -> Result<&Unit, PolicyError> {
        let unknown =
            || PolicyError::UnknownUnit { path: self.path.clone(), name: name.to_owned() };
        self.units.get(name).ok_or_else(unknown)
    }

    /// The dataset of that name.
    ///
    /// # Errors
    /// There is none.
    pub fn dataset(&self, name: &str) -> Result<&Dataset, PolicyError> {
        let unknown =
            || PolicyError::UnknownDataset { path: self.path.clone(), name: name.to_owned() };
        self.datasets.get(name).ok_or_else(unknown)
    }

    /// The analyst of that name.
    ///
    /// # Errors
    /// There is none. The error does not say who there is.
    pub fn analyst(&self, name: &str) -> Result<&Analyst, PolicyError> {
        let unknown =
            || PolicyError::UnknownAnalyst { path: self.path.clone(), name: name.to_owned() };
        self.analysts.get(name).ok_or_else(unknown)
    }

    /// The furthest point that an analyst sees of any one path; none if that is wherever the path
    /// is, as it is for the steward.
    ///
    /// # Errors
    /// There is no such analyst.
    pub fn finest(&self, analyst: Option<&str>) -> Result<Option<Amount<Rho>>, PolicyError> {
        let Some(analyst) = analyst else { return Ok(None) };
        let tier = self.analyst(analyst)?.tier.as_ref();
        Ok(tier.and_then(|tier| self.tiers.get(tier)).and_then(|tier| tier.finest))
    }
}

/// Reads all tables of a kind, whatever is wrong with some of them.
fn collect<T>(
    whole: Section<'_>,
    kind: &str,
    is_whole: bool,
    read: impl Fn(Field<'_>) -> Result<T, PolicyError>,
) -> Named<T> {
    let page = whole.page();
    let fields = page.keep(whole.named(kind));
    let are_whole = is_whole && fields.is_some();
    let mut named = Named { read: BTreeMap::new(), broken: BTreeSet::new(), are_whole };
    for field in fields.unwrap_or_default() {
        let name = field.name().to_owned();
        match page.keep(read(field)) {
            Some(item) => {
                named.read.insert(name, item);
            }
            None => {
                named.broken.insert(name);
            }
        }
    }
    named
}

/// What the parser says: all that is there twice, or the first other thing, which those after it
/// may follow from.
fn check_toml(page: &Page, text: &str, errors: &[toml::de::Error]) -> Result<(), PolicyError> {
    let at = |error: &toml::de::Error| error.span().map_or(0, |span| span.start);
    let told = |error: &toml::de::Error| {
        // The end of the text is on the last line that has something.
        let at = at(error).min(text.trim_end().len());
        page.wrong(page.line(at), not_toml(error.message()))
    };
    let twice = |error: &&toml::de::Error| error.message().starts_with("duplicate key");
    let other = errors.iter().filter(|error| !twice(error)).min_by_key(|error| at(error));
    match other {
        Some(error) => Err(told(error)),
        None => PolicyError::all(errors.iter().map(told).collect()),
    }
}

/// What the parser says, and more kindly where it is about what people get wrong most.
fn not_toml(message: &str) -> String {
    if message.starts_with("duplicate key") {
        "this is here twice: write it once".into()
    } else if message.starts_with("string values must be quoted") {
        "there is no value here that TOML knows: write texts in double quotes".into()
    } else {
        format!("this is not TOML: {message}")
    }
}

/// Whether the columns that list the values of other columns are those of public datasets.
fn check_values(page: &Page, datasets: &BTreeMap<String, Dataset>) -> Result<(), PolicyError> {
    let columns = datasets.values().flat_map(|dataset| &dataset.columns);
    let wrong = columns.filter_map(|(_, column)| {
        let (table, _) = column.values_from.as_ref()?;
        let problem = match datasets.get(table) {
            None => "there is no such dataset",
            Some(dataset) if dataset.protection != PolicyProtection::Public => {
                "it is not public, and who is in it must not be listed"
            }
            Some(_) => return None,
        };
        Some(page.wrong(
            column.line,
            format!(
                "`values` come from {}: {problem}; name a public dataset, or list them",
                error::quoted(table)
            ),
        ))
    });
    page.none_of(wrong)
}

/// SQL does not tell `Trips` from `trips`.
fn check_case(page: &Page, datasets: &BTreeMap<String, Dataset>) -> Result<(), PolicyError> {
    let mut seen = BTreeMap::new();
    let wrong = datasets.values().filter_map(|dataset| {
        let other: &Dataset = seen.insert(dataset.name.to_ascii_lowercase(), dataset)?;
        let (first, second) =
            if other.line < dataset.line { (other, dataset) } else { (dataset, other) };
        let names = format!("`{}` and `{}`", second.name, first.name);
        Some(page.wrong(second.line, format!("{names} are one table in SQL: rename one of them")))
    });
    page.none_of(wrong)
}

/// A budget of which no unit has a purse could pay for nothing.
fn check_purses(
    page: &Page,
    units: &BTreeMap<String, Unit>,
    tiers: &BTreeMap<String, Tier>,
    circles: &BTreeMap<String, Circle>,
) -> Result<(), PolicyError> {
    let tiers =
        tiers.values().filter_map(|tier| Some((tier.line, "tier", &tier.name, tier.budget?)));
    let circles =
        circles.values().map(|circle| (circle.line, "circle", &circle.name, circle.budget));
    let wrong = tiers.chain(circles).filter_map(|(line, kind, name, spec)| {
        let pays = |unit: &Unit| {
            let Ok(budget) = spec.resolve(unit.budget.metric()) else { return false };
            let zcdp = budget.zcdp().is_some() && unit.budget.zcdp().is_some();
            zcdp || (budget.pure().is_some() && unit.budget.pure().is_some())
        };
        let none = !units.values().any(pays);
        none.then(|| page.wrong(
            line,
            format!(
                "the budget of [{kind}.{name}] is in another currency than that of every unit: give both a delta, or neither"
            ),
        ))
    });
    page.none_of(wrong)
}

fn read_ledger(whole: Section<'_>, folder: &Path) -> Result<Address, PolicyError> {
    let written = match whole.get("ledger") {
        None => None,
        Some(field) => {
            let section = field.section(&["address"], "[ledger]", "[ledger]")?;
            let example = "a path, or postgresql:// and where the database is";
            section.get("address").map(|address| address.text(example)).transpose()?
        }
    };
    let Ok(address) = written.unwrap_or(LEDGER).parse::<Address>();
    Ok(match address {
        Address::File(path) => Address::File(folder.join(path)),
        Address::Postgres(url) => Address::Postgres(url),
    })
}
