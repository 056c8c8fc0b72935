//! Where the rows of a plan come from, where they are not the rows of its dataset as they are.
//!
//! Invariant: each row that comes out belongs to one unit, and exists because of rows of that unit
//! and of public tables alone. Nothing here bounds anything: a plan bounds what comes out, last.
//!
//! Columns are named by what they are, and not by what a question calls them, so that the same
//! question has the same plan whatever its aliases are.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::expr::display::{identifier, list};
use crate::{Expr, Type, Value};

/// Rows, each of one unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowSource {
    /// Those of a dataset, by its name.
    Dataset(String),
    /// One for each unit and each combination of keys that it has.
    PerUnit(Box<PerUnit>),
    /// With what a public table says.
    Lookup(Box<Lookup>),
}

/// Rows joined with those of a public table.
///
/// A row meets those rows of the table for which all equalities hold and the condition is true, and
/// becomes one row for each of them, with their columns. A key that is NULL equals nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lookup {
    /// The rows.
    pub of: RowSource,
    /// The public dataset, or VALUES for a table that the question writes out.
    pub table: String,
    /// Which of its columns are added.
    pub columns: Vec<LookupColumn>,
    /// What is equal: something of a row, over its columns, and something of the table, over the
    /// columns that are added.
    pub equal: Vec<(Expr, Expr)>,
    /// What must be true of both besides.
    pub condition: Option<Expr>,
    /// Whether a row that meets none is kept, with NULL for the columns of the table.
    pub keeps_unmatched: bool,
}

/// A column of a public table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LookupColumn {
    /// What it is called in the table.
    pub column: String,
    /// What it is called from then on.
    pub name: String,
    /// Its type.
    #[serde(rename = "of")]
    pub kind: Type,
    /// Its cells, if the question writes the table out: all columns of a lookup have as many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cells: Option<Vec<Value>>,
}

/// Rows of a unit brought together: a subquery that groups by the unit.
///
/// Rows take part if they have a unit and the filter is true for them. Those of one unit with the
/// same keys become one row, with the unit, the keys and the totals as columns; a unit has at most
/// [`PerUnit::MOST_ROWS`] of them, those with the smallest keyed hash of (unit, keys).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PerUnit {
    /// The rows.
    pub of: RowSource,
    /// Which of them take part; all if there is none.
    pub filter: Option<Expr>,
    /// What they are brought together by besides the unit, sorted and distinct.
    pub keys: Vec<UnitKey>,
    /// What is computed of them, sorted and distinct.
    pub totals: Vec<UnitTotal>,
}

/// Something that the rows of a unit are brought together by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnitKey {
    /// What the column is called.
    pub name: String,
    /// The expression, over the columns of the rows.
    pub expr: Expr,
    /// Its type.
    #[serde(rename = "of")]
    pub kind: Type,
}

/// Something that is computed of rows of one unit, exactly, whatever their order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnitTotal {
    /// What the column is called.
    pub name: String,
    /// What is computed.
    pub function: TotalFunction,
    /// Of what, over the columns of the rows; of the rows themselves if there is none. A NULL does
    /// not count.
    pub expr: Option<Expr>,
    /// The type of the expression.
    #[serde(rename = "of")]
    pub kind: Type,
}

/// What is computed of the rows of one unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TotalFunction {
    /// How many rows there are, or values that are not NULL.
    Count,
    /// How many different values there are that are not NULL, up to [`PerUnit::most_values`].
    CountDistinct,
    /// The exact sum; of doubles it is rounded once, at the end. NULL of nothing, of ints beyond 64
    /// bits and of both infinities.
    Sum,
    /// The sum as a double, divided by how many values there are. NULL of nothing.
    Average,
    /// The least value. NULL of nothing.
    Least,
    /// The greatest value. NULL of nothing.
    Greatest,
}

impl PerUnit {
    /// How many rows a unit has at most: what one unit takes in memory is public.
    pub const MOST_ROWS: usize = 1_024;

    /// How many different values are told apart at most in each row.
    #[must_use]
    pub fn most_values(&self) -> usize {
        if self.keys.is_empty() { 1 << 16 } else { 1 << 12 }
    }

    /// Without totals that nothing uses, where these columns are used.
    pub(crate) fn pruned(mut self, used: &BTreeSet<&str>) -> Self {
        self.totals.retain(|total| used.contains(total.name.as_str()));
        let of = self.of.clone().pruned(&self.columns());
        self.of = of;
        self
    }

