//! The largest groups: picked and measured, or picked alone.
//!
//! | test | n | false alarms | critical value | control |
//! |---|---|---|---|---|
//! | `picks_have_the_law_of_their_price` | 4 x 300 | 1e-7 | 5.4 deviations | twice the rate |

use std::sync::atomic::{AtomicU32, Ordering};

use eke_engine::ask::{Clock, StoppedClock};
use eke_engine::report::Owner;
use eke_engine::{Accuracy, Answer, Engine, EngineError, Goal, Observer, Stopped, Who, explain};

use crate::trips::{Folder, ZONES, goal, policy, price, question, relative, spent, trips};

const TOP: &str = "SELECT zone, COUNT(*) AS n FROM trips GROUP BY zone ORDER BY n DESC LIMIT 3";
const KEYS: &str = "SELECT zone FROM trips GROUP BY zone ORDER BY COUNT(*) DESC LIMIT 2";

fn ask(engine: &Engine, who: &str, sql: &str, goal: Goal) -> Answer {
    engine.ask(&question(who, sql, goal), &()).unwrap()
}

fn at_most(rho: &str, goal: Goal) -> Goal {
    Goal { at_most: Some(rho.parse().unwrap()), ..goal }
}

fn keys(answer: &Answer) -> Vec<i64> {
    answer.rows.iter().map(|row| row.keys[0].as_i64().unwrap()).collect()
}

/// A unit may be in every zone, so measuring all of them is dear.
fn many_zones() -> Folder {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 50, 1, Some(60)));
    let mut sizes = vec![40; 60];
    (sizes[17], sizes[5], sizes[40], sizes[2]) = (9_000, 7_000, 5_000, 1_500);
    folder.write("trips.csv", &trips(&sizes));
    folder
}

fn spent_by(engine: &Engine, who: &Owner) -> f64 {
    let all = engine.budget(&Who::Steward).unwrap();
    all.iter().find(|standing| standing.owner == *who).unwrap().spent.rho
}

/// What one pick costs under the policy of these tests.
fn pick(engine: &Engine) -> f64 {
    let explained = explain(engine.policy(), TOP, &Who::Steward).unwrap();
    explained.sorting.unwrap().pick.unwrap().rho
}

#[test]
fn the_largest_are_picked_and_measured_for_less_than_all() {
    let folder = many_zones();
    let engine = folder.engine();
    let top = ask(&engine, "steward", TOP, relative(0.1));
    assert_eq!(keys(&top), [17, 5, 40], "{top:?}");
    assert!(top.is_met());
    for (row, truth) in top.rows.iter().zip([9_000.0, 7_000.0, 5_000.0]) {
        let cell = &row.values[0];
        let off = (cell.value.unwrap() / truth - 1.0).abs();
        assert!(off < 0.25 && cell.low.unwrap() < cell.high.unwrap(), "{cell:?}");
    }
    // Three picks, and three groups that a unit can be in.
    assert!((top.cost.rho - top.alone.rho - 3.0 * pick(&engine)).abs() < 1e-12, "{top:?}");
    assert!((spent(&engine) - top.cost.rho).abs() < 1e-12);
    // Sorted by what all groups come to, the same costs many times as much: small groups are walked
    // for nothing.
    let all =
        "SELECT zone, COUNT(*) AS n FROM trips GROUP BY zone HAVING n > 0 ORDER BY n DESC LIMIT 3";
    let other = folder.fresh();
    let sorted = ask(&other, "steward", all, relative(0.1));
    assert!(sorted.cost.rho > 5.0 * top.cost.rho, "{} {}", sorted.cost.rho, top.cost.rho);
}

