//! The datasets of a policy, and what becomes of them beside the file they name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use eke_budget::Adjacency;
use eke_sql::{Column, Protection, Table, Type, Widest};

use super::error::{quoted, shown};
use super::name::{self, suggestion};
use super::section::{Field, Page, Section};
use super::unit::columns as unit_columns;
use super::widest;
use super::{ColumnPolicy, Named, PolicyError, Unit};
use crate::ask::cut::CutPart;
use crate::ask::slot::USUAL_SLOT;

const KNOWN: [&str; 20] = [
    "source",
    "multiline",
    "unit",
    "unit_column",
    "unit_columns",
    "unit_period",
    "time_column",
    "unit_zone",
    "max_groups",
    "max_rows",
    "max_values",
    "max_rows_in_all",
    "widest",
    "answer_time",
    "cut_counts",
    "publish_profile",
    "min_units",
    "try_quantiles",
    "public",
    "columns",
];
/// What a public dataset does not have.
const PRIVATE: [&str; 11] = [
    "unit",
    "max_groups",
    "max_rows",
    "max_values",
    "max_rows_in_all",
    "widest",
    "answer_time",
    "cut_counts",
    "publish_profile",
    "min_units",
    "try_quantiles",
];
/// The unit of datasets whose rows are units of their own.
pub(crate) const ROW: &str = "row";
/// The longest first slot, in seconds.
const LONGEST: f64 = 86_400.0;

/// A dataset that may be asked about.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    /// Its name in SQL.
    pub name: String,
    /// Where its rows are, as written: a file, a folder or a pattern, from the policy's folder.
    pub source: String,
    /// Whether rows of CSV go over several lines, where the policy says so.
    pub multiline: Option<bool>,
    /// Whose it is.
    pub protection: PolicyProtection,
    /// The widest bounds that questions may choose.
    pub widest: Widest,
    /// How long after its question an answer to an analyst leaves at the earliest.
    pub answer_time: Duration,
    /// The part of what a question is charged that counts of units that were cut may cost.
    pub cut_counts: CutPart,
    /// Whether analysts may see the profile that the steward has bought.
    pub publishes_profile: bool,
    /// Whether quantiles are answered, which are on trial.
    pub tries_quantiles: bool,
    /// The fewest units that a row of an answer is shown for, by a noisy count of them; any number
    /// if there is none.
    pub min_units: Option<u32>,
    /// What is said about its columns. There may be others.
    pub columns: BTreeMap<String, ColumnPolicy>,
    /// Where the policy says it.
    pub line: usize,
    /// Where the policy says where its rows are.
    pub source_line: usize,
    path: PathBuf,
}

/// Whose privacy a dataset is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyProtection {
    /// Nobody's: its rows may be joined and shown freely.
    Public,
    /// Units', one per row.
    Private {
        /// The kind of unit; the policy has it.
        unit: String,
        /// Which datasets are neighbours: the unit's.
        adjacency: Adjacency,
        /// The column that says which unit a row belongs to, or the name that several go by
        /// ([`UnitColumns`](eke_sql::UnitColumns)); empty where each row is a unit of its own.
        unit_column: String,
        /// Where the policy names that column.
        unit_column_line: usize,
        /// How many groups one unit may touch.
        max_groups: u32,
        /// How many rows one unit may count for in a group.
        max_rows: u32,
        /// How many different values of one unit may count in a group; as many as rows if there is
        /// none.
        max_values: Option<u32>,
        /// How many rows one unit may count for in all groups together; as many as its groups allow
        /// if there is none.
        max_rows_in_all: Option<u32>,
    },
}

