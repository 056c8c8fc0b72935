//! Runs over files: what is read, what spills, what fails and what it says.

use std::cell::Cell;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use eke_budget::Adjacency;
use eke_engine::testing::arrow_array::{
    ArrayRef, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
};
use eke_engine::testing::arrow_schema::{DataType, Field, Schema};
use eke_engine::testing::parquet::arrow::ArrowWriter;
use eke_engine::testing::parquet::file::properties::WriterProperties;
use eke_engine::testing::{
    Bounded, HeldFor, HeldRows, RowsError, RowsOptions, Source, bounded, bounded_in_memory,
};
use eke_sql::{Binary, Expr, Key, Plan, Sum, Summand, Type, Unary, VERSION, Value};
use tempfile::TempDir;

use crate::rows::random::column;

const HASH_KEY: [u8; 32] = [3; 32];

/// A folder that goes away with the test.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path().join(name), content).unwrap();
    }
}

pub(crate) fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

/// Rows, units and the sum of `fare` (whole, 0 to 100), by city.
pub(crate) fn by_city() -> Plan {
    let value = Summand::Value { expr: column("fare"), low: 0, high: 100, centre: 0 };
    let sum = |summand| Sum { summand, exponent: 0 };
    Plan {
        version: VERSION,
        dataset: "trips".to_owned(),
        unit_column: "who".to_owned(),
        adjacency: Adjacency::AddRemove,
        rows: None,
        filter: None,
        keys: vec![Key { expr: column("city"), kind: Type::Text, public: None }],
        sums: vec![sum(Summand::Rows), sum(Summand::Units), sum(value)],
        max_groups: 3,
        max_rows: 2,
        max_rows_in_all: None,
    }
}

fn trips(rows: &[(i32, Option<&str>, f64)]) -> RecordBatch {
    let who: ArrayRef = Arc::new(rows.iter().map(|row| Some(row.0)).collect::<Int32Array>());
    let city: ArrayRef = Arc::new(rows.iter().map(|row| row.1).collect::<StringArray>());
    let fare: ArrayRef = Arc::new(rows.iter().map(|row| Some(row.2)).collect::<Float64Array>());
    let fields = [("who", DataType::Int32), ("city", DataType::Utf8), ("fare", DataType::Float64)];
    let fields = fields.map(|(name, kind)| Field::new(name, kind, true)).to_vec();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), vec![who, city, fare]).unwrap()
}

pub(crate) fn write_parquet(folder: &Folder, name: &str, batch: &RecordBatch, group: usize) {
    let file = File::create(folder.path().join(name)).unwrap();
    let options = WriterProperties::builder().set_max_row_group_row_count(Some(group)).build();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(options)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
}

fn read(folder: &Folder, source: &str, types: &[(&str, Type)]) -> Result<Bounded, RowsError> {
    let source = Source::find(folder.path(), source).unwrap();
    let types = types.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect();
    let schema = source.schema(&types).unwrap();
    bounded(&source, &schema, &by_city(), &HASH_KEY, RowsOptions::usual())
}

const ROWS: [(i32, Option<&str>, f64); 8] = [
    (1, Some("Delft"), 10.0),
    (1, Some("Delft"), 20.0),
    (1, Some("Delft"), 31.0),
    (1, Some("Leiden"), 7.0),
    (2, Some("Delft"), 1e9),
    (2, None, f64::NAN),
    (3, Some(""), -5.0),
    (3, Some("Leiden"), f64::INFINITY),
];

/// Rows, units, sum of each group: 61 over three rows is 40 over two.
fn assert_rows(bounded: &Bounded) {
    let groups = [text("Delft"), text("Leiden"), Value::Null, text(""), text("Gouda")];
    let values = bounded.values(&groups.map(|group| vec![group]));
    assert_eq!(values, [[3, 2, 1, 1, 0], [2, 2, 1, 1, 0], [140, 107, 0, 0, 0]]);
    assert_eq!(bounded.unit_counts().len(), 4);
}

#[test]
fn parquet_files_are_read_whatever_their_pieces() {
    let folder = Folder::new();
    write_parquet(&folder, "one.parquet", &trips(&ROWS), 3);
    assert_rows(&read(&folder, "one.parquet", &[]).unwrap());
    for (index, row) in ROWS.iter().enumerate() {
        write_parquet(&folder, &format!("many-{index}.parquet"), &trips(&[*row]), 1_000);
    }
    assert_rows(&read(&folder, "many-*.parquet", &[]).unwrap());
    assert!(read(&folder, "many-[0-6].parquet", &[]).is_ok());
}

