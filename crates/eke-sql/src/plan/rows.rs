//! Where the rows of a plan come from, where they are not the rows of its dataset as they are.
//!
//! Invariant: each row that comes out belongs to one unit, and exists because of rows of that unit
//! and of public tables alone. Nothing here bounds anything: a plan bounds what comes out, last.
//!
//! Columns are named by what they are, and not by what a question calls them, so that the same
//! question has the same plan whatever its aliases are.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::expr::canonical::{canonical, run};
use crate::expr::display::{identifier, list};
use crate::{Binary, Expr, Type, Value};

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
    /// Rows of two sources that are of the same unit, in pairs.
    Meet(Box<Meet>),
    /// The rows of several sources, one after the other.
    Union(Box<Union>),
}

/// Some of the rows of a source, with columns that have the names they go by from then on.
///
/// Rows take part if they have a unit and the filter is true for them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnitRows {
    /// The rows.
    pub of: RowSource,
    /// The column of these rows that says which unit a row belongs to.
    pub unit: String,
    /// Which of them take part; all if there is none.
    pub filter: Option<Expr>,
    /// Their columns from then on, over the columns of the rows.
    pub columns: Vec<UnitKey>,
}

/// Rows of two sources that are of the same unit, in pairs: a join on the unit.
///
/// A row of the left meets those rows of the right that are of its unit, for which all equalities
/// hold and the condition is true. A key that is NULL equals nothing. Of each side a unit has at
/// most [`Meet::MOST_ROWS`] different rows, those with the smallest keyed hash of (unit, columns),
/// each as often as it is there. They meet in that order, the left ones first: as soon as the next
/// row of the left would bring the pairs that were looked at beyond [`Meet::most_pairs`], it and
/// those behind it are left out, and so are rows of the right that would be kept alone. What comes
/// out of one unit ends after as many rows. All of it follows from the unit's own rows and the key
/// of the hash.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Meet {
    /// The rows on the left.
    pub left: UnitRows,
    /// The rows on the right.
    pub right: UnitRows,
    /// What is equal besides the unit: something of the left and something of the right.
    pub equal: Vec<(Expr, Expr)>,
    /// What must be true of both besides.
    pub condition: Option<Expr>,
    /// What comes out.
    pub gives: Gives,
    /// The unit of either side as a column, where either may be missing and it is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub either: Option<UnitKey>,
    /// How many pairs of a unit are looked at, where it is fewer than [`Meet::MOST_PAIRS`]: a
    /// question that goes through texts for each of them looks at fewer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_pairs: Option<usize>,
}

/// What comes out where rows meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gives {
    /// The pairs (inner join).
    Pairs,
    /// The pairs, and rows of the left that meet none, with NULL for the right (left join).
    PairsAndLeft,
    /// The pairs, and rows of both sides that meet none (full join).
    PairsAndBoth,
    /// The rows of the left that meet one (semi join).
    LeftWith,
    /// The rows of the left that meet none (anti join).
    LeftWithout,
}

/// The rows of several sources of one unit, one after the other: UNION ALL.
///
/// The columns of all branches have the same names and types, in the same order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Union {
    /// The sources, two at least.
    pub branches: Vec<UnitRows>,
}

/// Which rows come out of a lookup, without columns of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Chooses {
    /// Those that meet a row of the table: IN and EXISTS.
    With,
    /// Those that meet none: NOT EXISTS.
    Without,
    /// Those whose key is in none of the table's rows, as NOT IN has it: none if one of them is
    /// NULL, none whose own key is NULL, and all if the table has no rows. The condition is about
    /// the table alone.
    NotIn,
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
    /// Which rows come out, where the table only chooses them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chooses: Option<Chooses>,
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
        let how = match self.chooses {
            None => "joined with",
            Some(Chooses::With) => "if there is one of",
            Some(Chooses::Without) => "if there is none of",
            Some(Chooses::NotIn) => "if not among",
        };
        let cells = self.columns.iter().find_map(|column| column.cells.as_ref());
        let table = match cells {
            Some(cells) => format!("{} rows that are written out", cells.len()),
            None => format!("public {}", identifier(&self.table)),
        };
        lines.push(format!("{how} {table} where {}{kept}", on.join(" AND ")));
    }
}

impl UnitRows {
    /// Without columns that nothing uses, where these are used.
    fn pruned(mut self, used: &BTreeSet<&str>) -> Self {
        self.columns.retain(|column| used.contains(column.name.as_str()));
        let own = self.exprs().flat_map(Expr::columns).collect();
        let of = self.of.clone().pruned(&own);
        self.of = of;
        self
    }

