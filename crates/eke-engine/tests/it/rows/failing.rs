//! What fails while rows are read: it is not available, and says no more than that.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::sync::Arc;

use eke_engine::ask::Clock;
use eke_engine::geo::{PlaceColumns, PlaceFile};
use eke_engine::purchase::FAILURES_OF_ONE;
use eke_engine::testing::arrow_array::types::Int8Type;
use eke_engine::testing::arrow_array::{
    ArrayRef, Decimal128Array, DictionaryArray, Float64Array, Int8Array, Int64Array, RecordBatch,
    StringArray, TimestampMillisecondArray, TimestampNanosecondArray, TimestampSecondArray,
    UInt64Array,
};
use eke_engine::testing::parquet::arrow::ArrowWriter;
use eke_engine::testing::parquet::data_type::{
    ByteArray, ByteArrayType, Int64Type, Int96, Int96Type,
};
use eke_engine::testing::parquet::file::properties::WriterProperties;
use eke_engine::testing::parquet::file::writer::SerializedFileWriter;
use eke_engine::testing::parquet::schema::parser::parse_message_type;
use eke_engine::testing::{RowsOptions, Source, bounded, bounded_in_memory};
use eke_engine::watch::{Charging, Closeness, NoiseLaw, Side, Steps};
use eke_engine::{Engine, EngineError, Observer, WatchQuestion, Who};
use eke_noise::Confidence;
use eke_sql::{Key, Plan, Type, Value};

use crate::rows::files::{self, by_city, text, write_parquet};
use crate::rows::random::column;
use crate::trips::{Folder, policy, price, question, spent, trips};

fn packed(text: &str) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(text.as_bytes()).unwrap();
    packed.finish().unwrap()
}

/// A dataset whose file can be cut short so that its header is read and its rows are not.
fn cuttable(rows: &str) -> (Folder, impl Fn(bool) + use<>) {
    let folder = Folder::new();
    folder.write(
        "eke.toml",
        &policy("add-remove", 1, 1, Some(3)).replace("trips.csv", "trips.csv.gz"),
    );
    let whole = packed(rows);
    let path = folder.path().join("trips.csv.gz");
    let write = move |is_whole: bool| {
        let length = if is_whole { whole.len() } else { whole.len() - 12 };
        fs::write(&path, &whole[..length]).unwrap();
    };
    (folder, write)
}

fn fails(engine: &Engine, who: &str, sql: &str, rho: &str) -> String {
    engine.ask(&question(who, sql, price(rho)), &()).unwrap_err().to_string()
}

const SAID: &str = "this is not available just now, and what it may have cost stays paid: ask again later, or ask the steward";
const COUNT: &str = "SELECT COUNT(*) FROM trips";

/// A read that fails for a moment is a gap of the path: it stays paid, and later answers are right.
#[test]
fn a_read_that_fails_is_a_gap_of_the_path() {
    let (folder, write) = cuttable(&trips(&[5000, 300, 200]));
    write(true);
    let engine = folder.engine();
    engine.ask(&question("ana", COUNT, price("0.001")), &()).unwrap();
    write(false);
    let before = spent(&engine);
    assert_eq!(fails(&engine, "ana", COUNT, "0.004"), SAID);
    assert!((spent(&engine) - before - 0.003).abs() < 1e-9, "it stays paid");
    write(true);
    let after = engine.ask(&question("ana", COUNT, price("0.02")), &()).unwrap();
    let cell = &after.rows[0].values[0];
    // Deviations of 1/sqrt(2 * 0.016): 12 of them, and the interval holds the truth.
    assert!((cell.value.unwrap() - 5500.0).abs() < 70.0, "{cell:?}");
    assert!(cell.low.unwrap() <= 5500.0 && cell.high.unwrap() >= 5500.0, "{cell:?}");
    // The interval knows what was lost: it is wider than that of the whole price, 1.96 / sqrt(2 *
    // 0.02).
    assert!(cell.high.unwrap() - cell.low.unwrap() > 2.0 * 9.8, "{cell:?}");
    // Others go on from there as well.
    let bob = engine.ask(&question("bob", COUNT, price("0.001")), &()).unwrap();
    assert!((bob.rows[0].values[0].value.unwrap() - 5500.0).abs() < 300.0, "{bob:?}");
    let notices = engine.notices().unwrap();
    assert!(notices.iter().any(|notice| notice.contains("was not answered")), "{notices:?}");
}

