//! What the policy says reaches the plan, and policies that cannot hold are refused.

use eke_budget::Adjacency;
use eke_sql::{Column, MAX_TEXT, Protection, Query, SqlError, Summand, Table, Type, Value, plan};

use crate::tables::{column, text};

fn table(columns: Vec<Column>, max_groups: u32, max_rows: u32) -> Table {
    let unit = column("who", Type::Int);
    Table {
        name: "t".to_owned(),
        columns: std::iter::once(unit).chain(columns).collect(),
        protection: Protection::Private {
            unit: "person".to_owned(),
            unit_column: "who".to_owned(),
            adjacency: Adjacency::Replace,
            max_groups,
            max_rows,
            max_values: None,
            max_rows_in_all: None,
        },
    }
}

fn ask(sql: &str, columns: Vec<Column>, max_groups: u32, max_rows: u32) -> Result<Query, SqlError> {
    plan(sql, &[table(columns, max_groups, max_rows)])
}

fn bounded(low: f64, high: f64) -> Vec<Column> {
    vec![Column { bounds: Some((low, high)), ..column("x", Type::Float) }]
}

fn listed(kind: Type, values: &[Value]) -> Vec<Column> {
    vec![Column { values: Some(values.to_vec()), ..column("x", kind) }]
}

#[test]
fn limits_on_a_units_contribution_reach_the_plan() {
    let plan = |sql: &str, max_groups| ask(sql, bounded(0.0, 1.0), max_groups, 7).unwrap().plan;
    let alone = plan("SELECT COUNT(*) FROM t", 5);
    assert_eq!((alone.max_groups, alone.max_rows, alone.adjacency), (1, 7, Adjacency::Replace));
    assert_eq!(plan("SELECT COUNT(*) FROM t GROUP BY x", 5).max_groups, 5);
    assert_eq!(plan("SELECT COUNT(*) FROM t GROUP BY x > 1", 5).max_groups, 2);
    assert_eq!(plan("SELECT COUNT(*) FROM t GROUP BY x > 1", 1).max_groups, 1);
    // One key that is not public leaves the number of groups open.
    assert_eq!(plan("SELECT COUNT(*) FROM t GROUP BY x > 1, who % 7", 5).max_groups, 5);
}

/// What one unit counts for follows from the form of the question where it is less than the policy
/// says, and bounding enforces it; a join may make more rows of one.
#[test]
fn rows_of_a_unit_that_are_brought_together_count_once() {
    let zones = Table {
        name: "zones".to_owned(),
        columns: listed(Type::Float, &[Value::Float(1.0), Value::Float(2.0)]),
        protection: Protection::Public,
    };
    let tables = [table(bounded(0.0, 1.0), 5, 7), zones];
    let limits = |sql: &str| {
        let plan = plan(sql, &tables).unwrap_or_else(|no| panic!("{sql}: {no}")).plan;
        (plan.max_groups, plan.max_rows)
    };
    let one = "(SELECT who, SUM(x) AS s FROM t GROUP BY who) AS p";
    let some = "(SELECT who, x, x > 0.5 AS much, COUNT(*) AS n FROM t GROUP BY who, x, much) AS p";
    let few = "(SELECT who, x > 0.5 AS much, COUNT(*) AS n FROM t GROUP BY who, much) AS p";
    for (sql, expected) in [
        (format!("SELECT COUNT(*) FROM {one}"), (1, 1)),
        (format!("SELECT COUNT(*) FROM {one} GROUP BY s"), (1, 1)),
        (format!("SELECT COUNT(*) FROM {one} WHERE s > 1 GROUP BY s > 3"), (1, 1)),
        (format!("SELECT COUNT(*) FROM {some} GROUP BY x, much"), (5, 1)),
        (format!("SELECT COUNT(*) FROM {some} GROUP BY x"), (5, 3)),
        (format!("SELECT COUNT(*) FROM {some} GROUP BY much"), (2, 7)),
        (format!("SELECT SUM(n) FROM {few}"), (1, 3)),
        (format!("SELECT COUNT(*) FROM {one} JOIN zones ON s = zones.x"), (1, 7)),
        (format!("SELECT COUNT(*) FROM {one} JOIN zones ON s = zones.x GROUP BY s"), (5, 7)),
    ] {
        assert_eq!(limits(&sql), expected, "{sql}");
    }
}

