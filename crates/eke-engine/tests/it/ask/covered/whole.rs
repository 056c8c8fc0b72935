//! What a profile says where cut counts of a cheap question do not tell: on made-up flights and
//! taxis, like the real ones whose answers said nothing.

use std::fmt::Write as _;

use eke_engine::ask::{Answer, CutVerdict};
use eke_engine::profile::ProfileRequest;
use eke_engine::{Engine, Who};

use crate::trips::{Folder, ZONES, policy, question, relative, spent};

const ALL: &str = "SELECT COUNT(*) AS n FROM trips";

/// Units with a number of zones and of rows in each.
fn rides(units: impl Iterator<Item = (u32, u32)>) -> String {
    let mut text = String::from("rider,zone,fare\n");
    for (unit, (zones, rows)) in units.enumerate() {
        for zone in 0..zones {
            for _ in 0..rows {
                let _ = writeln!(text, "u{unit},{zone},{}", 10 + unit % 40);
            }
        }
    }
    text
}

fn folder(groups: u32, rows: u32, zones: u32, text: &str) -> Folder {
    let folder = Folder::new();
    let policy = policy("add-remove", groups, rows, Some(zones));
    folder.write("eke.toml", &policy.replace("cut_counts = false", "cut_counts = 0.02"));
    folder.write("trips.csv", text);
    folder
}

fn ask(engine: &Engine, who: &str, sql: &str) -> Answer {
    engine.ask(&question(who, sql, relative(0.1)), &()).unwrap()
}

fn profile(engine: &Engine) {
    let dataset = ProfileRequest { dataset: "trips".into(), ..ProfileRequest::default() };
    engine.profile(&dataset, &Who::Steward, &()).unwrap();
}

/// The four questions whose answers were up to twelve times too small and said nothing: flights,
/// flights by airport, taxis by whether they are occupied, taxis by zone. Each within 10 %, so that
/// the cut counts cost next to nothing.
///
/// Statistical: a warning needs 3 % to be below the interval, and is missed where a count is off by
/// more than five deviations (1e-6). Control: units that keep all their rows bring no warning.
#[test]
fn with_a_profile_cheap_answers_warn_where_rows_are_lost() {
    // Two of five planes fly very much, as of those in New York in a year.
    let flights = rides((0..3_000).map(|plane| (1, if plane % 5 < 2 { 90 } else { 8 })));
    let airports = rides((0..3_000).map(|plane| (3, if plane % 5 < 2 { 40 } else { 4 })));
    let occupied = rides((0..2_000).map(|taxi| (2, if taxi % 50 == 0 { 3 } else { 60 })));
    let zones = rides((0..3_000).map(|taxi| if taxi % 10 < 4 { (12, 1) } else { (2, 1) }));
    // Of each: the bounds, the keys, and between what a bound is raised, by a profile with noise.
    let cases = [
        (&flights, ALL, (1, 20, 1), Some(64..=512), None),
        (&airports, ZONES, (3, 20, 3), Some(32..=256), None),
        (&occupied, ZONES, (2, 5, 2), Some(32..=256), None),
        (&zones, ZONES, (4, 20, 12), None, Some(8..=12)),
    ];
    for (text, sql, (groups, rows, keys), max_rows, max_groups) in cases {
        let folder = folder(groups, rows, keys, text);
        let engine = folder.engine();
        let before = ask(&engine, "steward", sql).covers.unwrap();
        let tells = before.cut.as_ref().is_some_and(|cut| cut.verdict == Some(CutVerdict::Many));
        assert_eq!(before.unprofiled.is_some(), !tells && !before.cut.unwrap().warns(), "{sql}");
        profile(&engine);
        let paid = spent(&engine);
        let after = ask(&engine, "steward", sql);
        assert!(after.free && spent(&engine).to_bits() == paid.to_bits());
        let covers = after.covers.unwrap();
        assert_eq!(covers.unprofiled, None);
        if tells {
            assert!(covers.cut.unwrap().warns() && covers.whole.is_none());
            continue;
        }
        let whole = covers.whole.unwrap();
        assert!(whole.warns(), "{sql}: {whole:?}");
        let rows = whole.rows.as_ref().and_then(|rows| rows.raise_to);
        let groups = whole.groups.as_ref().and_then(|groups| groups.raise_to);
        for (raised, ends) in [(rows, max_rows), (groups, max_groups)] {
            assert_eq!(raised.is_some(), ends.is_some(), "{whole:?}");
            let is_within = |(to, ends): (_, std::ops::RangeInclusive<_>)| ends.contains(&to);
            assert!(raised.zip(ends).is_none_or(is_within), "{whole:?}");
        }
        assert!(whole.notes[0].contains("of all units (rider) of trips"), "{:?}", whole.notes);
    }
    let folder = folder(3, 128, 3, &airports);
    profile(&folder.engine());
    let covers = ask(&folder.engine(), "steward", ZONES).covers.unwrap();
    assert!(!covers.cut.unwrap().warns() && covers.whole.is_none_or(|whole| !whole.warns()));
}

/// An analyst hears of a profile what it may see of it.
#[test]
fn a_profile_tells_those_who_may_see_it() {
    let text = rides((0..3_000).map(|plane| (1, if plane % 5 < 2 { 90 } else { 8 })));
    let folder = folder(1, 20, 1, &text);
    let covers = |who: &str| ask(&folder.engine(), who, ALL).covers.unwrap();
    // There is none, and an analyst buys none.
    let ana = covers("ana");
    assert_eq!((ana.whole, ana.unprofiled), (None, None));
    profile(&folder.engine());
    assert_eq!(covers("ana").whole, None);
    let policy = std::fs::read_to_string(folder.path().join("eke.toml")).unwrap();
    folder.write(
        "eke.toml",
        &policy.replace("max_rows = 20\n", "max_rows = 20\npublish_profile = true\n"),
    );
    let ana = covers("ana");
    let tells = ana.cut.is_some_and(|cut| cut.warns());
    assert!(tells || ana.whole.is_some_and(|whole| whole.warns()));
    // Another snapshot has other rows.
    folder.engine().snapshot("trips").unwrap();
    assert_eq!(covers("steward").whole, None);
}
