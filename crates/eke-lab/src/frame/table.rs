//! Tables of results: rows of labels and measured cells, printed aligned or as Markdown, and
//! written cell by cell.
//!
//! A table that is spread *across* one of its labels is printed with a column for each of that
//! label's values; what is written to files is the same either way.

use std::fmt::Write;

use serde::Serialize;

use crate::frame::summary::Summary;

/// A table.
#[derive(Clone, Debug, Serialize)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// What rows are labelled by.
    pub keys: Vec<&'static str>,
    /// What was measured.
    pub measures: Vec<&'static str>,
    /// The rows.
    pub rows: Vec<TableRow>,
    #[serde(skip)]
    across: Option<(usize, Vec<TableKey>)>,
}

/// A row.
#[derive(Clone, Debug, Serialize)]
pub struct TableRow {
    /// Its labels.
    pub keys: Vec<TableKey>,
    /// What was measured.
    pub cells: Vec<TableCell>,
}

/// A label.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum TableKey {
    /// In words.
    Text(String),
    /// A number.
    Number(f64),
}

/// What was measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum TableCell {
    /// Over trials.
    Summary(Summary),
    /// Computed, or counted.
    Number(f64),
    /// In words.
    Text(String),
    /// Nothing: it does not exist here.
    None,
}

