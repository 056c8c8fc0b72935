//! Questions that mean the same as simpler ones are written as these before they are planned:
//! `FETCH FIRST` as `LIMIT`, a `SELECT` that only shows, sorts and chooses among the rows of an
//! answer as the question of that answer, and a subquery that is the total of the same rows as
//! their total. All of it is about words: nothing else than what a person could have written comes
//! out, and it is planned and refused as if it had been.

use std::cell::{Cell, RefCell};

use sqlparser::ast::{self, Expr};

use crate::SqlError;
use crate::error::short;
use crate::frontend::clauses::{Clauses, GroupBy, bare, clauses, no, parts, plain_wildcard};
use crate::frontend::from::relations::relations_of;
use crate::frontend::limits;
use crate::frontend::names;

/// The function that a subquery becomes which is the total of all rows of the question.
pub(crate) const TOTAL_OF_ALL: &str = "total of all rows";

/// How many answers may be around each other.
const DEEPEST: usize = 8;

/// A question as it is planned.
pub(crate) fn rewritten(mut query: ast::Query) -> Result<ast::Query, SqlError> {
    fetched(&mut query)?;
    let answers = Answers { left: Cell::new(limits::BYTES), used: RefCell::default() };
    let mut query = answers.over(&query, &[], 0)?.unwrap_or(query);
    if let ast::SetExpr::Select(select) = &mut *query.body {
        totals(select);
    }
    Ok(query)
}

/// `FETCH FIRST n ROWS ONLY` is `LIMIT n`.
fn fetched(query: &mut ast::Query) -> Result<(), SqlError> {
    if let ast::SetExpr::Query(inner) = &mut *query.body {
        fetched(inner)?;
    }
    let Some(ast::Fetch { with_ties, percent, quantity }) = &query.fetch else { return Ok(()) };
    if *with_ties || *percent {
        return Err(no("FETCH with PERCENT or TIES", "write FETCH FIRST 10 ROWS ONLY or LIMIT 10"));
    }
    let one = || Expr::value(ast::Value::Number("1".to_owned(), false));
    let limit = Some(quantity.clone().unwrap_or_else(one));
    let offset = match query.limit_clause.take() {
        None => None,
        Some(ast::LimitClause::LimitOffset { limit: None, offset, limit_by })
            if limit_by.is_empty() =>
        {
            offset
        }
        Some(_) => return Err(no("FETCH beside LIMIT", "write one of them")),
    };
    query.fetch = None;
    query.limit_clause =
        Some(ast::LimitClause::LimitOffset { limit, offset, limit_by: Vec::new() });
    Ok(())
}

/// Answers that are asked about.
struct Answers {
    /// How many bytes of expressions may still be put in.
    left: Cell<usize>,
    /// The CTEs that were put in.
    used: RefCell<Vec<ast::Ident>>,
}

/// A column of an answer.
struct Field {
    name: String,
    expr: Expr,
}

impl Answers {
    /// The one question that a question about an answer is; none if it is no such question.
    fn over(
        &self,
        query: &ast::Query,
        visible: &[&ast::Cte],
        depth: usize,
    ) -> Result<Option<ast::Query>, SqlError> {
        let Ok((with, ast::SetExpr::Select(select), order_by, limit)) = parts(query) else {
            return Ok(None);
        };
        let Ok(outer) = clauses(select) else { return Ok(None) };
        let [ast::TableWithJoins { relation, joins }] = outer.from else { return Ok(None) };
        let is_plain = joins.is_empty()
            && !outer.is_distinct
            && outer.having.is_none()
            && matches!(outer.group_by, GroupBy::Keys([]))
            && !with.is_some_and(|with| with.recursive);
        if !is_plain || depth > DEEPEST || aggregates(outer.projection) {
            return Ok(None);
        }
        let ctes = with.into_iter().flat_map(|with| &with.cte_tables);
        let ctes: Vec<&ast::Cte> = visible.iter().copied().chain(ctes).collect();
        let Some((inner, aliases, seen)) = answer(relation, &ctes) else { return Ok(None) };
        let before = self.used.borrow().len();
        let inner = match self.over(inner, &ctes[..seen], depth + 1)? {
            Some(inner) => inner,
            None => inner.clone(),
        };
        if seen < ctes.len() && matches!(relation, ast::TableFactor::Table { .. }) {
            self.used.borrow_mut().push(ctes[seen].alias.name.clone());
        }
        let Some(flat) = self.flat((&outer, order_by, limit), relation, &inner, &aliases)? else {
            self.used.borrow_mut().truncate(before);
            return Ok(None);
        };
        let own = with.into_iter().flat_map(|with| with.cte_tables.clone());
        let inside = inner.with.iter().flat_map(|with| with.cte_tables.clone());
        let mut all: Vec<ast::Cte> = own.chain(inside).collect();
        let mut flat = flat;
        for used in self.used.borrow().iter().rev() {
            let Some(place) = all.iter().position(|cte| cte.alias.name == *used) else { continue };
            let cte = all.remove(place);
            flat.with = with_of(with.or(inner.with.as_ref()), all.clone());
            if !relations_of(&flat, std::iter::once(&*used.value)).is_empty() {
                // It is needed elsewhere too.
                all.insert(place, cte);
            }
        }
        flat.with = with_of(with.or(inner.with.as_ref()), all);
        Ok(Some(flat))
    }

