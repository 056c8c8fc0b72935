//! Neighbouring tables: the same people with and without alice, who has 600 rows of the worst that
//! a file can hold. Both lie in folders of their own, with ledgers that share a hash key, so that
//! what is kept of everybody else is the same.

use std::borrow::Cow;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::Compression;
use flate2::write::GzEncoder;
use parquet::basic::{LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use crate::run;
use eke_testkit::Dice;

/// Stands in every text of alice's: no output may ever hold it.
pub(crate) const CANARY: &str = "c4n4ry";

/// How many rows alice has.
const EXTREME: usize = 600;

/// How the rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Cells as they are, with commas between them and this after a row.
    Csv(&'static str),
    /// As CSV programs write them: in quotes where they must be, and rows of one length.
    Quoted(&'static str),
    Gzip,
    Parquet {
        dictionary: bool,
    },
}

impl Form {
    fn is_quoted(self) -> bool {
        matches!(self, Self::Quoted(_))
    }
}

/// All forms that are tried, each with the groups and rows that one unit may count for.
pub(crate) const FORMS: [(Form, u32, u32); 9] = [
    (Form::Csv("\n"), 2, 3),
    (Form::Quoted("\n"), 1, 4),
    (Form::Parquet { dictionary: true }, 1, 20),
    (Form::Csv("\r\n"), 3, 1),
    (Form::Parquet { dictionary: false }, 3, 600),
    (Form::Gzip, 1, 1),
    (Form::Csv("\r"), 2, 50),
    (Form::Parquet { dictionary: true }, 5, 2),
    (Form::Quoted("\r\n"), 3, 2),
];

const COLUMNS: [&str; 9] =
    ["rider", "district", "word", "note", "fare", "stops", "paid", "day", "at"];

/// One row: the bytes of its cells; none is NULL.
type Cells = Vec<Option<Vec<u8>>>;

/// Two folders, one with alice and one without her.
pub(crate) struct Neighbours {
    pub(crate) with: PathBuf,
    pub(crate) without: PathBuf,
    pub(crate) max_groups: u32,
}

impl Neighbours {
    /// Both folders, below the given one.
    pub(crate) fn new(base: &Path, number: usize) -> Self {
        let (form, max_groups, max_rows) = FORMS[number % FORMS.len()];
        let mut dice = Dice(number as u64);
        let others = ordinary(&mut dice, form);
        let mut all = others.clone();
        for row in extreme(&mut dice, form) {
            all.insert(dice.roll(all.len()), row);
        }
        let file = match form {
            Form::Csv(_) | Form::Quoted(_) => "trips.csv",
            Form::Gzip => "trips.csv.gz",
            Form::Parquet { .. } => "trips.parquet",
        };
        let folders = ["with", "without"].map(|name| base.join(format!("{name}-{number}")));
        let [with, without] = folders;
        fs::create_dir_all(&with).unwrap();
        fs::create_dir_all(&without).unwrap();
        // A ledger that has seen nobody, and its hash key, for both.
        fs::write(with.join("eke.toml"), policy(file, form, max_groups, max_rows)).unwrap();
        fs::write(with.join(file), written(&others[..1], form)).unwrap();
        let begun = run(&with, &["ask", "SELECT COUNT(*) FROM trips", "--price", "rho=1e-6"]);
        assert_eq!(begun.code, Some(0), "{begun:?}");
        for entry in fs::read_dir(&with).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                fs::copy(&path, without.join(path.file_name().unwrap())).unwrap();
            }
        }
        for (folder, rows) in [(&with, &all), (&without, &others)] {
            fs::write(folder.join(file), written(rows, form)).unwrap();
            let declared = run(folder, &["snapshot", "trips"]);
            assert_eq!(declared.code, Some(0), "{declared:?}");
        }
        Self { with, without, max_groups }
    }
}