impl Dataset {
    pub(super) fn read(field: Field<'_>, units: &Named<Unit>) -> Result<Self, PolicyError> {
        let (name, page) = (field.name(), field.page());
        let title = format!("[dataset.{name}]");
        // Mistakes in one part are reported beside those in the others.
        let named = page.keep(name::check_table(name).map_err(|problem| field.wrong(problem)));
        let columns = page.keep(Self::read_columns(field, &title));
        // A key that is not known may be any of those that are missing.
        let section = field.section(&KNOWN, &title, "[dataset.NAME]")?;
        let source = page.keep(read_source(section, &title));
        let multiline = section.get("multiline").map(|field| field.boolean());
        let multiline = page.keep(multiline.transpose());
        let protection = page.keep(PolicyProtection::read(section, &title, units));
        let answer_time = page.keep(read_answer_time(section));
        let widest = page.keep(widest::read(section, name));
        let cut_counts = page.keep(read_cut_counts(section));
        let publishes = section.get("publish_profile").map(|field| field.boolean());
        let publishes = page.keep(publishes.transpose());
        let tries = section.get("try_quantiles").map(|field| field.boolean());
        let tries = page.keep(tries.transpose());
        let min_units = section.get("min_units").map(|field| field.count("10")).transpose();
        let min_units = page.keep(min_units);
        let (Some(()), Some(columns), Some(source)) = (named, columns, source) else {
            return Err(page.told_elsewhere());
        };
        let (Some(multiline), Some(protection), Some(answer_time), Some(min_units)) =
            (multiline, protection, answer_time, min_units)
        else {
            return Err(page.told_elsewhere());
        };
        let (Some(cut_counts), Some(publishes), Some(tries)) = (cut_counts, publishes, tries)
        else {
            return Err(page.told_elsewhere());
        };
        let Some(widest) = widest else { return Err(page.told_elsewhere()) };
        if let Some(field) = section.get("widest") {
            widest::check(&widest, field, &protection, &columns)?;
        }
        let path = page.path().to_owned();
        let (name, line) = (name.to_owned(), section.line());
        let (source, source_line) = source;
        let dataset = Self {
            name,
            source,
            multiline,
            protection,
            widest,
            answer_time,
            cut_counts,
            publishes_profile: publishes.unwrap_or(false),
            tries_quantiles: tries.unwrap_or(false),
            min_units,
            columns,
            line,
            source_line,
            path,
        };
        unit_columns::check_said(&dataset, &dataset.unit_columns())?;
        Ok(dataset)
    }

    /// Of a dataset with mistakes, the part that can be compared with its files.
    pub(super) fn sketch(field: Field<'_>) -> Option<Self> {
        let section = field.table("").ok()?;
        let (source, source_line) = read_source(section, "").ok()?;
        let column = section.get("unit_column");
        let column = column.and_then(|column| Some((column.text("").ok()?, column.line())));
        let protection = column.map_or(PolicyProtection::Public, |(unit_column, line)| {
            PolicyProtection::Private {
                unit: String::new(),
                adjacency: Adjacency::AddRemove,
                unit_column: unit_column.to_owned(),
                unit_column_line: line,
                max_groups: 1,
                max_rows: 1,
                max_values: None,
                max_rows_in_all: None,
            }
        });
        let columns = section.get("columns").and_then(|columns| columns.table("").ok());
        let columns = columns.map_or_else(Vec::new, |columns| columns.fields());
        let read =
            |column: Field<'_>| Some((column.name().to_owned(), ColumnPolicy::read(column).ok()?));
        Some(Self {
            name: field.name().to_owned(),
            source,
            multiline: None,
            protection,
            widest: Widest::default(),
            answer_time: USUAL_SLOT,
            cut_counts: CutPart::USUAL,
            publishes_profile: false,
            tries_quantiles: false,
            min_units: None,
            columns: columns.into_iter().filter_map(read).collect(),
            line: section.line(),
            source_line,
            path: field.page().path().to_owned(),
        })
    }

    fn read_columns(
        field: Field<'_>,
        title: &str,
    ) -> Result<BTreeMap<String, ColumnPolicy>, PolicyError> {
        let page = field.page();
        let Some(columns) = field.table(title).ok().and_then(|section| section.get("columns"))
        else {
            return Ok(BTreeMap::new());
        };
        let name = field.name();
        let example =
            format!("[dataset.{name}.columns], and below it fare = {{ min = 0, max = 200 }}");
        let mut all = BTreeMap::new();
        let mut are_whole = true;
        for column in columns.table(&example)?.fields() {
            match page.keep(ColumnPolicy::read(column)) {
                Some(read) => {
                    all.insert(column.name().to_owned(), read);
                }
                None => are_whole = false,
            }
        }
        if are_whole { Ok(all) } else { Err(page.told_elsewhere()) }
    }

