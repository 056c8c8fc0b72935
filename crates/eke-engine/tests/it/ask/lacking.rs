//! What answers lack, and what would do; what may be asked about; rehearsals.

use std::collections::BTreeMap;

use eke_engine::ask::{InEpsilon, WhyFewer, explain_for, price_delta};
use eke_engine::policy::Policy;
use eke_engine::{Accuracy, Answer, Engine, Goal, Stopped, Who, rehearse, tables};

use crate::trips::{Folder, ZONES, goal, policy, price, question, relative, trips};

fn ask(engine: &Engine, who: &str, sql: &str, goal: Goal) -> Answer {
    engine.ask(&question(who, sql, goal), &()).unwrap()
}

fn at_most(rho: f64, goal: Goal) -> Goal {
    Goal { at_most: Some(format!("{rho:e}").parse().unwrap()), ..goal }
}

fn three_zones() -> Folder {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 1, 1, Some(3)));
    folder.write("trips.csv", &trips(&[9_000, 3_000, 800]));
    folder
}

/// What an answer says would do does, as far as it could be estimated from what was released.
#[test]
fn what_would_do_does() {
    let average = "SELECT zone, AVG(fare) AS f FROM trips GROUP BY zone";
    let mut estimated = 0;
    for (sql, name, wanted) in [
        (ZONES, "n", relative(0.02)),
        (average, "f", relative(0.03)),
        (average, "f", goal(Accuracy::Absolute(1.0))),
    ] {
        let folder = three_zones();
        let engine = folder.engine();
        let short = ask(&engine, "steward", sql, at_most(2e-3, wanted));
        assert!(!short.is_met() && !short.unmet.is_empty(), "{short:?}");
        let mut needs = 0.0f64;
        for unmet in &short.unmet {
            let rows = short.rows.iter().flat_map(|row| &row.values);
            let missed = rows.filter(|cell| cell.met == Some(false) && cell.ending == unmet.ending);
            assert_eq!((&*unmet.name, unmet.rows), (name, missed.count()), "{short:?}");
            assert!(matches!(unmet.ending, Stopped::HighestPrice | Stopped::OutOfReach));
            needs = needs.max(unmet.needs.map_or(0.0, |needs| needs.rho));
        }
        estimated += u32::from(needs > 0.0);
        // Values were estimated from little: several times as much is sure to do.
        let enough = ask(&engine, "steward", sql, at_most(0.2 + 8.0 * needs, wanted));
        assert!(enough.is_met() && enough.unmet.is_empty(), "{needs} {enough:?}");
    }
    assert!(estimated > 0);
}

/// Where all that is left is not enough, it says which error is within reach, and that it is.
#[test]
fn what_is_within_reach_is() {
    let folder = three_zones();
    let engine = folder.engine();
    let whole = ask(&engine, "steward", ZONES, price("1e-9")).budget.rho;
    let first = ask(&engine, "steward", ZONES, at_most(whole * 0.7, relative(1e-4)));
    let unmet = first.unmet.first().unwrap();
    let needs = unmet.needs.unwrap_or_else(|| panic!("{first:?}"));
    assert!(needs.rho > first.left.rho, "{unmet:?}");
    let reach = unmet.reach.unwrap();
    let near = ask(&engine, "steward", ZONES, goal(Accuracy::Absolute(reach * 1.1)));
    assert!(near.is_met(), "{reach} {near:?}");
    // A tier that sees no further is told no price.
    let bob = ask(&engine, "bob", ZONES, relative(0.001));
    assert!(bob.unmet.iter().all(|unmet| unmet.needs.is_none()), "{bob:?}");
    assert!(bob.unmet.iter().any(|unmet| unmet.ending == Stopped::Tier), "{bob:?}");
}