fn policy(file: &str, form: Form, max_groups: u32, max_rows: u32) -> String {
    let of = |name: &str| {
        if matches!(form, Form::Parquet { .. }) {
            String::new()
        } else {
            format!("type = \"{name}\", ")
        }
    };
    let (float, int, date, timestamp) = (of("float"), of("int"), of("date"), of("timestamp"));
    let paid = if float.is_empty() { "" } else { "paid = { type = \"bool\" }" };
    let (day, at) = if float.is_empty() {
        (String::new(), String::new())
    } else {
        let one = |name: &str, of: &str| format!("{name} = {{ {} }}", of.trim_end_matches(", "));
        (one("day", &date), one("at", &timestamp))
    };
    format!(
        r#"
[unit.rider]
adjacency = "add-remove"
budget = {{ rho = 9e7, delta = 1e-6 }}

[dataset.trips]
source = "{file}"
unit = "rider"
unit_column = "rider"
max_groups = {max_groups}
max_rows = {max_rows}
answer_time = 0.1

[dataset.trips.columns]
district = {{ values = ["Centre", "North", "Süd", ""] }}
fare = {{ {float}min = 0, max = 50 }}
stops = {{ {int}min = -5, max = 10 }}
{paid}
{day}
{at}

[analyst.ana]
"#
    )
}

fn cell(text: impl AsRef<[u8]>) -> Option<Vec<u8>> {
    Some(text.as_ref().to_vec())
}

/// Forty people with a few plain rows each.
fn ordinary(dice: &mut Dice, form: Form) -> Vec<Cells> {
    let mut rows = Vec::new();
    let late = if form.is_quoted() { "late,\nvery \"late\"" } else { "late" };
    for person in 0..40 {
        for _ in 0..1 + dice.roll(4) {
            rows.push(vec![
                cell(format!("p{person}")),
                cell(dice.pick(&["Centre", "North", "Süd"])),
                cell(dice.pick(&["bus", "tram", "bike"])),
                cell(dice.pick(&[late, "on time", "a_b%c", "ÄRGER"])),
                cell(format!("{}.25", dice.roll(60))),
                cell(format!("{}", dice.roll(12))),
                cell(dice.pick(&["true", "false"])),
                cell(format!("2026-0{}-1{}", 1 + dice.roll(9), dice.roll(9))),
                cell(format!("2026-0{}-11 1{}:00:00", 1 + dice.roll(9), dice.roll(9))),
            ]);
        }
    }
    rows
}

/// Alice's rows.
fn extreme(dice: &mut Dice, form: Form) -> Vec<Cells> {
    let long = format!("{CANARY}{}", "aä".repeat(1_500));
    let mut cells: [Vec<&[u8]>; 8] = [
        vec![b"Centre", b"North", b"", b"S\xfcd", CANARY.as_bytes(), b"Centre\0"],
        vec![b"bus", CANARY.as_bytes(), long.as_bytes(), b"\x1b[31m", b"\xff\xfe\xc3\x28"],
        vec![
            long.as_bytes(),
            b"\"",
            b"\"c4n4ry,,,,",
            b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
            b"\xed\xa0\x80",
            b"\x7f\x00\x08c4n4ry",
        ],
        vec![b"inf", b"-inf", b"NaN", b"1e308", b"-1e308", b"5e-324", b"-0", b"1e999", b"c4n4ry"],
        vec![
            b"9223372036854775807",
            b"-9223372036854775808",
            b"9223372036854775808",
            b"99999999999999999999999999999",
            b"1e5",
            b"-1",
        ],
        vec![b"true", b"FALSE", b"maybe", b"2"],
        vec![b"9999-12-31", b"0001-01-01", b"-9999-01-01", b"2026-02-30", b"292278994-08-17"],
        vec![
            b"9999-12-31 23:59:59.999999",
            b"0000-01-01 00:00:00",
            b"2026-01-01T25:61:61Z",
            b"294247-01-10 04:00:54.775807",
        ],
    ];
    if form.is_quoted() {
        cells[2].extend([
            b"c4n4ry\np1,Centre,bus,late,9.25,1,true,2026-01-11,2026-01-11 10:00:00\np2".as_slice(),
            b"\"\r\np3,North,\"\",tram,8.25,2\r\n\"",
            b"\n",
            b"\rp4,Centre\r",
        ]);
    }
    let mut rows = Vec::new();
    for _ in 0..EXTREME {
        let mut row = vec![cell("alice")];
        for choices in &cells {
            row.push(if dice.roll(9) == 0 { None } else { cell(dice.pick(choices)) });
        }
        // Ragged rows: too few cells, or too many.
        match dice.roll(12) {
            _ if form.is_quoted() => {}
            0 => row.truncate(1 + dice.roll(8)),
            1 => row.extend((0..dice.roll(50)).map(|_| cell("c4n4ry"))),
            _ => {}
        }
        rows.push(row);
    }
    rows
}

