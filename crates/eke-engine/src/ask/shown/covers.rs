//! What an answer covers: how much of each unit was counted.
//!
//! An interval is about noise. What bounding cuts off is not in it, and where people have many rows
//! it may be the larger error: so every answer says what was counted, which is in the plan and
//! public, and how many units that cut, which was released.

use std::collections::BTreeSet;

use eke_sql::{Plan, Sum, Summand, Type, interval};
use serde::{Deserialize, Serialize};

use crate::ask::cut::CutCounts;
use crate::profile::WholeDataset;

/// How many characters of an expression are read as they are.
const SHORT: usize = 40;

/// How much of each unit an answer counts. [`Covers::note`] is what is in the plan, as a sentence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Covers {
    /// In how many groups a unit counts at most; none where there is one group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_groups: Option<u32>,
    /// How many rows of a unit count at most in each group; none where each row is a unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_rows: Option<u32>,
    /// How many rows of a unit count at most in all groups together; none where that is as many as
    /// groups allow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_rows_in_all: Option<u32>,
    /// What values are clamped to, row by row, before they are added up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clamps: Vec<Clamp>,
    /// How many units lose something to these bounds, where that was released.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<CutCounts>,
    /// How many units of the whole dataset lose something to these bounds, from a profile that the
    /// asker has paid for: where cut counts do not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<WholeDataset>,
    /// The dataset of which a profile would tell that, where cut counts do not and there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unprofiled: Option<String>,
    /// The same as a sentence.
    pub note: String,
}

/// What the values of an expression are clamped to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Clamp {
    /// The expression.
    pub value: String,
    /// The least that counts.
    pub low: f64,
    /// The most that counts.
    pub high: f64,
}

impl Covers {
    /// Whether it counts fewer rows of a unit in all than something else does.
    #[must_use]
    pub fn is_less_than(&self, other: &Self) -> bool {
        let rows = |covers: &Self| {
            let groups = u64::from(covers.max_groups.unwrap_or(1));
            let all = covers.max_rows.map(|rows| u64::from(rows).saturating_mul(groups));
            let all = all.unwrap_or(u64::MAX);
            covers.max_rows_in_all.map_or(all, |most| all.min(u64::from(most)))
        };
        rows(self) < rows(other)
    }

    /// What a plan counts of each unit of this name.
    pub(crate) fn of(plan: &Plan, unit: &str) -> Self {
        let max_groups = (!plan.keys.is_empty()).then_some(plan.max_groups);
        let max_rows = (!plan.unit_column.is_empty()).then_some(plan.max_rows);
        let mut clamps: Vec<Clamp> = Vec::new();
        for clamp in plan.sums.iter().filter_map(Clamp::of) {
            if !clamps.contains(&clamp) {
                clamps.push(clamp);
            }
        }
        let counts_rows = plan.sums.iter().any(|sum| match sum.summand {
            Summand::Units | Summand::Distinct { .. } => false,
            Summand::Rows | Summand::Present(_) | Summand::Value { .. } | Summand::Ranks { .. } => {
                true
            }
        });
        let rows = max_rows.filter(|_| counts_rows).map(|rows| plural(rows, "row"));
        let groups = max_groups.map(|groups| plural(groups, "group"));
        let bounds = match (rows, groups) {
            _ if max_rows.is_none() => "each row once".to_owned(),
            (Some(rows), Some(_)) if plan.max_groups == 1 => {
                format!("at most {rows} of each {unit}, in one group")
            }
            (Some(rows), Some(groups)) => {
                format!("at most {rows} of each {unit} in a group, in at most {groups}")
            }
            (None, Some(_)) if plan.max_groups == 1 => format!("each {unit} once, in one group"),
            (Some(rows), None) => format!("at most {rows} of each {unit}"),
            (None, Some(groups)) => format!("each {unit} once in a group, in at most {groups}"),
            (None, None) => format!("each {unit} once"),
        };
        // What is made of columns by formulas of our own would be read by nobody.
        let is_short = |clamp: &&Clamp| clamp.value.chars().count() <= SHORT;
        let clamped = clamps.iter().filter(is_short).map(|clamp| {
            let Clamp { value, low, high } = clamp;
            format!("; {value} clamped to {low} to {high}")
        });
        let long = plan.sums.iter().filter(|sum| Clamp::of(sum).is_some_and(|c| !is_short(&&c)));
        let columns = long.filter_map(|sum| match &sum.summand {
            Summand::Value { expr, .. } | Summand::Ranks { expr, .. } => Some(expr.columns()),
            _ => None,
        });
        let columns: BTreeSet<&str> = columns.flatten().collect();
        let computed = (!columns.is_empty()).then(|| {
            let columns: Vec<&str> = columns.into_iter().collect();
            format!("; what is computed of {} clamped to its bounds", columns.join(" and "))
        });
        let values = plan.sums.iter().filter_map(|sum| match &sum.summand {
            Summand::Distinct { expr, most, .. } => {
                Some(format!("; at most {} of {expr} of each in a group", plural(*most, "value")))
            }
            _ => None,
        });
        let max_rows_in_all = plan.max_rows_in_all;
        let bounds = match max_rows_in_all {
            Some(rows) => format!("{bounds}, and at most {} in all", plural(rows, "row")),
            None => bounds,
        };
        let note = clamped.chain(computed).chain(values).fold(bounds, |note, more| note + &more);
        let (cut, whole, unprofiled) = (None, None, None);
        Self { max_groups, max_rows, max_rows_in_all, clamps, cut, whole, unprofiled, note }
    }
}