/// A list that is shorter than it was asked for says why, also when it is given again.
#[test]
fn short_lists_say_why() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 20, 1, Some(60)));
    let mut sizes = vec![0; 60];
    (sizes[3], sizes[7]) = (6_000, 5_000);
    folder.write("trips.csv", &trips(&sizes));
    let engine = folder.engine();
    let why = |who: &str, sql: &str, goal: Goal| {
        let answer = ask(&engine, who, sql, goal);
        let again = ask(&engine, who, sql, goal);
        assert!(again.free && again.fewer == answer.fewer, "{again:?}");
        answer.fewer.map(|fewer| (fewer.rows, fewer.wanted, fewer.why))
    };
    let top = |limit: u32| format!("{ZONES} ORDER BY n DESC LIMIT {limit}");
    // Of the first eight that are picked only two have anything in them.
    assert_eq!(
        why("steward", &top(20), at_most(0.01, relative(0.2))),
        Some((8, 20, WhyFewer::Goal))
    );
    assert_eq!(why("steward", &top(1), at_most(0.01, relative(0.2))), None);
    let having = format!("{ZONES} HAVING n > 2000 LIMIT 5");
    assert_eq!(why("steward", &having, price("0.01")), Some((2, 5, WhyFewer::Having)));
    let none = format!("{ZONES} HAVING n > 1000000");
    assert_eq!(why("steward", &none, price("0.01")), Some((0, 60, WhyFewer::Having)));
    let all = format!("{ZONES} LIMIT 100");
    assert_eq!(why("steward", &all, price("0.01")), Some((60, 100, WhyFewer::Groups)));
    // Partners see as many picks as their finest point pays for.
    let keys = "SELECT zone FROM trips GROUP BY zone ORDER BY COUNT(*) DESC LIMIT 30";
    let bob = why("bob", keys, relative(0.2)).unwrap();
    assert!(bob.0 < 30 && bob.1 == 30 && bob.2 == WhyFewer::Tier, "{bob:?}");
}

/// Picks of empty groups cannot be told from noise, and those of large ones can.
#[test]
fn picks_that_may_be_noise_are_marked() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 20, 1, Some(60)));
    let mut sizes = vec![0; 60];
    (sizes[3], sizes[7]) = (60_000, 50_000);
    folder.write("trips.csv", &trips(&sizes));
    let engine = folder.engine();
    let sql = format!("{ZONES} ORDER BY n DESC LIMIT 6");
    let answer = ask(&engine, "steward", &sql, at_most(0.02, relative(0.3)));
    let picks = answer.picks.as_ref().unwrap();
    // One rider adds at most one, up or down for all: ln(59/0.05) over the root of eight picks.
    let each = answer.budget.rho / 1000.0;
    let within = (59.0f64 / 0.05).ln() / (8.0 * each).sqrt();
    assert!((picks.within / within - 1.0).abs() < 1e-9, "{picks:?} {within}");
    let large = |row: usize| answer.rows[row].values[0].value.unwrap() > 30_000.0;
    for row in 0..answer.rows.len() {
        assert_eq!(picks.doubtful.contains(&row), !large(row), "{row} {answer:?}");
    }
    assert!(picks.doubtful.len() == 4, "{answer:?}");
    // Where all groups are measured nothing is picked.
    assert!(ask(&engine, "steward", ZONES, price("1e-3")).picks.is_none());
}

/// A price in epsilon is the same in both directions, on the safe side of each.
#[test]
fn prices_in_epsilon_are_those_in_rho() {
    let folder = three_zones();
    let engine = folder.engine();
    let delta = price_delta(engine.policy(), ZONES, &Who::Steward).unwrap().unwrap();
    // A tenth of delta is kept for mechanisms.
    assert!((delta.get() / 9e-6 - 1.0).abs() < 1e-9, "{delta}");
    let answer = ask(&engine, "steward", ZONES, price("0.01"));
    let epsilon = answer.epsilon.unwrap();
    assert_eq!(InEpsilon::of(0.01, delta), Some(epsilon));
    let least = eke_budget::convert::GaussianCurve;
    let rho = eke_budget::Rho::new(0.01).unwrap();
    let exact = eke_budget::convert::Curve::epsilon(&least, rho, delta).unwrap();
    assert!(epsilon.cost > exact.get() && epsilon.cost < 1.2 * exact.get(), "{epsilon:?} {exact}");
    // What was free costs nothing in either.
    assert!(ask(&engine, "steward", ZONES, price("0.01")).epsilon.is_none());
}

/// What is expected is what it costs, for values of that size.
#[test]
fn what_is_expected_is_about_what_it_costs() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 1, 1, Some(3)));
    folder.write("trips.csv", &trips(&[10_000, 10_000, 10_000]));
    let sum = "SELECT zone, SUM(fare) AS s, COUNT(*) AS n FROM trips GROUP BY zone";
    let average = "SELECT AVG(fare) FROM trips WHERE zone = 1";
    for (sql, goal, factor) in [
        (ZONES, relative(0.02), 2.0),
        (ZONES, goal(Accuracy::Absolute(50.0)), 1.01),
        (ZONES, price("0.003"), 1.01),
        // Fares are about a third of what they may be, and the count is nearer.
        (sum, relative(0.05), 14.0),
        (average, relative(0.02), 4.0),
    ] {
        let engine = folder.fresh();
        let told = explain_for(engine.policy(), &question("steward", sql, goal)).unwrap();
        let total = told.totals.iter().find(|total| total.units.is_none_or(|units| units > 9e3));
        let expected = total.unwrap().cost.unwrap().rho;
        let cost = ask(&engine, "steward", sql, Goal { at_most: None, ..goal }).cost.rho;
        let off = (cost / expected).max(expected / cost);
        assert!(off < factor, "{sql} {goal:?}: {cost} and not {expected}");
    }
}