const CSV: &str = "\u{feff}who,city,fare\n1,Delft,10\n1,Delft, 20 \n1,Delft,31.0\n1,\"Leiden\",7\n2,Delft,1e9\n2\n\
    3,\"two\nlines\",-5\n3,Leiden,Infinity,and,more\n,Delft,5\nx,Delft,5\n\n3,Leiden,1e2\n";

#[test]
fn csv_files_are_read_whatever_their_lines_are_like() {
    let folder = Folder::new();
    folder.write("rows.csv", CSV);
    let file = File::create(folder.path().join("packed.csv.gz")).unwrap();
    let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::default());
    packed.write_all(CSV.as_bytes()).unwrap();
    packed.finish().unwrap();
    folder.write("crlf.csv", CSV.replace('\n', "\r\n"));
    for name in ["rows.csv", "packed.csv.gz", "crlf.csv"] {
        let types = [("who", Type::Int), ("fare", Type::Float)];
        let bounded = read(&folder, name, &types).unwrap();
        let two = if name == "crlf.csv" { "two\r\nlines" } else { "two\nlines" };
        let groups = [text("Delft"), text("Leiden"), Value::Null, text(two)];
        let values = bounded.values(&groups.map(|group| vec![group]));
        assert_eq!(values, [[3, 3, 1, 1], [2, 2, 1, 1], [140, 107, 0, 0]], "{name}");
        // As text, `x` is somebody too.
        let bounded = read(&folder, name, &[("fare", Type::Float)]).unwrap();
        assert_eq!(bounded.values(&[vec![text("Delft")]]), [[4], [3], [145]], "{name}");
    }
}

/// However many partitions share a file out, in whatever memory, and however it is packed, its rows
/// are the same.
#[test]
fn a_csv_file_is_shared_out_and_stays_what_it_is() {
    const UNITS: usize = 30_000;
    let folder = Folder::new();
    let notes = ["plain", "\"over\ntwo lines\"", "\"0,Delft,,100\n\"", "\"a \"\"word\"\"\"", ""];
    let cities = ["Delft", "Leiden", "two\nlines"];
    let mut csv = "note,fare,city,who\n".to_owned();
    // The second row of a unit is far from its first.
    for fare in [1, 2] {
        for who in 0..UNITS {
            let (note, city) = (notes[who * fare % 5], cities[who % 3]);
            csv += &format!("{note},{fare},\"{city}\",{who}\n");
        }
    }
    assert!(csv.len() > 5 << 18, "several blocks: {}", csv.len());
    folder.write("rows.csv", &csv);
    let file = File::create(folder.path().join("packed.csv.gz")).unwrap();
    let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    packed.write_all(csv.as_bytes()).unwrap();
    packed.finish().unwrap();
    let types = [("who", Type::Int), ("fare", Type::Float)];
    let types = types.map(|(name, kind)| (name.to_owned(), kind)).into();
    let each = i64::try_from(UNITS / 3).unwrap();
    for name in ["rows.csv", "packed.csv.gz", "*.csv*"] {
        let source = Source::find(folder.path(), name).unwrap();
        let schema = source.schema(&types).unwrap();
        for (partitions, memory) in [(1, 1 << 30), (2, 1 << 30), (7, 1 << 30), (2, 16 << 20)] {
            let options = RowsOptions { partitions, memory, ..RowsOptions::usual() };
            let read = bounded(&source, &schema, &by_city(), &HASH_KEY, options).unwrap();
            let values = read.values(&cities.map(|city| vec![text(city)]));
            // Of four rows, as the two files have them, two count.
            assert_eq!(values, [[2 * each; 3], [each; 3], [3 * each; 3]], "{name} {partitions}");
            assert_eq!(read.unit_counts().len(), 3, "{name} {partitions}");
        }
    }
}

