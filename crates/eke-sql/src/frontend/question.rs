//! From a question's text to its plan.

use std::borrow::Cow;
use std::cell::RefCell;

use sqlparser::ast;

use crate::error::{
    BoundsError, LimitError, NameError, Named, SyntaxError, Unsupported, line, short,
};
use crate::expr::canonical::{canonical, run, sort_key};
use crate::expr::display::list;
use crate::frontend::asked_bounds::{AskedBounds, Widest};
use crate::frontend::bind::quantile;
use crate::frontend::bind::{Binder, Bound, Given, LimitUsage, Parameters, constant_count};
use crate::frontend::clauses::{Clauses, GroupBy, bare, clauses, no, no_set, none, parts};
use crate::frontend::from::relations::relations_of;
use crate::frontend::limits;
use crate::frontend::names;
use crate::frontend::parse;
use crate::frontend::rows::{Relation, Scope, Source};
use crate::frontend::sets::{self, Sets, Totals};
use crate::frontend::settings;
use crate::plan::aggregate::{Aggregates, Bounded, OfUnit};
use crate::plan::averages::Ratios;
use crate::plan::grid;
use crate::plan::keys;
use crate::plan::measures::Measures;
use crate::plan::narrow::Conditions;
use crate::{
    Binary, Expr, Key, Measure, Order, Output, Plan, Protection, Query, Shows, SqlError, Sum,
    Table, Type, VERSION, Value,
};

/// The plan of a question, and what is done with what is released. Reads nothing but its arguments.
///
/// # Errors
///
/// A sentence that says what is not supported, not known or not bounded, and what to write instead.
pub fn plan(sql: &str, tables: &[Table]) -> Result<Query, SqlError> {
    planned(sql, tables, Given::Nothing, (Bounding::Within(&[]), None))
}

/// The same, where a question may choose wider bounds than those of tables: up to the widest that
/// is said for each.
///
/// # Errors
///
/// As for [`plan`]; or the question chooses wider bounds.
pub fn plan_within(sql: &str, tables: &[Table], widest: &[Widest]) -> Result<Query, SqlError> {
    planned(sql, tables, Given::Nothing, (Bounding::Within(widest), None))
}

/// The same for one of the [`levels`](crate::levels) of a question, of which the first has the most
/// keys. What is not grouped by there is shown as nothing.
///
/// # Errors
///
/// As for [`plan_within`]; or there is no such level.
pub fn plan_level(
    sql: &str,
    tables: &[Table],
    widest: &[Widest],
    level: usize,
) -> Result<Query, SqlError> {
    planned(sql, tables, Given::Nothing, (Bounding::Within(widest), Some(level)))
}

/// The plan that one of the levels of a question would have if it chose no bounds: the same for all
/// questions that differ in nothing else. Nothing is run by it, so a column that has no bounds but
/// those of the question gets some that are the same for all.
///
/// None if the question is none with such bounds.
#[must_use]
pub fn plan_unasked(sql: &str, tables: &[Table], level: usize) -> Option<Query> {
    let plan = |stand_in| {
        planned(sql, tables, Given::Nothing, (Bounding::Unasked(stand_in), Some(level))).ok()
    };
    // Some expressions have bounds where a column is above zero alone.
    plan((0.0, 2.0)).or_else(|| plan((1.0, 2.0)))
}

/// Which bounds a plan has.
#[derive(Clone, Copy)]
enum Bounding<'w> {
    /// Those that the question chooses, within the widest.
    Within(&'w [Widest]),
    /// Those of the tables, and these for a column that has none but the question's.
    Unasked((f64, f64)),
}

/// The plan of a question with a text for each of its parameters `$1`, `$2`, …, which choose rows
/// in WHERE. A text is taken as what it meets: a number, a day, a text.
///
/// # Errors
///
/// As for [`plan`]; or a parameter has no value, or a value no parameter.
pub fn plan_with(sql: &str, tables: &[Table], texts: &[String]) -> Result<Query, SqlError> {
    planned(sql, tables, Given::Texts(texts), (Bounding::Within(&[]), None))
}

/// The plan of a question whose parameters stay open: columns that no table has stand for them. It
/// is the same whatever is given for them, names the question for good, and is never run. The texts
/// are one example, for types that nothing else says.
///
/// # Errors
///
/// As for [`plan_with`].
pub fn plan_open(sql: &str, tables: &[Table], example: &[String]) -> Result<Query, SqlError> {
    planned(sql, tables, Given::Open(example), (Bounding::Within(&[]), None))
}

