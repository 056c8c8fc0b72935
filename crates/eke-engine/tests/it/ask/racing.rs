//! Programs that come between each other's rounds, and rounds that were paid for and lost.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use eke_budget::{Amount, Rho};
use eke_engine::ask::{Clock, StoppedClock};
use eke_engine::report::Owner;
use eke_engine::{Accuracy, Engine, EngineError, Goal, Observer, Who};

use crate::trips::{Folder, ZONES, goal, policy, price, question, relative, spent, trips};

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

/// Notes that an answer leaves.
struct Answered<'a>(&'a After<'a>, &'a AtomicU32);

impl Observer for Answered<'_> {
    fn clock(&self) -> &dyn Clock {
        self
    }

    fn look(&self, number: u32) {
        self.0.look(number);
    }
}

impl Clock for Answered<'_> {
    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn wait_until(&self, _: Duration) {
        self.1.fetch_add(1, Ordering::SeqCst);
    }
}

/// Does something before anything is paid.
struct Before<'a>(&'a (dyn Fn() + Sync));

impl Observer for Before<'_> {
    fn clock(&self) -> &dyn Clock {
        &StoppedClock
    }

    fn confirm(&self, _: Amount<Rho>, _: Amount<Rho>) -> bool {
        (self.0)();
        true
    }
}

fn spent_by(engine: &Engine, who: &Owner) -> f64 {
    let all = engine.budget(&Who::Steward).unwrap();
    all.iter().find(|standing| standing.owner == *who).unwrap().spent.rho
}

fn most(rho: &str, goal: Goal) -> Goal {
    Goal { at_most: Some(rho.parse().unwrap()), ..goal }
}

/// Eve asks while Bob is between two looks, and is answered when he has been: their circle pays for
/// what both of them know together.
#[test]
fn a_circle_pays_for_both_when_one_comes_between() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 2, 1, Some(2)).replace("1e-3", "1.0"));
    folder.write("trips.csv", &trips(&[20_000, 200]));
    for look in 1..8 {
        let engine = folder.fresh();
        engine.ask(&question("steward", ZONES, price("0.2")), &()).unwrap();
        let came = AtomicU32::new(0);
        let bob = std::thread::scope(|scope| {
            let eve = || {
                engine.ask(&question("eve", ZONES, price("0.022")), &()).unwrap();
                assert_eq!(came.load(Ordering::SeqCst), 1, "before Bob was answered");
            };
            let between = || drop(scope.spawn(eve));
            let watch = After(look, AtomicU32::new(0), &between);
            let goal = most("0.05", relative(0.05));
            let bob = engine.ask(&question("bob", ZONES, goal), &Answered(&watch, &came));
            let bob = bob.map(|answer| answer.cost.rho).unwrap();
            (watch.1.load(Ordering::Relaxed) >= look).then_some(bob)
        });
        let Some(bob) = bob else { continue };
        // Eve is at 0.011 in both groups. Bob is hardly anywhere in the large one.
        let circle = spent_by(&engine, &Owner::Circle("partners".into()));
        let truth = 0.011 + (bob - 0.0005).max(0.011);
        assert!(circle >= truth, "look {look}: {circle} for {truth}, Bob {bob}");
    }
}

/// Somebody else takes all groups further between two looks: nothing is damaged, and nothing is
/// lost.
#[test]
fn a_question_goes_on_when_another_comes_between() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 2, 1, Some(3)));
    folder.write("trips.csv", &trips(&[2_000, 400, 200]));
    for (look, other) in (1..6).flat_map(|look| [(look, "steward"), (look, "ana")]) {
        let engine = folder.fresh();
        let between = || {
            engine.ask(&question(other, ZONES, price("0.03")), &()).unwrap();
        };
        let watch = After(look, AtomicU32::new(0), &between);
        let goal = most("0.1", relative(0.05));
        let answer = engine.ask(&question("steward", ZONES, goal), &watch);
        let answer = answer.unwrap_or_else(|error| panic!("look {look}, {other}: {error}"));
        let all = spent(&engine);
        assert!((all - answer.alone.rho).abs() < 1e-6, "look {look}, {other}: {all} {answer:?}");
    }
}

