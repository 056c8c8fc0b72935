//! The audit: what was edited, cut, reordered, rolled back or restored is found.

use eke_budget::Amount;
use eke_ledger::journal::Report;
use eke_ledger::{Anchor, Answer, Reserve, verify};

use crate::{
    ALONE, Place, amount, answer, budget, buy, charge, draw, key, on_every_store, path, request,
    riders, show, spend, stamp,
};

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

/// Whether an audit finds something, or does not get through.
fn refuses(place: &Place) -> bool {
    let address = place.address();
    address.read_only().is_err()
        || verify(&mut *address.read_only().unwrap(), None)
            .map_or(true, |report| !report.findings.is_empty())
        || eke_ledger::journal::check(&address).is_err()
}

/// Everything that a ledger has rows of, also a bundle, a round that runs, a path that is held, one
/// that was given up and somebody who was shown a coarser point.
fn full(place: &Place) {
    busy(place);
    let ledger = place.ledger();
    ledger.open_account("bob", budget("1"), stamp("steward")).wait().unwrap();
    let coarse = ledger.charge(
        request("q-5"),
        "riders",
        show(path(1), "0.3"),
        vec![("bob", show(path(1), "0.1"))],
    );
    let charged = coarse.wait().unwrap().charged().unwrap();
    draw(charged.own);
    for receipt in charged.others {
        draw(receipt);
    }
    let answer = Answer::new("five").with_state("state").with_round("round");
    ledger.answer(charged.claim, answer, stamp("ana")).wait().unwrap();
    // One that is given up, one that is under way and a round that runs.
    drop(buy(&ledger, "q-6", show(path(2), "0.1")));
    ledger.give_up("riders", path(2), key("q-6"), stamp("steward")).wait().unwrap();
    drop(buy(&ledger, "q-7", show(path(3), "0.1")));
    let round = Reserve { worst: amount("0.25"), delta: Amount::ZERO };
    drop(ledger.charge(request("q-8"), "riders", round, ALONE).wait().unwrap());
}

/// What may be changed without a finding, and why no answer and no price depends on it.
const FREE: [(&str, &str); 1] = [
    // Numbers of rounds only have to be new. A larger one leaves some out, as a round does that
    // was taken back before it was written; a smaller one is found.
    ("account", "next_round"),
];

#[test]
fn whatever_is_changed_in_whatever_table_is_found() {
    let place = Place::file();
    full(&place);
    assert!(!refuses(&place));
    let (pristine, path) = (std::fs::read(place.path()).unwrap(), place.path());
    let restore = || std::fs::write(&path, &pristine).unwrap();
    let open = || {
        let connection = rusqlite::Connection::open(&path).unwrap();
        // A program that can write to the file can take triggers and checks away.
        connection.pragma_update(None, "ignore_check_constraints", true).unwrap();
        let sql = "SELECT name FROM sqlite_schema WHERE type = 'trigger'";
        let names: Vec<String> = {
            let mut triggers = connection.prepare(sql).unwrap();
            triggers.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
        };
        for name in names {
            connection.execute_batch(&format!("DROP TRIGGER {name}")).unwrap();
        }
        connection
    };
    let list = |sql: &str| -> Vec<(String, String)> {
        let connection = open();
        let mut statement = connection.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.map(Result::unwrap).collect()
    };
    let columns = list(
        "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c \
         WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'",
    );
    restore();
    let tables: std::collections::BTreeSet<&str> =
        columns.iter().map(|(table, _)| table.as_str()).collect();
    assert_eq!(tables.len(), 12, "{tables:?}");
    // What a ledger is named by and its format are looked at when it is opened.
    for table in tables.iter().filter(|table| **table != "meta") {
        let count: i64 = open()
            .query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))
            .unwrap();
        assert!(count > 0, "nothing is tried in `{table}`");
        let of: Vec<&str> =
            columns.iter().filter(|(t, _)| t == table).map(|(_, c)| c.as_str()).collect();
        for row in 0..count {
            let at = format!("(SELECT {} FROM {table} LIMIT 1 OFFSET {row})", of.join(", "));
            let same: Vec<String> = of.iter().map(|c| format!("{table}.{c} IS r.{c}")).collect();
            let one = format!("EXISTS (SELECT 1 FROM {at} r WHERE {})", same.join(" AND "));
            restore();
            let gone = open().execute(&format!("DELETE FROM {table} WHERE {one}"), []).unwrap();
            assert_eq!(gone, 1, "{table} {row}");
            assert!(refuses(&place), "row {row} of `{table}` was removed");
            for column in &of {
                for changed in [
                    // A blob with its last bit turned over, a text with a letter more, a number
                    // more.
                    format!(
                        "CASE typeof({column}) WHEN 'integer' THEN {column} + 1 \
                         WHEN 'text' THEN {column} || 'x' \
                         WHEN 'null' THEN 'x' \
                         ELSE CAST(substr({column}, 1, length({column}) - 1) || \
                              CASE WHEN substr({column}, -1) = x'00' THEN x'01' ELSE x'00' END \
                              AS BLOB) END"
                    ),
                    format!("CASE typeof({column}) WHEN 'integer' THEN {column} - 1 ELSE NULL END"),
                ] {
                    restore();
                    let sql = format!(
                        "UPDATE OR IGNORE {table} SET {column} = {changed} \
                         WHERE {one} AND {column} IS NOT ({changed})"
                    );
                    // What the table cannot hold is no change.
                    let Ok(1) = open().execute(&sql, []) else { continue };
                    if FREE.contains(&(table, column)) && changed.contains("+ 1") {
                        continue;
                    }
                    assert!(refuses(&place), "`{column}` of row {row} of `{table}`: {sql}");
                }
            }
        }
        // A row like another, under another name.
        let first = of[0];
        for other in ["'stranger'", "zeroblob(32)"] {
            restore();
            let rest = of[1..].join(", ");
            let sql = format!(
                "INSERT OR IGNORE INTO {table} ({first}, {rest}) \
                 SELECT {other}, {rest} FROM {table} LIMIT 1"
            );
            if let Ok(1) = open().execute(&sql, []) {
                assert!(refuses(&place), "a row was added to `{table}`: {sql}");
            }
        }
    }
}
