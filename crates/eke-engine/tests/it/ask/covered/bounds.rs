//! Bounds that a question chooses, bounds on all rows of a unit, and how far a tier sees a question
//! whatever its bounds.

use eke_engine::error::{NoKeys, NotAllowed};
use eke_engine::{Accuracy, Engine, EngineError, Goal};
use eke_sql::SqlError;
use eke_sql::error::BoundsError;

use crate::trips::{Folder, ZONES, goal, policy, price, question, spent, trips};

const COUNT: &str = "SELECT COUNT(*) FROM trips";

fn folder(policy: &str, sizes: &[u32]) -> Folder {
    let folder = Folder::new();
    folder.write("eke.toml", policy);
    folder.write("trips.csv", &trips(sizes));
    folder
}

/// The policy with more about the dataset.
fn with(policy: &str, more: &str) -> String {
    // Analysts do not wait long for their slot.
    let more = format!("{more}\nanswer_time = 0.05\n\n[dataset.trips.columns]");
    policy.replace("[dataset.trips.columns]", &more)
}

fn bounded(bounds: &str, sql: &str) -> String {
    format!("SET eke.bounds = '{bounds}'; {sql}")
}

/// What a question costs the one who asks it.
fn cost(engine: &Engine, who: &str, sql: &str, goal: Goal) -> Result<f64, EngineError> {
    let answer = engine.ask(&question(who, sql, goal), &())?;
    Ok(answer.cost.rho)
}

#[test]
fn a_question_chooses_its_bounds_within_the_widest() {
    let widest =
        "widest = { max_groups = 4, max_rows = 9, columns = { fare = { min = -10, max = 500 } } }";
    let policy = with(&policy("add-remove", 2, 5, Some(6)), widest);
    let folder = folder(&policy, &[500; 6]);
    let engine = folder.engine();
    let refused = |bounds: &str, sql: &str| {
        let error = cost(&engine, "steward", &bounded(bounds, sql), price("0.001")).unwrap_err();
        let EngineError::Sql(SqlError::Bounds(error)) = error else { panic!("{error}") };
        error
    };
    let beyond = |bounds| {
        let error = refused(bounds, "SELECT SUM(fare) FROM trips");
        assert!(matches!(error, BoundsError::BeyondWidest { .. }), "{error}");
    };
    let before = spent(&engine);
    ["groups=5", "rows=10", "values=10", "fare=-11:80", "fare=0:501"].into_iter().for_each(beyond);
    assert!(matches!(refused("tip=0:1", COUNT), BoundsError::NoColumn { .. }));
    assert!(matches!(refused("rider=0:1", COUNT), BoundsError::NoNumbers { .. }));
    assert!(matches!(refused("rows=0", COUNT), BoundsError::NoBound { .. }));
    assert!(matches!(refused("trees=3", COUNT), BoundsError::NoBound { .. }));
    assert!((spent(&engine) - before).abs() < 1e-12, "a refusal costs nothing");

    let sql = "SELECT zone, SUM(fare) AS total FROM trips GROUP BY zone";
    let ask = |bounds: &str| {
        let sql = if bounds.is_empty() { sql.to_owned() } else { bounded(bounds, sql) };
        engine.ask(&question("steward", &sql, price("0.001")), &()).unwrap()
    };
    let own = ask("");
    assert!(!own.free && ask("").free);
    // The policy's own bounds are no other path, and bounds that have no part in it are none.
    assert!(ask("groups=2,rows=5,fare=0:100").free && ask("values=2").free);
    for bounds in ["groups=4", "rows=9", "fare=-10:500", "groups=1", "rows=1", "fare=20:30"] {
        let other = ask(bounds);
        assert!(!other.free && ask(bounds).free, "{bounds}");
        assert_ne!(other.rows[0].values, own.rows[0].values, "{bounds}");
    }
    let covers = ask("groups=4,rows=9,fare=0:20,rows_in_all=12").covers.unwrap();
    assert_eq!((covers.max_groups, covers.max_rows), (Some(4), Some(9)));
    assert_eq!(covers.max_rows_in_all, Some(12));
    let note = "at most 9 rows of each rider in a group, in at most 4 groups, and at most 12 rows in all; fare clamped to 0 to 20";
    assert_eq!(covers.note, note);
    // SQL goes before what was said earlier, and options say the same.
    let options = "SET eke.max_rows = 3; SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (max_groups_contributed = 4, max_rows = 9, max_rows_in_all = 12, bounds = 'fare=0:20') zone, SUM(fare) AS total FROM trips GROUP BY zone";
    assert!(engine.ask(&question("steward", options, price("0.001")), &()).unwrap().free);
}