    /// A question with what another says about its answer.
    fn flat(
        &self,
        (outer, order_by, limit): (&Clauses<'_>, Option<&ast::OrderBy>, Option<&ast::LimitClause>),
        relation: &ast::TableFactor,
        query: &ast::Query,
        aliases: &[&ast::TableAlias],
    ) -> Result<Option<ast::Query>, SqlError> {
        let Ok((_, ast::SetExpr::Select(select), inner_order, inner_limit)) = parts(query) else {
            return Ok(None);
        };
        let Ok(inner) = clauses(select) else { return Ok(None) };
        let is_grouped = !matches!(inner.group_by, GroupBy::Keys([]));
        if inner.is_distinct || !(is_grouped || aggregates(inner.projection)) {
            return Ok(None);
        }
        let Some(fields) = fields(inner.projection, aliases) else { return Ok(None) };
        let is_cut = inner_limit.is_some();
        if is_cut && (outer.selection.is_some() || order_by.is_some() || limit.is_some()) {
            return Ok(None);
        }
        let shown = aliases.first().map(|alias| &alias.name);
        let named = shown.or_else(|| match relation {
            ast::TableFactor::Table { name, .. } => names::simple(name),
            _ => None,
        });
        let whole = outer.selection.is_none() && !is_cut;
        let put = PutIn { answers: self, fields: &fields, named, relation, whole };

        let mut flat = (**select).clone();
        let mut projection = Vec::new();
        for item in outer.projection {
            let (expr, name) = match item {
                ast::SelectItem::UnnamedExpr(expr) => (expr, names::of_item(expr, 200)),
                ast::SelectItem::ExprWithAlias { expr, alias } => (expr, alias.value.clone()),
                ast::SelectItem::Wildcard(options) if plain_wildcard(options).is_ok() => {
                    for Field { name, expr } in &fields {
                        self.takes(expr)?;
                        projection.push(item_of(expr.clone(), name.clone()));
                    }
                    continue;
                }
                _ => return Ok(None),
            };
            let Some(expr) = put.over_rows(expr)? else { return Ok(None) };
            projection.push(item_of(expr, name));
        }
        flat.projection = projection;

        // What its keys and conditions mean by an alias or a place is no longer there by its name.
        let own = PutIn { named: None, ..put };
        if let ast::GroupByExpr::Expressions(keys, _) = &mut flat.group_by {
            for key in keys {
                *key = own.written_out(key)?;
            }
        }
        if let Some(having) = &mut flat.having {
            *having = own.written_out(having)?;
        }
        if let Some(condition) = outer.selection {
            let Some(condition) = put.over_rows(condition)? else { return Ok(None) };
            flat.having = Some(match flat.having.take() {
                None => condition,
                Some(having) => Expr::BinaryOp {
                    left: Box::new(Expr::Nested(Box::new(having))),
                    op: ast::BinaryOperator::And,
                    right: Box::new(Expr::Nested(Box::new(condition))),
                },
            });
        }

        let mut order = order_by.or(inner_order).cloned();
        if let Some(ast::OrderBy { kind: ast::OrderByKind::Expressions(exprs), .. }) = &mut order {
            for ast::OrderByExpr { expr, .. } in exprs {
                let is_shown = |name: &ast::Ident| {
                    flat.projection.iter().any(|item| match item {
                        ast::SelectItem::ExprWithAlias { alias, .. } => {
                            names::means(name, &alias.value)
                        }
                        _ => false,
                    })
                };
                *expr = match (order_by.is_some(), bare(expr)) {
                    (true, Expr::Value(_)) => continue,
                    (true, Expr::Identifier(name)) if is_shown(name) => continue,
                    (true, expr) => match put.over_rows(expr)? {
                        Some(expr) => expr,
                        None => return Ok(None),
                    },
                    (false, expr) => own.written_out(expr)?,
                };
            }
        }
        Ok(Some(ast::Query {
            body: Box::new(ast::SetExpr::Select(Box::new(flat))),
            order_by: order,
            limit_clause: limit.or(inner_limit).cloned(),
            ..query.clone()
        }))
    }

    /// Counts what is put in.
    fn takes(&self, expr: &Expr) -> Result<(), SqlError> {
        let left = self.left.get().checked_sub(expr.to_string().len());
        self.left.set(left.ok_or_else(limits::too_large)?);
        Ok(())
    }
}

/// What puts the columns of an answer in for their names.
#[derive(Clone, Copy)]
struct PutIn<'a> {
    answers: &'a Answers,
    fields: &'a [Field],
    /// What the answer goes by.
    named: Option<&'a ast::Ident>,
    relation: &'a ast::TableFactor,
    /// Whether all of its rows are asked about.
    whole: bool,
}

