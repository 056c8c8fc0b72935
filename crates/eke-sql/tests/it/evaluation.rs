//! What expressions come to, as `docs/sql.md` says.

use eke_sql::{Binary, Expr, Summand, Type, Value, cast, evaluate, plan};

use crate::tables::{tables, text};

/// The value of a constant expression, as SQL: what it is folded to beside a column.
pub(crate) fn value(sql: &str) -> Value {
    let question = format!("SELECT COUNT(*) FROM trips GROUP BY {sql}, city");
    let query = plan(&question, &tables()).unwrap_or_else(|refusal| panic!("{sql}: {refusal}"));
    let constant = query.plan.keys.into_iter().find_map(|key| match key.expr {
        Expr::Literal(value) => Some(value),
        Expr::Column(_) => None,
        expr => Some(evaluate(&expr, &|_| Value::Null)),
    });
    constant.unwrap_or_else(|| panic!("{sql} is no constant"))
}

#[test]
fn operators_and_functions_mean_what_the_document_says() {
    let int = Value::Int;
    let float = Value::Float;
    let truth = Value::Bool;
    for (sql, is) in [
        ("7 / 2 + 0", int(3)),
        ("-7 / 2", int(-3)),
        ("-7 % 2", int(-1)),
        ("7 / 0", Value::Null),
        ("7 % 0", Value::Null),
        ("7.0 / 0", Value::Null),
        ("7.5 % 2", float(1.5)),
        ("9223372036854775807 + 1", Value::Null),
        ("-9223372036854775808 / -1", Value::Null),
        ("-9223372036854775808 % -1", int(0)),
        ("- (-9223372036854775808)", Value::Null),
        ("abs(-9223372036854775808)", Value::Null),
        ("1 + 0.5", float(1.5)),
        ("0.0 * -1", float(0.0)),
        ("sqrt(-1)", Value::Null),
        ("ln(0)", Value::Null),
        ("round(2.5)", float(3.0)),
        ("round(-2.5)", float(-3.0)),
        ("floor(-0.5)", float(-1.0)),
        ("ceil(-0.5)", float(0.0)),
        ("CAST(2.5 AS int)", int(3)),
        ("CAST(-2.5 AS int)", int(-3)),
        ("CAST(1e19 AS int)", Value::Null),
        ("CAST(' 12 ' AS int)", int(12)),
        ("CAST('12.0' AS int)", Value::Null),
        ("CAST('1e3' AS float)", float(1000.0)),
        ("CAST('NaN' AS float)", Value::Null),
        ("CAST('T' AS boolean)", truth(true)),
        ("CAST('yes' AS boolean)", Value::Null),
        ("CAST(TRUE AS int)", int(1)),
        ("CAST(1e21 AS text)", text("1000000000000000000000")),
        ("CAST(0.1 AS text)", text("0.1")),
        ("CAST(TRUE AS text)", text("true")),
        ("CAST(DATE '2024-02-29' AS text)", text("2024-02-29")),
        ("CAST(TIMESTAMP '2024-02-29 01:02:03.5' AS text)", text("2024-02-29 01:02:03.500000")),
        ("CAST(TIMESTAMP '1969-12-31 23:59' AS date)", Value::Date(-1)),
        ("CAST(DATE '1970-01-02' AS timestamp)", Value::Timestamp(86_400_000_000)),
        ("CAST('2024-02-30' AS date)", Value::Null),
        ("NULL AND FALSE", truth(false)),
        ("NULL OR TRUE", truth(true)),
        ("NULL AND TRUE", Value::Null),
        ("NOT CAST(NULL AS boolean)", Value::Null),
        ("NULL = NULL", Value::Null),
        ("NULL IS NOT DISTINCT FROM NULL", truth(true)),
        ("1 IS DISTINCT FROM NULL", truth(true)),
        ("1 IN (2, NULL)", Value::Null),
        ("1 IN (1, NULL)", truth(true)),
        ("1 NOT IN (2, 3)", truth(true)),
        ("2 BETWEEN 1 AND 2", truth(true)),
        ("'a' < 'B'", truth(false)),
        ("'Delft' ILIKE 'd_lF%'", truth(true)),
        ("'a' || NULL", Value::Null),
        ("'a' || 1 || TRUE", text("a1true")),
        ("least(2, NULL, 1)", int(1)),
        ("greatest(NULL, NULL)", Value::Null),
        ("coalesce(NULL, 2, 3)", int(2)),
        ("nullif(2, 2)", Value::Null),
        ("nullif(2, NULL)", int(2)),
        ("upper('straße')", text("STRASSE")),
        ("trim('  a b ')", text("a b")),
        ("length('été')", int(3)),
        ("substring('Leiden', 2, 3)", text("eid")),
        ("substring('Leiden' FROM 0 FOR 3)", text("Le")),
        ("substring('Leiden', 1, -1)", Value::Null),
        ("CASE WHEN NULL THEN 1 WHEN 1 = 1 THEN 2 END", int(2)),
        ("CASE 3 WHEN 1 THEN 'a' END", Value::Null),
        ("EXTRACT(YEAR FROM DATE '2024-02-29')", int(2024)),
        ("EXTRACT(QUARTER FROM DATE '2024-05-01')", int(2)),
        ("EXTRACT(DOW FROM DATE '2024-03-03')", int(0)),
        ("EXTRACT(SECOND FROM TIMESTAMP '2024-01-01 00:00:59.9')", int(59)),
        ("date_part('hour', TIMESTAMP '1969-12-31 23:59')", int(23)),
        ("CAST(date_trunc('week', DATE '2024-03-03') AS date)", value("DATE '2024-02-26'")),
        ("CAST(date_trunc('quarter', DATE '2024-06-30') AS date)", value("DATE '2024-04-01'")),
        ("date_trunc('hour', TIMESTAMP '1969-12-31 23:59')", Value::Timestamp(-3_600_000_000)),
    ] {
        assert_eq!(value(sql), is, "{sql}");
    }
}

