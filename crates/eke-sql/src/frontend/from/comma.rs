//! `FROM a, b WHERE a.k = b.k`: an inner join, with the equalities of WHERE in its ON.

use std::borrow::Cow;

use sqlparser::ast;

use crate::SqlError;
use crate::error::Unsupported;
use crate::frontend::clauses::bare;
use crate::frontend::rows::{Relation, Scope, Source};

impl<'a> Source<'a> {
    /// The rows of a FROM, and what is left of WHERE.
    pub(crate) fn tables_and_rest<'q>(
        &self,
        from: &[ast::TableWithJoins],
        selection: Option<&'q ast::Expr>,
        scope: &Scope<'a>,
    ) -> Result<(Relation<'a>, Option<Cow<'q, ast::Expr>>), SqlError> {
        if from.len() < 2 {
            return Ok((self.from(from, scope)?, selection.map(Cow::Borrowed)));
        }
        let mut terms = selection.map(terms).unwrap_or_default();
        let (first, others) = from.split_first().ok_or(Unsupported::NoFrom)?;
        let mut rows = self.from(std::slice::from_ref(first), scope)?;
        let mut left: Vec<&ast::TableWithJoins> = others.iter().collect();
        while !left.is_empty() {
            // The next that an equality ties to those before it.
            let mut tied = None;
            for (place, other) in left.iter().enumerate() {
                let other = self.from(std::slice::from_ref(other), scope)?;
                let (ties, free): (Vec<_>, Vec<_>) =
                    terms.iter().copied().partition(|term| ties(term, &rows, &other));
                if !ties.is_empty() {
                    tied = Some((place, ties, free));
                    break;
                }
            }
            let (place, ties, free) = tied.ok_or(Unsupported::SeveralTables)?;
            let ast::TableWithJoins { relation, joins } = left.remove(place).clone();
            let relation = match joins.is_empty() {
                true => relation,
                false => ast::TableFactor::NestedJoin {
                    table_with_joins: Box::new(ast::TableWithJoins { relation, joins }),
                    alias: None,
                },
            };
            let on = together(&ties).ok_or(Unsupported::SeveralTables)?;
            let join_operator = ast::JoinOperator::Inner(ast::JoinConstraint::On(on));
            rows =
                self.join(&rows, &ast::Join { relation, global: false, join_operator }, scope)?;
            terms = free;
        }
        Ok((rows, together(&terms).map(Cow::Owned)))
    }
}

/// The conditions of a WHERE that all must hold.
fn terms(selection: &ast::Expr) -> Vec<&ast::Expr> {
    let (mut terms, mut left) = (Vec::new(), vec![selection]);
    while let Some(expr) = left.pop() {
        match bare(expr) {
            ast::Expr::BinaryOp { left: one, op: ast::BinaryOperator::And, right } => {
                left.push(right);
                left.push(one);
            }
            _ => terms.push(expr),
        }
    }
    terms
}

fn together(terms: &[&ast::Expr]) -> Option<ast::Expr> {
    let and = |left: ast::Expr, right: ast::Expr| ast::Expr::BinaryOp {
        left: Box::new(left),
        op: ast::BinaryOperator::And,
        right: Box::new(right),
    };
    terms.iter().copied().cloned().reduce(and)
}

/// Whether it is an equality of a column of the one and a column of the other.
fn ties(term: &ast::Expr, one: &Relation<'_>, other: &Relation<'_>) -> bool {
    let ast::Expr::BinaryOp { left, op: ast::BinaryOperator::Eq, right } = bare(term) else {
        return false;
    };
    // What both have is no column of either alone.
    let sides = |expr: &ast::Expr| (is_column(expr, one), is_column(expr, other));
    matches!(
        (sides(left), sides(right)),
        ((true, false), (false, true)) | ((false, true), (true, false))
    )
}

fn is_column(expr: &ast::Expr, of: &Relation<'_>) -> bool {
    match bare(expr) {
        ast::Expr::Identifier(name) => matches!(of.find(name), Ok(Some(_))),
        ast::Expr::CompoundIdentifier(path) => match path.as_slice() {
            [relation, name] => of.qualified(relation, name).is_ok(),
            _ => false,
        },
        _ => false,
    }
}
