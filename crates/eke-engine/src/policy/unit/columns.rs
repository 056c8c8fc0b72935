//! Which columns of a dataset say which unit a row belongs to.

use std::collections::{BTreeMap, BTreeSet};

use eke_sql::{PeriodLength, Type, UnitColumns, UnitPeriod, ZoneOffset};

use crate::policy::error::quoted;
use crate::policy::name::suggestion;
use crate::policy::section::{Field, Page, Section};
use crate::policy::value;
use crate::policy::{Dataset, Policy, PolicyError, PolicyProtection};

/// What is read here.
pub(in crate::policy) const KEYS: [&str; 5] =
    ["unit_column", "unit_columns", "unit_period", "time_column", "unit_zone"];

/// The columns and the period of a dataset's units, and where the policy names them.
pub(in crate::policy) fn read(
    section: Section<'_>,
    title: &str,
    whose: &str,
) -> Result<(UnitColumns, usize), PolicyError> {
    let page = section.page();
    let columns = page.keep(match (section.get("unit_column"), section.get("unit_columns")) {
        (Some(_), Some(several)) => Err(several.wrong(
            "`unit_columns` stands beside `unit_column`: write all of them in `unit_columns`, and leave out the other",
        )),
        (_, Some(several)) => read_several(several).map(|columns| (columns, several.line())),
        (one, None) => {
            let one = one.ok_or_else(|| {
                section.wrong(format!("{title} has no `unit_column`: write the column that says which {whose} a row belongs to"))
            });
            one.and_then(|one| Ok((vec![read_one(one)?], one.line())))
        }
    });
    let period = page.keep(read_period(section, whose));
    let (Some((columns, line)), Some(period)) = (columns, period) else {
        return Err(page.told_elsewhere());
    };
    if let Some(period) = &period
        && columns.contains(&period.time_column)
    {
        return Err(page.wrong(
            line,
            format!(
                "{} is the `time_column` and names the {whose} too: name the {whose} by other columns",
                quoted(&period.time_column)
            ),
        ));
    }
    Ok((UnitColumns { columns, period }, line))
}

fn read_one(field: Field<'_>) -> Result<String, PolicyError> {
    let name = field.text("the name of a column")?;
    if UnitColumns::is_ambiguous(name) {
        return Err(field.wrong(format!(
            "the column {} begins with a parenthesis, as the names of several columns do: write it to the file under another name, or several columns as unit_columns = [\"…\", \"…\"]",
            quoted(name)
        )));
    }
    Ok(name.to_owned())
}

fn read_several(field: Field<'_>) -> Result<Vec<String>, PolicyError> {
    const EXAMPLE: &str = "unit_columns = [\"serialno\", \"sporder\"]";
    let mut columns = Vec::new();
    for listed in field.list(EXAMPLE)? {
        let Ok(eke_sql::Value::Text(name)) = value::read(listed) else {
            return Err(
                field.wrong(format!("`unit_columns` has names of columns: write {EXAMPLE}"))
            );
        };
        if columns.contains(&name) {
            return Err(
                field.wrong(format!("`unit_columns` has {} twice: write it once", quoted(&name)))
            );
        }
        columns.push(name);
    }
    match columns.as_slice() {
        [] => Err(field.wrong(format!("`unit_columns` is empty: write {EXAMPLE}"))),
        [one] if UnitColumns::is_ambiguous(one) => Err(field.wrong(format!(
            "the column {} begins with a parenthesis: write it to the file under another name",
            quoted(one)
        ))),
        _ => Ok(columns),
    }
}

fn read_period(section: Section<'_>, whose: &str) -> Result<Option<UnitPeriod>, PolicyError> {
    let (time, zone) = (section.get("time_column"), section.get("unit_zone"));
    let Some(period) = section.get("unit_period") else {
        let alone = [time, zone].into_iter().flatten().map(|field| {
            field.wrong(format!(
                "`{}` is for `unit_period`: write unit_period = \"month\" beside it, or leave it out",
                field.name()
            ))
        });
        return section.page().none_of(alone).map(|()| None);
    };
    let text = period.text("\"month\"")?;
    let every = PeriodLength::named(text).ok_or_else(|| {
        let known = PeriodLength::ALL.map(PeriodLength::name);
        let instead = suggestion(text, &known, "the periods are");
        period.wrong(format!("{} is no `unit_period`: {instead}", quoted(text)))
    })?;
    let time = time.ok_or_else(|| {
        period.wrong(format!(
            "`unit_period` needs a `time_column`: write the column that says in which {every} a row of a {whose} is"
        ))
    })?;
    let time_column = time.text("the name of a column")?.to_owned();
    let zone = match zone {
        None => ZoneOffset::UTC,
        Some(field) => {
            let text = field.text("\"+02:00\"")?;
            ZoneOffset::read(text).ok_or_else(|| {
                field.wrong(format!(
                    "{} is no `unit_zone`: write \"UTC\" or how far its clocks are ahead of UTC, such as \"+02:00\"; zones whose clocks change with the seasons are not supported",
                    quoted(text)
                ))
            })?
        }
    };
    Ok(Some(UnitPeriod { every, time_column, zone }))
}

