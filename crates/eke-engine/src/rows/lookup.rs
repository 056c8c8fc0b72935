//! Joins with public tables: each row is looked up by itself, in memory.
//!
//! What a row becomes follows from it and from the table alone. A key that is NULL equals nothing.

use std::collections::HashMap;
use std::fmt;

use arrow_array::{RecordBatch, UInt32Array};
use arrow_select::concat::concat;
use arrow_select::take::take;
use eke_sql::{Chooses, Expr, Lookup, RowSource, Type, Value};

use crate::data::source::Source;
use crate::rows::RowsError;
use crate::rows::column::Column;
use crate::rows::column::encoding;
use crate::rows::column::expr::ColumnExpr;
use crate::rows::column::lower::{self, LowerError};
use crate::rows::scan::{self, Piece, Wanted};

/// The rows of a public table, as a plan takes them.
#[derive(Clone)]
pub struct PublicRows {
    /// The dataset.
    pub(crate) table: String,
    columns: Vec<(String, Type)>,
    cells: Vec<Column>,
    rows: usize,
    /// What tells whether they are the same: of all cells that are taken, whatever their order.
    pub(crate) digest: [u8; 32],
}

impl fmt::Debug for PublicRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicRows({} rows of {})", self.rows, self.table)
    }
}

impl PublicRows {
    /// Reads some columns of a public dataset.
    pub(crate) fn read(
        table: &str,
        source: &Source,
        columns: &[(String, Type)],
    ) -> Result<Self, RowsError> {
        let pieces = scan::pieces(source, 1).map_err(RowsError::failed)?;
        Self::of(table, pieces, columns)
    }

    /// The rows of a table that a question writes out.
    pub(crate) fn inline(lookup: &Lookup) -> Result<Self, RowsError> {
        let mut arrays = Vec::with_capacity(lookup.columns.len());
        for column in &lookup.columns {
            let mut builder = encoding::Builder::new(column.kind, 0);
            let mut bytes = Vec::new();
            for value in column.cells.iter().flatten() {
                bytes.clear();
                encoding::push_value(value, &mut bytes);
                let taken = builder.take(&mut &bytes[..]);
                taken.ok_or_else(|| RowsError::failed("a value of another type"))?;
            }
            arrays.push((column.column.clone(), builder.finish()));
        }
        let batch = RecordBatch::try_from_iter_with_nullable(
            arrays.into_iter().map(|(name, array)| (name, array, true)),
        );
        let batch = batch.map_err(RowsError::failed)?;
        Self::of(&lookup.table, vec![Piece::Batches(vec![batch])], &Self::wanted(lookup))
    }

    /// The same of rows that are in memory.
    pub(crate) fn of(
        table: &str,
        pieces: Vec<Piece>,
        columns: &[(String, Type)],
    ) -> Result<Self, RowsError> {
        let wanted = Wanted { columns: columns.to_vec(), unit: None };
        let (mut batches, mut rows) = (Vec::new(), 0);
        for piece in pieces {
            for batch in scan::open_plain(piece, &wanted, 8_192)? {
                let (cells, count) = batch?;
                rows += count;
                batches.push(cells);
            }
        }
        let mut cells = Vec::with_capacity(columns.len());
        for (place, (_, kind)) in columns.iter().enumerate() {
            let parts: Vec<_> =
                batches.iter().map(|batch| batch[place].cut().into_array()).collect();
            let parts: Vec<_> = parts.iter().map(|part| &**part).collect();
            let column = if parts.is_empty() {
                Some(Column::nulls(*kind, 0))
            } else {
                Column::read(&concat(&parts).map_err(RowsError::failed)?, *kind)
            };
            cells.push(column.ok_or_else(|| RowsError::failed("a column of another type"))?);
        }
        Self::with(table, columns.to_vec(), cells, rows)
    }

    /// Some of its columns, as a lookup takes them; none if one of them was not read as that type.
    pub(crate) fn only(&self, columns: &[(String, Type)]) -> Option<Result<Self, RowsError>> {
        let cells = columns.iter().map(|column| {
            let place = self.columns.iter().position(|own| own == column)?;
            Some(self.cells[place].clone())
        });
        let cells = cells.collect::<Option<Vec<_>>>()?;
        Some(Self::with(&self.table, columns.to_vec(), cells, self.rows))
    }

