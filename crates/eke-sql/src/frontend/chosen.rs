//! Subqueries in WHERE that choose rows: `[NOT] EXISTS (SELECT …)` and `x [NOT] IN (SELECT …)`.
//!
//! Over a private table a row is chosen by rows of its own unit; over a public one, by what the
//! table says about it.

use std::borrow::Cow;
use std::rc::Rc;

use sqlparser::ast;

use crate::error::{Unsupported, short};
use crate::expr::canonical::canonical;
use crate::frontend::bind::{Bound, equal};
use crate::frontend::clauses::{Clauses, GroupBy, clauses, no, none, parts};
use crate::frontend::from::join::LookedUp;
use crate::frontend::from::meet::{Meeting, conjunction};
use crate::frontend::limits;
use crate::frontend::rows::{Field, Relation, Scope, Source};
use crate::{Chooses, Expr, Gives, Lookup, RowSource, SqlError};

/// An expression, and how it is written.
pub(crate) type Written = (Bound, String);

/// A condition that a subquery decides.
struct Choice<'q> {
    /// What is looked for among what the subquery selects; none for EXISTS.
    sought: Option<&'q ast::Expr>,
    subquery: &'q ast::Query,
    negated: bool,
}

/// A subquery that chooses rows.
struct Chooser<'q, 'a> {
    /// Its rows, before conditions that are about the rows around it too.
    rows: Relation<'a>,
    /// Conditions that may be.
    conditions: Vec<&'q ast::Expr>,
    /// What it selects, as it is written; nothing if it stands by itself.
    selected: Vec<&'q ast::Expr>,
}