#[test]
fn rows_that_are_units_are_not_brought_together_and_not_joined() {
    let mut t = table(bounded(0.0, 1.0), 1, 1);
    if let Protection::Private { unit_column, .. } = &mut t.protection {
        unit_column.clear();
    }
    let zones =
        Table { name: "zones".to_owned(), columns: Vec::new(), protection: Protection::Public };
    let zones = Table { columns: vec![column("x", Type::Float)], ..zones };
    let tables = [t, zones];
    for (sql, reason) in [
        ("SELECT COUNT(*) FROM (SELECT x FROM t GROUP BY x) AS p", "each of its rows is a unit"),
        ("SELECT COUNT(*) FROM (SELECT DISTINCT x FROM t) AS p", "each of its rows is a unit"),
        ("SELECT COUNT(*) FROM t JOIN zones USING (x)", "a join may make several rows of it"),
    ] {
        let refusal = plan(sql, &tables).unwrap_err().to_string();
        assert!(refusal.contains(reason), "{sql}: {refusal}");
    }
}

/// How many values of a unit count: what the policy says, but no more than there are.
#[test]
fn values_of_a_unit_are_limited_by_the_policy_and_by_what_there_are() {
    let most = |sql: &str, adjacency, unit: &str, values: Option<u32>| {
        let mut t = table(bounded(0.0, 1.0), 3, 20);
        t.columns.push(Column {
            values: Some([1, 2, 3, 4].map(Value::Int).to_vec()),
            ..column("four", Type::Int)
        });
        t.columns.push(column("note", Type::Text));
        t.columns.push(column("paid", Type::Bool));
        t.protection = Protection::Private {
            unit: "person".to_owned(),
            unit_column: unit.to_owned(),
            adjacency,
            max_groups: if unit.is_empty() { 1 } else { 3 },
            max_rows: if unit.is_empty() { 1 } else { 20 },
            max_values: values,
            max_rows_in_all: None,
        };
        let plan = plan(sql, &[t]).unwrap_or_else(|no| panic!("{sql}: {no}")).plan;
        let Summand::Distinct { most, .. } = plan.sums[0].summand else { panic!("{plan:?}") };
        let sum = &plan.sums[0];
        let steps = u64::from(most) * sum.one().unsigned_abs();
        // The same whichever datasets are neighbours, and one way.
        assert_eq!(sum.sensitivity(plan.max_rows), steps);
        assert_eq!(sum.contribution(plan.max_rows), (0, i64::try_from(steps).unwrap()));
        assert!(sum.is_one_way());
        most
    };
    for adjacency in [Adjacency::AddRemove, Adjacency::Replace] {
        for (sql, values, expected) in [
            ("SELECT COUNT(DISTINCT note) FROM t", None, 20),
            ("SELECT COUNT(DISTINCT note) FROM t", Some(5), 5),
            ("SELECT COUNT(DISTINCT note) FROM t", Some(500), 500),
            ("SELECT COUNT(DISTINCT note) FROM t", Some(u32::MAX), 1 << 22),
            ("SELECT COUNT(DISTINCT four) FROM t", None, 4),
            ("SELECT COUNT(DISTINCT four) FROM t", Some(3), 3),
            ("SELECT COUNT(DISTINCT four % 2) FROM t", None, 2),
            ("SELECT COUNT(DISTINCT paid) FROM t", None, 2),
            ("SELECT COUNT(DISTINCT note) FROM t GROUP BY paid", None, 20),
            ("SELECT COUNT(DISTINCT CASE WHEN paid THEN who END) FROM t", None, 1),
            ("SELECT COUNT(DISTINCT who) FILTER (WHERE paid) FROM t", None, 1),
        ] {
            assert_eq!(most(sql, adjacency, "who", values), expected, "{sql} {values:?}");
        }
        // A row that is a unit has one value.
        assert_eq!(most("SELECT COUNT(DISTINCT note) FROM t", adjacency, "", None), 1);
    }
}

#[test]
fn limits_that_cannot_hold_are_refused() {
    for (max_groups, max_rows) in [(0, 1), (1, 0), (1, (1 << 22) + 1)] {
        let refusal = ask("SELECT COUNT(*) FROM t", Vec::new(), max_groups, max_rows).unwrap_err();
        assert!(matches!(refusal, SqlError::Bounds(_)), "{refusal}");
    }
    assert!(ask("SELECT COUNT(*) FROM t", Vec::new(), 1, 1 << 22).is_ok());
}

