//! Tables whose columns line up, and fit the width of a terminal.

use std::io::{self, Write};
use std::ops::Range;

use crate::show::WIDTH;

/// Rows of text; the first row is the head. Columns are as wide as their widest cell and two spaces
/// apart; they are aligned left, but for those that are said to be numbers.
///
/// A table that would be too wide has its head over several lines; if that is not enough and there
/// are numbers, it is printed in parts below each other, each with the columns before the first
/// number. No cell is ever cut, so that a long key or a long number makes a line longer.
///
/// Nothing can be printed before the last row is there, so all cells are kept: one after the other
/// in one text, since an answer may have a million rows.
#[derive(Default)]
pub(crate) struct Table {
    text: String,
    /// Where in the text cells end, and how many characters each has.
    cells: Vec<(usize, usize)>,
    /// The number of the cell after each row.
    rows: Vec<usize>,
    /// How many characters the widest cell of each column has, below the head.
    widths: Vec<usize>,
    head: Vec<String>,
    numbers: Vec<usize>,
    /// The columns that a part may begin with after the first ones: the numbers unless it is said.
    starts: Option<Vec<usize>>,
}

/// What heads are folded to, the first of these at which the table fits; the last but one if none.
const NARROW: [usize; 4] = [24, 16, 12, 8];
/// How many lines a head is folded into at most; what is longer is shortened.
const LINES: usize = 4;

impl Table {
    pub(crate) fn new(head: &[&str]) -> Self {
        let head = head.iter().map(|name| (*name).to_owned()).collect();
        Self { head, ..Self::default() }
    }

    /// With these columns aligned right.
    pub(crate) fn with_numbers(mut self, columns: impl IntoIterator<Item = usize>) -> Self {
        self.numbers.extend(columns);
        self
    }

    /// With parts that begin at these columns alone, where it does not fit.
    pub(crate) fn with_parts(mut self, starts: impl IntoIterator<Item = usize>) -> Self {
        self.starts = Some(starts.into_iter().collect());
        self
    }