fn planned(
    sql: &str,
    tables: &[Table],
    given: Given<'_>,
    (bounding, level): (Bounding<'_>, Option<usize>),
) -> Result<Query, SqlError> {
    parse::on_own_stack(|| {
        let (query, settings) = parse::parse(sql)?;
        let mut bounds = AskedBounds::default();
        settings.iter().try_for_each(|setting| bounds.take(setting))?;
        let bounded = match bounds.is_empty() {
            true => Cow::Borrowed(tables),
            false => {
                let names = tables.iter().map(|table| table.name.as_str());
                Cow::Owned(match bounding {
                    Bounding::Within(widest) => {
                        bounds.over(tables, &relations_of(&query, names), widest)?
                    }
                    Bounding::Unasked(stand_in) => bounds.unasked(tables, stand_in),
                })
            }
        };
        if !matches!(given, Given::Nothing) && *bounded != *tables {
            return Err(BoundsError::NotHere.into());
        }
        let tables = &*bounded;
        let (usage, parameters) = (LimitUsage::default(), Parameters::new(given));
        let source = Source { tables, usage: &usage, parameters: &parameters };
        let planned = question(&query, &source, Vec::new(), level)?;
        parameters.check()?;
        if let Some(table) = tables.iter().find(|table| table.name == planned.plan.dataset) {
            settings::hold(&settings, table)?;
        }
        Ok(planned)
    })
}

/// The outermost query.
fn question<'a>(
    query: &ast::Query,
    source: &Source<'a>,
    scope: Scope<'a>,
    level: Option<usize>,
) -> Result<Query, SqlError> {
    let (with, body, order_by, limit) = parts(query)?;
    let scope = source.with(with, scope)?;
    match body {
        ast::SetExpr::Select(select) => answer(select, (order_by, limit), (source, &scope), level),
        ast::SetExpr::Query(inner) if order_by.is_none() && limit.is_none() => {
            source.usage.deeper(|| question(inner, source, scope, level))
        }
        ast::SetExpr::Query(_) => Err(none(
            "ORDER BY and LIMIT after a query in parentheses",
            "take the parentheses away",
        )),
        other => Err(no_set(other)),
    }
}

