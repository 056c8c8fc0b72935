//! Approvals entered into batches, and accounts restored from how they stand.

use std::num::NonZeroU32;

use eke_budget::account::{Batch, Entered, StandingError};
use eke_budget::purchase::{
    GroupOffer, GroupPrices, Level, PathError, RevealReceipt, UnsettledReason,
};
use eke_budget::{Account, Charge, Entry, Epsilon, Journal, L2, Rho};

use crate::{CENTRAL, account, amount, budget, buy, path};

/// A journal whose disk is full.
struct Full;

impl Journal for Full {
    type Error = &'static str;

    fn record(&mut self, _: &[Entry]) -> Result<(), &'static str> {
        Err("no space")
    }
}

fn spend(account: &mut Account, batch: &mut Batch, rho: &str) -> Entered<Charge> {
    let charge: Charge = format!("rho={rho}").parse().unwrap();
    let approved = account.approve(charge).unwrap();
    account.enter(approved, batch).unwrap()
}

#[test]
fn requests_of_one_batch_share_one_record_and_see_each_other() {
    let (mut riders, mut journal) = account();
    let mut batch = Batch::new();
    let one = L2::new(1.0).unwrap();
    let first = spend(&mut riders, &mut batch, "0.4");
    let approved = riders.raise(path(1), amount::<Rho>("0.5"), one).unwrap();
    let second = riders.enter(approved, &mut batch).unwrap();
    // The next request of the batch sees what was entered, and what is left.
    assert!(riders.approve("rho=0.2".parse::<Charge>().unwrap()).is_err());
    let approved = riders.reveal(path(1), amount::<Rho>("0.3"), one).unwrap();
    let third = riders.enter(approved, &mut batch).unwrap();
    assert_eq!(batch.entries().len(), 3);
    assert_eq!(journal.entries().len(), 1);

    let recorded = batch.record(&mut journal).unwrap();
    assert_eq!(journal.entries().len(), 4);
    assert_eq!(first.receipt(&recorded).unwrap().entry().sequence, 1);
    assert_eq!(second.receipt(&recorded).unwrap().redeem().to(), amount("0.5"));
    let sorted = third.receipt(&recorded).unwrap().sorted();
    assert!(matches!(sorted, RevealReceipt::Coarser(receipt) if receipt.entry().sequence == 3));
}

#[test]
fn a_batch_that_is_not_recorded_gives_no_receipts_and_its_account_is_put_back() {
    let (mut riders, mut journal) = account();
    let before = riders.standing();
    let mut batch = Batch::new();
    let lost = spend(&mut riders, &mut batch, "0.4");
    assert!(batch.record(&mut Full).is_err());
    // Another batch's record is no proof.
    let other = Batch::new().record(&mut journal).unwrap();
    assert!(lost.receipt(&other).is_err());
    // Left as it is, the account has run ahead of its journal.
    let approved = riders.approve("rho=0.1".parse::<Charge>().unwrap()).unwrap();
    assert!(riders.commit(approved, &mut journal).is_err());
    riders.restore_to(&before).unwrap();
    assert_eq!(riders.standing(), before);
    let approved = riders.approve("rho=1".parse::<Charge>().unwrap()).unwrap();
    buy(&mut riders, approved, &mut journal);
}

#[test]
fn a_restored_account_goes_on_like_its_replay() {
    let (mut riders, mut journal) = account();
    let one = L2::new(1.0).unwrap();
    let approved = riders.raise(path(1), amount::<Rho>("0.25"), one).unwrap();
    buy(&mut riders, approved, &mut journal);
    let approved = riders.reserve(amount("0.5"), amount("1e-7")).unwrap();
    let round = buy(&mut riders, approved, &mut journal);
    let standing = riders.standing();
    assert_eq!(Account::replay(journal.entries()).unwrap().standing(), standing);

    let mut restored = Account::restore(&standing).unwrap();
    assert_eq!(restored.standing(), standing);
    let level = Level { increments: 1, at: amount::<Rho>("0.25"), sensitivity: one };
    restored.learn_level(path(1), level);
    let two = L2::new(2.0).unwrap();
    let changed = restored.reveal(path(1), amount::<Rho>("0.5"), two);
    assert!(matches!(changed, Err(PathError::OtherSensitivity { .. })));
    let changed = restored.reveal(path(1), amount::<Rho>("0.1"), two);
    assert!(matches!(changed, Err(PathError::OtherSensitivity { .. })));
    let step = restored.raise(path(1), amount::<Rho>("0.5"), one).unwrap();
    assert_eq!((step.purchase().increment(), step.purchase().price()), (1, amount("0.25")));

    // A round goes on in the account it was reserved in, also after it was put back.
    let mut batch = Batch::new();
    let settlement = round.settle_at(amount("0.1")).unwrap();
    let elsewhere = restored.enter_settlement(&settlement, &mut batch);
    assert!(matches!(elsewhere, Err(UnsettledReason::NotRunning)));
    riders.restore_to(&standing).unwrap();
    riders.enter_settlement(&settlement, &mut batch).unwrap();
    assert!(riders.enter_settlement(&settlement, &mut batch).is_err());
    batch.record(&mut journal).unwrap();
    assert_eq!(riders.odometer().pure().unwrap().spent(), amount("0.1"));
    assert_eq!(Account::replay(journal.entries()).unwrap().standing(), riders.standing());
}