fn written(rows: &[Cells], form: Form) -> Vec<u8> {
    match form {
        Form::Csv(end) => csv(rows, end, false),
        Form::Quoted(end) => csv(rows, end, true),
        Form::Gzip => {
            let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
            packed.write_all(&csv(rows, "\n", false)).unwrap();
            packed.finish().unwrap()
        }
        Form::Parquet { dictionary } => parquet(rows, dictionary),
    }
}

fn csv(rows: &[Cells], end: &str, is_quoted: bool) -> Vec<u8> {
    let mut bytes = (COLUMNS.join(",") + end).into_bytes();
    for row in rows {
        for (index, cell) in row.iter().enumerate() {
            if index > 0 {
                bytes.push(b',');
            }
            let is_quoted =
                is_quoted && cell.iter().flatten().any(|byte| b"\",\n\r".contains(byte));
            bytes.extend(is_quoted.then_some(b'"'));
            for byte in cell.iter().flatten() {
                bytes.extend((is_quoted && *byte == b'"').then_some(b'"'));
                bytes.push(*byte);
            }
            bytes.extend(is_quoted.then_some(b'"'));
        }
        bytes.extend(end.as_bytes());
    }
    bytes
}

/// The same rows with typed columns; texts are written as they are, UTF-8 or not.
fn parquet(rows: &[Cells], dictionary: bool) -> Vec<u8> {
    let text = |name: &'static str| {
        let of = Type::primitive_type_builder(name, Physical::BYTE_ARRAY);
        of.with_logical_type(Some(LogicalType::String))
    };
    let number = |name: &'static str, of| Type::primitive_type_builder(name, of);
    let fields = [
        text("rider"),
        text("district"),
        text("word"),
        text("note"),
        number("fare", Physical::DOUBLE),
        number("stops", Physical::INT64),
        text("paid"),
        number("day", Physical::INT32).with_logical_type(Some(LogicalType::Date)),
        number("at", Physical::INT64)
            .with_logical_type(Some(LogicalType::timestamp(false, TimeUnit::MILLIS))),
    ];
    let fields = fields
        .map(|field| Arc::new(field.with_repetition(Repetition::OPTIONAL).build().unwrap()))
        .to_vec();
    let schema = Type::group_type_builder("schema").with_fields(fields).build().unwrap();
    let properties = WriterProperties::builder().set_dictionary_enabled(dictionary).build();
    let mut writer =
        SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties)).unwrap();
    // Alice is in every row group.
    for rows in rows.chunks(rows.len().div_ceil(3).max(1)) {
        let mut group = writer.next_row_group().unwrap();
        for index in 0..COLUMNS.len() {
            let cells: Vec<_> = rows.iter().map(|row| row.get(index).cloned().flatten()).collect();
            let there: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
            let known = cells.iter().flatten().map(|cell| String::from_utf8_lossy(cell));
            let mut column = group.next_column().unwrap().unwrap();
            match index {
                4 => {
                    let values: Vec<f64> = known.map(|cell| cell.parse().unwrap_or(-0.0)).collect();
                    column.typed::<DoubleType>().write_batch(&values, Some(&there), None).unwrap();
                }
                5 | 8 => {
                    let value = |cell: Cow<str>| cell.parse().unwrap_or_else(|_| far(&cell));
                    let values: Vec<i64> = known.map(value).collect();
                    column.typed::<Int64Type>().write_batch(&values, Some(&there), None).unwrap();
                }
                7 => {
                    let day = |cell: Cow<str>| i32::try_from(far(&cell)).unwrap_or(i32::MIN);
                    let values: Vec<i32> = known.map(day).collect();
                    column.typed::<Int32Type>().write_batch(&values, Some(&there), None).unwrap();
                }
                _ => {
                    let values: Vec<ByteArray> =
                        cells.iter().flatten().map(|cell| ByteArray::from(cell.clone())).collect();
                    column
                        .typed::<ByteArrayType>()
                        .write_batch(&values, Some(&there), None)
                        .unwrap();
                }
            }
            column.close().unwrap();
        }
        group.close().unwrap();
    }
    writer.into_inner().unwrap()
}

/// A number for a text: an ordinary one for ordinary texts, and one at the ends of time for
/// alice's. It follows from the text alone, so that nobody's rows depend on who else is there.
fn far(text: &str) -> i64 {
    if text.starts_with("2026-0") && !text.contains("30") {
        return text.bytes().map(i64::from).sum::<i64>() * 20;
    }
    [i64::MIN, i64::MAX, -62_135_596_800_001, 1 << 62, i64::from(i32::MAX)][text.len() % 5]
}