fn answer<'a>(
    select: &ast::Select,
    (order_by, limit): (Option<&ast::OrderBy>, Option<&ast::LimitClause>),
    (source, scope): (&Source<'a>, &Scope<'a>),
    level: Option<usize>,
) -> Result<Query, SqlError> {
    let (select, top) = without_top(select, limit)?;
    let Clauses { projection, from, selection, group_by, is_distinct, having } = clauses(&select)?;
    let (rows, selection) = source.tables_and_rest(from, selection, scope)?;
    let (mut rows, selection) = source.chosen(rows, selection.as_deref(), scope)?;
    checked_unit(&rows.table)?;
    let aggregates = RefCell::new(Aggregates::default());
    let (usage, parameters) = (source.usage, source.parameters);
    let within = Within { rows: &rows, aggregates: &aggregates, usage, parameters };
    let mut filter = within.filter(selection.as_deref())?;
    // What WHERE says about the rows that take part. Steps of a watch differ in it, and are one
    // question.
    let conditions = Conditions::of(filter.as_ref().filter(|_| !parameters.may_be()));
    let policy = rows.table.clone();
    rows.table = Cow::Owned(conditions.table(&policy).into_owned());
    let within = Within { rows: &rows, aggregates: &aggregates, usage, parameters };
    let Protection::Private {
        unit: _,
        unit_column,
        adjacency,
        max_groups,
        max_rows,
        max_values,
        max_rows_in_all,
    } = &rows.table.protection
    else {
        return Err(Unsupported::PublicTable { table: short(&rows.table.name) }.into());
    };
    let items = within.items(projection)?;
    let aliases: Vec<(ast::Ident, Bound)> = items
        .iter()
        .filter(|item| item.side.is_none())
        .filter_map(|item| item.alias.clone().map(|alias| (alias, item.bound.clone())))
        .collect();
    let has_aggregates = items.iter().any(Item::is_value);
    let sets = match group_by {
        GroupBy::Keys(keys) => Sets::of(keys)?,
        GroupBy::All => None,
    };
    let (written, totals) = match (group_by, &sets) {
        (GroupBy::Keys(_), Some(sets)) => {
            let cuts = having.is_some() || limit.is_some() || top.is_some();
            if is_distinct || cuts {
                return Err(none(
                    "DISTINCT, HAVING, LIMIT and OFFSET beside ROLLUP, CUBE or GROUPING SETS",
                    "choose among the rows of the answer",
                ));
            }
            if !has_aggregates {
                return Err(Unsupported::NoAggregate.into());
            }
            let all = within.keys(sets.keys.iter().copied(), &items, &aliases)?;
            within.sorted_by_keys(order_by, &items, &all)?;
            let (table, level) = (&rows.table, level.ok_or_else(sets::no_sets)?);
            sets.level(level, &all, |expr, kind| conditions.keys(expr, kind, table))?
        }
        // Rows that are all different are groups with nothing counted.
        (GroupBy::Keys([]), None) if is_distinct && !has_aggregates => {
            (within.all_keys(&items)?, Totals::default())
        }
        (GroupBy::All, _) => (within.all_keys(&items)?, Totals::default()),
        (GroupBy::Keys(keys), None) => (within.keys(keys, &items, &aliases)?, Totals::default()),
    };

    let told: Vec<&Expr> = written.iter().map(|key| &key.expr).collect();
    if rows.parts.are_told_by(&told) {
        let (written, unit) = (short(&list(&told)), short(&rows.written_unit()));
        return Err(Unsupported::KeyOfUnits { written, unit }.into());
    }

    // Keys in their canonical order; `places` says where each that was written is.
    let mut sorted: Vec<&Bound> = written.iter().collect();
    sorted.sort_by_cached_key(|key| sort_key(&key.expr));
    sorted.dedup_by(|a, b| a.expr == b.expr);
    let place = |expr: &Expr| sorted.iter().position(|key| key.expr == *expr);

    let after = After { within: &within, items: &items, aliases: &aliases, keys: &sorted };
    let mut measures = Measures::default();
    // Each item as a key, or as a value over keys and aggregates; nothing for a key that rows are
    // totals over.
    let mut shown = Vec::new();
    for item in &items {
        if totals.over.contains(&item.bound.expr) {
            shown.push(None);
            continue;
        }
        let expr = match place(&item.bound.expr) {
            Some(index) => Expr::Key(index),
            None if item.is_value() => {
                let value = after.over_answers(item.bound.expr.clone(), "SELECT")?;
                if value.any(&|expr| matches!(expr, Expr::Key(_))) {
                    return Err(Unsupported::form(
                        &item.name,
                        "a key does not stand beside an aggregate in one item; select them one by \
                         one, or write CASE or FILTER inside the aggregate",
                    ));
                }
                value
            }
            None => after
                .of_keys(&item.bound.expr, &totals.over)
                .ok_or_else(|| Unsupported::ShowsRows { item: short(&item.name) })?,
        };
        shown.push(Some(expr));
    }
    // With all keys in them, rows of an answer are different anyhow.
    let is_shown = |key: usize| shown.contains(&Some(Expr::Key(key)));
    if is_distinct && !(0..sorted.len()).all(is_shown) {
        return Err(no("SELECT DISTINCT without all keys", "add the keys of GROUP BY to SELECT"));
    }
    let shows_values = shown.iter().flatten().any(is_value);
    if !shows_values && written.is_empty() {
        return Err(Unsupported::NoAggregate.into());
    }

    let chooses = having.is_some();
    let mut having = after.having(having)?;
    let mut order = after.order(order_by.filter(|_| sets.is_none()))?;
    let ratios = Ratios { aggregates: &aggregates, table: &rows.table, unit_column };
    let sorted_by = order.iter_mut().map(|order| &mut order.by);
    let values = shown.iter_mut().flatten().chain(sorted_by).chain(&mut having);
    let gone = ratios.averaged(&mut values.collect::<Vec<&mut Expr>>());
    if aggregates.borrow().has_totals()
        && let Some(condition) =
            having.take_if(|having| !having.any(&|expr| matches!(expr, Expr::Measure(_))))
    {
        // A total is of the groups that HAVING leaves. Where keys decide, it is about rows.
        let condition = unkeyed(condition, &sorted);
        let both = filter.into_iter().chain([canonical(condition)]).collect();
        filter = Some(limits::checked(run(Binary::And, both))?);
    }
    let conditions = Conditions::of(filter.as_ref().filter(|_| !parameters.may_be()));
    let is_cut = limit.is_some() || top.is_some();
    within.checked_quantiles(shown.iter().flatten(), &order, (having.as_ref(), is_cut))?;
    let values = shown.iter().flatten().filter(|expr| is_value(expr));
    values.for_each(|expr| measures.shows(expr));
    order.iter().map(|order| &order.by).chain(&having).for_each(|expr| measures.uses(expr));
    let having = having.map(|having| measures.over(having));
    for order in &mut order {
        order.by = measures.over(order.by.clone());
    }
    let mut of_keys = Vec::new();
    let output = |(item, expr): (&Item, &Option<Expr>)| {
        let Some(expr) = expr else {
            return Output { name: item.name.clone(), shows: Shows::All };
        };
        if !is_value(expr) && !matches!(expr, Expr::Key(_)) {
            of_keys.push(expr.clone());
            let shows = Shows::OfKeys(of_keys.len() - 1);
            return Output { name: item.name.clone(), shows };
        }
        let shows = match (measures.over(expr.clone()), item.side) {
            (Expr::Key(index), _) => Shows::Key(index),
            (Expr::Measure(index), side) => side.map_or(Shows::Measure(index), |side| side(index)),
            _ => unreachable!("what is shown was taken down"),
        };
        Output { name: item.name.clone(), shows }
    };
    let outputs: Vec<Output> = items.iter().zip(&shown).map(output).collect();
    // Rows of an answer come in the order of the keys as they were written.
    let places: Vec<usize> = written.iter().filter_map(|key| place(&key.expr)).collect();
    if !places.is_sorted() {
        order.extend(places.iter().map(|index| Order {
            by: Expr::Key(*index),
            descending: false,
            nulls_first: true,
        }));
    }
    let (offset, limit) = window(limit)?;
    let limit = limit.or(top);

    let keys: Vec<Key> = sorted
        .iter()
        .map(|key| {
            let kind = key.kind.unwrap_or(Type::Text);
            let public = conditions.keys(&key.expr, kind, &rows.table);
            Key { expr: key.expr.clone(), kind, public }
        })
        .collect();
    let texts = keys.iter().filter(|key| key.kind == Type::Text && key.public.is_none()).count();
    if texts > limits::TEXT_KEYS {
        return Err(LimitError::TextKeys { keys: texts, most: limits::TEXT_KEYS }.into());
    }
    let groups = keys::groups(&keys)?;
    if aggregates.borrow().takes_all() && (groups.is_none() || chooses || sets.is_some()) {
        return Err(no(
            "A subquery as the total beside HAVING, ROLLUP or keys that are not public",
            "write SUM(COUNT(*)) OVER (), the total of the groups that there are, or list the keys \
             in WHERE",
        ));
    }
    let max_groups = match groups {
        Some(groups) => u32::try_from(groups).unwrap_or(u32::MAX).min(*max_groups),
        None => *max_groups,
    };
    let key_exprs: Vec<&Expr> = keys.iter().map(|key| &key.expr).collect();
    let max_groups = rows.parts.most_groups(&keys).unwrap_or(u32::MAX).min(max_groups);
    let max_rows = rows.most_in_group(*max_rows, &key_exprs);
    let max_groups = rows.most_rows(max_groups);
    let max_values = rows.most_in_group(max_values.unwrap_or(max_rows), &key_exprs);
    let (in_group, in_all) = in_all(*max_rows_in_all, max_groups, max_rows);
    let parts = &rows.parts;
    let unit = OfUnit { column: unit_column, parts, rows: in_group, values: max_values };
    let bounded =
        aggregates.into_inner().bounded((&rows.table, &policy, &conditions), unit, &gone)?;
    let Bounded { sums, searches, measures: found } = bounded;
    // Where no rows are added up, it makes no difference how many there are.
    let (max_rows, max_rows_in_all) = match sums.iter().chain(&searches).any(Sum::adds_rows) {
        true => (in_group, in_all),
        false => (max_rows, None),
    };
    // All levels have the clamps and keys that WHERE says: what is listed comes to it afterwards.
    let filter = match totals.listed.is_empty() {
        true => filter,
        false => {
            let terms = filter.into_iter().chain(totals.listed).collect();
            Some(limits::checked(run(Binary::And, terms))?)
        }
    };
    let measures = measures.all(&found);
    checked_totals(&measures, having.is_some())?;
    let mut plan = Plan {
        version: VERSION,
        dataset: rows.table.name.clone(),
        unit_column: unit_column.clone(),
        adjacency: *adjacency,
        rows: None,
        filter,
        keys,
        sums,
        max_groups,
        max_rows,
        max_rows_in_all,
    };
    let of_searches = || searches.iter().filter_map(Sum::expr);
    if let Some(from) = rows.rows.clone() {
        let (from, filter) = from.settled(plan.filter.take());
        plan.filter = filter;
        let used = plan.exprs().chain(of_searches()).flat_map(Expr::columns).collect();
        let from = from.pruned(&used);
        plan.rows = Some(from);
    }
    let passes = limits::checked_work((&plan, of_searches()), &rows.table, rows.passes)?;
    if let Some(from) = &mut plan.rows {
        from.look_at_most(limits::most_pairs(passes));
    }
    let least = None;
    let query = Query {
        plan,
        measures,
        outputs,
        of_keys,
        having,
        order,
        offset,
        limit,
        passes,
        least,
        searches,
    };
    let is_cut = query.limit.is_some() && query.offset == 0 && query.having.is_none();
    // Keys that no value decides about are listed, or selected, and nothing else is computed.
    let by_values = !query.measures.is_empty();
    if !shows_values && by_values && (query.largest_first().is_none() || !is_cut) {
        return Err(Unsupported::KeysAlone.into());
    }
    Ok(query)
}