#[test]
fn without_a_widest_the_bounds_of_the_policy_are_the_widest() {
    let folder = folder(&policy("add-remove", 2, 5, Some(6)), &[50; 6]);
    let engine = folder.engine();
    for (bounds, is_taken) in [
        ("rows=5", true),
        ("rows=2", true),
        ("rows=6", false),
        ("groups=3", false),
        ("rows_in_all=99", true),
    ] {
        let asked = cost(&engine, "steward", &bounded(bounds, ZONES), price("0.001"));
        assert_eq!(asked.is_ok(), is_taken, "{bounds}: {asked:?}");
    }
}

/// The same noise on the same groups: what it costs a unit.
#[test]
fn sixteen_groups_cost_what_all_rows_cost() {
    for (adjacency, alone, units) in
        [("add-remove", 16.0, 17.0 / 32.0), ("replace", 64.0 / 2.0, 18.0 / 128.0)]
    {
        let within = goal(Accuracy::Absolute(20_000.0));
        let asked = |more: &str, sql: &str| {
            let policy = with(&policy(adjacency, 16, 600, Some(16)), more);
            cost(&folder(&policy, &[30; 16]).engine(), "steward", sql, within).unwrap()
        };
        let (bounded, plain) = (asked("max_rows_in_all = 600", ZONES), asked("", ZONES));
        assert!((plain / bounded - alone).abs() < 1e-6, "{adjacency} {plain} {bounded}");
        // A count of units beside it has its own price: it is half of the group's.
        let both = "SELECT zone, COUNT(*), COUNT(DISTINCT rider) FROM trips GROUP BY zone";
        let (bounded, plain) = (asked("max_rows_in_all = 600", both), asked("", both));
        assert!((bounded / plain - units).abs() < 1e-6, "{adjacency} {plain} {bounded}");
    }
}

/// What a bound on all rows makes of a count is what the answer says.
#[test]
fn rows_of_units_with_many_count_for_less_and_answers_say_so() {
    let policy = with(&policy("add-remove", 4, 5, Some(4)), "max_rows_in_all = 10");
    let folder = Folder::new();
    folder.write("eke.toml", &policy);
    // Every rider has five trips in each of four zones: twenty, of which ten count.
    let mut text = String::from("rider,zone,fare\n");
    for rider in 0..4_000 {
        for trip in 0..20 {
            text += &format!("r{rider},{},7\n", trip % 4);
        }
    }
    folder.write("trips.csv", &text);
    let engine = folder.engine();
    let within = goal(Accuracy::Absolute(300.0));
    let answer = engine.ask(&question("steward", ZONES, within), &()).unwrap();
    for row in &answer.rows {
        let (low, high) = (row.values[0].low.unwrap(), row.values[0].high.unwrap());
        assert!(low < 10_000.0 + 600.0 && high > 10_000.0 - 600.0, "{low} {high}");
    }
    let covers = answer.covers.unwrap();
    assert_eq!(covers.max_rows_in_all, Some(10));
    assert!(covers.note.ends_with("and at most 10 rows in all"), "{}", covers.note);
}

/// Bob's tier sees a question up to rho 0.001, whatever its bounds.
#[test]
fn what_a_tier_sees_of_a_question_adds_up_over_bounds() {
    let widest =
        "widest = { max_groups = 4, max_rows = 40, columns = { fare = { min = 0, max = 500 } } }";
    let folder = folder(&with(&policy("add-remove", 1, 20, Some(6)), widest), &[50; 6]);
    let engine = folder.engine();
    let ask = |engine: &Engine, bounds: &str, sql: &str, rho: &str| {
        cost(engine, "bob", &bounded(bounds, sql), price(rho))
    };
    let close = |cost: Result<f64, EngineError>, expected: f64| {
        let cost = cost.unwrap();
        assert!((cost - expected).abs() < 1e-5 * expected + 1e-9, "{cost} {expected}");
    };
    close(ask(&engine, "rows=20", COUNT, "0.0004"), 0.0004);
    close(ask(&engine, "rows=21", COUNT, "0.0004"), 0.0004);
    drop(engine);
    // Also after the program has ended.
    let engine = folder.engine();
    close(ask(&engine, "rows=22", COUNT, "0.0004"), 0.0002);
    let gone = ask(&engine, "rows=23", COUNT, "0.0001").unwrap_err();
    assert!(matches!(gone, EngineError::Refused(_) | EngineError::Beyond(_)), "{gone}");
    // What was seen is free, and a path that was seen goes no further either.
    close(ask(&engine, "rows=20", COUNT, "0.0004"), 0.0);
    let further = ask(&engine, "rows=20", COUNT, "0.0006");
    assert!(further.map_or(true, |cost| cost < 1e-9));
    // Another question is another family, and what others see does not count.
    close(ask(&engine, "rows=23", "SELECT SUM(fare) FROM trips", "0.0006"), 0.0006);
    close(ask(&engine, "fare=0:400", "SELECT SUM(fare) FROM trips", "0.0006"), 0.0004);
    close(cost(&engine, "eve", &bounded("rows=23", COUNT), price("0.0006")), 0.0006);
    // An analyst without a tier has no such limit.
    for rows in 20..24 {
        close(
            cost(&engine, "ana", &bounded(&format!("rows={rows}"), COUNT), price("0.002")),
            0.002,
        );
    }
}

