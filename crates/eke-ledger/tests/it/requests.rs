//! Requests: charged once whatever is retried, answered once, and said no to in one sentence.

use eke_budget::Charge;
use eke_ledger::{Answer, LedgerError, Request};

use crate::{
    ALONE, answer, buy, charge, key, on_every_store, request, riders, spend, spent, stamp,
};

#[test]
fn a_retried_request_is_charged_once_and_gets_the_same_answer() {
    on_every_store(|place| {
        let ledger = riders(place, "1");
        let stored = answer(&ledger, buy(&ledger, "q-1", spend("0.25")), "1234");
        for ledger in [&ledger, &place.ledger()] {
            let again = charge(ledger, "q-1", spend("0.25")).unwrap().answered();
            assert_eq!(again.as_ref(), Some(&stored));
            assert_eq!(ledger.stored_answer(key("q-1")).wait(), Ok(Some(stored.clone())));
        }
        assert_eq!(spent(&ledger, "riders"), crate::amount("0.25"));
        place.is_sound();
    });
}

#[test]
fn a_charge_whose_answer_was_lost_stays_paid_and_is_not_drawn_again() {
    on_every_store(|place| {
        let ledger = riders(place, "1");
        let _lost = buy(&ledger, "q-1", spend("0.25"));
        drop(ledger);
        let ledger = place.ledger();
        let again = charge(&ledger, "q-1", spend("0.25"));
        assert_eq!(again.unwrap_err(), LedgerError::Unanswered(key("q-1")));
        assert_eq!(spent(&ledger, "riders"), crate::amount("0.25"));
        place.is_sound();
    });
}

#[test]
fn a_key_stands_for_one_request() {
    on_every_store(|place| {
        let ledger = riders(place, "1");
        answer(&ledger, buy(&ledger, "q-1", spend("0.25")), "1234");
        let dearer = charge(&ledger, "q-1", spend("0.5"));
        assert_eq!(dearer.unwrap_err(), LedgerError::OtherRequest(key("q-1")));
        let other = Request::new("q-1", stamp("bob"), "SELECT count(*) FROM trips").unwrap();
        let other = ledger.charge(other, "riders", spend("0.25"), ALONE).wait();
        assert_eq!(other.unwrap_err(), LedgerError::OtherRequest(key("q-1")));
        place.is_sound();
    });
}

#[test]
fn retries_that_wait_together_are_charged_once() {
    on_every_store(|place| {
        let ledgers = [riders(place, "1"), place.ledger()];
        let tickets: Vec<_> = (0..64)
            .map(|n| ledgers[n % 2].charge(request("q-1"), "riders", spend("0.01"), ALONE))
            .collect();
        let results: Vec<_> = tickets.into_iter().map(eke_ledger::Ticket::wait).collect();
        let charged = results.iter().filter(|result| result.is_ok()).count();
        assert_eq!(charged, 1);
        for error in results.into_iter().filter_map(Result::err) {
            assert_eq!(error, LedgerError::Unanswered(key("q-1")));
        }
        assert_eq!(spent(&ledgers[0], "riders"), crate::amount("0.01"));
        place.is_sound();
    });
}

#[test]
fn refusals_and_reveals_are_in_the_journal() {
    on_every_store(|place| {
        let ledger = riders(place, "1");
        answer(&ledger, buy(&ledger, "q-1", spend("0.25")), "1234");
        assert!(charge(&ledger, "q-2", spend("0.8")).is_err());
        let mut text = Vec::new();
        eke_ledger::export(&mut *place.address().read_only().unwrap(), &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let lines: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 4);
        assert_eq!(lines[0]["what"]["entry"]["event"]["opened"]["metric"]["hamming"], "add-remove");
        let price = &lines[1]["what"]["entry"]["event"]["charged"]["zcdp"]["rho"];
        assert_eq!((price, &lines[1]["who"]), (&"0.25".into(), &"ana".into()));
        assert_eq!(lines[1]["text"], "SELECT count(*) FROM trips");
        assert_eq!(lines[1]["at"], "2026-11-16T08:47:22.000000Z");
        assert!(lines[2]["what"]["revealed"]["answer"].is_string());
        assert_eq!(lines[3]["what"]["refused"]["asked"]["zcdp"]["rho"], "0.8");
        assert_eq!(lines[3]["what"]["refused"]["fits"]["zcdp"]["rho"], "0.75");
    });
}

#[test]
fn empty_and_endless_texts_are_refused() {
    let long = "x".repeat(70_000);
    for (key, who, question) in [
        ("", "ana", "q"),
        (&long[..257], "ana", "q"),
        ("k", "", "q"),
        ("k", "ana", ""),
        ("k", "ana", &long),
        ("k\0", "ana", "q"),
    ] {
        let error = Request::new(key, stamp(who), question).unwrap_err();
        assert!(matches!(error, LedgerError::Length { .. }), "{error}");
    }
}

#[test]
fn an_answer_is_stored_once() {
    on_every_store(|place| {
        let ledger = riders(place, "1");
        let charged = buy(&ledger, "q-1", spend("0.25"));
        // Somebody stores an answer under the same key, behind the back of the claim.
        let sql = "INSERT INTO answer (key, body) VALUES ('q-1', x'00')";
        assert_eq!(place.tamper(sql), 1);
        let refused = ledger.answer(charged.claim, Answer::new("1234"), stamp("ana")).wait();
        assert_eq!(refused.unwrap_err(), LedgerError::NotHeld(key("q-1")));
        let _: Charge = charged.own.redeem();
    });
}
