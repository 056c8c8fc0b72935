//! Questions about units of several columns, and of people in a period: what is counted, pinned and
//! promised.

use std::fmt::Write as _;

use eke_engine::{Answer, Engine, EngineError, Who};

use crate::trips::{Folder, price, question};

const POLICY: &str = r#"
[unit.UNIT]
adjacency = "add-remove"
budget = { epsilon = 40.0, delta = 1e-5 }

[dataset.NAME]
source = "people.csv"
unit = "UNIT"
WHOSE
max_groups = 4
max_rows = 8

[dataset.NAME.columns]
person = { type = "int", values = "1..4" }
started = { type = "timestamp" }
fare = { type = "float", min = 0, max = 50 }
"#;

const SEVERAL: &str = "unit_columns = [\"home\", \"person\"]";
const MONTHS: &str = "unit_column = \"home\"\nunit_period = \"month\"\ntime_column = \"started\"";

fn policy(unit: &str, name: &str, whose: &str) -> String {
    POLICY.replace("UNIT", unit).replace("NAME", name).replace("WHOSE", whose)
}

/// Five hundred homes of two people with three trips each, in January and February; a few rows
/// without a home, a person or a time, and cells that are no times and no numbers.
fn people() -> Folder {
    let folder = Folder::new();
    let mut rows = String::from("home,person,started,fare\n");
    for home in 0..500 {
        for person in 1..=2 {
            for day in ["2024-01-31 23:30:00", "2024-02-01", "2024-02-29T12:00:00Z"] {
                writeln!(rows, "h{home},{person},{day},{}", 10 * person).unwrap();
            }
        }
    }
    rows.push_str(
        ",1,2024-01-01,5\nh1,,2024-01-01,5\nh1,x,2024-01-01,5\nh1,1,,5\nh1,1,soon,cheap\n",
    );
    folder.write("people.csv", &rows);
    folder
}

fn ask(engine: &Engine, sql: &str) -> Result<Answer, EngineError> {
    engine.ask(&question("steward", sql, price("0.5")), &())
}

fn near(engine: &Engine, sql: &str, expected: &[f64]) {
    let answer = ask(engine, sql).unwrap_or_else(|error| panic!("{error}: {sql}"));
    let found = answer.rows.iter().flat_map(|row| &row.values);
    let found: Vec<f64> = found.map(|cell| cell.value.unwrap()).collect();
    let is_near = |(a, b): (&f64, &f64)| (a - b).abs() < 60.0;
    assert_eq!(found.len(), expected.len(), "{sql}: {found:?}");
    assert!(found.iter().zip(expected).all(is_near), "{sql}: {found:?} {expected:?}");
}

#[test]
fn people_of_several_columns_are_counted_and_pinned_in_their_order() {
    let folder = people();
    folder.write("eke.toml", &policy("person", "people", SEVERAL));
    let engine = folder.engine();
    // Two rows lack a person; a time that cannot be read is no part of a unit.
    near(
        &engine,
        "SELECT COUNT(*), COUNT(DISTINCT (home, person)) FROM people",
        &[3_002.0, 1_000.0],
    );
    near(
        &engine,
        "SELECT person, COUNT(*) FROM people GROUP BY person",
        &[1_502.0, 1_500.0, 0.0, 0.0],
    );
    near(
        &engine,
        "SELECT COUNT(*) FROM (SELECT home, person, SUM(fare) AS paid FROM people GROUP BY home, person) AS x WHERE paid > 40",
        &[500.0],
    );
    near(
        &engine,
        "SELECT COUNT(*) FROM people p JOIN people q USING (home, person) WHERE p.started < q.started",
        &[3_000.0],
    );
    // One number for the dataset, whatever was asked.
    ask(&engine, "SELECT COUNT(*) FROM people WHERE fare = 5").unwrap();
    let notices = engine.notices().unwrap().join("\n");
    assert!(notices.contains("3 rows of `people` have no unit that can be read"), "{notices}");
    assert_eq!(notices.matches("no unit that can be read").count(), 1, "{notices}");
    drop(engine);

    // Not in another order, not by fewer, not by a period, and not under another name.
    let turned = "unit_columns = [\"person\", \"home\"]";
    let fewer = "unit_column = \"home\"";
    let by_month = format!("{SEVERAL}\nunit_period = \"month\"\ntime_column = \"started\"");
    for whose in [turned, fewer, by_month.as_str()] {
        folder.write("eke.toml", &policy("person", "people", whose));
        let error = ask(&folder.engine(), "SELECT COUNT(*) FROM people").unwrap_err();
        let told = error.to_string();
        assert!(told.contains("this ledger was opened for `people` of unit `person`"), "{told}");
    }
    for whose in [SEVERAL, turned] {
        folder.write("eke.toml", &policy("human", "humans", whose));
        let error = ask(&folder.engine(), "SELECT COUNT(*) FROM humans").unwrap_err();
        let told = error.to_string();
        assert!(told.contains("another name for a unit is not another budget"), "{told}");
    }
    folder.write("eke.toml", &policy("person", "people", SEVERAL));
    assert!(ask(&folder.engine(), "SELECT COUNT(*) FROM people").is_ok());
}

