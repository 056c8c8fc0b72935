//! Rows of two private tables of one unit: joins on the unit, EXISTS and IN.
//!
//! Rows meet if they are of the same unit, and by nothing else without it: so each row that comes
//! out is of one unit, and exists because of rows of that unit alone. A row that is kept because
//! its unit has no other is about that unit too.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::error::{Unsupported, short};
use crate::expr::canonical::{canonical, run};
use crate::expr::display::identifier;
use crate::frontend::bind::Bound;
use crate::frontend::chosen::Written;
use crate::frontend::from::parts::{UnitParts, gives as gives_part};
use crate::frontend::limits;
use crate::frontend::per_unit::{closed, named};
use crate::frontend::rows::{Field, Relation};
use crate::{
    Binary, Column, Expr, Function, Gives, Meet, Protection, RowSource, SqlError, Table, Type,
    Unary, UnitColumns, UnitKey, UnitRows, Value,
};

/// Two relations whose rows meet.
pub(crate) struct Meeting<'r, 'a> {
    left: &'r Relation<'a>,
    right: &'r Relation<'a>,
    gives: Gives,
    /// What the columns of the right are called from then on.
    names: BTreeMap<String, String>,
}

impl<'r, 'a> Meeting<'r, 'a> {
    /// Two private relations, if rows of both may be brought together.
    pub(crate) fn new(
        left: &'r Relation<'a>,
        right: &'r Relation<'a>,
        gives: Gives,
    ) -> Result<Self, SqlError> {
        of_one_unit(left, right)?;
        if left.nested().max(right.nested()) + 2 > limits::STEPS {
            return Err(limits::too_deep());
        }
        if left.leaves() + right.leaves() > limits::SOURCES {
            return Err(limits::too_many_sources());
        }
        let mut known: Vec<String> =
            left.table.columns.iter().map(|column| column.name.clone()).collect();
        let mut names = BTreeMap::new();
        for column in &right.table.columns {
            let text = match column.name.split_once('.') {
                // Named by its table already.
                Some(_) => column.name.clone(),
                None => format!("{}.{}", right.table.name, column.name),
            };
            let name = named(text, &known.iter().map(String::as_str));
            known.push(name.clone());
            names.insert(column.name.clone(), name);
        }
        Ok(Self { left, right, gives, names })
    }

    /// The columns of both, for a condition over pairs.
    pub(crate) fn table(&self) -> Table {
        let right = self.right.table.columns.iter().filter_map(|column| {
            Some(Column { name: self.names.get(&column.name)?.clone(), ..column.clone() })
        });
        let columns = self.left.table.columns.iter().cloned().chain(right).collect();
        let table = &self.left.table;
        Table { name: table.name.clone(), columns, protection: table.protection.clone() }
    }

    /// The columns of the right, as they are called from then on.
    pub(crate) fn right_fields(&self) -> Result<Vec<Field>, SqlError> {
        let field = |field: &Field| {
            let bound = match &field.bound {
                None => None,
                Some(bound) => {
                    let expr = self.renamed(bound.expr.clone());
                    Some(Rc::new(Bound { expr, kind: bound.kind }.canonical()?))
                }
            };
            Ok(Field { bound, ..field.clone() })
        };
        self.right.fields.iter().map(field).collect()
    }

    /// The unit of the left and of the right, as they are called from then on.
    pub(crate) fn units(&self) -> (String, String) {
        let right = self.right.unit_column();
        let renamed = self.names.get(right).cloned().unwrap_or_else(|| right.to_owned());
        (self.left.unit_column().to_owned(), renamed)
    }

    /// Whether pairs of the left and the right are the units, and nothing else.
    pub(crate) fn is_by_unit(&self, pairs: &[(Written, Written)]) -> bool {
        let (left_unit, right_unit) = self.units();
        let (mut own, mut other) = (self.left.parts.all().to_vec(), self.right_parts());
        if own.is_empty() {
            (own, other) = (vec![Expr::Column(left_unit)], vec![Expr::Column(right_unit)]);
        }
        let is_pair = |(left, right): (&Expr, &Expr)| {
            pairs.iter().any(|((one, _), (two, _))| one.expr == *left && two.expr == *right)
        };
        pairs.len() == own.len() && own.iter().zip(&other).all(is_pair)
    }

    fn renamed(&self, expr: Expr) -> Expr {
        renamed(expr, &|name| self.names.get(name).cloned())
    }