#[test]
fn operators_bind_as_in_postgresql() {
    for (sql, form) in [
        ("NOT stops = 1 AND paid", "(stops <> 1) AND paid"),
        ("paid OR paid AND stops = 1", "((stops = 1) AND paid) OR paid"),
        ("stops - 1 - 2 = 3", "((stops - 1) - 2) = 3"),
        ("stops / 2 * 3 = 3", "((stops / 2) * 3) = 3"),
        ("stops + 2 * 3 = 7", "(stops + 6) = 7"),
        ("- stops + 1 = 7", "((-stops) + 1) = 7"),
        ("stops = 1 IS NULL", "(stops = 1) IS NULL"),
        ("NOT paid IS NULL", "NOT (paid IS NULL)"),
        ("zone || 'a' LIKE 'b%'", "(zone || 'a') LIKE 'b%'"),
        ("zone || 'a' = 'b'", "(zone || 'a') = 'b'"),
        ("stops BETWEEN 1 AND 2 + 3 AND paid", "(stops >= 1) AND (stops <= 5) AND paid"),
        ("stops NOT IN (1, 2) AND paid", "paid AND (NOT (stops IN (1, 2)))"),
        ("stops % 2 = 1 OR NOT paid AND paid", "(paid AND (NOT paid)) OR ((stops % 2) = 1)"),
        ("-stops::text = '1'", "?"),
        ("paid = (stops > 1)", "(stops > 1) = paid"),
    ] {
        let got = match plan(&format!("SELECT COUNT(*) FROM trips WHERE {sql}"), &tables()) {
            Ok(query) => query.plan.filter.map_or(String::new(), |filter| filter.to_string()),
            Err(_) => "?".to_owned(),
        };
        assert_eq!(got, form, "{sql}");
    }
}

