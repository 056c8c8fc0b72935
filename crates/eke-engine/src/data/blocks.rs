//! The rows of a CSV file in blocks, which workers take apart beside each other.
//!
//! The bytes of a file are gone through once, in their order, and cut where rows end ([`Blocks`]).
//! A [`Block`] has whole rows, so what is in it does not depend on where others were cut: its first
//! byte begins a row, and which bytes are a row follows from them alone. Where a row ends is
//! decided by [`Made::row_end`] and by nothing else.
//!
//! Of a row that is longer than [`LONGEST`] the rest is passed over.

use std::borrow::Cow;
use std::io::{self, Read};
use std::mem;
use std::ops::Range;

use memchr::{memchr, memchr2, memchr3, memrchr};

/// How many bytes of a row are read. Its rest is passed over, so that no row takes all memory.
pub(crate) const LONGEST: usize = 1 << 20;

/// How many bytes are read at a time.
const SIZE: usize = 1 << 18;

/// What some files begin with, to say that they are UTF-8.
pub(crate) const MARK: &[u8] = "\u{feff}".as_bytes();

/// The blocks of a file, one after the other.
pub(crate) struct Blocks {
    bytes: Box<dyn Read + Send>,
    /// What went wrong behind the bytes that were read.
    failed: Option<io::Error>,
    /// Whether cells in quotes may go over several lines.
    is_multiline: bool,
    /// How many bytes are read at a time.
    size: usize,
    /// What ends a line; none before the first one.
    end: Option<u8>,
    /// What was read and is in no block yet. A row begins with it.
    held: Vec<u8>,
    /// How many bytes of it have been looked at: no row ends in them.
    seen: usize,
    /// What they are made of.
    made: Made,
}

impl Blocks {
    /// The blocks of these bytes.
    pub(crate) fn new(bytes: Box<dyn Read + Send>, is_multiline: bool) -> io::Result<Self> {
        Self::sized(bytes, is_multiline, SIZE)
    }

    /// As [`Blocks::new`], with the given number of bytes read at a time.
    pub(crate) fn sized(
        mut bytes: Box<dyn Read + Send>,
        is_multiline: bool,
        size: usize,
    ) -> io::Result<Self> {
        // The mark is no part of the first cell, which may begin with a quote.
        let mut held = Vec::new();
        bytes.by_ref().take(MARK.len() as u64).read_to_end(&mut held)?;
        if held == MARK {
            held.clear();
        }
        let made = Made::default();
        Ok(Self { bytes, failed: None, is_multiline, size, end: None, held, seen: 0, made })
    }

    /// The next block; none at the end. The first one is the first row, which says what ends lines.
    pub(crate) fn next_block(&mut self) -> io::Result<Option<Block>> {
        let Some(end) = self.end else { return self.next_row() };
        loop {
            if let Some(last) = self.last_end(end) {
                let rest = self.held.split_off(last + 1);
                let bytes = mem::replace(&mut self.held, rest);
                self.seen = self.held.len();
                return Ok(Some(self.block(bytes)));
            }
            self.seen = self.held.len();
            if self.held.len() > LONGEST {
                return self.next_row();
            }
            if !self.read_more()? {
                self.seen = 0;
                let bytes = mem::take(&mut self.held);
                return Ok((!bytes.is_empty()).then(|| self.block(bytes)));
            }
        }
    }

    /// Where the last row ends of those that end in what has not been looked at.
    fn last_end(&mut self, end: u8) -> Option<usize> {
        let mut from = self.seen;
        if !self.is_multiline {
            return memrchr(end, &self.held[from..]).map(|last| from + last);
        }
        let mut last = None;
        while let Some(at) = self.made.row_end(&self.held[from..], Ends::With(end)) {
            self.made = Made::default();
            last = Some(from + at);
            from += at + 1;
        }
        last
    }

