//! Functions come to what they come to in PostgreSQL itself, where the tests start one.

use std::io::Write as _;
use std::process::{Command, Stdio};

use eke_sql::{Type, Value, cast};

use crate::evaluation::value;

/// Constant expressions that both read.
const SAME: &[&str] = &[
    "mod(7, 3) + 0",
    "mod(-7, 3) + 0",
    "mod(7.5, 2) + 0",
    "power(2, 10)",
    "power(9.0, 0.5)",
    "power(2, -1)",
    "log(1000.0)",
    "log(2.0, 64.0)",
    "sqrt(2.0)",
    "ln(2.0)",
    "exp(1.0)",
    "sign(-8.4)",
    "sign(0)",
    "trunc(42.8)",
    "trunc(-42.8)",
    "round(42.4382, 2)",
    "round(1.005, 2)",
    "round(-2.675, 2)",
    "round(1250.0, -2)",
    "round(49.0, -2)",
    "round(9.995, 2)",
    "trunc(42.4382, 2)",
    "trunc(-1299.9, -2)",
    "width_bucket(5.35, 0.024, 10.06, 5)",
    "width_bucket(0.0, 10.0, 0.0, 5)",
    "width_bucket(-1.0, 0.0, 10.0, 5)",
    "width_bucket(10.0, 0.0, 10.0, 5)",
    "width_bucket(3.0, 0.0, 10.0, 3)",
    "left('abcde', 2)",
    "left('abcde', -2)",
    "left('abc', -5)",
    "right('abcde', 2)",
    "right('abcde', -2)",
    "right('été', 2)",
    "concat('a', 1, NULL, TRUE)",
    "concat_ws(',', 'abcde', 2, NULL, 22)",
    "concat_ws(NULL, 'a')",
    "concat_ws(',', NULL, NULL)",
    "replace('abcdefabcdef', 'cd', 'XX')",
    "replace('aaa', 'aa', 'b')",
    "replace('abc', '', 'x')",
    "split_part('abc~@~def~@~ghi', '~@~', 2)",
    "split_part('abc,def,ghi,jkl', ',', -2)",
    "split_part('aaa', 'aa', -1)",
    "split_part('abc', '', 1)",
    "split_part('abc', '', 2)",
    "split_part('abc', ',', 5)",
    "position('om' IN 'Thomas')",
    "position('' IN 'Thomas')",
    "strpos('high', 'ig')",
    "strpos('high', 'x')",
    "starts_with('alphabet', 'alph')",
    "starts_with('alphabet', '')",
    "lpad('hi', 5, 'xy')",
    "lpad('hello', 2)",
    "lpad('hi', 5, '')",
    "lpad('hi', -1)",
    "rpad('hi', 5, 'xy')",
    "rpad('hi', 4) || '|'",
    "reverse('abcde')",
    "repeat('Pg', 4)",
    "repeat('Pg', -1)",
    "initcap('hi THOMAS o''neil 2nd')",
    "trim(BOTH 'xyz' FROM 'yxTomxx')",
    "trim(LEADING ' ' FROM '  a ') || '|'",
    "ltrim('zzzytest', 'xyz')",
    "rtrim('testxxzx', 'xyz')",
    "btrim('  a b ') || '|'",
    "EXTRACT(WEEK FROM DATE '2021-01-03')",
    "EXTRACT(ISOYEAR FROM DATE '2021-01-03')",
    "EXTRACT(ISODOW FROM DATE '2021-01-03')",
    "EXTRACT(DOY FROM DATE '2024-12-31')",
    "EXTRACT(EPOCH FROM TIMESTAMP '2024-01-01 00:00:00.5')",
    "EXTRACT(EPOCH FROM TIMESTAMP '2024-01-02 01:00' - TIMESTAMP '2024-01-01')",
    "date_part('year', DATE '2024-02-29')",
    "date_trunc('second', TIMESTAMP '2024-01-01 00:00:59.9')",
    "date_trunc('week', TIMESTAMP '2024-03-03 10:00')",
    "date_bin(INTERVAL '15 minutes', TIMESTAMP '2020-02-11 15:44:17', TIMESTAMP '2001-01-01')",
    "date_bin('15 minutes', TIMESTAMP '2020-02-11 15:44:17', TIMESTAMP '2001-01-01 00:02:30')",
    "date_bin(INTERVAL '1 day', TIMESTAMP '1999-12-31 15:44', TIMESTAMP '2001-01-01 06:00')",
    "DATE '2024-02-28' + 7",
    "7 + DATE '2024-02-28'",
    "DATE '2024-03-01' - 1",
    "DATE '2024-03-01' - DATE '2024-02-01'",
    "DATE '2024-01-31' + INTERVAL '1 month'",
    "INTERVAL '1 day' + DATE '2024-01-31'",
    "TIMESTAMP '2024-03-31 12:00' - INTERVAL '1 month'",
    "TIMESTAMP '2024-02-29' + INTERVAL '1 year 2 days 03:04:05.5'",
    "TIMESTAMP '2024-02-29' + INTERVAL '1.5 hours'",
    "TIMESTAMP '2024-02-29' + INTERVAL '-1 week'",
    "TIMESTAMP '2024-02-29' + INTERVAL '3' DAY",
    "TIMESTAMP '2024-02-29 12:00' AT TIME ZONE 'UTC' AT TIME ZONE INTERVAL '2 hours'",
    "TIMESTAMP '2024-02-29 12:00' AT TIME ZONE INTERVAL '-05:00' AT TIME ZONE 'UTC'",
    "to_char(TIMESTAMP '2024-03-05 13:04:09.012345', 'YYYY-MM-DD HH24:MI:SS.US MS')",
    "to_char(TIMESTAMP '2024-03-05 13:04:09', 'Month|MONTH|month|FMMonth|Mon|MON|mon')",
    "to_char(TIMESTAMP '2024-03-05 00:04:09', 'Day|FMDAY|day|Dy|dy|D|ID|HH12 AM|hh pm')",
    "to_char(TIMESTAMP '2020-12-31 12:00', 'IYYY-\"W\"IW|WW|W|DDD|Q|YY|FMDD/FMMM|HH12')",
    "to_char(DATE '2024-03-05', 'FMDDD FMHH24:FMMI yyyy')",
    "to_char(TIMESTAMP '2024-01-01 00:00:00.005', 'FMMS FMUS FMSS')",
    "'aaa' ~* '[^a]'",
    "'AAA' ~* '[^a-c]'",
    "'aaa' !~* '[^A]'",
    "'AbC' ~* '^[^a-z]+$'",
    "'aaa' ~* '^[^[:lower:]]+$'",
    "'a1' ~* '^\\D'",
    "'abX' ~* '^[^x]+$'",
    "2 BETWEEN SYMMETRIC 3 AND 1",
    "2 NOT BETWEEN SYMMETRIC 3 AND 1",
    "2 BETWEEN SYMMETRIC NULL AND 1",
    "7 BETWEEN SYMMETRIC NULL AND 5",
    "'abcd' ~ 'a.c'",
    "'abcd' ~ '^b'",
    "'abcd' !~ '^b'",
    "'Thomas' ~* '.*thom.*'",
    "'Thomas' !~* 'X'",
    r"'2024-01' ~ '^\d{4}-\d{2}$'",
    r"'a b' ~ '\s'",
    r"'x_9' ~ '^\w+$'",
    r"'x-9' ~ '\W'",
    "'b' ~ '^(^a|b)'",
    "'ab' ~ 'a$b'",
    "'a]b' ~ '[]]b'",
    "'a-b' ~ '[a-]-'",
    "'ab' ~ '[[:digit:]]|[[:alpha:]]{2}'",
    "E'a\\nb' ~ 'a.b'",
    "E'a\\nb' ~ '^b'",
    "'' ~ '^$'",
    "'aab' ~ '^(a{1,2}?b|c)+$'",
    "'abc' SIMILAR TO 'abc'",
    "'abc' SIMILAR TO 'a'",
    "'abc' SIMILAR TO '%(b|d)%'",
    "'abc' SIMILAR TO '(b|c)%'",
    "'a.c' SIMILAR TO 'a.c'",
    "'abc' NOT SIMILAR TO 'a.c'",
    "'aab' SIMILAR TO 'a{2}_'",
];

