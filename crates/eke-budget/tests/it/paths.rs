//! Paths are paid up to their finest point, and each step once.

use eke_budget::purchase::PathError;
use eke_budget::{Account, Amount, Epsilon, L1, L2, PathId, Rho};
use proptest::prelude::*;

use crate::{account, amount, buy, path};

fn one() -> L2 {
    L2::new(1.0).unwrap()
}

#[test]
fn a_step_is_charged_by_the_difference_and_its_receipt_names_it() {
    let (mut account, mut journal) = account();
    let first = account.raise(path(1), amount::<Rho>("0.1"), one()).unwrap();
    let first = buy(&mut account, first, &mut journal);
    assert_eq!((first.increment(), first.from(), first.to()), (0, Amount::ZERO, amount("0.1")));

    let second = account.raise(path(1), amount::<Rho>("0.25"), one()).unwrap();
    let second = buy(&mut account, second, &mut journal);
    assert_eq!((second.path(), second.increment()), (path(1), 1));
    assert_eq!((second.from(), second.to()), (amount("0.1"), amount("0.25")));
    assert_eq!((second.price(), second.sensitivity()), (amount("0.15"), one()));
    assert_eq!(account.odometer().zcdp().unwrap().spent(), amount("0.25"));
}

#[test]
fn the_same_point_is_not_sold_twice_but_coarser_ones_are_free() {
    let (mut account, mut journal) = account();
    let raise = account.raise(path(1), amount::<Rho>("0.2"), one()).unwrap();
    buy(&mut account, raise, &mut journal);
    for to in ["0.2", "0.1"] {
        let error = account.raise(path(1), amount::<Rho>(to), one()).unwrap_err();
        assert!(matches!(error, PathError::NotFiner { .. }), "{error}");
        let coarsen = account.coarsen(path(1), amount::<Rho>(to)).unwrap();
        assert_eq!(
            (coarsen.purchase().to(), coarsen.purchase().sensitivity()),
            (amount(to), one())
        );
        assert_eq!(coarsen.purchase().path(), path(1));
    }
    assert_eq!(account.odometer().zcdp().unwrap().spent(), amount("0.2"));
    for (id, to) in [(1, "0.3"), (1, "0"), (2, "0.1")] {
        let error = account.coarsen(path(id), amount::<Rho>(to)).unwrap_err();
        assert!(matches!(error, PathError::NotRevealed { .. }), "{error}");
    }
}

#[test]
fn a_changed_sensitivity_is_another_path() {
    let (mut account, mut journal) = account();
    let raise = account.raise(path(1), amount::<Rho>("0.1"), one()).unwrap();
    buy(&mut account, raise, &mut journal);
    let error = account.raise(path(1), amount::<Rho>("0.2"), L2::new(2.0).unwrap()).unwrap_err();
    assert_eq!(error, PathError::OtherSensitivity { path: path(1) });
    assert_eq!(account.level::<Rho>(path(1)).unwrap().at, amount("0.1"));
}

#[test]
fn a_refused_step_leaves_the_path_where_it_was() {
    let (mut account, mut journal) = account();
    let raise = account.raise(path(1), amount::<Rho>("0.9"), one()).unwrap();
    buy(&mut account, raise, &mut journal);
    let error = account.raise(path(1), amount::<Rho>("1.5"), one()).unwrap_err();
    let PathError::Refused(refusal) = error else { panic!("{error}") };
    assert_eq!(refusal.asked, "rho=0.6".parse().unwrap());
    assert_eq!(refusal.fits, Some("rho=0.1,delta=1e-6".parse().unwrap()));
    assert_eq!(account.level::<Rho>(path(1)).unwrap().increments, 1);
    assert!(account.raise(path(1), amount::<Rho>("1"), one()).is_ok());
}

#[test]
fn a_path_has_one_step_under_way_at_a_time() {
    let (mut account, mut journal) = account();
    let first = account.raise(path(1), amount::<Rho>("0.1"), one()).unwrap();
    let error = account.raise(path(1), amount::<Rho>("0.3"), one()).unwrap_err();
    assert_eq!(error, PathError::UnderWay { path: path(1) });
    // Other paths are not held up, and a cancelled step is as if it had not been.
    assert!(account.raise(path(2), amount::<Rho>("0.1"), one()).is_ok());
    account.cancel(first).unwrap();
    let again = account.raise(path(1), amount::<Rho>("0.3"), one()).unwrap();
    buy(&mut account, again, &mut journal);
    let level = account.level::<Rho>(path(1)).unwrap();
    assert_eq!((level.increments, level.at), (1, amount("0.3")));
    assert_eq!(account.odometer().zcdp().unwrap().spent(), amount("0.4"));
}

