//! What makes a question another one: the snapshot and the types that files are read with.

use eke_engine::error::NotAnswered;
use eke_engine::{Answer, Engine, EngineError, Goal};

use crate::trips::{Folder, ZONES, policy, price, question, spent, trips};

const LARGEST: &str = "SELECT zone FROM trips GROUP BY zone ORDER BY COUNT(*) DESC LIMIT 1";

fn ask(engine: &Engine, sql: &str, goal: Goal) -> Answer {
    engine.ask(&question("ana", sql, goal), &()).unwrap()
}

#[test]
fn a_new_snapshot_selects_and_ranks_anew() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 1, 1, None));
    folder.write("trips.csv", &trips(&[3_000, 2_000]));
    let engine = folder.engine();
    let costs = || [ZONES, LARGEST].map(|sql| ask(&engine, sql, price("0.001")).cost.rho);
    // Keys cost extra, once; the second question finds them.
    let [first, ranked] = costs();
    assert!(first > 0.002 && (ranked - 0.001).abs() < 1e-12, "{first} {ranked}");
    assert_eq!(costs(), [0.0, 0.0]);
    engine.snapshot("trips").unwrap();
    assert_eq!(costs(), [first, ranked]);
}

#[test]
fn a_column_read_as_another_type_is_another_question() {
    let folder = Folder::new();
    let before = policy("add-remove", 1, 1, Some(2));
    folder.write("eke.toml", &before);
    folder.write("trips.csv", &trips(&[300, 200]));
    for sql in [ZONES, LARGEST] {
        folder.write("eke.toml", &before);
        assert!(!ask(&folder.engine(), sql, price("0.001")).free);
        assert!(ask(&folder.engine(), sql, price("0.001")).free);
        folder.write("eke.toml", &before.replace("type = \"float\"", "type = \"int\""));
        assert!(!ask(&folder.engine(), sql, price("0.001")).free, "{sql}");
    }
}

/// What is looked up in a public table is part of the question, and nothing else of the table is.
#[test]
fn a_public_table_that_changes_is_another_question() {
    let folder = Folder::new();
    let zones = "[dataset.areas]\nsource = \"areas.csv\"\npublic = true\n\
                 [dataset.areas.columns]\nzone = { type = \"int\" }\narea = { type = \"text\" }\n";
    folder.write("eke.toml", &format!("{zones}{}", policy("add-remove", 1, 1, None)));
    folder.write("trips.csv", &trips(&[300, 200]));
    let sql = "SELECT area, COUNT(*) FROM trips LEFT JOIN areas USING (zone) GROUP BY area";
    let areas = |text: &str| folder.write("areas.csv", text);
    areas("zone,area,note\n0,north,\n1,south,\n2,south,\n");
    let first = ask(&folder.engine(), sql, price("0.001"));
    // The areas are public keys, and so is that there is none.
    let keys: Vec<String> = first.rows.iter().map(|row| format!("{:?}", row.keys)).collect();
    assert_eq!(first.rows.len(), 3, "{keys:?}");
    assert!(!first.free && ask(&folder.engine(), sql, price("0.001")).free);
    // Another order, and cells that are not looked up.
    areas("zone,area,note\n2,south,x\n1,south,\n0,north,y\n");
    assert!(ask(&folder.engine(), sql, price("0.001")).free);
    areas("zone,area,note\n0,north,\n1,south,\n2,north,\n");
    assert!(!ask(&folder.engine(), sql, price("0.001")).free);
}