    /// The dataset as questions see it, if the columns of its file, in their order, are as the
    /// policy says. A column without a type is of one that eke does not have.
    ///
    /// # Errors
    /// The file lacks columns that the policy names, or has them with types that do not fit: all
    /// that is wrong.
    pub fn table(&self, schema: &[(String, Option<Type>)]) -> Result<Table, PolicyError> {
        let known: Vec<_> = schema.iter().map(|(name, _)| name.as_str()).collect();
        let mut seen = BTreeSet::new();
        if let Some(twice) = known.iter().find(|name| !seen.insert(**name)) {
            return Err(self.wrong(
                self.line,
                format!(
                    "{} has two columns named {}: rename one of them in the file",
                    quoted(&self.source),
                    quoted(twice)
                ),
            ));
        }
        let page = Page::new("", &self.path);
        let missing = |name: &str, line, what: &str| {
            let instead = suggestion(name, &known, "its columns are");
            let (source, name) = (quoted(&self.source), quoted(name));
            page.keep::<()>(Err(
                self.wrong(line, format!("{source} has no {what} {name}: {instead}"))
            ));
        };
        let protection = match &self.protection {
            PolicyProtection::Public => Protection::Public,
            PolicyProtection::Private {
                unit,
                unit_column,
                unit_column_line,
                adjacency,
                max_groups,
                max_rows,
                max_values,
                max_rows_in_all,
            } => {
                let unit_columns = (&self.unit_columns(), *unit_column_line);
                unit_columns::check_file(self, unit_columns, schema, &page);
                Protection::Private {
                    unit: unit.clone(),
                    unit_column: unit_column.clone(),
                    adjacency: *adjacency,
                    max_groups: *max_groups,
                    max_rows: *max_rows,
                    max_values: *max_values,
                    max_rows_in_all: *max_rows_in_all,
                }
            }
        };
        for (name, ..) in self.widest.clamps.iter().filter(|(name, ..)| !seen.contains(&**name)) {
            missing(name, self.line, "column");
        }
        for (name, column) in self.columns.iter().filter(|(name, _)| !seen.contains(name.as_str()))
        {
            missing(name, column.line, "column");
        }
        let columns: Vec<Column> =
            schema.iter().filter_map(|(name, kind)| page.keep(self.column(name, *kind))).collect();
        page.all_wrong()?;
        Ok(Table { name: self.name.clone(), columns, protection })
    }

    /// That what is wrong with its files is wrong, by the line that names them.
    pub(crate) fn wrong_files(&self, problem: &crate::data::source::SourceError) -> PolicyError {
        let line = match (problem, &self.protection) {
            (
                crate::data::source::SourceError::Inexact { .. },
                PolicyProtection::Private { unit_column_line, .. },
            ) => *unit_column_line,
            _ => self.source_line,
        };
        self.wrong(line, problem.to_string())
    }

    fn column(&self, name: &str, kind: Option<Type>) -> Result<Column, PolicyError> {
        let Some(said) = self.columns.get(name) else {
            return Ok(Column { name: name.to_owned(), kind, bounds: None, values: None });
        };
        let Some(kind) = kind else {
            return Err(self.wrong(
                said.line,
                format!(
                    "{} has a type in {} that eke does not read: leave it out here, or change it in the file",
                    quoted(name),
                    quoted(&self.source)
                ),
            ));
        };
        if let Some(declared) = said.kind.filter(|declared| *declared != kind) {
            return Err(self.wrong(
                said.line,
                format!(
                    "{} is {kind} in {}, not {declared}: write type = \"{kind}\", or leave `type` out",
                    quoted(name),
                    quoted(&self.source)
                ),
            ));
        }
        let page = Page::new("", &self.path);
        let fitted = said.fitted(name, kind, &format!("in {}", quoted(&self.source)), &page)?;
        let name = name.to_owned();
        Ok(Column { name, kind: Some(kind), bounds: fitted.bounds, values: fitted.values })
    }

    /// That what the policy says of a column is wrong.
    pub(crate) fn wrong_column(&self, line: usize, column: &str, problem: &str) -> PolicyError {
        self.wrong(
            line,
            format!("{}: {problem}: correct `from`, or list the values", quoted(column)),
        )
    }

    pub(super) fn wrong(&self, line: usize, problem: String) -> PolicyError {
        PolicyError::Wrong { path: self.path.clone(), line, problem }
    }
}