    /// What comes out, where this is true of pairs and the columns go by these names. The condition
    /// is canonical.
    pub(crate) fn rows(
        &self,
        condition: &Expr,
        fields: Vec<Field>,
    ) -> Result<Relation<'a>, SqlError> {
        let (left, right, gives) = (self.left, self.right, self.gives);
        let (left_unit, right_unit) = self.units();
        let mut terms = self.beyond_units(condition)?;
        // Where both are there they are the same, and one of them is enough.
        let right_parts = self.right_parts();
        let left_part = |name: &str| {
            let mut both = left.parts.all().iter().zip(&right_parts);
            both.find_map(|(own, other)| match (own, other) {
                (Expr::Column(own), Expr::Column(other)) if other == name => Some(own.clone()),
                _ => None,
            })
        };
        let one_unit = |expr: Expr| match gives {
            Gives::Pairs => renamed(expr, &|name| {
                if name == right_unit { Some(left_unit.clone()) } else { left_part(name) }
            }),
            _ => expr,
        };
        terms = terms.into_iter().map(|term| canonical(one_unit(term))).collect();

        let (mut equal, mut others) = (Vec::new(), Vec::new());
        let (mut of_left, mut of_right) = (filters(left), filters(right));
        let back: BTreeMap<&String, &String> =
            self.names.iter().map(|(own, name)| (name, own)).collect();
        for term in terms {
            if let Expr::Binary(Binary::Equal, one, other) = &term {
                let (one, other) = (Expr::clone(one), Expr::clone(other));
                match (self.side(&one), self.side(&other)) {
                    (Some(false), Some(true)) => {
                        equal.push((one, other));
                        continue;
                    }
                    (Some(true), Some(false)) => {
                        equal.push((other, one));
                        continue;
                    }
                    _ => {}
                }
            }
            // What is about one side alone chooses its rows before they meet, unless a row that
            // meets none would be kept for it.
            match (self.side(&term), gives) {
                (Some(false), Gives::Pairs | Gives::LeftWith) => of_left.push(term),
                (Some(true), gives) if gives != Gives::PairsAndBoth => {
                    let own = |name: &str| back.get(&name.to_owned()).map(|own| (*own).clone());
                    of_right.push(canonical(renamed(term, &own)));
                }
                _ => others.push(term),
            }
        }
        let clause = "a condition of rows that meet";
        let condition = closed(others, clause)?;
        let kind = left.table.kind(left.unit_column()).unwrap_or(Type::Text);
        let either = match gives {
            Gives::PairsAndBoth if left.parts.is_empty() => {
                let expr = coalesce(&left_unit, &right_unit);
                let known: Vec<String> = self.table().columns.into_iter().map(|c| c.name).collect();
                let name = named(expr.to_string(), &known.iter().map(String::as_str));
                Some(UnitKey { name, expr, kind })
            }
            _ => None,
        };
        let own = |name: &str| Some(name.to_owned());
        let of = |name: &str| self.names.get(name).cloned();
        let meet = Meet {
            left: side(left, &own, closed(of_left, clause)?),
            right: side(right, &of, closed(of_right, clause)?),
            equal,
            condition,
            gives,
            either,
            most_pairs: None,
        };
        let table = self.table();
        let kinds = |name: &str| table.kind(name);
        let of_sides = meet.left.exprs().map(|expr| expr.passes(&|name| left.table.kind(name)));
        let of_sides = of_sides.sum::<usize>()
            + meet
                .right
                .exprs()
                .map(|expr| expr.passes(&|name| right.table.kind(name)))
                .sum::<usize>();
        let own_passes = meet.exprs().map(|expr| expr.passes(&kinds)).sum::<usize>();
        let passes = left.passes + right.passes + of_sides + own_passes;
        let result = self.result(meet.either.as_ref());
        let fields = fields.into_iter().map(|field| {
            let bound = field.bound.map(|bound| {
                let expr = canonical(one_unit(bound.expr.clone()));
                Rc::new(Bound { expr, kind: bound.kind })
            });
            Field { bound, ..field }
        });
        let fields = fields.collect();
        let (copies, same_unit) = self.units_again();
        let unique = self.unique();
        Ok(Relation {
            table: Cow::Owned(result),
            rows: Some(RowSource::Meet(Box::new(meet))),
            inline: None,
            unique,
            passes,
            filter: Vec::new(),
            fields,
            copies,
            same_unit,
            parts: self.parts(),
        })
    }

    /// The parts of the right's unit, as they are called from then on.
    fn right_parts(&self) -> Vec<Expr> {
        let parts = self.right.parts.all().iter();
        parts.map(|part| canonical(self.renamed(part.clone()))).collect()
    }

    /// The parts of the unit over what comes out.
    fn parts(&self) -> UnitParts {
        let own = &self.left.parts;
        match self.gives {
            Gives::PairsAndBoth => {
                let both = own.all().iter().cloned().zip(self.right_parts());
                own.over(both.map(|(left, right)| {
                    canonical(Expr::Call(Function::Coalesce, vec![left, right]))
                }))
            }
            _ => own.clone(),
        }
    }

    /// The terms of a condition besides that all parts of both units are the same, each of which
    /// one of them must say.
    fn beyond_parts(&self, condition: &Expr) -> Result<Vec<Expr>, SqlError> {
        let (own, other) = (self.left.parts.all(), self.right_parts());
        let mut is_said = vec![false; own.len()];
        let mut terms = Vec::new();
        for term in condition.terms(Binary::And) {
            let mut is_whole = false;
            if let Expr::Binary(Binary::Equal, one, two) = term {
                for (place, (left, right)) in own.iter().zip(&other).enumerate() {
                    for (one, two) in [(&**one, &**two), (&**two, &**one)] {
                        if one == left && two == right {
                            (is_whole, is_said[place]) = (true, true);
                        } else if is_finer((one, left), (two, right)) {
                            is_said[place] = true;
                        }
                    }
                }
            }
            if !is_whole {
                terms.push(term.clone());
            }
        }
        if is_said.iter().all(|said| *said) {
            return Ok(terms);
        }
        for one in [self.left, self.right] {
            let is_given = |part: &Expr| {
                let mut bounds = one.fields.iter().filter_map(|field| field.bound.as_ref());
                bounds.any(|bound| gives_part(&bound.expr, part))
            };
            if !one.parts.all().iter().all(is_given) {
                let (table, unit) = (short(&one.table.name), short(&one.written_unit()));
                return Err(Unsupported::SubqueryWithoutUnit { table, unit }.into());
            }
        }
        Err(self.not_by_unit())
    }

    fn not_by_unit(&self) -> SqlError {
        let on = |left: &str, right: &str| (short(&left), short(&right));
        let (left_unit, right_unit) = on(&self.left.written_unit(), &self.right.written_unit());
        let (left, right) = on(&self.left.table.name, &self.right.table.name);
        if self.left.parts.is_empty() {
            Unsupported::NotByUnit { left, right, left_unit, right_unit }.into()
        } else {
            Unsupported::NotByParts { left, right, left_unit, right_unit }.into()
        }
    }

    /// The terms of a condition besides that both are of the same unit, which one of them must say.
    fn beyond_units(&self, condition: &Expr) -> Result<Vec<Expr>, SqlError> {
        if !self.left.parts.is_empty() {
            return self.beyond_parts(condition);
        }
        let (left_unit, right_unit) = self.units();
        let is_left = |name: &String| *name == left_unit || self.left.copies.contains(name);
        let copies: Vec<String> =
            self.right.copies.iter().filter_map(|name| self.names.get(name).cloned()).collect();
        let is_right = |name: &String| *name == right_unit || copies.contains(name);
        let (mut terms, mut is_by_unit) = (Vec::new(), false);
        for term in condition.terms(Binary::And) {
            let pair = match term {
                Expr::Binary(Binary::Equal, one, other) => match (&**one, &**other) {
                    (Expr::Column(one), Expr::Column(other)) => Some((one, other)),
                    _ => None,
                },
                _ => None,
            };
            match pair {
                Some((one, other))
                    if (is_left(one) && is_right(other)) || (is_right(one) && is_left(other)) =>
                {
                    is_by_unit = true;
                    // Something that may be NULL equals only what is there.
                    for name in [one, other] {
                        if *name != left_unit && *name != right_unit {
                            let null =
                                Expr::Unary(Unary::IsNull, Box::new(Expr::Column(name.clone())));
                            terms.push(canonical(Expr::Unary(Unary::Not, Box::new(null))));
                        }
                    }
                }
                _ => terms.push(term.clone()),
            }
        }
        if is_by_unit {
            return Ok(terms);
        }
        for one in [self.left, self.right] {
            let unit = Expr::Column(one.unit_column().to_owned());
            let is_unit = |field: &Field| field.bound.as_ref().is_some_and(|b| b.expr == unit);
            if !one.fields.iter().any(is_unit) {
                let table = short(&one.table.name);
                let unit = short(&identifier(one.unit_column()));
                return Err(Unsupported::SubqueryWithoutUnit { table, unit }.into());
            }
        }
        Err(self.not_by_unit())
    }

    /// Whether an expression is over columns of the right alone, or of the left alone; none of a
    /// constant and of both.
    fn side(&self, expr: &Expr) -> Option<bool> {
        let columns = expr.columns();
        let is_right = |name: &&str| self.names.values().any(|own| own == name);
        let count = columns.iter().filter(|name| is_right(name)).count();
        match count {
            0 if columns.is_empty() => None,
            0 => Some(false),
            all if all == columns.len() => Some(true),
            _ => None,
        }
    }

    /// What is known about the rows that come out.
    fn result(&self, either: Option<&UnitKey>) -> Table {
        let (_, right_unit) = self.units();
        // What meets nothing has NULL there, because the question says so.
        let with_null = |column: &Column| {
            let values = column.values.clone().map(|mut values| {
                if !values.contains(&Value::Null) {
                    values.insert(0, Value::Null);
                }
                values
            });
            Column { values, ..column.clone() }
        };
        let left = self.left.table.columns.iter();
        let mut columns: Vec<Column> = match self.gives {
            Gives::PairsAndBoth => left.map(with_null).collect(),
            _ => left.cloned().collect(),
        };
        let right = self.right.table.columns.iter().filter_map(|column| {
            Some(Column { name: self.names.get(&column.name)?.clone(), ..column.clone() })
        });
        match self.gives {
            Gives::Pairs => columns.extend(right.filter(|column| column.name != right_unit)),
            Gives::PairsAndLeft | Gives::PairsAndBoth => {
                columns.extend(right.map(|column| with_null(&column)));
            }
            Gives::LeftWith | Gives::LeftWithout => {}
        }
        columns.extend(either.map(|either| Column {
            name: either.name.clone(),
            kind: Some(either.kind),
            bounds: None,
            values: None,
        }));
        let protection = match self.gives {
            // Rows of the right choose, and do not count.
            Gives::LeftWith | Gives::LeftWithout => self.left.table.protection.clone(),
            _ => {
                let both = [self.left, self.right].map(|one| &one.table.protection);
                largest(both.into_iter(), either.map(|either| either.name.as_str()))
            }
        };
        Table { name: self.left.table.name.clone(), columns, protection }
    }

    /// Columns that have the unit or NULL, and what has the same value as the unit.
    fn units_again(&self) -> (Vec<String>, Vec<Expr>) {
        let (left_unit, right_unit) = self.units();
        let (mut copies, mut same) = (self.left.copies.clone(), self.left.same_unit.clone());
        let right = self.right.copies.iter().filter_map(|name| self.names.get(name).cloned());
        let of_either = [
            canonical(coalesce(&left_unit, &right_unit)),
            canonical(coalesce(&right_unit, &left_unit)),
        ];
        if !self.left.parts.is_empty() {
            // People are not told apart by what is left of them on the other side either.
            let people = self.left.parts.has_period().then(|| self.right_parts());
            let people = people.unwrap_or_default().into_iter().filter_map(|part| match part {
                Expr::Column(name) => Some(name),
                _ => None,
            });
            if !matches!(self.gives, Gives::LeftWith | Gives::LeftWithout) {
                copies.extend(right.chain(people));
            }
            return (copies, Vec::new());
        }
        match self.gives {
            Gives::LeftWith | Gives::LeftWithout => {}
            Gives::Pairs => {
                copies.extend(right);
                same.extend(self.right.same_unit.iter().map(|expr| self.renamed(expr.clone())));
            }
            Gives::PairsAndLeft => {
                copies.extend(right);
                copies.push(right_unit);
                same.extend(of_either);
            }
            Gives::PairsAndBoth => {
                copies.extend(right);
                copies.extend([left_unit, right_unit]);
                same = of_either.into();
            }
        }
        (copies, same)
    }

    /// The columns that tell the rows of one unit apart.
    fn unique(&self) -> Option<Vec<String>> {
        let left = self.left.unique.clone();
        match self.gives {
            Gives::LeftWith | Gives::LeftWithout => left,
            Gives::PairsAndBoth => None,
            Gives::Pairs | Gives::PairsAndLeft => {
                let right = self.right.unique.as_ref()?.iter();
                let right = right.map(|name| self.names.get(name).cloned());
                left?.into_iter().map(Some).chain(right).collect()
            }
        }
    }
}