/// How many rows of a unit count in a group and, where that is fewer than its groups allow, in all
/// of them: one plan has one form.
fn in_all(most: Option<u32>, max_groups: u32, max_rows: u32) -> (u32, Option<u32>) {
    let Some(most) = most else { return (max_rows, None) };
    let max_rows = max_rows.min(most.max(1));
    let is_less = u64::from(most) < u64::from(max_rows) * u64::from(max_groups);
    (max_rows, is_less.then_some(most))
}

/// An expression over keys, over what they are.
fn unkeyed(expr: Expr, keys: &[&Bound]) -> Expr {
    match expr {
        Expr::Key(index) => {
            keys.get(index).map_or(Expr::Literal(Value::Null), |key| key.expr.clone())
        }
        expr => expr.map_children(|child| unkeyed(child, keys)),
    }
}

/// Whose rows are asked about is private, and bounded.
fn checked_unit(table: &Table) -> Result<(), SqlError> {
    let Protection::Private { max_groups, max_rows, .. } = &table.protection else {
        return Err(Unsupported::PublicTable { table: short(&table.name) }.into());
    };
    if *max_rows == 0 || *max_rows > grid::MAX_ROWS || *max_groups == 0 {
        return Err(BoundsError::Unit {
            table: short(&table.name),
            max_groups: *max_groups,
            max_rows: *max_rows,
            most_rows: grid::MAX_ROWS,
        }
        .into());
    }
    Ok(())
}

