//! The rows a question is about: one dataset, some of its rows, and names for expressions over its
//! columns.
//!
//! Subqueries and CTEs that project and filter are put in where they are used, so that what is left
//! is one dataset, one conjunction and expressions over its own columns. Whatever else a subquery
//! does is refused: each row must come from one row of one unit.

use std::rc::Rc;

use sqlparser::ast;

use crate::error::{LimitError, NameError, Named, Sought, TypeError, Unsupported, short};
use crate::expr::canonical::canonical;
use crate::frontend::bind::{Binder, Bound, LimitUsage, Parameters};
use crate::frontend::clauses::{Clauses, clauses, no, no_set, none, parts, plain_wildcard};
use crate::frontend::limits;
use crate::frontend::names;
use crate::{Expr, Protection, SqlError, Table};

/// Rows of a dataset, under names.
#[derive(Clone, Debug)]
pub(crate) struct Relation<'a> {
    /// The dataset.
    pub(crate) table: &'a Table,
    /// What must be true of a row.
    pub(crate) filter: Vec<Rc<Expr>>,
    /// What the rows go by; a subquery without an alias has no name.
    name: Option<String>,
    /// Their columns, in order.
    fields: Vec<Field>,
}

/// A column of such rows: none if eke has no such type.
#[derive(Clone, Debug)]
struct Field {
    name: String,
    bound: Option<Rc<Bound>>,
}

impl<'a> Relation<'a> {
    /// A dataset as it is.
    fn table(table: &'a Table) -> Result<Self, SqlError> {
        if table.protection == Protection::Public {
            return Err(Unsupported::PublicTable { table: short(&table.name) }.into());
        }
        let field = |column: &crate::Column| Field {
            name: column.name.clone(),
            bound: column
                .kind
                .map(|kind| Rc::new(Bound::new(Expr::Column(column.name.clone()), kind))),
        };
        Ok(Self {
            table,
            filter: Vec::new(),
            name: Some(table.name.clone()),
            fields: table.columns.iter().map(field).collect(),
        })
    }

    /// Whose rows are whose.
    pub(crate) fn unit_column(&self) -> &'a str {
        match &self.table.protection {
            Protection::Private { unit_column, .. } => unit_column,
            Protection::Public => "",
        }
    }

    /// The column that a name means.
    pub(crate) fn find(&self, name: &ast::Ident) -> Result<Option<Rc<Bound>>, SqlError> {
        let Some(place) = names::find(Named::Column, name, self.names())? else { return Ok(None) };
        match &self.fields[place].bound {
            Some(bound) => Ok(Some(Rc::clone(bound))),
            None => Err(TypeError::Column { column: short(&name.value) }.into()),
        }
    }

    /// The column of a name with the table's before it.
    pub(crate) fn qualified(
        &self,
        relation: &ast::Ident,
        name: &ast::Ident,
    ) -> Result<Rc<Bound>, SqlError> {
        self.goes_by(relation)?;
        self.find(name)?.ok_or_else(|| self.unknown(name))
    }

    fn goes_by(&self, relation: &ast::Ident) -> Result<(), SqlError> {
        match &self.name {
            Some(own) if names::means(relation, own) => Ok(()),
            own => Err(names::unknown(
                Named::Table,
                Sought::From,
                &relation.value,
                own.iter().map(String::as_str),
            )),
        }
    }

    /// What to say about a name that no column has.
    pub(crate) fn unknown(&self, name: &ast::Ident) -> SqlError {
        let sought = self.name.as_ref().map_or(Sought::Anywhere, |own| Sought::In(short(own)));
        names::unknown(Named::Column, sought, &name.value, self.names())
    }

    fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.fields.iter().map(|field| field.name.as_str())
    }

    /// Under another name, and perhaps with other names for the first columns.
    fn renamed(mut self, alias: Option<&ast::TableAlias>) -> Result<Self, SqlError> {
        let Some(ast::TableAlias { explicit: _, name, columns, at }) = alias else {
            return Ok(self);
        };
        if at.is_some() || columns.iter().any(|column| column.data_type.is_some()) {
            return Err(none("Types and AT in a table's alias", "write AS name(column, …)"));
        }
        if columns.len() > self.fields.len() {
            return Err(NameError::MoreColumns {
                alias: short(&name.value),
                columns: self.fields.len(),
                named: columns.len(),
            }
            .into());
        }
        self.name = Some(name.value.clone());
        for (field, column) in self.fields.iter_mut().zip(columns) {
            field.name.clone_from(&column.name.value);
        }
        Ok(self)
    }
}

