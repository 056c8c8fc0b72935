//! Joins. Those of private tables are `meet`'s; here are those with public tables.
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
use crate::frontend::bind::{Binder, Bound, one_type};
use crate::frontend::clauses::{no, none};
use crate::frontend::from::meet::{Meeting, conjunction};
use crate::frontend::limits;
use crate::frontend::names;
use crate::frontend::per_unit::named;
use crate::frontend::rows::{Field, Relation, Scope, Source};
use crate::{
    Binary, Column, Expr, Function, Gives, Lookup, LookupColumn, RowSource, SqlError, Table, Type,
    Value,
};

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
                    "Other joins than JOIN, LEFT JOIN, RIGHT JOIN and FULL JOIN",
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
            (true, true) => {
                let (left, right) = (short(&left.table.name), short(&right.table.name));
                return Err(Unsupported::JoinOfPublic { left, right }.into());
            }
            (false, false) => return self.join_by_unit(left, &right, keeps, constraint),
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
                let both = using(column, &first, &second)?;
                second[both.right].hidden = true;
                condition.push(both.equal);
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
            copies: private.copies.clone(),
            same_unit: private.same_unit.clone(),
            parts: private.parts.clone(),
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
        let lookup = Lookup {
            of: private.source(),
            table: public.table.name.clone(),
            columns: looked_up.names.columns(public),
            equal,
            condition,
            keeps_unmatched: keeps == Keeps::Left,
            chooses: None,
        };
        let passes = lookup.exprs().map(|expr| expr.passes(&|name| rows.table.kind(name)));
        rows.passes += passes.sum::<usize>();
        rows.rows = Some(RowSource::Lookup(Box::new(lookup)));
        Ok(rows)
    }

    /// A join of private tables.
    fn join_by_unit(
        &self,
        left: &Relation<'a>,
        right: &Relation<'a>,
        keeps: Keeps,
        constraint: &ast::JoinConstraint,
    ) -> Result<Relation<'a>, SqlError> {
        let gives = match keeps {
            Keeps::Neither => Gives::Pairs,
            Keeps::Left | Keeps::Right => Gives::PairsAndLeft,
            Keeps::Both => Gives::PairsAndBoth,
        };
        // What is kept stands on the left.
        let is_turned = keeps == Keeps::Right;
        let meeting = match is_turned {
            true => Meeting::new(right, left, gives)?,
            false => Meeting::new(left, right, gives)?,
        };
        let (mut first, mut second) = match is_turned {
            true => (meeting.right_fields()?, right.fields.clone()),
            false => (left.fields.clone(), meeting.right_fields()?),
        };
        let mut terms: Vec<Expr> = Vec::new();
        match constraint {
            ast::JoinConstraint::Using(columns) => {
                for column in columns {
                    let both = using(column, &first, &second)?;
                    terms.push(both.equal);
                    second[both.right].hidden = true;
                    // From then on it is the one that is there.
                    match keeps {
                        Keeps::Neither | Keeps::Left => {}
                        Keeps::Right => {
                            let bound = second[both.right].bound.clone();
                            first[both.left].bound = bound;
                        }
                        Keeps::Both => {
                            let (exprs, kind) = one_type(both.bounds.into())?;
                            let expr = canonical(Expr::Call(Function::Coalesce, exprs));
                            first[both.left].bound = Some(Rc::new(Bound { expr, kind }));
                        }
                    }
                }
            }
            ast::JoinConstraint::On(on) => {
                let both = Relation {
                    table: Cow::Owned(meeting.table()),
                    fields: first.iter().chain(&second).cloned().collect(),
                    same_unit: if is_turned { Vec::new() } else { left.same_unit.clone() },
                    ..left.clone()
                };
                terms.push(self.binder(&both, "ON").condition(on)?);
            }
            ast::JoinConstraint::Natural => return Err(no("NATURAL JOIN", "write USING (column)")),
            ast::JoinConstraint::None => return Err(no("JOIN without ON", "write ON a.x = b.x")),
        }
        let fields = first.into_iter().chain(second).collect();
        let mut rows = meeting.rows(&conjunction(terms)?, fields)?;
        // The unit of either is a column of its own.
        let unit = Expr::Column(rows.unit_column().to_owned());
        for field in &mut rows.fields {
            if let Some(bound) = &mut field.bound
                && rows.same_unit.contains(&bound.expr)
            {
                *bound = Rc::new(Bound { expr: unit.clone(), kind: bound.kind });
            }
        }
        Ok(rows)
    }
}

/// Two columns of USING.
struct Used {
    /// Where they are among those of their sides.
    left: usize,
    right: usize,
    bounds: [(Bound, String); 2],
    /// That they are equal.
    equal: Expr,
}

/// A column of USING: equal on both sides, and from then on one.
fn using(column: &ast::ObjectName, first: &[Field], second: &[Field]) -> Result<Used, SqlError> {
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
    let bounds = [one, other].map(|bound| (Bound::clone(bound), name.value.clone()));
    let equal = crate::frontend::bind::equal(bounds.clone())?;
    Ok(Used { left, right, bounds, equal })
}

/// The public side of a join.
pub(crate) struct LookedUp {
    pub(crate) names: LookupNames,
    /// What is known about rows that are joined.
    pub(crate) table: Table,
}

/// What the columns of a public table are called once they are joined.
pub(crate) struct LookupNames(BTreeMap<String, String>);

impl LookedUp {
    pub(crate) fn new(
        private: &Relation<'_>,
        public: &Relation<'_>,
        keeps_unmatched: bool,
    ) -> Self {
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
    pub(crate) fn fields(&self, public: &Relation<'_>) -> Result<Vec<Field>, SqlError> {
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
    pub(crate) fn renamed(&self, expr: Expr) -> Expr {
        match expr {
            Expr::Column(name) => Expr::Column(self.0.get(&name).cloned().unwrap_or(name)),
            expr => expr.map_children(|child| self.renamed(child)),
        }
    }

    pub(crate) fn columns(&self, public: &Relation<'_>) -> Vec<LookupColumn> {
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
    pub(crate) fn sides(&self, expr: &Expr) -> (bool, bool) {
        let columns = expr.columns();
        let is_table = |name: &&str| self.0.values().any(|own| own == name);
        let tables = columns.iter().filter(|name| is_table(name)).count();
        (tables > 0 && tables == columns.len(), tables == 0 && !columns.is_empty())
    }

    /// The equalities of a row and the table in a condition, and what is left of it.
    pub(crate) fn split(&self, condition: &Expr) -> (Vec<(Expr, Expr)>, Option<Expr>) {
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
