//! Ex-post rounds: reserved at their worst, settled at what they came to.

use std::cell::Cell;

use eke_budget::{
    Account, Amount, CancelError, Delta, Entry, Epsilon, ExtendError, Journal, MemoryJournal,
    NoHistory, Round, Unsettled, UnsettledReason,
};

use crate::{account, amount};

fn start(account: &mut Account, worst: &str, delta: &str) -> Round {
    account.reserve(amount(worst), amount(delta)).unwrap().commit(&mut NoHistory).unwrap().redeem()
}

fn pure(account: &Account) -> (Amount<Epsilon>, Amount<Epsilon>, Amount<Delta>) {
    let odometer = account.odometer();
    let purse = odometer.pure().unwrap();
    (purse.spent(), purse.reserved(), purse.delta_spent())
}

#[test]
fn a_reservation_counts_until_it_is_settled() {
    let mut account = account();
    let round = start(&mut account, "0.8", "0");
    assert_eq!(pure(&account), (amount("0"), amount("0.8"), amount("0")));
    assert!(account.reserve(amount("0.3"), Amount::ZERO).is_err());
    account.settle(round.settle_at(amount("0.1")).unwrap(), &mut NoHistory).unwrap();
    assert_eq!(pure(&account), (amount("0.1"), amount("0"), amount("0")));
    assert!(account.reserve(amount("0.9"), Amount::ZERO).is_ok());
}

#[test]
fn the_deltas_of_started_rounds_stay_spent() {
    let mut account = account();
    for _ in 0..4 {
        let round = start(&mut account, "0.5", "0.00000025");
        account.settle(round.settle_at(Amount::ZERO).unwrap(), &mut NoHistory).unwrap();
    }
    assert_eq!(pure(&account), (amount("0"), amount("0"), amount("0.000001")));
    // All of epsilon is back, but no delta is left: the fifth round does not start.
    let refusal = account.reserve(amount("0.5"), amount("0.00000025")).unwrap_err();
    assert_eq!(refusal.fits, Some("epsilon=1".parse().unwrap()));
}

#[test]
fn a_reservation_that_was_not_started_can_be_cancelled_whole() {
    let mut account = account();
    let approved = account.reserve(amount("0.8"), amount("0.000001")).unwrap();
    account.cancel(approved).unwrap();
    assert_eq!(pure(&account), (amount("0"), amount("0"), amount("0")));
}

#[test]
fn a_round_that_is_dropped_stays_at_its_worst_case() {
    let mut account = account();
    drop(start(&mut account, "0.8", "0"));
    assert_eq!(pure(&account).1, amount("0.8"));
}

#[test]
fn a_price_above_the_worst_case_is_an_error_and_stays_reserved() {
    let mut account = account();
    let round = start(&mut account, "0.5", "0");
    let above = round.settle_at(amount("0.6")).unwrap_err();
    assert_eq!(
        above.to_string(),
        "round 0 came to epsilon 0.6, above its reserved worst case 0.5: its mechanism is wrong, \
         and the round stays reserved"
    );
    assert_eq!(pure(&account).1, amount("0.5"));
    account.settle(above.round.settle_at(amount("0.5")).unwrap(), &mut NoHistory).unwrap();
    assert_eq!(pure(&account), (amount("0.5"), amount("0"), amount("0")));
}

#[test]
fn a_round_grows_step_by_step_while_it_fits() {
    let mut account = account();
    let mut round = start(&mut account, "0.4", "0");
    let receipt = account.extend(&round, amount("0.7")).unwrap().commit(&mut NoHistory).unwrap();
    assert_eq!((receipt.purchase().round(), receipt.purchase().to()), (0, amount("0.7")));
    round.extend(receipt);
    assert_eq!(round.worst(), amount("0.7"));
    assert_eq!(pure(&account).1, amount("0.7"));

    let refused = account.extend(&round, amount("1.1")).unwrap_err();
    let ExtendError::Refused(refusal) = refused else { panic!("{refused}") };
    assert_eq!(refusal.asked, "epsilon=0.4".parse().unwrap());
    assert_eq!(refusal.fits, Some("epsilon=0.3,delta=1e-6".parse().unwrap()));
    let same = account.extend(&round, amount("0.7")).unwrap_err();
    assert_eq!(same, ExtendError::NotLarger { round: 0, worst: amount("0.7") });

    account.settle(round.settle_at(amount("0.6")).unwrap(), &mut NoHistory).unwrap();
    assert_eq!(pure(&account), (amount("0.6"), amount("0"), amount("0")));
}

#[test]
fn a_round_does_not_grow_by_another_rounds_receipt() {
    let mut account = account();
    let mut first = start(&mut account, "0.1", "0");
    let second = start(&mut account, "0.1", "0");
    let receipt = account.extend(&second, amount("0.5")).unwrap().commit(&mut NoHistory).unwrap();
    first.extend(receipt);
    assert_eq!(first.worst(), amount("0.1"));
    assert!(first.settle_at(amount("0.3")).is_err());
}

#[test]
fn an_extension_can_be_cancelled_unless_the_round_has_gone_on() {
    let mut account = account();
    let round = start(&mut account, "0.1", "0");
    let early = account.extend(&round, amount("0.2")).unwrap();
    let late = account.extend(&round, amount("0.3")).unwrap();
    assert_eq!(account.cancel(early), Err(CancelError::MovedOn));
    account.cancel(late).unwrap();
    assert_eq!(pure(&account).1, amount("0.2"));
}

#[test]
fn a_round_of_another_account_is_not_touched() {
    let (mut ours, mut theirs) = (account(), account());
    let our_round = start(&mut ours, "0.5", "0");
    let their_round = start(&mut theirs, "0.5", "0");
    assert_eq!(
        ours.extend(&their_round, amount("0.6")).unwrap_err(),
        ExtendError::NotRunning { round: 0 }
    );
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

    fn record(&mut self, _: &Entry) -> Result<(), &'static str> {
        if self.0.get() { Ok(()) } else { Err("the disk is gone") }
    }
}

#[test]
fn a_settlement_that_is_not_recorded_gives_nothing_back() {
    let mut account = account();
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
    let mut account = account();
    let mut journal = MemoryJournal::new();
    let running = account.reserve(amount("0.3"), amount("0.0000001")).unwrap();
    let running = running.commit(&mut journal).unwrap().redeem();
    let ended = account.reserve(amount("0.4"), Amount::ZERO).unwrap();
    let ended = ended.commit(&mut journal).unwrap().redeem();
    account.settle(ended.settle_at(amount("0.2")).unwrap(), &mut journal).unwrap();

    let mut after = Account::replay("riders", account.budget().clone(), journal.entries()).unwrap();
    assert_eq!(pure(&after), (amount("0.2"), amount("0.3"), amount("0.0000001")));
    // The token of the old process is worth nothing in the new one.
    let settlement = running.settle_at(Amount::ZERO).unwrap();
    assert!(after.settle(settlement, &mut journal).is_err());
    assert_eq!(pure(&after).1, amount("0.3"));
    // And new rounds do not take the number of an old one.
    assert_eq!(start(&mut after, "0.1", "0").id(), 2);
}