impl PutIn<'_> {
    /// An expression over an answer as one over rows; none if it is not over the answer alone.
    fn over_rows(&self, expr: &Expr) -> Result<Option<Expr>, SqlError> {
        let wrong = Cell::new(false);
        let expr = mapped(expr, &|expr| {
            let field = match expr {
                Expr::Identifier(name) => self.field(name),
                Expr::CompoundIdentifier(path) => match (path.as_slice(), self.named) {
                    ([of, name], Some(named)) if names::means(of, &named.value) => self.field(name),
                    _ => None,
                },
                Expr::Subquery(query) if self.whole => {
                    let total = self.total(query)?;
                    if total.is_none() {
                        wrong.set(true);
                    }
                    return Ok(total);
                }
                Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. } => None,
                _ => return Ok(None),
            };
            let Some(field) = field else {
                wrong.set(true);
                return Ok(None);
            };
            self.answers.takes(&field.expr)?;
            Ok(Some(match &field.expr {
                name @ (Expr::Identifier(_) | Expr::CompoundIdentifier(_)) => name.clone(),
                expr => Expr::Nested(Box::new(expr.clone())),
            }))
        })?;
        Ok((!wrong.get()).then_some(expr))
    }

    fn field(&self, name: &ast::Ident) -> Option<&Field> {
        let mut found = self.fields.iter().filter(|field| names::means(name, &field.name));
        found.next().filter(|_| found.next().is_none())
    }

    /// `(SELECT SUM(n) FROM answer)` is a total over all its rows.
    fn total(&self, query: &ast::Query) -> Result<Option<Expr>, SqlError> {
        let Some((Expr::Function(call), select)) = alone(query) else { return Ok(None) };
        let [ast::TableWithJoins { relation, joins }] = select.from.as_slice() else {
            return Ok(None);
        };
        let same = match (relation, self.relation) {
            (
                ast::TableFactor::Table { name: one, .. },
                ast::TableFactor::Table { name: other, .. },
            ) => one.to_string().eq_ignore_ascii_case(&other.to_string()),
            _ => false,
        };
        let is_sum = names::simple(&call.name).is_some_and(|n| n.value.eq_ignore_ascii_case("sum"));
        if !same || !joins.is_empty() || !is_sum || select.selection.is_some() {
            return Ok(None);
        }
        let inner = PutIn { named: None, ..*self };
        let Some(Expr::Function(call)) = inner.over_rows(&Expr::Function(call.clone()))? else {
            return Ok(None);
        };
        Ok(Some(Expr::Function(ast::Function { over: Some(whole_window()), ..call })))
    }

    /// What the answer's own clauses say, without its aliases and places: a column comes before an
    /// alias, so one that its own item takes stays.
    fn written_out(&self, expr: &Expr) -> Result<Expr, SqlError> {
        if let Expr::Value(value) = bare(expr) {
            let place = match &value.value {
                ast::Value::Number(digits, false) => digits.parse::<usize>().ok(),
                _ => None,
            };
            let field = place.and_then(|place| self.fields.get(place.checked_sub(1)?));
            let Some(field) = field else { return Ok(expr.clone()) };
            self.answers.takes(&field.expr)?;
            return Ok(field.expr.clone());
        }
        mapped(expr, &|expr| {
            let Expr::Identifier(name) = expr else { return Ok(None) };
            let Some(field) = self.field(name) else { return Ok(None) };
            if !names_another(&field.expr, name)? {
                return Ok(None);
            }
            self.answers.takes(&field.expr)?;
            Ok(Some(Expr::Nested(Box::new(field.expr.clone()))))
        })
    }
}

