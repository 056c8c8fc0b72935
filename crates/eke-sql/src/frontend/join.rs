//! Joins with public tables.
//!
//! Each row that comes out is of the unit of one row, and exists because of it and of the public
//! table. So the private side may be kept whole, and the public side may not: a row of it that
//! nobody matches would exist because of everybody.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

use sqlparser::ast;

use crate::error::{NameError, Named, Sought, Unsupported, short};
use crate::expr::canonical::{canonical, run};
use crate::frontend::bind::{Binder, Bound};
use crate::frontend::clauses::{no, none};
use crate::frontend::limits;
use crate::frontend::names;
use crate::frontend::per_unit::named;
use crate::frontend::rows::{Field, Relation, Scope, Source};
use crate::{Binary, Column, Expr, Lookup, LookupColumn, RowSource, SqlError, Table, Type, Value};

/// Which side of a join is kept whole.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keeps {
    Neither,
    Left,
    Right,
    Both,
}

impl<'a> Source<'a> {
    /// Rows joined with what follows them in FROM.
    pub(crate) fn join(
        &self,
        left: &Relation<'a>,
        join: &ast::Join,
        scope: &Scope<'a>,
    ) -> Result<Relation<'a>, SqlError> {
        use ast::JoinOperator as J;
        let ast::Join { relation, global, join_operator } = join;
        if *global {
            return Err(no("GLOBAL JOIN", "write JOIN"));
        }
        let (keeps, constraint) = match join_operator {
            J::Join(constraint) | J::Inner(constraint) => (Keeps::Neither, constraint),
            J::Left(constraint) | J::LeftOuter(constraint) => (Keeps::Left, constraint),
            J::Right(constraint) | J::RightOuter(constraint) => (Keeps::Right, constraint),
            J::FullOuter(constraint) => (Keeps::Both, constraint),
            J::CrossJoin(_) => {
                return Err(no("CROSS JOIN", "write JOIN with ON and an equality"));
            }
            _ => {
                return Err(none(
                    "Other joins than JOIN, LEFT JOIN and RIGHT JOIN",
                    "write one of them",
                ));
            }
        };
        let right = self.factor(relation, scope)?;
        let (private, public, keeps) = match (left.is_public(), right.is_public()) {
            (false, true) => (left, &right, keeps),
            (true, false) => {
                let turned = match keeps {
                    Keeps::Left => Keeps::Right,
                    Keeps::Right => Keeps::Left,
                    keeps => keeps,
                };
                (&right, left, turned)
            }
            (is_public, _) => {
                let (left, right) = (short(&left.table.name), short(&right.table.name));
                return Err(if is_public {
                    Unsupported::JoinOfPublic { left, right }.into()
                } else {
                    Unsupported::JoinOfPrivate { left, right }.into()
                });
            }
        };
        if matches!(keeps, Keeps::Right | Keeps::Both) {
            let join = match join_operator {
                J::FullOuter(_) => "FULL JOIN",
                J::Left(_) | J::LeftOuter(_) => "LEFT JOIN",
                _ => "RIGHT JOIN",
            };
            let (table, private) = (short(&public.table.name), short(&private.table.name));
            return Err(Unsupported::JoinKeepsPublic { join, table, private }.into());
        }
        if private.unit_column().is_empty() {
            let (private, table) = (short(&private.table.name), short(&public.table.name));
            return Err(Unsupported::JoinOfRows { private, table }.into());
        }
        if private.nested() >= limits::STEPS {
            return Err(limits::too_deep());
        }
        let looked_up = LookedUp::new(private, public, keeps == Keeps::Left);
        let public_fields = looked_up.fields(public)?;
        // In the order in which they are written.
        let is_turned = left.is_public();
        let (mut first, mut second) = (private.fields.clone(), public_fields);
        if is_turned {
            std::mem::swap(&mut first, &mut second);
        }
        let mut condition: Vec<Expr> = Vec::new();
        if let ast::JoinConstraint::Using(columns) = constraint {
            for column in columns {
                condition.push(using(column, &first, &mut second)?);
            }
        }
        let fields = first.into_iter().chain(second).collect();
        let mut rows = Relation {
            table: Cow::Owned(looked_up.table),
            rows: None,
            inline: None,
            unique: None,
            passes: private.passes,
            filter: private.filter.clone(),
            fields,
        };
        match constraint {
            ast::JoinConstraint::Using(_) => {}
            ast::JoinConstraint::On(on) => {
                let binder = Binder {
                    rows: &rows,
                    aggregates: None,
                    totals: None,
                    aliases: &[],
                    clause: "ON",
                    usage: self.usage,
                    parameters: self.parameters,
                };
                condition.push(binder.condition(on)?);
            }
            ast::JoinConstraint::Natural => return Err(no("NATURAL JOIN", "write USING (column)")),
            ast::JoinConstraint::None => return Err(no("JOIN without ON", "write ON a.x = b.x")),
        }
        for term in &public.filter {
            condition.push(looked_up.names.renamed(Expr::clone(term)));
        }
        let terms = condition.into_iter().map(canonical).collect();
        let condition = limits::checked(run(Binary::And, terms))?;
        let (equal, condition) = looked_up.names.split(&condition);
        if equal.is_empty() {
            let table = short(&public.table.name);
            return Err(Unsupported::JoinWithoutEquality { table }.into());
        }
        let of = private.rows.clone();
        let lookup = Lookup {
            of: of.unwrap_or_else(|| RowSource::Dataset(private.table.name.clone())),
            table: public.table.name.clone(),
            columns: looked_up.names.columns(public),
            equal,
            condition,
            keeps_unmatched: keeps == Keeps::Left,
        };
        let passes = lookup.exprs().map(|expr| expr.passes(&|name| rows.table.kind(name)));
        rows.passes += passes.sum::<usize>();
        rows.rows = Some(RowSource::Lookup(Box::new(lookup)));
        Ok(rows)
    }
}

