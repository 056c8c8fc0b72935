//! A first policy for some files: what `eke init` writes.
//!
//! It is made from the names and types of columns and from what the steward answered. No value of
//! any row is in it, nor anything that depends on one. What only the steward can decide and did not
//! is left out, as a comment to fill in; until that is done the policy is not read, so nothing is
//! decided in silence.

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};

use eke_budget::{Adjacency, Delta, Epsilon};
use eke_sql::{Type, UnitPeriod};

use super::suggest::{looks_like_measurement, stem, suggest_unit_columns};
use crate::policy::name;

/// A file to draft a policy for.
#[derive(Clone, Copy, Debug)]
pub struct Drafted<'a> {
    /// What questions will call it.
    pub name: &'a str,
    /// Where it is, from the folder of the policy.
    pub source: &'a str,
    /// Its columns, and their types where eke has them.
    pub columns: &'a [(String, Option<Type>)],
    /// Whether it is CSV, which does not say the types of its columns, so that the policy must.
    pub csv: bool,
}

/// What the steward answered. What is left out is left to be decided in the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DraftAnswers {
    /// What one of the people is called: `rider`.
    pub unit: Option<String>,
    /// The columns that together say which unit a row belongs to.
    pub unit_columns: Vec<String>,
    /// The period that is a unit of its own for each of them.
    pub period: Option<UnitPeriod>,
    /// When the steward had rows of CSV files looked at for the types of their columns; never if
    /// there is none.
    pub looked: Option<String>,
    /// Which datasets are neighbours.
    pub adjacency: Option<Adjacency>,
    /// The epsilon that is promised. A budget is written only if there is a delta too.
    pub epsilon: Option<Epsilon>,
    /// The delta that is promised.
    pub delta: Option<Delta>,
    /// How many groups one unit may touch.
    pub max_groups: Option<u32>,
    /// How many rows one unit may count for in a group.
    pub max_rows: Option<u32>,
    /// What columns are clamped to: name, least, most.
    pub bounds: Vec<(String, f64, f64)>,
    /// The names of the datasets that are about nobody.
    pub public: BTreeSet<String>,
}

impl DraftAnswers {
    /// Whether each row is a unit of its own.
    #[must_use]
    pub fn rows_are_units(&self) -> bool {
        self.unit.as_deref() == Some(crate::policy::dataset::ROW)
    }

    /// What the steward should think about before anything is promised: a delta that is large.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        crate::policy::warning::of_delta(&format!("[unit.{}]", unit_name(self)), self.delta?)
    }

    /// Unit columns that look like something else, by their names and types: what they hold is not
    /// looked at.
    #[must_use]
    pub fn odd_columns(&self, columns: &[(String, Option<Type>)]) -> Vec<String> {
        let chosen = self.unit_columns.iter().filter_map(|name| {
            let (_, kind) = columns.iter().find(|(own, _)| own == name)?;
            let like = looks_like_measurement(name, *kind)?;
            Some(format!(
                "the unit column {} looks like {like}, by its name and type: people with the same one would be one unit, and one person with several would be several; name the column with the id of the person",
                crate::policy::error::quoted(name)
            ))
        });
        chosen.collect()
    }
}

/// The text of a policy for those files. Answers about what they do not have are left out.
///
/// ```
/// # use eke_engine::policy::{DraftAnswers, Drafted, draft};
/// # use eke_sql::Type;
/// let columns =
///     [("rider_id".to_owned(), Some(Type::Int)), ("fare".to_owned(), Some(Type::Float))];
/// let trips = Drafted { name: "trips", source: "trips.parquet", columns: &columns, csv: false };
/// let text = draft(&[trips], &DraftAnswers::default());
/// assert!(text.contains("# fare = { min = 0, max = 100 }   # needed for SUM and AVG of fare"));
/// ```
#[must_use]
pub fn draft(datasets: &[Drafted<'_>], answers: &DraftAnswers) -> String {
    let mut text = String::new();
    // Writing to a text does not fail.
    let _ = Draft { answers, unit: unit_name(answers) }.write(datasets, &mut text);
    text
}

fn unit_name(answers: &DraftAnswers) -> String {
    if let Some(unit) = &answers.unit {
        return unit.clone();
    }
    let lower = answers.unit_columns.first().map(|column| column.to_lowercase());
    match lower.as_deref().map(stem) {
        Some(name) if name != "id" && name::check("a unit", name).is_ok() => name.to_owned(),
        _ => "person".to_owned(),
    }
}

struct Draft<'a> {
    answers: &'a DraftAnswers,
    unit: String,
}