/// The policy and the names and types of columns are all that tables and rehearsals are made of.
#[test]
fn a_rehearsal_reads_no_row_and_no_ledger() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 2, 3, Some(3)));
    let sql = "SELECT zone, COUNT(*) AS n, AVG(fare) AS f FROM trips GROUP BY zone";
    let mut told = Vec::new();
    // No rows, other rows, and rows that cannot be read as numbers.
    for rows in ["", "r1,1,5\n", "r1,1,5\nr2,x,y\n"] {
        folder.write("trips.csv", &format!("rider,zone,fare\n{rows}"));
        folder.write("eke.ledger", "no ledger");
        let policy = Policy::read(&folder.path().join("eke.toml")).unwrap();
        let listed = tables(&policy, &Who::Analyst("bob".into())).unwrap();
        let scratch = tempfile::tempdir().unwrap();
        let engine =
            rehearse(&policy, sql, &Who::Steward, Some(500), &BTreeMap::new(), scratch.path())
                .unwrap();
        let answer = ask(&engine, "steward", sql, price("0.05"));
        let rows: Vec<_> = answer.rows.iter().map(|row| row.keys.clone()).collect();
        let made = std::fs::read_to_string(scratch.path().join("trips.csv")).unwrap();
        told.push((listed, rows, answer.cost, made));
        let ledger = std::fs::read_to_string(folder.path().join("eke.ledger")).unwrap();
        assert_eq!(ledger, "no ledger");
        let mut there: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(there.drain(..).filter_map(Result::ok).count(), 3);
    }
    assert!(told[0] == told[1] && told[1] == told[2]);
    assert_eq!(told[0].1.len(), 3);
}

/// Rows can be made up for every type that a column has, and asked about.
#[test]
fn rehearsals_have_rows_of_every_type() {
    let folder = Folder::new();
    let text = "[unit.p]\nadjacency = \"replace\"\nbudget = { epsilon = 4.0, delta = 1e-5 }\n\
        people = 800\n[dataset.t]\nsource = \"t.csv\"\nunit = \"p\"\nunit_column = \"p\"\n\
        max_groups = 3\nmax_rows = 2\n[dataset.t.columns]\np = { type = \"date\" }\n\
        i = { type = \"int\", min = -5, max = 5 }\nf = { type = \"float\" }\n\
        b = { type = \"bool\" }\nd = { type = \"date\" }\ns = { type = \"timestamp\" }\n\
        k = { values = [\"a, b\", \"c\\\"d\", \"e\\nf\"] }\n";
    folder.write("eke.toml", text);
    folder.write("t.csv", "p,i,f,b,d,s,k,\"odd, name\"\n");
    let policy = Policy::read(&folder.path().join("eke.toml")).unwrap();
    for (sql, rows) in [
        ("SELECT k, COUNT(*) AS n, AVG(i) FROM t GROUP BY k", 3),
        ("SELECT COUNT(DISTINCT p) FROM t WHERE f < 1000 AND d >= '2025-01-01'", 1),
        ("SELECT b, COUNT(*) FROM t WHERE s < '2026-01-01' AND b IS NOT NULL GROUP BY b", 2),
        ("SELECT \"odd, name\", COUNT(*) FROM t GROUP BY 1", 1),
        ("SELECT EXTRACT(MONTH FROM d) AS m, SUM(i) FROM t GROUP BY m", 12),
    ] {
        let scratch = tempfile::tempdir().unwrap();
        let engine =
            rehearse(&policy, sql, &Who::Steward, None, &BTreeMap::new(), scratch.path()).unwrap();
        let answer = ask(&engine, "steward", sql, price("0.02"));
        assert!(answer.rows.len() >= rows, "{sql}: {answer:?}");
        if sql.contains("DISTINCT p") {
            let count = answer.rows[0].values[0].value.unwrap();
            assert!((count - 800.0).abs() < 80.0, "{answer:?}");
        }
    }
}
