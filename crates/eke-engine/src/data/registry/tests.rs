//! What a ledger learns about its datasets, and what it says of others.

use serde_json::json;

use super::*;

const TRIPS: Identity<'static> =
    Identity { source: "trips.parquet", unit: "rider", unit_column: "rider_id" };
const NOW: &str = "2026-11-16T08:00:00.000000Z";

fn registry() -> Registry {
    let mut registry = Registry::new([0xab; 32]).unwrap();
    registry.pin("trips", TRIPS, json!({"bytes": 12, "hash": "aa"}), NOW).unwrap();
    registry
}

#[test]
fn what_is_written_is_read_back() {
    let mut registry = registry();
    registry.declare_snapshot("trips", TRIPS, json!(null), NOW).unwrap();
    registry.notify(NOW, "memory ran out");
    let text = registry.write();
    assert_eq!(Registry::read(&text).unwrap(), registry);
    assert_eq!(registry.hash_key(), &[0xab; 32]);
}

#[test]
fn version_1_is_written_like_this_for_good() {
    let mut registry = registry();
    registry.notify(NOW, "memory ran out");
    let key = "ab".repeat(32);
    let expected = format!(
        r#"{{"version":1,"hash_key":"{key}","datasets":{{"trips":{{"source":"trips.parquet","unit":"rider","unit_column":"rider_id","snapshots":[{{"number":1,"declared":"{NOW}","source":"trips.parquet","fingerprint":{{"bytes":12,"hash":"aa"}}}}]}}}},"notices":[{{"at":"{NOW}","what":"memory ran out"}}],"forgotten":0}}"#
    );
    assert_eq!(registry.write(), expected);
}

#[test]
fn snapshots_are_numbered_one_after_the_other_whatever_is_in_them() {
    let mut registry = registry();
    let same = json!({"bytes": 12, "hash": "aa"});
    let second = registry.declare_snapshot("trips", TRIPS, same.clone(), NOW).unwrap();
    assert_eq!(second.number, 2);
    let moved = Identity { source: "trips-2.parquet", ..TRIPS };
    assert_eq!(registry.declare_snapshot("trips", moved, same, NOW).unwrap().number, 3);
    let pinned = registry.check("trips", moved).unwrap();
    assert_eq!(pinned.latest().number, 3);
    let sources: Vec<_> = pinned.snapshots().iter().map(|it| it.source.as_str()).collect();
    assert_eq!(sources, ["trips.parquet", "trips.parquet", "trips-2.parquet"]);
    assert!(registry.check("trips", TRIPS).is_err());
}

#[test]
fn every_mistake_is_told_with_what_to_do() {
    let known = registry();
    let told = |error: RegistryError| error.to_string();
    let other = |source, unit, unit_column| {
        told(known.check("trips", Identity { source, unit, unit_column }).unwrap_err())
    };
    assert_eq!(
        other("rides.parquet", "rider", "rider_id"),
        "this ledger was opened for `trips` in `trips.parquet`, and the policy has it in `rides.parquet`: if it is newer data about the same riders, run `eke snapshot trips` to declare snapshot 2, and if not, use the ledger of this dataset"
    );
    let unit = "this ledger was opened for `trips` of unit `rider` by column `rider_id`, and the policy says unit `driver` by column `driver_id`: put that back, or use the ledger that belongs to this policy";
    assert_eq!(other("rides.parquet", "driver", "driver_id"), unit);
    let drivers = Identity { unit: "driver", unit_column: "driver_id", ..TRIPS };
    let error = registry().declare_snapshot("trips", drivers, json!(1), NOW).unwrap_err();
    assert_eq!(told(error), unit);
    assert_eq!(
        told(known.check("zones", TRIPS).unwrap_err()),
        "the ledger does not know `zones` yet: run `eke snapshot zones` to declare its snapshot 1"
    );
    assert_eq!(
        told(registry().pin("trips", TRIPS, json!(1), NOW).unwrap_err()),
        "the ledger has `trips` already: run `eke snapshot trips` to declare its next snapshot"
    );
    assert_eq!(
        told(known.check_fingerprint("trips", &json!({"bytes": 13, "hash": "aa"})).unwrap_err()),
        "`trips.parquet` has changed since snapshot 1 of `trips` was declared: run `eke snapshot trips` to declare snapshot 2; what was asked before stays paid for"
    );
    assert!(known.check_fingerprint("trips", &json!({"hash": "aa", "bytes": 12})).is_ok());
    let nobody = Identity { unit: "", ..TRIPS };
    let error = registry().pin("other", nobody, json!(1), NOW).unwrap_err();
    assert_eq!(told(error), "the unit of a dataset is empty: give it");
    assert_eq!(
        told(Registry::new([0; 32]).unwrap_err()),
        "the hash key is all zeros, which nobody draws: draw 32 random bytes"
    );
}

#[test]
fn what_is_not_a_registry_is_not_read() {
    let text = registry().write();
    let told = |from: &str, to: &str| {
        assert!(text.contains(from));
        Registry::read(&text.replacen(from, to, 1)).unwrap_err().to_string()
    };
    assert_eq!(
        told("\"version\":1", "\"version\":2,\"more\":{}"),
        "the ledger's registry has version 2, and this eke reads version 1: use the eke that wrote it, or a newer one"
    );
    assert_eq!(
        told("\"number\":1", "\"number\":2"),
        "the ledger's registry cannot be read (the snapshots of `trips` are not numbered 1, 2, …): restore the ledger from a backup"
    );
    assert!(told("\"forgotten\":0", "\"forgotten\":0,\"more\":1").contains("cannot be read"));
    assert!(told(",\"notices\"", ",\"n\"").contains("cannot be read"));
    assert!(told("\"rider\"", "\"\"").contains("is empty"));
    assert!(told(&"ab".repeat(32), &"00".repeat(32)).contains("all zeros"));
    // A key that was damaged is not repeated.
    let damaged = told(&"ab".repeat(32), &"ab".repeat(31));
    assert!(damaged.contains("64 hexadecimal digits") && !damaged.contains("abab"), "{damaged}");
    assert!(told(&"ab".repeat(32), &"é".repeat(32)).contains("64 hexadecimal digits"));
    assert!(Registry::read("").is_err() && Registry::read("[]").is_err());
}

#[test]
fn the_hash_key_is_not_printed() {
    let printed = format!("{:?}", registry());
    assert!(printed.contains("HashKey(..)"));
    assert!(!printed.contains("171, 171") && !printed.contains("abab"));
}

#[test]
fn old_notices_make_room_and_are_counted() {
    let mut registry = registry();
    for count in 0..MOST_NOTICES + 5 {
        registry.notify(NOW, &format!("notice {count}"));
    }
    assert_eq!((registry.notices().len(), registry.forgotten), (MOST_NOTICES, 5));
    assert_eq!(registry.notices()[0].what, "notice 5");
    assert_eq!(Registry::read(&registry.write()).unwrap(), registry);
}