/// What a round paid for and lost is the riders' loss: nobody who asks later pays more than it
/// says.
#[test]
fn what_was_lost_costs_nobody_else_anything() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 1, 1, Some(3)));
    let text = trips(&[500, 300, 200]);
    for who in ["bob", "ana", "steward"] {
        folder.write("trips.csv", &text);
        let engine = folder.fresh();
        let file = folder.path().join("trips.csv");
        let lose = || std::fs::remove_file(&file).unwrap();
        let lost = engine.ask(&question("steward", ZONES, price("0.05")), &Before(&lose));
        assert!(matches!(lost, Err(EngineError::Rows(..))), "{lost:?}");
        assert!((spent(&engine) - 0.05).abs() < 1e-9);
        folder.write("trips.csv", &text);
        let answer = engine.ask(&question(who, ZONES, price("0.001")), &()).unwrap();
        assert!(answer.cost.rho < 0.001_001, "{who}: {:?}", answer.cost);
        let cell = &answer.rows[0].values[0];
        let half = cell.high.unwrap() - cell.value.unwrap();
        let expected = 1.96 / (2.0f64 * 0.001).sqrt();
        assert!((half / expected - 1.0).abs() < 0.1, "{who}: {half} {expected}");
        assert!(spent(&engine) < 0.052, "{who}: {}", spent(&engine));
    }
}

/// Keys that are infinite are keys like others.
#[test]
fn infinite_keys_can_be_asked_for_again() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 1, 1, Some(3)));
    folder.write("trips.csv", &trips(&[500, 3000, 2000]));
    let engine = folder.engine();
    let sql = "SELECT fare * 1e308 * 10 AS k, COUNT(*) FROM trips GROUP BY fare * 1e308 * 10";
    let first = engine.ask(&question("ana", sql, most("0.02", relative(0.05))), &());
    let first = first.unwrap();
    let again = engine.ask(&question("ana", sql, most("0.02", relative(0.05))), &()).unwrap();
    assert_eq!(first.rows, again.rows);
}

/// A circle that cannot pay for keys refuses, and then nobody has paid.
#[test]
fn keys_that_a_circle_cannot_pay_for_cost_nothing() {
    let folder = Folder::new();
    let text = policy("add-remove", 1, 1, None)
        .replace("1e-3", "1.0")
        .replacen(
            "budget = { epsilon = 2.0, delta = 1e-6 }",
            "budget = { epsilon = 2.0, delta = 1e-5 }",
            1,
        )
        .replacen(
            "budget = { epsilon = 2.0, delta = 1e-6 }",
            "budget = { epsilon = 2.0, delta = 1e-8 }",
            1,
        );
    folder.write("eke.toml", &text);
    folder.write("trips.csv", &trips(&[3000, 2000]));
    let engine = folder.engine();
    engine.ask(&question("ana", ZONES, price("0.02")), &()).unwrap();
    let refused = engine.ask(&question("bob", ZONES, price("0.02")), &());
    assert!(matches!(refused, Err(EngineError::Refused(_))), "{refused:?}");
    let bob = spent_by(&engine, &Owner::Analyst("bob".into()));
    assert!(bob == 0.0, "Bob has paid {bob} for a refusal");
}

/// Two members of a circle who need the same keys at the same time: one of them pays for the
/// circle.
#[test]
fn two_of_a_circle_may_need_keys_at_once() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 1, 1, None).replace("1e-3", "1.0"));
    folder.write("trips.csv", &trips(&[3000, 2000]));
    for _ in 0..10 {
        let engine = folder.fresh();
        engine.ask(&question("ana", ZONES, price("0.02")), &()).unwrap();
        let gate = std::sync::Barrier::new(2);
        std::thread::scope(|scope| {
            for who in ["bob", "eve"] {
                let (gate, engine) = (&gate, &engine);
                scope.spawn(move || {
                    gate.wait();
                    engine.ask(&question(who, ZONES, price("0.01")), &()).unwrap();
                });
            }
        });
    }
}

