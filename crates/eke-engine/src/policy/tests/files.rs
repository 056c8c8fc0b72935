//! A policy beside the columns of the file that it is about.

use eke_budget::Adjacency;
use eke_sql::{Protection, Type, Value};

use super::{CITY, city, parse};

/// The columns of `trips.parquet`.
pub(super) fn trips() -> Vec<(String, Option<Type>)> {
    [
        ("rider_id", Some(Type::Int)),
        ("fare", Some(Type::Float)),
        ("city", Some(Type::Text)),
        ("photo", None),
    ]
    .map(|(name, kind)| (name.to_owned(), kind))
    .to_vec()
}

#[test]
fn a_dataset_is_the_table_that_its_policy_and_its_file_say() {
    let table = city().datasets["trips"].table(&trips()).unwrap();
    assert_eq!(table.name, "trips");
    let private = Protection::Private {
        unit: "rider".into(),
        unit_column: "rider_id".into(),
        adjacency: Adjacency::AddRemove,
        max_groups: 3,
        max_rows: 20,
        max_values: None,
        max_rows_in_all: None,
    };
    assert_eq!(table.protection, private);
    let names: Vec<_> = table.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["rider_id", "fare", "city", "photo"]);
    assert_eq!(table.columns[1].bounds, Some((0.0, 200.0)));
    assert_eq!(table.columns[2].values.as_ref().map(Vec::len), Some(2));
    assert_eq!((table.columns[3].kind, &table.columns[3].values), (None, &None));
    assert_eq!(city().datasets["zones"].table(&[]).unwrap().protection, Protection::Public);
}

#[test]
fn one_unit_touches_one_group_unless_the_policy_says_more() {
    let policy = parse(&CITY.replace("max_groups = 3", "")).unwrap();
    let table = policy.datasets["trips"].table(&trips()).unwrap();
    assert!(matches!(table.protection, Protection::Private { max_groups: 1, max_rows: 20, .. }));
}

#[test]
fn listed_values_become_the_type_of_the_file() {
    let midnight = Value::Timestamp(20_454 * 86_400_000_000);
    let cases = [
        ("[1, 2]", Type::Float, Value::Float(1.0)),
        ("[1, 2.5]", Type::Float, Value::Float(1.0)),
        ("[2026-01-01]", Type::Date, Value::Date(20_454)),
        ("[2026-01-01]", Type::Timestamp, midnight.clone()),
        ("[2026-01-01, 2026-01-01T00:00:01]", Type::Timestamp, midnight),
        ("[true]", Type::Bool, Value::Bool(true)),
        ("[\"\"]", Type::Text, Value::Text(String::new())),
        ("\"17..90\"", Type::Int, Value::Int(17)),
        ("\" -1 .. 3\"", Type::Float, Value::Float(-1.0)),
        ("\"2026-01-01..2026-12-31\"", Type::Date, Value::Date(20_454)),
    ];
    for (values, kind, first) in cases {
        let policy = parse(&CITY.replace("[\"Delft\", \"Leiden\"]", values)).unwrap();
        let mut schema = trips();
        schema[2].1 = Some(kind);
        let table = policy.datasets["trips"].table(&schema).unwrap();
        assert_eq!(table.columns[2].values.as_ref().unwrap()[0], first, "{values}");
    }
}