    /// All expressions over the rows that it takes.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        self.filter.iter().chain(self.columns.iter().map(|column| &column.expr))
    }

    /// A condition over its columns from then on, over those of the rows; none if it is about
    /// others too.
    fn before(&self, term: &Expr) -> Option<Expr> {
        let column = |name: &str| self.columns.iter().find(|column| column.name == name);
        let columns = term.columns();
        let is_own = !columns.is_empty() && columns.iter().all(|name| column(name).is_some());
        is_own.then(|| {
            canonical(with_columns(term.clone(), &|name| Some(column(name)?.expr.clone())))
        })
    }

    /// With conditions where they choose rows first.
    fn settled(mut self) -> Self {
        (self.of, self.filter) = self.of.settled(self.filter);
        self
    }

    fn describe(&self) -> Vec<String> {
        let mut lines = Vec::new();
        self.of.describe(&mut lines);
        if let Some(filter) = &self.filter {
            lines.push(format!("where {filter}"));
        }
        lines
    }
}

impl Meet {
    /// How many different rows of a unit take part on each side at most.
    pub const MOST_ROWS: usize = PerUnit::MOST_ROWS;
    /// How many pairs of rows of a unit are looked at, and how many rows come out, at most.
    pub const MOST_PAIRS: usize = 1 << 16;

    /// How many they are in this one.
    #[must_use]
    pub fn most_pairs(&self) -> usize {
        self.most_pairs.unwrap_or(Self::MOST_PAIRS)
    }

    fn pruned(mut self, used: &BTreeSet<&str>) -> Self {
        self.either = self.either.take().filter(|either| used.contains(either.name.as_str()));
        let either = self.either.iter().map(|either| &either.expr);
        let own = self.exprs().chain(either).flat_map(Expr::columns);
        let used: BTreeSet<&str> = own.chain(used.iter().copied()).collect();
        let (left, right) = (self.left.clone().pruned(&used), self.right.clone().pruned(&used));
        (self.left, self.right) = (left, right);
        self
    }

    /// All expressions over pairs.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        self.equal.iter().flat_map(|(left, right)| [left, right]).chain(&self.condition)
    }

    fn describe(&self, lines: &mut Vec<String>) {
        lines.extend(self.left.describe());
        let equal = self.equal.iter().map(|(left, right)| format!("{left} = {right}"));
        let on = equal.chain(self.condition.iter().map(ToString::to_string));
        let on: String = on.map(|term| format!(" and {term}")).collect();
        let (how, kept) = match self.gives {
            Gives::Pairs => ("joined by the unit", ""),
            Gives::PairsAndLeft => ("joined by the unit", ", kept without"),
            Gives::PairsAndBoth => ("joined by the unit", ", both kept without"),
            Gives::LeftWith => ("if the unit has one", ""),
            Gives::LeftWithout => ("if the unit has none", ""),
        };
        lines.push(format!("{how}{on}{kept}, of:"));
        lines.extend(self.right.describe().into_iter().map(|line| format!("  {line}")));
    }
}

impl Union {
    fn pruned(self, used: &BTreeSet<&str>) -> Self {
        let branches = self.branches.into_iter().map(|branch| branch.pruned(used));
        Self { branches: branches.collect() }
    }

    fn describe(&self, lines: &mut Vec<String>) {
        lines.push(format!("rows of {} branches, one after the other:", self.branches.len()));
        for branch in &self.branches {
            let columns = branch.columns.iter().map(|column| {
                let name = identifier(&column.name);
                let is_same = matches!(&column.expr, Expr::Column(own) if *own == column.name);
                if is_same { name } else { format!("{} as {name}", column.expr) }
            });
            let columns: Vec<String> = columns.collect();
            lines.extend(branch.describe().into_iter().map(|line| format!("  {line}")));
            if !columns.is_empty() {
                lines.push(format!("  with {}", list(&columns)));
            }
        }
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
    /// The datasets whose rows they are, in the order in which they come first.
    #[must_use]
    pub fn datasets(&self) -> Vec<&str> {
        let mut all = Vec::new();
        self.name_datasets(&mut all);
        all
    }

    fn name_datasets<'s>(&'s self, all: &mut Vec<&'s str>) {
        match self {
            Self::Dataset(name) if all.contains(&name.as_str()) => {}
            Self::Dataset(name) => all.push(name),
            _ => self.sources().into_iter().for_each(|source| source.name_datasets(all)),
        }
    }

    /// What the rows come from, one step before, the left first.
    #[must_use]
    pub fn sources(&self) -> Vec<&Self> {
        match self {
            Self::Dataset(_) => Vec::new(),
            Self::PerUnit(per_unit) => vec![&per_unit.of],
            Self::Lookup(lookup) => vec![&lookup.of],
            Self::Meet(meet) => vec![&meet.left.of, &meet.right.of],
            Self::Union(union) => union.branches.iter().map(|branch| &branch.of).collect(),
        }
    }

