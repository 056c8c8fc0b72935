//! The parts of a unit that is not one column: several columns, or a person and a period.
//!
//! The unit itself has no name in a question. Its parts do, and what is said about all of them is
//! said about the unit.

use crate::expr::display::list;
use crate::unit::{PeriodLength, is_close, moment_of};
use crate::{Expr, Key, Protection, Table, Type, UnitColumns};

/// The parts of a unit, over the columns of some rows; none if the unit is a column itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct UnitParts {
    /// Each has one value for all rows of a unit, and is never NULL for rows that have one.
    all: Vec<Expr>,
    /// Whether the last one is a period.
    has_period: bool,
}

impl UnitParts {
    /// Those of a dataset's units.
    pub(crate) fn of(table: &Table) -> Self {
        let Protection::Private { unit_column, .. } = &table.protection else {
            return Self::default();
        };
        let unit = UnitColumns::read(unit_column);
        if !unit.is_composed() {
            return Self::default();
        }
        let mut all: Vec<Expr> = unit.columns.iter().cloned().map(Expr::Column).collect();
        if let Some(period) = &unit.period {
            let kind = table.kind(&period.time_column).unwrap_or(Type::Timestamp);
            all.push(period.start(kind));
        }
        Self { all, has_period: unit.period.is_some() }
    }

    /// The same parts, which are something else over other rows.
    pub(crate) fn over(&self, all: impl Iterator<Item = Expr>) -> Self {
        Self { all: all.collect(), has_period: self.has_period }
    }

    /// Whether the unit is a column itself.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(crate) fn all(&self) -> &[Expr] {
        &self.all
    }

    pub(crate) fn has_period(&self) -> bool {
        self.has_period
    }

    /// The parts that name a person.
    pub(crate) fn person(&self) -> &[Expr] {
        &self.all[..self.all.len() - usize::from(self.has_period)]
    }

    /// The parts as SQL writes them.
    pub(crate) fn written(&self) -> String {
        list(&self.all)
    }

    /// The part that does not follow from these keys: rows with the same keys could be of several
    /// units.
    pub(crate) fn missing_in<'p>(&'p self, keys: &[&Expr]) -> Option<&'p Expr> {
        self.all.iter().find(|part| !keys.iter().any(|key| gives(key, part)))
    }

    /// Whether grouping by these keys tells people apart: all that names them is told.
    pub(crate) fn are_told_by(&self, keys: &[&Expr]) -> bool {
        let is_told = |part: &Expr| {
            keys.iter().any(|key| match part {
                Expr::Column(name) => key.tells_units(name),
                part => *key == part,
            })
        };
        !self.is_empty() && self.person().iter().all(is_told)
    }

    /// How many groups with these keys the rows of one unit are in at most, where that follows from
    /// what a unit is. Any number is safe: no more are kept.
    pub(crate) fn most_groups(&self, keys: &[Key]) -> Option<u32> {
        if self.is_empty() || keys.is_empty() {
            return None;
        }
        let listed = |key: &Key| u32::try_from(key.public.as_ref()?.len()).ok();
        let of_unit = |key: &Key| self.most_values(&key.expr);
        let mut all = keys.iter().map(|key| match (listed(key), of_unit(key)) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        });
        all.try_fold(1u32, |all, one| all.checked_mul(one?))
    }

    /// How many values a key has at most for the rows of one unit.
    fn most_values(&self, key: &Expr) -> Option<u32> {
        if self.all.contains(key) || self.has_one_value(key) {
            return Some(1);
        }
        let Some(Expr::Call(start, of)) = self.all.last().filter(|_| self.has_period) else {
            return None;
        };
        let (every, moment) = (PeriodLength::started_by(*start)?, of.first()?);
        let (function, read) = match key {
            Expr::Call(function, read) => (*function, read.first()?),
            Expr::Cast(read, Type::Date) => (crate::Function::StartOfDay, &**read),
            // A day itself.
            key if is_day(key, moment) => (crate::Function::StartOfDay, key),
            _ => return None,
        };
        let ((of, ahead), (own, by)) = (moment_of(moment), moment_of(read));
        let most = every.most_values(function).filter(|_| of == own)?;
        match by.saturating_sub(ahead) {
            0 => Some(most),
            // The other clock begins its first value before the period does, or ends its last
            // after.
            other if is_close(other) => most.checked_add(1),
            _ => None,
        }
    }

    /// Whether an expression has one value for all rows of a unit: it is over parts alone.
    pub(crate) fn has_one_value(&self, expr: &Expr) -> bool {
        let is_part = |name: &&str| self.all.contains(&Expr::Column((*name).to_owned()));
        !self.is_empty() && expr.columns().iter().all(is_part)
    }

    /// Whether these are all the parts, in any order.
    pub(crate) fn are(&self, exprs: &[Expr]) -> bool {
        !self.is_empty()
            && self.all.iter().all(|part| exprs.contains(part))
            && exprs.iter().all(|expr| self.all.contains(expr))
    }
}

/// Whether a part of a unit follows from a key.
pub(crate) fn gives(key: &Expr, part: &Expr) -> bool {
    if key == part {
        return true;
    }
    let Expr::Call(start, of) = part else { return false };
    let (Some(every), Some(moment)) = (PeriodLength::started_by(*start), of.first()) else {
        return false;
    };
    match key {
        Expr::Call(finer, of) => of.first() == Some(moment) && every.follows_from(*finer),
        Expr::Cast(one, Type::Date) => **one == *moment,
        // The moment itself, by whatever clock.
        key => moment_of(key).0 == moment_of(moment).0,
    }
}

/// Whether it is the date that a moment is the midnight of.
fn is_day(key: &Expr, moment: &Expr) -> bool {
    match moment {
        Expr::Cast(one, Type::Timestamp) => **one == *key,
        Expr::Shift { moment, .. } => is_day(key, moment),
        _ => false,
    }
}