/// What one unit writes into a cell makes no rows of others and takes none of theirs in.
#[test]
fn rows_over_several_lines_are_their_writers_own() {
    let folder = Folder::new();
    let types = [("who", Type::Int), ("fare", Type::Float)];
    let others = "2,Delft,5\n3,\"Delft\",6\n4,\"Lei\nden\",7\n";
    let groups = ["Delft", "Leiden", "Lei\nden"].map(|city| vec![text(city)]);
    let values = |name: &str, text: &str| {
        folder.write(name, format!("who,city,fare\n{text}"));
        read(&folder, name, &types).unwrap().values(&groups)
    };
    let without = values("without.csv", others);
    assert_eq!(without, [[2, 0, 1], [2, 0, 1], [11, 0, 7]]);
    let hostile = [
        "1,\"x\n8,Delft,9\n9,Delft,9\n\",3\n",
        "1,\"\n8,\"\"Delft\"\",9\n\",3\n",
        "1,\"\"\"\",3\n",
        "1,\r8,Delft\n",
    ];
    for (before, after) in hostile.iter().flat_map(|one| hostile.map(|two| (one, two))) {
        assert_eq!(values("with.csv", &format!("{before}{others}{after}")), without, "{before}");
    }
}

#[test]
fn cells_that_are_no_text_are_null() {
    let folder = Folder::new();
    folder.write("rows.csv", b"who,city,fare\n1,Caf\xe9,5\n\xff,Delft,5\n".as_slice());
    let bounded = read(&folder, "rows.csv", &[("fare", Type::Int)]).unwrap();
    assert_eq!(bounded.unit_counts(), [(vec![Value::Null], 1)]);
}

#[test]
fn a_damaged_row_group_is_an_error_that_says_nothing() {
    let folder = Folder::new();
    write_parquet(&folder, "rows.parquet", &trips(&ROWS), 1_000);
    let path = folder.path().join("rows.parquet");
    let whole = fs::read(&path).unwrap();
    let mut failed = 0;
    for at in (4..whole.len() / 2).step_by(3) {
        let mut damaged = whole.clone();
        for byte in &mut damaged[at..at + 3] {
            *byte ^= 0xff;
        }
        fs::write(&path, damaged).unwrap();
        let Ok(source) = Source::find(folder.path(), "rows.parquet") else { continue };
        let Ok(schema) = source.schema(&[].into()) else { continue };
        if let Err(error) = bounded(&source, &schema, &by_city(), &HASH_KEY, RowsOptions::usual()) {
            assert_eq!(error.to_string(), "the rows could not be read to the end");
            assert!(!format!("{error:?}").contains("Delft"));
            assert!(!error.detail().is_empty());
            failed += 1;
        }
    }
    assert!(failed > 10, "{failed}");
}

