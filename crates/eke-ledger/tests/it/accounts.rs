//! Accounts: opened once, charged together, reserved from and settled, and found again.

use eke_budget::purchase::GroupPrices;
use eke_budget::{Account, Amount, Charge, Epsilon, Rho};
use eke_ledger::item::read_plan;
use eke_ledger::{LedgerError, RaiseGroups, Reserve, Spend};

use crate::{
    ALONE, Place, amount, answer, budget, buy, charge, on_every_store, path, request, riders,
    spend, spent, stamp,
};

fn worst(epsilon: &str) -> Reserve {
    Reserve { worst: amount(epsilon), delta: Amount::ZERO }
}

#[test]
fn what_was_charged_is_still_charged_after_the_ledger_is_opened_again() {
    on_every_store(|place| {
        let ledger = riders(place, "1");
        let charged = buy(&ledger, "q-1", spend("0.25"));
        assert_eq!(charged.own.entry().sequence, 1);
        answer(&ledger, charged, "42");
        drop(ledger);
        let ledger = riders(place, "1");
        assert_eq!(spent(&ledger, "riders"), amount("0.25"));
        buy(&ledger, "q-2", spend("0.75"));
        assert!(matches!(charge(&ledger, "q-3", spend("1e-30")), Err(LedgerError::Refused(_))));
        place.is_sound();
    });
}

#[test]
fn a_budget_never_changes() {
    on_every_store(|place| {
        let ledger = riders(place, "1");
        let again = ledger.open_account("riders", budget("2"), stamp("steward")).wait();
        assert_eq!(again, Err(LedgerError::OtherBudget("riders".into())));
        assert!(matches!(
            ledger.charge(request("q"), "drivers", spend("0.1"), ALONE).wait(),
            Err(LedgerError::NoAccount(name)) if &*name == "drivers"
        ));
    });
}

#[test]
fn charges_on_several_accounts_are_all_or_nothing_also_on_disk() {
    on_every_store(|place| {
        let ledger = riders(place, "1");
        for (name, size) in [("ana", "0.5"), ("partners", "0.1")] {
            ledger.open_account(name, budget(size), stamp("steward")).wait().unwrap();
        }
        let both = |rho| vec![("ana", spend(rho)), ("partners", spend(rho))];
        let ticket = ledger.charge(request("q-1"), "riders", spend("0.1"), both("0.1"));
        assert_eq!(ticket.wait().unwrap().charged().unwrap().others.len(), 2);
        let refused = ledger.charge(request("q-2"), "riders", spend("0.1"), both("0.05")).wait();
        assert!(matches!(refused, Err(LedgerError::Refused(no)) if &*no.account == "partners"));
        for (name, rho) in [("riders", "0.1"), ("ana", "0.1"), ("partners", "0.1")] {
            assert_eq!(spent(&ledger, name), amount(rho));
        }
        let twice =
            ledger.charge(request("q"), "riders", spend("0.1"), vec![("riders", spend("0.1"))]);
        assert!(matches!(twice.wait(), Err(LedgerError::Twice(_))));
        // The refused request may be asked again once it fits.
        let fits =
            ledger.charge(request("q-2"), "riders", spend("0.1"), vec![("ana", spend("0.05"))]);
        assert!(fits.wait().unwrap().charged().is_some());
        place.is_sound();
    });
}

#[test]
fn rounds_are_reserved_extended_and_settled() {
    on_every_store(|place| {
        let ledger = riders(place, "1");
        ledger.open_account("ana", budget("0.6"), stamp("steward")).wait().unwrap();
        let ticket =
            ledger.charge(request("r"), "riders", worst("0.5"), vec![("ana", worst("0.5"))]);
        let charged = ticket.wait().unwrap().charged().unwrap();
        let round = charged.own.redeem();
        let circle = charged.others.into_iter().next().unwrap().redeem();
        let (circle, no) =
            ledger.extend("ana", circle, amount("0.7"), stamp("ana")).wait().unwrap();
        assert!(matches!(no, Err(LedgerError::Refused(_))));
        let (round, yes) =
            ledger.extend("riders", round, amount("0.75"), stamp("ana")).wait().unwrap();
        assert_eq!((yes, round.worst()), (Ok(()), amount("0.75")));
        let left = |name: &str| {
            ledger.account(name).wait().unwrap().unwrap().odometer().pure().unwrap().left()
        };
        assert_eq!(left("riders"), amount::<Epsilon>("0.25"));
        let settlements = vec![
            ("riders", round.settle_at(amount("0.2")).unwrap()),
            ("ana", circle.settle_at(amount("0.2")).unwrap()),
        ];
        ledger.settle(settlements, stamp("ana")).wait().unwrap();
        assert_eq!((left("riders"), left("ana")), (amount("0.8"), amount("0.4")));
        place.is_sound();
    });
}

#[test]
fn rounds_that_a_crash_left_running_stay_reserved() {
    on_every_store(|place| {
        let ledger = riders(place, "1");
        let lost = buy(&ledger, "r", worst("0.5")).own.redeem();
        drop(ledger);
        let ledger = riders(place, "1");
        let settlement = lost.settle_at(amount("0.1")).unwrap();
        let settled = ledger.settle(vec![("riders", settlement)], stamp("ana")).wait();
        assert!(matches!(settled, Err(LedgerError::Round(_))));
        assert!(charge(&ledger, "q", Spend("epsilon=0.6".parse::<Charge>().unwrap())).is_err());
        place.is_sound();
    });
}

