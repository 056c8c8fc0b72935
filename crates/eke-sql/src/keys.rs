//! Which values a key can have, where that is public: from the policy, or from the expression itself.

use std::collections::BTreeSet;

use crate::evaluate::cast;
use crate::{Expr, Function, Key, SqlError, Table, Type, Value, evaluate, limits};

/// The values of a key, if they are public.
pub(crate) fn public(
    expr: &Expr,
    of: Type,
    table: &Table,
    unit_column: &str,
) -> Option<Vec<Value>> {
    let policy = Policy { table, unit_column };
    let values = policy.range(expr).or_else(|| policy.worked_out(expr))?;
    let plain = |value: &Value| !matches!(value, Value::Float(float) if !float.is_finite());
    let fits = |value: &Value| value.kind().is_none_or(|own| own == of);
    Some(values.into_iter().filter(|value| plain(value) && fits(value)).collect())
}

/// How many groups there are, if all keys are public.
pub(crate) fn groups(keys: &[Key]) -> Result<Option<u64>, SqlError> {
    let mut product = 1u64;
    for key in keys {
        let Some(values) = &key.public else { return Ok(None) };
        if values.is_empty() {
            return Err(SqlError::bounds(format!(
                "The key `{}` has no values in the policy: list some there, or leave the list out",
                crate::error::line(&key.expr.to_string(), 60)
            )));
        }
        product = product.saturating_mul(u64::try_from(values.len()).unwrap_or(u64::MAX));
    }
    if product > limits::GROUPS {
        return Err(SqlError::limit(format!(
            "The keys have {product} combinations, and {} at most are answered: group by fewer keys, or by \
             coarser ones",
            limits::GROUPS
        )));
    }
    Ok(Some(product))
}

struct Policy<'a> {
    table: &'a Table,
    unit_column: &'a str,
}

impl Policy<'_> {
    /// What the expression can come to, from its form.
    fn range(&self, expr: &Expr) -> Option<BTreeSet<Value>> {
        let union = |exprs: &mut dyn Iterator<Item = &Expr>| {
            let mut all = BTreeSet::new();
            for expr in exprs {
                all.extend(self.range(expr)?);
            }
            Some(all)
        };
        match expr {
            Expr::Literal(value) => Some(BTreeSet::from([value.clone()])),
            Expr::Column(name) if self.listed(name).is_some() => self.listed(name),
            Expr::Case { branches, otherwise } => {
                let results = branches.iter().map(|(_, result)| result);
                let mut all = union(&mut results.chain(otherwise.as_deref()))?;
                if otherwise.is_none() {
                    all.insert(Value::Null);
                }
                Some(all)
            }
            Expr::Call(Function::Coalesce, arguments) => {
                let mut all = union(&mut arguments.iter())?;
                if arguments.iter().any(|one| one.never_null(self.unit_column)) {
                    all.remove(&Value::Null);
                }
                Some(all)
            }
            Expr::Call(function, _) => {
                // Years have too long a range to be keys without being asked for.
                let (low, high) = function.range().filter(|_| *function != Function::Year)?;
                Some((low..=high).map(Value::Int).chain([Value::Null]).collect())
            }
            other if self.kind(other) == Some(Type::Bool) => {
                let mut all = BTreeSet::from([Value::Bool(false), Value::Bool(true)]);
                if !other.never_null(self.unit_column) {
                    all.insert(Value::Null);
                }
                Some(all)
            }
            _ => None,
        }
    }

    /// What it comes to for each listed value of the one column it takes, and for NULL.
    fn worked_out(&self, expr: &Expr) -> Option<BTreeSet<Value>> {
        let columns = expr.columns();
        let [column] = columns.as_slice() else { return None };
        let listed = self.listed(column)?;
        let values = listed.into_iter().chain([Value::Null]);
        Some(values.map(|value| evaluate(expr, &|_| value.clone())).collect())
    }

    /// The values that the policy lists for a column, as its type.
    fn listed(&self, name: &str) -> Option<BTreeSet<Value>> {
        let column = self.table.column(name)?;
        let (values, of) = (column.values.as_ref()?, column.of?);
        let typed = values.iter().map(|value| (value, cast(value.clone(), of)));
        // A value that is none of the column's type cannot occur.
        Some(
            typed
                .filter(|(value, typed)| **value == Value::Null || *typed != Value::Null)
                .map(|(_, typed)| typed)
                .collect(),
        )
    }

    fn kind(&self, expr: &Expr) -> Option<Type> {
        expr.kind(&|name| self.table.column(name).and_then(|column| column.of))
    }
}
