//! UNION ALL of private selections of one unit: the rows of one, and then those of the next.

use std::borrow::Cow;
use std::collections::BTreeSet;

use sqlparser::ast;

use crate::error::{TypeError, Unsupported, short};
use crate::expr::canonical::canonical;
use crate::frontend::bind::{Bound, one_type};
use crate::frontend::clauses::{no, none};
use crate::frontend::from::meet::{filters, largest, of_one_unit};
use crate::frontend::limits;
use crate::frontend::per_unit::{closed, named};
use crate::frontend::rows::{Field, Relation, Scope, Source};
use crate::plan::bounds;
use crate::plan::keys;
use crate::{
    Column, Expr, Protection, RowSource, SqlError, Table, Type, Union, UnitKey, UnitRows, Value,
};

impl<'a> Source<'a> {
    /// The rows of a UNION ALL.
    pub(crate) fn union(
        &self,
        body: &ast::SetExpr,
        scope: &Scope<'a>,
    ) -> Result<Relation<'a>, SqlError> {
        let (mut written, mut next) = (Vec::new(), body);
        while let ast::SetExpr::SetOperation { left, op, set_quantifier, right } = next {
            match (op, set_quantifier) {
                (ast::SetOperator::Union, ast::SetQuantifier::All) => {}
                (ast::SetOperator::Union, _) => {
                    return Err(no(
                        "UNION without ALL",
                        "which rows are the same would be about several units; write UNION ALL, and \
                         SELECT DISTINCT with the unit over it for rows of one that are the same",
                    ));
                }
                _ => {
                    return Err(none(
                        "INTERSECT and EXCEPT",
                        "write [NOT] EXISTS (SELECT 1 FROM … WHERE …) with an equality of the units",
                    ));
                }
            }
            written.push(&**right);
            next = left;
        }
        written.push(next);
        written.reverse();
        let branches = written.into_iter().map(|branch| self.branch(branch, scope));
        let branches = branches.collect::<Result<Vec<_>, _>>()?;
        together(&branches)
    }

    fn branch(&self, body: &ast::SetExpr, scope: &Scope<'a>) -> Result<Relation<'a>, SqlError> {
        let rows = self.usage.deeper(|| self.body(body, scope))?;
        if rows.table.protection == Protection::Public {
            return Err(Unsupported::UnionOfPublic { table: short(&rows.table.name) }.into());
        }
        Ok(rows)
    }
}

