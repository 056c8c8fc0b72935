//! What an analyst sees changes when an answer leaves, and never before.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use eke_budget::{Amount, Rho};
use eke_engine::ask::{Clock, StoppedClock};
use eke_engine::{Engine, EngineError, Observer, Who};

use crate::trips::{Folder, ZONES, policy, price, question, relative, trips};

const COUNT: &str = "SELECT COUNT(*) FROM trips";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 1, 1, Some(3)));
    folder.write("trips.csv", &trips(&[500, 300, 200]));
    folder
}

/// A clock that stands still, and runs something while an answer waits for its slot: everything is
/// charged, drawn and stored then, and nothing has left.
struct BeforeItLeaves<'a>(&'a (dyn Fn() + Sync));

impl Clock for BeforeItLeaves<'_> {
    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn wait_until(&self, _: Duration) {
        (self.0)();
    }
}

impl Observer for BeforeItLeaves<'_> {
    fn clock(&self) -> &dyn Clock {
        self
    }
}

/// A look that somebody has, while another question waits for its slot.
type Look = fn(&Engine);

/// Whether a look ended before an answer of `asker` had left.
fn sees_early(folder: &Folder, asker: &str, sql: &str, look: Look) -> bool {
    let (left, early) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let wait = || {
            let (tell, told) = mpsc::channel();
            let (left, early) = (&left, &early);
            scope.spawn(move || {
                look(&folder.engine());
                early.store(!left.load(Ordering::SeqCst), Ordering::SeqCst);
                let _ = tell.send(());
            });
            // A look that does not wait is over long before. One that waits never is.
            let _ = told.recv_timeout(Duration::from_millis(400));
            left.store(true, Ordering::SeqCst);
        };
        let question = question(asker, sql, price("1e-4"));
        folder.engine().ask(&question, &BeforeItLeaves(&wait)).unwrap();
    });
    early.load(Ordering::SeqCst)
}

fn analyst(name: &str) -> Who {
    Who::Analyst(name.to_owned())
}

#[test]
fn what_analysts_see_changes_when_an_answer_leaves() {
    let folder = folder();
    folder.engine().ask(&question("steward", COUNT, price("1e-5")), &()).unwrap();
    let (history, budget): (Look, Look) = (
        |engine| assert_eq!(engine.history(&analyst("ana")).unwrap().len(), 1),
        |engine| assert!(engine.budget(&analyst("ana")).unwrap()[0].spent.rho > 0.0),
    );
    assert!(!sees_early(&folder, "ana", COUNT, history));
    assert!(!sees_early(&folder, "ana", "SELECT SUM(fare) FROM trips", budget));
    // The same question in a second program is answered from what is stored, for nothing.
    let again: Look = |engine| {
        let sql = "SELECT AVG(fare) FROM trips";
        let answer = engine.ask(&question("ana", sql, price("1e-4")), &()).unwrap();
        assert!(answer.free);
    };
    assert!(!sees_early(&folder, "ana", "SELECT AVG(fare) FROM trips", again));
    // What others in a circle have spent is seen by its members.
    let member: Look = |engine| drop(engine.budget(&analyst("eve")).unwrap());
    assert!(!sees_early(&folder, "bob", COUNT, member));
    // Controls: these see nothing of it, and do not wait.
    let other: Look = |engine| drop(engine.budget(&analyst("ana")).unwrap());
    assert!(sees_early(&folder, "bob", "SELECT SUM(fare) FROM trips", other));
    let steward: Look = |engine| drop(engine.history(&Who::Steward).unwrap());
    assert!(sees_early(&folder, "eve", "SELECT AVG(fare) FROM trips", steward));
}