impl<'a> Source<'a> {
    /// The rows that the subqueries of a WHERE choose, and what is left of it.
    pub(crate) fn chosen<'q>(
        &self,
        mut rows: Relation<'a>,
        selection: Option<&'q ast::Expr>,
        scope: &Scope<'a>,
    ) -> Result<(Relation<'a>, Option<Cow<'q, ast::Expr>>), SqlError> {
        let Some(selection) = selection else { return Ok((rows, None)) };
        let (choices, others) = split(selection);
        if choices.is_empty() {
            return Ok((rows, Some(Cow::Borrowed(selection))));
        }
        // Other conditions first: rows that they leave out need not be looked at.
        let mut left = None;
        if let Some(others) = together(others) {
            let condition = canonical(self.binder(&rows, "WHERE").condition(&others)?);
            if condition.columns().iter().any(|name| name.starts_with('\0')) {
                left = Some(Cow::Owned(others));
            } else {
                rows.filter.push(Rc::new(limits::checked(condition)?));
            }
        }
        for choice in choices {
            rows = self.usage.deeper(|| self.choice(&rows, &choice, scope))?;
        }
        Ok((rows, left))
    }

    fn choice(
        &self,
        rows: &Relation<'a>,
        choice: &Choice<'_>,
        scope: &Scope<'a>,
    ) -> Result<Relation<'a>, SqlError> {
        if rows.is_public() {
            return Err(Unsupported::PublicTable { table: short(&rows.table.name) }.into());
        }
        let Choice { sought, subquery, negated } = choice;
        let written: Vec<&ast::Expr> = match sought {
            None => Vec::new(),
            Some(ast::Expr::Tuple(all)) => all.iter().collect(),
            Some(one) => vec![one],
        };
        let chooser = self.chooser(subquery, written.len(), scope)?;
        let sought = written
            .into_iter()
            .map(|one| Ok((self.binder(rows, "WHERE").bind(one)?.canonical()?, short(one))));
        let sought: Vec<Written> = sought.collect::<Result<_, SqlError>>()?;
        if chooser.rows.is_public() {
            self.chosen_by_public(rows, &chooser, sought, *negated)
        } else {
            self.chosen_by_private(rows, &chooser, sought, *negated)
        }
    }

    /// What a subquery takes to choose rows.
    fn chooser<'q>(
        &self,
        query: &'q ast::Query,
        selects: usize,
        scope: &Scope<'a>,
    ) -> Result<Chooser<'q, 'a>, SqlError> {
        let (with, body, order_by, limit) = parts(query)?;
        if order_by.is_some() || limit.is_some() {
            return Err(none(
                "ORDER BY and LIMIT inside EXISTS and IN",
                "whether there is a row does not depend on them; take them out",
            ));
        }
        let scope = self.with(with, scope.clone())?;
        if let ast::SetExpr::Query(inner) = body {
            return self.usage.deeper(|| self.chooser(inner, selects, &scope));
        }
        let select = match body {
            ast::SetExpr::Select(select) => Some(clauses(select)?),
            _ => None,
        };
        let Some(Clauses { projection, from, selection, having: None, .. }) =
            select.filter(|clauses| matches!(clauses.group_by, GroupBy::Keys([])))
        else {
            // Whatever it is, it stands by itself.
            let rows = self.body(body, &scope)?;
            if rows.fields.len() != selects {
                return Err(none(
                    "EXISTS with GROUP BY or UNION, and IN with other columns than are sought",
                    "write EXISTS (SELECT 1 FROM (SELECT …) AS x WHERE x.unit = t.unit)",
                ));
            }
            return Ok(Chooser { rows, conditions: Vec::new(), selected: Vec::new() });
        };
        let (choices, conditions) = selection.map_or_else(Default::default, split);
        let mut rows = self.from(from, &scope)?;
        for choice in choices {
            rows = self.usage.deeper(|| self.choice(&rows, &choice, &scope))?;
        }
        let selected = projection.iter().filter_map(|item| match item {
            ast::SelectItem::UnnamedExpr(expr) | ast::SelectItem::ExprWithAlias { expr, .. } => {
                Some(expr)
            }
            _ => None,
        });
        let selected: Vec<&ast::Expr> = selected.collect();
        if selects > 0 && (projection.len() != selects || selected.len() != selects) {
            return Err(no(
                "IN with other columns than are sought, or *",
                "select one column, or as many as stand before IN in parentheses",
            ));
        }
        Ok(Chooser { rows, conditions, selected })
    }

    /// Rows chosen by rows of their own unit.
    fn chosen_by_private(
        &self,
        rows: &Relation<'a>,
        chooser: &Chooser<'_, 'a>,
        sought: Vec<Written>,
        negated: bool,
    ) -> Result<Relation<'a>, SqlError> {
        let gives = if negated { Gives::LeftWithout } else { Gives::LeftWith };
        let meeting = Meeting::new(rows, &chooser.rows, gives)?;
        let (mut terms, selected) =
            self.conditions(rows, chooser, meeting.right_fields()?, meeting.table())?;
        let pairs: Vec<(Written, Written)> = sought.into_iter().zip(selected).collect();
        if negated && !pairs.is_empty() && !meeting.is_by_unit(&pairs) {
            let table = short(&chooser.rows.table.name);
            let written = pairs.iter().map(|((_, written), _)| written.as_str());
            let written = written.collect::<Vec<_>>().join(", ");
            return Err(Unsupported::NotInOfRows { written, table }.into());
        }
        for (one, other) in pairs {
            terms.push(equal([one, other])?);
        }
        meeting.rows(&conjunction(terms)?, rows.fields.clone())
    }

    /// Rows chosen by what a public table says.
    fn chosen_by_public(
        &self,
        rows: &Relation<'a>,
        chooser: &Chooser<'_, 'a>,
        sought: Vec<Written>,
        negated: bool,
    ) -> Result<Relation<'a>, SqlError> {
        let public = &chooser.rows;
        if rows.unit_column().is_empty() {
            let (private, table) = (short(&rows.table.name), short(&public.table.name));
            return Err(Unsupported::JoinOfRows { private, table }.into());
        }
        if rows.nested() >= limits::STEPS {
            return Err(limits::too_deep());
        }
        let looked_up = LookedUp::new(rows, public, false);
        let (mut terms, selected) =
            self.conditions(rows, chooser, looked_up.fields(public)?, looked_up.table.clone())?;
        for term in &public.filter {
            terms.push(looked_up.names.renamed(Expr::clone(term)));
        }
        let chooses = match (negated, sought.len()) {
            (false, _) => Chooses::With,
            (true, 0) => Chooses::Without,
            (true, 1) => Chooses::NotIn,
            (true, _) => {
                return Err(none(
                    "NOT IN with several columns of a public table",
                    "write NOT EXISTS with equalities",
                ));
            }
        };
        let is_about_rows =
            |expr: &Expr| !looked_up.names.sides(expr).0 && !expr.columns().is_empty();
        if chooses == Chooses::NotIn && terms.iter().any(is_about_rows) {
            return Err(no(
                "NOT IN with a subquery that is about the rows around it",
                "write NOT EXISTS with an equality",
            ));
        }
        for (one, other) in sought.into_iter().zip(selected) {
            terms.push(equal([one, other])?);
        }
        let (equal, condition) = looked_up.names.split(&conjunction(terms)?);
        if equal.is_empty() {
            let table = short(&public.table.name);
            return Err(Unsupported::JoinWithoutEquality { table }.into());
        }
        let lookup = Lookup {
            of: rows.source(),
            table: public.table.name.clone(),
            columns: looked_up.names.columns(public),
            equal,
            condition,
            keeps_unmatched: false,
            chooses: Some(chooses),
        };
        let passes = lookup.exprs().map(|expr| expr.passes(&|name| looked_up.table.kind(name)));
        let passes = rows.passes + passes.sum::<usize>();
        Ok(Relation { rows: Some(RowSource::Lookup(Box::new(lookup))), passes, ..rows.clone() })
    }

    /// The conditions of a subquery over its own rows and those around it, and what it selects.
    fn conditions(
        &self,
        rows: &Relation<'a>,
        chooser: &Chooser<'_, 'a>,
        own: Vec<Field>,
        table: crate::Table,
    ) -> Result<(Vec<Expr>, Vec<Written>), SqlError> {
        let fields = own.clone();
        let around = rows.fields.iter().map(|field| Field { outer: true, ..field.clone() });
        let both = Relation {
            table: Cow::Owned(table),
            fields: own.into_iter().chain(around).collect(),
            same_unit: Vec::new(),
            ..rows.clone()
        };
        let binder = self.binder(&both, "a subquery");
        let mut terms = Vec::new();
        for condition in &chooser.conditions {
            terms.push(binder.condition(condition)?);
        }
        let mut selected = Vec::new();
        for expr in &chooser.selected {
            selected.push((binder.bind(expr)?.canonical()?, short(*expr)));
        }
        if selected.is_empty() {
            let of_field = |field: Field| Some((Bound::clone(field.bound.as_ref()?), field.name));
            selected.extend(fields.into_iter().filter_map(of_field));
        }
        Ok((terms, selected))
    }
}