/// Whether rows of two relations may be brought together at all.
pub(crate) fn of_one_unit(left: &Relation<'_>, right: &Relation<'_>) -> Result<(), SqlError> {
    let private = |relation: &Relation<'_>| match &relation.table.protection {
        Protection::Private { unit, unit_column, adjacency, .. } if !unit_column.is_empty() => {
            let is = UnitColumns::read(unit_column);
            let period = is.period.as_ref().map(|period| (period.every, period.zone));
            let parts = relation.parts.all().len();
            Ok((unit.clone(), *adjacency, parts, period))
        }
        Protection::Private { .. } => {
            Err(SqlError::from(Unsupported::RowsAlone { table: short(&relation.table.name) }))
        }
        Protection::Public => {
            Err(Unsupported::UnionOfPublic { table: short(&relation.table.name) }.into())
        }
    };
    let (one, other) = (private(left)?, private(right)?);
    if one == other {
        return Ok(());
    }
    if one.0 == other.0 && one.1 == other.1 {
        let (left, right) = (short(&left.table.name), short(&right.table.name));
        return Err(Unsupported::OtherParts { left, right }.into());
    }
    Err(Unsupported::OtherUnits {
        left: short(&left.table.name),
        right: short(&right.table.name),
        left_unit: short(&one.0),
        right_unit: short(&other.0),
    }
    .into())
}

