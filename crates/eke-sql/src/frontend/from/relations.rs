//! The tables that a question names.

use std::collections::BTreeSet;

use sqlparser::ast;

use crate::SqlError;
use crate::frontend::names;
use crate::frontend::parse;

/// Which of these tables a question reads from: those that one of its FROMs means, subqueries and
/// CTEs included. A CTE may stand before a table of its name; that table is among them too.
///
/// # Errors
///
/// The question is no SQL that is supported; the sentence says where.
pub fn relations<'t>(
    sql: &str,
    tables: impl Iterator<Item = &'t str>,
) -> Result<BTreeSet<&'t str>, SqlError> {
    let written = parse::on_own_stack(|| {
        let mut written = Vec::new();
        query(&parse::parse(sql)?.0, &mut written);
        Ok(written)
    })?;
    let is_meant = |table: &&str| written.iter().any(|name| names::means(name, table));
    Ok(tables.filter(is_meant).collect())
}

/// The same of a query that was read.
pub(crate) fn relations_of<'t>(
    question: &ast::Query,
    tables: impl Iterator<Item = &'t str>,
) -> BTreeSet<&'t str> {
    let mut written = Vec::new();
    query(question, &mut written);
    tables.filter(|table| written.iter().any(|name| names::means(name, table))).collect()
}

fn query(query: &ast::Query, written: &mut Vec<ast::Ident>) {
    for cte in query.with.iter().flat_map(|with| &with.cte_tables) {
        self::query(&cte.query, written);
    }
    body(&query.body, written);
}

fn body(body: &ast::SetExpr, written: &mut Vec<ast::Ident>) {
    match body {
        ast::SetExpr::Select(select) => {
            select.from.iter().for_each(|from| joined(from, written));
            select.selection.iter().for_each(|condition| chosen(condition, written));
        }
        ast::SetExpr::Query(inner) => query(inner, written),
        ast::SetExpr::SetOperation { left, right, .. } => {
            self::body(left, written);
            self::body(right, written);
        }
        // Nothing else is read from, or is refused when it is planned.
        _ => {}
    }
}

/// The subqueries of a condition that may choose rows.
fn chosen(mut condition: &ast::Expr, written: &mut Vec<ast::Ident>) {
    loop {
        match condition {
            ast::Expr::BinaryOp { left, right, .. } => {
                chosen(right, written);
                condition = left;
            }
            ast::Expr::Nested(one) | ast::Expr::UnaryOp { expr: one, .. } => condition = one,
            ast::Expr::Exists { subquery, .. } | ast::Expr::InSubquery { subquery, .. } => {
                return query(subquery, written);
            }
            _ => return,
        }
    }
}

fn joined(from: &ast::TableWithJoins, written: &mut Vec<ast::Ident>) {
    factor(&from.relation, written);
    from.joins.iter().for_each(|join| factor(&join.relation, written));
}

fn factor(factor: &ast::TableFactor, written: &mut Vec<ast::Ident>) {
    match factor {
        ast::TableFactor::Table { name, .. } => written.extend(names::simple(name).cloned()),
        ast::TableFactor::Derived { subquery, .. } => query(subquery, written),
        ast::TableFactor::NestedJoin { table_with_joins, .. } => joined(table_with_joins, written),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_those_that_are_read_from() {
        let tables = ["trips", "Riders", "public"];
        let named = |sql: &str| {
            let found = relations(sql, tables.into_iter()).unwrap();
            found.into_iter().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(named("SELECT COUNT(*) FROM trips"), "trips");
        assert_eq!(named("SELECT COUNT(*) FROM TRIPS WHERE a = 'public'"), "trips");
        assert_eq!(named("SELECT public FROM (SELECT * FROM riders) AS trips"), "Riders");
        assert_eq!(named("SELECT 1 FROM \"riders\""), "");
        let with = "WITH x AS (SELECT * FROM public) SELECT COUNT(*) FROM x, trips AS t";
        assert_eq!(named(with), "public trips");
        let among =
            "SELECT 1 FROM trips WHERE a AND (NOT EXISTS (SELECT 1 FROM riders WHERE b) AND c)";
        assert_eq!(named(among), "Riders trips");
        let among = "SELECT 1 FROM trips WHERE a IN (SELECT b FROM public WHERE c) AND d";
        assert_eq!(named(among), "public trips");
        assert_eq!(named("SELECT 1 FROM trips UNION SELECT 1 FROM riders"), "Riders trips");
        assert!(relations("SELEC", tables.into_iter()).is_err());
    }
}