/// Totals over all groups stand in what is made of them, and are of groups that are public or
/// selected.
fn checked_totals(measures: &[Measure], has_having: bool) -> Result<(), SqlError> {
    let mut inside = 0usize;
    for measure in measures {
        let is_total = matches!(measure, Measure::Total(_));
        if is_total && has_having {
            return Err(no(
                "HAVING of a value beside SUM(…) OVER ()",
                "the total would be of the groups that their noise chose; choose rows in WHERE or by \
                 keys, or choose among those of the answer",
            ));
        }
        if is_total && inside == 0 {
            return Err(no(
                "SUM(…) OVER () by itself",
                "write a share of it, such as COUNT(*) / SUM(COUNT(*)) OVER (); the total alone is \
                 the question without GROUP BY",
            ));
        }
        inside = match measure {
            Measure::Derived { parts, .. } => *parts,
            _ => inside.saturating_sub(1),
        };
    }
    Ok(())
}

/// What of a measure is shown.
type Side = fn(usize) -> Shows;

/// An item of SELECT.
struct Item {
    name: String,
    alias: Option<ast::Ident>,
    /// Canonical.
    bound: Bound,
    /// What of a value is shown, if it is not the value.
    side: Option<Side>,
}

impl Item {
    /// Whether an aggregate is in it.
    fn is_value(&self) -> bool {
        is_value(&self.bound.expr)
    }
}

/// Whether a measure is in an expression.
fn is_value(expr: &Expr) -> bool {
    expr.any(&|expr| matches!(expr, Expr::Measure(_)))
}

/// What is bound over rows.
struct Within<'a> {
    rows: &'a Relation<'a>,
    aggregates: &'a RefCell<Aggregates>,
    usage: &'a LimitUsage,
    parameters: &'a Parameters<'a>,
}