#[test]
fn a_point_that_is_not_recorded_yet_is_not_free() {
    let (mut account, _) = account();
    let pending = account.raise(path(1), amount::<Rho>("0.5"), one()).unwrap();
    assert_eq!(account.level::<Rho>(path(1)), None);
    let error = account.coarsen(path(1), amount::<Rho>("0.5")).unwrap_err();
    assert!(matches!(error, PathError::NotRevealed { .. }), "{error}");
    account.cancel(pending).unwrap();
}

#[test]
fn a_path_goes_on_after_a_replay_where_it_was() {
    let (mut account, mut journal) = account();
    // A sensitivity that some readers of JSON do not get back.
    let odd = L2::new(60.524_196_080_490_356).unwrap();
    let raise = account.raise(path(1), amount::<Rho>("0.1"), odd).unwrap();
    buy(&mut account, raise, &mut journal);
    let json = serde_json::to_string(journal.entries()).unwrap();
    let entries: Vec<eke_budget::Entry> = serde_json::from_str(&json).unwrap();
    let mut after = Account::replay(&entries).unwrap();
    assert_eq!(after.level::<Rho>(path(1)), account.level::<Rho>(path(1)));
    let next = after.raise(path(1), amount::<Rho>("0.2"), odd).unwrap();
    assert_eq!(next.purchase().increment(), 1);
}

#[test]
fn a_path_whose_first_step_was_cancelled_was_never_opened() {
    let (mut account, _) = account();
    let first = account.raise(path(1), amount::<Rho>("0.1"), one()).unwrap();
    account.cancel(first).unwrap();
    assert_eq!(account.level::<Rho>(path(1)), None);
    // So it may be opened with another sensitivity.
    assert!(account.raise(path(1), amount::<Rho>("0.1"), L2::new(2.0).unwrap()).is_ok());
}

#[test]
fn a_path_in_one_currency_is_none_in_the_other() {
    let (mut account, mut journal) = account();
    let raise = account.raise(path(1), amount::<Epsilon>("0.1"), L1::new(1.0).unwrap()).unwrap();
    buy(&mut account, raise, &mut journal);
    assert_eq!(account.level::<Rho>(path(1)), None);
    assert_eq!(account.odometer().pure().unwrap().spent(), amount("0.1"));
}

#[test]
fn the_name_of_a_path_reads_back() {
    let name = path(0xa5).to_string();
    assert_eq!(name.len(), 64);
    assert_eq!(name.parse(), Ok(path(0xa5)));
    assert_eq!(path(0xa5).digest(), &[0xa5; 32]);
    for wrong in ["", "a5", &"g".repeat(64), &"é".repeat(32)] {
        let error = wrong.parse::<PathId>().unwrap_err();
        assert_eq!(error.to_string(), "a path is named by 64 hexadecimal digits");
    }
}

proptest! {
    /// Whatever is asked of a set of paths in whatever order, their levels never fall and what was
    /// spent is the sum of their finest points.
    #[test]
    fn a_path_costs_its_finest_point_and_its_price_never_falls(
        asks in prop::collection::vec((0u8..4, 1u128..250), 1..60),
    ) {
        let (mut account, mut journal) = account();
        let mut finest = [0u128; 4];
        for (id, thousandths) in asks {
            let to = Amount::<Rho>::from_grains(thousandths * 10u128.pow(27));
            let before = account.level::<Rho>(path(id)).map_or(Amount::ZERO, |level| level.at);
            let raised = account.raise(path(id), to, one());
            let is_ok = raised.is_ok();
            if let Ok(raised) = raised {
                buy(&mut account, raised, &mut journal);
            }
            let after = account.level::<Rho>(path(id)).map_or(Amount::ZERO, |level| level.at);
            prop_assert!(after >= before);
            prop_assert_eq!(is_ok, to > before);
            finest[usize::from(id)] = finest[usize::from(id)].max(to.grains());
            let spent = account.odometer().zcdp().unwrap().spent();
            prop_assert_eq!(spent.grains(), finest.iter().sum::<u128>());
        }
    }
}
