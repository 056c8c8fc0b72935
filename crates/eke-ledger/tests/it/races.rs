//! Races: many callers for the last of a budget, for one key, for one increment.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

use eke_budget::Amount;
use eke_ledger::{Ledger, LedgerError, Reserve};

use crate::{
    ALONE, Place, amount, budget, on_every_store, path, request, show, spend, spent, stamp,
};

const CALLERS: usize = 64;
const LEDGERS: usize = 4;

/// Runs a call on every one of 64 threads at once, over four ledgers, and collects what comes.
fn race<T: Send>(ledgers: &[Ledger], call: impl Fn(&Ledger, usize) -> T + Sync) -> Vec<T> {
    let start = Barrier::new(CALLERS);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..CALLERS)
            .map(|caller| {
                let (start, call) = (&start, &call);
                let ledger = &ledgers[caller % ledgers.len()];
                scope.spawn(move || {
                    start.wait();
                    call(ledger, caller)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn ledgers(place: &Place) -> Vec<Ledger> {
    (0..LEDGERS).map(|_| place.ledger()).collect()
}

#[test]
fn of_64_callers_exactly_as_many_win_as_there_is_budget_for() {
    on_every_store(|place| {
        let ledgers = ledgers(place);
        for repetition in 0..100 {
            let account = format!("race-{repetition}");
            let units = repetition % 5 + 1;
            let size = budget(&format!("0.0{units}"));
            ledgers[0].open_account(&account, size, stamp("steward")).wait().unwrap();
            let won = race(&ledgers, |ledger, caller| {
                let request = request(&format!("{account}-{caller}"));
                match ledger.charge(request, &account, spend("0.01"), ALONE).wait() {
                    Ok(outcome) => outcome.charged().is_some(),
                    Err(LedgerError::Refused(_)) => false,
                    Err(error) => panic!("{error}"),
                }
            });
            assert_eq!(won.iter().filter(|&&won| won).count(), units);
            assert_eq!(spent(&ledgers[1], &account), amount(&format!("0.0{units}")));
        }
        place.is_sound();
    });
}

#[test]
fn of_64_refiners_of_one_path_one_draws() {
    on_every_store(|place| {
        let ledgers = ledgers(place);
        ledgers[0].open_account("riders", budget("1"), stamp("steward")).wait().unwrap();
        for repetition in 0..20 {
            let won = race(&ledgers, |ledger, caller| {
                let request = request(&format!("{repetition}-{caller}"));
                // Some ask for the same point, some for a coarser one.
                let to = ["0.01", "0.005"][caller % 2];
                match ledger.charge(request, "riders", show(path(repetition), to), ALONE).wait() {
                    Ok(outcome) => outcome.charged().is_some(),
                    Err(LedgerError::UnderWay { .. }) => false,
                    Err(error) => panic!("{error}"),
                }
            });
            assert_eq!(won.iter().filter(|&&won| won).count(), 1);
        }
        place.is_sound();
    });
}

#[test]
fn of_64_retries_of_one_request_one_is_charged() {
    on_every_store(|place| {
        let ledgers = ledgers(place);
        ledgers[0].open_account("riders", budget("1"), stamp("steward")).wait().unwrap();
        for repetition in 0..20 {
            let won = race(&ledgers, |ledger, _| {
                let request = request(&format!("{repetition}"));
                match ledger.charge(request, "riders", spend("0.01"), ALONE).wait() {
                    Ok(outcome) => outcome.charged().is_some(),
                    Err(LedgerError::Unanswered(_)) => false,
                    Err(error) => panic!("{error}"),
                }
            });
            assert_eq!(won.iter().filter(|&&won| won).count(), 1);
        }
        assert_eq!(spent(&ledgers[3], "riders"), amount("0.2"));
        place.is_sound();
    });
}

#[test]
fn of_64_openings_of_one_account_one_is_made() {
    on_every_store(|place| {
        let ledgers = ledgers(place);
        for repetition in 0..10 {
            let name = format!("account-{repetition}");
            race(&ledgers, |ledger, _| {
                ledger.open_account(&name, budget("1"), stamp("steward")).wait().unwrap();
            });
        }
        let report = place.verify();
        assert_eq!((report.lines, report.findings), (10, Vec::new()));
    });
}

/// An account is read as it stood at one moment: totals that go with the rounds of another moment
/// would look like damage.
#[test]
fn an_account_is_read_whole_while_another_program_writes() {
    on_every_store(|place| {
        let (ledger, other) = (place.ledger(), place.ledger());
        ledger.open_account("riders", budget("1"), stamp("steward")).wait().unwrap();
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut reads = 0;
                while !over.load(Ordering::Relaxed) {
                    other.account("riders").wait().unwrap().unwrap();
                    reads += 1;
                }
                reads
            });
            for number in 0..200 {
                let reserve = Reserve { worst: amount("0.5"), delta: Amount::ZERO };
                let alone: Vec<(&str, Reserve)> = Vec::new();
                let request = request(&format!("round-{number}"));
                let outcome = ledger.charge(request, "riders", reserve, alone).wait().unwrap();
                let round = outcome.charged().unwrap().own.redeem();
                let settlement = round.settle_at(Amount::GRAIN).unwrap();
                ledger.settle(vec![("riders", settlement)], stamp("ana")).wait().unwrap();
            }
            over.store(true, Ordering::Relaxed);
            assert!(reader.join().unwrap() > 0);
        });
        place.is_sound();
    });
}
