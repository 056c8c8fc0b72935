//! Bounds that a question chooses for itself: `groups=12,rows=50,fare=0:80`.
//!
//! They take the place of the policy's, within the widest that the policy allows, and become part
//! of the plan: another bound is another truth. What has no part in a question changes nothing.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use crate::error::{BoundsError, short};
use crate::frontend::settings::Setting;
use crate::{Protection, SqlError, Table, Type};

/// What a question lets each unit count for (contribution bounds), where it says so itself.
#[doc(alias = "contribution bounds")]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AskedBounds {
    /// In how many groups.
    pub groups: Option<u32>,
    /// For how many rows in a group.
    pub rows: Option<u32>,
    /// With how many different values in a group.
    pub values: Option<u32>,
    /// For how many rows in all groups together.
    pub rows_in_all: Option<u32>,
    /// Columns, by their names or as `table.column`, and what their values are clamped to.
    pub clamps: Vec<(String, f64, f64)>,
}

/// The widest bounds that questions may choose for a table: its own, where nothing is said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Widest {
    /// The table.
    pub table: String,
    /// How many groups one unit may touch.
    pub max_groups: Option<u32>,
    /// How many rows one unit may count for in a group.
    pub max_rows: Option<u32>,
    /// How many different values of one unit may count in a group.
    pub max_values: Option<u32>,
    /// How many rows one unit may count for in all groups.
    pub max_rows_in_all: Option<u32>,
    /// What columns may be clamped to.
    pub clamps: Vec<(String, f64, f64)>,
}

impl AskedBounds {
    /// Whether nothing is asked for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Takes what a setting says of bounds, which goes before what was said earlier. Other settings
    /// say nothing of them.
    ///
    /// # Errors
    /// It is no bound.
    pub fn take(&mut self, Setting { name, value }: &Setting) -> Result<(), SqlError> {
        let bound = match name.as_str() {
            "bounds" => {
                let bounds: Self = value.parse()?;
                if bounds.is_empty() {
                    *self = Self::default();
                }
                self.groups = bounds.groups.or(self.groups);
                self.rows = bounds.rows.or(self.rows);
                self.values = bounds.values.or(self.values);
                self.rows_in_all = bounds.rows_in_all.or(self.rows_in_all);
                bounds.clamps.into_iter().for_each(|clamp| self.clamp(clamp));
                return Ok(());
            }
            "max_groups" | "max_groups_contributed" => &mut self.groups,
            "max_rows" => &mut self.rows,
            "max_values" => &mut self.values,
            "max_rows_in_all" => &mut self.rows_in_all,
            _ => return Ok(()),
        };
        *bound = Some(count(name, value)?);
        Ok(())
    }

    fn clamp(&mut self, clamp: (String, f64, f64)) {
        self.clamps.retain(|(name, ..)| *name != clamp.0);
        self.clamps.push(clamp);
    }

    /// Tables with these bounds in place of their own, where each that is named allows them.
    pub(crate) fn over(
        &self,
        tables: &[Table],
        named: &BTreeSet<&str>,
        widest: &[Widest],
    ) -> Result<Vec<Table>, SqlError> {
        let mut tables = tables.to_vec();
        let is_named = |table: &&mut Table| named.contains(table.name.as_str());
        for table in tables.iter_mut().filter(is_named) {
            let own = Widest { table: table.name.clone(), ..Widest::default() };
            let widest = widest.iter().find(|widest| widest.table == table.name).unwrap_or(&own);
            self.of_units(table, widest)?;
        }
        for (name, low, high) in &self.clamps {
            let mut is_known = false;
            for table in tables.iter_mut().filter(is_named) {
                let widest = widest.iter().find(|widest| widest.table == table.name);
                is_known |= clamp(table, name, (*low, *high), widest)?;
            }
            if !is_known {
                return Err(BoundsError::NoColumn { column: short(name) }.into());
            }
        }
        Ok(tables)
    }

    /// Tables with their own bounds, and these for columns that are clamped and have none.
    pub(crate) fn unasked(&self, tables: &[Table], stand_in: (f64, f64)) -> Vec<Table> {
        let mut tables = tables.to_vec();
        for (name, ..) in &self.clamps {
            for table in &mut tables {
                if let Some(place) = clamped(table, name)
                    && matches!(table.columns[place].kind, Some(Type::Int | Type::Float))
                {
                    table.columns[place].bounds.get_or_insert(stand_in);
                }
            }
        }
        tables
    }

