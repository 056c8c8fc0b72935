//! Rows for counts and sums by group of what bounds let through (contribution bounding): each is of
//! a unit `u`, in a group `g`, with a number `x` between 0 and [`HIGHEST`].
//!
//! Seed and sizes decide the rows. They are made once and stay in a folder: a Parquet file, and
//! beside it what must come out of it. Which groups of a unit are kept is everybody's own choice,
//! so the sum that is left after that is known on average, and the others exactly.

use std::error::Error;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use eke_testkit::Seeded;
use indicatif::HumanCount;
use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use serde::{Deserialize, Serialize};

/// The largest number of a row.
pub const HIGHEST: u32 = 100;
/// Rows that a unit may count for in a group.
pub const CAP: u32 = 10;
const ROW_GROUP: usize = 1_000_000;
const SEED: u64 = 21;

/// Rows that are worked on, by what is special about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventSet {
    /// A thousand groups, by whole numbers.
    Usual,
    /// A hundred thousand.
    ManyGroups,
    /// Ten.
    FewGroups,
    /// Groups that are named by texts of 16 bytes.
    TextKeys,
    /// By texts of 100 bytes.
    WideKeys,
    /// Units that are named by texts.
    TextUnits,
    /// A unit counts in one group.
    OneGroup,
    /// A unit has thousands of groups, and counts in a thousand.
    ThousandGroups,
    /// Every row is of another unit, which is named by a text.
    DistinctUnits,
    /// Every row is a unit of its own.
    OneRow,
    /// A million groups of thirty rows.
    MillionGroups,
}

impl EventSet {
    /// All of them; the first two are measured unless others are named.
    pub const ALL: [Self; 11] = [
        Self::Usual,
        Self::ManyGroups,
        Self::FewGroups,
        Self::TextKeys,
        Self::WideKeys,
        Self::TextUnits,
        Self::OneGroup,
        Self::ThousandGroups,
        Self::DistinctUnits,
        Self::OneRow,
        Self::MillionGroups,
    ];

    /// Whether it is measured without being named: the others take long.
    #[must_use]
    pub fn is_usual(self) -> bool {
        matches!(self, Self::Usual | Self::ManyGroups)
    }

    /// The name of the work on it.
    pub(super) fn work_name(self) -> &'static str {
        match self {
            Self::Usual => "bounding",
            Self::ManyGroups => "bounding-many-groups",
            Self::FewGroups => "bounding-few-groups",
            Self::TextKeys => "bounding-text-keys",
            Self::WideKeys => "bounding-wide-keys",
            Self::TextUnits => "bounding-text-units",
            Self::OneGroup => "bounding-one-group",
            Self::ThousandGroups => "bounding-1000-groups",
            Self::DistinctUnits => "bounding-distinct-units",
            Self::OneRow => "bounding-one-row",
            Self::MillionGroups => "bounding-million-groups",
        }
    }
}

/// What is changed of all sets of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct EventOptions {
    /// A hundredth of rows, units and groups.
    pub quick: bool,
    /// Rows.
    pub rows: Option<u32>,
    /// Units that own them; as many as rows, or more, gives every row its own.
    pub units: Option<u32>,
    /// Groups that they are in.
    pub groups: Option<u32>,
    /// Groups that a unit may count in.
    pub kept: Option<u32>,
    /// Bytes of a group's name, which is a text then.
    pub key_bytes: Option<u32>,
    /// Whether the names of units are texts.
    pub text_units: bool,
}

impl EventOptions {
    /// Nothing is changed.
    pub const FULL: Self = Self {
        quick: false,
        rows: None,
        units: None,
        groups: None,
        kept: None,
        key_bytes: None,
        text_units: false,
    };
}

/// How many rows, of whom and in what groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct EventSizes {
    /// Rows.
    pub rows: u32,
    /// Units that own them; as many as rows, or more, gives every row its own.
    pub units: u32,
    /// Groups that they are in.
    pub groups: u32,
    /// Groups that a unit may count in.
    pub kept: u32,
    /// Bytes of a group's name, or none if it is a whole number.
    pub key_bytes: Option<u32>,
    /// Whether the names of units are texts.
    pub text_units: bool,
}

