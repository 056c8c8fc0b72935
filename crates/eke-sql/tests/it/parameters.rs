//! Parameters in WHERE, and what is given for them.

use eke_sql::{Query, SqlError, plan, plan_open, plan_with};

use crate::tables::tables;

fn with(sql: &str, texts: &[&str]) -> Result<Query, SqlError> {
    let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
    plan_with(sql, &tables(), &texts)
}

fn open(sql: &str, example: &[&str]) -> Result<[u8; 32], SqlError> {
    let example: Vec<String> = example.iter().map(|&text| text.to_owned()).collect();
    plan_open(sql, &tables(), &example).map(|query| query.plan.digest())
}

fn count(condition: &str) -> String {
    format!("SELECT COUNT(*) FROM trips WHERE {condition}")
}

/// Whatever it meets, a parameter means what the constant would that is written in its place.
#[test]
fn a_parameter_means_the_constant_that_it_stands_for() {
    for (open, texts, written) in [
        ("day = $1", &["2026-03-10"][..], "day = '2026-03-10'"),
        ("$1 <= day", &["2026-03-10"], "day >= DATE '2026-03-10'"),
        ("day > $1", &["2026-03-10 12:00:00"], "day > TIMESTAMP '2026-03-10 12:00:00'"),
        ("started < $1", &["2026-03-10"], "started < '2026-03-10'"),
        ("fare > $1", &["12"], "fare > 12"),
        ("fare > $1", &["12.5"], "fare > 12.5"),
        ("stops = $1", &["-3"], "stops = -3"),
        ("stops < $1", &["2.5"], "stops < 2.5"),
        // A text stays as it is, also if it looks like a number.
        ("zone = $1", &["0123"], "zone = '0123'"),
        ("zone = $1", &["it's"], "zone = 'it''s'"),
        ("zone = $1", &["1' OR '1'='1"], "zone = '1'' OR ''1''=''1'"),
        ("zone = CAST($1 AS TEXT)", &["0123"], "zone = '0123'"),
        ("paid = $1", &["true"], "paid = TRUE"),
        ("fare BETWEEN $1 AND $2", &["1", "2"], "fare BETWEEN 1 AND 2"),
        ("$1 BETWEEN fare AND 100", &["7"], "7 BETWEEN fare AND 100"),
        ("zone IN ($1, $2)", &["1", "b"], "zone IN ('1', 'b')"),
        ("$2 IN (zone, note) AND stops = $1", &["4", "5"], "'5' IN (zone, note) AND stops = 4"),
        ("day IS DISTINCT FROM $1", &["2026-03-10"], "day IS DISTINCT FROM DATE '2026-03-10'"),
        ("fare + 1 > $1 AND (day = ($1))", &["2026-03-10"], ""),
        ("fare * $1 > 3", &["2"], "fare * 2 > 3"),
        (
            "CASE zone WHEN $1 THEN 1 ELSE 2 END = 2",
            &["7"],
            "CASE zone WHEN '7' THEN 1 ELSE 2 END = 2",
        ),
        ("$1 = $2", &["7", "x"], ""),
        ("stops = -$1", &["3"], "stops = -3"),
    ] {
        let given = with(&count(open), texts);
        if written.is_empty() {
            assert!(given.is_err(), "{open}");
            continue;
        }
        let constant = plan(&count(written), &tables()).unwrap();
        assert_eq!(given.unwrap().plan, constant.plan, "{open}");
    }
    // Also in a subquery.
    let inner = "SELECT COUNT(*) FROM (SELECT * FROM trips WHERE day = $1) t WHERE fare > $2";
    let constant = "SELECT COUNT(*) FROM trips WHERE day = '2026-03-10' AND fare > 3";
    let constant = plan(constant, &tables()).unwrap();
    assert_eq!(with(inner, &["2026-03-10", "3"]).unwrap().plan, constant.plan);
}

#[test]
fn an_open_plan_is_the_same_whatever_is_given() {
    let sql = count("day = $1 AND fare > $2");
    let first = open(&sql, &["2026-03-10", "3"]).unwrap();
    assert_eq!(first, open(&sql, &["1999-01-01", "7.5"]).unwrap());
    let turned = "select count(1) from (select * from trips where $2 < fare) t where $1 = day";
    assert_eq!(first, open(turned, &["2026-03-10", "3"]).unwrap());
    for other in ["day = $2 AND fare > $1", "day >= $1 AND fare > $2", "day = $1 AND tip > $2"] {
        let other = open(&count(other), &["2026-03-10", "2026-03-10"]);
        assert!(other.is_err() || other.unwrap() != first);
    }
    let closed = with(&sql, &["2026-03-10", "3"]).unwrap();
    assert_ne!(first, closed.plan.digest());
}

#[test]
fn what_does_not_fit_is_refused_in_one_sentence() {
    for (sql, texts, sentence) in [
        (count("day = $1"), &["x"][..], "`'x'` is no date: write it as 'YYYY-MM-DD'"),
        (
            count("fare > $1"),
            &["much"],
            "`$1` is 'much' and meets float: give values that can be read as float",
        ),
        (
            count("fare > $2"),
            &["1", "2"],
            "There are values for 2 parameters, and the question does not use `$1`: use it in WHERE, or give fewer values",
        ),
        (
            count("fare > $2"),
            &["1"],
            "The question uses `$2`, and there is 1 value given: give a value for each parameter",
        ),
        (
            count("fare > $1"),
            &[],
            "The question uses `$1`, and there are 0 values given: give a value for each parameter",
        ),
        (
            count("fare > 3"),
            &["1"],
            "There are values for 1 parameters, and the question does not use `$1`: use it in WHERE, or give fewer values",
        ),
        (count("fare > $0"), &["1"], "`$0` is not a parameter: write $1, $2 and so on"),
        (count("fare > $x"), &["1"], "`$x` is not a parameter: write $1, $2 and so on"),
        (
            "SELECT SUM(fare * $1) FROM trips".to_owned(),
            &["1"],
            "`$1` stands in an aggregate: parameters choose rows, and stand in WHERE alone",
        ),
        (
            "SELECT COUNT(*) FROM (SELECT fare + $1 AS f FROM trips) t WHERE f > 3".to_owned(),
            &["1"],
            "`$1` stands in a subquery: parameters choose rows, and stand in WHERE alone",
        ),
        (
            "SELECT zone, COUNT(*) FROM trips GROUP BY zone HAVING COUNT(*) > $1".to_owned(),
            &["1"],
            "`$1` stands in HAVING: parameters choose rows, and stand in WHERE alone",
        ),
    ] {
        assert_eq!(with(&sql, texts).unwrap_err().to_string(), sentence, "{sql}");
    }
    let sentence = "Parameters such as `$1` are for `eke watch`: write the constant itself";
    assert_eq!(plan(&count("day = $1"), &tables()).unwrap_err().to_string(), sentence);
    let many: Vec<String> = vec!["1".to_owned(); 3];
    assert!(
        plan_with(&count("zone LIKE $1 AND fare > $2 AND stops = $3"), &tables(), &many).is_err()
    );
    let long = "a".repeat(eke_sql::MAX_TEXT + 1);
    let refusal = with(&count("zone = $1"), &[&long]).unwrap_err();
    assert!(matches!(refusal, eke_sql::SqlError::Limit(_)), "{refusal}");
}
