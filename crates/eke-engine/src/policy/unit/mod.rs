//! The kinds of unit that a policy protects.

pub(super) mod columns;
pub(super) mod periods;

use eke_budget::{Adjacency, Budget, Metric};
use eke_sql::{PeriodLength, ZoneOffset};

use crate::policy::section::Field;
use crate::policy::{PolicyError, budget, name};

const KNOWN: [&str; 6] = ["adjacency", "budget", "pure", "zcdp_delta", "pure_delta", "people"];

/// A kind of person or device whose privacy is protected (privacy unit), and the promise made to
/// each of them.
#[doc(alias = "privacy unit")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// What they are called. Their account has the same name.
    pub name: String,
    /// Which datasets are neighbours.
    pub adjacency: Adjacency,
    /// What may be spent on them, for good, over all datasets about them.
    pub budget: Budget,
    /// About how many there are, if the steward says so. It is public, and no file is asked for it.
    pub people: Option<u32>,
    /// Where the policy says it.
    pub line: usize,
}

impl Unit {
    pub(in crate::policy) fn read(field: Field<'_>) -> Result<Self, PolicyError> {
        let (name, page) = (field.name(), field.page());
        name::check("a unit", name).map_err(|problem| field.wrong(problem))?;
        let title = format!("[unit.{name}]");
        let section = field.section(&KNOWN, &title, "[unit.NAME]")?;
        let adjacency = section.require(
            "adjacency",
            &format!("{title} has no `adjacency`: write adjacency = \"add-remove\", which hides whether somebody is in the data, or \"replace\", which hides what their rows say but not that they are there"),
        );
        let adjacency = page.keep(adjacency.and_then(read_adjacency));
        let people =
            page.keep(section.get("people").map(|people| people.count("100000")).transpose());
        let spec = budget::read(section)?.ok_or_else(|| {
            section.wrong(format!("{title} has no `budget`: write what may be spent for good, such as budget = {{ epsilon = 2.0, delta = 1e-7 }}"))
        })?;
        let (Some(adjacency), Some(people)) = (adjacency, people) else {
            return Err(page.told_elsewhere());
        };
        let budget = spec
            .resolve(Metric::Hamming(adjacency))
            .map_err(|error| section.wrong(error.to_string()))?;
        Ok(Self { name: name.to_owned(), adjacency, budget, people, line: section.line() })
    }
}

impl Unit {
    /// What somebody is promised who is in several of these periods, each of which is a unit.
    #[must_use]
    pub fn over_periods(
        &self,
        period: (PeriodLength, ZoneOffset),
    ) -> Option<crate::policy::OverPeriods> {
        crate::policy::OverPeriods::of(&self.budget, period, crate::policy::SHOWN_PERIODS)
    }
}

fn read_adjacency(field: Field<'_>) -> Result<Adjacency, PolicyError> {
    match field.text("\"add-remove\" or \"replace\"")? {
        "add-remove" => Ok(Adjacency::AddRemove),
        "replace" => Ok(Adjacency::Replace),
        other => Err(field.wrong(format!(
            "{} is no adjacency: write \"add-remove\" or \"replace\"",
            crate::policy::error::quoted(other)
        ))),
    }
}
