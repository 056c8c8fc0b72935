//! What is known about a dataset before a row is read: the policy's word.

use eke_budget::Adjacency;

use crate::{Type, Value};

/// A dataset that may be asked about.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its name in SQL.
    pub name: String,
    /// Its columns, in the order of the file.
    pub columns: Vec<Column>,
    /// Whose it is.
    pub protection: Protection,
}

impl Table {
    /// The column of this name, exactly.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// The type of a column, if it has one that is read.
    pub(crate) fn kind(&self, name: &str) -> Option<Type> {
        self.column(name)?.kind
    }
}

/// Whose privacy a dataset is about (privacy unit), and how much of it counts (contribution
/// bounding).
#[doc(alias = "privacy unit")]
#[doc(alias = "contribution bounding")]
#[derive(Clone, Debug, PartialEq)]
pub enum Protection {
    /// Nobody's.
    Public,
    /// Units', one per row.
    Private {
        /// The kind of unit, by its name in the policy: rows of several datasets come together
        /// where it is the same.
        unit: String,
        /// The column that says which unit a row belongs to; empty where each row is a unit of its
        /// own.
        unit_column: String,
        /// Which datasets are neighbours.
        adjacency: Adjacency,
        /// How many groups one unit may touch.
        max_groups: u32,
        /// How many rows one unit may count for in a group.
        max_rows: u32,
        /// How many different values of one unit may count in a group, where different values are
        /// counted; as many as rows if there is none.
        max_values: Option<u32>,
        /// How many rows one unit may count for in all groups together; as many as its groups allow
        /// if there is none.
        max_rows_in_all: Option<u32>,
    },
}

/// A column of a dataset.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its type; none if eke has no such type, and the column cannot be asked about.
    pub kind: Option<Type>,
    /// What its values are clamped to when they are added up, in the unit of the column.
    pub bounds: Option<(f64, f64)>,
    /// The values that it has, where they are public.
    pub values: Option<Vec<Value>>,
}
