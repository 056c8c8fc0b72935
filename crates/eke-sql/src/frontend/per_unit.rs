//! Subqueries that group by the unit: one row a person first.
//!
//! What such a subquery aggregates is exact and stays each unit's own. Its columns are named by
//! what they are, and the question goes on over them as over those of a dataset.

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

use sqlparser::ast;

use crate::error::{LimitError, Unsupported, short};
use crate::expr::canonical::{canonical, run, sort_key};
use crate::expr::display::list;
use crate::frontend::bind::{Binder, Bound};
use crate::frontend::clauses::{Clauses, GroupBy, no};
use crate::frontend::limits;
use crate::frontend::names;
use crate::frontend::question::ordinal;
use crate::frontend::rows::{Field, Relation, Scope, Source};
use crate::plan::bounds;
use crate::plan::keys;
use crate::plan::narrow::Conditions;
use crate::{
    Binary, Column, Expr, PerUnit, Protection, RowSource, SqlError, Table, TotalFunction, Type,
    UnitKey, UnitTotal, Value,
};

/// How many bytes the name of a column has at most that is named by what it is.
const NAME: usize = 80;

/// The aggregates of such a subquery, without repetition.
#[derive(Debug, Default)]
pub(crate) struct UnitTotals(Vec<UnitTotal>);

impl UnitTotals {
    /// The place of an aggregate.
    pub(crate) fn index(
        &mut self,
        function: TotalFunction,
        expr: Option<Expr>,
        kind: Type,
    ) -> usize {
        let same = |total: &UnitTotal| total.function == function && total.expr == expr;
        if let Some(index) = self.0.iter().position(same) {
            return index;
        }
        let of = expr.as_ref().map_or_else(|| "*".to_owned(), ToString::to_string);
        let distinct = if function == TotalFunction::CountDistinct { "DISTINCT " } else { "" };
        let name = named(format!("{function}({distinct}{of})"), &self.0.iter().map(|t| &*t.name));
        self.0.push(UnitTotal { name, function, expr, kind });
        self.0.len() - 1
    }

    /// The column of an aggregate and its type.
    pub(crate) fn result(&self, index: usize) -> Type {
        self.0[index].result()
    }
}

/// A name that is not too long and that no other has.
pub(crate) fn named<'n>(text: String, others: &(impl Iterator<Item = &'n str> + Clone)) -> String {
    let mut name = text;
    if name.len() > NAME {
        let digest = blake3::hash(name.as_bytes()).to_hex();
        let start: String = name.chars().take(NAME / 4).collect();
        name = format!("{start}…{}", &digest[..16]);
    }
    while others.clone().any(|other| *other == name) {
        name.push('\'');
    }
    name
}

/// What a subquery selects.
struct Item {
    name: String,
    alias: Option<ast::Ident>,
    bound: Bound,
}

