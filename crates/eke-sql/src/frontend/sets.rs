//! GROUP BY with totals: ROLLUP, CUBE and GROUPING SETS.
//!
//! Such a question is several, one for each set of keys (grouping set), each with a plan and paths
//! of its own. A row takes part in all of them or in none: what has no listed key in the table has
//! none in its margins either.

use sqlparser::ast;

use crate::SqlError;
use crate::error::{Unsupported, short};
use crate::expr::canonical::{canonical, run};
use crate::frontend::bind::Bound;
use crate::frontend::clauses::{GroupBy, clauses, no, parts};
use crate::frontend::limits;
use crate::frontend::parse;
use crate::frontend::question::without_top;
use crate::{Binary, Expr, Type, Unary, Value};

/// The most sets of one question.
const MOST: usize = 32;

/// How many questions one is: one for each set of keys in GROUP BY, one if there are no sets.
///
/// # Errors
///
/// The question is no SQL that is supported; the sentence says where.
pub fn levels(sql: &str) -> Result<usize, SqlError> {
    parse::on_own_stack(|| {
        let (query, _) = parse::parse(sql)?;
        let (_, mut body, _, mut limit) = parts(&query)?;
        while let ast::SetExpr::Query(inner) = body {
            (_, body, _, limit) = parts(inner)?;
        }
        let ast::SetExpr::Select(select) = body else { return Ok(1) };
        let (select, _) = without_top(select, limit)?;
        let GroupBy::Keys(keys) = clauses(&select)?.group_by else { return Ok(1) };
        Ok(Sets::of(keys)?.map_or(1, |sets| sets.sets.len()))
    })
}

/// The keys that GROUP BY has in all, as they were written, and the sets of them: the largest
/// first.
pub(crate) struct Sets<'q> {
    pub(crate) keys: Vec<&'q ast::Expr>,
    pub(crate) sets: Vec<Vec<usize>>,
}

impl<'q> Sets<'q> {
    /// Those of a GROUP BY; none if it has keys alone.
    pub(crate) fn of(group_by: &'q [ast::Expr]) -> Result<Option<Self>, SqlError> {
        use ast::Expr as E;
        if !group_by.iter().any(|e| matches!(e, E::Rollup(_) | E::Cube(_) | E::GroupingSets(_))) {
            return Ok(None);
        }
        let mut all: Vec<Vec<&E>> = vec![Vec::new()];
        for part in group_by {
            let own: Vec<Vec<&E>> = match part {
                E::Rollup(lists) => {
                    (0..=lists.len()).rev().map(|n| lists[..n].iter().flatten().collect()).collect()
                }
                E::Cube(lists) if lists.len() < usize::BITS as usize => {
                    let most = 1usize.checked_shl(u32::try_from(lists.len()).unwrap_or(u32::MAX));
                    let most = most.filter(|most| *most <= MOST).ok_or_else(too_many)?;
                    let of = |set: usize| {
                        let lists = lists.iter().enumerate();
                        lists.filter(|(n, _)| set >> n & 1 == 1).flat_map(|(_, one)| one).collect()
                    };
                    (0..most).map(of).collect()
                }
                E::Cube(_) => return Err(too_many()),
                E::GroupingSets(lists) => lists.iter().map(|list| list.iter().collect()).collect(),
                key => vec![vec![key]],
            };
            if all.len().saturating_mul(own.len()) > MOST {
                return Err(too_many());
            }
            let with = |before: &Vec<&'q E>| {
                let before = before.clone();
                own.iter().map(move |more| [&before[..], more].concat()).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(with).collect();
        }
        let mut keys: Vec<&E> = Vec::new();
        for key in all.iter().flatten() {
            if !keys.contains(key) {
                keys.push(key);
            }
        }
        let mut sets: Vec<Vec<usize>> = Vec::new();
        for set in &all {
            let is_in = |place: &usize| set.contains(&keys[*place]);
            let set: Vec<usize> = (0..keys.len()).filter(is_in).collect();
            if !sets.contains(&set) {
                sets.push(set);
            }
        }
        sets.sort_by_key(|set| std::cmp::Reverse(set.len()));
        Ok(Some(Self { keys, sets }))
    }

    /// The keys of one level, and what its rows are totals over; given all keys as they were
    /// written, and which values of a key are public.
    pub(crate) fn level(
        &self,
        level: usize,
        all: &[Bound],
        public: impl Fn(&Expr, Type) -> Option<Vec<Value>>,
    ) -> Result<(Vec<Bound>, Totals), SqlError> {
        let set = self.sets.get(level).ok_or_else(no_sets)?;
        let mut totals = Totals::default();
        for key in all {
            let listed = is_listed(key, &public)?;
            // The rows of one level are those of all.
            if !set.iter().any(|&place| all[place].expr == key.expr) {
                totals.listed.push(listed);
                totals.over.push(key.expr.clone());
            }
        }
        Ok((set.iter().map(|&place| all[place].clone()).collect(), totals))
    }
}

/// What the rows of a level are totals over.
#[derive(Default)]
pub(crate) struct Totals {
    /// The keys that it has no values of.
    pub(crate) over: Vec<Expr>,
    /// Conditions that hold for rows with a listed value of each of them.
    pub(crate) listed: Vec<Expr>,
}

fn too_many() -> SqlError {
    no("more than 32 sets of keys in one GROUP BY", "ask for fewer totals")
}

/// The sentence for sets where one question is planned.
pub(crate) fn no_sets() -> SqlError {
    no("ROLLUP, CUBE or GROUPING SETS here", "ask for one GROUP BY at a time")
}

/// Whether a row has a listed value of a key that a total is over: others are in no row of the
/// table.
fn is_listed(
    key: &Bound,
    public: &impl Fn(&Expr, Type) -> Option<Vec<Value>>,
) -> Result<Expr, SqlError> {
    let kind = key.kind.unwrap_or(Type::Text);
    let Some(mut values) = public(&key.expr, kind) else {
        return Err(Unsupported::form(
            &short(&key.expr),
            "ROLLUP, CUBE and GROUPING SETS have keys whose values are public: list them in the \
             policy, or ask for one GROUP BY at a time",
        ));
    };
    let before = values.len();
    values.retain(|value| *value != Value::Null);
    let has_null = values.len() < before;
    let boxed = || Box::new(key.expr.clone());
    let among = Expr::In(boxed(), values);
    let listed = if has_null {
        let is_null = Expr::Unary(Unary::IsNull, boxed());
        run(Binary::Or, vec![canonical(among), canonical(is_null)])
    } else {
        canonical(among)
    };
    limits::checked(listed)
}