    pub(crate) fn row<Cell: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = Cell>) {
        for (column, cell) in cells.into_iter().enumerate() {
            let cell = cell.as_ref();
            self.text.push_str(cell);
            let width = cell.chars().count();
            self.cells.push((self.text.len(), width));
            match self.widths.get_mut(column) {
                Some(widest) => *widest = width.max(*widest),
                None => self.widths.push(width),
            }
        }
        self.rows.push(self.cells.len());
    }

    pub(crate) fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let columns = self.head.len().max(self.widths.len());
        let body = |column: usize| self.widths.get(column).copied().unwrap_or(0);
        let name = |column: usize| self.head.get(column).map_or("", String::as_str);
        let whole: Vec<usize> =
            (0..columns).map(|column| name(column).chars().count().max(body(column))).collect();
        let is_wide =
            |widths: &[usize]| widths.iter().map(|width| width + 2).sum::<usize>() > WIDTH;
        if !is_wide(&whole) {
            let head: Vec<Vec<String>> = (0..columns).map(|at| vec![name(at).to_owned()]).collect();
            let all = 0..columns;
            return self.print_part(std::slice::from_ref(&all), &head, &whole, out);
        }
        let folded_to = |narrow: usize| {
            let head: Vec<Vec<String>> =
                (0..columns).map(|column| folded(name(column), body(column).max(narrow))).collect();
            let lines = |column: usize| head[column].iter().map(|line| line.chars().count()).max();
            let widths: Vec<usize> =
                (0..columns).map(|column| lines(column).unwrap_or(0).max(body(column))).collect();
            (head, widths)
        };
        let fits = NARROW.into_iter().map(folded_to).find(|(_, widths)| !is_wide(widths));
        let (head, widths) = fits.unwrap_or_else(|| folded_to(NARROW[2]));
        for (index, part) in self.parts(&widths).iter().enumerate() {
            if index > 0 {
                writeln!(out)?;
            }
            self.print_part(part, &head, &widths, out)?;
        }
        Ok(())
    }

    /// The columns of each part: those before the first number, and then as many numbers, each with
    /// what follows it, as fit.
    fn parts(&self, widths: &[usize]) -> Vec<Vec<Range<usize>>> {
        let all = widths.len();
        let mut starts = self.starts.clone().unwrap_or_else(|| self.numbers.clone());
        starts.sort_unstable();
        let Some(&first) = starts.first() else { return vec![vec![0..all]] };
        let ends = starts.iter().skip(1).copied().chain([all]);
        let width = |columns: &Range<usize>| -> usize {
            widths[columns.clone()].iter().map(|width| width + 2).sum()
        };
        let keys = 0..first;
        let mut parts: Vec<Vec<Range<usize>>> = Vec::new();
        let mut used = 0;
        for number in starts.iter().zip(ends).map(|(&start, end)| start..end) {
            match parts.last_mut() {
                Some(part) if used + width(&number) <= WIDTH => {
                    used += width(&number);
                    part.push(number);
                }
                _ => {
                    used = width(&keys) + width(&number);
                    parts.push(vec![keys.clone(), number]);
                }
            }
        }
        parts
    }

    fn print_part(
        &self,
        part: &[Range<usize>],
        head: &[Vec<String>],
        widths: &[usize],
        out: &mut impl Write,
    ) -> io::Result<()> {
        let mut line = String::new();
        let put = |line: &mut String, column: usize, cell: &str, width: usize| {
            let gap = std::iter::repeat_n(' ', widths[column].saturating_sub(width));
            line.push_str("  ");
            if self.numbers.contains(&column) {
                line.extend(gap);
                line.push_str(cell);
            } else {
                line.push_str(cell);
                line.extend(gap);
            }
        };
        let columns = || part.iter().flat_map(Clone::clone);
        let height = columns().map(|column| head[column].len()).max().unwrap_or(1);
        let height = if self.head.is_empty() { 0 } else { height };
        for number in 0..height {
            line.clear();
            for column in columns() {
                // The last line of every head stands above the cells.
                let above = height - head[column].len();
                let name = number.checked_sub(above).map_or("", |at| &head[column][at]);
                put(&mut line, column, name, name.chars().count());
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        let mut first = 0;
        for &last in &self.rows {
            line.clear();
            for column in columns() {
                let Some(&(end, width)) = self.cells[first..last].get(column) else { continue };
                let at = first + column;
                let start = if at == 0 { 0 } else { self.cells[at - 1].0 };
                put(&mut line, column, &self.text[start..end], width);
            }
            first = last;
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// A head in lines of at most that many characters, broken where words end; shortened if that takes
/// too many lines.
fn folded(name: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut length = 0;
    for piece in pieces(name) {
        let mut piece: Vec<char> = piece.chars().collect();
        if length > 0 && length + piece.len() > width {
            lines.push(String::new());
            length = 0;
        }
        while piece.len() > width {
            lines.last_mut().expect("there is one").extend(piece.drain(..width));
            lines.push(String::new());
        }
        length += piece.len();
        lines.last_mut().expect("there is one").extend(piece);
    }
    let mut lines: Vec<String> = lines
        .into_iter()
        .map(|line| line.trim().to_owned())
        .filter(|line| !line.is_empty())
        .collect();
    if lines.len() > LINES {
        lines.truncate(LINES);
        let last = &mut lines[LINES - 1];
        *last = last.chars().take(width - 1).chain(['…']).collect();
    }
    lines
}

/// A name in pieces that lines may end after.
fn pieces(name: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for (place, c) in name.char_indices() {
        if matches!(c, ' ' | '_' | ',' | '(' | ')' | '.' | '-' | '/') {
            let end = place + c.len_utf8();
            pieces.push(&name[start..end]);
            start = end;
        }
    }
    pieces.push(&name[start..]);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(table: &Table) -> Vec<String> {
        let mut out = Vec::new();
        table.print(&mut out).unwrap();
        String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_table_that_fits_is_printed_as_it_is() {
        let mut table = Table::new(&["city", "n", "95% interval"]).with_numbers([1]);
        table.row(["Delft", "12", "10 to 14"]);
        assert_eq!(printed(&table), ["  city    n  95% interval", "  Delft  12  10 to 14"]);
    }

    #[test]
    fn a_wide_table_fits_80_columns_and_no_number_is_cut() {
        let long = "SUM(CASE WHEN started >= '2026-01-01' THEN fare * 1.19 END)";
        for values in 1..9usize {
            let mut head = vec!["district"];
            for _ in 0..values {
                head.extend([long, "95% interval"]);
            }
            let numbers = (0..values).map(|value| 1 + 2 * value);
            let mut table = Table::new(&head).with_numbers(numbers);
            for row in 0..3u32 {
                let mut cells = vec![format!("district {row}")];
                for value in 0..values {
                    cells.push(format!("1,234,5{row}{value}"));
                    cells.push(format!("1,134,5{row}{value} to 1,334,5{row}{value}"));
                }
                table.row(cells);
            }
            let lines = printed(&table);
            assert!(lines.iter().all(|line| line.chars().count() <= WIDTH), "{lines:#?}");
            for (row, value) in (0..3).flat_map(|row| (0..values).map(move |value| (row, value))) {
                let cell = format!("1,134,5{row}{value} to 1,334,5{row}{value}");
                assert_eq!(lines.iter().filter(|line| line.contains(&cell)).count(), 1);
            }
        }
    }

    #[test]
    fn heads_are_folded_where_words_end_and_shortened_if_they_are_long() {
        assert_eq!(folded("started_at", 8), ["started_", "at"]);
        assert_eq!(folded("COUNT(DISTINCT rider)", 12), ["COUNT(", "DISTINCT", "rider)"]);
        assert_eq!(folded("abcdefghijkl", 5), ["abcde", "fghij", "kl"]);
        let long = folded(&"word ".repeat(20), 8);
        assert!(long.len() == LINES && long[LINES - 1].ends_with('…'), "{long:?}");
    }
}
