//! The datasets of a policy, and what becomes of them beside the file they name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use eke_budget::Adjacency;
use eke_sql::{Column, Protection, Table, Type};

use super::error::{quoted, shown};
use super::name::{self, suggestion};
use super::section::{Field, Page, Section};
use super::{ColumnPolicy, Named, PolicyError, Unit};
use crate::ask::slot::USUAL_SLOT;

const KNOWN: [&str; 11] = [
    "source",
    "multiline",
    "unit",
    "unit_column",
    "max_groups",
    "max_rows",
    "max_values",
    "answer_time",
    "min_units",
    "public",
    "columns",
];
/// What a public dataset does not have.
const PRIVATE: [&str; 7] =
    ["unit", "unit_column", "max_groups", "max_rows", "max_values", "answer_time", "min_units"];
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
    /// How long after its question an answer to an analyst leaves at the earliest.
    pub answer_time: Duration,
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
        /// The column that says which unit a row belongs to; empty where each row is a unit of its
        /// own.
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
        let path = page.path().to_owned();
        let (name, line) = (name.to_owned(), section.line());
        let (source, source_line) = source;
        let dataset = Self {
            name,
            source,
            multiline,
            protection,
            answer_time,
            min_units,
            columns,
            line,
            source_line,
            path,
        };
        dataset.check_unit_column()?;
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
            answer_time: USUAL_SLOT,
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

    /// Who is in the data is never public, and people's names are not added up.
    fn check_unit_column(&self) -> Result<(), PolicyError> {
        let PolicyProtection::Private { unit_column, .. } = &self.protection else { return Ok(()) };
        match self.columns.get(unit_column) {
            Some(column) if column.values.is_some() || column.bounds.is_some() => Err(self.wrong(
                column.line,
                format!(
                    "{} says which unit a row belongs to, which is never public: leave out its bounds and `values`",
                    quoted(unit_column)
                ),
            )),
            _ => Ok(()),
        }
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
            } => {
                match schema.iter().find(|(name, _)| name == unit_column) {
                    _ if unit_column.is_empty() => {}
                    Some((_, Some(_))) => {}
                    Some((_, None)) => {
                        page.keep::<()>(Err(self.wrong(
                            *unit_column_line,
                            format!(
                                "the unit column {} has a type that eke does not read: write it to the file as text or integers",
                                quoted(unit_column)
                            ),
                        )));
                    }
                    None => missing(unit_column, *unit_column_line, "unit column"),
                }
                Protection::Private {
                    unit: unit.clone(),
                    unit_column: unit_column.clone(),
                    adjacency: *adjacency,
                    max_groups: *max_groups,
                    max_rows: *max_rows,
                    max_values: *max_values,
                }
            }
        };
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

    fn wrong(&self, line: usize, problem: String) -> PolicyError {
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
            let private = PRIVATE.into_iter().filter_map(|name| section.get(name));
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
        let column = page.keep(section.require(
            "unit_column",
            &format!("{title} has no `unit_column`: write the column that says which {whose} a row belongs to"),
        ));
        let named = column.and_then(|column| page.keep(column.text("the name of a column")));
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
        let (Some(unit), Some(column), Some(named), Some(max_groups), Some(max_rows)) =
            (unit, column, named, max_groups, max_rows)
        else {
            return Err(page.told_elsewhere());
        };
        let Some(max_values) = max_values else { return Err(page.told_elsewhere()) };
        Ok(Self::Private {
            unit: unit.name.clone(),
            adjacency: unit.adjacency,
            unit_column: named.to_owned(),
            unit_column_line: column.line(),
            max_groups,
            max_rows,
            max_values,
        })
    }

    /// A dataset whose rows are units: each is in one group, once.
    fn read_rows(section: Section<'_>, title: &str, unit: &Unit) -> Result<Self, PolicyError> {
        let mut wrong = Vec::new();
        if let Some(field) = section.get("unit_column") {
            wrong.push(field.wrong(format!(
                "{title} has unit = \"{ROW}\", so each row is a unit of its own: leave out `unit_column`, or name another [unit.NAME]"
            )));
        }
        for name in ["max_groups", "max_rows", "max_values"] {
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
