//! The rows a question is about: one dataset, some of its rows, and names for expressions over its
//! columns.
//!
//! Subqueries and CTEs that project and filter are put in where they are used, so that what is left
//! is one dataset, one conjunction and expressions over its own columns. A subquery that groups by
//! the unit stays as it is (`per_unit`), and so do joins (`join`, `meet`) and UNION ALL (`union`).
//! Whatever else a subquery does is refused: each row must come from rows of one unit.

use std::borrow::Cow;
use std::rc::Rc;

use sqlparser::ast;

use crate::error::{LimitError, NameError, Named, Sought, TypeError, Unsupported, short};
use crate::expr::canonical::canonical;
use crate::expr::display::identifier;
use crate::frontend::bind::{Binder, Bound, LimitUsage, Parameters};
use crate::frontend::clauses::{
    Clauses, GroupBy, clauses, no, no_set, none, parts, plain_wildcard,
};
use crate::frontend::from::parts::UnitParts;
use crate::frontend::limits;
use crate::frontend::names;
use crate::{Expr, Protection, RowSource, SqlError, Table, Value};

/// Rows of a dataset, under names.
#[derive(Clone, Debug)]
pub(crate) struct Relation<'a> {
    /// The dataset, or what is known about rows that are computed from it.
    pub(crate) table: Cow<'a, Table>,
    /// How they are computed, if they are not the dataset's own.
    pub(crate) rows: Option<RowSource>,
    /// The cells of a table that the question writes out, column by column.
    pub(crate) inline: Option<Rc<Vec<Vec<Value>>>>,
    /// The columns that tell the rows of one unit apart; none if some may be the same in all.
    pub(crate) unique: Option<Vec<String>>,
    /// How many times texts are gone through for a row before it is one of these.
    pub(crate) passes: usize,
    /// What must be true of a row.
    pub(crate) filter: Vec<Rc<Expr>>,
    /// Their columns, in order.
    pub(crate) fields: Vec<Field>,
    /// Columns that have the unit or NULL: those of tables that were joined.
    pub(crate) copies: Vec<String>,
    /// What has the same value as the unit's column, in its canonical form.
    pub(crate) same_unit: Vec<Expr>,
    /// The parts of the unit over these rows, where it is not a column.
    pub(crate) parts: UnitParts,
}

/// A column of such rows: none if eke has no such type.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    /// What the rows go by that it is of; a subquery without an alias has no name.
    pub(crate) of: Option<String>,
    pub(crate) name: String,
    /// Whether it is found only by the name of its table and its own: the other one of USING.
    pub(crate) hidden: bool,
    /// Whether it is of the rows around a subquery, which are looked at if the subquery's own have
    /// no such name.
    pub(crate) outer: bool,
    pub(crate) bound: Option<Rc<Bound>>,
}

impl Field {
    /// A column of a subquery.
    pub(crate) fn new(name: String, bound: Bound) -> Self {
        Self { of: None, name, hidden: false, outer: false, bound: Some(Rc::new(bound)) }
    }
}

impl<'a> Relation<'a> {
    /// A dataset as it is.
    fn table(table: &'a Table) -> Self {
        let field = |column: &crate::Column| Field {
            of: Some(table.name.clone()),
            name: column.name.clone(),
            hidden: false,
            outer: false,
            bound: column
                .kind
                .map(|kind| Rc::new(Bound::new(Expr::Column(column.name.clone()), kind))),
        };
        Self {
            table: Cow::Borrowed(table),
            rows: None,
            inline: None,
            unique: None,
            passes: 0,
            filter: Vec::new(),
            fields: table.columns.iter().map(field).collect(),
            copies: Vec::new(),
            same_unit: Vec::new(),
            parts: UnitParts::of(table),
        }
    }

    /// Where the rows come from.
    pub(crate) fn source(&self) -> RowSource {
        self.rows.clone().unwrap_or_else(|| RowSource::Dataset(self.table.name.clone()))
    }

    /// How often rows of datasets are taken for them.
    pub(crate) fn leaves(&self) -> usize {
        self.rows.as_ref().map_or(1, RowSource::leaves)
    }

    /// Whether they are nobody's.
    pub(crate) fn is_public(&self) -> bool {
        self.table.protection == Protection::Public
    }