    fn with(
        table: &str,
        columns: Vec<(String, Type)>,
        cells: Vec<Column>,
        rows: usize,
    ) -> Result<Self, RowsError> {
        let mut encoded: Vec<Vec<u8>> = (0..rows)
            .map(|row| {
                let mut bytes = Vec::new();
                cells.iter().for_each(|column| encoding::push(column, row, &mut bytes));
                bytes
            })
            .collect();
        encoded.sort_unstable();
        let mut hasher = blake3::Hasher::new_derive_key("eke 2026 rows of a public table");
        hasher.update(&serde_json::to_vec(&columns).map_err(RowsError::failed)?);
        for row in &encoded {
            hasher.update(&(row.len() as u64).to_le_bytes());
            hasher.update(row);
        }
        let digest = *hasher.finalize().as_bytes();
        Ok(Self { table: table.to_owned(), columns, cells, rows, digest })
    }

    /// The values of each column, sorted and distinct; none of a column that has more than `most`.
    pub(crate) fn values(&self, most: usize) -> Vec<(&str, Option<Vec<Value>>)> {
        let of = |column: &Column| {
            let mut values = std::collections::BTreeSet::new();
            for row in 0..self.rows {
                values.insert(column.value(row));
                if values.len() > most {
                    return None;
                }
            }
            Some(values.into_iter().collect())
        };
        let columns = self.columns.iter().zip(&self.cells);
        columns.map(|((name, _), column)| (name.as_str(), of(column))).collect()
    }

    /// How many of these rows one row can meet at most: the time that a row takes is public.
    ///
    /// Numbers that are the same as doubles count as equal, whatever they are compared as.
    pub(crate) fn most_matches(&self, lookup: &Lookup) -> Result<usize, LowerError> {
        let own: Vec<(String, Type)> =
            lookup.columns.iter().map(|column| (column.name.clone(), column.kind)).collect();
        let mut keys = Vec::with_capacity(lookup.equal.len());
        for (_, table) in &lookup.equal {
            let (mut key, kind) = lower::lower(table, &own)?;
            if kind == Some(Type::Int) {
                let double = Expr::Cast(Box::new(table.clone()), Type::Float);
                key = lower::lower(&double, &own)?.0;
            }
            keys.push(key.compute(&self.cells, self.rows));
        }
        let mut met: HashMap<Vec<u8>, usize> = HashMap::new();
        for row in 0..self.rows {
            if let Some(key) = key(&keys, row) {
                *met.entry(key).or_default() += 1;
            }
        }
        Ok(met.into_values().max().unwrap_or(0))
    }

    /// Whether these are the rows that a lookup takes.
    pub(crate) fn is_of(&self, lookup: &Lookup) -> bool {
        self.table == lookup.table && self.columns == Self::wanted(lookup)
    }

    /// What a lookup takes of its table.
    pub(crate) fn wanted(lookup: &Lookup) -> Vec<(String, Type)> {
        lookup.columns.iter().map(|column| (column.column.clone(), column.kind)).collect()
    }
}

/// The lookups of a plan's rows, the innermost first, and those of the left before those of the
/// right.
pub(crate) fn lookups(rows: Option<&RowSource>) -> Vec<&Lookup> {
    let Some(rows) = rows else { return Vec::new() };
    let sources = rows.sources().into_iter();
    let mut found: Vec<&Lookup> = sources.flat_map(|source| lookups(Some(source))).collect();
    if let RowSource::Lookup(lookup) = rows {
        found.push(lookup);
    }
    found
}

/// A join with a public table, ready to be done.
pub(crate) struct Join {
    /// What is looked up, over the columns of rows.
    keys: Vec<ColumnExpr>,
    /// The rows of the table by their keys.
    index: HashMap<Vec<u8>, Vec<u32>>,
    /// The columns of the table.
    cells: Vec<Column>,
    /// What must be true besides, over the columns of rows and then those of the table.
    condition: Option<ColumnExpr>,
    keeps_unmatched: bool,
    /// Which rows come out, where the table only chooses them.
    chooses: Option<Choosing>,
    /// How many columns there are of rows and of the table.
    width: usize,
}

