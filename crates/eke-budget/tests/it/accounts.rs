//! No purse is ever exceeded, whatever happens in whatever order.

use std::collections::HashSet;

use eke_budget::{
    Account, Amount, Approved, Charge, Coarsen, CommitError, Delta, Entry, Epsilon, Event, Journal,
    L1, L2, MemoryJournal, NoHistory, OtherAccount, OutOfSequence, Purse, Raise, ReplayError, Rho,
    Round,
};
use proptest::prelude::*;

use crate::{account, amount, budget, buy, path};

/// What an account holds, to compare before and after.
fn totals(account: &Account) -> (Purse<Rho>, Purse<Epsilon>) {
    let odometer = account.odometer();
    (odometer.zcdp().unwrap().clone(), odometer.pure().unwrap().clone())
}

fn half() -> Charge {
    Charge::zcdp(Rho::new(0.5).unwrap())
}

#[test]
fn charges_add_up_and_the_last_grain_can_be_spent() {
    let (mut account, mut journal) = account();
    assert_eq!(account.name(), "riders");
    assert_eq!(account.promise(), account.budget().promise());
    assert!(account.promise().is_some());
    for _ in 0..10 {
        let approved = account.approve(Charge::zcdp(Rho::new(0.1).unwrap())).unwrap();
        buy(&mut account, approved, &mut journal);
    }
    assert!(account.odometer().zcdp().unwrap().left().is_zero());
    let grain = Charge::Zcdp { rho: Amount::GRAIN, delta: Amount::ZERO };
    assert!(account.approve(grain).is_err());
    assert_eq!(journal.entries().len(), 11);
}

#[test]
fn a_refused_charge_leaves_the_account_as_it_was_and_says_what_fits() {
    let (mut account, _) = account();
    let spent: Charge = "rho=0.75,delta=4e-7".parse().unwrap();
    let _ = account.approve(spent).unwrap();
    let before = totals(&account);

    let asked: Charge = "rho=0.3,delta=1e-7".parse().unwrap();
    let refusal = account.approve(asked).unwrap_err();
    assert_eq!(totals(&account), before);
    assert_eq!(refusal.asked, asked);
    assert_eq!(refusal.fits, Some("rho=0.25,delta=6e-7".parse().unwrap()));
    assert_eq!(
        refusal.to_string(),
        "refused: rho=0.3,delta=1e-7 was asked of account `riders`; the largest charge that fits is \
         rho=0.25,delta=6e-7, all that is left of rho=1,delta=1e-6"
    );
    // What it says fits does fit, and the account goes on working.
    assert!(account.approve(refusal.fits.unwrap()).is_ok());
}

#[test]
fn delta_is_a_budget_of_its_own() {
    let (mut account, _) = account();
    let refusal = account.approve("rho=0.1,delta=2e-6".parse::<Charge>().unwrap()).unwrap_err();
    assert_eq!(refusal.fits, Some("rho=1,delta=1e-6".parse().unwrap()));
    // Deltas add up over releases.
    for _ in 0..5 {
        let _ = account.approve("rho=0.01,delta=2e-7".parse::<Charge>().unwrap()).unwrap();
    }
    assert!(account.approve("rho=0.01,delta=1e-30".parse::<Charge>().unwrap()).is_err());
    // The other purse has its own.
    assert!(account.approve("epsilon=0.01,delta=1e-6".parse::<Charge>().unwrap()).is_ok());
}

#[test]
fn a_currency_without_a_purse_is_refused() {
    let budget = eke_budget::BudgetSpec::promising(Epsilon::new(1.0).unwrap())
        .resolve(crate::CENTRAL)
        .unwrap();
    let mut account = Account::open("devices", budget, &mut NoHistory).unwrap();
    let refusal = account.approve(Charge::zcdp(Rho::new(0.1).unwrap())).unwrap_err();
    assert_eq!(refusal.fits, None);
    assert_eq!(
        refusal.to_string(),
        "refused: rho=0.1 was asked of account `devices`, which was opened without a budget in rho; \
         nothing in rho fits"
    );
    let path_refusal = account.raise(path(1), amount::<Rho>("0.1"), L2::new(1.0).unwrap());
    assert!(path_refusal.unwrap_err().to_string().contains("without a budget in rho"));
}

