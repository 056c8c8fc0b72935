//! The rows of a CSV file.
//!
//! What ends the first line, the names of the columns, ends all lines: a line feed, with or without
//! a carriage return before it, or a carriage return. The other one is a character like others.
//!
//! A row is a line, or goes over several where a cell in quotes holds the end of a line. Which of
//! the two a file was written for cannot be seen from a row alone, and a wrong guess lets one
//! person's cell make rows of others, or take theirs in. So a file is looked through once, when its
//! snapshot is declared ([`Written`]): one whose quotes are all where CSV programs write them, with
//! cells over several lines, is read so, and of any other each line is a row, with a quote that
//! ends with its line at the latest. Whatever a cell holds, such a program puts it in quotes where
//! it must; so with anybody's rows and without them a file that it wrote is read as it was written.
//! The policy can also say which it is.
//!
//! Of a row that is longer than [`LONGEST`] the rest is passed over.

use std::io::{self, BufRead, BufReader, Read};

use crate::data::source::{self, DataFile, SourceError};

/// How many bytes of a row are read. Its rest is passed over, so that no row takes all memory.
pub(crate) const LONGEST: usize = 1 << 20;

/// The rows of a CSV file: taken as they come, with too many cells or too few.
pub(crate) struct CsvRows {
    bytes: BufReader<Box<dyn Read + Send>>,
    /// Whether cells in quotes may go over several lines.
    is_multiline: bool,
    /// What ends a line; none before the first one.
    end: Option<u8>,
    /// The row that was read last, without its end.
    row: Vec<u8>,
    /// What it is made of, if it may go over several lines.
    made: Made,
    cell: Vec<u8>,
}

/// How a file was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// Each line is a row, whether or not cells could go over several.
    InLines,
    /// As CSV programs write, with rows that go over several lines.
    OverLines,
    /// Not as CSV programs write from this row on, the header being row 1, though quotes are left
    /// open at the ends of lines: each line is a row.
    Otherwise {
        /// The row.
        row: u64,
    },
}

impl Written {
    /// Looks through a file.
    pub(crate) fn look(file: &DataFile) -> Result<Self, SourceError> {
        let unreadable = |error| unreadable(file, error);
        let rows = CsvRows::of(source::open(file)?, true).map_err(unreadable)?;
        Self::of(rows).map_err(unreadable)
    }

    /// All of it is looked through, whatever is found: how long that takes tells nothing.
    fn of(mut rows: CsvRows) -> io::Result<Self> {
        let mut number = 0;
        let (mut is_over_lines, mut odd) = (false, None);
        while rows.next_row()? {
            let Made { state, is_odd, lines } = rows.made;
            is_over_lines |= lines > 0;
            if rows.row.is_empty() {
                continue;
            }
            number += 1;
            if is_odd || state == State::Quoted {
                odd.get_or_insert(number);
            }
        }
        Ok(match odd {
            Some(row) if is_over_lines => Self::Otherwise { row },
            None if is_over_lines => Self::OverLines,
            _ => Self::InLines,
        })
    }
}

impl CsvRows {
    /// Opens a file to be read as it was written.
    pub(crate) fn open(file: &DataFile) -> Result<Self, SourceError> {
        let is_multiline = match file.is_multiline {
            Some(known) => known,
            None => Written::look(file)? == Written::OverLines,
        };
        let rows = Self::of(source::open(file)?, is_multiline);
        rows.map_err(|error| unreadable(file, error))
    }

    /// Opens a file for its first row, which is read in one way however the others were written.
    pub(crate) fn header(file: &DataFile) -> Result<Self, SourceError> {
        Self::of(source::open(file)?, true).map_err(|error| unreadable(file, error))
    }

    fn of(mut bytes: Box<dyn Read + Send>, is_multiline: bool) -> io::Result<Self> {
        // The mark is no part of the first cell, which may begin with a quote.
        let mut head = Vec::new();
        bytes.by_ref().take(MARK.len() as u64).read_to_end(&mut head)?;
        if head == MARK {
            head.clear();
        }
        let bytes: Box<dyn Read + Send> = Box::new(io::Cursor::new(head).chain(bytes));
        Ok(Self {
            bytes: BufReader::with_capacity(1 << 16, bytes),
            is_multiline,
            end: None,
            row: Vec::new(),
            made: Made::default(),
            cell: Vec::new(),
        })
    }

