//! Paths: one increment is drawn once, one request draws at a time, and circles pay for what they
//! see.

use eke_budget::purchase::PathError;
use eke_budget::{Amount, L2, Reveal, Rho};
use eke_ledger::store::Draw;
use eke_ledger::{Answer, LedgerError, Show};

use crate::{
    amount, answer, budget, buy, charge, key, on_every_store, path, request, riders, show, spent,
    stamp,
};

#[test]
fn a_path_costs_its_finest_point_and_the_same_point_is_free() {
    on_every_store(|place| {
        let ledger = riders(place, "1");
        answer(&ledger, buy(&ledger, "q-1", show(path(1), "0.1")), "coarse");
        answer(&ledger, buy(&ledger, "q-2", show(path(1), "0.4")), "fine");
        drop(ledger);
        let ledger = place.ledger();
        let charged = buy(&ledger, "q-3", show(path(1), "0.2"));
        assert!(matches!(charged.own.purchase(), Reveal::Coarser(_)));
        answer(&ledger, charged, "between");
        assert_eq!(spent(&ledger, "riders"), amount("0.4"));
        let charged = buy(&ledger, "q-4", show(path(1), "0.5"));
        let Reveal::Finer(raise) = charged.own.purchase() else { panic!("not finer") };
        assert_eq!((raise.increment(), raise.price()), (2, amount::<Rho>("0.1")));
        answer(&ledger, charged, "finest");

        let stored = ledger.path(path(1)).wait().unwrap().unwrap();
        assert_eq!(stored.state.as_deref(), Some(&b"state after finest"[..]));
        assert_eq!(stored.holder, None);
        let seen = ledger.seen("riders", path(1)).wait().unwrap();
        let told: Vec<_> =
            seen.iter().map(|seen| String::from_utf8(seen.answer.clone()).unwrap()).collect();
        assert_eq!(told, ["coarse", "fine", "between", "finest"]);
        assert_eq!(seen[2].at, "rho=0.2".parse().unwrap());
        place.is_sound();
    });
}

#[test]
fn circles_pay_for_the_finest_point_that_any_member_has_seen() {
    on_every_store(|place| {
        let ledger = riders(place, "1");
        for circle in ["ana", "bob", "partners"] {
            ledger.open_account(circle, budget("0.5"), stamp("steward")).wait().unwrap();
        }
        let ask = |key: &str, circles: [&'static str; 2], to: &str| {
            let circles = circles.map(|circle| (circle, show(path(1), to))).to_vec();
            let ticket = ledger.charge(request(key), "riders", show(path(1), to), circles);
            answer(&ledger, ticket.wait().unwrap().charged().unwrap(), to);
        };
        ask("q-1", ["ana", "partners"], "0.3");
        // Bob sees less, which is free to the riders and to the circle he shares with Ana.
        ask("q-2", ["bob", "partners"], "0.2");
        for (account, rho) in
            [("riders", "0.3"), ("ana", "0.3"), ("bob", "0.2"), ("partners", "0.3")]
        {
            assert_eq!(spent(&ledger, account), amount(rho), "{account}");
        }
        let seen = ledger.seen("bob", path(1)).wait().unwrap();
        assert_eq!((seen.len(), &seen[0].answer[..]), (1, &b"0.2"[..]));
        place.is_sound();
    });
}

#[test]
fn one_request_at_a_time_draws_from_a_path() {
    on_every_store(|place| {
        let (ledger, other) = (riders(place, "1"), place.ledger());
        let first = buy(&ledger, "q-1", show(path(1), "0.1"));
        for ledger in [&ledger, &other] {
            for to in ["0.05", "0.2"] {
                let late = charge(ledger, "q-2", show(path(1), to)).unwrap_err();
                assert_eq!(late, LedgerError::UnderWay { path: path(1), holder: key("q-1") });
            }
        }
        answer(&ledger, first, "first");
        answer(&other, buy(&other, "q-2", show(path(1), "0.2")), "second");
        assert_eq!(spent(&ledger, "riders"), amount("0.2"));
        place.is_sound();
    });
}