/// A journal whose disk is full.
struct Full;

impl Journal for Full {
    type Error = std::io::Error;

    fn record(&mut self, _: &[Entry]) -> Result<(), std::io::Error> {
        Err(std::io::Error::other("no space left"))
    }
}

#[test]
fn without_a_record_there_is_no_receipt_and_the_charge_goes_back() {
    let (mut account, mut journal) = account();
    let before = totals(&account);
    let approved = account.approve(half()).unwrap();
    let error = account.commit(approved, &mut Full).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the charge could not be recorded, so nothing was spent or drawn: no space left"
    );
    assert_eq!(totals(&account), before);
    // A path whose step failed can be taken further, and the history stays whole.
    let one = L2::new(1.0).unwrap();
    let step = account.raise(path(1), amount::<Rho>("0.1"), one).unwrap();
    assert!(account.commit(step, &mut Full).is_err());
    let step = account.raise(path(1), amount::<Rho>("0.2"), one).unwrap();
    assert_eq!(buy(&mut account, step, &mut journal).increment(), 0);
    assert_eq!(totals(&Account::replay(journal.entries()).unwrap()), totals(&account));
    assert!(Account::open("drivers", budget(), &mut Full).is_err());
}

#[test]
fn a_receipt_says_who_paid_for_what() {
    let (mut account, mut journal) = account();
    let approved = account.approve(half()).unwrap();
    assert_eq!(approved.event(), &Event::Charged(half()));
    assert_eq!(approved.purchase(), &half());
    let receipt = account.commit(approved, &mut journal).unwrap();
    assert_eq!(receipt.entry(), &journal.entries()[1]);
    assert_eq!((&*receipt.entry().account, receipt.entry().sequence), ("riders", 1));
    assert_eq!(receipt.metric(), crate::CENTRAL);
    assert_eq!(receipt.purchase(), &half());
}

#[test]
fn one_account_does_not_take_what_another_approved() {
    let ((mut ours, _), (mut theirs, mut journal)) = (account(), account());
    let approved = theirs.approve(half()).unwrap();
    let OtherAccount { approved } = ours.cancel(approved).unwrap_err();
    assert!(ours.odometer().zcdp().unwrap().spent().is_zero());
    let error = ours.commit(approved, &mut NoHistory).unwrap_err();
    assert_eq!(error.to_string(), "the approval belongs to another account: take it there");
    let CommitError::OtherAccount(OtherAccount { approved }) = error else { panic!("{error}") };
    buy(&mut theirs, approved, &mut journal);
}

#[test]
fn an_account_and_its_replay_cannot_both_go_on() {
    let (mut first, mut journal) = account();
    let stale = first.approve(half()).unwrap();
    let mut second = Account::replay(journal.entries()).unwrap();
    let approved = second.approve(half()).unwrap();
    buy(&mut second, approved, &mut journal);
    let error = first.commit(stale, &mut journal).unwrap_err();
    let CommitError::Journal(OutOfSequence { expected, found, .. }) = error else {
        panic!("{error}")
    };
    assert_eq!((expected, found), (2, 1));
}

#[test]
fn charges_on_several_accounts_are_all_or_nothing() {
    let mut journal = MemoryJournal::new();
    let mut open = |name| Account::open(name, budget(), &mut journal).unwrap();
    let (mut riders, mut ana, mut partners) = (open("riders"), open("ana"), open("partners"));
    let small: Charge = "rho=0.1".parse().unwrap();

    let of_riders = riders.approve(half()).unwrap();
    let others = vec![ana.approve(small).unwrap(), partners.approve(small).unwrap()];
    let others = [&mut ana, &mut partners].into_iter().zip(others).collect();
    let receipts = riders.commit_with(of_riders, others, &mut journal).unwrap();
    assert_eq!(&*receipts.own.entry().account, "riders");
    let paid: Vec<&str> = receipts.others.iter().map(|receipt| &*receipt.entry().account).collect();
    assert_eq!(paid, ["ana", "partners"]);
    assert_eq!(journal.entries().len(), 6);

    // A journal that fails, and an approval with the wrong account: nothing is spent anywhere.
    let before = [totals(&riders), totals(&ana), totals(&partners)];
    let (of_riders, of_ana) = (riders.approve(half()).unwrap(), ana.approve(small).unwrap());
    assert!(riders.commit_with(of_riders, vec![(&mut ana, of_ana)], &mut Full).is_err());
    assert_eq!([totals(&riders), totals(&ana), totals(&partners)], before);
    let (of_riders, of_ana) = (riders.approve(half()).unwrap(), ana.approve(small).unwrap());
    let error = riders.commit_with(of_riders, vec![(&mut partners, of_ana)], &mut journal);
    assert!(matches!(error, Err(CommitError::Mismatched)));
    assert_eq!([totals(&riders), totals(&partners)], [before[0].clone(), before[2].clone()]);
    assert_eq!(journal.entries().len(), 6);
}