impl<'a> Source<'a> {
    /// The rows of a subquery that groups by the unit.
    pub(crate) fn per_unit(
        &self,
        clauses: &Clauses<'_>,
        scope: &Scope<'a>,
    ) -> Result<Relation<'a>, SqlError> {
        let (rows, selection) = self.tables_and_rest(clauses.from, clauses.selection, scope)?;
        let (rows, selection) = self.chosen(rows, selection.as_deref(), scope)?;
        let Protection::Private { unit_column, max_rows, .. } = &rows.table.protection else {
            return Err(Unsupported::PublicTable { table: short(&rows.table.name) }.into());
        };
        if unit_column.is_empty() {
            return Err(Unsupported::GroupsOfRows { table: short(&rows.table.name) }.into());
        }
        if rows.nested() >= limits::STEPS {
            return Err(limits::too_deep());
        }
        let totals = RefCell::new(UnitTotals::default());
        let binder = |clause: &'static str| Binder {
            rows: &rows,
            aggregates: None,
            totals: matches!(clause, "a subquery" | "HAVING").then_some(&totals),
            aliases: &[],
            clause,
            usage: self.usage,
            parameters: self.parameters,
        };
        let filter = filter(&rows, selection.as_deref(), &binder("WHERE"))?;
        let items = items(clauses.projection, &binder("a subquery"))?;
        let aliases: Vec<(ast::Ident, Bound)> = items
            .iter()
            .filter_map(|item| Some((item.alias.clone()?, item.bound.clone())))
            .collect();
        let aggregated = |bound: &Bound| bound.expr.any(&|expr| matches!(expr, Expr::Measure(_)));
        let is_key = |item: &&Item| !aggregated(&item.bound);
        let of_items = || items.iter().filter(is_key).map(|item| item.bound.clone()).collect();
        let written: Vec<Bound> = match clauses.group_by {
            GroupBy::Keys([]) if clauses.is_distinct && items.iter().all(|i| is_key(&i)) => {
                of_items()
            }
            _ if clauses.is_distinct => {
                let instead = "GROUP BY makes rows different anyhow; take DISTINCT out";
                return Err(no("SELECT DISTINCT with GROUP BY or aggregates", instead));
            }
            GroupBy::All => of_items(),
            GroupBy::Keys(keys) => {
                let binder = Binder { aliases: &aliases, ..binder("GROUP BY") };
                let key = |expr: &ast::Expr| match ordinal(expr, items.len(), "GROUP BY")? {
                    Some(place) => Ok(items[place].bound.clone()),
                    None => binder.bind(expr)?.canonical(),
                };
                keys.iter().map(key).collect::<Result<_, SqlError>>()?
            }
        };
        if let Some((key, _)) = written.iter().zip(0..).find(|(key, _)| aggregated(key)) {
            return Err(Unsupported::KeyOfAggregate { written: short(&key.expr) }.into());
        }
        let unit = Expr::Column(unit_column.clone());
        if !written.iter().any(|key| key.expr == unit) {
            by_parts(&rows, &written)?;
        }
        let having = match clauses.having {
            Some(having) => {
                let binder = Binder { aliases: &aliases, ..binder("HAVING") };
                Some(binder.condition(having)?)
            }
            None => None,
        };
        let is_unit = |key: &Bound| key.expr == unit || rows.parts.all().contains(&key.expr);
        let mut keys: Vec<Bound> = written.into_iter().filter(|key| !is_unit(key)).collect();
        keys.sort_by_cached_key(|key| sort_key(&key.expr));
        keys.dedup_by(|a, b| a.expr == b.expr);

        let UnitTotals(mut totals) = totals.take();
        let mut known: Vec<String> = vec![unit_column.clone()];
        known.extend(totals.iter().map(|total| total.name.clone()));
        let mut unit_keys = Vec::new();
        for key in keys {
            let text = match &key.expr {
                Expr::Column(name) => name.clone(),
                expr => expr.to_string(),
            };
            let name = named(text, &known.iter().map(String::as_str));
            known.push(name.clone());
            let kind = key.kind.unwrap_or(Type::Text);
            unit_keys.push(UnitKey { name, expr: key.expr, kind });
        }
        // What a unit is made of has one value for all its rows.
        let mut parts: Vec<(Expr, String)> = Vec::new();
        for part in rows.parts.all() {
            let text = match part {
                Expr::Column(name) => name.clone(),
                expr => expr.to_string(),
            };
            let name = named(text, &known.iter().map(String::as_str));
            known.push(name.clone());
            parts.push((part.clone(), name));
        }
        let over = Over { unit: unit_column, parts: &parts, keys: &unit_keys, totals: &totals };
        let mut fields = Vec::new();
        for Item { name, bound, .. } in &items {
            let expr = over.of(bound.expr.clone())?;
            let bound = Bound { expr, kind: bound.kind }.canonical()?;
            fields.push(Field::new(name.clone(), bound));
        }
        let having = having.map(|having| over.of(having)).transpose()?;
        let having = having.map(|having| limits::checked(canonical(having))).transpose()?;

        let least = TotalFunction::Least;
        if parts.is_empty() {
            let kind = rows.table.kind(unit_column).unwrap_or(Type::Text);
            let name = unit_column.clone();
            totals.push(UnitTotal { name, function: least, expr: Some(unit), kind });
        }
        for (part, name) in &parts {
            let kind = part.kind(&|name| rows.table.kind(name)).unwrap_or(Type::Text);
            let (name, expr) = (name.clone(), Some(part.clone()));
            totals.push(UnitTotal { name, function: least, expr, kind });
        }
        totals.sort_by_cached_key(|total| (total.expr.as_ref().map(sort_key), total.name.clone()));
        // What WHERE says about the rows that are brought together.
        let conditions = Conditions::of(filter.as_ref().filter(|_| !self.parameters.may_be()));
        let known = conditions.table(&rows.table);
        let most_rows = rows.most_rows(*max_rows);
        let table = derived(&known, unit_column, most_rows, &unit_keys, &totals);
        let unique = Some(unit_keys.iter().map(|key| key.name.clone()).collect());
        let is_copy = |key: &&UnitKey| key.expr == Expr::Column(key.name.clone());
        let copies = unit_keys.iter().filter(is_copy).map(|key| key.name.clone());
        let copies = copies.filter(|name| rows.copies.contains(name)).collect();
        let per_unit = PerUnit { of: rows.source(), filter, keys: unit_keys, totals };
        let passes = per_unit.exprs().map(|expr| expr.passes(&|name| rows.table.kind(name)));
        let passes = rows.passes + passes.sum::<usize>();
        Ok(Relation {
            table: Cow::Owned(table),
            rows: Some(RowSource::PerUnit(Box::new(per_unit))),
            inline: None,
            unique,
            passes,
            filter: having.into_iter().map(Rc::new).collect(),
            fields,
            copies,
            same_unit: Vec::new(),
            parts: rows.parts.over(parts.into_iter().map(|(_, name)| Expr::Column(name))),
        })
    }
}

