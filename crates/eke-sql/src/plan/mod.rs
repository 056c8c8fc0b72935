//! The private plan: what is computed from rows, in a form of our own that outlives engines.
//!
//! Invariants: every row that reaches a sum belongs to one unit, by the unit column of its dataset,
//! and is computed from rows of that unit and from public tables alone; sums are of integers, in
//! steps of a grid; what one unit can change them by follows from the plan. A plan's digest names
//! its noise paths for good: a change of what a plan means needs a new [`VERSION`].

pub(crate) mod aggregate;
pub(crate) mod averages;
pub(crate) mod bounds;
pub(crate) mod describe;
pub(crate) mod grid;
pub(crate) mod keys;
pub(crate) mod least;
pub(crate) mod measures;
pub(crate) mod narrow;
pub(crate) mod ranks;
pub(crate) mod rows;

use eke_budget::Adjacency;
use serde::{Deserialize, Serialize};

pub use least::LeastUnits;
pub use ranks::Rank;

use crate::{Expr, RowSource, Type, Value};

/// The version of the plan's form and meaning. 2: texts end after [`MAX_TEXT`](crate::MAX_TEXT)
/// bytes, numbers in texts after 400, and keys are NULL only where the question makes them so.
pub const VERSION: u32 = 2;

/// What is computed for a question, group by group.
///
/// A row takes part if its unit is not NULL and the filter is true for it. It belongs to the group
/// of its keys; where a key has public values, rows of other keys are dropped before anything is
/// bounded. A unit keeps `max_groups` of its groups, those with the smallest keyed hash of (unit,
/// group). In a group, each unit adds up each sum over its n rows, and where n is more than
/// `max_rows` the result is multiplied by `max_rows/n` and cut off towards zero. Where the rows
/// that count then in all its groups are more than `max_rows_in_all`, every result is multiplied by
/// `max_rows_in_all` over their number and cut off towards zero again: no row is left out.
/// Different values are counted over all units together ([`Summand::Distinct`]).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// [`VERSION`].
    pub version: u32,
    /// The dataset, or the first of them; [`Plan::datasets`] are all.
    pub dataset: String,
    /// The column that says which unit a row belongs to; empty where each row is a unit of its own.
    pub unit_column: String,
    /// Which datasets are neighbours.
    pub adjacency: Adjacency,
    /// Where the rows come from; if there is none, they are those of the dataset. Everything below
    /// is over their columns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<RowSource>,
    /// Which rows take part; all if there is none.
    pub filter: Option<Expr>,
    /// What rows are grouped by; with none there is one group.
    pub keys: Vec<Key>,
    /// What is added up, without repetition: the columns of the bundle, in this order.
    pub sums: Vec<Sum>,
    /// How many groups one unit may touch.
    pub max_groups: u32,
    /// How many rows one unit may count for in a group.
    pub max_rows: u32,
    /// How many rows one unit may count for in all groups together, where that is fewer than its
    /// groups allow: at least `max_rows`, and fewer than `max_groups` times as many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_rows_in_all: Option<u32>,
}

/// One of the expressions that rows are grouped by (partition key).
#[doc(alias = "partition")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// The expression.
    pub expr: Expr,
    /// Its type.
    #[serde(rename = "of")]
    pub kind: Type,
    /// Its values, sorted and distinct, where they are public: listed in the policy, or all that
    /// the expression can come to. If every key has them, all combinations are answered; if one has
    /// not, keys are selected privately among the combinations that occur.
    pub public: Option<Vec<Value>>,
}

/// Something that is added up: a column of the bundle. In steps of `2^exponent`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sum {
    /// What a row adds.
    #[serde(rename = "of")]
    pub summand: Summand,
    /// The step is two to this power.
    pub exponent: i32,
}

