//! Columns whose rows say by number which value of a list they have (dictionary columns).
//!
//! Files store texts that occur again and again once, and say for each row which it is. Such a
//! column stays as it is: what depends on it alone is computed once for each value of the list, and
//! the names of keys and units are made once for each. What comes out is what comes out of the same
//! rows without a list.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, BooleanArray, Int32Array};
use arrow_buffer::{BooleanBuffer, ScalarBuffer};
use arrow_schema::ArrowError;
use arrow_select::concat::concat;
use arrow_select::filter::filter;
use arrow_select::take::take;

use crate::rows::column::{Column, encoding};

/// How long a list is at most. A column with a longer one is read row by row.
pub(crate) const LONGEST: usize = 1 << 16;

/// Values, and for each row which of them it has.
#[derive(Clone)]
pub(crate) struct Listed {
    /// The last is NULL, whatever the others are.
    list: Arc<Column>,
    places: ScalarBuffer<i32>,
}

/// A column, listed or not.
#[derive(Clone)]
pub(crate) enum AnyColumn {
    Plain(Column),
    Listed(Listed),
}

/// The list that a column had last, as it was read and as it has become: the batches of a piece
/// share theirs.
#[derive(Default)]
pub(crate) struct LastList(Option<(ArrayRef, Arc<Column>)>);

impl LastList {
    /// A dictionary of texts as a column, whose values are made a list; none if it is something
    /// else, or too long.
    pub(crate) fn read(
        &mut self,
        array: &ArrayRef,
        make: impl FnOnce(&ArrayRef) -> Option<Column>,
    ) -> Option<Listed> {
        let dictionary = array.as_dictionary_opt::<Int32Type>()?;
        let (keys, values) = (dictionary.keys(), dictionary.values());
        if values.len() >= LONGEST {
            return None;
        }
        let list = match &self.0 {
            Some((last, list)) if last.to_data().ptr_eq(&values.to_data()) => Arc::clone(list),
            _ => {
                let list = Arc::new(with_null(&make(values)?)?);
                self.0 = Some((Arc::clone(values), Arc::clone(&list)));
                list
            }
        };
        let null = i32::try_from(list.array().len() - 1).ok()?;
        let places = match keys.nulls() {
            None => keys.values().clone(),
            Some(_) => keys.iter().map(|key| key.unwrap_or(null)).collect(),
        };
        Some(Listed { list, places })
    }
}

/// The same values, and then NULL.
fn with_null(column: &Column) -> Option<Column> {
    let null = Column::nulls(column.kind(), 1);
    Column::read(&concat(&[column.array(), null.array()]).ok()?, column.kind())
}

impl Listed {
    pub(crate) fn list(&self) -> &Arc<Column> {
        &self.list
    }

    /// The same rows, whose values have become others.
    pub(crate) fn with(&self, list: Arc<Column>) -> Self {
        Self { list, places: self.places.clone() }
    }

    /// Which value of the list a row has.
    #[inline]
    pub(crate) fn place(&self, row: usize) -> usize {
        self.places.get(row).and_then(|&place| usize::try_from(place).ok()).unwrap_or_default()
    }

    /// For each row what is true of its value.
    pub(crate) fn holds(&self, of_values: &BooleanBuffer) -> BooleanBuffer {
        BooleanBuffer::collect_bool(self.places.len(), |row| of_values.value(self.place(row)))
    }

    fn filtered(&self, kept: &BooleanArray) -> Result<Self, ArrowError> {
        let places = filter(&Int32Array::new(self.places.clone(), None), kept)?;
        let places = places.as_primitive::<Int32Type>().values().clone();
        Ok(Self { list: Arc::clone(&self.list), places })
    }

    /// Row by row.
    fn plain(&self) -> Column {
        let places = Int32Array::new(self.places.clone(), None);
        let taken = take(self.list.array(), &places, None).ok();
        let kind = self.list.kind();
        let column = taken.and_then(|array| Column::read(&array, kind));
        column.unwrap_or_else(|| Column::nulls(kind, self.places.len()))
    }
}