/// Selections of keys and picks that fail say the same, and are made anew when rows can be read.
#[test]
fn keys_and_picks_that_fail_are_made_anew() {
    let (folder, write) = cuttable(&trips(&[5000, 3000, 2000]));
    let keys = "SELECT CAST(fare AS INT), COUNT(*) FROM trips GROUP BY CAST(fare AS INT)";
    let picks = "SELECT zone FROM trips GROUP BY zone ORDER BY COUNT(*) DESC LIMIT 1";
    write(true);
    let engine = folder.engine();
    engine.ask(&question("ana", COUNT, price("0.001")), &()).unwrap();
    write(false);
    assert_eq!(fails(&engine, "ana", keys, "0.01"), SAID);
    assert_eq!(fails(&engine, "ana", picks, "0.01"), SAID);
    write(true);
    let answer = engine.ask(&question("ana", keys, price("0.01")), &()).unwrap();
    assert_eq!(answer.rows.len(), 40);
    let answer = engine.ask(&question("ana", picks, price("0.02")), &()).unwrap();
    assert_eq!(answer.rows[0].keys, [serde_json::json!(0)]);
}

/// After a few failures the steward must look: of one analyst, who does not block others.
#[test]
fn after_a_few_failures_the_steward_must_look() {
    let (folder, write) = cuttable(&trips(&[500, 300, 200]));
    write(false);
    let engine = folder.engine();
    let ask = |who: &str, number: u64| {
        fails(&engine, who, &format!("{COUNT} WHERE fare > {number}"), "1e-4")
    };
    // A file that cannot be read when it is first looked at costs nothing.
    assert!(ask("steward", 0).contains("`trips.csv.gz` cannot be read"));
    assert_eq!(spent(&engine), 0.0);
    write(true);
    engine.snapshot("trips").unwrap();
    write(false);
    for number in 0..FAILURES_OF_ONE {
        assert_eq!(ask("ana", number), SAID);
    }
    let before = spent(&engine);
    assert!(ask("ana", 50).contains("the steward must look into it"));
    assert_eq!(spent(&engine), before, "nothing was charged");
    assert_eq!(ask("eve", 60), SAID);
    // It is kept in the ledger.
    drop(engine);
    let engine = folder.engine();
    let failed = &engine.failures().unwrap()[0];
    assert_eq!(
        (failed.failed, failed.unseen, &failed.blocked[..]),
        (9, 9, &["ana".to_owned()][..])
    );
    // Nine of nine questions: any of 2^9 things.
    assert!(failed.questions >= 9 && failed.bits >= 9.0 - 1e-9, "{failed:?}");
    // Answers that were given are given again, and the steward asks as always.
    write(true);
    let again = engine.ask(&question("ana", COUNT, price("1e-4")), &()).unwrap_err();
    assert!(matches!(again, EngineError::StewardMustLook));
    engine.snapshot("trips").unwrap();
    engine.ask(&question("steward", COUNT, price("1e-4")), &()).unwrap();
    assert_eq!(engine.looked().unwrap(), 9);
    engine.ask(&question("ana", COUNT, price("1e-4")), &()).unwrap();
    let failed = &engine.failures().unwrap()[0];
    assert_eq!((failed.failed, failed.unseen, failed.blocked.len()), (9, 0, 0));
}

/// Where there is no folder for what memory does not hold, nothing is charged either.
#[test]
fn nothing_is_charged_where_rows_have_nowhere_to_go() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 1, 1, Some(3)));
    folder.write("trips.csv", &trips(&[500, 300, 200]));
    let engine = folder.engine();
    engine.ask(&question("ana", COUNT, price("1e-4")), &()).unwrap();
    let before = spent(&engine);
    folder.write("eke.ledger-rows", "a file, and no folder");
    assert_eq!(fails(&engine, "ana", COUNT, "2e-4"), SAID);
    assert!(fails(&engine, "steward", COUNT, "2e-4").contains("nothing was charged"));
    assert_eq!(spent(&engine), before);
    fs::remove_file(folder.path().join("eke.ledger-rows")).unwrap();
    engine.ask(&question("ana", COUNT, price("2e-4")), &()).unwrap();
}

/// A clock by hand: every look at it takes as long as it says.
struct Slow(std::sync::Mutex<(std::time::Duration, std::time::Duration)>, std::time::Duration);

impl Clock for Slow {
    fn now(&self) -> std::time::Duration {
        let mut state = self.0.lock().unwrap();
        state.0 += self.1;
        state.0
    }