#[test]
fn picks_are_made_once_for_everybody() {
    let folder = many_zones();
    let engine = folder.engine();
    let first = ask(&engine, "steward", TOP, relative(0.1));
    let riders = spent(&engine);
    let again = ask(&engine, "steward", TOP, relative(0.1));
    assert!(again.free && again.rows == first.rows);
    // Ana pays for the same picks and values herself; the riders do not pay again.
    let ana = ask(&engine, "ana", TOP, relative(0.1));
    assert_eq!(keys(&ana), keys(&first));
    assert!(ana.cost.rho >= 3.0 * pick(&engine) && !ana.free);
    assert!((spent_by(&engine, &Owner::Analyst("ana".into())) - ana.cost.rho).abs() < 1e-12);
    assert!(spent(&engine) - riders < 0.2 * ana.cost.rho, "{riders} {}", spent(&engine));
    // What was measured is the same path as in a question about all zones.
    let more = TOP.replace("LIMIT 3", "LIMIT 4");
    let before = spent(&engine);
    let four = ask(&engine, "steward", &more, relative(0.1));
    assert_eq!(keys(&four), [17, 5, 40, 2]);
    let one_pick = four.cost.rho - (four.alone.rho - first.alone.rho);
    assert!((one_pick - pick(&engine)).abs() < 1e-9, "{one_pick} {}", pick(&engine));
    assert!((spent(&engine) - before - four.cost.rho).abs() < 1e-12);
    let coarse = ask(&engine, "steward", ZONES, price("1e-9"));
    assert_eq!(coarse.rows.len(), 60);
}

#[test]
fn the_top_goes_as_far_as_the_budget() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 20, 1, Some(150)));
    let sizes: Vec<u32> = (0..150).map(|zone| 6_000 / (zone + 1)).collect();
    folder.write("trips.csv", &trips(&sizes));
    let engine = folder.engine();
    let sql = "SELECT zone, COUNT(*) AS n FROM trips GROUP BY zone ORDER BY n DESC";
    let mut rows = Vec::new();
    for rho in ["0.005", "0.02", "0.08"] {
        let goal = at_most(rho, relative(0.1));
        let answer = ask(&folder.fresh(), "steward", sql, goal);
        assert!(answer.cost.rho <= rho.parse::<f64>().unwrap(), "{answer:?}");
        let met = answer.rows.iter().filter(|row| row.values[0].met == Some(true)).count();
        assert!(met > 0 && met < 100, "{rho}: {met}");
        // Those that were not reached say so.
        for row in answer.rows.iter().filter(|row| row.values[0].met == Some(false)) {
            assert!(!matches!(row.values[0].ending, Stopped::Met | Stopped::Floor));
        }
        rows.push(met);
    }
    assert!(rows.is_sorted() && rows[0] < rows[2], "{rows:?}");
    // Fewer picks than a batch (two, then one of what they left), and none.
    let each = pick(&folder.engine());
    let few = at_most(&format!("{:e}", 4.5 * each), relative(0.5));
    let answer = ask(&folder.fresh(), "steward", sql, few);
    assert_eq!(answer.rows.len(), 3, "{answer:?}");
    let none = at_most(&format!("{:e}", 0.5 * each), relative(0.5));
    let none = folder.engine().ask(&question("ana", sql, none), &()).unwrap_err().to_string();
    assert!(none.starts_with("refused: this costs at least rho=0.0007"), "{none}");
    assert!(none.contains("it may cost rho=0.0001848 at most; nothing was charged"), "{none}");
    // The unit's budget itself comes to an end: what was measured before is the answer.
    ask(&engine, "steward", "SELECT COUNT(*) FROM trips", price("0.25"));
    let left = engine.budget(&Who::Steward).unwrap()[0].left.rho;
    let answer = ask(&engine, "steward", sql, at_most("0.2", relative(0.1)));
    assert!(!answer.rows.is_empty() && answer.cost.rho <= left, "{answer:?} {left}");
}