impl Within<'_> {
    fn binder<'b>(
        &'b self,
        clause: &'static str,
        aliases: &'b [(ast::Ident, Bound)],
    ) -> Binder<'b> {
        let aggregates = matches!(clause, "SELECT" | "HAVING" | "ORDER BY");
        Binder {
            rows: self.rows,
            aggregates: aggregates.then_some(self.aggregates),
            totals: None,
            aliases,
            clause,
            usage: self.usage,
            parameters: self.parameters,
        }
    }

    /// The conjunction of all conditions, inner and outer.
    fn filter(&self, selection: Option<&ast::Expr>) -> Result<Option<Expr>, SqlError> {
        let mut terms: Vec<Expr> = Vec::new();
        let mut size = 0;
        for term in &self.rows.filter {
            size += term.size();
            if size > limits::NODES {
                return Err(limits::too_large());
            }
            terms.push(Expr::clone(term));
        }
        if let Some(selection) = selection {
            terms.push(canonical(self.binder("WHERE", &[]).condition(selection)?));
        }
        let filter = limits::checked(run(Binary::And, terms))?;
        Ok((filter != Expr::Literal(Value::Bool(true))).then_some(filter))
    }

    fn items(&self, projection: &[ast::SelectItem]) -> Result<Vec<Item>, SqlError> {
        let binder = self.binder("SELECT", &[]);
        let mut items = Vec::new();
        for item in &each_quantile(projection)? {
            let (expr, alias) = match &**item {
                ast::SelectItem::UnnamedExpr(expr) => (expr, None),
                ast::SelectItem::ExprWithAlias { expr, alias } => (expr, Some(alias)),
                ast::SelectItem::Wildcard(_) | ast::SelectItem::QualifiedWildcard(..) => {
                    return Err(Unsupported::SelectStar.into());
                }
                ast::SelectItem::ExprWithAliases { .. } => {
                    return Err(none("Several aliases for one expression", "write AS name"));
                }
            };
            let name = alias.map_or_else(|| names::of_item(expr, 200), |alias| alias.value.clone());
            let (expr, side) = match side(expr)? {
                Some((side, inner)) => (inner, Some(side)),
                None => (expr, None),
            };
            let bound = match (side, aliased(expr, &items)) {
                (Some(_), Some(bound)) => bound,
                _ => binder.bind(expr)?,
            };
            let item = Item { name, alias: alias.cloned(), bound: bound.canonical()?, side };
            if side.is_some() && !item.is_value() {
                return Err(Unsupported::form(
                    expr,
                    "DP_INTERVAL_LOW, DP_INTERVAL_HIGH and DP_MET are of an aggregate, or of an \
                     alias that stands before them",
                ));
            }
            let is_number = matches!(item.bound.kind, Some(Type::Int | Type::Float));
            if item.is_value() && !is_number && !self.is_quantile(&item.bound.expr) {
                return Err(Unsupported::form(
                    expr,
                    "what is made of noisy values is a number, with an interval of its own; select \
                     the number, and compare it in HAVING or in what reads the answer",
                ));
            }
            items.push(item);
        }
        if items.is_empty() {
            return Err(SyntaxError::SelectsNothing.into());
        }
        Ok(items)
    }

    /// Whether an expression over aggregates is a quantile and nothing else.
    fn is_quantile(&self, expr: &Expr) -> bool {
        matches!(expr, Expr::Measure(index) if self.aggregates.borrow().is_quantile(*index))
    }

    /// Quantiles are shown as they are found, and sorted by.
    fn checked_quantiles<'e>(
        &self,
        shown: impl Iterator<Item = &'e Expr>,
        order: &'e [Order],
        (having, is_cut): (Option<&Expr>, bool),
    ) -> Result<(), SqlError> {
        if !self.aggregates.borrow().has_quantiles() {
            return Ok(());
        }
        let has = |expr: &Expr| expr.any(&|part| self.is_quantile(part));
        let is_made = |expr: &Expr| has(expr) && !self.is_quantile(expr);
        if shown.chain(order.iter().map(|order| &order.by)).any(is_made) {
            return Err(none(
                "Expressions over quantiles",
                "select each quantile by itself, and compute with what the answer shows",
            ));
        }
        if having.is_some_and(has) {
            return Err(no(
                "HAVING by a quantile",
                "choose rows in WHERE, or among those of the answer",
            ));
        }
        if is_cut && order.iter().any(|order| has(&order.by)) {
            return Err(no(
                "LIMIT beside ORDER BY a quantile",
                "take LIMIT out, or sort by a COUNT, SUM or AVG",
            ));
        }
        Ok(())
    }

    /// Whether ORDER BY, where there is one, sorts by the keys as they were written: that is how
    /// rows with totals come.
    fn sorted_by_keys(
        &self,
        order_by: Option<&ast::OrderBy>,
        items: &[Item],
        keys: &[Bound],
    ) -> Result<(), SqlError> {
        let wrong = || {
            no(
                "ORDER BY something else than the keys beside ROLLUP, CUBE or GROUPING SETS",
                "rows come in the order of their keys, each total after what it is of",
            )
        };
        let Some(ast::OrderBy { kind, .. }) = order_by else { return Ok(()) };
        let ast::OrderByKind::Expressions(exprs) = kind else { return Err(wrong()) };
        let is_alias = |name: &ast::Ident, item: &Item| {
            item.alias.as_ref().is_some_and(|own| names::means(name, &own.value))
        };
        for (place, ast::OrderByExpr { expr, options, .. }) in exprs.iter().enumerate() {
            let item = match bare(expr) {
                ast::Expr::Identifier(name) => items.iter().find(|item| is_alias(name, item)),
                expr => ordinal(expr, items.len(), "ORDER BY")?.map(|place| &items[place]),
            };
            let by = match item {
                Some(item) => item.bound.clone(),
                None => self.binder("GROUP BY", &[]).bind(expr)?.canonical()?,
            };
            let is_plain = options.asc != Some(false) && options.nulls_first != Some(true);
            if !is_plain || keys.get(place).is_none_or(|key| key.expr != by.expr) {
                return Err(wrong());
            }
        }
        Ok(())
    }

    /// The keys as they were written, canonical.
    fn keys<'e>(
        &self,
        group_by: impl IntoIterator<Item = &'e ast::Expr>,
        items: &[Item],
        aliases: &[(ast::Ident, Bound)],
    ) -> Result<Vec<Bound>, SqlError> {
        let binder = self.binder("GROUP BY", aliases);
        let mut keys = Vec::new();
        for expr in group_by {
            let bound = match ordinal(expr, items.len(), "GROUP BY")? {
                Some(place) => items[place].bound.clone(),
                None => binder.bind(expr)?,
            };
            keys.push(self.key(bound, short(expr))?);
        }
        Ok(keys)
    }

    /// Every item that has no aggregate in it, as a key.
    fn all_keys(&self, items: &[Item]) -> Result<Vec<Bound>, SqlError> {
        let is_key = |item: &&Item| !item.is_value();
        items.iter().filter(is_key).map(|i| self.key(i.bound.clone(), short(&i.name))).collect()
    }

    /// A key, canonical.
    fn key(&self, bound: Bound, written: String) -> Result<Bound, SqlError> {
        if bound.expr.any(&|expr| matches!(expr, Expr::Measure(_))) {
            return Err(Unsupported::KeyOfAggregate { written }.into());
        }
        let key = bound.canonical()?;
        let unit = self.rows.unit_column();
        let copies = self.rows.copies.iter().map(String::as_str);
        if copies.chain([unit]).any(|unit| key.expr.tells_units(unit)) {
            let unit = short(&self.rows.written_unit());
            return Err(Unsupported::KeyOfUnits { written, unit }.into());
        }
        Ok(key)
    }
}

