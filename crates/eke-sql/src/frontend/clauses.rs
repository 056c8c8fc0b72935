//! The clauses that a query may have. Whatever else it has is refused, never left aside: each part
//! of the syntax is named here, so that a parser that learns a new one does not compile until it is
//! decided about.

use sqlparser::ast;

use crate::SqlError;
use crate::error::Unsupported;

/// The sentence for what is no SELECT.
pub(crate) fn no_set(body: &ast::SetExpr) -> SqlError {
    match body {
        ast::SetExpr::SetOperation { .. } => none(
            "UNION, INTERSECT and EXCEPT of answers",
            "ask the questions one by one, or write OR in WHERE; rows are put together by UNION ALL \
             in a subquery",
        ),
        ast::SetExpr::Values(_) => no("VALUES", "ask about a table of the policy"),
        ast::SetExpr::Table(_) => no("TABLE", "write SELECT … FROM …"),
        _ => Unsupported::NotSelect.into(),
    }
}

/// Without parentheses around it.
pub(crate) fn bare(mut expr: &ast::Expr) -> &ast::Expr {
    while let ast::Expr::Nested(inner) = expr {
        expr = inner;
    }
    expr
}

/// A part of SQL that eke does not answer.
pub(crate) fn no(what: &'static str, instead: &'static str) -> SqlError {
    Unsupported::Feature { what, instead }.into()
}

/// Parts of SQL that eke does not answer.
pub(crate) fn none(what: &'static str, instead: &'static str) -> SqlError {
    Unsupported::Features { what, instead }.into()
}

/// The parts of a query that there may be. Whatever else it has is refused.
#[expect(clippy::type_complexity, reason = "the four parts, once")]
pub(crate) fn parts(
    query: &ast::Query,
) -> Result<
    (Option<&ast::With>, &ast::SetExpr, Option<&ast::OrderBy>, Option<&ast::LimitClause>),
    SqlError,
> {
    let ast::Query {
        with,
        body,
        order_by,
        limit_clause,
        fetch,
        locks,
        for_clause,
        settings,
        format_clause,
        pipe_operators,
    } = query;
    if fetch.is_some() {
        return Err(no("FETCH in a subquery", "write LIMIT at the end of the question"));
    }
    if !locks.is_empty() {
        return Err(none("FOR UPDATE and FOR SHARE", "nothing is locked here"));
    }
    if for_clause.is_some() || settings.is_some() || format_clause.is_some() {
        return Err(none("FOR, SETTINGS and FORMAT", "end the question after LIMIT"));
    }
    if !pipe_operators.is_empty() {
        return Err(none("Pipes (|>)", "write SELECT … FROM … WHERE … GROUP BY …"));
    }
    Ok((with.as_ref(), body, order_by.as_ref(), limit_clause.as_ref()))
}

/// What GROUP BY says.
#[derive(Clone, Copy)]
pub(crate) enum GroupBy<'q> {
    /// These keys; none without the clause.
    Keys(&'q [ast::Expr]),
    /// ALL: every item of SELECT that has no aggregate in it.
    All,
}

/// The clauses of a SELECT that there may be.
pub(crate) struct Clauses<'q> {
    pub(crate) projection: &'q [ast::SelectItem],
    pub(crate) from: &'q [ast::TableWithJoins],
    pub(crate) selection: Option<&'q ast::Expr>,
    pub(crate) group_by: GroupBy<'q>,
    /// Whether rows of the answer that are the same are shown once.
    pub(crate) is_distinct: bool,
    pub(crate) having: Option<&'q ast::Expr>,
}

/// The clauses of a SELECT. Whatever else it has is refused.
pub(crate) fn clauses(select: &ast::Select) -> Result<Clauses<'_>, SqlError> {
    let ast::Select {
        select_token: _,
        optimizer_hints,
        distinct,
        select_modifiers,
        top,
        top_before_distinct: _,
        projection,
        exclude,
        into,
        from,
        lateral_views,
        prewhere,
        selection,
        connect_by,
        group_by,
        cluster_by,
        distribute_by,
        sort_by,
        having,
        named_window,
        qualify,
        window_before_qualify: _,
        value_table_mode,
        flavor,
    } = select;
    let is_distinct = match distinct {
        None | Some(ast::Distinct::All) => false,
        Some(ast::Distinct::Distinct) => true,
        Some(_) => {
            return Err(no("SELECT DISTINCT ON", "write GROUP BY with COUNT, SUM or AVG"));
        }
    };
    if top.is_some() {
        return Err(no("TOP", "write LIMIT"));
    }
    if into.is_some() {
        return Err(no("INTO", "answers are returned, not stored"));
    }
    if !named_window.is_empty() || qualify.is_some() {
        return Err(none("WINDOW and QUALIFY", "write GROUP BY and HAVING"));
    }
    let plain = optimizer_hints.is_empty()
        && select_modifiers.is_none()
        && exclude.is_none()
        && lateral_views.is_empty()
        && prewhere.is_none()
        && connect_by.is_empty()
        && cluster_by.is_empty()
        && distribute_by.is_empty()
        && sort_by.is_empty()
        && value_table_mode.is_none()
        && *flavor == ast::SelectFlavor::Standard;
    if !plain {
        return Err(Unsupported::OtherClause.into());
    }
    let group_by = match group_by {
        ast::GroupByExpr::Expressions(keys, modifiers) if modifiers.is_empty() => {
            GroupBy::Keys(keys)
        }
        ast::GroupByExpr::All(modifiers) if modifiers.is_empty() => GroupBy::All,
        ast::GroupByExpr::Expressions(..) | ast::GroupByExpr::All(_) => {
            return Err(none("WITH ROLLUP, CUBE and TOTALS", "ask one GROUP BY at a time"));
        }
    };
    Ok(Clauses {
        projection,
        from,
        selection: selection.as_ref(),
        group_by,
        is_distinct,
        having: having.as_ref(),
    })
}

/// A `*` with nothing after it.
pub(crate) fn plain_wildcard(options: &ast::WildcardAdditionalOptions) -> Result<(), SqlError> {
    let ast::WildcardAdditionalOptions {
        wildcard_token: _,
        opt_ilike: None,
        opt_exclude: None,
        opt_except: None,
        opt_replace: None,
        opt_rename: None,
        opt_alias: None,
    } = options
    else {
        return Err(no("* with EXCEPT, REPLACE, RENAME or an alias", "name the columns"));
    };
    Ok(())
}
