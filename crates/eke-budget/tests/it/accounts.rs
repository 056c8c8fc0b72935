//! No purse is ever exceeded, whatever happens in whatever order.

use eke_budget::{
    Account, Amount, Approved, CancelError, Charge, Coarsen, Delta, Entry, Epsilon, Event,
    Extension, Journal, L1, L2, MemoryJournal, Purse, Raise, ReplayError, Rho, Round,
};
use proptest::prelude::*;

use crate::{account, amount, path};

/// What an account holds, to compare before and after.
fn totals(account: &Account) -> (Purse<Rho>, Purse<Epsilon>) {
    let odometer = account.odometer();
    (odometer.zcdp().unwrap().clone(), odometer.pure().unwrap().clone())
}

#[test]
fn charges_add_up_and_the_last_grain_can_be_spent() {
    let mut account = account();
    let mut journal = MemoryJournal::new();
    assert_eq!(account.name(), "riders");
    assert_eq!(account.promise(), account.budget().promise());
    assert!(account.promise().is_some());
    for _ in 0..10 {
        account
            .approve(Charge::zcdp(Rho::new(0.1).unwrap()))
            .unwrap()
            .commit(&mut journal)
            .unwrap()
            .redeem();
    }
    assert!(account.odometer().zcdp().unwrap().left().is_zero());
    let grain = Charge::Zcdp { rho: Amount::GRAIN, delta: Amount::ZERO };
    assert!(account.approve(grain).is_err());
    assert_eq!(journal.entries().len(), 10);
}

#[test]
fn a_refused_charge_leaves_the_account_as_it_was_and_says_what_fits() {
    let mut account = account();
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
    let mut account = account();
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
    let mut account = Account::open("devices", budget);
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

    fn record(&mut self, _: &Entry) -> Result<(), std::io::Error> {
        Err(std::io::Error::other("no space left"))
    }
}

#[test]
fn without_a_record_there_is_no_receipt_and_the_charge_can_go_back() {
    let mut account = account();
    let before = totals(&account);
    let approved = account.approve(Charge::zcdp(Rho::new(0.5).unwrap())).unwrap();
    let uncommitted = approved.commit(&mut Full).unwrap_err();
    assert_eq!(
        uncommitted.to_string(),
        "the charge could not be recorded, so nothing was drawn: no space left"
    );
    assert_ne!(totals(&account), before);
    account.cancel(uncommitted.approved).unwrap();
    assert_eq!(totals(&account), before);
}

#[test]
fn one_account_does_not_cancel_what_another_approved() {
    let (mut ours, mut theirs) = (account(), account());
    let approved = theirs.approve(Charge::zcdp(Rho::new(0.5).unwrap())).unwrap();
    assert_eq!(ours.cancel(approved), Err(CancelError::OtherAccount));
    assert!(ours.odometer().zcdp().unwrap().spent().is_zero());
}