/// The items of SELECT, where one that asks for several quantiles is one for each.
fn each_quantile(
    projection: &[ast::SelectItem],
) -> Result<Vec<Cow<'_, ast::SelectItem>>, SqlError> {
    let mut items = Vec::with_capacity(projection.len());
    for item in projection {
        let (expr, alias) = match item {
            ast::SelectItem::UnnamedExpr(expr) => (expr, None),
            ast::SelectItem::ExprWithAlias { expr, alias } => (expr, Some(alias)),
            _ => {
                items.push(Cow::Borrowed(item));
                continue;
            }
        };
        let Some(several) = quantile::several(expr)? else {
            items.push(Cow::Borrowed(item));
            continue;
        };
        items.extend(several.into_iter().map(|(expr, share)| {
            Cow::Owned(match alias {
                None => ast::SelectItem::UnnamedExpr(expr),
                Some(alias) => {
                    let value = format!("{}_{share}", alias.value);
                    let alias = ast::Ident { value, ..alias.clone() };
                    ast::SelectItem::ExprWithAlias { expr, alias }
                }
            })
        }));
    }
    Ok(items)
}

/// What is bound over an answer: keys and measures.
struct After<'a> {
    within: &'a Within<'a>,
    items: &'a [Item],
    aliases: &'a [(ast::Ident, Bound)],
    keys: &'a [&'a Bound],
}

impl After<'_> {
    fn having(&self, having: Option<&ast::Expr>) -> Result<Option<Expr>, SqlError> {
        let Some(having) = having else { return Ok(None) };
        let condition = self.within.binder("HAVING", self.aliases).condition(having)?;
        let condition = self.over_answers(condition, "HAVING")?;
        Ok((condition != Expr::Literal(Value::Bool(true))).then_some(condition))
    }

    fn order(&self, order_by: Option<&ast::OrderBy>) -> Result<Vec<Order>, SqlError> {
        let Some(ast::OrderBy { kind, interpolate }) = order_by else { return Ok(Vec::new()) };
        let exprs = match kind {
            ast::OrderByKind::Expressions(exprs) if interpolate.is_none() => exprs,
            _ => return Err(no("ORDER BY ALL", "name what to sort by")),
        };
        let mut order = Vec::new();
        for ast::OrderByExpr { expr, options, with_fill } in exprs {
            if with_fill.is_some() {
                return Err(no("WITH FILL", "take it out"));
            }
            let bound = match self.output(expr)? {
                Some(place) => self.items[place].bound.clone(),
                None => self.within.binder("ORDER BY", self.aliases).bind(expr)?,
            };
            let descending = options.asc == Some(false);
            let by = self.over_answers(bound.expr, "ORDER BY")?;
            // A value that is not known is last, and a key that is NULL as PostgreSQL has it.
            let is_value = by.any(&|expr| matches!(expr, Expr::Measure(_)));
            let nulls_first = options.nulls_first.unwrap_or(descending && !is_value);
            order.push(Order { by, descending, nulls_first });
        }
        Ok(order)
    }

    /// The item that ORDER BY means by a number, or by an alias: aliases come before columns there.
    fn output(&self, expr: &ast::Expr) -> Result<Option<usize>, SqlError> {
        let ast::Expr::Identifier(name) = bare(expr) else {
            return ordinal(expr, self.items.len(), "ORDER BY");
        };
        let alias =
            |item: &Item| item.alias.as_ref().is_some_and(|own| names::means(name, &own.value));
        let mut found = self.items.iter().enumerate().filter(|(_, item)| alias(item));
        match (found.next(), found.next()) {
            (Some((place, item)), Some((_, other))) if item.bound == other.bound => Ok(Some(place)),
            (_, Some(_)) => {
                Err(NameError::Twice { what: Named::Alias, name: short(&name.value) }.into())
            }
            (found, None) => Ok(found.map(|(place, _)| place)),
        }
    }

    /// With keys for what is a key; no column may be left.
    fn over_answers(&self, expr: Expr, clause: &'static str) -> Result<Expr, SqlError> {
        let expr = canonical(self.keyed(expr));
        if let Some(column) = expr.columns().first() {
            return Err(Unsupported::OfRows { column: short(column), clause }.into());
        }
        limits::checked(expr)
    }

    /// A constant, or what follows from keys and is none of them, where rows are totals over some:
    /// these are NULL. None if it takes anything else.
    fn of_keys(&self, expr: &Expr, over: &[Expr]) -> Option<Expr> {
        let expr = canonical(self.keyed(without(expr.clone(), over)));
        expr.columns().is_empty().then_some(expr)
    }

    fn keyed(&self, expr: Expr) -> Expr {
        if matches!(expr, Expr::Literal(_) | Expr::Measure(_) | Expr::Key(_)) {
            return expr;
        }
        let form = canonical(expr.clone());
        match self.keys.iter().position(|key| key.expr == form) {
            Some(index) => Expr::Key(index),
            None => expr.map_children(|child| self.keyed(child)),
        }
    }
}