    /// Lets no more than this number of pairs of a unit be looked at wherever rows meet.
    pub(crate) fn look_at_most(&mut self, pairs: usize) {
        match self {
            Self::Dataset(_) => {}
            Self::PerUnit(per_unit) => per_unit.of.look_at_most(pairs),
            Self::Lookup(lookup) => lookup.of.look_at_most(pairs),
            Self::Meet(meet) => {
                meet.most_pairs = (pairs < Meet::MOST_PAIRS).then_some(pairs);
                meet.left.of.look_at_most(pairs);
                meet.right.of.look_at_most(pairs);
            }
            Self::Union(union) => {
                union.branches.iter_mut().for_each(|branch| branch.of.look_at_most(pairs));
            }
        }
    }

    /// With conditions on rows that meet where they choose rows first, and what is left of one on
    /// the rows that come out: what is about one side alone chooses the rows of that side before
    /// they meet, unless a row would be kept that meets none.
    pub(crate) fn settled(self, filter: Option<Expr>) -> (Self, Option<Expr>) {
        match self {
            Self::Dataset(_) => (self, filter),
            Self::PerUnit(mut level) => {
                (level.of, level.filter) = level.of.settled(level.filter);
                (Self::PerUnit(level), filter)
            }
            Self::Lookup(mut lookup) => {
                (lookup.of, _) = lookup.of.settled(None);
                (Self::Lookup(lookup), filter)
            }
            Self::Union(union) => {
                let branches = union.branches.into_iter().map(UnitRows::settled).collect();
                (Self::Union(Box::new(Union { branches })), filter)
            }
            Self::Meet(meet) => {
                let Meet { mut left, mut right, equal, condition, gives, either, most_pairs } =
                    *meet;
                let (mut rest, mut of_left, mut of_right) = (Vec::new(), Vec::new(), Vec::new());
                for term in filter.iter().flat_map(|filter| filter.terms(Binary::And)) {
                    let keeps = gives == Gives::PairsAndBoth;
                    match (left.before(term), right.before(term)) {
                        (Some(term), _) if !keeps => of_left.push(term),
                        (_, Some(term)) if gives == Gives::Pairs => of_right.push(term),
                        _ => rest.push(term.clone()),
                    }
                }
                for (side, terms) in [(&mut left, of_left), (&mut right, of_right)] {
                    side.filter = conjunction(side.filter.take().into_iter().chain(terms));
                }
                let (left, right) = (left.settled(), right.settled());
                let meet = Meet { left, right, equal, condition, gives, either, most_pairs };
                (Self::Meet(Box::new(meet)), conjunction(rest.into_iter()))
            }
        }
    }

    /// Without totals that nothing uses, where these columns are used.
    pub(crate) fn pruned(self, used: &BTreeSet<&str>) -> Self {
        match self {
            Self::Dataset(_) => self,
            Self::PerUnit(per_unit) => Self::PerUnit(Box::new(per_unit.pruned(used))),
            Self::Lookup(lookup) => Self::Lookup(Box::new(lookup.pruned(used))),
            Self::Meet(meet) => Self::Meet(Box::new(meet.pruned(used))),
            Self::Union(union) => Self::Union(Box::new(union.pruned(used))),
        }
    }

    /// How many steps there are from the rows of datasets to these, at most. Where rows of several
    /// sources come together counts twice: it takes more levels of JSON.
    pub(crate) fn nested(&self) -> usize {
        let own = match self {
            Self::Dataset(_) => 0,
            Self::PerUnit(_) | Self::Lookup(_) => 1,
            Self::Meet(_) | Self::Union(_) => 2,
        };
        own + self.sources().into_iter().map(Self::nested).max().unwrap_or(0)
    }

    /// How often rows of datasets are taken.
    pub(crate) fn leaves(&self) -> usize {
        match self {
            Self::Dataset(_) => 1,
            _ => self.sources().into_iter().map(Self::leaves).sum(),
        }
    }

    /// In words, one thing a line.
    pub(crate) fn describe(&self, lines: &mut Vec<String>) {
        match self {
            Self::Dataset(name) => lines.push(format!("rows of {}", identifier(name))),
            Self::PerUnit(per_unit) => per_unit.describe(lines),
            Self::Lookup(lookup) => lookup.describe(lines),
            Self::Meet(meet) => meet.describe(lines),
            Self::Union(union) => union.describe(lines),
        }
    }
}

/// All of these conditions, which are canonical; none if there is none.
fn conjunction(terms: impl Iterator<Item = Expr>) -> Option<Expr> {
    let all = run(Binary::And, terms.collect());
    (all != Expr::Literal(Value::Bool(true))).then_some(all)
}

/// An expression with other ones for its columns, where there are some.
fn with_columns(expr: Expr, other: &dyn Fn(&str) -> Option<Expr>) -> Expr {
    match expr {
        Expr::Column(name) => other(&name).unwrap_or(Expr::Column(name)),
        expr => expr.map_children(|child| with_columns(child, other)),
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
