//! Subqueries by person and joins come to what they come to in PostgreSQL itself, where the tests
//! start one.
//!
//! Bounds are so wide here that nothing is cut: what is left is what SQL means.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use eke_budget::Adjacency;
use eke_engine::testing::{BatchesOf, RowsOptions, bounded_in_memory_of, looked_up};
use eke_sql::{Column, Protection, Table, Type, Value};
use eke_testkit::Dice;

use crate::rows::plain::Row;
use crate::rows::random;

/// Questions whose answers are whole numbers.
const SAME: &[&str] = &[
    "SELECT COUNT(DISTINCT city), COUNT(DISTINCT fare), COUNT(DISTINCT paid), COUNT(*) FROM trips",
    "SELECT COUNT(DISTINCT city) FILTER (WHERE paid), COUNT(DISTINCT who) FILTER (WHERE age > 0) FROM \
     trips",
    "SELECT COUNT(DISTINCT CASE WHEN age > 7 THEN city || 'x' ELSE 'no' END) FROM trips WHERE fare > 0",
    "SELECT COUNT(DISTINCT age * 2), COUNT(DISTINCT who) FROM trips",
    "SELECT COUNT(DISTINCT n), SUM(n) FROM (SELECT who, COUNT(*) AS n FROM trips GROUP BY who) AS p",
    "SELECT COUNT(DISTINCT area), COUNT(DISTINCT rank) FROM trips LEFT JOIN zones ON city = place",
    "SELECT COUNT(*), SUM(n) FROM (SELECT who, COUNT(*) AS n FROM trips GROUP BY who) AS p",
    "SELECT COUNT(*), SUM(n), COUNT(m) FROM (SELECT who, COUNT(age) AS n, MAX(age) AS m FROM trips \
     WHERE paid GROUP BY who) AS p WHERE n > 1 OR m IS NULL",
    "SELECT SUM(d) FROM (SELECT who, COUNT(DISTINCT city) AS d FROM trips GROUP BY who) AS p",
    "SELECT COUNT(*) FROM (SELECT who FROM trips GROUP BY who HAVING SUM(age) > 40 AND MIN(city) < 'M') \
     AS p",
    "SELECT SUM(s) FROM (SELECT who, city, SUM(age) AS s FROM trips GROUP BY who, city) AS p",
    "SELECT COUNT(*), SUM(m) FROM (SELECT who, MAX(s) AS m FROM (SELECT who, city, SUM(age) AS s FROM \
     trips GROUP BY who, city) AS c GROUP BY who) AS p",
    "SELECT COUNT(*) FROM (SELECT who, AVG(fare) AS a, BOOL_OR(paid) AS b FROM trips GROUP BY who) AS p \
     WHERE a > 3 AND b",
    "SELECT COUNT(*), COUNT(f) FROM (SELECT who, SUM(fare) FILTER (WHERE paid) AS f FROM trips GROUP BY \
     who) AS p",
    "SELECT COUNT(*) FROM (SELECT DISTINCT who, city, paid FROM trips) AS p",
    "SELECT COUNT(*), SUM(rank), COUNT(area) FROM trips JOIN zones ON city = place",
    "SELECT COUNT(*), SUM(rank), COUNT(area) FROM trips LEFT JOIN zones ON city = place",
    "SELECT COUNT(*), SUM(rank) FROM trips LEFT JOIN zones ON city = place AND rank < 10 AND paid",
    "SELECT COUNT(*) FROM trips LEFT JOIN zones ON age = rank WHERE place IS NULL",
    "SELECT COUNT(*) FROM zones RIGHT JOIN trips ON age = rank AND city = place",
    "SELECT COUNT(*), SUM(b.rank) FROM trips JOIN zones a ON city = a.place JOIN zones b ON a.area = \
     b.area",
    "SELECT COUNT(*) FROM trips LEFT JOIN (SELECT place AS p, rank FROM zones WHERE weight > 1) AS z ON \
     p = city WHERE rank > 0",
    "SELECT COUNT(*), SUM(n) FROM (SELECT who, area, COUNT(*) AS n FROM trips JOIN zones ON city = place \
     GROUP BY who, area) AS p",
    "SELECT COUNT(*), SUM(rank) FROM (SELECT who, MAX(city) AS town FROM trips GROUP BY who) AS p LEFT \
     JOIN zones ON town = place",
    "SELECT COUNT(*), SUM(age), SUM(years) FROM trips JOIN visits ON who = guest",
    "SELECT COUNT(*), COUNT(town), SUM(years) FROM trips LEFT JOIN visits ON who = guest AND city = town",
    "SELECT COUNT(*), COUNT(city), COUNT(town) FROM trips RIGHT JOIN visits ON who = guest AND age < years",
    "SELECT COUNT(*), COUNT(city), COUNT(town), COUNT(who), COUNT(guest), COUNT(DISTINCT COALESCE(who, guest)) \
     FROM trips FULL JOIN visits ON who = guest AND city = town",
    "SELECT COUNT(*), COUNT(city) FROM trips FULL JOIN (SELECT guest AS who, town AS city FROM visits WHERE \
     paid) v USING (who, city)",
    "SELECT COUNT(*) FROM trips a JOIN trips b ON a.who = b.who AND a.age < b.age",
    "SELECT COUNT(*), SUM(n) FROM (SELECT who, COUNT(*) AS n FROM trips GROUP BY who) p LEFT JOIN visits v \
     ON v.guest = p.who AND years > n",
    "SELECT COUNT(*), SUM(n) FROM (SELECT COALESCE(who, guest) AS u, COUNT(city) AS n FROM trips FULL JOIN \
     visits ON who = guest GROUP BY COALESCE(who, guest)) AS p WHERE n > 2",
    "SELECT COUNT(*), SUM(rank) FROM trips JOIN visits ON who = guest LEFT JOIN zones ON town = place",
    "SELECT COUNT(*) FROM trips WHERE who IN (SELECT guest FROM visits WHERE paid)",
    "SELECT COUNT(*) FROM trips WHERE who NOT IN (SELECT guest FROM visits WHERE paid AND guest IS NOT NULL)",
    "SELECT COUNT(*) FROM trips t WHERE EXISTS (SELECT 1 FROM visits WHERE guest = t.who AND town = city)",
    "SELECT COUNT(*) FROM trips t WHERE NOT EXISTS (SELECT * FROM visits v WHERE v.guest = t.who AND \
     v.years >= t.age) AND paid",
    "SELECT COUNT(*) FROM trips t WHERE NOT EXISTS (SELECT 1 FROM trips o WHERE o.who = t.who AND o.age > \
     t.age)",
    "SELECT COUNT(*) FROM trips WHERE city IN (SELECT town FROM visits WHERE guest = who)",
    "SELECT COUNT(*) FROM trips WHERE who IN (SELECT guest FROM visits GROUP BY guest HAVING COUNT(*) > 3)",
    "SELECT COUNT(*) FROM trips WHERE city IN (SELECT place FROM zones WHERE rank < 10)",
    "SELECT COUNT(*) FROM trips WHERE city NOT IN (SELECT place FROM zones)",
    "SELECT COUNT(*) FROM trips WHERE city NOT IN (SELECT place FROM zones WHERE place IS NOT NULL)",
    "SELECT COUNT(*) FROM trips WHERE city NOT IN (SELECT place FROM zones WHERE rank > 1000)",
    "SELECT COUNT(*) FROM trips WHERE NOT EXISTS (SELECT 1 FROM zones WHERE place = city AND rank > age)",
    "SELECT COUNT(*) FROM trips WHERE EXISTS (SELECT 1 FROM zones z WHERE z.place = city) AND age > 1",
    "SELECT COUNT(*), SUM(x) FROM (SELECT who, age AS x FROM trips UNION ALL SELECT guest, years FROM \
     visits WHERE paid UNION ALL SELECT who, 1 FROM trips WHERE NOT paid) AS u",
    "SELECT COUNT(*), SUM(n) FROM (SELECT who, COUNT(*) AS n FROM (SELECT who, city FROM trips UNION ALL \
     SELECT guest, town FROM visits) AS u WHERE city < 'E' GROUP BY who) AS p",
    "SELECT COUNT(*) FROM (SELECT who FROM trips UNION ALL SELECT guest FROM visits) AS u WHERE who IN \
     (SELECT guest FROM visits WHERE years > 5)",
];