#[test]
fn values_of_a_column_may_come_from_a_public_table() {
    let folder = Folder::new();
    let areas = "[dataset.areas]\nsource = \"areas.csv\"\npublic = true\n\
                 [dataset.areas.columns]\nzone = { type = \"int\" }\n";
    let policy = policy("add-remove", 1, 1, None);
    let listed = |values: &str| {
        let policy = policy.replace(
            "zone = { type = \"int\" ",
            &format!("zone = {{ type = \"int\", values = {values} "),
        );
        folder.write("eke.toml", &format!("{areas}{policy}"));
        folder.engine().ask(&question("steward", ZONES, price("0.001")), &())
    };
    folder.write("trips.csv", &trips(&[300, 200]));
    folder.write("areas.csv", "zone\n7\n0\n1\n\n7\n");
    assert_eq!(listed("{ from = \"areas.zone\" }").unwrap().rows.len(), 3);
    assert_eq!(listed("\"0..4\"").unwrap().rows.len(), 5);
    let told = listed("{ from = \"areas.name\" }").unwrap_err().to_string();
    assert!(told.contains("`areas.name`, and there is no such column"), "{told}");
}

#[test]
fn a_tier_that_may_not_see_selected_keys_is_told_so() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 1, 1, None).replace("1e-3", "1e-6"));
    folder.write("trips.csv", &trips(&[3_000, 2_000]));
    let engine = folder.engine();
    let told = engine.ask(&question("bob", ZONES, price("1e-7")), &()).unwrap_err();
    assert!(matches!(told, EngineError::Keys(_)), "{told}");
    assert!(told.to_string().contains("your tier may not see keys"), "{told}");
    // Also where somebody else had them selected.
    ask(&engine, ZONES, price("0.001"));
    let before = spent(&engine);
    assert!(engine.ask(&question("bob", ZONES, price("1e-7")), &()).is_err());
    assert!((spent(&engine) - before).abs() < 1e-15);
}

/// One row becomes few in joins with public tables, all of them together. Whether a row meets
/// anything is private: were its matches without limit, the time of an answer would tell.
#[test]
fn a_row_becomes_few_rows_in_joins() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 1, 1, Some(3)));
    folder.write("trips.csv", &trips(&[30, 20, 10]));
    let engine = folder.engine();
    let same = |name: &str, rows: u32| {
        format!(
            "JOIN (SELECT i / 100000 AS c FROM generate_series(1, {rows}) g(i)) AS {name} \
             ON t.zone = {name}.c"
        )
    };
    let ask = |joins: &[String]| {
        let sql = format!("SELECT COUNT(*) FROM trips t {}", joins.join(" "));
        engine.ask(&question("steward", &sql, price("1e-4")), &())
    };
    assert!(ask(&[same("a", 256)]).is_ok());
    assert!(ask(&[same("a", 16), same("b", 16)]).is_ok());
    let before = spent(&engine);
    // Tables that only choose are looked through for each row that there is by then.
    let chooses = |rows: u32, condition: &str| {
        format!(
            "{} WHERE EXISTS (SELECT 1 FROM (SELECT i / 100000 AS c, i FROM \
             generate_series(1, {rows}) g(i)) AS e WHERE t.zone = e.c {condition})",
            same("a", 16)
        )
    };
    assert!(ask(&[chooses(16, "AND t.fare < e.i")]).is_ok());
    assert!(ask(&[chooses(1_000, "")]).is_ok(), "no row of it is looked at");
    // What is done with texts counts for every row that there is by then.
    let text = "rpad(t.fare::text, 200, 'x') ~ 'a.*b' AND";
    let texts = |rows: u32| format!("{} WHERE {text} t.fare < 3", same("a", rows));
    assert!(ask(&[texts(8)]).is_ok());
    let before = before.max(spent(&engine));
    for joins in [
        &[same("a", 257)][..],
        &[same("a", 16), same("b", 17)],
        &[chooses(17, "AND t.fare < e.i")],
        &[texts(256).replace("a.*b", &"(a|b)*c".repeat(20))],
    ] {
        let error = ask(joins).unwrap_err();
        assert!(matches!(error, EngineError::Unanswerable(NotAnswered::FanOut { .. })), "{error}");
    }
    assert!(spent(&engine) == before);
}