#[test]
fn bounds_that_cannot_hold_are_none() {
    for (low, high) in [
        (f64::NAN, 1.0),
        (0.0, f64::INFINITY),
        (f64::NEG_INFINITY, 0.0),
        (2.0, 1.0),
        (0.0, 0.0),
        (0.0, f64::MAX),
        (0.0, f64::MIN_POSITIVE),
    ] {
        for sql in ["SELECT SUM(x) FROM t", "SELECT AVG(x) FROM t", "SELECT SUM(-x * 2) FROM t"] {
            let refusal = ask(sql, bounded(low, high), 1, 1).unwrap_err();
            assert!(matches!(refusal, SqlError::Bounds(_)), "{low} {high}: {refusal}");
        }
    }
}

#[test]
fn listed_values_are_sorted_distinct_and_of_the_columns_type() {
    let keys = |kind, values: &[Value]| {
        let query = ask("SELECT x, COUNT(*) FROM t GROUP BY x", listed(kind, values), 9, 1)?;
        Ok::<_, SqlError>(query.plan.keys[0].public.clone().unwrap())
    };
    assert_eq!(
        keys(Type::Int, &[Value::Int(3), Value::Float(1.0), text("2"), Value::Int(3), text("x")]),
        Ok(vec![Value::Int(1), Value::Int(2), Value::Int(3)])
    );
    assert_eq!(
        keys(Type::Date, &[text("1970-01-02"), Value::Null, text("1970-02-30")]),
        Ok(vec![Value::Null, Value::Date(1)])
    );
    let floats = [f64::NAN, f64::INFINITY, -0.0, 0.0].map(Value::Float);
    assert_eq!(keys(Type::Float, &floats), Ok(vec![Value::Float(0.0)]));
    assert!(keys(Type::Int, &[]).is_err());
    assert!(keys(Type::Int, &[text("x")]).is_err());
    // A text that no cell can be ends where cells do.
    let long = text(&"é".repeat(5_000));
    assert_eq!(keys(Type::Text, &[long]), Ok(vec![text(&"é".repeat(MAX_TEXT / 2))]));
}

/// NULL is a group where the question makes it one, and not because a cell could be missing.
#[test]
fn keys_are_null_only_where_the_question_makes_them_so() {
    let columns = || {
        vec![
            column("x", Type::Float),
            column("n", Type::Int),
            column("paid", Type::Bool),
            column("at", Type::Timestamp),
            column("note", Type::Text),
            Column { values: Some(vec![text("a"), text("b")]), ..column("kind", Type::Text) },
        ]
    };
    let values = |key: &str| {
        let sql = format!("SELECT COUNT(*) FROM t GROUP BY {key}");
        let query = ask(&sql, columns(), 9, 1).unwrap_or_else(|refusal| panic!("{key}: {refusal}"));
        query.plan.keys[0].public.clone().unwrap_or_else(|| panic!("{key} is not public"))
    };
    for (key, count) in [
        ("paid", 2),
        ("NOT paid", 2),
        ("x > 1", 2),
        ("x BETWEEN 1 AND 2 AND paid", 2),
        ("x / 2 > 1 OR n % 7 = 0", 2),
        ("n + 1 > n * 2", 2),
        ("note LIKE 'a%'", 2),
        ("note IN ('a', 'b')", 2),
        ("note IS DISTINCT FROM 'a'", 2),
        ("EXTRACT(HOUR FROM at)", 24),
        ("EXTRACT(MONTH FROM CAST(at AS DATE))", 12),
        ("CASE WHEN x > 1 THEN 'dear' ELSE 'cheap' END", 2),
        ("CASE WHEN x > 1 THEN paid ELSE FALSE END", 2),
        ("upper(kind)", 2),
        ("kind || '!'", 2),
        ("substring(kind, 1, 1)", 2),
        ("coalesce(paid, x > 1)", 2),
        ("coalesce(nullif(paid, TRUE), FALSE)", 2),
        ("coalesce(EXTRACT(HOUR FROM at), -1)", 25),
        ("coalesce(kind, 'none')", 3),
        ("CASE WHEN kind IS NULL THEN 'none' ELSE upper(kind) END", 3),
    ] {
        let found = values(key);
        assert_eq!(found.len(), count, "{key}: {found:?}");
        assert!(!found.contains(&Value::Null), "{key}: {found:?}");
    }
    for (key, count) in [
        ("CASE WHEN x > 1 THEN 'dear' END", 2),
        ("CASE WHEN x > 1 THEN NULL ELSE 'cheap' END", 2),
        ("CASE WHEN x > 1 THEN CASE WHEN paid THEN 1 END ELSE 2 END", 3),
        ("nullif(paid, TRUE)", 3),
        ("nullif(kind, 'a')", 2),
        ("x / n > 1", 3),
        ("x % 0.0 > 1", 3),
        ("sqrt(x) > 1", 3),
        ("ln(x) > 1", 3),
        ("CAST(note AS int) > 1", 3),
        ("EXTRACT(HOUR FROM CAST(note AS timestamp))", 25),
        ("EXTRACT(HOUR FROM CASE WHEN paid THEN at END)", 25),
        ("note IN ('a', NULL)", 3),
        ("coalesce(nullif(paid, TRUE), nullif(paid, FALSE))", 3),
        ("substring(note, 1, n) = 'a'", 3),
    ] {
        let found = values(key);
        assert_eq!(found.len(), count, "{key}: {found:?}");
        assert!(found.contains(&Value::Null), "{key}: {found:?}");
    }
}