    /// A row by itself: the first one, or one that may be too long for a block.
    fn next_row(&mut self) -> io::Result<Option<Block>> {
        let ends = self.end.map_or(Ends::Any, Ends::With);
        // The first row is read in one way however the others were written.
        let is_multiline = self.is_multiline || self.end.is_none();
        let (mut row, mut made, mut is_any) = (Vec::new(), Made::default(), false);
        (self.seen, self.made) = (0, Made::default());
        loop {
            if self.held.is_empty() && !self.read_more()? {
                break;
            }
            is_any = true;
            let end =
                if is_multiline { made.row_end(&self.held, ends) } else { ends.find(&self.held) };
            let part = &self.held[..end.unwrap_or(self.held.len())];
            row.extend_from_slice(&part[..part.len().min(LONGEST - row.len())]);
            let Some(at) = end else {
                self.held.clear();
                continue;
            };
            let is_return = self.held[at] == b'\r';
            self.held.drain(..=at);
            if self.end.is_none() {
                self.end = Some(if is_return && !self.skip_feed()? { b'\r' } else { b'\n' });
            }
            break;
        }
        Ok(is_any.then(|| Block { whole: Some(made), ..self.block(row) }))
    }

    /// Passes over a line feed, if one comes next.
    fn skip_feed(&mut self) -> io::Result<bool> {
        if self.held.is_empty() {
            self.read_more()?;
        }
        let is_feed = self.held.first() == Some(&b'\n');
        if is_feed {
            self.held.remove(0);
        }
        Ok(is_feed)
    }

    /// Reads more bytes, as many as are read at a time; false at the end of the file. An error
    /// comes after all bytes before it.
    fn read_more(&mut self) -> io::Result<bool> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let before = self.held.len();
        let mut filled = before;
        self.held.resize(before + self.size, 0);
        while filled < self.held.len() {
            match self.bytes.read(&mut self.held[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if filled > before => {
                    self.failed = Some(error);
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        self.held.truncate(filled);
        Ok(filled > before)
    }

    fn block(&self, bytes: Vec<u8>) -> Block {
        // Without quotes a row is a line.
        let is_multiline = self.is_multiline && memchr(b'"', &bytes).is_some();
        let (row, made) = (0..0, Made::default());
        Block { bytes, is_multiline, end: self.end, whole: None, next: 0, row, made }
    }
}

/// Whole rows of a file, in their order. Rows that are empty are passed over.
pub(crate) struct Block {
    bytes: Vec<u8>,
    /// Whether cells in quotes may go over several lines.
    is_multiline: bool,
    /// What ends a line; none if the file has no end of a line.
    end: Option<u8>,
    /// If all of it is one row, without its end: what that was made of.
    whole: Option<Made>,
    /// Where the next row begins.
    next: usize,
    row: Range<usize>,
    made: Made,
}

impl Block {
    /// Goes to the next row; false if there is none.
    pub(crate) fn advance(&mut self) -> bool {
        while self.next < self.bytes.len() {
            let rest = &self.bytes[self.next..];
            self.made = Made::default();
            let end = match (self.whole, self.end) {
                (Some(made), _) => {
                    self.made = made;
                    None
                }
                (None, Some(end)) if self.is_multiline => self.made.row_end(rest, Ends::With(end)),
                (None, Some(end)) => memchr(end, rest),
                (None, None) => None,
            };
            let length = end.unwrap_or(rest.len());
            let mut row = &rest[..length.min(LONGEST)];
            if self.end == Some(b'\n') {
                row = row.strip_suffix(b"\r").unwrap_or(row);
            }
            self.row = self.next..self.next + row.len();
            self.next += length + 1;
            if !self.row.is_empty() {
                return true;
            }
        }
        false
    }

    /// The row that it has gone to.
    pub(crate) fn row(&self) -> Row<'_> {
        Row(&self.bytes[self.row.clone()])
    }

    /// What that is made of, also where it is passed over.
    pub(crate) fn made(&self) -> Made {
        self.made
    }
}

/// A row without its end. It may have too many cells, or too few.
#[derive(Clone, Copy)]
pub(crate) struct Row<'a>(&'a [u8]);

impl<'a> Row<'a> {
    /// Its cells. One that begins with a quote ends with the quote that follows no other, and what
    /// stands between that and the comma belongs to it; one that is never closed ends with the row.
    pub(crate) fn cells(self) -> impl Iterator<Item = Cow<'a, [u8]>> {
        let mut rest = Some(self.0);
        std::iter::from_fn(move || {
            let here = rest?;
            if let Some(quoted) = here.strip_prefix(b"\"") {
                let (cell, after) = take_quoted(quoted);
                rest = after;
                return Some(cell);
            }
            let (cell, after) = cut(here);
            rest = after;
            Some(Cow::Borrowed(cell))
        })
    }
}