fn table(name: &str, columns: Vec<(String, Type)>, protection: Protection) -> Table {
    let column = |(name, kind): (String, Type)| {
        let bounds = matches!(kind, Type::Int | Type::Float).then_some((-64.0, 64.0));
        Column { name, kind: Some(kind), bounds, values: None }
    };
    Table { name: name.to_owned(), columns: columns.into_iter().map(column).collect(), protection }
}

/// A table as PostgreSQL makes it.
fn created(name: &str, columns: &[(String, Type)], rows: &[Row]) -> String {
    let kind = |kind: &Type| match kind {
        Type::Bool => "bool",
        Type::Int => "bigint",
        Type::Float => "double precision",
        Type::Text => "text COLLATE \"C\"",
        Type::Date => "date",
        Type::Timestamp => "timestamp",
    };
    let fields: Vec<String> =
        columns.iter().map(|(name, of)| format!("\"{name}\" {}", kind(of))).collect();
    let mut sql = format!("CREATE TEMP TABLE {name} ({});\n", fields.join(", "));
    for row in rows {
        let cells: Vec<String> = columns
            .iter()
            .map(|(name, _)| match &row[name] {
                Value::Float(float) => format!("'{float}'"),
                value => value.to_string(),
            })
            .collect();
        let _ = writeln!(sql, "INSERT INTO {name} VALUES ({});", cells.join(", "));
    }
    sql
}

