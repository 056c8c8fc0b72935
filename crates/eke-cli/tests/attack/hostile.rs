//! Hostile statements: files, settings, other statements, functions that wait or fail, bombs, odd
//! characters. Each is refused or answered as any other question, the same with and without alice,
//! within bounded memory.

use std::fmt::Write as _;

use crate::tables::{CANARY, Neighbours};
use crate::{Folder, run};

/// Over 400 of them.
fn statements() -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    // Statements other than one SELECT.
    for statement in [
        "COPY trips TO '/tmp/x'",
        "COPY (SELECT * FROM trips) TO STDOUT",
        "DROP TABLE trips",
        "INSERT INTO trips VALUES (1)",
        "UPDATE trips SET fare = 0",
        "DELETE FROM trips",
        "CREATE TABLE x AS SELECT * FROM trips",
        "CREATE VIEW v AS SELECT * FROM trips",
        "CREATE EXTERNAL TABLE x STORED AS CSV LOCATION '/etc/passwd'",
        "ALTER TABLE trips ADD x int",
        "SET x = 1",
        "SET datafusion.execution.batch_size = 1",
        "RESET ALL",
        "SHOW TABLES",
        "SHOW ALL",
        "EXPLAIN SELECT COUNT(*) FROM trips",
        "EXPLAIN ANALYZE SELECT COUNT(*) FROM trips",
        "EXPLAIN ANALYZE VERBOSE SELECT COUNT(*) FROM trips",
        "DESCRIBE trips",
        "ANALYZE trips",
        "PRAGMA table_info(trips)",
        "VACUUM",
        "BEGIN",
        "COMMIT",
        "LOAD 'x.so'",
        "CALL f()",
        "EXECUTE x",
        "PREPARE x AS SELECT COUNT(*) FROM trips",
        "DEALLOCATE x",
        "GRANT ALL ON trips TO ana",
        "LOCK TABLE trips",
        "DECLARE c CURSOR FOR SELECT 1",
        "FETCH 1 FROM c",
        "LISTEN x",
        "NOTIFY x",
        "TRUNCATE trips",
        "MERGE INTO trips USING trips t ON true WHEN MATCHED THEN DELETE",
        "USE x",
        "KILL 1",
        "ATTACH 'x' AS y",
        "INSTALL httpfs",
        "EXPORT DATABASE 'x'",
        "VALUES (1)",
        "TABLE trips",
        "SELECT COUNT(*) FROM trips; SELECT COUNT(*) FROM trips",
        ";",
        "",
        " ",
        "--",
        "/*",
        "SELECT",
        "SELECT COUNT(*)",
        "SELECT COUNT(*) FROM",
        "COUNT(*)",
        "\0",
        "SELECT \0 FROM trips",
    ] {
        all.push(statement.to_owned());
    }
    // Sources that are none of the policy's.
    for source in [
        "'/etc/passwd'",
        "\"/etc/passwd\"",
        "read_csv('/etc/passwd')",
        "read_parquet('trips.parquet')",
        "generate_series(1, 1000000000)",
        "unnest(ARRAY[1])",
        "information_schema.tables",
        "pg_catalog.pg_class",
        "pg_stat_user_tables",
        "sqlite_master",
        "trips, trips",
        "trips t JOIN trips u ON t.rider = u.rider",
        "trips LEFT JOIN trips u ON true",
        "trips CROSS JOIN trips u",
        "LATERAL (SELECT 1) x",
        "trips TABLESAMPLE SYSTEM (1)",
        "(SELECT rider, COUNT(*) FROM trips GROUP BY rider) x",
        "(SELECT DISTINCT rider FROM trips) x",
        "(SELECT * FROM trips LIMIT 1) x",
        "(SELECT * FROM trips ORDER BY fare LIMIT 1) x",
        "(VALUES (1)) x",
        "(SELECT * FROM trips UNION SELECT * FROM trips) x",
        "trips FOR UPDATE",
        "ONLY trips",
        "main.trips",
        "x.y.trips",
    ] {
        all.push(format!("SELECT COUNT(*) FROM {source}"));
    }
    // Expressions that fail, wait, read or tell elsewhere.
    for expression in [
        "1 / 0",
        "fare / 0",
        "10 / stops",
        "CAST(note AS int)",
        "CAST(rider AS int)",
        "note::date",
        "sqrt(-1)",
        "ln(0)",
        "9223372036854775807 + 1",
        "-(-9223372036854775808)",
        "9223372036854775807 * stops",
        "-9223372036854775808 / -1",
        "1e308 * 1e308",
        "CASE WHEN rider = 'alice' THEN 1 / 0 ELSE 1 END",
        "CASE WHEN rider = 'alice' THEN sqrt(-1) END",
        "exp(1e9)",
        "pg_sleep(10)",
        "sleep(10)",
        "random()",
        "now()",
        "current_date",
        "current_user",
        "version()",
        "uuid()",
        "nextval('x')",
        "pg_read_file('/etc/passwd')",
        "lo_import('/etc/passwd')",
        "load_extension('x')",
        "getenv('PATH')",
        "current_setting('x')",
        "set_config('x', 'y', false)",
        "pg_relation_size('trips')",
        "query_to_xml('x', true, true, '')",
        "dblink('x')",
        "xpath('x', 'y')",
        "repeat('a', 1000000000)",
        "lpad('a', 1000000000)",
        "rpad('a', 1000000000)",
        "replace(note, '', note)",
        "concat(note, note)",
        "regexp_replace(note, '(a+)+b', '')",
        "note ~ '(a+)+b'",
        "note SIMILAR TO '(a+)+b'",
        "note LIKE '%a%a%a%a%a%a%a%a%a%a%a%b'",
        "string_agg(note, '')",
        "array_agg(note)",
        "json_agg(note)",
        "percentile_cont(0.5) WITHIN GROUP (ORDER BY fare)",
        "MIN(note)",
        "MAX(rider)",
        "MIN(fare)",
        "median(fare)",
        "mode()",
        "first_value(note) OVER ()",
        "row_number() OVER (ORDER BY fare)",
        "lag(note) OVER ()",
        "(SELECT note FROM trips LIMIT 1)",
        "(SELECT COUNT(*) FROM trips)",
        "EXISTS (SELECT 1 FROM trips)",
        "rider IN (SELECT rider FROM trips)",
        "fare = ANY (SELECT fare FROM trips)",
        "ROW(rider, note)",
        "trips",
        "trips.*",
        "*",
        "ctid",
        "rowid",
        "oid",
        "note[1]",
        "note->'x'",
        "note->>'x'",
        "$1",
        "?",
        ":x",
        "@x",
        "@@version",
        "note COLLATE \"C\"",
        "INTERVAL '1 day'",
        "at AT TIME ZONE 'UTC'",
        "ARRAY[rider]",
        "MAP {'a': rider}",
        "{'a': rider}",
        "x'00'",
        "b'1'",
        "U&'\\0000'",
        "E'\\000'",
        "N'x'",
        "'\u{202e}'",
        "'\u{0}'",
        "chr(0)",
        "ascii(note)",
        "md5(rider)",
        "sha256(rider)",
        "encode(rider, 'hex')",
        "to_hex(1)",
        "hashtext(rider)",
        "TRY_CAST(rider AS int)",
        "CAST(fare AS decimal(1000000, 2))",
        "CAST(note AS varchar(1000000000))",
        "overlay(note PLACING 'x' FROM 1)",
        "extract(epoch FROM at)",
        "date_trunc('millennium', at)",
        "age(at)",
        "to_timestamp(1e300)",
        "make_date(2000000000, 1, 1)",
        "DATE '292278994-08-17'",
        "TIMESTAMP '9999-12-31 23:59:60'",
        "DATE 'infinity'",
        "'infinity'::timestamp",
        "position('a' IN note)",
        "translate(note, 'a', 'b')",
        "split_part(note, 'a', 1)",
        "strpos(note, 'a')",
        "left(note, -1)",
        "reverse(note)",
        "initcap(note)",
        "octet_length(note)",
        "bit_length(note)",
        "greatest()",
        "coalesce()",
        "nullif(1)",
        "abs()",
        "COUNT(COUNT(*))",
        "SUM(SUM(fare))",
        "COUNT(DISTINCT note)",
        "SUM(DISTINCT fare)",
        "COUNT(*) FILTER (WHERE rider = 'alice')",
        "COUNT(*) OVER ()",
        "SUM(1e308)",
        "SUM(exp(fare))",
        "AVG(1 / fare)",
        "SUM(CAST(note AS int))",
        "GROUPING(rider)",
        "any_value(note)",
        "approx_distinct(rider)",
        "stddev(fare)",
        "corr(fare, fare)",
    ] {
        all.push(format!("SELECT {expression} FROM trips"));
        all.push(format!("SELECT COUNT(*) FROM trips WHERE ({expression}) IS NOT NULL"));
        all.push(format!("SELECT COUNT({expression}) FROM trips WHERE rider = 'alice'"));
    }
    // Clauses.
    for clause in [
        "GROUP BY rider",
        "GROUP BY rider || ''",
        "GROUP BY 1",
        "GROUP BY 99",
        "GROUP BY ROLLUP (district)",
        "GROUP BY CUBE (district)",
        "GROUP BY GROUPING SETS ((district))",
        "HAVING rider = 'alice'",
        "ORDER BY rider",
        "LIMIT -1",
        "LIMIT 1e9",
        "LIMIT (SELECT 1)",
        "OFFSET 9223372036854775808",
        "FETCH FIRST 1 ROW ONLY",
        "FOR SHARE",
        "WINDOW w AS ()",
        "QUALIFY true",
        "UNION SELECT 1",
        "EXCEPT SELECT 1",
        "WHERE",
        "WHERE rider",
        "WHERE NULL",
        "WHERE 1",
        "WHERE COUNT(*) > 1",
        "WHERE rider = \"alice\"",
        "SAMPLE 1",
        "PREWHERE true",
    ] {
        all.push(format!("SELECT COUNT(*) FROM trips {clause}"));
    }
    // Bombs.
    for many in [3, 10, 20, 60] {
        let mut doubled = "WITH t0 AS (SELECT *, note AS p FROM trips)".to_owned();
        let mut folded = "WITH t0 AS (SELECT *, 'abcdefghij' AS p FROM trips)".to_owned();
        for level in 1..=many {
            let before = level - 1;
            write!(doubled, ", t{level} AS (SELECT *, p || p AS p{level} FROM t{before})").unwrap();
            let grown = vec!["p"; 30].join(" || ");
            write!(folded, ", t{level} AS (SELECT rider, district, {grown} AS p FROM t{before})")
                .unwrap();
        }
        all.push(format!("{doubled} SELECT COUNT(p) FROM t{many}"));
        for use_of in ["COUNT(p)", "COUNT(*)", "SUM(length(p))"] {
            all.push(format!("{folded} SELECT {use_of} FROM t{many} WHERE p LIKE '%x'"));
            all.push(format!(
                "{folded} SELECT CASE WHEN rider = 'alice' THEN p ELSE 'x' END, {use_of} FROM t{many} GROUP BY 1"
            ));
        }
        let long = "a".repeat(many * 1_000);
        all.push(format!("SELECT COUNT(*) FROM trips WHERE note LIKE '%{long}b'"));
        all.push(format!(
            "SELECT COUNT(*) FROM trips WHERE CASE WHEN rider = 'alice' THEN '{long}' ELSE '' END LIKE '%aaaaaaaaaaaaaaaaaaab'"
        ));
        all.push(format!(
            "SELECT COUNT(*) FROM trips WHERE note IN ({})",
            vec!["'x'"; many * 40].join(", ")
        ));
        all.push(format!(
            "SELECT COUNT(*) FROM trips WHERE {}paid{}",
            "(".repeat(many),
            ")".repeat(many)
        ));
        all.push(format!("SELECT {} FROM trips", vec!["COUNT(*)"; many * 20].join(", ")));
        all.push(format!("SELECT COUNT(*) FROM trips WHERE fare > {}", "9".repeat(many * 100)));
        all.push(format!("SELECT COUNT(*) AS \"{}\" FROM trips", "n".repeat(many * 1_000)));
    }
    all
}