/// The rows of all branches.
fn together<'a>(branches: &[Relation<'a>]) -> Result<Relation<'a>, SqlError> {
    let Some((first, others)) = branches.split_first() else {
        return Err(Unsupported::NoFrom.into());
    };
    others.iter().try_for_each(|other| of_one_unit(first, other))?;
    if others.iter().any(|other| other.fields.len() != first.fields.len()) {
        return Err(no("UNION ALL of different numbers of columns", "select as many in each"));
    }
    if branches.iter().map(Relation::nested).max().unwrap_or(0) + 2 > limits::STEPS {
        return Err(limits::too_deep());
    }
    if branches.iter().map(Relation::leaves).sum::<usize>() > limits::SOURCES {
        return Err(limits::too_many_sources());
    }
    let all_at = |place: usize| -> Result<Vec<(Bound, String)>, SqlError> {
        let at = |branch: &Relation<'_>| {
            let field = &branch.fields[place];
            match &field.bound {
                Some(bound) => Ok((Bound::clone(bound), field.name.clone())),
                None => Err(TypeError::Column { column: short(&field.name) }.into()),
            }
        };
        branches.iter().map(at).collect()
    };
    let is_unit = |all: &[(Bound, String)]| {
        let is = |((bound, _), branch): (&(Bound, String), &Relation<'_>)| matches!(&bound.expr, Expr::Column(name) if name == branch.unit_column());
        all.iter().zip(branches).all(is)
    };
    let unit = first.unit_column().to_owned();
    // A column that is not the unit in all branches has another name.
    let mut known = vec![unit.clone()];
    let mut sides: Vec<Vec<UnitKey>> = vec![Vec::new(); branches.len()];
    let (mut columns, mut fields): (Vec<Column>, Vec<Field>) = (Vec::new(), Vec::new());
    for place in 0..first.fields.len() {
        let all = all_at(place)?;
        let field = &first.fields[place];
        let is_unit = is_unit(&all);
        let text = match &all[0].0.expr {
            Expr::Column(name) => name.clone(),
            expr => expr.to_string(),
        };
        let (exprs, kind) = one_type(all)?;
        let kind = kind.unwrap_or(Type::Text);
        let name =
            if is_unit { unit.clone() } else { named(text, &known.iter().map(String::as_str)) };
        let bound = Bound::new(Expr::Column(name.clone()), kind);
        fields.push(Field { hidden: field.hidden, ..Field::new(field.name.clone(), bound) });
        if columns.iter().any(|column| column.name == name) {
            continue;
        }
        known.push(name.clone());
        let exprs: Vec<Expr> =
            exprs.into_iter().map(|e| limits::checked(canonical(e))).collect::<Result<_, _>>()?;
        let is_there = |expr: &Expr| *expr != Expr::Literal(Value::Null);
        let between = exprs
            .iter()
            .zip(branches)
            .filter(|(expr, _)| is_there(expr))
            .map(|(expr, branch)| bounds::bounds(expr, &branch.table, branch.unit_column()));
        let hull = |one: (f64, f64), other: (f64, f64)| (one.0.min(other.0), one.1.max(other.1));
        let between = between.collect::<Option<Vec<_>>>();
        let between = between.and_then(|all| all.into_iter().reduce(hull));
        let values = exprs
            .iter()
            .zip(branches)
            .map(|(expr, branch)| keys::public(expr, kind, &branch.table));
        let values: Option<BTreeSet<Value>> =
            values.collect::<Option<Vec<_>>>().map(|all| all.into_iter().flatten().collect());
        columns.push(Column {
            name: name.clone(),
            kind: Some(kind),
            bounds: between.filter(|_| !is_unit),
            values: values.filter(|_| !is_unit).map(|values| values.into_iter().collect()),
        });
        for (side, expr) in sides.iter_mut().zip(exprs) {
            side.push(UnitKey { name: name.clone(), expr, kind });
        }
    }
    if first.parts.is_empty() && !columns.iter().any(|column| column.name == unit) {
        let kind = first.table.kind(&unit);
        columns.push(Column { name: unit.clone(), kind, bounds: None, values: None });
    }
    // Parts of the unit stay, whether they are selected or not.
    let mut parts = Vec::new();
    for (place, part) in first.parts.all().iter().enumerate() {
        let exprs = branches.iter().map(|branch| branch.parts.all()[place].clone());
        let exprs: Vec<Expr> = exprs.collect();
        let of = |side: &Vec<UnitKey>, expr: &Expr| {
            side.iter().filter(|key| key.expr == *expr).map(|key| key.name.clone()).collect()
        };
        let mut names = sides.iter().zip(&exprs).map(|(side, expr)| of(side, expr));
        let there: BTreeSet<String> = names.next().unwrap_or_default();
        let there = names.fold(there, |all, own: BTreeSet<String>| &all & &own);
        if let Some(name) = there.first() {
            parts.push(Expr::Column(name.clone()));
            continue;
        }
        let kinds = exprs.iter().zip(branches);
        let kinds = kinds.map(|(expr, branch)| expr.kind(&|name| branch.table.kind(name)));
        let kinds: Vec<Option<Type>> = kinds.collect();
        let Some(kind) = kinds[0].filter(|_| kinds.windows(2).all(|two| two[0] == two[1])) else {
            let (left, right) = (short(&first.table.name), short(&others[0].table.name));
            return Err(Unsupported::OtherParts { left, right }.into());
        };
        let text = match part {
            Expr::Column(name) => name.clone(),
            expr => expr.to_string(),
        };
        let name = named(text, &known.iter().map(String::as_str));
        known.push(name.clone());
        let (bounds, values) = (None, None);
        columns.push(Column { name: name.clone(), kind: Some(kind), bounds, values });
        for (side, expr) in sides.iter_mut().zip(exprs) {
            side.push(UnitKey { name: name.clone(), expr, kind });
        }
        parts.push(Expr::Column(name));
    }
    let side = |(branch, columns): (&Relation<'_>, Vec<UnitKey>)| {
        let filter = closed(filters(branch), "a branch of UNION ALL")?;
        Ok(UnitRows { of: branch.source(), unit: branch.unit_column().to_owned(), filter, columns })
    };
    let sides = branches.iter().zip(sides).map(side).collect::<Result<Vec<_>, SqlError>>()?;
    let passes = sides.iter().zip(branches).map(|(side, branch)| {
        let own = side.exprs().map(|expr| expr.passes(&|name| branch.table.kind(name)));
        branch.passes + own.sum::<usize>()
    });
    let passes = passes.max().unwrap_or(0);
    let protection = largest(branches.iter().map(|branch| &branch.table.protection), None);
    let table = Table { name: first.table.name.clone(), columns, protection };
    Ok(Relation {
        table: Cow::Owned(table),
        rows: Some(RowSource::Union(Box::new(Union { branches: sides }))),
        inline: None,
        unique: None,
        passes,
        filter: Vec::new(),
        fields,
        copies: Vec::new(),
        same_unit: Vec::new(),
        parts: first.parts.over(parts.into_iter()),
    })
}