/// What a row adds to a sum.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Summand {
    /// One.
    Rows,
    /// One if the expression is not NULL.
    Present(Expr),
    /// One for a unit that has rows in the group, however many.
    Units,
    /// A number, clamped and centred: nothing if it is NULL, and otherwise its nearest step (halves
    /// up), clamped to `low..=high`, less `centre`. The expression is an int or a float.
    Value {
        /// The number.
        expr: Expr,
        /// The least that counts, in steps.
        low: i64,
        /// The most that counts, in steps.
        high: i64,
        /// What is taken off, in steps.
        centre: i64,
    },
    /// One for each value that occurs in the group and is not NULL, however many units have it
    /// (count distinct). Of each unit's values in a group `most` take part, those with the smallest
    /// keyed hash of (group, unit, value). It is no sum over units, and is not scaled by rows.
    #[doc(alias = "count distinct")]
    Distinct {
        /// What is counted.
        expr: Expr,
        /// Its type.
        #[serde(rename = "of")]
        kind: Type,
        /// How many values of one unit take part in a group.
        most: u32,
    },
    /// Where values lie: a row whose expression is not NULL counts as one at its nearest place of
    /// the grid (halves up), clamped to `low..=high`, places being whole numbers of steps of
    /// `2^grid`. What is released is, at a cut, how many rows are at most there, less how many are
    /// beyond (signed rank), and how many there are. A date counts in days, a timestamp in
    /// microseconds.
    #[doc(alias = "quantile")]
    Ranks {
        /// What is ordered.
        expr: Expr,
        /// Its type.
        #[serde(rename = "of")]
        kind: Type,
        /// The least place.
        low: i64,
        /// The largest place.
        high: i64,
        /// The steps between places are two to this power.
        grid: i32,
    },
}

impl Plan {
    /// All datasets whose rows it takes, the first one first.
    #[must_use]
    pub fn datasets(&self) -> Vec<&str> {
        match &self.rows {
            Some(rows) => rows.datasets(),
            None => vec![&self.dataset],
        }
    }

    /// All expressions over its rows.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let sums = self.sums.iter().filter_map(Sum::expr);
        self.filter.iter().chain(self.keys.iter().map(|key| &key.expr)).chain(sums)
    }

    /// What names the plan for good: BLAKE3 over a domain separator, the version and the JSON of
    /// the plan.
    ///
    /// The same question, written differently in trivial ways, has the same digest; see
    /// [`crate::canonical()`].
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"eke plan\0");
        hasher.update(&VERSION.to_le_bytes());
        // Plans are made of texts, numbers that are finite and lists: writing one out does not
        // fail.
        hasher.update(&serde_json::to_vec(self).unwrap_or_default());
        *hasher.finalize().as_bytes()
    }
}

impl Sum {
    /// The step, in the unit of what is added up.
    #[must_use]
    pub fn step(&self) -> f64 {
        crate::plan::grid::power(self.exponent)
    }

    /// What "one" is, in steps. The exponent of counts is not positive.
    #[must_use]
    pub fn one(&self) -> i64 {
        1i64 << u32::try_from(-self.exponent).unwrap_or(0).min(62)
    }

    /// The expression that it is of; none where rows or units are counted.
    #[must_use]
    pub fn expr(&self) -> Option<&Expr> {
        match &self.summand {
            Summand::Present(expr)
            | Summand::Value { expr, .. }
            | Summand::Distinct { expr, .. }
            | Summand::Ranks { expr, .. } => Some(expr),
            Summand::Rows | Summand::Units => None,
        }
    }

    /// Whether rows are added up, and not each unit or value counted once.
    #[must_use]
    pub fn adds_rows(&self) -> bool {
        match self.summand {
            Summand::Rows | Summand::Present(_) | Summand::Value { .. } | Summand::Ranks { .. } => {
                true
            }
            Summand::Units | Summand::Distinct { .. } => false,
        }
    }

    /// Whether one unit can change it in one direction only, when it is added or removed: all that
    /// counts has the same sign.
    #[must_use]
    pub fn is_one_way(&self) -> bool {
        match &self.summand {
            // A unit that is added brings values, and takes none away.
            Summand::Rows | Summand::Present(_) | Summand::Units | Summand::Distinct { .. } => true,
            Summand::Value { low, high, centre, .. } => low >= centre || high <= centre,
            Summand::Ranks { .. } => false,
        }
    }