#[test]
fn a_history_that_could_not_have_happened_does_not_replay() {
    let mut account = account();
    let mut journal = MemoryJournal::new();
    account
        .approve(Charge::zcdp(Rho::new(0.6).unwrap()))
        .unwrap()
        .commit(&mut journal)
        .unwrap()
        .redeem();
    let budget = account.budget().clone();
    let entry = &journal.entries()[0];
    let replay =
        |name: &str, entries: &[Entry]| Account::replay(name, budget.clone(), entries).err();

    assert_eq!(replay("riders", std::slice::from_ref(entry)), None);
    assert_eq!(
        replay("riders", &[entry.clone(), entry.clone()]),
        Some(ReplayError::DoesNotFit { index: 1 })
    );
    for wrong in [
        // A step of another increment, and one at another price.
        r#"{"raised":{"path":"PATH","increment":1,"to":{"zcdp":{"rho":"0.1","delta":"0"}},"price":{"zcdp":{"rho":"0.1","delta":"0"}},"sensitivity":1.0}}"#,
        r#"{"raised":{"path":"PATH","increment":0,"to":{"zcdp":{"rho":"0.1","delta":"0"}},"price":{"zcdp":{"rho":"0.05","delta":"0"}},"sensitivity":1.0}}"#,
        r#"{"raised":{"path":"PATH","increment":0,"to":{"zcdp":{"rho":"0.1","delta":"0"}},"price":{"zcdp":{"rho":"0.1","delta":"0"}},"sensitivity":-1.0}}"#,
        r#"{"coarsened":{"path":"PATH","to":{"zcdp":{"rho":"0.1","delta":"0"}}}}"#,
        r#"{"settled":{"round":0,"realised":"0"}}"#,
        r#"{"extended":{"round":0,"from":"0","to":"0.1"}}"#,
    ] {
        let event = serde_json::from_str(&wrong.replace("PATH", &path(1).to_string())).unwrap();
        let impossible = Entry { account: "riders".into(), event };
        let failed = replay("riders", &[entry.clone(), impossible]);
        assert_eq!(failed, Some(ReplayError::DoesNotFit { index: 1 }), "{wrong}");
    }
    let reserved = Event::Reserved { round: 0, worst: amount("0.2"), delta: Amount::ZERO };
    let settled = Event::Settled { round: 0, realised: amount("0.3") };
    let above = [reserved, settled].map(|event| Entry { account: "riders".into(), event });
    assert_eq!(replay("riders", &above), Some(ReplayError::DoesNotFit { index: 1 }));

    let other = replay("drivers", std::slice::from_ref(entry)).unwrap();
    assert_eq!(other.to_string(), "entry 0 of the history belongs to account `riders`");
}

/// Everything that can be done to an account.
#[derive(Clone, Debug)]
enum Act {
    Approve(u128, u128, bool),
    Raise(u8, u128, bool),
    Coarsen(u8, u128),
    Reserve(u128, u128),
    Extend(usize, u128),
    Settle(usize, u128),
    /// Commit the oldest approval that is pending.
    Commit,
    /// Cancel the newest approval that is pending.
    Cancel,
}

fn act() -> impl Strategy<Value = Act> {
    // Thousandths of a budget of one, so that a few acts fill it.
    let price = || (0u128..300).prop_map(|p| p * 10u128.pow(27));
    let delta = || prop_oneof![Just(0), (0u128..300).prop_map(|p| p * 10u128.pow(21))];
    prop_oneof![
        4 => (price(), delta(), any::<bool>()).prop_map(|(p, d, z)| Act::Approve(p, d, z)),
        4 => (0u8..3, price(), any::<bool>()).prop_map(|(id, p, z)| Act::Raise(id, p, z)),
        1 => (0u8..3, price()).prop_map(|(id, p)| Act::Coarsen(id, p)),
        3 => (price(), delta()).prop_map(|(p, d)| Act::Reserve(p, d)),
        2 => (any::<usize>(), price()).prop_map(|(i, p)| Act::Extend(i, p)),
        3 => (any::<usize>(), price()).prop_map(|(i, p)| Act::Settle(i, p)),
        6 => Just(Act::Commit),
        2 => Just(Act::Cancel),
    ]
}

/// An approval waiting for its record.
enum Pending {
    Charge(Approved<Charge>),
    RaiseZcdp(Approved<Raise<Rho>>),
    RaisePure(Approved<Raise<Epsilon>>),
    Coarsen(Approved<Coarsen<Rho>>),
    Round(Approved<Round>),
    Extension(Approved<Extension>),
}

/// An independent count of what the account should hold, in grains.
#[derive(Default)]
struct Model {
    rho: u128,
    rho_delta: u128,
    epsilon: u128,
    reserved: u128,
    epsilon_delta: u128,
}

const BUDGET: u128 = 10u128.pow(30);
const DELTA_BUDGET: u128 = 10u128.pow(24);

impl Model {
    fn check(&self, account: &Account) {
        let (zcdp, pure) = totals(account);
        assert_eq!(zcdp.spent().grains(), self.rho);
        assert_eq!(zcdp.delta_spent().grains(), self.rho_delta);
        assert_eq!(pure.spent().grains(), self.epsilon);
        assert_eq!(pure.reserved().grains(), self.reserved);
        assert_eq!(pure.delta_spent().grains(), self.epsilon_delta);
        assert!(self.rho <= BUDGET && self.rho_delta <= DELTA_BUDGET);
        assert!(self.epsilon + self.reserved <= BUDGET && self.epsilon_delta <= DELTA_BUDGET);
        assert_eq!(zcdp.left().grains(), BUDGET - self.rho);
        assert_eq!(pure.left().grains(), BUDGET - self.epsilon - self.reserved);
    }