/// Nobody waits for somebody who has not said yes.
#[test]
fn others_look_while_an_asker_decides() {
    struct Deciding<'a>(&'a Folder, AtomicU32);
    impl Observer for Deciding<'_> {
        fn clock(&self) -> &dyn Clock {
            &StoppedClock
        }

        fn confirm(&self, _: Amount<Rho>, _: Amount<Rho>) -> bool {
            let engine = self.0.engine();
            assert!(engine.history(&analyst("ana")).unwrap().is_empty());
            engine
                .ask(&question("ana", "SELECT SUM(fare) FROM trips", price("1e-5")), &())
                .unwrap();
            self.1.fetch_add(1, Ordering::Relaxed);
            true
        }
    }
    let folder = folder();
    let deciding = Deciding(&folder, AtomicU32::new(0));
    folder.engine().ask(&question("ana", COUNT, price("0.05")), &deciding).unwrap();
    assert_eq!(deciding.1.load(Ordering::Relaxed), 1);
    assert_eq!(folder.engine().history(&analyst("ana")).unwrap().len(), 2);
}

/// A question that its asker stops while rows are read counts as one that failed: that there was no
/// answer by then may have been up to rows. The steward's own counts nothing.
#[test]
fn a_question_that_is_stopped_counts() {
    /// Stops as soon as rows may be read.
    struct Over(AtomicBool);
    impl Clock for Over {
        fn now(&self) -> Duration {
            self.0.store(true, Ordering::Relaxed);
            Duration::ZERO
        }

        fn wait_until(&self, _: Duration) {}
    }
    impl Observer for Over {
        fn clock(&self) -> &dyn Clock {
            self
        }

        fn is_over(&self) -> bool {
            self.0.load(Ordering::Relaxed)
        }
    }
    let folder = folder();
    let engine = folder.engine();
    let stops = |who: &str, sql: &str| {
        let goal = relative(0.01);
        let stopped = engine.ask(&question(who, sql, goal), &Over(AtomicBool::new(false)));
        assert!(matches!(stopped, Err(EngineError::Stopped)), "{stopped:?}");
    };
    stops("steward", ZONES);
    assert!(engine.failures().unwrap().is_empty());
    stops("ana", ZONES);
    let failed = &engine.failures().unwrap()[0];
    assert_eq!((failed.failed, failed.unseen), (1, 1));
    // Turns are no questions that were charged.
    assert!(failed.questions < 10, "{failed:?}");
}

/// How long rows took is not in a history: all that was written on the way to an answer bears the
/// moment of its question. Keys that are selected are charged before rows are read, and values
/// after.
#[test]
fn histories_do_not_show_how_long_rows_took() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 1, 1, None));
    folder.write("trips.csv", &trips(&[2_000, 1_500, 1_200]));
    let engine = folder.engine();
    engine.ask(&question("ana", ZONES, price("0.01")), &()).unwrap();
    let moments: Vec<_> =
        engine.history(&analyst("ana")).unwrap().into_iter().map(|asked| asked.at).collect();
    assert!(moments.len() > 1, "keys and values are charged apart");
    assert!(moments.iter().all(|at| *at == moments[0]), "{moments:?}");
    // Control: another question has another moment.
    engine.ask(&question("ana", COUNT, price("1e-4")), &()).unwrap();
    let last = engine.history(&analyst("ana")).unwrap();
    assert!(last.iter().any(|asked| asked.at != moments[0]));
}

/// Those who follow a question of an analyst hear nothing while rows are read.
#[test]
fn nothing_is_heard_before_an_answer_leaves() {
    #[derive(Default)]
    struct Heard(AtomicU32, AtomicU32);
    impl Observer for Heard {
        fn clock(&self) -> &dyn Clock {
            &StoppedClock
        }

        fn rows(&self, _: u64, _: Option<u64>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }

        fn look(&self, _: u32) {
            self.1.fetch_add(1, Ordering::Relaxed);
        }
    }
    let folder = folder();
    let heard = |who: &str, sql: &str| {
        let heard = Heard::default();
        folder.engine().ask(&question(who, sql, relative(0.1)), &heard).unwrap();
        (heard.0.into_inner(), heard.1.into_inner())
    };
    assert_eq!(heard("ana", COUNT), (0, 0));
    let (rows, looks) = heard("steward", ZONES);
    assert!(rows > 0 && looks > 0, "{rows} {looks}");
}