/// Bounds decide the centre of an average and of a variance, in which order sums come, and where a
/// value is cut off before it is zero: none of that makes another family.
#[test]
fn what_follows_from_bounds_makes_no_family_of_its_own() {
    let widest = "widest = { max_groups = 4, max_rows = 40, \
                  columns = { fare = { min = -500, max = 500 } } }";
    for (sql, columns) in [
        ("SELECT SUM(fare), AVG(fare) FROM trips", 3.0),
        ("SELECT AVG(fare) FROM trips", 2.0),
        ("SELECT VAR_POP(fare) FROM trips", 3.0),
        ("SELECT STDDEV(fare), COUNT(*) FROM trips", 4.0),
        ("SELECT SUM(fare) / COUNT(*) AS mean FROM trips", 2.0),
    ] {
        let folder = folder(&with(&policy("add-remove", 1, 20, Some(6)), widest), &[50; 6]);
        let engine = folder.engine();
        let rho = format!("{}", 0.0006 * columns);
        let all = ["0:100", "-80:80", "-90:-10", "10:90", "-7:300", "0:1"];
        let asked = all.map(|bounds| {
            cost(&engine, "bob", &bounded(&format!("fare={bounds}"), sql), price(&rho))
        });
        let seen: f64 = asked.iter().map(|cost| cost.as_ref().map_or(0.0, |cost| *cost)).sum();
        // Around zero, a sum and an average have a column in common.
        let all = 0.001 * columns;
        assert!(seen > 0.8 * all && seen < 1.000_1 * all, "{sql}: {seen}, {asked:?}");
    }
}

/// Whatever is asked, and with whatever bounds, units are counted beside it up to the tier's finest.
#[test]
fn what_a_tier_sees_of_cut_counts_adds_up_over_bounds() {
    let widest = "widest = { max_groups = 16, max_rows = 40 }";
    let questions = ["COUNT(*)", "SUM(fare)"];
    let asked = |policy: &str| {
        let folder = folder(policy, &[60; 24]);
        let engine = folder.engine();
        let mut all = 0.0;
        for rows in 20..24 {
            for value in questions {
                let sql = format!("SELECT zone, {value} FROM trips GROUP BY zone");
                let sql = bounded(&format!("rows={rows}"), &sql);
                all += cost(&engine, "bob", &sql, price("0.0036")).unwrap();
            }
        }
        all
    };
    let without = with(&policy("add-remove", 16, 20, Some(24)), widest);
    let beside =
        |part: &str| asked(&without.replace("cut_counts = false", &format!("cut_counts = {part}")));
    let (counts, values) = (beside("0.5"), asked(&without));
    // In the question, cut, cut by groups, with a key that is not listed, and in one bin of rows: a
    // unit is in five counts.
    let (most, cuts) = (5.0 * 0.001, counts - values);
    assert!(cuts > 0.97 * most && cuts < 1.000_001 * most, "{cuts} of {most}");
    // A smaller part does not come as far.
    assert!(beside("0.01") - values < 0.5 * most);
}

