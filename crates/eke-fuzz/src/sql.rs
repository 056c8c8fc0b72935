//! Questions in SQL.

use std::sync::LazyLock;

use eke_budget::Adjacency;
use eke_sql::{Column, Protection, Query, Table, Type, Value, plan};

/// The longest plan that is expected of a question of at most 64 KiB.
const LONGEST_PLAN: usize = 16 << 20;
/// The longest sentence that a refusal is expected to be.
const LONGEST_SENTENCE: usize = 4096;

/// `trips`, which is riders', with a column of every type, and `zones`, which is public.
static TABLES: LazyLock<[Table; 2]> = LazyLock::new(|| {
    let column = |name: &str, kind, bounds, values: &[&str]| Column {
        name: name.to_owned(),
        kind: Some(kind),
        bounds,
        values: (!values.is_empty())
            .then(|| values.iter().map(|&value| Value::Text(value.to_owned())).collect()),
    };
    let trips = Table {
        name: "trips".to_owned(),
        columns: vec![
            column("rider_id", Type::Int, None, &[]),
            column("city", Type::Text, None, &["Delft", "Leiden"]),
            column("zone", Type::Text, None, &[]),
            column("fare", Type::Float, Some((0.0, 200.0)), &[]),
            column("stops", Type::Int, Some((0.0, 12.0)), &[]),
            column("paid", Type::Bool, None, &[]),
            column("day", Type::Date, None, &[]),
            column("started", Type::Timestamp, None, &[]),
        ],
        protection: Protection::Private {
            unit: "rider".to_owned(),
            unit_column: "rider_id".to_owned(),
            adjacency: Adjacency::AddRemove,
            max_groups: 3,
            max_rows: 20,
            max_values: None,
            max_rows_in_all: None,
        },
    };
    let zones = Table {
        name: "zones".to_owned(),
        columns: vec![column("zone", Type::Text, None, &[])],
        protection: Protection::Public,
    };
    [trips, zones]
});

/// A question has a plan, always the same, which outlives the program; or it is refused in a
/// sentence.
pub(crate) fn read(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match plan(text, &*TABLES) {
        Ok(query) => {
            let written = crate::rewritten::<Query>(&query);
            assert!(written.len() <= LONGEST_PLAN, "a plan of {} bytes", written.len());
            let again = plan(text, &*TABLES).expect("a question that was planned is planned again");
            assert_eq!(again, query, "a question has two plans");
        }
        Err(refusal) => {
            let sentence = refusal.to_string();
            assert!(!sentence.is_empty(), "a refusal says nothing");
            assert!(sentence.len() <= LONGEST_SENTENCE, "a sentence of {} bytes", sentence.len());
        }
    }
}