/// Who is in the data is never public, and people's names are not added up.
pub(in crate::policy) fn check_said(
    dataset: &Dataset,
    unit: &UnitColumns,
) -> Result<(), PolicyError> {
    let said = |name: &String| {
        let column = dataset.columns.get(name);
        column.filter(|column| {
            column.values.is_some() || column.values_from.is_some() || column.bounds.is_some()
        })
    };
    let said: Vec<_> = unit.columns.iter().filter_map(|name| Some((name, said(name)?))).collect();
    // Of several columns some may be public: the number of a person in a household.
    match said.first() {
        Some((name, column)) if said.len() == unit.columns.len() => Err(dataset.wrong(
            column.line,
            format!(
                "{} says which unit a row belongs to, which is never public: leave out its bounds and `values`",
                quoted(name)
            ),
        )),
        _ => Ok(()),
    }
}

/// Whether a file with these columns has what says which unit a row belongs to.
pub(in crate::policy) fn check_file(
    dataset: &Dataset,
    (unit, line): (&UnitColumns, usize),
    schema: &[(String, Option<Type>)],
    page: &Page,
) {
    let known: Vec<_> = schema.iter().map(|(name, _)| name.as_str()).collect();
    let source = quoted(&dataset.source);
    let wrong = |problem: String| {
        page.keep::<()>(Err(dataset.wrong(line, problem)));
    };
    let kind = |name: &String| schema.iter().find(|(own, _)| own == name).map(|(_, kind)| *kind);
    let missing = |name: &String, what: &str| {
        let instead = suggestion(name, &known, "its columns are");
        wrong(format!("{source} has no {what} {}: {instead}", quoted(name)));
    };
    for name in &unit.columns {
        match kind(name) {
            Some(Some(_)) => {}
            Some(None) => wrong(format!(
                "the unit column {} has a type that eke does not read: write it to the file as text or integers",
                quoted(name)
            )),
            None => missing(name, "unit column"),
        }
    }
    let name = unit.to_string();
    if unit.is_composed() && known.contains(&name.as_str()) {
        wrong(format!(
            "{source} has a column named {}, which is what its units go by: rename it in the file",
            quoted(&name)
        ));
    }
    let Some(period) = &unit.period else { return };
    match kind(&period.time_column) {
        Some(Some(Type::Timestamp)) => {}
        Some(Some(Type::Date)) if period.zone == ZoneOffset::UTC => {}
        Some(Some(Type::Date)) => wrong(format!(
            "the time column {} has days, which begin at the same time everywhere: leave out `unit_zone`",
            quoted(&period.time_column)
        )),
        Some(_) => wrong(format!(
            "the time column {} is neither a date nor a timestamp: for CSV say so, as {} = {{ type = \"timestamp\" }} under its columns",
            quoted(&period.time_column),
            period.time_column
        )),
        None => missing(&period.time_column, "time column"),
    }
}

/// All datasets of a unit have the same period: what a unit is decides what its account promises.
pub(in crate::policy) fn check_periods(
    page: &Page,
    datasets: &BTreeMap<String, Dataset>,
) -> Result<(), PolicyError> {
    let mut first: BTreeMap<&str, &Dataset> = BTreeMap::new();
    let mut wrong = Vec::new();
    for dataset in datasets.values() {
        let PolicyProtection::Private { unit, unit_column_line, .. } = &dataset.protection else {
            continue;
        };
        let other = first.entry(unit).or_insert(dataset);
        if other.period() != dataset.period() {
            wrong.push(page.wrong(
                *unit_column_line,
                format!(
                    "{} and {} are about {} by different periods: a unit has one `unit_period` and one `unit_zone` in all its datasets, or none in all; name another [unit.NAME]",
                    quoted(&dataset.name),
                    quoted(&other.name),
                    quoted(unit)
                ),
            ));
        }
    }
    page.none_of(wrong.into_iter())
}

impl Dataset {
    /// What says which unit a row belongs to.
    #[must_use]
    pub fn unit_columns(&self) -> UnitColumns {
        UnitColumns::read(self.protection.unit_column().unwrap_or_default())
    }

    /// The period that is a unit of its own for each person, and where its days begin.
    #[must_use]
    pub fn period(&self) -> Option<(PeriodLength, ZoneOffset)> {
        self.unit_columns().period.map(|period| (period.every, period.zone))
    }
}

impl Policy {
    /// The period that is a unit of its own, for each person of this kind, and where its days
    /// begin.
    #[must_use]
    pub fn period_of(&self, unit: &str) -> Option<(PeriodLength, ZoneOffset)> {
        let is_of = |dataset: &&Dataset| matches!(&dataset.protection, PolicyProtection::Private { unit: own, .. } if own == unit);
        self.datasets.values().find(is_of)?.period()
    }

    /// Units of periods and units of people that have a column in common: what is spent on both
    /// adds up for one person.
    pub(crate) fn shares_people(one: &UnitColumns, other: &UnitColumns) -> bool {
        let people = |unit: &UnitColumns| -> BTreeSet<String> {
            unit.columns.iter().map(|name| name.to_lowercase()).collect()
        };
        people(one) == people(other)
    }
}