/// Which rows come out of a lookup that only chooses.
#[derive(Clone, Copy)]
struct Choosing {
    /// Whether those that meet a row do, or those that meet none.
    with: bool,
    /// Whether those whose key is NULL do, which meet none.
    nulls: bool,
    /// Whether none do, whatever they meet.
    nothing: bool,
}

impl Join {
    /// A lookup in these rows, for rows with these columns, which become more.
    pub(crate) fn new(
        lookup: &Lookup,
        public: &PublicRows,
        columns: &mut Vec<(String, Type)>,
    ) -> Result<Self, LowerError> {
        let own: Vec<(String, Type)> =
            lookup.columns.iter().map(|column| (column.name.clone(), column.kind)).collect();
        let (mut keys, mut of_table) = (Vec::new(), Vec::new());
        for (row, table) in &lookup.equal {
            let (row, kind) = lower::lower(row, columns)?;
            let Some(kind) = kind else { return Err(LowerError::Types("a join".to_owned())) };
            keys.push(row);
            of_table.push(lower::typed(table, kind, &own)?);
        }
        let of_table: Vec<Column> =
            of_table.iter().map(|key| key.compute(&public.cells, public.rows)).collect();
        // The condition of NOT IN is about the table alone, and says which rows are looked at.
        let is_not_in = lookup.chooses == Some(Chooses::NotIn);
        let listed = match lookup.condition.as_ref().filter(|_| is_not_in) {
            Some(expr) => {
                let condition = lower::condition(expr, &own)?;
                Some(condition.holds(&public.cells, public.rows))
            }
            None => None,
        };
        let mut index: HashMap<Vec<u8>, Vec<u32>> = HashMap::new();
        let (mut is_empty, mut has_null) = (true, false);
        for row in 0..public.rows {
            let number = u32::try_from(row);
            let number = number.map_err(|_| LowerError::Types("a table too long".to_owned()))?;
            if listed.as_ref().is_some_and(|listed| !listed.value(row)) {
                continue;
            }
            is_empty = false;
            match key(&of_table, row) {
                Some(key) => index.entry(key).or_default().push(number),
                None => has_null = true,
            }
        }
        let mut both = columns.clone();
        both.extend(own);
        let condition = |expr: &Expr| lower::condition(expr, &both);
        let condition = lookup.condition.as_ref().filter(|_| !is_not_in).map(condition);
        let width = both.len();
        let chooses = lookup.chooses.map(|chooses| match chooses {
            Chooses::With => Choosing { with: true, nulls: false, nothing: false },
            Chooses::Without => Choosing { with: false, nulls: true, nothing: false },
            Chooses::NotIn => Choosing { with: false, nulls: is_empty, nothing: has_null },
        });
        let condition = condition.transpose()?;
        if chooses.is_none() {
            *columns = both;
        }
        Ok(Self {
            keys,
            index,
            cells: public.cells.clone(),
            condition,
            keeps_unmatched: lookup.keeps_unmatched,
            chooses,
            width,
        })
    }

    /// How many texts are computed for each row.
    pub(crate) fn texts(&self) -> usize {
        let condition = self.condition.as_ref().map_or(0, ColumnExpr::texts);
        let own = self.cells.iter().filter(|column| column.kind() == Type::Text).count();
        own + condition + self.keys.iter().map(ColumnExpr::texts).sum::<usize>()
    }

    /// What rows become, some at a time: their columns, those of the table, and then the unit.
    pub(crate) fn join(
        &self,
        (columns, rows): (Vec<Column>, usize),
        batch_rows: usize,
        take_in: &mut dyn FnMut(Vec<Column>, usize) -> Result<(), RowsError>,
    ) -> Result<(), RowsError> {
        // The unit of each row, if there is one, stays last.
        let own = self.width - self.cells.len();
        let cut: Vec<Column> = columns[..own].iter().map(Column::cut).collect();
        let keys: Vec<Column> = self.keys.iter().map(|key| key.compute(&cut, rows)).collect();
        let (mut left, mut right): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
        // The rows whose matches are all there.
        let mut from = 0;
        for row in 0..rows {
            let number = u32::try_from(row).unwrap_or(u32::MAX);
            let met = key(&keys, row).and_then(|key| self.index.get(&key));
            // Where nothing else decides, one is enough to be chosen.
            let most =
                if self.chooses.is_some() && self.condition.is_none() { 1 } else { usize::MAX };
            for &other in met.into_iter().flatten().take(most) {
                left.push(number);
                right.push(other);
            }
            if left.len() >= batch_rows || row + 1 == rows {
                let is_null = |row: usize| keys.iter().any(|key| key.is_null(row));
                self.emit(&columns, (&left, &right), from..row + 1, &is_null, take_in)?;
                left.clear();
                right.clear();
                from = row + 1;
            }
        }
        Ok(())
    }