    /// Reads the next row that is not empty; false at the end.
    pub(crate) fn read(&mut self, record: &mut csv::ByteRecord) -> io::Result<bool> {
        while self.next_row()? {
            if !self.row.is_empty() {
                record.clear();
                self.split(record);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads the next row without its end; false if there is none.
    fn next_row(&mut self) -> io::Result<bool> {
        let is_first = self.end.is_none();
        let is_multiline = self.is_multiline || is_first;
        self.row.clear();
        self.made = Made::default();
        let mut is_any = false;
        loop {
            let buffer = match self.bytes.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if buffer.is_empty() {
                break;
            }
            is_any = true;
            let end = match self.end {
                Some(end) => find(end, buffer),
                None => buffer.iter().position(|byte| matches!(byte, b'\n' | b'\r')),
            };
            let part = &buffer[..end.unwrap_or(buffer.len())];
            if is_multiline {
                self.made.add(part);
            }
            let goes_on = self.made.state == State::Quoted;
            let used = part.len() + usize::from(end.is_some());
            let is_return = end.is_some_and(|end| buffer[end] == b'\r');
            // The end of a line in quotes is part of a cell.
            let kept = if goes_on { used } else { part.len() };
            let room = LONGEST - self.row.len();
            self.row.extend_from_slice(&buffer[..kept.min(room)]);
            self.bytes.consume(used);
            if end.is_none() {
                continue;
            }
            if goes_on {
                self.made.lines += 1;
                continue;
            }
            if is_first {
                self.end = Some(if is_return && !self.skip_feed()? { b'\r' } else { b'\n' });
            }
            break;
        }
        if self.end == Some(b'\n') && self.row.last() == Some(&b'\r') {
            self.row.pop();
        }
        Ok(is_any)
    }

    /// Passes over a line feed, if one comes next.
    fn skip_feed(&mut self) -> io::Result<bool> {
        loop {
            match self.bytes.fill_buf() {
                Ok(buffer) if buffer.first() == Some(&b'\n') => break,
                Ok(_) => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.bytes.consume(1);
        Ok(true)
    }

    /// The cells of the row. One that begins with a quote ends with the quote that follows no
    /// other, and what stands between that and the comma belongs to it; one that is never closed
    /// ends with the row.
    fn split(&mut self, record: &mut csv::ByteRecord) {
        let mut rest = Some(self.row.as_slice());
        while let Some(here) = rest {
            if let Some(quoted) = here.strip_prefix(b"\"") {
                rest = take_quoted(quoted, &mut self.cell);
                record.push_field(&self.cell);
            } else {
                let (cell, after) = cut(here);
                record.push_field(cell);
                rest = after;
            }
        }
    }
}

fn unreadable(file: &DataFile, error: io::Error) -> SourceError {
    SourceError::Unreadable { file: file.name.clone(), error }
}

/// What some files begin with, to say that they are UTF-8.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// Takes a cell that a quote opened, and returns what follows its comma.
fn take_quoted<'a>(mut rest: &'a [u8], cell: &mut Vec<u8>) -> Option<&'a [u8]> {
    cell.clear();
    while let Some(quote) = find(b'"', rest) {
        cell.extend_from_slice(&rest[..quote]);
        rest = &rest[quote + 1..];
        let Some(after) = rest.strip_prefix(b"\"") else {
            let (tail, after) = cut(rest);
            cell.extend_from_slice(tail);
            return after;
        };
        cell.push(b'"');
        rest = after;
    }
    cell.extend_from_slice(rest);
    None
}

fn find(byte: u8, bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|found| *found == byte)
}

/// What stands before the first comma, and after it.
fn cut(rest: &[u8]) -> (&[u8], Option<&[u8]>) {
    match find(b',', rest) {
        Some(comma) => (&rest[..comma], Some(&rest[comma + 1..])),
        None => (rest, None),
    }
}

/// What the bytes of a row have been so far, also where they are passed over.
#[derive(Clone, Copy, Debug, Default)]
struct Made {
    state: State,
    /// Whether there is a quote where CSV programs write none.
    is_odd: bool,
    /// How many ends of lines are in it.
    lines: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Where a cell begins.
    #[default]
    Start,
    /// In a cell without quotes.
    Plain,
    /// In quotes.
    Quoted,
    /// After a quote that ends the cell, unless another one follows.
    Closing,
    /// After that and a carriage return, with which only a row can end.
    Returned,
}

impl Made {
    fn add(&mut self, part: &[u8]) {
        let Some(last) = part.last() else { return };
        if matches!(self.state, State::Start | State::Plain) && find(b'"', part).is_none() {
            self.state = if *last == b',' { State::Start } else { State::Plain };
            return;
        }
        for byte in part {
            self.state = match (self.state, byte) {
                (State::Start | State::Closing, b'"') => State::Quoted,
                (State::Quoted, b'"') => State::Closing,
                (State::Quoted, _) => State::Quoted,
                (State::Start | State::Plain | State::Closing, b',') => State::Start,
                (State::Closing, b'\r') => State::Returned,
                (state, byte) => {
                    let is_after = matches!(state, State::Closing | State::Returned);
                    self.is_odd |= is_after || *byte == b'"';
                    if *byte == b',' { State::Start } else { State::Plain }
                }
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives its bytes a few at a time, so that every place is the end of a buffer once.
    struct Drops(io::Cursor<Vec<u8>>, usize);

    impl Read for Drops {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(buffer.len());
            self.0.read(&mut buffer[..count])
        }
    }

    fn open(bytes: &[u8], at_a_time: usize, is_multiline: bool) -> CsvRows {
        CsvRows::of(Box::new(Drops(io::Cursor::new(bytes.to_vec()), at_a_time)), is_multiline)
            .unwrap()
    }

    fn rows(bytes: &[u8], at_a_time: usize, is_multiline: bool) -> Vec<Vec<String>> {
        let mut rows = open(bytes, at_a_time, is_multiline);
        let (mut record, mut found) = (csv::ByteRecord::new(), Vec::new());
        while rows.read(&mut record).unwrap() {
            let cells = record.iter().map(|cell| String::from_utf8_lossy(cell).into_owned());
            found.push(cells.collect());
        }
        found
    }

    fn written(bytes: &[u8]) -> Written {
        let found = Written::of(open(bytes, 1 << 16, true)).unwrap();
        assert_eq!(Written::of(open(bytes, 1, true)).unwrap(), found);
        found
    }

    #[test]
    fn lines_end_with_what_ends_the_first() {
        let expected =
            [vec!["rider", "fare"], vec!["ada", "1"], vec!["bob", "2, 3"], vec!["eve", "4"]];
        for text in [
            "rider,fare\nada,1\nbob,\"2, 3\"\neve,4",
            "rider,fare\rada,1\rbob,\"2, 3\"\reve,4\r",
            "rider,fare\r\nada,1\r\nbob,\"2, 3\"\r\neve,4\r\n",
            "\u{feff}rider,fare\r\n\nada,1\n\r\nbob,\"2, 3\"\neve,4\r\n",
        ] {
            for at_a_time in [1, 2, 3, 7, 1000] {
                for multi in [false, true] {
                    let found = rows(text.as_bytes(), at_a_time, multi);
                    assert_eq!(found, expected, "{text:?} {at_a_time}");
                }
            }
            assert_eq!(written(text.as_bytes()), Written::InLines);
        }
        // The other character is one like others: nobody writes rows with it.
        let found = rows(b"rider,fare\nada,1\rbob,2\neve,4\n", 3, false);
        assert_eq!(found, [vec!["rider", "fare"], vec!["ada", "1\rbob", "2"], vec!["eve", "4"]]);
        let found = rows(b"rider,fare\rada,1\nbob,2\reve,4\r", 3, false);
        assert_eq!(found, [vec!["rider", "fare"], vec!["ada", "1\nbob", "2"], vec!["eve", "4"]]);
    }

    #[test]
    fn a_row_in_one_line_ends_with_it_and_a_long_one_is_one_row() {
        let found = rows(b"x,y\na,\"b\nc,d\n\"e\"\"f\"g,h\n", 5, false);
        assert_eq!(found, [vec!["x", "y"], vec!["a", "b"], vec!["c", "d"], vec!["e\"fg", "h"]]);
        for multi in [false, true] {
            let mut long = b"x,y\na,\"".to_vec();
            long.resize(LONGEST + 70_000, b'x');
            long.extend_from_slice(b"\",y\nb,z\n");
            let found = rows(&long, 1 << 16, multi);
            assert_eq!((found.len(), found[1].len(), found[1][1].len()), (3, 2, LONGEST - 3));
            assert_eq!(found[2], ["b", "z"]);
        }
    }

    /// The bytes of a file with these cells, as CSV programs write them.
    fn standard(rows: &[Vec<&str>], end: &str, is_minimal: bool) -> Vec<u8> {
        let mut text = String::new();
        for row in rows {
            let cells = row.iter().map(|cell| {
                if is_minimal && !cell.contains(['"', ',', '\n', '\r']) && !cell.is_empty() {
                    (*cell).to_owned()
                } else {
                    format!("\"{}\"", cell.replace('"', "\"\""))
                }
            });
            text += &(cells.collect::<Vec<_>>().join(",") + end);
        }
        text.into_bytes()
    }

    /// Whatever somebody's cells hold, they are their rows' own, and all others are as they are
    /// without them.
    #[test]
    fn a_file_of_a_csv_program_is_read_as_it_was_written() {
        let hostile = [
            "x\nbob,9\nbob,9",
            "\"",
            "\"\"",
            "\n\"",
            "\",\"",
            "\r",
            "\r\nbob,1\r\n",
            ",\",\n",
            "\n",
            "a\"b\nc\"",
            "\u{feff}",
            "",
            "\"\n\"",
            "plain",
        ];
        let others = [vec!["bob", "1"], vec!["eve", "two\nlines"], vec!["dan", "a \"word\""]];
        for end in ["\n", "\r\n", "\r"] {
            for is_minimal in [false, true] {
                for one in hostile {
                    for two in hostile {
                        let mut all = vec![vec!["rider", "note"], vec!["alice", one]];
                        all.extend(others.iter().cloned());
                        all.extend([vec!["alice", two], vec!["bob", "2"]]);
                        // Too many cells, or too few, change nothing.
                        all.extend([vec!["alice"], vec!["alice", one, two]]);
                        for mark in [&b""[..], MARK] {
                            let bytes = [mark, &standard(&all, end, is_minimal)].concat();
                            let multi = written(&bytes) == Written::OverLines;
                            assert_eq!(rows(&bytes, 4, multi), all, "{end:?} {one:?} {two:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn of_a_file_that_was_written_otherwise_each_line_is_a_row() {
        for (text, row) in [
            // A quote that is never closed.
            ("a,b\nada,\"x\nbob,1\n", 2),
            // One that is closed in the middle of a cell of somebody else's.
            ("a,b\nada,\"x\nbob,1\nada,\"y\nbob,2\n", 2),
            // A quote within a cell.
            ("a,b\nbob,\"x\ny\"\nada,5\"\n", 3),
            ("a,b\nbob,\"x\ny\"\nada,\"5\" \n", 3),
        ] {
            assert_eq!(written(text.as_bytes()), Written::Otherwise { row }, "{text:?}");
        }
        for text in ["", "a,b", "a,b\n", "a,b\nada,1,2\nbob\nada,5\"\n"] {
            assert_eq!(written(text.as_bytes()), Written::InLines, "{text:?}");
        }
        // However long a row is, it is known how it was written.
        let mut long = b"x,y\na,\"".to_vec();
        long.resize(LONGEST + 70_000, b'\n');
        long.extend_from_slice(b"\"\nb,\"z\nz\"\n");
        assert_eq!(written(&long), Written::OverLines);
        let found = rows(&long, 1 << 16, true);
        assert_eq!((found.len(), &found[2][1][..]), (3, "z\nz"));
    }
}