impl Table {
    /// A table with no rows yet.
    #[must_use]
    pub fn new<const K: usize, const M: usize>(
        title: impl Into<String>,
        keys: [&'static str; K],
        measures: [&'static str; M],
    ) -> Self {
        let (keys, measures) = (keys.to_vec(), measures.to_vec());
        Self { title: title.into(), keys, measures, rows: Vec::new(), across: None }
    }

    /// Printed with a column for each of a label's values.
    ///
    /// # Panics
    /// There is no such label.
    #[must_use]
    pub fn across(self, key: &str) -> Self {
        self.across_at(key, [])
    }

    /// Printed with a column for these of a label's values, which is to save room; none means all.
    ///
    /// # Panics
    /// There is no such label.
    #[must_use]
    pub fn across_at(mut self, key: &str, shown: impl IntoIterator<Item = TableKey>) -> Self {
        let place = self.keys.iter().position(|other| *other == key);
        self.across = Some((place.expect("a label of the table"), shown.into_iter().collect()));
        self
    }

    /// Adds a row.
    ///
    /// # Panics
    /// It has more or fewer labels or cells than the table.
    pub fn row<const K: usize, const M: usize>(
        &mut self,
        keys: [TableKey; K],
        cells: [TableCell; M],
    ) {
        assert_eq!((K, M), (self.keys.len(), self.measures.len()), "the row fits the table");
        self.rows.push(TableRow { keys: keys.into(), cells: cells.into() });
    }

    /// As it is printed: a caption, and lines whose columns are aligned.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for grid in self.grids() {
            let width = |column: usize| {
                let cells = grid.rows.iter().chain([&grid.head]).map(|row| row[column].as_str());
                cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
            };
            let widths: Vec<usize> = (0..grid.head.len()).map(width).collect();
            // Writing to a string does not fail.
            let _ = writeln!(text, "{}", grid.caption);
            for row in [&grid.head].into_iter().chain(&grid.rows) {
                let mut line = String::from(" ");
                for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                    let _ = if column < grid.labels {
                        write!(line, " {cell:<width$} ")
                    } else {
                        write!(line, " {cell:>width$} ")
                    };
                }
                let _ = writeln!(text, "{}", line.trim_end());
            }
        }
        text
    }

    /// As Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        let line = |row: &[String]| {
            let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |", cells.join(" | "))
        };
        for grid in self.grids() {
            let _ = writeln!(text, "**{}**\n\n{}", grid.caption, line(&grid.head));
            let rules = (0..grid.head.len()).map(|n| if n < grid.labels { "---" } else { "--:" });
            let _ = writeln!(text, "|{}|", rules.collect::<Vec<_>>().join("|"));
            for row in &grid.rows {
                let _ = writeln!(text, "{}", line(row));
            }
            text.push('\n');
        }
        text
    }

    fn grids(&self) -> Vec<Grid> {
        match &self.across {
            None => vec![self.long()],
            Some((place, shown)) => {
                (0..self.measures.len()).map(|m| self.wide(*place, shown, m)).collect()
            }
        }
    }

    /// A line a row, with all that a summary has.
    fn long(&self) -> Grid {
        let summed = |measure: usize| {
            self.rows.iter().any(|row| matches!(row.cells[measure], TableCell::Summary(_)))
        };
        let mut head: Vec<String> = self.keys.iter().map(|key| (*key).to_owned()).collect();
        for (index, measure) in self.measures.iter().enumerate() {
            head.push((*measure).to_owned());
            if summed(index) {
                head.extend(["95 % of the mean".to_owned(), "quartiles".to_owned()]);
            }
        }
        let line = |row: &TableRow| {
            let mut line: Vec<String> = row.keys.iter().map(TableKey::shown).collect();
            for (index, cell) in row.cells.iter().enumerate() {
                match cell {
                    TableCell::Summary(Summary { mean, interval, quartiles, .. }) => {
                        let between = interval.map_or(String::new(), |[low, high]| {
                            format!("{} to {}", number(low), number(high))
                        });
                        let quartiles = quartiles.map(number).join(", ");
                        line.extend([number(*mean), between, quartiles]);
                    }
                    other => {
                        line.push(other.shown());
                        if summed(index) {
                            line.extend([String::new(), String::new()]);
                        }
                    }
                }
            }
            line
        };
        let rows = self.rows.iter().map(line).collect();
        Grid { caption: self.title.clone(), labels: self.keys.len(), head, rows }
    }

    /// A column for each value of a label, and means with half of their intervals.
    fn wide(&self, place: usize, shown: &[TableKey], measure: usize) -> Grid {
        let mut columns: Vec<&TableKey> = Vec::new();
        let mut labels: Vec<Vec<&TableKey>> = Vec::new();
        for row in &self.rows {
            let key = &row.keys[place];
            if !columns.contains(&key) && (shown.is_empty() || shown.contains(key)) {
                columns.push(key);
            }
            let label = Self::others(row, place);
            if !labels.contains(&label) {
                labels.push(label);
            }
        }
        let cell = |label: &[&TableKey], column: &TableKey| {
            let mut rows = self.rows.iter();
            let row = rows.find(|r| r.keys[place] == *column && Self::others(r, place) == label);
            row.map_or(String::new(), |row| row.cells[measure].shown())
        };
        let keys = self.keys.iter().enumerate().filter(|(index, _)| *index != place);
        let head = keys.map(|(_, key)| (*key).to_owned());
        let head = head.chain(columns.iter().map(|column| column.shown())).collect();
        let rows = labels.iter().map(|label| {
            let keys = label.iter().map(|key| key.shown());
            keys.chain(columns.iter().map(|column| cell(label, column))).collect()
        });
        let caption =
            format!("{}: {}, by {}", self.title, self.measures[measure], self.keys[place]);
        Grid { caption, labels: self.keys.len() - 1, head, rows: rows.collect() }
    }

    fn others(row: &TableRow, place: usize) -> Vec<&TableKey> {
        row.keys.iter().enumerate().filter(|(n, _)| *n != place).map(|(_, key)| key).collect()
    }
}

/// A table as it is shown.
struct Grid {
    caption: String,
    /// How many of its columns are labels.
    labels: usize,
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl TableKey {
    /// As it is shown.
    #[must_use]
    pub fn shown(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(value) => {
                let text = value.to_string();
                if value.fract() == 0.0 || text.len() > 8 { number(*value) } else { text }
            }
        }
    }
}

impl TableCell {
    /// As it is shown: a mean with half of its interval.
    #[must_use]
    pub fn shown(&self) -> String {
        match self {
            Self::Summary(Summary { mean, interval: Some([low, high]), .. }) => {
                let half = (high - low) / 2.0;
                let half = if half > 0.0 { rounded(half, places(*mean)) } else { number(half) };
                format!("{} ±{half}", number(*mean))
            }
            Self::Summary(Summary { mean, .. }) => number(*mean),
            Self::Number(value) => number(*value),
            Self::Text(text) => text.clone(),
            Self::None => String::new(),
        }
    }
}

/// A number in four digits or so.
#[must_use]
pub fn number(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        return value.to_string();
    }
    if size.fract() == 0.0 && size < 1e9 {
        return grouped(&format!("{value:.0}"));
    }
    if !(1e-3..1e7).contains(&size) {
        return format!("{value:.2e}");
    }
    let text = rounded(value, places(value));
    if text.contains('.') { text } else { grouped(&text) }
}

