//! Expressions in parts: what depends on one column of texts alone is computed once for each value
//! of its list, if it has one ([`AnyColumn`]), and the rest row by row.
//!
//! Every part is computed whatever the rows hold: for all rows, or for all values of a list.

use std::sync::Arc;

use arrow_buffer::BooleanBuffer;
use arrow_select::concat::concat;
use eke_sql::Type;

use crate::rows::column::expr::ColumnExpr;
use crate::rows::column::listed::{AnyColumn, Made};
use crate::rows::column::{Column, arrays};

/// An expression, in parts.
pub(crate) struct Parts {
    /// How many columns there are.
    columns: usize,
    parts: Vec<Part>,
    /// Over the columns, and then the parts.
    whole: ColumnExpr,
    /// Which of them it uses.
    uses: Vec<usize>,
    /// How many values of a list are computed on at a time.
    list_rows: usize,
}

/// What depends on one column alone.
struct Part {
    column: usize,
    /// Over that column, as the only one.
    expr: ColumnExpr,
}

/// What was computed last on lists, for each part; none where it was not.
#[derive(Default)]
pub(crate) struct PartsMade(Vec<Made<Option<Arc<Column>>>>);

/// Which columns an expression uses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Uses {
    None,
    One(usize),
    Many,
}

impl Uses {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, one) | (one, Self::None) => one,
            (Self::One(one), Self::One(other)) if one == other => self,
            _ => Self::Many,
        }
    }
}

impl Parts {
    /// An expression over columns of these types, which computes on this many values of a list at a
    /// time.
    pub(crate) fn new(mut whole: ColumnExpr, columns: &[(String, Type)], list_rows: usize) -> Self {
        let mut parts = Vec::new();
        let uses = split(&mut whole, columns, &mut parts);
        take_out(&mut whole, uses, columns, &mut parts);
        let mut uses = Vec::new();
        each_column(&mut whole, &mut |column| uses.push(*column));
        uses.sort_unstable();
        uses.dedup();
        Self { columns: columns.len(), parts, whole, uses, list_rows: list_rows.max(1) }
    }

    /// Its value for every row of a batch.
    pub(crate) fn compute(
        &self,
        columns: &[AnyColumn],
        rows: usize,
        made: &mut PartsMade,
    ) -> AnyColumn {
        made.0.resize_with(self.parts.len(), Made::default);
        let parts = self.parts.iter().zip(&mut made.0);
        let mut parts: Vec<AnyColumn> =
            parts.map(|(part, made)| self.part(part, &columns[part.column], rows, made)).collect();
        if let ColumnExpr::Column(place) = self.whole {
            return match place.checked_sub(self.columns) {
                Some(part) => parts.swap_remove(part),
                None => columns[place].clone(),
            };
        }
        let mut plain = vec![Column::nulls(Type::Bool, 0); self.columns + parts.len()];
        for &place in &self.uses {
            let column = columns.get(place).or_else(|| parts.get(place - self.columns));
            plain[place] = column.map_or_else(|| Column::nulls(Type::Bool, rows), AnyColumn::plain);
        }
        AnyColumn::Plain(self.whole.compute(&plain, rows))
    }

    /// For every row, whether it is true.
    pub(crate) fn holds(
        &self,
        columns: &[AnyColumn],
        rows: usize,
        made: &mut PartsMade,
    ) -> BooleanBuffer {
        let is_true = |column: &Column| match column {
            Column::Bool(array) => arrays::is_true(array),
            other => BooleanBuffer::new_unset(other.array().len()),
        };
        match self.compute(columns, rows, made) {
            AnyColumn::Plain(column) => is_true(&column),
            AnyColumn::Listed(listed) => listed.holds(&is_true(listed.list())),
        }
    }

    fn part(
        &self,
        part: &Part,
        column: &AnyColumn,
        rows: usize,
        made: &mut Made<Option<Arc<Column>>>,
    ) -> AnyColumn {
        if let AnyColumn::Listed(listed) = column {
            let computed = made.of(listed.list(), |list| self.on_list(&part.expr, list));
            if let Some(list) = &*computed {
                return AnyColumn::Listed(listed.with(Arc::clone(list)));
            }
        }
        AnyColumn::Plain(part.expr.compute(&[column.plain()], rows))
    }

    /// The value for each value of a list; none if these are texts, and more than have room.
    fn on_list(&self, expr: &ColumnExpr, list: &Column) -> Option<Arc<Column>> {
        let count = list.array().len();
        let slice = |from: usize| {
            let rows = self.list_rows.min(count - from);
            expr.compute(&[list.slice(from, rows)], rows)
        };
        let first = slice(0);
        if count <= self.list_rows {
            return Some(Arc::new(first));
        }
        if first.kind() == Type::Text {
            return None;
        }
        let others = (self.list_rows..count).step_by(self.list_rows).map(slice);
        let all: Vec<Column> = std::iter::once(first).chain(others).collect();
        let arrays: Vec<_> = all.iter().map(Column::array).collect();
        Some(Arc::new(Column::read(&concat(&arrays).ok()?, all.first()?.kind())?))
    }
}

