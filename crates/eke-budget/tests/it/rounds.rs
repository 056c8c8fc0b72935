//! Ex-post rounds: reserved at their worst, settled at what they came to.

use std::cell::Cell;

use eke_budget::purchase::{ExtendError, Round, Rounds, Unsettled, UnsettledReason};
use eke_budget::{Account, Amount, Delta, Entry, Epsilon, Journal, NoHistory};

use crate::{account, amount, buy};

fn start(account: &mut Account, worst: &str, delta: &str) -> Round {
    let approved = account.reserve(amount(worst), amount(delta)).unwrap();
    buy(account, approved, &mut NoHistory)
}

fn pure(account: &Account) -> (Amount<Epsilon>, Amount<Epsilon>, Amount<Delta>) {
    let odometer = account.odometer();
    let purse = odometer.pure().unwrap();
    (purse.spent(), purse.reserved(), purse.delta_spent())
}

#[test]
fn a_reservation_counts_until_it_is_settled() {
    let (mut account, _) = account();
    let round = start(&mut account, "0.8", "0");
    assert_eq!(pure(&account), (amount("0"), amount("0.8"), amount("0")));
    assert!(account.reserve(amount("0.3"), Amount::ZERO).is_err());
    account.settle(round.settle_at(amount("0.1")).unwrap(), &mut NoHistory).unwrap();
    assert_eq!(pure(&account), (amount("0.1"), amount("0"), amount("0")));
    assert!(account.reserve(amount("0.9"), Amount::ZERO).is_ok());
}

#[test]
fn the_deltas_of_started_rounds_stay_spent() {
    let (mut account, _) = account();
    for _ in 0..4 {
        let round = start(&mut account, "0.5", "0.00000025");
        assert_eq!(round.delta(), amount("0.00000025"));
        account.settle(round.settle_at(Amount::ZERO).unwrap(), &mut NoHistory).unwrap();
    }
    assert_eq!(pure(&account), (amount("0"), amount("0"), amount("0.000001")));
    // All of epsilon is back, but no delta is left: the fifth round does not start.
    let refusal = account.reserve(amount("0.5"), amount("0.00000025")).unwrap_err();
    assert_eq!(refusal.fits, Some("epsilon=1".parse().unwrap()));
}

#[test]
fn a_reservation_that_was_not_started_can_be_cancelled_whole() {
    let (mut account, _) = account();
    let approved = account.reserve(amount("0.8"), amount("0.000001")).unwrap();
    account.cancel(approved).unwrap();
    assert_eq!(pure(&account), (amount("0"), amount("0"), amount("0")));
}

#[test]
fn a_round_that_is_dropped_stays_at_its_worst_case() {
    let (mut account, _) = account();
    drop(start(&mut account, "0.8", "0"));
    assert_eq!(pure(&account).1, amount("0.8"));
}

#[test]
fn a_price_above_the_worst_case_is_an_error_and_stays_reserved() {
    let (mut account, _) = account();
    let round = start(&mut account, "0.5", "0");
    let above = round.settle_at(amount("0.6")).unwrap_err();
    assert_eq!(
        above.to_string(),
        "round 0 came to epsilon 0.6, above its reserved worst case 0.5: its mechanism is wrong, \
         and the round stays reserved"
    );
    assert_eq!(pure(&account), (amount("0"), amount("0.5"), amount("0")));
}

#[test]
fn a_round_grows_step_by_step_while_it_fits() {
    let (mut account, _) = account();
    let mut round = start(&mut account, "0.4", "0");
    account.extend(&mut round, amount("0.7"), &mut NoHistory).unwrap();
    assert_eq!((round.worst(), pure(&account).1), (amount("0.7"), amount("0.7")));

    let refused = account.extend(&mut round, amount("1.1"), &mut NoHistory).unwrap_err();
    let ExtendError::Refused(refusal) = refused else { panic!("{refused}") };
    assert_eq!(refusal.asked, "epsilon=0.4".parse().unwrap());
    assert_eq!(refusal.fits, Some("epsilon=0.3,delta=1e-6".parse().unwrap()));
    for not_larger in ["0.7", "0.6"] {
        let error = account.extend(&mut round, amount(not_larger), &mut NoHistory).unwrap_err();
        assert_eq!(error, ExtendError::NotLarger { round: 0, worst: amount("0.7") });
    }
    assert_eq!((round.worst(), pure(&account).1), (amount("0.7"), amount("0.7")));

    account.settle(round.settle_at(amount("0.6")).unwrap(), &mut NoHistory).unwrap();
    assert_eq!(pure(&account), (amount("0.6"), amount("0"), amount("0")));
}

#[test]
fn a_round_does_not_grow_unless_that_is_recorded() {
    let (mut account, _) = account();
    let works = Cell::new(false);
    let mut round = start(&mut account, "0.4", "0");
    let error = account.extend(&mut round, amount("0.7"), &mut Switch(&works)).unwrap_err();
    assert_eq!(error, ExtendError::Journal("the disk is gone"));
    assert_eq!((round.worst(), pure(&account).1), (amount("0.4"), amount("0.4")));
    works.set(true);
    account.extend(&mut round, amount("0.7"), &mut Switch(&works)).unwrap();
    assert_eq!((round.worst(), pure(&account).1), (amount("0.7"), amount("0.7")));
}