/// A column of USING: equal on both sides, and from then on one.
fn using(
    column: &ast::ObjectName,
    first: &[Field],
    second: &mut [Field],
) -> Result<Expr, SqlError> {
    let Some(name) = names::simple(column) else {
        let (name, instead) = (short(column), "the column alone in USING");
        return Err(NameError::TooManyDots { name, instead }.into());
    };
    let place = |fields: &[Field]| {
        let seen: Vec<&str> =
            fields.iter().filter(|field| !field.hidden).map(|field| &*field.name).collect();
        let found = names::find(Named::Column, name, seen.iter().copied())?;
        let unknown =
            || names::unknown(Named::Column, Sought::From, &name.value, seen.iter().copied());
        let place = found.ok_or_else(unknown)?;
        let visible = fields.iter().enumerate().filter(|(_, field)| !field.hidden);
        visible.map(|(place, _)| place).nth(place).ok_or_else(unknown)
    };
    let (left, right) = (place(first)?, place(second)?);
    let (Some(one), Some(other)) = (&first[left].bound, &second[right].bound) else {
        return Err(crate::error::TypeError::Column { column: short(&name.value) }.into());
    };
    let both = [one, other].map(|bound| (Bound::clone(bound), name.value.clone()));
    let equal = crate::frontend::bind::equal(both)?;
    second[right].hidden = true;
    Ok(equal)
}

/// The public side of a join.
struct LookedUp {
    names: LookupNames,
    /// What is known about rows that are joined.
    table: Table,
}

/// What the columns of a public table are called once they are joined.
struct LookupNames(BTreeMap<String, String>);

impl LookedUp {
    fn new(private: &Relation<'_>, public: &Relation<'_>, keeps_unmatched: bool) -> Self {
        let mut columns = private.table.columns.clone();
        let mut all = BTreeMap::new();
        for column in &public.table.columns {
            let text = format!("{}.{}", public.table.name, column.name);
            let name = named(text, &columns.iter().map(|column| column.name.as_str()));
            // What meets nothing has NULL there, because the question says so.
            let with_null = |mut values: Vec<Value>| {
                if keeps_unmatched && !values.contains(&Value::Null) {
                    values.insert(0, Value::Null);
                }
                values
            };
            let values = column.values.clone().map(with_null);
            all.insert(column.name.clone(), name.clone());
            columns.push(Column { name, values, ..column.clone() });
        }
        let table = &private.table;
        let (name, protection) = (table.name.clone(), table.protection.clone());
        Self { names: LookupNames(all), table: Table { name, columns, protection } }
    }

    /// The columns of the public side, as they are called from then on.
    fn fields(&self, public: &Relation<'_>) -> Result<Vec<Field>, SqlError> {
        let field = |field: &Field| {
            let bound = match &field.bound {
                None => None,
                Some(bound) => {
                    let expr = self.names.renamed(bound.expr.clone());
                    Some(Rc::new(Bound { expr, kind: bound.kind }.canonical()?))
                }
            };
            Ok(Field { bound, ..field.clone() })
        };
        public.fields.iter().map(field).collect()
    }
}

impl LookupNames {
    /// With the names that columns of the table have from then on.
    fn renamed(&self, expr: Expr) -> Expr {
        match expr {
            Expr::Column(name) => Expr::Column(self.0.get(&name).cloned().unwrap_or(name)),
            expr => expr.map_children(|child| self.renamed(child)),
        }
    }

    fn columns(&self, public: &Relation<'_>) -> Vec<LookupColumn> {
        let columns = public.table.columns.iter().enumerate();
        let column = |(place, column): (usize, &Column)| {
            let (name, kind): (String, Type) = (self.0.get(&column.name)?.clone(), column.kind?);
            let cells = public.inline.as_ref().map(|cells| cells[place].clone());
            Some(LookupColumn { column: column.name.clone(), name, kind, cells })
        };
        columns.filter_map(column).collect()
    }

    /// Whether an expression is over columns of the table alone, and of rows alone; a constant is
    /// neither.
    fn sides(&self, expr: &Expr) -> (bool, bool) {
        let columns = expr.columns();
        let is_table = |name: &&str| self.0.values().any(|own| own == name);
        let tables = columns.iter().filter(|name| is_table(name)).count();
        (tables > 0 && tables == columns.len(), tables == 0 && !columns.is_empty())
    }

    /// The equalities of a row and the table in a condition, and what is left of it.
    fn split(&self, condition: &Expr) -> (Vec<(Expr, Expr)>, Option<Expr>) {
        let (mut equal, mut others) = (Vec::new(), Vec::new());
        for term in condition.terms(Binary::And) {
            if let Expr::Binary(Binary::Equal, one, other) = term {
                let (one, other) = (Expr::clone(one), Expr::clone(other));
                match (self.sides(&one), self.sides(&other)) {
                    ((true, _), (_, true)) => {
                        equal.push((other, one));
                        continue;
                    }
                    ((_, true), (true, _)) => {
                        equal.push((one, other));
                        continue;
                    }
                    _ => {}
                }
            }
            others.push(term.clone());
        }
        let others = run(Binary::And, others);
        (equal, (others != Expr::Literal(Value::Bool(true))).then_some(others))
    }
}