/// CTEs that can be seen, the innermost last.
pub(crate) type Scope<'a> = Vec<(ast::Ident, Rc<Relation<'a>>)>;

/// Where rows come from.
pub(crate) struct Source<'a> {
    pub(crate) tables: &'a [Table],
    pub(crate) usage: &'a LimitUsage,
    pub(crate) parameters: &'a Parameters<'a>,
}

impl<'a> Source<'a> {
    /// The CTEs of a WITH, after those that could be seen before.
    pub(crate) fn with(
        &self,
        with: Option<&ast::With>,
        mut scope: Scope<'a>,
    ) -> Result<Scope<'a>, SqlError> {
        let Some(ast::With { with_token: _, recursive, cte_tables }) = with else {
            return Ok(scope);
        };
        if *recursive {
            return Err(no("WITH RECURSIVE", "each row must come from one row of the table"));
        }
        let outer = scope.len();
        for cte in cte_tables {
            let ast::Cte { alias, query, from, materialized, closing_paren_token: _ } = cte;
            if from.is_some() || materialized.is_some() {
                return Err(none(
                    "MATERIALIZED and FROM after a CTE",
                    "write WITH name AS (SELECT …)",
                ));
            }
            if scope[outer..].iter().any(|(name, _)| names::means(&alias.name, &name.value)) {
                let name = short(&alias.name.value);
                return Err(NameError::Twice { what: Named::Cte, name }.into());
            }
            let relation = self.subquery(query, &scope)?.renamed(Some(alias))?;
            scope.push((alias.name.clone(), Rc::new(relation)));
        }
        Ok(scope)
    }

    /// The rows of a FROM.
    pub(crate) fn from(
        &self,
        from: &[ast::TableWithJoins],
        scope: &Scope<'a>,
    ) -> Result<Relation<'a>, SqlError> {
        match from {
            [] => Err(Unsupported::NoFrom.into()),
            [one] => {
                if !one.joins.is_empty() {
                    return Err(no(
                        "JOIN",
                        "ask about one table; joins with public tables come later",
                    ));
                }
                self.factor(&one.relation, scope)
            }
            _ => Err(Unsupported::SeveralTables.into()),
        }
    }

    fn factor(
        &self,
        factor: &ast::TableFactor,
        scope: &Scope<'a>,
    ) -> Result<Relation<'a>, SqlError> {
        use ast::TableFactor as F;
        match factor {
            F::Table {
                name,
                alias,
                args,
                with_hints,
                version,
                with_ordinality,
                partitions,
                json_path,
                sample,
                index_hints,
            } => {
                if args.is_some() || *with_ordinality {
                    return Err(Unsupported::TableFunction { name: short(name) }.into());
                }
                if sample.is_some() {
                    return Err(no_sample());
                }
                let plain = with_hints.is_empty()
                    && version.is_none()
                    && partitions.is_empty()
                    && json_path.is_none()
                    && index_hints.is_empty();
                if !plain {
                    return Err(Unsupported::TableHints { table: short(name) }.into());
                }
                self.named(name, scope)?.renamed(alias.as_ref())
            }
            F::Derived { lateral, subquery, alias, sample } => {
                if *lateral {
                    return Err(no("LATERAL", "write a subquery that stands by itself"));
                }
                if sample.is_some() {
                    return Err(no_sample());
                }
                self.subquery(subquery, scope)?.renamed(alias.as_ref())
            }
            F::NestedJoin { table_with_joins, alias } => self
                .usage
                .deeper(|| self.from(std::slice::from_ref(table_with_joins), scope))?
                .renamed(alias.as_ref()),
            other => Err(Unsupported::From { written: short(other) }.into()),
        }
    }

    fn named(&self, name: &ast::ObjectName, scope: &Scope<'a>) -> Result<Relation<'a>, SqlError> {
        let unknown = |written: &str| {
            let ctes = scope.iter().map(|(ident, _)| ident.value.as_str());
            let tables = self.tables.iter().map(|table| table.name.as_str());
            names::unknown(Named::Table, Sought::Anywhere, written, tables.chain(ctes))
        };
        let Some(ident) = names::simple(name) else { return Err(unknown(&name.to_string())) };
        // The innermost CTE first, then the tables.
        let cte = scope.iter().rev().find(|(own, _)| names::means(ident, &own.value));
        if let Some((_, relation)) = cte {
            return Ok(Relation::clone(relation));
        }
        match names::find(Named::Table, ident, self.tables.iter().map(|table| table.name.as_str()))?
        {
            Some(place) => Relation::table(&self.tables[place]),
            None => Err(unknown(&ident.value)),
        }
    }

    /// The rows of a subquery that projects and filters.
    fn subquery(&self, query: &ast::Query, scope: &Scope<'a>) -> Result<Relation<'a>, SqlError> {
        self.usage.deeper(|| {
            let (with, body, order_by, limit_clause) = parts(query)?;
            if order_by.is_some() || limit_clause.is_some() {
                return Err(none(
                    "ORDER BY and LIMIT inside subqueries",
                    "which rows are kept would depend on other units' rows; write them at the end \
                     of the question",
                ));
            }
            let scope = self.with(with, scope.clone())?;
            match body {
                ast::SetExpr::Select(select) => self.projection(select, &scope),
                ast::SetExpr::Query(inner) => self.subquery(inner, &scope),
                other => Err(no_set(other)),
            }
        })
    }

    fn projection(
        &self,
        select: &ast::Select,
        scope: &Scope<'a>,
    ) -> Result<Relation<'a>, SqlError> {
        let Clauses { projection, from, selection, group_by, having } = clauses(select)?;
        if !group_by.is_empty() || having.is_some() {
            return Err(none(
                "GROUP BY and HAVING inside subqueries",
                "subqueries may choose columns and rows; aggregate in the outermost SELECT",
            ));
        }
        let rows = self.from(from, scope)?;
        let binder = Binder {
            rows: &rows,
            aggregates: None,
            aliases: &[],
            clause: "a subquery",
            usage: self.usage,
            parameters: self.parameters,
        };
        let widest = self.tables.iter().map(|table| table.columns.len()).max().unwrap_or(0);
        let mut fields: Vec<Field> = Vec::new();
        for item in projection {
            match item {
                ast::SelectItem::UnnamedExpr(expr) => {
                    let bound = binder.bind(expr)?.canonical()?;
                    let name = names::of_item(expr, 60);
                    fields.push(Field { name, bound: Some(Rc::new(bound)) });
                }
                ast::SelectItem::ExprWithAlias { expr, alias } => {
                    let bound = binder.bind(expr)?.canonical()?;
                    fields.push(Field { name: alias.value.clone(), bound: Some(Rc::new(bound)) });
                }
                ast::SelectItem::Wildcard(options) => {
                    plain_wildcard(options)?;
                    fields.extend(rows.fields.iter().cloned());
                }
                ast::SelectItem::QualifiedWildcard(
                    ast::SelectItemQualifiedWildcardKind::ObjectName(name),
                    options,
                ) => {
                    plain_wildcard(options)?;
                    let Some(name) = names::simple(name) else {
                        let (name, instead) = (short(name), "table.*");
                        return Err(NameError::TooManyDots { name, instead }.into());
                    };
                    rows.goes_by(name)?;
                    fields.extend(rows.fields.iter().cloned());
                }
                other => {
                    let instead = "write an expression and perhaps AS name";
                    return Err(Unsupported::form(other, instead));
                }
            }
            if fields.len() > widest + limits::COLUMNS {
                return Err(LimitError::Columns { most: widest + limits::COLUMNS }.into());
            }
        }
        let mut filter = rows.filter.clone();
        if let Some(selection) = selection {
            let binder = Binder { clause: "WHERE", ..binder };
            filter.push(Rc::new(limits::checked(canonical(binder.condition(selection)?))?));
        }
        Ok(Relation { table: rows.table, filter, name: None, fields })
    }
}

fn no_sample() -> SqlError {
    no("TABLESAMPLE", "the same question must have the same rows")
}