    fn wait_until(&self, moment: std::time::Duration) {
        let mut state = self.0.lock().unwrap();
        state.1 = moment;
        state.0 = state.0.max(moment);
    }
}

impl Observer for Slow {
    fn clock(&self) -> &dyn Clock {
        self
    }
}

/// Answers to analysts leave on slots, and what was answered before leaves at once; the steward
/// does not wait.
#[test]
fn answers_to_analysts_leave_on_slots() {
    let millis = std::time::Duration::from_millis;
    let folder = Folder::new();
    let text = policy("add-remove", 1, 1, Some(3));
    folder.write("eke.toml", &text.replace("max_rows = 1\n", "max_rows = 1\nanswer_time = 0.5\n"));
    folder.write("trips.csv", &trips(&[500, 300, 200]));
    let engine = folder.engine();
    let left = |who: &str, sql: &str, step: u64| {
        let slow = Slow(std::sync::Mutex::new((millis(0), millis(0))), millis(step));
        let answered = engine.ask(&question(who, sql, price("1e-4")), &slow);
        let waited = slow.0.lock().unwrap().1;
        (answered.is_ok(), waited)
    };
    // The first look at the clock is when the question came in.
    assert_eq!(left("ana", COUNT, 10), (true, millis(510)));
    assert_eq!(left("ana", COUNT, 10), (true, millis(0)), "its own history");
    // Rows are read to select keys, also where none is shown.
    let nobodys = "SELECT fare, COUNT(*) FROM trips WHERE fare > 1000000 GROUP BY fare";
    assert_eq!(left("ana", nobodys, 10), (true, millis(510)));
    assert_eq!(left("steward", "SELECT SUM(fare) FROM trips", 10), (true, millis(0)));
    assert!(engine.failures().unwrap().is_empty());
    // Late: it leaves at a later slot, counts, and the steward hears what to set.
    assert_eq!(left("ana", "SELECT SUM(fare) FROM trips", 600), (true, millis(600 + 2000)));
    let failed = &engine.failures().unwrap()[0];
    assert_eq!((failed.failed, failed.unseen), (1, 1));
    let notices = engine.notices().unwrap();
    assert!(
        notices
            .iter()
            .any(|notice| notice.contains("write answer_time = 2.0 into [dataset.trips]")),
        "{notices:?}"
    );
    // What fails leaves on a slot as well, and what is refused before rows are read does not.
    fs::write(folder.path().join("trips.csv"), "rider,zone\n1,1\n").unwrap();
    assert_eq!(left("ana", "SELECT nothing FROM trips", 10), (false, millis(0)));
}

/// So do the steps of a watch, each on a slot of its own.
#[test]
fn steps_of_a_watch_leave_on_slots() {
    let millis = std::time::Duration::from_millis;
    let folder = Folder::new();
    let text =
        policy("add-remove", 1, 1, Some(3)).replace("delta = 1e-5 }", "delta = 1e-5 }\npure = 3.0");
    folder.write("eke.toml", &text.replace("max_rows = 1\n", "max_rows = 1\nanswer_time = 0.5\n"));
    folder.write("trips.csv", &trips(&[500, 300, 200]));
    let engine = folder.engine();
    let left = |who: Who| {
        let slow = Slow(std::sync::Mutex::new((millis(0), millis(0))), millis(10));
        let question = WatchQuestion {
            sql: format!("{COUNT} WHERE zone = $1"),
            steps: Steps { names: vec!["zone".into()], lines: vec![vec!["0".into()]] },
            line: 10.0,
            side: Side::Above,
            closeness: Closeness::Absolute(100.0),
            confidence: Confidence::new(0.95).unwrap(),
            noise: NoiseLaw::Laplace,
            range: None,
            charging: Charging::ExPost,
            who,
        };
        engine.watch(&question, &slow, &mut |_| true).unwrap();
        slow.0.lock().unwrap().1
    };
    assert_eq!(left(Who::Analyst("ana".into())), millis(510));
    assert_eq!(left(Who::Analyst("ana".into())), millis(0), "its own history");
    assert_eq!(left(Who::Steward), millis(0));
}