    /// What one unit can change the sum of a group by, in steps, when it is added or removed.
    #[must_use]
    pub fn sensitivity(&self, max_rows: u32) -> u64 {
        let row = match &self.summand {
            Summand::Units => return self.one().unsigned_abs(),
            Summand::Distinct { most, .. } => {
                return self.one().unsigned_abs().saturating_mul(u64::from(*most));
            }
            Summand::Rows | Summand::Present(_) | Summand::Ranks { .. } => {
                self.one().unsigned_abs()
            }
            Summand::Value { low, high, centre, .. } => {
                low.abs_diff(*centre).max(high.abs_diff(*centre))
            }
        };
        row.saturating_mul(u64::from(max_rows))
    }

    /// The least and the most that one unit can add to the sum of a group, in steps: nothing is
    /// among what it can add. One that is replaced changes it by no more than their difference:
    /// values that are counted go with one unit and come with the other, at most `most` each, and
    /// only what one way has more than the other is left.
    #[must_use]
    pub fn contribution(&self, max_rows: u32) -> (i64, i64) {
        let (low, high) = match &self.summand {
            Summand::Units => return (0, self.one()),
            Summand::Distinct { most, .. } => {
                return (0, self.one().saturating_mul(i64::from(*most)));
            }
            Summand::Rows | Summand::Present(_) => (0, self.one()),
            Summand::Ranks { .. } => (-self.one(), self.one()),
            Summand::Value { low, high, centre, .. } => {
                (low.saturating_sub(*centre), high.saturating_sub(*centre))
            }
        };
        let rows = i64::from(max_rows);
        (low.saturating_mul(rows).min(0), high.saturating_mul(rows).max(0))
    }
}

/// A question: a plan, and what is done with what was released (post-processing).
#[doc(alias = "post-processing")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Query {
    /// What is computed from rows.
    pub plan: Plan,
    /// The values of each group, those that are shown and those that are only sorted or filtered
    /// by.
    pub measures: Vec<Measure>,
    /// What is shown of each group, in this order.
    pub outputs: Vec<Output>,
    /// What is shown beside keys and values and costs nothing: constants, and expressions over
    /// keys.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub of_keys: Vec<Expr>,
    /// Which groups are shown: those for which it is true. Over keys and measures.
    pub having: Option<Expr>,
    /// What they are sorted by. Over keys and measures. Then by their keys.
    pub order: Vec<Order>,
    /// How many are left out at the start.
    pub offset: u64,
    /// How many are shown; all if there is none.
    pub limit: Option<u64>,
    /// How often its expressions go through texts, for one row. It does not depend on rows.
    pub passes: usize,
    /// How many units a row must be about to be shown, where the policy says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least: Option<LeastUnits>,
    /// What quantiles are searched in, over the rows of the plan: each has paths of its own, which
    /// are none of the columns of the plan's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub searches: Vec<Sum>,
}

