//! Questions about rows of several datasets of one unit: what is pinned, charged and found again.

use std::fmt::Write as _;

use eke_engine::{Answer, Engine, EngineError, Who};

use crate::trips::{Folder, price, question};

const POLICY: &str = r#"
[unit.member]
adjacency = "add-remove"
budget = { epsilon = 60.0, delta = 1e-5 }
[unit.guest]
adjacency = "add-remove"
budget = { epsilon = 60.0, delta = 1e-5 }

[dataset.members]
source = "members.csv"
unit = "member"
unit_column = "id"
max_groups = 2
max_rows = 4

[dataset.members.columns]
id = { type = "int" }
age = { type = "int", min = 0, max = 100 }

[dataset.loans]
source = "loans.csv"
unit = "member"
unit_column = "member"
max_groups = 3
max_rows = 8
answer_time = 0.2

[dataset.loans.columns]
member = { type = "int" }
days = { type = "int", min = 0, max = 40 }
genre = { type = "text", values = ["crime", "poetry"] }

[dataset.letters]
source = "letters.csv"
unit = "member"
unit_column = "member"
max_rows = 4

[dataset.visits]
source = "visits.csv"
unit = "guest"
unit_column = "id"
max_rows = 4

[dataset.visits.columns]
id = { type = "int" }

[analyst.ana]
"#;

/// A thousand members, of whom every second has two loans, and one loan that is nobody's.
fn library() -> Folder {
    let folder = Folder::new();
    folder.write("eke.toml", POLICY);
    let mut members = String::from("id,age\n");
    for id in 0..1_000 {
        writeln!(members, "{id},{}", 20 + id % 50).unwrap();
    }
    members.push_str(",33\n,44\n");
    folder.write("members.csv", &members);
    folder.write("loans.csv", &loans(2));
    folder.write("letters.csv", "member,text\na,b\n");
    folder.write("visits.csv", "id\n1\n2\n");
    folder
}

fn loans(step: usize) -> String {
    let mut loans = String::from("member,days,genre\n,9,crime\n");
    for id in (0..1_000).step_by(step) {
        writeln!(loans, "{id},7,crime\n{id},9,poetry").unwrap();
    }
    loans
}

fn ask(engine: &Engine, sql: &str) -> Result<Answer, EngineError> {
    engine.ask(&question("steward", sql, price("0.05")), &())
}

/// What all units have spent.
fn spent(engine: &Engine) -> f64 {
    engine.budget(&Who::Steward).unwrap().iter().map(|account| account.spent.rho).sum()
}

fn near(answer: &Answer, expected: &[f64]) {
    let found: Vec<f64> = answer.rows[0].values.iter().map(|cell| cell.value.unwrap()).collect();
    let all = found.iter().zip(expected);
    assert!(all.into_iter().all(|(a, b)| (a - b).abs() < 150.0), "{found:?} {expected:?}");
    assert_eq!(found.len(), expected.len());
}

#[test]
fn rows_of_several_datasets_are_answered_together() {
    let folder = library();
    let engine = folder.engine();
    for (sql, expected) in [
        (
            "SELECT COUNT(*), COUNT(DISTINCT id) FROM members JOIN loans ON id = member",
            &[1_000.0, 500.0][..],
        ),
        (
            "SELECT COUNT(*), COUNT(genre) FROM members LEFT JOIN loans ON id = member AND days > 8",
            &[1_000.0, 500.0],
        ),
        ("SELECT COUNT(*) FROM members WHERE id NOT IN (SELECT member FROM loans)", &[500.0]),
        (
            "SELECT COUNT(*) FROM members m WHERE EXISTS (SELECT 1 FROM loans WHERE member = m.id AND days < age)",
            &[500.0],
        ),
        (
            "SELECT COUNT(*) FROM (SELECT id, age AS n FROM members UNION ALL SELECT member, days FROM loans) AS x",
            &[2_000.0],
        ),
    ] {
        let answer = ask(&engine, sql).unwrap_or_else(|no| panic!("{sql}: {no}"));
        near(&answer, expected);
    }
}

/// Every dataset is pinned, and what the steward should know of each is kept.
#[test]
fn every_dataset_of_a_question_is_pinned_and_looked_at() {
    let folder = library();
    let engine = folder.engine();
    let sql = "SELECT COUNT(*) FROM members JOIN loans ON id = member";
    let first = ask(&engine, sql).unwrap();
    let once = spent(&engine);
    let again = ask(&engine, sql).unwrap();
    assert!(again.free && again.rows == first.rows && (spent(&engine) - once).abs() < 1e-12);
    let notices = engine.notices().unwrap().join("\n");
    assert!(notices.contains("2 rows of `members` have no unit"), "{notices}");
    assert!(notices.contains("1 rows of `loans` have no unit"), "{notices}");
    // Other rows of the second are told of, and another snapshot of it is another question.
    folder.write("loans.csv", &loans(4));
    assert!(ask(&engine, sql).unwrap_err().to_string().contains("loans"));
    // Both had one: it is the second of each.
    assert_eq!(engine.snapshot("loans").unwrap().number, 2);
    let now = ask(&engine, sql).unwrap();
    assert!(!now.free && spent(&engine) > once + 0.01);
    near(&now, &[500.0]);
    // What is about the first alone is still what it was.
    ask(&engine, "SELECT COUNT(*) FROM members").unwrap();
    engine.snapshot("loans").unwrap();
    assert!(ask(&engine, "SELECT COUNT(*) FROM members").unwrap().free);
    assert_eq!(engine.snapshot("members").unwrap().number, 2);
}

#[test]
fn datasets_of_other_units_or_other_ids_do_not_meet() {
    let folder = library();
    let engine = folder.engine();
    let no = |sql: &str| ask(&engine, sql).unwrap_err().to_string();
    let other = no("SELECT COUNT(*) FROM members JOIN visits ON members.id = visits.id");
    assert!(other.contains("different units"), "{other}");
    // The planner sees texts and ints; UNION ALL without the unit is seen by the ids.
    let ids = no("SELECT COUNT(*) FROM (SELECT 1 FROM members UNION ALL SELECT 1 FROM letters) x");
    assert!(ids.contains("ids of units"), "{ids}");
    assert!(spent(&engine) == 0.0);
    let analyst = question(
        "ana",
        "SELECT COUNT(*) FROM members WHERE id IN (SELECT id FROM visits)",
        price("0.01"),
    );
    assert!(engine.ask(&analyst, &()).is_err());
    let analyst = question(
        "ana",
        "SELECT COUNT(*) FROM members WHERE id IN (SELECT member FROM loans)",
        price("0.01"),
    );
    engine.ask(&analyst, &()).unwrap();
}