#[test]
fn entries_of_one_account_follow_each_other() {
    let (mut account, mut journal) = account();
    let entry =
        |sequence| Entry { account: "riders".into(), sequence, event: Event::Charged(half()) };
    assert!(journal.record(&[entry(1), entry(2)]).is_ok());
    assert!(journal.record(&[entry(3), entry(3)]).is_err());
    assert!(journal.record(&[entry(5)]).is_err());
    assert_eq!(journal.entries().len(), 3);
    // The account knows nothing of these, so its own next entry is refused.
    let approved = account.approve(half()).unwrap();
    assert!(account.commit(approved, &mut journal).is_err());
}

#[test]
fn a_history_that_could_not_have_happened_does_not_replay() {
    let opened = Event::Opened(budget());
    let replay = |events: &[Event]| {
        let numbered = events.iter().enumerate().map(|(sequence, event)| Entry {
            account: "riders".into(),
            sequence: sequence as u64,
            event: event.clone(),
        });
        Account::replay(&numbered.collect::<Vec<_>>()).err()
    };
    let spent = Event::Charged("rho=0.6".parse().unwrap());
    assert_eq!(replay(&[opened.clone(), spent.clone()]), None);
    assert_eq!(replay(&[]), Some(ReplayError::NotOpened));
    assert_eq!(replay(std::slice::from_ref(&spent)), Some(ReplayError::NotOpened));
    for wrong in [
        r#"{"charged":{"zcdp":{"rho":"0.6","delta":"0"}}}"#,
        // A step of another increment, at another price, with an impossible sensitivity.
        r#"{"raised":{"path":"PATH","increment":1,"to":{"zcdp":{"rho":"0.1","delta":"0"}},"price":{"zcdp":{"rho":"0.1","delta":"0"}},"sensitivity":"1"}}"#,
        r#"{"raised":{"path":"PATH","increment":0,"to":{"zcdp":{"rho":"0.1","delta":"0"}},"price":{"zcdp":{"rho":"0.05","delta":"0"}},"sensitivity":"1"}}"#,
        r#"{"raised":{"path":"PATH","increment":0,"to":{"zcdp":{"rho":"0.1","delta":"0"}},"price":{"zcdp":{"rho":"0.1","delta":"0"}},"sensitivity":"-1"}}"#,
        r#"{"groups-raised":{"bundle":"PATH","increment":1,"to":{"zcdp":{"rho":"0.1","delta":"0"}},"price":{"zcdp":{"rho":"0.1","delta":"0"}}}}"#,
        r#"{"groups-raised":{"bundle":"PATH","increment":0,"to":{"pure":{"epsilon":"0.1","delta":"0"}},"price":{"pure":{"epsilon":"0.2","delta":"0"}}}}"#,
        r#"{"coarsened":{"path":"PATH","to":{"zcdp":{"rho":"0.1","delta":"0"}}}}"#,
        r#"{"settled":{"round":0,"realised":"0"}}"#,
        r#"{"extended":{"round":0,"from":"0","to":"0.1"}}"#,
        r#"{"reserved":{"round":18446744073709551615,"worst":"0.1","delta":"0"}}"#,
        r#"{"reserved":{"round":18446744073709551614,"worst":"0.1","delta":"0"}}"#,
    ] {
        let event = serde_json::from_str(&wrong.replace("PATH", &path(1).to_string())).unwrap();
        let failed = replay(&[opened.clone(), spent.clone(), event]);
        assert_eq!(failed, Some(ReplayError::DoesNotFit { sequence: 2 }), "{wrong}");
    }
    let reserved = Event::Reserved { round: 7, worst: amount("0.2"), delta: Amount::ZERO };
    for wrong in [
        Event::Settled { round: 7, realised: amount("0.3") },
        Event::Extended { round: 7, from: amount("0.1"), to: amount("0.3") },
        Event::Extended { round: 7, from: amount("0.2"), to: amount("0.2") },
        Event::Extended { round: 7, from: amount("0.2"), to: amount("1.1") },
        reserved.clone(),
        opened.clone(),
    ] {
        let failed = replay(&[opened.clone(), reserved.clone(), wrong.clone()]);
        assert_eq!(failed, Some(ReplayError::DoesNotFit { sequence: 2 }), "{wrong:?}");
    }
    let entry = |account: &str, sequence, event: &Event| Entry {
        account: account.into(),
        sequence,
        event: event.clone(),
    };
    let first = entry("riders", 0, &opened);
    let gap = Account::replay(&[first.clone(), entry("riders", 2, &spent)]).unwrap_err();
    assert_eq!(gap, ReplayError::Gap { expected: 1, found: 2 });
    let other = Account::replay(&[first, entry("drivers", 1, &spent)]).unwrap_err();
    assert_eq!(other.to_string(), "entry 1 of the history belongs to account `drivers`");
}