#[test]
fn keys_alone_are_picked_for_a_price() {
    let folder = many_zones();
    let engine = folder.engine();
    let two = ask(&engine, "steward", KEYS, price("0.002"));
    assert_eq!(keys(&two), [17, 5]);
    assert!(two.rows.iter().all(|row| row.values.is_empty()) && two.columns.len() == 1);
    assert!((two.cost.rho - 0.002).abs() < 1e-15, "{two:?}");
    assert!(ask(&engine, "steward", KEYS, price("0.002")).free);
    // Twice as many at twice the price go on from there.
    let four = ask(&engine, "steward", &KEYS.replace("LIMIT 2", "LIMIT 4"), price("0.004"));
    assert_eq!(keys(&four)[..2], keys(&two));
    assert!((four.cost.rho - 0.002).abs() < 1e-15, "{four:?}");
    assert!((spent(&engine) - 0.004).abs() < 1e-15);
    // With an accuracy for a goal, a pick has its usual price.
    let usual = ask(&engine, "steward", KEYS, relative(0.1));
    assert!((usual.cost.rho - 2.0 * pick(&engine)).abs() < 1e-15);
    // The price is for as many as there are.
    let all = ask(&folder.fresh(), "steward", &KEYS.replace("LIMIT 2", "LIMIT 999"), price("0.06"));
    assert_eq!((all.rows.len(), all.cost.rho), (60, 0.06));
    let engine = folder.fresh();
    ask(&engine, "steward", &KEYS.replace("LIMIT 2", "LIMIT 4"), price("0.004"));
    ask(&engine, "steward", KEYS, relative(0.1));
    let refused = engine.ask(&question("steward", KEYS, price("0.9")), &()).unwrap_err();
    assert!(refused.to_string().starts_with("refused: this costs rho=0.9"), "{refused}");
    let most = at_most("1e-6", relative(0.1));
    let refused = engine.ask(&question("ana", KEYS, most), &()).unwrap_err();
    assert!(matches!(refused, EngineError::Refused(_)), "{refused}");
    assert!((spent(&engine) - 0.004 - usual.cost.rho).abs() < 1e-15);
}

#[test]
fn keys_that_are_not_public_are_selected_first() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 2, 1, None));
    let mut sizes = vec![3; 40];
    (sizes[7], sizes[3]) = (4_000, 2_000);
    folder.write("trips.csv", &trips(&sizes));
    let engine = folder.engine();
    let answer = ask(&engine, "ana", TOP, relative(0.1));
    assert_eq!(keys(&answer), [7, 3], "{answer:?}");
    let without = "SELECT zone, COUNT(*) AS n FROM trips GROUP BY zone ORDER BY n DESC";
    assert_eq!(keys(&ask(&engine, "ana", without, relative(0.1))), [7, 3]);
}

/// The odds of the first pick are those of the exponential mechanism. Sums of both signs and
/// replaced units move scores further apart, and have a lower rate for the same price.
#[test]
fn picks_have_the_law_of_their_price() {
    const RUNS: u32 = 300;
    let signs = "SUM(CASE WHEN fare > 0 THEN 1 ELSE -1 END)";
    for (adjacency, by, spread) in [
        ("add-remove", "COUNT(*)", 1.0),
        ("replace", "COUNT(*)", 2.0),
        ("add-remove", signs, 2.0),
        ("replace", signs, 4.0),
    ] {
        let folder = Folder::new();
        folder.write("eke.toml", &policy(adjacency, 2, 1, Some(3)));
        folder.write("trips.csv", &trips(&[300, 600, 0]));
        let engine = folder.engine();
        let sql = KEYS.replace("LIMIT 2", "LIMIT 1").replace("COUNT(*)", by);
        let mut first = 0;
        for run in 0..RUNS {
            // Another price a pick is another ranking: a new draw of nearly the same law, in one
            // ledger.
            let rho = format!("{:e}", 1.5e-6 * spread * spread + f64::from(run) * 1e-13);
            let answer = ask(&engine, "steward", &sql, price(&rho));
            first += u32::from(keys(&answer) == [1]);
        }
        let share = |rate: f64| {
            let [a, b, c] = [300.0, 600.0, 0.0].map(|count: f64| (rate * count).exp());
            b / (a + b + c)
        };
        let n = f64::from(RUNS);
        let off = |share: f64| (f64::from(first) - n * share) / (n * share * (1.0 - share)).sqrt();
        // sqrt(8 rho)/spread is the same for all.
        let rate = (8.0f64 * 1.5e-6).sqrt();
        assert!(off(share(rate)).abs() < 5.4, "{adjacency} {by}: {first} {}", share(rate));
        assert!(off(share(2.0 * rate)).abs() > 5.4, "{adjacency} {by}: {first}");
    }
}