#[test]
fn a_round_is_settled_though_another_program_has_written_in_between() {
    on_every_store(|place| {
        let (ledger, other) = (riders(place, "1"), place.ledger());
        let round = buy(&ledger, "r", worst("0.5")).own.redeem();
        buy(&other, "q-1", spend("0.5"));
        let settlement = round.settle_at(amount("0.1")).unwrap();
        ledger.settle(vec![("riders", settlement)], stamp("ana")).wait().unwrap();
        buy(&other, "q-2", Spend("epsilon=0.9".parse::<Charge>().unwrap()));
        assert!(charge(&ledger, "q-3", Spend("epsilon=0.1".parse::<Charge>().unwrap())).is_err());
        place.is_sound();
    });
}

#[test]
fn two_ledgers_of_one_store_never_trust_what_they_remember() {
    on_every_store(|place| {
        let ledgers = [riders(place, "1"), place.ledger(), place.ledger()];
        for number in 0..10 {
            let ledger = &ledgers[number % ledgers.len()];
            let charged = buy(ledger, &format!("q-{number}"), spend("0.1"));
            assert_eq!(charged.own.entry().sequence, number as u64 + 1);
        }
        for (number, ledger) in ledgers.iter().enumerate() {
            assert!(charge(ledger, &format!("late-{number}"), spend("0.1")).is_err());
            assert_eq!(spent(ledger, "riders"), amount("1"));
        }
        place.is_sound();
    });
}

#[test]
fn groups_of_a_bundle_are_paid_with_their_plan_and_stored_as_one_round() {
    on_every_store(|place| {
        let ledger = riders(place, "1");
        let two = std::num::NonZeroU32::new(2).unwrap();
        let mut prices = GroupPrices::<Rho>::new(1000, two, crate::CENTRAL);
        let mut round = prices.round();
        for group in 0..1000 {
            round.raise(group, amount("0.1")).unwrap();
        }
        let charged = buy(&ledger, "g-1", RaiseGroups::new(round.offer(path(7))));
        prices.keep(&charged.own).unwrap();
        let values: Vec<u8> = (0..1000u32).flat_map(u32::to_le_bytes).collect();
        let stored = eke_ledger::Answer::new("done").with_round(values.clone());
        charged.own.redeem();
        ledger.answer(charged.claim, stored, stamp("ana")).wait().unwrap();
        drop(ledger);

        // From what is stored the prices go on.
        let ledger = place.ledger();
        let point = ledger.point(path(7), 0).wait().unwrap().unwrap();
        assert_eq!(point.round, Some(values));
        let plan = read_plan::<Rho>(&point.plan.unwrap()).unwrap();
        let kept: Vec<_> = plan.iter().map(|&(_, to)| to).collect();
        let mut prices = GroupPrices::at(&kept, two, crate::CENTRAL).unwrap();
        let mut round = prices.round();
        round.raise(3, amount("0.3")).unwrap();
        let charged = buy(&ledger, "g-2", RaiseGroups::new(round.offer(path(7))));
        assert_eq!(charged.own.purchase().increment(), 1);
        assert_eq!(spent(&ledger, "riders"), amount("0.4"));
        place.is_sound();
    });
}

#[test]
fn a_fleet_commits_its_balances_as_one_sheet() {
    on_every_store(|place| {
        let ledger = riders(place, "1");
        let sheet = vec![7; 100_000];
        assert_eq!(ledger.file_sheet("riders", 0, sheet.clone(), stamp("fleet")).wait(), Ok(1));
        let stale = ledger.file_sheet("riders", 0, vec![8], stamp("fleet")).wait();
        assert!(matches!(stale, Err(LedgerError::SheetMoved { version: 1, .. })));
        assert_eq!(ledger.sheet("riders").wait(), Ok(Some((1, sheet))));
        assert_eq!(ledger.file_sheet("riders", 1, vec![9], stamp("fleet")).wait(), Ok(2));
        place.is_sound();
    });
}

#[test]
fn the_store_refuses_an_overspent_account_by_itself() {
    on_every_store(|place| {
        let ledger = riders(place, "1");
        buy(&ledger, "q", spend("0.5"));
        drop(ledger);
        let mut store = place.store();
        let stored = store.account("riders").unwrap().unwrap();
        let mut page = eke_ledger::store::Page::default();
        let mut standing = stored.standing.clone();
        standing.zcdp.as_mut().unwrap().spent = amount("1.1");
        let after = eke_ledger::store::Position { lines: 3, ..stored.position };
        page.accounts.push(eke_ledger::store::AccountRow {
            before: Some(stored.position),
            after,
            standing: standing.clone(),
        });
        let refused = store.append(&page).unwrap_err().to_string();
        assert!(refused.contains("refused an amount that eke had approved"), "{refused}");
        // Nor does it give anything back, or move from where it does not stand.
        page.accounts[0].standing.zcdp.as_mut().unwrap().spent = amount("0.1");
        let mut store = place.store();
        assert!(store.append(&page).is_err());
        page.accounts[0].standing = stored.standing.clone();
        page.accounts[0].before = Some(eke_ledger::store::Position { lines: 1, ..stored.position });
        let mut store = place.store();
        assert!(matches!(store.append(&page), Ok(eke_ledger::store::Appended::Conflict(_))));
        assert_eq!(store.account("riders").unwrap().unwrap(), stored);
        assert!(Account::restore(&standing).is_err());
        place.is_sound();
    });
}

#[test]
fn many_callers_share_commits() {
    let place = Place::file();
    let ledger = riders(&place, "1");
    let tickets: Vec<_> = (0..100)
        .map(|n| ledger.charge(request(&format!("q-{n}")), "riders", spend("0.01"), ALONE))
        .collect();
    for ticket in tickets {
        assert!(ticket.wait().unwrap().charged().is_some());
    }
    assert_eq!(spent(&ledger, "riders"), amount("1"));
    place.is_sound();
}
