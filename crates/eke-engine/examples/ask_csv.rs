//! A question about a CSV file of people's trips: a policy says what is promised to the people in
//! it, and the engine charges, reads, adds noise and answers, in that order.
//!
//! `cargo run -p eke-engine --example ask_csv`

use std::error::Error;
use std::fmt::Write;
use std::fs;

use eke_engine::{Accuracy, ColumnGoals, Engine, Goal, Question, Who};
use eke_noise::{Confidence, Tolerance};

const POLICY: &str = r#"
    [unit.rider]
    adjacency = "add-remove"
    budget = { epsilon = 2.0, delta = 1e-7 }

    [dataset.trips]
    source = "trips.csv"
    unit = "rider"
    unit_column = "rider_id"
    max_groups = 1
    max_rows = 1

    [dataset.trips.columns]
    rider_id = { type = "int" }
    city = { type = "text", values = ["Delft", "Leiden"] }

    [analyst.ana]
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let mut rows = String::from("rider_id,city\n");
    for rider in 0..9_000 {
        writeln!(rows, "{rider},{}", if rider % 3 == 0 { "Leiden" } else { "Delft" })?;
    }
    fs::write(folder.path().join("trips.csv"), rows)?;
    fs::write(folder.path().join("eke.toml"), POLICY)?;

    let engine = Engine::open(&folder.path().join("eke.toml"))?;
    let question = Question {
        sql: "SELECT city, COUNT(*) AS trips FROM trips GROUP BY city".into(),
        goal: Goal {
            accuracy: Accuracy::Relative(Tolerance::new(0.1)?),
            floor: None,
            at_most: Some("0.05".parse()?),
            confidence: Confidence::new(0.95)?,
        },
        columns: ColumnGoals::default(),
        who: Who::Analyst("ana".into()),
    };
    let answer = engine.ask(&question, &())?;
    for row in &answer.rows {
        let trips = row.values[0].value.ok_or("every city has a value")?;
        println!("{}: about {trips:.0} trips", row.keys[0]);
    }
    assert_eq!(answer.rows.len(), 2);

    // The same question again is the same point of the same path, and free.
    let again = engine.ask(&question, &())?;
    assert!(again.free && again.rows == answer.rows);
    Ok(())
}

#[test]
fn the_example_runs() {
    main().expect("the example runs");
}