    /// Whose rows are whose.
    pub(crate) fn unit_column(&self) -> &str {
        match &self.table.protection {
            Protection::Private { unit_column, .. } => unit_column,
            Protection::Public => "",
        }
    }

    /// What says which unit a row belongs to, as SQL writes it.
    pub(crate) fn written_unit(&self) -> String {
        if self.parts.is_empty() { identifier(self.unit_column()) } else { self.parts.written() }
    }

    /// How many rows of one unit count, where the policy says `most`: no more than there are.
    pub(crate) fn most_rows(&self, most: u32) -> u32 {
        if self.unique.as_ref().is_some_and(Vec::is_empty) { 1 } else { most }
    }

    /// How many rows of one unit count in one group, where the policy says `most` and groups have
    /// these keys: no more than there are, where their columns tell.
    pub(crate) fn most_in_group(&self, most: u32, keys: &[&Expr]) -> u32 {
        let Some(unique) = &self.unique else { return most };
        let is_key = |name: &String| keys.iter().any(|key| **key == Expr::Column(name.clone()));
        let count = |name: &String| {
            let values = self.table.column(name)?.values.as_ref()?;
            // A cell may be missing besides.
            u32::try_from(values.len()).ok()?.checked_add(1)
        };
        let open = unique.iter().filter(|name| !is_key(name));
        let rows = open.map(count).try_fold(1, |rows: u32, count| rows.checked_mul(count?));
        rows.map_or(most, |rows| rows.min(most))
    }

    /// How many subqueries that group by the unit are inside each other.
    pub(crate) fn nested(&self) -> usize {
        self.rows.as_ref().map_or(0, RowSource::nested)
    }

    /// The column that a name means.
    pub(crate) fn find(&self, name: &ast::Ident) -> Result<Option<Rc<Bound>>, SqlError> {
        let seen = self.fields.iter().filter(|field| !field.hidden);
        match self.among(name, &seen.clone().filter(|field| !field.outer))? {
            Some(bound) => Ok(Some(bound)),
            None => self.among(name, &seen.filter(|field| field.outer)),
        }
    }

