//! What makes a question another one: the snapshot and the types that files are read with.

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