/// What several private tables of one unit allow together: the largest bounds of all, with
/// another column of the unit if there is one.
pub(crate) fn largest<'p>(
    all: impl Iterator<Item = &'p Protection>,
    unit: Option<&str>,
) -> Protection {
    let mut both: Option<Protection> = None;
    for one in all {
        both = Some(match (both, one) {
            (
                Some(Protection::Private {
                    unit,
                    unit_column,
                    adjacency,
                    max_groups,
                    max_rows,
                    max_values,
                    max_rows_in_all,
                }),
                Protection::Private {
                    max_groups: groups,
                    max_rows: rows,
                    max_values: values,
                    max_rows_in_all: in_all,
                    ..
                },
            ) => Protection::Private {
                unit,
                unit_column,
                adjacency,
                max_groups: max_groups.max(*groups),
                max_rows: max_rows.max(*rows),
                max_values: match (max_values, values) {
                    (None, None) => None,
                    (one, other) => Some(one.unwrap_or(max_rows).max(other.unwrap_or(*rows))),
                },
                // Without one, all that groups allow.
                max_rows_in_all: max_rows_in_all.zip(*in_all).map(|(one, other)| one.max(other)),
            },
            _ => one.clone(),
        });
    }
    let mut both = both.unwrap_or(Protection::Public);
    if let (Protection::Private { unit_column, .. }, Some(unit)) = (&mut both, unit) {
        unit.clone_into(unit_column);
    }
    both
}