impl EventSizes {
    /// Those of a set of rows.
    #[must_use]
    pub fn new(set: EventSet, options: &EventOptions) -> Self {
        let usual = Self {
            rows: 10_000_000,
            units: 100_000,
            groups: 1_000,
            kept: 10,
            key_bytes: None,
            text_units: false,
        };
        let mut sizes = match set {
            EventSet::Usual => usual,
            EventSet::ManyGroups => Self { groups: 100_000, ..usual },
            EventSet::FewGroups => Self { groups: 10, ..usual },
            EventSet::TextKeys => Self { key_bytes: Some(16), ..usual },
            EventSet::WideKeys => Self { key_bytes: Some(100), ..usual },
            EventSet::TextUnits => Self { text_units: true, ..usual },
            EventSet::OneGroup => Self { kept: 1, ..usual },
            EventSet::ThousandGroups => {
                Self { units: 2_000, groups: 100_000, kept: 1_000, ..usual }
            }
            EventSet::DistinctUnits => Self { units: usual.rows, text_units: true, ..usual },
            EventSet::OneRow => Self { units: usual.rows, kept: 1, ..usual },
            EventSet::MillionGroups => {
                Self { rows: 30_000_000, units: 3_000_000, groups: 1_000_000, ..usual }
            }
        };
        if options.quick {
            (sizes.rows, sizes.units) = (sizes.rows / 100, sizes.units / 100);
            sizes.groups = (sizes.groups / 100).max(10);
        }
        Self {
            rows: options.rows.unwrap_or(sizes.rows),
            units: options.units.unwrap_or(sizes.units),
            groups: options.groups.unwrap_or(sizes.groups),
            kept: options.kept.unwrap_or(sizes.kept),
            key_bytes: options.key_bytes.or(sizes.key_bytes),
            text_units: options.text_units || sizes.text_units,
        }
    }

    /// In a line.
    #[must_use]
    pub fn about(&self) -> String {
        let many = |number: u32| HumanCount(number.into());
        let keys =
            self.key_bytes.map_or(String::new(), |bytes| format!(" (texts of {bytes} bytes)"));
        let texts = if self.text_units { " (texts)" } else { "" };
        format!(
            "{} rows of {} units{texts}, COUNT and SUM by {} groups{keys}, each unit in at most {} of them with {CAP} rows",
            many(self.rows),
            many(self.units.min(self.rows)),
            many(self.groups),
            many(self.kept)
        )
    }

    /// Whether every row is a unit of its own.
    pub(super) fn is_row_by_row(&self) -> bool {
        self.units >= self.rows
    }

    /// The name of a group, as SQL and TOML write it.
    pub(super) fn quoted_key(&self, group: u32) -> String {
        match self.key_bytes {
            None => group.to_string(),
            Some(bytes) => format!("\"{}\"", text_key(group, bytes)),
        }
    }

    fn file_name(&self) -> String {
        let Self { rows, units, groups, key_bytes, text_units, kept: _ } = self;
        let keys = key_bytes.map_or(String::new(), |bytes| format!("-{bytes}"));
        let texts = if *text_units { "-text" } else { "" };
        format!("events-{rows}-{units}{texts}-{groups}{keys}.parquet")
    }
}

/// What must come out of the rows: sums of `x` over all groups.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventSums {
    /// Of all rows.
    pub all: f64,
    /// Where a unit counts for [`CAP`] rows in a group: the sums of more are scaled down.
    pub capped: f64,
    /// The same where a unit counts in a bounded number of groups too, chosen by chance: on
    /// average.
    pub bounded: f64,
}

/// Rows in a file, and what must come out of them.
#[derive(Clone, Debug)]
pub struct Events {
    /// How many, of whom and in what groups.
    pub sizes: EventSizes,
    /// The Parquet file.
    pub file: PathBuf,
    /// What must come out.
    pub sums: EventSums,
}