    fn fits(&self, price: u128, delta: u128, zcdp: bool) -> bool {
        if zcdp {
            self.rho + price <= BUDGET && self.rho_delta + delta <= DELTA_BUDGET
        } else {
            self.epsilon + self.reserved + price <= BUDGET
                && self.epsilon_delta + delta <= DELTA_BUDGET
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    /// Random acts against an account and a model that counts on its own. Checked after every act:
    /// the totals are the model's, the filter says yes exactly when the charge fits, and no budget
    /// is exceeded. At the end the history replays to the same totals.
    #[test]
    fn no_interleaving_ever_exceeds_a_purse(acts in prop::collection::vec(act(), 1..60)) {
        let mut account = account();
        let mut journal = MemoryJournal::new();
        let mut model = Model::default();
        let mut pending: Vec<Pending> = Vec::new();
        let mut running: Vec<Round> = Vec::new();
        let l2 = L2::new(2.0).unwrap();
        let l1 = L1::new(2.0).unwrap();

        for act in acts {
            match act {
                Act::Approve(price, delta, zcdp) => {
                    let delta_amount = Amount::from_grains(delta);
                    let charge = if zcdp {
                        Charge::Zcdp { rho: Amount::from_grains(price), delta: delta_amount }
                    } else {
                        Charge::Pure { epsilon: Amount::from_grains(price), delta: delta_amount }
                    };
                    let approved = account.approve(charge);
                    prop_assert_eq!(approved.is_ok(), model.fits(price, delta, zcdp));
                    if let Ok(approved) = approved {
                        if zcdp {
                            model.rho += price;
                            model.rho_delta += delta;
                        } else {
                            model.epsilon += price;
                            model.epsilon_delta += delta;
                        }
                        pending.push(Pending::Charge(approved));
                    }
                }
                Act::Raise(id, to, true) => {
                    let at = account.level::<Rho>(path(id)).map_or(0, |level| level.at.grains());
                    let raised = account.raise(path(id), Amount::<Rho>::from_grains(to), l2);
                    prop_assert_eq!(raised.is_ok(), to > at && model.fits(to - at, 0, true));
                    if let Ok(approved) = raised {
                        model.rho += to - at;
                        pending.push(Pending::RaiseZcdp(approved));
                    }
                }
                Act::Raise(id, to, false) => {
                    let at = account.level::<Epsilon>(path(id)).map_or(0, |level| level.at.grains());
                    let raised = account.raise(path(id), Amount::<Epsilon>::from_grains(to), l1);
                    prop_assert_eq!(raised.is_ok(), to > at && model.fits(to - at, 0, false));
                    if let Ok(approved) = raised {
                        model.epsilon += to - at;
                        pending.push(Pending::RaisePure(approved));
                    }
                }
                Act::Coarsen(id, to) => {
                    let at = account.level::<Rho>(path(id)).map_or(0, |level| level.at.grains());
                    let coarsened = account.coarsen(path(id), Amount::<Rho>::from_grains(to));
                    prop_assert_eq!(coarsened.is_ok(), to > 0 && to <= at);
                    pending.extend(coarsened.ok().map(Pending::Coarsen));
                }
                Act::Reserve(worst, delta) => {
                    let reserved = account.reserve(Amount::from_grains(worst), Amount::from_grains(delta));
                    prop_assert_eq!(reserved.is_ok(), model.fits(worst, delta, false));
                    if let Ok(approved) = reserved {
                        model.reserved += worst;
                        model.epsilon_delta += delta;
                        pending.push(Pending::Round(approved));
                    }
                }
                Act::Extend(index, more) if !running.is_empty() => {
                    let round = &running[index % running.len()];
                    let to = round.worst().grains() + more;
                    let waiting = pending.iter().any(|p| matches!(p, Pending::Extension(_)));
                    if !waiting {
                        let extended = account.extend(round, Amount::from_grains(to));
                        prop_assert_eq!(extended.is_ok(), more > 0 && model.fits(more, 0, false));
                        if let Ok(approved) = extended {
                            model.reserved += more;
                            pending.push(Pending::Extension(approved));
                        }
                    }
                }
                Act::Settle(index, price) if !running.is_empty() => {
                    let waiting = pending.iter().any(|p| matches!(p, Pending::Extension(_)));
                    if !waiting {
                        let round = running.swap_remove(index % running.len());
                        let worst = round.worst().grains();
                        match round.settle_at(Amount::from_grains(price)) {
                            Ok(settlement) => {
                                prop_assert!(price <= worst);
                                account.settle(settlement, &mut journal).unwrap();
                                model.reserved -= worst;
                                model.epsilon += price;
                            }
                            Err(above) => {
                                prop_assert!(price > worst);
                                running.push(above.round);
                            }
                        }
                    }
                }
                Act::Extend(..) | Act::Settle(..) => {}
                Act::Commit if !pending.is_empty() => match pending.remove(0) {
                    Pending::Charge(a) => drop(a.commit(&mut journal).unwrap().redeem()),
                    Pending::RaiseZcdp(a) => drop(a.commit(&mut journal).unwrap().redeem()),
                    Pending::RaisePure(a) => drop(a.commit(&mut journal).unwrap().redeem()),
                    Pending::Coarsen(a) => drop(a.commit(&mut journal).unwrap().redeem()),
                    Pending::Round(a) => running.push(a.commit(&mut journal).unwrap().redeem()),
                    Pending::Extension(a) => {
                        let id = a.purchase().round();
                        let receipt = a.commit(&mut journal).unwrap();
                        running.iter_mut().find(|r| r.id() == id).unwrap().extend(receipt);
                    }
                },
                Act::Cancel => cancel_newest(&mut account, &mut pending, &mut model),
                Act::Commit => {}
            }
            model.check(&account);
        }
        while !pending.is_empty() {
            cancel_newest(&mut account, &mut pending, &mut model);
            model.check(&account);
        }
        let replayed = Account::replay("riders", account.budget().clone(), journal.entries());
        prop_assert_eq!(totals(&replayed.unwrap()), totals(&account));
        // Also by way of its text.
        let json = serde_json::to_string(journal.entries()).unwrap();
        let read: Vec<Entry> = serde_json::from_str(&json).unwrap();
        prop_assert_eq!(read.as_slice(), journal.entries());
    }
}

/// Cancelling newest first always works; what was taken goes back to the grain.
fn cancel_newest(account: &mut Account, pending: &mut Vec<Pending>, model: &mut Model) {
    match pending.pop() {
        None => {}
        Some(Pending::Charge(a)) => {
            match *a.purchase() {
                Charge::Zcdp { rho, delta } => {
                    model.rho -= rho.grains();
                    model.rho_delta -= delta.grains();
                }
                Charge::Pure { epsilon, delta } => {
                    model.epsilon -= epsilon.grains();
                    model.epsilon_delta -= delta.grains();
                }
            }
            account.cancel(a).unwrap();
        }
        Some(Pending::RaiseZcdp(a)) => {
            model.rho -= a.purchase().price().grains();
            account.cancel(a).unwrap();
        }
        Some(Pending::RaisePure(a)) => {
            model.epsilon -= a.purchase().price().grains();
            account.cancel(a).unwrap();
        }
        Some(Pending::Coarsen(a)) => account.cancel(a).unwrap(),
        Some(Pending::Round(a)) => {
            model.reserved -= a.purchase().worst().grains();
            model.epsilon_delta -= a.purchase().delta().grains();
            account.cancel(a).unwrap();
        }
        Some(Pending::Extension(a)) => {
            let (_, from, to) = match a.entry().event {
                eke_budget::Event::Extended { round, from, to } => (round, from, to),
                ref other => panic!("{other:?}"),
            };
            model.reserved -= to.grains() - from.grains();
            account.cancel(a).unwrap();
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
