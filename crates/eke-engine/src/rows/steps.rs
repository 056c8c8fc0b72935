//! What happens to each row by itself on its way: joins with public tables, and branches of UNION
//! ALL, which choose rows and columns.

use std::sync::Arc;

use arrow_array::BooleanArray;
use arrow_select::filter::filter;
use eke_sql::{Type, UnitRows};

use crate::rows::RowsError;
use crate::rows::column::expr::ColumnExpr;
use crate::rows::column::lower::{self, LowerError};
use crate::rows::column::{Column, arrays};
use crate::rows::lookup::Join;

/// One thing that happens to rows.
pub(crate) enum RowStep {
    Join(Join),
    Select(Select),
}

/// Some rows, with other columns.
pub(crate) struct Select {
    filter: Option<ColumnExpr>,
    columns: Vec<(ColumnExpr, Type)>,
}

impl Select {
    /// What a branch takes of rows with these columns.
    pub(crate) fn new(branch: &UnitRows, columns: &[(String, Type)]) -> Result<Self, LowerError> {
        let filter = branch.filter.as_ref().map(|filter| lower::condition(filter, columns));
        let own = branch.columns.iter().map(|column| {
            Ok::<_, LowerError>((lower::typed(&column.expr, column.kind, columns)?, column.kind))
        });
        Ok(Self { filter: filter.transpose()?, columns: own.collect::<Result<_, _>>()? })
    }

    /// The rows that take part: their columns, and then the unit. All is computed for every row.
    fn apply(
        &self,
        (columns, rows): (Vec<Column>, usize),
        take_in: &mut dyn FnMut(Vec<Column>, usize) -> Result<(), RowsError>,
    ) -> Result<(), RowsError> {
        let Some((unit, own)) = columns.split_last() else {
            return Err(RowsError::failed("a row without a unit column"));
        };
        let own: Vec<Column> = own.iter().map(Column::cut).collect();
        let mut takes_part = arrays::is_not_null(unit.array());
        if let Some(filter) = &self.filter {
            takes_part = &takes_part & &filter.holds(&own, rows);
        }
        let computed = self.columns.iter().map(|(expr, _)| expr.compute(&own, rows));
        let computed: Vec<Column> = computed.chain([unit.clone()]).collect();
        let count = takes_part.count_set_bits();
        if count == rows {
            return take_in(computed, rows);
        }
        if count == 0 {
            return Ok(());
        }
        let takes_part = BooleanArray::new(takes_part, None);
        let kept = computed.into_iter().map(|column| {
            let array = filter(column.array(), &takes_part).map_err(RowsError::failed)?;
            let read = Column::read(&array, column.kind());
            read.ok_or_else(|| RowsError::failed("a column of another type"))
        });
        take_in(kept.collect::<Result<_, _>>()?, count)
    }

    fn texts(&self) -> usize {
        let columns = self.columns.iter().map(|(expr, _)| expr.texts());
        self.filter.as_ref().map_or(0, ColumnExpr::texts) + columns.sum::<usize>()
    }
}

impl RowStep {
    /// How many texts are computed for each row.
    pub(crate) fn texts(&self) -> usize {
        match self {
            Self::Join(join) => join.texts(),
            Self::Select(select) => select.texts(),
        }
    }
}

/// What rows become in several steps, one after the other.
pub(crate) fn through(
    steps: &[Arc<RowStep>],
    batch: (Vec<Column>, usize),
    batch_rows: usize,
    take_in: &mut dyn FnMut(Vec<Column>, usize) -> Result<(), RowsError>,
) -> Result<(), RowsError> {
    let Some((first, others)) = steps.split_first() else { return take_in(batch.0, batch.1) };
    let mut next = |columns, rows| through(others, (columns, rows), batch_rows, &mut *take_in);
    match &**first {
        RowStep::Join(join) => join.join(batch, batch_rows, &mut next),
        RowStep::Select(select) => select.apply(batch, &mut next),
    }
}