/// A cell that a quote opened, and what follows its comma.
fn take_quoted(quoted: &[u8]) -> (Cow<'_, [u8]>, Option<&[u8]>) {
    // Most cells end with the next quote, and are not copied.
    let Some(quote) = memchr(b'"', quoted) else { return (quoted.into(), None) };
    match quoted.get(quote + 1) {
        None => return (quoted[..quote].into(), None),
        Some(b',') => return (quoted[..quote].into(), Some(&quoted[quote + 2..])),
        Some(_) => {}
    }
    let (mut cell, mut rest) = (Vec::new(), quoted);
    while let Some(quote) = memchr(b'"', rest) {
        cell.extend_from_slice(&rest[..quote]);
        rest = &rest[quote + 1..];
        let Some(after) = rest.strip_prefix(b"\"") else {
            let (tail, after) = cut(rest);
            cell.extend_from_slice(tail);
            return (cell.into(), after);
        };
        cell.push(b'"');
        rest = after;
    }
    cell.extend_from_slice(rest);
    (cell.into(), None)
}

/// What stands before the first comma, and after it.
fn cut(rest: &[u8]) -> (&[u8], Option<&[u8]>) {
    match memchr(b',', rest) {
        Some(comma) => (&rest[..comma], Some(&rest[comma + 1..])),
        None => (rest, None),
    }
}

/// What ends a row, outside quotes.
#[derive(Clone, Copy)]
enum Ends {
    /// A line feed or a carriage return: the first row.
    Any,
    With(u8),
}

impl Ends {
    fn find(self, bytes: &[u8]) -> Option<usize> {
        match self {
            Self::Any => memchr2(b'\n', b'\r', bytes),
            Self::With(end) => memchr(end, bytes),
        }
    }

    fn find_or_quote(self, bytes: &[u8]) -> Option<usize> {
        match self {
            Self::Any => memchr3(b'\n', b'\r', b'"', bytes),
            Self::With(end) => memchr2(end, b'"', bytes),
        }
    }

    fn has(self, byte: u8) -> bool {
        match self {
            Self::Any => matches!(byte, b'\n' | b'\r'),
            Self::With(end) => byte == end,
        }
    }
}