#[derive(Clone, Copy)]
struct EventRow {
    unit: u32,
    group: u32,
    x: f64,
}

impl Events {
    /// The rows of these sizes in a folder, made if they are not there.
    ///
    /// # Errors
    /// The folder cannot be read or written.
    pub fn find(sizes: EventSizes, folder: &Path) -> Result<Self, Box<dyn Error>> {
        let file = fs::canonicalize(folder)
            .or_else(|_| fs::create_dir_all(folder).and_then(|()| fs::canonicalize(folder)))?
            .join(sizes.file_name());
        // What must come out also depends on how many groups are kept, and is written last.
        let beside = file.with_extension(format!("{}.json", sizes.kept));
        if let Ok(text) = fs::read(&beside)
            && file.is_file()
        {
            return Ok(Self { sizes, file, sums: serde_json::from_slice(&text)? });
        }
        let mut rows = rows(&sizes);
        if !file.is_file() {
            let part = file.with_extension(format!("{}.part", std::process::id()));
            write(&rows, &sizes, &part)?;
            fs::rename(part, &file)?;
        }
        let sums = sums(&mut rows, sizes.kept);
        fs::write(beside, serde_json::to_vec(&sums)?)?;
        Ok(Self { sizes, file, sums })
    }
}

impl Events {
    /// How far a bounded sum may be from what is expected, as a part of it, by which groups are
    /// kept: six deviations. The sum of a unit in a group deviates by at most 0.7 of its mean.
    pub(super) fn chance(&self) -> f64 {
        let EventSizes { rows, units, groups, kept, .. } = self.sizes;
        let kept = f64::from(units.min(rows)) * f64::from(kept.min(groups));
        1e-3 + 6.0 * 0.7 / kept.sqrt()
    }

    /// The same by noise: that of a price, half of it for sums, or that of an error which is good
    /// enough as it is, whichever is larger.
    pub(super) fn noise(&self, rho: f64) -> f64 {
        let EventSizes { groups, kept, .. } = self.sizes;
        let each = f64::from(CAP) * f64::from(HIGHEST);
        let deviation = each * (f64::from(kept) / rho).sqrt().max(1.0);
        6.0 * deviation * f64::from(groups).sqrt() / self.sums.bounded
    }
}

fn rows(sizes: &EventSizes) -> Vec<EventRow> {
    let mut seeded = Seeded::new(SEED);
    let is_single = sizes.is_row_by_row();
    let row = |number: u32| EventRow {
        // Times an odd number: all differ, and their order is none.
        unit: if is_single { number.wrapping_mul(0x9e37_79b1) } else { seeded.below(sizes.units) },
        group: seeded.below(sizes.groups),
        x: seeded.unit() * f64::from(HIGHEST),
    };
    (0..sizes.rows).map(row).collect()
}

fn text_key(group: u32, bytes: u32) -> String {
    format!("{group:-<width$}", width = bytes as usize)
}

/// What must come out. Sorts the rows.
fn sums(rows: &mut [EventRow], kept: u32) -> EventSums {
    rows.sort_unstable_by_key(|row| (row.unit, row.group));
    let mut sums = EventSums { all: 0.0, capped: 0.0, bounded: 0.0 };
    for unit in rows.chunk_by(|one, other| one.unit == other.unit) {
        let (mut groups, mut capped) = (0, 0.0);
        for group in unit.chunk_by(|one, other| one.group == other.group) {
            let sum: f64 = group.iter().map(|row| row.x).sum();
            let scale = (f64::from(CAP) / group.len() as f64).min(1.0);
            groups += 1;
            sums.all += sum;
            capped += sum * scale;
        }
        sums.capped += capped;
        sums.bounded += capped * (f64::from(kept) / f64::from(groups)).min(1.0);
    }
    sums
}