    /// Hands on pairs of rows that meet, and the rows in this range that meet none if they are
    /// kept.
    fn emit(
        &self,
        columns: &[Column],
        (left, right): (&[u32], &[u32]),
        rows: std::ops::Range<usize>,
        is_null: &dyn Fn(usize) -> bool,
        take_in: &mut dyn FnMut(Vec<Column>, usize) -> Result<(), RowsError>,
    ) -> Result<(), RowsError> {
        let (mut left, mut right): (Vec<u32>, Vec<Option<u32>>) =
            (left.to_vec(), right.iter().copied().map(Some).collect());
        if let Some(condition) = &self.condition {
            let pairs = self.taken(columns, &left, &right)?;
            let cut: Vec<Column> = pairs[..self.width].iter().map(Column::cut).collect();
            let holds = condition.holds(&cut, left.len());
            (left, right) = holds.set_indices().map(|place| (left[place], right[place])).unzip();
        }
        if let Some(choosing) = self.chooses {
            let chosen = |row: &usize, is_met: bool| {
                is_met == choosing.with && !choosing.nothing && (choosing.nulls || !is_null(*row))
            };
            let left: Vec<u32> = split(&left, rows, chosen);
            if left.is_empty() {
                return Ok(());
            }
            let places = UInt32Array::from(left);
            let own = self.width - self.cells.len();
            let (own, unit) = columns.split_at(own);
            let picked = own.iter().chain(unit).map(|column| pick(column, &places));
            return take_in(picked.collect::<Result<_, _>>()?, places.len());
        }
        if self.keeps_unmatched {
            let unmet = split(&left, rows, |_, is_met| !is_met);
            right.extend(unmet.iter().map(|_| None));
            left.extend(unmet);
        }
        if left.is_empty() {
            return Ok(());
        }
        take_in(self.taken(columns, &left, &right)?, left.len())
    }

    /// The columns of pairs of rows: those of rows, those of the table, and then the unit.
    fn taken(
        &self,
        columns: &[Column],
        left: &[u32],
        right: &[Option<u32>],
    ) -> Result<Vec<Column>, RowsError> {
        let (left, right) = (UInt32Array::from(left.to_vec()), UInt32Array::from(right.to_vec()));
        let own = self.width - self.cells.len();
        let (own, unit) = columns.split_at(own);
        let own = own.iter().map(|column| pick(column, &left));
        let table = self.cells.iter().map(|column| pick(column, &right));
        own.chain(table).chain(unit.iter().map(|column| pick(column, &left))).collect()
    }
}

/// Those of some rows that are wanted, where it is known of each whether it is among others, which
/// are in order.
fn split(
    met: &[u32],
    rows: std::ops::Range<usize>,
    wanted: impl Fn(&usize, bool) -> bool,
) -> Vec<u32> {
    let mut met = met.iter().copied().peekable();
    let mut found = Vec::new();
    for row in rows {
        let number = u32::try_from(row).unwrap_or(u32::MAX);
        let mut is_met = false;
        while met.next_if_eq(&number).is_some() {
            is_met = true;
        }
        if wanted(&row, is_met) {
            found.push(number);
        }
    }
    found
}

/// Some rows of a column, NULL where there is none.
pub(crate) fn pick(column: &Column, places: &UInt32Array) -> Result<Column, RowsError> {
    let array = take(column.array(), places, None).map_err(RowsError::failed)?;
    let read = Column::read(&array, column.kind());
    read.ok_or_else(|| RowsError::failed("a column of another type"))
}

/// The bytes of what a row is looked up by; none if some of it is NULL.
pub(crate) fn key(keys: &[Column], row: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for column in keys {
        if column.is_null(row) {
            return None;
        }
        encoding::push(column, row, &mut bytes);
    }
    Some(bytes)
}