/// Rows that are nobody's are one number for the steward, whatever is asked, and in no answer.
#[test]
fn rows_that_are_nobodys_are_one_number_for_the_steward() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 1, 1, Some(3)));
    folder.write("trips.csv", &format!("{},1,20\n,1,20\n,2,99\n", trips(&[500, 300, 200])));
    let engine = folder.engine();
    let told = || engine.notices().unwrap();
    let expected = "3 rows of `trips` have no unit that can be read, and count in no answer";
    for sql in ["SELECT COUNT(*) FROM trips WHERE fare > 98", COUNT] {
        engine.ask(&question("ana", sql, price("0.01")), &()).unwrap();
        assert_eq!(told(), [expected]);
    }
    assert!(engine.budget(&Who::Analyst("ana".into())).is_ok());
}

/// Ids of units are exact: close numbers and times are not one unit, and what cannot be exact is
/// refused.
#[test]
fn unit_ids_are_exact_or_refused() {
    let folder = files::Folder::new();
    let close = 9_007_199_254_740_992i128;
    let decimals = Decimal128Array::from(vec![close * 100, close * 100 + 100, close * 100 + 200])
        .with_precision_and_scale(38, 2)
        .unwrap();
    let ids: Vec<(&str, ArrayRef)> = vec![
        ("decimal", Arc::new(decimals)),
        ("unsigned", Arc::new(UInt64Array::from(vec![u64::MAX, u64::MAX - 1, 1 << 63]))),
        ("nanos", Arc::new(TimestampNanosecondArray::from(vec![1, 2, 3]))),
    ];
    let city: ArrayRef = Arc::new(StringArray::from(vec!["a", "a", "a"]));
    let fare: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 2.0, 3.0]));
    for (name, id) in ids {
        let columns = [("who", id), ("city", Arc::clone(&city)), ("fare", Arc::clone(&fare))];
        write_parquet(&folder, name, &RecordBatch::try_from_iter(columns).unwrap(), 2);
        let file = format!("{name}.parquet");
        fs::rename(folder.path().join(name), folder.path().join(&file)).unwrap();
        let source = Source::find(folder.path(), &file).unwrap();
        let schema = source.schema(&BTreeMap::new()).unwrap();
        let found = bounded(&source, &schema, &by_city(), &[0; 32], RowsOptions::usual()).unwrap();
        assert_eq!(found.unit_counts(), [(vec![text("a")], 3)], "{name}");
    }
    // Files of one dataset agree on what ids are.
    fs::rename(folder.path().join("nanos.parquet"), folder.path().join("unsigned2.parquet"))
        .unwrap();
    let source = Source::find(folder.path(), "unsigned*.parquet").unwrap();
    assert!(source.schema(&BTreeMap::new()).is_err());
    let said = "cannot say which unit a row belongs to: floats";
    let folder = Folder::new();
    let text = policy("add-remove", 1, 1, Some(3));
    folder.write(
        "eke.toml",
        &text
            .replace("unit_column = \"rider\"", "unit_column = \"fare\"")
            .replace(", min = 0, max = 100", ""),
    );
    folder.write("trips.csv", &trips(&[5, 3, 2]));
    assert!(fails(&folder.engine(), "steward", COUNT, "1e-4").contains(said));
    assert!(fails(&folder.engine(), "ana", COUNT, "1e-4").contains("is not open for questions"));
    let places = folder.path().join("places.parquet");
    let degrees: ArrayRef = Arc::new(Float64Array::from(vec![4.0]));
    let columns = ["who", "lon", "lat"].map(|name| (name, Arc::clone(&degrees)));
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer =
        ArrowWriter::try_new(File::create(&places).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let columns = PlaceColumns { id: Some("who".into()), ..PlaceColumns::default() };
    assert!(PlaceFile::open(&places, &columns).unwrap_err().to_string().contains(said));
}

/// A Parquet file with cells that a reader would give up at: a text that is no text, a decimal that
/// is too long, and a time that is far away.
fn write_cells(folder: &files::Folder) {
    let schema = "message schema {
        OPTIONAL INT64 who;
        OPTIONAL BYTE_ARRAY city (UTF8);
        OPTIONAL BYTE_ARRAY note;
        OPTIONAL BYTE_ARRAY fare (DECIMAL(20, 1));
        OPTIONAL INT96 at;
    }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let options = WriterProperties::builder().set_dictionary_enabled(false).build();
    let file = File::create(folder.path().join("cells.parquet")).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(options)).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let bytes = |cells: [&[u8]; 3]| cells.map(|cell| ByteArray::from(cell.to_vec())).to_vec();
    let all = [1i16; 3];
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<Int64Type>().write_batch(&[1, 2, 3], Some(&all), None).unwrap();
    column.close().unwrap();
    for cells in [
        bytes([b"Delft", b"Caf\xe9\xff, which is no text at all", b"Leiden"]),
        bytes([b"x", b"y", b"z"]),
        bytes([&[100], &[7; 40], &[0xff]]),
    ] {
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&cells, Some(&all), None).unwrap();
        column.close().unwrap();
    }
    let mut column = group.next_column().unwrap().unwrap();
    let day = |day: u32| Int96::from(vec![0, 0, day]);
    // The last one is in the year 3065, of which there are no nanoseconds in 64 bits.
    let days = [day(2_440_588), day(u32::MAX / 2), day(2_840_588)];
    column.typed::<Int96Type>().write_batch(&days, Some(&all), None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
}