impl AnyColumn {
    /// Row by row.
    pub(crate) fn plain(&self) -> Column {
        match self {
            Self::Plain(column) => column.clone(),
            Self::Listed(listed) => listed.plain(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Plain(column) => column.array().len(),
            Self::Listed(listed) => listed.places.len(),
        }
    }

    /// Some of its rows.
    pub(crate) fn slice(&self, from: usize, count: usize) -> Self {
        match self {
            Self::Plain(column) => Self::Plain(column.slice(from, count)),
            Self::Listed(listed) => {
                let places = listed.places.slice(from, count);
                Self::Listed(Listed { list: Arc::clone(&listed.list), places })
            }
        }
    }

    /// Those of its rows that are kept.
    pub(crate) fn filtered(&self, kept: &BooleanArray) -> Result<Self, ArrowError> {
        Ok(match self {
            Self::Plain(column) => {
                let array = filter(column.array(), kept)?;
                let other = || ArrowError::ComputeError("a column of another type".to_owned());
                Self::Plain(Column::read(&array, column.kind()).ok_or_else(other)?)
            }
            Self::Listed(listed) => Self::Listed(listed.filtered(kept)?),
        })
    }

    /// As [`Column::cut`]; the values of a list were cut when it was read.
    pub(crate) fn cut(&self) -> Self {
        match self {
            Self::Plain(column) => Self::Plain(column.cut()),
            Self::Listed(listed) => Self::Listed(listed.clone()),
        }
    }

    /// As [`Column::identity`], which is taken once: that of a long name is another one when it is
    /// taken again.
    pub(crate) fn identity(&self, made: &mut Made<Column>) -> Self {
        match self {
            Self::Plain(column) => Self::Plain(column.identity()),
            Self::Listed(listed) => {
                Self::Listed(listed.with(made.of(&listed.list, Column::identity)))
            }
        }
    }

    /// Which rows have a value.
    pub(crate) fn is_not_null(&self) -> BooleanBuffer {
        match self {
            Self::Plain(column) => super::arrays::is_not_null(column.array()),
            Self::Listed(listed) => listed.holds(&super::arrays::is_not_null(listed.list.array())),
        }
    }

    pub(crate) fn null_count(&self) -> usize {
        match self {
            Self::Plain(column) => column.array().null_count(),
            Self::Listed(_) => self.len() - self.is_not_null().count_set_bits(),
        }
    }

    /// How many bytes of memory it holds. A list counts where it is another than the one before.
    pub(crate) fn held(&self, before: Option<&Self>) -> usize {
        match (self, before) {
            (Self::Plain(column), _) => column.array().get_array_memory_size(),
            (Self::Listed(listed), before) => {
                let is_same = matches!(
                    before, Some(Self::Listed(before)) if Arc::ptr_eq(&before.list, &listed.list)
                );
                let list = if is_same { 0 } else { listed.list.array().get_array_memory_size() };
                list.saturating_add(listed.places.inner().capacity())
            }
        }
    }
}

/// The names of the values of a list, each made once.
pub(crate) struct ListNames {
    bytes: Vec<u8>,
    /// Where each ends.
    ends: Vec<usize>,
}

impl ListNames {
    pub(crate) fn new(list: &Column) -> Self {
        let (mut bytes, mut ends) = (Vec::new(), Vec::with_capacity(list.array().len()));
        for row in 0..list.array().len() {
            encoding::push(list, row, &mut bytes);
            ends.push(bytes.len());
        }
        Self { bytes, ends }
    }

    #[inline]
    pub(crate) fn name(&self, place: usize) -> &[u8] {
        let start = if place == 0 { 0 } else { self.ends[place - 1] };
        &self.bytes[start..self.ends[place]]
    }
}

/// What was made of the list that a column had last: the batches of a piece share theirs, and a
/// worker has one piece at a time.
pub(crate) struct Made<T>(Option<(Arc<Column>, Arc<T>)>);

impl<T> Default for Made<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Made<T> {
    /// What is made of a list.
    pub(crate) fn of(&mut self, list: &Arc<Column>, make: impl FnOnce(&Column) -> T) -> Arc<T> {
        if let Some((last, made)) = &self.0
            && Arc::ptr_eq(last, list)
        {
            return Arc::clone(made);
        }
        let made = Arc::new(make(list));
        self.0 = Some((Arc::clone(list), Arc::clone(&made)));
        made
    }
}

/// What names rows: a column of keys or of units.
pub(crate) enum Naming {
    Plain(Column),
    Listed(Listed, Arc<ListNames>),
}

impl Naming {
    pub(crate) fn new(column: AnyColumn, names: &mut Made<ListNames>) -> Self {
        match column {
            AnyColumn::Plain(column) => Self::Plain(column),
            AnyColumn::Listed(listed) => {
                let names = names.of(&listed.list, ListNames::new);
                Self::Listed(listed, names)
            }
        }
    }

    /// Appends the names of all rows, and where each ends.
    pub(crate) fn push_all(&self, bytes: &mut Vec<u8>, ends: &mut Vec<usize>) {
        match self {
            Self::Plain(column) => encoding::push_all(column, bytes, ends),
            Self::Listed(listed, names) => {
                for row in 0..listed.places.len() {
                    bytes.extend_from_slice(names.name(listed.place(row)));
                    ends.push(bytes.len());
                }
            }
        }
    }

    /// Appends the name of a row.
    #[inline]
    pub(crate) fn push(&self, row: usize, bytes: &mut Vec<u8>) {
        match self {
            Self::Plain(column) => encoding::push(column, row, bytes),
            Self::Listed(listed, names) => {
                bytes.extend_from_slice(names.name(listed.place(row)));
            }
        }
    }
}