/// Whether these keys say which unit a row belongs to, part by part.
fn by_parts(rows: &Relation<'_>, written: &[Bound]) -> Result<(), SqlError> {
    let keys: Vec<&Expr> = written.iter().map(|key| &key.expr).collect();
    let missing = rows.parts.missing_in(&keys);
    if missing.is_none() && !rows.parts.is_empty() {
        return Ok(());
    }
    let unit = short(&rows.written_unit());
    let is_period = rows.parts.has_period() && missing == rows.parts.all().last();
    Err(match missing {
        Some(period) if is_period => {
            let person = short(&list(rows.parts.person()));
            Unsupported::GroupsAcrossPeriods { person, period: short(period) }.into()
        }
        _ => Unsupported::GroupsWithoutUnit { unit }.into(),
    })
}

/// The conjunction of what must be true of the rows.
fn filter(
    rows: &Relation<'_>,
    selection: Option<&ast::Expr>,
    binder: &Binder<'_>,
) -> Result<Option<Expr>, SqlError> {
    let mut terms: Vec<Expr> = rows.filter.iter().map(|term| Expr::clone(term)).collect();
    if let Some(selection) = selection {
        terms.push(canonical(binder.condition(selection)?));
    }
    closed(terms, "a subquery that groups by the unit")
}

/// The conjunction of conditions, without parameters that stay open.
pub(crate) fn closed(terms: Vec<Expr>, clause: &'static str) -> Result<Option<Expr>, SqlError> {
    let filter = limits::checked(run(Binary::And, terms))?;
    if let Some(open) = filter.columns().iter().find_map(|name| name.strip_prefix('\0')) {
        return Err(Unsupported::ParameterIn { name: short(&open), clause }.into());
    }
    Ok((filter != Expr::Literal(Value::Bool(true))).then_some(filter))
}

/// What a subquery selects, canonical.
fn items(projection: &[ast::SelectItem], binder: &Binder<'_>) -> Result<Vec<Item>, SqlError> {
    let mut items = Vec::new();
    for item in projection {
        let (expr, alias) = match item {
            ast::SelectItem::UnnamedExpr(expr) => (expr, None),
            ast::SelectItem::ExprWithAlias { expr, alias } => (expr, Some(alias)),
            other => {
                let instead = "name the keys and aggregates of the subquery";
                return Err(Unsupported::form(other, instead));
            }
        };
        let bound = binder.bind(expr)?.canonical()?;
        let name = alias.map_or_else(|| of_item(expr), |alias| alias.value.clone());
        items.push(Item { name, alias: alias.cloned(), bound });
        if items.len() > limits::COLUMNS {
            return Err(LimitError::Columns { most: limits::COLUMNS }.into());
        }
    }
    Ok(items)
}

