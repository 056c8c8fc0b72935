//! Who may ask: analysts, the tiers that say how far they see, and the circles they might collude
//! in.

use std::collections::BTreeSet;

use eke_budget::{Amount, BudgetSpec, Rho};

use super::error::shown;
use super::name::{self, suggestion};
use super::section::{Field, Section, found};
use super::{Named, PolicyError, budget};

/// The name of the keeper of the policy, who is no analyst.
const STEWARD: &str = "steward";
const EXAMPLE: &str = "analysts = [\"bob\", \"eve\"]";

/// How far some analysts may see (access level).
#[doc(alias = "access level")]
#[derive(Clone, Debug, PartialEq)]
pub struct Tier {
    /// What it is called.
    pub name: String,
    /// The furthest point that they see of any one path; none if that is wherever it is.
    pub finest: Option<Amount<Rho>>,
    /// What each of them may spend; none if that is what the unit's account holds.
    pub budget: Option<BudgetSpec>,
    /// Where the policy says it.
    pub line: usize,
}

/// Somebody who may ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Analyst {
    /// What they are called.
    pub name: String,
    /// The tier they are in, if any; the policy has it.
    pub tier: Option<String>,
    /// Where the policy says it.
    pub line: usize,
}

/// Analysts who might tell each other what they see (coalition).
#[doc(alias = "coalition")]
#[derive(Clone, Debug, PartialEq)]
pub struct Circle {
    /// What it is called.
    pub name: String,
    /// Who is in it; the policy has them.
    pub analysts: BTreeSet<String>,
    /// What they may spend together.
    pub budget: BudgetSpec,
    /// Where the policy says it.
    pub line: usize,
}

impl Tier {
    pub(super) fn read(field: Field<'_>) -> Result<Self, PolicyError> {
        let known = ["finest", "budget", "pure", "zcdp_delta", "pure_delta"];
        let name = field.name();
        name::check("a tier", name).map_err(|problem| field.wrong(problem))?;
        let section = field.section(&known, &format!("[tier.{name}]"), "[tier.NAME]")?;
        let page = field.page();
        let budget = page.keep(budget::read(section));
        let finest = page.keep(match section.get("finest") {
            None => Ok(None),
            Some(finest) if budget == Some(None) => Err(finest.wrong(
                "`finest` needs a `budget` beside it: a question asked in other words opens a new path, and only a budget limits how many",
            )),
            Some(finest) => budget::read_finest(finest).map(Some),
        });
        let (Some(budget), Some(finest)) = (budget, finest) else {
            return Err(page.told_elsewhere());
        };
        Ok(Self { name: name.to_owned(), finest, budget, line: section.line() })
    }
}

impl Analyst {
    pub(super) fn read(field: Field<'_>, tiers: &Named<Tier>) -> Result<Self, PolicyError> {
        let (name, page) = (field.name(), field.page());
        name::check("an analyst", name).map_err(|problem| field.wrong(problem))?;
        if name.eq_ignore_ascii_case(STEWARD) {
            return Err(field.wrong(format!(
                "`{name}` is the person who keeps this file, and no analyst: choose another name"
            )));
        }
        let section = field.section(&["tier"], &format!("[analyst.{name}]"), "[analyst.NAME]")?;
        let tier = match section.get("tier") {
            None => None,
            Some(field) => {
                let tier = field.text("the name of a [tier.NAME]")?;
                if tiers.is_told(tier) {
                    return Err(page.told_elsewhere());
                }
                if !tiers.read.contains_key(tier) {
                    return Err(unknown(field, "tier", tier, &tiers.names()));
                }
                Some(tier.to_owned())
            }
        };
        Ok(Self { name: name.to_owned(), tier, line: section.line() })
    }
}

impl Circle {
    pub(super) fn read(field: Field<'_>, analysts: &Named<Analyst>) -> Result<Self, PolicyError> {
        let known = ["analysts", "budget", "pure", "zcdp_delta", "pure_delta"];
        let name = field.name();
        name::check("a circle", name).map_err(|problem| field.wrong(problem))?;
        let title = format!("[circle.{name}]");
        let section = field.section(&known, &title, "[circle.NAME]")?;
        let page = field.page();
        let members = page.keep(read_members(section, &title, analysts));
        let budget = budget::read(section)?.ok_or_else(|| {
            section.wrong(format!("{title} has no `budget`: write what its analysts may learn together, such as budget = {{ epsilon = 0.5, delta = 1e-8 }}"))
        })?;
        let analysts = members.ok_or_else(|| page.told_elsewhere())?;
        Ok(Self { name: name.to_owned(), analysts, budget, line: section.line() })
    }
}

fn read_members(
    section: Section<'_>,
    title: &str,
    analysts: &Named<Analyst>,
) -> Result<BTreeSet<String>, PolicyError> {
    let listed =
        section.require("analysts", &format!("{title} has nobody in it: write {EXAMPLE}"))?;
    let (mut members, mut wrong) = (BTreeSet::new(), Vec::new());
    for member in listed.list(EXAMPLE)? {
        let Some(member) = member.as_str() else {
            let found = found(member);
            wrong.push(listed.wrong(format!("`analysts` has {found} in it: write {EXAMPLE}")));
            continue;
        };
        if analysts.is_told(member) {
            wrong.push(section.page().told_elsewhere());
        } else if !analysts.read.contains_key(member) {
            wrong.push(unknown(listed, "analyst", member, &analysts.names()));
        }
        if !members.insert(member.to_owned()) {
            wrong.push(listed.wrong(format!("`{member}` is in {title} twice: write it once")));
        }
    }
    section.page().none_of(wrong.into_iter())?;
    if members.is_empty() {
        return Err(listed.wrong(format!("{title} has nobody in it: write {EXAMPLE}")));
    }
    Ok(members)
}

fn unknown(field: Field<'_>, kind: &str, name: &str, known: &[&str]) -> PolicyError {
    let instead = if known.is_empty() {
        "add it".to_owned()
    } else {
        suggestion(name, known, "add it, or write one of these:")
    };
    field.wrong(format!("there is no [{kind}.{}]: {instead}", shown(name)))
}