impl Draft<'_> {
    fn write(&self, datasets: &[Drafted<'_>], out: &mut String) -> fmt::Result {
        let from = match self.answers.looked {
            Some(_) => {
                "the names of columns, and from types for which the\n# steward had rows looked at, as said below"
            }
            None => "the names and types of columns",
        };
        write!(
            out,
            "\
# What may be asked about this data, and what is promised to the people in it.
# Lines marked `decide` are yours: eke cannot know the answer. Remove their `# ` and fill them in.
# This was drafted from {from}. No value of any row is in it.

"
        )?;
        self.write_unit(out)?;
        for dataset in datasets {
            self.write_dataset(dataset, out)?;
        }
        out.push_str(
            "
# Who may ask, beside you. Each has an account of their own; all of them share the budget above.
# [analyst.ana]
#
# Analysts who see less: no single answer is finer than `finest`, and the budget is theirs each.
# [tier.partner]
# finest = { rho = 1e-4 }
# budget = { epsilon = 0.5, delta = 1e-8 }
#
# [analyst.bob]
# tier = \"partner\"
#
# Analysts who might tell each other what they see, and what they may learn together.
# [circle.partners]
# analysts = [\"ana\", \"bob\"]
# budget = { epsilon = 0.5, delta = 1e-8 }
#
# The ledger of what was spent lies beside this file, as eke.ledger, unless this says otherwise.
# [ledger]
# address = \"eke.ledger\"
",
        );
        Ok(())
    }

    fn write_unit(&self, out: &mut String) -> fmt::Result {
        writeln!(out, "# Whose privacy is protected.\n[unit.{}]", key(&self.unit))?;
        out.push_str(
            "\
# \"add-remove\" hides whether somebody is in the data at all. \"replace\" hides only what their rows
# say, for when everybody knows who is in the data; the same noise then costs four times the rho.
",
        );
        match self.answers.adjacency {
            Some(adjacency) => writeln!(out, "adjacency = \"{adjacency}\"")?,
            None => out.push_str("# adjacency = \"add-remove\"   # decide\n"),
        }
        out.push_str(
            "
# What all answers together may tell about one of them: over all datasets, for good, never raised.
# An epsilon of 1 or less is strong, of 10 weak. Keep delta far below one divided by the number of
# people in the data.
",
        );
        match (self.answers.epsilon, self.answers.delta) {
            (Some(epsilon), Some(delta)) => {
                writeln!(out, "budget = {{ epsilon = {epsilon}, delta = {delta} }}")?;
            }
            (epsilon, delta) => {
                let epsilon = epsilon.map_or_else(|| "1.0".to_owned(), |it| it.to_string());
                let delta = delta.map_or_else(|| "1e-7".to_owned(), |it| it.to_string());
                writeln!(out, "# budget = {{ epsilon = {epsilon}, delta = {delta} }}   # decide")?;
            }
        }
        Ok(())
    }

    fn write_dataset(&self, dataset: &Drafted<'_>, out: &mut String) -> fmt::Result {
        let name = key(dataset.name);
        writeln!(out, "\n[dataset.{name}]\nsource = {}", text(dataset.source))?;
        let has = |column: &String| dataset.columns.iter().any(|(name, _)| name == column);
        let all = self.answers.unit_columns.iter();
        let unit_columns = Some(&self.answers.unit_columns[..])
            .filter(|columns| !columns.is_empty() && all.clone().all(has));
        let public = self.answers.public.contains(dataset.name);
        if public {
            out.push_str(
                "# About nobody: its rows may be shown and joined freely.\npublic = true\n",
            );
        } else {
            self.write_protection(dataset, unit_columns, out)?;
        }
        if dataset.columns.is_empty() {
            return Ok(());
        }
        writeln!(out, "\n[dataset.{name}.columns]")?;
        if dataset.csv {
            out.push_str("# CSV does not say what its columns hold, so the policy does.\n");
            match &self.answers.looked {
                Some(at) => writeln!(
                    out,
                    "# The types were guessed from the first 1,000 rows: the steward had them looked at on {at}.\n# From now on they are what this file says; a cell that is not of its type is NULL."
                )?,
                None if dataset.columns.iter().any(|(_, kind)| kind.is_none()) => out.push_str(
                    "# No row was looked at: columns are texts until their types stand here.\n",
                ),
                None => {}
            }
        }
        let named = suggest_unit_columns(dataset.columns);
        for (column, of) in dataset.columns {
            let hint = if public {
                Hint::None
            } else if unit_columns.is_some_and(|columns| columns.contains(column)) {
                Hint::Unit
            } else if named.contains(&column.as_str())
                && unit_columns.is_none()
                && !self.answers.rows_are_units()
            {
                Hint::None
            } else {
                Hint::Use
            };
            self.write_column(dataset, (column, *of), hint, out)?;
        }
        Ok(())
    }

    fn write_protection(
        &self,
        dataset: &Drafted<'_>,
        unit_columns: Option<&[String]>,
        out: &mut String,
    ) -> fmt::Result {
        let (unit, of) = (text(&self.unit), key(&self.unit));
        if self.answers.rows_are_units() {
            writeln!(
                out,
                "# Each row is protected by itself: somebody with several rows is promised less.\nunit = {unit}"
            )?;
            if self.answers.max_groups.is_some() || self.answers.max_rows.is_some() {
                out.push_str("# A row counts once, in one group: there is nothing to bound.\n");
            }
            return Ok(());
        }
        match unit_columns {
            Some(columns) => {
                let named = match columns {
                    [column] => format!("unit_column = {}", text(column)),
                    columns => {
                        let all: Vec<String> = columns.iter().map(|column| text(column)).collect();
                        format!("unit_columns = [{}]", all.join(", "))
                    }
                };
                writeln!(out, "unit = {unit}\n{named}   # the unit that a row belongs to")?;
                self.write_period(out)?;
            }
            None => {
                let suggested = suggest_unit_columns(dataset.columns);
                writeln!(
                    out,
                    "# Which {of} does a row belong to? If it is about nobody, write public = true instead."
                )?;
                writeln!(out, "# unit = {unit}   # decide")?;
                for column in &suggested {
                    writeln!(
                        out,
                        "# unit_column = {}   # decide: by its name it could be this",
                        text(column)
                    )?;
                }
                if suggested.is_empty() {
                    out.push_str(
                        "# unit_column = \"\"   # decide: no column looks like it by its name\n",
                    );
                }
                out.push_str("# public = true   # decide: only if no row is about anybody\n");
            }
        }
        writeln!(
            out,
            "\n# How many groups of an answer one {of} may count in, and for how many rows in each. What is\n# beyond is left out or scaled down; noise grows with both, so choose what is usual, not the most."
        )?;
        let mut count = |name: &str, answer: Option<u32>, open: &str| match answer {
            Some(count) => writeln!(out, "{name} = {count}"),
            None => writeln!(out, "# {name} = {open}"),
        };
        count("max_groups", self.answers.max_groups, "1   # decide: 1 unless you say more")?;
        count("max_rows", self.answers.max_rows, "10   # decide")
    }

    fn write_period(&self, out: &mut String) -> fmt::Result {
        let Some(UnitPeriod { every, time_column, zone }) = &self.answers.period else {
            return Ok(());
        };
        writeln!(
            out,
            "# Each {every} of a person is a unit of its own: somebody in M {every}s is promised M x M times the\n# rho. `eke budget` says what that is for {} of them.\nunit_period = \"{every}\"\ntime_column = {}\nunit_zone = \"{zone}\"   # where its days begin",
            crate::policy::SHOWN_PERIODS,
            text(time_column)
        )
    }

    fn write_column(
        &self,
        dataset: &Drafted<'_>,
        (name, of): (&str, Option<Type>),
        hint: Hint,
        out: &mut String,
    ) -> fmt::Result {
        let shown = key(name);
        // What was answered is written, and judged when the policy is read.
        let bounds = self.answers.bounds.iter().find(|(column, ..)| column == name);
        // What has bounds is a number, and what says when is a time, by the word of the steward.
        let time = self.answers.period.as_ref().filter(|period| period.time_column == name);
        let typed = of.or(bounds.map(|_| Type::Float)).or(time.map(|_| Type::Timestamp));
        let typed = typed.filter(|_| dataset.csv);
        let typed = typed.map(|of| format!("type = \"{of}\""));
        let bounds =
            bounds.map(|(_, min, max)| format!("min = {}, max = {}", number(*min), number(*max)));
        let said: Vec<_> = typed.into_iter().chain(bounds.clone()).collect();
        if !said.is_empty() {
            write!(out, "{shown} = {{ {} }}", said.join(", "))?;
        }
        let hint = if bounds.is_some() { Hint::None } else { hint };
        match (hint, of, said.is_empty()) {
            (_, None, false) | (Hint::None, Some(_), false) => out.push('\n'),
            (_, None, true) if dataset.csv => {
                writeln!(
                    out,
                    "# {shown} = {{ type = \"text\" }}   # decide: int, float, text, bool, date or timestamp"
                )?;
            }
            (_, None, true) => {
                writeln!(
                    out,
                    "# {shown} has a type that eke does not read: it cannot be asked about"
                )?;
            }
            (Hint::None | Hint::Unit, Some(_), true) => {}
            (Hint::Unit, Some(_), false) => out.push_str("   # the unit that a row belongs to\n"),
            (Hint::Use, Some(of), bare) => match (example(of), bare) {
                (None, true) => {}
                (None, false) => out.push('\n'),
                (Some((example, why)), true) => {
                    writeln!(out, "# {shown} = {{ {example} }}   # {why} {shown}")?;
                }
                (Some((example, why)), false) => {
                    writeln!(out, "   # add {example}: {why} {shown}")?;
                }
            },
        }
        Ok(())
    }
}

