//! Tables whose columns line up.

use std::io::{self, Write};

/// Rows of text; the first row is the head. Columns are as wide as their widest cell and two spaces
/// apart; they are aligned left, but for those that are said to be numbers.
#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
    numbers: Vec<usize>,
}

impl Table {
    pub(crate) fn new(head: &[&str]) -> Self {
        let mut table = Self::default();
        table.row(head.iter().copied());
        table
    }

    /// With these columns aligned right.
    pub(crate) fn with_numbers(mut self, columns: impl IntoIterator<Item = usize>) -> Self {
        self.numbers.extend(columns);
        self
    }

    pub(crate) fn row<Cell: Into<String>>(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    pub(crate) fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns)
            .map(|column| {
                let cells = self.rows.iter().filter_map(|row| row.get(column));
                cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
            })
            .collect();
        for row in &self.rows {
            let mut line = String::new();
            for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                let gap = std::iter::repeat_n(' ', width - cell.chars().count());
                line.push_str("  ");
                if self.numbers.contains(&column) {
                    line.extend(gap);
                    line.push_str(cell);
                } else {
                    line.push_str(cell);
                    line.extend(gap);
                }
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}