impl Query {
    /// The sum that groups are sorted by, the largest first; none if they are sorted otherwise
    /// first, or not.
    #[must_use]
    pub fn largest_first(&self) -> Option<usize> {
        if self.has_totals() {
            // A total is of all groups.
            return None;
        }
        match self.order.first() {
            Some(Order { by: Expr::Measure(measure), descending: true, .. }) => {
                match self.measures.get(*measure) {
                    Some(Measure::Sum(sum)) if !self.plan.keys.is_empty() => Some(*sum),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The plan of all that is computed from its rows in one pass: what is added up, and then what
    /// quantiles are searched in.
    #[must_use]
    pub fn reading(&self) -> Plan {
        let mut plan = self.plan.clone();
        plan.sums.extend(self.searches.iter().cloned());
        plan
    }

    /// The plan of one of the searches alone: what names its paths.
    #[must_use]
    pub fn searching(&self, search: usize) -> Plan {
        let sums = self.searches.get(search).cloned().into_iter().collect();
        Plan { sums, ..self.plan.clone() }
    }

    /// Whether something is a share of a total over all groups.
    #[must_use]
    pub fn has_totals(&self) -> bool {
        self.measures.iter().any(|measure| matches!(measure, Measure::Total(_)))
    }

    /// Whether a value is shown, and not keys alone.
    #[must_use]
    pub fn shows_values(&self) -> bool {
        self.outputs.iter().any(|output| output.shows.measure().is_some())
    }
}

/// A value that is released for each group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// A sum of the plan, by its index: its steps times the step. Counts and sums.
    Sum(usize),
    /// A centred sum over a count, both by their index, plus the centre; an average of values
    /// between `low` and `high`.
    Average {
        /// The centred sum.
        sum: usize,
        /// The count of what is not NULL.
        count: usize,
    },
    /// A sum of the plan over all groups of the question together, by its index: the total that
    /// shares are of. It stands only among what another measure is made of, and its noise is that
    /// of the groups.
    Total(usize),
    /// What is made of other measures: of those that follow it in the question, which are there
    /// for it alone. Its goal is that of the value; they have none.
    Derived {
        /// A number, over keys and the measures that follow.
        value: Expr,
        /// How many follow for it, one at least. None of them is derived.
        parts: usize,
    },
    /// A sum of the plan, by its index, that is never shown and has no goal: it is seen as far as
    /// the values beside it take their group.
    Beside(usize),
    /// One of the values of the rows, in their order.
    Quantile {
        /// The search that it is found by, by its index.
        search: usize,
        /// Which of the values.
        rank: Rank,
    },
}

/// A column of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// Its name: the alias, or the expression as it was written.
    pub name: String,
    /// What it shows.
    pub shows: Shows,
}

/// What a column of an answer shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shows {
    /// A key, by its index.
    Key(usize),
    /// A constant or what follows from keys, by its index in [`Query::of_keys`].
    OfKeys(usize),
    /// A measure, by its index.
    Measure(usize),
    /// The lower end of a measure's interval.
    Low(usize),
    /// The upper end of a measure's interval.
    High(usize),
    /// Whether a measure is as good as was asked for.
    Met(usize),
    /// Nothing: the rows are totals over a key of the other sets of GROUP BY.
    All,
}

impl Shows {
    /// The measure that it shows, or shows something of; none for a key, and what is over one.
    #[must_use]
    pub fn measure(self) -> Option<usize> {
        match self {
            Self::Key(_) | Self::OfKeys(_) | Self::All => None,
            Self::Measure(index) | Self::Low(index) | Self::High(index) | Self::Met(index) => {
                Some(index)
            }
        }
    }
}

/// One of the expressions that an answer is sorted by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// The expression.
    pub by: Expr,
    /// Whether the largest comes first.
    pub descending: bool,
    /// Whether NULL comes first.
    pub nulls_first: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever the rows of a unit are, what it adds is within what is said: by being there and
        /// by being another.
        #[test]
        fn a_unit_swings_a_sum_by_no_more_than_is_said(
            low in -1000i64..1000,
            width in 0i64..1000,
            centred in any::<bool>(),
            max_rows in 1u32..5,
            rows in prop::collection::vec((0i64..=1000, any::<bool>()), 0..9),
        ) {
            let (high, centre) = (low + width, if centred { low + width / 2 } else { 0 });
            let expr = Expr::Literal(Value::Null);
            let sum = Sum { summand: Summand::Value { expr, low, high, centre }, exponent: 0 };
            let count = i64::try_from(rows.len()).unwrap();
            let add = |total: i64, (value, null): &(i64, bool)| {
                if *null { total } else { total + (low + value % (width + 1) - centre) }
            };
            let total = rows.iter().fold(0, add);
            let most = i64::from(max_rows);
            let total = if count > most { total * most / count } else { total };
            let (least, largest) = sum.contribution(max_rows);
            prop_assert!((least..=largest).contains(&total), "{least} {total} {largest}");
            prop_assert!(least <= 0 && largest >= 0);
            let ends = least.unsigned_abs().max(largest.unsigned_abs());
            prop_assert_eq!(ends, sum.sensitivity(max_rows));
        }
    }

    #[test]
    fn a_unit_adds_to_counts_and_takes_nothing_off() {
        let rows = Sum { summand: Summand::Rows, exponent: -3 };
        let units = Sum { summand: Summand::Units, exponent: -3 };
        assert_eq!((rows.contribution(5), units.contribution(5)), ((0, 40), (0, 8)));
        // However many rows: of its values some take part.
        let (expr, kind) = (Expr::Column("x".to_owned()), Type::Text);
        let values = Sum { summand: Summand::Distinct { expr, kind, most: 3 }, exponent: -3 };
        assert_eq!((values.contribution(5), values.sensitivity(5)), ((0, 24), 24));
        assert!(values.is_one_way());
    }
}
