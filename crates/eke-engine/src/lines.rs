//! The lines of a CSV file, each of them a row.
//!
//! A line ends at a line feed, a carriage return, or both of them in this order. Nothing that a row
//! holds makes another row of it or takes the next one in: a quote ends with its line at the
//! latest, and of a line that is longer than [`LONGEST`] the rest is passed over.

use std::io::{self, BufRead, BufReader, Read};

use crate::source::{self, DataFile, SourceError};

/// How many bytes of a line are read. Its rest is passed over, so that no row takes all memory.
pub(crate) const LONGEST: usize = 1 << 20;

/// The rows of a CSV file: taken as they come, with too many cells or too few.
pub(crate) struct CsvRows {
    lines: BufReader<Box<dyn Read + Send>>,
    line: Vec<u8>,
    is_first: bool,
    /// The last line ended with a carriage return: a line feed that follows is part of that end.
    after_return: bool,
}

impl CsvRows {
    pub(crate) fn open(file: &DataFile) -> Result<Self, SourceError> {
        Ok(Self::of(source::open(file)?))
    }

    fn of(bytes: Box<dyn Read + Send>) -> Self {
        let lines = BufReader::with_capacity(1 << 16, bytes);
        Self { lines, line: Vec::new(), is_first: true, after_return: false }
    }

    /// Reads the next row that is not empty; false at the end.
    pub(crate) fn read(&mut self, record: &mut csv::ByteRecord) -> io::Result<bool> {
        while self.next_line()? {
            let mut line = self.line.as_slice();
            if std::mem::take(&mut self.is_first) {
                line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
            }
            if line.is_empty() {
                continue;
            }
            record.clear();
            if line.contains(&b'"') {
                let mut reader = csv::ReaderBuilder::new();
                let mut reader = reader.has_headers(false).flexible(true).from_reader(line);
                reader.read_byte_record(record)?;
            } else {
                line.split(|byte| *byte == b',').for_each(|cell| record.push_field(cell));
            }
            return Ok(true);
        }
        Ok(false)
    }

    /// Reads the next line without its end; false if there is none.
    fn next_line(&mut self) -> io::Result<bool> {
        self.line.clear();
        let mut is_any = false;
        loop {
            let buffer = match self.lines.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if buffer.is_empty() {
                return Ok(is_any);
            }
            if std::mem::take(&mut self.after_return) && buffer[0] == b'\n' {
                self.lines.consume(1);
                continue;
            }
            is_any = true;
            let end = buffer.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let here = &buffer[..end.unwrap_or(buffer.len())];
            let room = LONGEST - self.line.len();
            self.line.extend_from_slice(&here[..here.len().min(room)]);
            let used = here.len() + usize::from(end.is_some());
            self.after_return = end.is_some_and(|end| buffer[end] == b'\r');
            self.lines.consume(used);
            if end.is_some() {
                return Ok(true);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives its bytes a few at a time, so that every place is the end of a buffer once.
    struct Drops(Vec<u8>, usize);

    impl Read for Drops {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(buffer.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0.drain(..count);
            Ok(count)
        }
    }

    fn rows(bytes: &[u8], at_a_time: usize) -> Vec<Vec<String>> {
        let mut rows = CsvRows::of(Box::new(Drops(bytes.to_vec(), at_a_time)));
        let (mut record, mut found) = (csv::ByteRecord::new(), Vec::new());
        while rows.read(&mut record).unwrap() {
            let cells = record.iter().map(|cell| String::from_utf8_lossy(cell).into_owned());
            found.push(cells.collect());
        }
        found
    }

    #[test]
    fn a_line_ends_at_a_line_feed_a_carriage_return_or_both() {
        let expected =
            [vec!["rider", "fare"], vec!["ada", "1"], vec!["bob", "2, 3"], vec!["eve", "4"]];
        for text in [
            "rider,fare\nada,1\nbob,\"2, 3\"\neve,4",
            "rider,fare\rada,1\rbob,\"2, 3\"\reve,4\r",
            "rider,fare\r\nada,1\r\nbob,\"2, 3\"\r\neve,4\r\n",
            "\u{feff}rider,fare\r\n\nada,1\n\r\r\nbob,\"2, 3\"\reve,4\n",
        ] {
            for at_a_time in [1, 2, 3, 7, 1000] {
                assert_eq!(rows(text.as_bytes(), at_a_time), expected, "{text:?} {at_a_time}");
            }
        }
    }

    #[test]
    fn a_quote_ends_with_its_line_and_a_long_line_is_one_row() {
        let found = rows(b"a,\"b\rc,d\n\"e\"\"f\",g\r", 5);
        assert_eq!(found, [vec!["a", "b"], vec!["c", "d"], vec!["e\"f", "g"]]);
        let mut long = b"a,".to_vec();
        long.resize(LONGEST + 70_000, b'x');
        long.extend_from_slice(b",y\rb,z\n");
        let found = rows(&long, 1 << 16);
        assert_eq!((found.len(), found[0].len(), found[0][1].len()), (2, 2, LONGEST - 2));
        assert_eq!(found[1], ["b", "z"]);
    }
}
