//! Which values a key can have, where that is public: from the policy, or from the expression
//! itself.
//!
//! Any list of values is safe, as it does not depend on rows: those with other keys are left out.
//! NULL is listed where the question itself makes it (CASE without ELSE, `nullif`, a division), and
//! not where it can only come from a cell that is missing: any cell may be, and a row of noise for
//! each key would be the rule. `coalesce` asks for those.

use std::collections::BTreeSet;

use crate::error::{BoundsError, LimitError, short};
use crate::expr::evaluate::{cast, evaluate};
use crate::frontend::limits;
use crate::{Expr, Function, Key, SqlError, Table, Type, Value};

/// The values of a key, if they are public.
pub(crate) fn public(expr: &Expr, kind: Type, table: &Table) -> Option<Vec<Value>> {
    let policy = Policy { table };
    let values = policy.range(expr).or_else(|| policy.image_of_listed(expr))?;
    let plain = |value: &Value| !matches!(value, Value::Float(float) if !float.is_finite());
    let fits = |value: &Value| value.kind().is_none_or(|own| own == kind);
    Some(values.into_iter().filter(|value| plain(value) && fits(value)).collect())
}

/// How many groups there are, if all keys are public.
pub(crate) fn groups(keys: &[Key]) -> Result<Option<u64>, SqlError> {
    let mut product = 1u64;
    for key in keys {
        let Some(values) = &key.public else { return Ok(None) };
        if values.is_empty() {
            return Err(BoundsError::NoValues { key: short(&key.expr) }.into());
        }
        product = product.saturating_mul(u64::try_from(values.len()).unwrap_or(u64::MAX));
    }
    if product > limits::GROUPS {
        return Err(LimitError::Groups { groups: product, most: limits::GROUPS }.into());
    }
    // The keys of all groups are written out, each with a text of its own.
    let bytes = keys.iter().filter_map(|key| key.public.as_ref()).map(|values| {
        let length = |value: &Value| if let Value::Text(text) = value { text.len() } else { 0 };
        let own: u64 = values.iter().map(|value| length(value) as u64).sum();
        own.saturating_mul(product / (values.len() as u64).max(1))
    });
    if bytes.fold(0, u64::saturating_add) > limits::KEY_BYTES {
        let most_megabytes = limits::KEY_BYTES >> 20;
        return Err(LimitError::KeyText { groups: product, most_megabytes }.into());
    }
    Ok(Some(product))
}

struct Policy<'a> {
    table: &'a Table,
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
                if !self.makes_null(expr) {
                    all.remove(&Value::Null);
                }
                Some(all)
            }
            // Years have too long a range to be keys without being asked for.
            Expr::Call(function, arguments)
                if !matches!(function, Function::Year | Function::IsoYear) =>
            {
                let buckets = expr.buckets().filter(|count| count.unsigned_abs() < limits::GROUPS);
                let range = buckets.map(|count| (0, count + 1)).or_else(|| function.range());
                let Some((low, high)) = range else { return self.truths(expr) };
                let null = arguments.iter().any(|one| self.makes_null(one)).then_some(Value::Null);
                Some((low..=high).map(Value::Int).chain(null).collect())
            }
            other => self.truths(other),
        }
    }

    /// False and true, and NULL if it makes that, if it is a condition.
    fn truths(&self, expr: &Expr) -> Option<BTreeSet<Value>> {
        let null = self.makes_null(expr).then_some(Value::Null);
        let truths = [false, true].map(Value::Bool).into_iter().chain(null);
        (self.kind(expr) == Some(Type::Bool)).then(|| truths.collect())
    }

    /// What it comes to for each listed value of the one column it takes, and for a cell that is
    /// NULL if that is something.
    fn image_of_listed(&self, expr: &Expr) -> Option<BTreeSet<Value>> {
        let columns = expr.columns();
        let [column] = columns.as_slice() else { return None };
        let listed = self.listed(column)?;
        let image = |value: Value| evaluate(expr, &|_| value.clone());
        let missing = Some(image(Value::Null)).filter(|value| *value != Value::Null);
        Some(listed.into_iter().map(image).chain(missing).collect())
    }

    /// Whether it is NULL for some rows whose cells are all there.
    fn makes_null(&self, expr: &Expr) -> bool {
        expr.makes_null(&|name| self.table.kind(name))
    }

    /// The values that the policy lists for a column, as its type.
    fn listed(&self, name: &str) -> Option<BTreeSet<Value>> {
        let column = self.table.column(name)?;
        let (values, kind) = (column.values.as_ref()?, column.kind?);
        let typed = values.iter().map(|value| (value, cast(value.clone(), kind)));
        // A value that is none of the column's type cannot occur.
        Some(
            typed
                .filter(|(value, typed)| **value == Value::Null || *typed != Value::Null)
                .map(|(_, typed)| typed)
                .collect(),
        )
    }

    fn kind(&self, expr: &Expr) -> Option<Type> {
        expr.kind(&|name| self.table.kind(name))
    }
}