/// Whether an expression is over columns or aggregates, and none of them has this name.
fn names_another(expr: &Expr, name: &ast::Ident) -> Result<bool, SqlError> {
    let (any, own) = (Cell::new(false), Cell::new(false));
    mapped(expr, &|expr| {
        match expr {
            Expr::Identifier(other) => {
                any.set(true);
                own.set(own.get() || names::means(name, &other.value));
            }
            Expr::CompoundIdentifier(path) => {
                any.set(true);
                own.set(
                    own.get() || path.last().is_some_and(|last| names::means(name, &last.value)),
                );
            }
            expr if is_aggregate(expr) => any.set(true),
            _ => {}
        }
        Ok(None)
    })?;
    Ok(any.get() && !own.get())
}

/// What FROM has, if it may be an answer: the query, what it is called, and how many of the CTEs it
/// sees.
fn answer<'q>(
    relation: &'q ast::TableFactor,
    ctes: &[&'q ast::Cte],
) -> Option<(&'q ast::Query, Vec<&'q ast::TableAlias>, usize)> {
    match relation {
        ast::TableFactor::Derived { lateral: false, subquery, alias, sample: None } => {
            Some((subquery, alias.iter().collect(), ctes.len()))
        }
        ast::TableFactor::Table { name, alias, args: None, sample: None, .. } => {
            let name = names::simple(name)?;
            let means = |cte: &&ast::Cte| names::means(name, &cte.alias.name.value);
            let place = ctes.iter().rposition(means)?;
            let cte = ctes[place];
            let plain = cte.from.is_none() && cte.materialized.is_none();
            let aliases = alias.iter().chain([&cte.alias]).collect();
            plain.then_some((&*cte.query, aliases, place))
        }
        _ => None,
    }
}

/// The columns of an answer; none if some have no expression. The first of the names counts most.
fn fields(projection: &[ast::SelectItem], aliases: &[&ast::TableAlias]) -> Option<Vec<Field>> {
    let mut fields = Vec::new();
    for item in projection {
        let (expr, name) = match item {
            ast::SelectItem::UnnamedExpr(expr) => (expr, of_item(expr)),
            ast::SelectItem::ExprWithAlias { expr, alias } => (expr, alias.value.clone()),
            _ => return None,
        };
        fields.push(Field { name, expr: expr.clone() });
    }
    for alias in aliases.iter().rev() {
        if alias.columns.len() > fields.len() || alias.at.is_some() {
            return None;
        }
        for (field, column) in fields.iter_mut().zip(&alias.columns) {
            field.name.clone_from(&column.name.value);
        }
    }
    Some(fields)
}

/// What a column of a subquery without an alias is called, as PostgreSQL has it.
fn of_item(expr: &Expr) -> String {
    match expr {
        Expr::Function(call) => match names::simple(&call.name) {
            Some(name) => name.value.to_lowercase(),
            None => names::of_item(expr, 200),
        },
        expr => names::of_item(expr, 200),
    }
}

fn item_of(expr: Expr, name: String) -> ast::SelectItem {
    ast::SelectItem::ExprWithAlias { expr, alias: ast::Ident::with_quote('"', name) }
}

fn with_of(like: Option<&ast::With>, cte_tables: Vec<ast::Cte>) -> Option<ast::With> {
    let with = like.filter(|_| !cte_tables.is_empty())?;
    Some(ast::With { cte_tables, ..with.clone() })
}

fn whole_window() -> ast::WindowType {
    ast::WindowType::WindowSpec(ast::WindowSpec {
        window_name: None,
        partition_by: Vec::new(),
        order_by: Vec::new(),
        window_frame: None,
    })
}