/// What the bytes of a row have been so far, also where they are passed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Made {
    state: State,
    /// Whether there is a quote where CSV programs write none.
    is_odd: bool,
    /// Whether there is the end of a line in quotes.
    is_over_lines: bool,
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
    /// Whether no CSV program writes such a row.
    pub(crate) fn is_odd(self) -> bool {
        self.is_odd || self.state == State::Quoted
    }

    /// Whether the row goes over several lines.
    pub(crate) fn is_over_lines(self) -> bool {
        self.is_over_lines
    }

    /// Goes through more bytes of a row, from quote to quote: where the row ends, if it does.
    fn row_end(&mut self, bytes: &[u8], ends: Ends) -> Option<usize> {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            let rest = &bytes[at..];
            match self.state {
                State::Start | State::Plain => {
                    let found = ends.find_or_quote(rest);
                    let part = &rest[..found.unwrap_or(rest.len())];
                    if let Some(last) = part.last() {
                        self.state = if *last == b',' { State::Start } else { State::Plain };
                    }
                    at += part.len();
                    if bytes.get(at).is_some_and(|byte| ends.has(*byte)) {
                        return Some(at);
                    }
                    if found.is_some() {
                        at += 1;
                        self.is_odd |= self.state == State::Plain;
                        if self.state == State::Start {
                            self.state = State::Quoted;
                        }
                    }
                }
                State::Quoted => {
                    let quote = memchr(b'"', rest);
                    let part = &rest[..quote.unwrap_or(rest.len())];
                    self.is_over_lines |= ends.find(part).is_some();
                    at += part.len();
                    if quote.is_some() {
                        at += 1;
                        self.state = State::Closing;
                    }
                }
                State::Closing | State::Returned if ends.has(byte) => return Some(at),
                State::Closing | State::Returned => {
                    at += 1;
                    self.state = match (self.state, byte) {
                        (State::Closing, b'"') => State::Quoted,
                        (State::Closing, b',') => State::Start,
                        (State::Closing, b'\r') => State::Returned,
                        (_, byte) => {
                            self.is_odd = true;
                            if byte == b',' { State::Start } else { State::Plain }
                        }
                    };
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// What a file is made of: its rows without their ends, whether any goes over several lines,
    /// and the first row that no CSV program writes.
    #[derive(Debug, Default, PartialEq, Eq)]
    struct Found {
        rows: Vec<Vec<u8>>,
        is_over_lines: bool,
        odd: Option<usize>,
    }

    impl Found {
        fn add(&mut self, mut row: Vec<u8>, end: Option<u8>, is_odd: bool) {
            row.truncate(LONGEST);
            if end == Some(b'\n') && row.last() == Some(&b'\r') {
                row.pop();
            }
            if !row.is_empty() {
                self.rows.push(row);
                if is_odd {
                    self.odd.get_or_insert(self.rows.len());
                }
            }
        }
    }

    /// A file from its first byte to its last, one by one.
    fn plainly(bytes: &[u8], is_multiline: bool) -> Found {
        let mut bytes = bytes.strip_prefix(MARK).unwrap_or(bytes).iter().copied().peekable();
        let (mut found, mut end) = (Found::default(), None);
        while bytes.peek().is_some() {
            let has_quotes = is_multiline || end.is_none();
            let (mut row, mut state, mut is_odd) = (Vec::new(), State::Start, false);
            while let Some(byte) = bytes.next() {
                let is_end = end.map_or(matches!(byte, b'\n' | b'\r'), |end| byte == end);
                if is_end && state != State::Quoted {
                    let crlf = byte == b'\r' && end.is_none() && bytes.peek() == Some(&b'\n');
                    if crlf {
                        bytes.next();
                    }
                    end = end.or(Some(if crlf { b'\n' } else { byte }));
                    break;
                }
                found.is_over_lines |= is_end;
                row.push(byte);
                if has_quotes {
                    state = match (state, byte) {
                        (State::Start | State::Closing, b'"') => State::Quoted,
                        (State::Quoted, b'"') => State::Closing,
                        (State::Quoted, _) => State::Quoted,
                        (State::Start | State::Plain | State::Closing, b',') => State::Start,
                        (State::Closing, b'\r') => State::Returned,
                        (state, byte) => {
                            is_odd |= matches!(state, State::Closing | State::Returned);
                            is_odd |= byte == b'"';
                            if byte == b',' { State::Start } else { State::Plain }
                        }
                    };
                }
            }
            found.add(row, end, is_odd || state == State::Quoted);
        }
        found
    }

    /// A file in blocks of about this size.
    fn in_blocks(bytes: &[u8], is_multiline: bool, size: usize) -> Found {
        let bytes = Box::new(io::Cursor::new(bytes.to_vec()));
        let mut blocks = Blocks::sized(bytes, is_multiline, size).unwrap();
        let mut found = Found::default();
        while let Some(mut block) = blocks.next_block().unwrap() {
            while block.advance() {
                let made = block.made();
                found.is_over_lines |= made.is_over_lines();
                found.add(block.row().0.to_vec(), None, made.is_odd());
            }
        }
        assert!(blocks.next_block().unwrap().is_none(), "an end is one for good");
        found
    }

    /// Whether the blocks of a file have its rows, whatever their size.
    fn agree(bytes: &[u8], sizes: &[usize]) {
        for is_multiline in [false, true] {
            let mut expected = plainly(bytes, is_multiline);
            for size in sizes {
                let found = in_blocks(bytes, is_multiline, *size);
                if !is_multiline {
                    // Nobody asks how such a file was written.
                    (expected.is_over_lines, expected.odd) = (found.is_over_lines, found.odd);
                }
                let bytes = String::from_utf8_lossy(bytes);
                assert_eq!(found, expected, "{bytes:?} {is_multiline} {size}");
            }
        }
    }

    const BYTES: [u8; 5] = *b"a,\"\n\r";

    /// All files of up to seven bytes that matter, in all sizes of blocks.
    #[test]
    fn blocks_of_any_size_have_the_rows_of_every_short_file() {
        let mut differ = 0;
        for length in 0..=7 {
            for number in 0..5usize.pow(length) {
                let file: Vec<u8> =
                    (0..length).map(|place| BYTES[number / 5usize.pow(place) % 5]).collect();
                agree(&file, &[1, 2, 3, 5, 9]);
                // The control: cut at ends of lines whatever is in quotes, rows are others.
                let lines = in_blocks(&file, false, 3).rows;
                differ += usize::from(lines != plainly(&file, true).rows);
            }
        }
        assert!(differ > 1_000, "{differ}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn blocks_of_any_size_have_the_rows_of_the_file(
            parts in vec(
                prop_oneof![
                    4 => proptest::sample::select(&BYTES[..]).prop_map(|byte| vec![byte]),
                    1 => vec(any::<u8>(), 0..40),
                    1 => Just(MARK.to_vec()),
                    1 => Just(b"\r\n".to_vec()),
                ],
                0..120,
            ),
            size in 1usize..70,
        ) {
            agree(&parts.concat(), &[size, 1 << 12]);
        }
    }

    /// Rows around the length at which the rest is passed over, in blocks around theirs.
    #[test]
    fn blocks_of_any_size_have_rows_that_are_too_long() {
        let mut file = Vec::new();
        for length in [LONGEST - 5, LONGEST, LONGEST + 1, LONGEST + 9_000] {
            for (start, fill, end) in
                [("b,", "x", "\n"), ("b,\"", "\n", "\"\r\n"), ("b,\"", "\"\"\r\n,", "\",\"\"\n")]
            {
                file.extend_from_slice(b"c,1\n");
                file.extend_from_slice(start.as_bytes());
                file.extend_from_slice(&fill.repeat(length / fill.len()).into_bytes());
                file.extend_from_slice(end.as_bytes());
            }
        }
        agree(&file, &[4_093, SIZE, LONGEST, 1 << 22]);
        let found = in_blocks(&file, true, SIZE);
        assert_eq!((found.rows.len(), found.is_over_lines, found.odd), (24, true, None));
        // A header that is too long, and a file that ends in quotes.
        agree(&[&vec![b'h'; LONGEST + 7][..], b"\r\nb,1\r\n\"\n"].concat(), &[999, SIZE]);
        agree(&[b"\"", &vec![b'\r'; LONGEST + 7][..], b"\"\nb,1\n\"\n"].concat(), &[999, SIZE]);
    }

    /// Gives its bytes, and then fails.
    struct Broken(io::Cursor<&'static [u8]>);

    impl Read for Broken {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.0.read(buffer)? {
                0 => Err(io::Error::other("broken")),
                count => Ok(count),
            }
        }
    }

    /// A damaged file has the rows, and the header, that stand before the damage; and no row is cut
    /// short by it.
    #[test]
    fn what_fails_comes_after_the_rows_before_it() {
        for size in [1, 3, 8, 1 << 12] {
            let broken = Box::new(Broken(io::Cursor::new(b"a,b\r\nada,1\r\nbob,2\r\neve,")));
            let mut blocks = Blocks::sized(broken, false, size).unwrap();
            let mut rows = Vec::new();
            let error = loop {
                match blocks.next_block() {
                    Ok(block) => {
                        let mut block = block.expect("no end before the error");
                        while block.advance() {
                            rows.push(String::from_utf8(block.row().0.to_vec()).unwrap());
                        }
                    }
                    Err(error) => break error,
                }
            };
            assert_eq!(error.to_string(), "broken");
            assert_eq!(rows, ["a,b", "ada,1", "bob,2"], "{size}");
        }
    }
}