#[test]
fn the_budget_of_an_account_is_that_of_its_history() {
    let (account, journal) = account();
    let json = serde_json::to_string(journal.entries()).unwrap();
    let entries: Vec<Entry> = serde_json::from_str(&json).unwrap();
    assert_eq!(Account::replay(&entries).unwrap().budget(), account.budget());
}

/// Everything that can be done to an account. The last number chooses among what is there.
#[derive(Clone, Debug)]
enum Act {
    Approve(u128, u128, bool),
    Raise(u8, u128, bool),
    Coarsen(u8, u128),
    Reserve(u128, u128),
    Extend(u128, usize, bool),
    Settle(u128, usize, bool),
    /// Commit an approval, to a journal that works or does not.
    Commit(usize, bool),
    Cancel(usize),
    Forget(usize),
}

fn act() -> impl Strategy<Value = Act> {
    // Thousandths of a budget of one, so that a few acts fill it.
    let price = || (0u128..300).prop_map(|p| p * 10u128.pow(27));
    let delta = || prop_oneof![Just(0), (0u128..300).prop_map(|p| p * 10u128.pow(21))];
    let works = || prop::bool::weighted(0.8);
    prop_oneof![
        4 => (price(), delta(), any::<bool>()).prop_map(|(p, d, z)| Act::Approve(p, d, z)),
        4 => (0u8..3, price(), any::<bool>()).prop_map(|(id, p, z)| Act::Raise(id, p, z)),
        1 => (0u8..3, price()).prop_map(|(id, p)| Act::Coarsen(id, p)),
        3 => (price(), delta()).prop_map(|(p, d)| Act::Reserve(p, d)),
        2 => (price(), any::<usize>(), works()).prop_map(|(p, i, w)| Act::Extend(p, i, w)),
        3 => (price(), any::<usize>(), works()).prop_map(|(p, i, w)| Act::Settle(p, i, w)),
        7 => (any::<usize>(), works()).prop_map(|(i, w)| Act::Commit(i, w)),
        2 => any::<usize>().prop_map(Act::Cancel),
        1 => any::<usize>().prop_map(Act::Forget),
    ]
}

/// An approval waiting for its record.
enum Pending {
    Charge(Approved<Charge>),
    RaiseZcdp(Approved<Raise<Rho>>),
    RaisePure(Approved<Raise<Epsilon>>),
    Coarsen(Approved<Coarsen<Rho>>),
    Round(Approved<Round>),
}

/// Grains in each place; an independent count of what an account should hold.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Count {
    rho: u128,
    rho_delta: u128,
    epsilon: u128,
    reserved: u128,
    epsilon_delta: u128,
}