/// What a value is as text, without zeros at the end of a fraction.
fn plain(text: &str) -> String {
    match text.parse::<f64>() {
        Ok(number) => number.to_string(),
        Err(_) if text.contains(':') && text.contains('.') => {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        Err(_) => text.to_owned(),
    }
}

fn near(one: &str, other: &str) -> bool {
    match (one.parse::<f64>(), other.parse::<f64>()) {
        (Ok(one), Ok(other)) => (one - other).abs() <= 1e-12 * one.abs().max(other.abs()),
        _ => one == other,
    }
}

#[test]
fn functions_come_to_what_they_come_to_in_postgresql() {
    let Ok(url) = std::env::var("EKE_TEST_POSTGRES") else {
        eprintln!("skipped: run ./test, or scripts/with-postgres cargo test");
        return;
    };
    let mut psql = Command::new("psql")
        .args(["--no-psqlrc", "--no-align", "--tuples-only", "--set=ON_ERROR_STOP=1", &url])
        .env("PGTZ", "UTC")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("psql comes with PostgreSQL");
    let asked: String =
        SAME.iter().map(|sql| format!("SELECT coalesce(({sql})::text, 'NULL');\n")).collect();
    // It answers less than a pipe holds before it has read everything.
    psql.stdin.take().unwrap().write_all(asked.as_bytes()).unwrap();
    let output = psql.wait_with_output().unwrap();
    assert!(output.status.success(), "psql failed");
    let answers = String::from_utf8(output.stdout).unwrap();
    let answers: Vec<&str> = answers.lines().collect();
    assert_eq!(answers.len(), SAME.len());
    let mut wrong = Vec::new();
    for (sql, theirs) in SAME.iter().zip(answers) {
        let ours = match cast(value(sql), Type::Text) {
            Value::Text(text) => plain(&text),
            _ => "NULL".to_owned(),
        };
        let theirs = plain(theirs);
        if !near(&ours, &theirs) {
            wrong.push(format!("{sql}: {ours} here, {theirs} there"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
