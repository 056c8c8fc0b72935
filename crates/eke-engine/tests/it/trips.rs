//! Trips of riders in zones, what may be told of them, and questions about them.

use std::fmt::Write as _;
use std::path::Path;

use eke_engine::{Accuracy, ColumnGoals, Engine, Goal, Question, Who};
use eke_noise::{Confidence, Tolerance};
use tempfile::TempDir;

pub(crate) const ZONES: &str = "SELECT zone, COUNT(*) AS n FROM trips GROUP BY zone";

/// A folder of its own for each test, gone when it ends.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.path().join(name), text).unwrap();
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn engine(&self) -> Engine {
        Engine::open(&self.0.path().join("eke.toml")).unwrap()
    }

    /// The same files with a ledger of its own.
    pub(crate) fn fresh(&self) -> Engine {
        let ledger = self.0.path().join("eke.ledger");
        for end in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{end}", ledger.display()));
        }
        let _ = std::fs::remove_file(self.0.path().join("eke.toml.anchor"));
        self.engine()
    }
}

const POLICY: &str = r#"
[unit.rider]
adjacency = "ADJACENCY"
budget = { epsilon = 4.0, delta = 1e-5 }

[dataset.trips]
source = "trips.csv"
unit = "rider"
unit_column = "rider"
max_groups = GROUPS
max_rows = ROWS
cut_counts = false

[dataset.trips.columns]
fare = { type = "float", min = 0, max = 100 }
zone = { type = "int" VALUES }

[tier.partner]
finest = { rho = 1e-3 }
budget = { epsilon = 2.0, delta = 1e-6 }

[analyst.ana]
[analyst.bob]
tier = "partner"
[analyst.eve]
tier = "partner"
[circle.partners]
analysts = ["bob", "eve"]
budget = { epsilon = 2.0, delta = 1e-6 }
"#;

/// The policy of the trips, without cut counts: what is tested is what groups cost.
pub(crate) fn policy(adjacency: &str, groups: u32, rows: u32, zones: Option<u32>) -> String {
    let values = zones.map_or(String::new(), |zones| {
        let zones: Vec<String> = (0..zones).map(|zone| zone.to_string()).collect();
        format!(", values = [{}]", zones.join(", "))
    });
    POLICY
        .replace("ADJACENCY", adjacency)
        .replace("GROUPS", &groups.to_string())
        .replace("ROWS", &rows.to_string())
        .replace("VALUES", &values)
}

/// Riders of one trip each, a given number in every zone; fares go round from 10 to 49.
pub(crate) fn trips(sizes: &[u32]) -> String {
    let mut text = String::from("rider,zone,fare\n");
    let mut rider = 0;
    for (zone, size) in sizes.iter().enumerate() {
        for _ in 0..*size {
            let _ = writeln!(text, "r{rider},{zone},{}", 10 + rider % 40);
            rider += 1;
        }
    }
    text
}

pub(crate) fn goal(accuracy: Accuracy) -> Goal {
    let confidence = Confidence::new(0.95).unwrap();
    Goal { accuracy, floor: None, at_most: None, confidence }
}

pub(crate) fn price(rho: &str) -> Goal {
    goal(Accuracy::Price(rho.parse().unwrap()))
}

pub(crate) fn relative(tolerance: f64) -> Goal {
    goal(Accuracy::Relative(Tolerance::new(tolerance).unwrap()))
}

pub(crate) fn question(who: &str, sql: &str, goal: Goal) -> Question {
    let who = if who == "steward" { Who::Steward } else { Who::Analyst(who.to_owned()) };
    Question { sql: sql.to_owned(), goal, columns: ColumnGoals::default(), who }
}

/// What the unit has spent.
pub(crate) fn spent(engine: &Engine) -> f64 {
    engine.budget(&Who::Steward).unwrap()[0].spent.rho
}