#[test]
fn hostile_statements_tell_nothing_and_take_nothing_down() {
    let folder = Folder::new();
    // One pair of CSV and one of Parquet.
    let pairs = [Neighbours::new(folder.path(), 0), Neighbours::new(folder.path(), 1)];
    let statements = statements();
    assert!(statements.len() >= 400, "{} statements", statements.len());
    let quick = std::env::var_os("EKE_TEST_QUESTIONS").is_none();
    let half = |neighbours: &Neighbours, offset: usize| {
        for (number, sql) in statements.iter().enumerate() {
            // The two share them out, unless there is time for all.
            if quick && number % 2 != offset {
                continue;
            }
            for command in [&["explain"][..], &["ask", "--price", "rho=0.5", "--json", "--yes"]] {
                let mut arguments = vec![command[0], sql.as_str(), "--as", "ana"];
                arguments.extend(&command[1..]);
                if arguments.iter().any(|argument| argument.contains('\0')) {
                    continue;
                }
                let [with, without] =
                    [&neighbours.with, &neighbours.without].map(|folder| run(folder, &arguments));
                let start: String = sql.chars().take(300).collect();
                for shown in [&with, &without] {
                    let said = format!("{}{}", shown.out, shown.err);
                    assert!(
                        !said.contains(CANARY) && !said.contains("panicked"),
                        "{start}: {said}"
                    );
                    assert!(matches!(shown.code, Some(0..=3)), "{start}: {shown:?}");
                }
                assert_eq!((with.code, &with.err), (without.code, &without.err), "{start}");
                if command[0] == "explain" || with.code != Some(0) {
                    assert_eq!(with.out, without.out, "{start}");
                }
            }
        }
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(|| half(&pairs[1], 1));
        half(&pairs[0], 0);
        other.join().unwrap();
    });
}