const BUDGET: u128 = 10u128.pow(30);
const DELTA_BUDGET: u128 = 10u128.pow(24);

impl Count {
    fn of(account: &Account) -> Self {
        let (zcdp, pure) = totals(account);
        assert_eq!(zcdp.left().grains(), BUDGET - zcdp.spent().grains());
        assert_eq!(pure.left().grains(), BUDGET - pure.spent().grains() - pure.reserved().grains());
        Self {
            rho: zcdp.spent().grains(),
            rho_delta: zcdp.delta_spent().grains(),
            epsilon: pure.spent().grains(),
            reserved: pure.reserved().grains(),
            epsilon_delta: pure.delta_spent().grains(),
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            rho: self.rho + other.rho,
            rho_delta: self.rho_delta + other.rho_delta,
            epsilon: self.epsilon + other.epsilon,
            reserved: self.reserved + other.reserved,
            epsilon_delta: self.epsilon_delta + other.epsilon_delta,
        }
    }

    fn minus(self, other: Self) -> Self {
        Self {
            rho: self.rho - other.rho,
            rho_delta: self.rho_delta - other.rho_delta,
            epsilon: self.epsilon - other.epsilon,
            reserved: self.reserved - other.reserved,
            epsilon_delta: self.epsilon_delta - other.epsilon_delta,
        }
    }

    fn is_within_the_budget(self) -> bool {
        self.rho <= BUDGET
            && self.rho_delta <= DELTA_BUDGET
            && self.epsilon + self.reserved <= BUDGET
            && self.epsilon_delta <= DELTA_BUDGET
    }
}

/// A journal that can be made to fail.
struct Flaky<'a> {
    journal: &'a mut MemoryJournal,
    works: bool,
}

impl Journal for Flaky<'_> {
    type Error = OutOfSequence;

    fn record(&mut self, entries: &[Entry]) -> Result<(), OutOfSequence> {
        if self.works {
            return self.journal.record(entries);
        }
        Err(OutOfSequence { account: "riders".into(), expected: 0, found: 0 })
    }
}