/// How many decimals four digits of this are.
fn places(value: f64) -> usize {
    let size = value.abs();
    if size < 1e-300 {
        return 4;
    }
    #[expect(clippy::cast_possible_truncation, reason = "an exponent")]
    let first = size.log10().floor() as i32;
    usize::try_from(3 - first).unwrap_or(0).min(6)
}

fn rounded(value: f64, places: usize) -> String {
    let text = format!("{value:.places$}");
    if places > 0 && !text.trim_matches(['0', '.', '-']).is_empty() {
        return text;
    }
    // Nothing is left of it: say how small it is.
    if value == 0.0 || places == 0 { text } else { format!("{value:.0e}") }
}

/// With a comma between thousands.
fn grouped(digits: &str) -> String {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |rest| ("-", rest));
    let mut text = String::from(sign);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Both labels and cells are made of numbers and of words.
macro_rules! from_numbers_and_words {
    ($($kind:ty),+) => {$(
        impl From<f64> for $kind {
            fn from(value: f64) -> Self {
                Self::Number(value)
            }
        }

        impl From<u32> for $kind {
            fn from(value: u32) -> Self {
                Self::Number(value.into())
            }
        }

        impl From<usize> for $kind {
            fn from(value: usize) -> Self {
                Self::Number(value as f64)
            }
        }

        impl From<&str> for $kind {
            fn from(text: &str) -> Self {
                Self::Text(text.to_owned())
            }
        }

        impl From<String> for $kind {
            fn from(text: String) -> Self {
                Self::Text(text)
            }
        }
    )+};
}

from_numbers_and_words!(TableKey, TableCell);

impl From<Summary> for TableCell {
    fn from(summary: Summary) -> Self {
        Self::Summary(summary)
    }
}

impl<T: Into<TableCell>> From<Option<T>> for TableCell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::None, Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new("errors", ["way", "people"], ["error", "computed"]);
        for (way, people, error) in [("ours", 10u32, 1.5), ("ours", 2000, 0.25), ("other", 10, 3.0)]
        {
            let drawn = Summary::of([error - 0.5, error, error + 0.5]);
            table.row([way.into(), people.into()], [drawn.into(), error.into()]);
        }
        table
    }

    #[test]
    fn a_long_table_has_all_that_a_summary_has() {
        let text = table().text();
        for part in
            ["95 % of the mean", "quartiles", "2,000", "0.2579 to 2.742", "1.250, 1.500, 1.750"]
        {
            assert!(text.contains(part), "{part} is not in {text}");
        }
        assert!(text.lines().all(|line| !line.ends_with(' ')));
    }

    #[test]
    fn a_table_across_a_label_has_a_column_for_each_value() {
        let text = table().across("people").text();
        assert_eq!(
            text,
            "\
errors: error, by people
  way              10           2,000
  ours   1.500 ±1.242  0.2500 ±1.2421
  other      3 ±1.242
errors: computed, by people
  way       10   2,000
  ours   1.500  0.2500
  other      3
"
        );
        let some = table().across_at("people", [TableKey::from(10u32)]).text();
        assert!(!some.contains("2,000"));
    }

    #[test]
    fn markdown_has_a_rule_and_as_many_cells_in_every_row() {
        let markdown = table().markdown();
        let rows: Vec<&str> = markdown.lines().filter(|line| line.starts_with('|')).collect();
        assert_eq!(rows.len(), 5);
        assert!(rows[1].starts_with("|---|---|--:|"));
        assert!(rows.iter().all(|row| row.matches('|').count() == rows[0].matches('|').count()));
    }

    #[test]
    fn numbers_have_four_digits_or_say_how_small_they_are() {
        for (value, shown) in [
            (0.0, "0"),
            (1.0, "1"),
            (1234.0, "1,234"),
            (-1_234_567.0, "-1,234,567"),
            (0.5, "0.5000"),
            (12.345_678, "12.35"),
            (1234.56, "1,235"),
            (0.001_234_56, "0.001235"),
            (0.000_012_3, "1.23e-5"),
            (1.5e8 + 0.25, "1.50e8"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(number(value), shown);
        }
    }
}