#[test]
fn grouping_by_the_unit_is_refused_however_it_is_written() {
    let columns = || vec![column("x", Type::Float), column("city", Type::Text)];
    let asked = |sql: &str| ask(sql, columns(), 3, 1);
    for key in [
        "who",
        "t.who",
        "\"who\"",
        "(who)",
        "x > 1, who",
        "-who",
        "who + 0",
        "1 - who * 2",
        "CAST(who AS text)",
        "who::float",
        "'unit ' || who",
        "who || city",
        "lower(trim(CAST(who AS text)))",
        "coalesce(who, 0)",
        "nullif(who, 0)",
        "CASE WHEN x > 1 THEN who ELSE 0 END",
        "CASE WHEN x > 1 THEN 0 ELSE who END",
    ] {
        for shown in ["COUNT(*)", "COUNT(DISTINCT who)", "SUM(least(greatest(x, 0), 1))"] {
            let refusal = asked(&format!("SELECT {shown} FROM t GROUP BY {key}")).unwrap_err();
            let sentence = refusal.to_string();
            assert!(matches!(refusal, SqlError::Unsupported(_)), "{key}: {sentence}");
            assert!(sentence.contains("makes a group of every unit"), "{key}: {sentence}");
            assert!(sentence.contains("COUNT(DISTINCT who)"), "{key}: {sentence}");
        }
    }
    for sql in [
        "SELECT who, COUNT(*) FROM t GROUP BY 1",
        "SELECT who AS rider, COUNT(*) FROM t GROUP BY rider",
        "SELECT who FROM t GROUP BY who ORDER BY COUNT(*) DESC LIMIT 5",
        "WITH a AS (SELECT who AS rider FROM t) SELECT rider, COUNT(*) FROM a GROUP BY rider",
        "SELECT COUNT(*) FROM (SELECT who || '' AS key FROM t) a GROUP BY key",
    ] {
        let sentence = asked(sql).unwrap_err().to_string();
        assert!(sentence.contains("makes a group of every unit"), "{sql}: {sentence}");
    }
    // What several units may have in common is asked about as ever.
    for key in ["who % 10", "who > 5", "substring(CAST(who AS text), 1, 2)", "who / 1000", "city"] {
        asked(&format!("SELECT COUNT(*) FROM t GROUP BY {key}"))
            .unwrap_or_else(|refusal| panic!("{key}: {refusal}"));
    }
}

#[test]
fn the_text_of_all_keys_is_bounded() {
    let many: Vec<Value> = (0..300).map(|place| text(&format!("k{place}"))).collect();
    let asked = |sql: &str| ask(sql, listed(Type::Text, &many), 3, 1);
    let long = "a".repeat(4_000);
    let one = format!("SELECT COUNT(*) FROM t GROUP BY x || '{long}'");
    assert!(asked(&one).is_ok());
    // Each of 90,000 groups would have 8,000 bytes.
    let two = format!("SELECT COUNT(*) FROM t GROUP BY x || '{long}', '{long}' || x");
    assert!(matches!(asked(&two), Err(SqlError::Limit(_))));
}

#[test]
fn too_many_public_groups_are_refused() {
    let many: Vec<Value> = (0..60_000).map(Value::Int).collect();
    let ask = |sql: &str| ask(sql, listed(Type::Int, &many), 3, 1);
    assert!(ask("SELECT COUNT(*) FROM t GROUP BY x").is_ok());
    assert!(matches!(ask("SELECT COUNT(*) FROM t GROUP BY x, who > 1"), Err(SqlError::Limit(_))));
    // Selected ones are not enumerated.
    assert!(ask("SELECT COUNT(*) FROM t GROUP BY x, who > 1, who % 7").is_ok());
}
