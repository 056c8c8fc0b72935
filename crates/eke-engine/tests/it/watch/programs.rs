//! Programs that watch at once, fail or are lost.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Barrier, Mutex};

use eke_engine::ask::{Clock, StoppedClock};
use eke_engine::report::Owner;
use eke_engine::watch::{Closeness, WatchEnd};
use eke_engine::{EngineError, Observer, WatchQuestion};

use super::{analyst, circle, close, hits, policy, prices, pure, rides, run, watch};
use crate::trips::Folder;

/// Does something while rows are read: a step is charged, and not drawn yet.
struct WhileReading<'a>(AtomicU32, u32, &'a (dyn Fn() + Sync));

impl Observer for WhileReading<'_> {
    fn clock(&self) -> &dyn Clock {
        &StoppedClock
    }

    fn rows(&self, _: u64, _: Option<u64>) {
        if self.0.fetch_add(1, Ordering::Relaxed) + 1 == self.1 {
            (self.2)();
        }
    }
}

/// No row is read before its step is paid for: at the moment of reading, its worst case is set
/// aside.
#[test]
fn a_step_is_set_aside_for_before_its_rows_are_read() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("200.0", "100.0"));
    folder.write("rides.csv", &rides(&[5, 5, 5]));
    let engine = folder.engine();
    let question = watch("steward", 0..3);
    let prices = prices(&engine, &question);
    let seen = Mutex::new(Vec::new());
    let look = || seen.lock().unwrap().push(pure(&folder.engine(), &Owner::Everyone));
    struct Each<'a>(&'a (dyn Fn() + Sync));
    impl Observer for Each<'_> {
        fn clock(&self) -> &dyn Clock {
            &StoppedClock
        }

        fn rows(&self, _: u64, _: Option<u64>) {
            (self.0)();
        }
    }
    engine.watch(&question, &Each(&look), &mut |_| true).unwrap();
    let mut seen: Vec<f64> =
        seen.into_inner().unwrap().into_iter().map(|(_, aside)| aside).collect();
    seen.dedup();
    assert_eq!(seen.len(), 3, "{seen:?}");
    for (steps, aside) in (1..).zip(seen) {
        assert!(close(aside, prices.worst(steps).epsilon), "{steps}: {aside}");
    }
}

/// Rows that cannot be read: the steward hears of it, and pays for what was drawn; an analyst hears
/// nothing more than that it is not available.
#[test]
fn rows_of_a_watch_that_cannot_be_read_show_to_the_steward_alone() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("200.0", "100.0"));
    let text = rides(&[100, 100, 100]);
    folder.write("rides.csv", &text);
    let engine = folder.engine();
    let file = folder.path().join("rides.csv");
    let question = watch("steward", 0..3);
    let prices = prices(&engine, &question);
    // A program that holds no rows yet: what it shows first is stored.
    let first = |question: &WatchQuestion| {
        let watched = folder.engine().watch(question, &(), &mut |_| false).unwrap();
        assert_eq!((watched.steps, watched.ended), (1, WatchEnd::Enough));
        folder.engine()
    };
    let (program, mut shown) = (first(&question), 0);
    let lost = program.watch(&question, &(), &mut |_| {
        shown += 1;
        std::fs::remove_file(&file).unwrap();
        true
    });
    assert!(matches!(lost, Err(EngineError::WatchRows(_))) && shown == 1, "{lost:?}");
    // The first run ended with its hit; the second drew nothing, and what was set aside went back.
    let (spent, reserved) = pure(&engine, &Owner::Everyone);
    assert!(close(spent, prices.halting_at(1).epsilon) && reserved == 0.0, "{spent} {reserved}");
    folder.write("rides.csv", &text);
    // It goes on where it was, under another attempt.
    assert_eq!(hits(&run(&engine, &question).0), [true; 3]);
    let question = WatchQuestion { line: 51.0, ..watch("ana", 0..3) };
    let (program, mut verdicts) = (first(&question), Vec::new());
    let watched = program.watch(&question, &(), &mut |verdict| {
        verdicts.push(verdict.hit);
        let _ = std::fs::remove_file(&file);
        true
    });
    let lost = matches!(watched, Err(EngineError::Unavailable));
    assert!(lost && verdicts == [true], "{watched:?} {verdicts:?}");
    assert_eq!(engine.notices().unwrap().len(), 2);
}

/// Two programs at once: one draws, both see the same, and the riders pay once.
#[test]
fn two_programs_that_watch_at_once_see_the_same_and_pay_once() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("200.0", "100.0"));
    folder.write("rides.csv", &rides(&[60; 12]));
    for (one, other) in [("ana", "ana"), ("ana", "bob"), ("bob", "eve"), ("steward", "eve")] {
        drop(folder.fresh());
        let near = |who: &str| WatchQuestion {
            line: 60.0,
            closeness: Closeness::Absolute(200.0),
            ..watch(who, 0..12)
        };
        let gate = Barrier::new(2);
        let go = |who: &'static str| {
            let (folder, gate) = (&folder, &gate);
            move || {
                let engine = folder.engine();
                gate.wait();
                run(&engine, &near(who))
            }
        };
        let ((first, _), (second, _)) = std::thread::scope(|scope| {
            let (one, other) = (scope.spawn(go(one)), scope.spawn(go(other)));
            (one.join().unwrap(), other.join().unwrap())
        });
        assert_eq!(hits(&first), hits(&second), "{one} {other}");
        let places: Vec<u64> = first.iter().map(|verdict| verdict.place).collect();
        assert_eq!(places, second.iter().map(|verdict| verdict.place).collect::<Vec<_>>());
        // What the verdicts come to, run by run.
        let engine = folder.engine();
        let prices = prices(&engine, &near("steward"));
        let mut all = 0.0;
        for (index, verdict) in first.iter().enumerate() {
            let next = first.get(index + 1).map_or(1, |next| next.place);
            if verdict.hit {
                all += prices.halting_at(verdict.place).epsilon;
            } else if next == 1 {
                all += prices.without_halt(verdict.place).epsilon;
            }
        }
        let mut accounts = vec![Owner::Everyone];
        accounts
            .extend([one, other].iter().filter(|who| **who != "steward").map(|who| analyst(who)));
        if [one, other].iter().any(|who| ["bob", "eve"].contains(who)) {
            accounts.push(circle());
        }
        for of in accounts {
            let (spent, reserved) = pure(&engine, &of);
            assert!(close(spent, all) && reserved == 0.0, "{one} {other} {of:?}: {spent} {all}");
        }
    }
}

/// A program that ends without a word leaves its worst case set aside, and the next program goes
/// on.
#[test]
fn what_a_lost_program_set_aside_stays_so() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("200.0", "100.0"));
    folder.write("rides.csv", &rides(&[0, 0, 0, 0]));
    let engine = folder.engine();
    let question = watch("ana", 0..4);
    let prices = prices(&engine, &question);
    // A panic while the third step is drawn runs no destructor that settles anything.
    let stop = WhileReading(AtomicU32::new(0), 3, &|| panic!("lost"));
    let steward = watch("steward", 0..4);
    let gone = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        engine.watch(&steward, &stop, &mut |_| true)
    }));
    if gone.is_ok() {
        // How often progress is reported depends on how rows are read: nothing was lost, and
        // nothing is tested.
        panic!("rows were told less often than steps were drawn");
    }
    let (spent, reserved) = pure(&engine, &Owner::Everyone);
    assert!(spent == 0.0 && close(reserved, prices.worst(3).epsilon), "{spent} {reserved}");
}