/// The one thing that a subquery selects, where it does nothing but choose rows.
fn alone(query: &ast::Query) -> Option<(&Expr, &ast::Select)> {
    let Ok((None, ast::SetExpr::Select(select), None, None)) = parts(query) else { return None };
    let inner = clauses(select).ok()?;
    let is_plain =
        !inner.is_distinct && inner.having.is_none() && matches!(inner.group_by, GroupBy::Keys([]));
    match inner.projection {
        [ast::SelectItem::UnnamedExpr(expr) | ast::SelectItem::ExprWithAlias { expr, .. }]
            if is_plain =>
        {
            Some((bare(expr), select))
        }
        _ => None,
    }
}

/// A subquery in SELECT that counts or adds up the same rows is their total: the aggregate itself
/// without GROUP BY, and otherwise that of all groups.
fn totals(select: &mut ast::Select) {
    let Ok(outer) = clauses(select) else { return };
    let is_grouped = !matches!(outer.group_by, GroupBy::Keys([]));
    if !is_grouped && !aggregates(outer.projection) {
        return;
    }
    let rows = |select: &ast::Select| {
        let from: Vec<String> = select.from.iter().map(ToString::to_string).collect();
        (from, select.selection.as_ref().map(ToString::to_string))
    };
    let own = rows(select);
    let replaced = |expr: &Expr| {
        mapped(expr, &|expr| {
            let Expr::Subquery(query) = expr else { return Ok(None) };
            let Some((total @ Expr::Function(call), inner)) = alone(query) else {
                return Ok(None);
            };
            if rows(inner) != own || !is_sum(call) {
                return Ok(None);
            }
            let list = ast::FunctionArgumentList {
                duplicate_treatment: None,
                args: vec![ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(total.clone()))],
                clauses: Vec::new(),
            };
            Ok(Some(match is_grouped {
                false => total.clone(),
                true => Expr::Function(ast::Function {
                    name: ast::ObjectName::from(vec![ast::Ident::with_quote('"', TOTAL_OF_ALL)]),
                    args: ast::FunctionArguments::List(list),
                    filter: None,
                    over: Some(whole_window()),
                    ..call.clone()
                }),
            }))
        })
    };
    for item in &mut select.projection {
        match item {
            ast::SelectItem::UnnamedExpr(expr) => {
                if let Ok(put) = replaced(expr)
                    && put != *expr
                {
                    *item = item_of(put, short(expr));
                }
            }
            ast::SelectItem::ExprWithAlias { expr, .. } => {
                if let Ok(put) = replaced(expr) {
                    *expr = put;
                }
            }
            _ => {}
        }
    }
}

/// Whether it is a COUNT or a SUM, whose total over groups is that of all rows.
fn is_sum(call: &ast::Function) -> bool {
    let name = names::simple(&call.name).map(|name| name.value.to_lowercase());
    let is_all = |list: &ast::FunctionArgumentList| list.duplicate_treatment.is_none();
    call.over.is_none()
        && matches!(name.as_deref(), Some("count" | "sum"))
        && matches!(&call.args, ast::FunctionArguments::List(list) if is_all(list))
}

/// Whether an aggregate of rows is in what is selected.
fn aggregates(projection: &[ast::SelectItem]) -> bool {
    projection.iter().any(|item| match item {
        ast::SelectItem::UnnamedExpr(expr) | ast::SelectItem::ExprWithAlias { expr, .. } => {
            has_aggregate(expr)
        }
        _ => false,
    })
}

fn has_aggregate(expr: &Expr) -> bool {
    let found = Cell::new(false);
    // Nothing in it fails.
    let _ = mapped(expr, &|expr| {
        found.set(found.get() || is_aggregate(expr));
        // What a window adds up is an aggregate of rows only if it is written as one.
        Ok(None)
    });
    found.get()
}

fn is_aggregate(expr: &Expr) -> bool {
    const ALL: &str = "count sum avg min max countif count_if sumif sum_if avgif avg_if variance \
        var_samp var_pop stddev stddev_samp stddev_pop covar_pop covar_samp corr \
        approx_count_distinct approx_distinct median percentile_cont percentile_disc \
        approx_quantiles approx_percentile quantile percentile mode array_agg string_agg bool_and \
        bool_or every dp_interval_low dp_interval_high dp_met";
    let Expr::Function(call) = expr else { return false };
    let name = names::simple(&call.name).map(|name| name.value.to_lowercase());
    call.over.is_none()
        && name.is_some_and(|name| ALL.split_whitespace().any(|aggregate| aggregate == name))
}