/// What the draft says that a column is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hint {
    /// Nothing: it is public, or a name for something.
    None,
    /// It says which unit a row belongs to.
    Unit,
    /// Adding up, or grouping by.
    Use,
}

/// What a column of that type could say besides, and what for.
fn example(of: Type) -> Option<(&'static str, &'static str)> {
    match of {
        Type::Int | Type::Float => Some(("min = 0, max = 100", "needed for SUM and AVG of")),
        Type::Text => Some((
            "values = [\"…\", \"…\"]",
            "if these are public, every one is answered in GROUP BY",
        )),
        Type::Bool => {
            Some(("values = [true, false]", "if these are public, both are answered in GROUP BY"))
        }
        Type::Date | Type::Timestamp => None,
    }
}

/// A name as TOML has it, and harmless in a comment.
pub(in crate::policy) fn key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !name.is_empty() && name.chars().all(bare) { name.to_owned() } else { text(name) }
}

/// A text as TOML has it, on one line whatever is in it.
fn text(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            letter if crate::policy::error::is_hidden(letter) => {
                let _ = write!(quoted, "\\U{:08X}", u32::from(letter));
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

/// A number as people write it.
pub(in crate::policy) fn number(number: f64) -> String {
    let plain = format!("{:?}", number + 0.0);
    plain.strip_suffix(".0").map_or(plain.clone(), str::to_owned)
}