    fn among<'f>(
        &self,
        name: &ast::Ident,
        fields: &(impl Iterator<Item = &'f Field> + Clone),
    ) -> Result<Option<Rc<Bound>>, SqlError> {
        let names = fields.clone().map(|field| field.name.as_str());
        let Some(place) = names::find(Named::Column, name, names)? else { return Ok(None) };
        match fields.clone().nth(place).and_then(|field| field.bound.as_ref()) {
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
        self.among(name, &self.of(relation))?.ok_or_else(|| {
            let names = self.of(relation).map(|field| field.name.as_str());
            let sought = Sought::In(short(&relation.value));
            names::unknown(Named::Column, sought, &name.value, names)
        })
    }

    /// The columns of what goes by a name.
    fn of<'f>(&'f self, relation: &'f ast::Ident) -> impl Iterator<Item = &'f Field> + Clone {
        let is_own =
            move |field: &Field| field.of.as_ref().is_some_and(|own| names::means(relation, own));
        // A table of a subquery stands before one around it that goes by the same name.
        let outer = !self.fields.iter().any(|field| !field.outer && is_own(field));
        self.fields.iter().filter(move |field| field.outer == outer && is_own(field))
    }

    fn goes_by(&self, relation: &ast::Ident) -> Result<(), SqlError> {
        if self.of(relation).next().is_some() {
            return Ok(());
        }
        Err(names::unknown(Named::Table, Sought::From, &relation.value, self.tables()))
    }

    /// What its rows go by, each name once.
    fn tables(&self) -> impl Iterator<Item = &str> {
        let mut names: Vec<&str> = self.fields.iter().filter_map(|f| f.of.as_deref()).collect();
        names.dedup();
        names.into_iter()
    }

    /// What to say about a name that no column has.
    pub(crate) fn unknown(&self, name: &ast::Ident) -> SqlError {
        let mut tables = self.tables();
        let sought = match (tables.next(), tables.next()) {
            (Some(own), None) => Sought::In(short(&own)),
            _ => Sought::Anywhere,
        };
        let names = self.fields.iter().map(|field| field.name.as_str());
        names::unknown(Named::Column, sought, &name.value, names)
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
        for field in &mut self.fields {
            field.of = Some(name.value.clone());
        }
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
    /// What binds expressions over rows, without aggregates.
    pub(crate) fn binder<'b>(&'b self, rows: &'b Relation<'b>, clause: &'static str) -> Binder<'b> {
        Binder {
            rows,
            aggregates: None,
            totals: None,
            aliases: &[],
            clause,
            usage: self.usage,
            parameters: self.parameters,
        }
    }

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
                let first = self.factor(&one.relation, scope)?;
                one.joins.iter().try_fold(first, |rows, join| self.join(&rows, join, scope))
            }
            _ => Err(Unsupported::SeveralTables.into()),
        }
    }

    pub(crate) fn factor(
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
                let is_series = names::simple(name)
                    .is_some_and(|name| name.value.eq_ignore_ascii_case("generate_series"));
                if let (Some(args), true, false) = (args, is_series, *with_ordinality) {
                    let mut rows = self.series(args)?;
                    // The name of a series is that of its column too.
                    for (field, alias) in rows.fields.iter_mut().zip(alias) {
                        field.name.clone_from(&alias.name.value);
                    }
                    return rows.renamed(alias.as_ref());
                }
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
            Some(place) => Ok(Relation::table(&self.tables[place])),
            None => Err(unknown(&ident.value)),
        }
    }

    /// The rows of a subquery that projects and filters.
    pub(crate) fn subquery(
        &self,
        query: &ast::Query,
        scope: &Scope<'a>,
    ) -> Result<Relation<'a>, SqlError> {
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
            self.body(body, &scope)
        })
    }

    /// The rows of what a subquery is made of.
    pub(crate) fn body(
        &self,
        body: &ast::SetExpr,
        scope: &Scope<'a>,
    ) -> Result<Relation<'a>, SqlError> {
        match body {
            ast::SetExpr::Select(select) => self.projection(select, scope),
            ast::SetExpr::Query(inner) => self.subquery(inner, scope),
            ast::SetExpr::Values(values) => self.values(values),
            ast::SetExpr::SetOperation { .. } => self.union(body, scope),
            other => Err(no_set(other)),
        }
    }

    fn projection(
        &self,
        select: &ast::Select,
        scope: &Scope<'a>,
    ) -> Result<Relation<'a>, SqlError> {
        let clauses = clauses(select)?;
        if clauses.is_distinct || !matches!(clauses.group_by, GroupBy::Keys([])) {
            return self.per_unit(&clauses, scope);
        }
        let Clauses { projection, from, selection, having, .. } = clauses;
        if having.is_some() {
            return Err(no("HAVING without GROUP BY", "write its condition in WHERE"));
        }
        let (rows, selection) = self.tables_and_rest(from, selection, scope)?;
        let (rows, selection) = self.chosen(rows, selection.as_deref(), scope)?;
        let binder = self.binder(&rows, "a subquery");
        let widest = self.tables.iter().map(|table| table.columns.len()).max().unwrap_or(0);
        let mut fields: Vec<Field> = Vec::new();
        for item in projection {
            match item {
                ast::SelectItem::UnnamedExpr(expr) => {
                    let bound = binder.bind(expr)?.canonical()?;
                    fields.push(Field::new(names::of_item(expr, 60), bound));
                }
                ast::SelectItem::ExprWithAlias { expr, alias } => {
                    let bound = binder.bind(expr)?.canonical()?;
                    fields.push(Field::new(alias.value.clone(), bound));
                }
                ast::SelectItem::Wildcard(options) => {
                    plain_wildcard(options)?;
                    let all = rows.fields.iter().filter(|field| !field.hidden);
                    fields.extend(all.cloned().map(|field| Field { of: None, ..field }));
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
                    let own = rows.of(name).cloned();
                    fields.extend(own.map(|field| Field { of: None, hidden: false, ..field }));
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
            filter.push(Rc::new(limits::checked(canonical(binder.condition(&selection)?))?));
        }
        Ok(Relation { filter, fields, ..rows })
    }
}

fn no_sample() -> SqlError {
    no("TABLESAMPLE", "the same question must have the same rows")
}