/// How long after its question an answer to an analyst leaves at the earliest.
fn read_answer_time(section: Section<'_>) -> Result<Duration, PolicyError> {
    let Some(field) = section.get("answer_time") else { return Ok(USUAL_SLOT) };
    let seconds = field.number("2.0")?;
    if !(0.001..=LONGEST).contains(&seconds) {
        return Err(field.wrong(format!(
            "answers leave after 0.001 to {LONGEST} seconds: write one of them, such as \
             answer_time = 2.0"
        )));
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// The part of what a question is charged that cut counts may cost: none if it is false.
fn read_cut_counts(section: Section<'_>) -> Result<CutPart, PolicyError> {
    let Some(field) = section.get("cut_counts") else { return Ok(CutPart::USUAL) };
    if field.boolean().is_ok_and(|is| !is) {
        return Ok(CutPart::NOTHING);
    }
    let wrong = || {
        field.wrong(
            "counts of units that were cut cost a part of what a question is charged, up to a \
             half: write it, such as cut_counts = 0.02, or cut_counts = false for none",
        )
    };
    CutPart::new(field.number("0.02").map_err(|_| wrong())?).ok_or_else(wrong)
}

fn read_source(section: Section<'_>, title: &str) -> Result<(String, usize), PolicyError> {
    let source = section.require(
        "source",
        &format!(
            "{title} has no `source`: write where its rows are, such as source = \"{}.parquet\"",
            title.trim_start_matches("[dataset.").trim_end_matches(']')
        ),
    )?;
    Ok((source.text("a path such as \"trips.parquet\"")?.to_owned(), source.line()))
}

impl PolicyProtection {
    /// The column that says which unit a row belongs to; none if rows are public, or units
    /// themselves.
    #[must_use]
    pub fn unit_column(&self) -> Option<&str> {
        match self {
            Self::Private { unit_column, .. } => Some(unit_column.as_str()),
            Self::Public => None,
        }
        .filter(|column| !column.is_empty())
    }

    fn read(section: Section<'_>, title: &str, units: &Named<Unit>) -> Result<Self, PolicyError> {
        if section.get("public").map(|field| field.boolean()).transpose()? == Some(true) {
            let private = PRIVATE.into_iter().chain(unit_columns::KEYS);
            let private = private.filter_map(|name| section.get(name));
            let wrong = private.map(|field| {
                field.wrong(format!(
                    "a public dataset has no `{}`: leave it out, or leave out `public`",
                    field.name()
                ))
            });
            return section.page().none_of(wrong).map(|()| Self::Public);
        }
        Self::read_private(section, title, units)
    }

    fn read_private(
        section: Section<'_>,
        title: &str,
        units: &Named<Unit>,
    ) -> Result<Self, PolicyError> {
        let page = section.page();
        let unit = section.require(
            "unit",
            &format!("{title} does not say whose rows it has: write unit = \"NAME\" of a [unit.NAME], or public = true if it is about nobody"),
        );
        let unit = page.keep(unit.and_then(|unit| Self::read_unit(unit, units)));
        if let Some(unit) = unit.filter(|unit| unit.name == ROW) {
            return Self::read_rows(section, title, unit);
        }
        let whose = unit.map_or("unit", |unit| unit.name.as_str());
        let columns = page.keep(unit_columns::read(section, title, whose));
        let max_groups = page.keep(match section.get("max_groups") {
            None => Ok(1),
            Some(field) => field.count("3"),
        });
        let max_rows = section.require(
            "max_rows",
            &format!("{title} has no `max_rows`: write how many rows of a group one {whose} may count for, such as max_rows = 20; noise grows with it"),
        );
        let max_rows = page.keep(max_rows.and_then(|field| field.count("20")));
        let max_values = section.get("max_values").map(|field| field.count("5"));
        let max_values = page.keep(max_values.transpose());
        let in_all = section.get("max_rows_in_all").map(|field| field.count("100"));
        let in_all = page.keep(in_all.transpose());
        let (Some(unit), Some((columns, unit_column_line)), Some(max_groups), Some(max_rows)) =
            (unit, columns, max_groups, max_rows)
        else {
            return Err(page.told_elsewhere());
        };
        let (Some(max_values), Some(max_rows_in_all)) = (max_values, in_all) else {
            return Err(page.told_elsewhere());
        };
        Ok(Self::Private {
            unit: unit.name.clone(),
            adjacency: unit.adjacency,
            unit_column: columns.to_string(),
            unit_column_line,
            max_groups,
            max_rows,
            max_values,
            max_rows_in_all,
        })
    }

    /// A dataset whose rows are units: each is in one group, once.
    fn read_rows(section: Section<'_>, title: &str, unit: &Unit) -> Result<Self, PolicyError> {
        let mut wrong = Vec::new();
        for field in unit_columns::KEYS.into_iter().filter_map(|name| section.get(name)) {
            wrong.push(field.wrong(format!(
                "{title} has unit = \"{ROW}\", so each row is a unit of its own: leave out `{}`, or name another [unit.NAME]",
                field.name()
            )));
        }
        for name in ["max_groups", "max_rows", "max_values", "max_rows_in_all"] {
            let Some(field) = section.get(name) else { continue };
            if field.count("1")? != 1 {
                wrong.push(field.wrong(format!("a row is in one group, once: leave out `{name}`")));
            }
        }
        section.page().none_of(wrong.into_iter())?;
        let unit_column_line = section.get("unit").map_or(section.line(), |field| field.line());
        Ok(Self::Private {
            unit: unit.name.clone(),
            adjacency: unit.adjacency,
            unit_column: String::new(),
            unit_column_line,
            max_groups: 1,
            max_rows: 1,
            max_values: None,
            max_rows_in_all: None,
        })
    }

    fn read_unit<'u>(field: Field<'_>, units: &'u Named<Unit>) -> Result<&'u Unit, PolicyError> {
        let name = field.text("the name of a [unit.NAME]")?;
        if let Some(unit) = units.read.get(name) {
            return Ok(unit);
        }
        if units.is_told(name) {
            return Err(field.page().told_elsewhere());
        }
        let instead = suggestion(name, &units.names(), "the units are");
        Err(field.wrong(format!("there is no [unit.{}]: {instead}", shown(name))))
    }
}
