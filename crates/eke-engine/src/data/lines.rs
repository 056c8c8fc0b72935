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
//! Rows are read one after the other ([`CsvRows`]), or by several workers that take blocks of them
//! in turn ([`SharedCsv`]): they are the same rows.

use std::io;
use std::sync::{Mutex, PoisonError};

use crate::data::blocks::{Block, Blocks, Row};
use crate::data::source::{self, DataFile, SourceError};

/// How many bytes are read for a first row: most are short.
const HEADER: usize = 1 << 16;

/// The rows of a file that are not empty, one after the other.
pub(crate) struct CsvRows {
    blocks: Blocks,
    block: Option<Block>,
}

impl CsvRows {
    /// Opens a file to be read as it was written.
    pub(crate) fn open(file: &DataFile) -> Result<Self, SourceError> {
        Ok(Self { blocks: open(file)?, block: None })
    }

    /// Opens a file for its first row, which is read in one way however the others were written.
    pub(crate) fn header(file: &DataFile) -> Result<Self, SourceError> {
        let blocks = Blocks::sized(source::open(file)?, true, HEADER);
        let blocks = blocks.map_err(|error| unreadable(file, error))?;
        Ok(Self { blocks, block: None })
    }

    /// Reads the next row; none at the end.
    pub(crate) fn next_row(&mut self) -> io::Result<Option<Row<'_>>> {
        while !self.block.as_mut().is_some_and(Block::advance) {
            self.block = self.blocks.next_block()?;
            if self.block.is_none() {
                break;
            }
        }
        Ok(self.block.as_ref().map(Block::row))
    }
}

/// A file that several workers read: each takes the next block when it is free, so that one reads
/// and unpacks while others take apart what they have. Who gets which block is chance.
pub(crate) struct SharedCsv {
    pub(crate) file: DataFile,
    /// The names of its columns.
    pub(crate) names: Vec<String>,
    progress: Mutex<Progress>,
}

enum Progress {
    NotBegun,
    Begun(Blocks),
    Over,
}

impl SharedCsv {
    /// Reads the names of the columns, and no other row.
    pub(crate) fn new(file: &DataFile) -> Result<Self, SourceError> {
        let names = source::header(file)?;
        Ok(Self { file: file.clone(), names, progress: Mutex::new(Progress::NotBegun) })
    }

    /// The next block, without the header; none if all are taken. What fails, fails for one of the
    /// workers, and there is nothing left for others.
    pub(crate) fn next_block(&self) -> Result<Option<Block>, SourceError> {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        // Whatever goes wrong from here on, nobody goes on behind it.
        let (blocks, block) = match std::mem::replace(&mut *progress, Progress::Over) {
            Progress::Over => return Ok(None),
            Progress::Begun(mut blocks) => {
                let block = blocks.next_block().map_err(|error| unreadable(&self.file, error))?;
                (blocks, block)
            }
            Progress::NotBegun => {
                let mut rows = CsvRows::open(&self.file)?;
                rows.next_row().map_err(|error| unreadable(&self.file, error))?;
                (rows.blocks, rows.block)
            }
        };
        if block.is_some() {
            *progress = Progress::Begun(blocks);
        }
        Ok(block)
    }
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
        Self::of(Blocks::new(source::open(file)?, true).map_err(unreadable)?).map_err(unreadable)
    }

    /// All of it is looked through, whatever is found: how long that takes tells nothing.
    fn of(mut blocks: Blocks) -> io::Result<Self> {
        let mut number = 0;
        let (mut is_over_lines, mut odd) = (false, None);
        while let Some(mut block) = blocks.next_block()? {
            while block.advance() {
                number += 1;
                is_over_lines |= block.made().is_over_lines();
                if block.made().is_odd() {
                    odd.get_or_insert(number);
                }
            }
        }
        Ok(match odd {
            Some(row) if is_over_lines => Self::Otherwise { row },
            None if is_over_lines => Self::OverLines,
            _ => Self::InLines,
        })
    }
}

/// Opens a file to be read as it was written.
fn open(file: &DataFile) -> Result<Blocks, SourceError> {
    let is_multiline = match file.is_multiline {
        Some(known) => known,
        None => Written::look(file)? == Written::OverLines,
    };
    Blocks::new(source::open(file)?, is_multiline).map_err(|error| unreadable(file, error))
}

fn unreadable(file: &DataFile, error: io::Error) -> SourceError {
    SourceError::Unreadable { file: file.name.clone(), error }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;
    use crate::data::blocks::{LONGEST, MARK};

    /// Gives its bytes a few at a time, so that every place is the end of a buffer once.
    struct Drops(io::Cursor<Vec<u8>>, usize);

    impl Read for Drops {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(buffer.len());
            self.0.read(&mut buffer[..count])
        }
    }

    fn open(bytes: &[u8], at_a_time: usize, is_multiline: bool) -> Blocks {
        let drops = Box::new(Drops(io::Cursor::new(bytes.to_vec()), at_a_time));
        Blocks::sized(drops, is_multiline, at_a_time).unwrap()
    }

    fn rows(bytes: &[u8], at_a_time: usize, is_multiline: bool) -> Vec<Vec<String>> {
        let mut rows = CsvRows { blocks: open(bytes, at_a_time, is_multiline), block: None };
        let mut found = Vec::new();
        while let Some(row) = rows.next_row().unwrap() {
            let cells = row.cells().map(|cell| String::from_utf8_lossy(&cell).into_owned());
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

    /// Each row goes to one of the readers, whatever its cells hold and however many read.
    #[test]
    fn readers_of_one_file_share_its_rows_out() {
        let folder = tempfile::tempdir().unwrap();
        let hostile = ["x\ny,9\n", "\"", "\",\"", "\r\n", "\n\"", "plain", ",\",\n"];
        let cells: Vec<[String; 2]> = (0..120_000)
            .map(|row: usize| [row.to_string(), hostile[row * row % 13 % 7].repeat(row % 4)])
            .collect();
        let all: Vec<Vec<&str>> = cells.iter().map(|[id, note]| vec![&id[..], note]).collect();
        let path = folder.path().join("rows.csv");
        let bytes = standard(&[&[vec!["id", "note"]], &all[..]].concat(), "\r\n", true);
        assert!(bytes.len() > 1 << 20, "several blocks");
        std::fs::write(&path, bytes).unwrap();
        let name = "rows.csv".to_owned();
        let file = DataFile { path, name, gzip: false, is_multiline: None };
        for readers in [1, 2, 7] {
            let shared = SharedCsv::new(&file).unwrap();
            assert_eq!(shared.names, ["id", "note"]);
            let read = || {
                let mut found = Vec::new();
                while let Some(mut block) = shared.next_block().unwrap() {
                    while block.advance() {
                        let text = |cell: std::borrow::Cow<'_, [u8]>| {
                            String::from_utf8(cell.into_owned()).unwrap()
                        };
                        found.push(block.row().cells().map(text).collect::<Vec<_>>());
                    }
                }
                found
            };
            let mut found: Vec<Vec<String>> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..readers).map(|_| scope.spawn(read)).collect();
                threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
            });
            found.sort_by_key(|row| row[0].parse::<usize>().unwrap());
            assert_eq!(found, all, "{readers}");
            assert!(shared.next_block().unwrap().is_none());
        }
        // What fails, fails for one reader, and there is nothing more for the others.
        std::fs::remove_file(&file.path).unwrap();
        let shared = SharedCsv { file, names: Vec::new(), progress: Progress::NotBegun.into() };
        assert!(shared.next_block().is_err());
        assert!(shared.next_block().unwrap().is_none());
    }
}