/// The terms of a condition that subqueries decide, and the others.
fn split(condition: &ast::Expr) -> (Vec<Choice<'_>>, Vec<&ast::Expr>) {
    let (mut choices, mut others) = (Vec::new(), Vec::new());
    let mut waiting = vec![condition];
    while let Some(term) = waiting.pop() {
        match term {
            ast::Expr::BinaryOp { left, op: ast::BinaryOperator::And, right } => {
                waiting.push(right);
                waiting.push(left);
            }
            ast::Expr::Nested(inner) if is_run(inner) => waiting.push(inner),
            term => match choice(term, false) {
                Some(choice) => choices.push(choice),
                None => others.push(term),
            },
        }
    }
    (choices, others)
}

/// Whether it is a run of AND, or a choice in parentheses.
fn is_run(expr: &ast::Expr) -> bool {
    match expr {
        ast::Expr::Nested(inner) => is_run(inner),
        ast::Expr::BinaryOp { op, .. } => *op == ast::BinaryOperator::And,
        expr => choice(expr, false).is_some(),
    }
}

fn choice(expr: &ast::Expr, turned: bool) -> Option<Choice<'_>> {
    match expr {
        ast::Expr::Nested(inner) => choice(inner, turned),
        ast::Expr::UnaryOp { op: ast::UnaryOperator::Not, expr } => choice(expr, !turned),
        ast::Expr::Exists { subquery, negated } => {
            Some(Choice { sought: None, subquery, negated: *negated != turned })
        }
        ast::Expr::InSubquery { expr, subquery, negated } => {
            Some(Choice { sought: Some(expr), subquery, negated: *negated != turned })
        }
        _ => None,
    }
}

/// Conditions with AND between them.
fn together(terms: Vec<&ast::Expr>) -> Option<ast::Expr> {
    let and = |left: ast::Expr, right: ast::Expr| ast::Expr::BinaryOp {
        left: Box::new(left),
        op: ast::BinaryOperator::And,
        right: Box::new(right),
    };
    terms
        .into_iter()
        .map(|term| match term {
            term @ ast::Expr::BinaryOp { .. } => ast::Expr::Nested(Box::new(term.clone())),
            term => term.clone(),
        })
        .reduce(and)
}
