//! The audit: what was edited, cut, reordered, rolled back or restored is found.

use eke_ledger::{Anchor, Report, verify};

use crate::{Place, answer, budget, buy, charge, on_every_store, path, riders, show, spend, stamp};

/// A ledger with something of everything in it.
fn busy(place: &Place) {
    let ledger = riders(place, "1");
    ledger.open_account("drivers", budget("1"), stamp("steward")).wait().unwrap();
    answer(&ledger, buy(&ledger, "q-1", spend("0.1")), "one");
    answer(&ledger, buy(&ledger, "q-2", show(path(1), "0.1")), "two");
    answer(&ledger, buy(&ledger, "q-3", show(path(1), "0.2")), "three");
    assert!(charge(&ledger, "q-4", spend("1")).is_err());
    ledger.file_sheet("drivers", 0, vec![1, 2, 3], stamp("fleet")).wait().unwrap();
}

#[test]
fn an_untouched_ledger_has_no_findings() {
    on_every_store(|place| {
        busy(place);
        let Report { accounts, lines, findings } = place.verify();
        assert_eq!((accounts, lines), (2, 10));
        assert_eq!(findings, []);
    });
}

#[test]
fn any_edit_gap_or_reordering_is_found() {
    let edits = [
        ("UPDATE journal SET body = replace(body, '0.1', '0.01') WHERE line = 1", "was edited"),
        ("UPDATE journal SET body = body || ' ' WHERE line = 0", "was edited"),
        ("UPDATE journal SET line = line + 50 WHERE line = 2", "stands where line 2 should be"),
        ("DELETE FROM journal WHERE account = 'riders' AND line = 3", "stands where line 3"),
        ("DELETE FROM journal WHERE account = 'riders' AND line >= 5", "should have 8"),
        ("UPDATE account SET rho_spent = rho_delta_spent WHERE name = 'riders'", "totals"),
        ("UPDATE account SET lines = 7 WHERE name = 'riders'", "should have 7"),
        ("UPDATE answer SET body = x'00' WHERE key = 'q-1'", "answer is missing or was edited"),
        ("UPDATE question SET text = 'DROP TABLE trips' WHERE text <> ''", "its question"),
        ("DELETE FROM request WHERE key = 'q-2'", "request `q-2` is missing"),
        ("UPDATE level SET increments = 1 WHERE account = 'riders'", "is not paid for up to where"),
        ("DELETE FROM level WHERE account = 'riders'", "how far path"),
        ("DELETE FROM point WHERE increment = 1", "increment 1 of path"),
    ];
    for (sql, found) in edits {
        on_every_store(|place| {
            busy(place);
            place.tamper(sql);
            let findings = place.verify().findings;
            let told: Vec<String> = findings.iter().map(ToString::to_string).collect();
            assert!(told.iter().any(|finding| finding.contains(found)), "{sql}: {told:?}");
        });
    }
}

#[test]
fn lines_that_change_places_are_found_though_their_numbers_are_right() {
    on_every_store(|place| {
        busy(place);
        for (from, to) in [(1, 100), (2, 1), (100, 2)] {
            place.tamper(&format!(
                "UPDATE journal SET line = {to} WHERE account = 'riders' AND line = {from}"
            ));
        }
        let findings = place.verify().findings;
        let told: Vec<String> = findings.iter().map(ToString::to_string).collect();
        assert!(told.iter().any(|finding| finding.contains("line 1: was edited")), "{told:?}");
        assert!(told.iter().any(|finding| finding.contains("is line 2 of")), "{told:?}");
    });
}

#[test]
fn a_rollback_or_a_restored_backup_is_found_with_an_anchor() {
    let place = Place::file();
    busy(&place);
    let copy = place.folder().join("copy");
    std::fs::copy(place.path(), &copy).unwrap();
    let ledger = place.ledger();
    answer(&ledger, buy(&ledger, "q-5", spend("0.1")), "five");
    drop(ledger);
    let read = || place.address().read_only().unwrap();
    let anchor = Anchor::of(&mut *read()).unwrap();
    let anchor: Anchor = anchor.to_string().parse().unwrap();
    assert_eq!(verify(&mut *read(), Some(&anchor)).unwrap().findings, []);

    // Restored from the copy it is a true ledger, but not the one that was anchored.
    std::fs::copy(&copy, place.path()).unwrap();
    assert_eq!(verify(&mut *read(), None).unwrap().findings, []);
    let findings = verify(&mut *read(), Some(&anchor)).unwrap().findings;
    assert!(findings[0].to_string().contains("rolled back"), "{findings:?}");

    // Nor if it goes on past the anchor.
    let ledger = place.ledger();
    answer(&ledger, buy(&ledger, "q-6", spend("0.2")), "six");
    answer(&ledger, buy(&ledger, "q-7", spend("0.2")), "seven");
    drop(ledger);
    assert_eq!(verify(&mut *read(), None).unwrap().findings, []);
    let findings = verify(&mut *read(), Some(&anchor)).unwrap().findings;
    assert!(
        findings[0].to_string().contains("is not the line that the anchor has"),
        "{findings:?}"
    );

    // Nor is another ledger.
    let other = Place::file();
    busy(&other);
    let mut store = other.address().read_only().unwrap();
    let findings = verify(&mut *store, Some(&anchor)).unwrap().findings;
    assert!(findings[0].to_string().contains("the anchor is of ledger"), "{findings:?}");
    assert!("{}".parse::<Anchor>().is_err());
}