fn write(rows: &[EventRow], sizes: &EventSizes, file: &Path) -> Result<(), Box<dyn Error>> {
    let column = |name: &str, is_text: bool| {
        if is_text { format!("BYTE_ARRAY {name} (STRING)") } else { format!("INT64 {name}") }
    };
    let schema = parse_message_type(&format!(
        "message events {{ REQUIRED {}; REQUIRED {}; REQUIRED DOUBLE x; }}",
        column("u", sizes.text_units),
        column("g", sizes.key_bytes.is_some())
    ))?;
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let out = BufWriter::new(File::create(file)?);
    let mut writer = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))?;
    for rows in rows.chunks(ROW_GROUP) {
        let mut group = writer.next_row_group()?;
        if sizes.text_units {
            let text = |row: &EventRow| ByteArray::from(format!("unit {:08x}", row.unit).as_str());
            write_column::<ByteArrayType>(&mut group, rows, text)?;
        } else {
            write_column::<Int64Type>(&mut group, rows, |row| row.unit.into())?;
        }
        if let Some(bytes) = sizes.key_bytes {
            let text = |row: &EventRow| ByteArray::from(text_key(row.group, bytes).as_str());
            write_column::<ByteArrayType>(&mut group, rows, text)?;
        } else {
            write_column::<Int64Type>(&mut group, rows, |row| row.group.into())?;
        }
        write_column::<DoubleType>(&mut group, rows, |row| row.x)?;
        group.close()?;
    }
    writer.close()?;
    Ok(())
}

fn write_column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, BufWriter<File>>,
    rows: &[EventRow],
    value: impl Fn(&EventRow) -> T::T,
) -> Result<(), Box<dyn Error>> {
    let mut column = group.next_column()?.ok_or("a column too many")?;
    let values: Vec<T::T> = rows.iter().map(value).collect();
    column.typed::<T>().write_batch(&values, None, None)?;
    Ok(column.close()?)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
mod tests {
    use super::*;

    fn close(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-9 * other.abs()
    }

    #[test]
    fn sums_are_of_all_rows_of_capped_ones_and_of_the_groups_that_are_kept() {
        let row = |unit, group, x| EventRow { unit, group, x };
        // One unit with 20 rows in a group and one row in another, and a unit with a single row.
        let mut rows = vec![row(1, 1, 1.0); 20];
        rows.extend([row(1, 2, 5.0), row(2, 1, 7.0)]);
        let found = sums(&mut rows, 1);
        assert!(close(found.all, 20.0 + 5.0 + 7.0), "{found:?}");
        assert!(close(found.capped, 10.0 + 5.0 + 7.0), "{found:?}");
        assert!(close(found.bounded, 15.0 / 2.0 + 7.0), "{found:?}");
        assert!(close(sums(&mut rows, 2).bounded, found.capped));
    }

    #[test]
    fn events_are_made_once_and_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let options = EventOptions { quick: true, rows: Some(2_000), ..EventOptions::FULL };
        for set in EventSet::ALL {
            let sizes = EventSizes::new(set, &options);
            let made = Events::find(sizes, folder.path()).unwrap();
            let written = fs::metadata(&made.file).unwrap().modified().unwrap();
            let found = Events::find(sizes, folder.path()).unwrap();
            assert_eq!((found.sums, &found.file), (made.sums, &made.file));
            assert_eq!(fs::metadata(&made.file).unwrap().modified().unwrap(), written);
            // About 50 a row.
            assert!((made.sums.all / 100_000.0 - 1.0).abs() < 0.1, "{:?}", made.sums);
            // But for what is rounded when they are added in another order.
            let at_most = |less: f64, more: f64| less <= more * (1.0 + 1e-9);
            let EventSums { all, capped, bounded, .. } = made.sums;
            assert!(at_most(bounded, capped) && at_most(capped, all), "{:?}", made.sums);
        }
    }

    #[test]
    fn every_row_has_its_own_unit_where_units_are_as_many() {
        let options = EventOptions { quick: true, ..EventOptions::FULL };
        let sizes = EventSizes::new(EventSet::OneRow, &options);
        let mut units: Vec<u32> = rows(&sizes).iter().map(|row| row.unit).collect();
        units.sort_unstable();
        units.dedup();
        assert_eq!(units.len(), sizes.rows as usize);
    }
}