#[test]
fn a_packed_file_that_is_cut_short_is_an_error() {
    let folder = Folder::new();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(CSV.as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    folder.write("rows.csv.gz", &packed[..packed.len() - 12]);
    let error = read(&folder, "rows.csv.gz", &[("fare", Type::Float)]).unwrap_err();
    assert_eq!(error.to_string(), "the rows could not be read to the end");
}

#[test]
fn a_plan_that_does_not_fit_says_which_column() {
    let schema = [("who".to_owned(), Some(Type::Int)), ("city".to_owned(), None)];
    let run =
        |plan: &Plan| bounded_in_memory(Vec::new(), &schema, plan, &HASH_KEY, RowsOptions::usual());
    let error = run(&by_city()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the plan does not fit the dataset: there is no column `city` that can be computed with"
    );
    let plan = Plan { keys: Vec::new(), sums: by_city().sums[..2].to_vec(), ..by_city() };
    let none = run(&plan).unwrap();
    assert_eq!(none.values(&[vec![]]), Bounded::empty(&plan).values(&[vec![]]));
    assert_eq!((none.values(&[vec![]]), none.unit_counts()), (vec![vec![0], vec![0]], vec![]));
}

/// Half a million rows: `units` people, each in up to 40 of 200 groups.
fn many(units: i64) -> Vec<Vec<RecordBatch>> {
    let batch = |part: i64| {
        let rows = (0..8_192).map(|row| part * 8_192 + row);
        let who: Int64Array = rows.clone().map(|row| Some(row * 7_919 % units)).collect();
        let name =
            |row: i64| format!("a city with a long name, number {}", row * 104_729 / 3 % 200);
        let city: StringArray = rows.clone().map(|row| Some(name(row))).collect();
        let fare: Float64Array = rows.map(|row| Some((row % 137) as f64)).collect();
        let columns: [(&str, ArrayRef); 3] =
            [("who", Arc::new(who)), ("city", Arc::new(city)), ("fare", Arc::new(fare))];
        RecordBatch::try_from_iter(columns).unwrap()
    };
    (0..4).map(|piece| (0..16).map(|part| batch(piece * 16 + part)).collect()).collect()
}

#[test]
fn spilling_changes_nothing() {
    let schema = [("who", Type::Int), ("city", Type::Text), ("fare", Type::Float)];
    let schema = schema.map(|(name, kind)| (name.to_owned(), Some(kind)));
    let run = |memory: usize, partitions: usize| {
        let time = Some(std::time::Duration::from_secs(60));
        let options = RowsOptions { memory, partitions, time, ..RowsOptions::usual() };
        bounded_in_memory(many(60_000), &schema, &by_city(), &HASH_KEY, options)
    };
    let whole = run(2 << 30, 2).unwrap();
    let groups: Vec<_> = whole.unit_counts().into_iter().map(|(keys, _)| keys).collect();
    assert_eq!(groups.len(), 200);
    assert_eq!(whole.spills(), 0);
    // With less, the engine's other parts do not have what they need for one batch each.
    for (memory, partitions) in [(8 << 20, 1), (20 << 20, 2), (28 << 20, 4)] {
        let spilled = run(memory, partitions).unwrap_or_else(|error| panic!("{}", error.detail()));
        assert_eq!(spilled.values(&groups), whole.values(&groups));
        assert_eq!(spilled.unit_counts(), whole.unit_counts());
        println!("{memory} bytes, {partitions} partitions: {} spills", spilled.spills());
        // How much several partitions hold at once is a matter of chance.
        assert!(spilled.spills() > 0 || partitions > 1);
    }
    // With next to nothing it is slower, and no less an answer; groups are on disk as well.
    for (memory, partitions) in [(10_000, 1), (10_000, 2), (1 << 20, 1)] {
        let spilled = run(memory, partitions).unwrap_or_else(|error| panic!("{}", error.detail()));
        assert_eq!(spilled.values(&groups), whole.values(&groups));
        assert_eq!(spilled.unit_counts(), whole.unit_counts());
        assert!(spilled.spills() > 0 || partitions > 1, "{memory}");
        assert_eq!(spilled.is_on_disk(), memory < 20_000);
    }
}

/// What does not fit into memory is put into the folder that is meant for it, and is gone with the
/// run.
#[test]
fn rows_are_spilled_into_their_own_folder() {
    fn files(folder: &Path) -> usize {
        let count = |entry: fs::DirEntry| {
            if entry.path().is_dir() { files(&entry.path()) } else { 1 }
        };
        fs::read_dir(folder).map_or(0, |all| all.flatten().map(count).sum())
    }
    let folder = Folder::new();
    let (rows, is_over) = (folder.path().join("rows"), AtomicBool::new(false));
    let schema = [("who", Type::Int), ("city", Type::Text), ("fare", Type::Float)];
    let schema = schema.map(|(name, kind)| (name.to_owned(), Some(kind)));
    let most = std::thread::scope(|scope| {
        let watched = scope.spawn(|| {
            let mut most = 0;
            while !is_over.load(Ordering::Relaxed) {
                most = most.max(files(&rows));
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            most
        });
        let options = RowsOptions {
            memory: 1 << 20,
            partitions: 1,
            spill: Some(&rows),
            ..RowsOptions::usual()
        };
        let spilled = bounded_in_memory(many(60_000), &schema, &by_city(), &HASH_KEY, options);
        is_over.store(true, Ordering::Relaxed);
        assert!(spilled.unwrap().spills() > 0);
        watched.join().unwrap()
    });
    assert!(most > 0 && !rows.exists(), "{most}");
}

/// How many groups there are decides nothing: those that do not fit into memory are on disk, and
/// are found there.
#[test]
fn more_groups_than_fit_into_memory_are_found_on_disk() {
    let schema = [("who", Type::Int), ("city", Type::Text), ("fare", Type::Float)];
    let schema = schema.map(|(name, kind)| (name.to_owned(), Some(kind)));
    let batch = |part: i64| {
        let rows = (0..8_192).map(|row| part * 8_192 + row);
        let who: Int64Array = rows.clone().map(Some).collect();
        let city: StringArray =
            rows.clone().map(|row| Some(format!("city number {row}"))).collect();
        let fare: Float64Array = rows.map(|row| Some((row % 100) as f64)).collect();
        let columns: [(&str, ArrayRef); 3] =
            [("who", Arc::new(who)), ("city", Arc::new(city)), ("fare", Arc::new(fare))];
        RecordBatch::try_from_iter(columns).unwrap()
    };
    let pieces: Vec<Vec<RecordBatch>> = (0..4).map(|part| vec![batch(part)]).collect();
    let run = |memory: usize| {
        let options = RowsOptions { memory, partitions: 2, ..RowsOptions::usual() };
        bounded_in_memory(pieces.clone(), &schema, &by_city(), &HASH_KEY, options).unwrap()
    };
    let (whole, spilled) = (run(2 << 30), run(1 << 20));
    assert!(!whole.is_on_disk() && spilled.is_on_disk());
    let groups: Vec<_> = whole.unit_counts().into_iter().map(|(keys, _)| keys).collect();
    assert_eq!(groups.len(), 4 * 8_192);
    assert_eq!(spilled.values(&groups), whole.values(&groups));
    assert_eq!(spilled.unit_counts(), whole.unit_counts());
}

#[test]
fn a_run_that_takes_too_long_is_an_error() {
    let schema = [("who".to_owned(), Some(Type::Int))];
    let plan = Plan { keys: Vec::new(), sums: by_city().sums[..1].to_vec(), ..by_city() };
    let options =
        RowsOptions { time: Some(std::time::Duration::from_millis(1)), ..RowsOptions::usual() };
    let error = bounded_in_memory(many(10), &schema, &plan, &HASH_KEY, options).unwrap_err();
    assert_eq!(error.to_string(), "the rows could not be read to the end");
    assert_eq!(error.detail(), "it took longer than it may");
}

#[test]
fn progress_comes_to_all_rows() {
    let seen = Cell::new(0);
    let watch = |rows| seen.set(rows);
    let schema = [("who".to_owned(), Some(Type::Int))];
    let sums = by_city().sums[..1].to_vec();
    let plan = Plan { keys: Vec::new(), sums, ..by_city() };
    let options = RowsOptions { progress: Some(&watch), ..RowsOptions::usual() };
    bounded_in_memory(many(10), &schema, &plan, &HASH_KEY, options).unwrap();
    assert_eq!(seen.get(), 524_288);
}

#[test]
fn five_hundred_operators_on_top_of_each_other_are_computed() {
    let deep = |leaf: Expr, wrap: &dyn Fn(Expr) -> Expr| (0..500).fold(leaf, |expr, _| wrap(expr));
    let one = || Box::new(Expr::Literal(Value::Int(1)));
    let plus = |expr: Expr| Expr::Binary(Binary::Add, Box::new(expr), one());
    let negate = |expr: Expr| Expr::Unary(Unary::Negate, Box::new(expr));
    let case = |expr: Expr| Expr::Case {
        branches: vec![(
            Expr::Binary(Binary::Equal, Box::new(column("who")), one()),
            Expr::Literal(Value::Int(5)),
        )],
        otherwise: Some(Box::new(expr)),
    };
    let who: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    let batch = RecordBatch::try_from_iter([("who", who)]).unwrap();
    let schema = [("who".to_owned(), Some(Type::Int))];
    let wraps: [(&dyn Fn(Expr) -> Expr, [i64; 2]); 3] =
        [(&plus, [501, 502]), (&negate, [1, 2]), (&case, [2, 5])];
    for (wrap, expected) in wraps {
        let key = Key { expr: deep(column("who"), wrap), kind: Type::Int, public: None };
        let value = Summand::Value { expr: key.expr.clone(), low: 0, high: 1_000, centre: 0 };
        let filter = Expr::Unary(Unary::IsNull, Box::new(key.expr.clone()));
        let filter = Some(Expr::Unary(Unary::Not, Box::new(filter)));
        let sums = vec![Sum { summand: value, exponent: 0 }];
        let plan = Plan { keys: vec![key], sums, filter, ..by_city() };
        let pieces = vec![vec![batch.clone()]];
        let bounded =
            bounded_in_memory(pieces, &schema, &plan, &HASH_KEY, RowsOptions::usual()).unwrap();
        let keys = expected.map(|value| (vec![Value::Int(value)], 1));
        assert_eq!(bounded.unit_counts(), keys);
        let groups = expected.map(|value| vec![Value::Int(value)]);
        assert_eq!(bounded.values(&groups), [expected]);
    }
}

/// By its type alone a column of whole numbers is none of degrees; texts and floating-point numbers
/// may be.
#[test]
fn columns_of_whole_numbers_are_no_degrees() {
    let folder = Folder::new();
    write_parquet(&folder, "places.parquet", &trips(&ROWS), 100);
    let open = |longitude: &str| {
        let columns = eke_engine::geo::PlaceColumns {
            longitude: Some(longitude.to_owned()),
            latitude: Some("fare".to_owned()),
            ..eke_engine::geo::PlaceColumns::default()
        };
        eke_engine::geo::PlaceFile::open(&folder.path().join("places.parquet"), &columns)
    };
    let error = open("who").unwrap_err().to_string();
    assert!(error.contains("`who`") && error.contains("degrees with their decimals"), "{error}");
    assert!(open("fare").is_ok() && open("city").is_ok());
}

/// Rows that are held stay as they were, whatever becomes of the file. Other snapshots, other
/// columns and rows beyond what may be held are read from it.
#[test]
fn plans_over_one_snapshot_read_its_files_once() {
    let folder = Folder::new();
    let write = |name: &str, rows: &[(i32, Option<&str>, f64)]| {
        if name.ends_with("parquet") {
            return write_parquet(&folder, name, &trips(rows), 3);
        }
        let mut csv = "who,city,fare\n".to_owned();
        for (who, city, fare) in rows {
            csv += &format!("{who},{},{fare}\n", city.unwrap_or_default());
        }
        folder.write(name, csv);
    };
    let types = [("who", Type::Int), ("fare", Type::Float)];
    let types = types.map(|(name, kind)| (name.to_owned(), kind)).into();
    let counts = Plan { sums: by_city().sums[..1].to_vec(), ..by_city() };
    let groups = [vec![text("Delft")], vec![text("Leiden")]];
    for name in ["rows.parquet", "rows.csv"] {
        write(name, &ROWS);
        let source = Source::find(folder.path(), name).unwrap();
        let schema = source.schema(&types).unwrap();
        let rows = Arc::new(HeldRows::default());
        let run_of = |dataset, plan: &Plan, snapshot: u32, expects_more: bool, memory: usize| {
            let held = Some(HeldFor { rows: &rows, dataset, snapshot, expects_more });
            let options = RowsOptions { memory, held, batch_rows: 5, ..RowsOptions::usual() };
            let read = bounded(&source, &schema, plan, &HASH_KEY, options).unwrap();
            (read.values(&groups), read.unit_counts().len())
        };
        let run = |plan: &Plan, snapshot: u32, expects_more: bool, memory: usize| {
            run_of("trips", plan, snapshot, expects_more, memory)
        };
        let much = 1 << 30;
        let before = run(&by_city(), 1, true, much);
        let before_counts = (before.0[..1].to_vec(), before.1);
        // The file has other rows from now on.
        write(name, &ROWS[..2]);
        let now = run(&by_city(), 2, false, much);
        let now_counts = (now.0[..1].to_vec(), now.1);
        assert_ne!(now_counts, before_counts);
        assert_eq!(run_of("others", &by_city(), 1, false, much), now, "{name}: another dataset");
        assert_eq!(run(&by_city(), 1, false, much), before, "{name}");
        assert_eq!(run(&counts, 1, false, much), before_counts, "{name}: fewer columns");

        // What is read once is not held, unless more is expected; what is read twice is.
        write(name, &ROWS);
        assert_eq!(run(&counts, 3, false, much), before_counts);
        write(name, &ROWS[..2]);
        assert_eq!(run(&counts, 3, false, much), now_counts);
        write(name, &ROWS);
        assert_eq!(run(&counts, 3, false, much), now_counts);
        assert_eq!(run(&by_city(), 3, false, much), before, "{name}: more columns");
        // Nothing is held that is too large.
        assert_eq!(run(&counts, 4, true, 64), before_counts);
        write(name, &ROWS[..2]);
        assert_eq!(run(&counts, 4, true, 64), now_counts, "{name}");
    }
}