#[test]
fn an_increment_that_was_given_up_is_paid_and_never_drawn() {
    on_every_store(|place| {
        let ledger = riders(place, "1");
        let slow = buy(&ledger, "q-1", show(path(1), "0.1"));
        let other = place.ledger();
        let held = other.held(10).wait().unwrap();
        assert_eq!((held.len(), &held[0].key, held[0].path), (1, &key("q-1"), path(1)));
        other.give_up("riders", path(1), key("q-1"), stamp("steward")).wait().unwrap();
        let twice = other.give_up("riders", path(1), key("q-1"), stamp("steward")).wait();
        assert_eq!(twice, Err(LedgerError::NotHeld(key("q-1"))));

        let Reveal::Finer(raise) = slow.own.redeem() else { panic!("not finer") };
        assert_eq!(raise.increment(), 0);
        let late = Answer::new("late").with_state("late");
        let late = ledger.answer(slow.claim, late, stamp("ana")).wait();
        assert_eq!(late.unwrap_err(), LedgerError::NotHeld(key("q-1")));
        assert_eq!(ledger.point(path(1), 0).wait().unwrap().unwrap().draw, Draw::Lost);
        assert_eq!(ledger.path(path(1)).wait().unwrap().unwrap().state, None);
        // What was lost stays paid, and the next increment starts where it would have ended.
        assert_eq!(spent(&ledger, "riders"), amount("0.1"));
        let next = buy(&ledger, "q-2", show(path(1), "0.2"));
        let Reveal::Finer(raise) = next.own.purchase() else { panic!("not finer") };
        assert_eq!((raise.increment(), raise.from()), (1, amount("0.1")));
        place.is_sound();
    });
}

#[test]
fn a_path_is_not_refined_under_another_sensitivity() {
    on_every_store(|place| {
        let ledger = riders(place, "1");
        answer(&ledger, buy(&ledger, "q-1", show(path(1), "0.1")), "first");
        let changed = |to: &str| Show::<Rho> {
            path: path(1),
            to: amount(to),
            sensitivity: L2::new(0.5).unwrap(),
        };
        for ledger in [&ledger, &place.ledger()] {
            for to in ["0.05", "0.2"] {
                let no = charge(ledger, "q-2", changed(to)).unwrap_err();
                assert_eq!(no, LedgerError::Path(PathError::OtherSensitivity { path: path(1) }));
            }
        }
        place.is_sound();
    });
}

#[test]
fn a_path_belongs_to_one_account() {
    on_every_store(|place| {
        let ledger = riders(place, "1");
        ledger.open_account("drivers", budget("1"), stamp("steward")).wait().unwrap();
        answer(&ledger, buy(&ledger, "q-1", show(path(1), "0.1")), "first");
        let circles: Vec<(&str, Show<Rho>)> = Vec::new();
        let stolen = ledger.charge(request("q-2"), "drivers", show(path(1), "0.1"), circles).wait();
        let owner = LedgerError::OtherOwner { path: path(1), account: "riders".into() };
        assert_eq!(stolen.unwrap_err(), owner);
        assert_eq!(spent(&ledger, "drivers"), Amount::ZERO);
        place.is_sound();
    });
}

#[test]
fn an_increment_is_not_answered_without_what_it_makes_of_its_path() {
    on_every_store(|place| {
        let ledger = riders(place, "1");
        let charged = buy(&ledger, "q-1", show(path(1), "0.1"));
        let forgotten = ledger.answer(charged.claim, Answer::new("first"), stamp("ana")).wait();
        assert_eq!(forgotten.unwrap_err(), LedgerError::NoState(path(1)));
        assert_eq!(ledger.stored_answer(key("q-1")).wait(), Ok(None));
        place.is_sound();
    });
}
