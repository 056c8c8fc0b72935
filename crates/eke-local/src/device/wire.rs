//! Reports as bytes: what a device sends, and what a collector may be sent by anybody.
//!
//! A report is a byte for the version, one for the form of what follows, and then bits, the first
//! in the lowest bit of a byte. A set is either one bit for each category, or the categories it
//! names, rising, each in as many bits as the last category takes: whichever is shorter. A hashed
//! value is the two numbers of the hash, eight bytes each and lowest first, and then the value in
//! as many bits as it has. A row of bits is itself. The law decides all that, so all reports of a
//! law are equally long, and how long one is says nothing about it.
//!
//! A frame is many reports of one question: version, form with its highest bit set, 32 bytes that
//! name the question and the tier, the number of reports in four bytes, lowest first, and the
//! reports without their first two bytes.
//!
//! The reader knows the law. Bytes that are not exactly what the law allows are refused: every
//! report has one form and no other. Nothing is allocated by what bytes claim: room for one report
//! is made by the law alone. Versions and forms keep their meaning for good.

use eke_noise::local::ReportLaw;

use crate::worth::law::{Law, ReportError};

/// The version that is written.
pub const VERSION: u8 = 1;

/// The bytes before the report.
const HEAD: usize = 2;
/// The bytes before the reports of a frame.
const FRAME_HEAD: usize = HEAD + 32 + 4;
/// Marks a frame.
const MANY: u8 = 0x80;

/// Writes and reads the reports of one law.
#[derive(Clone, Copy, Debug)]
pub struct Wire {
    law: Law,
    form: Form,
}

/// How a report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// A set: a bit for each category.
    Set,
    /// A set: `size` categories of `width` bits each.
    List { size: u32, width: u32 },
    /// A hash and a value of `width` bits.
    Hash { width: u32 },
    /// A bit for each category, as many of them set as may be.
    Bits,
}

/// What is wrong with bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// Another version.
    #[error("reports of version {0} cannot be read: this collector reads version {VERSION}")]
    Version(u8),
    /// Another form.
    #[error(
        "these bytes are of form {found}, and reports of this law of form {expected}: is it the right question?"
    )]
    Form {
        /// What it is.
        found: u8,
        /// What it should be.
        expected: u8,
    },
    /// Bytes are missing, or too many.
    #[error("there should be {expected} bytes, and there are {found}")]
    Length {
        /// How many there are.
        found: u64,
        /// How many there should be.
        expected: u64,
    },
    /// A frame of something else.
    #[error("the frame is about another question or tier")]
    Question,
    /// More than a frame counts.
    #[error("a frame holds at most 4294967295 reports: send several")]
    TooMany,
    /// A list that does not rise.
    #[error("the categories of a report are listed in rising order, each once")]
    Order,
    /// Bits after the last.
    #[error("the bits after a report are zeros")]
    Rest,
    /// Not a report of the law.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// One of the reports of a frame.
    #[error("report {row} of the frame cannot be read: {error}")]
    Row {
        /// Which, the first being 0.
        row: usize,
        /// Why.
        error: Box<WireError>,
    },
}

impl Wire {
    /// For the reports of a law.
    #[must_use]
    pub fn new(law: Law) -> Self {
        let form = match law.report() {
            ReportLaw::Subset(template) => {
                let (size, categories) = (template.size, law.categories());
                let width = u32::BITS - (categories - 1).leading_zeros();
                let list = (u64::from(size) * u64::from(width)).div_ceil(8);
                let is_shorter = list < u64::from(categories).div_ceil(8);
                if is_shorter { Form::List { size, width } } else { Form::Set }
            }
            ReportLaw::Hash(template) => Form::Hash { width: template.bits },
            ReportLaw::Bits(_) => Form::Bits,
        };
        Self { law, form }
    }