    /// The columns of the rows that it takes.
    fn columns(&self) -> BTreeSet<&str> {
        self.exprs().flat_map(Expr::columns).collect()
    }

    /// All expressions over the rows that it takes.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let keys = self.keys.iter().map(|key| &key.expr);
        let totals = self.totals.iter().filter_map(|total| total.expr.as_ref());
        self.filter.iter().chain(keys).chain(totals)
    }

    fn describe(&self, lines: &mut Vec<String>) {
        self.of.describe(lines);
        if let Some(filter) = &self.filter {
            lines.push(format!("where {filter}"));
        }
        let keys = self.keys.iter().map(|key| format!(" and {}", key.expr)).collect::<String>();
        let totals: Vec<String> = self.totals.iter().map(|t| identifier(&t.name)).collect();
        let with =
            if totals.is_empty() { String::new() } else { format!(" with {}", list(&totals)) };
        lines.push(format!("one row for each unit{keys}{with}"));
    }
}

impl Lookup {
    /// Without columns that nothing uses, where these are used.
    fn pruned(mut self, used: &BTreeSet<&str>) -> Self {
        let own = self.exprs().flat_map(Expr::columns);
        let used: BTreeSet<&str> = own.chain(used.iter().copied()).collect();
        let columns = self.columns.iter().filter(|column| used.contains(column.name.as_str()));
        let (columns, of) = (columns.cloned().collect(), self.of.clone().pruned(&used));
        (self.columns, self.of) = (columns, of);
        self
    }

    /// Whether the question writes the table out.
    #[must_use]
    pub fn is_inline(&self) -> bool {
        self.columns.iter().any(|column| column.cells.is_some())
    }

    /// All expressions over the rows and the table.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        self.equal.iter().flat_map(|(row, table)| [row, table]).chain(&self.condition)
    }

    fn describe(&self, lines: &mut Vec<String>) {
        self.of.describe(lines);
        let equal = self.equal.iter().map(|(row, table)| format!("{row} = {table}"));
        let on: Vec<String> = equal.chain(self.condition.iter().map(ToString::to_string)).collect();
        let kept = if self.keeps_unmatched { ", kept without" } else { "" };
        let cells = self.columns.iter().find_map(|column| column.cells.as_ref());
        let table = match cells {
            Some(cells) => format!("{} rows that are written out", cells.len()),
            None => format!("public {}", identifier(&self.table)),
        };
        lines.push(format!("joined with {table} where {}{kept}", on.join(" AND ")));
    }
}

impl UnitTotal {
    /// The type of its column.
    #[must_use]
    pub fn result(&self) -> Type {
        match self.function {
            TotalFunction::Count | TotalFunction::CountDistinct => Type::Int,
            TotalFunction::Average => Type::Float,
            TotalFunction::Sum | TotalFunction::Least | TotalFunction::Greatest => self.kind,
        }
    }
}

impl RowSource {
    /// The dataset whose rows they are.
    #[must_use]
    pub fn dataset(&self) -> &str {
        match self {
            Self::Dataset(name) => name,
            Self::PerUnit(per_unit) => per_unit.of.dataset(),
            Self::Lookup(lookup) => lookup.of.dataset(),
        }
    }

    /// Without totals that nothing uses, where these columns are used.
    pub(crate) fn pruned(self, used: &BTreeSet<&str>) -> Self {
        match self {
            Self::Dataset(_) => self,
            Self::PerUnit(per_unit) => Self::PerUnit(Box::new(per_unit.pruned(used))),
            Self::Lookup(lookup) => Self::Lookup(Box::new(lookup.pruned(used))),
        }
    }

    /// How many steps there are from the dataset's rows to these.
    pub(crate) fn nested(&self) -> usize {
        match self {
            Self::Dataset(_) => 0,
            Self::PerUnit(per_unit) => 1 + per_unit.of.nested(),
            Self::Lookup(lookup) => 1 + lookup.of.nested(),
        }
    }

    /// In words, one thing a line.
    pub(crate) fn describe(&self, lines: &mut Vec<String>) {
        match self {
            Self::Dataset(name) => lines.push(format!("rows of {}", identifier(name))),
            Self::PerUnit(per_unit) => per_unit.describe(lines),
            Self::Lookup(lookup) => lookup.describe(lines),
        }
    }
}

impl std::fmt::Display for TotalFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Count | Self::CountDistinct => "COUNT",
            Self::Sum => "SUM",
            Self::Average => "AVG",
            Self::Least => "MIN",
            Self::Greatest => "MAX",
        })
    }
}
