//! Long texts: where they end, what stays exact, and that no row's text decides about other rows.

use std::sync::Arc;

use eke_budget::Adjacency;
use eke_engine::testing::arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use eke_engine::testing::arrow_schema::{DataType, Field, Schema};
use eke_engine::testing::{Bounded, RowsOptions, Source, bounded, bounded_in_memory};
use eke_sql::{Column, MAX_TEXT, Plan, Protection, Table, Type, Value, plan};

use crate::rows::files::{Folder, text, write_parquet};
use crate::rows::listed::listed;
use crate::trips;

const HASH_KEY: [u8; 32] = [7; 32];

/// Who, a city, a note and a number.
type Row = (String, String, String, i64);

fn table() -> Table {
    let column = |name: &str, kind| Column {
        name: name.to_owned(),
        kind: Some(kind),
        bounds: None,
        values: None,
    };
    Table {
        name: "trips".to_owned(),
        columns: vec![
            column("who", Type::Text),
            column("city", Type::Text),
            column("note", Type::Text),
            Column { bounds: Some((0.0, 100.0)), ..column("fare", Type::Int) },
        ],
        protection: Protection::Private {
            unit: "person".to_owned(),
            unit_column: "who".to_owned(),
            adjacency: Adjacency::AddRemove,
            max_groups: 3,
            max_rows: 2,
            max_values: None,
            max_rows_in_all: None,
        },
    }
}

fn asked(sql: &str) -> Plan {
    plan(sql, &[table()]).unwrap_or_else(|refusal| panic!("{sql}: {refusal}")).plan
}

