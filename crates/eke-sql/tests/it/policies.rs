//! What the policy says reaches the plan, and policies that cannot hold are refused.

use eke_budget::Adjacency;
use eke_sql::{Column, Protection, Query, SqlError, Table, Type, Value, plan};

use crate::tables::{column, text};

fn table(columns: Vec<Column>, max_groups: u32, max_rows: u32) -> Table {
    let unit = column("who", Type::Int);
    Table {
        name: "t".to_owned(),
        columns: std::iter::once(unit).chain(columns).collect(),
        protection: Protection::Private {
            unit_column: "who".to_owned(),
            adjacency: Adjacency::Replace,
            max_groups,
            max_rows,
        },
    }
}

fn ask(sql: &str, columns: Vec<Column>, max_groups: u32, max_rows: u32) -> Result<Query, SqlError> {
    plan(sql, &[table(columns, max_groups, max_rows)])
}

fn bounded(low: f64, high: f64) -> Vec<Column> {
    vec![Column { bounds: Some((low, high)), ..column("x", Type::Float) }]
}

fn listed(of: Type, values: &[Value]) -> Vec<Column> {
    vec![Column { values: Some(values.to_vec()), ..column("x", of) }]
}

#[test]
fn limits_on_a_units_contribution_reach_the_plan() {
    let plan = |sql: &str, max_groups| ask(sql, bounded(0.0, 1.0), max_groups, 7).unwrap().plan;
    let alone = plan("SELECT COUNT(*) FROM t", 5);
    assert_eq!((alone.max_groups, alone.max_rows, alone.adjacency), (1, 7, Adjacency::Replace));
    assert_eq!(plan("SELECT COUNT(*) FROM t GROUP BY x", 5).max_groups, 5);
    assert_eq!(plan("SELECT COUNT(*) FROM t GROUP BY x > 1", 5).max_groups, 3);
    assert_eq!(plan("SELECT COUNT(*) FROM t GROUP BY x > 1", 2).max_groups, 2);
    // One key that is not public leaves the number of groups open.
    assert_eq!(plan("SELECT COUNT(*) FROM t GROUP BY x > 1, who", 5).max_groups, 5);
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
    let keys = |of, values: &[Value]| {
        let query = ask("SELECT x, COUNT(*) FROM t GROUP BY x", listed(of, values), 9, 1)?;
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
}

#[test]
fn too_many_public_groups_are_refused() {
    let many: Vec<Value> = (0..60_000).map(Value::Int).collect();
    let ask = |sql: &str| ask(sql, listed(Type::Int, &many), 3, 1);
    assert!(ask("SELECT COUNT(*) FROM t GROUP BY x").is_ok());
    assert!(matches!(ask("SELECT COUNT(*) FROM t GROUP BY x, who > 1"), Err(SqlError::Limit(_))));
    // Selected ones are not enumerated.
    assert!(ask("SELECT COUNT(*) FROM t GROUP BY x, who > 1, who").is_ok());
}