/// Which columns an expression uses. Of one that uses several, those below it that use one column
/// of texts become parts.
fn split(expr: &mut ColumnExpr, columns: &[(String, Type)], parts: &mut Vec<Part>) -> Uses {
    if let ColumnExpr::Column(column) = expr {
        return Uses::One(*column);
    }
    let mut below = Vec::new();
    expr.each_operand(&mut |operand| below.push(split(operand, columns, parts)));
    let all = below.iter().copied().fold(Uses::None, Uses::and);
    if all == Uses::Many {
        let mut uses = below.into_iter();
        expr.each_operand(&mut |operand| {
            take_out(operand, uses.next().unwrap_or(Uses::None), columns, parts);
        });
    }
    all
}

/// Makes an expression a part, if it uses one column of texts and is more than that column.
fn take_out(expr: &mut ColumnExpr, uses: Uses, columns: &[(String, Type)], parts: &mut Vec<Part>) {
    let Uses::One(column) = uses else { return };
    let is_text = columns.get(column).is_some_and(|(_, kind)| *kind == Type::Text);
    if is_text && !matches!(expr, ColumnExpr::Column(_)) {
        let place = ColumnExpr::Column(columns.len() + parts.len());
        let mut part = std::mem::replace(expr, place);
        each_column(&mut part, &mut |column| *column = 0);
        parts.push(Part { column, expr: part });
    }
}

fn each_column(expr: &mut ColumnExpr, change: &mut dyn FnMut(&mut usize)) {
    match expr {
        ColumnExpr::Column(column) => change(column),
        other => other.each_operand(&mut |operand| each_column(operand, change)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::types::Int32Type;
    use arrow_array::{ArrayRef, DictionaryArray, Int64Array};
    use eke_sql::{Binary, Expr, Function, Unary, Value};

    use crate::rows::column::expr::MATCHED;
    use crate::rows::column::listed::LastList;
    use crate::rows::column::lower;

    fn columns() -> Vec<(String, Type)> {
        [("a", Type::Text), ("b", Type::Text), ("n", Type::Int)]
            .map(|(name, kind)| (name.to_owned(), kind))
            .into()
    }

    fn listed(texts: &[Option<&str>]) -> AnyColumn {
        let array: ArrayRef =
            Arc::new(texts.iter().copied().collect::<DictionaryArray<Int32Type>>());
        let read = |list: &ArrayRef| Column::read(list, Type::Text);
        AnyColumn::Listed(LastList::default().read(&array, read).unwrap())
    }

    fn like(column: &str) -> Expr {
        let text = Box::new(Expr::Column(column.to_owned()));
        Expr::Like { text, pattern: "%a%".to_owned(), ignore_case: false }
    }

    /// Parts are computed on lists, and what comes out is what rows without a list give.
    #[test]
    fn parts_agree_with_the_whole_row_by_row() {
        let column = |name: &str| Box::new(Expr::Column(name.to_owned()));
        let upper = |name: &str| Expr::Call(Function::Upper, vec![*column(name)]);
        let and = |a, b| Expr::Binary(Binary::And, Box::new(a), Box::new(b));
        let is_null = |name: &str| Expr::Unary(Unary::IsNull, column(name));
        let more = Expr::Binary(
            Binary::Greater,
            column("n"),
            Box::new(Expr::Call(Function::Length, vec![*column("a")])),
        );
        let exprs = [
            *column("a"),
            upper("a"),
            like("b"),
            is_null("a"),
            Expr::Call(
                Function::Coalesce,
                vec![upper("a"), Expr::Literal(Value::Text("none".into()))],
            ),
            and(like("a"), more),
            and(and(like("a"), is_null("b")), like("b")),
            Expr::Binary(Binary::Concat, Box::new(upper("a")), column("b")),
        ];
        let texts = [Some("ab"), None, Some("x"), Some("ab"), Some(""), Some("bca")];
        let rows = 60;
        let cell = |step: usize| -> Vec<_> { (0..rows).map(|row| texts[row * step % 6]).collect() };
        let numbers: Int64Array = (0..60).map(|row| (row % 7 != 0).then_some(row % 4)).collect();
        let any = [listed(&cell(1)), listed(&cell(5)), AnyColumn::Plain(Column::Int(numbers))];
        let plain: Vec<Column> = any.iter().map(AnyColumn::plain).collect();
        for expr in exprs {
            let lowered = || lower::lower(&expr, &columns()).unwrap().0;
            let expected = lowered().compute(&plain, rows);
            for list_rows in [1, 2, 1000] {
                let parts = Parts::new(lowered(), &columns(), list_rows);
                let mut made = PartsMade::default();
                for _ in 0..2 {
                    let found = parts.compute(&any, rows, &mut made).plain();
                    for row in 0..rows {
                        assert_eq!(found.value(row), expected.value(row), "{expr:?} {row}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_part_is_computed_once_for_each_value_of_a_list() {
        let both = Expr::Binary(Binary::Or, Box::new(like("a")), Box::new(like("b")));
        let parts = Parts::new(lower::lower(&both, &columns()).unwrap().0, &columns(), 1000);
        let texts: Vec<_> = (0..100).map(|row| Some(["x", "y", "a"][row % 3])).collect();
        let numbers = AnyColumn::Plain(Column::nulls(Type::Int, 100));
        let any = [listed(&texts), AnyColumn::Plain(listed(&texts).plain()), numbers];
        let mut made = PartsMade::default();
        let mut matched = || {
            let before = MATCHED.get();
            assert_eq!(parts.holds(&any, 100, &mut made).count_set_bits(), 33);
            MATCHED.get() - before
        };
        // Three values and NULL, and a hundred rows; then the list is known.
        assert_eq!(matched(), 4 + 100);
        assert_eq!(matched(), 100);
    }
}