#[test]
fn a_standing_that_no_account_can_have_is_refused() {
    let (mut riders, mut journal) = account();
    let approved = riders.reserve(amount("0.5"), amount("1e-7")).unwrap();
    let _round = buy(&mut riders, approved, &mut journal);
    let standing = riders.standing();

    let mut above = standing.clone();
    above.zcdp.as_mut().unwrap().spent = amount("1.1");
    assert!(matches!(Account::restore(&above), Err(StandingError::AboveBudget(_))));
    let mut above = standing.clone();
    above.pure.as_mut().unwrap().delta_spent = amount("1e-5");
    assert!(matches!(Account::restore(&above), Err(StandingError::AboveBudget(_))));
    let mut rounds = standing.clone();
    rounds.rounds.clear();
    assert!(matches!(Account::restore(&rounds), Err(StandingError::Rounds(_))));
    let mut rounds = standing.clone();
    rounds.next_round = 0;
    assert!(matches!(Account::restore(&rounds), Err(StandingError::Rounds(_))));
    let mut purses = standing.clone();
    purses.zcdp = None;
    assert!(matches!(Account::restore(&purses), Err(StandingError::OtherPurses(_))));
    let other = Account::open("drivers", budget(), &mut journal).unwrap().standing();
    assert!(matches!(riders.restore_to(&other), Err(StandingError::OtherAccount(_))));
}

#[test]
fn an_extension_counts_once_it_is_recorded() {
    let (mut riders, mut journal) = account();
    let approved = riders.reserve(amount("0.5"), amount("0")).unwrap();
    let mut round = buy(&mut riders, approved, &mut journal);
    let approved = riders.reserve(amount("0.1"), amount("0")).unwrap();
    let mut other = buy(&mut riders, approved, &mut journal);
    let mut batch = Batch::new();
    let entered = riders.enter_extension(&round, amount("0.75"), &mut batch).unwrap();
    assert!(riders.enter_extension(&round, amount("0.95"), &mut batch).is_err());
    assert_eq!(round.worst(), amount("0.5"));
    let recorded = batch.record(&mut journal).unwrap();
    let receipt = entered.receipt(&recorded).unwrap();
    let receipt = *other.extended(receipt).unwrap_err();
    round.extended(receipt).unwrap();
    assert_eq!(round.worst(), amount("0.75"));
    let left = riders.odometer().pure().unwrap().left();
    assert_eq!(left, amount::<Epsilon>("0.15"));
}

#[test]
fn an_offer_whose_batch_was_not_recorded_can_be_made_again() {
    let (mut riders, mut journal) = account();
    let two = NonZeroU32::new(2).unwrap();
    let mut prices = GroupPrices::<Rho>::new(3, two, CENTRAL);
    let mut round = prices.round();
    for group in 0..3 {
        round.raise(group, amount("0.1")).unwrap();
    }
    let before = riders.standing();
    let mut batch = Batch::new();
    let approved = riders.raise_groups(round.offer(path(7))).unwrap();
    let entered = riders.enter(approved, &mut batch).unwrap();
    assert!(batch.record(&mut Full).is_err());
    riders.restore_to(&before).unwrap();

    let approved = riders.raise_groups(GroupOffer::from(entered)).unwrap();
    let receipt = riders.commit(approved, &mut journal).unwrap();
    prices.keep(&receipt).unwrap();
    assert_eq!(riders.bundle::<Rho>(path(7)), Some((1, amount("0.2"))));

    // Prices that were paid for before go on where they were.
    let kept: Vec<_> = (0..3).map(|group| prices.group(group).unwrap()).collect();
    let mut again = GroupPrices::<Rho>::at(&kept, two, CENTRAL).unwrap();
    assert_eq!(again.price(), amount("0.2"));
    let mut restored = Account::restore(&riders.standing()).unwrap();
    restored.learn_bundle::<Rho>(path(7), 1, amount("0.2"));
    let mut round = again.round();
    round.raise(2, amount("0.3")).unwrap();
    let approved = restored.raise_groups(round.offer(path(7))).unwrap();
    let raise = restored.commit(approved, &mut journal).unwrap().redeem();
    assert_eq!((raise.increment(), raise.from(), raise.to()), (1, amount("0.2"), amount("0.4")));
}