/// A path, and whether it is the one in rho.
type Step = (u8, bool);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    /// Random acts against an account and a count kept beside it: approvals are committed,
    /// cancelled and forgotten in any order, and journals fail. Checked after every act: the totals
    /// are the count's, a filter says yes exactly when the charge fits, and no budget is exceeded.
    /// At the end the history replays to what was recorded, levels included.
    #[test]
    fn no_interleaving_ever_exceeds_a_purse(acts in prop::collection::vec(act(), 1..80)) {
        let (mut account, mut journal) = account();
        let (mut live, mut recorded) = (Count::default(), Count::default());
        let mut pending: Vec<(Pending, Count, Option<Step>)> = Vec::new();
        let mut running: Vec<Round> = Vec::new();
        let mut under_way: HashSet<Step> = HashSet::new();
        let (l1, l2) = (L1::new(2.5).unwrap(), L2::new(2.5).unwrap());

        for act in acts {
            let before = live;
            match act {
                Act::Approve(price, delta, zcdp) => {
                    let (charge, cost) = if zcdp {
                        let (rho, delta) = (Amount::from_grains(price), Amount::from_grains(delta));
                        let cost = Count { rho: price, rho_delta: delta.grains(), ..Count::default() };
                        (Charge::Zcdp { rho, delta }, cost)
                    } else {
                        let (epsilon, delta) = (Amount::from_grains(price), Amount::from_grains(delta));
                        let cost =
                            Count { epsilon: price, epsilon_delta: delta.grains(), ..Count::default() };
                        (Charge::Pure { epsilon, delta }, cost)
                    };
                    let approved = account.approve(charge);
                    prop_assert_eq!(approved.is_ok(), live.plus(cost).is_within_the_budget());
                    if let Ok(approved) = approved {
                        live = live.plus(cost);
                        pending.push((Pending::Charge(approved), cost, None));
                    }
                }
                Act::Raise(id, to, zcdp) => {
                    let at = if zcdp {
                        account.level::<Rho>(path(id)).map_or(0, |level| level.at.grains())
                    } else {
                        account.level::<Epsilon>(path(id)).map_or(0, |level| level.at.grains())
                    };
                    let more = to.saturating_sub(at);
                    let cost = if zcdp {
                        Count { rho: more, ..Count::default() }
                    } else {
                        Count { epsilon: more, ..Count::default() }
                    };
                    let raised = if zcdp {
                        let to = Amount::<Rho>::from_grains(to);
                        account.raise(path(id), to, l2).map(Pending::RaiseZcdp)
                    } else {
                        let to = Amount::<Epsilon>::from_grains(to);
                        account.raise(path(id), to, l1).map(Pending::RaisePure)
                    };
                    let free = !under_way.contains(&(id, zcdp));
                    let expected = free && more > 0 && live.plus(cost).is_within_the_budget();
                    prop_assert_eq!(raised.is_ok(), expected);
                    if let Ok(approved) = raised {
                        live = live.plus(cost);
                        under_way.insert((id, zcdp));
                        pending.push((approved, cost, Some((id, zcdp))));
                    }
                }
                Act::Coarsen(id, to) => {
                    let at = account.level::<Rho>(path(id)).map_or(0, |level| level.at.grains());
                    let coarsened = account.coarsen(path(id), Amount::<Rho>::from_grains(to));
                    prop_assert_eq!(coarsened.is_ok(), to > 0 && to <= at);
                    if let Ok(approved) = coarsened {
                        pending.push((Pending::Coarsen(approved), Count::default(), None));
                    }
                }
                Act::Reserve(worst, delta) => {
                    let cost = Count { reserved: worst, epsilon_delta: delta, ..Count::default() };
                    let reserved = account.reserve(Amount::from_grains(worst), Amount::from_grains(delta));
                    prop_assert_eq!(reserved.is_ok(), live.plus(cost).is_within_the_budget());
                    if let Ok(approved) = reserved {
                        live = live.plus(cost);
                        pending.push((Pending::Round(approved), cost, None));
                    }
                }
                Act::Extend(more, index, works) if !running.is_empty() => {
                    let index = index % running.len();
                    let to = Amount::from_grains(running[index].worst().grains() + more);
                    let cost = Count { reserved: more, ..Count::default() };
                    let mut flaky = Flaky { journal: &mut journal, works };
                    let extended = account.extend(&mut running[index], to, &mut flaky);
                    let fits = more > 0 && live.plus(cost).is_within_the_budget();
                    prop_assert_eq!(extended.is_ok(), works && fits);
                    if extended.is_ok() {
                        (live, recorded) = (live.plus(cost), recorded.plus(cost));
                    }
                }
                Act::Settle(price, index, works) if !running.is_empty() => {
                    let round = running.swap_remove(index % running.len());
                    let worst = Count { reserved: round.worst().grains(), ..Count::default() };
                    let cost = Count { epsilon: price, ..Count::default() };
                    let settled = round.settle_at(Amount::from_grains(price));
                    prop_assert_eq!(settled.is_ok(), price <= worst.reserved);
                    if let Ok(settlement) = settled {
                        let mut flaky = Flaky { journal: &mut journal, works };
                        let taken = account.settle(settlement, &mut flaky);
                        prop_assert_eq!(taken.is_ok(), works);
                        if works {
                            live = live.minus(worst).plus(cost);
                            recorded = recorded.minus(worst).plus(cost);
                        }
                    }
                }
                Act::Commit(index, works) if !pending.is_empty() => {
                    let (approved, cost, step) = pending.remove(index % pending.len());
                    let mut flaky = Flaky { journal: &mut journal, works };
                    let committed = match approved {
                        Pending::Charge(a) => account.commit(a, &mut flaky).is_ok(),
                        Pending::RaiseZcdp(a) => account.commit(a, &mut flaky).is_ok(),
                        Pending::RaisePure(a) => account.commit(a, &mut flaky).is_ok(),
                        Pending::Coarsen(a) => account.commit(a, &mut flaky).is_ok(),
                        Pending::Round(a) => {
                            let receipt = account.commit(a, &mut flaky).ok();
                            let started = receipt.is_some();
                            running.extend(receipt.map(eke_budget::Receipt::redeem));
                            started
                        }
                    };
                    prop_assert_eq!(committed, works);
                    if works { recorded = recorded.plus(cost) } else { live = live.minus(cost) }
                    step.map(|step| under_way.remove(&step));
                }
                Act::Cancel(index) if !pending.is_empty() => {
                    let (approved, cost, step) = pending.remove(index % pending.len());
                    let cancelled = match approved {
                        Pending::Charge(a) => account.cancel(a).is_ok(),
                        Pending::RaiseZcdp(a) => account.cancel(a).is_ok(),
                        Pending::RaisePure(a) => account.cancel(a).is_ok(),
                        Pending::Coarsen(a) => account.cancel(a).is_ok(),
                        Pending::Round(a) => account.cancel(a).is_ok(),
                    };
                    prop_assert!(cancelled);
                    live = live.minus(cost);
                    step.map(|step| under_way.remove(&step));
                }
                // Forgotten approvals stay paid for.
                Act::Forget(index) if !pending.is_empty() => {
                    let _ = pending.remove(index % pending.len());
                }
                _ => {}
            }
            prop_assert_eq!(Count::of(&account), live);
            prop_assert!(live.is_within_the_budget(), "{before:?} {live:?}");
        }
        // By way of its text.
        let json = serde_json::to_string(journal.entries()).unwrap();
        let entries: Vec<Entry> = serde_json::from_str(&json).unwrap();
        prop_assert_eq!(entries.as_slice(), journal.entries());
        let replayed = Account::replay(&entries).unwrap();
        prop_assert_eq!(Count::of(&replayed), recorded);
        for id in 0..3 {
            prop_assert_eq!(replayed.level::<Rho>(path(id)), account.level::<Rho>(path(id)));
            prop_assert_eq!(replayed.level::<Epsilon>(path(id)), account.level::<Epsilon>(path(id)));
        }
    }
}