/// A damaged cell is NULL, and takes nothing else with it.
#[test]
fn a_cell_that_cannot_be_read_is_null_and_the_rest_is_there() {
    let folder = files::Folder::new();
    write_cells(&folder);
    let source = Source::find(folder.path(), "cells.parquet").unwrap();
    let schema = source.schema(&BTreeMap::new()).unwrap();
    let types: Vec<Option<Type>> = schema.iter().map(|(_, kind)| *kind).collect();
    let expected =
        [Some(Type::Int), Some(Type::Text), None, Some(Type::Float), Some(Type::Timestamp)];
    assert_eq!(types, expected);
    let found = |name: &str, kind| {
        let keys = vec![Key { expr: column(name), kind, public: None }];
        let plan = Plan { keys, sums: by_city().sums[..1].to_vec(), ..by_city() };
        let found = bounded(&source, &schema, &plan, &[0; 32], RowsOptions::usual());
        let found = found.unwrap_or_else(|error| panic!("{name}: {}", error.detail()));
        found.unit_counts().into_iter().map(|(mut keys, _)| keys.remove(0)).collect::<Vec<_>>()
    };
    assert_eq!(found("city", Type::Text), [Value::Null, text("Delft"), text("Leiden")]);
    assert_eq!(found("fare", Type::Float), [Value::Null, Value::Float(-0.1), Value::Float(10.0)]);
    let times = found("at", Type::Timestamp);
    for expected in [0, 400_000 * 86_400_000_000] {
        assert!(times.contains(&Value::Timestamp(expected)), "{times:?}");
    }
}

/// Times that are beyond what microseconds reach are NULL, whatever they are stored in.
#[test]
fn a_time_beyond_all_microseconds_is_null() {
    let folder = files::Folder::new();
    let times: [(&str, ArrayRef); 2] = [
        ("seconds", Arc::new(TimestampSecondArray::from(vec![0, 1_i64 << 60, 86_400]))),
        ("millis", Arc::new(TimestampMillisecondArray::from(vec![0, i64::MAX, 86_400_000]))),
    ];
    for (name, at) in times {
        let who: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
        let batch = RecordBatch::try_from_iter([("who", who), ("at", at)]).unwrap();
        let schema =
            [("who".to_owned(), Some(Type::Int)), ("at".to_owned(), Some(Type::Timestamp))];
        let keys = vec![Key { expr: column("at"), kind: Type::Timestamp, public: None }];
        let plan = Plan { keys, sums: by_city().sums[..1].to_vec(), ..by_city() };
        let expected = [Value::Null, Value::Timestamp(0), Value::Timestamp(86_400_000_000)]
            .map(|v| (vec![v], 1));
        let memory = bounded_in_memory(
            vec![vec![batch.clone()]],
            &schema,
            &plan,
            &[0; 32],
            RowsOptions::usual(),
        );
        assert_eq!(memory.unwrap().unit_counts(), expected, "{name}");
        if name == "millis" {
            write_parquet(&folder, "times.parquet", &batch, 1);
            let source = Source::find(folder.path(), "times.parquet").unwrap();
            let file = bounded(&source, &schema, &plan, &[0; 32], RowsOptions::usual());
            assert_eq!(file.unwrap().unit_counts(), expected, "{name}");
        }
    }
}