#[test]
fn a_round_of_another_account_is_not_touched() {
    let ((mut ours, _), (mut theirs, _)) = (account(), account());
    let our_round = start(&mut ours, "0.5", "0");
    let mut their_round = start(&mut theirs, "0.5", "0");
    let error = ours.extend(&mut their_round, amount("0.6"), &mut NoHistory).unwrap_err();
    assert_eq!(error, ExtendError::NotRunning { round: 0 });
    let settlement = their_round.settle_at(Amount::ZERO).unwrap();
    let Unsettled { settlement, reason } = ours.settle(settlement, &mut NoHistory).unwrap_err();
    assert_eq!(reason.to_string(), "the round is not running in this account");
    assert_eq!(pure(&ours).1, amount("0.5"));
    theirs.settle(settlement, &mut NoHistory).unwrap();
    assert_eq!(pure(&theirs).1, Amount::ZERO);
    drop(our_round);
}

/// A journal that fails while its switch is off.
struct Switch<'a>(&'a Cell<bool>);

impl Journal for Switch<'_> {
    type Error = &'static str;

    fn record(&mut self, _: &[Entry]) -> Result<(), &'static str> {
        if self.0.get() { Ok(()) } else { Err("the disk is gone") }
    }
}

#[test]
fn a_settlement_that_is_not_recorded_gives_nothing_back() {
    let (mut account, _) = account();
    let works = Cell::new(false);
    let round = start(&mut account, "0.5", "0");
    let settlement = round.settle_at(amount("0.1")).unwrap();
    let Unsettled { settlement, reason } =
        account.settle(settlement, &mut Switch(&works)).unwrap_err();
    assert!(matches!(reason, UnsettledReason::Journal("the disk is gone")));
    assert_eq!(pure(&account).1, amount("0.5"));
    assert_eq!(settlement.realised(), amount("0.1"));
    works.set(true);
    account.settle(settlement, &mut Switch(&works)).unwrap();
    assert_eq!(pure(&account).0, amount("0.1"));
}

#[test]
fn rounds_that_were_running_stay_reserved_after_a_replay() {
    let (mut account, mut journal) = account();
    let running = account.reserve(amount("0.3"), amount("0.0000001")).unwrap();
    let mut running = buy(&mut account, running, &mut journal);
    account.extend(&mut running, amount("0.35"), &mut journal).unwrap();
    let ended = account.reserve(amount("0.4"), Amount::ZERO).unwrap();
    let ended = buy(&mut account, ended, &mut journal);
    account.settle(ended.settle_at(amount("0.2")).unwrap(), &mut journal).unwrap();

    let mut after = Account::replay(journal.entries()).unwrap();
    assert_eq!(pure(&after), (amount("0.2"), amount("0.35"), amount("0.0000001")));
    // The token of the old process is worth nothing in the new one.
    let settlement = running.settle_at(Amount::ZERO).unwrap();
    assert!(after.settle(settlement, &mut journal).is_err());
    assert_eq!(pure(&after).1, amount("0.35"));
    // And new rounds do not take the number of an old one.
    assert_eq!(start(&mut after, "0.1", "0").id(), 2);
}

/// A run of three reservations, and what each price it can come to leaves of them.
#[test]
fn what_a_run_leaves_over_goes_back_from_its_last_round_on() {
    for (realised, kept) in [
        ("0", ["0", "0", "0"]),
        ("0.1", ["0.1", "0", "0"]),
        ("0.25", ["0.2", "0.05", "0"]),
        ("0.3", ["0.2", "0.1", "0"]),
        ("0.6", ["0.2", "0.1", "0.3"]),
    ] {
        let (mut account, _) = account();
        let mut rounds = Rounds::new(start(&mut account, "0.2", "0.0000001"));
        for worst in ["0.1", "0.3"] {
            rounds.add(start(&mut account, worst, "0")).unwrap();
        }
        assert_eq!((rounds.worst(), rounds.delta()), (amount("0.6"), amount("0.0000001")));
        let settlements = rounds.settle_at(amount(realised)).unwrap();
        let found: Vec<_> = settlements.iter().map(|settlement| settlement.realised()).collect();
        assert_eq!(found, kept.map(amount));
        for settlement in settlements {
            account.settle(settlement, &mut NoHistory).unwrap();
        }
        // The delta of what was started stays spent.
        assert_eq!(pure(&account), (amount(realised), amount("0"), amount("0.0000001")));
    }
}

#[test]
fn a_run_that_comes_to_more_than_its_rounds_stays_reserved() {
    let (mut account, _) = account();
    let mut rounds = Rounds::new(start(&mut account, "0.2", "0"));
    rounds.add(start(&mut account, "0.1", "0")).unwrap();
    let error = rounds.settle_at(amount("0.300000000000000000000000000001")).unwrap_err();
    assert_eq!(error.worst, amount("0.3"));
    assert_eq!(pure(&account), (amount("0"), amount("0.3"), amount("0")));
}

#[test]
fn a_run_takes_rounds_of_one_account_only() {
    let ((mut ours, _), (mut theirs, _)) = (account(), account());
    let mut rounds = Rounds::new(start(&mut ours, "0.2", "0"));
    let error = rounds.add(start(&mut theirs, "0.3", "0")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "round 0 belongs to another account than the run: reserve it where the run started"
    );
    assert_eq!(rounds.worst(), amount("0.2"));
    theirs.settle(error.round.settle_at(Amount::ZERO).unwrap(), &mut NoHistory).unwrap();
    assert_eq!(pure(&theirs).1, Amount::ZERO);
}