#[test]
fn a_tier_sees_as_many_picks_as_it_may() {
    let folder = many_zones();
    let engine = folder.engine();
    let each = pick(&engine);
    let visible = (1e-3 / each).floor() as usize;
    assert!((1..8).contains(&visible), "{visible}");
    let sql = TOP.replace("LIMIT 3", "LIMIT 10");
    let answer = ask(&engine, "bob", &sql, relative(0.2));
    assert_eq!(answer.rows.len(), visible, "{answer:?}");
    // That it is fewer than were wanted, and why, is said.
    assert!(answer.picked && answer.tier.is_some_and(|tier| tier.rho == 1e-3), "{answer:?}");
    assert!(ask(&engine, "bob", &sql, relative(0.2)).tier.is_some());
    // Bob and his circle have paid for what he saw.
    for owner in [Owner::Analyst("bob".into()), Owner::Circle("partners".into())] {
        assert!((spent_by(&engine, &owner) - answer.cost.rho).abs() < 1e-12, "{owner:?}");
    }
    folder.write("eke.toml", &policy("add-remove", 50, 1, Some(60)).replace("1e-3", "1e-5"));
    let none = folder.engine().ask(&question("eve", TOP, relative(0.2)), &()).unwrap_err();
    assert!(none.to_string().starts_with("refused: picking the largest costs rho="), "{none}");
}

#[test]
fn whether_groups_are_picked_is_said() {
    let folder = many_zones();
    let engine = folder.engine();
    let said = |sql: &str| explain(engine.policy(), sql, &Who::Steward).unwrap().sorting;
    let picked = said(TOP).unwrap();
    assert!(picked.pick.is_some() && picked.within.contains("3 of them at most"), "{picked:?}");
    assert!(picked.price.starts_with("all groups are measured"));
    for all in [
        TOP.replace("LIMIT 3", "LIMIT 60"),
        TOP.replace(" LIMIT 3", ""),
        TOP.replace("ORDER BY", "HAVING n > 2 ORDER BY"),
        TOP.replace("LIMIT 3", "LIMIT 3 OFFSET 1"),
    ] {
        let sorted = said(&all).unwrap();
        assert!(sorted.pick.is_none() && sorted.within.starts_with("all groups are measured"));
    }
    assert!(said(ZONES).is_none());
    assert!(said(&TOP.replace("n DESC", "zone")).is_none());
    // For a price, everything is measured. For an absolute error, what is cheaper.
    let priced = ask(&engine, "steward", TOP, price("0.01"));
    assert_eq!((priced.rows.len(), priced.cost.rho), (3, 0.01));
    let absolute = ask(&folder.fresh(), "steward", TOP, goal(Accuracy::Absolute(100.0)));
    assert!((absolute.cost.rho - absolute.alone.rho - 3.0 * pick(&engine)).abs() < 1e-12);
    let wide = ask(&folder.fresh(), "steward", TOP, goal(Accuracy::Absolute(40_000.0)));
    assert!((wide.cost.rho - wide.alone.rho).abs() < 1e-15, "{wide:?}");
}

/// Does something after a look.
struct After<'a>(u32, AtomicU32, &'a (dyn Fn() + Sync));

impl Observer for After<'_> {
    fn clock(&self) -> &dyn Clock {
        &StoppedClock
    }

    fn look(&self, _: u32) {
        if self.1.fetch_add(1, Ordering::Relaxed) + 1 == self.0 {
            (self.2)();
        }
    }
}

#[test]
fn others_may_come_between_picks_and_looks() {
    let folder = many_zones();
    for look in [1, 2, 5] {
        let engine = folder.fresh();
        let between = || {
            ask(&engine, "ana", &TOP.replace("LIMIT 3", "LIMIT 12"), relative(0.1));
        };
        let watch = After(look, AtomicU32::new(0), &between);
        let sql = TOP.replace("LIMIT 3", "LIMIT 10");
        let answer = engine.ask(&question("steward", &sql, relative(0.1)), &watch).unwrap();
        assert_eq!(keys(&answer)[..3], [17, 5, 40]);
    }
    // Many at once: the ranking is made once.
    let engine = folder.fresh();
    let answers: Vec<Answer> = std::thread::scope(|scope| {
        let ask_keys = || ask(&engine, "steward", KEYS, price("0.002"));
        let threads: Vec<_> = (0..6).map(|_| scope.spawn(ask_keys)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(answers.iter().all(|answer| keys(answer) == keys(&answers[0])));
    assert!((spent(&engine) - 0.002).abs() < 1e-15, "{}", spent(&engine));
}
