//! Files: which they are, what columns they have, and what is said when they cannot be used.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use eke_engine::testing::arrow_array::types::{Int32Type, Int64Type};
use eke_engine::testing::arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Date64Array, Decimal128Array,
    DictionaryArray, Float32Array, Int8Array, Int64Array, LargeStringArray, ListArray, RecordBatch,
    StringArray, TimestampNanosecondArray, UInt64Array,
};
use eke_engine::testing::{RowsOptions, Source, bounded};
use eke_sql::{Key, Plan, Type, Value};

use crate::rows::files::{Folder, by_city, text, write_parquet};
use crate::rows::random::column;

fn says(folder: &Folder, source: &str) -> String {
    match Source::find(folder.path(), source).and_then(|source| source.schema(&BTreeMap::new())) {
        Ok(schema) => panic!("{schema:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn what_is_wrong_with_files_is_said_in_a_sentence_that_names_them() {
    let folder = Folder::new();
    let one = |name: &str| {
        let array: ArrayRef = Arc::new(Int64Array::from(vec![1]));
        RecordBatch::try_from_iter([(name, array)]).unwrap()
    };
    for name in ["empty", "mixed", "differ", "types"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    folder.write("empty/readme.txt", "");
    folder.write("empty/.hidden.csv", "a\n1\n");
    folder.write("mixed/a.csv", "a\n1\n");
    write_parquet(&folder, "mixed/b.parquet", &one("a"), 10);
    folder.write("differ/a.csv", "a,b\n1,2\n");
    folder.write("differ/b.csv", "a,c\n1,2\n");
    write_parquet(&folder, "types/a.parquet", &one("a"), 10);
    let words: ArrayRef = Arc::new(StringArray::from(vec!["x"]));
    let words = RecordBatch::try_from_iter([("a", words)]).unwrap();
    write_parquet(&folder, "types/b.parquet", &words, 10);
    folder.write("text.parquet", "this is not Parquet at all");
    folder.write("short.parquet", "PAR1");
    let whole = fs::read(folder.path().join("types/a.parquet")).unwrap();
    let mut damaged = whole.clone();
    let footer = whole.len() - 60;
    damaged[footer..footer + 40].fill(0xee);
    folder.write("footer.parquet", &damaged);
    folder.write("twice.csv", "a,b,a\n1,2,3\n");
    folder.write("nothing.csv", "");
    folder.write("trips.xlsx", "");
    let cases = [
        (
            "none.parquet",
            "there is no file `none.parquet`: a source is a file, a folder or a pattern, as seen from the policy",
        ),
        ("none*.csv", "no file is like `none*.csv`"),
        ("a[", "`a[` is not a pattern of file names: invalid range pattern"),
        ("empty", "the folder `empty` has no .parquet, .csv or .csv.gz files"),
        (
            "mixed",
            "a dataset has files of one format, but `mixed/b.parquet` is Parquet and `mixed/a.csv` is CSV",
        ),
        (
            "differ",
            "`differ/a.csv` and `differ/b.csv` do not agree about the column `b`, as files of one dataset must",
        ),
        (
            "types/*",
            "`types/a.parquet` and `types/b.parquet` do not agree about the column `a`, as files of one dataset must",
        ),
        ("text.parquet", "`text.parquet` is not a Parquet file, or it is damaged"),
        ("short.parquet", "`short.parquet` is not a Parquet file, or it is damaged"),
        ("footer.parquet", "`footer.parquet` is not a Parquet file, or it is damaged"),
        ("twice.csv", "`twice.csv` has two columns with the name `a`"),
        (
            "nothing.csv",
            "`nothing.csv` has no header: the first line of a CSV file names its columns",
        ),
        (
            "trips.xlsx",
            "`trips.xlsx` is neither Parquet (.parquet) nor CSV (.csv, .csv.gz), by its name",
        ),
    ];
    for (source, expected) in cases {
        assert_eq!(says(&folder, source), expected);
    }
    let source = Source::find(folder.path(), "twice.csv").unwrap();
    fs::remove_file(folder.path().join("twice.csv")).unwrap();
    assert!(
        source.schema(&BTreeMap::new()).unwrap_err().to_string().starts_with("there is no file")
    );
    folder.write("one.csv", "a\n");
    let source = Source::find(folder.path(), "one.csv").unwrap();
    let declared = [("b".to_owned(), Type::Int)].into();
    let error = source.schema(&declared).unwrap_err();
    assert_eq!(error.to_string(), "`one.csv` has no column `b`");
}

#[test]
fn every_type_of_parquet_is_one_of_ours_or_none() {
    let folder = Folder::new();
    let list = ListArray::from_iter_primitive::<Int64Type, _, _>([Some(vec![Some(1)]), None]);
    let words: DictionaryArray<Int32Type> = vec!["x", "y"].into_iter().collect();
    let decimals = Decimal128Array::from(vec![150, -1]).with_precision_and_scale(10, 2).unwrap();
    let columns: Vec<(&str, ArrayRef, Option<Type>, Value)> = vec![
        ("tiny", Arc::new(Int8Array::from(vec![-1, 2])), Some(Type::Int), Value::Int(-1)),
        ("large", Arc::new(UInt64Array::from(vec![u64::MAX, 2])), Some(Type::Int), Value::Null),
        (
            "float",
            Arc::new(Float32Array::from(vec![-0.0, 2.0])),
            Some(Type::Float),
            Value::Float(0.0),
        ),
        ("decimal", Arc::new(decimals), Some(Type::Float), Value::Float(1.5)),
        ("word", Arc::new(words), Some(Type::Text), text("x")),
        ("long", Arc::new(LargeStringArray::from(vec!["é", ""])), Some(Type::Text), text("é")),
        (
            "bool",
            Arc::new(BooleanArray::from(vec![true, false])),
            Some(Type::Bool),
            Value::Bool(true),
        ),
        ("day", Arc::new(Date32Array::from(vec![-1, 2])), Some(Type::Date), Value::Date(-1)),
        (
            "millis",
            Arc::new(Date64Array::from(vec![-86_400_000, 2])),
            Some(Type::Date),
            Value::Date(-1),
        ),
        (
            "at",
            Arc::new(TimestampNanosecondArray::from(vec![-1, 2]).with_timezone("+02:00")),
            Some(Type::Timestamp),
            Value::Timestamp(-1),
        ),
        ("bytes", Arc::new(BinaryArray::from(vec![b"x".as_slice(), b"y"])), None, Value::Null),
        ("list", Arc::new(list), None, Value::Null),
    ];
    let arrays = columns.iter().map(|(name, array, ..)| (*name, Arc::clone(array), true));
    let batch = RecordBatch::try_from_iter_with_nullable(arrays).unwrap();
    write_parquet(&folder, "all.parquet", &batch.slice(0, 1), 10);
    let source = Source::find(folder.path(), "all.parquet").unwrap();
    let schema = source.schema(&BTreeMap::new()).unwrap();
    let expected: Vec<_> =
        columns.iter().map(|(name, _, kind, _)| ((*name).to_owned(), *kind)).collect();
    assert_eq!(schema, expected);
    for (name, _, kind, value) in &columns {
        let Some(kind) = *kind else { continue };
        let keys = vec![Key { expr: column(name), kind, public: None }];
        let sums = by_city().sums[..1].to_vec();
        let plan = Plan { unit_column: "tiny".to_owned(), keys, sums, ..by_city() };
        let bounded = bounded(&source, &schema, &plan, &[0; 32], RowsOptions::usual())
            .unwrap_or_else(|error| panic!("{name}: {}", error.detail()));
        assert_eq!(bounded.unit_counts(), [(vec![value.clone()], 1)], "{name}");
    }
}

#[test]
fn types_of_csv_are_guessed_from_what_cells_look_like() {
    let folder = Folder::new();
    folder.write(
        "rows.csv",
        "id,code,price,when,day,ok,name,nothing,flag\n\
         1,0123,1.5,2024-01-01 10:00,2024-01-01,true,Ann,,1\n\
         2,4567,,2024-01-01T11:00:00Z,2024-02-29,F,Bob,,0\n\
         -3,8,7,,,,\n",
    );
    let source = Source::find(folder.path(), "rows.csv").unwrap();
    let expected = [
        ("id", Type::Int),
        ("code", Type::Text),
        ("price", Type::Float),
        ("when", Type::Timestamp),
        ("day", Type::Date),
        ("ok", Type::Bool),
        ("name", Type::Text),
        ("nothing", Type::Text),
        ("flag", Type::Int),
    ];
    let expected = expected.map(|(name, kind)| (name.to_owned(), kind));
    assert_eq!(source.guess_types().unwrap(), expected);
    // Without a word of the policy all are text.
    let schema = source.schema(&BTreeMap::new()).unwrap();
    assert!(schema.iter().all(|(_, kind)| *kind == Some(Type::Text)));
}

#[test]
fn a_fingerprint_tells_content_names_and_lengths_apart() {
    let folder = Folder::new();
    folder.write("a.csv", "x\n1\n");
    folder.write("b.csv", "x\n2\n");
    let source = Source::find(folder.path(), "*.csv").unwrap();
    let first = source.fingerprint().unwrap();
    assert_eq!(source.fingerprint_since(&first).unwrap(), first);
    let stored = serde_json::to_string(&first).unwrap();
    assert_eq!(serde_json::from_str::<eke_engine::testing::Fingerprint>(&stored).unwrap(), first);
    folder.write("b.csv", "x\n3\n");
    let second = source.fingerprint_since(&first).unwrap();
    assert_ne!(second.digest, first.digest);
    // What moves from one file to the next changes it too.
    folder.write("a.csv", "x\n1\nx\n");
    folder.write("b.csv", "3\n");
    assert_ne!(source.fingerprint().unwrap().digest, second.digest);
    folder.write("a.csv", "x\n1\n");
    folder.write("b.csv", "x\n2\n");
    // Times are not part of it.
    assert_eq!(source.fingerprint_since(&first).unwrap().digest, first.digest);
    fs::rename(folder.path().join("b.csv"), folder.path().join("c.csv")).unwrap();
    assert!(source.fingerprint().unwrap_err().to_string().starts_with("there is no file `b.csv`"));
    let renamed = Source::find(folder.path(), "*.csv").unwrap();
    assert_ne!(renamed.fingerprint().unwrap().digest, first.digest);
}