impl Clamp {
    /// That of a sum; none where there is none, or where no value can be beyond it.
    fn of(sum: &Sum) -> Option<Self> {
        let (expr, low, high, step) = match &sum.summand {
            Summand::Value { expr, low, high, .. } => (expr, low, high, sum.step()),
            Summand::Ranks { expr, kind: Type::Int | Type::Float, low, high, grid } => {
                (expr, low, high, f64::from(*grid).exp2())
            }
            _ => return None,
        };
        let (low, high) = (*low as f64 * step, *high as f64 * step);
        let within = interval(expr, &|_| None);
        if within.is_some_and(|(least, most)| low <= least && most <= high) {
            return None;
        }
        Some(Self { value: expr.to_string(), low, high })
    }
}

fn plural(count: u32, what: &str) -> String {
    let end = if count == 1 { "" } else { "s" };
    format!("{count} {what}{end}")
}

#[cfg(test)]
mod tests {
    use eke_sql::{Expr, Function, Key, Value};

    use super::*;

    fn plan(keys: usize, unit_column: &str, sums: Vec<Summand>) -> Plan {
        let key = Key { expr: Expr::Column("city".into()), kind: Type::Text, public: None };
        Plan {
            version: eke_sql::VERSION,
            dataset: "trips".into(),
            unit_column: unit_column.into(),
            adjacency: eke_budget::Adjacency::AddRemove,
            rows: None,
            filter: None,
            keys: vec![key; keys],
            sums: sums.into_iter().map(|summand| Sum { summand, exponent: -1 }).collect(),
            max_groups: 3,
            max_rows: 20,
            max_rows_in_all: None,
        }
    }

    #[test]
    fn what_is_counted_is_said() {
        let value = |expr: Expr, low, high| Summand::Value { expr, low, high, centre: 0 };
        let fare = || Expr::Column("fare".into());
        let said = |keys, unit: &str, sums| Covers::of(&plan(keys, unit, sums), "rider").note;
        let rows = "at most 20 rows of each rider";
        assert_eq!(said(0, "id", vec![Summand::Rows]), rows);
        let groups = format!("{rows} in a group, in at most 3 groups");
        assert_eq!(said(1, "id", vec![Summand::Rows, Summand::Units]), groups);
        assert_eq!(said(0, "id", vec![Summand::Units]), "each rider once");
        let in_all = Plan { max_rows_in_all: Some(30), ..plan(1, "id", vec![Summand::Rows]) };
        let in_all = Covers::of(&in_all, "rider");
        assert_eq!(in_all.note, format!("{groups}, and at most 30 rows in all"));
        assert_eq!(in_all.max_rows_in_all, Some(30));
        let once = "each rider once in a group, in at most 3 groups";
        assert_eq!(said(1, "id", vec![Summand::Units]), once);
        let alone = "each row once";
        assert_eq!(said(1, "", vec![Summand::Rows]), alone);
        // Each clamp once, in the unit of the value; not where it cuts nothing off.
        let clamped = vec![value(fare(), 0, 100), value(fare(), 0, 100)];
        assert_eq!(said(0, "id", clamped), format!("{rows}; fare clamped to 0 to 50"));
        let within = Expr::Call(Function::Length, vec![fare()]);
        let literal = Expr::Literal(Value::Int(1));
        let loose = vec![value(literal, 0, 2)];
        assert_eq!(said(0, "id", loose), rows);
        let cut = vec![value(within, 0, 2)];
        assert!(said(0, "id", cut).contains("clamped to 0 to 1"));
    }
}