/// More values than a dictionary's numbers reach are values all the same.
#[test]
fn a_dictionary_that_is_too_small_for_its_column_fails_nothing() {
    let folder = files::Folder::new();
    let batch = |from: i64| {
        let who: ArrayRef = Arc::new(Int64Array::from_iter_values(from..from + 100));
        let numbers = Int8Array::from_iter_values(0..100);
        let values = Arc::new(Int64Array::from_iter_values(from..from + 100));
        let zone: ArrayRef = Arc::new(DictionaryArray::<Int8Type>::new(numbers, values));
        RecordBatch::try_from_iter([("who", who), ("zone", zone)]).unwrap()
    };
    let file = File::create(folder.path().join("rows.parquet")).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch(0).schema(), None).unwrap();
    for from in [0, 100, 200] {
        writer.write(&batch(from)).unwrap();
    }
    writer.close().unwrap();
    let source = Source::find(folder.path(), "rows.parquet").unwrap();
    let schema = source.schema(&BTreeMap::new()).unwrap();
    let keys = vec![Key { expr: column("zone"), kind: Type::Int, public: None }];
    let plan = Plan { keys, sums: by_city().sums[..1].to_vec(), ..by_city() };
    let found = bounded(&source, &schema, &plan, &[0; 32], RowsOptions::usual());
    assert_eq!(found.unwrap_or_else(|error| panic!("{}", error.detail())).unit_counts().len(), 300);
}

/// A file that is cut short, or says that it goes on beyond its end, is refused before anything is
/// charged.
#[test]
fn a_parquet_file_that_cannot_be_whole_is_refused_at_once() {
    let folder = files::Folder::new();
    write_cells(&folder);
    let whole = fs::read(folder.path().join("cells.parquet")).unwrap();
    // The footer as it is, and less before it.
    let footer = u32::from_le_bytes(*whole[whole.len() - 8..].first_chunk().unwrap()) as usize + 8;
    let cut = [&whole[..4], &whole[whole.len() - footer..]].concat();
    folder.write("cut.parquet", &cut);
    let error = Source::find(folder.path(), "cut.parquet").unwrap().schema(&BTreeMap::new());
    assert_eq!(
        error.unwrap_err().to_string(),
        "`cut.parquet` is not a Parquet file, or it is damaged"
    );
}

/// A header is one line, and holds nothing but names.
#[test]
fn cells_never_become_names_of_columns() {
    let folder = files::Folder::new();
    folder.write("old.csv", "rider,city\rada,Delft\rbob,Leiden\r");
    let source = Source::find(folder.path(), "old.csv").unwrap();
    let names = |source: &Source| {
        let schema = source.schema(&BTreeMap::new()).unwrap();
        schema.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
    };
    assert_eq!(names(&source), ["rider", "city"]);
    for name in ["ri\u{b}der", "ri\u{1b}[31mder", "ri\0der", "ri\u{202e}der", "\u{85}"] {
        folder.write("control.csv", format!("{name},city\nada,Delft\n"));
        let said = Source::find(folder.path(), "control.csv").unwrap().schema(&BTreeMap::new());
        let said = said.unwrap_err().to_string();
        assert!(said.contains("control characters") && !said.contains("der"), "{said}");
        let id: ArrayRef = Arc::new(Int64Array::from(vec![1]));
        write_parquet(&folder, "c.parquet", &RecordBatch::try_from_iter([(name, id)]).unwrap(), 1);
        let said = Source::find(folder.path(), "c.parquet").unwrap().schema(&BTreeMap::new());
        assert!(said.unwrap_err().to_string().contains("control characters"));
    }
}

/// A pipe is looked at and not opened: nobody may ever write to it.
#[cfg(unix)]
#[test]
fn what_is_no_ordinary_file_is_not_opened() {
    let folder = Folder::new();
    let pipe = |name: &str| {
        let path = folder.path().join(name);
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        path
    };
    for name in ["trips.csv", "trips.csv.gz", "trips.parquet", "places.geojson", "eke.toml"] {
        pipe(name);
    }
    let said = "it is not an ordinary file";
    for name in ["trips.csv", "trips.csv.gz", "trips.parquet"] {
        let source = Source::find(folder.path(), name).unwrap();
        assert!(source.schema(&BTreeMap::new()).unwrap_err().to_string().contains(said), "{name}");
        assert!(source.fingerprint().unwrap_err().to_string().contains(said), "{name}");
        let places = PlaceFile::open(&folder.path().join(name), &PlaceColumns::default());
        assert!(places.unwrap_err().to_string().contains(said), "{name}");
    }
    let places = PlaceFile::open(&folder.path().join("places.geojson"), &PlaceColumns::default());
    assert!(places.unwrap_err().to_string().contains(said));
    let error = Engine::open(&folder.path().join("eke.toml")).err().unwrap();
    assert!(error.to_string().contains(said), "{error}");
    // In a folder, and by a pattern, it is passed over.
    for source in ["", "*.csv"] {
        assert!(Source::find(folder.path(), source).is_err(), "{source}");
    }
}