#[test]
fn charges_read_from_text_are_exact_and_bad_ones_have_a_sentence() {
    for (text, sentence) in [
        ("", "the charge is empty: write it like rho=0.1 or epsilon=0.5,delta=1e-9"),
        ("0.1", "`0.1` is not part of a charge: write it like rho=0.1 or epsilon=0.5,delta=1e-9"),
        ("sigma=1", "charges have no `sigma`: write rho or epsilon, and delta if there is one"),
        (
            "rho=1,rho=1",
            "`rho` is written twice in one charge: write it once, or write two charges",
        ),
        ("rho=1,epsilon=1", "a charge is in rho or in epsilon, not both: write two charges"),
        ("delta=1e-6", "a charge needs rho or epsilon beside its delta"),
        ("rho=", "rho is empty: write a number such as 0.1"),
        ("rho=-1", "rho -1.0 is negative: write a number of more than 0 and at most 1e8"),
        (
            "rho=0.1,delta=1",
            "delta 1.0 is too large: write a number of more than 0 and less than 1",
        ),
        ("rho=nan", "rho is NaN: write a number such as 0.1"),
        ("rho=0.1,", "`` is not part of a charge: write it like rho=0.1 or epsilon=0.5,delta=1e-9"),
    ] {
        assert_eq!(text.parse::<Charge>().unwrap_err().to_string(), sentence);
    }
    // Digits that a double would drop are counted, upwards.
    let charge: Charge = "rho=0.1000000000000000000000000000001".parse().unwrap();
    let expected = Amount::from_grains(amount::<Rho>("0.1").grains() + 1);
    assert_eq!(charge, Charge::Zcdp { rho: expected, delta: Amount::<Delta>::ZERO });

    for (json, sentence) in [
        (r#"{"zcdp":{"rho":"0.1"}}"#, "missing field `delta`"),
        (r#"{"zcdp":{"rho":"0.1","delta":"0","eta":"1"}}"#, "unknown field `eta`"),
        (r#"{"renyi":{"rho":"0.1","delta":"0"}}"#, "unknown variant `renyi`"),
        (r#"{"zcdp":{"rho":0.1,"delta":"0"}}"#, "invalid type: floating point"),
    ] {
        let said = serde_json::from_str::<Charge>(json).unwrap_err().to_string();
        assert!(said.starts_with(sentence), "{said}");
    }
}