#[test]
fn an_expression_of_wrong_types_is_null_and_does_not_panic() {
    let literal = |value: Value| Box::new(Expr::Literal(value));
    for operator in [Binary::Add, Binary::Concat, Binary::Less, Binary::And] {
        let odd = Expr::Binary(operator, literal(Value::Int(1)), literal(text("a")));
        assert_eq!(evaluate(&odd, &|_| Value::Null), Value::Null);
    }
    assert_eq!(cast(Value::Date(1), Type::Int), Value::Null);
    assert_eq!(cast(Value::Int(1), Type::Bool), Value::Null);
    let nan = Expr::Column("x".to_owned());
    assert_eq!(evaluate(&nan, &|_| Value::Float(f64::NAN)), Value::Null);
    assert_eq!(evaluate(&nan, &|_| Value::Float(-0.0)), Value::Float(0.0));
}

/// What a refusal says to write in place of what has no bounds is taken as it is typed, and NULL
/// stays NULL in it: no average takes a missing value for a bound.
#[test]
fn what_to_write_for_bounds_is_taken_and_keeps_null() {
    for x in ["metres", "fare + metres", "-metres", "trips.metres", "CAST(note AS DOUBLE)"] {
        for aggregate in ["SUM", "AVG"] {
            let sql = format!("SELECT {aggregate}({x}) FROM trips");
            let refusal = plan(&sql, &tables()).unwrap_err().to_string();
            let (_, hint) = refusal.split_once(", or write ").unwrap();
            let query = plan(&format!("SELECT {hint} FROM trips"), &tables());
            let query = query.unwrap_or_else(|refusal| panic!("{hint}: {refusal}"));
            let values = query.plan.sums.iter().filter_map(|sum| match &sum.summand {
                Summand::Value { expr, .. } => Some(evaluate(expr, &|_| Value::Null)),
                _ => None,
            });
            assert_eq!(values.collect::<Vec<_>>(), [Value::Null], "{hint}");
        }
    }
    let long = format!("SELECT AVG(metres{}) FROM trips", " + metres".repeat(20));
    let refusal = plan(&long, &tables()).unwrap_err().to_string();
    let end = "AVG(CASE WHEN x IS NOT NULL THEN LEAST(GREATEST(x, 0), 100) END)";
    assert!(refusal.ends_with(end), "{refusal}");
}

/// Where PostgreSQL has an error, or nothing of the kind: `postgres.rs` has the rest.
#[test]
fn functions_have_a_value_where_postgresql_has_an_error() {
    for (sql, is) in [
        ("mod(7, 0) + 0", Value::Null),
        ("power(0, -1)", Value::Null),
        ("power(-8, 0.5)", Value::Null),
        ("log(0)", Value::Null),
        ("log(1, 5)", Value::Null),
        ("split_part('a', ',', 0)", Value::Null),
        ("width_bucket(1, 2, 2, 5)", Value::Null),
        ("width_bucket(1, 0, 2, 0)", Value::Null),
        ("DATE '9999-12-31' + 9223372036854775807", Value::Null),
        ("length(repeat('ab', 9223372036854775807))", Value::Int(4_096)),
        ("length(lpad('a', 100000))", Value::Int(4_096)),
        ("length(replace(repeat('a', 4000), 'a', repeat('b', 4000)))", Value::Int(4_096)),
        ("if(1 = 1, 'a', 'b')", text("a")),
        ("iif(NULL, 1, 2)", Value::Int(2)),
        ("if(1 = 2, 1)", Value::Null),
        ("nvl(NULL, 2)", Value::Int(2)),
        ("ifnull(1, 2)", Value::Int(1)),
        ("year(DATE '2024-02-29')", Value::Int(2024)),
        ("week(DATE '2024-02-29')", Value::Int(9)),
        ("regexp_like('Delft', '^d', 'i')", Value::Bool(true)),
        ("date(TIMESTAMP '1970-01-02 10:00')", Value::Date(1)),
        ("date_add(DATE '1970-01-01', INTERVAL 1 DAY)", Value::Timestamp(86_400_000_000)),
        ("DATE '1970-01-11' - '1970-01-01'", Value::Int(10)),
        ("TIMESTAMP '1970-01-01' AT TIME ZONE 'UTC'", Value::Timestamp(0)),
        ("to_char(TIMESTAMP '0000-01-01', 'YYYY')", Value::Null),
    ] {
        assert_eq!(value(sql), is, "{sql}");
    }
}