/// What stands for an expression; nothing if it stays.
type Put<'p> = dyn Fn(&Expr) -> Result<Option<Expr>, SqlError> + 'p;

/// An expression with others put in. What is put in is not looked at again; forms that are not
/// named here stay as they are.
fn mapped(expr: &Expr, put: &Put<'_>) -> Result<Expr, SqlError> {
    if let Some(other) = put(expr)? {
        return Ok(other);
    }
    let one = |expr: &Expr| mapped(expr, put).map(Box::new);
    let maybe = |expr: &Option<Box<Expr>>| expr.as_deref().map(one).transpose();
    let all = |exprs: &[Expr]| {
        exprs.iter().map(|expr| mapped(expr, put)).collect::<Result<Vec<Expr>, SqlError>>()
    };
    use Expr as E;
    Ok(match expr {
        E::Nested(of) => E::Nested(one(of)?),
        E::UnaryOp { op, expr } => E::UnaryOp { op: *op, expr: one(expr)? },
        E::BinaryOp { .. } => {
            // Runs of operators lean to the left, and may be long.
            let (mut first, mut steps) = (expr, Vec::new());
            while let E::BinaryOp { left, op, right } = first {
                steps.push((op, right));
                first = left;
            }
            let mut built = mapped(first, put)?;
            for (op, right) in steps.into_iter().rev() {
                let (left, right) = (Box::new(built), one(right)?);
                built = E::BinaryOp { left, op: op.clone(), right };
            }
            built
        }
        E::IsNull(of) => E::IsNull(one(of)?),
        E::IsNotNull(of) => E::IsNotNull(one(of)?),
        E::IsTrue(of) => E::IsTrue(one(of)?),
        E::IsNotTrue(of) => E::IsNotTrue(one(of)?),
        E::IsFalse(of) => E::IsFalse(one(of)?),
        E::IsNotFalse(of) => E::IsNotFalse(one(of)?),
        E::IsDistinctFrom(left, right) => E::IsDistinctFrom(one(left)?, one(right)?),
        E::IsNotDistinctFrom(left, right) => E::IsNotDistinctFrom(one(left)?, one(right)?),
        E::InList { expr, list, negated } => {
            E::InList { expr: one(expr)?, list: all(list)?, negated: *negated }
        }
        E::Between { expr, negated, low, high } => {
            let (expr, low, high) = (one(expr)?, one(low)?, one(high)?);
            E::Between { expr, negated: *negated, low, high }
        }
        E::Like { negated, any, expr, pattern, escape_char } => E::Like {
            negated: *negated,
            any: *any,
            expr: one(expr)?,
            pattern: one(pattern)?,
            escape_char: escape_char.clone(),
        },
        E::ILike { negated, any, expr, pattern, escape_char } => E::ILike {
            negated: *negated,
            any: *any,
            expr: one(expr)?,
            pattern: one(pattern)?,
            escape_char: escape_char.clone(),
        },
        E::Case { case_token, end_token, operand, conditions, else_result } => E::Case {
            case_token: case_token.clone(),
            end_token: end_token.clone(),
            operand: maybe(operand)?,
            conditions: conditions
                .iter()
                .map(|ast::CaseWhen { condition, result }| {
                    let (condition, result) = (mapped(condition, put)?, mapped(result, put)?);
                    Ok(ast::CaseWhen { condition, result })
                })
                .collect::<Result<_, SqlError>>()?,
            else_result: maybe(else_result)?,
        },
        E::Cast { kind, expr, data_type, array, format } => E::Cast {
            kind: kind.clone(),
            expr: one(expr)?,
            data_type: data_type.clone(),
            array: *array,
            format: format.clone(),
        },
        E::Extract { field, syntax, expr } => {
            E::Extract { field: field.clone(), syntax: syntax.clone(), expr: one(expr)? }
        }
        E::Floor { expr, field } => E::Floor { expr: one(expr)?, field: field.clone() },
        E::Ceil { expr, field } => E::Ceil { expr: one(expr)?, field: field.clone() },
        E::Function(call) => {
            let mut call = call.clone();
            if let ast::FunctionArguments::List(list) = &mut call.args {
                for argument in &mut list.args {
                    if let ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(expr)) = argument {
                        *expr = mapped(expr, put)?;
                    }
                }
            }
            if let Some(filter) = &mut call.filter {
                **filter = mapped(filter, put)?;
            }
            E::Function(call)
        }
        other => other.clone(),
    })
}