#[test]
fn people_in_a_month_are_counted_pinned_and_promised_the_square() {
    let folder = people();
    folder.write("eke.toml", &policy("home_month", "trips", MONTHS));
    let engine = folder.engine();
    near(
        &engine,
        "SELECT COUNT(*), COUNT(DISTINCT (home, DATE_TRUNC('month', started))) FROM trips",
        &[3_002.0, 1_000.0],
    );
    near(
        &engine,
        "SELECT COUNT(*) FROM (SELECT home, DATE_TRUNC('month', started) AS month, COUNT(*) AS n FROM trips GROUP BY 1, 2) AS x WHERE n = 4",
        &[500.0],
    );
    let answer =
        ask(&engine, "SELECT DATE_TRUNC('month', started) AS m, COUNT(*) FROM trips GROUP BY 1")
            .unwrap();
    assert_eq!(answer.rows.len(), 2);
    assert_eq!(answer.covers.unwrap().max_groups, Some(1));
    let notices = engine.notices().unwrap().join("\n");
    assert!(notices.contains("3 rows of `trips` have no unit that can be read"), "{notices}");
    let over = engine.budget(&Who::Steward).unwrap()[0].over_periods.clone().unwrap();
    let rho = engine.budget(&Who::Steward).unwrap()[0].budget.rho;
    assert!((over.rho / rho - 144.0).abs() < 1e-9, "{over:?} {rho}");
    assert!(over.promise.unwrap().epsilon > 40.0 * 12.0, "{over:?}");
    drop(engine);

    for (whose, expected) in [
        (MONTHS.replace("month", "week"), "this ledger was opened for `trips`"),
        (format!("{MONTHS}\nunit_zone = \"+02:00\""), "this ledger was opened for `trips`"),
        ("unit_column = \"home\"".to_owned(), "this ledger was opened for `trips`"),
    ] {
        folder.write("eke.toml", &policy("home_month", "trips", &whose));
        let told = ask(&folder.engine(), "SELECT COUNT(*) FROM trips").unwrap_err().to_string();
        assert!(told.contains(expected), "{told}");
        // The unit keeps its period and its zone, whatever its datasets are called.
        folder.write("eke.toml", &policy("home_month", "others", &whose));
        folder.write("others.csv", "home,person,started,fare\nx,1,2024-01-01,3\n");
        let other = policy("home_month", "others", &whose).replace("people.csv", "others.csv");
        folder.write("eke.toml", &other);
        let told = ask(&folder.engine(), "SELECT COUNT(*) FROM others").unwrap_err().to_string();
        assert!(told.contains("this ledger knows unit `home_month` by"), "{told}");
    }
    // The same people by another period are no other budget, unless the policy had both at first.
    folder.write("eke.toml", &policy("home_week", "weeks", &MONTHS.replace("\"month", "\"week")));
    let told = ask(&folder.engine(), "SELECT COUNT(*) FROM weeks").unwrap_err().to_string();
    assert!(told.contains("another name for a unit is not another budget"), "{told}");
    // People as a whole are another unit, and what is spent on both adds up.
    let both =
        policy("home_month", "trips", MONTHS) + &policy("home", "homes", "unit_column = \"home\"");
    folder.write("eke.toml", &both);
    let engine = folder.engine();
    let adds_up = "M x M times rho of home_month for somebody in M months";
    assert!(engine.remarks().join("\n").contains(adds_up), "{:?}", engine.remarks());
    near(&engine, "SELECT COUNT(DISTINCT home) FROM homes", &[500.0]);
    let notices = engine.notices().unwrap().join("\n");
    assert!(notices.contains(adds_up) && notices.contains("plus rho of home"), "{notices}");
    let standings = engine.budget(&Who::Steward).unwrap();
    let whole = standings.iter().find(|standing| standing.unit == "home").unwrap();
    assert_eq!(whole.over_periods, None);
}