/// An expression in which these are NULL.
fn without(expr: Expr, over: &[Expr]) -> Expr {
    if over.is_empty() {
        return expr;
    }
    match over.contains(&canonical(expr.clone())) {
        true => Expr::Literal(Value::Null),
        false => expr.map_children(|child| without(child, over)),
    }
}

/// What of a value an item shows, and of which; none if it is no such function.
fn side(expr: &ast::Expr) -> Result<Option<(Side, &ast::Expr)>, SqlError> {
    let ast::Expr::Function(call) = bare(expr) else { return Ok(None) };
    let name = names::simple(&call.name).map(|name| name.value.to_lowercase());
    let side: Side = match name.as_deref() {
        Some("dp_interval_low") => Shows::Low,
        Some("dp_interval_high") => Shows::High,
        Some("dp_met") => Shows::Met,
        _ => return Ok(None),
    };
    match &call.args {
        ast::FunctionArguments::List(list) if call.filter.is_none() && call.over.is_none() => {
            match list.args.as_slice() {
                [ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(inner))] => {
                    Ok(Some((side, inner)))
                }
                _ => Err(Unsupported::form(call, "it takes one aggregate, or its alias")),
            }
        }
        _ => Err(Unsupported::form(call, "it takes one aggregate, or its alias")),
    }
}

/// What an alias of an item before stands for.
fn aliased(expr: &ast::Expr, items: &[Item]) -> Option<Bound> {
    let ast::Expr::Identifier(name) = bare(expr) else { return None };
    let named =
        |item: &&Item| item.alias.as_ref().is_some_and(|alias| names::means(name, &alias.value));
    items.iter().find(named).filter(|item| item.is_value()).map(|item| item.bound.clone())
}

/// The place of the item that a bare number means, from 0.
pub(crate) fn ordinal(
    expr: &ast::Expr,
    items: usize,
    clause: &'static str,
) -> Result<Option<usize>, SqlError> {
    let ast::Expr::Value(value) = bare(expr) else { return Ok(None) };
    let ast::Value::Number(digits, false) = &value.value else {
        return Err(Unsupported::ByConstant { clause, written: short(expr) }.into());
    };
    match digits.parse::<usize>() {
        Ok(place) if (1..=items).contains(&place) => Ok(Some(place - 1)),
        _ => Err(NameError::NoItem { clause, number: line(digits, 40), items }.into()),
    }
}

/// A SELECT without TOP, and how many rows that says.
pub(crate) fn without_top<'s>(
    select: &'s ast::Select,
    limit: Option<&ast::LimitClause>,
) -> Result<(Cow<'s, ast::Select>, Option<u64>), SqlError> {
    match &select.top {
        Some(ast::Top {
            with_ties: false,
            percent: false,
            quantity: Some(ast::TopQuantity::Constant(count)),
        }) if limit.is_none() => {
            let select = ast::Select { top: None, ..select.clone() };
            Ok((Cow::Owned(select), Some(*count)))
        }
        _ => Ok((Cow::Borrowed(select), None)),
    }
}

/// OFFSET and LIMIT.
fn window(limit: Option<&ast::LimitClause>) -> Result<(u64, Option<u64>), SqlError> {
    match limit {
        None => Ok((0, None)),
        Some(ast::LimitClause::LimitOffset { limit, offset, limit_by }) if limit_by.is_empty() => {
            let offset = offset.as_ref().map(|offset| constant_count("OFFSET", &offset.value));
            let offset = offset.transpose()?.unwrap_or(0);
            let limit = limit.as_ref().map(|limit| constant_count("LIMIT", limit));
            Ok((offset, limit.transpose()?))
        }
        Some(_) => Err(no("LIMIT with BY or a comma", "write LIMIT n OFFSET m")),
    }
}