/// What an item without an alias is called: an aggregate is called as its function, as PostgreSQL
/// has it.
fn of_item(expr: &ast::Expr) -> String {
    match expr {
        ast::Expr::Function(call) => match names::simple(&call.name) {
            Some(name) => name.value.to_lowercase(),
            None => names::of_item(expr, 60),
        },
        expr => names::of_item(expr, 60),
    }
}

/// Expressions over the rows that come out.
struct Over<'a> {
    unit: &'a str,
    /// The parts of the unit, and what they are called.
    parts: &'a [(Expr, String)],
    keys: &'a [UnitKey],
    totals: &'a [UnitTotal],
}

impl Over<'_> {
    /// With columns for keys and aggregates; there may be no others.
    fn of(&self, expr: Expr) -> Result<Expr, SqlError> {
        let left = RefCell::new(None);
        let expr = self.replaced(expr, &left);
        match left.into_inner() {
            None => Ok(expr),
            Some(column) => {
                let (column, clause) = (short(&column), "a subquery");
                Err(Unsupported::OfRows { column, clause }.into())
            }
        }
    }

    fn replaced(&self, expr: Expr, left: &RefCell<Option<String>>) -> Expr {
        match expr {
            Expr::Measure(index) => Expr::Column(self.totals[index].name.clone()),
            Expr::Literal(_) => expr,
            Expr::Column(name) if name == self.unit => Expr::Column(name),
            expr => {
                let form = canonical(expr.clone());
                let parts = self.parts.iter().filter(|(part, _)| *part == form);
                let keys = self.keys.iter().filter(|key| key.expr == form).map(|key| &key.name);
                match (parts.map(|(_, name)| name).chain(keys).next(), expr) {
                    (Some(name), _) => Expr::Column(name.clone()),
                    (None, Expr::Column(name)) => {
                        left.borrow_mut().get_or_insert_with(|| name.clone());
                        Expr::Column(name)
                    }
                    (None, expr) => expr.map_children(|child| self.replaced(child, left)),
                }
            }
        }
    }
}

/// What is known about the rows that come out, as about a dataset's: where values are added up
/// again, they are clamped to what the rows of one unit can come to that count.
fn derived(
    table: &Table,
    unit_column: &str,
    most_rows: u32,
    keys: &[UnitKey],
    totals: &[UnitTotal],
) -> Table {
    let bounds = |expr: &Expr| bounds::bounds(expr, table, unit_column);
    let values = |expr: &Expr, kind| keys::public(expr, kind, table);
    let key = |key: &UnitKey| Column {
        name: key.name.clone(),
        kind: Some(key.kind),
        bounds: bounds(&key.expr),
        values: values(&key.expr, key.kind),
    };
    let most = f64::from(most_rows);
    let total = |total: &UnitTotal| {
        let own = total.expr.as_ref().and_then(bounds);
        let (bounds, values) = match total.function {
            TotalFunction::Count | TotalFunction::CountDistinct => (Some((0.0, most)), None),
            TotalFunction::Sum => {
                (own.map(|(low, high)| (low.min(low * most), high.max(high * most))), None)
            }
            TotalFunction::Average => (own, None),
            TotalFunction::Least | TotalFunction::Greatest => {
                let listed = total.expr.as_ref().and_then(|expr| values(expr, total.kind));
                (own, listed.filter(|_| total.name != unit_column))
            }
        };
        Column { name: total.name.clone(), kind: Some(total.result()), bounds, values }
    };
    let columns = keys.iter().map(key).chain(totals.iter().map(total)).collect();
    Table { name: table.name.clone(), columns, protection: table.protection.clone() }
}