    fn of_units(&self, table: &mut Table, widest: &Widest) -> Result<(), SqlError> {
        let Protection::Private { max_groups, max_rows, max_values, max_rows_in_all, .. } =
            &mut table.protection
        else {
            return Ok(());
        };
        let within = |name: &str, asked: Option<u32>, most: Option<u32>| match (asked, most) {
            (Some(asked), Some(most)) if asked > most => Err(BoundsError::BeyondWidest {
                asked: format!("{name}={asked}"),
                table: short(&widest.table),
                widest: format!("{name}={most}"),
            }),
            _ => Ok(()),
        };
        let most_values = widest.max_values.or(*max_values);
        within("groups", self.groups, widest.max_groups.or(Some(*max_groups)))?;
        within("rows", self.rows, widest.max_rows.or(Some(*max_rows)))?;
        let most_rows = widest.max_rows.unwrap_or(*max_rows);
        within("values", self.values, most_values.or(Some(most_rows)))?;
        within("rows_in_all", self.rows_in_all, widest.max_rows_in_all.or(*max_rows_in_all))?;
        *max_groups = self.groups.unwrap_or(*max_groups);
        *max_rows = self.rows.unwrap_or(*max_rows);
        *max_values = match (self.values, *max_values) {
            (Some(values), _) => Some(values),
            // As many as rows, but no more than there may be.
            (None, None) => widest.max_values.filter(|most| self.rows.is_some() && most < max_rows),
            (None, own) => own,
        };
        *max_rows_in_all = self.rows_in_all.or(*max_rows_in_all);
        Ok(())
    }
}

/// The column of a table that a bound is for, by its place, if it has it.
fn clamped(table: &Table, name: &str) -> Option<usize> {
    let column = match name.split_once('.') {
        Some((of, column)) if of.eq_ignore_ascii_case(&table.name) => column,
        Some(_) => return None,
        None => name,
    };
    let is_it = |found: &crate::Column| found.name == column;
    let alike = |found: &crate::Column| found.name.eq_ignore_ascii_case(column);
    let exact = table.columns.iter().position(is_it);
    let mut others = (0..).zip(&table.columns).filter(|(_, found)| alike(found));
    match (exact, others.next(), others.next()) {
        (Some(place), ..) | (None, Some((place, _)), None) => Some(place),
        _ => None,
    }
}

/// Clamps a column of a table, if it has it.
fn clamp(
    table: &mut Table,
    name: &str,
    (low, high): (f64, f64),
    widest: Option<&Widest>,
) -> Result<bool, SqlError> {
    let Some(place) = clamped(table, name) else { return Ok(false) };
    let (table_name, is_public) = (table.name.clone(), table.protection == Protection::Public);
    let column = &mut table.columns[place];
    if !matches!(column.kind, Some(Type::Int | Type::Float)) {
        return Err(BoundsError::NoNumbers { column: short(&column.name) }.into());
    }
    let stated = widest.and_then(|widest| {
        let clamps = widest.clamps.iter();
        clamps.clone().find(|(name, ..)| *name == column.name).map(|(_, low, high)| (*low, *high))
    });
    let most = stated.or(column.bounds).filter(|_| !is_public);
    if let Some((least, most)) = most
        && (low < least || high > most)
    {
        return Err(BoundsError::BeyondWidest {
            asked: format!("{name}={low}:{high}"),
            table: short(&table_name),
            widest: format!("{name}={least}:{most}"),
        }
        .into());
    }
    column.bounds = Some((low, high));
    Ok(true)
}

fn count(name: &str, value: &str) -> Result<u32, SqlError> {
    let count = value.trim().parse().ok().filter(|&count| count > 0);
    let wrong = || BoundsError::NoBound { written: short(&format!("{name}={value}")) };
    Ok(count.ok_or_else(wrong)?)
}

impl FromStr for AskedBounds {
    type Err = SqlError;

    fn from_str(text: &str) -> Result<Self, SqlError> {
        let mut bounds = Self::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let wrong = || BoundsError::NoBound { written: short(part) };
            let (name, value) = part.rsplit_once('=').ok_or_else(wrong)?;
            let name = name.trim();
            if let Some((low, high)) = value.split_once(':') {
                let end = |end: &str| end.trim().parse().ok().filter(|end: &f64| end.is_finite());
                let (low, high) = end(low).zip(end(high)).ok_or_else(wrong)?;
                if low >= high || name.is_empty() {
                    return Err(wrong().into());
                }
                bounds.clamp((name.to_owned(), low, high));
                continue;
            }
            let bound = match name {
                "groups" => &mut bounds.groups,
                "rows" => &mut bounds.rows,
                "values" => &mut bounds.values,
                "rows_in_all" => &mut bounds.rows_in_all,
                _ => return Err(wrong().into()),
            };
            *bound = Some(count(name, value)?);
        }
        Ok(bounds)
    }
}

impl fmt::Display for AskedBounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [
            ("groups", self.groups),
            ("rows", self.rows),
            ("values", self.values),
            ("rows_in_all", self.rows_in_all),
        ];
        let counts =
            counts.iter().filter_map(|(name, count)| Some(format!("{name}={}", (*count)?)));
        let clamps = self.clamps.iter().map(|(name, low, high)| format!("{name}={low}:{high}"));
        f.write_str(&counts.chain(clamps).collect::<Vec<_>>().join(","))
    }
}