    /// How many bytes every report takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        HEAD + self.body()
    }

    /// Appends a report.
    ///
    /// # Errors
    /// It is not one of this law. Nothing is appended.
    pub fn write(&self, report: &[u64], to: &mut Vec<u8>) -> Result<(), WireError> {
        self.law.check(report)?;
        to.extend([VERSION, self.form.code()]);
        self.write_body(report, to);
        Ok(())
    }

    /// Reads a report into a row of words.
    ///
    /// # Errors
    /// The bytes are not exactly one report of this law, or the row has another length. What is in
    /// the row then means nothing.
    pub fn read(&self, bytes: &[u8], report: &mut [u64]) -> Result<(), WireError> {
        self.read_head(bytes, 0)?;
        length(bytes.len(), self.bytes() as u64)?;
        self.read_body(&bytes[HEAD..], report)
    }

    /// Appends a frame of reports, rows of words one after the other.
    ///
    /// # Errors
    /// One of them is not of this law, or they are too many for one frame. Nothing is appended.
    pub fn write_frame(
        &self,
        question: &[u8; 32],
        reports: &[u64],
        to: &mut Vec<u8>,
    ) -> Result<(), WireError> {
        let words = self.law.words();
        for (row, report) in reports.chunks(words).enumerate() {
            self.law
                .check(report)
                .map_err(|error| WireError::Row { row, error: Box::new(error.into()) })?;
        }
        let count = u32::try_from(reports.len() / words).map_err(|_| WireError::TooMany)?;
        to.extend([VERSION, self.form.code() | MANY]);
        to.extend(question);
        to.extend(count.to_le_bytes());
        for report in reports.chunks_exact(words) {
            self.write_body(report, to);
        }
        Ok(())
    }

    /// Reads a frame: calls back with every report, in order. All of them are read before the first
    /// is handed over; how many there are comes back.
    ///
    /// # Errors
    /// The bytes are not exactly one frame of reports of this law about this question. Nothing is
    /// handed over.
    pub fn read_frame(
        &self,
        question: &[u8; 32],
        bytes: &[u8],
        mut report: impl FnMut(&[u64]),
    ) -> Result<u32, WireError> {
        self.read_head(bytes, MANY)?;
        let Some((head, bodies)) = bytes.split_at_checked(FRAME_HEAD) else {
            return length(bytes.len(), FRAME_HEAD as u64).map(|()| 0);
        };
        if head[HEAD..HEAD + 32] != question[..] {
            return Err(WireError::Question);
        }
        let mut count = [0; 4];
        count.copy_from_slice(&head[HEAD + 32..]);
        let count = u32::from_le_bytes(count);
        let body = self.body();
        length(bytes.len(), FRAME_HEAD as u64 + u64::from(count) * body as u64)?;
        let mut room = vec![0; self.law.words()];
        for (row, bytes) in bodies.chunks_exact(body).enumerate() {
            self.read_body(bytes, &mut room)
                .map_err(|error| WireError::Row { row, error: Box::new(error) })?;
        }
        for bytes in bodies.chunks_exact(body) {
            self.read_body(bytes, &mut room)?;
            report(&room);
        }
        Ok(count)
    }

    fn body(&self) -> usize {
        match self.form {
            Form::Set | Form::Bits => (self.law.categories() as usize).div_ceil(8),
            Form::Hash { width } => 16 + (width as usize).div_ceil(8),
            Form::List { size, width } => (size as usize * width as usize).div_ceil(8),
        }
    }

    /// That these are bytes of this version and form.
    fn read_head(&self, bytes: &[u8], many: u8) -> Result<(), WireError> {
        let &[version, form, ..] = bytes else {
            return length(bytes.len(), self.bytes() as u64);
        };
        if version != VERSION {
            return Err(WireError::Version(version));
        }
        let expected = self.form.code() | many;
        if form != expected {
            return Err(WireError::Form { found: form, expected });
        }
        Ok(())
    }

    fn write_body(&self, report: &[u64], to: &mut Vec<u8>) {
        match self.form {
            Form::Set | Form::Bits | Form::Hash { .. } => {
                let start = to.len();
                for word in report {
                    to.extend(word.to_le_bytes());
                }
                to.truncate(start + self.body());
            }
            Form::List { width, .. } => {
                let (mut bits, mut held) = (0u64, 0);
                for category in members(report) {
                    bits |= u64::from(category) << held;
                    held += width;
                    while held >= 8 {
                        to.push(bits.to_le_bytes()[0]);
                        bits >>= 8;
                        held -= 8;
                    }
                }
                if held > 0 {
                    to.push(bits.to_le_bytes()[0]);
                }
            }
        }
    }

    /// Reads a body of the right length.
    fn read_body(&self, bytes: &[u8], report: &mut [u64]) -> Result<(), WireError> {
        if report.len() != self.law.words() {
            return Err(ReportError::Room(self.law.words()).into());
        }
        match self.form {
            Form::Set | Form::Bits | Form::Hash { .. } => {
                for (word, bytes) in report.iter_mut().zip(bytes.chunks(8)) {
                    let mut all = [0; 8];
                    all[..bytes.len()].copy_from_slice(bytes);
                    *word = u64::from_le_bytes(all);
                }
            }
            Form::List { size, width } => {
                report.fill(0);
                let mut bytes = bytes.iter();
                let (mut bits, mut held) = (0u64, 0);
                let mut least = 0;
                for _ in 0..size {
                    while held < width {
                        bits |= u64::from(bytes.next().copied().unwrap_or(0)) << held;
                        held += 8;
                    }
                    let category = bits & ((1 << width) - 1);
                    bits >>= width;
                    held -= width;
                    if category >= u64::from(self.law.categories()) {
                        return Err(ReportError::Outside(self.law.categories()).into());
                    }
                    if category < least {
                        return Err(WireError::Order);
                    }
                    least = category + 1;
                    // Below the number of categories, so there is such a word.
                    if let Some(word) =
                        report.get_mut(usize::try_from(category / 64).unwrap_or(usize::MAX))
                    {
                        *word |= 1 << (category % 64);
                    }
                }
                if bits != 0 {
                    return Err(WireError::Rest);
                }
            }
        }
        Ok(self.law.check(report)?)
    }
}

impl Form {
    fn code(self) -> u8 {
        match self {
            Self::Set => 1,
            Self::List { .. } => 2,
            Self::Hash { .. } => 3,
            Self::Bits => 4,
        }
    }
}

fn length(found: usize, expected: u64) -> Result<(), WireError> {
    let found = found as u64;
    if found == expected { Ok(()) } else { Err(WireError::Length { found, expected }) }
}

/// The categories of a set, rising.
fn members(set: &[u64]) -> impl Iterator<Item = u32> {
    (0..).step_by(64).zip(set).flat_map(|(start, &word)| {
        let mut left = word;
        std::iter::from_fn(move || {
            let bit = (left != 0).then(|| left.trailing_zeros())?;
            left &= left - 1;
            Some(start + bit)
        })
    })
}