#[test]
fn subqueries_by_person_and_joins_come_to_what_they_come_to_in_postgresql() {
    let Ok(url) = std::env::var("EKE_TEST_POSTGRES") else {
        eprintln!("skipped: run ./test, or scripts/with-postgres cargo test");
        return;
    };
    // Values that add up to the same in any order, everywhere.
    let mut dice = Dice(11);
    let mut trips = random::table(&mut dice, Type::Int, 300, 40);
    trips.retain(|row| row["who"] != Value::Null);
    for row in &mut trips {
        row.insert("day".to_owned(), Value::Null);
        row.insert("at".to_owned(), Value::Null);
        if row["age"] != Value::Null {
            row.insert("age".to_owned(), Value::Int(*dice.pick(&[-1, 0, 1, 7, 40, 41])));
        }
        if row["fare"] != Value::Null {
            row.insert("fare".to_owned(), Value::Float(*dice.pick(&[0.5, 12.25, -3.0, 7.125])));
        }
    }
    let mut visits = random::visits(&mut dice, Type::Int, 120, 40);
    visits.retain(|row| row["guest"] != Value::Null);
    for row in &mut visits {
        if row["years"] != Value::Null {
            row.insert("years".to_owned(), Value::Int(*dice.pick(&[-1, 0, 1, 7, 40, 41])));
        }
        row.insert("cost".to_owned(), Value::Null);
    }
    let mut zones = random::zones();
    zones.retain(|row| row["rank"] != Value::Int(i64::MIN));
    let (schema, zone_columns) = (random::schema(Type::Int), random::zone_columns());
    let visit_schema = random::visit_schema(Type::Int);
    let mut sql = created("trips", &schema, &trips)
        + &created("zones", &zone_columns, &zones)
        + &created("visits", &visit_schema, &visits);
    SAME.iter().for_each(|question| sql.extend([question, ";\n"]));
    let mut psql = Command::new("psql")
        .args([
            "--no-psqlrc",
            "--no-align",
            "--tuples-only",
            "--quiet",
            "--set=ON_ERROR_STOP=1",
            &url,
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("psql comes with PostgreSQL");
    psql.stdin.take().unwrap().write_all(sql.as_bytes()).unwrap();
    let output = psql.wait_with_output().unwrap();
    assert!(output.status.success(), "psql failed");
    let answers = String::from_utf8(output.stdout).unwrap();
    let answers: Vec<&str> = answers.lines().collect();
    assert_eq!(answers.len(), SAME.len());

    let private = |unit_column: &str| Protection::Private {
        unit: "rider".to_owned(),
        unit_column: unit_column.to_owned(),
        adjacency: Adjacency::AddRemove,
        max_groups: 1,
        max_rows: 1 << 8,
        max_values: None,
        max_rows_in_all: None,
    };
    let tables = [
        table("trips", schema.clone(), private("who")),
        table("visits", visit_schema.clone(), private("guest")),
        table("zones", zone_columns.clone(), Protection::Public),
    ];
    for (sql, theirs) in SAME.iter().zip(answers) {
        let query = eke_sql::plan(sql, &tables).unwrap_or_else(|no| panic!("{sql}: {no}"));
        let public = looked_up(&query.plan, &|_| random::batch(&zones, &zone_columns));
        let options = RowsOptions { partitions: 2, public: &public, ..RowsOptions::usual() };
        let datasets = query.plan.datasets().into_iter().map(|dataset| {
            let (rows, schema, unit) = match dataset {
                "trips" => (&trips, &schema, "who"),
                _ => (&visits, &visit_schema, "guest"),
            };
            BatchesOf {
                dataset: dataset.to_owned(),
                unit_column: unit.to_owned(),
                schema: random::known(schema),
                pieces: rows.chunks(70).map(|rows| vec![random::batch(rows, schema)]).collect(),
            }
        });
        let datasets = datasets.collect();
        let found = bounded_in_memory_of(datasets, &query.plan, &[7; 32], options)
            .unwrap_or_else(|error| panic!("{sql}: {}", error.detail()));
        let values = found.values(&[Vec::new()]);
        let ours = query.measures.iter().map(|measure| match measure {
            eke_sql::Measure::Sum(sum) => {
                let natural = values[*sum][0] as f64 * query.plan.sums[*sum].step();
                natural.round().to_string()
            }
            other => panic!("{other:?}"),
        });
        assert_eq!(ours.collect::<Vec<_>>().join("|"), theirs, "{sql}");
    }
}