/// One group is touched once, however many a rider may touch.
#[test]
fn one_group_is_not_counted_as_many() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 3, 1, Some(3)));
    folder.write("trips.csv", &trips(&[3000]));
    let engine = folder.engine();
    let sql = "SELECT COUNT(*) FROM trips";
    let answer = engine.ask(&question("ana", sql, goal(Accuracy::Absolute(100.0))), &()).unwrap();
    let fixed = answer.fixed.unwrap().rho;
    assert!((fixed / answer.cost.rho - 1.0).abs() < 0.05, "{fixed} {}", answer.cost.rho);
    let sql = "SELECT COUNT(*) FROM trips WHERE fare > 1";
    // Ana, who has no budget of her own, is refused without numbers.
    match engine.ask(&question("steward", sql, goal(Accuracy::Absolute(1.0))), &()) {
        Err(EngineError::Refused(refused)) => {
            let expected = (1.96f64 / 1.0).powi(2) / 2.0;
            let asked = refused.asked.unwrap().to_f64();
            assert!((asked / expected - 1.0).abs() < 0.05, "{asked} {expected}");
        }
        other => panic!("{other:?}"),
    }
}

/// Many programs at once on the paths of one question: all are answered, none hears of damage, and
/// one that asks again gets the same for nothing.
#[test]
fn many_programs_at_once_are_all_answered() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 2, 1, Some(3)).replace("1e-3", "1.0"));
    folder.write("trips.csv", &trips(&[2_000, 400, 200]));
    drop(folder.engine().budget(&Who::Steward).unwrap());
    let goals = [0.4, 0.2, 0.1].map(|tolerance| most("0.02", relative(tolerance)));
    let answers: Vec<_> = std::thread::scope(|scope| {
        let ask = |who: &'static str, turn: usize| {
            let folder = &folder;
            move || {
                let engine = folder.engine();
                let ask = |index: usize| {
                    let goal = goals[(index + turn) % goals.len()];
                    (who, goal, engine.ask(&question(who, ZONES, goal), &()).unwrap())
                };
                (0..goals.len()).map(ask).collect::<Vec<_>>()
            }
        };
        let threads: Vec<_> = ["ana", "bob", "eve", "steward", "bob", "eve"]
            .into_iter()
            .enumerate()
            .map(|(turn, who)| scope.spawn(ask(who, turn)))
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let engine = folder.engine();
    for (who, goal, _) in &answers {
        let first = engine.ask(&question(who, ZONES, *goal), &()).unwrap();
        let again = engine.ask(&question(who, ZONES, *goal), &()).unwrap();
        assert!(first.free && again.rows == first.rows, "{who}");
        // A member's own account may have lost more to races; what its members see, the circle has
        // paid for.
        let circle = spent_by(&engine, &Owner::Circle("partners".into()));
        let is_member = ["bob", "eve"].contains(who);
        assert!(!is_member || circle >= first.alone.rho - 1e-12, "{circle} {}", first.alone.rho);
    }
}

/// Many at once need keys that nobody has selected yet: they are selected once, and all get the
/// same answer.
#[test]
fn keys_are_selected_once_for_all_who_ask_at_once() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 1, 1, None));
    folder.write("trips.csv", &trips(&[30_000, 20_000]));
    let engine = folder.engine();
    let first = question("steward", "SELECT COUNT(*) FROM trips", price("0.0001"));
    engine.ask(&first, &()).unwrap();
    let ask = || {
        let engine = folder.engine();
        engine.ask(&question("steward", ZONES, price("0.01")), &()).unwrap().rows
    };
    let rows: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..6).map(|_| scope.spawn(ask)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(rows.iter().all(|one| *one == rows[0]), "{rows:?}");
    // The price of the first question, of this one, and of its keys: once.
    let whole = engine.budget(&Who::Steward).unwrap()[0].budget.rho;
    let expected = 0.0101 + whole / 100.0;
    assert!((spent(&engine) - expected).abs() < 1e-9, "{} {expected}", spent(&engine));
}