/// A piece of the city's policy, what is written in its place, a column of the file and its type,
/// and what eke says to that.
type Mismatch = (&'static str, &'static str, &'static str, Option<Type>, &'static str);
const CITIES: &str = "[\"Delft\", \"Leiden\"]";
#[rustfmt::skip]
const MISMATCHES: &[Mismatch] = &[
    ("rider_id", "driver", "city", Some(Type::Text),
        "eke.toml:9: `trips.parquet` has no unit column `driver`: its columns are `rider_id`, `fare`, `city` and `photo`"),
    ("rider_id", "RIDERID", "city", Some(Type::Text),
        "eke.toml:9: `trips.parquet` has no unit column `RIDERID`: did you mean `rider_id`?"),
    ("", "", "rider_id", None,
        "eke.toml:9: the unit column `rider_id` has a type that eke does not read: write it to the file as text or integers"),
    ("fare =", "fares =", "city", Some(Type::Text),
        "eke.toml:14: `trips.parquet` has no column `fares`: did you mean `fare`?"),
    ("fare =", "Fare =", "city", Some(Type::Text),
        "eke.toml:14: `trips.parquet` has no column `Fare`: did you mean `fare`?"),
    ("", "", "fare", Some(Type::Text),
        "eke.toml:14: `fare` is text in `trips.parquet`: leave out `min` and `max`, which are for numbers"),
    ("", "", "fare", Some(Type::Date),
        "eke.toml:14: `fare` is date in `trips.parquet`: leave out `min` and `max`, which are for numbers"),
    ("", "", "fare", None,
        "eke.toml:14: `fare` has a type in `trips.parquet` that eke does not read: leave it out here, or change it in the file"),
    ("min = 0,", "min = 0.5,", "fare", Some(Type::Int),
        "eke.toml:14: `fare` is int in `trips.parquet`: write its `min` and `max` as whole numbers"),
    ("max = 200", "max = 1e16", "fare", Some(Type::Int),
        "eke.toml:14: the bounds of `fare` are too large for integers to be exact: keep them within 9007199254740992"),
    ("min = 0,", "type = \"int\", min = 0,", "fare", Some(Type::Float),
        "eke.toml:14: `fare` is float in `trips.parquet`, not int: write type = \"float\", or leave `type` out"),
    ("", "", "city", Some(Type::Int),
        "eke.toml:15: `city` is int in `trips.parquet`, and `\"Delft\"` is not: write its `values` like [1, 2]"),
    (CITIES, "[1, 9007199254740993]", "city", Some(Type::Float),
        "eke.toml:15: `city` is float in `trips.parquet`, and `9007199254740993` is not: write its `values` like [1.0, 2.5]"),
    (CITIES, "[1.5]", "city", Some(Type::Int),
        "eke.toml:15: `city` is int in `trips.parquet`, and `1.5` is not: write its `values` like [1, 2]"),
    (CITIES, "[2026-01-01T00:00:00]", "city", Some(Type::Date),
        "eke.toml:15: `city` is date in `trips.parquet`, and a timestamp is not: write its `values` like [2026-01-31, 2026-02-28]"),
];

#[test]
fn a_file_that_is_not_as_the_policy_says_is_told_with_the_line_of_the_policy() {
    for (from, to, name, kind, expected) in MISMATCHES {
        let policy = parse(&CITY.replacen(from, to, 1)).unwrap();
        let mut schema = trips();
        schema.iter_mut().find(|(column, _)| column == name).unwrap().1 = *kind;
        let error = policy.datasets["trips"].table(&schema).unwrap_err();
        assert_eq!(error.to_string(), *expected);
    }
    let mut twice = trips();
    twice[1].0 = "city".into();
    assert_eq!(
        city().datasets["trips"].table(&twice).unwrap_err().to_string(),
        "eke.toml:6: `trips.parquet` has two columns named `city`: rename one of them in the file"
    );
}

#[test]
fn all_that_a_file_has_otherwise_is_told_at_once() {
    let text = CITY.replace("rider_id", "driver").replace("fare =", "fares =");
    let mut schema = trips();
    schema.iter_mut().find(|(column, _)| column == "city").unwrap().1 = Some(Type::Int);
    let error = parse(&text).unwrap().datasets["trips"].table(&schema).unwrap_err();
    let told = error.to_string();
    let lines: Vec<&str> = told.lines().map(|line| line.split(": ").next().unwrap()).collect();
    assert_eq!(lines, ["eke.toml:9", "eke.toml:14", "eke.toml:15"], "{told}");
}