/// What must be true of the rows of a relation.
pub(crate) fn filters(relation: &Relation<'_>) -> Vec<Expr> {
    relation.filter.iter().map(|term| Expr::clone(term)).collect()
}

/// The rows of a relation with all its columns, under other names.
fn side(
    relation: &Relation<'_>,
    name: &dyn Fn(&str) -> Option<String>,
    filter: Option<Expr>,
) -> UnitRows {
    let columns = relation.table.columns.iter().filter_map(|column| {
        let (name, expr) = (name(&column.name)?, Expr::Column(column.name.clone()));
        Some(UnitKey { name, expr, kind: column.kind? })
    });
    let columns = columns.collect();
    UnitRows { of: relation.source(), unit: relation.unit_column().to_owned(), filter, columns }
}

/// An expression with other names for columns, where there are some.
fn renamed(expr: Expr, other: &dyn Fn(&str) -> Option<String>) -> Expr {
    match expr {
        Expr::Column(name) => Expr::Column(other(&name).unwrap_or(name)),
        expr => expr.map_children(|child| renamed(child, other)),
    }
}

/// Whether two expressions, over rows of the left and of the right, are the same function of their
/// moments, from which the periods that are parts of the units follow.
fn is_finer((one, left): (&Expr, &Expr), (other, right): (&Expr, &Expr)) -> bool {
    let (Expr::Call(..), Expr::Call(..)) = (left, right) else { return false };
    let (Some(own), Some(theirs)) =
        (left.columns().first().copied(), right.columns().first().copied())
    else {
        return false;
    };
    let as_own = |name: &str| (name == theirs).then(|| own.to_owned());
    gives_part(one, left) && gives_part(other, right) && renamed(other.clone(), &as_own) == *one
}

fn coalesce(one: &str, other: &str) -> Expr {
    let both = [one, other].map(|name| Expr::Column(name.to_owned()));
    Expr::Call(Function::Coalesce, both.into())
}

/// A conjunction in its canonical form, within limits.
pub(crate) fn conjunction(terms: Vec<Expr>) -> Result<Expr, SqlError> {
    limits::checked(run(Binary::And, terms.into_iter().map(canonical).collect()))
}