/// The same for the picks of a ranking, and for keys that are selected.
#[test]
fn what_a_tier_sees_of_picks_and_keys_adds_up_over_bounds() {
    let widest = "widest = { max_groups = 4, max_rows = 40 }";
    let listed = folder(&with(&policy("add-remove", 1, 20, Some(6)), widest), &[50; 6]);
    let engine = listed.engine();
    let top = "SELECT zone FROM trips GROUP BY zone ORDER BY COUNT(*) DESC LIMIT 2";
    let ask = |bounds: &str| {
        let question = question("bob", &bounded(bounds, top), price("0.0008"));
        engine.ask(&question, &()).map(|answer| answer.rows.len())
    };
    assert_eq!(ask("rows=20").unwrap(), 2);
    let error = ask("rows=21").unwrap_err();
    assert!(matches!(error, EngineError::Beyond(NotAllowed::PicksBeyondTier { .. })), "{error}");
    assert_eq!(ask("rows=20").unwrap(), 2);

    let policy = with(&policy("add-remove", 1, 20, None), widest);
    let policy = policy.replace("finest = { rho = 1e-3 }", "finest = { rho = 4e-3 }");
    let selected = folder(&policy, &[900; 3]);
    let engine = selected.engine();
    let keys = "SELECT zone FROM trips GROUP BY zone";
    let ask = |bounds: &str| cost(&engine, "bob", &bounded(bounds, keys), price("0.001"));
    let first = ask("groups=1").unwrap();
    assert!(first > 2e-3 && first < 4e-3, "{first}");
    let error = ask("groups=2").unwrap_err();
    assert!(matches!(error, EngineError::Keys(NoKeys::BeyondTier)), "{error}");
    assert!(ask("groups=1").unwrap() < 1e-12);
}

/// Several programs of one analyst, each with other bounds: what they see together is within what
/// the tier sees.
#[test]
fn programs_that_race_with_other_bounds_see_no_more_together() {
    let widest = "widest = { max_groups = 4, max_rows = 40 }";
    let folder = folder(&with(&policy("add-remove", 1, 20, Some(6)), widest), &[50; 6]);
    drop(folder.engine());
    let spent: f64 = std::thread::scope(|scope| {
        let ask = |rows: u32| {
            let engine = folder.engine();
            let sql = bounded(&format!("rows={rows}"), COUNT);
            cost(&engine, "bob", &sql, price("0.0004")).unwrap_or(0.0)
        };
        let asked: Vec<_> = (20..24).map(|rows| scope.spawn(move || ask(rows))).collect();
        asked.into_iter().map(|asked| asked.join().unwrap()).sum()
    });
    assert!(spent > 0.0009 && spent < 0.001 + 1e-9, "{spent}");
}

/// Neighbours, all the way from the text of a question: somebody with 30 rows in each of six zones
/// moves as many groups by as much as the question says, and no more, whatever the policy's own
/// bounds are.
///
/// Statistical: 12 questions, on two tables, with 12 numbers each at some 8 deviations (1e-12).
#[test]
fn a_unit_changes_an_answer_by_the_bounds_of_its_question() {
    let widest =
        "widest = { max_groups = 4, max_rows = 9, columns = { fare = { min = -10, max = 500 } } }";
    let policy = with(&policy("add-remove", 2, 5, Some(6)), widest);
    let policy = policy.replace("epsilon = 4.0", "epsilon = 20000.0");
    let without = folder(&policy, &[300; 6]);
    let heavy = (0..180).map(|row| format!("heavy,{},400\n", row % 6)).collect::<String>();
    let with = folder(&policy, &[300; 6]);
    with.write("trips.csv", &(trips(&[300; 6]) + &heavy));
    let sql = "SELECT zone, COUNT(*) AS n, SUM(fare) AS f FROM trips GROUP BY zone";
    let engines = [with.engine(), without.engine()];
    let mut dice = eke_testkit::Dice(23);
    for _ in 0..12 {
        let mut pick = |from: u64, to: u64| from + dice.below(to - from + 1);
        let (groups, rows, most) = (pick(1, 4), pick(1, 9), pick(60, 500) as f64);
        let bounds = format!("groups={groups},rows={rows},fare=0:{most}");
        let asked = question("steward", &bounded(&bounds, sql), price("1000"));
        let [with, without] = engines.each_ref().map(|engine| engine.ask(&asked, &()).unwrap());
        let mut moved = 0;
        for (one, other) in with.rows.iter().zip(&without.rows) {
            let each = [(0, rows as f64), (1, rows as f64 * most.min(400.0))];
            for (place, bound) in each {
                let (one, other) = (&one.values[place], &other.values[place]);
                let change = one.value.unwrap() - other.value.unwrap();
                let noise = 3.0 * (one.high.unwrap() - one.low.unwrap());
                let is_moved = change > bound / 2.0;
                let expected = if is_moved { bound } else { 0.0 };
                assert!((change - expected).abs() <= noise, "{bounds}: {change} {bound}");
                moved += u64::from(is_moved && place == 0);
            }
        }
        assert_eq!(moved, groups, "{bounds}");
    }
}