fn batch(rows: &[Row]) -> RecordBatch {
    let texts = |field: fn(&Row) -> &String| -> ArrayRef {
        Arc::new(rows.iter().map(|row| Some(field(row))).collect::<StringArray>())
    };
    let fare: ArrayRef = Arc::new(rows.iter().map(|row| Some(row.3)).collect::<Int64Array>());
    let columns = vec![texts(|row| &row.0), texts(|row| &row.1), texts(|row| &row.2), fare];
    let fields = ["who", "city", "note"].map(|name| Field::new(name, DataType::Utf8, true));
    let fields = [fields.to_vec(), vec![Field::new("fare", DataType::Int64, true)]].concat();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

fn run(rows: &[Row], plan: &Plan, batch_rows: usize) -> Bounded {
    let schema: Vec<_> =
        table().columns.into_iter().map(|column| (column.name, column.kind)).collect();
    let options = RowsOptions { batch_rows, ..RowsOptions::usual() };
    let run = |read: &dyn Fn(RecordBatch) -> RecordBatch| {
        let pieces = rows.chunks(batch_rows).map(|rows| vec![read(batch(rows))]).collect();
        bounded_in_memory(pieces, &schema, plan, &HASH_KEY, options).unwrap()
    };
    let (plain, listed) = (run(&|batch| batch), run(&|batch| listed(&batch)));
    assert_eq!(listed.unit_counts(), plain.unit_counts(), "with lists");
    plain
}

fn row(who: &str, city: &str, note: &str) -> Row {
    (who.to_owned(), city.to_owned(), note.to_owned(), 1)
}

#[test]
fn units_are_told_apart_by_all_of_their_names() {
    let plan = asked("SELECT COUNT(DISTINCT who), COUNT(*) FROM trips");
    // Ends of a character before, at and after the most that texts have.
    for start in ["a".repeat(MAX_TEXT), "a".repeat(MAX_TEXT - 1), "é".repeat(2_500), "b".repeat(9)]
    {
        let names =
            [start.clone(), format!("{start}é"), format!("{start}éx"), format!("{start}éy")];
        // Each has more rows than count, so that two who are taken for one would show in both
        // numbers.
        let rows: Vec<Row> = names
            .iter()
            .flat_map(|name| vec![row(name, "Delft", ""), row(name, "", "x"), row(name, "", "")])
            .collect();
        for rows_at_a_time in [1, 5, 100] {
            let bounded = run(&rows, &plan, rows_at_a_time);
            let one = plan.sums.iter().map(eke_sql::Sum::one).collect::<Vec<_>>();
            let found = bounded.values(&[vec![]]);
            assert_eq!(found, [vec![8 * one[0]], vec![4 * one[1]]], "{}", start.len());
        }
    }
}

/// The digest of a long name is taken once, however the name comes: taken again for some of its
/// rows, it makes two units of one.
#[test]
fn a_unit_with_a_long_name_is_one_whether_its_rows_are_listed_or_not() {
    let long = "a".repeat(MAX_TEXT + 500);
    let rows = [row(&long, "Delft", ""), row("b", "Delft", "")];
    let pieces = vec![vec![batch(&rows)], vec![listed(&batch(&rows))], vec![batch(&rows)]];
    let schema: Vec<_> =
        table().columns.into_iter().map(|column| (column.name, column.kind)).collect();
    for sql in [
        "SELECT COUNT(DISTINCT who) FROM trips",
        "SELECT COUNT(*) FROM (SELECT who, COUNT(*) AS n FROM trips GROUP BY who) AS people",
    ] {
        let plan = asked(sql);
        let options = RowsOptions::usual();
        let found = bounded_in_memory(pieces.clone(), &schema, &plan, &HASH_KEY, options).unwrap();
        let one = plan.sums[0].one();
        assert_eq!(found.values(&[vec![]]), [vec![2 * one]], "{sql}");
    }
}

/// The same of a CSV file, whose cells are cut while they are read.
#[test]
fn units_of_a_csv_file_are_told_apart_by_all_of_their_names() {
    let folder = Folder::new();
    let start = "a".repeat(MAX_TEXT);
    let names = [start.clone(), format!("{start}é"), format!("{start}éx"), format!("{start}éy")];
    let rows: String = names.iter().map(|name| format!("{name},Delft\n")).collect();
    folder.write("names.csv", format!("who,city\n{rows}"));
    let source = Source::find(folder.path(), "names.csv").unwrap();
    let schema = source.schema(&std::collections::BTreeMap::new()).unwrap();
    let plan = asked("SELECT city, COUNT(*) FROM trips GROUP BY city");
    let found = bounded(&source, &schema, &plan, &HASH_KEY, RowsOptions::usual()).unwrap();
    assert_eq!(found.unit_counts(), [(vec![text("Delft")], 4)]);
}

#[test]
fn the_name_of_a_unit_that_is_read_as_a_text_ends_where_texts_end() {
    let long = "a".repeat(MAX_TEXT + 500);
    let rows = [row(&long, "Delft", ""), row("a", "Delft", "")];
    let plan = asked("SELECT COUNT(*) FROM trips GROUP BY length(who)");
    let mut found: Vec<Value> =
        run(&rows, &plan, 8).unit_counts().into_iter().map(|(key, _)| key[0].clone()).collect();
    found.sort();
    assert_eq!(found, [Value::Int(1), Value::Int(MAX_TEXT as i64)]);
}

#[test]
fn keys_and_cells_end_where_texts_end_row_by_row() {
    let folder = Folder::new();
    let most = "k".repeat(MAX_TEXT);
    let rows = [
        row("a", &most, ""),
        row("b", &format!("{most}1"), ""),
        row("c", &format!("{most}2"), ""),
        row("d", &"é".repeat(4_000), "long"),
        row("e", "Delft", "short"),
    ];
    folder.write(
        "rows.csv",
        rows.iter().fold("who,city,note,fare\n".to_owned(), |csv, row| {
            format!("{csv}{},{},{},{}\n", row.0, row.1, row.2, row.3)
        }),
    );
    write_parquet(&folder, "rows.parquet", &batch(&rows), 2);
    let plan = asked("SELECT COUNT(*) FROM trips GROUP BY city");
    let expected = vec![
        (vec![text("Delft")], 1),
        (vec![text(&most)], 3),
        (vec![text(&"é".repeat(MAX_TEXT / 2))], 1),
    ];
    assert_eq!(run(&rows, &plan, 3).unit_counts(), expected);
    for name in ["rows.csv", "rows.parquet"] {
        let source = Source::find(folder.path(), name).unwrap();
        let schema = source.schema(&[("fare".to_owned(), Type::Int)].into()).unwrap();
        let found = bounded(&source, &schema, &plan, &HASH_KEY, RowsOptions::usual()).unwrap();
        assert_eq!(found.unit_counts(), expected, "{name}");
    }
    // What is made of them too, and what is made of that.
    let plan = asked("SELECT COUNT(*) FROM trips GROUP BY upper(city || city) || city");
    let lengths: Vec<usize> = run(&rows, &plan, 3)
        .unit_counts()
        .iter()
        .map(|(key, _)| if let Value::Text(text) = &key[0] { text.len() } else { 0 })
        .collect();
    assert_eq!(lengths, [15, MAX_TEXT, MAX_TEXT]);
}

/// The attack that emptied every answer: a text of hundreds of megabytes, for one person's rows
/// alone.
#[test]
fn a_text_that_one_unit_makes_long_changes_its_own_groups_alone() {
    let chain = vec!["p"; 25].join(" || ");
    let sql = format!(
        "WITH a AS (SELECT *, '0123456789abcdef' || '0123456789abcdef' AS p FROM trips),
         b AS (SELECT who, city, note, {chain} AS p FROM a),
         c AS (SELECT who, city, note, {chain} AS p FROM b),
         d AS (SELECT who, city, note, {chain} AS p FROM c)
         SELECT CASE WHEN who = 'alice' THEN p || note || p ELSE city END AS k, COUNT(*) FROM d GROUP BY k"
    );
    let plan = asked(&sql);
    let without: Vec<Row> =
        (0..200).map(|i| row(&format!("u{i}"), ["Delft", "Gouda"][i % 2], "")).collect();
    let mut with = without.clone();
    with.extend((0..600).map(|i| row("alice", "Delft", &i.to_string().repeat(900))));
    let groups = [vec![text("Delft")], vec![text("Gouda")]];
    for rows_at_a_time in [50, 8_192] {
        let (one, other) =
            (run(&with, &plan, rows_at_a_time), run(&without, &plan, rows_at_a_time));
        assert_eq!(one.values(&groups), other.values(&groups));
        assert_eq!(other.unit_counts().len(), 2);
        // All that is hers begins alike, and is one group.
        assert_eq!(one.unit_counts().len(), 3);
    }
}

/// How many rows are computed on at a time changes nothing, also where few have room.
#[test]
fn long_texts_are_worked_on_a_few_rows_at_a_time() {
    let rows: Vec<Row> = (0..700)
        .map(|i| row(&format!("u{}", i % 90), &"c".repeat(i % 7), &"é".repeat(2_048 + i % 3)))
        .collect();
    let long = (0..40).map(|i| format!("WHEN fare = {i} THEN note || city || '{i}'"));
    let long = long.collect::<Vec<_>>().join(" ");
    let plan = asked(&format!(
        "SELECT city, COUNT(CASE {long} ELSE note END) FROM trips WHERE length(city) < 5 GROUP BY city"
    ));
    let all: Vec<_> = (0..7).map(|i| vec![text(&"c".repeat(i))]).collect();
    let whole = run(&rows, &plan, 8_192).values(&all);
    assert_eq!(run(&rows, &plan, 1).values(&all), whole);
    assert_eq!(run(&rows, &plan, 64).values(&all), whole);
    assert!(whole[0][..5].iter().all(|sum| *sum > 0) && whole[0][5..] == [0, 0]);
}

#[test]
fn days_are_keys_as_iso_writes_them_and_the_unit_is_no_key() {
    let folder = trips::Folder::new();
    let policy = trips::policy("add-remove", 1, 1, None);
    let days =
        "[dataset.trips.columns]\nday = { type = \"date\", values = [2025-03-29, 2025-03-30] }";
    folder.write("eke.toml", &policy.replace("[dataset.trips.columns]", days));
    folder.write("trips.csv", "rider,zone,fare,day\na,1,5,2025-03-29\nb,1,5,2025-03-30\nc,1,5,\n");
    let engine = folder.engine();
    let sql = "SELECT day, date_trunc('hour', day) AS h, COUNT(*) FROM trips GROUP BY day, h";
    let answer = engine.ask(&trips::question("ana", sql, trips::price("0.001")), &()).unwrap();
    let found: Vec<_> = answer.rows.iter().map(|row| row.keys.clone()).collect();
    // Every combination of the two, and no key that is NULL.
    let expected = [
        ["2025-03-29", "2025-03-29T00:00:00"],
        ["2025-03-29", "2025-03-30T00:00:00"],
        ["2025-03-30", "2025-03-29T00:00:00"],
        ["2025-03-30", "2025-03-30T00:00:00"],
    ];
    assert_eq!(found, expected);
    let spent = trips::spent(&engine);
    let sql = "SELECT rider, COUNT(*) FROM trips GROUP BY rider";
    for goal in [trips::price("0.001"), trips::relative(0.1)] {
        let error = engine.ask(&trips::question("ana", sql, goal), &()).unwrap_err().to_string();
        assert!(error.contains("makes a group of every unit"), "{error}");
    }
    assert!((trips::spent(&engine) - spent).abs() < 1e-15);
}
